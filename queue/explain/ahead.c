#include "queue/explain/ahead.h"

#include "base/mem.h"
#include "queue/core/model/plain_fit.h"
#include "queue/core/model/precedence.h"
#include "queue/explain/explain.h"
#include "queue/features/windows/explain_windows.h"
#include "queue/core/model/group.h"
#include "queue/core/model/usage.h"
#include "queue/features/windows/window_state.h"

enum {
	LOOKS_MAX = 1000, /* groups that are asked whether they are late */
	LATE_MAX = 64,	  /* late groups that are kept: so much an answer costs */
};

/* When its Jobs may start. A Job counts none that is later than itself. */
enum lateness { LATE_NOT, LATE_KEPT, LATE_NEVER };

/* Groups of a ClusterQueue that are LATE_KEPT or LATE_NEVER, as many as are kept, until a call
 * changes the queue: lists ask about each Job. The ClusterQueue frees it, and a group that goes
 * drops it (group_free()). */
struct late_groups {
	uint64_t as_of;
	bool whole; /* it has all of them */
	size_t looked, n;
	struct late {
		const struct group *group;
		enum lateness lateness;
		double usage; /* of its LocalQueue, where usage orders */
	} each[LATE_MAX];
};

bool ahead_exceeds(const struct clusterqueue *cq, const struct claim *c, bool open)
{
	return plain_fit(cq, c) == ASSIGN_EXCEEDS && !shortage_may_end(cq, c) &&
	       (open || !explain_has_window_quotas(cq)); /* windows have quotas of their own */
}

static bool can_never_start(const struct group *g)
{
	return g->claim.nowhere || plain_fit(g->cq, &g->claim) <= ASSIGN_NO_FLAVOR ||
	       ahead_exceeds(g->cq, &g->claim, window_state_of(g->head->lq)->open);
}

/* Once it is first none behind it starts, whatever it asks for. */
static bool blocks(const struct group *g)
{
	return g->cq->spec.strategy == STRICT_FIFO && !workload_fills_gaps(group_head(g));
}

static enum lateness lateness_of(const struct queue *q, const struct group *g)
{
	bool passed_over = g->claim.nowhere || !blocks(g);
	if (passed_over && can_never_start(g))
		return LATE_NEVER;
	return features_group_may(q, g).answer == ANSWER_NO ? LATE_KEPT : LATE_NOT;
}

/* ---- the groups that are late ---------------------------------------------------------------- */

/* 0: usage does not order. */
static double usage_at_pass(const struct queue *q, const struct group *g)
{
	return g->lq ? usage_of(q, g->lq, q->now_ms) : 0;
}

static void take_late(const struct queue *q, const struct tree *line, struct late_groups *ret)
{
	for (struct tree_node *i = tree_first(line); i; i = tree_next(i)) {
		const struct group *g = container_of(i, struct group, node);
		if (ret->n == LATE_MAX || ret->looked == LOOKS_MAX) {
			ret->whole = false;
			return;
		}
		enum lateness lateness = lateness_of(q, g);
		ret->looked++;
		if (lateness != LATE_NOT)
			ret->each[ret->n++] = (struct late){g, lateness, usage_at_pass(q, g)};
	}
}

static const struct late_groups *late_groups_of(const struct queue *q, struct clusterqueue *cq)
{
	struct late_groups *all = cq->late_groups;
	if (all && all->as_of == q->counters.calls)
		return all;
	if (!all)
		all = cq->late_groups = mem_alloc(sizeof(*all));
	all->as_of = q->counters.calls;
	all->whole = true;
	all->looked = all->n = 0;
	take_late(q, &cq->groups_waiting, all);
	list_each_entry(&cq->localqueues, const struct localqueue, lq, of_clusterqueue)
		take_late(q, &lq->groups_waiting, all);
	return all;
}

/* ---- the figure ------------------------------------------------------------------------------ */

/* How many of these stand before w, whose LocalQueue has used so much? */
static size_t count_before(const struct late *late, const struct workload *w, double usage)
{
	const struct group *g = late->group;
	if (g->lq != w->group->lq && late->usage != usage)
		return late->usage < usage ? tree_count(&g->waiting) : 0;
	bool head_first = order_cmp(&g->key, workload_standing(w)) < 0;
	return head_first ? tree_before(&g->waiting, &w->in_group) : 0;
}

static enum lateness own_lateness(
	const struct queue *q, const struct late_groups *all, const struct group *g)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->each[i].group == g)
			return all->each[i].lateness;
	return all->whole ? LATE_NOT : lateness_of(q, g);
}

size_t ahead_of(const struct queue *q, const struct workload *w, size_t rank)
{
	if (w->place != PLACE_READY)
		return 0;
	const struct late_groups *all = late_groups_of(q, w->group->cq);
	if (all->n == 0)
		return rank;
	enum lateness own = own_lateness(q, all, w->group);
	double usage = usage_at_pass(q, w->group);
	for (size_t i = 0; i < all->n; i++)
		if (all->each[i].lateness > own)
			rank -= count_before(&all->each[i], w, usage);
	return rank;
}

/* ---- nice ------------------------------------------------------------------------------------ */

#define NAME_SHOWN 100

static void add_passed(
	const struct workload *w, struct text *t, const char *side, uint32_t n, const char *other)
{
	if (n == 0)
		return;
	text_add(t, "; %s %s of %s", side, count_words(n, "Job").s,
		cut_words(w->user->name, NAME_SHOWN).s);
	if (nice_of(w) != 0)
		text_add(t, " by its sluice.dev/nice %d", nice_of(w));
	else
		text_add(t, " by %s sluice.dev/nice, which is %s", n == 1 ? "its" : "their", other);
}

static void add_beyond(const struct workload *w, struct text *t)
{
	text_add(t,
		"; its sluice.dev/nice %d is not heeded yet: %s has more than %d Jobs in line in LocalQueue %s/%s, and orders the first %d",
		nice_of(w), cut_words(w->user->name, NAME_SHOWN).s, NICE_DEALT_MAX, w->lq->ns->name,
		w->lq->name, NICE_DEALT_MAX);
}

/* Adds why the nice of the Job is not heeded. False: it is. */
static bool is_unheeded(const struct workload *w, struct text *t)
{
	if (!user_is_known(w->user))
		text_add(t,
			"; its sluice.dev/nice %d is not heeded, because it is not known who submitted it",
			nice_of(w));
	else if (w->place == PLACE_READY && w->key.due_ms != 0)
		text_add(t,
			"; its sluice.dev/nice %d is not heeded any more, because its latest start has come",
			nice_of(w));
	else if (w->place == PLACE_READY && nice_is_beyond(w))
		add_beyond(w, t);
	else
		return false;
	return true;
}

void explain_nice(const struct workload *w, struct text *t)
{
	if (!w->nice || (nice_of(w) != 0 && is_unheeded(w, t)) || w->place != PLACE_READY ||
		!user_is_known(w->user))
		return;
	nices_count(w->user);
	add_passed(w, t, "before", w->nice->before, "higher");
	add_passed(w, t, "behind", w->nice->behind, "lower");
}
