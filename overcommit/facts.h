/*
 * What the calculator and the overcommit controller know of the cluster: Nodes, Pods and their
 * metrics, decoded to what matters (controller/wire/decode_node.h), in one block of memory each.
 * Strings are never NULL unless the comment says so.
 */
#ifndef SLUICE_OVERCOMMIT_FACTS_H
#define SLUICE_OVERCOMMIT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uid.h"
#include "overcommit/load.h"
#include "overcommit/publication.h"
#include "overcommit/strategy.h"
#include "overcommit/tier.h"
#include "sluice/placement.h"

struct node_facts {
	struct uid uid;
	const char *name;
	bool deleting, ready; /* condition Ready is True */
	bool unschedulable;   /* cordoned: what the node lends is no room for a new pod */
	const struct label *labels;
	size_t nlabels;
	const struct taint *taints;
	size_t ntaints;
	struct load capacity, allocatable;
	struct figures capacity_lent, allocatable_lent; /* what is published, -1: no such key */
	struct load reservation;   /* node.koordinator.sh/reservation; reservedCPUs replaces cpu */
	struct strategy_layer own; /* the node's annotation and ratio labels together */
	const char *fault;	   /* NULL, or which of these is passed over and why */
	int64_t sample_ms;	   /* annotation sluice.dev/overcommit-sample: of the sample
				      behind what is published; 0: absent */
	const char *metrics_path;  /* annotation metrics.k8s.io/resource-metrics-path; "" */
};

/* A container, or sidecar, of a pod that has several. */
enum { LENT_CONTAINERS_MAX = 64, LENT_CONTAINER_ID_SIZE = 65 };
struct lent_container {
	char id[LENT_CONTAINER_ID_SIZE]; /* 64 hex digits, as its runtime and its cgroup have it */
	struct load asked;		 /* under any of the lent names; cpu in thousandths */
};

enum pod_phase { POD_PENDING, POD_RUNNING, POD_OVER }; /* OVER: Succeeded, Failed */

struct pod_facts {
	struct uid uid;
	const char *ns, *name;
	const char *node; /* spec.nodeName, "" while it has none */
	enum pod_phase phase;
	bool deleting;
	bool has_owner_job; /* the pod's controller is a Job */
	struct uid owner_job;
	bool queued; /* label sluice.dev/cluster-queue-name: of a Job that holds quota */
	struct tier_facts tier;
	struct load request;	   /* of ordinary cpu and memory, as the scheduler counts */
	struct load batch_asked;   /* under batch-cpu and batch-memory, or the legacy names */
	struct load gocran_asked;  /* under gocran.io; cpu in thousandths here, too */
	int32_t eviction_priority; /* annotation koordinator.sh/eviction-priority */
	int64_t started_ms;	   /* status.startTime, else creation */
	bool looked_at;		   /* there is a startTime: the kubelet has taken the pod */
	/* Only of a pod with several that asks for lent resources: those that ask for some, and
	 * have an id, which they get as they start. */
	const struct lent_container *containers;
	size_t ncontainers;
};

/* A sample of metrics.k8s.io or of a kubelet: of a node, or of a pod's containers together. */
struct usage_facts {
	const char *ns, *name; /* ns "": of a node */
	int64_t at_ms;	       /* timestamp: the end of the sample's window */
	struct load used;
};

#endif
