/* Those who share the background's connection: what goes wrong with one keeps no other from its work. */
#include <setjmp.h>
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
#include "controller/ledger/retention.h"
#include "controller/overcommit/history.h"
#include "drive.h"

#define NOW INT64_C(1795255200000)
#define MINUTE 60000

/* Somebody who asks about a Job, and again as soon as there is an answer. */
struct insistent {
	struct pg *pg;
	int answers, too_long, lost;
	char why[512];
};

struct office {
	struct ev_loop *loop;
	struct pg *pg;
	struct retention *retention;
	struct history *history;
	struct insistent person;
	int64_t now_ms;
};

static void ask_about_a_job(struct insistent *x);

static void on_runs(const struct pg_answer *a, void *ctx)
{
	struct insistent *x = ctx;
	x->answers++;
	x->too_long += a->too_long;
	x->lost += a->outcome == LEDGER_LOST && !a->too_long;
	snprintf(x->why, sizeof(x->why), "%s", a->why ? a->why : "");
	if (x->answers < 1000)
		ask_about_a_job(x);
}

static void ask_about_a_job(struct insistent *x)
{
	const struct past_question q = {
		.kind = PAST_RUNS, .ns = "team", .job = "train", .to_ms = INT64_MAX};
	pg_past(x->pg, &q, 10, &(struct pg_asker){on_runs, x, 0});
}

static int64_t epoch_of(const char *cell)
{
	return atoll(pg_fixture_sql(&F,
		"INSERT INTO sluice.lease (cell, epoch, session, holder, expires_at) "
		"VALUES ('%s', 4, 1, 'me', now() + interval '1 hour') RETURNING epoch",
		cell));
}

static void open_office(struct office *x, const char *cell)
{
	struct pg_options o = {F.conninfo, cell, "background", 3, .idle_ms = 60000};
	*x = (struct office){.loop = ev_loop_new(EVFLAG_AUTO), .now_ms = NOW};
	assert_int_equal(pg_new(x->loop, &o, &x->pg, NULL), 0);
	x->retention = retention_new(
		&(struct retention_options){.pg = x->pg, .keep_ms = RETENTION_LEAST_MS});
	retention_set_pace(x->retention, 0, 10);
	x->history = history_new(&(struct history_options){.pg = x->pg});
	x->person.pg = x->pg;
	assert_int_equal(epoch_of(cell), 4);
	alarm(300);
}

static void close_office(struct office *x)
{
	pg_free(x->pg);
	retention_free(x->retention);
	history_free(x->history);
	ev_loop_destroy(x->loop);
}

static void on_timer(struct ev_loop *loop, ev_timer *w, int events)
{
	(void)loop, (void)w, (void)events;
}

/* A minute by their clocks, with a sample of a node. */
static void turn(struct office *x)
{
	ev_timer t;
	ev_timer_init(&t, on_timer, 0.002, 0.);
	ev_timer_start(x->loop, &t);
	ev_run(x->loop, EVRUN_ONCE);
	ev_timer_stop(x->loop, &t);
	x->now_ms += MINUTE;
	retention_tick(x->retention, 4, x->now_ms, x->now_ms, x->now_ms);
	history_note(x->history, "n1", x->now_ms, (struct load){1, 1});
	history_tick(x->history, 4, x->now_ms);
}

static void until_rows(struct office *x, const char *table, const char *cell)
{
	while (*pg_fixture_sql(&F, "SELECT count(*) > 0 FROM sluice.%s WHERE cell = '%s'", table,
		       cell) != 't')
		turn(x);
}

static int backend(void)
{
	return atoi(pg_fixture_sql(&F, "SELECT coalesce(min(pid), 0) FROM pg_stat_activity "
				       "WHERE application_name = 'background'"));
}

static PGconn *keep_segments(void)
{
	PGconn *keeper = PQconnectdb(F.conninfo);
	PQclear(PQexec(keeper, "BEGIN; LOCK TABLE sluice.segment"));
	return keeper;
}

/* Until the server gives up a statement that waits for a lock, the next one is not sent; then each has its
 * turn, however often the first one asks. */
static void a_slow_question_keeps_no_other_from_its_work(void **state)
{
	(void)state;
	struct office x;
	open_office(&x, "slow");
	until_rows(&x, "node_history", "slow"); /* connected */
	pg_fixture_sql(&F, "DELETE FROM sluice.node_history");
	pg_set_patience(x.pg, 2000); /* of which a fifth is the server's, to say so */
	PGconn *keeper = keep_segments();
	ask_about_a_job(&x.person);
	until_rows(&x, "node_history", "slow");
	assert_true(x.person.too_long > 0);
	assert_non_null(strstr(x.person.why, "runs: canceling statement"));
	assert_int_equal(x.person.lost, 0); /* the connection stays */
	PQfinish(keeper);
	until_rows(&x, "retention", "slow");
	close_office(&x);
}

/* As of a schema that is older than this program, while another one leads. */
static void what_one_lacks_harms_no_other(void **state)
{
	(void)state;
	struct office x;
	open_office(&x, "older");
	pg_fixture_sql(&F, "ALTER TABLE sluice.node_history RENAME TO away");
	ask_about_a_job(&x.person);
	until_rows(&x, "retention", "older");
	while (x.person.answers < 100)
		turn(&x);
	assert_int_equal(x.person.lost, 0);
	pg_fixture_sql(&F, "ALTER TABLE sluice.away RENAME TO node_history");
	until_rows(&x, "node_history", "older");
	assert_int_equal(x.person.lost, 0);
	close_office(&x);
}

/* A primary that was demoted while we are connected: another one is looked for. */
static void a_server_that_takes_no_writes_is_left(void **state)
{
	(void)state;
	struct office x;
	open_office(&x, "demoted");
	until_rows(&x, "node_history", "demoted");
	int before = backend();
	pg_fixture_sql(&F, "ALTER SYSTEM SET default_transaction_read_only = on");
	pg_fixture_sql(&F, "SELECT pg_reload_conf()");
	while (backend() == before)
		turn(&x);
	pg_fixture_sql(&F, "BEGIN; SET TRANSACTION READ WRITE; DELETE FROM sluice.node_history; "
			   "COMMIT");
	pg_fixture_sql(&F, "ALTER SYSTEM RESET default_transaction_read_only");
	pg_fixture_sql(&F, "SELECT pg_reload_conf()");
	until_rows(&x, "node_history", "demoted");
	close_office(&x);
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
		TEST(a_slow_question_keeps_no_other_from_its_work),
		TEST(what_one_lacks_harms_no_other),
		TEST(a_server_that_takes_no_writes_is_left),
	};
	return cmocka_run_group_tests(tests, drive_open_group, drive_close_group);
}
