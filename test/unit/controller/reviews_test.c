/* The line of reviews: who gets a place, when each is played, and what it comes to. Asks are the test's,
 * but for that of the last test, which plays. */
#include "controller/forecast/reviews.h"

#include <ev.h>
#include <unistd.h>

#include "controller/forecast/guesses.h"
#include "test/unit/forecast/fixture.h"

/* ---- asks, as the test wants them -------------------------------------------------------------- */

int __real_ask_begin(
	const struct queue *q, const struct ask_options *o, struct ask **ret, struct err *e);
int __real_ask_read(struct ask *a, struct ask_answer *ret, struct err *e);
int __real_ask_fd(const struct ask *a);
bool __real_ask_reap(struct ask *a);
void __real_ask_free(struct ask *a);
int __wrap_ask_begin(
	const struct queue *q, const struct ask_options *o, struct ask **ret, struct err *e);
int __wrap_ask_read(struct ask *a, struct ask_answer *ret, struct err *e);
int __wrap_ask_fd(const struct ask *a);
bool __wrap_ask_reap(struct ask *a);
void __wrap_ask_free(struct ask *a);

static struct {
	bool real;
	bool no_process, fails, refused;
	unsigned begun, freed;
	int pipe[2];
	int64_t cpu_us;
	struct ask_variant variant[2];
	struct ask_options options;
} asks;

#define FAKE ((struct ask *)&asks)

int __wrap_ask_begin(
	const struct queue *q, const struct ask_options *o, struct ask **ret, struct err *e)
{
	if (asks.real)
		return __real_ask_begin(q, o, ret, e);
	asks.begun++;
	asks.options = *o;
	if (asks.no_process)
		return err_set(e, ERR_BUSY, "no process for a forecast: test");
	*ret = FAKE;
	return 0;
}

int __wrap_ask_read(struct ask *a, struct ask_answer *ret, struct err *e)
{
	char byte;
	if (asks.real)
		return __real_ask_read(a, ret, e);
	assert_int_equal(read(asks.pipe[0], &byte, 1), 1);
	if (asks.fails)
		return err_set(e, ERR_BUSY, "the forecast was ended by signal 9");
	*ret = (struct ask_answer){.n = 1,
		.draws = 4,
		.variants = 2,
		.variant = asks.variant,
		.text = {"told", 4},
		.cpu_us = asks.cpu_us};
	if (asks.refused)
		ret->draws = 0;
	return 1;
}

int __wrap_ask_fd(const struct ask *a)
{
	return asks.real ? __real_ask_fd(a) : asks.pipe[0];
}

bool __wrap_ask_reap(struct ask *a)
{
	return asks.real ? __real_ask_reap(a) : true;
}

void __wrap_ask_free(struct ask *a)
{
	if (asks.real)
		__real_ask_free(a);
	else if (a)
		asks.freed++;
}

/* ---- the world --------------------------------------------------------------------------------- */

struct asker {
	struct review *review;
	bool is_gone;
	bool is_answered;
	enum review_end end;
	char text[600];
};

struct fix {
	struct ev_loop *loop;
	struct queue *queue;
	struct guesses *guesses;
	struct reviews *reviews;
	int64_t tick_ms;
	struct asker asker[20];
};

static int begin(void **state)
{
	static struct fix x;
	struct siphash_key key = {{1, 2}};
	memset(&asks, 0, sizeof(asks));
	assert_int_equal(pipe(asks.pipe), 0);
	asks.cpu_us = 1000;
	strcpy(asks.variant[1].refused, "");
	x = (struct fix){.loop = ev_loop_new(EVFLAG_AUTO), .queue = world_of(1, STRICT_FIFO)};
	x.tick_ms = 1000000;
	x.guesses = guesses_new(&key);
	struct reviews_options o = {.loop = x.loop, .queue = x.queue, .guesses = x.guesses};
	x.reviews = reviews_new(&o);
	reviews_tick(x.reviews, true, BEGIN_MS, x.tick_ms);
	*state = &x;
	return 0;
}

static int end(void **state)
{
	struct fix *x = *state;
	reviews_free(x->reviews);
	guesses_free(x->guesses);
	queue_free(x->queue);
	ev_loop_destroy(x->loop);
	close(asks.pipe[0]);
	close(asks.pipe[1]);
	return 0;
}

static void pass(struct fix *x, int seconds)
{
	for (int i = 0; i < seconds; i++) {
		x->tick_ms += 1000;
		reviews_tick(x->reviews, true, BEGIN_MS + x->tick_ms, x->tick_ms);
	}
}

static bool has_gone(void *ctx)
{
	return ((struct asker *)ctx)->is_gone;
}

static void on_answer(const struct review_answer *a, void *ctx)
{
	struct asker *k = ctx;
	assert_false(k->is_answered);
	k->is_answered = true;
	k->review = NULL;
	k->end = a->end;
	if (a->sentence)
		snprintf(k->text, sizeof(k->text), "%s", a->sentence);
	else
		snprintf(k->text, sizeof(k->text), "%.*s", (int)a->text.len, a->text.ptr);
}

/* False: there is no place, and asker.text says why. */
static bool enter(struct fix *x, size_t i, const char *who, const char *ns)
{
	struct asker *k = &x->asker[i];
	struct review_asker asker = {who, ns, has_gone, on_answer, k};
	struct err e = {""};
	*k = (struct asker){0};
	k->review = reviews_enter(x->reviews, &asker, &e);
	strcpy(k->text, e.text);
	return k->review;
}

static bool ask(struct fix *x, size_t i, const char *who, const char *ns)
{
	struct review_plays plays = {.variants = 2};
	if (!enter(x, i, who, ns))
		return false;
	review_play(x->asker[i].review, &plays);
	return true;
}

static void answer(struct fix *x)
{
	assert_int_equal(write(asks.pipe[1], "x", 1), 1);
	ev_run(x->loop, EVRUN_ONCE);
}

/* ---- the line ---------------------------------------------------------------------------------- */

static void who_asks_is_told(void **state)
{
	struct fix *x = *state;
	assert_true(ask(x, 0, "ann", "team"));
	assert_int_equal(asks.begun, 0); /* the loop forks when it has time */
	pass(x, 1);
	assert_int_equal(asks.begun, 1);
	assert_int_equal(asks.options.variants, 2);
	assert_int_equal(asks.options.draws, REVIEWS_DRAWS);
	assert_int_equal(asks.options.all_s, REVIEWS_CPU_S);
	assert_false(x->asker[0].is_answered);
	answer(x);
	assert_true(x->asker[0].is_answered);
	assert_int_equal(x->asker[0].end, REVIEW_DONE);
	assert_string_equal(x->asker[0].text, "told");
}

static void one_is_played_at_a_time_and_namespaces_take_turns(void **state)
{
	struct fix *x = *state;
	assert_true(ask(x, 0, "ann", "team"));
	assert_true(ask(x, 1, "bob", "team"));
	assert_true(ask(x, 2, "eve", "other"));
	pass(x, 3);
	assert_int_equal(asks.begun, 1);
	answer(x);
	assert_true(x->asker[0].is_answered);
	pass(x, 1);
	assert_int_equal(asks.begun, 2);
	answer(x);
	assert_true(x->asker[2].is_answered);
	assert_false(x->asker[1].is_answered);
	pass(x, 1);
	answer(x);
	assert_true(x->asker[1].is_answered);
}

static void there_is_one_place_for_each_and_few_in_all(void **state)
{
	struct fix *x = *state;
	char who[20], ns[20];
	assert_true(ask(x, 0, "ann", "team"));
	assert_false(ask(x, 1, "ann", "other"));
	assert_non_null(
		strstr(x->asker[1].text, "your last question of this kind has no answer yet"));
	assert_true(ask(x, 1, "bob", "team"));
	assert_false(ask(x, 2, "cid", "team"));
	assert_non_null(strstr(x->asker[2].text, "too many of this namespace"));
	for (size_t i = 2; i < REVIEWS_WAIT_MAX; i++) {
		snprintf(who, sizeof(who), "u%zu", i);
		snprintf(ns, sizeof(ns), "n%zu", i);
		assert_true(ask(x, i, who, ns));
	}
	assert_false(ask(x, 10, "late", "late"));
	assert_non_null(
		strstr(x->asker[10].text, "8 other questions of this kind wait: ask again in 20s"));
	review_leave(x->asker[5].review);
	assert_false(x->asker[5].is_answered);
	assert_true(ask(x, 10, "late", "late"));
}

static void one_that_is_not_ready_keeps_nobody_waiting(void **state)
{
	struct fix *x = *state;
	struct review_plays plays = {.variants = 2};
	assert_true(enter(x, 0, "ann", "team"));
	assert_true(ask(x, 1, "bob", "team"));
	pass(x, 1);
	answer(x);
	assert_true(x->asker[1].is_answered);
	pass(x, 1);
	assert_int_equal(asks.begun, 1);
	review_play(x->asker[0].review, &plays);
	pass(x, 1);
	assert_int_equal(asks.begun, 2);
	answer(x);
	assert_true(x->asker[0].is_answered);
}

static void who_waits_for_too_long_is_turned_away(void **state)
{
	struct fix *x = *state;
	assert_true(ask(x, 0, "ann", "team"));
	pass(x, 1);
	assert_true(ask(x, 1, "bob", "other"));
	pass(x, REVIEWS_PATIENCE_MS / 1000);
	assert_false(x->asker[1].is_answered);
	pass(x, 1);
	assert_int_equal(x->asker[1].end, REVIEW_TURNED_AWAY);
	assert_non_null(strstr(x->asker[1].text, "ask again in a minute"));
	answer(x);
	assert_true(x->asker[0].is_answered);
}

/* Four namespaces have all the places that there are for namespaces. */
static void no_number_of_tenants_keeps_an_admin_out(void **state)
{
	struct fix *x = *state;
	char who[20], ns[20];
	unsigned played = 0;
	asks.cpu_us = 3000000;
	for (size_t i = 0; i < REVIEWS_WAIT_MAX; i++) {
		snprintf(who, sizeof(who), "u%zu", i);
		snprintf(ns, sizeof(ns), "n%zu", i / 2);
		assert_true(ask(x, i, who, ns));
	}
	assert_false(ask(x, 10, "late", "late"));
	pass(x, 1);
	assert_int_equal(asks.begun, 1);
	assert_true(ask(x, 11, "boss", "")); /* there is a place */
	while (!x->asker[11].is_answered && played++ < 3) {
		answer(x);
		pass(x, 15);
	}
	assert_int_equal(x->asker[11].end, REVIEW_DONE);
	assert_int_equal(played, 2); /* behind the one that was played */
}

/* Who has a hundred ServiceAccounts. */
static void a_namespace_rests_whoever_asks(void **state)
{
	struct fix *x = *state;
	asks.cpu_us = 3000000;
	assert_true(ask(x, 0, "sa-0", "team"));
	pass(x, 1);
	answer(x);
	pass(x, 20);
	assert_false(ask(x, 0, "sa-1", "team"));
	assert_string_equal(x->asker[0].text,
		"questions of this kind about this namespace took much of the controller's time lately: ask again in 10s");
	assert_true(ask(x, 1, "sa-1", "other"));
	assert_true(ask(x, 2, "boss", ""));
	pass(x, 10);
	assert_true(ask(x, 0, "sa-2", "team"));
}

/* Else it would be a way to have the Job read and decoded as often as one likes. */
static void who_leaves_before_his_turn_rests_for_a_moment(void **state)
{
	struct fix *x = *state;
	assert_true(enter(x, 0, "ann", "team"));
	review_leave(x->asker[0].review);
	assert_false(enter(x, 0, "ann", "team"));
	assert_non_null(strstr(x->asker[0].text, "ask again in 2s"));
	pass(x, 2);
	assert_true(enter(x, 0, "ann", "team"));
}

/* ---- the pace ---------------------------------------------------------------------------------- */

/* Two hours in which somebody asks each second, as so many callers of so many namespaces. */
static int64_t played_ms(struct fix *x, int64_t cpu_ms, int callers, int namespaces)
{
	char who[60], ns[60];
	unsigned begun = asks.begun;
	asks.cpu_us = cpu_ms * 1000;
	for (int s = 0; s < 7200; s++) {
		snprintf(who, sizeof(who), "u%d-%d-%d", (int)cpu_ms, callers, s % callers);
		snprintf(ns, sizeof(ns), "n%d-%d-%d", (int)cpu_ms, namespaces, s % namespaces);
		unsigned before = asks.begun;
		if (ask(x, 0, who, ns)) {
			pass(x, 1);
			if (asks.begun > before)
				answer(x);
			else
				review_leave(x->asker[0].review);
		} else {
			pass(x, 1);
		}
	}
	return (asks.begun - begun) * cpu_ms;
}

static void reviews_take_a_fifth_of_a_core_a_namespace_half_of_it_and_a_caller_half_of_that(
	void **state)
{
	struct fix *x = *state;
	static const int64_t cpu_ms[] = {10, 300, 3000, 20000};
	for (size_t i = 0; i < sizeof(cpu_ms) / sizeof(cpu_ms[0]); i++) {
		int64_t one = played_ms(x, cpu_ms[i], 1, 1);
		pass(x, 600);
		int64_t team = played_ms(x, cpu_ms[i], 1000, 1);
		pass(x, 600);
		int64_t all = played_ms(x, cpu_ms[i], 1000, 1000);
		pass(x, 600);
		assert_true(one > 0 && one - cpu_ms[i] <= 7200 * 1000 / 20);
		assert_true(team >= one && team - cpu_ms[i] <= 7200 * 1000 / 10);
		assert_true(all >= team && all - cpu_ms[i] <= 7200 * 1000 / 5);
	}
}

static void who_comes_too_soon_is_told_when_to_come(void **state)
{
	struct fix *x = *state;
	asks.cpu_us = 3000000;
	assert_true(ask(x, 0, "ann", "team"));
	pass(x, 1);
	answer(x);
	pass(x, 4);
	assert_false(ask(x, 0, "ann", "team"));
	assert_string_equal(x->asker[0].text,
		"your last question of this kind took much of the controller's time lately: ask again in 56s");
	assert_true(ask(x, 1, "bob", "other"));
	pass(x, 11); /* all rest for 15 s */
	assert_int_equal(asks.begun, 2);
	answer(x);
	asks.cpu_us = 20000000;
	pass(x, 15);
	assert_true(ask(x, 2, "cid", "third"));
	pass(x, 1);
	answer(x);
	pass(x, 1);
	assert_false(ask(x, 3, "dan", "fourth"));
	assert_non_null(strstr(x->asker[3].text, "ask again in 1m39s"));
}

/* ---- what ends it ------------------------------------------------------------------------------ */

static void it_ends_when_its_asker_has_gone(void **state)
{
	struct fix *x = *state;
	assert_true(ask(x, 0, "ann", "team"));
	pass(x, 1);
	assert_true(ask(x, 1, "bob", "team"));
	x->asker[0].is_gone = x->asker[1].is_gone = true;
	pass(x, 1);
	assert_int_equal(asks.freed, 1);
	assert_true(x->asker[0].is_answered && x->asker[1].is_answered);
	pass(x, 60);
	assert_int_equal(asks.begun, 1);
	/* What it had used counts. */
	assert_true(ask(x, 2, "cid", "team"));
	pass(x, 1);
	assert_int_equal(asks.begun, 2);
}

static void a_standby_plays_nothing(void **state)
{
	struct fix *x = *state;
	assert_true(ask(x, 0, "ann", "team"));
	pass(x, 1);
	assert_true(ask(x, 1, "bob", "team"));
	x->tick_ms += 1000;
	reviews_tick(x->reviews, false, BEGIN_MS, x->tick_ms);
	assert_int_equal(asks.freed, 1);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(x->asker[i].end, REVIEW_FAILED);
		assert_non_null(strstr(x->asker[i].text, "does not lead any more"));
	}
}

static void what_fails_has_a_sentence(void **state)
{
	struct fix *x = *state;
	asks.no_process = true;
	assert_true(ask(x, 0, "ann", "team"));
	pass(x, 1);
	assert_int_equal(x->asker[0].end, REVIEW_FAILED);
	assert_non_null(strstr(x->asker[0].text, "could not be simulated: no process"));
	asks.no_process = false;
	asks.fails = true;
	pass(x, 60);
	assert_true(ask(x, 1, "bob", "team"));
	pass(x, 1);
	answer(x);
	assert_int_equal(x->asker[1].end, REVIEW_FAILED);
	assert_non_null(strstr(x->asker[1].text, "signal 9"));
	asks.fails = false;
	asks.refused = true;
	strcpy(asks.variant[1].refused, "ClusterQueue batch: no");
	pass(x, 60);
	assert_true(ask(x, 2, "cid", "team"));
	pass(x, 1);
	answer(x);
	assert_int_equal(x->asker[2].end, REVIEW_REFUSED);
	assert_string_equal(x->asker[2].text, "ClusterQueue batch: no");
}

static void one_that_does_not_end_is_killed(void **state)
{
	struct fix *x = *state;
	assert_true(ask(x, 0, "ann", "team"));
	pass(x, REVIEWS_ASK_MS / 1000 + 8);
	assert_false(x->asker[0].is_answered);
	pass(x, 3);
	assert_int_equal(asks.freed, 1);
	assert_int_equal(x->asker[0].end, REVIEW_FAILED);
	assert_non_null(strstr(x->asker[0].text, "did not end in time"));
}

/* ---- all of it, in processes of its own -------------------------------------------------------- */

static int larger(struct queue *q, size_t variant, void *ctx, struct err *e)
{
	(void)variant;
	(void)ctx;
	(void)e;
	set_quota(q, 8, STRICT_FIFO, (struct preemption_spec){0});
	return 0;
}

static void tell_second(const struct ask_answer *a, const struct queue *q,
	const struct review_basis *basis, struct buf *out, void *ctx)
{
	struct uid second = uid_of(2);
	size_t index = ask_index(a, &second);
	(void)q;
	(void)ctx;
	struct eta now = ask_eta(a, 0, index), then = ask_eta(a, 1, index);
	buf_printf(out, "%zu draws, %zu runs: %d and %d min", a->draws, basis->runs,
		(int)((now.start.p50_ms - a->now_ms) / MINUTE_MS),
		(int)((then.start.p50_ms - a->now_ms) / MINUTE_MS));
}

static void it_plays(void **state)
{
	struct fix *x = *state;
	struct duration_run run = {"team-a", "family-", "", "main", "batch", 1, 60 * MINUTE_MS};
	struct review_plays plays = {.variants = 2, .change = larger, .tell = tell_second};
	asks.real = true;
	int64_t now_ms = BEGIN_MS + x->tick_ms + 1000;
	for (int i = 0; i < 64; i++)
		guesses_tell_run(x->guesses, &run, 30 * MINUTE_MS);
	tell(x->queue, now_ms, (struct told){1, 1, 60 * MINUTE_MS});
	decide(x->queue, now_ms);
	tell(x->queue, now_ms + 1, (struct told){2, 1, 60 * MINUTE_MS});
	assert_true(enter(x, 0, "ann", "team-a"));
	review_play(x->asker[0].review, &plays);
	pass(x, 1);
	while (!x->asker[0].is_answered)
		ev_run(x->loop, EVRUN_ONCE);
	assert_int_equal(x->asker[0].end, REVIEW_DONE);
	assert_string_equal(x->asker[0].text, "4 draws, 64 runs: 30 and 0 min");
	pass(x, 1); /* reaps */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_asks_is_told),
		TEST(one_is_played_at_a_time_and_namespaces_take_turns),
		TEST(there_is_one_place_for_each_and_few_in_all),
		TEST(one_that_is_not_ready_keeps_nobody_waiting),
		TEST(who_waits_for_too_long_is_turned_away),
		TEST(no_number_of_tenants_keeps_an_admin_out),
		TEST(a_namespace_rests_whoever_asks),
		TEST(who_leaves_before_his_turn_rests_for_a_moment),
		TEST(reviews_take_a_fifth_of_a_core_a_namespace_half_of_it_and_a_caller_half_of_that),
		TEST(who_comes_too_soon_is_told_when_to_come),
		TEST(it_ends_when_its_asker_has_gone),
		TEST(a_standby_plays_nothing),
		TEST(what_fails_has_a_sentence),
		TEST(one_that_does_not_end_is_killed),
		TEST(it_plays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
