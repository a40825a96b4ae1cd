#include "controller/overcommit/node_orders.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/mix.h"
#include "controller/overcommit/lent_pod.h"

enum {
	CALM_MS = 10000, /* how often the order of pods is looked at */
	SHORT_MS = 2000, /* while memory is short */
	RISE_PERCENT = 10,
};

_Static_assert((int)LENT_CONTAINER_ID_SIZE == (int)CONTAINER_ID_SIZE &&
		       (int)LENT_CONTAINERS_MAX <= (int)ORDERS_CONTAINERS_MAX,
	"what is kept of containers fits into orders");

/* The orders of a node. */
struct kept {
	struct orders orders;
	struct ordered_pod *pods;
	struct ordered_container *containers; /* of all pods */
	int64_t looked_ms;
	char node[];
};

struct node_orders {
	struct node_orders_options o;
	struct map by_name;
	struct kept **all;
	size_t count, room;
};

static bool kept_has_name(const void *value, const void *key)
{
	return strcmp(((const struct kept *)value)->node, key) == 0;
}

struct node_orders *node_orders_new(const struct node_orders_options *o)
{
	struct node_orders *m = mem_alloc(sizeof(*m));
	m->o = *o;
	map_init(&m->by_name, kept_has_name);
	return m;
}

static void kept_free(struct kept *k)
{
	free(k->pods);
	free(k->containers);
	free(k);
}

void node_orders_free(struct node_orders *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->count; i++)
		kept_free(m->all[i]);
	free(m->all);
	map_done(&m->by_name);
	free(m);
}

size_t node_orders_count(const struct node_orders *m)
{
	return m->count;
}

/* ---- the generation -------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, int64_t value)
{
	return mix64(h ^ mix64((uint64_t)value));
}

static uint64_t mix_bytes(uint64_t h, const void *ptr, size_t len)
{
	return mix(h, (int64_t)map_hash_bytes(ptr, len));
}

static uint64_t mix_load(uint64_t h, struct load l)
{
	return mix(mix(h, l.cpu_milli), l.memory_bytes);
}

static uint64_t mix_pod(uint64_t h, const struct ordered_pod *p)
{
	h = mix_load(mix_bytes(h, p->uid.byte, sizeof(p->uid.byte)), p->asked);
	h = mix(mix(h, p->stays), (int64_t)p->ncontainers);
	for (size_t i = 0; i < p->ncontainers; i++) {
		h = mix_bytes(h, p->containers[i].id, strlen(p->containers[i].id));
		h = mix_load(h, p->containers[i].asked);
	}
	return h;
}

static uint64_t mix_header(const struct orders *o)
{
	uint64_t h = mix(0, o->lends | o->limits << 1 | o->suppress << 2 | (int)o->idle << 3);
	h = mix_load(mix_load(h, o->capacity), o->reserved);
	h = mix(mix(h, o->suppress_percent), o->suppress_min_percent);
	h = mix(mix(h, o->suppress_rise_percent), o->hold_percent);
	return mix(h, o->end_percent);
}

/* Gives a number that a double holds, and never 0. */
static int64_t generation_of(const struct orders *o)
{
	uint64_t h = mix(mix_header(o), (int64_t)o->npods);
	for (size_t i = 0; i < o->npods; i++)
		h = mix_pod(h, &o->pods[i]);
	return (int64_t)(h >> 12) + 1;
}

/* ---- what they say --------------------------------------------------------------------------- */

const struct orders *node_orders_off(void)
{
	static struct orders off;
	off.generation = generation_of(&off);
	return &off;
}

/* Gives all but the pods. */
static struct orders header_of(const struct inventory_node *n)
{
	const struct strategy *s = &n->node_state.strategy;
	if (!s->enable) /* the capacity bounds what a sample may say */
		return (struct orders){.capacity = n->facts->capacity};
	return (struct orders){.lends = true,
		.limits = s->limits,
		.suppress = s->suppress,
		.capacity = n->facts->capacity,
		.reserved = n->facts->reservation,
		.suppress_percent = s->suppress_percent,
		.suppress_min_percent = s->suppress_min,
		.suppress_rise_percent = RISE_PERCENT,
		.idle = s->cpu_idle,
		.hold_percent = s->hold,
		.end_percent = s->end};
}

/* A pod, and where it stands in the order. */
struct place {
	const struct inventory_pod *pod;
	struct reclaim_pod row;
};

static int in_order(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	if (x->row.leaving != y->row.leaving)
		return x->row.leaving ? -1 : 1;
	return reclaim_compare(RECLAIM_MEMORY, &x->row, &y->row);
}

/* Whether so much memory is used that pods may soon have to go. */
static bool is_short(const struct inventory_node *n)
{
	int64_t capacity = n->facts->capacity.memory_bytes;
	return capacity > 0 && n->used_ms != 0 &&
	       n->used.memory_bytes >= capacity / 100 * n->node_state.strategy.evict_memory;
}

/* Compares by age: pods that their kubelet has taken before those that it may reject, the oldest
 * first. */
static int by_age(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	if (x->pod->lent->looked_at != y->pod->lent->looked_at)
		return x->pod->lent->looked_at ? -1 : 1;
	return x->row.started_ms < y->row.started_ms ? -1 : x->row.started_ms > y->row.started_ms;
}

static struct place *order_pods(const struct node_orders *m, const struct inventory_node *n,
	int64_t now_ms, size_t *ret_count)
{
	struct place *all = mem_array(n->npods + 1, sizeof(*all));
	bool by_use = is_short(n);
	size_t count = 0;
	for (const struct inventory_pod *p = n->pods; p; p = p->next) {
		if (!p->lent)
			continue;
		struct place *at = &all[count++];
		*at = (struct place){p, lent_pod_row(m->o.queue, n, p, now_ms)};
		at->row.has_used &= by_use;
	}
	if (count > ORDERS_PODS_MAX) {
		qsort(all, count, sizeof(*all), by_age);
		count = ORDERS_PODS_MAX;
	}
	qsort(all, count, sizeof(*all), in_order);
	*ret_count = count;
	return all;
}

static void put_containers(
	const struct inventory_lent *l, struct load most, struct ordered_container *to)
{
	for (size_t i = 0; i < l->ncontainers; i++) {
		memcpy(to[i].id, l->containers[i].id, sizeof(to->id));
		to[i].asked = load_min(l->containers[i].asked, most);
	}
}

static void put_pods(const struct queue *q, const struct place *all, size_t count, struct kept *k)
{
	struct load most = k->orders.capacity;
	size_t containers = 0, used = 0;
	for (size_t i = 0; i < count && containers < ORDERS_CONTAINERS_ALL; i++)
		containers += all[i].pod->lent->ncontainers;
	if (containers > ORDERS_CONTAINERS_ALL)
		containers = ORDERS_CONTAINERS_ALL;
	k->pods = mem_array(count + 1, sizeof(*k->pods));
	k->containers = mem_array(containers + 1, sizeof(*k->containers));
	for (size_t i = 0; i < count; i++) {
		const struct inventory_pod *p = all[i].pod;
		k->pods[i] = (struct ordered_pod){.uid = p->uid,
			.asked = load_min(all[i].row.asked, most),
			.stays = !lent_pod_is_ours(q, p)};
		size_t n = p->lent->ncontainers;
		if (n == 0 || n > containers - used)
			continue;
		k->pods[i].containers = &k->containers[used];
		k->pods[i].ncontainers = n;
		put_containers(p->lent, most, &k->containers[used]);
		used += n;
	}
	k->orders.pods = k->pods;
	k->orders.npods = count;
}

/* Makes the content of orders, without their generation, into k. */
static void make(
	const struct node_orders *m, const struct inventory_node *n, int64_t now_ms, struct kept *k)
{
	size_t count = 0;
	k->orders = header_of(n);
	if (!k->orders.lends)
		return;
	struct place *all = order_pods(m, n, now_ms, &count);
	put_pods(m->o.queue, all, count, k);
	free(all);
}

/* ---- are they others? ------------------------------------------------------------------------ */

static bool same_load(struct load a, struct load b)
{
	return a.cpu_milli == b.cpu_milli && a.memory_bytes == b.memory_bytes;
}

static bool same_pod(const struct ordered_pod *a, const struct ordered_pod *b)
{
	if (uid_cmp(&a->uid, &b->uid) != 0 || !same_load(a->asked, b->asked) ||
		a->stays != b->stays || a->ncontainers != b->ncontainers)
		return false;
	for (size_t i = 0; i < a->ncontainers; i++)
		if (strcmp(a->containers[i].id, b->containers[i].id) != 0 ||
			!same_load(a->containers[i].asked, b->containers[i].asked))
			return false;
	return true;
}

static bool same_header(const struct orders *a, const struct orders *b)
{
	return a->lends == b->lends && a->limits == b->limits && a->suppress == b->suppress &&
	       same_load(a->capacity, b->capacity) && same_load(a->reserved, b->reserved) &&
	       a->suppress_percent == b->suppress_percent &&
	       a->suppress_min_percent == b->suppress_min_percent &&
	       a->suppress_rise_percent == b->suppress_rise_percent && a->idle == b->idle &&
	       a->hold_percent == b->hold_percent && a->end_percent == b->end_percent;
}

static bool same(const struct orders *a, const struct orders *b)
{
	if (!same_header(a, b) || a->npods != b->npods)
		return false;
	for (size_t i = 0; i < a->npods; i++)
		if (!same_pod(&a->pods[i], &b->pods[i]))
			return false;
	return true;
}

/* Puts what was made in the place of what there is. */
static void take(struct kept *k, struct kept *made)
{
	int64_t before = k->orders.generation;
	free(k->pods);
	free(k->containers);
	k->orders = made->orders;
	k->pods = made->pods;
	k->containers = made->containers;
	k->orders.generation = generation_of(&k->orders);
	if (k->orders.generation == before)
		k->orders.generation++;
}

/* Makes the orders of a node anew; true: they are others. */
static bool renew(
	struct node_orders *m, struct kept *k, const struct inventory_node *n, int64_t now_ms)
{
	struct kept made = {0};
	k->looked_ms = now_ms;
	make(m, n, now_ms, &made);
	if (k->orders.generation != 0 && same(&made.orders, &k->orders)) {
		free(made.pods);
		free(made.containers);
		return false;
	}
	take(k, &made);
	return true;
}

/* ---- those that are kept --------------------------------------------------------------------- */

static struct kept *find(const struct node_orders *m, const char *node)
{
	return map_get(&m->by_name, map_hash_string(node), node);
}

bool node_orders_is(const struct node_orders *m, const struct inventory_node *n, int64_t generation)
{
	const struct kept *k = find(m, n->name);
	return k && k->orders.generation == generation;
}

static struct kept *add(struct node_orders *m, const char *node)
{
	struct kept *k = mem_alloc(sizeof(*k) + strlen(node) + 1);
	memcpy(k->node, node, strlen(node) + 1);
	map_put(&m->by_name, map_hash_string(node), k);
	m->all = mem_room(m->all, m->count, &m->room, 16, sizeof(struct kept *));
	m->all[m->count++] = k;
	return k;
}

const struct orders *node_orders_of(
	struct node_orders *m, const struct inventory_node *n, int64_t now_ms)
{
	if (!n->facts || !n->node_state.ruled)
		return NULL;
	struct kept *k = find(m, n->name);
	if (!k) {
		k = add(m, n->name);
		renew(m, k, n, now_ms);
	}
	return &k->orders;
}

static void look(
	struct node_orders *m, struct kept *k, const struct inventory_node *n, int64_t now_ms)
{
	if (renew(m, k, n, now_ms))
		m->o.changed(k->node, m->o.ctx);
}

void node_orders_look(struct node_orders *m, const struct inventory_node *n, int64_t now_ms)
{
	struct kept *k = find(m, n->name);
	if (k && n->facts && n->node_state.ruled)
		look(m, k, n, now_ms);
}

static bool is_due(const struct kept *k, const struct inventory_node *n, int64_t now_ms)
{
	struct orders header = header_of(n);
	int64_t age_ms = now_ms - k->looked_ms;
	return age_ms < 0 || age_ms >= (is_short(n) ? SHORT_MS : CALM_MS) ||
	       !same_header(&header, &k->orders);
}

/* Drops the orders at an index, and tells of it. */
static void drop(struct node_orders *m, size_t index)
{
	struct kept *k = m->all[index];
	m->all[index] = m->all[--m->count];
	map_take(&m->by_name, map_hash_string(k->node), k->node);
	m->o.changed(k->node, m->o.ctx);
	kept_free(k);
}

void node_orders_tick(struct node_orders *m, int64_t now_ms)
{
	for (size_t i = m->count; i-- > 0;) {
		struct kept *k = m->all[i];
		const struct inventory_node *n = inventory_find(m->o.inventory, k->node);
		if (!n || !n->facts)
			drop(m, i);
		else if (n->node_state.ruled && is_due(k, n, now_ms))
			look(m, k, n, now_ms);
	}
}
