/* Which pods have to go, and in which order. */
#include "table.h"

#include "overcommit/reclaim.h"

#define S INT64_C(1000)
#define T0 INT64_C(1700000000000)
#define NPODS 8

/* A pod that may be stopped, by name, with what it asks for. */
#define POD(n, ...)                                                                                \
	{                                                                                          \
		.name = n, .movable = true, __VA_ARGS__                                            \
	}
#define ASKS(cpu, memory) .asked = {(cpu)*1000, (memory)*G}
#define USES(cpu, memory) .has_used = true, .used = {(cpu)*1000, (memory)*G}

static struct strategy usual(void)
{
	struct strategy s = strategy_default(PROFILE_ACK);
	s.enable = true;
	return s;
}

static size_t npods(const struct reclaim_pod *pods)
{
	size_t n = 0;
	while (n < NPODS && pods[n].name)
		n++;
	return n;
}

/* Two samples that say the same, 15 s apart: who has to go after the second, as a text. */
static void look_twice(const struct strategy *s, const struct reclaim_node *n,
	enum reclaim_trigger trigger[2], char text[static 256])
{
	struct reclaim_memory m = {0};
	size_t victims[NPODS], nvictims = 0;
	for (int i = 0; i < 2; i++) {
		trigger[i] = reclaim_look(&m, s, n, T0 + i * 15 * S, victims, &nvictims);
		if (nvictims)
			break;
	}
	*text = 0;
	for (size_t i = 0; i < nvictims; i++) {
		strcat(text, i ? " " : "");
		strcat(text, n->pods[victims[i]].name);
	}
}

static const struct {
	const char *name;
	struct load lent, used; /* of 100 cores and 120 G */
	struct reclaim_pod pods[NPODS];
	enum reclaim_trigger first, second;
	const char *victims;
} reclaims[] = {
	{"all is well", CORES(20, 40), CORES(50, 60),
		{POD("a", ASKS(10, 20)), POD("b", ASKS(10, 20))}, RECLAIM_NONE, RECLAIM_NONE, ""},

	/* ALLOCATABLE: 110 percent of what may be lent is asked for. */
	{"110 % are borne", CORES(10, 40), CORES(50, 60),
		{POD("a", ASKS(5, 1)), POD("b", ASKS(6, 1))}, RECLAIM_NONE, RECLAIM_NONE, ""},
	{"more are not, down to 100", CORES(10, 40), CORES(50, 60),
		{POD("a", ASKS(4, 1)), POD("b", ASKS(4, 1)), POD("c", ASKS(2, 1)),
			POD("d", ASKS(2, 1))},
		RECLAIM_NONE, RECLAIM_ALLOCATABLE, "a"},
	{"who asks for most goes first", CORES(10, 40), CORES(50, 60),
		{POD("a", ASKS(2, 1)), POD("b", ASKS(4, 1)), POD("c", ASKS(8, 1))}, RECLAIM_NONE,
		RECLAIM_ALLOCATABLE, "c"},
	{"as many as it takes", CORES(4, 40), CORES(50, 60),
		{POD("a", ASKS(3, 1)), POD("b", ASKS(3, 1)), POD("c", ASKS(4, 1))}, RECLAIM_NONE,
		RECLAIM_ALLOCATABLE, "c a"},
	{"memory is short", CORES(10, 10), CORES(50, 60),
		{POD("a", ASKS(6, 2)), POD("b", ASKS(2, 10))}, RECLAIM_NONE, RECLAIM_ALLOCATABLE,
		"b"},
	{"who asks for none of what is short stays", CORES(10, 4), CORES(50, 60),
		{POD("a", ASKS(6, 0), .priority = -1), POD("b", ASKS(2, 5))}, RECLAIM_NONE,
		RECLAIM_ALLOCATABLE, "b"},
	{"both are short", CORES(4, 4), CORES(50, 60),
		{POD("a", ASKS(6, 0)), POD("b", ASKS(0, 6)), POD("c", ASKS(1, 1))}, RECLAIM_NONE,
		RECLAIM_ALLOCATABLE, "a c b"},
	{"nothing may be lent: all of them", CORES(0, 0), CORES(50, 60),
		{POD("a", ASKS(1, 1)), POD("b", ASKS(2, 1))}, RECLAIM_NONE, RECLAIM_ALLOCATABLE,
		"b a"},
	{"nobody asks for anything", CORES(0, 0), CORES(50, 60), {POD("a", ASKS(0, 0))},
		RECLAIM_NONE, RECLAIM_NONE, ""},
	{"what is not ours counts, and stays", CORES(10, 40), CORES(50, 60),
		{POD("a", ASKS(3, 1)), POD("b", ASKS(3, 1)), {.name = "foreign", ASKS(9, 1)}},
		RECLAIM_NONE, RECLAIM_ALLOCATABLE, "a b"},
	{"there are none but those", CORES(0, 0), CORES(50, 60), {{.name = "foreign", ASKS(9, 1)}},
		RECLAIM_NONE, RECLAIM_NONE, ""},
	{"who is on its way out counts as gone", CORES(10, 40), CORES(50, 60),
		{POD("a", ASKS(9, 1)), POD("b", ASKS(5, 1), .leaving = true)}, RECLAIM_NONE,
		RECLAIM_NONE, ""},
	{"and is no victim", CORES(10, 40), CORES(50, 60),
		{POD("a", ASKS(9, 1)), POD("b", ASKS(20, 1), .leaving = true),
			POD("c", ASKS(4, 1))},
		RECLAIM_NONE, RECLAIM_ALLOCATABLE, "a"},

	/* MEMORY: at 70 percent down to 68. At once. */
	{"83.9 G of 120 are 69 %", CORES(20, 40), {50000, 83900000000},
		{POD("a", ASKS(1, 9), USES(1, 9))}, RECLAIM_NONE, RECLAIM_NONE, ""},
	{"84 G are 70 %", CORES(20, 40), CORES(50, 84),
		{POD("a", ASKS(1, 9), USES(1, 9)), POD("b", ASKS(1, 9), USES(1, 1))},
		RECLAIM_MEMORY, RECLAIM_NONE, "a"},
	{"who uses most goes first", CORES(20, 40), CORES(50, 90),
		{POD("a", ASKS(1, 9), USES(1, 3)), POD("b", ASKS(1, 9), USES(1, 5)),
			POD("c", ASKS(1, 1), USES(1, 4))},
		RECLAIM_MEMORY, RECLAIM_NONE, "b c"},
	{"without a sample it uses what it asks for", CORES(20, 40), CORES(50, 84),
		{POD("a", ASKS(1, 9)), POD("b", ASKS(1, 9), USES(1, 8))}, RECLAIM_MEMORY,
		RECLAIM_NONE, "a"},
	{"who is on its way out frees what it uses", CORES(20, 40), CORES(50, 90),
		{POD("a", ASKS(1, 9), USES(1, 7), .leaving = true),
			POD("b", ASKS(1, 9), USES(1, 9))},
		RECLAIM_NONE, RECLAIM_NONE, ""},
	{"ordinary pods use it: low ones go all the same", CORES(20, 40), CORES(50, 119),
		{POD("a", ASKS(1, 1), USES(1, 1)), POD("b", ASKS(1, 2), USES(1, 2))},
		RECLAIM_MEMORY, RECLAIM_NONE, "b a"},
	{"who uses none frees none", CORES(20, 40), CORES(50, 119),
		{POD("a", ASKS(1, 1), USES(1, 0))}, RECLAIM_NONE, RECLAIM_NONE, ""},

	/* Memory goes before what is asked for, and is enough for once. */
	{"both triggers", CORES(1, 1), CORES(50, 84),
		{POD("a", ASKS(9, 1), USES(1, 1)), POD("b", ASKS(1, 9), USES(1, 9))},
		RECLAIM_MEMORY, RECLAIM_NONE, "b"},

	/* The order, of which the later counts among equals of the earlier. */
	{"by the annotation", CORES(10, 40), CORES(50, 60),
		{POD("a", ASKS(6, 1), .priority = -9), POD("b", ASKS(1, 1)),
			POD("c", ASKS(4, 1), .eviction_priority = -1, .priority = 99)},
		RECLAIM_NONE, RECLAIM_NONE, ""},
	{"by the annotation, and it is short", CORES(8, 40), CORES(50, 60),
		{POD("a", ASKS(6, 1), .priority = -9), POD("b", ASKS(1, 1)),
			POD("c", ASKS(4, 1), .eviction_priority = -1, .priority = 99)},
		RECLAIM_NONE, RECLAIM_ALLOCATABLE, "c"},
	{"by priority", CORES(8, 40), CORES(50, 60),
		{POD("a", ASKS(6, 1), .borrows = true), POD("b", ASKS(1, 1)),
			POD("c", ASKS(4, 1), .priority = -1)},
		RECLAIM_NONE, RECLAIM_ALLOCATABLE, "c"},
	{"who borrows before who does not", CORES(8, 40), CORES(50, 60),
		{POD("a", ASKS(6, 1)), POD("b", ASKS(1, 1)), POD("c", ASKS(4, 1), .borrows = true)},
		RECLAIM_NONE, RECLAIM_ALLOCATABLE, "c"},
	{"whose Job would end as Complete goes last, whatever its priority", CORES(4, 40),
		CORES(50, 60),
		{POD("a", ASKS(6, 1), .priority = -1, .ends_when_stopped = true),
			POD("b", ASKS(1, 1)), POD("c", ASKS(2, 1), .eviction_priority = 9)},
		RECLAIM_NONE, RECLAIM_ALLOCATABLE, "b c a"},
	{"the youngest", CORES(8, 40), CORES(50, 60),
		{POD("a", ASKS(4, 1), .started_ms = 1), POD("b", ASKS(4, 1), .started_ms = 3),
			POD("c", ASKS(4, 1), .started_ms = 2)},
		RECLAIM_NONE, RECLAIM_ALLOCATABLE, "b"},
	{"by name", CORES(8, 40), CORES(50, 60),
		{POD("ns/c", ASKS(4, 1)), POD("ns/a", ASKS(4, 1)), POD("ns/b", ASKS(4, 1))},
		RECLAIM_NONE, RECLAIM_ALLOCATABLE, "ns/a"},
};

static void who_has_to_go(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(reclaims); i++) {
		struct strategy s = usual();
		struct reclaim_node n = {.capacity = CORES(100, 120),
			.used = reclaims[i].used,
			.lent = reclaims[i].lent,
			.pods = reclaims[i].pods,
			.npods = npods(reclaims[i].pods)};
		enum reclaim_trigger t[2] = {RECLAIM_NONE, RECLAIM_NONE};
		char victims[256];
		look_twice(&s, &n, t, victims);
		if (t[0] != reclaims[i].first || t[1] != reclaims[i].second ||
			strcmp(victims, reclaims[i].victims) != 0)
			print_error("%s: %s, then %s: %s\n", reclaims[i].name,
				reclaim_trigger_name(t[0]), reclaim_trigger_name(t[1]), victims);
		assert_int_equal(t[0], reclaims[i].first);
		assert_int_equal(t[1], reclaims[i].second);
		assert_string_equal(victims, reclaims[i].victims);
	}
}

/* CPU counts where more may be asked for than usual: else ALLOCATABLE is first. */
static void when_low_pods_have_too_little_cpu(void **state)
{
	static const struct {
		const char *name;
		int64_t lent_cores;
		struct reclaim_pod pods[NPODS];
		const char *victims;
	} rows[] = {
		{"satisfied by 61 %", 61,
			{POD("a", ASKS(50, 1), USES(40, 1)), POD("b", ASKS(50, 1), USES(40, 1))},
			""},
		{"by 60 %, and they use all: up to 80", 60,
			{POD("a", ASKS(50, 1), USES(30, 1)), POD("b", ASKS(25, 1), USES(20, 1)),
				POD("c", ASKS(25, 1), USES(10, 1))},
			"b"},
		{"but they use little of it", 60,
			{POD("a", ASKS(50, 1), USES(30, 1)), POD("b", ASKS(50, 1), USES(23, 1))},
			""},
		{"90 % of it is enough", 60,
			{POD("a", ASKS(50, 1), USES(30, 1)), POD("b", ASKS(50, 1), USES(24, 1))},
			"a"},
		{"by half: as many as it takes", 50,
			{POD("a", ASKS(50, 1), USES(20, 1)), POD("b", ASKS(25, 1), USES(20, 1)),
				POD("c", ASKS(25, 1), USES(10, 1))},
			"b a"},
		{"used, of what it asks for", 60,
			{POD("a", ASKS(60, 1), USES(50, 1)), POD("b", ASKS(40, 1), USES(36, 1))},
			"b"},
		{"who asks for none frees none", 50,
			{POD("a", ASKS(0, 1), USES(50, 1)), POD("b", ASKS(100, 1), USES(10, 1))},
			"b"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct strategy s = usual();
		s.evict_cpu_allocatable = s.evict_cpu_allocatable_lower = 1000;
		s.evict_memory_allocatable = s.evict_memory_allocatable_lower = 1000;
		struct reclaim_node n = {.capacity = CORES(100, 120),
			.used = CORES(90, 60),
			.lent = CORES(rows[i].lent_cores, 100),
			.pods = rows[i].pods,
			.npods = npods(rows[i].pods)};
		enum reclaim_trigger t[2] = {RECLAIM_NONE, RECLAIM_NONE};
		char victims[256];
		look_twice(&s, &n, t, victims);
		if (strcmp(victims, rows[i].victims) != 0)
			print_error("%s: %s\n", rows[i].name, victims);
		assert_string_equal(victims, rows[i].victims);
		assert_int_equal(t[0], RECLAIM_NONE);
		assert_int_equal(t[1], *victims ? RECLAIM_CPU : RECLAIM_NONE);
	}
}

/* ---- over time ------------------------------------------------------------------------------- */

static void two_in_a_row_and_cooling_down(void **state)
{
	static const struct {
		const char *name;
		int64_t s; /* after T0 */
		int64_t lent_cores, used_g;
		enum reclaim_trigger trigger;
	} steps[] = {
		{"one", 0, 5, 60, RECLAIM_NONE},
		{"not in a row", 15, 20, 60, RECLAIM_NONE},
		{"one again", 30, 5, 60, RECLAIM_NONE},
		{"two", 45, 5, 60, RECLAIM_ALLOCATABLE},
		{"cooling down", 60, 5, 60, RECLAIM_NONE},
		{"memory, too", 75, 5, 110, RECLAIM_NONE},
		{"to the end", 104, 5, 60, RECLAIM_NONE},
		{"which were more than two in a row", 105, 5, 60, RECLAIM_ALLOCATABLE},
		{"memory waits for that", 120, 20, 110, RECLAIM_NONE},
		{"and for nothing else", 165, 20, 110, RECLAIM_MEMORY},
		{"the clock is set back", -3600, 20, 110, RECLAIM_MEMORY},
		{"and it cools down since then", -3590, 20, 110, RECLAIM_NONE},
	};
	static const struct reclaim_pod pod = POD("a", ASKS(10, 20), USES(9, 9));
	(void)state;
	struct strategy s = usual();
	struct reclaim_memory m = {0};
	for (size_t i = 0; i < COUNT(steps); i++) {
		struct reclaim_node n = {.capacity = CORES(100, 120),
			.used = CORES(50, steps[i].used_g),
			.lent = CORES(steps[i].lent_cores, 40),
			.pods = &pod,
			.npods = 1};
		size_t victim = 9, nvictims = 9;
		enum reclaim_trigger t =
			reclaim_look(&m, &s, &n, T0 + steps[i].s * S, &victim, &nvictims);
		same(steps[i].name, "trigger", t, steps[i].trigger);
		same(steps[i].name, "victims", (int64_t)nvictims, t != RECLAIM_NONE);
	}
}

/* What led to taking back is used up by it, even where nothing has to cool down. */
static void two_in_a_row_are_used_up(void **state)
{
	static const struct reclaim_pod pod = POD("a", ASKS(10, 20), USES(9, 9));
	static const enum reclaim_trigger each[] = {RECLAIM_NONE, RECLAIM_ALLOCATABLE, RECLAIM_NONE,
		RECLAIM_ALLOCATABLE, RECLAIM_NONE, RECLAIM_ALLOCATABLE};
	(void)state;
	struct strategy s = usual();
	struct reclaim_memory m = {0};
	s.cool_down_s = 0;
	for (size_t i = 0; i < COUNT(each); i++) {
		struct reclaim_node n = {.capacity = CORES(100, 120),
			.used = CORES(50, 60),
			.lent = CORES(5, 40),
			.pods = &pod,
			.npods = 1};
		size_t victim, nvictims;
		assert_int_equal(
			reclaim_look(&m, &s, &n, T0 + (int64_t)i * 15 * S, &victim, &nvictims),
			each[i]);
	}
}

/* An agent's samples come each second: two in a row are not enough there, it must hold. */
static void samples_of_an_agent(void **state)
{
	static const struct {
		const char *name;
		int64_t lent_cores, every_ms, window_s; /* of 10 that are asked for */
		int64_t gap_at_s, gap_s, miss_at_s;	/* 0: none */
		int64_t after_s;			/* -1: never, in a minute */
		enum reclaim_trigger trigger;
	} rows[] = {
		{"allocatable after ten seconds", 8, 1000, 20, 0, 0, 0, 10, RECLAIM_ALLOCATABLE},
		{"each 250 ms", 8, 250, 20, 0, 0, 0, 10, RECLAIM_ALLOCATABLE},
		{"each five seconds, of a calm node", 8, 5000, 20, 0, 0, 0, 10,
			RECLAIM_ALLOCATABLE},
		{"one that says no begins anew", 8, 1000, 20, 0, 0, 5, 16, RECLAIM_ALLOCATABLE},
		{"so does a gap", 8, 1000, 20, 5, 31, 0, 46, RECLAIM_ALLOCATABLE},
		{"a short one does not", 8, 1000, 20, 5, 20, 0, 25, RECLAIM_ALLOCATABLE},
		{"cpu goes by its field", 3, 1000, 5, 0, 0, 0, 5, RECLAIM_CPU},
		{"at least by two", 3, 1000, 1, 0, 0, 0, 1, RECLAIM_CPU},
		{"cpu later than allocatable", 3, 1000, 20, 0, 0, 0, 10, RECLAIM_ALLOCATABLE},
		{"nothing is short", 10, 1000, 20, 0, 0, 0, -1, RECLAIM_NONE},
	};
	static const struct reclaim_pod pod = POD("a", ASKS(10, 20), USES(9, 9));
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct strategy s = usual();
		struct reclaim_memory m = {0};
		enum reclaim_trigger t = RECLAIM_NONE;
		int64_t at_ms = 0;
		s.evict_cpu_window_s = rows[i].window_s;
		while (t == RECLAIM_NONE && at_ms <= 60 * S) {
			bool miss = rows[i].miss_at_s && at_ms == rows[i].miss_at_s * S;
			struct reclaim_node n = {.capacity = CORES(100, 120),
				.used = CORES(50, 60),
				.lent = CORES(miss ? 10 : rows[i].lent_cores, 40),
				.pods = &pod,
				.npods = 1,
				.by_agent = true};
			size_t victim, nvictims;
			t = reclaim_look(&m, &s, &n, T0 + at_ms, &victim, &nvictims);
			if (t != RECLAIM_NONE)
				break;
			at_ms += rows[i].gap_at_s && at_ms == rows[i].gap_at_s * S
					 ? rows[i].gap_s * S
					 : rows[i].every_ms;
		}
		same(rows[i].name, "trigger", t, rows[i].trigger);
		if (rows[i].after_s >= 0)
			same(rows[i].name, "after", at_ms, rows[i].after_s * S);
	}
}

/* Memory does not wait: the kernel would not, either. */
static void memory_by_one_sample_of_an_agent(void **state)
{
	static const struct reclaim_pod pod = POD("a", ASKS(1, 9), USES(1, 9));
	struct reclaim_node n = {.capacity = CORES(100, 120),
		.used = CORES(50, 84),
		.lent = CORES(20, 40),
		.pods = &pod,
		.npods = 1,
		.by_agent = true};
	size_t victim, nvictims;
	(void)state;
	struct strategy s = usual();
	struct reclaim_memory m = {0};
	assert_int_equal(reclaim_look(&m, &s, &n, T0, &victim, &nvictims), RECLAIM_MEMORY);
}

/* Neither where taking back is switched off, nor where all of it is: nobody is stopped for that. */
static void switched_off(void **state)
{
	static const struct reclaim_pod pod = POD("a", ASKS(10, 20), USES(9, 9));
	(void)state;
	for (int off = 0; off < 3; off++) {
		struct strategy s = usual();
		struct reclaim_node n = {.capacity = CORES(100, 120),
			.used = CORES(50, 119),
			.pods = &pod,
			.npods = 1};
		s.reclaim = off != 1;
		s.enable = off != 2;
		enum reclaim_trigger t[2];
		char victims[256];
		look_twice(&s, &n, t, victims);
		assert_string_equal(victims, off ? "" : "a");
	}
}

/* The order of one is that of all: what reclaim_look() takes is sorted by reclaim_compare(). */
static void the_order_is_total(void **state)
{
	(void)state;
	uint64_t seed = 7;
	static char names[64][8];
	struct reclaim_pod pods[64];
	for (int run = 0; run < 200; run++) {
		for (size_t i = 0; i < 64; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
			snprintf(names[i], sizeof(names[i]), "p%zu", i);
			pods[i] = (struct reclaim_pod){.name = names[i],
				.asked = {(int64_t)(seed >> 60), (int64_t)(seed >> 56 & 3)},
				.has_used = seed >> 55 & 1,
				.used = {(int64_t)(seed >> 50 & 3), (int64_t)(seed >> 46 & 3)},
				.eviction_priority = (int32_t)(seed >> 44 & 1),
				.priority = (int32_t)(seed >> 42 & 1),
				.borrows = seed >> 41 & 1,
				.movable = true,
				.started_ms = (int64_t)(seed >> 39 & 1)};
		}
		for (int t = RECLAIM_ALLOCATABLE; t <= RECLAIM_CPU; t++)
			for (size_t i = 0; i < 60; i++) {
				enum reclaim_trigger trigger = (enum reclaim_trigger)t;
				const struct reclaim_pod *a = &pods[i], *b = &pods[i + 1],
							 *c = &pods[i + 2];
				int ab = reclaim_compare(trigger, a, b);
				int bc = reclaim_compare(trigger, b, c);
				assert_int_not_equal(ab, 0);
				assert_int_equal(reclaim_compare(trigger, b, a) < 0, ab > 0);
				if (ab < 0 && bc < 0)
					assert_true(reclaim_compare(trigger, a, c) < 0);
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
		struct strategy s = usual();
		s.evict_memory = s.evict_cpu_upper = s.evict_cpu_allocatable =
			s.evict_memory_allocatable = s.cool_down_s = d;
		struct reclaim_pod pods[] = {POD("a", .asked = {a, b}, .has_used = true,
						     .used = {c, d}, .started_ms = a),
			POD("b", .asked = {b, c}, .started_ms = d),
			POD("c", .asked = {d, a}, .has_used = true, .used = {b, c},
				.leaving = true)};
		struct reclaim_node n = {.capacity = {a, b},
			.used = {c, d},
			.lent = {b, a},
			.pods = pods,
			.npods = 3};
		struct reclaim_memory m = {0};
		size_t victims[3], nvictims;
		for (int k = 0; k < 3; k++) {
			reclaim_look(&m, &s, &n, k == 2 ? c : T0, victims, &nvictims);
			assert_true(nvictims <= 2);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(who_has_to_go),
		cmocka_unit_test(when_low_pods_have_too_little_cpu),
		cmocka_unit_test(two_in_a_row_and_cooling_down),
		cmocka_unit_test(two_in_a_row_are_used_up), cmocka_unit_test(samples_of_an_agent),
		cmocka_unit_test(memory_by_one_sample_of_an_agent), cmocka_unit_test(switched_off),
		cmocka_unit_test(the_order_is_total), cmocka_unit_test(any_numbers)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
