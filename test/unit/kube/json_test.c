#include "test.h"

#include "base/err.h"
#include "base/json.h"

/* From a copy of exactly its size, so that ASan sees one byte too far. */
static int parse(struct json *j, const char *text, size_t len, const cJSON **ret_root)
{
	struct err err = {""};
	char *copy = malloc(len ? len : 1);
	assert_non_null(copy);
	memcpy(copy, text, len);
	int rc = json_parse(j, (struct slice){copy, len}, ret_root, &err);
	assert_true((rc < 0) == (err.text[0] != '\0'));
	free(copy);
	return rc;
}

static const struct row {
	const char *name, *text;
	size_t len; /* 0: to the NUL */
	int rc;
} rows[] = {
	{"object", "{\"a\":1}", 0, 0},
	{"blanks around", " \r\n\t{\"a\":1} \n", 0, 0},
	{"scalar", "3", 0, 0},
	{"nothing", "", 0, ERR_INVALID},
	{"blank", "  ", 0, ERR_INVALID},
	{"more after the end", "{} {}", 0, ERR_INVALID},
	{"garbage after the end", "{}x", 0, ERR_INVALID},
	{"a NUL after the end", "{}\0", 3, ERR_INVALID},
	{"a NUL in a string", "{\"a\":\"x\0y\"}", 11, ERR_INVALID},
	{"an escaped NUL", "{\"a\":\"x\\u0000y\"}", 0, 0},
	{"an escaped NUL outside of strings", "{\"a\":\\u0000}", 0, ERR_INVALID},
	{"half an escaped NUL", "{\"a\":\"x\\u000\"}", 0, ERR_INVALID},
	{"an escaped NUL at the end of the text", "\"\\u0000", 0, ERR_INVALID},
	{"an escaped NUL after half a surrogate", "\"\\ud83d\\u0000\"", 0, ERR_INVALID},
	{"an escaped backslash before u0000", "{\"a\":\"x\\\\u0000y\"}", 0, 0},
	{"a quote that is escaped", "{\"a\":\"x\\\"]\"}", 0, 0},
	{"brackets in a string", "{\"a\":\"]]]}}}\"}", 0, 0},
	{"ends in an object", "{\"1\":1,", 0, ERR_INVALID},
	{"ends in a string", "{\"a", 0, ERR_INVALID},
	{"ends in an escape", "\"\\", 0, ERR_INVALID},
	{"stray bracket", "}", 0, ERR_INVALID},
	{"wrong bracket", "[}", 0, ERR_INVALID},
	{"not UTF-8", "\"\xff\"", 0, ERR_INVALID},
	{"half a surrogate", "\"\\ud800\"", 0, ERR_INVALID},
	{"a pair", "\"\\ud83d\\ude00\"", 0, 0},
	{"a comma too many", "[1,]", 0, ERR_INVALID},
	{"1e400", "[1e400]", 0, 0},
};

static void test_parse(void **state)
{
	struct json *j = json_new(1 << 20);
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		const cJSON *root = NULL;
		const struct row *r = &rows[i];
		int rc = parse(j, r->text, r->len ? r->len : strlen(r->text), &root);
		if (rc != r->rc || (rc == 0) != (root != NULL))
			fail_msg("%s: %d, not %d", r->name, rc, r->rc);
	}
	json_free(j);
}

/* cJSON would end the string at a NUL. A backslash that is escaped begins nothing. */
static void test_escaped_nul(void **state)
{
	static const char text[] =
		"{\"value\":\"x\\u0000y\\u0000\",\"backslash\":\"x\\\\u0000y\","
		"\"both\":\"\\\\\\u0000\",\"k\\u0000ey\":1,\"upper\":\"\\u000A\"}";
	struct json *j = json_new(1 << 20);
	const cJSON *o;
	int64_t n = 0;
	(void)state;
	assert_int_equal(parse(j, text, sizeof(text) - 1, &o), 0);
	assert_string_equal(json_text(o, "value"), "x\xef\xbf\xbdy\xef\xbf\xbd");
	assert_string_equal(json_text(o, "backslash"), "x\\u0000y");
	assert_string_equal(json_text(o, "both"), "\\\xef\xbf\xbd");
	assert_string_equal(json_text(o, "upper"), "\n");
	assert_int_equal(json_i64(o,
				 "k\xef\xbf\xbd"
				 "ey",
				 &n),
		0);
	assert_int_equal(n, 1);
	json_free(j);
}

static void test_depth(void **state)
{
	struct json *j = json_new(1 << 20);
	(void)state;
	for (int depth = JSON_DEPTH - 1; depth <= JSON_DEPTH + 1; depth++) {
		const cJSON *root;
		struct buf b;
		buf_init(&b, 10000);
		for (int i = 0; i < depth; i++)
			buf_putc(&b, '[');
		for (int i = 0; i < depth; i++)
			buf_putc(&b, ']');
		assert_int_equal(parse(j, b.ptr, b.len, &root), depth > JSON_DEPTH ? ERR_LIMIT : 0);
		buf_done(&b);
	}
	json_free(j);
}

/* A small text can want a large tree: the ceiling is on the tree. Then all is well again. */
static void test_memory_is_bounded(void **state)
{
	struct json *j = json_new(256 * 1024);
	const cJSON *root;
	struct buf b;
	(void)state;
	buf_init(&b, 1 << 20);
	buf_putc(&b, '[');
	for (int i = 0; i < 10000; i++)
		buf_puts(&b, "1,");
	buf_puts(&b, "1]");
	assert_int_equal(parse(j, b.ptr, b.len, &root), ERR_LIMIT);
	assert_int_equal(parse(j, "{\"a\":\"b\"}", 9, &root), 0);
	assert_string_equal(json_text(root, "a"), "b");
	buf_done(&b);
	json_free(j);
}

static void test_getters(void **state)
{
	static const char text[] =
		"{\"zero\":0,\"off\":false,\"on\":true,\"null\":null,\"text\":\"x\",\"Text\":\"y\","
		"\"big\":9007199254740992,\"bigger\":9007199254740994,\"half\":0.5,\"minus\":-7,"
		"\"huge\":1e400,\"list\":[1,2,3],\"map\":{\"k\":\"v\"}}";
	struct json *j = json_new(1 << 20);
	const cJSON *o;
	int64_t n = 77;
	bool b = true;
	(void)state;
	assert_int_equal(parse(j, text, strlen(text), &o), 0);
	assert_int_equal(json_i64(o, "none", &n), ERR_GONE);
	assert_int_equal(json_i64(o, "null", &n), ERR_GONE);
	assert_int_equal(json_i64(o, "text", &n), ERR_INVALID);
	assert_int_equal(json_i64(o, "half", &n), ERR_INVALID);
	assert_int_equal(json_i64(o, "huge", &n), ERR_INVALID);
	assert_int_equal(json_i64(o, "bigger", &n), ERR_INVALID);
	assert_int_equal(n, 77);
	assert_int_equal(json_i64(o, "zero", &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(json_i64(o, "big", &n), 0);
	assert_true(n == INT64_C(9007199254740992));
	assert_int_equal(json_i64(o, "minus", &n), 0);
	assert_int_equal(n, -7);
	assert_int_equal(json_bool(o, "none", &b), ERR_GONE);
	assert_int_equal(json_bool(o, "zero", &b), ERR_INVALID);
	assert_int_equal(json_bool(o, "off", &b), 0);
	assert_false(b);
	assert_int_equal(json_bool(o, "on", &b), 0);
	assert_true(b);
	assert_string_equal(json_text(o, "Text"), "y");
	assert_null(json_text(o, "TEXT"));
	assert_null(json_text(o, "zero"));
	assert_null(json_text(NULL, "x"));
	assert_null(json_get(json_array(o, "list"), "x"));
	assert_null(json_object(o, "list"));
	int64_t sum = 0;
	json_each(item, json_array(o, "list"))
		sum += (int64_t)item->valuedouble;
	assert_int_equal(sum, 6);
	json_each(member, json_object(o, "map"))
		assert_string_equal(member->string, "k");
	json_each(nothing, json_array(o, "map"))
		fail();
	json_free(j);
}

static void test_print(void **state)
{
	static const char text[] =
		"{\"a\":[1,-2,0.5,true,false,null,\"q\\\"\\n\"],\"b\":{},\"c\":[]}";
	struct json *j = json_new(1 << 20);
	const cJSON *root;
	struct buf b;
	(void)state;
	buf_init(&b, 1000);
	assert_int_equal(parse(j, text, strlen(text), &root), 0);
	json_print(&b, root);
	assert_string_equal(buf_text(&b), text);
	buf_done(&b);
	json_free(j);
}

/* A number is told with the fewest digits that mean it. */
static void fractions_are_short(void **state)
{
	static const char *const same[] = {"37.518", "0.1", "0.30000000000000004", "1e+300", "-2.5",
		"1.7976931348623157e+308"};
	struct json *j = json_new(1 << 20);
	const cJSON *root;
	struct buf b;
	(void)state;
	buf_init(&b, 1000);
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++) {
		assert_int_equal(parse(j, same[i], strlen(same[i]), &root), 0);
		buf_reset(&b);
		json_print(&b, root);
		assert_string_equal(buf_text(&b), same[i]);
	}
	buf_done(&b);
	json_free(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_escaped_nul),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_memory_is_bounded),
		cmocka_unit_test(test_getters),
		cmocka_unit_test(test_print),
		cmocka_unit_test(fractions_are_short),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
