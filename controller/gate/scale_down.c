/*
 * Scale-down: a run goes on with fewer pods. Either its room is wanted for another Job, a window has
 * made quota smaller, or its idle resources are wanted back (DECISION_SHRINK), or its owner lowered
 * parallelism.
 *
 * What is wanted (scale_down.to) is compared with what the Job says, so a PATCH that was refused or
 * not answered is made again until the Job says it; a stop goes first. The owner's numbers go into
 * the story as at a start with fewer pods, and what ends the run puts them back.
 *
 * The reservation is not lowered before the surplus pods are gone. A status does not prove that: a
 * Job controller that has not read the new number still makes pods, and one that has not yet seen
 * pods it just made counts too few. So once parallelism was seen lower, the reservation stays for
 * drain_doubt_ms. Then the pods are counted, and it is lowered to what is left of them. A new
 * leader finds a reservation that is for more pods than parallelism, and does the same.
 *
 * Pods are counted also when some were seen to leave while the run goes on. Replacements are made
 * at once. If the leaving pods succeed all the same, fewer are needed than there are, and a status
 * may not count the replacements yet. A pod that never leaves, as on a node that died, counts as
 * itself: it does not keep the quota of pods that ended after it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/gate/attempt.h"
#include "controller/gate/core.h"
#include "controller/gate/gate.h"
#include "controller/gate/job_table.h"
#include "controller/gate/note.h"
#include "controller/gate/reasons.h"
#include "controller/gate/record.h"
#include "controller/gate/scale_down.h"
#include "controller/gate/stop.h"
#include "controller/gate/stop_words.h"
#include "sluice/quantity.h"

#define PODS_RETRY_MS 250
#define PODS_RETRY_MAX_MS 5000

static bool some_leave(const struct gate_job *j)
{
	return j->seen.present > j->seen.active;
}

void scale_down_begin(struct gate *g, struct gate_job *j, int32_t pods)
{
	j->scale_down.parallelism = pods;
	j->scale_down.since_ms = some_leave(j) ? g->tick_ms : 0;
}

void scale_down_seen(struct gate *g, struct gate_job *j, bool some_left)
{
	if (some_left || some_leave(j))
		j->scale_down.since_ms = g->tick_ms;
}

void scale_down_end(struct gate_job *j)
{
	free(j->scale_down.why);
	j->scale_down = (struct scale_down){0};
}

static void wish(
	struct gate *g, struct gate_job *j, int32_t pods, const char *reason, const char *why)
{
	struct scale_down *s = &j->scale_down;
	s->to = pods;
	s->told = false;
	s->reason = reason;
	free(s->why);
	s->why = mem_strdup(why);
	s->decided = (struct decision){0};
	gate_mark_dirty(g, j);
}

static void forget_wish(struct scale_down *s)
{
	s->to = 0;
	free(s->why);
	s->why = NULL;
}

void scale_down_decided(struct gate *g, struct gate_job *j, const struct decision *d)
{
	if (j->phase != PHASE_RUNNING || j->stop.wanted || d->pods <= 0)
		return; /* the run ends anyway */
	char *why = stop_sentence(g, j, d);
	wish(g, j, d->pods, stop_reason_name(d->reason), why);
	j->scale_down.decided = *d;
	j->scale_down.decided.policy = j->scale_down.decided.why = NULL;
	free(why);
}

/* The owner's number stays the one for the next start. A work queue is stopped instead: its surplus
 * pods could stay, whatever is written. */
bool scale_down_again(struct gate *g, struct gate_job *j)
{
	if (!j->seen.reapplied || j->seen.work_queue || j->stop.wanted || j->attempt.pods <= 0)
		return false;
	j->scale_down.parallelism =
		j->seen.parallelism; /* there may be so many pods when the PATCH lands */
	if (j->scale_down.to > 0 && j->scale_down.to <= j->attempt.pods)
		return true; /* that few are wanted already */
	wish(g, j, j->attempt.pods, REASON_MANIFEST_REAPPLIED,
		"its manifest was applied again; the run goes on with the pods it holds, and the next start asks for all of them");
	return true;
}

bool scale_down_to_hold(struct gate *g, struct gate_job *j)
{
	if (j->seen.work_queue || j->stop.wanted || j->attempt.pods <= 0)
		return false;
	bool pending = j->scale_down.to > 0 && j->scale_down.to <= j->attempt.pods;
	if (!pending && j->scale_down.held_once)
		return false; /* its owner writes an old story again and again */
	scale_down_may_have(j, j->seen.parallelism);
	if (!pending) {
		j->scale_down.held_once = true;
		wish(g, j, j->attempt.pods, REASON_NOT_RESERVED,
			"no more pods are reserved for the run since a database was restored or failed over");
	}
	return true;
}

/* Tells whether fewer pods can be written. Not once indexes are done, if completions were lowered
 * at the start: with fewer the Job would be taken for finished, and without, what its owner wrote
 * would be lost. A work queue of which a pod has succeeded keeps all. */
static bool can_narrow(const struct gate_job *j)
{
	if (j->seen.ends_when_stopped)
		return false;
	return j->seen.reapplied || j->seen.owner_completions == 0 ||
	       (j->seen.completions_follow && j->seen.pods >= j->seen.parallelism);
}

void scale_down_tell(const struct gate_job *j, struct intent *i)
{
	const struct facts *f = &j->seen;
	struct story *s = &i->story;
	i->parallelism = s->pods = j->scale_down.to;
	s->owner_parallelism = f->owner_parallelism > 0 ? f->owner_parallelism : f->parallelism;
	s->reason = j->scale_down.reason;
	s->message = j->scale_down.why;
	s->history = f->history; /* of the attempts before this one */
	if (!f->completions_follow || f->pods < f->parallelism)
		return;
	i->completions = j->scale_down.to;
	s->owner_completions = f->owner_completions > 0 ? f->owner_completions : f->parallelism;
}

bool scale_down_wanted(const struct gate *g, const struct gate_job *j)
{
	return job_goes_on(g, j) && j->scale_down.to > 0 && j->seen.pods > j->scale_down.to;
}

static void tell(struct gate *g, struct gate_job *j)
{
	struct scale_down *s = &j->scale_down;
	int32_t fewer = j->attempt.pods - s->to; /* of the pods that are still reserved */
	int64_t ran_ms = g->now_ms > j->attempt.started_ms ? g->now_ms - j->attempt.started_ms : 0;
	struct note *n = gate_note(g, NOTE_SHRINK, j, "goes on with %d of %d pods (%s%s%s)", s->to,
		fewer > 0 ? j->attempt.pods : s->to, s->reason, s->why ? "; " : "",
		s->why ? s->why : "");
	n->reason = s->reason;
	n->lost_ms = quantity_times(ran_ms, fewer > 0 ? fewer : 0);
	s->told = true;
}

/* Notes that the Job is as small as wanted. The wish is kept until the reservation is, too: a store
 * that goes back in between makes the Job as large as it was. */
static void is_small(struct gate *g, struct gate_job *j)
{
	struct scale_down *s = &j->scale_down;
	if (j->seen.parallelism <= s->to && !s->told)
		tell(g, j);
	if (j->attempt.pods <= s->to || j->seen.parallelism > s->to)
		forget_wish(s);
}

/* Keeps the pods: no run is stopped for a smaller quota alone, nor one for room that its stop would
 * end as Complete. */
static void keep_pods(struct gate *g, struct gate_job *j)
{
	struct scale_down *s = &j->scale_down;
	/* The sentence of a preemption says that pods are given. */
	bool preempted = s->decided.reason == STOP_REASON_PREEMPTED;
	char *by = preempted ? stop_name_preemptor(gate_find_job(g, &s->decided.by)) : NULL;
	const char *why = preempted ? by : s->why;
	struct note *n = gate_note(g, NOTE_CALL_OFF, j,
		"keeps its %d pods: its Job cannot be told to go on with %d (%s%s%s)", j->seen.pods,
		s->to, s->reason,
		!why	    ? ""
		: preempted ? " for "
			    : "; ",
		why ? why : "");
	n->reason = s->reason;
	free(by);
	forget_wish(s);
	queue_keep_pods(g->queue, &j->uid);
	gate_mark_dirty(g, j);
}

/* Keeps why a run with more pods than it holds is stopped. What was wished says that it goes on. */
static void stop_outgrown(struct gate *g, struct gate_job *j, char *why)
{
	if (strcmp(j->scale_down.reason, REASON_MANIFEST_REAPPLIED) == 0) {
		free(why);
		why = mem_strdup(
			"its manifest was applied again, which asks for more pods than the run holds, and its Job could not be made smaller again");
	}
	stop_with_sentence(j, REASON_SCALED_UP, g->identity, why);
}

void scale_down_fails(struct gate *g, struct gate_job *j)
{
	struct scale_down *s = &j->scale_down;
	struct decision d = s->decided;
	if (d.kind == DECISION_SHRINK && d.reason == STOP_REASON_WINDOW_QUOTA) {
		keep_pods(g, j);
		return;
	}
	bool first = j->stop.reason[0] == '\0';
	char *why = s->why;
	s->why = NULL;
	stop_want(j);
	if (d.kind == DECISION_SHRINK && d.reason == STOP_REASON_PREEMPTED) {
		d.kind = DECISION_STOP; /* its sentence tells of fewer pods, not of a stop */
		free(why);
		stop_told(g, j, &d, stop_sentence(g, j, &d));
	} else if (d.kind == DECISION_SHRINK)
		stop_told(g, j, &d, why);
	else
		stop_outgrown(g, j, why);
	forget_wish(s);
	if (first)
		gate_mark_dirty(g, j);
}

/* Tells whether a pod of a work queue succeeded meanwhile: for room alone it is not stopped, which
 * would end it as Complete. */
static bool has_nothing_to_give(const struct gate_job *j)
{
	enum stop_reason why = j->scale_down.decided.reason;
	return j->seen.ends_when_stopped &&
	       (why == STOP_REASON_PREEMPTED || why == STOP_REASON_WINDOW_OPENING);
}

bool scale_down_see_to(struct gate *g, struct gate_job *j)
{
	if (j->scale_down.to == 0)
		return false;
	if (j->seen.pods <= j->scale_down.to) {
		is_small(g, j);
		return false;
	}
	if (has_nothing_to_give(j)) {
		keep_pods(g, j);
		return false;
	}
	if (!can_narrow(j)) {
		scale_down_fails(g, j);
		return false;
	}
	job_request(g, j, INTENT_SHRINK);
	return true;
}

void scale_down_may_have(struct gate_job *j, int32_t pods)
{
	if (j->scale_down.parallelism < pods)
		j->scale_down.parallelism = pods;
}

bool scale_down_in_doubt(struct gate *g, struct gate_job *j)
{
	if (j->seen.parallelism < j->scale_down.parallelism)
		j->scale_down.since_ms = g->tick_ms;
	j->scale_down.parallelism = j->seen.parallelism;
	if (j->scale_down.since_ms == 0 || j->attempt.pods <= j->seen.pods)
		return false; /* nothing to lower anyway */
	if (g->tick_ms < j->scale_down.since_ms + g->drain_doubt_ms)
		gate_alarm(g, j, j->scale_down.since_ms + g->drain_doubt_ms);
	else
		job_request(g, j, INTENT_PODS);
	return true;
}

int32_t scale_down_counted(struct gate *g, struct gate_job *j, size_t pods)
{
	bool old = j->request.asked_ms <
		   j->scale_down.since_ms + g->drain_doubt_ms; /* of an earlier doubt */
	if (j->scale_down.since_ms == 0 || old)
		return j->attempt.pods;
	/* When a pod that leaves is gone the Job's status tells: then they are counted again. */
	if (pods > (size_t)j->seen.pods && !some_leave(j))
		gate_back_off(g, j, PODS_RETRY_MS, PODS_RETRY_MAX_MS);
	else
		j->scale_down.since_ms = 0;
	return pods < (size_t)j->attempt.pods ? (int32_t)pods : j->attempt.pods;
}
