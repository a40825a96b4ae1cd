/*
 * Answers: what answers which question to the aggregated API.
 *
 *   documents: at once (discovery.h).
 *   one Job: at once, from what is known now.
 *   many Jobs: by the reader (reader.h), whole or page by page, packed there (net/coding.h).
 *   how Jobs change: by watchers.h.
 *   reports: at once, or by the ledger (report.h).
 *   what a change would do: by plays of the queue (start_review.h, whatif.h).
 *
 * All ports share one struct answers. So there is one reader, and what one user may ask at a time
 * is the same by whichever port. Errors are Kubernetes' own (complaint.h).
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_ANSWERS_H
#define SLUICE_CONTROLLER_ANSWERS_ANSWERS_H

#include "controller/net/http.h"
#include "controller/answers/sources.h"

struct answers;

/* Makes the answers; borrows from until answers_free(). */
struct answers *answers_new(const struct answer_sources *from);
/* Frees the answers, when no port has a question to them any more. NULL is fine. */
void answers_free(struct answers *a);

/* A cure where the same way leads to the other controller. */
#define ANSWERS_AGAIN "ask again in a moment"

struct answers_asker {
	uint64_t who;	  /* number of the user (auth_number()), for bounds at all ports */
	const char *cure; /* advice where another controller leads */
};

/* Takes a question of a user who may ask it. Calls http_answer() for q, once, now or later from the
 * loop. */
void answers_take(struct answers *a, struct http_question *q, const char *path,
	const struct answers_asker *asker);

/* Takes a question that the API server passes on, for the user whom it names; an
 * http_options.defer, ctx is the answers. */
bool answers_take_passed_on(struct http_question *q, const char *path, void *ctx);

/* Lets watches go on, or ends them when this controller does not lead; once a second. tick_ms: of a
 * clock that only goes on. */
void answers_tick(struct answers *a, int64_t tick_ms);

/* Drops the questions of a port that is about to close: they get no answer, and its watches end. */
void answers_drop(struct answers *a, const struct http *port);

#endif
