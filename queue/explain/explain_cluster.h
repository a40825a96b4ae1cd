/* Why the cluster itself keeps a Job from starting: its nodes. Each adds half a sentence. */
#ifndef SLUICE_QUEUE_EXPLAIN_EXPLAIN_CLUSTER_H
#define SLUICE_QUEUE_EXPLAIN_EXPLAIN_CLUSTER_H

#include "queue/job/text.h"
#include "queue/core.h"

/* WAIT_NEVER_FITS, of a claim that leaves nowhere (claim.nowhere). */
void explain_nowhere(const struct queue *q, const struct clusterqueue *cq,
	const struct shape *shape, const struct claim *claim, struct text *t);

/* Of what holds quota in the flavor: no node of it is up. Nothing, if some are. */
void explain_pool(const struct flavor *f, struct text *t);

/* The first flavors with quota left go with others, but not with each other: it waits for quota in
 * some that do. False: they go together. */
bool explain_parted(const struct queue *q, const struct clusterqueue *cq, const struct shape *shape,
	const struct claim *claim, struct text *t);

/* WAIT_NODES_FULL: quota is free, but the nodes have no room for all of its pods. False: they have,
 * or it is not asked for. */
bool explain_full(const struct queue *q, struct clusterqueue *cq, const struct workload *w,
	const struct claim *claim, struct text *t);

#endif
