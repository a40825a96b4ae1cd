/*
 * BATCH: a round that reads what the operations are about, the books (books.h) that judge them one
 * by one, and a round that writes what they do. Each round is one transaction, and each of its
 * statements is fenced by epoch and session.
 *
 * Nothing can change between the two but by hand, since whoever else may write has another epoch or
 * session; and if somebody took over, the fence of the second is closed. No lock is held while it
 * is our turn to think, so a leader that stops there (a stopped process, a cut network) stands in
 * nobody's way.
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
	must_not_get_here();
}

/* ---- Reading ----------------------------------------------------------------------------------
 */

static void ask_holds(struct pg *pg, struct request *r)
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

static void ask_shrinks(struct pg *pg, struct request *r)
{
	struct params *p = params_new();
	params_text(p, pg->cell);
	struct param *uid = params_array(p, PARAM_UUID), *attempt = params_array(p, PARAM_INT4);
	struct param *seq = params_array(p, PARAM_INT4);
	for (size_t i = 0; i < r->books->nshrinks; i++) {
		const struct ledger_op *op = &r->books->ops[r->books->shrinks[i]];
		put_uuid(uid, &op->uid);
		put_int4(attempt, op->attempt);
		put_int4(seq, op->seq);
	}
	link_add(pg->link, SQL_BATCH_SHRINKS, p);
}

static void ask_rows(struct pg *pg, struct request *r)
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
	books_free(r->books); /* of an earlier try */
	for (size_t i = 0; i < r->read.count; i++)
		PQclear(r->read.result[i]);
	r->read = (struct round){0};
	r->books = books_new(r->batch->ops, r->batch->nops);
	request_begin_round(pg, r, STEP_READ);
	ask_holds(pg, r);
	if (r->books->nshrinks)
		ask_shrinks(pg, r);
	if (r->books->nasked)
		ask_rows(pg, r);
	link_go(pg->link);
}

static void found_hold(struct books *b, const struct pg_result *res, int row)
{
	size_t hold = (size_t)field_int4(res, row, 0) - 1;
	if (!field_null(res, row, 8))
		books_found_attempts(b, hold, !field_null(res, row, 7), field_int4(res, row, 8));
	if (field_null(res, row, 1))
		return;
	const char *state = field_text(res, row, 1);
	struct ledger_hold found = {.state = !strcmp(state, "pending")	? LEDGER_PENDING
					     : !strcmp(state, "posted") ? LEDGER_POSTED
									: LEDGER_RELEASING,
		.ns = field_text(res, row, 2),
		.name = field_text(res, row, 3),
		.clusterqueue = field_text(res, row, 4),
		.reserved_ms = field_time(res, row, 5),
		.started_ms = field_time(res, row, 6)};
	books_found_hold(b, hold, &found);
	if (field_null(res, row, 9))
		return;
	struct quota_line line = {field_text(res, row, 9), field_text(res, row, 10),
		field_text(res, row, 11), field_int8(res, row, 12)};
	books_found_line(b, hold, &line);
}

/* False: the fence is closed. */
static bool batch_found(struct books *b, const struct round *round)
{
	/* Before the answers to the questions are those of the settings and perhaps an attach. */
	size_t at = round->count - 1 - (b->nshrinks > 0) - (b->nasked > 0);
	const struct pg_result *holds = round->result[at++];
	const struct pg_result *shrinks = b->nshrinks ? round->result[at++] : NULL;
	const struct pg_result *rows = b->nasked ? round->result[at++] : NULL;
	if (!PQntuples(holds))
		return false;
	for (int i = 0; i < PQntuples(holds); i++)
		if (!field_null(holds, i, 0)) /* one row of NULLs when no hold was named */
			found_hold(b, holds, i);
	for (int i = 0; i < PQntuples(shrinks); i++)
		books_found_shrink(b, (size_t)field_int4(shrinks, i, 0) - 1);
	for (int i = 0; i < PQntuples(rows); i++)
		books_found_row(b, (size_t)field_int4(rows, i, 0) - 1, field_int8(rows, i, 1),
			field_int8(rows, i, 2));
	return true;
}

/* ---- Writing: each its statement in sql/write_*.sql, sent if there is something to write ------
 */

static void put_lines(
	struct param *a, const struct books *b, const struct books_line *lines, size_t n)
{
	struct buf json;
	buf_init(&json, (size_t)1 << 24);
	buf_putc(&json, '[');
	for (size_t i = 0; i < n; i++) {
		const struct books_row *row = b->rows[lines[i].row];
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

static void send_if(struct pg *pg, const char *sql, struct params *p, uint32_t count)
{
	if (count)
		link_add(pg->link, sql, p);
	else
		params_free(p);
}

static void write_transfers(struct pg *pg, struct request *r)
{
	const struct books *b = r->books;
	struct params *p = request_params(pg, r);
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
		put_time(at, op->at_ms > 0 ? op->at_ms : 1);
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
	send_if(pg, SQL_WRITE_TRANSFERS, p, uid->count);
}

static void write_balances(struct pg *pg, struct request *r, bool exist)
{
	const struct books *b = r->books;
	struct params *p = request_params(pg, r);
	struct param *node = params_array(p, PARAM_TEXT), *flavor = params_array(p, PARAM_TEXT);
	struct param *resource = params_array(p, PARAM_TEXT);
	struct param *pending = params_array(p, PARAM_INT8), *posted = params_array(p, PARAM_INT8);
	struct param *releasing = params_array(p, PARAM_INT8);
	struct param *wanted = params_array(p, PARAM_INT8);
	for (size_t i = 0; i < b->nrows; i++) {
		const struct books_row *row = b->rows[i];
		if (row->exists != exist || (!row->moved && !row->capped))
			continue;
		put_text(node, row->node);
		put_text(flavor, row->flavor);
		put_text(resource, row->resource);
		put_int8(pending, row->add[LEDGER_PENDING]);
		put_int8(posted, row->add[LEDGER_POSTED]);
		put_int8(releasing, row->add[LEDGER_RELEASING]);
		if (row->capped)
			put_int8(wanted, row->wanted);
		else
			put_null(wanted);
	}
	send_if(pg, exist ? SQL_WRITE_BALANCES : SQL_WRITE_NEW_BALANCES, p, node->count);
}

static void write_holds(struct pg *pg, struct request *r)
{
	const struct books *b = r->books;
	struct params *p = request_params(pg, r);
	struct param *uid = params_array(p, PARAM_UUID), *attempt = params_array(p, PARAM_INT4);
	struct param *state = params_array(p, PARAM_TEXT), *started = params_array(p, PARAM_TIME);
	struct param *lines = params_array(p, PARAM_JSONB);
	for (size_t i = 0; i < b->nholds; i++) {
		const struct books_hold *h = &b->holds[i];
		if (!h->was_open || !h->open || !h->changed)
			continue;
		put_uuid(uid, &h->uid);
		put_int4(attempt, h->attempt);
		put_text(state, state_name(h->state));
		put_time(started, h->started_ms);
		if (h->shrunk)
			put_lines(lines, b, h->lines, h->nlines);
		else
			put_null(lines);
	}
	send_if(pg, SQL_WRITE_HOLDS, p, uid->count);
}

static void write_new_holds(struct pg *pg, struct request *r)
{
	const struct books *b = r->books;
	struct params *p = request_params(pg, r);
	struct param *uid = params_array(p, PARAM_UUID), *attempt = params_array(p, PARAM_INT4);
	struct param *state = params_array(p, PARAM_TEXT), *ns = params_array(p, PARAM_TEXT);
	struct param *name = params_array(p, PARAM_TEXT), *cq = params_array(p, PARAM_TEXT);
	struct param *reserved = params_array(p, PARAM_TIME);
	struct param *started = params_array(p, PARAM_TIME);
	struct param *lines = params_array(p, PARAM_JSONB);
	for (size_t i = 0; i < b->nholds; i++) {
		const struct books_hold *h = &b->holds[i];
		if (h->was_open || !h->open)
			continue;
		put_uuid(uid, &h->uid);
		put_int4(attempt, h->attempt);
		put_text(state, state_name(h->state));
		put_text(ns, h->ns);
		put_text(name, h->name);
		put_text(cq, h->clusterqueue);
		put_time(reserved, h->reserved_ms > 0 ? h->reserved_ms : 1);
		put_time(started, h->started_ms);
		put_lines(lines, b, h->lines, h->nlines);
	}
	send_if(pg, SQL_WRITE_NEW_HOLDS, p, uid->count);
}

static void write_closed_holds(struct pg *pg, struct request *r)
{
	struct params *p = request_params(pg, r);
	struct param *uid = params_array(p, PARAM_UUID), *attempt = params_array(p, PARAM_INT4);
	for (size_t i = 0; i < r->books->nholds; i++) {
		const struct books_hold *h = &r->books->holds[i];
		if (!h->was_open || h->open)
			continue;
		put_uuid(uid, &h->uid);
		put_int4(attempt, h->attempt);
	}
	send_if(pg, SQL_WRITE_CLOSED_HOLDS, p, uid->count);
}

static void put_lost(struct param *a, const struct books_hold *h)
{
	if (h->has_lost)
		put_int8(a, h->lost_ms);
	else
		put_null(a);
}

static void write_segments(struct pg *pg, struct request *r)
{
	struct params *p = request_params(pg, r);
	struct param *uid = params_array(p, PARAM_UUID), *attempt = params_array(p, PARAM_INT4);
	struct param *stopping = params_array(p, PARAM_TIME);
	struct param *stopped = params_array(p, PARAM_TIME);
	struct param *reason = params_array(p, PARAM_TEXT), *actor = params_array(p, PARAM_TEXT);
	struct param *lost = params_array(p, PARAM_INT8);
	for (size_t i = 0; i < r->books->nholds; i++) {
		const struct books_hold *h = &r->books->holds[i];
		if (!h->segment_changed || h->segment_begins)
			continue;
		put_uuid(uid, &h->uid);
		put_int4(attempt, h->attempt);
		put_time(stopping, h->stopping_ms);
		put_time(stopped, h->stopped_ms);
		put_text(reason, h->reason);
		put_text(actor, h->actor);
		put_lost(lost, h);
	}
	send_if(pg, SQL_WRITE_SEGMENTS, p, uid->count);
}

static void write_new_segments(struct pg *pg, struct request *r)
{
	const struct books *b = r->books;
	struct params *p = request_params(pg, r);
	struct param *uid = params_array(p, PARAM_UUID), *attempt = params_array(p, PARAM_INT4);
	struct param *ns = params_array(p, PARAM_TEXT), *name = params_array(p, PARAM_TEXT);
	struct param *cq = params_array(p, PARAM_TEXT), *started = params_array(p, PARAM_TIME);
	struct param *stopping = params_array(p, PARAM_TIME);
	struct param *stopped = params_array(p, PARAM_TIME);
	struct param *reason = params_array(p, PARAM_TEXT), *actor = params_array(p, PARAM_TEXT);
	struct param *lost = params_array(p, PARAM_INT8), *lines = params_array(p, PARAM_JSONB);
	for (size_t i = 0; i < b->nholds; i++) {
		const struct books_hold *h = &b->holds[i];
		if (!h->segment_begins)
			continue;
		put_uuid(uid, &h->uid);
		put_int4(attempt, h->attempt);
		put_text(ns, h->ns);
		put_text(name, h->name);
		put_text(cq, h->clusterqueue);
		put_time(started, h->started_ms);
		put_time(stopping, h->stopping_ms);
		put_time(stopped, h->stopped_ms);
		put_text(reason, h->reason);
		put_text(actor, h->actor);
		put_lost(lost, h);
		put_lines(lines, b, h->started_lines, h->nstarted_lines);
	}
	send_if(pg, SQL_WRITE_NEW_SEGMENTS, p, uid->count);
}

static void batch_write(struct pg *pg, struct request *r)
{
	request_begin_round(pg, r, STEP_WRITE);
	link_add(pg->link, SQL_FENCE, request_params(pg, r));
	write_transfers(pg, r);
	write_balances(pg, r, true);
	write_balances(pg, r, false);
	write_holds(pg, r);
	write_new_holds(pg, r);
	write_closed_holds(pg, r);
	write_segments(pg, r);
	write_new_segments(pg, r);
	link_go(pg->link);
}

/* ---- Steps ------------------------------------------------------------------------------------
 */

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
	else if (PQntuples(round->result[1])) /* the fence, after the settings */
		pg_answer_batch(pg, LEDGER_DONE, r->books->results);
	else
		pg_answer_batch(pg, LEDGER_FENCED, NULL);
}
