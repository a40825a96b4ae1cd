#include "base/siphash.h"

#include <string.h>

struct state {
	uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static void turn(struct state *s, int rounds)
{
	while (rounds-- > 0) {
		s->v0 += s->v1;
		s->v1 = rotate(s->v1, 13) ^ s->v0;
		s->v0 = rotate(s->v0, 32);
		s->v2 += s->v3;
		s->v3 = rotate(s->v3, 16) ^ s->v2;
		s->v0 += s->v3;
		s->v3 = rotate(s->v3, 21) ^ s->v0;
		s->v2 += s->v1;
		s->v1 = rotate(s->v1, 17) ^ s->v2;
		s->v2 = rotate(s->v2, 32);
	}
}

/* Reads up to eight bytes, little endian. */
static uint64_t word(const unsigned char *p, size_t n)
{
	uint64_t w = 0;
	for (size_t i = 0; i < n; i++)
		w |= (uint64_t)p[i] << 8 * i;
	return w;
}

static void take(struct state *s, uint64_t w)
{
	s->v3 ^= w;
	turn(s, 2);
	s->v0 ^= w;
}

void siphash128(const struct siphash_key *key, const void *ptr, size_t len, uint64_t ret[2])
{
	struct state s = {
		key->k[0] ^ 0x736f6d6570736575u,
		key->k[1] ^ 0x646f72616e646f6du ^ 0xee,
		key->k[0] ^ 0x6c7967656e657261u,
		key->k[1] ^ 0x7465646279746573u,
	};
	const unsigned char *p = ptr;
	size_t left = len;
	for (; left >= 8; left -= 8, p += 8)
		take(&s, word(p, 8));
	take(&s, word(p, left) | (uint64_t)(len & 0xff) << 56);
	s.v2 ^= 0xee;
	turn(&s, 4);
	ret[0] = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
	s.v1 ^= 0xdd;
	turn(&s, 4);
	ret[1] = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

uint64_t siphash_names(const struct siphash_key *key, const char *ns, const char *name)
{
	uint64_t of_ns[2], of_name[2];
	siphash128(key, ns, strlen(ns), of_ns);
	siphash128(key, name, strlen(name), of_name);
	return of_ns[0] + 31 * of_name[0];
}
