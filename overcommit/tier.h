/*
 * Tiers: which pods' use of a node counts as taken, and which pods live on what is lent.
 *
 * High-priority pods (everything ordinary) keep what they use. What they leave is lent out to
 * low-priority ones, so what low-priority pods use is never subtracted from what may be lent.
 *
 * The rule. A pod is low when it
 *   - asks for lent resources;
 *   - has the priority class koord-batch or koord-free: by label koordinator.sh/priority-class,
 *     else by spec.priority 5000..5999 and 3000..3999;
 *   - says so (label koordinator.sh/qosClass=BE, or the legacy annotation
 *     alibabacloud.com/qosClass=BE) and is not koord-prod or koord-mid (9000..9999, 7000..7999);
 *   - is BestEffort by Kubernetes' own rule and says nothing of these. A pod of kube-system, or
 *     with a priority from 1000000000 on, is not low by this alone.
 *
 * Profile koordinator has its upstream's rule to the letter: there kube-proxy without a label
 * is batch.
 */
#ifndef SLUICE_OVERCOMMIT_TIER_H
#define SLUICE_OVERCOMMIT_TIER_H

#include <stdbool.h>
#include <stdint.h>

enum profile { PROFILE_ACK, PROFILE_KOORDINATOR };

enum tier {
	TIER_HIGH,
	TIER_HIGH_EXCLUSIVE, /* QoS LSE: its cpu counts as requested, whatever it uses */
	TIER_LOW,
};

enum pod_qos { POD_GUARANTEED, POD_BURSTABLE, POD_BEST_EFFORT }; /* Kubernetes' own */

struct tier_facts {		    /* of one pod; strings may be NULL: absent */
	const char *qos_label;	    /* koordinator.sh/qosClass, else the legacy annotation */
	const char *priority_label; /* koordinator.sh/priority-class */
	bool has_priority;
	int32_t priority; /* spec.priority */
	enum pod_qos qos;
	bool asks_for_lent; /* for batch-cpu, gocran.io and the like, or the legacy names */
	bool in_kube_system;
};

enum tier tier_of(enum profile profile, const struct tier_facts *f);

#endif
