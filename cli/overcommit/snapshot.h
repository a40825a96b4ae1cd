/*
 * A snapshot of one moment: Nodes, Pods, their use, and what may be lent of them, out of files or
 * out of a cluster. Objects go through the controller's decoders. Kinds that do not matter are
 * passed over, so that a dump of anything may be given.
 */
#ifndef SLUICE_CLI_OVERCOMMIT_SNAPSHOT_H
#define SLUICE_CLI_OVERCOMMIT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "cli/overcommit/agent.h"
#include "controller/wire/decode_node.h"

struct snapshot_node {
	struct node_facts *facts;
	bool tells_ready; /* the Node has a condition Ready; out of a file it may have none */
};

struct snapshot_usage {
	bool of_pod;
	struct usage_facts *facts;
	bool known; /* the node or pod is in the snapshot */
};

struct snapshot {
	struct snapshot_node *node;
	size_t nnodes;
	struct pod_facts **pod;
	size_t npods;
	struct snapshot_usage *usage;
	size_t nusages;
	struct overcommit_config *config; /* from the ConfigMap; NULL: there is none */
	char config_name[600];
	struct node_overcommit **rule;
	size_t nrules;
	struct agent agent; /* of the one node of explain */
	struct buf notes;   /* lines: what was passed over, and why */
};

/* The rules that hold for a node. */
struct snapshot_ruling {
	struct strategy strategy;
	bool governed;	 /* some configuration is about the node */
	char whose[900]; /* "ConfigMap kube-system/ack-slo-config, nodeConfigs a" */
};

void snapshot_init(struct snapshot *s);
void snapshot_done(struct snapshot *s);

/* Reads a file of YAML or JSON documents; "-" is standard input. */
int snapshot_read(struct snapshot *s, const char *file, struct err *e);

/* Adds an object or a list of them. kind NULL: it says its kind itself. */
int snapshot_add(struct snapshot *s, const cJSON *o, const char *kind, struct err *e);

/* Brings the whole into order, once all is there. ERR_INVALID: something is there twice. */
int snapshot_close(struct snapshot *s, struct err *e);

/* Counts the pods of a node; they stand from *ret_first on. */
size_t snapshot_pods(const struct snapshot *s, const char *node, size_t *ret_first);
/* Finds the sample of a pod (ns NULL: of a node), and marks it as known. NULL: there is none. */
const struct usage_facts *snapshot_usage(
	const struct snapshot *s, const char *ns, const char *name);

/* Finds the rules for a node. profile: NULL, or instead of the configuration's. */
void snapshot_rule(const struct snapshot *s, const struct node_facts *f,
	const enum profile *profile, struct snapshot_ruling *ret);

#endif
