/*
 * The command line of `sluice whatif`.
 */
#ifndef SLUICE_CLI_WHATIF_OPTIONS_H
#define SLUICE_CLI_WHATIF_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "cli/flags.h"
#include "controller/kube/config.h"

enum { WHATIF_TEXTS_MAX = 64 };

struct whatif_texts {
	const char *text[WHATIF_TEXTS_MAX];
	size_t count;
};

struct whatif_options {
	struct whatif_texts sets, drops; /* as they were given */
	struct flag_files files;
	bool json, all, help;
	const char *namespace_name; /* of LocalQueues; NULL: the kubeconfig's */
	struct kube_config_options kube;
};

extern const struct flag_table whatif_flags;

/* Strings point into argv. 0 or ERR_INVALID. */
int whatif_options_parse(int argc, char **argv, struct whatif_options *ret, struct err *e);

#endif
