/*
 * Auth: may the owner of this bearer token do that, or the user whom a proxy names?
 *
 * The API server answers: a TokenReview says whose token it is, a SubjectAccessReview whether that
 * user has the right that the path wants. No token is kept, only a keyed hash of it. A user that a
 * proxy names (caller.h) has no token: only the second question is asked.
 *
 * Callers must not be able to make it ask much, nor to make it forget what it knows of others:
 *
 * - whose token it is, and what the owner may, is remembered for ten seconds. So is an invalid
 *   token, in a table of its own: callers without a good token cannot push the good ones out. The
 *   owner of many tokens has a few places, not all;
 * - a token that is not known costs a question. There are 20 a second, 5 from one address, and few
 *   at once; a known owner has 32 rights to ask for;
 * - tokens that were good a while ago have 20 questions a second of their own, whatever the
 *   address. Behind an Ingress all have one: strangers cannot keep out those who were let in;
 * - rights that a caller might choose from (auth_ask_choice()) have 24 places of their own for each
 *   owner, 20 questions a second for all, and 4 at once. They take no place of other questions, which
 *   never wait for them. Of these a user has 24, then 5 a second, and one at once; all
 *   ServiceAccounts of a namespace count as one user, for a tenant makes as many as it likes;
 * - its questions go out behind everything else that the controller sends (kube_request.last).
 *
 * Beyond that the verdict is AUTH_UNKNOWN: try again in a second.
 */
#ifndef SLUICE_CONTROLLER_NET_AUTH_H
#define SLUICE_CONTROLLER_NET_AUTH_H

#include <stdint.h>

#include "controller/kube/client.h"
#include "controller/common/log.h"
#include "controller/net/review.h"

struct auth;

enum auth_verdict {
	AUTH_ALLOWED,
	AUTH_STRANGER, /* 401: the token is invalid */
	AUTH_REFUSED,  /* 403: the token's owner may not */
	AUTH_UNKNOWN,  /* 503: the API server cannot be asked, or too many ask */
	AUTH_LATER,    /* the callback will say */
};

typedef void auth_verdict_fn(enum auth_verdict v, void *ctx);

struct auth_options {
	struct kube_client *client;
	struct log *log;
	const char
		*audience; /* a token must be for this audience; NULL: the API server. Borrowed */
};

/* A caller. Texts are for the call. */
struct auth_caller {
	const char *token;
	/* caller.user and caller.as, of a proxy that may name users; then no token is looked at. Or
	 * NULL. */
	const char *user, *as;
	uint64_t address; /* any number that stands for the address */
};

struct auth *auth_new(const struct auth_options *o);
/* Drops questions that are under way: they get no answer. */
void auth_free(struct auth *g);

/* Asks whether the caller has the right. Only AUTH_LATER is followed by one call of fn, from the
 * loop. now_ms is of a clock that cannot be set, and only goes on. */
enum auth_verdict auth_ask(struct auth *g, const struct auth_caller *caller,
	const struct right *right, int64_t now_ms, auth_verdict_fn *fn, void *ctx);

/* Asks as auth_ask() for a right that no request wants yet, to tell the caller what there is to
 * choose from. The answer is remembered for requests, too. AUTH_UNKNOWN at once: there is no room
 * just now, or nothing is known of the caller. */
enum auth_verdict auth_ask_choice(struct auth *g, const struct auth_caller *caller,
	const struct right *right, int64_t now_ms, auth_verdict_fn *fn, void *ctx);

/* Appends the caller's name, as the API server or the proxy has it. False: nothing is known of the
 * caller now. */
bool auth_user(struct auth *g, const struct auth_caller *caller, int64_t now_ms, struct buf *out);
/* Gives a number that stands for a user's name, the same at each port until this process ends. */
uint64_t auth_number(const char *user);
/* Gives that number for a caller; 0: nothing is known of the caller now. */
uint64_t auth_name(struct auth *g, const struct auth_caller *caller, int64_t now_ms);

#endif
