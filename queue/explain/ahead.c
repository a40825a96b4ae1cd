#include "queue/explain/ahead.h"

#include <stdlib.h>

#include "base/mem.h"
#include "queue/admit/assign.h"
#include "queue/admit/precedence.h"
#include "queue/admit/shortage.h"
#include "queue/explain/explain_time.h"
#include "queue/model/group.h"
#include "queue/model/usage.h"

enum {
	GROUPS_MAX = 1000
}; /* of more than so many none is looked at, so that an answer stays cheap */

/* When its Jobs may start. A Job counts none that is later than itself. */
enum lateness { LATE_NOT, LATE_KEPT, LATE_NEVER };

/* The groups of a ClusterQueue that are LATE_KEPT or LATE_NEVER. Kept until a call changes the queue, for
 * lists ask about each Job; one block, which the ClusterQueue frees. */
struct late_groups {
	uint64_t as_of;
	size_t n;
	struct late {
		enum lateness lateness;
		const struct group *group;
	} each[];
};

bool ahead_exceeds(const struct clusterqueue *cq, const struct claim *c, bool open)
{
	return assign_plainly(cq, c) == ASSIGN_EXCEEDS && !shortage_may_end(cq, c) &&
	       (open || !explain_has_sets(cq)); /* windows have quotas of their own */
}

static bool can_never_start(const struct group *g)
{
	return g->claim.nowhere || assign_plainly(g->cq, &g->claim) <= ASSIGN_NO_FLAVOR ||
	       ahead_exceeds(g->cq, &g->claim, g->parting.window_state->open);
}

static enum lateness lateness_of(const struct queue *q, const struct group *g)
{
	if (can_never_start(g))
		return LATE_NEVER;
	return rules_group_may(q, g).answer == ANSWER_NO ? LATE_KEPT : LATE_NOT;
}

/* ---- the groups that are late ---------------------------------------------------------------- */

static size_t count_groups(const struct clusterqueue *cq)
{
	size_t n = tree_count(&cq->groups_waiting);
	list_each(&cq->localqueues, l)
		n += tree_count(
			&container_of(l, struct localqueue, of_clusterqueue)->groups_waiting);
	return n;
}

static void take_late(const struct queue *q, const struct tree *groups, struct late_groups *ret)
{
	for (struct tree_node *i = tree_first(groups); i; i = tree_next(i)) {
		const struct group *g = container_of(i, struct group, node);
		enum lateness lateness = lateness_of(q, g);
		if (lateness != LATE_NOT)
			ret->each[ret->n++] = (struct late){lateness, g};
	}
}

static const struct late_groups *late_groups_of(const struct queue *q, struct clusterqueue *cq)
{
	if (cq->late_groups && cq->late_groups->as_of == q->counters.calls)
		return cq->late_groups;
	size_t n = count_groups(cq);
	n = n <= GROUPS_MAX ? n : 0;
	free(cq->late_groups);
	struct late_groups *all = mem_alloc(sizeof(*all) + n * sizeof(all->each[0]));
	*all = (struct late_groups){.as_of = q->counters.calls};
	cq->late_groups = all;
	if (n == 0)
		return all;
	take_late(q, &cq->groups_waiting, all);
	list_each(&cq->localqueues, l)
		take_late(q, &container_of(l, struct localqueue, of_clusterqueue)->groups_waiting,
			all);
	return all;
}

/* ---- the figure ------------------------------------------------------------------------------ */

/* How many Jobs of g stand before w? */
static size_t count_before(const struct queue *q, const struct group *g, const struct workload *w)
{
	const struct localqueue *mine = w->group->lq;
	if (g->lq != mine) {
		double a = usage_of(q, g->lq, q->now_ms), b = usage_of(q, mine, q->now_ms);
		if (a != b)
			return a < b ? tree_count(&g->waiting) : 0;
	}
	return tree_before(&g->waiting, &w->in_group);
}

size_t ahead_of(const struct queue *q, const struct workload *w)
{
	if (w->place != PLACE_READY)
		return 0;
	const struct late_groups *all = late_groups_of(q, w->group->cq);
	size_t rank = precedence_rank(q, w);
	if (all->n == 0)
		return rank;
	enum lateness own = lateness_of(q, w->group);
	for (size_t i = 0; i < all->n; i++)
		if (all->each[i].lateness > own)
			rank -= count_before(q, all->each[i].group, w);
	return rank;
}
