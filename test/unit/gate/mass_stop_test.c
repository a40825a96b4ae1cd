/*
 * A ledger that was lost between two leaders: what runs is not stopped at once (mass_stop.h). The
 * real gate and queue against the simulation's models; the first Job is the world's own, more are
 * made here, and a new ledger is put in the place of the old one.
 */
#include "world.h"

#define AFTER_MS 600000
#define JOBS_MAX 64

struct crowd {
	struct world w;
	struct model_job *job[JOBS_MAX];
	size_t n;
};

static void write_of(struct crowd *c, struct model_job *j, struct snap *s, bool respec)
{
	model_api_write(&c->w.api, s, respec);
	gate_see_job(c->w.gate, &j->now->job);
}

static void submit_one(struct crowd *c)
{
	struct snap n = {0};
	char name[32];
	snprintf(name, sizeof(name), "train-%zu", c->n);
	n.request[0] = (struct resource){"cpu", 10};
	n.container.requests = (struct resource_list){n.request, 1};
	n.job = (struct job){.ns = "team-a",
		.name = pool_strdup(&c->w.pool, name),
		.queue = "main",
		.priority_class = "",
		.pod_priority_class = "",
		.family = "",
		.suspend = true,
		.parallelism = 1,
		.completions = 1,
		.has_completions = true};
	struct model_job *j = c->job[c->n++] = model_api_create(&c->w.api, &n);
	gate_see_job(c->w.gate, &j->now->job);
	turn(&c->w);
}

static void see_it_run(struct crowd *c, struct model_job *j)
{
	assert_false(j->now->job.suspend);
	struct snap *s = model_api_edit(&c->w.api, j);
	s->job.status = (struct job_status){
		.has_start_time = true, .start_ms = c->w.now_ms, .active = 1, .ready = 1};
	write_of(c, j, s, false);
}

static void open_crowd(struct crowd *c, size_t n, int64_t after_ms)
{
	*c = (struct crowd){0};
	world_init(&c->w);
	c->w.mass_stop_after_ms = after_ms;
	turn(&c->w);
	for (size_t i = 0; i < n; i++)
		submit_one(c);
	for (size_t i = 0; i < n; i++)
		see_it_run(c, c->job[i]);
	turn(&c->w);
	c->w.notes[0] = '\0';
}

/* The controller ends, and another one begins. */
static void restart(struct crowd *c)
{
	gate_free(c->w.gate);
	queue_free(c->w.queue);
	c->w.now_ms += 60000;
	c->w.tick_ms += 60000;
	gate_up(&c->w);
	gate_begin_list(c->w.gate);
	for (size_t i = 0; i < c->n; i++)
		gate_see_job(c->w.gate, &c->job[i]->now->job);
	gate_end_list(c->w.gate);
	turn(&c->w);
}

/* drop schema sluice cascade. */
static void lose_ledger(struct crowd *c)
{
	model_ledger_free(c->w.ledger);
	c->w.ledger = model_ledger_new();
	restart(c);
}

static size_t running(const struct crowd *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->n; i++)
		n += !c->job[i]->now->job.suspend;
	return n;
}

/* Their pods are gone as soon as the Job controller hears of the stop. */
static void end_pods(struct crowd *c)
{
	for (size_t i = 0; i < c->n; i++) {
		if (!c->job[i]->now->job.suspend || !c->job[i]->now->job.status.has_start_time)
			continue;
		struct snap *s = model_api_edit(&c->w.api, c->job[i]);
		s->job.status = (struct job_status){.suspended = true};
		write_of(c, c->job[i], s, false);
	}
	turn(&c->w);
}

static void pass_time(struct crowd *c, int64_t ms)
{
	for (int64_t end_ms = c->w.now_ms + ms; c->w.now_ms < end_ms;)
		at(&c->w, c->w.now_ms + 1000);
}

static size_t count_notes(const struct crowd *c, const char *text)
{
	size_t n = 0;
	for (const char *p = c->w.notes; (p = strstr(p, text)); p++)
		n++;
	return n;
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
	assert_int_equal(count_notes(&c, "Stop: stopped (NotAdmitted)"), 10);
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
	assert_int_equal(count_notes(&c, "Stop: stopped (NotAdmitted)"), 10);
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
	assert_int_equal(count_notes(&c, "Stop: stopped (NotAdmitted)"), 4);
	world_done(&c.w);
}

static void unsuspend(struct crowd *c, struct model_job *j)
{
	struct snap *s = model_api_edit(&c->w.api, j);
	s->job.story = NULL;
	s->job.story_state = STORY_NONE;
	s->job.story_attempt = 0;
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
	assert_int_equal(count_notes(&c, "Stop: stopped (NotAdmitted)"), 4);
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
