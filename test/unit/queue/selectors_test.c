/* Jobs that wait for all that have a label: how many a selector takes, which, and what an answer costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "followers.h"
#include "queue/features/dependencies/dependency_wait.h"
#include "test/unit/core/inside.h"

static struct dependency after_label(
	enum dependency_kind k, struct requirement *r, const char *const *value)
{
	*r = (struct requirement){"batch", SELECTOR_IN, value, 1};
	return (struct dependency){.kind = k, .selector = {r, 1}, .text = "afterok:{batch=..}"};
}

/* n Jobs with the label, as they are told. The caller frees the array and the names. */
static struct predecessor *labelled(
	size_t n, const struct label *label, char (*name)[32], enum predecessor_state state)
{
	struct predecessor *all = mem_array(n, sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		snprintf(name[i], sizeof(name[i]), "shard-%zu", i);
		all[i] = seen((uint32_t)i + 1000, name[i], state);
		all[i].labels = label;
		all[i].nlabels = 1;
	}
	return all;
}

static void a_selector_takes_ten_thousand_and_no_more(void **state)
{
	(void)state;
	static const char *const tuesday[] = {"tuesday"};
	static const struct label label = {"batch", "tuesday"};
	size_t n = PREDECESSOR_TAKEN_MAX + 1;
	char(*name)[32] = mem_array(n, sizeof(*name));
	struct predecessor *all = labelled(n, &label, name, PREDECESSOR_SUCCEEDED);
	struct requirement r;
	struct dependency d = after_label(AFTER_OK, &r, tuesday);
	struct wanted_predecessors asked;
	struct explanation x;
	struct uid uid = fixture_uid(1);
	struct queue *q = fixture_new(1000, 0);
	set_follower(q, 1, "report", 1000, &d, 1);
	assert_true(queue_take_wanted(q, &asked));
	assert_null(asked.name);
	assert_true(labels_match(&label, 1, asked.selector));
	queue_answer_wanted(q, asked.id, all, n);
	assert_false(dependencies_hold(workload(q, 1)));
	queue_explain(q, &uid, 5000, &x);
	assert_non_null(strstr(x.sentence, "which selects more than 10000 Jobs"));
	queue_free(q);

	q = fixture_new(1000, 0);
	set_follower(q, 1, "report", 1000, &d, 1);
	assert_true(queue_take_wanted(q, &asked));
	all[5].state = PREDECESSOR_STARTED;
	queue_answer_wanted(q, asked.id, all, n - 1);
	uint64_t placed = inside_placed(q);
	for (size_t i = 0; i + 1 < n; i++)
		queue_see_predecessor(q, &all[i]);
	assert_int_equal(inside_placed(q), placed);
	assert_false(dependencies_hold(workload(q, 1)));
	all[5].state = PREDECESSOR_SUCCEEDED;
	queue_see_predecessor(q, &all[5]);
	assert_false(
		dependencies_hold(workload(q, 1))); /* one that is not queued may have come since */
	assert_true(queue_take_wanted(q, &asked));
	queue_answer_wanted(q, asked.id, all, n - 1);
	assert_true(dependencies_hold(workload(q, 1)));
	queue_free(q);
	free(all);
	free(name);
}

/* Half of an answer is no answer: the first of two Jobs has ended well, the second runs. */
static void an_answer_is_judged_as_a_whole(void **state)
{
	(void)state;
	static const char *const tuesday[] = {"tuesday"};
	static const struct label label = {"batch", "tuesday"};
	char name[2][32];
	struct requirement r;
	struct dependency d[2] = {after_label(AFTER_OK, &r, tuesday), after_name(AFTER_OK, "prep")};
	struct predecessor *all = labelled(2, &label, name, PREDECESSOR_SUCCEEDED);
	struct wanted_predecessors asked;
	struct queue *q = fixture_new(1000, 0);
	all[1].state = PREDECESSOR_STARTED;
	set_follower(q, 1, "report", 5000, d, 2);
	while (queue_take_wanted(q, &asked)) {
		all[0].name = asked.name ? "prep" : name[0];
		all[1].name = asked.name ? "prep" : name[1];
		all[1].created_ms = asked.name ? 3000 : 1000;
		queue_answer_wanted(q, asked.id, all, 2);
	}
	assert_int_equal(workload(q, 1)->after->nheld, 0);
	queue_free(q);
	free(all);
}

/* The 65th selector of a namespace waits for a place. */
static void selectors_of_a_namespace_take_turns(void **state)
{
	(void)state;
	enum { N = PREDECESSOR_SELECTORS_MAX + 1 };
	char value[N][32];
	const char *values[N];
	struct requirement r[N];
	struct explanation x;
	struct uid last = fixture_uid(N), first = fixture_uid(1);
	struct wanted_predecessors asked;
	struct queue *q = fixture_new(1000, 0);
	size_t n = 0;
	for (uint32_t i = 0; i < N; i++) {
		snprintf(value[i], sizeof(value[i]), "v%u", i);
		values[i] = value[i];
		struct dependency d = after_label(AFTER_OK, &r[i], &values[i]);
		set_follower(q, i + 1, "follower", 1000, &d, 1);
	}
	while (queue_take_wanted(q, &asked)) {
		queue_answer_wanted(q, asked.id, NULL, 0);
		n++;
	}
	assert_int_equal(n, N - 1);
	queue_explain(q, &last, 5000, &x);
	assert_non_null(strstr(x.sentence, "fewer than 64 other selectors"));
	queue_drop_job(q, &first);
	assert_true(queue_take_wanted(q, &asked));
	assert_string_equal(asked.selector->requirements[0].values[0], value[N - 1]);
	queue_free(q);
}

/* A place is free: all that say the same take it, also those that stand behind others that wait. */
static void those_that_waited_for_one_place_take_it_together(void **state)
{
	(void)state;
	enum { N = PREDECESSOR_SELECTORS_MAX + 2 };
	char value[N][32];
	const char *values[N];
	struct requirement r[N], again;
	struct wanted_predecessors asked;
	struct queue *q = fixture_new(1000, 0);
	for (uint32_t i = 0; i < N; i++) {
		snprintf(value[i], sizeof(value[i]), "v%u", i);
		values[i] = value[i];
		struct dependency d = after_label(AFTER_NOT_OK, &r[i], &values[i]);
		set_follower(q, i + 1, "follower", 1000, &d, 1);
	}
	struct dependency late = after_label(AFTER_OK, &again, &values[N - 2]);
	set_follower(q, N + 1, "late", 1000, &late, 1);
	while (queue_take_wanted(q, &asked))
		queue_answer_wanted(q, asked.id, NULL, 0);
	assert_false(dependencies_hold(workload(q, N + 1)));
	struct uid uid = fixture_uid(1);
	queue_drop_job(q, &uid);
	assert_true(queue_take_wanted(q, &asked));
	struct label label = {"batch", values[N - 2]};
	struct predecessor p = seen(1000, "shard", PREDECESSOR_SUCCEEDED);
	p.labels = &label;
	p.nlabels = 1;
	queue_answer_wanted(q, asked.id, &p, 1);
	assert_true(dependencies_hold(workload(q, N + 1)));
	queue_free(q);
}

/* Each question is answered with those of the Jobs that it asks for. Returns how many names were asked. */
static size_t answer_with(struct queue *q, const struct predecessor *all, size_t n)
{
	struct wanted_predecessors asked;
	size_t names = 0;
	while (queue_take_wanted(q, &asked)) {
		struct predecessor found[64];
		size_t nfound = 0;
		for (size_t i = 0; i < n; i++)
			if (asked.name ? strcmp(asked.name, all[i].name) == 0
				       : labels_match(
						 all[i].labels, all[i].nlabels, asked.selector))
				found[nfound++] = all[i];
		queue_answer_wanted(q, asked.id, found, nfound);
		names += asked.name != NULL;
	}
	return names;
}

/* Until the questions come again. */
static void rest(struct queue *q, int64_t *now_ms)
{
	struct decision d[4];
	int64_t next_ms;
	queue_decide(q, *now_ms, d, 4, &next_ms);
	*now_ms += PREDECESSOR_AGAIN_MS;
	queue_decide(q, *now_ms, d, 4, &next_ms);
}

/* Its labels are taken off while it runs, that of its queue and that of the selector: the watch says that
 * it is deleted, the selector does not find it, and its name does. */
static void one_that_lost_its_labels_runs_on(void **state)
{
	(void)state;
	static const char *const tuesday[] = {"tuesday"};
	static const struct label label = {"batch", "tuesday"};
	struct requirement r;
	struct dependency selected = after_label(AFTER_OK, &r, tuesday);
	struct dependency failed = after_name(AFTER_NOT_OK, "shard"),
			  ended = after_name(AFTER_ANY, "shard");
	struct wanted_predecessors asked;
	int64_t now_ms = 5000;
	struct queue *q = fixture_new(1000, 0);
	struct predecessor p = seen(9, "shard", PREDECESSOR_STARTED);
	p.labels = &label;
	p.nlabels = 1;
	set_follower(q, 1, "report", 1000, &selected, 1);
	set_follower(q, 2, "mend", 1000, &failed, 1);
	set_follower(q, 3, "clean", 1000, &ended, 1);
	answer_with(q, &p, 1);
	p.followed = false;
	queue_unfollow_predecessor(q, &p.uid, "team-a", "shard", true);
	p.labels = NULL;
	p.nlabels = 0;
	assert_true(queue_take_wanted(q, &asked)); /* at once */
	assert_string_equal(asked.name, "shard");
	queue_return_wanted(q, asked.id);
	rest(q, &now_ms);
	struct wanted_predecessors of_name = {0}, of_selector = {0};
	while (queue_take_wanted(q, &asked))
		*(asked.name ? &of_name : &of_selector) = asked;
	queue_answer_wanted(q, of_selector.id, NULL, 0);
	assert_int_equal(workload(q, 1)->after->item[0].verdict, VERDICT_WAITS);
	assert_false(dependencies_hold(workload(q, 2)));
	assert_false(dependencies_hold(workload(q, 3)));
	queue_answer_wanted(q, of_name.id, &p, 1);
	assert_int_equal(workload(q, 1)->after->item[0].verdict, VERDICT_WAITS);
	assert_int_equal(workload(q, 1)->after->item[0].awaited->ns->by_name.count, 1);
	assert_false(dependencies_hold(workload(q, 2)));
	assert_false(dependencies_hold(workload(q, 3)));
	p.state = PREDECESSOR_SUCCEEDED;
	p.ended_ms = 7000;
	rest(q, &now_ms);
	answer_with(q, &p, 1);
	assert_int_equal(workload(q, 2)->after->item[0].verdict, VERDICT_NEVER);
	assert_true(dependencies_hold(workload(q, 3)));
	assert_true(workload(q, 3)->after->item[0].is_lost); /* the ledger knows no end of it */
	queue_free(q);
}

/* No Job waits for its name: it is asked for all the same. What the ledger says of it has no labels, and
 * takes none. */
static void one_that_a_selector_misses_is_asked_for_by_its_name(void **state)
{
	(void)state;
	static const char *const tuesday[] = {"tuesday"};
	static const struct label label = {"batch", "tuesday"};
	struct requirement r;
	struct dependency d = after_label(AFTER_OK, &r, tuesday);
	struct wanted_predecessors asked;
	char name[2][32];
	int64_t now_ms = 5000;
	struct queue *q = fixture_new(1000, 0);
	struct predecessor *p = labelled(2, &label, name, PREDECESSOR_STARTED);
	set_follower(q, 1, "report", 1000, &d, 1);
	answer_with(q, p, 2);
	queue_unfollow_predecessor(q, &p[1].uid, "team-a", name[1], true);
	p[0].state = PREDECESSOR_SUCCEEDED;
	p[0].ended_ms = 2000;
	queue_see_predecessor(q, &p[0]);
	rest(q, &now_ms);
	assert_true(queue_take_wanted(q, &asked) && !asked.name);
	queue_answer_wanted(q, asked.id, p, 1);
	assert_int_equal(workload(q, 1)->after->item[0].verdict, VERDICT_WAITS);
	assert_true(queue_take_wanted(q, &asked));
	assert_string_equal(asked.name, name[1]);
	struct predecessor held = seen(1001, name[1], PREDECESSOR_STARTED); /* its pods are going */
	held.followed = false;
	held.by_ledger = true;
	queue_answer_wanted(q, asked.id, &held, 1);
	assert_int_equal(workload(q, 1)->after->item[0].verdict, VERDICT_WAITS);
	rest(q, &now_ms);
	assert_int_equal(answer_with(q, p, 1), 1); /* it is deleted */
	assert_int_equal(workload(q, 1)->after->item[0].verdict, VERDICT_NEVER);
	rest(q, &now_ms);
	assert_int_equal(answer_with(q, p, 1), 0); /* and asked for no more */
	queue_free(q);
	free(p);
}

/* What selectors count and list is what the names say. */
static void check_taken(const struct predecessor_namespace *ns)
{
	size_t listed = 0, taken = 0;
	for (size_t i = 0; i < PREDECESSOR_SELECTORS_MAX; i++) {
		const struct predecessor_selector *s = ns->selector[i];
		size_t with = 0;
		for (enum outcome o = 0; s && o < OUTCOMES; o++)
			with += s->with[o];
		for (size_t k = 0; s && k < s->ntaken; k++) {
			const struct predecessor_name *n = s->taken[k];
			assert_true(n->taken_by & s->bit);
			assert_int_equal(
				n->place[__builtin_popcountll(n->taken_by & (s->bit - 1))], k);
		}
		assert_int_equal(with, s ? s->ntaken : 0);
		listed += s ? s->ntaken : 0;
	}
	list_each_entry(&ns->names, const struct predecessor_name, n, of_namespace)
		taken += (size_t)__builtin_popcountll(n->taken_by);
	assert_int_equal(listed, taken);
}

/* Names come to selectors and leave them, and so do selectors; the last of a list takes the place of one
 * that leaves. */
static void selectors_list_what_they_take(void **state)
{
	(void)state;
	enum { VALUES = 6, MEMBERS = 40 };
	static const char *const value[VALUES] = {"a", "b", "c", "d", "e", "f"};
	static const char *const key[2] = {"batch", "stage"};
	struct label label[MEMBERS][2];
	char name[MEMBERS][32];
	struct queue *q = fixture_new(1000, 0);
	struct dependency prep = after_name(AFTER_OK, "prep");
	struct predecessor *p = labelled(MEMBERS, label[0], name, PREDECESSOR_STARTED);
	struct rng rng;
	rng_seed(&rng, 7);
	set_follower(q, 100, "keeps the namespace", 1000, &prep, 1);
	for (int step = 0; step < 20000; step++) {
		uint32_t i = rng_below(&rng, MEMBERS), n = 1 + rng_below(&rng, 2 * VALUES);
		struct requirement r = {key[n % 2], SELECTOR_IN, &value[n / 2 % VALUES], 1};
		struct dependency d = {
			.kind = AFTER_OK, .selector = {&r, 1}, .text = value[n / 2 % VALUES]};
		struct uid uid = fixture_uid(n);
		if (rng_below(&rng, 20) == 0)
			set_follower(q, n, "follower", 1000, &d, 1);
		else if (rng_below(&rng, 40) == 0)
			queue_drop_job(q, &uid);
		else if (rng_below(&rng, 6) == 0)
			queue_lose_predecessor(q, &p[i].uid, "team-a", name[i]);
		for (int k = 0; k < 2; k++)
			label[i][k] = (struct label){key[k], value[rng_below(&rng, VALUES)]};
		p[i].uid = fixture_uid(1000 + (uint32_t)step / 500 * MEMBERS + i);
		p[i].created_ms = 1000 + step / 500 * 1000;
		p[i].state = rng_below(&rng, 2) ? PREDECESSOR_STARTED : PREDECESSOR_FAILED;
		p[i].ended_ms = p[i].state == PREDECESSOR_FAILED ? p[i].created_ms + 1 : 0;
		p[i].labels = label[i];
		p[i].nlabels = 2;
		queue_see_predecessor(q, &p[i]);
		check_taken(workload(q, 100)->after->item[0].awaited->ns);
	}
	queue_free(q); /* and all that was counted as kept is gone */
	free(p);
}

/* A namespace that waits for very many names: a selector looks at the one that it takes. */
static void a_selector_looks_at_what_it_takes(void **state)
{
	(void)state;
	enum { WAITED_FOR = 20000 };
	static const char *const tuesday[] = {"tuesday"};
	static const struct label label = {"batch", "tuesday"};
	static char name[WAITED_FOR][32];
	struct dependency item[DEPENDENCIES_MAX];
	struct requirement r;
	struct dependency d = after_label(AFTER_OK, &r, tuesday);
	struct queue *q = fixture_new(1000, 0);
	struct predecessor p = seen(9, "shard", PREDECESSOR_FAILED);
	struct uid uid = fixture_uid(1);
	size_t cost = 0;
	for (size_t i = 0; i < WAITED_FOR; i++) {
		size_t at = i % DEPENDENCIES_MAX;
		snprintf(name[i], sizeof(name[i]), "job-%zu", i);
		item[at] = after_name(AFTER_OK, name[i]);
		if (at + 1 == DEPENDENCIES_MAX || i + 1 == WAITED_FOR)
			set_follower(q, (uint32_t)i + 2, "follower", 1000, item, at + 1);
	}
	set_follower(q, 1, "report", 1000, &d, 1);
	p.labels = &label;
	p.nlabels = 1;
	answer_with(q, &p, 1);
	const struct awaited *a = workload(q, 1)->after->item[0].awaited;
	assert_int_equal(a->ns->by_name.count, WAITED_FOR + 1);
	assert_int_equal(awaited_selector(a)->ntaken, 1);
	assert_true(queue_is_unrecorded(q, &uid, &cost));
	assert_int_equal(cost, 1);
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_selector_takes_ten_thousand_and_no_more),
		cmocka_unit_test(an_answer_is_judged_as_a_whole),
		cmocka_unit_test(selectors_of_a_namespace_take_turns),
		cmocka_unit_test(those_that_waited_for_one_place_take_it_together),
		cmocka_unit_test(one_that_lost_its_labels_runs_on),
		cmocka_unit_test(one_that_a_selector_misses_is_asked_for_by_its_name),
		cmocka_unit_test(selectors_list_what_they_take),
		cmocka_unit_test(a_selector_looks_at_what_it_takes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
