/*
 * A Job whose work is over, and that is not complete or failed yet (SuccessCriteriaMet,
 * FailureTarget): Kubernetes makes no more pods of it. It is not stopped any more. Where a stop came
 * in the very moment, it is let end: the API server takes no end without a start time.
 */
#include "world.h"

static void status_is(struct world *w, struct job_status status)
{
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.status = status;
	write_job(w, s, false);
}

static void let_it_run(struct world *w)
{
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.suspend = false;
	model_api_write(&w->api, s, true);
	gate_see_job(w->gate, &w->j->now->job);
}

static struct explanation explained(struct world *w)
{
	struct explanation x;
	assert_true(gate_explain(w->gate, w->j->now->job.ns, w->j->now->job.name, w->now_ms, &x));
	return x;
}

/* Too large for the quota, so that it waits; another client unsuspended it, and it was stopped before
 * its start time was written. Its only pod ended well. */
static void stopped_in_the_very_moment(struct world *w, struct job_status status)
{
	struct snap n = {0};
	w->pods_of_job = 100;
	submit(w, &n);
	assert_int_equal(w->sent[INTENT_START], 0);
	let_it_run(w);
	turn(w);
	assert_true(w->j->now->job.suspend);
	assert_string_equal(w->last[NOTE_STOP].reason, "NotAdmitted");
	status_is(w, status);
}

static void suspended_without_a_start_time_it_is_let_end(void **state)
{
	struct world *w = *state;
	stopped_in_the_very_moment(w, (struct job_status){.ending = true, .succeeded = 100});
	assert_false(w->j->now->job.suspend);
	assert_int_equal(w->sent[INTENT_TELL], 1);
	assert_int_equal(w->j->now->job.admission.state, STORY_STOPPED);
	assert_non_null(strstr(explained(w).sentence, "its work is over"));
	at(w, w->now_ms + 60000);
	assert_int_equal(w->sent[INTENT_STOP], 1); /* not once more */
	const struct model_reservation *const *holds;
	assert_int_equal(model_ledger_reservations(w->ledger, &holds), 0);
	finish(w);
	struct explanation x;
	assert_false(gate_explain(w->gate, w->j->now->job.ns, w->j->now->job.name, w->now_ms, &x));
}

/* Also by the next leader, and where Kubernetes told of the stop before the end. */
static void after_a_takeover_it_is_let_end(void **state)
{
	struct world *w = *state;
	struct snap *s;
	stopped_in_the_very_moment(w, (struct job_status){.suspended = true});
	s = model_api_edit(&w->api, w->j);
	s->job.status.ending = true;
	model_api_write(&w->api, s, false);
	world_restart(w);
	turn(w);
	assert_false(w->j->now->job.suspend);
	world_restart(w);
	turn(w);
	assert_false(w->j->now->job.suspend);
	assert_int_equal(w->sent[INTENT_STOP], 1);
	assert_int_equal(w->sent[INTENT_TELL], 1);
}

/* It ends by itself, or its pods are still going. */
static void what_can_end_is_left_alone(void **state)
{
	static const struct job_status rows[] = {
		{.ending = true, .has_start_time = true, .start_ms = T0, .suspended = true},
		{.ending = true, .has_start_time = true, .start_ms = T0},
		{.ending = true, .terminating = 1},
		{.ending = true, .active = 1},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct world w;
		world_init(&w);
		stopped_in_the_very_moment(&w, rows[i]);
		at(&w, w.now_ms + 60000);
		assert_true(w.j->now->job.suspend);
		assert_int_equal(w.sent[INTENT_TELL], 0);
		assert_int_equal(w.sent[INTENT_START], 0);
		assert_non_null(strstr(explained(&w).sentence, "makes no more pods"));
		world_done(&w);
	}
}

/* Of another controller's Job these words say nothing of its pods. */
static void not_where_another_controller_has_it(void **state)
{
	struct world *w = *state;
	struct snap n = {0}, *s;
	w->pods_of_job = 100;
	submit(w, &n);
	s = model_api_edit(&w->api, w->j);
	s->job.uncontrolled = true;
	s->job.invalid = "managedBy";
	write_job(w, s, false);
	status_is(w, (struct job_status){.ending = true});
	assert_true(w->j->now->job.suspend);
	let_it_run(w);
	turn(w);
	assert_true(w->j->now->job.suspend);
	assert_string_equal(w->last[NOTE_STOP].reason, "NotAdmitted");
}

static void what_runs_without_quota_and_ends_is_not_stopped(void **state)
{
	struct world *w = *state;
	struct snap n = {0}, *s;
	w->pods_of_job = 100;
	submit(w, &n);
	s = model_api_edit(&w->api, w->j);
	s->job.suspend = false;
	s->job.status = (struct job_status){
		.ending = true, .has_start_time = true, .start_ms = T0, .terminating = 1};
	model_api_write(&w->api, s, true);
	gate_see_job(w->gate, &w->j->now->job);
	turn(w);
	at(w, w->now_ms + 60000);
	assert_int_equal(w->sent[INTENT_STOP], 0);
	assert_non_null(strstr(explained(w).sentence, "makes no more pods"));
}

/* Its reservation stays until its last pod is gone. */
static void what_ends_is_not_stopped_for_another(void **state)
{
	struct world *w = *state;
	have_it_run(w);
	status_is(w, (struct job_status){
			     .ending = true, .has_start_time = true, .start_ms = T0, .active = 1});
	decide(w, (struct decision){
			  .kind = DECISION_STOP, .reason = STOP_REASON_CLUSTERQUEUE_STOPPED});
	at(w, w->now_ms + 60000);
	assert_int_equal(w->sent[INTENT_STOP], 0);
	assert_true(first_reservation(w)->open);
	finish(w);
	assert_false(first_reservation(w)->open);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD(suspended_without_a_start_time_it_is_let_end),
		WORLD(after_a_takeover_it_is_let_end),
		cmocka_unit_test(what_can_end_is_left_alone),
		WORLD(not_where_another_controller_has_it),
		WORLD(what_runs_without_quota_and_ends_is_not_stopped),
		WORLD(what_ends_is_not_stopped_for_another),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
