/*
 * The rulebook: which configuration holds for which node.
 *
 * There are two ways to say the same. The ConfigMap (ack-slo-config, key colocation-config), as
 * soon as it is there: then it alone counts. Else NodeOvercommits, of which the first in name order
 * that selects a node holds for it.
 *
 * A bad configuration leaves the last good one in force: of the ConfigMap the whole, of a
 * NodeOvercommit its own. A ConfigMap that was never good since the start says nothing, and nobody
 * else does: then rulebook_known() is false, and everything stays as it is.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_RULEBOOK_H
#define SLUICE_CONTROLLER_OVERCOMMIT_RULEBOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "controller/wire/decode_node.h"
#include "overcommit/facts.h"

struct cJSON;
struct rulebook;

/* A NodeOvercommit. */
struct rule {
	const char *name; /* lives as long as the rulebook */
	struct uid uid;
	int64_t generation;
	struct node_overcommit *good; /* NULL: none of its specs was ever valid */
	char *fault;		      /* NULL, or what is wrong with the newest */
	bool unseen;		      /* its status is to be written whatever it says */
};

/* What holds for a node. */
struct ruling {
	bool governed;	   /* somebody says something about it */
	const char *whose; /* the NodeOvercommit, "" for the ConfigMap, NULL: nobody */
	const char *entry; /* of nodeConfigs; NULL */
	struct strategy strategy;
};

struct rulebook *rulebook_new(void);
void rulebook_free(struct rulebook *r);

/* The ConfigMap as it is; without the key it is as if it were not there. ERR_INVALID: the last good
 * one stays in force. *ret_news: it says something else now (or is wrong in another way). */
int rulebook_see_configmap(
	struct rulebook *r, const struct cJSON *object, bool *ret_news, struct err *e);
void rulebook_drop_configmap(struct rulebook *r);
bool rulebook_has_configmap(const struct rulebook *r);
const char *rulebook_fault(const struct rulebook *r); /* of the ConfigMap; NULL */

int rulebook_see(struct rulebook *r, const struct cJSON *object, struct err *e);
void rulebook_drop(struct rulebook *r, const char *name);
/* In name order; NULL past the last. */
const struct rule *rulebook_at(const struct rulebook *r, size_t index);

bool rulebook_known(const struct rulebook *r);
bool rulebook_lends(const struct rulebook *r);	     /* somebody says enable: true */
uint64_t rulebook_version(const struct rulebook *r); /* another one with each change; never 0 */

void rulebook_rule(const struct rulebook *r, const struct node_facts *f, struct ruling *ret);
/* Does this NodeOvercommit select the node, whether it holds there or not? */
bool rule_selects(const struct rule *u, const struct node_facts *f);

#endif
