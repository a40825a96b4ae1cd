/*
 * The page /metrics, kept for a while.
 *
 * All queues are gone through for it, and the loop decides nothing meanwhile. So callers are told
 * the same for a hundred times as long as making it took: however many ask and however often, it
 * has a hundredth of the loop.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_METRICS_PAGE_H
#define SLUICE_CONTROLLER_ANSWERS_METRICS_PAGE_H

#include <stdint.h>

#include "base/buf.h"
#include "controller/answers/metrics.h"

struct metrics_page {
	struct buf text;
	int64_t until_us; /* by the clock that never steps; then it is made anew */
};

void metrics_page_init(struct metrics_page *p);
void metrics_page_done(struct metrics_page *p);
void metrics_page_put(struct metrics_page *p, const struct metrics_sources *s, struct buf *out);

#endif
