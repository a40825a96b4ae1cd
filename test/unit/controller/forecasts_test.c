/* When the queue is played, how often, and what is told of it. Asks are the test's, but for those of the
 * last test, which play. */
#include "controller/forecast/forecasts.h"

#include <ev.h>
#include <unistd.h>

#include "controller/write/recall.h"
#include "forecast/arrivals.h"
#include "forecast/ask.h"
#include "test/unit/forecast/fixture.h"
#include "test/unit/queue/worlds.h"

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
	tell(x.queue, BEGIN_MS, (struct told){2, 1, HOUR_MS});
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

/* Of a Job that waits for that. */
static bool find_as(
	const struct fix *x, const struct uid *job, struct explanation now, struct forecast *ret)
{
	return forecasts_find(x->forecasts, job, &now, ret);
}

static bool find(const struct fix *x, const struct uid *job, struct forecast *ret)
{
	return find_as(x, job, (struct explanation){.reason = WAIT_QUOTA}, ret);
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
	assert_false(find(x, &job, &told));
}

static void who_asks_is_told(void **state)
{
	struct fix *x = *state;
	struct forecast told;
	struct uid job = uid_of(2), other = uid_of(3);
	look_for(x, 1);
	assert_int_equal(asks.begun, 1);
	assert_false(find(x, &job, &told));
	int64_t as_of_ms = BEGIN_MS + x->tick_ms;
	look_for(x, 3); /* it takes a while */
	assert_int_equal(asks.begun, 1);
	answer(x);
	assert_true(find(x, &job, &told));
	assert_true(told.start.p50_ms == BEGIN_MS + HOUR_MS);
	assert_true(told.start.p90_ms == PLAY_NEVER);
	assert_int_equal(told.reason, WAIT_QUOTA);
	assert_true(told.as_of_ms == as_of_ms);
	assert_int_equal(told.draws, 16);
	assert_int_equal(told.runs, 0);
	assert_int_equal(told.arrivals, 0);
	assert_false(find(x, &other, &told));
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
	assert_true(find(x, &job, &told));
	tick_as(x, true);
	assert_false(find(x, &job, &told));
}

/* ---- what changes under it --------------------------------------------------------------------- */

static const char *const only_batch[] = {"batch"};
static const struct resource one_cpu = {"cpu", 1000}, two_cpu = {"cpu", 2000};
static const struct container asks_one = {.requests = {&one_cpu, 1}},
			      asks_two = {.requests = {&two_cpu, 1}};
static const struct label gold = {"tier", "gold"};
static const struct requirement is_gold = {.key = "tier", .op = SELECTOR_EXISTS};

static struct job job_two(void)
{
	return (struct job){.uid = uid_of(2),
		.ns = "team-a",
		.name = "job-2",
		.queue = "main",
		.priority_class = "",
		.pod_priority_class = "",
		.family = "family-",
		.created_ms = BEGIN_MS,
		.suspend = true,
		.parallelism = 1,
		.has_completions = true,
		.completions = 1,
		.terms = {.max_price_resource = ""},
		.pod = {.containers = &asks_one, .ncontainers = 1, .runtime_class = ""}};
}

static void set_batch_to(struct queue *q, int64_t cpus, enum stop_policy stop_policy)
{
	static int64_t generation;
	generation++;
	make_queue(q,
		(struct clusterqueue_spec){.name = "batch",
			.generation = generation,
			.strategy = STRICT_FIFO,
			.stop_policy = stop_policy},
		"node", cpus * 1000);
}

static void set_local(struct queue *q, const char *name, int64_t generation, int32_t max_running)
{
	struct localqueue_spec s = {.ns = "team-a",
		.name = name,
		.generation = generation,
		.clusterqueue = "batch",
		.limits = {.max_running = max_running}};
	assert_int_equal(queue_set_localqueue(q, &s, NULL), 0);
}

/* Open in that hour of each day; of policy night, which spares Jobs that are gold. */
static void set_window(struct queue *q, int64_t generation, int hour)
{
	struct zone *utc = zone_utc();
	struct window_spec open = {.name = "open",
		.shape = WINDOW_DAYS,
		.days = 127,
		.from_minute = hour * 60,
		.to_minute = hour * 60 + 60};
	struct calendar_spec s = {.name = "open",
		.generation = generation,
		.time_zone = "UTC",
		.zone = utc,
		.window = &open,
		.nwindows = 1};
	assert_int_equal(queue_set_calendar(q, &s, NULL), 0);
	zone_free(utc);
}

static void set_policy(struct queue *q, int64_t generation)
{
	struct runpolicy_spec s = {.name = "night",
		.generation = generation,
		.queues = only_batch,
		.nqueues = 1,
		.calendar = "open",
		.has_exempt_selector = true,
		.exempt_selector = {&is_gold, 1}};
	bool again;
	assert_int_equal(queue_set_runpolicy(q, &s, &again, NULL), 0);
}

static void set_class(struct queue *q, int32_t value)
{
	struct priority_spec s = {.kind = PRIORITY_WORKLOAD, .name = "high", .value = value};
	queue_set_priority(q, &s);
}

static void is_put_on_hold(struct queue *q, struct job *j)
{
	(void)q;
	j->hold = "later";
}

static void gets_a_class(struct queue *q, struct job *j)
{
	(void)q;
	j->priority_class = "high";
}

static void goes_to_another_queue(struct queue *q, struct job *j)
{
	set_local(q, "other", 1, 0);
	j->queue = "other";
}

static void asks_for_more(struct queue *q, struct job *j)
{
	(void)q;
	j->pod.containers = &asks_two;
}

static void has_more_pods(struct queue *q, struct job *j)
{
	(void)q;
	j->parallelism = j->completions = 3;
}

static void may_start_later(struct queue *q, struct job *j)
{
	(void)q;
	j->terms.start_after_ms = BEGIN_MS + 9 * HOUR_MS;
}

static void gets_a_deadline(struct queue *q, struct job *j)
{
	(void)q;
	j->terms.deadline_ms = BEGIN_MS + 9 * HOUR_MS;
}

static void is_expected_to_take_longer(struct queue *q, struct job *j)
{
	(void)q;
	j->durations.expected_ms = 9 * HOUR_MS;
}

static void gets_a_label_of_a_window(struct queue *q, struct job *j)
{
	(void)q;
	j->labels = &gold;
	j->nlabels = 1;
}

static void waits_for_another(struct queue *q, struct job *j)
{
	static const struct dependency item = {
		.kind = AFTER_OK, .name = "prep", .text = "afterok:prep"};
	(void)q;
	j->after = (struct dependencies){.item = &item, .count = 1};
}

static void goes_behind_in_its_own_order(struct queue *q, struct job *j)
{
	(void)q;
	j->nice = 5;
}

static void is_misconfigured(struct queue *q, struct job *j)
{
	(void)q;
	j->invalid = "sluice.dev/deadline is no time";
}

static void is_being_deleted(struct queue *q, struct job *j)
{
	(void)q;
	j->deleting = true;
}

/* What another cannot start by has been found by the gate. */
static void is_blocked(struct queue *q, struct job *j)
{
	queue_block_job(q, &j->uid, "its pods were rejected");
}

static void its_past_is_recalled(struct queue *q, struct job *j)
{
	struct job_history h = {.not_before_ms = BEGIN_MS + 9 * HOUR_MS, .requeues = 3};
	queue_recall_history(q, &j->uid, &h);
}

static void was_started_and_given_back(struct queue *q, struct job *j)
{
	set_batch_to(q, 1, STOP_NONE);
	decide(q, BEGIN_MS + HOUR_MS);
	queue_release_job(q, &j->uid, BEGIN_MS + HOUR_MS, BEGIN_MS + 2 * HOUR_MS);
}

static void its_class_is_edited(struct queue *q, struct job *j)
{
	(void)j;
	set_class(q, 7);
}

static void its_clusterqueue_is_stopped(struct queue *q, struct job *j)
{
	(void)j;
	set_batch_to(q, 0, STOP_HOLD);
}

static void quota_is_edited(struct queue *q, struct job *j)
{
	(void)j;
	set_batch_to(q, 5, STOP_NONE);
}

static void its_clusterqueue_is_deleted(struct queue *q, struct job *j)
{
	(void)j;
	queue_drop_clusterqueue(q, "batch");
}

static void its_localqueue_lets_fewer_run(struct queue *q, struct job *j)
{
	(void)j;
	set_local(q, "main", 2, 1);
}

static void its_localqueue_is_deleted(struct queue *q, struct job *j)
{
	(void)j;
	queue_drop_localqueue(q, "team-a", "main");
}

static void its_calendar_is_edited(struct queue *q, struct job *j)
{
	(void)j;
	set_window(q, 2, 20);
}

static void its_policy_is_edited(struct queue *q, struct job *j)
{
	(void)j;
	set_policy(q, 2);
}

static void its_policy_is_deleted(struct queue *q, struct job *j)
{
	(void)j;
	queue_drop_runpolicy(q, "night");
}

static void its_flavor_is_edited(struct queue *q, struct job *j)
{
	static const struct taint taint = {"spot", "", TAINT_NO_SCHEDULE};
	struct flavor_spec s = {.name = "node", .nodes = {.taints = &taint, .ntaints = 1}};
	(void)j;
	queue_set_flavor(q, &s, NULL);
}

static void nothing_changes(struct queue *q, struct job *j)
{
	(void)q;
	j->version = 17; /* a write of others: its status, say */
}

static void others_come_and_go(struct queue *q, struct job *j)
{
	(void)j;
	tell(q, BEGIN_MS, (struct told){3, 1, HOUR_MS});
	struct uid other = uid_of(3);
	queue_drop_job(q, &other);
}

static void a_queue_beside_is_edited(struct queue *q, struct job *j)
{
	struct clusterqueue_spec s = {
		.name = "beside", .generation = 1, .cohort = "", .has_namespace_selector = true};
	(void)j;
	assert_int_equal(queue_set_clusterqueue(q, &s, NULL), 0);
}

static void objects_are_told_again(struct queue *q, struct job *j)
{
	(void)j;
	set_window(q, 1, 10);
	set_policy(q, 1);
	set_local(q, "main", 1, 0);
	set_class(q, 5);
}

static void the_window_closes(struct queue *q, struct job *j)
{
	(void)j;
	for (int hour = 10; hour < 12; hour++)
		decide(q, BEGIN_MS + hour * HOUR_MS);
}

#define CHANGE(f)                                                                                  \
	{                                                                                          \
#f, f                                                                              \
	}

struct change {
	const char *name;
	/* What happens; j is what is told of the Job behind it. */
	void (*make)(struct queue *q, struct job *j);
};

/* After which what was forecast before is worth nothing. */
static const struct change changes[] = {
	CHANGE(is_put_on_hold),
	CHANGE(gets_a_class),
	CHANGE(goes_to_another_queue),
	CHANGE(asks_for_more),
	CHANGE(has_more_pods),
	CHANGE(may_start_later),
	CHANGE(gets_a_deadline),
	CHANGE(is_expected_to_take_longer),
	CHANGE(gets_a_label_of_a_window),
	CHANGE(waits_for_another),
	CHANGE(goes_behind_in_its_own_order),
	CHANGE(is_misconfigured),
	CHANGE(is_being_deleted),
	CHANGE(is_blocked),
	CHANGE(its_past_is_recalled),
	CHANGE(was_started_and_given_back),
	CHANGE(its_clusterqueue_is_stopped),
	CHANGE(quota_is_edited),
	CHANGE(its_clusterqueue_is_deleted),
	CHANGE(its_localqueue_lets_fewer_run),
	CHANGE(its_localqueue_is_deleted),
	CHANGE(its_calendar_is_edited),
	CHANGE(its_policy_is_edited),
	CHANGE(its_policy_is_deleted),
	CHANGE(its_flavor_is_edited),
};

/* Its class is another one's; and that the window closes the plays have known. */
static const struct change others[] = {
	CHANGE(its_class_is_edited),
	CHANGE(nothing_changes),
	CHANGE(others_come_and_go),
	CHANGE(a_queue_beside_is_edited),
	CHANGE(objects_are_told_again),
	CHANGE(the_window_closes),
};

/* Job 2 waits, in a queue with a window and without quota. */
static struct job set_the_scene(struct fix *x)
{
	struct job j = job_two();
	set_batch_to(x->queue, 0, STOP_NONE);
	set_local(x->queue, "main", 1, 0);
	set_window(x->queue, 1, 10);
	set_policy(x->queue, 1);
	set_class(x->queue, 5);
	queue_set_job(x->queue, &j);
	return j;
}

static void forecast_anew(struct fix *x)
{
	unsigned begun = asks.begun;
	while (asks.begun == begun)
		look_for(x, 1);
	answer(x);
}

static void check_change(struct fix *x, const struct change *c, bool stands)
{
	struct forecast told;
	struct uid two = uid_of(2);
	struct job j = set_the_scene(x);
	forecast_anew(x);
	assert_true(find(x, &two, &told));
	c->make(x->queue, &j);
	queue_set_job(x->queue, &j);
	if (find(x, &two, &told) != stands)
		fail_msg("%s: the forecast of before is%s told", c->name, stands ? " not" : "");
	forecast_anew(x);
	assert_true(find(x, &two, &told));
}

static void check_changes(void **state, const struct change *c, size_t n, bool stands)
{
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			assert_int_equal(begin(state), 0);
		check_change(*state, &c[i], stands);
		if (i + 1 < n)
			end(state);
	}
}

static void a_forecast_of_before_a_change_is_none(void **state)
{
	check_changes(state, changes, sizeof(changes) / sizeof(*changes), false);
}

static void what_does_not_concern_a_job_leaves_its_forecast(void **state)
{
	check_changes(state, others, sizeof(others) / sizeof(*others), true);
}

/* It was changed while the plays were under way: they do not know that. */
static void nor_is_one_that_was_begun_before(void **state)
{
	struct fix *x = *state;
	struct forecast told;
	struct uid two = uid_of(2);
	struct job j = set_the_scene(x);
	look_for(x, 1);
	j.hold = "later";
	queue_set_job(x->queue, &j);
	answer(x);
	assert_false(find(x, &two, &told));
}

/* Edits the priority class that the Job has. */
static void a_class_is_a_fact_of_its_jobs(void **state)
{
	struct fix *x = *state;
	struct forecast told;
	struct uid two = uid_of(2);
	struct job j = set_the_scene(x);
	j.priority_class = "high";
	queue_set_job(x->queue, &j);
	forecast_anew(x);
	assert_true(find(x, &two, &told));
	set_class(x->queue, 7);
	assert_false(find(x, &two, &told));
}

/* What is no edit, and yet rules it out. */
static void a_start_that_cannot_be_is_not_told(void **state)
{
	struct fix *x = *state;
	struct forecast told;
	struct uid two = uid_of(2);
	const int64_t p50_ms = asks.eta.start.p50_ms;
	forecast_anew(x);
	assert_true(find(x, &two, &told));
	assert_false(find_as(x, &two, (struct explanation){.reason = WAIT_HELD}, &told));
	assert_false(find_as(x, &two, (struct explanation){.reason = WAIT_LEDGER_DOWN}, &told));
	assert_false(find_as(x, &two,
		(struct explanation){.reason = WAIT_WINDOW, .not_before_ms = p50_ms + 1}, &told));
	assert_true(find_as(x, &two,
		(struct explanation){.reason = WAIT_WINDOW, .not_before_ms = p50_ms}, &told));
	asks.eta.start = (struct quantiles){PLAY_NEVER, PLAY_NEVER, PLAY_NEVER, 0};
	asks.eta.reason = WAIT_EXCEEDS_MAX;
	assert_false(find(x, &two, &told));
	assert_true(find_as(x, &two, (struct explanation){.reason = WAIT_EXCEEDS_MAX}, &told));
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
	assert_true(find(x, &job, &told));
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
	assert_false(find(x, &job, &told));
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
			x->forecasts, &came, BEGIN_MS + x->tick_ms - 2 * ARRIVALS_LEAST_MS + i);
	recall_take(
		&recall, x->queue, x->forecasts, &(struct pg_answer){.n = 2, .durations = runs});
	assert_int_equal(recall.stage, RECALL_OVER);
	assert_int_equal(recall.durations, 2);
	look_for(x, 1);
	answer(x);
	assert_true(find(x, &job, &told));
	assert_int_equal(told.runs, 2);
	assert_int_equal(told.arrivals, 2); /* the first is not repeated */
}

/* ---- all of it, in processes of its own -------------------------------------------------------- */

static void it_plays(void **state)
{
	struct fix *x = *state;
	struct forecast told;
	struct uid second = uid_of(2), third = uid_of(3);
	struct duration_run run = {"team-a", "family-", "", "main", "batch", 1, 60 * MINUTE_MS};
	asks.real = true;
	queue_drop_job(x->queue, &second);
	int64_t now_ms = BEGIN_MS + x->tick_ms + 1000;
	for (int i = 0; i < 64; i++)
		forecasts_tell_run(x->forecasts, &run, 30 * MINUTE_MS);
	tell(x->queue, now_ms, (struct told){1, 1, 60 * MINUTE_MS});
	decide(x->queue, now_ms);
	tell(x->queue, now_ms + 1, (struct told){2, 1, 60 * MINUTE_MS});
	tell(x->queue, now_ms + 2, (struct told){3, 5, 60 * MINUTE_MS});
	look_for(x, 1);
	while (!find(x, &second, &told))
		ev_run(x->loop, EVRUN_ONCE);
	assert_int_equal(told.draws, ASK_DRAWS);
	assert_int_equal(told.runs, 64);
	/* Half of what is asked for, as the others took. */
	assert_in_range(told.start.p50_ms - now_ms, 25 * MINUTE_MS, 40 * MINUTE_MS);
	assert_true(told.start.p10_ms <= told.start.p50_ms);
	assert_true(told.start.p90_ms >= told.start.p50_ms);
	assert_true(find_as(x, &third, (struct explanation){.reason = WAIT_EXCEEDS_MAX}, &told));
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
		TEST(a_forecast_of_before_a_change_is_none),
		TEST(what_does_not_concern_a_job_leaves_its_forecast),
		TEST(nor_is_one_that_was_begun_before),
		TEST(a_class_is_a_fact_of_its_jobs),
		TEST(a_start_that_cannot_be_is_not_told),
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
