/*
 * Our identity at the API server just now: a bearer token, a client certificate, the CA we trust.
 *
 * It is made from a struct kube_config. Files are read again at least once a minute and after a
 * 401. A credential plugin is run again when its credential expires and after a 401.
 *
 * The plugin runs beside the loop (a pipe and a pidfd), with a timeout and a ceiling on its output.
 * While it runs there is no identity, and requests wait. A plugin that failed is not run again for
 * a while; each request that needed it is answered with its error.
 *
 * Each change makes a new generation. A request remembers the generation that it was sent with: 64
 * requests that get a 401 at once cause one refresh, not 64.
 */
#ifndef SLUICE_CONTROLLER_KUBE_CREDENTIAL_H
#define SLUICE_CONTROLLER_KUBE_CREDENTIAL_H

#include <ev.h>
#include <stdint.h>

#include "controller/kube/config.h"

struct kube_credential;

enum kube_credential_state {
	CREDENTIAL_UNREAD,  /* nothing was read yet */
	CREDENTIAL_READY,   /* use it */
	CREDENTIAL_RUNNING, /* the plugin is at work; changed() will be called */
	CREDENTIAL_FAILED,  /* see kube_credential_error(); tried again later */
};

struct kube_credential_options {
	int64_t reread_ms;	   /* of files; 0: 60,000 */
	int64_t plugin_timeout_ms; /* 0: 60,000 */
	int64_t plugin_pause_ms;   /* between a failure and the next run; 0: 5,000 */
	int64_t early_ms; /* a plugin's credential is renewed this long before; 0: 10,000 */
};

/* Borrows config for its whole life. changed(ctx) is called from the loop when the plugin ended. */
struct kube_credential *kube_credential_new(struct ev_loop *loop, const struct kube_config *config,
	const struct kube_credential_options *options, void (*changed)(void *ctx), void *ctx);
void kube_credential_free(struct kube_credential *c); /* ends a running plugin */

/* Before each use, rereads what is old, starts the plugin when it must run, and says whether the
 * texts below may be used. */
enum kube_credential_state kube_credential_check(struct kube_credential *c);

/* Tells that the server answered 401 to a request of this generation. True when another try makes
 * sense (check again, and wait while it is running); false when nothing can change. */
bool kube_credential_refused(struct kube_credential *c, uint64_t generation);

/* Gives the bearer token; NULL: none. This and the three below are valid until the next check or
 * the return to the loop. */
const char *kube_credential_token(const struct kube_credential *c);
const char *kube_credential_cert(const struct kube_credential *c); /* PEM */
const char *kube_credential_key(const struct kube_credential *c);  /* PEM */
const char *kube_credential_ca(const struct kube_credential *c);   /* PEM; NULL: the system's */

uint64_t kube_credential_generation(const struct kube_credential *c);
const char *kube_credential_error(const struct kube_credential *c); /* "" unless FAILED */

#endif
