/*
 * Dominant resource share: how much of what its Cohort could lend a node borrows (reference 7.1).
 *
 * These are doubles on purpose, the only ones that decide anything: Kueue computes them so, and
 * its results, down to which of two nearly equal shares is the smaller, are the reference. IEEE
 * arithmetic is the same everywhere; nothing of it is stored or summed.
 */
#ifndef SLUICE_QUEUE_ADMIT_SHARE_H
#define SLUICE_QUEUE_ADMIT_SHARE_H

#include "queue/model/quota.h"

struct share {
	double ratio; /* of the dominant resource, in thousandths, not weighted */
	double weight;
	bool borrows; /* on some row, even where nothing is lendable */
};

/* Of the node in THEN; a root borrows from nobody. */
struct share share_of(const struct quota_node *node);
/* < 0, 0, > 0; a node of weight 0 that borrows is beyond all that have a weight. */
int share_cmp(const struct share *a, const struct share *b);
/* As status.fairSharing.weightedShare shows it: rounded up; INT64_MAX for weight 0 that borrows. */
int64_t share_shown(const struct share *s);

#endif
