/*
 * The life of an attempt. job_reconcile() looks at the newest facts and the phase and does the next
 * thing, if it is time for one; it is called whenever something about the Job changed, and may be
 * called at any other time without harm. Each phase is one function, read from the top: what ends
 * it first, then what it waits for, then what it does. It returns the phase that comes next, and
 * enter() alone makes it the Job's.
 *
 * docs/protocol.md has the table of phases, and why each guard is enough.
 */
#include "base/must.h"
#include "controller/gate/adoption.h"
#include "controller/gate/attempt.h"
#include "controller/gate/core.h"
#include "controller/gate/due.h"
#include "controller/gate/failing.h"
#include "controller/gate/gate.h"
#include "controller/gate/growth.h"
#include "controller/gate/mass_stop.h"
#include "controller/gate/never_starts.h"
#include "controller/gate/newcomer.h"
#include "controller/gate/observe.h"
#include "controller/gate/phase.h"
#include "controller/gate/provision.h"
#include "controller/gate/reasons.h"
#include "controller/gate/record.h"
#include "controller/gate/rejection.h"
#include "controller/gate/requests.h"
#include "controller/gate/scale_down.h"
#include "controller/gate/start_time.h"
#include "controller/gate/stop.h"
#include "controller/gate/stop_notice.h"
#include "controller/gate/stuck.h"
#include "controller/gate/waiting_note.h"

#define FORGOTTEN PHASES /* no phase: the Job is forgotten, and its record gone */
#define FETCH_TRIES 4	 /* of a deferred Job; then others have their turn */

static const char NOT_ADMITTED_SENTENCE[] =
	"the Job ran without being admitted: a client other than Sluice set spec.suspend to false, or the ledger has lost its reservation; the Job is queued, and starts in its turn";
static const char SPARED[] =
	"it runs, and the ledger has no reservation for it; it is one of many, so they are not stopped yet (docs/protocol.md, Mass stop)";
static const char ELSEWHERE[] =
	"another client suspended it, changed the node selector, tolerations or node affinity of its pods, and unsuspended it: it may have run where it holds no quota; it is queued, and starts in its turn";
static const char UNCONTROLLED[] =
	"its pods could not be counted or stopped: create it without spec.manualSelector, spec.selector and spec.managedBy";
static const char LEAVING[] =
	"it ran without being admitted until a moment ago, and its pods are still going away";

static const char ENDING[] =
	"its work is over: Kubernetes makes no more pods of it, and completes or fails it when none is left";
static const char CANNOT_END[] =
	"its work is over, but it was suspended before Kubernetes could complete or fail it; Sluice lets it end, without quota: it has no pods any more";

/* The only writer of phase. */
static void enter(struct gate *g, struct gate_job *j, enum phase next)
{
	if (next == j->phase)
		return;
	g->counts.by_phase[j->phase]--;
	g->counts.by_phase[next]++;
	if (j->phase == PHASE_RUNNING || next == PHASE_WAITING)
		stuck_end(g, j);
	j->phase = next;
	j->waits_ms = g->tick_ms;
	waiting_note_begin(j);
	failing_enter(j, next);
	if (next == PHASE_STOPPING || next == PHASE_DRAINING)
		queue_ending_job(g->queue, &j->uid);
	if (next == PHASE_WAITING)
		growth_end(j);
	request_begin_tries(j);
	j->need_read = false;
	j->refusals.short_of_room = 0;
	j->request.retry_ms = 0;
	due_clear(&g->due, &j->request.alarm);
	gate_mark_dirty(g, j);
}

/* Asks now and then, by GET, for a Job that is off the watch but holds quota, or is behind its
 * reservation. False while it is not known yet what became of it. */
static bool looked_for(struct gate *g, struct gate_job *j)
{
	if (attempt_is_behind(j) && !j->gone) {
		job_request(g, j, INTENT_READ);
		return false;
	}
	if (!j->lost || j->gone)
		return true;
	if (g->tick_ms >= j->request.look_ms)
		job_request(g, j, INTENT_READ);
	else
		gate_alarm(g, j, j->request.look_ms);
	return j->request.look_ms > 0;
}

/* Tells whether the start of this attempt landed, even if the run was stopped since. */
static bool start_landed(const struct gate_job *j)
{
	if (j->seen.story_attempt != j->attempt.number)
		return false;
	return j->seen.story_state == STORY_STARTED ||
	       (j->seen.story_state == STORY_STOPPED && j->seen.suspend);
}

/* Tells whether another client than Sluice unsuspended the Job. That may be a successor that we do
 * not know of yet, so the lease is asked for before anything is written. False: it is. */
static bool is_intruder(struct gate *g, struct gate_job *j)
{
	if (adoption_is_of_later_leader(g, j)) {
		gate_depose(g,
			"a Job runs by the word of a later leader, of which the ledger lost the lease");
		return false;
	}
	gate_confirm_before(g, j);
	return true;
}

/* Stops a run that holds quota: it keeps that until it is stopped. */
static enum phase stop_intruder(struct gate *g, struct gate_job *j)
{
	if (!is_intruder(g, j))
		return j->phase;
	j->ran_unseen = false;
	stop_because_of(j, REASON_NOT_ADMITTED, g->identity, NOT_ADMITTED_SENTENCE);
	return PHASE_STOPPING;
}

/* Stops a run that holds nothing. The reason of an earlier stop says nothing of this run. */
static enum phase evict(struct gate *g, struct gate_job *j)
{
	if (!is_intruder(g, j))
		return j->phase;
	j->ran_unseen = true;
	stop_forget(j);
	stop_because_of(j, REASON_NOT_ADMITTED, g->identity, NOT_ADMITTED_SENTENCE);
	return PHASE_EVICTING;
}

static void block(struct gate *g, struct gate_job *j, const char *why)
{
	queue_block_job(g->queue, &j->uid, why);
}

/* Reads the Job, to tell the queue anew that the API server does not rewrite its resources, and
 * again when that is long ago. */
static void reconsider_lending(struct gate *g, struct gate_job *j)
{
	if (j->refusals.no_lending_ms > g->tick_ms) {
		gate_alarm(g, j, j->refusals.no_lending_ms);
	} else if (j->refusals.no_lending_ms > 0) {
		j->refusals.no_lending_ms = 0;
		j->retell = true;
	}
	if (j->retell)
		job_request(g, j, INTENT_READ);
}

/* Tells the Job that another client suspended it while it ran. A person's suspension holds until a
 * person acts. After a manifest that was applied again it starts anew. */
static void suspended_by_others(struct gate *g, struct gate_job *j)
{
	bool person = j->seen.by_person;
	block(g, j, person ? "suspended by another client while it ran" : MANIFEST_SUSPENDS);
	stop_suspended_unseen(j);
	job_request(g, j, INTENT_TELL);
}

/* Writes the hold on the Job, which is held here until then, and where there is no room for it. */
static void tell_hold(struct gate *g, struct gate_job *j)
{
	block(g, j, j->stop.hold);
	job_request(g, j, INTENT_TELL);
}

/* Tells whether the Job controller may yet see that the Job ran, and make pods of the template of
 * then. Until its status tells of that run, Suspended is of the time before. */
static bool may_yet_have_pods(struct gate *g, struct gate_job *j)
{
	int64_t sure_ms = j->waits_ms + g->drain_doubt_ms;
	if (!j->ran_unseen || g->tick_ms >= sure_ms) {
		j->ran_unseen = false;
		return false;
	}
	gate_alarm(g, j, sure_ms);
	return true;
}

/* Reads a deferred Job that has its turn; after some tries others have their turn. */
static enum phase fetch(struct gate *g, struct gate_job *j)
{
	if (j->request.tries < FETCH_TRIES || job_busy(j)) {
		job_request(g, j, INTENT_READ);
		return PHASE_WAITING;
	}
	gate_return_deferred(g, j);
	return FORGOTTEN;
}

/*
 * Lets a Job end that was suspended in the moment in which its work ended. The Job controller makes
 * no pods of it any more, so it needs no quota and has no turn. It ends by itself if it has a start
 * time: the API server takes no end without one, and the Job controller writes one only while a Job
 * is not suspended. Without one the Job is let run, without a reservation.
 */
static void let_end(struct gate *g, struct gate_job *j)
{
	block(g, j, j->seen.cannot_end ? CANNOT_END : ENDING);
	if (j->seen.cannot_end)
		job_request(g, j, INTENT_TELL);
}

static void wait_suspended(struct gate *g, struct gate_job *j)
{
	reconsider_lending(g, j);
	if (j->seen.ending)
		let_end(g, j);
	else if (j->seen.story_state == STORY_STARTED)
		suspended_by_others(g, j);
	else if (stop_owes_hold(j))
		tell_hold(g, j);
	else if (stop_bars(g, j))
		block(g, j, j->stop.barred_for);
	else if (j->seen.leaving || may_yet_have_pods(g, j))
		block(g, j, LEAVING);
	else {
		block(g, j, NULL);
		never_starts_see_to(g, j);
		start_time_see_to(g, j);
	}
}

/* Adopts a start that the last leader sent, if it lands in the pause that is made for that. */
static bool adopted_late(struct gate *g, struct gate_job *j)
{
	return g->adoption.pauses && job_adopt_by_story(g, j);
}

static void take_over(struct gate *g, struct gate_job *j, const struct ledger_reservation *r);

static bool newcomer_goes_on(struct gate *g, struct gate_job *j)
{
	struct ledger_reservation r;
	enum newcomer_verdict v = newcomer_see_to(g, j, &r);
	if (v == NEWCOMER_TAKE_OVER)
		take_over(g, j, &r);
	return v != NEWCOMER_INTRUDER;
}

/* WAITING: no reservation. The queue has the Job, unless it is over. */
static enum phase waiting(struct gate *g, struct gate_job *j)
{
	if (j->fetching && !j->lost)
		return fetch(g, j);
	if (j->lost || j->seen.finished) {
		queue_drop_job(g->queue, &j->uid);
		if (job_busy(j) || provision_tidy(g, j))
			return PHASE_WAITING;
		gate_forget_job(g, j);
		return FORGOTTEN;
	}
	if (adopted_late(g, j))
		return j->phase;
	if (j->seen.deleting) {
		queue_drop_job(g->queue, &j->uid);
		return PHASE_WAITING;
	}
	if (!j->seen.suspend && j->seen.ending) { /* a stop could only keep it from its end */
		block(g, j, ENDING);
		return PHASE_WAITING;
	}
	if (!j->seen.suspend && newcomer_goes_on(g, j))
		return j->phase;
	if (!j->seen.suspend && mass_stop_spares(g, j)) {
		block(g, j, SPARED);
		return PHASE_WAITING;
	}
	if (!j->seen.suspend) {
		block(g, j,
			"another client unsuspended it although it was not admitted; Sluice suspends it again");
		return evict(g, j);
	}
	if (!provision_is_left(g, j) && gate_defer_job(g, j))
		return FORGOTTEN;
	wait_suspended(g, j);
	provision_tidy(g, j); /* last: what bars or holds it does not wait for that */
	return PHASE_WAITING;
}

/* A start PATCH may have gone out. Returns the phase that follows from what the Job shows of it, or
 * the present one. */
static enum phase settled_otherwise(struct gate *g, struct gate_job *j)
{
	if (start_landed(j) || newcomer_is_reserved(j))
		return attempt_run(g, j);
	if (job_busy(j))
		return j->phase;
	if (j->gone || j->seen.finished || (j->seen.deleting && !j->seen.suspend)) {
		/* A run may have begun and ended unseen: pods may be left. */
		stop_because(j, REASON_DELETED, "user");
		return attempt_drain(g, j);
	}
	return j->seen.suspend ? j->phase : stop_intruder(g, j);
}

/* STARTING: RESERVE is durable. The start PATCH is sent until its fate is known. */
static enum phase starting(struct gate *g, struct gate_job *j)
{
	if (!j->attempt.doubt && !j->attempt.sent && !job_busy(j) &&
		!queue_start_stands(g->queue, &j->uid)) {
		stop_want(j);
		stop_because(j, stop_reason_name(STOP_REASON_WINDOW_CLOSED), g->identity);
	}
	if (attempt_must_not_start(g, j) && !j->attempt.doubt && !j->attempt.sent && !job_busy(j))
		return attempt_call_off(g, j);
	if (!looked_for(g, j))
		return PHASE_STARTING;
	enum phase next = settled_otherwise(g, j);
	if (next != PHASE_STARTING || job_busy(j))
		return next;
	if (attempt_must_not_start(g, j))
		return j->attempt.doubt ? PHASE_FENCING : attempt_call_off(g, j);
	switch (provision_see_to(g, j)) {
	case PROVISION_WAIT:
		return PHASE_STARTING;
	case PROVISION_FAIL:
		provision_give_up(g, j);
		return attempt_call_off(g, j);
	case PROVISION_GO:
		break;
	}
	if (!start_time_see_to(g, j))
		job_request(g, j, INTENT_START);
	return PHASE_STARTING;
}

/* Tells whether PATCHes of this attempt test a story that is gone. The story of a later attempt
 * stands there when the ledger has lost that one (adoption.c). */
static bool is_fenced(const struct gate_job *j)
{
	return j->seen.story_attempt > j->attempt.number ||
	       (j->seen.story_state == STORY_FENCED && j->seen.story_attempt == j->attempt.number);
}

/* FENCING: a PATCH of the start may still be under way. A new story makes that harmless. Where the
 * Job's own story is lost the new one says Stopped: settled_otherwise() takes that for a run, and
 * pods are looked for before the quota is given back. */
static enum phase fencing(struct gate *g, struct gate_job *j)
{
	if (!looked_for(g, j))
		return PHASE_FENCING;
	enum phase next = settled_otherwise(g, j);
	if (next != PHASE_FENCING || job_busy(j))
		return next;
	if (is_fenced(j))
		return attempt_fenced(g, j);
	if (attempt_story_is_lost(j))
		stop_because(j, REASON_STORY_LOST, g->identity);
	job_request(g, j, INTENT_TELL);
	return PHASE_FENCING;
}

/* Gives back the quota of pods that have ended, and never that of pods that there are. */
static void shrink(struct gate *g, struct gate_job *j)
{
	if (!growth_keeps(g, j) && !scale_down_in_doubt(g, j))
		attempt_shrink(g, j, job_pods_in_sight(j));
}

/* Tells whether the Job runs though its story says that this attempt was stopped. Its start cannot
 * land after that: the owner unsuspended it, perhaps with a larger template. */
static bool stopped_and_resumed(const struct gate_job *j)
{
	return !j->seen.suspend && j->seen.story_state == STORY_STOPPED &&
	       j->seen.story_attempt == j->attempt.number;
}

static bool ended(struct gate *g, struct gate_job *j)
{
	const struct facts *f = &j->seen;
	bool resumed = stopped_and_resumed(j);
	if (!j->gone && !f->finished && !f->suspend && !f->deleting && !resumed)
		return false;
	if (j->gone || (f->deleting && !f->finished))
		stop_because(j, REASON_DELETED, "user");
	else if (resumed || (f->suspend && f->story_state == STORY_STOPPED))
		stop_because(j, REASON_STOPPED, g->identity);
	else if (f->suspend && (!f->finished || f->cut_short))
		stop_suspended(g, j);
	return true;
}

/* Tells whether another client unsuspended the Job since the attempt began. Sluice never
 * unsuspended a newcomer: there the start time tells, which is that of the last resumption. */
static bool resumed_since(const struct gate_job *j)
{
	bool is_as_adopted = j->attempt.estimated && j->seen.start_seen &&
			     j->seen.start_ms <= j->attempt.started_ms;
	return j->seen.resumed_by_other && !is_as_adopted;
}

/* While no leader looked, another client may have suspended the Job, changed its template, and
 * unsuspended it; the reservation is for the pods and the flavor of before. The story may say
 * anything, where etcd was restored from before the start. That pods count for more, or go to other
 * nodes, is not enough: admins change what is counted, webhooks what is written, and what runs is
 * left alone. */
bool job_is_another(const struct gate *g, const struct gate_job *j)
{
	return resumed_since(j) &&
	       (j->seen.redirected || queue_job_outgrows(g->queue, &j->uid, j->seen.pods));
}

static void stop_another(struct gate *g, struct gate_job *j)
{
	stop_want(j);
	if (j->seen.redirected && resumed_since(j))
		stop_because_of(j, REASON_NOT_ADMITTED, g->identity, ELSEWHERE);
	else
		stop_because(j, REASON_SCALED_UP, g->identity);
}

/* Tells whether no more pods are made, and there are no more than are reserved. */
static bool has_all_its_pods(const struct gate_job *j)
{
	return j->seen.ends_when_stopped && j->seen.present <= j->attempt.pods;
}

/* Calls a growth off where the run is to be smaller: that goes first. */
static void drop_growth(struct gate_job *j)
{
	if (j->scale_down.to > 0)
		growth_drop(j);
}

static bool goes_back(struct gate *g, struct gate_job *j)
{
	bool again = scale_down_again(g, j);
	drop_growth(j);
	return again;
}

static bool goes_on_with_hold(struct gate *g, struct gate_job *j)
{
	bool held = adoption_story_covers(g, j) && scale_down_to_hold(g, j);
	drop_growth(j);
	return held;
}

/* Stops a run with more pods than are reserved, or with pods that cannot be counted: the owner
 * raised the Job, or its kind may not run. Where Sluice let it have so many (a store went back), it
 * goes on with fewer. True: it must not go on as it is. */
static bool outgrows(struct gate *g, struct gate_job *j)
{
	attempt_know_pods(g, j);
	if (j->seen.uncontrolled) {
		stop_want(j);
		stop_because_of(j, REASON_UNCOUNTABLE, g->identity, UNCONTROLLED);
		return true;
	}
	bool fits = j->seen.pods <= j->attempt.pods || has_all_its_pods(j);
	if (!job_is_another(g, j) && (fits || goes_back(g, j)))
		return false;
	if (j->need_read) {
		job_request(g, j, INTENT_READ);
	} else if (!job_is_another(g, j) && goes_on_with_hold(g, j)) {
		return false;
	} else {
		stop_another(g, j);
	}
	return true;
}

/* Reads a Job that was seen before its reservation was adopted: its directives were not kept. */
static void read_whole(struct gate *g, struct gate_job *j)
{
	j->retell = true;
	job_request(g, j, INTENT_READ);
}

/* Tells the queue that Kubernetes ends the Job, which does not wait again: no Job waits for its
 * return, though a pod may take for ever to go. */
static void heed_ending(struct gate *g, struct gate_job *j)
{
	if (j->seen.ending)
		block(g, j, ENDING);
}

/* Tells whether etcd went back to an earlier attempt than the one that holds quota: it may run in
 * another flavor. */
static bool is_of_another_attempt(const struct gate_job *j)
{
	return !j->lost && !j->seen.suspend && !j->seen.deleting &&
	       j->seen.story_state == STORY_STARTED && j->seen.story_attempt != j->attempt.number;
}

/* Forgets failures when nothing is asked for any more, and no pause is on. */
static void forget_failures(struct gate *g, struct gate_job *j)
{
	if (!j->failing || job_busy(j))
		return;
	int64_t until_ms = j->request.retry_ms;
	if (j->failing->asked == INTENT_GROW && until_ms < j->growth.denied_ms)
		until_ms = j->growth.denied_ms;
	if (g->tick_ms < until_ms)
		gate_alarm(g, j, until_ms);
	else
		failing_over(j);
}

static enum phase running(struct gate *g, struct gate_job *j)
{
	if (j->lost) /* until it is read the Job is as it was seen last, also for a new leader */
		attempt_tell_ready(g, j);
	if (!looked_for(g, j))
		return PHASE_RUNNING;
	heed_ending(g, j);
	provision_heed(g, j);
	if (j->seen.start_seen)
		attempt_acked(j);
	if (ended(g, j))
		return attempt_drain(g, j);
	if (is_of_another_attempt(j))
		return stop_intruder(g, j);
	bool too_large = outgrows(g, j);
	attempt_tell_ready(g, j); /* also before a READ: a new leader's queue knows nothing */
	if (!too_large) {
		if (queue_job_is_cut(g->queue, &j->uid))
			read_whole(g, j);
		if (j->seen.pods <= j->attempt.pods)
			shrink(g, j);
		stuck_see_to(g, j);
	}
	rejection_see_to(g, j);
	if (j->stop.wanted && (j->attempt.acked || j->seen.uncontrolled))
		return PHASE_STOPPING;
	bool goes_on = !j->stop.wanted && !j->lost;
	if (goes_on)
		growth_settle(g, j);
	if (!goes_on || scale_down_see_to(g, j))
		return PHASE_RUNNING;
	if (newcomer_owes_story(j))
		job_request(g, j, INTENT_RETELL);
	else if (!growth_see_to(g, j))
		stop_notice_see_to(g, j);
	forget_failures(g, j);
	return PHASE_RUNNING;
}

static bool runs_no_more(const struct gate_job *j)
{
	return j->gone || j->seen.finished || j->seen.suspend || j->seen.deleting;
}

/* Tells a Job that holds quota to stop, until it is seen to. */
static enum phase stopping(struct gate *g, struct gate_job *j)
{
	if (!looked_for(g, j))
		return PHASE_STOPPING;
	if (j->seen.start_seen)
		j->ran_unseen = false;
	if (runs_no_more(j)) {
		if (j->gone || j->seen.deleting)
			stop_because(j, REASON_DELETED, "user");
		return attempt_drain(g, j);
	}
	heed_ending(g, j);
	if (!j->seen.ending)
		job_request(g, j, INTENT_STOP);
	else /* its pods go without us */
		shrink(g, j);
	return PHASE_STOPPING;
}

/* Tells a Job without a reservation to stop, until it is seen to: then it waits. */
static enum phase evicting(struct gate *g, struct gate_job *j)
{
	if (adopted_late(g, j))
		return j->phase; /* the stop was for an earlier run, which we saw late */
	if (j->seen.start_seen)
		j->ran_unseen = false;
	if (!runs_no_more(j) && !j->lost) {
		heed_ending(g, j);
		if (!j->seen.ending)
			job_request(g, j, INTENT_STOP);
		return PHASE_EVICTING;
	}
	if (job_busy(j))
		return PHASE_EVICTING;
	if (j->seen.suspend && j->seen.story_state == STORY_STOPPED)
		stop_note_intruder(g, j);
	return PHASE_WAITING;
}

/* Tells whether the status proves that no pod is left, or can be made any more. */
static bool drained(const struct gate_job *j)
{
	return j->seen.quiet && (j->seen.finished || (j->seen.suspend && j->attempt.acked));
}

/*
 * DRAINING: ended, stopped or deleted. The Job's status is proof that no pod is left, if it was
 * written after the Job controller saw the start (acked) and then the stop. Where the status may be
 * older than the start, or the Job is gone, only a count of the pods will do, and only after a
 * while: a Job controller that has seen the start, and not yet what came after it, may still make
 * pods.
 *
 * A status that does not come may never come: that of a Job as large as etcd takes cannot be
 * written. So each time that pods are overdue, they are counted, too.
 *
 * The Job controller makes and takes no pods of a Job that is being deleted: as long as a finalizer
 * keeps it, its pods run on until they end. These are counted as well.
 */
static enum phase draining(struct gate *g, struct gate_job *j)
{
	/* The stop came too late: its last pods ended well all the same. */
	if (j->seen.finished && !j->stop.finish_noted)
		stop_note_finish(g, j);
	if (drained(j))
		return attempt_release(g, j);
	bool overdue = g->tick_ms >= j->stop.overdue_ms;
	stop_complain(g, j);
	gate_alarm(g, j, j->stop.overdue_ms);
	if (!looked_for(g, j))
		return PHASE_DRAINING;
	bool deleted = j->gone || j->seen.deleting;
	if (!deleted && !j->seen.suspend && !j->seen.finished)
		return stop_intruder(g, j);
	if (!deleted && (j->seen.finished || j->attempt.acked)) {
		if (overdue)
			job_request(g, j, INTENT_PODS);
		return PHASE_DRAINING; /* the status will tell */
	}
	int64_t sure_ms = j->stop.drains_ms + g->drain_doubt_ms;
	if (g->tick_ms < sure_ms)
		gate_alarm(g, j, sure_ms);
	else
		job_request(g, j, INTENT_PODS);
	return PHASE_DRAINING;
}

static enum phase next_phase(struct gate *g, struct gate_job *j)
{
	switch (j->phase) {
	case PHASE_WAITING:
		return waiting(g, j);
	case PHASE_RESERVING: /* nothing but the ledger's verdict ends it */
		return PHASE_RESERVING;
	case PHASE_STARTING:
		return starting(g, j);
	case PHASE_FENCING:
		return fencing(g, j);
	case PHASE_RUNNING:
		return running(g, j);
	case PHASE_STOPPING:
		return stopping(g, j);
	case PHASE_DRAINING:
		return draining(g, j);
	case PHASE_EVICTING:
		return evicting(g, j);
	case PHASES:
		break;
	}
	must_not_get_here();
}

void job_reconcile(struct gate *g, struct gate_job *j)
{
	if (adoption_overtakes(g, j)) {
		gate_depose(g,
			"a Job runs a later attempt than the one that the ledger has, or holds more; the next takeover adopts it");
		return;
	}
	enum phase next = next_phase(g, j);
	if (next != FORGOTTEN)
		enter(g, j, next);
}

void job_decided(struct gate *g, struct gate_job *j, const struct decision *d)
{
	switch (d->kind) {
	case DECISION_START:
		enter(g, j, attempt_decided_start(g, j, d));
		break;
	case DECISION_STOP:
		attempt_decided_stop(g, j, d);
		break;
	case DECISION_NOTICE:
		stop_notice_decided(g, j, d);
		break;
	case DECISION_SHRINK:
		scale_down_decided(g, j, d);
		drop_growth(j);
		break;
	case DECISION_GROW:
		growth_decided(g, j, d);
		break;
	case DECISION_HOLD:
	case DECISION_DELETE:
		never_starts_decided(g, j, d);
		break;
	}
}

void job_reserved(struct gate *g, struct gate_job *j, const struct ledger_result *r)
{
	enter(g, j, attempt_reserved(g, j, r));
}

void job_grown(struct gate *g, struct gate_job *j, const struct ledger_op *op,
	const struct ledger_result *r)
{
	if (job_has_reservation(j) && j->attempt.number == op->attempt && !op->adopts)
		growth_reserved(g, j, op->seq, r->verdict);
}

void job_answered(struct gate *g, struct gate_job *j, const struct job_answer *a)
{
	enter(g, j, request_answered(g, j, a));
}

void job_adopt(struct gate *g, struct gate_job *j, const struct ledger_reservation *r)
{
	enter(g, j, attempt_adopt(g, j, r));
	/* The Job as seen may be older than the reservation: no run is stopped for that. */
	j->need_read = j->lost || j->seen.pods > j->attempt.pods || job_is_another(g, j);
}

/* Takes over a run of which the queue knows what it holds, and the ledger does not. */
static void take_over(struct gate *g, struct gate_job *j, const struct ledger_reservation *r)
{
	attempt_adopting(j);
	job_adopt(g, j, r);
	gate_operate(g, j, LEDGER_ADOPT, 0);
	gate_operate_at(g, j, LEDGER_COMMIT, r->started_ms);
}

bool job_adopt_by_story(struct gate *g, struct gate_job *j)
{
	struct ledger_reservation r;
	if (!adoption_finds(g, j, &r))
		return false;
	gate_adopt_in_queue(g, j, &r);
	take_over(g, j, &r);
	adoption_found(g, j);
	return true;
}

void job_adopted(struct gate *g, struct gate_job *j, int32_t attempt, const struct ledger_result *r)
{
	bool in_vain = r->verdict == LEDGER_SPENT;
	if (in_vain)
		adoption_was_in_vain(g, j);
	if (!job_has_reservation(j) || j->attempt.number != attempt)
		return;
	if (in_vain) {
		newcomer_spent(j, r->next_attempt);
		enter(g, j, attempt_adopted_in_vain(g, j));
	} else {
		attempt_adopted(g, j);
		newcomer_adopted(g, j);
	}
	gate_mark_dirty(g, j);
}
