/*
 * Dominant resource share: what a node borrows, as a part of what its Cohort could lend (Kueue's
 * KEP-1714).
 *
 * Shares are doubles because Kueue's are: of two nearly equal shares the same one must be smaller.
 * IEEE arithmetic is the same everywhere, and no share is stored or summed.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_SHARE_H
#define SLUICE_QUEUE_CORE_MODEL_SHARE_H

#include "queue/core/model/quota.h"

struct share {
	double ratio; /* of the dominant resource, in thousandths, not weighted */
	double weight;
	bool borrows; /* on some row, even where nothing is lendable */
};

/* The share of the node THEN; that of a root is 0. */
struct share share_of(const struct quota_node *node);
/* < 0, 0, > 0. A node of weight 0 that borrows is above all nodes with a weight. */
int share_cmp(const struct share *a, const struct share *b);
/* As status.fairSharing.weightedShare shows it: rounded up; INT64_MAX for weight 0 that borrows. */
int64_t share_shown(const struct share *s);

#endif
