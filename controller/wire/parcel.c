#include "controller/wire/parcel.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"

enum { ALIGN = 16 };

struct aside {
	struct aside *next;
	_Alignas(ALIGN) char data[];
};

void parcel_init(struct parcel *a, size_t room)
{
	*a = (struct parcel){.block = mem_alloc(room), .room = room};
}

static void free_asides(struct parcel *a)
{
	while (a->asides) {
		struct aside *s = a->asides;
		a->asides = s->next;
		free(s);
	}
}

void parcel_done(struct parcel *a)
{
	free_asides(a);
	free(a->block);
	*a = (struct parcel){0};
}

void *parcel_take(struct parcel *a)
{
	void *block = a->block;
	must(!parcel_short(a));
	*a = (struct parcel){0};
	return block;
}

bool parcel_short(const struct parcel *a)
{
	return a->used > a->room;
}

static void *take(struct parcel *a, size_t size)
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

void *parcel_array(struct parcel *a, size_t count, size_t size)
{
	must(size == 0 || count <= SIZE_MAX / 2 / size);
	a->used = (a->used + ALIGN - 1) / ALIGN * ALIGN;
	return take(a, count * size);
}

char *parcel_bytes(struct parcel *a, size_t size)
{
	return take(a, size);
}
