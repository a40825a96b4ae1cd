/* What tells one pod, or one term, from another, as bytes: equal bytes, equal answers. */
#ifndef SLUICE_QUEUE_CLUSTER_FINGERPRINT_H
#define SLUICE_QUEUE_CLUSTER_FINGERPRINT_H

#include "base/buf.h"
#include "queue/cluster/pod.h"

#define FINGERPRINT_MAX (4 << 20) /* bytes; what goes beyond is never the same as anything */

/* All that nodes by themselves, and what fills them, are asked for it; of pods that look at other
 * pods also who it is itself. */
void fingerprint_wanted(struct buf *b, const struct pod *p);
/* All that counts of a pod that is there. */
void fingerprint_bound(struct buf *b, const struct pod *p);
/* All that the API server's quotas are asked for it, and as they would print it. */
void fingerprint_counted(struct buf *b, const struct pod *p);
/* A term of a pod in ns. */
void fingerprint_affinity_term(struct buf *b, const char *ns, const struct affinity_term *t);

/* Does it look at other pods? */
bool pod_is_sociable(const struct pod *p);

#endif
