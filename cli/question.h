/*
 * One question to the API server, and the wait for its answer: for commands, which have nothing
 * else to do meanwhile.
 */
#ifndef SLUICE_CLI_QUESTION_H
#define SLUICE_CLI_QUESTION_H

#include "base/err.h"
#include "controller/kube/client.h"
#include "controller/kube/json.h"

struct ev_loop;

#define QUESTION_ANSWER_MAX ((size_t)64 << 20)
#define QUESTION_TREE_MAX ((size_t)256 << 20)

/* GET path; the tree lives in json. ERR_GONE: there is no such thing; ERR_BUSY: nobody answers;
 * ERR_DENIED: we may not; ERR_INVALID: what came makes no sense. */
int question_ask(struct ev_loop *loop, struct kube_client *client, const char *path,
	struct json *json, const cJSON **ret_root, struct err *e);

#endif
