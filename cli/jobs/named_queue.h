/*
 * The LocalQueue that -q names, where no Job of it was found: a name that was misspelt has none, either.
 */
#ifndef SLUICE_CLI_JOBS_NAMED_QUEUE_H
#define SLUICE_CLI_JOBS_NAMED_QUEUE_H

#include "cli/question.h"

/* Looks whether it is there, with the user's rights. ns: NULL for any namespace. ERR_GONE: it is not, and which was
 * meant, of those that the user may list. Else, below 0, it is not known, and the sentence says why. */
int jobs_named_queue_look(struct ev_loop *loop, struct kube_client *client, const char *ns,
	const char *name, struct err *e);

#endif
