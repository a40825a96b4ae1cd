/* The slot that the head of a ClusterQueue with strategy Backfill keeps, as the last pass left it:
 * backfill.h. */
#ifndef SLUICE_QUEUE_CORE_MODEL_BACKFILL_SLOT_H
#define SLUICE_QUEUE_CORE_MODEL_BACKFILL_SLOT_H

#include "queue/core/model/alarm.h"
#include "queue/core/model/clusterqueue.h"
#include "queue/core/model/workload.h"

/* A row of the head's quota. */
struct reserved_row {
	struct quota_row *row;
	__int128 spare;
};

struct backfill_slot {
	bool on;
	struct uid head;
	int64_t at_ms; /* INT64_MAX: unknown */
	size_t nrows;
	struct reserved_row row[QUEUE_LINES_MAX];
	struct alarm alarm; /* when a run first lasts longer than expected */
};

static inline bool backfill_is_head(const struct clusterqueue *cq, const struct workload *w)
{
	const struct backfill_slot *s = cq->backfill_slot;
	return s && s->on && uid_cmp(&s->head, &w->key.uid) == 0;
}

#endif
