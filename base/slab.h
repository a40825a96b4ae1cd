/*
 * A slab: objects of one size, many of them, made and given back all the time.
 *
 * Objects lie side by side, without the allocator's header, in blocks that the kernel has filled
 * with pages at once: a fault for each page was a quarter of what a start took. A block is never
 * given back before slab_done(), so a slab keeps the size of its peak.
 *
 * Under AddressSanitizer each object is an allocation of its own, so that a use after its end is
 * seen.
 */
#ifndef SLUICE_BASE_SLAB_H
#define SLUICE_BASE_SLAB_H

#include <stddef.h>

struct slab {
	size_t size;	  /* of one object, rounded up to 16 bytes */
	void *given;	  /* objects that were given back, one linked to the next */
	char *next, *end; /* the part of the newest block that was never taken */
	struct slab_block *blocks;
};

void slab_init(struct slab *s, size_t size);
void slab_done(struct slab *s); /* all that was taken of it is gone */

void *slab_take(struct slab *s); /* zeroed; never NULL */
void slab_give(struct slab *s, void *object);

#endif
