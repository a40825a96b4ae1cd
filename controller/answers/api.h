/*
 * What the controller answers over HTTP: which paths there are, and their JSON.
 *
 * Pure but for reading its sources: a path and a query go in, a status and a body come out. Sockets
 * are http.h's; api_rights() says what a caller must be allowed, and auth.h finds out whether it
 * is.
 *
 * The rule: no Job is named to a caller who may not read Jobs where it is. What is told of queues
 * wants `get clusterqueues.sluice.dev`; of one Job, `get jobs.batch` in its namespace; of many,
 * `list jobs.batch` in the namespace that the query names, or in all. Whether a Job exists is found
 * out behind that.
 *
 * Below /api/v1 the leader alone answers (leadership.h).
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_API_H
#define SLUICE_CONTROLLER_ANSWERS_API_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "controller/answers/decision_log.h"
#include "controller/answers/leadership.h"
#include "controller/answers/metrics.h"
#include "controller/net/http.h"

struct api_sources {
	struct metrics_sources metrics;
	const struct decision_log *decision_log;
	const char *identity, *cell;
	struct leadership leadership;
	const char *namespace_name; /* where controllers are */
	uint16_t port;		    /* of --listen */
	const char *waiting_for;    /* which lists are missing, "" none */
	const char *denied;	    /* which it does without, for it may not read them */
	const char *ledger_trouble; /* why the ledger is away, "" when it is up */
	bool stopping;
	int64_t now_ms;
};

/* Texts are for the call; NULL: not given. */
struct api_request {
	const char *path;
	const char *after, *ns, *by; /* parameters after, namespace and by */
	const char *clusterqueue;    /* parameter clusterQueue */
	bool names;		     /* Jobs may be named: http_names() */
};

struct http_rights api_rights(const struct api_request *r);

/* What a caller without that right is told. */
void api_refusal(const struct right *r, struct buf *out);

/* True for what the kubelet asks. */
bool api_is_probe(const char *path);

/* Appends {"error": sentence}. */
struct http_reply api_complain(struct buf *out, unsigned status, const char *sentence);

/* Appends the body. */
struct http_reply api_answer(
	const struct api_sources *s, const struct api_request *r, struct buf *out);

#endif
