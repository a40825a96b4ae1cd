/*
 * What the controller answers about itself: whether it is well, its metrics, and where the paths
 * went that were below /api/v1 before 0.2.
 *
 * Pure but for reading its sources: a path goes in, a status and a body come out. All about Jobs
 * and queues is the aggregated API's (answers.h), at this port too.
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
	const char *waiting_for;    /* lists that are missing; "": none */
	const char *denied;	    /* lists that it may not read and does without */
	const char *ledger_trouble; /* why the ledger is away, "" when it is up */
	bool stopping;
};

/* Returns what a path wants of its caller. The paths of before 0.2 are open: they only say where to
 * ask. */
struct http_rights api_rights(const char *path);

/* Appends what a caller without that right is told. */
void api_refusal(const struct right *r, struct buf *out);

/* True for what the kubelet asks. */
bool api_is_probe(const char *path);

/* Answers a path: appends the body. */
struct http_reply api_answer(const struct api_sources *s, const char *path, struct buf *out);

#endif
