/*
 * In flight: what was let in and a ResourceQuota's status does not show yet.
 *
 * The API server counts a pod when it is made, and the Job controller makes the pods of a Job some
 * time after it was started, and makes new ones for those that failed or were only the first of
 * many. In between the quota's status looks as if there were room. So every run that was let in is
 * known here with the pods it will have, and for each quota it is said how much of that is to be
 * added to what is used.
 *
 * What is known of a run is what its Job says: so many pods made since it was let in, so many of
 * these ended, as of a version (resourceVersion). A pod surely is in a quota's status when the
 * status was seen as it was at that version or later: the API server writes the use of a pod to the
 * quota before it writes the pod. For this, versions of Jobs and quotas must be of one sequence, as
 * they are unless somebody gives ResourceQuotas an etcd of their own.
 *
 *     reserved = the larger of
 *       - the pods that runs are to have, less those that are surely counted
 *       - all pods that runs are to have, less all that is used: when one has ended and its
 * successor is not there yet, the quota's status may know the end before the Job's does
 *
 * That never says too little of our own runs, with one exception. Where others have pods in the
 * namespace too, or runs that have ended, all that is used is more than what our runs use, and the
 * second of the two says nothing: the place of a pod that has ended may then be given away before
 * its Job says that it wants a successor, which waits until another pod ends. (Found by test/sim.
 * Whose pod has ended, only the Pods could tell, and these are not followed for it.)
 *
 * It says too much for as long as the quotas have not been seen late enough, and then lets go: any
 * event or bookmark of a watch on quotas will do, and quota_flight_behind() says when to list those
 * of a namespace rather than to wait for one.
 *
 * A run that is over is known for as long as some of its pods may not be in the status yet: they
 * are kept when they have ended, and count/pods counts them.
 *
 * Nothing in here is to be saved: after a crash the Jobs that run, and those that the ledger holds
 * a reservation for, are told again, and the answers are the same. Nor does it know any quota: one
 * that is made later is asked for like others.
 */
#ifndef SLUICE_QUEUE_CLUSTER_QUOTA_FLIGHT_H
#define SLUICE_QUEUE_CLUSTER_QUOTA_FLIGHT_H

#include "base/uid.h"
#include "queue/cluster/resource_quota.h"

struct quota_flight;

struct quota_flight *quota_flight_new(void);
void quota_flight_free(struct quota_flight *f);

/* A run as it is now. made and ended never get less while it lasts (what they count from is the
 * caller's choice: none, when it was let in); ended are all that are no more, or on their way out.
 * A run that may have been let in, for all that is known after a crash, is one. */
struct quota_run {
	struct uid uid;
	const struct pod *pod; /* as the API server will see it; the namespace is in it */
	struct pod_count pods; /* to have at one time, now; and in all, with those made */
	int32_t made, ended;
	int64_t version; /* as of; 0: when it was let in */
};

void quota_flight_set(struct quota_flight *f, const struct quota_run *r);
/* No more pods of it will be made: it is over, was stopped, or was never let in. */
void quota_flight_drop(struct quota_flight *f, const struct uid *uid);

/* The quotas have been seen as they were at this version: those of a namespace (by a list; its own
 * version, not that of the quotas in it), or all (ns NULL: an event or a bookmark of a watch on all
 * of them, and all that came before it). */
void quota_flight_seen(struct quota_flight *f, const char *ns, int64_t version);

/* For each hard limit of q, in its order, what is to be added to what is used. */
void quota_flight_reserved(
	const struct quota_flight *f, const struct resource_quota *q, int64_t *ret);

/* True when the quotas of the namespace, seen at *ret_version or later, would let go of some of it:
 * worth a list when a Job waits there for a quota. */
bool quota_flight_behind(const struct quota_flight *f, const char *ns, int64_t *ret_version);

#endif
