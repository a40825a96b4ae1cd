/* Two roles: one owns the schema and migrates it, the other reads and writes the tables and runs. The
 * statements are those of docs/operate.md, "A role of its own for the tables". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <libpq-fe.h>

#include "controller/ledger/pg_priv.h"
#include "controller/ledger/retention.h"
#include "controller/ledger/sql.h"
#include "drive.h"

static struct pg_fixture owner, runs; /* the same Postgres, as each of the roles */

/* Takes the statements out of the page, and runs them as the superuser. */
static void do_what_the_page_says(const char *heading)
{
	char text[65536];
	FILE *f = fopen(OPERATE_PAGE, "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	char *begin = strstr(text, heading);
	assert_non_null(begin);
	begin = strstr(begin, "```sql\n");
	assert_non_null(begin);
	begin += strlen("```sql\n");
	*strstr(begin, "```") = '\0';
	pg_fixture_sql(&F, "%s", begin);
}

static void as_role(struct pg_fixture *ret, const char *role)
{
	*ret = F;
	snprintf(ret->conninfo, sizeof(ret->conninfo), "host=%s dbname=postgres user=%s", F.dir,
		role);
}

static int open_roles(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	pg_fixture_start(&F, false);
	do_what_the_page_says("### A role of its own for the tables");
	as_role(&owner, "sluice_owner");
	as_role(&runs, "sluice");
	return 0;
}

/* What a refusal says: the connection goes down with it. */
static const char *refused(struct drive *d, const char *cell)
{
	drive_start(d, &runs, cell, cell);
	drive_until_up(d);
	assert_int_equal(drive_lease(d, 0, 60000), LEDGER_LOST);
	return d->sentence;
}

static void assert_says(const char *sentence, const char *part)
{
	if (!strstr(sentence, part))
		fail_msg("\"%s\" does not say \"%s\"", sentence, part);
}

static void the_role_that_runs_says_who_must_make_the_tables(void **state)
{
	(void)state;
	struct drive d;
	const char *sentence = refused(&d, "none");
	assert_says(sentence, "there is no ledger yet");
	assert_says(sentence, "role sluice may not migrate it: permission denied");
	assert_says(sentence, "sluice-controller --migrate-only");
	drive_stop(&d);
}

static void the_owner_makes_them(void **state)
{
	(void)state;
	struct drive d;
	drive_start(&d, &owner, "none", "owner");
	for (int i = 0; i < 2; i++) { /* the second time nothing is to be done */
		drive_until_up(&d);
		assert_int_equal(drive_migrate(&d), LEDGER_DONE);
		assert_int_equal(drive_schema_version(&F), MIGRATIONS_COUNT);
	}
	assert_string_equal(pg_fixture_sql(&F, "SELECT count(*) FROM sluice.lease"), "0");
	drive_stop(&d);
}

static struct ledger_op op(enum ledger_kind kind, int64_t at_ms)
{
	static const struct quota_line line = {"cq/a", "spot", "cpu", 3},
				       less = {"cq/a", "spot", "cpu", 1};
	struct ledger_op o = {.kind = kind,
		.attempt = 1,
		.seq = kind == LEDGER_SHRINK,
		.at_ms = at_ms,
		.ns = "team",
		.name = "train",
		.clusterqueue = "a",
		.localqueue = "main",
		.reason = "Finished",
		.actor = "test",
		.lines = kind == LEDGER_SHRINK ? &less : &line,
		.nlines = kind <= LEDGER_RESERVE || kind == LEDGER_SHRINK};
	o.uid.byte[15] = 1;
	return o;
}

/* Everything that a controller asks of the ledger. */
static void the_role_that_runs_needs_no_more(void **state)
{
	(void)state;
	static const enum ledger_kind life[] = {
		LEDGER_RESERVE, LEDGER_COMMIT, LEDGER_SHRINK, LEDGER_STOP, LEDGER_RELEASE};
	static const struct quota_line room = {"cq/a", "spot", "cpu", 9};
	struct ledger_op cap = {.kind = LEDGER_CEILING, .lines = &room, .nlines = 1};
	int64_t now_ms = (int64_t)time(NULL) * 1000, old_ms = now_ms - 500 * RETENTION_DAY_MS;
	struct drive d;
	drive_start(&d, &runs, "one", "one");
	int64_t epoch = drive_lead(&d);
	assert_int_equal(drive_batch(&d, epoch, &cap, 1), LEDGER_DONE);
	for (size_t i = 0; i < sizeof(life) / sizeof(*life); i++) {
		struct ledger_op o = op(life[i], old_ms);
		assert_int_equal(drive_batch(&d, epoch, &o, 1), LEDGER_DONE);
		assert_int_equal(d.results[0].verdict, LEDGER_APPLIED);
	}
	struct past_question q = {COST_BY_QUEUE, "", old_ms, now_ms};
	assert_int_equal(drive_load(&d, epoch), LEDGER_DONE);
	assert_int_equal(drive_recall(&d, epoch, 10), LEDGER_DONE);
	assert_int_equal(drive_spent(&d, epoch, old_ms, old_ms, now_ms), LEDGER_DONE);
	assert_int_equal(drive_durations(&d, epoch, old_ms, 10), LEDGER_DONE);
	assert_int_equal(drive_past(&d, &q, 10), LEDGER_DONE);
	assert_int_equal(drive_lease(&d, epoch, 60000), LEDGER_DONE);
	assert_true(d.lease.held);
	PGconn *pg = PQconnectdb(runs.conninfo);
	char text[32];
	snprintf(text, sizeof(text), "%lld", (long long)epoch);
	const char *forget[] = {"one", text, "99999999999999", "34560000000", "10"};
	PGresult *r = PQexecParams(pg, SQL_FORGET, 5, NULL, forget, NULL, NULL, 0);
	assert_int_equal(PQresultStatus(r), PGRES_TUPLES_OK);
	assert_string_equal(PQgetvalue(r, 0, 1), "1");
	PQclear(r);
	const char *hours[] = {"one", text, "0"};
	r = PQexecParams(pg, SQL_HISTORY_FORGET, 3, NULL, hours, NULL, NULL, 0);
	assert_int_equal(PQresultStatus(r), PGRES_COMMAND_OK);
	PQclear(r);
	PQfinish(pg);
	pg_resign(d.pg, epoch);
	assert_int_equal(drive_lease(&d, 0, 60000), LEDGER_DONE);
	drive_stop(&d);
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT has_schema_privilege('sluice', 'sluice', 'CREATE') OR "
				   "has_database_privilege('sluice', 'postgres', 'CREATE') OR "
				   "has_table_privilege('sluice', 'sluice.transfer', 'TRUNCATE')"),
		"f");
}

static void an_older_schema_is_the_owners_to_change(void **state)
{
	(void)state;
	char expected[128];
	struct drive old, d, migrates;
	/* A leader of the version before, whose connection is there. */
	drive_start(&old, &runs, "two", "two");
	int64_t epoch = drive_lead(&old);
	drive_go_back_a_version();
	snprintf(expected, sizeof(expected),
		"the ledger's schema is version %d, this program needs version %d, and role sluice "
		"may not migrate it; run once",
		MIGRATIONS_COUNT - 1, MIGRATIONS_COUNT);
	/* Said at once, while the other leads: a standby that is not ready ends the roll-out. */
	assert_says(refused(&d, "two"), expected);
	drive_stop(&d);
	/* Where nobody leads, too. */
	assert_says(refused(&d, "three"), expected);
	drive_start(&migrates, &owner, "two", "owner");
	drive_until_up(&migrates);
	assert_int_equal(drive_migrate(&migrates), LEDGER_DONE);
	drive_stop(&migrates);
	/* The leader goes on, and the one that was refused leads, with rights to what the
	 * migration made anew. */
	assert_int_equal(drive_batch(&old, epoch, NULL, 0), LEDGER_DONE);
	assert_int_equal(drive_lease(&old, epoch, 60000), LEDGER_DONE);
	assert_true(old.lease.held);
	drive_stop(&old);
	drive_lead(&d);
	drive_stop(&d);
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT has_table_privilege('sluice', 'sluice.cost_by_month', "
				   "'SELECT')"),
		"t");
}

/* An index takes a while, as of a large table. */
static void slow_down_changes(bool on)
{
	if (!on) {
		pg_fixture_sql(&F, "DROP EVENT TRIGGER slow");
		return;
	}
	pg_fixture_sql(&F, "CREATE FUNCTION public.slow() RETURNS event_trigger LANGUAGE plpgsql "
			   "AS $$ BEGIN PERFORM pg_sleep(0.3); END $$");
	pg_fixture_sql(&F, "CREATE EVENT TRIGGER slow ON ddl_command_start WHEN TAG IN ('CREATE "
			   "INDEX') EXECUTE FUNCTION public.slow()");
}

/* A controller that starts gives up, and says what to do; who is asked to migrate does not. */
static void a_migration_that_takes_long_is_for_migrate_only(void **state)
{
	(void)state;
	struct drive d, migrates;
	drive_go_back_a_version();
	slow_down_changes(true);
	drive_start(&d, &owner, "slow", "slow");
	drive_until_up(&d);
	pg_set_migration_limit(d.pg, 100);
	assert_int_equal(drive_lease(&d, 0, 60000), LEDGER_LOST);
	assert_says(d.sentence, "takes longer than");
	assert_says(d.sentence, "sluice-controller --migrate-only");
	drive_stop(&d);
	assert_int_equal(drive_schema_version(&F), MIGRATIONS_COUNT - 1);
	drive_start(&migrates, &owner, "slow", "owner");
	drive_until_up(&migrates);
	pg_set_migration_limit(migrates.pg, 100);
	assert_int_equal(drive_migrate(&migrates), LEDGER_DONE);
	drive_stop(&migrates);
	slow_down_changes(false);
	assert_int_equal(drive_schema_version(&F), MIGRATIONS_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* in this order */
		cmocka_unit_test(the_role_that_runs_says_who_must_make_the_tables),
		cmocka_unit_test(the_owner_makes_them),
		cmocka_unit_test(the_role_that_runs_needs_no_more),
		cmocka_unit_test(an_older_schema_is_the_owners_to_change),
		cmocka_unit_test(a_migration_that_takes_long_is_for_migrate_only),
	};
	return cmocka_run_group_tests(tests, open_roles, drive_close_group);
}
