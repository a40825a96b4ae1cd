/*
 * Company: what a pod wants of other pods: required affinity and anti-affinity, and spreading.
 *
 * Each of these is a bond: pods that it counts, by domain of its topology key (kube-scheduler
 * v1.36, interpodaffinity and podtopologyspread). What each node brings to its domain is kept, so
 * that a node that changed is counted again and no other.
 */
#ifndef SLUICE_QUEUE_CLUSTER_POD_AFFINITY_H
#define SLUICE_QUEUE_CLUSTER_POD_AFFINITY_H

#include "queue/cluster/nodes_priv.h"

enum bond_kind { BOND_AFFINITY, BOND_ANTI_AFFINITY, BOND_SPREAD };

struct domain {
	char *value;
	size_t place;	/* in bond.domain */
	size_t nodes;	/* that are of it */
	size_t members; /* of those, nodes that spreading counts: without one there is no domain */
	int64_t pods;
};

struct stay {		       /* what one node brings */
	struct domain *domain; /* NULL: it has no such label */
	bool member;
	int32_t pods;
};

struct bond {
	enum bond_kind kind;
	const char *topology_key;
	const struct affinity_term *term;	/* of affinity and anti-affinity */
	const struct spread_constraint *spread; /* else */
	bool counts_itself;			/* a pod like it adds one */
	bool meant;				/* spreading: it is one of those it means */
	bool nobody;				/* no pod that is there can count */
	struct map by_value;
	struct domain **domain;
	size_t ndomains;
	struct stay *stay; /* by slot of the node */
	int64_t least;	   /* pods in the least crowded domain; -1: to be found again */
	size_t at_least;   /* domains that have so few; 0: it is 0, whatever they have */
};

struct pod_affinity {
	const struct pod *pod; /* whose company it is; lives longer */
	struct bond *bond;     /* affinity, anti-affinity, spread, each in the order of the pod */
	size_t nbonds;
	size_t nslots;
	bool fits_itself; /* all of its affinity is true of a pod like it */
	int64_t met; /* pods that all of its affinity is true of, by domains: 0, nobody is there */
};

struct pod_affinity *pod_affinity_new(const struct nodes *n, const struct pod *p);
void pod_affinity_free(struct pod_affinity *c);

/* To be called before nodes are counted, when the world has changed. */
void pod_affinity_prepare(struct pod_affinity *c, const struct nodes *n);
/* node brings what it brings now. A node that is gone or not known brings nothing. */
void pod_affinity_count(struct pod_affinity *c, const struct nodes *n, const struct node *node);
void pod_affinity_forget(struct pod_affinity *c, uint32_t slot);

/* The first that keeps the pod off a node which is counted; OBSTACLES: nothing does. */
enum obstacle pod_affinity_obstacle(struct pod_affinity *c, uint32_t slot);

/* As if one such pod more, or less, were on the node. */
void pod_affinity_place(struct pod_affinity *c, uint32_t slot, int pods);
/* How many pods its spreading counts where the node is: fewer is better. */
int64_t pod_affinity_crowd(const struct pod_affinity *c, uint32_t slot);

#endif
