/*
 * A ranking: the node with most room for equal pods; of several the first.
 *
 * A tree of maxima over the slots: a changed node costs a dozen steps, and so does the question. So
 * placing a few pods does not look at all nodes.
 */
#ifndef SLUICE_QUEUE_CLUSTER_RANKING_H
#define SLUICE_QUEUE_CLUSTER_RANKING_H

#include <stddef.h>
#include <stdint.h>

struct ranking {
	int32_t *most; /* [1]: of all; those of slot i: [width + i]; NULL: not made */
	size_t width;  /* a power of two */
};

/* For so many slots, all without room. */
void ranking_init(struct ranking *r, size_t nslots);
void ranking_done(struct ranking *r);

/* Without room: 0. slot < nslots. */
void ranking_set(struct ranking *r, size_t slot, int32_t room);
/* The first slot with most room; *ret_room: how much, 0: no node has any. */
size_t ranking_first(const struct ranking *r, int32_t *ret_room);

#endif
