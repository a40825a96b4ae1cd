/*
 * The certificate and the private key of the API's port, as PEM texts.
 *
 * From two files, or made here. What comes out of this module is always usable: the files were
 * readable, both are PEM, and the key belongs to the certificate. The files are read once: a
 * renewed certificate is served after a restart of the controller.
 *
 * A key that was made here is never written anywhere; it ends with the process.
 */
#ifndef SLUICE_CONTROLLER_HTTP_TLS_H
#define SLUICE_CONTROLLER_HTTP_TLS_H

#include <stdint.h>

#include "base/err.h"

struct tls {
	char *certificate; /* the server's own first, then its chain */
	char *key;
	char fingerprint[3 * 32]; /* SHA-256 of the certificate, as openssl x509 -fingerprint */
	int64_t expires_ms;
};

/* ERR_INVALID: the sentence names the flag, the file and the cure. */
int tls_load(const char *cert_file, const char *key_file, struct tls **ret, struct err *e);

/* For localhost, 127.0.0.1, ::1, this host's name and the Service of deploy/manager. */
int tls_make(struct tls **ret, struct err *e);

void tls_free(struct tls *t);

#endif
