/*
 * A charge: what is held for some time costs, exactly, until it is told.
 *
 * An hour of a Job costs amount x price x the flavor's factor, for each resource. That is seldom a
 * whole number of millionths: 100 MiB at 0.005 a GiB are 488.28125. So an hourly price has a part
 * below a millionth, of which PRICE_PARTS make one. Every unit that may be priced divides these
 * (a thousandth of a core, a byte of a GiB), and so does a millionth of a flavor's factor.
 *
 * A charge is an hourly price over time. Charges are added exactly. charge_told() alone rounds, up to
 * a millionth: whoever needs a sum adds charges and tells it once.
 */
#ifndef SLUICE_QUEUE_PRICE_CHARGE_H
#define SLUICE_QUEUE_PRICE_CHARGE_H

#include <stdint.h>

#include "sluice/policy.h"

#define PRICE_GIB (INT64_C(1) << 30)
/* Parts of a unit of a resource, and of a millionth of the currency's unit. */
#define PRICE_UNIT_PARTS (INT64_C(125) * PRICE_GIB)
#define PRICE_PARTS (PRICE_UNIT_PARTS * PRICE_FACTOR_ONE)

/* What an hour costs at factor one: millionths, and parts < PRICE_PARTS of one. */
struct hourly_price {
	int64_t micro;
	int64_t parts;
};

/* A weight is millionths an hour x millionths of a factor x milliseconds; parts < PRICE_PARTS are
 * those of one weight. Begins as {0}. */
struct charge {
	__int128 weight;
	int64_t parts;
};

/* Multiplies a price by factors over time: millionths of a factor times milliseconds, summed
 * (tariff_weight()). These may be negative, and are below 2^97. The price is not negative. */
struct charge charge_of(struct hourly_price price, __int128 factors);
struct charge charge_add(struct charge a, struct charge b);
/* Orders by amount: negative, 0 or positive. */
int charge_cmp(struct charge a, struct charge b);
/* Rounds up to a millionth; saturated at 64 bits. */
int64_t charge_told(struct charge c);

/* Orders by amount. */
int hourly_price_cmp(struct hourly_price a, struct hourly_price b);
/* Tells the price of an hour at a factor, rounded to the nearest millionth. For eyes: a bill is made
 * of charges. */
int64_t hourly_price_told(struct hourly_price price, int64_t factor);

#endif
