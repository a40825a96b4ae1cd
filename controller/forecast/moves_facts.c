#include "controller/forecast/moves_priv.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "queue/cluster/nodes.h"

static void add_fact(struct making *m, uint64_t tree, enum move_fact kind, uint64_t count)
{
	struct memory *now = &m->now;
	if (count == 0)
		return;
	if (now->head.facts == MOVES_FACTS_MAX) {
		now->head.facts = MOVES_FACTS_MAX / 2;
		memmove(now->fact, now->fact + MOVES_FACTS_MAX / 2,
			now->head.facts * sizeof(*now->fact));
	}
	now->fact[now->head.facts++] = (struct fact){.tree = tree,
		.in = now->head.answer,
		.kind = kind,
		.count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX};
}

/* Counts a fact. Facts of one tree and answer stand together, so they are counted as one. */
void facts_count(struct making *m, uint64_t tree, enum move_fact kind)
{
	struct memory *now = &m->now;
	for (size_t i = now->head.facts; i > 0 && now->fact[i - 1].in == now->head.answer; i--) {
		struct fact *f = &now->fact[i - 1];
		if (f->tree == tree && f->kind == kind) {
			f->count++;
			return;
		}
	}
	add_fact(m, tree, kind, 1);
}

static void keep_old_facts(struct making *m)
{
	size_t n = m->has_old ? m->old.head.facts : 0;
	m->now.fact = mem_array(MOVES_FACTS_MAX, sizeof(*m->now.fact));
	if (n > 0)
		memcpy(m->now.fact, m->old.fact, n * sizeof(*m->now.fact));
	m->now.head.facts = n;
}

/* ---- nodes ------------------------------------------------------------------------------------- */

static void look_at_nodes(struct making *m)
{
	struct node_traffic t = queue_node_traffic(m->world->queue);
	m->now.head.nodes_came = t.came;
	m->now.head.nodes_went = t.went;
	if (!m->has_old)
		return;
	add_fact(m, 0, MOVE_NODE_CAME, t.came - m->old.head.nodes_came);
	add_fact(m, 0, MOVE_NODE_WENT, t.went - m->old.head.nodes_went);
}

/* ---- Jobs that are to come --------------------------------------------------------------------- */

static void look_at_arrivals(struct making *m)
{
	const struct moves_world *w = m->world;
	m->now.head.arrivals = w->arrivals;
	m->now.head.arrivals_are_young = w->arrivals_are_young;
	if (!m->has_old || !m->old.head.arrivals_are_young)
		return;
	bool is_known_now = w->arrivals > 0 && !w->arrivals_are_young;
	add_fact(m, 0, MOVE_MORE_TO_COME, is_known_now || w->arrivals > m->old.head.arrivals);
}

/* ---- objects of admins ------------------------------------------------------------------------- */

static int object_cmp(const struct object *a, const struct object *b)
{
	if (a->tree != b->tree)
		return a->tree < b->tree ? -1 : 1;
	return a->name == b->name ? 0 : a->name < b->name ? -1 : 1;
}

static int by_tree_and_name(const void *a, const void *b)
{
	return object_cmp(a, b);
}

static struct object object_of(uint64_t tree, const struct admin_object *o)
{
	return (struct object){.tree = tree,
		.name = map_hash_string(o->kind) ^ map_hash_string(o->name) * 31,
		.edition = o->edition};
}

static void take_object(uint64_t tree, const struct admin_object *o, void *ctx)
{
	struct memory *now = ctx;
	if (now->head.objects < MOVES_OBJECTS_MAX)
		now->object[now->head.objects++] = object_of(tree, o);
}

static void sort_objects(struct memory *now)
{
	size_t n = 0;
	qsort(now->object, now->head.objects, sizeof(*now->object), by_tree_and_name);
	for (size_t i = 0; i < now->head.objects; i++)
		if (n == 0 || object_cmp(&now->object[n - 1], &now->object[i]) != 0)
			now->object[n++] = now->object[i];
	now->head.objects = n;
}

static struct object *find_object(const struct memory *m, const struct object *like)
{
	if (m->head.objects == 0)
		return NULL;
	return bsearch(like, m->object, m->head.objects, sizeof(*like), by_tree_and_name);
}

/* Keeps a change of an object, and gives its number. */
static uint32_t keep_change(struct memory *now, const struct admin_object *o, bool is_new)
{
	if (now->head.changes == CHANGES_MAX)
		memmove(now->change, now->change + 1, --now->head.changes * sizeof(*now->change));
	struct change *c = &now->change[now->head.changes++];
	*c = (struct change){.number = ++now->head.changes_made, .is_new = is_new};
	strncpy(c->kind, o->kind, sizeof(c->kind) - 1);
	strncpy(c->name, o->name, sizeof(c->name) - 1);
	return c->number;
}

/* Looks for a change of an object. Many queues of a tree may name a flavor, which is one change. */
static void look_at_object(uint64_t tree, const struct admin_object *o, void *ctx)
{
	struct making *m = ctx;
	struct object like = object_of(tree, o);
	struct object *now = find_object(&m->now, &like);
	const struct object *before = find_object(&m->old, &like);
	if (now->is_new || (before && before->edition == like.edition))
		return;
	now->is_new = 1;
	add_fact(m, tree, MOVE_OBJECT, keep_change(&m->now, o, !before));
}

static int tree_cmp(const void *tree, const void *object)
{
	uint64_t a = *(const uint64_t *)tree, b = ((const struct object *)object)->tree;
	return (a > b) - (a < b);
}

static bool has_tree(const struct memory *m, uint64_t tree)
{
	size_t n = m->head.objects;
	return n && bsearch(&tree, m->object, n, sizeof(*m->object), tree_cmp);
}

/* Notes objects that were removed, whose names the queue does not know any more. */
static void look_at_removed(struct making *m)
{
	static const struct admin_object removed = {"", "", 0};
	for (size_t i = 0; i < m->old.head.objects; i++) {
		const struct object *old = &m->old.object[i];
		if (!find_object(&m->now, old) && has_tree(&m->now, old->tree))
			add_fact(m, old->tree, MOVE_OBJECT, keep_change(&m->now, &removed, false));
	}
}

static void look_at_objects(struct making *m)
{
	struct memory *now = &m->now;
	size_t n = m->has_old ? m->old.head.changes : 0;
	now->object = mem_array(MOVES_OBJECTS_MAX, sizeof(*now->object));
	now->change = mem_array(CHANGES_MAX, sizeof(*now->change));
	if (n > 0)
		memcpy(now->change, m->old.change, n * sizeof(*now->change));
	now->head.changes = n;
	now->head.changes_made = m->has_old ? m->old.head.changes_made : 0;
	queue_each_admin_object(m->world->queue, take_object, now);
	now->head.has_all_objects = now->head.objects < MOVES_OBJECTS_MAX;
	sort_objects(now);
	if (!m->old.head.has_all_objects || !now->head.has_all_objects)
		return; /* objects that were left out would look new, or removed */
	queue_each_admin_object(m->world->queue, look_at_object, m);
	look_at_removed(m);
}

/* ---- runs -------------------------------------------------------------------------------------- */

static int by_uid(const void *a, const void *b)
{
	return uid_cmp(&((const struct run *)a)->uid, &((const struct run *)b)->uid);
}

static const struct run *find_run(const struct memory *m, const struct uid *uid)
{
	struct run like = {.uid = *uid};
	return m->head.runs ? bsearch(&like, m->run, m->head.runs, sizeof(like), by_uid) : NULL;
}

static int64_t later_by(int64_t at_ms, int64_t by_ms)
{
	return by_ms < INT64_MAX - at_ms ? at_ms + by_ms : INT64_MAX;
}

/* Whether the length of a run is known. With fewer pods than it could have, it takes longer, as its
 * pods come and go. */
static bool has_known_length(const struct job_outline *o)
{
	bool has_all = o->full_pods == 0 || o->pods == o->full_pods;
	return o->holds_quota && o->confirmed && !o->ends && has_all;
}

static void take_run(const struct job_outline *o, void *ctx)
{
	struct making *m = ctx;
	int64_t now_ms = m->world->now_ms, least_ms, most_ms;
	if (!has_known_length(o) || m->now.head.runs == MOVES_RUNS_MAX)
		return;
	int64_t ran_ms = now_ms > o->since_ms ? now_ms - o->since_ms : 0;
	m->world->lasts(o, ran_ms, &least_ms, &most_ms, m->world->ctx);
	m->now.run[m->now.head.runs++] = (struct run){.uid = o->uid,
		.tree = queue_tree_of(m->world->queue, o->clusterqueue),
		.since_ms = o->since_ms,
		.least_ms = later_by(o->since_ms, least_ms),
		.most_ms = later_by(o->since_ms, most_ms)};
}

static void look_at_longer(struct making *m)
{
	for (size_t i = 0; i < m->now.head.runs; i++) {
		struct run *r = &m->now.run[i];
		const struct run *old = find_run(&m->old, &r->uid);
		if (!old || old->since_ms != r->since_ms)
			continue;
		r->counted = old->counted;
		if (r->counted || m->world->now_ms <= old->most_ms)
			continue;
		r->counted = 1;
		facts_count(m, r->tree, MOVE_LONGER);
	}
}

/* Tells a run that is gone, or ends by itself, from one that was stopped, whose Job waits again or
 * will, and from one that goes on with a length that is not known. */
static void look_at_end(struct making *m, const struct run *old)
{
	struct job_outline o;
	bool is_known = queue_outline_job(m->world->queue, &old->uid, &o);
	bool has_ended = !is_known || (o.ends && !o.returns);
	bool was_stopped = is_known && (!o.holds_quota || (o.ends && o.returns));
	if (has_ended && m->world->now_ms < old->least_ms)
		facts_count(m, old->tree, MOVE_SOONER);
	if (was_stopped && m->world->now_ms < old->most_ms)
		facts_count(m, old->tree, MOVE_STOPPED);
}

static void look_at_ends(struct making *m)
{
	for (size_t i = 0; i < m->old.head.runs; i++)
		if (!find_run(&m->now, &m->old.run[i].uid))
			look_at_end(m, &m->old.run[i]);
}

static void look_at_runs(struct making *m)
{
	m->now.run = mem_array(MOVES_RUNS_MAX, sizeof(*m->now.run));
	queue_each_job(m->world->queue, take_run, m);
	qsort(m->now.run, m->now.head.runs, sizeof(*m->now.run), by_uid);
	if (!m->has_old)
		return;
	look_at_longer(m);
	look_at_ends(m);
}

void facts_gather(struct making *m)
{
	keep_old_facts(m);
	look_at_nodes(m);
	look_at_arrivals(m);
	look_at_objects(m);
	look_at_runs(m);
}
