/* What a node's status is to say, and when that is worth a write. */
#include "table.h"

#include "overcommit/publication.h"

#define S INT64_C(1000)
#define T0 INT64_C(1700000000000)
#define BOTH (LEND_BATCH | LEND_GOCRAN)

static const struct figures nothing = {.each = {-1, -1, -1, -1}};

static void same_figures(const char *row, struct figures is, struct figures shall)
{
	same(row, BATCH_CPU, is.batch_cpu, shall.batch_cpu);
	same(row, BATCH_MEMORY, is.batch_memory, shall.batch_memory);
	same(row, GOCRAN_CPU, is.gocran_cpu, shall.gocran_cpu);
	same(row, GOCRAN_MEMORY, is.gocran_memory, shall.gocran_memory);
}

static const struct {
	const char *name;
	unsigned names;
	bool off, hold, in_flight;
	struct load batch, gocran, batch_asked, gocran_asked;
	struct figures there, want;
} sayings[] = {
	{"batch alone", LEND_BATCH, .batch = {25000, 33 * G}, .gocran = {9000, 9 * G},
		.there = {{{-1, -1, -1, -1}}}, .want = {{{25000, 33 * G, -1, -1}}}},
	{"gocran alone, in whole cores", LEND_GOCRAN, .batch = {25000, 33 * G},
		.gocran = {9999, 9 * G}, .there = {{{-1, -1, -1, -1}}},
		.want = {{{-1, -1, 9, 9 * G}}}},
	{"both: one pool, the less of both estimates", BOTH, .batch = {25000, 33 * G},
		.gocran = {20500, 40 * G}, .there = {{{-1, -1, -1, -1}}},
		.want = {{{20500, 33 * G, 20, 33 * G}}}},
	{"each shows what the other has left", BOTH, .batch = {20000, 30 * G},
		.gocran = {20000, 30 * G}, .batch_asked = {5500, 8 * G},
		.gocran_asked = {4000, 6 * G}, .there = {{{-1, -1, -1, -1}}},
		.want = {{{16000, 24 * G, 14, 22 * G}}}},
	{"and not less than nothing", BOTH, .batch = {5000, 5 * G}, .gocran = {5000, 5 * G},
		.batch_asked = {9000, 9 * G}, .gocran_asked = {7000, 7 * G},
		.there = {{{-1, -1, -1, -1}}}, .want = {{{0, 0, 0, 0}}}},
	{"pods under a name that is not lent under any more", LEND_BATCH, .batch = {20000, 30 * G},
		.gocran = {0, 0}, .gocran_asked = {4000, 6 * G}, .there = {{{1, 1, 1, 1}}},
		.want = {{{16000, 24 * G, 0, 0}}}},
	{"Koordinator's: 50000 and 120 Gi, of which others have 10000 and 10 Gi", LEND_BATCH,
		.batch = {50000, 120 * GI}, .gocran_asked = {10000, 10 * GI},
		.there = {{{-1, -1, -1, -1}}}, .want = {{{40000, 110 * GI, -1, -1}}}},
	{"Koordinator's: others have more than there is", LEND_BATCH, .batch = {50000, 120 * GI},
		.gocran_asked = {60000, 120 * GI}, .there = {{{-1, -1, -1, -1}}},
		.want = {{{0, 0, -1, -1}}}},
	{"what is asked for is never less than nothing", BOTH, .batch = {5000, 5 * G},
		.gocran = {5000, 5 * G}, .batch_asked = {-9000, -G}, .gocran_asked = {-1, -1},
		.there = {{{-1, -1, -1, -1}}}, .want = {{{5000, 5 * G, 5, 5 * G}}}},

	{"disabled: 0, and no key less", BOTH, .off = true, .batch = {25000, 33 * G},
		.gocran = {25000, 33 * G}, .there = {{{25000, 33 * G, 25, 33 * G}}},
		.want = {{{0, 0, 0, 0}}}},
	{"disabled where there never was a figure", BOTH, .off = true, .batch = {25000, 33 * G},
		.there = {{{-1, -1, -1, -1}}}, .want = {{{-1, -1, -1, -1}}}},
	{"disabled where one key was", BOTH, .off = true, .there = {{{7, -1, -1, -1}}},
		.want = {{{0, -1, -1, -1}}}},
	{"gocran is not lent under any more", LEND_BATCH, .batch = {25000, 33 * G},
		.there = {{{9000, 9 * G, 25, 33 * G}}}, .want = {{{25000, 33 * G, 0, 0}}}},
	{"on hold: it may fall", BOTH, .hold = true, .batch = {20000, 30 * G},
		.gocran = {20000, 30 * G}, .there = {{{21000, 31 * G, 21, 31 * G}}},
		.want = {{{20000, 30 * G, 20, 30 * G}}}},
	{"on hold: and does not rise", BOTH, .hold = true, .batch = {20000, 30 * G},
		.gocran = {20000, 30 * G}, .there = {{{9000, 9 * G, 9, 9 * G}}},
		.want = {{{9000, 9 * G, 9, 9 * G}}}},
	{"on hold: though pods of the other name are gone", BOTH, .hold = true,
		.batch = {20000, 30 * G}, .gocran = {20000, 30 * G},
		.there = {{{20000, 30 * G, 5, 5 * G}}}, .want = {{{20000, 30 * G, 5, 5 * G}}}},
	{"on hold: what never was a figure is none", BOTH, .hold = true, .batch = {20000, 30 * G},
		.gocran = {20000, 30 * G}, .there = {{{9000, 9 * G, -1, -1}}},
		.want = {{{9000, 9 * G, -1, -1}}}},
	{"on hold and disabled", BOTH, .off = true, .hold = true,
		.there = {{{9000, 9 * G, -1, -1}}}, .want = {{{0, 0, -1, -1}}}},
	{"it falls below what is bound", LEND_BATCH, .batch = {2000, 2 * G},
		.batch_asked = {5000, 1 * G}, .there = {{{9000, 9 * G, -1, -1}}},
		.want = {{{2000, 2 * G, -1, -1}}}},
	{"in flight: to what is bound, and no further", LEND_BATCH, .in_flight = true,
		.batch = {2000, 2 * G}, .batch_asked = {5000, 1 * G},
		.there = {{{9000, 9 * G, -1, -1}}}, .want = {{{5000, 2 * G, -1, -1}}}},
	{"in flight: what was lower already is not raised for that", LEND_BATCH, .in_flight = true,
		.batch = {2000, 2 * G}, .batch_asked = {5000, 5 * G},
		.there = {{{3000, 1 * G, -1, -1}}}, .want = {{{3000, 2 * G, -1, -1}}}},
	{"in flight and on hold", LEND_BATCH, .hold = true, .in_flight = true,
		.batch = {2000, 2 * G}, .batch_asked = {5000, 5 * G},
		.there = {{{9000, 1 * G, -1, -1}}}, .want = {{{5000, 1 * G, -1, -1}}}},
	{"in flight and disabled", BOTH, .off = true, .in_flight = true,
		.batch_asked = {5000, 5 * G}, .there = {{{9000, 9 * G, 9, 9 * G}}},
		.want = {{{5000, 5 * G, 0, 0}}}},
	{"in flight: whole cores, rounded up", LEND_GOCRAN, .in_flight = true,
		.gocran = {1000, 1 * G}, .gocran_asked = {2500, 3 * G},
		.there = {{{-1, -1, 9, 9 * G}}}, .want = {{{-1, -1, 3, 3 * G}}}},
	{"in flight where there never was a figure", LEND_BATCH, .in_flight = true,
		.batch = {2000, 2 * G}, .batch_asked = {5000, 5 * G}, .there = {{{-1, -1, -1, -1}}},
		.want = {{{2000, 2 * G, -1, -1}}}},
	{"a key that is missing comes back", LEND_BATCH, .batch = {25000, 33 * G},
		.there = {{{9000, -1, -1, -1}}}, .want = {{{25000, 33 * G, -1, -1}}}},
};

static void what_it_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(sayings); i++) {
		struct strategy s = strategy_default(PROFILE_ACK);
		s.names = sayings[i].names;
		struct publication_input in = {&s, !sayings[i].off, sayings[i].hold,
			sayings[i].in_flight, sayings[i].batch, sayings[i].gocran,
			sayings[i].batch_asked, sayings[i].gocran_asked};
		same_figures(sayings[i].name, publication_figures(&in, &sayings[i].there),
			sayings[i].want);
	}
}

/* The strategy: a period of 60 s, a difference of 10 %, 300 s until what is old is written again.
 */
static const struct {
	const char *name;
	bool off, in_flight;
	struct load asked;
	struct figures want, there, written;
	int64_t ago_s; /* when it was last written; -1: unknown */
	enum publication_why why;
} writings[] = {
	/* Never what is there. */
	{"as it is there", .want = {{{1000, 1000, -1, -1}}}, .there = {{{1000, 1000, -1, -1}}},
		.written = {{{1000, 1000, -1, -1}}}, 1000, PUBLISH_NOT},
	{"as it is there, since before the start", .want = {{{1000, 1000, -1, -1}}},
		.there = {{{1000, 1000, -1, -1}}}, .written = {{{-1, -1, -1, -1}}}, -1,
		PUBLISH_NOT},
	{"nothing is wanted", .want = {{{-1, -1, -1, -1}}}, .there = {{{-1, -1, -1, -1}}},
		.written = {{{-1, -1, -1, -1}}}, -1, PUBLISH_NOT},

	/* At once. */
	{"never written", .want = {{{1000, 1000, -1, -1}}}, .there = {{{-1, -1, -1, -1}}},
		.written = {{{-1, -1, -1, -1}}}, -1, PUBLISH_FIRST},
	{"a key was taken away", .want = {{{1000, 1000, -1, -1}}}, .there = {{{1000, -1, -1, -1}}},
		.written = {{{1000, 1000, -1, -1}}}, 1, PUBLISH_FIRST},
	{"falls below what is asked for", .asked = {990, 0}, .want = {{{980, 1000, -1, -1}}},
		.there = {{{1000, 1000, -1, -1}}}, .written = {{{1000, 1000, -1, -1}}}, 1,
		PUBLISH_SAFETY},
	{"memory falls below what is asked for", .asked = {0, 990}, .want = {{{1000, 980, -1, -1}}},
		.there = {{{1000, 1000, -1, -1}}}, .written = {{{1000, 1000, -1, -1}}}, 1,
		PUBLISH_SAFETY},
	{"falls to what is asked for", .asked = {980, 0}, .want = {{{980, 1000, -1, -1}}},
		.there = {{{1000, 1000, -1, -1}}}, .written = {{{1000, 1000, -1, -1}}}, 1,
		PUBLISH_NOT},
	{"falls to what is asked for, in flight", .in_flight = true, .asked = {980, 0},
		.want = {{{980, 1000, -1, -1}}}, .there = {{{1000, 1000, -1, -1}}},
		.written = {{{1000, 1000, -1, -1}}}, 1, PUBLISH_SAFETY},
	{"and falls on when nothing is in flight any more", .asked = {980, 0},
		.want = {{{500, 1000, -1, -1}}}, .there = {{{980, 1000, -1, -1}}},
		.written = {{{980, 1000, -1, -1}}}, 1, PUBLISH_SAFETY},
	{"is below it already, and falls", .asked = {2000, 0}, .want = {{{980, 1000, -1, -1}}},
		.there = {{{1000, 1000, -1, -1}}}, .written = {{{1000, 1000, -1, -1}}}, 1,
		PUBLISH_NOT},
	{"somebody else changed it", .want = {{{1000, 1000, -1, -1}}},
		.there = {{{9999, 1000, -1, -1}}}, .written = {{{1000, 1000, -1, -1}}}, 1,
		PUBLISH_FOREIGN},
	{"somebody else changed it to what is wanted now", .want = {{{1100, 1000, -1, -1}}},
		.there = {{{1100, 1000, -1, -1}}}, .written = {{{1000, 1000, -1, -1}}}, 1,
		PUBLISH_NOT},
	{"switched off", .off = true, .want = {{{0, 0, -1, -1}}}, .there = {{{1000, 1000, -1, -1}}},
		.written = {{{1000, 1000, -1, -1}}}, 1, PUBLISH_OFF},
	{"switched off, and 0 already", .off = true, .want = {{{0, 0, -1, -1}}},
		.there = {{{0, 0, -1, -1}}}, .written = {{{0, 0, -1, -1}}}, 1, PUBLISH_NOT},
	{"no longer lent under gocran", .want = {{{1000, 1000, 0, 0}}},
		.there = {{{1000, 1000, 5, 1000}}}, .written = {{{1000, 1000, 5, 1000}}}, 1,
		PUBLISH_OFF},

	/* After the period. */
	{"11 % more, before the period is over", .want = {{{1110, 1000, -1, -1}}},
		.there = {{{1000, 1000, -1, -1}}}, .written = {{{1000, 1000, -1, -1}}}, 59,
		PUBLISH_NOT},
	{"11 % more", .want = {{{1110, 1000, -1, -1}}}, .there = {{{1000, 1000, -1, -1}}},
		.written = {{{1000, 1000, -1, -1}}}, 60, PUBLISH_DIFF},
	{"10 % more", .want = {{{1100, 1000, -1, -1}}}, .there = {{{1000, 1000, -1, -1}}},
		.written = {{{1000, 1000, -1, -1}}}, 60, PUBLISH_NOT},
	{"11 % less", .want = {{{1000, 889, -1, -1}}}, .there = {{{1000, 1000, -1, -1}}},
		.written = {{{1000, 1000, -1, -1}}}, 60, PUBLISH_DIFF},
	{"anything, where there was 0", .want = {{{1, 0, -1, -1}}}, .there = {{{0, 0, -1, -1}}},
		.written = {{{0, 0, -1, -1}}}, 60, PUBLISH_DIFF},
	{"to 0, by use", .want = {{{0, 1000, -1, -1}}}, .there = {{{1000, 1000, -1, -1}}},
		.written = {{{1000, 1000, -1, -1}}}, 60, PUBLISH_DIFF},
	{"a little, and it is not old", .want = {{{1001, 1000, -1, -1}}},
		.there = {{{1000, 1000, -1, -1}}}, .written = {{{1000, 1000, -1, -1}}}, 300,
		PUBLISH_NOT},
	{"a little, and it is old", .want = {{{1001, 1000, -1, -1}}},
		.there = {{{1000, 1000, -1, -1}}}, .written = {{{1000, 1000, -1, -1}}}, 301,
		PUBLISH_OLD},
	{"a little, and when it was written is unknown", .want = {{{1001, 1000, -1, -1}}},
		.there = {{{1000, 1000, -1, -1}}}, .written = {{{-1, -1, -1, -1}}}, -1,
		PUBLISH_OLD},
	{"much, and when it was written is unknown", .want = {{{2000, 1000, -1, -1}}},
		.there = {{{1000, 1000, -1, -1}}}, .written = {{{-1, -1, -1, -1}}}, -1,
		PUBLISH_DIFF},
	{"written in the future: the clock was set back", .want = {{{1001, 1000, -1, -1}}},
		.there = {{{1000, 1000, -1, -1}}}, .written = {{{1000, 1000, -1, -1}}}, -3600,
		PUBLISH_OLD},

	/* Of several reasons the first. */
	{"off goes before all", .off = true, .asked = {500, 500}, .want = {{{0, 0, -1, -1}}},
		.there = {{{9999, 1000, -1, -1}}}, .written = {{{1000, 1000, -1, -1}}}, 1000,
		PUBLISH_OFF},
	{"safety before foreign", .asked = {990, 0}, .want = {{{980, 1000, -1, -1}}},
		.there = {{{9999, 1000, -1, -1}}}, .written = {{{1000, 1000, -1, -1}}}, 1000,
		PUBLISH_SAFETY},
};

static void when_it_is_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(writings); i++) {
		struct strategy s = strategy_default(PROFILE_ACK);
		struct publication_input in = {.strategy = &s,
			.lend = !writings[i].off,
			.in_flight = writings[i].in_flight,
			.batch_asked = writings[i].asked};
		int64_t written_ms = writings[i].ago_s == -1 ? 0 : T0 - writings[i].ago_s * S;
		enum publication_why why = publication_due(&in, &writings[i].want,
			&writings[i].there, &writings[i].written, written_ms, T0);
		if (why != writings[i].why)
			print_error("%s: %s\n", writings[i].name, publication_why_name(why));
		assert_int_equal(why, writings[i].why);
	}
}

/* gocran.io/cpu is of whole cores: a pod that asks for 1500 thousandths needs two of them. */
static void whole_cores_are_compared_as_such(void **state)
{
	(void)state;
	struct strategy s = strategy_default(PROFILE_ACK);
	s.names = LEND_GOCRAN;
	struct publication_input in = {
		.strategy = &s, .lend = true, .gocran_asked = {.cpu_milli = 1500}};
	struct figures want = {.each = {-1, -1, 1, 10}}, there = {.each = {-1, -1, 2, 10}};
	assert_int_equal(publication_due(&in, &want, &there, &there, T0, T0), PUBLISH_SAFETY);
	in.gocran_asked.cpu_milli = 1000;
	assert_int_equal(publication_due(&in, &want, &there, &there, T0, T0), PUBLISH_NOT);
}

/* Pods come and go under either name, and what they ask for together is never more than the pool,
 * as long as the pool is and what is published is seen before the next one is placed. */
static void one_pool_is_lent_once(void **state)
{
	(void)state;
	uint64_t seed = 12345;
	for (int run = 0; run < 2000; run++) {
		struct strategy s = strategy_default(PROFILE_ACK);
		s.names = BOTH;
		struct publication_input in = {.strategy = &s,
			.lend = true,
			.batch = {20000, 40 * G},
			.gocran = {22000, 36 * G}};
		struct figures there = nothing;
		for (int step = 0; step < 20; step++) {
			there = publication_figures(&in, &there);
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
			bool gocran = seed >> 63;
			struct load pod = {
				(int64_t)(seed >> 40 & 7) * 1000, (int64_t)(seed >> 44 & 15) * G};
			struct load *asked = gocran ? &in.gocran_asked : &in.batch_asked;
			struct load is = gocran ? CORES(there.gocran_cpu, 0)
						: (struct load){there.batch_cpu, 0};
			is.memory_bytes = gocran ? there.gocran_memory : there.batch_memory;
			struct load with = load_add(*asked, pod);
			/* The scheduler's rule: what all ask for is not more than what is there. */
			if (with.cpu_milli <= is.cpu_milli && with.memory_bytes <= is.memory_bytes)
				*asked = with;
			struct load all = load_add(in.batch_asked, in.gocran_asked);
			assert_true(all.cpu_milli <= 20000 && all.memory_bytes <= 36 * G);
		}
	}
}

static void any_numbers(void **state)
{
	static const int64_t ends[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
	(void)state;
	for (size_t i = 0; i < 5 * 5 * 5 * 5; i++) {
		int64_t a = ends[i % 5], b = ends[i / 5 % 5], c = ends[i / 25 % 5];
		int64_t d = ends[i / 125 % 5];
		struct strategy s = strategy_default(PROFILE_ACK);
		s.names = BOTH;
		s.diff_permille = s.period_s = s.rewrite_s = d;
		struct publication_input in = {
			&s, true, false, i % 2, {a, b}, {b, c}, {c, d}, {d, a}};
		struct figures there = {.each = {a, b, c, d}}, written = {.each = {d, c, b, a}};
		struct figures want = publication_figures(&in, &there);
		assert_true(want.batch_cpu >= 0 && want.batch_memory >= 0);
		assert_true(want.gocran_cpu >= 0 && want.gocran_memory >= 0);
		publication_due(&in, &want, &there, &written, b, c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_it_says),
		cmocka_unit_test(when_it_is_written),
		cmocka_unit_test(whole_cores_are_compared_as_such),
		cmocka_unit_test(one_pool_is_lent_once), cmocka_unit_test(any_numbers)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
