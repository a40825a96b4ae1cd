#include "base/monotonic.h"

#include <time.h>

#include "base/must.h"

int64_t monotonic_us(void)
{
	struct timespec t;
	must(clock_gettime(CLOCK_MONOTONIC, &t) == 0);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000 + 1000;
}
