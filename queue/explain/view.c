/* The state of the queues as their status shows it. */
#include "queue/explain/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core/model/state.h"
#include "queue/core/model/disruption.h"
#include "queue/features/namespace/namespace_quota.h"
#include "queue/features/targets.h"
#include "queue/features/windows/window_state.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/share.h"
#include "queue/core/model/user.h"
#include "queue/job/text.h"
#include "sluice/quantity.h"

struct scratch {
	struct usage_view *usage;
	size_t nusage, capacity;
	const struct clusterqueue **absent; /* those that do not exist and have Jobs, by name */
	size_t nabsent;
	const struct priority_class **class; /* that Jobs may name, in the order of their view */
	size_t nclasses;
};

struct scratch *scratch_new(void)
{
	return mem_alloc(sizeof(struct scratch));
}

void scratch_free(struct scratch *s)
{
	free(s->usage);
	free(s->absent);
	free(s->class);
	free(s);
}

/* Beyond all that the node brings with it; without a Cohort nobody lends. */
static int64_t borrowed_of(const struct quota_row *row, __int128 amount)
{
	__int128 beyond = amount - row->subtree;
	return row->up && beyond > 0 ? quota_shown(beyond) : 0;
}

static void usage_add(struct scratch *s, const struct quota_row *row)
{
	s->usage = mem_room(s->usage, s->nusage, &s->capacity, 16, sizeof(*s->usage));
	s->usage[s->nusage++] = (struct usage_view){.flavor = row->flavor,
		.resource = row->resource,
		.nominal = row->nominal,
		.borrowing_limit = row->borrowing_limit,
		.lending_limit = row->lending_limit,
		.subtree = row->subtree,
		.reserved = quota_shown(row->use[QUOTA_NOW]),
		.used = quota_shown(row->used),
		.borrowed = borrowed_of(row, row->use[QUOTA_NOW]),
		.used_borrowed = borrowed_of(row, row->used)};
}

static int usage_order(const void *a, const void *b)
{
	const struct usage_view *x = a, *y = b;
	int order = strcmp(x->flavor, y->flavor);
	return order ? order : strcmp(x->resource, y->resource);
}

/* Sorts by name, from this one on. */
static void usage_sort(struct scratch *s, size_t from)
{
	if (s->nusage > from + 1)
		qsort(s->usage + from, s->nusage - from, sizeof(*s->usage), usage_order);
}

/* The rows of the spec in its order, then those that only running Jobs still hold, by name. */
static void usage_fill(struct scratch *s, const struct clusterqueue *cq)
{
	s->nusage = 0;
	for (size_t g = 0; g < cq->spec.ngroups; g++)
		for (size_t i = 0; i < cq->spec.groups[g].nflavors * cq->spec.groups[g].nresources;
			i++)
			usage_add(s, cq->spec.groups[g].row[i]);
	size_t listed = s->nusage;
	for (size_t i = 0; i < cq->node->nrows; i++) {
		const struct quota_row *row = cq->node->row[i];
		if (!row->in_spec && row->use[QUOTA_NOW] > 0)
			usage_add(s, row);
	}
	usage_sort(s, listed);
}

/* Behind Kueue's words: until when it stays, and what to do. */
static const char *add_termination(const struct clusterqueue *cq, struct text *message)
{
	text_add(message, "Can't admit new workloads; clusterQueue is terminating. ");
	if (users_of_clusterqueue(cq, message))
		text_add(message,
			cq->spec.stop_policy == STOP_HOLD_AND_DRAIN
				? "; runs are being stopped, and the ClusterQueue goes with the last pod."
				: "; the ClusterQueue goes when the last run has ended. To stop runs now, set spec.stopPolicy to HoldAndDrain.");
	else
		text_add(message, "Nothing runs in it any more.");
	return "Terminating";
}

static size_t jobs_waiting_for(const struct clusterqueue *cq)
{
	size_t n = 0;
	list_each_entry(&cq->localqueues, const struct localqueue, lq, of_clusterqueue)
		n += localqueue_pending(lq);
	return n;
}

static const char *add_absence(const struct clusterqueue *cq, struct text *message)
{
	size_t waiting = jobs_waiting_for(cq);
	text_add(message, "ClusterQueue %s does not exist: ", cq->name);
	if (users_of_clusterqueue(cq, message))
		text_add(message, " until the run ends%s", waiting ? "; " : ".");
	if (waiting)
		text_add(message,
			"%zu %s for it. Create it again, or name another LocalQueue in the label sluice.dev/queue-name of what waits.",
			waiting, waiting == 1 ? "Job waits" : "Jobs wait");
	return "DoesNotExist";
}

static const char *add_missing_flavor(
	const struct queue *q, const struct flavor *missing, struct text *message)
{
	const struct named n = {.name = missing->name};
	text_add(message, "Can't admit new workloads: references missing ResourceFlavor %s",
		missing->name);
	if (!missing->invalid)
		target_suggest(&target_flavor, q, &n, message);
	text_add(message, ".");
	if (missing->invalid)
		text_add(message, " It was refused: %s", missing->invalid);
	return "FlavorNotFound";
}

/* Why nothing can start, in Kueue's words; "Ready" when something can. */
static const char *inactive_reason(
	const struct queue *q, const struct clusterqueue *cq, struct text *message)
{
	const struct flavor *misplaced;
	size_t group;
	if (!tree_in(&cq->by_name))
		return add_absence(cq, message);
	switch (clusterqueue_state(cq)) {
	case CLUSTERQUEUE_ABSENT:
		text_add(message,
			"Can't admit new workloads: the ClusterQueue never had a valid spec.");
		return "InvalidSpec";
	case CLUSTERQUEUE_DELETING:
		return add_termination(cq, message);
	case CLUSTERQUEUE_STOPPED:
		text_add(message, "Can't admit new workloads: is stopped.");
		return "Stopped";
	case CLUSTERQUEUE_CYCLIC:
		text_add(message,
			"Can't admit new workloads: the parents of Cohort %s form a cycle.",
			cq->cohort->object.name);
		return "CohortCycle";
	case CLUSTERQUEUE_FLAVOR_MISSING:
		return add_missing_flavor(q, clusterqueue_missing_flavor(cq), message);
	case CLUSTERQUEUE_FLAVOR_MISPLACED:
		misplaced = clusterqueue_misplaced_flavor(cq, &group);
		text_add(message,
			"Can't admit new workloads: ResourceFlavor %s has spec.idlePool, which covers exactly cpu and memory, but spec.resourceGroups[%zu] covers other resources or only one of them; move the flavor to a group of cpu and memory.",
			misplaced->name, group);
		return "IdleFlavorMisplaced";
	case CLUSTERQUEUE_ACTIVE:
		break;
	}
	text_add(message, "Can admit new workloads");
	if (!cq->spec.has_namespace_selector)
		text_add(message,
			", but selects no namespace: set spec.namespaceSelector ({} selects all)");
	return "Ready";
}

static void count_waiting(const struct clusterqueue *cq, struct clusterqueue_view *ret)
{
	ret->pending = ret->pending_active = 0;
	ret->no_node_suits = cq->counts.nowhere;
	list_each_entry(&cq->localqueues, const struct localqueue, lq, of_clusterqueue) {
		ret->pending += localqueue_pending(lq);
		ret->pending_active += lq->nactive;
	}
	ret->pending_active -= cq->counts.nowhere;
}

const char *view_missing_flavor(const struct clusterqueue *cq)
{
	bool tells = clusterqueue_state(cq) == CLUSTERQUEUE_FLAVOR_MISSING;
	return tells ? clusterqueue_missing_flavor(cq)->name : NULL;
}

static struct window_view window_of(const struct window_state *r)
{
	return (struct window_view){r->open, r->open ? r->closes_ms : r->opens_ms};
}

static void fill_clusterqueue(
	const struct queue *q, const struct clusterqueue *cq, struct clusterqueue_view *ret)
{
	struct text message = text_over(ret->message, sizeof(ret->message));
	ret->reason = inactive_reason(q, cq, &message);
	ret->active = clusterqueue_active(cq);
	ret->name = cq->name;
	ret->exists = tree_in(&cq->by_name);
	ret->generation = cq->generation;
	ret->invalid = cq->invalid;
	ret->strategy = cq->spec.strategy;
	ret->grows = cq->spec.grow_by_default;
	ret->has_max_priority = cq->spec.has_max_priority;
	ret->max_priority = cq->spec.max_priority;
	ret->cohort = cq->cohort ? cq->cohort->object.name : "";
	ret->window = window_of(cq->window_state);
	count_waiting(cq, ret);
	struct stopping stopping = stopping_of(cq);
	ret->stopping = stopping.n;
	ret->stopping_ms = stopping.grace_ms;
	ret->reserving = cq->counts.reserving;
	ret->admitted = cq->counts.admitted;
	ret->started_total = cq->counts.started_total;
	ret->preempted_total = cq->counts.preempted_total;
	struct share share = share_of(cq->node);
	ret->weighted_share = share_shown(&share);
	usage_fill(q->scratch, cq);
	ret->usage = q->scratch->usage;
	ret->nusage = q->scratch->nusage;
}

bool queue_view_clusterqueue(const struct queue *q, size_t index, struct clusterqueue_view *ret)
{
	struct tree_node *n = tree_at(&q->clusterqueues.shown, index);
	if (n)
		fill_clusterqueue(q, container_of(n, struct clusterqueue, by_name), ret);
	return n != NULL;
}

static void find_absent(const struct queue *q)
{
	struct scratch *s = q->scratch;
	size_t n;
	struct clusterqueue **all = clusterqueues_by_name(&q->clusterqueues, &n);
	s->nabsent = 0;
	s->absent = mem_grow(s->absent, n + 1, sizeof(*s->absent));
	for (size_t i = 0; i < n; i++)
		if (!tree_in(&all[i]->by_name) &&
			(!list_empty(&all[i]->reservations) || jobs_waiting_for(all[i]) > 0))
			s->absent[s->nabsent++] = all[i];
	free(all);
}

bool queue_view_any_clusterqueue(const struct queue *q, size_t index, struct clusterqueue_view *ret)
{
	size_t shown = tree_count(&q->clusterqueues.shown);
	if (index < shown)
		return queue_view_clusterqueue(q, index, ret);
	if (index == shown)
		find_absent(q);
	if (index - shown >= q->scratch->nabsent)
		return false;
	fill_clusterqueue(q, q->scratch->absent[index - shown], ret);
	return true;
}

bool queue_view_clusterqueue_named(
	const struct queue *q, const char *name, struct clusterqueue_view *ret)
{
	const struct clusterqueue *cq = clusterqueue_find(&q->clusterqueues, name);
	if (cq)
		fill_clusterqueue(q, cq, ret);
	return cq != NULL;
}

size_t queue_count_without_queue(const struct queue *q)
{
	const struct localqueue *lq;
	size_t n = 0;
	map_each(&q->localqueues.map, i, lq)
		if (lq->gate == GATE_MISSING || lq->gate == GATE_CLUSTERQUEUE_MISSING)
			n += localqueue_pending(lq);
	return n;
}

static size_t count_beyond(const struct queue *q, const struct tree *line)
{
	size_t jobs = 0;
	for (struct tree_node *n = tree_first(line); n; n = tree_next(n)) {
		const struct group *g = container_of(n, struct group, node);
		if (!g->claim.nowhere &&
			namespace_quota_never_lets(q, g->cq, &g->claim, group_head(g)))
			jobs += tree_count(&g->waiting);
	}
	return jobs;
}

bool queue_count_beyond_quota(
	const struct queue *q, size_t index, const char **ret_name, size_t *ret_jobs)
{
	struct tree_node *n = tree_at(&q->clusterqueues.shown, index);
	if (!n)
		return false;
	const struct clusterqueue *cq = container_of(n, struct clusterqueue, by_name);
	*ret_name = cq->name;
	*ret_jobs = count_beyond(q, &cq->groups_waiting);
	list_each_entry(&cq->localqueues, const struct localqueue, lq, of_clusterqueue)
		*ret_jobs += count_beyond(q, &lq->groups_waiting);
	return true;
}

static const char *cohort_reason(const struct cohort *c, struct text *message)
{
	if (c->cyclic) {
		text_add(message,
			"No Job can start below this Cohort: its parents form a cycle; correct spec.parentName of one of them");
		return "CohortCycle";
	}
	if (!c->exists && c->object.invalid) {
		text_add(message, "There was never a valid spec");
		return "InvalidSpec";
	}
	text_add(message, "Its members share quota");
	return "Ready";
}

bool queue_view_cohort(const struct queue *q, size_t index, struct cohort_view *ret)
{
	struct named_object *o = named_object_at(&q->cohorts.all, index);
	if (!o)
		return false;
	const struct cohort *c = container_of(o, struct cohort, object);
	struct text message = text_over(ret->message, sizeof(ret->message));
	struct share share = share_of(c->node);
	ret->reason = cohort_reason(c, &message);
	ret->active = !c->cyclic;
	ret->name = c->object.name;
	ret->exists = c->exists;
	ret->generation = c->generation;
	ret->parent = c->parent ? c->parent->object.name : "";
	ret->invalid = c->object.invalid;
	ret->weighted_share = share_shown(&share);
	q->scratch->nusage = 0;
	for (size_t i = 0; i < c->node->nrows; i++)
		usage_add(q->scratch, c->node->row[i]);
	usage_sort(q->scratch, 0);
	ret->usage = q->scratch->usage;
	ret->nusage = q->scratch->nusage;
	return true;
}

static const char *closed_reason(
	const struct queue *q, const struct localqueue *lq, struct text *message)
{
	if (!lq->exists) {
		text_add(message,
			"Can't submit new workloads to localQueue: there was never a valid spec");
		return "InvalidSpec";
	}
	if (lq->deleting) {
		text_add(message, "LocalQueue is terminating");
		return "Terminating";
	}
	if (lq->stop_policy != STOP_NONE) {
		text_add(message, "LocalQueue is stopped");
		return "Stopped";
	}
	if (!lq->cq->exists) {
		const struct named n = {.name = lq->cq->name, .within = lq};
		text_add(message, "Can't submit new workloads to clusterQueue: %s does not exist",
			lq->cq->name);
		if (!target_clusterqueue.found(q, &n))
			target_suggest(&target_clusterqueue, q, &n, message);
		return "ClusterQueueDoesNotExist";
	}
	if (!clusterqueue_active(lq->cq)) {
		text_add(message, "Can't submit new workloads to clusterQueue: %s is inactive",
			lq->cq->name);
		return "ClusterQueueIsInactive";
	}
	text_add(message, "Can submit new workloads to localQueue");
	if (tree_count(&lq->deferred) > 0)
		text_add(message,
			"; more Jobs wait than spec.maxWaiting (%d), so the newest Jobs are not considered yet",
			lq->limits.max_waiting);
	return "Ready";
}

const char *view_missing_clusterqueue(const struct queue *q, const struct localqueue *lq)
{
	char message[256];
	struct text t = text_over(message, sizeof(message));
	bool tells = strcmp(closed_reason(q, lq, &t), "ClusterQueueDoesNotExist") == 0;
	return tells ? lq->cq->name : NULL;
}

static void reservation_add(struct scratch *s, const struct reservation *r)
{
	for (size_t i = 0; i < r->nlines; i++) {
		const struct reservation_line *l = &r->line[i];
		size_t at = 0;
		while (at < s->nusage && (s->usage[at].flavor != l->row->flavor ||
						 s->usage[at].resource != l->row->resource))
			at++;
		if (at == s->nusage) {
			usage_add(s, l->row);
			s->usage[at] = (struct usage_view){
				.flavor = l->row->flavor, .resource = l->row->resource};
		}
		s->usage[at].reserved = quantity_add(s->usage[at].reserved, l->amount);
		if (r->confirmed)
			s->usage[at].used = quantity_add(s->usage[at].used, l->amount);
	}
}

bool queue_view_localqueue(const struct queue *q, size_t index, struct localqueue_view *ret)
{
	struct tree_node *n = tree_at(&q->localqueues.shown, index);
	if (!n)
		return false;
	const struct localqueue *lq = container_of(n, struct localqueue, by_name);
	struct text message = text_over(ret->message, sizeof(ret->message));
	ret->reason = closed_reason(q, lq, &message);
	unread_tell(&q->unread, lq->ns->name, lq->name, &message);
	ret->active = strcmp(ret->reason, "Ready") == 0;
	ret->ns = lq->ns->name;
	ret->name = lq->name;
	ret->clusterqueue = lq->exists ? lq->cq->name : "";
	ret->let_in = lq->gate == GATE_CLOSED || lq->gate == GATE_OPEN;
	ret->generation = lq->generation;
	ret->invalid = lq->invalid;
	ret->window = window_of(window_state_of(lq));
	ret->pending = localqueue_pending(lq);
	ret->reserving = lq->nreserving;
	ret->admitted = lq->nadmitted;
	ret->fair_usage =
		lq->exists && lq->cq->spec.orders_by_usage ? usage_of(q, lq, q->now_ms) : 0;
	struct scratch *s = q->scratch;
	s->nusage = 0;
	list_each_entry(&lq->reservations, const struct reservation, r, of_localqueue)
		reservation_add(s, r);
	usage_sort(s, 0);
	ret->usage = s->usage;
	ret->nusage = s->nusage;
	return true;
}

size_t queue_first_localqueue(const struct queue *q, const char *ns)
{
	char none[] = "";
	struct nspace space = {.name = (char *)(uintptr_t)ns};
	struct localqueue first = {.ns = &space, .name = none};
	return tree_before(&q->localqueues.shown, &first.by_name);
}

void queue_each_namespace(
	const struct queue *q, const char *user, queue_namespace_fn *fn, void *ctx)
{
	const struct nspace *ns = NULL;
	bool has_jobs = false;
	for (struct tree_node *n = tree_first(&q->localqueues.shown); n; n = tree_next(n)) {
		const struct localqueue *lq = container_of(n, struct localqueue, by_name);
		if (ns && lq->ns != ns) {
			fn(ns->name, has_jobs, ctx);
			has_jobs = false;
		}
		ns = lq->ns;
		has_jobs = has_jobs || user_find(lq, user);
	}
	if (ns)
		fn(ns->name, has_jobs, ctx);
}

/* ---- classes --------------------------------------------------------------------------------- */

static int class_order(const void *a, const void *b)
{
	const struct priority_class *x = *(const struct priority_class *const *)a,
				    *y = *(const struct priority_class *const *)b;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void find_classes(const struct queue *q)
{
	struct scratch *s = q->scratch;
	const struct priority_class *c;
	s->nclasses = 0;
	s->class = mem_grow(s->class, q->priorities.classes.count + 1, sizeof(*s->class));
	map_each(&q->priorities.classes, i, c)
		if (priority_usable(c))
			s->class[s->nclasses++] = c;
	qsort(s->class, s->nclasses, sizeof(*s->class), class_order);
}

bool queue_view_class(const struct queue *q, size_t index, struct class_view *ret)
{
	if (index == 0)
		find_classes(q);
	if (index >= q->scratch->nclasses)
		return false;
	const struct priority_class *c = q->scratch->class[index];
	*ret = (struct class_view){c->name, c->kind, c->value, c->global_default};
	return true;
}
