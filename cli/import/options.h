/* The command line of `sluice import`, which asks no controller and has flags of its own. */
#ifndef SLUICE_CLI_IMPORT_OPTIONS_H
#define SLUICE_CLI_IMPORT_OPTIONS_H

#include <stdbool.h>

#include "cli/options.h"

struct import_options {
	bool json, from_cluster;
	struct flag_texts files;
	struct kube_config_options kube; /* as kubectl */
	const char *namespace_name;	 /* NULL: all */
	const char *kueue_namespace;	 /* where Kueue's ConfigMap is */
	const char *crane_namespace;	 /* where Crane's is */
	bool crane;			 /* import crane */
};

extern const struct flag_table import_flags;

#endif
