#include "queue/rules/namespace_quota.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/cluster/pod.h"
#include "queue/job/resources.h"
#include "queue/admit/nominee.h"
#include "queue/core.h"
#include "queue/rules/lending.h"
#include "queue/model/reservation.h"
#include "sluice/quantity.h"
#include "queue/tell.h"

/* A ResourceQuota, and what is left of each hard limit, in their order. */
struct held {
	struct resource_quota quota;
	int64_t *left;
	struct arena memory;
};

struct namespace_quota {
	struct nspace *ns;
	struct link of_all, of_stale;
	struct held **held; /* in name order */
	size_t n;
	bool keeps;		/* some quota counts pods that have ended */
	bool others;		/* quotas, limits or scopes have changed since `left` was made */
	uint64_t moved, limits; /* renumbered when what is left, or a limit, has changed */
};

#define UNKNOWN INT64_MIN /* left, where the status has no count */
#define WAYS 3		  /* enum lending */

/* The answers for a template: as things are, valid at namespace_quota.moved; and if nothing were
 * used, valid at .limits. */
struct refusal {
	struct kept_answer {
		uint64_t asked;
		struct pod_count places;
	} way[WAYS], whole[WAYS];
};

void namespace_quotas_init(struct namespace_quotas *n)
{
	list_init(&n->all);
	list_init(&n->stale);
	n->flight = quota_flight_new();
}

/* ---- One quota ---- */

static void held_free(struct held *h)
{
	arena_done(&h->memory);
	free(h);
}

static const struct quota_scope_term *copy_scopes(
	struct arena *a, const struct quota_scope_term *from, size_t n)
{
	struct quota_scope_term *all = arena_take(a, n, sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		const char **values = arena_take(a, from[i].nvalues, sizeof(*values));
		for (size_t v = 0; v < from[i].nvalues; v++)
			values[v] = arena_string(a, from[i].values[v]);
		all[i] = from[i];
		all[i].values = values;
	}
	return all;
}

static struct held *held_new(const struct resource_quota *from)
{
	struct held *h = mem_alloc(sizeof(*h));
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
	if (a->scope != b->scope || a->op != b->op || a->nvalues != b->nvalues)
		return false;
	for (size_t i = 0; i < a->nvalues; i++)
		if (strcmp(a->values[i], b->values[i]) != 0)
			return false;
	return true;
}

/* The same limits in the same order, on the same pods. */
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

static void held_count(const struct namespace_quotas *all, struct held *h, struct shift *ret)
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
	list_each(&n->ns->localqueues, l) {
		const struct localqueue *lq = container_of(l, struct localqueue, of_namespace);
		if (!lq->cq || lq->nwaiting == 0)
			continue;
		if (lq->cq->spec.strategy != BEST_EFFORT_FIFO)
			queue_touch_reservation(q, lq->cq);
		else if (s.more)
			queue_touch_queue(q, lq->cq);
	}
}

/* Answers that depend on the limits alone are asked anew, without waiting for a pass. */
static void note_limits(struct queue *q, struct namespace_quota *n)
{
	if (n->others)
		n->limits = ++q->namespace_quotas.moves;
}

static void namespace_quota_move(struct queue *q, struct namespace_quota *n, struct shift s)
{
	n->moved = ++q->namespace_quotas.moves;
	if (q->namespace_quotas.known)
		touch_queues(q, n, s);
	q->counters.version++;
}

static void namespace_quota_refresh(struct queue *q, struct namespace_quota *n)
{
	struct shift s = {n->others, n->others};
	list_leave(&n->of_stale);
	n->others = false;
	for (size_t i = 0; i < n->n; i++)
		held_count(&q->namespace_quotas, n->held[i], &s);
	if (s.more || s.less)
		namespace_quota_move(q, n, s);
}

void namespace_quotas_refresh(struct queue *q)
{
	while (!list_empty(&q->namespace_quotas.stale))
		namespace_quota_refresh(q, container_of(q->namespace_quotas.stale.next,
						   struct namespace_quota, of_stale));
}

/* Within a pass at once, for the Jobs that come next. */
static void namespace_quota_stale(struct queue *q, struct namespace_quota *n)
{
	if (!list_in(&n->of_stale))
		list_add(&q->namespace_quotas.stale, &n->of_stale);
	if (q->deciding)
		namespace_quota_refresh(q, n);
}

static void move_all(struct queue *q)
{
	list_each(&q->namespace_quotas.all, l) {
		struct namespace_quota *n = container_of(l, struct namespace_quota, of_all);
		n->limits = ++q->namespace_quotas.moves;
		namespace_quota_move(q, n, (struct shift){true, true});
	}
}

void namespace_quotas_know(struct queue *q)
{
	q->namespace_quotas.known = true;
	rules_edited(q);
	move_all(q);
}

/* ---- A namespace ---- */

static void each_workload(
	struct queue *q, const struct nspace *ns, void (*does)(struct queue *q, struct workload *w))
{
	list_each(&ns->localqueues, l) {
		struct localqueue *lq = container_of(l, struct localqueue, of_namespace);
		list_each(&lq->members, m)
			does(q, container_of(m, struct workload, of_localqueue));
	}
}

static void enter_flight(struct queue *q, struct workload *w)
{
	if (w->reservation || w->promise)
		namespace_quota_run(q, w->reservation ? w->reservation : w->promise);
}

static void leave_flight(struct queue *q, struct workload *w)
{
	quota_flight_drop(q->namespace_quotas.flight, &w->key.uid);
}

/* Quotas may come before anything else of a namespace. */
static struct namespace_quota *namespace_quota_of(struct queue *q, const char *name)
{
	struct nspace *ns = namespace_of(&q->localqueues, name);
	if (ns->quota)
		return ns->quota;
	struct namespace_quota *n = mem_alloc(sizeof(*n));
	n->ns = ns;
	n->moved = n->limits = ++q->namespace_quotas.moves;
	ns->quota = n;
	rules_edited(q);
	ns->refs++;
	list_add(&q->namespace_quotas.all, &n->of_all);
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
	if (q->namespace_quotas.known)
		touch_queues(q, n, (struct shift){true, true});
	list_leave(&n->of_stale);
	list_leave(&n->of_all);
	ns->quota = NULL;
	rules_edited(q);
	ns->refs--;
	free(n->held);
	free(n);
	namespace_tidy(&q->localqueues, ns);
}

/* Its index, or where it would be inserted. */
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

static void insert(struct namespace_quota *n, size_t at, struct held *h)
{
	n->held = mem_grow(n->held, n->n + 1, sizeof(struct held *));
	memmove(n->held + at + 1, n->held + at, (n->n - at) * sizeof(struct held *));
	n->held[at] = h;
	n->n++;
	n->others = true;
}

static void take_out(struct namespace_quota *n, size_t at)
{
	held_free(n->held[at]);
	n->n--;
	memmove(n->held + at, n->held + at + 1, (n->n - at) * sizeof(struct held *));
	n->others = true;
}

static void replace(struct namespace_quota *n, size_t at, struct held *h)
{
	struct held *old = n->held[at];
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
	list_each(&q->namespace_quotas.all, l) {
		struct namespace_quota *n = container_of(l, struct namespace_quota, of_all);
		if ((ns && strcmp(n->ns->name, ns) != 0) || list_in(&n->of_stale) ||
			!quota_flight_behind(q->namespace_quotas.flight, n->ns->name, &behind))
			continue;
		list_add(&q->namespace_quotas.stale, &n->of_stale);
	}
	quota_flight_seen(q->namespace_quotas.flight, ns, version);
}

static bool anybody_waits(const struct nspace *ns)
{
	list_each(&ns->localqueues, l)
		if (container_of(l, struct localqueue, of_namespace)->nwaiting > 0)
			return true;
	return false;
}

bool queue_quotas_behind(
	const struct queue *q, size_t index, const char **ret_ns, int64_t *ret_version)
{
	list_each(&q->namespace_quotas.all, l) {
		const struct nspace *ns = container_of(l, struct namespace_quota, of_all)->ns;
		int64_t version;
		if (!anybody_waits(ns) ||
			!quota_flight_behind(q->namespace_quotas.flight, ns->name, &version) ||
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
	struct namespace_quotas *all = &q->namespace_quotas;
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
	if (text_same(name, q->namespace_quotas.default_class))
		return;
	free(q->namespace_quotas.default_class);
	q->namespace_quotas.default_class = mem_strdup(name);
	list_each(&q->namespace_quotas.all, l)
		each_workload(q, container_of(l, struct namespace_quota, of_all)->ns, enter_flight);
	move_all(q);
}

/* ---- What is asked ---- */

/* The pod as the API server will see it, if a start writes it for this kind of lending. */
static struct pod pod_of(
	const struct queue *q, struct arena *a, const struct pod_template *t, enum lending lending)
{
	struct pod p = *t->pod;
	if (!*p.priority_class && q->namespace_quotas.default_class)
		p.priority_class = q->namespace_quotas.default_class;
	lending_rename(a, lending, &p.resources);
	return p;
}

/* All quotas of the namespace, each with what is reserved now. */
static struct quota_state *states_of(
	const struct queue *q, struct arena *a, const struct namespace_quota *n)
{
	struct quota_state *all = arena_take(a, n->n, sizeof(*all));
	for (size_t i = 0; i < n->n; i++) {
		const struct resource_quota *quota = &n->held[i]->quota;
		int64_t *reserved = arena_take(a, quota->hard.count, sizeof(*reserved));
		quota_flight_reserved(q->namespace_quotas.flight, quota, reserved);
		all[i] = (struct quota_state){quota, reserved};
	}
	return all;
}

/* As if nothing were used. */
static struct quota_state *empty_states(struct arena *a, const struct namespace_quota *n)
{
	struct quota_state *all = arena_take(a, n->n, sizeof(*all));
	for (size_t i = 0; i < n->n; i++) {
		struct resource_quota *q = arena_take(a, 1, sizeof(*q));
		struct resource *used = arena_take(a, n->held[i]->quota.hard.count, sizeof(*used));
		*q = n->held[i]->quota;
		for (size_t k = 0; k < q->hard.count; k++)
			used[k].name = q->hard.item[k].name;
		q->used = (struct resource_list){used, q->hard.count};
		all[i] = (struct quota_state){q, NULL};
	}
	return all;
}

/* Of what is left now, or of the whole limits. */
static struct pod_count ask(const struct queue *q, const struct namespace_quota *n,
	const struct pod_template *t, enum lending lending, bool of_all)
{
	struct arena scratch = {0};
	struct pod p = pod_of(q, &scratch, t, lending);
	const struct quota_state *states =
		of_all ? empty_states(&scratch, n) : states_of(q, &scratch, n);
	struct pod_count places = resource_quota_room(states, n->n, &p);
	arena_done(&scratch);
	return places;
}

static struct refusal *refusal_of(struct pod_template *t)
{
	if (!t->refusal)
		t->refusal = mem_alloc(sizeof(*t->refusal));
	return t->refusal;
}

static struct pod_count room_for(const struct queue *q, const struct namespace_quota *n,
	struct pod_template *t, enum lending lending)
{
	struct kept_answer *a = &refusal_of(t)->way[lending];
	if (a->asked != n->moved)
		*a = (struct kept_answer){n->moved, ask(q, n, t, lending, false)};
	return a->places;
}

static struct pod_count whole_for(const struct queue *q, const struct namespace_quota *n,
	struct pod_template *t, enum lending lending)
{
	struct kept_answer *a = &refusal_of(t)->whole[lending];
	if (a->asked != n->limits)
		*a = (struct kept_answer){n->limits, ask(q, n, t, lending, true)};
	return a->places;
}

/* The quotas to ask for such pods; NULL: none. */
static struct namespace_quota *asks(const struct queue *q, const struct workload *w)
{
	return q->namespace_quotas.known && w->shape->template && w->shape->pods > 0
		       ? w->lq->ns->quota
		       : NULL;
}

static int32_t least(int32_t a, int32_t b)
{
	return a < b ? a : b;
}

/* How many of `pods` would be admitted. */
static int32_t admitted(struct pod_count places, const struct workload *w, int32_t pods)
{
	int32_t in_all = namespace_quota_in_all(w);
	if (in_all > places.in_all)
		return 0;
	return least(pods, in_all > 0 ? places.at_once : least(places.at_once, places.in_all));
}

/* The kinds of lending of the flavors of cq that suit, a bit each. */
static unsigned ways_of(
	const struct clusterqueue *cq, const struct claim *claim, const struct workload *w)
{
	unsigned ways = 0;
	if (lending_set(w->shape->directives->lending) == 1u << LENDING_NONE || !cq)
		return 1u << LENDING_NONE;
	for (size_t g = 0; g < cq->spec.ngroups; g++)
		for (size_t f = 0;
			claim_minds_lending(cq, claim, g) && f < cq->spec.groups[g].nflavors; f++)
			if (claim_suits(claim, g, f))
				ways |= 1u << cq->spec.groups[g].flavors[f]->lending;
	return ways ? ways : 1u << LENDING_NONE;
}

int32_t namespace_quota_pods(const struct queue *q, const struct clusterqueue *cq,
	const struct claim *claim, const struct workload *w)
{
	const struct namespace_quota *n = asks(q, w);
	int32_t most = 0;
	if (!n)
		return w->shape->pods;
	unsigned ways = ways_of(cq, claim, w);
	for (unsigned l = 0; l < WAYS; l++) {
		if (!(ways >> l & 1))
			continue;
		struct pod_count places = room_for(q, n, w->shape->template, (enum lending)l);
		int32_t pods = admitted(places, w, w->shape->pods);
		most = pods > most ? pods : most;
	}
	return most;
}

bool namespace_quota_never_lets(const struct queue *q, const struct clusterqueue *cq,
	const struct claim *claim, const struct workload *w)
{
	const struct namespace_quota *n = asks(q, w);
	int32_t pods = w->shape->min_pods;
	if (!n)
		return false;
	unsigned ways = ways_of(cq, claim, w);
	for (unsigned l = 0; l < WAYS; l++) {
		if (!(ways >> l & 1))
			continue;
		struct pod_count whole = whole_for(q, n, w->shape->template, (enum lending)l);
		if (admitted(whole, w, pods) >= pods)
			return false;
	}
	return true;
}

static enum lending lending_of(const struct nominee *e)
{
	const struct claim *claim = &e->group->claim;
	for (size_t g = 0; g < e->cq->spec.ngroups; g++) {
		const struct flavor *f = e->cq->spec.groups[g].flavors[e->choice.flavor[g]];
		if (f->lending != LENDING_NONE && claim_minds_lending(e->cq, claim, g))
			return f->lending;
	}
	return LENDING_NONE;
}

bool namespace_quota_lets(const struct queue *q, const struct nominee *e)
{
	const struct namespace_quota *n = asks(q, e->w);
	if (!n)
		return true;
	struct pod_count places = room_for(q, n, e->w->shape->template, lending_of(e));
	return admitted(places, e->w, e->choice.pods) >= e->choice.pods;
}

/* Asked as if it were not in flight yet. */
bool namespace_quota_keeps(struct queue *q, struct reservation *r)
{
	const struct namespace_quota *n = asks(q, r->w);
	if (!n)
		return true;
	quota_flight_drop(q->namespace_quotas.flight, &r->w->key.uid);
	struct pod_count places = ask(q, n, r->shape->template, reservation_lending(q, r), false);
	namespace_quota_run(q, r);
	return admitted(places, r->w, r->pods) >= r->pods;
}

/* Its own pods are in flight, with all that it makes in the end. */
int32_t namespace_quota_growth(struct queue *q, const struct reservation *r, int32_t more)
{
	const struct namespace_quota *n = asks(q, r->w);
	if (!n || !r->shape->template)
		return more;
	struct pod_count places = ask(q, n, r->shape->template, reservation_lending(q, r), false);
	bool makes_more = r->w->progress.left < 0;
	int32_t room = makes_more ? least(places.at_once, places.in_all) : places.at_once;
	return least(more, room > 0 ? room : 0);
}

/* ---- In words ---- */

/* True: it would be let in without its pod-level resources, which say nothing (pod.h). */
static bool put_refusal(const struct quota_state *all, size_t n, const struct pod *p,
	const struct workload *w, char *ret, size_t size)
{
	int32_t in_all = namespace_quota_in_all(w), pods = w->shape->min_pods;
	struct pod_count asked = {pods, in_all > 0 ? in_all : pods};
	resource_quota_admits(all, n, p, asked, ret, size);
	struct pod without = *p;
	without.resources.has_pod_level = false;
	without.resources.pod_level.count = 0;
	char ignored[1];
	return pod_level_is_nothing(p) &&
	       resource_quota_admits(all, n, &without, asked, ignored, sizeof(ignored));
}

bool namespace_quota_refuses(const struct queue *q, const struct clusterqueue *cq,
	const struct claim *claim, const struct workload *w, char *ret_sentence, size_t size,
	struct refusal_kind *ret_kind)
{
	const struct namespace_quota *n = asks(q, w);
	if (!n || namespace_quota_pods(q, cq, claim, w) >= w->shape->min_pods)
		return false;
	unsigned ways = ways_of(cq, claim, w);
	*ret_kind = (struct refusal_kind){.never = namespace_quota_never_lets(q, cq, claim, w)};
	*ret_sentence = '\0';
	for (unsigned l = WAYS; l-- > 0;) {
		struct arena scratch = {0};
		struct pod p = pod_of(q, &scratch, w->shape->template, (enum lending)l);
		if (ways >> l & 1)
			ret_kind->by_empty_field = put_refusal(
				states_of(q, &scratch, n), n->n, &p, w, ret_sentence, size);
		arena_done(&scratch);
	}
	return true;
}

/* ---- In flight ---- */

/* Terminating pods count as ended: they are not in `active`, and mostly in `failed` at once, and others are
 * made for them. But not for those of a Job that is suspended: they are the last. */
struct progress progress_of(const struct job *j)
{
	const struct job_status *s = &j->status;
	int32_t last = s->suspended ? s->terminating : 0;
	struct progress p = {.version = j->version, .active = s->active + last, .left = -1};
	int32_t well = s->succeeded + s->uncounted;
	p.ended = well + s->failed_pods + s->uncounted_failed;
	if (j->indexed && s->indexes_done > s->succeeded)
		well = s->indexes_done;
	if (job_finished(j))
		p.left = 0;
	else if (j->has_completions && !j->completions_follow)
		p.left = j->completions > well ? j->completions - well : 0;
	return p;
}

void namespace_quota_see(struct queue *q, struct workload *w, const struct job *j)
{
	int32_t in_all = namespace_quota_in_all(w);
	w->progress = progress_of(j);
	if (w->reservation)
		namespace_quota_run(q, w->reservation);
	else if (w->group && namespace_quota_in_all(w) != in_all)
		workload_replace(q, w);
}

int32_t namespace_quota_in_all(const struct workload *w)
{
	const struct namespace_quota *n = w->lq->ns->quota;
	return n && n->keeps && w->shape->template && w->progress.left > 0 ? w->progress.left : 0;
}

/* For a moment a pod that ended may be in no count of the Job's status. So `made` never falls. And a work
 * queue of which a pod has succeeded asks for no more, but has those that run yet. */
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
	struct pod p = pod_of(q, &scratch, r->shape->template, reservation_lending(q, r));
	struct quota_run run = run_of(r);
	run.pod = &p;
	quota_flight_set(q->namespace_quotas.flight, &run);
	arena_done(&scratch);
	namespace_quota_stale(q, n);
}

void namespace_quota_run_over(struct queue *q, const struct reservation *r)
{
	struct namespace_quota *n = r->lq->ns->quota;
	if (!n)
		return;
	quota_flight_drop(q->namespace_quotas.flight, &r->w->key.uid);
	namespace_quota_stale(q, n);
}
