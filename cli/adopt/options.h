/* The command line of `sluice adopt`, which asks no controller and has flags of its own. */
#ifndef SLUICE_CLI_ADOPT_OPTIONS_H
#define SLUICE_CLI_ADOPT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/options.h"

struct adopt_options {
	bool dry_run;
	bool force; /* whatever the controllers' pods show */
	const char *controller_namespace;
	int64_t timeout_ms;		 /* to wait for the controller's decisions */
	struct kube_config_options kube; /* as kubectl */
	const char *namespace_name;	 /* NULL: the kubeconfig's */
	const char *queue;		 /* NULL: not given */
	char **job;			 /* argv's */
	size_t njobs;			 /* 0: all that run */
	bool left_out;			 /* the outcome: some Job was not adopted */
};

extern const struct flag_table adopt_flags;

#endif
