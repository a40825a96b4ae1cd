/*
 * The start time of a run that was stopped: before Kubernetes 1.36 the Job controller keeps it, and
 * the API server then changes no directives of the Job.
 */
#include "world.h"

/* It runs, is stopped for its window, and its pods are gone. */
static void stop_it(struct world *w)
{
	w->api.old_server = true;
	have_it_run(w);
	decide(w, (struct decision){.kind = DECISION_STOP,
			  .reason = STOP_REASON_WINDOW_CLOSED,
			  .policy = "nights"});
	assert_true(w->j->now->job.suspend);
	assert_int_equal(w->sent[INTENT_CLEAR], 0); /* its pods are there */
}

static void status_is(struct world *w, struct job_status status)
{
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.status = status;
	write_job(w, s, false);
}

static const struct job_status suspended = {
	.has_start_time = true, .start_ms = T0, .suspended = true};

static bool has_start_time(const struct world *w)
{
	return w->j->now->job.status.has_start_time;
}

static void it_is_taken_off_when_no_pod_is_left(void **state)
{
	struct world *w = *state;
	stop_it(w);
	struct job_status terminating = suspended;
	terminating.terminating = 1;
	status_is(w, terminating);
	assert_int_equal(w->sent[INTENT_CLEAR], 0);
	status_is(w, suspended);
	assert_false(has_start_time(w));
	assert_int_equal(w->sent[INTENT_CLEAR], 1);
	assert_int_equal(w->sent[INTENT_STOP], 1);
	assert_int_equal(w->sent[INTENT_START], 2); /* once it is off: else it is refused */
	assert_false(w->j->now->job.suspend);
}

/* Later Job controllers take it off themselves. */
static void where_there_is_none_nothing_is_written(void **state)
{
	struct world *w = *state;
	stop_it(w);
	status_is(w, (struct job_status){.suspended = true});
	assert_int_equal(w->sent[INTENT_CLEAR], 0);
	assert_int_equal(w->sent[INTENT_START], 2);
}

/* It would never end without. */
static void of_work_that_is_over_it_stays(void **state)
{
	struct world *w = *state;
	stop_it(w);
	struct job_status ending = suspended;
	ending.ending = true;
	status_is(w, ending);
	at(w, w->now_ms + 3600000);
	assert_int_equal(w->sent[INTENT_CLEAR], 0);
	struct job_status uncounted = suspended;
	uncounted.uncounted = 1;
	status_is(w, uncounted);
	assert_int_equal(w->sent[INTENT_CLEAR], 0);
}

/* The Job controller, or anybody, wrote in between: it is read, and asked for by the new version. */
static void a_status_that_moved_is_read_first(void **state)
{
	struct world *w = *state;
	stop_it(w);
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.status = suspended;
	model_api_write(&w->api, s, false);
	gate_see_job(w->gate, &w->j->now->job);
	model_api_write(&w->api, model_api_edit(&w->api, w->j), false);
	turn(w);
	assert_true(has_start_time(w));
	at(w, w->now_ms + 1000);
	assert_false(has_start_time(w));
	assert_int_equal(w->sent[INTENT_CLEAR], 2);
	assert_int_equal(w->sent[INTENT_START], 2);
}

/* It was not answered, and landed. */
static void a_lost_answer_is_looked_up(void **state)
{
	struct world *w = *state;
	stop_it(w);
	w->outcome = JOB_IN_DOUBT;
	w->lands = true;
	status_is(w, suspended);
	at(w, w->now_ms + 1000);
	assert_false(has_start_time(w));
	assert_int_equal(w->sent[INTENT_CLEAR], 1);
	assert_int_equal(w->sent[INTENT_START], 2);
}

/* A role of an older deployment, or a policy: no start waits for it, and it is asked for rarely. */
static void where_it_is_refused_no_start_waits(void **state)
{
	struct world *w = *state;
	stop_it(w);
	w->api.old_server = false; /* in the flavor that it ran in it may start */
	w->denied = 1;
	status_is(w, suspended);
	assert_true(strstr(w->notes, "keeps the start time of its last run"));
	assert_int_equal(w->sent[INTENT_CLEAR], 1);
	assert_int_equal(w->sent[INTENT_START], 2);
	assert_false(w->j->now->job.suspend);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD(it_is_taken_off_when_no_pod_is_left),
		WORLD(where_there_is_none_nothing_is_written),
		WORLD(of_work_that_is_over_it_stays),
		WORLD(a_status_that_moved_is_read_first),
		WORLD(a_lost_answer_is_looked_up),
		WORLD(where_it_is_refused_no_start_waits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
