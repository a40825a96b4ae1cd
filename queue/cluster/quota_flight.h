/*
 * In flight: admitted pods that a ResourceQuota's status does not show yet.
 *
 * The API server counts a pod when it is made. The Job controller makes the pods of a Job some time
 * after its start, replaces failed ones, and makes more as others succeed. In between the quota's
 * status looks as if there were room. So every admitted run is known here with the pods that it
 * will have. For each quota this module says how much of that must be added to what is used.
 *
 * What is known of a run comes from its Job: how many pods were made since its admission and how
 * many of these ended, as of a version (resourceVersion). A pod is surely in a quota's status if
 * that was seen at this version or later, because the API server writes the quota's use before it
 * writes the pod. For this, versions of Jobs and quotas must be of one sequence. They are, unless
 * ResourceQuotas have an etcd of their own.
 *
 *     reserved = the larger of
 *       - the pods that runs are to have, less the surely counted ones
 *       - all pods that runs are to have, less all that is used. (When a pod has ended and its
 *         successor is not there yet, the quota's status may know the end before the Job's does.)
 *
 * That is never too little for our own runs, with one exception. If the namespace has other pods,
 * too, or runs that have ended, more is used than our runs use, and the second line says nothing.
 * Then the place of an ended pod may be given away before its Job shows that it wants a successor,
 * which waits until another pod ends. (Found by test/sim. Only the Pods could tell which pod ended,
 * and they are not watched for this.)
 *
 * It is too much until the quotas have been seen at a late enough version. Any event or bookmark of
 * the watch on quotas suffices. quota_flight_behind() says when to list the quotas of a namespace
 * rather than to wait.
 *
 * A run that is over is kept as long as some of its pods may not be in the status yet: ended pods
 * are kept, and count/pods counts them.
 *
 * Nothing here is saved. After a crash the running Jobs, and those with a reservation in the
 * ledger, are told again, and the answers are the same. Nor does it know any quota: one that is
 * made later is asked about like others.
 */
#ifndef SLUICE_QUEUE_CLUSTER_QUOTA_FLIGHT_H
#define SLUICE_QUEUE_CLUSTER_QUOTA_FLIGHT_H

#include "base/uid.h"
#include "queue/cluster/resource_quota.h"

struct quota_flight;

struct quota_flight *quota_flight_new(void);
void quota_flight_free(struct quota_flight *f);

/* A run as it is now. `made` and `ended` never fall while it lasts; the caller chooses what they
 * count from (0 at its admission). `ended` includes pods that terminate. After a crash, a run that
 * may have been admitted is one. */
struct quota_run {
	struct uid uid;
	const struct pod *pod; /* as the API server will see it; the namespace is in it */
	struct pod_count pods; /* to have at one time, now; and in all, with those made */
	int32_t made, ended;
	int64_t version; /* as of; 0: at its admission */
};

void quota_flight_set(struct quota_flight *f, const struct quota_run *r);
/* No more pods of it will be made: it is over, was stopped, or was never admitted. */
void quota_flight_drop(struct quota_flight *f, const struct uid *uid);

/* The quotas have been seen as of this version: those of a namespace (by a list; the list's
 * version, not that of the quotas in it), or all (ns NULL: by an event or bookmark of the watch on
 * all). */
void quota_flight_seen(struct quota_flight *f, const char *ns, int64_t version);

/* For each hard limit of q, in its order: what to add to what is used. */
void quota_flight_reserved(
	const struct quota_flight *f, const struct resource_quota *q, int64_t *ret);

/* True when less would be in flight if the quotas of the namespace were seen at *ret_version or
 * later. That is worth a list when a Job waits there for a quota. */
bool quota_flight_behind(const struct quota_flight *f, const char *ns, int64_t *ret_version);

#endif
