#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"

void *mem_alloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);
	must(p);
	return p;
}

void *mem_array(size_t count, size_t size)
{
	must(size == 0 || count <= SIZE_MAX / size);
	return mem_alloc(count * size);
}

void *mem_grow(void *old, size_t count, size_t size)
{
	must(size == 0 || count <= SIZE_MAX / size);
	size_t bytes = count * size;
	void *p = realloc(old, bytes > 0 ? bytes : 1);
	must(p);
	return p;
}

char *mem_strdup(const char *s)
{
	return s ? mem_strndup(s, strlen(s)) : NULL;
}

char *mem_strndup(const char *s, size_t len)
{
	char *copy = mem_alloc(len + 1);
	if (len > 0)
		memcpy(copy, s, len);
	return copy;
}
