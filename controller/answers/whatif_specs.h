/*
 * The objects of a what-if: those that are to be in place of the live ones, and those that are to
 * be gone.
 *
 * Their text is checked when they are added. They are told to the queue in a play's own process
 * (forecast/ask.h), and that queue may refuse them. The kinds are in a table in whatif_specs.c.
 *
 * That process does not know a ConfigMap with dates or prices that no live object names. An object
 * that names one is refused.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_WHATIF_SPECS_H
#define SLUICE_CONTROLLER_ANSWERS_WHATIF_SPECS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct queue;
struct time_specs;
struct whatif_specs;

enum {
	WHATIF_ITEMS_MAX = 64,
	WHATIF_BYTES_MAX = 24 << 10, /* size of all together */
};

struct whatif_specs *whatif_specs_new(void);
void whatif_specs_free(struct whatif_specs *s); /* NULL is fine */

/* Adds a whole object as JSON. ERR_INVALID, or ERR_LIMIT where they are too many or too large. */
int whatif_specs_add(struct whatif_specs *s, const char *json, struct err *e);
/* Adds an object that is to be gone: "ClusterQueue/batch", "LocalQueue/team/main". Errors as
 * whatif_specs_add(). */
int whatif_specs_add_drop(struct whatif_specs *s, const char *text, struct err *e);
size_t whatif_specs_count(const struct whatif_specs *s);
/* True if there is an object of that kind and name. One that is to be gone is none. */
bool whatif_specs_has(const struct whatif_specs *s, const char *kind, const char *name);

/* Tells q of the objects, in their order, through t. ERR_INVALID with the sentence: one is refused,
 * or names what is not there. */
int whatif_specs_apply(
	struct whatif_specs *s, struct queue *q, struct time_specs *t, struct err *e);

#endif
