/* When the queue is played, how often, and what is told of it. Asks are the test's, but for those of the
 * last test, which play. */
#include "controller/forecast/forecasts.h"

#include <ev.h>
#include <unistd.h>

#include "controller/watch/recall.h"
#include "forecast/arrivals.h"
#include "forecast/ask.h"
#include "test/unit/forecast/fixture.h"

/* ---- asks, as the test wants them -------------------------------------------------------------- */

int __real_ask_begin(
	const struct queue *q, const struct ask_options *o, struct ask **ret, struct err *e);
int __real_ask_read(struct ask *a, struct ask_answer *ret, struct err *e);
int __real_ask_fd(const struct ask *a);
bool __real_ask_reap(struct ask *a);
void __real_ask_free(struct ask *a);
int __wrap_ask_begin(
	const struct queue *q, const struct ask_options *o, struct ask **ret, struct err *e);
int __wrap_ask_read(struct ask *a, struct ask_answer *ret, struct err *e);
int __wrap_ask_fd(const struct ask *a);
bool __wrap_ask_reap(struct ask *a);
void __wrap_ask_free(struct ask *a);

static struct {
	bool real;
	bool no_process, fails;
	unsigned begun, freed;
	int pipe[2];
	int64_t cpu_us;
	struct eta eta;
} asks;

#define FAKE ((struct ask *)&asks)

int __wrap_ask_begin(
	const struct queue *q, const struct ask_options *o, struct ask **ret, struct err *e)
{
	if (asks.real)
		return __real_ask_begin(q, o, ret, e);
	asks.begun++;
	if (asks.no_process)
		return err_set(e, ERR_BUSY, "no process for a forecast: test");
	*ret = FAKE;
	return 0;
}

int __wrap_ask_read(struct ask *a, struct ask_answer *ret, struct err *e)
{
	char byte;
	if (asks.real)
		return __real_ask_read(a, ret, e);
	assert_int_equal(read(asks.pipe[0], &byte, 1), 1);
	if (asks.fails)
		return err_set(e, ERR_BUSY, "the forecast was ended by signal 9");
	*ret = (struct ask_answer){.eta = &asks.eta, .n = 1, .draws = 16, .cpu_us = asks.cpu_us};
	return 1;
}

int __wrap_ask_fd(const struct ask *a)
{
	return asks.real ? __real_ask_fd(a) : asks.pipe[0];
}

bool __wrap_ask_reap(struct ask *a)
{
	return asks.real ? __real_ask_reap(a) : true;
}

void __wrap_ask_free(struct ask *a)
{
	if (asks.real)
		__real_ask_free(a);
	else if (a)
		asks.freed++;
}

/* ---- the world --------------------------------------------------------------------------------- */

struct fix {
	struct ev_loop *loop;
	struct queue *queue;
	struct forecasts *forecasts;
	int64_t tick_ms;
};

static int begin(void **state)
{
	static struct fix x;
	memset(&asks, 0, sizeof(asks));
	assert_int_equal(pipe(asks.pipe), 0);
	asks.cpu_us = 1000;
	asks.eta = (struct eta){.uid = uid_of(2),
		.start = {BEGIN_MS + MINUTE_MS, BEGIN_MS + HOUR_MS, PLAY_NEVER, 10},
		.reason = WAIT_QUOTA};
	x = (struct fix){.loop = ev_loop_new(EVFLAG_AUTO), .queue = world_of(1, STRICT_FIFO)};
	x.tick_ms = 1000000;
	struct forecasts_options o = {.loop = x.loop, .queue = x.queue, .seed = 7};
	x.forecasts = forecasts_new(&o);
	*state = &x;
	return 0;
}

static int end(void **state)
{
	struct fix *x = *state;
	forecasts_free(x->forecasts);
	queue_free(x->queue);
	ev_loop_destroy(x->loop);
	close(asks.pipe[0]);
	close(asks.pipe[1]);
	return 0;
}

static void tick_as(struct fix *x, bool leads)
{
	x->tick_ms += 1000;
	forecasts_tick(x->forecasts, leads, BEGIN_MS + x->tick_ms, x->tick_ms);
}

/* So many seconds, in which somebody asks all the time. */
static void look_for(struct fix *x, int seconds)
{
	for (int i = 0; i < seconds; i++) {
		forecasts_want(x->forecasts);
		tick_as(x, true);
	}
}

static void answer(struct fix *x)
{
	assert_int_equal(write(asks.pipe[1], "x", 1), 1);
	ev_run(x->loop, EVRUN_ONCE);
}

/* ---- when it is played ------------------------------------------------------------------------- */

static void nobody_asks_nothing_is_played(void **state)
{
	struct fix *x = *state;
	struct forecast told;
	struct uid job = uid_of(2);
	for (int i = 0; i < 1000; i++)
		tick_as(x, true);
	assert_int_equal(asks.begun, 0);
	assert_false(forecasts_find(x->forecasts, &job, &told));
}

static void who_asks_is_told(void **state)
{
	struct fix *x = *state;
	struct forecast told;
	struct uid job = uid_of(2), other = uid_of(3);
	look_for(x, 1);
	assert_int_equal(asks.begun, 1);
	assert_false(forecasts_find(x->forecasts, &job, &told));
	int64_t as_of_ms = BEGIN_MS + x->tick_ms;
	look_for(x, 3); /* it takes a while */
	assert_int_equal(asks.begun, 1);
	answer(x);
	assert_true(forecasts_find(x->forecasts, &job, &told));
	assert_true(told.start.p50_ms == BEGIN_MS + HOUR_MS);
	assert_true(told.start.p90_ms == PLAY_NEVER);
	assert_int_equal(told.reason, WAIT_QUOTA);
	assert_true(told.as_of_ms == as_of_ms);
	assert_int_equal(told.draws, 16);
	assert_int_equal(told.runs, 0);
	assert_int_equal(told.arrivals, 0);
	assert_false(forecasts_find(x->forecasts, &other, &told));
}

static void a_minute_after_the_last_question_it_ends(void **state)
{
	struct fix *x = *state;
	look_for(x, 1);
	answer(x);
	for (int i = 0; i < 59; i++) {
		tick_as(x, true);
		if (asks.begun == 2)
			break;
	}
	assert_int_equal(asks.begun, 2);
	answer(x);
	for (int i = 0; i < 59; i++)
		tick_as(x, true);
	unsigned begun = asks.begun;
	if (begun == 3)
		answer(x);
	for (int i = 0; i < 1000; i++)
		tick_as(x, true);
	assert_int_equal(asks.begun, begun);
}

static void an_old_answer_is_not_told(void **state)
{
	struct fix *x = *state;
	struct forecast told;
	struct uid job = uid_of(2);
	look_for(x, 1);
	answer(x);
	asks.no_process = true;
	for (int64_t i = 0; i < FORECASTS_SHOWN_MS / 1000 - 1; i++)
		tick_as(x, true);
	assert_true(forecasts_find(x->forecasts, &job, &told));
	tick_as(x, true);
	assert_false(forecasts_find(x->forecasts, &job, &told));
}

/* ---- the pace ---------------------------------------------------------------------------------- */

/* Asked for two hours without a pause, by what each ask costs: 5 % of a core at most. */
static void people_who_look_take_a_twentieth_of_a_core(void **state)
{
	static const int64_t cpu_ms[] = {1, 100, 2000, 10560, 40000};
	struct fix *x = *state;
	for (size_t i = 0; i < sizeof(cpu_ms) / sizeof(cpu_ms[0]); i++) {
		unsigned before = asks.begun;
		asks.cpu_us = cpu_ms[i] * 1000;
		for (int s = 0; s < 7200; s++) {
			unsigned begun = asks.begun;
			look_for(x, 1);
			if (asks.begun > begun)
				answer(x);
		}
		int64_t n = asks.begun - before;
		assert_true(n >= 8);
		assert_true((n - 1) * cpu_ms[i] <= 7200 * 1000 / 20);
		assert_true(n <= 7200 * 1000 / FORECASTS_PACE_MS + 1);
	}
}

static void of_two_only_one_is_under_way(void **state)
{
	struct fix *x = *state;
	look_for(x, FORECASTS_ASK_MS / 1000);
	assert_int_equal(asks.begun, 1);
	assert_int_equal(asks.freed, 0);
}

/* ---- what fails -------------------------------------------------------------------------------- */

static void after_a_failure_it_rests_longer_each_time(void **state)
{
	struct fix *x = *state;
	int64_t pauses[12], since_ms;
	asks.no_process = true;
	look_for(x, 1);
	for (size_t i = 0; i < 12; i++) {
		unsigned begun = asks.begun;
		since_ms = x->tick_ms;
		while (asks.begun == begun)
			look_for(x, 1);
		pauses[i] = x->tick_ms - since_ms;
		assert_true(i == 0 || pauses[i] >= 2 * pauses[i - 1] ||
			    pauses[i] == FORECASTS_PAUSE_MOST_MS);
	}
	assert_true(pauses[11] == FORECASTS_PAUSE_MOST_MS);
	asks.no_process = false;
	while (asks.freed == 0) {
		unsigned begun = asks.begun;
		look_for(x, 1);
		if (asks.begun > begun)
			answer(x);
	} /* the second answer frees the first: it has recovered */
}

static void a_failed_ask_leaves_the_last_answer(void **state)
{
	struct fix *x = *state;
	struct forecast told;
	struct uid job = uid_of(2);
	look_for(x, 1);
	answer(x);
	look_for(x, 6);
	assert_int_equal(asks.begun, 2);
	asks.fails = true;
	answer(x);
	assert_int_equal(asks.freed, 1);
	assert_true(forecasts_find(x->forecasts, &job, &told));
}

static void an_ask_that_does_not_end_is_killed(void **state)
{
	struct fix *x = *state;
	look_for(x, 60);
	assert_int_equal(asks.begun, 1);
	assert_int_equal(asks.freed, 1);
	look_for(x, 600); /* it counts as if it had used all that time */
	assert_int_equal(asks.begun, 1);
	look_for(x, 600);
	assert_int_equal(asks.begun, 2);
}

/* ---- who leads --------------------------------------------------------------------------------- */

static void a_standby_plays_nothing(void **state)
{
	struct fix *x = *state;
	for (int i = 0; i < 100; i++) {
		forecasts_want(x->forecasts);
		tick_as(x, false);
	}
	assert_int_equal(asks.begun, 0);
}

static void who_leads_no_more_ends_it_and_forgets(void **state)
{
	struct fix *x = *state;
	struct forecast told;
	struct uid job = uid_of(2);
	look_for(x, 1);
	answer(x);
	look_for(x, 6);
	assert_int_equal(asks.begun, 2);
	tick_as(x, false);
	assert_int_equal(asks.freed, 2);
	assert_false(forecasts_find(x->forecasts, &job, &told));
}

/* What the ledger gives back to a new leader is what it learns from, and the Jobs that it has seen come as
 * a standby. */
static void a_takeover_knows_what_was(void **state)
{
	struct fix *x = *state;
	struct forecast told;
	struct uid job = uid_of(2);
	struct recall recall = {.stage = RECALL_DURATIONS};
	struct ledger_duration runs[] = {
		{"team-a", "family-", 10 * MINUTE_MS, "main", "batch", "ann"},
		{"team-a", "", 20 * MINUTE_MS, "main", "batch", ""}};
	struct container c = {0};
	struct job came = {.uid = uid_of(9),
		.ns = "team-a",
		.name = "came",
		.queue = "main",
		.priority_class = "",
		.pod_priority_class = "",
		.family = "",
		.terms = {.max_price_resource = ""},
		.pod = {.containers = &c, .ncontainers = 1, .runtime_class = ""}};
	for (int i = 0; i < 3; i++)
		forecasts_tell_arrival(
			x->forecasts, &came, BEGIN_MS + x->tick_ms - 2 * ARRIVALS_LEAST_MS);
	recall_take_durations(&recall, x->queue, x->forecasts, runs, 2);
	assert_int_equal(recall.stage, RECALL_OVER);
	assert_int_equal(recall.durations, 2);
	look_for(x, 1);
	answer(x);
	assert_true(forecasts_find(x->forecasts, &job, &told));
	assert_int_equal(told.runs, 2);
	assert_int_equal(told.arrivals, 3);
}

/* ---- all of it, in processes of its own -------------------------------------------------------- */

static void it_plays(void **state)
{
	struct fix *x = *state;
	struct forecast told;
	struct uid second = uid_of(2), third = uid_of(3);
	struct duration_run run = {"team-a", "family-", "", "main", "batch", 1, 60 * MINUTE_MS};
	asks.real = true;
	int64_t now_ms = BEGIN_MS + x->tick_ms + 1000;
	for (int i = 0; i < 64; i++)
		forecasts_tell_run(x->forecasts, &run, 30 * MINUTE_MS);
	tell(x->queue, now_ms, (struct told){1, 1, 60 * MINUTE_MS});
	decide(x->queue, now_ms);
	tell(x->queue, now_ms + 1, (struct told){2, 1, 60 * MINUTE_MS});
	tell(x->queue, now_ms + 2, (struct told){3, 5, 60 * MINUTE_MS});
	look_for(x, 1);
	while (!forecasts_find(x->forecasts, &second, &told))
		ev_run(x->loop, EVRUN_ONCE);
	assert_int_equal(told.draws, ASK_DRAWS);
	assert_int_equal(told.runs, 64);
	/* Half of what is asked for, as the others took. */
	assert_in_range(told.start.p50_ms - now_ms, 25 * MINUTE_MS, 40 * MINUTE_MS);
	assert_true(told.start.p10_ms <= told.start.p50_ms);
	assert_true(told.start.p90_ms >= told.start.p50_ms);
	assert_true(forecasts_find(x->forecasts, &third, &told));
	assert_true(told.start.p10_ms == PLAY_NEVER);
	assert_int_equal(told.reason, WAIT_EXCEEDS_MAX);
	tick_as(x, true); /* reaps */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nobody_asks_nothing_is_played),
		TEST(who_asks_is_told),
		TEST(a_minute_after_the_last_question_it_ends),
		TEST(an_old_answer_is_not_told),
		TEST(people_who_look_take_a_twentieth_of_a_core),
		TEST(of_two_only_one_is_under_way),
		TEST(after_a_failure_it_rests_longer_each_time),
		TEST(a_failed_ask_leaves_the_last_answer),
		TEST(an_ask_that_does_not_end_is_killed),
		TEST(a_standby_plays_nothing),
		TEST(who_leads_no_more_ends_it_and_forgets),
		TEST(a_takeover_knows_what_was),
		TEST(it_plays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
