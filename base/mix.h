/*
 * Numbers that look drawn, and are the same each time. Not for hashes of what tenants choose: there
 * is no key (siphash.h).
 */
#ifndef SLUICE_BASE_MIX_H
#define SLUICE_BASE_MIX_H

#include <stdint.h>

/* Makes of a number one that looks drawn: each bit moves half of the other's (the last step of
 * splitmix64). */
static inline uint64_t mix64(uint64_t x)
{
	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
	x = (x ^ x >> 27) * 0x94D049BB133111EBu;
	return x ^ x >> 31;
}

/* Returns the next of the numbers that look drawn: the same ones for the same first seed. */
static inline uint64_t draw64(uint64_t *seed)
{
	return mix64(*seed += 0x9E3779B97F4A7C15u);
}

#endif
