/*
 * A roster: which objects of one kind we were told of, so that a new list can show what is gone.
 *
 * Between roster_begin() and roster_end() a complete list is read; what was not seen in it is then
 * taken out with roster_take_lost(). begin may come again in the middle: it starts over, and until
 * the next end nothing is lost.
 */
#ifndef SLUICE_CONTROLLER_ROSTER_H
#define SLUICE_CONTROLLER_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uid.h"

struct roster;

struct roster_entry {
	char *ns, *name;
	struct uid uid;
	int64_t generation;
	uint64_t round; /* the list it was last seen in */
};

struct roster *roster_new(void);
void roster_free(struct roster *r);

void roster_begin(struct roster *r);
void roster_end(struct roster *r);

/* True when it is new, or another object of that name, or has another generation: its spec must be
 * looked at. An object without generations (0) always must. */
bool roster_see(struct roster *r, const char *ns, const char *name, const struct uid *uid,
	int64_t generation);
/* It is there, but what it is now cannot be read: it is not lost in this list. name "": it is not
 * known which that is, so none is lost. */
void roster_keep(struct roster *r, const char *ns, const char *name);
void roster_drop(struct roster *r, const char *ns, const char *name);

/* After roster_end: the next that the list did not have, no longer in the roster; NULL when there
 * is none. Valid until the next call. */
const struct roster_entry *roster_take_lost(struct roster *r);

size_t roster_count(const struct roster *r);

#endif
