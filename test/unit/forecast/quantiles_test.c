#include "test/unit/forecast/fixture.h"

#include "forecast/play.h"
#include "forecast/quantiles.h"

static void between_two_draws_in_proportion(void **state)
{
	(void)state;
	int64_t start[] = {500, 100, 300, 200, 400};
	struct quantiles q = quantiles_of(start, 5);
	assert_int_equal(q.started, 5);
	assert_int_equal(q.p50_ms, 300);
	assert_int_equal(q.p10_ms, 100); /* before the first gap's end */
	assert_int_equal(q.p90_ms, 500);
	int64_t nine[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	q = quantiles_of(nine, 9);
	assert_int_equal(q.p10_ms, 1);
	assert_int_equal(q.p50_ms, 5);
	assert_int_equal(q.p90_ms, 9);
}

static void never_is_later_than_all(void **state)
{
	(void)state;
	int64_t start[] = {PLAY_NEVER, 100, PLAY_NEVER, 200, PLAY_NEVER};
	struct quantiles q = quantiles_of(start, 5);
	assert_int_equal(q.started, 2);
	assert_int_equal(q.p10_ms, 100);
	assert_true(q.p50_ms == PLAY_NEVER);
	assert_true(q.p90_ms == PLAY_NEVER);
}

static void one_draw_is_all(void **state)
{
	(void)state;
	int64_t start[] = {7};
	struct quantiles q = quantiles_of(start, 1);
	assert_int_equal(q.p10_ms, 7);
	assert_int_equal(q.p90_ms, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(between_two_draws_in_proportion),
		cmocka_unit_test(never_is_later_than_all),
		cmocka_unit_test(one_draw_is_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
