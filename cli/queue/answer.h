/*
 * The answer to `sluice queue`: what is known of ClusterQueues and LocalQueues, as /api/v1/queues would
 * say it. It is made of the objects' own status, with the rights of the kubeconfig.
 *
 * A missing right makes it shorter, and a notice in it says which. Who may list LocalQueues of one
 * namespace alone gets those of the kubeconfig's. The API visibility.sluice.dev, where it is there,
 * adds the Jobs whose pods are stuck; where its controller does not answer, a notice says so, for then a
 * status may be old: it does not tell when it was written.
 */
#ifndef SLUICE_CLI_QUEUE_ANSWER_H
#define SLUICE_CLI_QUEUE_ANSWER_H

#include "cli/question.h"

struct queue_question {
	const char *ns;	  /* NULL: all */
	const char *home; /* the kubeconfig's, where not all may be listed; NULL: all or nothing */
	bool localqueues; /* they are wanted, though ClusterQueues may be seen */
};

/* Appends it. ERR_DENIED: a right is missing without which there is nothing to show; ERR_BUSY: no
 * answer, or these kinds are not there; ERR_INVALID: what came makes no sense. */
int queue_answer_get(struct ev_loop *loop, struct kube_client *client,
	const struct queue_question *q, struct buf *ret, struct err *e);

#endif
