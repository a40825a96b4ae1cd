/*
 * The core alone: quota, order, victims and the plan, without a feature of the product. This program links no other
 * part of queue/ than core, requests and what they stand on. It has two features, in the test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "queue/core/core.h"
#include "queue/core/model/feature.h"
#include "test/unit/queue/worlds.h"

/* ---- Two features ---- */

static bool closed;	  /* nothing starts */
static int starts, ends;  /* that it heard of */
static const char *fault; /* what it says of each Job */

static bool door_queue_may(struct queue *q, struct clusterqueue *cq)
{
	(void)q;
	(void)cq;
	return !closed;
}

static void door_hears_start(struct queue *q, struct reservation *r)
{
	(void)q;
	(void)r;
	starts++;
}

static void door_hears_end(struct queue *q, struct reservation *r)
{
	(void)q;
	(void)r;
	ends++;
}

static const char *door_job_fault(const struct job *j)
{
	(void)j;
	return fault;
}

static const struct feature door = {
	.queue_may = door_queue_may,
	.after = {[RUN_RESERVED] = door_hears_start, [RUN_ENDED] = door_hears_end},
	.job_fault = door_job_fault,
};

static int heard, adopted; /* starts and adoptions that the other one heard of */

static void sleeper_hears_start(struct queue *q, struct reservation *r)
{
	(void)q;
	(void)r;
	heard++;
}

static void sleeper_hears_adoption(struct queue *q, struct reservation *r)
{
	(void)q;
	(void)r;
	adopted++;
}

static const struct feature sleeper = {
	.sleeps = true,
	.after = {[RUN_RESERVED] = sleeper_hears_start, [RUN_ADOPTED] = sleeper_hears_adoption},
};

const struct feature *const FEATURE[] = {&door, &sleeper};
const unsigned FEATURE_COUNT = 2;

/* ---- A queue ---- */

static const struct resource one = {.name = "cpu", .amount = 1000};
static const struct container one_core = {.requests = {&one, 1}};

static struct queue *open_queue(int64_t cores)
{
	static const struct priority_spec high = {PRIORITY_WORKLOAD, "high", .value = 100};
	struct flavor_spec spot = {"spot"}, demand = {"on-demand"};
	struct localqueue_spec local = {.ns = "team-a", .name = "main", .clusterqueue = "batch"};
	struct queue *q = mem_alloc(sizeof(*q));
	closed = false;
	starts = ends = heard = adopted = 0;
	fault = NULL;
	core_init(q);
	queue_set_priority(q, &high);
	queue_set_flavor(q, &spot, NULL);
	queue_set_flavor(q, &demand, NULL);
	fixture_quota(q, cores * 1000, 0);
	queue_set_localqueue(q, &local, NULL);
	return q;
}

static void close_queue(struct queue *q)
{
	core_drop_jobs(q);
	queue_drop_localqueue(q, "team-a", "main");
	queue_drop_clusterqueue(q, "batch");
	core_done(q);
	free(q);
}

static void add(struct queue *q, uint32_t n, int32_t pods, const char *class)
{
	struct job j = fixture_job(n, &one_core);
	j.parallelism = j.completions = pods;
	j.priority_class = class;
	j.created_ms = n;
	queue_set_job(q, &j);
}

/* What is decided now, as text: +n starts, -n stops. Starts are confirmed. */
static const char *decided(struct queue *q, int64_t now_ms)
{
	static char text[200];
	struct decision d[16];
	size_t at = 0;
	q->now_ms = now_ms;
	q->deciding = true;
	decide_back_offs_end(q);
	size_t n = decide_starts(q, d, 16);
	n += decide_stops(q, d + n, 16 - n);
	q->deciding = false;
	text[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		bool start = d[i].kind == DECISION_START;
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%c%d", i ? " " : "",
			start ? '+' : '-', d[i].uid.byte[15]);
		if (start)
			queue_confirm_job(q, &d[i].uid, now_ms);
	}
	return text;
}

static void end(struct queue *q, uint32_t n, int64_t now_ms)
{
	struct uid uid = fixture_uid(n);
	queue_end_job(q, &uid, now_ms);
}

/* ---- Tests ---- */

static void jobs_start_in_order_while_there_is_quota(void **state)
{
	struct queue *q = open_queue(3);
	(void)state;
	add(q, 1, 2, "");
	add(q, 2, 2, "");
	add(q, 3, 1, "");
	assert_string_equal(decided(q, 1000), "+1 +3");
	end(q, 1, 2000);
	assert_string_equal(decided(q, 2000), "+2");
	assert_string_equal(decided(q, 3000), "");
	close_queue(q);
}

static void a_higher_priority_takes_the_quota_of_a_lower_one(void **state)
{
	struct queue *q = open_queue(2);
	struct clusterqueue *cq = clusterqueue_find(&q->clusterqueues, "batch");
	(void)state;
	cq->spec.preemption.within_clusterqueue = PREEMPT_LOWER_PRIORITY;
	add(q, 1, 2, "");
	assert_string_equal(decided(q, 1000), "+1");
	add(q, 2, 1, "high");
	assert_string_equal(decided(q, 2000), "-1");
	struct uid victim = fixture_uid(1);
	queue_leaving_job(q, &victim);
	queue_release_job(q, &victim, 3000, 0);
	assert_string_equal(decided(q, 3000), "+2");
	close_queue(q);
}

static void a_feature_keeps_jobs_from_starting_and_hears_of_runs(void **state)
{
	struct queue *q = open_queue(2);
	(void)state;
	closed = true;
	add(q, 1, 1, "");
	assert_string_equal(decided(q, 1000), "");
	closed = false;
	features_edited(q);
	queue_touch_queue(q, clusterqueue_find(&q->clusterqueues, "batch"));
	assert_string_equal(decided(q, 2000), "+1");
	end(q, 1, 3000);
	assert_int_equal(starts, 1);
	assert_int_equal(ends, 1);
	fault = "no Job is to its liking";
	add(q, 2, 1, "");
	assert_string_equal(decided(q, 4000), "");
	close_queue(q);
}

static void a_feature_that_sleeps_hears_of_runs_once_it_is_awake(void **state)
{
	struct queue *q = open_queue(2);
	(void)state;
	add(q, 1, 1, "");
	assert_string_equal(decided(q, 1000), "+1");
	assert_int_equal(heard, 0);
	struct uid uid = fixture_uid(1);
	struct quota_line line = {"batch", "spot", "cpu", 1000};
	assert_true(queue_adopt_job(q, &uid, &line, 1, 1000));
	assert_int_equal(heard, 0);
	assert_int_equal(adopted, 1);
	feature_wakes(q, &sleeper);
	add(q, 2, 1, "");
	assert_string_equal(decided(q, 2000), "+2");
	assert_int_equal(heard, 1);
	assert_int_equal(starts, 3);
	close_queue(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_start_in_order_while_there_is_quota),
		cmocka_unit_test(a_higher_priority_takes_the_quota_of_a_lower_one),
		cmocka_unit_test(a_feature_keeps_jobs_from_starting_and_hears_of_runs),
		cmocka_unit_test(a_feature_that_sleeps_hears_of_runs_once_it_is_awake),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
