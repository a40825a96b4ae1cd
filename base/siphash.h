/*
 * SipHash-2-4 with 128 bits of output: a keyed hash that cannot be aimed at without the key.
 * https://www.aumasson.jp/siphash/siphash.pdf
 */
#ifndef SLUICE_BASE_SIPHASH_H
#define SLUICE_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_key {
	uint64_t k[2];
};

void siphash128(const struct siphash_key *key, const void *ptr, size_t len, uint64_t ret[2]);

/* Hashes a namespace and a name, for a map: tenants choose names, but without the key not where
 * these land. */
uint64_t siphash_names(const struct siphash_key *key, const char *ns, const char *name);

#endif
