/*
 * The cluster under the Jobs: worlds with Nodes, a scheduler and ResourceQuotas.
 *
 * The API server refuses a pod that is over a ResourceQuota of its namespace: it adds what the pod
 * counts for to what is used and writes that before the pod; what has ended is taken off some time
 * later, by the quota controller. The Job controller tries again. The scheduler binds each pod to
 * some node that has room, in no known order, and only then it runs; it holds its
 * room until it has ended or is gone. Controllers hear of Nodes, bound pods and quotas late, each
 * kind on a connection of its own, with a bookmark of quotas now and then.
 *
 *   P9   no pod of a Job that was let in is refused for which there is no room beside the pods of
 *        others that were let in. Excused: a quota was lowered, or is new, and pods that another
 *        client let run, or that a later leader knows no Job of: with these there it cannot be told
 *        from what is used whose pod has ended (docs/nodes.md)
 *   P10  where all queues have clusterFit Now, the pods of all Jobs that were let in have nodes: at
 *        any time there is a place for each, and when all is quiet each has one. Excused: a node
 *        went or was cordoned, and pods that another client let run, or that a later leader knows
 *        no Job of: it is not told what more pods that Job makes (docs/nodes.md)
 *
 * P10 is judged in worlds where each pod is of one size, for there a place is a place: with pods of
 * many sizes a scheduler may choose other nodes than those that were expected, and no controller
 * that does not bind pods itself could keep that promise. P7 knows nodes and quotas in all worlds.
 *
 * They are worlds of their own (sim --cluster), and what is drawn here comes from a generator of
 * its own, so that those without are what they were.
 */
#ifndef SLUICE_TEST_SIM_CLUSTER_H
#define SLUICE_TEST_SIM_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/spec.h"
#include "test/sim/rng.h"

struct config;
struct model_job;
struct model_pod;
struct model_run;
struct replica;
struct sim;
struct snap;

#define NODES 5
#define RESOURCE_QUOTAS 4 /* of each namespace the half */

struct model_node {
	size_t index;
	bool exists, cordoned;
	int64_t cpu, memory, gpu, pods;
};

#define UNLIMITED INT64_MAX

struct pod_sum {
	int64_t pods, cpu, memory;
};

struct model_quota {
	size_t index;
	bool exists;
	struct pod_sum hard, used; /* hard: UNLIMITED */
	int64_t version;
	int64_t lowered_ms; /* when it got less, or came; 0: never */
	bool counting;	    /* the quota controller is about to look at it */
	bool counted_less;  /* its last version was the end of some pod */
};

struct cluster {
	bool on, has_nodes, has_quotas;
	bool uniform;	  /* all pods are of one size */
	bool steady;	  /* nothing is made less */
	unsigned fit_now; /* a bit for each ClusterQueue: clusterFit Now */
	struct rng rng;
	struct model_node node[NODES];
	struct model_quota quota[RESOURCE_QUOTAS];
	int64_t lessened_ms; /* when a node last went or was cordoned; 0: never */
	bool scheduling;     /* the scheduler is about to look */
};

void cluster_begin(struct sim *s);
void cluster_calm(struct sim *s);

enum cluster_fit cluster_fit_of(const struct sim *s, const struct config *clusterqueue);
/* What a user asks for has been drawn. */
void cluster_draw(struct sim *s, struct snap *n);

/* ---- Pods ---- */

/* A pod of that Job is to be made, as the Job controller sees it: counted; false: refused. */
bool cluster_admits(struct sim *s, struct model_job *j, const struct snap *view);
/* It was made: waits for a node, if there are any. */
void cluster_pod_made(struct sim *s, struct model_pod *p);
/* It runs no more, or is gone. */
void cluster_pod_left(struct sim *s, struct model_pod *p);
/* Pods and nodes are others than they were. */
void cluster_schedule_anew(struct sim *s);

/* ---- Controllers ---- */

void cluster_begin_watches(struct sim *s, struct replica *r);
/* To one that has missed news: all of it as it is now, and what is there no more. */
void cluster_tell_again(struct sim *s, struct replica *r);
/* All has been listed once that must be known before the first decision. */
bool cluster_is_listed(const struct sim *s, const struct replica *r);
/* A pass is over: it may want to see quotas anew. */
void cluster_look(struct sim *s, struct replica *r);
/* For all of them: as it is now. */
void cluster_tell_node(struct sim *s, const struct model_node *n);
void cluster_tell_quota(struct sim *s, const struct model_quota *q);
void cluster_tell_pod(struct sim *s, const struct model_pod *p);

/* ---- Promises ---- */

/* For P7: would quotas and nodes let it start? When in doubt, no. */
bool cluster_has_room(
	const struct sim *s, const struct model_job *j, const struct config *cq, int32_t priority);
void cluster_check_quiet(struct sim *s);

/* ---- Between the files of the cluster ---- */

struct pod_sum cluster_asks(const struct snap *template);
bool cluster_node_takes(const struct model_node *n);
bool quotas_have_room(const struct sim *s, const struct model_job *j);
/* Its Job was not let in, or a later leader knows no such Job: the label is off, or it is gone. */
bool cluster_is_foreign(const struct sim *s, const struct model_pod *p);
/* A pod of a Job that was never admitted may fit on no node, and is not taken away: Sluice no
 * longer looks after the Job, or a finalizer keeps it. */
bool cluster_never_binds(const struct sim *s, const struct model_pod *p);
/* Pods that never bind take the room in a quota that a pod of this Job needs. They were made while the
 * leader that let it in was cut off from the API server. */
bool cluster_never_admits(const struct sim *s, const struct model_job *j);
void quotas_pod_left(struct sim *s, const struct model_pod *p);
void quotas_begin(struct sim *s);
void quotas_edit(struct sim *s);
void quotas_put_back(struct sim *s, const struct model_quota *was); /* all of them */
void quotas_calm(struct sim *s);

#endif
