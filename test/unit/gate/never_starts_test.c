/* A Job that can never start, because what it waits for has failed: held or deleted, or not any more. */
#include "world.h"

static bool in_vain; /* what the queue says when it is asked again */

bool __wrap_queue_job_waits_in_vain(const struct queue *q, const struct uid *uid);
bool __wrap_queue_job_waits_in_vain(const struct queue *q, const struct uid *uid)
{
	(void)q, (void)uid;
	return in_vain;
}

static const struct dependency prep[] = {{.kind = AFTER_OK, .name = "prep", .text = "prep"}};

static void have_it_wait(struct world *w, enum dependency_failure on_failure)
{
	struct snap n = {.job.after = {prep, 1, on_failure}};
	in_vain = true;
	turn(w); /* it leads */
	submit(w, &n);
	assert_int_equal(w->sent[INTENT_START], 0);
}

static void decide_never(struct world *w, enum decision_kind kind)
{
	decide(w, (struct decision){.kind = kind, .why = "waits in vain for prep: prep failed"});
}

static void edit(struct world *w, enum dependency_failure on_failure)
{
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.after.on_failure = on_failure;
	write_job(w, s, false);
}

static const char *hold_of(const struct world *w)
{
	return w->j->now->job.hold;
}

static void its_owner_wants_it_held(void **state)
{
	struct world *w = *state;
	struct gate_counts c;
	have_it_wait(w, DEPENDENCY_FAILURE_HOLD);
	decide_never(w, DECISION_HOLD);
	assert_string_equal(hold_of(w), "it can never start: waits in vain for prep: prep failed");
	assert_non_null(strstr(w->j->now->job.admission.story, "DependencyNeverSatisfied"));
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.status.suspended =
		true; /* as the Job controller has it, until then it may have pods */
	write_job(w, s, false);
	at(w, w->now_ms + 3600000);
	assert_int_equal(w->sent[INTENT_TELL], 1);
	assert_non_null(strstr(w->notes, "Hold: it can never start: waits in vain for prep"));
	gate_count(w->gate, &c);
	assert_int_equal(c.never_held, 1);
	assert_int_equal(c.never_deleted, 0);
}

static void its_owner_wants_it_deleted(void **state)
{
	struct world *w = *state;
	struct gate_counts c;
	have_it_wait(w, DEPENDENCY_FAILURE_DELETE);
	size_t leases = w->sent[INTENT_LEASE];
	decide_never(w, DECISION_DELETE);
	assert_int_equal(w->sent[INTENT_DELETE], 1);
	assert_int_equal(w->sent[INTENT_LEASE], leases + 1); /* asked for before it */
	assert_true(w->j->now->gone);
	assert_non_null(strstr(w->notes,
		"Delete: to be deleted (sluice.dev/on-dependency-failure: Delete): waits in vain for prep"));
	gate_count(w->gate, &c);
	assert_int_equal(c.never_deleted, 1);
	gate_lose_job(w->gate, &w->j->now->job.uid);
	turn(w);
	gate_count(w->gate, &c);
	assert_int_equal(c.jobs, 0);
}

/* The name is used again, or the annotation was edited, before anything was sent. */
static void it_is_not_so_any_more(void **state)
{
	static const enum decision_kind kinds[] = {DECISION_HOLD, DECISION_DELETE};
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct world w;
		bool again = i < 2;
		world_init(&w);
		have_it_wait(&w, i % 2 ? DEPENDENCY_FAILURE_DELETE : DEPENDENCY_FAILURE_HOLD);
		in_vain = !again;
		if (!again)
			edit(&w, DEPENDENCY_FAILURE_WAIT);
		decide_never(&w, kinds[i % 2]);
		at(&w, w.now_ms + 600000);
		assert_int_equal(w.sent[INTENT_TELL] + w.sent[INTENT_DELETE], 0);
		/* And then it is so once more: the queue decides when. */
		in_vain = true;
		if (!again)
			edit(&w, i % 2 ? DEPENDENCY_FAILURE_DELETE : DEPENDENCY_FAILURE_HOLD);
		at(&w, w.now_ms + 600000);
		assert_int_equal(w.sent[INTENT_TELL] + w.sent[INTENT_DELETE], 0);
		decide_never(&w, kinds[i % 2]);
		assert_int_equal(w.sent[INTENT_TELL] + w.sent[INTENT_DELETE], 1);
		world_done(&w);
	}
}

/* Somebody wrote to it, and the watch has not told yet. */
static void it_has_changed(void **state)
{
	struct world *w = *state;
	have_it_wait(w, DEPENDENCY_FAILURE_DELETE);
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.after.on_failure = DEPENDENCY_FAILURE_WAIT;
	model_api_write(&w->api, s, false);
	decide_never(w, DECISION_DELETE);
	at(w, w->now_ms + 600000);
	assert_int_equal(w->sent[INTENT_DELETE], 1);
	assert_true(w->sent[INTENT_READ] > 0);
	assert_false(w->j->now->gone);
}

static void no_answer_came(void **state)
{
	struct world *w = *state;
	have_it_wait(w, DEPENDENCY_FAILURE_DELETE);
	size_t leases = w->sent[INTENT_LEASE];
	w->outcome = JOB_IN_DOUBT;
	decide_never(w, DECISION_DELETE);
	at(w, w->now_ms + 1000);
	assert_int_equal(w->sent[INTENT_DELETE], 2);
	const char *said = strstr(w->notes, "Delete: to be deleted");
	assert_non_null(said); /* before any answer, and not again */
	assert_null(strstr(said + 1, "Delete: to be deleted"));
	assert_int_equal(w->sent[INTENT_LEASE], leases + 2);
	assert_true(w->j->now->gone);
}

static void the_api_server_refuses(void **state)
{
	struct world *w = *state;
	have_it_wait(w, DEPENDENCY_FAILURE_DELETE);
	w->denied = 1000;
	decide_never(w, DECISION_DELETE);
	for (int minute = 0; minute < 6 * 60; minute++)
		at(w, w->now_ms + 60000);
	assert_true(w->sent[INTENT_DELETE] > 5 && w->sent[INTENT_DELETE] < 15);
	assert_false(w->j->now->gone);
	assert_non_null(strstr(w->notes, "Refuse: the API server refuses: "));
	w->denied = 0;
	for (int minute = 0; minute < 90; minute++)
		at(w, w->now_ms + 60000);
	assert_true(w->j->now->gone);
}

static const char *sentence(const struct world *w)
{
	static struct explanation x;
	assert_true(gate_explain(w->gate, "team-a", "train", w->now_ms, &x));
	return x.sentence;
}

static void what_it_says_is_told_as_long_as_the_job_is_to_be_deleted(void **state)
{
	struct world *w = *state;
	have_it_wait(w, DEPENDENCY_FAILURE_DELETE);
	w->denied = 1;
	w->refusal = "keep it";
	decide_never(w, DECISION_DELETE);
	assert_int_equal(w->sent[INTENT_DELETE], 1);
	assert_non_null(strstr(w->notes, "Refuse: the API server refuses: keep it"));
	assert_non_null(strstr(sentence(w), "the API server refuses to delete it: keep it"));
	in_vain = false;
	at(w, w->now_ms + 3600000);
	assert_int_equal(w->sent[INTENT_DELETE], 1);
	assert_null(strstr(sentence(w), "delete it"));
}

static void the_first_failure_to_delete_it_is_told(void **state)
{
	struct world *w = *state;
	have_it_wait(w, DEPENDENCY_FAILURE_DELETE);
	w->fails = true;
	decide_never(w, DECISION_DELETE);
	assert_int_equal(w->sent[INTENT_DELETE], 1);
	assert_non_null(strstr(
		w->notes, "Refuse: the API server fails to delete it: etcdserver: no leader"));
	assert_non_null(strstr(sentence(w), "fails to delete it: etcdserver: no leader"));
}

static void the_refusal_of_a_hold_is_told(void **state)
{
	struct world *w = *state;
	have_it_wait(w, DEPENDENCY_FAILURE_HOLD);
	w->denied = SIZE_MAX;
	w->refusal = "no cost-center";
	decide_never(w, DECISION_HOLD);
	assert_non_null(strstr(w->notes, "Refuse: the API server refuses: no cost-center"));
	assert_non_null(
		strstr(sentence(w), "the API server refuses to put it on hold: no cost-center"));
}

/* A successor may lead: nothing is deleted until the ledger says that none does. */
static void the_lease_is_not_confirmed(void **state)
{
	struct world *w = *state;
	have_it_wait(w, DEPENDENCY_FAILURE_DELETE);
	w->lease_silent = true;
	decide_never(w, DECISION_DELETE);
	at(w, w->now_ms + 4000);
	assert_int_equal(w->sent[INTENT_DELETE], 0);
	assert_false(w->j->now->gone);
}

/* It was let run by somebody: that is another matter. */
static void it_runs(void **state)
{
	struct world *w = *state;
	have_it_wait(w, DEPENDENCY_FAILURE_DELETE);
	struct snap *s = model_api_edit(&w->api, w->j);
	struct model_run run = {.outside = true};
	snap_suspend(s, false);
	s->run = &run;
	s->job.status = (struct job_status){
		.has_start_time = true, .start_ms = w->now_ms, .active = 2, .ready = 2};
	model_api_write(&w->api, s, true);
	gate_see_job(w->gate, &w->j->now->job);
	decide_never(w, DECISION_DELETE);
	assert_int_equal(w->sent[INTENT_DELETE], 0);
	assert_int_equal(w->sent[INTENT_STOP], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD(its_owner_wants_it_held),
		WORLD(its_owner_wants_it_deleted),
		cmocka_unit_test(it_is_not_so_any_more),
		WORLD(it_has_changed),
		WORLD(no_answer_came),
		WORLD(the_api_server_refuses),
		WORLD(what_it_says_is_told_as_long_as_the_job_is_to_be_deleted),
		WORLD(the_first_failure_to_delete_it_is_told),
		WORLD(the_refusal_of_a_hold_is_told),
		WORLD(the_lease_is_not_confirmed),
		WORLD(it_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
