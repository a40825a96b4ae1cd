/*
 * Namespace quotas: would the API server admit the pods of a Job under the namespace's
 * ResourceQuotas (queue/cluster/resource_quota.h)? Pods that were admitted and do not show in the
 * status yet count, too (queue/cluster/quota_flight.h).
 *
 * The answer is a number of pods. It is kept with the pod template, which names its namespace, so a
 * group shares it. A group that cannot have the fewest pods with which it would start is passed
 * over in every strategy. It blocks nothing and preempts nothing, as if its window were closed
 * (feature.h): the namespace's quota is not the queue's. With partial admission fewer pods may start
 * than fit into the queue's own quota.
 *
 * Three things complicate the answer:
 *
 *   in all       count/pods counts ended pods too, so there a Job asks for all pods that it will
 *                make. Where a quota counts them, groups are parted by that number (in_all)
 *   lent names   a start may write other names for cpu and memory (lending_rename). A Job with
 *                several ways is refused when each way is; at its turn only the chosen one is asked
 *   classes      a template without a PriorityClass has the default one, if there is one
 *
 * Each reservation is in flight, from reservation_start() or its adoption until reservation_end().
 * So is a promise, which keeps what its victims free here, too. What a Job says of its pods is kept
 * with the workload (struct progress), so that an adopted reservation goes on where it was.
 *
 * Of each quota is kept what is left of each limit. When that changes, the answers of the namespace
 * are asked again, and the ClusterQueues of its LocalQueues are looked at. If only less is left,
 * that is only where a refused Job may have stood before others. A namespace without a
 * ResourceQuota has no struct namespace_quota and costs nothing.
 */
#ifndef SLUICE_QUEUE_FEATURES_NAMESPACE_NAMESPACE_QUOTA_H
#define SLUICE_QUEUE_FEATURES_NAMESPACE_NAMESPACE_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/list.h"
#include "queue/cluster/quota_flight.h"
#include "sluice/spec.h"

struct claim;
struct clusterqueue;
struct feature;
struct job;
struct nspace;
struct pod_template;
struct progress;
struct queue;
struct reservation;
struct workload;

struct namespace_quotas {
	struct link all;   /* namespace_quota.of_all */
	struct link stale; /* namespace_quota.of_stale: what is left there may have changed */
	struct quota_flight *flight;
	char *default_class; /* name of the default PriorityClass; NULL: there is none */
	uint64_t moves;
	bool known; /* queue_know_cluster(); before that nothing is asked */
};

void namespace_quotas_init(struct namespace_quotas *n);
void namespace_quotas_done(struct queue *q);

/* All quotas have been told / the default PriorityClass may have changed. */
void namespace_quotas_know(struct queue *q);
void namespace_quotas_heed_default(struct queue *q);
/* Before a pass: works out what is left in stale namespaces. */
void namespace_quotas_refresh(struct queue *q);

/* ---- May they be made? ---- */

/* With how many pods w may start in cq at most (claim: w's in cq). Fewer than shape.min_pods: it is
 * refused. */
int32_t namespace_quota_pods(const struct queue *q, const struct clusterqueue *cq,
	const struct claim *claim, const struct workload *w);

/* Returns whether the Job would be refused even if nothing were used: it asks for more than the
 * whole quota, or lacks a field that a quota requires. Kept with its template, so it may be asked
 * of all waiting Jobs. */
bool namespace_quota_never_lets(const struct queue *q, const struct clusterqueue *cq,
	const struct claim *claim, const struct workload *w);

/* Sleeps until there is a ResourceQuota. */
extern const struct feature namespace_quota_feature;

/* ---- What is in flight ---- */

/* The Job's status has changed. */
void namespace_quota_see(
	struct queue *q, struct workload *w, const struct job *j, const struct progress *was);
/* The reservation is new, or its pods or its Job's status have changed / it ends. */
void namespace_quota_run(struct queue *q, struct reservation *r);
void namespace_quota_run_over(struct queue *q, struct reservation *r);

/* What parts groups: how many pods its Job still makes in all; 0: as many as at one time, or no
 * quota counts that. */
int32_t namespace_quota_in_all(const struct workload *w);

/* ---- Between namespace_quota.c (what is left) and namespace_quota_rule.c (what is asked) ---- */

/* A ResourceQuota, and what is left of each hard limit, in their order. */
struct held_quota {
	struct resource_quota quota;
	int64_t *left;
	struct arena memory;
};

struct namespace_quota {
	struct nspace *ns;
	struct link of_all, of_stale;
	struct held_quota **held; /* in name order */
	size_t n;
	bool keeps;		/* some quota counts pods that have ended */
	bool others;		/* quotas, limits or scopes have changed since `left` was made */
	uint64_t moved, limits; /* renumbered when what is left, or a limit, has changed */
};

/* The pod as the API server will see it, if a start writes it for this kind of lending. */
struct pod namespace_quota_pod(
	const struct queue *q, struct arena *a, const struct pod_template *t, enum lending lending);

#endif
