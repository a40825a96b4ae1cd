/*
 * The front proxy, told from all others: a port that asks for certificates, and clients that shake
 * hands with it for real, each with another one. Both on one loop; authorities and certificates are
 * made on the spot.
 */
#include "controller/net/front_proxy.h"

#include "controller/net/http.h"
#include "tls_client.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define CLIENT GNUTLS_KP_TLS_WWW_CLIENT
#define SERVER GNUTLS_KP_TLS_WWW_SERVER
enum { HOUR = 3600, MINUTE_MS = 60000 };

/* How often a signature was checked. */
static unsigned verified;

int __real_gnutls_x509_trust_list_verify_crt2(gnutls_x509_trust_list_t list,
	gnutls_x509_crt_t *chain, unsigned n, gnutls_typed_vdata_st *data, unsigned ndata,
	unsigned flags, unsigned *status, gnutls_verify_output_function fn);
int __wrap_gnutls_x509_trust_list_verify_crt2(gnutls_x509_trust_list_t list,
	gnutls_x509_crt_t *chain, unsigned n, gnutls_typed_vdata_st *data, unsigned ndata,
	unsigned flags, unsigned *status, gnutls_verify_output_function fn);
int __wrap_gnutls_x509_trust_list_verify_crt2(gnutls_x509_trust_list_t list,
	gnutls_x509_crt_t *chain, unsigned n, gnutls_typed_vdata_st *data, unsigned ndata,
	unsigned flags, unsigned *status, gnutls_verify_output_function fn)
{
	verified++;
	return __real_gnutls_x509_trust_list_verify_crt2(
		list, chain, n, data, ndata, flags, status, fn);
}

/* ---- authorities ------------------------------------------------------------------------------ */

static struct identity authority, impostor, other, between;

static int make_authorities(void **state)
{
	const struct wish ca = {"front-proxy-ca", true, NULL, -HOUR, HOUR};
	const struct wish foreign = {"kubernetes-ca", true, NULL, -HOUR, HOUR};
	const struct wish middle = {"front-proxy-middle", true, NULL, -HOUR, HOUR};
	(void)state;
	authority = identity_make(&ca, NULL);
	impostor = identity_make(&ca, NULL); /* by the name it is the same */
	other = identity_make(&foreign, NULL);
	between = identity_make(&middle, &authority);
	return 0;
}

static int forget_authorities(void **state)
{
	(void)state;
	identity_done(&authority);
	identity_done(&impostor);
	identity_done(&other);
	identity_done(&between);
	return 0;
}

/* ---- the ConfigMap --------------------------------------------------------------------------- */

/* names NULL: without that key. pem NULL: without that one. */
static int take(
	struct front_proxy *p, const char *pem, const char *names, bool *changed, struct err *e)
{
	cJSON *configmap = cJSON_CreateObject();
	cJSON *data = cJSON_AddObjectToObject(configmap, "data");
	if (pem)
		cJSON_AddStringToObject(data, "requestheader-client-ca-file", pem);
	if (names)
		cJSON_AddStringToObject(data, "requestheader-allowed-names", names);
	int rc = front_proxy_take(p, configmap, changed, e);
	cJSON_Delete(configmap);
	return rc;
}

static struct front_proxy *told(const struct identity *ca, const char *names)
{
	bool changed = false;
	struct err e = {""};
	struct front_proxy *p = front_proxy_new();
	char *pem = pem_of(ca);
	assert_int_equal(take(p, pem, names, &changed, &e), 0);
	assert_true(changed);
	free(pem);
	return p;
}

/* ---- the port -------------------------------------------------------------------------------- */

struct port {
	struct ev_loop *loop;
	struct http *http;
	struct front_proxy *proxy;
};

static int64_t later_ms; /* the clock of ports goes before by so much */

const char *__real_front_proxy_refuses(struct front_proxy *p, void *session, int64_t now_ms);
const char *__wrap_front_proxy_refuses(struct front_proxy *p, void *session, int64_t now_ms);

const char *__wrap_front_proxy_refuses(struct front_proxy *p, void *session, int64_t now_ms)
{
	return __real_front_proxy_refuses(p, session, now_ms + later_ms);
}

static bool let_in(struct http_question *q, const char *path, void *ctx)
{
	struct buf body;
	(void)path;
	(void)ctx;
	const char *user = http_header(q, "X-Remote-User");
	buf_init(&body, 1000);
	buf_printf(&body, "let in, user %s\n", user ? user : "(none)");
	http_answer(q, (struct http_reply){200, "text/plain"}, &body);
	buf_done(&body);
	return true;
}

static void port_open(struct port *p, struct front_proxy *proxy, bool with_tls)
{
	struct tls *tls = NULL;
	struct err e = {""};
	if (with_tls)
		assert_int_equal(tls_make(NULL, 0, &tls, &e), 0);
	*p = (struct port){.loop = ev_loop_new(EVFLAG_AUTO), .proxy = proxy};
	struct http_options o = {.host = "127.0.0.1",
		.limits = HTTP_LIMITS,
		.tls = tls,
		.front_proxy = proxy,
		.defer = let_in};
	if (http_new(p->loop, &o, &p->http, &e) != 0)
		fail_msg("%s", e.text);
	tls_free(tls);
	later_ms = 0;
	verified = 0;
}

static void port_close(struct port *p)
{
	http_free(p->http);
	ev_loop_destroy(p->loop);
	front_proxy_free(p->proxy);
}

/* ---- who is let in --------------------------------------------------------------------------- */

#define PROXY "front-proxy-client"
#define ONLY_PROXY "[\"aggregator\",\"" PROXY "\"]"

static const struct {
	const char *name;
	const struct identity *by; /* who signed it */
	struct wish wish;
	const char *allowed; /* names */
	const char *says;
} cases[] = {
	{"the front proxy", &authority, {PROXY, false, CLIENT, -HOUR, HOUR}, ONLY_PROXY, "let in"},
	{"... whose certificate names no purpose", &authority, {PROXY, false, NULL, -HOUR, HOUR},
		ONLY_PROXY, "let in"},
	{"... with an authority between", &between, {PROXY, false, CLIENT, -HOUR, HOUR}, ONLY_PROXY,
		"let in"},
	{"another name", &authority, {"mallory", false, CLIENT, -HOUR, HOUR}, ONLY_PROXY,
		"for another name"},
	{"a name that begins so", &authority, {PROXY "2", false, CLIENT, -HOUR, HOUR}, ONLY_PROXY,
		"for another name"},
	{"any name, where all may", &authority, {"mallory", false, CLIENT, -HOUR, HOUR}, "[]",
		"let in"},
	{"... as well without the key", &authority, {"mallory", false, CLIENT, -HOUR, HOUR}, NULL,
		"let in"},
	{"... or with an empty one", &authority, {"mallory", false, CLIENT, -HOUR, HOUR}, "",
		"let in"},
	{"a certificate of users", &other, {PROXY, false, CLIENT, -HOUR, HOUR}, "[]",
		"not signed by the front-proxy authority"},
	{"an authority that calls itself so", &impostor, {PROXY, false, CLIENT, -HOUR, HOUR}, "[]",
		"not signed by the front-proxy authority"},
	{"one signed by itself", NULL, {PROXY, false, CLIENT, -HOUR, HOUR}, "[]",
		"not signed by the front-proxy authority"},
	{"one that has expired", &authority, {PROXY, false, CLIENT, -2 * HOUR, -HOUR}, ONLY_PROXY,
		"has expired"},
	{"one to come", &authority, {PROXY, false, CLIENT, HOUR, 2 * HOUR}, ONLY_PROXY,
		"not valid yet"},
	{"a server's", &authority, {PROXY, false, SERVER, -HOUR, HOUR}, ONLY_PROXY,
		"not for clients"},
};

static void only_the_front_proxy_is_let_in(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct port p;
		struct client c;
		char text[4096];
		struct identity who = identity_make(&cases[i].wish, cases[i].by);
		bool is_let_in = strcmp(cases[i].says, "let in") == 0;
		port_open(&p, told(&authority, cases[i].allowed), true);
		client_open(&c, p.loop, http_port(p.http), &who,
			cases[i].by == &between ? &between : NULL);
		int status = client_ask(&c, text, sizeof(text));
		print_message("  %s: %d\n", cases[i].name, status);
		assert_int_equal(status, is_let_in ? 200 : 401);
		assert_non_null(strstr(text, cases[i].says));
		client_close(&c);
		port_close(&p);
		identity_done(&who);
	}
}

static void without_a_certificate_nobody_is(void **state)
{
	struct port p;
	struct client c;
	char text[4096];
	(void)state;
	port_open(&p, told(&authority, "[]"), true);
	client_open(&c, p.loop, http_port(p.http), NULL, NULL);
	assert_int_equal(client_ask(&c, text, sizeof(text)), 401);
	assert_non_null(strstr(text, "shows no certificate"));
	client_close(&c);
	port_close(&p);
}

/* Clients are not asked at all then. */
static void nor_while_no_authority_is_known(void **state)
{
	const struct wish wish = {PROXY, false, CLIENT, -HOUR, HOUR};
	struct identity who = identity_make(&wish, &authority);
	struct port p;
	struct client c;
	char text[4096];
	(void)state;
	port_open(&p, front_proxy_new(), true);
	assert_null(front_proxy_authorities(p.proxy));
	client_open(&c, p.loop, http_port(p.http), &who, NULL);
	assert_int_equal(client_ask(&c, text, sizeof(text)), 401);
	assert_non_null(strstr(text, "not known yet"));
	client_close(&c);
	port_close(&p);
	identity_done(&who);
}

static void plain_http_has_no_session(void **state)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: x\r\nX-Remote-User: mia\r\n\r\n";
	struct port p;
	char text[4096] = "";
	(void)state;
	port_open(&p, told(&authority, "[]"), false);
	int fd = client_connect(http_port(p.http));
	assert_int_equal(send(fd, request, sizeof(request) - 1, 0), sizeof(request) - 1);
	for (int i = 0; i < 60000 && !strstr(text, "shows no"); i++) {
		ev_run(p.loop, EVRUN_NOWAIT);
		usleep(1000);
		(void)!recv(fd, text, sizeof(text) - 1, 0);
	}
	assert_non_null(strstr(text, "shows no certificate"));
	close(fd);
	port_close(&p);
}

/* ---- who passed is remembered ---------------------------------------------------------------- */

static void a_signature_is_checked_once_a_minute(void **state)
{
	const struct wish wish = {PROXY, false, CLIENT, -HOUR, HOUR};
	struct identity who = identity_make(&wish, &authority);
	struct port p;
	struct client c, again;
	char text[4096];
	(void)state;
	port_open(&p, told(&authority, ONLY_PROXY), true);
	client_open(&c, p.loop, http_port(p.http), &who, NULL);
	for (int i = 0; i < 3; i++)
		assert_int_equal(client_ask(&c, text, sizeof(text)), 200);
	client_open(&again, p.loop, http_port(p.http), &who,
		NULL); /* another connection of the same client */
	assert_int_equal(client_ask(&again, text, sizeof(text)), 200);
	assert_int_equal(verified, 1);
	later_ms = MINUTE_MS + 1000;
	assert_int_equal(client_ask(&c, text, sizeof(text)), 200);
	assert_int_equal(verified, 2);
	later_ms = -MINUTE_MS; /* the clock was set back */
	assert_int_equal(client_ask(&c, text, sizeof(text)), 200);
	assert_int_equal(verified, 3);
	client_close(&again);
	client_close(&c);
	port_close(&p);
	identity_done(&who);
}

static void and_not_longer_than_the_certificate_lives(void **state)
{
	const struct wish wish = {PROXY, false, CLIENT, -HOUR, 20};
	struct identity who = identity_make(&wish, &authority);
	struct port p;
	struct client c;
	char text[4096];
	(void)state;
	port_open(&p, told(&authority, ONLY_PROXY), true);
	client_open(&c, p.loop, http_port(p.http), &who, NULL);
	assert_int_equal(client_ask(&c, text, sizeof(text)), 200);
	later_ms = 30000;
	client_ask(&c, text, sizeof(text));
	assert_int_equal(verified, 2);
	client_close(&c);
	port_close(&p);
	identity_done(&who);
}

static void who_was_refused_is_judged_anew(void **state)
{
	const struct wish wish = {PROXY, false, CLIENT, -HOUR, HOUR};
	struct identity who = identity_make(&wish, &between);
	struct port p;
	struct client c;
	char text[4096];
	(void)state;
	port_open(&p, told(&authority, "[]"), true);
	client_open(&c, p.loop, http_port(p.http), &who, NULL); /* without the authority between */
	assert_int_equal(client_ask(&c, text, sizeof(text)), 401);
	client_close(&c);
	client_open(&c, p.loop, http_port(p.http), &who, &between);
	assert_int_equal(client_ask(&c, text, sizeof(text)), 200);
	client_close(&c);
	port_close(&p);
	identity_done(&who);
}

/* Of a connection that stays open. */
static void what_the_configmap_says_now_counts(void **state)
{
	const struct wish wish = {PROXY, false, CLIENT, -HOUR, HOUR};
	struct identity who = identity_make(&wish, &authority);
	char *pem = pem_of(&authority), *others = pem_of(&other);
	struct port p;
	struct client c;
	struct err e = {""};
	char text[4096];
	bool changed = true;
	(void)state;
	port_open(&p, told(&authority, ONLY_PROXY), true);
	client_open(&c, p.loop, http_port(p.http), &who, NULL);
	assert_int_equal(client_ask(&c, text, sizeof(text)), 200);
	assert_int_equal(take(p.proxy, pem, ONLY_PROXY, &changed, &e), 0);
	assert_false(changed);
	assert_int_equal(client_ask(&c, text, sizeof(text)), 200);
	assert_int_equal(verified, 1);
	assert_int_equal(take(p.proxy, pem, "[\"aggregator\"]", &changed, &e), 0);
	assert_false(changed);
	assert_int_equal(client_ask(&c, text, sizeof(text)), 401);
	assert_non_null(strstr(text, "for another name"));
	assert_int_equal(take(p.proxy, others, "[]", &changed, &e), 0);
	assert_true(changed);
	assert_string_equal(front_proxy_authorities(p.proxy), others);
	assert_int_equal(client_ask(&c, text, sizeof(text)), 401);
	assert_non_null(strstr(text, "not signed by the front-proxy authority"));
	client_close(&c);
	port_close(&p);
	identity_done(&who);
	free(pem);
	free(others);
}

/* ---- what the ConfigMap may say -------------------------------------------------------------- */

static void several_authorities_count(void **state)
{
	const struct wish wish = {PROXY, false, CLIENT, -HOUR, HOUR};
	const struct identity *signers[] = {&authority, &other};
	char *first = pem_of(&authority), *second = pem_of(&other), both[8192];
	struct port p;
	struct err e = {""};
	bool changed = false;
	(void)state;
	snprintf(both, sizeof(both), "# old\n%s\n# new\n%s", first, second);
	struct front_proxy *proxy = front_proxy_new();
	assert_int_equal(take(proxy, both, "[]", &changed, &e), 0);
	port_open(&p, proxy, true);
	for (size_t i = 0; i < COUNT(signers); i++) {
		struct client c;
		char text[4096];
		struct identity who = identity_make(&wish, signers[i]);
		client_open(&c, p.loop, http_port(p.http), &who, NULL);
		assert_int_equal(client_ask(&c, text, sizeof(text)), 200);
		client_close(&c);
		identity_done(&who);
	}
	port_close(&p);
	free(first);
	free(second);
}

static void what_cannot_be_read_changes_nothing(void **state)
{
	char *pem = pem_of(&authority);
	static const struct {
		const char *pem, *names, *says;
	} bad[] = {
		{NULL, "[]", "requestheader-client-ca-file is missing"},
		{"", "[]", "requestheader-client-ca-file is missing"},
		{"nothing", "[]", "requestheader-client-ca-file holds no certificate"},
		{"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "[]",
			"requestheader-client-ca-file holds no certificate"},
		{"good", "front-proxy-client", "requestheader-allowed-names is no JSON array"},
		{"good", "{\"a\":\"b\"}", "requestheader-allowed-names is no JSON array"},
		{"good", "[\"a\",1]", "requestheader-allowed-names is no JSON array"},
		{"good", "[null]", "requestheader-allowed-names is no JSON array"},
		{"good", "[\"a\"", "requestheader-allowed-names is no JSON array"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		bool changed = false;
		struct err e = {""};
		struct front_proxy *p = told(&authority, ONLY_PROXY);
		const char *text = bad[i].pem && strcmp(bad[i].pem, "good") == 0 ? pem : bad[i].pem;
		assert_int_equal(take(p, text, bad[i].names, &changed, &e), ERR_INVALID);
		print_message("  %s\n", e.text);
		assert_non_null(strstr(e.text, bad[i].says));
		assert_false(changed);
		assert_string_equal(front_proxy_authorities(p), pem);
		front_proxy_free(p);
	}
	free(pem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_front_proxy_is_let_in),
		cmocka_unit_test(without_a_certificate_nobody_is),
		cmocka_unit_test(nor_while_no_authority_is_known),
		cmocka_unit_test(plain_http_has_no_session),
		cmocka_unit_test(a_signature_is_checked_once_a_minute),
		cmocka_unit_test(and_not_longer_than_the_certificate_lives),
		cmocka_unit_test(who_was_refused_is_judged_anew),
		cmocka_unit_test(what_the_configmap_says_now_counts),
		cmocka_unit_test(several_authorities_count),
		cmocka_unit_test(what_cannot_be_read_changes_nothing),
	};
	return cmocka_run_group_tests(tests, make_authorities, forget_authorities);
}
