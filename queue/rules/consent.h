/*
 * Consent: who else must agree to a start, once the quota of its ClusterQueue is there.
 *
 *   money       what it is expected to cost is left in all Budgets (budget.h)
 *   namespace   the ResourceQuotas there let its pods in (namespace_quota.h)
 *   nodes       one could take such a pod; with clusterFit Now all have room (terrain.h)
 *
 * All are asked of the flavors that an entry has chosen, so another choice may be agreed to.
 * Whoever is denied by money or namespace blocks nobody and displaces nobody; nodes without room
 * are a lack like one of quota.
 */
#ifndef SLUICE_QUEUE_RULES_CONSENT_H
#define SLUICE_QUEUE_RULES_CONSENT_H

#include "queue/preempt/victims.h"

struct nominee;
struct queue;

/* May the entry start as it chose, were its victims gone? */
bool consent_given(
	struct queue *q, const struct nominee *e, const struct victim *victims, size_t n);

#endif
