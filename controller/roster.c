#include "controller/roster.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

struct roster {
	struct map map;
	uint64_t round;
	struct roster_entry **lost; /* found by roster_end, not taken yet: a stack */
	size_t nlost;
	struct roster_entry *taken; /* the one the caller looks at */
};

struct key {
	const char *ns, *name;
};

static bool entry_has_key(const void *value, const void *key)
{
	const struct roster_entry *e = value;
	const struct key *k = key;
	return strcmp(e->name, k->name) == 0 && strcmp(e->ns, k->ns) == 0;
}

static uint64_t key_hash(const struct key *k)
{
	return map_hash_string(k->name) * 31 + map_hash_string(k->ns);
}

static void entry_free(struct roster_entry *e)
{
	if (!e)
		return;
	free(e->ns);
	free(e->name);
	free(e);
}

struct roster *roster_new(void)
{
	struct roster *r = mem_alloc(sizeof(*r));
	map_init(&r->map, entry_has_key);
	return r;
}

static void forget_lost(struct roster *r)
{
	for (size_t i = 0; i < r->nlost; i++)
		entry_free(r->lost[i]);
	free(r->lost);
	entry_free(r->taken);
	r->lost = NULL;
	r->taken = NULL;
	r->nlost = 0;
}

void roster_free(struct roster *r)
{
	if (!r)
		return;
	struct roster_entry *e;
	map_each(&r->map, i, e)
		entry_free(e);
	map_done(&r->map);
	forget_lost(r);
	free(r);
}

void roster_begin(struct roster *r)
{
	r->round++;
}

bool roster_see(struct roster *r, const char *ns, const char *name, const struct uid *uid,
	int64_t generation)
{
	struct key k = {ns, name};
	uint64_t hash = key_hash(&k);
	struct roster_entry *e = map_get(&r->map, hash, &k);
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

void roster_keep(struct roster *r, const char *ns, const char *name)
{
	struct key k = {ns, name};
	struct roster_entry *e;
	if (*name) {
		e = map_get(&r->map, key_hash(&k), &k);
		if (e) {
			e->round = r->round;
			e->generation = -1; /* looked at anew once it can be read */
		}
		return;
	}
	map_each(&r->map, i, e)
		e->round = r->round;
}

void roster_drop(struct roster *r, const char *ns, const char *name)
{
	struct key k = {ns, name};
	entry_free(map_take(&r->map, key_hash(&k), &k));
}

void roster_end(struct roster *r)
{
	forget_lost(r);
	struct roster_entry *e;
	map_each(&r->map, i, e) {
		if (e->round != r->round) {
			r->lost = mem_grow(r->lost, r->nlost + 1, sizeof(struct roster_entry *));
			r->lost[r->nlost++] = e;
		}
	}
	for (size_t i = 0; i < r->nlost; i++) {
		struct key k = {r->lost[i]->ns, r->lost[i]->name};
		map_take(&r->map, key_hash(&k), &k);
	}
}

const struct roster_entry *roster_take_lost(struct roster *r)
{
	entry_free(r->taken);
	r->taken = r->nlost > 0 ? r->lost[--r->nlost] : NULL;
	return r->taken;
}

size_t roster_count(const struct roster *r)
{
	return r->map.count;
}
