/* Node affinity of an owner and of a flavor, joined: what is left, and what contradicts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "queue/job/node_affinity.h"

static const char *const a[] = {"a"}, *const b[] = {"b"}, *const ab[] = {"a", "b"};
static const char *const five[] = {"5"}, *const six[] = {"6"}, *const seven[] = {"7"};
static const struct requirement in_a = {"zone", SELECTOR_IN, a, 1},
				in_b = {"zone", SELECTOR_IN, b, 1},
				in_ab = {"zone", SELECTOR_IN, ab, 2},
				not_a = {"zone", SELECTOR_NOT_IN, a, 1},
				not_ab = {"zone", SELECTOR_NOT_IN, ab, 2},
				there = {"zone", SELECTOR_EXISTS, NULL, 0},
				absent = {"zone", SELECTOR_DOES_NOT_EXIST, NULL, 0},
				above_5 = {"zone", SELECTOR_GT, five, 1},
				above_6 = {"zone", SELECTOR_GT, six, 1},
				below_6 = {"zone", SELECTOR_LT, six, 1},
				below_7 = {"zone", SELECTOR_LT, seven, 1},
				is_6 = {"zone", SELECTOR_IN, six, 1},
				disk = {"disk", SELECTOR_IN, a, 1};

/* Of one key; the order does not matter. */
static const struct {
	const struct requirement *one, *other;
	bool clash;
} pairs[] = {
	{&in_a, &in_a, false},
	{&in_a, &in_b, true},
	{&in_a, &in_ab, false},
	{&in_a, &not_a, true},
	{&in_b, &not_a, false},
	{&in_ab, &not_a, false},
	{&in_ab, &not_ab, true},
	{&in_a, &there, false},
	{&in_a, &absent, true},
	{&there, &absent, true},
	{&not_a, &absent, false},
	{&not_a, &there, false},
	{&above_5, &below_7, false},
	{&above_5, &below_6, true},
	{&above_6, &below_6, true},
	{&above_5, &above_6, false},
	{&above_5, &absent, true},
	{&above_5, &is_6, false},
	{&above_6, &is_6, true},
	{&in_a, &above_5, true}, /* "a" is no number */
	{&in_a, &disk, false},
};

static void what_contradicts(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * sizeof(pairs) / sizeof(*pairs); i++) {
		const struct requirement *one = pairs[i / 2].one, *other = pairs[i / 2].other;
		struct node_term mine = {.labels = {i % 2 ? other : one, 1}};
		struct node_term added = {.labels = {i % 2 ? one : other, 1}};
		struct placement p = {.terms = &mine, .nterms = 1};
		struct placement add = {.terms = &added, .nterms = 1};
		struct arena memory = {0};
		const char *key = NULL;
		enum node_affinity_verdict v = node_affinity_join(&memory, &p, &add, &key);
		if ((v == NODE_AFFINITY_CONTRADICTS) != pairs[i / 2].clash)
			fail_msg("pair %zu, %s", i / 2, i % 2 ? "turned" : "as written");
		if (v == NODE_AFFINITY_CONTRADICTS) {
			assert_string_equal(key, "zone");
			assert_ptr_equal(p.terms, &mine);
		} else {
			assert_int_equal(v, NODE_AFFINITY_JOINED);
			assert_int_equal(p.terms[0].labels.nrequirements, 2);
		}
		arena_done(&memory);
	}
}

static void the_selector_counts(void **state)
{
	static const struct label zone_a = {"zone", "a"};
	struct node_term added = {.labels = {&in_b, 1}}, other = {.labels = {&absent, 1}};
	struct placement p = {.node_selector = &zone_a, .nnode_selector = 1};
	struct placement add = {.terms = &added, .nterms = 1};
	struct arena memory = {0};
	(void)state;
	assert_int_equal(node_affinity_join(&memory, &p, &add, NULL), NODE_AFFINITY_CONTRADICTS);
	add.terms = &other;
	assert_int_equal(node_affinity_join(&memory, &p, &add, NULL), NODE_AFFINITY_CONTRADICTS);
	added.labels.requirements = &in_ab;
	add.terms = &added;
	assert_int_equal(node_affinity_join(&memory, &p, &add, NULL), NODE_AFFINITY_JOINED);
	assert_false(node_affinity_contradicts(&p, NULL));
	other.labels.requirements = &in_b;
	p.terms = &other;
	p.nterms = 1;
	assert_true(node_affinity_contradicts(&p, NULL));
	arena_done(&memory);
}

static void expect_json(const struct placement *p, const char *expected)
{
	struct buf text;
	buf_init(&text, 10000);
	node_affinity_write(p, &text);
	assert_string_equal(buf_text(&text), expected);
	buf_done(&text);
}

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"
#define TERM(zone, disk)                                                                           \
	"{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"" zone         \
	"\"]},{\"key\":\"" disk "\",\"operator\":\"Exists\"}]"

/* Two terms with two: four, less the one that contradicts itself. Fields of both stay. */
static void every_term_with_every_term(void **state)
{
	static const char *const node[] = {"n1"};
	static const struct requirement named = {"metadata.name", SELECTOR_IN, node, 1};
	static const struct requirement ssd = {"ssd", SELECTOR_EXISTS, NULL, 0};
	const struct requirement zone_ssd[] = {in_b, ssd};
	struct node_term own[] = {{.labels = {&in_a, 1}}, {{&in_b, 1}, {&named, 1}}};
	struct node_term adds[] = {{.labels = {zone_ssd, 2}}, {.labels = {&ssd, 1}}};
	struct preferred_term mine = {3, {.labels = {&ssd, 1}}},
			      more = {100, {{&ssd, 1}, {&named, 1}}};
	struct placement p = {.terms = own, .nterms = 2, .preferred = &mine, .npreferred = 1};
	struct placement add = {.terms = adds, .nterms = 2, .preferred = &more, .npreferred = 1};
	struct arena memory = {0};
	(void)state;
	expect_json(&(struct placement){0}, "");
	assert_int_equal(node_affinity_join(&memory, &p, &add, NULL), NODE_AFFINITY_JOINED);
	expect_json(&p,
		"{\"" REQUIRED "\":{\"nodeSelectorTerms\":[" TERM("a",
			"ssd") "},"
			       "{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"b\"]},"
			       "{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"b\"]},"
			       "{\"key\":\"ssd\",\"operator\":\"Exists\"}],\"matchFields\":["
			       "{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n1\"]}]}," TERM(
				       "b",
				       "ssd") ",\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n1\"]}]}]},"
					      "\"" PREFERRED
					      "\":[{\"weight\":3,\"preference\":{\"matchExpressions\":["
					      "{\"key\":\"ssd\",\"operator\":\"Exists\"}]}},{\"weight\":100,\"preference\":{"
					      "\"matchExpressions\":[{\"key\":\"ssd\",\"operator\":\"Exists\"}],\"matchFields\":["
					      "{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n1\"]}]}}]}");
	arena_done(&memory);
}

/* A term with nothing in it matches no node; joined it must not begin to match some. */
static void an_empty_term_stays_empty(void **state)
{
	struct node_term own[] = {{.labels = {NULL, 0}}, {.labels = {&in_a, 1}}};
	struct node_term added = {.labels = {&in_ab, 1}};
	struct placement p = {.terms = own, .nterms = 2}, add = {.terms = &added, .nterms = 1};
	struct arena memory = {0};
	const char *key = NULL;
	(void)state;
	assert_int_equal(node_affinity_join(&memory, &p, &add, NULL), NODE_AFFINITY_JOINED);
	assert_int_equal(p.nterms, 1);
	p = (struct placement){.terms = own, .nterms = 1};
	assert_int_equal(node_affinity_join(&memory, &p, &add, &key), NODE_AFFINITY_CONTRADICTS);
	assert_null(key);
	arena_done(&memory);
}

/* What could not be read back, or fills the annotations, is not made. */
static void too_much(void **state)
{
	enum { N = 64, LONG = 5000 };
	static char text[LONG];
	static const char *long_value[] = {text, text, text, text};
	static struct requirement many[N];
	struct requirement large = {"disk", SELECTOR_IN, long_value, 4};
	struct node_term own[N], two[2] = {{.labels = {&in_ab, 1}}, {.labels = {&there, 1}}};
	struct preferred_term likes[N];
	struct placement p = {.terms = own, .nterms = N / 2}, add = {.terms = two, .nterms = 2};
	struct arena memory = {0};
	(void)state;
	memset(text, 'x', LONG - 1);
	for (size_t i = 0; i < N; i++) {
		own[i] = (struct node_term){.labels = {&disk, 1}};
		likes[i] = (struct preferred_term){1, own[i]};
		many[i] = disk;
	}
	assert_int_equal(node_affinity_join(&memory, &p, &add, NULL), NODE_AFFINITY_JOINED);
	assert_int_equal(p.nterms, N);
	p = (struct placement){.terms = own, .nterms = N / 2 + 1};
	assert_int_equal(node_affinity_join(&memory, &p, &add, NULL), NODE_AFFINITY_TOO_LARGE);
	assert_ptr_equal(p.terms, own);
	own[0].labels = (struct selector_term){many, N};
	p.nterms = 1;
	assert_int_equal(node_affinity_join(&memory, &p, &add, NULL), NODE_AFFINITY_TOO_LARGE);
	own[0].labels = (struct selector_term){&large, 1};
	assert_int_equal(node_affinity_join(&memory, &p, &add, NULL), NODE_AFFINITY_TOO_LARGE);
	add = (struct placement){.preferred = likes, .npreferred = 1};
	assert_int_equal(node_affinity_join(&memory, &p, &add, NULL), NODE_AFFINITY_TOO_LARGE);
	p = (struct placement){.preferred = likes, .npreferred = N};
	assert_int_equal(node_affinity_join(&memory, &p, &add, NULL), NODE_AFFINITY_TOO_LARGE);
	p = (struct placement){.affinity_unread = true};
	assert_int_equal(node_affinity_join(&memory, &p, &add, NULL), NODE_AFFINITY_UNREAD);
	assert_int_equal(node_affinity_join(&memory, &p, &(struct placement){0}, NULL),
		NODE_AFFINITY_JOINED);
	arena_done(&memory);
}

/* Each is written and read back as a text of its own. */
static void empty_values_take_room(void **state)
{
	enum { MOST = 255 };
	static const char *none[MOST];
	struct requirement many = {"", SELECTOR_NOT_IN, none, MOST};
	struct node_term own[8], added = {.labels = {&there, 1}};
	struct placement p = {.terms = own, .nterms = 7}, add = {.terms = &added, .nterms = 1};
	struct arena memory = {0};
	(void)state;
	for (size_t i = 0; i < MOST; i++)
		none[i] = "";
	for (size_t i = 0; i < 8; i++)
		own[i] = (struct node_term){.labels = {&many, 1}};
	assert_int_equal(node_affinity_join(&memory, &p, &add, NULL), NODE_AFFINITY_JOINED);
	p = (struct placement){.terms = own, .nterms = 8};
	assert_int_equal(node_affinity_join(&memory, &p, &add, NULL), NODE_AFFINITY_TOO_LARGE);
	arena_done(&memory);
}

/* Ten thousand values on either side, none in common: looked at for a while, then let be. */
static void a_bounded_search(void **state)
{
	enum { N = 10000 };
	static char text[2 * N][8];
	static const char *mine[N], *theirs[N];
	struct requirement one = {"zone", SELECTOR_IN, mine, N},
			   other = {"zone", SELECTOR_IN, theirs, N};
	struct node_term own = {.labels = {&one, 1}}, added = {.labels = {&other, 1}};
	struct placement p = {.terms = &own, .nterms = 1}, add = {.terms = &added, .nterms = 1};
	struct arena memory = {0};
	(void)state;
	for (size_t i = 0; i < 2 * N; i++)
		snprintf(text[i], sizeof(text[i]), "%zu", i);
	for (size_t i = 0; i < N; i++) {
		mine[i] = text[i];
		theirs[i] = text[N + i];
	}
	/* Not found out to contradict; but too large. */
	assert_int_equal(node_affinity_join(&memory, &p, &add, NULL), NODE_AFFINITY_TOO_LARGE);
	assert_false(node_affinity_contradicts(&p, NULL));
	arena_done(&memory);
}

/* In n values, and in none of them: found out for as many as the CRD of a flavor takes. With 100 of
 * them a Job would cost as much in each flavor, each time its LocalQueue is edited. */
static void how_far_it_looks(void **state)
{
	enum { FEW = 16, MANY = 100 };
	static char text[MANY][8];
	static const char *values[MANY];
	struct requirement in = {"zone", SELECTOR_IN, values, FEW},
			   none = {"zone", SELECTOR_NOT_IN, values, FEW};
	struct node_term own = {.labels = {&none, 1}}, added = {.labels = {&in, 1}};
	struct placement p = {.terms = &own, .nterms = 1}, add = {.terms = &added, .nterms = 1};
	struct arena memory = {0};
	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		snprintf(text[i], sizeof(text[i]), "%zu", i);
		values[i] = text[i];
	}
	assert_int_equal(node_affinity_join(&memory, &p, &add, NULL), NODE_AFFINITY_CONTRADICTS);
	in.nvalues = none.nvalues = MANY;
	assert_int_equal(node_affinity_join(&memory, &p, &add, NULL), NODE_AFFINITY_JOINED);
	arena_done(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_contradicts),
		cmocka_unit_test(the_selector_counts),
		cmocka_unit_test(every_term_with_every_term),
		cmocka_unit_test(an_empty_term_stays_empty),
		cmocka_unit_test(too_much),
		cmocka_unit_test(empty_values_take_room),
		cmocka_unit_test(a_bounded_search),
		cmocka_unit_test(how_far_it_looks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
