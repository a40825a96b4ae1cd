/*
 * Cuts a list that comes in pieces ({"kind":..,"items":[{..},{..}]}) into its items, so that only
 * one of 150,000 is in memory.
 *
 * An item is an object that stands in an array that stands in the root. Nothing else is looked at:
 * json_parse() says what an item is worth. A list is complete when its root was closed.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_PROM_TEXT_H
#define SLUICE_CONTROLLER_OVERCOMMIT_PROM_TEXT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

typedef void prom_text_fn(struct slice item, void *ctx);

struct prom_text {
	struct buf item; /* the item that is under way */
	unsigned depth;
	bool in_array; /* of the root */
	bool in_item, in_string, escaped;
	bool begun, complete, failed;
	prom_text_fn *fn;
	void *ctx;
};

/* Begins a list. ceiling: bytes of an item; over it the list fails. */
void prom_text_init(struct prom_text *i, size_t ceiling, prom_text_fn *fn, void *ctx);
void prom_text_done(struct prom_text *i);
void prom_text_reset(struct prom_text *i); /* begins another list */
void prom_text_feed(struct prom_text *i, struct slice bytes);
bool prom_text_complete(const struct prom_text *i);

#endif
