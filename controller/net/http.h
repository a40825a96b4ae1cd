/*
 * The HTTP port: libmicrohttpd on our event loop, without a thread.
 *
 * Only GET and HEAD, no bodies, 256 connections, 32 KiB of headers each, ten seconds for a request
 * and a minute for its answer; connections.h says which connection goes when there are too many. A
 * port may ask for more connections, and for bodies that are posted to one path (posted.h).
 *
 * The owner gives the answer (answer), and says which right it wants (rights). This module decides
 * who gets it. Open paths are for all. The rest is for callers from a loopback address, and for
 * callers whose bearer token has that right, as the owner's `ask` says; a proxy may ask for others
 * (caller.h). The connection sleeps while that is found out.
 *
 * A port for the API server (http_options.front_proxy) has one caller, known by its certificate:
 * the front proxy, which has asked for its users' rights. Its connections are kept, all others are
 * refused.
 *
 * An answer goes as gzip to a client that takes it (coding.h). It may also be a stream, which goes
 * on for as long as its owner likes (stream.h).
 *
 * An answer in JSON has an ETag, and a client that names it gets 304 and no body, once it is known
 * that it may have it. Browsers are still told to store none (no-store): the page's script keeps the
 * last answers in the memory of its tab, with their tags, and drops them when the person signs out.
 * A cache of the browser would keep them on its disk, for whoever uses that browser next. It could
 * not even tell two users of a proxy apart: what names them is added behind the browser, so Vary
 * can name no header that it sees.
 *
 * With http_options.tls the port speaks HTTPS only, TLS 1.2 and 1.3. A handshake is part of the
 * request: the ten seconds are for both. It costs about a millisecond, so http_options.pace bounds
 * how many are begun (listener.h). While handshakes stall, an answer may wait some milliseconds, up
 * to 40 beside 1,000 of them.
 *
 * The kubelet's probes have a port of their own (HTTP_PROBE_LIMITS), so that no caller of this one
 * can make them wait: open paths only, one request a connection, five seconds for it.
 *
 * A refusal (401, or one by this module) is the last answer of its connection, unless that is kept
 * (http_keep()): else its client could go on without a pace. Where clients stay
 * (http_options.clients_stay) a kept one ends as well, also with 404, 429 and 503.
 *
 * A browser says whether a page of another site asks (Sec-Fetch-Site). Such a page gets open paths
 * only: it could not read an answer, but would learn how long it took, and could keep us busy with
 * the rights of a port-forward or of a proxy's cookie.
 *
 * A caller from loopback must also name this host in its Host header by address or as localhost.
 * Else a web page could point a name of its own at 127.0.0.1, and read us through the browser of a
 * user with a port-forward open.
 */
#ifndef SLUICE_CONTROLLER_NET_HTTP_H
#define SLUICE_CONTROLLER_NET_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"
#include "controller/net/connections.h"
#include "controller/net/auth.h"
#include "controller/net/listener.h"
#include "controller/net/posted.h"
#include "controller/net/tls.h"

struct ev_loop;
struct front_proxy;
struct http;

/* A request that waits for its answer. */
struct http_question;

struct http_reply {
	unsigned status;
	const char *content_type; /* static */
};

/* What a path wants of its caller. */
struct http_rights {
	bool open; /* no right: the path is for all that reach the port */
	/* The path is for all whom the API server knows: `must` is asked for, and only told
	 * (http_has_right()). */
	bool known;
	struct right must;
};

struct http_options {
	const char *host;   /* "" all addresses */
	uint16_t port;	    /* 0: any free one */
	const char *flag;   /* the flag that named the address, for sentences */
	const char *policy; /* Content-Security-Policy of all answers; NULL: none. Static */
	bool trust_nobody;  /* loopback is an address like any other */
	bool one_request;   /* then the connection is closed */
	struct connections_limits limits;
	/* Clients are expected to stay: the time without a request is bounded by limits alone, and a
	 * thousand of them that wait cost nothing. */
	bool clients_stay;
	unsigned
		head_max_bytes; /* of the head of a request; 0: 32 KiB. A connection keeps so much */
	struct posts posts;	/* what may be posted */
	struct listener_pace pace; /* of new connections */
	const struct tls *tls;	   /* NULL: plain HTTP; borrowed for http_new() only */
	/* The only caller, if there is one; clients are asked for a certificate of its authorities.
	 * Borrowed. NULL: rights and ask decide. */
	struct front_proxy *front_proxy;
	struct http_rights (*rights)(const struct http_question *q, const char *path);
	struct http_reply (*answer)(
		const struct http_question *q, const char *path, struct buf *out, void *ctx);
	/* Takes a question that cannot be answered at once: http_answer() will be called for it,
	 * once. False: answer() has it. May be NULL. */
	bool (*defer)(struct http_question *q, const char *path, void *ctx);
	/* Writes the body of an error that is made here: application/json. NULL: {"error":
	 * sentence}. */
	void (*put_error)(struct buf *out, unsigned status, const char *sentence);
	/* Hears of each request that is refused here, with the sentence that its client gets, valid
	 * during the call. May be NULL. */
	void (*refused)(
		const struct http_question *q, unsigned status, const char *sentence, void *ctx);
	/* Says which right a caller lacks, and how to get it. NULL: only which. */
	void (*put_refusal)(const struct right *r, struct buf *out);
	/* The rights to name users, and groups, of a proxy (caller.h). */
	struct right names_users, names_groups;
	enum auth_verdict (*ask)(const struct auth_caller *caller, const struct right *right,
		auth_verdict_fn *fn, void *fn_ctx, void *ctx);
	void *ctx;
};

extern const struct connections_limits HTTP_LIMITS, HTTP_PROBE_LIMITS;
/* The pace of a port that speaks TLS: handshakes take a tenth of a core at most, whoever begins
 * them. */
extern const struct listener_pace HTTP_TLS_PACE;

/* Opens a port. ERR_INVALID: the address cannot be had, or there is no TLS; the sentence says
 * why. */
int http_new(struct ev_loop *loop, const struct http_options *o, struct http **ret, struct err *e);
/* Gives a parameter of the query, or NULL, while the question is being taken. The name must match
 * to the letter; of several the first counts. */
const char *http_param(const struct http_question *q, const char *name);
/* Gives each value of such a parameter, in their order, until fn says false. */
void http_each_param(const struct http_question *q, const char *name,
	bool (*fn)(const char *value, void *ctx), void *ctx);
/* Gives the port of the question. */
const struct http *http_of(const struct http_question *q);
/* Gives a header of the question, or NULL, while it is being taken. */
const char *http_header(const struct http_question *q, const char *name);
/* Gives what was posted; empty where nothing was. Valid while the question is being taken. */
struct slice http_body(const struct http_question *q);
/* Writes the address of the client, "?" where it has none. */
enum { HTTP_CLIENT_SIZE = 46 };
void http_client(const struct http_question *q, char ret[HTTP_CLIENT_SIZE]);
/* Tells who asks, to the letter of the headers, as long as the question is there. Nothing is told
 * of a caller that was not asked: one from here, or for an open path. */
void http_caller(const struct http_question *q, struct auth_caller *ret);
/* Whether the caller has http_rights.must. Callers who are not asked, and need none, have it. */
bool http_has_right(const struct http_question *q);
/* Keeps the connection, whose client is known: no stranger takes its place (connections.h). From
 * inside defer. client: a number that stands for it, of which there may be limits.each_client. */
void http_keep(struct http_question *q, uint64_t client);
/* Whether nobody waits for the answer any more. The question must be answered all the same. */
bool http_gone(const struct http_question *q);
bool http_takes_gzip(const struct http_question *q);
/* Answers, from inside defer, or later from the loop. The body may be a gzip where
 * http_takes_gzip(). */
void http_answer(struct http_question *q, struct http_reply reply, const struct buf *body);
/* Answers likewise with {"error": sentence}. */
void http_answer_error(struct http_question *q, unsigned status, const char *sentence);
/* Sets the ETag of the answer to come, where not all of its text counts; "": it has none. Else it
 * is coding_tag_answer()'s, of JSON that is answered with 200. */
void http_tag(struct http_question *q, const char *tag);
/* Answers as http_answer() with a file: a text that stays until another program runs. It has an
 * ETag; a client that names that is told that its copy is good (304). content_type: static. */
void http_answer_file(struct http_question *q, const char *content_type, struct slice text);
/* The most bytes of answers that may wait to be fetched at a port, streams aside: slow clients must
 * not take the controller's memory. http_has_room() is asked before a large answer is made; a small
 * one always has room. */
enum { HTTP_UNSENT_MAX_BYTES = 96 << 20 };
bool http_has_room(const struct http_question *q, size_t bytes);

/* An answer that is a stream: status 200, and what is written until one of the two ends it. */
struct http_stream;

struct http_stream_events {
	/* Tells, from the loop, that nothing waits to be sent any more. May be NULL. */
	void (*drained)(void *ctx);
	/* Tells that the client has gone, or takes nothing: the stream is no more. Not after
	 * http_stream_end(), and not from inside another call. Nothing of the port may be called in
	 * here. */
	void (*closed)(void *ctx);
	void *ctx;
};

/* Answers by a stream, as http_answer(). content_type: static. */
struct http_stream *http_stream(
	struct http_question *q, const char *content_type, const struct http_stream_events *events);
/* Writes to a stream. At most 4 MiB may wait to be sent: beyond that the client is cut off. */
void http_stream_write(struct http_stream *s, struct slice text);
size_t http_stream_waiting(const struct http_stream *s);
/* Ends a stream, whose text is still sent. s must not be named again. */
void http_stream_end(struct http_stream *s);

/* Closes the port, and cuts its streams. No verdict and no answer may come after this: free those
 * who give them first. */
void http_free(struct http *h);

uint16_t http_port(const struct http *h);

#endif
