/*
 * Victim index: the reservations that hold something of a leaf's row, in the order in which they
 * would have to go.
 *
 * It is kept only for rows in which a victim was searched once; for all others it would cost a tree
 * update at each start, for nothing. It keeps sums, too. So victims.c knows how much the candidates
 * hold without a look at each run. Runs that are not newer than a Job of their own priority are
 * skipped together, and so are runs that preemption.minRun spares.
 *
 * A run starts with its reservation (reserved_ms). One that ends anyway counts as one that always
 * ran: nothing spares it.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_VICTIM_INDEX_H
#define SLUICE_QUEUE_CORE_MODEL_VICTIM_INDEX_H

#include "queue/core/model/reservation.h"

/* Is no work lost when the reservation goes? True of a promise, and of a run that ends anyway. */
bool costs_nothing(const struct reservation *r);
/* The order in which reservations go: promises, runs that end anyway, lower priority, later start,
 * uid. */
int reservation_cmp(const struct reservation *a, const struct reservation *b);

/* Puts the reservation into the indexes of the rows of which it holds more than 0 / takes it out.
 * Every change of its place (its workload's priority) or of what it holds stands between a leave
 * and a join. Idempotent. */
void victim_index_join(struct reservation *r);
void victim_index_leave(struct reservation *r);

/* The first one of a row of this ClusterQueue, and the next. */
struct tree_node *victim_index_first(struct clusterqueue *cq, struct quota_row *row);
struct reservation *victim_index_reservation(const struct tree_node *n);

/* The first behind n that was queued later than that. */
struct tree_node *victim_index_newer(
	const struct quota_row *row, const struct tree_node *n, int64_t queued_ms);

/* The first behind n that started by then. */
struct tree_node *victim_index_started(
	const struct quota_row *row, const struct tree_node *n, int64_t by_ms);
/* The first start after that; INT64_MAX: there is none. */
int64_t victim_index_next_start(const struct quota_row *row, int64_t after_ms);

/* How much runs hold that end anyway, or have no higher priority and started by then. */
int64_t victim_index_sum(
	struct clusterqueue *cq, struct quota_row *row, int32_t priority, int64_t by_ms);
/* The most that any one holds. */
int64_t victim_index_largest(struct clusterqueue *cq, struct quota_row *row);

#endif
