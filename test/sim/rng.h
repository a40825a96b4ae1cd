/*
 * Chance, from a seed: xoshiro256** (Blackman and Vigna, public domain). The same seed gives the
 * same world on every machine.
 */
#ifndef SLUICE_TEST_SIM_RNG_H
#define SLUICE_TEST_SIM_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_seed(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);
int64_t rng_between(struct rng *r, int64_t low, int64_t high); /* both included; low <= high */
uint32_t rng_below(struct rng *r, uint32_t n);		       /* 0 to n - 1 */
bool rng_odds(struct rng *r, int64_t per_10000);	       /* 0: never, 10000: always */
/* Mostly small, sometimes up to high: as latencies are. */
int64_t rng_skewed(struct rng *r, int64_t low, int64_t high);

#endif
