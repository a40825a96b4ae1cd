/* The driver against a real Postgres: schema, lease, each kind of operation, refusals, quotas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ev.h>

#include "controller/ledger/sql.h"
#include "drive.h"

static struct uid job(int n)
{
	return (struct uid){.byte = {0xab, [14] = (uint8_t)(n >> 8), [15] = (uint8_t)n}};
}

static const struct quota_line *cpu(int64_t amount)
{
	static struct quota_line lines[16];
	static int next;
	struct quota_line *l = &lines[next++ % 16];
	*l = (struct quota_line){"cq/a", "spot", "cpu", amount};
	return l;
}

static struct ledger_op op(enum ledger_kind kind, int n, int attempt)
{
	return (struct ledger_op){.kind = kind,
		.uid = job(n),
		.attempt = attempt,
		.at_ms = 1700000000123,
		.reason = "Finished",
		.actor = "test",
		.lost_ms = 5};
}

static struct ledger_op reserve(int n, int attempt, int64_t amount)
{
	struct ledger_op o = op(LEDGER_RESERVE, n, attempt);
	o.ns = "team";
	o.name = "train";
	o.clusterqueue = "a";
	o.lines = cpu(amount);
	o.nlines = 1;
	return o;
}

static struct ledger_op shrink(int n, int attempt, int seq, int64_t amount)
{
	struct ledger_op o = op(LEDGER_SHRINK, n, attempt);
	o.seq = seq;
	o.lines = cpu(amount);
	o.nlines = 1;
	return o;
}

static struct ledger_op grow(int n, int attempt, int seq, int64_t amount)
{
	struct ledger_op o = shrink(n, attempt, seq, amount);
	o.kind = LEDGER_GROW;
	return o;
}

static struct ledger_op ceiling(int64_t amount)
{
	return (struct ledger_op){.kind = LEDGER_CEILING, .lines = cpu(amount), .nlines = 1};
}

static void assert_verdict(
	struct drive *d, int64_t epoch, struct ledger_op o, enum ledger_verdict v)
{
	assert_int_equal(drive_batch(d, epoch, &o, 1), LEDGER_DONE);
	assert_int_equal(d->results[0].verdict, v);
}

/* pending/posted/releasing wanted ceiling */
static void assert_balance(const struct drive *d, const char *expected)
{
	assert_string_equal(
		pg_fixture_sql(&F,
			"SELECT format('%%s/%%s/%%s %%s %%s', pending, posted, releasing, "
			"wanted, ceiling) FROM sluice.balance WHERE cell = '%s'",
			d->cell),
		expected);
}

static int64_t lead(struct drive *d, const char *cell)
{
	drive_start(d, &F, cell, "me");
	return drive_lead(d);
}

/* ---- Schema -----------------------------------------------------------------------------------
 */

static void test_schema_is_made_by_one_of_many_at_once(void **state)
{
	(void)state;
	pg_fixture_sql(&F, "CREATE DATABASE fresh");
	struct pg_fixture fresh = F;
	snprintf(fresh.conninfo, sizeof(fresh.conninfo), "host=%s user=postgres dbname=fresh",
		F.dir);
	enum { N = 6 };
	struct drive d[N];
	char name[16];
	for (int i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		drive_start(&d[i], &fresh, name, name);
	}
	for (int i = 0; i < N; i++)
		drive_until_up(&d[i]);
	for (int i = 0; i < N; i++)
		drive_ask_lease(&d[i], 0, 0, 60000, true);
	for (bool all = false; !all;) {
		all = true;
		for (int i = 0; i < N; i++) {
			ev_run(d[i].loop, EVRUN_NOWAIT);
			all &= d[i].answered == 1;
		}
	}
	for (int i = 0; i < N; i++) {
		assert_int_equal(d[i].outcome, LEDGER_DONE);
		assert_true(d[i].lease.held);
		drive_stop(&d[i]);
	}
	assert_int_equal(drive_schema_version(&fresh), MIGRATIONS_COUNT);
	/* and a second time there is nothing to do */
	drive_start(&d[0], &fresh, "again", "me");
	assert_int_equal(drive_lead(&d[0]), 1);
	drive_stop(&d[0]);
	assert_int_equal(drive_schema_version(&fresh), MIGRATIONS_COUNT);
	pg_fixture_sql(&F, "DROP DATABASE fresh WITH (FORCE)");
}

static void test_schema_made_by_an_admin_may_be_empty(void **state)
{
	(void)state;
	pg_fixture_sql(&F, "CREATE DATABASE given");
	pg_fixture_sql(&F, "CREATE ROLE humble LOGIN");
	struct pg_fixture given = F;
	snprintf(given.conninfo, sizeof(given.conninfo), "host=%s user=postgres dbname=given",
		F.dir);
	pg_fixture_sql(&given, "CREATE SCHEMA sluice AUTHORIZATION humble");
	snprintf(given.conninfo, sizeof(given.conninfo), "host=%s user=humble dbname=given", F.dir);
	struct drive d;
	drive_start(&d, &given, "c", "o'brien \\");
	assert_int_equal(drive_lead(&d), 1);
	assert_string_equal(d.lease.holder, "o'brien \\");
	drive_stop(&d);
	pg_fixture_sql(&F, "DROP DATABASE given WITH (FORCE)");
}

static void test_newer_schema_is_refused_in_a_sentence(void **state)
{
	(void)state;
	struct drive d;
	pg_fixture_sql(&F, "INSERT INTO sluice.schema_version (version, name, applied_by) "
			   "VALUES (99, 'future', 'newer')");
	drive_start(&d, &F, "newer", "me");
	drive_until_up(&d);
	assert_int_equal(drive_lease(&d, 0, 60000), LEDGER_LOST);
	assert_non_null(strstr(d.sentence, "version 99"));
	assert_non_null(strstr(d.sentence, "newer sluice-controller"));
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT count(*) FROM sluice.lease WHERE cell = 'newer'"), "0");
	drive_stop(&d);
	pg_fixture_sql(&F, "DELETE FROM sluice.schema_version WHERE version = 99");
}

static void test_a_schema_with_newer_additions_will_do(void **state)
{
	(void)state;
	struct drive d;
	pg_fixture_sql(&F, "INSERT INTO sluice.schema_addition (number, name, applied_by) "
			   "VALUES (99, 'future', 'newer')");
	assert_int_equal(lead(&d, "added"), 1);
	drive_stop(&d);
	pg_fixture_sql(&F, "DELETE FROM sluice.schema_addition WHERE number = 99");
}

/* A standby looked at the schema when its connection began. What has come since it does not take
 * for what it knows, though the lease is free. */
static void test_a_standby_whose_schema_becomes_newer_does_not_take_the_lease(void **state)
{
	(void)state;
	struct drive a, b;
	int64_t epoch = lead(&a, "ages");
	drive_start(&b, &F, "ages", "b");
	drive_until_up(&b);
	assert_int_equal(drive_lease(&b, 0, 60000), LEDGER_DONE);
	assert_false(b.lease.held);
	pg_fixture_sql(&F, "INSERT INTO sluice.schema_version (version, name, applied_by) "
			   "VALUES (99, 'future', 'newer')");
	/* The leader goes on: what it writes is left in place. */
	assert_int_equal(drive_lease(&a, epoch, 60000), LEDGER_DONE);
	assert_true(a.lease.held);
	drive_stop(&a);
	pg_fixture_sql(&F, "UPDATE sluice.lease SET expires_at = '-infinity' WHERE cell = 'ages'");
	assert_int_equal(drive_lease(&b, 0, 60000), LEDGER_LOST);
	assert_non_null(strstr(b.sentence, "version 99"));
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT holder FROM sluice.lease WHERE cell = 'ages'"), "me");
	drive_stop(&b);
	pg_fixture_sql(&F, "DELETE FROM sluice.schema_version WHERE version = 99");
}

/* ---- Lease ------------------------------------------------------------------------------------
 */

static void test_lease_is_taken_renewed_and_refused(void **state)
{
	(void)state;
	struct drive a, b;
	drive_start(&a, &F, "lease", "a");
	drive_start(&b, &F, "lease", "b");
	int64_t epoch = drive_lead(&a);
	assert_int_equal(epoch, 1);
	drive_until_up(&b);
	assert_int_equal(drive_lease(&b, 0, 60000), LEDGER_DONE);
	assert_false(b.lease.held);
	assert_int_equal(b.lease.epoch, 1);
	assert_string_equal(b.lease.holder, "a");
	assert_in_range(b.lease.left_ms, 3500000, 3600000); /* drive_lead() */
	assert_int_equal(drive_lease(&a, epoch, 60000), LEDGER_DONE);
	assert_true(a.lease.held);
	assert_int_equal(a.lease.epoch, 1);
	drive_stop(&a);
	drive_stop(&b);
}

static void expire(const char *cell)
{
	pg_fixture_sql(&F,
		"UPDATE sluice.lease SET expires_at = clock_timestamp() - interval '1 s' "
		"WHERE cell = '%s'",
		cell);
}

static void test_lease_that_ran_out_is_renewed_if_nobody_took_it(void **state)
{
	(void)state;
	struct drive a;
	int64_t epoch = lead(&a, "late");
	expire("late");
	assert_int_equal(drive_lease(&a, epoch, 60000), LEDGER_DONE);
	assert_true(a.lease.held);
	assert_int_equal(a.lease.epoch, epoch);
	drive_stop(&a);
}

static void test_takeover_fences_the_old_epoch(void **state)
{
	(void)state;
	struct drive a, b;
	int64_t old = lead(&a, "fence");
	struct ledger_op first[] = {ceiling(10), reserve(1, 1, 4)};
	assert_int_equal(drive_batch(&a, old, first, 2), LEDGER_DONE);
	expire("fence");
	drive_start(&b, &F, "fence", "b");
	drive_until_up(&b);
	assert_int_equal(drive_lease(&b, 0, 60000), LEDGER_DONE);
	assert_true(b.lease.held);
	assert_int_equal(b.lease.epoch, old + 1);

	struct ledger_op late[] = {reserve(2, 1, 4), op(LEDGER_RELEASE, 1, 1), ceiling(100)};
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(drive_batch(&a, old, &late[i], 1), LEDGER_FENCED);
	assert_int_equal(drive_batch(&a, old, late, 3), LEDGER_FENCED);
	assert_int_equal(drive_batch(&a, old, NULL, 0), LEDGER_FENCED);
	assert_int_equal(drive_load(&a, old), LEDGER_FENCED);
	assert_balance(&a, "4/0/0 10 10");
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT count(*) FROM sluice.transfer WHERE cell = 'fence'"),
		"1");

	assert_int_equal(drive_lease(&a, old, 60000), LEDGER_DONE);
	assert_false(a.lease.held);
	assert_int_equal(a.lease.epoch, old + 1);
	assert_string_equal(a.lease.holder, "b");
	/* the new one goes on where the old one was stopped */
	assert_int_equal(drive_batch(&b, b.lease.epoch, late, 3), LEDGER_DONE);
	assert_balance(&b, "4/0/0 100 100");
	drive_stop(&a);
	drive_stop(&b);
	assert_string_equal(drive_audit(), "");
}

/* Postgres failed over to a standby that lacks what was acknowledged. */
static void test_a_leader_whose_batches_are_lost_is_fenced(void **state)
{
	(void)state;
	struct drive d;
	int64_t epoch = lead(&d, "lost");
	struct ledger_op first = ceiling(10), second = reserve(1, 1, 2);
	assert_int_equal(drive_batch(&d, epoch, &first, 1), LEDGER_DONE);
	assert_int_equal(drive_batch(&d, epoch, &second, 1), LEDGER_DONE);
	pg_fixture_sql(&F,
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'me'");
	drive_until_down(&d);
	drive_until_up(&d);
	/* All of it is there: the same epoch goes on. */
	struct ledger_op third = reserve(2, 1, 2);
	assert_int_equal(drive_batch(&d, epoch, &third, 1), LEDGER_DONE);
	pg_fixture_sql(&F, "UPDATE sluice.lease SET batch = batch - 1 WHERE cell = 'lost'");
	pg_fixture_sql(&F,
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'me'");
	drive_until_down(&d);
	drive_until_up(&d);
	struct ledger_op fourth = reserve(3, 1, 2);
	assert_int_equal(drive_batch(&d, epoch, &fourth, 1), LEDGER_FENCED);
	assert_int_equal(drive_lease(&d, epoch, 60000), LEDGER_DONE);
	assert_false(d.lease.held);
	drive_stop(&d);
}

/* What was held of job 3 is what was held before: the batch was refused whole. */
static void assert_fenced(struct drive *d, int64_t epoch)
{
	struct ledger_op o = reserve(3, 1, 2);
	assert_int_equal(drive_batch(d, epoch, &o, 1), LEDGER_FENCED);
	assert_balance(d, "2/0/0 10 10");
	assert_int_equal(drive_lease(d, epoch, 60000), LEDGER_DONE);
	assert_false(d->lease.held);
}

/* A pooler puts the standby under the connection that the leader has. */
static void test_a_leader_whose_batches_are_lost_on_a_connection_that_lives_is_fenced(void **state)
{
	(void)state;
	struct drive d;
	int64_t epoch = lead(&d, "pooled");
	struct ledger_op ops[] = {ceiling(10), reserve(1, 1, 2)};
	assert_int_equal(drive_batch(&d, epoch, ops, 2), LEDGER_DONE);
	pg_fixture_sql(&F, "UPDATE sluice.lease SET batch = batch - 1 WHERE cell = 'pooled'");
	assert_fenced(&d, epoch);
	drive_stop(&d);
}

/* None of our batches is missing; but a takeover that came after us may be. */
static void test_a_lease_is_good_on_the_server_on_which_it_was_taken(void **state)
{
	(void)state;
	struct drive a, b;
	int64_t epoch = lead(&a, "moved");
	struct ledger_op ops[] = {ceiling(10), reserve(1, 1, 2)};
	assert_int_equal(drive_batch(&a, epoch, ops, 2), LEDGER_DONE);
	pg_fixture_sql(&F, "UPDATE sluice.lease SET taken_on = '000000FF' WHERE cell = 'moved'");
	assert_fenced(&a, epoch);
	drive_start(&b, &F, "moved", "b"); /* the lease had not run out */
	assert_int_equal(drive_lead(&b), epoch + 1);
	struct ledger_op o = reserve(3, 1, 2);
	assert_int_equal(drive_batch(&b, epoch + 1, &o, 1), LEDGER_DONE);
	drive_stop(&a);
	drive_stop(&b);
}

static void test_adopted_beyond_the_quota_and_once(void **state)
{
	(void)state;
	struct drive d;
	int64_t epoch = lead(&d, "adopt");
	struct ledger_op quota = ceiling(10), adopt = reserve(1, 3, 12), late = reserve(2, 1, 1);
	adopt.kind = LEDGER_ADOPT;
	adopt.reason = "Adopted";
	struct ledger_op ops[] = {quota, adopt, op(LEDGER_COMMIT, 1, 3), late};
	assert_int_equal(drive_batch(&d, epoch, ops, 4), LEDGER_DONE);
	assert_int_equal(d.results[1].verdict, LEDGER_APPLIED);
	assert_int_equal(d.results[2].verdict, LEDGER_APPLIED);
	assert_int_equal(d.results[3].verdict, LEDGER_REFUSED);
	assert_string_equal(
		pg_fixture_sql(&F,
			"SELECT concat_ws('|', ceiling, wanted, posted) FROM sluice.balance "
			"WHERE cell = 'adopt'"),
		"12|10|12");
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT concat_ws('|', kind, reason) FROM sluice.transfer "
				   "WHERE cell = 'adopt' AND kind = 'RESERVE'"),
		"RESERVE|Adopted");
	assert_int_equal(drive_batch(&d, epoch, &adopt, 1), LEDGER_DONE);
	assert_int_equal(d.results[0].verdict, LEDGER_REPEATED);
	assert_int_equal(drive_load(&d, epoch), LEDGER_DONE);
	assert_non_null(strstr(buf_text(&d.reservations), " estimated cq/a:spot:cpu=12"));
	struct ledger_op release = op(LEDGER_RELEASE, 1, 3);
	assert_int_equal(drive_batch(&d, epoch, &release, 1), LEDGER_DONE);
	assert_int_equal(drive_batch(&d, epoch, &adopt, 1), LEDGER_DONE);
	assert_int_equal(d.results[0].verdict, LEDGER_SPENT);
	assert_int_equal(d.results[0].next_attempt, 4);
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT estimated FROM sluice.segment WHERE cell = 'adopt'"),
		"t");
	assert_string_equal(drive_audit(), "");
	drive_stop(&d);
}

static bool taken_over_is_moved(struct drive *d, const char *cell)
{
	drive_until_answered(d, d->next_id);
	expire(cell);
	drive_ask_lease(d, 0, 0, 60000, false);
	drive_until_answered(d, d->next_id);
	assert_true(d->lease.held);
	return d->lease.moved;
}

static void test_an_epoch_that_a_job_tells_of_is_not_given_out_again(void **state)
{
	(void)state;
	struct drive d;
	drive_start(&d, &F, "seen", "me");
	drive_until_up(&d);
	drive_ask_lease(&d, 0, 7, 60000, true);
	drive_until_answered(&d, d.next_id);
	assert_true(d.lease.held);
	assert_int_equal(d.lease.epoch, 8);
	assert_false(d.lease.moved);
	uint64_t key[2] = {d.lease.story_key[0], d.lease.story_key[1]};
	assert_true(key[0] != 0 && key[1] != 0);
	expire("seen");
	/* A tenant's word is heeded within reason. */
	drive_ask_lease(&d, 0, INT64_MAX, 60000, true);
	drive_until_answered(&d, d.next_id);
	assert_int_equal(d.lease.epoch, 1009);
	assert_int_equal(d.lease.story_key[0], key[0]);
	assert_int_equal(d.lease.story_key[1], key[1]);
	pg_fixture_sql(&F, "UPDATE sluice.lease SET timeline = '000000FF' WHERE cell = 'seen'");
	expire("seen");
	drive_ask_lease(&d, 0, 0, 60000, true);
	drive_until_answered(&d, d.next_id);
	assert_true(d.lease.moved);
	/* Until a leader has settled that, each one is told. */
	drive_ask_lease(&d, d.lease.epoch, 0, 60000, false);
	assert_true(taken_over_is_moved(&d, "seen"));
	drive_ask_lease(&d, d.lease.epoch, 0, 60000, true);
	assert_false(taken_over_is_moved(&d, "seen"));
	drive_stop(&d);
}

static void test_resigned_lease_is_free_at_once(void **state)
{
	(void)state;
	struct drive a, b;
	int64_t epoch = lead(&a, "resign");
	pg_resign(a.pg, epoch + 7); /* not ours: nothing happens */
	pg_resign(a.pg, epoch);
	struct ledger_op o = ceiling(1);
	assert_int_equal(drive_batch(&a, epoch, &o, 1), LEDGER_DONE); /* nobody has taken it yet */
	drive_start(&b, &F, "resign", "b");
	assert_int_equal(drive_lead(&b), epoch + 1);
	drive_stop(&a);
	drive_stop(&b);
}

static void assert_lease_after_its_holder_left(const char *cell, bool free_at_once)
{
	struct drive a, b;
	drive_start(&b, &F, cell, "b");
	drive_until_up(&b);
	int64_t epoch = lead(&a, cell);
	if (!free_at_once)
		pg_fixture_sql(
			&F, "UPDATE sluice.lease SET session_lock = NULL WHERE cell = '%s'", cell);
	assert_int_equal(drive_lease(&b, 0, 60000), LEDGER_DONE);
	assert_false(b.lease.held);
	drive_stop(&a); /* without a word, as if killed */
	for (int i = 0; i < 2000 && !b.lease.held && (free_at_once || i < 5); i++) {
		assert_int_equal(drive_lease(&b, 0, 60000), LEDGER_DONE);
		if (!b.lease.held)
			usleep(10000); /* Postgres needs a moment to see that the session is gone */
	}
	assert_int_equal(b.lease.held, free_at_once);
	assert_int_equal(b.lease.epoch, epoch + free_at_once);
	drive_stop(&b);
}

static void test_lease_of_a_dead_session_is_free_at_once(void **state)
{
	(void)state;
	assert_lease_after_its_holder_left("dead", true);
}

/* As after a reconnect and behind a pooler. */
static void test_lease_without_the_lock_runs_out(void **state)
{
	(void)state;
	assert_lease_after_its_holder_left("unlocked", false);
}

/* The database's clock was set back since, and no lock tells that the holder is gone. */
static void test_lease_that_nobody_renews_runs_out_whenever_it_says_it_ends(void **state)
{
	(void)state;
	struct drive a, b;
	int64_t epoch = lead(&a, "standing");
	drive_start(&b, &F, "standing", "b");
	drive_until_up(&b);
	pg_fixture_sql(&F, "UPDATE sluice.lease SET session_lock = NULL, "
			   "expires_at = now() + interval '1 hour' WHERE cell = 'standing'");
	for (int i = 0; i < 8; i++) { /* renewed, if not as often as promised */
		assert_int_equal(drive_lease(&b, 0, 40), LEDGER_DONE);
		assert_false(b.lease.held);
		usleep(20000);
		assert_int_equal(drive_lease(&a, epoch, 3600000), LEDGER_DONE);
		assert_true(a.lease.held);
		pg_fixture_sql(
			&F, "UPDATE sluice.lease SET session_lock = NULL WHERE cell = 'standing'");
	}
	int64_t looks = 0;
	do {
		usleep(20000);
		assert_int_equal(drive_lease(&b, 0, 40), LEDGER_DONE);
	} while (!b.lease.held && ++looks < 1000);
	assert_in_range(looks, 3, 999); /* 80 ms and more */
	assert_int_equal(b.lease.epoch, epoch + 1);
	assert_int_equal(drive_lease(&a, epoch, 3600000), LEDGER_DONE);
	assert_false(a.lease.held);
	drive_stop(&a);
	drive_stop(&b);
}

static void test_connection_that_came_anew_is_locked_at_the_next_renewal(void **state)
{
	(void)state;
	struct drive a, b;
	int64_t epoch = lead(&a, "anew");
	drive_start(&b, &F, "anew", "b");
	drive_until_up(&b);
	pg_fixture_sql(&F,
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'me'");
	drive_until_down(&a);
	drive_until_up(&a);
	assert_int_equal(drive_batch(&a, epoch, NULL, 0), LEDGER_DONE);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(drive_lease(&b, 0, 60000), LEDGER_DONE);
		assert_false(b.lease.held);
		assert_int_equal(drive_lease(&a, epoch, 60000), LEDGER_DONE);
		assert_true(a.lease.held);
	}
	assert_string_equal(
		pg_fixture_sql(
			&F, "SELECT session_lock = session FROM sluice.lease WHERE cell = 'anew'"),
		"t");
	drive_stop(&a);
	drive_stop(&b);
}

static void test_a_ledger_of_the_version_before_is_left_alone_while_it_is_led(void **state)
{
	(void)state;
	struct drive a, b;
	int64_t epoch = lead(&a, "older");
	drive_go_back_a_version();
	drive_start(&b, &F, "older", "b");
	drive_until_up(&b);
	assert_int_equal(drive_lease(&b, 0, 60000), LEDGER_DONE);
	assert_false(b.lease.held);
	assert_int_equal(b.lease.epoch, epoch);
	assert_string_equal(b.lease.holder, "me");
	expire("older");
	assert_int_equal(drive_lease(&b, 0, 60000), LEDGER_DONE);
	assert_true(b.lease.held);
	assert_int_equal(drive_schema_version(&F), MIGRATIONS_COUNT);
	drive_stop(&a);
	drive_stop(&b);
}

/* ---- Operations -------------------------------------------------------------------------------
 */

static void test_life_of_a_reservation(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "life");
	assert_verdict(&d, e, ceiling(10), LEDGER_APPLIED);
	assert_verdict(&d, e, reserve(1, 1, 6), LEDGER_APPLIED);
	assert_balance(&d, "6/0/0 10 10");
	assert_int_equal(drive_load(&d, e), LEDGER_DONE);
	assert_string_equal(buf_text(&d.reservations),
		"ab000000-0000-0000-0000-000000000001#1 pending team/train a 1700000000123 0 "
		"cq/a:spot:cpu=6\n");
	assert_verdict(&d, e, op(LEDGER_COMMIT, 1, 1), LEDGER_APPLIED);
	assert_balance(&d, "0/6/0 10 10");
	assert_verdict(&d, e, shrink(1, 1, 2, 4), LEDGER_APPLIED);
	assert_balance(&d, "0/4/0 10 10");
	assert_verdict(&d, e, op(LEDGER_STOP, 1, 1), LEDGER_APPLIED);
	assert_balance(&d, "0/0/4 10 10");
	assert_int_equal(drive_load(&d, e), LEDGER_DONE);
	assert_string_equal(buf_text(&d.reservations),
		"ab000000-0000-0000-0000-000000000001#1 releasing team/train a 1700000000123 "
		"1700000000123 sizes 2 cq/a:spot:cpu=4\n");
	assert_verdict(&d, e, op(LEDGER_RELEASE, 1, 1), LEDGER_APPLIED);
	assert_balance(&d, "0/0/0 10 10");
	assert_int_equal(drive_load(&d, e), LEDGER_DONE);
	assert_string_equal(buf_text(&d.reservations), "");
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT concat_ws(' ', ns, name, clusterqueue, reason, actor, "
				   "lost_ms, lines, stopped_at = started_at) "
				   "FROM sluice.segment WHERE cell = 'life'"),
		"team train a Finished test 5 [[\"cq/a\", \"spot\", \"cpu\", 6]] t");
	drive_stop(&d);
	assert_string_equal(drive_audit(), "");
}

static void test_whole_life_in_one_batch(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "onego");
	struct ledger_op ops[] = {ceiling(10), reserve(1, 1, 6), op(LEDGER_COMMIT, 1, 1),
		shrink(1, 1, 1, 2), op(LEDGER_STOP, 1, 1), op(LEDGER_RELEASE, 1, 1),
		reserve(1, 2, 10), op(LEDGER_VOID, 1, 2), reserve(1, 3, 9)};
	size_t n = sizeof(ops) / sizeof(*ops);
	assert_int_equal(drive_batch(&d, e, ops, n), LEDGER_DONE);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(d.results[i].verdict, LEDGER_APPLIED);
	assert_balance(&d, "9/0/0 10 10");
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT count(*) FROM sluice.segment WHERE cell = 'onego'"),
		"1");
	/* sent again as it was */
	assert_int_equal(drive_batch(&d, e, ops, n), LEDGER_DONE);
	static const enum ledger_verdict again[] = {LEDGER_APPLIED, LEDGER_SPENT, LEDGER_SPENT,
		LEDGER_SPENT, LEDGER_SPENT, LEDGER_SPENT, LEDGER_SPENT, LEDGER_SPENT,
		LEDGER_REPEATED};
	for (size_t i = 0; i < n; i++)
		assert_int_equal(d.results[i].verdict, again[i]);
	assert_int_equal(d.results[1].next_attempt, 4);
	assert_balance(&d, "9/0/0 10 10");
	drive_stop(&d);
	assert_string_equal(drive_audit(), "");
}

static void test_each_operation_takes_effect_once(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "once");
	struct ledger_op ops[] = {reserve(1, 1, 6), op(LEDGER_COMMIT, 1, 1), shrink(1, 1, 1, 5),
		op(LEDGER_STOP, 1, 1)};
	assert_verdict(&d, e, ceiling(10), LEDGER_APPLIED);
	for (size_t i = 0; i < 4; i++)
		assert_verdict(&d, e, ops[i], LEDGER_APPLIED);
	for (size_t i = 0; i < 4; i++)
		assert_verdict(&d, e, ops[i], LEDGER_REPEATED);
	assert_balance(&d, "0/0/5 10 10");
	/* a SHRINK that comes late raises nothing */
	assert_verdict(&d, e, shrink(1, 1, 9, 9), LEDGER_APPLIED);
	assert_balance(&d, "0/0/5 10 10");
	assert_verdict(&d, e, op(LEDGER_RELEASE, 1, 1), LEDGER_APPLIED);
	assert_verdict(&d, e, op(LEDGER_RELEASE, 1, 1), LEDGER_SPENT);
	assert_verdict(&d, e, op(LEDGER_VOID, 1, 1), LEDGER_SPENT);
	for (size_t i = 0; i < 4; i++)
		assert_verdict(&d, e, ops[i], LEDGER_SPENT);
	/* of a reservation that never was: nothing, and no trace */
	for (size_t i = 1; i < 4; i++) {
		ops[i].attempt = 2;
		assert_verdict(&d, e, ops[i], LEDGER_SPENT);
	}
	assert_verdict(&d, e, reserve(1, 2, 1), LEDGER_APPLIED);
	assert_verdict(&d, e, op(LEDGER_COMMIT, 1, 2), LEDGER_APPLIED);
	drive_stop(&d);
	assert_string_equal(drive_audit(), "");
}

/* Back to the same size as before: each change is another one. */
static void test_runs_grow_and_shrink(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "grow");
	struct ledger_op grown = grow(1, 1, 2, 8);
	assert_verdict(&d, e, ceiling(10), LEDGER_APPLIED);
	assert_verdict(&d, e, reserve(1, 1, 6), LEDGER_APPLIED);
	assert_verdict(&d, e, grow(1, 1, 1, 7), LEDGER_REFUSED); /* it does not run */
	assert_verdict(&d, e, op(LEDGER_COMMIT, 1, 1), LEDGER_APPLIED);
	assert_verdict(&d, e, shrink(1, 1, 1, 3), LEDGER_APPLIED);
	assert_verdict(&d, e, grow(1, 1, 2, 11), LEDGER_REFUSED);
	assert_balance(&d, "0/3/0 10 10");
	assert_verdict(&d, e, grown, LEDGER_APPLIED);
	assert_balance(&d, "0/8/0 10 10");
	assert_verdict(&d, e, grown, LEDGER_REPEATED);
	assert_verdict(&d, e, reserve(2, 1, 3), LEDGER_REFUSED);
	assert_verdict(&d, e, shrink(1, 1, 3, 3), LEDGER_APPLIED);
	assert_balance(&d, "0/3/0 10 10");
	assert_verdict(&d, e, grow(1, 1, 4, 2), LEDGER_APPLIED); /* it lowers nothing */
	assert_balance(&d, "0/3/0 10 10");
	assert_int_equal(drive_load(&d, e), LEDGER_DONE);
	assert_string_equal(buf_text(&d.reservations),
		"ab000000-0000-0000-0000-000000000001#1 posted team/train a 1700000000123 "
		"1700000000123 sizes 4 cq/a:spot:cpu=3\n");
	assert_verdict(&d, e, op(LEDGER_STOP, 1, 1), LEDGER_APPLIED);
	assert_verdict(&d, e, grow(1, 1, 5, 4), LEDGER_REFUSED);
	struct ledger_op adopts = grow(1, 1, 5, 12); /* what runs is used */
	adopts.adopts = true;
	assert_verdict(&d, e, adopts, LEDGER_APPLIED);
	assert_balance(&d, "0/0/12 10 12");
	assert_verdict(&d, e, op(LEDGER_RELEASE, 1, 1), LEDGER_APPLIED);
	assert_verdict(&d, e, grow(1, 1, 6, 4), LEDGER_SPENT);
	assert_balance(&d, "0/0/0 10 10");
	drive_stop(&d);
	assert_string_equal(drive_audit(), "");
}

/* A program of version 9 gave each SHRINK the number of pods that were left. */
static void test_beside_shrinks_of_before(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "before");
	assert_verdict(&d, e, ceiling(10), LEDGER_APPLIED);
	assert_verdict(&d, e, reserve(1, 1, 6), LEDGER_APPLIED);
	assert_verdict(&d, e, op(LEDGER_COMMIT, 1, 1), LEDGER_APPLIED);
	pg_fixture_sql(&F,
		"INSERT INTO sluice.transfer (cell, job_uid, attempt, kind, seq, epoch, "
		"at, source, lines) SELECT cell, job_uid, attempt, 'SHRINK', n, epoch, at, "
		"'posted', '[]' FROM sluice.transfer, generate_series(1, 3) AS n "
		"WHERE cell = 'before' AND kind = 'COMMIT'");
	assert_int_equal(drive_load(&d, e), LEDGER_DONE);
	assert_null(strstr(buf_text(&d.reservations), "sizes"));
	assert_verdict(&d, e, shrink(1, 1, 1, 3), LEDGER_APPLIED);
	assert_verdict(&d, e, shrink(1, 1, 2, 2), LEDGER_APPLIED);
	assert_balance(&d, "0/2/0 10 10");
	drive_stop(&d);
	assert_string_equal(drive_audit(), "");
}

static void test_refused_alone_and_the_attempt_is_not_used_up(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "refuse");
	struct ledger_op ops[] = {ceiling(10), reserve(1, 1, 6), reserve(2, 1, 5), reserve(3, 1, 4),
		op(LEDGER_COMMIT, 2, 1), op(LEDGER_COMMIT, 3, 1), reserve(4, 1, 0)};
	assert_int_equal(drive_batch(&d, e, ops, 7), LEDGER_DONE);
	static const enum ledger_verdict expected[] = {LEDGER_APPLIED, LEDGER_APPLIED,
		LEDGER_REFUSED, LEDGER_APPLIED, LEDGER_SPENT, LEDGER_APPLIED, LEDGER_APPLIED};
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(d.results[i].verdict, expected[i]);
	assert_balance(&d, "6/4/0 10 10");
	/* room that a later operation of the batch frees does not count, what an earlier frees does
	 */
	struct ledger_op early[] = {reserve(2, 1, 5), op(LEDGER_VOID, 1, 1)};
	assert_int_equal(drive_batch(&d, e, early, 2), LEDGER_DONE);
	assert_int_equal(d.results[0].verdict, LEDGER_REFUSED);
	struct ledger_op late[] = {op(LEDGER_RELEASE, 3, 1), reserve(2, 1, 5), reserve(5, 1, 5)};
	assert_int_equal(drive_batch(&d, e, late, 3), LEDGER_DONE);
	assert_int_equal(d.results[1].verdict, LEDGER_APPLIED);
	assert_int_equal(d.results[2].verdict, LEDGER_APPLIED);
	assert_balance(&d, "10/0/0 10 10");
	/* no ceiling known: no room */
	struct quota_line gpu = {"cq/a", "spot", "gpu", 1};
	struct ledger_op unknown = reserve(6, 1, 1);
	unknown.lines = &gpu;
	assert_verdict(&d, e, unknown, LEDGER_REFUSED);
	drive_stop(&d);
	assert_string_equal(drive_audit(), "");
}

static void test_quota_lowered_below_use(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "lower");
	struct ledger_op ops[] = {ceiling(10), reserve(1, 1, 6), reserve(2, 1, 4)};
	assert_int_equal(drive_batch(&d, e, ops, 3), LEDGER_DONE);
	assert_verdict(&d, e, ceiling(5), LEDGER_APPLIED);
	assert_balance(&d, "10/0/0 5 10");
	assert_verdict(&d, e, op(LEDGER_VOID, 2, 1), LEDGER_APPLIED);
	assert_balance(&d, "6/0/0 5 6");
	assert_verdict(&d, e, reserve(3, 1, 1), LEDGER_REFUSED);
	assert_verdict(&d, e, shrink(1, 1, 1, 3), LEDGER_APPLIED);
	assert_balance(&d, "3/0/0 5 5");
	assert_verdict(&d, e, reserve(3, 1, 2), LEDGER_APPLIED);
	/* room taken, then the quota lowered, in one batch */
	struct ledger_op both[] = {ceiling(9), reserve(4, 1, 4), ceiling(2), reserve(5, 1, 1)};
	assert_int_equal(drive_batch(&d, e, both, 4), LEDGER_DONE);
	assert_int_equal(d.results[1].verdict, LEDGER_APPLIED);
	assert_int_equal(d.results[3].verdict, LEDGER_REFUSED);
	assert_balance(&d, "9/0/0 2 9");
	drive_stop(&d);
	assert_string_equal(drive_audit(), "");
}

static void test_strange_names_and_amounts(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "o'clock\"{}");
	struct quota_line lines[] = {{"cq/\"{,}\\'", "f\n", "r\xc3\xa9", INT64_MAX}};
	struct ledger_op ops[] = {ceiling(0), reserve(1, 1, 0), reserve(2, 1, 0), reserve(3, 1, 0),
		op(LEDGER_RELEASE, 1, 1)};
	ops[0].lines = ops[1].lines = ops[2].lines = lines;
	ops[3].nlines = 0;
	ops[1].ns = "not utf-8 \xff";
	ops[4].reason = "\xc3";
	assert_int_equal(drive_batch(&d, e, ops, 4), LEDGER_DONE);
	assert_int_equal(d.results[1].verdict, LEDGER_APPLIED);
	assert_int_equal(d.results[2].verdict, LEDGER_REFUSED);
	assert_int_equal(d.results[3].verdict, LEDGER_APPLIED);
	assert_int_equal(drive_load(&d, e), LEDGER_DONE);
	assert_string_equal(buf_text(&d.reservations),
		"ab000000-0000-0000-0000-000000000001#1 pending not utf-8 ?/train a 1700000000123 "
		"0 "
		"cq/\"{,}\\':f\n:r\xc3\xa9=9223372036854775807\n"
		"ab000000-0000-0000-0000-000000000003#1 pending team/train a 1700000000123 0\n");
	assert_verdict(&d, e, ops[4], LEDGER_APPLIED);
	drive_stop(&d);
	assert_string_equal(drive_audit(), "");
}

static void test_audit_finds_what_is_wrong(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "audit");
	static const struct quota_line all = {"cohort/all", "spot", "cpu", 10};
	struct ledger_op ops[] = {ceiling(10), ceiling(0), reserve(1, 1, 6),
		op(LEDGER_COMMIT, 1, 1), reserve(2, 1, 0), op(LEDGER_COMMIT, 2, 1),
		op(LEDGER_RELEASE, 2, 1)};
	ops[0].parent = "cohort/all";
	ops[0].guaranteed = 2;
	ops[1].lines = &all;
	assert_int_equal(drive_batch(&d, e, ops, 7), LEDGER_DONE);
	assert_string_equal(drive_audit(), "");
	static const struct {
		const char *harm, *cure, *view;
	} cases[] = {
		{"UPDATE sluice.balance SET posted = posted - 1 WHERE node = 'cq/a' AND cell = "
		 "'audit'",
			"UPDATE sluice.balance SET posted = posted + 1 WHERE node = 'cq/a' AND "
			"cell = 'audit'",
			"audit"},
		{"UPDATE sluice.balance SET posted = posted - 1 WHERE node = 'cq/a' AND cell = "
		 "'audit'",
			"UPDATE sluice.balance SET posted = posted + 1 WHERE node = 'cq/a' AND "
			"cell = 'audit'",
			"audit_history"},
		{"UPDATE sluice.balance SET ceiling = 11 WHERE cell = 'audit'",
			"UPDATE sluice.balance SET ceiling = 10 WHERE cell = 'audit'", "audit"},
		{"UPDATE sluice.balance SET members = members - 1 WHERE cell = 'audit' AND node = "
		 "'cohort/all'",
			"UPDATE sluice.balance SET members = members + 1 WHERE cell = 'audit' AND "
			"node = 'cohort/all'",
			"audit"},
		{"UPDATE sluice.balance SET guaranteed = 3 WHERE cell = 'audit' AND node = 'cq/a'",
			"UPDATE sluice.balance SET guaranteed = 2 WHERE cell = 'audit' AND node = "
			"'cq/a'",
			"audit"},
		{"UPDATE sluice.balance SET parent = 'cohort/none' WHERE cell = 'audit' AND node = "
		 "'cq/a'",
			"UPDATE sluice.balance SET parent = 'cohort/all' WHERE cell = 'audit' AND "
			"node = 'cq/a'",
			"audit"},
		{"UPDATE sluice.hold SET started_at = NULL WHERE cell = 'audit'",
			"UPDATE sluice.hold SET started_at = '2023-11-14 22:13:20.123+00' WHERE "
			"cell = 'audit'",
			"audit"},
		{"INSERT INTO sluice.segment SELECT cell, job_uid, attempt, ns, name, "
		 "clusterqueue, started_at, now(), now(), 'x', 'x', 0, lines FROM sluice.hold "
		 "WHERE cell = 'audit'",
			"DELETE FROM sluice.segment WHERE cell = 'audit' AND reason = 'x'",
			"audit"},
		{"UPDATE sluice.segment SET stopped_at = now() WHERE cell = 'audit'",
			"UPDATE sluice.segment SET stopped_at = started_at WHERE cell = 'audit'",
			"audit_history"},
		{"UPDATE sluice.segment SET cell = 'elsewhere' WHERE cell = 'audit'",
			"UPDATE sluice.segment SET cell = 'audit' WHERE cell = 'elsewhere'",
			"audit_history"},
		{"UPDATE sluice.transfer SET kind = 'VOID' WHERE cell = 'audit' AND kind = "
		 "'COMMIT'",
			"UPDATE sluice.transfer SET kind = 'COMMIT' WHERE cell = 'audit' AND kind "
			"= 'VOID'",
			"audit"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		pg_fixture_sql(&F, "%s", cases[i].harm);
		assert_string_not_equal(
			pg_fixture_sql(&F, "SELECT count(*) FROM sluice.%s", cases[i].view), "0");
		pg_fixture_sql(&F, "%s", cases[i].cure);
		assert_string_equal(drive_audit(), "");
	}
	drive_stop(&d);
}

/* Every table, view and column of ours says what it is, or its name does. */
static void test_schema_explains_itself(void **state)
{
	(void)state;
	assert_string_equal(
		pg_fixture_sql(&F,
			"SELECT string_agg(relname, ' ') FROM pg_class WHERE relnamespace = "
			"'sluice'::regnamespace AND relkind IN ('r', 'v') "
			"AND obj_description(oid, 'pg_class') IS NULL"),
		"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_schema_is_made_by_one_of_many_at_once),
		cmocka_unit_test(test_schema_made_by_an_admin_may_be_empty),
		cmocka_unit_test(test_newer_schema_is_refused_in_a_sentence),
		cmocka_unit_test(test_a_schema_with_newer_additions_will_do),
		cmocka_unit_test(test_a_standby_whose_schema_becomes_newer_does_not_take_the_lease),
		cmocka_unit_test(test_schema_explains_itself),
		cmocka_unit_test(test_lease_is_taken_renewed_and_refused),
		cmocka_unit_test(test_lease_that_ran_out_is_renewed_if_nobody_took_it),
		cmocka_unit_test(test_takeover_fences_the_old_epoch),
		cmocka_unit_test(test_lease_of_a_dead_session_is_free_at_once),
		cmocka_unit_test(test_lease_without_the_lock_runs_out),
		cmocka_unit_test(test_lease_that_nobody_renews_runs_out_whenever_it_says_it_ends),
		cmocka_unit_test(test_connection_that_came_anew_is_locked_at_the_next_renewal),
		cmocka_unit_test(test_a_ledger_of_the_version_before_is_left_alone_while_it_is_led),
		cmocka_unit_test(test_a_leader_whose_batches_are_lost_is_fenced),
		cmocka_unit_test(
			test_a_leader_whose_batches_are_lost_on_a_connection_that_lives_is_fenced),
		cmocka_unit_test(test_a_lease_is_good_on_the_server_on_which_it_was_taken),
		cmocka_unit_test(test_adopted_beyond_the_quota_and_once),
		cmocka_unit_test(test_an_epoch_that_a_job_tells_of_is_not_given_out_again),
		cmocka_unit_test(test_resigned_lease_is_free_at_once),
		cmocka_unit_test(test_life_of_a_reservation),
		cmocka_unit_test(test_whole_life_in_one_batch),
		cmocka_unit_test(test_each_operation_takes_effect_once),
		cmocka_unit_test(test_runs_grow_and_shrink),
		cmocka_unit_test(test_beside_shrinks_of_before),
		cmocka_unit_test(test_refused_alone_and_the_attempt_is_not_used_up),
		cmocka_unit_test(test_quota_lowered_below_use),
		cmocka_unit_test(test_strange_names_and_amounts),
		cmocka_unit_test(test_audit_finds_what_is_wrong),
	};
	return cmocka_run_group_tests(tests, drive_open_group, drive_close_group);
}
