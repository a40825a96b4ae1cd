/*
 * Who is told what, and when: the reader and the streams are the test's.
 */
#include "controller/answers/watchers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "controller/common/view.h"
#include "controller/answers/watch_rows.h"
#include "base/must.h"

/* ---- the reader and the port ----------------------------------------------------------------- */

enum { ASKED_MAX = 200, SAID_MAX = 1 << 20 };

/* A question that the reader has. */
struct asked {
	uint64_t moment;
	struct job_query query;
	struct buf orders;
	bool with_columns;
	reader_answer_fn *fn;
	void *ctx;
};

static struct {
	struct asked asked[ASKED_MAX];
	size_t nasked;
	uint64_t over; /* moments up to this are */
	struct http_stream_events events;
	struct buf said;
	size_t waiting;
	bool streams, ended;
	unsigned complained; /* the status; 0: no */
	char sentence[300];
} told;

/* Nobody looks into them. */
static char question_of_somebody, stream_of_somebody;
#define QUESTION ((struct http_question *)(void *)&question_of_somebody)
#define STREAM ((struct http_stream *)(void *)&stream_of_somebody)

bool __wrap_reader_ask(
	struct reader *r, const struct reader_question *asked_for, reader_answer_fn *fn, void *ctx);
void __wrap_reader_forget(struct reader *r, const void *ctx);
const struct http *__wrap_http_of(const struct http_question *q);
void __wrap_http_answer(struct http_question *q, struct http_reply reply, const struct buf *body);
struct http_stream *__wrap_http_stream(
	struct http_question *q, const char *content_type, const struct http_stream_events *events);
void __wrap_http_stream_write(struct http_stream *s, struct slice text);
size_t __wrap_http_stream_waiting(const struct http_stream *s);
void __wrap_http_stream_end(struct http_stream *s);

bool __wrap_reader_ask(
	struct reader *r, const struct reader_question *asked_for, reader_answer_fn *fn, void *ctx)
{
	uint64_t moment = asked_for->moment;
	struct slice question = asked_for->text;
	struct asked *a = &told.asked[told.nasked];
	(void)r;
	if (moment && moment <= told.over)
		return false;
	must(told.nasked < ASKED_MAX && question.len <= READER_QUESTION_MAX);
	*a = (struct asked){.moment = moment, .fn = fn, .ctx = ctx};
	memcpy(&a->query, question.ptr, sizeof(a->query));
	must(asked_for->is_of_watch && strcmp(asked_for->ns, a->query.path_ns) == 0);
	buf_init(&a->orders, READER_QUESTION_MAX);
	if (a->query.ask == ASK_EVENTS) {
		struct job_query_events how;
		memcpy(&how, question.ptr + sizeof(a->query), sizeof(how));
		size_t from = sizeof(a->query) + sizeof(how);
		buf_add(&a->orders, question.ptr + from, question.len - from);
		a->with_columns = how.with_columns;
	}
	told.nasked++;
	return true;
}

static struct asked take_asked(size_t i)
{
	struct asked a = told.asked[i];
	memmove(&told.asked[i], &told.asked[i + 1], (told.nasked - i - 1) * sizeof(a));
	told.nasked--;
	return a;
}

void __wrap_reader_forget(struct reader *r, const void *ctx)
{
	(void)r;
	for (size_t i = told.nasked; i-- > 0;)
		if (told.asked[i].ctx == ctx) {
			struct asked a = take_asked(i);
			buf_done(&a.orders);
		}
}

const struct http *__wrap_http_of(const struct http_question *q)
{
	(void)q;
	return NULL;
}

void __wrap_http_answer(struct http_question *q, struct http_reply reply, const struct buf *body)
{
	assert_ptr_equal(q, QUESTION);
	told.complained = reply.status;
	snprintf(told.sentence, sizeof(told.sentence), "%s", buf_text(body));
}

struct http_stream *__wrap_http_stream(
	struct http_question *q, const char *content_type, const struct http_stream_events *events)
{
	assert_ptr_equal(q, QUESTION);
	assert_string_equal(content_type, "application/json");
	told.events = *events;
	told.streams = true;
	return STREAM;
}

void __wrap_http_stream_write(struct http_stream *s, struct slice text)
{
	assert_ptr_equal(s, STREAM);
	assert_false(told.ended);
	buf_add(&told.said, text.ptr, text.len);
}

size_t __wrap_http_stream_waiting(const struct http_stream *s)
{
	assert_ptr_equal(s, STREAM);
	return told.waiting;
}

void __wrap_http_stream_end(struct http_stream *s)
{
	assert_ptr_equal(s, STREAM);
	told.ended = true;
}

/* ---- the stage ------------------------------------------------------------------------------- */

static struct watchers *watchers;
static int64_t tick_ms;

static int open_stage(void **state)
{
	(void)state;
	memset(&told, 0, sizeof(told));
	buf_init(&told.said, SAID_MAX);
	watchers = watchers_new(NULL);
	tick_ms = 1000000;
	return 0;
}

static int close_stage(void **state)
{
	(void)state;
	watchers_drop(watchers, NULL);
	watchers_free(watchers);
	assert_int_equal(told.nasked, 0);
	buf_done(&told.said);
	return 0;
}

static void add_as(const char *user, const struct watch_terms *terms)
{
	struct job_query q = {.ns = "team", .limit = 500, .form = FORM_OBJECTS};
	watchers_add(watchers, QUESTION, &q, terms, user);
}

static void add(const struct watch_terms *terms)
{
	add_as("alice", terms);
}

static void tick(int64_t ms)
{
	tick_ms += ms;
	watchers_tick(watchers, tick_ms);
}

/* "a1 b2": a Job for each word, its name and what is known of it. "a1!" is another Job of the name. */
static void put_rows(const char *words, struct buf *out)
{
	for (const char *at = words; *at; at += *at == ' ') {
		size_t len = strcspn(at, " ");
		struct watch_row r = {.digest = (uint64_t)at[1],
			.ns = slice_of("team"),
			.name = {at, 1},
			.localqueue = slice_of("main")};
		r.uid.byte[0] = at[len - 1] == '!' ? (uint8_t)(at[0] ^ 64) : (uint8_t)at[0];
		watch_row_put(out, &r);
		at += len;
	}
}

static void answer(
	struct asked *a, uint64_t moment, const char *sentence, int code, const struct buf *body)
{
	struct reader_answer r = {
		.code = code, .sentence = sentence, .moment = moment, .body = buf_slice(body)};
	a->fn(&r, a->ctx);
	buf_done(&a->orders);
}

/* The reader has that many rows. */
static void have(const char *words, uint64_t moment)
{
	struct buf body;
	assert_int_equal(told.nasked, 1);
	struct asked a = take_asked(0);
	assert_int_equal(a.query.ask, ASK_ROWS);
	assert_int_equal(a.query.limit, 0);
	buf_init(&body, SAID_MAX);
	put_rows(words, &body);
	answer(&a, moment, NULL, 0, &body);
	buf_done(&body);
}

/* The reader puts what was ordered into words: "+a@7168 " */
static void put_into_words(void)
{
	struct watch_order o;
	struct buf body;
	assert_int_equal(told.nasked, 1);
	struct asked a = take_asked(0);
	assert_int_equal(a.query.ask, ASK_EVENTS);
	buf_init(&body, SAID_MAX);
	if (a.with_columns)
		buf_puts(&body, "columns ");
	struct slice orders = buf_slice(&a.orders);
	while (watch_order_take(&orders, &o)) {
		uint64_t moment = o.version / WATCH_PARTS;
		buf_printf(&body, "%c%.*s@%u", "+~-"[o.event], (int)o.row.name.len, o.row.name.ptr,
			(unsigned)moment);
		if (!watch_moment(o.version))
			buf_printf(&body, ".%u", (unsigned)(o.version % WATCH_PARTS));
		buf_putc(&body, ' ');
	}
	answer(&a, a.moment, NULL, 0, &body);
	buf_done(&body);
}

static void said(const char *text)
{
	assert_string_equal(buf_text(&told.said), text);
	buf_reset(&told.said);
}

static const struct watch_terms ALL = {.tells_all = true}, FROM_NOW = {0};

/* A watch that knows these rows of moment 10. */
static void begin(const char *rows)
{
	add(&FROM_NOW);
	have(rows, 10);
	assert_true(told.streams);
	assert_int_equal(told.nasked, 0);
	said("");
}

/* ---- what is told ---------------------------------------------------------------------------- */

static void at_first_all_is_added(void **state)
{
	(void)state;
	add(&ALL);
	have("a1 b1", 10);
	put_into_words();
	said("columns +a@9.1 +b@10 ");
	assert_int_equal(told.nasked, 0);
	tick(1000);
	have("a1 b1", 20);
	said("");
}

static void then_what_is_different(void **state)
{
	(void)state;
	static const struct {
		const char *name, *before, *after, *says;
	} cases[] = {
		{"nothing", "a1 b1", "a1 b1", ""},
		{"one comes", "a1 c1", "a1 b1 c1", "columns +b@20 "},
		{"before all", "b1", "a1 b1", "columns +a@20 "},
		{"behind all", "a1", "a1 b1", "columns +b@20 "},
		{"one goes", "a1 b1 c1", "a1 c1", "columns -b@20 "},
		{"the last one goes", "a1", "", "columns -a@20 "},
		{"one changes", "a1 b1", "a1 b2", "columns ~b@20 "},
		{"all of it", "a1 b1 d1", "a2 c1 d1", "columns ~a@10.1 -b@10.2 +c@20 "},
		{"another Job of the name", "a1 b1", "a1! b1", "columns -a@10.1 +a@20 "},
		{"which was another before", "a1! b1", "a1 b1", "columns -a@10.1 +a@20 "},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("  %s\n", cases[i].name);
		begin(cases[i].before);
		tick(1000);
		have(cases[i].after, 20);
		if (told.nasked > 0)
			put_into_words();
		said(cases[i].says);
		tick(1000);
		have(cases[i].after, 30);
		said("");
		watchers_drop(watchers, NULL);
		close_stage(NULL);
		open_stage(NULL);
	}
}

static void columns_are_told_once(void **state)
{
	(void)state;
	begin("a1");
	tick(1000);
	have("a2", 20);
	put_into_words();
	tick(1000);
	have("a3", 30);
	put_into_words();
	said("columns ~a@20 ~a@30 ");
}

static void what_was_not_told_is_still_different(void **state)
{
	(void)state;
	begin("a1 b1");
	tick(1000);
	have("a2 b2", 20);
	struct asked a = take_asked(0);
	answer(&a, 0, "it ended", ERR_BUSY, &(struct buf){0});
	said("");
	tick(1000);
	have("a2 b1", 30);
	put_into_words();
	said("columns ~a@30 ");
	told.over = 40; /* between rows and words */
	tick(1000);
	have("a3 b1", 40);
	assert_int_equal(told.nasked, 0);
	tick(1000);
	have("a3 b1", 50);
	put_into_words();
	said("~a@50 ");
}

static void a_reader_that_fails_is_asked_again(void **state)
{
	(void)state;
	begin("a1");
	for (int i = 0; i < 3; i++) {
		tick(1000);
		struct asked a = take_asked(0);
		answer(&a, 0, "it ended", ERR_BUSY, &(struct buf){0});
	}
	assert_false(told.ended);
	tick(1000);
	tick(1000); /* one question at a time */
	have("a1", 20);
}

/* More Jobs than go into one question. */
static void many(char digest, struct buf *out)
{
	for (int i = 0; i < 2000; i++) {
		char name[16];
		snprintf(name, sizeof(name), "%05d", i);
		struct watch_row r = {
			.digest = (uint64_t)digest, .ns = slice_of("team"), .name = slice_of(name)};
		watch_row_put(out, &r);
	}
}

static void have_many(char digest, uint64_t moment)
{
	struct buf body;
	assert_int_equal(told.nasked, 1);
	struct asked a = take_asked(0);
	buf_init(&body, SAID_MAX);
	many(digest, &body);
	answer(&a, moment, NULL, 0, &body);
	buf_done(&body);
}

static void a_slow_client_gets_no_more_than_it_takes(void **state)
{
	(void)state;
	add(&ALL);
	have_many('1', 10);
	told.waiting = 2 << 20;
	put_into_words();
	assert_int_equal(told.nasked, 0);
	tick(1000);
	assert_int_equal(told.nasked, 0);
	assert_non_null(strstr(buf_text(&told.said), "+00199@9.200 "));
	assert_null(strstr(buf_text(&told.said), "+00200@"));
	told.waiting = 0;
	told.events.drained(told.events.ctx);
	for (int i = 0; i < 9; i++)
		put_into_words();
	assert_non_null(strstr(buf_text(&told.said), "+01999@10 "));
	assert_int_equal(told.nasked, 0);
	told.events.drained(told.events.ctx);
	assert_int_equal(told.nasked, 0);
}

static void what_came_half_way_goes_on_from_there(void **state)
{
	(void)state;
	add(&ALL);
	have_many('1', 10);
	told.over = 10;
	put_into_words(); /* and the next question finds that moment over */
	assert_int_equal(told.nasked, 0);
	buf_reset(&told.said);
	tick(1000);
	have_many('1', 20);
	put_into_words();
	assert_int_equal(strncmp(buf_text(&told.said), "+00200@", 7), 0);
	while (told.nasked > 0)
		put_into_words();
	assert_non_null(strstr(buf_text(&told.said), "+01999@20 "));
}

static void many_are_compared_less_often(void **state)
{
	(void)state;
	add(&FROM_NOW);
	have_many('1', 10);
	unsigned asked = 0;
	for (uint64_t i = 0; i < 20; i++) {
		tick(1000);
		asked += told.nasked;
		if (told.nasked > 0)
			have_many('1', 20 + i);
	}
	assert_int_equal(asked, 4);
}

/* ---- how it begins --------------------------------------------------------------------------- */

static void it_goes_on_from_the_list_that_the_client_has(void **state)
{
	(void)state;
	add(&(struct watch_terms){.version = watch_version(7, 0)});
	assert_int_equal(told.asked[0].moment, 7);
	have("a1 b1", 7);
	said("");
	tick(1000);
	assert_int_equal(told.asked[0].moment, 0);
	have("a1 b2", 20);
	put_into_words();
	said("columns ~b@20 ");
}

static void a_list_that_is_gone_is_to_be_asked_for_anew(void **state)
{
	(void)state;
	told.over = 7;
	static const uint64_t versions[] = {7 * WATCH_PARTS, 8 * WATCH_PARTS + 1, 5};
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		told.complained = 0;
		add(&(struct watch_terms){.version = versions[i]});
		assert_int_equal(told.complained, 410);
		assert_non_null(strstr(told.sentence, "\"reason\":\"Expired\""));
		assert_false(told.streams);
	}
}

static void the_end_of_all_is_marked(void **state)
{
	(void)state;
	add(&(struct watch_terms){.tells_all = true, .marks_end_of_all = true, .bookmarks = true});
	have("a1", 10);
	put_into_words();
	said("columns +a@10 {\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"QueuedJob\",\"apiVersion\":\"visibility.sluice.dev/v1alpha1\","
	     "\"metadata\":{\"resourceVersion\":\"10240\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n");
	tick(1000);
	have("a1", 20);
	said("");
}

static void too_many_are_told_to_come_later(void **state)
{
	(void)state;
	for (int i = 0; i < WATCHERS_EACH_MAX; i++)
		add_as("alice", &ALL);
	assert_int_equal(told.complained, 0);
	add_as("alice", &ALL);
	assert_int_equal(told.complained, 429);
	assert_non_null(strstr(told.sentence, "TooManyRequests"));
	assert_non_null(strstr(told.sentence, "you have 20 watches"));
	told.complained = 0;
	for (int i = WATCHERS_EACH_MAX; i < WATCHERS_MAX; i++) {
		char user[20];
		snprintf(user, sizeof(user), "user-%d", i);
		add_as(user, &ALL);
	}
	assert_int_equal(told.complained, 0);
	add_as("bob", &ALL);
	assert_int_equal(told.complained, 429);
	assert_non_null(strstr(told.sentence, "there are 100 watches"));
	watchers_end(watchers, "we lead no more");
	assert_int_equal(told.complained, 503);
	assert_non_null(strstr(told.sentence, "we lead no more"));
}

static void one_namespace_takes_no_more_than_its_part(void **state)
{
	(void)state;
	struct job_query of_a = {.path_ns = "a", .ns = "a", .limit = 500, .form = FORM_OBJECTS};
	for (int i = 0; i < WATCHERS_NS_MAX; i++) {
		char user[20];
		snprintf(user, sizeof(user), "user-%d", i);
		watchers_add(watchers, QUESTION, &of_a, &ALL, user);
	}
	assert_int_equal(told.complained, 0);
	watchers_add(watchers, QUESTION, &of_a, &ALL, "mallory");
	assert_int_equal(told.complained, 429);
	assert_non_null(strstr(told.sentence, "25 watches of queuedjobs in this namespace"));
	told.complained = 0;
	add_as("bob", &ALL);
	assert_int_equal(told.complained, 0);
	watchers_end(watchers, "we lead no more");
}

static void a_first_round_that_fails_is_an_answer(void **state)
{
	(void)state;
	static const struct {
		int code;
		unsigned status;
	} cases[] = {{ERR_BUSY, 503}, {ERR_LIMIT, 413}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		add(&ALL);
		struct asked a = take_asked(0);
		answer(&a, 0, "it ended", cases[i].code, &(struct buf){0});
		assert_int_equal(told.complained, cases[i].status);
		assert_false(told.streams);
	}
}

/* ---- how it ends ----------------------------------------------------------------------------- */

static void it_ends_in_its_time_with_a_bookmark(void **state)
{
	(void)state;
	add(&(struct watch_terms){.bookmarks = true, .timeout_ms = 70000});
	have("a1", 10);
	tick(1000);
	have("a1", 20);
	tick(60000);
	assert_non_null(strstr(buf_text(&told.said), "\"resourceVersion\":\"20480\""));
	buf_reset(&told.said);
	have("a1", 30);
	assert_false(told.ended);
	tick(10000);
	assert_true(told.ended);
	assert_non_null(strstr(buf_text(&told.said), "\"resourceVersion\":\"30720\""));
	assert_int_equal(told.nasked, 0);
}

static void it_lasts_half_an_hour_at_least(void **state)
{
	(void)state;
	begin("a1");
	tick(1000);
	have("a1", 20);
	tick(30 * 60000 - 1);
	assert_false(told.ended);
	tick(30 * 60000);
	assert_true(told.ended);
	said("");
}

static void a_client_that_goes_is_forgotten(void **state)
{
	(void)state;
	begin("a1");
	tick(1000);
	assert_int_equal(told.nasked, 1);
	told.events.closed(told.events.ctx);
	assert_int_equal(told.nasked, 0);
	tick(1000);
	assert_int_equal(told.nasked, 0);
}

static void it_ends_when_we_do_not_lead(void **state)
{
	(void)state;
	begin("a1");
	watchers_end(watchers, "we lead no more");
	assert_true(told.ended);
	assert_int_equal(told.complained, 0);
}

static void too_many_jobs_end_it_with_a_word(void **state)
{
	(void)state;
	begin("a1");
	tick(1000);
	struct asked a = take_asked(0);
	answer(&a, 0, "too large", ERR_LIMIT, &(struct buf){0});
	assert_true(told.ended);
	assert_non_null(strstr(buf_text(&told.said),
		"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\""));
	assert_non_null(strstr(buf_text(&told.said), "\"code\":413"));
}

/* ---- terms ----------------------------------------------------------------------------------- */

static void terms_are_as_kubernetes_has_them(void **state)
{
	(void)state;
	static const struct {
		struct watch_words words;
		struct watch_terms terms;
	} cases[] = {
		{{0}, {.tells_all = true}},
		{{.version = ""}, {.tells_all = true}},
		{{.version = "0"}, {.tells_all = true}},
		{{.version = "7168"}, {.version = 7168}},
		{{.version = "7168", .initial = "true", .bookmarks = "true"},
			{.tells_all = true, .marks_end_of_all = true, .bookmarks = true}},
		{{.initial = "true"}, {.tells_all = true}},
		{{.initial = "false", .bookmarks = "true"}, {.bookmarks = true}},
		{{.initial = "false", .version = "7168"}, {.version = 7168}},
		{{.bookmarks = "1", .timeout = "300"},
			{.tells_all = true, .bookmarks = true, .timeout_ms = 300000}},
		{{.initial = "FALSE"}, {0}},
		{{.timeout = "0"}, {.tells_all = true}},
		{{.timeout = "99999999"}, {.tells_all = true, .timeout_ms = 86400000}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct watch_terms t;
		const struct watch_terms *wanted = &cases[i].terms;
		struct err e = {""};
		assert_int_equal(watch_terms_take(&t, &cases[i].words, &e), 0);
		assert_int_equal(t.tells_all, wanted->tells_all);
		assert_int_equal(t.marks_end_of_all, wanted->marks_end_of_all);
		assert_int_equal(t.bookmarks, wanted->bookmarks);
		assert_int_equal(t.version, wanted->version);
		assert_int_equal(t.timeout_ms, wanted->timeout_ms);
	}
}

static void terms_that_make_no_sense_are_refused(void **state)
{
	(void)state;
	static const struct {
		struct watch_words words;
		const char *says;
	} cases[] = {
		{{.version = "abc"}, "resourceVersion is \"abc\""},
		{{.version = "-1"}, "resourceVersion is \"-1\""},
		{{.version = "99999999999999999999999"}, "resourceVersion"},
		{{.timeout = "5m"}, "timeoutSeconds is \"5m\""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct watch_terms t;
		struct err e = {""};
		assert_int_equal(watch_terms_take(&t, &cases[i].words, &e), ERR_INVALID);
		assert_non_null(strstr(e.text, cases[i].says));
	}
	assert_false(watch_wanted(&(struct watch_words){0}));
	assert_false(watch_wanted(&(struct watch_words){.watch = "false"}));
	assert_false(watch_wanted(&(struct watch_words){.watch = "0"}));
	assert_true(watch_wanted(&(struct watch_words){.watch = "1"}));
	assert_true(watch_wanted(&(struct watch_words){.watch = "true"}));
}

/* ---- digests --------------------------------------------------------------------------------- */

static void what_passes_with_the_clock_does_not_count(void **state)
{
	(void)state;
	static const struct {
		const char *sentence, *counts;
	} cases[] = {
		{"", ""},
		{"needs 12 cpu in flavor spot; 3 Jobs are ahead of it",
			"needs 12 cpu in flavor spot; 3 Jobs are ahead of it"},
		{"closes in 1h03m, in 12m05s, in 7s", "closes in , in , in "},
		{"until 2026-11-21T10:17:05Z.", "until 2026-11-21T10:1."},
		{"64Gi of a100m, 5 d", "64Gi of a100m, 5 d"},
		{"opens Mon 08:00", "opens Mon 08:00"},
	};
	struct buf out;
	buf_init(&out, 1000);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buf_reset(&out);
		view_digest_sentence(&out, cases[i].sentence);
		assert_string_equal(buf_text(&out), cases[i].counts);
	}
	buf_done(&out);
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, open_stage, close_stage)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED(at_first_all_is_added),
		STAGED(then_what_is_different),
		STAGED(columns_are_told_once),
		STAGED(what_was_not_told_is_still_different),
		STAGED(a_reader_that_fails_is_asked_again),
		STAGED(a_slow_client_gets_no_more_than_it_takes),
		STAGED(what_came_half_way_goes_on_from_there),
		STAGED(many_are_compared_less_often),
		STAGED(it_goes_on_from_the_list_that_the_client_has),
		STAGED(a_list_that_is_gone_is_to_be_asked_for_anew),
		STAGED(the_end_of_all_is_marked),
		STAGED(too_many_are_told_to_come_later),
		STAGED(one_namespace_takes_no_more_than_its_part),
		STAGED(a_first_round_that_fails_is_an_answer),
		STAGED(it_ends_in_its_time_with_a_bookmark),
		STAGED(it_lasts_half_an_hour_at_least),
		STAGED(a_client_that_goes_is_forgotten),
		STAGED(it_ends_when_we_do_not_lead),
		STAGED(too_many_jobs_end_it_with_a_word),
		cmocka_unit_test(terms_are_as_kubernetes_has_them),
		cmocka_unit_test(terms_that_make_no_sense_are_refused),
		cmocka_unit_test(what_passes_with_the_clock_does_not_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
