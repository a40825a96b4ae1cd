/*
 * Answers: which question to the aggregated API is answered by whom.
 *
 *   documents (discovery.h)   at once
 *   one Job                   at once, from what is known now
 *   many                      by the reader (reader.h), whole or page by page, packed there (net/coding.h)
 *   how they change           by watchers.h
 *   reports                   at once, or by the ledger (report.h)
 *   what a change would do    by plays of the queue (start_review.h, whatif.h)
 *
 * There is one of it, for all ports: so there is one reader, and what one user may ask at a time is the same by
 * whichever port. Errors are Kubernetes' own (complaint.h).
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_ANSWERS_H
#define SLUICE_CONTROLLER_ANSWERS_ANSWERS_H

#include "controller/net/http.h"
#include "controller/answers/sources.h"

struct answers;

/* Borrows until answers_free(). */
struct answers *answers_new(const struct answer_sources *from);
/* No port has a question of it any more; NULL is fine. */
void answers_free(struct answers *a);

/* A cure where the question may be asked of the other one by the same way. */
#define ANSWERS_AGAIN "ask again in a moment"

struct answers_asker {
	uint64_t
		who; /* stands for the user at all ports (auth_number()): bounds of one user's questions go by it */
	const char *cure; /* what to do where another controller leads */
};

/* Takes a question of a user who may ask it. http_answer() is called for q, once, now or later from the loop. */
void answers_take(struct answers *a, struct http_question *q, const char *path,
	const struct answers_asker *asker);

/* Takes a question that the API server passes on, for the user whom it names: http_options.defer, ctx is the
 * answers. */
bool answers_take_passed_on(struct http_question *q, const char *path, void *ctx);

/* Once a second: watches go on, or end when this controller does not lead. tick_ms: of a clock that
 * only goes on. */
void answers_tick(struct answers *a, int64_t tick_ms);

/* A port is about to close: its questions that have no answer yet get none, and its watches end. */
void answers_drop(struct answers *a, const struct http *port);

#endif
