/* `sluice top`: what is drawn of which answers, and what keys do. Without a terminal and a server. */
#include "test/unit/kube/test.h"

#include <time.h>

#include "cli/top/layout.h"
#include "cli/top/options.h"
#include "cli/top/orders.h"
#include "test/golden/golden.h"

#define NOW_MS 1795694400000 /* 2026-11-26T12:00:00Z */

/* ---- the stage ------------------------------------------------------------------------------- */

#define SUMMARY                                                                                    \
	"{\"kind\":\"SummaryReport\",\"running\":{\"jobs\":14},\"starting\":1,\"stopping\":2,"     \
	"\"waiting\":{\"jobs\":287,\"oldestQueuedAt\":\"2026-11-26T11:33:00Z\"},"                  \
	"\"reasons\":[{\"reason\":\"WaitingForQuota\",\"waitsFor\":\"quota\",\"jobs\":174,"        \
	"\"until\":\"2026-11-26T12:02:30Z\",\"untilIs\":\"NextStart\",\"needsChange\":false},"     \
	"{\"reason\":\"OutsideWindow\",\"waitsFor\":\"its window to open\",\"jobs\":86,"           \
	"\"until\":\"2026-11-29T08:00:00Z\",\"untilIs\":\"Opening\",\"needsChange\":false},"       \
	"{\"reason\":\"WaitingForDependency\",\"waitsFor\":\"other Jobs\",\"jobs\":12,"            \
	"\"needsChange\":false},{\"reason\":\"OnHold\",\"waitsFor\":\"on hold\",\"jobs\":4,"       \
	"\"needsChange\":true}],\"attentionJobs\":5,\"attentionWords\":[{\"word\":"                \
	"\"NoNodeSuits\",\"jobs\":4},{\"word\":\"ErrImagePull\",\"jobs\":1}],\"groups\":["         \
	"{\"key\":\"training\",\"running\":13,\"waiting\":117,\"nextStart\":{\"at\":"              \
	"\"2026-11-26T12:02:30Z\",\"p90\":\"2026-11-26T12:05:00Z\"},\"waitsFor\":\"quota\"},"      \
	"{\"key\":\"night\",\"running\":0,\"waiting\":106,\"nextStart\":{\"at\":"                  \
	"\"2026-11-29T08:00:00Z\"},\"waitsFor\":\"its window to open\"},"                          \
	"{\"key\":\"rep\\u001b[2Jorts\",\"running\":1,\"waiting\":64}],"                           \
	"\"others\":[{\"clusterQueue\":\"training\",\"running\":3,\"waiting\":46,\"ahead\":12}]}"

#define QUEUE(name, held, quota)                                                                   \
	"{\"metadata\":{\"name\":\"" name "\"},\"status\":{\"flavorsReservation\":[{\"name\":"     \
	"\"spot\",\"resources\":[{\"name\":\"memory\",\"total\":\"64Gi\",\"nominal\":\"256Gi\"},"  \
	"{\"name\":\"cpu\",\"total\":\"" held "\",\"nominal\":\"" quota "\"}]}]}}"
#define QUEUES                                                                                     \
	"{\"clusterQueues\":[" QUEUE("training", "104", "104") "," QUEUE("night", "0", "64") "]}"

#define JOB(name, state, rest)                                                                     \
	"{\"metadata\":{\"namespace\":\"vision\",\"name\":\"" name "\"},\"spec\":{\"queue\":"      \
	"\"main\",\"clusterQueue\":\"training\",\"submittedBy\":\"mia\"},\"status\":{\"state\":"   \
	"\"" state "\"" rest "}}"
#define JOBS                                                                                                  \
	"{\"metadata\":{\"remainingItemCount\":37},\"items\":[" JOB("big", "Running",                         \
		",\"startedAt\":\"2026-11-26T11:42:00Z\"") "," JOB("pullerr", "Running",                      \
		",\"startedAt\":\"2026-11-26T11:58:00Z\",\"trouble\":{\"reason\":"                            \
		"\"ErrImagePull\"}") "," JOB("train-2", "Waiting",                                            \
		",\"position\":1,\"waitsFor\":\"quota\",\"start\":{\"p50\":"                                  \
		"\"2026-11-26T12:02:30Z\",\"p90\":\"2026-11-26T12:05:00Z\"}") "," JOB("night-1",              \
		"Waiting",                                                                                    \
		",\"waitsFor\":\"its window to open\",\"startAt\":\"2026-11-29T08:00:00Z\"") "," JOB("cheap", \
		"Waiting",                                                                                    \
		",\"waitsFor\":\"a lower price\",\"startAt\":\"2026-11-26T21:00:00Z\"") "," JOB("late",       \
		"Waiting",                                                                                    \
		",\"start\":{\"p50\":\"2026-12-02T08:00:00Z\"}") "," JOB("ev\\u001b[31mil\\n",                \
		"Waiting", ",\"waitsFor\":\"\\u009b2J\"") "]}"

struct stage {
	struct json *json[3];
	struct top_answers answers;
	struct top_view view;
	struct buf text;
};

static const cJSON *parsed(struct stage *s, int i, const char *text)
{
	const cJSON *root = NULL;
	struct err e = {""};
	s->json[i] = json_new(1 << 20);
	if (json_parse(s->json[i], slice_of(text), &root, &e) != 0)
		fail_msg("%s", e.text);
	return root;
}

static void stage_open(struct stage *s)
{
	*s = (struct stage){.answers = {.at_ms = NOW_MS}};
	setenv("TZ", "CET", 1);
	tzset();
	s->answers.summary = parsed(s, 0, SUMMARY);
	s->answers.queues = parsed(s, 1, QUEUES);
	s->answers.jobs = parsed(s, 2, JOBS);
	top_view_init(&s->view);
	top_view_take(&s->view, s->answers.jobs);
	buf_init(&s->text, 1 << 20);
}

static void stage_close(struct stage *s)
{
	for (int i = 0; i < 3; i++)
		json_free(s->json[i]);
	top_view_done(&s->view);
	buf_done(&s->text);
}

/* Draws, and checks that it fits. */
static const char *drawn(struct stage *s, size_t rows, size_t columns, bool colours)
{
	size_t lines = 0;
	buf_reset(&s->text);
	top_draw(&(struct top_picture){&s->answers, &s->view, rows, columns, NOW_MS,
			 {.colours = colours, .unicode = true}},
		&s->text);
	for (const char *at = buf_text(&s->text); *at; lines++) {
		size_t len = strcspn(at, "\n");
		if (columns > 0)
			assert_true(text_width(at, len) <= columns);
		at += len + 1;
	}
	if (rows > 0)
		assert_int_equal(lines, rows);
	return buf_text(&s->text);
}

static enum top_wish press(struct stage *s, const char *keys)
{
	struct slice bytes = slice_of(keys);
	struct top_press p;
	enum top_wish wish = TOP_NOTHING;
	while (top_press_take(&bytes, &p))
		wish = top_view_press(&s->view, &p, s->answers.jobs);
	return wish;
}

/* ---- what is drawn --------------------------------------------------------------------------- */

static void a_screen_of_each_size(void **state)
{
	static const struct {
		size_t rows, columns;
	} sizes[] = {{24, 80}, {40, 120}, {50, 200}, {12, 40}, {8, 30}, {3, 20}, {1, 1}, {0, 0}};
	struct stage s;
	(void)state;
	stage_open(&s);
	for (size_t i = 0; i < ROWS(sizes); i++) {
		drawn(&s, sizes[i].rows, sizes[i].columns, false);
		char about[40];
		snprintf(about, sizeof(about), "%zu x %zu", sizes[i].columns, sizes[i].rows);
		golden_add(__func__, about, buf_slice(&s.text));
	}
	drawn(&s, 24, 80, true);
	golden_add(__func__, "in colours", buf_slice(&s.text));
	stage_close(&s);
}

static void one_namespace_without_quota_and_an_old_answer(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	s.answers.ns = "vision";
	s.answers.queues = NULL;
	s.answers.at_ms = NOW_MS - 42000;
	err_set(&s.answers.trouble, 0, "the API does not\nanswer");
	drawn(&s, 24, 100, false);
	assert_non_null(strstr(buf_text(&s.text), "of 42s ago: the API does not?answer"));
	assert_non_null(strstr(buf_text(&s.text), "AHEAD"));
	assert_null(strstr(buf_text(&s.text), "vision/"));
	golden_add(__func__, "", buf_slice(&s.text));
	stage_close(&s);
}

static void no_text_of_a_job_is_obeyed(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	drawn(&s, 60, 160, false);
	assert_null(strchr(buf_text(&s.text), '\033'));
	assert_null(strstr(buf_text(&s.text), "\xC2\x9B"));
	assert_non_null(strstr(buf_text(&s.text), "vision/ev?[31mil?"));
	top_view_say(&s.view, "Job x\033[2J is on hold\nand more");
	top_view_open_pane(&s.view, "line\033]0;title\007\nnext");
	drawn(&s, 24, 80, false);
	assert_null(strchr(buf_text(&s.text), '\033'));
	assert_null(strchr(buf_text(&s.text), '\007'));
	assert_non_null(strstr(buf_text(&s.text), "Job x?[2J is on hold\n"));
	stage_close(&s);
}

static void a_pane_is_wrapped_and_scrolled(void **state)
{
	struct stage s;
	struct buf text;
	(void)state;
	stage_open(&s);
	buf_init(&text, 65536);
	buf_puts(&text,
		"needs 12 cpu in flavor spot, of which none is free; 3 Jobs are ahead of it\n");
	for (int i = 1; i <= 40; i++)
		buf_printf(&text, "line %d\n", i);
	top_view_open_pane(&s.view, buf_text(&text));
	drawn(&s, 16, 40, false);
	golden_add(__func__, "from its beginning", buf_slice(&s.text));
	assert_int_equal(press(&s, "\033[6~\033[B"), TOP_NOTHING);
	assert_non_null(strstr(drawn(&s, 16, 40, false), "\nline 11\n"));
	assert_int_equal(press(&s, "h"), TOP_NOTHING);
	press(&s, "\033");
	assert_false(s.view.has_pane);
	buf_done(&text);
	stage_close(&s);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void keys_move_the_cursor(void **state)
{
	static const struct {
		const char *keys, *name;
	} rows[] = {{"\033[B", "pullerr"}, {"\033OB\033[B", "night-1"}, {"\033[A", "train-2"},
		{"\033[F", "ev\033[31mil\n"}, {"\033[B", "ev\033[31mil\n"}, {"\033[5~", "big"},
		{"\033[A", "big"}, {"\033[6~\033[A", "late"}, {"\033[1~", "big"},
		{"\033[Z\001x", "big"}};
	struct stage s;
	(void)state;
	stage_open(&s);
	for (size_t i = 0; i < ROWS(rows); i++) {
		assert_int_equal(press(&s, rows[i].keys), TOP_NOTHING);
		assert_string_equal(s.view.name, rows[i].name);
	}
	stage_close(&s);
}

static void the_cursor_stays_with_its_job(void **state)
{
	struct stage s;
	struct json *json = json_new(1 << 20);
	const cJSON *less = NULL;
	(void)state;
	stage_open(&s);
	press(&s, "\033[B\033[B");
	assert_string_equal(s.view.name, "train-2");
	assert_int_equal(json_parse(json,
				 slice_of("{\"items\":[" JOB("train-2", "Running", "") "," JOB(
					 "new", "Waiting", "") "]}"),
				 &less, NULL),
		0);
	top_view_take(&s.view, less);
	assert_string_equal(s.view.name, "train-2");
	assert_int_equal(s.view.cursor, 0);
	press(&s, "\033[B");
	top_view_take(&s.view, NULL);
	assert_null(top_view_job(&s.view));
	assert_int_equal(press(&s, "h"), TOP_NOTHING);
	assert_int_equal(press(&s, "e"), TOP_NOTHING);
	json_free(json);
	stage_close(&s);
}

static void a_filter_is_typed(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	press(&s, "/NIGHTx\177");
	assert_true(s.view.is_filtering);
	assert_int_equal(s.view.nfound, 1);
	assert_string_equal(s.view.name, "night-1");
	assert_non_null(strstr(drawn(&s, 24, 80, false), "\n/NIGHT_  1 Jobs\n"));
	assert_int_equal(press(&s, "\rq"), TOP_QUIT);
	press(&s, "\033");
	assert_int_equal(s.view.nfound, 7);
	press(&s, "/errimage\r");
	assert_string_equal(s.view.name, "pullerr");
	press(&s, "/\033");
	assert_int_equal(s.view.nfound, 7);
	press(&s, "/q"); /* a letter like any other */
	assert_string_equal(s.view.filter, "q");
	stage_close(&s);
}

static void what_cannot_be_undone_takes_two(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	assert_int_equal(press(&s, "h"), TOP_NOTHING);
	assert_non_null(strstr(s.view.said, "vision/big runs: h again stops it"));
	assert_int_equal(press(&s, "h"), TOP_HOLD);
	assert_int_equal(press(&s, "h\033[Bh"), TOP_NOTHING); /* of another Job */
	assert_int_equal(press(&s, "\033[Bh"), TOP_HOLD);     /* that waits */
	assert_string_equal(s.view.name, "train-2");
	assert_int_equal(press(&s, "r"), TOP_RELEASE);
	assert_int_equal(press(&s, "e"), TOP_EXPLAIN);
	assert_int_equal(press(&s, "\r"), TOP_EXPLAIN);
	stage_close(&s);
}

/* What changes the list under a warning takes the warning back. */
static void a_warning_is_of_the_job_that_was_shown(void **state)
{
	struct stage s;
	struct json *json = json_new(1 << 20);
	const cJSON *other = NULL;
	(void)state;
	stage_open(&s);
	assert_int_equal(press(&s, "h"), TOP_NOTHING);
	assert_int_equal(
		json_parse(json, slice_of("{\"items\":[" JOB("another", "Running", "") "]}"),
			&other, NULL),
		0);
	top_view_take(&s.view, other);
	assert_int_equal(press(&s, "h"), TOP_NOTHING);
	assert_non_null(strstr(s.view.said, "vision/another runs"));
	json_free(json);
	stage_close(&s);
}

struct late_key {
	const char *keys, *list; /* pressed on JOBS, carried out on this list */
	enum top_wish wish;
	const char *name, *said; /* of which Job, or what is said instead */
};

static void check_late_key(const struct late_key *row)
{
	struct stage s;
	struct top_orders o = {.n = 0};
	struct top_order done = {.wish = TOP_NOTHING};
	struct json *json = json_new(1 << 20);
	const cJSON *next = NULL;
	char list[2000];
	stage_open(&s);
	snprintf(list, sizeof(list), "{\"items\":[%s]}", row->list);
	assert_int_equal(json_parse(json, slice_of(list), &next, NULL), 0);
	top_orders_press(&o, &s.view, slice_of(row->keys), s.answers.jobs);
	top_view_take(&s.view, next);
	assert_int_equal(top_orders_take(&o, &s.view, next, &done), row->wish != TOP_NOTHING);
	if (row->wish != TOP_NOTHING) {
		assert_int_equal(done.wish, row->wish);
		assert_string_equal(done.name, row->name);
	}
	assert_string_equal(s.view.said, row->said);
	assert_false(top_orders_take(&o, &s.view, next, &done));
	json_free(json);
	stage_close(&s);
}

#define TRAIN_2 "\033[B\033[B" /* the keys to train-2, which waits */
#define GONE(name) "vision/" name " is no longer in the list: nothing was done"

static void a_key_is_of_the_job_that_was_shown(void **state)
{
	static const struct late_key rows[] = {
		{TRAIN_2 "h", JOB("new", "Waiting", "") "," JOB("train-2", "Waiting", ""), TOP_HOLD,
			"train-2", ""},
		{TRAIN_2 "h", JOB("new", "Waiting", "") "," JOB("new-2", "Waiting", ""),
			TOP_NOTHING, NULL, GONE("train-2")},
		{TRAIN_2 "r", JOB("new", "Waiting", ""), TOP_NOTHING, NULL, GONE("train-2")},
		{"e", JOB("new", "Waiting", ""), TOP_NOTHING, NULL, GONE("big")},
		{"hh", JOB("pullerr", "Running", ""), TOP_NOTHING, NULL, GONE("big")},
		{"hh", JOB("pullerr", "Running", "") "," JOB("big", "Running", ""), TOP_HOLD, "big",
			""},
		{TRAIN_2 "h", JOB("train-2", "Starting", ""), TOP_NOTHING, NULL,
			"vision/train-2 runs by now: nothing was done, for a hold would stop it"},
		{"ehh", JOB("big", "Running", ""), TOP_EXPLAIN, "big", ""},
		{TRAIN_2 "h\033[A\033[A",
			JOB("big", "Running", "") "," JOB("train-2", "Waiting", ""), TOP_HOLD,
			"train-2", ""},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++)
		check_late_key(&rows[i]);
}

static void q_is_heard_behind_any_keys(void **state)
{
	static const char *const rows[] = {"q", "hq", "eq", "e\033[Bhq",
		"eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeq",
		TRAIN_2 "hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhq",
		"/q" /* a letter like any other: the last row */};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct stage s;
		struct top_orders o = {.n = 0};
		stage_open(&s);
		top_orders_press(&o, &s.view, slice_of(rows[i]), s.answers.jobs);
		assert_int_equal(top_orders_quit(&o), i + 1 < ROWS(rows));
		stage_close(&s);
	}
}

static int parse(const char *a, const char *b, const char *c, struct err *e)
{
	static char name[] = "top";
	char *argv[5] = {name, (char *)(uintptr_t)a, (char *)(uintptr_t)b, (char *)(uintptr_t)c};
	struct top_options o;
	int argc = 1;
	while (argv[argc])
		argc++;
	return flags_read(&top_flags, argc, argv, &o, e);
}

static void it_takes_namespaces_alone(void **state)
{
	struct err e = {""};
	(void)state;
	assert_int_equal(parse("job/x", NULL, NULL, &e), ERR_INVALID);
	assert_non_null(strstr(e.text, "it takes no names"));
	assert_int_equal(parse("-A", "-n", "x", &e), ERR_INVALID);
	assert_int_equal(parse("-A", NULL, NULL, &e), 0);
	assert_int_equal(parse(NULL, NULL, NULL, &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_screen_of_each_size),
		cmocka_unit_test(one_namespace_without_quota_and_an_old_answer),
		cmocka_unit_test(no_text_of_a_job_is_obeyed),
		cmocka_unit_test(a_pane_is_wrapped_and_scrolled),
		cmocka_unit_test(keys_move_the_cursor),
		cmocka_unit_test(the_cursor_stays_with_its_job),
		cmocka_unit_test(a_filter_is_typed),
		cmocka_unit_test(what_cannot_be_undone_takes_two),
		cmocka_unit_test(a_warning_is_of_the_job_that_was_shown),
		cmocka_unit_test(a_key_is_of_the_job_that_was_shown),
		cmocka_unit_test(q_is_heard_behind_any_keys),
		cmocka_unit_test(it_takes_namespaces_alone),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
