/*
 * What the gate does around a run: the warning before a stop, and the bill. The real gate and queue
 * against the simulation's models of the API server and the ledger; only what the queue says of
 * windows and prices is put into its mouth (the linker wraps these calls), so that each thing that
 * may go wrong can be made to.
 */
#include "world.h"

#include "queue/calendar/zone.h"

/* ---- What the queue is made to say ------------------------------------------------------------
 */

static struct run_bill bill;
static int64_t finished_ms;

bool __wrap_queue_job_bill(
	struct queue *q, const struct uid *uid, int64_t now_ms, struct run_bill *ret);
bool __wrap_queue_job_bill(
	struct queue *q, const struct uid *uid, int64_t now_ms, struct run_bill *ret)
{
	struct quota_line lines[QUEUE_LINES_MAX];
	assert_true(queue_job_lines(q, uid, lines) > 0); /* not after the release */
	*ret = bill;
	ret->cost += now_ms - T0;
	return bill.priced;
}

static size_t costs_asked;

bool __wrap_queue_job_cost(
	struct queue *q, const struct uid *uid, int64_t now_ms, struct run_cost *ret);
bool __wrap_queue_job_cost(
	struct queue *q, const struct uid *uid, int64_t now_ms, struct run_cost *ret)
{
	(void)q, (void)uid;
	costs_asked++;
	*ret = (struct run_cost){bill.priced, bill.currency, bill.cost + now_ms - T0};
	return true;
}

void __wrap_queue_finished_job(struct queue *q, const struct uid *uid, int64_t now_ms);
void __wrap_queue_finished_job(struct queue *q, const struct uid *uid, int64_t now_ms)
{
	struct quota_line lines[QUEUE_LINES_MAX];
	assert_true(queue_job_lines(q, uid, lines) > 0);
	finished_ms = now_ms;
}

static void say_nothing(void)
{
	bill = (struct run_bill){0};
	finished_ms = 0;
}

static void begin(struct world *w)
{
	world_init(w);
	say_nothing();
}

static int open_silent_world(void **state)
{
	say_nothing();
	return open_world(state);
}

static int open_silent_run(void **state)
{
	say_nothing();
	return open_run(state);
}

/* Open from 09:00 to 10:05; what runs then goes on. */
static void have_a_window(struct world *w)
{
	static const char *const batch[] = {"batch"};
	struct zone *utc = zone_utc();
	struct window_spec day = {.name = "day",
		.shape = WINDOW_DAYS,
		.days = 127,
		.from_minute = 9 * 60,
		.to_minute = 10 * 60 + 5};
	struct calendar_spec c = {
		.name = "days", .time_zone = "UTC", .zone = utc, .window = &day, .nwindows = 1};
	struct runpolicy_spec p = {.name = "days",
		.queues = batch,
		.nqueues = 1,
		.calendar = "days",
		.max_suspensions = RUNPOLICY_SUSPENSIONS_UNLIMITED};
	bool again;
	assert_int_equal(queue_set_calendar(w->queue, &c, NULL), 0);
	assert_int_equal(queue_set_runpolicy(w->queue, &p, &again, NULL), 0);
	zone_free(utc);
}

static void decide_notice(struct world *w, int64_t stop_ms)
{
	decide(w, (struct decision){.kind = DECISION_NOTICE,
			  .reason = STOP_REASON_WINDOW_CLOSED,
			  .stop_ms = stop_ms,
			  .policy = "nights"});
}

static void decide_stop(struct world *w)
{
	decide(w, (struct decision){.kind = DECISION_STOP,
			  .reason = STOP_REASON_WINDOW_CLOSED,
			  .policy = "nights"});
}

static int64_t says(const struct world *w)
{
	return w->j->now->job.annotations.stopping_at_ms;
}

/* ---- Windows (A.4, rule 4) --------------------------------------------------------------------
 */

static void a_start_that_was_not_sent_by_the_close_is_called_off(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	turn(w);
	have_a_window(w);
	w->batches_lost = 1000;
	submit(w, &n);
	at(w, T0 + 299000);
	assert_int_equal(w->sent[INTENT_START], 0);
	w->now_ms = T0 + 300000;
	w->batches_lost = 0;
	for (int64_t s = 300; s < 400; s += 5)
		at(w, T0 + s * 1000);
	assert_int_equal(w->sent[INTENT_START], 0);
	assert_true(w->j->now->job.suspend);
	assert_non_null(strstr(w->notes, "called off: WindowClosed"));
	at(w, T0 + INT64_C(23) * 3600000);
	assert_int_equal(w->sent[INTENT_START], 1);
	assert_false(w->j->now->job.suspend);
}

/* It would carry nothing of the flavor: no node selector, no label. */
static void a_start_whose_flavor_is_gone_is_called_off(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	turn(w);
	w->batches_lost = 1000;
	submit(w, &n);
	assert_int_equal(w->sent[INTENT_START], 0);
	queue_drop_flavor(w->queue, "spot");
	w->batches_lost = 0;
	for (int64_t s = 1; s < 60; s++)
		at(w, T0 + s * 1000);
	assert_int_equal(w->sent[INTENT_START], 0);
	assert_int_equal(first_reservation(w)->open, false);
	assert_non_null(strstr(w->notes, "called off: FlavorNotFound"));

	struct flavor_spec spot = {.name = "spot"};
	assert_int_equal(queue_set_flavor(w->queue, &spot, NULL), 0);
	at(w, T0 + 120000);
	assert_int_equal(w->sent[INTENT_START], 1);
	assert_false(w->j->now->job.suspend);
}

/* A successor may lead by now. What it wrote on the Job to hold our start off may be gone again, when
 * etcd went back. */
static void no_start_is_sent_once_the_lease_has_run_out(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	turn(w);
	w->outcome = JOB_BUSY;
	submit(w, &n);
	assert_true(w->sent[INTENT_START] > 0);
	w->lease_silent = true;
	at(w, T0 + 20000);
	size_t sent = w->sent[INTENT_START];
	w->outcome = JOB_DONE;
	for (int64_t s = 20; s < 60; s++)
		at(w, T0 + s * 1000);
	assert_int_equal(w->sent[INTENT_START], sent);
	assert_true(w->j->now->job.suspend);
}

static void a_start_that_was_sent_by_the_close_counts_as_running(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	turn(w);
	have_a_window(w);
	w->now_ms = T0 + 299000;
	w->outcome = JOB_IN_DOUBT;
	w->lands = true;
	submit(w, &n);
	at(w, T0 + 300000);
	for (int64_t s = 301; s < 400; s += 5)
		at(w, T0 + s * 1000);
	assert_int_equal(w->sent[INTENT_STOP], 0);
	assert_false(w->j->now->job.suspend);
}

/* ---- Warnings ---------------------------------------------------------------------------------
 */

static void a_job_is_told_once_and_the_stop_takes_it_back(void **state)
{
	struct world *w = *state;
	at(w, T0 + 60000);
	decide_notice(w, STOP_MS + 750);
	assert_int_equal(w->sent[INTENT_WARN], 1);
	assert_true(says(w) == STOP_MS);
	assert_false(w->j->now->job.suspend);
	assert_string_equal(w->last[NOTE_WARN].text,
		"will be stopped at 2026-11-21T10:10:00Z (WindowClosed; the window of RunPolicy "
		"nights closes): 2m of pod time would be lost now, 20m then");
	assert_true(w->last[NOTE_WARN].lost_ms == 1201500);
	at(w, T0 + 120000);
	assert_int_equal(w->sent[INTENT_WARN], 1);

	at(w, STOP_MS);
	decide_stop(w);
	assert_true(w->j->now->job.suspend);
	assert_true(says(w) == 0);
	assert_non_null(strstr(w->j->now->job.admission.story, "\"reason\":\"WindowClosed\""));
	assert_non_null(strstr(w->j->now->job.admission.story,
		"\"message\":\"the window of RunPolicy nights closes\""));
	assert_string_equal(w->last[NOTE_STOP].reason, "WindowClosed");
	assert_true(w->last[NOTE_STOP].lost_ms == 1200000);
}

static void another_time_is_told_as_well(void **state)
{
	struct world *w = *state;
	decide_notice(w, STOP_MS);
	decide_notice(w, STOP_MS + 60000);
	assert_int_equal(w->sent[INTENT_WARN], 2);
	assert_true(says(w) == STOP_MS + 60000);
}

static void what_was_refused_or_not_answered_is_made_again(void **state)
{
	static const enum job_outcome outcomes[] = {JOB_REFUSED, JOB_BUSY, JOB_IN_DOUBT};
	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct world w;
		begin(&w);
		have_it_run(&w);
		w.outcome = outcomes[k];
		decide_notice(&w, STOP_MS);
		assert_true(says(&w) == 0);
		at(&w, T0 + 10000);
		assert_int_equal(w.sent[INTENT_WARN], 2);
		assert_true(says(&w) == STOP_MS);
		world_done(&w);
	}
}

static void one_that_landed_unanswered_is_not_made_again_and_comes_off(void **state)
{
	struct world *w = *state;
	w->outcome = JOB_IN_DOUBT;
	w->lands = true;
	decide_notice(w, STOP_MS);
	decide_stop(w); /* before anybody knows that it landed */
	assert_true(w->j->now->job.suspend);
	assert_true(says(w) == 0);
	assert_int_equal(w->sent[INTENT_WARN], 1);
}

static void a_stop_that_is_due_goes_first(void **state)
{
	struct world *w = *state;
	w->outcome = JOB_BUSY;
	decide_notice(w, STOP_MS);
	decide_stop(w); /* while the warning waits to be made again */
	at(w, T0 + 60000);
	assert_true(w->j->now->job.suspend);
	assert_int_equal(w->sent[INTENT_WARN], 1);
}

static void a_job_that_is_gone_is_not_told(void **state)
{
	struct world *w = *state;
	model_api_remove(&w->api, w->j);
	decide_notice(w, STOP_MS); /* nobody has heard of the deletion */
	at(w, T0 + 30000);
	assert_int_equal(w->sent[INTENT_WARN], 1);
	assert_non_null(strstr(w->notes, "Stop: Stopped, because its Job was deleted: "));
}

/* Its label was taken off: it is not ours to tell, and the gate does not go round and round. */
static void a_job_off_the_watch_is_not_told(void **state)
{
	struct world *w = *state;
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.queue = "";
	model_api_write(&w->api, s, false);
	gate_lose_job(w->gate, &w->j->now->job.uid);
	turn(w);
	decide_notice(w, STOP_MS);
	at(w, T0 + 30000);
	assert_int_equal(w->sent[INTENT_WARN], 0);
}

static void a_successor_tells_nobody_twice(void **state)
{
	struct world *w = *state;
	decide_notice(w, STOP_MS);
	world_restart(w);
	w->notes[0] = '\0';
	turn(w);
	decide_notice(w, STOP_MS);
	at(w, T0 + 120000);
	assert_int_equal(w->sent[INTENT_WARN], 1);
	assert_null(strstr(w->notes, "Warn: "));
}

/* A successor may lead, and write another time: the two would overwrite each other for ever. */
static void nothing_is_told_while_the_lease_has_run_out(void **state)
{
	struct world *w = *state;
	w->lease_silent = true;
	at(w, T0 + 30000);
	decide_notice(w, STOP_MS);
	assert_int_equal(w->sent[INTENT_WARN], 0);
	at(w, T0 + 60000);
	assert_int_equal(w->sent[INTENT_WARN], 0);
	assert_true(says(w) == 0);
}

/* A process that slept: its lease has run out, and is confirmed at once. */
static void what_waits_for_the_lease_is_told_when_that_is_confirmed(void **state)
{
	struct world *w = *state;
	w->now_ms += 30000;
	w->tick_ms += 30000;
	decide_notice(w, STOP_MS);
	assert_int_equal(w->sent[INTENT_WARN], 1);
	assert_true(says(w) == STOP_MS);
}

static void a_stop_that_does_not_come_is_taken_back(void **state)
{
	struct world *w = *state;
	decide_notice(w, STOP_MS);
	at(w, STOP_MS + 30000);
	assert_true(says(w) == STOP_MS);
	at(w, STOP_MS + 61000);
	assert_true(says(w) == 0);
	assert_false(w->j->now->job.suspend);
	at(w, STOP_MS + 600000);
	assert_int_equal(w->sent[INTENT_WARN], 2);
}

/* Its user suspends it: what it was told was of that run. */
static void who_is_suspended_by_others_is_not_told_any_more(void **state)
{
	struct world *w = *state;
	decide_notice(w, STOP_MS);
	struct snap *s = model_api_edit(&w->api, w->j);
	snap_suspend(s, true);
	s->job.suspended_by_person = true;
	s->job.status = (struct job_status){.suspended = true};
	write_job(w, s, true);
	assert_non_null(strstr(w->j->now->job.admission.story, "SuspendedByOther"));
	assert_true(says(w) == 0);
}

/* ---- Manifests that are applied again ---------------------------------------------------------
 */

/* A namespace that is deleted loses its pods first, one by one, and its Jobs when none is left. */
static void take_pods_and_job(struct world *w)
{
	for (int32_t left = 1; left >= 0; left--) {
		have_pods(w, left, 2 - left);
		have_pods(w, left, 0);
		at(w, w->now_ms + 1000);
	}
	gate_lose_job(w->gate, &w->j->now->job.uid);
	model_api_remove(&w->api, w->j);
	turn(w);
}

static void a_deleted_namespace_costs_the_work_of_its_pods(void **state)
{
	struct world *w = *state;
	at(w, T0 + 120000);
	take_pods_and_job(w);
	assert_string_equal(w->last[NOTE_STOP].reason, "Deleted");
	assert_true(w->last[NOTE_STOP].lost_ms == 2 * 122000);
}

/* One of the two ended well before. */
static void what_ended_well_is_not_lost_with_a_namespace(void **state)
{
	struct world *w = *state;
	struct snap *s = model_api_edit(&w->api, w->j);
	at(w, T0 + 120000);
	s->job.status.active = s->job.status.succeeded = 1;
	write_job(w, s, false);
	take_pods_and_job(w);
	assert_true(w->last[NOTE_STOP].lost_ms == 122000);
}

/* A tool applies the manifest, which says suspend: true; the Job controller ends the pods. */
static void apply_again(struct world *w)
{
	struct snap *s = model_api_edit(&w->api, w->j);
	snap_suspend(s, true);
	s->job.suspended_by_person = false;
	s->job.suspender = "helm";
	s->job.status = (struct job_status){.suspended = true};
	write_job(w, s, true);
}

static void see_it_start(struct world *w)
{
	assert_false(w->j->now->job.suspend);
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.status = (struct job_status){
		.has_start_time = true, .start_ms = w->now_ms, .active = 2, .ready = 2};
	write_job(w, s, false);
}

/* Not held: it comes back by itself, each time after twice as long. */
static void a_manifest_that_is_applied_again_holds_nobody(void **state)
{
	static const int64_t pauses_ms[] = {10000, 20000, 40000, 80000, 160000};
	struct world *w = *state;
	struct explanation x;
	for (size_t i = 0; i < sizeof(pauses_ms) / sizeof(*pauses_ms); i++) {
		at(w, w->now_ms + 60000);
		apply_again(w);
		assert_false(first_reservation(w)->open);
		assert_null(w->j->now->job.hold);
		assert_non_null(strstr(w->j->now->job.admission.story, "SuspendedByManifest"));
		assert_string_equal(w->last[NOTE_STOP].reason, "SuspendedByManifest");
		assert_false(w->last[NOTE_STOP].on_hold);
		assert_true(w->last[NOTE_STOP].lost_ms == 120000);
		assert_non_null(strstr(
			w->last[NOTE_STOP].text, "sluice.dev/hold (this time it was helm); "));
		assert_true(gate_explain(w->gate, "team-a", "train", w->now_ms, &x));
		assert_non_null(strstr(x.sentence, "spec.suspend was set to true while it ran"));
		at(w, w->now_ms + pauses_ms[i] - 1000);
		assert_true(w->j->now->job.suspend);
		at(w, w->now_ms + 1000);
		see_it_start(w);
	}
	/* This run is long: what was before it does not count any more. */
	at(w, w->now_ms + 4 * INT64_C(3600000));
	apply_again(w);
	at(w, w->now_ms + 10000);
	see_it_start(w);
}

/* Nobody led, and the Job is found so. */
static void a_successor_finds_it_and_has_it_start(void **state)
{
	struct world *w = *state;
	struct snap *s = model_api_edit(&w->api, w->j);
	snap_suspend(s, true);
	s->job.status = (struct job_status){.suspended = true};
	model_api_write(&w->api, s, true);
	world_restart(w);
	turn(w);
	at(w, w->now_ms + 20000);
	see_it_start(w);
	assert_null(w->j->now->job.hold);
	assert_int_equal(w->j->now->job.admission.attempt, 2);
}

/* Its pods end: it is said why, and when its quota is free. */
static void a_run_that_its_owner_holds_says_so_while_it_stops(void **state)
{
	static const struct {
		const char *hold, *said;
	} rows[] = {
		{"no data",
			"on hold: no data; it is being stopped, its quota is free once its last pod is gone"},
		{"yes", "on hold; it is being stopped, its quota is free once its last pod is gone"},
		{NULL, "ended (Held); its quota is free once its last pod is gone"}};
	struct world *w = *state;
	struct explanation x;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct snap *s = model_api_edit(&w->api, w->j);
		s->job.hold = rows[i].hold;
		write_job(w, s, false);
		assert_true(gate_explain(w->gate, "team-a", "train", w->now_ms, &x));
		assert_string_equal(x.sentence, rows[i].said);
	}
}

static void a_person_who_means_it_is_heeded(void **state)
{
	static const char hold[] = "suspended by kubectl-edit at 2026-11-21T10:00:00Z while it ran";
	struct world *w = *state;
	struct explanation x;
	struct snap *s = model_api_edit(&w->api, w->j);
	snap_suspend(s, true);
	s->job.suspended_by_person = true;
	s->job.suspender = "kubectl-edit";
	s->job.suspended_ms = T0;
	s->job.status.terminating = s->job.status.active;
	s->job.status.active = 0;
	write_job(w, s, true);
	assert_non_null(strstr(w->last[NOTE_STOP].text, hold));
	assert_true(gate_explain(w->gate, "team-a", "train", w->now_ms, &x));
	assert_non_null(strstr(x.sentence, hold));
	assert_null(w->j->now->job.hold);
	s = model_api_edit(&w->api, w->j);
	s->job.status = (struct job_status){.suspended = true};
	write_job(w, s, false);
	assert_string_equal(w->j->now->job.hold, hold);
	assert_true(gate_explain(w->gate, "team-a", "train", w->now_ms, &x));
	assert_ptr_equal(strstr(x.sentence, "on hold: \"suspended by kubectl-edit"), x.sentence);
	at(w, w->now_ms + INT64_C(3600000));
	assert_true(w->j->now->job.suspend);
}

/* ---- What the API server refuses --------------------------------------------------------------
 */

static size_t holds_open(const struct world *w)
{
	const struct model_reservation *const *holds;
	size_t open = 0;
	for (size_t i = model_ledger_reservations(w->ledger, &holds); i-- > 0;)
		open += holds[i]->open;
	return open;
}

/* Tried after 10, 20, 40 and 80 s, without quota in between; then it is on hold, and says why. */
static void a_start_that_is_refused_is_put_on_hold(void **state)
{
	static const int64_t pauses_ms[] = {10000, 20000, 40000, 80000};
	struct world *w = *state;
	struct snap n = {0};
	turn(w);
	w->denied = 5;
	submit(w, &n);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(w->sent[INTENT_START], i + 1);
		assert_int_equal(holds_open(w), 0);
		at(w, w->now_ms + pauses_ms[i] - 1000);
		assert_int_equal(w->sent[INTENT_START], i + 1);
		at(w, w->now_ms + pauses_ms[i] / 4 + 1500);
	}
	assert_int_equal(w->sent[INTENT_START], 5);
	assert_int_equal(holds_open(w), 0);
	assert_non_null(w->j->now->job.hold);
	assert_non_null(strstr(w->j->now->job.hold, "5 times in a row: metadata.annotations"));
	assert_int_equal(w->j->now->job.admission.state, STORY_FENCED);
	assert_non_null(strstr(w->last[NOTE_HOLD].text, "correct the Job"));
	at(w, w->now_ms + INT64_C(3600000));
	assert_int_equal(w->sent[INTENT_START], 5);

	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.hold = NULL;
	write_job(w, s, false);
	assert_int_equal(w->sent[INTENT_START], 6);
	assert_false(w->j->now->job.suspend);
}

static void have_flavor_in(struct world *w, const char *name, const char *zone)
{
	struct requirement r = {.key = "zone", .op = SELECTOR_IN, .values = &zone, .nvalues = 1};
	struct node_term term = {.labels = {&r, 1}};
	struct flavor_spec s = {.name = name, .adds = {.terms = &term, .nterms = 1}};
	assert_int_equal(queue_set_flavor(w->queue, &s, NULL), 0);
}

/* Ignore: no node is asked whether the two go together. */
static void have_two_groups(struct world *w)
{
	static const char *const cpu[] = {"cpu"}, *const gpu[] = {"example.com/gpu"};
	struct quota_spec of_cpu = {"cpu", 4000, QUOTA_UNLIMITED, QUOTA_UNLIMITED};
	struct quota_spec of_gpu = {gpu[0], 8, QUOTA_UNLIMITED, QUOTA_UNLIMITED};
	struct flavor_quota_spec spot = {"spot", &of_cpu, 1}, a100 = {"a100", &of_gpu, 1};
	struct resource_group_spec groups[] = {{cpu, 1, &spot, 1}, {gpu, 1, &a100, 1}};
	struct clusterqueue_spec s = {.name = "batch",
		.cohort = "",
		.groups = groups,
		.ngroups = 2,
		.cluster_fit = CLUSTER_FIT_IGNORE,
		.has_namespace_selector = true};
	assert_int_equal(queue_set_clusterqueue(w->queue, &s, NULL), 0);
}

/* Two flavors of which no patch can be made are told in time, hold no quota, and start once an
 * admin has changed one of them. */
static void flavors_that_exclude_each_other_put_it_on_hold(void **state)
{
	struct world *w = *state;
	struct snap n = {.request[1] = {"example.com/gpu", 1}};
	turn(w);
	have_two_groups(w);
	have_flavor_in(w, "spot", "a");
	have_flavor_in(w, "a100", "b");
	submit(w, &n);
	while (!w->j->now->job.hold && w->now_ms < T0 + 600000) {
		assert_int_equal(holds_open(w), 0);
		at(w, w->now_ms + 1000);
	}
	assert_int_equal(w->sent[INTENT_START], 5);
	assert_int_equal(holds_open(w), 0);
	assert_true(w->j->now->job.suspend);
	assert_string_equal(w->j->now->job.hold,
		"its start was refused 5 times in a row: spec.podTemplate of flavors spot, a100 and the Job's node affinity exclude each other, or are too much together (an admin can change the flavors); correct the Job");

	at(w, w->now_ms + INT64_C(3600000));
	have_flavor_in(w, "a100", "a");
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.hold = NULL;
	write_job(w, s, false);
	assert_int_equal(w->sent[INTENT_START], 6);
	assert_false(w->j->now->job.suspend);
}

static void four_refusals_are_forgotten_when_its_owner_edits_it(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	turn(w);
	w->denied = 4;
	submit(w, &n);
	while (w->sent[INTENT_START] < 4)
		at(w, w->now_ms + 5000);
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.annotations.bytes++;
	write_job(w, s, false);
	w->denied = 1;
	at(w, w->now_ms + 120000);
	assert_int_equal(w->sent[INTENT_START], 5);
	at(w, w->now_ms + 13000);
	assert_int_equal(w->sent[INTENT_START], 6);
	assert_false(w->j->now->job.suspend);
}

/* ---- Edits while a start is under way ---------------------------------------------------------
 */

static void edit(struct world *w)
{
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.priority_class = ""; /* anything that moves the generation */
	model_api_write(&w->api, s, true);
	gate_see_job(w->gate, &w->j->now->job);
}

/* Until the gate rests. Each start meets a Job that was edited just before, as long as *edits. */
static void turn_with_edits(struct world *w, size_t *edits)
{
	for (bool asked = true; asked;) {
		const struct intent *i;
		asked = false;
		gate_step(w->gate, w->now_ms, w->tick_ms);
		while ((i = gate_take_intent(w->gate))) {
			asked = true;
			if (i->kind == INTENT_START && *edits > 0) {
				(*edits)--;
				edit(w);
			}
			i->kind <= INTENT_BATCH ? answer_ledger(w, i) : answer_job(w, i);
		}
		take_notes(w);
		if (w->sent[INTENT_START] > 1000)
			return;
	}
}

static void pass_with_edits(struct world *w, size_t *edits, int64_t ms)
{
	for (int64_t end_ms = w->now_ms + ms; w->now_ms < end_ms;) {
		w->now_ms += 100;
		w->tick_ms += 100;
		turn_with_edits(w, edits);
	}
}

/* It would hold quota at the head of its queue for as long as its owner likes. */
static void one_that_is_edited_again_and_again_pauses(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	size_t edits = SIZE_MAX;
	turn(w);
	w->pods_of_job = 100;
	submit(w, &n); /* too large as yet */
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.parallelism = s->job.completions = 2;
	model_api_write(&w->api, s, true);
	gate_see_job(w->gate, &w->j->now->job);
	pass_with_edits(w, &edits, 60000);
	assert_in_range(w->sent[INTENT_START], 5, 9);
	pass_with_edits(w, &edits, 600000);
	assert_in_range(w->sent[INTENT_START], 12, 22); /* once a minute */
	assert_int_equal(holds_open(w), 0);
	/* And no longer when it is left alone. */
	edits = 0;
	pass_with_edits(w, &edits, 81000);
	assert_false(w->j->now->job.suspend);
}

static void two_edits_go_unnoticed(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	size_t edits = 2;
	turn(w);
	w->pods_of_job = 100;
	submit(w, &n);
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.parallelism = s->job.completions = 2;
	model_api_write(&w->api, s, true);
	gate_see_job(w->gate, &w->j->now->job);
	pass_with_edits(w, &edits, 500);
	assert_false(w->j->now->job.suspend);
}

/* The same of one that is edited after each refusal: its count begins anew, the pause does not. */
static void edits_after_refusals_shorten_no_pause(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	turn(w);
	w->denied = SIZE_MAX;
	submit(w, &n);
	for (int64_t end_ms = w->now_ms + 1200000; w->now_ms < end_ms;) {
		size_t starts = w->sent[INTENT_START];
		at(w, w->now_ms + 1000);
		if (w->sent[INTENT_START] > starts)
			edit(w);
	}
	assert_null(w->j->now->job.hold);
	assert_in_range(w->sent[INTENT_START], 15, 40);
}

/* Not even the hold can be written. It is held all the same, until its owner makes room. */
static void a_hold_without_room_is_kept_in_mind(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	struct explanation x;
	turn(w);
	w->room = 20;
	submit(w, &n);
	while (w->sent[INTENT_START] < 5)
		at(w, w->now_ms + 5000);
	at(w, w->now_ms + INT64_C(7200000));
	assert_int_equal(w->sent[INTENT_START], 5);
	assert_true(w->sent[INTENT_TELL] < 10); /* ever less often */
	assert_null(w->j->now->job.hold);
	assert_int_equal(holds_open(w), 0);
	assert_true(gate_explain(w->gate, "team-a", "train", w->now_ms, &x));
	assert_non_null(strstr(x.sentence, "5 times in a row: metadata.annotations: Too long"));
	w->room = 0;
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.annotations.bytes++;
	write_job(w, s, false);
	assert_int_equal(w->sent[INTENT_START], 6);
	assert_false(w->j->now->job.suspend);
}

/* The network was bad for half a minute, and then came a refusal: that one is the first. */
static void a_refusal_is_tried_again_in_a_minute_whatever_was_in_doubt_before(void **state)
{
	struct world *w = *state;
	struct snap *s = model_api_edit(&w->api, w->j);
	snap_suspend(s, true);
	s->job.suspended_by_person = true;
	s->job.status = (struct job_status){.suspended = true};
	w->outcome = JOB_IN_DOUBT;
	write_job(w, s, true);
	for (int i = 0; i < 6; i++) {
		w->outcome = JOB_IN_DOUBT;
		at(w, w->now_ms + 5000);
	}
	w->denied = 2; /* whole, and as short as can be */
	at(w, w->now_ms + 5000);
	assert_int_equal(w->denied, 0);
	assert_null(w->j->now->job.hold);
	at(w, w->now_ms + 90000);
	assert_non_null(w->j->now->job.hold);
}

static size_t refusals_noted(struct world *w)
{
	size_t n = 0;
	for (const char *at = w->notes; (at = strstr(at, "Refuse: the API server refuses")); at++)
		n++;
	return n;
}

/* It is owed, and asked for each minute; an Event each minute would be one without end. */
static void a_stop_that_is_refused_for_a_day_is_told_now_and_then(void **state)
{
	struct world *w = *state;
	int64_t end_ms = w->now_ms + INT64_C(24) * 3600000;
	w->denied = SIZE_MAX;
	w->refusal = "admission webhook says no";
	decide(w, (struct decision){.kind = DECISION_STOP,
			  .reason = STOP_REASON_PREEMPTED,
			  .preemption = PREEMPTION_IN_CLUSTERQUEUE});
	assert_in_range(refusals_noted(w), 1, 2); /* whole, and as short as can be */
	while (w->now_ms < end_ms)
		at(w, w->now_ms + 30000);
	assert_in_range(w->sent[INTENT_STOP], 700, 1500);
	assert_in_range(refusals_noted(w), 27, 42); /* at first more often, then each 50 minutes */
	size_t before = refusals_noted(w);
	w->denied = 0;
	at(w, w->now_ms + 90000);
	assert_true(w->j->now->job.suspend);
	assert_int_equal(refusals_noted(w), before);
}

/* Its story has no room to grow by a byte. */
static void a_stop_lands_where_annotations_are_full(void **state)
{
	struct world *w = *state;
	w->room = strlen(w->j->now->job.admission.story);
	decide(w, (struct decision){
			  .kind = DECISION_STOP, .reason = STOP_REASON_MAX_RUN, .policy = NULL});
	assert_true(w->j->now->job.suspend);
	assert_int_equal(w->sent[INTENT_STOP], 3); /* whole, short, and without the hold */
	assert_true(strlen(w->j->now->job.admission.story) <= w->room);
	assert_null(w->j->now->job.hold);
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.status = (struct job_status){.suspended = true};
	write_job(w, s, false);
	at(w, w->now_ms + 30000);
	assert_false(first_reservation(w)->open);
	assert_true(w->j->now->job.suspend); /* what puts it on hold does so without the room */
	assert_int_equal(w->sent[INTENT_START], 1);
	w->room = 0;
	at(w, w->now_ms + INT64_C(3700000));
	assert_non_null(w->j->now->job.hold);
	assert_non_null(strstr(w->j->now->job.hold, "Stopped at its time limit"));
}

/* ---- Bills ------------------------------------------------------------------------------------
 */

static void have_a_price(void)
{
	bill = (struct run_bill){.priced = true,
		.plan = "day-and-night",
		.currency = "EUR",
		.cost = 1000000,
		.detail = "[{\"from\":\"2026-11-21T10:00:00Z\",\"perHour\":\"0.0800\"}]"};
}

/* At the moment of the release, and what the ledger has is what the queue was told to charge, also
 * when the batch is sent twice. */
static void a_release_carries_the_bill(void **state)
{
	(void)state;
	for (size_t lost = 0; lost < 2; lost++) {
		struct world w;
		begin(&w);
		have_it_run(&w);
		have_a_price();
		w.batches_lost = lost;
		w.now_ms = T0 + 60000;
		finish(&w);
		at(&w, T0 + 90000);
		const struct model_reservation *h = first_reservation(&w);
		assert_false(h->open);
		assert_int_equal(h->resolved, 1);
		assert_true(h->bill.priced);
		assert_true(h->bill.cost == 1060000);
		assert_string_equal(h->bill.plan, "day-and-night");
		assert_string_equal(h->bill.currency, "EUR");
		assert_string_equal(h->bill.price, bill.detail);
		assert_string_equal(h->owner, "CronJob/nightly");
		assert_string_equal(h->submitted_by, "alice");
		assert_true(w.last[NOTE_RELEASE].cost == 1060000);
		assert_string_equal(w.last[NOTE_RELEASE].currency, "EUR");
		assert_true(finished_ms == T0 + 60000);
		assert_true(told_ran_ms == 60000);
		world_done(&w);
	}
}

static void sum_up(const struct gate_run *run, void *ctx)
{
	*(int64_t *)ctx += run->bill.cost;
}

static int64_t sum_of(struct world *w, const char *ns, int64_t from_ms, int64_t to_ms)
{
	const struct gate_runs_asked a = {ns, from_ms, to_ms, T0 + 60000};
	int64_t sum = 0;
	gate_each_run(w->gate, &a, sum_up, &sum);
	return sum;
}

/* Who asks for the costs of one namespace, or of a second, does so for as little work. */
static void only_runs_that_are_asked_for_are_billed(void **state)
{
	struct world *w = *state;
	have_a_price();
	costs_asked = 0;
	assert_int_equal(sum_of(w, NULL, 0, INT64_MAX), 1060000);
	assert_int_equal(sum_of(w, "team-a", 0, INT64_MAX), 1060000);
	assert_int_equal(costs_asked, 2);
	assert_int_equal(sum_of(w, "team", 0, INT64_MAX), 0);
	assert_int_equal(sum_of(w, NULL, 0, 1), 0);
	assert_int_equal(sum_of(w, NULL, T0 + 3600000, INT64_MAX), 0);
	assert_int_equal(costs_asked, 2);
}

static void without_a_price_there_is_no_bill(void **state)
{
	struct world *w = *state;
	w->now_ms = T0 + 60000;
	finish(w);
	assert_false(first_reservation(w)->open);
	assert_false(first_reservation(w)->bill.priced);
	assert_string_equal(w->last[NOTE_RELEASE].currency, "");
}

/* The leader dies between the stop and the release: its successor makes the bill. */
static void a_successor_makes_the_bill(void **state)
{
	struct world *w = *state;
	have_a_price();
	decide_stop(w);
	assert_int_equal(first_reservation(w)->reservation.state, LEDGER_RELEASING);
	assert_false(first_reservation(w)->bill.priced);
	world_restart(w);
	turn(w);
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.status = (struct job_status){.suspended = true};
	write_job(w, s, false);
	at(w, w->now_ms + 20000);
	assert_false(first_reservation(w)->open);
	assert_true(first_reservation(w)->bill.cost > 1060000);
	assert_true(finished_ms == 0);
}

static void who_failed_is_no_sample(void **state)
{
	struct world *w = *state;
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.status.failed = true;
	s->job.status.active = s->job.status.ready = 0;
	write_job(w, s, false);
	assert_false(first_reservation(w)->open);
	assert_true(finished_ms == 0);
	assert_true(told_ran_ms == 0);
}

/* When those of a list came nobody knows, and a successor lists what was told already. */
static void who_comes_is_told_once(void **state)
{
	struct world *w = *state;
	assert_int_equal(told_arrivals, 1);
	model_api_write(&w->api, model_api_edit(&w->api, w->j), false);
	turn(w);
	world_restart(w);
	turn(w);
	assert_int_equal(told_arrivals, 1);
}

/* ---- Labels of bills --------------------------------------------------------------------------
 */

static void labels_of_bills(void **state)
{
	struct bill_labels b;
	struct err e = {""};
	struct label labels[] = {
		{"app", "x"}, {"cost-center", "4711"}, {"team", "a"}, {"acme.io/unit", "q"}};
	struct job j = {.labels = labels, .nlabels = 4};
	(void)state;
	assert_int_equal(bill_labels_parse(BILL_LABELS_DEFAULT ",acme.io/unit", &b, &e), 0);
	assert_int_equal(b.n, 4);
	char *text = bill_labels_of(&b, &j);
	assert_string_equal(
		text, "{\"team\":\"a\",\"cost-center\":\"4711\",\"acme.io/unit\":\"q\"}");
	free(text);
	j.nlabels = 1;
	assert_null(bill_labels_of(&b, &j));

	assert_int_equal(bill_labels_parse("", &b, &e), 0);
	j.nlabels = 4;
	assert_null(bill_labels_of(&b, &j));

	static const char *const bad[] = {"team,,project", "a b", "-team", "a/b/c", ","};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_not_equal(bill_labels_parse(bad[i], &b, &e), 0);
	assert_int_not_equal(bill_labels_parse("a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", &b, &e), 0);
}

/* ---- Clocks -----------------------------------------------------------------------------------
 */

#define HOURS_5 INT64_C(18000000)

static void the_lease_is_renewed_however_the_clock_is_set(void **state)
{
	static const int64_t steps[] = {-HOURS_5, HOURS_5};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct world w;
		begin(&w);
		have_it_run(&w);
		size_t before = w.sent[INTENT_LEASE];
		set_clock(&w, T0 + steps[i]);
		assert_int_equal(
			w.sent[INTENT_LEASE], before); /* not due, whatever the wall says */
		for (int third = 1; third <= 3; third++) {
			at(&w, T0 + steps[i] + third * 5000);
			assert_int_equal(w.sent[INTENT_LEASE], before + (size_t)third);
		}
		assert_true(gate_leading(w.gate));
		assert_false(w.j->now->job.suspend);
		world_done(&w);
	}
}

static void pauses_are_neither_longer_nor_shorter_for_it(void **state)
{
	static const int64_t steps[] = {-HOURS_5, HOURS_5};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct world w;
		begin(&w);
		have_it_run(&w);
		w.denied = 2; /* whole, and as short as can be */
		decide_stop(&w);
		assert_int_equal(w.sent[INTENT_STOP], 2);
		set_clock(&w, T0 + steps[i]);
		at(&w, T0 + steps[i] + 59000);
		assert_int_equal(w.sent[INTENT_STOP], 2);
		at(&w, T0 + steps[i] + 76000);
		assert_int_equal(w.sent[INTENT_STOP], 3);
		assert_true(w.j->now->job.suspend);
		world_done(&w);
	}
}

static void a_warning_whose_time_the_clock_jumps_over_is_taken_back(void **state)
{
	struct world *w = *state;
	decide_notice(w, STOP_MS);
	assert_true(says(w) == STOP_MS);
	set_clock(w, STOP_MS + HOURS_5);
	assert_true(says(w) == 0);
}

/* A list in which it is missing: the gate looks. In one that holds it, though it cannot be read, it
 * runs on and nothing is asked. */
static void a_run_that_cannot_be_read_goes_on(void **state)
{
	struct world *w = *state;
	struct uid other = {{7}};
	const struct uid *kept[] = {&w->j->now->job.uid, NULL, &other};
	for (size_t i = 0; i < 3; i++) {
		w->sent[INTENT_READ] = 0;
		gate_begin_list(w->gate);
		gate_keep_job(w->gate, kept[i]);
		gate_end_list(w->gate);
		turn(w);
		assert_int_equal(w->sent[INTENT_READ], i < 2 ? 0 : 1);
	}
}

/* It asks again as soon as it follows Jobs; one that leads renews all the same. */
static void a_standby_that_does_not_follow_jobs_does_not_ask_for_the_lease(void **state)
{
	struct world *w = *state;
	gate_set_following(w->gate, false);
	turn(w);
	at(w, T0 + 60000);
	assert_int_equal(w->sent[INTENT_LEASE], 0);
	gate_set_following(w->gate, true);
	turn(w);
	assert_int_equal(w->sent[INTENT_LEASE], 1);
	assert_true(gate_leading(w->gate));
	gate_set_following(w->gate, false);
	at(w, T0 + 70000);
	assert_int_equal(w->sent[INTENT_LEASE], 2);
}

#define SILENT_WORLD(test) cmocka_unit_test_setup_teardown(test, open_silent_world, close_world)
#define SILENT_RUN(test) cmocka_unit_test_setup_teardown(test, open_silent_run, close_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SILENT_WORLD(a_start_that_was_not_sent_by_the_close_is_called_off),
		SILENT_WORLD(a_start_whose_flavor_is_gone_is_called_off),
		SILENT_WORLD(no_start_is_sent_once_the_lease_has_run_out),
		SILENT_WORLD(a_start_that_was_sent_by_the_close_counts_as_running),
		SILENT_RUN(a_job_is_told_once_and_the_stop_takes_it_back),
		SILENT_RUN(another_time_is_told_as_well),
		cmocka_unit_test(what_was_refused_or_not_answered_is_made_again),
		SILENT_RUN(one_that_landed_unanswered_is_not_made_again_and_comes_off),
		SILENT_RUN(a_stop_that_is_due_goes_first),
		SILENT_RUN(a_job_that_is_gone_is_not_told),
		SILENT_RUN(a_job_off_the_watch_is_not_told),
		SILENT_RUN(a_successor_tells_nobody_twice),
		SILENT_RUN(a_stop_that_does_not_come_is_taken_back),
		SILENT_RUN(nothing_is_told_while_the_lease_has_run_out),
		SILENT_RUN(what_waits_for_the_lease_is_told_when_that_is_confirmed),
		SILENT_RUN(who_is_suspended_by_others_is_not_told_any_more),
		SILENT_RUN(a_deleted_namespace_costs_the_work_of_its_pods),
		SILENT_RUN(what_ended_well_is_not_lost_with_a_namespace),
		SILENT_RUN(a_manifest_that_is_applied_again_holds_nobody),
		SILENT_RUN(a_successor_finds_it_and_has_it_start),
		SILENT_RUN(a_run_that_its_owner_holds_says_so_while_it_stops),
		SILENT_RUN(a_person_who_means_it_is_heeded),
		SILENT_WORLD(a_start_that_is_refused_is_put_on_hold),
		SILENT_WORLD(flavors_that_exclude_each_other_put_it_on_hold),
		SILENT_WORLD(four_refusals_are_forgotten_when_its_owner_edits_it),
		SILENT_WORLD(one_that_is_edited_again_and_again_pauses),
		SILENT_WORLD(two_edits_go_unnoticed),
		SILENT_WORLD(edits_after_refusals_shorten_no_pause),
		SILENT_WORLD(a_hold_without_room_is_kept_in_mind),
		SILENT_RUN(a_refusal_is_tried_again_in_a_minute_whatever_was_in_doubt_before),
		SILENT_RUN(a_stop_that_is_refused_for_a_day_is_told_now_and_then),
		SILENT_RUN(a_stop_lands_where_annotations_are_full),
		cmocka_unit_test(a_release_carries_the_bill),
		SILENT_RUN(only_runs_that_are_asked_for_are_billed),
		SILENT_RUN(without_a_price_there_is_no_bill),
		SILENT_RUN(a_successor_makes_the_bill),
		SILENT_RUN(who_failed_is_no_sample),
		SILENT_RUN(who_comes_is_told_once),
		cmocka_unit_test(labels_of_bills),
		cmocka_unit_test(the_lease_is_renewed_however_the_clock_is_set),
		cmocka_unit_test(pauses_are_neither_longer_nor_shorter_for_it),
		SILENT_RUN(a_run_that_cannot_be_read_goes_on),
		SILENT_WORLD(a_standby_that_does_not_follow_jobs_does_not_ask_for_the_lease),
		SILENT_RUN(a_warning_whose_time_the_clock_jumps_over_is_taken_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
