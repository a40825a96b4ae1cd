/*
 * The nodes: could a pod like this run on them at all, and how many could now?
 *
 * Three answers for a pod template:
 *
 *   NEVER    no existing node could take it, even if all were empty: too small, tainted, other
 *            labels ... The Job's owner should be told
 *   NOT_NOW  some could, but all of these are full at present (or cordoned, or the pod that it
 *            wants to be near is not there)
 *   NOW      some have room; for how many such pods is counted node by node (nodes_room)
 *
 * The filters are kube-scheduler's (v1.37), in its order and in its words: cordons, nodeName,
 * taints NoSchedule and NoExecute, node selector and required affinity (In, NotIn, Exists,
 * DoesNotExist, Gt, Lt, matchFields), host ports, resources (allocatable; pods too), topology
 * spread with DoNotSchedule, required pod affinity and anti-affinity (its own, and that of present
 * pods).
 *
 * What passes by itself makes no NEVER: cordons, and the taints that Kubernetes sets for a node's
 * condition (node.kubernetes.io/not-ready, memory-pressure ...;
 * node.cloudprovider.kubernetes.io/...). A resource that a node has none of may be its devices'
 * (device_classes.h). Volumes, the devices themselves and declared features of nodes are not looked
 * at: that errs on the side of "possible". Nor is preemption by the scheduler: that errs on the side
 * of "not now".
 *
 * A pod that names its node asks no scheduler. It is judged as by the kubelet there (NoExecute,
 * affinity, ports, resources). Of pods of another scheduler nothing is known: NOW.
 *
 * Nodes of equal labels (but for those unique to each), taints and allocatable have one shape, and
 * templates are asked of shapes. 5,000 nodes have a few dozen shapes, so an answer costs
 * microseconds. Room is kept for each template that was asked for lately, and only changed nodes
 * are counted again.
 */
#ifndef SLUICE_QUEUE_CLUSTER_NODES_H
#define SLUICE_QUEUE_CLUSTER_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uid.h"
#include "queue/cluster/pod.h"
#include "sluice/spec.h"

struct nodes;

struct nodes *nodes_new(void);
void nodes_free(struct nodes *n);

struct node_spec {
	const char *name;
	bool unschedulable;
	const struct label *labels;
	size_t nlabels;
	const struct taint *taints;
	size_t ntaints;
	struct resource_list allocatable; /* "pods" among them */
};

/* False: nothing is different now. */
bool nodes_set(struct nodes *n, const struct node_spec *s);
bool nodes_drop(struct nodes *n, const char *name);

/* A pod that is bound to a node, known or not; told again: as it is now. */
struct bound_pod {
	struct uid uid;
	const char *node;
	const struct pod *pod; /* requests, labels, anti-affinity, ports count; copied */
	bool deleting;	  /* spread constraints ignore it; all else counts it until it is gone */
	struct uid owner; /* the Job that made it; zero: none */
};
/* Pods that ended (Succeeded, Failed) hold nothing: unbind them. */
void nodes_bind(struct nodes *n, const struct bound_pod *p);
void nodes_unbind(struct nodes *n, const struct uid *uid);

size_t nodes_count(const struct nodes *n); /* nodes that were set */
/* How many came and went since it was made; one that comes back counts in both. */
struct node_traffic {
	uint64_t came, went;
};
struct node_traffic nodes_traffic(const struct nodes *n);
/* Does a node have all these labels, well or not? nodes_ground() changes where that may. */
bool nodes_have(struct nodes *n, const struct label *labels, size_t nlabels);
/* What all nodes with these labels have of a resource (allocatable), and the most of one. Kept until a
 * node comes, goes or changes (node_sums.c). */
void nodes_sum(struct nodes *n, const struct label *labels, size_t nlabels, const char *resource,
	int64_t *ret_all, int64_t *ret_largest);

/* For namespaceSelector of affinity terms. */
void nodes_set_namespace(
	struct nodes *n, const char *name, const struct label *labels, size_t nlabels);
void nodes_drop_namespace(struct nodes *n, const char *name);

/* What the API server adds to pods of a RuntimeClass: overhead (unless they have some), node
 * selector, tolerations. An unknown class adds nothing. */
void nodes_set_runtime_class(struct nodes *n, const struct runtime_class_spec *s);
void nodes_drop_runtime_class(struct nodes *n, const char *name);

/* False: nothing is different now. */
bool nodes_set_device_class(struct nodes *n, const struct device_class_spec *s);
bool nodes_drop_device_class(struct nodes *n, const char *name);
/* Are all of them told? They are at first. */
bool nodes_know_device_classes(struct nodes *n, bool known);
/* May a node that has none of the resource have it in its devices? */
bool nodes_devices_may_have(const struct nodes *n, const char *resource);

enum fit { FIT_NEVER, FIT_NOT_NOW, FIT_NOW };

/* Why not, as the scheduler counts it: "0/20 nodes are available: 12 Insufficient cpu, 8 node(s)
 * had untolerated taint(s)". For FIT_NEVER, as if the nodes were empty and healthy. */
struct fit_answer {
	enum fit fit;
	size_t nodes, suitable; /* all nodes; nodes that could take it when empty */
	bool has_taints;	/* a taint that the pod does not tolerate keeps it off some node */
	char sentence[400];	/* "" for FIT_NOW */
};

void nodes_fit(struct nodes *n, const struct pod *p, struct fit_answer *ret);

/* How many pods like this one fit beside the present ones; at most `enough` are counted. Exact for
 * pods without pod affinity and spread. With these they are placed one by one, as a scheduler
 * would.
 */
int32_t nodes_room(struct nodes *n, const struct pod *p, int32_t enough);

/* Returns nodes_room() without all bound and expected pods of these owners. Expected pods of other
 * owners that found no room yet do not take theirs. */
int32_t nodes_room_without(struct nodes *n, const struct pod *p, int32_t enough,
	const struct uid *owners, size_t nowners);

/* A run was admitted and will have so many pods at one time, bound ones included. 0: the run is
 * over, or was never admitted.
 *
 * Its pods that are not bound yet are put where a scheduler might put them, so that this room is
 * not counted for other pods. A bound pod of this owner replaces an expected one, that of its node
 * first; an unbound one is expected again. An expected pod that fits on no node is not put
 * anywhere, and takes no room, until one fits.
 *
 * An expected pod stays where it was put until its node changes, or is filled by other pods. A pod
 * bound later elsewhere does not move it, even if the two may not be near each other. */
void nodes_expect(struct nodes *n, const struct uid *owner, const struct pod *p, int32_t pods);

/* nodes_fit() beside so many such pods: why no more of them fit. */
void nodes_fit_beside(struct nodes *n, const struct pod *p, int32_t pods, struct fit_answer *ret);

/* How much a node is like those of a flavor, to tell to which of several it belongs: how many labels
 * and taints of the group it has, which must be all of them but for taints that keep no pod away.
 * -1: it lacks one, or is not known. */
int node_likeness(const struct nodes *n, const char *name, const struct node_group *g);

/* A number that changes whenever some NEVER may begin or end. Pods do not change it, nor do nodes
 * of a shape that other nodes have; but every node does once a pod was asked about that means
 * single nodes (by name or hostname). It is coarse: a cordon changes it, because that is another
 * shape. The counts in a NEVER's sentence may change without it. */
uint64_t nodes_ground(const struct nodes *n);

/* A number that changes whenever room may have come free: pods go, nodes come ... */
uint64_t nodes_vacated(const struct nodes *n);

/* A number that changes whenever an answer may change. */
uint64_t nodes_version(const struct nodes *n);

#endif
