/*
 * What the containers of a Job ask for, as its owner wrote it, and as it is written for a run on
 * idle resources.
 *
 * A Job that opted in (sluice.dev/preemptible: "true") asks for ordinary cpu and memory. When it is
 * let into a flavor whose room is lent, the start PATCH makes batch resources of them, container by
 * container (cpu to thousandths, memory to bytes, limits equal to requests), and labels the pods
 * koordinator.sh/qosClass=BE; when it is next let into an ordinary flavor it writes back what its
 * owner wrote. Kubernetes 1.36 allows that while a Job is suspended and has no pods.
 *
 * The owner's own stands as a text in struct job, opaque to the queue, and, from the first start
 * that changes it, in the annotation sluice.dev/original-directives. It counts as long as the
 * template still is what was applied (as for node selector and tolerations, decode_notes.c).
 */
#ifndef SLUICE_CONTROLLER_RESOURCES_H
#define SLUICE_CONTROLLER_RESOURCES_H

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"
#include "sluice/spec.h"

struct cJSON;

/* The text of a pod spec's resources: {"containers":[{"name":..,"resources":{..}}..],
 * "initContainers":[..],"qosClass":"BE"}; qosClass is the template's own label, absent when it has
 * none. */
void resources_take(const struct cJSON *template, struct buf *out);

/* The same for a run under other names. LENDING_NONE is the text itself. */
int resources_convert(struct slice text, enum lending l, struct buf *out, struct err *e);

/* Appends the operations of a JSON patch that write such a text into a Job's template, each behind
 * a comma. */
void resources_patch(struct slice text, struct buf *out);

#endif
