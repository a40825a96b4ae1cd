/*
 * Stuck: runs with fewer ready pods than they need, and what keeps the others from running.
 *
 * Such a run is in the list. After stuck_after_ms its Pending pods are wanted; where pods are
 * missing, also the Events about refused pods. Not before: a healthy cluster is not asked. The
 * trouble of each run (trouble.h) is looked at once a second. A change is told by a note, and by
 * the API. The last trouble goes into the story of the stop.
 *
 * Nothing of the protocol hangs on it. The queue stops by podsReadyTimeout, and knows no reason.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/mem.h"
#include "base/order.h"
#include "controller/gate/core.h"
#include "controller/gate/gate.h"
#include "controller/gate/job_table.h"
#include "controller/gate/note.h"
#include "controller/gate/record.h"
#include "controller/gate/stop.h"
#include "controller/gate/stuck.h"
#include "controller/gate/trouble.h"
#include "queue/job/text.h"

#define LOOK_MS 1000
#define SENTENCE_MAX 2048

/* ---- what is in the list --------------------------------------------------------------------- */

/* Returns since when the run lacks pods: for all a new leader knows, since its start. */
static int64_t lacks_since(const struct gate *g, const struct gate_job *j)
{
	int64_t ran_ms = j->well ? 0 : g->now_ms - j->attempt.started_ms;
	if (ran_ms < 0)
		ran_ms = 0;
	return g->tick_ms - least(ran_ms, g->stuck.after_ms);
}

static void join(struct gate *g, struct gate_job *j)
{
	struct stuck *s = mem_alloc(sizeof(*s));
	s->job = j;
	s->lacks_ms = lacks_since(g, j);
	s->prev = g->stuck.last;
	*(s->prev ? &s->prev->next : &g->stuck.first) = s;
	g->stuck.last = s;
	j->stuck = s;
	g->stuck.due_ms = least(g->stuck.due_ms, s->lacks_ms + g->stuck.after_ms);
}

void stuck_free(struct stuck *s)
{
	if (s)
		free(s->message);
	free(s);
}

static void leave(struct gate *g, struct gate_job *j)
{
	struct stuck *s = j->stuck;
	*(s->prev ? &s->prev->next : &g->stuck.first) = s->next;
	*(s->next ? &s->next->prev : &g->stuck.last) = s->prev;
	j->stuck = NULL;
	stuck_free(s);
}

/* ---- what keeps its pods --------------------------------------------------------------------- */

static int32_t missing(const struct gate_job *j)
{
	return j->seen.kept_up > j->seen.active ? j->seen.kept_up - j->seen.active : 0;
}

static bool is_due(const struct gate *g, const struct stuck *s)
{
	return g->tick_ms - s->lacks_ms >= g->stuck.after_ms;
}

static struct trouble find_trouble(const struct gate *g, const struct gate_job *j)
{
	const struct facts *f = &j->seen;
	struct troubles_ask a = {.job = j->uid,
		.now_ms = g->now_ms,
		.tick_ms = g->tick_ms,
		.after_ms = g->stuck.after_ms,
		.started_ms = f->start_ms > 0 ? f->start_ms : j->attempt.started_ms,
		.missing = missing(j)};
	return troubles_of(g->troubles, &a);
}

static void note_over(struct gate *g, const struct gate_job *j, const struct trouble *was)
{
	struct note *n = gate_note(g, NOTE_TROUBLE_OVER, j,
		"its pods are kept from running no more (%s)", trouble_name(was->word));
	n->reason = trouble_name(was->word);
}

static void note_trouble(struct gate *g, const struct gate_job *j, const struct trouble *x)
{
	struct buf text;
	buf_init(&text, SENTENCE_MAX);
	trouble_sentence(x, j->seen.kept_up, g->now_ms, &text);
	struct note *n =
		gate_note(g, NOTE_TROUBLE, j, "%s: %s", trouble_name(x->word), buf_text(&text));
	n->reason = trouble_name(x->word);
	buf_done(&text);
}

/* Notes a trouble that is news. Another word for the same one is not. */
static void tell(struct gate *g, struct gate_job *j, struct trouble x)
{
	struct stuck *s = j->stuck;
	if (x.word != TROUBLE_NONE && !trouble_same(x.word, s->told.word))
		note_trouble(g, j, &x);
	else if (x.word == TROUBLE_NONE && s->told.word != TROUBLE_NONE)
		note_over(g, j, &s->told);
	else
		x.word = s->told.word;
	if (!s->message || strcmp(s->message, x.message) != 0) {
		free(s->message);
		s->message = mem_strdup(x.message);
	}
	s->told = x;
	s->told.message = s->message;
}

void stuck_see_to(struct gate *g, struct gate_job *j)
{
	if (g->stuck.after_ms == 0)
		return;
	if (missing(j) == 0)
		troubles_forget_refusals(g->troubles, &j->uid);
	if (j->seen.lacks > 0) {
		if (!j->stuck)
			join(g, j);
		return;
	}
	j->well = j->well || j->seen.start_seen;
	if (!j->stuck)
		return;
	if (j->stuck->told.word != TROUBLE_NONE)
		note_over(g, j, &j->stuck->told);
	leave(g, j);
}

/* Keeps the trouble for the stop. It is looked up once more: what was told may be a second old. */
static void keep_pod_trouble(struct gate *g, struct gate_job *j)
{
	struct trouble x = find_trouble(g, j);
	if (x.word == TROUBLE_NONE || !is_due(g, j->stuck) || j->stop.pod_trouble ||
		j->seen.finished)
		return;
	struct buf text;
	buf_init(&text, SENTENCE_MAX);
	trouble_epitaph(&x, j->seen.kept_up, g->now_ms, &text);
	stop_keep_trouble(j, buf_take(&text));
}

void stuck_end(struct gate *g, struct gate_job *j)
{
	j->well = false;
	if (j->stuck) {
		keep_pod_trouble(g, j);
		leave(g, j);
	}
	troubles_forget_refusals(g->troubles, &j->uid);
}

void stuck_tick(struct gate *g)
{
	if (g->tick_ms < g->stuck.due_ms)
		return;
	int64_t next_ms = INT64_MAX;
	g->stuck.wants_pods = g->stuck.wants_refusals = false;
	for (struct stuck *s = g->stuck.first; s; s = s->next) {
		if (!is_due(g, s)) {
			next_ms = least(next_ms, s->lacks_ms + g->stuck.after_ms);
			continue;
		}
		g->stuck.wants_pods = true;
		g->stuck.wants_refusals = g->stuck.wants_refusals || missing(s->job) > 0;
		tell(g, s->job, find_trouble(g, s->job));
		next_ms = least(next_ms, g->tick_ms + LOOK_MS);
	}
	g->stuck.due_ms = next_ms;
}

/* ---- for the watch of pods, and for people --------------------------------------------------- */

struct troubles *gate_troubles(struct gate *g)
{
	return g->troubles;
}

void gate_see_refusal(struct gate *g, const struct trouble_refusal *r)
{
	const struct gate_job *j = gate_find_job(g, &r->job);
	if (j && (j->phase == PHASE_STARTING || j->phase == PHASE_RUNNING))
		troubles_see_refusal(g->troubles, r);
}

bool gate_wants_pods(const struct gate *g)
{
	return g->stuck.wants_pods;
}

bool gate_wants_refusals(const struct gate *g)
{
	return g->stuck.wants_refusals;
}

static struct gate_trouble pod_trouble_of(const struct gate_job *j)
{
	const struct trouble *x = &j->stuck->told;
	return (struct gate_trouble){.ns = j->ns,
		.name = j->name,
		.clusterqueue = j->attempt.clusterqueue,
		.word = x->word,
		.pods = x->pods,
		.of = j->seen.kept_up,
		.since_ms = x->since_ms,
		.message = x->message};
}

static bool is_told(const struct gate_job *j)
{
	return j->stuck && j->stuck->told.word != TROUBLE_NONE;
}

bool stuck_trouble(const struct gate_job *j, struct gate_trouble *ret)
{
	if (!is_told(j))
		return false;
	*ret = pod_trouble_of(j);
	return true;
}

void gate_each_trouble(
	const struct gate *g, void (*each)(const struct gate_trouble *x, void *ctx), void *ctx)
{
	for (const struct stuck *s = g->stuck.first; s; s = s->next) {
		if (!is_told(s->job))
			continue;
		struct gate_trouble x = pod_trouble_of(s->job);
		each(&x, ctx);
	}
}

/* Says that deleted pods have not gone, where nothing else is wrong and pods are missing. On a lost
 * node they stay for ever: nobody can say whether they run. */
static void put_going(const struct gate_job *j, struct buf *out)
{
	int32_t going = j->seen.present - j->seen.active;
	buf_printf(out,
		going == 1 ? "%d of its pods was deleted and has not gone yet"
			   : "%d of its pods were deleted and have not gone yet",
		(int)going);
	buf_puts(out,
		"; a pod is replaced, and its quota free, only when it is gone. If its node is lost for good: "
		"kubectl taint nodes NODE node.kubernetes.io/out-of-service=lost:NoExecute");
}

/* Makes "runs since TIME, but 3 of its 8 pods cannot be scheduled, for 42 s: ...; CURE". */
void explain_stuck(const struct gate_job *j, int64_t now_ms, struct explanation *x)
{
	struct buf text;
	bool going = j->seen.lacks > 0 && j->seen.present > j->seen.active;
	if (!is_told(j) && !going)
		return;
	buf_init(&text, SENTENCE_MAX);
	buf_printf(&text, "runs since %s, but ", instant_seconds(j->attempt.started_ms).s);
	if (is_told(j)) {
		const struct trouble *told = &j->stuck->told;
		trouble_sentence(told, j->seen.kept_up, now_ms, &text);
		buf_printf(&text, "; %s", trouble_cure(told->word, told->message));
	} else {
		put_going(j, &text);
	}
	snprintf(x->sentence, sizeof(x->sentence), "%s", buf_text(&text));
	buf_done(&text);
}

/* Only where what kept its pods is why the Job waits. */
void explain_pod_trouble(const struct gate_job *j, struct explanation *x)
{
	bool follows = x->reason == WAIT_BACK_OFF || x->reason == WAIT_DEACTIVATED ||
		       x->reason == WAIT_HELD;
	size_t len = strlen(x->sentence);
	if (follows && j->trouble)
		snprintf(x->sentence + len, sizeof(x->sentence) - len, "; its last run: %s",
			j->trouble);
}
