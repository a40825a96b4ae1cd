/* The clock of the yardsticks. */
#ifndef SLUICE_TEST_BENCH_CPU_H
#define SLUICE_TEST_BENCH_CPU_H

#include <time.h>

/* Of this process alone: what a busy machine takes away does not count. */
static inline double cpu_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

#endif
