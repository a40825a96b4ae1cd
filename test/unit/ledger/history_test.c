/* The history against Postgres: what is written is told again, once for each minute. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <ev.h>

#include "controller/overcommit/history.h"
#include "overcommit/forecast.h"
#include "drive.h"

#define NOW INT64_C(1795255200000) /* the beginning of an hour */
#define MINUTE 60000

struct book {
	struct ev_loop *loop;
	struct pg *pg;
	struct history *history;
	struct buf told; /* "node minute cpu memory;" each */
	bool all;
	int64_t epoch;
};

static void on_told(const char *node, int64_t at_ms, struct load taken, void *ctx)
{
	struct book *b = ctx;
	if (!*node)
		b->all = true;
	else
		buf_printf(&b->told, "%s %d %d %d;", node, (int)((at_ms - NOW) / MINUTE),
			(int)taken.cpu_milli, (int)taken.memory_bytes);
}

static void open_book(struct book *b, const char *cell, int64_t epoch)
{
	*b = (struct book){.loop = ev_loop_new(EVFLAG_AUTO), .epoch = epoch};
	buf_init(&b->told, 1 << 24);
	struct pg_options pg = {F.conninfo, cell, "background", 3, .idle_ms = 60000};
	assert_int_equal(pg_new(b->loop, &pg, &b->pg, NULL), 0);
	b->history = history_new(&(struct history_options){.pg = b->pg});
	alarm(900);
}

static void close_book(struct book *b)
{
	pg_free(b->pg);
	history_free(b->history);
	ev_loop_destroy(b->loop);
	buf_done(&b->told);
}

static void on_tick(struct ev_loop *loop, ev_timer *w, int revents)
{
	(void)loop;
	(void)w;
	(void)revents;
}

static void turn(struct book *b, int64_t now_ms)
{
	ev_timer t;
	ev_timer_init(&t, on_tick, 0.01, 0.);
	ev_timer_start(b->loop, &t);
	ev_run(b->loop, EVRUN_ONCE);
	ev_timer_stop(b->loop, &t);
	history_tick(b->history, b->epoch, now_ms);
}

static int rows(const char *cell)
{
	return atoi(pg_fixture_sql(
		&F, "SELECT count(*) FROM sluice.node_history WHERE cell = '%s'", cell));
}

static const char *recall(struct book *b, int64_t now_ms)
{
	b->all = false;
	buf_reset(&b->told);
	history_recall(b->history, b->epoch, on_told, b);
	while (!b->all)
		turn(b, now_ms);
	return buf_text(&b->told);
}

static int64_t lead(const char *cell)
{
	return strtoll(
		pg_fixture_sql(&F,
			"INSERT INTO sluice.lease (cell, epoch, session, holder, expires_at) "
			"VALUES ('%s', 4, 1, 'me', now() + interval '1 hour') RETURNING epoch",
			cell),
		NULL, 10);
}

static void minutes_come_back(void **state)
{
	(void)state;
	struct book b;
	open_book(&b, "minutes", lead("minutes"));
	history_note(b.history, "n1", NOW + 1000, (struct load){10, 100});
	history_note(b.history, "n1", NOW + 16000, (struct load){30, 50});
	history_note(b.history, "n1", NOW + 61000, (struct load){20, 200});
	history_note(b.history, "n2", NOW + 5000, (struct load){7, 7});
	history_note(b.history, "n1", NOW + 3600000, (struct load){1, 1});
	history_note(b.history, "n1", NOW + 3660000, (struct load){2, 2});
	history_note(b.history, "n2", NOW + 65000, (struct load){8, 8});
	while (rows("minutes") < 3)
		turn(&b, NOW + 30 * MINUTE);
	assert_string_equal(
		recall(&b, NOW + 30 * MINUTE), "n1 0 30 100;n1 1 20 200;n1 60 1 1;n2 0 7 7;");
	/* The same hour again: what is there stays. */
	history_note(b.history, "n1", NOW + 3720000, (struct load){3, 3});
	int64_t later = NOW + 35 * MINUTE;
	while (strcmp(pg_fixture_sql(&F, "SELECT cpu_milli[2] FROM sluice.node_history WHERE "
					 "cell = 'minutes' AND node = 'n1' ORDER BY hour DESC"),
		       "2") != 0)
		turn(&b, later);
	assert_non_null(strstr(recall(&b, later), "n1 60 1 1;n1 61 2 2;"));
	close_book(&b);
}

static void another_epoch_writes_nothing(void **state)
{
	(void)state;
	struct book b;
	open_book(&b, "deposed", lead("deposed") - 1);
	history_note(b.history, "n1", NOW, (struct load){1, 1});
	history_note(b.history, "n1", NOW + MINUTE, (struct load){1, 1});
	turn(&b, NOW + MINUTE);
	assert_string_equal(recall(&b, NOW + MINUTE), "");
	for (int i = 0; i < 20; i++)
		turn(&b, NOW + MINUTE);
	assert_int_equal(rows("deposed"), 0);
	close_book(&b);
}

static void what_is_older_than_a_week_goes(void **state)
{
	(void)state;
	struct book b;
	open_book(&b, "week", lead("week"));
	history_note(b.history, "n1", NOW, (struct load){1, 1});
	history_note(b.history, "n1", NOW + MINUTE, (struct load){1, 1});
	while (rows("week") < 1)
		turn(&b, NOW + MINUTE);
	int64_t later = NOW + FORECAST_RETENTION_MS + 2 * 3600000;
	history_note(b.history, "n1", later, (struct load){1, 1});
	history_note(b.history, "n1", later + MINUTE, (struct load){1, 1});
	while (strcmp(pg_fixture_sql(&F, "SELECT count(*) FROM sluice.node_history WHERE cell = "
					 "'week' AND hour < '2026-11-22'"),
		       "0") != 0)
		turn(&b, later + MINUTE);
	close_book(&b);
}

/* More hours than a page has. */
static void it_is_read_in_pages(void **state)
{
	(void)state;
	struct book b;
	open_book(&b, "pages", lead("pages"));
	pg_fixture_sql(&F, "INSERT INTO sluice.node_history SELECT 'pages', 'n' || i / 100, "
			   "'2026-11-21T10:00:00Z'::timestamptz + (i %% 100) * interval '1 hour', "
			   "array_fill(i::int8, ARRAY[60]), array_fill(1::int8, ARRAY[60]) FROM "
			   "generate_series(0, 499) AS i");
	recall(&b, NOW);
	size_t minutes = 0;
	for (const char *p = buf_text(&b.told); (p = strchr(p, ';')); p++)
		minutes++;
	assert_int_equal(minutes, 500 * 60);
	close_book(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(minutes_come_back),
		cmocka_unit_test(another_epoch_writes_nothing),
		cmocka_unit_test(what_is_older_than_a_week_goes),
		cmocka_unit_test(it_is_read_in_pages),
	};
	return cmocka_run_group_tests(tests, drive_open_group, drive_close_group);
}
