#include "test/sim/replica.h"

#include <stdio.h>
#include <string.h>

#include "test/sim/sim.h"
#include "test/unit/record/shadow.h"

#define SKEW_MAX_MS INT64_C(18000000) /* five hours */

/* ---- Calls into a process that may have died meanwhile ------------------------------------------
 */

struct call {
	struct call *next; /* in the inbox */
	struct replica *of;
	uint64_t life;
	void (*fn)(struct sim *s, struct replica *r, void *arg);
	void *arg;
};

static bool sleeps(const struct sim *s, const struct replica *r)
{
	return s->now_ms < r->paused_until_ms;
}

/* A pause is over: what came meanwhile happens now, in the order in which it came, unless the
 * process dies of it or falls asleep again. */
static void inbox_opens(struct sim *s, void *arg)
{
	struct call *first = arg;
	struct replica *r = first->of;
	uint64_t life = r->life;
	if (!r->up || life != first->life)
		return;
	while (r->up && r->life == life && r->inbox && !sleeps(s, r)) {
		struct call *c = r->inbox;
		r->inbox = c->next;
		c->fn(s, r, c->arg);
	}
	if (r->up && r->life == life && r->inbox)
		sim_at(s, r->paused_until_ms, inbox_opens, r->inbox);
}

static void call_runs(struct sim *s, void *arg)
{
	struct call *c = arg;
	struct replica *r = c->of;
	if (!r->up || c->life != r->life)
		return;
	if (!sleeps(s, r) && !r->inbox) {
		c->fn(s, r, c->arg);
		return;
	}
	if (!r->inbox) {
		r->inbox_tail = &r->inbox;
		sim_at(s, r->paused_until_ms, inbox_opens, c);
	}
	*r->inbox_tail = c;
	r->inbox_tail = &c->next;
}

void replica_at(struct sim *s, struct replica *r, int64_t at_ms,
	void (*fn)(struct sim *s, struct replica *r, void *arg), void *arg)
{
	struct call *c = sim_alloc(s, sizeof(*c));
	*c = (struct call){.of = r, .life = r->life, .fn = fn, .arg = arg};
	sim_at(s, at_ms, call_runs, c);
}

/* ---- The process --------------------------------------------------------------------------------
 */

void replica_init(struct sim *s, struct replica *r, size_t index)
{
	*r = (struct replica){.index = index};
	snprintf(r->identity, sizeof(r->identity), "sluice-%zu", index);
	r->lease_ms = rng_between(&s->rng, 6, 20) * 1000;
}

void replica_done(struct replica *r)
{
	gate_free(r->gate);
	queue_free(r->queue);
	shadow_free(r->shadow);
	r->shadow = NULL;
	r->gate = NULL;
	r->queue = NULL;
	r->up = false;
}

static void process_starts(struct sim *s, void *arg)
{
	struct replica *r = arg;
	if (r->up)
		return;
	struct replica fresh = {.index = r->index,
		.up = true,
		.life = r->life + 1,
		.began_ms = s->now_ms,
		.lease_ms = r->lease_ms,
		.skew_ms = r->skew_ms,
		.born = s->restore.store,
		.to_api = r->to_api,
		.to_ledger = r->to_ledger,
		.watch = r->watch + 1,
		.connection = r->connection + 1};
	memcpy(fresh.identity, r->identity, sizeof(fresh.identity));
	*r = fresh;
	r->queue = queue_new();
	r->shadow = s->o.replayed ? shadow_new(r->queue) : NULL;
	queue_configure(r->queue, &s->people.queue);
	queue_await_statuses(r->queue, s->o.bug != BUG_GIVEN_BACK_UNSAID);
	struct gate_options o = {.identity = r->identity,
		.lease_ms = r->lease_ms,
		.note_after_ms = NOTE_AFTER_MS,
		.stuck_after_ms = STUCK_AFTER_MS,
		.settle_ms = s->o.bug == BUG_STARTS_AT_ONCE ? 0 : SETTLE_MS,
		.drain_doubt_ms = s->o.bug == BUG_NO_DOUBT ? 0 : DRAIN_DOUBT_MS,
		.seed = rng_next(&s->rng),
		.manages = s->o.bug == BUG_CHILD_IGNORED ? tenant_is_no_child : NULL,
		.ctx = s};
	r->gate = gate_new(&o, r->queue);
	sim_log(s, "%s starts", r->identity);
	replica_begin_watches(s, r);
	replica_step_soon(s, r);
	if (!way_is_open(s, &r->to_api))
		partition_look(s, r);
}

static void process_dies(struct sim *s, struct replica *r, const char *why)
{
	if (!r->up)
		return;
	sim_log(s, "%s dies: %s", r->identity, why);
	replica_sever(s, r);
	replica_done(r);
	sim_after(s, s->calm ? 100 : rng_skewed(&s->rng, 10, 20000), process_starts, r);
}

#define LEAVE_GRACE_MS 5000 /* for writes under way: controller/controller.c */

static void has_left(struct sim *s, struct replica *r, void *arg)
{
	int64_t epoch = gate_epoch(r->gate);
	bool resigns = gate_leading(r->gate) && s->now_ms >= s->ledger_down_until_ms &&
		       way_is_open(s, &r->to_ledger) && failover_attaches(s, r, epoch);
	if (resigns)
		model_ledger_resign(s->ledger, epoch);
	process_dies(s, r, arg);
}

/* Writes under way are waited for no longer than that, and so may land after it. */
void replica_leave(struct sim *s, struct replica *r, const char *why)
{
	if (r->leaving)
		return;
	r->leaving = true;
	sim_log(s, "%s decides nothing more: %s", r->identity, why);
	replica_at(s, r, s->now_ms + rng_between(&s->rng, 1, LEAVE_GRACE_MS), has_left,
		(void *)(uintptr_t)why);
}

/* ---- The pass -----------------------------------------------------------------------------------
 */

static const char *intent_name(enum intent_kind k)
{
	static const char *const names[] = {"LEASE", "LOAD", "BATCH", "START", "STOP", "SHRINK",
		"GROW", "TELL", "OUTCOMES", "NOTICE", "WARN", "RETELL", "CLEAR", "DELETE",
		"PROVISION", "UNPROVISION", "READ", "PODS", "NAMESPACE"};
	return names[k];
}

static void log_intent(struct sim *s, const struct replica *r, const struct intent *i)
{
	if (i->kind == INTENT_LEASE || i->kind == INTENT_LOAD) {
		sim_log(s, "%s asks %s epoch %lld", r->identity, intent_name(i->kind),
			(long long)i->epoch);
		return;
	}
	if (i->kind != INTENT_READ && i->kind != INTENT_PODS && i->kind != INTENT_NOTICE &&
		i->kind != INTENT_OUTCOMES)
		sim_touch(s); /* looking again and again while pods are left is no movement */
	if (i->kind != INTENT_BATCH) {
		sim_log(s, "%s asks %s %s attempt %d generation %lld", r->identity,
			intent_name(i->kind), i->name, i->story.attempt, (long long)i->generation);
		return;
	}
	for (size_t k = 0; k < i->batch.nops; k++) {
		const struct ledger_op *op = &i->batch.ops[k];
		const struct model_job *j = model_api_by_uid(&s->api, &op->uid);
		sim_log(s, "%s asks BATCH %zu/%zu %s %s attempt %d %s", r->identity, k + 1,
			i->batch.nops, ledger_kind_name(op->kind), j ? j->now->job.name : "",
			op->attempt, op->reason ? op->reason : "");
	}
}

static void take_notes(struct sim *s, struct replica *r)
{
	const struct note *n;
	while ((n = gate_take_note(r->gate))) {
		sim_log(s, "%s note %s %s: %s", r->identity, note_kind_name(n->kind), n->name,
			n->text);
		if (n->preemption[0])
			sim_reach(s, PATH_PREEMPTED);
		if (n->preemption[0] && strcmp(n->preempting, n->clusterqueue))
			sim_reach(s, PATH_PREEMPTED_IN_COHORT);
		if (n->kind == NOTE_OVERDUE)
			sim_reach(s, PATH_OVERDUE);
	}
}

static void wakes(struct sim *s, struct replica *r, void *arg)
{
	const uint64_t *wake = arg;
	if (*wake == r->wake)
		replica_step_soon(s, r);
}

static void sleep_until_due(struct sim *s, struct replica *r)
{
	struct gate_wake due = gate_wake(r->gate);
	int64_t due_ms = due.tick_ms;
	uint64_t *wake = sim_alloc(s, sizeof(*wake));
	*wake = ++r->wake;
	if (due.now_ms != INT64_MAX && due.now_ms - r->skew_ms < due_ms)
		due_ms = due.now_ms - r->skew_ms;
	if (due_ms == INT64_MAX)
		return;
	replica_at(s, r, due_ms > s->now_ms ? due_ms : s->now_ms + 1, wakes, wake);
}

static void steps(struct sim *s, struct replica *r, void *arg)
{
	(void)arg;
	r->stepping = false;
	if (r->leaving)
		return;
	if (r->went_back || (gate_store_went_back(r->gate) && s->o.bug != BUG_OLDER_IGNORED)) {
		sim_reach(s, PATH_BEGAN_ANEW);
		replica_leave(s, r, "the API server went back");
		return;
	}
	gate_step(r->gate, s->now_ms + r->skew_ms, s->now_ms);
	const struct intent *i;
	while ((i = gate_take_intent(r->gate))) {
		log_intent(s, r, i);
		if (rng_odds(&s->rng, s->faults.crash_in_step)) {
			sim_reach(s, PATH_CRASH_IN_STEP);
			process_dies(s, r, "between an intent and its request");
			return;
		}
		if (i->kind == INTENT_LEASE || i->kind == INTENT_LOAD || i->kind == INTENT_BATCH)
			replica_send_ledger(s, r, i);
		else
			replica_send_api(s, r, i);
		if (growing_kills(s, i)) {
			process_dies(s, r, "with a growth under way");
			return;
		}
	}
	take_notes(s, r);
	if (r->shadow && *shadow_fault(r->shadow))
		sim_break(s, "P17", "%s: a replay gives another thing: %s", r->identity,
			shadow_fault(r->shadow));
	cluster_look(s, r);
	if (gate_deposed(r->gate)) {
		sim_reach(s, PATH_DEPOSED);
		process_dies(s, r, "deposed");
		return;
	}
	pipelines_ask(s, r);
	advance_write(s, r);
	advance_check_pass(s, r);
	restore_check_pass(s, r);
	sleep_until_due(s, r);
}

/* A few facts that come together cost one pass, as in the real loop. */
void replica_step_soon(struct sim *s, struct replica *r)
{
	if (r->stepping)
		return;
	r->stepping = true;
	replica_at(s, r, s->now_ms + rng_between(&s->rng, 0, 2), steps, NULL);
}

/* ---- What happens to it -------------------------------------------------------------------------
 */

static void crash(struct sim *s, void *arg)
{
	struct replica *r = arg;
	if (s->calm)
		return;
	if (r->up) {
		sim_reach(s, PATH_CRASH);
		process_dies(s, r, "kill -9");
	}
	sim_after(s, rng_between(&s->rng, 1, 2 * s->faults.crash_every_ms), crash, r);
}

void replica_sleep(struct sim *s, struct replica *r)
{
	r->paused_until_ms = s->now_ms + r->lease_ms + rng_between(&s->rng, 100, 15000);
	sim_log(s, "%s sleeps through its lease", r->identity);
	sim_reach(s, PATH_PAUSE);
}

static void pause(struct sim *s, void *arg)
{
	struct replica *r = arg;
	if (s->calm)
		return;
	if (r->up)
		replica_sleep(s, r);
	sim_after(s, rng_between(&s->rng, 1, 2 * s->faults.pause_every_ms), pause, r);
}

static void step_clock(struct sim *s, void *arg)
{
	struct replica *r = arg;
	if (s->calm)
		return;
	r->skew_ms = rng_between(&s->rng, -SKEW_MAX_MS, SKEW_MAX_MS);
	sim_log(s, "%s clock is off by %lld ms", r->identity, (long long)r->skew_ms);
	sim_reach(s, PATH_CLOCK_STEP);
	if (r->up)
		replica_step_soon(s, r);
	sim_after(s, rng_between(&s->rng, 1, 2 * s->faults.clock_step_every_ms), step_clock, r);
}

void replica_begin(struct sim *s, struct replica *r)
{
	const struct faults *f = &s->faults;
	process_starts(s, r);
	if (f->crash_every_ms)
		sim_after(s, rng_between(&s->rng, 1, 2 * f->crash_every_ms), crash, r);
	if (f->pause_every_ms)
		sim_after(s, rng_between(&s->rng, 1, 2 * f->pause_every_ms), pause, r);
	if (f->clock_step_every_ms)
		sim_after(s, rng_between(&s->rng, 1, 2 * f->clock_step_every_ms), step_clock, r);
	replica_begin_cuts(s, r);
}

/* What was put off until the end of a pause keeps its time, which is soon enough. */
void replica_calm(struct sim *s, struct replica *r)
{
	if (!r->up)
		process_starts(s, r);
	else
		replica_step_soon(s, r);
}
