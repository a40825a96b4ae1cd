/*
 * Waiting notes: a Job that has waited for a while says why on itself (annotation
 * sluice.dev/waiting), so that kubectl shows it. They are few:
 *   - only when the reason is of another kind than the one that stands there, or the Job has booked
 *     another start (annotation sluice.dev/booked-start, in the same PATCH);
 *   - not before note_after_ms of waiting; each stands twice as long as the one before;
 *   - a bounded number a tick, and none while many Jobs are being started (gate_is_busy());
 *   - when the API server answers slowly the pauses grow, so that notes take at most a twentieth of
 *     the time (a pause is PAUSE_MAX_MS at most).
 * A cursor goes round all Jobs, so a tick costs the same for ten waiting Jobs and for a million.
 * Where the queue has been played forward lately (gate_options.likely_start), the note tells when the Job is
 * likely to start. If that changes it is no reason to write another note.
 *
 * The PATCH that starts the Job takes the notice off again (requests.c).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/backoff.h"
#include "base/instant.h"
#include "controller/gate/core.h"
#include "controller/gate/gate.h"
#include "controller/gate/note.h"
#include "controller/gate/record.h"
#include "controller/gate/waiting_note.h"
#include "queue/job/text.h"
#include "sluice/keys.h"

#define TICK_MS 2000
#define LOOKS_MAX 100 /* in a tick */
#define POSTS_MAX 20  /* in a tick */
#define DOUBLINGS_MAX 6
#define SHARE 20
#define PAUSE_MAX_MS 60000
#define START_STEP_MS 300000 /* a forecast is no clock */

enum wait_reason notice_kind(const char *text)
{
	for (enum wait_reason r = WAIT_DEACTIVATED; r < WAIT_PENDING_EVALUATION; r++) {
		size_t len = strlen(wait_reason_name(r));
		if (text && strncmp(text, wait_reason_name(r), len) == 0 && text[len] == ':')
			return r;
	}
	return WAIT_NOT;
}

/* Adds "; not before 2026-11-21T18:00:00Z", unless the sentence has that time. */
static void add_time(struct buf *out, const char *words, int64_t ms, const char *sentence)
{
	struct instant_text at = instant_seconds(ms);
	if (!strstr(sentence, at.s))
		buf_printf(out, "; %s %s", words, at.s);
}

/* Adds the likely start, unless that is about x's own time. */
static void add_start(
	struct buf *out, const struct explanation *x, const struct likely_start *s, int64_t now_ms)
{
	int64_t at_ms = (s->at_ms + START_STEP_MS / 2) / START_STEP_MS * START_STEP_MS;
	bool is_known = x->not_before_ms > now_ms && x->not_before_ms < INT64_MAX &&
			at_ms - x->not_before_ms <= START_STEP_MS;
	if (s->at_ms <= 0 || at_ms <= now_ms || is_known)
		return;
	buf_printf(out, "; likely to start about %s, by a forecast of %s", instant_seconds(at_ms).s,
		instant_seconds(s->as_of_ms).s);
}

void notice_words(const struct explanation *x, const struct likely_start *start, int64_t now_ms,
	struct buf *out)
{
	buf_printf(out, "%s: %s", wait_reason_name(x->reason), x->sentence);
	if (x->not_before_ms > now_ms && x->not_before_ms < INT64_MAX)
		add_time(out, "not before", x->not_before_ms, x->sentence);
	if (x->unreachable && x->deadline_ms > 0)
		add_time(out, "it cannot end by its deadline,", x->deadline_ms, x->sentence);
	add_start(out, x, start, now_ms);
	buf_printf(out, " (as of %s)", instant_seconds(now_ms).s);
}

static void format(struct gate *g, const struct gate_job *j, char *ret, size_t size)
{
	struct explanation x = {.reason = WAIT_PENDING_EVALUATION};
	struct likely_start start = {0};
	struct buf text;
	queue_explain(g->queue, &j->uid, g->now_ms, &x);
	explain_lending(g, j, &x);
	if (g->likely_start)
		start = g->likely_start(g->ctx, &j->uid, &x);
	if (x.reason == WAIT_HELD && j->seen.held) /* its text may change, and this stands */
		snprintf(x.sentence, sizeof(x.sentence),
			"on hold: the annotation " HOLD_ANNOTATION " says why");
	buf_init(&text, 4096);
	notice_words(&x, &start, g->now_ms, &text);
	snprintf(ret, size, "%s", buf_text(&text));
	buf_done(&text);
}

/* Returns the booked start, in whole seconds; 0: none. The next leader reads it from the notice. */
static int64_t booked_start_ms(const struct gate *g, const struct gate_job *j)
{
	int64_t at_ms = queue_booked_start_ms(g->queue, &j->uid);
	return at_ms > g->now_ms && at_ms < INT64_MAX - 1000 ? (at_ms + 999) / 1000 * 1000 : 0;
}

void notice_tell(struct gate *g, struct gate_job *j, struct intent *i)
{
	format(g, j, g->notices.text, sizeof(g->notices.text));
	i->notice = g->notices.text;
	i->booked_start_ms = booked_start_ms(g, j);
	i->has_booked_start = j->seen.booked_start_ms > 0;
}

/* Tells whether the Job has booked another start than it is told. One whose time has come is left
 * alone, for it is about to start. */
static bool books_another(const struct gate *g, const struct gate_job *j)
{
	int64_t at_ms = booked_start_ms(g, j);
	return at_ms > 0 && at_ms != j->seen.booked_start_ms;
}

void waiting_note_begin(struct gate_job *j)
{
	j->waiting_note.count = 0;
	j->waiting_note.told = WAIT_NOT;
}

/* Tells whether it has waited for long enough, by both clocks. A Job that was queued later than now
 * tells that the clock was set back. */
static bool notice_is_due(const struct gate *g, const struct gate_job *j)
{
	int64_t after_ms = g->notices.after_ms;
	if (j->waiting_note.count > 0)
		return g->tick_ms >= j->waiting_note.told_ms + backoff_ms(after_ms,
								       j->waiting_note.count,
								       after_ms << DOUBLINGS_MAX);
	return (j->waits_ms == 0 || g->tick_ms >= j->waits_ms + after_ms) &&
	       (j->seen.queued_ms > g->now_ms ||
		       g->now_ms >= j->seen.queued_ms + g->notices.after_ms);
}

/* Looks at a Job. True when a notice is wanted. */
static bool look_at(struct gate *g, struct gate_job *j)
{
	struct explanation x = {0};
	if (!job_waits(g, j) || job_busy(j) || j->seen.deleting || !notice_is_due(g, j))
		return false;
	if (!queue_explain(g->queue, &j->uid, g->now_ms, &x) || x.reason == WAIT_NOT ||
		x.reason == WAIT_PENDING_EVALUATION ||
		(x.reason == j->seen.notice && !books_another(g, j)))
		return false;
	j->waiting_note.count++;
	j->waiting_note.told_ms = g->tick_ms;
	struct note *n =
		gate_note(g, NOTE_WAIT, j, "%s: %s", wait_reason_name(x.reason), x.sentence);
	if (x.reason != j->waiting_note.told)
		n->reason = wait_reason_name(x.reason);
	j->waiting_note.told = x.reason;
	gate_want(g, j, INTENT_NOTICE);
	return true;
}

bool notice_answered(struct gate *g, struct gate_job *j, const struct job_answer *a)
{
	(void)a; /* whatever came of it, the next is due in a while */
	int64_t pause_ms = (g->tick_ms - j->waiting_note.told_ms) * SHARE;
	int64_t due_ms = g->tick_ms + (pause_ms < PAUSE_MAX_MS ? pause_ms : PAUSE_MAX_MS);
	if (due_ms > g->notices.due_ms)
		g->notices.due_ms = due_ms;
	return true;
}

void notice_tick(struct gate *g)
{
	if (g->notices.after_ms == 0 || g->tick_ms < g->notices.due_ms)
		return;
	g->notices.due_ms = g->tick_ms + TICK_MS;
	if (gate_is_busy(g))
		return;
	size_t looks = g->counts.jobs < LOOKS_MAX ? g->counts.jobs : LOOKS_MAX;
	for (size_t posts = 0; looks > 0 && posts < POSTS_MAX; looks--) {
		if (!g->notices.at)
			g->notices.at = g->first;
		struct gate_job *j = g->notices.at;
		g->notices.at = j->next;
		posts += look_at(g, j);
	}
}
