/*
 * Forecast: what will be spent by the end of a period, if it goes on as it has gone so far.
 *
 * The pace is what was spent divided by the time since the beginning of the period. A period that
 * has just begun tells nothing: an hour must have passed, and a hundredth of the period.
 */
#ifndef SLUICE_QUEUE_PRICE_FORECAST_H
#define SLUICE_QUEUE_PRICE_FORECAST_H

#include <stdbool.h>
#include <stdint.h>

/* Money in millionths; spent below 0 is what negative prices have earned. */
struct forecast_facts {
	int64_t from_ms, to_ms; /* the period */
	int64_t now_ms;
	int64_t amount; /* that may be spent in it */
	int64_t spent;	/* until now, with what runs that go on have cost so far */
};

struct forecast {
	int64_t spent;	      /* by the end of the period; rounded up, saturated at 64 bits */
	int64_t exhausted_ms; /* when that pace has spent the amount; 0: not in this period, or it was
				 spent before now */
};

/* False: the period is too young to tell, or now is not within it. */
bool forecast_spending(const struct forecast_facts *f, struct forecast *ret);

#endif
