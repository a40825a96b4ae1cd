/*
 * The front proxy: is it the API server that asks, and for whom?
 *
 * kubectl speaks to the API server alone. The API server authenticates the user, asks its
 * authorizer, and passes the request on to us, with its own client certificate and the user in
 * headers. We believe those headers only behind a certificate that the cluster's front-proxy
 * authority signed, for one of the names that it allows. Both are in the ConfigMap
 * extension-apiserver-authentication of kube-system, which is read anew every minute: authorities
 * are renewed while we run.
 *
 * Rights are not asked again: the API server has asked for exactly this path and verb.
 */
#ifndef SLUICE_CONTROLLER_NET_FRONT_PROXY_H
#define SLUICE_CONTROLLER_NET_FRONT_PROXY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

struct front_proxy;

/* Makes a front proxy that trusts nobody until front_proxy_take(). */
struct front_proxy *front_proxy_new(void);
void front_proxy_free(struct front_proxy *p);

/* Takes over what the ConfigMap says. ERR_INVALID: a sentence that names the key; what was known
 * before stays. *ret_changed: the authorities are others than before. */
int front_proxy_take(
	struct front_proxy *p, const cJSON *configmap, bool *ret_changed, struct err *e);

/* Gives the authorities as PEM, which a client must be asked for; NULL while none is known. Valid
 * until the next front_proxy_take(). */
const char *front_proxy_authorities(const struct front_proxy *p);

/* Says why the client of this session (a gnutls_session_t; NULL: none) is not the front proxy, in a
 * static sentence; NULL: it is. now_ms is by the machine's clock, as GnuTLS judges by it. A
 * certificate that passed is remembered for a minute, at most until it ends or the authorities
 * change. */
const char *front_proxy_refuses(struct front_proxy *p, void *session, int64_t now_ms);

#endif
