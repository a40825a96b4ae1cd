#include "test.h"

#include "base/err.h"
#include "controller/kube/frames.h"

/* Feeds text in chunks of one size; each line comes out with '|' behind it, the
 * beginning of one over the ceiling with '!'. */
static void feed(struct frames *f, const char *text, size_t len, size_t chunk, struct buf *out)
{
	int rc;
	for (size_t at = 0; at < len; at += chunk) {
		size_t n = len - at < chunk ? len - at : chunk;
		char *copy = malloc(n); /* exact, so that ASan sees one byte too far */
		assert_non_null(copy);
		memcpy(copy, text + at, n);
		struct slice rest = {copy, n}, line;
		while ((rc = frames_next(f, &rest, &line)) != 0) {
			assert_true(rc == 1 || rc == ERR_LIMIT);
			buf_add(out, line.ptr, line.len);
			buf_putc(out, rc > 0 ? '|' : '!');
		}
		free(copy);
	}
}

static const struct row {
	const char *name, *text, *lines;
	size_t ceiling;
	bool cut;
} rows[] = {
	{"nothing", "", "", 10, false},
	{"one line", "abc\n", "abc|", 10, false},
	{"lines", "abc\nd\nefghij\n", "abc|d|efghij|", 10, false},
	{"blank lines are no lines", "\n\nabc\n\n\nd\n\n", "abc|d|", 10, false},
	{"half a line is kept back", "abc\nde", "abc|", 10, true},
	{"just at the ceiling", "0123456789\nx\n", "0123456789|x|", 10, false},
	{"over the ceiling", "abc\n0123456789x\nd\n", "abc|0123456789!d|", 10, false},
	{"twice over the ceiling", "0123456789x0123456789\nab\n0123456789y\n\nd\n",
		"0123456789!ab|0123456789!d|", 10, false},
	{"over the ceiling, without end", "abc\n0123456789012345", "abc|0123456789!", 10, true},
};

static void test_every_chunk_size(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		const struct row *r = &rows[i];
		size_t len = strlen(r->text);
		for (size_t chunk = 1; chunk <= len + 1; chunk++) {
			struct frames f;
			struct buf out;
			frames_init(&f, r->ceiling);
			buf_init(&out, 1000);
			feed(&f, r->text, len, chunk, &out);
			if (strcmp(buf_text(&out), r->lines) != 0)
				fail_msg("%s in chunks of %zu: %s", r->name, chunk, buf_text(&out));
			assert_int_equal(frames_cut(&f), r->cut);
			assert_true(f.partial.room <= 1000); /* what is skipped is not kept */
			frames_done(&f);
			buf_done(&out);
		}
	}
}

static void test_reset_drops_half_a_line(void **state)
{
	(void)state;
	struct frames f;
	struct buf out;
	frames_init(&f, 10);
	buf_init(&out, 1000);
	feed(&f, "half", 4, 4, &out);
	frames_reset(&f);
	feed(&f, "whole\n", 6, 6, &out);
	assert_string_equal(buf_text(&out), "whole|");
	feed(&f, "01234567890", 11, 3, &out);
	assert_true(frames_cut(&f));
	frames_reset(&f);
	feed(&f, "x\n", 2, 2, &out);
	assert_string_equal(buf_text(&out), "whole|0123456789!x|");
	frames_done(&f);
	buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_chunk_size),
		cmocka_unit_test(test_reset_drops_half_a_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
