/*
 * Node fit: do the pods fit on the nodes now?
 *
 * Asked where a ClusterQueue says clusterFit Now, and of whoever is of negative priority, whatever
 * the ClusterQueue says: who only fills gaps starts where gaps are, and makes no autoscaler add
 * nodes. All pods with which it would start must find room beside what is bound and what was let in
 * and is not bound yet; for one that displaces others, beside what is left when those are gone. Who
 * can do with fewer pods starts with as many as have room (nominate.c).
 *
 * What was let in is told to the nodes (nodes_expect) from reservation_start() until its quota is
 * given back, while anybody asks at all: then pods are wanted, too (queue_wants_pods). A run that
 * was told to stop is among them: until that has landed its pods go on being made. So is what was
 * promised: the room that victims leave is for the one they were stopped for.
 *
 * A ClusterQueue in which somebody was refused is looked at again when room came free somewhere
 * (nodes_vacated), and no other is.
 */
#ifndef SLUICE_QUEUE_RULES_NODES_NODE_FIT_H
#define SLUICE_QUEUE_RULES_NODES_NODE_FIT_H

#include "queue/model/claim.h"
#include "queue/admit/nominee_order.h"
#include "queue/preempt/victims.h"

/* Is it asked for one like w? */
bool node_fit_asks(const struct queue *q, const struct clusterqueue *cq, const struct workload *w);

/* Of the pods of the entry's choice: for how many is there room, were its victims gone? All, where
 * nobody asks. */
int32_t node_fit_pods(
	struct queue *q, const struct nominee *e, const struct victim *victims, size_t n);
bool node_fit_lets(
	struct queue *q, const struct nominee *e, const struct victim *victims, size_t n);

enum node_fit {
	NODE_FIT_NONE,
	NODE_FIT_SOON, /* when the pods are gone of those who were stopped for it */
	NODE_FIT_NOW,
};

/* Is there for what was promised? A run has given its quota back, maybe, but pods of it still stand
 * on nodes, or nobody has told yet that they are gone. */
enum node_fit node_fit_for_promise(struct queue *q, const struct reservation *r);
/* Is there for whom that was promised, were it to start with this choice instead? */
bool node_fit_elsewhere(const struct queue *q, const struct reservation *r,
	const struct claim *claim, const struct choice *choice);

/* Of a claim for which quota is free: how many pods have room, fewer than the fewest with which it
 * would start; *ret says why no more have. -1: those have, or nobody asks. */
int32_t node_fit_shortage(const struct queue *q, struct clusterqueue *cq, const struct workload *w,
	const struct claim *claim, struct fit_answer *ret);

/* A run was let in, or is to have other pods / has no more to come. */
void node_fit_expect(struct queue *q, const struct reservation *r);
void node_fit_forget(struct queue *q, const struct reservation *r);

/* clusterFit of a ClusterQueue is another one. */
void node_fit_policy(struct queue *q, enum cluster_fit was, enum cluster_fit is);

/* Before a pass: whoever lacked room is looked at again if some came free. */
void node_fit_refresh(struct queue *q);

#endif
