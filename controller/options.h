/*
 * The command line of sluice-controller, checked.
 *
 * A bad flag is an error with a sentence that names the flag, the value and what would be right. A
 * connection string may hold a password and is never shown.
 */
#ifndef SLUICE_CONTROLLER_OPTIONS_H
#define SLUICE_CONTROLLER_OPTIONS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/embedded.h"
#include "base/err.h"
#include "controller/gate/bill_labels.h"
#include "controller/write/events.h"
#include "controller/common/log.h"
#include "controller/common/selector.h"
#include "controller/settings.h"

struct listen_at {
	bool on;	/* false for "off" */
	char host[256]; /* without brackets; "" for all addresses */
	uint16_t port;	/* 0: any free one */
};

struct options {
	const char *kubeconfig; /* NULL: look where kubectl looks, or in-cluster */
	const char *context;	/* NULL: the current one */
	const char *database;	/* "" : the PG* variables */
	const char *cell;
	struct listen_at listen, probe_listen;
	bool loopback_needs_token;
	const char *token_audience;		  /* NULL: the API server */
	const char *tls_cert_file, *tls_key_file; /* both, or NULL both */
	bool tls_self_signed;
	struct listen_at visibility_listen;
	char visibility_address[INET6_ADDRSTRLEN]; /* in its shortest form; "": not given */
	const char *visibility_cert_file, *visibility_key_file; /* both, or both NULL */
	struct listen_at node_listen;
	char node_address[INET6_ADDRSTRLEN];	    /* "": not given, and node_listen is off */
	const char *node_cert_file, *node_key_file; /* both, or both NULL */
	bool migrate_only;			    /* brings the schema up to date, and ends */
	enum log_format log_format;
	enum log_level log_level;
	char identity[128];
	int64_t lease_ms;
	int64_t max_writes;
	int64_t keep_history_ms;	       /* 0: for ever */
	const char *record;		       /* a directory (record/); NULL: none */
	int64_t record_most_bytes;	       /* of all that is in it */
	int64_t settle_ms;		       /* 0: not at all */
	int64_t mass_stop_after_ms;	       /* 0: at once */
	int64_t note_after_ms, stuck_after_ms; /* 0: never */
	const char *config_namespace;	       /* the namespace of the ConfigMaps that are read */
	/* The ConfigMap of overcommit; "": none. */
	char overcommit_namespace[64], overcommit_config[254];
	enum events_level events;
	bool forecasts; /* when Jobs start, for people who ask */
	struct bill_labels bill_labels;
	/* Which Jobs are managed, see job_scope.h. */
	bool manage_without_queue_name;
	bool has_namespaces; /* --managed-jobs-namespace-selector */
	struct selector namespaces;
	struct settings settings;
};

extern const struct flag_table options_flags;

/* Reads the command line, of which strings are borrowed. Returns 0, ERR_INVALID, or FLAGS_HELP or
 * FLAGS_VERSION where that is asked for: what stands behind it is not read. ret must not move
 * afterwards, and is to be freed by options_done() unless there is an error. */
int options_parse(int argc, char **argv, struct options *ret, struct err *e);
void options_done(struct options *o);

/* What --help prints: the files of controller/help/, one behind the other. */
extern const struct embedded OPTIONS_HELP[];
extern const size_t OPTIONS_HELP_COUNT;
void options_print_help(FILE *out);
void options_print_version(FILE *out);

#endif
