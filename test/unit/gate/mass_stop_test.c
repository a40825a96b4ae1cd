/*
 * A ledger that was lost between two leaders: what runs is not stopped at once (mass_stop.h). The
 * real gate and queue against the simulation's models; a new ledger is put in the place of the old
 * one.
 */
#include "crowd.h"

#define AFTER_MS 600000
/* drop schema sluice cascade. With it goes the key of the stories: none of them is believed. */
static void lose_ledger(struct crowd *c)
{
	model_ledger_free(c->w.ledger);
	c->w.ledger = model_ledger_new_key(7);
	restart(c);
}

static void a_mass_waits_and_nothing_starts_meanwhile(void **state)
{
	struct crowd c;
	struct gate_mass_stop m;
	struct explanation x;
	(void)state;
	open_crowd(&c, 10, AFTER_MS);
	lose_ledger(&c);
	assert_int_equal(running(&c), 10);
	assert_true(gate_mass_stop(c.w.gate, &m));
	assert_int_equal(m.jobs, 10);
	assert_int_equal(m.running, 10);
	assert_non_null(strstr(c.w.notes, "MassStop: 10 of 10 running Jobs have no reservation"));

	submit_one(&c);
	pass_time(&c, AFTER_MS - 2000);
	assert_int_equal(running(&c), 10);
	assert_int_equal(c.w.sent[INTENT_STOP], 0);
	assert_true(gate_explain(c.w.gate, "team-a", "train-10", c.w.now_ms, &x));
	assert_non_null(strstr(x.sentence, "nothing starts at the moment"));
	assert_true(count_notes(&c, "MassStop: 10 of 10") >= 9); /* each minute */

	pass_time(&c, 4000);
	assert_int_equal(running(&c), 0);
	assert_false(gate_mass_stop(c.w.gate, &m));
	assert_int_equal(count_notes(&c, "Stop: Stopped (NotAdmitted)"), 10);
	/* Not while their pods may be left. */
	pass_time(&c, 10000);
	assert_int_equal(running(&c), 0);
	end_pods(&c);
	pass_time(&c, 10000);
	assert_int_equal(running(&c), 11);
	world_done(&c.w);
}

static void without_a_pause_they_are_stopped_at_once(void **state)
{
	struct crowd c;
	(void)state;
	open_crowd(&c, 10, 0);
	lose_ledger(&c);
	assert_int_equal(count_notes(&c, "Stop: Stopped (NotAdmitted)"), 10);
	assert_int_equal(count_notes(&c, "MassStop"), 0);
	world_done(&c.w);
}

/* Four are no mass, whatever else runs. */
static void few_are_stopped_at_once(void **state)
{
	struct crowd c;
	(void)state;
	open_crowd(&c, 4, AFTER_MS);
	lose_ledger(&c);
	assert_int_equal(count_notes(&c, "Stop: Stopped (NotAdmitted)"), 4);
	world_done(&c.w);
}

static void unsuspend(struct crowd *c, struct model_job *j)
{
	struct snap *s = model_api_edit(&c->w.api, j);
	s->job.admission.story = NULL;
	s->job.admission.state = STORY_NONE;
	s->job.admission.attempt = 0;
	snap_suspend(s, false);
	write_of(c, j, s, true);
}

/* A Job that is unsuspended while a controller leads gets no such grace. */
static void what_is_unsuspended_later_is_stopped_at_once(void **state)
{
	struct crowd c;
	struct gate_mass_stop m;
	(void)state;
	open_crowd(&c, 10, AFTER_MS);
	for (size_t i = 0; i < 10; i++) {
		struct snap *s = model_api_edit(&c.w.api, c.job[i]);
		snap_suspend(s, true);
		s->job.suspended_by_person = true;
		s->job.status = (struct job_status){.suspended = true};
		write_of(&c, c.job[i], s, true);
	}
	turn(&c.w);
	for (size_t i = 0; i < 10; i++)
		unsuspend(&c, c.job[i]);
	turn(&c.w);
	assert_false(gate_mass_stop(c.w.gate, &m));
	assert_int_equal(running(&c), 0);
	world_done(&c.w);
}

/* They end, or are suspended by hand, until the rest is no mass any more. */
static void it_goes_on_when_they_are_few(void **state)
{
	struct crowd c;
	struct gate_mass_stop m;
	(void)state;
	open_crowd(&c, 7, AFTER_MS);
	lose_ledger(&c);
	for (size_t i = 0; i < 3; i++) {
		pass_time(&c, 2000);
		assert_true(gate_mass_stop(c.w.gate, &m));
		assert_int_equal(m.jobs, 7 - i);
		struct snap *s = model_api_edit(&c.w.api, c.job[i]);
		s->job.status.complete = true;
		s->job.status.active = s->job.status.ready = 0;
		s->job.status.succeeded = 1;
		write_of(&c, c.job[i], s, false);
	}
	pass_time(&c, 2000);
	assert_false(gate_mass_stop(c.w.gate, &m));
	assert_int_equal(count_notes(&c, "Stop: Stopped (NotAdmitted)"), 4);
	world_done(&c.w);
}

/* The next leader begins anew; nobody is stopped by that. */
static void a_successor_waits_as_well(void **state)
{
	struct crowd c;
	(void)state;
	open_crowd(&c, 10, AFTER_MS);
	lose_ledger(&c);
	pass_time(&c, AFTER_MS / 2);
	lose_ledger(&c);
	pass_time(&c, AFTER_MS / 2 + 5000);
	assert_int_equal(running(&c), 10);
	world_done(&c.w);
}

/* With its reservations in place a restart spares nobody, for there is nobody to spare. */
static void a_restart_alone_is_none(void **state)
{
	struct crowd c;
	struct gate_mass_stop m;
	(void)state;
	open_crowd(&c, 10, AFTER_MS);
	restart(&c);
	assert_false(gate_mass_stop(c.w.gate, &m));
	submit_one(&c);
	assert_int_equal(running(&c), 11);
	world_done(&c.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mass_waits_and_nothing_starts_meanwhile),
		cmocka_unit_test(without_a_pause_they_are_stopped_at_once),
		cmocka_unit_test(few_are_stopped_at_once),
		cmocka_unit_test(what_is_unsuspended_later_is_stopped_at_once),
		cmocka_unit_test(it_goes_on_when_they_are_few),
		cmocka_unit_test(a_successor_waits_as_well),
		cmocka_unit_test(a_restart_alone_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
