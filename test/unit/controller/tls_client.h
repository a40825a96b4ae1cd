/*
 * A TLS client that shows a certificate, on the loop of the port that it asks; and certificates for
 * it, made on the spot.
 */
#ifndef SLUICE_TEST_CONTROLLER_TLS_CLIENT_H
#define SLUICE_TEST_CONTROLLER_TLS_CLIENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <ev.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

/* ---- certificates ---------------------------------------------------------------------------- */

struct identity {
	gnutls_x509_crt_t crt;
	gnutls_x509_privkey_t key;
};

struct wish {
	const char *name; /* its common name */
	bool is_authority;
	const char *purpose; /* NULL: none is named */
	long from, until;    /* seconds from now */
};

/* As others see it: GnuTLS compares names of what was read only. */
static inline gnutls_x509_crt_t read_back(gnutls_x509_crt_t made)
{
	gnutls_x509_crt_t crt;
	gnutls_datum_t d;
	assert_int_equal(gnutls_x509_crt_export2(made, GNUTLS_X509_FMT_DER, &d), 0);
	assert_int_equal(gnutls_x509_crt_init(&crt), 0);
	assert_int_equal(gnutls_x509_crt_import(crt, &d, GNUTLS_X509_FMT_DER), 0);
	gnutls_free(d.data);
	gnutls_x509_crt_deinit(made);
	return crt;
}

/* by NULL: by itself. */
static inline struct identity identity_make(const struct wish *w, const struct identity *by)
{
	static unsigned char serial = 1;
	struct identity x;
	time_t now = time(NULL);
	assert_int_equal(gnutls_x509_privkey_init(&x.key), 0);
	assert_int_equal(gnutls_x509_privkey_generate(x.key, GNUTLS_PK_ECDSA,
				 GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
		0);
	assert_int_equal(gnutls_x509_crt_init(&x.crt), 0);
	gnutls_x509_crt_set_version(x.crt, 3);
	gnutls_x509_crt_set_serial(x.crt, &serial, 1);
	serial++;
	gnutls_x509_crt_set_dn_by_oid(
		x.crt, GNUTLS_OID_X520_COMMON_NAME, 0, w->name, (unsigned)strlen(w->name));
	gnutls_x509_crt_set_activation_time(x.crt, now + w->from);
	gnutls_x509_crt_set_expiration_time(x.crt, now + w->until);
	gnutls_x509_crt_set_basic_constraints(x.crt, w->is_authority, -1);
	if (w->is_authority)
		gnutls_x509_crt_set_key_usage(x.crt, GNUTLS_KEY_KEY_CERT_SIGN);
	if (w->purpose)
		gnutls_x509_crt_set_key_purpose_oid(x.crt, w->purpose, 0);
	gnutls_x509_crt_set_key(x.crt, x.key);
	assert_int_equal(gnutls_x509_crt_sign2(x.crt, by ? by->crt : x.crt, by ? by->key : x.key,
				 GNUTLS_DIG_SHA256, 0),
		0);
	x.crt = read_back(x.crt);
	return x;
}

static inline void identity_done(struct identity *x)
{
	gnutls_x509_crt_deinit(x->crt);
	gnutls_x509_privkey_deinit(x->key);
}

static inline char *pem_of(const struct identity *x)
{
	gnutls_datum_t d;
	assert_int_equal(gnutls_x509_crt_export2(x->crt, GNUTLS_X509_FMT_PEM, &d), 0);
	char *text = mem_strndup((const char *)d.data, d.size);
	gnutls_free(d.data);
	return text;
}

/* ---- the client ------------------------------------------------------------------------------ */

static inline int client_connect(uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

struct client {
	struct ev_loop *loop; /* of the port that it asks */
	gnutls_certificate_credentials_t credentials;
	gnutls_session_t session;
	int fd;
};

/* Is it to be called again? Then the port has had its turn. */
static inline bool client_waits(struct client *c, ssize_t rc)
{
	if (rc != GNUTLS_E_AGAIN && rc != GNUTLS_E_INTERRUPTED)
		return false;
	ev_run(c->loop, EVRUN_NOWAIT);
	struct pollfd wait = {.fd = c->fd, .events = POLLIN};
	poll(&wait, 1, 2);
	return true;
}

/* who NULL: without a certificate. Shown even where the port asks for those of others. */
static inline void client_open(struct client *c, struct ev_loop *loop, uint16_t port,
	const struct identity *who, const struct identity *behind)
{
	int rc;
	*c = (struct client){.loop = loop, .fd = client_connect(port)};
	gnutls_certificate_allocate_credentials(&c->credentials);
	if (who) {
		gnutls_x509_crt_t chain[2] = {who->crt, behind ? behind->crt : NULL};
		assert_int_equal(gnutls_certificate_set_x509_key(
					 c->credentials, chain, behind ? 2 : 1, who->key),
			0);
	}
	gnutls_init(&c->session, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_FORCE_CLIENT_CERT);
	gnutls_set_default_priority(c->session);
	gnutls_credentials_set(c->session, GNUTLS_CRD_CERTIFICATE, c->credentials);
	gnutls_transport_set_int(c->session, c->fd);
	do
		rc = gnutls_handshake(c->session);
	while (client_waits(c, rc));
	assert_int_equal(rc, 0);
}

static inline bool answer_is_whole(const char *text, size_t len)
{
	const char *length = strstr(text, "Content-Length: "), *body = strstr(text, "\r\n\r\n");
	return length && body &&
	       len - (size_t)(body + 4 - text) >= (size_t)atoi(length + strlen("Content-Length: "));
}

/* Goes on with the same session. */
static inline int client_ask_by(struct client *c, const char *method, char *ret, size_t size)
{
	char request[200];
	snprintf(request, sizeof(request),
		"%s /apis HTTP/1.1\r\nHost: x\r\nX-Remote-User: mia\r\n\r\n", method);
	size_t len = 0;
	ssize_t n;
	do
		n = gnutls_record_send(c->session, request, strlen(request));
	while (client_waits(c, n));
	ret[0] = '\0';
	while (!answer_is_whole(ret, len)) {
		n = gnutls_record_recv(c->session, ret + len, size - 1 - len);
		if (n > 0)
			len += (size_t)n;
		else if (!client_waits(c, n))
			fail_msg("%s; so far: %s", gnutls_strerror((int)n), ret);
		ret[len] = '\0';
	}
	assert_int_equal(strncmp(ret, "HTTP/1.1 ", 9), 0);
	return atoi(ret + 9);
}

static inline int client_ask(struct client *c, char *ret, size_t size)
{
	return client_ask_by(c, "GET", ret, size);
}

static inline void client_close(struct client *c)
{
	gnutls_deinit(c->session);
	gnutls_certificate_free_credentials(c->credentials);
	close(c->fd);
}

#endif
