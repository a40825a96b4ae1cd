/*
 * Repellents: required anti-affinity of the pods that are there, which keeps others off.
 *
 * The pods of a Deployment say the same, so there are few of them; each knows the domains it is in,
 * by value of its topology key. A new pod is first asked which of them mean it at all.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "cluster/copy.h"
#include "cluster/print.h"
#include "cluster/world.h"

struct print {
	const void *ptr;
	size_t size;
};

static bool has_print(const void *value, const void *key)
{
	const struct repellent *r = value;
	const struct print *p = key;
	return r->print_size == p->size && memcmp(r->print, p->ptr, p->size) == 0;
}

static bool has_value(const void *value, const void *key)
{
	return strcmp(((const struct home *)value)->value, key) == 0;
}

/* ---- homes ----------------------------------------------------------------------------------- */

static void home_add(struct repellent *r, const struct node *node)
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

static void home_take(struct repellent *r, const struct node *node)
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

void repellents_land(struct tenant *t)
{
	for (size_t i = 0; i < t->nrepels; i++)
		home_add(t->repels[i], t->node);
}

void repellents_lift(struct tenant *t)
{
	for (size_t i = 0; i < t->nrepels; i++)
		home_take(t->repels[i], t->node);
}

void repellents_settle(struct node *node)
{
	for (struct tenant *t = node->tenants; t; t = t->next)
		repellents_land(t);
}

void repellents_unsettle(struct node *node)
{
	for (struct tenant *t = node->tenants; t; t = t->next)
		repellents_lift(t);
}

/* ---- the terms ------------------------------------------------------------------------------- */

static struct repellent *repellent_new(
	struct nodes *n, const char *ns, const struct affinity_term *t, struct buf *b)
{
	struct repellent *r = mem_alloc(sizeof(*r));
	r->ns = arena_string(&r->arena, ns);
	r->term = *copy_affinity_terms(&r->arena, t, 1);
	r->hash = map_hash_bytes(b->ptr, b->len);
	r->print_size = b->len;
	r->print = buf_take(b);
	map_init(&r->homes, has_value);
	n->repellents.has_key = has_print;
	map_put(&n->repellents, r->hash, r);
	r->next = n->first_repellent;
	if (r->next)
		r->next->previous = r;
	n->first_repellent = r;
	return r;
}

static struct repellent *repellent_of(
	struct nodes *n, const char *ns, const struct affinity_term *t)
{
	struct buf b;
	buf_init(&b, SIZE_MAX / 2);
	print_affinity_term(&b, ns, t);
	struct print key = {b.ptr, b.len};
	n->repellents.has_key = has_print;
	struct repellent *r = map_get(&n->repellents, map_hash_bytes(b.ptr, b.len), &key);
	if (!r)
		r = repellent_new(n, ns, t, &b);
	buf_done(&b);
	return r;
}

static void repellent_free(struct nodes *n, struct repellent *r)
{
	struct print key = {r->print, r->print_size};
	map_take(&n->repellents, r->hash, &key);
	if (r->previous)
		r->previous->next = r->next;
	else
		n->first_repellent = r->next;
	if (r->next)
		r->next->previous = r->previous;
	must(r->homes.count == 0);
	map_done(&r->homes);
	arena_done(&r->arena);
	free(r->print);
	free(r);
}

void repellents_of(struct nodes *n, struct tenant *t, const struct pod *p)
{
	t->repels = arena_take(&t->arena, p->nanti_affinity, sizeof(struct repellent *));
	t->nrepels = p->nanti_affinity;
	for (size_t i = 0; i < t->nrepels; i++) {
		t->repels[i] = repellent_of(n, t->ns, &p->anti_affinity[i]);
		t->repels[i]->owners++;
		home_add(t->repels[i], t->node);
	}
}

void repellents_leave(struct nodes *n, struct tenant *t)
{
	for (size_t i = 0; i < t->nrepels; i++) {
		home_take(t->repels[i], t->node);
		if (--t->repels[i]->owners == 0)
			repellent_free(n, t->repels[i]);
	}
	t->nrepels = 0;
}

/* ---- whom they mean -------------------------------------------------------------------------- */

static bool means(const struct nodes *n, const struct repellent *r, const struct pod *p)
{
	return r->term.has_selector && world_term_covers(n, &r->term, r->ns, p->ns) &&
	       labels_match(p->labels, p->nlabels, &r->term.selector);
}

struct repellent **repellents_against(const struct nodes *n, const struct pod *p, size_t *ret_n)
{
	struct repellent **all = NULL;
	*ret_n = 0;
	for (struct repellent *r = n->first_repellent; r; r = r->next) {
		if (!means(n, r, p))
			continue;
		all = mem_grow(all, *ret_n + 1, sizeof(*all));
		all[(*ret_n)++] = r;
	}
	return all;
}

bool repellent_keeps_off(const struct repellent *r, const struct node *node)
{
	const char *value = node_label(node, r->term.topology_key);
	return value && map_get(&r->homes, map_hash_string(value), value);
}
