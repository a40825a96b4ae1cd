/* The command line of `sluice overcommit`, which asks no controller and has flags of its own. */
#ifndef SLUICE_CLI_OVERCOMMIT_OPTIONS_H
#define SLUICE_CLI_OVERCOMMIT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "overcommit/tier.h"

enum overcommit_verb { OVERCOMMIT_CALC, OVERCOMMIT_EXPLAIN, OVERCOMMIT_HELP };

enum { OVERCOMMIT_FILES_MAX = 64 };

struct overcommit_options {
	enum overcommit_verb verb;
	const char *node;			/* of explain */
	const char *file[OVERCOMMIT_FILES_MAX]; /* of calc */
	size_t nfiles;
	bool json;
	int64_t now_ms; /* 0: the clock's */
	bool has_profile;
	enum profile profile;		  /* instead of the configuration's */
	const char *kubeconfig, *context; /* of explain; NULL: as kubectl */
	const char *configmap;		  /* of explain: NAMESPACE/NAME; "": none */
};

/* argv[0] is the command's name. Strings point into argv. */
int overcommit_options_parse(int argc, char **argv, struct overcommit_options *ret, struct err *e);

#endif
