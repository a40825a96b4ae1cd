#include "controller/net/tls.h"

#include <arpa/inet.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/instant.h"
#include "base/mem.h"
#include "base/must.h"
#include "controller/common/clock.h"
#include "controller/kube/source.h"

enum { SHA256_BYTES = 32, SERIAL_BYTES = 16, YEAR_SECONDS = 365 * 86400, YEARS = 10 };

static gnutls_datum_t datum(const char *text)
{
	return (gnutls_datum_t){(unsigned char *)text, (unsigned)strlen(text)};
}

/* ---- what is told of a certificate ----------------------------------------------------------- */

static int describe(gnutls_x509_crt_t crt, struct tls *t)
{
	unsigned char sum[SHA256_BYTES];
	size_t len = sizeof(sum);
	int rc = gnutls_x509_crt_get_fingerprint(crt, GNUTLS_DIG_SHA256, sum, &len);
	if (rc)
		return rc;
	for (size_t i = 0, at = 0; i < SHA256_BYTES; i++)
		at += (size_t)snprintf(t->fingerprint + at, sizeof(t->fingerprint) - at, "%s%02X",
			i ? ":" : "", sum[i]);
	t->expires_ms = (int64_t)gnutls_x509_crt_get_expiration_time(crt) * 1000;
	return 0;
}

/* ---- from files ------------------------------------------------------------------------------ */

static int read_pem(const char *flag, const char *path, char **ret, struct err *e)
{
	size_t len;
	if (source_read_file(path, ret, &len, e) == 0)
		return 0;
	struct err why = *e;
	return err_set(e, ERR_INVALID, "%s: %.400s; name a PEM file that this process may read",
		flag, why.text);
}

static int check_certificate(struct tls *t, const struct tls_files *f, struct err *e)
{
	gnutls_x509_crt_t *list = NULL;
	unsigned n = 0;
	gnutls_datum_t text = datum(t->certificate);
	int rc = gnutls_x509_crt_list_import2(&list, &n, &text, GNUTLS_X509_FMT_PEM, 0);
	if (rc == 0)
		rc = describe(list[0], t);
	for (unsigned i = 0; i < n; i++)
		gnutls_x509_crt_deinit(list[i]);
	gnutls_free(list);
	if (rc)
		return err_set(e, ERR_INVALID,
			"%s %.200s holds no certificate in PEM (%s); it must begin with the server's own, and its chain follows",
			f->cert_flag, f->cert, gnutls_strerror(rc));
	return 0;
}

static int check_key(const struct tls *t, const struct tls_files *f, struct err *e)
{
	gnutls_x509_privkey_t key;
	gnutls_datum_t text = datum(t->key);
	must(gnutls_x509_privkey_init(&key) == 0);
	int rc = gnutls_x509_privkey_import2(key, &text, GNUTLS_X509_FMT_PEM, NULL, 0);
	gnutls_x509_privkey_deinit(key);
	if (rc)
		return err_set(e, ERR_INVALID,
			"%s %.200s holds no private key in PEM without a password (%s)",
			f->key_flag, f->key, gnutls_strerror(rc));
	return 0;
}

static int check_pair(const struct tls *t, const struct tls_files *f, struct err *e)
{
	gnutls_certificate_credentials_t both;
	gnutls_datum_t certificate = datum(t->certificate), key = datum(t->key);
	must(gnutls_certificate_allocate_credentials(&both) == 0);
	int rc = gnutls_certificate_set_x509_key_mem(both, &certificate, &key, GNUTLS_X509_FMT_PEM);
	gnutls_certificate_free_credentials(both);
	if (rc >= 0) /* its index among the credentials */
		return 0;
	if (rc == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
		return err_set(e, ERR_INVALID,
			"the key in %s %.150s does not belong to the certificate in %s %.150s; give the key that this certificate was made for",
			f->key_flag, f->key, f->cert_flag, f->cert);
	return err_set(e, ERR_INVALID, "%s %.150s with %s %.150s: %s", f->cert_flag, f->cert,
		f->key_flag, f->key, gnutls_strerror(rc));
}

int tls_load(const struct tls_files *f, struct tls **ret, struct err *e)
{
	struct tls *t = mem_alloc(sizeof(*t));
	int rc = read_pem(f->cert_flag, f->cert, &t->certificate, e);
	if (rc == 0)
		rc = check_certificate(t, f, e);
	if (rc == 0)
		rc = read_pem(f->key_flag, f->key, &t->key, e);
	if (rc == 0)
		rc = check_key(t, f, e);
	if (rc == 0)
		rc = check_pair(t, f, e);
	if (rc) {
		tls_free(t);
		return rc;
	}
	*ret = t;
	return 0;
}

/* ---- made here ------------------------------------------------------------------------------- */

/* Adds a name, or an address. */
static int add_name(gnutls_x509_crt_t crt, const char *name)
{
	unsigned char ip[sizeof(struct in6_addr)];
	unsigned size = inet_pton(AF_INET, name, ip) == 1    ? sizeof(struct in_addr)
			: inet_pton(AF_INET6, name, ip) == 1 ? sizeof(struct in6_addr)
							     : 0;
	if (size > 0)
		return gnutls_x509_crt_set_subject_alt_name(
			crt, GNUTLS_SAN_IPADDRESS, ip, size, GNUTLS_FSAN_APPEND);
	return gnutls_x509_crt_set_subject_alt_name(
		crt, GNUTLS_SAN_DNSNAME, name, (unsigned)strlen(name), GNUTLS_FSAN_APPEND);
}

struct made_for {
	const char *const *names;
	size_t n;
};

static int add_names(gnutls_x509_crt_t crt, const struct made_for *made_for)
{
	char host[256] = "";
	int rc = gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0,
		"sluice-controller", strlen("sluice-controller"));
	for (size_t i = 0; rc == 0 && i < made_for->n; i++)
		rc = add_name(crt, made_for->names[i]);
	if (rc == 0)
		rc = add_name(crt, "localhost");
	if (rc == 0 && gethostname(host, sizeof(host) - 1) == 0 && host[0] &&
		strcmp(host, "localhost") != 0)
		rc = add_name(crt, host);
	if (rc == 0)
		rc = add_name(crt, "127.0.0.1");
	if (rc == 0)
		rc = add_name(crt, "::1");
	return rc;
}

/* Fills the certificate: valid from 1970, where a node begins that does not know the time yet, and
 * longer than any process lives. */
static int fill(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key, const struct made_for *made_for)
{
	unsigned char serial[SERIAL_BYTES];
	time_t now = time(NULL);
	int rc = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof(serial));
	serial[0] &= 0x7F; /* a serial number must be positive */
	if (rc == 0)
		rc = gnutls_x509_crt_set_version(crt, 3);
	if (rc == 0)
		rc = gnutls_x509_crt_set_serial(crt, serial, sizeof(serial));
	if (rc == 0)
		rc = gnutls_x509_crt_set_activation_time(crt, 0);
	if (rc == 0)
		rc = gnutls_x509_crt_set_expiration_time(crt, now + (time_t)YEARS * YEAR_SECONDS);
	if (rc == 0)
		rc = add_names(crt, made_for);
	if (rc == 0)
		rc = gnutls_x509_crt_set_basic_constraints(crt, 0, -1);
	if (rc == 0)
		rc = gnutls_x509_crt_set_key_purpose_oid(crt, GNUTLS_KP_TLS_WWW_SERVER, 0);
	if (rc == 0)
		rc = gnutls_x509_crt_set_key(crt, key);
	if (rc == 0)
		rc = gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0);
	return rc;
}

static char *take_text(gnutls_datum_t *d)
{
	char *text = mem_strndup((const char *)d->data, d->size);
	gnutls_memset(d->data, 0, d->size);
	gnutls_free(d->data);
	return text;
}

static int export_pem(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key, struct tls *t)
{
	gnutls_datum_t text;
	int rc = gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &text);
	if (rc)
		return rc;
	t->certificate = take_text(&text);
	rc = gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &text);
	if (rc)
		return rc;
	t->key = take_text(&text);
	return describe(crt, t);
}

int tls_make(const char *const *names, size_t n, struct tls **ret, struct err *e)
{
	struct made_for made_for = {names, n};
	gnutls_x509_privkey_t key;
	gnutls_x509_crt_t crt;
	struct tls *t = mem_alloc(sizeof(*t));
	must(gnutls_x509_privkey_init(&key) == 0 && gnutls_x509_crt_init(&crt) == 0);
	int rc = gnutls_x509_privkey_generate2(
		key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0, NULL, 0);
	if (rc == 0)
		rc = fill(crt, key, &made_for);
	if (rc == 0)
		rc = export_pem(crt, key, t);
	gnutls_x509_crt_deinit(crt);
	gnutls_x509_privkey_deinit(key);
	if (rc) {
		tls_free(t);
		return err_set(
			e, ERR_INVALID, "no certificate can be made: %s", gnutls_strerror(rc));
	}
	*ret = t;
	return 0;
}

/* ---- its life -------------------------------------------------------------------------------- */

void tls_log(const struct tls *t, const char *file, struct log *log)
{
	bool is_over = t->expires_ms <= clock_now_ms();
	log_event(log, is_over ? LEVEL_WARN : LEVEL_INFO,
		is_over ? "certificate-expired" : "certificate", "file", file, "sha256",
		t->fingerprint, "expires", instant_seconds(t->expires_ms).s, NULL);
}

void tls_free(struct tls *t)
{
	if (!t)
		return;
	if (t->key)
		gnutls_memset(t->key, 0, strlen(t->key));
	free(t->key);
	free(t->certificate);
	free(t);
}
