/*
 * Jobs that ran before they were queued (newcomer.h): adopted by an admin's word, and by nothing
 * that who may write Jobs can write. The real gate and queue against the simulation's models.
 */
#include "world.h"
#include "queue/cluster/nodes.h"

/* A Job that runs since start_ms, past Sluice, and gets its label now. */
static void come_with(struct world *w, int64_t start_ms, bool was_suspended)
{
	struct snap n = {0};
	n.request[0] = (struct resource){"cpu", 500};
	n.container.requests = (struct resource_list){n.request, 1};
	n.job = (struct job){.ns = "team-a",
		.name = "train",
		.queue = "main",
		.priority_class = "",
		.pod_priority_class = "",
		.parallelism = 2,
		.completions = 2,
		.has_completions = !w->work_queue,
		.resumed_by_other = true,
		.family = "train"};
	n.job.placement.node_selector = w->asks_for;
	n.job.placement.nnode_selector = w->asks_for != NULL;
	n.job.status.has_start_time = true;
	n.job.status.start_ms = start_ms;
	n.job.status.suspended = was_suspended;
	n.job.status.active = n.job.status.ready = 2;
	n.job.status.succeeded = w->work_queue;
	w->j = model_api_create(&w->api, &n);
	w->pods = 2;
	gate_see_job(w->gate, &w->j->now->job);
	turn(w);
}

static void come(struct world *w, int64_t start_ms)
{
	come_with(w, start_ms, false);
}

static const char *sentence(struct world *w)
{
	static struct explanation x;
	assert_true(gate_explain(w->gate, "team-a", "train", w->now_ms, &x));
	return x.sentence;
}

static void assert_adopted(struct world *w)
{
	const struct job *j = &w->j->now->job;
	assert_false(j->suspend);
	assert_int_equal(w->sent[INTENT_STOP], 0);
	assert_int_equal(j->admission.state, STORY_STARTED);
	assert_non_null(strstr(j->admission.story, "\"reason\":\"Adopted\""));
	assert_non_null(strstr(j->admission.story, "\"mac\""));
	assert_true(first_reservation(w)->open);
	assert_int_equal(first_reservation(w)->reservation.state, LEDGER_POSTED);
	assert_int_equal(held_cpu(w), 1000);
}

static void one_that_began_by_the_word_is_adopted(void **state)
{
	struct world *w = *state;
	w->adopt_begun_by_ms = T0 - 60000;
	come(w, T0 - 60000);
	assert_adopted(w);
	assert_int_equal(w->sent[INTENT_NAMESPACE], 1);
	assert_int_equal(w->sent[INTENT_RETELL], 1);
	assert_non_null(strstr(w->notes, "TakeIn: adopted: it ran before it was queued"));
	assert_null(strstr(w->notes, "more than there is"));
	assert_non_null(strstr(sentence(w), "runs since"));
	have_pods(w, 0, 0);
	finish(w);
	assert_false(first_reservation(w)->open);
	assert_int_equal(first_reservation(w)->closed_by, LEDGER_RELEASE);
}

/* A LimitRange was changed, say. No client resumed it since it was adopted. */
static void one_that_counts_for_more_runs_on(void **state)
{
	struct world *w = *state;
	w->adopt_begun_by_ms = T0 - 60000;
	come(w, T0 - 60000);
	struct snap *s = model_api_edit(&w->api, w->j);
	s->request[0].amount = 750;
	write_job(w, s, false);
	assert_adopted(w);
	world_restart(w);
	turn(w);
	assert_adopted(w);
}

/* Suspended, raised and unsuspended while no controller looked. */
static void one_that_is_resumed_with_more_is_stopped(void **state)
{
	struct world *w = *state;
	w->adopt_begun_by_ms = T0 - 60000;
	come(w, T0 - 60000);
	assert_adopted(w);
	struct snap *s = model_api_edit(&w->api, w->j);
	s->request[0].amount = 750;
	s->job.status.start_ms = T0 + 30000;
	model_api_write(&w->api, s, true);
	world_restart(w);
	turn(w);
	assert_int_equal(w->sent[INTENT_STOP], 1);
	assert_string_equal(w->last[NOTE_STOP].reason, "ScaledUp");
}

static void one_that_began_later_is_stopped(void **state)
{
	struct world *w = *state;
	w->adopt_begun_by_ms = T0 - 60000;
	come(w, T0 - 59000);
	assert_int_equal(w->sent[INTENT_STOP], 1);
	assert_true(w->j->now->job.suspend);
	assert_int_equal(w->sent[INTENT_NAMESPACE], 1);
}

static void without_a_word_it_is_stopped(void **state)
{
	struct world *w = *state;
	come(w, T0 - 60000);
	assert_int_equal(w->sent[INTENT_STOP], 1);
}

/* Its status is of before it was resumed: when it began is not known. */
static void one_that_has_just_been_resumed_is_stopped(void **state)
{
	struct world *w = *state;
	w->adopt_begun_by_ms = T0;
	come_with(w, T0 - 60000, true);
	assert_int_equal(w->sent[INTENT_NAMESPACE], 0);
	assert_int_equal(w->sent[INTENT_STOP], 1);
}

/* Stopped by Sluice, its story taken off, unsuspended: it began again after the word. */
static void taking_the_story_off_adopts_nothing(void **state)
{
	struct world *w = *state;
	have_it_run(w);
	w->adopt_begun_by_ms = w->now_ms;
	decide(w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_PREEMPTED});
	assert_int_equal(w->sent[INTENT_STOP], 1);
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.status = (struct job_status){.suspended = true};
	s->job.hold = "by hand";
	write_job(w, s, false);
	assert_false(first_reservation(w)->open);
	at(w, w->now_ms + 20000);
	s = model_api_edit(&w->api, w->j);
	s->job.admission.story = NULL;
	s->job.admission.state = STORY_NONE;
	s->job.admission.attempt = 0;
	s->job.suspend = false;
	s->job.status = (struct job_status){
		.has_start_time = true, .start_ms = w->now_ms, .active = 2, .ready = 2};
	write_job(w, s, true);
	assert_int_equal(w->sent[INTENT_STOP], 2);
	assert_true(w->j->now->job.suspend);
}

static struct model_job *another(struct world *w, const char *name, int64_t cpu, int64_t start_ms)
{
	struct snap n = {0};
	n.request[0] = (struct resource){"cpu", cpu};
	n.container.requests = (struct resource_list){n.request, 1};
	n.job = (struct job){.ns = "team-a",
		.name = name,
		.queue = "main",
		.priority_class = "",
		.pod_priority_class = "",
		.suspend = start_ms == 0,
		.resumed_by_other = start_ms > 0,
		.parallelism = 1,
		.completions = 1,
		.has_completions = true,
		.family = name};
	n.job.status.has_start_time = start_ms > 0;
	n.job.status.start_ms = start_ms;
	n.job.status.active = n.job.status.ready = start_ms > 0;
	struct model_job *j = model_api_create(&w->api, &n);
	gate_see_job(w->gate, &j->now->job);
	return j;
}

static void over_quota_it_is_said_and_nothing_more_starts(void **state)
{
	struct world *w = *state;
	fixture_quota(w->queue, 1000, 0);
	w->adopt_begun_by_ms = T0;
	come(w, T0 - 60000);
	assert_adopted(w);
	w->pods = 1;
	another(w, "late", 400, T0 - 50000);
	turn(w);
	assert_non_null(strstr(w->notes,
		"ClusterQueue batch uses 400m cpu in flavor spot more than there is, so nothing more starts there"));
	struct model_job *next = another(w, "next", 100, 0);
	at(w, w->now_ms + 60000);
	assert_true(next->now->job.suspend);
	assert_int_equal(w->sent[INTENT_START], 0);
	finish(w);
	at(w, w->now_ms + 1000);
	assert_int_equal(w->sent[INTENT_START], 1);
}

/* Pods that wait for nodes cost nothing, whatever they ask for. */
static void what_its_queue_could_never_give_is_not_adopted(void **state)
{
	struct world *w = *state;
	const int64_t cpu[] = {1001, INT64_MAX};
	const struct model_reservation *const *all;
	fixture_quota(w->queue, 1000, 0);
	w->adopt_begun_by_ms = T0;
	w->pods = 1;
	for (size_t i = 0; i < 2; i++) {
		const struct model_job *j = another(w, i ? "huge" : "large", cpu[i], T0 - 60000);
		turn(w);
		assert_false(j->now->job.suspend);
		assert_int_equal(model_ledger_reservations(w->ledger, &all), 0);
		assert_non_null(strstr(w->last[NOTE_KEEP_OUT].text,
			"its pods ask for more than ClusterQueue batch could ever give"));
	}
}

/* There is no room for a story, so the stop goes without one. */
static void one_whose_annotations_are_full_can_be_stopped(void **state)
{
	struct world *w = *state;
	w->adopt_begun_by_ms = T0;
	w->room = 1;
	come(w, T0 - 60000);
	at(w, w->now_ms + 60000);
	assert_int_equal(held_cpu(w), 1000);
	assert_null(w->j->now->job.admission.story);
	decide(w, (struct decision){.kind = DECISION_STOP,
			  .reason = STOP_REASON_PREEMPTED,
			  .preemption = PREEMPTION_IN_CLUSTERQUEUE});
	at(w, w->now_ms + 200000);
	assert_true(w->j->now->job.suspend);
}

/* kill -9 when ADOPT is durable and the story is not written. */
static void a_successor_writes_the_story(void **state)
{
	struct world *w = *state;
	w->adopt_begun_by_ms = T0;
	w->outcome = JOB_BUSY;
	come(w, T0 - 60000);
	assert_true(first_reservation(w)->open);
	assert_null(w->j->now->job.admission.story);
	world_restart(w);
	at(w, w->now_ms + 1000);
	assert_adopted(w);
	assert_int_equal(w->sent[INTENT_NAMESPACE], 1);
}

static void a_batch_that_is_not_answered_adopts_once(void **state)
{
	struct world *w = *state;
	const struct model_reservation *const *all;
	w->adopt_begun_by_ms = T0;
	w->batches_lost = 1;
	come(w, T0 - 60000);
	at(w, w->now_ms + 60000);
	assert_adopted(w);
	assert_int_equal(model_ledger_reservations(w->ledger, &all), 1);
}

/* Its queue is stopped: it runs on, counted nowhere, and says so. */
static void one_that_its_queue_cannot_take_runs_on(void **state)
{
	struct world *w = *state;
	struct localqueue_spec local = {.ns = "team-a",
		.name = "main",
		.clusterqueue = "batch",
		.stop_policy = STOP_HOLD_AND_DRAIN};
	const struct model_reservation *const *all;
	queue_set_localqueue(w->queue, &local, NULL);
	w->adopt_begun_by_ms = T0;
	come(w, T0 - 60000);
	at(w, w->now_ms + 60000);
	assert_int_equal(w->sent[INTENT_STOP], 0);
	assert_false(w->j->now->job.suspend);
	assert_int_equal(model_ledger_reservations(w->ledger, &all), 0);
	assert_non_null(strstr(sentence(w),
		"holds no quota; it is adopted when this is over: LocalQueue team-a/main is stopped"));
	local.stop_policy = STOP_NONE;
	queue_set_localqueue(w->queue, &local, NULL);
	at(w, w->now_ms + 20000);
	assert_adopted(w);
}

/* ---- where its pods are ---------------------------------------------------------------------- */

static const char *const ON_DEMAND[] = {"d1", "d2", "d3"};

/* Nodes of the fixture's flavors, and one of neither. The nodes of spot have a taint that its flavor does
 * not name. */
static void have_nodes(struct queue *q)
{
	static const char *const pool[] = {"spot", "on-demand", "on-demand", "on-demand", "other"};
	static const char *const name[] = {"s1", "d1", "d2", "d3", "x1"};
	static const struct taint taint = {"spot", "true", TAINT_NO_SCHEDULE};
	for (size_t i = 0; i < 5; i++) {
		struct label labels[] = {{"kubernetes.io/hostname", name[i]}, {"pool", pool[i]}};
		struct node_spec s = {.name = name[i],
			.labels = labels,
			.nlabels = 2,
			.taints = &taint,
			.ntaints = i == 0};
		queue_set_node(q, &s);
	}
}

static const char *held_flavor(const struct world *w)
{
	assert_int_equal(first_reservation(w)->reservation.nlines, 1);
	return first_reservation(w)->reservation.lines[0].flavor;
}

static void the_nodes_of_its_pods_tell_its_flavor(void **state)
{
	static const struct {
		const char *what, *node[2], *flavor;
	} cases[] = {
		{"no pod has a node", {NULL, NULL}, "spot"},
		{"nodes of the second flavor", {"d1", "d2"}, "on-demand"},
		{"one has a node", {"d3", NULL}, "on-demand"},
		{"nodes of the first", {"s1", "s1"}, "spot"},
		{"as many on each: the first", {"d1", "s1"}, "spot"},
		{"a node of no flavor tells nothing", {"x1", "d1"}, "on-demand"},
		{"nor do all", {"x1", "x1"}, "spot"},
		{"nor does one that is not known", {"gone", NULL}, "spot"},
	};
	struct world *w = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		print_message("  %s\n", cases[i].what);
		world_done(w);
		world_init(w);
		fixture_quota(w->queue, 4000, 4000);
		have_nodes(w->queue);
		w->node = cases[i].node;
		w->nnodes = (size_t)(cases[i].node[0] != NULL) + (cases[i].node[1] != NULL);
		w->adopt_begun_by_ms = T0;
		come(w, T0 - 60000);
		assert_adopted(w);
		assert_string_equal(held_flavor(w), cases[i].flavor);
	}
}

/* More than there is of it, and not of another flavor. */
static void it_is_booked_where_it_is_over_quota(void **state)
{
	struct world *w = *state;
	fixture_quota(w->queue, 4000, 1000);
	have_nodes(w->queue);
	w->node = ON_DEMAND;
	w->nnodes = 2;
	w->adopt_begun_by_ms = T0;
	come(w, T0 - 60000);
	assert_string_equal(held_flavor(w), "on-demand");
	w->pods = w->nnodes = 1;
	another(w, "late", 400, T0 - 50000);
	turn(w);
	assert_non_null(strstr(w->notes, "uses 400m cpu in flavor on-demand more than there is"));
	another(w, "large", 1001, T0 - 50000);
	turn(w);
	assert_non_null(strstr(w->last[NOTE_KEEP_OUT].text,
		"its pods ask for more than ClusterQueue batch could ever give in flavor on-demand, on whose nodes they are"));
}

/* A name in spec.nodeName needs no toleration, and its owner asks for cheap nodes as well. */
static void where_they_are_counts_and_not_what_they_ask_for(void **state)
{
	static const struct label pool = {"pool", "spot"};
	struct world *w = *state;
	fixture_quota(w->queue, 4000, 4000);
	have_nodes(w->queue);
	w->node = ON_DEMAND;
	w->nnodes = 2;
	w->adopt_begun_by_ms = T0;
	w->asks_for = &pool;
	come(w, T0 - 60000);
	assert_adopted(w);
	assert_string_equal(held_flavor(w), "on-demand");
}

/* Made by its owner on a cheap node, with its label and its owner reference. */
static void pods_beyond_what_it_asks_for_choose_nothing(void **state)
{
	static const char *const with_more[] = {"d1", "d2", "s1", "s1", "s1"};
	const struct model_reservation *const *all;
	struct world *w = *state;
	fixture_quota(w->queue, 4000, 4000);
	have_nodes(w->queue);
	w->node = with_more;
	w->nnodes = 5;
	w->adopt_begun_by_ms = T0;
	come(w, T0 - 60000);
	assert_int_equal(model_ledger_reservations(w->ledger, &all), 0);
	assert_non_null(strstr(sentence(w), "more pods of it are on nodes than it asks for"));
	w->nnodes = 2;
	at(w, w->now_ms + 310000);
	assert_adopted(w);
	assert_string_equal(held_flavor(w), "on-demand");
}

/* Of a work queue of which a pod has succeeded the Job controller deletes none: they would always be too many. */
static void pods_of_a_work_queue_that_ends_are_never_too_many(void **state)
{
	struct world *w = *state;
	fixture_quota(w->queue, 4000, 4000);
	have_nodes(w->queue);
	w->work_queue = true;
	w->node = ON_DEMAND;
	w->nnodes = 2;
	w->adopt_begun_by_ms = T0;
	come(w, T0 - 60000);
	assert_adopted(w);
	assert_string_equal(held_flavor(w), "on-demand");
}

/* As `sluice adopt --dry-run` promises. */
static void its_nodes_count_where_its_template_suits_no_flavor(void **state)
{
	static const struct label pool = {"pool", "none"};
	struct world *w = *state;
	fixture_quota(w->queue, 4000, 4000);
	have_nodes(w->queue);
	w->node = ON_DEMAND;
	w->nnodes = 2;
	w->adopt_begun_by_ms = T0;
	w->asks_for = &pool;
	come(w, T0 - 60000);
	assert_adopted(w);
	assert_string_equal(held_flavor(w), "on-demand");
}

/* Its pods would fit in the flavor that comes first, and not in that where they are. */
static void one_that_never_passes_has_its_pods_listed_each_five_minutes(void **state)
{
	struct world *w = *state;
	fixture_quota(w->queue, 4000, 999);
	have_nodes(w->queue);
	w->node = ON_DEMAND;
	w->nnodes = 2;
	w->adopt_begun_by_ms = T0;
	come(w, T0 - 60000);
	for (int i = 0; i < 29 * 60; i += 10)
		at(w, w->now_ms + 10000);
	assert_in_range(w->sent[INTENT_PODS], 4, 6);
	assert_non_null(strstr(sentence(w), "its pods ask for more than"));
	fixture_quota(w->queue, 4000, 1000);
	at(w, w->now_ms + 20000);
	assert_adopted(w);
}

/* It was counted while its queue was stopped, and has moved since. */
static void no_old_count_is_written_to_the_ledger(void **state)
{
	static const char *const spot[] = {"s1", "s1"};
	struct localqueue_spec local = {.ns = "team-a",
		.name = "main",
		.clusterqueue = "batch",
		.stop_policy = STOP_HOLD_AND_DRAIN};
	struct world *w = *state;
	fixture_quota(w->queue, 4000, 4000);
	have_nodes(w->queue);
	queue_set_localqueue(w->queue, &local, NULL);
	w->node = ON_DEMAND;
	w->nnodes = 2;
	w->adopt_begun_by_ms = T0;
	come(w, T0 - 60000);
	at(w, w->now_ms + 60000);
	assert_int_equal(w->sent[INTENT_PODS], 1);
	w->node = spot;
	local.stop_policy = STOP_NONE;
	queue_set_localqueue(w->queue, &local, NULL);
	at(w, w->now_ms + 20000);
	assert_int_equal(w->sent[INTENT_PODS], 2);
	assert_adopted(w);
	assert_string_equal(held_flavor(w), "spot");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD(one_that_began_by_the_word_is_adopted),
		WORLD(one_that_counts_for_more_runs_on),
		WORLD(one_that_is_resumed_with_more_is_stopped),
		WORLD(one_that_began_later_is_stopped),
		WORLD(without_a_word_it_is_stopped),
		WORLD(one_that_has_just_been_resumed_is_stopped),
		WORLD(taking_the_story_off_adopts_nothing),
		WORLD(over_quota_it_is_said_and_nothing_more_starts),
		WORLD(one_whose_annotations_are_full_can_be_stopped),
		WORLD(what_its_queue_could_never_give_is_not_adopted),
		WORLD(a_successor_writes_the_story),
		WORLD(a_batch_that_is_not_answered_adopts_once),
		WORLD(one_that_its_queue_cannot_take_runs_on),
		WORLD(the_nodes_of_its_pods_tell_its_flavor),
		WORLD(it_is_booked_where_it_is_over_quota),
		WORLD(where_they_are_counts_and_not_what_they_ask_for),
		WORLD(pods_beyond_what_it_asks_for_choose_nothing),
		WORLD(pods_of_a_work_queue_that_ends_are_never_too_many),
		WORLD(its_nodes_count_where_its_template_suits_no_flavor),
		WORLD(one_that_never_passes_has_its_pods_listed_each_five_minutes),
		WORLD(no_old_count_is_written_to_the_ledger),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
