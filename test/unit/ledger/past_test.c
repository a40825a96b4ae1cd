/* The teller against Postgres: it connects when it is asked, and says why when it cannot. */
#include "controller/past/past_questions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libpq-fe.h>

#include <cmocka.h>
#include <ev.h>

#include "controller/ledger/sql.h"
#include "drive.h"
#include "controller/gate/gate.h"

#define NOW INT64_C(1795255200000)

struct told {
	int times;
	char body[8192], sentence[1024];
	struct buf *whole; /* gets the body, however long; NULL: its beginning is enough */
};

static void on_told(int what, const struct buf *body, const char *sentence, void *ctx)
{
	struct told *t = ctx;
	(void)what;
	t->times++;
	if (t->whole)
		buf_puts(t->whole, body ? buf_text(body) : "");
	snprintf(t->body, sizeof(t->body), "%s", body ? buf_text(body) : "");
	snprintf(t->sentence, sizeof(t->sentence), "%s", sentence ? sentence : "");
}

/* Every look at the clock, it is this much later: so long an answer takes. */
static int64_t look_takes_us, slow_us;

static int64_t slow_clock_us(void)
{
	return slow_us += look_takes_us;
}

struct bank {
	struct ev_loop *loop;
	struct queue *queue;
	struct gate *gate;
	struct pg *pg[2]; /* for what is quick, and for what is not */
	struct past_questions *past;
};

static void open_bank(struct bank *b, const char *conninfo, int64_t idle_ms)
{
	struct gate_options g = {.identity = "me", .lease_ms = 15000, .seed = 1};
	b->loop = ev_loop_new(EVFLAG_AUTO);
	b->queue = queue_new();
	b->gate = gate_new(&g, b->queue);
	struct pg_options pg = {conninfo, "teller", "me", 7, .idle_ms = idle_ms};
	for (int i = 0; i < 2; i++)
		assert_int_equal(pg_new(b->loop, &pg, &b->pg[i], NULL), 0);
	struct past_questions_options o = {
		.quick = b->pg[0], .slow = b->pg[1], .gate = b->gate, .clock_us = slow_clock_us};
	b->past = past_questions_new(b->loop, &o);
	alarm(900);
}

static void close_bank(struct bank *b)
{
	for (int i = 0; i < 2; i++)
		pg_free(b->pg[i]);
	past_questions_free(b->past);
	gate_free(b->gate);
	queue_free(b->queue);
	ev_loop_destroy(b->loop);
}

static int ask_for(struct bank *b, const struct past_words *w, const void *owner, struct told *t,
	struct err *e)
{
	struct past_asker who = {on_told, t, 0, owner};
	return past_questions_ask(b->past, w, NOW, &who, e);
}

static void ask(struct bank *b, const char *by, struct told *t)
{
	struct err e = {""};
	struct past_words w = {.by = by, .since = "30d"};
	assert_int_equal(ask_for(b, &w, NULL, t, &e), 0);
}

static int ask_of(struct bank *b, const char *ns, struct told *t, struct err *e)
{
	struct past_words w = {.ns = ns};
	return ask_for(b, &w, NULL, t, e);
}

/* The question is t's, and none of the others. */
static void ask_as_its_own(struct bank *b, struct told *t)
{
	struct err e = {""};
	assert_int_equal(ask_for(b, &(struct past_words){0}, t, t, &e), 0);
}

static void until_told(struct bank *b, const struct told *t, int times)
{
	while (t->times < times)
		ev_run(b->loop, EVRUN_ONCE);
}

/* Postgres sees a moment later that one was closed. */
static void until_connections(int n)
{
	char wanted[12];
	snprintf(wanted, sizeof(wanted), "%d", n);
	while (strcmp(pg_fixture_sql(&F, "SELECT count(*) FROM pg_stat_activity WHERE "
					 "application_name = 'me'"),
		       wanted) != 0)
		usleep(10000);
}

static void it_answers_from_the_ledger(void **state)
{
	(void)state;
	struct bank b;
	struct told one = {0}, two = {0};
	pg_fixture_sql(&F,
		"INSERT INTO sluice.segment (cell, job_uid, attempt, ns, name, clusterqueue, "
		"started_at, stopped_at, lines, currency, cost_micro) SELECT 'teller', "
		"gen_random_uuid(), 1, 'team', 'train', 'batch', '2026-11-20 10:00Z', "
		"'2026-11-20 11:00Z', '[]', 'EUR', 500000 FROM generate_series(1, 3)");
	open_bank(&b, F.conninfo, 1);
	ask(&b, "queue", &one);
	ask(&b, "namespace", &two);
	assert_int_equal(one.times, 0); /* it is not connected yet */
	until_told(&b, &one, 1);
	until_told(&b, &two, 1);
	assert_non_null(strstr(one.body, "\"key\":\"batch\",\"runs\":3,"));
	assert_non_null(strstr(one.body, "\"cost\":\"1.50\""));
	assert_non_null(strstr(one.body, "\"leading\":false"));
	assert_non_null(strstr(two.body, "\"key\":\"team\""));
	/* Nobody asks for a while: the connection is closed, and made again. */
	ev_run(b.loop, 0);
	until_connections(0);
	ask(&b, "queue", &one);
	until_told(&b, &one, 2);
	assert_non_null(strstr(one.body, "\"cost\":\"1.50\""));
	close_bank(&b);
}

/* A Job that was preempted for one of another namespace, ran again with twice as many pods for its second
 * half, and one that runs. */
static void put_a_past(void)
{
	pg_fixture_sql(&F,
		"INSERT INTO sluice.segment (cell, job_uid, attempt, ns, name, clusterqueue, localqueue, "
		"created_at, started_at, stopping_at, stopped_at, reason, actor, lost_ms, lines, "
		"submitted_by, currency, cost_micro, job_outcome) VALUES "
		"('teller', '00000000-0000-4000-8000-000000000001', 1, 'past', 'train', 'batch', 'main', "
		"'2026-11-20 10:00Z', '2026-11-20 10:01Z', '2026-11-20 11:00Z', '2026-11-20 11:01Z', "
		"'Preempted', 'me', 7200000, "
		"'[[\"cq/batch\",\"spot\",\"cpu\",2000],[\"cq/batch\",\"spot\",\"x.com/gpu\",1]]', 'alice', "
		"'EUR', 1500000, NULL), "
		"('teller', '00000000-0000-4000-8000-000000000001', 2, 'past', 'train', 'batch', 'main', "
		"'2026-11-20 10:00Z', '2026-11-20 11:02Z', NULL, '2026-11-20 13:02Z', "
		"'Finished', 'job-controller', 0, '[[\"cq/batch\",\"spot\",\"cpu\",2000]]', 'alice', "
		"'EUR', 2250000, 'Succeeded')");
	pg_fixture_sql(&F,
		"INSERT INTO sluice.transfer (cell, job_uid, attempt, kind, seq, epoch, at, lines, "
		"source, target, reason, actor, lost_ms, preemptor) VALUES "
		"('teller', '00000000-0000-4000-8000-000000000001', 1, 'RESERVE', 0, 1, "
		"'2026-11-20 10:00:59Z', '[]', NULL, 'pending', NULL, NULL, NULL, NULL), "
		"('teller', '00000000-0000-4000-8000-000000000001', 1, 'STOP', 0, 1, "
		"'2026-11-20 11:00Z', '[]', 'posted', 'releasing', 'Preempted', 'me', 0, 'boss/urgent'), "
		"('teller', '00000000-0000-4000-8000-000000000001', 2, 'GROW', 1073741825, 1, "
		"'2026-11-20 12:02Z', '[[\"cq/batch\",\"spot\",\"cpu\",2000]]', NULL, 'posted', NULL, NULL, "
		"NULL, NULL)");
	pg_fixture_sql(&F,
		"INSERT INTO sluice.hold (cell, job_uid, attempt, state, ns, name, clusterqueue, "
		"localqueue, created_at, reserved_at, started_at, lines) VALUES ('teller', "
		"'00000000-0000-4000-8000-000000000002', 1, 'posted', 'past', 'goes-on', 'batch', "
		"'main', '2026-11-21 09:00Z', '2026-11-21 09:00Z', '2026-11-21 09:00:10Z', "
		"'[[\"cq/batch\",\"spot\",\"cpu\",1000]]')");
}

static void ask_rows(struct bank *b, struct past_words w, struct told *t)
{
	struct err e = {""};
	int times = t->times;
	assert_int_equal(ask_for(b, &w, NULL, t, &e), 0);
	until_told(b, t, times + 1);
	assert_string_equal(t->sentence, "");
}

static void assert_has(const struct told *t, const char *words)
{
	if (!strstr(t->body, words))
		fail_msg("no %s in %s", words, t->body);
}

static void each_run_is_told(void **state)
{
	(void)state;
	struct bank b;
	struct told t = {0};
	put_a_past();
	open_bank(&b, F.conninfo, 1000);
	ask_rows(&b, (struct past_words){.ns = "past", .job = "train", .kind = PAST_RUNS}, &t);
	const char *second = strstr(t.body, "\"attempt\": 2"),
		   *first = strstr(t.body, "\"attempt\": 1");
	assert_true(second && first && second < first); /* the newest first */
	assert_has(&t, "\"queuedAt\": \"2026-11-20T10:00:00.000Z\"");
	assert_has(&t, "\"reservedAt\": \"2026-11-20T10:00:59.000Z\"");
	assert_has(&t, "\"stoppingAt\": \"2026-11-20T11:00:00.000Z\"");
	assert_has(&t, "\"waitSeconds\": 60.000");
	assert_has(&t, "\"queuedAt\": \"2026-11-20T11:01:00.000Z\""); /* the end of the first */
	assert_has(&t, "\"cpuHours\": 6.000000");		      /* 2 h of 2, 1 h of 2 more */
	assert_has(&t, "\"gpuHours\": 1.000000");
	assert_has(&t, "\"lostSeconds\": 7200.000");
	assert_has(&t, "\"cost\": \"1.50\"");
	assert_has(&t, "\"outcome\": \"Succeeded\"");
	assert_has(&t, "\"holds\": {\"cpu\": 2, \"x.com/gpu\": 1}");
	assert_null(strstr(t.body, "boss/urgent")); /* of another namespace */
	assert_null(strstr(t.body, "goes-on"));
	ask_rows(&b, (struct past_words){.submitter = "alice", .kind = PAST_RUNS}, &t);
	assert_has(&t, "\"preemptor\": \"boss/urgent\"");
	ask_rows(&b, (struct past_words){.ns = "past", .since = "5h", .kind = PAST_RUNS}, &t);
	assert_has(&t, "\"job\": \"goes-on\"");
	assert_has(&t, "\"state\": \"Running\"");
	assert_null(strstr(t.body, "\"job\": \"train\"")); /* it had ended before */
	close_bank(&b);
}

static void a_report_says_how_long_jobs_waited_and_how_they_ended(void **state)
{
	(void)state;
	struct bank b;
	struct told t = {0};
	open_bank(&b, F.conninfo, 1000);
	ask_rows(&b, (struct past_words){.ns = "past", .by = "user", .kind = PAST_REPORT}, &t);
	assert_has(&t, "\"key\": \"alice\"");
	assert_has(&t, "\"ended\": {\"Finished\": 1, \"Preempted\": 1}");
	assert_has(&t, "\"jobs\": 1");
	assert_has(&t, "\"starts\": 2");
	assert_has(&t, "\"waitP50Seconds\": 60.000");
	assert_has(&t, "\"cpuHours\": 8.000000");
	assert_has(&t, "\"gpuHours\": 1.000000");
	assert_has(&t, "\"cost\": \"3.75\"");
	assert_has(&t, "\"running\": 1");
	assert_has(&t, "\"totals\":[{");
	close_bank(&b);
}

/* How often that stands there, in rows or in totals. */
static void assert_times(const struct told *t, const char *words, int times)
{
	const char *body = t->whole ? buf_text(t->whole) : t->body;
	int n = 0;
	for (const char *at = body; (at = strstr(at, words)); at += strlen(words))
		n++;
	if (n != times)
		fail_msg("%d times %s in %s", n, words, t->body);
}

/* One of the queue's runs goes on, and has no bill yet. */
static void a_report_has_each_key_and_the_total_once(void **state)
{
	(void)state;
	struct bank b;
	struct told t = {0};
	const struct past_words by_queue = {.ns = "past", .by = "queue", .kind = PAST_REPORT};
	open_bank(&b, F.conninfo, 1000);
	ask_rows(&b, by_queue, &t);
	assert_times(&t, "\"key\": \"batch\"", 1);
	assert_times(&t, "\"key\": null", 1); /* the total */
	assert_times(&t, "\"starts\": 3", 2);
	assert_times(&t, "\"running\": 1", 2);
	assert_times(&t, "\"cost\": \"3.75\"", 2);
	/* Of users the one of the run that goes on is not known, and has no bills: a row of its own. */
	ask_rows(&b, (struct past_words){.ns = "past", .by = "user", .kind = PAST_REPORT}, &t);
	assert_times(&t, "\"starts\": 2", 1);
	assert_times(&t, "\"starts\": 1", 1);
	assert_times(&t, "\"starts\": 3", 1);
	/* Another currency: the run that goes on is of neither. */
	pg_fixture_sql(&F,
		"INSERT INTO sluice.segment (cell, job_uid, attempt, ns, name, clusterqueue, "
		"started_at, stopped_at, lines, currency, cost_micro) VALUES ('teller', "
		"gen_random_uuid(), 1, 'past', 'abroad', 'batch', '2026-11-20 10:00Z', "
		"'2026-11-20 11:00Z', '[]', 'USD', 1000000)");
	ask_rows(&b, by_queue, &t);
	assert_times(&t, "\"key\": \"batch\"", 3);
	assert_times(&t, "\"starts\": 2", 2);
	assert_times(&t, "\"currency\": null", 2);
	pg_fixture_sql(&F, "DELETE FROM sluice.segment WHERE name = 'abroad'");
	close_bank(&b);
}

/* By owner a key is a Job, and there are as many keys as runs: their number squared is not what it takes. */
static void a_report_of_many_keys_is_answered(void **state)
{
	(void)state;
	struct bank b;
	struct told t = {0};
	pg_fixture_sql(&F,
		"INSERT INTO sluice.segment (cell, job_uid, attempt, ns, name, clusterqueue, started_at, "
		"stopped_at, lines, reason, currency, cost_micro) SELECT 'teller', gen_random_uuid(), 1, 'many', "
		"'job-' || i, 'many', '2026-11-20 10:00Z', '2026-11-20 11:00Z', '[]', 'Finished', "
		"CASE WHEN i %% 2 = 0 THEN 'EUR' WHEN i = 9 THEN 'USD' END, "
		"CASE WHEN i %% 2 = 0 OR i = 9 THEN i END FROM generate_series(1, 10000) AS i");
	open_bank(&b, F.conninfo, 1000);
	ask_rows(&b, (struct past_words){.ns = "many", .by = "owner", .kind = PAST_REPORT}, &t);
	/* The totals, of three kinds, are in what is cut off here: the dearest is the first. */
	assert_has(&t, "\"rows\":[{\"key\": \"many/job-10000\"");
	assert_has(&t, "\"ended\": {\"Finished\": 1}");
	pg_fixture_sql(&F, "DELETE FROM sluice.segment WHERE ns = 'many'");
	close_bank(&b);
}

/* Costs are read from the sums of months, too, which are locked here. */
static void one_job_does_not_wait_for_a_report(void **state)
{
	(void)state;
	struct bank b;
	struct told slow = {0}, quick = {0};
	PGconn *keeper = PQconnectdb(F.conninfo);
	PQclear(PQexec(keeper, "BEGIN; LOCK TABLE sluice.segment_month"));
	open_bank(&b, F.conninfo, 1);
	ask(&b, "queue", &slow);
	ask_rows(&b, (struct past_words){.ns = "past", .job = "train", .kind = PAST_RUNS}, &quick);
	assert_has(&quick, "\"attempt\": 2");
	assert_int_equal(slow.times, 0);
	PQfinish(keeper);
	until_told(&b, &slow, 1);
	assert_string_equal(slow.sentence, "");
	ev_run(b.loop, 0); /* both are closed */
	until_connections(0);
	close_bank(&b);
}

/* Runs are found by their end: a day of long ago costs as much as all that has ended since. So it is no
 * question for the connection of those that are quick. */
static void a_day_of_long_ago_is_not_quick(void **state)
{
	(void)state;
	struct bank b;
	struct told slow = {0}, quick = {0};
	struct past_words day = {.kind = PAST_USAGE,
		.clusterqueue = "steps",
		.since = "2020-01-01",
		.until = "2020-01-02"};
	open_bank(&b, F.conninfo, 60000);
	ask_rows(&b, day, &slow);
	until_connections(1);
	ask_rows(&b, (struct past_words){.ns = "past", .job = "train", .kind = PAST_RUNS}, &quick);
	assert_string_equal(pg_fixture_sql(&F, "SELECT count(*) FROM pg_stat_activity WHERE "
					       "application_name = 'me'"),
		"2");
	close_bank(&b);
	until_connections(0);
}

/* In queue `steps`, in the last day before NOW: a run that began before it, with other runs before it and of
 * another queue and cell; one that grew, shrank and held two flavors; one that goes on and has grown; and a
 * reservation that has not started. A SHRINK before the start is in the lines already. */
static void put_held(void)
{
	pg_fixture_sql(&F, "%s",
		"INSERT INTO sluice.segment (cell, job_uid, attempt, ns, name, clusterqueue, started_at, "
		"stopped_at, lines) VALUES "
		"('teller', '00000000-0000-4000-8000-000000000011', 1, 'held', 'before', 'steps', "
		"'2026-11-20 06:00Z', '2026-11-20 10:07:30Z', '[[\"cq/steps\",\"spot\",\"cpu\",2000]]'), "
		"('teller', '00000000-0000-4000-8000-000000000012', 1, 'held', 'sized', 'steps', "
		"'2026-11-20 12:00Z', '2026-11-20 13:00Z', "
		"'[[\"cq/steps\",\"spot\",\"cpu\",1000],[\"cq/steps\",\"fast\",\"x.com/gpu\",1]]'), "
		"('teller', '00000000-0000-4000-8000-000000000013', 1, 'held', 'long-gone', 'steps', "
		"'2026-11-20 06:00Z', '2026-11-20 09:59Z', '[[\"cq/steps\",\"old\",\"cpu\",2000]]'), "
		"('teller', '00000000-0000-4000-8000-000000000014', 1, 'held', 'elsewhere', 'aside', "
		"'2026-11-20 12:00Z', '2026-11-20 13:00Z', '[[\"cq/aside\",\"spot\",\"cpu\",64000]]'), "
		"('other', '00000000-0000-4000-8000-000000000015', 1, 'held', 'cell', 'steps', "
		"'2026-11-20 12:00Z', '2026-11-20 13:00Z', '[[\"cq/steps\",\"spot\",\"cpu\",64000]]')");
	pg_fixture_sql(&F, "%s",
		"INSERT INTO sluice.transfer (cell, job_uid, attempt, kind, seq, epoch, at, source, target, "
		"lines) VALUES "
		"('teller', '00000000-0000-4000-8000-000000000012', 1, 'SHRINK', 1, 1, "
		"'2026-11-20 11:59Z', 'pending', NULL, '[[\"cq/steps\",\"spot\",\"cpu\",500]]'), "
		"('teller', '00000000-0000-4000-8000-000000000012', 1, 'GROW', 2, 1, "
		"'2026-11-20 12:20Z', NULL, 'posted', '[[\"cq/steps\",\"spot\",\"cpu\",3000]]'), "
		"('teller', '00000000-0000-4000-8000-000000000012', 1, 'SHRINK', 3, 1, "
		"'2026-11-20 12:45Z', 'posted', NULL, '[[\"cq/steps\",\"spot\",\"cpu\",1500]]'), "
		"('teller', '00000000-0000-4000-8000-000000000016', 1, 'GROW', 1, 1, "
		"'2026-11-21 09:45Z', NULL, 'posted', '[[\"cq/steps\",\"spot\",\"cpu\",1000]]')");
	pg_fixture_sql(&F, "%s",
		"INSERT INTO sluice.hold (cell, job_uid, attempt, state, ns, name, clusterqueue, reserved_at, "
		"started_at, lines, started_lines) VALUES "
		"('teller', '00000000-0000-4000-8000-000000000016', 1, 'posted', 'held', 'goes-on', 'steps', "
		"'2026-11-21 09:00Z', '2026-11-21 09:30Z', '[[\"cq/steps\",\"spot\",\"cpu\",2000]]', "
		"'[[\"cq/steps\",\"spot\",\"cpu\",1000]]'), "
		"('teller', '00000000-0000-4000-8000-000000000017', 1, 'pending', 'held', 'not-yet', 'steps', "
		"'2026-11-21 09:00Z', NULL, '[[\"cq/steps\",\"spot\",\"cpu\",32000]]', NULL)");
}

/* n times the same figure. */
static void put_figures(struct buf *out, int n, const char *figure)
{
	for (int i = 0; i < n; i++)
		buf_printf(out, "%s%s", out->len > 0 ? ", " : "", figure);
}

static void what_a_queue_held_is_told_step_by_step(void **state)
{
	(void)state;
	struct bank b;
	struct told t = {0};
	struct buf spot, row;
	const struct past_words w = {.clusterqueue = "steps", .kind = PAST_USAGE};
	put_held();
	open_bank(&b, F.conninfo, 1000);
	ask_rows(&b, w, &t);
	assert_has(&t,
		"{\"clusterQueue\":\"steps\",\"from\":\"2026-11-20T10:00:00Z\",\"until\":\"2026-11-21T10:00:00Z\","
		"\"stepSeconds\":900,\"more\":false,\"flavors\":[{");
	buf_init(&spot, 4096);
	buf_init(&row, 4096);
	put_figures(&spot, 1, "1000"); /* 2000 for half of it */
	put_figures(&spot, 7, "0");
	put_figures(&spot, 1, "1000");
	put_figures(&spot, 1, "3000"); /* 1000, and 3000 more from the sixth minute on */
	put_figures(&spot, 1, "4000");
	put_figures(&spot, 1, "2500");
	put_figures(&spot, 82, "0");
	put_figures(&spot, 1, "1000");
	put_figures(&spot, 1, "2000");
	buf_printf(&row, "\"name\": \"spot\", \"units\": [%s], \"resource\": \"cpu\"",
		buf_text(&spot));
	assert_has(&t, buf_text(&row));
	buf_reset(&spot);
	buf_reset(&row);
	put_figures(&spot, 8, "0");
	put_figures(&spot, 4, "1");
	put_figures(&spot, 84, "0");
	buf_printf(&row, "\"name\": \"fast\", \"units\": [%s], \"resource\": \"x.com/gpu\"",
		buf_text(&spot));
	assert_has(&t, buf_text(&row));
	assert_null(strstr(t.body, "\"old\""));
	buf_done(&spot);
	buf_done(&row);
	close_bank(&b);
}

/* The last step is as long as it is: what is held all the time does not fall in it. */
static void the_last_step_is_an_average_of_what_there_is_of_it(void **state)
{
	(void)state;
	struct bank b;
	struct told t = {0};
	struct past_words w = {.clusterqueue = "steps",
		.since = "2026-11-20T12:12:00Z",
		.until = "2026-11-20T12:17:30Z",
		.kind = PAST_USAGE};
	open_bank(&b, F.conninfo, 1000);
	ask_rows(&b, w, &t);
	assert_has(&t, "\"stepSeconds\":60,");
	assert_has(&t, "\"name\": \"spot\", \"units\": [1000, 1000, 1000, 1000, 1000, 1000], ");
	w.until = "2026-11-20T12:20:30Z"; /* it grew with the beginning of the last step */
	ask_rows(&b, w, &t);
	assert_has(&t, "\"units\": [1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 4000], ");
	w.since = "2026-11-20T12:20:20Z";
	ask_rows(&b, w, &t);
	assert_has(&t, "\"name\": \"spot\", \"units\": [4000], ");
	w.clusterqueue = "nothing";
	ask_rows(&b, w, &t);
	assert_has(&t, "\"flavors\":[]}");
	close_bank(&b);
}

/* Checks that the plan of a question begins with the index by the end of runs. */
static void reads_by_end(const char *statement, const char *types, const char *values)
{
	char sql[12000];
	int n = snprintf(sql, sizeof(sql),
		"PREPARE settings (text) AS %s;\nEXECUTE settings ('8000');\n"
		"PREPARE question (%s) AS %s;\n"
		"EXPLAIN (FORMAT JSON) EXECUTE question (%s)",
		SQL_SETTINGS, types, statement, values);
	assert_in_range(n, 1, sizeof(sql) - 1);
	const char *plan = pg_fixture_sql(&F, "%s", sql);
	const char *index = strstr(plan, "\"Index Name\": \"segment_by_end\"");
	const char *cond = index ? strstr(index, "\"Index Cond\": \"((cell = $1) AND ") : NULL;
	const char *end = cond ? strchr(cond, '\n') : NULL;
	const char *by_end = cond ? strstr(cond, "(stopped_at >") : NULL;
	if (!by_end || by_end > end)
		fail_msg("%s", plan);
}

/* Those that ended before are more and more. */
static void no_run_that_had_ended_before_is_read(void **state)
{
	(void)state;
	reads_by_end(SQL_USAGE, "text, int8, int8, text, int8, int8",
		"'teller', 0, 86400000, 'steps', 900000, 1");
	reads_by_end(SQL_SPANS, "text, int8, int8, text, text, int8, int8",
		"'teller', 0, 86400000, '', '', 900000, 1");
}

/* In queue `fold`: a sweep of two quarters of an hour, of which one Job ran twice, one was preempted and
 * one goes on; a Job without an owner, in another currency; a namespace beside; another queue. */
static void put_spans(void)
{
	pg_fixture_sql(&F, "%s",
		"INSERT INTO sluice.segment (cell, job_uid, attempt, ns, name, owner, clusterqueue, started_at, "
		"stopped_at, lines, reason, lost_ms, currency, cost_micro) SELECT 'teller', "
		"('00000000-0000-4000-8000-0000000001' || uid)::uuid, attempt, ns, name, owner, queue, "
		"began::timestamptz, ended::timestamptz, '[]', reason, lost, currency, cost FROM (VALUES "
		"('01', 1, 'red', 'sweep-b', 'sweep-', 'fold', '2026-11-20 12:01Z', '2026-11-20 12:20Z', "
		"'Finished', 0, 'EUR', 1000000), "
		"('02', 1, 'red', 'sweep-a', 'sweep-', 'fold', '2026-11-20 12:02Z', '2026-11-20 12:05Z', "
		"'Finished', 0, 'EUR', 500000), "
		"('02', 2, 'red', 'sweep-a', 'sweep-', 'fold', '2026-11-20 12:10Z', '2026-11-20 12:40Z', "
		"'Finished', 0, 'EUR', 500000), "
		"('03', 1, 'red', 'sweep-c', 'sweep-', 'fold', '2026-11-20 12:03Z', '2026-11-20 12:04Z', "
		"'Preempted', 60000, 'EUR', 250000), "
		"('04', 1, 'red', 'sweep-d', 'sweep-', 'fold', '2026-11-20 12:15Z', '2026-11-20 12:16Z', "
		"'Finished', 0, NULL, NULL), "
		"('05', 1, 'red', 'alone', '', 'fold', '2026-11-20 12:02Z', '2026-11-20 12:03Z', "
		"'Failed', 0, 'USD', 3000000), "
		"('06', 1, 'blue', 'sweep-b', 'sweep-', 'fold', '2026-11-20 12:01Z', '2026-11-20 12:20Z', "
		"'Finished', 0, 'EUR', 1000000), "
		"('07', 1, 'blue', 'gone', 'gone', 'fold', '2026-11-20 06:01Z', '2026-11-20 06:20Z', "
		"'Finished', 0, 'EUR', 1000000), "
		"('08', 1, 'blue', 'beside', 'beside', 'aside', '2026-11-20 12:01Z', '2026-11-20 12:20Z', "
		"'Finished', 0, 'EUR', 1000000)) AS run (uid, attempt, ns, name, owner, queue, began, ended, "
		"reason, lost, currency, cost)");
	pg_fixture_sql(&F,
		"INSERT INTO sluice.hold (cell, job_uid, attempt, state, ns, name, owner, clusterqueue, "
		"reserved_at, started_at, lines) VALUES ('teller', "
		"'00000000-0000-4000-8000-000000000109', 1, 'posted', 'red', 'sweep-e', 'sweep-', 'fold', "
		"'2026-11-20 12:04Z', '2026-11-20 12:04Z', '[]'), ('teller', "
		"'00000000-0000-4000-8000-000000000110', 1, 'pending', 'red', 'not-yet', 'sweep-', 'fold', "
		"'2026-11-20 12:04Z', NULL, '[]')");
}

static void drop_spans(void)
{
	pg_fixture_sql(&F, "DELETE FROM sluice.segment WHERE ns IN ('red', 'blue', 'flood')");
	pg_fixture_sql(&F, "DELETE FROM sluice.hold WHERE ns IN ('red', 'blue', 'flood')");
}

static void alike_runs_are_one_span(void **state)
{
	(void)state;
	struct bank b;
	struct told t = {0};
	struct past_words w = {.clusterqueue = "fold", .kind = PAST_SPANS};
	put_spans();
	open_bank(&b, F.conninfo, 1000);
	ask_rows(&b, w, &t);
	assert_has(&t,
		"{\"asOf\":\"2026-11-21T10:00:00Z\",\"clusterQueue\":\"fold\",\"since\":\"2026-11-20T10:00:00.000Z\",");
	assert_has(&t, "\"more\":false,\"spans\":[{");
	assert_times(&t, "\"from\": ", 6);
	assert_has(&t,
		"{\"job\": \"sweep-b\", \"cost\": \"2.00\", \"from\": \"2026-11-20T12:01:00.000Z\", \"jobs\": 2, "
		"\"runs\": 3, \"sweep\": \"sweep-\", \"until\": \"2026-11-20T12:40:00.000Z\", \"outcome\": \"Finished\", "
		"\"currency\": \"EUR\", \"namespace\": \"red\", \"lostSeconds\": 0.000, \"clusterQueue\": \"fold\"}");
	assert_has(&t, "\"outcome\": \"Preempted\", \"currency\": \"EUR\", \"namespace\": \"red\", "
		       "\"lostSeconds\": 60.000");
	assert_has(
		&t, "{\"job\": \"sweep-d\", \"from\": \"2026-11-20T12:15:00.000Z\", \"jobs\": 1");
	assert_has(&t,
		"{\"job\": \"sweep-e\", \"from\": \"2026-11-20T12:04:00.000Z\", \"jobs\": 1, "
		"\"runs\": 1, \"sweep\": \"sweep-\", \"namespace\": \"red\"");
	assert_has(&t, "\"sweep\": \"alone\"");
	assert_null(strstr(t.body, "not-yet"));
	assert_null(strstr(t.body, "\"gone\""));
	assert_null(strstr(t.body, "aside"));
	/* Of one namespace, nothing of another. */
	w = (struct past_words){.ns = "blue", .kind = PAST_SPANS};
	ask_rows(&b, w, &t);
	assert_times(&t, "\"from\": ", 2);
	assert_null(strstr(t.body, "red"));
	assert_has(&t, "\"clusterQueue\": \"aside\"");
	/* A week's parts are longer: the sweep is one span but for how its runs ended. */
	w.since = "7d", w.ns = "red";
	ask_rows(&b, w, &t);
	assert_has(&t, "\"jobs\": 3, \"runs\": 4");
	close_bank(&b);
	drop_spans();
}

/* Runs that have nothing in common push out no span of another. */
static void a_flood_of_runs_pushes_nobody_out(void **state)
{
	(void)state;
	struct bank b;
	struct buf whole;
	struct told t = {.whole = &whole};
	buf_init(&whole, 4 << 20);
	put_spans();
	pg_fixture_sql(&F,
		"INSERT INTO sluice.segment (cell, job_uid, attempt, ns, name, owner, clusterqueue, started_at, "
		"stopped_at, lines, reason) SELECT 'teller', gen_random_uuid(), 1, 'flood', 'j-' || i, 'j-' || i, "
		"'fold', '2026-11-21 09:00Z', '2026-11-21 09:30Z', '[]', 'Finished' "
		"FROM generate_series(1, 5000) AS i");
	open_bank(&b, F.conninfo, 1000);
	ask_rows(&b, (struct past_words){.kind = PAST_SPANS}, &t);
	assert_has(&t, "\"more\":true");
	assert_times(&t, "\"from\": ", 2000);
	assert_times(&t, "\"namespace\": \"red\"", 5);
	assert_times(&t, "\"namespace\": \"blue\"", 2);
	close_bank(&b);
	buf_done(&whole);
	drop_spans();
}

static void wrong_words_are_refused_at_once(void **state)
{
	(void)state;
	struct bank b;
	struct err e = {""};
	struct past_words w = {.by = "colour"};
	struct told t = {0};
	open_bank(&b, F.conninfo, 1);
	assert_int_equal(ask_for(&b, &w, NULL, &t, &e), ERR_INVALID);
	assert_non_null(strstr(e.text, "\"colour\""));
	assert_int_equal(t.times, 0);
	close_bank(&b);
}

/* Again and again, not only the first time. */
static void it_says_why_when_the_ledger_is_away(void **state)
{
	(void)state;
	struct bank b;
	struct told t = {0};
	open_bank(&b, "host=/nowhere dbname=none", 60000);
	for (int i = 1; i <= 3; i++) {
		ask(&b, "queue", &t);
		until_told(&b, &t, i);
		assert_string_equal(t.body, "");
		assert_non_null(strstr(t.sentence, "Postgres is down"));
		assert_null(strstr(t.sentence, "/nowhere")); /* where it is, is for the log */
	}
	close_bank(&b);
}

static void too_many_are_turned_away(void **state)
{
	(void)state;
	struct bank b;
	struct told t[64] = {{0}};
	struct err e = {""};
	char ns[24];
	open_bank(&b, F.conninfo, 1);
	for (int i = 0; i < 32; i++)
		ask(&b, "queue", &t[i]);
	assert_int_equal(ask_of(&b, NULL, &t[0], &e), ERR_LIMIT);
	assert_non_null(strstr(e.text, "all namespaces"));
	for (int i = 32; i < 64; i++) { /* there is room for those of one */
		snprintf(ns, sizeof(ns), "team-%d", i);
		assert_int_equal(ask_of(&b, ns, &t[i], &e), 0);
	}
	assert_int_equal(ask_of(&b, "team", &t[0], &e), ERR_LIMIT);
	assert_non_null(strstr(e.text, "too many"));
	assert_int_equal(t[0].times, 0);
	until_told(&b, &t[0], 1);
	close_bank(&b); /* the others hear nothing any more */
}

/* The questions of one tenant do not fill it for the others. */
static void few_of_one_namespace_at_a_time(void **state)
{
	(void)state;
	struct bank b;
	struct told t[6] = {{0}};
	struct err e = {""};
	open_bank(&b, F.conninfo, 1);
	for (int i = 0; i < 4; i++)
		assert_int_equal(ask_of(&b, "team", &t[i], &e), 0);
	assert_int_equal(ask_of(&b, "team", &t[4], &e), ERR_LIMIT);
	assert_non_null(strstr(e.text, "namespace team "));
	assert_int_equal(ask_of(&b, "other", &t[4], &e), 0);
	assert_int_equal(ask_of(&b, NULL, &t[5], &e), 0);
	for (int i = 0; i < 6; i++)
		until_told(&b, &t[i], 1);
	assert_non_null(strstr(t[0].body, "\"namespace\":\"team\""));
	assert_null(strstr(t[5].body, "\"namespace\":"));
	assert_int_equal(ask_of(&b, "team", &t[0], &e), 0); /* there is room again */
	until_told(&b, &t[0], 2);
	close_bank(&b);
}

static double wait_of_second(struct bank *b, struct told t[3])
{
	struct err e = {""};
	for (int i = 0; i < 3; i++)
		assert_int_equal(ask_of(b, "team", &t[i], &e), 0);
	until_told(b, &t[0], 1);
	double first_s = ev_time();
	assert_int_equal(t[1].times + t[2].times, 0); /* the oldest comes first, and alone */
	until_told(b, &t[1], 1);
	assert_int_equal(t[2].times, 0);
	return ev_time() - first_s;
}

/* However often costs are asked for: the loop that starts Jobs has ten times as long for the rest. */
static void an_answer_is_followed_by_a_rest(void **state)
{
	(void)state;
	struct bank b;
	struct told t[3] = {{0}};
	look_takes_us = 20000;
	open_bank(&b, F.conninfo, 60000);
	assert_true(wait_of_second(&b, t) >= 0.19);
	until_told(&b, &t[2], 1);
	close_bank(&b);
	look_takes_us = 0;
}

/* Who asks four times at once keeps nobody waiting for more than the one under way and one of the others. */
static void namespaces_take_turns(void **state)
{
	(void)state;
	struct bank b;
	struct told greedy[4] = {{0}}, modest = {0}, all = {0};
	struct err e = {""};
	look_takes_us = 1000;
	open_bank(&b, F.conninfo, 60000);
	for (int i = 0; i < 4; i++)
		assert_int_equal(ask_of(&b, "team", &greedy[i], &e), 0);
	assert_int_equal(ask_of(&b, "other", &modest, &e), 0);
	assert_int_equal(ask_of(&b, NULL, &all, &e), 0);
	until_told(&b, &all, 1);
	assert_int_equal(modest.times, 1);
	assert_int_equal(greedy[0].times, 1); /* it was asked at once, before the others came */
	assert_int_equal(greedy[2].times + greedy[3].times, 0);
	for (int i = 1; i < 4; i++)
		until_told(&b, &greedy[i], 1);
	close_bank(&b);
	look_takes_us = 0;
}

/* Its answer is of no use to anybody, and the next question is asked all the same. */
static void a_question_that_was_forgotten_holds_up_none(void **state)
{
	(void)state;
	struct bank b;
	struct told gone = {0}, next = {0};
	open_bank(&b, F.conninfo, 60000);
	ask_as_its_own(&b, &gone);
	ask(&b, "queue", &next);
	until_told(&b, &next, 1);
	ask_as_its_own(&b, &gone);
	past_questions_forget(b.past, &gone);
	ask(&b, "queue", &next);
	until_told(&b, &next, 2);
	assert_int_equal(gone.times, 1);
	close_bank(&b);
}

/* One port closes: its questions are forgotten, those of the other are answered. */
static void an_asker_that_goes_is_told_nothing(void **state)
{
	(void)state;
	struct bank b;
	struct told gone = {0}, stays = {0};
	open_bank(&b, F.conninfo, 1);
	ask_as_its_own(&b, &gone);
	ask(&b, "queue", &stays);
	past_questions_forget(b.past, &gone);
	until_told(&b, &stays, 1);
	ask_as_its_own(&b, &gone);
	past_questions_forget(b.past, &gone); /* sent, and not answered yet */
	ev_run(b.loop, 0);
	assert_int_equal(gone.times, 0);
	assert_int_equal(stays.times, 1);
	close_bank(&b);
}

/* A lock, above all. */
static void what_a_failed_test_has_left_holds_up_no_other(void **state)
{
	PGconn *keeper = PQconnectdb(F.conninfo);
	(void)state;
	PQclear(PQexec(keeper, "BEGIN; LOCK TABLE sluice.segment_month"));
	pg_fixture_clear(&F);
	pg_fixture_sql(&F, "SET lock_timeout = '5s'; SELECT count(*) FROM sluice.segment_month");
	PQfinish(keeper);
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
		TEST(it_answers_from_the_ledger),
		TEST(wrong_words_are_refused_at_once),
		TEST(it_says_why_when_the_ledger_is_away),
		TEST(too_many_are_turned_away),
		TEST(few_of_one_namespace_at_a_time),
		TEST(an_answer_is_followed_by_a_rest),
		TEST(namespaces_take_turns),
		TEST(a_question_that_was_forgotten_holds_up_none),
		TEST(an_asker_that_goes_is_told_nothing),
		/* With rows that are in the answers of the others. */
		TEST(each_run_is_told),
		TEST(a_report_says_how_long_jobs_waited_and_how_they_ended),
		TEST(a_report_has_each_key_and_the_total_once),
		TEST(a_report_of_many_keys_is_answered),
		TEST(one_job_does_not_wait_for_a_report),
		TEST(a_day_of_long_ago_is_not_quick),
		TEST(what_a_queue_held_is_told_step_by_step),
		TEST(the_last_step_is_an_average_of_what_there_is_of_it),
		TEST(no_run_that_had_ended_before_is_read),
		TEST(alike_runs_are_one_span),
		TEST(a_flood_of_runs_pushes_nobody_out),
		TEST(what_a_failed_test_has_left_holds_up_no_other),
	};
	return cmocka_run_group_tests(tests, drive_open_group, drive_close_group);
}
