#include "controller/wire/arena.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"

enum { ALIGN = 16 };

struct aside {
	struct aside *next;
	_Alignas(ALIGN) char data[];
};

void arena_init(struct arena *a, size_t room)
{
	*a = (struct arena){.block = mem_alloc(room), .room = room};
}

static void free_asides(struct arena *a)
{
	while (a->asides) {
		struct aside *s = a->asides;
		a->asides = s->next;
		free(s);
	}
}

void arena_done(struct arena *a)
{
	free_asides(a);
	free(a->block);
	*a = (struct arena){0};
}

void *arena_take(struct arena *a)
{
	void *block = a->block;
	must(!arena_short(a));
	*a = (struct arena){0};
	return block;
}

bool arena_short(const struct arena *a)
{
	return a->used > a->room;
}

static void *take(struct arena *a, size_t size)
{
	must(size <= SIZE_MAX / 2 - a->used);
	size_t at = a->used;
	a->used += size;
	if (a->used <= a->room)
		return a->block + at;
	struct aside *s = mem_alloc(sizeof(*s) + size);
	s->next = a->asides;
	a->asides = s;
	return s->data;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
	must(size == 0 || count <= SIZE_MAX / 2 / size);
	a->used = (a->used + ALIGN - 1) / ALIGN * ALIGN;
	return take(a, count * size);
}

char *arena_bytes(struct arena *a, size_t size)
{
	return take(a, size);
}
