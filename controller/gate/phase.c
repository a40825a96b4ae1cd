/*
 * The life of an attempt. job_reconcile() looks at the newest facts and the phase and does the next
 * thing, if it is time for one; it is called whenever something about the Job changed, and may be
 * called at any other time without harm. Each phase is one function, read from the top: what ends
 * it first, then what it waits for, then what it does.
 *
 * docs/gate.md has the table of phases, and why each guard is enough.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "sluice/quantity.h"
#include "controller/gate/record.h"

#define RETRY_MS 50
#define RETRY_MAX_MS 5000
#define DENIED_RETRY_MS 60000 /* the API server said no; asking sooner would be shouting */
#define REFUSED_RETRY_MS 1000 /* the ledger said no: another cell, or a quota just lowered */
#define PODS_RETRY_MS 250
#define NO_LENDING_MS 3600000 /* a Job whose resources may not be rewritten; then once more */
#define LOST_LOOK_MS 2000
#define OVERDUE_MS 300000
#define REFUSED_TRIES 6		/* then a refusal is not a race that we lost, but a no */
#define GENERATION_UNKNOWN (-1) /* no Job has it */

static const char SUSPENDED_BY_OTHER[] = "SuspendedByOther";
static const char NOT_ADMITTED[] = "NotAdmitted";
static const char LEAVING[] =
	"it ran without being admitted until a moment ago, and its pods are still going away";
static const char HOLD_BY_OTHER[] =
	"suspended by somebody else while it ran; remove this annotation to queue the Job again";
static const char HOLD_REQUEUE_LIMIT[] =
	"its pods were not ready in time, as often as is allowed; look at why, and remove this "
	"annotation to queue the Job again";
static const char HOLD_MAX_RUN[] =
	"it ran for as long as it may (annotation sluice.dev/max-run-seconds, or its "
	"ClusterQueue's "
	"defaultMaxRunSeconds); remove this annotation to queue it again, with as much time once "
	"more";

/* ---- Small helpers ----------------------------------------------------------------------------
 */

/* The only writer of phase. */
static void enter(struct gate *g, struct gate_job *j, enum phase next)
{
	g->counts.by_phase[j->phase]--;
	g->counts.by_phase[next]++;
	j->phase = next;
	j->waits_ms = g->tick_ms;
	j->notices = 0;
	if (next != PHASE_STOPPING)
		j->after_lease = 0;
	if (j->has_hold && (next == PHASE_STOPPING || next == PHASE_DRAINING))
		queue_ending_job(g->queue, &j->uid);
	j->tries = 0;
	j->need_read = false;
	j->retry_ms = 0;
	due_clear(&g->due, &j->alarm);
	gate_mark_dirty(g, j);
}

static bool busy(const struct gate_job *j)
{
	return j->request != 0 || j->wanting;
}

static void pause_until(struct gate *g, struct gate_job *j, int64_t at_ms)
{
	j->retry_ms = at_ms;
	gate_alarm(g, j, at_ms);
}

/* Asks for kind, unless something is under way or a pause is on. After a refusal or a doubt what we
 * know may be old, so a GET goes before it. */
void job_request(struct gate *g, struct gate_job *j, enum intent_kind kind)
{
	if (busy(j))
		return;
	if (g->tick_ms < j->retry_ms)
		gate_alarm(g, j, j->retry_ms);
	else
		gate_want(g, j, j->need_read ? INTENT_READ : kind);
}

/* A Job that is off the watch but holds quota is asked for by GET, now and then. False while it is
 * not known yet what became of it. */
static bool looked_for(struct gate *g, struct gate_job *j)
{
	if (!j->lost || j->gone)
		return true;
	if (g->tick_ms >= j->look_ms)
		job_request(g, j, INTENT_READ);
	else
		gate_alarm(g, j, j->look_ms);
	return j->look_ms > 0;
}

/* The start of this attempt did land: the Job tells of it, even if it was stopped since. */
static bool start_landed(const struct gate_job *j)
{
	if (j->seen.story_attempt != j->attempt)
		return false;
	return j->seen.story_state == STORY_STARTED ||
	       (j->seen.story_state == STORY_STOPPED && j->seen.suspend);
}

static void end(struct gate_job *j, const char *reason, const char *actor)
{
	if (j->reason[0] != '\0')
		return; /* the first reason is the reason */
	j->reason = reason;
	j->actor = actor;
}

/* As for a Job that has not been ended by anybody. */
static void forget_end(struct gate_job *j)
{
	j->reason = j->actor = j->preemption = "";
	j->message = j->hold = NULL;
	free(j->preemptor);
	free(j->preempting);
	free(j->sentence);
	j->preemptor = j->preempting = j->sentence = NULL;
}

static char *name_job(const struct gate_job *j)
{
	struct buf b;
	buf_init(&b, 1024);
	buf_printf(&b, "%s/%s", j->ns, j->name);
	return buf_take(&b);
}

/* In words, as Kueue's condition Preempted has them. */
static const char *preemption_words(enum preemption_reason r)
{
	switch (r) {
	case PREEMPTION_NONE:
		break;
	case PREEMPTION_IN_CLUSTERQUEUE:
		return "prioritization in the ClusterQueue";
	case PREEMPTION_IN_COHORT_RECLAMATION:
		return "reclamation within the cohort";
	case PREEMPTION_IN_COHORT_FAIR_SHARING:
		return "fair sharing within the cohort";
	case PREEMPTION_IN_COHORT_RECLAIM_WHILE_BORROWING:
		return "reclamation within the cohort while borrowing";
	}
	return "its priority";
}

static void end_preempted(struct gate *g, struct gate_job *j, const struct decision *d)
{
	struct buf text;
	char uid[UID_TEXT_SIZE];
	const struct gate_job *by = gate_find_job(g, &d->by);
	if (j->reason[0] != '\0')
		return;
	j->preemption = preemption_reason_name(d->preemption);
	j->preemptor = by ? name_job(by) : NULL;
	struct explanation x = {0};
	if (queue_explain(g->queue, &d->by, g->now_ms, &x))
		j->preempting = mem_strdup(x.clusterqueue);
	uid_format(&d->by, uid);
	buf_init(&text, 1024);
	buf_printf(&text, "Preempted to accommodate Job %s (UID: %s) due to %s",
		j->preemptor ? j->preemptor : "(deleted)", uid, preemption_words(d->preemption));
	j->message = j->sentence = buf_take(&text);
	end(j, stop_reason_name(d->reason), g->identity);
}

static void end_decided(struct gate *g, struct gate_job *j, const struct decision *d)
{
	if (d->reason == STOP_REASON_PREEMPTED) {
		end_preempted(g, j, d);
		return;
	}
	if (j->reason[0] == '\0') {
		j->sentence = d->reason == STOP_REASON_IDLE_RECLAIMED
				      ? mem_strdup(d->why)
				      : warning_sentence(d->reason, d->policy);
		j->message = j->sentence;
	}
	if (stop_reason_deactivates(d->reason) && j->reason[0] == '\0') {
		j->hold = d->reason == STOP_REASON_MAX_RUN ? HOLD_MAX_RUN : HOLD_REQUEUE_LIMIT;
		j->message = j->hold;
	}
	end(j, stop_reason_name(d->reason), g->identity);
}

int64_t job_loses_ms(const struct gate_job *j, int64_t until_ms)
{
	if (j->seen.finished || j->started_ms == 0)
		return 0;
	int64_t ran_ms = until_ms > j->started_ms ? until_ms - j->started_ms : 0;
	return quantity_times(ran_ms, j->seen.active);
}

/* What its stop has thrown away. */
static int64_t work_lost_ms(const struct gate *g, const struct gate_job *j)
{
	return job_loses_ms(j, j->stopped_ms > 0 ? j->stopped_ms : g->now_ms);
}

/* ---- Ways out of an attempt --------------------------------------------------------------------
 */

/* A run that ended well tells how long its like take. The end is in the status, in whole seconds: a
 * leader that came late saw it late. */
static void sample(struct gate *g, const struct gate_job *j)
{
	if (!j->committed || !j->seen.finished || j->seen.failed)
		return;
	int64_t end_ms = j->stopped_ms, told_ms = j->seen.finished_ms + 1000;
	if (told_ms > j->started_ms && told_ms < end_ms)
		end_ms = told_ms;
	queue_finished_job(g->queue, &j->uid, end_ms);
}

/* The hold is given back. The queue may use the room at once: the ledger takes operations in order,
 * and whoever gets it comes after. */
static void close_hold(struct gate *g, struct gate_job *j, enum ledger_kind kind)
{
	gate_operate(g, j, kind, work_lost_ms(g, j));
	j->has_hold = j->committed = j->acked = j->doubt = j->call_off = false;
	j->sent = j->told_ledger = j->told_ready = j->warned = false;
	j->started_ms = j->warn_ms = 0;
	narrowing_end(j);
	queue_release_job(g->queue, &j->uid, g->now_ms, j->not_before_ms);
	j->not_before_ms = 0;
	gate_drop_carried(g, j);
	enter(g, j, PHASE_WAITING);
}

static void call_off(struct gate *g, struct gate_job *j)
{
	must(!j->doubt);
	end(j, "Changed", g->identity);
	gate_note(g, NOTE_CALL_OFF, j, "start of attempt %d called off: %s", j->attempt, j->reason);
	g->counts.voids++;
	close_hold(g, j, LEDGER_VOID);
}

static bool suspended_by_other(const struct gate_job *j)
{
	return strcmp(j->reason, SUSPENDED_BY_OTHER) == 0;
}

bool job_goes_on_hold(const struct gate_job *j)
{
	return j->hold || suspended_by_other(j);
}

/* Its hold is written only once it has drained, by waiting(). */
static const char *stop_message(const struct gate_job *j)
{
	return suspended_by_other(j) ? HOLD_BY_OTHER : j->message;
}

static void note_finish(struct gate *g, struct gate_job *j)
{
	int64_t since_ms = j->started_ms > 0 ? j->started_ms : g->now_ms;
	j->finish_noted = true;
	g->counts.finishes++;
	gate_note(g, NOTE_FINISH, j, "%s after %.1f s", j->seen.failed ? "failed" : "finished",
		(double)(g->now_ms - since_ms) / 1000.0);
}

static void drain(struct gate *g, struct gate_job *j)
{
	j->stopped_ms = g->now_ms;
	j->drains_ms = g->tick_ms;
	j->overdue_ms = g->tick_ms + OVERDUE_MS;
	if (j->seen.finished) {
		j->reason = j->seen.failed ? "Failed" : "Finished";
		j->actor = "job-controller";
	}
	if (j->committed && !j->seen.quiet && !j->told_ledger) {
		j->told_ledger = true;
		gate_operate(g, j, LEDGER_STOP, work_lost_ms(g, j));
	}
	j->finish_noted = false;
	if (j->seen.finished) {
		note_finish(g, j);
	} else {
		const char *message = stop_message(j);
		g->counts.stops++;
		int64_t lost_ms = work_lost_ms(g, j);
		gate_note(g, NOTE_STOP, j, "%s (%s): %.1f s of work lost%s%s",
			j->gone ? "deleted" : "stopped", j->reason, (double)lost_ms / 1000.0,
			message ? "; " : "", message ? message : "")
			->lost_ms = lost_ms;
	}
	enter(g, j, PHASE_DRAINING);
}

/* An attempt that an earlier leader started may have been narrowed since. */
static int32_t most_held(const struct gate_job *j)
{
	bool known = j->held_pods < INT32_MAX;
	return known && j->held_pods > j->seen.parallelism ? j->held_pods : j->seen.parallelism;
}

static void run(struct gate *g, struct gate_job *j)
{
	bool fresh = !j->committed;
	enter(g, j, PHASE_RUNNING);
	j->doubt = false;
	if (!fresh)
		return;
	j->committed = true;
	j->started_ms = g->now_ms;
	j->immutables = 0;
	narrowing_begin(j, most_held(j));
	gate_operate(g, j, LEDGER_COMMIT, 0);
	queue_confirm_job(g->queue, &j->uid, g->now_ms);
	g->counts.starts++;
	size_t n = queue_job_lines(g->queue, &j->uid, g->lines);
	gate_note(g, NOTE_START, j, "started in flavor %s: %d pods, attempt %d",
		n > 0 ? g->lines[0].flavor : "none", j->seen.pods, j->attempt);
}

/* Somebody other than us unsuspended it. What holds it has, it keeps until it is stopped again.
 * But it may have been our successor, if we do not know yet that we have one: so the lease is asked
 * for once more before anything is written. */
static void stop_intruder(struct gate *g, struct gate_job *j)
{
	j->after_lease = g->lease_asked + 1;
	if (!j->has_hold)
		forget_end(j);
	end(j, NOT_ADMITTED, g->identity);
	enter(g, j, PHASE_STOPPING);
}

/* ---- The phases --------------------------------------------------------------------------------
 */

static void block(struct gate *g, struct gate_job *j, const char *why)
{
	queue_block_job(g->queue, &j->uid, why);
}

/* A child is not queued for itself while its owner has the quota for both. */
static bool carried(struct gate *g, struct gate_job *j)
{
	struct gate_job *owner = gate_find_carrier(g, j);
	if (!owner)
		return false;
	owner->carries++;
	queue_drop_job(g->queue, &j->uid);
	return true;
}

/* The queue is told anew when the API server has refused to rewrite what it asks for, and again
 * when that is long ago. */
static void reconsider_lending(struct gate *g, struct gate_job *j)
{
	if (j->no_lending_ms > g->tick_ms) {
		gate_alarm(g, j, j->no_lending_ms);
	} else if (j->no_lending_ms > 0) {
		j->no_lending_ms = 0;
		j->retell = true;
	}
	if (j->retell)
		job_request(g, j, INTENT_READ);
}

/* No hold. The queue has it, unless it is over. */
static void waiting(struct gate *g, struct gate_job *j)
{
	if (j->lost || j->seen.finished) {
		queue_drop_job(g->queue, &j->uid);
		if (!busy(j))
			gate_forget_job(g, j);
		return;
	}
	if (j->seen.deleting) {
		queue_drop_job(g->queue, &j->uid);
		return;
	}
	if (!j->seen.suspend && carried(g, j))
		return;
	if (!j->seen.suspend) {
		block(g, j,
			"somebody unsuspended it although it was not admitted; Sluice is "
			"suspending it again");
		stop_intruder(g, j);
		return;
	}
	reconsider_lending(g, j);
	if (j->seen.story_state != STORY_STARTED) {
		block(g, j, j->seen.leaving ? LEAVING : NULL);
		return;
	}
	/* Suspended, and not by us: say so where its owner sees it, and leave it alone. */
	block(g, j, "suspended by somebody else than Sluice while it ran");
	forget_end(j);
	j->reason = SUSPENDED_BY_OTHER;
	j->hold = HOLD_BY_OTHER;
	job_request(g, j, INTENT_TELL);
}

static bool must_not_start(const struct gate_job *j)
{
	return j->call_off || j->lost || j->seen.finished || j->seen.deleting || !j->seen.suspend ||
	       j->seen.generation != j->generation || j->moved;
}

/* A start PATCH of this attempt may have gone out. What the Job shows of it, if anything; true when
 * that decided what comes next. */
static bool settled_otherwise(struct gate *g, struct gate_job *j)
{
	if (start_landed(j)) {
		run(g, j);
		return true;
	}
	if (busy(j))
		return false;
	if (j->gone || j->seen.finished) {
		/* It may have started and ended unseen: pods may be left. */
		end(j, "Deleted", "user");
		drain(g, j);
		return true;
	}
	if (!j->seen.suspend) {
		stop_intruder(g, j);
		return true;
	}
	return false;
}

/* RESERVE is durable. The start PATCH is sent until its fate is known. */
static void starting(struct gate *g, struct gate_job *j)
{
	if (!j->doubt && !j->sent && !busy(j) && !queue_start_stands(g->queue, &j->uid)) {
		j->call_off = true;
		end(j, stop_reason_name(STOP_REASON_WINDOW_CLOSED), g->identity);
	}
	if (must_not_start(j) && !j->doubt && !j->sent && !busy(j)) {
		call_off(g, j);
		return;
	}
	if (!looked_for(g, j) || settled_otherwise(g, j) || busy(j))
		return;
	if (must_not_start(j)) {
		if (j->doubt)
			enter(g, j, PHASE_FENCING);
		else
			call_off(g, j);
		return;
	}
	job_request(g, j, INTENT_START);
}

/* The start is called off, but a PATCH of it may still be under way somewhere. */
static void fencing(struct gate *g, struct gate_job *j)
{
	if (!looked_for(g, j) || settled_otherwise(g, j) || busy(j))
		return;
	if (j->seen.story_state == STORY_FENCED && j->seen.story_attempt == j->attempt) {
		j->doubt = false;
		call_off(g, j);
		return;
	}
	job_request(g, j, INTENT_TELL);
}

static void shrink_to(struct gate *g, struct gate_job *j, int32_t pods)
{
	if (pods >= j->held_pods)
		return;
	j->held_pods = pods;
	if (queue_shrink_job(g->queue, &j->uid, pods, g->now_ms))
		gate_operate(g, j, LEDGER_SHRINK, 0);
}

/* So many there are, or may be made at any time. */
static int32_t pods_in_sight(const struct gate_job *j)
{
	return j->seen.pods > j->seen.present ? j->seen.pods : j->seen.present;
}

/* Pods that end leave room, but never less is held than there are pods. */
static void shrink(struct gate *g, struct gate_job *j)
{
	if (!narrowing_in_doubt(g, j))
		shrink_to(g, j, pods_in_sight(j));
}

static void tell_ready(struct gate *g, struct gate_job *j)
{
	if (j->seen.ready == j->told_ready)
		return;
	j->told_ready = j->seen.ready;
	queue_ready_job(g->queue, &j->uid, j->told_ready, g->now_ms);
}

static void running(struct gate *g, struct gate_job *j)
{
	if (j->seen.start_seen)
		j->acked = true;
	if (!looked_for(g, j))
		return;
	if (j->gone || j->seen.finished || j->seen.suspend) {
		bool by_us = j->seen.suspend && j->seen.story_state == STORY_STOPPED;
		end(j,
			j->gone ? "Deleted"
			: by_us ? "Stopped"
				: SUSPENDED_BY_OTHER,
			by_us ? g->identity : "user");
		drain(g, j);
		return;
	}
	if (j->seen.pods > j->held_pods) {
		/* Its owner raised parallelism while it ran: it must not run on more than it holds.
		 */
		j->call_off = true;
		end(j, "ScaledUp", g->identity);
	} else {
		shrink(g, j);
		tell_ready(g, j);
	}
	if (j->call_off && j->acked)
		enter(g, j, PHASE_STOPPING);
	else if (!j->call_off && !j->lost && !narrowing_see_to(g, j))
		warning_see_to(g, j);
}

static void stopping(struct gate *g, struct gate_job *j)
{
	if (j->has_hold && !looked_for(g, j))
		return;
	if (j->gone || (j->lost && !j->has_hold) || j->seen.finished || j->seen.suspend) {
		if (!j->has_hold && !busy(j)) {
			enter(g, j, PHASE_WAITING);
		} else if (j->has_hold) {
			if (j->gone)
				end(j, "Deleted", "user");
			drain(g, j);
		}
		return;
	}
	if (j->after_lease > g->lease_confirmed)
		gate_confirm_lease(g);
	else
		job_request(g, j, INTENT_STOP);
}

/* Is there proof that no pod of it is left, or can be made any more? */
static bool drained(const struct gate_job *j)
{
	return j->seen.quiet && (j->seen.finished || (j->seen.suspend && j->acked));
}

static void complain(struct gate *g, struct gate_job *j)
{
	if (g->tick_ms < j->overdue_ms)
		return;
	j->overdue_ms = g->tick_ms + OVERDUE_MS;
	gate_note(g, NOTE_OVERDUE, j,
		"pods are left %" PRId64 " s after it ended (%s); its quota stays reserved until "
		"they are gone: look for pods that do not terminate",
		(g->tick_ms - j->drains_ms) / 1000, j->reason);
}

/* The bill is asked for at the very moment of the release, at which the queue charges it to its
 * Budgets: so the segment and these say the same. */
static void release(struct gate *g, struct gate_job *j)
{
	if (!j->committed || !queue_job_bill(g->queue, &j->uid, g->now_ms, &g->bill))
		g->bill = (struct run_bill){0};
	struct note *n = gate_note(
		g, NOTE_RELEASE, j, "quota of attempt %d is free (%s)", j->attempt, j->reason);
	if (g->bill.priced) {
		n->cost = g->bill.cost;
		n->currency = g->bill.currency;
	}
	sample(g, j);
	close_hold(g, j, j->committed ? LEDGER_RELEASE : LEDGER_VOID);
}

/*
 * Ended, stopped or deleted. Proof that no pod is left is the Job's status, if it was written after
 * the Job controller saw the start (acked) and then the stop. Where the status may be older than
 * the start, or the Job is gone, only a look at the pods will do, and only after a while: a Job
 * controller that has seen the start, and not yet what came after it, may still make pods.
 */
static void draining(struct gate *g, struct gate_job *j)
{
	/* The stop came too late: its last pods ended well all the same. */
	if (j->seen.finished && !j->finish_noted)
		note_finish(g, j);
	if (drained(j)) {
		release(g, j);
		return;
	}
	complain(g, j);
	gate_alarm(g, j, j->overdue_ms);
	if (!looked_for(g, j))
		return;
	if (!j->gone && !j->seen.suspend && !j->seen.finished) {
		stop_intruder(g, j);
		return;
	}
	if (!j->gone && (j->seen.finished || j->acked))
		return; /* the status will tell */
	int64_t sure_ms = j->drains_ms + g->drain_doubt_ms;
	if (g->tick_ms < sure_ms)
		gate_alarm(g, j, sure_ms);
	else
		job_request(g, j, INTENT_PODS);
}

void job_reconcile(struct gate *g, struct gate_job *j)
{
	switch (j->phase) {
	case PHASE_WAITING:
		waiting(g, j);
		break;
	case PHASE_RESERVING: /* nothing but the ledger's verdict ends it */
		break;
	case PHASE_STARTING:
		starting(g, j);
		break;
	case PHASE_FENCING:
		fencing(g, j);
		break;
	case PHASE_RUNNING:
		running(g, j);
		break;
	case PHASE_STOPPING:
		stopping(g, j);
		break;
	case PHASE_DRAINING:
		draining(g, j);
		break;
	case PHASES:
		must_not_get_here();
	}
}

/* ---- Decisions, verdicts, takeover -------------------------------------------------------------
 */

static void reserve(struct gate *g, struct gate_job *j)
{
	gate_operate(g, j, LEDGER_RESERVE, 0);
}

/* Keeps the queue's own string for the ClusterQueue whose quota the attempt has. */
static void name_clusterqueue(struct gate *g, struct gate_job *j)
{
	j->clusterqueue = "";
	if (queue_job_lines(g->queue, &j->uid, g->lines) > 0 &&
		strncmp(g->lines[0].node, "cq/", 3) == 0)
		j->clusterqueue = g->lines[0].node + 3;
}

/* A notice under way is in nobody's way: the start tests that there is none, or takes it off. */
static bool busy_with_more_than_a_notice(const struct gate_job *j)
{
	return busy(j) && (j->wanting ? j->want : j->asked) != INTENT_NOTICE;
}

static void decided_start(struct gate *g, struct gate_job *j, const struct decision *d)
{
	if (j->phase != PHASE_WAITING || busy_with_more_than_a_notice(j)) {
		queue_release_job(g->queue, &j->uid, g->now_ms, g->now_ms + REFUSED_RETRY_MS);
		return;
	}
	if (j->seen.story_attempt > j->attempt)
		j->attempt = j->seen.story_attempt;
	j->attempt++;
	j->generation = j->seen.generation;
	j->held_pods = d->pods;
	j->moved = false;
	forget_end(j);
	j->reserved_ms = g->now_ms;
	j->has_hold = true;
	name_clusterqueue(g, j);
	enter(g, j, PHASE_RESERVING);
	reserve(g, j);
}

void job_decided(struct gate *g, struct gate_job *j, const struct decision *d)
{
	if (d->kind == DECISION_START) {
		decided_start(g, j, d);
		return;
	}
	if (d->kind == DECISION_NOTICE) {
		warning_decided(g, j, d);
		return;
	}
	if (d->kind == DECISION_SHRINK) {
		narrowing_decided(g, j, d);
		return;
	}
	if (!j->has_hold || j->phase == PHASE_DRAINING)
		return;
	j->call_off = true;
	end_decided(g, j, d);
	gate_mark_dirty(g, j);
}

/* Doubles with each refusal in a row: queue and ledger disagree, and asking does not mend that. */
static int64_t refusal_pause(struct gate *g, struct gate_job *j)
{
	unsigned doublings = j->refusals < 6 ? j->refusals : 6;
	j->refusals++;
	return gate_spread(g, (int64_t)REFUSED_RETRY_MS << doublings);
}

void job_reserved(struct gate *g, struct gate_job *j, const struct ledger_result *r)
{
	switch (r->verdict) {
	case LEDGER_APPLIED:
	case LEDGER_REPEATED:
		j->refusals = 0;
		enter(g, j, PHASE_STARTING);
		return;
	case LEDGER_SPENT:
		j->attempt = r->next_attempt > j->attempt ? r->next_attempt : j->attempt + 1;
		reserve(g, j);
		return;
	case LEDGER_REFUSED:
		g->counts.refusals++;
		gate_note(g, NOTE_REFUSE, j, "the ledger has no room for it; trying again");
		j->has_hold = j->call_off = false;
		gate_drop_carried(g, j);
		queue_release_job(g->queue, &j->uid, g->now_ms, g->now_ms + refusal_pause(g, j));
		enter(g, j, PHASE_WAITING);
		return;
	}
	must_not_get_here(); /* a verdict that is none */
}

/* More than the Job needs now when it has ended some, or was narrowed, while nobody looked. */
static int32_t pods_adopted(const struct gate *g, const struct gate_job *j)
{
	int32_t pods = queue_job_pods(g->queue, &j->uid);
	return pods > j->seen.pods ? pods : j->seen.pods;
}

void job_adopt(struct gate *g, struct gate_job *j, const struct ledger_hold *h)
{
	j->attempt = h->attempt;
	j->has_hold = true;
	j->committed = h->state != LEDGER_PENDING;
	j->reserved_ms = h->reserved_ms;
	j->started_ms = h->started_ms;
	/* Whoever reserved it may have sent a PATCH that is still under way. What it decided on we
	 * do not know, so we finish nothing: what did not land is called off, and decided anew. */
	j->doubt = true;
	j->generation = GENERATION_UNKNOWN;
	j->held_pods = j->lost ? INT32_MAX : pods_adopted(g, j); /* the first facts will tell */
	narrowing_begin(j, j->lost ? 0 : j->held_pods);
	if (j->seen.suspend)
		j->seen.active = j->held_pods; /* nobody saw how many ran: better too much lost work
						  than none */
	name_clusterqueue(g, j);
	forget_end(j);
	if (j->committed) /* also one that is over: what it cost, and how long it ran, counts */
		queue_confirm_job(g->queue, &j->uid, h->started_ms);
	if (h->state == LEDGER_RELEASING || (j->committed && j->seen.suspend)) {
		j->reason = "Stopped";
		j->actor = g->identity;
		j->stopped_ms = g->now_ms;
		j->drains_ms = g->tick_ms;
		j->overdue_ms = g->tick_ms + OVERDUE_MS;
		j->finish_noted = j->seen.finished; /* by whoever led then */
		enter(g, j, PHASE_DRAINING);
	} else {
		enter(g, j, j->committed ? PHASE_RUNNING : PHASE_STARTING);
	}
}

bool job_still_wants(const struct gate_job *j)
{
	if (j->want == INTENT_NOTICE)
		return j->phase == PHASE_WAITING && !j->lost && j->seen.suspend;
	if (j->want == INTENT_WARN)
		return j->phase == PHASE_RUNNING && !j->call_off && !j->lost && !j->seen.suspend;
	if (j->want == INTENT_SHRINK)
		return narrowing_still_wants(j);
	if (j->want == INTENT_PODS) /* of a run they say something else than of its end */
		return j->want_in == j->phase;
	return j->want != INTENT_START || (j->phase == PHASE_STARTING && !must_not_start(j));
}

/* ---- Requests and answers ----------------------------------------------------------------------
 */

/* A run with fewer pods than asked for. The completions follow when all indexes are still to be
 * done: a Job some of whose indexes are done would be taken for finished with fewer. */
static void take_down(struct gate_job *j, struct intent *i)
{
	if (j->held_pods >= j->seen.pods)
		return;
	i->parallelism = i->story.pods = j->held_pods;
	i->story.owner_parallelism = j->seen.parallelism;
	if (!j->seen.completions_follow || j->seen.pods < j->seen.parallelism)
		return;
	i->completions = j->held_pods;
	i->story.owner_completions = j->seen.parallelism;
}

static void put_back(const struct gate_job *j, struct intent *i)
{
	i->parallelism = j->seen.owner_parallelism;
	i->completions = j->seen.owner_completions;
}

void job_tell(struct gate *g, struct gate_job *j, struct intent *i)
{
	struct story *s = &i->story;
	*s = (struct story){.attempt = j->attempt,
		.epoch = g->epoch,
		.at_ms = g->now_ms,
		.clusterqueue = j->clusterqueue,
		.reason = j->reason,
		.by = g->identity,
		.preemptor = j->preemptor,
		.message = j->message};
	if (i->kind == INTENT_NOTICE) {
		notice_format(g, j, g->notice, sizeof(g->notice));
		i->notice = g->notice;
		return;
	}
	if (i->kind == INTENT_WARN) {
		i->stopping_at_ms = j->warn_ms;
		j->warned = true;
		return;
	}
	if (i->kind == INTENT_SHRINK) {
		s->state = STORY_STARTED;
		s->lines = g->lines;
		s->nlines = queue_job_lines(g->queue, &j->uid, g->lines);
		narrowing_tell(j, i);
		return;
	}
	i->drop_warning = j->seen.stopping_at_ms > 0 || j->warned;
	queue_job_history(g->queue, &j->uid, g->now_ms, &s->history);
	if (j->attempt < j->seen.story_attempt)
		s->attempt = j->seen.story_attempt;
	if (i->kind == INTENT_START) {
		j->sent = true;
		i->generation = j->generation;
		i->has_notice = j->seen.has_notice;
		s->state = STORY_STARTED;
		s->lines = g->lines;
		s->nlines = queue_job_lines(g->queue, &j->uid, g->lines);
		take_down(j, i);
	} else {
		bool stopped = i->kind == INTENT_STOP || j->phase == PHASE_WAITING;
		s->state = stopped ? STORY_STOPPED : STORY_FENCED;
		i->hold = stopped ? j->hold : NULL;
		put_back(j, i);
	}
}

/* Before Kubernetes 1.36 the API server lets nobody change what a Job's containers ask for ("field
 * is immutable", behind a template of any length). Later ones say the same of a Job that has pods,
 * which may be so without our knowledge: but not twice. Who may run on ordinary room as well is
 * kept to that for a while, and then tries again: servers are upgraded. Who may not has to be
 * written otherwise. */
static const char *denied_lending(struct gate *g, struct gate_job *j, const char *said)
{
	if (queue_job_lending(g->queue, &j->uid) == LENDING_NONE ||
		!queue_job_resources(g->queue, &j->uid) || !strstr(said, "immutable"))
		return "";
	if (j->seen.rewritable && ++j->immutables > 1) {
		j->no_lending_ms = g->tick_ms + gate_spread(g, NO_LENDING_MS);
		j->retell = true;
	}
	return "before Kubernetes 1.36 what its containers ask for cannot be rewritten: to have it "
	       "run on idle room, ask for kubernetes.io/batch-cpu and kubernetes.io/batch-memory "
	       "in its Pod template; ";
}

static void denied_start(struct gate *g, struct gate_job *j, const char *said)
{
	gate_note(g, NOTE_REFUSE, j, "%sthe API server refuses: %s", denied_lending(g, j, said),
		said);
	/* Not applied, and it will not be: give the room to others for a while. */
	j->call_off = true;
	j->not_before_ms = g->now_ms + gate_spread(g, DENIED_RETRY_MS);
	end(j, "RefusedByServer", g->identity);
}

static void denied(struct gate *g, struct gate_job *j, enum intent_kind asked, const char *sentence)
{
	const char *said = sentence ? sentence : "no reason given";
	if (asked == INTENT_START) {
		denied_start(g, j, said);
		return;
	}
	gate_note(g, NOTE_REFUSE, j, "the API server refuses: %s", said);
	if (asked == INTENT_SHRINK && narrowing_still_wants(j))
		narrowing_fails(g, j); /* what is lent is wanted back all the same */
	else
		pause_until(g, j, g->tick_ms + gate_spread(g, DENIED_RETRY_MS));
}

/* Of a Job that runs, or of one that ended? It may have ended meanwhile. */
static void answered_pods(struct gate *g, struct gate_job *j, size_t pods)
{
	if (j->asked_in != j->phase)
		return;
	if (j->phase == PHASE_RUNNING) {
		int32_t left = narrowing_counted(g, j, pods), seen = pods_in_sight(j);
		shrink_to(g, j, left > seen ? left : seen);
	} else if (pods == 0) {
		release(g, j);
	} else {
		gate_back_off(g, j, PODS_RETRY_MS, RETRY_MAX_MS);
	}
}

static void answered_done(struct gate *g, struct gate_job *j, enum intent_kind asked, size_t pods)
{
	if (asked == INTENT_READ) {
		j->need_read = false;
		j->look_ms = g->tick_ms + LOST_LOOK_MS;
	} else if (asked == INTENT_PODS) {
		answered_pods(g, j, pods);
	} else {
		j->tries = 0;
	}
}

void job_answered(
	struct gate *g, struct gate_job *j, enum intent_kind asked, const struct job_answer *a)
{
	if (asked == INTENT_NOTICE) {
		notice_answered(g, j); /* nothing else hangs on it; the next is due in a while */
		return;
	}
	switch (a->outcome) {
	case JOB_DONE:
		answered_done(g, j, asked, a->pods);
		break;
	case JOB_REFUSED:
		j->need_read = true;
		if (asked == INTENT_START && j->tries >= REFUSED_TRIES)
			denied(g, j, asked, a->sentence);
		else
			gate_back_off(g, j, RETRY_MS, RETRY_MAX_MS);
		break;
	case JOB_GONE:
		j->gone = j->lost = true;
		j->need_read = false;
		break;
	case JOB_BUSY:
		pause_until(g, j,
			g->tick_ms + gate_spread(g, a->retry_ms > 0 ? a->retry_ms : RETRY_MS));
		break;
	case JOB_DENIED:
		denied(g, j, asked, a->sentence);
		break;
	case JOB_IN_DOUBT:
		j->need_read = true;
		if (asked == INTENT_START && j->has_hold)
			j->doubt = true;
		gate_back_off(g, j, RETRY_MS, RETRY_MAX_MS);
		break;
	}
}
