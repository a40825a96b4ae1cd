/* Fingerprints of pods and terms, as bytes: equal bytes get equal answers. */
#ifndef SLUICE_QUEUE_CLUSTER_FINGERPRINT_H
#define SLUICE_QUEUE_CLUSTER_FINGERPRINT_H

#include "base/buf.h"
#include "queue/cluster/pod.h"

#define FINGERPRINT_MAX (4 << 20) /* bytes; what goes beyond is never the same as anything */

/* All that matters for where the pod fits; of a pod that looks at other pods, also its own
 * namespace and labels. */
void fingerprint_wanted(struct buf *b, const struct pod *p);
/* All that matters of a bound pod. */
void fingerprint_bound(struct buf *b, const struct pod *p);
/* All that ResourceQuotas look at, and that their refusals print. */
void fingerprint_counted(struct buf *b, const struct pod *p);
/* A term of a pod in ns. */
void fingerprint_affinity_term(struct buf *b, const char *ns, const struct affinity_term *t);

/* Does it look at other pods? */
bool pod_is_sociable(const struct pod *p);

#endif
