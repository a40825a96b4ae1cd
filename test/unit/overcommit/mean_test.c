/* Means of samples that come in any rhythm. */
#include "table.h"

#include "overcommit/mean.h"

static void each_stands_for_its_time(void **state)
{
	struct mean m = {0};
	(void)state;
	mean_add(&m, 1000, (struct load){100, 1});
	same_load("the first alone", "mean", mean_take(&m), (struct load){100, 1});
	mean_add(&m, 2000, (struct load){100, 10}); /* a second */
	mean_add(&m, 5000, (struct load){500, 20}); /* three */
	same_load("by time", "mean", mean_take(&m), (struct load){400, 18});
	mean_add(&m, 6000, (struct load){7, 7});
	same_load("and anew", "mean", mean_take(&m), (struct load){7, 7});
}

static void it_errs_upwards(void **state)
{
	struct mean m = {0};
	(void)state;
	mean_add(&m, 1000, (struct load){0, 0});
	mean_take(&m);
	mean_add(&m, 2000, (struct load){1, 0});
	mean_add(&m, 4000, (struct load){0, 1});
	same_load("rounded up", "mean", mean_take(&m), (struct load){1, 1});
}

static void odd_times_and_numbers(void **state)
{
	static const int64_t odd[] = {INT64_MIN, -1, 0, 1, 5, INT64_MAX};
	(void)state;
	for (size_t i = 0; i < COUNT(odd); i++)
		for (size_t k = 0; k < COUNT(odd); k++) {
			struct mean m = {0};
			mean_add(&m, odd[i], (struct load){odd[k], odd[i]});
			mean_add(&m, odd[k], (struct load){INT64_MAX, 5});
			struct load l = mean_take(&m);
			assert_true(l.cpu_milli >= 0 && l.memory_bytes >= 0);
		}
	struct mean m = {0};
	mean_add(&m, 1000000, (struct load){1000, 0});
	mean_take(&m);
	mean_add(&m, 2000000, (struct load){1000, 0}); /* a gap is a minute at most */
	mean_add(&m, 2060000, (struct load){0, 0});
	same_load("a gap", "mean", mean_take(&m), (struct load){500, 0});
	mean_add(&m, 100, (struct load){9, 9}); /* the clock was set back */
	same_load("back", "mean", mean_take(&m), (struct load){9, 9});
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_stands_for_its_time),
		cmocka_unit_test(it_errs_upwards), cmocka_unit_test(odd_times_and_numbers)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
