/* JSON, value by value. */
#include "base/json_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void each_type_is_put_with_its_commas(void **state)
{
	(void)state;
	struct buf out;
	buf_init(&out, 4096);
	struct json_writer w = json_writer_object(&out);
	jw_texts(&w, "text", "a \"b\"\n", "none", NULL, NULL);
	jw_slice(&w, "part", (struct slice){"abc", 2});
	jw_textf(&w, "format", "%d\t%s", 7, "\xFF");
	jw_int(&w, "least", INT64_MIN);
	jw_bool(&w, "no", false);
	jw_number(&w, "ratio", "%.2f", 0.5);
	jw_members(&w, slice_of("{}"));
	jw_raw(&w, "raw", slice_of("[1]"));
	jw_members(&w, slice_of("{\"of\":1,\"it\":{}}"));
	jw_object_of(&w, "few", "a", "1", "b", NULL, NULL);
	jw_array_of(&w, "texts", (const char *const[]){"x", "y", NULL}, 3);
	jw_array(&w, "list");
	jw_int(&w, NULL, 1);
	jw_array(&w, NULL);
	jw_end(&w);
	jw_object(&w, NULL);
	jw_bool(&w, "key \"k\"", true);
	jw_end(&w);
	jw_end(&w);
	jw_int(&w, "last", 2);
	jw_close(&w);
	assert_string_equal(buf_text(&out),
		"{\"text\":\"a \\\"b\\\"\\n\",\"none\":null,\"part\":\"ab\","
		"\"format\":\"7\\t\xEF\xBF\xBD\",\"least\":-9223372036854775808,\"no\":false,"
		"\"ratio\":0.50,\"raw\":[1],\"of\":1,\"it\":{},\"few\":{\"a\":\"1\",\"b\":null},\"texts\":[\"x\",\"y\"],"
		"\"list\":[1,[],{\"key \\\"k\\\"\":true}],\"last\":2}");
	buf_done(&out);
}

/* The 64th level is the last. */
static void depth_is_bounded(void **state)
{
	(void)state;
	struct buf out;
	buf_init(&out, 4096);
	struct json_writer w = json_writer(&out);
	for (int i = 0; i < JSON_WRITER_DEPTH_MAX; i++)
		if (i % 2)
			jw_object(&w, NULL);
		else
			jw_array(&w, i ? "k" : NULL);
	for (int i = 0; i < JSON_WRITER_DEPTH_MAX; i++)
		jw_end(&w);
	assert_int_equal(out.len, 2 * JSON_WRITER_DEPTH_MAX + 31 * 4);
	buf_done(&out);
}

static void twice(struct json_writer *w)
{
	jw_int(w, NULL, 1);
	jw_int(w, NULL, 2);
}

static void member_without_key(struct json_writer *w)
{
	jw_object(w, NULL);
	jw_int(w, NULL, 1);
}

static void key_in_array(struct json_writer *w)
{
	jw_array(w, NULL);
	jw_int(w, "k", 1);
}

static void end_too_many(struct json_writer *w)
{
	jw_array(w, NULL);
	jw_end(w);
	jw_end(w);
}

static void too_deep(struct json_writer *w)
{
	for (int i = 0; i <= JSON_WRITER_DEPTH_MAX; i++)
		jw_array(w, NULL);
}

static void empty_raw(struct json_writer *w)
{
	jw_raw(w, NULL, slice_of(""));
}

static void members_of_no_object(struct json_writer *w)
{
	jw_object(w, NULL);
	jw_members(w, slice_of("[1]"));
}

static void misuse_ends_the_program(void **state)
{
	static void (*const misuse[])(struct json_writer * w) = {twice, member_without_key,
		key_in_array, end_too_many, too_deep, empty_raw, members_of_no_object};
	(void)state;
	for (size_t i = 0; i < sizeof(misuse) / sizeof(misuse[0]); i++) {
		int status;
		pid_t child = fork();
		if (child == 0) {
			struct buf out;
			buf_init(&out, 4096);
			struct json_writer w = json_writer(&out);
			close(STDERR_FILENO);
			misuse[i](&w);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type_is_put_with_its_commas),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(misuse_ends_the_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
