/*
 * The body of struct nodes, as its parts share it: nodes, their pods, anti-affinities, and a log of
 * changed nodes.
 *
 * Always true:
 *
 *   - an unknown node (no spec was told, but pods are bound to it) has pods and counts for nothing;
 *   - `used` of every node is the sum of its pods' requests;
 *   - the homes of an anti-affinity are the domains of the known nodes with its owners' pods;
 *   - expected pods count like bound ones, on known nodes only.
 */
#ifndef SLUICE_QUEUE_CLUSTER_NODES_PRIV_H
#define SLUICE_QUEUE_CLUSTER_NODES_PRIV_H

#include "base/map.h"
#include "queue/cluster/device_classes.h"
#include "queue/cluster/node_classes.h"
#include "queue/job/placement.h"

struct node {
	char *name;
	uint32_t slot; /* in nodes.slot; reused after it is gone */
	bool known;
	struct node_shape *shape; /* NULL unless known */
	struct arena own;	  /* of its own labels */
	struct label *labels;	  /* the shape's, then its own */
	size_t nlabels, nown;
	int64_t *used; /* by number of the resource */
	struct node_pod *node_pods;
	int32_t nnode_pods; /* how many pods these are */
	int32_t nexpected;  /* node_pods that are expected */
	size_t nports;	    /* host ports of its pods */
	uint64_t changed;   /* where the log has its last change */
};

struct node_pod {	     /* a bound pod, or all pods of a run that are expected on this node */
	struct uid uid;	     /* zero: expected */
	int32_t pods;	     /* bound: 1 */
	bool expected;	     /* if so, its owner owns what it points to */
	struct owner *owner; /* NULL: none */
	struct node_pod *next_owned, *previous_owned;
	struct node *node;
	struct node_pod *next, *previous; /* on that node */
	struct arena arena;
	uint64_t fingerprint;
	const char *ns;
	const struct label *labels;
	size_t nlabels;
	bool deleting;
	struct resource_list requests;
	const struct host_port *ports;
	size_t nports;
	struct anti_affinity **repels; /* its required anti-affinity */
	size_t nrepels;
};

/* A Job with bound or expected pods. */
struct owner {
	struct uid uid;
	struct node_pod *bound, *put; /* bound pods; expected pods that were put, by node */
	int32_t nbound, nput;	      /* pods; nput is at most wanted less nbound */
	int32_t wanted;		      /* pods at one time; 0: nothing is expected */
	uint64_t turn;		      /* expected pods are put in this order of admission */
	struct arena arena;	      /* of the expected pod: */
	const struct pod *pod;
	uint64_t fingerprint;
	const struct resource_list *requests; /* of one pod; NULL until one was put */
	bool restless;			      /* some expected pods are not put anywhere */
	struct owner *next, *previous;	      /* of the restless owners, by turn */
};

/* A term of required anti-affinity of present pods. Equal terms share one. */
struct anti_affinity {
	struct arena arena;
	const char *ns; /* of its owners, where the term names no namespaces */
	struct affinity_term term;
	size_t owners;
	struct map homes; /* values of the topology key with owners: struct home */
	uint64_t hash;
	void *fingerprint;
	size_t fingerprint_size;
	struct anti_affinity *next, *previous;
};

struct home {
	size_t owners;
	char value[];
};

struct namespace
{
	struct arena arena;
	const char *name;
	const struct label *labels;
	size_t nlabels;
};

struct runtime {
	struct arena arena;
	struct runtime_class_spec spec;
};

struct fit_cache;

struct nodes {
	struct node_classes node_classes;
	struct map by_name;
	struct node **slot; /* NULL: free */
	size_t nslots, nknown;
	struct node_traffic traffic;
	struct map node_pods, namespaces, runtimes;
	struct device_classes device_classes;
	uint64_t have_moves;	    /* of node_classes, as node_moved() saw it last */
	struct map label_counts;    /* how many node_pods have a label: struct label_counts_line */
	struct map anti_affinities; /* by their fingerprint */
	struct anti_affinity *first_anti_affinity;
	struct {
		uint32_t *slot; /* nodes that changed, oldest first */
		size_t n, cap;
		uint64_t base; /* how many were dropped before the first */
	} log;
	uint64_t version;	 /* of all below: changes also when pods are put for a question */
	uint64_t facts;		 /* nodes_version(): changes only with what we are told */
	uint64_t vacated;	 /* nodes_vacated() */
	bool wants_pod_affinity; /* a pod with pod affinity or spread was asked about */
	bool quiet;		 /* changes now are for a question, and no facts */
	uint64_t moves;		 /* of nodes_ground(), beside those of shapes */
	bool names_nodes;	 /* a pod that means single nodes was asked about */
	struct map owners;
	uint64_t turns;
	struct owner *first_restless, *last_restless;
	uint64_t settled; /* the facts at which restless owners were last tried */
	uint64_t namespace_moves;
	struct map fit_caches; /* by fingerprint_wanted() */
	size_t nfit_caches;
	struct fit_cache *first_fit_cache;
	struct map sums;    /* node_sums.c */
	uint64_t sum_walks; /* over all nodes, for these */
	uint64_t asked;	    /* questions so far: tells which cache was used least lately */
};

/* ---- nodes */
struct node *nodes_node(struct nodes *n, const char *name); /* made when there is none */
void nodes_bury(struct nodes *n, struct node *node);	    /* unless known, or with pods */
void nodes_changed(struct nodes *n, struct node *node);
void nodes_told(struct nodes *n); /* of something else than a node */
struct site node_site(const struct node *node);
static inline const char *node_label(const struct node *node, const char *key)
{
	return label_value(node->labels, node->nlabels, key);
}

/* ---- node_sums.c */
void node_sums_init(struct nodes *n);
/* A node came, went or changed. */
void node_sums_forget(struct nodes *n);

/* ---- answers.c */
/* Returns whether the pod is placed by the default scheduler, or by none (it names its node). */
bool nodes_knows_scheduler(const struct pod *p);

/* ---- node_pods.c */
void node_pod_free(struct nodes *n, struct node_pod *t);
/* Puts so many expected pods of o on a known node. */
void node_pod_expect(struct nodes *n, struct owner *o, struct node *node, int32_t pods);
/* One less of them; freed with the last. */
void node_pod_take_off(struct nodes *n, struct node_pod *t);
/* Removes the node_pod / puts it back for one question, which is no fact. */
void node_pod_lift(struct nodes *n, struct node_pod *t);
void node_pod_land(struct nodes *n, struct node_pod *t);
/* Sums `used` of a node anew: numbers of resources have changed. */
void node_pods_recount(struct nodes *n, struct node *node);

/* The labels of all node_pods are counted, so that a selector that none of them can match is not
 * asked about each: mostly that of a Job without pods yet. */
void label_counts_init(struct nodes *n);
void label_counts_done(struct nodes *n);
/* False: surely none matches it. */
bool label_counts_may_meet(const struct nodes *n, const struct selector_term *t);

/* ---- expected_pods.c: owners of pods, and expected pods */
void owners_init(struct nodes *n);
void owners_done(struct nodes *n); /* before the node_pods are freed; owners_free() after them */
void owners_free(struct nodes *n);
/* A bound pod of the Job with that uid came to its node / is about to leave. */
void owner_has(struct nodes *n, struct node_pod *t, const struct uid *uid);
void owner_loses(struct nodes *n, struct node_pod *t);
/* Takes the expected pods off the node; they are put anew at the next question. */
void owners_move_off(struct nodes *n, struct node *node);
/* The RuntimeClass with that name has changed. */
void owners_dress_anew(struct nodes *n, const char *runtime_class);
/* Before a question: puts expected pods that are not put anywhere, where there is room. */
void owners_settle(struct nodes *n);
/* For a question: adds so many such pods / removes them. */
void owners_pretend(struct nodes *n, const struct pod *p, int32_t pods);
void owners_pretend_no_more(struct nodes *n);
void owner_each_node_pod(struct nodes *n, const struct owner *o,
	void (*act)(struct nodes *n, struct node_pod *t, void *ctx), void *ctx);
struct owner *owner_find(const struct nodes *n, const struct uid *uid);

/* ---- anti_affinity.c */
void anti_affinities_of(struct nodes *n, struct node_pod *t, const struct pod *p);
void anti_affinities_leave(struct nodes *n, struct node_pod *t);
/* The node is known now / is about to be unknown: adds / removes the homes of its pods' terms. */
void anti_affinities_settle(struct node *node);
void anti_affinities_unsettle(struct node *node);
/* Remove / add the homes of the terms of one node_pod. */
void anti_affinities_lift(struct node_pod *t);
void anti_affinities_land(struct node_pod *t);
/* The anti-affinities that mean p; the caller frees the array. */
struct anti_affinity **anti_affinities_against(
	const struct nodes *n, const struct pod *p, size_t *ret_n);
bool anti_affinity_keeps_off(const struct anti_affinity *r, const struct node *node);

/* ---- namespaces */
/* Does the term of a pod in ns mean pods in `other`? */
bool nodes_term_covers(
	const struct nodes *n, const struct affinity_term *t, const char *ns, const char *other);

/* ---- runtimes.c */
void runtimes_init(struct nodes *n);
void runtimes_done(struct nodes *n);
/* The pod as its RuntimeClass makes it: p itself if it has none; else ret, with memory of a. */
const struct pod *runtimes_dress(
	const struct nodes *n, const struct pod *p, struct arena *a, struct pod *ret);

#endif
