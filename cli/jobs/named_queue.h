/*
 * The LocalQueue that -q names, where no Job of it was found: a misspelt name has none, either.
 */
#ifndef SLUICE_CLI_JOBS_NAMED_QUEUE_H
#define SLUICE_CLI_JOBS_NAMED_QUEUE_H

#include "cli/question.h"

/* Looks whether the LocalQueue is there, with the user's rights. ns: NULL for any namespace.
 * ERR_GONE: it is not, and the sentence offers one that the user may list. ERR_DENIED: it is not known. */
int jobs_named_queue_look(struct ev_loop *loop, struct kube_client *client, const char *ns,
	const char *name, struct err *e);

#endif
