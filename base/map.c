#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"

void map_init(struct map *m, bool (*has_key)(const void *value, const void *key))
{
	*m = (struct map){.has_key = has_key};
}

void map_done(struct map *m)
{
	free(m->slot);
	map_init(m, m->has_key);
}

static void slot_insert(struct map *m, uint64_t hash, void *value)
{
	size_t i = hash & m->mask;
	while (m->slot[i].value)
		i = (i + 1) & m->mask;
	m->slot[i] = (struct map_slot){hash, value};
}

static void map_double(struct map *m)
{
	struct map old = *m;
	size_t slots = old.slot ? (old.mask + 1) * 2 : 16;
	m->slot = mem_array(slots, sizeof(*m->slot));
	m->mask = slots - 1;
	for (size_t i = 0; old.slot && i <= old.mask; i++)
		if (old.slot[i].value)
			slot_insert(m, old.slot[i].hash, old.slot[i].value);
	free(old.slot);
}

static ptrdiff_t slot_find(const struct map *m, uint64_t hash, const void *key)
{
	if (!m->slot)
		return -1;
	for (size_t i = hash & m->mask; m->slot[i].value; i = (i + 1) & m->mask)
		if (m->slot[i].hash == hash && m->has_key(m->slot[i].value, key))
			return (ptrdiff_t)i;
	return -1;
}

void *map_get(const struct map *m, uint64_t hash, const void *key)
{
	ptrdiff_t i = slot_find(m, hash, key);
	return i < 0 ? NULL : m->slot[i].value;
}

void map_put(struct map *m, uint64_t hash, void *value)
{
	must(value);
	if (!m->slot || m->count + 1 > (m->mask + 1) / 4 * 3)
		map_double(m);
	slot_insert(m, hash, value);
	m->count++;
}

void *map_take(struct map *m, uint64_t hash, const void *key)
{
	ptrdiff_t found = slot_find(m, hash, key);
	if (found < 0)
		return NULL;
	size_t hole = (size_t)found;
	void *value = m->slot[hole].value;
	/* Close the hole: pull back every follower whose home is not between the hole and itself.
	 */
	for (size_t i = (hole + 1) & m->mask; m->slot[i].value; i = (i + 1) & m->mask) {
		size_t home = m->slot[i].hash & m->mask;
		if (((i - home) & m->mask) >= ((i - hole) & m->mask)) {
			m->slot[hole] = m->slot[i];
			hole = i;
		}
	}
	m->slot[hole].value = NULL;
	m->count--;
	return value;
}

/* Hashes by FNV-1a, then a finishing mix, because the table takes the low bits. */
uint64_t map_hash_bytes(const void *ptr, size_t len)
{
	const unsigned char *p = ptr;
	uint64_t h = 0xCBF29CE484222325u;
	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001B3u;
	h ^= h >> 32;
	return h * 0x9E3779B97F4A7C15u ^ h >> 29;
}

uint64_t map_hash_string(const char *s)
{
	return map_hash_bytes(s, strlen(s));
}
