/*
 * A place in an object, as `sluice whatif --set` takes it, and a value that is put there.
 *
 *     spec.resourceGroups[0].flavors[name=spot].resources[name=cpu].nominalQuota
 *     spec.base.nvidia\.com/gpu: a key with a point in it, as kubectl's jsonpath has it.
 *     spec.base["nvidia.com/gpu"]: that key in quotes.
 *     spec...nominalQuota: the only place below spec that has this name.
 *     spec...[name=spot]...nominalQuota: such a place below the only item of that name.
 *
 * The three points may be the character U+2026, and mean: at any depth. The object's CRD says which
 * places there may be. So a field that is not written yet is found, and one that does not exist is
 * refused. If of several places only one is written in the object, it is meant.
 *
 * Left to others: whether the object with the value is one that the API server would take
 * (cli/import/accepted.h).
 */
#ifndef SLUICE_CLI_WHATIF_OBJECT_PATH_H
#define SLUICE_CLI_WHATIF_OBJECT_PATH_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

struct object_change {
	struct buf *place;	    /* the whole path */
	struct buf *before, *after; /* the value there, as JSON; "" for nothing */
};

/* Puts the value at the place. It is JSON where it can be (a number, true, null, {...}), else a
 * text, and always a text where the CRD wants one. null takes away what is there. Changes root, a
 * tree of cJSON's own memory. ERR_INVALID: no such place, or more than one; root is as it was. */
int object_path_set(cJSON *root, const cJSON *schema, const char *path, const char *value,
	const struct object_change *ret, struct err *e);

/* Finds the first field of a tree that its schema does not have, as "spec.nominalQota"; "": there
 * is none. */
void object_unknown_field(const cJSON *root, const cJSON *schema, struct buf *ret_path);

#endif
