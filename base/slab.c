#include "base/slab.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "base/must.h"

enum {
	ALIGN = 16,
	BLOCK_MIN = 16 << 10,  /* the first one: most queues are small */
	BLOCK_MAX = 256 << 10, /* filling more at once would be seen in the time of one decision */
};

struct slab_block {
	struct slab_block *older;
	size_t size;
};

void slab_init(struct slab *s, size_t size)
{
	*s = (struct slab){.size = (size + ALIGN - 1) / ALIGN * ALIGN};
	must(s->size >= sizeof(void *) && s->size <= BLOCK_MAX / 16);
}

void slab_done(struct slab *s)
{
	for (struct slab_block *b = s->blocks, *older; b; b = older) {
		older = b->older;
		munmap(b, b->size);
	}
	*s = (struct slab){0};
}

#ifdef __SANITIZE_ADDRESS__

void *slab_take(struct slab *s)
{
	return mem_alloc(s->size);
}

void slab_give(struct slab *s, void *object)
{
	(void)s;
	free(object);
}

#else

static void add_block(struct slab *s)
{
	size_t size = s->blocks ? s->blocks->size * 2 : BLOCK_MIN;
	if (size > BLOCK_MAX)
		size = BLOCK_MAX;
	while (size < s->size + ALIGN)
		size *= 2;
	struct slab_block *b = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	must(b != MAP_FAILED);
	_Static_assert(sizeof(struct slab_block) <= ALIGN, "objects begin behind it");
	*b = (struct slab_block){.older = s->blocks, .size = size};
	s->blocks = b;
	s->next = (char *)b + ALIGN;
	s->end = (char *)b + size;
}

void *slab_take(struct slab *s)
{
	void *object = s->given;
	if (object) {
		memcpy(&s->given, object, sizeof(s->given));
		return memset(object, 0, s->size);
	}
	if ((size_t)(s->end - s->next) < s->size)
		add_block(s);
	object = s->next; /* the kernel has zeroed it */
	s->next += s->size;
	return object;
}

void slab_give(struct slab *s, void *object)
{
	memcpy(object, &s->given, sizeof(s->given));
	s->given = object;
}

#endif
