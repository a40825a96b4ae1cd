/*
 * An attempt: from the decision that opens it, or its takeover from the ledger, to the release of
 * its reservation. What the ledger and the queue are told stands here; when it is time for it, in
 * phase.c.
 */
#include <inttypes.h>
#include <string.h>

#include "base/must.h"
#include "controller/gate/record.h"

#define REFUSED_RETRY_MS 1000 /* the ledger said no: another cell, or a quota just lowered */
#define OVERDUE_MS 300000
#define GENERATION_UNKNOWN (-1) /* no Job has it */
#define RESTLESS_FREE 2		/* so many starts in vain cost nothing */
#define RESTLESS_STEPS 7	/* so often the pause doubles, to about a minute */
#define RESTLESS_MS INT64_C(1000)
#define RESTLESS_DECAY_S 60

static const char CHANGED[] = "Changed";
static const char GOES_ON_HOLD[] = "it is put on hold once its pods are gone";

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

/* The reservation is given back. The queue may use the quota at once: the ledger takes operations
 * in order, and whoever gets it comes after. */
static void close_reservation(struct gate *g, struct gate_job *j, enum ledger_kind kind)
{
	gate_operate(g, j, kind, job_lost_ms(g, j));
	j->has_reservation = j->committed = j->acked = j->doubt = j->call_off = false;
	j->sent = j->told_ledger = j->told_ready = j->warned = false;
	j->started_ms = j->warn_ms = 0;
	scale_down_end(j);
	queue_release_job(g->queue, &j->uid, g->now_ms, j->not_before_ms);
	j->not_before_ms = 0;
	job_enter(g, j, PHASE_WAITING);
}

/* Each start that is called off has held quota for a moment, at the head of its queue: whoever
 * edits a Job again and again would have that quota for nothing. The first two cost nothing, for
 * people correct what they wrote; then the pause doubles. It shrinks with time alone, a step a
 * minute. */
int64_t attempt_restless_ms(struct gate *g, struct gate_job *j)
{
	int64_t now_s = g->tick_ms / 1000, calm = (now_s - j->restless_s) / RESTLESS_DECAY_S;
	j->restless = calm < j->restless ? (uint8_t)(j->restless - calm) : 0;
	j->restless_s = (int32_t)now_s;
	if (j->restless < RESTLESS_FREE + RESTLESS_STEPS)
		j->restless++;
	if (j->restless <= RESTLESS_FREE)
		return 0;
	return gate_spread(g, RESTLESS_MS << (j->restless - RESTLESS_FREE - 1));
}

/* Its owner's doing: an edit, another queue, a hold. */
static bool ends_by_owner(const struct gate_job *j)
{
	return j->reason == CHANGED || strcmp(j->reason, stop_reason_name(STOP_REASON_HELD)) == 0;
}

void attempt_call_off(struct gate *g, struct gate_job *j)
{
	must(!j->doubt);
	job_ends(j, CHANGED, g->identity);
	if (ends_by_owner(j))
		j->not_before_ms = g->now_ms + attempt_restless_ms(g, j);
	gate_note(g, NOTE_CALL_OFF, j, "start of attempt %d called off: %s", j->attempt, j->reason);
	g->counts.voids++;
	close_reservation(g, j, LEDGER_VOID);
}

void attempt_note_finish(struct gate *g, struct gate_job *j)
{
	int64_t since_ms = j->started_ms > 0 ? j->started_ms : g->now_ms;
	j->finish_noted = true;
	g->counts.finishes++;
	gate_note(g, NOTE_FINISH, j, "%s after %.1f s", j->seen.failed ? "failed" : "finished",
		(double)(g->now_ms - since_ms) / 1000.0);
}

static void note_stop(struct gate *g, struct gate_job *j)
{
	const char *message = job_stop_message(j);
	int64_t lost_ms = job_lost_ms(g, j);
	g->counts.stops++;
	gate_note(g, NOTE_STOP, j, "%s (%s): %.1f s of work lost%s%s%s%s",
		j->gone || j->seen.deleting ? "deleted" : "stopped", j->reason,
		(double)lost_ms / 1000.0, message ? "; " : "", message ? message : "",
		j->pod_trouble ? "; " : "", j->pod_trouble ? j->pod_trouble : "")
		->lost_ms = lost_ms;
}

void attempt_note_intruder(struct gate *g, struct gate_job *j)
{
	j->stopped_ms = g->now_ms;
	note_stop(g, j);
}

/* An earlier leader's STOP came before ours, for a reason of its own: that one holds. (Or it was
 * our own, and its owner has taken the hold off already.) */
static bool stopped_before_us(const struct gate_job *j)
{
	return j->hold && !j->hold_owed && !j->seen.held && j->seen.suspend &&
	       j->seen.story_state == STORY_STOPPED && j->seen.story_attempt == j->attempt;
}

/* A person suspended it before the STOP came, whatever that was for: waiting() puts it on hold. */
static bool suspended_by_person(const struct gate_job *j)
{
	return j->seen.suspend && j->seen.story_state == STORY_STARTED && j->seen.by_person;
}

static void heed_earlier_stop(struct gate *g, struct gate_job *j)
{
	if (!stopped_before_us(j))
		return;
	job_forgets_end(j);
	job_ends(j, "Stopped", g->identity);
	queue_keep_active(g->queue, &j->uid);
}

/* It may not be one that comes back when its pods are gone. */
static void tell_queue_of_hold(struct gate *g, struct gate_job *j)
{
	if (j->gone || j->seen.deleting || j->seen.finished)
		return;
	if (job_goes_on_hold(j) || suspended_by_person(j))
		queue_block_job(g->queue, &j->uid, GOES_ON_HOLD);
}

void attempt_drain(struct gate *g, struct gate_job *j)
{
	stuck_end(g, j); /* the note tells of it */
	heed_earlier_stop(g, j);
	tell_queue_of_hold(g, j);
	j->stopped_ms = g->now_ms;
	j->drains_ms = g->tick_ms;
	j->overdue_ms = g->tick_ms + OVERDUE_MS;
	if (j->seen.finished) {
		j->reason = j->seen.failed ? "Failed" : "Finished";
		j->actor = "job-controller";
	}
	if (j->committed && !j->seen.quiet && !j->told_ledger) {
		j->told_ledger = true;
		gate_operate(g, j, LEDGER_STOP, job_lost_ms(g, j));
	}
	j->finish_noted = false;
	if (j->seen.finished)
		attempt_note_finish(g, j);
	else
		note_stop(g, j);
	job_enter(g, j, PHASE_DRAINING);
}

/* An attempt that an earlier leader started may have been narrowed since. */
static int32_t most_held(const struct gate_job *j)
{
	bool known = j->held_pods < INT32_MAX;
	return known && j->held_pods > j->seen.parallelism ? j->held_pods : j->seen.parallelism;
}

void attempt_run(struct gate *g, struct gate_job *j)
{
	bool fresh = !j->committed;
	job_enter(g, j, PHASE_RUNNING);
	j->doubt = false;
	if (!fresh)
		return;
	j->committed = true;
	j->started_ms = g->now_ms;
	j->immutables = j->denials = 0;
	scale_down_begin(g, j, most_held(j));
	gate_operate(g, j, LEDGER_COMMIT, 0);
	queue_confirm_job(g->queue, &j->uid, g->now_ms);
	g->counts.starts++;
	size_t n = queue_job_lines(g->queue, &j->uid, g->lines);
	gate_note(g, NOTE_START, j, "started in flavor %s: %d pods, attempt %d",
		n > 0 ? g->lines[0].flavor : "none", j->seen.pods, j->attempt);
}

void attempt_shrink(struct gate *g, struct gate_job *j, int32_t pods)
{
	if (pods >= j->held_pods)
		return;
	j->held_pods = pods;
	if (queue_shrink_job(g->queue, &j->uid, pods, g->now_ms))
		gate_operate(g, j, LEDGER_SHRINK, 0);
}

void attempt_complain(struct gate *g, struct gate_job *j)
{
	char words[DELETION_SIZE];
	if (g->tick_ms < j->overdue_ms)
		return;
	j->overdue_ms = g->tick_ms + OVERDUE_MS;
	gate_note(g, NOTE_OVERDUE, j,
		"pods are left %" PRId64
		" s after it ended (%s); its quota stays reserved until they are gone: %s%s",
		(g->tick_ms - j->drains_ms) / 1000, j->reason,
		j->finalizer ? "" : "look for pods that do not terminate",
		deletion_words(j, words, sizeof(words)));
}

/* The bill is asked for at the very moment of the release, at which the queue charges it to its
 * Budgets: so the segment and these say the same. */
void attempt_release(struct gate *g, struct gate_job *j)
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
	close_reservation(g, j, j->committed ? LEDGER_RELEASE : LEDGER_VOID);
}

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
	return job_busy(j) && (j->wanting ? j->want : j->asked) != INTENT_NOTICE;
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
	job_forgets_end(j);
	j->reserved_ms = g->now_ms;
	j->has_reservation = true;
	name_clusterqueue(g, j);
	job_enter(g, j, PHASE_RESERVING);
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
		scale_down_decided(g, j, d);
		return;
	}
	if (!j->has_reservation || j->phase == PHASE_DRAINING)
		return;
	j->call_off = true;
	job_ends_decided(g, j, d);
	if (!j->hold) /* it was ending already: then it is not deactivated */
		queue_keep_active(g->queue, &j->uid);
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
		job_enter(g, j, PHASE_STARTING);
		return;
	case LEDGER_SPENT:
		j->attempt = r->next_attempt > j->attempt ? r->next_attempt : j->attempt + 1;
		reserve(g, j);
		return;
	case LEDGER_REFUSED:
		g->counts.refusals++;
		gate_note(g, NOTE_REFUSE, j, "the ledger has no room for it; trying again");
		j->has_reservation = j->call_off = false;
		queue_release_job(g->queue, &j->uid, g->now_ms, g->now_ms + refusal_pause(g, j));
		job_enter(g, j, PHASE_WAITING);
		return;
	}
	must_not_get_here(); /* a verdict that is none */
}

/* What the reservation says, not what is seen: its owner may have raised the Job while nobody
 * looked. It is for more pods than the Job needs now when that has ended some, or was narrowed. */
int32_t attempt_pods(const struct gate *g, const struct gate_job *j)
{
	int32_t pods = queue_job_pods(g->queue, &j->uid);
	return pods > 0 ? pods : j->seen.pods;
}

void job_adopt(struct gate *g, struct gate_job *j, const struct ledger_reservation *h)
{
	j->attempt = h->attempt;
	j->has_reservation = true;
	j->committed = h->state != LEDGER_PENDING;
	j->reserved_ms = h->reserved_ms;
	j->started_ms = h->started_ms;
	/* Whoever reserved it may have sent a PATCH that is still under way. What it decided on we
	 * do not know, so we finish nothing: what did not land is called off, and decided anew. */
	j->doubt = true;
	j->generation = GENERATION_UNKNOWN;
	j->held_pods = j->lost ? INT32_MAX : attempt_pods(g, j); /* the first facts will tell */
	scale_down_begin(g, j, j->lost ? 0 : j->held_pods);
	if (j->seen.suspend)
		j->seen.active = j->held_pods; /* nobody saw how many ran: better too much lost work
						  than none */
	name_clusterqueue(g, j);
	job_forgets_end(j);
	if (j->committed) /* also one that is over: what it cost, and how long it ran, counts */
		queue_confirm_job(g->queue, &j->uid, h->started_ms);
	if (h->state == LEDGER_RELEASING || (j->committed && j->seen.suspend)) {
		j->reason = "Stopped";
		j->actor = g->identity;
		j->stopped_ms = g->now_ms;
		j->drains_ms = g->tick_ms;
		j->overdue_ms = g->tick_ms + OVERDUE_MS;
		j->finish_noted = j->seen.finished; /* by whoever led then */
		job_enter(g, j, PHASE_DRAINING);
	} else {
		job_enter(g, j, j->committed ? PHASE_RUNNING : PHASE_STARTING);
	}
	/* What we saw may be older than the ledger: no run is stopped for that. */
	j->need_read = j->seen.pods > j->held_pods || job_is_another(g, j);
}
