/*
 * The guard: may the owner of this bearer token read our HTTP port?
 *
 * The API server answers: a TokenReview says whose token it is, a SubjectAccessReview whether they
 * may `get clusterqueues.sluice.dev`. A verdict, yes or no, is remembered for ten seconds, in a
 * small table keyed by a keyed hash of the token; no token is kept. Only so many questions are
 * under way at once; beyond that the answer is that we do not know.
 */
#ifndef SLUICE_CONTROLLER_GUARD_H
#define SLUICE_CONTROLLER_GUARD_H

#include <stdint.h>

#include "controller/kube/client.h"
#include "controller/log.h"

struct guard;

enum guard_verdict {
	GUARD_ALLOWED,
	GUARD_STRANGER, /* 401: nobody's token */
	GUARD_REFUSED,	/* 403: somebody's, who may not */
	GUARD_UNKNOWN,	/* 503: the API server cannot be asked, or too many ask */
	GUARD_LATER,	/* the callback will say */
};

typedef void guard_verdict_fn(enum guard_verdict v, void *ctx);

struct guard *guard_new(struct kube_client *client, struct log *log);
/* Pending questions get no answer. */
void guard_free(struct guard *g);

/* fn is called, from the loop, only when this returns GUARD_LATER, and then exactly once. */
enum guard_verdict guard_ask(
	struct guard *g, const char *token, int64_t now_ms, guard_verdict_fn *fn, void *ctx);

#endif
