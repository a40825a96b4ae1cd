/* How cpu is divided among lent pods: what each gets, in a table, and what holds for any of them. */
#include "draw.h"

#include "node/share_out.h"

#define SEEDS 20000
#define PODS 12

/* ---- cases ----------------------------------------------------------------------------------- */

static void who_gets_what(void **state)
{
	static const struct {
		const char *name;
		int64_t may;
		struct {
			int64_t asked, used, quota;
			bool throttled;
			int64_t gets;
		} pod[4]; /* up to one that asks for nothing and gets nothing */
	} rows[] = {
		{"not divided", -1, {{1000, 900, -1, false, 1000}, {2000, 0, 100, true, 2000}}},
		{"all fits", 3000, {{1000, 900, -1, false, 1000}, {2000, 0, 100, true, 2000}}},
		{"one less than fits", 2999,
			{{1000, 1000, -1, false, 1000}, {2000, 2000, -1, false, 1999}}},
		{"both want all, by what they ask for", 1500,
			{{1000, -1, 500, false, 500}, {2000, -1, 500, false, 1000}}},
		{"one is idle, the other gets the rest", 1100,
			{{1000, 0, -1, false, 100}, {1000, 800, 800, true, 1000}}},
		{"a demand is 1.25 times the use and 50", 1000,
			{{1000, 200, -1, false, 300}, {1000, -1, -1, false, 700}}},
		{"not yet 90 % of the quota", 1000,
			{{1000, 179, 200, false, 273}, {1000, -1, -1, false, 727}}},
		{"90 % of the quota", 1000,
			{{1000, 180, 200, false, 500}, {1000, -1, -1, false, 500}}},
		{"throttled", 1000, {{1000, 10, 200, true, 500}, {1000, -1, -1, false, 500}}},
		{"what is left, by the same weights", 1000,
			{{1000, 0, -1, false, 350}, {2000, 0, -1, false, 650}}},
		{"what is left, up to what is asked", 2080,
			{{100, 0, -1, false, 100}, {2000, 200, -1, false, 1980}}},
		{"nothing at all: the least", 0,
			{{1000, -1, -1, false, 20}, {100, -1, -1, false, 10},
				{4, -1, -1, false, 4}}},
		{"one asks for none", 500, {{0, 700, -1, false, -1}, {1000, -1, -1, false, 500}}},
		{"three share what cannot be divided", 100,
			{{300, -1, -1, false, 34}, {300, -1, -1, false, 33},
				{300, -1, -1, false, 33}}},
		{"a small one beside a large one", 1000,
			{{100, -1, -1, false, 10}, {100000, -1, -1, false, 2000}}},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct share s[4] = {{{{0}}}};
		size_t n = 0;
		for (; n < 4 && rows[i].pod[n].gets; n++)
			s[n] = (struct share){.uid = {{(uint8_t)n}},
				.asked = rows[i].pod[n].asked,
				.used = rows[i].pod[n].used,
				.quota = rows[i].pod[n].quota,
				.throttled = rows[i].pod[n].throttled};
		share_out(s, n, rows[i].may);
		for (size_t k = 0; k < n; k++) {
			char what[40];
			snprintf(what, sizeof(what), "share of pod %zu", k);
			same(rows[i].name, what, s[k].ret_milli, rows[i].pod[k].gets);
		}
	}
}

/* ---- any pods -------------------------------------------------------------------------------- */

static int64_t less(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t more(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t least_of(const struct share *s)
{
	return less(s->asked, more(10, s->asked * 2 / 100));
}

static int64_t demand_of(const struct share *s)
{
	if (s->used < 0 || s->throttled || (s->quota >= 0 && s->used * 10 >= s->quota * 9))
		return s->asked;
	return more(least_of(s), less(s->asked, s->used * 5 / 4 + 50));
}

static size_t draw_pods(struct share *s)
{
	size_t n = (size_t)below(PODS + 1);
	int64_t size = once_in(2) ? 300 : 40000;
	for (size_t i = 0; i < n; i++) {
		s[i] = (struct share){.uid = uid_of((uint64_t)i),
			.asked = once_in(10) ? 0 : 1 + below(size),
			.throttled = once_in(4)};
		s[i].quota = once_in(3) ? -1 : below(s[i].asked + 1);
		s[i].used = once_in(5) ? -1 : below(s[i].asked + 100);
	}
	return n;
}

struct sums {
	int64_t asked, least, demand, given;
};

static struct sums sum(const struct share *s, size_t n)
{
	struct sums t = {0};
	for (size_t i = 0; i < n; i++)
		if (s[i].asked) {
			t.asked += s[i].asked;
			t.least += least_of(&s[i]);
			t.demand += demand_of(&s[i]);
			t.given += s[i].ret_milli;
		}
	return t;
}

/* Neither is below what it demands while the other, of more than its least, has more for what it
 * asks for. A thousandth may be to one's favour. */
static void check_fair(const struct share *poor, const struct share *rich)
{
	if (poor->ret_milli >= demand_of(poor) || rich->ret_milli <= least_of(rich))
		return;
	holds((poor->ret_milli + 1) * rich->asked >= (rich->ret_milli - 1) * poor->asked);
}

static void check_shares(const struct share *s, size_t n, int64_t may)
{
	struct sums t = sum(s, n);
	for (size_t i = 0; i < n; i++) {
		holds(!s[i].asked == (s[i].ret_milli == -1));
		if (!s[i].asked)
			continue;
		holds(s[i].ret_milli <= s[i].asked);
		holds(s[i].ret_milli >= least_of(&s[i]));
		if (t.demand <= may)
			holds(s[i].ret_milli >= demand_of(&s[i]));
		else if (t.least < may)
			for (size_t k = 0; k < n; k++)
				if (s[k].asked)
					check_fair(&s[i], &s[k]);
	}
	/* All that there is is given, and no more: but for least amounts. */
	holds(t.given == less(t.asked, more(t.least, may)));
}

static void check_order(const struct share *s, size_t n, int64_t may)
{
	struct share other[PODS];
	for (size_t i = 0; i < n; i++)
		other[i] = s[i];
	for (size_t i = n; i > 1; i--) {
		size_t k = (size_t)below((int64_t)i);
		struct share swap = other[k];
		other[k] = other[i - 1];
		other[i - 1] = swap;
	}
	share_out(other, n, may);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			if (uid_cmp(&s[i].uid, &other[k].uid) == 0)
				holds(s[i].ret_milli == other[k].ret_milli);
}

static void divide(void)
{
	struct share s[PODS];
	size_t n = draw_pods(s);
	int64_t may = below(sum(s, n).asked * 5 / 4 + 2);
	share_out(s, n, may);
	check_shares(s, n, may);
	check_order(s, n, may);
}

static void what_holds_for_any(void **state)
{
	(void)state;
	play_seeds(SEEDS, divide);
}

/* As many as orders may have, of numbers as large as they may be. */
static void the_largest(void **state)
{
	static struct share s[1024];
	(void)state;
	for (size_t i = 0; i < COUNT(s); i++)
		s[i] = (struct share){.uid = uid_of(i),
			.asked = INT64_C(1) << 53,
			.used = INT64_C(1) << 53,
			.quota = INT64_C(1) << 53};
	share_out(s, COUNT(s), INT64_MAX);
	for (size_t i = 0; i < COUNT(s); i++)
		assert_in_range(s[i].ret_milli, 1, INT64_C(1) << 53);
	share_out(s, COUNT(s), 0);
	for (size_t i = 0; i < COUNT(s); i++)
		assert_int_equal(s[i].ret_milli, (INT64_C(1) << 53) * 2 / 100);
	share_out(s, 0, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_gets_what),
		cmocka_unit_test(what_holds_for_any),
		cmocka_unit_test(the_largest),
	};
	take_seed(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
