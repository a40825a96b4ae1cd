/*
 * The world of nodes.h, as its parts share it: nodes, who lives on them, what repels whom, and a
 * log of which node changed when.
 *
 * Always true: a node that is not known (nobody told us its spec, only that pods are bound to it)
 * has tenants, and counts for nothing; used is the sum of the tenants' requests, for every node; a
 * repellent's homes are the domains of the known nodes that its owners live on. Pods that are
 * expected are tenants like those that are bound, on known nodes only.
 */
#ifndef SLUICE_QUEUE_CLUSTER_NODES_PRIV_H
#define SLUICE_QUEUE_CLUSTER_NODES_PRIV_H

#include "base/map.h"
#include "queue/cluster/node_classes.h"

struct node {
	char *name;
	uint32_t slot; /* in nodes.slot; used again when it is gone */
	bool known;
	struct node_shape *shape; /* NULL unless known */
	struct arena own;	  /* of its own labels */
	struct label *labels;	  /* the shape's, then its own */
	size_t nlabels, nown;
	int64_t *used; /* by number of the resource */
	struct node_pod *node_pods;
	int32_t nnode_pods; /* pods of theirs */
	int32_t nexpected;  /* tenants that are expected */
	size_t nports;	    /* host ports that they have */
	uint64_t changed;   /* the place in the log of its last change */
};

struct node_pod {	/* a pod that is bound, or pods of a run that are expected on this node */
	struct uid uid; /* zero: expected */
	int32_t pods;	/* bound: 1 */
	bool expected;	/* then what it points to is its owner's */
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

/* A Job that has pods here, or is to have some. */
struct owner {
	struct uid uid;
	struct node_pod *bound, *put; /* its pods that are there; that are expected, by node */
	int32_t nbound, nput;	      /* pods; nput is never more than wanted less nbound */
	int32_t wanted;		      /* to be there at one time; 0: nothing is expected */
	uint64_t turn;		      /* who was let in first is put first */
	struct arena arena;	      /* of what is expected: */
	const struct pod *pod;
	uint64_t fingerprint;
	const struct resource_list *requests; /* of one pod; NULL until one was put */
	bool restless;			      /* some of what is expected is not put anywhere */
	struct owner *next, *previous;	      /* of the restless, by turn */
};

/* One term of anti-affinity of pods that are there; terms that say the same are one. */
struct anti_affinity {
	struct arena arena;
	const char *ns; /* of its owners, where the term names no others */
	struct affinity_term term;
	size_t owners;
	struct map homes; /* values of the topology key where some owner lives: struct home */
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
	struct map node_pods, namespaces, runtimes;
	struct map label_counts;    /* how many tenants have a label: struct label_counts_line */
	struct map anti_affinities; /* by their print */
	struct anti_affinity *first_anti_affinity;
	struct {
		uint32_t *slot; /* which node changed, oldest first */
		size_t n, cap;
		uint64_t base; /* how many have been forgotten before the first */
	} log;
	uint64_t version;	 /* of what is kept: moves also with what is put for a question */
	uint64_t facts;		 /* what nodes_version() says: moves with what we are told */
	uint64_t vacated;	 /* moves with facts that may make room */
	bool wants_pod_affinity; /* somebody asked for a pod that wants others near, or spread */
	bool quiet;		 /* what changes now is no fact */
	uint64_t moves;		 /* of the ground, beside those of shapes */
	bool names_nodes;	 /* some pod that was asked about means single nodes */
	struct map owners;
	uint64_t turns;
	struct owner *first_restless, *last_restless;
	uint64_t settled; /* the facts at which those were last tried */
	uint64_t namespace_moves;
	struct map fit_caches; /* by the print of what is asked for */
	size_t nfit_caches;
	struct fit_cache *first_fit_cache;
	uint64_t asked; /* questions so far: which survey was asked least lately */
};

/* ---- nodes */
struct node *nodes_node(struct nodes *n, const char *name); /* there from now on */
void nodes_bury(struct nodes *n, struct node *node);	    /* unless known, or lived on */
void nodes_changed(struct nodes *n, struct node *node);
void nodes_told(struct nodes *n); /* of something else than a node */
/* A scheduler that we know, or none, decides where it goes. */
bool nodes_knows_scheduler(const struct pod *p);
struct site node_site(const struct node *node);
static inline const char *node_label(const struct node *node, const char *key)
{
	return label_value(node->labels, node->nlabels, key);
}

/* ---- node_pods.c */
void node_pod_free(struct nodes *n, struct node_pod *t);
/* So many pods of what o expects, on a node that is known. */
void node_pod_expect(struct nodes *n, struct owner *o, struct node *node, int32_t pods);
/* One less of them; gone with the last. */
void node_pod_take_off(struct nodes *n, struct node_pod *t);
/* As if it were not there, and there again, for one question: nothing is told to anybody. */
void node_pod_lift(struct nodes *n, struct node_pod *t);
void node_pod_land(struct nodes *n, struct node_pod *t);
/* used of a node, anew: numbers of resources have changed. */
void node_pods_recount(struct nodes *n, struct node *node);

/* ---- expected_pods.c: whose pods are there, and which are to come */
void owners_init(struct nodes *n);
void owners_done(struct nodes *n); /* before the tenants go, owners_free() after them */
void owners_free(struct nodes *n);
/* A tenant that is bound came to its node, of the Job with that uid; is about to leave. */
void owner_has(struct nodes *n, struct node_pod *t, const struct uid *uid);
void owner_loses(struct nodes *n, struct node_pod *t);
/* What is expected on the node goes elsewhere: at the next question it is put anew. */
void owners_move_off(struct nodes *n, struct node *node);
/* Of RuntimeClasses with that name another thing is true now. */
void owners_dress_anew(struct nodes *n, const char *runtime_class);
/* Before a question: what is not put anywhere is put, where there is room. */
void owners_settle(struct nodes *n);
/* For a question: as if so many such pods were there as well. */
void owners_pretend(struct nodes *n, const struct pod *p, int32_t pods);
void owners_pretend_no_more(struct nodes *n);
void owner_each_node_pod(struct nodes *n, const struct owner *o,
	void (*act)(struct nodes *n, struct node_pod *t, void *ctx), void *ctx);
struct owner *owner_find(const struct nodes *n, const struct uid *uid);

/* ---- label_counts.c: which labels there are among tenants, so that a selector which nobody can meet
 * is not asked about each of them: that of a Job whose pods have not been made */
void label_counts_init(struct nodes *n);
void label_counts_done(struct nodes *n);
void label_counts_count(struct nodes *n, const struct label *labels, size_t nlabels);
void label_counts_uncount(struct nodes *n, const struct label *labels, size_t nlabels);
/* False: no tenant meets it, for sure. */
bool label_counts_may_meet(const struct nodes *n, const struct selector_term *t);

/* ---- anti_affinity.c */
void anti_affinities_of(struct nodes *n, struct node_pod *t, const struct pod *p);
void anti_affinities_leave(struct nodes *n, struct node_pod *t);
/* Its node is known now, or is about to be no more: the homes of what its tenants carry. */
void anti_affinities_settle(struct node *node);
void anti_affinities_unsettle(struct node *node);
/* The same for one tenant. */
void anti_affinities_lift(struct node_pod *t);
void anti_affinities_land(struct node_pod *t);
/* Those that p may not be near, at most as many as there are; the caller frees. */
struct anti_affinity **anti_affinities_against(
	const struct nodes *n, const struct pod *p, size_t *ret_n);
bool anti_affinity_keeps_off(const struct anti_affinity *r, const struct node *node);

/* ---- namespaces */
/* Does the term of a pod in ns speak of pods in other? */
bool nodes_term_covers(
	const struct nodes *n, const struct affinity_term *t, const char *ns, const char *other);

/* ---- runtimes.c */
void runtimes_init(struct nodes *n);
void runtimes_done(struct nodes *n);
/* The pod as its RuntimeClass makes it: p itself where it has none, else ret, which lives as a
 * does.
 */
const struct pod *runtimes_dress(
	const struct nodes *n, const struct pod *p, struct arena *a, struct pod *ret);

#endif
