/*
 * What a tenant may do to a Job of his so that it runs on more than is reserved for it, or cannot
 * be stopped: raised while nobody looks, kept by a finalizer, written so that its pods cannot be
 * told.
 */
#include "world.h"

#define DOUBT_MS 10000

static void one_more(struct world *w, struct snap **ret)
{
	*ret = model_api_edit(&w->api, w->j);
}

/* One pod of half a core: parallelism 100, completions 1. */
static void have_an_elastic_one_run(struct world *w)
{
	struct snap n = {0}, *s;
	w->pods_of_job = 1;
	submit(w, &n);
	one_more(w, &s);
	s->job.status = (struct job_status){
		.has_start_time = true, .start_ms = w->now_ms, .active = 1, .ready = 1};
	s->job.indexed = true;
	s->job.parallelism = 100;
	write_job(w, s, true);
	assert_int_equal(held_cpu(w), 500);
	assert_false(w->j->now->job.suspend);
	w->pods = 1;
}

static void raise_completions(struct world *w)
{
	struct snap *s;
	one_more(w, &s);
	s->job.completions = 100;
	model_api_write(&w->api, s, true);
}

static void completions_that_are_raised_stop_it(void **state)
{
	struct world *w = *state;
	have_an_elastic_one_run(w);
	raise_completions(w);
	gate_see_job(w->gate, &w->j->now->job);
	turn(w);
	assert_true(w->j->now->job.suspend);
	assert_string_equal(w->last[NOTE_STOP].reason, "ScaledUp");
}

/* A new leader goes by the reservation, not by what it sees. */
static void raised_while_nobody_led(void **state)
{
	struct world *w = *state;
	have_an_elastic_one_run(w);
	raise_completions(w);
	world_restart(w);
	turn(w);
	assert_int_equal(w->sent[INTENT_READ], 1); /* what it saw might have been old */
	assert_true(w->j->now->job.suspend);
	assert_string_equal(w->last[NOTE_STOP].reason, "ScaledUp");
	assert_int_equal(held_cpu(w), 500);
}

/* Off the watch meanwhile, and so not known when it is adopted. */
static void raised_without_its_label_while_nobody_led(void **state)
{
	struct world *w = *state;
	struct snap *s;
	have_an_elastic_one_run(w);
	one_more(w, &s);
	s->job.queue = "";
	s->job.completions = 100;
	model_api_write(&w->api, s, true);
	world_restart(w);
	turn(w);
	assert_true(w->j->now->job.suspend);
	assert_string_equal(w->last[NOTE_STOP].reason, "ScaledUp");
}

/* Suspended and unsuspended by its owner, with pods of cpu each. */
static void resume_with(struct world *w, int64_t cpu, bool by_other)
{
	struct snap *s;
	one_more(w, &s);
	s->request[0].amount = cpu;
	s->job.resumed_by_other = by_other;
	model_api_write(&w->api, s, true);
	world_restart(w);
	turn(w);
}

/* As many pods as before, but each takes more than is reserved for it. */
static void its_template_grew_while_nobody_led(void **state)
{
	struct world *w = *state;
	resume_with(w, 750, true);
	assert_int_equal(w->sent[INTENT_READ], 1);
	assert_true(w->j->now->job.suspend);
	assert_string_equal(w->last[NOTE_STOP].reason, "ScaledUp");
}

static void resumed_as_it_was_it_runs_on(void **state)
{
	struct world *w = *state;
	resume_with(w, 500, true);
	assert_false(w->j->now->job.suspend);
}

/* An admin changed what is counted: the start is ours, and what runs is left alone. */
static void counted_for_more_it_runs_on(void **state)
{
	struct world *w = *state;
	resume_with(w, 750, false);
	assert_false(w->j->now->job.suspend);
}

/* Other nodes, as much quota. */
static void resume_elsewhere(struct world *w, bool by_other)
{
	struct snap *s;
	one_more(w, &s);
	s->job.redirected = true;
	s->job.resumed_by_other = by_other;
	model_api_write(&w->api, s, true);
	world_restart(w);
	turn(w);
}

static void its_nodes_were_changed_while_nobody_led(void **state)
{
	struct world *w = *state;
	resume_elsewhere(w, true);
	assert_int_equal(w->sent[INTENT_READ], 1);
	assert_true(w->j->now->job.suspend);
	assert_string_equal(w->last[NOTE_STOP].reason, "NotAdmitted");
	assert_non_null(strstr(w->last[NOTE_STOP].text, "changed the node selector"));
	assert_int_equal(held_cpu(w), 1000);
}

/* A webhook writes into templates: the start is ours. */
static void written_to_by_others_it_runs_on(void **state)
{
	struct world *w = *state;
	resume_elsewhere(w, false);
	assert_false(w->j->now->job.suspend);
}

/* The leader died before it heard that its stop had landed, and its owner lets the Job run again.
 * The reservation is of a run that is over. */
static void resumed_after_a_stop_it_is_stopped_again(void **state)
{
	struct world *w = *state;
	struct snap *s;
	one_more(w, &s);
	s->request[0].amount = 250;
	s->job.admission.state = STORY_STOPPED;
	s->job.admission.attempt = first_reservation(w)->reservation.attempt;
	model_api_write(&w->api, s, true);
	world_restart(w);
	turn(w);
	assert_true(w->j->now->job.suspend);
	assert_string_equal(w->last[NOTE_STOP].reason, "Stopped");
}

/* The new leader's view is older than what the ledger was told last. */
static void an_old_view_stops_nobody(void **state)
{
	struct world *w = *state;
	struct snap *s;
	const struct snap *old = w->j->now;
	one_more(w, &s);
	s->job.status.active = s->job.status.ready = s->job.status.succeeded = 1;
	write_job(w, s, false);
	assert_int_equal(held_cpu(w), 500);
	const struct snap *now = w->j->now;
	w->j->now = (struct snap *)(uintptr_t)old;
	gate_free(w->gate);
	queue_free(w->queue);
	w->now_ms += 60000;
	w->tick_ms += 60000;
	gate_up(w);
	w->j->now = (struct snap *)(uintptr_t)now;
	turn(w);
	assert_false(w->j->now->job.suspend);
	assert_int_equal(held_cpu(w), 500);
}

/* ---- Deleted, and kept ------------------------------------------------------------------------
 */

static void delete_kept(struct world *w, const char *finalizer)
{
	struct snap *s;
	one_more(w, &s);
	s->job.deleting = true;
	s->job.finalizer = finalizer;
	write_job(w, s, false);
}

static void explains(struct world *w, const char *words)
{
	struct explanation x;
	assert_true(gate_explain(w->gate, "team-a", "train", w->now_ms, &x));
	if (!strstr(x.sentence, words))
		fail_msg("'%s' does not say '%s'", x.sentence, words);
}

/* Nothing stops its pods; its quota is held until they are gone, and no longer. */
static void a_finalizer_keeps_quota_as_long_as_pods(void **state)
{
	struct world *w = *state;
	w->pods = 2;
	delete_kept(w, "example.com/keep");
	assert_string_equal(w->last[NOTE_STOP].reason, "Deleted");
	explains(w, "the finalizer example.com/keep keeps it");
	explains(w, "kubectl delete pods -n team-a");
	at(w, T0 + 400000);
	assert_int_equal(held_cpu(w), 1000);
	assert_non_null(strstr(w->last[NOTE_OVERDUE].text, "example.com/keep"));
	w->pods = 0;
	at(w, T0 + 420000);
	assert_int_equal(held_cpu(w), 0);
}

/* The status does not tell of pods any more: those that ended leave no word, those that run on
 * neither. */
static void a_frozen_status_proves_nothing(void **state)
{
	struct world *w = *state;
	struct snap *s;
	w->pods = 2;
	decide(w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_MAX_RUN});
	assert_true(w->j->now->job.suspend);
	delete_kept(w, "example.com/keep");
	at(w, T0 + DOUBT_MS + 1000);
	assert_int_equal(held_cpu(w), 1000);
	w->pods = 0; /* they ended by themselves, and nobody writes that down */
	at(w, T0 + DOUBT_MS + 7000);
	assert_int_equal(held_cpu(w), 0);
	one_more(w, &s);
	assert_int_equal(s->job.status.active, 2);
}

/* Let run again and deleted at once: the Job controller may still make pods. */
static void a_count_right_after_the_deletion_proves_nothing(void **state)
{
	struct world *w = *state;
	struct snap *s;
	w->pods = 2;
	decide(w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_MAX_RUN});
	at(w, T0 + 60000);
	one_more(w, &s);
	snap_suspend(s, false);
	model_api_write(&w->api, s, true);
	w->pods = 0;
	model_api_remove(&w->api, w->j);
	gate_lose_job(w->gate, &w->j->now->job.uid);
	turn(w);
	assert_int_equal(held_cpu(w), 1000);
	at(w, T0 + 60000 + DOUBT_MS + 100);
	assert_int_equal(held_cpu(w), 0);
}

static void one_that_was_orphaned_says_so(void **state)
{
	struct world *w = *state;
	w->pods = 2;
	delete_kept(w, "orphan");
	model_api_remove(&w->api, w->j);
	gate_lose_job(w->gate, &w->j->now->job.uid);
	at(w, T0 + 60000);
	assert_int_equal(held_cpu(w), 1000);
	explains(w, "deleted without its pods (--cascade=orphan)");
	w->pods = 0;
	at(w, T0 + 80000);
	assert_int_equal(held_cpu(w), 0);
}

/* Unsuspended by its owner, without a reservation, and deleted: no PATCH would do anything. */
static void one_that_was_not_let_in_is_not_told_in_vain(void **state)
{
	struct world *w = *state;
	struct snap n = {0}, *s;
	n.job.hold = "x";
	submit(w, &n);
	one_more(w, &s);
	s->job.hold = "x";
	s->job.deleting = true;
	s->job.finalizer = "example.com/keep";
	snap_suspend(s, false);
	write_job(w, s, true);
	at(w, T0 + 60000);
	assert_int_equal(w->sent[INTENT_STOP], 0);
	explains(w, "the finalizer example.com/keep keeps it");
}

/* Unsuspended and stopped before the Job controller looked: it may still see the one and not the
 * other, and make pods. Its status says Suspended all the time. */
static void one_that_ran_unseen_waits_for_its_pods(void **state)
{
	struct world *w = *state;
	struct snap n = {0}, *s;
	w->pods_of_job = 100; /* more than there is */
	submit(w, &n);
	one_more(w, &s);
	snap_suspend(s, false);
	s->job.status.suspended = true;
	write_job(w, s, true);
	assert_true(w->j->now->job.suspend);
	one_more(w, &s);
	s->job.parallelism = s->job.completions = 2;
	write_job(w, s, true);
	at(w, T0 + 9000);
	assert_int_equal(w->sent[INTENT_START], 0);
	explains(w, "its pods are still going away");
	at(w, T0 + 11000);
	assert_int_equal(w->sent[INTENT_START], 1);
}

/* ---- Pods that could not be told --------------------------------------------------------------
 */

static void stopped_as_uncounted(struct world *w)
{
	struct snap *s;
	one_more(w, &s);
	s->job.uncontrolled = true;
	write_job(w, s, false);
	assert_true(w->j->now->job.suspend);
	assert_string_equal(w->last[NOTE_STOP].reason, "Misconfigured");
	assert_non_null(strstr(w->last[NOTE_STOP].text, "spec.manualSelector"));
	assert_int_equal(held_cpu(w), 1000);
}

static void one_that_cannot_be_counted_is_stopped(void **state)
{
	stopped_as_uncounted(*state);
}

static void one_that_cannot_be_counted_is_stopped_while_it_starts(void **state)
{
	struct snap n = {0};
	submit(*state, &n);
	stopped_as_uncounted(*state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD(completions_that_are_raised_stop_it),
		WORLD(raised_while_nobody_led),
		RUN(its_template_grew_while_nobody_led),
		RUN(resumed_as_it_was_it_runs_on),
		RUN(resumed_after_a_stop_it_is_stopped_again),
		RUN(counted_for_more_it_runs_on),
		RUN(its_nodes_were_changed_while_nobody_led),
		RUN(written_to_by_others_it_runs_on),
		WORLD(raised_without_its_label_while_nobody_led),
		RUN(an_old_view_stops_nobody),
		RUN(a_finalizer_keeps_quota_as_long_as_pods),
		RUN(a_frozen_status_proves_nothing),
		RUN(a_count_right_after_the_deletion_proves_nothing),
		RUN(one_that_was_orphaned_says_so),
		WORLD(one_that_was_not_let_in_is_not_told_in_vain),
		WORLD(one_that_ran_unseen_waits_for_its_pods),
		RUN(one_that_cannot_be_counted_is_stopped),
		WORLD(one_that_cannot_be_counted_is_stopped_while_it_starts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
