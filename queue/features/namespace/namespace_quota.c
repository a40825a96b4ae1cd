#include "queue/features/namespace/namespace_quota.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/cluster/pod.h"
#include "queue/job/placement.h"
#include "queue/job/resources.h"
#include "queue/core/model/state.h"
#include "queue/requests/lending.h"
#include "queue/core/model/reservation.h"
#include "sluice/quantity.h"
#include "queue/core/model/tell.h"

#define UNKNOWN INT64_MIN /* left, where the status has no count */

void namespace_quotas_init(struct namespace_quotas *n)
{
	list_init(&n->all);
	list_init(&n->stale);
	n->flight = quota_flight_new();
}

/* ---- One quota ---- */

static void held_free(struct held_quota *h)
{
	arena_done(&h->memory);
	free(h);
}

static const struct quota_scope_term *copy_scopes(
	struct arena *a, const struct quota_scope_term *from, size_t n)
{
	struct quota_scope_term *all = arena_take(a, n, sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		all[i] = from[i];
		all[i].values = names_copy(a, from[i].values, from[i].nvalues);
	}
	return all;
}

static struct held_quota *held_new(const struct resource_quota *from)
{
	struct held_quota *h = mem_alloc(sizeof(*h));
	struct arena *a = &h->memory;
	h->quota = *from;
	h->quota.ns = arena_string(a, from->ns);
	h->quota.name = arena_string(a, from->name);
	h->quota.hard = copy_resource_list(a, &from->hard);
	h->quota.used = copy_resource_list(a, &from->used);
	h->quota.scopes = copy_scopes(a, from->scopes, from->nscopes);
	h->left = arena_take(a, from->hard.count, sizeof(*h->left));
	return h;
}

static bool scope_same(const struct quota_scope_term *a, const struct quota_scope_term *b)
{
	return a->scope == b->scope && a->op == b->op &&
	       names_same(a->values, a->nvalues, b->values, b->nvalues);
}

/* Returns whether both have the same limits in the same order, on the same pods. */
static bool limits_same(const struct resource_quota *a, const struct resource_quota *b)
{
	if (a->hard.count != b->hard.count || a->nscopes != b->nscopes)
		return false;
	for (size_t i = 0; i < a->hard.count; i++)
		if (strcmp(a->hard.item[i].name, b->hard.item[i].name) != 0 ||
			a->hard.item[i].amount != b->hard.item[i].amount)
			return false;
	for (size_t i = 0; i < a->nscopes; i++)
		if (!scope_same(&a->scopes[i], &b->scopes[i]))
			return false;
	return true;
}

/* ---- What is left ---- */

static int64_t left_of(const struct resource_quota *q, size_t i, int64_t reserved)
{
	const struct resource *hard = &q->hard.item[i];
	const struct resource *used = resources_find(&q->used, hard->name);
	if (!used)
		return UNKNOWN;
	return hard->amount - quantity_add(used->amount, reserved);
}

/* How what is left has changed. */
struct shift {
	bool more, less;
};

static void held_count(const struct namespace_quotas *all, struct held_quota *h, struct shift *ret)
{
	int64_t *reserved = mem_array(h->quota.hard.count, sizeof(*reserved));
	quota_flight_reserved(all->flight, &h->quota, reserved);
	for (size_t i = 0; i < h->quota.hard.count; i++) {
		int64_t left = left_of(&h->quota, i, reserved[i]);
		ret->more = ret->more || left > h->left[i];
		ret->less = ret->less || left < h->left[i];
		h->left[i] = left;
	}
	free(reserved);
}

/* Queues in which a Job may start now, or a Job is refused now that stood before others. */
static void touch_queues(struct queue *q, const struct namespace_quota *n, struct shift s)
{
	list_each_entry(&n->ns->localqueues, const struct localqueue, lq, of_namespace) {
		if (!lq->cq || lq->nwaiting == 0)
			continue;
		if (lq->cq->spec.strategy != BEST_EFFORT_FIFO)
			queue_touch_tree_of(q, lq->cq);
		else if (s.more)
			queue_touch_queue(q, lq->cq);
	}
}

/* Answers that depend on the limits alone are asked anew, without waiting for a pass. */
static void note_limits(struct queue *q, struct namespace_quota *n)
{
	if (n->others)
		n->limits = ++q->namespace_quotas->moves;
}

static void namespace_quota_move(struct queue *q, struct namespace_quota *n, struct shift s)
{
	n->moved = ++q->namespace_quotas->moves;
	if (q->namespace_quotas->known)
		touch_queues(q, n, s);
	q->counters.version++;
}

static void namespace_quota_refresh(struct queue *q, struct namespace_quota *n)
{
	struct shift s = {n->others, n->others};
	list_leave(&n->of_stale);
	n->others = false;
	for (size_t i = 0; i < n->n; i++)
		held_count(q->namespace_quotas, n->held[i], &s);
	if (s.more || s.less)
		namespace_quota_move(q, n, s);
}

void namespace_quotas_refresh(struct queue *q)
{
	while (!list_empty(&q->namespace_quotas->stale))
		namespace_quota_refresh(q, container_of(q->namespace_quotas->stale.next,
						   struct namespace_quota, of_stale));
}

/* Within a pass at once, for the Jobs that come next. */
static void namespace_quota_stale(struct queue *q, struct namespace_quota *n)
{
	if (!list_in(&n->of_stale))
		list_add(&q->namespace_quotas->stale, &n->of_stale);
	if (q->deciding)
		namespace_quota_refresh(q, n);
}

static void move_all(struct queue *q)
{
	list_each_entry(&q->namespace_quotas->all, struct namespace_quota, n, of_all) {
		n->limits = ++q->namespace_quotas->moves;
		namespace_quota_move(q, n, (struct shift){true, true});
	}
}

void namespace_quotas_know(struct queue *q)
{
	q->namespace_quotas->known = true;
	features_edited(q);
	move_all(q);
}

/* ---- A namespace ---- */

static void each_workload(
	struct queue *q, const struct nspace *ns, void (*does)(struct queue *q, struct workload *w))
{
	list_each_entry(&ns->localqueues, struct localqueue, lq, of_namespace)
		list_each_entry(&lq->members, struct workload, w, of_localqueue)
			does(q, w);
}

static void enter_flight(struct queue *q, struct workload *w)
{
	if (w->reservation || w->promise)
		namespace_quota_run(q, w->reservation ? w->reservation : w->promise);
}

static void leave_flight(struct queue *q, struct workload *w)
{
	quota_flight_drop(q->namespace_quotas->flight, &w->key.uid);
}

/* Quotas may come before anything else of a namespace. */
static struct namespace_quota *namespace_quota_of(struct queue *q, const char *name)
{
	struct nspace *ns = namespace_of(&q->localqueues, name);
	if (ns->quota)
		return ns->quota;
	struct namespace_quota *n = mem_alloc(sizeof(*n));
	n->ns = ns;
	n->moved = n->limits = ++q->namespace_quotas->moves;
	ns->quota = n;
	feature_wakes(q, &namespace_quota_feature);
	features_edited(q);
	ns->refs++;
	list_add(&q->namespace_quotas->all, &n->of_all);
	each_workload(q, ns, enter_flight);
	return n;
}

/* Waiting Jobs move to other groups when in_all begins or ceases to count. */
static void regroup(struct queue *q, struct namespace_quota *n)
{
	bool keeps = false;
	for (size_t i = 0; i < n->n; i++)
		keeps = keeps || resources_find(&n->held[i]->quota.hard, "count/pods");
	if (keeps == n->keeps)
		return;
	n->keeps = keeps;
	each_workload(q, n->ns, workload_replace);
}

static void namespace_quota_free(struct queue *q, struct namespace_quota *n)
{
	struct nspace *ns = n->ns;
	must(n->n == 0);
	each_workload(q, ns, leave_flight);
	if (q->namespace_quotas->known)
		touch_queues(q, n, (struct shift){true, true});
	list_leave(&n->of_stale);
	list_leave(&n->of_all);
	ns->quota = NULL;
	features_edited(q);
	ns->refs--;
	free(n->held);
	free(n);
	namespace_tidy(&q->localqueues, ns);
}

/* Returns the index of the quota of that name, or where it would be inserted. */
static size_t place_of(const struct namespace_quota *n, const char *name)
{
	size_t i = 0;
	while (i < n->n && strcmp(n->held[i]->quota.name, name) < 0)
		i++;
	return i;
}

static bool is_at(const struct namespace_quota *n, size_t i, const char *name)
{
	return i < n->n && strcmp(n->held[i]->quota.name, name) == 0;
}

static void insert(struct namespace_quota *n, size_t at, struct held_quota *h)
{
	n->held = mem_grow(n->held, n->n + 1, sizeof(struct held_quota *));
	memmove(n->held + at + 1, n->held + at, (n->n - at) * sizeof(struct held_quota *));
	n->held[at] = h;
	n->n++;
	n->others = true;
}

static void take_out(struct namespace_quota *n, size_t at)
{
	held_free(n->held[at]);
	n->n--;
	memmove(n->held + at, n->held + at + 1, (n->n - at) * sizeof(struct held_quota *));
	n->others = true;
}

static void replace(struct namespace_quota *n, size_t at, struct held_quota *h)
{
	struct held_quota *old = n->held[at];
	n->others = n->others || !limits_same(&old->quota, &h->quota);
	for (size_t i = 0; i < h->quota.hard.count && !n->others; i++)
		h->left[i] = old->left[i];
	n->held[at] = h;
	held_free(old);
}

void queue_set_resource_quota(struct queue *q, const struct resource_quota *s)
{
	queue_tell(q, SET_RESOURCE_QUOTA, .resource_quota = s);
	struct namespace_quota *n = namespace_quota_of(q, s->ns);
	size_t at = place_of(n, s->name);
	if (is_at(n, at, s->name))
		replace(n, at, held_new(s));
	else
		insert(n, at, held_new(s));
	note_limits(q, n);
	regroup(q, n);
	namespace_quota_stale(q, n);
}

void queue_drop_resource_quota(struct queue *q, const char *ns, const char *name)
{
	queue_tell(q, DROP_RESOURCE_QUOTA, .ns = ns, .name = name);
	const struct nspace *space = namespace_find(&q->localqueues, ns);
	struct namespace_quota *n = space ? space->quota : NULL;
	size_t at = n ? place_of(n, name) : 0;
	if (!n || !is_at(n, at, name))
		return;
	take_out(n, at);
	note_limits(q, n);
	regroup(q, n);
	if (n->n == 0)
		namespace_quota_free(q, n);
	else
		namespace_quota_stale(q, n);
	q->counters.version++;
}

/* Marks only namespaces with pods in flight. */
void queue_saw_quotas(struct queue *q, const char *ns, int64_t version)
{
	queue_tell(q, SAW_QUOTAS, .ns = ns, .version = version);
	int64_t behind;
	list_each_entry(&q->namespace_quotas->all, struct namespace_quota, n, of_all) {
		if ((ns && strcmp(n->ns->name, ns) != 0) || list_in(&n->of_stale) ||
			!quota_flight_behind(q->namespace_quotas->flight, n->ns->name, &behind))
			continue;
		list_add(&q->namespace_quotas->stale, &n->of_stale);
	}
	quota_flight_seen(q->namespace_quotas->flight, ns, version);
}

static bool anybody_waits(const struct nspace *ns)
{
	list_each_entry(&ns->localqueues, const struct localqueue, lq, of_namespace)
		if (lq->nwaiting > 0)
			return true;
	return false;
}

bool queue_quotas_behind(
	const struct queue *q, size_t index, const char **ret_ns, int64_t *ret_version)
{
	list_each_entry(&q->namespace_quotas->all, const struct namespace_quota, n, of_all) {
		const struct nspace *ns = n->ns;
		int64_t version;
		if (!anybody_waits(ns) ||
			!quota_flight_behind(q->namespace_quotas->flight, ns->name, &version) ||
			index-- > 0)
			continue;
		*ret_ns = ns->name;
		*ret_version = version;
		return true;
	}
	return false;
}

void namespace_quotas_done(struct queue *q)
{
	struct namespace_quotas *all = q->namespace_quotas;
	while (!list_empty(&all->all)) {
		struct namespace_quota *n =
			container_of(all->all.next, struct namespace_quota, of_all);
		while (n->n > 0)
			take_out(n, n->n - 1);
		namespace_quota_free(q, n);
	}
	quota_flight_free(all->flight);
	free(all->default_class);
}

/* ---- The default PriorityClass ---- */

static bool text_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

void namespace_quotas_heed_default(struct queue *q)
{
	const char *name = priority_default_name(&q->priorities);
	if (text_same(name, q->namespace_quotas->default_class))
		return;
	free(q->namespace_quotas->default_class);
	q->namespace_quotas->default_class = mem_strdup(name);
	list_each_entry(&q->namespace_quotas->all, const struct namespace_quota, n, of_all)
		each_workload(q, n->ns, enter_flight);
	move_all(q);
}

/* ---- In flight ---- */

struct pod namespace_quota_pod(
	const struct queue *q, struct arena *a, const struct pod_template *t, enum lending lending)
{
	struct pod p = *t->pod;
	if (!*p.priority_class && q->namespace_quotas->default_class)
		p.priority_class = q->namespace_quotas->default_class;
	lending_rename(a, lending, &p.resources);
	return p;
}

static int32_t in_all(const struct workload *w, const struct progress *p)
{
	const struct namespace_quota *n = w->lq->ns->quota;
	return n && n->keeps && w->shape->template && p->left > 0 ? p->left : 0;
}

int32_t namespace_quota_in_all(const struct workload *w)
{
	return in_all(w, &w->progress);
}

void namespace_quota_see(
	struct queue *q, struct workload *w, const struct job *j, const struct progress *was)
{
	(void)j;
	if (w->reservation)
		namespace_quota_run(q, w->reservation);
	else if (w->group && in_all(w, &w->progress) != in_all(w, was))
		workload_replace(q, w);
}

/* For a moment a pod that ended may be in no count of the Job's status. So `made` never falls. And
 * a work queue of which a pod has succeeded asks for no more, but has those that run yet. */
static struct quota_run run_of(struct reservation *r)
{
	const struct workload *w = r->w;
	const struct progress *p = &w->progress;
	int32_t at_once = reservation_pods_at_once(r);
	if (at_once < p->active)
		at_once = p->active;
	int32_t to_come = (p->left >= 0 ? p->left : at_once) - p->active;
	if (p->active + p->ended > r->made)
		r->made = p->active + p->ended;
	return (struct quota_run){.uid = w->key.uid,
		.pods = {at_once, r->made + (to_come > 0 ? to_come : 0)},
		.made = r->made,
		.ended = r->made - p->active,
		.version = p->version};
}

void namespace_quota_run(struct queue *q, struct reservation *r)
{
	struct namespace_quota *n = r->lq->ns->quota;
	if (!n || !r->shape->template)
		return;
	struct arena scratch = {0};
	struct pod p =
		namespace_quota_pod(q, &scratch, r->shape->template, reservation_lending(q, r));
	struct quota_run run = run_of(r);
	run.pod = &p;
	quota_flight_set(q->namespace_quotas->flight, &run);
	arena_done(&scratch);
	namespace_quota_stale(q, n);
}

void namespace_quota_run_over(struct queue *q, struct reservation *r)
{
	struct namespace_quota *n = r->lq->ns->quota;
	if (!n)
		return;
	quota_flight_drop(q->namespace_quotas->flight, &r->w->key.uid);
	namespace_quota_stale(q, n);
}
