/* The command line of `sluice import`, which asks no controller and has flags of its own. */
#ifndef SLUICE_CLI_IMPORT_OPTIONS_H
#define SLUICE_CLI_IMPORT_OPTIONS_H

#include <stdbool.h>

#include "base/err.h"
#include "cli/flags.h"
#include "controller/kube/config.h"

struct import_options {
	bool help, json, from_cluster;
	struct flag_files files;
	struct kube_config_options kube; /* as kubectl */
	const char *namespace_name;	 /* NULL: all */
	const char *kueue_namespace;	 /* where Kueue's ConfigMap is */
};

extern const struct flag_table import_flags;

/* argv[0] is the command's name. Strings point into argv. */
int import_options_parse(int argc, char **argv, struct import_options *ret, struct err *e);

#endif
