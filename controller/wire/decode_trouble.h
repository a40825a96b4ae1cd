/*
 * What keeps pods from running, from the wire to the facts of gate/trouble.h: Pods that are Pending
 * and the Job controller's Events FailedCreate. As decode.h: one block each, to be freed with
 * free().
 *
 * What others say is quoted to people: of a message the first TROUBLE_MESSAGE_MAX bytes are kept,
 * with blanks for what a terminal would obey. What is missing makes nothing invalid but a pod
 * without an owner, and an Event that is about no Job. And Pods that a kubelet rejected, for
 * gate/rejection.h.
 */
#ifndef SLUICE_CONTROLLER_WIRE_DECODE_TROUBLE_H
#define SLUICE_CONTROLLER_WIRE_DECODE_TROUBLE_H

#include "base/err.h"
#include "controller/gate/rejection.h"
#include "controller/gate/trouble.h"

struct cJSON;

/* A Pod of a Job. A container that cannot start says more than that the pod was scheduled, so it
 * goes first; containers in the order in which they start. Where neither says anything the silence
 * is told: no scheduler has looked, or the node has not started anything of it. */
int decode_trouble_pod(const struct cJSON *o, struct trouble_pod **ret, struct err *e);

/* A core/v1 Event, whichever way it tells its times. Of the message what the Job controller puts
 * before the API server's words ("Error creating: ") is left out. */
int decode_trouble_refusal(const struct cJSON *o, struct trouble_refusal **ret, struct err *e);

/* A Pod that is Failed, as its status says by the words "Pod was rejected", which are not in
 * ret->message. Another one is invalid. */
int decode_rejected_pod(const struct cJSON *o, struct rejected_pod **ret, struct err *e);

#endif
