/*
 * cpu.idle on the tier: the one file above pods that an agent writes, where the orders ask for it
 * and the driver is systemd.
 *
 * A tier that is idle runs only when nothing else wants the cpu. The kernel then forgets its
 * weight, and gives it the default's when it is idle no more: so the weight of before is put back
 * with it.
 *
 * A kubelet writes the tier's weight each minute and at each start of a pod: systemd makes the tier
 * ordinary first, for an idle one refuses a weight (EINVAL). So it is made idle again at the first
 * tick after the file has rested, and not in the call of the notice.
 */
#ifndef SLUICE_AGENT_IDLE_H
#define SLUICE_AGENT_IDLE_H

#include "agent/knob.h"
#include "agent/site.h"
#include "overcommit/cpu_idle.h"

struct tier_idle {
	struct knob idle, weight;
	int64_t weight_before; /* LIMIT_NONE: not known */
	int64_t changed_ms;    /* when anybody wrote cpu.idle last */
	bool ours;	       /* the tier is idle by us */
	int kernel_major, kernel_minor;
};

/* Opens both files. Where they are not there, or the driver would mind, the site lacks cpu.idle from
 * now on. */
void tier_idle_open(struct tier_idle *t, struct site *site);
void tier_idle_close(struct tier_idle *t, struct site *site);

/* Notes that cpu.idle was written. */
void tier_idle_changed(struct tier_idle *t, int64_t now_ms);

/* Makes the tier idle, or as it was, as the orders and the kernel want it. Writes nothing where it is
 * so already, where it was written just now, or where somebody else writes too often. A tier that
 * another program made idle stays so. False: the kernel refused. */
bool tier_idle_mind(struct tier_idle *t, struct site *site, enum cpu_idle wanted, int64_t now_ms);

#endif
