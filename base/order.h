/* The greater and the less of two numbers. */
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

#endif
