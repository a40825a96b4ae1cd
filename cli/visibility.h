/*
 * The aggregated API visibility.sluice.dev, asked through the API server with the rights of the
 * kubeconfig. Every answer that is none becomes a sentence with a cure.
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
	bool one;	      /* the path names one Job */
	const char *resource; /* NULL: queuedjobs */
	/* The queue is played for the answer: that takes longer, and a 409 or 503 has the
	 * controller's own words. */
	bool is_played;
	/* How often to ask again where too many ask (429), and after which pause. */
	int rounds, pause_ms;
	bool has_no_namespace; /* a resource of the whole cluster, for its admins */
};

/* Asks by GET; the tree lives in json. ERR_GONE: the API knows no such Job. ERR_CONFLICT: the
 * moment of these pages is over, begin with the first (410). ERR_DENIED: a right is missing.
 * ERR_INVALID: the question is refused (400, 409, 413, 422), in the API's words, or what came makes
 * no sense. ERR_BUSY: no answer, mostly because the API is not there, or its controller is too old
 * for that resource. */
int visibility_ask(struct ev_loop *loop, struct kube_client *client,
	const struct visibility_request *r, struct json *json, const cJSON **ret_root,
	struct err *e);

#endif
