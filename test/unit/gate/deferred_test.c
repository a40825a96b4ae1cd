/* Jobs beyond what may wait (queue/core/model/overflow.h): by name alone until they have their turn. */
#include "queue/core/model/overflow.h"
#include "test/unit/core/inside.h"
#include "world.h"

enum { JOBS = 80 };

static struct model_job *made[JOBS];
static struct snap draft[JOBS];

/* main has room for max that wait; other for all. */
/* As many again may run or ran: less than in earnest, so that a few Jobs meet the end. */
static void limit(struct world *w, int32_t max)
{
	inside_overflow(w->queue)->beside = 0;
	struct localqueue_spec main = {.ns = "team-a",
		.name = "main",
		.clusterqueue = "batch",
		.weight = 1,
		.limits.max_waiting = max};
	struct localqueue_spec other = {
		.ns = "team-a", .name = "other", .clusterqueue = "batch", .weight = 1};
	assert_int_equal(queue_set_localqueue(w->queue, &main, NULL), 0);
	assert_int_equal(queue_set_localqueue(w->queue, &other, NULL), 0);
}

static const char *name_of(size_t i)
{
	static char name[JOBS][16];
	snprintf(name[i], sizeof(name[i]), "job-%02zu", i);
	return name[i];
}

/* The i-th in the order of creation; 4000 is all there is. */
static void make(struct world *w, size_t i, const char *queue, int64_t cpu)
{
	struct snap *n = &draft[i];
	*n = (struct snap){0};
	n->request[0] = (struct resource){"cpu", cpu};
	n->container.requests = (struct resource_list){n->request, 1};
	n->job = (struct job){.ns = "team-a",
		.name = name_of(i),
		.queue = queue,
		.priority_class = "",
		.pod_priority_class = "",
		.suspend = true,
		.parallelism = 1,
		.completions = 1,
		.has_completions = true,
		.created_ms = T0 + (int64_t)i * 1000,
		.family = ""};
	made[i] = model_api_create(&w->api, n);
}

static void see(struct world *w, size_t i)
{
	gate_see_job(w->gate, &made[i]->now->job);
}

static size_t known(const struct world *w)
{
	struct gate_counts c;
	gate_count(w->gate, &c);
	return c.jobs;
}

static bool deferred(const struct world *w, size_t i)
{
	struct explanation x;
	return gate_explain(w->gate, "team-a", name_of(i), w->now_ms, &x) &&
	       x.reason == WAIT_TOO_MANY;
}

static void lose(struct world *w, size_t i)
{
	gate_lose_job(w->gate, &made[i]->now->job.uid);
	turn(w);
}

/* Five too large Jobs, of which two may wait; seen with the youngest first. */
static void five_of_which_two_may_wait(struct world *w)
{
	world_init(w);
	limit(w, 2);
	for (size_t i = 5; i-- > 0;)
		make(w, i, "main", 9000);
	for (size_t i = 5; i-- > 0;)
		see(w, i);
	turn(w);
	assert_int_equal(known(w), 2);
	assert_true(deferred(w, 0) && deferred(w, 1) && deferred(w, 2));
	assert_false(deferred(w, 3) || deferred(w, 4));
	assert_int_equal(w->sent[INTENT_READ], 0);
}

static void a_deferred_job_is_read_again_when_it_has_its_turn(void **state)
{
	struct world w;
	(void)state;
	five_of_which_two_may_wait(&w);
	lose(&w, 4);
	assert_int_equal(w.sent[INTENT_READ], 1);
	assert_int_equal(known(&w), 2);
	assert_false(deferred(&w, 0)); /* the first that was created */
	assert_true(deferred(&w, 1) && deferred(&w, 2));
	struct explanation x;
	assert_true(gate_explain(w.gate, "team-a", name_of(0), w.now_ms, &x));
	assert_int_equal(x.reason, WAIT_EXCEEDS_MAX);
	assert_int_equal(x.queued_ms, T0);
	world_done(&w);
}

static void one_that_is_gone_by_then_costs_a_look(void **state)
{
	struct world w;
	(void)state;
	five_of_which_two_may_wait(&w);
	for (size_t i = 0; i < 3; i++)
		model_api_remove(&w.api, made[i]); /* and nobody has told it yet */
	lose(&w, 4);
	assert_int_equal(w.sent[INTENT_READ], 3); /* each deferred one, once */
	assert_int_equal(known(&w), 1);
	world_done(&w);
}

/* Or sixteen of them would keep all others from theirs, and the API server busy. */
static void one_that_cannot_be_read_lets_others_have_their_turn(void **state)
{
	struct world w;
	(void)state;
	five_of_which_two_may_wait(&w);
	gate_lose_job(w.gate, &made[4]->now->job.uid);
	size_t reads = 0;
	for (int second = 0; second < 60; second++, w.now_ms += 1000, w.tick_ms += 1000) {
		const struct intent *i;
		gate_step(w.gate, w.now_ms, w.tick_ms);
		while ((i = gate_take_intent(w.gate))) {
			struct job_answer busy = {.outcome = JOB_BUSY};
			if (i->kind <= INTENT_BATCH) {
				answer_ledger(&w, i);
				continue;
			}
			if (uid_cmp(&i->uid, &made[0]->now->job.uid) != 0) {
				answer_job(&w, i);
				continue;
			}
			reads++;
			gate_answer_job(w.gate, i->id, &busy);
		}
		take_notes(&w);
	}
	assert_in_range(reads, 1, 4);
	assert_true(deferred(&w, 0));
	assert_false(deferred(&w, 1)); /* it has the place */
	assert_true(deferred(&w, 2));
	lose(&w, 1);
	lose(&w, 2);
	lose(&w, 3);
	assert_false(deferred(&w, 0));
	world_done(&w);
}

/* Or one namespace, whose Jobs are slow to read, would keep all others from theirs. */
static void one_namespace_has_no_more_than_four_places_to_read(void **state)
{
	struct world w;
	size_t reads[2] = {0};
	const struct intent *i;
	(void)state;
	world_init(&w);
	limit(&w, 1);
	turn(&w);
	for (size_t k = 0; k < 42; k++) {
		make(&w, k, "main", 9000);
		if (k >= 40) {
			struct snap *s = model_api_edit(&w.api, made[k]);
			s->job.ns = "team-b";
			model_api_write(&w.api, s, false);
		}
	}
	struct localqueue_spec b = {.ns = "team-b",
		.name = "main",
		.clusterqueue = "batch",
		.weight = 1,
		.limits.max_waiting = 1};
	assert_int_equal(queue_set_localqueue(w.queue, &b, NULL), 0);
	for (size_t k = 0; k < 42; k++)
		see(&w, k);
	turn(&w);
	assert_int_equal(known(&w), 2);
	limit(&w, 100);
	gate_step(w.gate, w.now_ms, w.tick_ms);
	b.limits.max_waiting = 100; /* its admin comes a moment later */
	assert_int_equal(queue_set_localqueue(w.queue, &b, NULL), 0);
	gate_step(w.gate, w.now_ms, w.tick_ms);
	struct intent asked[32];
	size_t n = 0;
	while ((i = gate_take_intent(w.gate)))
		if (i->kind == INTENT_READ) {
			reads[strcmp(i->ns, "team-b") == 0]++;
			asked[n++] = *i;
		}
	assert_int_equal(reads[0], 4);
	assert_int_equal(reads[1], 1);
	for (size_t k = 0; k < n; k++)
		answer_job(&w, &asked[k]);
	turn(&w);
	assert_int_equal(known(&w), 42);
	world_done(&w);
}

static void what_a_list_does_not_have_any_more_is_not_deferred(void **state)
{
	struct world w;
	(void)state;
	five_of_which_two_may_wait(&w);
	lose(&w, 0); /* the watch tells of one, the list of another */
	assert_false(deferred(&w, 0));
	gate_begin_list(w.gate);
	for (size_t i = 1; i < 5; i += i == 1 ? 2 : 1)
		see(&w, i);
	gate_end_list(w.gate);
	turn(&w);
	assert_true(deferred(&w, 1));
	assert_false(deferred(&w, 2));
	assert_int_equal(known(&w), 2);
	world_done(&w);
}

static void finished_while_deferred_it_is_forgotten(void **state)
{
	struct world w;
	(void)state;
	five_of_which_two_may_wait(&w);
	struct snap *s = model_api_edit(&w.api, made[1]);
	s->job.status.failed = true;
	model_api_write(&w.api, s, false);
	see(&w, 1);
	turn(&w);
	assert_false(deferred(&w, 1));
	assert_int_equal(known(&w), 2);
	world_done(&w);
}

/* Or each queue but the first would be a way round the limit. */
static void jobs_that_change_their_label_are_deferred_as_well(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	limit(&w, 2);
	for (size_t i = 0; i < JOBS; i++) {
		make(&w, i, "other", 9000);
		see(&w, i);
	}
	turn(&w);
	assert_int_equal(known(&w), JOBS);
	for (size_t i = 0; i < JOBS; i++) {
		struct snap *s = model_api_edit(&w.api, made[i]);
		s->job.queue = "main";
		model_api_write(&w.api, s, false);
		see(&w, i);
		turn(&w);
	}
	assert_true(known(&w) < 2 + 64 + 1);
	assert_true(deferred(&w, JOBS - 1));
	limit(&w, JOBS);
	turn(&w);
	assert_int_equal(known(&w), JOBS);
	world_done(&w);
}

/* Its start was reserved and never landed, its leader died, and to the next it is one too many. */
static void a_deferred_job_with_an_open_hold_is_adopted(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	make(&w, 0, "main", 1000);
	see(&w, 0);
	w.outcome = JOB_IN_DOUBT;
	turn(&w);
	assert_int_equal(w.sent[INTENT_START], 1);
	assert_true(made[0]->now->job.suspend);
	assert_int_equal(
		uid_cmp(&first_reservation(&w)->reservation.uid, &made[0]->now->job.uid), 0);
	gate_free(w.gate);
	queue_free(w.queue);
	w.now_ms += 60000;
	w.tick_ms += 60000;
	w.j = NULL;
	gate_up(&w);
	limit(&w, 1);
	make(&w, 1, "main", 9000);
	see(&w, 1);
	see(&w, 0);
	assert_true(deferred(&w, 0));
	turn(&w);
	assert_false(deferred(&w, 0));
	for (int i = 0; i < 10; i++)
		at(&w, w.now_ms + 15000);
	/* The old start was called off for good, and it was let in anew. */
	assert_int_equal(made[0]->now->job.admission.state, STORY_STARTED);
	assert_true(made[0]->now->job.admission.attempt > 1);
	world_done(&w);
}

/* ---- Jobs with a story ------------------------------------------------------------------------
 *
 * They ran before, or others than Sluice let them run: their pods' directives count as well. */

#define LARGE 30000 /* a value that is kept twice: 15 times what counts as one Job */
#define STORY "{\"state\":\"Stopped\",\"attempt\":1}"

static const char *large_value(size_t i)
{
	static char value[JOBS][LARGE];
	memset(value[i], 'x', LARGE - 1);
	snprintf(value[i], LARGE, "%zu", i);
	value[i][strlen(value[i])] = 'x';
	return value[i];
}

static void widen(struct world *w, size_t i)
{
	static struct label wide[JOBS];
	struct snap *s = model_api_edit(&w->api, made[i]);
	wide[i] = (struct label){"example.com/key", large_value(i)};
	s->job.placement = (struct placement){.node_selector = &wide[i], .nnode_selector = 1};
	model_api_write(&w->api, s, true);
}

/* It was started and stopped once, and asks for more than there is. */
static void make_stopped(struct world *w, size_t i)
{
	make(w, i, "main", 9000);
	struct snap *s = model_api_edit(&w->api, made[i]);
	s->job.admission.story = STORY;
	s->job.admission.state = STORY_STOPPED;
	s->job.admission.attempt = 1;
	s->job.status.suspended = true;
	model_api_write(&w->api, s, false);
}

static size_t kept_bytes(const struct world *w)
{
	return queue_memory_bytes(w->queue);
}

/* Twice what may wait, and the slack that waiting Jobs have, in what counts as one Job. */
static size_t most_bytes(size_t max)
{
	return 2 * (max + 64) * 4096 + JOBS * 1024;
}

static void one_that_ran_may_not_grow_past_what_is_kept(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	limit(&w, JOBS);
	for (size_t i = 0; i < JOBS; i++) {
		make_stopped(&w, i);
		see(&w, i);
	}
	turn(&w);
	assert_int_equal(known(&w), JOBS);
	limit(&w, 2);
	turn(&w);
	assert_int_equal(known(&w), JOBS); /* as many as that are kept of an ordinary size */
	for (size_t i = 0; i < JOBS; i++) {
		widen(&w, i);
		see(&w, i); /* in one burst */
		assert_true(kept_bytes(&w) < most_bytes(2));
	}
	turn(&w);
	assert_true(kept_bytes(&w) < most_bytes(2));
	assert_true(deferred(&w, JOBS - 1));
	struct explanation x;
	assert_true(gate_explain(w.gate, "team-a", name_of(0), w.now_ms, &x));
	assert_int_equal(x.reason, WAIT_EXCEEDS_MAX);
	limit(&w, JOBS * 16); /* all of it is read again, and kept */
	turn(&w);
	assert_int_equal(known(&w), JOBS);
	assert_false(deferred(&w, JOBS - 1));
	assert_true(kept_bytes(&w) > (size_t)JOBS * LARGE * 2);
	world_done(&w);
}

/* What runs without a reservation is kept by what it asks for alone, until it is stopped. */
static void labels_on_jobs_that_run_fill_nothing(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	limit(&w, 2);
	turn(&w);
	for (size_t i = 0; i < JOBS; i++) {
		make(&w, i, "main", 0);
		struct snap *s = model_api_edit(&w.api, made[i]);
		s->job.suspend = false;
		s->job.parallelism = 0;
		model_api_write(&w.api, s, false);
		widen(&w, i);
		see(&w, i);
		assert_true(kept_bytes(&w) < most_bytes(2));
	}
	turn(&w);
	assert_int_equal(w.sent[INTENT_STOP], JOBS);
	for (size_t i = 0; i < JOBS; i++) {
		assert_true(made[i]->now->job.suspend);
		struct snap *s = model_api_edit(&w.api, made[i]);
		s->job.status.suspended = true;
		s->job.hold = "later"; /* or they would have their turn */
		model_api_write(&w.api, s, false);
		see(&w, i);
	}
	turn(&w);
	assert_true(kept_bytes(&w) < most_bytes(2));
	assert_true(known(&w) < 2 * 2 + 2 * 64);
	assert_true(deferred(&w, JOBS - 1));
	world_done(&w);
}

/* It was stopped by no fault of its own: it waits with the others, though more than may. */
static void one_that_ran_is_not_behind_those_that_are_deferred(void **state)
{
	struct world w;
	(void)state;
	five_of_which_two_may_wait(&w);
	make_stopped(&w, 5);
	see(&w, 5);
	turn(&w);
	assert_false(deferred(&w, 5));
	assert_int_equal(known(&w), 3);
	world_done(&w);
}

/* To a new leader it is one too many until its reservation is adopted; then it is read whole. */
static void a_run_that_was_cut_is_read_again(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	make(&w, 0, "main", 1000);
	see(&w, 0);
	turn(&w);
	assert_int_equal(w.sent[INTENT_START], 1);
	widen(&w, 0); /* while nobody looks */
	for (size_t i = 1; i < 20; i++) {
		make_stopped(&w, i);
		widen(&w, i);
	}
	gate_free(w.gate);
	queue_free(w.queue);
	w.now_ms += 60000;
	w.tick_ms += 60000;
	gate_up(&w);
	limit(&w, 2);
	for (size_t i = 20; i-- > 0;)
		see(&w, i);
	const struct uid *uid = &made[0]->now->job.uid;
	assert_true(queue_job_is_cut(w.queue, uid));
	turn(&w);
	assert_false(made[0]->now->job.suspend);
	assert_false(queue_job_is_cut(w.queue, uid));
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deferred_job_is_read_again_when_it_has_its_turn),
		cmocka_unit_test(one_that_is_gone_by_then_costs_a_look),
		cmocka_unit_test(one_that_cannot_be_read_lets_others_have_their_turn),
		cmocka_unit_test(one_namespace_has_no_more_than_four_places_to_read),
		cmocka_unit_test(what_a_list_does_not_have_any_more_is_not_deferred),
		cmocka_unit_test(finished_while_deferred_it_is_forgotten),
		cmocka_unit_test(jobs_that_change_their_label_are_deferred_as_well),
		cmocka_unit_test(a_deferred_job_with_an_open_hold_is_adopted),
		cmocka_unit_test(one_that_ran_may_not_grow_past_what_is_kept),
		cmocka_unit_test(labels_on_jobs_that_run_fill_nothing),
		cmocka_unit_test(one_that_ran_is_not_behind_those_that_are_deferred),
		cmocka_unit_test(a_run_that_was_cut_is_read_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
