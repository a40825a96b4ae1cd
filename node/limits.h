/*
 * Limits: what the cgroup of a lent pod, or of a container of it, is to say. A pod on lent
 * resources is BestEffort to its kubelet, which gives it all idle cpu and all memory; here it gets
 * what it asked for. Limits equal requests for these names by Kubernetes' own rule.
 *
 *     quota    max(1000 us, asked x period / 1000)     the least that a kernel takes
 *     weight   v2 clamp(milli / 10, 1, 10000), v1 shares max(2, milli x 1024 / 1000): 1 core is 100
 *     memory   as asked, in whole pages of the largest size that a kernel has
 *
 * So a file says what was written into it, on every kernel.
 *
 * Source: Koordinator's batchresource hook, and the kernel's bounds. Unlike there a container that
 * asks for nothing shares what its pod asked for, where Koordinator takes every limit off the pod.
 */
#ifndef SLUICE_NODE_LIMITS_H
#define SLUICE_NODE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "overcommit/load.h"

enum cgroup_version { CGROUP_V1 = 1, CGROUP_V2 = 2 };

enum { LIMIT_NONE = -1, QUOTA_LEAST_US = 1000, PERIOD_US = 100000, PAGE_BYTES_MOST = 64 << 10 };

/* What files say, or are to say. LIMIT_NONE: no limit ("max", -1, or v1's page counter maximum). */
struct cgroup_limits {
	int64_t quota_us;     /* in each period */
	int64_t weight;	      /* cpu.weight, or cpu.shares; LIMIT_NONE: left as it is */
	int64_t memory_bytes; /* memory.max, or memory.limit_in_bytes */
	int64_t high_bytes;   /* memory.high; LIMIT_NONE on v1 */
};

/* Whether a limit is above another; LIMIT_NONE is above all, and not above itself. */
static inline bool limit_is_above(int64_t a, int64_t b)
{
	return b >= 0 && (a < 0 || a > b);
}

/* Gives the weight with which a kubelet makes the cgroups of best-effort pods. */
static inline int64_t limits_weight_least(enum cgroup_version v)
{
	return v == CGROUP_V2 ? 1 : 2;
}

/* Gives what a cgroup is to say for what was asked; no memory.high. period_us: as found there. */
struct cgroup_limits limits_of(struct load asked, enum cgroup_version v, int64_t period_us);

/* Gives a quota for thousandths of a core; LIMIT_NONE for LIMIT_NONE. */
int64_t limits_quota_us(int64_t cpu_milli, int64_t period_us);
/* Gives the thousandths of a core of a quota, rounded down; LIMIT_NONE for LIMIT_NONE. */
int64_t limits_quota_milli(int64_t quota_us, int64_t period_us);
/* Gives bytes in whole pages, at least one, rounded down; LIMIT_NONE for LIMIT_NONE. */
int64_t limits_pages(int64_t bytes);

#endif
