/*
 * What becomes of a run whose pods are stuck: when its pods are wanted, what is told, and what
 * stays of it in the story. The real gate and queue against the simulation's models of the API
 * server and the ledger; what is said of pods is the test's.
 */
#include "world.h"

#define NO_NODE "0/20 nodes are available: 20 Insufficient cpu."

static void begin(struct world *w)
{
	world_init(w);
	gate_free(w->gate);
	queue_free(w->queue);
	w->stuck_after_ms = 10000;
	gate_up(w);
}

/* So many pods there are, and are ready, of the two. */
static void status(struct world *w, int32_t active, int32_t ready)
{
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.status.active = active;
	s->job.status.ready = ready;
	write_job(w, s, false);
}

/* It was started at T0, and has two pods of which none is ready. */
static void have_it_stuck(struct world *w)
{
	begin(w);
	have_it_run(w);
	status(w, 2, 0);
}

static struct uid pod_uid(unsigned n)
{
	struct uid uid = {{0}};
	uid.byte[15] = (uint8_t)n;
	return uid;
}

static void pod(struct world *w, unsigned n, enum trouble_word word, const char *message)
{
	struct trouble_pod p = {.uid = pod_uid(n),
		.job = w->j->now->job.uid,
		.pending_ms = T0 + 1000,
		.word = word,
		.since_ms = T0 + 2000,
		.message = message};
	troubles_see_pod(gate_troubles(w->gate), &p, w->tick_ms);
}

static void lose(struct world *w, unsigned n)
{
	struct uid uid = pod_uid(n);
	troubles_lose_pod(gate_troubles(w->gate), &uid);
}

static void refuse(struct world *w, int64_t at_ms, const char *message)
{
	struct trouble_refusal r = {
		.job = w->j->now->job.uid, .first_ms = at_ms, .last_ms = at_ms, .message = message};
	gate_see_refusal(w->gate, &r);
}

static const char *explained(struct world *w)
{
	static struct explanation x;
	assert_true(gate_explain(w->gate, "team-a", "train", w->now_ms, &x));
	return x.sentence;
}

static size_t times(const struct world *w, const char *what)
{
	size_t n = 0;
	for (const char *p = w->notes; (p = strstr(p, what)); p++)
		n++;
	return n;
}

static void count_one(const struct gate_trouble *x, void *ctx)
{
	assert_string_equal(x->clusterqueue, "batch");
	assert_string_equal(x->name, "train");
	(*(size_t *)ctx)++;
}

static size_t troubled(const struct world *w)
{
	size_t n = 0;
	gate_each_trouble(w->gate, count_one, &n);
	return n;
}

/* ---- when pods are wanted -------------------------------------------------------------------- */

static void nobody_asks_while_all_is_well(void **state)
{
	struct world w;
	(void)state;
	begin(&w);
	have_it_run(&w);
	for (int64_t s = 1; s < 60; s++)
		at(&w, T0 + s * 1000);
	assert_false(gate_wants_pods(w.gate));
	world_done(&w);
}

static void pods_are_wanted_after_a_while_and_refusals_where_some_are_missing(void **state)
{
	struct world w;
	(void)state;
	have_it_stuck(&w);
	at(&w, T0 + 9000);
	assert_false(gate_wants_pods(w.gate));
	at(&w, T0 + 10000);
	assert_true(gate_wants_pods(w.gate));
	assert_false(gate_wants_refusals(w.gate));
	status(&w, 1, 0);
	at(&w, T0 + 11000);
	assert_true(gate_wants_refusals(w.gate));
	status(&w, 2, 2);
	at(&w, T0 + 12000);
	assert_false(gate_wants_pods(w.gate));
	assert_false(gate_wants_refusals(w.gate));
	world_done(&w);
}

/* A pod of many that is made anew is no reason to look. */
static void one_that_was_well_has_a_while_again(void **state)
{
	struct world w;
	(void)state;
	begin(&w);
	have_it_run(&w);
	at(&w, T0 + 60000);
	status(&w, 2, 1);
	at(&w, T0 + 69000);
	assert_false(gate_wants_pods(w.gate));
	at(&w, T0 + 70000);
	assert_true(gate_wants_pods(w.gate));
	world_done(&w);
}

static void a_new_leader_asks_at_once(void **state)
{
	struct world w;
	(void)state;
	have_it_stuck(&w);
	at(&w, T0 + 1000);
	world_restart(&w);
	turn(&w);
	at(&w, w.now_ms + 1);
	assert_true(gate_wants_pods(w.gate));
	pod(&w, 1, TROUBLE_UNSCHEDULABLE, NO_NODE);
	at(&w, w.now_ms + 1000);
	assert_non_null(strstr(explained(&w), NO_NODE));
	world_done(&w);
}

static void nobody_looks_where_it_is_switched_off(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_it_run(&w);
	status(&w, 1, 0);
	pod(&w, 1, TROUBLE_UNSCHEDULABLE, NO_NODE);
	at(&w, T0 + 3600000);
	assert_false(gate_wants_pods(w.gate));
	assert_int_equal(troubled(&w), 0);
	world_done(&w);
}

/* ---- what is told ---------------------------------------------------------------------------- */

static void trouble_is_told_once_and_explained_until_it_is_over(void **state)
{
	struct world w;
	struct gate_trouble x;
	(void)state;
	have_it_stuck(&w);
	pod(&w, 1, TROUBLE_UNSCHEDULABLE, NO_NODE);
	at(&w, T0 + 12000);
	assert_string_equal(w.last[NOTE_TROUBLE].reason, "Unschedulable");
	pod(&w, 2, TROUBLE_UNSCHEDULABLE, NO_NODE); /* not once for each pod */
	at(&w, T0 + 44000);
	assert_int_equal(times(&w, "Trouble: "), 1);
	assert_int_equal(troubled(&w), 1);
	assert_string_equal(explained(&w),
		"runs since 2026-11-21T10:00:00Z, but all of its 2 pods cannot be scheduled, for "
		"42s: " NO_NODE
		"; free or add nodes, or change what the pods ask for; with clusterFit: Now "
		"on its ClusterQueue it would wait until nodes have room");
	assert_true(gate_job_trouble(w.gate, "team-a", "train", &x));
	assert_int_equal(x.pods, 2);
	assert_int_equal(x.of, 2);
	assert_int_equal(x.since_ms, T0 + 2000);
	lose(&w, 1);
	lose(&w, 2);
	at(&w, T0 + 45000);
	assert_int_equal(times(&w, "TroubleOver: "), 1);
	assert_string_equal(w.last[NOTE_TROUBLE_OVER].reason, "Unschedulable");
	assert_int_equal(troubled(&w), 0);
	assert_non_null(strstr(explained(&w), "runs since 2026-11-21T10:00:00Z: holds "));
	assert_false(gate_job_trouble(w.gate, "team-a", "train", &x));
	world_done(&w);
}

static void it_is_over_when_the_job_says_so_first(void **state)
{
	struct world w;
	(void)state;
	have_it_stuck(&w);
	pod(&w, 1, TROUBLE_UNSCHEDULABLE, NO_NODE);
	at(&w, T0 + 12000);
	status(&w, 2, 2);
	assert_int_equal(times(&w, "TroubleOver: "), 1);
	assert_int_equal(troubled(&w), 0);
	at(&w, T0 + 20000);
	assert_int_equal(times(&w, "Trouble: "), 1);
	world_done(&w);
}

static void a_change_of_reason_is_news_but_not_another_word_for_it(void **state)
{
	static const enum trouble_word turns[] = {TROUBLE_UNSCHEDULABLE, TROUBLE_ERR_IMAGE_PULL,
		TROUBLE_IMAGE_PULL_BACK_OFF, TROUBLE_ERR_IMAGE_PULL, TROUBLE_IMAGE_PULL_BACK_OFF};
	struct world w;
	struct gate_trouble x;
	(void)state;
	have_it_stuck(&w);
	for (int64_t i = 0; i < 5; i++) {
		pod(&w, 1, turns[i], i < 2 ? "first" : "later");
		at(&w, T0 + 12000 + i * 2000);
	}
	assert_int_equal(times(&w, "Trouble: "), 2);
	assert_true(gate_job_trouble(w.gate, "team-a", "train", &x));
	assert_string_equal(trouble_name(x.word), "ErrImagePull");
	assert_string_equal(x.message, "later");
	assert_int_equal(times(&w, "TroubleOver: "), 0);
	world_done(&w);
}

static void a_refusal_is_told_until_the_pods_are_there(void **state)
{
	struct world w;
	(void)state;
	have_it_stuck(&w);
	status(&w, 1, 1);
	refuse(&w, T0 + 3000, "exceeded quota: q");
	at(&w, T0 + 13000);
	assert_string_equal(w.last[NOTE_TROUBLE].reason, "PodsRefused");
	assert_string_equal(explained(&w),
		"runs since 2026-11-21T10:00:00Z, but 1 of its 2 pods cannot be created, for 10s: "
		"exceeded quota: q; other pods took the quota: raise the ResourceQuota, or free "
		"what uses it");
	status(&w, 2, 1);
	at(&w, T0 + 14000);
	assert_int_equal(times(&w, "TroubleOver: "), 1);
	/* What was refused then is not why a pod is missing now. */
	status(&w, 1, 1);
	at(&w, T0 + 30000);
	assert_int_equal(times(&w, "Trouble: "), 1);
	world_done(&w);
}

static void a_job_that_ends_is_in_no_trouble(void **state)
{
	struct world w;
	(void)state;
	have_it_stuck(&w);
	pod(&w, 1, TROUBLE_UNSCHEDULABLE, NO_NODE);
	at(&w, T0 + 12000);
	finish(&w);
	assert_int_equal(troubled(&w), 0);
	assert_false(strstr(w.last[NOTE_FINISH].text, "Unschedulable") != NULL);
	at(&w, T0 + 13000);
	assert_false(gate_wants_pods(w.gate));
	world_done(&w);
}

/* ---- what stays of it ------------------------------------------------------------------------ */

/* The Job controller has seen the stop, and its pods are gone. */
static void drain(struct world *w)
{
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.status = (struct job_status){.suspended = true};
	write_job(w, s, false);
}

static void a_stop_quotes_it(void **state)
{
	static const char said[] =
		"Unschedulable: 1 of its 2 pods could not be scheduled for 18s: " NO_NODE;
	struct world w;
	(void)state;
	have_it_stuck(&w);
	pod(&w, 1, TROUBLE_UNSCHEDULABLE, NO_NODE);
	at(&w, T0 + 20000);
	decide(&w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_REQUEUE_LIMIT});
	assert_non_null(strstr(w.j->now->job.admission.story,
		"\"reason\":\"DeactivatedDueToRequeuingLimitExceeded\""));
	assert_non_null(
		strstr(w.j->now->job.admission.story, "\"trouble\":\"Unschedulable: 1 of its 2"));
	assert_string_equal(w.j->now->job.admission.trouble, said);
	gate_see_job(w.gate, &w.j->now->job);
	turn(&w);
	assert_non_null(strstr(w.last[NOTE_STOP].text, said));
	assert_non_null(strstr(explained(&w), said));
	drain(&w);
	assert_non_null(strstr(explained(&w), "; its last run: Unschedulable: 1 of its 2 pods"));
	world_restart(&w); /* and who comes next knows it too */
	turn(&w);
	assert_non_null(strstr(explained(&w), "; its last run: Unschedulable: 1 of its 2 pods"));
	world_done(&w);
}

/* As on a node that has lost its power. */
static void a_pod_that_was_deleted_and_stays_is_explained(void **state)
{
	struct world w;
	(void)state;
	begin(&w);
	have_it_run(&w);
	struct snap *s = model_api_edit(&w.api, w.j);
	s->job.status.active = 1;
	s->job.status.terminating = 1;
	s->job.status.ready = 1;
	write_job(&w, s, false);
	assert_non_null(strstr(explained(&w),
		", but 1 of its pods was deleted and has not gone yet; a pod is replaced, and its quota free, only when it is gone"));
	s = model_api_edit(&w.api, w.j);
	s->job.status.active = 2;
	s->job.status.terminating = 0;
	s->job.status.ready = 2;
	write_job(&w, s, false);
	assert_null(strstr(explained(&w), "has not gone"));
	world_done(&w);
}

static void a_stop_of_one_that_was_well_says_nothing(void **state)
{
	struct world w;
	(void)state;
	begin(&w);
	have_it_run(&w);
	at(&w, T0 + 20000);
	decide(&w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_MAX_RUN});
	assert_null(strstr(w.j->now->job.admission.story, "trouble"));
	assert_null(w.j->now->job.admission.trouble);
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_asks_while_all_is_well),
		cmocka_unit_test(pods_are_wanted_after_a_while_and_refusals_where_some_are_missing),
		cmocka_unit_test(one_that_was_well_has_a_while_again),
		cmocka_unit_test(a_new_leader_asks_at_once),
		cmocka_unit_test(nobody_looks_where_it_is_switched_off),
		cmocka_unit_test(trouble_is_told_once_and_explained_until_it_is_over),
		cmocka_unit_test(it_is_over_when_the_job_says_so_first),
		cmocka_unit_test(a_change_of_reason_is_news_but_not_another_word_for_it),
		cmocka_unit_test(a_refusal_is_told_until_the_pods_are_there),
		cmocka_unit_test(a_job_that_ends_is_in_no_trouble),
		cmocka_unit_test(a_stop_quotes_it),
		cmocka_unit_test(a_pod_that_was_deleted_and_stays_is_explained),
		cmocka_unit_test(a_stop_of_one_that_was_well_says_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
