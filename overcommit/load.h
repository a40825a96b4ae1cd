/*
 * So much cpu and so much memory: a capacity, a request, a use. Always both, in the same units as
 * everywhere in here: thousandths of a core, and bytes.
 */
#ifndef SLUICE_OVERCOMMIT_LOAD_H
#define SLUICE_OVERCOMMIT_LOAD_H

#include <stdint.h>

struct load {
	int64_t cpu_milli, memory_bytes;
};

/* Sums and differences that stop at the ends of int64 instead of overflowing. */
struct load load_add(struct load a, struct load b);
struct load load_less(struct load a, struct load b);
/* Of each of the two. */
struct load load_max(struct load a, struct load b);
struct load load_min(struct load a, struct load b);

#endif
