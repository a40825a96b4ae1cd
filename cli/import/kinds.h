/*
 * What becomes of each kind of Kueue's API (v1alpha1, v1beta1 and v1beta2): the kind of ours and
 * its fields, or that Sluice has none and what that means.
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
	bool wants_spec;	    /* our kind always has a spec, if an empty one */
	const char *meaning;	    /* where fields NULL: what that means */
	/* Whether Sluice accepts what was made, by the controller's own decoder. */
	int (*check)(const cJSON *o, struct err *e);
};

/* A selector of labels, of any kind. */
extern const struct field import_selector_fields[];

const struct import_kind *import_kind_by_name(const char *name);
/* Returns each kind, in the order in which they are read from a cluster; NULL past the last. */
const struct import_kind *import_kind_at(size_t index);

#endif
