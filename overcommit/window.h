/*
 * The window: what was taken of a node over the last minutes, sample by sample, and what of an
 * estimate may therefore be published.
 *
 * Lowered at once, raised with patience: the figure is the less of what the newest sample gives and
 * of what the mean over the last raise_window_s gives. The mean is that of straight lines from
 * sample to sample, so that a sample after a gap does not stand for all of the gap. And never on
 * old data:
 *
 *     FRESH     the newest sample is younger than two intervals: the figure may move either way;
 *     HELD      it is older, or from more than 60 s in the future: the figure may only stay or
 *               fall, and no pod is stopped because of it;
 *     DEGRADED  it is older than degradeTimeMinutes (strictly), there is none, or the node is not
 *               Ready: nothing may be lent.
 *
 * (What is lent under gocran.io has its patience from the forecast, and is held like this figure.)
 *
 * Nothing is raised before two samples since the start, either. Times are the samples' own (of the
 * metrics' source), compared with the wall clock. A sample that is not newer than the last one does
 * not count, nor does one from more than 60 s in the future: else a single wrong time stamp would
 * hide all that is measured until then. Where the newest sample known is from the future (the clock
 * was set back, an annotation was edited), the next good sample begins anew.
 */
#ifndef SLUICE_OVERCOMMIT_WINDOW_H
#define SLUICE_OVERCOMMIT_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "overcommit/estimate.h"

#define WINDOW_SAMPLES 24

struct window {
	struct window_sample {
		int64_t at_ms;
		struct load taken; /* system and high-priority pods */
	} sample[WINDOW_SAMPLES];  /* oldest first; when full every second one goes */
	uint8_t count;
	int64_t newest_ms; /* 0: none. Known without its sample after window_begin() */
};

enum freshness { FRESH, HELD, DEGRADED };

/* Tells whether a time is more than 60 s after now: no sample of it counts anywhere. */
bool window_of_the_future(int64_t at_ms, int64_t now_ms);

/* Begins with what is known at a restart: the time of the sample behind what is published. */
void window_begin(struct window *w, int64_t newest_ms);

/* Adds a sample. False: not newer than the last, of the future, or without a time (0 and less). */
bool window_add(struct window *w, int64_t at_ms, struct load taken, int64_t now_ms);

enum freshness window_freshness(
	const struct window *w, const struct strategy *s, bool ready, int64_t now_ms);
/* Returns when freshness changes by time alone; INT64_MAX: never. */
int64_t window_changes_ms(const struct window *w, const struct strategy *s, int64_t now_ms);

/* Returns what may be lent now, never more than e says: e is the newest sample's, published what is
 * published. */
struct load window_figure(const struct window *w, const struct strategy *s,
	const struct estimate *e, struct load published, bool ready, int64_t now_ms);

#endif
