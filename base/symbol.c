#include "base/symbol.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static bool is_text(const void *value, const void *key)
{
	return strcmp(value, key) == 0;
}

void symbols_init(struct map *symbols)
{
	map_init(symbols, is_text);
}

void symbols_done(struct map *symbols)
{
	map_free(symbols, free);
}

const char *symbol_of(struct map *symbols, const char *text)
{
	uint64_t hash = map_hash_string(text);
	char *known = map_get(symbols, hash, text);
	if (!known) {
		known = mem_strdup(text);
		map_put(symbols, hash, known);
	}
	return known;
}
