/*
 * Postgres against the model: the same random batches through both; every verdict, every balance
 * and every reservation must agree after each. The model (test/sim/model_ledger.h) is what the gate
 * was simulated against, so this is what makes the simulation's word good for the real ledger.
 *
 *   test_ledger_parity [first seed] [seeds]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/order.h"
#include "test/sim/model_ledger.h"
#include "test/sim/rng.h"
#include "drive.h"

#define BATCHES 20
#define OPS_MAX 60
#define LINES_MAX 4
#define JOBS 10

static uint64_t first_seed = 1, seeds = 12;

struct world {
	uint64_t seed;
	struct rng rng;
	struct drive d;
	struct model_ledger *model;
	int64_t epoch, at_ms;
	bool small; /* batches are: most of them are judged from what the driver remembers */
	struct ledger_op ops[OPS_MAX];
	struct quota_line lines[OPS_MAX][LINES_MAX];
};

static void draw_lines(struct world *w, size_t i, int64_t most)
{
	static const char *const nodes[] = {"cq/a", "cq/b", "cohort/all"};
	static const char *const resources[] = {"cpu", "pods"};
	size_t n = 0;
	for (size_t k = 0; k < 6 && n < LINES_MAX; k++)
		if (rng_odds(&w->rng, 5000))
			w->lines[i][n++] = (struct quota_line){nodes[k / 2], "spot",
				resources[k % 2], rng_between(&w->rng, 0, most)};
	w->ops[i].lines = w->lines[i];
	w->ops[i].nlines = n;
}

static bool same_key(const struct ledger_op *a, const struct ledger_op *b)
{
	return a->kind == b->kind && a->kind != LEDGER_CEILING && a->attempt == b->attempt &&
	       a->seq == b->seq && !uid_cmp(&a->uid, &b->uid);
}

/* Of any node, below any other or none: circles come and go. */
static void draw_ceiling(struct world *w, size_t i)
{
	static const char *const nodes[] = {
		"cq/a", "cq/b", "cohort/all", "cohort/top", "cohort/all"};
	static const char *const parents[] = {
		"cohort/all", "cohort/top", "", NULL, "cohort/all", "cohort/top", "cohort/all"};
	static const char *const resources[] = {"cpu", "pods"};
	struct ledger_op *op = &w->ops[i];
	w->lines[i][0] = (struct quota_line){nodes[rng_between(&w->rng, 0, 4)], "spot",
		resources[rng_between(&w->rng, 0, 1)], rng_between(&w->rng, 0, 40)};
	if (rng_odds(&w->rng, 1500))
		w->lines[i][0].amount = QUOTA_UNLIMITED;
	op->nlines = 1;
	op->parent = parents[rng_between(&w->rng, 0, 6)];
	if (op->parent && !strcmp(op->parent, w->lines[i][0].node))
		op->parent = "";
	op->guaranteed = rng_odds(&w->rng, 5000) ? rng_between(&w->rng, 0, 20) : 0;
}

/* JSON as Postgres writes it. */
static void draw_bill(struct world *w, struct ledger_op *op)
{
	static const char *const owners[] = {"CronJob/nightly", "sweep-", "job", NULL};
	static const char *const users[] = {"alice", "system:serviceaccount:a:b", NULL};
	static const char *const labels[] = {"{\"team\": \"a\"}", "{}", NULL};
	static const char *const prices[] = {
		"[{\"from\": \"2026-11-21T10:00:00Z\", \"perHour\": \"0.0800\"}]", "[]", NULL};
	op->submitted_by = users[rng_between(&w->rng, 0, 2)];
	op->owner = owners[rng_between(&w->rng, 0, 3)];
	op->labels = labels[rng_between(&w->rng, 0, 2)];
	op->priced = rng_odds(&w->rng, 7000);
	op->plan = "day";
	op->currency = rng_odds(&w->rng, 5000) ? "EUR" : "USD";
	op->price = prices[rng_between(&w->rng, 0, 2)];
	op->cost = rng_between(&w->rng, -5, 1000000000);
}

static void draw_op(struct world *w, size_t i)
{
	/* As a gate would ask more often than not, so that reservations get far. */
	static const enum ledger_kind kinds[] = {LEDGER_RESERVE, LEDGER_RESERVE, LEDGER_RESERVE,
		LEDGER_RESERVE, LEDGER_COMMIT, LEDGER_COMMIT, LEDGER_STOP, LEDGER_SHRINK,
		LEDGER_SHRINK, LEDGER_GROW, LEDGER_GROW, LEDGER_GROW, LEDGER_RELEASE, LEDGER_VOID,
		LEDGER_CEILING, LEDGER_ADOPT};
	struct ledger_op *op = &w->ops[i];
	*op = (struct ledger_op){.kind = kinds[rng_between(&w->rng, 0, 15)],
		.attempt = (int32_t)rng_skewed(&w->rng, 1, 6),
		.at_ms = w->at_ms++,
		.ns = "ns",
		.name = "job",
		.clusterqueue = "a",
		.localqueue = rng_odds(&w->rng, 5000) ? "main" : NULL,
		.reason = "Finished",
		.actor = "parity",
		.lost_ms = rng_between(&w->rng, 0, 9)};
	op->uid.byte[15] = (uint8_t)rng_between(&w->rng, 1, JOBS);
	draw_bill(w, op);
	if (ledger_changes_size(op->kind))
		op->seq = (int32_t)rng_between(&w->rng, 1, 6);
	op->adopts = op->kind == LEDGER_GROW && rng_odds(&w->rng, 2000);
	draw_lines(w, i, 8);
	if (op->kind == LEDGER_CEILING)
		draw_ceiling(w, i);
}

static size_t draw_batch(struct world *w)
{
	size_t most = w->small ? 2 : OPS_MAX;
	size_t n = (size_t)rng_skewed(&w->rng, 1, (int64_t)most), made = 0;
	memset(w->lines, 0, sizeof(w->lines));
	while (made < n) {
		draw_op(w, made);
		bool fresh = true;
		for (size_t k = 0; k < made; k++)
			fresh &= !same_key(&w->ops[k], &w->ops[made]);
		if (fresh)
			made++;
		else
			n--; /* two of the same key never meet in one batch */
	}
	return made;
}

static void compare_results(
	struct world *w, int batch, const struct ledger_result *expected, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct ledger_result *e = &expected[i], *a = &w->d.results[i];
		if (e->verdict == a->verdict && e->next_attempt == a->next_attempt)
			continue;
		fail_msg("seed %llu batch %d operation %zu (%s job %d attempt %d): the model says "
			 "%d next %d, Postgres %d next %d",
			(unsigned long long)w->seed, batch, i, ledger_kind_name(w->ops[i].kind),
			w->ops[i].uid.byte[15], w->ops[i].attempt, e->verdict, e->next_attempt,
			a->verdict, a->next_attempt);
	}
}

static void compare_balances(struct world *w, int batch)
{
	const struct model_row *rows;
	size_t n = model_ledger_rows(w->model, &rows), shown = 0;
	char text[10][160], *sorted[10] = {0}, all[10 * 160] = "";
	for (size_t i = 0; i < n; i++) {
		const struct model_row *r = &rows[i];
		if (!r->bound)
			continue; /* whether a row of nothing exists is nobody's business */
		snprintf(text[shown], sizeof(text[shown]),
			"%s %s below '%s' but %lld: %lld/%lld/%lld and %lld, %lld %lld;", r->node,
			r->resource, r->parent, (long long)r->guaranteed, (long long)r->pending,
			(long long)r->posted, (long long)r->releasing, (long long)r->members,
			(long long)r->ceiling, (long long)r->bound);
		sorted[shown] = text[shown];
		shown++;
	}
	qsort(sorted, shown, sizeof(*sorted), text_order);
	for (size_t i = 0; i < shown; i++)
		strcat(all, sorted[i]);
	const char *actual = pg_fixture_sql(&F,
		"SELECT string_agg(t, '' ORDER BY t COLLATE \"C\") FROM (SELECT format("
		"'%%s %%s below ''%%s'' but %%s: %%s/%%s/%%s and %%s, %%s %%s;', node, resource, "
		"parent, guaranteed, pending, posted, releasing, members, wanted, ceiling) AS t "
		"FROM sluice.balance WHERE cell = '%s' AND ceiling > 0) AS b",
		w->d.cell);
	if (strcmp(all, actual))
		fail_msg("seed %llu batch %d: balances\nmodel    %s\nPostgres %s",
			(unsigned long long)w->seed, batch, all, actual);
}

static void compare_reservations(struct world *w, int batch)
{
	struct ledger_reservation *reservations;
	size_t n;
	struct buf expected;
	buf_init(&expected, (size_t)1 << 20);
	assert_int_equal(model_ledger_load(w->model, 1, &reservations, &n), LEDGER_DONE);
	for (size_t i = 0; i < n; i++)
		reservation_print(&expected, &reservations[i]);
	assert_int_equal(drive_load(&w->d, w->epoch), LEDGER_DONE);
	if (strcmp(buf_text(&expected), buf_text(&w->d.reservations)))
		fail_msg("seed %llu batch %d: holds\nmodel\n%sPostgres\n%s",
			(unsigned long long)w->seed, batch, buf_text(&expected),
			buf_text(&w->d.reservations));
	buf_done(&expected);
	free(reservations);
}

static void bill_print(struct buf *out, const struct model_reservation *h)
{
	buf_printf(out, "%d.%d %s|%s|%s|", h->reservation.uid.byte[15], h->reservation.attempt,
		h->owner, h->labels ? h->labels : "", h->submitted_by ? h->submitted_by : "");
	if (h->bill.priced)
		buf_printf(out, "%s|%s|%s|%lld;", h->bill.plan, h->bill.currency,
			h->bill.price ? h->bill.price : "", (long long)h->bill.cost);
	else
		buf_puts(out, "|||;");
}

/* The runs that have ended, by Job and attempt. */
static void compare_segments(struct world *w, int batch)
{
	const struct model_reservation *const *reservations;
	struct buf expected;
	size_t n = model_ledger_reservations(w->model, &reservations);
	buf_init(&expected, (size_t)1 << 20);
	for (int32_t job = 1; job <= JOBS; job++)
		for (int32_t attempt = 1; attempt < 100; attempt++)
			for (size_t i = 0; i < n; i++)
				if (reservations[i]->reservation.uid.byte[15] == job &&
					reservations[i]->reservation.attempt == attempt &&
					!reservations[i]->open && reservations[i]->committed)
					bill_print(&expected, reservations[i]);
	const char *actual = pg_fixture_sql(&F,
		"SELECT string_agg(concat(get_byte(uuid_send(job_uid), 15), '.', attempt, ' ', "
		"owner, '|', labels, '|', submitted_by, '|', plan, '|', currency, '|', price, '|', cost_micro, ';'), "
		"'' ORDER BY job_uid, attempt) FROM sluice.segment WHERE cell = '%s'",
		w->d.cell);
	if (strcmp(buf_text(&expected), actual))
		fail_msg("seed %llu batch %d: segments\nmodel    %s\nPostgres %s",
			(unsigned long long)w->seed, batch, buf_text(&expected), actual);
	buf_done(&expected);
}

static void compare_batch(struct world *w, int b, size_t n)
{
	struct ledger_result expected[OPS_MAX];
	struct ledger_batch batch = {1, w->ops, n};
	assert_int_equal(model_ledger_batch(w->model, &batch, SIZE_MAX, expected), LEDGER_DONE);
	assert_int_equal(drive_batch(&w->d, w->epoch, w->ops, n), LEDGER_DONE);
	compare_results(w, b, expected, n);
	compare_balances(w, b);
	compare_reservations(w, b);
	compare_segments(w, b);
}

/* Whatever circles are left, a tree comes of it, in whichever order its CEILINGs come. */
static size_t draw_tree(struct world *w)
{
	static const char *const nodes[] = {"cq/a", "cq/b", "cohort/all", "cohort/top"};
	static const char *const parents[] = {"cohort/all", "cohort/all", "cohort/top", ""};
	static const char *const resources[] = {"cpu", "pods"};
	size_t first = (size_t)rng_between(&w->rng, 0, 7), step = rng_odds(&w->rng, 5000) ? 3 : 5;
	for (size_t i = 0; i < 8; i++) {
		size_t k = (first + i * step) % 8;
		w->lines[i][0] = (struct quota_line){nodes[k / 2], "spot", resources[k % 2], 10};
		w->ops[i] = (struct ledger_op){.kind = LEDGER_CEILING,
			.lines = w->lines[i],
			.nlines = 1,
			.parent = parents[k / 2],
			.guaranteed = 4};
	}
	return 8;
}

static void run(uint64_t seed)
{
	static struct world w;
	struct ledger_lease lease;
	char cell[32];
	memset(&w, 0, sizeof(w));
	w.seed = seed;
	w.at_ms = 1700000000000;
	rng_seed(&w.rng, seed);
	snprintf(cell, sizeof(cell), "seed-%llu", (unsigned long long)seed);
	drive_start(&w.d, &F, cell, "me");
	w.epoch = drive_lead(&w.d);
	w.model = model_ledger_new();
	model_ledger_lease(w.model, "me", 0, 0, INT32_MAX, false, 0, &lease);
	w.small = seed % 3 == 0;
	for (int b = 0; b < (w.small ? BATCHES * 5 : BATCHES); b++) {
		size_t n = draw_batch(&w);
		compare_batch(&w, b, n);
	}
	compare_batch(&w, BATCHES, draw_tree(&w));
	model_ledger_free(w.model);
	drive_stop(&w.d);
}

static void test_postgres_does_what_the_model_does(void **state)
{
	(void)state;
	for (uint64_t s = first_seed; s < first_seed + seeds; s++)
		run(s);
	assert_string_equal(drive_audit(), "");
}

int main(int argc, char **argv)
{
	first_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : first_seed;
	seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : seeds;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_postgres_does_what_the_model_does)};
	return cmocka_run_group_tests(tests, drive_open_group, drive_close_group);
}
