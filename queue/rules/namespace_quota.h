/*
 * Quotas of namespaces: would the API server let the pods of a Job in (queue/cluster/resource_quota.h),
 * with what was let in and does not show yet (queue/cluster/quota_flight.h)?
 *
 * The answer is of a template (its namespace is in it), as how many such pods there is room for; so
 * a group shares it. A group that cannot have as few as it would start with is passed over in every
 * strategy, blocks nobody, and nobody is displaced for it, as if its window were closed
 * (rule.h): the namespace's quota is not the queue's. With partial admission fewer may start
 * than would fit into the queue's own quota.
 *
 * What is in the way of an answer:
 *   in all      count/pods counts those that have ended too, so there a Job asks for all the pods
 *               that it will make. Groups differ in that (in_all), where a quota counts it
 *   lent room   a start may write other names for cpu and memory (lending_rename). A Job that may
 *               run in several ways is refused when each way is; at its turn the way it is to run
 *   classes     a template without a PriorityClass has the default one, if there is one
 *
 * Every room is a run in flight, from reservation_start() or its adoption until reservation_end(), and so is a
 * promise: what others were stopped for is kept for it here as well. What a Job says of its pods is
 * kept with the workload (struct progress), so a room that is adopted is where it was.
 *
 * Kept is, of each quota, what is left of each limit. When that moved, what was answered in the
 * namespace is asked again, and the ClusterQueues of its LocalQueues are looked at: all when there
 * is more, those in which one may stand before others when there is less. A namespace without a
 * ResourceQuota has no struct namespace_quota and costs nothing.
 */
#ifndef SLUICE_QUEUE_RULES_NAMESPACE_QUOTA_H
#define SLUICE_QUEUE_RULES_NAMESPACE_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "queue/cluster/quota_flight.h"
#include "base/list.h"

struct claim;
struct clusterqueue;
struct nominee;
struct job;
struct nspace;
struct queue;
struct reservation;
struct workload;

struct namespace_quotas {
	struct link all;   /* nsquota.of_all */
	struct link stale; /* nsquota.of_stale: what is left there may be another amount */
	struct quota_flight *flight;
	char *default_class; /* name of the default PriorityClass; NULL: there is none */
	uint64_t moves;
	bool known; /* queue_know_cluster(): before, nothing is asked */
};

void namespace_quotas_init(struct namespace_quotas *n);
void namespace_quotas_done(struct queue *q);

/* All quotas have been told. / Another PriorityClass may be the default. */
void namespace_quotas_know(struct queue *q);
void namespace_quotas_heed_default(struct queue *q);
/* Before a pass: what moved is asked again. */
void namespace_quotas_refresh(struct queue *q);

/* ---- May they be made? ---- */

/* With how many pods, at most, w may start in cq (claim: its own there); fewer than its
 * shape.min_pods: refused. */
int32_t namespace_quota_pods(const struct queue *q, const struct clusterqueue *cq,
	const struct claim *claim, const struct workload *w);
/* May the entry start as it chose? */
bool namespace_quota_lets(const struct queue *q, const struct nominee *e);
/* Does what was promised still stand? */
bool namespace_quota_keeps(struct queue *q, struct reservation *r);

/* It asks for more than the whole quota, or does not say what a quota wants to know: were nothing
 * used it would be refused. Kept with its template, so it may be asked of all that wait. */
bool namespace_quota_never_lets(const struct queue *q, const struct clusterqueue *cq,
	const struct claim *claim, const struct workload *w);

/* Why w is refused, in the API server's words; *ret_never as above. False: it is not. */
bool namespace_quota_refuses(const struct queue *q, const struct clusterqueue *cq,
	const struct claim *claim, const struct workload *w, char *ret_sentence, size_t size,
	bool *ret_never);

/* ---- What is in flight ---- */

/* What a Job says of the pods of all its runs. */
struct progress {
	int64_t version;
	int32_t active, ended;
	int32_t left; /* still to end well; -1: as many as run at one time */
};
struct progress progress_of(const struct job *j);

/* The Job says something else of its pods now. */
void namespace_quota_see(struct queue *q, struct workload *w, const struct job *j);
/* The room is there, is of other pods, or its Job said more / will be no more. */
void namespace_quota_run(struct queue *q, struct reservation *r);
void namespace_quota_run_over(struct queue *q, const struct reservation *r);

/* What tells groups apart: so many pods its Job asks for in all; 0: as many as at one time, or
 * nothing counts that. */
int32_t namespace_quota_in_all(const struct workload *w);

#endif
