/* The driver while Postgres is killed, stopped, cut off, refuses, or says nothing. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <ev.h>
#include <libpq-fe.h>

#include "controller/ledger/pg_priv.h"
#include "drive.h"

static const struct quota_line ROOM = {"cq/a", "spot", "cpu", 100},
			       ONE = {"cq/a", "spot", "cpu", 1};

static struct ledger_op ceiling(const struct quota_line *l)
{
	return (struct ledger_op){.kind = LEDGER_CEILING, .lines = l, .nlines = 1};
}

static struct ledger_op op(enum ledger_kind kind, int n)
{
	return (struct ledger_op){.kind = kind,
		.uid = {.byte = {[15] = (uint8_t)n}},
		.attempt = 1,
		.at_ms = 1700000000000,
		.ns = "team",
		.name = "train",
		.clusterqueue = "a",
		.lines = &ONE,
		.nlines = 1,
		.reason = "Finished",
		.actor = "test"};
}

static long pending(const struct drive *d)
{
	return atol(pg_fixture_sql(
		&F, "SELECT pending FROM sluice.balance WHERE cell = '%s'", d->cell));
}

static pid_t backend(const char *identity)
{
	return atoi(pg_fixture_sql(&F,
		"SELECT pid FROM pg_stat_activity WHERE application_name = '%s' "
		"ORDER BY backend_start DESC LIMIT 1",
		identity));
}

static int64_t lead(struct drive *d, const char *cell)
{
	drive_start(d, &F, cell, cell);
	int64_t epoch = drive_lead(d);
	struct ledger_op room = ceiling(&ROOM);
	assert_int_equal(drive_batch(d, epoch, &room, 1), LEDGER_DONE);
	return epoch;
}

/* Sends it again, as it was, until it is durable. How often it was lost. */
static int insist(struct drive *d, int64_t epoch, const struct ledger_op *ops, size_t n)
{
	for (int lost = 0;; lost++) {
		drive_until_up(d);
		enum ledger_outcome o = drive_batch(d, epoch, ops, n);
		assert_int_not_equal(o, LEDGER_FENCED);
		if (o == LEDGER_DONE)
			return lost;
	}
}

/* Keeps every batch from writing, until it is let go. */
static PGconn *reservation_up(void)
{
	PGconn *c = PQconnectdb(F.conninfo);
	PGresult *r = PQexec(c, "BEGIN; LOCK TABLE sluice.transfer IN EXCLUSIVE MODE");
	assert_int_equal(PQresultStatus(r), PGRES_COMMAND_OK);
	PQclear(r);
	return c;
}

static void until_waiting(struct drive *d)
{
	while (strcmp(pg_fixture_sql(&F,
			      "SELECT count(*) FROM pg_stat_activity WHERE "
			      "application_name = '%s' AND wait_event_type = 'Lock'",
			      d->cell),
		"1"))
		ev_run(d->loop, EVRUN_NOWAIT);
}

/* ---- Tests ------------------------------------------------------------------------------------
 */

static void test_backend_ended_in_the_middle_of_a_batch(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "ended");
	struct ledger_op ops[] = {op(LEDGER_RESERVE, 1), op(LEDGER_RESERVE, 2)};
	PGconn *lock = reservation_up();
	struct ledger_batch b = {e, ops, 2};
	uint64_t id = drive_ask_batch(&d, &b);
	until_waiting(&d);
	pg_fixture_sql(&F, "SELECT pg_terminate_backend(%d)", backend("ended"));
	PQfinish(lock);
	drive_until_answered(&d, id);
	assert_int_equal(d.outcome, LEDGER_LOST);
	assert_false(pg_up(d.pg));
	assert_non_null(strstr(d.sentence, "administrator command"));
	assert_int_equal(insist(&d, e, ops, 2), 0);
	assert_int_equal(d.results[0].verdict, LEDGER_APPLIED);
	assert_int_equal(pending(&d), 2);
	drive_stop(&d);
	assert_string_equal(drive_audit(), "");
}

static void test_batch_that_landed_and_was_not_answered(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "landed");
	struct ledger_op ops[] = {
		op(LEDGER_RESERVE, 1), op(LEDGER_RESERVE, 2), op(LEDGER_COMMIT, 2)};
	struct ledger_batch b = {e, ops, 3};
	uint64_t id = drive_ask_batch(&d, &b);
	while (d.pg->head->step != STEP_WRITE)
		ev_run(d.loop, EVRUN_ONCE);
	while (strcmp(
		pg_fixture_sql(&F, "SELECT count(*) FROM sluice.transfer WHERE cell = 'landed'"),
		"3"))
		;
	pg_conn_drop(d.pg->conn, "cut by the test"); /* the answer is in the socket, unread */
	assert_int_equal(d.answered, id);
	assert_int_equal(d.outcome, LEDGER_LOST);
	assert_int_equal(insist(&d, e, ops, 3), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(d.results[i].verdict, LEDGER_REPEATED);
	assert_int_equal(pending(&d), 1);
	drive_stop(&d);
	assert_string_equal(drive_audit(), "");
}

static void test_everything_under_way_is_lost_in_order(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "order");
	struct ledger_op o = op(LEDGER_RESERVE, 1);
	struct ledger_batch b = {e, &o, 1};
	PGconn *lock = reservation_up();
	drive_ask_batch(&d, &b);
	until_waiting(&d);
	drive_ask_lease(&d, e, 0, 1000, true);
	const struct pg_asker load = drive_asker(&d, NULL);
	pg_load(d.pg, e, &load);
	pg_resign(d.pg, e + 1);
	drive_ask_batch(&d, &b);
	pg_fixture_sql(&F, "SELECT pg_terminate_backend(%d)", backend("order"));
	drive_until_answered(&d, d.next_id); /* drive.c checks the order */
	assert_int_equal(d.outcome, LEDGER_LOST);
	/* and so is what is asked while there is no connection, from the loop */
	drive_ask_batch(&d, &b);
	drive_until_answered(&d, d.next_id);
	assert_int_equal(d.outcome, LEDGER_LOST);
	PQfinish(lock);
	insist(&d, e, &o, 1);
	drive_stop(&d);
	assert_string_equal(drive_audit(), "");
}

static void crash_with_a_batch_in_flight(
	const char *cell, bool stuck, pid_t (*victim)(const char *))
{
	struct drive d;
	int64_t e = lead(&d, cell);
	struct ledger_op ops[20];
	for (int i = 0; i < 20; i++)
		ops[i] = op(LEDGER_RESERVE, i + 1);
	PGconn *lock = stuck ? reservation_up() : NULL;
	struct ledger_batch b = {e, ops, 20};
	drive_ask_batch(&d, &b);
	if (stuck)
		until_waiting(&d);
	if (victim) {
		kill(victim(cell), SIGKILL); /* Postgres restarts all of itself by itself */
	} else {
		pg_fixture_crash(&F);
		pg_fixture_restart(&F);
	}
	PQfinish(lock);
	drive_until_answered(&d, d.next_id);
	insist(&d, e, ops, 20);
	assert_int_equal(pending(&d), 20);
	drive_stop(&d);
	assert_string_equal(drive_audit(), "");
}

static void test_postgres_killed_with_a_batch_in_flight(void **state)
{
	(void)state;
	crash_with_a_batch_in_flight("crash-1", true, NULL);
	crash_with_a_batch_in_flight("crash-2", false, NULL);
}

static void test_backend_killed_with_a_batch_in_flight(void **state)
{
	(void)state;
	crash_with_a_batch_in_flight("kill-1", true, backend);
	crash_with_a_batch_in_flight("kill-2", false, backend);
}

/* A server runs what it has read, whether or not anybody still waits for it. */
static void test_stopped_backend_is_given_up_and_comes_too_late(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "late");
	pid_t old = backend("late");
	static const struct quota_line five = {"cq/a", "spot", "cpu", 5},
				       nine = {"cq/a", "spot", "cpu", 9};
	struct ledger_op stale[] = {ceiling(&five), op(LEDGER_RESERVE, 1)}, now = ceiling(&nine);
	struct ledger_batch b = {e, stale, 2};
	/* What we write, it will read when it is woken. */
	assert_int_equal(kill(old, SIGSTOP), 0);
	uint64_t id = drive_ask_batch(&d, &b);
	assert_int_equal(d.pg->head->step, STEP_WRITE);
	pg_set_patience(d.pg, 300);
	drive_until_answered(&d, id);
	assert_int_equal(d.outcome, LEDGER_LOST);
	assert_non_null(strstr(d.sentence, "did not answer in time"));
	pg_set_patience(d.pg, 10000);
	insist(&d, e, &now, 1);
	assert_int_equal(kill(old, SIGCONT), 0);
	while (strcmp(
		pg_fixture_sql(&F, "SELECT count(*) FROM pg_stat_activity WHERE pid = %d", old),
		"0"))
		;
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT concat_ws(' ', wanted, pending) FROM sluice.balance "
				   "WHERE cell = 'late'"),
		"9 0");
	drive_stop(&d);
	assert_string_equal(drive_audit(), "");
}

/* Stopped between the fence and the write: it holds the lease row, and nobody writes before it. */
static void test_stopped_backend_behind_the_fence(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "behind");
	pid_t old = backend("behind");
	struct ledger_op ops[] = {op(LEDGER_RESERVE, 1), op(LEDGER_RESERVE, 2)};
	PGconn *lock = reservation_up();
	struct ledger_batch b = {e, ops, 2};
	uint64_t id = drive_ask_batch(&d, &b);
	until_waiting(&d);
	assert_int_equal(kill(old, SIGSTOP), 0);
	pg_set_patience(d.pg, 300);
	pg_conn_drop(d.pg->conn, "cut by the test");
	assert_int_equal(d.answered, id);
	PQfinish(lock);
	drive_until_up(&d);
	assert_int_equal(drive_batch(&d, e, ops, 2), LEDGER_LOST); /* waits for the row, in vain */
	assert_int_equal(kill(old, SIGCONT), 0);
	pg_set_patience(d.pg, 10000);
	insist(&d, e, ops, 2);
	assert_int_equal(pending(&d), 2);
	drive_stop(&d);
	assert_string_equal(drive_audit(), "");
}

static void test_shutdown_and_return(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "shutdown");
	pg_fixture_shutdown(&F);
	drive_until_down(&d);
	assert_non_null(strstr(d.sentence, "administrator command"));
	struct ledger_op o = op(LEDGER_RESERVE, 1);
	assert_int_equal(drive_batch(&d, e, &o, 1), LEDGER_LOST);
	int downs = d.downs;
	while (d.downs == downs)
		ev_run(d.loop, EVRUN_ONCE);
	assert_non_null(strstr(d.sentence, "No such file")); /* of the socket */
	pg_fixture_restart(&F);
	drive_until_up(&d);
	assert_int_equal(drive_lease(&d, e, 1000), LEDGER_DONE);
	assert_true(d.lease.held);
	insist(&d, e, &o, 1);
	drive_stop(&d);
	assert_string_equal(drive_audit(), "");
}

static void test_read_only_server_is_left_for_another(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "standby");
	struct ledger_op o = op(LEDGER_RESERVE, 1);
	pg_fixture_sql(&F, "ALTER ROLE postgres SET default_transaction_read_only = on");
	pg_fixture_sql(&F, "SELECT pg_terminate_backend(%d)", backend("standby"));
	drive_until_down(&d);
	while (!strstr(d.sentence, "read-only"))
		ev_run(d.loop, EVRUN_ONCE);
	assert_int_equal(drive_batch(&d, e, &o, 1), LEDGER_LOST);
	pg_fixture_sql(&F, "BEGIN; SET TRANSACTION READ WRITE; "
			   "ALTER ROLE postgres RESET default_transaction_read_only; COMMIT");
	insist(&d, e, &o, 1);
	drive_stop(&d);
}

static void test_serializable_by_default_is_no_matter(void **state)
{
	(void)state;
	struct drive d;
	pg_fixture_sql(&F, "ALTER ROLE postgres SET default_transaction_isolation = serializable");
	int64_t e = lead(&d, "serial");
	struct ledger_op o = op(LEDGER_RESERVE, 1);
	insist(&d, e, &o, 1);
	assert_int_equal(pending(&d), 1);
	drive_stop(&d);
	pg_fixture_sql(&F, "ALTER ROLE postgres RESET default_transaction_isolation");
}

static void test_sentences_keep_secrets(void **state)
{
	(void)state;
	struct pg_fixture nowhere = F;
	snprintf(nowhere.conninfo, sizeof(nowhere.conninfo),
		"host=%s user=postgres password=hunter2 dbname=hunter2", F.dir);
	struct drive d;
	drive_start(&d, &nowhere, "c", "me");
	while (!d.downs)
		ev_run(d.loop, EVRUN_ONCE);
	assert_non_null(strstr(d.sentence, "does not exist"));
	assert_null(strstr(d.sentence, "hunter2"));
	drive_stop(&d);

	static const char *const wrong[] = {"postgres://me:hunter2@[::1/db",
		"password=hunter2 hunter2", "password='hunter2",
		"postgres://me:hun@hunter2@host/db", "hunter2"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct pg_options o = {wrong[i], "c", "me", 1};
		struct pg *pg = NULL;
		struct err e;
		assert_int_equal(pg_new(EV_DEFAULT, &o, &pg, &e), ERR_INVALID);
		assert_null(pg);
		assert_null(strstr(e.text, "hunter2"));
	}
	ev_loop_destroy(EV_DEFAULT);
}

/* A question of people that takes too long is the only one that is lost: the connection stays, and what is
 * asked behind it is answered. */
static void test_a_question_that_takes_too_long_harms_no_other(void **state)
{
	(void)state;
	struct drive d;
	struct past_question q = {.kind = PAST_RUNS, .to_ms = INT64_MAX};
	drive_start(&d, &F, "patient", "me");
	drive_until_up(&d);
	PGconn *lock = PQconnectdb(F.conninfo);
	PQclear(PQexec(lock, "BEGIN; LOCK TABLE sluice.segment"));
	pg_set_patience(d.pg, 500);
	assert_int_equal(drive_past(&d, &q, 10), LEDGER_LOST);
	assert_int_equal(d.downs, 0);
	PQfinish(lock);
	assert_int_equal(drive_past(&d, &q, 10), LEDGER_DONE);
	assert_int_equal(d.downs, 0);
	drive_stop(&d);
}

static int clear(void **state)
{
	(void)state;
	pg_fixture_clear(&F);
	return 0;
}

#define TEST(test) cmocka_unit_test_teardown(test, clear)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_question_that_takes_too_long_harms_no_other),
		TEST(test_sentences_keep_secrets),
		TEST(test_backend_ended_in_the_middle_of_a_batch),
		TEST(test_batch_that_landed_and_was_not_answered),
		TEST(test_everything_under_way_is_lost_in_order),
		TEST(test_stopped_backend_is_given_up_and_comes_too_late),
		TEST(test_stopped_backend_behind_the_fence),
		TEST(test_shutdown_and_return),
		TEST(test_read_only_server_is_left_for_another),
		TEST(test_serializable_by_default_is_no_matter),
		TEST(test_backend_killed_with_a_batch_in_flight),
		TEST(test_postgres_killed_with_a_batch_in_flight),
	};
	return cmocka_run_group_tests(tests, drive_open_group, drive_close_group);
}
