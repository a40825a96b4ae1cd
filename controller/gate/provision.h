/*
 * Provision: a start that waits until an autoscaler says that there are nodes for it.
 *
 * A ResourceFlavor with spec.provisioning asks an autoscaler before its Jobs start, by a
 * ProvisioningRequest (autoscaling.x-k8s.io/v1): so many pods of this template. A run in such a
 * flavor, once its RESERVE is durable, has this step before its start PATCH:
 *
 *   ask       a PodTemplate and a ProvisioningRequest are made, both owned by the Job
 *   wait      quota is held meanwhile, as by a Job that is started: no other Job is to get it in the
 *             moment when nodes are there
 *   start     Provisioned: the start PATCH is sent. Its pods name the request, by annotation, and so
 *             get what was set aside for it
 *   give up   Failed, BookingExpired, refused, or not Provisioned within spec.provisioning.timeout,
 *             whatever it waits for by then: the start is called off (VOID), so that another Job has
 *             its turn. The Job waits for a pause that doubles with each failure in a row, and then
 *             for its own next turn
 *
 * What is always true:
 *   - the start PATCH of such a run goes out only after its request was seen Provisioned. Once one
 *     has gone out the request is not looked at any more: its fate is that of any start;
 *   - a request has a name made of the Job's uid and the attempt that made it. Its key says what it
 *     asks for: flavor, class, parameters, pods, the Job's generation, and what flavors and queues
 *     add to its template;
 *   - a later attempt takes over a request with the same key. A new leader calls off what the last one
 *     had reserved and not started (attempt_adopt), and decides anew: so it loses neither the request
 *     nor what is booked for it;
 *   - other requests of the Job are deleted before a new one is made: an autoscaler would set aside
 *     room for both (as it does where we may not delete). A start in a flavor that asks no autoscaler
 *     has them deleted too, but waits ten seconds for that at most;
 *   - each object may be made or deleted twice: what is there, or gone, already counts as done. So a
 *     crash between two steps costs one more request. What is left when the Job goes is deleted with
 *     its owner;
 *   - a request of a Job that waits is deleted after a while, which does not begin as long as nothing
 *     starts (adoption.h, mass_stop.h); one of a Job that is over at once.
 *
 * A run whose request is CapacityRevoked loses its nodes: it is stopped, and waits anew. A leader
 * that has not started it itself takes the newest request that is not of a later attempt for its
 * own.
 *
 * The objects are the namespace's. A user who may write them there may delete a request: it is made
 * again, or the start is called off. Or they say that it is Provisioned: the Job starts as it would
 * without a request, for that gives no quota. A request that keeps coming back, or going, within
 * one attempt is answered with pauses that double, and never beyond the timeout.
 *
 * Requests are known by the watch: the newest few of each Job, and of Jobs that are not known yet
 * up to a number for all. Left to others: the bodies of the objects
 * (controller/wire/provision_body.h), and what they mean (decode_provision.h).
 */
#ifndef SLUICE_CONTROLLER_GATE_PROVISION_H
#define SLUICE_CONTROLLER_GATE_PROVISION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/map.h"
#include "controller/gate/gate.h"

struct gate_job;

struct provisions {
	struct map by_job; /* of struct provision */
	size_t nstrange;   /* requests of Jobs that the gate does not know */
};

void provisions_init(struct provisions *p);
void provisions_done(struct provisions *p);

enum provision_verdict {
	PROVISION_GO,	/* the start may be sent */
	PROVISION_WAIT, /* a request is being made, awaited or deleted */
	PROVISION_FAIL, /* the start is to be called off */
};

/* Sees to the requests of a Job whose RESERVE is durable, before its start is sent. */
enum provision_verdict provision_see_to(struct gate *g, struct gate_job *j);
/* After PROVISION_FAIL: keeps why, and sets the pause. The caller calls the start off. */
void provision_give_up(struct gate *g, struct gate_job *j);
/* Tells whether a request of the Job is there. */
bool provision_is_left(const struct gate *g, const struct gate_job *j);
/* Deletes the requests of a Job that waits or is over, in time. True: one is being deleted. */
bool provision_tidy(struct gate *g, struct gate_job *j);
/* Stops a run whose nodes are taken back. */
void provision_heed(struct gate *g, struct gate_job *j);
/* Forgets a Job whose record goes; its requests stay, as those of an unknown Job. */
void provision_forget(struct gate *g, const struct gate_job *j);

/* INTENT_PROVISION, INTENT_UNPROVISION, INTENT_START: puts in the request that the intent is
 * about. */
void provision_tell(struct gate *g, struct gate_job *j, struct intent *i);
bool provision_wanted(const struct gate *g, const struct gate_job *j);
bool provision_answered(struct gate *g, struct gate_job *j, const struct job_answer *a);
bool unprovision_wanted(const struct gate *g, const struct gate_job *j);
bool unprovision_answered(struct gate *g, struct gate_job *j, const struct job_answer *a);

/* Says that the Job waits for nodes, or did so in vain; false: there is nothing to say. */
bool provision_words(const struct gate *g, const struct gate_job *j, char *ret, size_t size);

#endif
