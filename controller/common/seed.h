/* A seed from the system: for what is spread at random, so that not all controllers do it at once. */
#ifndef SLUICE_CONTROLLER_COMMON_SEED_H
#define SLUICE_CONTROLLER_COMMON_SEED_H

#include <stdint.h>
#include <sys/random.h>

#include "base/must.h"

static inline uint64_t seed_draw(void)
{
	uint64_t seed;
	must(getrandom(&seed, sizeof(seed), 0) == sizeof(seed));
	return seed;
}

#endif
