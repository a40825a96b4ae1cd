#include "queue/core/model/disruption.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/cluster/pod.h"
#include "queue/core/model/state.h"
#include "queue/job/specs.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/tell.h"

/* More budgets of one pod are ignored. The API server refuses to evict a pod with more than one. */
#define BUDGETS_MAX 16

struct guarded { /* a namespace */
	char *name;
	struct link budgets;
};

struct roomless {
	struct uid uid;
	struct pods_facts pods;
};

static bool guarded_is(const void *value, const void *key)
{
	return strcmp(((const struct guarded *)value)->name, key) == 0;
}

static bool roomless_is(const void *value, const void *key)
{
	return uid_cmp(&((const struct roomless *)value)->uid, key) == 0;
}

void disruptions_init(struct disruptions *d)
{
	map_init(&d->namespaces, guarded_is);
	map_init(&d->roomless, roomless_is);
	podlabel_sets_init(&d->labels);
}

static void budget_free(struct disruption_budget *b)
{
	list_leave(&b->of_namespace);
	arena_done(&b->memory);
	free(b->name);
	free(b);
}

static void guarded_free(struct guarded *g)
{
	while (!list_empty(&g->budgets))
		budget_free(container_of(g->budgets.next, struct disruption_budget, of_namespace));
	free(g->name);
	free(g);
}

void disruptions_done(struct disruptions *d)
{
	map_free(&d->namespaces, guarded_free);
	map_done(&d->roomless);
	podlabel_sets_done(&d->labels);
}

size_t disruptions_bytes(const struct disruptions *d)
{
	return d->labels.bytes + d->roomless.count * sizeof(struct roomless);
}

/* ---- Budgets ---- */

static struct guarded *guarded_find(const struct queue *q, const char *ns)
{
	return map_get(&q->disruptions.namespaces, map_hash_string(ns), ns);
}

static struct guarded *guarded_of(struct queue *q, const char *ns)
{
	struct guarded *g = guarded_find(q, ns);
	if (g)
		return g;
	g = mem_alloc(sizeof(*g));
	g->name = mem_strdup(ns);
	list_init(&g->budgets);
	map_put(&q->disruptions.namespaces, map_hash_string(ns), g);
	return g;
}

/* *ret_after: the last budget before that name. */
static struct disruption_budget *budget_find(
	struct guarded *g, const char *name, struct link **ret_after)
{
	*ret_after = &g->budgets;
	list_each_entry(&g->budgets, struct disruption_budget, b, of_namespace) {
		int order = strcmp(b->name, name);
		if (order == 0)
			return b;
		if (order < 0)
			*ret_after = &b->of_namespace;
	}
	return NULL;
}

static struct disruption_budget *budget_of(struct guarded *g, const char *name)
{
	struct link *after;
	struct disruption_budget *b = budget_find(g, name, &after);
	if (b)
		return b;
	b = mem_alloc(sizeof(*b));
	b->name = mem_strdup(name);
	list_add(after->next, &b->of_namespace);
	return b;
}

void queue_set_disruption_budget(struct queue *q, const struct disruption_budget_spec *s)
{
	queue_tell(q, SET_DISRUPTION_BUDGET, .disruption_budget = s);
	struct disruption_budget *b = budget_of(guarded_of(q, s->ns), s->name);
	arena_done(&b->memory);
	b->memory = (struct arena){0};
	b->selector = selector_term_copy(&b->memory, &s->selector);
	b->allowed = s->allowed;
}

void queue_drop_disruption_budget(struct queue *q, const char *ns, const char *name)
{
	queue_tell(q, DROP_DISRUPTION_BUDGET, .ns = ns, .name = name);
	struct link *after;
	struct guarded *g = guarded_find(q, ns);
	struct disruption_budget *b = g ? budget_find(g, name, &after) : NULL;
	if (!b)
		return;
	budget_free(b);
	if (!list_empty(&g->budgets))
		return;
	map_take(&q->disruptions.namespaces, map_hash_string(ns), ns);
	guarded_free(g);
}

/* ---- Pods ---- */

/* The owner's, and those that the start of the run added. */
static struct podlabels *labels_of_pods(struct queue *q, const struct job *j)
{
	const struct pod *own = j->template;
	struct arena scratch = {0};
	struct label *all = arena_take(&scratch, own->nlabels + j->nadded_labels, sizeof(*all));
	size_t n = 0;
	for (size_t i = 0; i < own->nlabels; i++)
		all[n++] = own->labels[i];
	for (size_t i = 0; i < j->nadded_labels; i++)
		all[n++] = j->added_labels[i];
	struct podlabels *kept = podlabels_of(&q->disruptions.labels, all, n);
	arena_done(&scratch);
	return kept;
}

static void facts_take(struct queue *q, struct pods_facts *f, const struct job *j)
{
	struct podlabels *old = f->labels;
	f->grace_ms = j->grace_ms;
	f->labels = j->template ? labels_of_pods(q, j) : NULL;
	podlabels_put(&q->disruptions.labels, old);
}

static struct roomless *roomless_find(const struct queue *q, const struct uid *uid)
{
	return map_get(&q->disruptions.roomless, uid_hash(uid), uid);
}

void disruption_forget(struct queue *q, const struct workload *w)
{
	const struct uid *uid = &w->key.uid;
	struct roomless *r = map_take(&q->disruptions.roomless, uid_hash(uid), uid);
	if (!r)
		return;
	podlabels_put(&q->disruptions.labels, r->pods.labels);
	free(r);
}

void disruption_see(struct queue *q, const struct workload *w, const struct job *j)
{
	if (w->reservation) {
		facts_take(q, &w->reservation->pods_facts, j);
		return;
	}
	if (j->suspend) {
		disruption_forget(q, w);
		return;
	}
	struct roomless *r = roomless_find(q, &j->uid);
	if (!r) {
		r = mem_alloc(sizeof(*r));
		r->uid = j->uid;
		map_put(&q->disruptions.roomless, uid_hash(&j->uid), r);
	}
	facts_take(q, &r->pods, j);
}

void disruption_enter(struct queue *q, struct reservation *r)
{
	struct roomless *known = roomless_find(q, &r->w->key.uid);
	if (!known)
		return;
	r->pods_facts = known->pods;
	known->pods.labels = NULL;
	disruption_forget(q, r->w);
}

void disruption_leave(struct queue *q, struct reservation *r)
{
	podlabels_put(&q->disruptions.labels, r->pods_facts.labels);
	r->pods_facts.labels = NULL;
}

/* ---- Both ---- */

bool disruption_concerns(const struct queue *q, const struct reservation *r)
{
	return q->disruptions.namespaces.count > 0 && guarded_find(q, r->lq->ns->name) != NULL;
}

size_t disruption_budgets(struct queue *q, const struct reservation *r,
	const struct disruption_budget **ret, size_t cap)
{
	size_t n = 0;
	struct guarded *g =
		q->disruptions.namespaces.count > 0 ? guarded_find(q, r->lq->ns->name) : NULL;
	if (!g)
		return 0;
	list_each_entry(&g->budgets, const struct disruption_budget, b, of_namespace)
		if (n < cap && podlabels_match(&q->disruptions.labels, r->pods_facts.labels,
				       r->w->name, &r->w->key.uid, &b->selector))
			ret[n++] = b;
	return n;
}

bool disruption_guards(struct queue *q, const struct reservation *r)
{
	const struct disruption_budget *any;
	return disruption_budgets(q, r, &any, 1) > 0;
}

void disruption_spend_pods(struct queue *q, const struct reservation *r, int32_t pods)
{
	const struct disruption_budget *budget[BUDGETS_MAX];
	size_t n = disruption_budgets(q, r, budget, BUDGETS_MAX);
	for (size_t i = 0; i < n; i++) {
		struct disruption_budget *b = (struct disruption_budget *)(uintptr_t)budget[i];
		b->allowed = b->allowed > pods ? b->allowed - pods : 0;
	}
}

void disruption_spend(struct queue *q, struct reservation *r)
{
	if (r->spent)
		return;
	r->spent = true;
	disruption_spend_pods(q, r, reservation_pods_then(r));
}

/* Adds those of cq to *s. */
static void count_stopping(const struct clusterqueue *cq, struct stopping *s)
{
	if (cq->nleaving == 0)
		return;
	s->leaving += cq->nleaving;
	list_each_entry(&cq->reservations, const struct reservation, r, of_clusterqueue) {
		if (reservation_gives(r)) {
			s->giving++;
			s->leaving--;
		}
		if (r->state != RESERVATION_LEAVING || r->run.stop == STOP_REASON_NONE)
			continue;
		s->since_ms =
			s->n == 0 || r->run.stop_ms < s->since_ms ? r->run.stop_ms : s->since_ms;
		s->grace_ms =
			r->pods_facts.grace_ms > s->grace_ms ? r->pods_facts.grace_ms : s->grace_ms;
		s->n++;
	}
}

struct stopping stopping_of(const struct clusterqueue *cq)
{
	struct stopping s = {0};
	count_stopping(cq, &s);
	return s;
}

struct stopping stopping_in(const struct cohort_tree *cohort_tree)
{
	struct stopping s = {0};
	list_each_entry(&cohort_tree->members, const struct clusterqueue, cq, of_cohort_tree)
		count_stopping(cq, &s);
	return s;
}
