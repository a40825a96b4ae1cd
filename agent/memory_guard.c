#include "agent/memory_guard.h"

#include "base/order.h"

enum {
	TELL_MS = 20,		/* from the sample on its way to the end of a pod */
	ENDED_AGAIN_MS = 10000, /* before a pod that was ended is looked at again */
	GOING_MS = 3000,	/* in which the processes of a pod that was ended may go */
	CLAMP_LEAST = 16 << 20,
};

/* ---- holding --------------------------------------------------------------------------------- */

static bool can_clamp(const struct lent_pods *pods)
{
	unsigned lacks = pods->site->lacks;
	return pods->orders->hold_percent > 0 && !(lacks & LACKS_MEMORY) &&
	       (pods->site->tree.version[HIERARCHY_MEMORY] == CGROUP_V1 || !(lacks & LACKS_HOLD));
}

/* Holds a pod at what it uses now. A pod that has only just begun gets a little more, or it would
 * never begin. */
static void clamp(const struct lent_pods *pods, struct lent_pod *p)
{
	int64_t used = p->own.now.memory_bytes;
	if (!can_clamp(pods) || p->clamp_bytes != LIMIT_NONE || used < 0)
		return;
	p->clamp_bytes = limits_pages(greater(used, CLAMP_LEAST));
	site_did(p->site, DEED_HELD, &p->uid, p->clamp_bytes);
}

static void unclamp(struct lent_pod *p)
{
	if (p->clamp_bytes == LIMIT_NONE)
		return;
	p->clamp_bytes = LIMIT_NONE;
	site_did(p->site, DEED_LIFTED, &p->uid, greater(p->own.now.memory_bytes, 0));
}

/* Goes on with the holding of an agent before this one: a clamp that it left says that pods are
 * held. They are let go only well below the mark. */
static void recall(struct memory_guard *g, const struct lent_pods *pods)
{
	each_lent_pod(pods, p)
		if (p->clamp_bytes != LIMIT_NONE && g->squeeze.level == SQUEEZE_CALM)
			g->squeeze.level = SQUEEZE_HELD;
}

void memory_guard_take_in(
	const struct memory_guard *g, const struct lent_pods *pods, struct lent_pod *p)
{
	if (g->squeeze.level != SQUEEZE_CALM)
		clamp(pods, p);
}

/* ---- ending ---------------------------------------------------------------------------------- */

/* Finds the first pod, in the order of the orders, that may be ended and has processes. */
static struct lent_pod *next_to_end(const struct lent_pods *pods, int64_t now_ms)
{
	for (size_t i = 0; i < pods->orders->npods; i++) {
		struct lent_pod *p = lent_pods_find(pods, &pods->orders->pods[i].uid);
		bool again = p && p->ended_ms > 0 && now_ms - p->ended_ms < ENDED_AGAIN_MS;
		if (p && !p->stays && !again && lent_cgroup_is_populated(&p->own))
			return p;
	}
	return NULL;
}

/* Tells whether the pod that was ended last has processes still: its memory is not free yet. */
static bool one_is_going(const struct memory_guard *g, const struct lent_pods *pods, int64_t now_ms)
{
	const struct lent_pod *p = lent_pods_find(pods, &g->doomed);
	return p && now_ms - p->ended_ms < GOING_MS && lent_cgroup_is_populated(&p->own);
}

/* Marks a pod for its end. False: one is marked or on its way, or there is none. */
static bool doom(struct memory_guard *g, struct lent_pods *pods, int64_t now_ms)
{
	if (g->doom_ms > 0 || (pods->site->lacks & LACKS_END) || one_is_going(g, pods, now_ms))
		return false;
	struct lent_pod *p = next_to_end(pods, now_ms);
	if (!p)
		return false;
	g->doomed = p->uid;
	g->doom_ms = now_ms + TELL_MS;
	site_did(p->site, DEED_ENDING, &p->uid, greater(p->own.now.memory_bytes, 0));
	return true;
}

void memory_guard_end(struct memory_guard *g, struct lent_pods *pods, int64_t now_ms)
{
	if (g->doom_ms == 0 || now_ms < g->doom_ms)
		return;
	g->doom_ms = 0;
	struct lent_pod *p = lent_pods_find(pods, &g->doomed);
	if (!p || p->stays)
		return;
	squeeze_ended(&g->squeeze, now_ms);
	p->ended_ms = now_ms;
	int code = lent_cgroup_kill(&p->own);
	if (code == 0)
		site_did(p->site, DEED_ENDED, &p->uid, greater(p->own.now.memory_bytes, 0));
	else
		site_was_refused(p->site, &p->uid, "cgroup.kill", code);
}

/* ---- the look -------------------------------------------------------------------------------- */

bool memory_guard_look(struct memory_guard *g, struct lent_pods *pods,
	const struct node_reading *node, int64_t now_ms)
{
	recall(g, pods);
	enum squeeze_level level =
		squeeze_look(&g->squeeze, pods->orders, node->total_bytes, node->available_bytes);
	each_lent_pod(pods, p) {
		if (level == SQUEEZE_CALM)
			unclamp(p);
		else
			clamp(pods, p);
	}
	return squeeze_may_end(&g->squeeze, now_ms) && doom(g, pods, now_ms);
}
