/*
 * The command line of `sluice top`.
 */
#ifndef SLUICE_CLI_TOP_OPTIONS_H
#define SLUICE_CLI_TOP_OPTIONS_H

#include "cli/options.h"

struct top_options {
	bool all_namespaces;
	const char *namespace_name; /* NULL: the kubeconfig's */
	struct kube_config_options kube;
};

extern const struct flag_table top_flags;

#endif
