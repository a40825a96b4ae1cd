#include "test/sim/pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* One malloc for each piece, so that AddressSanitizer sees the borders. */
struct pool_block {
	struct pool_block *next;
	_Alignas(16) char bytes[];
};

void *pool_alloc(struct pool *a, size_t size)
{
	struct pool_block *b = mem_alloc(sizeof(*b) + size);
	b->next = a->blocks;
	a->blocks = b;
	return b->bytes;
}

char *pool_strdup(struct pool *a, const char *s)
{
	return s ? strcpy(pool_alloc(a, strlen(s) + 1), s) : NULL;
}

void pool_done(struct pool *a)
{
	for (struct pool_block *b = a->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	a->blocks = NULL;
}
