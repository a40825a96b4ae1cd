#include "controller/gate/failing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/mem.h"
#include "base/slice.h"
#include "controller/gate/core.h"
#include "controller/gate/note.h"
#include "controller/gate/reasons.h"
#include "controller/gate/record.h"
#include "controller/gate/stop.h"
#include "queue/job/text.h"

#define SAID_MAX 300		    /* bytes of the server's words that are kept */
#define PAUSE_MAX_MS INT64_C(30000) /* between tries of what has failed for long */

static const char *words_of(const struct gate_job *j, enum intent_kind k)
{
	bool holds = k == INTENT_TELL && j->stop.hold && j->phase == PHASE_WAITING;
	return holds ? "put it on hold" : intent_does(k);
}

/* Tells whether a failure of that kind replaces the one that is told. A failed start stays: what fails beside
 * it, as its fence, does so for the same reason. A failed read replaces none: it only prepares a write. */
static bool takes_over(const struct failing *f, enum intent_kind asked)
{
	return f->since_ms == 0 || (f->asked != INTENT_START && !intent_is(asked, WRITES_NOTHING));
}

/* Tells whether the API server never had that write: the connection failed, which no Job can cause. */
static bool never_arrived(enum intent_kind asked, const struct job_answer *a)
{
	return a->outcome == JOB_BUSY && !a->sentence && !intent_is(asked, WRITES_NOTHING);
}

/* Tells whether such a write shows that the server is well. TELL and CLEAR may go by the subresource
 * status, which most webhooks do not look at. */
static bool shows_health(enum intent_kind asked)
{
	return !intent_is(asked, WRITES_NOTHING | GOES_BY_STATUS);
}

static uint32_t bit_of(enum intent_kind k)
{
	return UINT32_C(1) << k;
}

static void forget_words(struct failing *f)
{
	free(f->said);
	f->said = NULL;
}

static struct failing *begin(struct gate *g, struct gate_job *j, enum intent_kind asked)
{
	if (!j->failing) {
		j->failing = mem_alloc(sizeof(*j->failing));
		*j->failing = (struct failing){.asked = asked};
	}
	struct failing *f = j->failing;
	if (f->began_ms == 0)
		f->began_ms = g->tick_ms;
	if (!takes_over(f, asked) || (f->asked == asked && f->since_ms > 0))
		return f;
	f->asked = asked;
	f->since_ms = g->now_ms;
	forget_words(f);
	return f;
}

/* Returns the server's words, or ours where no answer came; NULL: neither. */
static const char *said_in(const struct job_answer *a)
{
	return a->sentence || a->outcome != JOB_IN_DOUBT ? a->sentence : "it gave no answer";
}

static void keep_words(const struct gate_job *j, enum intent_kind asked, const struct job_answer *a)
{
	struct failing *f = j->failing;
	const char *said = said_in(a);
	if (!said || f->asked != asked)
		return;
	forget_words(f);
	f->generation = j->seen.generation;
	f->said = mem_strndup(said, slice_cut(said, SAID_MAX));
	f->refused = a->outcome == JOB_DENIED;
}

/* Tells whether a failure is noted: once a kind, for all its failures in a row. "Come again in a
 * second" is no news. Nor is one answer that did not come: each restart of a server does that. */
static bool is_news(const struct failing *f, enum intent_kind asked, const struct job_answer *a)
{
	bool asks_to_wait = a->outcome == JOB_BUSY && a->retry_ms > 0;
	bool tells = a->sentence || (said_in(a) && f->said);
	return tells && !asks_to_wait && f->asked == asked && !(f->told & bit_of(asked));
}

static void failed(
	struct gate *g, struct gate_job *j, enum intent_kind asked, const struct job_answer *a)
{
	struct failing *f = begin(g, j, asked);
	if (asked == INTENT_TELL)
		f->by_status = !f->by_status;
	if (is_news(f, asked, a)) {
		f->told |= bit_of(asked);
		gate_note(g, NOTE_REFUSE, j, "the API server fails to %s: %s", words_of(j, asked),
			said_in(a))
			->reason = REASON_REFUSED_BY_SERVER;
	}
	keep_words(j, asked, a);
}

static void refused(
	struct gate *g, struct gate_job *j, enum intent_kind asked, const struct job_answer *a)
{
	if (asked == INTENT_CLEAR)
		return; /* start_time.c notes it, and the start goes on without */
	if (intent_is(asked, STANDS_ALONE)) { /* requests.c notes all others */
		failed(g, j, asked, a);
		return;
	}
	struct failing *f = begin(g, j, asked);
	if (asked == INTENT_TELL)
		f->by_status = !f->by_status;
	f->told |= bit_of(asked);
	keep_words(j, asked, a);
}

/* Forgets the failures of that kind alone: what else has failed goes on doing so, and was told. */
static void succeeded(struct gate_job *j, enum intent_kind asked)
{
	struct failing *f = j->failing;
	if (!f)
		return;
	f->told &= ~bit_of(asked);
	if (f->asked != asked)
		return;
	f->since_ms = f->began_ms = 0;
	forget_words(f);
	if (!f->told)
		failing_over(j);
}

void failing_answered(
	struct gate *g, struct gate_job *j, enum intent_kind asked, const struct job_answer *a)
{
	if (intent_is(asked, HAS_OWN_LIMITS))
		return;
	switch (a->outcome) {
	case JOB_DONE:
		if (shows_health(asked))
			g->written_ms = g->tick_ms;
		succeeded(j, asked);
		break;
	case JOB_BUSY:
	case JOB_IN_DOUBT:
		if (!never_arrived(asked, a))
			failed(g, j, asked, a);
		break;
	case JOB_DENIED:
		refused(g, j, asked, a);
		break;
	case JOB_REFUSED:
	case JOB_GONE:
		break;
	}
}

void failing_over(struct gate_job *j)
{
	if (j->failing)
		free(j->failing->said);
	free(j->failing);
	j->failing = NULL;
}

void failing_enter(struct gate_job *j, enum phase next)
{
	struct failing *f = j->failing;
	bool starts = next == PHASE_WAITING || next == PHASE_RESERVING || next == PHASE_STARTING ||
		      next == PHASE_FENCING;
	if (f && f->asked == INTENT_START && starts)
		f->began_ms = 0;
	else
		failing_over(j);
}

/* Tells whether it has failed in this phase for longer than the patience. */
static bool lasts(const struct gate *g, const struct failing *f)
{
	return f && f->began_ms > 0 && g->tick_ms - f->began_ms >= FAILING_PATIENCE_MS;
}

bool failing_ends_start(const struct gate *g, const struct gate_job *j)
{
	return j->phase == PHASE_STARTING && lasts(g, j->failing);
}

unsigned failing_count_start(const struct gate *g, struct gate_job *j)
{
	struct failing *f = j->failing;
	unsigned before = f->starts;
	f->starts += g->written_ms > f->began_ms;
	return before;
}

bool failing_by_status(const struct gate_job *j)
{
	return j->failing && j->phase == PHASE_FENCING && j->failing->by_status;
}

int64_t failing_pause_max_ms(const struct gate *g, const struct gate_job *j, int64_t usual_ms)
{
	return lasts(g, j->failing) && j->failing->said ? PAUSE_MAX_MS : usual_ms;
}

static const char *verb_of(const struct failing *f, bool past)
{
	if (past)
		return f->refused ? "refused" : "failed";
	return f->refused ? "refuses" : "fails";
}

/* Tells whether the failure is of a start that is over. */
static bool tells_of_last_start(const struct gate_job *j, const struct failing *f)
{
	return f->asked == INTENT_START &&
	       (j->phase == PHASE_WAITING || j->phase == PHASE_RESERVING);
}

/* Tells whether what failed is asked for no more. A start before an edit says nothing of the
 * next. */
static bool is_over(const struct gate *g, const struct gate_job *j, const struct failing *f)
{
	if (f->asked == INTENT_DELETE)
		return j->never.action != NEVER_DELETE;
	if (f->asked == INTENT_NAMESPACE)
		return !newcomer_asks(g, j);
	if (f->asked == INTENT_PODS && j->phase == PHASE_WAITING) /* of a newcomer */
		return j->seen.suspend;
	return tells_of_last_start(j, f) && f->generation != j->seen.generation;
}

void explain_failing(const struct gate *g, const struct gate_job *j, struct explanation *x)
{
	const struct failing *f = j->failing;
	size_t len = strlen(x->sentence);
	if (!f || !f->said || is_over(g, j, f))
		return;
	bool waits = tells_of_last_start(j, f);
	if (len > sizeof(x->sentence) / 2)
		len = slice_cut(x->sentence, sizeof(x->sentence) / 2);
	snprintf(x->sentence + len, sizeof(x->sentence) - len,
		"; %s %s%s the API server %s to %s: %s", waits ? "from" : "since",
		instant_seconds(f->since_ms).s, waits ? " on" : "", verb_of(f, waits),
		words_of(j, f->asked), f->said);
}
