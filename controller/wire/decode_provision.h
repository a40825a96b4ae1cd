/*
 * A ProvisioningRequest (autoscaling.x-k8s.io/v1) that Sluice has made: for which Job, and what its
 * conditions mean. The first of these that is True counts:
 *
 *   CapacityRevoked, Failed, BookingExpired, Provisioned
 *
 * Its name tells the Job and the attempt (controller/wire/provision_body.h makes it); an annotation
 * tells what it asks for. The label is for the watch alone. The message is that of the condition,
 * or else of a condition Provisioned that is not True: why there are no nodes yet.
 */
#ifndef SLUICE_CONTROLLER_WIRE_DECODE_PROVISION_H
#define SLUICE_CONTROLLER_WIRE_DECODE_PROVISION_H

#include <stdbool.h>

#include "controller/gate/gate.h"

struct cJSON;

/* Decodes one; false when it is not ours. Texts are borrowed from o. */
bool decode_provision(const struct cJSON *o, struct provision_fact *ret);
bool provision_name_parse(const char *name, struct uid *ret_job, int32_t *ret_number);

#endif
