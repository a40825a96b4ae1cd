/*
 * What becomes of each kind of Kueue's API (v1alpha1, v1beta1 and v1beta2): which kind of ours it
 * is and what becomes of its fields, or that Sluice has none and what that means.
 *
 * When Kueue adds a field: a row in kinds.c, a case in test/import/, the table in docs/migrate.md.
 */
#ifndef SLUICE_CLI_IMPORT_KINDS_H
#define SLUICE_CLI_IMPORT_KINDS_H

#include "base/err.h"
#include "cli/import/fields.h"

struct import_kind {
	const char *name;
	const char *plural; /* in paths of the API server; NULL: not read from a cluster */
	bool namespaced;
	const struct field *fields; /* NULL: there is no such kind here */
	bool wants_spec;	    /* ours has one always, if an empty one */
	const char *meaning;	    /* then: what that means */
	/* Whether Sluice accepts what was made: the controller's own decoder. */
	int (*check)(const cJSON *o, struct err *e);
};

/* By name; NULL when Kueue has no such kind. */
const struct import_kind *import_kind_by_name(const char *name);
/* All, in the order in which they are read from a cluster; NULL past the last. */
const struct import_kind *import_kind_at(size_t index);

#endif
