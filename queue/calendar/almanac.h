/*
 * The exceptions of a calendar by date: which one applies to a day, and as which weekday the day
 * counts. Overlapping ranges are resolved once, when it is made: the first exception listed wins.
 * So a question is one search.
 */
#ifndef SLUICE_QUEUE_CALENDAR_ALMANAC_H
#define SLUICE_QUEUE_CALENDAR_ALMANAC_H

#include <stddef.h>
#include <stdint.h>

#include "sluice/calendar.h"

struct almanac_entry {
	int32_t from_day; /* up to the next entry's */
	int exception;	  /* its index, -1: none */
};

struct almanac {
	struct almanac_entry *entry; /* ascending; the first is of INT32_MIN */
	size_t nentries;
	int *treat_as; /* by exception */
};

void almanac_init(struct almanac *a, const struct exception_spec *exception, size_t nexceptions);
void almanac_done(struct almanac *a);

/* The index of the exception that covers the day, -1: none. */
int almanac_exception(const struct almanac *a, int32_t day);
/* The effective weekday: the exception's, or its own. */
int almanac_weekday(const struct almanac *a, int32_t day);

#endif
