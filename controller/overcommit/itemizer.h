/*
 * The itemizer: cuts a list that comes in pieces ({"kind":..,"items":[{..},{..}]}) into its items,
 * so that of a list of 150,000 things no more than one is in memory.
 *
 * An item is an object that stands in an array that stands in the root. Nothing else is looked at:
 * what an item is worth json_parse() says. A list is complete when its root was closed.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_ITEMIZER_H
#define SLUICE_CONTROLLER_OVERCOMMIT_ITEMIZER_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

typedef void itemizer_fn(struct slice item, void *ctx);

struct itemizer {
	struct buf item; /* the one that is under way */
	unsigned depth;
	bool in_array; /* of the root */
	bool in_item, in_string, escaped;
	bool begun, complete, failed;
	itemizer_fn *fn;
	void *ctx;
};

/* ceiling: bytes of an item; over it the list fails. */
void itemizer_init(struct itemizer *i, size_t ceiling, itemizer_fn *fn, void *ctx);
void itemizer_done(struct itemizer *i);
void itemizer_reset(struct itemizer *i); /* another list */
void itemizer_feed(struct itemizer *i, struct slice bytes);
bool itemizer_complete(const struct itemizer *i);

#endif
