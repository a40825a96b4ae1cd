#include "test/unit/wire/wire.h"

#include "controller/gate/story.h"

static void the_line_reads_as_promised(void **state)
{
	static const struct quota_line lines[] = {{"cq/batch", "spot", "cpu", 12000},
		{"cq/batch", "spot", "memory", 5}, {"cohort/all", "spot", "cpu", 12000}};
	struct story s = {.state = STORY_STARTED,
		.attempt = 2,
		.epoch = 7,
		.at_ms = 1795255110000,
		.clusterqueue = "batch",
		.reason = "",
		.by = "sluice-0",
		.lines = lines,
		.nlines = 3};
	struct buf b;
	(void)state;
	buf_init(&b, STORY_TEXT_MAX);
	buf_puts(&b, "=");
	story_fit(&s, 0, &b);
	assert_string_equal(buf_text(&b),
		"={\"attempt\":2,\"state\":\"Started\",\"epoch\":7,\"at\":\"2026-11-21T09:58:30Z\","
		"\"clusterQueue\":\"batch\",\"flavors\":{\"cpu\":\"spot\",\"memory\":\"spot\"},"
		"\"reason\":\"\",\"by\":\"sluice-0\"}");
	buf_done(&b);
}

static void what_outlives_us(void **state)
{
	struct story s = {.state = STORY_STARTED,
		.attempt = 2,
		.epoch = 7,
		.at_ms = 1795255110000,
		.clusterqueue = "batch",
		.reason = "Preempted",
		.by = "sluice-0",
		.preemptor = "team-b/urgent",
		.message = "needs \"room\"",
		.trouble = "Unschedulable: no",
		.pods = 3,
		.owner_parallelism = 8,
		.owner_completions = 8,
		.history = {2, 7, 5000, 1795255110001, 3, 1795255410000}};
	struct buf b;
	(void)state;
	buf_init(&b, STORY_TEXT_MAX);
	story_fit(&s, 0, &b);
	assert_string_equal(buf_text(&b),
		"{\"attempt\":2,\"state\":\"Started\",\"epoch\":7,\"at\":\"2026-11-21T09:58:30Z\","
		"\"clusterQueue\":\"batch\",\"flavors\":{},\"reason\":\"Preempted\",\"by\":"
		"\"sluice-0\",\"preemptor\":\"team-b/urgent\",\"message\":\"needs \\\"room\\\"\","
		"\"trouble\":\"Unschedulable: no\","
		"\"pods\":3,\"parallelism\":8,\"completions\":8,\"history\":{\"requeues\":2,"
		"\"ranMs\":5000,\"notBeforeMs\":7,\"evictedMs\":1795255110001,\"suspensions\":3,"
		"\"reclaimsPaidMs\":1795255410000}}");
	buf_done(&b);
}

static uint64_t drawn = 88172645463325252u;

static int64_t draw(int64_t below)
{
	drawn ^= drawn << 13;
	drawn ^= drawn >> 7;
	drawn ^= drawn << 17;
	return (int64_t)(drawn % (uint64_t)below);
}

/* A number of as many digits as chance has it. */
static int64_t draw_number(int64_t max)
{
	int64_t limit = 10;
	for (int64_t digits = draw(19); digits > 0 && limit < max / 10; digits--)
		limit *= 10;
	return draw(limit < max ? limit : max);
}

static const char *draw_text(char *ret, size_t max)
{
	size_t len = (size_t)draw((int64_t)max);
	for (size_t i = 0; i < len; i++)
		ret[i] = "ab\"\\\n-./"[draw(9)];
	ret[len] = '\0';
	return ret;
}

static struct job_history draw_history(void)
{
	return (struct job_history){.requeues = (int32_t)draw_number(INT32_MAX),
		.not_before_ms = draw_number(INT64_C(253402300799000)),
		.ran_ms = draw_number(INT64_C(253402300799000)),
		.evicted_ms = draw_number(INT64_C(253402300799000)),
		.suspensions = (int32_t)draw_number(INT32_MAX),
		.reclaims_paid_ms = draw_number(INT64_C(253402300799000))};
}

/* Whatever is to be told of a stop: it fits where the story of the start stood, if that was ours,
 * be it as short as can be, and says what it must. */
static void a_stop_fits_where_its_start_stood(void **state)
{
	static char texts[6][1000];
	struct buf was, is;
	(void)state;
	buf_init(&was, STORY_TEXT_MAX);
	buf_init(&is, STORY_TEXT_MAX);
	for (size_t round = 0; round < 20000; round++) {
		struct story s = {.state = STORY_STARTED,
			.attempt = (int32_t)draw_number(INT32_MAX - 1) + 1,
			.epoch = draw_number(1000),
			.at_ms = draw_number(INT64_C(253402300799000)),
			.clusterqueue = draw_text(texts[0], 20),
			.by = draw_text(texts[1], 20)};
		buf_reset(&was);
		story_fit(&s, 0, &was);
		struct story stop = {.state = draw(2) ? STORY_STOPPED : STORY_FENCED,
			.attempt = draw(2) ? s.attempt : (int32_t)draw_number(INT32_MAX - 1) + 1,
			.epoch = draw_number(INT64_MAX),
			.at_ms = draw_number(INT64_C(253402300799000)),
			.clusterqueue = draw_text(texts[0], 253),
			.reason = draw_text(texts[2], 30),
			.by = draw_text(texts[1], 128),
			.preemptor = draw_text(texts[3], 300),
			.message = draw_text(texts[4], 900),
			.trouble = draw_text(texts[5], 900),
			.history = draw_history()};
		buf_reset(&is);
		story_fit(&stop, was.len, &is);
		assert_false(is.failed);
		assert_true(is.len <= was.len);
		char begins[60];
		snprintf(begins, sizeof(begins), "{\"attempt\":%d,\"state\":\"%s\",",
			(int)stop.attempt, story_state_name(stop.state));
		assert_int_equal(strncmp(buf_text(&is), begins, strlen(begins)), 0);
		assert_int_equal(buf_text(&is)[is.len - 1], '}');
	}
	buf_done(&was);
	buf_done(&is);
}

/* The least needed goes first; what a start took down stays. */
static void what_has_no_room_is_left_out(void **state)
{
	static const struct {
		size_t max;
		const char *says;
	} rows[] = {
		{0, "{\"attempt\":2,\"state\":\"Stopped\",\"epoch\":7,\"at\":\"2026-11-21T09:58:"
		    "30Z\","
		    "\"clusterQueue\":\"batch\",\"flavors\":{},\"reason\":\"Held\",\"by\":\"me\","
		    "\"message\":\"m\",\"pods\":3,\"parallelism\":8,\"history\":{\"requeues\":2,"
		    "\"ranMs\":0,\"notBeforeMs\":7,\"evictedMs\":0}}"},
		{230, "{\"attempt\":2,\"state\":\"Stopped\",\"epoch\":7,\"at\":\"2026-11-21T09:58:"
		      "30Z\","
		      "\"clusterQueue\":\"batch\",\"flavors\":{},\"reason\":\"Held\",\"by\":\"me\","
		      "\"pods\":3,\"parallelism\":8,\"history\":{\"requeues\":2,"
		      "\"ranMs\":0,\"notBeforeMs\":7,\"evictedMs\":0}}"},
		{180, "{\"attempt\":2,\"state\":\"Stopped\",\"epoch\":7,\"at\":\"2026-11-21T09:58:"
		      "30Z\","
		      "\"reason\":\"Held\",\"pods\":3,\"parallelism\":8,\"history\":{\"requeues\":"
		      "2,"
		      "\"ranMs\":0,\"notBeforeMs\":7,\"evictedMs\":0}}"},
		{130, "{\"attempt\":2,\"state\":\"Stopped\",\"epoch\":7,\"at\":\"2026-11-21T09:58:"
		      "30Z\","
		      "\"pods\":3,\"parallelism\":8,\"history\":{\"requeues\":2}}"},
		{1, "{\"attempt\":2,\"state\":\"Stopped\",\"epoch\":7,\"at\":\"2026-11-21T09:58:"
		    "30Z\","
		    "\"pods\":3,\"parallelism\":8}"},
	};
	struct story s = {.state = STORY_STOPPED,
		.attempt = 2,
		.epoch = 7,
		.at_ms = 1795255110000,
		.clusterqueue = "batch",
		.reason = "Held",
		.by = "me",
		.message = "m",
		.pods = 3,
		.owner_parallelism = 8,
		.history = {.requeues = 2, .not_before_ms = 7}};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buf b;
		buf_init(&b, STORY_TEXT_MAX);
		story_fit(&s, rows[i].max, &b);
		assert_string_equal(buf_text(&b), rows[i].says);
		buf_done(&b);
	}
}

static void many_long_names_stay_under_the_ceiling(void **state)
{
	enum { N = QUEUE_LINES_MAX };
	char names[N][300];
	struct quota_line lines[N];
	struct story s = {.state = STORY_STARTED, .clusterqueue = "q", .reason = "", .by = "me"};
	struct buf b;
	(void)state;
	for (size_t i = 0; i < N; i++) {
		memset(names[i], 'x', 299);
		snprintf(names[i] + 200, 100, "%zu", i);
		lines[i] = (struct quota_line){"cq/q", names[i], names[i], 1};
	}
	s.lines = lines;
	s.nlines = N;
	buf_init(&b, STORY_TEXT_MAX);
	story_fit(&s, 0, &b);
	assert_false(b.failed);
	const cJSON *o = parsed(buf_text(&b));
	int64_t left_out = 0;
	assert_int_equal(json_i64(o, "flavorsLeftOut", &left_out), 0);
	assert_int_equal(cJSON_GetArraySize(json_get(o, "flavors")) + left_out, N);
	assert_string_equal(json_text(o, "by"), "me");
	buf_done(&b);
}

/* What is signed is read back for the Job that it was written for, with the key that it was signed
 * with, as it was written; anything else is not. */
static void what_is_signed_is_read_back(void **state)
{
	static const struct quota_line lines[] = {
		{"cq/batch", "spot", "cpu", 12000}, {"cq/batch", "on-demand", "memory", 1L << 40}};
	struct story s = {.state = STORY_STARTED,
		.attempt = 2,
		.epoch = 7,
		.at_ms = 1795255110000,
		.clusterqueue = "batch",
		.by = "sluice-0",
		.sizes = 3,
		.has_priority = true,
		.priority = INT32_MIN,
		.pods = 4,
		.owner_parallelism = 8,
		.message = "a \"mac\":\"of its own",
		.lines = lines,
		.nlines = 2,
		.is_signed = true,
		.key = {{1, 2}},
		.uid = {{7}}};
	struct story_reader *r = story_reader_new();
	struct siphash_key other = {{1, 3}};
	struct uid another = {{8}};
	struct story_run run;
	struct buf b;
	(void)state;
	buf_init(&b, STORY_TEXT_MAX);
	story_fit(&s, 0, &b);
	assert_true(story_read_run(r, buf_text(&b), &s.uid, &s.key, &run));
	assert_int_equal(run.state, STORY_STARTED);
	assert_int_equal(run.attempt, 2);
	assert_int_equal(run.sizes, 3);
	assert_int_equal(run.pods, 4);
	assert_true(run.has_priority);
	assert_int_equal(run.priority, INT32_MIN);
	assert_int_equal(run.epoch, 7);
	assert_int_equal(run.at_ms, 1795255110000);
	assert_string_equal(run.clusterqueue, "batch");
	assert_int_equal(run.nlines, 2);
	assert_string_equal(run.lines[1].node, "cq/batch");
	assert_string_equal(run.lines[1].flavor, "on-demand");
	assert_string_equal(run.lines[1].resource, "memory");
	assert_int_equal(run.lines[1].amount, 1L << 40);
	assert_false(story_read_run(r, buf_text(&b), &another, &s.key, &run));
	assert_false(story_read_run(r, buf_text(&b), &s.uid, &other, &run));
	assert_false(story_read_run(r, NULL, &s.uid, &s.key, &run));
	char *text = mem_strdup(buf_text(&b));
	for (size_t i = 0; text[i]; i++) {
		text[i] ^= 1;
		assert_false(story_read_run(r, text, &s.uid, &s.key, &run));
		text[i] ^= 1;
		char cut = text[i];
		text[i] = '\0';
		assert_false(story_read_run(r, text, &s.uid, &s.key, &run));
		text[i] = cut;
	}
	free(text);
	buf_reset(&b);
	s.has_priority = false;
	story_fit(&s, 0, &b);
	assert_true(story_read_run(r, buf_text(&b), &s.uid, &s.key, &run));
	assert_false(run.has_priority);
	buf_reset(&b);
	s.is_signed = false;
	story_fit(&s, 0, &b);
	assert_false(story_read_run(r, buf_text(&b), &s.uid, &s.key, &run));
	buf_done(&b);
	story_reader_free(r);
}

/* What it holds is needed more than its priority, and what a version before did not write costs nothing. */
static void the_priority_goes_before_what_it_holds(void **state)
{
	static const struct quota_line lines[] = {{"cq/batch", "spot", "cpu", 12000}};
	struct story s = {.state = STORY_STARTED,
		.attempt = 2,
		.clusterqueue = "batch",
		.by = "me",
		.lines = lines,
		.nlines = 1,
		.is_signed = true};
	struct buf b;
	(void)state;
	buf_init(&b, STORY_TEXT_MAX);
	story_fit(&s, 0, &b);
	char *before = mem_strdup(buf_text(&b));
	s.has_priority = true;
	s.priority = -7;
	buf_reset(&b);
	story_fit(&s, 0, &b);
	assert_non_null(strstr(buf_text(&b), ",\"holds\":{\"cpu\":12000},\"priority\":-7,"));
	buf_reset(&b);
	story_fit(&s, strlen(before), &b);
	assert_string_equal(buf_text(&b), before);
	free(before);
	buf_done(&b);
}

/* Two flavors of a resource, or a line of another node: the words of a story cannot tell that, so it
 * tells nothing that could be believed. */
static void what_cannot_be_told_is_not_signed(void **state)
{
	static const struct quota_line lines[] = {
		{"cq/batch", "spot", "cpu", 1}, {"cohort/all", "spot", "memory", 1}};
	struct story s = {.state = STORY_STARTED,
		.attempt = 1,
		.clusterqueue = "batch",
		.lines = lines,
		.nlines = 2,
		.is_signed = true};
	struct buf b;
	(void)state;
	buf_init(&b, STORY_TEXT_MAX);
	story_fit(&s, 0, &b);
	assert_null(strstr(buf_text(&b), "mac"));
	assert_null(strstr(buf_text(&b), "holds"));
	buf_done(&b);
}

static void names_of_states(void **state)
{
	(void)state;
	assert_string_equal(story_state_name(STORY_NONE), "");
	assert_string_equal(story_state_name(STORY_STARTED), "Started");
	assert_string_equal(story_state_name(STORY_STOPPED), "Stopped");
	assert_string_equal(story_state_name(STORY_FENCED), "Fenced");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_reads_as_promised),
		cmocka_unit_test(what_outlives_us),
		cmocka_unit_test(a_stop_fits_where_its_start_stood),
		cmocka_unit_test(what_has_no_room_is_left_out),
		cmocka_unit_test(many_long_names_stay_under_the_ceiling),
		cmocka_unit_test(what_is_signed_is_read_back),
		cmocka_unit_test(the_priority_goes_before_what_it_holds),
		cmocka_unit_test(what_cannot_be_told_is_not_signed),
		cmocka_unit_test(names_of_states),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
