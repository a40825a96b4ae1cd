/* Edge cases of the calls about Jobs: unknown, twice, absurd, and with little capacity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "worlds.h"
#include "test/unit/core/inside.h"

static const struct resource one = {"cpu", 1000};
static const struct container c = {.requests = {&one, 1}};

static size_t decide(struct queue *q, struct decision *out, size_t cap, int64_t *next_ms)
{
	return queue_decide(q, 5000, out, cap, next_ms);
}

static void unknown_jobs_are_nobody(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 1000);
	struct uid uid = fixture_uid(7);
	struct quota_line line[QUEUE_LINES_MAX] = {{"cq/batch", "spot", "cpu", 5}};
	struct explanation x;
	assert_false(queue_adopt_job(q, &uid, line, 1, 0));
	assert_false(queue_shrink_job(q, &uid, 0, 0));
	assert_false(queue_explain(q, &uid, 0, &x));
	assert_int_equal(queue_job_lines(q, &uid, line), 0);
	queue_confirm_job(q, &uid, 0);
	queue_release_job(q, &uid, 0, 0);
	queue_end_job(q, &uid, 0);
	queue_drop_job(q, &uid);
	queue_drop_clusterqueue(q, "nobody");
	queue_drop_localqueue(q, "no", "body");
	queue_drop_flavor(q, "nobody");
	queue_drop_namespace(q, "nobody");
	queue_drop_priority(q, PRIORITY_POD, "nobody");
	queue_free(q);
	queue_free(NULL);
}

static void the_same_fact_twice_changes_nothing(void **state)
{
	(void)state;
	struct queue *q = fixture_new(500, 500);
	struct job j = fixture_job(1, &c);
	queue_set_job(q, &j);
	uint64_t version = queue_version(q);
	size_t bytes = queue_memory_bytes(q);
	queue_set_job(q, &j);
	assert_int_equal(queue_version(q), version);
	assert_int_equal(queue_memory_bytes(q), bytes);
	assert_int_equal(queue_waiting(q), 1);
	j.created_ms = 99000; /* a Job keeps its time of queueing */
	struct explanation x;
	queue_set_job(q, &j);
	queue_explain(q, &j.uid, 0, &x);
	assert_int_equal(x.queued_ms, 0);
	queue_free(q);
}

static void decisions_come_in_bites(void **state)
{
	(void)state;
	struct queue *q = fixture_new(3000, 2000);
	struct decision d[4];
	int64_t next_ms = -1;
	for (uint32_t i = 1; i <= 7; i++) {
		struct job j = fixture_job(i, &c);
		queue_set_job(q, &j);
	}
	assert_int_equal(decide(q, d, 0, &next_ms), 0);
	assert_int_equal(next_ms, 5000);
	assert_int_equal(decide(q, d, 2, &next_ms), 2);
	assert_int_equal(next_ms, 5000);
	assert_int_equal(d[0].uid.byte[15], 1);
	assert_int_equal(d[1].uid.byte[15], 2);
	assert_int_equal(decide(q, d, 3, &next_ms), 3);
	assert_int_equal(d[2].uid.byte[15], 5);
	assert_int_equal(decide(q, d, 3, &next_ms), 0);
	assert_true(next_ms == INT64_MAX);
	assert_int_equal(queue_waiting(q), 2);
	queue_free(q);
}

static void stops_come_in_bites_and_before_starts(void **state)
{
	(void)state;
	struct queue *q = fixture_new(2000, 0);
	struct decision d[4];
	int64_t next_ms;
	struct job j[3];
	for (uint32_t i = 0; i < 3; i++) {
		j[i] = fixture_job(i + 1, &c);
		queue_set_job(q, &j[i]);
	}
	assert_int_equal(decide(q, d, 4, &next_ms), 2);
	j[0].hold = j[1].hold = "please";
	queue_set_job(q, &j[1]);
	queue_set_job(q, &j[0]);
	assert_int_equal(decide(q, d, 1, &next_ms), 1);
	assert_int_equal(d[0].kind, DECISION_STOP);
	assert_int_equal(d[0].reason, STOP_REASON_HELD);
	assert_int_equal(d[0].uid.byte[15], 2); /* in the order of the facts */
	assert_int_equal(next_ms, 5000);
	queue_release_job(q, &j[1].uid, 0, 0);
	assert_int_equal(decide(q, d, 4, &next_ms), 2);
	assert_int_equal(d[0].kind, DECISION_STOP);
	assert_int_equal(d[1].kind, DECISION_START);
	assert_int_equal(d[1].uid.byte[15], 3);
	queue_free(q);
}

static void shrinking(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		int32_t pods;
		bool freed;
		int64_t amount;
	} cases[] = {
		{"more is ignored", 12, false, 10010},
		{"as many", 10, false, 10010},
		{"fewer", 7, true, 7007},
		{"more again", 8, false, 7007},
		{"negative is none", -3, true, 0},
		{"none again", 0, false, 0},
	};
	static const struct resource odd = {"cpu", 1001};
	static const struct container small = {.requests = {&odd, 1}};
	struct queue *q = fixture_new(20000, 0);
	struct job j = fixture_job(1, &small);
	struct decision d;
	int64_t next_ms;
	struct quota_line line[QUEUE_LINES_MAX];
	j.parallelism = j.completions = 10;
	queue_set_job(q, &j);
	assert_int_equal(decide(q, &d, 1, &next_ms), 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (queue_shrink_job(q, &j.uid, cases[i].pods, 0) != cases[i].freed)
			fail_msg("%s", cases[i].name);
		assert_int_equal(queue_job_lines(q, &j.uid, line), 1);
		assert_int_equal(line[0].amount, cases[i].amount);
	}
	queue_free(q);
}

/* Lines may be no multiple of today's request, because the template was edited. Then they are
 * rounded up, so that the ledger never shows less than what runs. */
static void adopted_lines_shrink_rounded_up(void **state)
{
	(void)state;
	struct queue *q = fixture_new(20000, 0);
	struct job j = fixture_job(1, &c);
	struct quota_line line[QUEUE_LINES_MAX] = {{"cq/batch", "spot", "cpu", 3500}};
	j.parallelism = j.completions = 3;
	queue_set_job(q, &j);
	assert_true(queue_adopt_job(q, &j.uid, line, 1, 0));
	assert_true(queue_shrink_job(q, &j.uid, 2, 0));
	queue_job_lines(q, &j.uid, line);
	assert_int_equal(line[0].amount, 2334);
	assert_true(queue_shrink_job(q, &j.uid, 1, 0));
	queue_job_lines(q, &j.uid, line);
	assert_int_equal(line[0].amount, 1167);
	queue_free(q);
}

/* 12 cpu at 1 cpu a pod would be 12 pods, which a Job of 4 cannot have. So it is 4, and half of
 * them hold half. With 12 quota would be freed that pods still use. */
static void adopted_pods_must_be_plausible(void **state)
{
	(void)state;
	struct queue *q = fixture_new(20000, 0);
	struct job j = fixture_job(1, &c);
	struct quota_line line[QUEUE_LINES_MAX] = {{"cq/batch", "spot", "cpu", 12000}};
	j.parallelism = j.completions = 4;
	queue_set_job(q, &j);
	queue_adopt_job(q, &j.uid, line, 1, 0);
	assert_true(queue_shrink_job(q, &j.uid, 2, 0));
	queue_job_lines(q, &j.uid, line);
	assert_int_equal(line[0].amount, 6000);
	queue_free(q);
}

/* Its owner lowered parallelism from 4 to 2 since: the lines are for 4 all the same. */
static void adopted_pods_may_be_more_than_parallelism_is_now(void **state)
{
	(void)state;
	struct queue *q = fixture_new(20000, 0);
	struct job j = fixture_job(1, &c);
	struct quota_line line[QUEUE_LINES_MAX] = {{"cq/batch", "spot", "cpu", 4000}};
	j.parallelism = 2;
	j.completions = 8;
	j.has_completions = true;
	queue_set_job(q, &j);
	queue_adopt_job(q, &j.uid, line, 1, 0);
	assert_int_equal(queue_job_pods(q, &j.uid), 4);
	assert_true(queue_shrink_job(q, &j.uid, 2, 0));
	queue_job_lines(q, &j.uid, line);
	assert_int_equal(line[0].amount, 2000);
	queue_free(q);
}

/* A leader finds a reservation of a Job that it has not seen yet. Once it sees it and the run is over, its
 * place is by its creation as any other's, and not the first. */
static void whose_job_is_seen_after_its_reservation_waits_at_its_place(void **state)
{
	(void)state;
	struct queue *q = fixture_new(0, 0);
	struct job older = fixture_job(1, &c), j = fixture_job(2, &c), unseen = j;
	struct quota_line line = {"cq/batch", "spot", "cpu", 1000};
	struct explanation x;
	older.created_ms = 1000;
	j.created_ms = 2000;
	j.version = 7;
	unseen.created_ms = 0;
	unseen.deleting = true;
	unseen.admission.history.ran_ms = 500;
	queue_set_job(q, &unseen);
	assert_true(queue_adopt_job(q, &j.uid, &line, 1, 0));
	queue_set_job(q, &older);
	queue_set_job(q, &j);
	queue_release_job(q, &j.uid, 3000, 0);
	assert_true(queue_explain(q, &j.uid, 3000, &x));
	assert_int_equal(x.queued_ms, 2000);
	assert_int_equal(x.ahead, 1);
	queue_free(q);
}

static void assert_queued(struct queue *q, const struct job *j, int64_t queued_ms, size_t ahead)
{
	struct explanation x;
	queue_set_job(q, j);
	assert_true(queue_explain(q, &j->uid, 9000, &x));
	assert_int_equal(x.queued_ms, queued_ms);
	assert_int_equal(x.ahead, ahead);
}

/* It was made first, and gets its label last. */
static void who_is_labelled_later_stands_behind(void **state)
{
	(void)state;
	struct queue *q = fixture_new(0, 0);
	struct job kept = fixture_job(1, &c), other = fixture_job(2, &c);
	kept.created_ms = 1000;
	kept.queued_at_ms = 3000;
	other.created_ms = 2000;
	other.queued_at_ms = 500; /* of a Job that it was copied from */
	assert_queued(q, &other, 2000, 0);
	assert_queued(q, &kept, 3000, 1);
	kept.queue =
		""; /* where Jobs without a queue are managed, it does not leave the controller */
	queue_set_job(q, &kept);
	kept.queue = fixture_job(1, &c).queue;
	kept.queued_at_ms = 5000;
	assert_queued(q, &kept, 5000, 1);
	queue_free(q);
}

static void long_and_strange_names(void **state)
{
	(void)state;
	char name[254];
	memset(name, '\xC3', sizeof(name) - 1);
	name[253] = '\0';
	struct queue *q = fixture_new(1000, 0);
	make_queue(q, (struct clusterqueue_spec){.name = "batch", .strategy = STRICT_FIFO}, "spot",
		100);
	struct job big = fixture_job(1, &c), small = fixture_job(2, ASKS_CPU(10));
	big.name = name;
	queue_set_job(q, &big);
	queue_set_job(q, &small);
	struct decision d;
	int64_t next_ms;
	struct explanation x;
	assert_int_equal(decide(q, &d, 1, &next_ms), 0);
	assert_true(queue_explain(q, &small.uid, 0, &x));
	assert_int_equal(x.reason, WAIT_BEHIND);
	assert_non_null(strstr(x.sentence, "asks for 1 cpu")); /* the cause is not cut off */
	queue_free(q);
}

static void ceilings_are_retaken_in_order(void **state)
{
	(void)state;
	struct queue *q = fixture_new(3000, 2000);
	struct ceiling ceiling;
	while (queue_take_ceiling(q, &ceiling))
		;
	queue_retake_ceilings(q);
	assert_true(queue_take_ceiling(q, &ceiling));
	assert_string_equal(ceiling.node, "cq/batch");
	assert_string_equal(ceiling.flavor, "on-demand");
	assert_int_equal(ceiling.amount, 2000);
	assert_true(queue_take_ceiling(q, &ceiling));
	assert_string_equal(ceiling.flavor, "spot");
	assert_false(queue_take_ceiling(q, &ceiling));
	queue_free(q);
}

/* Names that a team may make up without limit are freed with its Jobs. */
static void names_of_teams_do_not_pile_up(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	size_t bytes = queue_memory_bytes(q);
	for (uint32_t i = 0; i < 2000; i++) {
		char name[32];
		snprintf(name, sizeof(name), "made-up-%u", i);
		struct resource r = {name, 1};
		struct container asks = {.requests = {&r, 1}};
		struct job j = fixture_job(i, &asks);
		j.queue = name;
		j.priority_class = i % 2 ? name : "";
		j.pod_priority_class = name;
		queue_set_job(q, &j);
		queue_drop_job(q, &j.uid);
	}
	assert_int_equal(queue_waiting(q), 0);
	assert_in_range(queue_memory_bytes(q), 0, bytes + 4096); /* tables keep their size */
	queue_free(q);
}

/* A back-off is kept as a moment, but a clock set back by hours does not make it longer. */
static void a_back_off_does_not_grow_when_the_clock_is_set_back(void **state)
{
	(void)state;
	static const int64_t noon = INT64_C(1795255200000), hours_5 = INT64_C(18000000);
	struct queue *q = fixture_new(1000, 1000);
	struct job j = fixture_job(1, &c);
	struct decision d;
	int64_t next_ms;
	queue_set_job(q, &j);
	assert_int_equal(queue_decide(q, noon, &d, 1, &next_ms), 1);
	queue_release_job(q, &j.uid, noon, noon + 60000);
	assert_int_equal(queue_decide(q, noon, &d, 1, &next_ms), 0);
	assert_true(next_ms == noon + 60000); /* as it was said */
	assert_int_equal(queue_decide(q, noon - hours_5, &d, 1, &next_ms), 0);
	assert_true(next_ms <= noon - hours_5 + 3600000); /* requeue-backoff-max */
	assert_int_equal(queue_decide(q, next_ms, &d, 1, &next_ms), 1);
	queue_free(q);
}

/* Nor does a clock that is set back and then on again stop a run before its time. */
static void a_run_has_its_time_whatever_the_clock_says(void **state)
{
	(void)state;
	static const int64_t noon = INT64_C(1795255200000), hour = INT64_C(3600000);
	struct queue *q = fixture_new(1000, 1000);
	struct job j = fixture_job(1, &c);
	struct decision d;
	int64_t next_ms;
	j.durations.max_run_ms = 2 * hour;
	queue_set_job(q, &j);
	assert_int_equal(queue_decide(q, noon, &d, 1, &next_ms), 1);
	queue_confirm_job(q, &j.uid, noon);
	queue_clock_stepped(q, -3 * hour);
	assert_int_equal(queue_decide(q, noon - 2 * hour, &d, 1, &next_ms), 0);
	assert_true(next_ms == noon - hour); /* it has run for an hour */
	queue_clock_stepped(q, 3 * hour);
	assert_int_equal(queue_decide(q, noon + hour, &d, 1, &next_ms), 0);
	assert_true(next_ms == noon + 2 * hour);
	queue_clock_stepped(q, hour); /* as if this machine had slept */
	assert_int_equal(queue_decide(q, noon + 2 * hour, &d, 1, &next_ms), 1);
	assert_int_equal(d.reason, STOP_REASON_MAX_RUN);
	queue_free(q);
}

static void a_job_that_ends_frees_its_quota_and_is_forgotten(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct job a = fixture_job(1, &c), b = fixture_job(2, &c);
	struct decision d;
	int64_t next_ms;
	queue_set_job(q, &a);
	queue_set_job(q, &b);
	assert_int_equal(decide(q, &d, 1, &next_ms), 1);
	queue_end_job(q, &b.uid, 5000); /* it holds nothing: it goes on waiting */
	assert_int_equal(queue_waiting(q), 1);
	queue_confirm_job(q, &a.uid, 5000);
	queue_end_job(q, &a.uid, 6000);
	struct explanation x;
	assert_false(queue_explain(q, &a.uid, 6000, &x));
	assert_int_equal(queue_waiting(q), 1);
	assert_int_equal(decide(q, &d, 1, &next_ms), 1);
	assert_int_equal(uid_cmp(&d.uid, &b.uid), 0);
	queue_free(q);
}

static const struct label red = {"team", "red"}, blue = {"team", "blue"};

/* Edits of a LocalQueue, one after the other: whether its waiting Jobs move to other groups. */
static const struct edit_row {
	const char *name;
	struct localqueue_limits limits;
	const struct label *label, *annotation;
	bool moves;
} edit_rows[] = {
	{"an annotation", {0, 0}, NULL, &red, false},
	{"another one", {0, 0}, NULL, &blue, false},
	{"the first label", {0, 0}, &red, NULL, true},
	{"another value", {0, 0}, &blue, NULL, false},
	{"no label", {0, 0}, NULL, NULL, true},
	{"maxWaiting", {7, 0}, NULL, NULL, false},
	{"the first maxRunning", {7, 1}, NULL, NULL, true},
	{"a higher one", {7, 2}, NULL, NULL, false},
	{"none", {7, 0}, NULL, NULL, true},
	{"the first perUser.running", {7, 0, {3, 0}}, NULL, NULL, true},
	{"another one", {7, 0, {2, 0}}, NULL, NULL, false},
	{"none, and the first perUser.waiting", {7, 0, {0, 9}}, NULL, NULL, true},
	{"a longer line", {7, 0, {0, 10}}, NULL, NULL, false},
	{"no limit", {7, 0}, NULL, NULL, true},
};

/* Its author may repeat it without end, and each move costs as much as a new Job. */
static void an_edit_of_a_localqueue_moves_jobs_only_between_groups(void **state)
{
	struct queue *q = fixture_new(0, 0);
	(void)state;
	for (uint32_t i = 1; i <= 3; i++) {
		struct job j = fixture_job(i, &c);
		queue_set_job(q, &j);
	}
	for (size_t i = 0; i < sizeof(edit_rows) / sizeof(*edit_rows); i++) {
		const struct edit_row *r = &edit_rows[i];
		const struct pod_metadata m = {
			r->label, r->label != NULL, r->annotation, r->annotation != NULL};
		struct localqueue_spec s = {.ns = "team-a",
			.name = "main",
			.clusterqueue = "batch",
			.limits = r->limits,
			.metadata = m};
		uint64_t placed = inside_placed(q);
		queue_set_localqueue(q, &s, NULL);
		if (inside_placed(q) - placed != (r->moves ? 3 : 0))
			fail_msg("%s: %d moved", r->name, (int)(inside_placed(q) - placed));
	}
	queue_free(q);
}

/* ---- by its name ------------------------------------------------------------------------------ */

static void defer(struct queue *q, uint32_t n, const char *name, int64_t created_ms)
{
	struct job j = fixture_job(n, &c);
	j.name = name;
	j.created_ms = created_ms;
	queue_defer_job(q, &j, 1);
}

static void undefer(struct queue *q, uint32_t n)
{
	struct uid uid = fixture_uid(n);
	queue_undefer_job(q, &uid);
}

/* A Job that was made anew may be seen before the end of the other. */
static void two_deferred_jobs_may_have_one_name(void **state)
{
	(void)state;
	struct queue *q = fixture_new(0, 0);
	struct explanation x;
	queue_key_names(q, 7);
	defer(q, 1, "twice", 1000);
	defer(q, 2, "twice", 2000);
	defer(q, 3, "other", 3000);
	assert_true(queue_explain_deferred(q, "team-a", "twice", &x));
	assert_int_equal(x.reason, WAIT_TOO_MANY);
	undefer(q, 1);
	assert_true(queue_explain_deferred(q, "team-a", "twice", &x));
	assert_int_equal(x.queued_ms, 2000);
	assert_false(queue_explain_deferred(q, "team-b", "twice", &x));
	undefer(q, 2);
	assert_false(queue_explain_deferred(q, "team-a", "twice", &x));
	assert_true(queue_explain_deferred(q, "team-a", "other", &x));
	queue_free(q);
}

enum { MANY = 50000, SECONDS_MAX = 5 };

/* A walk for each question would take a minute: 1,250 million names are looked at. */
static void a_deferred_job_is_found_without_a_walk(void **state)
{
	(void)state;
	struct queue *q = fixture_new(0, 0);
	struct explanation x;
	char name[32];
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "job-%u", i);
		defer(q, i + 1, name, i);
	}
	clock_t began = clock();
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "job-%u", i);
		assert_true(queue_explain_deferred(q, "team-a", name, &x));
		assert_int_equal(x.queued_ms, i);
		assert_false(queue_explain_deferred(q, "team-b", name, &x));
		assert_true(clock() - began < SECONDS_MAX * CLOCKS_PER_SEC);
	}
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_jobs_are_nobody),
		cmocka_unit_test(the_same_fact_twice_changes_nothing),
		cmocka_unit_test(decisions_come_in_bites),
		cmocka_unit_test(stops_come_in_bites_and_before_starts),
		cmocka_unit_test(shrinking),
		cmocka_unit_test(adopted_lines_shrink_rounded_up),
		cmocka_unit_test(adopted_pods_must_be_plausible),
		cmocka_unit_test(adopted_pods_may_be_more_than_parallelism_is_now),
		cmocka_unit_test(a_run_has_its_time_whatever_the_clock_says),
		cmocka_unit_test(a_job_that_ends_frees_its_quota_and_is_forgotten),
		cmocka_unit_test(whose_job_is_seen_after_its_reservation_waits_at_its_place),
		cmocka_unit_test(who_is_labelled_later_stands_behind),
		cmocka_unit_test(long_and_strange_names),
		cmocka_unit_test(an_edit_of_a_localqueue_moves_jobs_only_between_groups),
		cmocka_unit_test(ceilings_are_retaken_in_order),
		cmocka_unit_test(names_of_teams_do_not_pile_up),
		cmocka_unit_test(a_back_off_does_not_grow_when_the_clock_is_set_back),
		cmocka_unit_test(two_deferred_jobs_may_have_one_name),
		cmocka_unit_test(a_deferred_job_is_found_without_a_walk),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
