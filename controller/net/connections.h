/*
 * The connections of an HTTP port: how many there are, and which of them has to go.
 *
 * libmicrohttpd has a limit of connections and a limit of idle time. Neither helps against a client
 * that sends a byte every few seconds: each byte begins the idle time anew, and at the limit new
 * clients are left outside. So here:
 *
 * - a connection without a complete request is ended after request_ms, counted from its start or
 *   from its last answer, whatever it has sent meanwhile;
 * - the body of a request has request_ms of its own (connection_reads());
 * - a connection with a request is ended after answer_ms, but not while its answer is a stream
 *   (stream.h);
 * - at the limit a new client is let in, and the oldest connection without a complete request is
 *   ended for it: one of that client's own address, if the limit is that of the address;
 * - if all have a request, the oldest of all is ended;
 * - a kept connection, whose client is known to the owner, is ended last, and may be without a
 *   request for ten minutes. So no flood of strangers makes that client come anew and wait among
 *   them;
 * - of those that are kept for one client, the oldest is ended where there are more than each_client:
 *   a client that turns bad has no room but its own.
 *
 * A connection is ended by a shutdown of its socket: the owner of the socket sees that, and closes.
 */
#ifndef SLUICE_CONTROLLER_NET_CONNECTIONS_H
#define SLUICE_CONTROLLER_NET_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct ev_loop;
struct connections;
struct connection;

struct connections_limits {
	unsigned all, each_address;
	int64_t request_ms, answer_ms; /* looked at every quarter of a second */
	unsigned each_client;	       /* 0: any number */
};

struct connections *connections_new(struct ev_loop *loop, const struct connections_limits *limits);
/* Frees it after all connections were removed. */
void connections_free(struct connections *c);

/* Adds a connection, and ends another if it must. fd stays the caller's, and open until the
 * remove. */
struct connection *connections_add(struct connections *c, int fd, const struct sockaddr *from);
void connections_remove(struct connections *c, struct connection *x);

/* Tells whether the connection has a complete request that is worth an answer; false: it was
 * answered. */
void connection_serves(struct connection *x, bool serves);

/* Tells that a request was begun, whose body is awaited: until connection_serves(). */
void connection_reads(struct connection *x);
/* Tells that the answer goes on for as long as its owner likes: until connection_serves(). */
void connection_streams(struct connection *x);
/* Keeps a connection whose client is known, and trusted to come back. client: a number that stands
 * for it. */
void connection_keep(struct connection *x, uint64_t client);
bool connection_is_kept(const struct connection *x);
/* Whether the other end has closed the connection, or it was ended here. */
bool connection_is_gone(const struct connection *x);
/* Shuts the connection down; twice is fine. */
void connection_end(struct connection *x);

/* Counts the connections that never had a complete request: over TLS they may be in a handshake. */
size_t connections_newcomers(const struct connections *c);

/* Gives a number that stands for the address of the other end. */
uint64_t connection_address(const struct connection *x);
uint64_t connections_address(const struct sockaddr *from);

#endif
