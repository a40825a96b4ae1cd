/*
 * The first leader of this version finds what an earlier one let run: Jobs that a Job with a
 * reservation made ran without one of their own. They are counted, not stopped.
 */
#include "test/unit/gate_world.h"

#define AFTER_MS 600000
#define CHILDREN_MAX 16

static struct model_job *child[CHILDREN_MAX];

static void see_pods(struct snap *s, int64_t start_ms, int32_t pods)
{
	s->job.status = (struct job_status){
		.has_start_time = true, .start_ms = start_ms, .active = pods, .ready = pods};
}

/* It runs: made by train, of cpu millicores, and never seen by the leader of now. */
static void make_child(struct world *w, size_t i, const char *owner, int64_t cpu)
{
	static struct snap draft[CHILDREN_MAX];
	static char name[CHILDREN_MAX][16];
	struct snap *n = &draft[i];
	*n = (struct snap){0};
	snprintf(name[i], sizeof(name[i]), "child-%zu", i);
	n->request[0] = (struct resource){"cpu", cpu};
	n->container.requests = (struct resource_list){n->request, 1};
	n->job = (struct job){.ns = "team-a",
		.name = name[i],
		.queue = "main",
		.priority_class = "",
		.pod_priority_class = "",
		.parallelism = 1,
		.completions = 1,
		.has_completions = true,
		.family = owner};
	child[i] = model_api_create(&w->api, n);
	struct snap *s = model_api_edit(&w->api, child[i]);
	see_pods(s, w->now_ms, 1);
	model_api_write(&w->api, s, false);
}

/* train runs with 1000 of 4000. */
static void open_upgrade(struct world *w)
{
	world_init(w);
	w->mass_stop_after_ms = AFTER_MS;
	turn(w);
	have_it_run(w);
}

/* The new version takes over, with another Job waiting that would take what the children use. */
static void upgrade(struct world *w, size_t n)
{
	gate_free(w->gate);
	queue_free(w->queue);
	w->now_ms += 60000;
	w->tick_ms += 60000;
	w->notes[0] = '\0';
	gate_up(w);
	gate_begin_list(w->gate);
	gate_see_job(w->gate, &w->j->now->job);
	for (size_t i = 0; i < n; i++)
		gate_see_job(w->gate, &child[i]->now->job);
	gate_end_list(w->gate);
}

static struct model_job *make_waiting(struct world *w, int64_t cpu)
{
	static struct snap n;
	n = (struct snap){0};
	n.request[0] = (struct resource){"cpu", cpu};
	n.container.requests = (struct resource_list){n.request, 1};
	n.job = (struct job){.ns = "team-a",
		.name = "waiting",
		.queue = "main",
		.priority_class = "",
		.pod_priority_class = "",
		.suspend = true,
		.parallelism = 1,
		.completions = 1,
		.has_completions = true,
		.family = ""};
	struct model_job *j = model_api_create(&w->api, &n);
	gate_see_job(w->gate, &j->now->job);
	return j;
}

static int64_t held_cpu(const struct world *w)
{
	const struct model_hold *const *holds;
	int64_t cpu = 0;
	for (size_t n = model_ledger_holds(w->ledger, &holds); n-- > 0;)
		if (holds[n]->open && holds[n]->hold.nlines > 0)
			cpu += holds[n]->hold.lines[0].amount;
	return cpu;
}

static void write_child(struct world *w, size_t i, struct snap *s)
{
	model_api_write(&w->api, s, false);
	gate_see_job(w->gate, &child[i]->now->job);
	turn(w);
}

static size_t running(size_t n)
{
	size_t runs = 0;
	for (size_t i = 0; i < n; i++)
		runs += !child[i]->now->job.suspend;
	return runs;
}

static void children_are_counted_before_anything_starts(void **state)
{
	struct world w;
	(void)state;
	open_upgrade(&w);
	for (size_t i = 0; i < 2; i++)
		make_child(&w, i, "Job/train", 1000);
	upgrade(&w, 2);
	struct model_job *other = make_waiting(&w, 2000);
	turn(&w);
	at(&w, w.now_ms + 60000);
	assert_int_equal(running(2), 2);
	assert_int_equal(held_cpu(&w), 3000);
	assert_true(other->now->job.suspend);
	assert_int_equal(w.sent[INTENT_STOP], 0);
	assert_non_null(strstr(w.notes, "counted"));

	struct snap *s = model_api_edit(&w.api, child[0]);
	s->job.status.complete = true;
	s->job.status.active = s->job.status.ready = 0;
	s->job.status.succeeded = 1;
	write_child(&w, 0, s);
	assert_int_equal(held_cpu(&w), 4000);
	assert_false(other->now->job.suspend);
	world_done(&w);
}

/* The next leader finds the reservation, and nothing else to do; also where the first died before
 * it said that the run began. */
static void a_counted_child_is_adopted_as_any_run(void **state)
{
	(void)state;
	for (int dies = 0; dies < 2; dies++) {
		struct world w;
		open_upgrade(&w);
		make_child(&w, 0, "Job/train", 1000);
		upgrade(&w, 1);
		for (int round = 0; round < 50; round++) {
			const struct intent *i;
			gate_step(w.gate, w.now_ms, w.tick_ms);
			if (dies && w.sent[INTENT_BATCH] > 0 && held_cpu(&w) == 2000)
				break; /* only the RESERVE was sent */
			while ((i = gate_take_intent(w.gate)))
				i->kind <= INTENT_BATCH ? answer_ledger(&w, i) : answer_job(&w, i);
		}
		take_notes(&w);
		assert_int_equal(held_cpu(&w), 2000);
		upgrade(&w, 1);
		turn(&w);
		at(&w, w.now_ms + 60000);
		assert_int_equal(running(1), 1);
		assert_int_equal(w.sent[INTENT_STOP], 0);
		assert_int_equal(held_cpu(&w), 2000);
		world_done(&w);
	}
}

/* Four of six do not fit: few, and stopped as any that was not let in. */
static void few_that_do_not_fit_are_stopped(void **state)
{
	struct world w;
	(void)state;
	open_upgrade(&w);
	for (size_t i = 0; i < 6; i++)
		make_child(&w, i, "Job/train", 1500);
	upgrade(&w, 6);
	turn(&w);
	assert_int_equal(running(6), 2);
	assert_int_equal(held_cpu(&w), 4000);
	world_done(&w);
}

/* As many as a lost ledger leaves: they wait for a word, and nothing starts. */
static void many_that_do_not_fit_are_a_mass(void **state)
{
	struct world w;
	struct gate_mass_stop m;
	(void)state;
	open_upgrade(&w);
	for (size_t i = 0; i < 12; i++)
		make_child(&w, i, "Job/train", 1500);
	upgrade(&w, 12);
	turn(&w);
	assert_int_equal(running(12), 12);
	assert_true(gate_mass_stop(w.gate, &m));
	assert_int_equal(m.jobs, 10);
	for (int64_t end_ms = w.now_ms + AFTER_MS + 5000; w.now_ms < end_ms;)
		at(&w, w.now_ms + 1000);
	assert_int_equal(running(12), 2);
	world_done(&w);
}

/* An earlier version would have stopped it as well: its owner holds nothing, or it has none. */
static void a_run_without_such_an_owner_is_stopped(void **state)
{
	static const char *const family[] = {"Job/unknown", "CronJob/train", ""};
	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct world w;
		open_upgrade(&w);
		make_child(&w, 0, family[k], 1000);
		upgrade(&w, 1);
		turn(&w);
		assert_int_equal(running(1), 0);
		assert_int_equal(held_cpu(&w), 1000);
		world_done(&w);
	}
}

/* Only what is found as the lead begins. */
static void one_that_comes_later_is_stopped(void **state)
{
	struct world w;
	(void)state;
	open_upgrade(&w);
	upgrade(&w, 0);
	turn(&w);
	make_child(&w, 0, "Job/train", 1000);
	gate_see_job(w.gate, &child[0]->now->job);
	turn(&w);
	assert_int_equal(running(1), 0);
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_are_counted_before_anything_starts),
		cmocka_unit_test(a_counted_child_is_adopted_as_any_run),
		cmocka_unit_test(few_that_do_not_fit_are_stopped),
		cmocka_unit_test(many_that_do_not_fit_are_a_mass),
		cmocka_unit_test(a_run_without_such_an_owner_is_stopped),
		cmocka_unit_test(one_that_comes_later_is_stopped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
