/*
 * What a run has cost so far, at which prices. Who writes it: queue/features/money/bill.h.
 */
#ifndef SLUICE_QUEUE_PRICE_RUN_BILL_H
#define SLUICE_QUEUE_PRICE_RUN_BILL_H

#include "queue/price/charge.h"

/* One price of a run. */
struct bill_item {
	int64_t from_ms;
	int64_t per_hour;
	struct charge charge; /* what was counted at it */
	bool several;	      /* it stands for several prices */
};

/* The most prices that are kept apart; beyond that the first two are joined. */
#define BILL_ITEMS_MAX 48

struct bill {
	int64_t until_ms;	     /* counted until then */
	struct charge charge;	     /* ... as much */
	const char *plan, *currency; /* symbols; NULL: it was never priced */
	struct hourly_price price;   /* the last one that was counted */
	int64_t factor;		     /* ... and its factor */
	struct bill_item *item;
	size_t nitems;
	int64_t expected; /* what the whole run is expected to cost; an hour, if unknown */
};

#endif
