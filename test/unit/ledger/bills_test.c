/* What runs cost, in Postgres: the bill of a segment, the views, and what a new leader reads back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "controller/ledger/pg_priv.h"
#include "drive.h"

#define QUARTER_MS INT64_C(900000)
#define DAY_MS INT64_C(86400000)
#define T0 INT64_C(1795132800000) /* 2026-11-20T00:00:00Z */

static int64_t lead(struct drive *d, const char *cell)
{
	static struct quota_line line = {"cq/a", "spot", "cpu", 1000};
	static struct quota_line other = {"cq/b", "spot", "cpu", 1000};
	struct ledger_op caps[] = {{.kind = LEDGER_CEILING, .lines = &line, .nlines = 1},
		{.kind = LEDGER_CEILING, .lines = &other, .nlines = 1}};
	drive_start(d, &F, cell, "me");
	int64_t e = drive_lead(d);
	assert_int_equal(drive_batch(d, e, caps, 2), LEDGER_DONE);
	return e;
}

static struct ledger_op op(enum ledger_kind kind, int job, int64_t at_ms)
{
	struct ledger_op o = {.kind = kind,
		.attempt = 1,
		.at_ms = at_ms,
		.reason = "Finished",
		.actor = "test",
		.lost_ms = kind == LEDGER_RELEASE ? 1500 : 0};
	o.uid.byte[14] = (uint8_t)(job >> 8);
	o.uid.byte[15] = (uint8_t)job;
	return o;
}

static struct ledger_op reserve(int job, const char *owner)
{
	static const struct quota_line line[] = {{"cq/a", "spot", "cpu", 1}};
	struct ledger_op o = op(LEDGER_RESERVE, job, T0);
	o.ns = "team";
	o.name = "train";
	o.clusterqueue = "a";
	o.localqueue = "main";
	o.owner = owner;
	o.labels = "{\"team\":\"red\"}";
	o.submitted_by = "alice";
	o.lines = line;
	o.nlines = 1;
	return o;
}

static struct ledger_op priced(struct ledger_op o, int64_t cost)
{
	o.priced = true;
	o.plan = "day";
	o.currency = "EUR";
	o.price = "[{\"from\":\"2026-11-20T00:00:00Z\",\"perHour\":\"0.0800\"}]";
	o.cost = cost;
	return o;
}

static void do_all(struct drive *d, int64_t e, const struct ledger_op *ops, size_t n)
{
	assert_int_equal(drive_batch(d, e, ops, n), LEDGER_DONE);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(d->results[i].verdict, LEDGER_APPLIED);
}

/* A run of that family, from one moment to another, for so much. */
static void ran(struct drive *d, int64_t e, int job, const char *owner, int64_t from_ms,
	int64_t to_ms, int64_t cost)
{
	struct ledger_op ops[] = {reserve(job, owner), op(LEDGER_COMMIT, job, from_ms),
		priced(op(LEDGER_RELEASE, job, to_ms), cost)};
	do_all(d, e, ops, 3);
}

static void test_a_bill_is_written_once_however_often_it_is_sent(void **state)
{
	(void)state;
	static const char query[] =
		"SELECT concat_ws(' ', owner, labels, submitted_by, plan, currency, price, cost_micro) FROM "
		"sluice.segment WHERE cell = 'bill'";
	struct drive d;
	int64_t e = lead(&d, "bill");
	struct ledger_op ops[] = {reserve(1, "CronJob/nightly"), op(LEDGER_COMMIT, 1, T0)};
	do_all(&d, e, ops, 2);
	pg_conn_drop(d.pg->conn, "cut by the test"); /* for whom it is, the reservation knows */
	drive_until_up(&d);
	struct ledger_op release = priced(op(LEDGER_RELEASE, 1, T0 + 60000), 1333334);
	do_all(&d, e, &release, 1);
	const char *expected = "CronJob/nightly {\"team\": \"red\"} alice day EUR [{\"from\": "
			       "\"2026-11-20T00:00:00Z\", \"perHour\": \"0.0800\"}] 1333334";
	assert_string_equal(pg_fixture_sql(&F, query), expected);
	release.cost = 9; /* nobody would; and it would change nothing */
	assert_int_equal(drive_batch(&d, e, &release, 1), LEDGER_DONE);
	assert_int_equal(d.results[0].verdict, LEDGER_SPENT);
	assert_string_equal(pg_fixture_sql(&F, query), expected);
	drive_stop(&d);
}

static void test_a_run_without_a_price_has_no_cost(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "free");
	struct ledger_op ops[] = {
		reserve(1, "x"), op(LEDGER_COMMIT, 1, T0), op(LEDGER_RELEASE, 1, T0 + 1000)};
	do_all(&d, e, ops, 3);
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT cost IS NULL AND currency IS NULL AND plan IS NULL "
				   "FROM sluice.cost WHERE cell = 'free'"),
		"t");
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT count(*) FROM sluice.spend WHERE cell = 'free'"), "0");
	drive_stop(&d);
}

static void test_views(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "views");
	ran(&d, e, 1, "sweep-", T0, T0 + 60000, 1500000);
	ran(&d, e, 2, "sweep-", T0 + DAY_MS - 1, T0 + 2 * DAY_MS, 1);
	ran(&d, e, 3, "sweep-", T0 + DAY_MS, T0 + 2 * DAY_MS, 2000000);
	ran(&d, e, 4, "sweep-", T0 + 11 * DAY_MS, T0 + 12 * DAY_MS, 7000000); /* December */
	assert_string_equal(
		pg_fixture_sql(&F,
			"SELECT concat_ws(' ', namespace, name, owner, clusterqueue, "
			"localqueue, labels ->> 'team', submitted_by, round(run_seconds, 3), currency, "
			"cost::numeric(20, 6), round(lost_seconds, 1)) FROM sluice.cost "
			"WHERE cell = 'views' AND cost < 2 AND cost > 1"),
		"team train sweep- a main red alice 60.000 EUR 1.500000 1.5");
	assert_string_equal(
		pg_fixture_sql(&F,
			"SELECT string_agg(concat_ws(' ', (day AT TIME ZONE 'UTC')::date, "
			"cost::numeric(20, 6), month_to_date::numeric(20, 6)), ', ' ORDER BY day) "
			"FROM sluice.spend WHERE cell = 'views'"),
		"2026-11-20 1.500001 1.500001, 2026-11-21 2.000000 3.500001, "
		"2026-12-01 7.000000 7.000000");
	assert_string_equal(
		pg_fixture_sql(&F,
			"SELECT string_agg(runs::text, ' ' ORDER BY day) FROM sluice.cost_by_day "
			"WHERE cell = 'views'"),
		"2 1 1");
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT sum(cost_micro) = (SELECT sum(cost) * 1000000 FROM "
				   "sluice.spend WHERE cell = 'views') FROM sluice.segment WHERE "
				   "cell = 'views'"),
		"t");
	drive_stop(&d);
}

static void test_sums_say_what_of_them_is_estimated(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "guess");
	ran(&d, e, 1, "sweep-", T0, T0 + 60000, 1500000);
	struct ledger_op adopted[] = {reserve(2, "sweep-"), op(LEDGER_COMMIT, 2, T0),
		priced(op(LEDGER_RELEASE, 2, T0 + 30000), 250000)};
	adopted[0].kind = LEDGER_ADOPT;
	do_all(&d, e, adopted, 3);
	struct ledger_op ended[] = {reserve(3, "sweep-"), op(LEDGER_COMMIT, 3, T0 + DAY_MS),
		priced(op(LEDGER_RELEASE, 3, T0 + DAY_MS + 1000), 40000)};
	ended[2].estimated = true; /* it ended while nothing was written */
	do_all(&d, e, ended, 3);
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT string_agg(concat_ws(' ', runs, round(run_seconds), "
				   "round(estimated_seconds), cost::numeric(20, 2), "
				   "estimated_cost::numeric(20, 2)), ', ' ORDER BY day) FROM "
				   "sluice.cost_by_day WHERE cell = 'guess'"),
		"2 90 30 1.75 0.25, 1 1 1 0.04 0.04");
	assert_string_equal(
		pg_fixture_sql(&F,
			"SELECT concat_ws(' ', runs, round(run_seconds), round(estimated_seconds), "
			"cost::numeric(20, 2), estimated_cost::numeric(20, 2)) FROM "
			"sluice.cost_by_month WHERE cell = 'guess'"),
		"3 91 31 1.79 0.29");
	assert_string_equal(
		pg_fixture_sql(&F,
			"SELECT string_agg(concat_ws(' ', cost::numeric(20, 2), "
			"estimated_cost::numeric(20, 2), month_to_date::numeric(20, 2), "
			"estimated_month_to_date::numeric(20, 2)), ', ' ORDER BY day) FROM "
			"sluice.spend WHERE cell = 'guess'"),
		"1.75 0.25 1.75 0.25, 0.04 0.04 1.79 0.29");
	drive_stop(&d);
}

/* The recipe of docs/ask.md. */
static void test_a_reader_reads_the_views_alone(void **state)
{
	(void)state;
	pg_fixture_sql(&F, "CREATE ROLE sluice_reader");
	pg_fixture_sql(&F, "GRANT USAGE ON SCHEMA sluice TO sluice_reader");
	pg_fixture_sql(&F, "GRANT SELECT ON sluice.cost, sluice.cost_by_day, "
			   "sluice.cost_by_month, sluice.spend, sluice.run, sluice.job TO "
			   "sluice_reader");
	assert_string_equal(
		pg_fixture_sql(&F,
			"SELECT string_agg(c.relname, ' ' ORDER BY c.relname) FROM pg_class c JOIN "
			"pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'sluice' AND "
			"c.relkind IN ('r', 'v') AND has_table_privilege('sluice_reader', c.oid, "
			"'SELECT, INSERT, UPDATE, DELETE')"),
		"cost cost_by_day cost_by_month job run spend");
}

static void test_every_column_says_what_it_is(void **state)
{
	(void)state;
	assert_string_equal(
		pg_fixture_sql(&F,
			"SELECT string_agg(c.relname || '.' || a.attname, ' ') FROM pg_class c "
			"JOIN "
			"pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON "
			"a.attrelid "
			"= c.oid WHERE n.nspname = 'sluice' AND a.attname IN ('plan', 'currency', "
			"'owner', 'labels', 'submitted_by', 'price', 'cost_micro', 'cost') AND c.relkind IN ('r') "
			"AND col_description(c.oid, a.attnum) IS NULL"),
		"");
}

/* A program of before addition 14, beside ours and as the leader after us: what it writes names no column of
 * that, so nobody is known, and we read it so. */
static void test_what_an_older_program_writes_names_nobody(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "older");
	struct ledger_op ops[] = {reserve(1, "x"), op(LEDGER_COMMIT, 1, T0)};
	do_all(&d, e, ops, 2);
	pg_fixture_sql(&F, "UPDATE sluice.hold SET submitted_by = NULL WHERE cell = 'older'");
	pg_conn_drop(d.pg->conn, "cut by the test");
	drive_until_up(&d);
	assert_int_equal(drive_load(&d, e), LEDGER_DONE);
	assert_null(strstr(buf_text(&d.reservations), "alice"));
	struct ledger_op release = op(LEDGER_RELEASE, 1, T0 + 1000);
	do_all(&d, e, &release, 1);
	assert_string_equal(
		pg_fixture_sql(
			&F, "SELECT submitted_by IS NULL FROM sluice.cost WHERE cell = 'older'"),
		"t");
	drive_stop(&d);
}

/* ---- What a new leader reads back -------------------------------------------------------------
 */

static void test_what_was_spent_is_recalled_by_quarter_and_stretch(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "spent"), far = T0 + 30 * DAY_MS;
	ran(&d, e, 1, "x", T0 - 1, T0 + 50, 64); /* began before the period */
	ran(&d, e, 2, "x", T0, T0 + 60000, 1);
	ran(&d, e, 3, "x", T0 + QUARTER_MS - 1, T0 + DAY_MS, 2);
	ran(&d, e, 4, "x", T0 + QUARTER_MS, T0 + 60000 + QUARTER_MS, 4);
	ran(&d, e, 5, "x", T0 + QUARTER_MS, T0 + 9 * DAY_MS, 8);
	struct ledger_op open[] = {reserve(6, "x"), op(LEDGER_COMMIT, 6, T0)};
	do_all(&d, e, open, 2);
	assert_int_equal(drive_spent(&d, e, T0, T0, INT64_MAX), LEDGER_DONE);
	assert_string_equal(buf_text(&d.past), "a team/main 1795132800000 3 EUR\n"
					       "a team/main 1795133700000 12 EUR\n");
	/* in stretches each run is in one */
	assert_int_equal(drive_spent(&d, e, T0, T0, T0 + DAY_MS), LEDGER_DONE);
	assert_string_equal(buf_text(&d.past), "a team/main 1795132800000 1 EUR\n"
					       "a team/main 1795133700000 4 EUR\n");
	assert_int_equal(drive_spent(&d, e, T0, T0 + DAY_MS, T0 + 8 * DAY_MS), LEDGER_DONE);
	assert_string_equal(buf_text(&d.past), "a team/main 1795132800000 2 EUR\n");
	assert_int_equal(drive_spent(&d, e, T0, T0 + 8 * DAY_MS, INT64_MAX), LEDGER_DONE);
	assert_string_equal(buf_text(&d.past), "a team/main 1795133700000 8 EUR\n");
	assert_int_equal(drive_spent(&d, e, far, far, INT64_MAX), LEDGER_DONE);
	assert_string_equal(buf_text(&d.past), "");
	assert_int_equal(drive_spent(&d, e + 1, T0, T0, INT64_MAX), LEDGER_FENCED);
	drive_stop(&d);
}

static void test_the_last_good_runs_of_each_family_are_recalled(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "durations");
	for (int i = 1; i <= 5; i++)
		ran(&d, e, i, "CronJob/nightly", T0, T0 + 1000 * i, 0);
	ran(&d, e, 6, "train", T0, T0 + 60000, 0); /* of no family: its owner is its name */
	ran(&d, e, 7, "sweep-", T0, T0 + 700, 0);
	struct ledger_op failed[] = {
		reserve(8, "sweep-"), op(LEDGER_COMMIT, 8, T0), op(LEDGER_RELEASE, 8, T0 + 800)};
	failed[2].reason = "Failed";
	do_all(&d, e, failed, 3);
	/* The work was done at the STOP; pods were left. */
	struct ledger_op slow[] = {reserve(9, "sweep-"), op(LEDGER_COMMIT, 9, T0),
		op(LEDGER_STOP, 9, T0 + 900), op(LEDGER_RELEASE, 9, T0 + 90000)};
	do_all(&d, e, slow, 4);
	ran(&d, e, 10, "old-", T0 - 40 * DAY_MS, T0 - 39 * DAY_MS, 0);
	assert_int_equal(drive_durations(&d, e, T0 - 30 * DAY_MS, 3), LEDGER_DONE);
	assert_string_equal(buf_text(&d.past),
		"team/sweep- 700 main>a alice\nteam/CronJob/nightly 3000 main>a alice\n"
		"team/CronJob/nightly 4000 main>a alice\nteam/CronJob/nightly 5000 main>a alice\n"
		"team/ 60000 main>a alice\nteam/sweep- 900 main>a alice\n");
	assert_int_equal(drive_durations(&d, e, T0 + DAY_MS, 3), LEDGER_DONE);
	assert_string_equal(buf_text(&d.past), "");
	assert_int_equal(drive_durations(&d, e + 1, T0, 3), LEDGER_FENCED);
	drive_stop(&d);
}

/* ---- What people ask --------------------------------------------------------------------------
 */

static void assert_cost(struct drive *d, struct past_question q, size_t rows, const char *expected)
{
	assert_int_equal(drive_past(d, &q, rows), LEDGER_DONE);
	assert_string_equal(buf_text(&d->past), expected);
}

static void test_costs_are_added_up(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "asked");
	ran(&d, e, 1, "sweep-", T0 - 1, T0 + 5000, 64); /* started before */
	ran(&d, e, 2, "sweep-", T0, T0 + 2000, 1);
	ran(&d, e, 3, "CronJob/nightly", T0 + 1, T0 + 3001, 7);
	ran(&d, e, 4, "sweep-", T0 + DAY_MS, T0 + DAY_MS + 1000, 32); /* at the end: after it */
	struct ledger_op free_run[] = {
		reserve(5, "sweep-"), op(LEDGER_COMMIT, 5, T0), op(LEDGER_RELEASE, 5, T0 + 500)};
	free_run[0].labels = free_run[0].submitted_by = NULL;
	do_all(&d, e, free_run, 3);
	struct ledger_op dollars[] = {reserve(6, "sweep-"), op(LEDGER_COMMIT, 6, T0),
		priced(op(LEDGER_RELEASE, 6, T0 + 500), 3)};
	dollars[2].currency = "USD";
	do_all(&d, e, dollars, 3);
	struct past_question q = {COST_BY_QUEUE, "", T0, T0 + DAY_MS};
	assert_cost(&d, q, 99,
		"* 2 runs 5000 8 EUR lost 3000\n* 1 runs 500 3 USD lost 1500\n"
		"* 1 runs 500 0 - lost 1500\n"
		"a 2 runs 5000 8 EUR lost 3000\na 1 runs 500 3 USD lost 1500\n"
		"a 1 runs 500 0 - lost 1500\n");
	q.by = COST_BY_OWNER;
	q.to_ms = T0 + 2;
	assert_cost(&d, q, 5,
		"* 2 runs 5000 8 EUR lost 3000\n* 1 runs 500 3 USD lost 1500\n"
		"* 1 runs 500 0 - lost 1500\n"
		"team/CronJob/nightly 1 runs 3000 7 EUR lost 1500\n"
		"team/sweep- 1 runs 500 3 USD lost 1500\n");
	q.by = COST_BY_NAMESPACE;
	q.to_ms = T0 + 1;
	q.from_ms = T0 - 1;
	assert_cost(&d, q, 2, "* 2 runs 7001 65 EUR lost 3000\n* 1 runs 500 3 USD lost 1500\n");
	q.by = COST_BY_LABEL;
	q.label = "team";
	q.from_ms = T0;
	assert_cost(&d, q, 99,
		"* 1 runs 500 3 USD lost 1500\n* 1 runs 2000 1 EUR lost 1500\n"
		"* 1 runs 500 0 - lost 1500\n"
		"red 1 runs 500 3 USD lost 1500\nred 1 runs 2000 1 EUR lost 1500\n"
		"- 1 runs 500 0 - lost 1500\n");
	q.by = COST_BY_USER;
	assert_cost(&d, q, 99,
		"* 1 runs 500 3 USD lost 1500\n* 1 runs 2000 1 EUR lost 1500\n"
		"* 1 runs 500 0 - lost 1500\n"
		"alice 1 runs 500 3 USD lost 1500\nalice 1 runs 2000 1 EUR lost 1500\n"
		"- 1 runs 500 0 - lost 1500\n");
	q.from_ms = q.to_ms = INT64_MAX;
	assert_cost(&d, q, 99, "");
	drive_stop(&d);
}

/* Whatever it is asked by: no row of another namespace, and nothing of it in a total. Neither of what
 * was forgotten. */
static void test_costs_of_one_namespace_are_its_own(void **state)
{
	static const struct {
		enum cost_by by;
		const char *key;
	} rows[] = {{COST_BY_QUEUE, "a"}, {COST_BY_NAMESPACE, "team"}, {COST_BY_OWNER, "team/hers"},
		{COST_BY_USER, "alice"}, {COST_BY_LABEL, "red"}};
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "one");
	ran(&d, e, 1, "hers", T0, T0 + 2000, 1);
	struct ledger_op secret[] = {reserve(2, "secret"), op(LEDGER_COMMIT, 2, T0),
		priced(op(LEDGER_RELEASE, 2, T0 + 500), 64)};
	secret[0].ns = "team-other";
	secret[0].submitted_by = "mallory";
	do_all(&d, e, secret, 3);
	pg_fixture_sql(&F,
		"INSERT INTO sluice.segment_month (cell, month, ns, clusterqueue, localqueue, currency, "
		"runs, ran_ms, cost_micro, lost_ms) SELECT 'one', '2020-01-01 00:00Z', ns, 'a', 'l', "
		"'EUR', 1, 1000, cost, 0 FROM (VALUES ('team', 2), ('team-other', 128)) AS x (ns, cost)");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char expected[200];
		struct past_question q = {rows[i].by, "team", T0, T0 + DAY_MS, "team"};
		snprintf(expected, sizeof(expected),
			"* 1 runs 2000 1 EUR lost 1500\n%s 1 runs 2000 1 EUR lost 1500\n",
			rows[i].key);
		assert_cost(&d, q, 99, expected);
	}
	struct past_question q = {COST_BY_NAMESPACE, "", 0, T0 + DAY_MS, "team"};
	assert_cost(&d, q, 99, "* 2 runs 3000 3 EUR lost 1500\nteam 2 runs 3000 3 EUR lost 1500\n");
	q.ns = "nobody";
	assert_cost(&d, q, 99, "");
	q.ns = NULL;
	assert_cost(&d, q, 1, "* 4 runs 4500 195 EUR lost 3000\n");
	drive_stop(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_bill_is_written_once_however_often_it_is_sent),
		cmocka_unit_test(test_a_run_without_a_price_has_no_cost),
		cmocka_unit_test(test_views),
		cmocka_unit_test(test_sums_say_what_of_them_is_estimated),
		cmocka_unit_test(test_a_reader_reads_the_views_alone),
		cmocka_unit_test(test_every_column_says_what_it_is),
		cmocka_unit_test(test_what_an_older_program_writes_names_nobody),
		cmocka_unit_test(test_what_was_spent_is_recalled_by_quarter_and_stretch),
		cmocka_unit_test(test_the_last_good_runs_of_each_family_are_recalled),
		cmocka_unit_test(test_costs_are_added_up),
		cmocka_unit_test(test_costs_of_one_namespace_are_its_own),
	};
	return cmocka_run_group_tests(tests, drive_open_group, drive_close_group);
}
