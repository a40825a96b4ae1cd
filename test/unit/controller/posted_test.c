/*
 * What is posted to a port: who may, how much, and what becomes of half a body. Over a real socket,
 * client and server on one loop.
 */
#include "controller/net/http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <ev.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 64 * 1024 };

static struct {
	unsigned asked, answered, refused;
	unsigned status; /* of the last that was refused */
	char client[HTTP_CLIENT_SIZE];
	size_t length; /* of the last body */
	char begins[32];
	bool keep;
	auth_verdict_fn *fn; /* of a caller that waits */
	void *fn_ctx;
} told;

static struct http_rights rights(const struct http_question *q, const char *path)
{
	(void)q;
	(void)path;
	return (struct http_rights){.must = {"post", "", "samples", ""}};
}

static enum auth_verdict ask(const struct auth_caller *caller, const struct right *right,
	auth_verdict_fn *fn, void *fn_ctx, void *ctx)
{
	(void)right;
	(void)ctx;
	told.asked++;
	told.fn = fn;
	told.fn_ctx = fn_ctx;
	if (strcmp(caller->token, "later") == 0)
		return AUTH_LATER;
	return strcmp(caller->token, "good") == 0 ? AUTH_ALLOWED : AUTH_STRANGER;
}

static bool take(struct http_question *q, const char *path, void *ctx)
{
	struct buf body;
	struct slice posted = http_body(q);
	(void)ctx;
	told.answered++;
	told.length = posted.len;
	snprintf(told.begins, sizeof(told.begins), "%.*s", (int)posted.len, posted.ptr);
	if (told.keep)
		http_keep(q, 0);
	buf_init(&body, 100);
	buf_printf(&body, "%s %zu", path, posted.len);
	http_answer(q, (struct http_reply){200, "text/plain"}, &body);
	buf_done(&body);
	return true;
}

static void refused(const struct http_question *q, unsigned status, const char *sentence, void *ctx)
{
	(void)ctx;
	assert_true(strlen(sentence) > 0);
	told.refused++;
	told.status = status;
	http_client(q, told.client);
}

struct port {
	struct ev_loop *loop;
	struct http *http;
};

static void port_open(struct port *p, int64_t request_ms)
{
	struct err e = {""};
	struct http_options o = {
		.host = "127.0.0.1",
		.trust_nobody = true,
		.clients_stay = true,
		.limits = {1024, 1024, request_ms, 60000},
		.posts = {"/sample", MOST},
		.rights = rights,
		.ask = ask,
		.defer = take,
		.refused = refused,
	};
	memset(&told, 0, sizeof(told));
	*p = (struct port){.loop = ev_loop_new(EVFLAG_AUTO)};
	assert_int_equal(http_new(p->loop, &o, &p->http, &e), 0);
}

static void port_close(struct port *p)
{
	http_free(p->http);
	ev_loop_destroy(p->loop);
}

static int port_connect(const struct port *p)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(http_port(p->http))};
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void say(int fd, const char *text, size_t len)
{
	assert_int_equal(send(fd, text, len, MSG_NOSIGNAL), len);
}

/* Turns the loop until the server closes or `until` was read. True: it closed. */
static bool hear(struct port *p, int fd, const char *until, char *ret, size_t size)
{
	size_t len = 0;
	ret[0] = '\0';
	for (int turns = 0; turns < 4000; turns++) {
		ev_run(p->loop, EVRUN_NOWAIT);
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		poll(&wait, 1, 5);
		ssize_t n = recv(fd, ret + len, size - 1 - len, MSG_DONTWAIT);
		if (n > 0)
			len += (size_t)n;
		ret[len] = '\0';
		if (until && strstr(ret, until))
			return false;
		if (n == 0 || (n < 0 && errno != EAGAIN))
			return true;
	}
	fail_msg("no answer; so far: %s", ret);
	return false;
}

static void say_head(
	int fd, const char *method, const char *path, const char *token, const char *lines)
{
	char head[1024];
	int n = snprintf(head, sizeof(head),
		"%s %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n%s\r\n", method, path,
		token, lines);
	say(fd, head, (size_t)n);
}

static int status_of(const char *answer)
{
	assert_int_equal(strncmp(answer, "HTTP/1.1 ", 9), 0);
	return atoi(answer + 9);
}

/* ---- what is taken --------------------------------------------------------------------------- */

struct head_case {
	const char *name, *method, *path, *token, *lines, *body;
	int status;
	const char *says;
	unsigned asked;
};

static const struct head_case heads[] = {
	{"a body", "POST", "/sample", "good", "Content-Length: 3\r\n", "abc", 200, "/sample 3", 1},
	{"an empty one", "POST", "/sample", "good", "Content-Length: 0\r\n", "", 200, "/sample 0",
		1},
	{"no body where none belongs", "GET", "/orders", "good", "", "", 200, "/orders 0", 1},
	{"a path that takes no POST", "POST", "/orders", "good", "Content-Length: 3\r\n", "abc",
		405, "Allow: GET, HEAD", 0},
	{"a path that takes nothing else", "GET", "/sample", "good", "", "", 405, "Allow: POST", 0},
	{"nor deletes", "DELETE", "/sample", "good", "", "", 405, "only POST", 0},
	{"a GET with a body", "GET", "/orders", "good", "Content-Length: 3\r\n", "abc", 413,
		"no body", 0},
	{"one of no length", "POST", "/sample", "good", "", "", 411, "Content-Length", 0},
	{"one in chunks", "POST", "/sample", "good", "Transfer-Encoding: chunked\r\n",
		"3\r\nabc\r\n0\r\n\r\n", 411, "Content-Length", 0},
	{"one byte too long", "POST", "/sample", "good", "Content-Length: 65537\r\n", "abc", 413,
		"too long", 0},
	{"10 MB", "POST", "/sample", "good", "Content-Length: 10000000\r\n", "abc", 413, "too long",
		0},
	{"longer than a number", "POST", "/sample", "good",
		"Content-Length: 18446744073709551615\r\n", "abc", 413, "", 0},
	{"of a stranger", "POST", "/sample", "bad", "Content-Length: 3\r\n", "", 401,
		"bearer token", 1},
	{"a NUL in a parameter", "POST", "/sample?x=a%00b", "good", "Content-Length: 3\r\n", "abc",
		400, "NUL", 0},
};

static void heads_say_what_is_taken(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		const struct head_case *c = &heads[i];
		struct port p;
		char answer[4096], lines[200];
		port_open(&p, 10000);
		int fd = port_connect(&p);
		snprintf(lines, sizeof(lines), "%sConnection: close\r\n", c->lines);
		say_head(fd, c->method, c->path, c->token, lines);
		say(fd, c->body, strlen(c->body));
		hear(&p, fd, NULL, answer, sizeof(answer));
		if (status_of(answer) != c->status || !strstr(answer, c->says))
			fail_msg("%s: %s", c->name, answer);
		assert_int_equal(told.asked, c->asked);
		assert_int_equal(told.answered, c->status == 200);
		/* What libmicrohttpd cannot count is refused by itself. */
		assert_true(told.refused == (c->status != 200) || strstr(c->name, "number"));
		if (told.refused) {
			assert_int_equal(told.status, c->status);
			assert_string_equal(told.client, "127.0.0.1");
		}
		close(fd);
		port_close(&p);
	}
}

static void a_long_body_comes_in_pieces(void **state)
{
	static char body[MOST];
	struct port p;
	char answer[4096];
	(void)state;
	port_open(&p, 10000);
	memset(body, 'x', sizeof(body));
	memcpy(body, "first", 5);
	int fd = port_connect(&p);
	say_head(fd, "POST", "/sample", "good", "Content-Length: 65536\r\n");
	for (size_t at = 0; at < sizeof(body); at += 4096) {
		say(fd, body + at, 4096);
		for (int i = 0; i < 5; i++)
			ev_run(p.loop, EVRUN_NOWAIT);
	}
	hear(&p, fd, "/sample 65536", answer, sizeof(answer));
	assert_int_equal(status_of(answer), 200);
	assert_int_equal(strncmp(told.begins, "firstx", 6), 0);
	/* The connection goes on. */
	say_head(fd, "POST", "/sample", "good", "Content-Length: 4\r\n");
	say(fd, "next", 4);
	hear(&p, fd, "/sample 4", answer, sizeof(answer));
	assert_string_equal(told.begins, "next");
	assert_int_equal(told.answered, 2);
	close(fd);
	port_close(&p);
}

/* Nothing of a body is read before it is known whose it is. */
static void the_sender_is_known_first(void **state)
{
	struct port p;
	char answer[4096];
	(void)state;
	port_open(&p, 10000);
	for (int good = 0; good < 2; good++) {
		int fd = port_connect(&p);
		say_head(fd, "POST", "/sample", "later",
			"Content-Length: 3\r\nConnection: close\r\n");
		say(fd, "abc", 3);
		told.fn = NULL;
		while (!told.fn)
			ev_run(p.loop, EVRUN_ONCE);
		for (int i = 0; i < 20; i++)
			ev_run(p.loop, EVRUN_NOWAIT);
		assert_int_equal(told.answered, 0);
		told.fn(good ? AUTH_ALLOWED : AUTH_REFUSED, told.fn_ctx);
		hear(&p, fd, NULL, answer, sizeof(answer));
		assert_int_equal(status_of(answer), good ? 200 : 403);
		close(fd);
	}
	assert_int_equal(told.answered, 1);
	assert_int_equal(told.length, 3);
	port_close(&p);
}

/* ---- what stays away ------------------------------------------------------------------------- */

/* Half a body ends its connection, also one that is kept and may be without a request for long. */
static void half_a_body_is_waited_for_as_a_request_is(void **state)
{
	struct port p;
	char answer[4096];
	(void)state;
	port_open(&p, 400);
	told.keep = true;
	int fd = port_connect(&p), quiet = port_connect(&p);
	for (int i = 0; i < 2; i++) {
		int each = i ? quiet : fd;
		say_head(each, "POST", "/sample", "good", "Content-Length: 3\r\n");
		while (told.asked <= (unsigned)i) /* the body comes for itself */
			ev_run(p.loop, EVRUN_ONCE);
		say(each, "abc", 3);
		hear(&p, each, "/sample 3", answer, sizeof(answer));
	}
	say_head(fd, "POST", "/sample", "good", "Content-Length: 300\r\n");
	say(fd, "half", 4);
	assert_true(hear(&p, fd, NULL, answer, sizeof(answer)));
	assert_string_equal(answer, "");
	assert_int_equal(told.answered, 2);
	/* The kept one that says nothing is still there. */
	say_head(quiet, "POST", "/sample", "good", "Content-Length: 5\r\n");
	say(quiet, "again", 5);
	hear(&p, quiet, "/sample 5", answer, sizeof(answer));
	close(fd);
	close(quiet);
	port_close(&p);
}

/* Bodies that do not come to an end take so much memory at most, and the oldest gives way: senders
 * that are slow on purpose keep nobody out. */
static void the_body_that_is_awaited_longest_gives_way(void **state)
{
	enum { FIT = POSTED_MAX_BYTES / MOST };
	struct port p;
	int fd[FIT];
	char answer[4096];
	(void)state;
	port_open(&p, 60000);
	for (unsigned i = 0; i < FIT; i++) {
		fd[i] = port_connect(&p);
		say_head(fd[i], "POST", "/sample", "good", "Content-Length: 65536\r\n");
		while (told.asked <= i)
			ev_run(p.loop, EVRUN_ONCE);
	}
	for (int i = 0; i < 3; i++) {
		int late = port_connect(&p);
		say_head(late, "POST", "/sample", "good", "Content-Length: 1\r\n");
		say(late, "x", 1);
		hear(&p, late, "/sample 1", answer, sizeof(answer));
		close(late);
	}
	assert_int_equal(told.refused, 0);
	/* One made room enough for all three; the next oldest still comes to its end. */
	assert_true(hear(&p, fd[0], NULL, answer, sizeof(answer)));
	static const char body[MOST];
	for (size_t at = 0; at < sizeof(body); at += 4096) {
		say(fd[1], body + at, 4096);
		ev_run(p.loop, EVRUN_NOWAIT);
	}
	hear(&p, fd[1], "/sample 65536", answer, sizeof(answer));
	for (int i = 0; i < FIT; i++)
		close(fd[i]);
	port_close(&p);
}

/* Many large bodies that do not come to an end, one after the other, end no small one: it may be
 * slow. */
static void a_small_body_stays(void **state)
{
	enum { FIT = POSTED_MAX_BYTES / MOST };
	struct port p;
	int fd[3 * FIT];
	char answer[4096];
	(void)state;
	port_open(&p, 60000);
	int small = port_connect(&p);
	say_head(small, "POST", "/sample", "good", "Content-Length: 4\r\n");
	while (told.asked < 1)
		ev_run(p.loop, EVRUN_ONCE);
	for (unsigned i = 0; i < 3 * FIT; i++) {
		fd[i] = port_connect(&p);
		say_head(fd[i], "POST", "/sample", "good", "Content-Length: 65536\r\n");
		while (told.asked <= i + 1)
			ev_run(p.loop, EVRUN_ONCE);
	}
	assert_int_equal(told.refused, 0);
	say(small, "slow", 4);
	hear(&p, small, "/sample 4", answer, sizeof(answer));
	assert_string_equal(told.begins, "slow");
	for (int i = 0; i < 3 * FIT; i++)
		close(fd[i]);
	close(small);
	port_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads_say_what_is_taken),
		cmocka_unit_test(a_long_body_comes_in_pieces),
		cmocka_unit_test(the_sender_is_known_first),
		cmocka_unit_test(half_a_body_is_waited_for_as_a_request_is),
		cmocka_unit_test(the_body_that_is_awaited_longest_gives_way),
		cmocka_unit_test(a_small_body_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
