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
char *mem_strdup(const char *s);		      /* NULL gives NULL */
char *mem_strndup(const char *s, size_t len);	      /* copies len bytes and ends them with NUL */

#endif
