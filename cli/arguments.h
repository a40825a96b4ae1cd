/*
 * The command line of `sluice`: one command, its names, and flags that may stand anywhere.
 */
#ifndef SLUICE_CLI_ARGUMENTS_H
#define SLUICE_CLI_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "cli/command_table.h"
#include "controller/kube/config.h"

/* Exit codes; they are part of --help and never change. */
enum {
	CLI_OK = 0,
	CLI_NOT_FOUND = 1,
	CLI_FINDINGS = 1, /* of doctor */
	CLI_USAGE = 2,
	CLI_UNREACHABLE = 3,
};

/* output_by_name() has them in this order. */
enum output {
	OUTPUT_TABLE,
	OUTPUT_WIDE,
	OUTPUT_JSON,
	OUTPUT_CSV,  /* cost only */
	OUTPUT_NAME, /* jobs only */
};

enum { NAMES_MAX = 4 };

struct arguments {
	enum command command;
	const char *name[NAMES_MAX]; /* what follows the command */
	size_t nnames;
	const char *namespace_name; /* -n; NULL: not given */
	bool all_namespaces;
	enum output output;
	bool follow;
	bool watch;			/* queue and explain: refresh until interrupted */
	const char *by, *since, *until; /* of cost; NULL: not given */
	bool help;			/* -h, --help anywhere */
	const char *server;		/* --server, else $SLUICE_SERVER, else the default */
	bool server_given;
	const char *token_file;		 /* NULL: none */
	const char *ca_file;		 /* --ca-file, else $SLUICE_CA_FILE; NULL: the system's */
	bool insecure;			 /* --insecure-skip-tls-verify */
	struct kube_config_options kube; /* as kubectl */
};

#define DEFAULT_SERVER "http://127.0.0.1:8080"

/* Strings point into argv and the environment. Returns 0 or ERR_INVALID. */
int arguments_parse(int argc, char **argv, struct arguments *ret, struct err *e);

/* Each command's own, and what is known before a command is named: the flags of all four. */
extern const struct flag_table any_flags, queue_flags, explain_flags, decisions_flags, cost_flags;

/* One of table, wide, json, csv, name, which was checked. */
enum output output_by_name(const char *name);

#endif
