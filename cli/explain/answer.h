/*
 * The answer to `sluice explain`: what is known of a Job, and of the queues on its way. There are two
 * who give one, the aggregated API behind the API server and the controller's own port; both are kept
 * as the controller writes them, so that there is one way to print them.
 */
#ifndef SLUICE_CLI_EXPLAIN_ANSWER_H
#define SLUICE_CLI_EXPLAIN_ANSWER_H

#include "base/buf.h"
#include "base/err.h"
#include "cli/arguments.h"

struct explain_answer {
	struct buf job;	   /* as /api/v1/jobs/NAMESPACE/NAME */
	struct buf queues; /* as /api/v1/queues; empty: not to be had */
};

void explain_answer_init(struct explain_answer *a);
void explain_answer_done(struct explain_answer *a);

struct explain_question {
	const char *ns, *name;
	bool queues; /* they are wanted, too */
};

/* Of the aggregated API, by the kubeconfig, unless --server or SLUICE_SERVER names a controller; of
 * that, also when there is no such API. 0; ERR_GONE: whoever was asked does not have the Job;
 * others: nobody could answer, and *e says why. */
int explain_answer_get(const struct arguments *a, const struct explain_question *q,
	struct explain_answer *ret, struct err *e);

#endif
