/*
 * The bill of a run: what it has cost since it was confirmed.
 *
 * While the plan does not change the cost is the tariff's (price/tariff.h), exactly. When a plan is
 * edited or a series gets new points while a run goes on, what it has cost so far is counted by the
 * old prices first (bill_settle()): nobody's past becomes dearer by an edit. Fewer pods (SHRINK) is
 * such a moment too. Rounded up to a millionth once, at the end.
 */
#ifndef SLUICE_QUEUE_BILL_H
#define SLUICE_QUEUE_BILL_H

#include "queue/clusterqueue.h"
#include "queue/plan.h"
#include "sluice/queue.h"

struct room;

/* Counts what was up to now_ms by the prices that hold now, before they change. */
void bill_settle(struct queue *q, struct room *r, int64_t now_ms);
/* From its start to now_ms; 0 without a plan. */
int64_t bill_cost(struct queue *q, const struct room *r, int64_t now_ms);
/* What a run of these lines would cost from from_ms on for so long; 0 without a plan. */
int64_t bill_expected(struct queue *q, const struct clusterqueue *cq,
	const struct quota_line *lines, size_t n, int64_t from_ms, int64_t duration_ms);

#endif
