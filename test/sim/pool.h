/*
 * Memory of one world: everything the models make lives until the world ends. A seed is short, so
 * it need not be asked what frees an old snapshot of a Job that some late event still carries.
 */
#ifndef SLUICE_TEST_SIM_POOL_H
#define SLUICE_TEST_SIM_POOL_H

#include <stddef.h>

struct pool {
	struct pool_block *blocks;
};

void *pool_alloc(struct pool *a, size_t size);	  /* zeroed */
char *pool_strdup(struct pool *a, const char *s); /* NULL gives NULL */
void pool_done(struct pool *a);

#endif
