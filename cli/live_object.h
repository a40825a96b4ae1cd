/*
 * Objects of Sluice's own kinds, by the names that kubectl takes, and read from the API server with
 * the rights of the kubeconfig's user.
 */
#ifndef SLUICE_CLI_LIVE_OBJECT_H
#define SLUICE_CLI_LIVE_OBJECT_H

#include <stdbool.h>

#include "base/slice.h"
#include "cli/question.h"

struct live_kind {
	const char *kind;      /* "ClusterQueue" */
	const char *singular;  /* "clusterqueue" */
	const char *plural;    /* "clusterqueues", as paths have it */
	const char *shorts[3]; /* other names that kubectl takes */
	bool namespaced;
};

const struct live_kind *live_kind_at(size_t i); /* NULL: behind the last */
/* Finds a kind by "clusterqueue", "ClusterQueues", "cq" or "clusterqueues.sluice.dev"; NULL: it is
 * none of Sluice's. */
const struct live_kind *live_kind_by_name(struct slice name);

/* Gets an object. ns: for a namespaced kind. The tree lives in json. ERR_GONE: there is none of
 * that name; else as question_ask(). The sentence names the object. */
int live_object_get(struct ev_loop *loop, struct kube_client *client, const struct live_kind *k,
	const char *ns, const char *name, struct json *json, const cJSON **ret, struct err *e);

#endif
