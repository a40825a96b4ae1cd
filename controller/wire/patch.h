/*
 * From an intent to the body of its PATCH (RFC 6902, application/json-patch+json).
 *
 * One patch does it all, guarded by `test` on uid, story and, for a start, generation and suspend.
 * Only fields that Sluice owns are written:
 *
 * - spec.suspend, our annotations, and one label of the pod template;
 * - the template's node selector and tolerations;
 * - parallelism and completions for the time of a run, where the owner allows fewer pods;
 * - what the containers ask for (resources.h) and the label koordinator.sh/qosClass, where the Job
 *   may run on idle resources;
 * - node affinity, and labels and annotations of the template, key by key, where a flavor or a
 *   queue has spec.podTemplate.
 *
 * The user's own directives are kept in the annotation sluice.dev/original-directives next to what
 * was applied last. Each start computes own + flavor anew, so a Job that moves from spot to
 * on-demand carries nothing over. If the template is not what was applied any more, its owner has
 * edited it while it was suspended, and what it says now is the user's own (decode.h reads it back
 * by that rule).
 *
 * Node affinity follows that rule by itself, labels and annotations key by key: what was added is
 * in the annotation, and a key whose value is still that one is taken off again (decode.h tells
 * which, struct template_metadata).
 */
#ifndef SLUICE_CONTROLLER_WIRE_PATCH_H
#define SLUICE_CONTROLLER_WIRE_PATCH_H

#include "base/buf.h"
#include "controller/gate/intent.h"

#define PATCH_MAX_BYTES (1 << 20)

/* Appends the body of an intent's PATCH. */
void patch_render(const struct intent *i, struct buf *out);

#endif
