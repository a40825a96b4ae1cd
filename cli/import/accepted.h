/*
 * Whether the API server will accept an object of ours, told before it is asked. The CRDs are
 * compiled in (cli/deployed.h), so a bound that changes there changes here.
 *
 * All of a schema is judged but for rules in CEL. Of those, texts that must match an expression are
 * (self.matches('...')), and some rules that accepted.c repeats: what a ClusterQueue or Cohort must
 * be as a whole, selectors, tolerations. test/e2e/test_import.py gives what was accepted here to a
 * real API server.
 *
 * Left to others: what the controller says of the object (controller/wire/decode.h).
 */
#ifndef SLUICE_CLI_IMPORT_ACCEPTED_H
#define SLUICE_CLI_IMPORT_ACCEPTED_H

#include "base/err.h"
#include "cli/simulate/documents.h"

/* The CRDs that were read so far. All zero is none. */
struct accepted {
	struct accepted_crd {
		char *kind;
		struct documents *documents; /* home of the tree of schema */
		const cJSON *schema;
	} * crd;
	size_t ncrds;
};

void accepted_done(struct accepted *a);

/* Returns the schema of a kind of ours; it lives until accepted_done(). */
const cJSON *accepted_schema(struct accepted *a, const char *kind);

/* Checks an object. ERR_INVALID with the first fault: "spec.stopPolicy: must be one of None, Hold,
 * HoldAndDrain". */
int accepted_check(struct accepted *a, const char *kind, const cJSON *o, struct err *e);

#endif
