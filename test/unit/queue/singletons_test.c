/* Jobs of which one of a family runs at a time: never two, and no taking turns for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "followers.h"
#include "test/unit/searched.h"

enum { FAMILIES = 3, SINGLETONS = 60 };

struct sibling {
	int family; /* -1: of none */
	bool singleton, there, holds, stopping;
};

struct siblings {
	struct queue *q;
	struct rng rng;
	int64_t now_ms;
	struct sibling job[SINGLETONS + 1];
	size_t ended;
};

static void set_sibling(struct siblings *s, uint32_t n)
{
	static const char *const family[] = {"", "CronJob/a", "b-", "c-"};
	static const char *const class[] = {"low", "mid", "high"};
	static const struct dependency singleton = {.kind = AFTER_SINGLETON, .text = "singleton"};
	struct sibling *x = &s->job[n];
	struct job j = fixture_job(n, &one_cpu);
	*x = (struct sibling){.family = (int)rng_below(&s->rng, FAMILIES + 1) - 1, .there = true};
	x->singleton = x->family >= 0 && rng_below(&s->rng, 3) > 0;
	j.created_ms = s->now_ms;
	j.family = family[x->family + 1];
	j.priority_class = class[rng_below(&s->rng, 3)];
	j.queue = rng_below(&s->rng, 3) ? "main" : "more";
	j.parallelism = j.completions = 1 + (int32_t)rng_below(&s->rng, 3);
	j.after = (struct dependencies){&singleton, x->singleton, DEPENDENCY_FAILURE_WAIT};
	queue_set_job(s->q, &j);
}

static uint32_t number_of(const struct uid *uid)
{
	return (uint32_t)uid->byte[15] | (uint32_t)uid->byte[14] << 8;
}

static void start_sibling(struct siblings *s, uint32_t n)
{
	struct sibling *x = &s->job[n];
	for (uint32_t i = 1; i <= SINGLETONS && x->singleton; i++)
		if (s->job[i].holds && s->job[i].family == x->family)
			fail_msg("singleton %u starts while %u of its family runs", n, i);
	assert_false(x->holds);
	x->holds = true;
	struct uid uid = fixture_uid(n);
	queue_confirm_job(s->q, &uid, s->now_ms);
}

static void settle(struct siblings *s)
{
	struct decision d[8];
	int64_t next_ms = s->now_ms;
	for (int passes = 0; next_ms <= s->now_ms; passes++) {
		size_t n = queue_decide(s->q, s->now_ms, d, 8, &next_ms);
		assert_true(passes < 50);
		for (size_t i = 0; i < n; i++) {
			if (d[i].kind == DECISION_START)
				start_sibling(s, number_of(&d[i].uid));
			else if (d[i].kind == DECISION_STOP)
				s->job[number_of(&d[i].uid)].stopping = true;
		}
	}
}

/* Ends a run, or one that was told to stop: that waits again. */
static void end_some(struct siblings *s)
{
	uint32_t from = rng_below(&s->rng, SINGLETONS);
	for (uint32_t i = 0; i < SINGLETONS; i++) {
		uint32_t n = (from + i) % SINGLETONS + 1;
		struct sibling *x = &s->job[n];
		struct uid uid = fixture_uid(n);
		if (!x->holds)
			continue;
		x->holds = false;
		if (x->stopping)
			queue_release_job(s->q, &uid, s->now_ms, 0);
		else
			queue_end_job(s->q, &uid, s->now_ms);
		x->there = x->stopping;
		s->ended += !x->stopping;
		x->stopping = false;
		return;
	}
}

static void live_with_siblings(uint64_t seed)
{
	struct siblings s = {.q = fixture_new(0, 0), .now_ms = 1000};
	rng_seed(&s.rng, seed);
	static const char *const class[] = {"low", "mid", "high"};
	struct clusterqueue_spec cq = {.name = "batch",
		.cohort = "all",
		.preemption.reclaim_within_cohort = PREEMPT_ANY,
		.preemption.within_clusterqueue = PREEMPT_LOWER_PRIORITY};
	make_classes(s.q, class, 3, 0);
	make_queue(s.q, cq, "spot", 4000);
	cq.name = "other";
	make_queue(s.q, cq, "spot", 4000);
	make_localqueue(s.q, "team-a", "more", "other");
	for (uint32_t n = 1; n <= SINGLETONS;) {
		s.now_ms += 1000;
		if (rng_below(&s.rng, 2))
			set_sibling(&s, n++);
		else
			end_some(&s);
		settle(&s);
	}
	for (int i = 0; s.ended < SINGLETONS; i++) {
		assert_true(i < 1000);
		s.now_ms += 1000;
		end_some(&s);
		settle(&s);
	}
	queue_free(s.q);
}

static void singletons_run_alone_and_all_get_their_turn(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= searched(100, 300); seed++)
		live_with_siblings(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(singletons_run_alone_and_all_get_their_turn),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
