/*
 * gzip and ETags of answers: who takes them, and that what is packed is what was said.
 */
#include "controller/net/coding.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

static void tag_answer(const char *text, char ret[CODING_TAG_SIZE])
{
	assert_true(coding_tag_answer(slice_of(text), ret));
}

/* The time at which it was made makes no other answer; each other letter does. */
static void times_in_the_head_are_no_news(void **state)
{
	static const struct {
		const char *name, *other;
		bool same;
	} cases[] = {
		{"itself",
			"{\"kind\":\"X\",\"asOf\":\"2026-11-21T10:00:00Z\",\"n\":1,\"l\":[{\"at\":\"2026-11-21T10:00:00Z\"}]}",
			true},
		{"later",
			"{\"kind\":\"X\",\"asOf\":\"2026-11-21T10:00:07Z\",\"n\":1,\"l\":[{\"at\":\"2026-11-21T10:00:00Z\"}]}",
			true},
		{"with a fraction",
			"{\"kind\":\"X\",\"asOf\":\"2026-11-21T10:00:07.25Z\",\"n\":1,\"l\":[{\"at\":\"2026-11-21T10:00:00Z\"}]}",
			true},
		{"no time",
			"{\"kind\":\"X\",\"asOf\":\"2026-11-21\",\"n\":1,\"l\":[{\"at\":\"2026-11-21T10:00:00Z\"}]}",
			false},
		{"another name",
			"{\"kind\":\"X\",\"asIf\":\"2026-11-21T10:00:00Z\",\"n\":1,\"l\":[{\"at\":\"2026-11-21T10:00:00Z\"}]}",
			false},
		{"another number",
			"{\"kind\":\"X\",\"asOf\":\"2026-11-21T10:00:00Z\",\"n\":2,\"l\":[{\"at\":\"2026-11-21T10:00:00Z\"}]}",
			false},
		{"a time of the list",
			"{\"kind\":\"X\",\"asOf\":\"2026-11-21T10:00:00Z\",\"n\":1,\"l\":[{\"at\":\"2026-11-21T10:00:01Z\"}]}",
			false},
		{"a bracket in a text", "{\"kind\":\"X[\\\"\",\"asOf\":\"2026-11-21T10:00:00Z\"}",
			false},
	};
	char one[CODING_TAG_SIZE], other[CODING_TAG_SIZE];
	(void)state;
	tag_answer(cases[0].other, one);
	for (size_t i = 0; i < ROWS(cases); i++) {
		print_message("  %s\n", cases[i].name);
		tag_answer(cases[i].other, other);
		assert_int_equal(strcmp(one, other) == 0, cases[i].same);
	}
	/* The head goes on behind the bracket in a text. */
	tag_answer("{\"kind\":\"X[\\\"\",\"asOf\":\"2026-11-21T10:00:09Z\"}", one);
	assert_string_equal(one, other);
}

/* By their name they are left out, and not because they look like times. */
static void times_of_the_head_are_left_out_by_name(void **state)
{
	static const struct {
		const char *name;
		bool is_news;
	} cases[] = {{"asOf", false}, {"from", false}, {"until", false}, {"since", false},
		{"now", false}, {"sampleTime", true}, {"ledgerDownSince", true}, {"asof", true},
		{"fro", true}, {"", true}};
	char text[200], one[CODING_TAG_SIZE], other[CODING_TAG_SIZE];
	(void)state;
	for (size_t i = 0; i < ROWS(cases); i++) {
		static const char form[] =
			"{\"kind\":\"X\",\"%s\":\"2026-11-21T10:00:0%dZ\",\"l\":[]}";
		print_message("  %s\n", cases[i].name);
		snprintf(text, sizeof(text), form, cases[i].name, 1);
		tag_answer(text, one);
		snprintf(text, sizeof(text), form, cases[i].name, 2);
		tag_answer(text, other);
		assert_int_equal(strcmp(one, other) != 0, cases[i].is_news);
	}
	/* The name is that of the member, not a text before. */
	tag_answer("{\"x\":\"asOf\",\"y\":\"2026-11-21T10:00:00Z\"}", one);
	tag_answer("{\"x\":\"asOf\",\"y\":\"2026-11-21T10:00:01Z\"}", other);
	assert_string_not_equal(one, other);
	tag_answer("{\"asOf\":1,\"2026-11-21T10:00:00Z\":1}", one);
	tag_answer("{\"asOf\":1,\"2026-11-21T10:00:01Z\":1}", other);
	assert_string_not_equal(one, other);
}

/* Nobody can make two answers that have one tag by a hash that all know. A child's tags are the
 * parent's: the reader packs, and the port compares. */
static void tags_of_answers_have_a_key_of_this_process(void **state)
{
	static const char text[] = "{\"asOf\":\"2026-11-21T10:00:00Z\",\"l\":[1,2,3]}";
	char as_file[CODING_TAG_SIZE], here[CODING_TAG_SIZE], there[CODING_TAG_SIZE] = "";
	int ends[2], status;
	(void)state;
	coding_draw_key();
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		bool is_made = coding_tag_answer(slice_of(text), there);
		_exit(!is_made || write(ends[1], there, sizeof(there)) != sizeof(there));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(read(ends[0], there, sizeof(there)), sizeof(there));
	close(ends[0]);
	close(ends[1]);
	tag_answer(text, here);
	assert_string_equal(there, here);
	coding_tag(slice_of(text), as_file);
	assert_string_not_equal(here, as_file);
	/* A file's tag is known to all: a copy is good for the next process. */
	coding_tag(slice_of("document"), as_file);
	assert_string_equal(as_file, "W/\"e503129a4109e1d7\"");
}

static void texts_that_are_cut_or_no_json_have_a_tag(void **state)
{
	static const char *const texts[] = {"", "{", "{\"", "{\"a", "{\"a\\",
		"{\"a\":\"2026-11-21T10:00:00Z", "2026-11-21T10:00:00Z", "\"2026-11-21T10:00:00Z\"",
		"\\\\\"\\"};
	char tags[ROWS(texts)][CODING_TAG_SIZE];
	(void)state;
	for (size_t i = 0; i < ROWS(texts); i++) {
		tag_answer(texts[i], tags[i]);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(tags[i], tags[k]);
	}
}

static void slices_are_the_whole(void **state)
{
	static const size_t slices[] = {1, 7, 1000, 64 << 10, 300000};
	(void)state;
	for (size_t i = 0; i < ROWS(slices); i++) {
		struct buf body;
		size_t steps = 1, len = 200000;
		char *was = mem_array(len, 1), *back = mem_array(len, 1);
		buf_init(&body, 1 << 20);
		for (size_t k = 0; k < len; k++)
			buf_putc(&body, was[k] = (char)('a' + k / 100 % 26));
		struct coding_pack *p = coding_pack_new(buf_slice(&body), "W/\"x\"");
		while (coding_pack_step(p, slices[i]))
			steps++;
		assert_false(coding_pack_step(p, slices[i]));
		assert_int_equal(steps, (len + slices[i] - 1) / slices[i]);
		coding_pack_end(p, &body);
		z_stream z = {.next_in = (Bytef *)body.ptr,
			.avail_in = (uInt)body.len,
			.next_out = (Bytef *)back,
			.avail_out = (uInt)len};
		assert_int_equal(inflateInit2(&z, MAX_WBITS + 16), Z_OK);
		assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
		inflateEnd(&z);
		assert_memory_equal(back, was, len);
		buf_done(&body);
		free(was);
		free(back);
	}
}

/* Random bytes get no shorter; half of it is thrown away. */
static void what_gets_no_shorter_in_slices_stays_as_well(void **state)
{
	struct buf body;
	uint64_t random = 88172645463325252U;
	(void)state;
	buf_init(&body, 1 << 20);
	for (int i = 0; i < 300000; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		buf_putc(&body, (char)random);
	}
	struct coding_pack *p = coding_pack_new(buf_slice(&body), "");
	while (coding_pack_step(p, 10000))
		;
	coding_pack_end(p, &body);
	assert_false(coding_is_gzip(buf_slice(&body)));
	assert_int_equal(body.len, 300000);
	p = coding_pack_new(buf_slice(&body), "");
	coding_pack_step(p, 10000);
	coding_pack_end(p, NULL);
	buf_done(&body);
}

/* Who packs has the text, who sends has the gzip: both say the same tag. */
static void a_gzip_carries_the_tag_of_its_text(void **state)
{
	struct buf body;
	char tag[CODING_TAG_SIZE], packed[CODING_TAG_SIZE];
	(void)state;
	buf_init(&body, 8 << 20);
	buf_puts(&body, "{\"asOf\":\"2026-11-21T10:00:00Z\",\"l\":[");
	for (int i = 0; i < 5000; i++)
		buf_printf(&body, "%d,", i);
	buf_puts(&body, "0]}");
	assert_true(coding_tag_answer(buf_slice(&body), tag));
	coding_gzip(&body);
	assert_true(coding_is_gzip(buf_slice(&body)));
	assert_true(coding_tag_answer(buf_slice(&body), packed));
	assert_string_equal(packed, tag);
	/* One that was packed elsewhere has none, nor has what is cut. */
	body.ptr[3] = 0;
	assert_false(coding_tag_answer(buf_slice(&body), packed));
	assert_false(coding_tag_answer((struct slice){"\x1f\x8b\x08\x10", 4}, packed));
	buf_reset(&body);
	while (body.len <= CODING_TAGGED_BYTES)
		buf_puts(&body, "long ");
	assert_false(coding_tag_answer(buf_slice(&body), packed));
	buf_done(&body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_takes_gzip),
		cmocka_unit_test(what_is_packed_is_what_was_said),
		cmocka_unit_test(it_is_packed_once),
		cmocka_unit_test(what_gets_no_shorter_stays),
		cmocka_unit_test(a_tag_is_that_of_its_text),
		cmocka_unit_test(times_in_the_head_are_no_news),
		cmocka_unit_test(times_of_the_head_are_left_out_by_name),
		cmocka_unit_test(tags_of_answers_have_a_key_of_this_process),
		cmocka_unit_test(texts_that_are_cut_or_no_json_have_a_tag),
		cmocka_unit_test(a_gzip_carries_the_tag_of_its_text),
		cmocka_unit_test(slices_are_the_whole),
		cmocka_unit_test(what_gets_no_shorter_in_slices_stays_as_well),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
