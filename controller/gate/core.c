/* The services of the gate: chance and time, requests, operations for the ledger, the lease. */
#include "controller/gate/core.h"

#include <inttypes.h>

#include "base/backoff.h"
#include "base/must.h"
#include "controller/gate/reasons.h"
#include "controller/gate/record.h"
#include "controller/gate/run_priority.h"

#define REFUSED_TRIES 6 /* then a refusal is not a race that we lost, but a no */
#define BUSY_STARTS 8
#define DIRECTIVES_MAX (1 << 20) /* bytes of a text; a PATCH takes no more either */

/* ---- Chance and time ------------------------------------------------------------------------- */

int64_t gate_spread(struct gate *g, int64_t ms)
{
	/* xorshift64: pauses need no better */
	g->random ^= g->random << 13;
	g->random ^= g->random >> 7;
	g->random ^= g->random << 17;
	return ms + (int64_t)(g->random % (uint64_t)(ms / 4 + 1));
}

void gate_alarm(struct gate *g, struct gate_job *j, int64_t at_ms)
{
	if (j->request.alarm.place == 0 || at_ms < j->request.alarm.at_ms)
		due_set(&g->due, &j->request.alarm, at_ms);
}

void gate_back_off(struct gate *g, struct gate_job *j, int64_t first_ms, int64_t limit_ms)
{
	int64_t pause_ms = backoff_ms(first_ms, j->request.tries++, limit_ms);
	j->request.retry_ms = g->tick_ms + gate_spread(g, pause_ms);
	gate_alarm(g, j, j->request.retry_ms);
}

bool gate_is_busy(const struct gate *g)
{
	return g->counts.by_phase[PHASE_RESERVING] + g->counts.by_phase[PHASE_STARTING] >
	       BUSY_STARTS;
}

void gate_mark_dirty(struct gate *g, struct gate_job *j)
{
	if (j->dirty)
		return;
	j->dirty = true;
	j->next_dirty = NULL;
	*g->dirty.tail = j;
	g->dirty.tail = &j->next_dirty;
}

/* ---- What is asked of the API server --------------------------------------------------------- */

bool job_busy(const struct gate_job *j)
{
	return j->request.id != 0 || j->request.wanting;
}

enum intent_kind job_busy_with(const struct gate_job *j)
{
	return j->request.wanting ? j->request.want : j->request.asked;
}

bool job_waits(const struct gate *g, const struct gate_job *j)
{
	(void)g;
	return j->phase == PHASE_WAITING && !j->lost && j->seen.suspend;
}

bool job_goes_on(const struct gate *g, const struct gate_job *j)
{
	(void)g;
	return j->phase == PHASE_RUNNING && !j->stop.wanted && !j->lost && !j->seen.suspend;
}

void job_pause(struct gate *g, struct gate_job *j, int64_t at_ms)
{
	j->request.retry_ms = at_ms;
	gate_alarm(g, j, at_ms);
}

void job_rest(struct gate *g, struct gate_job *j, int64_t ms)
{
	job_pause(g, j, g->tick_ms + gate_spread(g, ms));
}

int32_t job_pods_in_sight(const struct gate_job *j)
{
	return j->seen.pods > j->seen.present ? j->seen.pods : j->seen.present;
}

void gate_want(struct gate *g, struct gate_job *j, enum intent_kind kind)
{
	must(j->request.id == 0);
	j->request.want = kind;
	j->request.want_in = j->phase;
	if (j->request.wanting)
		return;
	j->request.wanting = true;
	j->request.next_want = NULL;
	*g->want.tail = j;
	g->want.tail = &j->request.next_want;
}

/* After a refusal or a doubt what we know may be old, so a GET goes first; where a successor may
 * lead, the lease does. */
void job_request(struct gate *g, struct gate_job *j, enum intent_kind kind)
{
	if (job_busy(j))
		return;
	if (j->need_read)
		kind = INTENT_READ;
	if (g->tick_ms < j->request.retry_ms)
		gate_alarm(g, j, j->request.retry_ms);
	else if (gate_doubts_lease(g, j, kind))
		gate_confirm_lease(g);
	else
		gate_want(g, j, kind);
}

void request_begin_tries(struct gate_job *j)
{
	j->request.tries = j->request.refused = 0;
}

bool request_count_refused(struct gate_job *j)
{
	return j->request.refused++ >= REFUSED_TRIES;
}

void directives_text_init(struct directives_text *t)
{
	buf_init(&t->node_selector, DIRECTIVES_MAX);
	buf_init(&t->tolerations, DIRECTIVES_MAX);
	buf_init(&t->node_affinity, DIRECTIVES_MAX);
}

void directives_text_done(struct directives_text *t)
{
	buf_done(&t->node_selector);
	buf_done(&t->tolerations);
	buf_done(&t->node_affinity);
}

/* ---- Operations for the ledger, and what the queue is told of adoptions ----------------------- */

/* Tells how the Job ended. Where it is gone, and something of it was missed, nobody knows. */
static enum ledger_job_outcome outcome_of(const struct gate_job *j)
{
	if (j->seen.finished)
		return j->seen.failed || j->seen.cut_short ? LEDGER_JOB_FAILED
							   : LEDGER_JOB_SUCCEEDED;
	return j->gone && j->told_end ? LEDGER_JOB_DELETED : LEDGER_JOB_GOES_ON;
}

/* Puts in what RESERVE and ADOPT say of the Job. */
static void put_job(const struct gate_job *j, struct ledger_op *op)
{
	op->ns = j->ns;
	op->name = j->name;
	op->clusterqueue = j->attempt.clusterqueue;
	op->localqueue = j->queue;
	op->owner = j->family ? j->family : j->name;
	op->labels = j->labels;
	op->submitted_by = j->submitted_by;
	op->created_ms = j->seen.created_ms;
	op->queued_ms = j->seen.queued_ms > j->seen.created_ms ? j->seen.queued_ms : 0;
}

/* Puts in what RELEASE says of the run. */
static void put_end(const struct gate *g, const struct gate_job *j, struct ledger_op *op)
{
	op->outcome = outcome_of(j);
	op->estimated = g->adoption.pauses;
	if (!g->bill.priced)
		return;
	op->priced = true;
	op->plan = g->bill.plan;
	op->currency = g->bill.currency;
	op->price = g->bill.detail;
	op->cost = g->bill.cost;
}

void gate_add_operation(struct gate *g, const struct ledger_op *op)
{
	outbox_add(&g->outbox, op);
	g->counts.operations++;
}

static void operate(
	struct gate *g, struct gate_job *j, enum ledger_kind kind, int64_t at_ms, int64_t lost_ms)
{
	struct ledger_op op = {.kind = kind,
		.uid = j->uid,
		.attempt = j->attempt.number,
		.at_ms = at_ms,
		.reason = j->stop.reason,
		.actor = j->stop.actor,
		.lost_ms = lost_ms,
		.preemptor = j->stop.preemptor};
	if (ledger_reserves(kind) || ledger_changes_size(kind)) {
		op.lines = g->taken.lines;
		op.nlines = queue_job_lines(g->queue, &j->uid, g->taken.lines);
	}
	if (ledger_changes_size(kind))
		op.seq = j->attempt.sizes;
	if (kind == LEDGER_ADOPT) {
		op.reason = REASON_ADOPTED;
		op.actor = g->identity;
	}
	if (ledger_reserves(kind))
		put_job(j, &op);
	if (kind == LEDGER_RELEASE)
		put_end(g, j, &op);
	gate_add_operation(g, &op);
}

void gate_operate(struct gate *g, struct gate_job *j, enum ledger_kind kind, int64_t lost_ms)
{
	operate(g, j, kind, g->now_ms, lost_ms);
}

void gate_operate_at(struct gate *g, struct gate_job *j, enum ledger_kind kind, int64_t at_ms)
{
	operate(g, j, kind, at_ms, 0);
}

/* Has the queue count what a Job holds, and decide nothing about it: it is over, or as seen is
 * older than its reservation, and will be read. */
static void adopt_unread(
	struct gate *g, const struct gate_job *j, const struct ledger_reservation *r)
{
	struct job unread = {.uid = j->uid,
		.ns = j->ns,
		.name = j->name,
		.deleting = true,
		.queue = r->localqueue ? r->localqueue : "",
		.priority_class = "",
		.pod_priority_class = "",
		.family = j->family ? j->family : "",
		.submitted_by = r->submitted_by ? r->submitted_by : j->submitted_by,
		.suspend = true,
		.admission.history = j->seen.history};
	queue_adopt_unread(g->queue, &unread, r->lines, r->nlines, r->reserved_ms);
}

void gate_adopt_in_queue(struct gate *g, struct gate_job *j, const struct ledger_reservation *r)
{
	bool behind = j->seen.story_attempt < r->attempt;
	j->retell |= behind;
	if (behind || !queue_adopt_job(g->queue, &j->uid, r->lines, r->nlines, r->reserved_ms))
		adopt_unread(g, j, r);
	else
		run_priority_recall(g, j, r->attempt);
}

/* ---- Lease ----------------------------------------------------------------------------------- */

void gate_depose(struct gate *g, const char *why)
{
	if (g->role == ROLE_DEPOSED)
		return;
	g->role = ROLE_DEPOSED;
	gate_note(g, NOTE_LEADING, NULL, "epoch %" PRId64 " is over: %s", g->epoch, why);
}

bool gate_starts_pause(const struct gate *g)
{
	return g->mass_stop.stage != MASS_STOP_NONE || g->adoption.pauses;
}

void gate_pause_starts(struct gate *g)
{
	queue_pause_starts(g->queue, gate_starts_pause(g));
}

void gate_confirm_before(const struct gate *g, struct gate_job *j)
{
	j->after_lease = g->lease.asked + 1;
}

void gate_confirm_lease(struct gate *g)
{
	g->lease.awaited = true;
	if (g->lease.request == 0)
		g->lease.due_ms = g->tick_ms;
}

bool gate_lease_ran_out(const struct gate *g)
{
	return g->tick_ms >= g->lease.until_ms;
}

/* A successor may lead by now, and may have fenced off the start, or the growth. Where etcd went
 * back since, the Job does not tell of that any more: so both need the lease itself. */
bool gate_doubts_lease(const struct gate *g, const struct gate_job *j, enum intent_kind kind)
{
	if (intent_is(kind, NEEDS_LEASE_NOW) && gate_lease_ran_out(g))
		return true;
	return j->after_lease > g->lease.confirmed && !intent_is(kind, NEEDS_NO_LEASE);
}
