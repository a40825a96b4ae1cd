/* Troubles: from what is said of pods to the one that is told of their Job. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "controller/gate/trouble.h"

#define T0 INT64_C(1795255200000)
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static struct uid uid_of(unsigned n)
{
	struct uid uid = {{0}};
	uid.byte[0] = (uint8_t)n;
	uid.byte[1] = (uint8_t)(n >> 8);
	return uid;
}

static struct uid job_a(void)
{
	return uid_of(60000);
}

/* A pod of Job a that is Pending for s seconds, and in trouble for since seconds. */
static void see(
	struct troubles *t, unsigned n, enum trouble_word w, int s, int since, const char *message)
{
	struct trouble_pod p = {.uid = uid_of(n),
		.job = job_a(),
		.pending_ms = T0 - s * 1000,
		.word = w,
		.since_ms = T0 - since * 1000,
		.message = message};
	troubles_see_pod(t, &p, 0);
}

static struct trouble ask(const struct troubles *t, int32_t missing)
{
	struct troubles_ask a = {.job = job_a(),
		.now_ms = T0,
		.tick_ms = 1,
		.after_ms = 10000,
		.started_ms = T0 - 60000,
		.missing = missing};
	return troubles_of(t, &a);
}

static void refuse(struct troubles *t, int first, int last, const char *message)
{
	struct trouble_refusal r = {.job = job_a(),
		.first_ms = T0 - first * 1000,
		.last_ms = T0 - last * 1000,
		.message = message};
	troubles_see_refusal(t, &r);
}

/* ---- words ----------------------------------------------------------------------------------- */

static void each_word_has_a_name_a_sentence_and_a_cure(void **state)
{
	(void)state;
	for (enum trouble_word w = TROUBLE_NONE + 1; w < TROUBLE_WORDS; w++) {
		struct trouble x = {.word = w, .pods = 1, .since_ms = T0, .message = ""};
		struct buf b;
		buf_init(&b, 4096);
		assert_true(trouble_name(w)[0] >= 'A' && trouble_name(w)[0] <= 'Z');
		bool of_pods = w != TROUBLE_PODS_REFUSED && trouble_patience(w) == 1;
		assert_int_equal(trouble_named(trouble_name(w)), of_pods ? w : TROUBLE_NONE);
		assert_true(*trouble_cure(w, "") != '\0');
		trouble_sentence(&x, 1, T0, &b);
		assert_null(strstr(buf_text(&b), "cannot ,"));
		buf_done(&b);
	}
	assert_int_equal(trouble_named("ContainerCreating"), TROUBLE_NONE);
	assert_int_equal(trouble_named("PodInitializing"), TROUBLE_NONE);
	assert_int_equal(trouble_named(""), TROUBLE_NONE);
	assert_int_equal(trouble_named(NULL), TROUBLE_NONE);
	assert_true(trouble_same(TROUBLE_ERR_IMAGE_PULL, TROUBLE_IMAGE_PULL_BACK_OFF));
	assert_false(trouble_same(TROUBLE_ERR_IMAGE_PULL, TROUBLE_UNSCHEDULABLE));
	assert_false(trouble_same(TROUBLE_NONE, TROUBLE_UNSCHEDULABLE));
}

static void the_cure_of_a_refusal_follows_from_what_was_said(void **state)
{
	(void)state;
	assert_non_null(
		strstr(trouble_cure(TROUBLE_PODS_REFUSED, "is forbidden: exceeded quota: a"),
			"ResourceQuota"));
	assert_null(strstr(
		trouble_cure(TROUBLE_PODS_REFUSED, "violates PodSecurity"), "ResourceQuota"));
}

/* ---- when a pod counts ----------------------------------------------------------------------- */

static void a_pod_counts_after_a_while(void **state)
{
	static const struct {
		const char *name;
		enum trouble_word word;
		int pending_s, seen_ms;
		bool counts;
	} cases[] = {
		{"not yet", TROUBLE_UNSCHEDULABLE, 9, 0, false},
		{"just now", TROUBLE_UNSCHEDULABLE, 10, 0, true},
		{"on its way", TROUBLE_NONE, 3600, 0, false},
		{"the clock on the wall is behind", TROUBLE_UNSCHEDULABLE, -300, 0, false},
		{"... but it is long ago for us", TROUBLE_UNSCHEDULABLE, -300, 10000, true},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct troubles *t = troubles_new();
		see(t, 1, cases[i].word, cases[i].pending_s, 1, "no");
		struct troubles_ask a = {.job = job_a(),
			.now_ms = T0,
			.tick_ms = cases[i].seen_ms,
			.after_ms = 10000};
		struct trouble x = troubles_of(t, &a);
		if (x.pods != cases[i].counts)
			fail_msg("%s: %d pods", cases[i].name, x.pods);
		troubles_free(t);
	}
}

/* Silence is looked at later, and from when it began: a pod may be Pending for a day before that.
 */
static void silence_counts_much_later(void **state)
{
	static const struct {
		const char *name;
		enum trouble_word word;
		int pending_s, since_s, heard_ms;
		bool counts;
	} cases[] = {
		{"a scheduler has its time", TROUBLE_NOT_SEEN_BY_SCHEDULER, 299, 299, 0, false},
		{"... but no more", TROUBLE_NOT_SEEN_BY_SCHEDULER, 300, 300, 0, true},
		{"an image is pulled", TROUBLE_CONTAINER_CREATING, 599, 599, 0, false},
		{"that is no image", TROUBLE_CONTAINER_CREATING, 600, 600, 0, true},
		{"it found its node after a day", TROUBLE_CONTAINER_CREATING, 86400, 5, 0, false},
		{"the clock on the wall is behind", TROUBLE_CONTAINER_CREATING, 0, -300, 599999,
			false},
		{"... but it is long ago for us", TROUBLE_CONTAINER_CREATING, 0, -300, 600000,
			true},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct troubles *t = troubles_new();
		struct trouble_pod p = {.uid = uid_of(1),
			.job = job_a(),
			.pending_ms = T0 - cases[i].pending_s * 1000,
			.word = TROUBLE_UNSCHEDULABLE,
			.since_ms = T0 - cases[i].since_s * 1000,
			.message = "no"};
		troubles_see_pod(t, &p, -7200000); /* it had another word long before */
		p.word = cases[i].word;
		troubles_see_pod(t, &p, 0);
		troubles_see_pod(t, &p, 1000);
		struct troubles_ask a = {.job = job_a(),
			.now_ms = T0,
			.tick_ms = cases[i].heard_ms,
			.after_ms = 10000};
		struct trouble x = troubles_of(t, &a);
		if (x.pods != cases[i].counts)
			fail_msg("%s: %d pods", cases[i].name, x.pods);
		troubles_free(t);
	}
}

static void it_is_over_when_the_pods_are_gone_or_well(void **state)
{
	struct uid one = uid_of(1);
	struct troubles *t = troubles_new();
	(void)state;
	assert_int_equal(ask(t, 0).word, TROUBLE_NONE);
	assert_string_equal(ask(t, 0).message, "");
	see(t, 1, TROUBLE_UNSCHEDULABLE, 20, 20, "no");
	see(t, 1, TROUBLE_UNSCHEDULABLE, 20, 20, "no"); /* told twice */
	assert_int_equal(ask(t, 0).pods, 1);
	see(t, 1, TROUBLE_NONE, 20, 20, ""); /* it found a node */
	assert_int_equal(ask(t, 0).pods, 0);
	see(t, 1, TROUBLE_ERR_IMAGE_PULL, 20, 20, "no");
	assert_int_equal(ask(t, 0).word, TROUBLE_ERR_IMAGE_PULL);
	struct trouble_pod leaves = {.uid = one, .job = job_a(), .deleting = true};
	troubles_see_pod(t, &leaves, 0);
	assert_int_equal(ask(t, 0).pods, 0);
	troubles_see_pod(t, &leaves, 0);
	see(t, 1, TROUBLE_ERR_IMAGE_PULL, 20, 20, "no");
	troubles_lose_pod(t, &one);
	troubles_lose_pod(t, &one);
	assert_int_equal(ask(t, 0).pods, 0);
	assert_int_equal(troubles_pods(t), 0);
	troubles_free(t);
}

static void what_a_list_does_not_have_is_gone(void **state)
{
	struct troubles *t = troubles_new();
	(void)state;
	for (unsigned n = 1; n <= 100; n++)
		see(t, n, TROUBLE_UNSCHEDULABLE, 20, 20, "no");
	troubles_begin_pods(t);
	see(t, 7, TROUBLE_UNSCHEDULABLE, 20, 20, "no");
	assert_int_equal(ask(t, 0).pods, 100); /* nothing follows from absence yet */
	troubles_end_pods(t);
	assert_int_equal(ask(t, 0).pods, 1);
	troubles_clear(t);
	assert_int_equal(ask(t, 0).pods, 0);
	troubles_free(t);
}

/* ---- which one is told ----------------------------------------------------------------------- */

static void most_pods_then_the_oldest(void **state)
{
	struct troubles *t = troubles_new();
	(void)state;
	see(t, 1, TROUBLE_UNSCHEDULABLE, 30, 15, "newer");
	see(t, 2, TROUBLE_CREATE_CONTAINER_CONFIG_ERROR, 30, 20, "older");
	assert_int_equal(ask(t, 0).word, TROUBLE_CREATE_CONTAINER_CONFIG_ERROR);
	assert_string_equal(ask(t, 0).message, "older");
	see(t, 3, TROUBLE_UNSCHEDULABLE, 30, 12, "newest");
	struct trouble x = ask(t, 0);
	assert_int_equal(x.word, TROUBLE_UNSCHEDULABLE);
	assert_int_equal(x.pods, 2);
	assert_int_equal(x.since_ms, T0 - 15000);
	assert_string_equal(x.message, "newest");
	troubles_free(t);
}

static void pulling_and_waiting_before_it_is_tried_again_are_one(void **state)
{
	struct troubles *t = troubles_new();
	(void)state;
	see(t, 1, TROUBLE_ERR_IMAGE_PULL, 30, 15, "not found");
	see(t, 2, TROUBLE_IMAGE_PULL_BACK_OFF, 30, 20, "Back-off pulling image");
	see(t, 3, TROUBLE_UNSCHEDULABLE, 30, 30, "no");
	struct trouble x = ask(t, 0);
	assert_int_equal(x.word, TROUBLE_IMAGE_PULL_BACK_OFF);
	assert_int_equal(x.pods, 2);
	assert_int_equal(x.since_ms, T0 - 20000);
	troubles_free(t);
}

/* Any order of the same facts says the same. */
static void the_order_of_facts_does_not_matter(void **state)
{
	static const enum trouble_word said[] = {TROUBLE_UNSCHEDULABLE, TROUBLE_ERR_IMAGE_PULL,
		TROUBLE_NONE, TROUBLE_UNSCHEDULABLE, TROUBLE_IMAGE_PULL_BACK_OFF,
		TROUBLE_INVALID_IMAGE_NAME};
	(void)state;
	for (size_t turn = 0; turn < COUNT(said); turn++) {
		struct troubles *t = troubles_new();
		for (size_t k = 0; k < COUNT(said); k++) {
			size_t i = (k * 5 + turn) % COUNT(said);
			see(t, (unsigned)i, said[i], 30, 20 + (int)i, "no");
		}
		struct trouble x = ask(t, 0);
		assert_int_equal(x.word, TROUBLE_IMAGE_PULL_BACK_OFF);
		assert_int_equal(x.pods, 2);
		assert_int_equal(x.since_ms, T0 - 24000);
		troubles_free(t);
	}
}

static void other_jobs_pods_are_theirs(void **state)
{
	struct troubles *t = troubles_new();
	struct trouble_pod p = {.uid = uid_of(1),
		.job = uid_of(60001),
		.word = TROUBLE_UNSCHEDULABLE,
		.message = "no"};
	(void)state;
	troubles_see_pod(t, &p, 0);
	assert_int_equal(ask(t, 0).pods, 0);
	p.job = job_a(); /* cannot be, but must not confuse anybody */
	troubles_see_pod(t, &p, 0);
	assert_int_equal(ask(t, 0).pods, 1);
	troubles_free(t);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void a_refusal_counts_while_pods_are_missing(void **state)
{
	struct troubles *t = troubles_new();
	struct uid job = job_a();
	(void)state;
	refuse(t, 30, 20, "exceeded quota: a");
	assert_int_equal(ask(t, 0).word, TROUBLE_NONE);
	struct trouble x = ask(t, 3);
	assert_int_equal(x.word, TROUBLE_PODS_REFUSED);
	assert_int_equal(x.pods, 3);
	assert_int_equal(x.since_ms, T0 - 30000);
	assert_string_equal(x.message, "exceeded quota: a");
	refuse(t, 5, 5, "exceeded quota: b");	/* of the next pod */
	refuse(t, 40, 40, "exceeded quota: c"); /* lists have no order */
	x = ask(t, 3);
	assert_string_equal(x.message, "exceeded quota: b");
	assert_int_equal(x.since_ms, T0 - 40000);
	see(t, 1, TROUBLE_UNSCHEDULABLE, 30, 50, "no");
	assert_int_equal(ask(t, 3).word, TROUBLE_PODS_REFUSED);
	assert_int_equal(ask(t, 1).word, TROUBLE_UNSCHEDULABLE); /* as many, and older */
	troubles_forget_refusals(t, &job);
	assert_int_equal(ask(t, 3).word, TROUBLE_UNSCHEDULABLE);
	troubles_free(t);
}

static void what_was_refused_before_the_start_or_long_ago_does_not_count(void **state)
{
	struct troubles *t = troubles_new();
	struct uid job = job_a();
	struct troubles_ask a = {.job = job,
		.now_ms = T0,
		.tick_ms = 1,
		.after_ms = 10000,
		.started_ms = T0 - 60000,
		.missing = 1};
	(void)state;
	refuse(t, 90, 62, "of the run before");
	assert_int_equal(troubles_of(t, &a).word, TROUBLE_NONE);
	refuse(t, 90, 61, "of the same second");
	assert_int_equal(troubles_of(t, &a).word, TROUBLE_PODS_REFUSED);
	assert_int_equal(troubles_of(t, &a).since_ms, T0 - 60000);
	a.now_ms = T0 + 600000;
	assert_int_equal(troubles_of(t, &a).word, TROUBLE_NONE);
	troubles_free(t);
}

/* Several pods that are counted at once, in the API server's words. */
static void a_conflict_is_no_refusal(void **state)
{
	static const char conflict[] =
		"Operation cannot be fulfilled on resourcequotas \"q\": the object has been "
		"modified; please apply your changes to the latest version and try again";
	struct troubles *t = troubles_new();
	(void)state;
	refuse(t, 20, 20, conflict);
	assert_int_equal(ask(t, 3).word, TROUBLE_NONE);
	refuse(t, 15, 15, "pods \"a\" is forbidden: exceeded quota: q");
	refuse(t, 30, 5, conflict); /* nor does it hide one, or make it older */
	struct trouble x = ask(t, 3);
	assert_int_equal(x.word, TROUBLE_PODS_REFUSED);
	assert_string_equal(x.message, "pods \"a\" is forbidden: exceeded quota: q");
	assert_int_equal(x.since_ms, T0 - 15000);
	troubles_free(t);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void text_is_bounded_and_not_cut_within_a_character(void **state)
{
	char text[4 * TROUBLE_MESSAGE_MAX];
	struct troubles *t = troubles_new();
	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text + TROUBLE_MESSAGE_MAX - 1, "\xC3\xA9", 2);
	text[sizeof(text) - 1] = '\0';
	see(t, 1, TROUBLE_UNSCHEDULABLE, 30, 20, text);
	assert_int_equal(strlen(ask(t, 0).message), TROUBLE_MESSAGE_MAX - 1);
	troubles_free(t);
}

static void sentences(void **state)
{
	static const struct {
		int32_t pods, of;
		int64_t s;
		const char *now, *then;
	} cases[] = {
		{3, 8, 42, "3 of its 8 pods cannot be scheduled, for 42s: no",
			"Unschedulable: 3 of its 8 pods could not be scheduled for 42s: no"},
		{1, 1, 600, "its pod cannot be scheduled, for 10m: no",
			"Unschedulable: its pod could not be scheduled for 10m: no"},
		{8, 8, 7200, "all of its 8 pods cannot be scheduled, for 2h: no",
			"Unschedulable: all of its 8 pods could not be scheduled for 2h: no"},
		{1, 0, -5, "one of its pods cannot be scheduled, for 0s: no",
			"Unschedulable: one of its pods could not be scheduled for 0s: no"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct trouble x = {TROUBLE_UNSCHEDULABLE, cases[i].pods, T0, "no"};
		struct buf b;
		buf_init(&b, 1024);
		trouble_sentence(&x, cases[i].of, T0 + cases[i].s * 1000, &b);
		assert_string_equal(buf_text(&b), cases[i].now);
		buf_reset(&b);
		trouble_epitaph(&x, cases[i].of, T0 + cases[i].s * 1000, &b);
		assert_string_equal(buf_text(&b), cases[i].then);
		buf_done(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_word_has_a_name_a_sentence_and_a_cure),
		cmocka_unit_test(the_cure_of_a_refusal_follows_from_what_was_said),
		cmocka_unit_test(a_pod_counts_after_a_while),
		cmocka_unit_test(silence_counts_much_later),
		cmocka_unit_test(it_is_over_when_the_pods_are_gone_or_well),
		cmocka_unit_test(what_a_list_does_not_have_is_gone),
		cmocka_unit_test(most_pods_then_the_oldest),
		cmocka_unit_test(pulling_and_waiting_before_it_is_tried_again_are_one),
		cmocka_unit_test(the_order_of_facts_does_not_matter),
		cmocka_unit_test(other_jobs_pods_are_theirs),
		cmocka_unit_test(a_refusal_counts_while_pods_are_missing),
		cmocka_unit_test(what_was_refused_before_the_start_or_long_ago_does_not_count),
		cmocka_unit_test(a_conflict_is_no_refusal),
		cmocka_unit_test(text_is_bounded_and_not_cut_within_a_character),
		cmocka_unit_test(sentences),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
