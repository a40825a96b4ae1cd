/* Plays of small queues: each start can be worked out by hand. */
#include "test/unit/forecast/fixture.h"

#include <stdlib.h>

#include "forecast/play.h"

/* Runs take what their Jobs said; one that says nothing never ends, one that is overdue goes on for a minute. */
static int64_t as_expected(const struct job_outline *o, int64_t ran_ms, void *ctx)
{
	(void)ctx;
	if (o->expected_ms == 0)
		return PLAY_NEVER;
	return o->expected_ms > ran_ms ? o->expected_ms : ran_ms + MINUTE_MS;
}

static const struct play_lengths expected = {as_expected, NULL};

static struct play_result played(struct queue *q, int64_t now_ms)
{
	struct play_limits limits = play_limits_for(100);
	struct play_result r;
	play(q, now_ms, &expected, NULL, &limits, &r);
	return r;
}

/* Minutes after the beginning; -1: it does not start. */
static int64_t start_of(const struct play_result *r, uint32_t n)
{
	struct uid uid = uid_of(n);
	const struct play_start *s = play_find(r, &uid);
	assert_non_null(s);
	if (s->start_ms == PLAY_NEVER)
		return -1;
	assert_int_equal((s->start_ms - BEGIN_MS) % MINUTE_MS, 0);
	return (s->start_ms - BEGIN_MS) / MINUTE_MS;
}

static enum wait_reason reason_of(const struct play_result *r, uint32_t n)
{
	struct uid uid = uid_of(n);
	return play_find(r, &uid)->reason;
}

static void three_jobs_one_after_the_other(void **state)
{
	(void)state;
	struct queue *q = world_of(4, STRICT_FIFO);
	tell(q, BEGIN_MS, (struct told){1, 4, 10 * MINUTE_MS});
	assert_int_equal(decide(q, BEGIN_MS), 1);
	tell(q, BEGIN_MS + 1, (struct told){2, 3, 20 * MINUTE_MS});
	tell(q, BEGIN_MS + 2, (struct told){3, 2, 5 * MINUTE_MS});
	tell(q, BEGIN_MS + 3, (struct told){4, 1, 5 * MINUTE_MS});
	struct play_result r = played(q, BEGIN_MS + 4 * MINUTE_MS);
	assert_int_equal(r.end, PLAY_ALL_STARTED);
	assert_int_equal(r.n, 3);
	assert_int_equal(start_of(&r, 2), 10);
	assert_int_equal(start_of(&r, 3), 30);
	assert_int_equal(start_of(&r, 4), 30); /* behind it, although it would have fitted */
	struct uid running = uid_of(1);
	assert_null(play_find(&r, &running));
	play_result_done(&r);
	queue_free(q);
}

/* Random Jobs, and a FIFO that is written down as simply as can be. */
static void a_strict_queue_is_right_to_the_minute(void **state)
{
	(void)state;
	enum { JOBS = 200, CPUS = 16 };
	for (unsigned seed = 1; seed <= 10; seed++) {
		struct queue *q = world_of(CPUS, STRICT_FIFO);
		int64_t end[JOBS], last = 0, free_at[CPUS] = {0};
		srand(seed);
		for (uint32_t i = 0; i < JOBS; i++) {
			int32_t cpus = 1 + rand() % CPUS;
			int64_t minutes = 1 + rand() % 100;
			tell(q, BEGIN_MS + i, (struct told){i, cpus, minutes * MINUTE_MS});
			/* It starts when enough processors are free, and no earlier than the one before. */
			for (int a = 0; a < CPUS; a++)
				for (int b = a + 1; b < CPUS; b++)
					if (free_at[b] < free_at[a]) {
						int64_t swap = free_at[a];
						free_at[a] = free_at[b];
						free_at[b] = swap;
					}
			last = free_at[cpus - 1] > last ? free_at[cpus - 1] : last;
			end[i] = last;
			for (int a = 0; a < cpus; a++)
				free_at[a] = last + minutes;
		}
		struct play_result r = played(q, BEGIN_MS);
		assert_int_equal(r.n, JOBS);
		for (uint32_t i = 0; i < JOBS; i++)
			assert_int_equal(start_of(&r, i), end[i]);
		play_result_done(&r);
		queue_free(q);
	}
}

static void a_run_that_is_overdue_goes_on(void **state)
{
	(void)state;
	struct queue *q = world_of(1, STRICT_FIFO);
	tell(q, BEGIN_MS, (struct told){1, 1, 10 * MINUTE_MS});
	decide(q, BEGIN_MS);
	tell(q, BEGIN_MS + 1, (struct told){2, 1, MINUTE_MS});
	struct play_result r = played(q, BEGIN_MS + 30 * MINUTE_MS);
	assert_int_equal(start_of(&r, 2), 31);
	play_result_done(&r);
	queue_free(q);
}

static void a_job_that_never_fits_has_a_reason(void **state)
{
	(void)state;
	struct queue *q = world_of(4, BEST_EFFORT_FIFO);
	tell(q, BEGIN_MS, (struct told){1, 5, MINUTE_MS});
	tell(q, BEGIN_MS + 1, (struct told){2, 4, MINUTE_MS});
	struct play_result r = played(q, BEGIN_MS);
	assert_int_equal(r.end, PLAY_STANDS);
	assert_int_equal(start_of(&r, 2), 0);
	assert_int_equal(start_of(&r, 1), -1);
	assert_int_equal(reason_of(&r, 1), WAIT_EXCEEDS_MAX);
	play_result_done(&r);
	queue_free(q);
}

static void behind_a_run_without_an_end_none_starts(void **state)
{
	(void)state;
	struct queue *q = world_of(4, BEST_EFFORT_FIFO);
	tell(q, BEGIN_MS, (struct told){1, 3, 0});
	decide(q, BEGIN_MS);
	tell(q, BEGIN_MS + 1, (struct told){2, 2, MINUTE_MS});
	tell(q, BEGIN_MS + 2, (struct told){3, 1, MINUTE_MS});
	struct play_result r = played(q, BEGIN_MS);
	assert_int_equal(r.end, PLAY_STANDS);
	assert_int_equal(start_of(&r, 3), 0);
	assert_int_equal(start_of(&r, 2), -1);
	assert_int_equal(reason_of(&r, 2), WAIT_QUOTA);
	play_result_done(&r);
	queue_free(q);
}

static void nothing_is_played_behind_the_horizon(void **state)
{
	(void)state;
	struct queue *q = world_of(1, STRICT_FIFO);
	tell(q, BEGIN_MS, (struct told){1, 1, 31 * 24 * HOUR_MS});
	decide(q, BEGIN_MS);
	tell(q, BEGIN_MS + 1, (struct told){2, 1, MINUTE_MS});
	struct play_result r = played(q, BEGIN_MS + MINUTE_MS);
	assert_int_equal(start_of(&r, 2), -1);
	assert_int_equal(reason_of(&r, 2), WAIT_QUOTA);
	assert_true(r.end == PLAY_STANDS || r.end == PLAY_AT_HORIZON);
	play_result_done(&r);
	queue_free(q);
}

static void a_play_has_an_end(void **state)
{
	(void)state;
	struct queue *q = world_of(1, STRICT_FIFO);
	for (uint32_t i = 0; i < 50; i++)
		tell(q, BEGIN_MS + i, (struct told){i, 1, MINUTE_MS});
	struct play_limits few = {.horizon_ms = PLAY_HORIZON_MS, .decisions = 20, .instants = 1000};
	struct play_result r;
	play(q, BEGIN_MS, &expected, NULL, &few, &r);
	assert_int_equal(r.end, PLAY_CUT);
	assert_int_equal(r.decisions, 20);
	assert_int_equal(start_of(&r, 19), 19);
	assert_int_equal(start_of(&r, 20), -1);
	play_result_done(&r);
	queue_free(q);
}

/* ---- windows --------------------------------------------------------------------------------- */

/* Open from 19:00 to 07:00. The 1st begins at 00:00, so it is open for seven hours more. */
static void set_nights(struct queue *q)
{
	static const char *const all[] = {"*"};
	struct window_spec night = {.name = "night",
		.shape = WINDOW_DAYS,
		.days = 127,
		.from_minute = 19 * 60,
		.to_minute = 7 * 60};
	struct zone *utc = zone_utc();
	struct calendar_spec calendar = {
		.name = "nights", .time_zone = "UTC", .zone = utc, .window = &night, .nwindows = 1};
	struct runpolicy_spec policy = {.name = "at-night",
		.queues = all,
		.nqueues = 1,
		.calendar = "nights",
		.fit = FIT_IGNORE,
		.action = CLOSE_SUSPEND,
		.max_suspensions = RUNPOLICY_SUSPENSIONS_UNLIMITED};
	struct err e;
	bool again;
	assert_int_equal(queue_set_calendar(q, &calendar, &e), 0);
	assert_int_equal(queue_set_runpolicy(q, &policy, &again, &e), 0);
	zone_free(utc);
}

static void a_window_opens_and_closes(void **state)
{
	(void)state;
	struct queue *q = world_of(1, STRICT_FIFO);
	set_nights(q);
	tell(q, BEGIN_MS, (struct told){1, 1, 6 * HOUR_MS});
	decide(q, BEGIN_MS);
	tell(q, BEGIN_MS + 1, (struct told){2, 1, 4 * HOUR_MS});
	tell(q, BEGIN_MS + 2, (struct told){3, 1, HOUR_MS});
	struct play_result r = played(q, BEGIN_MS + MINUTE_MS);
	assert_int_equal(start_of(&r, 2), 6 * 60);
	/* The close stops the second at 07:00. It waits until 19:00 at its old place, and begins anew. */
	assert_int_equal(start_of(&r, 3), 23 * 60);
	play_result_done(&r);
	queue_free(q);
}

/* ---- preemption ------------------------------------------------------------------------------ */

static void set_classes(struct queue *q)
{
	struct priority_spec high = {.kind = PRIORITY_WORKLOAD, .name = "high", .value = 100};
	queue_set_priority(q, &high);
	set_quota(q, 1, BEST_EFFORT_FIFO,
		(struct preemption_spec){.within_clusterqueue = PREEMPT_LOWER_PRIORITY});
}

static void a_higher_class_displaces_a_run(void **state)
{
	(void)state;
	struct queue *q = world_of(1, BEST_EFFORT_FIFO);
	set_classes(q);
	struct told first = {1, 1, 60 * MINUTE_MS, .grace_ms = 2 * MINUTE_MS};
	tell(q, BEGIN_MS, first);
	decide(q, BEGIN_MS);
	first.runs = true;
	tell(q, BEGIN_MS, first);
	tell(q, BEGIN_MS + 1, (struct told){2, 1, 10 * MINUTE_MS, .class = "high"});
	tell(q, BEGIN_MS + 2, (struct told){3, 1, 10 * MINUTE_MS});
	struct play_result r = played(q, BEGIN_MS + 30 * MINUTE_MS);
	assert_int_equal(start_of(&r, 2), 32); /* when the pods of the first are gone */
	/* The first begins anew at 42, before the third. */
	assert_int_equal(start_of(&r, 3), 102);
	play_result_done(&r);
	queue_free(q);
}

/* The stop was decided before the play began. */
static void a_run_that_is_being_stopped_gives_its_quota(void **state)
{
	(void)state;
	struct queue *q = world_of(1, BEST_EFFORT_FIFO);
	set_classes(q);
	struct told first = {1, 1, 60 * MINUTE_MS, .grace_ms = 2 * MINUTE_MS};
	tell(q, BEGIN_MS, first);
	decide(q, BEGIN_MS);
	first.runs = true;
	tell(q, BEGIN_MS, first);
	tell(q, BEGIN_MS + 1, (struct told){2, 1, 10 * MINUTE_MS, .class = "high"});
	assert_int_equal(decide(q, BEGIN_MS + 5 * MINUTE_MS), 1);
	struct play_result r = played(q, BEGIN_MS + 6 * MINUTE_MS);
	assert_int_equal(start_of(&r, 2), 8);
	play_result_done(&r);
	queue_free(q);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static void fewer_pods_take_longer(void **state)
{
	(void)state;
	struct queue *q = world_of(4, STRICT_FIFO);
	tell(q, BEGIN_MS, (struct told){1, 2, 10 * MINUTE_MS});
	decide(q, BEGIN_MS);
	tell(q, BEGIN_MS + 1, (struct told){2, 4, 30 * MINUTE_MS, .least = 2});
	tell(q, BEGIN_MS + 2, (struct told){3, 4, MINUTE_MS});
	struct play_result r = played(q, BEGIN_MS);
	assert_int_equal(start_of(&r, 2), 0);
	assert_int_equal(start_of(&r, 3), 60); /* with two of four pods it takes twice as long */
	play_result_done(&r);
	queue_free(q);
}

/* ---- dependencies ---------------------------------------------------------------------------- */

/* What the API server says of the first: it runs. */
static void answer_all(struct queue *q)
{
	struct predecessor first = {.uid = uid_of(1),
		.ns = "team-a",
		.name = "job-1",
		.created_ms = BEGIN_MS,
		.state = PREDECESSOR_STARTED,
		.failure = "",
		.followed = true};
	struct wanted_predecessors asked;
	while (queue_take_wanted(q, &asked)) {
		assert_non_null(asked.name);
		queue_answer_wanted(q, asked.id, &first, strcmp(asked.name, "job-1") == 0);
	}
}

static void a_job_waits_for_another_to_end(void **state)
{
	(void)state;
	struct queue *q = world_of(4, BEST_EFFORT_FIFO);
	tell(q, BEGIN_MS, (struct told){1, 1, 10 * MINUTE_MS});
	decide(q, BEGIN_MS);
	tell(q, BEGIN_MS + 1, (struct told){2, 1, 5 * MINUTE_MS, .after = "job-1"});
	tell(q, BEGIN_MS + 2, (struct told){3, 1, 5 * MINUTE_MS, .after = "unknown"});
	answer_all(q);
	assert_int_equal(decide(q, BEGIN_MS + MINUTE_MS), 0);
	struct play_result r = played(q, BEGIN_MS + MINUTE_MS);
	assert_int_equal(start_of(&r, 2), 10);
	assert_int_equal(start_of(&r, 3), -1);
	assert_int_equal(reason_of(&r, 3), WAIT_DEPENDENCY);
	play_result_done(&r);
	queue_free(q);
}

/* ---- what comes ------------------------------------------------------------------------------ */

struct comers {
	struct queue *q;
	int n;
	struct resource cpu;
	struct container c;
	struct job j;
};

static bool next_comer(int64_t *ret_at_ms, const struct job **ret_job, void *ctx)
{
	struct comers *c = ctx;
	if (c->n++ > 0)
		return false;
	c->cpu = (struct resource){"cpu", 1000};
	c->c = (struct container){.requests = {&c->cpu, 1}};
	c->j = (struct job){.uid = uid_of(9),
		.ns = "team-a",
		.name = "comer",
		.queue = "main",
		.priority_class = "high",
		.pod_priority_class = "",
		.family = "",
		.created_ms = BEGIN_MS + 5 * MINUTE_MS,
		.suspend = true,
		.parallelism = 1,
		.has_completions = true,
		.completions = 1,
		.durations.expected_ms = 20 * MINUTE_MS,
		.terms = {.max_price_resource = ""},
		.pod = {.containers = &c->c, .ncontainers = 1, .runtime_class = ""}};
	*ret_at_ms = BEGIN_MS + 5 * MINUTE_MS;
	*ret_job = &c->j;
	return true;
}

static void a_job_that_comes_later_may_go_first(void **state)
{
	(void)state;
	struct queue *q = world_of(1, BEST_EFFORT_FIFO);
	struct priority_spec high = {.kind = PRIORITY_WORKLOAD, .name = "high", .value = 100};
	struct comers comers = {.q = q};
	struct play_arrivals arrivals = {next_comer, &comers};
	struct play_limits limits = play_limits_for(10);
	struct play_result r;
	queue_set_priority(q, &high);
	tell(q, BEGIN_MS, (struct told){1, 1, 10 * MINUTE_MS});
	decide(q, BEGIN_MS);
	tell(q, BEGIN_MS + 1, (struct told){2, 1, MINUTE_MS});
	play(q, BEGIN_MS, &expected, &arrivals, &limits, &r);
	assert_int_equal(r.n, 1); /* of one that comes nothing is told */
	assert_int_equal(start_of(&r, 2), 30);
	play_result_done(&r);
	queue_free(q);
}

static void an_empty_queue_is_over_at_once(void **state)
{
	(void)state;
	struct queue *q = world_of(4, STRICT_FIFO);
	struct play_result r = played(q, BEGIN_MS);
	assert_int_equal(r.end, PLAY_ALL_STARTED);
	assert_int_equal(r.n, 0);
	play_result_done(&r);
	queue_free(q);
}

/* 300 come one each minute, each for 20 s, and the limits are those of no Job. */
static bool next_of_many(int64_t *ret_at_ms, const struct job **ret_job, void *ctx)
{
	struct comers *c = ctx;
	if (++c->n > 300)
		return false;
	c->j = (struct job){.uid = uid_of(1000 + (uint32_t)c->n),
		.ns = "team-a",
		.name = "came",
		.queue = "main",
		.priority_class = "high",
		.pod_priority_class = "",
		.family = "",
		.suspend = true,
		.parallelism = 1,
		.durations.expected_ms = 20000,
		.terms = {.max_price_resource = ""},
		.pod = {.containers = &c->c, .ncontainers = 1, .runtime_class = ""}};
	c->c.requests = (struct resource_list){&c->cpu, 1};
	c->cpu = (struct resource){"cpu", 1000};
	*ret_at_ms = BEGIN_MS + (int64_t)c->n * MINUTE_MS;
	*ret_job = &c->j;
	return true;
}

static void those_that_come_do_not_use_up_what_the_others_may_decide(void **state)
{
	(void)state;
	struct queue *q = world_of(1, BEST_EFFORT_FIFO);
	struct priority_spec high = {.kind = PRIORITY_WORKLOAD, .name = "high", .value = 100};
	struct comers comers = {.q = q};
	struct play_arrivals arrivals = {next_of_many, &comers};
	struct play_limits limits = {
		.horizon_ms = PLAY_HORIZON_MS, .decisions = 100, .instants = 100};
	struct play_result r;
	queue_set_priority(q, &high);
	tell(q, BEGIN_MS, (struct told){1, 1, 301 * MINUTE_MS});
	decide(q, BEGIN_MS);
	tell(q, BEGIN_MS + 1, (struct told){2, 1, MINUTE_MS});
	play(q, BEGIN_MS, &expected, &arrivals, &limits, &r);
	assert_int_equal(r.end, PLAY_ALL_STARTED);
	assert_int_equal(start_of(&r, 2), 401); /* behind 300 times 20 s */
	play_result_done(&r);
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_jobs_one_after_the_other),
		cmocka_unit_test(an_empty_queue_is_over_at_once),
		cmocka_unit_test(a_strict_queue_is_right_to_the_minute),
		cmocka_unit_test(a_run_that_is_overdue_goes_on),
		cmocka_unit_test(a_job_that_never_fits_has_a_reason),
		cmocka_unit_test(behind_a_run_without_an_end_none_starts),
		cmocka_unit_test(nothing_is_played_behind_the_horizon),
		cmocka_unit_test(a_play_has_an_end),
		cmocka_unit_test(a_window_opens_and_closes),
		cmocka_unit_test(a_higher_class_displaces_a_run),
		cmocka_unit_test(a_run_that_is_being_stopped_gives_its_quota),
		cmocka_unit_test(fewer_pods_take_longer),
		cmocka_unit_test(a_job_waits_for_another_to_end),
		cmocka_unit_test(a_job_that_comes_later_may_go_first),
		cmocka_unit_test(those_that_come_do_not_use_up_what_the_others_may_decide),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
