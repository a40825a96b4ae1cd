/*
 * What a pod requires of other pods: required affinity and anti-affinity, and spread constraints.
 *
 * Each of these is a bond. It counts pods by domain of its topology key (kube-scheduler v1.37,
 * interpodaffinity and podtopologyspread). Each node's contribution to its domain is kept, so that
 * only changed nodes are counted again.
 */
#ifndef SLUICE_QUEUE_CLUSTER_POD_AFFINITY_H
#define SLUICE_QUEUE_CLUSTER_POD_AFFINITY_H

#include "queue/cluster/nodes_priv.h"

enum bond_kind { BOND_AFFINITY, BOND_ANTI_AFFINITY, BOND_SPREAD };

struct domain {
	char *value;
	size_t place;	/* in bond.domain */
	size_t nodes;	/* that are in it */
	size_t members; /* of these, nodes that spreading counts; with none it is no domain */
	int64_t pods;
};

struct stay {		       /* what one node contributes */
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
	bool meant;				/* spreading: its selector means the pod itself */
	bool nobody;				/* no present pod can count */
	struct map by_value;
	struct domain **domain;
	size_t ndomains;
	struct stay *stay; /* by slot of the node */
	int64_t least;	   /* pods in the least crowded domain; -1: to be found again */
	size_t at_least;   /* domains that have so few; 0: `least` is 0 anyway */
};

struct pod_affinity {
	const struct pod *pod; /* borrowed; lives longer */
	struct bond *bond;     /* affinity, anti-affinity, spread, each in the order of the pod */
	size_t nbonds;
	size_t nslots;
	bool fits_itself; /* a pod like it matches all of its affinity */
	int64_t met;	  /* sum over domains of pods that match all of its affinity; 0: none */
};

struct pod_affinity *pod_affinity_new(const struct nodes *n, const struct pod *p);
void pod_affinity_free(struct pod_affinity *c);

/* Call it before counting nodes, when anything has changed. */
void pod_affinity_prepare(struct pod_affinity *c, const struct nodes *n);
/* Counts the node's present contribution. A node that is gone or unknown contributes nothing. */
void pod_affinity_count(struct pod_affinity *c, const struct nodes *n, const struct node *node);
void pod_affinity_forget(struct pod_affinity *c, uint32_t slot);

/* The first obstacle on a counted node; OBSTACLES: none. */
enum obstacle pod_affinity_obstacle(struct pod_affinity *c, uint32_t slot);

/* Adds so many such pods to the node (below 0: removes them), for a question. */
void pod_affinity_place(struct pod_affinity *c, uint32_t slot, int pods);
/* How many pods its spread constraints count in the node's domains: fewer is better. */
int64_t pod_affinity_crowd(const struct pod_affinity *c, uint32_t slot);

#endif
