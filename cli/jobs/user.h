/*
 * The name by which the API server knows the user of a kubeconfig.
 */
#ifndef SLUICE_CLI_JOBS_USER_H
#define SLUICE_CLI_JOBS_USER_H

#include "cli/question.h"
#include "sluice/job.h"

/* Reads the name, in the form of the annotation sluice.dev/submitted-by: its first
 * SUBMITTER_MAX_BYTES. Errors are those of question_ask(). */
int jobs_user_read(struct ev_loop *loop, struct kube_client *client,
	char ret[SUBMITTER_MAX_BYTES + 1], struct err *e);

#endif
