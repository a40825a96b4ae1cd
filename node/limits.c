#include "node/limits.h"

#include "base/order.h"

/* The kernel keeps a quota in 44 bits of microseconds, and cpu.shares and cpu.weight below these. */
static const int64_t QUOTA_MOST_US = (INT64_C(1) << 44) - 1;
enum { SHARES_MOST = 262144, WEIGHT_MOST = 10000 };

static int64_t clamp(int64_t n, int64_t min, int64_t max)
{
	return greater(min, least(n, max));
}

int64_t limits_quota_us(int64_t cpu_milli, int64_t period_us)
{
	if (cpu_milli < 0)
		return LIMIT_NONE;
	__int128 quota = (__int128)cpu_milli * (period_us > 0 ? period_us : PERIOD_US) / 1000;
	return clamp(saturated(quota), QUOTA_LEAST_US, QUOTA_MOST_US);
}

int64_t limits_quota_milli(int64_t quota_us, int64_t period_us)
{
	if (quota_us < 0)
		return LIMIT_NONE;
	return saturated((__int128)quota_us * 1000 / (period_us > 0 ? period_us : PERIOD_US));
}

int64_t limits_pages(int64_t bytes)
{
	return bytes < 0 ? LIMIT_NONE : greater(bytes / PAGE_BYTES_MOST, 1) * PAGE_BYTES_MOST;
}

static int64_t weight_of(int64_t cpu_milli, enum cgroup_version v)
{
	int64_t least_weight = limits_weight_least(v);
	if (v == CGROUP_V1)
		return clamp(
			saturated((__int128)cpu_milli * 1024 / 1000), least_weight, SHARES_MOST);
	return clamp(cpu_milli / 10, least_weight, WEIGHT_MOST);
}

struct cgroup_limits limits_of(struct load asked, enum cgroup_version v, int64_t period_us)
{
	struct cgroup_limits l = {LIMIT_NONE, LIMIT_NONE, LIMIT_NONE, LIMIT_NONE};
	if (asked.cpu_milli > 0) {
		l.quota_us = limits_quota_us(asked.cpu_milli, period_us);
		l.weight = weight_of(asked.cpu_milli, v);
	}
	if (asked.memory_bytes > 0)
		l.memory_bytes = limits_pages(asked.memory_bytes);
	return l;
}
