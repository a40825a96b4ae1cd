/* What Postgres says of itself and of the ledger in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "cli/doctor/checks.h"
#include "controller/common/clock.h"
#include "controller/ledger/sql.h"

enum {
	OLDEST_VERSION = 130000, /* the first that has trim_scale() */
	SKEW_MAX_MS = 5 * 1000,
};

static PGconn *dial_with(const char *conninfo, const char *target)
{
	/* The connection string comes last, and holds. */
	const char *const names[] = {"connect_timeout", "fallback_application_name",
		target ? "target_session_attrs" : "dbname", target ? "dbname" : NULL, NULL};
	const char *const values[] = {
		"10", "sluice doctor", target ? target : conninfo, conninfo, NULL};
	return PQconnectdbParams(names, values, 1);
}

static bool option_has(PGconn *pg, const char *keyword, const char *text)
{
	PQconninfoOption *options = PQconninfo(pg);
	bool has = false;
	for (PQconninfoOption *o = options; o && o->keyword; o++)
		if (strcmp(o->keyword, keyword) == 0 && o->val)
			has = strstr(o->val, text) != NULL;
	PQconninfoFree(options);
	return has;
}

/* Connects. Of several hosts it takes the one that the controller would take (pg_conn.c). That a
 * single host is a standby is a finding. */
static PGconn *dial(const char *conninfo)
{
	PGconn *pg = dial_with(conninfo, NULL);
	if (getenv("PGTARGETSESSIONATTRS") || !option_has(pg, "host", ","))
		return pg;
	PQfinish(pg);
	return dial_with(conninfo, "read-write");
}

/* Says the first line of libpq's message, which never has a password. */
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
		findings_skip(f, "no database is named (--database, PGHOST)%s",
			quickstart_is_used(p)
				? "; docs/install.md has how to reach that of deploy/quickstart"
				: "");
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
		findings_add(f, VERDICT_FAIL, "this is Postgres %d; use %d or later",
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
			"%s is off: after a power failure the ledger may have lost reservations of Jobs that run, or be corrupt",
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

/* Finds several hosts of which the controller may take a standby, since its own choice was
 * overruled. */
static void check_hosts(struct doctor_context *p, struct findings *f)
{
	if (!option_has(p->pg, "host", ",") ||
		option_has(p->pg, "target_session_attrs", "read-write") ||
		option_has(p->pg, "target_session_attrs", "primary"))
		return;
	findings_add(f, VERDICT_WARN,
		"several hosts are named, and target_session_attrs is neither read-write nor primary: the controller may stay at a standby, where nothing can be written and so nothing starts");
	findings_cure(f,
		"# in the controller's --database: target_session_attrs=read-write, or leave it out");
}

/* Judges replication. names and commit are settings; standbys counts those that are connected. */
static void judge_replication(
	const char *names, const char *commit, int standbys, struct findings *f)
{
	if (*names == '\0' && standbys == 0) {
		findings_add(f, VERDICT_WARN,
			"Postgres has no standby: if its disk is lost, so is the ledger since the last backup. What runs goes on and is written into the ledger anew, by what each Job tells; nothing starts meanwhile, and bills of that time are estimated");
		findings_cure(f,
			"# docs/operate.md has the settings; where the disk itself is replicated, and for a test: --ignore replication");
	} else if (*names == '\0') {
		findings_add(f, VERDICT_WARN,
			"no standby is synchronous (synchronous_standby_names is empty): after a failover the ledger lacks the last transactions. What they started goes on and is written into the ledger anew, and bills of it are estimated");
		findings_cure(f,
			"psql -c \"ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'\" -c 'SELECT pg_reload_conf()'   # two standbys, or the loss of one stops all starts: docs/operate.md");
	} else if (standbys == 0) {
		findings_add(f, VERDICT_FAIL,
			"synchronous_standby_names is %s, and no standby is connected: each commit waits until one is, so nothing starts",
			names);
		findings_cure(f,
			"# start the standby; or do without it: psql -c 'ALTER SYSTEM RESET synchronous_standby_names' -c 'SELECT pg_reload_conf()'");
	} else if (strcmp(commit, "local") == 0) {
		findings_add(f, VERDICT_WARN,
			"synchronous_commit is local: commits do not wait for the standbys that synchronous_standby_names names (%s), and after a failover the ledger lacks the last ones",
			names);
		findings_cure(f,
			"ALTER ROLE CURRENT_USER SET synchronous_commit = 'on';   # as the controller's role");
	}
}

void check_replication(struct doctor_context *p, struct findings *f)
{
	PGresult *r;
	struct err e = {""};
	if (doctor_context_select(p,
		    "SELECT current_setting('synchronous_standby_names'), "
		    "current_setting('synchronous_commit'), count(*) FROM pg_stat_replication",
		    0, NULL, &r, &e) < 0) {
		skip_for(f, &e);
		return;
	}
	const char *names = PQgetvalue(r, 0, 0), *commit = PQgetvalue(r, 0, 1);
	int standbys = atoi(PQgetvalue(r, 0, 2));
	bool alone_by_choice = *names == '\0' && standbys == 0 && quickstart_is_used(p);
	if (!alone_by_choice)
		judge_replication(names, commit, standbys, f);
	check_hosts(p, f);
	if (f->count == 0 && alone_by_choice)
		findings_skip(f,
			"deploy/quickstart has one Postgres: if its volume is lost, so is the ledger since the last backup (docs/operate.md)");
	else if (f->count == 0)
		findings_ok(f, "synchronous_standby_names is %s, standbys connected: %s", names,
			PQgetvalue(r, 0, 2));
	PQclear(r);
}

/* Finds a pooler: it makes up the process id that it tells its clients. */
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
		       : "there is one, so no session is relied on: transaction mode and session mode will do, but when the leader dies a standby takes over only when the lease has run out");
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
			"its clock is %s %s this machine's: the lease goes by its own, bills and windows by the controller's",
			span_short(llabs(skew_ms)).s, skew_ms > 0 ? "ahead of" : "behind");
	else
		findings_ok(f, "within %lld ms of this machine's", (long long)llabs(skew_ms) + 1);
}

/* Selects a table whose owner we are not, and may not act as. */
#define STRANGE                                                                                    \
	"SELECT c.relname, pg_get_userbyid(c.relowner) FROM pg_class c WHERE c.relnamespace = "    \
	"'sluice'::regnamespace AND c.relkind = 'r' AND NOT pg_has_role(c.relowner, 'USAGE') "     \
	"ORDER BY 1 LIMIT 1"

/* Reads the role that owns the ledger, where it is not ours; "" where we may migrate the ledger, or
 * cannot tell. */
static void read_owner(struct doctor_context *p, char ret[64])
{
	PGresult *r;
	struct err e;
	ret[0] = '\0';
	if (doctor_context_select(p, STRANGE, 0, NULL, &r, &e) < 0)
		return;
	if (PQntuples(r) > 0)
		snprintf(ret, 64, "%s", PQgetvalue(r, 0, 1));
	PQclear(r);
}

static void judge_older(struct doctor_context *p, int version, struct findings *f)
{
	char owner[64];
	read_owner(p, owner);
	if (owner[0]) {
		findings_add(f, VERDICT_WARN,
			"the ledger's schema is version %d, this program is of version %d, and role %s may not migrate it: it belongs to role %s",
			version, MIGRATIONS_COUNT, PQuser(p->pg), owner);
		findings_cure(f,
			"sluice-controller --migrate-only --database \"... user=%s\"   # of this version, before its controllers start",
			owner);
		return;
	}
	findings_add(f, VERDICT_WARN,
		"the ledger's schema is version %d, and this program is of version %d: the controller that leads is older, and a newer one migrates when it leads",
		version, MIGRATIONS_COUNT);
	findings_cure(f,
		"kubectl -n %s rollout restart deployment/sluice-controller   # with the image of this version",
		p->o->namespace_name);
}

/* Judges the schema. version: the highest; number: that of additions too, which an older program
 * tolerates. */
static void judge_schema(struct doctor_context *p, int version, int number, struct findings *f)
{
	p->has_schema = version <= MIGRATIONS_COUNT && number >= MIGRATIONS_COUNT;
	if (version > MIGRATIONS_COUNT) {
		findings_add(f, VERDICT_FAIL,
			"the ledger's schema is version %d and this program knows versions up to %d: it was upgraded by a newer sluice-controller",
			version, MIGRATIONS_COUNT);
		findings_cure(f, "# use the sluice of that version, and run no older controller");
	} else if (number < MIGRATIONS_COUNT)
		judge_older(p, number, f);
	else if (number > MIGRATIONS_COUNT)
		findings_ok(f,
			"version %d: a newer sluice-controller has added to it, and this program's, %d, goes with that",
			number, MIGRATIONS_COUNT);
	else
		findings_ok(f, "version %d, as this program's", number);
}

static void say_may_not_read(
	const struct doctor_context *p, const char *sentence, struct findings *f)
{
	findings_add(f, VERDICT_FAIL, "%s", sentence);
	findings_cure(f,
		"GRANT USAGE ON SCHEMA sluice TO %s;\n"
		"GRANT SELECT ON ALL TABLES IN SCHEMA sluice TO %s;\n"
		"-- or connect as the controller does",
		PQuser(p->pg), PQuser(p->pg));
}

/* True if we lack USAGE of the schema: then not even the names of its tables can be looked up. */
static bool may_not_use_schema(struct doctor_context *p)
{
	PGresult *r;
	struct err e = {""};
	if (doctor_context_select(p,
		    "SELECT FROM pg_namespace WHERE nspname = 'sluice' AND NOT "
		    "has_schema_privilege(oid, 'USAGE')",
		    0, NULL, &r, &e) < 0)
		return false;
	bool may_not = PQntuples(r) > 0;
	PQclear(r);
	return may_not;
}

void check_schema(struct doctor_context *p, struct findings *f)
{
	PGresult *r;
	struct err e = {""};
	if (may_not_use_schema(p)) {
		say_may_not_read(p, "permission denied for schema sluice", f);
		return;
	}
	if (doctor_context_select(p, SQL_SCHEMA_STATE, 0, NULL, &r, &e) < 0) {
		skip_for(f, &e);
		return;
	}
	bool there = *PQgetvalue(r, 0, 1) == 't', has_additions = *PQgetvalue(r, 0, 2) == 't';
	PQclear(r);
	if (!there) {
		findings_add(f, VERDICT_FAIL,
			"there is no ledger in database %s: the controller that first leads makes it, and none has",
			PQdb(p->pg));
		return;
	}
	if (doctor_context_select(p, "SELECT coalesce(max(version), 0) FROM sluice.schema_version",
		    0, NULL, &r, &e) < 0) {
		say_may_not_read(p, e.text, f);
		return;
	}
	int version = atoi(PQgetvalue(r, 0, 0)), number = version;
	PQclear(r);
	if (has_additions) {
		if (doctor_context_select(p, SQL_SCHEMA_ADDITIONS, 0, NULL, &r, &e) < 0) {
			say_may_not_read(p, e.text, f);
			return;
		}
		int addition = atoi(PQgetvalue(r, 0, 0));
		number = addition > version ? addition : version;
		PQclear(r);
	}
	judge_schema(p, version, number, f);
}

/* Selects the rights that the controller's statements need (sql/), and lack. */
#define NEEDED                                                                                     \
	"SELECT t, string_agg(lower(r), ', ' ORDER BY r), 'GRANT ' || string_agg(r, ', ' ORDER "   \
	"BY "                                                                                      \
	"r) || ' ON ' || t || ' TO ' || quote_ident(current_user) FROM (VALUES "                   \
	"('sluice.schema_version', '{SELECT}'), ('sluice.schema_addition', '{SELECT}'), "          \
	"('sluice.lease', "                                                                        \
	"'{SELECT,INSERT,UPDATE}'), "                                                              \
	"('sluice.balance', '{SELECT,INSERT,UPDATE}'), "                                           \
	"('sluice.transfer', '{SELECT,INSERT,DELETE}'), "                                          \
	"('sluice.hold', '{SELECT,INSERT,UPDATE,DELETE}'), "                                       \
	"('sluice.segment', '{SELECT,INSERT,UPDATE,DELETE}'), "                                    \
	"('sluice.segment_month', '{SELECT,INSERT,UPDATE}'), "                                     \
	"('sluice.retention', '{SELECT,INSERT,UPDATE}'), "                                         \
	"('sluice.story_key', '{SELECT,INSERT}'), "                                                \
	"('sluice.node_history', '{SELECT,INSERT,UPDATE,DELETE}')) AS need (t, rights), "          \
	"unnest(rights::text[]) AS r WHERE NOT has_table_privilege(t, r) GROUP BY t ORDER BY t"
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
	if (PQntuples(r) > 0)
		findings_ok(f,
			"role %s reads and writes the ledger; it belongs to role %s, which has to migrate it at an upgrade (sluice-controller --migrate-only)",
			PQuser(p->pg), PQgetvalue(r, 0, 1));
	else
		findings_ok(f, "role %s reads and writes the ledger, and may migrate it",
			PQuser(p->pg));
	PQclear(r);
}

/* Selects the lease. In milliseconds: how long ago it ran out (NULL: it was given back), and what
 * is left. */
#define LEASE                                                                                      \
	"SELECT holder, epoch, expires_at > clock_timestamp(), CASE WHEN expires_at <> "           \
	"'-infinity' THEN (1000 * extract(epoch FROM clock_timestamp() - expires_at))::bigint "    \
	"END, (1000 * extract(epoch FROM greatest(expires_at, clock_timestamp()) - "               \
	"clock_timestamp()))::bigint, session_lock = session IS TRUE FROM sluice.lease WHERE "     \
	"cell = $1"

static void judge_lease(PGresult *r, struct findings *f)
{
	const char *holder = PQgetvalue(r, 0, 0), *epoch = PQgetvalue(r, 0, 1);
	struct span_text left = span_short(atoll(PQgetvalue(r, 0, 4)));
	if (PQgetisnull(r, 0, 3))
		findings_add(f, VERDICT_FAIL,
			"no controller leads: the lease of %s (epoch %s) was given back", holder,
			epoch);
	else if (*PQgetvalue(r, 0, 2) != 't')
		findings_add(f, VERDICT_FAIL,
			"no controller leads: the lease of %s (epoch %s) ran out %s ago", holder,
			epoch, span_short(atoll(PQgetvalue(r, 0, 3))).s);
	else if (*PQgetvalue(r, 0, 5) != 't')
		findings_add(f, VERDICT_WARN,
			"%s leads (epoch %s), %s are left; its session is not locked, so if it dies a standby takes over when the lease has run out, not at once: its connection has just come anew, or there is a pooler between it and Postgres",
			holder, epoch, left.s);
	else
		findings_ok(f, "%s leads (epoch %s), %s are left", holder, epoch, left.s);
}

void check_lease(struct doctor_context *p, struct findings *f)
{
	PGresult *r;
	struct err e = {""};
	if (doctor_context_select(p, LEASE, 1, &p->o->cell, &r, &e) < 0) {
		skip_for(f, &e);
		return;
	}
	p->lease_known = true;
	p->led = PQntuples(r) > 0 && *PQgetvalue(r, 0, 2) == 't';
	if (PQntuples(r) > 0) {
		judge_lease(r, f);
	} else {
		findings_add(f, VERDICT_FAIL, "no controller has ever led cell \"%s\"", p->o->cell);
		findings_cure(f, "psql -c 'SELECT cell, holder, expires_at FROM "
				 "sluice.lease'   # the controller's --cell must be --cell here");
	}
	PQclear(r);
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
