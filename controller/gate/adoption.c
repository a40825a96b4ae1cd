/*
 * Adoption: the ledger lost what it had acknowledged. Postgres failed over to a standby that lacked
 * the last transactions, or yesterday's backup was restored. Jobs run of which it knows nothing.
 *
 * The story of each start says what the run holds, and is signed (story.h). A new leader believes
 * that, and writes ADOPT: what runs counts as used, whatever the quota. A reservation that was
 * read, of an earlier attempt than the one that runs, is closed.
 *
 * Then nothing starts for settle_ms. A start that the last leader sent may still be under way,
 * under a RESERVE that was lost with the rest. The API server drops a request after its
 * --request-timeout, a minute; what lands until then is adopted as well. The pause is also made
 * when nothing was found, but Postgres is on another timeline than at the last takeover: a lost
 * start may be under way then, too.
 *
 * A run that ends in the pause may have ended while nothing was written: its bill is estimated,
 * like those of the runs that are adopted (docs/restore.md).
 *
 * When the pause is over, all use is known. Where it is more than the quota, runs that were adopted
 * are stopped, the last to start first, until it fits. That happens when quota was lowered
 * meanwhile, or when two leaders led on two sides of a broken network.
 *
 * A run whose GROW was lost is adopted likewise: the reservation that was read is for fewer pods
 * than its story says. The number of its last change of size tells which of the two is later. If it
 * is the ledger, the run goes on with what that holds (scale_down.c).
 *
 * A story without a signature, or of an attempt that the ledger has closed, adopts nothing: such a
 * Job is stopped as any other that was not admitted (mass_stop.c has the exception).
 */
#include "controller/gate/adoption.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/gate/core.h"
#include "base/span.h"
#include "controller/gate/gate.h"
#include "controller/gate/job_table.h"
#include "controller/gate/note.h"
#include "controller/gate/outbox.h"
#include "controller/gate/reasons.h"
#include "controller/gate/record.h"
#include "controller/gate/stop.h"
#include "sluice/keys.h"
#include "sluice/quantity.h"

#define LOOK_MS 1000

const char ADOPTION_NO_QUOTA[] =
	"the ledger lost the reservation of this run, and more than the quota is in use, so the runs that started last are stopped; the Job is queued, and starts in its turn";

/* Tells whether the Job may have pods: also where it was suspended before the Job controller saw
 * the start. */
static bool has_pods(const struct gate_job *j)
{
	return !j->lost && !j->gone && !j->seen.finished &&
	       (!j->seen.suspend || j->seen.leaving || j->seen.deleting ||
		       j->seen.story_state == STORY_STARTED);
}

/* Reads what the story tells of the run, if the Job may have pods and Sluice wrote it. Others may
 * have resumed the run after its stop: its pods may be left. */
static bool told_run(struct gate *g, const struct gate_job *j, struct story_run *ret)
{
	return has_pods(j) &&
	       story_read_run(g->story_reader, j->story, &j->uid, &g->story_key, ret);
}

/* Tells whether it has pods of a later attempt. Every look at a Job asks this, so the story is read
 * last. */
static bool runs_later_attempt(struct gate *g, const struct gate_job *j, int32_t attempt)
{
	struct story_run run;
	return j->seen.story_attempt > attempt && told_run(g, j, &run) && run.attempt > attempt;
}

bool adoption_is_overtaken(struct gate *g, const struct ledger_reservation *r)
{
	const struct gate_job *j = gate_find_job(g, &r->uid);
	return j && runs_later_attempt(g, j, r->attempt);
}

void adoption_close_overtaken(struct gate *g, const struct ledger_reservation *r)
{
	struct ledger_op op = {.kind = r->state == LEDGER_PENDING ? LEDGER_VOID : LEDGER_RELEASE,
		.uid = r->uid,
		.attempt = r->attempt,
		.at_ms = g->now_ms,
		.estimated = true,
		.reason = REASON_OVERTAKEN,
		.actor = g->identity};
	gate_add_operation(g, &op);
}

bool adoption_finds(struct gate *g, const struct gate_job *j, struct ledger_reservation *ret)
{
	struct story_run *run = &g->adoption.run;
	if (!told_run(g, j, run) || run->epoch > g->epoch || run->attempt <= j->attempt.number)
		return false; /* what was given back is not adopted again */
	*ret = (struct ledger_reservation){.uid = j->uid,
		.attempt = run->attempt,
		.state = LEDGER_POSTED,
		.reserved_ms = run->at_ms,
		.sizes = run->sizes,
		.started_ms = run->at_ms,
		.lines = run->lines,
		.nlines = run->nlines,
		.estimated = true};
	return true;
}

void adoption_found(struct gate *g, struct gate_job *j)
{
	j->adopted = true;
	gate_note(g, NOTE_ADOPT, j,
		"adopted: the ledger had lost the reservation of attempt %d; the run keeps what its annotation %s says, and its cost is estimated",
		j->attempt.number, STORY_ANNOTATION);
	g->adoption.adopted++;
}

static void pause_starts(struct gate *g)
{
	struct adoption *a = &g->adoption;
	a->pauses = true;
	a->until_ms = g->tick_ms + a->settle_ms;
	a->look_ms = a->until_ms;
	gate_pause_starts(g);
	gate_note(g, NOTE_LEADING, NULL,
		"the ledger %s: %zu running Jobs without a reservation were adopted; nothing new starts for %s, until what the last leader sent can no longer land",
		a->moved ? "is on another server, or was restored, since Jobs last started"
			 : "has lost reservations",
		a->adopted, span_exact(a->settle_ms).s);
}

void adoption_begin(struct gate *g)
{
	if (g->adoption.moved || g->adoption.adopted > 0)
		pause_starts(g);
}

static const struct quota_line *line_of(
	const struct quota_line *lines, size_t n, const struct quota_line *like)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(lines[i].node, like->node) == 0 &&
			strcmp(lines[i].flavor, like->flavor) == 0 &&
			strcmp(lines[i].resource, like->resource) == 0)
			return &lines[i];
	return NULL;
}

/* Tells whether the run holds more of something than the lines, and of nothing less. */
static bool holds_more(const struct story_run *run, const struct quota_line *lines, size_t n)
{
	bool more = run->nlines > n;
	for (size_t i = 0; i < n; i++) {
		const struct quota_line *told = line_of(run->lines, run->nlines, &lines[i]);
		if (!told || told->amount < lines[i].amount)
			return false;
		more = more || told->amount > lines[i].amount;
	}
	return more;
}

bool adoption_is_outgrown(struct gate *g, const struct gate_job *j, struct ledger_reservation *r)
{
	struct story_run *run = &g->adoption.run;
	if (j->seen.story_attempt != r->attempt || j->seen.story_sizes <= r->sizes ||
		!told_run(g, j, run) || run->epoch > g->epoch || run->sizes <= r->sizes)
		return false;
	r->sizes = run->sizes; /* also where it shrank since: no number is used twice */
	if (!holds_more(run, r->lines, r->nlines))
		return false;
	r->lines = run->lines;
	r->nlines = run->nlines;
	return true;
}

void adoption_raise(struct gate *g, struct gate_job *j, const struct ledger_reservation *r)
{
	struct ledger_op op = {.kind = LEDGER_GROW,
		.uid = j->uid,
		.attempt = r->attempt,
		.seq = r->sizes,
		.adopts = true,
		.at_ms = g->now_ms,
		.lines = g->taken.lines, /* the queue's strings: the reader's are of the moment */
		.nlines = queue_job_lines(g->queue, &j->uid, g->taken.lines),
		.reason = REASON_ADOPTED,
		.actor = g->identity};
	gate_add_operation(g, &op);
	j->adopted = true;
	g->adoption.adopted++;
	gate_note(g, NOTE_ADOPT, j,
		"adopted: the ledger did not know that attempt %d had grown; the run keeps what its annotation %s says",
		r->attempt, STORY_ANNOTATION);
}

static bool has_outgrown(struct gate *g, const struct gate_job *j)
{
	struct ledger_reservation r = {.attempt = j->attempt.number,
		.sizes = j->attempt.sizes,
		.lines = g->taken.lines,
		.nlines = queue_job_lines(g->queue, &j->uid, g->taken.lines)};
	return adoption_is_outgrown(g, j, &r);
}

bool adoption_story_covers(struct gate *g, const struct gate_job *j)
{
	struct story_run *run = &g->adoption.run;
	size_t n = queue_job_lines(g->queue, &j->uid, g->taken.lines);
	if (!told_run(g, j, run) || run->attempt != j->attempt.number ||
		run->state != STORY_STARTED)
		return false;
	if (run->pods > 0 ? run->pods != j->seen.parallelism : run->sizes == 0)
		return false; /* the number is its owner's */
	for (size_t i = 0; i < n; i++) {
		const struct quota_line *held = &g->taken.lines[i];
		const struct quota_line *told = line_of(run->lines, run->nlines, held);
		if (!told || quantity_times(told->amount, j->attempt.pods) <
				     quantity_times(held->amount, j->seen.pods))
			return false;
	}
	return n > 0;
}

/* The pause is for a ledger that has lost something: a tenant that resumes its Job under an old
 * story does not make one. */
void adoption_was_in_vain(struct gate *g, struct gate_job *j)
{
	struct adoption *a = &g->adoption;
	if (!j->adopted)
		return;
	j->adopted = false;
	a->adopted--;
	if (a->pauses && a->adopted == 0 && !a->moved)
		a->look_ms = g->tick_ms;
}

bool adoption_is_of_later_leader(struct gate *g, const struct gate_job *j)
{
	struct story_run run;
	return told_run(g, j, &run) && run.state == STORY_STARTED && run.epoch > g->epoch;
}

bool adoption_overtakes(struct gate *g, const struct gate_job *j)
{
	return g->adoption.pauses && job_has_reservation(j) &&
	       (runs_later_attempt(g, j, j->attempt.number) || has_outgrown(g, j));
}

/* Sorts the run that started last first. Stories tell whole seconds: within one, what was written
 * last. */
static int last_first(const void *a, const void *b)
{
	const struct gate_job *x = *(struct gate_job *const *)a, *y = *(struct gate_job *const *)b;
	if (x->attempt.started_ms != y->attempt.started_ms)
		return x->attempt.started_ms < y->attempt.started_ms ? 1 : -1;
	return (x->seen.version < y->seen.version) - (x->seen.version > y->seen.version);
}

/* Lists the adopted runs that go on, the last to start first; returns how many. */
static size_t adopted(const struct gate *g, struct gate_job ***ret)
{
	size_t n = 0;
	*ret = mem_array(g->counts.jobs + 1, sizeof(**ret));
	for (struct gate_job *j = g->first; j; j = j->next)
		if (j->adopted && j->phase == PHASE_RUNNING && !j->stop.wanted)
			(*ret)[n++] = j;
	if (n > 1)
		qsort(*ret, n, sizeof(**ret), last_first);
	return n;
}

static void make_room(struct gate *g)
{
	struct gate_job **all;
	size_t n = adopted(g, &all);
	for (size_t i = 0; i < n; i++) {
		if (!queue_job_beyond_quota(g->queue, &all[i]->uid))
			continue;
		stop_want(all[i]);
		stop_because_of(all[i], REASON_NOT_ADMITTED, g->identity, ADOPTION_NO_QUOTA);
		queue_leaving_job(g->queue, &all[i]->uid);
		gate_mark_dirty(g, all[i]);
	}
	free(all);
}

void adoption_tick(struct gate *g)
{
	struct adoption *a = &g->adoption;
	if (!a->pauses || g->tick_ms < a->look_ms)
		return;
	a->pauses = false;
	make_room(g);
	for (struct gate_job *j = g->first; j; j = j->next)
		j->adopted = false;
	gate_pause_starts(g);
	gate_note(g, NOTE_LEADING, NULL, "Jobs start again");
}

int64_t adoption_due_ms(const struct gate *g)
{
	return g->adoption.pauses ? g->adoption.look_ms : INT64_MAX;
}

bool gate_settling(const struct gate *g, int64_t *ret_left_ms)
{
	const struct adoption *a = &g->adoption;
	*ret_left_ms = a->until_ms > g->tick_ms ? a->until_ms - g->tick_ms : 0;
	return g->role == ROLE_LEADING && a->pauses;
}

void explain_adoption(const struct gate *g, struct explanation *x)
{
	const struct adoption *a = &g->adoption;
	if (!a->pauses || x->reason != WAIT_PENDING_EVALUATION)
		return;
	int64_t left_ms = a->until_ms > g->tick_ms ? a->until_ms - g->tick_ms : 0;
	snprintf(x->sentence, sizeof(x->sentence),
		"nothing starts for another %s: the database failed over or was restored, and starts from before may still arrive (docs/restore.md)",
		span_exact(left_ms).s);
}
