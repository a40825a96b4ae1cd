#include "overcommit/load.h"

static int64_t sum(int64_t a, int64_t b)
{
	int64_t r;
	return __builtin_add_overflow(a, b, &r) ? (b < 0 ? INT64_MIN : INT64_MAX) : r;
}

static int64_t difference(int64_t a, int64_t b)
{
	int64_t r;
	return __builtin_sub_overflow(a, b, &r) ? (b < 0 ? INT64_MAX : INT64_MIN) : r;
}

struct load load_add(struct load a, struct load b)
{
	return (struct load){sum(a.cpu_milli, b.cpu_milli), sum(a.memory_bytes, b.memory_bytes)};
}

struct load load_less(struct load a, struct load b)
{
	return (struct load){
		difference(a.cpu_milli, b.cpu_milli), difference(a.memory_bytes, b.memory_bytes)};
}

struct load load_max(struct load a, struct load b)
{
	return (struct load){a.cpu_milli > b.cpu_milli ? a.cpu_milli : b.cpu_milli,
		a.memory_bytes > b.memory_bytes ? a.memory_bytes : b.memory_bytes};
}

struct load load_min(struct load a, struct load b)
{
	return (struct load){a.cpu_milli < b.cpu_milli ? a.cpu_milli : b.cpu_milli,
		a.memory_bytes < b.memory_bytes ? a.memory_bytes : b.memory_bytes};
}
