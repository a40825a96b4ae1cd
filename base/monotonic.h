/*
 * The clock that only goes on: for pauses and time-outs. Only differences of what it says mean
 * something. (The clock on the wall, by which is decided and told: controller/common/clock.h.)
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
