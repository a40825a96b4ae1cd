/*
 * Overcommit configurations: which configuration holds for which node.
 *
 * There are two ways to say the same. If the ConfigMap (ack-slo-config, key colocation-config)
 * exists, it alone counts. Else NodeOvercommits do: the first in name order that selects a node
 * holds for it.
 *
 * A bad configuration leaves the last good one in force: of the ConfigMap the whole, of a
 * NodeOvercommit its own. While a ConfigMap was never good since the start, no NodeOvercommit
 * counts either: overcommit_configs_known() is false, and everything stays as it is.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_OVERCOMMIT_CONFIGS_H
#define SLUICE_CONTROLLER_OVERCOMMIT_OVERCOMMIT_CONFIGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "controller/wire/decode_node.h"
#include "overcommit/facts.h"

struct cJSON;
struct overcommit_configs;

/* A NodeOvercommit, and whether it is valid. */
struct rule {
	const char *name; /* lives as long as the configs */
	struct uid uid;
	int64_t generation;
	struct node_overcommit *good; /* NULL: no spec of it was ever valid */
	char *fault;		      /* NULL, or what is wrong with the newest */
	bool unseen;		      /* its status is to be written whatever it says */
};

/* The configuration that holds for a node. */
struct ruling {
	bool governed;	   /* a configuration holds for the node */
	const char *whose; /* the NodeOvercommit, "" for the ConfigMap, NULL: none */
	const char *entry; /* an entry of nodeConfigs; NULL */
	struct strategy strategy;
};

struct overcommit_configs *overcommit_configs_new(void);
void overcommit_configs_free(struct overcommit_configs *r);

/* Takes the ConfigMap; without the key it counts as absent. ERR_INVALID: the last good one stays in
 * force. *ret_news: it says something else now (or is wrong in another way). */
int overcommit_configs_see_configmap(
	struct overcommit_configs *r, const struct cJSON *object, bool *ret_news, struct err *e);
void overcommit_configs_drop_configmap(struct overcommit_configs *r);
bool overcommit_configs_has_configmap(const struct overcommit_configs *r);
const char *overcommit_configs_fault(
	const struct overcommit_configs *r); /* of the ConfigMap; NULL */

/* Gives what of its resource-qos-config is passed over, a sentence each; NULL past the last. */
const char *overcommit_configs_note(const struct overcommit_configs *r, size_t index);

int overcommit_configs_see(struct overcommit_configs *r, const struct cJSON *object, struct err *e);
void overcommit_configs_drop(struct overcommit_configs *r, const char *name);
/* Gives the NodeOvercommits in name order; NULL past the last. */
const struct rule *overcommit_configs_at(const struct overcommit_configs *r, size_t index);

bool overcommit_configs_known(const struct overcommit_configs *r);
/* Tells whether some configuration says enable: true. */
bool overcommit_configs_lends(const struct overcommit_configs *r);
uint64_t overcommit_configs_version(
	const struct overcommit_configs *r); /* another one with each change; never 0 */

void overcommit_configs_rule(
	const struct overcommit_configs *r, const struct node_facts *f, struct ruling *ret);
/* Whether this NodeOvercommit selects the node, no matter if it holds there. */
bool rule_selects(const struct rule *u, const struct node_facts *f);

#endif
