/*
 * What keeps pods from running, from the wire to the facts of gate/trouble.h: Pods that are
 * Pending, and the Job controller's Events FailedCreate. Also Pods that a kubelet rejected, for
 * gate/rejection.h. As decode.h: one block each, to be freed with free().
 *
 * What others say is quoted to people: the first TROUBLE_MESSAGE_MAX bytes of a message are kept,
 * with blanks for what a terminal would obey. Only a pod without an owner, and an Event that is
 * about no Job, are invalid; anything else may be missing.
 */
#ifndef SLUICE_CONTROLLER_WIRE_DECODE_TROUBLE_H
#define SLUICE_CONTROLLER_WIRE_DECODE_TROUBLE_H

#include "base/err.h"
#include "controller/gate/rejection.h"
#include "controller/gate/trouble.h"

struct cJSON;

/* Decodes a Pod of a Job. A container that cannot start says more than that the pod was scheduled,
 * so it goes first; containers in the order in which they start. If neither says anything, the
 * silence is told: no scheduler has looked, or the node has started nothing of the pod. */
int decode_trouble_pod(const struct cJSON *o, struct trouble_pod **ret, struct err *e);

/* Decodes a core/v1 Event, whichever way it tells its times. The Job controller's words before
 * those of the API server ("Error creating: ") are left out of the message. */
int decode_trouble_refusal(const struct cJSON *o, struct trouble_refusal **ret, struct err *e);

/* Decodes a Pod that is Failed with "Pod was rejected" in its status; these words are left out of
 * ret->message. Any other Pod is invalid. */
int decode_rejected_pod(const struct cJSON *o, struct rejected_pod **ret, struct err *e);

#endif
