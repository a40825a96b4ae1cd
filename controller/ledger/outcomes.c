#include "controller/ledger/outcomes.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "controller/ledger/pg_conn.h"
#include "controller/ledger/sql.h"

enum {
	RUNS_OF_EACH = 32, /* of a name that are looked at: a Job may have been stopped often */
	IDLE_MS = 60000,
};

struct outcomes {
	struct outcomes_options o;
	struct ev_loop *loop;
	struct pg_conn *conn; /* NULL: not needed */
	struct params *asked; /* of the question under way, while it waits for the connection */
	bool under_way;	      /* it was sent */
	int64_t tick_ms, used_ms;
	char trouble[512]; /* said last */
};

/* ---- the question ---------------------------------------------------------------------------- */

static void send_question(struct outcomes *x)
{
	pg_conn_add_settings(x->conn, SQL_SETTINGS);
	pg_conn_add(x->conn, SQL_OUTCOMES_PLAN, NULL);
	pg_conn_add(x->conn, SQL_OUTCOMES, x->asked);
	x->asked = NULL;
	x->under_way = true;
	pg_conn_go(x->conn);
}

static void answer(
	struct outcomes *x, enum ledger_outcome o, const struct ledger_outcome_row *rows, size_t n)
{
	if (x->asked)
		params_free(x->asked);
	x->asked = NULL;
	x->under_way = false;
	x->used_ms = x->tick_ms;
	x->o.answered(o, rows, n, x->o.ctx);
}

static enum ledger_job_outcome outcome_named(const struct pg_result *res, int row)
{
	static const struct {
		const char *name;
		enum ledger_job_outcome outcome;
	} names[] = {{"Succeeded", LEDGER_JOB_SUCCEEDED}, {"Failed", LEDGER_JOB_FAILED},
		{"Deleted", LEDGER_JOB_DELETED}};
	for (size_t i = 0; !field_null(res, row, 2) && i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(field_text(res, row, 2), names[i].name) == 0)
			return names[i].outcome;
	return LEDGER_JOB_GOES_ON;
}

static void take_answer(struct outcomes *x, const struct pg_result *res)
{
	size_t n = (size_t)PQntuples(res);
	struct ledger_outcome_row *rows = mem_array(n + 1, sizeof(*rows));
	for (int i = 0; i < PQntuples(res); i++)
		rows[i] = (struct ledger_outcome_row){.name = (size_t)field_int4(res, i, 0) - 1,
			.uid = field_uuid(res, i, 1),
			.outcome = outcome_named(res, i),
			.ended_ms = field_time(res, i, 3),
			.created_ms = field_time(res, i, 4),
			.held = field_bool(res, i, 5)};
	x->trouble[0] = '\0';
	answer(x, LEDGER_DONE, rows, n);
	free(rows);
}

/* ---- the connection -------------------------------------------------------------------------- */

static void complain(struct outcomes *x, const char *why)
{
	if (strncmp(x->trouble, why, sizeof(x->trouble) - 1) == 0)
		return;
	snprintf(x->trouble, sizeof(x->trouble), "%s", why);
	if (x->o.log)
		log_event(x->o.log, LEVEL_WARN, "outcomes-unknown", "why", why, "effect",
			"Jobs that wait for a Job that is gone (sluice.dev/after) wait on", NULL);
}

static void on_up(void *ctx)
{
	struct outcomes *x = ctx;
	if (x->asked)
		send_question(x);
}

static void on_down(bool came_up, const char *sentence, void *ctx)
{
	struct outcomes *x = ctx;
	(void)came_up;
	complain(x, sentence);
	if (x->asked || x->under_way)
		answer(x, LEDGER_LOST, NULL, 0);
}

static void on_round(struct round *round, void *ctx)
{
	struct outcomes *x = ctx;
	if (!round->sqlstate[0]) {
		pg_conn_praise(x->conn);
		take_answer(x, round->result[round->count - 1]);
	} else if (pg_conn_unprepared(round->sqlstate)) {
		answer(x, LEDGER_LOST, NULL, 0); /* asked again, it is sent as a whole */
	} else {
		pg_conn_drop(x->conn, round->fault.text);
	}
}

/* A connection string that cannot be read ended the program before this. */
static void connect_to_ledger(struct outcomes *x)
{
	struct pg_conn_options o = {.conninfo = x->o.conninfo,
		.application_name = "sluice-controller outcomes",
		.seed = x->o.seed};
	struct pg_conn_events events = {.up = on_up, .down = on_down, .round = on_round, .ctx = x};
	struct err e = {""};
	must(pg_conn_new(x->loop, &o, &events, &x->conn, &e) == 0);
}

/* ---- its life -------------------------------------------------------------------------------- */

struct outcomes *outcomes_new(struct ev_loop *loop, const struct outcomes_options *o)
{
	struct outcomes *x = mem_alloc(sizeof(*x));
	x->loop = loop;
	x->o = *o;
	return x;
}

static void disconnect(struct outcomes *x)
{
	if (x->conn)
		pg_conn_free(x->conn);
	x->conn = NULL;
}

void outcomes_free(struct outcomes *x)
{
	if (!x)
		return;
	disconnect(x);
	if (x->asked)
		params_free(x->asked);
	free(x);
}

bool outcomes_idle(const struct outcomes *x)
{
	return !x->asked && !x->under_way;
}

void outcomes_ask(struct outcomes *x, const struct outcomes_name *names, size_t n)
{
	must(outcomes_idle(x) && n <= OUTCOMES_NAMES_MAX);
	struct params *p = x->asked = params_new();
	params_text(p, x->o.cell);
	struct param *ns = params_array(p, PARAM_TEXT), *name = params_array(p, PARAM_TEXT);
	params_int8(p, OUTCOMES_OF_EACH);
	params_int8(p, RUNS_OF_EACH);
	for (size_t i = 0; i < n; i++) {
		put_text(ns, names[i].ns);
		put_text(name, names[i].name);
	}
	if (!x->conn)
		connect_to_ledger(x);
	else if (pg_conn_up(x->conn))
		send_question(x);
}

void outcomes_tick(struct outcomes *x, int64_t tick_ms)
{
	x->tick_ms = tick_ms;
	if (!outcomes_idle(x))
		x->used_ms = tick_ms;
	else if (x->conn && tick_ms - x->used_ms > IDLE_MS)
		disconnect(x);
}
