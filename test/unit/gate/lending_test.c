/*
 * What the gate does around idle room: runs that stop or go on with fewer pods because what they
 * run on is wanted back, and a server that does not let resources be rewritten.
 */
#include "crowd.h"

#define DOUBT_MS 10000
#define WHY "node n1 lends 4 cores, and pods ask for 6"

/* Four pods of half a core, indexed, that may go on with one. */
static void have_four_run(struct world *w)
{
	w->pods_of_job = 4;
	have_it_run(w);
	w->pods = 4;
	assert_int_equal(held_cpu(w), 2000);
}

static void decide_shrink(struct world *w, int32_t pods)
{
	decide(w, (struct decision){.kind = DECISION_SHRINK,
			  .pods = pods,
			  .reason = STOP_REASON_IDLE_RECLAIMED,
			  .why = WHY});
}

static void decide_stop(struct world *w)
{
	decide(w, (struct decision){
			  .kind = DECISION_STOP, .reason = STOP_REASON_IDLE_RECLAIMED, .why = WHY});
}

static void a_stop_says_why(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_four_run(&w);
	at(&w, T0 + 60000);
	decide_stop(&w);
	assert_true(w.j->now->job.suspend);
	assert_non_null(
		strstr(w.j->now->job.admission.story, "\"reason\":\"IdleResourcesReclaimed\""));
	assert_non_null(strstr(w.j->now->job.admission.story, "\"message\":\"" WHY "\""));
	assert_string_equal(w.last[NOTE_STOP].text,
		"Stopped (IdleResourcesReclaimed): " WHY "; 4 pods x 1m lost.");
	assert_string_equal(w.last[NOTE_STOP].reason, "IdleResourcesReclaimed");
	assert_true(w.last[NOTE_STOP].lost_ms == 240000);
	assert_string_equal(first_reservation(&w)->stop.reason, "IdleResourcesReclaimed");
	assert_true(first_reservation(&w)->stop.lost_ms == 240000);
	world_done(&w);
}

enum preemptor { BY_OWN, BY_HIGHER, BY_OTHERS, BY_OTHERS_HIGHER, BY_DELETED };

/* Has another Job wait: of its own namespace or of team-b, of its own priority or of a higher one. */
static struct model_job *have_preemptor(struct crowd *c, enum preemptor by)
{
	bool others = by == BY_OTHERS || by == BY_OTHERS_HIGHER;
	bool higher = by == BY_HIGHER || by == BY_OTHERS_HIGHER;
	struct priority_spec high = {.kind = PRIORITY_WORKLOAD, .name = "high", .value = 1000};
	struct localqueue_spec theirs = {
		.ns = "team-b", .name = "main", .clusterqueue = "batch", .weight = 1};
	queue_set_priority(c->w.queue, &high);
	queue_set_namespace(c->w.queue, &(struct namespace_spec){.name = "team-b"});
	assert_int_equal(queue_set_localqueue(c->w.queue, &theirs, NULL), 0);
	return submit_of(c, others ? "team-b" : "team-a", higher ? "high" : "");
}

static void assert_stop_says(enum preemptor by, enum preemption_reason why, const char *before_lost)
{
	struct crowd c;
	char says[400];
	open_crowd(&c, 1, 0);
	c.w.j = c.job[0];
	struct uid other = {{0xd}};
	if (by != BY_DELETED)
		other = have_preemptor(&c, by)->now->job.uid;
	at(&c.w, T0 + 60000);
	decide(&c.w, (struct decision){.kind = DECISION_STOP,
			     .reason = STOP_REASON_PREEMPTED,
			     .preemption = why,
			     .by = other});
	snprintf(says, sizeof(says), "Stopped for %s 1 pod x 1m lost; the Job is queued again.",
		before_lost);
	assert_string_equal(c.w.last[NOTE_STOP].text, says);
	world_done(&c.w);
}

/* Its owner may read the name and the priority of a Job only where that is of his namespace. */
static void a_stop_names_the_job_that_it_is_for(void **state)
{
	(void)state;
	assert_stop_says(BY_OWN, PREEMPTION_IN_CLUSTERQUEUE,
		"team-a/train-1 (priority 0 as this Job's, queued earlier):");
	assert_stop_says(BY_HIGHER, PREEMPTION_IN_CLUSTERQUEUE,
		"team-a/train-1 (priority 1000, this Job's 0):");
	assert_stop_says(BY_OTHERS, PREEMPTION_IN_CLUSTERQUEUE,
		"a Job queued earlier in ClusterQueue batch:");
	assert_stop_says(BY_OTHERS_HIGHER, PREEMPTION_IN_CLUSTERQUEUE,
		"a Job of higher priority in ClusterQueue batch:");
	assert_stop_says(BY_DELETED, PREEMPTION_IN_CLUSTERQUEUE, "a Job that was deleted since:");
	assert_stop_says(BY_OWN, PREEMPTION_IN_COHORT_RECLAMATION,
		"team-a/train-1: its ClusterQueue takes back quota that ClusterQueue batch had borrowed;");
	assert_stop_says(BY_OTHERS_HIGHER, PREEMPTION_IN_COHORT_RECLAMATION,
		"a Job in ClusterQueue batch: its ClusterQueue takes back quota that ClusterQueue batch had borrowed;");
	assert_stop_says(BY_OWN, PREEMPTION_IN_COHORT_FAIR_SHARING,
		"team-a/train-1: its ClusterQueue comes before ClusterQueue batch by fair sharing;");
	assert_stop_says(BY_OWN, PREEMPTION_IN_COHORT_RECLAIM_WHILE_BORROWING,
		"team-a/train-1 (priority 0 as this Job's, queued earlier): its ClusterQueue borrows quota of the Cohort;");
	assert_stop_says(BY_OTHERS_HIGHER, PREEMPTION_IN_COHORT_RECLAIM_WHILE_BORROWING,
		"a Job of higher priority in ClusterQueue batch: its ClusterQueue borrows quota of the Cohort;");
}

static void fewer_pods_and_the_hold_follows_when_they_are_gone(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_four_run(&w);
	at(&w, T0 + 60000);
	decide_shrink(&w, 2);
	assert_int_equal(w.sent[INTENT_SHRINK], 1);
	assert_false(w.j->now->job.suspend);
	assert_int_equal(w.j->now->job.parallelism, 2);
	assert_int_equal(w.j->now->job.admission.owner_parallelism, 4);
	assert_string_equal(w.last[NOTE_SHRINK].text,
		"goes on with 2 of 4 pods (IdleResourcesReclaimed; " WHY ")");
	assert_true(w.last[NOTE_SHRINK].lost_ms == 120000);
	assert_non_null(strstr(w.j->now->job.admission.story, "\"state\":\"Started\""));
	assert_non_null(strstr(w.j->now->job.admission.story, "\"pods\":2,\"parallelism\":4"));
	assert_int_equal(held_cpu(&w), 2000);

	/* What the status says may have been counted before the Job controller read of it. */
	have_pods(&w, 2, 0);
	w.pods = 4;
	at(&w, T0 + 60000 + DOUBT_MS - 1);
	assert_int_equal(held_cpu(&w), 2000);
	assert_int_equal(w.sent[INTENT_PODS], 0);
	w.pods = 3; /* one terminates yet */
	at(&w, T0 + 60000 + DOUBT_MS);
	assert_int_equal(held_cpu(&w), 1500);
	w.pods = 2;
	at(&w, T0 + 60000 + DOUBT_MS + 1000);
	assert_int_equal(held_cpu(&w), 1000);
	size_t asked = w.sent[INTENT_PODS];
	at(&w, T0 + 200000);
	assert_int_equal(w.sent[INTENT_PODS], asked);
	assert_int_equal(w.sent[INTENT_SHRINK], 1);

	/* What ends the run puts its owner's number back. */
	decide_stop(&w);
	assert_true(w.j->now->job.suspend);
	assert_int_equal(w.j->now->job.parallelism, 4);
	assert_int_equal(w.j->now->job.admission.owner_parallelism, 0);
	assert_int_equal(w.j->now->applied, 0);
	world_done(&w);
}

/* Its owner's manifest, as it was: the number is his, the pods are what it holds. */
static void a_manifest_that_is_applied_again_makes_no_pods(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_four_run(&w);
	decide_shrink(&w, 2);
	have_pods(&w, 2, 0);
	w.pods = 2;
	at(&w, T0 + 2 * DOUBT_MS);
	assert_int_equal(held_cpu(&w), 1000);
	for (size_t again = 1; again <= 2; again++) {
		struct snap *s = model_api_edit(&w.api, w.j);
		snap_disown(s);
		s->job.parallelism = 4;
		s->job.admission.reapplied = true;
		write_job(&w, s, true);
		assert_int_equal(w.sent[INTENT_SHRINK], 1 + again);
		assert_int_equal(w.sent[INTENT_STOP], 0);
		assert_int_equal(w.j->now->job.parallelism, 2);
		assert_int_equal(w.j->now->job.admission.owner_parallelism, 4);
		assert_non_null(strstr(w.j->now->job.admission.story, "ManifestReapplied"));
		assert_non_null(strstr(w.last[NOTE_SHRINK].text, "its manifest was applied again"));
		assert_true(w.last[NOTE_SHRINK].lost_ms == 0);
		assert_int_equal(held_cpu(&w), 1000);
		at(&w, w.now_ms + 3 * DOUBT_MS);
		assert_int_equal(held_cpu(&w), 1000);
	}
	decide_stop(&w);
	assert_true(w.j->now->job.suspend);
	assert_int_equal(w.j->now->job.parallelism, 4);
	world_done(&w);
}

static void one_that_cannot_be_made_smaller_again_is_stopped(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_four_run(&w);
	decide_shrink(&w, 2);
	have_pods(&w, 2, 0);
	w.pods = 2;
	at(&w, T0 + 2 * DOUBT_MS);
	w.denied = 2;
	struct snap *s = model_api_edit(&w.api, w.j);
	snap_disown(s);
	s->job.parallelism = 4;
	s->job.admission.reapplied = true;
	write_job(&w, s, true);
	assert_true(w.j->now->job.suspend);
	assert_string_equal(w.last[NOTE_STOP].reason, "ScaledUp");
	assert_non_null(strstr(w.last[NOTE_STOP].text,
		"its manifest was applied again, which asks for more pods than the run holds, and its Job could not be made smaller again"));
	assert_null(strstr(w.last[NOTE_STOP].text, "goes on"));
	world_done(&w);
}

/* Any other number is a wish for more. */
static void a_number_that_is_raised_stops_the_run(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_four_run(&w);
	decide_shrink(&w, 2);
	have_pods(&w, 2, 0);
	w.pods = 2;
	at(&w, T0 + 2 * DOUBT_MS);
	struct snap *s = model_api_edit(&w.api, w.j);
	snap_disown(s);
	s->job.parallelism = 3;
	write_job(&w, s, true);
	assert_true(w.j->now->job.suspend);
	assert_string_equal(w.last[NOTE_STOP].reason, "ScaledUp");
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
		have_four_run(&w);
		w.outcome = outcomes[k];
		w.lands = k == 3;
		decide_shrink(&w, 2);
		at(&w, T0 + 9000);
		assert_int_equal(w.sent[INTENT_SHRINK], k == 3 ? 1 : 2);
		assert_int_equal(w.j->now->job.parallelism, 2);
		have_pods(&w, 2, 0);
		at(&w, T0 + 30000);
		assert_int_equal(held_cpu(&w), 1000);
		world_done(&w);
	}
}

/* It is not argued with: what is lent is wanted back. */
static void who_may_not_be_told_is_stopped(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_four_run(&w);
	w.denied = 2;
	decide_shrink(&w, 2);
	assert_int_equal(w.sent[INTENT_SHRINK], 2);
	assert_true(w.j->now->job.suspend);
	assert_int_equal(w.j->now->job.parallelism, 4);
	assert_string_equal(w.last[NOTE_STOP].reason, "IdleResourcesReclaimed");
	world_done(&w);
}

/* A policy refuses once, for its own reasons: there is room for what the run holds, and should the ledger
 * lose its reservation nothing else tells. */
static void one_refusal_takes_nothing_off_the_story(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_four_run(&w);
	w.denied = 1;
	w.refusal = "ValidatingAdmissionPolicy 'quiet-hours' denied request";
	decide_shrink(&w, 2);
	assert_int_equal(w.sent[INTENT_SHRINK], 2);
	assert_int_equal(w.j->now->job.parallelism, 2);
	assert_non_null(strstr(w.j->now->job.admission.story, "\"holds\":"));
	world_done(&w);
}

static void a_stop_that_is_due_goes_first(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_four_run(&w);
	w.outcome = JOB_IN_DOUBT;
	decide_shrink(&w, 2);
	decide_stop(&w); /* while it is not known whether it landed; it did not */
	at(&w, T0 + 30000);
	assert_true(w.j->now->job.suspend);
	assert_int_equal(w.j->now->job.parallelism, 4);
	assert_int_equal(w.sent[INTENT_SHRINK], 1);
	world_done(&w);
}

/* The leader dies when the PATCH has landed: its successor finds a reservation for more than there
 * is. */
static void a_successor_lowers_the_hold(void **state)
{
	(void)state;
	for (int gone = 0; gone < 2; gone++) {
		struct world w;
		world_init(&w);
		have_four_run(&w);
		w.outcome = JOB_IN_DOUBT;
		w.lands = true;
		decide(&w, (struct decision){.kind = DECISION_SHRINK, .pods = 2, .why = WHY});
		if (gone)
			have_pods(&w, 2, 0);
		world_restart(&w);
		int64_t then_ms = w.now_ms;
		turn(&w);
		assert_int_equal(held_cpu(&w), 2000);
		if (!gone)
			have_pods(&w, 2, 0);
		at(&w, then_ms + DOUBT_MS - 1);
		assert_int_equal(held_cpu(&w), 2000);
		at(&w, then_ms + DOUBT_MS + 1000);
		assert_int_equal(held_cpu(&w), 1000);
		assert_false(w.j->now->job.suspend);
		decide_stop(&w);
		assert_int_equal(w.j->now->job.parallelism, 4);
		world_done(&w);
	}
}

/* Its owner lowers it: the same care. */
static void an_owner_who_wants_fewer_frees_room_later_too(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_four_run(&w);
	struct snap *s = model_api_edit(&w.api, w.j);
	s->job.parallelism = 3;
	s->job.status.active = 1; /* the others are being made */
	write_job(&w, s, true);
	assert_int_equal(held_cpu(&w), 2000);
	have_pods(&w, 3, 0);
	at(&w, T0 + DOUBT_MS + 1000);
	assert_int_equal(held_cpu(&w), 1500);
	assert_int_equal(w.j->now->job.admission.owner_parallelism, 0);
	world_done(&w);
}

/* Pods that were counted while it ran say nothing of it when it has ended. */
static void a_count_of_a_run_does_not_release_it(void **state)
{
	struct world w;
	(void)state;
	world_init(&w);
	have_four_run(&w);
	decide_shrink(&w, 2);
	w.now_ms += DOUBT_MS;
	w.tick_ms += DOUBT_MS;
	gate_step(w.gate, w.now_ms, w.tick_ms);
	const struct intent *i = gate_take_intent(w.gate);
	while (i && i->kind != INTENT_PODS) {
		answer_ledger(&w, i);
		i = gate_take_intent(w.gate);
	}
	assert_non_null(i);
	uint64_t id = i->id;
	struct snap *s = model_api_edit(&w.api, w.j);
	snap_suspend(s, true);
	model_api_write(&w.api, s, true);
	gate_see_job(w.gate, &w.j->now->job);
	gate_step(w.gate, w.now_ms, w.tick_ms); /* it drains */
	gate_answer_job(w.gate, id, &(struct job_answer){.outcome = JOB_DONE, .pods = 0});
	w.pods = 4;
	turn(&w);
	assert_true(first_reservation(&w)->open);
	world_done(&w);
}

/* ---- Kubernetes before 1.36 -------------------------------------------------------------------
 */

/* Idle room and, when ordinary is more than 0, ordinary room beside it. */
static void have_idle_room(struct world *w, int64_t ordinary)
{
	static const char *const covered[] = {"cpu", "memory"};
	struct quota_spec idle[] = {{"cpu", 4000, QUOTA_UNLIMITED, QUOTA_UNLIMITED},
		{"memory", 1 << 30, QUOTA_UNLIMITED, QUOTA_UNLIMITED}};
	struct quota_spec own[] = {{"cpu", ordinary, QUOTA_UNLIMITED, QUOTA_UNLIMITED},
		{"memory", 1 << 30, QUOTA_UNLIMITED, QUOTA_UNLIMITED}};
	struct flavor_quota_spec flavors[] = {{"idle", idle, 2}, {"spot", own, 2}};
	struct resource_group_spec group = {covered, 2, flavors, ordinary > 0 ? 2 : 1};
	static const struct label pool_label = {"pool", "idle"};
	struct flavor_spec f = {
		"idle", {&pool_label, 1}, .lending = LENDING_BATCH, .share_permille = 1000};
	struct idle_pool pool = {"idle", 8000, INT64_C(1) << 34, 8000, INT64_C(1) << 34};
	struct clusterqueue_spec cq = {.name = "batch",
		.cohort = "",
		.groups = &group,
		.ngroups = 1,
		.has_namespace_selector = true};
	assert_int_equal(queue_set_flavor(w->queue, &f, NULL), 0);
	assert_int_equal(queue_set_clusterqueue(w->queue, &cq, NULL), 0);
	queue_set_idle_pool(w->queue, &pool);
}

static void submit_preemptible(struct world *w, struct snap *n)
{
	n->job.lending = 1 << LENDING_NONE | 1 << LENDING_BATCH;
	n->job.resources = "{\"containers\":[]}";
	submit(w, n);
}

/* Nobody but the gate knows what the patch of a start is made of. */
static void a_start_has_all_that_it_writes(void **state)
{
	static const struct label own = {"disk", "ssd"};
	struct world w;
	struct snap n = {.job.placement = {.node_selector = &own, .nnode_selector = 1}};
	(void)state;
	world_init(&w);
	turn(&w);
	have_idle_room(&w, 0);
	submit_preemptible(&w, &n);
	char expected[256];
	snprintf(expected, sizeof(expected),
		"{\"disk\":\"ssd\"} [], {\"disk\":\"ssd\",\"pool\":\"idle\"} [], {\"containers\":[]} as %d",
		(int)LENDING_BATCH);
	assert_string_equal(w.started_with, expected);
	world_done(&w);
}

static void an_old_server_leaves_it_to_ordinary_room(void **state)
{
	struct world w;
	struct snap n = {0};
	struct explanation x;
	(void)state;
	world_init(&w);
	turn(&w);
	have_idle_room(&w, 4000);
	w.old_server = true;
	submit_preemptible(&w, &n);
	assert_int_equal(w.sent[INTENT_START], 1);
	assert_true(w.j->now->job.suspend);
	assert_non_null(strstr(w.last[NOTE_REFUSE].text,
		"before Kubernetes 1.36 what its containers ask for cannot be rewritten: to run "
		"it on idle resources, ask for kubernetes.io/batch-cpu and "
		"kubernetes.io/batch-memory in its Pod template; its start is refused: "
		"spec.template: Invalid value: field is immutable"));
	at(&w, T0 + 80000);
	assert_int_equal(w.sent[INTENT_START], 2); /* it might have been pods of an earlier run */
	assert_true(gate_explain(w.gate, "team-a", "train", w.now_ms, &x));
	assert_non_null(strstr(x.sentence, "ask for kubernetes.io/batch-cpu"));
	at(&w, T0 + 160000);
	assert_int_equal(w.sent[INTENT_START], 3); /* without knocking at it in between */
	assert_false(w.j->now->job.suspend);
	assert_non_null(strstr(w.j->now->job.admission.story, "\"cpu\":\"spot\""));
	world_done(&w);
}

/* No other room: it asks once an hour, for servers are upgraded. */
static void an_old_server_is_asked_again_in_an_hour(void **state)
{
	struct world w;
	struct snap n = {0};
	struct explanation x;
	(void)state;
	world_init(&w);
	turn(&w);
	have_idle_room(&w, 0);
	w.old_server = true;
	submit_preemptible(&w, &n);
	for (int minute = 1; minute < 60; minute++)
		at(&w, T0 + minute * 60000);
	assert_int_equal(w.sent[INTENT_START], 2);
	assert_true(gate_explain(w.gate, "team-a", "train", w.now_ms, &x));
	assert_non_null(strstr(x.sentence, "kept off idle resources"));
	w.old_server = false;
	for (int minute = 60; minute < 90; minute++)
		at(&w, T0 + minute * 60000);
	assert_int_equal(w.sent[INTENT_START], 3);
	assert_false(w.j->now->job.suspend);
	assert_non_null(strstr(w.j->now->job.admission.story, "\"cpu\":\"idle\""));
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stop_says_why),
		cmocka_unit_test(a_stop_names_the_job_that_it_is_for),
		cmocka_unit_test(fewer_pods_and_the_hold_follows_when_they_are_gone),
		cmocka_unit_test(a_manifest_that_is_applied_again_makes_no_pods),
		cmocka_unit_test(one_that_cannot_be_made_smaller_again_is_stopped),
		cmocka_unit_test(a_number_that_is_raised_stops_the_run),
		cmocka_unit_test(what_was_refused_or_not_answered_is_made_again),
		cmocka_unit_test(who_may_not_be_told_is_stopped),
		cmocka_unit_test(one_refusal_takes_nothing_off_the_story),
		cmocka_unit_test(a_stop_that_is_due_goes_first),
		cmocka_unit_test(a_successor_lowers_the_hold),
		cmocka_unit_test(an_owner_who_wants_fewer_frees_room_later_too),
		cmocka_unit_test(a_count_of_a_run_does_not_release_it),
		cmocka_unit_test(a_start_has_all_that_it_writes),
		cmocka_unit_test(an_old_server_leaves_it_to_ordinary_room),
		cmocka_unit_test(an_old_server_is_asked_again_in_an_hour),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
