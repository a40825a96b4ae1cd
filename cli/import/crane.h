/*
 * Crane: what is described for its agent (ensurance.crane.io and prediction.crane.io, v1alpha1) as
 * NodeOvercommits.
 *
 * Crane's rules name actions, and a node gets the rules of all NodeQOS that select it. Here one
 * NodeOvercommit holds for a node, the first by name. So all is kept that comes, and what it means
 * together is settled at the end (crane_settle()):
 *
 *     NodeQOS            with the same selector are one NodeOvercommit, of the first's name
 *     AvoidanceAction    throttle: suppression; eviction: taking back; neither: nothing, for a
 *                        figure falls by itself and no node is tainted
 *     predictions        of nodes: forecastMarginPercent. Where no NodeQOS is there they make a
 *                        NodeOvercommit of their own
 *     PodQOS             nothing, where it means pods on idle resources; else it is refused, for
 *                        Sluice touches no other pod
 *     Node               its capacity, by which an absolute figure becomes a percentage
 *
 * crane_kinds.h has a table of fields for each kind, crane_marks.h what rules say together.
 */
#ifndef SLUICE_CLI_IMPORT_CRANE_H
#define SLUICE_CLI_IMPORT_CRANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "overcommit/facts.h"

#define CRANE_DOMAIN "crane.io"
/* The ConfigMap with the spec by which Crane predicts each node. */
#define CRANE_TEMPLATE "noderesource-tsp-template"

struct import;
struct walk;

/* An AvoidanceAction. */
struct crane_action {
	size_t item; /* in the import */
	bool named;  /* by a rule */
	char *name;
	cJSON *spec;
};

/* A NodeQOS. */
struct crane_policy {
	size_t item; /* in the import */
	cJSON *made; /* a NodeOvercommit with metadata and nodeSelector */
	cJSON *rules;
	char **where; /* of each rule */
	size_t nrules;
};

/* All that came so far. All zero is nothing. */
struct crane {
	struct crane_action *action;
	size_t nactions;
	struct crane_policy *policy;
	size_t npolicies;
	struct node_facts **node;
	size_t nnodes;
	bool predicts;		/* some object predicts what nodes use */
	size_t prediction;	/* the item of the first one */
	int64_t margin_percent; /* the largest; -1: none is said */
};

void crane_done(struct crane *c);

/* Takes an object. Its item is the newest of the import. False: it is neither Crane's nor what
 * Crane goes by. */
bool crane_take(
	struct import *i, struct walk *w, const char *api, const char *kind, const cJSON *o);
/* Takes any other object: names of resources become Sluice's. live: it is on a cluster. */
void crane_take_other(struct walk *w, const cJSON *o, bool live);

/* Makes the NodeOvercommits; once, when all objects are there. */
void crane_settle(struct import *i);

#endif
