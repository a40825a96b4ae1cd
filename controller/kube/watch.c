#include "controller/kube/watch.h"

#include <ev.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/mix.h"
#include "base/monotonic.h"
#include "base/must.h"
#include "controller/common/path.h"
#include "base/span.h"
#include "controller/kube/frames.h"
#include "controller/kube/skim.h"

enum {
	VERSION_SIZE = SKIM_VERSION_SIZE, /* a resourceVersion is opaque, but never this long */
	CONTINUE_CEILING = 64 * 1024,
	TREE_FACTOR = 8,  /* memory of a tree against its text; honest objects need 4 */
	DENIALS_MAX = 40, /* with HASTY_MS between them about ten seconds */
	HASTY_MS = 400,
	ABSENT_MS = 1000,      /* between tries of a server that is away */
	LIST_GRACE_MS = 30000, /* the silence after which a list does not count as coming in */
};

enum watch_state {
	WATCH_PAUSED,	 /* the timer runs; then on_pause_over() */
	WATCH_STREAMING, /* a stream that begins with the list */
	WATCH_PAGING,	 /* a page of the list is asked for */
	WATCH_ASKING,	 /* asks where the server is, before the stream is taken up again */
	WATCH_FOLLOWING, /* the list is complete, the stream is up */
	WATCH_STOPPED,	 /* waits for its grave */
};

struct kube_watch {
	struct kube_client *client;
	struct link of_client; /* in kube_client_watches() */
	struct ev_loop *loop;
	struct kube_watch_handler handler;
	void *ctx;
	struct kube_watch_options options;
	char *path, *label_selector, *field_selector;
	enum watch_state state;
	uint64_t request; /* the request in flight; 0: none */
	double opened_at, heard_at;
	char version[VERSION_SIZE]; /* to follow from; "": a new list is needed */
	char reached[VERSION_SIZE]; /* the version before a new list was needed; "": none */
	struct buf next_page;	    /* continue token of the page to ask for; empty: the first */
	int page_limit, page_limit_max;
	unsigned failures; /* failures in a row */
	bool missed;	   /* an object without a name was skipped since the last list began */
	bool accepted;	   /* the server took the stream that is in flight */
	bool told; /* the stream in flight has sent an event, a bookmark or the whole list */
	int64_t opened_ms, heard_ms; /* of the stream in flight, by the clock that never steps */
	int64_t up_ms;	     /* when the watch was up last, by that clock; first: when it began */
	bool worked;	     /* the watch has followed once: so it has the right to */
	unsigned denials;    /* 403s in a row since the watch worked */
	bool hasty;	     /* the failure being told is one of denials */
	bool absent;	     /* the failure being told: the server was away */
	bool forgotten;	     /* the failure being told: the server forgot our version */
	bool listed_at_once; /* a list was asked for at once since the stream was steady */
	int64_t least_ms;    /* no try before: the server asked for that */
	int64_t anew_ms; /* when another watch last had this one begin its waits anew; 0: never */
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
	case WATCH_ASKING:
		return "asking where the server is";
	case WATCH_FOLLOWING:
		return "following";
	case WATCH_STOPPED:
		return "stopped";
	}
	must(!"a watch_state");
	return NULL;
}

static void watch_enter(struct kube_watch *w, enum watch_state next);

/* Draws the next wait, longer with each failure in a row. */
static int64_t backoff(struct kube_watch *w)
{
	const struct kube_watch_options *o = &w->options;
	return backoff_drawn_ms(
		backoff_ms(o->backoff_ms, w->failures++, o->backoff_max_ms), draw64(&w->seed));
}

/*
 * Whether the server has just started, by its answer: it says 403 to all for a few seconds, until
 * it has read its roles. A watch that could read before waits for that without longer and longer
 * pauses. After DENIALS_MAX tries the right counts as gone.
 */
static bool is_starting_up(struct kube_watch *w, const struct kube_answer *a)
{
	return a->http_status == 403 && w->worked && w->denials++ < DENIALS_MAX;
}

static int64_t hasty_pause(struct kube_watch *w)
{
	return backoff_drawn_ms(HASTY_MS, draw64(&w->seed));
}

/*
 * Whether the server is away. To ask costs it nothing then, and when it comes back nothing should
 * wait for as long as it was away: each watch pauses for itself, and the Jobs' may be the last. A
 * server that answers, if only with an error, has work with each question.
 */
static bool is_away(const struct kube_watch *w, const struct kube_answer *a)
{
	return w->worked && a->http_status == 0 &&
	       (a->outcome == KUBE_RETRY || a->outcome == KUBE_IN_DOUBT);
}

static int64_t next_pause(struct kube_watch *w)
{
	bool at_once = w->forgotten && !w->listed_at_once;
	w->listed_at_once |= at_once;
	int64_t wait = w->hasty ? hasty_pause(w) : backoff(w);
	if (at_once)
		wait = 0;
	if (w->absent && wait > ABSENT_MS)
		wait = backoff_drawn_ms(ABSENT_MS, draw64(&w->seed));
	w->hasty = w->absent = w->forgotten = false;
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

/* Has a waiting watch try soon, since another one of its client works again. At most once in
 * steady_ms: a watch that comes and goes must not have the others come and go as often. */
static void begin_anew(struct kube_watch *w, int64_t now_ms)
{
	if (w->state != WATCH_PAUSED || w->failures == 0 ||
		(w->anew_ms != 0 && now_ms - w->anew_ms < w->options.steady_ms))
		return;
	w->anew_ms = now_ms;
	w->failures = 0;
	int64_t wait_ms = hasty_pause(w), least_ms = w->least_ms - now_ms;
	pause_for(w, wait_ms > least_ms ? wait_ms : least_ms);
}

static void works_again(struct kube_watch *w)
{
	if (w->failures == 0)
		return;
	list_each_entry(kube_client_watches(w->client), struct kube_watch, o, of_client)
		if (o != w)
			begin_anew(o, monotonic_ms());
}

static void steady(struct kube_watch *w)
{
	w->failures = 0;
	w->listed_at_once = false;
}

static bool is_up(const struct kube_watch *w)
{
	return w->state == WATCH_FOLLOWING && w->accepted &&
	       (w->told || monotonic_ms() - w->opened_ms >= w->options.steady_ms);
}

static bool is_list_coming(const struct kube_watch *w)
{
	return (w->state == WATCH_STREAMING || w->state == WATCH_PAGING) &&
	       w->heard_ms > w->opened_ms && monotonic_ms() - w->heard_ms < LIST_GRACE_MS;
}

static void note_end_of_stream(struct kube_watch *w)
{
	if (is_up(w))
		w->up_ms = monotonic_ms();
	w->accepted = w->told = false;
}

/* Cancels the request in flight: no more callbacks of it come. */
static void cancel(struct kube_watch *w)
{
	note_end_of_stream(w);
	kube_client_cancel(w->client, w->request);
	w->request = 0;
	ev_timer_stop(w->loop, &w->silence);
}

/* Ends the request in flight, and drops what was read of it. */
static void hang_up(struct kube_watch *w)
{
	cancel(w);
	frames_reset(&w->frames);
	json_reset(w->json);
}

/* Forgets the version: everything starts over from a new list. */
static void lose_place(struct kube_watch *w)
{
	if (*w->version)
		strcpy(w->reached, w->version);
	w->version[0] = '\0';
	buf_done(&w->next_page);
}

/* Notes whether the server is away, and forgets the version then. The server may come back with an
 * older store and write past that version: no version shows this, but each object of a list
 * does. */
static void note_absence(struct kube_watch *w, const struct kube_answer *a)
{
	w->absent = is_away(w, a);
	if (w->absent && w->handler.went_back)
		lose_place(w);
}

/* Forgets the version if the process slept: the server may have been away unseen (note_absence). */
static void doubt_place(struct kube_watch *w)
{
	if (w->handler.went_back && kube_client_awake_since_ms(w->client) > w->opened_ms)
		lose_place(w);
}

/* Ends every failure: pauses, then goes on from where we are (lose_place decides where that is). w
 * may be gone afterwards, for trouble() may free it. */
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
		steady(w);
	hang_up(w);
	int64_t wait = next_pause(w);
	w->least_ms = monotonic_ms() + at_least_ms;
	pause_for(w, wait > at_least_ms ? wait : at_least_ms);
	if (w->state != WATCH_STOPPED)
		w->handler.trouble(err.text, w->ctx);
}

static void add_selectors(struct kube_watch *w, struct buf *b)
{
	if (w->label_selector)
		path_format(b, "&labelSelector=%s", w->label_selector);
	if (w->field_selector)
		path_format(b, "&fieldSelector=%s", w->field_selector);
}

/* Keeps the version of an object's metadata. False: there is none that we can use. */
static bool keep_version(struct kube_watch *w, const cJSON *object)
{
	const char *version = json_text(json_object(object, "metadata"), "resourceVersion");
	if (!version || !*version || strlen(version) >= VERSION_SIZE)
		return false;
	strcpy(w->version, version);
	return true;
}

/* Tells how far the watch has come. Last in a callback: the watch may be stopped after it. */
static void say_seen(struct kube_watch *w)
{
	if (w->handler.seen && w->state == WATCH_FOLLOWING)
		w->handler.seen(w->version, w->ctx);
}

/* Compares versions: numbers of any length. A version that is no number is never older. */
static bool is_older(const char *version, const char *other)
{
	static const char digits[] = "0123456789";
	size_t n = strlen(version), m = strlen(other);
	if (n == 0 || strspn(version, digits) != n || strspn(other, digits) != m)
		return false;
	return n != m ? n < m : strcmp(version, other) < 0;
}

static void say_went_back(struct kube_watch *w, const char *before, const char *now)
{
	if (w->handler.went_back && is_older(now, before))
		w->handler.went_back(before, now, w->ctx);
}

static void say_end(struct kube_watch *w)
{
	w->up_ms = monotonic_ms();
	watch_enter(w, WATCH_FOLLOWING);
	if (w->state != WATCH_STOPPED)
		say_went_back(w, w->reached, w->version);
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
	if (w->state == WATCH_STREAMING && !end && w->missed) {
		watch_fail(w, 0, "the end of a list may have been skipped; listing again");
		return;
	}
	if (w->state == WATCH_STREAMING && !end)
		return; /* the list is not whole: there is no place to go on from yet */
	w->told = true;
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

/* Takes an error in the middle of a stream. Only "too many requests" leaves our place good. */
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
	w->forgotten = code == 410;
	/* message lives in the tree, which watch_fail drops only after it wrote the sentence. */
	watch_fail(w, seconds * 1000, "the server says %lld: %.250s%s", (long long)code,
		message ? message : "(nothing)", code != 429 ? "; listing again" : "");
}

static void complain_of_unreadable(struct kube_watch *w, const struct kube_unreadable *u)
{
	struct err err;
	err_set(&err, 0,
		"watch of %.120s: %s%s%s cannot be read (%.200s) and stays as it was known",
		w->path, u->ns, *u->ns ? "/" : "", *u->name ? u->name : "an object", u->why);
	w->handler.trouble(err.text, w->ctx);
}

/* Tells of an object that cannot be read. The watch may be stopped afterwards. */
static void say_unreadable(struct kube_watch *w, struct slice text, const char *why)
{
	struct skim_identity id;
	skim_identity(text, &id);
	struct kube_unreadable u = {id.ns, id.name, id.uid, why, text};
	w->missed |= id.name[0] == '\0';
	if (w->handler.unreadable)
		w->handler.unreadable(&u, w->ctx);
	else
		complain_of_unreadable(w, &u);
}

/* Tells the handler, which may keep a place for the object, that it is gone. */
static void say_deleted(struct kube_watch *w, const struct skim_identity *id)
{
	struct buf text;
	const cJSON *object;
	buf_init(&text, 4 * sizeof(*id));
	struct json_writer made = json_writer_object(&text);
	jw_object(&made, "metadata");
	jw_text(&made, "name", id->name);
	if (*id->ns)
		jw_text(&made, "namespace", id->ns);
	if (*id->uid)
		jw_text(&made, "uid", id->uid);
	jw_close(&made);
	if (json_parse(w->json, buf_slice(&text), &object, NULL) == 0)
		w->handler.event(KUBE_DELETED, object, w->ctx);
	buf_done(&text);
}

/* Skips a line that is no event that we can read. why must not lie in the tree. */
static void skip_event(struct kube_watch *w, struct slice line, const char *why)
{
	char type[16];
	struct slice object = {"", 0};
	struct skim_identity id;
	bool has_type = skim_text(line, "type", type, sizeof(type));
	if (has_type && (strcmp(type, "ERROR") == 0 || strcmp(type, "BOOKMARK") == 0)) {
		lose_place(w);
		watch_fail(w, 0,
			"what the server says of the watch cannot be read (%.200s); listing again",
			why);
		return;
	}
	skim_member(line, "object", &object);
	skim_identity(object, &id);
	/* While the list is streamed, objects come by name, not by version. */
	if (w->state == WATCH_FOLLOWING && *id.version)
		strcpy(w->version, id.version);
	if (has_type && strcmp(type, "DELETED") == 0 && *id.name)
		say_deleted(w, &id);
	else
		say_unreadable(w, object, why);
}

static void take_object(struct kube_watch *w, enum kube_event type, const cJSON *object)
{
	char before[VERSION_SIZE];
	strcpy(before, w->version);
	must(keep_version(w, object));
	if (w->state == WATCH_STREAMING)
		strcpy(w->version, before);
	w->told = true;
	w->handler.event(type, object, w->ctx);
	say_seen(w);
}

static bool has_version(const cJSON *object)
{
	const char *version = json_text(json_object(object, "metadata"), "resourceVersion");
	return version && *version && strlen(version) < VERSION_SIZE;
}

static bool is_object_event(const char *type, enum kube_event *ret_type)
{
	static const char *const names[] = {"ADDED", "MODIFIED", "DELETED"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(type, names[i]) == 0) {
			*ret_type = (enum kube_event)i;
			return true;
		}
	}
	return false;
}

static void take_line(struct kube_watch *w, struct slice line)
{
	const cJSON *root;
	struct err err = {""};
	enum kube_event event;
	if (json_parse(w->json, line, &root, &err) < 0) {
		skip_event(w, line, err.text);
		return;
	}
	const char *type = json_text(root, "type");
	const cJSON *object = json_object(root, "object");
	if (type && is_object_event(type, &event) && has_version(object))
		take_object(w, event, object);
	else if (type && strcmp(type, "BOOKMARK") == 0)
		take_bookmark(w, object);
	else if (type && strcmp(type, "ERROR") == 0)
		take_error(w, object);
	else if (type && is_object_event(type, &event))
		skip_event(w, line, "it has no metadata.resourceVersion");
	else
		skip_event(w, line, "an event of unknown type");
}

static void take_long_line(struct kube_watch *w, struct slice beginning)
{
	struct err err;
	err_set(&err, 0, "it has more than %zu bytes", w->options.event_ceiling);
	skip_event(w, beginning, err.text);
}

static void on_bytes(struct slice bytes, void *ctx)
{
	struct kube_watch *w = ctx;
	uint64_t request = w->request;
	struct slice line;
	int rc;
	w->heard_at = ev_now(w->loop);
	w->heard_ms = monotonic_ms();
	if (!w->accepted)
		works_again(w);
	w->accepted = w->worked = true;
	w->denials = 0;
	/* Any event may end this stream, or the watch, whose memory stays: kube_watch_free. */
	while (w->request == request && (rc = frames_next(&w->frames, &bytes, &line)) != 0) {
		if (rc == ERR_LIMIT)
			take_long_line(w, line);
		else
			take_line(w, line);
		if (w->request == request)
			json_reset(w->json);
	}
}

/* Whether the server refuses to follow from our version, in one of its ways. */
static bool is_place_refused(const struct kube_answer *a)
{
	return a->outcome == KUBE_RELIST || a->outcome == KUBE_STALE || a->http_status == 400 ||
	       a->http_status == 504; /* 504: "Too large resource version", after a restore */
}

static bool is_streaming_refused(const struct kube_watch *w, const struct kube_answer *a)
{
	return w->state == WATCH_STREAMING && (a->http_status == 400 || a->http_status == 422);
}

/* Takes up a stream that the server ended in good order, as it does every few minutes. */
static void stream_ended(struct kube_watch *w)
{
	double lived_ms = (ev_now(w->loop) - w->opened_at) * 1000.0;
	if (w->missed)
		lose_place(w); /* a new list makes up for it */
	if (w->state == WATCH_STREAMING) {
		watch_fail(w, 0, "the stream ended within the list");
	} else if (frames_cut(&w->frames)) {
		watch_fail(w, 0, "the stream ended within an event; taking it up again");
	} else if (lived_ms < (double)w->options.steady_ms) {
		watch_fail(w, 0, "the server ended the stream after %.0f ms", lived_ms);
	} else {
		steady(w);
		hang_up(w);
		pause_for(w, 0);
	}
}

static void on_stream_end(const struct kube_answer *a, void *ctx)
{
	struct kube_watch *w = ctx;
	note_end_of_stream(w);
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
	w->forgotten = w->state == WATCH_FOLLOWING && a->outcome == KUBE_RELIST;
	w->hasty = is_starting_up(w, a);
	note_absence(w, a);
	watch_fail(w, a->retry_after_ms, "%s%s", a->sentence, *w->version ? "" : "; listing again");
}

static void open_stream(struct kube_watch *w, bool with_list)
{
	struct buf path;
	int64_t timeout_s = w->options.server_timeout_s;
	if (timeout_s <= 0)
		timeout_s = 300 + (int64_t)(draw64(&w->seed) % 300);
	buf_init(&path, SIZE_MAX / 2);
	buf_printf(&path, "%s?watch=1&allowWatchBookmarks=true&timeoutSeconds=%lld", w->path,
		(long long)timeout_s);
	if (with_list)
		buf_puts(&path, "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
	else
		path_format(&path, "&resourceVersion=%s", w->version);
	add_selectors(w, &path);
	struct kube_request q = {.method = KUBE_GET, .path = buf_text(&path)};
	w->request = kube_client_stream(w->client, &q, on_bytes, on_stream_end, w);
	buf_done(&path);
	w->opened_at = w->heard_at = ev_now(w->loop);
	w->opened_ms = w->heard_ms = monotonic_ms();
	ev_now_update(w->loop);
	ev_timer_stop(w->loop, &w->silence);
	ev_timer_set(&w->silence, (double)w->options.silence_ms / 1000.0, 0.);
	ev_timer_start(w->loop, &w->silence);
}

/* Looks, when it is due, whether the stream was silent for too long. One timer serves the whole
 * stream: events do not re-arm it. */
static void on_silence(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct kube_watch *w = timer->data;
	double quiet = ev_now(loop) - w->heard_at, limit = (double)w->options.silence_ms / 1000.0;
	(void)revents;
	bool steady = w->options.silence_ms >= w->options.steady_ms;
	if (w->state == WATCH_FOLLOWING && quiet >= limit && steady) {
		/* Dead, or a kind that does not change: the API server sends no bookmarks before
		 * the first event. Not worth a word unless taking it up again fails. */
		stream_ended(w);
		return;
	}
	if (quiet >= limit || quiet < 0) {
		watch_fail(w, 0,
			"nothing received for %s: the connection is dead; connecting again",
			span_of_seconds(limit).s);
		return;
	}
	ev_timer_set(&w->silence, limit - quiet + 0.001, 0.);
	ev_timer_start(loop, &w->silence);
}

/* Compares the server's version, in an answer to a list without one, with ours: such a list is
 * answered by the newest there is. If the server is older, it went back. */
static void take_whereabouts(struct kube_watch *w, struct slice body)
{
	struct slice metadata;
	char now[VERSION_SIZE], before[VERSION_SIZE];
	if (skim_member(body, "metadata", &metadata) &&
		skim_text(metadata, "resourceVersion", now, sizeof(now)) &&
		is_older(now, w->version)) {
		strcpy(before, w->version);
		lose_place(w);
		w->reached[0] = '\0'; /* to be told below */
		hang_up(w);
		pause_for(w, 0);
		if (w->state != WATCH_STOPPED)
			say_went_back(w, before, now);
		return;
	}
	watch_enter(w, WATCH_FOLLOWING);
}

static void on_whereabouts(const struct kube_answer *a, void *ctx)
{
	struct kube_watch *w = ctx;
	w->request = 0;
	if (a->outcome == KUBE_DONE) {
		take_whereabouts(w, a->body);
		return;
	}
	if (a->outcome == KUBE_LIMIT) {
		watch_enter(w, WATCH_FOLLOWING); /* one object is monstrous: take it as it was */
		return;
	}
	w->hasty = is_starting_up(w, a);
	note_absence(w, a);
	watch_fail(w, a->retry_after_ms, "%s", a->sentence);
}

/* Asks for a page of the list, which begins at token; "": the first page. */
static void ask_list(struct kube_watch *w, int limit, const char *token, kube_answer_fn *done)
{
	struct buf path;
	buf_init(&path, SIZE_MAX / 2);
	buf_printf(&path, "%s?limit=%d", w->path, limit);
	if (*token)
		path_format(&path, "&continue=%s", token);
	add_selectors(w, &path);
	struct kube_request q = {.method = KUBE_GET,
		.path = buf_text(&path),
		.answer_ceiling = w->options.event_ceiling};
	w->request = kube_client_send(w->client, &q, done, w);
	buf_done(&path);
}

static void ask_whereabouts(struct kube_watch *w)
{
	ask_list(w, 1, "", on_whereabouts);
}

static void on_page(const struct kube_answer *a, void *ctx);

static void ask_page(struct kube_watch *w)
{
	ask_list(w, w->page_limit, buf_text(&w->next_page), on_page);
}

/* Asks for the page in smaller pieces: it is too large, or cannot be cut into its items. */
static void shrink_page(struct kube_watch *w)
{
	w->page_limit /= 2;
	hang_up(w);
	ask_page(w);
}

struct page {
	char version[VERSION_SIZE]; /* "": none */
	struct buf next;	    /* continue; empty: it is the last */
};

static int read_metadata(struct kube_watch *w, struct slice body, struct page *ret, struct err *e)
{
	struct slice text;
	const cJSON *metadata;
	if (!skim_member(body, "metadata", &text))
		return err_set(e, ERR_INVALID, "it has no metadata");
	int rc = json_parse(w->json, text, &metadata, e);
	if (rc < 0)
		return rc;
	const char *next = json_text(metadata, "continue");
	const char *version = json_text(metadata, "resourceVersion");
	buf_puts(&ret->next, next ? next : "");
	if (ret->next.failed)
		return err_set(e, ERR_LIMIT, "its continue token is monstrous");
	snprintf(ret->version, sizeof(ret->version), "%s",
		version && strlen(version) < VERSION_SIZE ? version : "");
	if (ret->next.len == 0 && !*ret->version)
		return err_set(e, ERR_INVALID, "it has no resourceVersion");
	return 0;
}

/* Tells one item of a page. False: it cannot be read, in a page of more than one. Then its bounds
 * are not to be trusted either: quotes and brackets in it may have swallowed what follows. */
static bool take_item(struct kube_watch *w, struct slice text)
{
	const cJSON *item;
	struct err err = {""};
	int rc = json_parse(w->json, text, &item, &err);
	if (rc == 0 && !has_version(item))
		rc = err_set(&err, ERR_INVALID, "it has no metadata.resourceVersion");
	if (rc < 0 && w->page_limit > 1)
		return false;
	if (rc < 0)
		say_unreadable(w, text, err.text);
	else
		w->handler.event(KUBE_ADDED, item, w->ctx);
	return true;
}

/* Whether the page ends behind its items; if not, a bracket in an item may have ended them. */
static bool ends_the_page(struct slice rest)
{
	while (rest.len > 0 && memchr(" \t\r\n", *rest.ptr, 4))
		rest = (struct slice){rest.ptr + 1, rest.len - 1};
	return rest.len > 0 && *rest.ptr == '}';
}

/*
 * Hands out the items one by one; rest is the text after them. An object that fills a page of its
 * own and has no end is told as unreadable. Returns 0, or:
 *
 *   ERR_LIMIT  the page must be asked for in smaller pieces
 *   ERR_GONE   the watch was stopped meanwhile
 */
static int take_items(struct kube_watch *w, struct slice items, struct slice rest, const char *cut)
{
	struct slice item = {"", 0};
	int rc;
	while ((rc = skim_item(&items, &item)) > 0) {
		if (!take_item(w, item))
			return ERR_LIMIT;
		if (w->state == WATCH_STOPPED)
			return ERR_GONE;
	}
	if (w->page_limit > 1)
		return rc == 0 && ends_the_page(rest) ? 0 : ERR_LIMIT;
	if (rc < 0)
		say_unreadable(w, item, cut ? cut : "it has no end");
	return w->state == WATCH_STOPPED ? ERR_GONE : 0;
}

static void turn_page(struct kube_watch *w, const struct page *page)
{
	bool more = page->next.len > 0;
	hang_up(w); /* the tree is not needed any more */
	buf_reset(&w->next_page);
	buf_add(&w->next_page, page->next.ptr, page->next.len);
	if (w->page_limit < w->page_limit_max / 2)
		w->page_limit *= 2; /* what was too large is behind us */
	else
		w->page_limit = w->page_limit_max;
	if (more) {
		ask_page(w);
		return;
	}
	strcpy(w->version, page->version);
	say_end(w);
}

/* Gives the text of a page's items, and what follows it. */
static struct slice items_of(struct slice body, bool whole, struct slice *ret_rest)
{
	struct slice items;
	*ret_rest = slice_of("}");
	if (!skim_member(body, "items", &items))
		return slice_of(whole ? "[]" : "[");
	*ret_rest = (struct slice){items.ptr + items.len, body.len};
	ret_rest->len -= (size_t)(ret_rest->ptr - body.ptr);
	return slice_is(items, "null") ? slice_of("[]") : items;
}

/* Takes a page. cut: why the text is no whole page; NULL: it is one, as far as is known. */
static void take_page(struct kube_watch *w, struct slice body, const char *cut)
{
	struct page page = {.version = ""};
	struct slice rest, items = items_of(body, !cut, &rest);
	struct err err = {""};
	buf_init(&page.next, CONTINUE_CEILING);
	int rc = read_metadata(w, body, &page, &err);
	if (rc == 0 && *items.ptr != '[')
		rc = err_set(&err, ERR_INVALID, "its items are no list");
	if (rc < 0) {
		lose_place(w);
		watch_fail(w, 0, "a page of the list cannot be read: %.200s%s%.200s", err.text,
			cut ? "; " : "", cut ? cut : "");
	} else if ((rc = take_items(w, items, rest, cut)) == 0) {
		turn_page(w, &page);
	} else if (rc == ERR_LIMIT) {
		shrink_page(w);
	}
	buf_done(&page.next);
}

static void take_long_page(struct kube_watch *w, const struct kube_answer *a)
{
	if (w->page_limit > 1)
		shrink_page(w);
	else
		take_page(w, a->body, a->sentence); /* only the beginning came */
}

static void on_page(const struct kube_answer *a, void *ctx)
{
	struct kube_watch *w = ctx;
	w->request = 0;
	w->heard_ms = monotonic_ms();
	w->worked |= a->outcome == KUBE_DONE;
	if (a->outcome == KUBE_LIMIT) {
		take_long_page(w, a);
	} else if (a->outcome == KUBE_DONE) {
		works_again(w);
		take_page(w, a->body, NULL);
	} else {
		if (a->outcome != KUBE_RETRY)
			lose_place(w); /* 410: the continue token expired */
		w->forgotten = a->outcome == KUBE_RELIST;
		w->hasty = is_starting_up(w, a);
		w->absent = is_away(w, a);
		watch_fail(w, a->retry_after_ms, "%s", a->sentence);
	}
}

/* Says begin. False: the caller stopped the watch in it. */
static bool begin(struct kube_watch *w)
{
	w->missed = false;
	w->handler.begin(w->ctx);
	return w->state != WATCH_STOPPED;
}

/* Moves the watch to a state; nothing else writes it. Its last step may call the caller. */
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
	case WATCH_ASKING:
		ask_whereabouts(w);
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
	doubt_place(w);
	if (*w->version)
		watch_enter(w, w->handler.went_back ? WATCH_ASKING : WATCH_FOLLOWING);
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
	w->page_limit = w->page_limit_max = o->page_limit > 0 ? o->page_limit : 500;
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
		.state = WATCH_PAUSED,
		.up_ms = monotonic_ms()};
	set_options(w, options);
	frames_init(&w->frames, w->options.event_ceiling);
	buf_init(&w->next_page, CONTINUE_CEILING);
	w->json = json_new(w->options.event_ceiling * TREE_FACTOR);
	ev_timer_init(&w->pause, on_pause_over, 0., 0.);
	ev_timer_init(&w->silence, on_silence, 0., 0.);
	w->pause.data = w->silence.data = w;
	ev_timer_start(w->loop, &w->pause);
	list_add(kube_client_watches(client), &w->of_client);
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
	list_leave(&w->of_client);
	watch_enter(w, WATCH_STOPPED);
	kube_client_bury(w->client, watch_dispose, w);
}

bool kube_watch_synced(const struct kube_watch *w)
{
	return *w->version != '\0';
}

int64_t kube_watch_stalled_ms(const struct kube_watch *w)
{
	if (is_up(w) || is_list_coming(w))
		return 0;
	int64_t awake_ms = kube_client_awake_since_ms(w->client);
	return monotonic_ms() - (w->up_ms > awake_ms ? w->up_ms : awake_ms);
}

const char *kube_watch_state(const struct kube_watch *w)
{
	return state_name(w->state);
}

const char *kube_watch_version(const struct kube_watch *w)
{
	return w->version;
}
