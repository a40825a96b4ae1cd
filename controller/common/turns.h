/*
 * Turns: questions about many namespaces, of which one is answered at a time.
 *
 * In each round a namespace has one question answered. One that asks for the first time takes part in
 * the next round, not in this one: else two that ask in turns would keep a third waiting for ever.
 */
#ifndef SLUICE_CONTROLLER_COMMON_TURNS_H
#define SLUICE_CONTROLLER_COMMON_TURNS_H

#include <stdint.h>

#include "base/list.h"

struct turn {
	struct link link;
	const char *ns; /* "": what is about no single one. Borrowed while it waits */
	uint64_t round;
};

/* Puts t, which waits nowhere, into its place among those that wait, which are turn.link: by round, and of
 * one round in the order in which they came. round: that of the last that had its turn. */
void turns_line_up(struct link *waiting, uint64_t round, struct turn *t);

#endif
