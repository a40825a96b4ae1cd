/*
 * A hash map from bytes to a pointer. Open addressing, power-of-two size, at most 3/4 full,
 * deletion by backward shift (no tombstones, so it does not rot).
 *
 * The map stores no key: the caller gives a hash and a test, and keys live inside the values. So a
 * slot takes 16 bytes, whatever the key. The order of map_each is that of the slots. It must never
 * reach a decision or an output that has to be the same twice: sort, or keep a list.
 */
#ifndef SLUICE_BASE_MAP_H
#define SLUICE_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t hash;
	void *value; /* NULL: empty */
};

struct map {
	struct map_slot *slot;
	size_t mask; /* slots - 1, or 0 before the first */
	size_t count;
	bool (*has_key)(const void *value, const void *key);
};

void map_init(struct map *m, bool (*has_key)(const void *value, const void *key));
void map_done(struct map *m); /* frees the table, not the values */

void *map_get(const struct map *m, uint64_t hash, const void *key); /* NULL when absent */
/* Puts a value, which is not NULL; no value with an equal key may be in the map. */
void map_put(struct map *m, uint64_t hash, void *value);
void *map_take(struct map *m, uint64_t hash, const void *key); /* removes; NULL when absent */

uint64_t map_hash_bytes(const void *ptr, size_t len);
uint64_t map_hash_string(const char *s);

/* Goes over the values. The map must not be changed inside. */
#define map_each(m, i, v)                                                                          \
	for (size_t i = 0; (m)->slot && i <= (m)->mask; i++)                                       \
		if (((v) = (m)->slot[i].value))

/* Frees each value by free_value(), then the table. */
#define map_free(m, free_value)                                                                    \
	do {                                                                                       \
		void *value_;                                                                      \
		map_each(m, slot_, value_)                                                         \
			free_value(value_);                                                        \
		map_done(m);                                                                       \
	} while (0)

#endif
