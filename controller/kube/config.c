#include "controller/kube/config.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"
#include "controller/kube/kubeconfig.h"
#include "controller/kube/source.h"

static const char service_account_dir[] = "/var/run/secrets/kubernetes.io/serviceaccount";

static void free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		source_forget(list[i]);
	free(list);
}

static void free_source(struct kube_source *s)
{
	source_forget(s->data);
	free(s->path);
}

static void free_plugin(struct kube_plugin *p)
{
	if (!p)
		return;
	free(p->api_version);
	free(p->command);
	free(p->install_hint);
	free_list(p->args); /* a secret may stand in either */
	free_list(p->env);
	free(p);
}

void kube_config_free(struct kube_config *c)
{
	if (!c)
		return;
	free(c->origin);
	free(c->server);
	free(c->namespace_name);
	free(c->tls_server_name);
	source_forget(c->proxy_url); /* may hold a password */
	free_source(&c->ca);
	free_source(&c->cert);
	free_source(&c->key);
	free_source(&c->token);
	free_plugin(c->plugin);
	free(c);
}

static char *join(const char *a, const char *between, const char *b)
{
	struct buf out;
	buf_init(&out, SIZE_MAX / 2);
	buf_puts(&out, a);
	buf_puts(&out, between);
	buf_puts(&out, b);
	return buf_take(&out);
}

static bool url_has(CURLU *url, CURLUPart part)
{
	char *text = NULL;
	bool has = curl_url_get(url, part, &text, 0) == CURLUE_OK && *text;
	curl_free(text);
	return has;
}

/* Whether the address has an allowed scheme, and no user, password, query or fragment. The scheme
 * is compared as it stands: what libcurl would guess or mend is not for us. */
static bool server_ok(CURLU *url, const char *server, bool allow_http)
{
	bool scheme = strncmp(server, "https://", 8) == 0 ||
		      (allow_http && strncmp(server, "http://", 7) == 0);
	return scheme && curl_url_set(url, CURLUPART_URL, server, 0) == CURLUE_OK &&
	       !url_has(url, CURLUPART_USER) && !url_has(url, CURLUPART_PASSWORD) &&
	       !url_has(url, CURLUPART_QUERY) && !url_has(url, CURLUPART_FRAGMENT);
}

/* Takes the slashes off the end, and sees that the address is one we can use. The address itself is
 * not repeated: there may be a password in it. */
static int check_server(struct kube_config *c, bool allow_http, struct err *err)
{
	CURLU *url = curl_url();
	bool ok = url && server_ok(url, c->server, allow_http);
	curl_url_cleanup(url);
	if (!ok)
		return err_set(err, ERR_INVALID,
			"%s: server is not a https://HOST:PORT address (without user, query or fragment)",
			c->origin);
	for (size_t n = strlen(c->server); n > 0 && c->server[n - 1] == '/'; n--)
		c->server[n - 1] = '\0';
	return 0;
}

static int check_proxy(const struct kube_config *c, struct err *err)
{
	static const char *const schemes[] = {"http://", "https://", "socks5://"};
	for (size_t i = 0; c->proxy_url && i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (strncmp(c->proxy_url, schemes[i], strlen(schemes[i])) == 0)
			return 0;
	if (!c->proxy_url)
		return 0;
	return err_set(err, ERR_INVALID,
		"%s: proxy-url must begin with http://, https:// or socks5://", c->origin);
}

static int check(struct kube_config *c, const struct kube_config_options *o, struct err *err)
{
	if (!c->namespace_name || !*c->namespace_name) {
		free(c->namespace_name);
		c->namespace_name = mem_strdup("default");
	}
	int rc = check_server(c, o->allow_http, err);
	return rc < 0 ? rc : check_proxy(c, err);
}

static int check_source(
	const struct kube_source *s, const char *field, const char *holds, struct err *err)
{
	char *text = NULL;
	int rc = source_read(s, &text, err);
	if (rc == 0 && text && !strstr(text, holds))
		rc = err_set(err, ERR_INVALID, "%s holds no %s (PEM is wanted)",
			s->path ? s->path : "the data", holds);
	source_forget(text);
	if (rc < 0)
		err_wrap(err, "%s", field);
	return rc;
}

/* Says at the start what else the first request would say. */
static int check_files(const struct kube_config *c, struct err *err)
{
	int rc = check_source(&c->ca, "certificate-authority", "-----BEGIN CERTIFICATE", err);
	if (rc == 0)
		rc = check_source(&c->cert, "client-certificate", "-----BEGIN CERTIFICATE", err);
	if (rc == 0)
		rc = check_source(&c->key, "client-key", "-----BEGIN ", err);
	if (rc == 0 && c->token.path)
		rc = check_source(&c->token, "tokenFile", "", err);
	if (rc < 0)
		err_wrap(err, "%s", c->origin);
	return rc < 0 ? ERR_INVALID : 0;
}

int kube_config_parse(struct slice text, const char *path,
	const struct kube_config_options *options, struct kube_config **ret_config, struct err *err)
{
	struct kube_config *c = NULL;
	struct kubeconfig *k = kubeconfig_new();
	int rc = kubeconfig_add(k, path, text, err);
	if (rc == 0)
		rc = kubeconfig_resolve(k, options, &c, err);
	if (rc == 0)
		rc = check(c, options, err);
	if (rc == 0)
		*ret_config = c;
	else
		kube_config_free(c);
	kubeconfig_free(k);
	return rc;
}

static int add_file(struct kubeconfig *k, const char *path, struct err *err)
{
	char *text;
	size_t len;
	int rc = source_read_file(path, &text, &len, err);
	if (rc < 0) {
		err_wrap(err, "kubeconfig");
		return rc;
	}
	rc = kubeconfig_add(k, path, (struct slice){text, len}, err);
	explicit_bzero(text, len);
	free(text);
	return rc;
}

/* Adds the files of a list such as $KUBECONFIG; those that do not exist are passed over. */
static int add_list(struct kubeconfig *k, const char *list, size_t *ret_count, struct err *err)
{
	char *copy = mem_strdup(list), *rest = copy, *path;
	int rc = 0;
	*ret_count = 0;
	while (rc == 0 && (path = strsep(&rest, ":"))) {
		if (!*path || access(path, F_OK) < 0)
			continue;
		rc = add_file(k, path, err);
		++*ret_count;
	}
	free(copy);
	return rc;
}

/* Loads the files of list, or the one at path. */
static int load(const char *list, const char *path, const struct kube_config_options *options,
	struct kube_config **ret_config, struct err *err)
{
	struct kubeconfig *k = kubeconfig_new();
	size_t count = 1;
	int rc = list ? add_list(k, list, &count, err) : add_file(k, path, err);
	if (rc == 0 && count == 0)
		rc = err_set(err, ERR_GONE, "none of the files in KUBECONFIG=%s exists", list);
	if (rc == 0)
		rc = kubeconfig_resolve(k, options, ret_config, err);
	kubeconfig_free(k);
	return rc;
}

/* Loads the pod's own account: host and port from the environment, the rest from the mounted
 * files. */
static int load_in_cluster(const char *host, const struct kube_config_options *options,
	struct kube_config **ret_config, struct err *err)
{
	const char *port = getenv("KUBERNETES_SERVICE_PORT");
	const char *dir = options->service_account_dir;
	if (!dir)
		dir = service_account_dir;
	if (!port || !*port)
		return err_set(err, ERR_INVALID,
			"in-cluster: KUBERNETES_SERVICE_HOST is set, KUBERNETES_SERVICE_PORT is not");
	struct kube_config *c = mem_alloc(sizeof(*c));
	struct buf server;
	buf_init(&server, SIZE_MAX / 2);
	buf_printf(&server, strchr(host, ':') ? "https://[%s]:%s" : "https://%s:%s", host, port);
	c->server = buf_take(&server);
	c->origin = mem_strdup("in-cluster");
	c->ca.path = join(dir, "/", "ca.crt");
	c->token.path = join(dir, "/", "token");
	struct kube_source name = {.path = join(dir, "/", "namespace")};
	if (source_read(&name, &c->namespace_name, NULL) == 0)
		source_trim(c->namespace_name);
	free(name.path);
	*ret_config = c;
	return 0;
}

static int find(
	const struct kube_config_options *options, struct kube_config **ret_config, struct err *err)
{
	const char *list = getenv("KUBECONFIG"), *host = getenv("KUBERNETES_SERVICE_HOST");
	const char *home = getenv("HOME");
	if (options->kubeconfig)
		return load(NULL, options->kubeconfig, options, ret_config, err);
	if (list && *list)
		return load(list, NULL, options, ret_config, err);
	if (host && *host && !options->context)
		return load_in_cluster(host, options, ret_config, err);
	char *path = join(home ? home : "", "/", ".kube/config");
	int rc = ERR_GONE;
	if (access(path, F_OK) == 0)
		rc = load(NULL, path, options, ret_config, err);
	else
		err_set(err, ERR_GONE,
			"nothing says where the API server is: no --kubeconfig, no KUBECONFIG, no %s, and this is not a pod; give one of them",
			path);
	free(path);
	return rc;
}

int kube_config_load(
	const struct kube_config_options *options, struct kube_config **ret_config, struct err *err)
{
	struct kube_config *c = NULL;
	int rc = find(options, &c, err);
	must((rc == 0) == (c != NULL));
	if (rc == 0)
		rc = check(c, options, err);
	if (rc == 0)
		rc = check_files(c, err);
	if (rc == 0)
		*ret_config = c;
	else
		kube_config_free(c);
	return rc;
}
