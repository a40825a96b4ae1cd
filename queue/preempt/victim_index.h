/*
 * Holders: who holds something of a leaf's row, those first who would have to go first.
 *
 * The order is kept only for rows in which somebody once looked for a victim; for all others it
 * would cost a tree's update at each start, for nothing. Where it is kept, so are sums: how much
 * those hold who may be displaced is known without a look at each (victims.c), and those who are
 * not newer than somebody of their own priority are passed over together.
 */
#ifndef SLUICE_QUEUE_PREEMPT_VICTIM_INDEX_H
#define SLUICE_QUEUE_PREEMPT_VICTIM_INDEX_H

#include "queue/model/reservation.h"

/* The room stands among the holders of its rows, those of which it has more than 0 / does not any
 * more. Around everything that changes its place there (its workload's priority) or what it holds:
 * out, and in again. Idempotent. */
void victim_index_join(struct reservation *r);
void victim_index_leave(struct reservation *r);

/* The first one of a row of this ClusterQueue, and the next. */
struct tree_node *victim_index_first(struct clusterqueue *cq, struct quota_row *row);
struct reservation *victim_index_reservation(const struct tree_node *n);

/* The first behind n who was queued later than that. */
struct tree_node *victim_index_newer(
	const struct quota_row *row, const struct tree_node *n, int64_t queued_ms);

/* What those have of it in all who end anyway, or run and are of no higher priority. */
int64_t victim_index_sum(struct clusterqueue *cq, struct quota_row *row, int32_t priority);
/* The most that one of them all has. */
int64_t victim_index_largest(struct clusterqueue *cq, struct quota_row *row);

#endif
