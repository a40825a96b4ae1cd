/*
 * The world of nodes.h, as its parts share it: nodes, who lives on them, what repels whom, and a
 * log of which node changed when.
 *
 * Always true: a node that is not known (nobody told us its spec, only that pods are bound to it)
 * has tenants, and counts for nothing; used is the sum of the tenants' requests, for every node; a
 * repellent's homes are the domains of the known nodes that its owners live on.
 */
#ifndef SLUICE_CLUSTER_WORLD_H
#define SLUICE_CLUSTER_WORLD_H

#include "base/map.h"
#include "cluster/shapes.h"

struct node {
	char *name;
	uint32_t slot; /* in nodes.slot; used again when it is gone */
	bool known;
	struct node_shape *shape; /* NULL unless known */
	struct arena own;	  /* of its own labels */
	struct label *labels;	  /* the shape's, then its own */
	size_t nlabels, nown;
	int64_t *used; /* by number of the resource */
	struct tenant *tenants;
	int32_t ntenants;
	size_t nports;	  /* host ports that they have */
	uint64_t changed; /* the place in the log of its last change */
};

struct tenant { /* a pod that is bound */
	struct uid uid;
	struct node *node;
	struct tenant *next, *previous; /* on that node */
	struct arena arena;
	uint64_t print;
	const char *ns;
	const struct label *labels;
	size_t nlabels;
	bool deleting;
	struct resource_list requests;
	const struct host_port *ports;
	size_t nports;
	struct repellent **repels; /* its required anti-affinity */
	size_t nrepels;
};

/* One term of anti-affinity of pods that are there; terms that say the same are one. */
struct repellent {
	struct arena arena;
	const char *ns; /* of its owners, where the term names no others */
	struct affinity_term term;
	size_t owners;
	struct map homes; /* values of the topology key where some owner lives: struct home */
	uint64_t hash;
	void *print;
	size_t print_size;
	struct repellent *next, *previous;
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

struct survey;

struct nodes {
	struct node_shapes shapes;
	struct map by_name;
	struct node **slot; /* NULL: free */
	size_t nslots, nknown;
	struct map tenants, namespaces, runtimes;
	struct map census;     /* how many tenants have a label: struct census_line */
	struct map repellents; /* by their print */
	struct repellent *first_repellent;
	struct {
		uint32_t *slot; /* which node changed, oldest first */
		size_t n, cap;
		uint64_t base; /* how many have been forgotten before the first */
	} log;
	uint64_t version;
	uint64_t namespace_moves;
	struct map surveys; /* by the print of what is asked for */
	size_t nsurveys;
	struct survey *first_survey;
	uint64_t asked; /* questions so far: which survey was asked least lately */
};

/* ---- nodes */
struct node *world_node(struct nodes *n, const char *name); /* there from now on */
void world_bury(struct nodes *n, struct node *node);	    /* unless known, or lived on */
void world_changed(struct nodes *n, struct node *node);
struct site node_site(const struct node *node);
static inline const char *node_label(const struct node *node, const char *key)
{
	return label_value(node->labels, node->nlabels, key);
}

/* ---- tenants.c */
void tenant_free(struct nodes *n, struct tenant *t);
/* used of a node, anew: numbers of resources have changed. */
void tenants_recount(struct nodes *n, struct node *node);

/* ---- census.c: which labels there are among tenants, so that a selector which nobody can meet
 * is not asked about each of them: that of a Job whose pods have not been made */
void census_init(struct nodes *n);
void census_done(struct nodes *n);
void census_count(struct nodes *n, const struct label *labels, size_t nlabels);
void census_uncount(struct nodes *n, const struct label *labels, size_t nlabels);
/* False: no tenant meets it, for sure. */
bool census_may_meet(const struct nodes *n, const struct selector_term *t);

/* ---- repellents.c */
void repellents_of(struct nodes *n, struct tenant *t, const struct pod *p);
void repellents_leave(struct nodes *n, struct tenant *t);
/* Its node is known now, or is about to be no more: the homes of what its tenants carry. */
void repellents_settle(struct node *node);
void repellents_unsettle(struct node *node);
/* Those that p may not be near, at most as many as there are; the caller frees. */
struct repellent **repellents_against(const struct nodes *n, const struct pod *p, size_t *ret_n);
bool repellent_keeps_off(const struct repellent *r, const struct node *node);

/* ---- namespaces */
/* Does the term of a pod in ns speak of pods in other? */
bool world_term_covers(
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
