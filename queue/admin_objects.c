/* Which objects of admins decide what starts in a Cohort tree, and whether they are still the same. */
#include "base/mix.h"
#include "queue/core/model/state.h"
#include "queue/explain/view.h"
#include "queue/features/bookings/advance_reservation.h"
#include "queue/features/money/budget.h"
#include "queue/features/money/plan.h"
#include "queue/features/windows/calendar_ref.h"
#include "queue/features/windows/runpolicy.h"
#include "queue/features/windows/window_state.h"
#include "queue/features/nodes/node_suitability.h"

struct telling {
	const struct queue *q;
	uint64_t tree;
	void (*each)(uint64_t tree, const struct admin_object *o, void *ctx);
	void *ctx;
};

/* Numbers a tree by its root: a Cohort and a ClusterQueue may have the same name. */
static uint64_t tree_number(const char *name, bool is_cohort)
{
	uint64_t n = map_hash_string(name) * 2 + is_cohort;
	return n ? n : 1;
}

static uint64_t tree_of(const struct clusterqueue *cq)
{
	const struct cohort *c = cq->cohort;
	while (c && c->parent && !c->cyclic)
		c = c->parent;
	return c ? tree_number(c->object.name, true) : tree_number(cq->name, false);
}

uint64_t queue_tree_of(const struct queue *q, const char *clusterqueue)
{
	const struct clusterqueue *cq = clusterqueue_find(&q->clusterqueues, clusterqueue);
	return cq ? tree_of(cq) : 0;
}

static void tell(const struct telling *t, const char *kind, const char *name, uint64_t edition)
{
	const struct admin_object o = {kind, name, edition};
	t->each(t->tree, &o, t->ctx);
}

static void tell_cohorts(const struct telling *t, const struct cohort *c)
{
	for (; c; c = c->cyclic ? NULL : c->parent)
		if (c->exists)
			tell(t, "Cohort", c->object.name, (uint64_t)c->generation);
}

static void tell_flavors(const struct telling *t, const struct clusterqueue *cq)
{
	for (size_t g = 0; g < cq->spec.ngroups; g++)
		for (size_t f = 0; f < cq->spec.groups[g].nflavors; f++) {
			const struct flavor *flavor = cq->spec.groups[g].flavors[f];
			if (flavor->exists)
				tell(t, "ResourceFlavor", flavor->name, flavor->edits);
		}
}

static void tell_calendar(const struct telling *t, const struct calendar_ref *c)
{
	if (c && calendar_ref_exists(c))
		tell(t, "Calendar", c->object.name, (uint64_t)c->generation);
}

static void tell_policies(const struct telling *t, const struct window_state *s)
{
	for (size_t i = 0; s && i < s->npolicies; i++) {
		const struct runpolicy *p = s->policy[i];
		tell(t, "RunPolicy", p->object.name, (uint64_t)p->spec.generation);
		tell_calendar(t, p->calendar_ref);
	}
}

static void tell_plan(const struct telling *t, struct clusterqueue *cq)
{
	const struct plan *p = plan_of(view_working(t->q), cq);
	if (!p)
		return;
	tell(t, "PricePlan", p->object.name, (uint64_t)p->spec.generation);
	for (size_t i = 0; i < p->spec.nrates; i++)
		tell_calendar(t, p->rate[i].calendar_ref);
}

static void tell_budgets(const struct telling *t, const struct link *budgets)
{
	list_each_entry(budgets, const struct budget, b, of_owner)
		tell(t, "Budget", b->object.name, (uint64_t)b->spec.generation);
}

/* Tells of AdvanceReservations. Once accepted, one is another edition. */
static void tell_advance_reservations(const struct telling *t, const struct clusterqueue *cq)
{
	const struct advance_reservation *a = advance_reservation_first(t->q);
	for (; a; a = advance_reservation_next(a))
		if (advance_reservation_concerns(a, cq))
			tell(t, "AdvanceReservation", a->object.name,
				(uint64_t)a->spec.generation * 2 + a->spec.accepted);
}

static void tell_of_localqueues(const struct telling *t, const struct clusterqueue *cq)
{
	list_each_entry(&cq->localqueues, const struct localqueue, lq, of_clusterqueue) {
		tell_policies(t, lq->window_state);
		tell_budgets(t, &lq->budgets);
	}
}

static void tell_of(const struct telling *t, struct clusterqueue *cq)
{
	tell(t, "ClusterQueue", cq->name, (uint64_t)cq->generation);
	tell_cohorts(t, cq->cohort);
	tell_flavors(t, cq);
	tell_policies(t, cq->window_state);
	tell_plan(t, cq);
	tell_budgets(t, &cq->budgets);
	tell_advance_reservations(t, cq);
	tell_of_localqueues(t, cq);
}

void queue_each_admin_object(const struct queue *q,
	void (*each)(uint64_t tree, const struct admin_object *o, void *ctx), void *ctx)
{
	for (struct tree_node *n = tree_first(&q->clusterqueues.shown); n; n = tree_next(n)) {
		struct clusterqueue *cq = container_of(n, struct clusterqueue, by_name);
		const struct telling t = {q, tree_of(cq), each, ctx};
		tell_of(&t, cq);
	}
}

/* ---- When one of them was changed last --------------------------------------------------------- */

static void add_object(uint64_t tree, const struct admin_object *o, void *ctx)
{
	uint64_t object = map_hash_string(o->kind) ^ map_hash_string(o->name) * 31;
	(void)tree;
	*(uint64_t *)ctx += mix64(object ^ mix64(o->edition + 1));
}

/* Any call that changes an object makes another version, and few versions come of that: the sum
 * says whether this one does. */
static void follow_tree(struct queue *q, struct cohort_tree *tree)
{
	uint64_t sum = 0;
	const struct telling t = {q, 0, add_object, &sum};
	if (tree->edited_as_of == q->counters.version)
		return;
	tree->edited_as_of = q->counters.version;
	list_each_entry(&tree->members, struct clusterqueue, cq, of_cohort_tree)
		tell_of(&t, cq);
	if (sum != tree->admin_objects)
		tree->edited = ++q->counters.edits;
	tree->admin_objects = sum;
}

uint64_t queue_edits(const struct queue *q)
{
	struct tree_node *n = tree_first(&q->clusterqueues.shown);
	for (; n; n = tree_next(n))
		follow_tree(view_working(q),
			container_of(n, struct clusterqueue, by_name)->cohort_tree);
	return q->counters.edits;
}

uint64_t queue_job_edited(const struct queue *q, const struct uid *uid)
{
	const struct workload *w = queue_find_workload(q, uid);
	if (!w)
		return UINT64_MAX;
	uint64_t edited = w->edited > w->lq->edited ? w->edited : w->lq->edited;
	struct cohort_tree *tree = w->lq->cq ? w->lq->cq->cohort_tree : NULL;
	if (tree)
		follow_tree(view_working(q), tree);
	return tree && tree->edited > edited ? tree->edited : edited;
}

struct node_traffic queue_node_traffic(const struct queue *q)
{
	return nodes_traffic(q->node_suitability->nodes);
}
