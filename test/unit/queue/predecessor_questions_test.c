/* What the queue asks of Jobs that others wait for: whose turn it is, when it asks again, and what an answer
 * means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "followers.h"
#include "queue/features/dependencies/dependency_wait.h"

static void namespaces_take_turns_with_questions(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct dependency item[DEPENDENCIES_MAX];
	char name[DEPENDENCIES_MAX][32];
	struct wanted_predecessors asked;
	for (size_t i = 0; i < DEPENDENCIES_MAX; i++) {
		snprintf(name[i], sizeof(name[i]), "job-%zu", i);
		item[i] = after_name(AFTER_OK, name[i]);
	}
	set_follower(q, 1, "greedy", 1000, item, DEPENDENCIES_MAX);
	struct job j = fixture_job(2, &one_cpu);
	j.ns = "team-b";
	j.after = (struct dependencies){item, 1, DEPENDENCY_FAILURE_WAIT};
	queue_set_job(q, &j);
	assert_true(queue_take_wanted(q, &asked));
	assert_string_equal(asked.ns, "team-a");
	assert_true(queue_take_wanted(q, &asked));
	assert_string_equal(asked.ns, "team-b");
	queue_free(q); /* with two questions that nobody answered */
}

/* So many questions of one namespace are asked at a time; the next when one was answered. */
static void a_namespace_has_a_share_of_open_questions(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct wanted_predecessors asked, first = {0};
	uint64_t n = 0;
	for (uint32_t i = 0; i <= WANTED_ASKED_MAX; i++) {
		char name[32];
		snprintf(name, sizeof(name), "job-%u", i);
		struct dependency item = after_name(AFTER_OK, name);
		set_follower(q, i + 1, "follower", 1000, &item, 1);
	}
	for (; queue_take_wanted(q, &asked); n++)
		if (n == 0)
			first = asked;
	assert_int_equal(n, WANTED_ASKED_MAX);
	struct dependency prep = after_name(AFTER_OK, "prep");
	struct job j = fixture_job(50000, &one_cpu);
	j.ns = "team-b";
	j.after = (struct dependencies){&prep, 1, DEPENDENCY_FAILURE_WAIT};
	queue_set_job(q, &j);
	assert_true(queue_take_wanted(q, &asked));
	assert_string_equal(asked.ns, "team-b");
	assert_false(queue_take_wanted(q, &asked));
	queue_answer_wanted(q, first.id, NULL, 0);
	assert_true(queue_take_wanted(q, &asked));
	assert_string_equal(asked.ns, "team-a");
	queue_free(q);
}

/* Whoever took a question reads its names, whatever becomes of the Job that asked. */
static void a_question_outlives_its_follower(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct dependency prep = after_name(AFTER_OK, "prep");
	struct wanted_predecessors asked, other;
	struct predecessor p = seen(9, "prep", PREDECESSOR_SUCCEEDED);
	struct uid uid = fixture_uid(1);
	set_follower(q, 1, "train", 1000, &prep, 1);
	assert_true(queue_take_wanted(q, &asked));
	queue_drop_job(q, &uid);
	assert_string_equal(asked.name, "prep");
	set_follower(q, 2, "train", 1000, &prep, 1);
	assert_false(queue_take_wanted(q, &other)); /* it is asked already */
	queue_answer_wanted(q, asked.id, &p, 1);
	assert_false(dependencies_hold(workload(q, 2))); /* asked before it waited */
	queue_answer_wanted(q, asked.id, &p, 1);	 /* twice: nothing happens */
	assert_true(queue_take_wanted(q, &asked));
	queue_answer_wanted(q, asked.id, &p, 1);
	assert_true(dependencies_hold(workload(q, 2)));
	queue_return_wanted(q, 12345);
	queue_free(q);
}

static void one_that_could_not_be_answered_comes_again(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct dependency prep = after_name(AFTER_OK, "prep");
	struct wanted_predecessors asked;
	struct decision d[4];
	int64_t next_ms;
	set_follower(q, 1, "train", 1000, &prep, 1);
	assert_true(queue_take_wanted(q, &asked));
	queue_return_wanted(q, asked.id);
	assert_false(queue_take_wanted(q, &asked));
	queue_decide(q, 5000, d, 4, &next_ms);
	assert_int_equal(next_ms, 5000 + PREDECESSOR_AGAIN_MS);
	struct predecessor p = seen(9, "prep", PREDECESSOR_STARTED);
	queue_see_predecessor(q, &p); /* that is no answer: who had the name before? */
	queue_decide(q, next_ms, d, 4, &next_ms);
	assert_true(queue_take_wanted(q, &asked));
	queue_answer_wanted(q, asked.id, &p, 1);
	queue_decide(q, 50000, d, 4, &next_ms);
	assert_int_equal(next_ms, INT64_MAX); /* events tell of the rest */
	queue_free(q);
}

/* The first follower has its answer, the second one's could not be given. That events tell of the Job from
 * now on is no answer either. */
static void one_that_was_answered_for_another_comes_again(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct dependency prep = after_name(AFTER_OK, "prep");
	struct wanted_predecessors asked;
	struct decision d[4];
	int64_t next_ms;
	struct predecessor p = seen(9, "prep", PREDECESSOR_WAITS);
	p.followed = false;
	set_follower(q, 1, "train", 1000, &prep, 1);
	assert_true(queue_take_wanted(q, &asked));
	queue_answer_wanted(q, asked.id, &p, 1);
	set_follower(q, 2, "late", 1000, &prep, 1);
	assert_true(queue_take_wanted(q, &asked));
	queue_return_wanted(q, asked.id);
	p.followed = true;
	queue_see_predecessor(q, &p);
	queue_decide(q, 5000, d, 4, &next_ms);
	queue_decide(q, next_ms, d, 4, &next_ms);
	assert_true(queue_take_wanted(q, &asked));
	queue_answer_wanted(q, asked.id, &p, 1);
	p = seen(9, "prep", PREDECESSOR_SUCCEEDED);
	queue_see_predecessor(q, &p);
	assert_true(dependencies_hold(workload(q, 2)));
	queue_free(q);
}

/* A list goes by name, not by age: the Job that is known may be gone by now. */
static void while_jobs_are_listed_anew_an_answer_is_needed(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct dependency ended = after_name(AFTER_OK, "prep"),
			  begun = after_name(AFTER_START, "prep");
	struct wanted_predecessors asked;
	struct predecessor old = seen(9, "prep", PREDECESSOR_STARTED);
	struct predecessor new = seen(10, "prep", PREDECESSOR_WAITS);
	set_follower(q, 1, "train", 1000, &ended, 1);
	assert_true(queue_take_wanted(q, &asked));
	queue_answer_wanted(q, asked.id, &old, 1);
	queue_begin_job_list(q);
	set_follower(q, 2, "late", 5000, &begun, 1);
	assert_false(dependencies_hold(workload(q, 2)));
	queue_lose_predecessor(q, &old.uid, "team-a", "prep");
	queue_end_job_list(q);
	new.created_ms = 3000;
	assert_true(queue_take_wanted(q, &asked));
	queue_answer_wanted(q, asked.id, &new, 1);
	assert_false(dependencies_hold(workload(q, 2)));
	queue_free(q);
}

/* The ledger knows of a run that was stopped; events tell that the Job is there and waits again. */
static void a_stopped_run_in_the_ledger_does_not_say_that_its_job_is_gone(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct dependency any = after_name(AFTER_ANY, "prep");
	struct wanted_predecessors asked;
	struct predecessor p = seen(9, "prep", PREDECESSOR_STARTED);
	set_follower(q, 1, "clean", 1000, &any, 1);
	assert_true(queue_take_wanted(q, &asked));
	queue_see_predecessor(q, &p);
	p.gone = true;
	queue_answer_wanted(q, asked.id, &p, 1);
	assert_false(dependencies_hold(workload(q, 1)));
	queue_free(q);
}

/* Its start was called off and fenced. What its owner has added since has to hold first. */
static void a_start_that_was_called_off_is_none(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct dependency two[] = {after_name(AFTER_OK, "prep"), after_name(AFTER_OK, "clean")};
	struct predecessor p = seen(9, "prep", PREDECESSOR_SUCCEEDED);
	struct wanted_predecessors asked;
	set_follower(q, 1, "train", 1000, two, 1);
	assert_true(queue_take_wanted(q, &asked));
	queue_answer_wanted(q, asked.id, &p, 1);
	assert_true(dependencies_hold(workload(q, 1)));
	struct job j = fixture_job(1, &one_cpu);
	j.name = "train";
	j.created_ms = 1000;
	j.after = (struct dependencies){.item = two, .count = 2};
	j.admission = (struct job_admission){.state = STORY_FENCED, .attempt = 1, .told_ms = 2000};
	queue_set_job(q, &j);
	assert_false(dependencies_hold(workload(q, 1)));
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(namespaces_take_turns_with_questions),
		cmocka_unit_test(a_namespace_has_a_share_of_open_questions),
		cmocka_unit_test(a_question_outlives_its_follower),
		cmocka_unit_test(one_that_could_not_be_answered_comes_again),
		cmocka_unit_test(one_that_was_answered_for_another_comes_again),
		cmocka_unit_test(while_jobs_are_listed_anew_an_answer_is_needed),
		cmocka_unit_test(a_stopped_run_in_the_ledger_does_not_say_that_its_job_is_gone),
		cmocka_unit_test(a_start_that_was_called_off_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
