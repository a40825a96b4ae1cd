/*
 * A mean over time, of samples that come faster than they are to be remembered: an agent's come
 * each second, and a window keeps one for each interval (window.h). Each sample stands for the time
 * since the one before it.
 */
#ifndef SLUICE_OVERCOMMIT_MEAN_H
#define SLUICE_OVERCOMMIT_MEAN_H

#include <stdint.h>

#include "overcommit/load.h"

enum { MEAN_GAP_MS = 60000 }; /* no sample stands for more */

/* Zero: empty. */
struct mean {
	__int128 cpu, memory; /* times milliseconds */
	int64_t weight_ms, newest_ms;
};

/* Adds a sample. Times that go back count as no time: such a sample weighs a millisecond, and so
 * does the first. */
void mean_add(struct mean *m, int64_t at_ms, struct load l);

/* Returns the mean, rounded up, and empties it but for the time of its newest sample. Something
 * must have been added. */
struct load mean_take(struct mean *m);

#endif
