/*
 * The life of the gate: lease, takeover, the pass, and who gets which answer. What happens to one
 * Job is in phase.c.
 *
 * Jobs are kept in the order they were first seen, and everything that walks them walks that list,
 * so nothing that comes out depends on a hash or an address.
 */
#include "controller/gate/gate.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "controller/gate/record.h"

#define NOTES_MAX 4096	    /* nobody took them for a long time: the oldest go */
#define CLOCK_STEP_MS 1000  /* by so much it is set, not slewed */
#define LEASE_POLL_MS 1000  /* a standby asks at least this often */
#define LEDGER_RETRY_MS 200 /* after a lost answer; the driver has its own pauses */
#define LEDGER_RETRY_MAX_MS 2000

static bool has_uid(const void *value, const void *key)
{
	const struct gate_job *j = value;
	return uid_cmp(&j->uid, key) == 0;
}

static bool has_request(const void *value, const void *key)
{
	const struct gate_job *j = value;
	return j->request == *(const uint64_t *)key;
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
	g->lease_ms = o->lease_ms;
	g->drain_doubt_ms = o->drain_doubt_ms;
	g->random = o->seed | 1;
	g->note_after_ms = o->note_after_ms;
	g->manages = o->manages;
	g->ctx = o->ctx;
	g->bill_labels = o->bill_labels;
	g->decide_due_ms = INT64_MAX;
	map_init(&g->by_uid, has_uid);
	map_init(&g->by_request, has_request);
	outbox_init(&g->outbox);
	g->dirty_tail = &g->dirty;
	g->want_tail = &g->want;
	g->notes_tail = &g->notes;
	return g;
}

static void free_job(struct gate_job *j)
{
	free(j->ns);
	free(j->story);
	free(j->queue);
	free(j->family);
	free(j->labels);
	free(j->preemptor);
	free(j->preempting);
	free(j->sentence);
	free(j);
}

void gate_free(struct gate *g)
{
	if (!g)
		return;
	for (struct gate_job *j = g->first, *next; j; j = next) {
		next = j->next;
		free_job(j);
	}
	while (gate_take_note(g)) {
	}
	free(g->note_out);
	map_done(&g->by_uid);
	map_done(&g->by_request);
	due_done(&g->due);
	outbox_done(&g->outbox);
	free(g->identity);
	free(g);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

struct gate_job *gate_find_job(const struct gate *g, const struct uid *uid)
{
	return map_get(&g->by_uid, uid_hash(uid), uid);
}

static struct gate_job *add_job(
	struct gate *g, const struct uid *uid, const char *ns, const char *name)
{
	struct gate_job *j = mem_alloc(sizeof(*j));
	size_t ns_size = strlen(ns) + 1, name_size = strlen(name) + 1;
	j->uid = *uid;
	j->ns = mem_alloc(ns_size + name_size);
	j->name = j->ns + ns_size;
	memcpy(j->ns, ns, ns_size);
	memcpy(j->name, name, name_size);
	j->clusterqueue = j->reason = j->actor = j->preemption = "";
	j->waits_ms = g->tick_ms;
	j->prev = g->last;
	if (g->last)
		g->last->next = j;
	else
		g->first = j;
	g->last = j;
	map_put(&g->by_uid, uid_hash(uid), j);
	g->counts.jobs++;
	g->counts.by_phase[PHASE_WAITING]++;
	return j;
}

void gate_forget_job(struct gate *g, struct gate_job *j)
{
	must(j->request == 0 && !j->dirty && !j->wanting && !j->has_hold);
	if (g->notice_at == j)
		g->notice_at = j->next;
	due_clear(&g->due, &j->alarm);
	map_take(&g->by_uid, uid_hash(&j->uid), &j->uid);
	*(j->prev ? &j->prev->next : &g->first) = j->next;
	*(j->next ? &j->next->prev : &g->last) = j->prev;
	g->counts.jobs--;
	g->counts.by_phase[j->phase]--;
	free_job(j);
}

struct gate_job *gate_find_carrier(const struct gate *g, const struct gate_job *j)
{
	struct gate_job *owner = j->has_owner ? gate_find_job(g, &j->owner) : NULL;
	return owner && owner != j && owner->has_hold ? owner : NULL;
}

void gate_drop_carried(struct gate *g, struct gate_job *j)
{
	if (j->carries == 0)
		return; /* nearly always */
	j->carries = 0;
	for (struct gate_job *c = g->first; c; c = c->next)
		if (c->has_owner && uid_cmp(&c->owner, &j->uid) == 0)
			gate_mark_dirty(g, c);
}

void gate_mark_dirty(struct gate *g, struct gate_job *j)
{
	if (j->dirty)
		return;
	j->dirty = true;
	j->next_dirty = NULL;
	*g->dirty_tail = j;
	g->dirty_tail = &j->next_dirty;
}

/* True when the text became another one. */
static bool keep_text(char **kept, const char *text)
{
	if (text && *kept && strcmp(text, *kept) == 0)
		return false;
	if (!text && !*kept)
		return false;
	free(*kept);
	*kept = mem_strdup(text);
	return true;
}

/* Kueue's PodsReady (reference 9.6): of the run whose start the Job controller has seen. */
static bool pods_ready(const struct job *seen)
{
	struct job fresh = *seen;
	const struct job_status *s = &seen->status;
	fresh.status = (struct job_status){0};
	return (int64_t)s->succeeded + s->ready + s->uncounted >= job_pods(&fresh);
}

static bool manages(const struct gate *g, const struct job *seen)
{
	return g->manages ? g->manages(g->ctx, seen) : seen->queue[0] != '\0';
}

/* True when the story is another one. */
static bool take_facts(struct gate *g, struct gate_job *j, const struct job *seen)
{
	struct facts *f = &j->seen;
	f->generation = seen->generation;
	f->version = seen->version;
	f->suspend = seen->suspend;
	f->deleting = seen->deleting;
	f->finished = job_finished(seen);
	f->failed = seen->status.failed;
	f->managed = manages(g, seen);
	f->has_annotations = seen->has_annotations;
	f->quiet = job_quiet(seen);
	f->leaving = seen->status.has_start_time && !f->quiet;
	f->start_seen = !seen->suspend && !seen->status.suspended && seen->status.has_start_time;
	f->story_state = seen->story_state;
	f->story_attempt = seen->story_attempt;
	f->pods = job_pods(seen);
	f->present = seen->status.active + seen->status.terminating;
	if (!seen->suspend)
		f->active = seen->status.active;
	f->ready = f->start_seen && pods_ready(seen);
	f->parallelism = seen->parallelism;
	f->owner_parallelism = seen->owner_parallelism;
	f->owner_completions = seen->owner_completions;
	f->completions_follow = seen->completions_follow;
	f->created_ms = seen->created_ms;
	f->stopping_at_ms = seen->stopping_at_ms;
	f->finished_ms = seen->status.finished_ms;
	f->has_notice = seen->notice != NULL;
	f->notice = notice_kind(seen->notice);
	j->has_owner = seen->has_owner_job;
	j->owner = seen->owner_job;
	f->start_ms = seen->status.start_ms;
	f->history = seen->history;
	char *labels = g->bill_labels ? bill_labels_of(g->bill_labels, seen) : NULL;
	keep_text(&j->family, seen->family && seen->family[0] ? seen->family : NULL);
	keep_text(&j->labels, labels);
	free(labels);
	bool retold = keep_text(&j->story, seen->story);
	if (keep_text(&j->queue, seen->queue) || retold)
		j->moved = true;
	return retold;
}

/* The queue knows what its own decisions left behind. What an earlier leader's did is in the story:
 * a standby follows that, and so does a leader whose Job somebody before it has stopped. */
static void recall(struct gate *g, const struct gate_job *j)
{
	bool ended = j->seen.story_state == STORY_STOPPED && j->seen.story_attempt == j->attempt;
	if (g->role != ROLE_LEADING || (j->has_hold && ended))
		queue_recall_history(g->queue, &j->uid, &j->seen.history);
}

static void tell_queue(struct gate *g, const struct gate_job *j, const struct job *seen)
{
	if (!j->has_hold && (j->seen.finished || j->seen.deleting || !j->seen.managed))
		queue_drop_job(g->queue, &j->uid);
	else
		queue_set_job(g->queue, seen);
}

/* Takes in what is newer than what is known. */
static bool see(struct gate *g, struct gate_job *j, const struct job *seen)
{
	if (j->gone || seen->version < j->seen.version)
		return false; /* a uid that is gone never comes back */
	if (seen->version == j->seen.version && seen->version > 0 && !j->lost) {
		if (!g->retell)
			return false;
	}
	bool retold = take_facts(g, j, seen);
	tell_queue(g, j, seen);
	if (retold)
		recall(g, j);
	gate_mark_dirty(g, j);
	return true;
}

/* The same of an answer. A late one may tell of a Job that was deleted since; only a GET that was
 * asked after the watch lost it shows that it is there. */
static void see_answer(struct gate *g, struct gate_job *j, const struct job *seen)
{
	see(g, j, seen);
	if (j->asked == INTENT_READ && j->asked_lost)
		j->lost = !j->seen.managed;
}

static void lose(struct gate *g, struct gate_job *j)
{
	j->lost = true;
	j->look_ms = j->retry_ms = 0; /* a pause was for another state of things */
	gate_mark_dirty(g, j);
}

void gate_see_job(struct gate *g, const struct job *seen)
{
	struct gate_job *j = gate_find_job(g, &seen->uid);
	if (!j) {
		/* Most of what a list holds: nothing to do for it. */
		if (job_finished(seen) || !manages(g, seen))
			return;
		j = add_job(g, &seen->uid, seen->ns, seen->name);
	}
	j->in_list = g->list;
	if (!see(g, j, seen))
		return;
	if (j->seen.managed)
		j->lost = false;
	else if (!j->lost)
		lose(g, j);
}

void gate_lose_job(struct gate *g, const struct uid *uid)
{
	struct gate_job *j = gate_find_job(g, uid);
	if (j)
		lose(g, j);
}

void gate_begin_list(struct gate *g)
{
	g->list++;
}

void gate_retell(struct gate *g)
{
	g->retell = true;
}

void gate_end_list(struct gate *g)
{
	g->retell = false;
	for (struct gate_job *j = g->first; j; j = j->next)
		if (j->in_list != g->list && !j->lost)
			lose(g, j);
}

void gate_set_synced(struct gate *g)
{
	g->synced = true;
}

/* ---- Chance, time, wishes -------------------------------------------------------------------- */

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
	if (j->alarm.place == 0 || at_ms < j->alarm.at_ms)
		due_set(&g->due, &j->alarm, at_ms);
}

void gate_back_off(struct gate *g, struct gate_job *j, int64_t first_ms, int64_t limit_ms)
{
	unsigned doublings = j->tries < 16 ? j->tries : 16;
	int64_t pause = first_ms << doublings;
	if (pause > limit_ms)
		pause = limit_ms;
	j->tries++;
	j->retry_ms = g->tick_ms + gate_spread(g, pause);
	gate_alarm(g, j, j->retry_ms);
}

void gate_want(struct gate *g, struct gate_job *j, enum intent_kind kind)
{
	must(j->request == 0);
	j->want = kind;
	if (j->wanting)
		return;
	j->wanting = true;
	j->next_want = NULL;
	*g->want_tail = j;
	g->want_tail = &j->next_want;
}

void gate_operate(struct gate *g, struct gate_job *j, enum ledger_kind kind, int64_t lost_ms)
{
	struct ledger_op op = {.kind = kind,
		.uid = j->uid,
		.attempt = j->attempt,
		.seq = kind == LEDGER_SHRINK ? j->held_pods : 0,
		.at_ms = g->now_ms,
		.reason = j->reason,
		.actor = j->actor,
		.lost_ms = lost_ms};
	if (kind == LEDGER_RESERVE || kind == LEDGER_SHRINK) {
		op.lines = g->lines;
		op.nlines = queue_job_lines(g->queue, &j->uid, g->lines);
	}
	if (kind == LEDGER_RESERVE) {
		op.ns = j->ns; /* lives until the verdict: a Job that reserves is not forgotten */
		op.name = j->name;
		op.clusterqueue = j->clusterqueue;
		op.localqueue = j->queue;
		op.owner = j->family ? j->family : j->name;
		op.labels = j->labels;
	}
	if (kind == LEDGER_RELEASE && g->bill.priced) {
		op.priced = true;
		op.plan = g->bill.plan;
		op.currency = g->bill.currency;
		op.price = g->bill.detail;
		op.cost = g->bill.cost;
	}
	outbox_add(&g->outbox, &op);
	g->counts.operations++;
}

/* ---- Notes ----------------------------------------------------------------------------------- */

const char *note_kind_name(enum note_kind k)
{
	switch (k) {
	case NOTE_LEADING:
		return "Leading";
	case NOTE_START:
		return "Start";
	case NOTE_WARN:
		return "Warn";
	case NOTE_STOP:
		return "Stop";
	case NOTE_FINISH:
		return "Finish";
	case NOTE_RELEASE:
		return "Release";
	case NOTE_CALL_OFF:
		return "CallOff";
	case NOTE_REFUSE:
		return "Refuse";
	case NOTE_OVERDUE:
		return "Overdue";
	case NOTE_WAIT:
		return "Wait";
	}
	return "";
}

static void drop_oldest_note(struct gate *g)
{
	struct note_item *item = g->notes;
	g->notes = item->next;
	if (!g->notes)
		g->notes_tail = &g->notes;
	g->nnotes--;
	free(g->note_out);
	g->note_out = item;
}

struct note *gate_note(
	struct gate *g, enum note_kind kind, const struct gate_job *j, const char *fmt, ...)
{
	const char *ns = j ? j->ns : "", *name = j ? j->name : "";
	const char *preempting = j && kind == NOTE_STOP && j->preempting ? j->preempting : "";
	size_t ns_size = strlen(ns) + 1, name_size = strlen(name) + 1;
	size_t preempting_size = strlen(preempting) + 1;
	struct note_item *item = mem_alloc(sizeof(*item) + ns_size + name_size + preempting_size);
	struct note *n = &item->note;
	memcpy(item->names, ns, ns_size);
	memcpy(item->names + ns_size, name, name_size);
	memcpy(item->names + ns_size + name_size, preempting, preempting_size);
	n->preempting = item->names + ns_size + name_size;
	n->kind = kind;
	n->at_ms = g->now_ms;
	n->uid = j ? j->uid : (struct uid){0};
	n->ns = item->names;
	n->name = item->names + ns_size;
	n->clusterqueue = j ? j->clusterqueue : "";
	n->attempt = j ? j->attempt : 0;
	n->reason = j && kind == NOTE_STOP ? j->reason : "";
	n->preemption = j && kind == NOTE_STOP ? j->preemption : "";
	n->on_hold = j && kind == NOTE_STOP && job_goes_on_hold(j);
	n->currency = "";
	n->waited_ms = j && g->now_ms > j->seen.created_ms ? g->now_ms - j->seen.created_ms : 0;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(n->text, sizeof(n->text), fmt, ap);
	va_end(ap);
	*g->notes_tail = item;
	g->notes_tail = &item->next;
	if (++g->nnotes > NOTES_MAX)
		drop_oldest_note(g);
	return n;
}

const struct note *gate_take_note(struct gate *g)
{
	if (!g->notes)
		return NULL;
	drop_oldest_note(g);
	return &g->note_out->note;
}

/* ---- Lease and takeover ---------------------------------------------------------------------- */

static void depose(struct gate *g, const char *why)
{
	if (g->role == ROLE_DEPOSED)
		return;
	g->role = ROLE_DEPOSED;
	gate_note(g, NOTE_LEADING, NULL, "epoch %" PRId64 " is over: %s", g->epoch, why);
}

void gate_confirm_lease(struct gate *g)
{
	g->lease_awaited = true;
	if (g->lease_request == 0)
		g->lease_due_ms = g->tick_ms;
}

static void lease_is_ours(struct gate *g)
{
	g->lease_confirmed = g->lease_asked;
	if (!g->lease_awaited)
		return;
	g->lease_awaited = false;
	for (struct gate_job *j = g->first; j; j = j->next)
		if (j->after_lease > 0)
			gate_mark_dirty(g, j);
}

void gate_answer_lease(
	struct gate *g, uint64_t id, enum ledger_outcome o, const struct ledger_lease *l)
{
	if (id != g->lease_request)
		return;
	g->lease_request = 0;
	if (o != LEDGER_DONE) {
		g->lease_due_ms = g->tick_ms + gate_spread(g, LEDGER_RETRY_MS);
	} else if (g->role != ROLE_STANDBY) {
		g->lease_due_ms = g->tick_ms + g->lease_ms / 3;
		if (!l->held || l->epoch != g->epoch)
			depose(g, "somebody else holds the lease");
		else
			lease_is_ours(g);
	} else if (l->held) {
		g->role = ROLE_LOADING;
		g->epoch = l->epoch;
		g->lease_due_ms = g->tick_ms + g->lease_ms / 3;
		gate_note(g, NOTE_LEADING, NULL, "took the lease, epoch %" PRId64, g->epoch);
	} else {
		int64_t third = g->lease_ms / 3;
		g->lease_due_ms =
			g->tick_ms + gate_spread(g, third < LEASE_POLL_MS ? third : LEASE_POLL_MS);
	}
}

static void adopt_hold(struct gate *g, const struct ledger_hold *h)
{
	struct gate_job *j = gate_find_job(g, &h->uid);
	if (!j) {
		j = add_job(g, &h->uid, h->ns, h->name);
		j->lost = true; /* deleted, or without its label */
	}
	if (!queue_adopt_job(g->queue, &h->uid, h->lines, h->nlines, h->reserved_ms)) {
		/* Nothing to start any more; what it holds counts all the same. */
		struct job ended = {.uid = h->uid,
			.ns = h->ns,
			.name = h->name,
			.deleting = true,
			.queue = "",
			.priority_class = "",
			.pod_priority_class = "",
			.suspend = true};
		queue_set_job(g->queue, &ended);
		must(queue_adopt_job(g->queue, &h->uid, h->lines, h->nlines, h->reserved_ms));
	}
	job_adopt(g, j, h);
	if (j->seen.story_state == STORY_STOPPED && j->seen.story_attempt == h->attempt)
		queue_recall_history(g->queue, &h->uid, &j->seen.history);
	gate_mark_dirty(g, j);
}

void gate_answer_load(struct gate *g, uint64_t id, enum ledger_outcome o,
	const struct ledger_hold *holds, size_t n)
{
	if (id != g->load_request)
		return;
	g->load_request = 0;
	if (o == LEDGER_FENCED) {
		depose(g, "somebody else holds the lease");
		return;
	}
	if (o == LEDGER_LOST) {
		g->load_due_ms = g->tick_ms + gate_spread(g, LEDGER_RETRY_MS);
		return;
	}
	for (size_t i = 0; i < n; i++)
		adopt_hold(g, &holds[i]);
	g->role = ROLE_LEADING;
	queue_retake_ceilings(g->queue);
	for (struct gate_job *j = g->first; j; j = j->next)
		gate_mark_dirty(g, j);
	gate_note(g, NOTE_LEADING, NULL,
		"leading with epoch %" PRId64 ": %zu open holds adopted, %zu Jobs known", g->epoch,
		n, g->counts.jobs);
}

/* ---- The ledger's verdicts ------------------------------------------------------------------- */

void gate_answer_batch(struct gate *g, uint64_t id, enum ledger_outcome o,
	const struct ledger_result *results, size_t n)
{
	if (id != g->batch_request)
		return;
	g->batch_request = 0;
	if (o == LEDGER_FENCED) {
		depose(g, "the ledger refused its writes");
		return;
	}
	if (o == LEDGER_LOST) {
		int64_t pause = LEDGER_RETRY_MS << (g->batch_tries < 8 ? g->batch_tries : 8);
		g->batch_tries++;
		g->batch_due_ms =
			g->tick_ms +
			gate_spread(g, pause < LEDGER_RETRY_MAX_MS ? pause : LEDGER_RETRY_MAX_MS);
		g->batch_wanted = true;
		return;
	}
	must(n == g->outbox.nops);
	g->batch_tries = 0;
	g->counts.batches++;
	for (size_t i = 0; i < g->outbox.nops; i++) {
		const struct ledger_op *op = &g->outbox.ops[i];
		if (op->kind != LEDGER_RESERVE)
			continue;
		struct gate_job *j = gate_find_job(g, &op->uid);
		must(j && j->phase == PHASE_RESERVING && j->attempt == op->attempt);
		job_reserved(g, j, &results[i]);
	}
	outbox_drop_batch(&g->outbox);
}

/* ---- The pass -------------------------------------------------------------------------------- */

static void run_alarms(struct gate *g)
{
	for (struct alarm *a; (a = due_take(&g->due, g->tick_ms));) {
		struct gate_job *j =
			(struct gate_job *)((char *)a - offsetof(struct gate_job, alarm));
		gate_mark_dirty(g, j);
	}
}

static void reconcile_dirty(struct gate *g)
{
	while (g->dirty) {
		struct gate_job *j = g->dirty;
		g->dirty = j->next_dirty;
		if (!g->dirty)
			g->dirty_tail = &g->dirty;
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
		outbox_add(&g->outbox, &op);
		g->counts.operations++;
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

/* Who cannot read the cluster does not take the lease from those who can. */
static bool may_ask_lease(const struct gate *g)
{
	return g->lease_request == 0 && (g->synced || g->role != ROLE_STANDBY);
}

static void ask_ledger(struct gate *g)
{
	if (may_ask_lease(g) && g->tick_ms >= g->lease_due_ms)
		g->lease_wanted = true;
	if (g->role == ROLE_LOADING && g->synced && g->load_request == 0 &&
		g->tick_ms >= g->load_due_ms)
		g->load_wanted = true;
	if (g->role == ROLE_LEADING && outbox_form_batch(&g->outbox)) {
		g->batch_wanted = true;
		g->batch_due_ms = 0;
	}
}

/* Alarms go by the other clock: who waits for a time of day is looked at when that has stepped. */
static void heed_clock(struct gate *g, int64_t now_ms, int64_t tick_ms)
{
	int64_t step_ms = (now_ms - g->now_ms) - (tick_ms - g->tick_ms);
	g->now_ms = now_ms;
	g->tick_ms = tick_ms;
	if (step_ms > -CLOCK_STEP_MS && step_ms < CLOCK_STEP_MS)
		return;
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
		reconcile_dirty(g);
		decide(g);
		reconcile_dirty(g);
		notice_tick(g);
	}
	ask_ledger(g);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

struct gate_wake gate_wake(const struct gate *g)
{
	struct gate_wake wake = {INT64_MAX, INT64_MAX};
	if (g->role == ROLE_DEPOSED)
		return wake;
	if (may_ask_lease(g))
		wake.tick_ms = least(wake.tick_ms, g->lease_due_ms);
	if (g->role == ROLE_LOADING && g->synced && g->load_request == 0)
		wake.tick_ms = least(wake.tick_ms, g->load_due_ms);
	if (g->role == ROLE_LEADING) {
		wake.now_ms = g->decide_due_ms;
		wake.tick_ms = least(wake.tick_ms, g->dirty ? g->tick_ms : due_next_ms(&g->due));
		if (g->batch_wanted)
			wake.tick_ms = least(wake.tick_ms, g->batch_due_ms);
		if (g->note_after_ms > 0 && g->counts.by_phase[PHASE_WAITING] > 0)
			wake.tick_ms = least(wake.tick_ms, g->notices_due_ms);
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
	if (g->lease_wanted) {
		g->lease_wanted = false;
		g->lease_request = make_intent(g, &g->intent, INTENT_LEASE);
		g->lease_asked++;
		if (g->role == ROLE_STANDBY)
			g->intent.epoch = 0;
		g->intent.lease_ms = g->lease_ms;
		return &g->intent;
	}
	if (g->load_wanted) {
		g->load_wanted = false;
		g->load_request = make_intent(g, &g->intent, INTENT_LOAD);
		return &g->intent;
	}
	if (g->batch_wanted && g->tick_ms >= g->batch_due_ms) {
		g->batch_wanted = false;
		g->batch_request = make_intent(g, &g->batch_intent, INTENT_BATCH);
		g->batch_intent.batch =
			(struct ledger_batch){g->epoch, g->outbox.ops, g->outbox.nops};
		return &g->batch_intent;
	}
	return NULL;
}

static struct gate_job *take_wanting(struct gate *g)
{
	struct gate_job *j = g->want;
	if (!j)
		return NULL;
	g->want = j->next_want;
	if (!g->want)
		g->want_tail = &g->want;
	j->wanting = false;
	return j;
}

static const struct intent *job_intent(struct gate *g)
{
	struct gate_job *j;
	while ((j = take_wanting(g)) && !job_still_wants(j))
		gate_mark_dirty(g, j);
	if (!j)
		return NULL;
	j->asked = j->want;
	j->asked_lost = j->lost;
	j->request = make_intent(g, &g->intent, j->want);
	map_put(&g->by_request, request_hash(j->request), j);
	struct intent *i = &g->intent;
	i->uid = j->uid;
	i->ns = j->ns;
	i->name = j->name;
	i->generation = j->seen.generation;
	i->queue = j->queue;
	i->story_before = j->story;
	i->has_annotations = j->seen.has_annotations;
	job_tell(g, j, i);
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
	j->request = 0;
	if (is_other_job(j, a))
		answer.outcome = JOB_GONE;
	if (answer.outcome == JOB_DONE && a->job)
		see_answer(g, j, a->job);
	job_answered(g, j, j->asked, &answer);
	gate_mark_dirty(g, j);
}

/* ---- What people and operators ask ----------------------------------------------------------- */

bool gate_deposed(const struct gate *g)
{
	return g->role == ROLE_DEPOSED;
}

bool gate_leading(const struct gate *g)
{
	return g->role == ROLE_LEADING;
}

int64_t gate_epoch(const struct gate *g)
{
	return g->epoch;
}

void gate_count(const struct gate *g, struct gate_counts *ret)
{
	*ret = g->counts;
	ret->queued_operations = g->outbox.waiting + g->outbox.nops;
}

static void explain_phase(const struct gate_job *j, struct explanation *x)
{
	switch (j->phase) {
	case PHASE_WAITING:
	case PHASE_RUNNING:
		break;
	case PHASE_RESERVING:
		snprintf(x->sentence, sizeof(x->sentence),
			"chosen to start: its quota is being reserved in the ledger");
		break;
	case PHASE_STARTING:
		snprintf(x->sentence, sizeof(x->sentence),
			"starting: quota is reserved, the API server is being told (try %u)",
			j->tries + 1);
		break;
	case PHASE_FENCING:
		snprintf(x->sentence, sizeof(x->sentence), "its start is being called off: %s",
			j->reason);
		break;
	case PHASE_STOPPING:
		snprintf(x->sentence, sizeof(x->sentence), "stopping: %s",
			j->message ? j->message : j->reason);
		break;
	case PHASE_DRAINING:
		snprintf(x->sentence, sizeof(x->sentence),
			"ended (%s); its quota is free once its last pod is gone",
			j->message ? j->message : j->reason);
		break;
	case PHASES:
		must_not_get_here();
	}
}

/* The queue does not know of it. */
static bool explain_carried(const struct gate *g, const struct gate_job *j, struct explanation *x)
{
	const struct gate_job *owner = gate_find_carrier(g, j);
	if (!owner || j->phase != PHASE_WAITING || j->seen.suspend)
		return false;
	*x = (struct explanation){.reason = WAIT_NOT,
		.localqueue = j->queue,
		.clusterqueue = owner->clusterqueue,
		.queued_ms = j->seen.created_ms};
	snprintf(x->sentence, sizeof(x->sentence),
		"runs on the quota of Job %s, which made it: it is not queued for itself",
		owner->name);
	return true;
}

static const struct gate_job *job_named(const struct gate *g, const char *ns, const char *name)
{
	const struct gate_job *found = NULL;
	for (const struct gate_job *j = g->first; j; j = j->next) /* a person asks: rare */
		if (strcmp(j->name, name) == 0 && strcmp(j->ns, ns) == 0 && (!found || !j->lost))
			found = j;
	return found;
}

const char *gate_story(const struct gate *g, const char *ns, const char *name)
{
	const struct gate_job *j = job_named(g, ns, name);
	return j ? j->story : NULL;
}

bool gate_bill(const struct gate *g, const char *ns, const char *name, int64_t now_ms,
	struct run_bill *ret)
{
	const struct gate_job *j = job_named(g, ns, name);
	return j && queue_job_bill(g->queue, &j->uid, now_ms, ret);
}

void gate_each_run(struct gate *g, int64_t now_ms,
	void (*each)(const struct gate_run *run, void *ctx), void *ctx)
{
	for (struct gate_job *j = g->first; j && g->role == ROLE_LEADING; j = j->next) {
		if (!j->committed)
			continue;
		struct gate_run run = {.ns = j->ns,
			.name = j->name,
			.clusterqueue = j->clusterqueue,
			.localqueue = j->queue ? j->queue : "",
			.owner = j->family ? j->family : j->name,
			.labels = j->labels,
			.started_ms = j->started_ms,
			.ran_ms = now_ms > j->started_ms ? now_ms - j->started_ms : 0};
		if (j->phase == PHASE_DRAINING)
			run.lost_ms = job_loses_ms(j, j->stopped_ms);
		queue_job_bill(g->queue, &j->uid, now_ms, &run.bill);
		each(&run, ctx);
	}
}

bool gate_explain(const struct gate *g, const char *ns, const char *name, int64_t now_ms,
	struct explanation *ret)
{
	const struct gate_job *found = job_named(g, ns, name);
	if (found && explain_carried(g, found, ret))
		return true;
	if (!found || !queue_explain(g->queue, &found->uid, now_ms, ret))
		return false;
	explain_phase(found, ret);
	return true;
}
