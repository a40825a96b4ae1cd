/*
 * Reviews: the two questions about a caller that the API server is asked, and what its answers say.
 * Only texts; auth.h says when they are asked, and what is remembered.
 */
#ifndef SLUICE_CONTROLLER_NET_REVIEW_H
#define SLUICE_CONTROLLER_NET_REVIEW_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/json.h"

/* A right that a caller must have. */
struct right {
	const char *verb, *group, *resource; /* static texts */
	char ns[64]; /* "": in all namespaces, or of a kind that is in none */
};

bool right_same(const struct right *a, const struct right *b);
/* Writes "list jobs.batch in namespace team-a". */
void right_describe(const struct right *r, struct buf *out);

/* Writes a TokenReview: which user's token is this? It must be for audience; NULL: the API
 * server. */
void review_ask_token(struct buf *out, const char *token, const char *audience);

/* Gives the user of an answered TokenReview, with a username. NULL: the token is of no user, or for
 * another audience. */
const cJSON *review_user(const cJSON *answer, const char *audience);

/* Writes a user as an object whose members are those of a SubjectAccessReview's spec. */
void review_put_user(struct buf *out, const cJSON *user);

/* Writes a SubjectAccessReview: may that user, such an object, do it? */
void review_ask_access(struct buf *out, const char *user, const struct right *r);

/* Whether an answered SubjectAccessReview says yes. What says nothing of the kind says no. */
bool review_allows(const cJSON *answer);

#endif
