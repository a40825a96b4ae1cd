/*
 * A ledger that went back: what runs and is in no reservation is adopted by its own story
 * (adoption.c). The real gate and queue against the simulation's models; an older copy of the ledger
 * is put in the place of the newer one.
 */
#include "crowd.h"

#define SETTLE_MS 60000

/* Ten run; of these the ledger that comes back knows `known`. */
static void open_and_go_back(struct crowd *c, size_t known)
{
	open_crowd(c, known, 0);
	c->w.settle_ms = SETTLE_MS;
	struct model_ledger *older = model_ledger_copy(c->w.ledger);
	while (c->n < 10) {
		submit_one(c);
		see_it_run(c, c->job[c->n - 1]);
	}
	turn(&c->w);
	model_ledger_free(c->w.ledger);
	c->w.ledger = older;
	c->w.notes[0] = '\0';
}

static size_t held(const struct crowd *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->n; i++)
		n += model_ledger_open_reservation(c->w.ledger, &c->job[i]->now->job.uid) != NULL;
	return n;
}

static void count_estimated(const struct gate_run *run, void *ctx)
{
	*(size_t *)ctx += run->estimated;
}

static size_t estimated_runs(struct crowd *c)
{
	size_t n = 0;
	const struct gate_runs_asked all = {.to_ms = INT64_MAX, .now_ms = c->w.now_ms};
	gate_each_run(c->w.gate, &all, count_estimated, &n);
	return n;
}

static const char *told_of(struct crowd *c, const char *name, struct explanation *x)
{
	assert_true(gate_explain(c->w.gate, "team-a", name, c->w.now_ms, x));
	return x->sentence;
}

static void while_the_ledger_is_away_what_does_not_run_says_so(void **state)
{
	static const char down[] =
		"Postgres has not answered since 2026-11-21T10:00:00Z: running Jobs continue, but no Job starts until it is back";
	struct crowd c;
	struct explanation x;
	(void)state;
	open_crowd(&c, 1, 0);
	gate_tell_ledger_down(c.w.gate, INT64_C(1795255200000));
	gate_tell_ledger_down(c.w.gate, INT64_C(1795255260000)); /* in other words */
	c.w.batches_lost = 100;
	submit_one(&c);
	assert_string_equal(told_of(&c, "train-1", &x), down);
	assert_int_equal(x.reason, WAIT_LEDGER_DOWN);
	assert_null(strstr(told_of(&c, "train-0", &x), "Postgres"));
	assert_int_equal(x.reason, WAIT_NOT);
	gate_tell_ledger_down(c.w.gate, 0);
	assert_null(strstr(told_of(&c, "train-1", &x), "Postgres"));
	world_done(&c.w);
}

static void what_runs_is_adopted_and_nothing_starts_for_a_while(void **state)
{
	struct crowd c;
	struct explanation x;
	int64_t left_ms;
	(void)state;
	open_and_go_back(&c, 3);
	restart(&c);
	assert_int_equal(running(&c), 10);
	assert_int_equal(held(&c), 10);
	assert_int_equal(count_notes(&c, "Adopt: adopted"), 7);
	assert_int_equal(c.w.sent[INTENT_STOP], 0);
	const struct model_reservation *h =
		model_ledger_open_reservation(c.w.ledger, &c.job[9]->now->job.uid);
	assert_true(h->estimated && h->committed);
	assert_int_equal(h->reservation.nlines, 1);
	assert_string_equal(h->reservation.lines[0].node, "cq/batch");
	assert_int_equal(h->reservation.lines[0].amount, 10);
	assert_int_equal(estimated_runs(&c), 7);

	submit_one(&c);
	pass_time(&c, SETTLE_MS - 2000);
	assert_true(gate_settling(c.w.gate, &left_ms));
	assert_int_equal(running(&c), 10);
	assert_true(gate_explain(c.w.gate, "team-a", "train-10", c.w.now_ms, &x));
	assert_non_null(strstr(x.sentence, "nothing starts for another 2s"));
	pass_time(&c, 4000);
	assert_false(gate_settling(c.w.gate, &left_ms));
	assert_int_equal(running(&c), 11);
	restart(&c); /* the ledger tells the next leader */
	assert_int_equal(estimated_runs(&c), 7);
	world_done(&c.w);
}

/* A tenant found a way to write annotations: the text of another Job, and one of its own making. */
static void what_a_tenant_wrote_adopts_nothing(void **state)
{
	struct crowd c;
	(void)state;
	open_and_go_back(&c, 0);
	struct snap *s = model_api_edit(&c.w.api, c.job[0]);
	s->job.admission.story = c.job[1]->now->job.admission.story;
	write_of(&c, c.job[0], s, false);
	s = model_api_edit(&c.w.api, c.job[2]);
	s->job.admission.story =
		"{\"attempt\":1,\"state\":\"Started\",\"epoch\":1,\"at\":\"2026-11-21T09:58:30Z\","
		"\"clusterQueue\":\"batch\",\"flavors\":{\"cpu\":\"spot\"},\"holds\":{\"cpu\":10},"
		"\"reason\":\"\",\"by\":\"me\",\"mac\":\"00000000000000000000000000000000\"}";
	write_of(&c, c.job[2], s, false);
	restart(&c);
	assert_int_equal(running(&c), 8);
	assert_int_equal(held(&c), 8);
	assert_int_equal(count_notes(&c, "Stop: Stopped (NotAdmitted)"), 2);
	world_done(&c.w);
}

/* etcd went back, and Jobs run again that have ended: their reservations were given back, and their
 * bills written. They are stopped, and no limit and no Budget is charged for them once more. */
static void what_was_given_back_is_stopped_and_charged_to_nothing(void **state)
{
	struct crowd c;
	struct job_history h;
	(void)state;
	open_crowd(&c, 3, 0);
	struct ledger_op op = {.kind = LEDGER_RELEASE,
		.uid = c.job[0]->now->job.uid,
		.attempt = 1,
		.at_ms = c.w.now_ms,
		.reason = "Finished",
		.actor = "me"};
	struct ledger_batch b = {.epoch = gate_epoch(c.w.gate), .ops = &op, .nops = 1};
	assert_int_equal(model_ledger_batch(c.w.ledger, &b, SIZE_MAX, NULL), LEDGER_DONE);
	restart(&c);
	assert_int_equal(count_notes(&c, "Adopt: adopted"), 1);
	assert_int_equal(count_notes(&c, "Stop: Stopped (NotAdmitted)"), 1);
	assert_int_equal(running(&c), 2);
	queue_job_history(c.w.queue, &c.job[0]->now->job.uid, c.w.now_ms, &h);
	assert_int_equal(h.ran_ms, 0);
	world_done(&c.w);
}

/* What is adopted counts, whatever the quota; when all is known the last to start give way. */
static void beyond_the_quota_the_last_to_start_give_way(void **state)
{
	struct crowd c;
	(void)state;
	open_and_go_back(&c, 3);
	c.w.quota = 80;
	restart(&c);
	pass_time(&c, SETTLE_MS - 2000);
	assert_int_equal(running(&c), 10);
	pass_time(&c, 4000);
	assert_int_equal(running(&c), 8);
	assert_true(c.job[8]->now->job.suspend);
	assert_true(c.job[9]->now->job.suspend);
	assert_non_null(strstr(
		c.job[9]->now->job.admission.story, "the runs that started last are stopped"));
	world_done(&c.w);
}

/* Its owner raised it, and then the ledger lost its start: the last of ten. */
static void raise_and_go_back(struct crowd *c, bool kept)
{
	open_and_go_back(c, 9);
	c->w.quota = 100; /* for ten pods */
	struct snap *s = model_api_edit(&c->w.api, c->job[9]);
	s->job.parallelism = s->job.completions = 16;
	s->job.deleting = kept;
	s->job.finalizer = kept ? "example.com/keep" : NULL;
	model_api_write(&c->w.api, s, true);
	c->w.pods = 16;
	restart(c);
}

static int64_t held_by_the_last(const struct crowd *c)
{
	const struct model_reservation *h =
		model_ledger_open_reservation(c->w.ledger, &c->job[9]->now->job.uid);
	return h ? h->reservation.lines[0].amount : 0;
}

/* It is adopted for what its story says, and stopped as if nothing had been lost. Were it adopted
 * for what it might use, others would give way to it. */
static void one_that_was_raised_is_adopted_for_no_more_and_stopped(void **state)
{
	struct crowd c;
	(void)state;
	raise_and_go_back(&c, false);
	assert_int_equal(count_notes(&c, "Adopt: adopted"), 1);
	assert_true(c.job[9]->now->job.suspend);
	assert_string_equal(c.w.last[NOTE_STOP].reason, "ScaledUp");
	assert_int_equal(held_by_the_last(&c), 10);
	pass_time(&c, SETTLE_MS + 1000);
	assert_int_equal(running(&c), 9);
	world_done(&c.w);
}

/* Deleted, it cannot be stopped any more. It holds what it held until its pods are gone. */
static void one_that_was_raised_and_kept_is_adopted_for_no_more(void **state)
{
	struct crowd c;
	(void)state;
	raise_and_go_back(&c, true);
	assert_int_equal(count_notes(&c, "Adopt: adopted"), 1);
	pass_time(&c, SETTLE_MS + 1000);
	assert_int_equal(held_by_the_last(&c), 10);
	assert_int_equal(c.w.sent[INTENT_STOP], 0);
	assert_int_equal(held(&c), 10);
	c.w.pods = 0;
	pass_time(&c, 20000);
	assert_int_equal(held_by_the_last(&c), 0);
	world_done(&c.w);
}

/* Stopped and unsuspended again, before the ledger lost its start: pods of its run may be left, whatever
 * becomes of the Job. */
static void stop_resume_and_go_back(struct crowd *c, bool kept)
{
	open_and_go_back(c, 9);
	struct model_job *last = c->w.j = c->job[9];
	c->w.pods = 1;
	decide(&c->w,
		(struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_WINDOW_CLOSED});
	assert_non_null(strstr(last->now->job.admission.story, "Stopped"));
	struct snap *s = model_api_edit(&c->w.api, last);
	snap_suspend(s, false);
	s->job.deleting = kept;
	s->job.finalizer = kept ? "example.com/keep" : NULL;
	model_api_write(&c->w.api, s, true);
	restart(c);
	assert_int_equal(count_notes(c, "Adopt: adopted"), 1);
	assert_int_equal(held_by_the_last(c), 10);
}

static void one_that_was_resumed_after_its_stop_holds_what_it_held(void **state)
{
	struct crowd c;
	(void)state;
	stop_resume_and_go_back(&c, false);
	assert_true(c.job[9]->now->job.suspend); /* and is stopped again */
	world_done(&c.w);
}

/* Deleted and kept by a finalizer: no stop ends its pods. */
static void one_that_cannot_be_stopped_any_more_holds_what_it_held(void **state)
{
	struct crowd c;
	(void)state;
	stop_resume_and_go_back(&c, true);
	c.w.pods = 0;
	pass_time(&c, 20000);
	assert_int_equal(held_by_the_last(&c), 0);
	world_done(&c.w);
}

/* Suspended at once, and the ledger lost its start: the Job controller may have made its pods, and says
 * nothing of them yet. */
static void one_that_was_suspended_before_its_start_was_seen_holds_what_it_held(void **state)
{
	struct crowd c;
	(void)state;
	open_crowd(&c, 9, 0);
	c.w.settle_ms = SETTLE_MS;
	struct model_ledger *older = model_ledger_copy(c.w.ledger);
	submit_one(&c);
	assert_false(c.job[9]->now->job.suspend);
	struct snap *s = model_api_edit(&c.w.api, c.job[9]);
	snap_suspend(s, true);
	model_api_write(&c.w.api, s, true);
	model_ledger_free(c.w.ledger);
	c.w.ledger = older;
	c.w.notes[0] = '\0';
	c.w.pods = 1;
	restart(&c);
	assert_int_equal(count_notes(&c, "Adopt: adopted"), 1);
	assert_int_equal(held_by_the_last(&c), 10);
	world_done(&c.w);
}

/* The reservation that is read is of an attempt before the one that runs. */
static void an_attempt_that_was_overtaken_is_closed(void **state)
{
	struct crowd c;
	(void)state;
	open_crowd(&c, 1, 0);
	c.w.settle_ms = SETTLE_MS;
	struct model_ledger *older = model_ledger_copy(c.w.ledger);
	struct snap *s = model_api_edit(&c.w.api, c.job[0]);
	snap_suspend(s, true);
	s->job.status = (struct job_status){.suspended = true};
	write_of(&c, c.job[0], s, true);
	turn(&c.w);
	pass_time(&c, 20000);
	assert_false(c.job[0]->now->job.suspend);
	see_it_run(&c, c.job[0]);
	turn(&c.w);
	assert_int_equal(c.job[0]->now->job.admission.attempt, 2);
	model_ledger_free(c.w.ledger);
	c.w.ledger = older;
	restart(&c);
	assert_false(c.job[0]->now->job.suspend);
	const struct uid *uid = &c.job[0]->now->job.uid;
	assert_false(model_ledger_reservation(c.w.ledger, uid, 1)->open);
	assert_true(model_ledger_reservation(c.w.ledger, uid, 1)->estimated);
	assert_true(model_ledger_reservation(c.w.ledger, uid, 2)->open);
	world_done(&c.w);
}

/* On another server without anything lost: what the last leader sent may land all the same. */
static void a_ledger_that_moved_makes_a_pause(void **state)
{
	struct crowd c;
	int64_t left_ms;
	(void)state;
	open_and_go_back(&c, 10);
	restart(&c);
	assert_true(gate_settling(c.w.gate, &left_ms));
	/* The next leader, too, if this one ends before the pause does. */
	restart(&c);
	assert_true(gate_settling(c.w.gate, &left_ms));
	assert_int_equal(count_notes(&c, "Adopt"), 0);
	submit_one(&c);
	pass_time(&c, SETTLE_MS + 1000);
	assert_int_equal(running(&c), 11);
	restart(&c);
	assert_false(gate_settling(c.w.gate, &left_ms));
	world_done(&c.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(while_the_ledger_is_away_what_does_not_run_says_so),
		cmocka_unit_test(what_runs_is_adopted_and_nothing_starts_for_a_while),
		cmocka_unit_test(what_a_tenant_wrote_adopts_nothing),
		cmocka_unit_test(what_was_given_back_is_stopped_and_charged_to_nothing),
		cmocka_unit_test(beyond_the_quota_the_last_to_start_give_way),
		cmocka_unit_test(one_that_was_raised_is_adopted_for_no_more_and_stopped),
		cmocka_unit_test(one_that_was_raised_and_kept_is_adopted_for_no_more),
		cmocka_unit_test(one_that_was_resumed_after_its_stop_holds_what_it_held),
		cmocka_unit_test(one_that_cannot_be_stopped_any_more_holds_what_it_held),
		cmocka_unit_test(
			one_that_was_suspended_before_its_start_was_seen_holds_what_it_held),
		cmocka_unit_test(an_attempt_that_was_overtaken_is_closed),
		cmocka_unit_test(a_ledger_that_moved_makes_a_pause),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
