/*
 * The front proxy: is it the API server that asks, and for whom?
 *
 * kubectl speaks to the API server alone. That authenticates its user, asks its authorizer, and
 * passes the request on to us, with its own client certificate and the user in headers. We believe
 * those headers only behind a certificate that the cluster's front-proxy authority signed, for one
 * of the names that it allows. Both are in the ConfigMap extension-apiserver-authentication of
 * kube-system, which is read anew every minute: authorities are renewed while we run.
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

/* Knows nobody until it was told. */
struct front_proxy *front_proxy_new(void);
void front_proxy_free(struct front_proxy *p);

/* Takes over what the ConfigMap says. ERR_INVALID: a sentence that names the key; what was known
 * before stays. *ret_changed: the authorities are others than before. */
int front_proxy_take(
	struct front_proxy *p, const cJSON *configmap, bool *ret_changed, struct err *e);

/* The authorities as PEM, which a client must be asked for; NULL while none is known. Until the next
 * call of front_proxy_take(). */
const char *front_proxy_authorities(const struct front_proxy *p);

/* Is the client of this session (a gnutls_session_t; NULL: of none) the front proxy? NULL: it is; else
 * why not, a static sentence. now_ms: by the machine's clock, as GnuTLS judges by it. Who passed is
 * remembered for a minute, at most until its certificate ends or the authorities change. */
const char *front_proxy_refuses(struct front_proxy *p, void *session, int64_t now_ms);

#endif
