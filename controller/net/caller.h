/*
 * The caller of a request: what its connection and its headers say about it.
 *
 *   Authorization: Bearer TOKEN     whose token it is, Kubernetes says (auth.h)
 *   X-Remote-User: anna             the user for whom an authenticating proxy asks, in the headers that
 *   X-Remote-Group: dev             Kubernetes' own front proxy uses; one line for each group
 *
 * A proxy is believed when its own token has the right to name users, and where it names groups, groups
 * (http_options.names_users, names_groups): a virtual right of our API group, which gives nothing at the API server. A
 * proxy in our pod (from loopback, unless that must show tokens as well) needs no token. Then the rights of
 * the user that it named are asked for, and only those.
 *
 * Names and groups of the cluster itself ("system:...") cannot be named: a proxy has its users from
 * elsewhere, and a claim that a user can choose must not make that user an admin. All users that are named are in
 * system:authenticated, as with Kubernetes.
 */
#ifndef SLUICE_CONTROLLER_NET_CALLER_H
#define SLUICE_CONTROLLER_NET_CALLER_H

#include <stdbool.h>

#include "base/err.h"
struct MHD_Connection;

struct caller {
	const char *token; /* of the request's headers; NULL: none is shown */
	const char *user;  /* that a proxy names; of the headers, too. NULL: none */
	char *as;	   /* ... with its groups, as review_put_user() has one; NULL: none */
	bool names_groups;
};

/* ERR_INVALID: headers that name no user, or one that no proxy may name; a sentence. Then nothing is to be
 * freed. */
int caller_read(struct MHD_Connection *c, struct caller *ret, struct err *e);
void caller_done(struct caller *c);

bool caller_is_loopback(struct MHD_Connection *c);
/* A browser asks for a page that came from elsewhere. Programs and older browsers do not say: false. */
bool caller_is_of_another_site(struct MHD_Connection *c);
/* The Host header, without its port, is localhost or an address. */
bool caller_names_host(struct MHD_Connection *c);

#endif
