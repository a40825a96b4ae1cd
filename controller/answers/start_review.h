/*
 * What would make a Job start earlier:
 *
 *   /apis/visibility.sluice.dev/v1alpha1/namespaces/NS/queuedjobs/NAME/start
 *
 * The Job is read from the API server, for the queue does not keep all of it. What its owner could
 * change is made of it (forecast/job_variants.h), and each is played. The answer is a StartReview.
 * It names no Job but the one that is asked for.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_START_REVIEW_H
#define SLUICE_CONTROLLER_ANSWERS_START_REVIEW_H

#include "controller/net/http.h"
#include "controller/answers/sources.h"

struct link;
struct view;

extern const struct view start_review_view;

/* This controller leads. http_answer() is called for q, once, now or later from the loop; never after
 * review_reply_drop() of asked, where the question waits. from is borrowed until then. */
void start_review_take(const struct answer_sources *from, struct link *asked,
	struct http_question *q, const char *ns, const char *name, const char *who);

#endif
