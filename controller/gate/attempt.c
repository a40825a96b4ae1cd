/*
 * An attempt: from the decision that opens it, or its takeover from the ledger, to the release of
 * its reservation. This file tells the ledger and the queue; phase.c says when.
 */
#include <inttypes.h>
#include <string.h>

#include "base/backoff.h"
#include "base/must.h"
#include "controller/gate/attempt.h"
#include "controller/gate/core.h"
#include "controller/gate/gate.h"
#include "controller/gate/never_starts.h"
#include "controller/gate/note.h"
#include "controller/gate/reasons.h"
#include "controller/gate/record.h"
#include "controller/gate/scale_down.h"
#include "controller/gate/stop.h"
#include "controller/gate/stop_notice.h"
#include "controller/gate/stuck.h"

#define REFUSED_RETRY_MS 1000 /* the ledger said no: another cell, or a quota just lowered */
#define REFUSED_RETRY_MAX_MS 64000
#define GENERATION_UNKNOWN (-1) /* no Job has it */
#define RESTLESS_FREE 2		/* so many starts in vain cost nothing */
#define RESTLESS_STEPS 7	/* so often the pause doubles, to about a minute */
#define RESTLESS_MS INT64_C(1000)
#define RESTLESS_DECAY_S 60

static const char GOES_ON_HOLD[] = "it is put on hold once its pods are gone";

void attempt_init(struct attempt *a)
{
	a->clusterqueue = "";
}

void attempt_moved(struct gate_job *j)
{
	j->attempt.moved = true;
}

void attempt_sent(struct gate_job *j)
{
	j->attempt.sent = true;
}

void attempt_provisioned(struct gate_job *j, int32_t number)
{
	j->attempt.provision = number;
}

void attempt_in_doubt(struct gate_job *j)
{
	if (job_has_reservation(j))
		j->attempt.doubt = true;
}

bool attempt_is_behind(const struct gate_job *j)
{
	return j->attempt.behind && j->seen.story_attempt < j->attempt.number;
}

void attempt_caught_up(struct gate_job *j)
{
	j->attempt.behind = false;
}

void attempt_acked(struct gate_job *j)
{
	j->attempt.acked = true;
}

void attempt_pause(struct gate_job *j, int64_t not_before_ms)
{
	j->attempt.not_before_ms = not_before_ms;
}

static void tell_end(const struct gate *g, const struct gate_job *j, int64_t end_ms)
{
	struct job_outline o;
	if (g->ended_well && queue_outline_job(g->queue, &j->uid, &o) && o.confirmed)
		g->ended_well(g->ctx, &o, end_ms - o.since_ms);
}

/* A run that ended well tells how long its like take. The end is in the status, in whole seconds: a
 * leader that came late saw it late. */
static void sample(struct gate *g, const struct gate_job *j)
{
	if (!j->attempt.committed || !j->seen.finished || j->seen.failed || j->seen.cut_short)
		return;
	int64_t end_ms = j->stop.stopped_ms, told_ms = j->seen.finished_ms + 1000;
	if (told_ms > j->attempt.started_ms && told_ms < end_ms)
		end_ms = told_ms;
	tell_end(g, j, end_ms);
	queue_finished_job(g->queue, &j->uid, end_ms);
}

static enum phase forget_attempt(struct gate *g, struct gate_job *j, int64_t not_before_ms)
{
	struct attempt *a = &j->attempt;
	a->committed = a->adopting = a->acked = a->doubt = a->behind = a->sent = a->told_ledger =
		a->told_ready = false;
	a->started_ms = 0;
	stop_unwant(j);
	stop_notice_end(j);
	scale_down_end(j);
	queue_release_job(g->queue, &j->uid, g->now_ms, not_before_ms);
	return PHASE_WAITING;
}

/* Gives the reservation back. The queue may use the quota at once: the ledger takes operations in
 * order, and the RESERVE of the Job that gets it comes after. */
static enum phase close_reservation(struct gate *g, struct gate_job *j, enum ledger_kind kind)
{
	int64_t not_before_ms = j->attempt.not_before_ms;
	gate_operate(g, j, kind, stop_lost_ms(g, j));
	attempt_pause(j, 0);
	return forget_attempt(g, j, not_before_ms);
}

/* A start that is called off has held quota for a moment, at the head of its queue. An owner could
 * keep that quota for nothing by editing the Job again and again. So after two, which are free for
 * corrections, the pause doubles. Only time shrinks it, a step a minute. */
int64_t attempt_restless_ms(struct gate *g, struct gate_job *j)
{
	struct attempt *a = &j->attempt;
	int64_t now_s = g->tick_ms / 1000, calm = (now_s - a->restless_s) / RESTLESS_DECAY_S;
	a->restless = calm < a->restless ? (uint8_t)(a->restless - calm) : 0;
	a->restless_s = (int32_t)now_s;
	if (a->restless < RESTLESS_FREE + RESTLESS_STEPS)
		a->restless++;
	if (a->restless <= RESTLESS_FREE)
		return 0;
	return gate_spread(g, RESTLESS_MS << (a->restless - RESTLESS_FREE - 1));
}

/* Tells whether its owner ended the start: by an edit, another queue, a hold. */
static bool ends_by_owner(const struct gate_job *j)
{
	return j->stop.reason == REASON_CHANGED ||
	       strcmp(j->stop.reason, stop_reason_name(STOP_REASON_HELD)) == 0;
}

bool attempt_must_not_start(const struct gate *g, const struct gate_job *j)
{
	if (!queue_job_flavors_exist(g->queue, &j->uid))
		return true;
	return j->stop.wanted || j->lost || j->seen.finished || j->seen.deleting ||
	       !j->seen.suspend || j->seen.generation != j->attempt.generation || j->attempt.moved;
}

bool attempt_story_is_lost(const struct gate_job *j)
{
	int64_t decided = j->attempt.generation > 0 ? j->attempt.generation : 1;
	return j->seen.story_state == STORY_NONE && j->seen.generation > decided;
}

enum phase attempt_call_off(struct gate *g, struct gate_job *j)
{
	bool has_flavors = queue_job_flavors_exist(g->queue, &j->uid);
	must(!j->attempt.doubt);
	stop_because(j, has_flavors ? REASON_CHANGED : REASON_FLAVOR_NOT_FOUND, g->identity);
	int64_t calm_ms = ends_by_owner(j) ? g->now_ms + attempt_restless_ms(g, j) : 0;
	if (calm_ms > j->attempt.not_before_ms)
		j->attempt.not_before_ms = calm_ms;
	gate_note(g, NOTE_CALL_OFF, j, "start of attempt %d called off: %s", j->attempt.number,
		j->stop.reason);
	g->counts.voids++;
	return close_reservation(g, j, LEDGER_VOID);
}

enum phase attempt_fenced(struct gate *g, struct gate_job *j)
{
	j->attempt.doubt = false;
	return attempt_call_off(g, j);
}

/* Tells whether an earlier leader's STOP came before ours, or our own, whose hold the owner has
 * taken off already. Then its reason counts. */
static bool stopped_before_us(const struct gate_job *j)
{
	return j->stop.hold && !j->stop.hold_owed && !j->seen.held && j->seen.suspend &&
	       j->seen.story_state == STORY_STOPPED && j->seen.story_attempt == j->attempt.number;
}

/* Tells whether a person suspended it before the STOP came: then waiting() puts it on hold. */
static bool suspended_by_person(const struct gate_job *j)
{
	return j->seen.suspend && j->seen.story_state == STORY_STARTED && j->seen.by_person;
}

/* Tells whether the Job shows no start of this attempt: the API server's store went back to before
 * it (docs/restore.md). What was decided about the attempt then says nothing of the Job. */
static bool was_never_started(const struct gate_job *j)
{
	return !j->stop.hold_owed && !j->gone && !j->lost && j->seen.suspend && !j->seen.finished &&
	       !j->seen.deleting && j->seen.story_attempt < j->attempt.number;
}

static void heed_earlier_stop(struct gate *g, struct gate_job *j)
{
	bool never = was_never_started(j);
	if (!never && !stopped_before_us(j))
		return;
	stop_forget(j);
	queue_keep_active(g->queue, &j->uid);
	if (!never) {
		stop_because(j, REASON_STOPPED, g->identity);
		return;
	}
	stop_suspended(g, j);
	queue_recall_history(g->queue, &j->uid, &j->seen.history);
}

/* Owes the Job its hold, where another client suspended it before our STOP came: the annotation is
 * still to be written, even if the story is lost by then. */
static void owe_hold(struct gate_job *j)
{
	if (j->stop.hold && j->seen.suspend && !j->seen.held &&
		j->seen.story_state == STORY_STARTED)
		stop_owe_hold(j);
}

/* Tells the queue that the Job does not come back when its pods are gone, if so. */
static void tell_queue_of_hold(struct gate *g, struct gate_job *j)
{
	if (j->gone || j->seen.deleting || j->seen.finished)
		return;
	if (j->seen.ends_when_stopped)
		queue_block_job(g->queue, &j->uid, JOB_ENDS_AS_COMPLETE);
	else if (stop_holds(j) || suspended_by_person(j))
		queue_block_job(g->queue, &j->uid, GOES_ON_HOLD);
}

enum phase attempt_drain(struct gate *g, struct gate_job *j)
{
	stuck_end(g, j); /* the note tells of it */
	heed_earlier_stop(g, j);
	owe_hold(j);
	tell_queue_of_hold(g, j);
	stop_drain(g, j);
	if (j->seen.finished)
		stop_finished(j);
	if (j->attempt.committed && !j->seen.quiet && !j->attempt.told_ledger) {
		j->attempt.told_ledger = true;
		gate_operate(g, j, LEDGER_STOP, stop_lost_ms(g, j));
	}
	if (j->seen.finished && !j->seen.cut_short)
		stop_note_finish(g, j);
	else
		stop_note(g, j);
	return PHASE_DRAINING;
}

/* Returns the most pods of the run: an earlier leader may have scaled it down. */
static int32_t most_held(const struct gate_job *j)
{
	bool known = j->attempt.pods < INT32_MAX;
	return known && j->attempt.pods > j->seen.parallelism ? j->attempt.pods
							      : j->seen.parallelism;
}

/* Tells whether the server only failed at its start, or refused it. A Job that goes on hold for
 * that keeps its reason. */
static bool is_only_given_up(const struct gate_job *j)
{
	return j->stop.reason == REASON_REFUSED_BY_SERVER && !j->stop.hold;
}

/* Lets a run go on whose start was given up, and landed before it was fenced. */
static void heed_late_start(struct gate_job *j)
{
	if (!is_only_given_up(j))
		return;
	stop_forget(j);
	stop_unwant(j);
}

enum phase attempt_run(struct gate *g, struct gate_job *j)
{
	j->attempt.doubt = false;
	if (j->attempt.committed)
		return PHASE_RUNNING;
	heed_late_start(j);
	attempt_pause(j, 0); /* the pause was for a start that fails */
	j->attempt.committed = true;
	j->attempt.started_ms = g->now_ms;
	j->refusals.immutables = j->refusals.starts = 0;
	scale_down_begin(g, j, most_held(j));
	gate_operate(g, j, LEDGER_COMMIT, 0);
	queue_confirm_job(g->queue, &j->uid, g->now_ms);
	g->counts.starts++;
	size_t n = queue_job_lines(g->queue, &j->uid, g->taken.lines);
	gate_note(g, NOTE_START, j, "started in flavor %s: %d pod%s, attempt %d",
		n > 0 ? g->taken.lines[0].flavor : "none", j->seen.pods,
		j->seen.pods == 1 ? "" : "s", j->attempt.number);
	return PHASE_RUNNING;
}

int32_t attempt_begin_growth(struct gate *g, struct gate_job *j)
{
	j->attempt.sizes++;
	gate_operate(g, j, LEDGER_GROW, 0);
	return j->attempt.sizes;
}

void attempt_grow(struct gate_job *j, int32_t pods)
{
	j->attempt.pods = pods;
}

void attempt_shrink(struct gate *g, struct gate_job *j, int32_t pods)
{
	if (pods >= j->attempt.pods)
		return;
	j->attempt.pods = pods;
	if (!queue_shrink_job(g->queue, &j->uid, pods, g->now_ms))
		return;
	j->attempt.sizes++;
	gate_operate(g, j, LEDGER_SHRINK, 0);
}

/* The bill is asked for in the moment of the release, when the queue charges it to its Budgets: so
 * the ledger's segment and the Budgets say the same. */
enum phase attempt_release(struct gate *g, struct gate_job *j)
{
	if (j->attempt.adopting)
		return PHASE_DRAINING;
	if (!j->attempt.committed || !queue_job_bill(g->queue, &j->uid, g->now_ms, &g->bill))
		g->bill = (struct run_bill){0};
	struct note *n = gate_note(g, NOTE_RELEASE, j, "quota of attempt %d is free (%s)",
		j->attempt.number, j->stop.reason);
	if (g->bill.priced) {
		n->cost = g->bill.cost;
		n->currency = g->bill.currency;
	}
	sample(g, j);
	if (j->gone && j->told_end && !j->seen.finished)
		queue_lose_predecessor(g->queue, &j->uid, j->ns, j->name);
	return close_reservation(g, j, j->attempt.committed ? LEDGER_RELEASE : LEDGER_VOID);
}

/* Keeps the queue's own string for the ClusterQueue whose quota the attempt has. */
static void name_clusterqueue(struct gate *g, struct gate_job *j)
{
	j->attempt.clusterqueue = "";
	if (queue_job_lines(g->queue, &j->uid, g->taken.lines) > 0 &&
		strncmp(g->taken.lines[0].node, "cq/", 3) == 0)
		j->attempt.clusterqueue = g->taken.lines[0].node + 3;
}

/* Tells whether a start must wait for a request. A notice does no harm: the start tests that there
 * is none, or takes it off. A record of outcomes may stand on a run. The PATCH of the start time
 * moves neither story nor generation, and the start is sent behind it. */
static bool busy_with_another(const struct gate_job *j)
{
	return job_busy(j) && !intent_is(job_busy_with(j), HARMLESS_TO_START);
}

enum phase attempt_decided_start(struct gate *g, struct gate_job *j, const struct decision *d)
{
	if (j->phase != PHASE_WAITING || busy_with_another(j)) {
		queue_release_job(g->queue, &j->uid, g->now_ms, g->now_ms + REFUSED_RETRY_MS);
		return j->phase;
	}
	struct attempt *a = &j->attempt;
	if (j->seen.story_attempt > a->number)
		a->number = j->seen.story_attempt;
	a->number++;
	a->generation = j->seen.generation;
	a->pods = d->pods;
	a->sizes = a->inherited_sizes = a->provision = 0;
	a->moved = a->estimated = false;
	stop_forget(j);
	never_starts_end(j);
	name_clusterqueue(g, j);
	gate_operate(g, j, LEDGER_RESERVE, 0);
	return PHASE_RESERVING;
}

void attempt_decided_stop(struct gate *g, struct gate_job *j, const struct decision *d)
{
	if (!job_has_reservation(j) || j->phase == PHASE_DRAINING)
		return;
	if (is_only_given_up(j)) /* if its start lands all the same, the run is stopped for this */
		stop_forget(j);
	stop_want(j);
	stop_decided(g, j, d);
	if (!j->stop.hold) /* it was ending already: then it is not deactivated */
		queue_keep_active(g->queue, &j->uid);
	gate_mark_dirty(g, j);
}

/* Returns a pause that doubles with each refusal in a row: asking does not mend that queue and
 * ledger disagree. */
static int64_t refusal_pause(struct gate *g, struct gate_job *j)
{
	return gate_spread(
		g, backoff_ms(REFUSED_RETRY_MS, j->attempt.refusals++, REFUSED_RETRY_MAX_MS));
}

enum phase attempt_reserved(struct gate *g, struct gate_job *j, const struct ledger_result *r)
{
	switch (r->verdict) {
	case LEDGER_APPLIED:
	case LEDGER_REPEATED:
		j->attempt.refusals = 0;
		return PHASE_STARTING;
	case LEDGER_SPENT:
		j->attempt.number = r->next_attempt > j->attempt.number ? r->next_attempt
									: j->attempt.number + 1;
		gate_operate(g, j, LEDGER_RESERVE, 0);
		return PHASE_RESERVING;
	case LEDGER_REFUSED:
		g->counts.refusals++;
		gate_note(g, NOTE_REFUSE, j, "the ledger has no quota left for it; trying again");
		return forget_attempt(g, j, g->now_ms + refusal_pause(g, j));
	}
	must_not_get_here(); /* a verdict that is none */
}

void attempt_adopting(struct gate_job *j)
{
	j->attempt.adopting = true;
}

void attempt_adopted(struct gate *g, struct gate_job *j)
{
	j->attempt.adopting = false;
	queue_confirm_job(g->queue, &j->uid, j->attempt.started_ms);
}

/* The ledger is told nothing: it has closed the attempt already. */
enum phase attempt_adopted_in_vain(struct gate *g, struct gate_job *j)
{
	return forget_attempt(g, j, 0);
}

/* Counts pods by the reservation: the owner may have raised the Job while no leader looked. The Job
 * may need fewer, when some have ended, or it was scaled down. */
static int32_t reserved_pods(const struct gate *g, const struct gate_job *j)
{
	int32_t pods = queue_job_pods(g->queue, &j->uid);
	return pods > 0 ? pods : j->seen.pods;
}

void attempt_know_pods(struct gate *g, struct gate_job *j)
{
	if (j->attempt.pods != INT32_MAX)
		return;
	j->attempt.pods = reserved_pods(g, j);
	scale_down_begin(g, j, j->attempt.pods);
}

void attempt_tell_ready(struct gate *g, struct gate_job *j)
{
	if (j->seen.ready == j->attempt.told_ready)
		return;
	j->attempt.told_ready = j->seen.ready;
	queue_ready_job(g->queue, &j->uid, j->seen.ready, g->now_ms);
}

enum phase attempt_adopt(struct gate *g, struct gate_job *j, const struct ledger_reservation *h)
{
	struct attempt *a = &j->attempt;
	a->number = h->attempt;
	a->provision = PROVISION_OF_EARLIER_LEADER;
	a->committed = h->state != LEDGER_PENDING;
	a->started_ms = h->started_ms;
	a->estimated = h->estimated;
	a->sizes = a->inherited_sizes = h->sizes;
	/* The leader that reserved it may have sent a PATCH that is still under way. We do not know
	 * which spec it decided on, so we finish nothing: a start that did not land is called off,
	 * and decided anew. */
	a->doubt = true;
	/* Our watch may lag behind what the last leader did: a run would be taken for an intruder,
	 * or a start that is under way for one that was stopped. */
	a->behind = j->seen.story_attempt < h->attempt;
	a->generation = GENERATION_UNKNOWN;
	bool unread = j->lost || a->behind;
	a->pods = unread ? INT32_MAX : reserved_pods(g, j); /* the first facts will tell */
	scale_down_begin(g, j, unread ? 0 : a->pods);
	/* How many pods ran was not seen: better too much lost work than none. */
	if (j->lost)
		j->seen.at_work = reserved_pods(g, j);
	if (j->seen.suspend)
		j->seen.active = unread ? j->seen.parallelism : a->pods;
	name_clusterqueue(g, j);
	stop_forget(j);
	/* A run that is over is confirmed, too: its cost and its duration count. */
	if (a->committed && !a->adopting)
		queue_confirm_job(g->queue, &j->uid, h->started_ms);
	bool ends = a->committed && j->seen.suspend && !a->behind;
	if (h->state != LEDGER_RELEASING && !ends)
		return a->committed ? PHASE_RUNNING : PHASE_STARTING;
	stop_drain_adopted(g, j);
	return PHASE_DRAINING;
}
