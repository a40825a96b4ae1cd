/* What Postgres says of itself, and the ledger in it of itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/checks.h"
#include "controller/common/clock.h"
#include "controller/ledger/sql.h"

enum {
	OLDEST_VERSION = 120000, /* plan_cache_mode, date_trunc() with a zone */
	SKEW_MAX_MS = 5 * 1000,
};

static PGconn *dial(const char *conninfo)
{
	/* What the connection string says comes last and holds. */
	const char *const names[] = {
		"connect_timeout", "fallback_application_name", "dbname", NULL};
	const char *const values[] = {"10", "sluice doctor", conninfo, NULL};
	return PQconnectdbParams(names, values, 1);
}

/* The first line of what libpq says; it never says a password. */
static void say_unreachable(PGconn *pg, struct findings *f)
{
	const char *text = PQerrorMessage(pg);
	findings_add(f, VERDICT_FAIL, "%.*s", (int)strcspn(text, "\n"), text);
}

static bool is_standby(struct doctor_context *p)
{
	PGresult *r;
	struct err e;
	if (doctor_context_select(p, "SELECT pg_is_in_recovery()", 0, NULL, &r, &e) < 0)
		return false;
	bool standby = *PQgetvalue(r, 0, 0) == 't';
	PQclear(r);
	return standby;
}

void check_postgres(struct doctor_context *p, struct findings *f)
{
	if (!p->o->database) {
		findings_skip(f, "no database is named (--database, PGHOST)");
		return;
	}
	p->pg = dial(p->o->database);
	if (PQstatus(p->pg) != CONNECTION_OK) {
		say_unreachable(p->pg, f);
		PQfinish(p->pg);
		p->pg = NULL;
		return;
	}
	int version = PQserverVersion(p->pg);
	if (version < OLDEST_VERSION) {
		findings_add(f, VERDICT_FAIL, "Postgres %d; %d is the oldest that will do",
			version / 10000, OLDEST_VERSION / 10000);
		findings_cure(f, "# upgrade Postgres");
	}
	if (is_standby(p)) {
		findings_add(f, VERDICT_FAIL, "it is a standby, to which nothing can be written");
		findings_cure(f,
			"# name the primary; with several hosts in --database: target_session_attrs=read-write");
	}
	if (f->count == 0)
		findings_ok(f, "Postgres %d, database %s, role %s", version / 10000, PQdb(p->pg),
			PQuser(p->pg));
}

static void skip_for(struct findings *f, const struct err *e)
{
	findings_skip(f, "%s", e->text);
}

void check_durability(struct doctor_context *p, struct findings *f)
{
	static const char *const must_be_on[] = {"fsync", "full_page_writes"};
	PGresult *r;
	struct err e = {""};
	if (doctor_context_select(p,
		    "SELECT current_setting('fsync'), current_setting('full_page_writes'), "
		    "current_setting('synchronous_commit')",
		    0, NULL, &r, &e) < 0) {
		skip_for(f, &e);
		return;
	}
	for (int i = 0; i < 2; i++) {
		if (strcmp(PQgetvalue(r, 0, i), "on") == 0)
			continue;
		findings_add(f, VERDICT_FAIL,
			"%s is off: after a power failure the ledger may have forgotten holds of Jobs that run, or be corrupt",
			must_be_on[i]);
		findings_cure(f, "psql -c 'ALTER SYSTEM SET %s = on' -c 'SELECT pg_reload_conf()'",
			must_be_on[i]);
	}
	bool late = strcmp(PQgetvalue(r, 0, 2), "off") == 0;
	if (f->count == 0)
		findings_ok(f, "fsync and full_page_writes are on, synchronous_commit is %s%s",
			PQgetvalue(r, 0, 2),
			late ? " (the controller sets it to on for its own transactions)" : "");
	PQclear(r);
}

/* A pooler makes up the process id that it tells its clients. */
void check_pooler(struct doctor_context *p, struct findings *f)
{
	PGresult *r;
	struct err e = {""};
	if (doctor_context_select(p, "SELECT pg_backend_pid()", 0, NULL, &r, &e) < 0) {
		findings_add(f, VERDICT_FAIL,
			"transactions do not work: %s (a pooler in statement mode? transaction mode will do)",
			e.text);
		return;
	}
	bool direct = atoi(PQgetvalue(r, 0, 0)) == PQbackendPID(p->pg);
	PQclear(r);
	findings_ok(f, "%s",
		direct ? "none: we talk to Postgres itself"
		       : "there is one; transaction mode and session mode will do");
}

void check_database_clock(struct doctor_context *p, struct findings *f)
{
	PGresult *r;
	struct err e = {""};
	int64_t before_ms = clock_now_ms();
	if (doctor_context_select(p,
		    "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint", 0, NULL, &r,
		    &e) < 0) {
		skip_for(f, &e);
		return;
	}
	int64_t after_ms = clock_now_ms();
	int64_t skew_ms = atoll(PQgetvalue(r, 0, 0)) - (before_ms + after_ms) / 2;
	PQclear(r);
	if (llabs(skew_ms) - (after_ms - before_ms) / 2 > SKEW_MAX_MS)
		findings_add(f, VERDICT_WARN,
			"its clock is %lld s %s this machine's: the lease goes by its own, bills and windows by the controller's",
			(long long)llabs(skew_ms) / 1000, skew_ms > 0 ? "ahead of" : "behind");
	else
		findings_ok(f, "within %lld ms of this machine's", (long long)llabs(skew_ms) + 1);
}

static void judge_schema(struct doctor_context *p, int version, struct findings *f)
{
	p->has_schema = version == MIGRATIONS_COUNT;
	if (version > MIGRATIONS_COUNT) {
		findings_add(f, VERDICT_FAIL,
			"the ledger's schema is version %d and this program knows versions up to %d: it was upgraded by a newer sluice-controller",
			version, MIGRATIONS_COUNT);
		findings_cure(f, "# use the sluice of that version, and run no older controller");
	} else if (version < MIGRATIONS_COUNT) {
		findings_add(f, VERDICT_WARN,
			"the ledger's schema is version %d, and this program is of version %d: the controller that leads is older, and a newer one migrates when it leads",
			version, MIGRATIONS_COUNT);
		findings_cure(f,
			"kubectl -n %s rollout restart deployment/sluice-controller   # with the image of this version",
			p->o->namespace_name);
	} else
		findings_ok(f, "version %d, as this program's", version);
}

void check_schema(struct doctor_context *p, struct findings *f)
{
	PGresult *r;
	struct err e = {""};
	if (doctor_context_select(p, SQL_SCHEMA_STATE, 0, NULL, &r, &e) < 0) {
		skip_for(f, &e);
		return;
	}
	bool there = *PQgetvalue(r, 0, 1) == 't';
	PQclear(r);
	if (!there) {
		findings_add(f, VERDICT_FAIL,
			"there is no ledger in database %s: the controller that first leads makes it, and none has",
			PQdb(p->pg));
		return;
	}
	if (doctor_context_select(p, "SELECT coalesce(max(version), 0) FROM sluice.schema_version",
		    0, NULL, &r, &e) < 0) {
		findings_add(f, VERDICT_FAIL, "%s", e.text);
		findings_cure(f,
			"GRANT USAGE ON SCHEMA sluice TO %s;\n"
			"GRANT SELECT ON ALL TABLES IN SCHEMA sluice TO %s;\n"
			"-- or connect as the controller does",
			PQuser(p->pg), PQuser(p->pg));
		return;
	}
	judge_schema(p, atoi(PQgetvalue(r, 0, 0)), f);
	PQclear(r);
}

/* What the controller's statements need (sql/), and for migrations the tables must be its own. */
#define NEEDED                                                                                     \
	"SELECT t, string_agg(lower(r), ', ' ORDER BY r), 'GRANT ' || string_agg(r, ', ' ORDER "   \
	"BY "                                                                                      \
	"r) || ' ON ' || t || ' TO ' || quote_ident(current_user) FROM (VALUES "                   \
	"('sluice.schema_version', '{SELECT,INSERT}'), ('sluice.lease', "                          \
	"'{SELECT,INSERT,UPDATE}'), "                                                              \
	"('sluice.balance', '{SELECT,INSERT,UPDATE}'), ('sluice.transfer', '{SELECT,INSERT}'), "   \
	"('sluice.hold', '{SELECT,INSERT,UPDATE,DELETE}'), "                                       \
	"('sluice.segment', '{SELECT,INSERT,UPDATE}'), "                                           \
	"('sluice.node_history', '{SELECT,INSERT,UPDATE,DELETE}')) AS need (t, rights), "          \
	"unnest(rights::text[]) AS r WHERE NOT has_table_privilege(t, r) GROUP BY t ORDER BY t"
#define STRANGE                                                                                    \
	"SELECT c.relname, pg_get_userbyid(c.relowner) FROM pg_class c WHERE c.relnamespace = "    \
	"'sluice'::regnamespace AND c.relkind = 'r' AND NOT pg_has_role(c.relowner, 'USAGE') "     \
	"ORDER BY 1 LIMIT 1"

void check_role(struct doctor_context *p, struct findings *f)
{
	PGresult *r;
	struct err e = {""};
	if (doctor_context_select(p, NEEDED, 0, NULL, &r, &e) < 0) {
		skip_for(f, &e);
		return;
	}
	for (int i = 0; i < PQntuples(r); i++) {
		findings_add(f, VERDICT_FAIL,
			"role %s may not %s %s; if the controller connects as another, give that one's --database",
			PQuser(p->pg), PQgetvalue(r, i, 1), PQgetvalue(r, i, 0));
		findings_cure(f, "%s;", PQgetvalue(r, i, 2));
	}
	PQclear(r);
	if (f->count > 0)
		return;
	if (doctor_context_select(p, STRANGE, 0, NULL, &r, &e) < 0) {
		skip_for(f, &e);
		return;
	}
	if (PQntuples(r) > 0) {
		findings_add(f, VERDICT_WARN,
			"table sluice.%s belongs to role %s, so role %s could not migrate it at an upgrade",
			PQgetvalue(r, 0, 0), PQgetvalue(r, 0, 1), PQuser(p->pg));
		findings_cure(f, "GRANT %s TO %s;", PQgetvalue(r, 0, 1), PQuser(p->pg));
	} else
		findings_ok(f, "role %s reads and writes the ledger, and may migrate it",
			PQuser(p->pg));
	PQclear(r);
}

void check_lease(struct doctor_context *p, struct findings *f)
{
	PGresult *r;
	struct err e = {""};
	if (doctor_context_select(p,
		    "SELECT holder, epoch, expires_at > clock_timestamp(), "
		    "CASE WHEN expires_at = '-infinity' THEN 'was given back' ELSE 'ran out ' || date_trunc('second', clock_timestamp() - expires_at)::text || ' ago' END, to_char(extract(epoch FROM greatest(expires_at, clock_timestamp()) - clock_timestamp()), 'FM999990.0') FROM sluice.lease WHERE cell = $1",
		    1, &p->o->cell, &r, &e) < 0)
		skip_for(f, &e);
	else {
		p->lease_known = true;
		p->led = PQntuples(r) > 0 && *PQgetvalue(r, 0, 2) == 't';
		if (PQntuples(r) == 0) {
			findings_add(
				f, VERDICT_FAIL, "nobody has ever led cell \"%s\"", p->o->cell);
			findings_cure(f,
				"psql -c 'SELECT cell, holder, expires_at FROM "
				"sluice.lease'   # the controller's --cell must be --cell here");
		} else if (*PQgetvalue(r, 0, 2) != 't')
			findings_add(f, VERDICT_FAIL, "nobody leads: the lease of %s (epoch %s) %s",
				PQgetvalue(r, 0, 0), PQgetvalue(r, 0, 1), PQgetvalue(r, 0, 3));
		else
			findings_ok(f, "%s leads (epoch %s), %s s are left", PQgetvalue(r, 0, 0),
				PQgetvalue(r, 0, 1), PQgetvalue(r, 0, 4));
		PQclear(r);
	}
}

void check_balances(struct doctor_context *p, struct findings *f)
{
	PGresult *r;
	struct err e = {""};
	if (doctor_context_select(p,
		    "SELECT fault, subject, detail FROM sluice.audit WHERE cell = $1 "
		    "ORDER BY 1, 2 LIMIT 200",
		    1, &p->o->cell, &r, &e) < 0) {
		skip_for(f, &e);
		return;
	}
	for (int i = 0; i < PQntuples(r); i++)
		findings_add(f, VERDICT_FAIL, "%s: %s: %s", PQgetvalue(r, i, 1),
			PQgetvalue(r, i, 0), PQgetvalue(r, i, 2));
	if (f->count == 0)
		findings_ok(f, "sluice.audit is empty");
	PQclear(r);
}
