/*
 * The HTTP port: libmicrohttpd on our event loop, without a thread.
 *
 * Only GET and HEAD, no bodies, 64 connections, 32 KiB of headers each, ten seconds of idling.
 * What is answered is the owner's (answer); this module decides who gets it: open paths go to
 * anybody, the rest to callers from a loopback address, and to those whose bearer token the owner's
 * `ask` accepts. The connection sleeps while that is found out.
 *
 * A caller from loopback must also name this host in its Host header by address or as localhost:
 * else a web page could point a name of its own at 127.0.0.1 and read us through the browser of
 * somebody who has a port-forward open.
 */
#ifndef SLUICE_CONTROLLER_HTTP_H
#define SLUICE_CONTROLLER_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "controller/api.h"
#include "controller/guard.h"

struct ev_loop;
struct http;

struct http_options {
	const char *host;  /* "" all addresses */
	uint16_t port;	   /* 0: any free one */
	bool trust_nobody; /* tests: treat loopback like any other address */
	bool (*is_open)(const char *path);
	struct api_reply (*answer)(const char *path, const char *after, struct buf *out, void *ctx);
	enum guard_verdict (*ask)(const char *token, guard_verdict_fn *fn, void *fn_ctx, void *ctx);
	void *ctx;
};

/* ERR_INVALID: the address cannot be had; the sentence says why. */
int http_new(struct ev_loop *loop, const struct http_options *o, struct http **ret, struct err *e);
/* No verdict may come after this: free the guard first. */
void http_free(struct http *h);

uint16_t http_port(const struct http *h);

#endif
