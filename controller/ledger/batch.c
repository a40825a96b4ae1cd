/*
 * BATCH: what must be known for the operations, the plan (batch_plan.h) that judges them one by
 * one, and a round that writes what they do. Mostly the cache (cache.h) knows enough, and that
 * round is the only one; else a round that reads comes before it. Each round is one transaction,
 * and each of its statements is fenced by epoch and session.
 *
 * What is known can change before the write only by hand: any other client that may write has
 * another epoch or session, and after a takeover the fence is closed. No lock is held while it is
 * our turn to think, so a leader that stops there (a stopped process, a cut network) blocks
 * nothing.
 *
 * The road not taken is one SQL statement that does it all, with window functions running along
 * operations, lines and balances: the same verdicts, but 5 ms to plan and 16 ms to run for 100
 * operations, and quadratic, since the planner cannot see into it; and after a RESERVE that finds
 * no room it had to start anew. Nor one statement for all the writing: it takes longer to plan than
 * its parts, of which most are not needed most of the time.
 */
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "base/mem.h"
#include "base/must.h"
#include "controller/ledger/pg_priv.h"
#include "controller/ledger/sql.h"

static int32_t seq_of(const struct ledger_op *op)
{
	bool numbered = ledger_changes_size(op->kind);
	return numbered ? PG_SIZES_FROM + op->seq : op->seq;
}

/* ---- Reading ----------------------------------------------------------------------------------
 */

/* Put an attempt, or the name of a row, and return the column behind. */
static struct param *put_attempt(struct param *c, const struct batch_plan_reservation *h)
{
	put_uuid(c++, &h->uid);
	put_int4(c++, h->attempt);
	return c;
}

static struct param *put_row_name(struct param *c, const struct batch_plan_row *row)
{
	put_text(c++, row->node);
	put_text(c++, row->flavor);
	put_text(c++, row->resource);
	return c;
}

static void ask_reservations(struct pg *pg, struct request *r)
{
	struct params *p = request_params(pg, r->epoch);
	struct param *c = params_columns(p, "uib");
	for (size_t i = 0; i < r->batch_plan->nreservations; i++) {
		put_attempt(c, &r->batch_plan->reservations[i]);
		put_bool(c + 2, r->batch_plan->reservations[i].reserving);
	}
	pg_conn_add(pg->conn, SQL_BATCH_HOLDS, p);
}

static void ask_resizes(struct pg *pg, struct request *r)
{
	struct params *p = pg_params(pg);
	struct param *c = params_columns(p, "uiti");
	for (size_t i = 0; i < r->batch_plan->nresizes; i++) {
		const struct ledger_op *op = &r->batch_plan->ops[r->batch_plan->resizes[i]];
		put_uuid(c, &op->uid);
		put_int4(c + 1, op->attempt);
		put_text(c + 2, ledger_kind_name(op->kind));
		put_int4(c + 3, seq_of(op));
	}
	pg_conn_add(pg->conn, SQL_BATCH_RESIZES, p);
}

static void ask_rows(struct pg *pg, struct request *r)
{
	const struct batch_plan *b = r->batch_plan;
	struct params *p = pg_params(pg);
	struct param *c = params_columns(p, "tttui");
	for (size_t i = 0; i < b->nnamed; i++)
		put_row_name(c, b->rows[i]);
	for (size_t i = 0; i < b->nreservations; i++)
		put_attempt(c + 3, &b->reservations[i]);
	pg_conn_add(pg->conn, SQL_BATCH_ROWS, p);
}

static void batch_open_batch_plan(struct request *r)
{
	batch_plan_free(r->batch_plan); /* of an earlier try */
	for (size_t i = 0; i < r->read.count; i++)
		PQclear(r->read.result[i]);
	r->read = (struct round){0};
	r->batch_plan = batch_plan_new(r->batch->ops, r->batch->nops);
}

static void batch_read(struct pg *pg, struct request *r)
{
	batch_open_batch_plan(r);
	request_begin_round(pg, r, STEP_READ);
	ask_reservations(pg, r);
	if (r->batch_plan->nresizes)
		ask_resizes(pg, r);
	ask_rows(pg, r);
	pg_conn_go(pg->conn);
}

/* Reads a reservation. Columns are those of batch_holds.sql, here and below. */
static struct held read_held(const struct pg_result *res, int row)
{
	return (struct held){.state = ledger_state_named(field_text(res, row, 1)),
		.ns = field_text(res, row, 2),
		.name = field_text(res, row, 3),
		.clusterqueue = field_text(res, row, 4),
		.reserved_ms = field_time(res, row, 5),
		.started_ms = field_time(res, row, 6),
		.localqueue = field_text(res, row, 13),
		.stopping_ms = field_time(res, row, 14),
		.reason = field_text_or_null(res, row, 15),
		.actor = field_text_or_null(res, row, 16),
		.has_lost = !field_null(res, row, 17),
		.lost_ms = field_null(res, row, 17) ? 0 : field_int8(res, row, 17),
		.has_started_lines = field_bool(res, row, 18),
		.owner = field_text(res, row, 23),
		.labels = field_text_or_null(res, row, 24),
		.estimated = field_bool(res, row, 25),
		.created_ms = field_time(res, row, 26),
		.submitted_by = field_text_or_null(res, row, 27),
		.queued_ms = field_time(res, row, 28)};
}

/* Reads a line of quota of four columns. */
static struct quota_line read_line(const struct pg_result *res, int row, int column)
{
	return (struct quota_line){field_text(res, row, column), field_text(res, row, column + 1),
		field_text(res, row, column + 2), field_int8(res, row, column + 3)};
}

static void found_reservation(struct batch_plan *b, const struct pg_result *res, int row)
{
	size_t reservation = (size_t)field_int4(res, row, 0) - 1;
	if (!field_null(res, row, 8))
		batch_plan_found_attempts(
			b, reservation, !field_null(res, row, 7), field_int4(res, row, 8));
	if (field_null(res, row, 1))
		return;
	struct held found = read_held(res, row);
	batch_plan_found_reservation(b, reservation, &found);
	if (!field_null(res, row, 9)) {
		struct quota_line line = read_line(res, row, 9);
		batch_plan_found_line(b, reservation, &line);
	}
	if (!field_null(res, row, 19)) {
		struct quota_line line = read_line(res, row, 19);
		batch_plan_found_started_line(b, reservation, &line);
	}
}

static void found_row(struct batch_plan *b, const struct pg_result *res, int row)
{
	struct quota_line name = {
		field_text(res, row, 0), field_text(res, row, 1), field_text(res, row, 2), 0};
	struct balance found = {
		.part = {field_int8(res, row, 3), field_int8(res, row, 4), field_int8(res, row, 5)},
		.members = field_int8(res, row, 6),
		.wanted = field_int8(res, row, 7),
		.parent = field_text(res, row, 8),
		.guaranteed = field_int8(res, row, 9)};
	batch_plan_found_row(b, &name, &found);
}

/* Tells the plan what was read. False: the fence is closed. */
static bool batch_found(struct batch_plan *b, const struct round *round)
{
	/* Results of the settings, and perhaps of an attach, come first. */
	size_t at = round->count - 2 - (b->nresizes > 0);
	const struct pg_result *reservations = round->result[at++];
	const struct pg_result *resizes = b->nresizes ? round->result[at++] : NULL;
	const struct pg_result *rows = round->result[at++];
	if (!PQntuples(reservations))
		return false;
	for (int i = 0; i < PQntuples(reservations); i++)
		if (!field_null(reservations, i,
			    0)) /* one row of NULLs when no reservation was named */
			found_reservation(b, reservations, i);
	for (int i = 0; i < PQntuples(resizes); i++)
		batch_plan_found_resize(b, (size_t)field_int4(resizes, i, 0) - 1);
	for (int i = 0; i < PQntuples(rows); i++)
		found_row(b, rows, i);
	return true;
}

/* ---- Writing: each its statement in sql/write_*.sql -------------------------------------------
 */

static void put_lines(
	struct param *a, const struct batch_plan *b, const struct batch_plan_line *lines, size_t n)
{
	struct buf json;
	buf_init(&json, (size_t)1 << 24);
	buf_putc(&json, '[');
	for (size_t i = 0; i < n; i++) {
		const struct batch_plan_row *row = b->rows[lines[i].row];
		buf_puts(&json, i ? ",[" : "[");
		buf_json_string(&json, row->node);
		buf_putc(&json, ',');
		buf_json_string(&json, row->flavor);
		buf_putc(&json, ',');
		buf_json_string(&json, row->resource);
		buf_printf(&json, ",%lld]", (long long)lines[i].amount);
	}
	buf_putc(&json, ']');
	must(!json.failed);
	put_json(a, buf_slice(&json));
	buf_done(&json);
}

static void put_int8_if(struct param *a, bool there, int64_t v)
{
	if (there)
		put_int8(a, v);
	else
		put_null(a);
}

static void put_json_text(struct param *a, const char *json)
{
	if (json)
		put_json(a, slice_of(json));
	else
		put_null(a);
}

/* Puts what a run cost, or that it has no price. */
static struct param *put_bill(struct param *c, const struct ledger_op *bill)
{
	put_text(c++, bill ? bill->plan : NULL);
	put_text(c++, bill ? bill->currency : NULL);
	put_json_text(c++, bill ? bill->price : NULL);
	put_int8_if(c++, bill, bill ? bill->cost : 0);
	return c;
}

static bool put_transfer(struct param *c, const struct batch_plan *b, size_t i)
{
	const struct batch_plan_entry *e = &b->entries[i];
	const struct ledger_op *op = &b->ops[e->op];
	/* RESERVE and ADOPT share the key: an attempt is reserved once. The reason tells them
	 * apart. */
	bool reserves = ledger_reserves(op->kind);
	bool ends =
		op->kind == LEDGER_STOP || op->kind == LEDGER_RELEASE || op->kind == LEDGER_VOID;
	bool tells = ends || op->kind == LEDGER_ADOPT || op->adopts;
	put_uuid(c++, &op->uid);
	put_int4(c++, op->attempt);
	put_text(c++, ledger_kind_name(reserves ? LEDGER_RESERVE : op->kind));
	put_int4(c++, seq_of(op));
	put_time(c++, op->at_ms > 0 ? op->at_ms : 1);
	put_text(c++, e->has_source ? ledger_state_name(e->source) : NULL);
	put_text(c++, e->has_target ? ledger_state_name(e->target) : NULL);
	put_lines(c++, b, e->lines, e->nlines);
	put_text(c++, tells ? op->reason : NULL);
	put_text(c++, tells ? op->actor : NULL);
	put_int8_if(c++, ends, op->lost_ms);
	put_text(c++, ends ? op->preemptor : NULL);
	return true;
}

static struct param *put_parts(struct param *c, const struct balance *v)
{
	put_int8(c++, v->part[LEDGER_PENDING]);
	put_int8(c++, v->part[LEDGER_POSTED]);
	put_int8(c++, v->part[LEDGER_RELEASING]);
	put_int8(c++, v->members);
	return c;
}

static bool put_balance(struct param *c, const struct batch_plan *b, size_t i)
{
	const struct batch_plan_row *row = b->rows[i];
	if (!row->exists || !batch_plan_row_changed(row))
		return false;
	int64_t before = balance_use(&row->was), after = balance_use(&row->now);
	c = put_row_name(c, row);
	c = put_parts(c, &row->was);
	c = put_parts(c, &row->now);
	put_int8_if(c++, row->follows || after <= before, after);
	put_int8_if(c++, row->made, row->now.wanted);
	put_text(c++, row->made ? row->now.parent : NULL);
	put_int8_if(c++, row->made, row->now.guaranteed);
	return true;
}

static bool put_new_balance(struct param *c, const struct batch_plan *b, size_t i)
{
	const struct batch_plan_row *row = b->rows[i];
	if (row->exists || !batch_plan_row_changed(row))
		return false;
	c = put_row_name(c, row);
	c = put_parts(c, &row->now);
	put_int8(c++, balance_use(&row->now));
	put_int8(c++, row->now.wanted);
	put_text(c++, row->now.parent);
	put_int8(c++, row->now.guaranteed);
	return true;
}

static struct param *put_names(struct param *c, const struct batch_plan_reservation *h)
{
	put_text(c++, h->is.ns);
	put_text(c++, h->is.name);
	put_text(c++, h->is.clusterqueue);
	put_text(c++, h->is.localqueue);
	return c;
}

static struct param *put_stop(struct param *c, const struct batch_plan_reservation *h)
{
	put_text(c++, h->is.reason);
	put_text(c++, h->is.actor);
	put_int8_if(c++, h->is.has_lost, h->is.lost_ms);
	return c;
}

/* Puts what a reservation held at COMMIT, if that is not what it holds now. */
static void put_started_lines(
	struct param *c, const struct batch_plan *b, const struct batch_plan_reservation *h)
{
	if (h->is.has_started_lines)
		put_lines(c, b, h->started_lines, h->nstarted_lines);
	else
		put_null(c);
}

static bool put_reservation(struct param *c, const struct batch_plan *b, size_t i)
{
	const struct batch_plan_reservation *h = &b->reservations[i];
	if (!h->was_open || !h->open || !h->changed)
		return false;
	c = put_attempt(c, h);
	put_text(c++, ledger_state_name(h->is.state));
	put_time(c++, h->is.started_ms);
	put_time(c++, h->is.stopping_ms);
	c = put_stop(c, h);
	if (h->resized)
		put_lines(c++, b, h->lines, h->nlines);
	else
		put_null(c++);
	put_started_lines(c++, b, h);
	return true;
}

static bool put_new_reservation(struct param *c, const struct batch_plan *b, size_t i)
{
	const struct batch_plan_reservation *h = &b->reservations[i];
	if (h->was_open || !h->open)
		return false;
	c = put_attempt(c, h);
	put_text(c++, ledger_state_name(h->is.state));
	c = put_names(c, h);
	put_time(c++, h->is.reserved_ms > 0 ? h->is.reserved_ms : 1);
	put_time(c++, h->is.started_ms);
	put_time(c++, h->is.stopping_ms);
	c = put_stop(c, h);
	put_lines(c++, b, h->lines, h->nlines);
	put_started_lines(c++, b, h);
	put_text(c++, h->is.owner);
	put_json_text(c++, h->is.labels);
	put_bool(c++, h->is.estimated);
	put_time(c++, h->is.created_ms);
	put_text(c++, h->is.submitted_by);
	put_time(c++, h->is.queued_ms);
	return true;
}

static bool put_closed_reservation(struct param *c, const struct batch_plan *b, size_t i)
{
	const struct batch_plan_reservation *h = &b->reservations[i];
	if (!h->was_open || h->open)
		return false;
	put_attempt(c, h);
	return true;
}

static bool put_segment(struct param *c, const struct batch_plan *b, size_t i)
{
	const struct batch_plan_reservation *h = &b->reservations[i];
	if (!batch_plan_reservation_ended(h))
		return false;
	c = put_attempt(c, h);
	c = put_names(c, h);
	put_time(c++, h->is.started_ms);
	put_time(c++, h->is.stopping_ms);
	put_time(c++, h->stopped_ms);
	c = put_stop(c, h);
	if (h->is.has_started_lines)
		put_lines(c++, b, h->started_lines, h->nstarted_lines);
	else
		put_lines(c++, b, h->lines, h->nlines);
	put_text(c++, h->is.owner);
	put_json_text(c++, h->is.labels);
	c = put_bill(c, h->bill);
	put_bool(c++, h->is.estimated);
	put_time(c++, h->is.created_ms);
	put_text(c++, ledger_outcome_name(h->outcome));
	put_text(c++, h->is.submitted_by);
	put_time(c++, h->is.queued_ms);
	return true;
}

/* A statement of the writing: what of the plan has a row, its columns ($4 and on, letters as for
 * params_columns()), and the function that puts a row into them (false: there is none). */
struct write {
	const char *sql;
	enum { OF_ENTRIES, OF_ROWS, OF_RESERVATIONS } of;
	const char *columns;
	bool (*put)(struct param *columns, const struct batch_plan *b, size_t i);
};

static const struct write WRITES[] = {
	{SQL_WRITE_TRANSFERS, OF_ENTRIES, "uitizttjttnt", put_transfer},
	{SQL_WRITE_BALANCES, OF_ROWS, "tttnnnnnnnnnntn", put_balance},
	{SQL_WRITE_NEW_BALANCES, OF_ROWS, "tttnnnnnntn", put_new_balance},
	{SQL_WRITE_HOLDS, OF_RESERVATIONS, "uitzzttnjj", put_reservation},
	{SQL_WRITE_NEW_HOLDS, OF_RESERVATIONS, "uitttttzzzttnjjtjbztz", put_new_reservation},
	{SQL_WRITE_CLOSED_HOLDS, OF_RESERVATIONS, "ui", put_closed_reservation},
	{SQL_WRITE_SEGMENTS, OF_RESERVATIONS, "uittttzzzttnjtjttjnbzttz", put_segment},
};

/* Sends a statement of the writing, if there is something to write. */
static void send_write(struct pg *pg, struct request *r, const struct write *w)
{
	const struct batch_plan *b = r->batch_plan;
	const size_t counts[] = {[OF_ENTRIES] = b->nentries,
		[OF_ROWS] = b->nrows,
		[OF_RESERVATIONS] = b->nreservations};
	struct params *p = request_params(pg, r->epoch);
	struct param *columns = params_columns(p, w->columns);
	uint32_t rows = 0;
	for (size_t i = 0; i < counts[w->of]; i++)
		rows += w->put(columns, b, i);
	r->rows_sent += rows;
	if (rows)
		pg_conn_add(pg->conn, w->sql, p);
	else
		params_free(p);
}

static void batch_write(struct pg *pg, struct request *r)
{
	request_begin_round(pg, r, STEP_WRITE);
	r->rows_sent = 0;
	struct params *fence = request_params(pg, r->epoch);
	params_int8(fence, pg_acknowledged(pg, r->epoch));
	pg_conn_add(pg->conn, SQL_FENCE, fence);
	for (size_t i = 0; i < sizeof(WRITES) / sizeof(*WRITES); i++)
		send_write(pg, r, &WRITES[i]);
	pg_conn_go(pg->conn);
}

/* ---- Steps ------------------------------------------------------------------------------------
 */

/* Judges and writes the batch from the cache. False: it must be read first (cache.h). */
static bool batch_from_memory(struct pg *pg, struct request *r)
{
	if (r->doubted || r->epoch != pg->attached_epoch)
		return false;
	batch_open_batch_plan(r);
	if (!r->batch_plan->nops || !cache_tell(pg->cache, r->batch_plan))
		return false;
	batch_plan_run(r->batch_plan);
	if (!batch_plan_all_applied(r->batch_plan) || !batch_plan_dirty(r->batch_plan))
		return false;
	batch_write(pg, r);
	return true;
}

static void batch_answer(struct pg *pg, const struct request *r)
{
	request_answer(pg, (struct pg_answer){.outcome = LEDGER_DONE,
				   .results = r->batch_plan->results,
				   .n = r->batch_plan->nops});
}

static void batch_judge(struct pg *pg, struct request *r, struct round *round)
{
	if (!batch_found(r->batch_plan, round)) {
		request_answer(pg, (struct pg_answer){.outcome = LEDGER_FENCED});
		return;
	}
	r->read = *round; /* the plan borrows its strings */
	*round = (struct round){0};
	batch_plan_run(r->batch_plan);
	if (batch_plan_dirty(r->batch_plan)) {
		batch_write(pg, r);
		return;
	}
	cache_learn(pg->cache, r->batch_plan);
	batch_answer(pg, r);
}

/* Answers a batch that is durable. If a row to be written was taken away by hand, the cache is
 * wrong. (The others were written; sluice.audit shows what is wrong.) */
static void batch_done(struct pg *pg, struct request *r, const struct round *round)
{
	pg_acknowledge(pg, r->epoch, field_int8(round->result[1], 0, 0));
	size_t written = 0;
	for (size_t i = 2; i < round->count; i++) /* after settings and fence */
		written += (size_t)strtoull(PQcmdTuples((PGresult *)round->result[i]), NULL, 10);
	if (written == r->rows_sent)
		cache_learn(pg->cache, r->batch_plan);
	else
		cache_clear(pg->cache);
	batch_answer(pg, r);
}

static void batch_step(struct pg *pg, struct request *r, struct round *round)
{
	if (!round) {
		if (!batch_from_memory(pg, r))
			batch_read(pg, r);
	} else if (r->step == STEP_READ) {
		batch_judge(pg, r, round);
	} else if (PQntuples(round->result[1])) { /* the fence, after the settings */
		batch_done(pg, r, round);
	} else {
		request_answer(pg, (struct pg_answer){.outcome = LEDGER_FENCED});
	}
}

static const struct pg_query BATCH = {.name = "batch", .fenced = true, .step = batch_step};

void pg_batch(struct pg *pg, const struct ledger_batch *b, const struct pg_asker *asker)
{
	pg_line_up(pg,
		(struct request){.query = &BATCH, .epoch = b->epoch, .batch = b, .asker = *asker});
}
