/*
 * What admins describe: the specs of ClusterQueue, LocalQueue, ResourceFlavor and the priority
 * classes, decoded. Field names and meaning are Kueue v1beta2's, so that YAML moves by changing
 * apiVersion (reference/kueue-semantics.md 1, 2, 4, 11).
 *
 * Records of one moment, like struct job: borrowed by the call they are passed to.
 */
#ifndef SLUICE_SPEC_H
#define SLUICE_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/placement.h"

#define QUOTA_UNLIMITED INT64_MAX

struct flavor_spec {
	const char *name;
	struct node_group nodes;
};

struct quota_spec { /* one resource of one flavor */
	const char *resource;
	int64_t nominal;
	int64_t borrowing_limit; /* QUOTA_UNLIMITED when absent */
	int64_t lending_limit;	 /* QUOTA_UNLIMITED when absent */
};

struct flavor_quota_spec {
	const char *flavor;
	const struct quota_spec *quotas; /* in the order of the group's coveredResources */
	size_t nquotas;
};

struct resource_group_spec {
	const char *const *resources; /* coveredResources */
	size_t nresources;
	const struct flavor_quota_spec *flavors; /* tried in this order */
	size_t nflavors;
};

enum queueing_strategy {
	BEST_EFFORT_FIFO, /* who does not fit lets the others pass */
	STRICT_FIFO,	  /* who does not fit blocks those behind */
};

enum stop_policy {
	STOP_NONE,
	STOP_HOLD,	     /* nothing starts; what runs goes on */
	STOP_HOLD_AND_DRAIN, /* nothing starts; what runs is stopped */
};

struct clusterqueue_spec {
	const char *name;
	int64_t generation; /* what status.observedGeneration will say */
	bool deleting;
	const char *cohort; /* spec.cohortName, "" when absent; no effect yet */
	const struct resource_group_spec *groups;
	size_t ngroups;
	enum queueing_strategy strategy;
	enum stop_policy stop_policy;
	bool has_namespace_selector; /* absent selects nothing, empty selects everything */
	struct selector_term namespace_selector;
};

struct localqueue_spec {
	const char *ns, *name;
	int64_t generation;
	bool deleting;
	const char *clusterqueue;
	enum stop_policy stop_policy;
};

enum priority_kind {
	PRIORITY_WORKLOAD, /* sluice.dev WorkloadPriorityClass, named by the Job's label */
	PRIORITY_POD,	   /* scheduling.k8s.io PriorityClass, named by the pod template */
};

struct priority_spec {
	enum priority_kind kind;
	const char *name;
	int32_t value;
	bool global_default; /* PRIORITY_POD only */
};

struct namespace_spec {
	const char *name;
	const struct label *labels;
	size_t nlabels;
};

#endif
