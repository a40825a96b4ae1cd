#include "queue/core/model/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/core/model/state.h"
#include "queue/core/model/localqueue.h"
#include "queue/core/model/nice.h"
#include "queue/core/model/precedence.h"

struct group_key {
	const struct clusterqueue *cq;
	const struct localqueue *lq;
	const struct shape *shape;
	struct parting parting;
	int64_t expected_ms;
	int32_t priority;
	bool displaces, early;
};

/* ---- What parts groups ---- */

void parting_add_hashed(struct parting *p, const void *what, uint64_t hash)
{
	uint64_t word = (uintptr_t)what;
	for (size_t i = 0; i < p->n; i++)
		if (p->word[i] == word)
			return; /* another rule looks at it as well */
	must(p->n < PARTING_WORDS);
	p->word[p->n++] = word;
	p->hash = (p->hash ^ hash) * 0x9FB21C651E98DF25u;
}

void parting_add(struct parting *p, const void *what, const char *name)
{
	parting_add_hashed(p, what, map_hash_string(name));
}

void parting_add_number(struct parting *p, int32_t number)
{
	parting_add_hashed(p, (const void *)(uintptr_t)(uint32_t)number, (uint32_t)number);
}

static bool parting_same(const struct parting *a, const struct parting *b)
{
	return a->n == b->n && memcmp(a->word, b->word, a->n * sizeof(a->word[0])) == 0;
}

/* ---- Groups ---- */

static bool group_is(const void *value, const void *key)
{
	const struct group *g = value;
	const struct group_key *k = key;
	return g->cq == k->cq && g->lq == k->lq && g->shape == k->shape &&
	       parting_same(&g->parting, &k->parting) && g->expected_ms == k->expected_ms &&
	       g->key.priority == k->priority && g->displaces == k->displaces &&
	       g->early == k->early;
}

static int group_order(const struct tree_node *a, const struct tree_node *b)
{
	return order_cmp(&container_of_const(a, struct group, node)->key,
		&container_of_const(b, struct group, node)->key);
}

static int in_group_order(const struct tree_node *a, const struct tree_node *b)
{
	return order_cmp(workload_standing(container_of_const(a, struct workload, in_group)),
		workload_standing(container_of_const(b, struct workload, in_group)));
}

static int in_order_order(const struct tree_node *a, const struct tree_node *b)
{
	return order_cmp(workload_standing(container_of_const(a, struct workload, in_order)),
		workload_standing(container_of_const(b, struct workload, in_order)));
}

static const int64_t *least_of(const struct tree_node *child, const int64_t *otherwise)
{
	return child ? container_of_const(child, struct group, node)->claim.least : otherwise;
}

static int64_t own_expected_ms(const struct group *g)
{
	return g->expected_ms > 0 ? g->expected_ms : INT64_MAX;
}

static int64_t least_expected(const struct tree_node *child, int64_t otherwise)
{
	int64_t end = child ? container_of_const(child, struct group, node)->least_expected_ms
			    : otherwise;
	return end < otherwise ? end : otherwise;
}

static int64_t least_timed(const struct tree_node *child, int64_t otherwise)
{
	int64_t ms =
		child ? container_of_const(child, struct group, node)->least_timed_ms : otherwise;
	return ms < otherwise ? ms : otherwise;
}

static bool group_update(struct tree_node *n)
{
	struct group *g = container_of(n, struct group, node);
	const struct claim *c = &g->claim;
	const int64_t *left = least_of(n->left, c->want), *right = least_of(n->right, c->want);
	bool changed = false;
	int64_t end = least_expected(n->right, least_expected(n->left, own_expected_ms(g)));
	int64_t timed = least_timed(n->right, least_timed(n->left, g->expected_ms));
	changed = end != g->least_expected_ms || timed != g->least_timed_ms;
	g->least_expected_ms = end;
	g->least_timed_ms = timed;
	for (size_t k = 0; k < c->nkeys; k++) {
		int64_t least = c->want[k];
		least = left[k] < least ? left[k] : least;
		least = right[k] < least ? right[k] : least;
		changed = changed || least != c->least[k];
		c->least[k] = least;
	}
	return changed;
}

void groups_init(struct groups *all, const struct queue *q)
{
	all->queue = q;
	map_init(&all->map, group_is);
	all->bytes = 0;
}

void groups_done(struct groups *all)
{
	must(all->map.count == 0 && all->bytes == 0);
	map_done(&all->map);
}

void group_trees_init(struct tree *groups_waiting, struct tree *order)
{
	tree_init(groups_waiting, group_order, group_update);
	tree_init(order, in_order_order, NULL);
}

static uint64_t group_hash(const struct group_key *k)
{
	uint64_t hash = k->parting.hash ^ k->shape->hash ^ k->cq->serial * 0x9E3779B97F4A7C15u;
	hash ^= ((uint64_t)(uint32_t)k->priority + k->displaces) * 0xC2B2AE3D27D4EB4Fu;
	hash ^= k->lq ? map_hash_string(k->lq->name) : 0;
	hash ^= (uint64_t)k->expected_ms * 0xD6E8FEB86659FD93u;
	return hash ^ hash >> 29;
}

bool group_expects(const struct queue *q, const struct localqueue *lq)
{
	each_feature(f, q->features_awake, looks_at_duration)
		if (f->looks_at_duration(lq))
			return true;
	return lq->cq->spec.strategy == BACKFILL;
}

bool group_looks_at_age(enum preemption_policy within)
{
	return within == PREEMPT_LOWER_OR_NEWER_EQUAL_PRIORITY;
}

/* By its deadline or its nice. It may displace less than those behind it that were queued before. */
static bool is_early(const struct clusterqueue *cq, const struct workload *w)
{
	const struct order_key *stands = workload_standing(w);
	return group_looks_at_age(cq->spec.preemption.within_clusterqueue) &&
	       (stands->due_ms != 0 || stands->queued_ms < w->key.queued_ms);
}

static void group_unjudged(struct group *g)
{
	if (list_in(&g->fresh))
		return;
	list_add(&g->cq->fresh, &g->fresh);
	g->cq->nfresh++;
}

static struct group *group_of(struct groups *all, struct clusterqueue *cq, const struct workload *w)
{
	struct localqueue *lq = cq->spec.orders_by_usage ? w->lq : NULL;
	int64_t expected_ms = group_expects(all->queue, w->lq) ? w->expected_ms : 0;
	bool displaces = workload_displaces(w), early = is_early(cq, w);
	struct parting parting = {.n = 0};
	each_feature(f, all->queue->features_awake, parts)
		f->parts(w, &parting);
	struct group_key key = {
		cq, lq, w->shape, parting, expected_ms, w->key.priority, displaces, early};
	uint64_t hash = group_hash(&key);
	struct group *g = map_get(&all->map, hash, &key);
	if (g)
		return g;
	g = mem_alloc(sizeof(*g));
	g->key = *workload_standing(w);
	g->cq = cq;
	g->lq = lq;
	g->parting = parting;
	g->expected_ms = g->least_timed_ms = expected_ms;
	g->least_expected_ms = own_expected_ms(g);
	g->displaces = displaces;
	g->early = early;
	g->shape = w->shape; /* kept alive by its members */
	g->hash = hash;
	tree_init(&g->waiting, in_group_order, NULL);
	claim_init(&g->claim, all->queue, cq, g->shape);
	map_put(&all->map, hash, g);
	group_unjudged(g);
	all->bytes += sizeof(*g) + g->claim.bytes;
	return g;
}

void group_judged(struct group *g)
{
	if (!list_in(&g->fresh))
		return;
	list_leave(&g->fresh);
	g->cq->nfresh--;
}

static void group_free(struct groups *all, struct group *g)
{
	struct group_key key = {g->cq, g->lq, g->shape, g->parting, g->expected_ms, g->key.priority,
		g->displaces, g->early};
	must(map_take(&all->map, g->hash, &key) == g);
	all->bytes -= sizeof(*g) + g->claim.bytes;
	group_judged(g);
	free(g->cq->late_groups);
	g->cq->late_groups = NULL;
	claim_done(&g->claim);
	free(g);
}

struct workload *group_head(const struct group *g)
{
	return g->head;
}

/* True: the new head may displace runs that the last one might not, so it is judged anew. */
static bool group_insert(struct group *g, struct workload *head)
{
	bool older = g->head && head->key.queued_ms < g->head->key.queued_ms &&
		     group_looks_at_age(g->cq->spec.preemption.within_clusterqueue);
	g->head = head;
	g->key = *workload_standing(head);
	tree_insert(precedence_line(g), &g->node, g->key.arrival);
	if (older)
		group_unjudged(g);
	return older;
}

static struct tree *order_of(const struct group *g)
{
	return g->lq ? &g->lq->order : &g->cq->order;
}

void group_join(struct groups *all, struct clusterqueue *cq, struct workload *w)
{
	must(!w->group);
	struct group *g = group_of(all, cq, w);
	bool first = !tree_in(&g->node) || order_cmp(workload_standing(w), &g->key) < 0;
	if (first && tree_in(&g->node))
		tree_remove(precedence_line(g), &g->node);
	tree_insert(&g->waiting, &w->in_group, w->key.arrival);
	tree_insert(order_of(g), &w->in_order, w->key.arrival);
	w->group = g;
	cq->counts.nowhere += g->claim.nowhere;
	if (first)
		group_insert(g, w);
}

bool group_leave(struct groups *all, struct workload *w)
{
	struct group *g = w->group;
	must(g);
	bool first = g->head == w;
	struct tree_node *next = first ? tree_next(&w->in_group) : NULL;
	if (first)
		tree_remove(precedence_line(g), &g->node);
	tree_remove(&g->waiting, &w->in_group);
	tree_remove(order_of(g), &w->in_order);
	w->group = NULL;
	g->cq->counts.nowhere -= g->claim.nowhere;
	if (tree_count(&g->waiting) == 0)
		group_free(all, g);
	else if (first)
		return group_insert(g, container_of(next, struct workload, in_group));
	return false;
}

/* ---- Claims derived anew --------------------------------------------------------------------- */

static void count_nowhere(struct group *g, int sign)
{
	size_t members = g->claim.nowhere ? tree_count(&g->waiting) : 0;
	g->cq->counts.nowhere =
		sign > 0 ? g->cq->counts.nowhere + members : g->cq->counts.nowhere - members;
}

static void group_rederive(struct groups *all, struct group *g)
{
	count_nowhere(g, -1);
	all->bytes -= g->claim.bytes;
	all->edits++;
	claim_done(&g->claim);
	claim_init(&g->claim, all->queue, g->cq, g->shape);
	all->bytes += g->claim.bytes;
	count_nowhere(g, 1);
}

/* Returns how many were derived. */
static size_t line_rederive(struct groups *all, struct tree *line, bool only_moved)
{
	size_t derived = 0;
	for (struct tree_node *n = tree_first(line); n; n = tree_next(n)) {
		struct group *g = container_of(n, struct group, node);
		if (only_moved && !(g->shape->template && g->shape->template->moved))
			continue;
		group_rederive(all, g);
		derived++;
	}
	if (derived > 0)
		tree_refresh(line);
	return derived;
}

static size_t rederive(struct groups *all, struct clusterqueue *cq, bool only_moved)
{
	size_t derived = line_rederive(all, &cq->groups_waiting, only_moved);
	list_each_entry(&cq->localqueues, struct localqueue, lq, of_clusterqueue)
		derived += line_rederive(all, &lq->groups_waiting, only_moved);
	return derived;
}

void groups_rederive(struct groups *all, struct clusterqueue *cq)
{
	rederive(all, cq, false);
}

bool groups_rederive_moved(struct groups *all, struct clusterqueue *cq)
{
	return rederive(all, cq, true) > 0;
}
