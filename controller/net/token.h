/*
 * Tokens that callers show. None is kept, only a keyed hash of it; and the API server is asked whose
 * it is.
 */
#ifndef SLUICE_CONTROLLER_NET_TOKEN_H
#define SLUICE_CONTROLLER_NET_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/siphash.h"
#include "controller/kube/client.h"

enum { TOKEN_TIMEOUT_MS = 5000 }; /* of a question */

struct token {
	uint64_t hash[2];
};

static inline bool token_is(const struct token *a, const struct token *b)
{
	return a->hash[0] == b->hash[0] && a->hash[1] == b->hash[1];
}

/* Draws a key of this process. */
struct siphash_key token_key(void);
/* Hashes a token. False: it is empty, NULL, or too long to be asked about. */
bool token_hash(const struct siphash_key *key, const char *text, struct token *ret);

/* Asks the API server (TokenReview), behind everything else that is sent to it. Returns the request;
 * 0: the token is too long. */
uint64_t token_review(struct kube_client *client, const char *text, const char *audience,
	size_t answer_ceiling, kube_answer_fn *fn, void *ctx);

#endif
