/*
 * What people ask of the past: one statement, whatever the question, and how far back the ledger
 * remembers.
 */
#include <stdlib.h>

#include <libpq-fe.h>

#include "base/mem.h"
#include "base/must.h"
#include "controller/ledger/params.h"
#include "controller/ledger/pg_priv.h"
#include "controller/ledger/sql.h"

static int64_t time_within(int64_t ms)
{
	return ms < 0 ? 0 : ms < PG_TIME_MAX_MS ? ms : PG_TIME_MAX_MS;
}

/* In the statements "" is all of them. */
static void add_narrowing(struct params *p, const char *text)
{
	must(!text || text[0]);
	params_text(p, text ? text : "");
}

static void ask_runs(struct pg *pg, struct request *r, struct params *p)
{
	add_narrowing(p, r->ns);
	add_narrowing(p, r->job);
	add_narrowing(p, r->submitter);
	params_int8(p, (int64_t)r->attempts);
	pg_conn_add(pg->conn, SQL_RUNS, p);
}

static void ask_usage(struct pg *pg, struct request *r, struct params *p)
{
	must(r->clusterqueue && r->question.step_ms > 0);
	params_text(p, r->clusterqueue);
	params_int8(p, r->question.step_ms);
	params_int8(p, (int64_t)r->attempts);
	pg_conn_add(pg->conn, SQL_USAGE, p);
}

static void ask_sums(struct pg *pg, struct request *r, struct params *p)
{
	static const char *const by[] = {"queue", "namespace", "owner", "user", "label"};
	params_text(p, by[r->question.by]);
	params_text(p, r->label ? r->label : "");
	params_int8(p, (int64_t)r->attempts);
	add_narrowing(p, r->ns);
	pg_conn_add(pg->conn, r->question.kind == PAST_COST ? SQL_COST : SQL_REPORT, p);
}

static void ask(struct pg *pg, struct request *r)
{
	struct params *p = params_new(), *horizon = params_new();
	params_text(p, pg->cell);
	params_int8(p, time_within(r->question.from_ms));
	params_int8(p, time_within(r->question.to_ms));
	request_begin_round(pg, r, STEP_PAST);
	if (r->question.kind == PAST_RUNS)
		ask_runs(pg, r, p);
	else if (r->question.kind == PAST_USAGE)
		ask_usage(pg, r, p);
	else
		ask_sums(pg, r, p);
	params_text(horizon, pg->cell);
	pg_conn_add(pg->conn, SQL_COST_HORIZON, horizon);
	pg_conn_go(pg->conn);
}

static void answer_costs(struct pg *pg, const struct pg_result *res, int64_t forgotten_until_ms)
{
	size_t n = (size_t)PQntuples(res);
	struct ledger_cost *rows = mem_array(n + 1, sizeof(*rows));
	for (int i = 0; i < PQntuples(res); i++)
		rows[i] = (struct ledger_cost){.key = field_text_or_null(res, i, 0),
			.currency = field_text_or_null(res, i, 1),
			.runs = field_int8(res, i, 2),
			.ran_ms = field_int8(res, i, 3),
			.cost = field_null(res, i, 4) ? 0 : field_int8(res, i, 4),
			.lost_ms = field_int8(res, i, 5),
			.is_total = field_bool(res, i, 6),
			.estimated_ms = field_int8(res, i, 7),
			.estimated_cost = field_int8(res, i, 8)};
	pg_answer_cost(pg, LEDGER_DONE, rows, n, forgotten_until_ms);
	free(rows);
}

static void answer_rows(
	struct pg *pg, const struct pg_result *res, bool has_totals, int64_t forgotten_until_ms)
{
	size_t n = (size_t)PQntuples(res);
	struct ledger_row *rows = mem_array(n + 1, sizeof(*rows));
	for (int i = 0; i < PQntuples(res); i++)
		rows[i] = (struct ledger_row){.json = field_text(res, i, 0),
			.is_total = has_totals && field_bool(res, i, 1)};
	pg_answer_rows(pg, LEDGER_DONE, rows, n, forgotten_until_ms);
	free(rows);
}

void past_step(struct pg *pg, struct request *r, struct round *round)
{
	if (!round) {
		ask(pg, r);
		return;
	}
	const struct pg_result *horizon = round->result[round->count - 1];
	const struct pg_result *res = round->result[round->count - 2];
	int64_t forgotten_until_ms = PQntuples(horizon) > 0 ? field_time(horizon, 0, 0) : 0;
	if (r->question.kind == PAST_COST)
		answer_costs(pg, res, forgotten_until_ms);
	else
		answer_rows(pg, res, r->question.kind == PAST_REPORT, forgotten_until_ms);
}
