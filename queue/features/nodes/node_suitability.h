/*
 * Node suitability: what the queue asks about the nodes (queue/cluster/nodes.h).
 *
 * There are three questions. Each is about the started pod: the pod that a start on certain flavors
 * makes of a template. A start adds the flavors' directives to its owner's (directives.h), and writes
 * the names of lent resources (lending.h). It adds labels, too, which matter only to a pod that looks
 * at other pods: of one that does not the template has none (pod_template.h).
 *
 *   ever       could any node take such a pod, if it were empty and healthy? If not, and if no
 *              such node can be made (nodes_to_come.h), the flavor does not suit (claim.suits,
 *              claim.never). Asked with each choice for the other resource groups that the claim
 *              needs. If no flavor is left, the group waits with WAIT_NEVER_FITS, as if its window
 *              were closed: it blocks nothing
 *   together   the same for the flavors that a nominee has chosen. Each of them suits with some
 *              others, and yet no node may have all these
 *   now        with clusterFit Now, and for gap fillers: do all pods fit now (node_fit.h)? If not,
 *              the reason is WAIT_NODES_FULL. That is a shortage like one of quota: the head of a
 *              StrictFIFO queue blocks the Jobs behind it, so that a large Job is not passed for
 *              ever. But a gap filler blocks nothing
 *
 * They are not asked before queue_know_cluster(), with clusterFit Ignore, without a template, or
 * while there is no node at all (an empty cluster that an autoscaler is to fill).
 *
 * Answers to `ever` are kept with the template, so ten thousand Jobs of fifty shapes ask fifty
 * questions. They stand until node_suitability_refresh(), so claims and answers are of one state of
 * the nodes. That asks again when the nodes have changed (nodes_ground), and derives only the
 * groups anew that get another answer.
 */
#ifndef SLUICE_QUEUE_FEATURES_NODES_NODE_SUITABILITY_H
#define SLUICE_QUEUE_FEATURES_NODES_NODE_SUITABILITY_H

#include "queue/cluster/nodes.h"
#include "queue/cluster/pod.h"
#include "queue/core/model/flavor.h"
#include "base/list.h"
#include "queue/requests/pod_template.h"

struct claim;
struct clusterqueue;
struct localqueue;
struct queue;
struct shape;

struct node_suitability {
	struct nodes *nodes;
	bool known;	 /* queue_know_cluster() */
	bool asks;	 /* that, and there was a node at the last refresh */
	bool edited;	 /* a flavor has changed: promises in it may be lost */
	uint64_t ground; /* nodes_ground() of the answers and claims */
	/* node_fit.h: */
	size_t asking;	     /* ClusterQueues with clusterFit Now */
	bool pods_known;     /* queue_know_pods() */
	bool expects;	     /* nodes are told of admitted pods */
	uint64_t vacated;    /* nodes_vacated() at the last refresh */
	struct link lacking; /* clusterqueue.lacks_nodes: a Job was refused for want of space */
};

void node_suitability_init(struct node_suitability *t);
void node_suitability_done(struct node_suitability *t);

/* Moves the flavors in which no node could ever take pods of the shape from claim.suits to
 * claim.never. claim.nowhere: none is left. */
void node_suitability_narrow(const struct node_suitability *t, const struct clusterqueue *cq,
	const struct shape *shape, struct claim *c);

/* Are nodes asked about pods of the shape? */
bool node_suitability_asks(
	const struct node_suitability *t, const struct clusterqueue *cq, const struct shape *shape);

/* Could no node ever take a pod of the template as a start on these flavors writes it, and would none
 * be made that can? */
bool node_suitability_never(const struct node_suitability *t, const struct clusterqueue *cq,
	struct pod_template *template, const struct flavor *const *flavors, size_t n);
/* Asks the nodes that are there anew, and answers in the scheduler's words. has_taints: tolerating
 * them would help. */
void node_suitability_answer(const struct node_suitability *t, const struct pod_template *template,
	const struct flavor *const *flavors, size_t n, struct fit_answer *ret);

/* Combination number `index` of a flavor for each resource group that the claim needs, of flavors
 * that suit or would but for the nodes. False: there are no more, or too many to go through. */
bool node_suitability_way(const struct clusterqueue *cq, const struct claim *c, size_t index,
	const struct flavor *ret[], size_t *ret_n);

/* The started pod of p with n flavors. cq and lq may be NULL, where labels decide nothing. Borrows from
 * all of them. */
struct pod started_pod_of(struct arena *a, const struct pod *p, const struct flavor *const *flavors,
	size_t n, const struct clusterqueue *cq, const struct localqueue *lq);

/* Before a pass: asks again if the nodes have changed. */
void node_suitability_refresh(struct queue *q);
/* The flavor has changed or goes: forgets its answers. The caller derives the claims anew. */
void node_suitability_forget_flavor(struct queue *q, const struct flavor *f);

#endif
