/*
 * Placements and metadata as bytes that are equal exactly when they are. Each list begins with its
 * length, each string ends with NUL. Nothing at all, the usual case, is no bytes.
 *
 * A placement's bytes may be followed by metadata's: these begin with what no length is.
 */
#ifndef SLUICE_QUEUE_JOB_PLACEMENT_KEY_H
#define SLUICE_QUEUE_JOB_PLACEMENT_KEY_H

#include "base/buf.h"
#include "sluice/placement.h"

void placement_key(const struct placement *p, struct buf *out);
void pod_metadata_key(const struct pod_metadata *m, struct buf *out);
void template_metadata_key(const struct template_metadata *m, struct buf *out);

bool pod_metadata_same(const struct pod_metadata *a, const struct pod_metadata *b);

#endif
