/*
 * Node suitability: the nodes, as the queue asks about them (queue/cluster/nodes.h).
 *
 * Three questions, each about a template as a start on certain flavors would write it: the flavors'
 * node labels and tolerations joined to its own, what is lent asked for by its name.
 *
 *   could it ever    of a flavor, with any flavors of the other resource groups that the claim
 *                    needs: where no node could take such a pod, were it empty and well, the flavor
 *                    does not suit (claim.suits, claim.never). Where none is left of those that
 *                    would suit else, all that are like it wait aside with WAIT_NEVER_FITS, as if
 *                    their window were closed: they hold up nobody
 *   ... together     of the flavors that an entry has chosen, found at its turn: each suits with
 *                    some of the others, and yet no node may be of all these
 *   could it now     clusterFit Now, and whoever is of negative priority: do all pods with which it
 *                    would start fit beside what is there and what was let in and is not bound yet?
 *                    For an entry that displaces others: beside what is left when those are gone.
 *                    WAIT_NODES_FULL. It is a lack like a lack of quota: the head of a StrictFIFO
 *                    queue holds up those behind it, so that a large Job is not passed for ever;
 *                    but one of negative priority never holds up anybody
 *
 * Not asked: before queue_know_cluster(), with clusterFit Ignore, without a template, and while
 * there is no node at all (an empty cluster that an autoscaler is to fill). What could ever be is
 * kept with the template, so that ten thousand Jobs of fifty shapes ask fifty questions, and
 * stands until node_suitability_refresh(): claims and answers are of one ground. That asks again
 * when the ground moved (nodes_ground), and judges only those anew whose answer is another one.
 */
#ifndef SLUICE_QUEUE_RULES_NODES_NODE_SUITABILITY_H
#define SLUICE_QUEUE_RULES_NODES_NODE_SUITABILITY_H

#include "queue/cluster/nodes.h"
#include "queue/model/flavor.h"
#include "base/list.h"
#include "queue/requests/pod_template.h"

struct claim;
struct clusterqueue;
struct nominee;
struct queue;
struct reservation;
struct shape;
struct victim;

struct node_suitability {
	struct nodes *nodes;
	bool known;	 /* queue_know_cluster() */
	bool asks;	 /* that, and there was a node at the last refresh */
	uint64_t ground; /* of which answers and claims are */
	/* node_fit.h: */
	size_t asking;	     /* ClusterQueues with clusterFit Now */
	bool pods_known;     /* queue_know_pods() */
	bool expects;	     /* nodes are told of what is let in */
	uint64_t vacated;    /* nodes_vacated() at the last refresh */
	struct link lacking; /* clusterqueue.lacks_nodes: somebody was refused for want of room */
};

void node_suitability_init(struct node_suitability *t);
void node_suitability_done(struct node_suitability *t);

/* Takes from claim.suits the flavors in which no node could ever take pods of the shape: they stand
 * in claim.never, and claim.nowhere says that none is left. */
void node_suitability_narrow(const struct node_suitability *t, const struct clusterqueue *cq,
	const struct shape *shape, struct claim *c);

/* Are nodes asked about pods of the shape? */
bool node_suitability_asks(
	const struct node_suitability *t, const struct clusterqueue *cq, const struct shape *shape);

/* Could no node ever take a pod of the template as a start on these flavors writes it? */
bool node_suitability_never(const struct node_suitability *t, struct pod_template *template,
	const struct flavor *const *flavors, size_t n);
/* The same, asked anew and in the scheduler's words. */
void node_suitability_answer(const struct node_suitability *t, const struct pod_template *template,
	const struct flavor *const *flavors, size_t n, struct fit_answer *ret);

/* The way number `index` to choose a flavor for each resource group that the claim needs, of those
 * that suit or would but for the nodes. False: there are no more, or too many to go through. */
bool node_suitability_way(const struct clusterqueue *cq, const struct claim *c, size_t index,
	const struct flavor *ret[], size_t *ret_n);

/* Before a pass: who is judged by ground that moved is judged anew. */
void node_suitability_refresh(struct queue *q);
/* The flavor is another one now, or goes: what was answered of it does not count. Claims are the
 * caller's. */
void node_suitability_forget_flavor(struct queue *q, const struct flavor *f);
void verdicts_free(struct verdicts *v); /* NULL does nothing */

/* May the entry start with its choice, were all its victims gone? */
bool node_suitability_lets(
	struct queue *q, const struct nominee *e, const struct victim *victims, size_t n);

#endif
