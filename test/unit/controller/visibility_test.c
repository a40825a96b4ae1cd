/*
 * The port of the aggregated API: when it opens, for whom, and when it opens anew. The API server
 * does as it is told; who answers and who announces is the test's.
 */
#include "controller/visibility.h"

#include "controller/kube/client.h"
#include "controller/announcement.h"
#include "controller/answers/answers.h"
#include "test/unit/kube/scripted_server.h"
#include "test/unit/kube/test.h"
#include "tls_client.h"
#include "controller/parts.h"
#include "controller/options.h"

#include <dirent.h>

#define READ "GET /api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication "
enum { HOUR = 3600, MINUTE_MS = 60000 };

/* What others than the port were told. */
static struct {
	unsigned answered, dropped;
	bool leads;
	uint16_t port; /* announced; 0: it is paused */
	char ca[4096];
} told;

bool __wrap_answers_take_passed_on(struct http_question *q, const char *path, void *ctx);
void __wrap_answers_drop(struct answers *a, const struct http *port);
bool __wrap_gate_leading(const struct gate *g);
struct announcement *__wrap_announcement_new(const struct announcement_options *o);
void __wrap_announcement_free(struct announcement *a);
void __wrap_announcement_pause(struct announcement *a);
void __wrap_announcement_tick(
	struct announcement *a, uint16_t port, const char *ca, int64_t tick_ms);

bool __wrap_answers_take_passed_on(struct http_question *q, const char *path, void *ctx)
{
	struct buf body;
	(void)ctx;
	assert_string_equal(http_header(q, "X-Remote-User"), "mia");
	assert_string_equal(path, "/apis");
	told.answered++;
	buf_init(&body, 10);
	buf_puts(&body, "said");
	http_answer(q, (struct http_reply){200, "text/plain"}, &body);
	buf_done(&body);
	return true;
}

void __wrap_answers_drop(struct answers *a, const struct http *port)
{
	(void)a;
	assert_non_null(port);
	told.dropped++;
}

bool __wrap_gate_leading(const struct gate *g)
{
	(void)g;
	return told.leads;
}

struct announcement *__wrap_announcement_new(const struct announcement_options *o)
{
	assert_string_equal(o->namespace_name, "sluice-system");
	assert_string_equal(o->address, "10.0.0.7");
	return NULL;
}

void __wrap_announcement_free(struct announcement *a)
{
	(void)a;
}

void __wrap_announcement_pause(struct announcement *a)
{
	(void)a;
	told.port = 0;
}

void __wrap_announcement_tick(
	struct announcement *a, uint16_t port, const char *ca, int64_t tick_ms)
{
	(void)a;
	(void)tick_ms;
	told.port = port;
	snprintf(told.ca, sizeof(told.ca), "%s", ca ? ca : "(none)");
}

/* ---- the stage ------------------------------------------------------------------------------- */

static struct identity authority, other;

static int make_authorities(void **state)
{
	const struct wish one = {"front-proxy-ca", true, NULL, -HOUR, HOUR};
	const struct wish two = {"front-proxy-ca-2", true, NULL, -HOUR, HOUR};
	(void)state;
	authority = identity_make(&one, NULL);
	other = identity_make(&two, NULL);
	return 0;
}

static int forget_authorities(void **state)
{
	(void)state;
	identity_done(&authority);
	identity_done(&other);
	return 0;
}

struct stage {
	struct options options;
	struct parts parts;
	struct scripted_server *server;
	struct visibility *visibility;
	FILE *written;
	size_t read; /* of the log */
	int64_t tick_ms;
};

static void stage_prepare(struct stage *s)
{
	static char program[] = "sluice-controller", listen[] = "--visibility-listen=127.0.0.1:0",
		    address[] = "--visibility-address=10.0.0.7";
	char *argv[] = {program, listen, address, NULL};
	struct err e = {""};
	memset(&told, 0, sizeof(told));
	*s = (struct stage){.written = tmpfile()};
	assert_int_equal(options_parse(3, argv, &s->options, &e), 0);
	s->parts.options = &s->options;
	s->parts.loop = ev_loop_new(EVFLAG_AUTO);
	s->parts.log = log_new(fileno(s->written), LOG_JSON, LEVEL_INFO);
	s->server = scripted_server_new(s->parts.loop);
	s->parts.config = config_for(scripted_server_url(s->server), NULL);
	s->parts.client =
		kube_client_new(s->parts.loop, s->parts.config, &(struct kube_client_options){0});
}

static void stage_open(struct stage *s)
{
	struct err e = {""};
	if (visibility_open(&s->parts, NULL, &s->visibility, &e) != 0)
		fail_msg("%s", e.text);
	assert_non_null(s->visibility);
}

static void stage_close(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	visibility_close(s->visibility);
	kube_client_free(s->parts.client);
	kube_config_free(s->parts.config);
	scripted_server_free(s->server);
	ev_loop_destroy(s->parts.loop);
	log_free(s->parts.log);
	fclose(s->written);
	options_done(&s->options);
}

static void expect_read(struct stage *s, int status, const struct identity *ca)
{
	struct buf body;
	char *pem = ca ? pem_of(ca) : NULL;
	buf_init(&body, 8192);
	buf_puts(&body, "{\"data\":{\"requestheader-allowed-names\":\"[]\"");
	if (pem) {
		buf_puts(&body, ",\"requestheader-client-ca-file\":");
		buf_json_string(&body, pem);
	}
	buf_puts(&body, "}}");
	script_answer(scripted_server_expect(s->server, READ), status,
		"Content-Type: application/json\r\n", buf_text(&body));
	buf_done(&body);
	free(pem);
}

/* Goes on by so long, and lets what is under way end. */
static void pass_ms(struct stage *s, int64_t ms)
{
	s->tick_ms += ms;
	visibility_tick(s->visibility, s->tick_ms);
	for (int i = 0; i < 40; i++) {
		ev_run(s->parts.loop, EVRUN_NOWAIT);
		usleep(1000);
	}
	visibility_tick(s->visibility, s->tick_ms + 1);
}

/* How many lines of the log, since the last call, have that event. */
static unsigned lines(struct stage *s, const char *event)
{
	char text[65536], wanted[100];
	unsigned n = 0;
	fflush(s->written);
	ssize_t len = pread(fileno(s->written), text, sizeof(text) - 1, (off_t)s->read);
	text[len > 0 ? len : 0] = '\0';
	snprintf(wanted, sizeof(wanted), "\"event\":\"%s\"", event);
	for (const char *at = text; (at = strstr(at, wanted)); at++)
		n++;
	s->read += len > 0 ? (size_t)len : 0;
	return n;
}

/* Asks where it was announced. The status of the answer. */
static int ask_for(struct stage *s, const struct identity *signer, char *ret_text, size_t size)
{
	const struct wish wish = {"front-proxy-client", false, NULL, -HOUR, HOUR};
	struct identity who = identity_make(&wish, signer);
	struct client c;
	client_open(&c, s->parts.loop, told.port, &who, NULL);
	int status = client_ask(&c, ret_text, size);
	client_close(&c);
	identity_done(&who);
	return status;
}

static int ask(struct stage *s, const struct identity *signer)
{
	char text[4096];
	return ask_for(s, signer, text, sizeof(text));
}

/* ---- when it opens --------------------------------------------------------------------------- */

static void off_is_nothing(void **state)
{
	struct stage s;
	struct err e = {""};
	(void)state;
	stage_prepare(&s);
	s.options.visibility_listen.on = false;
	assert_int_equal(visibility_open(&s.parts, NULL, &s.visibility, &e), 0);
	assert_null(s.visibility);
	visibility_tick(s.visibility, 0);
	stage_close(&s);
}

static void it_opens_when_the_authority_is_known(void **state)
{
	struct stage s;
	char text[4096];
	(void)state;
	stage_prepare(&s);
	stage_open(&s);
	told.leads = true;
	visibility_tick(s.visibility, 0);
	assert_int_equal(lines(&s, "listening"), 0);
	assert_int_equal(told.port, 0);
	expect_read(&s, 200, &authority);
	pass_ms(&s, 0);
	assert_int_equal(lines(&s, "listening"), 1);
	assert_true(told.port > 0);
	assert_non_null(strstr(told.ca, "BEGIN CERTIFICATE"));
	assert_int_equal(ask(&s, &authority), 200);
	assert_int_equal(told.answered, 1);
	assert_int_equal(ask_for(&s, &other, text, sizeof(text)), 401);
	assert_non_null(strstr(text, "not signed by the front-proxy authority"));
	assert_non_null(strstr(text, "\"kind\":\"Status\""));
	assert_int_equal(told.answered, 1);
	stage_close(&s);
}

enum { STRANGERS = 340, PACE_BURST = 200, PACE_EACH_SECOND = 100 };

static void let_the_port_run(struct stage *s, int ms)
{
	for (double until = ev_time() + ms / 1000.; ev_time() < until; usleep(1000))
		ev_run(s->parts.loop, EVRUN_NOWAIT);
}

static unsigned count_files(void)
{
	unsigned n = 0;
	DIR *d = opendir("/proc/self/fd");
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static bool is_any_ended(const int fd[STRANGERS])
{
	bool is_ended = false;
	char c;
	for (int i = 0; i < STRANGERS; i++)
		is_ended = is_ended || recv(fd[i], &c, 1, MSG_DONTWAIT) == 0;
	return is_ended;
}

/* More than may be open from one address: they come at the port's pace, and the API server's connection
 * stays. */
static void strangers_wait_and_the_front_proxy_does_not(void **state)
{
	const struct wish wish = {"front-proxy-client", false, NULL, -HOUR, HOUR};
	struct identity who = identity_make(&wish, &authority);
	struct client c;
	struct stage s;
	char text[4096];
	int fd[STRANGERS];
	(void)state;
	stage_prepare(&s);
	stage_open(&s);
	told.leads = true;
	expect_read(&s, 200, &authority);
	pass_ms(&s, 0);
	client_open(&c, s.parts.loop, told.port, &who, NULL);
	assert_int_equal(client_ask(&c, text, sizeof(text)), 200);
	for (int i = 0; i < STRANGERS; i++)
		fd[i] = client_connect(told.port);
	unsigned before = count_files();
	double began = ev_time();
	let_the_port_run(&s, 100);
	unsigned most = PACE_BURST + PACE_EACH_SECOND * (unsigned)(ev_time() - began + 1.);
	assert_in_range(count_files() - before, 1, most);
	while (!is_any_ended(fd)) /* for those that came later */
		let_the_port_run(&s, 20);
	assert_int_equal(client_ask(&c, text, sizeof(text)), 200);
	for (int i = 0; i < STRANGERS; i++)
		close(fd[i]);
	client_close(&c);
	identity_done(&who);
	stage_close(&s);
}

/* kubectl prints the sentence of a Status. And a stranger comes anew for each answer. */
static void a_refusal_is_a_status_and_a_strangers_last_answer(void **state)
{
	struct client c;
	struct stage s;
	char text[4096];
	(void)state;
	stage_prepare(&s);
	stage_open(&s);
	told.leads = true;
	expect_read(&s, 200, &authority);
	pass_ms(&s, 0);
	const struct wish wish = {"front-proxy-client", false, NULL, -HOUR, HOUR};
	struct identity who = identity_make(&wish, &authority);
	client_open(&c, s.parts.loop, told.port, &who, NULL);
	assert_int_equal(client_ask(&c, text, sizeof(text)), 200);
	assert_int_equal(client_ask_by(&c, "POST", text, sizeof(text)), 405);
	assert_non_null(strstr(text, "\"kind\":\"Status\""));
	assert_non_null(strstr(text, "\"reason\":\"MethodNotAllowed\",\"code\":405"));
	assert_non_null(strstr(text, "\"message\":\"only GET and HEAD\""));
	assert_null(strstr(text, "Connection: close"));
	assert_int_equal(client_ask(&c, text, sizeof(text)), 200);
	client_close(&c);
	identity_done(&who);
	for (int i = 0; i < 2; i++) {
		client_open(&c, s.parts.loop, told.port, NULL, NULL);
		int status = client_ask_by(&c, i ? "POST" : "GET", text, sizeof(text));
		assert_int_equal(status, i ? 405 : 401);
		assert_non_null(strstr(text, "Connection: close"));
		client_close(&c);
	}
	stage_close(&s);
}

static void only_the_leader_is_announced(void **state)
{
	struct stage s;
	(void)state;
	stage_prepare(&s);
	stage_open(&s);
	expect_read(&s, 200, &authority);
	pass_ms(&s, 0);
	assert_int_equal(lines(&s, "listening"), 1); /* a standby listens as well */
	assert_int_equal(told.port, 0);
	told.leads = true;
	visibility_tick(s.visibility, 1000);
	assert_true(told.port > 0);
	told.leads = false;
	visibility_tick(s.visibility, 2000);
	assert_int_equal(told.port, 0);
	stage_close(&s);
}

static void a_failure_is_told_once_and_tried_again(void **state)
{
	struct stage s;
	(void)state;
	stage_prepare(&s);
	stage_open(&s);
	told.leads = true;
	for (int i = 0; i < 3; i++) {
		expect_read(&s, 403, NULL);
		pass_ms(&s, 10000);
		assert_int_equal(lines(&s, "front-proxy-unknown"), i == 0);
	}
	expect_read(&s, 200, NULL);
	pass_ms(&s, 10000);
	assert_int_equal(lines(&s, "front-proxy-unknown"), 1); /* another sentence */
	assert_int_equal(told.port, 0);
	expect_read(&s, 200, &authority);
	pass_ms(&s, 10000);
	assert_true(told.port > 0);
	/* From now on it stays open, whatever is answered. */
	uint16_t port = told.port;
	expect_read(&s, 403, NULL);
	pass_ms(&s, MINUTE_MS);
	assert_int_equal(lines(&s, "front-proxy-unknown"), 1);
	assert_int_equal(told.port, port);
	assert_int_equal(told.dropped, 0);
	assert_int_equal(ask(&s, &authority), 200);
	stage_close(&s);
}

static void it_opens_anew_for_other_authorities(void **state)
{
	struct stage s;
	(void)state;
	stage_prepare(&s);
	stage_open(&s);
	told.leads = true;
	expect_read(&s, 200, &authority);
	pass_ms(&s, 0);
	expect_read(&s, 200, &authority);
	pass_ms(&s, MINUTE_MS);
	assert_int_equal(lines(&s, "listening"), 1);
	assert_int_equal(told.dropped, 0);
	expect_read(&s, 200, &other);
	pass_ms(&s, MINUTE_MS);
	assert_int_equal(lines(&s, "listening"), 1);
	assert_int_equal(told.dropped, 1);
	assert_int_equal(ask(&s, &other), 200);
	assert_int_equal(ask(&s, &authority), 401);
	stage_close(&s);
}

/* ---- its certificate ------------------------------------------------------------------------- */

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void put_certificate(const char *cert, const char *key)
{
	struct tls *tls = NULL;
	struct err e = {""};
	assert_int_equal(tls_make(NULL, 0, &tls, &e), 0);
	put_file(cert, tls->certificate);
	put_file(key, tls->key);
	tls_free(tls);
}

static void it_opens_anew_for_other_files(void **state)
{
	struct stage s;
	char dir[] = "/tmp/sluice-visibility-XXXXXX", cert[100], key[100];
	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(cert, sizeof(cert), "%s/tls.crt", dir);
	snprintf(key, sizeof(key), "%s/tls.key", dir);
	put_certificate(cert, key);
	stage_prepare(&s);
	s.options.visibility_cert_file = cert;
	s.options.visibility_key_file = key;
	stage_open(&s);
	told.leads = true;
	expect_read(&s, 200, &authority);
	pass_ms(&s, 0);
	assert_string_equal(told.ca, "(none)");
	/* Half of a renewal: the port stays as it is. */
	put_file(cert, "nothing");
	for (int i = 0; i < 2; i++) {
		expect_read(&s, 200, &authority);
		pass_ms(&s, MINUTE_MS);
		assert_int_equal(lines(&s, "certificate-unusable"), i == 0);
	}
	assert_int_equal(told.dropped, 0);
	assert_int_equal(ask(&s, &authority), 200);
	put_certificate(cert, key);
	expect_read(&s, 200, &authority);
	pass_ms(&s, MINUTE_MS);
	assert_int_equal(lines(&s, "listening"), 1);
	assert_int_equal(told.dropped, 1);
	assert_int_equal(ask(&s, &authority), 200);
	stage_close(&s);
	remove(cert);
	remove(key);
	rmdir(dir);
}

/* ---- what cannot be ---------------------------------------------------------------------------- */

static void a_start_that_cannot_be_names_the_flag(void **state)
{
	struct stage s;
	struct err e = {""};
	(void)state;
	stage_prepare(&s);
	s.options.visibility_cert_file = "/no/such.crt";
	s.options.visibility_key_file = "/no/such.key";
	assert_int_equal(visibility_open(&s.parts, NULL, &s.visibility, &e), ERR_INVALID);
	assert_null(s.visibility);
	assert_non_null(strstr(e.text, "--visibility-cert-file"));
	s.options.visibility_cert_file = s.options.visibility_key_file = NULL;
	strcpy(s.options.visibility_listen.host, "no.such.host.invalid");
	assert_int_equal(visibility_open(&s.parts, NULL, &s.visibility, &e), ERR_INVALID);
	assert_null(s.visibility);
	assert_non_null(strstr(e.text, "no.such.host.invalid"));
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(off_is_nothing),
		cmocka_unit_test(it_opens_when_the_authority_is_known),
		cmocka_unit_test(strangers_wait_and_the_front_proxy_does_not),
		cmocka_unit_test(a_refusal_is_a_status_and_a_strangers_last_answer),
		cmocka_unit_test(only_the_leader_is_announced),
		cmocka_unit_test(a_failure_is_told_once_and_tried_again),
		cmocka_unit_test(it_opens_anew_for_other_authorities),
		cmocka_unit_test(it_opens_anew_for_other_files),
		cmocka_unit_test(a_start_that_cannot_be_names_the_flag),
	};
	return cmocka_run_group_tests(tests, make_authorities, forget_authorities);
}
