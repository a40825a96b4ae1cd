/*
 * The command line of `sluice whatif`.
 */
#ifndef SLUICE_CLI_WHATIF_OPTIONS_H
#define SLUICE_CLI_WHATIF_OPTIONS_H

#include <stdbool.h>

#include "cli/options.h"

struct whatif_options {
	struct flag_texts sets, drops; /* as they were given */
	struct flag_texts files;
	bool json, all;
	const char *namespace_name; /* namespace of LocalQueues; NULL: the kubeconfig's */
	struct kube_config_options kube;
};

extern const struct flag_table whatif_flags;

#endif
