/* sluice.dev/after: the Jobs that a Job waits for, and what is said of a list that is wrong. */
#include "wire.h"

#include "controller/wire/decode.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static struct job *job_after(const char *after, const char *more)
{
	struct buf b;
	struct job *j = NULL;
	struct err e = {""};
	buf_init(&b, 1 << 20);
	buf_printf(&b,
		"{'kind':'Job','metadata':{'name':'report','namespace':'team-a',"
		"'uid':'123e4567-e89b-12d3-a456-426614174000',"
		"'annotations':{'sluice.dev/after':%s%s}},'spec':{}}",
		after, more);
	if (decode_job(parsed(buf_text(&b)), NULL, &j, &e) < 0)
		fail_msg("%s: %s", buf_text(&b), e.text);
	buf_done(&b);
	return j;
}

/* "afterok prep; afterany (batch In tuesday); singleton" */
static void put_requirement(struct buf *out, const struct requirement *r)
{
	static const char *const ops[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
	buf_printf(out, " %s %s", r->key, ops[r->op]);
	for (size_t v = 0; v < r->nvalues; v++)
		buf_printf(out, "%s%s", v ? "," : " ", r->values[v]);
}

static void put_item(struct buf *out, const struct dependency *i)
{
	static const char *const kinds[] = {
		"afterok", "afternotok", "afterany", "after", "singleton"};
	buf_printf(out, "%s%s", out->len ? "; " : "", kinds[i->kind]);
	if (i->name)
		buf_printf(out, " %s", i->name);
	for (size_t r = 0; r < i->selector.nrequirements; r++)
		put_requirement(out, &i->selector.requirements[r]);
}

static void what_is_read(void **state)
{
	static const struct {
		const char *after, *means;
	} rows[] = {
		{"'prep'", "afterok prep"},
		{"'  prep ,load.2\\n'", "afterok prep; afterok load.2"},
		{"'afterok:prep,afternotok:probe, afterany:clean,after:warm'",
			"afterok prep; afternotok probe; afterany clean; after warm"},
		{"'afterok: prep'", "afterok prep"},
		{"'singleton'", "singleton"},
		{"'afterok:singleton'", "afterok singleton"},
		{"'after'", "afterok after"},
		{"'afterok:{batch=tuesday}'", "afterok batch In tuesday"},
		{"'{batch=tuesday}, prep'", "afterok batch In tuesday; afterok prep"},
		{"'afterany:{ batch == a , stage!=test,\\n x in (1,2), y notin (3), z, !w }'",
			"afterany batch In a stage NotIn test x In 1,2 y NotIn 3 z Exists w "
			"DoesNotExist"},
		{"''", ""},
		{"' \\n'", ""},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct job *j = job_after(rows[i].after, "");
		struct buf b;
		buf_init(&b, 4096);
		for (size_t k = 0; k < j->after.count; k++)
			put_item(&b, &j->after.item[k]);
		assert_null(j->invalid);
		assert_string_equal(buf_text(&b), rows[i].means);
		buf_done(&b);
		free(j);
	}
}

static void as_it_was_written(void **state)
{
	(void)state;
	struct job *j = job_after("' afterok:prep , {a=b,\\nc} '", "");
	assert_int_equal(j->after.count, 2);
	assert_string_equal(j->after.item[0].text, "afterok:prep");
	assert_string_equal(j->after.item[1].text, "{a=b, c}");
	free(j);
}

static void what_becomes_of_it(void **state)
{
	static const struct {
		const char *value;
		enum dependency_failure means;
	} rows[] = {{"", DEPENDENCY_FAILURE_WAIT},
		{",'sluice.dev/on-dependency-failure':'Wait'", DEPENDENCY_FAILURE_WAIT},
		{",'sluice.dev/on-dependency-failure':'Hold'", DEPENDENCY_FAILURE_HOLD},
		{",'sluice.dev/on-dependency-failure':'Delete'", DEPENDENCY_FAILURE_DELETE}};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct job *j = job_after("'prep'", rows[i].value);
		assert_null(j->invalid);
		assert_int_equal(j->after.on_failure, rows[i].means);
		free(j);
	}
}

static void what_is_wrong(void **state)
{
	static const struct {
		const char *after, *more, *says;
	} rows[] = {
		{"'aftercorr:prep'", "",
			"\"aftercorr:prep\" waits index by index, which Kubernetes cannot do: a Job starts as a whole; write afterok to wait for all of that Job, or make a Job of each index"},
		{"'team-b/prep'", "",
			"\"team-b/prep\" names a Job of another namespace, and what other tenants run is not told; only Jobs of the same namespace can be waited for: write the name alone"},
		{"'afterok:team-b/prep'", "", "names a Job of another namespace"},
		{"'afterok:a:b'", "",
			"\"afterok:a:b\" names several Jobs; write an item for each, with commas between them: afterok:prep,afterok:load"},
		{"'prep,,load'", "",
			"has an item that is empty; take out the comma that is too many"},
		{"'prep,'", "", "has an item that is empty"},
		{"','", "", "has an item that is empty"},
		{"'afterwards:prep'", "",
			"\"afterwards:prep\" is of no known kind; write afterok, afterany, afternotok or after"},
		{"'AfterOK:prep'", "", "is of no known kind"},
		{"'singleton:prep'", "", "stands alone: write singleton"},
		{"'afterok:'", "", "\"afterok:\" has no name of a Job; write e.g. afterok:prep"},
		{"'Prep'", "", "has no name of a Job"},
		{"'a b'", "", "has no name of a Job"},
		{"'-a'", "", "has no name of a Job"},
		{"'a?b'", "", "has no name of a Job"},
		{"'afterok:{batch=tuesday'", "",
			"has a { without its } at the end; write e.g. afterok:{batch=tuesday}"},
		{"'afterok:{batch=tuesday}x'", "", "has a { without its } at the end"},
		{"'afterok:{}'", "", "has no label selector in its braces"},
		{"'afterok:{batch>3}'", "", "has no label selector in its braces"},
		{"'afterok:{a/b/c=d}'", "", "has no label selector in its braces"},
		{"'afterok:{a=-b}'", "", "has no label selector in its braces"},
		{"'afterok:{a=b,}'", "", "has no label selector in its braces"},
		{"17", "", "must be a string; write e.g. afterok:prep"},
		{"'prep'", ",'sluice.dev/on-dependency-failure':'Cancel'",
			"on-dependency-failure: \"Cancel\" is unknown; write "},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct job *j = job_after(rows[i].after, rows[i].more);
		if (!j->invalid || !strstr(j->invalid, rows[i].says))
			fail_msg("%s: %s", rows[i].after, j->invalid ? j->invalid : "no fault");
		assert_non_null(
			strstr(j->invalid, "Job team-a/report: metadata.annotations.sluice.dev/"));
		assert_int_equal(j->after.count, 0);
		free(j);
	}
}

static void repeat(struct buf *out, const char *text, size_t times)
{
	buf_putc(out, '\'');
	for (size_t i = 0; i < times; i++)
		buf_printf(out, "%s%s", i ? "," : "", text);
	buf_putc(out, '\'');
}

static void no_more_than_is_allowed(void **state)
{
	struct buf b;
	(void)state;
	buf_init(&b, 1 << 20);
	repeat(&b, "prep", DEPENDENCIES_MAX);
	struct job *j = job_after(buf_text(&b), "");
	assert_null(j->invalid);
	assert_int_equal(j->after.count, DEPENDENCIES_MAX);
	free(j);
	buf_reset(&b);
	repeat(&b, "prep", DEPENDENCIES_MAX + 1);
	j = job_after(buf_text(&b), "");
	assert_non_null(strstr(j->invalid, "has 65 items; at most 64 are possible"));
	free(j);
	buf_reset(&b);
	repeat(&b, "prep", 2000);
	j = job_after(buf_text(&b), "");
	assert_non_null(strstr(j->invalid, "has 9999 bytes; at most 8192 are possible"));
	free(j);
	buf_done(&b);
}

/* Ended, in words: for those that wait for it. */
static void why_it_failed(void **state)
{
	(void)state;
	struct job *j = NULL;
	struct err e = {""};
	assert_int_equal(
		decode_job(
			parsed("{'kind':'Job','metadata':{'name':'prep','namespace':'team-a',"
			       "'uid':'123e4567-e89b-12d3-a456-426614174000'},'spec':{},'status':{"
			       "'conditions':[{'type':'FailureTarget','status':'True','reason':'X'},"
			       "{'type':'Failed','status':'True','reason':'BackoffLimitExceeded',"
			       "'message':'Job has reached the specified backoff limit',"
			       "'lastTransitionTime':'2026-11-21T10:00:00Z'}]}}"),
			NULL, &j, &e),
		0);
	assert_true(j->status.failed);
	assert_string_equal(j->status.failure,
		"BackoffLimitExceeded: Job has reached the specified backoff limit");
	free(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read),
		cmocka_unit_test(as_it_was_written),
		cmocka_unit_test(what_becomes_of_it),
		cmocka_unit_test(what_is_wrong),
		cmocka_unit_test(no_more_than_is_allowed),
		cmocka_unit_test(why_it_failed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
