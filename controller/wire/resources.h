/*
 * What the containers of a Job ask for, as its owner wrote it, and as it is written for a run on
 * idle resources.
 *
 * A Job that opted in (sluice.dev/preemptible: "true") asks for ordinary cpu and memory. When it
 * gets a flavor whose room is lent, the start PATCH makes batch resources of them, container by
 * container (cpu to thousandths, memory to bytes, limits equal to requests), and labels the pods
 * koordinator.sh/qosClass=BE. A flavor may want ordinary limits beside them (struct lent_form).
 * When it next gets an ordinary flavor, the PATCH writes back what its
 * owner wrote. Kubernetes 1.36 allows that while a Job is suspended and has no pods.
 *
 * A Job that asks for lent resources by their own names keeps them, and is given the label. The
 * names of ACK's first protocol (alibabacloud.com/reclaimed) become those that replaced them, for
 * no node publishes the old ones.
 *
 * What the owner wrote is a text in struct job, opaque to the queue, and from the first start on in
 * the annotation sluice.dev/original-directives. It counts as long as the template is what was
 * applied (as for node selector and tolerations, decode_notes.c), but here for cpu and for memory
 * of each container on its own. `kubectl apply` of a manifest with cpu adds that beside the
 * batch-cpu, which it does not know: then the owner's cpu is meant. When a user writes lent names
 * into a template that was rewritten, the template alone counts.
 */
#ifndef SLUICE_CONTROLLER_WIRE_RESOURCES_H
#define SLUICE_CONTROLLER_WIRE_RESOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"
#include "sluice/spec.h"

struct cJSON;

#define QOS_LABEL "koordinator.sh/qosClass"
#define QOS_LENT "BE"
/* The key of the first protocol: annotation, or label. */
#define LEGACY_QOS_KEY "alibabacloud.com/qosClass"

/* A name under which pods ask for lent resources. */
struct lent {
	const char *name;
	enum lending kind;
	const char *plain; /* "cpu" or "memory", of which it is */
	int64_t unit;	   /* one of it in units of plain: milli-CPU, or bytes */
	bool legacy;	   /* no node publishes it: a start writes its newer name */
};
const struct lent *resources_lent(const char *name); /* NULL: not a lent name */

/*
 * Writes the text of a pod template's resources: {"containers":[{"name":..,"resources":{..}}..],
 * "initContainers":[..],"qosClass":"BE"}. qosClass is the template's label, if it has it.
 */
void resources_take(const struct cJSON *template, struct buf *out);

/* Writes that text as its owner wrote it: original, as long as template is what was applied.
 * original and applied are such texts, parsed. */
void resources_restore(const struct cJSON *template, const struct cJSON *original,
	const struct cJSON *applied, struct buf *out);

/* Gives the lent name that a text, parsed, asks for first; NULL: none. */
const struct lent *resources_asks_lent(const struct cJSON *text);

/* How a run asks for lent resources: under which names, and whether it has limits of cpu and memory
 * beside requests of 0. A kubelet holds a container to those, whoever else runs on its node; to the
 * scheduler it asks for nothing ordinary. Kubernetes calls such a pod Burstable. */
struct lent_form {
	enum lending lending;
	bool kubelet_limits;
};

/* Writes the text for a run in that form. A text that asks for lent resources itself keeps its
 * names, but for legacy ones. ERR_INVALID: cpu is not whole cores, and must be for gocran.io/cpu. */
int resources_convert(struct slice text, struct lent_form form, struct buf *out, struct err *e);

/* Appends the operations of a JSON patch that write such a text into a Job's template, each behind
 * a comma. Containers are found by their place, so the patch tests generation. */
void resources_patch(struct slice text, struct buf *out);

#endif
