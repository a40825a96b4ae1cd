/*
 * What becomes of each kind of Crane's API, a table of fields each. A field that stands there by its
 * name alone is read in crane.c and crane_marks.c.
 *
 * When Crane adds a field: a row in crane_kinds.c, a case in test/import/crane.txt, the table in
 * docs/migrate.md.
 */
#ifndef SLUICE_CLI_IMPORT_CRANE_KINDS_H
#define SLUICE_CLI_IMPORT_CRANE_KINDS_H

#include "cli/import/fields.h"

enum crane_meaning {
	CRANE_POLICY,	  /* NodeQOS */
	CRANE_ACTION,	  /* AvoidanceAction */
	CRANE_PODS,	  /* PodQOS */
	CRANE_PREDICTION, /* TimeSeriesPrediction, ClusterNodePrediction */
};

struct crane_kind {
	const char *name, *api, *plural; /* "NodeQOS", "ensurance.crane.io/v1alpha1", "nodeqoss" */
	bool namespaced;
	enum crane_meaning means;
	const struct field *fields;
};

/* NULL: it is none that is known here. */
const struct crane_kind *crane_kind_by_name(const char *name);
/* Returns each kind that is read from a cluster; NULL past the last. */
const struct crane_kind *crane_kind_at(size_t index);

/* Fields of one rule of a NodeQOS, and of the spec of a TimeSeriesPrediction. */
extern const struct field crane_rule_fields[], crane_prediction_fields[];

#endif
