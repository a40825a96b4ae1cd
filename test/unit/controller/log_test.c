/*
 * The log: whatever is in a value, one event is one line.
 */
#include "controller/common/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/json.h"

#define AT_MS 1795255200123 /* 2026-11-21T10:00:00.123Z */

struct value_case {
	const char *name, *value, *text, *json;
};

static const struct value_case values[] = {
	{"a word stands bare", "batch", "k=batch", "\"k\":\"batch\""},
	{"a name with a slash too", "team-a/train", "k=team-a/train", "\"k\":\"team-a/train\""},
	{"nothing is quoted", "", "k=\"\"", "\"k\":\"\""},
	{"a blank is quoted", "a b", "k=\"a b\"", "\"k\":\"a b\""},
	{"an equals sign is quoted", "a=b", "k=\"a=b\"", "\"k\":\"a=b\""},
	{"a quote is escaped", "a\"b", "k=\"a\\\"b\"", "\"k\":\"a\\\"b\""},
	{"a backslash is escaped", "a\\b", "k=\"a\\\\b\"", "\"k\":\"a\\\\b\""},
	{"a newline cannot end the line", "a\nlevel=error", "k=\"a\\nlevel=error\"",
		"\"k\":\"a\\nlevel=error\""},
	{"nor a carriage return", "a\rb", "k=\"a\\u000db\"", "\"k\":\"a\\u000db\""},
	{"nor NEL",
		"a\xC2\x85"
		"b",
		"k=\"a\\u0085b\"", "\"k\":\"a\\u0085b\""},
	{"nor a line separator",
		"a\xE2\x80\xA8"
		"b",
		"k=\"a\\u2028b\"", "\"k\":\"a\\u2028b\""},
	{"an escape sequence is shown", "\033[2J", "k=\"\\u001b[2J\"", "\"k\":\"\\u001b[2J\""},
	{"a reversed reading direction is shown",
		"a\xE2\x80\xAE"
		"b",
		"k=\"a\\u202eb\"", "\"k\":\"a\\u202eb\""},
	{"other letters stay",
		"Gr\xC3\xBC\xC3\x9F"
		"e",
		"k=\"Gr\xC3\xBC\xC3\x9F"
		"e\"",
		"\"k\":\"Gr\xC3\xBC\xC3\x9F"
		"e\""},
	{"what is not UTF-8 is replaced",
		"a\xFF"
		"b",
		"k=\"a\xEF\xBF\xBD"
		"b\"",
		"\"k\":\"a\xEF\xBF\xBD"
		"b\""},
	{"half a character at the end is replaced", "a\xC3", "k=\"a\xEF\xBF\xBD\"",
		"\"k\":\"a\xEF\xBF\xBD\""},
};

static void render(struct buf *out, enum log_format format, const char *value)
{
	const char *pairs[] = {"k", value, NULL};
	buf_reset(out);
	log_render(out, format, LEVEL_WARN, AT_MS, "event", pairs);
}

static void a_value_never_ends_a_line(void **state)
{
	(void)state;
	struct buf out;
	buf_init(&out, 65536);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		print_message("  %s\n", values[i].name);
		render(&out, LOG_TEXT, values[i].value);
		assert_non_null(strstr(buf_text(&out), values[i].text));
		assert_null(strchr(buf_text(&out), '\n'));
		render(&out, LOG_JSON, values[i].value);
		assert_non_null(strstr(buf_text(&out), values[i].json));
		assert_null(strchr(buf_text(&out), '\n'));
	}
	buf_done(&out);
}

static void a_line_of_text_reads_as_documented(void **state)
{
	(void)state;
	struct buf out;
	buf_init(&out, 65536);
	const char *pairs[] = {"job", "team-a/train", "queue", "batch", "#waited_ms", "12", NULL};
	log_render(&out, LOG_TEXT, LEVEL_INFO, AT_MS, "started", pairs);
	assert_string_equal(buf_text(&out),
		"2026-11-21T10:00:00.123Z info  started job=team-a/train queue=batch waited_ms=12");
	buf_done(&out);
}

static void every_line_of_json_parses(void **state)
{
	(void)state;
	struct buf out;
	struct json *j = json_new(1 << 20);
	const cJSON *root;
	int64_t n = 0;
	buf_init(&out, 65536);
	char all[256];
	for (size_t i = 0; i < 255; i++)
		all[i] = (char)(i + 1);
	all[255] = '\0';
	const char *pairs[] = {"k", all, "#n", "-7", NULL};
	log_render(&out, LOG_JSON, LEVEL_ERROR, AT_MS, "an event", pairs);
	assert_int_equal(json_parse(j, buf_slice(&out), &root, NULL), 0);
	assert_string_equal(json_text(root, "level"), "error");
	assert_string_equal(json_text(root, "event"), "an event");
	assert_int_equal(json_i64(root, "n", &n), 0);
	assert_int_equal(n, -7);
	json_free(j);
	buf_done(&out);
}

static void a_long_value_is_cut(void **state)
{
	(void)state;
	struct buf out;
	char *big = mem_alloc(100001);
	memset(big, 'x', 100000);
	big[100000] = '\0';
	buf_init(&out, 65536);
	render(&out, LOG_TEXT, big);
	assert_false(out.failed);
	assert_true(out.len < LOG_VALUE_MAX + 200);
	assert_true(slice_ends(buf_slice(&out), "...\""));
	free(big);
	buf_done(&out);
}

static void events_go_to_the_descriptor_by_level(void **state)
{
	(void)state;
	int fd[2];
	char text[512];
	assert_int_equal(pipe(fd), 0);
	struct log *l = log_new(fd[1], LOG_TEXT, LEVEL_WARN);
	log_event(l, LEVEL_INFO, "hidden", NULL);
	log_event(l, LEVEL_WARN, "shown", "absent", NULL, "#n", LOG_NUMBER(3), NULL);
	log_event(NULL, LEVEL_ERROR, "nowhere", NULL);
	ssize_t n = read(fd[0], text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n] = '\0';
	assert_non_null(strstr(text, " warn  shown n=3\n"));
	assert_null(strstr(text, "hidden"));
	log_free(l);
	close(fd[0]);
	close(fd[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_never_ends_a_line),
		cmocka_unit_test(a_line_of_text_reads_as_documented),
		cmocka_unit_test(every_line_of_json_parses),
		cmocka_unit_test(a_long_value_is_cut),
		cmocka_unit_test(events_go_to_the_descriptor_by_level),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
