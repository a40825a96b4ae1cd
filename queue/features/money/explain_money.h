/*
 * What explain says of time and money: the tiers StartAfter, WaitingForPrice and BudgetExhausted,
 * and the deactivation of a Job that cannot meet its deadline any more. Each writes its sentence,
 * or nothing when it does not apply.
 */
#ifndef SLUICE_QUEUE_FEATURES_MONEY_EXPLAIN_MONEY_H
#define SLUICE_QUEUE_FEATURES_MONEY_EXPLAIN_MONEY_H

#include "queue/core/model/claim.h"
#include "queue/job/text.h"
#include "sluice/queue.h"

struct workload;

/* WAIT_DEACTIVATED, WAIT_START_AFTER, WAIT_PRICE: what its terms come to now, or that the plan of
 * its queue holds all starts; only if it is that one. */
bool explain_terms(struct queue *q, const struct workload *w, const struct clusterqueue *cq,
	const struct claim *claim, int64_t now_ms, enum wait_reason tier, struct text *t);
/* Writes that what the Job would take, in the flavor that it would take first, is too much for a
 * Budget. False: it is not. */
bool explain_budget(struct queue *q, const struct workload *w, const struct clusterqueue *cq,
	const struct claim *claim, struct text *t);

/* Adds that the Job's deadline cannot be met any more, if nothing was said of it yet. */
void explain_unreachable(const struct explanation *x, struct text *t);

/* The fields of an explanation. */
void explain_times(
	struct queue *q, const struct workload *w, int64_t now_ms, struct explanation *ret);

#endif
