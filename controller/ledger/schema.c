/*
 * The schema, looked at by the first LEASE on a connection (which also locks its session, see
 * session_lock.sql):
 *   - older than this program: it is brought up to date. Not while another controller leads this
 *     cell: then only the lease is looked up, and the schema again next time. MIGRATE does not wait: a
 *     migration leaves in place what the version before reads and writes;
 *   - older, and our role may not change it: said in a sentence, and nothing works;
 *   - newer, by additions alone (sql.h): it will do. This program does nothing with them;
 *   - newer: the program refuses to work with it. A standby whose schema changes under it does so at
 *     the next LEASE, and the statement that takes the lease does not take it (lease_take.sql).
 *
 * A LEASE gives a statement of a migration 50 s. Meanwhile its table is locked, no controller
 * leads, and a kubelet may run out of patience with us. On larger tables it says that somebody has
 * to MIGRATE, which takes as long as it takes. Neither waits for a lock for more than 10 s: behind
 * it all others would wait.
 *
 * Two controllers may do this at once. Each migration is one transaction that takes its number
 * first (the key of sluice.schema_version or schema_addition). The migration that makes that table
 * takes the table's name instead. Of two controllers one waits, fails, and looks again.
 */
#include <stdio.h>
#include <string.h>

#include <libpq-fe.h>

#include "base/buf.h"
#include "base/must.h"
#include "base/span.h"
#include "controller/ledger/pg_priv.h"
#include "controller/ledger/sql.h"

#define SCRIPT_BYTES_MAX ((size_t)1 << 20)
#define SERVER_FIRST_MS 10000 /* a sentence of the server is better than none */

/* Adds a quoted literal: no backslash is let through, whatever standard_conforming_strings says. */
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

static void put_limits(struct buf *script, int64_t statement_ms)
{
	buf_printf(script,
		"SELECT set_config('statement_timeout', '%lld', true), "
		"set_config('lock_timeout', '10s', true), set_config('search_path', 'pg_catalog', true);\n",
		(long long)statement_ms);
}

/* Adds the INSERT that marks a migration as applied, in the table of its kind. */
static void put_number(struct buf *script, const struct pg *pg, int version)
{
	const struct migration *m = &MIGRATIONS[version - 1];
	buf_printf(script, "INSERT INTO sluice.%s, name, applied_by) VALUES (%d, ",
		m->addition ? "schema_addition (number" : "schema_version (version", version);
	buf_literal(script, m->name);
	buf_puts(script, ", ");
	buf_literal(script, pg->options.identity);
	buf_puts(script, ");\n");
}

static void schema_migrate(struct pg *pg, struct request *r, int version)
{
	struct buf script;
	int64_t limit_ms = r->query == &PG_MIGRATE ? 0 : pg->migration_ms;
	const struct migration *m = &MIGRATIONS[version - 1];
	bool makes_the_table = m->addition ? !r->has_additions : version == 1;
	buf_init(&script, SCRIPT_BYTES_MAX);
	put_limits(&script, limit_ms);
	if (version == 1 && !r->has_schema)
		buf_puts(&script, "CREATE SCHEMA sluice;\n"); /* else made by an admin, for us */
	if (!makes_the_table)
		put_number(&script, pg, version);
	buf_puts(&script, m->sql);
	if (makes_the_table)
		put_number(&script, pg, version);
	must(!script.failed);
	r->step = STEP_MIGRATE;
	pg_conn_script(pg->conn, buf_text(&script), limit_ms > 0 ? limit_ms + SERVER_FIRST_MS : 0);
	buf_done(&script);
}

static void schema_ask_state(struct pg *pg, struct request *r)
{
	struct params *p = params_new();
	params_int8(p, pg_session(pg));
	params_int8(p, pg_conn_backend_pid(pg->conn));
	request_begin_round(pg, r, STEP_SCHEMA_STATE);
	pg_conn_add(pg->conn, SQL_SESSION_LOCK, p);
	pg_conn_add(pg->conn, SQL_SCHEMA_STATE, NULL);
	pg_conn_go(pg->conn);
}

static void schema_ask_version(struct pg *pg, struct request *r)
{
	struct params *p = pg_params(pg);
	params_text(p, pg->options.identity);
	request_begin_round(pg, r, STEP_SCHEMA_VERSION);
	if (r->has_additions)
		pg_conn_add(pg->conn, SQL_SCHEMA_ADDITIONS, NULL);
	pg_conn_add(pg->conn, SQL_SCHEMA_VERSION, p);
	pg_conn_go(pg->conn);
}

void schema_refuse_newer(struct pg *pg, int version)
{
	char sentence[256];
	snprintf(sentence, sizeof(sentence),
		"the ledger's schema is version %d and this program knows versions up to %d: it was upgraded by a newer sluice-controller; run that one",
		version, MIGRATIONS_COUNT);
	pg_conn_drop(pg->conn, sentence);
}

static void say_other_role(const struct pg *pg, int version, const char *why, struct err *e)
{
	char is[64] = "there is no ledger yet";
	if (version > 0)
		snprintf(is, sizeof(is), "the ledger's schema is version %d", version);
	err_set(e, ERR_DENIED,
		"%s, this program needs version %d, and role %s may not migrate it%s%s; run once, as the role that owns it: sluice-controller --migrate-only --database \"... user=OWNER\"",
		is, MIGRATIONS_COUNT, pg_conn_user(pg->conn), *why ? ": " : "", why);
}

/* Refuses at once, while a leader of the version before leads: else it would be found out too
 * late. */
static void refuse_to_migrate(struct pg *pg, int version)
{
	struct err e;
	say_other_role(pg, version, "", &e);
	pg_conn_drop(pg->conn, e.text);
}

/* The schema as the round of STEP_SCHEMA_VERSION tells it. */
struct schema_seen {
	int refusable; /* the highest number but additions: one that we do not know is refused */
	int version;   /* the highest number of all, additions too */
	bool led_by_other, may_migrate;
};

static struct schema_seen schema_read(const struct request *r, const struct round *round)
{
	const struct pg_result *res = round->result[round->count - 1];
	struct schema_seen s = {.refusable = field_int4(res, 0, 0),
		.led_by_other = field_bool(res, 0, 1),
		.may_migrate = field_bool(res, 0, 2)};
	int additions = r->has_additions ? field_int4(round->result[round->count - 2], 0, 0) : 0;
	s.version = s.refusable > additions ? s.refusable : additions;
	return s;
}

/* Decides what follows. True: go on with the lease. */
static bool schema_judge(struct pg *pg, struct request *r, const struct schema_seen *s)
{
	int version = s->version;
	if (version > r->version)
		r->tries = 0; /* of two that migrate at once one loses each time, and yet gets on */
	r->version = version;
	if (s->refusable > MIGRATIONS_COUNT) {
		schema_refuse_newer(pg, s->refusable);
		return false;
	}
	if (version >= MIGRATIONS_COUNT) {
		pg->schema_fits = true;
		return true;
	}
	if (!s->may_migrate) {
		refuse_to_migrate(pg, version);
		return false;
	}
	if (s->led_by_other && r->query != &PG_MIGRATE)
		return true; /* not ours to change: only the lease is looked up */
	schema_migrate(pg, r, version + 1);
	return false;
}

static void say_too_slow(const struct pg *pg, const struct request *r, struct err *e)
{
	if (r->query == &PG_MIGRATE) { /* we set it no limit */
		err_set(e, ERR_BUSY, "the migration to version %d was cancelled in the database",
			r->version + 1);
		return;
	}
	err_set(e, ERR_BUSY,
		"the migration of the ledger to version %d takes longer than the %s that a starting controller gives it, as the tables are large; run once, without that limit: sluice-controller --migrate-only --database \"...\"",
		r->version + 1, span_exact(pg->migration_ms).s);
}

void schema_explain_fault(
	const struct pg *pg, const struct request *r, const struct round *round, struct err *e)
{
	if (r->step == STEP_MIGRATE && strcmp(round->sqlstate, "42501") == 0)
		say_other_role(pg, r->version, round->fault.text, e);
	else if (r->step == STEP_MIGRATE && strcmp(round->sqlstate, "57014") == 0)
		say_too_slow(pg, r, e);
	else
		*e = round->fault;
}

static bool session_locked(const struct pg_result *res)
{
	return PQntuples(res) > 0 && field_bool(res, 0, 0);
}

bool schema_step(struct pg *pg, struct request *r, struct round *round)
{
	/* The last result answers the question; results of the settings and the attach come
	 * first. */
	struct pg_result *res = round && round->count ? round->result[round->count - 1] : NULL;
	switch (r->step) {
	case STEP_NEW:
	case STEP_MIGRATE:
		if (r->step == STEP_NEW && pg->schema_fits)
			return true;
		schema_ask_state(pg, r);
		return false;
	case STEP_SCHEMA_STATE:
		must(round);
		pg->session_locked = session_locked(round->result[round->count - 2]);
		r->has_schema = field_bool(res, 0, 0);
		r->has_additions = field_bool(res, 0, 2);
		if (field_bool(res, 0, 1))
			schema_ask_version(pg, r);
		else
			schema_migrate(pg, r, 1);
		return false;
	case STEP_SCHEMA_VERSION:
		must(round);
		struct schema_seen seen = schema_read(r, round);
		return schema_judge(pg, r, &seen);
	case STEP_LEASE:
	case STEP_READ:
	case STEP_WRITE:
	case STEP_ONLY:
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
