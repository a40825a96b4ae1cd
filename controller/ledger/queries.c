/*
 * The requests of one round: what a new leader reads back (LOAD, RECALL), what people ask of the
 * past, and what became of Jobs. Each is a struct pg_query, and a function that reads a row of its
 * answer. The top of each file of sql/ tells its columns.
 */
#include <string.h>

#include "base/must.h"
#include "controller/ledger/pg_priv.h"
#include "controller/ledger/sql.h"

#define DURATIONS_LOOKED_AT 100000 /* runs: half a second at most */

static void ask_fenced(struct pg *pg, const struct pg_query *q, int64_t epoch, struct params *p,
	const struct pg_asker *asker)
{
	pg_line_up(pg, (struct request){.query = q, .params = p, .epoch = epoch, .asker = *asker});
}

/* ---- LOAD -------------------------------------------------------------------------------------
 */

static bool same_reservation(const struct pg_result *res, int x, int y)
{
	struct uid a = field_uuid(res, x, 0), b = field_uuid(res, y, 0);
	return !uid_cmp(&a, &b) && field_int4(res, x, 1) == field_int4(res, y, 1);
}

static void read_reservation(const struct pg_result *res, int row, void *ret)
{
	*(struct ledger_reservation *)ret = (struct ledger_reservation){
		.uid = field_uuid(res, row, 0),
		.attempt = field_int4(res, row, 1),
		.state = ledger_state_named(field_text(res, row, 2)),
		.ns = field_text(res, row, 3),
		.name = field_text(res, row, 4),
		.clusterqueue = field_text(res, row, 5),
		.reserved_ms = field_time(res, row, 6),
		.started_ms = field_time(res, row, 7),
		.localqueue = field_text(res, row, 12),
		.estimated = field_bool(res, row, 13),
		.sizes = field_null(res, row, 14) ? 0 : field_int4(res, row, 14) - PG_SIZES_FROM,
		.owner = field_text(res, row, 15),
		.submitted_by = field_text_or_null(res, row, 16)};
}

static void add_to_reservation(void *ret, const struct quota_line *line)
{
	struct ledger_reservation *h = ret;
	if (h->nlines++ == 0)
		h->lines = line;
}

static const struct pg_query LOAD = {.name = "load",
	.sql = SQL_LOAD,
	.fenced = true,
	.row_bytes = sizeof(struct ledger_reservation),
	.read = read_reservation,
	.same = same_reservation,
	.add_line = add_to_reservation};

void pg_load(struct pg *pg, int64_t epoch, const struct pg_asker *asker)
{
	struct params *p = request_params(pg, epoch);
	params_int8(p, PG_SIZES_FROM);
	ask_fenced(pg, &LOAD, epoch, p, asker);
}

/* ---- RECALL -----------------------------------------------------------------------------------
 */

static bool same_run(const struct pg_result *res, int x, int y)
{
	return same_reservation(res, x, y) && field_time(res, x, 7) == field_time(res, y, 7);
}

static void read_run(const struct pg_result *res, int row, void *ret)
{
	*(struct ledger_run *)ret = (struct ledger_run){.ns = field_text(res, row, 2),
		.localqueue = field_text(res, row, 3),
		.clusterqueue = field_text(res, row, 4),
		.from_ms = field_time(res, row, 5),
		.to_ms = field_time(res, row, field_null(res, row, 7) ? 6 : 7),
		.mark = {.ended_us = field_int8(res, row, 6),
			.uid = field_uuid(res, row, 0),
			.attempt = field_int4(res, row, 1)}};
}

static void add_to_run(void *ret, const struct quota_line *line)
{
	struct ledger_run *run = ret;
	if (run->nlines++ == 0)
		run->lines = line;
}

static const struct pg_query RECALL = {.name = "recall",
	.sql = SQL_RECALL,
	.fenced = true,
	.row_bytes = sizeof(struct ledger_run),
	.read = read_run,
	.same = same_run,
	.add_line = add_to_run};

void pg_recall(struct pg *pg, int64_t epoch, const struct ledger_mark *after, size_t attempts,
	const struct pg_asker *asker)
{
	struct params *p = request_params(pg, epoch);
	must(attempts > 0);
	params_int8(p, after->ended_us);
	params_uuid(p, &after->uid);
	params_int8(p, after->attempt);
	params_int8(p, (int64_t)attempts);
	ask_fenced(pg, &RECALL, epoch, p, asker);
}

static void read_spent(const struct pg_result *res, int row, void *ret)
{
	*(struct ledger_spent *)ret = (struct ledger_spent){field_text(res, row, 0),
		field_text(res, row, 1), field_text(res, row, 2), field_text(res, row, 3),
		field_int8(res, row, 4), field_int8(res, row, 5)};
}

static const struct pg_query SPENT = {.name = "recall-spent",
	.sql = SQL_RECALL_SPENT,
	.fenced = true,
	.row_bytes = sizeof(struct ledger_spent),
	.read = read_spent};

static int64_t time_within(int64_t ms)
{
	return ms < 0 ? 0 : ms < PG_TIME_MAX_MS ? ms : PG_TIME_MAX_MS;
}

void pg_recall_spent(struct pg *pg, int64_t epoch, int64_t since_ms, int64_t from_ms, int64_t to_ms,
	const struct pg_asker *asker)
{
	struct params *p = request_params(pg, epoch);
	params_int8(p, since_ms);
	params_int8(p, from_ms);
	params_int8(p, to_ms < PG_TIME_MAX_MS ? to_ms : PG_TIME_MAX_MS);
	ask_fenced(pg, &SPENT, epoch, p, asker);
}

static void read_duration(const struct pg_result *res, int row, void *ret)
{
	*(struct ledger_duration *)ret = (struct ledger_duration){field_text(res, row, 0),
		field_text(res, row, 1), field_int8(res, row, 2), field_text(res, row, 3),
		field_text(res, row, 4), field_text(res, row, 5)};
}

static const struct pg_query DURATIONS = {.name = "recall-durations",
	.sql = SQL_RECALL_DURATIONS,
	.fenced = true,
	.row_bytes = sizeof(struct ledger_duration),
	.read = read_duration};

void pg_recall_durations(struct pg *pg, int64_t epoch, int64_t since_ms, size_t of_each,
	const struct pg_asker *asker)
{
	struct params *p = request_params(pg, epoch);
	params_int8(p, since_ms);
	params_int8(p, (int64_t)of_each);
	params_int8(p, DURATIONS_LOOKED_AT);
	ask_fenced(pg, &DURATIONS, epoch, p, asker);
}

/* ---- The past, for people ---------------------------------------------------------------------
 */

static void read_cost(const struct pg_result *res, int row, void *ret)
{
	*(struct ledger_cost *)ret = (struct ledger_cost){.key = field_text_or_null(res, row, 0),
		.currency = field_text_or_null(res, row, 1),
		.runs = field_int8(res, row, 2),
		.ran_ms = field_int8(res, row, 3),
		.cost = field_null(res, row, 4) ? 0 : field_int8(res, row, 4),
		.lost_ms = field_int8(res, row, 5),
		.is_total = field_bool(res, row, 6),
		.estimated_ms = field_int8(res, row, 7),
		.estimated_cost = field_int8(res, row, 8)};
}

static void read_text(const struct pg_result *res, int row, void *ret)
{
	*(struct ledger_row *)ret = (struct ledger_row){.json = field_text(res, row, 0)};
}

static void read_text_or_total(const struct pg_result *res, int row, void *ret)
{
	*(struct ledger_row *)ret = (struct ledger_row){
		.json = field_text(res, row, 0), .is_total = field_bool(res, row, 1)};
}

#define PAST(a_name, a_sql, row_type, a_read)                                                      \
	{                                                                                          \
		.name = a_name, .sql = a_sql, .aside = true, .asks_horizon = true,                 \
		.row_bytes = sizeof(struct row_type), .read = a_read                               \
	}
static const struct pg_query PAST_QUERIES[] = {
	[PAST_COST] = PAST("cost", SQL_COST, ledger_cost, read_cost),
	[PAST_REPORT] = PAST("report", SQL_REPORT, ledger_row, read_text_or_total),
	[PAST_RUNS] = PAST("runs", SQL_RUNS, ledger_row, read_text),
	[PAST_USAGE] = PAST("usage", SQL_USAGE, ledger_row, read_text),
	[PAST_SPANS] = PAST("spans", SQL_SPANS, ledger_row, read_text),
};

/* Adds a name that narrows a question; "" is all. */
static void add_narrowing(struct params *p, const char *text)
{
	must(!text || text[0]);
	params_text(p, text ? text : "");
}

static void add_runs(struct params *p, const struct past_question *q, size_t rows)
{
	add_narrowing(p, q->ns);
	add_narrowing(p, q->job);
	add_narrowing(p, q->submitter);
	params_int8(p, (int64_t)rows);
}

static void add_usage(struct params *p, const struct past_question *q, size_t rows)
{
	must(q->clusterqueue && q->step_ms > 0);
	params_text(p, q->clusterqueue);
	params_int8(p, q->step_ms);
	params_int8(p, (int64_t)rows);
}

static void add_spans(struct params *p, const struct past_question *q, size_t rows)
{
	must(q->step_ms > 0);
	add_narrowing(p, q->ns);
	add_narrowing(p, q->clusterqueue);
	params_int8(p, q->step_ms);
	params_int8(p, (int64_t)rows);
}

static void add_sums(struct params *p, const struct past_question *q, size_t rows)
{
	static const char *const by[] = {"queue", "namespace", "owner", "user", "label"};
	params_text(p, by[q->by]);
	params_text(p, q->label ? q->label : "");
	params_int8(p, (int64_t)rows);
	add_narrowing(p, q->ns);
}

void pg_past(
	struct pg *pg, const struct past_question *q, size_t rows, const struct pg_asker *asker)
{
	struct params *p = pg_params(pg);
	params_int8(p, time_within(q->from_ms));
	params_int8(p, time_within(q->to_ms));
	if (q->kind == PAST_RUNS)
		add_runs(p, q, rows);
	else if (q->kind == PAST_USAGE)
		add_usage(p, q, rows);
	else if (q->kind == PAST_SPANS)
		add_spans(p, q, rows);
	else
		add_sums(p, q, rows);
	pg_ask(pg, &PAST_QUERIES[q->kind], p, asker);
}

/* ---- What became of Jobs ----------------------------------------------------------------------
 */

static void read_outcome(const struct pg_result *res, int row, void *ret)
{
	*(struct ledger_outcome_row *)ret =
		(struct ledger_outcome_row){.name = (size_t)field_int4(res, row, 0) - 1,
			.uid = field_uuid(res, row, 1),
			.outcome = ledger_outcome_named(field_text_or_null(res, row, 2)),
			.ended_ms = field_time(res, row, 3),
			.created_ms = field_time(res, row, 4),
			.held = field_bool(res, row, 5)};
}

static const struct pg_query OUTCOMES = {.name = "outcomes",
	.sql = SQL_OUTCOMES,
	.aside = true,
	.row_bytes = sizeof(struct ledger_outcome_row),
	.read = read_outcome};

void pg_outcomes(
	struct pg *pg, const struct ledger_job_name *names, size_t n, const struct pg_asker *asker)
{
	enum {
		JOBS_OF_EACH = 4,  /* the newest */
		RUNS_OF_EACH = 32, /* that are looked at: a Job may have been stopped often */
	};
	struct params *p = pg_params(pg);
	struct param *c = params_columns(p, "tt");
	must(n <= LEDGER_NAMES_MAX);
	params_int8(p, JOBS_OF_EACH);
	params_int8(p, RUNS_OF_EACH);
	for (size_t i = 0; i < n; i++) {
		put_text(c, names[i].ns);
		put_text(c + 1, names[i].name);
	}
	pg_ask(pg, &OUTCOMES, p, asker);
}
