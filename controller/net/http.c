#include "controller/net/http.h"

#include <ev.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/json_writer.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/must.h"
#include "controller/net/caller.h"
#include "controller/net/coding.h"
#include "controller/net/front_proxy.h"
#include "controller/net/packer.h"
#include "controller/net/stream.h"

#define LOOK_SECONDS 1.
#define JSON "application/json"

enum {
	HEADERS_MAX_BYTES = 32 * 1024,
	IDLE_SECONDS = 10,
	BODY_MAX_BYTES = 64 * 1024 * 1024,
	ERROR_MAX_BYTES = 4096,
	/* Connections that were ended, but that libmicrohttpd has not closed yet. At its own limit
	 * it closes new ones: no client must be able to bring it there. */
	ENDING_MAX = 1024,
	HANDSHAKE_PACE_MS = 5,
	HANDSHAKES_A_MS = 32,	 /* may be tried again: 2 us each */
	SMALL_BYTES = 64 * 1024, /* an answer like that to a probe always has room */
};

#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

const struct connections_limits HTTP_LIMITS = {
	.all = 256, .each_address = 128, .request_ms = 10000, .answer_ms = 60000};
const struct connections_limits HTTP_PROBE_LIMITS = {
	.all = 64, .each_address = 32, .request_ms = 5000, .answer_ms = 5000};

const struct listener_pace HTTP_TLS_PACE = {.each_second = 100, .burst = 200};

/* The checks of rights, one after the other. */
enum right_check {
	CHECK_NAMES_USERS,  /* the right of a proxy to name a user, */
	CHECK_NAMES_GROUPS, /* and groups */
	CHECK_MUST,	    /* rights.must, of the caller or of the user that it names */
	CHECKS_DONE,
};

enum request_state {
	REQUEST_NEW,
	REQUEST_ASLEEP,	  /* auth was asked; the connection is suspended */
	REQUEST_SETTLED,  /* auth has answered; MHD will call again */
	REQUEST_READS,	  /* its client may ask; the body is awaited */
	REQUEST_DEFERRED, /* the owner will answer later; the connection is suspended */
	REQUEST_PACKED,	  /* the owner has answered, and that is being packed; suspended as well */
	REQUEST_ANSWERED, /* the owner has answered */
	REQUEST_STREAMS,  /* the owner answers by a stream */
};

struct http_question {
	struct http *http;
	struct MHD_Connection *connection;
	struct connection *place;
	struct link link; /* h->questions, until MHD is done with it */
	enum request_state state;
	struct http_rights rights;
	struct caller caller;
	struct posted posted;
	size_t reserved; /* of http.posted, for the body */
	bool is_trusted; /* from loopback, which is trusted, and without a token */
	enum right_check check;
	enum auth_verdict verdict;
	bool lacks_right;	 /* rights.must, of a path that is for all who are known */
	struct http_reply reply; /* REQUEST_ANSWERED */
	struct buf body;
	struct packing *packing;    /* of REQUEST_PACKED */
	struct http_stream *stream; /* of REQUEST_STREAMS */
	size_t unsent;		    /* bytes of the answer */
	bool refused;
	bool is_file; /* the answer is the same for all, until another program runs */
	bool has_tag; /* its owner has set it: */
	char tag[CODING_TAG_SIZE];
};

struct http {
	struct ev_loop *loop;
	struct http_options options;
	struct MHD_Daemon *daemon;
	struct connections *connections;
	struct listener *listener;
	struct packer *packer;
	bool is_tls;
	ev_io io;
	ev_timer timer;
	ev_timer look;	       /* looks at streams; runs while there are any */
	bool has_drained;      /* some stream has */
	bool is_due;	       /* another turn is wanted, whatever libmicrohttpd says */
	bool rests;	       /* until the timer: handshakes stall */
	struct link questions; /* all that were begun */
	size_t unsent;	       /* of all answers but streams */
	size_t posted;	       /* of all bodies that were posted, as long as they are there */
};

/* ---- answers --------------------------------------------------------------------------------- */

static void add_headers(
	struct MHD_Response *r, const char *content_type, const char *policy, const char *cache)
{
	if (policy) {
		MHD_add_response_header(r, "Content-Security-Policy", policy);
		MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
		MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
		MHD_add_response_header(r, "Cross-Origin-Opener-Policy", "same-origin");
	}
	MHD_add_response_header(r, "Content-Type", content_type);
	MHD_add_response_header(r, "Cache-Control", cache);
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
}

/* Whether an answer refuses the client itself: where each connection is of one client for good, also
 * for coming too often, or to the wrong place. */
static bool refuses(const struct http *h, unsigned status)
{
	return status == 401 ||
	       (h->options.clients_stay && (status == 404 || status == 429 || status == 503));
}

/* Whether the connection is closed after a refusal: the client comes anew, at the port's pace. A
 * kept connection is not, where several clients may share it: a stranger among them must not make
 * the others wait. */
static bool is_last(const struct http_question *q)
{
	const struct http_options *o = &q->http->options;
	return o->one_request || (q->refused && (o->clients_stay || !connection_is_kept(q->place)));
}

/* Gives the ETag; "": none. */
static void tag_of(const struct http_question *q, struct http_reply reply, const struct buf *body,
	char ret[CODING_TAG_SIZE])
{
	ret[0] = '\0';
	if (reply.status != 200)
		return;
	if (q->has_tag)
		strcpy(ret, q->tag);
	else if (q->is_file)
		coding_tag(buf_slice(body), ret);
	else if (strcmp(reply.content_type, JSON) != 0 || !coding_tag_answer(buf_slice(body), ret))
		ret[0] = '\0';
}

/* Makes the response of body, which it takes, with an ETag, or "". */
static struct MHD_Response *response_of(
	const struct http_question *q, struct http_reply reply, const char *tag, struct buf *body)
{
	if (reply.status != 304 && body->len <= CODING_SHORT_BYTES && http_takes_gzip(q))
		coding_gzip(body);
	bool is_gzip = coding_is_gzip(buf_slice(body));
	size_t len = body->len;
	char *text = buf_take(body);
	struct MHD_Response *r = MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
	if (!r) {
		free(text);
		return NULL;
	}
	/* A client asks for a file again each time, and is told that it is the same. */
	add_headers(r, reply.content_type, q->http->options.policy,
		q->is_file ? "no-cache" : "no-store");
	MHD_add_response_header(r, "Vary", "Accept-Encoding");
	if (*tag)
		MHD_add_response_header(r, "ETag", tag);
	if (is_gzip)
		MHD_add_response_header(r, "Content-Encoding", "gzip");
	return r;
}

static enum MHD_Result queue_body(
	const struct http_question *q, struct http_reply reply, struct buf *body, const char *extra)
{
	char tag[CODING_TAG_SIZE];
	tag_of(q, reply, body, tag);
	if (*tag && coding_has(http_header(q, "If-None-Match"), tag))
		reply.status = 304; /* libmicrohttpd leaves the body out */
	struct MHD_Response *r = response_of(q, reply, tag, body);
	if (!r)
		return MHD_NO;
	if (reply.status == 401)
		MHD_add_response_header(r, "WWW-Authenticate", "Bearer");
	if (reply.status == 405)
		MHD_add_response_header(r, "Allow", q->posted.takes_post ? "POST" : "GET, HEAD");
	if ((reply.status == 503 || reply.status == 429) && extra)
		MHD_add_response_header(r, "Retry-After", extra);
	if (is_last(q))
		MHD_add_response_header(r, "Connection", "close");
	enum MHD_Result rc = MHD_queue_response(q->connection, reply.status, r);
	MHD_destroy_response(r);
	return rc;
}

static void put_error(struct buf *out, unsigned status, const char *sentence)
{
	(void)status;
	struct json_writer w = json_writer_object(out);
	jw_text(&w, "error", sentence);
	jw_close(&w);
}

static enum MHD_Result queue_error(struct http_question *q, unsigned status, const char *sentence)
{
	const struct http_options *o = &q->http->options;
	struct buf body;
	buf_init(&body, ERROR_MAX_BYTES);
	(o->put_error ? o->put_error : put_error)(&body, status, sentence);
	buf_puts(&body, "\n");
	q->refused = true;
	if (o->refused)
		o->refused(q, status, sentence, o->ctx);
	return queue_body(q, (struct http_reply){status, JSON}, &body, "1");
}

static void http_soon(struct http *h);

struct wanted {
	const char *name, *value;
};

static enum MHD_Result on_param(
	void *ctx, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct wanted *w = ctx;
	(void)kind;
	if (!name || strcmp(name, w->name) != 0)
		return MHD_YES;
	w->value = value;
	return MHD_NO;
}

/* Matches to the letter: MHD_lookup_connection_value() takes FieldSelector for fieldSelector. The
 * API server does not, and gives a right for what it reads. */
const char *http_param(const struct http_question *q, const char *name)
{
	struct wanted w = {name, NULL};
	MHD_get_connection_values(q->connection, MHD_GET_ARGUMENT_KIND, on_param, &w);
	return w.value;
}

struct each_wanted {
	const char *name;
	bool (*fn)(const char *value, void *ctx);
	void *ctx;
};

static enum MHD_Result on_each_param(
	void *ctx, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct each_wanted *w = ctx;
	(void)kind;
	if (!name || strcmp(name, w->name) != 0)
		return MHD_YES;
	return w->fn(value ? value : "", w->ctx) ? MHD_YES : MHD_NO;
}

void http_each_param(const struct http_question *q, const char *name,
	bool (*fn)(const char *value, void *ctx), void *ctx)
{
	struct each_wanted w = {name, fn, ctx};
	MHD_get_connection_values(q->connection, MHD_GET_ARGUMENT_KIND, on_each_param, &w);
}

const char *http_header(const struct http_question *q, const char *name)
{
	return MHD_lookup_connection_value(q->connection, MHD_HEADER_KIND, name);
}

bool http_takes_gzip(const struct http_question *q)
{
	return coding_takes_gzip(http_header(q, "Accept-Encoding"));
}

/* Gives the gnutls_session_t, whose certificate nobody has verified; NULL: plain HTTP. */
static void *session_of(const struct http_question *q)
{
	if (!q->http->is_tls)
		return NULL;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(q->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	return info ? info->tls_session : NULL;
}

void http_keep(struct http_question *q, uint64_t client)
{
	connection_keep(q->place, client);
	if (q->http->options.clients_stay)
		return;
	/* libmicrohttpd's own idle time is shorter. */
	MHD_set_connection_option(q->connection, MHD_CONNECTION_OPTION_TIMEOUT, 0U);
}

static void count_unsent(struct http_question *q, size_t bytes)
{
	q->unsent = bytes;
	q->http->unsent += bytes;
}

void http_tag(struct http_question *q, const char *tag)
{
	must(strlen(tag) < sizeof(q->tag));
	q->has_tag = true;
	strcpy(q->tag, tag);
}

static void wake(struct http_question *q)
{
	MHD_resume_connection(q->connection);
	http_soon(q->http);
}

static void on_packed(void *ctx)
{
	struct http_question *q = ctx;
	q->packing = NULL;
	q->state = REQUEST_ANSWERED;
	q->http->unsent -= q->unsent;
	count_unsent(q, q->body.len);
	wake(q);
}

/* Whether the answer is packed before it goes: one that is too large to be packed at once. The tag
 * is of the text, so it is made now; a client that has the text wants none of it. */
static bool wants_packer(struct http_question *q)
{
	char tag[CODING_TAG_SIZE];
	if (q->body.len <= CODING_SHORT_BYTES || coding_is_gzip(buf_slice(&q->body)) ||
		!http_takes_gzip(q) || !packer_has_room(q->http->packer, q->body.len))
		return false;
	tag_of(q, q->reply, &q->body, tag);
	http_tag(q, tag);
	return !*tag || !coding_has(http_header(q, "If-None-Match"), tag);
}

void http_answer(struct http_question *q, struct http_reply reply, const struct buf *body)
{
	must(q->state == REQUEST_NEW || q->state == REQUEST_SETTLED || q->state == REQUEST_READS ||
		q->state == REQUEST_DEFERRED);
	bool sleeps = q->state == REQUEST_DEFERRED;
	q->state = REQUEST_ANSWERED;
	q->reply = reply;
	q->refused = refuses(q->http, reply.status);
	buf_add(&q->body, body->ptr, body->len);
	count_unsent(q, q->body.len);
	if (wants_packer(q)) {
		q->state = REQUEST_PACKED;
		q->packing = packer_add(q->http->packer, &q->body, q->tag, on_packed, q);
		if (!sleeps)
			MHD_suspend_connection(q->connection);
	} else if (sleeps) {
		wake(q);
	}
}

void http_answer_error(struct http_question *q, unsigned status, const char *sentence)
{
	struct buf body;
	buf_init(&body, ERROR_MAX_BYTES);
	put_error(&body, status, sentence);
	http_answer(q, (struct http_reply){status, JSON}, &body);
	buf_done(&body);
}

void http_answer_file(struct http_question *q, const char *content_type, struct slice text)
{
	struct buf body;
	buf_init(&body, text.len);
	buf_add(&body, text.ptr, text.len);
	q->is_file = true;
	http_answer(q, (struct http_reply){200, content_type}, &body);
	buf_done(&body);
}

const struct http *http_of(const struct http_question *q)
{
	return q->http;
}

bool http_gone(const struct http_question *q)
{
	return connection_is_gone(q->place);
}

bool http_has_room(const struct http_question *q, size_t bytes)
{
	return bytes <= SMALL_BYTES || q->http->unsent + bytes <= HTTP_UNSENT_MAX_BYTES;
}

struct slice http_body(const struct http_question *q)
{
	return buf_slice(&q->posted.body);
}

void http_client(const struct http_question *q, char ret[HTTP_CLIENT_SIZE])
{
	caller_address(q->connection, ret);
}

void http_caller(const struct http_question *q, struct auth_caller *ret)
{
	*ret = (struct auth_caller){.token = q->caller.token,
		.user = q->caller.user,
		.as = q->caller.as,
		.address = connection_address(q->place)};
}

bool http_has_right(const struct http_question *q)
{
	return !q->lacks_right;
}

static void wake_port(void *ctx)
{
	http_soon(ctx);
}

static void note_drained(void *ctx)
{
	((struct http *)ctx)->has_drained = true;
}

struct http_stream *http_stream(
	struct http_question *q, const char *content_type, const struct http_stream_events *events)
{
	struct http *h = q->http;
	must(q->state == REQUEST_NEW || q->state == REQUEST_DEFERRED);
	struct stream_options o = {.connection = q->connection,
		.place = q->place,
		.content_type = content_type,
		.events = *events,
		.wake = wake_port,
		.drained = note_drained,
		.ctx = h};
	q->stream = stream_new(&o, ev_now(h->loop));
	ev_timer_start(h->loop, &h->look);
	bool sleeps = q->state == REQUEST_DEFERRED;
	q->state = REQUEST_STREAMS;
	if (sleeps)
		MHD_resume_connection(q->connection);
	http_soon(h);
	return q->stream;
}

static enum MHD_Result queue_stream(struct http_question *q)
{
	struct MHD_Response *r = stream_response(q->stream);
	if (!r)
		return MHD_NO;
	add_headers(r, stream_content_type(q->stream), q->http->options.policy, "no-store");
	enum MHD_Result rc = MHD_queue_response(q->connection, 200, r);
	MHD_destroy_response(r);
	return rc;
}

static enum MHD_Result queue_deferred(struct http_question *r)
{
	if (r->state == REQUEST_ANSWERED)
		return queue_body(r, r->reply, &r->body, "1");
	if (r->state == REQUEST_STREAMS)
		return queue_stream(r);
	if (r->state == REQUEST_PACKED)
		return MHD_YES;
	r->state = REQUEST_DEFERRED;
	MHD_suspend_connection(r->connection);
	return MHD_YES;
}

static enum MHD_Result queue_answer(struct http_question *r, const char *path)
{
	struct http *h = r->http;
	connection_serves(r->place, true);
	if (h->options.defer && h->options.defer(r, path, h->options.ctx))
		return queue_deferred(r);
	struct buf body;
	buf_init(&body, BODY_MAX_BYTES);
	struct http_reply reply = h->options.answer(r, path, &body, h->options.ctx);
	if (body.failed) {
		buf_done(&body);
		return queue_error(r, 500, "the answer is too large to be sent");
	}
	if (!http_has_room(r, body.len)) {
		buf_done(&body);
		return queue_error(
			r, 503, "too many large answers are on their way: ask again in a moment");
	}
	count_unsent(r, body.len);
	return queue_body(r, reply, &body, NULL);
}

/* ---- what is posted -------------------------------------------------------------------------- */

/* Finds the largest body that is awaited; of those that are alike, the one that is awaited longest. */
static struct http_question *largest_awaited(struct http *h)
{
	struct http_question *found = NULL;
	list_each_entry(&h->questions, struct http_question, q, link)
		if (q->state == REQUEST_READS && (!found || q->reserved > found->reserved))
			found = q;
	return found;
}

/* Gives up bodies that are not smaller, until one of this length has room: senders that are slow, or
 * say that they will send much, must not keep others out. */
static void make_room_for_body(struct http *h, size_t length)
{
	while (h->posted + length > POSTED_MAX_BYTES) {
		struct http_question *q = largest_awaited(h);
		if (!q || q->reserved < length)
			return;
		h->posted -= q->reserved;
		q->reserved = 0;
		connection_end(q->place);
	}
}

/* Has the body come, which its client may post. */
static enum MHD_Result read_body(struct http_question *r)
{
	struct http *h = r->http;
	make_room_for_body(h, r->posted.length);
	if (h->posted + r->posted.length > POSTED_MAX_BYTES)
		return queue_error(
			r, 503, "too many bodies are on their way: send it again in a moment");
	h->posted += r->reserved = r->posted.length;
	r->state = REQUEST_READS;
	connection_reads(r->place);
	return MHD_YES;
}

static enum MHD_Result read_or_answer(struct http_question *r, const char *path)
{
	return r->posted.length > 0 ? read_body(r) : queue_answer(r, path);
}

/* Takes a piece of the body, or, where no more comes, answers. */
static enum MHD_Result go_on_reading(
	struct http_question *r, const char *path, const char *data, size_t size)
{
	if (size > 0) {
		posted_add(&r->posted, data, size);
		return MHD_YES;
	}
	return posted_is_whole(&r->posted) ? queue_answer(r, path) : MHD_NO;
}

/* ---- who asks -------------------------------------------------------------------------------- */

static void on_verdict(enum auth_verdict v, void *ctx)
{
	struct http_question *r = ctx;
	must(r->state == REQUEST_ASLEEP);
	r->state = REQUEST_SETTLED;
	r->verdict = v;
	MHD_resume_connection(r->connection);
	http_soon(r->http);
}

static const struct right *right_of(const struct http_question *r)
{
	switch (r->check) {
	case CHECK_NAMES_USERS:
		return &r->http->options.names_users;
	case CHECK_NAMES_GROUPS:
		return &r->http->options.names_groups;
	case CHECK_MUST:
		return &r->rights.must;
	case CHECKS_DONE:
		break;
	}
	must_not_get_here();
	return NULL;
}

/* Whether this caller passes without the check. A trusted one may do everything, also name a user.
 * The rights of that user are checked all the same. */
static bool is_passed_over(const struct http_question *r)
{
	bool is_named = r->caller.as;
	switch (r->check) {
	case CHECK_NAMES_USERS:
		return !is_named || r->is_trusted;
	case CHECK_NAMES_GROUPS:
		return !is_named || !r->caller.names_groups || r->is_trusted;
	case CHECK_MUST:
		return !is_named && r->is_trusted;
	case CHECKS_DONE:
		break;
	}
	return false;
}

static void put_refusal(const struct right *r, struct buf *out)
{
	buf_puts(out, "this user may not ");
	right_describe(r, out);
}

static enum MHD_Result queue_refusal(struct http_question *r)
{
	const struct http_options *o = &r->http->options;
	struct buf text;
	buf_init(&text, 4096);
	(o->put_refusal ? o->put_refusal : put_refusal)(right_of(r), &text);
	enum MHD_Result rc = queue_error(r, 403, buf_text(&text));
	buf_done(&text);
	return rc;
}

static enum MHD_Result act_on_verdict(struct http_question *r, const char *path);

static enum MHD_Result ask(struct http_question *r, const char *path)
{
	struct auth_caller caller;
	http_caller(r, &caller);
	if (r->check < CHECK_MUST)
		caller.user = caller.as = NULL;
	r->verdict =
		r->http->options.ask(&caller, right_of(r), on_verdict, r, r->http->options.ctx);
	if (r->verdict != AUTH_LATER)
		return act_on_verdict(r, path);
	r->state = REQUEST_ASLEEP;
	connection_serves(r->place, true);
	MHD_suspend_connection(r->connection);
	return MHD_YES;
}

static enum MHD_Result go_on(struct http_question *r, const char *path)
{
	while (r->check != CHECKS_DONE && is_passed_over(r))
		r->check++;
	return r->check == CHECKS_DONE ? read_or_answer(r, path) : ask(r, path);
}

static enum MHD_Result act_on_verdict(struct http_question *r, const char *path)
{
	if (r->verdict == AUTH_REFUSED && r->check == CHECK_MUST && r->rights.known)
		r->lacks_right = true;
	if (r->verdict == AUTH_ALLOWED || r->lacks_right) {
		r->check++;
		return go_on(r, path);
	}
	connection_serves(r->place, false);
	switch (r->verdict) {
	case AUTH_STRANGER:
		return queue_error(r, 401,
			"the API server does not know this bearer token, or it has expired");
	case AUTH_REFUSED:
		return queue_refusal(r);
	case AUTH_UNKNOWN:
		return queue_error(r, 503,
			"the API server cannot review this token just now, or too many requests wait; try again in a second");
	case AUTH_ALLOWED:
	case AUTH_LATER:
		break;
	}
	must_not_get_here();
	return MHD_NO;
}

/* Admits the API server, which has asked for the rights of its user. */
static enum MHD_Result admit_front_proxy(struct http_question *r, const char *path)
{
	struct http *h = r->http;
	int64_t now_ms = (int64_t)(ev_now(h->loop) * 1000.0);
	const char *why = front_proxy_refuses(h->options.front_proxy, session_of(r), now_ms);
	if (why)
		return queue_error(r, 401, why);
	http_keep(r, 0);
	return read_or_answer(r, path);
}

static enum MHD_Result admit(struct http_question *r, const char *path)
{
	struct http *h = r->http;
	struct err e = {""};
	if (h->options.front_proxy)
		return admit_front_proxy(r, path);
	r->rights = h->options.rights(r, path);
	if (r->rights.open)
		return read_or_answer(r, path);
	if (caller_is_of_another_site(r->connection))
		return queue_error(r, 403,
			"a page of another site may not ask; open this address in a tab of its own");
	if (caller_read(r->connection, &r->caller, &e) != 0)
		return queue_error(r, 400, e.text);
	/* A caller that shows a token wants to be its owner: an unknown token must not see
	 * everything. */
	r->is_trusted =
		!h->options.trust_nobody && !r->caller.token && caller_is_loopback(r->connection);
	if (r->is_trusted && !caller_names_host(r->connection))
		return queue_error(r, 421,
			"ask for this host by its address or as localhost, not by another name");
	if (!r->is_trusted && !r->caller.token)
		return queue_error(
			r, 401, "sign in first: send the header Authorization: Bearer TOKEN");
	return go_on(r, path);
}

/* ---- MHD calls us ---------------------------------------------------------------------------- */

static struct connection *place_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	must(info && info->socket_context);
	return info->socket_context;
}

static struct http_question *request_begin(struct http *h, struct MHD_Connection *c)
{
	struct http_question *r = mem_alloc(sizeof(*r));
	r->http = h;
	r->connection = c;
	r->place = place_of(c);
	buf_init(&r->body, BODY_MAX_BYTES);
	list_add(&h->questions, &r->link);
	return r;
}

static void on_completed(
	void *cls, struct MHD_Connection *c, void **ctx, enum MHD_RequestTerminationCode why)
{
	struct http *h = cls;
	struct http_question *r = *ctx;
	(void)c;
	(void)why;
	if (!r)
		return;
	list_leave(&r->link);
	connection_serves(r->place, false);
	stream_free(r->stream);
	if (r->packing)
		packing_drop(r->packing);
	caller_done(&r->caller);
	posted_done(&r->posted);
	h->posted -= r->reserved;
	h->unsent -= r->unsent;
	buf_done(&r->body);
	free(r);
	*ctx = NULL;
}

static void on_connection(
	void *cls, struct MHD_Connection *c, void **place, enum MHD_ConnectionNotificationCode what)
{
	struct http *h = cls;
	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		connections_remove(h->connections, *place);
		return;
	}
	const union MHD_ConnectionInfo *fd =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	const union MHD_ConnectionInfo *from =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	must(fd && from);
	*place = connections_add(h->connections, fd->connect_fd, from->client_addr);
}

static enum MHD_Result on_text(void *ctx, enum MHD_ValueKind kind, const char *name,
	size_t name_len, const char *value, size_t value_len)
{
	bool *has_nul = ctx;
	(void)kind;
	*has_nul = (name && strlen(name) != name_len) || (value && strlen(value) != value_len);
	return *has_nul ? MHD_NO : MHD_YES;
}

/* Whether a parameter has a NUL. %00 would end a text for us, which goes on for those who gave a
 * right for it. */
static bool has_nul(struct MHD_Connection *c)
{
	bool found = false;
	MHD_get_connection_values_n(c, MHD_GET_ARGUMENT_KIND, on_text, &found);
	return found;
}

/* Gives the status of a request that is no question; 0: it is one. */
static unsigned fault_of(
	struct http_question *q, const char *path, const char *method, const char **ret_sentence)
{
	const struct posts *posts = &q->http->options.posts;
	unsigned status =
		posted_begin(&q->posted, posts, q->connection, path, method, ret_sentence);
	if (status == 0 && has_nul(q->connection)) {
		*ret_sentence = "a parameter has a NUL in it (%00)";
		status = 400;
	}
	return status;
}

static enum MHD_Result take_new(struct http_question *q, const char *path, const char *method)
{
	const char *sentence;
	unsigned status = fault_of(q, path, method, &sentence);
	return status ? queue_error(q, status, sentence) : admit(q, path);
}

/* Takes a request: called once when the headers are there, then again until an answer is queued. An
 * answer that is queued at once ends the connection: to libmicrohttpd a body may still come. */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *c, const char *path,
	const char *method, const char *version, const char *data, size_t *size, void **ctx)
{
	(void)version;
	if (!*ctx) {
		*ctx = request_begin(cls, c);
		return posted_has_body(c) ? take_new(*ctx, path, method) : MHD_YES;
	}
	struct http_question *r = *ctx;
	size_t came = *size;
	*size = 0;
	switch (r->state) {
	case REQUEST_NEW:
		return take_new(r, path, method);
	case REQUEST_ASLEEP:
		return MHD_YES;
	case REQUEST_SETTLED:
		return act_on_verdict(r, path);
	case REQUEST_READS:
		return go_on_reading(r, path, data, came);
	case REQUEST_DEFERRED:
	case REQUEST_PACKED:
		return MHD_YES;
	case REQUEST_ANSWERED:
	case REQUEST_STREAMS:
		return queue_deferred(r);
	}
	return MHD_NO;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Gives how long libmicrohttpd must rest before its next turn. Its epoll forgets that a handshake waits
 * for bytes (0.9.75 does): it wants to be run again at once, and tries each stalled handshake again
 * in each turn, also in those of other clients. HANDSHAKES_A_MS bounds what that costs, however busy
 * the port is. */
static MHD_UNSIGNED_LONG_LONG pause_ms(const struct http *h, MHD_UNSIGNED_LONG_LONG wanted_ms)
{
	size_t newcomers = h->is_tls ? connections_newcomers(h->connections) : 0;
	return newcomers > 0 && wanted_ms < HANDSHAKE_PACE_MS
		       ? HANDSHAKE_PACE_MS + newcomers / HANDSHAKES_A_MS
		       : 0;
}

static void http_arm(struct http *h)
{
	MHD_UNSIGNED_LONG_LONG ms = 0;
	bool wants = MHD_get_timeout(h->daemon, &ms) == MHD_YES;
	MHD_UNSIGNED_LONG_LONG pause = wants ? pause_ms(h, ms) : 0;
	ev_timer_stop(h->loop, &h->timer);
	h->rests = pause > 0;
	(h->rests ? ev_io_stop : ev_io_start)(h->loop, &h->io);
	if (!wants && !h->is_due)
		return;
	if (h->rests || h->is_due)
		ms = pause;
	ev_timer_set(&h->timer, (double)ms / 1000.0, 0.);
	ev_timer_start(h->loop, &h->timer);
}

/* Has libmicrohttpd run again: a connection goes on. Also from inside its run, where it forgets that
 * (0.9.75 does). */
static void http_soon(struct http *h)
{
	h->is_due = true;
	if (h->rests) /* the timer runs */
		return;
	ev_timer_stop(h->loop, &h->timer);
	ev_timer_set(&h->timer, 0., 0.);
	ev_timer_start(h->loop, &h->timer);
}

static void tell_drained(struct http *h)
{
	h->has_drained = false;
	list_each_entry(&h->questions, struct http_question, q, link)
		if (q->stream)
			stream_tell_drained(q->stream);
}

/* Runs libmicrohttpd. What tell_drained() has written wants another turn: http_soon(). */
static void http_turn(struct http *h)
{
	h->is_due = false;
	MHD_run(h->daemon);
	http_arm(h);
	if (h->has_drained)
		tell_drained(h);
}

static void on_look(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct http *h = w->data;
	bool any = false;
	(void)revents;
	list_each_entry(&h->questions, struct http_question, q, link) {
		if (!q->stream)
			continue;
		any = true;
		stream_look(q->stream, ev_now(loop));
	}
	if (!any)
		ev_timer_stop(loop, w);
}

static void on_io(struct ev_loop *loop, ev_io *w, int revents)
{
	(void)loop;
	(void)revents;
	http_turn(w->data);
}

static void on_timer(struct ev_loop *loop, ev_timer *w, int revents)
{
	(void)loop;
	(void)revents;
	http_turn(w->data);
}

/* Gives a connection to libmicrohttpd, which closes it in any case. */
static void on_accepted(int fd, const struct sockaddr *from, socklen_t len, void *ctx)
{
	struct http *h = ctx;
	MHD_add_connection(h->daemon, fd, from, len);
	http_soon(h);
}

/* ---- its life -------------------------------------------------------------------------------- */

static struct MHD_Daemon *start_daemon(struct http *h)
{
	const struct tls *tls = h->options.tls;
	struct front_proxy *proxy = h->options.front_proxy;
	struct MHD_OptionItem secure[] = {
		{MHD_OPTION_HTTPS_MEM_CERT, 0, tls ? tls->certificate : NULL},
		{MHD_OPTION_HTTPS_MEM_KEY, 0, tls ? tls->key : NULL},
		{MHD_OPTION_HTTPS_PRIORITIES, 0, (char *)TLS_PRIORITIES},
		/* With authorities, libmicrohttpd asks for a certificate. It verifies none. */
		{MHD_OPTION_HTTPS_MEM_TRUST, 0,
			(char *)(proxy ? front_proxy_authorities(proxy) : NULL)},
		{MHD_OPTION_END, 0, NULL},
	};
	unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME |
			 (tls ? MHD_USE_TLS : 0);
	return MHD_start_daemon(flags, 0, NULL, NULL, on_request, h, MHD_OPTION_CONNECTION_LIMIT,
		h->options.limits.all + ENDING_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)(h->options.head_max_bytes ? h->options.head_max_bytes : HEADERS_MAX_BYTES),
		MHD_OPTION_CONNECTION_TIMEOUT,
		h->options.clients_stay ? 0U : (unsigned)IDLE_SECONDS, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, h, MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_ARRAY,
		tls ? secure : secure + 4, MHD_OPTION_END);
}

int http_new(struct ev_loop *loop, const struct http_options *o, struct http **ret, struct err *e)
{
	if (o->tls && MHD_is_feature_supported(MHD_FEATURE_SSL) != MHD_YES)
		return err_set(e, ERR_INVALID,
			"this libmicrohttpd was built without TLS; leave the --tls flags and --visibility-listen out, or install one that has it, such as Debian's");
	struct http *h = mem_alloc(sizeof(*h));
	struct listener_options at = {.host = o->host,
		.port = o->port,
		.flag = o->flag ? o->flag : "listen",
		.pace = o->pace,
		.accepted = on_accepted,
		.ctx = h};
	int rc = listener_new(loop, &at, &h->listener, e);
	if (rc) {
		free(h);
		return rc;
	}
	coding_draw_key(); /* children that are asked by way of a port come later */
	h->loop = loop;
	h->options = *o;
	list_init(&h->questions);
	h->options.host = NULL; /* borrowed for http_new() only */
	h->connections = connections_new(loop, &o->limits);
	h->packer = packer_new(loop);
	h->daemon = start_daemon(h);
	if (!h->daemon) {
		listener_free(h->listener);
		connections_free(h->connections);
		packer_free(h->packer);
		free(h);
		return err_set(e, ERR_INVALID, "cannot serve HTTP: libmicrohttpd does not start");
	}
	h->is_tls = o->tls;
	h->options.tls = NULL; /* borrowed for http_new() only */
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	must(info);
	ev_io_init(&h->io, on_io, info->epoll_fd, EV_READ);
	ev_timer_init(&h->timer, on_timer, 0., 0.);
	ev_timer_init(&h->look, on_look, LOOK_SECONDS, LOOK_SECONDS);
	h->io.data = h->timer.data = h->look.data = h;
	ev_io_start(loop, &h->io);
	*ret = h;
	return 0;
}

void http_free(struct http *h)
{
	if (!h)
		return;
	listener_free(h->listener);
	ev_io_stop(h->loop, &h->io);
	ev_timer_stop(h->loop, &h->timer);
	ev_timer_stop(h->loop, &h->look);
	list_each_entry(&h->questions, struct http_question, r, link) {
		if (r->stream)
			stream_stop(r->stream);
		if (r->state != REQUEST_ASLEEP && r->state != REQUEST_DEFERRED &&
			r->state != REQUEST_PACKED)
			continue;
		r->state = REQUEST_SETTLED;
		r->verdict = AUTH_UNKNOWN;
		MHD_resume_connection(r->connection);
	}
	MHD_stop_daemon(h->daemon);
	connections_free(h->connections);
	packer_free(h->packer);
	free(h);
}

uint16_t http_port(const struct http *h)
{
	return listener_port(h->listener);
}
