/*
 * Visibility: the aggregated API visibility.sluice.dev, by which each user asks as that user.
 *
 *     kubectl get queuedjobs -n team        (docs/ask.md)
 *
 * The API server authenticates and authorizes, and passes the request on to this port
 * (--visibility-listen), over TLS, with its front-proxy certificate. Any other client is told
 * nothing.
 *
 *   front_proxy.h   is it the API server that asks?
 *   job_query.h     what is asked for: path and parameters as a question;
 *   answers.h       what answers which question: documents, one Job, many, a watch, the past;
 *   queued_jobs.h   Jobs as QueuedJobs, or as the rows of a Table;
 *   report.h        queues, budgets, decisions, and the past;
 *   start_review.h  what would make a Job start earlier;
 *   whatif.h        what would happen if some object were different;
 *   discovery.h     what kubectl reads first: groups, resources, OpenAPI;
 *   watchers.h      the clients that are told how Jobs change;
 *   reader.h        the process in which lists are made;
 *   announcement.h  how the API server finds the leader.
 *
 * Only the leader answers, for another replica does not know enough. That says in one line which
 * replica leads, or since when none does.
 *
 * The port opens when the authority of the front proxy is known, and anew when that changes or the
 * certificate does. A certificate that is made here lives as long as the process.
 *
 * Nothing here may hold up a start of a Job: a failure is a line in the log, and tried again.
 */
#ifndef SLUICE_CONTROLLER_VISIBILITY_H
#define SLUICE_CONTROLLER_VISIBILITY_H

#include <stdint.h>

#include "base/err.h"
#include "controller/parts.h"

struct answers;
struct visibility;

/* Begins. *ret is NULL where --visibility-listen is off. ERR_INVALID names the flag: files that
 * cannot be read, or an address that cannot be had. parts and answers are borrowed until
 * visibility_close(). */
int visibility_open(
	const struct parts *parts, struct answers *answers, struct visibility **ret, struct err *e);
void visibility_close(struct visibility *v); /* before parts_close(); NULL is fine */

/* Looks at the authority, the certificate and the port, once a second; NULL is fine. tick_ms: of a
 * clock that only goes on. */
void visibility_tick(struct visibility *v, int64_t tick_ms);

#endif
