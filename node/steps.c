#include "node/steps.h"

#include "base/order.h"

/* A list on its way. */
struct list {
	const struct step_pod *p;
	enum cgroup_version v;
	struct step *steps;
	size_t n;
};

static const struct step_cgroup *cgroup(const struct step_pod *p, int i)
{
	return i == STEP_POD ? &p->pod : &p->containers[i];
}

static void put(struct list *l, int i, enum knob_kind knob, int64_t now, int64_t value)
{
	if (now != value)
		l->steps[l->n++] = (struct step){i, knob, value};
}

/* ---- cpu ------------------------------------------------------------------------------------- */

static int64_t period(const struct step_cgroup *c)
{
	return c->period_us > 0 ? c->period_us : PERIOD_US;
}

/* Tells whether a quota of a container is more than one of its pod. */
static bool exceeds(const struct step_cgroup *c, int64_t quota, const struct step_cgroup *pod,
	int64_t pod_quota)
{
	if (quota < 0 || pod_quota < 0)
		return limit_is_above(quota, pod_quota);
	return (__int128)quota * period(pod) > (__int128)pod_quota * period(c);
}

static int64_t quota_wanted(const struct step_pod *p, const struct step_cgroup *c)
{
	bool useless = exceeds(c, c->want.quota_us, &p->pod, p->pod.want.quota_us);
	return useless ? LIMIT_NONE : c->want.quota_us;
}

/* Tells whether a container's quota is written before its pod's: it would hinder the pod's fall, or
 * falls itself and fits into what the pod has. */
static bool goes_first(const struct step_pod *p, const struct step_cgroup *c)
{
	int64_t now = c->now.quota_us, want = quota_wanted(p, c);
	bool hinders = now >= 0 && exceeds(c, now, &p->pod, p->pod.want.quota_us);
	return hinders ||
	       (limit_is_above(now, want) && !exceeds(c, want, &p->pod, p->pod.now.quota_us));
}

static void put_containers(struct list *l, bool first)
{
	for (size_t i = 0; i < l->p->ncontainers; i++) {
		const struct step_cgroup *c = &l->p->containers[i];
		if (goes_first(l->p, c) == first)
			put(l, (int)i, KNOB_QUOTA, c->now.quota_us, quota_wanted(l->p, c));
	}
}

static void put_cpu(struct list *l)
{
	const struct step_cgroup *pod = &l->p->pod;
	put_containers(l, true);
	put(l, STEP_POD, KNOB_QUOTA, pod->now.quota_us, pod->want.quota_us);
	put_containers(l, false);
	for (int i = STEP_POD; i < (int)l->p->ncontainers; i++) {
		const struct step_cgroup *c = cgroup(l->p, i);
		if (c->want.weight >= 0)
			put(l, i, KNOB_WEIGHT, c->now.weight, c->want.weight);
	}
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Gives how far a limit falls in one tick: not so far that the kernel reclaims for long. */
static int64_t lowered(const struct step_cgroup *c, int64_t now, int64_t want)
{
	int64_t value = greater(want, limits_pages(c->memory_used - STEP_MEMORY_MOST));
	return limit_is_above(now, value) ? value : now;
}

static int64_t hard_limit(const struct list *l, const struct step_cgroup *c)
{
	int64_t now = c->now.memory_bytes, want = c->want.memory_bytes;
	if (!limit_is_above(now, want) || (c->memory_used >= 0 && c->memory_used <= want))
		return want;
	if (c->memory_used < 0 || (l->v == CGROUP_V2 && l->p->patience))
		return now;
	if (l->v == CGROUP_V2)
		return lowered(c, now, want);
	int64_t taken = limits_pages(c->memory_used + STEP_MEMORY_SLACK);
	return limit_is_above(now, taken) ? taken : now;
}

static int64_t soft_limit(const struct list *l, const struct step_cgroup *c)
{
	int64_t now = c->now.high_bytes, want = c->want.high_bytes;
	bool falls = limit_is_above(c->now.memory_bytes, c->want.memory_bytes);
	if (l->v == CGROUP_V1 || (c->memory_used < 0 && (falls || limit_is_above(now, want))))
		return now;
	if (falls && c->memory_used > c->want.memory_bytes &&
		limit_is_above(want, c->want.memory_bytes))
		want = c->want.memory_bytes; /* in place of the hard limit, which waits */
	return limit_is_above(now, want) ? lowered(c, now, want) : want;
}

/* Puts limits that fall, containers before the pod; or that rise, the pod before containers. */
static void put_memory(struct list *l, enum knob_kind knob, bool falling)
{
	int n = (int)l->p->ncontainers;
	for (int k = 0; k <= n; k++) {
		int i = !falling ? k - 1 : k < n ? k : STEP_POD;
		const struct step_cgroup *c = cgroup(l->p, i);
		bool high = knob == KNOB_HIGH;
		int64_t now = high ? c->now.high_bytes : c->now.memory_bytes;
		int64_t value = high ? soft_limit(l, c) : hard_limit(l, c);
		if (limit_is_above(now, value) == falling)
			put(l, i, knob, now, value);
	}
}

size_t steps_max(size_t ncontainers)
{
	return (ncontainers + 1) * KNOB_KINDS;
}

size_t steps_make(const struct step_pod *p, enum cgroup_version v, struct step *ret_steps)
{
	struct list l = {p, v, ret_steps, 0};
	put_cpu(&l);
	put_memory(&l, KNOB_HIGH, true);
	put_memory(&l, KNOB_MEMORY, true);
	put_memory(&l, KNOB_MEMORY, false);
	put_memory(&l, KNOB_HIGH, false);
	return l.n;
}
