/*
 * The division of cpu: what lent pods may have together (node/suppress.h), and what each of them gets
 * (node/share_out.h). A pod's share is for lent_pod_settle() to write.
 */
#ifndef SLUICE_AGENT_CPU_DIVISION_H
#define SLUICE_AGENT_CPU_DIVISION_H

#include "agent/usage.h"
#include "node/suppress.h"

struct cpu_division {
	struct suppress suppress;
	int64_t may_milli; /* what lent pods may have together; -1: not divided */
};

/* Begins with the quotas that were found in the pods. */
void cpu_division_begin(struct cpu_division *d, const struct lent_pods *pods);
/* Decides what lent pods may have together, by what was used since the tick before. */
void cpu_division_look(struct cpu_division *d, const struct lent_pods *pods, const struct usage *u,
	int64_t now_ms);
/* Shares that out. Where it is not known yet what was found holds. Returns whether a share changed. */
bool cpu_division_share_out(const struct cpu_division *d, struct lent_pods *pods);

#endif
