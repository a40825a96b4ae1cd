/*
 * A world for the gate alone: the real gate and queue against the simulation's models of the API
 * server and the ledger, one Job, and time that the test moves. What the queue says can be put into
 * its mouth (the linker wraps queue_decide(): decide()).
 */
#ifndef SLUICE_TEST_GATE_WORLD_H
#define SLUICE_TEST_GATE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "queue/calendar/zone.h"
#include "controller/gate/gate.h"
#include "test/sim/model_api.h"
#include "test/sim/model_ledger.h"
#include "test/unit/queue/worlds.h"
#include "sluice/keys.h"

#define T0 INT64_C(1795255200000) /* 2026-11-21T10:00:00Z */
#define STOP_MS (T0 + 600000)

static struct decision injected;
static bool has_injected;

size_t __real_queue_decide(
	struct queue *q, int64_t now_ms, struct decision *out, size_t cap, int64_t *ret_next_ms);
size_t __wrap_queue_decide(
	struct queue *q, int64_t now_ms, struct decision *out, size_t cap, int64_t *ret_next_ms);
size_t __wrap_queue_decide(
	struct queue *q, int64_t now_ms, struct decision *out, size_t cap, int64_t *ret_next_ms)
{
	if (!has_injected)
		return __real_queue_decide(q, now_ms, out, cap, ret_next_ms);
	has_injected = false;
	*out = injected;
	*ret_next_ms = now_ms;
	return 1;
}

/* ---- A world with one Job ---------------------------------------------------------------------
 */

struct world {
	struct pool pool;
	struct model_api api;
	struct model_ledger *ledger;
	struct queue *queue;
	struct gate *gate;
	int64_t now_ms, tick_ms; /* the second never steps */
	int64_t stuck_after_ms;	 /* gate_options, of the next gate_up() */
	int64_t settle_ms;
	int64_t quota; /* of spot; 0: 4000 */
	int64_t mass_stop_after_ms, note_after_ms;
	struct model_job *j;
	size_t sent[INTENT_NAMESPACE + 1]; /* by kind */
	enum job_outcome outcome;	   /* of what is sent next, unless JOB_DONE */
	bool lands;			   /* JOB_IN_DOUBT: it does all the same */
	size_t denied;			   /* so many writes are refused for good */
	bool fails;			   /* no write of a Job lands: 500; 503 with retry_ms */
	bool status_fails;		   /* ... that goes by the subresource status, too */
	const char *refusal;		   /* in these words; NULL: annotations are too long */
	size_t room;			   /* bytes for story and hold; 0: enough */
	size_t batches_lost;		   /* so many are not answered; they land */
	int32_t pods_of_job;		   /* that it asks for; 0: two */
	bool work_queue;		   /* ... and it has no completions */
	size_t pods;			   /* that are counted */
	const char *const *node;	   /* ... on these nodes, for who asks where */
	size_t nnodes;			   /* ... so many of them */
	const struct label *asks_for;	   /* a newcomer's node selector; NULL: none */
	bool lease_silent;		   /* a request for the lease is not answered */
	const struct job *listed;	   /* what a list shows of it; NULL: what it is */
	const struct job *shown;	   /* by the watch, while it is read next; NULL: nothing */
	int64_t adopt_begun_by_ms;	   /* an admin's word on the Namespace; 0: there is none */
	enum job_outcome of_provisions;	   /* of each request about them, unless JOB_DONE */
	int64_t retry_ms;		   /* with that, and with fails */
	bool old_server;		   /* it does not let resources be rewritten */
	struct provision_ask asked; /* of an autoscaler, last; its name and class are below */
	char asked_name[96], asked_class[96];
	char started_with[512]; /* the template of the last start */
	char notes[16384];
	struct note last[NOTE_MASS_STOP + 1];
};

/* What forecasts are told. */
static size_t told_arrivals;
static int64_t told_ran_ms;

static inline void hear_arrival(void *ctx, const struct job *j)
{
	(void)ctx;
	assert_true(j->suspend);
	told_arrivals++;
}

static inline void hear_end(void *ctx, const struct job_outline *o, int64_t ran_ms)
{
	(void)ctx;
	assert_true(o->confirmed);
	told_ran_ms = ran_ms;
}

static inline void gate_up(struct world *w)
{
	struct gate_options o = {.identity = "me",
		.lease_ms = 15000,
		.drain_doubt_ms = 10000,
		.seed = 1,
		.stuck_after_ms = w->stuck_after_ms,
		.settle_ms = w->settle_ms,
		.mass_stop_after_ms = w->mass_stop_after_ms,
		.note_after_ms = w->note_after_ms,
		.came = hear_arrival,
		.ended_well = hear_end};
	w->queue = fixture_new(w->quota > 0 ? w->quota : 4000, 0);
	w->gate = gate_new(&o, w->queue);
	gate_begin_list(w->gate);
	if (w->j)
		gate_see_job(w->gate, w->listed ? w->listed : &w->j->now->job);
	gate_end_list(w->gate);
	gate_set_synced(w->gate);
}

static inline void world_init(struct world *w)
{
	*w = (struct world){.now_ms = T0, .tick_ms = 1000, .ledger = model_ledger_new()};
	has_injected = false;
	told_arrivals = 0;
	told_ran_ms = 0;
	model_api_init(&w->api, &w->pool);
	gate_up(w);
}

static inline void world_done(struct world *w)
{
	gate_free(w->gate);
	queue_free(w->queue);
	model_ledger_free(w->ledger);
	model_api_done(&w->api);
	pool_done(&w->pool);
}

/* kill -9, and the lease runs out. */
static inline void world_restart(struct world *w)
{
	gate_free(w->gate);
	queue_free(w->queue);
	w->now_ms += 60000;
	w->tick_ms += 60000;
	gate_up(w);
}

static inline void answer_ledger(struct world *w, const struct intent *i)
{
	struct ledger_lease lease;
	struct ledger_reservation *holds = NULL;
	struct ledger_result results[64];
	size_t n = 0;
	w->sent[i->kind]++;
	if (i->kind == INTENT_LEASE && w->lease_silent) {
		return;
	} else if (i->kind == INTENT_LEASE) {
		model_ledger_lease(w->ledger, "me", i->epoch, i->epoch_seen, i->lease_ms,
			i->settled, w->tick_ms, &lease);
		gate_answer_lease(w->gate, i->id, LEDGER_DONE, &lease);
	} else if (i->kind == INTENT_LOAD) {
		enum ledger_outcome o = model_ledger_load(w->ledger, i->epoch, &holds, &n);
		gate_answer_load(w->gate, i->id, o, holds, n);
		free(holds);
	} else {
		assert_true(i->batch.nops <= 64);
		enum ledger_outcome o = model_ledger_batch(w->ledger, &i->batch, SIZE_MAX, results);
		bool lost = w->batches_lost > 0;
		w->batches_lost -= lost;
		gate_answer_batch(w->gate, i->id, lost ? LEDGER_LOST : o, results, i->batch.nops);
	}
}

/* Before Kubernetes 1.36. */
static inline bool is_rewriting(const struct world *w, const struct intent *i)
{
	return w->old_server && i->kind == INTENT_START && i->template.lending != LENDING_NONE &&
	       i->template.resources;
}

static inline bool only_reads(enum intent_kind k)
{
	return k == INTENT_READ || k == INTENT_PODS || k == INTENT_NAMESPACE;
}

/* Annotations are full: this PATCH would make them too long. */
static inline bool lacks_room(const struct world *w, const struct intent *i)
{
	struct buf b;
	if (w->room == 0 || i->untold || (i->kind > INTENT_TELL && i->kind != INTENT_RETELL))
		return false;
	buf_init(&b, STORY_TEXT_MAX);
	story_fit(&i->story, i->story_max, &b);
	size_t n = b.len + (i->hold ? strlen(i->hold) + strlen(HOLD_ANNOTATION) : 0);
	buf_done(&b);
	return n > w->room;
}

static inline bool is_denied(struct world *w, const struct intent *i)
{
	if (only_reads(i->kind))
		return false;
	bool denied = w->denied > 0;
	w->denied -= denied;
	return denied || lacks_room(w, i);
}

static inline bool fails(const struct world *w, const struct intent *i)
{
	return !only_reads(i->kind) && (i->by_status ? w->status_fails : w->fails);
}

static inline void keep_template(struct world *w, const struct start_template *t)
{
	snprintf(w->started_with, sizeof(w->started_with), "%s %s, %s %s, %s as %d",
		t->own.node_selector, t->own.tolerations, t->run.node_selector, t->run.tolerations,
		t->resources ? t->resources : "nothing", (int)t->lending);
}

static inline void keep_asked(struct world *w, const struct provision_ask *p)
{
	w->asked = *p;
	snprintf(w->asked_name, sizeof(w->asked_name), "%s", p->name);
	snprintf(w->asked_class, sizeof(w->asked_class), "%s", p->class_name);
}

static inline void answer_job(struct world *w, const struct intent *i)
{
	const struct snap *snap = NULL;
	struct job_answer a = {
		.outcome = JOB_DONE, .pods = w->pods, .adopt_begun_by_ms = w->adopt_begun_by_ms};
	if (i->with_nodes) {
		a.node = w->node;
		a.nnodes = w->nnodes;
	}
	bool reaches =
		i->kind == INTENT_READ || (!fails(w, i) && (w->outcome == JOB_DONE || w->lands));
	w->sent[i->kind]++;
	if (i->kind == INTENT_READ && w->shown) {
		const struct job *shown = w->shown;
		uint64_t id = i->id;
		w->shown = NULL;
		model_api_request(&w->api, i, w->now_ms, false, &snap, &a.sentence);
		gate_see_job(w->gate, shown);
		gate_step(w->gate, w->now_ms, w->tick_ms);
		a.job = &snap->job;
		gate_answer_job(w->gate, id, &a);
		return;
	}
	if (i->kind == INTENT_START)
		keep_template(w, &i->template);
	if (i->kind == INTENT_PROVISION)
		keep_asked(w, &i->provision);
	if (i->kind == INTENT_START && i->template.fault) { /* as the dispatcher does */
		a.outcome = JOB_DENIED;
		a.sentence = i->template.fault;
	} else if (is_rewriting(w, i)) {
		a.outcome = JOB_DENIED;
		a.sentence = "spec.template: Invalid value: field is immutable";
	} else if (is_denied(w, i)) {
		a.outcome = JOB_DENIED;
		a.sentence =
			w->refusal
				? w->refusal
				: "metadata.annotations: Too long: may not be more than 262144 bytes";
	} else if (i->kind != INTENT_PODS && i->kind != INTENT_NAMESPACE && reaches) {
		a.outcome = model_api_request(&w->api, i, w->now_ms, false, &snap, &a.sentence);
	}
	if (fails(w, i)) {
		a = (struct job_answer){.outcome = w->retry_ms > 0 ? JOB_BUSY : JOB_IN_DOUBT,
			.retry_ms = w->retry_ms,
			.sentence = "etcdserver: no leader"};
		snap = NULL;
	}
	if (!only_reads(i->kind) && w->outcome != JOB_DONE) {
		a.outcome = w->outcome;
		a.sentence = w->refusal ? w->refusal : a.sentence;
		snap = NULL;
		w->outcome = JOB_DONE;
		w->lands = false;
	}
	if ((i->kind == INTENT_PROVISION || i->kind == INTENT_UNPROVISION) &&
		w->of_provisions != JOB_DONE) {
		a.outcome = w->of_provisions;
		a.retry_ms = w->retry_ms;
		snap = NULL;
	}
	a.job = snap ? &snap->job : NULL;
	gate_answer_job(w->gate, i->id, &a);
}

static inline void take_notes(struct world *w)
{
	const struct note *n;
	while ((n = gate_take_note(w->gate))) {
		size_t len = strlen(w->notes);
		snprintf(w->notes + len, sizeof(w->notes) - len, "%s: %s\n",
			note_kind_name(n->kind), n->text);
		w->last[n->kind] = *n;
	}
}

/* As long as anything is asked without time going on. */
static inline void turn(struct world *w)
{
	for (int round = 0; round < 50; round++) {
		const struct intent *i;
		bool asked = false;
		gate_step(w->gate, w->now_ms, w->tick_ms);
		while ((i = gate_take_intent(w->gate))) {
			asked = true;
			if (i->kind <= INTENT_BATCH)
				answer_ledger(w, i);
			else
				answer_job(w, i);
		}
		take_notes(w);
		struct gate_wake due = gate_wake(w->gate);
		if (!asked && due.now_ms > w->now_ms && due.tick_ms > w->tick_ms)
			return;
	}
	fail_msg("the gate does not come to rest");
}

static inline void at(struct world *w, int64_t ms)
{
	w->tick_ms += ms - w->now_ms;
	w->now_ms = ms;
	turn(w);
}

/* The clock on the wall is set; no time goes by. */
static inline void set_clock(struct world *w, int64_t ms)
{
	w->now_ms = ms;
	turn(w);
}

/* Somebody else writes, and the watch tells. */
static inline void write_job(struct world *w, struct snap *s, bool respec)
{
	model_api_write(&w->api, s, respec);
	gate_see_job(w->gate, &w->j->now->job);
	turn(w);
}

/* A Job of two pods, of cpu and of what n asks for in request[1]. */
static inline void submit(struct world *w, struct snap *n)
{
	n->request[0] = (struct resource){"cpu", 500};
	n->container.requests = (struct resource_list){n->request, n->request[1].name ? 2 : 1};
	int32_t pods = w->pods_of_job ? w->pods_of_job : 2;
	n->job = (struct job){.ns = "team-a",
		.name = "train",
		.queue = "main",
		.priority_class = n->job.priority_class ? n->job.priority_class : "",
		.pod_priority_class = "",
		.suspend = true,
		.placement = n->job.placement,
		.after = n->job.after,
		.parallelism = pods,
		.completions = pods,
		.lending = n->job.lending,
		.resources = n->job.resources,
		.has_completions = !w->work_queue,
		.family = "CronJob/nightly",
		.submitted_by = "alice"};
	w->j = model_api_create(&w->api, n);
	gate_see_job(w->gate, &w->j->now->job);
	turn(w);
}

/* So many of its pods run, and so many are leaving. */
static inline void have_pods(struct world *w, int32_t active, int32_t terminating)
{
	struct snap *s = model_api_edit(&w->api, w->j);
	if (!s->job.status.has_start_time)
		s->job.status.start_ms = w->now_ms;
	s->job.status.has_start_time = true;
	s->job.status.active = s->job.status.ready = active;
	s->job.status.terminating = terminating;
	w->pods = (size_t)(active + terminating);
	write_job(w, s, false);
}

/* Has it run since T0. */
static inline void have_it_run(struct world *w)
{
	struct snap n = {0};
	submit(w, &n);
	assert_int_equal(w->sent[INTENT_START], 1);
	have_pods(w, w->j->now->job.parallelism, 0);
	w->pods = 0; /* when they are counted, after its end */
	assert_non_null(strstr(w->notes, "Start: "));
}

static inline void finish(struct world *w)
{
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.status.complete = true;
	s->job.status.active = s->job.status.ready = 0;
	s->job.status.succeeded = 2;
	s->job.status.finished_ms = w->now_ms / 1000 * 1000;
	write_job(w, s, false);
}

static inline void decide(struct world *w, struct decision d)
{
	d.uid = w->j->now->job.uid;
	injected = d;
	has_injected = true;
	turn(w);
}

static inline const struct model_reservation *first_reservation(const struct world *w)
{
	const struct model_reservation *const *holds;
	assert_true(model_ledger_reservations(w->ledger, &holds) > 0);
	return holds[0];
}

/* What its reservation holds of cpu in the ledger. */
static inline int64_t held_cpu(const struct world *w)
{
	const struct model_reservation *h = first_reservation(w);
	return h->open && h->reservation.nlines > 0 ? h->reservation.lines[0].amount : 0;
}

/* ---- Before a test, and behind it --------------------------------------------------------------
 */

static inline int open_world(void **state)
{
	static struct world w;
	world_init(&w);
	*state = &w;
	return 0;
}

/* Its Job runs. */
static inline int open_run(void **state)
{
	open_world(state);
	have_it_run(*state);
	return 0;
}

static inline int close_world(void **state)
{
	world_done(*state);
	return 0;
}

#define WORLD(test) cmocka_unit_test_setup_teardown(test, open_world, close_world)
#define RUN(test) cmocka_unit_test_setup_teardown(test, open_run, close_world)

#endif
