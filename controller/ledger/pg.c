#include "controller/ledger/pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <libpq-fe.h>

#include "base/mem.h"
#include "base/must.h"
#include "controller/ledger/pg_priv.h"
#include "controller/ledger/sql.h"

#define TRIES_MAX 5
#define MIGRATION_MS 50000

int64_t pg_session(const struct pg *pg)
{
	return (int64_t)((uint64_t)pg->instance << 32 | pg_conn_number(pg->conn));
}

void pg_set_patience(struct pg *pg, int64_t ms)
{
	pg_conn_set_patience(pg->conn, ms);
}

void pg_set_migration_limit(struct pg *pg, int64_t ms)
{
	pg->migration_ms = ms;
}

bool pg_up(const struct pg *pg)
{
	return pg_conn_up(pg->conn);
}

/* ---- The queue of requests --------------------------------------------------------------------
 */

static void request_free(struct request *r)
{
	batch_plan_free(r->batch_plan);
	free(r->label);
	free(r->ns);
	free(r->job);
	free(r->submitter);
	free(r->clusterqueue);
	for (size_t i = 0; i < r->read.count; i++)
		PQclear(r->read.result[i]);
	free(r);
}

static struct request *pg_pop(struct pg *pg)
{
	struct request *r = pg->head;
	pg->head = r->next;
	if (!pg->head)
		pg->tail = &pg->head;
	return r;
}

/* A NULL round: the first step. */
static void request_step(struct pg *pg, struct request *r, struct round *round)
{
	switch (r->kind) {
	case REQUEST_LEASE:
		lease_step(pg, r, round);
		break;
	case REQUEST_LOAD:
		load_step(pg, r, round);
		break;
	case REQUEST_RECALL:
		recall_step(pg, r, round);
		break;
	case REQUEST_SPENT:
		spent_step(pg, r, round);
		break;
	case REQUEST_DURATIONS:
		durations_step(pg, r, round);
		break;
	case REQUEST_PAST:
		past_step(pg, r, round);
		break;
	case REQUEST_BATCH:
		batch_step(pg, r, round);
		break;
	case REQUEST_MIGRATE:
		migrate_step(pg, r, round);
		break;
	case REQUEST_RESIGN:
		resign_step(pg, r, round);
		break;
	}
}

static void pg_pump(struct pg *pg)
{
	if (pg->head && pg_conn_up(pg->conn) && !pg_conn_busy(pg->conn))
		request_step(pg, pg->head, NULL);
}

static void pg_ask(struct pg *pg, struct request r)
{
	struct request *mine = mem_alloc(sizeof(*mine));
	*mine = r;
	*pg->tail = mine;
	pg->tail = &mine->next;
	if (!pg_conn_up(pg->conn)) {
		ev_timer_stop(pg->loop, &pg->soon);
		ev_timer_set(&pg->soon, 0., 0.);
		ev_timer_start(pg->loop, &pg->soon);
	} else if (pg->head == mine) {
		pg_pump(pg);
	}
}

void pg_lease(struct pg *pg, uint64_t id, int64_t epoch, int64_t epoch_seen, int64_t lease_ms,
	bool settled)
{
	pg_ask(pg, (struct request){.kind = REQUEST_LEASE,
			   .id = id,
			   .epoch = epoch,
			   .epoch_seen = epoch_seen,
			   .lease_ms = lease_ms,
			   .settled = settled});
}

void pg_load(struct pg *pg, uint64_t id, int64_t epoch)
{
	pg_ask(pg, (struct request){.kind = REQUEST_LOAD, .id = id, .epoch = epoch});
}

void pg_recall(
	struct pg *pg, uint64_t id, int64_t epoch, const struct ledger_mark *after, size_t attempts)
{
	must(attempts > 0);
	pg_ask(pg, (struct request){.kind = REQUEST_RECALL,
			   .id = id,
			   .epoch = epoch,
			   .after = *after,
			   .attempts = attempts});
}

void pg_recall_spent(
	struct pg *pg, uint64_t id, int64_t epoch, int64_t since_ms, int64_t from_ms, int64_t to_ms)
{
	pg_ask(pg, (struct request){.kind = REQUEST_SPENT,
			   .id = id,
			   .epoch = epoch,
			   .since_ms = since_ms,
			   .from_ms = from_ms,
			   .to_ms = to_ms});
}

void pg_recall_durations(
	struct pg *pg, uint64_t id, int64_t epoch, int64_t since_ms, size_t of_each)
{
	pg_ask(pg, (struct request){.kind = REQUEST_DURATIONS,
			   .id = id,
			   .epoch = epoch,
			   .since_ms = since_ms,
			   .attempts = of_each});
}

void pg_past(struct pg *pg, uint64_t id, const struct past_question *q, size_t rows)
{
	pg_ask(pg, (struct request){.kind = REQUEST_PAST,
			   .id = id,
			   .question = *q,
			   .label = mem_strdup(q->label),
			   .ns = mem_strdup(q->ns),
			   .job = mem_strdup(q->job),
			   .submitter = mem_strdup(q->submitter),
			   .clusterqueue = mem_strdup(q->clusterqueue),
			   .attempts = rows});
}

void pg_batch(struct pg *pg, uint64_t id, const struct ledger_batch *b)
{
	pg_ask(pg,
		(struct request){.kind = REQUEST_BATCH, .id = id, .epoch = b->epoch, .batch = b});
}

void pg_migrate(struct pg *pg, uint64_t id)
{
	pg_ask(pg, (struct request){.kind = REQUEST_MIGRATE, .id = id});
}

void pg_resign(struct pg *pg, int64_t epoch)
{
	pg_ask(pg, (struct request){.kind = REQUEST_RESIGN, .epoch = epoch});
}

/* ---- Answers ----------------------------------------------------------------------------------
 */

void pg_answer_lease(struct pg *pg, enum ledger_outcome o, const struct ledger_lease *l)
{
	struct request *r = pg_pop(pg);
	pg->events.lease(r->id, o, l, pg->events.ctx);
	request_free(r);
	pg_pump(pg);
}

void pg_answer_load(
	struct pg *pg, enum ledger_outcome o, const struct ledger_reservation *h, size_t n)
{
	struct request *r = pg_pop(pg);
	pg->events.load(r->id, o, h, n, pg->events.ctx);
	request_free(r);
	pg_pump(pg);
}

void pg_answer_recall(struct pg *pg, enum ledger_outcome o, const struct ledger_run *runs, size_t n,
	const struct ledger_mark *next)
{
	struct request *r = pg_pop(pg);
	pg->events.recall(r->id, o, runs, n, next, pg->events.ctx);
	request_free(r);
	pg_pump(pg);
}

void pg_answer_spent(
	struct pg *pg, enum ledger_outcome o, const struct ledger_spent *spent, size_t n)
{
	struct request *r = pg_pop(pg);
	pg->events.spent(r->id, o, spent, n, pg->events.ctx);
	request_free(r);
	pg_pump(pg);
}

void pg_answer_durations(
	struct pg *pg, enum ledger_outcome o, const struct ledger_duration *runs, size_t n)
{
	struct request *r = pg_pop(pg);
	pg->events.durations(r->id, o, runs, n, pg->events.ctx);
	request_free(r);
	pg_pump(pg);
}

void pg_answer_cost(struct pg *pg, enum ledger_outcome o, const struct ledger_cost *rows, size_t n,
	int64_t forgotten_until_ms)
{
	struct request *r = pg_pop(pg);
	pg->events.cost(r->id, o, rows, n, forgotten_until_ms, pg->events.ctx);
	request_free(r);
	pg_pump(pg);
}

void pg_answer_rows(struct pg *pg, enum ledger_outcome o, const struct ledger_row *rows, size_t n,
	int64_t forgotten_until_ms)
{
	struct request *r = pg_pop(pg);
	pg->events.rows(r->id, o, rows, n, forgotten_until_ms, pg->events.ctx);
	request_free(r);
	pg_pump(pg);
}

void pg_answer_batch(struct pg *pg, enum ledger_outcome o, const struct ledger_result *results)
{
	struct request *r = pg_pop(pg);
	pg->events.batch(r->id, o, results, results ? r->batch_plan->nops : 0, pg->events.ctx);
	request_free(r);
	pg_pump(pg);
}

void pg_answer_migrate(struct pg *pg, enum ledger_outcome o)
{
	struct request *r = pg_pop(pg);
	pg->events.migrate(r->id, o, pg->events.ctx);
	request_free(r);
	pg_pump(pg);
}

void pg_answer_resign(struct pg *pg)
{
	request_free(pg_pop(pg));
	pg_pump(pg);
}

static void pg_answer_lost(struct pg *pg)
{
	static const struct ledger_lease nobody;
	switch (pg->head->kind) {
	case REQUEST_LEASE:
		pg_answer_lease(pg, LEDGER_LOST, &nobody);
		break;
	case REQUEST_LOAD:
		pg_answer_load(pg, LEDGER_LOST, NULL, 0);
		break;
	case REQUEST_RECALL:
		pg_answer_recall(pg, LEDGER_LOST, NULL, 0, &pg->head->after);
		break;
	case REQUEST_SPENT:
		pg_answer_spent(pg, LEDGER_LOST, NULL, 0);
		break;
	case REQUEST_DURATIONS:
		pg_answer_durations(pg, LEDGER_LOST, NULL, 0);
		break;
	case REQUEST_PAST:
		if (pg->head->question.kind == PAST_COST)
			pg_answer_cost(pg, LEDGER_LOST, NULL, 0, 0);
		else
			pg_answer_rows(pg, LEDGER_LOST, NULL, 0, 0);
		break;
	case REQUEST_BATCH:
		pg_answer_batch(pg, LEDGER_LOST, NULL);
		break;
	case REQUEST_MIGRATE:
		pg_answer_migrate(pg, LEDGER_LOST);
		break;
	case REQUEST_RESIGN:
		pg_answer_resign(pg);
		break;
	}
}

/* Answers all that has been asked so far; what is asked from inside an answer comes next time. */
static void pg_lose_all(struct pg *pg)
{
	size_t n = 0;
	for (struct request *r = pg->head; r; r = r->next)
		n++;
	while (n--)
		pg_answer_lost(pg);
}

static void on_soon(struct ev_loop *loop, ev_timer *w, int events)
{
	(void)loop, (void)events;
	struct pg *pg = w->data;
	if (pg_conn_up(pg->conn))
		pg_pump(pg);
	else
		pg_lose_all(pg);
}

/* ---- The link ---------------------------------------------------------------------------------
 */

static void on_up(void *ctx)
{
	struct pg *pg = ctx;
	pg->last_words[0] = '\0';
	pg->events.state(true, NULL, pg->events.state_ctx);
	pg_pump(pg);
}

static void on_down(bool came_up, const char *sentence, void *ctx)
{
	struct pg *pg = ctx;
	pg->schema_fits = pg->session_locked = false;
	pg_attach(pg, 0);
	if (came_up || strcmp(sentence, pg->last_words)) {
		snprintf(pg->last_words, sizeof(pg->last_words), "%s", sentence);
		pg->events.state(false, pg->last_words, pg->events.state_ctx);
	}
	pg_lose_all(pg);
}

/* Nothing landed, and the same again may do better: a deadlock, a serialization failure; or the
 * ledger is not what was read a moment ago (a hand that edits it): the key of a transfer or the
 * ceiling of a balance says so. */
static bool fault_passes(const char *sqlstate)
{
	static const char *const passing[] = {"40001", "40P01", "23505", "23514"};
	for (size_t i = 0; i < sizeof(passing) / sizeof(*passing); i++)
		if (!strcmp(sqlstate, passing[i]))
			return true;
	return false;
}

static const char TOOK_TOO_LONG[] = "57014"; /* statement_timeout */

/* It is for the holder of an epoch alone. */
static bool request_fenced(const struct request *r)
{
	return r->kind == REQUEST_LOAD || r->kind == REQUEST_RECALL || r->kind == REQUEST_SPENT ||
	       r->kind == REQUEST_DURATIONS || r->kind == REQUEST_BATCH;
}

/* What cannot pass goes the way of a broken connection: the sentence is said, everything is lost,
 * and the pause before the next connection keeps it from going round and round. Not so a question of
 * people that takes too long: others wait behind it, which it must not harm. */
static void on_round(struct round *round, void *ctx)
{
	struct pg *pg = ctx;
	struct request *r = pg->head;
	must(r);
	if (!round->sqlstate[0]) {
		pg_conn_praise(pg->conn);
		if (request_fenced(r))
			pg_attach(pg, r->epoch);
		request_step(pg, r, round);
		return;
	}
	if (r->kind == REQUEST_PAST && strcmp(round->sqlstate, TOOK_TOO_LONG) == 0) {
		pg_answer_lost(pg);
		return;
	}
	cache_clear(pg->cache);
	r->doubted = true;
	bool passes = fault_passes(round->sqlstate) || pg_conn_unprepared(round->sqlstate) ||
		      schema_fault_passes(r, round->sqlstate);
	if (!passes || ++r->tries > TRIES_MAX) {
		struct err e;
		schema_explain_fault(pg, r, round, &e);
		pg_conn_drop(pg->conn, e.text);
		return;
	}
	r->step = STEP_NEW;
	request_step(pg, r, NULL);
}

void pg_attach(struct pg *pg, int64_t epoch)
{
	if (epoch != pg->attached_epoch)
		cache_clear(pg->cache);
	pg->attached_epoch = epoch;
}

void pg_acknowledge(struct pg *pg, int64_t epoch, int64_t batch)
{
	pg->batch_epoch = epoch;
	pg->batch = batch;
}

int64_t pg_acknowledged(const struct pg *pg, int64_t epoch)
{
	return pg->batch_epoch == epoch ? pg->batch : 0;
}

/* ---- Rounds -----------------------------------------------------------------------------------
 */

struct params *request_params(const struct pg *pg, const struct request *r)
{
	struct params *p = params_new();
	params_text(p, pg->cell);
	params_int8(p, pg_session(pg));
	params_int8(p, r->epoch);
	return p;
}

void request_begin_round(struct pg *pg, struct request *r, enum request_step step)
{
	r->step = step;
	pg_conn_add_settings(pg->conn);
	if (!request_fenced(r) || r->epoch == pg->attached_epoch)
		return;
	struct params *p = request_params(pg, r);
	params_int8(p, pg_acknowledged(pg, r->epoch));
	pg_conn_add(pg->conn, SQL_ATTACH, p);
}

/* ---- Life -------------------------------------------------------------------------------------
 */

int pg_new(struct ev_loop *loop, const struct pg_options *o, const struct pg_events *events,
	struct pg **ret, struct err *e)
{
	struct pg *pg = mem_alloc(sizeof(*pg));
	pg->loop = loop;
	pg->events = *events;
	pg->cell = mem_strdup(o->cell);
	pg->identity = mem_strdup(o->identity);
	pg->tail = &pg->head;
	pg->migration_ms = MIGRATION_MS;
	pg->cache = cache_new();
	ev_timer_init(&pg->soon, on_soon, 0., 0.);
	pg->soon.data = pg;
	/* Not from the seed: no two processes may ever have the same. 31 bits, so that a session
	 * is positive and shifts as a bigint. */
	must(getrandom(&pg->instance, sizeof(pg->instance), 0) == sizeof(pg->instance));
	pg->instance &= INT32_MAX;
	struct pg_conn_options lo = {o->conninfo, o->identity, o->seed};
	struct pg_conn_events le = {on_up, on_down, on_round, pg};
	int rc = pg_conn_new(loop, &lo, &le, &pg->conn, e);
	if (rc) {
		pg_free(pg);
		return rc;
	}
	*ret = pg;
	return 0;
}

void pg_free(struct pg *pg)
{
	if (!pg)
		return;
	ev_timer_stop(pg->loop, &pg->soon);
	pg_conn_free(pg->conn);
	cache_free(pg->cache);
	while (pg->head)
		request_free(pg_pop(pg));
	free(pg->cell);
	free(pg->identity);
	free(pg);
}
