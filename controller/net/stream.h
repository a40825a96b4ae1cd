/*
 * An answer that goes on: what libmicrohttpd asks for piece by piece, for as long as its owner
 * writes (http_stream() and its siblings in http.h).
 *
 * What was written is kept here until libmicrohttpd takes it. While there is nothing to take, the
 * connection is suspended, and libmicrohttpd (0.9.75) does not see that its client goes away. So
 * stream_look() must be called once a second. It ends a stream whose client has gone, or has taken
 * nothing for a minute although there was something to take.
 *
 * The time that a connection has for an answer (connections.h) begins when the stream has ended.
 */
#ifndef SLUICE_CONTROLLER_NET_STREAM_H
#define SLUICE_CONTROLLER_NET_STREAM_H

#include "controller/net/connections.h"
#include "controller/net/http.h"

struct MHD_Connection;
struct MHD_Response;

struct stream_options {
	struct MHD_Connection *connection;
	struct connection *place;
	const char *content_type; /* static */
	struct http_stream_events events;
	void (*wake)(void *ctx); /* has libmicrohttpd run soon */
	void (*drained)(void *ctx);
	void *ctx;
};

struct http_stream *stream_new(const struct stream_options *o, double now);
/* Frees a stream when libmicrohttpd is done with the connection. Tells closed, unless the owner has
 * ended the stream. NULL is fine. */
void stream_free(struct http_stream *s);

const char *stream_content_type(const struct http_stream *s);
/* Makes what libmicrohttpd is to queue, once; NULL: it has no memory. */
struct MHD_Response *stream_response(struct http_stream *s);

/* Ends the stream if its client is gone or stalls. Once a second. */
void stream_look(struct http_stream *s, double now);
/* Tells the owner, if all was taken since the last time. */
void stream_tell_drained(struct http_stream *s);
/* Cuts the stream when the port closes: libmicrohttpd wants no connection suspended. */
void stream_stop(struct http_stream *s);

#endif
