/* ResourceQuotas from the wire. */
#include "wire.h"

#include "controller/wire/decode_template.h"

static struct resource_quota *decode(const char *text, struct err *e)
{
	struct resource_quota *q = NULL;
	int rc = decode_resource_quota(parsed(text), &q, e);
	assert_int_equal(rc, q ? 0 : ERR_INVALID);
	return q;
}

#define META                                                                                       \
	"'kind': 'ResourceQuota', 'metadata': {'name': 'q', 'namespace': 'team', "                 \
	"'resourceVersion': '4711'}"

static void what_the_status_says_is_what_counts(void **state)
{
	struct err e;
	struct resource_quota *q = decode("{" META ", 'spec': {'hard': {'pods': '1'}}}", &e);
	(void)state;
	assert_string_equal(q->ns, "team");
	assert_string_equal(q->name, "q");
	assert_int_equal(q->version, 4711);
	assert_int_equal(q->hard.count, 0);
	assert_int_equal(q->used.count, 0);
	assert_int_equal(q->nscopes, 0);
	free(q);
}

static const struct amount_row {
	const char *name, *text;
	int64_t hard, used;
	enum quantity_style style;
} rows[] = {
	{"pods", "10", 10, 10, QUANTITY_DECIMAL},
	{"cpu", "1k", 1000000, 1000000, QUANTITY_DECIMAL},
	{"requests.cpu", "1500m", 1500, 1500, QUANTITY_DECIMAL},
	{"limits.cpu", "2", 2000, 2000, QUANTITY_DECIMAL},
	{"memory", "1536Mi", 1610612736, 1610612736, QUANTITY_BINARY},
	{"limits.memory", "1e9", 1000000000, 1000000000, QUANTITY_EXPONENT},
	/* Of fractions the limit has less, and the use more. */
	{"memory", "1500m", 1, 2, QUANTITY_DECIMAL},
	{"memory", "0.1Ki", 102, 103, QUANTITY_BINARY},
	/* More than can be counted is no limit. */
	{"memory", "8Ei", INT64_MAX, INT64_MAX, QUANTITY_BINARY},
	{"cpu", "100P", INT64_MAX, INT64_MAX, QUANTITY_DECIMAL},
};

static void amounts_as_they_are_enforced(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct amount_row *r = &rows[i];
		char text[500];
		struct err e;
		snprintf(text, sizeof(text),
			"{" META ", 'status': {'hard': {'%s': '%s'}, "
			"'used': {'%s': '%s'}}}",
			r->name, r->text, r->name, r->text);
		struct resource_quota *q = decode(text, &e);
		assert_int_equal(q->hard.count, 1);
		assert_string_equal(q->hard.item[0].name, r->name);
		assert_int_equal(q->hard.item[0].style, r->style);
		if (q->hard.item[0].amount != r->hard || q->used.item[0].amount != r->used)
			fail_msg("%s: %s", r->name, r->text);
		free(q);
	}
}

static void scopes_and_the_selector_together(void **state)
{
	struct err e;
	struct resource_quota *q =
		decode("{" META ", 'spec': {'scopes': ['NotTerminating', 'Later'], "
		       "'scopeSelector': {'matchExpressions': ["
		       "{'scopeName': 'PriorityClass', 'operator': "
		       "'NotIn', 'values': ['a', 'b']}, "
		       "{'scopeName': 'CrossNamespacePodAffinity', "
		       "'operator': 'Exists'}]}}}",
			&e);
	(void)state;
	assert_int_equal(q->nscopes, 4);
	assert_int_equal(q->scopes[0].scope, SCOPE_NOT_TERMINATING);
	assert_int_equal(q->scopes[0].op, SELECTOR_EXISTS);
	assert_int_equal(q->scopes[1].scope, SCOPE_OTHER);
	assert_int_equal(q->scopes[2].scope, SCOPE_PRIORITY_CLASS);
	assert_int_equal(q->scopes[2].op, SELECTOR_NOT_IN);
	assert_int_equal(q->scopes[2].nvalues, 2);
	assert_string_equal(q->scopes[2].values[1], "b");
	assert_int_equal(q->scopes[3].scope, SCOPE_CROSS_NAMESPACE_POD_AFFINITY);
	free(q);
}

static void what_cannot_be_read(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"{'kind': 'Pod', 'metadata': {'name': 'q'}}", "ResourceQuota"},
		{"{" META ", 'status': {'hard': {'pods': 'many'}}}",
			"status.hard.pods: \"many\" is not a quantity"},
		{"{" META ", 'status': {'hard': {'pods': '-1'}}}",
			"status.hard.pods: must not be negative"},
		{"{" META ", 'status': {'used': {'cpu': true}}}",
			"status.used.cpu: must be a quantity"},
		{"{" META ", 'spec': {'scopeSelector': {'matchExpressions': "
		 "[{'scopeName': 'PriorityClass'}]}}}",
			"spec.scopeSelector.matchExpressions[0]: has no operator"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct err e;
		assert_null(decode(bad[i].text, &e));
		if (!strstr(e.text, bad[i].says))
			fail_msg("%s", e.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_status_says_is_what_counts),
		cmocka_unit_test(amounts_as_they_are_enforced),
		cmocka_unit_test(scopes_and_the_selector_together),
		cmocka_unit_test(what_cannot_be_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
