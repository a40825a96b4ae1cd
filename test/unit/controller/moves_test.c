/* Which starts have moved, and what is said of why: answers follow each other, of a queue in which things happen. */
#include "controller/forecast/moves.h"

#include "test/unit/forecast/fixture.h"
#include "test/unit/queue/worlds.h"
#include "queue/cluster/nodes.h"

enum { JOBS = 8 };

/* Runs take that long in the plays. */
static int64_t least_ms, most_ms;
/* Plays draw from so many for those that are to come. */
static size_t arrivals;
static bool arrivals_are_young;

static void lasts(const struct job_outline *run, int64_t ran_ms, int64_t *ret_least_ms,
	int64_t *ret_most_ms, void *ctx)
{
	(void)run;
	(void)ran_ms;
	(void)ctx;
	*ret_least_ms = least_ms;
	*ret_most_ms = most_ms;
}

struct answer {
	struct eta eta[JOBS];
	struct buf more;
	struct ask_answer answer;
};

/* By number of the Job, and when it starts in minutes from now; by uid. */
struct start {
	uint32_t n;
	int64_t minutes;
};
#define NEVER INT64_MAX

static void answer_with(struct answer *a, struct queue *q, int64_t now_ms,
	const struct answer *before, const struct start *starts)
{
	struct moves_world w = {.queue = q,
		.now_ms = now_ms,
		.lasts = lasts,
		.arrivals = arrivals,
		.arrivals_are_young = arrivals_are_young};
	size_t n = 0;
	*a = (struct answer){0};
	for (; starts[n].n; n++) {
		int64_t ms = starts[n].minutes == NEVER ? PLAY_NEVER
							: now_ms + starts[n].minutes * MINUTE_MS;
		a->eta[n] = (struct eta){.uid = uid_of(starts[n].n), .start = {ms, ms, ms, 16}};
	}
	buf_init(&a->more, 4 << 20);
	moves_remember(&w, before ? &before->answer : NULL, a->eta, n, &a->more);
	assert_false(a->more.failed);
	a->answer = (struct ask_answer){.eta = a->eta, .n = n, .text = buf_slice(&a->more)};
}

#define ANSWER(a, q, now_ms, before, ...)                                                          \
	answer_with(a, q, now_ms, before, (const struct start[JOBS + 1]){__VA_ARGS__})

static bool find(const struct answer *a, uint32_t n, struct move *ret)
{
	struct uid uid = uid_of(n);
	const struct eta *eta = ask_find(&a->answer, &uid);
	assert_non_null(eta);
	return moves_find(&a->answer, eta, ret);
}

static int64_t told_minutes(const struct answer *a, uint32_t n)
{
	struct uid uid = uid_of(n);
	return (moves_told(&a->answer, ask_find(&a->answer, &uid)) - BEGIN_MS) / MINUTE_MS;
}

static void assert_why(const struct answer *a, uint32_t n, const char *why)
{
	struct move m;
	struct buf out;
	assert_true(find(a, n, &m));
	buf_init(&out, 4096);
	moves_say_why(&m, &out);
	assert_string_equal(buf_text(&out), why);
	buf_done(&out);
}

static void done(struct answer *a, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_done(&a[i].more);
}

/* Job 1 runs, the others wait in a queue of one cpu. */
static struct queue *busy_queue(uint32_t jobs)
{
	struct queue *q = world_of(1, STRICT_FIFO);
	least_ms = 0;
	most_ms = 30 * 24 * HOUR_MS;
	arrivals = 0;
	arrivals_are_young = false;
	tell(q, BEGIN_MS, (struct told){1, 1, 60 * MINUTE_MS});
	assert_int_equal(decide(q, BEGIN_MS), 1);
	for (uint32_t n = 2; n <= jobs; n++)
		tell(q, BEGIN_MS + n, (struct told){n, 1, 60 * MINUTE_MS});
	return q;
}

static void little_is_no_move(void **state)
{
	struct answer a[3];
	struct move m;
	struct queue *q = busy_queue(3);
	(void)state;
	ANSWER(&a[0], q, BEGIN_MS, NULL, {2, 60}, {3, 600});
	assert_false(find(&a[0], 2, &m));
	/* Less than ten minutes; and less than a quarter of ten hours. */
	ANSWER(&a[1], q, BEGIN_MS, &a[0], {2, 69}, {3, 740});
	assert_false(find(&a[1], 2, &m));
	assert_false(find(&a[1], 3, &m));
	ANSWER(&a[2], q, BEGIN_MS, &a[1], {2, 50}, {3, 460});
	assert_false(find(&a[2], 2, &m));
	assert_false(find(&a[2], 3, &m));
	done(a, 3);
	queue_free(q);
}

static void a_move_has_what_was_told_and_until_when(void **state)
{
	struct answer a[4];
	struct move m;
	struct queue *q = busy_queue(3);
	(void)state;
	ANSWER(&a[0], q, BEGIN_MS, NULL, {2, 60}, {3, 100});
	ANSWER(&a[1], q, BEGIN_MS + MINUTE_MS, &a[0], {2, 60}, {3, 150});
	assert_false(find(&a[1], 2, &m));
	assert_true(find(&a[1], 3, &m));
	assert_true(m.is_later && m.from_ms == BEGIN_MS + 100 * MINUTE_MS);
	assert_true(m.at_ms == BEGIN_MS + MINUTE_MS);
	/* It stays told while the start stays, and goes with the next one. */
	ANSWER(&a[2], q, BEGIN_MS + 2 * MINUTE_MS, &a[1], {2, 60}, {3, 149});
	assert_true(find(&a[2], 3, &m));
	assert_true(m.at_ms == BEGIN_MS + MINUTE_MS);
	ANSWER(&a[3], q, BEGIN_MS + 3 * MINUTE_MS, &a[2], {2, 60}, {3, 30});
	assert_true(find(&a[3], 3, &m));
	assert_true(!m.is_later && m.from_ms == BEGIN_MS + 151 * MINUTE_MS);
	assert_true(m.at_ms == BEGIN_MS + 3 * MINUTE_MS);
	done(a, 4);
	queue_free(q);
}

/* A minute later with each answer: none of them is a move, all together are. */
static void a_drift_is_a_move_once_it_is_large(void **state)
{
	struct answer a[17];
	struct move m;
	struct queue *q = busy_queue(2);
	int first = 0;
	(void)state;
	ANSWER(&a[0], q, BEGIN_MS, NULL, {2, 30});
	for (int i = 1; i < 17; i++) {
		ANSWER(&a[i], q, BEGIN_MS, &a[i - 1], {2, 30 + i});
		if (!first && find(&a[i], 2, &m))
			first = i;
		assert_int_equal(told_minutes(&a[i], 2), first ? 30 + first : 30);
	}
	assert_int_equal(first, 11);
	assert_true(m.from_ms == BEGIN_MS + 30 * MINUTE_MS);
	done(a, 17);
	queue_free(q);
}

static void never_is_a_move(void **state)
{
	struct answer a[3];
	struct move m;
	struct queue *q = busy_queue(2);
	(void)state;
	ANSWER(&a[0], q, BEGIN_MS, NULL, {2, 60});
	ANSWER(&a[1], q, BEGIN_MS, &a[0], {2, NEVER});
	assert_true(find(&a[1], 2, &m));
	assert_true(m.is_later);
	ANSWER(&a[2], q, BEGIN_MS, &a[1], {2, 60});
	assert_false(find(&a[2], 2, &m)); /* no time was told before */
	assert_int_equal(told_minutes(&a[2], 2), 60);
	done(a, 3);
	queue_free(q);
}

/* ---- why --------------------------------------------------------------------------------------- */

static void nothing_is_made_up(void **state)
{
	struct answer a[3];
	struct queue *q = busy_queue(2);
	(void)state;
	ANSWER(&a[0], q, BEGIN_MS, NULL, {2, 60});
	ANSWER(&a[1], q, BEGIN_MS, &a[0], {2, 90});
	assert_why(&a[1], 2,
		"no change of the queue is known; runs are expected to take longer than before, or more new Jobs to arrive");
	ANSWER(&a[2], q, BEGIN_MS, &a[1], {2, 30});
	assert_why(&a[2], 2,
		"no change of the queue is known; runs are expected to take less time than before, or fewer new Jobs to arrive");
	done(a, 3);
	queue_free(q);
}

/* Since it was told, not since the last answer; and before it, not behind. */
static void jobs_that_came_are_counted(void **state)
{
	struct answer a[4];
	struct move m;
	struct queue *q = busy_queue(3);
	(void)state;
	ANSWER(&a[0], q, BEGIN_MS, NULL, {2, 60}, {3, 100});
	tell(q, BEGIN_MS, (struct told){4, 1, MINUTE_MS});
	ANSWER(&a[1], q, BEGIN_MS, &a[0], {2, 60}, {3, 100}, {4, 50});
	assert_false(find(&a[1], 3, &m));
	tell(q, BEGIN_MS, (struct told){5, 1, MINUTE_MS});
	tell(q, BEGIN_MS, (struct told){6, 1, MINUTE_MS});
	tell(q, BEGIN_MS, (struct told){7, 1, MINUTE_MS});
	ANSWER(&a[2], q, BEGIN_MS, &a[1], {2, 60}, {3, 180}, {4, 50}, {5, 170}, {6, 181},
		{7, NEVER});
	assert_why(&a[2], 3, "2 Jobs came that are expected to start before this one");
	assert_false(find(&a[2], 4, &m));
	ANSWER(&a[3], q, BEGIN_MS, &a[2], {2, 60}, {3, 90}, {4, 50}, {5, 170}, {6, 181},
		{7, NEVER});
	assert_why(&a[3], 3, /* Jobs that come make nothing sooner */
		"no change of the queue is known; runs are expected to take less time than before, or fewer new Jobs to arrive");
	done(a, 4);
	queue_free(q);
}

static void jobs_that_are_gone_or_held_are_counted(void **state)
{
	struct answer a[3];
	struct uid second = uid_of(2);
	struct queue *q = busy_queue(4);
	(void)state;
	ANSWER(&a[0], q, BEGIN_MS, NULL, {2, 60}, {3, 120}, {4, 180});
	queue_drop_job(q, &second);
	ANSWER(&a[1], q, BEGIN_MS, &a[0], {3, 60}, {4, 120});
	assert_why(&a[1], 3, "1 waiting Job is gone or held");
	assert_why(&a[1], 4, "1 waiting Job is gone or held");
	ANSWER(&a[2], q, BEGIN_MS, &a[1], {3, NEVER}, {4, 60});
	assert_why(&a[2], 4, "1 waiting Job is gone or held");
	assert_why(&a[2], 3, /* it makes nothing later */
		"no change of the queue is known; runs are expected to take longer than before, or more new Jobs to arrive");
	done(a, 3);
	queue_free(q);
}

static void runs_that_go_on_are_counted_once(void **state)
{
	struct answer a[4];
	struct queue *q = busy_queue(3);
	(void)state;
	most_ms = 20 * MINUTE_MS;
	ANSWER(&a[0], q, BEGIN_MS, NULL, {2, 20}, {3, 80});
	most_ms = 40 * MINUTE_MS;
	int64_t now_ms = BEGIN_MS + 21 * MINUTE_MS;
	ANSWER(&a[1], q, now_ms, &a[0], {2, 40}, {3, 100});
	assert_why(&a[1], 2, "1 run takes longer than expected");
	assert_why(&a[1], 3, "1 run takes longer than expected");
	now_ms = BEGIN_MS + 41 * MINUTE_MS;
	ANSWER(&a[2], q, now_ms, &a[1], {2, 60}, {3, 140});
	assert_why(&a[2], 2, /* known already when that was told */
		"no change of the queue is known; runs are expected to take longer than before, or more new Jobs to arrive");
	done(a, 3);
	queue_free(q);
}

static void runs_that_end_early_are_counted(void **state)
{
	struct answer a[2];
	struct uid first = uid_of(1);
	struct queue *q = busy_queue(3);
	(void)state;
	least_ms = 30 * MINUTE_MS;
	ANSWER(&a[0], q, BEGIN_MS, NULL, {2, 30}, {3, 90});
	int64_t now_ms = BEGIN_MS + 5 * MINUTE_MS;
	queue_end_job(q, &first, now_ms);
	assert_int_equal(decide(q, now_ms), 1);
	ANSWER(&a[1], q, now_ms, &a[0], {3, 60});
	assert_why(&a[1], 3, "1 run ended sooner than expected");
	done(a, 2);
	queue_free(q);
}

/* The run did not end by itself: its Job waits again. */
static void runs_that_are_stopped_are_counted(void **state)
{
	struct answer a[3];
	struct uid first = uid_of(1);
	struct queue *q = busy_queue(3);
	(void)state;
	ANSWER(&a[0], q, BEGIN_MS, NULL, {2, 30}, {3, 90});
	queue_release_job(q, &first, BEGIN_MS, BEGIN_MS + HOUR_MS);
	ANSWER(&a[1], q, BEGIN_MS, &a[0], {1, 60}, {2, 0}, {3, 60});
	assert_why(&a[1], 3, "1 run was stopped");
	ANSWER(&a[2], q, BEGIN_MS, &a[1], {1, 60}, {2, 0}, {3, 90});
	assert_why(&a[2], 3, /* it makes nothing later */
		"no change of the queue is known; runs are expected to take longer than before, or more new Jobs to arrive");
	done(a, 3);
	queue_free(q);
}

/* Holds Job 1 while it runs: its pods have not ended yet. */
static void a_run_on_hold_is_counted_once(void **state)
{
	struct answer a[3];
	struct uid first = uid_of(1);
	struct queue *q = busy_queue(3);
	(void)state;
	ANSWER(&a[0], q, BEGIN_MS, NULL, {2, 60}, {3, 120});
	tell(q, BEGIN_MS, (struct told){1, 1, 60 * MINUTE_MS, .runs = true, .hold = "true"});
	assert_int_equal(decide(q, BEGIN_MS), 1);
	ANSWER(&a[1], q, BEGIN_MS, &a[0], {2, 60}, {3, 120});
	queue_release_job(q, &first, BEGIN_MS, BEGIN_MS);
	ANSWER(&a[2], q, BEGIN_MS, &a[1], {2, 0}, {3, 60});
	assert_why(&a[2], 3, "1 run was stopped");
	done(a, 3);
	queue_free(q);
}

/* No play expected it to run for so long: when it was to end is past. */
static void a_stop_after_the_expected_end_is_no_reason(void **state)
{
	struct answer a[2];
	struct uid first = uid_of(1);
	struct queue *q = busy_queue(3);
	(void)state;
	most_ms = 0;
	ANSWER(&a[0], q, BEGIN_MS, NULL, {2, 30}, {3, 90});
	queue_release_job(q, &first, BEGIN_MS, BEGIN_MS + HOUR_MS);
	ANSWER(&a[1], q, BEGIN_MS + 1, &a[0], {1, 60}, {2, 0}, {3, 60});
	assert_why(&a[1], 3,
		"no change of the queue is known; runs are expected to take less time than before, or fewer new Jobs to arrive");
	done(a, 2);
	queue_free(q);
}

static void set_node(struct queue *q, const char *name)
{
	struct node_spec node = {.name = name};
	queue_set_node(q, &node);
}

static void nodes_are_counted_by_the_way_they_move_it(void **state)
{
	struct answer a[3];
	struct queue *q = busy_queue(2);
	(void)state;
	set_node(q, "old");
	ANSWER(&a[0], q, BEGIN_MS, NULL, {2, 90});
	set_node(q, "new");
	set_node(q, "new"); /* again, as it was */
	queue_drop_node(q, "old");
	ANSWER(&a[1], q, BEGIN_MS, &a[0], {2, 60});
	assert_why(&a[1], 2, "1 node was added");
	queue_drop_node(q, "new");
	ANSWER(&a[2], q, BEGIN_MS, &a[1], {2, 90});
	assert_why(&a[2], 2, "1 node was removed");
	done(a, 3);
	queue_free(q);
}

/* While less than an hour is known of them, plays expect more with each that came, and much more once it is. */
static void more_jobs_that_are_to_come_are_a_reason(void **state)
{
	struct answer a[6];
	struct queue *q = busy_queue(2);
	(void)state;
	arrivals_are_young = true;
	arrivals = 3;
	ANSWER(&a[0], q, BEGIN_MS, NULL, {2, 60});
	arrivals = 5;
	ANSWER(&a[1], q, BEGIN_MS, &a[0], {2, 62});
	ANSWER(&a[2], q, BEGIN_MS, &a[1], {2, 90}); /* counted since it was told */
	assert_why(&a[2], 2, "new Jobs are assumed to come more often than before");
	arrivals = 6;
	ANSWER(&a[3], q, BEGIN_MS, &a[2], {2, 60}); /* that makes nothing sooner */
	assert_why(&a[3], 2,
		"no change of the queue is known; runs are expected to take less time than before, or fewer new Jobs to arrive");
	arrivals_are_young = false;
	set_node(q, "lost");
	queue_drop_node(q, "lost");
	ANSWER(&a[4], q, BEGIN_MS, &a[3], {2, 90});
	assert_why(&a[4], 2,
		"1 node was removed, new Jobs are assumed to come more often than before");
	arrivals = 9;
	ANSWER(&a[5], q, BEGIN_MS, &a[4], {2, 200}); /* by the hour it may be as many as before */
	assert_why(&a[5], 2,
		"no change of the queue is known; runs are expected to take longer than before, or more new Jobs to arrive");
	done(a, 6);
	queue_free(q);
}

static void edit_flavor(struct queue *q, const char *name, const char *pool)
{
	struct label label = {"pool", pool};
	struct flavor_spec flavor = {.name = name, .nodes = {.labels = &label, .nlabels = 1}};
	queue_set_flavor(q, &flavor, NULL);
}

static void objects_of_its_tree_have_names(void **state)
{
	struct answer a[3];
	struct queue *q = busy_queue(2);
	struct cohort_spec all = {.name = "all", .generation = 7, .parent = "", .weight = 1};
	struct err e;
	(void)state;
	edit_flavor(q, "other", "a"); /* that no queue of the tree names */
	ANSWER(&a[0], q, BEGIN_MS, NULL, {2, 90});
	edit_flavor(q, "other", "b");
	edit_flavor(q, "node", "b");
	assert_int_equal(queue_set_cohort(q, &all, &e), 0);
	ANSWER(&a[1], q, BEGIN_MS, &a[0], {2, 60});
	assert_why(&a[1], 2, "ResourceFlavor node was changed");
	ANSWER(&a[2], q, BEGIN_MS, &a[1], {2, 20});
	assert_why(&a[2], 2,
		"no change of the queue is known; runs are expected to take less time than before, or fewer new Jobs to arrive");
	done(a, 3);
	queue_free(q);
}

static void set_policy(struct queue *q)
{
	static const char *const queues[] = {"batch"};
	struct runpolicy_spec s = {
		.name = "night", .queues = queues, .nqueues = 1, .calendar = "nobody"};
	bool again;
	struct err e;
	assert_int_equal(queue_set_runpolicy(q, &s, &again, &e), 0);
}

static void objects_that_come_and_go(void **state)
{
	struct answer a[3];
	struct queue *q = busy_queue(2);
	(void)state;
	ANSWER(&a[0], q, BEGIN_MS, NULL, {2, 90});
	set_policy(q);
	ANSWER(&a[1], q, BEGIN_MS, &a[0], {2, 200});
	assert_why(&a[1], 2, "RunPolicy night is new");
	queue_drop_runpolicy(q, "night");
	ANSWER(&a[2], q, BEGIN_MS, &a[1], {2, 90});
	assert_why(&a[2], 2, "an admin removed an object");
	done(a, 3);
	queue_free(q);
}

static void what_was_changed_of_the_job_itself_is_said(void **state)
{
	struct answer a[2];
	struct queue *q = busy_queue(2);
	struct uid second = uid_of(2);
	(void)state;
	ANSWER(&a[0], q, BEGIN_MS, NULL, {2, 60});
	queue_drop_job(q, &second);
	tell(q, BEGIN_MS, (struct told){2, 1, 600 * MINUTE_MS});
	ANSWER(&a[1], q, BEGIN_MS, &a[0], {2, 90});
	assert_why(&a[1], 2, "the Job itself was changed");
	done(a, 2);
	queue_free(q);
}

/* ---- another tree ------------------------------------------------------------------------------ */

static void add_queue_beside(struct queue *q)
{
	edit_flavor(q, "beside", "a");
	make_queue(q, (struct clusterqueue_spec){.name = "beside"}, "beside", 1000);
	make_localqueue(q, "team-a", "main", "beside");
}

/* What was told of it in its old tree says nothing of the new one. */
static void in_another_tree_it_begins_anew(void **state)
{
	struct answer a[3];
	struct move m;
	struct queue *q = busy_queue(2);
	(void)state;
	ANSWER(&a[0], q, BEGIN_MS, NULL, {2, 60});
	add_queue_beside(q);
	ANSWER(&a[1], q, BEGIN_MS, &a[0], {2, 600});
	assert_false(find(&a[1], 2, &m));
	edit_flavor(q, "node", "c");
	ANSWER(&a[2], q, BEGIN_MS, &a[1], {2, 60});
	assert_why(&a[2], 2, /* the flavor is of the other tree */
		"no change of the queue is known; runs are expected to take less time than before, or fewer new Jobs to arrive");
	done(a, 3);
	queue_free(q);
}

/* ---- bounds ------------------------------------------------------------------------------------ */

static void an_answer_without_its_memory_tells_nothing(void **state)
{
	struct answer a[2];
	struct move m;
	struct queue *q = busy_queue(2);
	(void)state;
	ANSWER(&a[0], q, BEGIN_MS, NULL, {2, 60});
	for (size_t len = 0; len < a[0].more.len; len += 7) {
		a[0].answer.text.len = len;
		ANSWER(&a[1], q, BEGIN_MS, &a[0], {2, 600});
		assert_false(find(&a[1], 2, &m));
		a[1].answer.text.len = len;
		assert_false(find(&a[1], 2, &m));
		buf_done(&a[1].more);
	}
	done(a, 1);
	queue_free(q);
}

/* The flavor is edited before each of a thousand answers: what is kept does not grow. */
static void memory_does_not_grow(void **state)
{
	struct answer a[2];
	size_t large = 0;
	struct queue *q = busy_queue(2);
	char pool[16];
	(void)state;
	ANSWER(&a[0], q, BEGIN_MS, NULL, {2, 60});
	for (int i = 0; i < 10000; i++) {
		snprintf(pool, sizeof(pool), "%d", i);
		edit_flavor(q, "node", pool);
		ANSWER(&a[(i + 1) % 2], q, BEGIN_MS, &a[i % 2], {2, i % 2 ? 60 : 600});
		buf_done(&a[i % 2].more);
		if (a[(i + 1) % 2].more.len > large)
			large = a[(i + 1) % 2].more.len;
	}
	assert_true(large < ASK_TEXT_REST / 4);
	assert_why(&a[0], 2, "ResourceFlavor node was changed");
	buf_done(&a[0].more);
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(little_is_no_move),
		cmocka_unit_test(a_move_has_what_was_told_and_until_when),
		cmocka_unit_test(a_drift_is_a_move_once_it_is_large),
		cmocka_unit_test(never_is_a_move),
		cmocka_unit_test(nothing_is_made_up),
		cmocka_unit_test(jobs_that_came_are_counted),
		cmocka_unit_test(jobs_that_are_gone_or_held_are_counted),
		cmocka_unit_test(runs_that_go_on_are_counted_once),
		cmocka_unit_test(runs_that_end_early_are_counted),
		cmocka_unit_test(runs_that_are_stopped_are_counted),
		cmocka_unit_test(a_run_on_hold_is_counted_once),
		cmocka_unit_test(a_stop_after_the_expected_end_is_no_reason),
		cmocka_unit_test(nodes_are_counted_by_the_way_they_move_it),
		cmocka_unit_test(more_jobs_that_are_to_come_are_a_reason),
		cmocka_unit_test(objects_of_its_tree_have_names),
		cmocka_unit_test(objects_that_come_and_go),
		cmocka_unit_test(what_was_changed_of_the_job_itself_is_said),
		cmocka_unit_test(in_another_tree_it_begins_anew),
		cmocka_unit_test(an_answer_without_its_memory_tells_nothing),
		cmocka_unit_test(memory_does_not_grow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
