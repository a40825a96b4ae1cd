/*
 * The bill of a run: what it has cost since it was confirmed, until no pod of it is left.
 *
 * The cost is the hourly price at factor one (plan_hourly_price()) times the factor, for every
 * millisecond. It is summed exactly (queue/price/charge.h) and rounded up to a millionth once, when it
 * is told. So it does not matter how often it is asked for or cut.
 *
 * When a plan or a Calendar is edited during a run, the cost so far is counted by the old prices
 * first (bill_settle()), so that an edit never changes what is past. Fewer pods (SHRINK) is such a
 * moment, too. A new leader counts all of a run by the prices that it knows.
 *
 * A run keeps the currency in which it was priced first. If its ClusterQueue's plan is in another
 * currency later, it goes on at the price it had. Without a plan it costs nothing.
 */
#ifndef SLUICE_QUEUE_FEATURES_MONEY_BILL_H
#define SLUICE_QUEUE_FEATURES_MONEY_BILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "queue/price/run_bill.h"
#include "sluice/queue.h"

struct reservation;
struct clusterqueue;

/* Works out anew what the run is expected to cost: its start was decided or confirmed, or its lines
 * or prices have changed. */
void bill_expect(struct queue *q, struct reservation *r);
void bill_done(struct reservation *r);

/* Counts up to now_ms by the present prices, before they change. */
void bill_settle(struct queue *q, struct reservation *r, int64_t now_ms);
/* Returns what the run costs from its start to now_ms; 0 without a plan. */
int64_t bill_cost(struct queue *q, const struct reservation *r, int64_t now_ms);
/* The hourly price at now_ms. */
int64_t bill_per_hour(struct queue *q, const struct reservation *r, int64_t now_ms);
/* What a run with these lines would cost from from_ms on; 0 without a plan. */
int64_t bill_expected(struct queue *q, struct clusterqueue *cq, const struct quota_line *lines,
	size_t n, int64_t from_ms, int64_t duration_ms);

#endif
