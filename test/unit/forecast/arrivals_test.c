#include "test/unit/forecast/fixture.h"

#include "forecast/arrivals.h"
#include "forecast/play.h"

#define DAY_MS (24 * HOUR_MS)

static struct job job_of(const char *name, const struct container *c)
{
	return (struct job){.uid = uid_of(1),
		.ns = "team-a",
		.name = name,
		.queue = "main",
		.priority_class = "",
		.pod_priority_class = "",
		.family = "nightly-",
		.submitted_by = "ann",
		.parallelism = 3,
		.has_completions = true,
		.completions = 3,
		.durations.expected_ms = HOUR_MS,
		.terms = {.deadline_ms = BEGIN_MS,
			.start_after_ms = BEGIN_MS,
			.max_price_resource = ""},
		.pod = {.containers = c, .ncontainers = 1, .runtime_class = ""}};
}

static void tell_at(struct arrivals *a, int64_t at_ms)
{
	struct resource cpu = {"cpu", 2000};
	struct container c = {.requests = {&cpu, 1}};
	struct job j = job_of("job", &c);
	arrivals_tell(a, &j, at_ms);
}

/* Each day at eight, and on the third at nine, too. */
static struct arrivals *four_days(void)
{
	struct arrivals *a = arrivals_new();
	for (int day = 0; day < 4; day++) {
		tell_at(a, BEGIN_MS + day * DAY_MS + 8 * HOUR_MS);
		if (day == 2)
			tell_at(a, BEGIN_MS + day * DAY_MS + 9 * HOUR_MS);
	}
	return a;
}

static void each_day_is_one_of_the_last(void **state)
{
	(void)state;
	struct arrivals *a = four_days();
	int64_t now_ms = BEGIN_MS + 4 * DAY_MS;
	size_t nine = 0;
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct arrivals_draw *d = arrivals_draw_new(a, seed, now_ms);
		const struct job *j;
		int64_t at_ms, last_ms = now_ms;
		size_t eight = 0;
		while (arrivals_next(&at_ms, &j, d)) {
			int64_t hour = (at_ms - BEGIN_MS) % DAY_MS / HOUR_MS;
			assert_true(at_ms > last_ms);
			last_ms = at_ms;
			assert_true(hour == 8 || hour == 9);
			eight += hour == 8;
			nine += hour == 9;
			assert_int_equal(j->created_ms, at_ms);
			assert_string_equal(j->queue, "main");
			assert_string_equal(j->family, "nightly-");
			assert_int_equal(j->parallelism, 3);
			assert_int_equal(j->pod.containers[0].requests.item[0].amount, 2000);
			assert_int_equal(j->terms.deadline_ms, 0);
			assert_int_equal(j->terms.start_after_ms, 0);
			assert_int_equal(j->uid.byte[0], 255);
		}
		assert_int_equal(eight, ARRIVALS_COME_DAYS);
		arrivals_draw_free(d);
	}
	/* One of three known days has it: 3 of 4 are known wholly, since the first began at eight. */
	assert_in_range(nine, 200 * ARRIVALS_COME_DAYS / 3 - 40, 200 * ARRIVALS_COME_DAYS / 3 + 40);
	arrivals_free(a);
}

static void the_same_seed_draws_the_same(void **state)
{
	(void)state;
	struct arrivals *a = four_days();
	struct arrivals_draw *one = arrivals_draw_new(a, 7, BEGIN_MS + 4 * DAY_MS);
	struct arrivals_draw *two = arrivals_draw_new(a, 7, BEGIN_MS + 4 * DAY_MS);
	const struct job *j, *k;
	int64_t at_ms, other_ms;
	while (arrivals_next(&at_ms, &j, one)) {
		assert_true(arrivals_next(&other_ms, &k, two));
		assert_int_equal(at_ms, other_ms);
		assert_memory_equal(&j->uid, &k->uid, sizeof(j->uid));
	}
	assert_false(arrivals_next(&other_ms, &k, two));
	arrivals_draw_free(one);
	arrivals_draw_free(two);
	arrivals_free(a);
}

/* How many come in that draw, and when the last one does. */
static size_t come(const struct arrivals *a, uint64_t seed, int64_t now_ms, int64_t *ret_last_ms)
{
	struct arrivals_draw *d = arrivals_draw_new(a, seed, now_ms);
	const struct job *j;
	size_t n = 0;
	*ret_last_ms = now_ms;
	for (int64_t at_ms; arrivals_next(&at_ms, &j, d); n++) {
		assert_true(at_ms >= *ret_last_ms);
		*ret_last_ms = at_ms;
	}
	arrivals_draw_free(d);
	return n;
}

/* One a second came for a minute: that goes on for less than a minute in half of the draws, and in one of ten for
 * nine. By four draws, as reviews have, it is told apart as well. */
static void what_began_just_now_may_end_or_last(void **state)
{
	(void)state;
	struct arrivals *a = arrivals_new();
	int64_t now_ms = BEGIN_MS + MINUTE_MS, last_ms;
	size_t shorter = 0, longest = 0;
	for (int s = 0; s < 60; s++)
		tell_at(a, BEGIN_MS + s * 1000);
	assert_int_equal(arrivals_to_draw_from(a, now_ms), 59); /* the first is not repeated */
	for (uint64_t seed = 0; seed < 16; seed++) {
		size_t n = come(a, seed, now_ms, &last_ms);
		shorter += last_ms <= now_ms + MINUTE_MS;
		longest += last_ms > now_ms + 8 * MINUTE_MS;
		assert_true(last_ms <= now_ms + ARRIVALS_YOUNG_MOST * MINUTE_MS);
		assert_true(n * 1000 + 10000 >= (size_t)(last_ms - now_ms));
	}
	assert_int_equal(shorter, 8);
	assert_in_range(longest, 1, 2);
	assert_true(come(a, 0, now_ms, &last_ms) > 400);
	assert_in_range(come(a, 1, now_ms, &last_ms), 40, 60);
	assert_true(come(a, 2, now_ms, &last_ms) > 120);
	assert_true(come(a, 3, now_ms, &last_ms) < 20);
	arrivals_free(a);
}

static void one_that_came_just_now_tells_nothing(void **state)
{
	(void)state;
	struct arrivals *a = arrivals_new();
	int64_t last_ms;
	assert_int_equal(come(a, 0, BEGIN_MS, &last_ms), 0);
	tell_at(a, BEGIN_MS);
	assert_int_equal(arrivals_to_draw_from(a, BEGIN_MS), 0);
	assert_int_equal(come(a, 0, BEGIN_MS, &last_ms), 0);
	arrivals_free(a);
}

/* Those that may come again, and no others, are told: not who came with the first, nor who came before the whole
 * days. */
static void what_is_counted_is_what_may_come_again(void **state)
{
	(void)state;
	struct arrivals *a = arrivals_new();
	int64_t last_ms;
	for (int i = 0; i < 40; i++)
		tell_at(a, BEGIN_MS);
	assert_int_equal(arrivals_to_draw_from(a, BEGIN_MS + MINUTE_MS), 0);
	assert_int_equal(come(a, 0, BEGIN_MS + MINUTE_MS, &last_ms), 0);
	tell_at(a, BEGIN_MS + 30000);
	assert_int_equal(arrivals_to_draw_from(a, BEGIN_MS + MINUTE_MS), 1);
	assert_int_equal(come(a, 1, BEGIN_MS + MINUTE_MS, &last_ms), 1);
	assert_int_equal(arrivals_to_draw_from(a, BEGIN_MS + 20 * HOUR_MS), 1);
	tell_at(a, BEGIN_MS + 20 * HOUR_MS);
	assert_int_equal(arrivals_to_draw_from(a, BEGIN_MS + DAY_MS), 2);
	assert_int_equal(arrivals_to_draw_from(a, BEGIN_MS + 36 * HOUR_MS), 1);
	assert_int_equal(come(a, 0, BEGIN_MS + 36 * HOUR_MS, &last_ms), ARRIVALS_COME_DAYS);
	assert_int_equal(arrivals_count(a), 42);
	arrivals_free(a);
}

static void an_hour_makes_arrivals_old(void **state)
{
	(void)state;
	struct arrivals *a = arrivals_new();
	assert_true(arrivals_are_young(a, BEGIN_MS));
	tell_at(a, BEGIN_MS);
	assert_true(arrivals_are_young(a, BEGIN_MS + HOUR_MS - 1));
	assert_false(arrivals_are_young(a, BEGIN_MS + HOUR_MS));
	arrivals_free(a);
}

static void what_is_known_of_an_afternoon_is_repeated(void **state)
{
	(void)state;
	struct arrivals *a = arrivals_new();
	const struct job *j;
	int64_t at_ms;
	struct arrivals_draw *d;
	tell_at(a, BEGIN_MS);
	tell_at(a, BEGIN_MS + HOUR_MS);
	d = arrivals_draw_new(a, 1, BEGIN_MS + 3 * HOUR_MS);
	for (int hours = 4; hours < 20; hours += 3) {
		assert_true(arrivals_next(&at_ms, &j, d));
		assert_int_equal(at_ms, BEGIN_MS + hours * HOUR_MS);
	}
	arrivals_draw_free(d);
	arrivals_free(a);
}

static void old_ones_and_too_many_are_forgotten(void **state)
{
	(void)state;
	struct arrivals *a = four_days();
	tell_at(a, BEGIN_MS + (ARRIVALS_DAYS + 2) * DAY_MS + 8 * HOUR_MS);
	assert_int_equal(arrivals_count(a), 4); /* those of two days are older */
	for (int i = 0; i < 100000; i++)
		tell_at(a, BEGIN_MS + (ARRIVALS_DAYS + 3) * DAY_MS + i);
	assert_true(arrivals_bytes(a) <= ARRIVALS_BYTES_MAX);
	assert_true(arrivals_count(a) > 5000);
	arrivals_free(a);
}

/* A tenant may write a placement of a megabyte. */
static void a_large_placement_is_left_out(void **state)
{
	(void)state;
	static char value[5000];
	struct label label = {"pool", value};
	struct resource cpu = {"cpu", 2000};
	struct container c = {.requests = {&cpu, 1}};
	struct job j = job_of("job", &c);
	struct arrivals *a = arrivals_new();
	memset(value, 'x', sizeof(value) - 1);
	j.placement.node_selector = &label;
	j.placement.nnode_selector = 1;
	arrivals_tell(a, &j, BEGIN_MS);
	assert_true(arrivals_bytes(a) < 3000);
	j.hold = "true";
	arrivals_tell(a, &j, BEGIN_MS);
	assert_int_equal(arrivals_count(a), 1);
	arrivals_free(a);
}

/* 20,000 in an hour, and nothing is known of other hours: they would be a million in two days. */
static void who_made_very_many_does_not_make_a_play_endless(void **state)
{
	(void)state;
	struct arrivals *a = arrivals_new();
	size_t n = 0;
	int64_t at_ms;
	const struct job *j;
	for (int i = 0; i < 20000; i++)
		tell_at(a, BEGIN_MS + i * HOUR_MS / 20000);
	int64_t now_ms = BEGIN_MS + HOUR_MS;
	assert_int_equal(arrivals_to_draw_from(a, now_ms), 19999);
	struct arrivals_draw *d = arrivals_draw_new(a, 1, now_ms);
	while (arrivals_next(&at_ms, &j, d))
		n++;
	assert_int_equal(n, ARRIVALS_COME_MAX);
	arrivals_draw_free(d);
	arrivals_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_day_is_one_of_the_last),
		cmocka_unit_test(who_made_very_many_does_not_make_a_play_endless),
		cmocka_unit_test(the_same_seed_draws_the_same),
		cmocka_unit_test(what_began_just_now_may_end_or_last),
		cmocka_unit_test(one_that_came_just_now_tells_nothing),
		cmocka_unit_test(what_is_counted_is_what_may_come_again),
		cmocka_unit_test(an_hour_makes_arrivals_old),
		cmocka_unit_test(what_is_known_of_an_afternoon_is_repeated),
		cmocka_unit_test(old_ones_and_too_many_are_forgotten),
		cmocka_unit_test(a_large_placement_is_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
