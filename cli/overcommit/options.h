/* The command line of `sluice overcommit`, which asks no controller and has flags of its own. */
#ifndef SLUICE_CLI_OVERCOMMIT_OPTIONS_H
#define SLUICE_CLI_OVERCOMMIT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/options.h"
#include "overcommit/tier.h"

enum overcommit_verb { OVERCOMMIT_CALC, OVERCOMMIT_EXPLAIN };

struct overcommit_options {
	enum overcommit_verb verb;
	const char *node;	 /* of explain */
	struct flag_texts files; /* of calc */
	bool json;
	int64_t now_ms; /* 0: the clock's */
	bool has_profile;
	enum profile profile;		 /* instead of the configuration's */
	struct kube_config_options kube; /* of explain; as kubectl */
	const char *configmap;		 /* of explain: NAMESPACE/NAME; "": none */
};

extern const struct flag_table overcommit_flags;

#endif
