#include "cli/server.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/local_times.h"
#include "controller/kube/config.h"
#include "controller/kube/json.h"

enum { CONNECT_MS = 5000, TIMEOUT_MS = 30000, TOKEN_MAX = 16 * 1024 };

static size_t on_bytes(char *ptr, size_t size, size_t n, void *ctx)
{
	struct buf *b = ctx;
	buf_add(b, ptr, size * n);
	return b->failed ? 0 : size * n; /* 0 ends the transfer */
}

/* ---- the token ------------------------------------------------------------------------------- */

static void trim(char *text)
{
	text[strcspn(text, "\r\n")] = '\0';
}

/* 0 with *ret NULL: none was given. */
static int read_token(const struct arguments *a, char **ret, struct err *e)
{
	const char *env = getenv("SLUICE_TOKEN");
	if (!a->token_file) {
		*ret = env && env[0] ? mem_strdup(env) : NULL;
		return 0;
	}
	FILE *f = fopen(a->token_file, "re");
	if (!f)
		return err_set(
			e, ERR_INVALID, "--token-file %.200s: %s", a->token_file, strerror(errno));
	char *text = mem_alloc(TOKEN_MAX + 1);
	size_t n = fread(text, 1, TOKEN_MAX, f);
	fclose(f);
	text[n] = '\0';
	trim(text);
	if (text[0] == '\0') {
		free(text);
		return err_set(e, ERR_INVALID, "--token-file %.200s is empty", a->token_file);
	}
	*ret = text;
	return 0;
}

/* ---- sentences ------------------------------------------------------------------------------- */

static int unreachable(const struct arguments *a, const char *why, struct err *e)
{
	return err_set(e, ERR_BUSY,
		"no controller answers at %.150s (%s).\n"
		"If it runs in the cluster: kubectl -n sluice-system port-forward deploy/sluice-controller 8080\n"
		"%s",
		a->server, why,
		a->server_given
			? "and then --server " DEFAULT_SERVER
			  ". Without --server and SLUICE_SERVER queue, explain and cost ask the API server instead."
			: "If it listens elsewhere: --server URL, or the variable SLUICE_SERVER.");
}

/* A file that --ca-file names is looked at first: curl does not say which part of it is wrong. */
static int check_ca_file(const struct arguments *a, struct err *e)
{
	if (!a->ca_file || access(a->ca_file, R_OK) == 0)
		return 0;
	return err_set(e, ERR_INVALID,
		"--ca-file (or SLUICE_CA_FILE) %.200s: %s; name a PEM file with the certificate of the CA that signed the controller's",
		a->ca_file, strerror(errno));
}

static int no_tls(const struct arguments *a, CURLcode code, struct err *e)
{
	const char *why = curl_easy_strerror(code);
	if (code == CURLE_SSL_CACERT_BADFILE)
		return err_set(e, ERR_INVALID,
			"--ca-file (or SLUICE_CA_FILE) %.200s holds no certificate in PEM (%s)",
			a->ca_file ? a->ca_file : "(the system's)", why);
	if (code == CURLE_PEER_FAILED_VERIFICATION)
		return err_set(e, ERR_BUSY,
			"the certificate of %.150s is not accepted (%s).\n"
			"Give the CA that signed it with --ca-file FILE (or SLUICE_CA_FILE), and a name in --server that the certificate has.",
			a->server, why);
	return err_set(e, ERR_BUSY,
		"%.150s does not speak TLS as it should (%s).\n"
		"A controller without --tls-cert-file and --tls-self-signed speaks plain HTTP: --server http://...",
		a->server, why);
}

/* What plain HTTP gets of a port that speaks TLS: nothing, or bytes that are no HTTP. */
static int no_http(const struct arguments *a, CURLcode code, struct err *e)
{
	return err_set(e, ERR_BUSY,
		"%.150s ends the connection without an answer (%s).\n"
		"A controller with --tls-cert-file or --tls-self-signed speaks HTTPS only: --server https://... and --ca-file FILE",
		a->server, curl_easy_strerror(code));
}

static bool is_no_http(const struct arguments *a, CURLcode code)
{
	return strncmp(a->server, "http:", 5) == 0 &&
	       (code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR ||
		       code == CURLE_UNSUPPORTED_PROTOCOL);
}

static bool is_tls(CURLcode code)
{
	return code == CURLE_SSL_CACERT_BADFILE || code == CURLE_PEER_FAILED_VERIFICATION ||
	       code == CURLE_SSL_CONNECT_ERROR;
}

/* {"error":"..."} is how the controller says no. */
static void said(const struct buf *body, const char *otherwise, char *ret, size_t size)
{
	struct json *j = json_new(1024 * 1024);
	const cJSON *root;
	const char *text = NULL;
	struct local_times times = {""};
	struct buf local;
	buf_init(&local, 1024 * 1024);
	if (json_parse(j, buf_slice(body), &root, NULL) == 0)
		text = json_text(root, "error");
	local_times_add(&times, text ? text : otherwise, &local);
	snprintf(ret, size, "%s", buf_text(&local));
	buf_done(&local);
	json_free(j);
}

static int judge(const struct arguments *a, long status, const struct buf *body, struct err *e)
{
	char text[400];
	if (status == 200)
		return 0;
	said(body, "no further words", text, sizeof(text));
	switch (status) {
	case 404:
		return err_set(e, ERR_GONE, "%s", text);
	case 401:
	case 403:
	case 421:
		return err_set(e, ERR_DENIED, "the controller at %.80s does not let us in: %s",
			a->server, text);
	case 503:
		return err_set(e, ERR_BUSY, "the controller at %.80s cannot answer now: %s",
			a->server, text);
	default:
		return err_set(e, ERR_INVALID,
			"%.80s answers %ld, as no controller would: %s. Is it one?", a->server,
			status, text);
	}
}

/* ---- the question ---------------------------------------------------------------------------- */

static bool is_loopback(const char *server)
{
	CURLU *u = curl_url();
	char *host = NULL;
	bool yes = u && curl_url_set(u, CURLUPART_URL, server, 0) == CURLUE_OK &&
		   curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
		   (strncmp(host, "127.", 4) == 0 || strcmp(host, "localhost") == 0 ||
			   strcmp(host, "[::1]") == 0);
	curl_free(host);
	curl_url_cleanup(u);
	return yes;
}

static void set_up(CURL *curl, const struct arguments *a, const struct buf *url,
	struct curl_slist *headers, struct buf *body)
{
	curl_easy_setopt(curl, CURLOPT_URL, buf_text(url));
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)TIMEOUT_MS);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "sluice/" SLUICE_VERSION);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	if (a->ca_file) {
		curl_easy_setopt(curl, CURLOPT_CAINFO, a->ca_file);
		curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
	}
	if (a->insecure) {
		curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
	}
	if (is_loopback(a->server)) /* a proxy has another loopback than we */
		curl_easy_setopt(curl, CURLOPT_PROXY, "");
}

static struct curl_slist *make_headers(const char *token)
{
	struct curl_slist *headers = curl_slist_append(NULL, "Accept: application/json");
	if (token) {
		struct buf line;
		buf_init(&line, 2 * TOKEN_MAX);
		buf_printf(&line, "Authorization: Bearer %s", token);
		headers = curl_slist_append(headers, buf_text(&line));
		buf_done(&line);
	}
	return headers;
}

int server_get(const struct arguments *a, const char *path, struct buf *ret_body, struct err *e)
{
	char *token = NULL;
	int rc = check_ca_file(a, e);
	if (rc == 0)
		rc = read_token(a, &token, e);
	if (rc)
		return rc;
	struct buf url;
	buf_init(&url, 8192);
	size_t len = strlen(a->server);
	while (len > 0 && a->server[len - 1] == '/')
		len--;
	buf_add(&url, a->server, len);
	buf_puts(&url, path);
	struct curl_slist *headers = make_headers(token);
	CURL *curl = curl_easy_init();
	set_up(curl, a, &url, headers, ret_body);
	CURLcode code = curl_easy_perform(curl);
	long status = 0;
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (code == CURLE_WRITE_ERROR)
		rc = err_set(e, ERR_INVALID, "the answer of %.150s is too large", a->server);
	else if (is_tls(code))
		rc = no_tls(a, code, e);
	else if (is_no_http(a, code))
		rc = no_http(a, code, e);
	else if (code != CURLE_OK)
		rc = unreachable(a, curl_easy_strerror(code), e);
	else
		rc = judge(a, status, ret_body, e);
	curl_easy_cleanup(curl);
	curl_slist_free_all(headers);
	buf_done(&url);
	free(token);
	return rc;
}

char *server_namespace(const struct arguments *a)
{
	if (a->namespace_name)
		return mem_strdup(a->namespace_name);
	struct kube_config *config = NULL;
	struct err e;
	if (kube_config_load(&a->kube, &config, &e) != 0)
		return mem_strdup("default");
	char *name = mem_strdup(config->namespace_name);
	kube_config_free(config);
	return name;
}
