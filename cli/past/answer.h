/*
 * What `sluice cost`, `report` and `history` ask by the kubeconfig: the resources costs, reports and
 * histories of the API visibility.sluice.dev, with the user's own rights.
 *
 * A user who may not see those of all namespaces, and has named none, gets those of the kubeconfig's: the
 * answer says which by "namespace", and *ret_narrowed that it is not all that she asked for.
 */
#ifndef SLUICE_CLI_PAST_ANSWER_H
#define SLUICE_CLI_PAST_ANSWER_H

#include "cli/question.h"
#include "controller/past/past_query.h"

struct past_answer_question {
	struct past_words words; /* .kind: which resource; .ns NULL: all namespaces */
	const char *home;	 /* instead of all; NULL: all or none */
};

/* The tree lives in json. Errors as visibility_ask(). */
int past_answer_get(struct ev_loop *loop, struct kube_client *client,
	const struct past_answer_question *q, struct json *json, const cJSON **ret_root,
	bool *ret_narrowed, struct err *e);

#endif
