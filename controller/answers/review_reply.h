/*
 * The reply to a question for which the queue is played (forecast/reviews.h): the question's
 * connection and its place in the line, until it is answered.
 *
 * Also the views that start_review.h and whatif.h share.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_REVIEW_REPLY_H
#define SLUICE_CONTROLLER_ANSWERS_REVIEW_REPLY_H

#include "base/list.h"
#include "controller/common/view.h"
#include "controller/forecast/reviews.h"
#include "controller/net/http.h"

/* A member of the question's own record. */
struct review_reply {
	struct link link; /* in the list of replies that wait */
	struct http_question *question;
	struct review *review;
	/* The answer when the text is empty. */
	unsigned empty_status;
	const char *when_empty;
	/* Frees the record, once the question is answered. */
	void (*done)(struct review_reply *r);
};

/* Takes a place in the line, and one in the list. False: q is answered, and r means nothing. ns: ""
 * for a question about all. reviews NULL: forecasts are off. */
bool review_reply_enter(struct review_reply *r, struct http_question *q, struct reviews *reviews,
	struct link *list, const char *who, const char *ns);

/* Answers with a Status, gives the place back, and calls done(). */
void review_reply_complain(struct review_reply *r, unsigned status, const char *sentence);
/* Gives back the places of all in the list that were asked at that port, without an answer, and
 * calls done(). */
void review_reply_drop(struct link *list, const struct http *port);

/* ---- what both tell ------------------------------------------------------------------------------ */

/* When a Job starts, in a number of plays. */
struct start_times {
	int64_t draws, misses, p10_ms, p50_ms, p90_ms;
	const char *reason, *waits_for; /* why not in the first miss; NULL: the Job starts in all */
};

struct start_times start_times_of(const struct eta *eta, size_t draws);

extern const struct view start_times_view;
extern const struct view review_basis_view; /* view of struct review_basis */

#endif
