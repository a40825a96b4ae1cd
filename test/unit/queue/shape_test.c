/* Which Jobs share a shape, and that nothing is left when the last one goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "queue/requests/accounting.h"
#include "queue/requests/shape.h"

#define SAME true
#define OTHER false

static struct job plain_job(const struct container *c)
{
	return (struct job){.ns = "n",
		.name = "j",
		.queue = "q",
		.priority_class = "",
		.pod_priority_class = "",
		.parallelism = 2,
		.has_completions = true,
		.completions = 2,
		.pod = {.containers = c, .ncontainers = 1}};
}

static struct shape *job_shape(
	struct shapes *s, const struct job *j, char ret_fault[SHAPE_FAULT_SIZE])
{
	static const struct queue_config config;
	struct accounting facts;
	struct account a;
	accounting_init(&facts);
	account_open(&a, &facts, &config, j);
	bool cut;
	struct shape *shape = shape_of(s, j, &a, SHAPE_BYTES_MAX, &cut, ret_fault);
	account_done(&a);
	accounting_done(&facts);
	return shape;
}

static const struct resource two[] = {{"cpu", 100}, {"memory", 5}};
static const struct resource two_swapped[] = {{"memory", 5}, {"cpu", 100}};
static const struct resource two_and_zero[] = {{"cpu", 100}, {"gpu", 0}, {"memory", 5}};
static const struct resource two_and_pods[] = {{"cpu", 100}, {"memory", 5}, {"pods", 9}};
static const struct resource more[] = {{"cpu", 101}, {"memory", 5}};
static const struct resource renamed[] = {{"cpu", 100}, {"memorx", 5}};
static const struct container asks[] = {{.requests = {two, 2}}, {.requests = {two_swapped, 2}},
	{.requests = {two_and_zero, 3}}, {.requests = {two_and_pods, 3}}, {.requests = {more, 2}},
	{.requests = {renamed, 2}}};

static const struct label pool = {"pool", "spot"}, disk = {"pool", "spo"};
static const struct toleration tolerates = {"k", "v", TOLERATION_EQUAL, TAINT_ANY, false, 0};
static const struct toleration tolerates_60 = {"k", "v", TOLERATION_EQUAL, TAINT_ANY, true, 60};
static const struct toleration tolerates_0 = {"k", "v", TOLERATION_EQUAL, TAINT_ANY, true, 0};
static const char *const ab[] = {"a", "b"}, *const a_b[] = {"a b"};
static const struct requirement in_ab = {"x", SELECTOR_IN, ab, 2},
				in_a_b = {"x", SELECTOR_IN, a_b, 1};
static const struct requirement not_ab = {"x", SELECTOR_NOT_IN, ab, 2};
static const struct node_term term_ab = {.labels = {&in_ab, 1}},
			      term_a_b = {.labels = {&in_a_b, 1}},
			      term_field = {.fields = {&in_ab, 1}},
			      term_not = {.labels = {&not_ab, 1}},
			      term_none = {.labels = {NULL, 0}};
static const struct preferred_term likes_ab = {10, {.labels = {&in_ab, 1}}},
				   likes_more = {20, {.labels = {&in_ab, 1}}};

static const struct {
	const char *name;
	bool same;
	size_t ask; /* index in asks */
	int32_t pods;
	struct placement placement;
} cases[] = {
	{"the same", SAME, 0, 2, {0}},
	{"resources in another order", SAME, 1, 2, {0}},
	{"a request of zero is a request", OTHER, 2, 2, {0}},
	{"pods are counted, not requested", SAME, 3, 2, {0}},
	{"more of one resource", OTHER, 4, 2, {0}},
	{"another resource", OTHER, 5, 2, {0}},
	{"other number of pods", OTHER, 0, 1, {0}},
	{"node selector", OTHER, 0, 2, {.node_selector = &pool, .nnode_selector = 1}},
	{"toleration", OTHER, 0, 2, {.tolerations = &tolerates, .ntolerations = 1}},
	{"an empty term", OTHER, 0, 2, {.terms = &term_none, .nterms = 1}},
};

static void same_shape_or_not(void **state)
{
	(void)state;
	struct shapes s;
	char fault[SHAPE_FAULT_SIZE];
	shapes_init(&s);
	struct job base = plain_job(&asks[0]);
	struct shape *first = job_shape(&s, &base, fault);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct job j = plain_job(&asks[cases[i].ask]);
		j.parallelism = cases[i].pods;
		j.placement = cases[i].placement;
		struct shape *shape = job_shape(&s, &j, fault);
		if ((shape == first) != cases[i].same)
			fail_msg("%s", cases[i].name);
		shape_put(&s, shape);
	}
	shape_put(&s, first);
	shapes_done(&s); /* must()s that nothing is left */
}

/* Each of these differs from each other one; their keys must not collide. */
static void directives_are_told_apart(void **state)
{
	(void)state;
	const struct placement all[] = {
		{0},
		{.node_selector = &pool, .nnode_selector = 1},
		{.node_selector = &disk, .nnode_selector = 1},
		{.tolerations = &tolerates, .ntolerations = 1},
		{.tolerations = &tolerates_60, .ntolerations = 1},
		{.tolerations = &tolerates_0, .ntolerations = 1},
		{.terms = &term_ab, .nterms = 1},
		{.terms = &term_field, .nterms = 1},
		{.preferred = &likes_ab, .npreferred = 1},
		{.preferred = &likes_more, .npreferred = 1},
		{.has_affinity = true},
		{.affinity_unread = true},
		{.terms = &term_a_b, .nterms = 1},
		{.terms = &term_not, .nterms = 1},
		{.terms = &term_none, .nterms = 1},
	};
	enum { N = sizeof(all) / sizeof(all[0]) };
	struct shape *shape[N];
	struct shapes s;
	char fault[SHAPE_FAULT_SIZE];
	shapes_init(&s);
	for (size_t i = 0; i < N; i++) {
		struct job j = plain_job(&asks[0]);
		j.placement = all[i];
		shape[i] = job_shape(&s, &j, fault);
		for (size_t k = 0; k < i; k++)
			assert_ptr_not_equal(shape[k], shape[i]);
	}
	for (size_t i = 0; i < N; i++)
		shape_put(&s, shape[i]);
	shapes_done(&s);
}

static void copies_what_it_keeps(void **state)
{
	(void)state;
	char resource[] = "cpu", key[] = "pool", value[] = "spot", wanted[] = "gold";
	struct resource r = {resource, 7};
	struct container c = {.requests = {&r, 1}};
	struct label label = {key, value};
	const char *values[] = {wanted};
	struct requirement requirement = {key, SELECTOR_IN, values, 1};
	struct node_term term = {.labels = {&requirement, 1}};
	struct job j = plain_job(&c);
	j.placement = (struct placement){
		.node_selector = &label, .nnode_selector = 1, .terms = &term, .nterms = 1};
	struct shapes s;
	char fault[SHAPE_FAULT_SIZE];
	shapes_init(&s);
	struct shape *shape = job_shape(&s, &j, fault);
	resource[0] = key[0] = value[0] = wanted[0] = 'X';
	const struct placement *p = &shape->directives->placement;
	assert_string_equal(shape->request[0].name, "cpu");
	assert_string_equal(p->node_selector[0].key, "pool");
	assert_string_equal(p->node_selector[0].value, "spot");
	assert_string_equal(p->terms[0].labels.requirements[0].key, "pool");
	assert_string_equal(p->terms[0].labels.requirements[0].values[0], "gold");
	shape_put(&s, shape);
	shapes_done(&s);
}

static void too_many_resources(void **state)
{
	(void)state;
	enum { N = 200 };
	static char name[N][16];
	static struct resource all[N];
	for (size_t i = 0; i < N; i++) {
		snprintf(name[i], sizeof(name[i]), "r%03zu", i);
		all[i] = (struct resource){name[i], 1};
	}
	struct container c = {.requests = {all, N}};
	struct job j = plain_job(&c);
	struct shapes s;
	char fault[SHAPE_FAULT_SIZE];
	shapes_init(&s);
	struct shape *shape = job_shape(&s, &j, fault);
	assert_string_equal(fault, "a pod of the Job asks for 200 different resources, and at most "
				   "127 are kept; ask for fewer");
	assert_int_equal(shape->nrequests, SHAPE_REQUESTS_MAX);
	shape_put(&s, shape);
	c.requests.count = SHAPE_REQUESTS_MAX;
	shape = job_shape(&s, &j, fault);
	assert_string_equal(fault, "");
	shape_put(&s, shape);
	shapes_done(&s);
}

/* The API server accepts a hundred values in each of sixty requirements of ten terms. */
static void directives_have_a_ceiling(void **state)
{
	(void)state;
	enum { TERMS = 10, REQUIREMENTS = 60, VALUES = 100 };
	static const char *values[VALUES];
	static struct requirement requirements[REQUIREMENTS];
	struct node_term terms[TERMS];
	for (size_t i = 0; i < VALUES; i++)
		values[i] = "a-value-of-some-length";
	for (size_t i = 0; i < REQUIREMENTS; i++)
		requirements[i] = (struct requirement){"some/key", SELECTOR_IN, values, VALUES};
	for (size_t i = 0; i < TERMS; i++)
		terms[i] = (struct node_term){.labels = {requirements, REQUIREMENTS}};
	struct job j = plain_job(&asks[0]);
	j.placement = (struct placement){.terms = terms, .nterms = TERMS};
	struct shapes s;
	char fault[SHAPE_FAULT_SIZE];
	shapes_init(&s);
	struct shape *over = job_shape(&s, &j, fault);
	size_t bytes = 0;
	assert_int_equal(sscanf(fault,
				 "spec.template: what decides where its pods may run, and what "
				 "they request, takes %zu bytes, and at most 131072 are kept",
				 &bytes),
		1);
	assert_true(bytes > TERMS * REQUIREMENTS * VALUES * sizeof("a-value-of-some-length"));
	assert_true(shapes_bytes(&s) < 4096);
	assert_int_equal(over->directives->placement.nterms, 0);
	assert_null(over->template);
	assert_int_equal(over->nrequests, 2); /* if it runs, it holds quota by these */

	/* A thousand such Jobs take no more than one. */
	requirements[0].key = "another/key";
	struct shape *other = job_shape(&s, &j, fault);
	assert_ptr_equal(over, other);
	shape_put(&s, other);

	terms[0].labels.nrequirements = 3;
	j.placement.nterms = 1;
	struct shape *large = job_shape(&s, &j, fault);
	assert_string_equal(fault, "");
	assert_true(shape_bytes(large) > 300 * sizeof("a-value-of-some-length"));
	assert_true(shape_bytes(large) <= SHAPE_BYTES_MAX);
	shape_put(&s, large);
	shape_put(&s, over);
	shapes_done(&s);
}

/* Of labels and annotations only keys count, and what an earlier start has left counts only for the
 * next one. */
static void keys_of_the_template_are_told_apart(void **state)
{
	static const char *const a[] = {"a"}, *const b[] = {"b"};
	static const struct template_metadata all[] = {
		{.has_annotations = false},
		{.labels = {.own = a, .nown = 1}},
		{.labels = {.own = b, .nown = 1}},
		{.labels = {.old = a, .nold = 1}},
		{.annotations = {.own = a, .nown = 1}, .has_annotations = true},
		{.annotations = {.old = a, .nold = 1}, .has_annotations = true},
		{.has_annotations = true},
		{.old_affinity = true},
	};
	enum { N = sizeof(all) / sizeof(all[0]), PLAIN = 0 };
	struct shape *shape[N];
	struct shapes s;
	char fault[SHAPE_FAULT_SIZE];
	(void)state;
	shapes_init(&s);
	for (size_t i = 0; i < N; i++) {
		struct job j = plain_job(&asks[0]);
		j.suspend = true;
		j.metadata = all[i];
		shape[i] = job_shape(&s, &j, fault);
		for (size_t k = 0; k < i; k++)
			assert_ptr_not_equal(shape[k], shape[i]);
	}
	for (size_t i = 0; i < N; i++) {
		struct job j = plain_job(&asks[0]);
		j.metadata = all[i]; /* it runs */
		struct shape *running = job_shape(&s, &j, fault);
		bool owned = all[i].labels.nown + all[i].annotations.nown > 0;
		assert_ptr_equal(running, shape[owned ? i : PLAIN]);
		shape_put(&s, running);
	}
	for (size_t i = 0; i < N; i++)
		shape_put(&s, shape[i]);
	shapes_done(&s);
}

/* A thousand Jobs of a tenant, none of which has a key of another: what is kept of each is counted,
 * and what is too much is not kept. */
static void keys_of_the_template_have_a_ceiling(void **state)
{
	enum { KEYS = 2000, JOBS = 1000 };
	static char text[KEYS][64];
	static const char *keys[KEYS];
	static struct shape *shape[JOBS];
	struct shapes s;
	char fault[SHAPE_FAULT_SIZE];
	size_t counted = 0;
	(void)state;
	for (size_t i = 0; i < KEYS; i++) {
		snprintf(text[i], sizeof(text[i]), "example.com/a-key-of-some-length-%020zu", i);
		keys[i] = text[i];
	}
	shapes_init(&s);
	struct job j = plain_job(&asks[0]);
	for (size_t i = 0; i < JOBS; i++) {
		j.metadata.labels = (struct template_keys){.own = &keys[i], .nown = 1};
		shape[i] = job_shape(&s, &j, fault);
		assert_string_equal(fault, "");
		counted += shape_bytes(shape[i]);
	}
	assert_true(s.bytes + s.templates.bytes <= counted);
	j.metadata.labels = (struct template_keys){.own = keys, .nown = KEYS / 4};
	struct shape *large = job_shape(&s, &j, fault);
	assert_string_equal(fault, "");
	assert_true(large->slots >
		    KEYS / 4 * sizeof("example.com/a-key-of-some-length") / SHAPE_SLOT_BYTES);
	j.metadata.labels.nown = KEYS;
	struct shape *over = job_shape(&s, &j, fault);
	assert_non_null(strstr(fault, "labels and annotations"));
	assert_int_equal(over->directives->metadata.labels.nown, 0);
	shape_put(&s, over);
	shape_put(&s, large);
	for (size_t i = 0; i < JOBS; i++)
		shape_put(&s, shape[i]);
	shapes_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_shape_or_not),
		cmocka_unit_test(directives_are_told_apart),
		cmocka_unit_test(copies_what_it_keeps),
		cmocka_unit_test(too_many_resources),
		cmocka_unit_test(directives_have_a_ceiling),
		cmocka_unit_test(keys_of_the_template_are_told_apart),
		cmocka_unit_test(keys_of_the_template_have_a_ceiling),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
