/*
 * What the gate does not know for sure: whether it still leads, what became of a start whose story
 * somebody took away, and how many pods there are when the Job's status is behind.
 */
#include "queue/core/model/reservation.h"
#include "world.h"
#include "test/unit/core/inside.h"

/* ---- A successor -------------------------------------------------------------------------------
 */

/* The Job tells that the leader of epoch 2 has started it once more; in the same pass the queue
 * has it stopped. */
static void see_epoch_2_and_stop(struct world *w)
{
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.admission.story = "{\"attempt\":2,\"state\":\"Started\",\"epoch\":2}";
	s->job.admission.state = STORY_STARTED;
	s->job.admission.attempt = 2;
	s->job.admission.epoch = 2;
	model_api_write(&w->api, s, false);
	gate_see_job(w->gate, &w->j->now->job);
	decide(w,
		(struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_PODS_READY_TIMEOUT});
}

static void what_a_successor_started_is_not_stopped(void **state)
{
	struct world *w = *state;
	struct ledger_lease lease;
	model_ledger_lease(w->ledger, "successor", 0, 0, 15000, false, w->tick_ms + 60000, &lease);
	assert_int_equal(lease.epoch, 2);
	see_epoch_2_and_stop(w);
	assert_int_equal(w->sent[INTENT_STOP], 0);
	assert_false(w->j->now->job.suspend);
	assert_true(gate_deposed(w->gate));
}

static void a_story_of_an_epoch_that_never_was_costs_a_look_at_the_lease(void **state)
{
	struct world *w = *state;
	size_t leases = w->sent[INTENT_LEASE];
	see_epoch_2_and_stop(w);
	assert_int_equal(w->sent[INTENT_LEASE], leases + 1);
	assert_int_equal(w->sent[INTENT_STOP], 1);
	assert_true(w->j->now->job.suspend);
	assert_true(gate_leading(w->gate));
}

/* ---- A story that is lost ----------------------------------------------------------------------
 */

/* The start lands unanswered; then its owner suspends the Job, and somebody takes its annotations
 * off. */
static void lose_the_story(struct world *w)
{
	struct snap n = {0};
	w->outcome = JOB_IN_DOUBT;
	w->lands = true;
	submit(w, &n);
	assert_int_equal(w->sent[INTENT_START], 1);
	assert_false(w->j->now->job.suspend);
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.suspend = true;
	s->job.admission.story = NULL;
	s->job.admission.state = STORY_NONE;
	s->job.admission.attempt = 0;
	s->job.admission.epoch = 0;
	model_api_write(&w->api, s, true);
}

/* Its status is of before the start, and tells of no pods. */
static void quota_comes_back_after_the_pods(struct world *w)
{
	const struct uid *uid = &w->j->now->job.uid;
	w->pods = 2;
	at(w, w->now_ms + 5000);
	assert_int_equal(w->j->now->job.admission.state, STORY_STOPPED);
	at(w, w->now_ms + 15000);
	assert_true(w->sent[INTENT_PODS] > 0);
	assert_true(model_ledger_reservation(w->ledger, uid, 1)->open);
	w->pods = 0;
	at(w, w->now_ms + 30000);
	const struct model_reservation *h = model_ledger_reservation(w->ledger, uid, 1);
	assert_false(h->open);
	assert_int_equal(h->closed_by, LEDGER_RELEASE);
	assert_string_equal(h->close.reason, "StoryLost");
}

static void pods_are_looked_for_where_no_story_tells_of_a_start(void **state)
{
	struct world *w = *state;
	lose_the_story(w);
	gate_see_job(w->gate, &w->j->now->job);
	quota_comes_back_after_the_pods(w);
}

static void a_successor_looks_for_them_too(void **state)
{
	struct world *w = *state;
	lose_the_story(w);
	world_restart(w);
	turn(w);
	quota_comes_back_after_the_pods(w);
}

/* What was never told to start is called off at once, after a takeover too. */
static void a_first_start_that_was_not_sent_is_void(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	w->outcome = JOB_BUSY;
	submit(w, &n);
	assert_true(w->j->now->job.suspend);
	world_restart(w);
	turn(w);
	assert_int_equal(w->sent[INTENT_PODS], 0);
	assert_int_equal(model_ledger_reservation(w->ledger, &w->j->now->job.uid, 1)->closed_by,
		LEDGER_VOID);
}

/* ---- A status that is behind -------------------------------------------------------------------
 */

static void write_status(struct world *w, struct job_status status)
{
	struct snap *s = model_api_edit(&w->api, w->j);
	status.has_start_time = true;
	status.start_ms = T0;
	s->job.status = status;
	write_job(w, s, false);
}

/* Two pods that leave end well; the Job controller has made two others in their place, and does not
 * see them yet. */
static void pods_that_leave_and_end_well_take_no_quota_from_others(void **state)
{
	struct world *w = *state;
	write_status(w, (struct job_status){.active = 2, .terminating = 2});
	w->pods = 2;
	write_status(w, (struct job_status){.succeeded = 2});
	assert_int_equal(held_cpu(w), 1000);
	at(w, w->now_ms + 9999);
	assert_int_equal(w->sent[INTENT_PODS], 0);
	at(w, w->now_ms + 1);
	assert_int_equal(w->sent[INTENT_PODS], 1);
	assert_int_equal(held_cpu(w), 1000);
	w->pods = 1;
	at(w, w->now_ms + 1000);
	assert_int_equal(held_cpu(w), 500);
}

/* A pod on a node that died leaves as long as the node is away; another has its place. */
static void a_pod_that_never_leaves_keeps_its_own_quota_alone(void **state)
{
	struct world *w = *state;
	write_status(w, (struct job_status){.active = 2, .terminating = 1});
	write_status(w, (struct job_status){.active = 0, .terminating = 1, .succeeded = 1});
	w->pods = 1;
	at(w, w->now_ms + 9999);
	assert_int_equal(held_cpu(w), 1000);
	at(w, w->now_ms + 1);
	assert_int_equal(w->sent[INTENT_PODS], 1);
	assert_int_equal(held_cpu(w), 500);
	at(w, w->now_ms + INT64_C(60000));
	assert_int_equal(w->sent[INTENT_PODS], 1); /* nothing is left to lower */
}

/* The same with pods of which none was about to leave: those that ended well are needed no more. */
static void pods_that_end_well_free_their_quota_at_once(void **state)
{
	struct world *w = *state;
	write_status(w, (struct job_status){.active = 1, .succeeded = 1});
	assert_int_equal(held_cpu(w), 500);
	assert_int_equal(w->sent[INTENT_PODS], 0);
}

/* A Job as large as etcd takes: its pods are gone, and the Job controller cannot write that down.
 */
static void a_status_that_cannot_be_written_keeps_no_quota_for_ever(void **state)
{
	struct world *w = *state;
	const int64_t overdue_ms = 300000;
	w->pods = 1;
	decide(w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_MAX_RUN});
	int64_t stopped_ms = w->now_ms;
	assert_true(w->j->now->job.suspend);
	at(w, stopped_ms + overdue_ms - 1);
	assert_int_equal(w->sent[INTENT_PODS], 0);
	at(w, stopped_ms + overdue_ms);
	assert_int_equal(w->sent[INTENT_PODS], 1);
	assert_true(first_reservation(w)->open);
	w->pods = 0;
	at(w, stopped_ms + 2 * overdue_ms);
	assert_false(first_reservation(w)->open);
}

/* The leader saw the Job last when one pod had ended and it did not see the next; what its STOP is
 * answered is of after that. */
static void work_is_lost_that_only_the_answer_tells_of(void **state)
{
	struct world *w = *state;
	write_status(w, (struct job_status){.active = 0});
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.status.active = 1;
	model_api_write(&w->api, s, false);
	w->now_ms += 60000;
	w->tick_ms += 60000;
	decide(w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_MAX_RUN});
	assert_true(w->j->now->job.suspend);
	assert_true(w->last[NOTE_STOP].lost_ms == 60000);
}

/* ---- Two who end it ----------------------------------------------------------------------------
 */

/* It ran as long as it may; its owner's manifest suspended it before the STOP came. */
static void a_job_that_was_deactivated_is_on_hold_whoever_suspended_it(void **state)
{
	struct world *w = *state;
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.suspend = true;
	model_api_write(&w->api, s, true);
	decide(w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_MAX_RUN});
	gate_see_job(w->gate, &w->j->now->job);
	turn(w);
	write_status(w, (struct job_status){.suspended = true});
	assert_int_equal(w->j->now->job.admission.state, STORY_STOPPED);
	assert_non_null(strstr(w->j->now->job.admission.story, "\"reason\":\"DeactivatedDueTo"));
	assert_non_null(w->j->now->job.hold);
}

/* ... and its owner takes all annotations off while its pods go. */
static void a_job_that_was_deactivated_is_on_hold_whatever_became_of_its_story(void **state)
{
	struct world *w = *state;
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.suspend = true;
	model_api_write(&w->api, s, true);
	decide(w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_MAX_RUN});
	gate_see_job(w->gate, &w->j->now->job);
	turn(w);
	s = model_api_edit(&w->api, w->j);
	s->job.admission = (struct job_admission){0};
	model_api_write(&w->api, s, false);
	gate_see_job(w->gate, &w->j->now->job);
	turn(w);
	write_status(w, (struct job_status){.suspended = true});
	assert_non_null(w->j->now->job.hold);
}

static int32_t requeues(const struct world *w)
{
	struct job_history h;
	queue_job_history(w->queue, &w->j->now->job.uid, w->now_ms, &h);
	return h.requeues;
}

/* As an earlier leader left it. */
static void write_story(struct snap *s, enum story_state state, const char *text)
{
	s->job.admission.story = text;
	s->job.admission.state = state;
	s->job.admission.attempt = 1;
	s->job.admission.epoch = 0;
	s->job.admission.history.requeues = 1;
}

/* It ran as long as it may; an earlier leader's STOP, for pods that were not ready, comes first. */
static void a_stop_that_came_first_holds_with_its_own_reason(void **state)
{
	struct world *w = *state;
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.suspend = true;
	write_story(s, STORY_STOPPED,
		"{\"attempt\":1,\"state\":\"Stopped\",\"reason\":\"PodsReadyTimeout\"}");
	model_api_write(&w->api, s, true);
	decide(w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_MAX_RUN});
	write_status(w, (struct job_status){.suspended = true});
	assert_null(strstr(w->notes, "DeactivatedDueTo"));
	assert_null(w->j->now->job.hold);
	assert_int_equal(requeues(w), 1);
}

/* etcd went back to before its start. The reservation says that it ran as long as it may; but of no
 * run on this Job was that said, and no hold would be written on it. */
static void a_limit_that_a_start_had_which_never_was_puts_nothing_on_hold(void **state)
{
	struct world *w = *state;
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.suspend = true;
	s->job.admission.story = NULL;
	s->job.admission.state = STORY_NONE;
	s->job.admission.attempt = 0;
	s->job.status = (struct job_status){.suspended = true};
	model_api_write(&w->api, s, true);
	w->pods = 0;
	world_restart(w);
	decide(w, (struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_MAX_RUN});
	at(w, w->now_ms + 60000);
	assert_false(first_reservation(w)->open);
	assert_null(strstr(w->notes, "DeactivatedDueTo"));
	assert_false(w->j->now->job.suspend); /* it starts in its turn */
	assert_int_equal(w->j->now->job.admission.attempt, 2);
}

/* The limits of a LocalQueue for each user count it (queue/features/limits/user_limits.c). */
static void a_run_that_was_adopted_before_it_was_read_counts_for_its_submitter(void **state)
{
	struct world *w = *state;
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.queue = ""; /* so no list tells of it */
	model_api_write(&w->api, s, true);
	world_restart(w);
	turn(w);
	const struct workload *known = inside_workload(w->queue, &w->j->now->job.uid);
	assert_non_null(known->reservation);
	assert_string_equal(known->reservation->user->name, "alice");
}

/* ---- What earlier attempts left behind ---------------------------------------------------------
 */

static void it_is_known_of_a_job_that_was_adopted_before_it_was_read(void **state)
{
	struct world *w = *state;
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.queue = ""; /* so no list tells of it */
	write_story(s, STORY_STARTED, "{\"attempt\":1,\"state\":\"Started\"}");
	model_api_write(&w->api, s, true);
	world_restart(w);
	turn(w);
	assert_true(w->sent[INTENT_READ] > 0);
	assert_int_equal(requeues(w), 1);
}

static void it_is_known_to_a_leader_who_took_over_with_an_older_view(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	w->outcome = JOB_BUSY;
	submit(w, &n);
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.hold = "its owner's";
	write_job(w, s, false);
	at(w, w->now_ms + 5000);
	s = model_api_edit(&w->api, w->j);
	write_story(s, STORY_STOPPED, "{\"attempt\":1,\"state\":\"Stopped\"}");
	write_job(w, s, false);
	assert_int_equal(requeues(w), 1);
}

/* A Job of four pods, lowered to three: for how many its reservation is, a new leader guesses, and
 * the next one otherwise. What each of them gives back is given back. */
static void what_is_guessed_otherwise_is_lowered_too(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	w->pods_of_job = 4;
	submit(w, &n);
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.parallelism = s->job.completions = 3;
	model_api_write(&w->api, s, true);
	write_status(w, (struct job_status){.active = 2, .succeeded = 1});
	w->pods = 1;
	for (int leader = 0; leader < 2; leader++) {
		world_restart(w);
		turn(w);
		write_status(w, (struct job_status){.active = 1, .succeeded = 2});
		at(w, w->now_ms + 20000);
	}
	assert_int_equal(held_cpu(w), 500);
}

/* ---- A watch that is behind the ledger ---------------------------------------------------------
 */

/* A new leader, whose watch shows the Job as it was. */
static void take_over_with(struct world *w, const struct job *older)
{
	w->listed = older;
	world_restart(w);
	turn(w);
}

/* The Job as it was before its start. */
static struct job before_its_start(const struct world *w)
{
	struct job older = w->j->now->job;
	older.version--;
	older.suspend = true;
	older.admission.story = NULL;
	older.admission.state = STORY_NONE;
	older.admission.attempt = 0;
	older.status = (struct job_status){.suspended = true};
	return older;
}

static void a_run_that_is_not_seen_yet_goes_on(void **state)
{
	struct world *w = *state;
	struct job older = before_its_start(w);
	w->pods = 2;
	take_over_with(w, &older);
	assert_int_equal(w->sent[INTENT_READ], 1);
	at(w, w->now_ms + 60000);
	gate_see_job(w->gate, &w->j->now->job);
	turn(w);
	assert_int_equal(w->sent[INTENT_STOP], 0);
	assert_false(w->j->now->job.suspend);
	assert_true(first_reservation(w)->open);
}

/* A pod ended well and gave its quota back, and the watch does not show it yet. */
static void a_run_that_seems_to_have_more_pods_than_quota_is_ready(void **state)
{
	const struct queue_config awaits = {.pods_ready_timeout_ms = 30000};
	struct world *w = *state;
	struct job older = w->j->now->job;
	older.version--;
	assert_int_equal(older.status.ready, 2);
	write_status(w, (struct job_status){.active = 1, .ready = 1, .succeeded = 1});
	assert_int_equal(held_cpu(w), 500);
	w->listed = &older;
	world_restart(w);
	queue_configure(w->queue, &awaits);
	turn(w);
	assert_int_equal(w->sent[INTENT_READ], 1);
	assert_int_equal(w->sent[INTENT_STOP], 0);
	assert_null(strstr(w->notes, "PodsReadyTimeout"));
	assert_int_equal(held_cpu(w), 500);
}

/* A start of the leader before may be under way, and no PATCH of this one. */
static void while_it_is_read_it_is_not_said_to_be_told(void **state)
{
	struct world *w = *state;
	const struct intent *i = NULL;
	struct explanation x;
	decide(w,
		(struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_PODS_READY_TIMEOUT});
	w->outcome = JOB_IN_DOUBT;
	write_status(w, (struct job_status){.suspended = true});
	world_restart(w);
	for (int round = 0; round < 10 && !i; round++) {
		gate_step(w->gate, w->now_ms, w->tick_ms);
		while ((i = gate_take_intent(w->gate)) && i->kind <= INTENT_BATCH)
			answer_ledger(w, i);
	}
	assert_non_null(i);
	assert_int_equal(i->kind, INTENT_READ);
	assert_true(gate_explain(w->gate, "team-a", "train", w->now_ms, &x));
	assert_string_equal(x.sentence,
		"starting: quota is reserved, and the Job is being read: it may have been started already");
}

static void goes_on_as_it_is(struct world *w)
{
	at(w, w->now_ms + 60000);
	assert_int_equal(w->sent[INTENT_STOP], 0);
	assert_false(w->j->now->job.suspend);
	assert_int_equal(held_cpu(w), 1000);
	assert_int_equal(queue_job_pods(w->queue, &w->j->now->job.uid), 2);
}

/* It was taken off before the start. */
static void a_hold_that_is_gone_stops_no_run(void **state)
{
	struct world *w = *state;
	struct job older = before_its_start(w);
	older.hold = "its owner's";
	take_over_with(w, &older);
	goes_on_as_it_is(w);
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.hold = "its owner's"; /* the queue knows the Job as it is now */
	write_job(w, s, false);
	assert_int_equal(w->sent[INTENT_STOP], 1);
}

/* The watch, which is behind, goes on while the Job is being read. */
static void nor_does_one_that_the_watch_still_shows(void **state)
{
	struct world *w = *state;
	struct job older = before_its_start(w), held = older;
	older.version--;
	held.hold = "its owner's";
	w->listed = &older;
	world_restart(w);
	w->shown = &held;
	turn(w);
	assert_null(w->shown);
	goes_on_as_it_is(w);
}

/* It left a LocalQueue that is stopped, and started in another. */
static void a_localqueue_that_was_left_stops_no_run(void **state)
{
	struct world *w = *state;
	struct job older = before_its_start(w);
	struct localqueue_spec left = {.ns = "team-a",
		.name = "left",
		.clusterqueue = "batch",
		.stop_policy = STOP_HOLD_AND_DRAIN};
	older.queue = "left";
	w->listed = &older;
	world_restart(w);
	queue_set_localqueue(w->queue, &left, NULL);
	turn(w);
	goes_on_as_it_is(w);
	left.name = "main";
	queue_set_localqueue(w->queue, &left, NULL);
	turn(w);
	assert_int_equal(w->sent[INTENT_STOP], 1);
}

/* What is seen to run is the attempt before. The start of the one that is reserved may be under way:
 * it is fenced, whatever the watch shows. */
static void a_start_under_way_is_fenced_though_an_earlier_run_is_seen(void **state)
{
	struct world *w = *state;
	write_status(w, (struct job_status){.active = 2});
	struct job older = w->j->now->job;
	decide(w,
		(struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_PODS_READY_TIMEOUT});
	w->outcome = JOB_IN_DOUBT;
	write_status(w, (struct job_status){.suspended = true});
	const struct model_reservation *second =
		model_ledger_reservation(w->ledger, &w->j->now->job.uid, 2);
	assert_true(second && second->open);
	assert_true(w->j->now->job.suspend);
	size_t stops = w->sent[INTENT_STOP];
	take_over_with(w, &older);
	assert_int_equal(w->sent[INTENT_STOP], stops);
	assert_int_equal(w->sent[INTENT_TELL], 1);
	assert_int_equal(second->closed_by, LEDGER_VOID);
	assert_int_equal(w->j->now->job.admission.attempt, 3); /* it has its turn again */
}

/* Etcd went back to a run of attempt 1, and the ledger holds attempt 2. The Job may be seen late, so
 * it is read before it is stopped. */
static void is_stopped_once_it_is_read(struct world *w, struct snap *first)
{
	const struct model_reservation *second =
		model_ledger_reservation(w->ledger, &w->j->now->job.uid, 2);
	assert_true(second && second->open);
	size_t reads = w->sent[INTENT_READ], stops = w->sent[INTENT_STOP];
	w->j->now = first;
	take_over_with(w, &first->job);
	assert_int_equal(w->sent[INTENT_READ], reads + 1);
	assert_int_equal(w->sent[INTENT_STOP], stops + 1);
	assert_true(w->j->now->job.suspend);
	assert_true(second->open); /* as long as the run may have pods */
	write_status(w, (struct job_status){.suspended = true});
	at(w, w->now_ms + 30000);
	assert_false(second->open);
}

static void an_earlier_run_is_stopped_when_the_next_was_to_start(void **state)
{
	struct world *w = *state;
	struct snap *first = w->j->now;
	decide(w,
		(struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_PODS_READY_TIMEOUT});
	w->outcome = JOB_IN_DOUBT;
	write_status(w, (struct job_status){.suspended = true});
	is_stopped_once_it_is_read(w, first);
}

static void an_earlier_run_is_stopped_when_the_next_had_started(void **state)
{
	struct world *w = *state;
	struct snap *first = w->j->now;
	decide(w,
		(struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_PODS_READY_TIMEOUT});
	write_status(w, (struct job_status){.suspended = true});
	assert_int_equal(w->j->now->job.admission.attempt, 2);
	is_stopped_once_it_is_read(w, first);
}

/* A list is as new as what was known when it was asked for; an answer may have come since. */
static void an_older_job_in_a_list_means_that_the_store_went_back(void **state)
{
	struct world *w = *state;
	struct job older = w->j->now->job;
	gate_see_job(w->gate, &older); /* the watch may be late */
	older.version--;
	gate_see_job(w->gate, &older);
	assert_false(gate_store_went_back(w->gate));
	gate_begin_list(w->gate);
	gate_see_job(w->gate, &w->j->now->job);
	assert_false(gate_store_went_back(w->gate));
	gate_see_job(w->gate, &older);
	assert_true(gate_store_went_back(w->gate));
}

/* The API server said that it was gone, and its pods are waited for. */
static void a_list_that_shows_a_job_that_was_gone_means_it_too(void **state)
{
	struct world *w = *state;
	struct job before = w->j->now->job;
	w->pods = 2;
	model_api_remove(&w->api, w->j);
	gate_begin_list(w->gate);
	gate_lose_job(w->gate, &before.uid);
	turn(w);
	assert_true(first_reservation(w)->open);
	gate_see_job(w->gate, &before); /* of a list that was asked for before that */
	assert_false(gate_store_went_back(w->gate));
	gate_begin_list(w->gate);
	gate_see_job(w->gate, &before);
	assert_true(gate_store_went_back(w->gate));
}

/* A start is in doubt, and what is read then is older. A list that is under way meanwhile would not
 * tell. */
static void an_older_answer_means_that_the_store_went_back(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	w->outcome = JOB_IN_DOUBT;
	submit(w, &n);
	struct snap *older = model_api_edit(&w->api, w->j);
	older->job.version--;
	w->j->now = older;
	gate_begin_list(w->gate);
	assert_false(gate_store_went_back(w->gate));
	at(w, w->now_ms + 5000);
	assert_true(w->sent[INTENT_READ] > 0);
	assert_true(gate_store_went_back(w->gate));
}

static void an_answer_may_be_newer_than_the_list_that_is_under_way(void **state)
{
	struct world *w = *state;
	struct job older = w->j->now->job;
	gate_begin_list(w->gate);
	decide(w,
		(struct decision){.kind = DECISION_STOP, .reason = STOP_REASON_PODS_READY_TIMEOUT});
	assert_true(w->j->now->job.version > older.version);
	gate_see_job(w->gate, &older);
	assert_false(gate_store_went_back(w->gate));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RUN(what_a_successor_started_is_not_stopped),
		RUN(a_run_that_is_not_seen_yet_goes_on),
		RUN(a_run_that_seems_to_have_more_pods_than_quota_is_ready),
		RUN(while_it_is_read_it_is_not_said_to_be_told),
		RUN(a_hold_that_is_gone_stops_no_run),
		RUN(a_run_that_was_adopted_before_it_was_read_counts_for_its_submitter),
		RUN(nor_does_one_that_the_watch_still_shows),
		RUN(a_localqueue_that_was_left_stops_no_run),
		RUN(a_start_under_way_is_fenced_though_an_earlier_run_is_seen),
		RUN(an_earlier_run_is_stopped_when_the_next_was_to_start),
		RUN(an_earlier_run_is_stopped_when_the_next_had_started),
		RUN(a_story_of_an_epoch_that_never_was_costs_a_look_at_the_lease),
		WORLD(pods_are_looked_for_where_no_story_tells_of_a_start),
		WORLD(a_successor_looks_for_them_too),
		WORLD(a_first_start_that_was_not_sent_is_void),
		RUN(pods_that_leave_and_end_well_take_no_quota_from_others),
		RUN(a_pod_that_never_leaves_keeps_its_own_quota_alone),
		RUN(pods_that_end_well_free_their_quota_at_once),
		RUN(a_status_that_cannot_be_written_keeps_no_quota_for_ever),
		RUN(work_is_lost_that_only_the_answer_tells_of),
		RUN(a_job_that_was_deactivated_is_on_hold_whoever_suspended_it),
		RUN(a_job_that_was_deactivated_is_on_hold_whatever_became_of_its_story),
		RUN(a_stop_that_came_first_holds_with_its_own_reason),
		RUN(a_limit_that_a_start_had_which_never_was_puts_nothing_on_hold),
		RUN(it_is_known_of_a_job_that_was_adopted_before_it_was_read),
		WORLD(it_is_known_to_a_leader_who_took_over_with_an_older_view),
		WORLD(what_is_guessed_otherwise_is_lowered_too),
		RUN(an_older_job_in_a_list_means_that_the_store_went_back),
		RUN(an_answer_may_be_newer_than_the_list_that_is_under_way),
		WORLD(an_older_answer_means_that_the_store_went_back),
		RUN(a_list_that_shows_a_job_that_was_gone_means_it_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
