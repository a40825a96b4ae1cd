/*
 * Spans of time that stop at the ends of int64: what is configured and what a metrics' source says
 * of its clock may be any number.
 */
#ifndef SLUICE_OVERCOMMIT_SPAN_H
#define SLUICE_OVERCOMMIT_SPAN_H

#include <stdint.h>

#define SPAN_SECOND_MS 1000
#define SPAN_MINUTE_MS 60000

static inline int64_t span_later(int64_t at_ms, int64_t span)
{
	int64_t r;
	return __builtin_add_overflow(at_ms, span, &r) ? (span < 0 ? INT64_MIN : INT64_MAX) : r;
}

static inline int64_t span_between(int64_t from_ms, int64_t to_ms)
{
	int64_t r;
	return __builtin_sub_overflow(to_ms, from_ms, &r) ? (to_ms < 0 ? INT64_MIN : INT64_MAX) : r;
}

/* Returns a count of seconds, or minutes, in ms; below 0 is none. */
static inline int64_t span_ms(int64_t count, int64_t each_ms)
{
	int64_t r;
	if (count < 0)
		return 0;
	return __builtin_mul_overflow(count, each_ms, &r) ? INT64_MAX : r;
}

#endif
