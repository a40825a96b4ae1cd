/* What the views hand out until the next call on the queue. */
#ifndef SLUICE_QUEUE_EXPLAIN_VIEW_H
#define SLUICE_QUEUE_EXPLAIN_VIEW_H

#include "sluice/queue.h"

struct scratch *scratch_new(void);
void scratch_free(struct scratch *s);

/* What is worked out when it is shown (periods, sums, steps) is remembered. */
static inline struct queue *view_working(const struct queue *q)
{
	return (struct queue *)(uintptr_t)q;
}

#endif
