/*
 * From an intent to the body of its PATCH (RFC 6902, application/json-patch+json).
 *
 * One patch does it all, guarded by `test` on uid, story and, for a start, generation and suspend.
 * Only fields that Sluice owns are written: spec.suspend, the node selector and the tolerations of
 * the pod template, one template label, our annotations, where its owner allows fewer pods
 * parallelism and completions for the time of a run, and where it may run on idle resources what
 * its containers ask for (resources.h) and the label koordinator.sh/qosClass. Where a flavor or a
 * queue has spec.podTemplate, also node affinity, and labels and annotations of the template, key
 * by key.
 *
 * The user's own directives are kept in the annotation sluice.dev/original-directives next to what
 * was applied last. Each start computes own + flavor anew, so a Job that moves from spot to
 * on-demand carries nothing over. When the template no longer is what was applied, its owner has
 * edited it while it was suspended, and what it says now is the user's own (decode.h reads it back
 * by that rule).
 *
 * For node affinity that rule holds by itself, and for labels and annotations key by key: what was
 * added is in the annotation, and a key whose value still is that one is taken off again (decode.h
 * tells which, struct template_metadata).
 */
#ifndef SLUICE_CONTROLLER_WIRE_PATCH_H
#define SLUICE_CONTROLLER_WIRE_PATCH_H

#include "base/buf.h"
#include "controller/gate/intent.h"

#define PATCH_MAX_BYTES (1 << 20)

/* Appends the body of the PATCH that an intent is. */
void patch_render(const struct intent *i, struct buf *out);

#endif
