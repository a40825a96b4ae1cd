/*
 * What a scenario cannot show of idle resources: the cost of a pool's change, shared shapes, the
 * answers for Jobs without lent resources, and names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "test/unit/core/inside.h"
#include "queue/job/stop_rate.h"
#include "queue/core/model/run.h"
#include "queue/core/model/user.h"
#include "queue/requests/lending.h"
#include "worlds.h"

static const struct resource one = {"cpu", 1000};
static const struct container c = {.requests = {&one, 1}};

enum { EITHER = 1 << LENDING_NONE | 1 << LENDING_BATCH };

/* As fixture_new(), and flavor spot is lent. */
static struct queue *lending_queue(int64_t pool)
{
	struct queue *q = fixture_new(1000, 0);
	struct flavor_spec f = {.name = "spot", .lending = LENDING_BATCH, .share_permille = 1000};
	queue_set_flavor(q, &f, NULL);
	queue_set_idle_pool(q, &(struct idle_pool){"spot", pool, pool, pool, pool});
	return q;
}

static size_t decide(struct queue *q, int64_t now_ms, struct decision *out)
{
	int64_t next_ms;
	return queue_decide(q, now_ms, out, 8, &next_ms);
}

/* A ClusterQueue of its own, with one flavor. */
static void add_queue(struct queue *q, const char *name, const char *flavor)
{
	make_queue(q, (struct clusterqueue_spec){.name = name}, flavor, 1000);
}

static bool is_dirty(const struct queue *q, const char *name)
{
	return list_in(&inside_clusterqueue(q, name)->cohort_tree->dirty);
}

static void the_same_pool_again_touches_nothing(void **state)
{
	(void)state;
	struct queue *q = lending_queue(4000);
	struct decision d[8];
	struct ceiling ceiling;
	decide(q, 0, d);
	while (queue_take_ceiling(q, &ceiling))
		;
	uint64_t version = queue_version(q);
	queue_set_idle_pool(q, &(struct idle_pool){"spot", 4000, 4000, 4000, 4000});
	assert_int_equal(queue_version(q), version);
	assert_false(is_dirty(q, "batch"));
	assert_false(queue_take_ceiling(q, &ceiling));
	queue_free(q);
}

static void a_pool_touches_those_with_its_flavor_alone(void **state)
{
	(void)state;
	struct queue *q = lending_queue(4000);
	struct decision d[8];
	add_queue(q, "other", "on-demand");
	add_queue(q, "more", "spot");
	struct job j = fixture_job(1, &c);
	queue_set_job(q, &j);
	decide(q, 0, d);
	uint64_t placed = inside_placed(q);
	queue_set_idle_pool(q, &(struct idle_pool){"spot", 8000, 4000, 4000, 4000});
	assert_true(is_dirty(q, "batch") && is_dirty(q, "more"));
	assert_false(is_dirty(q, "other"));
	decide(q, 0, d);
	/* A pool of a flavor that does not exist, or lends nothing, is kept for later. */
	queue_set_idle_pool(q, &(struct idle_pool){"nobody", 8000, 8000, 8000, 8000});
	queue_set_idle_pool(q, &(struct idle_pool){"on-demand", 8000, 8000, 8000, 8000});
	assert_false(is_dirty(q, "batch") || is_dirty(q, "more") || is_dirty(q, "other"));
	assert_int_equal(inside_placed(q), placed);
	queue_free(q);
}

static void absurd_pools(void **state)
{
	(void)state;
	struct queue *q = lending_queue(INT64_MAX);
	struct clusterqueue_view v;
	struct decision d[8];
	struct job j = fixture_job(1, &c);
	j.lending = EITHER;
	queue_set_job(q, &j);
	assert_true(queue_view_clusterqueue(q, 0, &v));
	assert_true(v.usage[0].nominal == INT64_MAX - 1); /* which is not "no limit" */
	queue_set_idle_pool(q, &(struct idle_pool){"spot", -5, -5, INT64_MIN, -1});
	assert_true(queue_view_clusterqueue(q, 0, &v));
	assert_true(v.usage[0].nominal == 0);
	assert_int_equal(decide(q, 0, d), 0);
	queue_free(q);
}

static void equal_resources_are_one_shape(void **state)
{
	(void)state;
	char text[4096];
	struct queue *q = lending_queue(0);
	struct job j = fixture_job(1, &c);
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	j.lending = EITHER;
	j.resources = text;
	queue_set_job(q, &j);
	size_t first = queue_memory_bytes(q);
	for (uint32_t i = 2; i <= 9; i++) {
		j.uid = fixture_uid(i);
		queue_set_job(q, &j);
	}
	assert_true(queue_memory_bytes(q) - first < 8 * 512);
	assert_string_equal(queue_job_resources(q, &j.uid), text);
	/* Another text, and none; another set. */
	size_t shapes = inside_shapes(q);
	text[0] = 'y';
	queue_set_job(q, &j);
	assert_string_equal(queue_job_resources(q, &j.uid), text);
	assert_int_equal(inside_shapes(q), shapes + 1);
	j.lending = 1 << LENDING_BATCH;
	queue_set_job(q, &j);
	assert_int_equal(inside_shapes(q), shapes + 1);
	j.resources = NULL;
	j.lending = 0;
	queue_set_job(q, &j);
	assert_null(queue_job_resources(q, &j.uid));
	/* 0 is the ordinary ones. */
	j.lending = 1 << LENDING_NONE;
	uint64_t version = queue_version(q);
	queue_set_job(q, &j);
	assert_int_equal(queue_version(q), version);
	queue_free(q);
}

static void who_has_no_room_has_nothing_lent(void **state)
{
	(void)state;
	struct queue *q = lending_queue(0);
	struct job j = fixture_job(1, &c);
	struct uid nobody = fixture_uid(7);
	j.lending = EITHER;
	queue_set_job(q, &j);
	assert_false(queue_reclaim_job(q, &j.uid, 0, "why"));
	assert_false(queue_reclaim_job(q, &nobody, 0, "why"));
	assert_false(queue_job_borrows(q, &j.uid) || queue_job_borrows(q, &nobody));
	assert_int_equal(queue_job_lending(q, &j.uid), LENDING_NONE);
	assert_int_equal(queue_job_lending(q, &nobody), LENDING_NONE);
	assert_null(queue_job_resources(q, &nobody));
	assert_string_equal(queue_job_namespace(q, &j.uid), j.ns);
	assert_null(queue_job_namespace(q, &nobody));
	queue_free(q);
}

/* `why` is copied, kept as long as the reservation, and its memory is counted. */
static void why_is_a_copy(void **state)
{
	(void)state;
	char why[] = "node n1 is short";
	struct queue *q = lending_queue(8000);
	struct decision d[8];
	struct job j = fixture_job(1, &c);
	j.lending = EITHER;
	j.parallelism = j.completions = 4;
	j.min_parallelism = 1;
	queue_set_job(q, &j);
	size_t waiting = queue_memory_bytes(q);
	assert_int_equal(decide(q, 0, d), 1);
	queue_confirm_job(q, &j.uid, 0);
	assert_true(queue_reclaim_job(q, &j.uid, 3, why));
	memset(why, '?', sizeof(why) - 1);
	/* Reclaimed again before the gate was told: the smaller number counts. */
	assert_true(queue_reclaim_job(q, &j.uid, -2, "node n2 is short"));
	assert_false(queue_reclaim_job(q, &j.uid, 3, "late"));
	assert_int_equal(decide(q, 0, d), 1);
	assert_int_equal(d[0].kind, DECISION_STOP);
	assert_int_equal(d[0].reason, STOP_REASON_IDLE_RECLAIMED);
	assert_string_equal(d[0].why, "node n2 is short");
	queue_release_job(q, &j.uid, 1000, 0);
	/* How often it was stopped is kept, and that its user has held cpu, and batch-cpu or mid-cpu.
	 * (queue_free() counts to the byte.) */
	size_t kept = sizeof(struct past) + 2 * sizeof(struct user_held);
	assert_true(queue_memory_bytes(q) <= waiting + kept);
	queue_free(q);
}

#define MINUTE INT64_C(60000)

/* Moments in minutes, but for the ends of what a story may say. */
static void stops_are_paid_for(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		int64_t paid_ms, stop_ms;	  /* before it */
		int64_t then_paid_ms, returns_ms; /* 0: at once */
	} rows[] = {
		{"the first is free", 0, 100 * MINUTE, 105 * MINUTE, 0},
		{"a second waits for what the first paid", 105 * MINUTE, 101 * MINUTE, 110 * MINUTE,
			105 * MINUTE},
		{"a third that is as late as may be", 110 * MINUTE, 105 * MINUTE, 115 * MINUTE,
			110 * MINUTE},
		{"what is long paid for", 105 * MINUTE, 200 * MINUTE, 205 * MINUTE, 0},
		{"paid up to now", 105 * MINUTE, 105 * MINUTE, 110 * MINUTE, 0},
		{"the clock was set back", 500 * MINUTE, 100 * MINUTE, 110 * MINUTE, 105 * MINUTE},
		{"the end of time", INT64_MAX, 100 * MINUTE, 110 * MINUTE, 105 * MINUTE},
		{"no clock", 0, INT64_MAX, INT64_MAX, 0},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t paid_ms = stop_rate_pay(rows[i].paid_ms, rows[i].stop_ms);
		int64_t returns_ms = stop_rate_returns(paid_ms, rows[i].stop_ms);
		if (paid_ms != rows[i].then_paid_ms || returns_ms != rows[i].returns_ms)
			fail_msg("%s: paid until %lld, returns at %lld", rows[i].name,
				(long long)paid_ms, (long long)returns_ms);
	}
}

/* The lines of an adopted Job that asks for lent names show how many pods they are for. */
static void lines_of_lent_names_are_adopted(void **state)
{
	(void)state;
	static const struct resource batch = {"kubernetes.io/batch-cpu", 500};
	static const struct container asks = {.requests = {&batch, 1}};
	struct queue *q = lending_queue(8000);
	struct quota_line line[QUEUE_LINES_MAX] = {{"cq/batch", "spot", "cpu", 1500}};
	struct job j = fixture_job(1, &asks);
	j.lending = 1 << LENDING_BATCH;
	j.parallelism = j.completions = 4;
	queue_set_job(q, &j);
	assert_true(queue_adopt_job(q, &j.uid, line, 1, 0));
	assert_int_equal(queue_job_lending(q, &j.uid), LENDING_BATCH);
	assert_true(queue_shrink_job(q, &j.uid, 2, 0));
	assert_int_equal(queue_job_lines(q, &j.uid, line), 1);
	assert_int_equal(line[0].amount, 1000);
	queue_free(q);
}

static void names(void **state)
{
	(void)state;
	int64_t times = 7;
	assert_string_equal(lending_name(LENDING_BATCH, "cpu"), "kubernetes.io/batch-cpu");
	assert_string_equal(lending_name(LENDING_BATCH, "memory"), "kubernetes.io/batch-memory");
	assert_string_equal(lending_name(LENDING_GOCRAN, "cpu"), "gocran.io/cpu");
	assert_string_equal(lending_name(LENDING_GOCRAN, "memory"), "gocran.io/memory");
	assert_string_equal(lending_name(LENDING_NONE, "cpu"), "cpu");
	assert_string_equal(lending_name(LENDING_BATCH, "nvidia.com/gpu"), "nvidia.com/gpu");
	assert_string_equal(lending_counts_as("gocran.io/cpu", &times), "cpu");
	assert_int_equal(times, 1000);
	assert_string_equal(lending_counts_as("kubernetes.io/batch-memory", &times), "memory");
	assert_int_equal(times, 1);
	assert_string_equal(lending_counts_as("alibabacloud.com/reclaimed-cpu", &times), "cpu");
	assert_null(lending_counts_as("cpu", &times));
	assert_string_equal(lending_counts_as("alibabacloud.com/reclaimed", &times), "cpu");
	assert_null(lending_counts_as("alibabacloud.com/qosClass", &times));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_pool_again_touches_nothing),
		cmocka_unit_test(a_pool_touches_those_with_its_flavor_alone),
		cmocka_unit_test(absurd_pools),
		cmocka_unit_test(equal_resources_are_one_shape),
		cmocka_unit_test(who_has_no_room_has_nothing_lent),
		cmocka_unit_test(why_is_a_copy),
		cmocka_unit_test(stops_are_paid_for),
		cmocka_unit_test(lines_of_lent_names_are_adopted),
		cmocka_unit_test(names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
