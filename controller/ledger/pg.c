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
#define FIRST_OF_LINE                                                                              \
	8 /* the column at which a line of quota begins, in all answers that have some */

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
	return pg->conn && pg_conn_up(pg->conn);
}

/* ---- The line of requests ---------------------------------------------------------------------
 */

static void arm(struct pg *pg, ev_timer *w, double seconds)
{
	ev_timer_stop(pg->loop, w);
	ev_timer_set(w, seconds, 0.);
	ev_timer_start(pg->loop, w);
}

static void request_free(struct request *r)
{
	params_free(r->params);
	batch_plan_free(r->batch_plan);
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

static void query_step(struct pg *pg, struct request *r, struct round *round);

/* Takes the next step of a request; the first one where round is NULL. */
static void request_step(struct pg *pg, struct request *r, struct round *round)
{
	if (r->query->step)
		r->query->step(pg, r, round);
	else
		query_step(pg, r, round);
}

static void pg_pump(struct pg *pg)
{
	if (pg->head && pg_up(pg) && !pg_conn_busy(pg->conn))
		request_step(pg, pg->head, NULL);
}

static int pg_connect(struct pg *pg, struct err *e);

void pg_line_up(struct pg *pg, struct request r)
{
	struct request *mine = mem_alloc(sizeof(*mine));
	*mine = r;
	*pg->tail = mine;
	pg->tail = &mine->next;
	ev_timer_stop(pg->loop, &pg->idle);
	if (!pg->conn)
		must(pg_connect(pg, NULL) == 0); /* pg_new() could */
	if (pg_conn_up(pg->conn) && pg->head == mine)
		pg_pump(pg);
	else if (!pg_conn_up(pg->conn) && (pg->options.idle_ms == 0 || pg->last_words[0]))
		arm(pg, &pg->soon, 0.);
}

void request_answer(struct pg *pg, struct pg_answer a)
{
	struct request *r = pg_pop(pg);
	a.id = r->asker.id;
	if (r->asker.fn)
		r->asker.fn(&a, r->asker.ctx);
	request_free(r);
	if (!pg->head && pg->options.idle_ms > 0)
		arm(pg, &pg->idle, (double)pg->options.idle_ms / 1000.);
	pg_pump(pg);
}

static void pg_answer_lost(struct pg *pg, const char *why)
{
	request_answer(pg, (struct pg_answer){.outcome = LEDGER_LOST, .why = why});
}

/* Answers all that has been asked so far; what is asked from inside an answer comes next time. */
static void pg_lose_all(struct pg *pg)
{
	size_t n = 0;
	for (struct request *r = pg->head; r; r = r->next)
		n++;
	while (n--)
		pg_answer_lost(pg, pg->last_words[0] ? pg->last_words
						     : "there is no connection to Postgres yet");
}

static void on_soon(struct ev_loop *loop, ev_timer *w, int events)
{
	(void)loop, (void)events;
	struct pg *pg = w->data;
	if (pg_up(pg))
		pg_pump(pg);
	else
		pg_lose_all(pg);
}

/* ---- The link ---------------------------------------------------------------------------------
 */

static void tell_state(const struct pg *pg, bool up, const char *sentence)
{
	if (pg->options.state)
		pg->options.state(up, sentence, pg->options.ctx);
}

static void on_up(void *ctx)
{
	struct pg *pg = ctx;
	pg->last_words[0] = '\0';
	tell_state(pg, true, NULL);
	pg_pump(pg);
}

static void on_down(bool came_up, const char *sentence, void *ctx)
{
	struct pg *pg = ctx;
	pg->schema_fits = pg->session_locked = false;
	pg_attach(pg, 0);
	if (came_up || strcmp(sentence, pg->last_words)) {
		snprintf(pg->last_words, sizeof(pg->last_words), "%s", sentence);
		tell_state(pg, false, pg->last_words);
	}
	pg_lose_all(pg);
}

static bool is_one_of(const char *sqlstate, const char *const *states, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(sqlstate, states[i]))
			return true;
	return false;
}

/* Tells whether nothing landed, and another try may do better: after a deadlock, a serialization
 * failure, or an edit of the ledger by hand, as the key of a transfer or the ceiling of a balance
 * shows. */
static bool fault_passes(const struct request *r, const char *sqlstate)
{
	static const char *const passing[] = {"40001", "40P01", "23505", "23514"};
	return is_one_of(sqlstate, passing, sizeof(passing) / sizeof(*passing)) ||
	       pg_conn_unprepared(sqlstate) || schema_fault_passes(r, sqlstate);
}

/* Tells whether a fault is of this request, not of the server. A server that writes no more (25006)
 * is to be left for another (target_session_attrs). */
static bool fault_is_its_own(const struct request *r, const char *sqlstate)
{
	return r->query->aside && strcmp(sqlstate, "25006") != 0;
}

static void answer_fault(struct pg *pg, const struct request *r, const struct round *round)
{
	static const char *const slow[] = {"57014", "55P03"}; /* statement_timeout, lock_timeout */
	struct err e = round->fault;
	err_wrap(&e, "%s", r->query->name);
	request_answer(pg, (struct pg_answer){.outcome = LEDGER_LOST,
				   .why = e.text,
				   .its_own = true,
				   .too_long = is_one_of(
					   round->sqlstate, slow, sizeof(slow) / sizeof(*slow))});
}

/* Takes a round to its request. A fault that cannot pass goes the way of a broken connection: the sentence
 * is said, everything is lost, and the pause before the next connection keeps it from going round and
 * round. Where a fault is the request's own, the others behind it are answered. */
static void on_round(struct round *round, void *ctx)
{
	struct pg *pg = ctx;
	struct request *r = pg->head;
	must(r);
	if (!round->sqlstate[0]) {
		pg_conn_praise(pg->conn);
		if (r->query->fenced)
			pg_attach(pg, r->epoch);
		request_step(pg, r, round);
		return;
	}
	cache_clear(pg->cache);
	r->doubted = true;
	if (fault_passes(r, round->sqlstate) && ++r->tries <= TRIES_MAX) {
		r->step = STEP_NEW;
		request_step(pg, r, NULL);
	} else if (fault_is_its_own(r, round->sqlstate)) {
		answer_fault(pg, r, round);
	} else {
		struct err e;
		schema_explain_fault(pg, r, round, &e);
		pg_conn_drop(pg->conn, e.text);
	}
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

struct params *pg_params(const struct pg *pg)
{
	struct params *p = params_new();
	params_text(p, pg->options.cell);
	return p;
}

struct params *request_params(const struct pg *pg, int64_t epoch)
{
	struct params *p = pg_params(pg);
	params_int8(p, pg_session(pg));
	params_int8(p, epoch);
	return p;
}

void request_begin_round(struct pg *pg, struct request *r, enum request_step step)
{
	r->step = step;
	pg_conn_add_settings(pg->conn, r->query->plans_freely ? SQL_LIMITS : SQL_SETTINGS);
	if (!r->query->fenced || r->epoch == pg->attached_epoch)
		return;
	struct params *p = request_params(pg, r->epoch);
	params_int8(p, pg_acknowledged(pg, r->epoch));
	pg_conn_add(pg->conn, SQL_ATTACH, p);
}

/* ---- Requests of one round --------------------------------------------------------------------
 */

static struct quota_line line_of(const struct pg_result *res, int row)
{
	return (struct quota_line){field_text(res, row, FIRST_OF_LINE),
		field_text(res, row, FIRST_OF_LINE + 1), field_text(res, row, FIRST_OF_LINE + 2),
		field_int8(res, row, FIRST_OF_LINE + 3)};
}

/* Reads an answer into rows and returns how many there are. lines has room for one of each row of the
 * answer; strings stay with the result. */
static size_t read_rows(
	const struct pg_query *q, const struct pg_result *res, char *rows, struct quota_line *lines)
{
	char *next = rows;
	for (int i = 0; i < PQntuples(res); i++) {
		if (q->fenced && field_null(res, i, 0))
			continue;
		if (!q->same || i == 0 || !q->same(res, i, i - 1)) {
			q->read(res, i, next);
			next += q->row_bytes;
		}
		if (!q->add_line || field_null(res, i, FIRST_OF_LINE))
			continue;
		*lines = line_of(res, i);
		q->add_line(next - q->row_bytes, lines++);
	}
	return (size_t)(next - rows) / q->row_bytes;
}

static void query_answer(struct pg *pg, const struct request *r, const struct round *round)
{
	const struct pg_query *q = r->query;
	struct pg_answer a = {.outcome = LEDGER_DONE};
	const struct pg_result *res = round->result[round->count - 1];
	if (q->asks_horizon) {
		a.forgotten_until_ms = PQntuples(res) > 0 ? field_time(res, 0, 0) : 0;
		res = round->result[round->count - 2];
	}
	size_t count = (size_t)PQntuples(res);
	char *rows = q->read ? mem_array(count + 1, q->row_bytes) : NULL;
	struct quota_line *lines = q->add_line ? mem_array(count + 1, sizeof(*lines)) : NULL;
	if (q->fenced && count == 0)
		a.outcome = LEDGER_FENCED;
	a.n = q->read ? read_rows(q, res, rows, lines) : count;
	a.rows = rows;
	request_answer(pg, a);
	free(rows);
	free(lines);
}

static void query_step(struct pg *pg, struct request *r, struct round *round)
{
	if (round) {
		query_answer(pg, r, round);
		return;
	}
	request_begin_round(pg, r, STEP_ONLY);
	pg_conn_add_kept(pg->conn, r->query->sql, r->params);
	if (r->query->asks_horizon)
		pg_conn_add(pg->conn, SQL_COST_HORIZON, pg_params(pg));
	pg_conn_go(pg->conn);
}

void pg_ask(struct pg *pg, const struct pg_query *q, struct params *p, const struct pg_asker *asker)
{
	must(!q->fenced && !q->step);
	pg_line_up(pg, (struct request){.query = q, .params = p, .asker = *asker});
}

/* ---- Life -------------------------------------------------------------------------------------
 */

static int pg_connect(struct pg *pg, struct err *e)
{
	struct pg_conn_options lo = {pg->options.conninfo, pg->options.identity, pg->options.seed};
	struct pg_conn_events le = {on_up, on_down, on_round, pg};
	return pg_conn_new(pg->loop, &lo, &le, &pg->conn, e);
}

static void pg_disconnect(struct pg *pg)
{
	pg_conn_free(pg->conn);
	pg->conn = NULL;
	pg->last_words[0] = '\0';
}

static void on_idle(struct ev_loop *loop, ev_timer *w, int events)
{
	(void)loop, (void)events;
	pg_disconnect(w->data);
}

int pg_new(struct ev_loop *loop, const struct pg_options *o, struct pg **ret, struct err *e)
{
	struct pg *pg = mem_alloc(sizeof(*pg));
	pg->loop = loop;
	pg->options = *o;
	pg->options.conninfo = mem_strdup(o->conninfo);
	pg->options.cell = mem_strdup(o->cell);
	pg->options.identity = mem_strdup(o->identity);
	pg->tail = &pg->head;
	pg->migration_ms = MIGRATION_MS;
	pg->cache = cache_new();
	ev_timer_init(&pg->soon, on_soon, 0., 0.);
	ev_timer_init(&pg->idle, on_idle, 0., 0.);
	pg->soon.data = pg->idle.data = pg;
	/* Not from the seed: no two processes may ever have the same. 31 bits, so that a session
	 * is positive and shifts as a bigint. */
	must(getrandom(&pg->instance, sizeof(pg->instance), 0) == sizeof(pg->instance));
	pg->instance &= INT32_MAX;
	int rc = pg_connect(pg, e);
	if (rc) {
		pg_free(pg);
		return rc;
	}
	if (o->idle_ms > 0)
		pg_disconnect(pg);
	*ret = pg;
	return 0;
}

void pg_free(struct pg *pg)
{
	if (!pg)
		return;
	ev_timer_stop(pg->loop, &pg->soon);
	ev_timer_stop(pg->loop, &pg->idle);
	pg_disconnect(pg);
	cache_free(pg->cache);
	while (pg->head)
		request_free(pg_pop(pg));
	free((char *)pg->options.conninfo);
	free((char *)pg->options.cell);
	free((char *)pg->options.identity);
	free(pg);
}
