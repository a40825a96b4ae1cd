#include "test.h"

#include "controller/kube/source.h"

/* A kubeconfig made of the pieces that differ. */
#define CONTEXT "current-context: k\ncontexts: [{name: k, context: {cluster: c, user: u}}]\n"
#define CLUSTER(body) "clusters: [{name: c, cluster: {" body "}}]\n"
#define USER(body) "users: [{name: u, user: {" body "}}]\n"
#define SERVER "server: 'https://h:6443'"
#define EXEC(body)                                                                                 \
	CONTEXT CLUSTER(SERVER)                                                                    \
		USER("exec: {apiVersion: client.authentication.k8s.io/v1, " body "}")

static const struct good {
	const char *name, *text;
	const char *server, *namespace_name, *token;
} goods[] = {
	{"the least", CONTEXT CLUSTER(SERVER) USER(""), "https://h:6443", "default", NULL},
	{"a path, and slashes at its end", CONTEXT CLUSTER("server: 'https://h/a/b//'") USER(""),
		"https://h/a/b", "default", NULL},
	{"IPv6", CONTEXT CLUSTER("server: 'https://[::1]:6443'") USER(""), "https://[::1]:6443",
		"default", NULL},
	{"a namespace",
		"current-context: k\ncontexts: [{name: k, context: {cluster: c, namespace: "
		"team}}]\n" CLUSTER(SERVER),
		"https://h:6443", "team", NULL},
	{"a token", CONTEXT CLUSTER(SERVER) USER("token: abc.def"), "https://h:6443", "default",
		"abc.def"},
	{"JSON is YAML",
		"{\"current-context\":\"k\",\"contexts\":[{\"name\":\"k\",\"context\":{\"cluster\":"
		"\"c\"}}],\"clusters\":[{\"name\":\"c\",\"cluster\":{\"server\":\"https://j\"}}]}",
		"https://j", "default", NULL},
	{"the first of two by one name counts",
		CONTEXT
		"clusters: [{name: c, cluster: {server: 'https://one'}}, {name: c, cluster: "
		"{server: 'https://two'}}]\n" USER(""),
		"https://one", "default", NULL},
	{"insecure-skip-tls-verify: false",
		CONTEXT CLUSTER(SERVER ", insecure-skip-tls-verify: false") USER(""),
		"https://h:6443", "default", NULL},
	{"empty fields are not given", CONTEXT CLUSTER(SERVER) USER("token: '', username: ''"),
		"https://h:6443", "default", NULL},
	{"a plugin", EXEC("command: p, interactiveMode: Never"), "https://h:6443", "default", NULL},
};

static void test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(goods); i++) {
		const struct good *g = &goods[i];
		struct kube_config_options options = {0};
		struct kube_config *c = NULL;
		struct err err = {""};
		if (kube_config_parse(slice_of(g->text), "/d/config", &options, &c, &err) < 0)
			fail_msg("%s: %s", g->name, err.text);
		assert_string_equal(c->server, g->server);
		assert_string_equal(c->namespace_name, g->namespace_name);
		assert_string_equal(c->origin, "context k of /d/config");
		assert_int_equal(!c->token.data, !g->token);
		if (g->token)
			assert_string_equal(c->token.data, g->token);
		kube_config_free(c);
	}
}

/* Every sentence names the file, the entry and the field; none repeats what may be a secret. */
static const struct bad {
	const char *name, *text, *says;
} bads[] = {
	{"no YAML", "a: [", "/d/config: not YAML"},
	{"a list", "[1]", "/d/config: not a kubeconfig"},
	{"nothing", "", "current-context is not set"},
	{"no such context", "current-context: x", "no context \"x\" in contexts"},
	{"no cluster", "current-context: k\ncontexts: [{name: k, context: {}}]",
		"context \"k\": cluster is missing"},
	{"no such cluster", CONTEXT, "no cluster \"c\" in clusters"},
	{"no such user", CONTEXT CLUSTER(SERVER), "no user \"u\" in users"},
	{"no server", CONTEXT CLUSTER("") USER(""), "cluster \"c\": server is missing"},
	{"http", CONTEXT CLUSTER("server: 'http://h'") USER(""), "https://HOST:PORT"},
	{"no scheme", CONTEXT CLUSTER("server: 'h:6443'") USER(""), "https://HOST:PORT"},
	{"a password in the server", CONTEXT CLUSTER("server: 'https://u:SECRET@h'") USER(""),
		"https://HOST:PORT"},
	{"a newline in the server", CONTEXT CLUSTER("server: \"https://h\\r\\nX: y\"") USER(""),
		"https://HOST:PORT"},
	{"TLS not verified", CONTEXT CLUSTER(SERVER ", insecure-skip-tls-verify: true") USER(""),
		"insecure-skip-tls-verify is not supported"},
	{"a strange proxy", CONTEXT CLUSTER(SERVER ", proxy-url: 'ftp://u:SECRET@p'") USER(""),
		"proxy-url must begin with"},
	{"CA is no base64",
		CONTEXT CLUSTER(SERVER ", certificate-authority-data: 'SECRET!'") USER(""),
		"certificate-authority-data is not base64"},
	{"server is a list", CONTEXT CLUSTER("server: [x]") USER(""), "server must be a text"},
	{"a certificate without its key", CONTEXT CLUSTER(SERVER) USER("client-certificate: /x"),
		"client-certificate and client-key are needed together"},
	{"a key without its certificate", CONTEXT CLUSTER(SERVER) USER("client-key-data: U0VDUkVU"),
		"client-certificate and client-key are needed together"},
	{"a token with a newline", CONTEXT CLUSTER(SERVER) USER("token: \"SECRET\\nX: y\""),
		"user \"u\": token holds"},
	{"basic authentication", CONTEXT CLUSTER(SERVER) USER("username: a, password: SECRET"),
		"basic authentication"},
	{"impersonation", CONTEXT CLUSTER(SERVER) USER("as: root"), "impersonation"},
	{"auth-provider", CONTEXT CLUSTER(SERVER) USER("auth-provider: {name: gcp}"),
		"auth-provider was removed"},
	{"exec is a text", CONTEXT CLUSTER(SERVER) USER("exec: x"), "exec must be a mapping"},
	{"exec without a version", CONTEXT CLUSTER(SERVER) USER("exec: {command: x}"),
		"exec.apiVersion is missing"},
	{"exec of an old version",
		CONTEXT CLUSTER(SERVER) USER(
			"exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1}"),
		"it must be client.authentication.k8s.io/v1"},
	{"exec without a command", EXEC(""), "exec.command is missing"},
	{"exec that wants a terminal", EXEC("command: x, interactiveMode: Always"), "Always"},
	{"exec with strange arguments", EXEC("command: x, args: [[a]]"), "exec.args[0]"},
	{"exec with a nameless variable", EXEC("command: x, env: [{value: SECRET}]"),
		"exec.env[0] needs a name"},
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(bads); i++) {
		const struct bad *b = &bads[i];
		struct kube_config_options options = {0};
		struct kube_config *c = NULL;
		struct err err = {""};
		int rc = kube_config_parse(slice_of(b->text), "/d/config", &options, &c, &err);
		if (rc != ERR_INVALID || c || !strstr(err.text, b->says) ||
			!strstr(err.text, "/d/config") || strstr(err.text, "SECRET"))
			fail_msg("%s: %d, %s", b->name, rc, err.text);
	}
}

static void test_fields(void **state)
{
	struct kube_config_options options = {0};
	struct kube_config *c = NULL;
	struct err err = {""};
	(void)state;
	assert_int_equal(
		kube_config_parse(slice_of(CONTEXT CLUSTER(SERVER
					  ", tls-server-name: kubernetes, proxy-url: 'http://p:1', "
					  "certificate-authority: pki/ca.crt")
						  USER("client-certificate-data: Q0VSVA==, "
						       "client-key: k.pem, tokenFile: "
						       "/abs/token, token: x, exec: "
						       "{apiVersion: "
						       "client.authentication.k8s.io/"
						       "v1beta1, command: bin/p, args: "
						       "[a, 'b c'], env: [{name: N, "
						       "value: v=1}], "
						       "provideClusterInfo: true, "
						       "installHint: get it}")),
			"/d/e/config", &options, &c, &err),
		0);
	assert_string_equal(c->tls_server_name, "kubernetes");
	assert_string_equal(c->proxy_url, "http://p:1");
	assert_string_equal(c->ca.path, "/d/e/pki/ca.crt");
	assert_string_equal(c->cert.data, "CERT");
	assert_string_equal(c->key.path, "/d/e/k.pem");
	assert_string_equal(c->token.path, "/abs/token");
	assert_null(c->token.data);
	assert_string_equal(c->plugin->command, "/d/e/bin/p");
	assert_string_equal(c->plugin->args[1], "b c");
	assert_null(c->plugin->args[2]);
	assert_string_equal(c->plugin->env[0], "N=v=1");
	assert_true(c->plugin->provide_cluster_info);
	kube_config_free(c);
}

static void test_base64(void **state)
{
	static const char *const texts[] = {"a", "ab", "abc", "abcd", "abcde", "\xff\xfe\xfd"};
	static const char *const wrong[] = {
		"", "=", "====", "YQ", "YQ=", "YQ===", "Y=Q=", "YQ==YQ==", "Y!==", "AA==", "A"};
	(void)state;
	for (size_t i = 0; i < ROWS(texts); i++) {
		char *coded = source_to_base64(texts[i]), *text = source_base64(coded);
		assert_non_null(text);
		assert_string_equal(text, texts[i]);
		free(coded);
		free(text);
	}
	for (size_t i = 0; i < ROWS(wrong); i++)
		if (source_base64(wrong[i]))
			fail_msg("%s is taken for base64", wrong[i]);
}

static void clear_env(void)
{
	unsetenv("KUBECONFIG");
	unsetenv("KUBERNETES_SERVICE_HOST");
	unsetenv("KUBERNETES_SERVICE_PORT");
	setenv("HOME", "/nonexistent", 1);
}

static void expect(const struct kube_config_options *o, int code, const char *says)
{
	struct kube_config *c = NULL;
	struct err err = {""};
	int rc = kube_config_load(o, &c, &err);
	const char *seen = rc == 0 ? c->server : err.text;
	if (rc != code || !strstr(seen, says))
		fail_msg("%d: %s", rc, seen);
	kube_config_free(c);
}

/* Where it is looked for, and how several files become one. */
static void test_sources(void **state)
{
	struct kube_config_options o = {0};
	char *dir = make_dir(), text[1024];
	(void)state;
	clear_env();
	expect(&o, ERR_GONE, "nothing says where the API server is");
	write_file(dir, "one", CONTEXT "users: [{name: u, user: {token: a}}]", 0600);
	write_file(dir, "two",
		"current-context: other\n" CLUSTER("server: 'https://two'")
			USER("as: somebody") "contexts: [{name: other, context: {cluster: d}}]",
		0600);
	snprintf(text, sizeof(text), "%s/missing:%s/one::%s/two", dir, dir, dir);
	setenv("KUBECONFIG", text, 1);
	expect(&o, 0, "https://two"); /* context and user of one, cluster of two */
	o.context = "other";
	expect(&o, ERR_INVALID, "no cluster \"d\"");
	o.context = NULL;
	snprintf(text, sizeof(text), "%s/missing", dir);
	setenv("KUBECONFIG", text, 1);
	expect(&o, ERR_GONE, "exists");
	o.kubeconfig = text;
	expect(&o, ERR_GONE, "No such file");
	o.kubeconfig = dir;
	expect(&o, ERR_INVALID, "not a file");
	remove_dir(dir);
}

static void test_in_cluster(void **state)
{
	char *dir = make_dir();
	struct kube_config_options o = {.service_account_dir = dir};
	struct kube_config *c = NULL;
	struct err err = {""};
	(void)state;
	clear_env();
	setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
	expect(&o, ERR_INVALID, "KUBERNETES_SERVICE_PORT is not");
	setenv("KUBERNETES_SERVICE_PORT", "443", 1);
	expect(&o, ERR_INVALID, "ca.crt: No such file");
	write_file(dir, "ca.crt", "no certificate", 0600);
	expect(&o, ERR_INVALID, "holds no -----BEGIN CERTIFICATE");
	write_file(dir, "ca.crt", "-----BEGIN CERTIFICATE-----\n", 0600);
	expect(&o, ERR_INVALID, "token: No such file");
	write_file(dir, "token", "abc\n", 0600);
	write_file(dir, "namespace", "sluice\n", 0600);
	assert_int_equal(kube_config_load(&o, &c, &err), 0);
	assert_string_equal(c->server, "https://[fd00::1]:443");
	assert_string_equal(c->namespace_name, "sluice");
	assert_string_equal(c->origin, "in-cluster");
	assert_null(c->token.data);
	kube_config_free(c);
	clear_env();
	remove_dir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_base64),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_in_cluster),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
