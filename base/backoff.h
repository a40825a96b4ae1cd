/*
 * Back-offs: a pause after a failure, which doubles with each further one in a row.
 */
#ifndef SLUICE_BASE_BACKOFF_H
#define SLUICE_BASE_BACKOFF_H

#include <stdint.h>

/* Returns first_ms, doubled `failures` times; last_ms at most. */
static inline int64_t backoff_ms(int64_t first_ms, uint64_t failures, int64_t last_ms)
{
	int64_t ms = first_ms;
	for (; failures > 0 && ms > 0 && ms < last_ms; failures--)
		ms = ms > INT64_MAX / 2 ? INT64_MAX : ms * 2;
	return ms < last_ms ? ms : last_ms;
}

/* Returns a pause between half of this one and all of it, so that clients which failed together
 * do not come back together. */
static inline int64_t backoff_drawn_ms(int64_t ms, uint64_t drawn)
{
	return ms / 2 + (int64_t)(drawn % (uint64_t)(ms / 2 + 1));
}

#endif
