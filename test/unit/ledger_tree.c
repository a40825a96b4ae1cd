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

#include "controller/ledger/pg_priv.h"
#include "test/unit/ledger_drive.h"

static struct pg_fixture F;

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

static struct ledger_op hold(int n, const char *node, int64_t amount)
{
	struct ledger_op o = op(LEDGER_RESERVE, n);
	o.lines = line(node, amount);
	o.nlines = 1;
	return o;
}

static struct ledger_op shrink(int n, const char *node, int64_t amount)
{
	struct ledger_op o = hold(n, node, amount);
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

static void assert_sound(void)
{
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT string_agg(a::text, ' ') FROM sluice.audit a"), "");
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT string_agg(a::text, ' ') FROM sluice.audit_history a"),
		"");
}

static int64_t lead(struct drive *d, const char *cell)
{
	drive_start(d, &F, cell, cell);
	return drive_lead(d);
}

static void finish(struct drive *d)
{
	drive_stop(d);
	assert_sound();
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
	BATCH(&d, e, "A", hold(1, "cq/a", 2));
	assert_tree(&d, "cohort/mid 0/8 cohort/root 0/10 cq/a 2/9223372036854775807 cq/b 0/20");
	BATCH(&d, e, "AA", hold(2, "cq/a", 1), hold(3, "cq/b", 4));
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
	BATCH(&d, e, "FAF", hold(1, "cq/a", 11), hold(1, "cq/b", 7), hold(2, "cq/a", 6));
	assert_tree(&d, "cohort/mid 0/8 cohort/root 7/10 cq/a 0/9 cq/b 7/20");
	/* what is guaranteed is there, however full it is above */
	BATCH(&d, e, "AFA", hold(2, "cq/a", 5), hold(3, "cq/a", 1), op(LEDGER_VOID, 1));
	BATCH(&d, e, "FA", hold(3, "cq/a", 5), hold(3, "cq/a", 4));
	assert_tree(&d, "cohort/mid 7/8 cohort/root 7/10 cq/a 9/9 cq/b 0/20");
	/* of two lines that meet above only both count: nothing of a refused one stays */
	struct quota_line both[] = {*line("cq/b", 2), *line("cohort/mid", 2)};
	struct ledger_op wide = hold(4, "", 0);
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
		cap("cq/b", 9, "cohort/root", 0), hold(1, "cq/b", 4));
	BATCH(&d, e, "A", cap("cohort/root", 1, "", 0)); /* lowered below its use */
	BATCH(&d, e, "AF", hold(2, "cq/a", 3), hold(3, "cq/a", 1));
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
		hold(1, "cq/a", 8));
	assert_tree(&d, "cohort/root 4/5 cq/a 8/9");
	BATCH(&d, e, "A", cap("cq/a", 9, "cohort/root", 1)); /* never fails */
	assert_tree(&d, "cohort/root 7/7 cq/a 8/9");
	BATCH(&d, e, "F", hold(2, "cq/a", 1));
	BATCH(&d, e, "A", cap("cq/a", 9, "cohort/root", 6));
	assert_tree(&d, "cohort/root 2/5 cq/a 8/9");
	BATCH(&d, e, "A", hold(2, "cq/a", 1));
	finish(&d);
}

static void test_moved_below_another_parent(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "move");
	BATCH(&d, e, "AAAAAA", cap("cohort/old", 9, "cohort/top", 1), cap("cohort/top", 9, "", 0),
		cap("cohort/new", 3, "", 0), cap("cohort/mid", 9, "cohort/old", 1),
		cap("cq/a", 9, "cohort/mid", 1), hold(1, "cq/a", 7));
	assert_tree(&d, "cohort/mid 6/9 cohort/new 0/3 cohort/old 5/9 cohort/top 4/9 cq/a 7/9");
	BATCH(&d, e, "A", cap("cohort/mid", 9, "cohort/new", 2));
	assert_tree(&d, "cohort/mid 6/9 cohort/new 4/4 cohort/old 0/9 cohort/top 0/9 cq/a 7/9");
	BATCH(&d, e, "F", hold(2, "cq/a", 1));
	BATCH(&d, e, "A", cap("cohort/mid", 9, "", 2));
	assert_tree(&d, "cohort/mid 6/9 cohort/new 0/3 cohort/old 0/9 cohort/top 0/9 cq/a 7/9");
	BATCH(&d, e, "A", hold(2, "cq/a", 1));
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
		BATCH(&d, e, "AAAF", cap("cq/a", 9, "", 0), hold(1, "cq/a", 6),
			cap("cq/a", 9, "cohort/mid", 0), hold(2, "cq/a", 1));
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
		cap("cq/x", 9, "cohort/a", 1), hold(1, "cq/x", 5));
	assert_tree(&d, "cohort/a 4/9 cohort/b 4/9 cq/x 5/9");
	BATCH(&d, e, "A", cap("cohort/b", 9, "cohort/a", 0));
	assert_tree(&d, "cohort/a 4/9 cohort/b 0/9 cq/x 5/9");
	BATCH(&d, e, "AA", hold(2, "cq/x", 1), cap("cohort/b", 9, "cohort/b", 0)); /* itself */
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
		cap("cq/b", QUOTA_UNLIMITED, "", 0), hold(1, "cq/a", INT64_MAX),
		hold(2, "cq/b", INT64_MAX));
	BATCH(&d, e, "AAF", cap("cq/a", QUOTA_UNLIMITED, "cohort/c", 0),
		cap("cq/b", QUOTA_UNLIMITED, "cohort/c", 0), hold(3, "cq/b", 1));
	assert_string_equal(pg_fixture_sql(&F, "SELECT members FROM sluice.balance WHERE cell = "
					       "'absurd' AND node = 'cohort/c'"),
		"9223372036854775807");
	drive_stop(&d);
	pg_fixture_sql(&F, "DELETE FROM sluice.balance WHERE cell = 'absurd'");
	pg_fixture_sql(&F, "DELETE FROM sluice.hold WHERE cell = 'absurd'");
	pg_fixture_sql(&F, "DELETE FROM sluice.transfer WHERE cell = 'absurd'");
	assert_sound();
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

static void test_life_of_a_hold_reads_nothing(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "memory");
	BATCH(&d, e, "AA", cap("cq/a", 9, "cohort/c", 1), cap("cohort/c", 9, "", 0));
	assert_true(at_once(&d, e, hold(1, "cq/a", 4), LEDGER_APPLIED));
	assert_true(at_once(&d, e, op(LEDGER_COMMIT, 1), LEDGER_APPLIED));
	assert_true(at_once(&d, e, shrink(1, "cq/a", 3), LEDGER_APPLIED));
	assert_true(at_once(&d, e, cap("cq/a", 8, "cohort/c", 2), LEDGER_APPLIED));
	assert_tree(&d, "cohort/c 1/9 cq/a 3/8");
	assert_true(at_once(&d, e, op(LEDGER_STOP, 1), LEDGER_APPLIED));
	assert_true(at_once(&d, e, op(LEDGER_RELEASE, 1), LEDGER_APPLIED));
	assert_int_equal(mirror_holds(d.pg->mirror), 0);
	assert_int_equal(mirror_rows(d.pg->mirror), 2);
	/* what is not simply done is read */
	assert_false(at_once(&d, e, op(LEDGER_RELEASE, 1), LEDGER_SPENT));
	assert_false(at_once(&d, e, hold(2, "cq/a", 40), LEDGER_REFUSED));
	/* its key tells that it was done before; then it is read */
	assert_true(at_once(&d, e, hold(1, "cq/a", 1), LEDGER_SPENT));
	assert_int_equal(d.results[0].next_attempt, 2);
	assert_int_equal(mirror_rows(d.pg->mirror), 2);
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
	BATCH(&d, e, "AA", cap("cq/a", 9, "", 0), hold(1, "cq/a", 4));
	assert_int_equal(mirror_holds(d.pg->mirror), 1);
	link_drop(d.pg->link, "cut by the test");
	assert_int_equal(mirror_rows(d.pg->mirror), 0);
	drive_until_up(&d);
	assert_false(at_once(&d, e, op(LEDGER_COMMIT, 1), LEDGER_APPLIED));
	assert_true(at_once(&d, e, op(LEDGER_STOP, 1), LEDGER_APPLIED));
	pg_resign(d.pg, e);
	assert_int_equal(drive_lease(&d, 0, 60000), LEDGER_DONE);
	assert_int_equal(mirror_rows(d.pg->mirror), 0);
	assert_false(at_once(&d, d.lease.epoch, op(LEDGER_RELEASE, 1), LEDGER_APPLIED));
	finish(&d);
}

static void test_hands_that_edit_rows_are_seen(void **state)
{
	(void)state;
	struct drive d;
	int64_t e = lead(&d, "hands");
	BATCH(&d, e, "AAA", cap("cq/a", 9, "", 0), hold(1, "cq/a", 4), hold(2, "cq/a", 2));
	/* somebody gives back what job 1 holds */
	pg_fixture_sql(&F,
		"WITH gone AS (DELETE FROM sluice.hold WHERE cell = 'hands' AND job_uid = "
		"'00000000-0000-0000-0000-000000000001' RETURNING *), told AS (INSERT INTO "
		"sluice.transfer SELECT cell, job_uid, attempt, 'VOID', 0, 1, now(), state, NULL, "
		"lines, 'by hand', 'admin', 0 FROM gone) "
		"UPDATE sluice.balance SET pending = 2 WHERE cell = 'hands'");
	assert_true(at_once(&d, e, op(LEDGER_RELEASE, 1), LEDGER_SPENT));
	assert_tree(&d, "cq/a 2/9");
	assert_sound();
	/* and makes room: only what was read is refused */
	pg_fixture_sql(
		&F, "UPDATE sluice.balance SET wanted = 30, ceiling = 30 WHERE cell = 'hands'");
	assert_false(at_once(&d, e, hold(3, "cq/a", 20), LEDGER_APPLIED));
	assert_tree(&d, "cq/a 22/30");
	finish(&d);
}

static int start(void **state)
{
	(void)state;
	pg_fixture_start(&F, false);
	struct drive d;
	drive_start(&d, &F, "first", "me");
	drive_lead(&d);
	drive_stop(&d);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	pg_fixture_stop(&F);
	return 0;
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
		cmocka_unit_test(test_life_of_a_hold_reads_nothing),
		cmocka_unit_test(test_new_connection_and_new_epoch_remember_nothing),
		cmocka_unit_test(test_hands_that_edit_rows_are_seen),
	};
	return cmocka_run_group_tests(tests, start, stop);
}
