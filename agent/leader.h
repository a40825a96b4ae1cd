/*
 * Where the leader is: what the ConfigMap sluice-nodes says, as a configuration for an HTTP client
 * that believes its certificate and nothing else. (controller/nodes/rendezvous.h writes it.)
 */
#ifndef SLUICE_AGENT_LEADER_H
#define SLUICE_AGENT_LEADER_H

#include <stdbool.h>

#include "base/err.h"
#include "base/slice.h"
#include "controller/kube/config.h"

struct json;

struct leader_options {
	const char *namespace_name; /* of the ConfigMap; borrowed */
	const char *token_file;	    /* shown to the leader; borrowed */
	bool plain;		    /* tests alone: http */
};

/* Reads the ConfigMap. Returns 0 and a configuration that is the caller's; ERR_GONE: no leader has
 * written it yet; ERR_INVALID with a sentence. j is empty afterwards. */
int leader_read(struct json *j, struct slice text, const struct leader_options *o,
	struct kube_config **ret, struct err *e);

/* Whether a text is an address as the ConfigMap has it: "10.1.2.3:8444" or "[fd00::5]:8444". */
bool leader_is_address(const char *text);

#endif
