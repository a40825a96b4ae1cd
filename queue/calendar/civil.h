/*
 * Dates of the civil (proleptic Gregorian) calendar as numbers: days since 1970-01-01, so that the
 * next day is one more and a week is seven.
 */
#ifndef SLUICE_QUEUE_CALENDAR_CIVIL_H
#define SLUICE_QUEUE_CALENDAR_CIVIL_H

#include <stdbool.h>
#include <stdint.h>

#define DAY_S INT64_C(86400)
#define DAY_MINUTES 1440

struct civil {
	int year, month, day; /* month and day from 1 */
};

/* 2026-02-30 does not exist. */
bool civil_exists(int year, int month, int day);
/* Years 1 to 9999; the date must exist. */
int32_t civil_days(int year, int month, int day);
struct civil civil_of(int32_t days);
/* 0 is Sunday, as in cron and struct tm. */
int civil_weekday(int32_t days);

/* a / b, rounded down for negative a too. */
int64_t civil_floor(int64_t a, int64_t b);

/* The day and the second of the day that local_s, seconds since 1970-01-01 00:00, falls on. */
int32_t civil_day_of(int64_t local_s);
int32_t civil_second_of(int64_t local_s); /* 0 to 86,399 */

#endif
