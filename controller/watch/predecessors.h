/*
 * Predecessors: what the queue wants to know of Jobs that others wait for (sluice.dev/after) is read
 * and answered, while leading. The gate tells the queue what becomes of Jobs on the watch. Here is
 * what was before that, and Jobs that are not queued, which no watch follows. First the API server
 * is read, then the ledger (pg_outcomes()): a Job that is gone from the former was written into the
 * latter before, if it was ever to be.
 *
 * Tenants write these questions: a tenant as many as it has Jobs, times DEPENDENCIES_MAX, and each
 * comes again every 15 s while it is open. So they are answered a namespace at a time, in turn, and
 * a namespace rests after its turn, the longer the more that turn took:
 *
 *   a few     a GET for a name, a LIST with the selector for a selector
 *   many      one LIST of all Jobs of the namespace, page by page, for all of them together; also
 *             where the API server refuses one of a few
 *
 * At most two requests are under way, and only where nothing else waits for a connection, so that no
 * start waits for them. Two namespaces have a turn at a time. Each keeps it until all its pages are
 * read and all its names are looked up in the ledger, which answers one turn at a time. While two
 * large namespaces have theirs, the questions of others wait for the shorter turn. Twenty thousand
 * Jobs that wait for twenty thousand unknown names cost one LIST of their namespace at a time, and
 * at most a twentieth of the time. Where a turn takes longer than 15 s it is more, for no namespace
 * rests longer than five minutes.
 *
 * The queue is told some answers with each pass, so that none takes long for them. What could
 * not be answered is returned to the queue, which asks again after a while.
 */
#ifndef SLUICE_CONTROLLER_WATCH_PREDECESSORS_H
#define SLUICE_CONTROLLER_WATCH_PREDECESSORS_H

#include <stdint.h>

#include "controller/common/log.h"
#include "controller/kube/client.h"
#include "controller/wire/decode.h"
#include "sluice/queue.h"

struct gate;
struct pg;
struct predecessors;

struct predecessors_options {
	struct kube_client *client;
	struct queue *queue;
	const struct gate *gate;
	struct job_context job_context; /* for decode_job() */
	struct pg *pg;			/* of the background */
	struct log *log;
	void (*changed)(void *ctx); /* the queue was told something: a pass is due */
	void *ctx;
};

struct predecessors *predecessors_new(const struct predecessors_options *o);
void predecessors_free(struct predecessors *p); /* before the client, and after pg */

/* Takes the queue's questions and reads what it may, after each pass and about once a second, while
 * leading. tick_ms: a clock that is never set. */
void predecessors_carry(struct predecessors *p, int64_t tick_ms);

#endif
