/* The command line of sluice-node, checked. */
#ifndef SLUICE_AGENT_OPTIONS_H
#define SLUICE_AGENT_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/embedded.h"
#include "base/err.h"
#include "base/flags.h"
#include "controller/common/log.h"

struct node_options {
	const char *kubeconfig; /* NULL: where kubectl looks, or in-cluster */
	const char *namespace_name;
	const char *token_file;
	const char *cgroups;
	const char *tier;      /* NULL: it is looked for */
	const char *state_dir; /* NULL: nothing is kept */
	bool lift;
	enum log_format log_format;
	enum log_level log_level;
};

extern const struct flag_table node_options_flags;

/* Reads the command line, of which strings are borrowed. Returns 0, an error with a sentence, or
 * FLAGS_HELP or FLAGS_VERSION where that is asked for. */
int node_options_parse(int argc, char **argv, struct node_options *ret, struct err *e);

/* What --help prints. */
extern const struct embedded NODE_HELP[];
extern const size_t NODE_HELP_COUNT;

#endif
