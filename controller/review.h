/*
 * Reviews: the two questions about a caller, as the API server is asked them, and what its answers
 * say. Only texts; who asks when, and what it remembers, is the guard.
 */
#ifndef SLUICE_CONTROLLER_REVIEW_H
#define SLUICE_CONTROLLER_REVIEW_H

#include <stdbool.h>

#include "base/buf.h"
#include "controller/kube/json.h"

/* A TokenReview: whose token is this? */
void review_ask_token(struct buf *out, const char *token);

/* The user of an answered TokenReview, with a username; NULL: nobody's token. */
const cJSON *review_user(const cJSON *answer);

/* A SubjectAccessReview: may that user `get clusterqueues.sluice.dev`? */
void review_ask_access(struct buf *out, const cJSON *user);

/* Whether an answered one says yes. What says nothing of the kind says no. */
bool review_allows(const cJSON *answer);

#endif
