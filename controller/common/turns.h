/*
 * Turns: questions about many namespaces, of which one is answered at a time.
 *
 * In each round a namespace has one question answered. A namespace that asks for the first time
 * takes part in the next round: else two that ask in turns would keep a third waiting for ever.
 */
#ifndef SLUICE_CONTROLLER_COMMON_TURNS_H
#define SLUICE_CONTROLLER_COMMON_TURNS_H

#include <stdint.h>

#include "base/list.h"

struct turn {
	struct link link;
	const char *ns; /* "": about no single namespace. Borrowed while it waits */
	uint64_t round;
};

/* Puts t, which waits nowhere, into its place among the waiting turn.links: by round, and within a
 * round as they came. round: that of the last that had its turn. */
void turns_line_up(struct link *waiting, uint64_t round, struct turn *t);

#endif
