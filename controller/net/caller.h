/*
 * The caller of a request: what its connection and its headers say about it.
 *
 *   Authorization: Bearer TOKEN   Kubernetes says whose token it is (auth.h)
 *   X-Remote-User: anna           the user for whom an authenticating proxy asks, in the headers of
 *   X-Remote-Group: dev           Kubernetes' own front proxy; one line for each group
 *
 * A proxy is believed when its own token has the right to name users, and groups where it names
 * groups (http_options.names_users, names_groups). These are virtual rights of our API group, which
 * give nothing at the API server. A proxy in our pod (from loopback, unless that must show tokens
 * as well) needs no token. Then only the rights of the user that it named are asked for.
 *
 * Names and groups of the cluster itself ("system:...") cannot be named. A proxy has its users from
 * elsewhere, and a claim that a user can choose must not make that user an admin. All users that
 * are named are in system:authenticated, as with Kubernetes.
 */
#ifndef SLUICE_CONTROLLER_NET_CALLER_H
#define SLUICE_CONTROLLER_NET_CALLER_H

#include <stdbool.h>

#include "base/err.h"
struct MHD_Connection;

struct caller {
	const char *token; /* in the request's headers; NULL: none is shown */
	const char *user;  /* that a proxy names, in the headers; NULL: none */
	char *as;	   /* the user with groups, as review_put_user() has one; NULL: none */
	bool names_groups;
};

/* Reads the headers. ERR_INVALID, with a sentence and nothing to be freed: they name no user, or
 * one that no proxy may name. */
int caller_read(struct MHD_Connection *c, struct caller *ret, struct err *e);
void caller_done(struct caller *c);

bool caller_is_loopback(struct MHD_Connection *c);
/* Writes the address of the other end, in at most 46 bytes; "?" where it has none. */
void caller_address(struct MHD_Connection *c, char *ret);
/* Whether a browser asks for a page of another site. Programs and older browsers do not say:
 * false. */
bool caller_is_of_another_site(struct MHD_Connection *c);
/* Whether the Host header, without its port, is localhost or an address. */
bool caller_names_host(struct MHD_Connection *c);

#endif
