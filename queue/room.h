/*
 * Room: the quota one workload holds, from the decision to start it (or its adoption from the
 * ledger) until the gate releases it.
 *
 * It remembers what it was given and by whom, because all of that may be edited meanwhile: the
 * Job's label may name another LocalQueue, the spec other flavors. Each line knows what it was for
 * how many pods, so that fewer pods hold their exact part.
 */
#ifndef SLUICE_QUEUE_ROOM_H
#define SLUICE_QUEUE_ROOM_H

#include "queue/assign.h"
#include "queue/core.h"

struct room_line {
	struct quota_row *row;
	int64_t amount; /* now */
	int64_t base;	/* for room.base_pods */
};

struct room {
	struct workload *w;
	struct clusterqueue *cq; /* whose order it came from; NULL: adopted and nobody knows */
	struct localqueue *lq;
	struct shape *shape;
	struct link of_clusterqueue, of_localqueue;
	struct link suspect; /* in queue.suspects: may have to stop */
	int32_t pods, base_pods;
	bool confirmed;
	bool stop_given; /* DECISION_STOP was emitted; it is not repeated */
	int64_t since_ms;
	size_t nlines;
	struct room_line line[];
};

/* The workload has to be taken from where it stands and placed afterwards. */
void room_start(struct queue *q, struct workload *w, struct clusterqueue *cq,
	const struct claim *claim, const struct choice *choice);
void room_adopt(struct queue *q, struct workload *w, const struct quota_line *lines, size_t n,
	int64_t reserved_ms);
void room_end(struct queue *q, struct workload *w);

void room_confirm(struct room *r, int64_t now_ms);
/* True when something became free. */
bool room_shrink(struct queue *q, struct room *r, int32_t pods);

/* Something changed that may mean a stop: queue_decide() will look. */
void room_suspect(struct queue *q, struct room *r);
enum stop_reason room_stop_reason(const struct room *r);

#endif
