/*
 * The answer to `sluice explain`: the QueuedJob of a Job, and the queues on its way. The API server
 * is asked with the rights of the kubeconfig; the QueuedJob comes from the aggregated API
 * (visibility.h).
 */
#ifndef SLUICE_CLI_EXPLAIN_ANSWER_H
#define SLUICE_CLI_EXPLAIN_ANSWER_H

#include "cli/question.h"

/* The queues as objects. NULL: there is none, or where hides_... is set, it may not be read, and
 * may exist. */
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
	bool queues; /* the queues are wanted, too */
};

/* Gets the answer. Errors as visibility_ask(). explain_answer_done() ends it in any case. */
int explain_answer_get(struct ev_loop *loop, struct kube_client *client,
	const struct explain_question *q, struct explain_answer *ret, struct err *e);
void explain_answer_done(struct explain_answer *a);

#endif
