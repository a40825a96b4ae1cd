/*
 * A server that fails for one Job: what is told of that, what becomes of the quota of its start, and of the
 * start when it lands all the same.
 */
#include "controller/gate/failing.h"
#include "controller/gate/core.h"
#include "controller/gate/job_table.h"
#include "world.h"

static struct explanation said_of(struct world *w)
{
	struct explanation x = {0};
	assert_true(gate_explain(w->gate, "team-a", "train", w->now_ms, &x));
	return x;
}

/* Each write is answered 500: it may land. */
static void submit_where_writes_fail(struct world *w)
{
	struct snap n = {0};
	w->fails = true;
	submit(w, &n);
}

/* How its first attempt ended; returns why. */
static const char *closed_by(const struct world *w, enum ledger_kind kind)
{
	const struct model_reservation *h =
		model_ledger_reservation(w->ledger, &w->j->now->job.uid, 1);
	assert_int_equal(h->closed_by, kind);
	return h->close.reason;
}

static void a_start_that_fails_is_told_at_once(void **state)
{
	struct world *w = *state;
	submit_where_writes_fail(w);
	assert_non_null(strstr(
		w->notes, "Refuse: the API server fails to start it: etcdserver: no leader"));
	assert_string_equal(w->last[NOTE_REFUSE].reason, "RefusedByServer");
	struct explanation x = said_of(w);
	assert_non_null(strstr(x.sentence, "fails to start it: etcdserver: no leader"));
}

static void a_start_that_fails_gives_its_quota_back(void **state)
{
	struct world *w = *state;
	submit_where_writes_fail(w);
	for (int i = 0; i < 45; i++)
		at(w, w->now_ms + 1000);
	assert_string_equal(closed_by(w, LEDGER_VOID), "RefusedByServer");
	assert_null(w->j->now->job.hold);
	assert_non_null(strstr(w->notes, "its start is given up"));
	assert_true(w->sent[INTENT_TELL] >= 2); /* of the Job, and then of its status */
}

static void what_was_given_up_starts_once_the_server_is_well(void **state)
{
	struct world *w = *state;
	submit_where_writes_fail(w);
	for (int i = 0; i < 600; i++)
		at(w, w->now_ms + 1000);
	assert_null(w->j->now->job.hold);
	assert_true(w->j->now->job.suspend);
	assert_true(w->sent[INTENT_START] < 250);
	assert_non_null(strstr(said_of(w).sentence, "to start it: etcdserver: no leader"));
	w->fails = false;
	for (int i = 0; i < 60 && w->j->now->job.suspend; i++)
		at(w, w->now_ms + 1000);
	assert_false(w->j->now->job.suspend); /* no pause has grown: nothing else was written */
	assert_null(strstr(said_of(w).sentence, "to start it: etcdserver"));
}

/* No connection to the server can be made. */
static void an_outage_of_the_server_costs_no_turn(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	w->outcome = JOB_BUSY;
	submit(w, &n);
	for (int i = 0; i < 900; i++) {
		w->outcome = JOB_BUSY;
		at(w, w->now_ms + 1000);
	}
	assert_null(strstr(w->notes, "its start is given up"));
	assert_true(first_reservation(w)->open);
	w->outcome = JOB_DONE;
	at(w, w->now_ms + 7000);
	assert_false(w->j->now->job.suspend);
}

/* Not even the status can be written: what may still land keeps its quota, and that is told. */
static void a_start_that_cannot_be_fenced_keeps_its_quota(void **state)
{
	struct world *w = *state;
	w->status_fails = true;
	submit_where_writes_fail(w);
	for (int i = 0; i < 300; i++)
		at(w, w->now_ms + 1000);
	assert_true(first_reservation(w)->open);
	assert_non_null(strstr(said_of(w).sentence, "its start is being called off"));
	assert_non_null(strstr(said_of(w).sentence, "etcdserver: no leader"));
	assert_true(w->sent[INTENT_TELL] < 120);
}

/* Its start was given up, and neither the Job nor its status takes a fence. */
static void give_up_its_start(struct world *w)
{
	w->status_fails = true;
	submit_where_writes_fail(w);
	for (int i = 0; i < 45; i++)
		at(w, w->now_ms + 1000);
	assert_non_null(strstr(w->notes, "its start is given up"));
	assert_true(first_reservation(w)->open);
}

/* A PATCH of it comes through all the same, and the server is well again. */
static void land_its_start(struct world *w)
{
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.suspend = false;
	s->job.admission.story = "{\"attempt\":1,\"state\":\"Started\",\"epoch\":1}";
	s->job.admission.state = STORY_STARTED;
	s->job.admission.attempt = 1;
	s->job.admission.epoch = 1;
	w->fails = w->status_fails = false;
	write_job(w, s, true);
}

static void what_was_given_up_and_lands_runs_on(void **state)
{
	struct world *w = *state;
	give_up_its_start(w);
	land_its_start(w);
	have_pods(w, 2, 0);
	at(w, w->now_ms + 60000);
	assert_int_equal(w->sent[INTENT_STOP], 0);
	assert_non_null(strstr(w->notes, "Start: "));
}

static void unless_the_queue_has_it_stopped_meanwhile(void **state)
{
	struct world *w = *state;
	give_up_its_start(w);
	decide(w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_HELD});
	land_its_start(w);
	have_pods(w, 2, 0);
	assert_int_equal(w->sent[INTENT_STOP], 1);
	assert_true(w->j->now->job.suspend);
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.status = (struct job_status){.suspended = true};
	write_job(w, s, false);
	assert_string_equal(closed_by(w, LEDGER_RELEASE), "Held");
}

/* The reason of the queue is that of the end, too. */
static void or_says_so_when_nothing_landed(void **state)
{
	struct world *w = *state;
	give_up_its_start(w);
	decide(w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_HELD});
	w->fails = w->status_fails = false;
	at(w, w->now_ms + 31000);
	assert_string_equal(closed_by(w, LEDGER_VOID), "Held");
}

/* A hold that is put on and taken off makes no pause shorter. */
static void and_waits_as_long_as_without_it(void **state)
{
	struct world *w = *state;
	w->status_fails = true;
	submit_where_writes_fail(w);
	while (!strstr(w->notes, "its start is given up"))
		at(w, w->now_ms + 1000);
	size_t starts = w->sent[INTENT_START];
	int64_t given_up_ms = w->now_ms;
	decide(w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_HELD});
	w->fails = w->status_fails = false;
	while (w->now_ms < given_up_ms + 9000)
		at(w, w->now_ms + 1000);
	assert_string_equal(closed_by(w, LEDGER_VOID), "Held");
	assert_int_equal(w->sent[INTENT_START], starts);
	at(w, w->now_ms + 10000);
	assert_false(w->j->now->job.suspend);
}

/* A server that is busy refuses nothing: one refusal after it is a race that we lost. */
static void a_refusal_of_a_start_after_a_busy_server_is_the_first(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	w->outcome = JOB_BUSY;
	submit(w, &n);
	while (w->sent[INTENT_START] < 8) {
		w->outcome = w->sent[INTENT_START] < 7 ? JOB_BUSY : JOB_REFUSED;
		at(w, w->now_ms + 50);
	}
	w->outcome = JOB_DONE;
	at(w, w->now_ms + 10000);
	assert_null(strstr(w->notes, "its start is refused"));
	assert_false(w->j->now->job.suspend);
}

static size_t times_told(const struct world *w, const char *words)
{
	size_t n = 0;
	for (const char *at = strstr(w->notes, words); at; at = strstr(at + 1, words))
		n++;
	return n;
}

static void answer_kind(struct world *w, enum intent_kind asked, enum job_outcome outcome)
{
	struct gate_job *j = gate_find_job(w->gate, &w->j->now->job.uid);
	failing_answered(w->gate, j, asked,
		&(struct job_answer){.outcome = outcome, .sentence = "etcdserver: no leader"});
	take_notes(w);
}

static void two_kinds_that_fail_in_turns_are_told_once_each(void **state)
{
	struct world *w = *state;
	for (int i = 0; i < 5; i++) {
		answer_kind(w, INTENT_WARN, JOB_IN_DOUBT);
		answer_kind(w, INTENT_RETELL, JOB_IN_DOUBT);
	}
	assert_int_equal(times_told(w, "fails to write its stop notice"), 1);
	assert_int_equal(times_told(w, "fails to rewrite its story"), 1);
	answer_kind(w, INTENT_RETELL, JOB_DONE);
	assert_null(strstr(said_of(w).sentence, "fails to"));
	answer_kind(w, INTENT_WARN, JOB_IN_DOUBT); /* it never worked since */
	assert_int_equal(times_told(w, "fails to write its stop notice"), 1);
	assert_non_null(strstr(said_of(w).sentence, "fails to write its stop notice"));
	answer_kind(w, INTENT_RETELL, JOB_IN_DOUBT);
	assert_int_equal(times_told(w, "fails to rewrite its story"), 2);
}

/* The server is well for other Jobs. */
static void a_start_that_fails_alone_is_tried_less_and_less(void **state)
{
	struct world *w = *state;
	submit_where_writes_fail(w);
	for (int i = 0; i < 600; i++) {
		answer_kind(w, INTENT_NOTICE, JOB_DONE);
		at(w, w->now_ms + 1000);
	}
	assert_in_range(times_told(w, "its start is given up"), 3, 6);
}

/* A webhook hangs for longer than we wait. One answer that is missing tells no more than a restart of the
 * server: it is no Event yet. */
static void a_stop_without_an_answer_is_told(void **state)
{
	struct world *w = *state;
	w->outcome = JOB_IN_DOUBT;
	decide(w,
		(struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_PODS_READY_TIMEOUT});
	assert_non_null(strstr(said_of(w).sentence, "fails to stop it: it gave no answer"));
	assert_int_equal(times_told(w, "fails to stop it"), 0);
	w->outcome = JOB_IN_DOUBT;
	at(w, w->now_ms + 1000);
	assert_int_equal(w->sent[INTENT_STOP], 2);
	assert_int_equal(times_told(w, "fails to stop it: it gave no answer"), 1);
}

/* 503, with Retry-After. */
static void a_start_keeps_no_quota_for_as_long_as_the_server_likes(void **state)
{
	struct world *w = *state;
	w->retry_ms = 300000;
	submit_where_writes_fail(w);
	for (int i = 0; i < 45; i++)
		at(w, w->now_ms + 1000);
	assert_string_equal(closed_by(w, LEDGER_VOID), "RefusedByServer");
}

static void a_refused_start_is_told_until_its_owner_changes_the_job(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	w->denied = 1;
	w->refusal = "no cost-center";
	submit(w, &n);
	assert_non_null(strstr(said_of(w).sentence, "; from "));
	assert_non_null(strstr(
		said_of(w).sentence, " on the API server refused to start it: no cost-center"));
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.parallelism = s->job.completions = 1;
	write_job(w, s, true);
	assert_true(w->j->now->job.suspend);
	assert_null(strstr(said_of(w).sentence, "no cost-center"));
}

/* A stop notice, for nine hours: an Event is gone after one. */
static void a_refusal_that_lasts_is_told_again_and_again(void **state)
{
	struct world *w = *state;
	int told_at = 0, longest = 0;
	w->denied = SIZE_MAX;
	w->refusal = "no cost-center";
	decide(w, (struct decision){.kind = DECISION_NOTICE,
			  .reason = STOP_REASON_WINDOW_CLOSED,
			  .policy = "night",
			  .stop_ms = w->now_ms + 10 * 3600000});
	for (int minute = 1; minute <= 500; minute++) {
		size_t before = times_told(w, "refuses: no cost-center");
		at(w, w->now_ms + 60000);
		if (times_told(w, "refuses: no cost-center") > before)
			told_at = minute;
		if (minute - told_at > longest)
			longest = minute - told_at;
		assert_non_null(strstr(
			said_of(w).sentence, "refuses to write its stop notice: no cost-center"));
	}
	assert_in_range(longest, 40, 55);
	assert_in_range(times_told(w, "refuses: no cost-center"), 8, 20);
	w->refusal = "no owner";
	for (int minute = 0; minute < 15; minute++)
		at(w, w->now_ms + 60000);
	assert_in_range(times_told(w, "refuses: no owner"), 1, 2);
	w->denied = 0;
	at(w, w->now_ms + 120000);
	assert_null(strstr(said_of(w).sentence, "refuses to"));
}

/* Its time has passed, and it was not stopped. */
static void a_notice_that_is_not_wanted_any_more_fails_no_more(void **state)
{
	struct world *w = *state;
	w->fails = true;
	decide(w, (struct decision){.kind = DECISION_NOTICE,
			  .reason = STOP_REASON_WINDOW_CLOSED,
			  .policy = "night",
			  .stop_ms = w->now_ms + 60000});
	assert_non_null(strstr(said_of(w).sentence, "the API server fails to"));
	for (int i = 0; i < 180; i++)
		at(w, w->now_ms + 1000);
	assert_null(strstr(said_of(w).sentence, "the API server fails to"));
}

static void a_stop_that_fails_is_told_and_made_again(void **state)
{
	struct world *w = *state;
	w->fails = true;
	decide(w,
		(struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_PODS_READY_TIMEOUT});
	assert_non_null(strstr(w->notes, "the API server fails to stop it: etcdserver: no leader"));
	assert_non_null(strstr(said_of(w).sentence, "fails to stop it: etcdserver: no leader"));
	for (int i = 0; i < 300; i++)
		at(w, w->now_ms + 1000);
	assert_true(w->sent[INTENT_STOP] < 60);
	assert_true(first_reservation(w)->open);
	w->fails = false;
	at(w, w->now_ms + 60000);
	assert_true(w->j->now->job.suspend);
}

/* ---- The first answer -------------------------------------------------------------------------- */

/* The next request of that kind, which is not answered yet. What else is asked for is. */
static const struct intent *await(struct world *w, enum intent_kind kind)
{
	for (int round = 0; round < 20; round++) {
		const struct intent *i;
		gate_step(w->gate, w->now_ms, w->tick_ms);
		while ((i = gate_take_intent(w->gate))) {
			if (i->kind == kind)
				return i;
			if (i->kind <= INTENT_BATCH)
				answer_ledger(w, i);
			else
				answer_job(w, i);
		}
	}
	fail_msg("it is not asked for");
	return NULL;
}

static void inject(struct world *w, struct decision d)
{
	d.uid = w->j->now->job.uid;
	injected = d;
	has_injected = true;
}

/* A person suspends it while it runs: it is put on hold. */
static void want_hold(struct world *w)
{
	have_it_run(w);
	struct snap *s = model_api_edit(&w->api, w->j);
	snap_suspend(s, true);
	s->job.suspended_by_person = true;
	s->job.status = (struct job_status){.suspended = true};
	model_api_write(&w->api, s, true);
	gate_see_job(w->gate, &w->j->now->job);
}

static void want_stop(struct world *w)
{
	have_it_run(w);
	inject(w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_WINDOW_CLOSED});
}

static void want_fewer_pods(struct world *w)
{
	have_it_run(w);
	inject(w, (struct decision){.kind = DECISION_SHRINK,
			  .reason = STOP_REASON_IDLE_RECLAIMED,
			  .pods = 1,
			  .why = "node n1 wants it back"});
}

/* Two of its four pods run, and there is room for the others. */
static void want_more_pods(struct world *w)
{
	struct snap n = {0};
	w->quota = 1000;
	world_restart(w);
	n.request[0] = (struct resource){.name = "cpu", .amount = 500};
	n.container.requests = (struct resource_list){n.request, 1};
	n.job = (struct job){.ns = "team-a",
		.name = "train",
		.queue = "main",
		.priority_class = "",
		.pod_priority_class = "",
		.suspend = true,
		.parallelism = 4,
		.completions = 40,
		.has_completions = true,
		.min_parallelism = 1,
		.grow = GROW_YES};
	w->j = model_api_create(&w->api, &n);
	gate_see_job(w->gate, &w->j->now->job);
	turn(w);
	assert_int_equal(w->j->now->job.parallelism, 2);
	have_pods(w, 2, 0);
	inject(w, (struct decision){.kind = DECISION_GROW, .pods = 4, .had = 2});
}

static const struct {
	void (*want)(struct world *w);
	enum intent_kind kind;
	const char *words;
} owed[] = {
	{want_hold, INTENT_TELL, "put it on hold"},
	{want_stop, INTENT_STOP, "stop it"},
	{want_fewer_pods, INTENT_SHRINK, "reduce its pods"},
	{want_more_pods, INTENT_GROW, "give it more pods"},
};
#define OWED (sizeof(owed) / sizeof(*owed))

/* As an Event, and to those who ask. */
static void assert_first_answer_is_told(size_t i, enum job_outcome outcome, const char *verb)
{
	struct world w;
	char noted[200], explained[100];
	world_init(&w);
	turn(&w); /* it leads */
	owed[i].want(&w);
	w.notes[0] = '\0';
	uint64_t id = await(&w, owed[i].kind)->id;
	gate_answer_job(
		w.gate, id, &(struct job_answer){.outcome = outcome, .sentence = "no cost-center"});
	take_notes(&w);
	snprintf(explained, sizeof(explained), "the API server %s to %s: no cost-center", verb,
		owed[i].words);
	snprintf(noted, sizeof(noted), "Refuse: %s",
		outcome == JOB_DENIED ? "the API server refuses: no cost-center" : explained);
	if (times_told(&w, noted) != 1)
		fail_msg("'%s' lacks '%s'", w.notes, noted);
	if (!strstr(said_of(&w).sentence, explained))
		fail_msg("'%s' lacks '%s'", said_of(&w).sentence, explained);
	world_done(&w);
}

static void the_first_refusal_is_told_of_each_kind(void **state)
{
	(void)state;
	for (size_t i = 0; i < OWED; i++)
		assert_first_answer_is_told(i, JOB_DENIED, "refuses");
}

static void the_first_failure_is_told_of_each_kind(void **state)
{
	(void)state;
	for (size_t i = 0; i < OWED; i++)
		assert_first_answer_is_told(i, JOB_IN_DOUBT, "fails");
}

/* 409, or 422 without a field: as if the Job were another one than was known. */
static void what_is_refused_as_a_conflict_for_ever_is_told_of_each_kind(void **state)
{
	(void)state;
	for (size_t i = 0; i < OWED; i++) {
		struct world w;
		world_init(&w);
		turn(&w);
		owed[i].want(&w);
		w.refusal = "the webhook says 409";
		w.notes[0] = '\0';
		for (int k = 0; k < 60 && !strstr(w.notes, "Refuse: "); k++) {
			w.outcome = JOB_REFUSED;
			at(&w, w.now_ms + 1000);
		}
		assert_int_equal(times_told(&w, "the API server refuses: the webhook says 409"), 1);
		assert_true(w.sent[owed[i].kind] >= 6);
		if (owed[i].kind == INTENT_TELL || owed[i].kind == INTENT_STOP)
			assert_non_null(strstr(said_of(&w).sentence, "the webhook says 409"));
		world_done(&w);
	}
}

static void a_conflict_delays_no_stop(void **state)
{
	struct world *w = *state;
	w->outcome = JOB_REFUSED;
	decide(w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_WINDOW_CLOSED});
	for (int i = 0; i < 120; i++) {
		w->outcome = JOB_REFUSED;
		at(w, w->now_ms + 1000);
	}
	assert_in_range(w->sent[INTENT_STOP], 15, 60);
	w->outcome = JOB_DONE;
	at(w, w->now_ms + 7000);
	assert_true(w->j->now->job.suspend);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD(a_start_that_fails_is_told_at_once),
		WORLD(a_start_that_fails_gives_its_quota_back),
		WORLD(what_was_given_up_starts_once_the_server_is_well),
		WORLD(an_outage_of_the_server_costs_no_turn),
		WORLD(a_start_that_fails_alone_is_tried_less_and_less),
		WORLD(a_start_that_cannot_be_fenced_keeps_its_quota),
		WORLD(what_was_given_up_and_lands_runs_on),
		WORLD(unless_the_queue_has_it_stopped_meanwhile),
		WORLD(or_says_so_when_nothing_landed),
		WORLD(and_waits_as_long_as_without_it),
		WORLD(a_refusal_of_a_start_after_a_busy_server_is_the_first),
		RUN(a_stop_without_an_answer_is_told),
		WORLD(a_start_keeps_no_quota_for_as_long_as_the_server_likes),
		WORLD(a_refused_start_is_told_until_its_owner_changes_the_job),
		RUN(a_refusal_that_lasts_is_told_again_and_again),
		RUN(a_notice_that_is_not_wanted_any_more_fails_no_more),
		RUN(two_kinds_that_fail_in_turns_are_told_once_each),
		RUN(a_stop_that_fails_is_told_and_made_again),
		cmocka_unit_test(the_first_refusal_is_told_of_each_kind),
		cmocka_unit_test(the_first_failure_is_told_of_each_kind),
		cmocka_unit_test(what_is_refused_as_a_conflict_for_ever_is_told_of_each_kind),
		RUN(a_conflict_delays_no_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
