#include "controller/answers/watchers.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/mem.h"
#include "base/must.h"
#include "controller/common/seed.h"
#include "controller/answers/complaint.h"
#include "controller/answers/queued_job.h"
#include "controller/answers/watch_rows.h"

enum {
	ORDERS_MAX = 200, /* events in one question */
	ORDERS_MAX_BYTES = READER_QUESTION_MAX - (16 << 10),
	WAITING_MAX_BYTES = 256 << 10, /* bytes to be sent above which no more is ordered */
	KNOWN_MAX_BYTES = 128 << 20,   /* bytes that all watchers know */
	MANY_BYTES = 64 << 10,	       /* rows of that size are compared only every MANY_TICKS */
	MANY_TICKS = 5,
	BOOKMARK_MS = 60000,
	LASTS_MS = 30 * 60000, /* at random up to twice that */
	EVENT_MAX_BYTES = 16 << 10,
};

enum watcher_state {
	WATCHER_IDLE,	    /* waits for the next round */
	WATCHER_READS,	    /* waits for the rows from the reader */
	WATCHER_ORDERS,	    /* waits for the words of events from the reader */
	WATCHER_HOLDS_BACK, /* waits for the client to take what was written */
};

/* How far a round has come in both lists: up to there all was told. */
struct progress {
	size_t known, now; /* bytes */
};

struct watcher {
	struct link all; /* w->watchers, until it is freed */
	struct watchers *watchers;
	struct http_question *question; /* set until the first answer of the reader; then NULL */
	struct http_stream *stream;	/* set from then on */
	const struct http *port;
	char *user;
	struct job_query query;
	struct watch_terms terms;
	enum watcher_state state;
	struct buf known;	 /* rows that the watcher was told */
	uint64_t complete;	 /* the moment of which known has all rows; 0: none */
	unsigned parts;		 /* events since complete */
	struct buf now;		 /* rows of the round under way */
	uint64_t moment;	 /* of the round under way */
	struct progress told;	 /* of the round under way */
	struct progress ordered; /* WATCHER_ORDERS: told as it will be */
	bool has_columns, has_end_of_all;
	int64_t until_ms, bookmark_ms; /* 0: not yet known */
};

struct watchers {
	struct reader *reader;
	struct link watchers;
	uint64_t ticks;
	size_t bytes; /* length of known and now of all watchers */
};

/* ---- what he knows --------------------------------------------------------------------------- */

static struct slice rest(const struct buf *rows, size_t from)
{
	return (struct slice){buf_text(rows) + from, rows->len - from};
}

static void forget_rows(struct watcher *x, struct buf *rows)
{
	x->watchers->bytes -= rows->len;
	buf_done(rows);
}

static void keep_rows(struct watcher *x, struct buf *rows, struct slice body)
{
	forget_rows(x, rows);
	buf_init(rows, body.len + 1);
	buf_add(rows, body.ptr, body.len);
	x->watchers->bytes += rows->len;
}

/* Ends the round. What was told of it is known; where that is not all, with the rest of what was
 * known before. */
static void round_end(struct watcher *x)
{
	struct slice left = rest(&x->known, x->told.known);
	struct buf merged;
	buf_init(&merged, x->told.now + left.len + 1);
	buf_add(&merged, buf_text(&x->now), x->told.now);
	buf_add(&merged, left.ptr, left.len);
	must(!merged.failed);
	forget_rows(x, &x->now);
	forget_rows(x, &x->known);
	x->known = merged;
	x->watchers->bytes += merged.len;
	x->told = (struct progress){0, 0};
	x->state = WATCHER_IDLE;
}

/* ---- his life -------------------------------------------------------------------------------- */

static void watcher_free(struct watcher *x)
{
	reader_forget(x->watchers->reader, x);
	forget_rows(x, &x->known);
	forget_rows(x, &x->now);
	list_leave(&x->all);
	free(x->user);
	free(x);
}

static void on_closed(void *ctx)
{
	watcher_free(ctx);
}

static void watcher_bookmark(struct watcher *x, bool is_end)
{
	struct buf text;
	buf_init(&text, EVENT_MAX_BYTES);
	queued_job_put_bookmark(watch_version(x->complete, 0), is_end, x->query.form, &text);
	http_stream_write(x->stream, buf_slice(&text));
	buf_done(&text);
}

/* True if all that the watcher knows is of one moment: the client may go on from it. */
static bool is_complete(const struct watcher *x)
{
	return x->complete > 0 && x->parts == 0;
}

static void watcher_end(struct watcher *x)
{
	if (x->stream && x->terms.bookmarks && is_complete(x))
		watcher_bookmark(x, false);
	if (x->stream)
		http_stream_end(x->stream);
	watcher_free(x);
}

static void watcher_fail(struct watcher *x, unsigned status, const char *sentence)
{
	struct buf text;
	if (x->question) {
		complain(x->question, status, sentence);
		watcher_free(x);
		return;
	}
	buf_init(&text, EVENT_MAX_BYTES);
	struct json_writer w = json_writer_object(&text);
	jw_text(&w, "type", "ERROR");
	complaint_put_member(&w, "object", status, sentence);
	jw_close(&w);
	buf_putc(&text, '\n');
	http_stream_write(x->stream, buf_slice(&text));
	buf_done(&text);
	http_stream_end(x->stream);
	watcher_free(x);
}

/* ---- a round --------------------------------------------------------------------------------- */

static void tell_more(struct watcher *x);

static void on_drained(void *ctx)
{
	struct watcher *x = ctx;
	if (x->state == WATCHER_HOLDS_BACK)
		tell_more(x);
}

static void begin_stream(struct watcher *x)
{
	struct http_stream_events events = {.drained = on_drained, .closed = on_closed, .ctx = x};
	if (!x->question)
		return;
	x->stream = http_stream(x->question, "application/json", &events);
	x->question = NULL;
}

/* Ends a round of which all is known. */
static void watcher_complete(struct watcher *x)
{
	round_end(x);
	x->complete = x->moment;
	x->parts = 0;
	if (x->terms.marks_end_of_all && !x->has_end_of_all)
		watcher_bookmark(x, true);
	x->has_end_of_all = true;
}

static void on_events(const struct reader_answer *a, void *ctx)
{
	struct watcher *x = ctx;
	if (a->sentence) {
		round_end(x); /* the next round tells what was not told */
		return;
	}
	x->told = x->ordered;
	x->has_columns = true;
	http_stream_write(x->stream, a->body);
	if (http_stream_waiting(x->stream) > WAITING_MAX_BYTES)
		x->state = WATCHER_HOLDS_BACK;
	else
		tell_more(x);
}

static bool ask(struct watcher *x, uint64_t moment, struct slice text, reader_answer_fn *fn)
{
	struct reader_question q = {
		.text = text, .moment = moment, .ns = x->query.path_ns, .is_of_watch = true};
	return reader_ask(x->watchers->reader, &q, fn, x);
}

/* Makes the version of an event, which is the last of its moment, or is not. */
static uint64_t version_of(struct watcher *x, bool is_last)
{
	uint64_t before = x->complete ? x->complete : x->moment - 1;
	return is_last ? watch_version(x->moment, 0) : watch_version(before, ++x->parts);
}

/* Appends orders for what is different; x->ordered is how far they go. False: there was nothing. */
static bool put_orders(struct watcher *x, struct buf *out)
{
	struct slice known = rest(&x->known, x->told.known), now = rest(&x->now, x->told.now);
	struct watch_order o = {0};
	bool more = watch_rows_differ(&known, &now, &o.event, &o.row), any = more;
	for (size_t n = 0; more && n < ORDERS_MAX && out->len < ORDERS_MAX_BYTES; n++) {
		struct watch_order this = o;
		x->ordered = (struct progress){x->known.len - known.len, x->now.len - now.len};
		more = watch_rows_differ(&known, &now, &o.event, &o.row);
		this.version = version_of(x, !more);
		watch_order_put(out, &this);
	}
	if (!more)
		x->ordered = (struct progress){x->known.len, x->now.len};
	return any;
}

static void tell_more(struct watcher *x)
{
	struct job_query_events how = {.with_columns = !x->has_columns};
	struct buf question;
	buf_init(&question, READER_QUESTION_MAX);
	x->query.ask = ASK_EVENTS;
	buf_add(&question, &x->query, sizeof(x->query));
	buf_add(&question, &how, sizeof(how));
	if (!put_orders(x, &question)) {
		x->told = (struct progress){x->known.len, x->now.len};
		watcher_complete(x);
	} else {
		must(!question.failed);
		x->state = WATCHER_ORDERS;
		if (!ask(x, x->moment, buf_slice(&question), on_events))
			round_end(x);
	}
	buf_done(&question);
}

static void take_rows(struct watcher *x, const struct reader_answer *a)
{
	bool is_first = x->question;
	begin_stream(x);
	x->moment = a->moment;
	keep_rows(x, &x->now, a->body);
	if (is_first && !x->terms.tells_all) { /* the client knows them, or does not want them */
		x->told = (struct progress){x->known.len, x->now.len};
		watcher_complete(x);
	} else {
		tell_more(x);
	}
}

static void on_rows(const struct reader_answer *a, void *ctx)
{
	struct watcher *x = ctx;
	x->state = WATCHER_IDLE;
	if (a->code == ERR_LIMIT)
		watcher_fail(x, 413,
			"there are too many Jobs to be watched: watch one namespace, or ask for lists");
	else if (!a->sentence && x->watchers->bytes + a->body.len > KNOWN_MAX_BYTES)
		watcher_fail(x, 429,
			"too many Jobs are watched at once: watch one namespace, or ask again later");
	else if (!a->sentence)
		take_rows(x, a);
	else if (x->question)
		watcher_fail(x, a->too_many ? 429 : 503, a->sentence);
}

/* Asks the reader for rows. moment 0: as they are now. False: that moment is over. */
static bool ask_rows(struct watcher *x, uint64_t moment)
{
	x->query.ask = ASK_ROWS;
	struct slice question = {(const char *)&x->query, sizeof(x->query)};
	x->state = WATCHER_READS;
	return ask(x, moment, question, on_rows);
}

/* ---- who may --------------------------------------------------------------------------------- */

static const char *why_not(const struct watchers *w, const char *user, const char *ns)
{
	unsigned all = 0, own = 0, beside = 0;
	list_each_entry(&w->watchers, const struct watcher, o, all) {
		all++;
		own += strcmp(o->user, user) == 0;
		beside += *ns && strcmp(o->query.path_ns, ns) == 0;
	}
	if (own >= WATCHERS_EACH_MAX)
		return "you have 20 watches of queuedjobs already: end one, or ask again later";
	if (beside >= WATCHERS_NS_MAX)
		return "there are 25 watches of queuedjobs in this namespace already: ask again later";
	if (all >= WATCHERS_MAX)
		return "there are 100 watches of queuedjobs already: ask again later";
	return NULL;
}

void watchers_add(struct watchers *w, struct http_question *q, const struct job_query *query,
	const struct watch_terms *terms, const char *user)
{
	const char *why = why_not(w, user ? user : "", query->path_ns);
	uint64_t from = terms->version ? watch_moment(terms->version) : 0;
	if (why) {
		complain(q, 429, why);
		return;
	}
	struct watcher *x = mem_alloc(sizeof(*x));
	*x = (struct watcher){.watchers = w,
		.question = q,
		.port = http_of(q),
		.user = mem_strdup(user ? user : ""),
		.query = *query,
		.terms = *terms};
	x->query.limit = x->query.first = x->query.moment = 0;
	buf_init(&x->known, 1);
	buf_init(&x->now, 1);
	list_add(&w->watchers, &x->all);
	if ((terms->version && !from) || !ask_rows(x, from))
		watcher_fail(x, 410,
			"what changed since that resourceVersion is not kept: ask for the list anew, and watch from its resourceVersion");
}

/* ---- time ------------------------------------------------------------------------------------ */

static int64_t lasts_ms(const struct watcher *x)
{
	int64_t at_random = LASTS_MS + (int64_t)(seed_draw() % LASTS_MS);
	return x->terms.timeout_ms ? x->terms.timeout_ms : at_random;
}

static bool is_due(const struct watcher *x)
{
	bool many = x->known.len >= MANY_BYTES;
	return x->state == WATCHER_IDLE && (!many || x->watchers->ticks % MANY_TICKS == 0);
}

static void watcher_tick(struct watcher *x, int64_t tick_ms)
{
	if (x->until_ms == 0) {
		x->until_ms = tick_ms + lasts_ms(x);
		x->bookmark_ms = tick_ms + BOOKMARK_MS;
	}
	if (tick_ms >= x->until_ms && x->stream) {
		watcher_end(x);
		return;
	}
	if (tick_ms >= x->bookmark_ms && x->terms.bookmarks && x->stream && is_complete(x)) {
		watcher_bookmark(x, false);
		x->bookmark_ms = tick_ms + BOOKMARK_MS;
	}
	if (is_due(x))
		ask_rows(x, 0);
}

void watchers_tick(struct watchers *w, int64_t tick_ms)
{
	w->ticks++;
	for (struct link *l = w->watchers.next, *next; l != &w->watchers; l = next) {
		next = l->next;
		watcher_tick(container_of(l, struct watcher, all), tick_ms);
	}
}

/* ---- all of them ----------------------------------------------------------------------------- */

void watchers_end(struct watchers *w, const char *sentence)
{
	while (!list_empty(&w->watchers)) {
		struct watcher *x = container_of(w->watchers.next, struct watcher, all);
		if (x->question)
			watcher_fail(x, 503, sentence);
		else
			watcher_end(x);
	}
}

void watchers_drop(struct watchers *w, const struct http *port)
{
	for (struct link *l = w->watchers.next, *next; l != &w->watchers; l = next) {
		struct watcher *x = container_of(l, struct watcher, all);
		next = l->next;
		if (x->port != port)
			continue;
		if (x->stream)
			http_stream_end(x->stream);
		watcher_free(x);
	}
}

struct watchers *watchers_new(struct reader *reader)
{
	struct watchers *w = mem_alloc(sizeof(*w));
	w->reader = reader;
	list_init(&w->watchers);
	return w;
}

void watchers_free(struct watchers *w)
{
	if (!w)
		return;
	must(list_empty(&w->watchers));
	free(w);
}
