#include "controller/net/front_proxy.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"

#define AUTHORITIES_KEY "requestheader-client-ca-file"
#define NAMES_KEY "requestheader-allowed-names"

enum {
	SHA256_BYTES = 32,
	CHAIN_MAX = 8, /* certificates that a client may show */
	NAME_MAX_BYTES = 256,
	NAMES_CEILING = 1024 * 1024,
	PASSED_MAX = 8, /* an API server has one certificate, and a renewed one meanwhile */
	PASSED_MS = 60000,
};

struct names {
	char **name;
	size_t n; /* 0: any name */
};

/* A certificate that passed. A refused one is not kept: it may pass with other certificates behind
 * it. And so nobody else can push the API server's out. */
struct passed {
	unsigned char leaf[SHA256_BYTES];
	int64_t since_ms, until_ms;
};

struct front_proxy {
	char *pem; /* NULL: none is known */
	gnutls_x509_trust_list_t authorities;
	struct names names;
	struct passed passed[PASSED_MAX];
	size_t turn; /* counts the places that were taken */
};

static void names_done(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->name[i]);
	free(names->name);
	*names = (struct names){0};
}

struct front_proxy *front_proxy_new(void)
{
	return mem_alloc(sizeof(struct front_proxy));
}

static void forget_all(struct front_proxy *p)
{
	if (p->pem)
		gnutls_x509_trust_list_deinit(p->authorities, 1);
	free(p->pem);
	p->pem = NULL;
	names_done(&p->names);
	memset(p->passed, 0, sizeof(p->passed));
}

void front_proxy_free(struct front_proxy *p)
{
	if (!p)
		return;
	forget_all(p);
	free(p);
}

/* ---- what the ConfigMap says ----------------------------------------------------------------- */

static int read_authorities(const char *pem, gnutls_x509_trust_list_t *ret, struct err *e)
{
	if (!pem || !pem[0])
		return err_set(e, ERR_INVALID,
			"data." AUTHORITIES_KEY
			" is missing: the API server runs without --requestheader-client-ca-file, so it passes no requests on");
	gnutls_x509_trust_list_t list;
	gnutls_datum_t text = {(unsigned char *)pem, (unsigned)strlen(pem)};
	must(gnutls_x509_trust_list_init(&list, 0) == 0);
	int n = gnutls_x509_trust_list_add_trust_mem(list, &text, NULL, GNUTLS_X509_FMT_PEM, 0, 0);
	if (n <= 0) {
		gnutls_x509_trust_list_deinit(list, 1);
		return err_set(e, ERR_INVALID,
			"data." AUTHORITIES_KEY " holds no certificate in PEM (%s)",
			n < 0 ? gnutls_strerror(n) : "it is empty");
	}
	*ret = list;
	return 0;
}

static int names_error(struct names *names, struct err *e)
{
	names_done(names);
	return err_set(e, ERR_INVALID, "data." NAMES_KEY " is no JSON array of strings");
}

/* Reads the names. Absent, empty and [] are the same for the API server: any name. */
static int read_names(const char *text, struct names *ret, struct err *e)
{
	struct names names = {0};
	const cJSON *list = NULL;
	if (!text || !text[0]) {
		*ret = names;
		return 0;
	}
	struct json *json = json_new(NAMES_CEILING);
	struct slice whole = {text, strlen(text)};
	bool good = json_parse(json, whole, &list, NULL) == 0 && cJSON_IsArray(list);
	json_each(item, good ? list : NULL) {
		good = good && cJSON_IsString(item);
		if (!good)
			break;
		names.name = mem_grow(names.name, names.n + 1, sizeof(*names.name));
		names.name[names.n++] = mem_strdup(item->valuestring);
	}
	json_free(json);
	if (!good)
		return names_error(&names, e);
	*ret = names;
	return 0;
}

static bool same_names(const struct names *a, const struct names *b)
{
	bool same = a->n == b->n;
	for (size_t i = 0; same && i < a->n; i++)
		same = strcmp(a->name[i], b->name[i]) == 0;
	return same;
}

int front_proxy_take(
	struct front_proxy *p, const cJSON *configmap, bool *ret_changed, struct err *e)
{
	const cJSON *data = json_object(configmap, "data");
	const char *pem = json_text(data, AUTHORITIES_KEY);
	gnutls_x509_trust_list_t authorities = NULL;
	struct names names;
	int rc = read_names(json_text(data, NAMES_KEY), &names, e);
	if (rc)
		return rc;
	rc = read_authorities(pem, &authorities, e);
	if (rc) {
		names_done(&names);
		return rc;
	}
	bool changed = !p->pem || strcmp(p->pem, pem) != 0;
	if (!changed && same_names(&p->names, &names)) {
		gnutls_x509_trust_list_deinit(authorities, 1);
		names_done(&names);
	} else {
		forget_all(p);
		p->pem = mem_strdup(pem);
		p->authorities = authorities;
		p->names = names;
	}
	*ret_changed = changed;
	return 0;
}

const char *front_proxy_authorities(const struct front_proxy *p)
{
	return p->pem;
}

/* ---- those who passed ------------------------------------------------------------------------ */

static bool has_passed(const struct front_proxy *p, const unsigned char *leaf, int64_t now_ms)
{
	for (size_t i = 0; i < PASSED_MAX; i++) {
		const struct passed *x = &p->passed[i];
		if (memcmp(x->leaf, leaf, SHA256_BYTES) == 0 && now_ms >= x->since_ms &&
			now_ms < x->until_ms)
			return true;
	}
	return false;
}

static void remember(
	struct front_proxy *p, const unsigned char *leaf, int64_t now_ms, int64_t ends_ms)
{
	struct passed *x = &p->passed[p->turn++ % PASSED_MAX];
	int64_t until_ms = now_ms + PASSED_MS;
	*x = (struct passed){
		.since_ms = now_ms, .until_ms = until_ms < ends_ms ? until_ms : ends_ms};
	memcpy(x->leaf, leaf, SHA256_BYTES);
}

/* ---- what a client shows --------------------------------------------------------------------- */

struct chain {
	gnutls_x509_crt_t crt[CHAIN_MAX]; /* the client's own first */
	unsigned n;
};

static void chain_done(struct chain *c)
{
	while (c->n > 0)
		gnutls_x509_crt_deinit(c->crt[--c->n]);
}

static bool chain_read(const gnutls_datum_t *shown, unsigned n, struct chain *ret)
{
	ret->n = 0;
	if (n > CHAIN_MAX)
		return false;
	while (ret->n < n) {
		must(gnutls_x509_crt_init(&ret->crt[ret->n]) == 0);
		const gnutls_datum_t *der = &shown[ret->n++];
		if (gnutls_x509_crt_import(ret->crt[ret->n - 1], der, GNUTLS_X509_FMT_DER) != 0)
			return false;
	}
	return true;
}

static const char *authority_refuses(const struct front_proxy *p, struct chain *c)
{
	unsigned bad = 0;
	gnutls_typed_vdata_st purpose = {.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT};
	int rc = gnutls_x509_trust_list_verify_crt2(
		p->authorities, c->crt, c->n, &purpose, 1, 0, &bad, NULL);
	if (rc == 0 && bad == 0)
		return NULL;
	if (rc == 0 && bad == (GNUTLS_CERT_INVALID | GNUTLS_CERT_EXPIRED))
		return "the client's certificate has expired, or its authority's has";
	if (rc == 0 && bad == (GNUTLS_CERT_INVALID | GNUTLS_CERT_NOT_ACTIVATED))
		return "the client's certificate is not valid yet";
	if (rc == 0 && bad == (GNUTLS_CERT_INVALID | GNUTLS_CERT_PURPOSE_MISMATCH))
		return "the client's certificate is not for clients";
	return "the client's certificate is not signed by the front-proxy authority of this cluster";
}

static const char *names_refuse(const struct names *names, gnutls_x509_crt_t leaf)
{
	char name[NAME_MAX_BYTES];
	size_t len = sizeof(name);
	if (names->n == 0)
		return NULL;
	int rc = gnutls_x509_crt_get_dn_by_oid(leaf, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name, &len);
	for (size_t i = 0; rc == 0 && i < names->n; i++)
		if (strlen(names->name[i]) == len && memcmp(names->name[i], name, len) == 0)
			return NULL;
	return "the client's certificate is for another name than the API server's (" NAMES_KEY ")";
}

static const char *chain_refused(
	const struct front_proxy *p, const gnutls_datum_t *shown, unsigned n, int64_t *ret_ends_ms)
{
	struct chain c;
	const char *why = "the client's certificates cannot be read";
	if (chain_read(shown, n, &c)) {
		why = authority_refuses(p, &c);
		if (!why)
			why = names_refuse(&p->names, c.crt[0]);
		*ret_ends_ms = (int64_t)gnutls_x509_crt_get_expiration_time(c.crt[0]) * 1000;
	}
	chain_done(&c);
	return why;
}

const char *front_proxy_refuses(struct front_proxy *p, void *session, int64_t now_ms)
{
	unsigned char leaf[SHA256_BYTES];
	unsigned n = 0;
	int64_t ends_ms = 0;
	if (!p->pem)
		return "the front-proxy authority of this cluster is not known yet";
	const gnutls_datum_t *shown = NULL;
	if (session && gnutls_certificate_type_get2(session, GNUTLS_CTYPE_PEERS) == GNUTLS_CRT_X509)
		shown = gnutls_certificate_get_peers(session, &n);
	if (!shown || n == 0)
		return "the client shows no certificate; ask through the API server, as kubectl get queuedjobs does";
	must(gnutls_hash_fast(GNUTLS_DIG_SHA256, shown[0].data, shown[0].size, leaf) == 0);
	if (has_passed(p, leaf, now_ms))
		return NULL;
	const char *why = chain_refused(p, shown, n, &ends_ms);
	if (!why)
		remember(p, leaf, now_ms, ends_ms);
	return why;
}
