#include "controller/kube/watch.h"

#include <ev.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"
#include "controller/kube/frames.h"

enum {
	VERSION_SIZE = 128, /* a resourceVersion is opaque, but never this long */
	CONTINUE_CEILING = 64 * 1024,
	TREE_FACTOR = 8,  /* memory of a tree against its text; honest objects need 4 */
	DENIALS_MAX = 40, /* with HASTY_MS between them about ten seconds */
	HASTY_MS = 400,
	ABSENT_MS = 1000, /* between tries of a server that is away */
};

enum watch_state {
	WATCH_PAUSED,	 /* the timer runs; then resume() */
	WATCH_STREAMING, /* a stream that begins with the list */
	WATCH_PAGING,	 /* a page of the list is asked for */
	WATCH_FOLLOWING, /* the list is complete, the stream is up */
	WATCH_STOPPED,	 /* waits for its grave */
};

struct kube_watch {
	struct kube_client *client;
	struct ev_loop *loop;
	struct kube_watch_handler handler;
	void *ctx;
	struct kube_watch_options options;
	char *path, *label_selector, *field_selector;
	enum watch_state state;
	uint64_t request; /* in flight; 0: none */
	double opened_at, heard_at;
	char version[VERSION_SIZE]; /* to follow from; "": a new list is needed */
	struct buf next_page;	    /* continue token of the page to ask for; empty: the first */
	int page_limit;
	unsigned failures; /* in a row */
	bool worked;	   /* it has followed once: so we may */
	unsigned denials;  /* 403s in a row since then */
	bool hasty;	   /* the failure that is being told is one of those */
	bool absent;	   /* ... or the server was not there at all */
	uint64_t seed;
	struct frames frames;
	struct json *json;
	ev_timer pause, silence;
};

static const char *state_name(enum watch_state s)
{
	switch (s) {
	case WATCH_PAUSED:
		return "paused";
	case WATCH_STREAMING:
		return "streaming a list";
	case WATCH_PAGING:
		return "paging a list";
	case WATCH_FOLLOWING:
		return "following";
	case WATCH_STOPPED:
		return "stopped";
	}
	must(!"a watch_state");
	return NULL;
}

static void watch_enter(struct kube_watch *w, enum watch_state next);

/* splitmix64: the jitter, the same for the same seed. */
static uint64_t draw(struct kube_watch *w)
{
	uint64_t z = (w->seed += 0x9e3779b97f4a7c15u);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* The next wait: twice the last one up to the maximum, the upper half of it drawn. */
static int64_t backoff(struct kube_watch *w)
{
	int64_t wait = w->options.backoff_ms;
	for (unsigned i = 0; i < w->failures && wait < w->options.backoff_max_ms; i++)
		wait *= 2;
	if (wait > w->options.backoff_max_ms)
		wait = w->options.backoff_max_ms;
	w->failures++;
	return wait / 2 + (int64_t)(draw(w) % (uint64_t)(wait / 2 + 1));
}

/*
 * An API server that has just started says 403 to everybody until it has read its roles, which
 * takes it a few seconds. Who could read before waits for that, and does not double its pauses;
 * should the right really be gone, it does so after DENIALS_MAX tries.
 */
static bool is_starting_up(struct kube_watch *w, const struct kube_answer *a)
{
	return a->http_status == 403 && w->worked && w->denials++ < DENIALS_MAX;
}

static int64_t hasty_pause(struct kube_watch *w)
{
	return HASTY_MS / 2 + (int64_t)(draw(w) % (HASTY_MS / 2));
}

/*
 * A server that is away costs nothing to be asked, and when it comes back nobody should wait for as
 * long as it was away: each watch pauses for itself, and the Jobs' may be the last. (One that
 * answers, if only with an error, has work to do with each question.)
 */
static bool is_away(const struct kube_watch *w, const struct kube_answer *a)
{
	return w->worked && a->http_status == 0 &&
	       (a->outcome == KUBE_RETRY || a->outcome == KUBE_IN_DOUBT);
}

static int64_t next_pause(struct kube_watch *w)
{
	int64_t wait = w->hasty ? hasty_pause(w) : backoff(w);
	if (w->absent && wait > ABSENT_MS)
		wait = ABSENT_MS / 2 + (int64_t)(draw(w) % (ABSENT_MS / 2));
	w->hasty = w->absent = false;
	return wait;
}

static void pause_for(struct kube_watch *w, int64_t wait_ms)
{
	ev_now_update(w->loop);
	ev_timer_stop(w->loop, &w->pause);
	ev_timer_set(&w->pause, (double)wait_ms / 1000.0, 0.);
	ev_timer_start(w->loop, &w->pause);
	watch_enter(w, WATCH_PAUSED);
}

/* Its callbacks do not come any more. */
static void cancel(struct kube_watch *w)
{
	kube_client_cancel(w->client, w->request);
	w->request = 0;
	ev_timer_stop(w->loop, &w->silence);
}

/* Ends what is in flight, and drops what was read of it. */
static void hang_up(struct kube_watch *w)
{
	cancel(w);
	frames_reset(&w->frames);
	json_reset(w->json);
}

/* Everything starts over from a new list. */
static void lose_place(struct kube_watch *w)
{
	w->version[0] = '\0';
	buf_done(&w->next_page);
}

/* Every failure ends here: pause, then go on from where we are (lose_place decides where that is).
 * w may be gone afterwards, for trouble() may free it. */
__attribute__((format(printf, 3, 4))) static void watch_fail(
	struct kube_watch *w, int64_t at_least_ms, const char *fmt, ...)
{
	struct err err;
	int n = snprintf(err.text, sizeof(err.text), "watch of %.120s: ", w->path);
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(err.text + n, sizeof(err.text) - (size_t)n, fmt, ap);
	va_end(ap);
	bool was_up = w->state == WATCH_STREAMING || w->state == WATCH_FOLLOWING;
	if (was_up && (ev_now(w->loop) - w->opened_at) * 1000.0 >= (double)w->options.steady_ms)
		w->failures = 0;
	hang_up(w);
	int64_t wait = next_pause(w);
	pause_for(w, wait > at_least_ms ? wait : at_least_ms);
	if (w->state != WATCH_STOPPED)
		w->handler.trouble(err.text, w->ctx);
}

static void add_escaped(struct buf *b, struct slice s)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "-._~";
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] && strchr(plain, s.ptr[i]))
			buf_putc(b, s.ptr[i]);
		else
			buf_printf(b, "%%%02X", (unsigned char)s.ptr[i]);
	}
}

static void add_selectors(struct kube_watch *w, struct buf *b)
{
	if (w->label_selector) {
		buf_puts(b, "&labelSelector=");
		add_escaped(b, slice_of(w->label_selector));
	}
	if (w->field_selector) {
		buf_puts(b, "&fieldSelector=");
		add_escaped(b, slice_of(w->field_selector));
	}
}

/* Keeps the version of an object's metadata. False: it has none that we can use. */
static bool keep_version(struct kube_watch *w, const cJSON *object)
{
	const char *version = json_text(json_object(object, "metadata"), "resourceVersion");
	if (!version || !*version || strlen(version) >= VERSION_SIZE)
		return false;
	strcpy(w->version, version);
	return true;
}

/* What comes last of a callback: the watch may be stopped after it. */
static void say_seen(struct kube_watch *w)
{
	if (w->handler.seen && w->state == WATCH_FOLLOWING)
		w->handler.seen(w->version, w->ctx);
}

static void say_end(struct kube_watch *w)
{
	watch_enter(w, WATCH_FOLLOWING);
	if (w->state == WATCH_STOPPED)
		return;
	w->handler.end(w->ctx);
	say_seen(w);
}

static bool ends_the_list(const cJSON *bookmark)
{
	const cJSON *metadata = json_object(bookmark, "metadata");
	const char *end =
		json_text(json_object(metadata, "annotations"), "k8s.io/initial-events-end");
	return end && strcmp(end, "true") == 0;
}

static void take_bookmark(struct kube_watch *w, const cJSON *object)
{
	bool end = w->state == WATCH_STREAMING && ends_the_list(object);
	if (w->state == WATCH_STREAMING && !end)
		return; /* the list is not whole: there is no place to go on from yet */
	if (!keep_version(w, object)) {
		lose_place(w);
		watch_fail(w, 0, "a bookmark has no resourceVersion; listing again");
		return;
	}
	if (end)
		say_end(w);
	else
		say_seen(w);
}

/* The server gives up in the middle. Only "too many requests" leaves our place as good as it was.
 */
static void take_error(struct kube_watch *w, const cJSON *status)
{
	int64_t code = 0, seconds = 0;
	const char *message = json_text(status, "message");
	json_i64(status, "code", &code);
	json_i64(json_object(status, "details"), "retryAfterSeconds", &seconds);
	if (seconds < 0 || seconds > KUBE_RETRY_AFTER_MAX_MS / 1000)
		seconds = KUBE_RETRY_AFTER_MAX_MS / 1000;
	if (code != 429)
		lose_place(w);
	/* message lives in the tree, which watch_fail drops only after it wrote the sentence. */
	watch_fail(w, seconds * 1000, "the server says %lld: %.250s%s", (long long)code,
		message ? message : "(nothing)", code != 429 ? "; listing again" : "");
}

static void take_object(struct kube_watch *w, enum kube_event type, const cJSON *object)
{
	char before[VERSION_SIZE];
	strcpy(before, w->version);
	if (!keep_version(w, object)) {
		lose_place(w);
		watch_fail(w, 0, "an event has no object with a resourceVersion; listing again");
		return;
	}
	/* While the list is streamed, objects come by name, not by version. */
	if (w->state == WATCH_STREAMING)
		strcpy(w->version, before);
	w->handler.event(type, object, w->ctx);
	say_seen(w);
}

static void take_line(struct kube_watch *w, struct slice line)
{
	const cJSON *root;
	struct err err = {""};
	if (json_parse(w->json, line, &root, &err) < 0) {
		lose_place(w);
		watch_fail(w, 0, "an event of %zu bytes cannot be read (%.200s); listing again",
			line.len, err.text);
		return;
	}
	const char *type = json_text(root, "type");
	const cJSON *object = json_object(root, "object");
	if (type && strcmp(type, "ADDED") == 0) {
		take_object(w, KUBE_ADDED, object);
	} else if (type && strcmp(type, "MODIFIED") == 0) {
		take_object(w, KUBE_MODIFIED, object);
	} else if (type && strcmp(type, "DELETED") == 0) {
		take_object(w, KUBE_DELETED, object);
	} else if (type && strcmp(type, "BOOKMARK") == 0) {
		take_bookmark(w, object);
	} else if (type && strcmp(type, "ERROR") == 0) {
		take_error(w, object);
	} else {
		lose_place(w);
		watch_fail(w, 0, "an event of unknown type \"%.40s\"; listing again",
			type ? type : "");
	}
}

static void on_bytes(struct slice bytes, void *ctx)
{
	struct kube_watch *w = ctx;
	uint64_t request = w->request;
	struct slice line;
	int rc = 0;
	w->heard_at = ev_now(w->loop);
	w->worked = true;
	w->denials = 0;
	/* Any event may end this stream, or the watch: its memory stays, see kube_watch_free. */
	while (w->request == request && (rc = frames_next(&w->frames, &bytes, &line)) > 0) {
		take_line(w, line);
		if (w->request == request)
			json_reset(w->json);
	}
	if (w->request == request && rc == ERR_LIMIT) {
		lose_place(w);
		watch_fail(w, 0, "an event has more than %zu bytes; listing again",
			w->options.event_ceiling);
	}
}

/* The server refuses to follow from our version, in one of its ways. */
static bool is_place_refused(const struct kube_answer *a)
{
	return a->outcome == KUBE_RELIST || a->outcome == KUBE_STALE || a->http_status == 400 ||
	       a->http_status == 504; /* 504: "Too large resource version", after a restore */
}

static bool is_streaming_refused(const struct kube_watch *w, const struct kube_answer *a)
{
	return w->state == WATCH_STREAMING && (a->http_status == 400 || a->http_status == 422);
}

/* The server ended the stream in good order: it does so every few minutes. */
static void stream_ended(struct kube_watch *w)
{
	double lived_ms = (ev_now(w->loop) - w->opened_at) * 1000.0;
	if (w->state == WATCH_STREAMING) {
		watch_fail(w, 0, "the stream ended within the list");
	} else if (frames_cut(&w->frames)) {
		watch_fail(w, 0, "the stream ended within an event; taking it up again");
	} else if (lived_ms < (double)w->options.steady_ms) {
		watch_fail(w, 0, "the server ended the stream after %.0f ms", lived_ms);
	} else {
		w->failures = 0;
		hang_up(w);
		pause_for(w, 0);
	}
}

static void on_stream_end(const struct kube_answer *a, void *ctx)
{
	struct kube_watch *w = ctx;
	w->request = 0;
	if (a->outcome == KUBE_DONE) {
		stream_ended(w);
		return;
	}
	if (is_streaming_refused(w, a)) {
		w->options.no_streaming_list = true;
		hang_up(w);
		watch_enter(w, WATCH_PAGING);
		return;
	}
	if (w->state == WATCH_FOLLOWING && is_place_refused(a))
		lose_place(w);
	w->hasty = is_starting_up(w, a);
	w->absent = is_away(w, a);
	watch_fail(w, a->retry_after_ms, "%s%s", a->sentence, *w->version ? "" : "; listing again");
}

static void open_stream(struct kube_watch *w, bool with_list)
{
	struct buf path;
	int64_t timeout_s = w->options.server_timeout_s;
	if (timeout_s <= 0)
		timeout_s = 300 + (int64_t)(draw(w) % 300);
	buf_init(&path, SIZE_MAX / 2);
	buf_printf(&path, "%s?watch=1&allowWatchBookmarks=true&timeoutSeconds=%lld", w->path,
		(long long)timeout_s);
	if (with_list) {
		buf_puts(&path, "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
	} else {
		buf_puts(&path, "&resourceVersion=");
		add_escaped(&path, slice_of(w->version));
	}
	add_selectors(w, &path);
	struct kube_request q = {.method = KUBE_GET, .path = buf_text(&path)};
	w->request = kube_client_stream(w->client, &q, on_bytes, on_stream_end, w);
	buf_done(&path);
	w->opened_at = w->heard_at = ev_now(w->loop);
	ev_now_update(w->loop);
	ev_timer_stop(w->loop, &w->silence);
	ev_timer_set(&w->silence, (double)w->options.silence_ms / 1000.0, 0.);
	ev_timer_start(w->loop, &w->silence);
}

/* One timer for the whole stream: it is not re-armed with each event, it looks when it is due. */
static void on_silence(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct kube_watch *w = timer->data;
	double quiet = ev_now(loop) - w->heard_at, limit = (double)w->options.silence_ms / 1000.0;
	(void)revents;
	bool steady = w->options.silence_ms >= w->options.steady_ms;
	if (w->state == WATCH_FOLLOWING && quiet >= limit && steady) {
		/* Dead, or a kind that nobody touches: the API server sends no bookmarks before the
		 * first event. Not worth a word unless taking it up again fails. */
		stream_ended(w);
		return;
	}
	if (quiet >= limit || quiet < 0) {
		watch_fail(w, 0, "no word for %.0f s: the connection is dead; taking it up again",
			limit);
		return;
	}
	ev_timer_set(&w->silence, limit - quiet + 0.001, 0.);
	ev_timer_start(loop, &w->silence);
}

static void on_page(const struct kube_answer *a, void *ctx);

static void ask_page(struct kube_watch *w)
{
	struct buf path;
	buf_init(&path, SIZE_MAX / 2);
	buf_printf(&path, "%s?limit=%d", w->path, w->page_limit);
	if (w->next_page.len > 0) {
		buf_puts(&path, "&continue=");
		add_escaped(&path, buf_slice(&w->next_page));
	}
	add_selectors(w, &path);
	struct kube_request q = {.method = KUBE_GET,
		.path = buf_text(&path),
		.answer_ceiling = w->options.event_ceiling};
	w->request = kube_client_send(w->client, &q, on_page, w);
	buf_done(&path);
}

/* The page is too large for us: the same again in smaller pieces. */
static void shrink_page(struct kube_watch *w, const char *sentence)
{
	if (w->page_limit == 1) {
		lose_place(w);
		watch_fail(w, 0, "a single object is too large: %s", sentence);
		return;
	}
	w->page_limit /= 2;
	hang_up(w);
	ask_page(w);
}

/* Hands out the items. False when the watch was stopped, or failed, meanwhile. */
static bool take_items(struct kube_watch *w, const cJSON *list)
{
	json_each(item, json_array(list, "items"))
	{
		if (!json_text(json_object(item, "metadata"), "resourceVersion")) {
			lose_place(w);
			watch_fail(w, 0, "a list holds something that is no object");
			return false;
		}
		w->handler.event(KUBE_ADDED, item, w->ctx);
		if (w->state == WATCH_STOPPED)
			return false;
	}
	return true;
}

static void take_page(struct kube_watch *w, const cJSON *list)
{
	const cJSON *metadata = json_object(list, "metadata");
	const char *next = json_text(metadata, "continue");
	bool more = next && *next;
	if (!json_array(list, "items") && json_get(list, "items")) {
		lose_place(w);
		watch_fail(w, 0, "the answer is no list");
		return;
	}
	if (!take_items(w, list))
		return;
	buf_reset(&w->next_page);
	if (more)
		buf_puts(&w->next_page, next);
	if (w->next_page.failed || (!more && !keep_version(w, list))) {
		lose_place(w);
		watch_fail(w, 0, "a list has no resourceVersion, or a monstrous continue token");
		return;
	}
	hang_up(w); /* the tree is not needed any more */
	if (more) {
		ask_page(w);
		return;
	}
	say_end(w);
}

static void on_page(const struct kube_answer *a, void *ctx)
{
	struct kube_watch *w = ctx;
	const cJSON *list;
	struct err err = {""};
	w->request = 0;
	if (a->outcome == KUBE_LIMIT) {
		shrink_page(w, a->sentence);
		return;
	}
	w->worked |= a->outcome == KUBE_DONE;
	if (a->outcome != KUBE_DONE) {
		if (a->outcome != KUBE_RETRY)
			lose_place(w); /* 410: the continue token expired */
		w->hasty = is_starting_up(w, a);
		w->absent = is_away(w, a);
		watch_fail(w, a->retry_after_ms, "%s", a->sentence);
		return;
	}
	int rc = json_parse(w->json, a->body, &list, &err);
	if (rc == ERR_LIMIT) {
		shrink_page(w, err.text);
	} else if (rc < 0) {
		lose_place(w);
		watch_fail(w, 0, "a page cannot be read: %s", err.text);
	} else {
		take_page(w, list);
	}
}

/* Says begin; false when the caller stopped us in it. */
static bool begin(struct kube_watch *w)
{
	w->handler.begin(w->ctx);
	return w->state != WATCH_STOPPED;
}

/* The only place that writes the state. What comes last in it is what may call the caller. */
static void watch_enter(struct kube_watch *w, enum watch_state next)
{
	enum watch_state from = w->state;
	w->state = next;
	if (w->handler.moved && from != next && next != WATCH_STOPPED)
		w->handler.moved(state_name(from), state_name(next), w->ctx);
	if (w->state != next)
		return; /* stopped in moved() */
	switch (next) {
	case WATCH_PAUSED:
		break;
	case WATCH_STREAMING:
		if (begin(w))
			open_stream(w, true);
		break;
	case WATCH_PAGING:
		if (w->next_page.len > 0 || begin(w))
			ask_page(w);
		break;
	case WATCH_FOLLOWING:
		if (w->request == 0) /* else the stream that brought the list goes on */
			open_stream(w, false);
		break;
	case WATCH_STOPPED:
		/* The tree stays: the caller may be in the middle of an object. */
		ev_timer_stop(w->loop, &w->pause);
		cancel(w);
		break;
	}
}

static void on_pause_over(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct kube_watch *w = timer->data;
	(void)loop;
	(void)revents;
	if (*w->version)
		watch_enter(w, WATCH_FOLLOWING);
	else if (w->options.no_streaming_list)
		watch_enter(w, WATCH_PAGING);
	else
		watch_enter(w, WATCH_STREAMING);
}

static void set_options(struct kube_watch *w, const struct kube_watch_options *o)
{
	w->options = *o;
	if (o->silence_ms <= 0)
		w->options.silence_ms = 90000;
	if (o->steady_ms <= 0)
		w->options.steady_ms = 5000;
	if (o->backoff_ms <= 0)
		w->options.backoff_ms = 200;
	if (o->backoff_max_ms <= 0)
		w->options.backoff_max_ms = 30000;
	if (o->event_ceiling == 0)
		w->options.event_ceiling = 16 * 1024 * 1024;
	w->page_limit = o->page_limit > 0 ? o->page_limit : 500;
	w->seed = o->seed;
	w->path = mem_strdup(o->path);
	w->label_selector = mem_strdup(o->label_selector);
	w->field_selector = mem_strdup(o->field_selector);
	w->options.path = w->options.label_selector = w->options.field_selector = NULL;
}

struct kube_watch *kube_watch_new(struct kube_client *client,
	const struct kube_watch_options *options, const struct kube_watch_handler *handler,
	void *ctx)
{
	struct kube_watch *w = mem_alloc(sizeof(*w));
	*w = (struct kube_watch){.client = client,
		.loop = kube_client_loop(client),
		.handler = *handler,
		.ctx = ctx,
		.state = WATCH_PAUSED};
	set_options(w, options);
	frames_init(&w->frames, w->options.event_ceiling);
	buf_init(&w->next_page, CONTINUE_CEILING);
	w->json = json_new(w->options.event_ceiling * TREE_FACTOR);
	ev_timer_init(&w->pause, on_pause_over, 0., 0.);
	ev_timer_init(&w->silence, on_silence, 0., 0.);
	w->pause.data = w->silence.data = w;
	ev_timer_start(w->loop, &w->pause);
	return w;
}

static void watch_dispose(void *ptr)
{
	struct kube_watch *w = ptr;
	frames_done(&w->frames);
	buf_done(&w->next_page);
	json_free(w->json);
	free(w->path);
	free(w->label_selector);
	free(w->field_selector);
	free(w);
}

void kube_watch_relist(struct kube_watch *w)
{
	lose_place(w);
	hang_up(w);
	pause_for(w, 0);
}

void kube_watch_free(struct kube_watch *w)
{
	if (!w)
		return;
	must(w->state != WATCH_STOPPED);
	watch_enter(w, WATCH_STOPPED);
	kube_client_bury(w->client, watch_dispose, w);
}

bool kube_watch_synced(const struct kube_watch *w)
{
	return *w->version != '\0';
}

const char *kube_watch_state(const struct kube_watch *w)
{
	return state_name(w->state);
}

const char *kube_watch_version(const struct kube_watch *w)
{
	return w->version;
}
