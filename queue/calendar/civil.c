#include "queue/calendar/civil.h"

#include "base/must.h"

/*
 * Years are counted from 1 March, so that the leap day is the last of its year and the lengths of
 * the months before it never change: 31, 30, 31, 30, 31 and again. 400 such years have 146,097
 * days.
 */
enum { ERA_DAYS = 146097, ERA_YEARS = 400, EPOCH_FROM_ERA = 719468 }; /* 0000-03-01 to 1970 */

static bool is_leap(int year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

bool civil_exists(int year, int month, int day)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1)
		return false;
	return day <= days[month - 1] + (month == 2 && is_leap(year));
}

int32_t civil_days(int year, int month, int day)
{
	must(civil_exists(year, month, day));
	int y = month <= 2 ? year - 1 : year;
	int era = y / ERA_YEARS, of_era = y % ERA_YEARS;
	int of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
	return era * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - EPOCH_FROM_ERA;
}

struct civil civil_of(int32_t days)
{
	int32_t z = days + EPOCH_FROM_ERA;
	int32_t era = (z >= 0 ? z : z - ERA_DAYS + 1) / ERA_DAYS;
	int32_t of_era = z - era * ERA_DAYS;
	int32_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int32_t of_year = of_era - (365 * y + y / 4 - y / 100);
	int32_t m = (5 * of_year + 2) / 153;
	int month = m < 10 ? m + 3 : m - 9;
	return (struct civil){
		.year = y + era * ERA_YEARS + (month <= 2),
		.month = month,
		.day = of_year - (153 * m + 2) / 5 + 1,
	};
}

int civil_weekday(int32_t days)
{
	int w = (days + 4) % 7; /* 1970-01-01 was a Thursday */
	return w < 0 ? w + 7 : w;
}

int64_t civil_floor(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

int32_t civil_day_of(int64_t local_s)
{
	return (int32_t)civil_floor(local_s, DAY_S);
}

int32_t civil_second_of(int64_t local_s)
{
	return (int32_t)(local_s - civil_floor(local_s, DAY_S) * DAY_S);
}
