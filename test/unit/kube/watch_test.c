#include "test.h"

#include <unistd.h>

#include "controller/kube/watch.h"
#include "scripted_server.h"

/* What happened, as text: "b" begin, "+name" added, "~name" modified, "-name" deleted, "e" end,
 * "!" trouble; where it is listened to, "@version" seen, and "<7>5" when it went back from 7 to 5. */
struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct kube_watch *watch;
	struct buf story;
	char trouble[512];
	int ends;
	const char *free_at; /* free the watch when this is told */
	bool seen;	     /* listen to that too */
	bool went_back;	     /* ... and to that */
	bool unreadable;     /* "?ns/name" cannot be read: listen to that too */
};

static void tell(struct stage *s, const char *mark, const char *name)
{
	buf_puts(&s->story, mark);
	buf_puts(&s->story, name);
	buf_putc(&s->story, ' ');
	if (s->free_at && strcmp(s->free_at, mark) == 0) {
		kube_watch_free(s->watch);
		s->watch = NULL;
		s->free_at = NULL;
	}
}

static void on_begin(void *ctx)
{
	tell(ctx, "b", "");
}

static void on_event(enum kube_event type, const cJSON *object, void *ctx)
{
	static const char *const marks[] = {"+", "~", "-"};
	struct stage *s = ctx;
	const char *name = json_text(json_object(object, "metadata"), "name");
	assert_non_null(name);
	tell(s, marks[type], name);
	/* Still there, though the watch may have been freed. */
	assert_ptr_equal(name, json_text(json_object(object, "metadata"), "name"));
	assert_true(strlen(name) > 0);
}

static void on_end(void *ctx)
{
	struct stage *s = ctx;
	s->ends++;
	tell(s, "e", "");
}

static void on_trouble(const char *sentence, void *ctx)
{
	struct stage *s = ctx;
	assert_non_null(strstr(sentence, "/things"));
	snprintf(s->trouble, sizeof(s->trouble), "%s", sentence);
	tell(s, "!", "");
}

static void on_unreadable(const struct kube_unreadable *u, void *ctx)
{
	struct stage *s = ctx;
	char name[300];
	snprintf(name, sizeof(name), "%s%s%s", u->ns, *u->ns ? "/" : "", u->name);
	snprintf(s->trouble, sizeof(s->trouble), "%s", u->why);
	tell(s, "?", name);
}

static void on_moved(const char *from, const char *to, void *ctx)
{
	(void)ctx;
	assert_string_not_equal(from, to);
}

static void on_seen(const char *version, void *ctx)
{
	tell(ctx, "@", version);
}

static void on_went_back(const char *before, const char *now, void *ctx)
{
	char both[100];
	snprintf(both, sizeof(both), "%s>%s", before, now);
	tell(ctx, "<", both);
}

static void stage_open_with(struct stage *s, const struct kube_client_options *o)
{
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO)};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), "");
	s->client = kube_client_new(s->loop, s->config, o);
	buf_init(&s->story, 1 << 20);
}

/* On a busy machine this process may stand still for longer than a client waits, or takes for a sleep. */
enum { PATIENCE_MS = 3600 * 1000 };

static void stage_open(struct stage *s)
{
	stage_open_with(s, &(struct kube_client_options){.timeout_ms = PATIENCE_MS,
				   .connect_ms = PATIENCE_MS,
				   .asleep_ms = PATIENCE_MS});
}

static void stage_watch(struct stage *s, struct kube_watch_options o)
{
	struct kube_watch_handler handler = {on_begin, on_event, on_end, on_trouble, on_moved,
		s->seen ? on_seen : NULL, s->unreadable ? on_unreadable : NULL,
		s->went_back ? on_went_back : NULL};
	o.path = "/things";
	if (o.backoff_ms == 0)
		o.backoff_ms = 1;
	if (o.backoff_max_ms == 0)
		o.backoff_max_ms = 4;
	if (o.silence_ms == 0)
		o.silence_ms = PATIENCE_MS;
	s->watch = kube_watch_new(s->client, &o, &handler, s);
	assert_string_equal(buf_text(&s->story), "");
}

static void stage_close(struct stage *s)
{
	kube_watch_free(s->watch);
	kube_client_free(s->client);
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	scripted_server_free(s->server);
	kube_config_free(s->config);
	ev_loop_destroy(s->loop);
	buf_done(&s->story);
}

static void expect_story(struct stage *s, const char *story)
{
	size_t len = strlen(story);
	run_until(s->loop, s->story.len >= len);
	run_a_little(s->loop);
	assert_string_equal(buf_text(&s->story), story);
}

static void expect_line(struct stage *s, size_t i, const char *line)
{
	run_until(s->loop, scripted_server_count(s->server) > i);
	const char *seen = scripted_server_request(s->server, i)->line;
	if (!strstr(seen, line))
		fail_msg("request %zu is %s, not %s", i, seen, line);
}

#define META(name, rv) "\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" rv "\"}"
#define META_NS(name, rv)                                                                          \
	"\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\",\"resourceVersion\":\"" rv "\"}"
#define EVENT(type, name, rv) "{\"type\":\"" type "\",\"object\":{" META(name, rv) "}}\n"
#define BOOKMARK(rv)                                                                               \
	"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"" rv "\"}}}\n"
#define END(rv)                                                                                    \
	"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"" rv               \
	"\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n"
#define ERROR(code, message)                                                                       \
	"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":" code                       \
	",\"message\":\"" message "\"}}\n"
#define ITEM(name, rv) "{" META(name, rv) "}"
#define PAGE(rv, next, items)                                                                      \
	"{\"metadata\":{\"resourceVersion\":\"" rv "\",\"continue\":\"" next                       \
	"\"},\"items\":[" items "]}"
#define LIST "sendInitialEvents=true"
#define TWO EVENT("ADDED", "a", "5") EVENT("ADDED", "b", "3") END("7")

/* A whole list in one chunk, with the stream left open. */
static struct script *stream_list(struct stage *s, const char *events)
{
	struct script *p = scripted_server_expect(s->server, LIST);
	script_stream(p);
	script_chunk(p, events);
	return p;
}

static struct script *stream_from(struct stage *s, const char *version, const char *events)
{
	char part[64];
	snprintf(part, sizeof(part), "&resourceVersion=%s ", version);
	struct script *p = scripted_server_expect(s->server, part);
	script_stream(p);
	if (*events)
		script_chunk(p, events);
	return p;
}

static void test_list_and_follow(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	struct script *p = stream_list(&s, TWO);
	script_hold(p);
	script_chunk(p, EVENT("MODIFIED", "a", "8") EVENT("DELETED", "b", "9"));
	script_hold(p);
	stage_watch(&s, (struct kube_watch_options){0});
	assert_false(kube_watch_synced(s.watch));
	expect_story(&s, "b +a +b e ");
	assert_true(kube_watch_synced(s.watch));
	assert_string_equal(kube_watch_version(s.watch), "7");
	assert_string_equal(kube_watch_state(s.watch), "following");
	script_release(p);
	expect_story(&s, "b +a +b e ~a -b ");
	assert_string_equal(kube_watch_version(s.watch), "9");
	const char *line = scripted_server_request(s.server, 0)->line;
	assert_non_null(strstr(line, "GET /things?watch=1&allowWatchBookmarks=true&"));
	assert_non_null(strstr(line, "resourceVersionMatch=NotOlderThan"));
	assert_null(strstr(line, "resourceVersion="));
	assert_null(strstr(line, "Selector"));
	stage_close(&s);
}

/* The same bytes in every chunk size. */
static void test_every_chunk_size(void **state)
{
	static const char all[] = TWO EVENT("MODIFIED", "a", "8") BOOKMARK("10");
	(void)state;
	for (size_t size = 1; size < sizeof(all); size = size < 40 ? size + 1 : size * 2) {
		struct stage s;
		stage_open(&s);
		struct script *p = scripted_server_expect(s.server, LIST);
		script_stream(p);
		for (size_t at = 0; at < sizeof(all) - 1; at += size) {
			size_t left = sizeof(all) - 1 - at;
			script_bytes(p, all + at, left < size ? left : size);
		}
		script_hold(p);
		stage_watch(&s, (struct kube_watch_options){0});
		run_until(s.loop, s.ends == 1 && strcmp(kube_watch_version(s.watch), "10") == 0);
		assert_string_equal(buf_text(&s.story), "b +a +b e ~a ");
		stage_close(&s);
	}
}

static void test_selectors_are_escaped(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	script_hold(stream_list(&s, END("1")));
	stage_watch(&s, (struct kube_watch_options){
				.label_selector = "a in (b,c),!d", .field_selector = "x=y"});
	expect_story(&s, "b e ");
	expect_line(&s, 0, "&labelSelector=a%20in%20%28b%2Cc%29%2C%21d&fieldSelector=x%3Dy ");
	stage_close(&s);
}

/* The server ends the stream, or it breaks: taken up where it was, without a new list. Half an
 * event is nothing. */
static void test_taken_up_again(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	script_end(stream_list(&s, TWO EVENT("MODIFIED", "a", "8")));
	script_cut(stream_from(&s, "8", BOOKMARK("12") "{\"type\":\"MODIFIED\",\"obj"));
	script_end(stream_from(&s, "12", "{\"type\":\"DEL"));
	struct script *refusal = scripted_server_expect(s.server, "&resourceVersion=12 ");
	script_answer(refusal, 500, "", "{}");
	script_answer(scripted_server_expect(s.server, "&resourceVersion=12 "), 429,
		"Retry-After: 0\r\n", "{}");
	script_hold(stream_from(&s, "12", EVENT("DELETED", "a", "13")));
	stage_watch(&s, (struct kube_watch_options){0});
	expect_story(&s, "b +a +b e ~a ! ! ! ! ! -a ");
	assert_int_equal(s.ends, 1);
	stage_close(&s);
}

/* A stream that lived long ends without a word, and the backoff starts anew. */
static void test_steady_end_is_no_trouble(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	struct script *p = stream_list(&s, TWO);
	script_hold(p);
	script_end(p);
	script_hold(stream_from(&s, "7", EVENT("DELETED", "a", "8")));
	stage_watch(&s, (struct kube_watch_options){.steady_ms = 1});
	expect_story(&s, "b +a +b e ");
	double start = ev_now(s.loop);
	run_until(s.loop, ev_now(s.loop) - start > 0.002);
	script_release(p);
	expect_story(&s, "b +a +b e -a ");
	stage_close(&s);
}

/* Back-offs of ten minutes, so that the test ends only if they are not waited for. */
static void test_a_server_that_does_not_know_its_roles_yet(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	struct script *p = stream_list(&s, TWO);
	script_hold(p);
	script_end(p);
	script_answer(scripted_server_expect(s.server, "&resourceVersion=7 "), 403, "", "{}");
	script_answer(scripted_server_expect(s.server, "&resourceVersion=7 "), 403, "", "{}");
	script_hold(stream_from(&s, "7", EVENT("DELETED", "a", "8")));
	stage_watch(&s, (struct kube_watch_options){
				.steady_ms = 1, .backoff_ms = 600000, .backoff_max_ms = 600000});
	expect_story(&s, "b +a +b e ");
	double start = ev_now(s.loop);
	run_until(s.loop, ev_now(s.loop) - start > 0.002);
	script_release(p);
	expect_story(&s, "b +a +b e ! ! -a ");
	stage_close(&s);
}

static void test_a_server_that_was_away(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	struct script *p = stream_list(&s, TWO);
	script_hold(p);
	script_end(p);
	/* Twice: the first is on a connection that was used before, and curl itself tries again. */
	script_cut(scripted_server_expect(s.server, "&resourceVersion=7 "));
	script_cut(scripted_server_expect(s.server, "&resourceVersion=7 "));
	script_hold(stream_from(&s, "7", EVENT("DELETED", "a", "8")));
	stage_watch(&s, (struct kube_watch_options){
				.steady_ms = 1, .backoff_ms = 600000, .backoff_max_ms = 600000});
	expect_story(&s, "b +a +b e ");
	double start = ev_now(s.loop);
	run_until(s.loop, ev_now(s.loop) - start > 0.002);
	script_release(p);
	expect_story(&s, "b +a +b e ! -a ");
	stage_close(&s);
}

/* What kept them from the server is over for all, whatever they were to wait. */
static void test_one_that_works_again_wakes_the_others(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	script_answer(scripted_server_expect(s.server, "/things?"), 500, "", "{}");
	stage_watch(
		&s, (struct kube_watch_options){.backoff_ms = 600000, .backoff_max_ms = 600000});
	expect_story(&s, "b ! ");
	struct stage second = s;
	buf_init(&second.story, 1 << 20);
	script_answer(scripted_server_expect(s.server, "/things/second?"), 500, "", "{}");
	script_hold(stream_list(&s, TWO));
	script_hold(stream_list(&s, TWO));
	struct kube_watch_handler handler = {.begin = on_begin,
		.event = on_event,
		.end = on_end,
		.trouble = on_trouble,
		.moved = on_moved};
	struct kube_watch_options o = {
		.path = "/things/second", .backoff_ms = 1, .silence_ms = PATIENCE_MS};
	second.watch = kube_watch_new(s.client, &o, &handler, &second);
	expect_story(&second, "b ! b +a +b e ");
	expect_story(&s, "b ! b +a +b e ");
	kube_watch_free(second.watch);
	buf_done(&second.story);
	stage_close(&s);
}

/* A back-off of ten minutes: what was forgotten is listed without it, but not again and again. */
static void test_a_version_that_is_forgotten_is_listed_at_once(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	for (int i = 0; i < 2; i++) {
		struct script *p = stream_list(&s, TWO);
		script_chunk(p, ERROR("410", "too old"));
		script_hold(p);
	}
	stage_watch(&s,
		(struct kube_watch_options){
			.steady_ms = PATIENCE_MS, .backoff_ms = 600000, .backoff_max_ms = 600000});
	expect_story(&s, "b +a +b e ! b +a +b e ! ");
	assert_string_equal(kube_watch_state(s.watch), "paused");
	stage_close(&s);
}

/* One that does not know our version yet would take the stream, and say nothing. */
static void test_a_store_that_was_put_back(void **state)
{
	static const struct {
		const char *now, *story;
	} cases[] = {
		{"11", "b +a e ! <12>11 b +a e "},
		{"9", "b +a e ! <12>9 b +a e "},
		{"12", "b +a e ! -a "},
		{"100", "b +a e ! -a "},
		{"opaque", "b +a e ! -a "},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stage s;
		char page[200];
		stage_open(&s);
		s.went_back = true;
		script_end(stream_list(&s, EVENT("ADDED", "a", "5") END("12")));
		snprintf(page, sizeof(page),
			"{\"metadata\":{\"resourceVersion\":\"%s\"},\"items\":[]}", cases[i].now);
		script_answer(
			scripted_server_expect(s.server, "GET /things?limit=1&labelSelector=x "),
			200, "", page);
		if (strchr(cases[i].story, '<'))
			script_hold(stream_list(&s, EVENT("ADDED", "a", "5") END("11")));
		else
			script_hold(
				stream_from(&s, "12&labelSelector=x", EVENT("DELETED", "a", "13")));
		stage_watch(&s, (struct kube_watch_options){.label_selector = "x"});
		expect_story(&s, cases[i].story);
		stage_close(&s);
	}
}

/* It was away, and may have written more since than its store lacks: its version tells nothing. */
static void test_a_server_that_was_away_is_not_believed_by_its_version(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	s.went_back = true;
	script_end(stream_list(&s, TWO));
	script_cut(scripted_server_expect(s.server, "?limit=1 "));
	script_hold(stream_list(&s, EVENT("ADDED", "b", "3") END("900")));
	stage_watch(&s, (struct kube_watch_options){0});
	expect_story(&s, "b +a +b e ! ! b +b e ");
	stage_close(&s);
}

/* Nor does it after a sleep, in which it may have been away unseen. */
static void test_nothing_is_taken_up_after_a_sleep(void **state)
{
	struct stage s;
	(void)state;
	stage_open_with(&s, &(struct kube_client_options){.asleep_ms = 50});
	s.went_back = true;
	struct script *p = stream_list(&s, TWO);
	script_hold(p);
	script_end(p);
	script_hold(stream_list(&s, EVENT("ADDED", "b", "3") END("900")));
	stage_watch(&s, (struct kube_watch_options){0});
	expect_story(&s, "b +a +b e ");
	usleep(100 * 1000);
	script_release(p);
	expect_story(&s, "b +a +b e ! b +b e ");
	stage_close(&s);
}

/* It says itself that it does not have our version; and then its list is an older one. */
static void test_a_list_that_is_older_than_what_was_known(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	s.went_back = true;
	struct script *p = stream_list(&s, TWO ERROR("410", "too old"));
	script_hold(p);
	script_hold(stream_list(&s, EVENT("ADDED", "a", "5") END("6")));
	stage_watch(&s, (struct kube_watch_options){0});
	expect_story(&s, "b +a +b e ! b +a <7>6 e ");
	stage_close(&s);
}

/* The question is asked again like the stream. */
static void test_a_server_that_does_not_say_where_it_is(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	s.went_back = true;
	script_end(stream_list(&s, TWO));
	script_answer(scripted_server_expect(s.server, "?limit=1 "), 500, "", "{}");
	script_answer(scripted_server_expect(s.server, "?limit=1 "), 200, "", "no JSON");
	script_hold(stream_from(&s, "7", EVENT("DELETED", "a", "8")));
	stage_watch(&s, (struct kube_watch_options){0});
	expect_story(&s, "b +a +b e ! ! -a ");
	stage_close(&s);
}

static void test_listed_again_when_told(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	script_hold(stream_list(&s, TWO));
	script_hold(stream_list(&s, EVENT("ADDED", "b", "9") END("20")));
	stage_watch(&s, (struct kube_watch_options){0});
	expect_story(&s, "b +a +b e ");
	kube_watch_relist(s.watch);
	expect_story(&s, "b +a +b e b +b e ");
	stage_close(&s);
}

/* Not within a list: its objects come by name. */
static void test_what_has_been_seen(void **state)
{
	struct stage s;
	(void)state;
	for (int paged = 0; paged < 2; paged++) {
		static const char events[] =
			EVENT("MODIFIED", "a", "8") BOOKMARK("11") EVENT("DELETED", "b", "12");
		stage_open(&s);
		s.seen = true;
		if (paged) {
			script_answer(scripted_server_expect(s.server, "?limit=500 "), 200, "",
				PAGE("7", "", ITEM("a", "5") "," ITEM("b", "3")));
			script_hold(stream_from(&s, "7", events));
		} else {
			struct script *p = stream_list(&s, TWO);
			script_chunk(p, events);
			script_hold(p);
		}
		stage_watch(&s, (struct kube_watch_options){.no_streaming_list = paged});
		expect_story(&s, "b +a +b e @7 ~a @8 @11 -b @12 ");
		stage_close(&s);
	}
}

/* Who is told may end the watch even then. */
static void test_freed_when_seen(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	s.seen = true;
	s.free_at = "@";
	script_hold(stream_list(&s, TWO EVENT("MODIFIED", "a", "8")));
	stage_watch(&s, (struct kube_watch_options){0});
	run_until(s.loop, !s.watch);
	run_a_little(s.loop);
	assert_string_equal(buf_text(&s.story), "b +a +b e @7 ");
	stage_close(&s);
}

/* Each way the place is lost: a new list, and what was not in it is gone. */
static const struct lost {
	const char *name, *event;
	int status; /* instead of an event */
} losts[] = {
	{"410 as an event", ERROR("410", "too old"), 0},
	{"410 as a status", NULL, 410},
	{"400 for our version", NULL, 400},
	{"504: too large a version", NULL, 504},
	{"an internal error", ERROR("500", "oops"), 0},
	{"a bookmark without version", "{\"type\":\"BOOKMARK\",\"object\":{}}\n", 0},
	{"an error that cannot be read", "{\"type\":\"ERROR\",\"object\":[}}\n", 0},
	{"a bookmark that cannot be read", "{\"type\":\"BOOKMARK\",\"object\":[}}\n", 0},
};

static void test_lost(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(losts); i++) {
		const struct lost *l = &losts[i];
		struct stage s;
		stage_open(&s);
		struct script *p = stream_list(&s, TWO);
		if (l->status) {
			script_end(p);
			p = scripted_server_expect(s.server, "&resourceVersion=7 ");
			script_answer(p, l->status, "", "{}");
		} else {
			script_chunk(p, l->event);
			script_hold(p);
		}
		script_hold(stream_list(&s, EVENT("ADDED", "b", "3") END("20")));
		stage_watch(&s, (struct kube_watch_options){0});
		run_until(s.loop, s.ends == 2);
		const char *story = l->status ? "b +a +b e ! ! b +b e " : "b +a +b e ! b +b e ";
		if (strcmp(buf_text(&s.story), story) != 0 || !strstr(s.trouble, "listing again"))
			fail_msg("%s: %s (%s)", l->name, buf_text(&s.story), s.trouble);
		stage_close(&s);
	}
}

/* Each way in which an event is no object that can be read: it costs that object alone. What is
 * told of it, and where the stream would be taken up after it. */
static const struct skipped {
	const char *name, *event, *told, *why, *version;
	bool missed; /* it has no name: listed again when the stream ends */
} skips[] = {
	{"too deep", EVENT("MODIFIED", "a", "8") /* spec is put in */, "?n/a ", "nested deeper",
		"8", false},
	{"garbage in it", "{\"type\":\"ADDED\",\"object\":{" META_NS("a", "8") ",\"spec\":{,}}}\n",
		"?n/a ", "wrong at byte", "8", false},
	{"not UTF-8", "{\"type\":\"MODIFIED\",\"object\":{" META_NS("a", "8") ",\"x\":\"\xff\"}}\n",
		"?n/a ", "UTF-8", "8", false},
	{"not UTF-8 in its name", EVENT("MODIFIED", "\xff", "8"), "? ", "UTF-8", "8", true},
	{"no JSON", "{\"type\":\"MODIFIED\"\n", "? ", "ends in the middle", "7", true},
	{"a letter", "x\n", "? ", "wrong at byte", "7", true},
	{"no type", "{\"object\":{" META_NS("a", "8") "}}\n", "?n/a ", "unknown type", "8", false},
	{"a new type", EVENT("RENAMED", "a", "8"), "?a ", "unknown type", "8", false},
	{"no object", "{\"type\":\"MODIFIED\"}\n", "? ", "resourceVersion", "7", true},
	{"no version", "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n",
		"?a ", "resourceVersion", "7", false},
	{"a version that is a number",
		"{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"a\","
		"\"resourceVersion\":9}}}\n",
		"?a ", "resourceVersion", "7", false},
	{"deleted, and garbage in it",
		"{\"type\":\"DELETED\",\"object\":{" META_NS("a", "8") ",\"spec\":{,}}}\n", "-a ",
		NULL, "8", false},
	{"deleted, without a version",
		"{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n", "-a ", NULL,
		"7", false},
	{"over the ceiling", NULL, "?n/a ", "more than 2000 bytes", "8", false},
};

/* An object with a spec as large, or as deep, as wanted. */
static char *swollen(size_t size, size_t depth)
{
	struct buf b;
	buf_init(&b, 1 << 16);
	buf_puts(&b, "{\"type\":\"MODIFIED\",\"object\":{" META_NS("a", "8") ",\"spec\":[\"");
	for (size_t i = 0; i < size; i++)
		buf_putc(&b, 'x');
	buf_putc(&b, '"');
	for (size_t i = 0; i < 2 * depth; i++)
		buf_puts(&b, i < depth ? ",[1" : "]");
	buf_puts(&b, "]}}\n");
	return buf_take(&b);
}

static char *line_of(const struct skipped *k)
{
	if (!k->event)
		return swollen(4000, 0);
	return strcmp(k->name, "too deep") == 0 ? swollen(1, 200) : mem_strdup(k->event);
}

static void test_what_cannot_be_read_is_skipped(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(skips); i++) {
		const struct skipped *k = &skips[i];
		struct stage s;
		char *line = line_of(k), story[200];
		stage_open(&s);
		s.unreadable = true;
		struct script *p = stream_list(&s, TWO);
		script_chunk(p, line);
		script_hold(p);
		script_chunk(p, EVENT("MODIFIED", "b", "12"));
		script_end(p);
		if (k->missed)
			script_hold(stream_list(&s, EVENT("ADDED", "b", "12") END("20")));
		else
			script_hold(stream_from(&s, "12", EVENT("DELETED", "b", "13")));
		stage_watch(&s, (struct kube_watch_options){.event_ceiling = 2000});
		snprintf(story, sizeof(story), "b +a +b e %s", k->told);
		expect_story(&s, story);
		assert_string_equal(kube_watch_version(s.watch), k->version);
		if (k->why && !strstr(s.trouble, k->why))
			fail_msg("%s: %s", k->name, s.trouble);
		script_release(p);
		snprintf(story, sizeof(story), "b +a +b e %s~b ! %s", k->told,
			k->missed ? "b +b e " : "-b ");
		expect_story(&s, story);
		stage_close(&s);
		free(line);
	}
}

/* In lists, streamed and paged (in the last piece that a page is cut to): what is beside it is
 * told, the list ends, and it is followed. */
static void test_what_cannot_be_read_in_a_list(void **state)
{
	static const struct {
		const char *item, *told;
	} rows[] = {
		{"{" META_NS("x", "3") ",\"spec\":{,}}", "?n/x "},
		{"{" META_NS("x", "3") ",\"spec\":\"\xff\"}", "?n/x "},
		{"{\"metadata\":{\"name\":\"x\"}}", "?x "},
		{"{\"metadata\":{}}", "? "},
		{"3", "? "},
	};
	(void)state;
	for (int paged = 0; paged < 2; paged++) {
		for (size_t i = 0; i < ROWS(rows); i++) {
			struct stage s;
			struct buf b;
			char story[200];
			stage_open(&s);
			s.unreadable = true;
			buf_init(&b, 10000);
			if (paged)
				buf_printf(&b, PAGE("7", "", "%s,%s,%s"), ITEM("a", "5"),
					rows[i].item, ITEM("b", "3"));
			else
				buf_printf(&b, "%s{\"type\":\"ADDED\",\"object\":%s}\n%s%s",
					EVENT("ADDED", "a", "5"), rows[i].item,
					EVENT("ADDED", "b", "3"), END("7"));
			struct script *p;
			if (paged) {
				script_answer(scripted_server_expect(s.server, "?limit=1 "), 200,
					"", buf_text(&b));
				p = stream_from(&s, "7", EVENT("DELETED", "a", "8"));
			} else {
				p = stream_list(&s, buf_text(&b));
				script_chunk(p, EVENT("DELETED", "a", "8"));
			}
			script_hold(p);
			stage_watch(&s, (struct kube_watch_options){
						.no_streaming_list = paged, .page_limit = 1});
			snprintf(story, sizeof(story), "b +a %s+b e -a ", rows[i].told);
			expect_story(&s, story);
			buf_done(&b);
			stage_close(&s);
		}
	}
}

/* "Too many requests" as an event leaves the place as good as it was. */
static void test_429_event_keeps_the_place(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	script_hold(stream_list(&s, TWO ERROR("429", "slow down")));
	script_hold(stream_from(&s, "7", EVENT("DELETED", "a", "8")));
	stage_watch(&s, (struct kube_watch_options){0});
	expect_story(&s, "b +a +b e ! -a ");
	stage_close(&s);
}

/* Cut within the list: it begins again, and nothing ended. */
static void test_list_is_cut(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	script_cut(stream_list(&s, EVENT("ADDED", "a", "5") BOOKMARK("6")));
	script_end(stream_list(&s, EVENT("ADDED", "a", "5")));
	script_hold(stream_list(&s, EVENT("ADDED", "b", "3") END("20")));
	stage_watch(&s, (struct kube_watch_options){0});
	expect_story(&s, "b +a ! b +a ! b +b e ");
	stage_close(&s);
}

static void test_silence(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	script_hold(stream_list(&s, TWO));
	script_hold(stream_from(&s, "7", EVENT("DELETED", "a", "8")));
	struct script *last = scripted_server_expect(s.server, "&resourceVersion=8 ");
	script_hold(last);
	/* Long enough that a busy machine does not pass for a silent server. */
	stage_watch(&s, (struct kube_watch_options){.silence_ms = 500});
	run_until(s.loop, scripted_server_count(s.server) == 3);
	assert_string_equal(buf_text(&s.story), "b +a +b e ! -a ! ");
	assert_non_null(strstr(s.trouble, "nothing received"));
	stage_close(&s);
}

/* For how long it has not been up. The kind is quiet: no event and no bookmark says that it is. */
static void test_stalled(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	struct script *p = scripted_server_expect(s.server, LIST);
	script_hold(p);
	script_stream(p);
	script_chunk(p, TWO);
	script_hold(p);
	script_end(p);
	struct script *refusal = scripted_server_expect(s.server, "&resourceVersion=7 ");
	script_hold(refusal);
	script_answer(refusal, 500, "", "{}");
	script_answer(scripted_server_expect(s.server, "&resourceVersion=7 "), 500, "", "{}");
	struct script *quiet = stream_from(&s, "7", "");
	script_hold(quiet);
	script_end(quiet);
	script_hold(stream_from(&s, "7", ""));
	stage_watch(&s, (struct kube_watch_options){.steady_ms = 60});
	run_until(s.loop, kube_watch_stalled_ms(s.watch) > 20); /* nothing was read yet */
	script_release(p);
	expect_story(&s, "b +a +b e ");
	assert_int_equal(kube_watch_stalled_ms(s.watch), 0);
	script_release(p);
	run_until(s.loop, kube_watch_stalled_ms(s.watch) > 30);
	script_release(refusal);
	run_until(s.loop, scripted_server_count(s.server) == 4);
	assert_true(kube_watch_stalled_ms(s.watch) > 30);	/* a stream that is just up ... */
	run_until(s.loop, kube_watch_stalled_ms(s.watch) == 0); /* ... and stays */
	script_release(quiet);
	run_until(s.loop, scripted_server_count(s.server) == 5);
	assert_true(kube_watch_stalled_ms(s.watch) < 60); /* since then alone */
	stage_close(&s);
}

/* A process that slept has had no news, and could not have had any. */
static void test_sleep_is_no_stall(void **state)
{
	struct stage s;
	(void)state;
	stage_open_with(&s, &(struct kube_client_options){.asleep_ms = 50});
	script_hold(scripted_server_expect(s.server, LIST));
	stage_watch(&s, (struct kube_watch_options){0});
	run_until(s.loop, kube_watch_stalled_ms(s.watch) > 30);
	usleep(100 * 1000);
	assert_in_range(kube_watch_stalled_ms(s.watch), 0, 20); /* before anything else runs */
	run_until(s.loop, kube_watch_stalled_ms(s.watch) > 30); /* from then on it counts again */
	stage_close(&s);
}

/* Lists that break off again and again are no progress. */
static void test_stalled_in_lists(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	for (int i = 0; i < 8; i++)
		script_cut(stream_list(&s, EVENT("ADDED", "a", "5")));
	script_hold(stream_list(&s, TWO));
	stage_watch(&s, (struct kube_watch_options){.backoff_ms = 10, .backoff_max_ms = 10});
	run_until(s.loop, scripted_server_count(s.server) == 8);
	run_until(s.loop, strcmp(kube_watch_state(s.watch), "paused") == 0);
	assert_true(kube_watch_stalled_ms(s.watch) > 30);
	run_until(s.loop, s.ends == 1);
	assert_int_equal(kube_watch_stalled_ms(s.watch), 0);
	stage_close(&s);
}

/* A server that knows no streaming lists: pages, then a watch; and it is not asked again. */
static void test_paging(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	script_answer(scripted_server_expect(s.server, LIST), 422, "", "{}");
	script_answer(scripted_server_expect(s.server, "?limit=2 "), 200, "",
		PAGE("7", "c/1=", ITEM("a", "1") "," ITEM("b", "2")));
	script_answer(scripted_server_expect(s.server, "?limit=2&continue=c%2F1%3D "), 200, "",
		PAGE("7", "", ITEM("c", "3")));
	script_answer(scripted_server_expect(s.server, "&resourceVersion=7 "), 410, "", "{}");
	script_answer(scripted_server_expect(s.server, "?limit=2 "), 200, "", PAGE("9", "", ""));
	script_hold(stream_from(&s, "9", EVENT("ADDED", "d", "10")));
	stage_watch(&s, (struct kube_watch_options){.page_limit = 2});
	expect_story(&s, "b b +a +b +c e ! b e +d ");
	stage_close(&s);
}

/* In the middle of paging: too many requests (the same page again), and an expired token (all over
 * again). */
static void test_paging_is_disturbed(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	for (int i = 0; i < 2; i++) {
		script_answer(scripted_server_expect(s.server, "?limit=1 "), 200, "",
			PAGE("7", "n", ITEM("a", "1")));
		script_answer(scripted_server_expect(s.server, "&continue=n "), i ? 410 : 503,
			"Retry-After: 0\r\n", "{}");
		if (!i)
			script_answer(
				scripted_server_expect(s.server, "&continue=n "), 410, "", "{}");
	}
	script_answer(scripted_server_expect(s.server, "?limit=1 "), 200, "", "{\"items\":3}");
	script_answer(scripted_server_expect(s.server, "?limit=1 "), 200, "", "[");
	script_answer(scripted_server_expect(s.server, "?limit=1 "), 200, "",
		"{\"metadata\":{},\"items\":[]}");
	/* Something in it has no name: that is made good once the stream ends. */
	script_answer(scripted_server_expect(s.server, "?limit=1 "), 200, "", PAGE("8", "", "3"));
	script_end(stream_from(&s, "8", ""));
	script_answer(scripted_server_expect(s.server, "?limit=1 "), 200, "",
		PAGE("8", "", ITEM("a", "1")));
	script_hold(stream_from(&s, "8", ""));
	stage_watch(&s, (struct kube_watch_options){.no_streaming_list = true, .page_limit = 1});
	expect_story(&s, "b +a ! ! b +a ! b ! b ! b ! b ! e ! b +a e ");
	run_until(s.loop, scripted_server_unused(s.server) == 0);
	stage_close(&s);
}

/* A page that is too large, or has no end, is asked for in smaller ones, down to the one object,
 * which is passed over by the continue token in front of it. Then pages grow again. */
static void test_large_page(void **state)
{
	(void)state;
	for (int broken = 0; broken < 2; broken++) {
		struct stage s;
		struct buf large;
		buf_init(&large, 100000);
		buf_puts(&large, "{\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\"m\"},"
				 "\"items\":[{" META_NS("large", "3") ",\"spec\":\"");
		for (int i = 0; i < 60000 && !broken; i++)
			buf_putc(&large, 'x');
		stage_open(&s);
		s.unreadable = true;
		script_answer(
			scripted_server_expect(s.server, "?limit=4 "), 200, "", buf_text(&large));
		script_answer(scripted_server_expect(s.server, "?limit=2 "), 200, "",
			PAGE("7", "n", ITEM("a", "1") "," ITEM("b", "1")));
		script_answer(scripted_server_expect(s.server, "?limit=4&continue=n "), 200, "",
			buf_text(&large));
		script_answer(scripted_server_expect(s.server, "?limit=2&continue=n "), 200, "",
			buf_text(&large));
		script_answer(scripted_server_expect(s.server, "?limit=1&continue=n "), 200, "",
			buf_text(&large));
		script_answer(scripted_server_expect(s.server, "?limit=2&continue=m "), 200, "",
			PAGE("7", "o", ITEM("c", "1")));
		script_answer(scripted_server_expect(s.server, "?limit=4&continue=o "), 200, "",
			PAGE("7", "", ITEM("d", "1")));
		script_hold(stream_from(&s, "7", ""));
		stage_watch(&s, (struct kube_watch_options){.no_streaming_list = true,
					.page_limit = 4,
					.event_ceiling = 40000});
		expect_story(&s, "b +a +b ?n/large +c +d e ");
		run_until(s.loop, scripted_server_unused(s.server) == 0);
		buf_done(&large);
		stage_close(&s);
	}
}

/* What cannot be done: where not even the continue token can be had, the list starts over. */
static void test_a_page_without_a_beginning(void **state)
{
	struct stage s;
	char *large = mem_alloc(3001);
	(void)state;
	memset(large, 'x', 3000);
	stage_open(&s);
	script_answer(scripted_server_expect(s.server, "?limit=1 "), 200, "", large);
	script_answer(scripted_server_expect(s.server, "?limit=1 "), 200, "",
		PAGE("7", "", ITEM("a", "1")));
	script_hold(stream_from(&s, "7", ""));
	stage_watch(&s, (struct kube_watch_options){
				.no_streaming_list = true, .page_limit = 1, .event_ceiling = 2000});
	expect_story(&s, "b ! b +a e ");
	run_until(s.loop, scripted_server_unused(s.server) == 0);
	free(large);
	stage_close(&s);
}

/* Freed from each of its callbacks, under ASan; nothing is told afterwards. */
static void test_freed_from_a_callback(void **state)
{
	static const struct {
		const char *at, *story;
	} rows[] = {{"b", "b "}, {"+", "b +a "}, {"e", "b +a +b e "}, {"~", "b +a +b e ~a "},
		{"!", "b +a +b e ~a ! "}};
	(void)state;
	for (int paged = 0; paged < 2; paged++) {
		for (size_t i = 0; i < ROWS(rows); i++) {
			struct stage s;
			struct script *p;
			stage_open(&s);
			if (paged && i > 0)
				script_answer(scripted_server_expect(s.server, "?limit=500 "), 200,
					"", PAGE("7", "", ITEM("a", "5") "," ITEM("b", "3")));
			if (paged && i > 2)
				p = stream_from(&s, "7", EVENT("MODIFIED", "a", "8") "x\n");
			else if (!paged && i > 0)
				p = stream_list(&s, TWO EVENT("MODIFIED", "a", "8") "x\n");
			else
				p = NULL;
			if (p)
				script_hold(p);
			s.free_at = rows[i].at;
			stage_watch(&s, (struct kube_watch_options){.no_streaming_list = paged});
			run_until(s.loop, !s.watch);
			run_a_little(s.loop);
			assert_string_equal(buf_text(&s.story), rows[i].story);
			stage_close(&s);
		}
	}
}

/* What a server asks for with Retry-After it gets, however often the loop turns meanwhile. */
static void test_no_spinning(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	script_end(stream_list(&s, END("7")));
	script_answer(scripted_server_expect(s.server, "&resourceVersion=7 "), 503,
		"Retry-After: 300\r\n", "{}");
	stage_watch(&s, (struct kube_watch_options){0});
	expect_story(&s, "b e ! ! ");
	for (int i = 0; i < 100; i++)
		run_a_little(s.loop);
	assert_int_equal(scripted_server_count(s.server), 2);
	assert_string_equal(kube_watch_state(s.watch), "paused");
	assert_true(kube_watch_synced(s.watch));
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list_and_follow),
		cmocka_unit_test(test_every_chunk_size),
		cmocka_unit_test(test_selectors_are_escaped),
		cmocka_unit_test(test_taken_up_again),
		cmocka_unit_test(test_steady_end_is_no_trouble),
		cmocka_unit_test(test_a_server_that_does_not_know_its_roles_yet),
		cmocka_unit_test(test_a_server_that_was_away),
		cmocka_unit_test(test_one_that_works_again_wakes_the_others),
		cmocka_unit_test(test_a_version_that_is_forgotten_is_listed_at_once),
		cmocka_unit_test(test_a_store_that_was_put_back),
		cmocka_unit_test(test_a_server_that_was_away_is_not_believed_by_its_version),
		cmocka_unit_test(test_nothing_is_taken_up_after_a_sleep),
		cmocka_unit_test(test_a_list_that_is_older_than_what_was_known),
		cmocka_unit_test(test_a_server_that_does_not_say_where_it_is),
		cmocka_unit_test(test_listed_again_when_told),
		cmocka_unit_test(test_what_has_been_seen),
		cmocka_unit_test(test_freed_when_seen),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_what_cannot_be_read_is_skipped),
		cmocka_unit_test(test_what_cannot_be_read_in_a_list),
		cmocka_unit_test(test_429_event_keeps_the_place),
		cmocka_unit_test(test_list_is_cut),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_stalled),
		cmocka_unit_test(test_sleep_is_no_stall),
		cmocka_unit_test(test_stalled_in_lists),
		cmocka_unit_test(test_paging),
		cmocka_unit_test(test_paging_is_disturbed),
		cmocka_unit_test(test_large_page),
		cmocka_unit_test(test_a_page_without_a_beginning),
		cmocka_unit_test(test_freed_from_a_callback),
		cmocka_unit_test(test_no_spinning),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
