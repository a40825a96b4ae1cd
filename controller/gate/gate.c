/*
 * The life of the gate: lease, takeover, the pass, and where answers go. observe.c takes in what is
 * seen of Jobs, phase.c has what happens to one of them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/order.h"
#include "controller/gate/adoption.h"
#include "controller/gate/core.h"
#include "controller/gate/due.h"
#include "controller/gate/gate.h"
#include "controller/gate/growth.h"
#include "controller/gate/job_table.h"
#include "controller/gate/mass_stop.h"
#include "controller/gate/note.h"
#include "controller/gate/observe.h"
#include "controller/gate/outbox.h"
#include "controller/gate/phase.h"
#include "controller/gate/record.h"
#include "controller/gate/rejection.h"
#include "controller/gate/requests.h"
#include "controller/gate/run_priority.h"
#include "controller/gate/stuck.h"
#include "controller/gate/trouble.h"
#include "controller/gate/waiting_note.h"

#define CLOCK_STEP_MS 1000  /* by so much it is set, not slewed */
#define LEASE_POLL_MS 200   /* a standby asks this often: so soon it sees that the leader died */
#define LEDGER_RETRY_MS 200 /* after a lost answer; the driver has its own pauses */
#define LEDGER_RETRY_MAX_MS 2000

static bool has_request(const void *value, const void *key)
{
	const struct gate_job *j = value;
	return j->request.id == *(const uint64_t *)key;
}

static uint64_t request_hash(uint64_t id)
{
	return id * 0x9E3779B97F4A7C15u >> 20;
}

struct gate *gate_new(const struct gate_options *o, struct queue *q)
{
	struct gate *g = mem_alloc(sizeof(*g));
	g->queue = q;
	g->identity = mem_strdup(o->identity);
	g->lease.ms = o->lease_ms;
	g->drain_doubt_ms = o->drain_doubt_ms;
	g->random = o->seed | 1;
	g->name_key = (struct siphash_key){{o->seed, ~o->seed}};
	g->notices.after_ms = o->note_after_ms;
	g->stuck.after_ms = o->stuck_after_ms;
	g->mass_stop.after_ms = o->mass_stop_after_ms;
	g->adoption.settle_ms = o->settle_ms;
	g->story_reader = story_reader_new();
	g->stuck.due_ms = INT64_MAX;
	g->troubles = troubles_new();
	g->rejections = rejections_new();
	g->manages = o->manages;
	g->came = o->came;
	g->ended_well = o->ended_well;
	g->likely_start = o->likely_start;
	g->ctx = o->ctx;
	g->bill_labels = o->bill_labels;
	g->decide_due_ms = INT64_MAX;
	label_sets_init(&g->label_sets, g->name_key);
	job_table_init(g);
	provisions_init(&g->provisions);
	map_init(&g->by_request, has_request);
	outbox_init(&g->outbox);
	directives_text_init(&g->taken.own_directives);
	directives_text_init(&g->taken.run_directives);
	buf_init(&g->outcome_notes.text, OUTCOME_RECORD_MAX);
	g->dirty.tail = &g->dirty.first;
	g->want.tail = &g->want.first;
	g->notes.tail = &g->notes.first;
	return g;
}

void gate_free(struct gate *g)
{
	if (!g)
		return;
	for (struct gate_job *j = g->first, *next; j; j = next) {
		next = j->next;
		gate_free_job(g, j);
	}
	while (gate_take_note(g)) {
	}
	free(g->notes.out);
	label_sets_done(&g->label_sets);
	job_table_done(g);
	map_done(&g->by_request);
	due_done(&g->due);
	outbox_done(&g->outbox);
	directives_text_done(&g->taken.own_directives);
	directives_text_done(&g->taken.run_directives);
	buf_done(&g->outcome_notes.text);
	arena_done(&g->taken.edit);
	provisions_done(&g->provisions);
	troubles_free(g->troubles);
	rejections_free(g->rejections);
	story_reader_free(g->story_reader);
	free(g->identity);
	free(g);
}

/* ---- Lease and takeover ---------------------------------------------------------------------- */

static void lease_is_ours(struct gate *g)
{
	g->lease.confirmed = g->lease.asked;
	g->lease.until_ms = g->lease.sent_ms + g->lease.ms;
	if (!g->lease.awaited)
		return;
	g->lease.awaited = false;
	for (struct gate_job *j = g->first; j; j = j->next)
		if (j->after_lease > 0 || j->phase == PHASE_STARTING || growth_tells(j))
			gate_mark_dirty(g, j);
}

void gate_answer_lease(
	struct gate *g, uint64_t id, enum ledger_outcome o, const struct ledger_lease *l)
{
	if (id != g->lease.request)
		return;
	g->lease.request = 0;
	if (o != LEDGER_DONE) {
		g->lease.due_ms = g->tick_ms + gate_spread(g, LEDGER_RETRY_MS);
	} else if (g->role != ROLE_STANDBY) {
		g->lease.due_ms = g->tick_ms + g->lease.ms / 3;
		if (!l->held || l->epoch != g->epoch)
			gate_depose(g, "another controller holds the lease");
		else
			lease_is_ours(g);
	} else if (l->held) {
		g->role = ROLE_LOADING;
		g->epoch = l->epoch;
		g->story_key = (struct siphash_key){{l->story_key[0], l->story_key[1]}};
		g->adoption.moved = l->moved;
		g->lease.until_ms = g->lease.sent_ms + g->lease.ms;
		g->lease.due_ms = g->tick_ms + g->lease.ms / 3;
		gate_note(g, NOTE_LEADING, NULL, "took the lease, epoch %" PRId64, g->epoch);
	} else {
		int64_t third = g->lease.ms / 3;
		g->lease.due_ms =
			g->tick_ms + gate_spread(g, third < LEASE_POLL_MS ? third : LEASE_POLL_MS);
	}
}

static void adopt_reservation(struct gate *g, const struct ledger_reservation *h)
{
	if (adoption_is_overtaken(g, h)) {
		adoption_close_overtaken(g, h);
		return;
	}
	struct gate_job *j = gate_find_job(g, &h->uid);
	if (!j) {
		j = gate_add_job(g, &h->uid, h->ns, h->name);
		j->lost = true; /* deleted, deferred, or without its label */
		if (h->owner && h->owner[0] && strcmp(h->owner, h->name) != 0)
			j->family = mem_strdup(h->owner);
		j->submitted_by = mem_strdup(h->submitted_by);
	}
	struct ledger_reservation r = *h;
	bool outgrown = adoption_is_outgrown(g, j, &r);
	gate_adopt_in_queue(g, j, &r);
	if (outgrown)
		adoption_raise(g, j, &r);
	job_adopt(g, j, &r);
	if (j->seen.story_state == STORY_STOPPED && j->seen.story_attempt == h->attempt)
		queue_recall_history(g->queue, &h->uid, &j->seen.history);
	gate_mark_dirty(g, j);
}

void gate_answer_load(struct gate *g, uint64_t id, enum ledger_outcome o,
	const struct ledger_reservation *holds, size_t n)
{
	if (id != g->load.request)
		return;
	g->load.request = 0;
	if (o == LEDGER_FENCED) {
		gate_depose(g, "another controller holds the lease");
		return;
	}
	if (o == LEDGER_LOST) {
		g->load.due_ms = g->tick_ms + gate_spread(g, LEDGER_RETRY_MS);
		return;
	}
	for (size_t i = 0; i < n; i++)
		adopt_reservation(g, &holds[i]);
	g->role = ROLE_LEADING;
	queue_retake_ceilings(g->queue);
	for (struct gate_job *j = g->first; j; j = j->next)
		gate_mark_dirty(g, j);
	gate_note(g, NOTE_LEADING, NULL,
		"leading with epoch %" PRId64 ": %zu open reservations adopted, %zu Jobs known",
		g->epoch, n, g->counts.jobs);
	for (struct gate_job *j = g->first; j; j = j->next)
		if (!job_has_reservation(j))
			job_adopt_by_story(g, j);
	adoption_begin(g);
	mass_stop_begin(g);
}

/* ---- The ledger's verdicts ------------------------------------------------------------------- */

void gate_answer_batch(struct gate *g, uint64_t id, enum ledger_outcome o,
	const struct ledger_result *results, size_t n)
{
	if (id != g->batch.request)
		return;
	g->batch.request = 0;
	if (o == LEDGER_FENCED) {
		gate_depose(g, "the ledger refused its writes");
		return;
	}
	if (o == LEDGER_LOST) {
		int64_t pause_ms =
			backoff_ms(LEDGER_RETRY_MS, g->batch.tries++, LEDGER_RETRY_MAX_MS);
		g->batch.due_ms = g->tick_ms + gate_spread(g, pause_ms);
		g->batch.wanted = true;
		return;
	}
	must(n == g->outbox.nops);
	g->batch.tries = 0;
	g->counts.batches++;
	for (size_t i = 0; i < g->outbox.nops; i++) {
		const struct ledger_op *op = &g->outbox.ops[i];
		bool asks = ledger_reserves(op->kind) || op->kind == LEDGER_GROW;
		struct gate_job *j = asks ? gate_find_job(g, &op->uid) : NULL;
		if (op->kind == LEDGER_GROW && j)
			job_grown(g, j, op, &results[i]);
		if (op->kind == LEDGER_ADOPT && j)
			job_adopted(g, j, op->attempt, &results[i]);
		if (op->kind != LEDGER_RESERVE)
			continue;
		must(j && j->phase == PHASE_RESERVING && j->attempt.number == op->attempt);
		job_reserved(g, j, &results[i]);
	}
	outbox_drop_batch(&g->outbox);
}

/* ---- The pass -------------------------------------------------------------------------------- */

static void run_alarms(struct gate *g)
{
	for (struct alarm *a; (a = due_take(&g->due, g->tick_ms));) {
		struct gate_job *j =
			(struct gate_job *)((char *)a - offsetof(struct gate_job, request.alarm));
		gate_mark_dirty(g, j);
	}
}

static void reconcile_dirty(struct gate *g)
{
	while (g->dirty.first) {
		struct gate_job *j = g->dirty.first;
		g->dirty.first = j->next_dirty;
		if (!g->dirty.first)
			g->dirty.tail = &g->dirty.first;
		j->dirty = false;
		job_reconcile(g, j);
	}
}

static void write_ceilings(struct gate *g)
{
	struct ceiling c;
	while (queue_take_ceiling(g->queue, &c)) {
		struct quota_line line = {c.node, c.flavor, c.resource, c.amount};
		struct ledger_op op = {.kind = LEDGER_CEILING,
			.at_ms = g->now_ms,
			.reason = "",
			.actor = g->identity,
			.lines = &line,
			.nlines = 1,
			.parent = c.parent,
			.guaranteed = c.guaranteed};
		gate_add_operation(g, &op);
	}
}

static void decide(struct gate *g)
{
	struct decision decisions[64];
	size_t n;
	do {
		n = queue_decide(g->queue, g->now_ms, decisions,
			sizeof(decisions) / sizeof(decisions[0]), &g->decide_due_ms);
		for (size_t i = 0; i < n; i++) {
			struct gate_job *j = gate_find_job(g, &decisions[i].uid);
			must(j);
			job_decided(g, j, &decisions[i]);
		}
	} while (n > 0);
}

/* A standby that cannot read the cluster does not take the lease from one that can. */
static bool may_ask_lease(const struct gate *g)
{
	bool reads = g->synced && !g->blind;
	return g->lease.request == 0 && (reads || g->role != ROLE_STANDBY);
}

static void ask_ledger(struct gate *g)
{
	if (may_ask_lease(g) && g->tick_ms >= g->lease.due_ms)
		g->lease.wanted = true;
	if (g->role == ROLE_LOADING && g->synced && g->load.request == 0 &&
		g->tick_ms >= g->load.due_ms)
		g->load.wanted = true;
	if (g->role == ROLE_LEADING && outbox_form_batch(&g->outbox)) {
		g->batch.wanted = true;
		g->batch.due_ms = 0;
	}
}

/* Takes the time. Alarms go by tick_ms: so when the wall clock has stepped, Jobs that wait for a
 * time of day are looked at. */
static void heed_clock(struct gate *g, int64_t now_ms, int64_t tick_ms)
{
	int64_t step_ms = (now_ms - g->now_ms) - (tick_ms - g->tick_ms);
	bool is_first = g->now_ms == 0;
	g->now_ms = now_ms;
	g->tick_ms = tick_ms;
	if (is_first || (step_ms > -CLOCK_STEP_MS && step_ms < CLOCK_STEP_MS))
		return;
	queue_clock_stepped(g->queue, step_ms);
	for (struct gate_job *j = g->first; j; j = j->next)
		if (j->seen.stopping_at_ms > 0)
			gate_mark_dirty(g, j);
}

void gate_step(struct gate *g, int64_t now_ms, int64_t tick_ms)
{
	heed_clock(g, now_ms, tick_ms);
	if (g->role == ROLE_DEPOSED)
		return;
	run_alarms(g);
	if (g->role == ROLE_LEADING) {
		write_ceilings(g);
		mass_stop_tick(g);
		reconcile_dirty(g);
		adoption_tick(g); /* what was seen by now is adopted */
		decide(g);
		gate_fetch_deferred(g); /* Jobs that went or start have made places */
		reconcile_dirty(g);
		notice_tick(g);
		outcome_note_tick(g);
		stuck_tick(g);
	}
	ask_ledger(g);
}

struct gate_wake gate_wake(const struct gate *g)
{
	struct gate_wake wake = {INT64_MAX, INT64_MAX};
	if (g->role == ROLE_DEPOSED)
		return wake;
	if (may_ask_lease(g))
		wake.tick_ms = least(wake.tick_ms, g->lease.due_ms);
	if (g->role == ROLE_LOADING && g->synced && g->load.request == 0)
		wake.tick_ms = least(wake.tick_ms, g->load.due_ms);
	if (g->role == ROLE_LEADING) {
		wake.now_ms = g->decide_due_ms;
		wake.tick_ms =
			least(wake.tick_ms, g->dirty.first ? g->tick_ms : due_next_ms(&g->due));
		wake.tick_ms = least(wake.tick_ms, g->stuck.due_ms);
		wake.tick_ms = least(wake.tick_ms, mass_stop_due_ms(g));
		wake.tick_ms = least(wake.tick_ms, adoption_due_ms(g));
		if (g->batch.wanted)
			wake.tick_ms = least(wake.tick_ms, g->batch.due_ms);
		if (g->notices.after_ms > 0 && g->counts.by_phase[PHASE_WAITING] > 0)
			wake.tick_ms = least(wake.tick_ms, g->notices.due_ms);
		if (queue_has_unrecorded(g->queue))
			wake.tick_ms = least(wake.tick_ms, g->outcome_notes.due_ms);
	}
	return wake;
}

/* ---- Intents --------------------------------------------------------------------------------- */

static uint64_t make_intent(struct gate *g, struct intent *i, enum intent_kind kind)
{
	*i = (struct intent){.kind = kind, .id = ++g->next_id, .epoch = g->epoch};
	return i->id;
}

static const struct intent *ledger_intent(struct gate *g)
{
	if (g->lease.wanted) {
		g->lease.wanted = false;
		g->lease.request = make_intent(g, &g->taken.intent, INTENT_LEASE);
		g->lease.asked++;
		g->lease.sent_ms = g->tick_ms;
		if (g->role == ROLE_STANDBY) {
			g->taken.intent.epoch = 0;
			g->taken.intent.epoch_seen = g->epoch_seen;
		}
		g->taken.intent.lease_ms = g->lease.ms;
		g->taken.intent.settled = g->role == ROLE_LEADING && !g->adoption.pauses;
		return &g->taken.intent;
	}
	if (g->load.wanted) {
		g->load.wanted = false;
		g->load.request = make_intent(g, &g->taken.intent, INTENT_LOAD);
		return &g->taken.intent;
	}
	if (g->batch.wanted && g->tick_ms >= g->batch.due_ms) {
		g->batch.wanted = false;
		g->batch.request = make_intent(g, &g->batch.intent, INTENT_BATCH);
		g->batch.intent.batch =
			(struct ledger_batch){g->epoch, g->outbox.ops, g->outbox.nops};
		return &g->batch.intent;
	}
	return NULL;
}

static struct gate_job *take_wanting(struct gate *g)
{
	struct gate_job *j = g->want.first;
	if (!j)
		return NULL;
	g->want.first = j->request.next_want;
	if (!g->want.first)
		g->want.tail = &g->want.first;
	j->request.wanting = false;
	return j;
}

static const struct intent *job_intent(struct gate *g)
{
	struct gate_job *j;
	while ((j = take_wanting(g)) &&
		(!request_wanted(g, j) || gate_doubts_lease(g, j, j->request.want))) {
		if (j->request.want == INTENT_OUTCOMES)
			queue_return_unrecorded(g->queue, &j->uid);
		gate_mark_dirty(g, j);
	}
	if (!j)
		return NULL;
	j->request.asked = j->request.want;
	j->request.asked_in = j->request.want_in;
	j->request.asked_ms = g->tick_ms;
	j->request.asked_version = j->seen.version;
	j->request.asked_lost = j->lost;
	j->request.id = make_intent(g, &g->taken.intent, j->request.want);
	map_put(&g->by_request, request_hash(j->request.id), j);
	struct intent *i = &g->taken.intent;
	i->uid = j->uid;
	i->ns = j->ns;
	i->name = j->name;
	i->generation = j->seen.generation;
	i->queue = j->queue;
	i->story_before = j->story;
	i->has_annotations = j->seen.has_annotations;
	request_tell(g, j, i);
	return i;
}

const struct intent *gate_take_intent(struct gate *g)
{
	if (g->role == ROLE_DEPOSED)
		return NULL;
	const struct intent *i = ledger_intent(g);
	return i ? i : job_intent(g);
}

/* A Job of the same name but another uid is another Job: ours is gone. */
static bool is_other_job(const struct gate_job *j, const struct job_answer *a)
{
	return a->outcome == JOB_DONE && a->job && uid_cmp(&a->job->uid, &j->uid) != 0;
}

void gate_answer_job(struct gate *g, uint64_t id, const struct job_answer *a)
{
	struct gate_job *j = map_take(&g->by_request, request_hash(id), &id);
	if (!j)
		return;
	struct job_answer answer = *a;
	j->request.id = 0;
	if (is_other_job(j, a))
		answer.outcome = JOB_GONE;
	if (answer.outcome == JOB_DONE && a->job)
		gate_see_answer(g, j, a->job);
	job_answered(g, j, &answer);
	gate_mark_dirty(g, j);
}
