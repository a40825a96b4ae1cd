#include "controller/ledger/retention.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/ledger/pg_conn.h"
#include "controller/ledger/sql.h"

enum {
	BATCH = 1000,		  /* attempts: tens of milliseconds of one backend */
	FIRST_AFTER_MS = 60000,	  /* a new leader has other things to do */
	PAUSE_MS = 10000,	  /* between batches: six million attempts in 17 hours */
	IDLE_MS = 3600000,	  /* when all is done */
	AFTER_TROUBLE_MS = 60000, /* when it could not be done */
};

struct retention {
	struct retention_options o;
	struct ev_loop *loop;
	struct pg_conn *conn; /* NULL: nothing to do */
	bool under_way;	      /* a batch */
	bool over;	      /* nothing more to do for now: the connection may go */
	int64_t epoch;
	int64_t next_tick_ms, tick_ms; /* when there is something to do; as of the last tick */
	int64_t first_ms, pause_ms, batch;
	int64_t attempts, runs; /* gone since there was last nothing left */
	char trouble[512];	/* said last */
};

/* ---- a batch --------------------------------------------------------------------------------- */

static void forget_batch(struct retention *r, int64_t before_ms)
{
	struct params *p = params_new();
	params_text(p, r->o.cell);
	params_int8(p, r->epoch);
	params_int8(p, before_ms > 0 ? before_ms : 0);
	params_int8(p, r->o.keep_ms);
	params_int8(p, r->batch);
	r->under_way = true;
	pg_conn_add_settings(r->conn, SQL_SETTINGS);
	pg_conn_add(r->conn, SQL_FORGET, p);
	pg_conn_go(r->conn);
}

static void forgot_all(struct retention *r)
{
	if (r->attempts > 0 && r->o.log)
		log_event(r->o.log, LEVEL_INFO, "forgot", "what",
			"attempts that ended before --keep-history; their sums by month are kept",
			"#attempts", LOG_NUMBER(r->attempts), "#runs", LOG_NUMBER(r->runs), NULL);
	r->attempts = r->runs = 0;
	r->over = true;
	r->next_tick_ms = r->tick_ms + IDLE_MS;
}

static void take_answer(struct retention *r, const struct pg_result *res)
{
	r->trouble[0] = '\0';
	if (PQntuples(res) == 0) { /* another controller leads by now: it forgets */
		r->over = true;
		r->next_tick_ms = r->tick_ms + IDLE_MS;
		return;
	}
	int64_t attempts = field_int8(res, 0, 0);
	r->attempts += attempts;
	r->runs += field_int8(res, 0, 1);
	if (attempts < r->batch)
		forgot_all(r);
	else
		r->next_tick_ms = r->tick_ms + r->pause_ms;
}

/* ---- the connection -------------------------------------------------------------------------- */

static void put_off(struct retention *r, const char *why)
{
	r->next_tick_ms = r->tick_ms + AFTER_TROUBLE_MS;
	if (strncmp(r->trouble, why, sizeof(r->trouble) - 1) == 0)
		return;
	snprintf(r->trouble, sizeof(r->trouble), "%s", why);
	if (r->o.log)
		log_event(r->o.log, LEVEL_WARN, "retention-down", "why", why, "effect",
			"the ledger grows; what is old is deleted later", NULL);
}

static void on_up(void *ctx)
{
	(void)ctx;
}

static void on_down(bool came_up, const char *sentence, void *ctx)
{
	struct retention *r = ctx;
	(void)came_up;
	r->under_way = false;
	put_off(r, sentence);
}

static void on_round(struct round *round, void *ctx)
{
	struct retention *r = ctx;
	r->under_way = false;
	if (!round->sqlstate[0]) {
		pg_conn_praise(r->conn);
		take_answer(r, round->result[round->count - 1]);
	} else if (!pg_conn_unprepared(round->sqlstate)) {
		pg_conn_drop(r->conn, round->fault.text);
	}
}

static void connect_to_ledger(struct retention *r)
{
	struct pg_conn_options o = {.conninfo = r->o.conninfo,
		.application_name = "sluice-controller retention",
		.seed = r->o.seed};
	struct pg_conn_events events = {.up = on_up, .down = on_down, .round = on_round, .ctx = r};
	struct err e = {""};
	if (pg_conn_new(r->loop, &o, &events, &r->conn, &e) != 0)
		put_off(r, e.text);
}

static void disconnect(struct retention *r)
{
	if (r->conn)
		pg_conn_free(r->conn);
	r->conn = NULL;
	r->over = r->under_way = false;
}

/* ---- its life -------------------------------------------------------------------------------- */

struct retention *retention_new(struct ev_loop *loop, const struct retention_options *o)
{
	struct retention *r = mem_alloc(sizeof(*r));
	r->loop = loop;
	r->o = *o;
	r->first_ms = FIRST_AFTER_MS;
	r->pause_ms = PAUSE_MS;
	r->batch = BATCH;
	return r;
}

void retention_free(struct retention *r)
{
	if (!r)
		return;
	disconnect(r);
	free(r);
}

void retention_set_pace(struct retention *r, int64_t pause_ms, int64_t batch)
{
	r->first_ms = 0;
	r->pause_ms = pause_ms;
	r->batch = batch;
}

void retention_tick(
	struct retention *r, int64_t epoch, int64_t since_ms, int64_t now_ms, int64_t tick_ms)
{
	r->tick_ms = tick_ms;
	if (r->epoch != epoch) {
		r->epoch = epoch;
		r->next_tick_ms = tick_ms + r->first_ms;
	}
	if (r->over)
		disconnect(r);
	if (tick_ms < r->next_tick_ms)
		return;
	if (!r->conn)
		connect_to_ledger(r);
	if (!r->conn || !pg_conn_up(r->conn) || pg_conn_busy(r->conn) || r->under_way)
		return;
	int64_t old_ms = now_ms - r->o.keep_ms, spare_ms = since_ms - RETENTION_DAY_MS;
	forget_batch(r, old_ms < spare_ms ? old_ms : spare_ms);
}
