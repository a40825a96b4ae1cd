/*
 * TLS against a real server (openssl s_server) with certificates made on the spot: our CA and our
 * client certificate are needed, and anything else is refused before a byte of the request leaves.
 */
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "controller/kube/client.h"

static char *dir;
static pid_t server;
static int port;

static const char make_certificates[] =
	"set -e; cd \"$DIR\"; exec 2>openssl.log\n"
	"key() { openssl ecparam -name prime256v1 -genkey -noout -out $1.key; }\n"
	"for ca in ca other; do key $ca; openssl req -x509 -new -key $ca.key -subj /CN=$ca -days 2 "
	"-out $ca.crt; done\n"
	"for name in server client; do key $name; openssl req -new -key $name.key -subj /CN=$name "
	"-out $name.csr; echo subjectAltName=DNS:api.test >$name.ext; openssl x509 -req -in "
	"$name.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile $name.ext -out "
	"$name.crt; done\n";

/* s_server says "ACCEPT host:port" once it listens, also on a port it chose. */
static int start_server(void)
{
	int pipes[2];
	char text[4096], *argv[] = {(char[]){"openssl"}, (char[]){"s_server"}, (char[]){"-accept"},
				 (char[]){"127.0.0.1:0"}, (char[]){"-cert"}, (char[]){"server.crt"},
				 (char[]){"-key"}, (char[]){"server.key"}, (char[]){"-CAfile"},
				 (char[]){"ca.crt"}, (char[]){"-Verify"}, (char[]){"1"},
				 (char[]){"-verify_return_error"}, (char[]){"-www"}, NULL};
	posix_spawn_file_actions_t files;
	size_t len = 0;
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addchdir_np(&files, dir);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&files, pipes[1], 1);
	assert_int_equal(posix_spawnp(&server, "openssl", &files, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&files);
	close(pipes[1]);
	for (;;) {
		ssize_t n = read(pipes[0], text + len, sizeof(text) - 1 - len);
		assert_true(n > 0);
		len += (size_t)n;
		text[len] = '\0';
		const char *said = strstr(text, "ACCEPT ");
		if (said && strchr(said, '\n'))
			return atoi(strrchr(said, ':') + 1);
	}
}

static int set_up(void **state)
{
	(void)state;
	dir = make_dir();
	setenv("DIR", dir, 1);
	if (system(make_certificates) != 0)
		return -1;
	port = start_server();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	kill(server, SIGTERM);
	waitpid(server, NULL, 0);
	remove_dir(dir);
	return 0;
}

static void on_answer(const struct kube_answer *a, void *ctx)
{
	struct err *seen = ctx;
	snprintf(seen->text, sizeof(seen->text), "%s, status %d: %s", kube_outcome_name(a->outcome),
		a->http_status, a->sentence);
}

static const struct row {
	const char *name, *ca, *tls_name, *client, *says;
} rows[] = {
	{"as it should be", "ca", "api.test", "client", "done, status 200"},
	{"a wrong CA", "other", "api.test", "client", "denied, status 0"},
	{"the authorities of the system only", NULL, "api.test", "client", "denied, status 0"},
	{"another name", "ca", "other.test", "client", "denied, status 0"},
	{"no name: the address is not in the certificate", "ca", NULL, "client",
		"denied, status 0"},
	{"no client certificate", "ca", "api.test", NULL, "status 0"},
	{"a client certificate of another CA", "ca", "api.test", "other", "status 0"},
};

static void test_tls(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		const struct row *r = &rows[i];
		struct buf b;
		struct err err = {""}, seen = {""};
		struct kube_config *config = NULL;
		struct kube_config_options options = {0};
		buf_init(&b, 65536);
		buf_puts(&b, "current-context: k\ncontexts: [{name: k, context: {cluster: c, user: "
			     "u}}]\n");
		buf_printf(
			&b, "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:%d/'", port);
		if (r->ca)
			buf_printf(&b, ", certificate-authority: %s.crt", r->ca);
		if (r->tls_name)
			buf_printf(&b, ", tls-server-name: %s", r->tls_name);
		buf_puts(&b, "}}]\nusers: [{name: u, user: {");
		if (r->client)
			buf_printf(&b, "client-certificate: %s.crt, client-key: %s.key", r->client,
				r->client);
		buf_puts(&b, "}}]\n");
		write_file(dir, "config", buf_text(&b), 0600);
		buf_reset(&b);
		buf_printf(&b, "%s/config", dir);
		options.kubeconfig = buf_text(&b);
		if (kube_config_load(&options, &config, &err) < 0)
			fail_msg("%s: %s", r->name, err.text);
		struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
		struct kube_client *client = kube_client_new(loop, config, NULL);
		struct kube_request q = {.method = KUBE_GET, .path = "/"};
		kube_client_send(client, &q, on_answer, &seen);
		run_until(loop, seen.text[0]);
		if (!strstr(seen.text, r->says))
			fail_msg("%s: %s", r->name, seen.text);
		kube_client_free(client);
		kube_config_free(config);
		ev_loop_destroy(loop);
		buf_done(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tls),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
