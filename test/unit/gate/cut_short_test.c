/*
 * A work queue of which a pod has succeeded: the Job controller makes no pod of it any more, and calls it
 * Complete as soon as it is stopped. And a Job of which an index has failed for good. Neither waits for
 * pods that never come, and what was stopped is not told as a success.
 */
#include "world.h"

static struct job_status two_of_three(void)
{
	return (struct job_status){
		.has_start_time = true, .start_ms = T0, .active = 2, .ready = 2, .succeeded = 1};
}

static void status_is(struct world *w, struct job_status status)
{
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.status = status;
	w->pods = (size_t)(status.active + status.terminating);
	write_job(w, s, false);
}

/* A work queue of three pods; one of them has succeeded. */
static void have_it_succeed_once(struct world *w)
{
	struct snap n = {0}, *s;
	w->pods_of_job = 3;
	w->work_queue = true;
	submit(w, &n);
	s = model_api_edit(&w->api, w->j);
	s->job.status = (struct job_status){
		.has_start_time = true, .start_ms = T0, .active = 3, .ready = 3};
	w->pods = 3;
	write_job(w, s, false);
	status_is(w, two_of_three());
}

/* The Job controller has read the stop: SuccessCriteriaMet while pods go, then Complete. */
static void it_becomes_complete(struct world *w)
{
	struct job_status s = two_of_three();
	s.active = s.ready = 0;
	s.terminating = 2;
	s.ending = true;
	status_is(w, s);
	assert_true(first_reservation(w)->open);
	s.terminating = 0;
	s.complete = true;
	s.finished_ms = w->now_ms / 1000 * 1000;
	status_is(w, s);
}

static const char *explained(struct world *w, struct explanation *x)
{
	assert_true(gate_explain(w->gate, "team-a", "train", w->now_ms, x));
	return x->sentence;
}

static void a_stop_that_must_be_is_told_before_and_after(void **state)
{
	struct world *w = *state;
	struct explanation x;
	have_it_succeed_once(w);
	assert_non_null(strstr(explained(w, &x), JOB_ENDS_WHEN_STOPPED));
	assert_non_null(strstr(x.sentence, "anything else that ends runs ends it"));
	decide(w, (struct decision){.kind = DECISION_NOTICE,
			  .reason = STOP_REASON_WINDOW_CLOSED,
			  .stop_ms = w->now_ms + 60000});
	assert_non_null(strstr(w->notes, JOB_ENDS_WHEN_STOPPED));

	at(w, w->now_ms + 60000);
	decide(w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_WINDOW_CLOSED});
	assert_int_equal(w->sent[INTENT_STOP], 1);
	assert_string_equal(w->last[NOTE_STOP].reason, "WindowClosed");
	assert_int_equal(w->last[NOTE_STOP].lost_ms, 2 * (w->now_ms - T0));
	it_becomes_complete(w);
	assert_string_equal(w->last[NOTE_CUT_SHORT].reason, "WindowClosed");
	assert_null(strstr(w->notes, "Finish: "));
	const struct model_reservation *h = first_reservation(w);
	assert_false(h->open);
	assert_int_equal(h->outcome, LEDGER_JOB_FAILED);
	assert_int_equal(told_ran_ms, 0); /* it says nothing of how long its like take */
}

/* Its last pods ended well before the stop reached them. */
static void what_ended_well_in_that_moment_has_finished(void **state)
{
	struct world *w = *state;
	struct job_status s = two_of_three();
	have_it_succeed_once(w);
	decide(w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_WINDOW_CLOSED});
	s.active = s.ready = 0;
	s.succeeded = 3;
	s.complete = true;
	s.finished_ms = w->now_ms / 1000 * 1000;
	status_is(w, s);
	assert_non_null(strstr(w->notes, "Finish: "));
	assert_null(strstr(w->notes, "CutShort: "));
	assert_int_equal(first_reservation(w)->outcome, LEDGER_JOB_SUCCEEDED);
}

/* It is Complete: nothing is said of a hold, or of its return. */
static void its_time_limit_puts_it_not_on_hold(void **state)
{
	struct world *w = *state;
	struct explanation x;
	have_it_succeed_once(w);
	decide(w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_MAX_RUN});
	assert_int_equal(w->sent[INTENT_STOP], 1);
	assert_null(w->j->now->job.hold);
	assert_false(w->last[NOTE_STOP].on_hold);
	assert_null(strstr(w->notes, "queued again"));
	assert_non_null(strstr(w->notes, "time limit"));
	assert_non_null(strstr(w->notes, JOB_ENDS_AS_COMPLETE));
	assert_null(strstr(explained(w, &x), "put on hold"));
	it_becomes_complete(w);
	assert_int_equal(w->sent[INTENT_TELL], 0);
	assert_false(first_reservation(w)->open);
}

static void suspend(struct world *w, bool by_person)
{
	struct explanation x;
	have_it_succeed_once(w);
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.suspend = true;
	s->job.suspended_by_person = by_person;
	write_job(w, s, true);
	assert_non_null(strstr(w->notes, "Stop: "));
	assert_false(w->last[NOTE_STOP].on_hold);
	assert_null(strstr(w->notes, "queued again"));
	assert_null(strstr(explained(w, &x), "put on hold"));
	it_becomes_complete(w);
	assert_int_equal(w->sent[INTENT_TELL], 0);
	assert_non_null(strstr(w->notes, "CutShort: "));
}

static void nor_does_a_manifest_that_suspends_it(void **state)
{
	suspend(*state, false);
}

static void nor_does_a_person_who_suspends_it(void **state)
{
	suspend(*state, true);
}

/* Its stop puts the owner's number back, and says how many of them ran. */
static void a_stop_of_a_smaller_run_says_how_many_ran(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	w->pods_of_job = 5;
	w->work_queue = true;
	submit(w, &n);
	have_pods(w, 5, 0);
	decide(w, (struct decision){.kind = DECISION_SHRINK,
			  .pods = 2,
			  .reason = STOP_REASON_PREEMPTED,
			  .preemption = PREEMPTION_IN_CLUSTERQUEUE});
	have_pods(w, 2, 0);
	decide(w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_WINDOW_CLOSED});
	assert_int_equal(w->j->now->job.parallelism, 5);
	const char *story = w->j->now->job.admission.story;
	assert_non_null(strstr(story, "\"pods\":2"));
	assert_null(strstr(story, "\"parallelism\":"));
}

/* The leader that stopped it is gone, and its pods are, too. */
static void a_successor_tells_it_too(void **state)
{
	struct world *w = *state;
	struct job_status s = two_of_three();
	have_it_succeed_once(w);
	decide(w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_WINDOW_CLOSED});
	s.active = s.ready = 0;
	s.ending = true;
	struct snap *n = model_api_edit(&w->api, w->j);
	n->job.status = s;
	model_api_write(&w->api, n, false);
	world_restart(w);
	turn(w);
	s.complete = true;
	s.finished_ms = w->now_ms / 1000 * 1000;
	status_is(w, s);
	assert_non_null(strstr(w->notes, "CutShort: "));
	assert_int_equal(first_reservation(w)->outcome, LEDGER_JOB_FAILED);
}

/* ... and a standby has seen it Complete by the time that it leads. */
static void a_successor_tells_what_happened_while_none_led(void **state)
{
	struct world *w = *state;
	have_it_succeed_once(w);
	decide(w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_WINDOW_CLOSED});
	w->listed = &w->j->now->job;
	struct snap *n = model_api_edit(&w->api, w->j);
	n->job.status.active = n->job.status.ready = 0;
	n->job.status.complete = true;
	n->job.status.finished_ms = w->now_ms / 1000 * 1000;
	model_api_write(&w->api, n, false);
	world_restart(w);
	gate_see_job(w->gate, &w->j->now->job);
	turn(w);
	assert_non_null(strstr(w->notes, "CutShort: "));
	assert_false(first_reservation(w)->open);
	assert_int_equal(first_reservation(w)->outcome, LEDGER_JOB_FAILED);
}

/* A person suspended it, and the watch shows it Complete at once. */
static void what_another_client_stops_is_cut_short_too(void **state)
{
	struct world *w = *state;
	struct snap *s;
	have_it_succeed_once(w);
	s = model_api_edit(&w->api, w->j);
	s->job.suspend = s->job.suspended_by_person = true;
	s->job.status.active = s->job.status.ready = 0;
	s->job.status.complete = true;
	w->pods = 0;
	write_job(w, s, true);
	assert_string_equal(w->last[NOTE_CUT_SHORT].reason, "SuspendedByOther");
	assert_null(strstr(w->notes, "Finish: "));
}

/* Its owner raised parallelism: no pod is made for that, so it does not outgrow what it holds. */
static void a_larger_number_stops_nothing(void **state)
{
	struct world *w = *state;
	have_it_succeed_once(w);
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.parallelism = 9;
	write_job(w, s, true);
	at(w, w->now_ms + 60000);
	assert_int_equal(w->sent[INTENT_STOP], 0);
}

/* It was told to go on with fewer pods in the moment in which one of them succeeded. */
static void what_was_to_shrink_keeps_its_pods(void **state)
{
	struct world *w = *state;
	have_it_succeed_once(w);
	decide(w, (struct decision){.kind = DECISION_SHRINK,
			  .pods = 1,
			  .reason = STOP_REASON_PREEMPTED,
			  .preemption = PREEMPTION_IN_CLUSTERQUEUE,
			  .by = w->j->now->job.uid}); /* whoever: its name is told */
	at(w, w->now_ms + 60000);
	assert_int_equal(w->sent[INTENT_SHRINK], 0);
	assert_int_equal(w->sent[INTENT_STOP], 0);
	assert_non_null(strstr(w->notes,
		"keeps its 2 pods: its Job cannot be told to go on with 1 (Preempted for team-a/train)"));
	struct job_status s = two_of_three();
	s.active = s.ready = 1;
	s.succeeded = 2;
	status_is(w, s);
	assert_int_equal(held_cpu(w), 500);
}

/* A pod of it failed: it lacks none, and what it holds is for those that may be there. */
static void a_pod_that_is_never_made_is_not_lacked(void **state)
{
	struct world *w = *state;
	struct explanation x;
	struct job_status s = two_of_three();
	have_it_succeed_once(w);
	s.active = s.ready = 1;
	s.failed_pods = 1;
	status_is(w, s);
	at(w, w->now_ms + 3600000);
	assert_null(strstr(explained(w, &x), "not ready"));
	assert_int_equal(held_cpu(w), 1000);
	finish(w);
	assert_non_null(strstr(w->notes, "Finish: "));
}

/* The Job controller fails it, or counts its success, before it has written that it saw the start. */
static void is_not_stopped_as_not_ready(struct world *w, struct job_status status)
{
	const struct queue_config awaits = {.pods_ready_timeout_ms = 30000};
	struct explanation x;
	struct snap n = {0};
	w->work_queue = true;
	queue_configure(w->queue, &awaits);
	submit(w, &n);
	status.suspended = status.has_start_time = true;
	status.start_ms = T0;
	status_is(w, status);
	at(w, w->now_ms + 60000);
	assert_null(strstr(explained(w, &x), "being stopped"));
}

static void a_run_that_fails_awaits_no_pods(void **state)
{
	is_not_stopped_as_not_ready(*state, (struct job_status){.ending = true, .terminating = 1});
}

static void nor_does_one_that_has_a_success_before_its_start_is_seen(void **state)
{
	is_not_stopped_as_not_ready(*state, (struct job_status){.succeeded = 1, .active = 1});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD(a_stop_that_must_be_is_told_before_and_after),
		WORLD(what_ended_well_in_that_moment_has_finished),
		WORLD(its_time_limit_puts_it_not_on_hold),
		WORLD(nor_does_a_manifest_that_suspends_it),
		WORLD(nor_does_a_person_who_suspends_it),
		WORLD(a_stop_of_a_smaller_run_says_how_many_ran),
		WORLD(a_successor_tells_it_too),
		WORLD(a_successor_tells_what_happened_while_none_led),
		WORLD(what_another_client_stops_is_cut_short_too),
		WORLD(a_larger_number_stops_nothing),
		WORLD(what_was_to_shrink_keeps_its_pods),
		WORLD(a_pod_that_is_never_made_is_not_lacked),
		WORLD(a_run_that_fails_awaits_no_pods),
		WORLD(nor_does_one_that_has_a_success_before_its_start_is_seen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
