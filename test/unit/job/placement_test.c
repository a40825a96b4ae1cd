#include "test/unit/wire/wire.h"

#include "sluice/placement.h"

static const struct toleration_row {
	const char *name;
	struct toleration t;
	struct taint taint;
	bool covers;
} toleration_rows[] = {
	{"equal", {"spot", "yes", TOLERATION_EQUAL, TAINT_NO_SCHEDULE},
		{"spot", "yes", TAINT_NO_SCHEDULE}, true},
	{"another value", {"spot", "no", TOLERATION_EQUAL, TAINT_NO_SCHEDULE},
		{"spot", "yes", TAINT_NO_SCHEDULE}, false},
	{"another key", {"gpu", "yes", TOLERATION_EQUAL, TAINT_NO_SCHEDULE},
		{"spot", "yes", TAINT_NO_SCHEDULE}, false},
	{"another effect", {"spot", "yes", TOLERATION_EQUAL, TAINT_NO_EXECUTE},
		{"spot", "yes", TAINT_NO_SCHEDULE}, false},
	{"any effect", {"spot", "yes", TOLERATION_EQUAL, TAINT_ANY},
		{"spot", "yes", TAINT_NO_EXECUTE}, true},
	{"exists", {"spot", "", TOLERATION_EXISTS, TAINT_ANY}, {"spot", "yes", TAINT_NO_SCHEDULE},
		true},
	{"every taint", {"", "", TOLERATION_EXISTS, TAINT_ANY}, {"spot", "yes", TAINT_NO_SCHEDULE},
		true},
	{"less", {"tier", "5", TOLERATION_LT, TAINT_ANY}, {"tier", "4", TAINT_NO_SCHEDULE}, true},
	{"not less", {"tier", "5", TOLERATION_LT, TAINT_ANY}, {"tier", "5", TAINT_NO_SCHEDULE},
		false},
	{"greater", {"tier", "-5", TOLERATION_GT, TAINT_ANY}, {"tier", "0", TAINT_NO_SCHEDULE},
		true},
	{"octal or not", {"tier", "07", TOLERATION_GT, TAINT_ANY}, {"tier", "9", TAINT_NO_SCHEDULE},
		false},
	{"minus zero", {"tier", "-0", TOLERATION_GT, TAINT_ANY}, {"tier", "9", TAINT_NO_SCHEDULE},
		false},
	{"plus", {"tier", "+1", TOLERATION_GT, TAINT_ANY}, {"tier", "9", TAINT_NO_SCHEDULE}, false},
	{"no number", {"tier", "", TOLERATION_GT, TAINT_ANY}, {"tier", "9", TAINT_NO_SCHEDULE},
		false},
	{"taint is no number", {"tier", "1", TOLERATION_GT, TAINT_ANY},
		{"tier", "high", TAINT_NO_SCHEDULE}, false},
	{"beyond int64", {"tier", "1", TOLERATION_GT, TAINT_ANY},
		{"tier", "9223372036854775808", TAINT_NO_SCHEDULE}, false},
};

static void tolerations_cover_taints(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(toleration_rows) / sizeof(*toleration_rows); i++) {
		const struct toleration_row *r = &toleration_rows[i];
		if (toleration_covers(&r->t, &r->taint) != r->covers)
			fail_msg("%s", r->name);
	}
}

/* One requirement on a flavor labelled pool=spot, gen=7. */
static const struct requirement_row {
	const char *name;
	const char *key;
	enum selector_op op;
	const char *values[3];
	bool fits;
} requirement_rows[] = {
	{"in", "pool", SELECTOR_IN, {"a", "spot"}, true},
	{"not among them", "pool", SELECTOR_IN, {"a", "b"}, false},
	{"in nothing", "pool", SELECTOR_IN, {NULL}, false},
	{"not in", "pool", SELECTOR_NOT_IN, {"a", "b"}, true},
	{"in what it must not be", "pool", SELECTOR_NOT_IN, {"a", "spot"}, false},
	{"not in nothing is no requirement", "pool", SELECTOR_NOT_IN, {NULL}, false},
	{"exists", "pool", SELECTOR_EXISTS, {NULL}, true},
	{"does not exist", "pool", SELECTOR_DOES_NOT_EXIST, {NULL}, false},
	{"gt", "gen", SELECTOR_GT, {"6"}, true},
	{"gt, equal", "gen", SELECTOR_GT, {"7"}, false},
	{"gt, with a sign and zeroes", "gen", SELECTOR_GT, {"+006"}, true},
	{"lt", "gen", SELECTOR_LT, {"10"}, true},
	{"lt, equal", "gen", SELECTOR_LT, {"7"}, false},
	{"gt of a word", "pool", SELECTOR_GT, {"6"}, false},
	{"gt than a word", "gen", SELECTOR_GT, {"six"}, false},
	{"gt than two", "gen", SELECTOR_GT, {"5", "6"}, false},
	{"gt, a space", "gen", SELECTOR_GT, {" 6"}, false},
	{"gt, beyond int64", "gen", SELECTOR_GT, {"-9223372036854775809"}, false},
	/* Keys without a label of the flavor are left to the scheduler. */
	{"foreign in", "zone", SELECTOR_IN, {"a"}, true},
	{"foreign not in", "zone", SELECTOR_NOT_IN, {"a"}, true},
	{"foreign exists", "zone", SELECTOR_EXISTS, {NULL}, true},
	{"foreign does not exist", "zone", SELECTOR_DOES_NOT_EXIST, {NULL}, true},
	{"foreign gt", "zone", SELECTOR_GT, {"x"}, true},
	{"foreign lt", "zone", SELECTOR_LT, {NULL}, true},
};

static const struct label labels[] = {{"pool", "spot"}, {"gen", "7"}};
static const struct node_group group = {.labels = labels, .nlabels = 2};

static size_t count_values(const char *const *values)
{
	size_t n = 0;
	while (n < 3 && values[n])
		n++;
	return n;
}

static void all_six_operators(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(requirement_rows) / sizeof(*requirement_rows); i++) {
		const struct requirement_row *r = &requirement_rows[i];
		struct requirement req = {r->key, r->op, r->values, count_values(r->values)};
		struct node_term term = {.labels = {&req, 1}};
		struct placement p = {.terms = &term, .nterms = 1};
		if ((placement_match(&p, &group, NULL) == PLACEMENT_FITS) != r->fits)
			fail_msg("%s", r->name);
	}
}

static void terms_are_ored_and_requirements_anded(void **state)
{
	static const char *const spot[] = {"spot"}, *const other[] = {"other"};
	static const struct requirement good = {"pool", SELECTOR_IN, spot, 1},
					bad = {"pool", SELECTOR_IN, other, 1},
					foreign = {"zone", SELECTOR_IN, other, 1};
	const struct requirement good_and_bad[] = {good, bad}, bad_and_foreign[] = {bad, foreign};
	struct node_term terms[2] = {{.labels = {good_and_bad, 2}}, {.labels = {&bad, 1}}};
	struct placement p = {.terms = terms, .nterms = 2};
	(void)state;
	assert_int_equal(placement_match(&p, &group, NULL), PLACEMENT_SELECTOR_MISMATCH);
	terms[1].labels = (struct selector_term){&good, 1};
	assert_int_equal(placement_match(&p, &group, NULL), PLACEMENT_FITS);
	terms[1].labels = (struct selector_term){bad_and_foreign, 2};
	assert_int_equal(placement_match(&p, &group, NULL), PLACEMENT_SELECTOR_MISMATCH);
	/* Left empty, whether because its keys are foreign or from the first: it matches. */
	terms[1].labels = (struct selector_term){&foreign, 1};
	assert_int_equal(placement_match(&p, &group, NULL), PLACEMENT_FITS);
	terms[1].labels = (struct selector_term){NULL, 0};
	assert_int_equal(placement_match(&p, &group, NULL), PLACEMENT_FITS);
}

static void node_selector_and_affinity_both_count(void **state)
{
	static const struct label want[] = {{"zone", "a"}, {"pool", "spot"}};
	static const struct label wrong[] = {{"zone", "a"}, {"pool", "on-demand"}};
	struct placement p = {.node_selector = want, .nnode_selector = 2};
	(void)state;
	assert_int_equal(placement_match(&p, &group, NULL), PLACEMENT_FITS);
	p.node_selector = wrong;
	assert_int_equal(placement_match(&p, &group, NULL), PLACEMENT_SELECTOR_MISMATCH);
	assert_int_equal(placement_match(&p, &(struct node_group){0}, NULL), PLACEMENT_FITS);
}

static void taints_must_be_tolerated_by_pod_or_flavor(void **state)
{
	static const struct taint taints[] = {{"soft", "", TAINT_PREFER_NO_SCHEDULE},
		{"spot", "yes", TAINT_NO_SCHEDULE}, {"old", "", TAINT_NO_EXECUTE}};
	static const struct toleration spot = {"spot", "yes", TOLERATION_EQUAL, TAINT_NO_SCHEDULE};
	static const struct toleration old = {"old", "", TOLERATION_EXISTS, TAINT_ANY};
	struct node_group g = {.taints = taints, .ntaints = 3};
	struct placement p = {0};
	const struct taint *taint = NULL;
	(void)state;
	assert_int_equal(placement_match(&p, &g, &taint), PLACEMENT_UNTOLERATED_TAINT);
	assert_ptr_equal(taint, &taints[1]);
	p.tolerations = &spot;
	p.ntolerations = 1;
	assert_int_equal(placement_match(&p, &g, &taint), PLACEMENT_UNTOLERATED_TAINT);
	assert_ptr_equal(taint, &taints[2]);
	g.tolerations = &old;
	g.ntolerations = 1;
	taint = NULL;
	assert_int_equal(placement_match(&p, &g, &taint), PLACEMENT_FITS);
	assert_null(taint);
}

static void label_selectors(void **state)
{
	static const char *const team[] = {"a"};
	static const struct label ns[] = {{"team", "a"}};
	const struct requirement in = {"team", SELECTOR_IN, team, 1},
				 not_in = {"env", SELECTOR_NOT_IN, team, 1},
				 absent = {"env", SELECTOR_DOES_NOT_EXIST, NULL, 0},
				 exists = {"env", SELECTOR_EXISTS, NULL, 0};
	const struct requirement all[] = {in, not_in, absent}, one_fails[] = {in, exists};
	(void)state;
	assert_true(labels_match(ns, 1, &(struct selector_term){NULL, 0}));
	assert_true(labels_match(ns, 1, &(struct selector_term){all, 3}));
	assert_false(labels_match(ns, 1, &(struct selector_term){one_fails, 2}));
	assert_false(labels_match(NULL, 0, &(struct selector_term){&in, 1}));
	assert_true(labels_match(NULL, 0, &(struct selector_term){&not_in, 1}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tolerations_cover_taints),
		cmocka_unit_test(all_six_operators),
		cmocka_unit_test(terms_are_ored_and_requirements_anded),
		cmocka_unit_test(node_selector_and_affinity_both_count),
		cmocka_unit_test(taints_must_be_tolerated_by_pod_or_flavor),
		cmocka_unit_test(label_selectors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
