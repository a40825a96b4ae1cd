/*
 * What `sluice top` shows: the Jobs summed up, the quota of queues where the user may see it, and
 * the first Jobs of the list. The API server is asked with the rights of the kubeconfig.
 *
 * An answer that fails leaves what was known, with the moment it is of.
 */
#ifndef SLUICE_CLI_TOP_ANSWERS_H
#define SLUICE_CLI_TOP_ANSWERS_H

#include "cli/question.h"

enum { TOP_JOBS_MAX = 500 };

struct top_answers {
	const char *ns;	      /* NULL: all namespaces; borrowed */
	const cJSON *summary; /* a SummaryReport by queue; NULL: not known yet */
	const cJSON *queues;  /* a QueueReport; NULL: may not be seen */
	const cJSON *jobs;    /* a QueuedJobList, of TOP_JOBS_MAX at most */
	int64_t at_ms;	      /* when they came; 0: never */
	struct err trouble;   /* why there is nothing newer; "": there is */
	bool hides_queues;
	struct json *tree[3];
};

/* Asks for all of it. Errors are those of visibility_ask(), and stay in a->trouble. */
int top_answers_ask(
	struct ev_loop *loop, struct kube_client *client, struct top_answers *a, struct err *e);
void top_answers_done(struct top_answers *a); /* all zero is fine */

#endif
