/*
 * Jobs that wait for Jobs: what scenarios cannot show well. (Of selectors, questions, records and singletons in
 * tests of their own.)
 *
 *   restarts   a queue that saw every event, and one that is made anew and reads the list of all
 *              Jobs of a name, come to the same verdicts
 *   costs      a long chain, a thousand followers that fail at once
 *   sentences  as long as they can be
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "followers.h"
#include "queue/features/dependencies/dependency_wait.h"
#include "test/unit/searched.h"
#include "test/unit/core/inside.h"

/* ---- Restarts -------------------------------------------------------------------------------- */

enum { NAMES = 3, HISTORY = 60, FOLLOWERS = 24, STEPS = 120 };

static const char *const NAME[NAMES] = {"prep", "train", "clean"};

struct past_job { /* of some name */
	struct predecessor p;
	bool forgotten; /* deleted before it was started */
};

struct history {
	struct rng rng;
	int64_t now_ms;
	struct past_job job[HISTORY];
	size_t njobs;
	struct dependency item[FOLLOWERS];
	int64_t created_ms[FOLLOWERS];
	size_t nfollowers;
	bool forgets_creation; /* the ledger does not know when a Job was created that is gone */
};

/* The Job that has this name now; NULL: none. */
static struct past_job *alive(struct history *h, const char *name)
{
	for (size_t i = h->njobs; i-- > 0;)
		if (h->job[i].p.name == name && !h->job[i].p.gone)
			return &h->job[i];
	return NULL;
}

static void answer(struct history *h, struct queue *q, bool restarted)
{
	struct wanted_predecessors asked;
	while (queue_take_wanted(q, &asked)) {
		struct predecessor found[HISTORY];
		size_t n = 0;
		for (size_t i = 0; i < h->njobs; i++) {
			const struct past_job *j = &h->job[i];
			if (j->forgotten || strcmp(j->p.name, asked.name) != 0)
				continue;
			found[n] = j->p;
			if (j->p.gone && restarted && h->forgets_creation)
				found[n].created_ms = 0;
			n++;
		}
		queue_answer_wanted(q, asked.id, found, n);
	}
}

static void create(struct history *h, struct queue *q, const char *name)
{
	if (h->njobs == HISTORY)
		return;
	struct past_job *j = &h->job[h->njobs++];
	*j = (struct past_job){.p = {.uid = fixture_uid(1000 + (uint32_t)h->njobs),
				       .ns = "team-a",
				       .name = name,
				       .created_ms = h->now_ms,
				       .failure = "",
				       .followed = true}};
	queue_see_predecessor(q, &j->p);
}

static void move(struct history *h, struct queue *q, struct past_job *j)
{
	if (j->p.state == PREDECESSOR_WAITS) {
		j->p.state = PREDECESSOR_STARTED;
	} else if (j->p.state == PREDECESSOR_STARTED) {
		j->p.state = rng_below(&h->rng, 2) ? PREDECESSOR_SUCCEEDED : PREDECESSOR_FAILED;
		j->p.ended_ms = h->now_ms;
	}
	queue_see_predecessor(q, &j->p);
}

static void lose(struct queue *q, struct past_job *j)
{
	j->p.gone = true;
	j->p.deleted = j->p.ended_ms == 0;
	j->forgotten = j->p.state == PREDECESSOR_WAITS;
	queue_lose_predecessor(q, &j->p.uid, j->p.ns, j->p.name);
}

static void follow(struct history *h, struct queue *q)
{
	if (h->nfollowers == FOLLOWERS)
		return;
	size_t n = h->nfollowers++;
	h->item[n] = after_name((enum dependency_kind)rng_below(&h->rng, AFTER_SINGLETON),
		NAME[rng_below(&h->rng, NAMES)]);
	h->created_ms[n] = h->now_ms;
	set_follower(q, (uint32_t)n + 1, "follower", h->now_ms, &h->item[n], 1);
	answer(h, q, false);
}

static void step(struct history *h, struct queue *q, uint32_t most_s)
{
	const char *name = NAME[rng_below(&h->rng, NAMES)];
	struct past_job *j = alive(h, name);
	h->now_ms += 1000 * (most_s == 0 ? rng_below(&h->rng, 2) : 1 + rng_below(&h->rng, most_s));
	if (rng_below(&h->rng, 4) == 0)
		follow(h, q);
	else if (!j)
		create(h, q, name);
	else if (rng_below(&h->rng, 4) == 0)
		lose(q, j);
	else
		move(h, q, j);
}

/* The same followers, told in another order. */
static struct queue *restarted(struct history *h)
{
	struct queue *q = fixture_new(0, 0);
	size_t from = h->nfollowers ? rng_below(&h->rng, (uint32_t)h->nfollowers) : 0;
	for (size_t i = 0; i < h->nfollowers; i++) {
		size_t n = (i + from) % h->nfollowers;
		set_follower(q, (uint32_t)n + 1, "follower", h->created_ms[n], &h->item[n], 1);
	}
	answer(h, q, true);
	return q;
}

static enum dependency_verdict verdict(const struct queue *q, size_t n)
{
	const struct workload *w = workload(q, (uint32_t)n + 1);
	assert_int_equal(w->place == PLACE_READY, dependencies_hold(w));
	return w->after->item[0].verdict;
}

static void compare(struct history *h, const struct queue *q, bool exactly)
{
	struct queue *fresh = restarted(h);
	for (size_t n = 0; n < h->nfollowers; n++) {
		enum dependency_verdict lived = verdict(q, n), read = verdict(fresh, n);
		if (exactly ? lived != read : read == VERDICT_HOLDS && lived != VERDICT_HOLDS)
			fail_msg("follower %zu of %s (%s) at %lld s: %d seen, %d read", n,
				h->item[n].name, dependency_kind_name(h->item[n].kind),
				(long long)h->now_ms / 1000, lived, read);
	}
	queue_free(fresh);
}

static void live(uint64_t seed, uint32_t most_s, bool forgets_creation)
{
	struct history h = {.now_ms = 1000, .forgets_creation = forgets_creation};
	rng_seed(&h.rng, seed);
	struct queue *q = fixture_new(0, 0);
	for (int i = 0; i < STEPS; i++) {
		step(&h, q, most_s);
		compare(&h, q, most_s > 0 && !forgets_creation);
	}
	queue_free(q);
}

static void a_restart_comes_to_the_same_verdicts(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= searched(50, 150); seed++)
		live(seed, 3, false);
}

/* Events of one second, whose order is not known, and creations that are not: then less holds,
 * and never more. */
static void what_is_not_known_holds_nothing(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= searched(35, 100); seed++) {
		live(seed, 0, false);
		live(seed, 3, true);
	}
}

/* ---- Costs ----------------------------------------------------------------------------------- */

enum { CHAIN = 20000, FAN = 1000 };

/* Every question is answered: there is one Job of that name, and it waits. */
static void answer_waits(struct queue *q)
{
	struct wanted_predecessors asked;
	while (queue_take_wanted(q, &asked)) {
		struct predecessor p =
			seen((uint32_t)atoi(asked.name + 4) + 1, asked.name, PREDECESSOR_WAITS);
		queue_answer_wanted(q, asked.id, &p, 1);
	}
}

/* job-0, job-1, ..., each after the one before. */
static char (*chain_made(struct queue *q))[32]
{
	char(*name)[32] = mem_array(CHAIN, sizeof(*name));
	for (uint32_t i = 0; i < CHAIN; i++) {
		snprintf(name[i], sizeof(name[i]), "job-%u", i);
		struct dependency before = after_name(AFTER_OK, i ? name[i - 1] : "");
		set_follower(q, i + 1, name[i], 1000, &before, i > 0);
	}
	answer_waits(q);
	return name;
}

static void a_chain_moves_link_by_link(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct decision d[4];
	struct explanation x;
	int64_t next_ms;
	struct uid last = fixture_uid(CHAIN);
	char(*name)[32] = chain_made(q);
	assert_true(queue_explain(q, &last, 5000, &x));
	assert_int_equal(x.reason, WAIT_DEPENDENCY);
	for (uint32_t i = 0; i < CHAIN; i++) {
		assert_int_equal(queue_decide(q, 5000 + i, d, 4, &next_ms), 1);
		struct uid uid = fixture_uid(i + 1);
		assert_int_equal(uid_cmp(&d[0].uid, &uid), 0);
		struct predecessor p = seen(i + 1, name[i], PREDECESSOR_SUCCEEDED);
		uint64_t placed = inside_placed(q);
		queue_end_job(q, &uid, 5000 + i);
		queue_see_predecessor(q, &p);
		assert_in_range(inside_placed(q) - placed, 0, 2);
	}
	assert_int_equal(inside_predecessors(q)->namespaces.count, 0);
	queue_free(q);
	free(name);
}

static void a_thousand_followers_fail_at_once(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct dependency prep = after_name(AFTER_OK, "job-0");
	struct decision d[64];
	int64_t next_ms, now_ms = 5000;
	size_t told = 0;
	for (uint32_t i = 1; i <= FAN; i++) {
		struct job j = fixture_job(i + 1, &one_cpu);
		j.created_ms = 1000;
		j.after = (struct dependencies){&prep, 1, DEPENDENCY_FAILURE_DELETE};
		queue_set_job(q, &j);
	}
	answer_waits(q);
	assert_int_equal(queue_decide(q, now_ms, d, 64, &next_ms), 0);
	struct predecessor p = seen(1, "job-0", PREDECESSOR_FAILED);
	uint64_t placed = inside_placed(q);
	queue_see_predecessor(q, &p);
	do {
		size_t n = queue_decide(q, now_ms, d, 64, &next_ms);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(d[i].kind, DECISION_DELETE);
			assert_non_null(strstr(d[i].why, "job-0 failed"));
		}
		told += n;
		now_ms = next_ms;
	} while (next_ms != INT64_MAX);
	assert_int_equal(told, FAN);
	assert_int_equal(inside_placed(q), placed);
	queue_free(q);
}

/* ---- Sentences ------------------------------------------------------------------------------- */

/* Names as long as they can be, and each of 64 items another one. */
static void sentences_fit(void **state)
{
	(void)state;
	static char name[DEPENDENCIES_MAX][254], why[2000];
	struct dependency item[DEPENDENCIES_MAX];
	struct explanation x;
	struct uid uid = fixture_uid(1);
	struct queue *q = fixture_new(1000, 0);
	for (size_t i = 0; i < DEPENDENCIES_MAX; i++) {
		memset(name[i], 'a' + (int)(i % 26), 253);
		name[i][0] = (char)('a' + i / 26);
		item[i] = after_name(AFTER_OK, name[i]);
	}
	memset(why, 0xC3, sizeof(why) - 1); /* halves of characters */
	set_follower(q, 1, name[0], 1000, item + 1, DEPENDENCIES_MAX - 1);
	for (uint32_t i = 1; i < DEPENDENCIES_MAX; i++)
		set_follower(q, i + 1, name[i], 1000, &item[(i + 1) % DEPENDENCIES_MAX], 1);
	for (struct wanted_predecessors asked; queue_take_wanted(q, &asked);) {
		struct predecessor p = seen(1, asked.name, PREDECESSOR_WAITS);
		for (uint32_t i = 0; i < DEPENDENCIES_MAX; i++)
			if (strcmp(name[i], asked.name) == 0)
				p.uid = fixture_uid(i + 1);
		queue_answer_wanted(q, asked.id, &p, 1);
	}
	assert_true(queue_explain(q, &uid, 5000, &x));
	assert_int_equal(x.reason, WAIT_DEPENDENCY_NEVER);
	assert_true(strlen(x.sentence) < sizeof(x.sentence));
	for (uint32_t i = 1; i < DEPENDENCIES_MAX; i++) {
		struct predecessor p = seen(i + 1, name[i], PREDECESSOR_FAILED);
		p.failure = why;
		queue_see_predecessor(q, &p);
	}
	assert_true(queue_explain(q, &uid, 5000, &x));
	assert_non_null(strstr(x.sentence, "and for 62 other items"));
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_restart_comes_to_the_same_verdicts),
		cmocka_unit_test(what_is_not_known_holds_nothing),
		cmocka_unit_test(a_chain_moves_link_by_link),
		cmocka_unit_test(a_thousand_followers_fail_at_once),
		cmocka_unit_test(sentences_fit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
