#include "queue/cluster/fit_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/cluster/pod.h"
#include "queue/job/placement.h"
#include "queue/job/specs.h"

/* The most kinds of pods that are cached; the least lately asked is dropped. For 5,000 nodes each
 * takes 60 kB, with a ranking 125 kB. */
#define FIT_CACHES_MAX 128

struct fingerprint {
	const void *ptr;
	size_t size;
};

static bool has_fingerprint(const void *value, const void *key)
{
	const struct fit_cache *s = value;
	const struct fingerprint *p = key;
	return s->fingerprint_size == p->size && memcmp(s->fingerprint, p->ptr, p->size) == 0;
}

/* ---- one node -------------------------------------------------------------------------------- */

static int64_t amount_of(const struct asked_resource *r, const int64_t *amounts)
{
	return r->number < 0 ? 0 : amounts[r->number];
}

/* Returns whether the resource is asked of the node's devices, which are not looked at. */
static bool is_of_devices(const struct asked_resource *r, const int64_t *allocatable)
{
	return r->devices && amount_of(r, allocatable) == 0;
}

static uint32_t lacks(const struct fit_cache *s, const int64_t *allocatable, const int64_t *used)
{
	uint32_t set = 0;
	for (size_t i = 0; i < s->nresources; i++) {
		const struct asked_resource *r = &s->resource[i];
		int64_t free = amount_of(r, allocatable) - (used ? amount_of(r, used) : 0);
		size_t o = OBSTACLE_RESOURCE + i;
		if (r->amount > free && !is_of_devices(r, allocatable))
			set |= OBSTACLE_BIT(o < OBSTACLES ? o : OBSTACLES - 1);
	}
	return set;
}

static int64_t allowed_pods(const struct nodes *n, const struct node_shape *shape)
{
	int32_t number = node_classes_resource(&n->node_classes, "pods");
	return number < 0 ? 0 : shape->amount[number];
}

static uint32_t too_many_pods(int64_t allowed, int64_t there)
{
	return there >= allowed ? OBSTACLE_BIT(OBSTACLE_PODS) : 0;
}

/* Of an empty node: its size, and the domains in which it must be. */
static uint32_t ever_of(const struct fit_cache *s, const struct nodes *n, const struct site *site,
	const struct node_shape *shape)
{
	const struct pod *p = &s->pod;
	uint32_t set = filter_ever(p, site);
	if (!set)
		set = lacks(s, shape->amount, NULL) | too_many_pods(allowed_pods(n, shape), 0);
	for (size_t i = 0; i < p->nspread && !set; i++)
		if (!label_value(site->labels, site->nlabels, p->spread[i].topology_key))
			set = OBSTACLE_BIT(OBSTACLE_SPREAD_LABEL);
	for (size_t i = 0; i < p->naffinity && !set; i++)
		if (!label_value(site->labels, site->nlabels, p->affinity[i].topology_key))
			set = OBSTACLE_BIT(OBSTACLE_AFFINITY);
	return set;
}

static struct shape_outlook ask_site(const struct fit_cache *s, const struct nodes *n,
	const struct site *site, const struct node_shape *shape)
{
	return (struct shape_outlook){
		shape->serial, filter_now(&s->pod, site), ever_of(s, n, site, shape)};
}

static struct shape_outlook ask_shape(
	struct fit_cache *s, const struct nodes *n, const struct node *node)
{
	const struct node_shape *shape = node->shape;
	if (s->blind) {
		struct site site = node_site(node);
		return ask_site(s, n, &site, shape);
	}
	if (shape->id >= s->nshapes) {
		s->shape = mem_grow(s->shape, n->node_classes.nslots, sizeof(*s->shape));
		for (size_t i = s->nshapes; i < n->node_classes.nslots; i++)
			s->shape[i] = (struct shape_outlook){0};
		s->nshapes = n->node_classes.nslots;
	}
	struct shape_outlook *o = &s->shape[shape->id];
	if (o->serial != shape->serial)
		*o = ask_site(s, n, &shape->site, shape);
	return *o;
}

static bool ports_taken(const struct fit_cache *s, const struct node *node)
{
	if (s->pod.nhost_ports == 0 || node->nports == 0)
		return false;
	for (const struct node_pod *t = node->node_pods; t; t = t->next)
		for (size_t u = 0; u < t->nports; u++)
			for (size_t w = 0; w < s->pod.nhost_ports; w++)
				if (host_port_taken(&s->pod.host_ports[w], &t->ports[u]))
					return true;
	return false;
}

/* How many such pods fit beside the present ones. With host ports, only one. */
static int32_t room_of(const struct fit_cache *s, const struct nodes *n, const struct node *node)
{
	int64_t room = allowed_pods(n, node->shape) - node->nnode_pods;
	if (s->pod.nhost_ports > 0 && room > 1)
		room = 1;
	for (size_t i = 0; i < s->nresources; i++) {
		const struct asked_resource *r = &s->resource[i];
		if (is_of_devices(r, node->shape->amount))
			continue;
		int64_t free = amount_of(r, node->shape->amount) - amount_of(r, node->used);
		if (free / r->amount < room)
			room = free / r->amount;
	}
	return room < INT32_MAX ? (int32_t)room : INT32_MAX;
}

static struct outlook look_at(struct fit_cache *s, const struct nodes *n, const struct node *node)
{
	struct shape_outlook o = ask_shape(s, n, node);
	struct outlook out = {.now = o.now, .ever = o.ever, .room = 0};
	if (!out.now && ports_taken(s, node))
		out.now = OBSTACLE_BIT(OBSTACLE_PORTS);
	if (!out.now)
		out.now = lacks(s, node->shape->amount, node->used) |
			  too_many_pods(allowed_pods(n, node->shape), node->nnode_pods);
	if (!out.now)
		out.room = room_of(s, n, node);
	return out;
}

/* ---- all nodes ------------------------------------------------------------------------------- */

static void count_set(size_t counts[OBSTACLES], uint32_t set, bool add)
{
	for (size_t o = 0; set; o++, set >>= 1)
		if (set & 1)
			counts[o] = add ? counts[o] + 1 : counts[o] - 1;
}

static void tally_add(struct tally *t, const struct outlook *o)
{
	t->fitting += o->now == 0;
	t->suitable += o->ever == 0;
	t->room += o->room;
	count_set(t->now, o->now, true);
	count_set(t->ever, o->ever, true);
}

static void tally_take(struct tally *t, const struct outlook *o)
{
	t->fitting -= o->now == 0;
	t->suitable -= o->ever == 0;
	t->room -= o->room;
	count_set(t->now, o->now, false);
	count_set(t->ever, o->ever, false);
}

static void make_room(struct fit_cache *s, size_t nslots)
{
	if (nslots <= s->nslots)
		return;
	s->outlook = mem_grow(s->outlook, nslots, sizeof(*s->outlook));
	for (size_t i = s->nslots; i < nslots; i++)
		s->outlook[i] = (struct outlook){.room = -1};
	s->nslots = nslots;
	ranking_done(&s->ranking);
}

static int32_t rank_of(const struct outlook *o)
{
	return o->now == 0 && o->room > 0 ? o->room : 0;
}

struct ranking *fit_cache_ranking(struct fit_cache *s)
{
	if (!s->ranking.most) {
		ranking_init(&s->ranking, s->nslots);
		for (size_t i = 0; i < s->nslots; i++)
			ranking_set(&s->ranking, i, rank_of(&s->outlook[i]));
	}
	return &s->ranking;
}

static void count_slot(struct fit_cache *s, const struct nodes *n, uint32_t slot)
{
	const struct node *node = n->slot[slot];
	struct outlook *o = &s->outlook[slot];
	if (o->room >= 0)
		tally_take(&s->tally, o);
	*o = (struct outlook){.room = -1};
	if (s->pod_affinity && node)
		pod_affinity_count(s->pod_affinity, n, node);
	else if (s->pod_affinity)
		pod_affinity_forget(s->pod_affinity, slot);
	if (node && node->known) {
		*o = look_at(s, n, node);
		tally_add(&s->tally, o);
	}
	if (s->ranking.most)
		ranking_set(&s->ranking, slot, rank_of(o));
}

static void count_all(struct fit_cache *s, const struct nodes *n)
{
	free(s->outlook);
	s->outlook = NULL;
	s->nslots = 0;
	ranking_done(&s->ranking);
	s->tally = (struct tally){0};
	pod_affinity_free(s->pod_affinity);
	s->pod_affinity = pod_is_sociable(&s->pod) ? pod_affinity_new(n, &s->pod) : NULL;
	s->own_moves = n->node_classes.own_moves;
	s->namespace_moves = n->namespace_moves;
	s->blind = node_classes_blind_to(&n->node_classes, &s->pod);
	make_room(s, n->nslots);
	if (s->pod_affinity)
		pod_affinity_prepare(s->pod_affinity, n);
	for (size_t i = 0; i < n->nslots; i++)
		count_slot(s, n, (uint32_t)i);
}

/* A node with a later change in the log is looked at there. */
static void count_changed(struct fit_cache *s, const struct nodes *n)
{
	make_room(s, n->nslots);
	if (s->pod_affinity)
		pod_affinity_prepare(s->pod_affinity, n);
	for (size_t i = (size_t)(s->seen - n->log.base); i < n->log.n; i++) {
		uint32_t slot = n->log.slot[i];
		const struct node *node = n->slot[slot];
		if (!node || node->changed == n->log.base + i)
			count_slot(s, n, slot);
	}
}

static void bring_up_to_date(struct fit_cache *s, const struct nodes *n)
{
	bool anew = s->seen < n->log.base || s->own_moves != n->node_classes.own_moves ||
		    (s->pod_affinity && s->namespace_moves != n->namespace_moves);
	if (anew)
		count_all(s, n);
	else
		count_changed(s, n);
	s->seen = n->log.base + n->log.n;
}

void fit_cache_recount(struct fit_cache *s, const struct nodes *n, uint32_t slot)
{
	count_slot(s, n, slot);
	s->last_version = s->last_room_version = UINT64_MAX;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void keep_requests(struct fit_cache *s, const struct nodes *n, const struct pod *p)
{
	size_t count = pod_requests(&p->resources, NULL, 0);
	struct resource *all = mem_array(count + 1, sizeof(*all));
	pod_requests(&p->resources, all, count);
	s->resource = arena_take(&s->arena, count, sizeof(*s->resource));
	for (size_t i = 0; i < count; i++)
		if (all[i].amount > 0 && strcmp(all[i].name, "pods") != 0)
			s->resource[s->nresources++] = (struct asked_resource){
				.name = arena_string(&s->arena, all[i].name),
				.number = node_classes_resource(&n->node_classes, all[i].name),
				.amount = all[i].amount,
				.devices = nodes_devices_may_have(n, all[i].name)};
	free(all);
}

static void keep_pod(struct fit_cache *s, const struct pod *p)
{
	struct arena *a = &s->arena;
	s->pod = (struct pod){
		.ns = arena_string(a, p->ns),
		.labels = label_copies(a, p->labels, p->nlabels),
		.nlabels = p->nlabels,
		.priority_class = "",
		.node_name = arena_string(a, p->node_name),
		.scheduler = arena_string(a, p->scheduler),
		.node_selector = label_copies(a, p->node_selector, p->nnode_selector),
		.nnode_selector = p->nnode_selector,
		.tolerations = toleration_copies(a, p->tolerations, p->ntolerations),
		.ntolerations = p->ntolerations,
		.has_terms = p->has_terms,
		.terms = node_term_copies(a, p->terms, p->nterms),
		.nterms = p->nterms,
		.affinity = copy_affinity_terms(a, p->affinity, p->naffinity),
		.naffinity = p->naffinity,
		.anti_affinity = copy_affinity_terms(a, p->anti_affinity, p->nanti_affinity),
		.nanti_affinity = p->nanti_affinity,
		.spread = copy_spread(a, p->spread, p->nspread),
		.nspread = p->nspread,
		.host_ports = copy_host_ports(a, p->host_ports, p->nhost_ports),
		.nhost_ports = p->nhost_ports,
	};
}

static struct fit_cache *fit_cache_new(struct nodes *n, const struct pod *p, struct buf *b)
{
	struct fit_cache *s = mem_alloc(sizeof(*s));
	keep_pod(s, p);
	keep_requests(s, n, p);
	s->hash = map_hash_bytes(b->ptr, b->len);
	s->fingerprint_size = b->len;
	s->fingerprint = buf_take(b);
	s->last_version = s->last_room_version = UINT64_MAX;
	n->fit_caches.has_key = has_fingerprint;
	map_put(&n->fit_caches, s->hash, s);
	s->next = n->first_fit_cache;
	if (s->next)
		s->next->previous = s;
	n->first_fit_cache = s;
	n->nfit_caches++;
	count_all(s, n);
	s->seen = n->log.base + n->log.n;
	return s;
}

void fit_cache_free(struct nodes *n, struct fit_cache *s)
{
	struct fingerprint key = {s->fingerprint, s->fingerprint_size};
	map_take(&n->fit_caches, s->hash, &key);
	if (s->previous)
		s->previous->next = s->next;
	else
		n->first_fit_cache = s->next;
	if (s->next)
		s->next->previous = s->previous;
	n->nfit_caches--;
	pod_affinity_free(s->pod_affinity);
	arena_done(&s->arena);
	ranking_done(&s->ranking);
	free(s->shape);
	free(s->outlook);
	free(s->fingerprint);
	free(s);
}

static void forget_oldest(struct nodes *n)
{
	struct fit_cache *oldest = n->first_fit_cache;
	for (struct fit_cache *s = oldest; s; s = s->next)
		if (s->asked < oldest->asked)
			oldest = s;
	fit_cache_free(n, oldest);
}

struct fit_cache *fit_cache_of(struct nodes *n, const struct pod *p)
{
	struct buf b;
	buf_init(&b, SIZE_MAX / 2);
	fingerprint_wanted(&b, p);
	struct fingerprint key = {b.ptr, b.len};
	n->fit_caches.has_key = has_fingerprint;
	struct fit_cache *s = map_get(&n->fit_caches, map_hash_bytes(b.ptr, b.len), &key);
	if (s) {
		bring_up_to_date(s, n);
	} else {
		if (n->nfit_caches == FIT_CACHES_MAX)
			forget_oldest(n);
		s = fit_cache_new(n, p, &b);
	}
	s->asked = ++n->asked;
	n->names_nodes |= s->blind;
	n->wants_pod_affinity |= p->naffinity + p->nspread > 0;
	buf_done(&b);
	return s;
}

/* ---- Pod affinity ---------------------------------------------------------------------------- */

bool repelled(struct anti_affinity *const *repels, size_t nrepels, const struct node *node)
{
	for (size_t i = 0; i < nrepels; i++)
		if (anti_affinity_keeps_off(repels[i], node))
			return true;
	return false;
}

static enum obstacle others_obstacle(struct fit_cache *s, const struct node *node,
	struct anti_affinity *const *repels, size_t nrepels)
{
	enum obstacle o =
		s->pod_affinity ? pod_affinity_obstacle(s->pod_affinity, node->slot) : OBSTACLES;
	if (o == OBSTACLES && repelled(repels, nrepels, node))
		o = OBSTACLE_OTHERS_ANTI_AFFINITY;
	return o;
}

/* For a pod that names its node, affinity to pods is not checked. */
struct tally fit_cache_tally(struct fit_cache *s, const struct nodes *n,
	struct anti_affinity *const *repels, size_t nrepels)
{
	struct tally t = s->tally;
	if (*s->pod.node_name || (!s->pod_affinity && nrepels == 0))
		return t;
	if (nrepels == 0 && s->last_version == n->version)
		return s->last;
	for (size_t i = 0; i < s->nslots; i++) {
		if (s->outlook[i].room < 0 || s->outlook[i].now)
			continue;
		enum obstacle o = others_obstacle(s, n->slot[i], repels, nrepels);
		if (o == OBSTACLES)
			continue;
		t.now[o]++;
		t.fitting--;
		t.room -= s->outlook[i].room;
	}
	if (nrepels == 0) {
		s->last = t;
		s->last_version = n->version;
	}
	return t;
}
