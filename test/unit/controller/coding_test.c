/*
 * gzip and ETags of answers: who takes them, and that what is packed is what was said.
 */
#include "controller/net/coding.h"

#include <string.h>

#include <zlib.h>

#include "test/unit/kube/test.h"

static void who_takes_gzip(void **state)
{
	(void)state;
	static const struct {
		const char *accept;
		bool takes;
	} cases[] = {
		{NULL, false},
		{"", false},
		{"gzip", true},
		{"GZIP", true},
		{"deflate, gzip;q=1.0, *;q=0.5", true},
		{"gzip, deflate, br, zstd", true},
		{"br;q=1 ,\tgzip ; q=0.1", true},
		{"gzip;q=0", false},
		{"gzip;q=0.000, *", false},
		{"*", true},
		{"*;q=0", false},
		{"identity", false},
		{"x-gzip2, gzipped", false},
		{"gzip;q=often", false},
		{"gzip;", false},
		{",,, ,", false},
	};
	for (size_t i = 0; i < ROWS(cases); i++) {
		print_message("  %s\n", cases[i].accept ? cases[i].accept : "(none)");
		assert_int_equal(coding_takes_gzip(cases[i].accept), cases[i].takes);
	}
}

/* What was packed where it was made is not packed once more, though that of equal rows would be shorter yet. */
static void it_is_packed_once(void **state)
{
	(void)state;
	struct buf body;
	buf_init(&body, 1 << 20);
	for (int i = 0; i < 1 << 20; i++)
		buf_putc(&body, 'a');
	coding_gzip(&body);
	size_t len = body.len;
	assert_true(len > CODING_MIN_BYTES);
	coding_gzip(&body);
	assert_int_equal(body.len, len);
	buf_done(&body);
}

/* What a body of so many bytes is after its gzip. */
static void expect_gzip(size_t len, char first, char step, bool packed)
{
	struct buf body;
	char *was = mem_array(len + 1, 1), *back = mem_array(len + 1, 1);
	buf_init(&body, len + 1);
	for (size_t i = 0; i < len; i++) {
		was[i] = (char)(first + (char)(i * (size_t)step));
		buf_putc(&body, was[i]);
	}
	coding_gzip(&body);
	assert_int_equal(coding_is_gzip(buf_slice(&body)), packed);
	if (packed) {
		z_stream z = {.next_in = (Bytef *)body.ptr,
			.avail_in = (uInt)body.len,
			.next_out = (Bytef *)back,
			.avail_out = (uInt)len + 1};
		assert_true(body.len < len);
		assert_int_equal(inflateInit2(&z, MAX_WBITS + 16), Z_OK);
		assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
		assert_int_equal(z.total_out, len);
		inflateEnd(&z);
	} else {
		assert_int_equal(body.len, len);
		memcpy(back, buf_text(&body), len);
	}
	assert_memory_equal(back, was, len);
	buf_done(&body);
	free(was);
	free(back);
}

static void what_is_packed_is_what_was_said(void **state)
{
	(void)state;
	expect_gzip(0, 'a', 0, false);
	expect_gzip(CODING_MIN_BYTES - 1, 'a', 0, false);
	expect_gzip(CODING_MIN_BYTES, 'a', 0, true);
	expect_gzip(100000, 'a', 1, true);
	expect_gzip(1 << 20, '\0', 3, true);
}

static void what_gets_no_shorter_stays(void **state)
{
	(void)state;
	struct buf body;
	uint64_t random = 88172645463325252U;
	buf_init(&body, 4096);
	for (int i = 0; i < 4096; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		buf_putc(&body, (char)random);
	}
	coding_gzip(&body);
	assert_false(coding_is_gzip(buf_slice(&body)));
	assert_int_equal(body.len, 4096);
	buf_done(&body);
}

static void a_tag_is_that_of_its_text(void **state)
{
	(void)state;
	char one[CODING_TAG_SIZE], other[CODING_TAG_SIZE], list[100];
	coding_tag(slice_of("document"), one);
	coding_tag(slice_of("documenu"), other);
	assert_string_not_equal(one, other);
	assert_true(coding_has(one, one));
	assert_true(coding_has(one + 2, one)); /* its strong form */
	assert_true(coding_has("*", one));
	snprintf(list, sizeof(list), "%s, %s", other, one);
	assert_true(coding_has(list, one));
	assert_false(coding_has(other, one));
	assert_false(coding_has("", one));
	assert_false(coding_has(NULL, one));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_takes_gzip),
		cmocka_unit_test(what_is_packed_is_what_was_said),
		cmocka_unit_test(it_is_packed_once),
		cmocka_unit_test(what_gets_no_shorter_stays),
		cmocka_unit_test(a_tag_is_that_of_its_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
