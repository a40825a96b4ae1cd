/*
 * The inventory: the Nodes of the cluster, the Pods on them, and the newest sample of each. A pod
 * takes about 150 bytes and its name, for there may be 150,000 of them.
 *
 * Two watches (node_watch.h, only while lending is on) and the usage poller fill it. A changed node
 * is dirty; the overcommit controller takes the dirty ones. Pods without a node, and pods that have
 * ended, are not in it.
 *
 * A pod that had use and is gone is kept on its node as dangling until a round of samples does not
 * mention it: the node's own sample still has its use in it.
 *
 * Samples come in rounds, those of pods before those of nodes (usage_poller.h).
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_INVENTORY_H
#define SLUICE_CONTROLLER_OVERCOMMIT_INVENTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "controller/overcommit/node_state.h"
#include "node/sample.h"
#include "overcommit/facts.h"
#include "sluice/spec.h"

struct inventory;

/* What is kept of a pod that asks for lent resources, and therefore may have to go. */
struct inventory_lent {
	struct uid owner_job;
	struct load batch, gocran; /* asked for under each; cpu in thousandths */
	int64_t started_ms;
	int64_t told_ms;   /* when its Job was told to stop, or the pod to go; 0: neither */
	int64_t spared_ms; /* when its eviction was refused */
	int64_t ended_ms;  /* when an agent told that it ended the pod; 0: never */
	/* What an agent said of it last, and when; 0: never. */
	int64_t agent_ms;
	int64_t quota_milli; /* cpu that it may have now; -1: no bound */
	bool over;	     /* it uses more memory than it asks for */
	int32_t eviction_priority;
	bool looked_at; /* its kubelet has taken the pod: it is not rejected any more */
	bool queued;	/* its Job holds quota: pools do not lend twice what it asks for */
	bool has_owner_job;
	struct lent_container *containers; /* NULL: it has one, or none has started */
	size_t ncontainers;
};

/* What the agent of a node reported last. */
struct inventory_agent {
	int64_t at_ms, before_ms; /* when its last two samples came; 0: none */
	struct load pods_used;	  /* by all pods of the node; -1 each: not known */
	char boot[UID_TEXT_SIZE]; /* the run of it whose deeds were taken up to `deed` */
	int64_t deed;
};

struct inventory_pod {
	struct inventory_pod *next; /* on its node, or among its dangling ones */
	struct inventory_node *node;
	struct inventory_lent *lent; /* NULL: the pod asks for nothing lent */
	struct uid uid;
	struct load request, used;
	int64_t used_ms; /* 0: no sample */
	int32_t priority;
	uint32_t seen;	  /* the last list with the pod in it */
	uint32_t sampled; /* the last round of samples with the pod in it */
	uint8_t tier[2];  /* enum tier, by enum profile */
	bool deleting, dangling;
	char name[]; /* "namespace/name" */
};

struct inventory_node {
	struct node_facts *facts; /* NULL: so far only pods name the node */
	struct inventory_pod *pods, *dangling;
	size_t npods;
	struct load used;
	int64_t used_ms;	       /* time of its newest sample; 0: none */
	struct inventory_agent *agent; /* NULL: none has reported */
	uint32_t seen;
	bool by_agent; /* the newest sample is the agent's */
	bool dirty;
	bool sampled; /* a sample came since the node state was made */
	struct node_state node_state;
	char name[];
};

struct inventory *inventory_new(void);
void inventory_free(struct inventory *v);
/* Forgets everything: the watches were closed. */
void inventory_clear(struct inventory *v);

/* Has drop called before a node is freed: do not keep the node. May be NULL. */
void inventory_on_drop(
	struct inventory *v, void (*drop)(struct inventory_node *n, void *ctx), void *ctx);

/* Has fn called when the lent pods of a node are others, or ask for something else: after the
 * change, in the call that made it. May be NULL. */
void inventory_on_lent(
	struct inventory *v, void (*fn)(struct inventory_node *n, void *ctx), void *ctx);

/* Enclose complete lists, as in seen_set.h: what was not seen is gone. */
void inventory_begin_nodes(struct inventory *v);
void inventory_end_nodes(struct inventory *v);
void inventory_begin_pods(struct inventory *v);
void inventory_end_pods(struct inventory *v);

void inventory_see_node(struct inventory *v, struct node_facts *f); /* takes f */
void inventory_drop_node(struct inventory *v, const char *name);
void inventory_see_pod(struct inventory *v, const struct pod_facts *f);
void inventory_drop_pod(struct inventory *v, const char *ns, const char *name);

/* Take a sample; one of an unknown node or pod is dropped. False: not newer than the last. */
bool inventory_sample_node(struct inventory *v, const struct usage_facts *u);
bool inventory_sample_pod(struct inventory *v, const struct usage_facts *u);
/* Takes a sample of a node's agent, as of at_ms. It names lent pods that use something else than
 * before, and all of them each minute. counts: what it says of use is a sample as any other's. */
void inventory_take_agent(struct inventory *v, struct inventory_node *n, const struct sample *s,
	int64_t at_ms, bool counts);
/* Gives what is kept of a node's agent, from now on. */
struct inventory_agent *inventory_want_agent(struct inventory *v, struct inventory_node *n);
/* Whether the agent still reports: its next sample is no more than 5 s late. */
bool inventory_has_agent(const struct inventory_node *n, int64_t now_ms);
/* Ends a complete round of samples: dangling pods that it did not mention are over. */
void inventory_end_round(struct inventory *v);

/* Count and give the nodes, in the order in which they were first heard of, also those without
 * facts. */
size_t inventory_nodes(const struct inventory *v);
struct inventory_node *inventory_node_at(const struct inventory *v, size_t index);
struct inventory_node *inventory_find(const struct inventory *v, const char *name);
struct inventory_pod *inventory_find_pod(
	const struct inventory *v, const char *key); /* "namespace/name" */

size_t inventory_pods(const struct inventory *v);
size_t inventory_bytes(const struct inventory *v);

#endif
