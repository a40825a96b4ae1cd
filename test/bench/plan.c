/*
 * How long a booking and a look take in a plan of quota with many bookings. No test: it prints a
 * table, and as its last line one JSON object. Usage: bench_plan [BOOKINGS], by default 10,000.
 *
 *   book    a booking goes and another one is made
 *   look    the earliest start of a Job, anywhere in the time that is planned
 *   starts  all stretches in which it may start within a day, as Cheapest asks
 *   now     does a start now overlap what is planned?
 *
 * The worlds:
 *
 *   busy    twenty ClusterQueues in two levels of Cohorts, cpu and memory, bookings of an hour or so
 *           over four weeks: nine tenths of the quota are booked
 *   lent    the same, and each ClusterQueue keeps a part to itself (lendingLimit)
 *   comb    one ClusterQueue, all of its quota booked for every other minute: no gap is long
 *           enough, so a look has to see each
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/symbol.h"
#include "queue/core/model/quota_plan.h"
#include "test/bench/cpu.h"

enum { QUEUES = 20, COHORTS = 4, PAIRS = 2, ROUNDS = 2000 };

#define MINUTE INT64_C(60000)
#define HOUR (60 * MINUTE)
#define SPAN (28 * 24 * HOUR)

static const char *const resource[PAIRS] = {"cpu", "memory"};

struct world {
	uint64_t dice;
	struct map symbols;
	struct quota quota;
	struct quota_node *root, *cohort[COHORTS], *queue[QUEUES];
	struct quota_plan plan;
	struct booking **booking;
	size_t n;
	int64_t most; /* that a booking asks for of each resource */
};

static int64_t roll(struct world *w, int64_t n)
{
	w->dice = w->dice * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((w->dice >> 33) % (uint64_t)n);
}

static void set_limits(struct world *w, struct quota_node *node, int64_t nominal, int64_t lending)
{
	struct quota_limits l = {nominal, QUOTA_UNLIMITED, lending};
	for (int i = 0; i < PAIRS; i++)
		quota_set_limits(quota_row_of(&w->quota, node, "spot", resource[i]), &l);
}

static void world_make(struct world *w, int64_t nominal, int64_t lending)
{
	static int a_cohort;
	char name[32];
	*w = (struct world){.dice = 7};
	symbols_init(&w->symbols);
	quota_init(&w->quota, &w->symbols);
	quota_plan_init(&w->plan, &w->quota);
	w->root = quota_node_of(&w->quota, "cohort/root");
	w->root->cohort = (struct cohort *)(void *)&a_cohort;
	for (int i = 0; i < COHORTS; i++) {
		snprintf(name, sizeof(name), "cohort/%d", i);
		w->cohort[i] = quota_node_of(&w->quota, name);
		w->cohort[i]->cohort = w->root->cohort;
		quota_move(&w->quota, w->cohort[i], w->root);
	}
	for (int i = 0; i < QUEUES; i++) {
		snprintf(name, sizeof(name), "cq/%d", i);
		w->queue[i] = quota_node_of(&w->quota, name);
		set_limits(w, w->queue[i], nominal, lending);
		quota_move(&w->quota, w->queue[i], w->cohort[i % COHORTS]);
	}
	quota_settle(&w->quota, w->root);
}

static void world_end(struct world *w)
{
	free(w->booking);
	quota_plan_done(&w->plan);
	quota_done(&w->quota);
	symbols_done(&w->symbols);
}

/* What is asked for, at some ClusterQueue. */
struct wants {
	struct booking_line line[PAIRS];
	struct booking_lines lines;
};

static void draw_wants(struct world *w, struct wants *ret)
{
	struct quota_node *node = w->queue[roll(w, QUEUES)];
	for (int i = 0; i < PAIRS; i++)
		ret->line[i] = (struct booking_line){
			quota_row_of(&w->quota, node, "spot", resource[i]), 1 + roll(w, w->most)};
	ret->lines = (struct booking_lines){ret->line, PAIRS};
}

static struct booking *book_one(struct world *w)
{
	struct wants a;
	struct uid who = {{0}};
	int64_t length = MINUTE + roll(w, 2 * HOUR), from_ms = roll(w, SPAN - length);
	draw_wants(w, &a);
	return quota_plan_book(
		&w->plan, BOOKING_CHEAPEST, &who, a.lines, from_ms, from_ms + length);
}

/* ---- What is timed ---- */

struct times {
	double mean_us, most_us;
};

static void time_add(struct times *t, double began_us, int rounds)
{
	double took_us = cpu_us() - began_us;
	t->mean_us += took_us / rounds;
	t->most_us = took_us > t->most_us ? took_us : t->most_us;
}

static struct times time_book(struct world *w)
{
	struct times t = {0, 0};
	for (int i = 0; i < ROUNDS; i++) {
		size_t which = (size_t)roll(w, (int64_t)w->n);
		double began_us = cpu_us();
		quota_plan_unbook(&w->plan, w->booking[which]);
		w->booking[which] = book_one(w);
		time_add(&t, began_us, ROUNDS);
	}
	return t;
}

static struct times time_look(struct world *w, size_t *ret_found)
{
	struct times t = {0, 0};
	for (int i = 0; i < ROUNDS; i++) {
		struct wants a;
		draw_wants(w, &a);
		int64_t from_ms = roll(w, SPAN), length_ms = MINUTE + roll(w, 4 * HOUR);
		double began_us = cpu_us();
		*ret_found += quota_plan_earliest(
				      &w->plan, a.lines, length_ms, from_ms, INT64_MAX) < SPAN;
		time_add(&t, began_us, ROUNDS);
	}
	return t;
}

static struct times time_starts(struct world *w, size_t *ret_found)
{
	struct times t = {0, 0};
	for (int i = 0; i < ROUNDS; i++) {
		struct wants a;
		draw_wants(w, &a);
		int64_t at_ms = roll(w, SPAN), latest_ms = at_ms + 24 * HOUR, to_ms;
		int64_t length_ms = MINUTE + roll(w, 2 * HOUR);
		double began_us = cpu_us();
		while (at_ms <= latest_ms && quota_plan_next_starts(&w->plan, a.lines, length_ms,
						     latest_ms, &at_ms, &to_ms)) {
			++*ret_found;
			at_ms = to_ms + 1;
		}
		time_add(&t, began_us, ROUNDS);
	}
	return t;
}

static struct times time_now(struct world *w, size_t *ret_fits)
{
	struct times t = {0, 0};
	for (int i = 0; i < ROUNDS; i++) {
		struct wants a;
		draw_wants(w, &a);
		int64_t from_ms = roll(w, SPAN), length_ms = MINUTE + roll(w, 2 * HOUR);
		double began_us = cpu_us();
		*ret_fits += quota_plan_has_room(&w->plan, a.lines, from_ms, from_ms + length_ms);
		time_add(&t, began_us, ROUNDS);
	}
	return t;
}

/* ---- Worlds ---- */

static void print_row(const char *world, const char *what, struct times t, const char *note)
{
	printf("  %-5s %-7s %9.2f us   at most %8.1f us   %s\n", world, what, t.mean_us, t.most_us,
		note);
}

/* Returns the JSON of it, in text. */
static void time_world(struct world *w, const char *name, char *text, size_t size)
{
	size_t found = 0, stretches = 0, fits = 0;
	char note[64];
	struct times book = time_book(w), look = time_look(w, &found);
	struct times starts = time_starts(w, &stretches), now = time_now(w, &fits);
	print_row(name, "book", book, "one goes, one comes");
	snprintf(note, sizeof(note), "%zu of %d found a place", found, ROUNDS);
	print_row(name, "look", look, note);
	snprintf(note, sizeof(note), "%.1f stretches each", (double)stretches / ROUNDS);
	print_row(name, "starts", starts, note);
	snprintf(note, sizeof(note), "%zu of %d overlap nothing", fits, ROUNDS);
	print_row(name, "now", now, note);
	snprintf(text, size,
		"\"%s\": {\"book_us\": %.2f, \"look_us\": %.2f, \"look_most_us\": %.1f, "
		"\"starts_us\": %.2f, \"now_us\": %.2f}",
		name, book.mean_us, look.mean_us, look.most_us, starts.mean_us, now.mean_us);
}

/* Nine tenths of the quota are booked, on average. */
static void time_busy(const char *name, size_t bookings, bool keeps, char *text, size_t size)
{
	struct world w;
	const int64_t most = 1000, each = (HOUR + MINUTE) * (most + 1) / 2;
	int64_t quota = (int64_t)bookings * each / SPAN * 10 / 9 / QUEUES + 1;
	world_make(&w, quota, keeps ? quota / 2 : QUOTA_UNLIMITED);
	w.most = most;
	w.n = bookings;
	w.booking = mem_array(bookings, sizeof(struct booking *));
	for (size_t i = 0; i < bookings; i++)
		w.booking[i] = book_one(&w);
	time_world(&w, name, text, size);
	world_end(&w);
}

static void time_comb(size_t bookings, char *text, size_t size)
{
	struct world w;
	struct uid who = {{0}};
	struct times t = {0, 0};
	world_make(&w, 1000, QUOTA_UNLIMITED);
	struct booking_line line[PAIRS];
	for (int i = 0; i < PAIRS; i++)
		line[i] = (struct booking_line){
			quota_row_of(&w.quota, w.queue[0], "spot", resource[i]), 1000 * QUEUES};
	struct booking_lines lines = {line, PAIRS};
	for (size_t i = 0; i < bookings; i++)
		quota_plan_book(&w.plan, BOOKING_CHEAPEST, &who, lines, (int64_t)(2 * i) * MINUTE,
			(int64_t)(2 * i + 1) * MINUTE);
	for (int i = 0; i < ROUNDS / 10; i++) {
		double began_us = cpu_us();
		int64_t at_ms = quota_plan_earliest(&w.plan, lines, 2 * MINUTE, 0, INT64_MAX);
		time_add(&t, began_us, ROUNDS / 10);
		if (at_ms != (int64_t)(2 * bookings - 1) * MINUTE)
			abort();
	}
	print_row("comb", "look", t, "past all gaps");
	snprintf(text, size, "\"comb\": {\"look_us\": %.2f}", t.mean_us);
	world_end(&w);
}

int main(int argc, char **argv)
{
	char busy[256], lent[256], comb[64];
	size_t bookings = argc > 1 ? strtoul(argv[1], NULL, 10) : QUOTA_PLAN_MAX;
	if (bookings < 1 || bookings > QUOTA_PLAN_MAX) {
		fprintf(stderr, "usage: bench_plan [BOOKINGS], from 1 to %d\n", QUOTA_PLAN_MAX);
		return 2;
	}
	printf("%zu bookings\n", bookings);
	time_busy("busy", bookings, false, busy, sizeof(busy));
	time_busy("lent", bookings, true, lent, sizeof(lent));
	time_comb(bookings, comb, sizeof(comb));
	printf("{\"bench\": \"plan\", \"bookings\": %zu, %s, %s, %s}\n", bookings, busy, lent,
		comb);
	return 0;
}
