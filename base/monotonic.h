/*
 * The clock that only goes on, for pauses and time-outs: only differences mean something. Decisions
 * and what people read go by the clock on the wall (controller/common/clock.h).
 */
#ifndef SLUICE_BASE_MONOTONIC_H
#define SLUICE_BASE_MONOTONIC_H

#include <stdint.h>

int64_t monotonic_us(void); /* more than 0 */

static inline int64_t monotonic_ms(void)
{
	return monotonic_us() / 1000;
}

#endif
