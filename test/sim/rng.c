#include "test/sim/rng.h"

#include "base/must.h"

/* splitmix64: spreads a small seed over the whole state. */
void rng_seed(struct rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		seed += 0x9E3779B97F4A7C15u;
		uint64_t z = seed;
		z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
		z = (z ^ z >> 27) * 0x94D049BB133111EBu;
		r->s[i] = z ^ z >> 31;
	}
}

static uint64_t rotate(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

uint64_t rng_next(struct rng *r)
{
	uint64_t *s = r->s;
	uint64_t out = rotate(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return out;
}

int64_t rng_between(struct rng *r, int64_t low, int64_t high)
{
	must(low <= high);
	return low + (int64_t)(rng_next(r) % (uint64_t)(high - low + 1));
}

uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)rng_between(r, 0, (int64_t)n - 1);
}

bool rng_odds(struct rng *r, int64_t per_10000)
{
	/* Draws even when the answer is known, so that an intensity changes as little as can be. */
	return rng_between(r, 0, 9999) < per_10000;
}

int64_t rng_skewed(struct rng *r, int64_t low, int64_t high)
{
	int64_t top = high;
	for (int i = 0; i < 3 && rng_odds(r, 6000); i++)
		top = low + (top - low) / 6;
	return rng_between(r, low, top);
}
