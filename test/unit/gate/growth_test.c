/*
 * Runs that grow: what goes out before what, and what becomes of it when a PATCH is refused, in
 * doubt, or overtaken; when the leader dies in between; and when a store lost a part of it.
 */
#include "world.h"

#define DOUBT_MS 10000
#define INTERVAL_MS 30000
#define QUOTA "the quota of ClusterQueue batch in window day is 1 cpu"
#define EACH 500 /* milli-CPU of a pod */

static int64_t pods_held(const struct world *w)
{
	return held_cpu(w) / EACH;
}

static void have_quota(struct world *w, int64_t pods)
{
	w->quota = pods * EACH;
	fixture_quota(w->queue, w->quota, 0);
	turn(w);
}

/* A sweep of 40 tasks, eight at once, of which three fit. */
static void have_three_of_eight_run(struct world *w)
{
	struct snap n = {0};
	w->quota = 3 * EACH;
	gate_free(w->gate);
	queue_free(w->queue);
	gate_up(w);
	n.request[0] = (struct resource){"cpu", EACH};
	n.container.requests = (struct resource_list){n.request, 1};
	n.job = (struct job){.ns = "team-a",
		.name = "sweep",
		.queue = "main",
		.priority_class = "",
		.pod_priority_class = "",
		.suspend = true,
		.parallelism = 8,
		.completions = 40,
		.has_completions = true,
		.min_parallelism = 1,
		.grow = GROW_YES};
	w->j = model_api_create(&w->api, &n);
	gate_see_job(w->gate, &w->j->now->job);
	turn(w);
	assert_int_equal(w->sent[INTENT_START], 1);
	assert_int_equal(w->j->now->job.parallelism, 3);
	have_pods(w, 3, 0);
	assert_int_equal(pods_held(w), 3);
}

static void decide_smaller_quota(struct world *w, int32_t pods)
{
	decide(w, (struct decision){.kind = DECISION_SHRINK,
			  .pods = pods,
			  .reason = STOP_REASON_WINDOW_QUOTA,
			  .why = QUOTA});
}

/* There is room for five; an interval later it has them. */
static void grow_to_five(struct world *w)
{
	have_three_of_eight_run(w);
	have_quota(w, 5);
	assert_int_equal(w->sent[INTENT_GROW], 0);
	at(w, T0 + INTERVAL_MS);
}

static const char *explained(const struct world *w)
{
	static struct explanation x;
	assert_true(gate_explain(w->gate, "team-a", "sweep", w->now_ms, &x));
	return x.sentence;
}

static void pods_of_a_growth_are_named_while_they_are_awaited(void **state)
{
	const struct queue_config awaits = {.pods_ready_timeout_ms = 300000};
	struct world w;
	(void)state;
	world_init(&w);
	have_three_of_eight_run(&w);
	queue_configure(w.queue, &awaits);
	have_quota(&w, 5);
	at(&w, T0 + INTERVAL_MS);
	assert_non_null(strstr(explained(&w),
		"; it grew, and 2 of its 5 pods are not ready: it has until 2026-11-21T10:05:30Z, then it is stopped"));
	have_pods(&w, 4, 0);
	assert_non_null(strstr(explained(&w), "; it grew, and 1 of its 5 pods is not ready: "));
	have_pods(&w, 5, 0);
	assert_null(strstr(explained(&w), "it grew"));
	have_pods(&w, 4, 0); /* one that was ready is not of the growth */
	assert_null(strstr(explained(&w), "it grew"));
	world_done(&w);
}

static void the_ledger_first_then_the_job(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_three_of_eight_run(&w);
	have_quota(&w, 5);
	w.batches_lost = 1; /* the one that has the GROW */
	at(&w, T0 + INTERVAL_MS);
	assert_int_equal(pods_held(&w), 5);
	assert_int_equal(w.sent[INTENT_GROW], 0); /* it is not known to be durable */
	at(&w, T0 + INTERVAL_MS + 1000);
	assert_int_equal(w.sent[INTENT_GROW], 1);
	assert_int_equal(w.j->now->job.parallelism, 5);
	assert_int_equal(w.j->now->job.admission.owner_parallelism, 8);
	assert_non_null(strstr(w.j->now->job.admission.story, "\"pods\":5,\"parallelism\":8"));
	assert_non_null(strstr(w.j->now->job.admission.story, "\"holds\":{\"cpu\":2500}"));
	assert_string_equal(w.last[NOTE_GROW].text, "grows from 3 to 5 pods");
	have_pods(&w, 5, 0);
	assert_int_equal(pods_held(&w), 5);

	/* As many as its owner wrote: the story has nothing to put back. */
	have_quota(&w, 20);
	at(&w, w.now_ms + INTERVAL_MS);
	assert_int_equal(pods_held(&w), 8);
	assert_int_equal(w.j->now->job.parallelism, 8);
	assert_int_equal(w.j->now->job.admission.owner_parallelism, 0);
	assert_null(strstr(w.j->now->job.admission.story, "\"parallelism\""));
	at(&w, w.now_ms + 4 * INTERVAL_MS);
	assert_int_equal(w.sent[INTENT_GROW], 2);
	world_done(&w);
}

static void what_the_ledger_refuses_is_called_off(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_three_of_eight_run(&w);
	have_quota(&w, 5);
	const struct model_row *rows;
	size_t n = model_ledger_rows(w.ledger, &rows);
	for (size_t i = 0; i < n; i++)
		model_ledger_squeeze(w.ledger, i, true);
	at(&w, T0 + INTERVAL_MS);
	assert_int_equal(pods_held(&w), 3);
	assert_int_equal(w.sent[INTENT_GROW], 0);
	assert_string_equal(w.last[NOTE_REFUSE].text,
		"it does not grow to 5 pods: the ledger has no quota left for them");
	assert_int_equal(queue_job_pods(w.queue, &w.j->now->job.uid), 3);
	for (size_t i = 0; i < n; i++)
		model_ledger_squeeze(w.ledger, i, false);
	at(&w, T0 + 2 * INTERVAL_MS + 1000);
	assert_int_equal(w.j->now->job.parallelism, 5);
	assert_int_equal(pods_held(&w), 5);
	world_done(&w);
}

static void what_was_refused_or_not_answered_is_made_again(void **state)
{
	static const enum job_outcome outcomes[] = {
		JOB_REFUSED, JOB_BUSY, JOB_IN_DOUBT, JOB_IN_DOUBT};
	(void)state;
	for (size_t k = 0; k < 4; k++) {
		struct world w;
		world_init(&w);
		have_three_of_eight_run(&w);
		have_quota(&w, 5);
		w.outcome = outcomes[k];
		w.lands = k == 3;
		at(&w, T0 + INTERVAL_MS);
		assert_int_equal(pods_held(&w), 5);
		at(&w, T0 + INTERVAL_MS + 9000);
		assert_int_equal(w.sent[INTENT_GROW], k == 3 ? 1 : 2);
		assert_int_equal(w.j->now->job.parallelism, 5);
		have_pods(&w, 5, 0);
		at(&w, T0 + INTERVAL_MS + 20000);
		assert_int_equal(pods_held(&w), 5);
		world_done(&w);
	}
}

static void what_the_api_server_will_not_have_is_given_back(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_three_of_eight_run(&w);
	have_quota(&w, 5);
	w.denied = 1;
	at(&w, T0 + INTERVAL_MS);
	assert_int_equal(w.sent[INTENT_GROW], 1);
	assert_int_equal(pods_held(&w), 3);
	assert_int_equal(w.j->now->job.parallelism, 3);
	assert_int_equal(queue_job_pods(w.queue, &w.j->now->job.uid), 3);
	assert_string_equal(
		w.last[NOTE_CALL_OFF].text, "does not grow to 5 pods: the API server refuses it");
	at(&w, T0 + 2 * INTERVAL_MS + 10); /* not so soon */
	assert_int_equal(w.sent[INTENT_GROW], 1);
	at(&w, T0 + 6 * INTERVAL_MS);
	assert_int_equal(w.j->now->job.parallelism, 5);
	world_done(&w);
}

/* Two refusals of a smaller quota take nothing off the story of the growth that comes later. */
static void a_growth_after_refusals_keeps_what_it_holds(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_three_of_eight_run(&w);
	w.denied = 2;
	w.refusal = "ValidatingAdmissionPolicy 'quiet-hours' denied request";
	decide_smaller_quota(&w, 2);
	at(&w, w.now_ms + 5 * INTERVAL_MS);
	have_quota(&w, 5);
	at(&w, w.now_ms + 5 * INTERVAL_MS);
	assert_int_equal(w.j->now->job.parallelism, 5);
	assert_non_null(strstr(w.j->now->job.admission.story, "\"holds\":"));
	world_done(&w);
}

/* The first PATCH is not answered, and then it is refused: the first may come yet. A new story keeps
 * it from that, and the quota comes back. */
static void what_is_refused_after_a_doubt_is_given_back(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_three_of_eight_run(&w);
	have_quota(&w, 5);
	w.outcome = JOB_IN_DOUBT;
	w.tick_ms += INTERVAL_MS;
	w.now_ms += INTERVAL_MS;
	gate_step(w.gate, w.now_ms, w.tick_ms);
	const struct intent *i;
	while ((i = gate_take_intent(w.gate)))
		answer_ledger(&w, i); /* GROW */
	gate_step(w.gate, w.now_ms, w.tick_ms);
	while ((i = gate_take_intent(w.gate)))
		answer_job(&w, i);
	assert_int_equal(w.sent[INTENT_GROW], 1);
	w.denied = 1;
	at(&w, w.now_ms + 5000);
	assert_int_equal(w.sent[INTENT_GROW], 2);
	assert_int_equal(w.sent[INTENT_RETELL], 1);
	assert_non_null(strstr(w.j->now->job.admission.story, "GrowthRefused"));
	assert_int_equal(w.j->now->job.parallelism, 3);
	at(&w, w.now_ms + 2 * DOUBT_MS);
	assert_int_equal(pods_held(&w), 3);
	assert_int_equal(queue_job_pods(w.queue, &w.j->now->job.uid), 3);
	assert_int_equal(w.sent[INTENT_GROW], 2); /* not so soon */
	at(&w, w.now_ms + 6 * INTERVAL_MS);
	assert_int_equal(w.j->now->job.parallelism, 5);
	assert_int_equal(pods_held(&w), 5);
	world_done(&w);
}

/* Its owner lowers parallelism while a PATCH is in doubt: that cannot land any more, and may have
 * before. */
static void an_edit_of_its_owner_ends_it(void **state)
{
	(void)state;
	for (int landed = 0; landed < 2; landed++) {
		struct world w;
		world_init(&w);
		have_three_of_eight_run(&w);
		have_quota(&w, 5);
		w.outcome = JOB_IN_DOUBT;
		w.lands = landed;
		has_injected = false;
		w.tick_ms += INTERVAL_MS;
		w.now_ms += INTERVAL_MS;
		gate_step(w.gate, w.now_ms, w.tick_ms);
		const struct intent *i;
		while ((i = gate_take_intent(w.gate)))
			answer_ledger(&w, i); /* GROW */
		gate_step(w.gate, w.now_ms, w.tick_ms);
		while ((i = gate_take_intent(w.gate)))
			answer_job(&w, i);
		assert_int_equal(w.sent[INTENT_GROW], 1);
		struct snap *s = model_api_edit(&w.api, w.j);
		snap_disown(s);
		s->job.parallelism = 2;
		s->job.min_parallelism = 0;
		w.pods = landed ? 5 : 3;
		s->job.status.active = 3;
		write_job(&w, s, true);
		assert_int_equal(pods_held(&w), 5);
		have_pods(&w, 2, 0);
		w.pods = landed ? 5 : 3;
		at(&w, w.now_ms + DOUBT_MS + 1000);
		assert_int_equal(pods_held(&w), landed ? 5 : 3);
		w.pods = 2;
		at(&w, w.now_ms + DOUBT_MS);
		assert_int_equal(pods_held(&w), 2);
		assert_int_equal(w.j->now->job.parallelism, 2);
		assert_false(w.j->now->job.suspend);
		assert_string_equal(w.last[NOTE_CALL_OFF].text,
			"does not grow to 5 pods: its owner has changed spec.parallelism since");
		world_done(&w);
	}
}

/* It is to be smaller by now, and its owner's manifest is applied again: that number is not ours. */
static void a_manifest_that_is_applied_again_is_no_growth(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_three_of_eight_run(&w);
	have_quota(&w, 5);
	w.outcome = JOB_BUSY;
	at(&w, T0 + INTERVAL_MS);
	struct snap *s = model_api_edit(&w.api, w.j);
	snap_disown(s);
	s->job.parallelism = 8;
	s->job.admission.reapplied = true;
	model_api_write(&w.api, s, true);
	gate_see_job(w.gate, &w.j->now->job);
	w.pods = 8;
	decide(&w, (struct decision){.kind = DECISION_SHRINK,
			   .pods = 2,
			   .reason = STOP_REASON_PREEMPTED,
			   .preemption = PREEMPTION_IN_CLUSTERQUEUE});
	at(&w, w.now_ms + 5000);
	assert_int_equal(w.j->now->job.parallelism, 2);
	assert_null(strstr(w.notes, "grows from"));
	assert_string_equal(w.last[NOTE_CALL_OFF].text,
		"does not grow to 5 pods: the run is about to go on with fewer pods");
	assert_int_equal(pods_held(&w), 5); /* pods of eight may be left */
	have_quota(&w, 2);
	have_pods(&w, 2, 0);
	at(&w, w.now_ms + 2 * DOUBT_MS);
	assert_int_equal(pods_held(&w), 2);
	world_done(&w);
}

/* Two pods are enough to finish: nothing is taken off before the PATCH has landed. */
static void pods_that_end_meanwhile_keep_their_place(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_three_of_eight_run(&w);
	have_quota(&w, 5);
	w.outcome = JOB_BUSY;
	at(&w, T0 + INTERVAL_MS);
	struct snap *s = model_api_edit(&w.api, w.j);
	s->job.status.succeeded = 38;
	s->job.status.active = s->job.status.ready = 2;
	model_api_write(&w.api, s, false);
	w.pods = 2;
	gate_see_job(w.gate, &w.j->now->job);
	gate_step(w.gate, w.now_ms, w.tick_ms);
	assert_int_equal(pods_held(&w), 5);
	at(&w, T0 + INTERVAL_MS + 9000);
	assert_int_equal(w.j->now->job.parallelism, 5);
	at(&w, T0 + 3 * INTERVAL_MS);
	assert_int_equal(pods_held(&w), 2);
	world_done(&w);
}

static void a_stop_goes_first(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_three_of_eight_run(&w);
	have_quota(&w, 5);
	w.outcome = JOB_IN_DOUBT;
	w.tick_ms += INTERVAL_MS;
	w.now_ms += INTERVAL_MS;
	gate_step(w.gate, w.now_ms, w.tick_ms);
	decide(&w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_HELD});
	at(&w, w.now_ms + 20000);
	assert_true(w.j->now->job.suspend);
	assert_int_equal(w.j->now->job.parallelism, 8);
	world_done(&w);
}

/* A successor may have fenced it off, and etcd may have gone back to before that: once the lease has
 * run out the Job's word is not enough. */
static void none_is_sent_once_the_lease_has_run_out(void **state)
{
	(void)state;
	for (int silent = 0; silent < 2; silent++) {
		struct world w;
		world_init(&w);
		have_three_of_eight_run(&w);
		have_quota(&w, 5);
		w.outcome = JOB_BUSY;
		at(&w, T0 + INTERVAL_MS);
		assert_int_equal(w.sent[INTENT_GROW], 1);
		w.lease_silent = silent;
		at(&w, w.now_ms + 20000); /* it slept; else the lease is confirmed before */
		assert_int_equal(w.sent[INTENT_GROW], silent ? 1 : 2);
		assert_int_equal(w.j->now->job.parallelism, silent ? 3 : 5);
		assert_int_equal(pods_held(&w), 5);
		world_done(&w);
	}
}

/* A PATCH of the growth is in doubt, and its room is wanted: what makes it smaller goes first, and until
 * that has landed nothing is given back. */
static void what_makes_it_smaller_goes_first(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_three_of_eight_run(&w);
	have_quota(&w, 5);
	w.tick_ms += INTERVAL_MS;
	w.now_ms += INTERVAL_MS;
	gate_step(w.gate, w.now_ms, w.tick_ms);
	const struct intent *i;
	while ((i = gate_take_intent(w.gate)))
		answer_ledger(&w, i); /* GROW */
	gate_step(w.gate, w.now_ms, w.tick_ms);
	w.outcome = JOB_IN_DOUBT;
	while ((i = gate_take_intent(w.gate)))
		answer_job(&w, i);
	assert_int_equal(w.sent[INTENT_GROW], 1);
	have_quota(&w, 2);
	w.outcome = JOB_IN_DOUBT; /* of the SHRINK */
	decide(&w, (struct decision){.kind = DECISION_SHRINK,
			   .pods = 2,
			   .reason = STOP_REASON_PREEMPTED,
			   .preemption = PREEMPTION_IN_CLUSTERQUEUE});
	assert_int_equal(w.j->now->job.parallelism, 3);
	assert_int_equal(pods_held(&w), 5);
	at(&w, w.now_ms + 2000);
	at(&w, w.now_ms + 2000);
	assert_int_equal(w.sent[INTENT_GROW], 1);
	assert_int_equal(w.sent[INTENT_SHRINK], 2);
	assert_int_equal(w.j->now->job.parallelism, 2);
	assert_int_equal(pods_held(&w), 5);
	have_pods(&w, 2, 0);
	at(&w, w.now_ms + DOUBT_MS);
	assert_int_equal(pods_held(&w), 2);
	world_done(&w);
}

/* etcd goes back to before the PATCH, and its reservation is as large as before, too. */
static void a_store_that_goes_back_makes_no_run_larger(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_three_of_eight_run(&w);
	struct snap *before = model_api_edit(&w.api, w.j);
	decide_smaller_quota(&w, 2);
	assert_int_equal(w.j->now->job.parallelism, 2);
	assert_int_equal(pods_held(&w), 3);
	write_job(&w, before, false);
	assert_int_equal(w.j->now->job.parallelism, 2);
	assert_int_equal(w.sent[INTENT_SHRINK], 2);
	have_pods(&w, 2, 0);
	at(&w, w.now_ms + DOUBT_MS + 1000);
	assert_int_equal(pods_held(&w), 2);
	assert_int_equal(w.sent[INTENT_SHRINK], 2);
	assert_int_equal(w.sent[INTENT_STOP], 0);
	world_done(&w);
}

/* Killed between GROW and PATCH: the PATCH may come yet. Its successor makes that harmless, and only
 * then takes back what was not used. */
static void a_successor_takes_back_what_was_not_used(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_three_of_eight_run(&w);
	have_quota(&w, 5);
	w.tick_ms += INTERVAL_MS;
	w.now_ms += INTERVAL_MS;
	gate_step(w.gate, w.now_ms, w.tick_ms);
	const struct intent *i;
	while ((i = gate_take_intent(w.gate)))
		answer_ledger(&w, i);
	gate_step(w.gate, w.now_ms, w.tick_ms);
	struct intent late = *gate_take_intent(w.gate);
	assert_int_equal(late.kind, INTENT_GROW);
	late.ns = late.name = NULL;
	char *story = strdup(late.story_before);
	late.story_before = story;
	late.story.clusterqueue = late.story.by = late.story.reason = "";
	late.story.lines = NULL;
	late.story.nlines = 0;
	w.quota = 3 * EACH;
	world_restart(&w);
	w.outcome = JOB_BUSY;
	turn(&w);
	assert_int_equal(pods_held(&w), 5); /* not before it is told */
	at(&w, w.now_ms + 5000);
	assert_int_equal(w.sent[INTENT_RETELL], 2);
	assert_int_equal(w.j->now->job.parallelism, 3);
	assert_int_equal(w.j->now->job.admission.owner_parallelism, 8);
	assert_int_equal(pods_held(&w), 5);
	late.ns = "team-a";
	late.name = "sweep";
	const struct snap *snap;
	const char *why = NULL;
	assert_int_equal(
		model_api_request(&w.api, &late, w.now_ms, false, &snap, &why), JOB_REFUSED);
	assert_string_equal(why, "another story");
	at(&w, w.now_ms + DOUBT_MS);
	assert_int_equal(pods_held(&w), 3);
	/* It is the successor's to grow. */
	have_quota(&w, 5);
	at(&w, w.now_ms + 2 * INTERVAL_MS);
	assert_int_equal(pods_held(&w), 5);
	assert_int_equal(w.j->now->job.parallelism, 5);
	free(story);
	world_done(&w);
}

static void a_successor_adopts_what_was_grown(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	grow_to_five(&w);
	have_pods(&w, 5, 0);
	world_restart(&w);
	turn(&w);
	at(&w, w.now_ms + 5000);
	assert_int_equal(w.sent[INTENT_RETELL], 0);
	assert_int_equal(pods_held(&w), 5);
	world_done(&w);
}

/* To the same size as before: it is another change. */
static void it_shrinks_grows_and_shrinks_again(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	grow_to_five(&w);
	have_pods(&w, 5, 0);
	for (int again = 0; again < 2; again++) {
		have_quota(&w, 3); /* so that it does not grow at once */
		decide(&w, (struct decision){.kind = DECISION_SHRINK,
				   .pods = 3,
				   .reason = STOP_REASON_PREEMPTED,
				   .preemption = PREEMPTION_IN_CLUSTERQUEUE});
		assert_int_equal(w.j->now->job.parallelism, 3);
		assert_non_null(strstr(w.j->now->job.admission.story, "\"reason\":\"Preempted\""));
		assert_non_null(strstr(w.last[NOTE_SHRINK].text,
			"goes on with 3 of 5 pods (Preempted; its other pods stop for a Job that was deleted since)"));
		assert_string_equal(w.last[NOTE_SHRINK].reason, "Preempted");
		have_pods(&w, 3, 0);
		at(&w, w.now_ms + DOUBT_MS + 1000);
		assert_int_equal(pods_held(&w), 3);
		have_quota(&w, 5);
		at(&w, w.now_ms + 2 * INTERVAL_MS);
		assert_int_equal(w.j->now->job.parallelism, 5);
		assert_int_equal(pods_held(&w), 5);
		have_pods(&w, 5, 0);
		if (again == 0) {
			world_restart(&w);
			turn(&w);
		}
	}
	world_done(&w);
}

/* Killed between GROW and PATCH, as above; before that it gave pods. Its successor tells its story
 * anew, and why it has so few pods stays in it. */
static void a_story_told_anew_says_why_it_is_so_small(void **state)
{
	struct world w;
	const struct intent *i;
	(void)state;
	world_init(&w);
	have_three_of_eight_run(&w);
	decide_smaller_quota(&w, 2);
	have_pods(&w, 2, 0);
	at(&w, w.now_ms + DOUBT_MS + 1000);
	assert_int_equal(pods_held(&w), 2);
	have_quota(&w, 5);
	w.tick_ms += 2 * INTERVAL_MS;
	w.now_ms += 2 * INTERVAL_MS;
	gate_step(w.gate, w.now_ms, w.tick_ms);
	while ((i = gate_take_intent(w.gate)))
		answer_ledger(&w, i); /* GROW */
	assert_int_equal(pods_held(&w), 5);
	w.quota = 2 * EACH;
	world_restart(&w);
	turn(&w);
	at(&w, w.now_ms + 5000);
	const char *story = w.j->now->job.admission.story;
	assert_int_equal(w.sent[INTENT_RETELL], 1);
	assert_non_null(strstr(story, "\"reason\":\"WindowQuota\""));
	assert_non_null(strstr(story, "\"message\":\"" QUOTA "\""));
	assert_non_null(strstr(story, "\"retold\":\"TakenOver\""));
	world_done(&w);
}

/* Nothing is stopped for a smaller quota, whoever says that it cannot be told. */
static void who_cannot_be_told_of_a_smaller_quota_keeps_its_pods(void **state)
{
	(void)state;
	for (int indexes_done = 0; indexes_done < 2; indexes_done++) {
		struct world w;
		world_init(&w);
		have_three_of_eight_run(&w);
		w.denied = indexes_done ? 0 : 2;
		if (indexes_done) {
			/* Its completions were lowered with it, and one is done. */
			struct snap *s = model_api_edit(&w.api, w.j);
			s->job.admission.owner_completions = 8;
			s->job.status.succeeded = 1;
			write_job(&w, s, false);
		}
		decide_smaller_quota(&w, 2);
		at(&w, w.now_ms + 5 * INTERVAL_MS);
		assert_int_equal(w.sent[INTENT_SHRINK], indexes_done ? 0 : 2);
		assert_int_equal(w.sent[INTENT_STOP], 0);
		assert_int_equal(w.j->now->job.parallelism, 3);
		assert_int_equal(pods_held(&w), 3);
		assert_string_equal(w.last[NOTE_CALL_OFF].text,
			"keeps its 3 pods: its Job cannot be told to go on with 2 (WindowQuota; " QUOTA
			")");
		world_done(&w);
	}
}

/* The ledger fails over, and lacks the GROW: the pods are there. */
static void a_growth_that_the_ledger_lost_is_adopted(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	w.settle_ms = 60000;
	have_three_of_eight_run(&w);
	struct model_ledger *lost, *backup = model_ledger_copy(w.ledger);
	have_quota(&w, 5);
	at(&w, T0 + INTERVAL_MS);
	have_pods(&w, 5, 0);
	assert_int_equal(w.j->now->job.parallelism, 5);
	lost = w.ledger;
	w.ledger = backup;
	w.quota = 4 * EACH; /* whatever the quota says by now */
	world_restart(&w);
	turn(&w);
	assert_int_equal(pods_held(&w), 5);
	assert_string_equal(w.last[NOTE_ADOPT].text,
		"adopted: the ledger did not know that attempt 1 had grown; the run keeps what its "
		"annotation sluice.dev/admission says");
	assert_false(w.j->now->job.suspend);
	assert_int_equal(w.j->now->job.parallelism, 5);
	world_done(&w);
	model_ledger_free(lost);
}

/* The API server goes back to when it was larger: it is made smaller again, not stopped. */
static void a_store_that_goes_back_makes_no_pods(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	grow_to_five(&w);
	have_pods(&w, 5, 0);
	const struct snap *large = w.j->now;
	have_quota(&w, 3);
	decide(&w, (struct decision){.kind = DECISION_SHRINK,
			   .pods = 3,
			   .reason = STOP_REASON_PREEMPTED,
			   .preemption = PREEMPTION_IN_CLUSTERQUEUE});
	have_pods(&w, 3, 0);
	at(&w, w.now_ms + DOUBT_MS + 1000);
	assert_int_equal(pods_held(&w), 3);
	struct snap *s = model_api_edit(&w.api, w.j);
	s->job.parallelism = large->job.parallelism;
	s->job.admission = large->job.admission;
	s->applied = large->applied;
	s->job.status = large->job.status;
	model_api_write(&w.api, s, true);
	w.pods = 5;
	world_restart(&w);
	turn(&w);
	assert_false(w.j->now->job.suspend);
	assert_int_equal(w.j->now->job.parallelism, 3);
	assert_non_null(strstr(w.j->now->job.admission.story, "NotReserved"));
	assert_int_equal(pods_held(&w), 3);
	/* Once more under the same leader it is no store that went back. */
	have_pods(&w, 3, 0);
	at(&w, w.now_ms + DOUBT_MS + 1000);
	s = model_api_edit(&w.api, w.j);
	s->job.parallelism = large->job.parallelism;
	s->job.admission = large->job.admission;
	s->applied = large->applied;
	write_job(&w, s, true);
	assert_true(w.j->now->job.suspend);
	assert_string_equal(w.last[NOTE_STOP].reason, "ScaledUp");
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_of_a_growth_are_named_while_they_are_awaited),
		cmocka_unit_test(the_ledger_first_then_the_job),
		cmocka_unit_test(what_the_ledger_refuses_is_called_off),
		cmocka_unit_test(what_was_refused_or_not_answered_is_made_again),
		cmocka_unit_test(what_the_api_server_will_not_have_is_given_back),
		cmocka_unit_test(what_is_refused_after_a_doubt_is_given_back),
		cmocka_unit_test(a_growth_after_refusals_keeps_what_it_holds),
		cmocka_unit_test(an_edit_of_its_owner_ends_it),
		cmocka_unit_test(a_manifest_that_is_applied_again_is_no_growth),
		cmocka_unit_test(pods_that_end_meanwhile_keep_their_place),
		cmocka_unit_test(a_stop_goes_first),
		cmocka_unit_test(none_is_sent_once_the_lease_has_run_out),
		cmocka_unit_test(what_makes_it_smaller_goes_first),
		cmocka_unit_test(a_store_that_goes_back_makes_no_run_larger),
		cmocka_unit_test(a_successor_takes_back_what_was_not_used),
		cmocka_unit_test(a_successor_adopts_what_was_grown),
		cmocka_unit_test(it_shrinks_grows_and_shrinks_again),
		cmocka_unit_test(a_story_told_anew_says_why_it_is_so_small),
		cmocka_unit_test(who_cannot_be_told_of_a_smaller_quota_keeps_its_pods),
		cmocka_unit_test(a_growth_that_the_ledger_lost_is_adopted),
		cmocka_unit_test(a_store_that_goes_back_makes_no_pods),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
