/*
 * The end of a run: whether it is wanted, why it came, in words for the Job's owner, the work that
 * it threw away, and the wait for its pods. And what follows: the Job goes on hold, or is not
 * queued again for a while.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "base/slice.h"
#include "controller/gate/core.h"
#include "base/span.h"
#include "controller/gate/gate.h"
#include "controller/gate/job_table.h"
#include "controller/gate/note.h"
#include "controller/gate/reasons.h"
#include "controller/gate/record.h"
#include "controller/gate/requests.h"
#include "controller/gate/stop.h"
#include "controller/gate/stop_words.h"
#include "sluice/quantity.h"

#define SAID_MAX 600 /* of what the API server said, in an annotation of 1,024 bytes */
#define OVERDUE_MS 300000
#define PAUSE_MS INT64_C(10000)
#define PAUSE_MAX_MS INT64_C(3600000)

enum { NOTE_MAX_BYTES = 8192 };

const char MANIFEST_SUSPENDS[] =
	"spec.suspend was set to true while it ran, as happens when a manifest with suspend: true is applied again; leave spec.suspend out of the manifest, and stop a Job with the annotation sluice.dev/hold";
static const char PODS_ARE_REJECTED[] =
	"a kubelet rejected a pod of the Job, and one more failed pod would fail the Job; it is queued again at its old place after a pause. To tolerate more such pods, raise spec.backoffLimit, at any time";
static const char HOLD_REQUEUE_LIMIT[] =
	"its pods were not ready in time, and no retry is left; check why they do not become ready";
#define MAX_RUN_REACHED                                                                            \
	"Stopped at its time limit (sluice.dev/max-run-seconds or, without it, spec.defaultMaxRunSeconds of its ClusterQueue)"
static const char HOLD_MAX_RUN[] = MAX_RUN_REACHED
	"; its next run has the same limit: if the Job needs longer, raise that first";

void stop_init(struct stop *s)
{
	s->reason = s->actor = s->preemption = "";
}

void stop_done(struct stop *s)
{
	free(s->preemptor);
	free(s->preempting);
	free(s->sentence);
	free(s->pod_trouble);
}

/* ---- why ------------------------------------------------------------------------------------- */

void stop_want(struct gate_job *j)
{
	j->stop.wanted = true;
}

void stop_unwant(struct gate_job *j)
{
	j->stop.wanted = false;
}

static bool suspended_by_other(const struct gate_job *j)
{
	return strcmp(j->stop.reason, REASON_SUSPENDED_BY_OTHER) == 0;
}

static bool has_reason(const struct stop *s)
{
	return s->reason[0] != '\0';
}

void stop_because(struct gate_job *j, const char *reason, const char *actor)
{
	if (has_reason(&j->stop))
		return;
	j->stop.reason = reason;
	j->stop.actor = actor;
}

void stop_because_of(struct gate_job *j, const char *reason, const char *actor, const char *message)
{
	if (has_reason(&j->stop))
		return;
	j->stop.message = message;
	stop_because(j, reason, actor);
}

static void keep_sentence(struct stop *s, char *sentence)
{
	free(s->sentence);
	s->message = s->sentence = sentence;
}

void stop_with_sentence(struct gate_job *j, const char *reason, const char *actor, char *message)
{
	if (has_reason(&j->stop)) {
		free(message);
		return;
	}
	keep_sentence(&j->stop, message);
	stop_because(j, reason, actor);
}

/* A run that was cut short did not end by itself, though Kubernetes calls it Complete: the stop's
 * reason stays. */
void stop_finished(struct gate_job *j)
{
	if (j->seen.cut_short)
		return;
	j->stop.reason = j->seen.failed ? REASON_FAILED : REASON_FINISHED;
	j->stop.actor = "job-controller";
}

void stop_forget(struct gate_job *j)
{
	struct stop *s = &j->stop;
	stop_done(s);
	stop_init(s);
	s->message = s->hold = NULL;
	s->hold_owed = s->hold_refused = false;
	s->preemptor = s->preempting = s->sentence = s->pod_trouble = NULL;
}

void stop_keep_trouble(struct gate_job *j, char *sentence)
{
	j->stop.pod_trouble = sentence;
}

/* Tells whether the Job controller calls the Job Complete, or will: it is neither held nor queued
 * again. */
static bool comes_never_back(const struct gate_job *j)
{
	return j->seen.ends_when_stopped || j->seen.cut_short;
}

/* Keeps the Job from being queued for a pause that doubles, and returns that: a tool that applies a
 * manifest every few minutes, or a node with wrong figures, must not have it start as often. A run
 * longer than the longest pause begins the count anew. */
static int64_t bar(struct gate *g, struct gate_job *j, unsigned *count, const char *why)
{
	if (g->now_ms - j->attempt.started_ms > PAUSE_MAX_MS)
		*count = 0;
	int64_t pause_ms = backoff_ms(PAUSE_MS, (*count)++, PAUSE_MAX_MS);
	j->stop.barred_ms = g->tick_ms + pause_ms;
	j->stop.barred_for = why;
	return pause_ms;
}

/* The Job is held when a person meant it; else queued again at its old place, after a pause. */
void stop_suspended(struct gate *g, struct gate_job *j)
{
	struct buf text;
	if (has_reason(&j->stop))
		return;
	stop_because(j,
		j->seen.by_person ? REASON_SUSPENDED_BY_OTHER : REASON_SUSPENDED_BY_MANIFEST,
		"user");
	if (j->seen.by_person) {
		keep_sentence(&j->stop, stop_suspension_sentence(j));
		return;
	}
	if (comes_never_back(j)) {
		keep_sentence(&j->stop, stop_ending_sentence(MANIFEST_SUSPENDS));
		return;
	}
	int64_t pause_ms = bar(g, j, &j->stop.reapplied, MANIFEST_SUSPENDS);
	buf_init(&text, 1024);
	buf_printf(&text, "%s", MANIFEST_SUSPENDS);
	if (j->suspender) {
		buf_puts(&text, " (this time it was ");
		stop_put_suspender(j, &text);
		buf_putc(&text, ')');
	}
	buf_printf(&text, "; it is queued again at its old place, in %s (twice as long each time)",
		span_short(pause_ms).s);
	keep_sentence(&j->stop, buf_take(&text));
}

void stop_at_limit(struct gate *g, struct gate_job *j, const char *why)
{
	struct buf text;
	if (has_reason(&j->stop))
		return;
	int64_t pause_ms = bar(g, j, &j->stop.rejected, PODS_ARE_REJECTED);
	buf_init(&text, 2048);
	buf_printf(&text,
		"%s; one more failed pod would fail the Job, so it is queued again at its old place, in %s (twice as long each time); to tolerate more such pods, raise spec.backoffLimit, at any time",
		why, span_short(pause_ms).s);
	stop_want(j);
	stop_with_sentence(j, REASON_BACKOFF_LIMIT_NEAR, g->identity, buf_take(&text));
}

/* A hold that we decided on before the suspension stays. */
void stop_suspended_unseen(struct gate_job *j)
{
	struct stop *s = &j->stop;
	bool person = j->seen.by_person;
	if (s->hold && (person || !suspended_by_other(j)))
		return;
	stop_forget(j);
	s->reason = person ? REASON_SUSPENDED_BY_OTHER : REASON_SUSPENDED_BY_MANIFEST;
	s->sentence = person ? stop_suspension_sentence(j) : NULL;
	s->hold = s->sentence;
	s->message = person ? NULL : MANIFEST_SUSPENDS; /* a hold is told by itself */
}

void stop_refused_for_good(struct gate *g, struct gate_job *j, const char *said)
{
	struct buf text;
	buf_init(&text, 2 * SAID_MAX);
	buf_printf(&text, "its start was refused %u times in a row: %.*s; correct the Job",
		j->refusals.starts, (int)slice_cut(said, SAID_MAX), said);
	keep_sentence(&j->stop, buf_take(&text));
	j->stop.hold = j->stop.message;
	j->stop.hold_owed = true;
	g->counts.held++;
	gate_note(g, NOTE_HOLD, j, "%s", j->stop.hold);
}

/* The reason is replaced with each try: that of an earlier stop does not count any more. */
void stop_never_starts(struct gate_job *j, const char *why, const char *actor)
{
	struct buf text;
	buf_init(&text, 2 * SAID_MAX);
	buf_printf(&text, "it can never start: %.*s", (int)slice_cut(why, SAID_MAX), why);
	stop_forget(j);
	stop_with_sentence(j, REASON_NEVER_STARTS, actor, buf_take(&text));
	j->stop.hold = j->stop.message;
}

static void name_other(struct gate *g, struct gate_job *j, const struct decision *d)
{
	struct stop *s = &j->stop;
	s->preemption = preemption_reason_name(d->preemption);
	s->preemptor = stop_name_preemptor(gate_find_job(g, &d->by));
	s->preempting = mem_strdup(stop_preempting_queue(g, d));
}

void stop_told(struct gate *g, struct gate_job *j, const struct decision *d, char *sentence)
{
	if (has_reason(&j->stop)) {
		free(sentence);
		return;
	}
	if (d->reason == STOP_REASON_PREEMPTED)
		name_other(g, j, d);
	keep_sentence(&j->stop, sentence);
	if (stop_reason_deactivates(d->reason) && comes_never_back(j)) {
		bool max_run = d->reason == STOP_REASON_MAX_RUN;
		keep_sentence(&j->stop, stop_ending_sentence(max_run ? MAX_RUN_REACHED : ""));
	} else if (stop_reason_deactivates(d->reason)) {
		j->stop.hold = d->reason == STOP_REASON_MAX_RUN ? HOLD_MAX_RUN : HOLD_REQUEUE_LIMIT;
		j->stop.message = j->stop.hold;
	}
	stop_because(j, stop_reason_name(d->reason), g->identity);
}

void stop_decided(struct gate *g, struct gate_job *j, const struct decision *d)
{
	stop_told(g, j, d, has_reason(&j->stop) ? NULL : stop_sentence(g, j, d));
}

/* ---- what it cost ---------------------------------------------------------------------------- */

int64_t stop_loses_ms(const struct gate_job *j, int64_t until_ms)
{
	int64_t began_ms = job_has_reservation(j) ? j->attempt.started_ms : j->seen.start_ms;
	if ((j->seen.finished && !j->seen.cut_short) || began_ms == 0)
		return 0;
	int64_t ran_ms = until_ms > began_ms ? until_ms - began_ms : 0;
	bool deleted = j->gone || j->seen.deleting;
	return quantity_times(ran_ms, deleted ? j->seen.at_work : j->seen.active);
}

int64_t stop_lost_ms(const struct gate *g, const struct gate_job *j)
{
	return stop_loses_ms(j, j->stop.stopped_ms > 0 ? j->stop.stopped_ms : g->now_ms);
}

/* The hold for a suspension is written only once the run has drained, by waiting(). */
bool stop_holds(const struct gate_job *j)
{
	return j->stop.hold || (suspended_by_other(j) && !comes_never_back(j));
}

/* ---- on hold, and off the queue -------------------------------------------------------------- */

void stop_owe_hold(struct gate_job *j)
{
	j->stop.hold_owed = true;
}

void stop_hold_refused(struct gate_job *j)
{
	j->stop.hold_refused = j->stop.hold_owed;
}

void stop_hold_settled(struct gate_job *j)
{
	if (!j->stop.hold_owed)
		return;
	j->stop.hold_owed = j->stop.hold_refused = false;
	refusal_forget_starts(j);
}

/* Nothing is owed once the owner has changed what was refused. */
bool stop_owes_hold(struct gate_job *j)
{
	if (j->stop.hold_refused && !refusal_stands(j))
		stop_hold_settled(j);
	return j->stop.hold_owed;
}

bool stop_bars(struct gate *g, struct gate_job *j)
{
	if (j->stop.barred_ms <= g->tick_ms)
		j->stop.barred_ms = 0;
	else
		gate_alarm(g, j, j->stop.barred_ms);
	return j->stop.barred_ms > 0;
}

/* ---- until its pods are gone ----------------------------------------------------------------- */

void stop_drain_anew(struct gate *g, struct gate_job *j)
{
	j->stop.drains_ms = g->tick_ms;
}

void stop_drain(struct gate *g, struct gate_job *j)
{
	struct stop *s = &j->stop;
	s->stopped_ms = g->now_ms;
	s->drains_ms = g->tick_ms;
	s->overdue_ms = g->tick_ms + OVERDUE_MS;
	s->finish_noted = false;
}

void stop_drain_adopted(struct gate *g, struct gate_job *j)
{
	stop_because(j, REASON_STOPPED, g->identity);
	stop_drain(g, j);
	/* The leader of then noted it. But a stop that cuts a Job short comes before the end, which
	 * that leader may not have seen; a second Event does no harm. */
	j->stop.finish_noted = j->seen.finished && !j->seen.cut_short;
}

static void note_cut_short(struct gate *g, struct gate_job *j)
{
	struct note *n = gate_note(g, NOTE_CUT_SHORT, j,
		"%s (%s): the work of its other pods is lost, and it does not run again; a Job with spec.completions would",
		JOB_CUT_SHORT, j->stop.reason);
	n->reason = j->stop.reason;
}

void stop_note_finish(struct gate *g, struct gate_job *j)
{
	int64_t since_ms = j->attempt.started_ms > 0 ? j->attempt.started_ms : g->now_ms;
	j->stop.finish_noted = true;
	if (j->seen.cut_short) {
		note_cut_short(g, j);
		return;
	}
	g->counts.finishes++;
	gate_note(g, NOTE_FINISH, j, "%s after %s", j->seen.failed ? "failed" : "finished",
		span_short(g->now_ms - since_ms).s);
}

/* Appends "4 pods x 2m59s lost". */
static void put_lost(const struct gate_job *j, int64_t lost_ms, struct buf *out)
{
	int64_t pods = j->gone || j->seen.deleting ? j->seen.at_work : j->seen.active;
	if (lost_ms <= 0 || pods <= 0)
		buf_puts(out, "no work lost");
	else
		buf_printf(out, "%" PRId64 " pod%s x %s lost", pods, pods == 1 ? "" : "s",
			span_short(lost_ms / pods).s);
}

/* True where a stop for others, or for a window, is followed by nothing but the wait for the next start. */
static bool is_queued_again(const struct gate_job *j)
{
	bool by_itself = j->stop.preemption[0] ||
			 strcmp(j->stop.reason, stop_reason_name(STOP_REASON_WINDOW_CLOSED)) == 0;
	return by_itself && !j->gone && !j->seen.deleting && !comes_never_back(j) && !stop_holds(j);
}

/* Appends what the stop was for, and what it cost. A message that tells of the stop itself stands first. */
static void put_stop(const struct gate_job *j, int64_t lost_ms, struct buf *out)
{
	const char *message = j->stop.message ? j->stop.message : "";
	if (strncmp(message, "Stopped ", strlen("Stopped ")) == 0) {
		buf_printf(out, "%s%s ", message, strpbrk(message, ";:") ? ";" : ":");
		put_lost(j, lost_ms, out);
	} else {
		if (strcmp(j->stop.reason, REASON_DELETED) == 0)
			buf_puts(out, "Stopped, because its Job was deleted: ");
		else
			buf_printf(out,
				"%s (%s): ", j->gone || j->seen.deleting ? "Deleted" : "Stopped",
				j->stop.reason);
		buf_printf(out, "%s%s", message, *message ? "; " : "");
		put_lost(j, lost_ms, out);
	}
	if (is_queued_again(j))
		buf_puts(out, "; the Job is queued again");
	if (j->stop.pod_trouble)
		buf_printf(out, "; %s", j->stop.pod_trouble);
	buf_putc(out, '.');
}

void stop_note(struct gate *g, struct gate_job *j)
{
	int64_t lost_ms = stop_lost_ms(g, j);
	struct buf text;
	buf_init(&text, NOTE_MAX_BYTES);
	put_stop(j, lost_ms, &text);
	g->counts.stops++;
	struct note *n = gate_note(g, NOTE_STOP, j, "%s", buf_text(&text));
	buf_done(&text);
	n->reason = j->stop.reason;
	n->preemption = j->stop.preemption;
	n->on_hold = stop_holds(j);
	n->lost_ms = lost_ms;
}

void stop_note_intruder(struct gate *g, struct gate_job *j)
{
	j->stop.stopped_ms = g->now_ms;
	stop_note(g, j);
}

int64_t stop_overdue_ms(const struct gate *g, const struct gate_job *j)
{
	bool drains = j->phase == PHASE_DRAINING;
	return drains && g->tick_ms - j->stop.drains_ms >= OVERDUE_MS ? j->stop.stopped_ms : 0;
}

void stop_complain(struct gate *g, struct gate_job *j)
{
	char words[DELETION_SIZE];
	if (g->tick_ms < j->stop.overdue_ms)
		return;
	j->stop.overdue_ms = g->tick_ms + OVERDUE_MS;
	gate_note(g, NOTE_OVERDUE, j,
		"pods are left %s after it ended (%s); its quota stays reserved until they are gone: %s%s",
		span_short(g->tick_ms - j->stop.drains_ms).s, j->stop.reason,
		j->finalizer ? "" : "look for pods that do not terminate",
		deletion_words(j, words, sizeof(words)));
}
