/*
 * An HTTP server that does as it is told, on the test's own loop: no thread, no race, no sleep.
 *
 * A test says beforehand what happens to which request: each script waits for a request whose first
 * line contains a text, is used once, in the order given, and then plays its steps, one per turn of
 * the loop, so that the client sees them one by one. A request that no script waits for is answered
 * 599 and remembered as unexpected.
 */
#ifndef SLUICE_TEST_KUBE_SCRIPTED_SERVER_H
#define SLUICE_TEST_KUBE_SCRIPTED_SERVER_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

struct scripted_server;
struct script;

struct scripted_request {
	char *line; /* "GET /x HTTP/1.1" */
	char *head; /* all of it, first line included */
	char *body;
};

struct scripted_server *scripted_server_new(struct ev_loop *loop);
void scripted_server_free(struct scripted_server *s);

const char *scripted_server_url(const struct scripted_server *s); /* http://127.0.0.1:PORT */

size_t scripted_server_count(const struct scripted_server *s); /* requests so far */
const struct scripted_request *scripted_server_request(const struct scripted_server *s, size_t i);
size_t scripted_server_unexpected(const struct scripted_server *s);
size_t scripted_server_unused(const struct scripted_server *s);	     /* scripts nobody came for */
size_t scripted_server_connections(const struct scripted_server *s); /* ever accepted */
size_t scripted_server_open(const struct scripted_server *s);	     /* now */

/* The steps of a script. */
struct script *scripted_server_expect(struct scripted_server *s, const char *line_part);
void script_answer(struct script *p, int status, const char *headers, const char *body);
void script_stream(struct script *p);				  /* status 200, chunked */
void script_chunk(struct script *p, const char *text);		  /* of a stream */
void script_bytes(struct script *p, const void *ptr, size_t len); /* a chunk of any bytes */
void script_raw(struct script *p, const char *text);		  /* as it is, no framing */
void script_end(struct script *p);				  /* of a stream, in good order */
void script_cut(struct script *p);				  /* closes the connection */
void script_hold(struct script *p); /* says nothing more until script_release */
void script_release(struct script *p);

#endif
