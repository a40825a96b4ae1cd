#include "test/unit/forecast/fixture.h"

#include <stdlib.h>

#include "forecast/durations.h"

static const struct siphash_key key = {{1, 2}};

static struct duration_run run_of(const char *family, int64_t asked_ms)
{
	return (struct duration_run){.ns = "team-a",
		.family = family,
		.user = "ann",
		.localqueue = "main",
		.clusterqueue = "batch",
		.pods = 4,
		.asked_ms = asked_ms};
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

/* Of 400 draws, in order; one Job, so that seeds alone differ. */
enum { DRAWS = 400 };
static void draws(struct durations *d, struct duration_run run, int64_t ran_ms, int64_t ret[DRAWS])
{
	struct uid uid = uid_of(1);
	enum duration_basis basis;
	for (uint64_t seed = 0; seed < DRAWS; seed++) {
		ret[seed] = durations_draw(d, &run, &uid, seed, ran_ms, &basis);
		assert_true(ret[seed] > ran_ms);
	}
	qsort(ret, DRAWS, sizeof(*ret), by_size);
}

static enum duration_basis basis_of(
	struct durations *d, struct duration_run run, int64_t ran_ms, int64_t *ret_ms)
{
	struct uid uid = uid_of(1);
	enum duration_basis basis;
	*ret_ms = durations_draw(d, &run, &uid, 1, ran_ms, &basis);
	return basis;
}

/* Nobody knows to the minute how long a run will take. */
static void without_samples_about_what_was_asked(void **state)
{
	(void)state;
	struct durations *d = durations_new(&key);
	int64_t ms, got[DRAWS];
	assert_int_equal(basis_of(d, run_of("nightly-", HOUR_MS), 0, &ms), BASIS_ASKED);
	draws(d, run_of("nightly-", HOUR_MS), 0, got);
	assert_in_range(got[DRAWS / 10], 25 * MINUTE_MS, 40 * MINUTE_MS);
	assert_in_range(got[DRAWS / 2], 54 * MINUTE_MS, 66 * MINUTE_MS);
	assert_in_range(got[DRAWS * 9 / 10], 100 * MINUTE_MS, 130 * MINUTE_MS);
	assert_int_equal(basis_of(d, run_of("nightly-", 0), 0, &ms), BASIS_GUESS);
	assert_int_equal(ms, DURATION_GUESS_MS);
	durations_free(d);
}

/* It may last as long again. */
static void a_run_that_has_outlived_what_was_asked_goes_on(void **state)
{
	(void)state;
	struct durations *d = durations_new(&key);
	int64_t ms, got[DRAWS];
	assert_int_equal(basis_of(d, run_of("nightly-", HOUR_MS), 2 * HOUR_MS, &ms), BASIS_OVERDUE);
	draws(d, run_of("nightly-", HOUR_MS), 2 * HOUR_MS, got);
	assert_true(got[DRAWS * 9 / 10] > 4 * HOUR_MS);
	durations_free(d);
}

/* Others' runs that asked for nothing, of two minutes each, say nothing against an owner's word; his own
 * do, the more there are. A deadline is kept. */
static void who_is_the_first_to_ask_is_believed(void **state)
{
	(void)state;
	struct durations *d = durations_new(&key);
	struct duration_run asks = run_of("train-", 2 * HOUR_MS);
	int64_t got[DRAWS];
	for (int i = 0; i < 40; i++) {
		struct duration_run other = run_of(i % 2 ? "eval-" : "", 0);
		durations_tell(d, &other, 2 * MINUTE_MS);
	}
	draws(d, asks, 0, got);
	assert_in_range(got[DRAWS / 2], 100 * MINUTE_MS, 140 * MINUTE_MS);
	assert_true(got[DRAWS / 20] > 30 * MINUTE_MS);
	asks.ends = true;
	draws(d, asks, 0, got);
	assert_int_equal(got[DRAWS - 1], 2 * HOUR_MS);
	draws(d, asks, 3 * HOUR_MS, got);
	assert_int_equal(got[DRAWS - 1], 3 * HOUR_MS + 1); /* it is ended any moment */
	asks.ends = false;
	for (int i = 0; i < 3; i++)
		durations_tell(d, &asks, 2 * MINUTE_MS);
	draws(d, asks, 0, got);
	assert_true(got[DRAWS / 2] < 5 * MINUTE_MS);
	durations_free(d);
}

/* A new leader reads from the ledger how long runs took, and not what was asked for them. */
static void runs_of_which_only_the_length_is_known_count(void **state)
{
	(void)state;
	struct durations *d = durations_new(&key);
	struct duration_run recalled = run_of("train-", 0);
	int64_t got[DRAWS];
	for (int i = 0; i < 64; i++)
		durations_tell(d, &recalled, 2 * MINUTE_MS);
	draws(d, run_of("train-", 2 * HOUR_MS), 0, got);
	assert_true(got[DRAWS / 2] < 5 * MINUTE_MS);
	durations_free(d);
}

/* Of which others' runs say nothing, and which no table has. */
static void years_may_be_asked_for(void **state)
{
	(void)state;
	struct durations *d = durations_new(&key);
	struct duration_run other = run_of("eval-", 0);
	const int64_t year_ms = 365 * 24 * HOUR_MS;
	int64_t got[DRAWS];
	durations_tell(d, &other, 2 * MINUTE_MS);
	draws(d, run_of("train-", 3 * year_ms), 0, got);
	assert_true(got[DRAWS / 10] > year_ms && got[DRAWS * 9 / 10] < 9 * year_ms);
	durations_free(d);
}

static void one_earlier_run_is_a_hint(void **state)
{
	(void)state;
	struct durations *d = durations_new(&key);
	struct duration_run run = run_of("nightly-", 0);
	int64_t got[DRAWS];
	durations_tell(d, &run, HOUR_MS);
	draws(d, run, 0, got);
	assert_true(got[DRAWS / 10] < 30 * MINUTE_MS && got[DRAWS * 9 / 10] > 2 * HOUR_MS);
	for (int i = 0; i < 20; i++)
		durations_tell(d, &run, HOUR_MS);
	draws(d, run, 0, got);
	assert_true(got[DRAWS / 10] > 50 * MINUTE_MS && got[DRAWS * 9 / 10] < 75 * MINUTE_MS);
	durations_free(d);
}

static void a_draw_is_of_seed_and_job_alone(void **state)
{
	(void)state;
	struct durations *d = durations_new(&key),
			 *other = durations_new(&(struct siphash_key){{8, 9}});
	struct duration_run run = run_of("nightly-", HOUR_MS);
	enum duration_basis basis;
	bool differ = false;
	for (int i = 1; i <= 20; i++) {
		durations_tell(d, &run, i * MINUTE_MS);
		durations_tell(other, &run, i * MINUTE_MS);
	}
	for (uint32_t n = 0; n < 50; n++) {
		struct uid uid = uid_of(n);
		int64_t a = durations_draw(d, &run, &uid, 3, 0, &basis);
		differ |= a != durations_draw(d, &run, &uid, 4, 0, &basis);
		assert_int_equal(durations_draw(d, &run, &uid, 3, 0, &basis), a);
		/* Neither the key nor what was drawn before reaches it. */
		assert_int_equal(durations_draw(other, &run, &uid, 3, 0, &basis), a);
	}
	assert_true(differ);
	durations_free(d);
	durations_free(other);
}

/* Whatever was asked for: an hour, always. */
static void a_family_that_always_takes_as_long(void **state)
{
	(void)state;
	struct durations *d = durations_new(&key);
	int64_t got[DRAWS];
	for (int i = 0; i < 30; i++) {
		struct duration_run run = run_of("nightly-", (1 + i % 7) * HOUR_MS);
		durations_tell(d, &run, HOUR_MS + i * 1000);
	}
	draws(d, run_of("nightly-", 5 * HOUR_MS), 0, got);
	assert_in_range(got[DRAWS / 2], HOUR_MS * 85 / 100, HOUR_MS * 115 / 100);
	assert_in_range(got[DRAWS * 9 / 10], HOUR_MS, HOUR_MS * 140 / 100);
	durations_free(d);
}

/* They are all different, but ask for four times what they take. */
static void who_asks_for_four_times_is_believed_a_quarter(void **state)
{
	(void)state;
	struct durations *d = durations_new(&key);
	int64_t got[DRAWS];
	for (int i = 0; i < 60; i++) {
		int64_t ran_ms = (1 + i * 37 % 200) * MINUTE_MS;
		struct duration_run run = run_of("sweep-", ran_ms * 4 + i % 5 * 1000);
		durations_tell(d, &run, ran_ms);
	}
	draws(d, run_of("sweep-", 400 * MINUTE_MS), 0, got);
	assert_in_range(got[DRAWS / 2], 90 * MINUTE_MS, 110 * MINUTE_MS);
	draws(d, run_of("sweep-", 40 * MINUTE_MS), 0, got);
	assert_in_range(got[DRAWS / 2], 9 * MINUTE_MS, 11 * MINUTE_MS);
	durations_free(d);
}

static void who_is_right_is_believed_to_the_millisecond(void **state)
{
	(void)state;
	struct durations *d = durations_new(&key);
	int64_t ms;
	for (int i = 1; i < 40; i++) {
		struct duration_run run = run_of("exact-", i * 17000);
		durations_tell(d, &run, i * 17000);
		assert_int_equal(basis_of(d, run_of("exact-", 123457), 0, &ms), BASIS_SAMPLES);
		assert_int_equal(ms, 123457);
		assert_int_equal(basis_of(d, run_of("other-", 98761), 5000, &ms), BASIS_SAMPLES);
		assert_int_equal(ms, 98761);
	}
	durations_free(d);
}

/* Half take a minute, half an hour: one that has lasted two minutes is of the second half. */
static void what_has_lasted_counts(void **state)
{
	(void)state;
	struct durations *d = durations_new(&key);
	struct duration_run run = run_of("mixed-", 0);
	int64_t got[DRAWS];
	for (int i = 0; i < 60; i++)
		durations_tell(d, &run, i % 2 ? MINUTE_MS : HOUR_MS);
	draws(d, run, 0, got);
	assert_true(got[DRAWS / 10] < 2 * MINUTE_MS);
	assert_true(got[DRAWS * 9 / 10] > 45 * MINUTE_MS);
	draws(d, run, 2 * MINUTE_MS, got);
	assert_in_range(got[DRAWS / 10], 40 * MINUTE_MS, 80 * MINUTE_MS);
	durations_free(d);
}

static void a_run_that_outlasts_all_samples_goes_on(void **state)
{
	(void)state;
	struct durations *d = durations_new(&key);
	struct duration_run run = run_of("short-", 0);
	int64_t got[DRAWS], ms;
	for (int i = 0; i < 20; i++)
		durations_tell(d, &run, MINUTE_MS);
	draws(d, run, 10 * HOUR_MS, got);
	assert_in_range(got[DRAWS / 2], 13 * HOUR_MS, 15 * HOUR_MS);
	assert_int_equal(basis_of(d, run, 10 * HOUR_MS, &ms), BASIS_OVERDUE);
	durations_free(d);
}

/* Of one family the lengths of a play go together: else the sum of 100 would be sure. */
static void in_a_play_a_family_is_long_or_short_together(void **state)
{
	(void)state;
	struct durations *d = durations_new(&key);
	struct duration_run run = run_of("alike-", 0);
	double least = 1e300, most = 0;
	enum duration_basis basis;
	for (int i = 0; i < 60; i++)
		durations_tell(d, &run, (1 + i % 10) * MINUTE_MS);
	for (uint64_t seed = 0; seed < 50; seed++) {
		double sum = 0;
		for (uint32_t n = 0; n < 100; n++) {
			struct uid uid = uid_of(n);
			sum += (double)durations_draw(d, &run, &uid, seed, 0, &basis);
		}
		least = sum < least ? sum : least;
		most = sum > most ? sum : most;
	}
	assert_true(most > 1.3 * least);
	durations_free(d);
}

static void inventing_families_costs_no_memory_without_end(void **state)
{
	(void)state;
	struct durations *d = durations_new(&key);
	char family[32];
	int64_t ms;
	for (int i = 0; i < DURATIONS_GROUPS * 2; i++) {
		snprintf(family, sizeof(family), "family-%d-", i);
		struct duration_run run = run_of(family, 0);
		durations_tell(d, &run, HOUR_MS);
	}
	assert_true(durations_groups(d) <= DURATIONS_GROUPS);
	assert_int_equal(
		basis_of(d, run_of("family-0-", 0), 0, &ms), BASIS_SAMPLES); /* its user's */
	durations_free(d);
}

/* As of those that are recalled from the ledger: of the family, but of no size. */
static void samples_of_an_unknown_size_count_for_the_family(void **state)
{
	(void)state;
	struct durations *d = durations_new(&key);
	struct duration_run run = run_of("nightly-", 0);
	int64_t ms;
	run.pods = 0;
	for (int i = 0; i < 20; i++)
		durations_tell(d, &run, 10 * MINUTE_MS);
	assert_int_equal(durations_groups(d), 4);
	assert_false(durations_settle_some(d, 3));
	assert_true(durations_settle_some(d, 3));
	assert_int_equal(basis_of(d, run_of("nightly-", 0), 0, &ms), BASIS_SAMPLES);
	assert_in_range(ms, 5 * MINUTE_MS, 20 * MINUTE_MS);
	durations_free(d);
}

static void strange_figures(void **state)
{
	(void)state;
	struct durations *d = durations_new(&key);
	struct duration_run run = run_of("odd-", INT64_MAX);
	int64_t got[DRAWS], ms;
	assert_int_equal(basis_of(d, run, 0, &ms), BASIS_ASKED);
	assert_true(ms > INT64_MAX / 10);
	durations_tell(d, &run, 0);
	durations_tell(d, &run, -5);
	durations_tell(d, &run, INT64_MAX);
	draws(d, run, 0, got);
	draws(d, run, INT64_MAX / 2, got);
	draws(d, run_of("odd-", 1), 0, got);
	durations_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_samples_about_what_was_asked),
		cmocka_unit_test(a_run_that_has_outlived_what_was_asked_goes_on),
		cmocka_unit_test(who_is_the_first_to_ask_is_believed),
		cmocka_unit_test(runs_of_which_only_the_length_is_known_count),
		cmocka_unit_test(years_may_be_asked_for),
		cmocka_unit_test(one_earlier_run_is_a_hint),
		cmocka_unit_test(a_draw_is_of_seed_and_job_alone),
		cmocka_unit_test(a_family_that_always_takes_as_long),
		cmocka_unit_test(who_asks_for_four_times_is_believed_a_quarter),
		cmocka_unit_test(who_is_right_is_believed_to_the_millisecond),
		cmocka_unit_test(what_has_lasted_counts),
		cmocka_unit_test(a_run_that_outlasts_all_samples_goes_on),
		cmocka_unit_test(in_a_play_a_family_is_long_or_short_together),
		cmocka_unit_test(inventing_families_costs_no_memory_without_end),
		cmocka_unit_test(samples_of_an_unknown_size_count_for_the_family),
		cmocka_unit_test(strange_figures),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
