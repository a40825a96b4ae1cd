/*
 * What the controller answers of itself: whether it is well, its metrics, and where the paths went that were
 * below /api/v1 before 0.2.
 *
 * Pure but for reading its sources: a path goes in, a status and a body come out. All that is told of Jobs and
 * queues is the aggregated API's (answers.h), at this port too.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_API_H
#define SLUICE_CONTROLLER_ANSWERS_API_H

#include <stdbool.h>

#include "base/buf.h"
#include "controller/answers/leadership.h"
#include "controller/answers/metrics.h"
#include "controller/net/http.h"

struct api_sources {
	struct metrics_sources metrics;
	const char *identity, *cell;
	struct leadership leadership;
	const char *waiting_for;    /* which lists are missing, "" none */
	const char *denied;	    /* which it does without, for it may not read them */
	const char *ledger_trouble; /* why the ledger is away, "" when it is up */
	bool stopping;
};

/* What a path wants of its caller. The paths of before are open: they say where to ask, and nothing else. */
struct http_rights api_rights(const char *path);

/* What a caller without that right is told. */
void api_refusal(const struct right *r, struct buf *out);

/* True for what the kubelet asks. */
bool api_is_probe(const char *path);

/* Appends the body. */
struct http_reply api_answer(const struct api_sources *s, const char *path, struct buf *out);

#endif
