/* The quota tree in the ledger, rule by rule, against a real Postgres; and what the driver
 * remembers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ev.h>
#include <libpq-fe.h>

#include "controller/ledger/pg_priv.h"
#include "controller/ledger/sql.h"
#include "drive.h"

static const struct quota_line *line(const char *node, int64_t amount)
{
	static struct quota_line lines[64];
	static int next;
	struct quota_line *l = &lines[next++ % 64];
	*l = (struct quota_line){node, "spot", "cpu", amount};
	return l;
}

static struct ledger_op cap(
	const char *node, int64_t amount, const char *parent, int64_t guaranteed)
{
	return (struct ledger_op){.kind = LEDGER_CEILING,
		.lines = line(node, amount),
		.nlines = 1,
		.parent = parent,
		.guaranteed = guaranteed};
}

static struct ledger_op op(enum ledger_kind kind, int n)
{
	return (struct ledger_op){.kind = kind,
		.uid = {.byte = {[15] = (uint8_t)n}},
		.attempt = 1,
		.at_ms = 1700000000000 + n,
		.ns = "team",
		.name = "train",
		.clusterqueue = "a",
		.localqueue = "main",
		.reason = "Finished",
		.actor = "test"};
}

static struct ledger_op reservation(int n, const char *node, int64_t amount)
{
	struct ledger_op o = op(LEDGER_RESERVE, n);
	o.lines = line(node, amount);
	o.nlines = 1;
	return o;
}

static struct ledger_op shrink(int n, const char *node, int64_t amount)
{
	struct ledger_op o = reservation(n, node, amount);
	o.kind = LEDGER_SHRINK;
	return o;
}

/* A letter for each operation: Applied, Repeated, Spent, reFused. */
static void batch(
	struct drive *d, int64_t e, const struct ledger_op *ops, size_t n, const char *verdicts)
{
	char seen[64] = "";
	assert_int_equal(drive_batch(d, e, ops, n), LEDGER_DONE);
	for (size_t i = 0; i < n; i++)
		seen[i] = "ARSF"[d->results[i].verdict];
	assert_string_equal(seen, verdicts);
}

#define BATCH(d, e, verdicts, ...)                                                                 \
	batch(d, e, (struct ledger_op[]){__VA_ARGS__},                                             \
		sizeof((struct ledger_op[]){__VA_ARGS__}) / sizeof(struct ledger_op), verdicts)

/* node use/ceiling, in order of names */
static void assert_tree(const struct drive *d, const char *expected)
{
	assert_string_equal(
		pg_fixture_sql(&F,
			"SELECT string_agg(format('%%s %%s/%%s', node, use, ceiling), ' ' ORDER BY "
			"node) FROM sluice.balance_use WHERE cell = '%s'",
			d->cell),
		expected);
}

static int64_t lead(struct drive *d, const char *cell)
{
	drive_start(d, &F, cell, cell);
	return drive_lead(d);
}

static void finish(struct drive *d)
{
	drive_stop(d);
	assert_string_equal(drive_audit(), "");
}

/* ---- The tree ---------------------------------------------------------------------------------
 */

static void test_what_is_beyond_the_guaranteed_part_counts_above(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "beyond");
	BATCH(&d, e, "AAAA", cap("cohort/root", 10, "", 0), cap("cohort/mid", 8, "cohort/root", 3),
		cap("cq/a", QUOTA_UNLIMITED, "cohort/mid", 2), cap("cq/b", 20, "cohort/mid", 0));
	BATCH(&d, e, "A", reservation(1, "cq/a", 2));
	assert_tree(&d, "cohort/mid 0/8 cohort/root 0/10 cq/a 2/9223372036854775807 cq/b 0/20");
	BATCH(&d, e, "AA", reservation(2, "cq/a", 1), reservation(3, "cq/b", 4));
	assert_tree(&d, "cohort/mid 5/8 cohort/root 2/10 cq/a 3/9223372036854775807 cq/b 4/20");
	BATCH(&d, e, "AA", op(LEDGER_COMMIT, 3), op(LEDGER_STOP, 3));
	assert_tree(&d, "cohort/mid 5/8 cohort/root 2/10 cq/a 3/9223372036854775807 cq/b 4/20");
	BATCH(&d, e, "A", shrink(3, "cq/b", 1));
	assert_tree(&d, "cohort/mid 2/8 cohort/root 0/10 cq/a 3/9223372036854775807 cq/b 1/20");
	BATCH(&d, e, "AAA", op(LEDGER_RELEASE, 3), op(LEDGER_VOID, 2), op(LEDGER_VOID, 1));
	assert_tree(&d, "cohort/mid 0/8 cohort/root 0/10 cq/a 0/9223372036854775807 cq/b 0/20");
	finish(&d);
}

static void test_refused_when_any_node_of_the_path_is_full(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "path");
	BATCH(&d, e, "AAAA", cap("cohort/root", 10, "", 0), cap("cohort/mid", 8, "cohort/root", 0),
		cap("cq/a", 9, "cohort/mid", 2), cap("cq/b", 20, "cohort/root", 0));
	BATCH(&d, e, "FAF", reservation(1, "cq/a", 11), reservation(1, "cq/b", 7),
		reservation(2, "cq/a", 6));
	assert_tree(&d, "cohort/mid 0/8 cohort/root 7/10 cq/a 0/9 cq/b 7/20");
	/* what is guaranteed is there, however full it is above */
	BATCH(&d, e, "AFA", reservation(2, "cq/a", 5), reservation(3, "cq/a", 1),
		op(LEDGER_VOID, 1));
	BATCH(&d, e, "FA", reservation(3, "cq/a", 5), reservation(3, "cq/a", 4));
	assert_tree(&d, "cohort/mid 7/8 cohort/root 7/10 cq/a 9/9 cq/b 0/20");
	/* of two lines that meet above only both count: nothing of a refused one stays */
	struct quota_line both[] = {*line("cq/b", 2), *line("cohort/mid", 2)};
	struct ledger_op wide = reservation(4, "", 0);
	wide.lines = both;
	wide.nlines = 2;
	BATCH(&d, e, "F", wide);
	assert_tree(&d, "cohort/mid 7/8 cohort/root 7/10 cq/a 9/9 cq/b 0/20");
	finish(&d);
}

static void test_full_nodes_above_leave_what_is_guaranteed(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "kept");
	BATCH(&d, e, "AAAA", cap("cohort/root", 4, "", 0), cap("cq/a", 9, "cohort/root", 3),
		cap("cq/b", 9, "cohort/root", 0), reservation(1, "cq/b", 4));
	BATCH(&d, e, "A", cap("cohort/root", 1, "", 0)); /* lowered below its use */
	BATCH(&d, e, "AF", reservation(2, "cq/a", 3), reservation(3, "cq/a", 1));
	assert_tree(&d, "cohort/root 4/4 cq/a 3/9 cq/b 4/9");
	BATCH(&d, e, "A", shrink(1, "cq/b", 2)); /* the ceiling comes down with the use */
	assert_tree(&d, "cohort/root 2/2 cq/a 3/9 cq/b 2/9");
	finish(&d);
}

static void test_guaranteed_part_is_raised_and_lowered(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "lend");
	BATCH(&d, e, "AAA", cap("cohort/root", 5, "", 0), cap("cq/a", 9, "cohort/root", 4),
		reservation(1, "cq/a", 8));
	assert_tree(&d, "cohort/root 4/5 cq/a 8/9");
	BATCH(&d, e, "A", cap("cq/a", 9, "cohort/root", 1)); /* never fails */
	assert_tree(&d, "cohort/root 7/7 cq/a 8/9");
	BATCH(&d, e, "F", reservation(2, "cq/a", 1));
	BATCH(&d, e, "A", cap("cq/a", 9, "cohort/root", 6));
	assert_tree(&d, "cohort/root 2/5 cq/a 8/9");
	BATCH(&d, e, "A", reservation(2, "cq/a", 1));
	finish(&d);
}

static void test_moved_below_another_parent(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "move");
	BATCH(&d, e, "AAAAAA", cap("cohort/old", 9, "cohort/top", 1), cap("cohort/top", 9, "", 0),
		cap("cohort/new", 3, "", 0), cap("cohort/mid", 9, "cohort/old", 1),
		cap("cq/a", 9, "cohort/mid", 1), reservation(1, "cq/a", 7));
	assert_tree(&d, "cohort/mid 6/9 cohort/new 0/3 cohort/old 5/9 cohort/top 4/9 cq/a 7/9");
	BATCH(&d, e, "A", cap("cohort/mid", 9, "cohort/new", 2));
	assert_tree(&d, "cohort/mid 6/9 cohort/new 4/4 cohort/old 0/9 cohort/top 0/9 cq/a 7/9");
	BATCH(&d, e, "F", reservation(2, "cq/a", 1));
	BATCH(&d, e, "A", cap("cohort/mid", 9, "", 2));
	assert_tree(&d, "cohort/mid 6/9 cohort/new 0/3 cohort/old 0/9 cohort/top 0/9 cq/a 7/9");
	BATCH(&d, e, "A", reservation(2, "cq/a", 1));
	finish(&d);
}

static void test_ceilings_come_in_any_order(void **state)
{
	(void)state;
	static const char *const expected = "cohort/mid 5/8 cohort/root 3/10 cq/a 6/9";
	const struct ledger_op tree[] = {cap("cq/a", 9, "cohort/mid", 1),
		cap("cohort/mid", 8, "cohort/root", 2), cap("cohort/root", 10, NULL, 0)};
	static const int orders[][3] = {
		{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	for (size_t k = 0; k < 6; k++) {
		struct drive d;
		char cell[16];
		snprintf(cell, sizeof(cell), "order-%zu", k);
		int64_t e = lead(&d, cell);
		/* used before the tree is known: a parent that nobody has spoken of has no room */
		BATCH(&d, e, "AAAF", cap("cq/a", 9, "", 0), reservation(1, "cq/a", 6),
			cap("cq/a", 9, "cohort/mid", 0), reservation(2, "cq/a", 1));
		for (size_t i = 0; i < 3; i++)
			batch(&d, e, &tree[orders[k][i]], 1, "A");
		assert_tree(&d, expected);
		finish(&d);
	}
}

/* From a below b to b below a, one CEILING after the other: for a while they go round in a circle.
 */
static void test_parents_in_a_circle_do_not_count(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "circle");
	BATCH(&d, e, "AAAA", cap("cohort/a", 9, "cohort/b", 0), cap("cohort/b", 9, "", 0),
		cap("cq/x", 9, "cohort/a", 1), reservation(1, "cq/x", 5));
	assert_tree(&d, "cohort/a 4/9 cohort/b 4/9 cq/x 5/9");
	BATCH(&d, e, "A", cap("cohort/b", 9, "cohort/a", 0));
	assert_tree(&d, "cohort/a 4/9 cohort/b 0/9 cq/x 5/9");
	BATCH(&d, e, "AA", reservation(2, "cq/x", 1),
		cap("cohort/b", 9, "cohort/b", 0)); /* itself */
	assert_tree(&d, "cohort/a 5/9 cohort/b 5/9 cq/x 6/9");
	BATCH(&d, e, "AA", cap("cohort/b", 9, "cohort/a", 0), cap("cohort/a", 9, "", 0));
	assert_tree(&d, "cohort/a 5/9 cohort/b 0/9 cq/x 6/9");
	finish(&d);
}

static void test_absurd_amounts_end_at_the_greatest_number(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "absurd");
	BATCH(&d, e, "AAAA", cap("cq/a", QUOTA_UNLIMITED, "", 0),
		cap("cq/b", QUOTA_UNLIMITED, "", 0), reservation(1, "cq/a", INT64_MAX),
		reservation(2, "cq/b", INT64_MAX));
	BATCH(&d, e, "AAF", cap("cq/a", QUOTA_UNLIMITED, "cohort/c", 0),
		cap("cq/b", QUOTA_UNLIMITED, "cohort/c", 0), reservation(3, "cq/b", 1));
	assert_string_equal(pg_fixture_sql(&F, "SELECT members FROM sluice.balance WHERE cell = "
					       "'absurd' AND node = 'cohort/c'"),
		"9223372036854775807");
	drive_stop(&d);
	pg_fixture_sql(&F, "DELETE FROM sluice.balance WHERE cell = 'absurd'");
	pg_fixture_sql(&F, "DELETE FROM sluice.hold WHERE cell = 'absurd'");
	pg_fixture_sql(&F, "DELETE FROM sluice.transfer WHERE cell = 'absurd'");
	assert_string_equal(drive_audit(), "");
}

/* ---- What is remembered -----------------------------------------------------------------------
 */

/* Asks, and says whether it was written at once. */
static bool at_once(struct drive *d, int64_t e, struct ledger_op o, enum ledger_verdict v)
{
	struct ledger_batch b = {e, &o, 1};
	uint64_t id = drive_ask_batch(d, &b);
	bool written = d->pg->head->step == STEP_WRITE;
	drive_until_answered(d, id);
	assert_int_equal(d->outcome, LEDGER_DONE);
	assert_int_equal(d->results[0].verdict, v);
	return written;
}

static void test_life_of_a_reservation_reads_nothing(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "memory");
	BATCH(&d, e, "AA", cap("cq/a", 9, "cohort/c", 1), cap("cohort/c", 9, "", 0));
	assert_true(at_once(&d, e, reservation(1, "cq/a", 4), LEDGER_APPLIED));
	assert_true(at_once(&d, e, op(LEDGER_COMMIT, 1), LEDGER_APPLIED));
	assert_true(at_once(&d, e, shrink(1, "cq/a", 3), LEDGER_APPLIED));
	assert_true(at_once(&d, e, cap("cq/a", 8, "cohort/c", 2), LEDGER_APPLIED));
	assert_tree(&d, "cohort/c 1/9 cq/a 3/8");
	assert_true(at_once(&d, e, op(LEDGER_STOP, 1), LEDGER_APPLIED));
	assert_true(at_once(&d, e, op(LEDGER_RELEASE, 1), LEDGER_APPLIED));
	assert_int_equal(cache_reservations(d.pg->cache), 0);
	assert_int_equal(cache_rows(d.pg->cache), 2);
	/* what is not simply done is read */
	assert_false(at_once(&d, e, op(LEDGER_RELEASE, 1), LEDGER_SPENT));
	assert_false(at_once(&d, e, reservation(2, "cq/a", 40), LEDGER_REFUSED));
	/* its key tells that it was done before; then it is read */
	assert_true(at_once(&d, e, reservation(1, "cq/a", 1), LEDGER_SPENT));
	assert_int_equal(d.results[0].next_attempt, 2);
	assert_int_equal(cache_rows(d.pg->cache), 2);
	assert_string_equal(
		pg_fixture_sql(&F,
			"SELECT concat_ws(' ', ns, localqueue, reason, actor, lines) FROM "
			"sluice.segment WHERE cell = 'memory'"),
		"team main Finished test [[\"cq/a\", \"spot\", \"cpu\", 4]]");
	finish(&d);
}

static void test_new_connection_and_new_epoch_remember_nothing(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "anew");
	BATCH(&d, e, "AA", cap("cq/a", 9, "", 0), reservation(1, "cq/a", 4));
	assert_int_equal(cache_reservations(d.pg->cache), 1);
	pg_conn_drop(d.pg->conn, "cut by the test");
	assert_int_equal(cache_rows(d.pg->cache), 0);
	drive_until_up(&d);
	assert_false(at_once(&d, e, op(LEDGER_COMMIT, 1), LEDGER_APPLIED));
	assert_true(at_once(&d, e, op(LEDGER_STOP, 1), LEDGER_APPLIED));
	pg_resign(d.pg, e);
	assert_int_equal(drive_lease(&d, 0, 60000), LEDGER_DONE);
	assert_int_equal(cache_rows(d.pg->cache), 0);
	assert_false(at_once(&d, d.lease.epoch, op(LEDGER_RELEASE, 1), LEDGER_APPLIED));
	finish(&d);
}

static void test_hands_that_edit_rows_are_seen(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "hands");
	BATCH(&d, e, "AAA", cap("cq/a", 9, "", 0), reservation(1, "cq/a", 4),
		reservation(2, "cq/a", 2));
	/* somebody gives back what job 1 holds */
	pg_fixture_sql(&F,
		"WITH gone AS (DELETE FROM sluice.hold WHERE cell = 'hands' AND job_uid = "
		"'00000000-0000-0000-0000-000000000001' RETURNING *), told AS (INSERT INTO "
		"sluice.transfer SELECT cell, job_uid, attempt, 'VOID', 0, 1, now(), state, NULL, "
		"lines, 'by hand', 'admin', 0 FROM gone) "
		"UPDATE sluice.balance SET pending = 2 WHERE cell = 'hands'");
	assert_true(at_once(&d, e, op(LEDGER_RELEASE, 1), LEDGER_SPENT));
	assert_tree(&d, "cq/a 2/9");
	assert_string_equal(drive_audit(), "");
	/* and makes room: only what was read is refused */
	pg_fixture_sql(
		&F, "UPDATE sluice.balance SET wanted = 30, ceiling = 30 WHERE cell = 'hands'");
	assert_false(at_once(&d, e, reservation(3, "cq/a", 20), LEDGER_APPLIED));
	assert_tree(&d, "cq/a 22/30");
	finish(&d);
}

/* ---- What is read back ------------------------------------------------------------------------
 */

static struct ledger_op at(struct ledger_op o, int64_t ms)
{
	o.at_ms = ms;
	return o;
}

static void assert_page(struct drive *d, int64_t e, size_t attempts, const char *expected)
{
	assert_int_equal(drive_recall(d, e, attempts), LEDGER_DONE);
	assert_string_equal(buf_text(&d->runs), expected);
}

static void test_runs_that_ended_are_recalled_page_by_page(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "recall");
	BATCH(&d, e, "A", cap("cq/a", 99, "", 0));
	for (int i = 1; i <= 5; i++) {
		struct ledger_op o = reservation(i, "cq/a", i);
		o.localqueue = i == 4 ? NULL : "main";
		BATCH(&d, e, "AA", o, at(op(LEDGER_COMMIT, i), 1000 * i));
	}
	BATCH(&d, e, "A", reservation(6, "cq/a", 1));
	/* two end in the same millisecond; one never ran; one goes on */
	BATCH(&d, e, "AAAAA", at(op(LEDGER_RELEASE, 3), 20000), at(op(LEDGER_RELEASE, 2), 20000),
		at(op(LEDGER_RELEASE, 1), 9000), at(op(LEDGER_VOID, 6), 19000),
		at(op(LEDGER_RELEASE, 4), 30001));
	d.mark = ledger_mark_since(9000);
	assert_page(&d, e, 2,
		"team/main a 1000-9000 cq/a:spot:cpu=1\nteam/main a 2000-20000 cq/a:spot:cpu=2\n");
	assert_page(&d, e, 2,
		"team/main a 3000-20000 cq/a:spot:cpu=3\nteam/ a 4000-30001 cq/a:spot:cpu=4\n");
	assert_page(&d, e, 2, "");
	assert_page(&d, e, 2, "");
	d.mark = ledger_mark_since(9001);
	assert_page(&d, e, 1, "team/main a 2000-20000 cq/a:spot:cpu=2\n");
	d.mark = ledger_mark_since(INT64_MAX);
	assert_page(&d, e, 9, "");
	d.mark = ledger_mark_since(INT64_MIN);
	assert_page(&d, e, 1, "team/main a 1000-9000 cq/a:spot:cpu=1\n");
	assert_int_equal(drive_recall(&d, e + 1, 9), LEDGER_FENCED);
	finish(&d);
}

static void test_run_that_shrank_is_several(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "shrank");
	struct quota_line two[] = {*line("cq/a", 9), {"cq/a", "spot", "pods", 3}};
	struct ledger_op o = reservation(1, "cq/a", 0), before = shrink(1, "cq/a", 8),
			 during = shrink(1, "cq/a", 5), after = shrink(1, "cq/a", 2);
	o.lines = two;
	o.nlines = 2;
	before.seq = 3;
	during.seq = 2;
	after.seq = 1;
	struct ledger_op pods = cap("", 9, "", 0);
	pods.lines = &(struct quota_line){"cq/a", "spot", "pods", 9};
	BATCH(&d, e, "AAA", cap("cq/a", 9, "", 0), pods, o);
	BATCH(&d, e, "AAAAA", at(before, 500), at(op(LEDGER_COMMIT, 1), 1000), at(during, 2000),
		at(op(LEDGER_STOP, 1), 3000), at(after, 4000));
	pg_conn_drop(
		d.pg->conn, "cut by the test"); /* what it held at COMMIT is not only remembered */
	drive_until_up(&d);
	BATCH(&d, e, "A", at(op(LEDGER_RELEASE, 1), 5000));
	d.mark = ledger_mark_since(0);
	assert_page(&d, e, 9,
		"team/main a 1000-5000 cq/a:spot:cpu=2\n"
		"team/main a 1000-4000 cq/a:spot:cpu=3\n"
		"team/main a 1000-2000 cq/a:spot:cpu=3\n");
	assert_string_equal(pg_fixture_sql(&F, "SELECT lines FROM sluice.segment WHERE cell = "
					       "'shrank'"),
		"[[\"cq/a\", \"spot\", \"cpu\", 8]]");
	finish(&d);
}

/* Nothing is counted twice, and nothing before it was held: what a GROW took comes off what was held
 * before it. */
static void test_run_that_grew_is_several(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "grew");
	struct quota_line two[] = {*line("cq/a", 3), {"cq/a", "spot", "pods", 1}},
			  more[] = {*line("cq/a", 9), {"cq/a", "spot", "pods", 3}},
			  less[] = {*line("cq/a", 6), {"cq/a", "spot", "pods", 2}};
	struct ledger_op o = reservation(1, "cq/a", 0), grow = o, fewer = o;
	struct ledger_op pods = cap("", 9, "", 0);
	pods.lines = &(struct quota_line){"cq/a", "spot", "pods", 9};
	grow.kind = LEDGER_GROW;
	fewer.kind = LEDGER_SHRINK;
	o.lines = two;
	grow.lines = more;
	fewer.lines = less;
	o.nlines = grow.nlines = fewer.nlines = 2;
	grow.seq = 1;
	fewer.seq = 2;
	BATCH(&d, e, "AAA", cap("cq/a", 9, "", 0), pods, o);
	BATCH(&d, e, "AAA", at(op(LEDGER_COMMIT, 1), 1000), at(grow, 2000), at(fewer, 4000));
	pg_conn_drop(
		d.pg->conn, "cut by the test"); /* what it held at COMMIT is not only remembered */
	drive_until_up(&d);
	BATCH(&d, e, "A", at(op(LEDGER_RELEASE, 1), 5000));
	d.mark = ledger_mark_since(0);
	assert_page(&d, e, 9,
		"team/main a 1000-5000 cq/a:spot:cpu=6 cq/a:spot:pods=2\n"
		"team/main a 1000-4000 cq/a:spot:cpu=3 cq/a:spot:pods=1\n"
		"team/main a 1000-2000 cq/a:spot:cpu=-6 cq/a:spot:pods=-2\n");
	/* 1 pod for a second, 3 for two, 2 for one */
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT concat_ws(' ', run_seconds::float8, "
				   "pod_seconds::float8) FROM sluice.cost WHERE cell = 'grew'"),
		"4 9");
	finish(&d);
}

/* A program of version 1 led: its reservations have open segments, which end as they would have. */
static void test_segment_that_version_1_began_is_ended(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "older");
	BATCH(&d, e, "AAA", cap("cq/a", 9, "", 0), reservation(1, "cq/a", 2), op(LEDGER_COMMIT, 1));
	pg_fixture_sql(&F,
		"INSERT INTO sluice.segment (cell, job_uid, attempt, ns, name, "
		"clusterqueue, started_at, stopping_at, reason, actor, lost_ms, lines) "
		"SELECT cell, job_uid, attempt, ns, name, clusterqueue, started_at, "
		"started_at, 'Preempted', 'older', 77, lines FROM sluice.hold WHERE cell = "
		"'older'");
	assert_string_equal(drive_audit(), "");
	BATCH(&d, e, "A", op(LEDGER_RELEASE, 1));
	assert_string_equal(
		pg_fixture_sql(&F,
			"SELECT concat_ws(' ', reason, actor, lost_ms, stopped_at IS NOT "
			"NULL) FROM sluice.segment WHERE cell = 'older'"),
		"Preempted older 77 t");
	finish(&d);
}

static void script(const struct pg_fixture *f, const char *sql)
{
	PGconn *c = PQconnectdb(f->conninfo);
	PGresult *r = PQexec(c, sql);
	if (PQresultStatus(r) != PGRES_COMMAND_OK)
		fail_msg("%s", PQerrorMessage(c));
	PQclear(r);
	PQfinish(c);
}

/* As a program of version 1 writes: a Job that runs in a cell of its own. */
static void write_as_version_1(const struct pg_fixture *f, const char *cell)
{
	char sql[4096];
	snprintf(sql, sizeof(sql),
		"DO $do$ DECLARE c text := '%s'; j uuid := gen_random_uuid(); "
		"l jsonb := '[[\"cq/a\", \"spot\", \"cpu\", 3]]'; BEGIN "
		"INSERT INTO sluice.lease VALUES (c, 7, 1, 'older', '-infinity'); "
		"INSERT INTO sluice.balance (cell, node, flavor, resource, pending, posted, "
		"releasing, wanted, ceiling) VALUES (c, 'cq/a', 'spot', 'cpu', 0, 3, 0, 9, 9); "
		"INSERT INTO sluice.transfer (cell, epoch, job_uid, attempt, kind, seq, at, "
		"source, "
		"target, lines) VALUES (c, 7, j, 1, 'RESERVE', 0, 'epoch', NULL, 'pending', l), "
		"(c, 7, j, 1, 'COMMIT', 0, 'epoch', 'pending', 'posted', l); "
		"INSERT INTO sluice.hold (cell, job_uid, attempt, state, ns, name, clusterqueue, "
		"reserved_at, started_at, lines) VALUES (c, j, 1, 'posted', 'ns', 'n', 'a', "
		"'epoch', "
		"'epoch', l); "
		"INSERT INTO sluice.segment (cell, job_uid, attempt, ns, name, clusterqueue, "
		"started_at, stopping_at, stopped_at, reason, actor, lost_ms, lines) VALUES (c, j, "
		"1, "
		"'ns', 'n', 'a', 'epoch', NULL, NULL, NULL, NULL, NULL, l); END $do$",
		cell);
	script(f, sql);
}

static void test_version_1_is_migrated_and_may_go_on_elsewhere(void **state)
{
	(void)state;
	pg_fixture_sql(&F, "CREATE DATABASE older");
	struct pg_fixture older = F;
	snprintf(older.conninfo, sizeof(older.conninfo), "host=%s user=postgres dbname=older",
		F.dir);
	script(&older, "CREATE SCHEMA sluice");
	script(&older, MIGRATIONS[0].sql);
	script(&older, "INSERT INTO sluice.schema_version (version, name, applied_by) VALUES (1, "
		       "'ledger', 'older')");
	write_as_version_1(&older, "migrated");
	struct drive d;
	drive_start(&d, &older, "migrated", "newer");
	int64_t e = drive_lead(&d);
	assert_int_equal(e, 8);
	write_as_version_1(&older, "elsewhere");
	assert_string_equal(
		pg_fixture_sql(&older, "SELECT string_agg(a::text, ' ') FROM sluice.audit a"), "");
	BATCH(&d, e, "A", cap("cq/a", 9, "cohort/c", 1));
	assert_string_equal(
		pg_fixture_sql(&older, "SELECT members FROM sluice.balance WHERE node = "
				       "'cohort/c'"),
		"2");
	assert_string_equal(
		pg_fixture_sql(&older, "SELECT string_agg(a::text, ' ') FROM sluice.audit a"), "");
	drive_stop(&d);
	pg_fixture_sql(&F, "DROP DATABASE older WITH (FORCE)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_beyond_the_guaranteed_part_counts_above),
		cmocka_unit_test(test_refused_when_any_node_of_the_path_is_full),
		cmocka_unit_test(test_full_nodes_above_leave_what_is_guaranteed),
		cmocka_unit_test(test_guaranteed_part_is_raised_and_lowered),
		cmocka_unit_test(test_moved_below_another_parent),
		cmocka_unit_test(test_ceilings_come_in_any_order),
		cmocka_unit_test(test_parents_in_a_circle_do_not_count),
		cmocka_unit_test(test_absurd_amounts_end_at_the_greatest_number),
		cmocka_unit_test(test_life_of_a_reservation_reads_nothing),
		cmocka_unit_test(test_new_connection_and_new_epoch_remember_nothing),
		cmocka_unit_test(test_hands_that_edit_rows_are_seen),
		cmocka_unit_test(test_runs_that_ended_are_recalled_page_by_page),
		cmocka_unit_test(test_run_that_shrank_is_several),
		cmocka_unit_test(test_run_that_grew_is_several),
		cmocka_unit_test(test_segment_that_version_1_began_is_ended),
		cmocka_unit_test(test_version_1_is_migrated_and_may_go_on_elsewhere),
	};
	return cmocka_run_group_tests(tests, drive_open_group, drive_close_group);
}
