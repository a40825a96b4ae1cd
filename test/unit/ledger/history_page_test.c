/* Asks about the past as people do: each statement of docs/queries.sql, by the role of docs/ask.md; what
 * `sluice history` and `sluice report` ask; and a ledger of before addition 15. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libpq-fe.h>

#include "controller/ledger/sql.h"
#include "drive.h"

enum {
	PAGE_MAX = 65536,
	TIMES = 540, /* that six runs ended: every other hour of 45 days */
	OF_A_NAME = TIMES / 10,
	QUESTIONS = 30, /* of the file: one that is not seen is not run */
	BEFORE = 14,	/* the migration before that of the views */
	TEXT_TYPE = 25,
	INT8_TYPE = 20,
};

/* ---- a ledger with a past -------------------------------------------------------------------- */

/* Every other hour of 45 days six runs, of five Jobs, that ended. Of the Job of the runs 1 and 2 the first was
 * preempted after five minutes. */
static const char ENDED[] =
	"INSERT INTO sluice.segment (cell, job_uid, attempt, ns, name, clusterqueue, localqueue, owner, "
	"submitted_by, labels, created_at, started_at, stopped_at, reason, actor, lost_ms, lines, plan, "
	"currency, cost_micro, job_outcome, estimated) "
	"SELECT 'default', md5(concat(h, '/', k - (k = 2)::int))::uuid, 1 + (k = 2)::int, "
	"CASE WHEN k = 3 THEN 'other' ELSE 'team' END, 'train-' || h % 10, "
	"CASE WHEN k = 3 THEN 'night' ELSE 'batch' END, 'main', CASE k WHEN 0 THEN 'CronJob/nightly' ELSE "
	"'train-' END, CASE WHEN k < 5 THEN 'alice' END, '{\"cost-centre\": \"42\"}', "
	"begun - interval '10 minutes' - (k = 2)::int * interval '1 hour', begun, begun + length, "
	"(ARRAY['Finished', 'Preempted', 'Finished', 'Preempted', 'Failed', 'Deleted'])[k + 1], 'test', "
	"CASE WHEN k IN (1, 3) THEN 60000 END, "
	"'[[\"cq/batch\", \"spot\", \"cpu\", 4000], [\"cq/batch\", \"spot\", \"pods\", 2], "
	"[\"cq/batch\", \"spot\", \"nvidia.com/gpu\", 1]]', CASE WHEN k <> 3 THEN 'power' END, "
	"CASE WHEN k <> 3 THEN 'EUR' END, CASE WHEN k <> 3 THEN 1500000 END, "
	"CASE k WHEN 4 THEN 'Failed' WHEN 5 THEN 'Deleted' END, k = 5 "
	"FROM generate_series(0, 539) AS h, generate_series(0, 5) AS k, "
	"LATERAL (SELECT now() - h * interval '2 hours' - interval '4 hours' "
	"+ (k = 2)::int * interval '1 hour' AS begun, CASE WHEN k = 1 THEN interval '5 minutes' ELSE "
	"interval '2 hours' END AS length) AS times";

/* So that there is a run of this month and year also in their first minute. */
static const char OF_THIS_MONTH[] =
	"INSERT INTO sluice.segment (cell, job_uid, attempt, ns, name, clusterqueue, created_at, started_at, "
	"stopped_at, reason, actor, lines, plan, currency, cost_micro) "
	"SELECT 'default', gen_random_uuid(), 1, 'team', 'first', 'batch', month, month, now(), 'Finished', "
	"'test', '[[\"cq/batch\", \"spot\", \"nvidia.com/gpu\", 1]]', 'power', 'EUR', 1 "
	"FROM unnest(ARRAY[date_trunc('month', now(), 'UTC'), "
	"date_trunc('month', now(), 'Europe/Berlin')]) AS month";

static const char GOING_ON[] =
	"INSERT INTO sluice.hold (cell, job_uid, attempt, state, ns, name, clusterqueue, owner, submitted_by, "
	"created_at, reserved_at, started_at, lines) "
	"SELECT 'default', gen_random_uuid(), 1, state, 'team', 'train-7', 'batch', 'train-', 'alice', "
	"now() - interval '9 hours', now() - interval '8 hours', "
	"CASE WHEN state <> 'pending' THEN now() - interval '8 hours' END, "
	"'[[\"cq/batch\", \"spot\", \"cpu\", 4000], [\"cq/batch\", \"spot\", \"pods\", 2]]' "
	"FROM unnest(ARRAY['pending', 'posted', 'releasing']) AS state";

static const char TRANSFERS[] =
	"INSERT INTO sluice.transfer (cell, job_uid, attempt, kind, seq, epoch, at, lines, preemptor) "
	"SELECT cell, job_uid, attempt, kind, 0, 1, CASE kind WHEN 'STOP' THEN stopped_at ELSE started_at END, "
	"'[]', CASE WHEN kind = 'STOP' AND reason = 'Preempted' THEN CASE ns WHEN 'other' THEN 'team/train-7' "
	"ELSE CASE WHEN name = 'train-7' THEN 'team/urgent' ELSE 'other/large' END END END "
	"FROM sluice.segment, unnest(ARRAY['RESERVE', 'COMMIT', 'STOP']) AS kind";

static void read_page(const char *path, char text[PAGE_MAX])
{
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	size_t n = fread(text, 1, PAGE_MAX - 1, f);
	assert_true(n < PAGE_MAX - 1);
	text[n] = '\0';
	fclose(f);
}

static void make_reader(void)
{
	char text[PAGE_MAX];
	read_page(ASK_PAGE, text);
	char *begin = strstr(text, "CREATE ROLE sluice_reader");
	assert_non_null(begin);
	*strstr(begin, "```") = '\0';
	pg_fixture_sql(&F, "%s", begin);
}

static int open_past(void **state)
{
	drive_open_group(state);
	pg_fixture_sql(&F, "%s", ENDED);
	pg_fixture_sql(&F, "%s", OF_THIS_MONTH);
	pg_fixture_sql(&F, "%s", TRANSFERS);
	pg_fixture_sql(&F, "%s", GOING_ON);
	make_reader();
	return 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

static PGconn *connect_reader(void)
{
	char conninfo[192];
	snprintf(conninfo, sizeof(conninfo), "host=%s dbname=postgres user=sluice_reader", F.dir);
	PGconn *c = PQconnectdb(conninfo);
	assert_int_equal(PQstatus(c), CONNECTION_OK);
	return c;
}

static void assert_answers(PGconn *c, const char *sql)
{
	PGresult *r = PQexec(c, sql);
	if (PQresultStatus(r) != PGRES_TUPLES_OK)
		fail_msg("%s\n%s", sql, PQerrorMessage(c));
	if (PQntuples(r) == 0)
		fail_msg("%s\nfinds nothing", sql);
	PQclear(r);
}

static void every_statement_of_the_file_answers(void **state)
{
	(void)state;
	static const char end_of_statement[] = ";\n";
	char text[PAGE_MAX];
	int n = 0;
	PGconn *c = connect_reader();
	read_page(QUERIES, text);
	for (char *begin = text, *end; (end = strstr(begin, end_of_statement));
		begin = end + 1, n++) {
		*end = '\0';
		assert_answers(c, begin);
	}
	assert_int_equal(n, QUESTIONS);
	PQfinish(c);
}

/* ---- what sluice history and sluice report ask ----------------------------------------------- */

/* From the beginning until long after now: all. Concatenates the first column. */
static void ask(const char *sql, const char *const more[4], const Oid types[4], struct buf *ret)
{
	const char *values[] = {
		"default", "0", "99999999999999", more[0], more[1], more[2], more[3]};
	const Oid all[] = {TEXT_TYPE, INT8_TYPE, INT8_TYPE, types[0], types[1], types[2], types[3]};
	PGconn *c = PQconnectdb(F.conninfo);
	PGresult *r = PQexecParams(c, sql, 7, all, values, NULL, NULL, 0);
	if (PQresultStatus(r) != PGRES_TUPLES_OK)
		fail_msg("%s", PQerrorMessage(c));
	buf_reset(ret);
	for (int i = 0; i < PQntuples(r); i++)
		buf_printf(ret, "%s\n", PQgetvalue(r, i, 0));
	PQclear(r);
	PQfinish(c);
}

static void ask_runs(const char *ns, const char *job, const char *user, struct buf *ret)
{
	static const Oid types[] = {TEXT_TYPE, TEXT_TYPE, TEXT_TYPE, INT8_TYPE};
	ask(SQL_RUNS, (const char *const[]){ns, job, user, "100000"}, types, ret);
}

static void ask_report(const char *by, const char *label, const char *ns, struct buf *ret)
{
	static const Oid types[] = {TEXT_TYPE, TEXT_TYPE, INT8_TYPE, TEXT_TYPE};
	ask(SQL_REPORT, (const char *const[]){by, label, "100000", ns}, types, ret);
}

static int count(const struct buf *b, const char *part)
{
	int n = 0;
	for (const char *p = buf_text(b); (p = strstr(p, part)); p++)
		n++;
	return n;
}

static void a_history_of_one_namespace_names_no_job_of_another(void **state)
{
	(void)state;
	struct buf b;
	buf_init(&b, (size_t)64 << 20);
	ask_runs("", "", "", &b);
	assert_int_equal(count(&b, "\n"), 6 * TIMES + 2 + 3);
	assert_int_equal(count(&b, "\"preemptor\": \"other/large\""), 9 * OF_A_NAME);
	assert_int_equal(count(&b, "\"preemptor\": \"team/urgent\""), OF_A_NAME);
	assert_int_equal(count(&b, "\"preemptor\": \"team/train-7\""), TIMES);
	ask_runs("team", "", "", &b);
	assert_int_equal(count(&b, "\n"), 5 * TIMES + 2 + 3);
	assert_int_equal(count(&b, "\"preemptor\""), OF_A_NAME);
	assert_int_equal(count(&b, "\"preemptor\": \"team/urgent\""), OF_A_NAME);
	assert_int_equal(count(&b, "other"), 0);
	ask_runs("other", "", "", &b);
	assert_int_equal(count(&b, "\n"), TIMES);
	assert_int_equal(count(&b, "team"), 0);
	buf_done(&b);
}

static void a_history_is_of_one_job_or_user(void **state)
{
	(void)state;
	struct buf b;
	buf_init(&b, (size_t)64 << 20);
	ask_runs("team", "train-7", "", &b);
	assert_int_equal(count(&b, "\n"), 5 * OF_A_NAME + 3);
	assert_int_equal(count(&b, "\"job\": \"train-7\""), 5 * OF_A_NAME + 3);
	assert_int_equal(count(&b, "\"state\": \"Reserved\""), 1);
	assert_int_equal(count(&b, "\"state\": \"Stopping\""), 1);
	assert_int_equal(
		count(&b, "\"waitSeconds\": 3300.000"), OF_A_NAME); /* since the run before */
	ask_runs("", "train-7", "", &b);
	assert_int_equal(count(&b, "\n"), 6 * OF_A_NAME + 3);
	ask_runs("team", "train-7", "alice", &b);
	assert_int_equal(count(&b, "\n"), 4 * OF_A_NAME + 3);
	ask_runs("team", "train-7", "bob", &b);
	assert_string_equal(buf_text(&b), "");
	buf_done(&b);
}

static void a_report_adds_up_what_is_asked_for(void **state)
{
	(void)state;
	struct buf b;
	buf_init(&b, (size_t)64 << 20);
	ask_report("queue", "", "other", &b);
	assert_int_equal(count(&b, "\n"), 2); /* the total, and the queue */
	assert_int_equal(count(&b, "\"ended\": {\"Preempted\": 540}"), 2);
	assert_int_equal(count(&b, "\"cpuHours\": 4320.000000"), 2); /* 4 cores, 2 hours */
	assert_int_equal(count(&b, "\"waitP50Seconds\": 600.000"), 2);
	ask_report("label", "cost-centre", "", &b);
	assert_int_equal(count(&b, "\"key\": \"42\""), 1); /* priced or not */
	ask_report("user", "", "team", &b);
	assert_int_equal(count(&b, "other"), 0);
	assert_int_equal(count(&b, "\"key\": \"alice\""), 1); /* also those that go on */
	ask_report("owner", "", "", &b);
	assert_int_equal(count(&b, "\"key\": \"team/CronJob/nightly\""), 1);
	ask_report("namespace", "", "", &b);
	assert_int_equal(count(&b, "\"key\": \"team\""), 1);
	buf_done(&b);
}

/* 4 cores for an hour, 2 more for the second half of it, and 1 less for the last quarter. */
static void a_run_that_grew_and_shrank_counts_what_it_held(void **state)
{
	(void)state;
	static const char grown[] =
		"WITH run AS (INSERT INTO sluice.segment (cell, job_uid, attempt, ns, name, "
		"clusterqueue, started_at, stopped_at, reason, lines) VALUES ('sizes', "
		"gen_random_uuid(), 1, 'team', 'grown', 'batch', '2026-11-01 10:00Z', "
		"'2026-11-01 11:00Z', 'Finished', '[[\"cq/batch\", \"spot\", \"cpu\", 4000]]') "
		"RETURNING cell, job_uid) "
		"INSERT INTO sluice.transfer (cell, job_uid, attempt, kind, seq, epoch, at, source, "
		"target, lines) SELECT cell, job_uid, 1, kind, seq, 1, at, source, target, "
		"jsonb_build_array(jsonb_build_array('cq/batch', 'spot', 'cpu', cpu)) FROM run, "
		"(VALUES ('SHRINK', 1, timestamptz '2026-11-01 09:59Z', 'pending', NULL, 9000), "
		"('GROW', 2, '2026-11-01 10:30Z', NULL, 'posted', 2000), "
		"('SHRINK', 3, '2026-11-01 10:45Z', 'posted', NULL, 1000)) "
		"AS size (kind, seq, at, source, target, cpu)";
	pg_fixture_sql(&F, "%s", grown);
	assert_string_equal(
		pg_fixture_sql(&F,
			"SELECT concat_ws(' ', trim_scale(cpu_hours), trim_scale(gpu_hours), "
			"trim_scale(run_seconds)) FROM sluice.run WHERE cell = 'sizes'"),
		"4.75 0 3600");
	/* Nobody knows since when it waited: that is not a wait of 0. */
	pg_fixture_sql(&F, "UPDATE sluice.segment SET cell = 'default' WHERE cell = 'sizes'");
	struct buf b;
	buf_init(&b, (size_t)64 << 20);
	ask_report("owner", "", "", &b);
	const char *row = strstr(buf_text(&b), "\"key\": \"team/grown\"");
	assert_non_null(row);
	assert_non_null(strstr(row, "\"waitP50Seconds\": null, \"waitP99Seconds\": null"));
	buf_done(&b);
}

/* ---- a ledger of before ---------------------------------------------------------------------- */

static void make_the_ledger_of_before(struct pg_fixture *older)
{
	pg_fixture_sql(older, "CREATE SCHEMA sluice");
	for (int i = 0; i < BEFORE; i++) {
		const struct migration *m = &MIGRATIONS[i];
		PGconn *c = PQconnectdb(older->conninfo);
		PGresult *r = PQexec(c, m->sql);
		if (PQresultStatus(r) != PGRES_COMMAND_OK)
			fail_msg("%s: %s", m->name, PQerrorMessage(c));
		PQclear(r);
		PQfinish(c);
		pg_fixture_sql(older,
			"INSERT INTO sluice.%s, name, applied_by) VALUES (%d, '%s', 'older')",
			m->addition ? "schema_addition (number" : "schema_version (version", i + 1,
			m->name);
	}
}

static const char WRITTEN_BEFORE[] =
	"INSERT INTO sluice.segment (cell, job_uid, attempt, ns, name, clusterqueue, created_at, started_at, "
	"stopped_at, reason, actor, lines) SELECT 'before', md5(i::text)::uuid, 1, 'team', 'old-' || i, "
	"'batch', now() - interval '3 hours', now() - interval '2 hours', now(), 'Preempted', 'test', "
	"'[[\"cq/batch\", \"spot\", \"cpu\", 500]]' FROM generate_series(1, 100) AS i; "
	"INSERT INTO sluice.hold (cell, job_uid, attempt, state, ns, name, clusterqueue, reserved_at, "
	"started_at, lines) VALUES ('before', md5('open')::uuid, 1, 'posted', 'team', 'open', 'batch', "
	"now() - interval '1 hour', now() - interval '1 hour', '[]'); "
	"INSERT INTO sluice.transfer (cell, job_uid, attempt, kind, seq, epoch, at, lines, reason, actor, "
	"lost_ms) SELECT cell, job_uid, 1, 'STOP', 0, 1, stopped_at, '[]', reason, 'test', 0 "
	"FROM sluice.segment";

static void what_was_written_before_is_in_the_view(void **state)
{
	(void)state;
	pg_fixture_sql(&F, "CREATE DATABASE older");
	struct pg_fixture older = F;
	struct drive d;
	snprintf(older.conninfo, sizeof(older.conninfo), "host=%s user=postgres dbname=older",
		F.dir);
	make_the_ledger_of_before(&older);
	pg_fixture_sql(&older, "%s", WRITTEN_BEFORE);
	assert_int_equal(drive_schema_version(&older), BEFORE);
	drive_start(&d, &older, "before", "newer");
	drive_lead(&d);
	drive_stop(&d);
	assert_int_equal(drive_schema_version(&older), MIGRATIONS_COUNT);
	assert_string_equal(
		pg_fixture_sql(&older,
			"SELECT concat_ws(' ', count(*), count(*) FILTER (WHERE state = 'Ended'), "
			"count(preemptor), trim_scale(sum(cpu_hours)), count(queued_at)) "
			"FROM sluice.run WHERE cell = 'before'"),
		"101 100 0 100 100");
	/* A program of before goes on beside us, and names no preemptor. */
	pg_fixture_sql(&older,
		"INSERT INTO sluice.transfer (cell, job_uid, attempt, kind, seq, epoch, at, lines, "
		"reason, actor, lost_ms) VALUES ('before', md5('open')::uuid, 1, 'STOP', 0, 1, now(), "
		"'[]', 'Preempted', 'test', 0)");
	assert_string_equal(pg_fixture_sql(&older, "SELECT count(preemptor) FROM sluice.run"), "0");
	pg_fixture_sql(&F, "DROP DATABASE older WITH (FORCE)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_statement_of_the_file_answers),
		cmocka_unit_test(a_history_of_one_namespace_names_no_job_of_another),
		cmocka_unit_test(a_history_is_of_one_job_or_user),
		cmocka_unit_test(a_report_adds_up_what_is_asked_for),
		cmocka_unit_test(a_run_that_grew_and_shrank_counts_what_it_held),
		cmocka_unit_test(what_was_written_before_is_in_the_view),
	};
	return cmocka_run_group_tests(tests, open_past, drive_close_group);
}
