/*
 * The command lines of queue, explain and decisions, which ask the API server.
 */
#ifndef SLUICE_CLI_ARGUMENTS_H
#define SLUICE_CLI_ARGUMENTS_H

#include "cli/options.h"

struct arguments {
	const char *name;	    /* the ClusterQueue of queue, the Job of explain; NULL: none */
	const char *namespace_name; /* -n; NULL: not given */
	bool all_namespaces;
	enum output output;
	bool follow;
	bool watch;			 /* queue and explain: refresh until interrupted */
	const char *of_cost;		 /* of any_flags: the text of one of cost's own flags */
	struct kube_config_options kube; /* as kubectl */
};

/* The flags of each command. any_flags is what is known before a command is named: the flags of all
 * three, and of cost. Texts point into argv. */
extern const struct flag_table any_flags, queue_flags, explain_flags, decisions_flags;

#endif
