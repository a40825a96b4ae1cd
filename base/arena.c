#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"

struct arena_chunk {
	struct arena_chunk *older;
	size_t size, taken;
	_Alignas(max_align_t) char byte[];
};

#define CHUNK_LEAST 240

void arena_done(struct arena *a)
{
	while (a->chunk) {
		struct arena_chunk *c = a->chunk;
		a->chunk = c->older;
		free(c);
	}
	a->bytes = 0;
}

static void *take_bytes(struct arena *a, size_t size, size_t align)
{
	struct arena_chunk *c = a->chunk;
	size_t at = c ? (c->taken + align - 1) & ~(align - 1) : 0;
	if (!c || at > c->size || size > c->size - at) {
		size_t room = size > CHUNK_LEAST ? size : CHUNK_LEAST;
		c = mem_alloc(sizeof(*c) + room);
		c->size = room;
		c->older = a->chunk;
		a->chunk = c;
		a->bytes += sizeof(*c) + room;
		at = 0;
	}
	c->taken = at + size;
	return c->byte + at;
}

void *arena_take(struct arena *a, size_t count, size_t size)
{
	must(size == 0 || count <= (SIZE_MAX - 4096) / size);
	return count ? take_bytes(a, count * size, _Alignof(max_align_t)) : NULL;
}

const char *arena_string(struct arena *a, const char *s)
{
	size_t n = s ? strlen(s) : 0;
	if (n == 0)
		return "";
	return memcpy(take_bytes(a, n + 1, 1), s, n + 1);
}
