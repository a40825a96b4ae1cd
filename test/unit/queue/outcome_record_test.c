/* What is written on a Job of those that it waits for: it outlives a queue, counts for its Job alone, and costs
 * no namespace the turn of another. */
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

enum { SHARDS = 4 };

/* A stage of a pipeline: Jobs that are not queued, with labels, and one that waits for all of them and for
 * prep. A queue that is made anew reads what is there, and what is written on the Job that waits. So does
 * one of a standby, which has known that Job all the while, and has asked nothing. */
struct stage {
	struct rng rng;
	struct queue *q;
	struct predecessor shard[SHARDS], prep;
	bool there[SHARDS], prep_is_there;
	uint32_t uids;
	char *record;
	int64_t now_ms;
};

static const struct label SHARD = {"stage", "shard"};
static const char *const SHARD_NAME[SHARDS] = {"shard-0", "shard-1", "shard-2", "shard-3"};

static void set_report(struct stage *s, struct queue *q)
{
	static const char *values[] = {"shard"};
	static const struct requirement r = {"stage", SELECTOR_IN, values, 1};
	const struct dependency items[] = {{AFTER_OK, NULL, {&r, 1}, "afterok:{stage=shard}"},
		{AFTER_OK, "prep", {0}, "prep"}};
	struct job j = fixture_job(1, &one_cpu);
	j.name = "report";
	j.created_ms = 500;
	j.after = (struct dependencies){.item = items, .count = 2, .record = s->record};
	queue_set_job(q, &j);
}

static void answer_stage(const struct stage *s, struct queue *q)
{
	struct wanted_predecessors asked;
	while (queue_take_wanted(q, &asked)) {
		struct predecessor found[SHARDS];
		size_t n = 0;
		for (size_t i = 0; !asked.name && i < SHARDS; i++)
			if (s->there[i])
				found[n++] = s->shard[i];
		if (asked.name && s->prep_is_there)
			found[n++] = s->prep;
		queue_answer_wanted(q, asked.id, found, n);
	}
}

/* Until the questions come again. */
static void look(struct stage *s)
{
	struct decision d[4];
	int64_t next_ms;
	for (int i = 0; i < 2; i++) {
		s->now_ms += PREDECESSOR_AGAIN_MS + 1000;
		queue_decide(s->q, s->now_ms, d, 0, &next_ms);
		answer_stage(s, s->q);
	}
}

/* As the gate does. */
static bool write_records(struct stage *s)
{
	struct uid uid;
	size_t cost = 0;
	bool any = false;
	for (int i = 0; queue_take_unrecorded(s->q, &uid); i++) {
		struct buf b;
		assert_true(i < 10);
		if (!queue_is_unrecorded(s->q, &uid, &cost))
			continue;
		buf_init(&b, OUTCOME_RECORD_MAX);
		queue_job_outcomes(s->q, &uid, &b);
		free(s->record);
		s->record = buf_take(&b);
		set_report(s, s->q);
		any = true;
	}
	return any;
}

static void shard_moves(struct stage *s, size_t i)
{
	struct predecessor *p = &s->shard[i];
	if (!s->there[i]) {
		*p = (struct predecessor){.uid = fixture_uid(1000 + ++s->uids),
			.ns = "team-a",
			.name = SHARD_NAME[i],
			.labels = &SHARD,
			.nlabels = 1,
			.created_ms = s->now_ms,
			.state = PREDECESSOR_STARTED,
			.failure = ""};
		s->there[i] = true;
	} else if (p->state == PREDECESSOR_STARTED) {
		p->state = rng_below(&s->rng, 3) ? PREDECESSOR_SUCCEEDED : PREDECESSOR_FAILED;
		p->ended_ms = s->now_ms;
	} else if (rng_below(&s->rng, 2) == 0) {
		s->there[i] = false; /* its TTL, or its owner */
	}
}

static void prep_moves(struct stage *s)
{
	if (s->prep.state == PREDECESSOR_SUCCEEDED)
		s->prep_is_there = false;
	s->prep.state = PREDECESSOR_SUCCEEDED;
	s->prep.ended_ms = s->now_ms;
}

static enum dependency_verdict item_verdict(const struct queue *q, size_t i)
{
	return workload(q, 1)->after->item[i].verdict;
}

static void live_stage(uint64_t seed, size_t *ret_held, size_t *ret_never)
{
	struct stage s = {.q = fixture_new(0, 0), .now_ms = 1000, .prep_is_there = true};
	rng_seed(&s.rng, seed);
	s.prep = (struct predecessor){.uid = fixture_uid(999),
		.ns = "team-a",
		.name = "prep",
		.created_ms = 600,
		.state = PREDECESSOR_STARTED,
		.failure = ""};
	for (size_t i = 0; i < SHARDS; i++)
		shard_moves(&s, i);
	struct queue *standby = fixture_new(0, 0);
	set_report(&s, standby);
	set_report(&s, s.q);
	answer_stage(&s, s.q);
	for (int step = 0; step < 12; step++) {
		if (rng_below(&s.rng, 4) == 0)
			prep_moves(&s);
		else
			shard_moves(&s, rng_below(&s.rng, SHARDS));
		look(&s);
		write_records(&s);
		assert_false(write_records(&s)); /* once for each change */
		set_report(&s, standby);
		struct queue *fresh = rng_below(&s.rng, 2) ? standby : fixture_new(0, 0);
		if (fresh == standby)
			standby = fixture_new(0, 0);
		set_report(&s, fresh);
		set_report(&s, standby);
		answer_stage(&s, fresh);
		for (size_t i = 0; i < 2; i++)
			if (item_verdict(fresh, i) != item_verdict(s.q, i))
				fail_msg(
					"seed %llu step %d item %zu: %d seen, %d read; written:\n%s",
					(unsigned long long)seed, step, i, item_verdict(s.q, i),
					item_verdict(fresh, i), s.record ? s.record : "nothing");
		*ret_held += !s.prep_is_there && item_verdict(fresh, 1) == VERDICT_HOLDS;
		*ret_never += item_verdict(fresh, 0) == VERDICT_NEVER;
		queue_free(s.q); /* the new one leads from here on */
		s.q = fresh;
	}
	queue_free(s.q);
	queue_free(standby);
	free(s.record);
}

static void what_is_written_outlives_a_queue(void **state)
{
	size_t held = 0, never = 0;
	(void)state;
	for (uint64_t seed = 1; seed <= searched(130, 400); seed++)
		live_stage(seed, &held, &never);
	assert_true(held > 100 && never > 100);
}

/* Nothing is written where the ledger knows the end. */
static void what_the_ledger_knows_is_not_written(void **state)
{
	const struct dependency item = after_name(AFTER_OK, "prep");
	struct queue *q = fixture_new(0, 0);
	struct predecessor p = {.uid = fixture_uid(9),
		.ns = "team-a",
		.name = "prep",
		.created_ms = 600,
		.state = PREDECESSOR_SUCCEEDED,
		.ended_ms = 700,
		.failure = "",
		.followed = true};
	struct wanted_predecessors asked;
	struct uid uid;
	size_t cost = 0;
	(void)state;
	set_follower(q, 1, "report", 500, &item, 1);
	assert_true(queue_take_wanted(q, &asked));
	p.state = PREDECESSOR_STARTED;
	p.ended_ms = 0;
	queue_answer_wanted(q, asked.id, &p, 1);
	p.state = PREDECESSOR_SUCCEEDED; /* as the gate tells it: from here on it is not followed */
	p.ended_ms = 700;
	p.followed = false;
	queue_see_predecessor(q, &p);
	assert_true(dependencies_hold(workload(q, 1)));
	while (queue_take_unrecorded(q, &uid))
		assert_false(queue_is_unrecorded(q, &uid, &cost));
	queue_free(q);
}

static bool holds_by(const char *record)
{
	const struct dependency item = after_name(AFTER_OK, "prep");
	struct queue *q = fixture_new(0, 0);
	struct job j = fixture_job(1, &one_cpu);
	j.after = (struct dependencies){.item = &item, .count = 1, .record = record};
	queue_set_job(q, &j);
	bool holds = dependencies_hold(workload(q, 1));
	queue_free(q);
	return holds;
}

/* A copied manifest, an item that is not listed any more, and what cannot be read. */
static void only_a_record_of_its_own_counts(void **state)
{
	struct uid own = fixture_uid(1), other = fixture_uid(2);
	char uid[2][UID_TEXT_SIZE], text[400];
	static const char *const wrong[] = {"holds perp\n", "holds prep", "holds \n", "hold prep\n",
		"holds prep\n\n", "holds prep\nmember failed x y 0 0 prep\n",
		"holds prep\nmember ran x 00000000-0000-0000-0000-000000000000 0 0 prep\n",
		"holds prep\nmember failed x 00000000-0000-0000-0000-000000000000 -1 0 prep\n",
		"holds prep\nmember failed x 00000000-0000-0000-0000-000000000000 "
		"9999999999999999999 0 prep\n"};
	(void)state;
	uid_format(&own, uid[0]);
	uid_format(&other, uid[1]);
	for (int i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "for %s\nholds prep\n", uid[i]);
		assert_int_equal(holds_by(text), i == 0);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		snprintf(text, sizeof(text), "for %s\n%s", uid[0], wrong[i]);
		assert_false(holds_by(text));
	}
	assert_false(holds_by(""));
	assert_false(holds_by("for me\nholds prep\n"));
}

/* One with 10,000 followers whose records are to be written, and another with one. */
static void namespaces_take_turns_with_records(void **state)
{
	const struct dependency item = after_name(AFTER_OK, "prep");
	struct queue *q = fixture_new(0, 0);
	struct wanted_predecessors asked;
	struct uid uid, late = fixture_uid(20000);
	(void)state;
	for (uint32_t n = 1; n <= 1000; n++)
		set_follower(q, n, "follower", 500, &item, 1);
	struct job j = fixture_job(20000, &one_cpu);
	j.ns = "team-b";
	j.created_ms = 500;
	j.after = (struct dependencies){.item = &item, .count = 1};
	queue_set_job(q, &j);
	while (queue_take_wanted(q, &asked)) {
		struct predecessor p = {
			.uid = fixture_uid(strcmp(asked.ns, "team-b") ? 30001 : 30002),
			.ns = asked.ns,
			.name = "prep",
			.created_ms = 600,
			.state = PREDECESSOR_SUCCEEDED,
			.ended_ms = 700,
			.failure = ""};
		queue_answer_wanted(q, asked.id, &p, 1);
	}
	bool found = false;
	for (int i = 0; i < 2 && queue_take_unrecorded(q, &uid); i++)
		found |= uid_cmp(&uid, &late) == 0;
	assert_true(found);
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_outlives_a_queue),
		cmocka_unit_test(what_the_ledger_knows_is_not_written),
		cmocka_unit_test(only_a_record_of_its_own_counts),
		cmocka_unit_test(namespaces_take_turns_with_records),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
