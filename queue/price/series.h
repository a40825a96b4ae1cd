/*
 * A series: published prices over time, or the carbon intensity of power. A PricePlan takes it from
 * a ConfigMap (spec.series) and scales its prices by it.
 *
 * The text is a point a line, "TIME VALUE":
 *
 *     2026-11-21T00:00:00+01:00 83.12     # EUR/MWh
 *     2026-11-21T01:00:00+01:00 -2.5
 *
 * TIME is RFC 3339, VALUE a decimal number of at most six digits behind the point, which may be
 * negative; blanks between them. Comments after # and empty lines are ignored. Points may be in any
 * order, but each instant stands once, because of two values none could be preferred.
 *
 * The factor of a point is its value divided by the reference, rounded to a millionth (half away
 * from zero).
 */
#ifndef SLUICE_QUEUE_PRICE_SERIES_H
#define SLUICE_QUEUE_PRICE_SERIES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"
#include "sluice/policy.h"

#define SERIES_POINTS_MAX 50000
#define SERIES_VALUE_MAX 1000000000
#define SERIES_FACTOR_MAX 10000 /* as the queue does (PLAN_FACTOR_MAX) */

/* The points in order of time, the caller's (free; NULL when there are none). reference:
 * millionths, more than 0. ERR_INVALID, ERR_LIMIT: the sentence names the line. */
int series_read(struct slice text, int64_t reference, struct price_point **ret_point,
	size_t *ret_count, struct err *e);

struct series {
	struct price_point *point;
	struct err fault;
};

/* Fills in the series of a plan with has_series. text: from its ConfigMap; ptr NULL: there is no
 * such ConfigMap or key. spec->series, or else spec->series_fault, borrow from *ret. */
void series_resolve(struct priceplan_spec *spec, struct slice text, struct series *ret);
void series_done(struct series *s);

#endif
