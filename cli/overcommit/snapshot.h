/*
 * A snapshot: Nodes, Pods, what they use, and what may be lent of them, all at one moment; out of
 * files, or out of a cluster. Objects go through the same decoders as the controller's own. Kinds
 * that say nothing about it are passed over, so that a dump of anything may be given.
 */
#ifndef SLUICE_CLI_OVERCOMMIT_SNAPSHOT_H
#define SLUICE_CLI_OVERCOMMIT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "controller/wire/decode_node.h"

struct snapshot_node {
	struct node_facts *facts;
	bool tells_ready; /* it has a condition Ready; out of a file it may have none */
};

struct snapshot_usage {
	bool of_pod;
	struct usage_facts *facts;
	bool known; /* it is configured */
};

struct snapshot {
	struct snapshot_node *node;
	size_t nnodes;
	struct pod_facts **pod;
	size_t npods;
	struct snapshot_usage *usage;
	size_t nusages;
	struct overcommit_config *config; /* of the ConfigMap; NULL: there is none */
	char config_name[600];
	struct node_overcommit **rule;
	size_t nrules;
	struct buf notes; /* lines: what was passed over, and why */
};

/* What holds for a node. */
struct snapshot_ruling {
	struct strategy strategy;
	bool governed;	 /* something is said about it */
	char whose[900]; /* "ConfigMap kube-system/ack-slo-config, nodeConfigs a" */
};

void snapshot_init(struct snapshot *s);
void snapshot_done(struct snapshot *s);

/* A file of YAML or JSON documents, "-" for standard input. */
int snapshot_read(struct snapshot *s, const char *file, struct err *e);

/* An object or a list of them; kind NULL: it says its kind itself. */
int snapshot_add(struct snapshot *s, const cJSON *o, const char *kind, struct err *e);

/* All is there: brings it into order. ERR_INVALID: something is there twice. */
int snapshot_close(struct snapshot *s, struct err *e);

/* The pods of a node, one behind the other, from *ret_first on. */
size_t snapshot_pods(const struct snapshot *s, const char *node, size_t *ret_first);
/* NULL: there is no sample. Marks it as known. ns NULL: of a node. */
const struct usage_facts *snapshot_usage(
	const struct snapshot *s, const char *ns, const char *name);

/* profile: NULL, or instead of the configuration's. */
void snapshot_rule(const struct snapshot *s, const struct node_facts *f,
	const enum profile *profile, struct snapshot_ruling *ret);

#endif
