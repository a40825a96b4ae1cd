/*
 * What queue, explain, decisions and cost are asked, of the API server or of a controller that
 * --server names.
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
	const char *by, *since, *until;	 /* of cost; NULL: not given */
	struct kube_config_options kube; /* as kubectl */
	/* SERVER_FLAGS of arguments.c: */
	const char *server; /* --server, else $SLUICE_SERVER, else the default */
	bool server_given;
	const char *token_file; /* NULL: none */
	const char *ca_file;	/* --ca-file, else $SLUICE_CA_FILE; NULL: the system's */
	bool insecure;		/* --insecure-skip-tls-verify */
};

#define DEFAULT_SERVER "http://127.0.0.1:8080"

/* Each command's own, and what is known before a command is named: the flags of all four. Texts
 * point into argv and the environment. */
extern const struct flag_table any_flags, queue_flags, explain_flags, decisions_flags, cost_flags;

#endif
