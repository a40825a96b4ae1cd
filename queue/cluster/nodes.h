/*
 * The nodes: could a pod like this run on them at all, and how many could now?
 *
 * Three answers for a pod template:
 *   NEVER    no node that there is could take it, were they all empty: too small, tainted, of other
 *            labels ... A reason that somebody should hear of
 *   NOT_NOW  some could, and all of these are full at present (or the pod it wants to be near is
 *            not there, or they are cordoned)
 *   NOW      some have room: for how many such pods, counted node by node (nodes_room)
 *
 * The filters are kube-scheduler's (v1.36), in its order and in its words: cordons, nodeName,
 * taints NoSchedule and NoExecute, node selector and required affinity (In, NotIn, Exists,
 * DoesNotExist, Gt, Lt, matchFields), host ports, resources (allocatable; pods too), topology
 * spread with DoNotSchedule, required pod affinity and anti-affinity (its own, and that of the pods
 * that are there).
 *
 * What passes does not make a NEVER: a cordon is lifted some day, and so are the taints that
 * Kubernetes puts on a node for its condition (node.kubernetes.io/not-ready, memory-pressure ...;
 * node.cloudprovider.kubernetes.io/...). Not looked at: volumes, devices of DRA claims, declared
 * features of nodes, preemption; those err on the side of "possible", or, preemption, of "not now".
 *
 * A pod that names its node asks no scheduler: it is judged as the kubelet there would (NoExecute,
 * affinity, ports, room). Of pods of another scheduler nothing is known: NOW.
 *
 * Nodes of equal labels (but for those unique to each), taints and allocatable are one shape;
 * templates are asked of shapes. 5,000 nodes are a few dozen shapes, so an answer costs
 * microseconds; room is kept for each template that was asked for lately, and only a node that
 * changed is counted again.
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

/* A pod that is bound to a node, known or not yet; again: as it is now. */
struct bound_pod {
	struct uid uid;
	const char *node;
	const struct pod *pod; /* requests, labels, anti-affinity, ports count; copied */
	bool deleting;	  /* spreading does not count it any more; all else does until it is gone */
	struct uid owner; /* the Job that made it; zero: none */
};
/* Pods that ended (Succeeded, Failed) hold nothing: unbind them. */
void nodes_bind(struct nodes *n, const struct bound_pod *p);
void nodes_unbind(struct nodes *n, const struct uid *uid);

size_t nodes_count(const struct nodes *n); /* those that were set */

/* For namespaceSelector of affinity terms. */
void nodes_set_namespace(
	struct nodes *n, const char *name, const struct label *labels, size_t nlabels);
void nodes_drop_namespace(struct nodes *n, const char *name);

/* What a RuntimeClass adds to the pods that name it, when the API server makes them: overhead (to
 * those that have none yet), node selector, tolerations. A class that is not there adds nothing. */
void nodes_set_runtime_class(struct nodes *n, const struct runtime_class_spec *s);
void nodes_drop_runtime_class(struct nodes *n, const char *name);

enum fit { FIT_NEVER, FIT_NOT_NOW, FIT_NOW };

/* Why not, as the scheduler counts it: "0/20 nodes are available: 12 Insufficient cpu, 8 node(s)
 * had untolerated taint(s)". For FIT_NEVER as it would count were the nodes empty and well. */
struct fit_answer {
	enum fit fit;
	size_t nodes, suitable; /* there are; could take it when empty */
	char sentence[400];	/* "" for FIT_NOW */
};

void nodes_fit(struct nodes *n, const struct pod *p, struct fit_answer *ret);

/* How many pods like this one fit beside all that is there, at most `enough` are counted. Exact for
 * pods without affinity to pods and without spread; with those, one by one as a scheduler would. */
int32_t nodes_room(struct nodes *n, const struct pod *p, int32_t enough);

/* The same as if no pod of these owners were there, nor expected. What others expect and found no
 * room for yet does not take theirs. */
int32_t nodes_room_without(struct nodes *n, const struct pod *p, int32_t enough,
	const struct uid *owners, size_t nowners);

/* A run was let in, and so many of its pods are to be there at one time, those included that are
 * bound: those that are not bound yet are put where a scheduler might put them, so that nobody else
 * is told of that room. Each pod of this owner that is bound takes one of them off, the one that
 * was expected on its node if there is one; who is unbound is expected again. Where no node has
 * room for one it is not put anywhere, and takes none, until one has. 0: the run is over, or was
 * never let in.
 *
 * What was put stays where it is until its node changes, or is filled by others; a pod elsewhere
 * that it may not be near, and was bound after it, does not move it. */
void nodes_expect(struct nodes *n, const struct uid *owner, const struct pod *p, int32_t pods);

/* nodes_fit() as if so many such pods were there already: why no more of them fit. */
void nodes_fit_beside(struct nodes *n, const struct pod *p, int32_t pods, struct fit_answer *ret);

/* Moves with every change that may turn a NEVER into something else, or something else into it.
 * Pods come and go without it, and nodes of a shape of which others are there; but every node moves
 * it once somebody asked for a pod that means single nodes (by name or by hostname). It is coarse:
 * a cordon moves it, as that is another shape. The counts in a NEVER's sentence may change without.
 */
uint64_t nodes_ground(const struct nodes *n);

/* Moves with every change that may make room for somebody: pods that go, nodes that come ... */
uint64_t nodes_vacated(const struct nodes *n);

/* Moves with every change that may change an answer. */
uint64_t nodes_version(const struct nodes *n);

#endif
