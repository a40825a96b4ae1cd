/*
 * HTTPS from end to end: the controller's port in a process of its own, with certificates that
 * openssl makes on the spot, and a client of libcurl. Callers that stall in the
 * handshake are plain sockets.
 */
#include "controller/net/tls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <curl/curl.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "controller/net/http.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
enum { PATH_SIZE = 256, SLOW = 80, STALLED = 40 };

static char dir[64];
static unsigned *tried; /* handshakes, by a server that is to count them; shared with it */

/* Stands before GnuTLS' own, also for libmicrohttpd. */
__attribute__((visibility("default"))) int gnutls_handshake(gnutls_session_t session)
{
	static int (*own)(gnutls_session_t);
	if (!own)
		*(void **)&own = dlsym(RTLD_NEXT, "gnutls_handshake");
	if (tried)
		++*tried;
	return own(session);
}

static const char make_certificates[] =
	"set -e; cd \"$DIR\"; exec 2>openssl.log\n"
	"key() { openssl ecparam -name prime256v1 -genkey -noout -out $1.key; }\n"
	"for ca in ca other; do key $ca; openssl req -x509 -new -key $ca.key -subj /CN=$ca -days 2 "
	"-out $ca.crt; done\n"
	"key server; openssl req -new -key server.key -subj /CN=server -out server.csr\n"
	"echo subjectAltName=DNS:localhost >server.ext; openssl x509 -req -in server.csr -CA "
	"ca.crt "
	"-CAkey ca.key -CAcreateserial -days 2 -extfile server.ext -out server.crt\n"
	"openssl ec -in server.key -aes128 -passout pass:secret -out locked.key\n"
	": >empty.crt; echo nothing >text.crt\n";

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/sluice-tls-XXXXXX");
	assert_non_null(mkdtemp(dir));
	setenv("DIR", dir, 1);
	return system(make_certificates);
}

static int remove_dir(void **state)
{
	(void)state;
	return system("rm -rf \"$DIR\"");
}

/* One of several, in turn: a table may hold some. */
static const char *file(const char *name)
{
	static char paths[32][PATH_SIZE];
	static unsigned turn;
	char *path = paths[turn++ % COUNT(paths)];
	snprintf(path, PATH_SIZE, "%s/%s", dir, name);
	return path;
}

/* ---- the server ------------------------------------------------------------------------------ */

struct server {
	pid_t pid;
	int port;
};

static struct http_reply answer(
	const struct http_question *q, const char *path, struct buf *out, void *ctx)
{
	(void)q;
	(void)ctx;
	buf_printf(out, "path=%s", path);
	return (struct http_reply){200, "text/plain"};
}

static struct http_rights rights(const struct http_question *q, const char *path)
{
	(void)q;
	return (struct http_rights){.open = strcmp(path, "/healthz") == 0,
		.must = {"get", "sluice.dev", "clusterqueues", ""}};
}

struct late {
	ev_timer timer;
	struct http_question *question;
};

static void on_late(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct late *late = w->data;
	struct buf body;
	(void)loop;
	(void)revents;
	buf_init(&body, 100);
	buf_puts(&body, "at last");
	http_answer(late->question, (struct http_reply){200, "text/plain"}, &body);
	buf_done(&body);
}

static bool defer(struct http_question *q, const char *path, void *ctx)
{
	struct late *late = ctx;
	if (strcmp(path, "/later") != 0)
		return false;
	late->question = q;
	ev_timer_start(ev_default_loop(0), &late->timer);
	return true;
}

static void serve(const struct tls *tls, const struct connections_limits *limits, int tell)
{
	struct late late = {.question = NULL};
	struct ev_loop *loop = ev_default_loop(0);
	struct http_options o = {.host = "127.0.0.1",
		.limits = *limits,
		.tls = tls,
		.rights = rights,
		.answer = answer,
		.defer = defer,
		.ctx = &late};
	struct http *h;
	struct err e;
	signal(SIGPIPE, SIG_IGN);
	ev_timer_init(&late.timer, on_late, 0.05, 0.);
	late.timer.data = &late;
	if (http_new(loop, &o, &h, &e) != 0)
		_exit(1);
	int port = http_port(h);
	if (write(tell, &port, sizeof(port)) == sizeof(port))
		ev_run(loop, 0);
	_exit(1);
}

static struct server server_start(const struct tls *tls, const struct connections_limits *limits)
{
	struct server s = {0};
	int pipes[2];
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	s.pid = fork();
	assert_true(s.pid >= 0);
	if (s.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(tls, limits, pipes[1]);
	}
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &s.port, sizeof(s.port)), sizeof(s.port));
	close(pipes[0]);
	return s;
}

/* It must live until here. */
static void server_stop(const struct server *s)
{
	int status;
	assert_int_equal(kill(s->pid, SIGKILL), 0);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Sockets that it has open. */
static unsigned server_sockets(const struct server *s)
{
	char path[300], to[64];
	unsigned n = 0;
	snprintf(path, sizeof(path), "/proc/%d/fd", s->pid);
	DIR *d = opendir(path);
	assert_non_null(d);
	for (const struct dirent *f; (f = readdir(d));) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%s", s->pid, f->d_name);
		ssize_t len = readlink(path, to, sizeof(to) - 1);
		n += len > 7 && strncmp(to, "socket:", 7) == 0;
	}
	closedir(d);
	return n;
}

static bool sockets_come_to(const struct server *s, unsigned most)
{
	for (int i = 0; i < 3000; i++) {
		if (server_sockets(s) <= most)
			return true;
		usleep(20000);
	}
	return false;
}

static long server_cpu_ticks(const struct server *s)
{
	char path[64];
	long user = 0, system = 0;
	snprintf(path, sizeof(path), "/proc/%d/stat", s->pid);
	FILE *f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(
		fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user,
			&system),
		2);
	fclose(f);
	return user + system;
}

static struct tls_files api_files(const char *cert, const char *key)
{
	return (struct tls_files){
		"--tls-cert-file", "--tls-private-key-file", file(cert), file(key)};
}

static struct tls *load(void)
{
	struct tls *tls = NULL;
	struct err e = {""};
	struct tls_files files = api_files("server.crt", "server.key");
	if (tls_load(&files, &tls, &e) != 0)
		fail_msg("%s", e.text);
	return tls;
}

/* ---- the client ------------------------------------------------------------------------------ */

/* How far a client trusts. */
struct trust {
	const char *ca_file; /* NULL: the system's */
	bool all;
};

static size_t on_bytes(char *ptr, size_t size, size_t n, void *ctx)
{
	buf_add(ctx, ptr, size * n);
	return size * n;
}

static CURLcode get(const struct server *s, const char *scheme_and_host, const char *path,
	struct trust trust, char *ret, size_t size)
{
	char url[200];
	struct buf body;
	CURL *curl = curl_easy_init();
	snprintf(url, sizeof(url), "%s:%d%s", scheme_and_host, s->port, path);
	buf_init(&body, 1 << 20);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
	if (trust.ca_file)
		curl_easy_setopt(curl, CURLOPT_CAINFO, trust.ca_file);
	if (trust.all) {
		curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
	}
	CURLcode code = curl_easy_perform(curl);
	snprintf(ret, size, "%s", buf_text(&body));
	print_message("  %s: %s\n", url, curl_easy_strerror(code));
	curl_easy_cleanup(curl);
	buf_done(&body);
	return code;
}

static void a_certificate_from_files_is_served(void **state)
{
	(void)state;
	char text[1000];
	struct tls *tls = load();
	struct server s = server_start(tls, &HTTP_LIMITS);
	tls_free(tls);
	struct trust ca = {.ca_file = file("ca.crt")};
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			get(&s, "https://localhost", "/queues", ca, text, sizeof(text)), CURLE_OK);
	assert_string_equal(text, "path=/queues");
	/* A connection that slept is woken under TLS as well. */
	assert_int_equal(get(&s, "https://localhost", "/later", ca, text, sizeof(text)), CURLE_OK);
	assert_string_equal(text, "at last");
	server_stop(&s);
}

static void a_client_takes_no_other_certificate(void **state)
{
	(void)state;
	const struct {
		const char *name, *url;
		struct trust trust;
		CURLcode code;
	} cases[] = {
		{"another CA", "https://localhost", {.ca_file = file("other.crt")},
			CURLE_PEER_FAILED_VERIFICATION},
		{"the system's CAs", "https://localhost", {0}, CURLE_PEER_FAILED_VERIFICATION},
		{"another name", "https://127.0.0.1", {.ca_file = file("ca.crt")},
			CURLE_PEER_FAILED_VERIFICATION},
		{"unless told so", "https://127.0.0.1", {.all = true}, CURLE_OK},
	};
	struct tls *tls = load();
	struct server s = server_start(tls, &HTTP_LIMITS);
	char text[1000];
	tls_free(tls);
	for (size_t i = 0; i < COUNT(cases); i++) {
		print_message("  %s\n", cases[i].name);
		assert_int_equal(get(&s, cases[i].url, "/", cases[i].trust, text, sizeof(text)),
			cases[i].code);
	}
	assert_int_not_equal(
		get(&s, "http://localhost", "/", cases[0].trust, text, sizeof(text)), CURLE_OK);
	server_stop(&s);
}

static void files_that_will_not_do_are_named(void **state)
{
	(void)state;
	static const struct {
		const char *cert, *key;
		const char *says[3];
	} cases[] = {
		{"none.crt", "server.key", {"--tls-cert-file", "none.crt", "No such file"}},
		{"server.crt", "none.key", {"--tls-private-key-file", "none.key", "No such file"}},
		{".", "server.key", {"--tls-cert-file", "not a file", "PEM"}},
		{"empty.crt", "server.key", {"--tls-cert-file", "empty.crt", "no certificate"}},
		{"text.crt", "server.key", {"--tls-cert-file", "text.crt", "no certificate"}},
		{"server.key", "server.key", {"--tls-cert-file", "server.key", "no certificate"}},
		{"server.crt", "server.crt",
			{"--tls-private-key-file", "server.crt", "no private key"}},
		{"server.crt", "locked.key", {"--tls-private-key-file", "locked.key", "password"}},
		{"server.crt", "other.key", {"does not belong", "other.key", "server.crt"}},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tls *tls = NULL;
		struct err e = {""};
		struct tls_files files = api_files(cases[i].cert, cases[i].key);
		assert_int_equal(tls_load(&files, &tls, &e), ERR_INVALID);
		assert_null(tls);
		print_message("  %s\n", e.text);
		for (size_t k = 0; k < COUNT(cases[i].says); k++)
			assert_non_null(strstr(e.text, cases[i].says[k]));
	}
}

static void the_fingerprint_is_openssls(void **state)
{
	(void)state;
	char line[200] = "";
	struct tls *tls = load();
	FILE *f = popen("openssl x509 -in \"$DIR\"/server.crt -noout -fingerprint -sha256", "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	pclose(f);
	assert_non_null(strchr(line, '='));
	line[strcspn(line, "\n")] = '\0';
	assert_string_equal(strchr(line, '=') + 1, tls->fingerprint);
	int64_t now_ms = (int64_t)time(NULL) * 1000, day_ms = 86400000;
	assert_in_range(tls->expires_ms, now_ms + day_ms, now_ms + 2 * day_ms);
	tls_free(tls);
}

/* Gives since when a certificate is valid. */
static time_t valid_since(const char *pem)
{
	gnutls_x509_crt_t crt;
	gnutls_datum_t data = {(unsigned char *)pem, (unsigned)strlen(pem)};
	assert_int_equal(gnutls_x509_crt_init(&crt), 0);
	assert_int_equal(gnutls_x509_crt_import(crt, &data, GNUTLS_X509_FMT_PEM), 0);
	time_t since = gnutls_x509_crt_get_activation_time(crt);
	gnutls_x509_crt_deinit(crt);
	return since;
}

static void one_that_is_made_here_can_be_trusted_by_itself(void **state)
{
	(void)state;
	char text[1000];
	struct tls *tls = NULL, *next = NULL;
	struct err e = {""};
	assert_int_equal(tls_make(NULL, 0, &tls, &e), 0);
	assert_int_equal(tls_make(NULL, 0, &next, &e), 0);
	assert_string_not_equal(tls->fingerprint, next->fingerprint);
	assert_int_equal(valid_since(tls->certificate), 0); /* whatever the other's clock says */
	FILE *f = fopen(file("made.crt"), "we");
	assert_non_null(f);
	fputs(tls->certificate, f);
	fclose(f);
	struct server s = server_start(tls, &HTTP_LIMITS), other = server_start(next, &HTTP_LIMITS);
	struct trust a = {.ca_file = file("made.crt")};
	assert_int_equal(get(&s, "https://localhost", "/", a, text, sizeof(text)), 0);
	assert_int_equal(get(&s, "https://127.0.0.1", "/", a, text, sizeof(text)), 0);
	assert_int_equal(get(&other, "https://localhost", "/", a, text, sizeof(text)),
		CURLE_PEER_FAILED_VERIFICATION);
	server_stop(&s);
	server_stop(&other);
	tls_free(tls);
	tls_free(next);
}

static void it_is_made_for_the_names_that_it_is_told(void **state)
{
	(void)state;
	static const char *const names[] = {"one.svc", "two.svc", "10.1.2.3", "fd00::5"};
	char text[4096];
	struct tls *tls = NULL;
	struct err e = {""};
	assert_int_equal(tls_make(names, COUNT(names), &tls, &e), 0);
	FILE *f = fopen(file("named.crt"), "we");
	assert_non_null(f);
	fputs(tls->certificate, f);
	fclose(f);
	tls_free(tls);
	f = popen("openssl x509 -in \"$DIR\"/named.crt -noout -ext subjectAltName", "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	pclose(f);
	assert_non_null(strstr(text,
		"DNS:one.svc, DNS:two.svc, IP Address:10.1.2.3, IP Address:FD00:0:0:0:0:0:0:5, DNS:localhost"));
	assert_non_null(strstr(text, "IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1"));
}

/* ---- callers that stall in the handshake ----------------------------------------------------- */

/* The head of a record that announces a ClientHello of 512 bytes. */
static const char hello[] = {
	0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, (char)0xFC, 0x03, 0x03};

static int stall(const struct server *s)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)s->port)};
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(send(fd, hello, sizeof(hello), MSG_NOSIGNAL), sizeof(hello));
	return fd;
}

static bool is_closed(int fd)
{
	char c;
	ssize_t n = recv(fd, &c, 1, MSG_DONTWAIT | MSG_PEEK);
	return n == 0 || (n < 0 && errno != EAGAIN);
}

static void a_handshake_has_the_time_of_a_request(void **state)
{
	(void)state;
	struct connections_limits limits = {64, 64, 400, 600000};
	struct tls *tls = load();
	struct server s = server_start(tls, &limits);
	tls_free(tls);
	unsigned sockets = server_sockets(&s);
	int fd = stall(&s);
	double began = ev_time(), gone = 0;
	for (int i = 0; i < 2000 && gone == 0; i++) {
		(void)!send(fd, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
		usleep(20000);
		if (is_closed(fd))
			gone = ev_time() - began;
	}
	assert_true(gone >= 0.35);
	assert_true(sockets_come_to(&s, sockets)); /* not only shut down */
	close(fd);
	server_stop(&s);
}

static void assert_idles(const struct server *s)
{
	usleep(200000);
	long before = server_cpu_ticks(s);
	usleep(800000);
	assert_in_range(server_cpu_ticks(s) - before, 0, sysconf(_SC_CLK_TCK) / 5);
}

/* libmicrohttpd asks to be run again at once while a handshake waits for bytes. */
static void a_handshake_that_stalls_costs_no_cpu(void **state)
{
	(void)state;
	struct connections_limits limits = {64, 64, 60000, 60000};
	struct tls *tls = load();
	struct server s = server_start(tls, &limits);
	tls_free(tls);
	int fd = stall(&s);
	assert_idles(&s);
	close(fd);
	server_stop(&s);
}

static void ask_often(const struct server *s, unsigned n)
{
	struct buf body;
	char url[64];
	CURL *curl = curl_easy_init();
	snprintf(url, sizeof(url), "https://localhost:%d/healthz", s->port);
	buf_init(&body, 1 << 20);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
	curl_easy_setopt(curl, CURLOPT_CAINFO, file("ca.crt"));
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(curl_easy_perform(curl), CURLE_OK);
	curl_easy_cleanup(curl);
	buf_done(&body);
}

/* libmicrohttpd tries each of them in each of its turns, also in those of other clients. */
static void nor_do_many_beside_a_client_that_asks_often(void **state)
{
	(void)state;
	struct connections_limits limits = {64, 64, 60000, 60000};
	int slow[STALLED];
	struct tls *tls = load();
	tried = mmap(
		NULL, sizeof(*tried), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(tried, MAP_FAILED);
	struct server s = server_start(tls, &limits);
	tls_free(tls);
	double began = ev_time();
	for (int i = 0; i < STALLED; i++)
		slow[i] = stall(&s);
	ask_often(&s, 300);
	double turns = (ev_time() - began) * 1000. / 5 + 20;
	assert_in_range(*tried, STALLED, (unsigned)(turns * (STALLED + 1)));
	for (int i = 0; i < STALLED; i++)
		close(slow[i]);
	server_stop(&s);
	munmap(tried, sizeof(*tried));
	tried = NULL;
}

/* The handshake is behind it. */
static void nor_does_a_request_that_stalls(void **state)
{
	(void)state;
	static const char *const said[] = {
		"", "GET / HT", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"};
	struct connections_limits limits = {64, 64, 1500, 60000};
	for (size_t i = 0; i < COUNT(said); i++) {
		char command[200];
		struct tls *tls = load();
		struct server s = server_start(tls, &limits);
		tls_free(tls);
		unsigned sockets = server_sockets(&s);
		snprintf(command, sizeof(command),
			"exec openssl s_client -quiet -connect localhost:%d >/dev/null 2>&1",
			s.port);
		FILE *client = popen(command, "we");
		assert_non_null(client);
		fputs(said[i], client);
		fflush(client);
		for (int wait = 0; wait < 6000 && server_sockets(&s) == sockets; wait++)
			usleep(10000);
		assert_int_equal(server_sockets(&s), sockets + 1);
		assert_idles(&s);
		assert_true(sockets_come_to(&s, sockets));
		pclose(client);
		server_stop(&s);
	}
}

/* No time is over here: the share of the address alone makes room. */
static void handshakes_that_stall_keep_no_client_out(void **state)
{
	(void)state;
	struct connections_limits limits = {64, 16, 60000, 60000};
	char text[1000];
	int slow[SLOW];
	unsigned open = 0;
	struct tls *tls = load();
	struct server s = server_start(tls, &limits);
	tls_free(tls);
	struct trust ca = {.ca_file = file("ca.crt")};
	unsigned sockets = server_sockets(&s);
	for (unsigned i = 0; i < SLOW; i++)
		slow[i] = stall(&s);
	for (int i = 0; i < 4; i++)
		assert_int_equal(
			get(&s, "https://localhost", "/healthz", ca, text, sizeof(text)), 0);
	assert_true(sockets_come_to(&s, sockets + limits.each_address));
	for (unsigned i = 0; i < SLOW; i++) {
		open += !is_closed(slow[i]);
		close(slow[i]);
	}
	assert_in_range(open, 8, 16);
	server_stop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_certificate_from_files_is_served),
		cmocka_unit_test(a_client_takes_no_other_certificate),
		cmocka_unit_test(files_that_will_not_do_are_named),
		cmocka_unit_test(the_fingerprint_is_openssls),
		cmocka_unit_test(one_that_is_made_here_can_be_trusted_by_itself),
		cmocka_unit_test(it_is_made_for_the_names_that_it_is_told),
		cmocka_unit_test(a_handshake_has_the_time_of_a_request),
		cmocka_unit_test(a_handshake_that_stalls_costs_no_cpu),
		cmocka_unit_test(nor_do_many_beside_a_client_that_asks_often),
		cmocka_unit_test(nor_does_a_request_that_stalls),
		cmocka_unit_test(handshakes_that_stall_keep_no_client_out),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
