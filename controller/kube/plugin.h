/*
 * Private to kube/: one run of an exec credential plugin, beside the loop.
 *
 * The plugin is started without a shell, with no terminal and no descriptor of ours but its stdout,
 * in a process group of its own, and without libpq's variables (PG*). It must print one
 * ExecCredential of at most 1 MiB and exit with 0 in time, else it is killed with its group. Its
 * stderr is ours, as with kubectl; what it prints on stdout never reaches a message.
 */
#ifndef SLUICE_CONTROLLER_KUBE_PLUGIN_H
#define SLUICE_CONTROLLER_KUBE_PLUGIN_H

#include <ev.h>
#include <stdint.h>

#include "controller/kube/config.h"

struct plugin;

struct plugin_result {
	int code;	   /* 0, or an error, with the sentence in err */
	char *token;	   /* as cert and key: yours (source_forget), NULL: none */
	char *cert, *key;  /* PEM; both or none */
	double expires_at; /* seconds since 1970; 0: not said */
	struct err err;
};

/* Takes the result, once, from the loop, unless the plugin was freed before. It must not call
 * plugin_free. */
typedef void plugin_done_fn(struct plugin_result *result, void *ctx);

/* Starts the plugin; config is borrowed. NULL, with the sentence, when it cannot be started. */
struct plugin *plugin_new(struct ev_loop *loop, const struct kube_config *config,
	int64_t timeout_ms, plugin_done_fn *done, void *ctx, struct err *err);
void plugin_free(struct plugin *p); /* NULL is fine; kills it if it still runs */

/* Reads the ExecCredential in text. Public for the tests. */
void plugin_read(struct slice text, const char *api_version, struct plugin_result *ret_result);

#endif
