/*
 * The schema, looked at by the first LEASE on a connection: older than this program, it is brought
 * up to date (unless somebody else leads this cell: then the question is answered and asked again
 * next time); newer, the program refuses to work with it.
 *
 * Two controllers may do this at once. Each migration is one transaction that takes its number
 * first (the key of sluice.schema_version), or, the very first one, the names of its tables: of two
 * one waits, fails, and looks again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "base/buf.h"
#include "base/must.h"
#include "controller/ledger/pg_priv.h"
#include "controller/ledger/sql.h"

#define SCRIPT_BYTES_MAX ((size_t)1 << 20)

/* A quoted literal, whatever standard_conforming_strings says: no backslash is let through. */
static void buf_literal(struct buf *b, const char *s)
{
	buf_putc(b, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			buf_putc(b, '\'');
		buf_putc(b, *s == '\\' || (unsigned char)*s >= 0x80 ? '?' : *s);
	}
	buf_putc(b, '\'');
}

static void schema_migrate(struct pg *pg, struct request *r, int version)
{
	struct buf script, number;
	const struct migration *m = &MIGRATIONS[version - 1];
	buf_init(&script, SCRIPT_BYTES_MAX);
	buf_init(&number, SCRIPT_BYTES_MAX);
	buf_printf(&number,
		"INSERT INTO sluice.schema_version (version, name, applied_by) "
		"VALUES (%d, ",
		version);
	buf_literal(&number, m->name);
	buf_puts(&number, ", ");
	buf_literal(&number, pg->identity);
	buf_puts(&number, ");\n");

	buf_puts(&script,
		"SELECT set_config('statement_timeout', '50s', true), "
		"set_config('lock_timeout', '10s', true), set_config('search_path', 'pg_catalog', true);\n");
	if (version == 1 && !r->has_schema)
		buf_puts(&script, "CREATE SCHEMA sluice;\n"); /* else made by an admin, for us */
	if (version > 1)
		buf_puts(&script, buf_text(&number));
	buf_puts(&script, m->sql);
	if (version == 1)
		buf_puts(&script, buf_text(&number)); /* it makes the table */
	must(!script.failed && !number.failed);
	r->step = STEP_MIGRATE;
	pg_conn_script(pg->conn, buf_text(&script));
	buf_done(&script);
	buf_done(&number);
}

static void schema_ask_state(struct pg *pg, struct request *r)
{
	request_begin_round(pg, r, STEP_SCHEMA_STATE);
	pg_conn_add(pg->conn, SQL_SCHEMA_STATE, NULL);
	pg_conn_go(pg->conn);
}

static void schema_ask_version(struct pg *pg, struct request *r)
{
	struct params *p = params_new();
	params_text(p, pg->cell);
	params_text(p, pg->identity);
	request_begin_round(pg, r, STEP_SCHEMA_VERSION);
	pg_conn_add(pg->conn, SQL_SCHEMA_VERSION, p);
	pg_conn_go(pg->conn);
}

/* True: go on with the lease. */
static bool schema_judge(struct pg *pg, struct request *r, int version, bool led_by_other)
{
	if (version > MIGRATIONS_COUNT) {
		char sentence[256];
		snprintf(sentence, sizeof(sentence),
			"the ledger's schema is version %d and this program knows versions up to %d: it was upgraded by a newer sluice-controller; run that one",
			version, MIGRATIONS_COUNT);
		pg_conn_drop(pg->conn, sentence);
		return false;
	}
	if (version == MIGRATIONS_COUNT) {
		pg->schema_fits = true;
		return true;
	}
	if (led_by_other)
		return true; /* not ours to change, and the lease will be refused */
	schema_migrate(pg, r, version + 1);
	return false;
}

bool schema_step(struct pg *pg, struct request *r, struct round *round)
{
	/* The last result is the question's; before it come those of the settings and attach. */
	struct pg_result *res = round && round->count ? round->result[round->count - 1] : NULL;
	switch (r->step) {
	case STEP_NEW:
	case STEP_MIGRATE:
		if (r->step == STEP_NEW && pg->schema_fits)
			return true;
		schema_ask_state(pg, r);
		return false;
	case STEP_SCHEMA_STATE:
		r->has_schema = field_bool(res, 0, 0);
		if (field_bool(res, 0, 1))
			schema_ask_version(pg, r);
		else
			schema_migrate(pg, r, 1);
		return false;
	case STEP_SCHEMA_VERSION:
		return schema_judge(pg, r, field_int4(res, 0, 0), field_bool(res, 0, 1));
	case STEP_LEASE:
	case STEP_LOAD:
	case STEP_RECALL:
	case STEP_SPENT:
	case STEP_DURATIONS:
	case STEP_COST:
	case STEP_READ:
	case STEP_WRITE:
	case STEP_RESIGN:
		break;
	}
	must_not_get_here();
}

bool schema_fault_passes(const struct request *r, const char *sqlstate)
{
	/* unique_violation, duplicate schema, table, object, column; a catalog row changed by
	 * another; undefined table: seen before the other's commit, gone after its rollback. */
	static const char *const passing[] = {
		"23505", "42P06", "42P07", "42710", "42701", "XX000", "42P01", "55P03"};
	if (r->step != STEP_MIGRATE && r->step != STEP_SCHEMA_VERSION)
		return false;
	for (size_t i = 0; i < sizeof(passing) / sizeof(*passing); i++)
		if (!strcmp(sqlstate, passing[i]))
			return true;
	return false;
}
