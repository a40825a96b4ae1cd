/*
 * cpu.idle on the tier: the one file above pods that an agent writes, where the orders ask for it
 * and the driver is systemd.
 *
 * A tier that is idle runs only when nothing else wants the cpu. The kernel then forgets its
 * weight, and gives it the default's when it is idle no more: so the weight of before is put back
 * with it. The kubelet's own write each minute makes the tier ordinary; a notice tells, and it is
 * made idle again.
 */
#ifndef SLUICE_AGENT_IDLE_H
#define SLUICE_AGENT_IDLE_H

#include "agent/knob.h"
#include "agent/notices.h"
#include "agent/tree.h"

struct tier_idle {
	struct knob idle, weight;
	int64_t weight_before; /* LIMIT_NONE: not known */
	bool ours;	       /* the tier is idle by us, or by an agent before */
};

/* Opens both files. False: this kernel has no cpu.idle, or there is no controller of cpu. */
bool tier_idle_open(struct tier_idle *t, const struct cgroup_tree *tree, struct notices *notices);
void tier_idle_close(struct tier_idle *t, struct notices *notices);

/* Makes the tier idle, or as it was. Writes nothing where it is so already, or where somebody else
 * writes too often. Returns 0, or the errno with which the kernel refused. */
int tier_idle_set(struct tier_idle *t, bool on, int64_t now_ms);

#endif
