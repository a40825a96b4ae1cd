/*
 * Memory: the core uses at most 512 bytes for each waiting Job, its names included. The count is
 * checked against what the heap really gave.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <malloc.h>
#include <stdio.h>

#include <cmocka.h>

#include "worlds.h"

#if defined(__SANITIZE_ADDRESS__)
#define HEAP_IS_OURS false /* mallinfo2 knows nothing of the sanitizer's heap */
#else
#define HEAP_IS_OURS true
#endif

#define JOBS 100000
#define SHAPES 10
#define BUDGET 512

static size_t heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();
	return info.uordblks + info.hblkhd;
}

static void tell_jobs(struct queue *q)
{
	for (uint32_t i = 0; i < JOBS; i++) {
		char name[64];
		snprintf(name, sizeof(name), "nightly-aggregate-customer-%013u", i);
		assert_int_equal(strlen(name), 40);
		struct resource r[] = {{"cpu", 100 + i % SHAPES}, {"memory", 1 << 20}};
		struct container c = {.requests = {r, 2}};
		struct job j = fixture_job(i, &c);
		j.name = name;
		j.created_ms = (int64_t)i * 1000;
		queue_set_job(q, &j);
	}
}

static void a_waiting_job_costs_at_most_512_bytes(void **state)
{
	(void)state;
	struct queue *q = fixture_new(0, 0);
	size_t before = heap_bytes();
	tell_jobs(q);
	size_t counted = queue_memory_bytes(q), heap = heap_bytes() - before;
	struct decision d;
	int64_t next_ms;
	assert_int_equal(queue_decide(q, 0, &d, 1, &next_ms), 0);
	assert_int_equal(queue_waiting(q), JOBS);
	print_message("%zu bytes a waiting Job counted, %zu on the heap\n", counted / JOBS,
		HEAP_IS_OURS ? heap / JOBS : 0);
	assert_in_range(counted, 1, (size_t)JOBS * BUDGET);
	if (HEAP_IS_OURS) {
		assert_in_range(heap, 1, (size_t)JOBS * BUDGET);
		assert_in_range(counted, heap / 10 * 8, heap); /* the rest is the heap's own */
	}
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_waiting_job_costs_at_most_512_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
