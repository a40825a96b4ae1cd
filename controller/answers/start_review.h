/*
 * A StartReview: what would make a Job start earlier.
 *
 *   /apis/visibility.sluice.dev/v1alpha1/namespaces/NS/queuedjobs/NAME/start
 *
 * The Job is read from the API server, for the queue does not keep all of it. Variants are made of
 * it, with what its owner could change (forecast/job_variants.h), and each is played. The answer
 * names no Job but the one that is asked for.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_START_REVIEW_H
#define SLUICE_CONTROLLER_ANSWERS_START_REVIEW_H

#include "controller/net/http.h"
#include "controller/answers/sources.h"

struct link;
struct view;

extern const struct view start_review_view;

/* Takes a question for a StartReview, where this controller leads. Calls http_answer() for q, once,
 * now or later from the loop; never after review_reply_drop() of asked, the list in which it waits.
 * from is borrowed until then. */
void start_review_take(const struct answer_sources *from, struct link *asked,
	struct http_question *q, const char *ns, const char *name, const char *who);

#endif
