/*
 * Memory: die small, refuse big.
 *
 * Failing to get a few bytes aborts, here and nowhere else. Whatever the network sizes has a
 * ceiling of its own (see buf.h) and going over it is an ordinary error.
 */
#ifndef SLUICE_BASE_MEM_H
#define SLUICE_BASE_MEM_H

#include <stddef.h>

void *mem_alloc(size_t size);		    /* zeroed; never NULL */
void *mem_array(size_t count, size_t size); /* zeroed; aborts when count * size overflows */
void *mem_grow(void *old, size_t count, size_t size); /* realloc; new bytes are not zeroed */

/* Makes place for one more behind n. *room counts the places: `first`, and then twice as many. */
static inline void *mem_room(void *array, size_t n, size_t *room, size_t first, size_t size)
{
	if (n < *room)
		return array;
	*room = *room ? *room * 2 : first;
	return mem_grow(array, *room, size);
}

/* Makes place for one more behind n where nobody counts the places: they are 1, 2, 4, 8 ... */
static inline void *mem_one_more(void *array, size_t n, size_t size)
{
	return (n & (n - 1)) == 0 ? mem_grow(array, n ? n * 2 : 1, size) : array;
}

char *mem_strdup(const char *s);	      /* NULL gives NULL */
char *mem_strndup(const char *s, size_t len); /* copies len bytes and ends them with NUL */

#endif
