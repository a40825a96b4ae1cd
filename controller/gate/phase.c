/*
 * The life of an attempt. job_reconcile() looks at the newest facts and the phase and does the next
 * thing, if it is time for one; it is called whenever something about the Job changed, and may be
 * called at any other time without harm. Each phase is one function, read from the top: what ends
 * it first, then what it waits for, then what it does.
 *
 * docs/gate.md has the table of phases, and why each guard is enough.
 */
#include "base/must.h"
#include "controller/gate/record.h"

#define FETCH_TRIES 4 /* of a deferred Job; then others have their turn */

static const char NOT_ADMITTED[] = "NotAdmitted";
static const char NOT_ADMITTED_SENTENCE[] =
	"it ran without being admitted: somebody else than Sluice set spec.suspend to false, or the ledger has lost its reservation; it is queued, and started when its turn comes";
static const char SPARED[] =
	"it runs, and the ledger has no reservation for it; it is one of many, so they are not stopped yet (docs/gate.md, Mass stop)";
static const char UNCONTROLLED[] =
	"its pods could not be counted or stopped: create it without spec.manualSelector, spec.selector and spec.managedBy";
static const char LEAVING[] =
	"it ran without being admitted until a moment ago, and its pods are still going away";

/* The only writer of phase. */
void job_enter(struct gate *g, struct gate_job *j, enum phase next)
{
	g->counts.by_phase[j->phase]--;
	g->counts.by_phase[next]++;
	if (j->phase == PHASE_RUNNING || next == PHASE_WAITING)
		stuck_end(g, j);
	j->phase = next;
	j->waits_ms = g->tick_ms;
	j->notices = 0;
	if (j->has_reservation && (next == PHASE_STOPPING || next == PHASE_DRAINING))
		queue_ending_job(g->queue, &j->uid);
	j->tries = 0;
	j->need_read = false;
	j->short_of_room = 0;
	j->retry_ms = 0;
	due_clear(&g->due, &j->alarm);
	gate_mark_dirty(g, j);
}

bool job_busy(const struct gate_job *j)
{
	return j->request != 0 || j->wanting;
}

void job_pause(struct gate *g, struct gate_job *j, int64_t at_ms)
{
	j->retry_ms = at_ms;
	gate_alarm(g, j, at_ms);
}

/* Asks for kind, unless something is under way or a pause is on. After a refusal or a doubt what we
 * know may be old, so a GET goes before it; where a successor may lead, the lease. */
void job_request(struct gate *g, struct gate_job *j, enum intent_kind kind)
{
	if (job_busy(j))
		return;
	if (j->need_read)
		kind = INTENT_READ;
	if (g->tick_ms < j->retry_ms)
		gate_alarm(g, j, j->retry_ms);
	else if (gate_doubts_lease(g, j, kind))
		gate_confirm_lease(g);
	else
		gate_want(g, j, kind);
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

/* Somebody other than us unsuspended it. What holds it has, it keeps until it is stopped again.
 * But it may have been our successor, if we do not know yet that we have one: so the lease is asked
 * for once more before anything is written. */
static void stop_intruder(struct gate *g, struct gate_job *j)
{
	j->after_lease = g->lease_asked + 1;
	if (!j->has_reservation)
		job_forgets_end(j);
	if (j->reason[0] == '\0')
		j->message = NOT_ADMITTED_SENTENCE;
	j->ran_unseen = !j->has_reservation;
	job_ends(j, NOT_ADMITTED, g->identity);
	job_enter(g, j, PHASE_STOPPING);
}

static void block(struct gate *g, struct gate_job *j, const char *why)
{
	queue_block_job(g->queue, &j->uid, why);
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

/* Suspended while it ran, and not by us: it says so where its owner sees it. A person who meant it
 * is heeded until somebody acts; a manifest that was applied again only has the Job start anew. */
static void suspended_by_others(struct gate *g, struct gate_job *j)
{
	bool person = j->seen.by_person;
	bool deactivated = j->hold && j->hold != HOLD_BY_OTHER; /* before that, by us */
	block(g, j,
		person ? "suspended by somebody else than Sluice while it ran" : MANIFEST_SUSPENDS);
	if (!deactivated) {
		job_forgets_end(j);
		j->reason = person ? SUSPENDED_BY_OTHER : SUSPENDED_BY_MANIFEST;
		j->message = person ? NULL : MANIFEST_SUSPENDS;
		j->hold = person ? HOLD_BY_OTHER : NULL;
	}
	job_request(g, j, INTENT_TELL);
}

/* Not once it stands on it, or once its owner has changed what was refused. */
static bool owes_hold(struct gate_job *j)
{
	bool changed = j->hold_refused && (j->seen.generation != j->denied_generation ||
						  j->seen.annotation_bytes != j->denied_bytes);
	if (j->hold_owed && (j->seen.held || changed)) {
		j->hold_owed = j->hold_refused = false;
		j->denials = 0;
	}
	return j->hold_owed;
}

/* What holds it is written on it; meanwhile, and where there is no room for it, it is held here. */
static void tell_hold(struct gate *g, struct gate_job *j)
{
	block(g, j, j->hold);
	job_request(g, j, INTENT_TELL);
}

/* A manifest that is applied again and again. */
static bool barred(struct gate *g, struct gate_job *j)
{
	if (j->barred_ms <= g->tick_ms)
		j->barred_ms = 0;
	else
		gate_alarm(g, j, j->barred_ms);
	return j->barred_ms > 0;
}

/* The Job controller may still be about to see that it ran, and make pods of the template that it
 * had: until it has told of that, a status that says Suspended is of the time before. */
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

/* No reservation. The queue has it, unless it is over. */
static void waiting(struct gate *g, struct gate_job *j)
{
	if (j->fetching && !j->lost) {
		if (j->tries >= FETCH_TRIES && !job_busy(j))
			gate_return_deferred(g, j);
		else
			job_request(g, j, INTENT_READ);
		return;
	}
	if (j->lost || j->seen.finished) {
		queue_drop_job(g->queue, &j->uid);
		if (!job_busy(j))
			gate_forget_job(g, j);
		return;
	}
	if (j->seen.deleting) {
		queue_drop_job(g->queue, &j->uid);
		return;
	}
	if (!j->seen.suspend && mass_stop_spares(g, j)) {
		block(g, j, SPARED);
		return;
	}
	if (!j->seen.suspend) {
		block(g, j,
			"somebody unsuspended it although it was not admitted; Sluice is suspending it again");
		stop_intruder(g, j);
		return;
	}
	if (gate_defer_job(g, j))
		return;
	reconsider_lending(g, j);
	if (j->seen.story_state == STORY_STARTED)
		suspended_by_others(g, j);
	else if (owes_hold(j))
		tell_hold(g, j);
	else if (barred(g, j))
		block(g, j, MANIFEST_SUSPENDS);
	else
		block(g, j, j->seen.leaving || may_yet_have_pods(g, j) ? LEAVING : NULL);
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
		attempt_run(g, j);
		return true;
	}
	if (job_busy(j))
		return false;
	if (j->gone || j->seen.finished || (j->seen.deleting && !j->seen.suspend)) {
		/* It may have started and ended unseen: pods may be left. */
		job_ends(j, "Deleted", "user");
		attempt_drain(g, j);
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
	if (!j->doubt && !j->sent && !job_busy(j) && !queue_start_stands(g->queue, &j->uid)) {
		j->call_off = true;
		job_ends(j, stop_reason_name(STOP_REASON_WINDOW_CLOSED), g->identity);
	}
	if (must_not_start(j) && !j->doubt && !j->sent && !job_busy(j)) {
		attempt_call_off(g, j);
		return;
	}
	if (!looked_for(g, j) || settled_otherwise(g, j) || job_busy(j))
		return;
	if (must_not_start(j)) {
		if (j->doubt)
			job_enter(g, j, PHASE_FENCING);
		else
			attempt_call_off(g, j);
		return;
	}
	job_request(g, j, INTENT_START);
}

bool job_story_is_lost(const struct gate_job *j)
{
	int64_t decided = j->generation > 0 ? j->generation : 1;
	return j->seen.story_state == STORY_NONE && j->seen.generation > decided;
}

/* The start is called off, but a PATCH of it may still be under way somewhere. A new story makes
 * that harmless. Where the Job's own story is lost the new one says Stopped: settled_otherwise()
 * takes that for a run, and pods are looked for before the quota is given back. */
static void fencing(struct gate *g, struct gate_job *j)
{
	if (!looked_for(g, j) || settled_otherwise(g, j) || job_busy(j))
		return;
	if (j->seen.story_state == STORY_FENCED && j->seen.story_attempt == j->attempt) {
		j->doubt = false;
		attempt_call_off(g, j);
		return;
	}
	if (job_story_is_lost(j))
		job_ends(j, "StoryLost", g->identity);
	job_request(g, j, INTENT_TELL);
}

/* So many there are, or may be made at any time. */
int32_t job_pods_in_sight(const struct gate_job *j)
{
	return j->seen.pods > j->seen.present ? j->seen.pods : j->seen.present;
}

/* Pods that end leave room, but never less is held than there are pods. */
static void shrink(struct gate *g, struct gate_job *j)
{
	if (!scale_down_in_doubt(g, j))
		attempt_shrink(g, j, job_pods_in_sight(j));
}

static void tell_ready(struct gate *g, struct gate_job *j)
{
	if (j->seen.ready == j->told_ready)
		return;
	j->told_ready = j->seen.ready;
	queue_ready_job(g->queue, &j->uid, j->told_ready, g->now_ms);
}

/* Its story says that this attempt was stopped: so it was, even if the Job runs again. A start of
 * the attempt cannot land after that. Its owner unsuspended it, perhaps with a larger template. */
static bool stopped_and_resumed(const struct gate_job *j)
{
	return !j->seen.suspend && j->seen.story_state == STORY_STOPPED &&
	       j->seen.story_attempt == j->attempt;
}

/* It has ended, or is being ended: nothing is left to do but to wait for its pods. */
static bool ended(struct gate *g, struct gate_job *j)
{
	const struct facts *f = &j->seen;
	bool resumed = stopped_and_resumed(j);
	if (!j->gone && !f->finished && !f->suspend && !f->deleting && !resumed)
		return false;
	if (j->gone || (f->deleting && !f->finished))
		job_ends(j, "Deleted", "user");
	else if (resumed || (f->suspend && f->story_state == STORY_STOPPED))
		job_ends(j, "Stopped", g->identity);
	else if (f->suspend && !f->finished)
		job_ends_suspended(g, j);
	attempt_drain(g, j);
	return true;
}

/* While nobody looked it was suspended, its template changed, and unsuspended: the story still says
 * that it runs, and what is reserved is for the pods it had. That its pods count for more does not
 * tell by itself: admins change what is counted, and what runs is left alone. */
bool job_is_another(const struct gate *g, const struct gate_job *j)
{
	return j->seen.resumed_by_other && queue_job_outgrows(g->queue, &j->uid, j->seen.pods);
}

/* Its owner raised parallelism or completions while it ran, or it is none that may run: it must not
 * go on with more pods than are reserved, or with pods that cannot be counted. */
static bool outgrows(struct gate *g, struct gate_job *j)
{
	if (j->held_pods == INT32_MAX)
		j->held_pods = attempt_pods(g, j); /* adopted, and not seen before */
	if (j->seen.uncontrolled) {
		j->call_off = true;
		if (j->reason[0] == '\0')
			j->message = UNCONTROLLED;
		job_ends(j, "Misconfigured", g->identity);
		return true;
	}
	if (!job_is_another(g, j) && (j->seen.pods <= j->held_pods || scale_down_again(g, j)))
		return false;
	if (j->need_read) {
		job_request(g, j, INTENT_READ);
	} else {
		j->call_off = true;
		job_ends(j, "ScaledUp", g->identity);
	}
	return true;
}

/* It was seen before its reservation was adopted, and its directives were not kept. */
static void read_whole(struct gate *g, struct gate_job *j)
{
	j->retell = true;
	job_request(g, j, INTENT_READ);
}

static void running(struct gate *g, struct gate_job *j)
{
	if (j->seen.start_seen)
		j->acked = true;
	if (!looked_for(g, j) || ended(g, j))
		return;
	if (!outgrows(g, j)) {
		if (queue_job_is_cut(g->queue, &j->uid))
			read_whole(g, j);
		if (j->seen.pods <= j->held_pods)
			shrink(g, j);
		tell_ready(g, j);
		stuck_see_to(g, j);
	}
	if (j->call_off && (j->acked || j->seen.uncontrolled))
		job_enter(g, j, PHASE_STOPPING);
	else if (!j->call_off && !j->lost && !scale_down_see_to(g, j))
		warning_see_to(g, j);
}

static void stopping(struct gate *g, struct gate_job *j)
{
	if (j->has_reservation && !looked_for(g, j))
		return;
	if (j->seen.start_seen)
		j->ran_unseen = false;
	if (j->gone || (j->lost && !j->has_reservation) || j->seen.finished || j->seen.suspend ||
		j->seen.deleting) {
		if (!j->has_reservation && !job_busy(j)) {
			if (j->seen.suspend && j->seen.story_state == STORY_STOPPED)
				attempt_note_intruder(g, j);
			job_enter(g, j, PHASE_WAITING);
		} else if (j->has_reservation) {
			if (j->gone || j->seen.deleting)
				job_ends(j, "Deleted", "user");
			attempt_drain(g, j);
		}
		return;
	}
	job_request(g, j, INTENT_STOP);
}

/* Is there proof that no pod of it is left, or can be made any more? */
static bool drained(const struct gate_job *j)
{
	return j->seen.quiet && (j->seen.finished || (j->seen.suspend && j->acked));
}

/*
 * Ended, stopped or deleted. Proof that no pod is left is the Job's status, if it was written after
 * the Job controller saw the start (acked) and then the stop. Where the status may be older than
 * the start, or the Job is gone, only a look at the pods will do, and only after a while: a Job
 * controller that has seen the start, and not yet what came after it, may still make pods.
 *
 * A status that does not come may never come: of a Job as large as etcd takes it cannot be written.
 * So each time that pods are overdue, they are counted, too.
 *
 * Of a Job that is being deleted the Job controller makes and takes no pods any more, and nothing
 * stops it: as long as a finalizer keeps it, its pods run on until they end. They are counted, too.
 */
static void draining(struct gate *g, struct gate_job *j)
{
	/* The stop came too late: its last pods ended well all the same. */
	if (j->seen.finished && !j->finish_noted)
		attempt_note_finish(g, j);
	if (drained(j)) {
		attempt_release(g, j);
		return;
	}
	bool overdue = g->tick_ms >= j->overdue_ms;
	attempt_complain(g, j);
	gate_alarm(g, j, j->overdue_ms);
	if (!looked_for(g, j))
		return;
	bool deleted = j->gone || j->seen.deleting;
	if (!deleted && !j->seen.suspend && !j->seen.finished) {
		stop_intruder(g, j);
		return;
	}
	if (!deleted && (j->seen.finished || j->acked)) {
		if (overdue)
			job_request(g, j, INTENT_PODS);
		return; /* the status will tell */
	}
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

bool job_still_wants(const struct gate_job *j)
{
	if (j->want == INTENT_NOTICE)
		return j->phase == PHASE_WAITING && !j->lost && j->seen.suspend;
	if (j->want == INTENT_WARN)
		return j->phase == PHASE_RUNNING && !j->call_off && !j->lost && !j->seen.suspend;
	if (j->want == INTENT_SHRINK)
		return scale_down_still_wants(j);
	if (j->want == INTENT_PODS) /* of a run they say something else than of its end */
		return j->want_in == j->phase;
	return j->want != INTENT_START || (j->phase == PHASE_STARTING && !must_not_start(j));
}
