/* The command line of `sluice doctor`, which asks no controller and has flags of its own. */
#ifndef SLUICE_CLI_DOCTOR_OPTIONS_H
#define SLUICE_CLI_DOCTOR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/options.h"

struct doctor_options {
	bool json;
	struct kube_config_options kube; /* as kubectl */
	const char *database;		 /* libpq's; "": the PG* variables; NULL: none is named */
	const char *cell;		 /* names this cluster in the ledger */
	const char *namespace_name;	 /* of the controller's account */
	const char *configmap;		 /* of lending: NAMESPACE/NAME; "": none */
	struct flag_texts ignored;	 /* names of checks */
	int64_t settle_ms; /* the pause before the second look at what may be under way */
};

extern const struct flag_table doctor_flags;

/* Reads the command line. argv[0] is the command's name. Strings point into argv. is_check tells
 * whether an ignored check exists. */
int doctor_options_parse(int argc, char **argv, bool (*is_check)(const char *name),
	struct doctor_options *ret, struct err *e);

#endif
