/*
 * Quotas of namespaces: would the API server let the pods of a Job in (cluster/resource_quota.h),
 * with what was let in and does not show yet (cluster/quota_flight.h)?
 *
 * The answer is of a template (its namespace is in it) and of how many pods, so a group shares it:
 * a group that is refused is not asked, blocks nobody and nobody is displaced for it, as if its
 * window were closed (WAIT_NAMESPACE_QUOTA). That is so in StrictFIFO and Backfill too: the
 * namespace's quota is not the queue's. An answer is kept until a quota of the namespace, or what
 * is in flight there, moves; then the ClusterQueues of its LocalQueues are looked at again.
 *
 * Where a start writes other names for what is lent, these are what is asked (job_lending); a Job
 * that may run in several ways is refused when each way is.
 *
 * Every room is a run in flight: from room_start() or its adoption until room_end(). What its Job
 * says has been made and has ended comes with queue_set_job().
 */
#ifndef SLUICE_QUEUE_NSQUOTA_H
#define SLUICE_QUEUE_NSQUOTA_H

#include "cluster/quota_flight.h"
#include "queue/group.h"

struct room;

struct nsquotas {
	struct map namespaces; /* those with a ResourceQuota */
	struct quota_flight *flight;
};

void nsquotas_init(struct nsquotas *n);
void nsquotas_done(struct nsquotas *n);

/* False: its pods would be refused now; *ret_sentence (may be NULL) gets the API server's words. */
bool nsquota_lets(struct queue *q, const struct workload *w, const struct shape *shape,
	char *ret_sentence, size_t size);

/* A run was let in with so many pods / is over / what its Job says of it now. */
void nsquota_run(struct queue *q, const struct room *r);
void nsquota_run_over(struct queue *q, const struct room *r);
void nsquota_see_job(struct queue *q, const struct room *r, const struct job *j);

#endif
