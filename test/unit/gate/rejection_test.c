/*
 * Pods that a kubelet rejected: what is told, once for each reason of a run, what is explained while
 * the run goes on and after it, and which run stops before its Job fails of them. The real gate and queue against the simulation's models; what
 * is said of pods is the test's.
 */
#include "world.h"

#include "controller/gate/rejection.h"

#define CPU "Node didn't have enough resource: cpu, requested: 2, used: 1, capacity: 2"

static struct rejected_pod pod(
	const struct world *w, unsigned n, int64_t made_ms, const char *reason)
{
	struct rejected_pod p = {.job = w->j->now->job.uid,
		.made_ms = made_ms,
		.ns = "team-a",
		.job_name = "train",
		.node = "n1",
		.clusterqueue = "batch",
		.message = CPU};
	p.uid.byte[14] = (uint8_t)(n >> 8);
	p.uid.byte[15] = (uint8_t)n;
	snprintf(p.reason, sizeof(p.reason), "%s", reason);
	return p;
}

static void see(struct world *w, unsigned n, int64_t made_ms, const char *reason)
{
	struct rejected_pod p = pod(w, n, made_ms, reason);
	gate_see_rejected_pod(w->gate, &p);
	turn(w);
}

static size_t told(const struct world *w)
{
	size_t n = 0;
	for (const char *p = w->notes; (p = strstr(p, "RejectedPod: ")); p++)
		n++;
	return n;
}

static const char *explained(struct world *w)
{
	static struct explanation x;
	if (!gate_explain(w->gate, "team-a", "train", w->now_ms, &x))
		return "";
	assert_int_equal(x.reason, WAIT_NOT);
	return x.sentence;
}

static void a_rejected_pod_is_told_once_for_each_reason(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_it_run(&w);
	see(&w, 1, T0 + 1000, "OutOfcpu");
	assert_int_equal(told(&w), 1);
	assert_non_null(
		strstr(w.notes, "the kubelet of node n1 rejected a pod of it: OutOfcpu: " CPU
				"; it counts against backoffLimit"));
	see(&w, 1, T0 + 1000, "OutOfcpu"); /* a list tells it again */
	see(&w, 2, T0 + 2000, "OutOfcpu");
	assert_int_equal(told(&w), 1);
	see(&w, 3, T0 + 3000, "NodeAffinity");
	assert_int_equal(told(&w), 2);
	world_done(&w);
}

static void it_is_explained_while_the_run_goes_on(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_it_run(&w);
	assert_null(strstr(explained(&w), "rejected"));
	see(&w, 1, T0 + 1000, "OutOfcpu");
	see(&w, 2, T0 + 2000, "OutOfmemory");
	assert_non_null(strstr(explained(&w), "runs since 2"));
	assert_non_null(strstr(explained(&w),
		", but the kubelet of node n1 rejected a pod of it, the last of 2 that were rejected: OutOfmemory: "));
	assert_non_null(strstr(explained(&w), "podFailurePolicy: {rules: [{action: Ignore"));
	struct rejected_pod second = pod(&w, 2, 0, "");
	rejections_lose(gate_rejections(w.gate), &second.uid);
	assert_non_null(strstr(explained(&w), "rejected a pod of it: OutOfcpu"));
	/* A list in which none is left. */
	rejections_begin(gate_rejections(w.gate));
	rejections_end(gate_rejections(w.gate));
	assert_null(strstr(explained(&w), "rejected"));
	world_done(&w);
}

static void a_pod_of_an_earlier_run_is_no_news(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_it_run(&w);
	see(&w, 1, T0 - 60000, "OutOfcpu");
	assert_int_equal(told(&w), 0);
	assert_null(strstr(explained(&w), "rejected"));
	world_done(&w);
}

/* With an owner reference that a stranger wrote. */
static void a_pod_of_another_namespace_says_nothing_of_a_job(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_it_run(&w);
	struct rejected_pod p = pod(&w, 1, T0 + 1000, "OutOfcpu");
	snprintf(p.ns, sizeof(p.ns), "team-b");
	gate_see_rejected_pod(w.gate, &p);
	turn(&w);
	assert_int_equal(told(&w), 0);
	assert_null(strstr(explained(&w), "rejected"));
	world_done(&w);
}

/* As after the controller was restarted: the gate has never seen the Job. */
static void a_job_that_is_forgotten_is_explained_by_its_pods(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_it_run(&w);
	struct rejected_pod p = pod(&w, 1, T0 + 1000, "OutOfcpu");
	p.job.byte[0] ^= 0xff;
	snprintf(p.job_name, sizeof(p.job_name), "failed");
	gate_see_rejected_pod(w.gate, &p);
	turn(&w);
	assert_int_equal(told(&w), 0);
	struct explanation x;
	assert_true(gate_explain(w.gate, "team-a", "failed", w.now_ms, &x));
	assert_int_equal(x.reason, WAIT_NOT);
	assert_string_equal(x.clusterqueue, "batch");
	assert_non_null(strstr(
		x.sentence, "has ended; the kubelet of node n1 rejected a pod of it: OutOfcpu"));
	assert_false(gate_explain(w.gate, "team-b", "failed", w.now_ms, &x));
	world_done(&w);
}

static void of_very_many_the_newest_are_known(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_it_run(&w);
	for (unsigned n = 1; n <= REJECTIONS_MAX + 10; n++) {
		struct rejected_pod p = pod(&w, n, T0 + n, "OutOfcpu");
		assert_true(rejections_see(gate_rejections(w.gate), &p));
	}
	struct rejection x =
		rejections_of(gate_rejections(w.gate), "team-a", &w.j->now->job.uid, 0);
	assert_int_equal(x.pods, REJECTIONS_MAX);
	assert_int_equal(x.last->made_ms, T0 + REJECTIONS_MAX + 10);
	assert_int_equal(
		rejections_of(gate_rejections(w.gate), "team-a", &w.j->now->job.uid, T0 + 11).pods,
		REJECTIONS_MAX);
	world_done(&w);
}

/* ---- Before the limit is reached --------------------------------------------------------------
 */

/* What the Job controller writes: so many have failed, and so many of its two pods run. */
static void have_failed(
	struct world *w, int32_t failed, int32_t uncounted, int32_t limit, int32_t ready)
{
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.backoff_limit = limit;
	s->job.status.failed_pods = failed;
	s->job.status.uncounted_failed = uncounted;
	s->job.status.active = s->job.status.ready = ready;
	write_job(w, s, false);
}

static void a_run_stops_when_one_more_rejected_pod_would_fail_its_job(void **state)
{
	static const struct {
		const char *what;
		int32_t failed, uncounted, limit, ready;
		bool rejected, stops;
	} rows[] = {
		{"at the limit", 1, 0, 1, 1, true, true},
		{"at it by earlier failures", 6, 0, 6, 1, true, true},
		{"at it with what is about to be counted", 2, 1, 3, 0, true, true},
		{"below it", 1, 0, 2, 1, true, false},
		{"beyond it: it has failed already", 2, 0, 1, 1, true, false},
		{"no failure is borne", 0, 0, 0, 1, true, false},
		{"none of its failed pods was rejected", 1, 0, 1, 1, false, false},
		{"the next pod runs", 1, 0, 1, 2, true, false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		for (int pod_first = 0; pod_first < 2; pod_first++) {
			struct world w;
			world_init(&w);
			have_it_run(&w);
			if (rows[i].rejected && pod_first)
				see(&w, 1, T0 + 1000, "OutOfcpu");
			have_failed(&w, rows[i].failed, rows[i].uncounted, rows[i].limit,
				rows[i].ready);
			if (rows[i].rejected && !pod_first)
				see(&w, 1, T0 + 1000, "OutOfcpu");
			if (w.j->now->job.suspend != rows[i].stops)
				fail_msg("%s: it %s", rows[i].what,
					rows[i].stops ? "goes on" : "is stopped");
			world_done(&w);
		}
	}
}

/* The Job controller has seen the stop; the start. */
static void see_it_stop(struct world *w)
{
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.status =
		(struct job_status){.suspended = true, .failed_pods = s->job.status.failed_pods};
	write_job(w, s, false);
}

static void see_it_start(struct world *w)
{
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.status.suspended = false;
	s->job.status.has_start_time = true;
	s->job.status.start_ms = w->now_ms;
	s->job.status.active = s->job.status.ready = 1; /* the other lacks still */
	write_job(w, s, false);
}

/* It is not held, and comes back by itself, each time after twice as long. */
static void it_is_queued_again_after_a_pause(void **state)
{
	struct world w;
	struct explanation x;
	int64_t pause_ms = 10000;
	(void)state;
	world_init(&w);
	have_it_run(&w);
	for (unsigned i = 1; i <= 4; i++, pause_ms *= 2) {
		at(&w, w.now_ms + 60000);
		see(&w, i, w.now_ms, "OutOfcpu");
		have_failed(&w, (int32_t)i, 0, (int32_t)i, 0);
		assert_true(w.j->now->job.suspend);
		assert_string_equal(w.last[NOTE_STOP].reason, "BackoffLimitNear");
		assert_non_null(strstr(w.last[NOTE_STOP].text, "OutOfcpu: " CPU));
		assert_false(w.last[NOTE_STOP].on_hold);
		assert_non_null(strstr(w.j->now->job.admission.story, "BackoffLimitNear"));
		see_it_stop(&w);
		assert_null(w.j->now->job.hold);
		assert_false(first_reservation(&w)->open);
		assert_true(gate_explain(w.gate, "team-a", "train", w.now_ms, &x));
		assert_non_null(strstr(x.sentence, "one more failed pod would fail the Job"));
		at(&w, w.now_ms + pause_ms - 1000);
		assert_true(w.j->now->job.suspend);
		at(&w, w.now_ms + 1000);
		assert_false(w.j->now->job.suspend);
		/* The pods of before are not those of this run, though the count goes on. */
		see_it_start(&w);
		assert_false(w.j->now->job.suspend);
	}
	world_done(&w);
}

/* Nobody led when it came to its limit. */
static void a_successor_stops_it_once_it_knows_its_pods(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_it_run(&w);
	struct snap *s = model_api_edit(&w.api, w.j);
	s->job.backoff_limit = s->job.status.failed_pods = 1;
	s->job.status.active = s->job.status.ready = 1;
	model_api_write(&w.api, s, false);
	world_restart(&w);
	turn(&w);
	assert_false(w.j->now->job.suspend);
	see(&w, 1, T0 + 1000, "OutOfcpu");
	assert_true(w.j->now->job.suspend);
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rejected_pod_is_told_once_for_each_reason),
		cmocka_unit_test(it_is_explained_while_the_run_goes_on),
		cmocka_unit_test(a_pod_of_an_earlier_run_is_no_news),
		cmocka_unit_test(a_pod_of_another_namespace_says_nothing_of_a_job),
		cmocka_unit_test(a_job_that_is_forgotten_is_explained_by_its_pods),
		cmocka_unit_test(of_very_many_the_newest_are_known),
		cmocka_unit_test(a_run_stops_when_one_more_rejected_pod_would_fail_its_job),
		cmocka_unit_test(it_is_queued_again_after_a_pause),
		cmocka_unit_test(a_successor_stops_it_once_it_knows_its_pods),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
