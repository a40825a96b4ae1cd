/* What memory asks for: the marks, one look after another, and that nothing is ever ended on missing
 * data or twice in 500 ms. */
#include "draw.h"

#include "node/squeeze.h"

#define SEEDS 3000
#define LOOKS 200

static void look_by_look(void **state)
{
	enum { CALM = SQUEEZE_CALM, HELD = SQUEEZE_HELD, ENDING = SQUEEZE_ENDING, STOP = 9 };
	static const struct {
		const char *name;
		int64_t hold, end, total_mib;
		struct {
			int64_t available_mib; /* -1: missing */
			int level;	       /* STOP: no more looks */
		} look[8];
	} rows[] = {
		{"calm", 90, 96, 10000, {{5000, CALM}, {1001, CALM}, {5000, CALM}, {0, STOP}}},
		{"held from the mark, until 5 percent below", 90, 96, 10000,
			{{1000, HELD}, {1200, HELD}, {1500, HELD}, {1501, CALM}, {1200, CALM},
				{0, STOP}}},
		{"ending, and each step back", 90, 96, 10000,
			{{400, ENDING}, {401, HELD}, {1500, HELD}, {1501, CALM}, {0, STOP}}},
		{"less than 200 MiB are available", 90, 99, 10000,
			{{200, HELD}, {199, ENDING}, {0, ENDING}, {200, HELD}, {0, STOP}}},
		{"never held", 0, 96, 10000, {{500, CALM}, {400, ENDING}, {500, CALM}, {0, STOP}}},
		{"never ended", 90, 0, 10000, {{500, HELD}, {0, HELD}, {5000, CALM}, {0, STOP}}},
		{"neither", 0, 0, 10000, {{0, CALM}, {0, STOP}}},
		{"missing: calm stays calm", 90, 96, 10000, {{-1, CALM}, {0, STOP}}},
		{"missing: what was held stays held", 90, 96, 10000,
			{{1000, HELD}, {-1, HELD}, {5000, CALM}, {0, STOP}}},
		{"missing: nothing is ended any more", 90, 96, 10000,
			{{100, ENDING}, {-1, HELD}, {100, ENDING}, {0, STOP}}},
		{"missing, and never held", 0, 96, 10000, {{100, ENDING}, {-1, CALM}, {0, STOP}}},
		{"no memory at all", 90, 96, 0, {{0, CALM}, {0, STOP}}},
		{"a small node: held below 30 %, ended below 20", 90, 96, 500,
			{{150, CALM}, {149, HELD}, {100, HELD}, {99, ENDING}, {150, HELD},
				{174, HELD}, {175, CALM}, {0, STOP}}},
		{"more available than there is", 90, 96, 1000, {{2000, CALM}, {0, STOP}}},
		{"hold at 3 percent: there is always something in use", 3, 96, 10000,
			{{9700, HELD}, {9800, HELD}, {9950, CALM}, {0, STOP}}},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct squeeze s = {0};
		struct orders o = {.hold_percent = rows[i].hold, .end_percent = rows[i].end};
		for (size_t k = 0; rows[i].look[k].level != STOP; k++) {
			char what[32];
			int64_t mib = rows[i].look[k].available_mib;
			snprintf(what, sizeof(what), "level of look %zu", k);
			same(rows[i].name, what,
				squeeze_look(
					&s, &o, rows[i].total_mib * MIB, mib < 0 ? -1 : mib * MIB),
				rows[i].look[k].level);
			same(rows[i].name, "may end", squeeze_may_end(&s, 0),
				rows[i].look[k].level == ENDING);
		}
	}
}

static void half_a_second_lies_between_two(void **state)
{
	struct squeeze s = {0};
	struct orders o = {.hold_percent = 90, .end_percent = 96};
	(void)state;
	squeeze_look(&s, &o, 1000 * MIB, 0);
	assert_true(squeeze_may_end(&s, 5));
	squeeze_ended(&s, 5);
	assert_false(squeeze_may_end(&s, 5));
	assert_false(squeeze_may_end(&s, 504));
	assert_true(squeeze_may_end(&s, 505));
	squeeze_look(&s, &o, 1000 * MIB, 900 * MIB);
	assert_false(squeeze_may_end(&s, 505));
	squeeze_look(&s, &o, 1000 * MIB, 0);
	assert_false(squeeze_may_end(&s, 504));
	assert_true(squeeze_may_end(&s, 505));
}

/* A history of one node; the marks are made here once more. */
static void live(void)
{
	struct squeeze s = {0};
	struct orders o = {.hold_percent = below(100), .end_percent = below(101)};
	int64_t now_ms = below(1000), ended_ms = -1000, available = 0;
	int64_t total = (100 + below(20000)) * MIB;
	if (once_in(5))
		o.hold_percent = 0;
	for (int i = 0; i < LOOKS; i++) {
		enum squeeze_level was = s.level;
		now_ms += below(300);
		available += (below(21) - 10) * total / 100;
		available = available < 0 ? 0 : available > total ? total : available;
		bool missing = once_in(6);
		enum squeeze_level is = squeeze_look(
			&s, &o, once_in(9) && missing ? -1 : total, missing ? -1 : available);
		bool tight = o.end_percent && ((total - available) * 100 >= total * o.end_percent ||
						      available < 200 * MIB);
		holds(is == s.level);
		holds(!missing || is <= was);
		holds(is != SQUEEZE_HELD || o.hold_percent > 0);
		holds(is != SQUEEZE_ENDING || (!missing && tight));
		if (!missing && o.hold_percent && total > available &&
			(total - available) * 100 >= total * o.hold_percent)
			holds(is >= SQUEEZE_HELD);
		if (!squeeze_may_end(&s, now_ms))
			continue;
		holds(!missing && tight && now_ms - ended_ms >= 500);
		ended_ms = now_ms;
		squeeze_ended(&s, now_ms);
	}
}

/* How far from the first mark on each second has four looks. */
static void near_its_mark(void **state)
{
	static const struct {
		const char *name;
		int64_t hold, end, total_mib, available_mib;
		bool near;
	} rows[] = {
		{"ten percent below the mark", 90, 96, 10000, 2000, true},
		{"further away", 90, 96, 10000, 2001, false},
		{"never held: by the other mark", 0, 96, 10000, 1401, false},
		{"never held: near the other mark", 0, 96, 10000, 1400, true},
		{"twice what must be left", 99, 100, 2000, 399, true},
		{"a small node has its own", 90, 96, 500, 250, false},
		{"a small node", 90, 96, 500, 199, true},
		{"neither", 0, 0, 10000, 0, false},
		{"missing", 90, 96, 10000, -1, false},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct squeeze s = {0};
		struct orders o = {.hold_percent = rows[i].hold, .end_percent = rows[i].end};
		int64_t mib = rows[i].available_mib;
		same(rows[i].name, "near",
			squeeze_is_near(&s, &o, rows[i].total_mib * MIB, mib < 0 ? -1 : mib * MIB),
			rows[i].near);
	}
}

static void whatever_memory_does(void **state)
{
	(void)state;
	play_seeds(SEEDS, live);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(look_by_look),
		cmocka_unit_test(half_a_second_lies_between_two),
		cmocka_unit_test(near_its_mark),
		cmocka_unit_test(whatever_memory_does),
	};
	take_seed(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
