/* What became of Jobs, by their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ev.h>

#include "controller/ledger/pg_conn.h"
#include "controller/ledger/pg_priv.h"
#include "drive.h"

#define T0 INT64_C(1795255200000)
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static struct answer {
	bool came;
	enum ledger_outcome o;
	struct buf rows; /* "0 1 Succeeded 60 created 10; ..." in seconds from T0 */
} answer;

static void put_row(struct buf *out, const struct ledger_outcome_row *r)
{
	static const char *const outcomes[] = {"goes on", "Succeeded", "Failed", "Deleted"};
	buf_printf(out, "%s%zu.%d %s", out->len ? "; " : "", r->name,
		r->uid.byte[14] << 8 | r->uid.byte[15], outcomes[r->outcome]);
	if (r->ended_ms)
		buf_printf(out, " %lld", (long long)(r->ended_ms - T0) / 1000);
	if (r->created_ms)
		buf_printf(out, " created %lld", (long long)(r->created_ms - T0) / 1000);
	if (r->held)
		buf_puts(out, " held");
}

static void on_answer(const struct pg_answer *a, void *ctx)
{
	(void)ctx;
	assert_false(answer.came);
	answer.came = true;
	answer.o = a->outcome;
	buf_reset(&answer.rows);
	for (size_t i = 0; i < a->n; i++)
		put_row(&answer.rows, &a->outcomes[i]);
}

static struct pg *reader(struct ev_loop *loop, const char *cell)
{
	struct pg_options o = {F.conninfo, cell, "aside", 1, .idle_ms = 300};
	struct pg *x = NULL;
	assert_int_equal(pg_new(loop, &o, &x, NULL), 0);
	return x;
}

static const char *asked(
	struct ev_loop *loop, struct pg *x, const struct ledger_job_name *names, size_t n)
{
	answer.came = false;
	pg_outcomes(x, names, n, &(struct pg_asker){on_answer, NULL, 1});
	assert_false(answer.came); /* never from inside the call */
	while (!answer.came)
		ev_run(loop, EVRUN_ONCE);
	return answer.o == LEDGER_DONE ? buf_text(&answer.rows) : "lost";
}

/* ---- runs ------------------------------------------------------------------------------------ */

static struct ledger_op op(enum ledger_kind kind, int job, int attempt, int64_t at_s)
{
	struct ledger_op o = {.kind = kind,
		.attempt = attempt,
		.at_ms = T0 + at_s * 1000,
		.reason = "Preempted",
		.actor = "test"};
	o.uid.byte[14] = (uint8_t)(job >> 8);
	o.uid.byte[15] = (uint8_t)job;
	return o;
}

static struct ledger_op reserve(
	int job, const char *ns, const char *name, int attempt, int64_t at_s)
{
	static const struct quota_line line[] = {{"cq/a", "spot", "cpu", 1}};
	struct ledger_op o = op(LEDGER_RESERVE, job, attempt, at_s);
	o.ns = ns;
	o.name = name;
	o.clusterqueue = "a";
	o.localqueue = "main";
	o.created_ms = T0 + job * 1000;
	o.lines = line;
	o.nlines = 1;
	return o;
}

static struct ledger_op release(
	int job, int attempt, int64_t at_s, const char *reason, enum ledger_job_outcome outcome)
{
	struct ledger_op o = op(LEDGER_RELEASE, job, attempt, at_s);
	o.reason = reason;
	o.outcome = outcome;
	return o;
}

static void do_all(struct drive *d, int64_t e, const struct ledger_op *ops, size_t n)
{
	assert_int_equal(drive_batch(d, e, ops, n), LEDGER_DONE);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(d->results[i].verdict, LEDGER_APPLIED);
}

static void ran(struct drive *d, int64_t e, int job, const char *ns, const char *name, int attempt,
	int64_t at_s, const char *reason, enum ledger_job_outcome outcome)
{
	struct ledger_op ops[] = {reserve(job, ns, name, attempt, at_s),
		op(LEDGER_COMMIT, job, attempt, at_s),
		release(job, attempt, at_s + 30, reason, outcome)};
	do_all(d, e, ops, 3);
}

static int64_t lead(struct drive *d, const char *cell)
{
	static const struct quota_line row[] = {{"cq/a", "spot", "cpu", 1000}};
	drive_start(d, &F, cell, "me");
	drive_until_up(d);
	int64_t e = drive_lead(d);
	struct ledger_op ceiling = {.kind = LEDGER_CEILING,
		.at_ms = T0,
		.reason = "",
		.actor = "me",
		.lines = row,
		.nlines = 1};
	do_all(d, e, &ceiling, 1);
	return e;
}

static void what_became_of_each(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "each");
	ran(&d, e, 1, "a", "prep", 1, 100, "Finished", LEDGER_JOB_SUCCEEDED);
	ran(&d, e, 2, "a", "load", 1, 100, "Failed", LEDGER_JOB_FAILED);
	ran(&d, e, 3, "a", "warm", 1, 100, "Preempted", LEDGER_JOB_GOES_ON);
	ran(&d, e, 4, "b", "prep", 1, 100, "Deleted", LEDGER_JOB_DELETED);
	/* Stopped, and its last pods ended well before they were gone. */
	ran(&d, e, 5, "a", "late", 1, 100, "Preempted", LEDGER_JOB_SUCCEEDED);
	/* Stopped, and later ended. */
	ran(&d, e, 6, "a", "again", 1, 100, "Preempted", LEDGER_JOB_GOES_ON);
	ran(&d, e, 6, "a", "again", 2, 200, "Finished", LEDGER_JOB_SUCCEEDED);
	struct ledger_op runs[] = {reserve(7, "a", "runs", 1, 300), op(LEDGER_COMMIT, 7, 1, 300),
		reserve(8, "a", "starts", 1, 300)};
	do_all(&d, e, runs, 3);
	struct pg *x = reader(d.loop, "each");
	const struct ledger_job_name names[] = {{"a", "prep"}, {"a", "load"}, {"a", "warm"},
		{"b", "prep"}, {"a", "late"}, {"a", "again"}, {"a", "runs"}, {"a", "starts"},
		{"a", "none"}, {"b", "load"}};
	assert_string_equal(asked(d.loop, x, names, COUNT(names)),
		"0.1 Succeeded 130 created 1; 1.2 Failed 130 created 2; 2.3 goes on 130 created 3; "
		"3.4 Deleted 130 created 4; 4.5 Succeeded 130 created 5; "
		"5.6 Succeeded 230 created 6; 6.7 goes on created 7 held");
	struct pg *other = reader(d.loop, "other");
	assert_string_equal(asked(d.loop, other, names, COUNT(names)), "");
	pg_free(other);
	pg_free(x);
	drive_stop(&d);
}

static void a_name_is_used_again(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "again");
	for (int job = 1; job <= 6; job++)
		ran(&d, e, job, "a", "prep", 1, 1000 * job, job % 2 ? "Finished" : "Failed",
			job % 2 ? LEDGER_JOB_SUCCEEDED : LEDGER_JOB_FAILED);
	struct pg *x = reader(d.loop, "again");
	const struct ledger_job_name name = {"a", "prep"};
	assert_string_equal(asked(d.loop, x, &name, 1),
		"0.6 Failed 6030 created 6; 0.5 Succeeded 5030 created 5; 0.4 Failed 4030 created 4; "
		"0.3 Succeeded 3030 created 3");
	pg_free(x);
	drive_stop(&d);
}

/* Its creation is read back with the reservation, by a leader that did not make it. */
static void a_leader_came_in_between(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "between");
	struct ledger_op ops[] = {reserve(1, "a", "prep", 1, 10), op(LEDGER_COMMIT, 1, 1, 10)};
	do_all(&d, e, ops, 2);
	pg_conn_drop(d.pg->conn, "cut by the test");
	drive_until_up(&d);
	struct ledger_op end = release(1, 1, 40, "Finished", LEDGER_JOB_SUCCEEDED);
	struct ledger_op stop = op(LEDGER_STOP, 1, 1, 20);
	stop.reason = "Finished";
	do_all(&d, e, &stop, 1);
	struct pg *x = reader(d.loop, "between");
	const struct ledger_job_name name = {"a", "prep"};
	assert_string_equal(asked(d.loop, x, &name, 1), "0.1 Succeeded 20 created 1 held");
	pg_conn_drop(d.pg->conn, "cut by the test");
	drive_until_up(&d);
	do_all(&d, e, &end, 1);
	assert_string_equal(asked(d.loop, x, &name, 1), "0.1 Succeeded 20 created 1");
	pg_free(x);
	drive_stop(&d);
}

/* Version 9 led for a while: it writes neither of the new columns, and reads what has them. */
static void version_9_wrote_some(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "older");
	struct ledger_op ops[] = {reserve(1, "a", "prep", 1, 10), op(LEDGER_COMMIT, 1, 1, 10)};
	do_all(&d, e, ops, 2);
	pg_fixture_sql(&F, "UPDATE sluice.hold SET created_at = NULL WHERE cell = 'older'");
	pg_fixture_sql(&F,
		"INSERT INTO sluice.segment (cell, job_uid, attempt, ns, name, clusterqueue, "
		"localqueue, started_at, stopping_at, stopped_at, reason, actor, lost_ms, lines, "
		"owner, labels, plan, currency, price, cost_micro, estimated) SELECT cell, job_uid, "
		"attempt, ns, name, clusterqueue, localqueue, started_at, NULL, started_at + "
		"interval '20 s', 'Failed', 'older', 0, lines, owner, labels, NULL, NULL, NULL, "
		"NULL, false FROM sluice.hold WHERE cell = 'older'");
	pg_fixture_sql(&F, "DELETE FROM sluice.hold WHERE cell = 'older'");
	struct pg *x = reader(d.loop, "older");
	const struct ledger_job_name name = {"a", "prep"};
	assert_string_equal(asked(d.loop, x, &name, 1), "0.1 Failed 30");
	pg_free(x);
	drive_stop(&d);
}

static void a_connection_is_made_and_closed(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "idle");
	ran(&d, e, 1, "a", "prep", 1, 100, "Finished", LEDGER_JOB_SUCCEEDED);
	struct pg *x = reader(d.loop, "idle");
	const struct ledger_job_name name = {"a", "prep"};
	static const char count[] =
		"SELECT count(*) FROM pg_stat_activity WHERE application_name = 'aside'";
	assert_string_equal(pg_fixture_sql(&F, count), "0");
	assert_string_equal(asked(d.loop, x, &name, 1), "0.1 Succeeded 130 created 1");
	assert_string_equal(pg_fixture_sql(&F, count), "1");
	/* Nobody asks for a while. */
	while (strcmp(pg_fixture_sql(&F, count), "0") != 0)
		ev_run(d.loop, EVRUN_NOWAIT);
	assert_string_equal(asked(d.loop, x, &name, 1), "0.1 Succeeded 130 created 1");
	/* Cut off: it says so, and comes back. */
	pg_fixture_sql(&F, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
			   "application_name = 'aside'");
	assert_string_equal(asked(d.loop, x, &name, 1), "lost");
	while (strcmp(asked(d.loop, x, &name, 1), "lost") == 0)
		ev_run(d.loop, EVRUN_ONCE);
	assert_string_equal(buf_text(&answer.rows), "0.1 Succeeded 130 created 1");
	pg_free(x);
	drive_stop(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_became_of_each),
		cmocka_unit_test(a_name_is_used_again),
		cmocka_unit_test(a_leader_came_in_between),
		cmocka_unit_test(version_9_wrote_some),
		cmocka_unit_test(a_connection_is_made_and_closed),
	};
	buf_init(&answer.rows, 1 << 16);
	int failed = cmocka_run_group_tests(tests, drive_open_group, drive_close_group);
	buf_done(&answer.rows);
	return failed;
}
