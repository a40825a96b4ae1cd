/*
 * The answer to `sluice queue`: ClusterQueues and LocalQueues of the API server, with the rights of
 * the kubeconfig. All that a table shows of them is in their spec and status.
 *
 * A missing right makes the answer shorter, and a notice says which. A user who may list
 * LocalQueues of one namespace alone gets the kubeconfig's, and where that API answers, the
 * ClusterQueues that they lead to: by the QueueReport of that namespace, which has sums alone.
 *
 * The API visibility.sluice.dev, where it is there, adds the Jobs whose pods are stuck. Its
 * QueueReport, for users who may list it, adds what no status has: how many Jobs are being stopped,
 * how many wait for a queue that does not exist, and whether the ledger is up. Where its controller
 * does not answer, a notice says so: a status may be old, and does not tell when it was written.
 */
#ifndef SLUICE_CLI_QUEUE_ANSWER_H
#define SLUICE_CLI_QUEUE_ANSWER_H

#include "cli/question.h"

struct queue_question {
	const char *ns;	  /* NULL: all */
	const char *home; /* the kubeconfig's, where not all may be listed; NULL: all or nothing */
	bool localqueues; /* LocalQueues are wanted, though ClusterQueues may be seen */
};

enum { QUEUE_NOTICES_MAX = 3, QUEUE_NOTICE_SIZE = 700, QUEUE_TREES = 4 };

/* Arrays of objects. The question is borrowed as long as the answer is read. */
struct queue_answer {
	const cJSON *clusterqueues; /* NULL: may not be listed */
	bool is_reduced; /* they are of the namespace's QueueReport: no specs, no messages */
	const cJSON *localqueues; /* NULL: not wanted, or may not be listed */
	const char *ns;		  /* namespace of the LocalQueues; NULL: all */
	const cJSON *stuck;	  /* QueuedJobs that have a trouble; NULL: not known */
	const char *stuck_ns;	  /* namespace of the stuck Jobs; NULL: all */
	const cJSON *report;	  /* a QueueReport; NULL: not known */
	size_t nnotices;
	char notice[QUEUE_NOTICES_MAX][QUEUE_NOTICE_SIZE]; /* sentences about the whole answer */
	struct json *tree[QUEUE_TREES];
};

/* Gets the answer. ERR_DENIED: a right is missing without which there is nothing to show; ERR_BUSY:
 * no answer, or these kinds are not there; ERR_INVALID: what came makes no sense.
 * queue_answer_done() ends it in any case. */
int queue_answer_get(struct ev_loop *loop, struct kube_client *client,
	const struct queue_question *q, struct queue_answer *ret, struct err *e);
void queue_answer_done(struct queue_answer *a);

#endif
