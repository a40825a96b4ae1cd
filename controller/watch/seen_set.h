/*
 * A seen set: which objects of one kind we were told of, so that a new list can show what is gone.
 *
 * Between seen_set_begin() and seen_set_end() a complete list is read. What was not seen in it is
 * then taken out with seen_set_take_lost(). begin may come again in the middle: it starts over, and
 * until the next end nothing is lost.
 */
#ifndef SLUICE_CONTROLLER_WATCH_SEEN_SET_H
#define SLUICE_CONTROLLER_WATCH_SEEN_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uid.h"

struct seen_set;

struct seen_set_entry {
	char *ns, *name;
	struct uid uid;
	int64_t generation;
	uint64_t round; /* the last list with the object in it */
};

struct seen_set *seen_set_new(void);
void seen_set_free(struct seen_set *r);

void seen_set_begin(struct seen_set *r);
void seen_set_end(struct seen_set *r);

/* Notes an object. True when it is new, or another object of that name, or has another generation:
 * its spec must be looked at. An object without generations (0) always must. */
bool seen_set_see(struct seen_set *r, const char *ns, const char *name, const struct uid *uid,
	int64_t generation);
/* Keeps an object that cannot be read from being lost in this list. name "": which object is not
 * known, so none is lost. */
void seen_set_keep(struct seen_set *r, const char *ns, const char *name);
void seen_set_drop(struct seen_set *r, const char *ns, const char *name);

/* Takes out the next object that the list did not have, after seen_set_end; NULL when there is
 * none. Valid until the next call. */
const struct seen_set_entry *seen_set_take_lost(struct seen_set *r);

size_t seen_set_count(const struct seen_set *r);

#endif
