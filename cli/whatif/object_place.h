/*
 * The one place of an object that a path leads to (object_path.h), by what is written in the object
 * and by what its CRD allows.
 *
 * Left to others: the text of a path (object_steps.h), and the value (object_path.h).
 */
#ifndef SLUICE_CLI_WHATIF_OBJECT_PLACE_H
#define SLUICE_CLI_WHATIF_OBJECT_PLACE_H

#include "base/buf.h"
#include "base/err.h"
#include "cli/whatif/object_steps.h"
#include "base/json.h"

enum { OBJECT_HOPS_MAX = 32 };

/* One step of a place: a field, or an item of a list. Texts are the tree's, the schema's, or the
 * steps'. */
struct object_hop {
	const char *key;  /* NULL: an item */
	size_t index;	  /* of an item */
	const char *list; /* the list that an item is in */
	const char *name; /* name of an item, if it has one */
};

struct object_place {
	struct object_hop hop[OBJECT_HOPS_MAX];
	size_t n;
	const cJSON *node; /* NULL: nothing is there yet */
	const cJSON *schema;
};

/* Finds the place. Its texts live as long as the object, the schema and the steps do. path is for
 * sentences. ERR_INVALID: there is no such place, and the sentence says how far the path leads; or
 * there are several, which it lists. */
int object_place_find(const cJSON *root, const cJSON *schema, const char *path,
	const struct object_steps *steps, struct object_place *ret, struct err *e);

/* Appends a path that leads to the place. */
void object_place_put(const struct object_place *p, struct buf *out);
/* Returns the name that tells an item of a list from others; NULL: it has none, or an odd one. */
const char *object_item_name(const cJSON *item);

#endif
