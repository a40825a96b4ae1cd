/* Placement directives as JSON: the Job's own and the flavor's, joined. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "worlds.h"

static const struct label zone_pool[] = {{"zone", "a\"b"}, {"pool", "spot"}};
static const struct toleration same = {
	"spot", "true", TOLERATION_EQUAL, TAINT_NO_SCHEDULE, false, 0};
static const struct toleration others[] = {
	{"", "", TOLERATION_EXISTS, TAINT_ANY, false, 0},
	{"gpu", "", TOLERATION_EXISTS, TAINT_NO_EXECUTE, true, 60},
	{"score", "5", TOLERATION_GT, TAINT_PREFER_NO_SCHEDULE, false, 0},
};
#define SPOT                                                                                       \
	"{\"key\":\"spot\",\"value\":\"true\",\"effect\":\"NoSchedule\",\"operator\":\"Equal\"}"

static const struct {
	const char *name;
	struct placement own;
	const char *own_labels, *own_tolerations, *labels, *tolerations;
} cases[] = {
	{"nothing of its own", {0}, "{}", "[]", "{\"pool\":\"spot\"}", "[" SPOT "]"},
	{"labels of its own", {.node_selector = zone_pool, .nnode_selector = 2},
		"{\"zone\":\"a\\\"b\",\"pool\":\"spot\"}", "[]",
		"{\"zone\":\"a\\\"b\",\"pool\":\"spot\"}", "[" SPOT "]"},
	{"the flavor's toleration already there", {.tolerations = &same, .ntolerations = 1}, "{}",
		"[" SPOT "]", "{\"pool\":\"spot\"}", "[" SPOT "]"},
	{"all operators and effects", {.tolerations = others, .ntolerations = 3}, "{}",
		"[{\"operator\":\"Exists\"},{\"key\":\"gpu\",\"effect\":\"NoExecute\","
		"\"tolerationSeconds\":60,\"operator\":\"Exists\"},{\"key\":\"score\",\"value\":"
		"\"5\","
		"\"effect\":\"PreferNoSchedule\",\"operator\":\"Gt\"}]",
		"{\"pool\":\"spot\"}",
		"[{\"operator\":\"Exists\"},{\"key\":\"gpu\",\"effect\":\"NoExecute\","
		"\"tolerationSeconds\":60,\"operator\":\"Exists\"},{\"key\":\"score\",\"value\":"
		"\"5\","
		"\"effect\":\"PreferNoSchedule\",\"operator\":\"Gt\"}," SPOT "]"},
};

static void expect_text(struct buf *b, const char *expected)
{
	assert_string_equal(buf_text(b), expected);
	buf_reset(b);
}

static void init_text(struct directives_text *t)
{
	buf_init(&t->node_selector, 10000);
	buf_init(&t->tolerations, 10000);
	buf_init(&t->node_affinity, 10000);
}

static void done_text(struct directives_text *t)
{
	buf_done(&t->node_selector);
	buf_done(&t->tolerations);
	buf_done(&t->node_affinity);
}

static void joined(const struct container *c)
{
	struct directives_text text;
	init_text(&text);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct queue *q = fixture_new(1000, 1000);
		struct job j = fixture_job(1, c);
		struct decision d;
		int64_t next_ms;
		j.placement = cases[i].own;
		queue_set_job(q, &j);
		assert_int_equal(queue_decide(q, 0, &d, 1, &next_ms), 1);
		print_message("%s\n", cases[i].name);
		queue_job_directives(q, &j.uid, &text);
		expect_text(&text.node_selector, cases[i].labels);
		expect_text(&text.tolerations, cases[i].tolerations);
		queue_job_own_directives(q, &j.uid, &text);
		expect_text(&text.node_selector, cases[i].own_labels);
		expect_text(&text.tolerations, cases[i].own_tolerations);
		queue_free(q);
	}
	done_text(&text);
}

static void joined_with_the_flavor(void **state)
{
	(void)state;
	static const struct resource one = {"cpu", 1000}, none = {"cpu", 0};
	static const struct container c = {.requests = {&one, 1}};
	static const struct container asks_for_nothing = {.requests = {&none, 1}};
	joined(&c);
	joined(&asks_for_nothing);
}

/* The flavor's label wins over a user's label that the match ignored (an affinity decided). */
static void flavor_wins_and_waiting_has_none(void **state)
{
	(void)state;
	static const struct resource one = {"cpu", 1000};
	static const struct container c = {.requests = {&one, 1}};
	struct queue *q = fixture_new(1000, 1000);
	struct job j = fixture_job(1, &c);
	struct directives_text text;
	struct decision d;
	int64_t next_ms;
	init_text(&text);
	queue_set_job(q, &j);
	queue_job_directives(q, &j.uid, &text);
	expect_text(&text.node_selector, "{}");
	expect_text(&text.tolerations, "[]");
	queue_decide(q, 0, &d, 1, &next_ms);
	static const struct label moved = {"pool", "moved"};
	struct flavor_spec edited = {"spot", {.labels = &moved, .nlabels = 1}};
	queue_set_flavor(q, &edited, NULL);
	queue_job_directives(q, &j.uid, &text);
	expect_text(&text.node_selector, "{\"pool\":\"moved\"}");
	expect_text(&text.tolerations, "[]");
	queue_drop_flavor(q, "spot");
	queue_job_directives(q, &j.uid, &text);
	expect_text(&text.node_selector, "{}");
	expect_text(&text.tolerations, "[]");
	struct uid unknown = fixture_uid(9);
	queue_job_directives(q, &unknown, &text);
	expect_text(&text.node_selector, "{}");
	expect_text(&text.tolerations, "[]");
	done_text(&text);
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joined_with_the_flavor),
		cmocka_unit_test(flavor_wins_and_waiting_has_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
