#include "overcommit/tier.h"

#include <string.h>

#define NODE_CRITICAL 1000000000 /* from here on Kubernetes keeps priorities for itself */

/* What a pod says of itself; what is not understood counts as not said. */
enum priority_class { CLASS_NONE, CLASS_PROD, CLASS_MID, CLASS_BATCH, CLASS_FREE };
enum qos { QOS_NONE, QOS_SYSTEM, QOS_LSE, QOS_LSR, QOS_LS, QOS_BE };

/* Returns the place of a text among names, counted from 1; 0: none of them. */
static unsigned place(const char *text, const char *const *names, unsigned n)
{
	for (unsigned i = 0; text && i < n; i++)
		if (!strcmp(text, names[i]))
			return i + 1;
	return 0;
}

static enum qos qos_said(const struct tier_facts *f)
{
	static const char *const names[] = {"SYSTEM", "LSE", "LSR", "LS", "BE"};
	return (enum qos)place(f->qos_label, names, 5);
}

/* Returns the class that a pod says. A label decides, even if it names none. */
static enum priority_class class_said(const struct tier_facts *f)
{
	static const char *const names[] = {"koord-prod", "koord-mid", "koord-batch", "koord-free"};
	if (f->priority_label)
		return (enum priority_class)place(f->priority_label, names, 4);
	if (!f->has_priority)
		return CLASS_NONE;
	switch (f->priority / 1000) {
	case 9:
		return CLASS_PROD;
	case 7:
		return CLASS_MID;
	case 5:
		return CLASS_BATCH;
	case 3:
		return CLASS_FREE;
	default:
		return CLASS_NONE;
	}
}

/* Tells whether a pod is low by upstream's rule: by the class that it says, else by its quality of
 * service. */
static bool koordinator_low(const struct tier_facts *f)
{
	enum priority_class said = class_said(f);
	if (said != CLASS_NONE)
		return said == CLASS_BATCH || said == CLASS_FREE;
	enum qos qos = qos_said(f);
	return qos == QOS_BE || (qos == QOS_NONE && f->qos == POD_BEST_EFFORT);
}

static bool ack_low(const struct tier_facts *f)
{
	enum priority_class said = class_said(f);
	enum qos qos = qos_said(f);
	if (f->asks_for_lent || said == CLASS_BATCH || said == CLASS_FREE)
		return true;
	if (qos == QOS_BE)
		return said == CLASS_NONE;
	bool says_nothing = qos == QOS_NONE && said == CLASS_NONE;
	bool of_the_system = f->in_kube_system || (f->has_priority && f->priority >= NODE_CRITICAL);
	return f->qos == POD_BEST_EFFORT && says_nothing && !of_the_system;
}

enum tier tier_of(enum profile profile, const struct tier_facts *f)
{
	if (profile == PROFILE_KOORDINATOR ? koordinator_low(f) : ack_low(f))
		return TIER_LOW;
	return qos_said(f) == QOS_LSE ? TIER_HIGH_EXCLUSIVE : TIER_HIGH;
}
