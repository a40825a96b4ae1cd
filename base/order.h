/* The greater and the less of two numbers, and the nearest number of 64 bits. */
#ifndef SLUICE_BASE_ORDER_H
#define SLUICE_BASE_ORDER_H

#include <stdint.h>

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

#endif
