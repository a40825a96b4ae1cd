/*
 * A load: an amount of cpu, in thousandths of a core, and of memory, in bytes. A capacity, a
 * request, a use.
 */
#ifndef SLUICE_OVERCOMMIT_LOAD_H
#define SLUICE_OVERCOMMIT_LOAD_H

#include <stdint.h>

struct load {
	int64_t cpu_milli, memory_bytes;
};

/* Add and subtract, stopping at the ends of int64 instead of overflowing. */
struct load load_add(struct load a, struct load b);
struct load load_less(struct load a, struct load b);
/* Return the more, and the less, of cpu and of memory each. */
struct load load_max(struct load a, struct load b);
struct load load_min(struct load a, struct load b);

#endif
