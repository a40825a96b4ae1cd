/*
 * Victims: whom to stop so that somebody fits. A small set, found as Kueue finds it (reference 6):
 * candidates in a fixed order are taken away until the demand fits, then those that turn out to be
 * unnecessary are put back.
 *
 * All of it happens in the quota tree's THEN, which is the same again when the call returns. Rooms
 * that are leaving already are no candidates: THEN does not count them. A promise is one: taking it
 * back costs nobody any work. Those that end anyway (room.stop_given) come first.
 */
#ifndef SLUICE_QUEUE_VICTIMS_H
#define SLUICE_QUEUE_VICTIMS_H

#include "queue/room.h"

struct demand_line {
	struct quota_row *row;
	int64_t amount;
	bool contested; /* it does not fit there: others would have to give it back */
};

struct demand {
	const struct workload *w;
	struct clusterqueue *cq;
	size_t nlines;
	struct demand_line line[QUEUE_LINES_MAX];
};

struct victim {
	struct room *room;
	enum preemption_reason reason;
};

/* The victims, in the order in which they are to go; at least one. 0: no set of those that may be
 * displaced would do. *ret belongs to the queue and is valid until the next call. */
size_t victims_find(struct queue *q, const struct demand *d, const struct victim **ret);

/* Could victims_find() find anything at all for somebody of this priority in cq? A quick look that
 * says yes too often, never no. */
bool victims_possible(const struct queue *q, const struct clusterqueue *cq, int32_t priority);

#endif
