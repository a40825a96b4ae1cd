/*
 * Steps: the writes that lead a pod's cgroups from what they say to what they are to say, in an
 * order that no kernel refuses.
 *
 * cgroup v1 refuses a quota below a child's, and a child's above its parent's (EINVAL), and a
 * memory limit below what is used (EBUSY). So quotas fall in containers first, and rise in the pod
 * first. v2 needs no order, and gets the same one. A container that is to have more than its pod has
 * no quota of its own (LIMIT_NONE): its pod's is what counts, and no kernel minds.
 *
 * memory.max below what is used would be met by the kernel with a kill: there memory.high goes
 * first, and memory.max follows once use is below it, or once `patience` is over. v1 is lowered to
 * what is used and a little more, further with each tick. Nothing is set to more than 64 MiB below
 * what is used in one tick, for whoever writes it has to wait until the kernel has freed the rest.
 *
 * Values that differ by nothing are no step. The caller ends a pod's list at the first refusal, and
 * makes a new one at its next tick: steps are made of what files say, not of what was written. What
 * a kernel may refuse because use has grown comes last: memory.
 */
#ifndef SLUICE_NODE_STEPS_H
#define SLUICE_NODE_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node/limits.h"

enum knob_kind { KNOB_QUOTA, KNOB_WEIGHT, KNOB_MEMORY, KNOB_HIGH, KNOB_KINDS };

enum { STEP_POD = -1 }; /* the pod's own cgroup */
enum { STEP_MEMORY_MOST = 64 << 20, STEP_MEMORY_SLACK = 1 << 20 };

struct step {
	int cgroup; /* STEP_POD, or the index of a container */
	enum knob_kind knob;
	int64_t value; /* LIMIT_NONE: no limit */
};

/* A cgroup: what its files say now, and what they are to say. */
struct step_cgroup {
	struct cgroup_limits now, want;
	int64_t memory_used; /* -1: not known, and memory is not lowered */
	int64_t period_us;   /* of both quotas; 0: PERIOD_US */
};

struct step_pod {
	struct step_cgroup pod;
	const struct step_cgroup *containers;
	size_t ncontainers;
	bool patience; /* memory.max is not written below what is used yet */
};

/* Gives the most steps that a pod with so many containers can need. */
size_t steps_max(size_t ncontainers);
/* Writes the steps in their order, and returns how many; ret_steps has room for steps_max(). v is of
 * the hierarchy of memory. */
size_t steps_make(const struct step_pod *p, enum cgroup_version v, struct step *ret_steps);

#endif
