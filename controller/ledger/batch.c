/*
 * BATCH: a round that reads what the operations are about, the books (books.h) that judge them one
 * by one, and a round that writes what they do in one fenced statement.
 *
 * Why not all in SQL? It was tried: one statement with window functions running along operations,
 * lines and balances gives the same verdicts, but takes 5 ms to plan and 16 ms to run for 100
 * operations, and the planner, which knows nothing of what is inside it, makes it quadratic. Plain
 * statements and 300 lines of C are four times as fast, and a RESERVE that finds no room needs no
 * second way. Nothing can change between the two rounds but by hand, since whoever else may write
 * has another epoch or session; and if it has, the fence in the second one is closed.
 */
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "base/mem.h"
#include "base/must.h"
#include "controller/ledger/pg_priv.h"
#include "controller/ledger/sql.h"

static const char *state_name(enum ledger_state s)
{
	switch (s) {
	case LEDGER_PENDING:
		return "pending";
	case LEDGER_POSTED:
		return "posted";
	case LEDGER_RELEASING:
		return "releasing";
	}
	must(false);
}

/* ---- Reading ---------------------------------------------------------------------------------- */

static void batch_ask_holds(struct pg *pg, struct request *r)
{
	struct params *p = request_params(pg, r);
	struct param *uid = params_array(p, PARAM_UUID), *attempt = params_array(p, PARAM_INT4);
	struct param *reserving = params_array(p, PARAM_BOOL);
	for (size_t i = 0; i < r->books->nholds; i++) {
		put_uuid(uid, &r->books->holds[i].uid);
		put_int4(attempt, r->books->holds[i].attempt);
		put_bool(reserving, r->books->holds[i].reserving);
	}
	link_add(pg->link, SQL_BATCH_HOLDS, p);
}

/* CEILINGs are sent too, to keep the numbers: no transfer is ever of that kind. */
static void batch_ask_keys(struct pg *pg, struct request *r)
{
	struct params *p = params_new();
	params_text(p, pg->cell);
	struct param *uid = params_array(p, PARAM_UUID), *attempt = params_array(p, PARAM_INT4);
	struct param *kind = params_array(p, PARAM_TEXT), *seq = params_array(p, PARAM_INT4);
	for (size_t i = 0; i < r->books->nops; i++) {
		const struct ledger_op *op = &r->books->ops[i];
		put_uuid(uid, &op->uid);
		put_int4(attempt, op->attempt);
		put_text(kind, ledger_kind_name(op->kind));
		put_int4(seq, op->seq);
	}
	link_add(pg->link, SQL_BATCH_KEYS, p);
}

static void batch_ask_rows(struct pg *pg, struct request *r)
{
	struct params *p = params_new();
	params_text(p, pg->cell);
	struct param *node = params_array(p, PARAM_TEXT), *flavor = params_array(p, PARAM_TEXT);
	struct param *resource = params_array(p, PARAM_TEXT);
	for (size_t i = 0; i < r->books->nasked; i++) {
		put_text(node, r->books->asked[i]->node);
		put_text(flavor, r->books->asked[i]->flavor);
		put_text(resource, r->books->asked[i]->resource);
	}
	link_add(pg->link, SQL_BATCH_ROWS, p);
}

static void batch_read(struct pg *pg, struct request *r)
{
	books_free(r->books);
	for (size_t i = 0; i < r->read.count; i++)
		PQclear(r->read.result[i]);
	r->read = (struct round){0};
	r->books = books_new(r->batch->ops, r->batch->nops);
	request_begin_round(pg, r, STEP_READ);
	batch_ask_holds(pg, r);
	batch_ask_keys(pg, r);
	batch_ask_rows(pg, r);
	link_go(pg->link);
}

static void batch_found_hold(struct books *b, const struct pg_result *res, int row)
{
	size_t hold = (size_t)field_int4(res, row, 0) - 1;
	if (!field_null(res, row, 7))
		books_found_last_attempt(b, hold, field_int4(res, row, 7));
	if (field_null(res, row, 1))
		return;
	const char *state = field_text(res, row, 1);
	struct ledger_hold found = {.state = !strcmp(state, "pending")  ? LEDGER_PENDING
					    : !strcmp(state, "posted") ? LEDGER_POSTED
								       : LEDGER_RELEASING,
		.ns = field_text(res, row, 2),
		.name = field_text(res, row, 3),
		.clusterqueue = field_text(res, row, 4),
		.reserved_ms = field_time(res, row, 5),
		.started_ms = field_time(res, row, 6)};
	books_found_hold(b, hold, &found);
	if (field_null(res, row, 8))
		return;
	struct quota_line line = {field_text(res, row, 8), field_text(res, row, 9),
		field_text(res, row, 10), field_int8(res, row, 11)};
	books_found_line(b, hold, &line);
}

/* False: the fence is closed. */
static bool batch_found(struct books *b, struct round *round)
{
	const struct pg_result *holds = round->result[round->count - 3];
	const struct pg_result *keys = round->result[round->count - 2];
	const struct pg_result *rows = round->result[round->count - 1];
	if (!PQntuples(holds))
		return false;
	for (int i = 0; i < PQntuples(holds); i++)
		if (!field_null(holds, i, 0)) /* one row of NULLs when no hold was named */
			batch_found_hold(b, holds, i);
	for (int i = 0; i < PQntuples(keys); i++)
		books_found_key(b, (size_t)field_int4(keys, i, 0) - 1);
	for (int i = 0; i < PQntuples(rows); i++)
		books_found_row(b, (size_t)field_int4(rows, i, 0) - 1, field_int8(rows, i, 1),
			field_int8(rows, i, 2));
	return true;
}

/* ---- Writing: the parameters in the order of sql/batch_write.sql ------------------------------ */

static void put_lines(
	struct param *a, const struct books *b, const struct books_line *lines, size_t n)
{
	struct buf json;
	buf_init(&json, (size_t)1 << 24);
	buf_putc(&json, '[');
	for (size_t i = 0; i < n; i++) {
		const struct books_row *row = b->rows[lines[i].row];
		buf_puts(&json, i ? ",{\"node\":" : "{\"node\":");
		buf_json_string(&json, row->node);
		buf_puts(&json, ",\"flavor\":");
		buf_json_string(&json, row->flavor);
		buf_puts(&json, ",\"resource\":");
		buf_json_string(&json, row->resource);
		buf_printf(&json, ",\"amount\":%lld}", (long long)lines[i].amount);
	}
	buf_putc(&json, ']');
	must(!json.failed);
	put_json(a, buf_slice(&json));
	buf_done(&json);
}

static void put_time_or_null(struct param *a, int64_t ms)
{
	if (ms)
		put_time(a, ms);
	else
		put_null(a);
}

static void write_transfers(struct params *p, const struct books *b)
{
	struct param *uid = params_array(p, PARAM_UUID), *attempt = params_array(p, PARAM_INT4);
	struct param *kind = params_array(p, PARAM_TEXT), *seq = params_array(p, PARAM_INT4);
	struct param *at = params_array(p, PARAM_TIME), *source = params_array(p, PARAM_TEXT);
	struct param *target = params_array(p, PARAM_TEXT), *lines = params_array(p, PARAM_JSONB);
	struct param *reason = params_array(p, PARAM_TEXT), *actor = params_array(p, PARAM_TEXT);
	struct param *lost = params_array(p, PARAM_INT8);
	for (size_t i = 0; i < b->nentries; i++) {
		const struct books_entry *e = &b->entries[i];
		const struct ledger_op *op = &b->ops[e->op];
		put_uuid(uid, &op->uid);
		put_int4(attempt, op->attempt);
		put_text(kind, ledger_kind_name(op->kind));
		put_int4(seq, op->seq);
		put_time(at, op->at_ms);
		put_text(source, e->has_source ? state_name(e->source) : NULL);
		put_text(target, e->has_target ? state_name(e->target) : NULL);
		put_lines(lines, b, e->lines, e->nlines);
		bool ends = op->kind == LEDGER_STOP || op->kind == LEDGER_RELEASE ||
			    op->kind == LEDGER_VOID;
		put_text(reason, ends ? op->reason : NULL);
		put_text(actor, ends ? op->actor : NULL);
		if (ends)
			put_int8(lost, op->lost_ms);
		else
			put_null(lost);
	}
}

static int row_cmp(const void *x, const void *y)
{
	const struct books_row *a = *(const struct books_row *const *)x;
	const struct books_row *b = *(const struct books_row *const *)y;
	int c = strcmp(a->node, b->node);
	if (!c)
		c = strcmp(a->flavor, b->flavor);
	return c ? c : strcmp(a->resource, b->resource);
}

/* In the order of their names, so that whoever else locks balances one day does it the same way. */
static void write_rows(struct params *p, const struct books *b, bool exist)
{
	struct param *node = params_array(p, PARAM_TEXT), *flavor = params_array(p, PARAM_TEXT);
	struct param *resource = params_array(p, PARAM_TEXT);
	struct param *pending = params_array(p, PARAM_INT8), *posted = params_array(p, PARAM_INT8);
	struct param *releasing = params_array(p, PARAM_INT8);
	struct param *wanted = params_array(p, PARAM_INT8);
	struct books_row **rows = mem_array(b->nrows + 1, sizeof(*rows));
	memcpy(rows, b->rows ? b->rows : rows, b->nrows * sizeof(*rows));
	qsort(rows, b->nrows, sizeof(*rows), row_cmp);
	for (size_t i = 0; i < b->nrows; i++) {
		const struct books_row *r = rows[i];
		if (r->exists != exist || (!r->moved && !r->capped))
			continue;
		put_text(node, r->node);
		put_text(flavor, r->flavor);
		put_text(resource, r->resource);
		put_int8(pending, r->add[LEDGER_PENDING]);
		put_int8(posted, r->add[LEDGER_POSTED]);
		put_int8(releasing, r->add[LEDGER_RELEASING]);
		if (r->capped)
			put_int8(wanted, r->wanted);
		else
			put_null(wanted);
	}
	free(rows);
}

static void write_holds(struct params *p, const struct books *b)
{
	struct param *uid = params_array(p, PARAM_UUID), *attempt = params_array(p, PARAM_INT4);
	struct param *state = params_array(p, PARAM_TEXT), *ns = params_array(p, PARAM_TEXT);
	struct param *name = params_array(p, PARAM_TEXT), *cq = params_array(p, PARAM_TEXT);
	struct param *reserved = params_array(p, PARAM_TIME);
	struct param *started = params_array(p, PARAM_TIME);
	struct param *lines = params_array(p, PARAM_JSONB);
	struct param *gone_uid = params_array(p, PARAM_UUID);
	struct param *gone_attempt = params_array(p, PARAM_INT4);
	for (size_t i = 0; i < b->nholds; i++) {
		const struct books_hold *h = &b->holds[i];
		if (h->spent && h->was_open) {
			put_uuid(gone_uid, &h->uid);
			put_int4(gone_attempt, h->attempt);
		}
		if (!h->open || !h->changed)
			continue;
		put_uuid(uid, &h->uid);
		put_int4(attempt, h->attempt);
		put_text(state, state_name(h->state));
		put_text(ns, h->ns);
		put_text(name, h->name);
		put_text(cq, h->clusterqueue);
		put_time(reserved, h->reserved_ms);
		put_time_or_null(started, h->started_ms);
		put_lines(lines, b, h->lines, h->nlines);
	}
}

static void write_segments(struct params *p, const struct books *b)
{
	struct param *uid = params_array(p, PARAM_UUID), *attempt = params_array(p, PARAM_INT4);
	struct param *ns = params_array(p, PARAM_TEXT), *name = params_array(p, PARAM_TEXT);
	struct param *cq = params_array(p, PARAM_TEXT), *started = params_array(p, PARAM_TIME);
	struct param *stopping = params_array(p, PARAM_TIME);
	struct param *stopped = params_array(p, PARAM_TIME);
	struct param *reason = params_array(p, PARAM_TEXT), *actor = params_array(p, PARAM_TEXT);
	struct param *lost = params_array(p, PARAM_INT8), *lines = params_array(p, PARAM_JSONB);
	for (size_t i = 0; i < b->nholds; i++) {
		const struct books_hold *h = &b->holds[i];
		if (!h->segment_changed)
			continue;
		put_uuid(uid, &h->uid);
		put_int4(attempt, h->attempt);
		put_text(ns, h->ns);
		put_text(name, h->name);
		put_text(cq, h->clusterqueue);
		put_time(started, h->started_ms);
		put_time_or_null(stopping, h->stopping_ms);
		put_time_or_null(stopped, h->stopped_ms);
		put_text(reason, h->reason);
		put_text(actor, h->actor);
		if (h->has_lost)
			put_int8(lost, h->lost_ms);
		else
			put_null(lost);
		/* Only of one that begins now; the statement leaves those of an old one alone. */
		put_lines(lines, b, h->started_lines, h->nstarted_lines);
	}
}

static void batch_write(struct pg *pg, struct request *r)
{
	struct params *p = request_params(pg, r);
	write_transfers(p, r->books);
	write_rows(p, r->books, true);
	write_rows(p, r->books, false);
	write_holds(p, r->books);
	write_segments(p, r->books);
	request_begin_round(pg, r, STEP_WRITE);
	link_add(pg->link, SQL_BATCH_WRITE, p);
	link_go(pg->link);
}

/* ---- Steps ------------------------------------------------------------------------------------ */

static void batch_judge(struct pg *pg, struct request *r, struct round *round)
{
	if (!batch_found(r->books, round)) {
		pg_answer_batch(pg, LEDGER_FENCED, NULL);
		return;
	}
	r->read = *round; /* the books borrow its strings */
	*round = (struct round){0};
	books_run(r->books);
	if (books_dirty(r->books))
		batch_write(pg, r);
	else
		pg_answer_batch(pg, LEDGER_DONE, r->books->results);
}

void batch_step(struct pg *pg, struct request *r, struct round *round)
{
	if (!round)
		batch_read(pg, r);
	else if (r->step == STEP_READ)
		batch_judge(pg, r, round);
	else if (PQntuples(round->result[round->count - 1]))
		pg_answer_batch(pg, LEDGER_DONE, r->books->results);
	else
		pg_answer_batch(pg, LEDGER_FENCED, NULL);
}
