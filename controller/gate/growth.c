#include "controller/gate/growth.h"

#include "base/backoff.h"
#include "base/must.h"
#include "controller/gate/attempt.h"
#include "controller/gate/core.h"
#include "controller/gate/gate.h"
#include "controller/gate/note.h"
#include "controller/gate/reasons.h"
#include "controller/gate/record.h"
#include "controller/gate/scale_down.h"

#define DENIED_MS INT64_C(60000) /* doubled with each refusal in a row */
#define DENIED_MAX_MS INT64_C(240000)

/* Tells whether its owner still asks for that many. Else the owner has edited the Job, and PATCHes
 * that were sent cannot land any more. */
static bool can_grow(const struct gate_job *j)
{
	return j->seen.owner_parallelism >= j->growth.to && j->seen.parallelism < j->growth.to;
}

static void over(struct gate *g, struct gate_job *j)
{
	j->growth.step = GROWTH_NONE;
	queue_grew_job(g->queue, &j->uid, g->now_ms);
	gate_mark_dirty(g, j);
}

/* Takes the growth back in the queue: the ledger reserved nothing for it. */
static void unreserve(struct gate *g, struct gate_job *j, int32_t pods)
{
	queue_shrink_job(g->queue, &j->uid, pods, g->now_ms);
	over(g, j);
}

/* ---- GROW ------------------------------------------------------------------------------------ */

static bool may_begin(const struct gate *g, const struct gate_job *j, const struct decision *d)
{
	return job_goes_on(g, j) && j->attempt.pods < d->pods &&
	       g->tick_ms >= j->growth.denied_ms && !growth_keeps(g, j) &&
	       j->attempt.pods <= j->seen.pods && j->scale_down.to == 0 &&
	       d->pods > j->seen.parallelism && d->pods <= j->seen.owner_parallelism;
}

void growth_decided(struct gate *g, struct gate_job *j, const struct decision *d)
{
	struct growth *x = &j->growth;
	must(x->step == GROWTH_NONE); /* the queue decides on one at a time */
	if (!may_begin(g, j, d)) {
		unreserve(g, j, d->had);
		return;
	}
	x->step = GROWTH_RESERVING;
	x->from = j->attempt.pods;
	x->to = d->pods;
	x->may_have_landed = x->dropped = x->denied = false;
	x->seq = attempt_begin_growth(g, j);
}

static void refused(struct gate *g, struct gate_job *j, enum ledger_verdict v)
{
	g->counts.refusals++;
	gate_note(g, NOTE_REFUSE, j, "it does not grow to %d pods: %s", j->growth.to,
		v == LEDGER_SPENT ? "the ledger has closed the reservation of its run"
				  : "the ledger has no quota left for them");
	unreserve(g, j, j->growth.from);
}

void growth_reserved(struct gate *g, struct gate_job *j, int32_t seq, enum ledger_verdict v)
{
	struct growth *x = &j->growth;
	if (x->step != GROWTH_RESERVING || x->seq != seq)
		return;
	if (v == LEDGER_REFUSED || v == LEDGER_SPENT) {
		refused(g, j, v);
		return;
	}
	x->step = GROWTH_TELLING;
	attempt_grow(j, x->to);
	gate_mark_dirty(g, j);
}

/* ---- The PATCH ------------------------------------------------------------------------------- */

/* Tells whether an earlier leader may have sent a larger number (see the header): the ledger knows
 * of a change of size that the story lacks. */
static bool owes_story(const struct gate *g, const struct gate_job *j)
{
	const struct facts *f = &j->seen;
	return f->story_sizes < j->attempt.inherited_sizes && f->story_epoch != g->epoch &&
	       f->story_state == STORY_STARTED && f->owner_parallelism > f->parallelism &&
	       j->attempt.pods < INT32_MAX && j->attempt.pods > f->pods;
}

bool growth_keeps(const struct gate *g, const struct gate_job *j)
{
	return j->growth.step != GROWTH_NONE || owes_story(g, j);
}

static const char *why_not(const struct gate_job *j)
{
	if (j->growth.denied)
		return "the API server refuses it";
	if (j->growth.dropped)
		return "the run is about to go on with fewer pods";
	return "its owner has changed spec.parallelism since";
}

static void call_off(struct gate *g, struct gate_job *j)
{
	const struct growth *x = &j->growth;
	int32_t seen = job_pods_in_sight(j);
	gate_note(g, NOTE_CALL_OFF, j, "does not grow to %d pods: %s", x->to, why_not(j));
	if (x->may_have_landed)
		scale_down_may_have(j, x->to);
	else
		attempt_shrink(g, j, x->from > seen ? x->from : seen);
	over(g, j);
}

static void landed(struct gate *g, struct gate_job *j)
{
	gate_note(g, NOTE_GROW, j, "grows from %d to %d pods", j->growth.from, j->growth.to);
	j->growth.denials = 0;
	over(g, j);
}

static bool is_decided(const struct gate_job *j)
{
	return !j->growth.may_have_landed || j->growth.fenced || !can_grow(j);
}

static bool is_sent(const struct gate_job *j)
{
	const struct growth *x = &j->growth;
	return x->step == GROWTH_TELLING && !x->dropped && !x->denied;
}

static void may_have_landed(struct gate_job *j)
{
	j->growth.may_have_landed = true;
}

void growth_settle(struct gate *g, struct gate_job *j)
{
	const struct growth *x = &j->growth;
	if (x->step != GROWTH_TELLING)
		return;
	bool goes_on = can_grow(j) && is_sent(j);
	bool owners = x->dropped && j->seen.reapplied;
	if (owners && j->scale_down.to > 0)
		may_have_landed(j); /* what makes it smaller is under way, and tells */
	else if (j->seen.parallelism >= x->to && !owners)
		landed(g, j);
	else if (!goes_on && !job_busy(j) && is_decided(j))
		call_off(g, j);
}

/* Tells whether a new story is needed: refused, with a PATCH in doubt. */
static bool must_fence(const struct gate_job *j)
{
	return j->growth.step == GROWTH_TELLING && j->growth.denied && !j->growth.fenced &&
	       can_grow(j);
}

static bool must_retell(const struct gate *g, const struct gate_job *j)
{
	return owes_story(g, j) || must_fence(j);
}

bool growth_see_to(struct gate *g, struct gate_job *j)
{
	bool retells = must_retell(g, j), tells = is_sent(j);
	if (retells)
		job_request(g, j, INTENT_RETELL);
	else if (tells)
		job_request(g, j, INTENT_GROW);
	return tells || retells;
}

void growth_drop(struct gate_job *j)
{
	j->growth.dropped = true;
}

bool growth_tells(const struct gate_job *j)
{
	return j->growth.step == GROWTH_TELLING;
}

bool growth_wanted(const struct gate *g, const struct gate_job *j)
{
	return job_goes_on(g, j) && is_sent(j) && can_grow(j);
}

bool growth_retell_wanted(const struct gate *g, const struct gate_job *j)
{
	return job_goes_on(g, j) && must_retell(g, j);
}

/* Puts in the owner's number, unless the run has that many pods: then the spec is the owner's
 * own. */
static void tell_counts(const struct gate_job *j, int32_t parallelism, struct story *s)
{
	if (parallelism >= j->seen.owner_parallelism)
		return;
	s->pods = parallelism;
	s->owner_parallelism = j->seen.owner_parallelism;
	s->owner_completions = j->seen.owner_completions;
}

void growth_tell(struct gate_job *j, struct intent *i)
{
	j->growth.fenced = false;
	i->parallelism = j->growth.to;
	i->completions = j->seen.owner_completions > 0 ? j->growth.to : 0;
	i->story.reason = REASON_GROWN;
	i->story.history = j->seen.history; /* of the attempts before this one */
	tell_counts(j, i->parallelism, &i->story);
}

/* Keeps reason and message: why the run has its size. */
void growth_retell(struct gate *g, const struct gate_job *j, struct intent *i)
{
	struct story_words before;
	bool known = story_read_words(g->story_reader, j->story, &j->uid, &g->story_key, &before);
	i->story.reason = known && before.reason ? before.reason : "";
	i->story.message = known ? before.message : NULL;
	i->story.retold = j->growth.denied ? REASON_GROWTH_REFUSED : REASON_TAKEN_OVER;
	i->story.history = j->seen.history;
	tell_counts(j, j->seen.parallelism, &i->story);
}

void growth_retold(struct gate_job *j)
{
	j->growth.fenced = true;
}

bool growth_answered(struct gate *g, struct gate_job *j, const struct job_answer *a)
{
	(void)g;
	if (a->outcome == JOB_DONE || a->outcome == JOB_IN_DOUBT)
		may_have_landed(j);
	return false;
}

/* The growth stays reserved while a PATCH of it may land: growth_see_to() ends that. */
void growth_denied(struct gate *g, struct gate_job *j, const char *said)
{
	(void)said;
	struct growth *x = &j->growth;
	x->denied_ms =
		g->tick_ms + gate_spread(g, backoff_ms(DENIED_MS, x->denials++, DENIED_MAX_MS));
	if (x->step != GROWTH_TELLING || !job_goes_on(g, j))
		return;
	x->denied = true;
	if (!x->may_have_landed)
		call_off(g, j);
}

void growth_end(struct gate_job *j)
{
	j->growth = (struct growth){.denials = j->growth.denials, .denied_ms = j->growth.denied_ms};
}
