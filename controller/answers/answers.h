/*
 * Answers: which question to the aggregated API is answered by whom.
 *
 *   documents (discovery.h)   at once
 *   one Job                   at once, from what is known now
 *   many                      by the reader (reader.h), whole or page by page, packed there (net/coding.h)
 *   how they change           by watchers.h
 *   the past                  by the ledger (past_resource.h)
 *   what a change would do    by plays of the queue (start_review.h, whatif.h)
 *
 * Errors are Kubernetes' own (complaint.h).
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_ANSWERS_H
#define SLUICE_CONTROLLER_ANSWERS_ANSWERS_H

#include "controller/net/http.h"
#include "controller/parts.h"

struct answers;

/* Writes who asks: for bounds of one user's questions, not for rights. "" is a user too. */
enum { ANSWERS_WHO_SIZE = 256 };
typedef void answers_who_fn(
	const struct http_question *q, char ret[ANSWERS_WHO_SIZE], const void *ctx);

/* All is borrowed until answers_free(). */
struct answers *answers_new(const struct parts *parts, const struct loop_state *state,
	answers_who_fn *who, const void *ctx);
void answers_free(struct answers *a);

/* Of somebody who may ask that. http_answer() is called for q, once, now or later from the loop. */
void answers_take(struct answers *a, struct http_question *q, const char *path);

/* Of somebody who may not, who is told no more than why. */
void answers_refuse(struct http_question *q, const char *sentence);

/* Once a second: watches go on, or end when this controller does not lead. tick_ms: of a clock that
 * only goes on. */
void answers_tick(struct answers *a, int64_t tick_ms);

/* The port is about to close: questions that have no answer yet get none, and watches end. */
void answers_drop(struct answers *a);

#endif
