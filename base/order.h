/* The greater and the less of two numbers, the nearest number of 64 bits, and the order of texts. */
#ifndef SLUICE_BASE_ORDER_H
#define SLUICE_BASE_ORDER_H

#include <stdint.h>
#include <string.h>

static inline int64_t greater(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t saturated(__int128 n)
{
	return n > INT64_MAX ? INT64_MAX : n < INT64_MIN ? INT64_MIN : (int64_t)n;
}

/* Compares two elements of an array of texts, for qsort() and bsearch(). */
static inline int text_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

#endif
