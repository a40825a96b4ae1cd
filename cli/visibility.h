/*
 * The aggregated API visibility.sluice.dev, asked through the API server with the rights of the
 * kubeconfig: what of its answers is an answer, and a sentence with the cure for every other.
 *
 * Left to others: what QueuedJobs mean (jobs/report.h, explain.c), and what is said of the past
 * (past/show.h).
 */
#ifndef SLUICE_CLI_VISIBILITY_H
#define SLUICE_CLI_VISIBILITY_H

#include "cli/question.h"
#include "controller/common/visibility_names.h"

struct visibility_request {
	const char *path;     /* below VISIBILITY_ROOT, escaped */
	const char *ns;	      /* NULL: all namespaces */
	bool one;	      /* it names one Job */
	const char *resource; /* NULL: queuedjobs */
	/* The queue is played for it: that takes longer than other answers, and a 409 or 503 has the
	 * controller's own words. */
	bool is_played;
	/* Where too many ask (429): how often it asks again, and after which pause. */
	int rounds, pause_ms;
	bool has_no_namespace; /* the resource is of the whole cluster: for its admins */
};

/* GET; the tree lives in json. ERR_GONE: it knows no such Job. ERR_CONFLICT: the moment of these pages
 * is over, begin with the first (410). ERR_DENIED: a right is missing. ERR_INVALID: it refuses the
 * question (400, 409, 413, 422), in its own words, or what came makes no sense. ERR_BUSY: no answer, in
 * most cases because the API is not there, or its controller is too old for that resource. */
int visibility_ask(struct ev_loop *loop, struct kube_client *client,
	const struct visibility_request *r, struct json *json, const cJSON **ret_root,
	struct err *e);

#endif
