/* The command line of `sluice overcommit`, which asks no controller and has flags of its own. */
#ifndef SLUICE_CLI_OVERCOMMIT_OPTIONS_H
#define SLUICE_CLI_OVERCOMMIT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/flags.h"
#include "controller/kube/config.h"
#include "overcommit/tier.h"

enum overcommit_verb { OVERCOMMIT_CALC, OVERCOMMIT_EXPLAIN, OVERCOMMIT_HELP };

struct overcommit_options {
	enum overcommit_verb verb;
	const char *node;	 /* of explain */
	struct flag_files files; /* of calc */
	bool json;
	int64_t now_ms; /* 0: the clock's */
	bool has_profile;
	enum profile profile;		 /* instead of the configuration's */
	struct kube_config_options kube; /* of explain; as kubectl */
	const char *configmap;		 /* of explain: NAMESPACE/NAME; "": none */
};

extern const struct flag_table overcommit_flags;

/* argv[0] is the command's name. Strings point into argv. */
int overcommit_options_parse(int argc, char **argv, struct overcommit_options *ret, struct err *e);

#endif
