#include "test/unit/wire/wire.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/backoff.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "base/must.h"
#include "base/slice.h"
#include "base/uid.h"

static void a_buffer_over_its_ceiling_stays_failed(void **state)
{
	struct buf b;
	(void)state;
	buf_init(&b, 8);
	assert_string_equal(buf_text(&b), "");
	buf_puts(&b, "12345678");
	assert_false(b.failed);
	buf_puts(&b, "");
	assert_false(b.failed);
	buf_putc(&b, '9');
	assert_true(b.failed);
	buf_reset(&b);
	buf_puts(&b, "again");
	assert_string_equal(buf_text(&b), "again");
	buf_printf(&b, "%d", 123456);
	assert_true(b.failed);
	assert_string_equal(buf_text(&b), "again");
	buf_done(&b);
	buf_init(&b, 0);
	buf_puts(&b, "x");
	assert_true(b.failed);
	buf_done(&b);
}

static void a_buffer_is_taken_and_consumed(void **state)
{
	struct buf b;
	(void)state;
	buf_init(&b, 100);
	buf_puts(&b, "head and tail");
	buf_consume(&b, 5);
	assert_string_equal(buf_text(&b), "and tail");
	buf_consume(&b, 8);
	assert_string_equal(buf_text(&b), "");
	buf_puts(&b, "mine");
	char *text = buf_take(&b);
	assert_string_equal(text, "mine");
	assert_int_equal(b.len, 0);
	free(text);
	text = buf_take(&b);
	assert_string_equal(text, "");
	free(text);
}

static void json_text_is_always_valid(void **state)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{"", "\"\""},
		{"plain", "\"plain\""},
		{"\"\\/", "\"\\\"\\\\/\""},
		{"a\nb\tc\rd\x01", "\"a\\nb\\tc\\u000dd\\u0001\""},
		{"gr\xC3\xBC\xC3\x9F", "\"gr\xC3\xBC\xC3\x9F\""},
		{"bad \xFF!", "\"bad \xEF\xBF\xBD!\""},
		{"\xC3\xBC\xC3", "\"\xC3\xBC\xEF\xBF\xBD\""},
		{NULL, "null"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buf b;
		buf_init(&b, 100);
		buf_json_string(&b, rows[i].in);
		assert_string_equal(buf_text(&b), rows[i].out);
		buf_done(&b);
	}
}

static void utf8_is_what_unicode_says(void **state)
{
	static const struct {
		const char *text;
		bool good;
	} rows[] = {
		{"", true},
		{"ascii", true},
		{"\xC2\x80", true},
		{"\xE2\x82\xAC", true},
		{"\xF4\x8F\xBF\xBF", true},
		{"\xC0\x80", false},	 /* overlong NUL */
		{"\xE0\x9F\xBF", false}, /* overlong */
		{"\xF0\x8F\xBF\xBF", false},
		{"\xED\xA0\x80", false}, /* surrogate */
		{"\xF4\x90\x80\x80", false},
		{"\xC2", false},
		{"\xE2\x82", false},
		{"\x80", false},
		{"\xC2\x41", false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (slice_utf8(slice_of(rows[i].text)) != rows[i].good)
			fail_msg("row %zu", i);
}

static void only_what_is_dirty_is_cleaned_in_a_shown_text(void **state)
{
	static const struct {
		const char *text, *shown;
	} rows[] = {{"", "\"\""},
		{"Gr\xC3\xB6\xC3\x9F"
		 "e\n",
			"\"Gr\xC3\xB6\xC3\x9F"
			"e?\""},
		{"\xC2\x9B"
		 "1m\xE2\x82\xAC\x7f\xFF\xC3",
			"\"?1m\xE2\x82\xAC???\""},
		{"0123456789012345678901234567890123456789",
			"\"0123456789012345678901234567890123456789\""},
		{"012345678901234567890123456789012345678\xC3\xB6",
			"\"012345678901234567890123456789012345678\"..."}};
	char shown[SLICE_SHOWN_SIZE];
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(slice_show(slice_of(rows[i].text), shown), rows[i].shown);
}

static void a_text_is_cut_between_characters(void **state)
{
	static const struct {
		const char *text;
		size_t max, len;
	} rows[] = {{"", 3, 0}, {"abc", 3, 3}, {"abcd", 3, 3}, {"ab\xC3\xA9", 4, 4},
		{"ab\xC3\xA9", 3, 2}, {"a\xE2\x82\xAC", 3, 1}, {"\x80\x80\x80", 2, 0}};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(slice_cut(rows[i].text, rows[i].max), rows[i].len);
}

static void slices_compare(void **state)
{
	struct slice s = {"queue-name", 10};
	(void)state;
	assert_true(slice_is(s, "queue-name"));
	assert_false(slice_is(s, "queue"));
	assert_true(slice_starts(s, "queue"));
	assert_true(slice_ends(s, "name"));
	assert_false(slice_ends(s, "a-queue-name"));
	assert_true(slice_eq((struct slice){NULL, 0}, slice_of("")));
	assert_int_equal(slice_of(NULL).len, 0);
}

struct item {
	int key;
};

static bool item_has_key(const void *value, const void *key)
{
	return ((const struct item *)value)->key == *(const int *)key;
}

/* Hashes that all fall into 7 slots: every chain is long, every removal shifts. */
static uint64_t poor_hash(int key)
{
	return (uint64_t)(key % 7);
}

static void a_map_keeps_what_is_put_in(void **state)
{
	enum { N = 500 };
	static struct item items[N];
	bool in[N] = {false};
	struct map m;
	unsigned random = 1;
	(void)state;
	map_init(&m, item_has_key);
	for (int step = 0; step < 20000; step++) {
		random = random * 1103515245u + 12345u;
		int k = (int)(random >> 8) % N;
		items[k].key = k;
		if (!in[k])
			map_put(&m, poor_hash(k), &items[k]);
		else
			assert_ptr_equal(map_take(&m, poor_hash(k), &k), &items[k]);
		in[k] = !in[k];
		k = (k + 1) % N;
		assert_ptr_equal(map_get(&m, poor_hash(k), &k), in[k] ? &items[k] : NULL);
	}
	size_t count = 0, seen = 0;
	void *v;
	for (int k = 0; k < N; k++)
		count += in[k];
	map_each(&m, i, v)
		seen++;
	assert_int_equal(m.count, count);
	assert_int_equal(seen, count);
	map_done(&m);
}

static void uids_read_and_write(void **state)
{
	static const char text[] = "123e4567-E89b-12d3-a456-426614174000";
	static const char *const bad[] = {"", "123e4567-e89b-12d3-a456-42661417400",
		"123e4567-e89b-12d3-a456-4266141740000", "123e4567+e89b-12d3-a456-426614174000",
		"123e4567-e89b-12d3-a456-42661417400g", "123e45678e89b-12d3-a456-42661417400-",
		NULL};
	struct uid uid, other = {{0}};
	char again[UID_TEXT_SIZE];
	(void)state;
	assert_true(uid_parse(text, &uid));
	uid_format(&uid, again);
	assert_string_equal(again, "123e4567-e89b-12d3-a456-426614174000");
	assert_true(uid_cmp(&uid, &other) > 0);
	assert_int_equal(uid_cmp(&uid, &uid), 0);
	for (size_t i = 0; bad[i]; i++)
		assert_false(uid_parse(bad[i], &other));
	assert_false(uid_parse(NULL, &other));
}

static void errors_gain_context_and_never_overflow(void **state)
{
	struct err e;
	char long_text[2000];
	(void)state;
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	assert_int_equal(err_set(&e, ERR_LIMIT, "%d is too much", 7), ERR_LIMIT);
	err_wrap(&e, "file %s", "a");
	assert_string_equal(e.text, "file a: 7 is too much");
	err_wrap(&e, "%s", long_text);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	assert_int_equal(err_set(NULL, ERR_GONE, "%s", "nobody asks"), ERR_GONE);
	err_wrap(NULL, "%s", "nobody asks");
}

static void a_back_off_doubles_up_to_its_last(void **state)
{
	(void)state;
	assert_int_equal(backoff_ms(200, 0, 30000), 200);
	assert_int_equal(backoff_ms(200, 3, 30000), 1600);
	assert_int_equal(backoff_ms(200, 8, 30000), 30000);
	assert_int_equal(backoff_ms(200, UINT64_MAX, 30000), 30000);
	assert_int_equal(backoff_ms(500, 0, 30), 30);
	assert_int_equal(backoff_ms(0, 7, 0), 0);
	assert_int_equal(backoff_ms(3, UINT64_MAX, INT64_MAX), INT64_MAX);
	assert_int_equal(backoff_drawn_ms(1000, 0), 500);
	assert_int_equal(backoff_drawn_ms(1000, 500), 1000);
	assert_int_equal(backoff_drawn_ms(1000, 501), 500);
}

/* In a child: _exit, so that nothing of the parent is flushed twice. */
static void a_broken_belief_kills(void **state)
{
	int status = 0;
	(void)state;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(0);
		must(1 + 1 == 3);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_buffer_over_its_ceiling_stays_failed),
		cmocka_unit_test(a_buffer_is_taken_and_consumed),
		cmocka_unit_test(json_text_is_always_valid),
		cmocka_unit_test(utf8_is_what_unicode_says),
		cmocka_unit_test(only_what_is_dirty_is_cleaned_in_a_shown_text),
		cmocka_unit_test(a_text_is_cut_between_characters),
		cmocka_unit_test(slices_compare),
		cmocka_unit_test(a_map_keeps_what_is_put_in),
		cmocka_unit_test(uids_read_and_write),
		cmocka_unit_test(errors_gain_context_and_never_overflow),
		cmocka_unit_test(a_back_off_doubles_up_to_its_last),
		cmocka_unit_test(a_broken_belief_kills),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
