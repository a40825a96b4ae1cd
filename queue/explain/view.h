/* What the views hand out until the next call on the queue. */
#ifndef SLUICE_QUEUE_EXPLAIN_VIEW_H
#define SLUICE_QUEUE_EXPLAIN_VIEW_H

#include "sluice/queue.h"

struct scratch *scratch_new(void);
void scratch_free(struct scratch *s);

#endif
