#include "queue/core/model/usage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core/model/state.h"
#include "sluice/quantity.h"
#include "queue/core/model/tell.h"

#define ENTRY_MS 300000
#define FINE 1e6

struct usage_key {
	const char *ns, *localqueue;
};

static bool usage_is(const void *value, const void *key)
{
	const struct usage *u = value;
	const struct usage_key *k = key;
	return strcmp(u->localqueue, k->localqueue) == 0 && strcmp(u->ns, k->ns) == 0;
}

void usages_init(struct usages *all)
{
	map_init(&all->map, usage_is);
	list_init(&all->changes);
}

void usages_done(struct usages *all)
{
	struct usage *u;
	map_each(&all->map, i, u) {
		free(u->ns);
		free(u->localqueue);
		free(u);
	}
	map_done(&all->map);
}

static uint64_t usage_hash(const char *ns, const char *localqueue)
{
	return map_hash_string(ns) * 31 + map_hash_string(localqueue);
}

static struct usage *usage_find(const struct queue *q, const char *ns, const char *localqueue)
{
	struct usage_key key = {ns, localqueue};
	return map_get(&q->usages.map, usage_hash(ns, localqueue), &key);
}

static struct usage *usage_keep(struct queue *q, const char *ns, const char *localqueue, int64_t at)
{
	struct usage *u = usage_find(q, ns, localqueue);
	if (u)
		return u;
	u = mem_alloc(sizeof(*u));
	u->ns = mem_strdup(ns);
	u->localqueue = mem_strdup(localqueue);
	u->at_ms = at;
	map_put(&q->usages.map, usage_hash(ns, localqueue), u);
	return u;
}

/* The part of past consumption that is left after `ms`. */
static double left_after(const struct queue *q, int64_t ms)
{
	int64_t half_life = q->config.usage_half_life_ms;
	if (half_life <= 0)
		return 0;
	return ms <= 0 ? 1 : exp2(-(double)ms / (double)half_life);
}

static double consumed_at(const struct queue *q, const struct usage *u, int64_t now_ms)
{
	double use = q->config.usage_half_life_ms > 0 ? (double)u->use : 0;
	return use + (u->consumed - use) * left_after(q, now_ms - u->at_ms);
}

static void advance(const struct queue *q, struct usage *u, int64_t now_ms)
{
	if (now_ms <= u->at_ms)
		return;
	u->consumed = consumed_at(q, u, now_ms);
	u->at_ms = now_ms;
}

static __int128 weighted(const struct queue *q, const char *resource, int64_t amount)
{
	int64_t weight = 1000;
	for (size_t i = 0; i < q->config.nusage_weights; i++)
		if (strcmp(q->config.usage_weight[i].name, resource) == 0)
			weight = q->config.usage_weight[i].amount;
	bool milli = quantity_unit_of(resource) == QUANTITY_MILLI;
	return (__int128)amount * (milli ? 1 : 1000) * weight;
}

/* Adds a use that lasted from `from_ms` to the moment of the record. */
static void add_past(const struct queue *q, struct usage *u, __int128 use, int64_t from_ms)
{
	u->consumed += (double)use * (1 - left_after(q, u->at_ms - from_ms));
}

static struct usage *usage_mine(struct queue *q, struct localqueue *lq, int64_t now_ms)
{
	if (!lq->usage)
		lq->usage = usage_keep(q, lq->ns->name, lq->name, now_ms);
	return lq->usage;
}

void usage_change(
	struct queue *q, struct localqueue *lq, const char *resource, int64_t more, int64_t now_ms)
{
	struct usage *u = usage_mine(q, lq, now_ms);
	__int128 use = weighted(q, resource, more);
	advance(q, u, now_ms);
	add_past(q, u, use, now_ms);
	u->use += use;
}

void usage_change_next(struct queue *q, struct localqueue *lq, const char *resource, int64_t more)
{
	struct usage *u = usage_mine(q, lq, q->now_ms);
	u->change += weighted(q, resource, more);
	if (!list_in(&u->changes))
		list_add(&q->usages.changes, &u->changes);
}

void usages_decide(struct queue *q)
{
	while (!list_empty(&q->usages.changes)) {
		struct usage *u = container_of(q->usages.changes.next, struct usage, changes);
		list_leave(&u->changes);
		advance(q, u, q->now_ms);
		u->use += u->change;
		u->change = 0;
	}
}

/* Cached, because each start asks. */
static double entry_part(struct queue *q)
{
	struct usages *all = &q->usages;
	if (all->entry_half_life_ms != q->config.usage_half_life_ms || all->entry_part == 0) {
		all->entry_half_life_ms = q->config.usage_half_life_ms;
		all->entry_part = 1 - left_after(q, ENTRY_MS);
	}
	return all->entry_part;
}

static void enter(struct queue *q, struct usage *u, __int128 use, int64_t now_ms)
{
	double penalty = (double)use * entry_part(q);
	advance(q, u, now_ms);
	if (q->config.usage_half_life_ms > 0)
		u->consumed += penalty * left_after(q, u->at_ms - now_ms);
}

void usage_enter(struct queue *q, struct localqueue *lq, const char *resource, int64_t amount,
	int64_t now_ms)
{
	enter(q, usage_mine(q, lq, now_ms), weighted(q, resource, amount), now_ms);
}

double usage_of(const struct queue *q, const struct localqueue *lq, int64_t now_ms)
{
	const struct usage *u = lq->usage ? lq->usage : usage_find(q, lq->ns->name, lq->name);
	if (!(lq->weight > 0))
		return INFINITY;
	return u ? consumed_at(q, u, now_ms) / FINE / lq->weight : 0;
}

/* After so many half-lives less than a hundredth is left. */
#define HALF_LIVES 7

int64_t queue_recall_ms(const struct queue *q)
{
	for (struct tree_node *n = tree_first(&q->clusterqueues.shown); n; n = tree_next(n))
		if (container_of(n, struct clusterqueue, by_name)->spec.orders_by_usage)
			return quantity_times(q->config.usage_half_life_ms, HALF_LIVES);
	return 0;
}

void queue_recall_run(struct queue *q, const char *ns, const char *localqueue,
	const struct quota_line *lines, size_t n, int64_t from_ms, int64_t to_ms)
{
	queue_tell(q, RECALL_RUN, .ns = ns, .localqueue_name = localqueue, .lines = lines,
		.nlines = n, .from_ms = from_ms, .to_ms = to_ms);
	struct usage *u = usage_keep(q, ns, localqueue, to_ms);
	advance(q, u, to_ms);
	for (size_t i = 0; i < n && to_ms >= from_ms; i++) {
		__int128 use = weighted(q, lines[i].resource, lines[i].amount);
		enter(q, u, use, from_ms);
		add_past(q, u, use, from_ms);
		add_past(q, u, -use, to_ms);
	}
}
