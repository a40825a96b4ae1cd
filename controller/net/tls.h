/*
 * The certificate and the private key of a port, as PEM texts, from two files or made here.
 *
 * What comes out of this module is always usable: the files were readable, both are PEM, and the
 * key belongs to the certificate. The port serves what was read: for a renewed certificate it has
 * to be opened anew.
 *
 * A key that was made here is never written anywhere; it ends with the process.
 */
#ifndef SLUICE_CONTROLLER_NET_TLS_H
#define SLUICE_CONTROLLER_NET_TLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "controller/common/log.h"

struct tls {
	char *certificate; /* the server's own first, then its chain */
	char *key;
	char fingerprint[3 * 32]; /* SHA-256 of the certificate, as openssl x509 -fingerprint */
	int64_t expires_ms;
};

struct tls_files {
	/* The flags that named them, for sentences: "--tls-cert-file". */
	const char *cert_flag, *key_flag;
	const char *cert, *key;
};

/* Reads both files. ERR_INVALID: the sentence names the flag, the file and the cure. */
int tls_load(const struct tls_files *f, struct tls **ret, struct err *e);

/* Makes a certificate for these DNS names and IP addresses, and always for localhost, 127.0.0.1, ::1
 * and this host's name. */
int tls_make(const char *const *names, size_t n, struct tls **ret, struct err *e);

/* Logs a line about the certificate: a warning when it has expired. file: its source; NULL: made
 * here. */
void tls_log(const struct tls *t, const char *file, struct log *log);

void tls_free(struct tls *t);

#endif
