/*
 * Facts about what admins describe: each is taken over, and then exactly what it concerns is
 * looked at again.
 *
 *   quota, strategy      the Cohort tree is touched;
 *   cohort, parent       the Cohort trees are formed anew;
 *   resources, flavors   the groups of the ClusterQueue derive their claims anew;
 *   flavor               the groups of the ClusterQueues that name it do so, too;
 *   selector, namespace  the gates of the LocalQueues concerned;
 *   class                the workloads that name it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/core/model/booked_runs.h"
#include "queue/core/admit/backfill.h"
#include "queue/core/admit/backfill_heads.h"
#include "queue/core/model/state.h"
#include "queue/core/model/feature.h"
#include "queue/core/model/effective_quota.h"
#include "queue/core/admit/growth.h"
#include "queue/job/specs.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/run.h"
#include "queue/core/model/run_ends.h"
#include "queue/core/model/tell.h"

static void regate_localqueues(struct queue *q, struct clusterqueue *cq)
{
	list_each_entry(&cq->localqueues, struct localqueue, lq, of_clusterqueue)
		workload_regate(q, lq);
}

/* The record, with the object's one reference, and shown in the views. */
static struct clusterqueue *object_keep(struct queue *q, const char *name)
{
	struct clusterqueue *cq = clusterqueue_keep(&q->clusterqueues, name);
	if (tree_in(&cq->by_name))
		cq->refs--;
	else
		tree_insert(&q->clusterqueues.shown, &cq->by_name, cq->serial);
	return cq;
}

/* Moves all its waiting workloads: takes them out of their places, or places them. */
static void each_waiting(
	struct queue *q, struct localqueue *lq, void (*move)(struct queue *q, struct workload *w))
{
	list_each_entry(&lq->members, struct workload, w, of_localqueue)
		if (!w->reservation)
			move(q, w);
}

static void move_members(
	struct queue *q, struct clusterqueue *cq, void (*move)(struct queue *q, struct workload *w))
{
	list_each_entry(&cq->localqueues, struct localqueue, lq, of_clusterqueue)
		each_waiting(q, lq, move);
}

/* A workload may stand in the order already, because its promise was taken back meanwhile. */
static void place_again(struct queue *q, struct workload *w)
{
	if (w->place == PLACE_NOWHERE)
		workload_place(q, w);
}

/* Moves the ClusterQueue's waiting Jobs and its runs to the places of their priorities. */
static void reprioritise_all(struct queue *q, struct clusterqueue *cq)
{
	move_members(q, cq, workload_reprioritise);
	list_each_entry(&cq->reservations, const struct reservation, r, of_clusterqueue)
		workload_reprioritise(q, r->w);
}

static bool caps_otherwise(const struct clusterqueue *cq, const struct clusterqueue_spec *s)
{
	return cq->spec.gap_fillers_below != s->gap_fillers_below ||
	       cq->spec.has_max_priority != s->has_max_priority ||
	       (s->has_max_priority && cq->spec.max_priority != s->max_priority);
}

static void clusterqueue_refuse(struct queue *q, const char *name, const char *sentence)
{
	struct clusterqueue *cq = object_keep(q, name);
	free(cq->invalid);
	cq->invalid = mem_strdup(sentence);
	q->counters.version++;
}

int queue_set_clusterqueue(struct queue *q, const struct clusterqueue_spec *s, struct err *e)
{
	queue_tell(q, SET_CLUSTERQUEUE, .clusterqueue = s);
	struct err own;
	int code = clusterqueue_check(s, &own);
	if (code) {
		clusterqueue_refuse(q, s->name, own.text);
		return err_set(e, code, "%s", own.text);
	}
	struct clusterqueue *cq = object_keep(q, s->name);
	struct spec_change change;
	bool drained = cq->spec.stop_policy == STOP_HOLD_AND_DRAIN;
	int64_t max_run_ms = cq->spec.default_max_run_ms;
	free(cq->invalid);
	cq->invalid = NULL;
	bool recapped = caps_otherwise(cq, s);
	bool regrows = !cq->exists || cq->spec.grow_by_default != s->grow_by_default ||
		       cq->spec.grow_interval_ms != s->grow_interval_ms;
	bool regrouped = cq->spec.orders_by_usage != s->orders_by_usage ||
			 cq->spec.strategy != s->strategy ||
			 cq->spec.cluster_fit != s->cluster_fit ||
			 group_looks_at_age(cq->spec.preemption.within_clusterqueue) !=
				 group_looks_at_age(s->preemption.within_clusterqueue);
	each_feature(f, ALL_FEATURES, queue_edited)
		f->queue_edited(q, cq, s);
	backfill_end(q, cq);
	if (regrouped)
		move_members(q, cq, workload_unplace);
	bool is_new = !cq->exists;
	clusterqueue_take_spec(&q->clusterqueues, cq, s, &change);
	bool amounts = effective_quota_apply(q, cq->node);
	if (change.moved)
		cohort_trees_form(q);
	else if (amounts)
		cohort_tree_settle(q, cq);
	effective_quota_divide(q);
	if (change.reshaped)
		groups_rederive(&q->groups, cq);
	if (regrouped)
		move_members(q, cq, place_again);
	if (backfills_several_heads(cq))
		booked_runs_begin(q, cq);
	if (is_new) /* only now: it moves them itself */
		each_feature(f, ALL_FEATURES, queue_formed)
			f->queue_formed(q, cq);
	if (regrouped)
		list_each_entry(&cq->reservations, struct reservation, r, of_clusterqueue)
			run_ends_expect(q, r);
	if (recapped)
		reprioritise_all(q, cq);
	if (!drained && cq->spec.stop_policy == STOP_HOLD_AND_DRAIN)
		list_each_entry(&cq->reservations, struct reservation, r, of_clusterqueue)
			reservation_suspect(q, r);
	if (max_run_ms != cq->spec.default_max_run_ms)
		list_each_entry(&cq->reservations, struct reservation, r, of_clusterqueue)
			run_arm(q, r);
	regate_localqueues(q, cq);
	if (regrows)
		growth_heed_all(q, cq);
	queue_touch(q, cq);
	q->counters.version++;
	return 0;
}

void queue_reject_clusterqueue(struct queue *q, const char *name, const char *sentence)
{
	queue_tell(q, REJECT_CLUSTERQUEUE, .name = name, .sentence = sentence);
	clusterqueue_refuse(q, name, sentence);
}

void queue_drop_clusterqueue(struct queue *q, const char *name)
{
	queue_tell(q, DROP_CLUSTERQUEUE, .name = name);
	struct clusterqueue *cq = clusterqueue_find(&q->clusterqueues, name);
	if (!cq || !tree_in(&cq->by_name))
		return;
	cq->exists = false;
	regate_localqueues(q, cq); /* empties its groups before the spec goes */
	must(tree_count(&cq->order) == 0);
	backfill_end(q, cq);
	each_feature(f, ALL_FEATURES, queue_edited)
		f->queue_edited(q, cq, NULL);
	alarm_clear(&q->alarms, &cq->fit);
	alarm_clear(&q->alarms, &cq->grown);
	alarm_clear(&q->alarms, &cq->growth);
	bool capped = cq->spec.has_max_priority || cq->spec.gap_fillers_below != 0;
	clusterqueue_drop_spec(&q->clusterqueues, cq);
	if (capped)
		reprioritise_all(q, cq);
	each_feature(f, ALL_FEATURES, queue_formed)
		f->queue_formed(q, cq);
	effective_quota_apply(q, cq->node);
	free(cq->invalid);
	cq->invalid = NULL;
	cohort_trees_form(q); /* while it is still shown: it gets a Cohort tree of its own */
	effective_quota_divide(q);
	tree_remove(&q->clusterqueues.shown, &cq->by_name);
	clusterqueue_put(&q->clusterqueues, cq);
	q->counters.version++;
}

/* The record, with the object's one reference. */
static struct cohort *cohort_object(struct queue *q, const char *name)
{
	struct cohort *c = cohort_keep(&q->cohorts, name);
	if (c->exists || c->object.invalid)
		c->refs--;
	return c;
}

int queue_set_cohort(struct queue *q, const struct cohort_spec *s, struct err *e)
{
	queue_tell(q, SET_COHORT, .cohort = s);
	struct err own;
	int code = cohort_check(s, &own);
	if (code) {
		named_object_refuse(q, &cohort_object(q, s->name)->object, own.text);
		return err_set(e, code, "%s", own.text);
	}
	struct cohort *c = cohort_object(q, s->name);
	named_object_set_invalid(&c->object, NULL);
	cohort_take_spec(&q->cohorts, c, s);
	effective_quota_apply(q, c->node);
	cohort_trees_form(q);
	effective_quota_divide(q);
	q->counters.version++;
	return 0;
}

void queue_reject_cohort(struct queue *q, const char *name, const char *sentence)
{
	queue_tell(q, REJECT_COHORT, .name = name, .sentence = sentence);
	named_object_refuse(q, &cohort_object(q, name)->object, sentence);
}

void queue_drop_cohort(struct queue *q, const char *name)
{
	queue_tell(q, DROP_COHORT, .name = name);
	struct cohort *c = cohort_find(&q->cohorts, name);
	if (!c || (!c->exists && !c->object.invalid))
		return;
	cohort_drop_spec(&q->cohorts, c);
	effective_quota_apply(q, c->node);
	named_object_set_invalid(&c->object, NULL);
	cohort_trees_form(q);
	effective_quota_divide(q);
	cohort_put(&q->cohorts, c);
	q->counters.version++;
}

/* Points the LocalQueue to another ClusterQueue ("" and NULL: to none). */
static void repoint(struct queue *q, struct localqueue *lq, const char *clusterqueue)
{
	struct clusterqueue *old = lq->cq;
	if (old && clusterqueue && strcmp(old->name, clusterqueue) == 0)
		return;
	each_waiting(q, lq, workload_unplace);
	list_leave(&lq->of_clusterqueue);
	lq->edited = ++q->counters.edits;
	lq->cq = NULL;
	overflow_exists(lq, clusterqueue != NULL);
	lq->exists = clusterqueue != NULL;
	if (clusterqueue) {
		lq->cq = clusterqueue_keep(&q->clusterqueues, clusterqueue);
		list_add(&lq->cq->localqueues, &lq->of_clusterqueue);
	}
	features_edited(q);
	each_feature(f, ALL_FEATURES, line_formed)
		f->line_formed(q, lq);
	if (old)
		clusterqueue_put(&q->clusterqueues, old);
	lq->gate = localqueue_gate_now(lq);
	each_waiting(q, lq, workload_place);
}

/* Returns whether users would have lines (user.h) where they had none, or the reverse. */
static bool lines_otherwise(const struct localqueue *lq, const struct localqueue_limits *limits)
{
	return (lq->limits.per_user.waiting > 0) != (limits->per_user.waiting > 0);
}

static bool part_otherwise(const struct localqueue *lq, const struct localqueue_limits *limits,
	const struct pod_metadata *metadata)
{
	each_feature(f, ALL_FEATURES, parts_otherwise)
		if (f->parts_otherwise(lq, limits, metadata))
			return true;
	return false;
}

/* Features look at both. They read numbers and labels each time, so some Jobs may start. But its
 * waiting Jobs move to other groups only where it parts them otherwise: an admin of a namespace may
 * edit it without end, and each move costs as much as a new Job. */
static void take_terms(struct queue *q, struct localqueue *lq,
	const struct localqueue_limits *limits, const struct pod_metadata *metadata)
{
	if (localqueue_limits_same(&lq->limits, limits) &&
		pod_metadata_same(&lq->metadata, metadata))
		return;
	bool regroups = part_otherwise(lq, limits, metadata) || lines_otherwise(lq, limits);
	if (regroups)
		each_waiting(q, lq, workload_unplace);
	localqueue_take_terms(lq, limits, metadata);
	features_edited(q);
	each_feature(f, ALL_FEATURES, localqueue_edited)
		f->localqueue_edited(q, lq);
	if (regroups)
		each_waiting(q, lq, place_again);
	else
		user_lines_limited(q, lq);
	queue_touch_tree_of(q, lq->cq); /* its head may keep quota no longer */
}

/* The record, with the object's one reference, and what was said of a spec before it. */
static struct localqueue *localqueue_object(
	struct queue *q, const char *ns, const char *name, const char *invalid)
{
	struct localqueue *lq = localqueue_keep(&q->localqueues, ns, name);
	if (tree_in(&lq->by_name))
		localqueue_put(&q->localqueues, lq);
	else
		tree_insert(&q->localqueues.shown, &lq->by_name, map_hash_string(name));
	free(lq->invalid);
	lq->invalid = invalid ? mem_strdup(invalid) : NULL;
	q->counters.version++;
	return lq;
}

int queue_set_localqueue(struct queue *q, const struct localqueue_spec *s, struct err *e)
{
	queue_tell(q, SET_LOCALQUEUE, .localqueue = s);
	if (!*s->clusterqueue) {
		struct err own;
		err_set(&own, ERR_INVALID,
			"LocalQueue %s/%s: spec.clusterQueue is empty; name a ClusterQueue", s->ns,
			s->name);
		localqueue_object(q, s->ns, s->name, own.text);
		return err_set(e, ERR_INVALID, "%s", own.text);
	}
	struct localqueue *lq = localqueue_object(q, s->ns, s->name, NULL);
	bool drained = lq->stop_policy == STOP_HOLD_AND_DRAIN;
	if (lq->generation != s->generation)
		lq->edited = ++q->counters.edits;
	lq->generation = s->generation;
	lq->deleting = s->deleting;
	lq->stop_policy = s->stop_policy;
	lq->weight = s->weight;
	take_terms(q, lq, &s->limits, &s->metadata);
	repoint(q, lq, s->clusterqueue);
	workload_regate(q, lq);
	if (!drained && lq->stop_policy == STOP_HOLD_AND_DRAIN)
		list_each_entry(&lq->reservations, struct reservation, r, of_localqueue)
			reservation_suspect(q, r);
	return 0;
}

void queue_reject_localqueue(
	struct queue *q, const char *ns, const char *name, const char *sentence)
{
	queue_tell(q, REJECT_LOCALQUEUE, .ns = ns, .name = name, .sentence = sentence);
	localqueue_object(q, ns, name, sentence);
}

void queue_drop_localqueue(struct queue *q, const char *ns, const char *name)
{
	queue_tell(q, DROP_LOCALQUEUE, .ns = ns, .name = name);
	struct localqueue *lq = localqueue_find(&q->localqueues, ns, name);
	if (!lq || !tree_in(&lq->by_name))
		return;
	free(lq->invalid);
	lq->invalid = NULL;
	lq->generation = 0;
	lq->deleting = false;
	lq->stop_policy = STOP_NONE;
	lq->weight = 1;
	take_terms(q, lq, &(struct localqueue_limits){0}, &(struct pod_metadata){0});
	if (lq->exists)
		repoint(q, lq, NULL);
	tree_remove(&q->localqueues.shown, &lq->by_name);
	localqueue_put(&q->localqueues, lq);
	q->counters.version++;
}

/* The ClusterQueues that name the flavor judge their groups anew. */
static void flavor_changed(struct queue *q, const struct flavor *f)
{
	struct tree_node *n = tree_first(&q->clusterqueues.shown);
	for (; n; n = tree_next(n)) {
		struct clusterqueue *cq = container_of(n, struct clusterqueue, by_name);
		if (!clusterqueue_names_flavor(cq, f))
			continue;
		groups_rederive(&q->groups, cq);
		queue_touch(q, cq);
	}
}

int queue_set_flavor(struct queue *q, const struct flavor_spec *s, struct err *e)
{
	queue_tell(q, SET_FLAVOR, .flavor = s);
	(void)e; /* the CRD's own bounds are all there is to check; Cohorts' topologies may add */
	if (flavor_set(&q->flavors, s)) {
		struct flavor *f = flavor_find(&q->flavors, s->name);
		each_feature(x, ALL_FEATURES, flavor_edited)
			x->flavor_edited(q, f);
		effective_quota_lend(q, f);
		flavor_changed(q, f);
	}
	q->counters.version++;
	return 0;
}

void queue_set_idle_pool(struct queue *q, const struct idle_pool *p)
{
	queue_tell(q, SET_IDLE_POOL, .idle_pool = p);
	effective_quota_pool(q, p);
}

void queue_reject_flavor(struct queue *q, const char *name, const char *sentence)
{
	queue_tell(q, REJECT_FLAVOR, .name = name, .sentence = sentence);
	flavor_refuse(&q->flavors, name, sentence);
	q->counters.version++;
}

void queue_drop_flavor(struct queue *q, const char *name)
{
	queue_tell(q, DROP_FLAVOR, .name = name);
	struct flavor *f = flavor_find(&q->flavors, name);
	effective_quota_pool(q, &(struct idle_pool){.flavor = name});
	if (!f)
		return;
	f->refs++; /* until its ClusterQueues have looked */
	flavor_unset(&q->flavors, f);
	each_feature(x, ALL_FEATURES, flavor_edited)
		x->flavor_edited(q, f);
	flavor_changed(q, f);
	flavor_put(&q->flavors, f);
	q->counters.version++;
}

bool queue_has_flavor(const struct queue *q, const char *name)
{
	const struct flavor *f = flavor_find(&q->flavors, name);
	return f && f->exists;
}

bool queue_has_priority(const struct queue *q, enum priority_kind kind, const char *name)
{
	const struct priority_class *c = priority_find(&q->priorities, kind, name);
	return c && c->exists;
}

static void class_changed(struct queue *q, struct priority_class *c)
{
	list_each_entry(&c->members, struct workload, w, of_class)
		workload_reprioritise(q, w);
}

void queue_set_priority(struct queue *q, const struct priority_spec *s)
{
	queue_tell(q, SET_PRIORITY, .priority = s);
	bool changed;
	struct priority_class *c = priority_set(&q->priorities, s, &changed);
	if (changed)
		class_changed(q, c);
	if (priority_default_changed(&q->priorities))
		class_changed(q, &q->priorities.by_default);
	each_feature(f, ALL_FEATURES, priorities_changed)
		f->priorities_changed(q);
	q->counters.version++;
}

void queue_drop_priority(struct queue *q, enum priority_kind kind, const char *name)
{
	queue_tell(q, DROP_PRIORITY, .priority_kind = kind, .name = name);
	struct priority_class *c = priority_find(&q->priorities, kind, name);
	if (!c || !c->exists)
		return;
	priority_unset(c);
	class_changed(q, c);
	if (priority_default_changed(&q->priorities))
		class_changed(q, &q->priorities.by_default);
	each_feature(f, ALL_FEATURES, priorities_changed)
		f->priorities_changed(q);
	priority_tidy(&q->priorities, c);
	q->counters.version++;
}

static void regate_namespace(struct queue *q, struct nspace *ns)
{
	list_each_entry(&ns->localqueues, struct localqueue, lq, of_namespace)
		workload_regate(q, lq);
	q->counters.version++;
}

void queue_set_namespace(struct queue *q, const struct namespace_spec *s)
{
	queue_tell(q, SET_NAMESPACE, .of_namespace = s);
	struct nspace *ns = namespace_of(&q->localqueues, s->name);
	namespace_set(ns, s);
	each_feature(f, ALL_FEATURES, namespace_edited)
		f->namespace_edited(q, s->name, s);
	regate_namespace(q, ns);
}

void queue_drop_namespace(struct queue *q, const char *name)
{
	queue_tell(q, DROP_NAMESPACE, .name = name);
	struct nspace *ns = namespace_find(&q->localqueues, name);
	if (!ns || !ns->exists)
		return;
	namespace_unset(ns);
	each_feature(f, ALL_FEATURES, namespace_edited)
		f->namespace_edited(q, name, NULL);
	regate_namespace(q, ns);
	namespace_tidy(&q->localqueues, ns);
}

bool queue_set_limit_range(struct queue *q, const struct limit_range_spec *s)
{
	queue_tell(q, SET_LIMIT_RANGE, .limit_range = s);
	return limit_range_set(&q->accounting.limit_ranges, s);
}

bool queue_drop_limit_range(struct queue *q, const char *ns, const char *name)
{
	queue_tell(q, DROP_LIMIT_RANGE, .ns = ns, .name = name);
	return limit_range_unset(&q->accounting.limit_ranges, ns, name);
}

bool queue_set_runtime_class(struct queue *q, const struct runtime_class_spec *s)
{
	queue_tell(q, SET_RUNTIME_CLASS, .runtime_class = s);
	each_feature(f, ALL_FEATURES, runtime_class_edited)
		f->runtime_class_edited(q, s->name, s);
	return accounting_set_runtime_class(&q->accounting, s);
}

bool queue_drop_runtime_class(struct queue *q, const char *name)
{
	queue_tell(q, DROP_RUNTIME_CLASS, .name = name);
	each_feature(f, ALL_FEATURES, runtime_class_edited)
		f->runtime_class_edited(q, name, NULL);
	return accounting_unset_runtime_class(&q->accounting, name);
}

/* ---- What holds for all queues ---------------------------------------------------------------- */

void queue_configure(struct queue *q, const struct queue_config *c)
{
	queue_tell(q, CONFIGURE, .config = c);
	struct arena memory = {0};
	q->config = queue_config_copy(&memory, c);
	arena_done(&q->config_memory);
	q->config_memory = memory;
	q->clusterqueues.ignore_undeclared = c->ignore_undeclared;
}
