/*
 * The answer to `sluice when`: a QueuedJob, which is asked for again while its start is not known.
 * The controller plays its queue only while people ask, so the first to ask waits some seconds.
 */
#ifndef SLUICE_CLI_START_ANSWER_H
#define SLUICE_CLI_START_ANSWER_H

#include "cli/question.h"

struct start_question {
	const char *ns, *name;
	int rounds, pause_ms; /* number of times to ask again, and the pause before each */
};

/* Gets the QueuedJob; the tree lives in json. Its start may be missing: it took too long, or the
 * Job does not wait. ERR_GONE: Sluice does not have that Job; other errors are those of
 * visibility_ask(). */
int start_answer_get(struct ev_loop *loop, struct kube_client *client,
	const struct start_question *q, struct json *json, const cJSON **ret_job, struct err *e);

/* Asks what would change the Job's start: a StartReview, for which the queue is played while this
 * waits. ERR_INVALID: the Job does not wait. ERR_BUSY, with the controller's words: too many ask
 * (after all rounds), it does not lead, or it makes no forecasts. Others are those of
 * start_answer_get(). */
int start_review_get(struct ev_loop *loop, struct kube_client *client,
	const struct start_question *q, struct json *json, const cJSON **ret_review, struct err *e);

#endif
