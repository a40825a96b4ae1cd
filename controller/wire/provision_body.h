/*
 * The two objects that ask an autoscaler for nodes: a PodTemplate with the pods of a start, and a
 * ProvisioningRequest (autoscaling.x-k8s.io/v1) for so many of them. The Job owns both. They have
 * one name, made of the Job's uid and the number of the attempt (controller/gate/provision.h).
 */
#ifndef SLUICE_CONTROLLER_WIRE_PROVISION_BODY_H
#define SLUICE_CONTROLLER_WIRE_PROVISION_BODY_H

#include "base/json_writer.h"
#include "base/slice.h"

struct intent;

/* Begin and end the PodTemplate of i, an INTENT_PROVISION. template is the JSON of the Job's
 * spec.template, as a dry run of its start shows it. All three append. */
struct json_writer provision_template_begin(const struct intent *i, struct buf *out);
void provision_template_end(struct json_writer *w, struct slice template);
void provision_request_body(const struct intent *i, struct buf *out);

#endif
