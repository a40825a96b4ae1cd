/*
 * Node fit: do the pods fit on the nodes now?
 *
 * Asked with clusterFit Now, and always for gap fillers, so that these make no autoscaler add
 * nodes. All pods with which the Job would start must find space beside the bound pods and the
 * admitted pods that are not bound yet. Pods of its victims do not count. A Job that may start with
 * fewer pods starts with as many as find space (nominate.c).
 *
 * Nodes are told of the pods of each reservation (nodes_expect) until its quota is given back, as
 * long as any queue or Job asks. Then pods are watched, too (queue_wants_pods). A run that was told
 * to stop is still counted: until the stop has landed, its pods go on being made. So is a promise:
 * the space of its victims is for it.
 *
 * A ClusterQueue in which a Job was refused is looked at again when space came free on some node
 * (nodes_vacated), and no other is.
 */
#ifndef SLUICE_QUEUE_FEATURES_NODES_NODE_FIT_H
#define SLUICE_QUEUE_FEATURES_NODES_NODE_FIT_H

#include "queue/core/model/claim.h"

struct feature;
struct fit_answer;
struct reservation;
struct workload;

/* The quota for the claim is free. Returns how many pods fit, if that is fewer than the fewest with
 * which it would start; *ret: why no more fit. -1: these fit, or it is not asked. */
int32_t node_fit_shortage(const struct queue *q, struct clusterqueue *cq, const struct workload *w,
	const struct claim *claim, struct fit_answer *ret);

/* A reservation is new, or has other pods / has no pods to come any more. */
void node_fit_expect(struct queue *q, struct reservation *r);
void node_fit_forget(struct queue *q, struct reservation *r);

/* clusterFit of a ClusterQueue has changed. */
void node_fit_policy(struct queue *q, enum cluster_fit was, enum cluster_fit is);

/* Before a pass: if space came free on nodes, touches the queues that wait for some. */
void node_fit_refresh(struct queue *q);

/* Sleeps until there are nodes, pods are watched, or a LocalQueue gives its pods labels. */
extern const struct feature nodes_feature;

#endif
