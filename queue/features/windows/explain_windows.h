/* What explain.c says of windows. */
#ifndef SLUICE_QUEUE_FEATURES_WINDOWS_EXPLAIN_WINDOWS_H
#define SLUICE_QUEUE_FEATURES_WINDOWS_EXPLAIN_WINDOWS_H

#include "queue/core/model/state.h"
#include "queue/job/text.h"

/* Says that the Job's window is closed, or too short, and from when on time will let it go on (0:
 * not known). WAIT_NOT: time does not keep it. */
enum wait_reason explain_window(const struct queue *q, const struct workload *w, int64_t now_ms,
	struct text *t, int64_t *ret_not_before_ms);

/* Adds when a window will stop the run. Returns that; 0: it will not. */
int64_t explain_stop(const struct queue *q, const struct reservation *r, struct text *t);

/* The quota of a row that a window made smaller: how much it is, and until when. */
void explain_smaller_quota(const struct queue *q, const struct quota_row *row, struct text *t);

/* Returns whether some window has quotas: for a Job that waits for more than there is. */
bool explain_has_window_quotas(const struct clusterqueue *cq);

#endif
