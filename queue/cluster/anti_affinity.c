/*
 * Required anti-affinity of present pods, which keeps new pods off.
 *
 * The pods of a Deployment have equal terms, so there are few. Each knows the domains of its
 * owners, by value of its topology key. For a new pod it is first worked out which of them mean it
 * at all.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/cluster/nodes_priv.h"
#include "queue/cluster/pod.h"

struct fingerprint {
	const void *ptr;
	size_t size;
};

static bool has_fingerprint(const void *value, const void *key)
{
	const struct anti_affinity *r = value;
	const struct fingerprint *p = key;
	return r->fingerprint_size == p->size && memcmp(r->fingerprint, p->ptr, p->size) == 0;
}

static bool has_value(const void *value, const void *key)
{
	return strcmp(((const struct home *)value)->value, key) == 0;
}

/* ---- homes ----------------------------------------------------------------------------------- */

static void home_add(struct anti_affinity *r, const struct node *node)
{
	const char *value = node->known ? node_label(node, r->term.topology_key) : NULL;
	if (!value)
		return;
	uint64_t hash = map_hash_string(value);
	struct home *h = map_get(&r->homes, hash, value);
	if (!h) {
		size_t size = strlen(value) + 1;
		h = mem_alloc(sizeof(*h) + size);
		memcpy(h->value, value, size);
		map_put(&r->homes, hash, h);
	}
	h->owners++;
}

static void home_take(struct anti_affinity *r, const struct node *node)
{
	const char *value = node->known ? node_label(node, r->term.topology_key) : NULL;
	if (!value)
		return;
	uint64_t hash = map_hash_string(value);
	struct home *h = map_get(&r->homes, hash, value);
	must(h);
	if (--h->owners == 0)
		free(map_take(&r->homes, hash, value));
}

void anti_affinities_land(struct node_pod *t)
{
	for (size_t i = 0; i < t->nrepels; i++)
		home_add(t->repels[i], t->node);
}

void anti_affinities_lift(struct node_pod *t)
{
	for (size_t i = 0; i < t->nrepels; i++)
		home_take(t->repels[i], t->node);
}

void anti_affinities_settle(struct node *node)
{
	for (struct node_pod *t = node->node_pods; t; t = t->next)
		anti_affinities_land(t);
}

void anti_affinities_unsettle(struct node *node)
{
	for (struct node_pod *t = node->node_pods; t; t = t->next)
		anti_affinities_lift(t);
}

/* ---- the terms ------------------------------------------------------------------------------- */

static struct anti_affinity *anti_affinity_new(
	struct nodes *n, const char *ns, const struct affinity_term *t, struct buf *b)
{
	struct anti_affinity *r = mem_alloc(sizeof(*r));
	r->ns = arena_string(&r->arena, ns);
	r->term = *copy_affinity_terms(&r->arena, t, 1);
	r->hash = map_hash_bytes(b->ptr, b->len);
	r->fingerprint_size = b->len;
	r->fingerprint = buf_take(b);
	map_init(&r->homes, has_value);
	n->anti_affinities.has_key = has_fingerprint;
	map_put(&n->anti_affinities, r->hash, r);
	r->next = n->first_anti_affinity;
	if (r->next)
		r->next->previous = r;
	n->first_anti_affinity = r;
	return r;
}

static struct anti_affinity *anti_affinity_of(
	struct nodes *n, const char *ns, const struct affinity_term *t)
{
	struct buf b;
	buf_init(&b, SIZE_MAX / 2);
	fingerprint_affinity_term(&b, ns, t);
	struct fingerprint key = {b.ptr, b.len};
	n->anti_affinities.has_key = has_fingerprint;
	struct anti_affinity *r = map_get(&n->anti_affinities, map_hash_bytes(b.ptr, b.len), &key);
	if (!r)
		r = anti_affinity_new(n, ns, t, &b);
	buf_done(&b);
	return r;
}

static void anti_affinity_free(struct nodes *n, struct anti_affinity *r)
{
	struct fingerprint key = {r->fingerprint, r->fingerprint_size};
	map_take(&n->anti_affinities, r->hash, &key);
	if (r->previous)
		r->previous->next = r->next;
	else
		n->first_anti_affinity = r->next;
	if (r->next)
		r->next->previous = r->previous;
	must(r->homes.count == 0);
	map_done(&r->homes);
	arena_done(&r->arena);
	free(r->fingerprint);
	free(r);
}

void anti_affinities_of(struct nodes *n, struct node_pod *t, const struct pod *p)
{
	t->repels = arena_take(&t->arena, p->nanti_affinity, sizeof(struct anti_affinity *));
	t->nrepels = p->nanti_affinity;
	for (size_t i = 0; i < t->nrepels; i++) {
		t->repels[i] = anti_affinity_of(n, t->ns, &p->anti_affinity[i]);
		t->repels[i]->owners++;
		home_add(t->repels[i], t->node);
	}
}

void anti_affinities_leave(struct nodes *n, struct node_pod *t)
{
	for (size_t i = 0; i < t->nrepels; i++) {
		home_take(t->repels[i], t->node);
		if (--t->repels[i]->owners == 0)
			anti_affinity_free(n, t->repels[i]);
	}
	t->nrepels = 0;
}

/* ---- Which pods they mean -------------------------------------------------------------------- */

static bool means(const struct nodes *n, const struct anti_affinity *r, const struct pod *p)
{
	return r->term.has_selector && nodes_term_covers(n, &r->term, r->ns, p->ns) &&
	       labels_match(p->labels, p->nlabels, &r->term.selector);
}

struct anti_affinity **anti_affinities_against(
	const struct nodes *n, const struct pod *p, size_t *ret_n)
{
	struct anti_affinity **all = NULL;
	*ret_n = 0;
	for (struct anti_affinity *r = n->first_anti_affinity; r; r = r->next) {
		if (!means(n, r, p))
			continue;
		all = mem_grow(all, *ret_n + 1, sizeof(*all));
		all[(*ret_n)++] = r;
	}
	return all;
}

bool anti_affinity_keeps_off(const struct anti_affinity *r, const struct node *node)
{
	const char *value = node_label(node, r->term.topology_key);
	return value && map_get(&r->homes, map_hash_string(value), value);
}
