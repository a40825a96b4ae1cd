/* What is forgotten of the ledger, and what stays: sums, what is open, what a new leader reads. */
#include "controller/ledger/retention.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <ev.h>
#include <libpq-fe.h>

#include "drive.h"

#define DAY RETENTION_DAY_MS
#define MINUTE 60000
#define ALWAYS (INT64_C(1) << 60) /* a new leader reads nothing back */

/* A cell with a ledger, and somebody who forgets. */
struct shop {
	struct drive d;
	int64_t epoch, now_ms, tick_ms;
	const char *cell;
	struct pg *background[2]; /* of the one who forgets, and of a second one */
	struct retention *retention;
};

static int64_t wall_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

static struct retention *make_retention(
	struct shop *s, struct pg **ret_background, int keep_days, int64_t batch)
{
	struct pg_options pg = {F.conninfo, s->cell, "background", 3, .idle_ms = 60000};
	assert_int_equal(pg_new(s->d.loop, &pg, ret_background, NULL), 0);
	struct retention_options o = {.pg = *ret_background, .keep_ms = keep_days * DAY};
	struct retention *r = retention_new(&o);
	retention_set_pace(r, 0, batch);
	return r;
}

static void open_shop(struct shop *s, const char *cell, int keep_days, int64_t batch)
{
	static struct quota_line room = {"cq/a", "spot", "cpu", 1000};
	struct ledger_op cap = {.kind = LEDGER_CEILING, .lines = &room, .nlines = 1};
	*s = (struct shop){.cell = cell, .now_ms = wall_ms(), .tick_ms = 1};
	drive_start(&s->d, &F, cell, "me");
	s->epoch = drive_lead(&s->d);
	assert_int_equal(drive_batch(&s->d, s->epoch, &cap, 1), LEDGER_DONE);
	s->retention = make_retention(s, &s->background[0], keep_days, batch);
}

static void close_shop(struct shop *s)
{
	assert_string_equal(drive_audit(), "");
	for (int i = 0; i < 2; i++)
		pg_free(s->background[i]);
	retention_free(s->retention);
	drive_stop(&s->d);
}

static struct ledger_op op(enum ledger_kind kind, int job, int attempt, int64_t at_ms)
{
	static const struct quota_line line = {"cq/a", "spot", "cpu", 1};
	struct ledger_op o = {.kind = kind,
		.attempt = attempt,
		.at_ms = at_ms,
		.ns = "team",
		.name = "train",
		.clusterqueue = "a",
		.localqueue = job % 2 ? "odd" : "even",
		.owner = "sweep-",
		.lines = kind == LEDGER_RESERVE ? &line : NULL,
		.nlines = kind == LEDGER_RESERVE,
		.reason = "Finished",
		.actor = "test",
		.lost_ms = kind == LEDGER_RELEASE ? 1500 : 0};
	o.uid.byte[14] = (uint8_t)(job >> 8);
	o.uid.byte[15] = (uint8_t)job;
	return o;
}

static void apply(struct shop *s, struct ledger_op *ops, size_t n)
{
	assert_int_equal(drive_batch(&s->d, s->epoch, ops, n), LEDGER_DONE);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(s->d.results[i].verdict, LEDGER_APPLIED);
}

static void run_ended(
	struct shop *s, int job, int attempt, int days_ago, int64_t cost, bool estimated)
{
	int64_t end_ms = s->now_ms - days_ago * DAY;
	struct ledger_op ops[] = {op(LEDGER_RESERVE, job, attempt, end_ms - 11 * MINUTE),
		op(LEDGER_COMMIT, job, attempt, end_ms - 10 * MINUTE),
		op(LEDGER_STOP, job, attempt, end_ms - MINUTE),
		op(LEDGER_RELEASE, job, attempt, end_ms)};
	ops[3].estimated = estimated;
	ops[3].priced = cost > 0;
	ops[3].cost = cost;
	ops[3].currency = cost % 2 ? "EUR" : "USD";
	ops[3].plan = "day";
	ops[3].price = "[]";
	apply(s, ops, 4);
}

/* A run of ten minutes that ended so long ago, for so much; 0: it had no price. */
static void ran(struct shop *s, int job, int attempt, int days_ago, int64_t cost)
{
	run_ended(s, job, attempt, days_ago, cost, false);
}

static void called_off(struct shop *s, int job, int days_ago)
{
	int64_t end_ms = s->now_ms - days_ago * DAY;
	struct ledger_op ops[] = {
		op(LEDGER_RESERVE, job, 1, end_ms - MINUTE), op(LEDGER_VOID, job, 1, end_ms)};
	apply(s, ops, 2);
}

static void started(struct shop *s, int job, int days_ago)
{
	struct ledger_op ops[] = {op(LEDGER_RESERVE, job, 1, s->now_ms - days_ago * DAY),
		op(LEDGER_COMMIT, job, 1, s->now_ms - days_ago * DAY)};
	apply(s, ops, 2);
}

static void on_timer(struct ev_loop *loop, ev_timer *w, int revents)
{
	(void)loop, (void)w, (void)revents;
}

/* A minute of the pace passes in two milliseconds. */
static void turn(struct shop *s, struct retention *r, int64_t since_ms, int64_t now_ms)
{
	ev_timer t;
	ev_timer_init(&t, on_timer, 0.002, 0.);
	ev_timer_start(s->d.loop, &t);
	ev_run(s->d.loop, EVRUN_ONCE);
	ev_timer_stop(s->d.loop, &t);
	retention_tick(r, s->epoch, since_ms, now_ms, s->tick_ms += MINUTE);
}

static bool caught_up(const struct shop *s, const char *since)
{
	return strcmp(pg_fixture_sql(&F,
			      "SELECT count(*) FROM sluice.retention WHERE cell = '%s' "
			      "AND caught_up_at > '%s'",
			      s->cell, since),
		       "1") == 0;
}

static void forget_as_of(struct shop *s, int64_t since_ms, int64_t now_ms)
{
	char begun[64];
	snprintf(begun, sizeof(begun), "%s", pg_fixture_sql(&F, "SELECT clock_timestamp()"));
	s->tick_ms += 2 * 60 * MINUTE; /* it may have found nothing to do a moment ago */
	while (!caught_up(s, begun))
		turn(s, s->retention, since_ms, now_ms);
}

static void forget(struct shop *s)
{
	forget_as_of(s, ALWAYS, s->now_ms);
}

/* "1.1 2.1" : jobs and attempts that have rows of that table. */
static const char *left(const struct shop *s, const char *table)
{
	return pg_fixture_sql(&F,
		"SELECT string_agg(DISTINCT (right(job_uid::text, 2) || '.' || attempt) COLLATE "
		"\"C\", ' ') FROM sluice.%s WHERE cell = '%s'",
		table, s->cell);
}

/* The sums of all runs by month, queues and currency: by the view, and by hand. */
static void sums(const struct shop *s, char ret[4096])
{
	snprintf(ret, 4096, "%s",
		pg_fixture_sql(&F,
			"SELECT string_agg(concat_ws(' ', (month AT TIME ZONE 'UTC')::date, "
			"namespace, clusterqueue, localqueue, coalesce(currency, '-'), runs, "
			"round(run_seconds, 3), round(cost, 6), round(lost_seconds, 3), "
			"round(estimated_seconds, 3), round(estimated_cost, 6)), ';' ORDER BY "
			"month, localqueue, currency) FROM sluice.cost_by_month WHERE cell = '%s'",
			s->cell));
}

static const char *by_hand(const struct shop *s)
{
	return pg_fixture_sql(&F,
		"SELECT concat_ws(' ', sum(runs), sum(ran)::int8, sum(cost), sum(lost)) FROM ("
		"SELECT 1 AS runs, extract(epoch FROM stopped_at - started_at) * 1000 AS ran, "
		"cost_micro AS cost, lost_ms AS lost FROM sluice.segment WHERE cell = '%s' UNION "
		"ALL SELECT runs, ran_ms, cost_micro, lost_ms FROM sluice.segment_month WHERE cell "
		"= '%s') AS run",
		s->cell, s->cell);
}

/* ---- what goes, and what stays --------------------------------------------------------------- */

static void what_is_closed_and_old_goes(void **state)
{
	(void)state;
	struct shop s;
	char before[4096], after[4096];
	open_shop(&s, "goes", 400, 1000);
	ran(&s, 1, 1, 500, 11);
	ran(&s, 1, 2, 450, 22); /* each attempt for itself */
	ran(&s, 1, 3, 399, 33);
	ran(&s, 2, 1, 401, 0);
	ran(&s, 3, 1, 1, 44);
	called_off(&s, 4, 500);
	called_off(&s, 5, 399);
	started(&s, 6, 500); /* it runs on */
	struct ledger_op reserved = op(LEDGER_RESERVE, 7, 1, s.now_ms - 500 * DAY);
	apply(&s, &reserved, 1);
	sums(&s, before);
	assert_string_equal(by_hand(&s), "5 3000000 110 7500");
	assert_string_equal(left(&s, "transfer"), "01.1 01.2 01.3 02.1 03.1 04.1 05.1 06.1 07.1");
	forget(&s);
	assert_string_equal(left(&s, "transfer"), "01.3 03.1 05.1 06.1 07.1");
	assert_string_equal(left(&s, "segment"), "01.3 03.1");
	assert_string_equal(left(&s, "hold"), "06.1 07.1");
	sums(&s, after);
	assert_string_equal(after, before);
	assert_string_equal(by_hand(&s), "5 3000000 110 7500");
	assert_string_equal(
		pg_fixture_sql(
			&F, "SELECT sum(runs) FROM sluice.segment_month WHERE cell = 'goes'"),
		"3");
	assert_string_equal(
		pg_fixture_sql(&F,
			"SELECT concat_ws(' ', keep, extract(epoch FROM now() - forgotten_until)::int "
			"/ 86400) FROM sluice.retention WHERE cell = 'goes'"),
		"400 days 401");
	/* What is open can be closed, and is a bill as ever. */
	struct ledger_op ends[] = {
		op(LEDGER_RELEASE, 6, 1, s.now_ms), op(LEDGER_COMMIT, 7, 1, s.now_ms)};
	apply(&s, ends, 2);
	assert_string_equal(left(&s, "segment"), "01.3 03.1 06.1");
	close_shop(&s);
}

static void many_go_in_small_batches(void **state)
{
	(void)state;
	struct shop s;
	char before[4096], after[4096];
	open_shop(&s, "batches", 400, 7);
	for (int job = 1; job <= 60; job++)
		ran(&s, job, 1, 405 + job, job);
	for (int job = 61; job <= 80; job++)
		called_off(&s, job, 405 + job);
	sums(&s, before);
	forget(&s);
	assert_string_equal(left(&s, "transfer"), "");
	assert_string_equal(left(&s, "segment"), "");
	sums(&s, after);
	assert_string_equal(after, before);
	assert_string_equal(by_hand(&s), "60 36000000 1830 90000");
	close_shop(&s);
}

static void of_another_cell_nothing_goes(void **state)
{
	(void)state;
	struct shop mine, other;
	open_shop(&mine, "mine", 400, 1000);
	open_shop(&other, "other", 400, 1000);
	ran(&mine, 1, 1, 500, 1);
	ran(&other, 1, 1, 500, 1); /* the same uid */
	forget(&mine);
	assert_string_equal(left(&mine, "transfer"), "");
	assert_string_equal(left(&other, "transfer"), "01.1");
	assert_string_equal(left(&other, "segment"), "01.1");
	close_shop(&other);
	close_shop(&mine);
}

static void for_ever(void **state)
{
	(void)state;
	struct shop s;
	open_shop(&s, "ever", 0, 1000);
	ran(&s, 1, 1, 5000, 1);
	forget(&s);
	assert_string_equal(left(&s, "segment"), "01.1");
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT keep IS NULL AND forgotten_until IS NULL FROM "
				   "sluice.retention WHERE cell = 'ever'"),
		"t");
	close_shop(&s);
}

/* A Budget of a year, or an order by use with long half-lives. */
static void what_a_new_leader_reads_stays(void **state)
{
	(void)state;
	struct shop s;
	open_shop(&s, "reads", 40, 1000);
	ran(&s, 1, 1, 300, 1);
	ran(&s, 2, 1, 250, 2);
	ran(&s, 3, 1, 50, 4);
	forget_as_of(&s, s.now_ms - 260 * DAY, s.now_ms);
	assert_string_equal(left(&s, "segment"), "02.1 03.1");
	assert_int_equal(
		drive_spent(&s.d, s.epoch, s.now_ms - 260 * DAY, s.now_ms - 260 * DAY, INT64_MAX),
		LEDGER_DONE);
	assert_non_null(strstr(buf_text(&s.d.past), " 2 USD"));
	assert_non_null(strstr(buf_text(&s.d.past), " 4 USD"));
	forget(&s);
	assert_string_equal(left(&s, "segment"), "");
	close_shop(&s);
}

/* A leader whose clock is two years ahead: the database's says that nothing is old. */
static void one_clock_alone_makes_nothing_old(void **state)
{
	(void)state;
	struct shop s;
	open_shop(&s, "clock", 400, 1000);
	ran(&s, 1, 1, 399, 1);
	forget_as_of(&s, ALWAYS, s.now_ms + 730 * DAY);
	assert_string_equal(left(&s, "segment"), "01.1");
	forget_as_of(&s, ALWAYS, s.now_ms - 730 * DAY);
	assert_string_equal(left(&s, "segment"), "01.1");
	close_shop(&s);
}

/* The first of the month that so many days ago was in. */
static int64_t month_of(int64_t ms)
{
	time_t t = (time_t)(ms / 1000);
	struct tm tm;
	gmtime_r(&t, &tm);
	tm.tm_mday = 1;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	return (int64_t)timegm(&tm) * 1000;
}

static void assert_cost(struct shop *s, enum cost_by by, int64_t from_ms, const char *expected)
{
	struct past_question q = {by, by == COST_BY_LABEL ? "team" : "", from_ms, s->now_ms + DAY};
	assert_int_equal(drive_past(&s->d, &q, 99), LEDGER_DONE);
	assert_string_equal(buf_text(&s->d.past), expected);
}

static void whole_months_of_what_was_forgotten_can_be_asked(void **state)
{
	(void)state;
	static const char all[] =
		"* 4 runs 2400000 30 EUR lost 6000\n* 1 runs 600000 0 - lost 1500\n"
		"a 4 runs 2400000 30 EUR lost 6000\na 1 runs 600000 0 - lost 1500\n";
	struct shop s;
	open_shop(&s, "months", 400, 2);
	ran(&s, 1, 1, 700, 3);
	ran(&s, 2, 1, 600, 5);
	ran(&s, 3, 1, 600, 0);
	ran(&s, 4, 1, 500, 7);
	ran(&s, 5, 1, 5, 15);
	int64_t first_ms = month_of(s.now_ms - 700 * DAY - 10 * MINUTE),
		second_ms = month_of(s.now_ms - 600 * DAY - 10 * MINUTE);
	assert_cost(&s, COST_BY_QUEUE, first_ms, all);
	assert_true(s.d.forgotten_until_ms == 0);
	forget(&s);
	assert_string_equal(left(&s, "segment"), "05.1");
	assert_cost(&s, COST_BY_QUEUE, first_ms, all);
	assert_true(s.d.forgotten_until_ms == s.now_ms - 500 * DAY);
	assert_cost(&s, COST_BY_NAMESPACE, second_ms,
		"* 3 runs 1800000 27 EUR lost 4500\n* 1 runs 600000 0 - lost 1500\n"
		"team 3 runs 1800000 27 EUR lost 4500\nteam 1 runs 600000 0 - lost 1500\n");
	/* a month that is cut: of it nothing */
	assert_cost(&s, COST_BY_QUEUE, second_ms + 1,
		"* 2 runs 1200000 22 EUR lost 3000\na 2 runs 1200000 22 EUR lost 3000\n");
	assert_cost(&s, COST_BY_OWNER, first_ms,
		"* 1 runs 600000 15 EUR lost 1500\nteam/sweep- 1 runs 600000 15 EUR lost 1500\n");
	assert_cost(&s, COST_BY_LABEL, first_ms,
		"* 1 runs 600000 15 EUR lost 1500\n- 1 runs 600000 15 EUR lost 1500\n");
	close_shop(&s);
}

/* Sums say how much of them is estimated, before and after the bills are gone. */
static void what_is_estimated_stays_marked(void **state)
{
	(void)state;
	struct shop s;
	char before[4096], after[4096];
	static const char asked[] = "* 3 runs 1800000 15 EUR lost 4500 estimated 1200000 8\n"
				    "* 2 runs 1200000 0 - lost 3000 estimated 600000 0\n"
				    "team 3 runs 1800000 15 EUR lost 4500 estimated 1200000 8\n"
				    "team 2 runs 1200000 0 - lost 3000 estimated 600000 0\n";
	open_shop(&s, "estimated", 400, 1); /* a batch each: sums are added to sums */
	int64_t month_ms = month_of(s.now_ms - 600 * DAY - 10 * MINUTE);
	run_ended(&s, 1, 1, 600, 3, true);
	run_ended(&s, 3, 1, 600, 7, false);
	run_ended(&s, 5, 1, 600, 5, true);
	run_ended(&s, 7, 1, 600, 0, true);
	run_ended(&s, 9, 1, 600, 0, false);
	sums(&s, before);
	assert_non_null(strstr(before, "EUR 3 1800.000 0.000015 4.500 1200.000 0.000008"));
	assert_non_null(strstr(before, "- 2 1200.000 3.000 600.000"));
	assert_cost(&s, COST_BY_NAMESPACE, month_ms, asked);
	forget(&s);
	assert_string_equal(left(&s, "segment"), "");
	sums(&s, after);
	assert_string_equal(after, before);
	assert_cost(&s, COST_BY_NAMESPACE, month_ms, asked);
	close_shop(&s);
}

/* ---- who forgets ----------------------------------------------------------------------------- */

static void another_epoch_forgets_nothing(void **state)
{
	(void)state;
	struct shop s;
	open_shop(&s, "epoch", 400, 1000);
	ran(&s, 1, 1, 500, 1);
	s.epoch++;
	for (int i = 0; i < 100; i++)
		turn(&s, s.retention, ALWAYS, s.now_ms);
	assert_string_equal(left(&s, "segment"), "01.1");
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT count(*) FROM sluice.retention WHERE cell = 'epoch'"),
		"0");
	s.epoch--;
	forget(&s);
	assert_string_equal(left(&s, "segment"), "");
	close_shop(&s);
}

static void two_at_once_count_each_run_once(void **state)
{
	(void)state;
	struct shop s;
	char before[4096], after[4096];
	open_shop(&s, "two", 400, 3);
	struct retention *second = make_retention(&s, &s.background[1], 400, 4);
	for (int job = 1; job <= 50; job++)
		ran(&s, job, 1, 405, job);
	sums(&s, before);
	while (left(&s, "segment")[0]) {
		turn(&s, second, ALWAYS, s.now_ms);
		turn(&s, s.retention, ALWAYS, s.now_ms);
	}
	pg_free(s.background[1]);
	s.background[1] = NULL;
	retention_free(second);
	sums(&s, after);
	assert_string_equal(after, before);
	assert_string_equal(by_hand(&s), "50 30000000 1275 75000");
	close_shop(&s);
}

/* ---- cut off --------------------------------------------------------------------------------- */

static bool waits_for_a_lock(void)
{
	return strcmp(pg_fixture_sql(&F, "SELECT count(*) FROM pg_stat_activity WHERE "
					 "application_name = 'background' AND "
					 "wait_event_type = 'Lock'"),
		       "0") != 0;
}

/* In the middle of a batch: some rows are deleted, one is locked by the test. */
static PGconn *stop_in_the_middle(struct shop *s, const char *uid_ends_in)
{
	char sql[256];
	PGconn *other = PQconnectdb(F.conninfo);
	snprintf(sql, sizeof(sql),
		"SELECT FROM sluice.segment WHERE cell = '%s' AND job_uid::text LIKE '%%%s' FOR "
		"UPDATE",
		s->cell, uid_ends_in);
	PQclear(PQexec(other, "BEGIN"));
	PGresult *r = PQexec(other, sql);
	assert_int_equal(PQntuples(r), 1);
	PQclear(r);
	s->tick_ms += 2 * 60 * MINUTE;
	while (!waits_for_a_lock())
		turn(s, s->retention, ALWAYS, s->now_ms);
	return other;
}

static void a_batch_that_is_cut_off_did_not_happen(void **state)
{
	(void)state;
	struct shop s;
	char before[4096], after[4096];
	open_shop(&s, "cut", 400, 10);
	for (int job = 1; job <= 30; job++)
		ran(&s, job, 1, 450 - job, job);
	sums(&s, before);
	PGconn *other = stop_in_the_middle(&s, "0f"); /* the 15th: in the second batch */
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT count(*) FROM sluice.segment WHERE cell = 'cut'"), "20");
	pg_fixture_sql(&F, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
			   "application_name = 'background'");
	PQfinish(other);
	for (int i = 0; i < 3; i++) /* it hears of it */
		turn(&s, s.retention, ALWAYS, s.now_ms);
	sums(&s, after);
	assert_string_equal(after, before);
	other = stop_in_the_middle(&s, "19");
	PQfinish(other);
	pg_fixture_crash(&F);
	pg_fixture_restart(&F);
	sums(&s, after);
	assert_string_equal(after, before);
	assert_string_equal(drive_audit(), "");
	forget(&s);
	sums(&s, after);
	assert_string_equal(after, before);
	assert_string_equal(left(&s, "segment"), "");
	assert_string_equal(left(&s, "transfer"), "");
	close_shop(&s);
}

/* It is not for admission to wait for us: not for the rows that go, nor for the lease. */
static void no_batch_and_no_renewal_waits_for_it(void **state)
{
	(void)state;
	struct shop s;
	open_shop(&s, "waits", 400, 10);
	for (int job = 1; job <= 5; job++)
		ran(&s, job, 1, 450 - job, job);
	PGconn *other = stop_in_the_middle(&s, "05");
	started(&s, 9, 0);
	assert_int_equal(drive_lease(&s.d, s.epoch, 3600000), LEDGER_DONE);
	assert_true(s.d.lease.held);
	ran(&s, 3, 2, 0, 8); /* of a Job whose first attempt is just being deleted */
	assert_true(waits_for_a_lock());
	PQfinish(other);
	forget(&s);
	assert_string_equal(left(&s, "segment"), "03.2");
	close_shop(&s);
}

/* ---- operations that come again -------------------------------------------------------------- */

static enum ledger_verdict verdict_of(struct shop *s, struct ledger_op o)
{
	assert_int_equal(drive_batch(&s->d, s->epoch, &o, 1), LEDGER_DONE);
	return s->d.results[0].verdict;
}

static void operations_of_what_was_forgotten_do_nothing(void **state)
{
	(void)state;
	static const enum ledger_kind kinds[] = {
		LEDGER_COMMIT, LEDGER_STOP, LEDGER_SHRINK, LEDGER_RELEASE, LEDGER_VOID};
	struct shop s;
	char before[4096], after[4096];
	open_shop(&s, "again", 400, 10);
	ran(&s, 1, 1, 450, 5);
	int64_t old_epoch = s.epoch;
	forget(&s);
	sums(&s, before);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		assert_int_equal(verdict_of(&s, op(kinds[i], 1, 1, s.now_ms)), LEDGER_SPENT);
	assert_string_equal(left(&s, "transfer"), "");
	assert_string_equal(left(&s, "segment"), "");
	sums(&s, after);
	assert_string_equal(after, before);
	/* A RESERVE of an earlier leader finds the fence closed. */
	pg_fixture_sql(&F, "UPDATE sluice.lease SET expires_at = '-infinity' WHERE cell = 'again'");
	s.epoch = drive_lead(&s.d);
	assert_true(s.epoch > old_epoch);
	struct ledger_op late = op(LEDGER_RESERVE, 1, 1, s.now_ms);
	assert_int_equal(drive_batch(&s.d, old_epoch, &late, 1), LEDGER_FENCED);
	assert_string_equal(left(&s, "hold"), "");
	/* A number that is new again: a Job that lost its annotation begins anew, with a bill of its
	 * own. */
	ran(&s, 1, 1, 0, 7);
	assert_string_equal(by_hand(&s), "2 1200000 12 3000");
	close_shop(&s);
}

/* While a RESERVE has no answer its reservation is open, and stays however old it is. */
static void a_reserve_without_an_answer_is_not_forgotten(void **state)
{
	(void)state;
	struct shop s;
	open_shop(&s, "reserve", 400, 10);
	struct ledger_op reserve = op(LEDGER_RESERVE, 1, 1, s.now_ms - 500 * DAY);
	apply(&s, &reserve, 1);
	forget(&s);
	assert_int_equal(verdict_of(&s, reserve), LEDGER_REPEATED);
	close_shop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_closed_and_old_goes),
		cmocka_unit_test(many_go_in_small_batches),
		cmocka_unit_test(of_another_cell_nothing_goes),
		cmocka_unit_test(for_ever),
		cmocka_unit_test(what_a_new_leader_reads_stays),
		cmocka_unit_test(one_clock_alone_makes_nothing_old),
		cmocka_unit_test(whole_months_of_what_was_forgotten_can_be_asked),
		cmocka_unit_test(what_is_estimated_stays_marked),
		cmocka_unit_test(another_epoch_forgets_nothing),
		cmocka_unit_test(two_at_once_count_each_run_once),
		cmocka_unit_test(no_batch_and_no_renewal_waits_for_it),
		cmocka_unit_test(operations_of_what_was_forgotten_do_nothing),
		cmocka_unit_test(a_reserve_without_an_answer_is_not_forgotten),
		cmocka_unit_test(a_batch_that_is_cut_off_did_not_happen),
	};
	return cmocka_run_group_tests(tests, drive_open_group, drive_close_group);
}
