#include "controller/overcommit/pools.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "overcommit/standing.h"
#include "sluice/quantity.h"

struct pool {
	struct flavor_spec *flavor;
	struct idle_pool told; /* flavor NULL: nothing yet */
};

struct pools {
	const struct inventory *inventory;
	struct queue *queue;
	struct pool *pool; /* in name order */
	size_t count;
};

struct pools *pools_new(const struct inventory *inventory, struct queue *queue)
{
	struct pools *p = mem_alloc(sizeof(*p));
	p->inventory = inventory;
	p->queue = queue;
	return p;
}

void pools_free(struct pools *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->count; i++)
		free(p->pool[i].flavor);
	free(p->pool);
	free(p);
}

/* ---- flavors --------------------------------------------------------------------------------- */

static size_t place_of(const struct pools *p, const char *name)
{
	size_t i = 0;
	while (i < p->count && strcmp(p->pool[i].flavor->name, name) < 0)
		i++;
	return i;
}

static bool is_at(const struct pools *p, size_t i, const char *name)
{
	return i < p->count && strcmp(p->pool[i].flavor->name, name) == 0;
}

void pools_drop(struct pools *p, const char *name)
{
	size_t i = place_of(p, name);
	if (!is_at(p, i, name))
		return;
	free(p->pool[i].flavor);
	memmove(&p->pool[i], &p->pool[i + 1], (p->count - i - 1) * sizeof(*p->pool));
	p->count--;
}

void pools_see(struct pools *p, struct flavor_spec *s)
{
	if (s->lending == LENDING_NONE) {
		pools_drop(p, s->name);
		free(s);
		return;
	}
	size_t i = place_of(p, s->name);
	if (is_at(p, i, s->name)) {
		free(p->pool[i].flavor);
	} else {
		p->pool = mem_grow(p->pool, p->count + 1, sizeof(*p->pool));
		memmove(&p->pool[i + 1], &p->pool[i], (p->count - i) * sizeof(*p->pool));
		p->count++;
	}
	p->pool[i] = (struct pool){.flavor = s};
}

size_t pools_count(const struct pools *p)
{
	return p->count;
}

/* ---- how much -------------------------------------------------------------------------------- */

/* Gives what is lent of a resource; either is negative where the node has no such key. */
static int64_t amount(int64_t published, int64_t wanted)
{
	int64_t lent = least(published, wanted);
	return lent > 0 ? lent : 0;
}

static struct load left_on(enum lending l, const struct node_state *a)
{
	const struct figures *t = &a->there, *w = &a->want;
	struct load lent = {
		amount(t->batch_cpu, w->batch_cpu), amount(t->batch_memory, w->batch_memory)};
	struct load others = a->batch_others;
	if (l == LENDING_GOCRAN) {
		lent = (struct load){quantity_times(amount(t->gocran_cpu, w->gocran_cpu), 1000),
			amount(t->gocran_memory, w->gocran_memory)};
		others = a->gocran_others;
	}
	return load_max(load_less(lent, others), (struct load){0, 0});
}

static struct idle_pool sum(const struct pools *p, const struct flavor_spec *f)
{
	struct idle_pool pool = {.flavor = f->name};
	struct load all = {0, 0}, most = {0, 0};
	const struct inventory_node *n;
	for (size_t i = 0; (n = inventory_node_at(p->inventory, i)); i++) {
		if (!n->facts || !node_stands_in(n->facts, &f->nodes))
			continue;
		struct load left = left_on(f->lending, &n->node_state);
		all = load_add(all, left);
		most = load_max(most, left);
	}
	pool.cpu_milli = all.cpu_milli;
	pool.memory_bytes = all.memory_bytes;
	pool.most_cpu_milli = most.cpu_milli;
	pool.most_memory_bytes = most.memory_bytes;
	return pool;
}

static bool same(const struct idle_pool *a, const struct idle_pool *b)
{
	return a->flavor && a->cpu_milli == b->cpu_milli && a->memory_bytes == b->memory_bytes &&
	       a->most_cpu_milli == b->most_cpu_milli &&
	       a->most_memory_bytes == b->most_memory_bytes;
}

bool pools_tell(struct pools *p)
{
	bool news = false;
	for (size_t i = 0; i < p->count; i++) {
		struct idle_pool now = sum(p, p->pool[i].flavor);
		if (same(&p->pool[i].told, &now))
			continue;
		p->pool[i].told = now;
		queue_set_idle_pool(p->queue, &now);
		news = true;
	}
	return news;
}

const struct idle_pool *pools_at(const struct pools *p, size_t index)
{
	return index < p->count ? &p->pool[index].told : NULL;
}
