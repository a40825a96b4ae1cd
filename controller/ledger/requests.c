/* LEASE, LOAD, the RECALLs and RESIGN: one round each (LEASE after a look at the schema, see
 * schema.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <libpq-fe.h>

#include "base/mem.h"
#include "base/monotonic.h"
#include "base/must.h"
#include "controller/ledger/pg_priv.h"
#include "controller/ledger/sql.h"

#define DURATIONS_LOOKED_AT 100000 /* runs: half a second at most */

/* Sixteen bytes that nobody can guess, in hex. */
static void draw_key(char ret[33])
{
	unsigned char bytes[16];
	must(getrandom(bytes, sizeof(bytes), 0) == sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

static void ask_story_key(struct pg *pg)
{
	char drawn[33];
	struct params *p = params_new();
	draw_key(drawn);
	params_text(p, pg->cell);
	params_int8(p, pg_session(pg));
	params_text(p, drawn);
	pg_conn_add(pg->conn, SQL_STORY_KEY, p);
}

/* Of a lease that another holds. */
static void lease_seen(struct pg *pg, const char *version)
{
	struct lease_look *look = &pg->lease_look;
	if (strcmp(look->version, version) == 0)
		return;
	snprintf(look->version, sizeof(look->version), "%s", version);
	look->since_ms = monotonic_ms();
}

/* Its holder renews it three times while it lasts. For one that does not, expires_at counts; but the
 * clock that it was written by may have been set back since. Twice its length is long enough to be
 * sure, and too soon would do no harm: the epoch keeps the old leader from writing. (That the holder
 * asked for the same length is taken for granted.) */
static bool lease_stands_still(const struct pg *pg, int64_t lease_ms)
{
	const struct lease_look *look = &pg->lease_look;
	return look->version[0] != '\0' && monotonic_ms() - look->since_ms > 2 * lease_ms;
}

/* It is free for the next who asks. */
static void lease_expire(struct pg *pg)
{
	struct params *p = params_new();
	params_text(p, pg->cell);
	params_text(p, pg->lease_look.version);
	pg_conn_add(pg->conn, SQL_LEASE_EXPIRE, p);
}

/* Where a program of the version before leads, only the lease is looked up: our statements may need
 * columns that are not there yet. */
static void lease_ask(struct pg *pg, struct request *r)
{
	request_begin_round(pg, r, STEP_LEASE);
	if (pg->schema_fits) {
		struct params *p = params_new();
		params_text(p, pg->cell);
		params_int8(p, pg_session(pg));
		params_text(p, pg->identity);
		params_int8(p, r->lease_ms);
		params_text(p, pg->session_locked ? "t" : "f");
		params_int8(p, r->epoch ? r->epoch : r->epoch_seen);
		if (r->epoch) {
			params_int8(p, pg_acknowledged(pg, r->epoch));
			params_text(p, r->settled ? "t" : "f");
		} else {
			params_int8(p, MIGRATIONS_COUNT);
		}
		pg_conn_add(pg->conn, r->epoch ? SQL_LEASE_RENEW : SQL_LEASE_TAKE, p);
		ask_story_key(pg);
	}
	if (!r->epoch && lease_stands_still(pg, r->lease_ms))
		lease_expire(pg);
	struct params *look = params_new();
	params_text(look, pg->cell);
	pg_conn_add(pg->conn, SQL_LEASE_LOOK, look);
	pg_conn_go(pg->conn);
}

/* The first 16 hex digits, and the other 16. */
static void read_key(const struct pg_result *key, uint64_t ret[2])
{
	char half[17] = {0};
	must(PQntuples(key) == 1 && strlen(field_text(key, 0, 0)) == 32);
	for (size_t i = 0; i < 2; i++) {
		memcpy(half, field_text(key, 0, 0) + 16 * i, 16);
		ret[i] = strtoull(half, NULL, 16);
	}
}

/* After the settings: what was taken or renewed, and the key, if the schema has them; and at last
 * the lease as it is. A leader goes on where a newer program has changed the schema (MIGRATE leaves
 * in place what it reads and writes); a standby says that it will not follow it. */
static void lease_answer(struct pg *pg, struct round *round)
{
	const struct pg_result *look = round->result[round->count - 1];
	const struct pg_result *held = pg->schema_fits ? round->result[1] : NULL;
	struct ledger_lease lease = {.held = held && PQntuples(held) > 0};
	if (!lease.held && PQntuples(look) && field_int4(look, 0, 3) > MIGRATIONS_COUNT) {
		schema_refuse_newer(pg, field_int4(look, 0, 3));
		return;
	}
	if (PQntuples(look)) {
		lease.epoch = field_int8(look, 0, 0);
		snprintf(lease.holder, sizeof(lease.holder), "%s", field_text(look, 0, 1));
		lease_seen(pg, lease.held ? "" : field_text(look, 0, 2));
		lease.left_ms = field_int8(look, 0, 4);
	}
	if (lease.held) {
		pg_acknowledge(pg, lease.epoch, field_int8(held, 0, 0));
		lease.moved = field_bool(held, 0, 1);
		read_key(round->result[2], lease.story_key);
	}
	pg_attach(pg, lease.held ? lease.epoch : 0);
	pg_answer_lease(pg, LEDGER_DONE, &lease);
}

void lease_step(struct pg *pg, struct request *r, struct round *round)
{
	if (r->step == STEP_LEASE)
		lease_answer(pg, round);
	else if (schema_step(pg, r, round))
		lease_ask(pg, r);
}

/* ---- LOAD -------------------------------------------------------------------------------------
 */

static enum ledger_state state_of(const char *name)
{
	if (!strcmp(name, "pending"))
		return LEDGER_PENDING;
	if (!strcmp(name, "posted"))
		return LEDGER_POSTED;
	must(!strcmp(name, "releasing"));
	return LEDGER_RELEASING;
}

static bool same_reservation(const struct pg_result *res, int x, int y)
{
	struct uid a = field_uuid(res, x, 0), b = field_uuid(res, y, 0);
	return !uid_cmp(&a, &b) && field_int4(res, x, 1) == field_int4(res, y, 1);
}

/* Rows are sorted: those of one hold are neighbours. Strings stay with the result. */
static size_t load_read(const struct pg_result *res, struct ledger_reservation *reservations,
	struct quota_line *lines)
{
	size_t n = 0;
	for (int i = 0; i < PQntuples(res); i++) {
		if (i == 0 || !same_reservation(res, i, i - 1))
			reservations[n++] =
				(struct ledger_reservation){.uid = field_uuid(res, i, 0),
					.attempt = field_int4(res, i, 1),
					.state = state_of(field_text(res, i, 2)),
					.ns = field_text(res, i, 3),
					.name = field_text(res, i, 4),
					.clusterqueue = field_text(res, i, 5),
					.reserved_ms = field_time(res, i, 6),
					.started_ms = field_time(res, i, 7),
					.localqueue = field_text(res, i, 12),
					.estimated = field_bool(res, i, 13),
					.sizes = field_null(res, i, 14)
							 ? 0
							 : field_int4(res, i, 14) - PG_SIZES_FROM,
					.owner = field_text(res, i, 15),
					.submitted_by = field_text_or_null(res, i, 16),
					.lines = lines};
		if (field_null(res, i, 8))
			continue;
		*lines++ = (struct quota_line){field_text(res, i, 8), field_text(res, i, 9),
			field_text(res, i, 10), field_int8(res, i, 11)};
		reservations[n - 1].nlines++;
	}
	return n;
}

static void load_answer(struct pg *pg, struct round *round)
{
	const struct pg_result *res = round->result[round->count - 1];
	size_t rows = (size_t)PQntuples(res);
	if (!rows) {
		pg_answer_load(pg, LEDGER_FENCED, NULL, 0);
		return;
	}
	struct ledger_reservation *reservations = mem_array(rows, sizeof(*reservations));
	struct quota_line *lines = mem_array(rows, sizeof(*lines));
	size_t n = field_null(res, 0, 0) ? 0 : load_read(res, reservations, lines);
	pg_answer_load(pg, LEDGER_DONE, reservations, n);
	free(reservations);
	free(lines);
}

void load_step(struct pg *pg, struct request *r, struct round *round)
{
	if (round) {
		load_answer(pg, round);
		return;
	}
	struct params *p = request_params(pg, r);
	params_int8(p, PG_SIZES_FROM);
	request_begin_round(pg, r, STEP_LOAD);
	pg_conn_add(pg->conn, SQL_LOAD, p);
	pg_conn_go(pg->conn);
}

/* ---- RECALL -----------------------------------------------------------------------------------
 */

static bool same_run(const struct pg_result *res, int x, int y)
{
	return same_reservation(res, x, y) && field_time(res, x, 7) == field_time(res, y, 7);
}

/* Rows are sorted: those of one run are neighbours. Strings stay with the result. */
static size_t recall_read(
	const struct pg_result *res, struct ledger_run *runs, struct quota_line *lines)
{
	size_t n = 0;
	for (int i = 0; i < PQntuples(res); i++) {
		if (i == 0 || !same_run(res, i, i - 1))
			runs[n++] = (struct ledger_run){.ns = field_text(res, i, 2),
				.localqueue = field_text(res, i, 3),
				.clusterqueue = field_text(res, i, 4),
				.from_ms = field_time(res, i, 5),
				.to_ms = field_time(res, i, field_null(res, i, 7) ? 6 : 7),
				.lines = lines};
		if (field_null(res, i, 8))
			continue;
		*lines++ = (struct quota_line){field_text(res, i, 8), field_text(res, i, 9),
			field_text(res, i, 10), field_int8(res, i, 11)};
		runs[n - 1].nlines++;
	}
	return n;
}

static void recall_answer(struct pg *pg, const struct request *r, struct round *round)
{
	const struct pg_result *res = round->result[round->count - 1];
	size_t rows = (size_t)PQntuples(res), n = 0;
	struct ledger_mark next = r->after;
	if (!rows) {
		pg_answer_recall(pg, LEDGER_FENCED, NULL, 0, &next);
		return;
	}
	struct ledger_run *runs = mem_array(rows, sizeof(*runs));
	struct quota_line *lines = mem_array(rows, sizeof(*lines));
	if (!field_null(res, 0, 0)) {
		int last = (int)rows - 1;
		n = recall_read(res, runs, lines);
		next = (struct ledger_mark){.ended_us = field_int8(res, last, 6),
			.uid = field_uuid(res, last, 0),
			.attempt = field_int4(res, last, 1)};
	}
	pg_answer_recall(pg, LEDGER_DONE, runs, n, &next);
	free(runs);
	free(lines);
}

void recall_step(struct pg *pg, struct request *r, struct round *round)
{
	if (round) {
		recall_answer(pg, r, round);
		return;
	}
	struct params *p = request_params(pg, r);
	params_int8(p, r->after.ended_us);
	params_uuid(p, &r->after.uid);
	params_int8(p, r->after.attempt);
	params_int8(p, (int64_t)r->attempts);
	request_begin_round(pg, r, STEP_RECALL);
	pg_conn_add(pg->conn, SQL_RECALL, p);
	pg_conn_go(pg->conn);
}

/* ---- RECALL of what was spent, and of how long runs took ---------------------------------------
 */

static void spent_answer(struct pg *pg, struct round *round)
{
	const struct pg_result *res = round->result[round->count - 1];
	size_t rows = (size_t)PQntuples(res), n = 0;
	if (!rows) {
		pg_answer_spent(pg, LEDGER_FENCED, NULL, 0);
		return;
	}
	struct ledger_spent *spent = mem_array(rows, sizeof(*spent));
	for (int i = 0; i < PQntuples(res); i++)
		if (!field_null(res, i, 0))
			spent[n++] = (struct ledger_spent){field_text(res, i, 0),
				field_text(res, i, 1), field_text(res, i, 2), field_text(res, i, 3),
				field_int8(res, i, 4), field_int8(res, i, 5)};
	pg_answer_spent(pg, LEDGER_DONE, spent, n);
	free(spent);
}

void spent_step(struct pg *pg, struct request *r, struct round *round)
{
	if (round) {
		spent_answer(pg, round);
		return;
	}
	struct params *p = request_params(pg, r);
	params_int8(p, r->since_ms);
	params_int8(p, r->from_ms);
	params_int8(p, r->to_ms < PG_TIME_MAX_MS ? r->to_ms : PG_TIME_MAX_MS);
	request_begin_round(pg, r, STEP_SPENT);
	pg_conn_add(pg->conn, SQL_RECALL_SPENT, p);
	pg_conn_go(pg->conn);
}

static void durations_answer(struct pg *pg, struct round *round)
{
	const struct pg_result *res = round->result[round->count - 1];
	size_t rows = (size_t)PQntuples(res), n = 0;
	if (!rows) {
		pg_answer_durations(pg, LEDGER_FENCED, NULL, 0);
		return;
	}
	struct ledger_duration *runs = mem_array(rows, sizeof(*runs));
	for (int i = 0; i < PQntuples(res); i++)
		if (!field_null(res, i, 0))
			runs[n++] = (struct ledger_duration){field_text(res, i, 0),
				field_text(res, i, 1), field_int8(res, i, 2), field_text(res, i, 3),
				field_text(res, i, 4), field_text(res, i, 5)};
	pg_answer_durations(pg, LEDGER_DONE, runs, n);
	free(runs);
}

void durations_step(struct pg *pg, struct request *r, struct round *round)
{
	if (round) {
		durations_answer(pg, round);
		return;
	}
	struct params *p = request_params(pg, r);
	params_int8(p, r->since_ms);
	params_int8(p, (int64_t)r->attempts);
	params_int8(p, DURATIONS_LOOKED_AT);
	request_begin_round(pg, r, STEP_DURATIONS);
	pg_conn_add(pg->conn, SQL_RECALL_DURATIONS, p);
	pg_conn_go(pg->conn);
}

/* ---- MIGRATE ----------------------------------------------------------------------------------
 */

void migrate_step(struct pg *pg, struct request *r, struct round *round)
{
	if (!round)
		pg->schema_fits = false; /* looked at anew: no answer from inside the call */
	if (schema_step(pg, r, round))
		pg_answer_migrate(pg, LEDGER_DONE);
}

/* ---- RESIGN -----------------------------------------------------------------------------------
 */

void resign_step(struct pg *pg, struct request *r, struct round *round)
{
	if (round) {
		pg_attach(pg, 0);
		pg_answer_resign(pg);
		return;
	}
	request_begin_round(pg, r, STEP_RESIGN);
	pg_conn_add(pg->conn, SQL_LEASE_RESIGN, request_params(pg, r));
	pg_conn_go(pg->conn);
}
