/*
 * Narrowing: a run goes on with fewer pods, because what it runs on is lent and wanted back
 * (DECISION_SHRINK), or because its owner lowered parallelism.
 *
 * What is wanted (narrow_to) is compared with what the Job says, so a PATCH that was refused or not
 * answered is made again until the Job says it; a stop goes first. The owner's numbers go into the
 * story as at a start with fewer pods, and what ends the run puts them back.
 *
 * The reservation is not lowered before the pods that are too many are gone, and of that a status
 * is no proof: a Job controller that has not read the new number yet still makes pods, and one that
 * waits to see pods it has just made counts too few of them. So from the moment at which
 * parallelism was seen to be lower the reservation stays as it is for drain_doubt_ms; then the pods
 * themselves are counted, and it is lowered to what is left of them. A new leader finds a
 * reservation that is for more pods than parallelism, and does the same.
 *
 * So it is where pods were seen to leave while the run goes on. Others take their place at once;
 * when those that leave end well all the same, fewer are needed than there are, and a Job
 * controller that does not see yet what it has just made says so. One that never leaves, as on a
 * node that died, counts as itself: it does not keep the quota of those that ended after it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/gate/record.h"
#include "sluice/quantity.h"

#define PODS_RETRY_MS 250
#define PODS_RETRY_MAX_MS 5000

bool scale_down_some_leave(const struct gate_job *j)
{
	return j->seen.present > j->seen.active;
}

void scale_down_begin(struct gate *g, struct gate_job *j, int32_t pods)
{
	j->wide = pods;
	j->narrowed_ms = scale_down_some_leave(j) ? g->tick_ms : 0;
}

void scale_down_seen(struct gate *g, struct gate_job *j, bool some_left)
{
	if (some_left || scale_down_some_leave(j))
		j->narrowed_ms = g->tick_ms;
}

void scale_down_end(struct gate_job *j)
{
	j->narrow_to = j->wide = 0;
	j->narrowed_ms = 0;
	free(j->narrow_why);
	j->narrow_why = NULL;
}

void scale_down_decided(struct gate *g, struct gate_job *j, const struct decision *d)
{
	if (j->phase != PHASE_RUNNING || j->call_off || d->pods <= 0)
		return; /* it is ending anyway */
	j->narrow_to = d->pods;
	j->narrow_for = stop_reason_name(STOP_REASON_IDLE_RECLAIMED);
	free(j->narrow_why);
	j->narrow_why = mem_strdup(d->why);
	gate_mark_dirty(g, j);
}

static const char REAPPLIED[] = "ManifestReapplied";

/* The owner's number stays what is wanted; what it holds is what it may use. Of a work queue pods
 * that are too many could stay whatever is written: it is stopped. */
bool scale_down_again(struct gate *g, struct gate_job *j)
{
	if (!j->seen.reapplied || j->seen.work_queue || j->call_off || j->held_pods <= 0)
		return false;
	j->wide = j->seen.parallelism; /* so many there may be by the time it lands */
	if (j->narrow_to > 0 && j->narrow_to <= j->held_pods)
		return true; /* it is to be smaller anyway */
	j->narrow_to = j->held_pods;
	j->narrow_for = REAPPLIED;
	free(j->narrow_why);
	j->narrow_why = mem_strdup(
		"its manifest was applied again; it goes on with what it holds, and the next start asks for all of its pods");
	gate_mark_dirty(g, j);
	return true;
}

/* Completions were lowered at the start, and cannot be any more, for some of its indexes are done:
 * with fewer it would be taken for finished, and with other than parallelism nobody would know what
 * its owner wrote. */
static bool can_narrow(const struct gate_job *j)
{
	return j->seen.reapplied || j->seen.owner_completions == 0 ||
	       (j->seen.completions_follow && j->seen.pods >= j->seen.parallelism);
}

void scale_down_tell(const struct gate_job *j, struct intent *i)
{
	const struct facts *f = &j->seen;
	struct story *s = &i->story;
	i->parallelism = s->pods = j->narrow_to;
	s->owner_parallelism = f->owner_parallelism > 0 ? f->owner_parallelism : f->parallelism;
	s->reason = j->narrow_for;
	s->message = j->narrow_why;
	s->history = f->history; /* of the attempts before this one */
	if (!f->completions_follow || f->pods < f->parallelism)
		return;
	i->completions = j->narrow_to;
	s->owner_completions = f->owner_completions > 0 ? f->owner_completions : f->parallelism;
}

bool scale_down_still_wants(const struct gate_job *j)
{
	return j->phase == PHASE_RUNNING && !j->call_off && !j->lost && !j->seen.suspend &&
	       j->narrow_to > 0 && j->seen.pods > j->narrow_to;
}

/* It is as small as it is to be, by us or by its own progress. */
static void done(struct gate *g, struct gate_job *j)
{
	if (j->seen.parallelism <= j->narrow_to) {
		int32_t fewer = j->held_pods - j->narrow_to; /* of those it still holds */
		int64_t ran_ms = g->now_ms > j->started_ms ? g->now_ms - j->started_ms : 0;
		struct note *n = gate_note(g, NOTE_SHRINK, j, "goes on with %d pods (%s%s%s)",
			j->narrow_to, j->narrow_for, j->narrow_why ? "; " : "",
			j->narrow_why ? j->narrow_why : "");
		n->reason = j->narrow_for;
		n->lost_ms = quantity_times(ran_ms, fewer > 0 ? fewer : 0);
	}
	j->narrow_to = 0;
	free(j->narrow_why);
	j->narrow_why = NULL;
}

void scale_down_fails(struct gate *g, struct gate_job *j)
{
	j->call_off = true;
	j->narrow_to = 0;
	if (j->reason[0] != '\0')
		return;
	bool reclaimed = j->narrow_for != REAPPLIED;
	j->reason = reclaimed ? stop_reason_name(STOP_REASON_IDLE_RECLAIMED) : "ScaledUp";
	j->actor = g->identity;
	if (reclaimed)
		j->not_before_ms = g->now_ms + RECLAIM_PAUSE_MS;
	free(j->sentence);
	j->message = j->sentence = j->narrow_why;
	j->narrow_why = NULL;
	gate_mark_dirty(g, j);
}

bool scale_down_see_to(struct gate *g, struct gate_job *j)
{
	if (j->narrow_to == 0)
		return false;
	if (j->seen.pods <= j->narrow_to) {
		done(g, j);
		return false;
	}
	if (!can_narrow(j)) {
		scale_down_fails(g, j);
		return false;
	}
	job_request(g, j, INTENT_SHRINK);
	return true;
}

bool scale_down_in_doubt(struct gate *g, struct gate_job *j)
{
	if (j->seen.parallelism < j->wide)
		j->narrowed_ms = g->tick_ms;
	j->wide = j->seen.parallelism;
	if (j->narrowed_ms == 0 || j->held_pods <= j->seen.pods)
		return false; /* nothing to lower anyway */
	if (g->tick_ms < j->narrowed_ms + g->drain_doubt_ms)
		gate_alarm(g, j, j->narrowed_ms + g->drain_doubt_ms);
	else
		job_request(g, j, INTENT_PODS);
	return true;
}

int32_t scale_down_counted(struct gate *g, struct gate_job *j, size_t pods)
{
	bool old = j->asked_ms < j->narrowed_ms + g->drain_doubt_ms; /* of an earlier doubt */
	if (j->narrowed_ms == 0 || old)
		return j->held_pods;
	/* When one that leaves is gone, the Job's status tells: then they are counted again. */
	if (pods > (size_t)j->seen.pods && !scale_down_some_leave(j))
		gate_back_off(g, j, PODS_RETRY_MS, PODS_RETRY_MAX_MS);
	else
		j->narrowed_ms = 0;
	return pods < (size_t)j->held_pods ? (int32_t)pods : j->held_pods;
}
