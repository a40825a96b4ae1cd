#include "controller/watch/seen_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

struct seen_set {
	struct map map;
	uint64_t round;
	struct seen_set_entry **lost; /* found by seen_set_end, not taken yet: a stack */
	size_t nlost;
	struct seen_set_entry *taken; /* the one that the caller looks at */
};

struct key {
	const char *ns, *name;
};

static bool entry_has_key(const void *value, const void *key)
{
	const struct seen_set_entry *e = value;
	const struct key *k = key;
	return strcmp(e->name, k->name) == 0 && strcmp(e->ns, k->ns) == 0;
}

static uint64_t key_hash(const struct key *k)
{
	return map_hash_string(k->name) * 31 + map_hash_string(k->ns);
}

static void entry_free(struct seen_set_entry *e)
{
	if (!e)
		return;
	free(e->ns);
	free(e->name);
	free(e);
}

struct seen_set *seen_set_new(void)
{
	struct seen_set *r = mem_alloc(sizeof(*r));
	map_init(&r->map, entry_has_key);
	return r;
}

static void forget_lost(struct seen_set *r)
{
	for (size_t i = 0; i < r->nlost; i++)
		entry_free(r->lost[i]);
	free(r->lost);
	entry_free(r->taken);
	r->lost = NULL;
	r->taken = NULL;
	r->nlost = 0;
}

void seen_set_free(struct seen_set *r)
{
	if (!r)
		return;
	map_free(&r->map, entry_free);
	forget_lost(r);
	free(r);
}

void seen_set_begin(struct seen_set *r)
{
	r->round++;
}

bool seen_set_see(struct seen_set *r, const char *ns, const char *name, const struct uid *uid,
	int64_t generation)
{
	struct key k = {ns, name};
	uint64_t hash = key_hash(&k);
	struct seen_set_entry *e = map_get(&r->map, hash, &k);
	bool news =
		!e || generation == 0 || e->generation != generation || uid_cmp(&e->uid, uid) != 0;
	if (!e) {
		e = mem_alloc(sizeof(*e));
		e->ns = mem_strdup(ns);
		e->name = mem_strdup(name);
		map_put(&r->map, hash, e);
	}
	e->uid = *uid;
	e->generation = generation;
	e->round = r->round;
	return news;
}

void seen_set_keep(struct seen_set *r, const char *ns, const char *name)
{
	struct key k = {ns, name};
	struct seen_set_entry *e;
	if (*name) {
		e = map_get(&r->map, key_hash(&k), &k);
		if (e) {
			e->round = r->round;
			e->generation = -1; /* to be looked at anew once it can be read */
		}
		return;
	}
	map_each(&r->map, i, e)
		e->round = r->round;
}

void seen_set_drop(struct seen_set *r, const char *ns, const char *name)
{
	struct key k = {ns, name};
	entry_free(map_take(&r->map, key_hash(&k), &k));
}

void seen_set_end(struct seen_set *r)
{
	forget_lost(r);
	struct seen_set_entry *e;
	map_each(&r->map, i, e) {
		if (e->round != r->round) {
			r->lost = mem_grow(r->lost, r->nlost + 1, sizeof(struct seen_set_entry *));
			r->lost[r->nlost++] = e;
		}
	}
	for (size_t i = 0; i < r->nlost; i++) {
		struct key k = {r->lost[i]->ns, r->lost[i]->name};
		map_take(&r->map, key_hash(&k), &k);
	}
}

const struct seen_set_entry *seen_set_take_lost(struct seen_set *r)
{
	entry_free(r->taken);
	r->taken = r->nlost > 0 ? r->lost[--r->nlost] : NULL;
	return r->taken;
}

size_t seen_set_count(const struct seen_set *r)
{
	return r->map.count;
}
