/*
 * A node's state: what is known of one node's lending, from its configuration to what it publishes.
 *
 * It is made anew when something happened to the node, when it has a new sample, and when time
 * alone changes it. The pure library (overcommit/) is asked here, in this order:
 *
 *     estimate -> window -> publication
 *
 * A figure that would fall below what is bound waits until the kubelet has looked at each pod (in
 * flight: publication.h), 10 s at most: a kubelet that takes longer is slow, or its node is dead.
 *
 * Nothing is published of a node until there are two samples of it; what was published before a
 * restart may stay or fall until then. Its annotation says how old that is. But a figure that never
 * changes is never written again. So a new leader has two minutes (or half of degradeTimeMinutes)
 * to get a sample of its own before what looks old is called degraded.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_NODE_STATE_H
#define SLUICE_CONTROLLER_OVERCOMMIT_NODE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "overcommit/estimate.h"
#include "overcommit/forecast.h"
#include "overcommit/mean.h"
#include "overcommit/publication.h"
#include "overcommit/reclaim.h"
#include "overcommit/window.h"

struct inventory_lent;
struct inventory_node;
struct inventory_pod;

/* Why nothing may be lent on a node that is configured to lend. */
enum degrade {
	DEGRADE_NOT,
	DEGRADE_NOT_READY, /* the node is not Ready */
	DEGRADE_NO_SAMPLE, /* there never was one */
	DEGRADE_STALE,	   /* the newest is older than degradeTimeMinutes */
};

const char *degrade_name(enum degrade d); /* for metrics: "NotReady" ...; "" for DEGRADE_NOT */

struct node_state {
	/* The configuration. */
	uint64_t version;  /* of the configs that the strategy is from; 0: none yet */
	bool ruled;	   /* the strategy was looked up once */
	bool governed;	   /* a configuration holds for this node */
	const char *whose; /* the NodeOvercommit that holds, or "" for the ConfigMap; NULL */
	const char *entry; /* an entry of nodeConfigs, or NULL */
	struct strategy strategy;

	/* What was measured. */
	bool begun; /* the window knows what is published */
	bool news;  /* a new sample that reclaim has not looked at */
	bool fed;   /* the window got a sample when the state was last made */
	struct window window;
	struct mean taken_mean, busy_mean; /* of an agent's samples since the last in the window */
	struct load busy;	   /* use in the newest sample: what a forecast is made of */
	struct forecast *forecast; /* NULL: not asked for */
	struct estimate estimate;
	bool has_estimate;
	enum freshness freshness;
	enum degrade degrade;
	int64_t look_ms; /* when the state is to be made anew, whatever happens */

	/* What may be lent, and what is asked for of it. */
	struct load batch, gocran; /* may be lent under each name */
	struct load lent;	   /* under either name: the less of those that are on */
	struct load batch_asked, gocran_asked;	 /* by all pods */
	struct load batch_others, gocran_others; /* by pods that are not of queued Jobs */

	/* What is published. */
	struct figures there, want, sending;
	enum publication_why why; /* PUBLISH_NOT: nothing is due */
	int64_t flight_ms;	/* since when a figure is kept up for a pod in flight; 0: none is */
	struct figures written; /* by us; -1: nothing yet */
	int64_t written_ms;
	bool under_way;
	unsigned failures;
	int64_t retry_ms; /* no write before; 0: at once */

	struct reclaim_memory reclaim, reclaim_before; /* reclaim_before: before the last round */
	size_t look; /* the number of its look during a round of reclaimer.c, from 1 on */
};

void node_state_init(struct node_state *a);
void node_state_done(struct node_state *a);

/* Makes the state anew, with the strategy that was put into it. */
void node_state_make(struct inventory_node *n, int64_t now_ms);

/* Note that a PATCH with its figures goes out, and what became of it. */
void node_state_send(struct node_state *a);
void node_state_sent(struct inventory_node *n, bool done, int64_t now_ms);

/* Whether a pod's sample counts: it is of about the same time as the node's. Else the node's use
 * has long changed. */
bool node_state_counts_sample(const struct inventory_node *n, const struct inventory_pod *p);

/* Gives what a lent pod asks for as far as its kubelet made sure that there is room: once it has
 * taken the pod, and under names that the node publishes. A pod may ask for any amount else: its
 * kubelet ignores a name that its node does not publish. */
struct load node_state_granted(const struct node_state *a, const struct inventory_lent *l);

/* Whether less of anything is wanted than what is there: that is written first. */
bool node_state_falls(const struct node_state *a);

#endif
