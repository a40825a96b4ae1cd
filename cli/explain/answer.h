/*
 * The answer to `sluice explain`: the QueuedJob of a Job, and the queues on its way. Of the API server, with the
 * rights of the kubeconfig; the QueuedJob is the aggregated API's (visibility.h).
 */
#ifndef SLUICE_CLI_EXPLAIN_ANSWER_H
#define SLUICE_CLI_EXPLAIN_ANSWER_H

#include "cli/question.h"

/* Objects; NULL: there is none, or it is hidden: then it may not be read, and no more is known of it. */
struct explain_queues {
	const cJSON *local, *cluster;
	bool hides_local, hides_cluster;
};

enum { EXPLAIN_TREES = 3 };

struct explain_answer {
	const cJSON *job;
	struct explain_queues queues;
	struct json *tree[EXPLAIN_TREES];
};

struct explain_question {
	const char *ns, *name;
	bool queues; /* they are wanted, too */
};

/* 0; errors as visibility_ask(). In any case to be ended by explain_answer_done(). */
int explain_answer_get(struct ev_loop *loop, struct kube_client *client,
	const struct explain_question *q, struct explain_answer *ret, struct err *e);
void explain_answer_done(struct explain_answer *a);

#endif
