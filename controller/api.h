/*
 * What the controller answers over HTTP: which paths there are, and their JSON.
 *
 * Pure but for reading its sources: a path and a query go in, a status and a body come out. Sockets
 * are http.h's, and who may ask is guard.h's business.
 */
#ifndef SLUICE_CONTROLLER_API_H
#define SLUICE_CONTROLLER_API_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "controller/chronicle.h"
#include "controller/metrics.h"

struct api_sources {
	struct metrics_sources metrics;
	const struct chronicle *chronicle;
	const char *identity, *cell;
	const char *holder;	    /* who holds the lease, as last heard; "" unknown */
	const char *waiting_for;    /* which lists are missing, "" none */
	const char *denied;	    /* which it does without, for it may not read them */
	const char *ledger_trouble; /* why the ledger is away, "" when it is up */
	bool stopping;
	int64_t now_ms;
};

struct api_reply {
	unsigned status;
	const char *content_type;
};

/* True for what anybody may read who reaches the port. */
bool api_is_open(const char *path);

/* True for what the kubelet asks. */
bool api_is_probe(const char *path);

/* after: the query parameter of that name, or NULL. Appends the body. */
struct api_reply api_answer(
	const struct api_sources *s, const char *path, const char *after, struct buf *out);

#endif
