#include "test.h"

#include "controller/kube/credential.h"
#include "controller/kube/plugin.h"

static int changes;

static void on_changed(void *ctx)
{
	(void)ctx;
	changes++;
}

static const struct row {
	const char *name, *text;
	const char *says; /* NULL: fine */
	const char *token;
	double expires_at;
} rows[] = {
#define CREDENTIAL(status)                                                                         \
	"{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","         \
	"\"status\":{" status "}}"
	{"a token", CREDENTIAL("\"token\":\"SECRET\""), NULL, "SECRET", 0},
	{"a token for a while",
		CREDENTIAL("\"token\":\"t\",\"expirationTimestamp\":\"1970-01-02T00:00:01Z\""),
		NULL, "t", 86401},
	{"with a fraction",
		CREDENTIAL("\"token\":\"t\",\"expirationTimestamp\":\"1970-01-01T00:00:01.5Z\""),
		NULL, "t", 1},
	{"east of Greenwich",
		CREDENTIAL("\"token\":\"t\",\"expirationTimestamp\":\"1970-01-01T02:00:01+02:00\""),
		NULL, "t", 1},
	{"a certificate",
		CREDENTIAL("\"clientCertificateData\":\"-----BEGIN CERTIFICATE\","
			   "\"clientKeyData\":\"-----BEGIN PRIVATE KEY\""),
		NULL, NULL, 0},
	{"half of one", CREDENTIAL("\"clientKeyData\":\"-----BEGIN SECRET\""), "together", NULL, 0},
	{"no PEM", CREDENTIAL("\"clientCertificateData\":\"SECRET\",\"clientKeyData\":\"SECRET\""),
		"not PEM", NULL, 0},
	{"nothing in it", CREDENTIAL(""), "no token and no certificate", NULL, 0},
	{"a token with a newline", CREDENTIAL("\"token\":\"SECRET\\nX\""), "status.token", NULL, 0},
	{"a strange time", CREDENTIAL("\"token\":\"SECRET\",\"expirationTimestamp\":\"now\""),
		"expirationTimestamp", NULL, 0},
	{"another version", "{\"kind\":\"ExecCredential\",\"apiVersion\":\"v2\"}",
		"no ExecCredential", NULL, 0},
	{"no JSON", "SECRET", "JSON", NULL, 0},
};

static void test_exec_credential(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		const struct row *w = &rows[i];
		struct plugin_result r;
		plugin_read(slice_of(w->text), "client.authentication.k8s.io/v1", &r);
		if ((r.code < 0) != (w->says != NULL) ||
			(w->says && (!strstr(r.err.text, w->says) || strstr(r.err.text, "SECRET"))))
			fail_msg("%s: %d %s", w->name, r.code, r.err.text);
		assert_int_equal(!r.token, !w->token);
		assert_true(w->says || r.expires_at == w->expires_at);
		free(r.token);
		free(r.cert);
		free(r.key);
	}
}

/* What a plugin needs to be tried: a directory with the script, a configuration that names it. */
struct stage {
	struct ev_loop *loop;
	char *dir;
	struct kube_config *config;
	struct kube_credential *credential;
};

static void stage_open(struct stage *s, const char *script, struct kube_credential_options o)
{
	char user[1024];
	s->dir = make_dir();
	if (script)
		write_file(s->dir, "plugin", script, 0700);
	snprintf(user, sizeof(user),
		"exec: {apiVersion: client.authentication.k8s.io/v1, command: %s/plugin, "
		"installHint: "
		"'try apt install it', args: [one, 'two words'], env: [{name: DIR, value: %s}]}",
		s->dir, s->dir);
	s->config = config_for("https://localhost:1", user);
	s->loop = ev_loop_new(EVFLAG_AUTO);
	changes = 0;
	s->credential = kube_credential_new(s->loop, s->config, &o, on_changed, NULL);
}

static void stage_close(struct stage *s)
{
	kube_credential_free(s->credential);
	kube_config_free(s->config);
	ev_loop_destroy(s->loop);
	remove_dir(s->dir);
}

#define PRINT_TOKEN                                                                                \
	"n=$(cat $DIR/n 2>/dev/null || echo 0); n=$((n+1)); echo $n > $DIR/n\n"                    \
	"echo '{\"kind\":\"ExecCredential\",\"apiVersion\":"                                       \
	"\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"t'$n'\"'$EXPIRES'}}'\n"

static void test_plugin_gives_a_token(void **state)
{
	struct stage s;
	(void)state;
	assert_int_equal(dup2(2, 77), 77); /* something that would be inherited */
	setenv("PGPASSWORD", "secret", 1);
	setenv("PGPASSFILE", "/secret", 1);
	setenv("PLUGIN_REGION", "eu", 1);
	/* It also sees its arguments, the info variable, no terminal, none of our descriptors, and
	 * of our environment all but the database's. */
	stage_open(&s,
		"#!/bin/sh\n[ \"$1\" = one ] && [ \"$2\" = 'two words' ] || exit 3\n"
		"case $KUBERNETES_EXEC_INFO in *'\"interactive\":false'*) ;; *) exit 4;; esac\n"
		"[ -t 0 ] && exit 5\nread line && exit 6\n"
		"[ -e /proc/$$/fd/77 ] && exit 7\nenv | grep -q ^PG && exit 8\n"
		"[ \"$PLUGIN_REGION\" = eu ] || exit 9\n" PRINT_TOKEN,
		(struct kube_credential_options){.plugin_pause_ms = 1});
	assert_int_equal(kube_credential_check(s.credential), CREDENTIAL_RUNNING);
	assert_int_equal(kube_credential_check(s.credential), CREDENTIAL_RUNNING);
	run_until(s.loop, changes == 1);
	if (kube_credential_check(s.credential) != CREDENTIAL_READY)
		fail_msg("%s", kube_credential_error(s.credential));
	assert_string_equal(kube_credential_token(s.credential), "t1");
	uint64_t old = kube_credential_generation(s.credential);

	/* Refused: run again, once, however many were refused with the old one. */
	run_until(s.loop, kube_credential_refused(s.credential, old));
	assert_true(kube_credential_refused(s.credential, old));
	assert_int_equal(kube_credential_check(s.credential), CREDENTIAL_RUNNING);
	assert_true(kube_credential_refused(s.credential, old));
	run_until(s.loop, changes == 2);
	assert_int_equal(kube_credential_check(s.credential), CREDENTIAL_READY);
	assert_string_equal(kube_credential_token(s.credential), "t2");
	assert_true(kube_credential_refused(s.credential, old)); /* there is a newer one */
	assert_int_equal(kube_credential_check(s.credential), CREDENTIAL_READY);
	close(77);
	stage_close(&s);
}

/* Expired long ago: it is renewed, but not at every look. */
static void test_expired(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s,
		"#!/bin/"
		"sh\nEXPIRES=',\"expirationTimestamp\":\"2001-01-01T00:00:00Z\"'\n" PRINT_TOKEN,
		(struct kube_credential_options){.plugin_pause_ms = 20});
	for (int n = 1; n <= 3; n++) {
		run_until(s.loop, kube_credential_check(s.credential) == CREDENTIAL_RUNNING);
		run_until(s.loop, changes == n);
		assert_int_equal(kube_credential_check(s.credential), CREDENTIAL_READY);
	}
	assert_string_equal(kube_credential_token(s.credential), "t3");
	stage_close(&s);
}

static const struct failure {
	const char *name, *script, *says;
	int64_t timeout_ms;
} failures[] = {
	{"it fails", "#!/bin/sh\necho SECRET\nexit 7\n", "exit code 7", 0},
	{"it dies", "#!/bin/sh\nkill -9 $$\n", "signal 9", 0},
	{"it hangs, and so do its children", "#!/bin/sh\nsleep 1000 & sleep 1000\n",
		"did not end within 50 ms", 50},
	{"it talks for ever", "#!/bin/sh\nexec yes SECRET\n", "more than 1048576 bytes", 0},
	{"it says nothing", "#!/bin/sh\n", "JSON", 0},
	{"it is not there", NULL, "cannot be run: No such file or directory. try apt install it",
		0},
};

static void test_failures(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(failures); i++) {
		const struct failure *f = &failures[i];
		struct stage s;
		stage_open(&s, f->script,
			(struct kube_credential_options){.plugin_timeout_ms = f->timeout_ms});
		enum kube_credential_state now = kube_credential_check(s.credential);
		if (now == CREDENTIAL_RUNNING)
			run_until(s.loop, changes == 1);
		assert_int_equal(kube_credential_check(s.credential), CREDENTIAL_FAILED);
		const char *text = kube_credential_error(s.credential);
		if (!strstr(text, f->says) || !strstr(text, "plugin") || strstr(text, "SECRET"))
			fail_msg("%s: %s", f->name, text);
		stage_close(&s);
	}
}

/* Its stdout is held open by somebody it left behind: what it said counts all the same. */
static void test_orphan(void **state)
{
	struct stage s;
	(void)state;
	stage_open(
		&s, "#!/bin/sh\n" PRINT_TOKEN "sleep 5 &\n", (struct kube_credential_options){0});
	assert_int_equal(kube_credential_check(s.credential), CREDENTIAL_RUNNING);
	run_until(s.loop, changes == 1);
	assert_int_equal(kube_credential_check(s.credential), CREDENTIAL_READY);
	stage_close(&s);
}

static void test_freed_while_it_runs(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s, "#!/bin/sh\nsleep 1000\n", (struct kube_credential_options){0});
	assert_int_equal(kube_credential_check(s.credential), CREDENTIAL_RUNNING);
	stage_close(&s); /* kills and reaps it */
}

static void test_token_file_is_read_again(void **state)
{
	char *dir = make_dir(), user[300];
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	(void)state;
	snprintf(user, sizeof(user), "tokenFile: %s/token", dir);
	struct kube_config *config = config_for("https://localhost:1", user);
	struct kube_credential_options o = {.reread_ms = 10};
	struct kube_credential *c = kube_credential_new(loop, config, &o, on_changed, NULL);
	assert_int_equal(kube_credential_check(c), CREDENTIAL_FAILED);
	assert_non_null(strstr(kube_credential_error(c), "token: No such file"));
	write_file(dir, "token", "one\n", 0600);
	assert_int_equal(kube_credential_check(c), CREDENTIAL_READY);
	assert_string_equal(kube_credential_token(c), "one");

	/* Rotated: seen by itself after a while. */
	write_file(dir, "token", "two\n", 0600);
	run_until(loop, kube_credential_check(c) == CREDENTIAL_READY &&
				strcmp(kube_credential_token(c), "two") == 0);

	/* Gone, or bad, for a moment: the old one is kept. */
	write_file(dir, "token", "a b\n", 0600);
	uint64_t generation = kube_credential_generation(c);
	assert_false(kube_credential_refused(c, generation));
	assert_int_equal(kube_credential_check(c), CREDENTIAL_READY);
	assert_string_equal(kube_credential_token(c), "two");

	/* Refused: read at once. */
	write_file(dir, "token", "three\n", 0600);
	assert_true(kube_credential_refused(c, generation));
	assert_string_equal(kube_credential_token(c), "three");
	assert_false(kube_credential_refused(c, kube_credential_generation(c)));
	kube_credential_free(c);
	kube_config_free(config);
	ev_loop_destroy(loop);
	remove_dir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exec_credential),
		cmocka_unit_test(test_plugin_gives_a_token),
		cmocka_unit_test(test_expired),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_orphan),
		cmocka_unit_test(test_freed_while_it_runs),
		cmocka_unit_test(test_token_file_is_read_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
