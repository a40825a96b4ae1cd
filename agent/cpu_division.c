#include "agent/cpu_division.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "node/share_out.h"

/* Adds up the quotas that were found; -1: a pod has none. */
static int64_t found_milli(const struct lent_pods *pods)
{
	int64_t sum = 0;
	each_lent_pod(pods, p) {
		int64_t milli = lent_pod_quota_milli(p);
		if (p->own.asked.cpu_milli > 0 && milli == LIMIT_NONE)
			return -1;
		sum += greater(milli, 0);
	}
	return pods->count > 0 ? sum : -1;
}

void cpu_division_begin(struct cpu_division *d, const struct lent_pods *pods)
{
	suppress_begin(&d->suppress, found_milli(pods));
}

/* Gives what lent pods used together since the tick before: of one that came since, what it used
 * since it came. */
static int64_t lent_milli(const struct lent_pods *pods, const struct usage *u)
{
	struct reading from = {.at_us = u->tick.pods.at_us}, to = {.at_us = u->now.pods.at_us};
	each_lent_pod(pods, p)
		to.cpu_us += greater(reading_went_on(p->tick.cpu_us, p->own.now.cpu_us), 0);
	return reading_cpu_milli(&from, &to);
}

void cpu_division_look(
	struct cpu_division *d, const struct lent_pods *pods, const struct usage *u, int64_t now_ms)
{
	struct suppress_use use = {
		.node = node_reading_cpu_milli(&u->tick.node, &u->now.node),
		.pods = reading_cpu_milli(&u->tick.pods, &u->now.pods),
		.lent = lent_milli(pods, u),
		.npods = pods->count,
	};
	d->may_milli = suppress_tick(&d->suppress, pods->orders, &use, now_ms);
}

/* Gives what a pod used since the tick before; -1: not known, or not for long enough. */
static int64_t used_milli(const struct lent_pod *p)
{
	bool brief = p->own.now.at_us - p->tick.at_us < USAGE_BRIEF_MS * 1000;
	return brief ? -1 : reading_cpu_milli(&p->tick, &p->own.now);
}

static struct share share_of(const struct lent_pod *p)
{
	return (struct share){.uid = p->uid,
		.asked = p->own.asked.cpu_milli,
		.used = used_milli(p),
		.quota = lent_pod_quota_milli(p),
		.throttled = reading_went_on(p->tick.throttles, p->own.now.throttles) > 0};
}

bool cpu_division_share_out(const struct cpu_division *d, struct lent_pods *pods)
{
	bool changed = false;
	if (d->may_milli < 0 && pods->orders->suppress)
		return false;
	struct share *shares = mem_array(pods->count + 1, sizeof(*shares));
	size_t n = 0;
	each_lent_pod(pods, p)
		shares[n++] = share_of(p);
	share_out(shares, n, d->may_milli);
	n = 0;
	each_lent_pod(pods, p) {
		int64_t got = shares[n++].ret_milli;
		int64_t milli = got < 0 || got >= p->own.asked.cpu_milli ? LIMIT_NONE : got;
		changed |= p->share_milli != milli;
		p->share_milli = milli;
	}
	free(shares);
	return changed;
}
