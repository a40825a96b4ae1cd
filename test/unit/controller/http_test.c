/*
 * The HTTP port, asked over a real socket on loopback, client and server on one loop.
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
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* What the guard of the tests does: the token says it. */
struct guarded {
	auth_verdict_fn *fn; /* of the question that waits */
	void *ctx;
	unsigned asked;
};

struct port {
	struct http_question *question;
	struct http_stream *stream;
	unsigned drained, closed;
	char by[64];
	struct ev_loop *loop;
	struct http *http;
	struct guarded auth;
	unsigned answered;
};

enum { MUCH = 8 << 20 };

static struct http_reply answer(
	const struct http_question *q, const char *path, struct buf *out, void *ctx)
{
	static const char much[MUCH];
	struct port *p = ctx;
	p->answered++;
	const char *after = http_param(q, "after");
	if (strcmp(path, "/much") == 0)
		buf_add(out, much, sizeof(much));
	if (strcmp(path, "/long") == 0)
		buf_add(out, much, 4096);
	buf_printf(out, "path=%s after=%s%s", path, after ? after : "-",
		http_has_right(q) ? "" : " lacks=right");
	return (struct http_reply){200, "text/plain"};
}

/* Probes are for all, and a Job wants a right in its namespace. */
static struct http_rights rights(const struct http_question *q, const char *path)
{
	struct http_rights x = {.must = {"get", "sluice.dev", "clusterqueues", ""}};
	(void)q;
	x.open = strcmp(path, "/healthz") == 0 || strcmp(path, "/readyz") == 0;
	x.known = strcmp(path, "/known") == 0;
	if (sscanf(path, "/api/v1/jobs/%63[^/]/", x.must.ns) == 1)
		x.must.group = "batch", x.must.resource = "jobs";
	return x;
}

static void put_refusal(const struct right *r, struct buf *out)
{
	buf_puts(out, "this user may not ");
	right_describe(r, out);
	buf_puts(out, "; bind sluice-viewer");
}

/* Anna may read Jobs of a; who is in the group admins may do everything. */
static enum auth_verdict ask_named(const char *as, bool jobs_of_a)
{
	if (strstr(as, "\"admins\",\"system:authenticated\"]"))
		return AUTH_ALLOWED;
	return jobs_of_a && strstr(as, "\"user\":\"anna\"") ? AUTH_ALLOWED : AUTH_REFUSED;
}

static enum auth_verdict ask_auth(const struct auth_caller *caller, const struct right *right,
	auth_verdict_fn *fn, void *fn_ctx, void *ctx)
{
	struct port *p = ctx;
	const char *token = caller->token;
	struct buf wants;
	p->auth.asked++;
	buf_init(&wants, 256);
	right_describe(right, &wants);
	bool jobs_of_a = strcmp(buf_text(&wants), "get jobs.batch in namespace team-a") == 0;
	bool users = strcmp(buf_text(&wants), "impersonate users.visibility.sluice.dev") == 0;
	bool groups = strcmp(buf_text(&wants), "impersonate groups.visibility.sluice.dev") == 0;
	buf_done(&wants);
	if (caller->as)
		return ask_named(caller->as, jobs_of_a);
	if (users || groups)
		return strcmp(token, "proxy") == 0 || (users && strcmp(token, "poor-proxy") == 0)
			       ? AUTH_ALLOWED
			       : AUTH_REFUSED;
	if (strcmp(token, "user-of-a") == 0)
		return jobs_of_a ? AUTH_ALLOWED : AUTH_REFUSED;
	if (strcmp(token, "good") == 0)
		return AUTH_ALLOWED;
	if (strcmp(token, "other") == 0)
		return AUTH_REFUSED;
	if (strcmp(token, "later") != 0)
		return AUTH_STRANGER;
	p->auth.fn = fn;
	p->auth.ctx = fn_ctx;
	return AUTH_LATER;
}

static void on_closed(void *ctx)
{
	struct port *p = ctx;
	p->closed++;
	p->stream = NULL;
}

static void on_drained(void *ctx)
{
	((struct port *)ctx)->drained++;
}

static void begin_stream(struct port *p)
{
	struct http_stream_events events = {on_drained, on_closed, p};
	p->stream = http_stream(p->question, "application/json", &events);
}

static void answer_big(struct http_question *q)
{
	struct buf body;
	buf_init(&body, 8 << 20);
	buf_puts(&body, "{\"asOf\":\"2026-11-21T10:00:00Z\",\"l\":[");
	for (int i = 0; i < 50000; i++)
		buf_printf(&body, "%d,", i);
	buf_puts(&body, "0]}");
	http_answer(q, (struct http_reply){200, "application/json"}, &body);
	buf_done(&body);
}

/* "/big" is answered while it is asked, "/big-later" by the test, both by more than is packed at once.
 * "/now" is answered while it is asked ("/kept" on a connection that is kept), "/later" when the test says so, "/stream" by a stream. */
static bool defer(struct http_question *q, const char *path, void *ctx)
{
	struct port *p = ctx;
	const char *by = http_param(q, "by");
	bool is_kept = strcmp(path, "/kept") == 0;
	if (strcmp(path, "/file") == 0) {
		http_answer_file(q, "text/css", slice_of("a file"));
		return true;
	}
	if (strncmp(path, "/big", 4) == 0) {
		p->question = q;
		if (strcmp(path, "/big") == 0)
			answer_big(q);
		return true;
	}
	if (strncmp(path, "/json", 5) == 0) {
		struct buf body;
		buf_init(&body, 100);
		buf_printf(&body, "{\"asOf\":\"2026-11-21T10:00:%02uZ\",\"l\":[%s]}", p->answered++,
			by ? by : "");
		if (strcmp(path, "/json-own") == 0)
			http_tag(q, "W/\"own\"");
		if (strcmp(path, "/json-none") == 0)
			http_tag(q, "");
		bool fails = strcmp(path, "/json-fails") == 0;
		http_answer(q, (struct http_reply){fails ? 503 : 200, "application/json"}, &body);
		buf_done(&body);
		return true;
	}
	if (strcmp(path, "/now") != 0 && strcmp(path, "/later") != 0 &&
		strcmp(path, "/stream") != 0 && !is_kept)
		return false;
	if (is_kept)
		http_keep(q, 0);
	snprintf(p->by, sizeof(p->by), "%s", by ? by : "(none)");
	p->question = q;
	if (strcmp(path, "/stream") == 0)
		begin_stream(p);
	if (strcmp(path, "/now") == 0 || is_kept) {
		struct buf body;
		buf_init(&body, 100);
		buf_puts(&body, "at once");
		http_answer(q, (struct http_reply){200, "text/plain"}, &body);
		buf_done(&body);
	}
	return true;
}

static void port_open_at(struct port *p, bool trust_nobody, const struct connections_limits *limits,
	struct listener_pace pace)
{
	*p = (struct port){.loop = ev_loop_new(EVFLAG_AUTO)};
	struct http_options o = {
		.host = "127.0.0.1",
		.limits = *limits,
		.pace = pace,
		.trust_nobody = trust_nobody,
		.rights = rights,
		.put_refusal = put_refusal,
		.names_users = {"impersonate", "visibility.sluice.dev", "users", ""},
		.names_groups = {"impersonate", "visibility.sluice.dev", "groups", ""},
		.answer = answer,
		.defer = defer,
		.ask = ask_auth,
		.ctx = p,
	};
	struct err e = {""};
	assert_int_equal(http_new(p->loop, &o, &p->http, &e), 0);
	assert_true(http_port(p->http) > 0);
}

static void port_open_with(
	struct port *p, bool trust_nobody, const struct connections_limits *limits)
{
	port_open_at(p, trust_nobody, limits, (struct listener_pace){0});
}

static void port_open(struct port *p, bool trust_nobody)
{
	port_open_with(p, trust_nobody, &HTTP_LIMITS);
}

static void port_close(struct port *p)
{
	http_free(p->http);
	ev_loop_destroy(p->loop);
}

/* From 127.0.0.N. */
static int port_connect_from(const struct port *p, unsigned n)
{
	struct sockaddr_in from = {.sin_family = AF_INET};
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(http_port(p->http))};
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	from.sin_addr.s_addr = htonl(0x7F000000 + n);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static int port_connect(const struct port *p)
{
	return port_connect_from(p, 1);
}

static void port_say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Turns the loop until the server closes or `until` was read; the answer is in ret. */
static void port_hear(struct port *p, int fd, const char *until, char *ret, size_t size)
{
	size_t len = 0;
	ret[0] = '\0';
	for (int turns = 0; turns < 24000; turns++) {
		ev_run(p->loop, EVRUN_NOWAIT);
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		poll(&wait, 1, 5);
		ssize_t n = recv(fd, ret + len, size - 1 - len, MSG_DONTWAIT);
		if (n > 0)
			len += (size_t)n;
		ret[len] = '\0';
		if (n == 0 || (n < 0 && errno != EAGAIN) || (until && strstr(ret, until)))
			return;
	}
	fail_msg("no answer; so far: %s", ret);
}

/* One request of its own; lines: more headers. Returns the status. */
static int port_ask(struct port *p, const char *method, const char *path, const char *lines,
	char *ret, size_t size)
{
	char request[4096];
	int fd = port_connect(p);
	snprintf(request, sizeof(request), "%s %s HTTP/1.1\r\n%sConnection: close\r\n\r\n", method,
		path, lines);
	port_say(fd, request);
	port_hear(p, fd, NULL, ret, size);
	close(fd);
	assert_int_equal(strncmp(ret, "HTTP/1.1 ", 9), 0);
	return atoi(ret + 9);
}

struct request_case {
	const char *name;
	bool trust_nobody;
	const char *method, *path, *lines;
	int status;
	const char *says;
};

#define LOCAL "Host: 127.0.0.1:8080\r\n"

static const struct request_case cases[] = {
	{"loopback reads everything", false, "GET", "/api/v1/queues", LOCAL, 200,
		"path=/api/v1/queues after=-"},
	{"a query is handed on", false, "GET", "/api/v1/decisions?after=17", LOCAL, 200,
		"after=17"},
	{"localhost is a name for it too", false, "GET", "/", "Host: LocalHost\r\n", 200, "path=/"},
	{"and so is ::1", false, "GET", "/", "Host: [::1]:80\r\n", 200, "path=/"},
	{"another name is a web page's trick", false, "GET", "/", "Host: evil.example\r\n", 421,
		"by its address"},
	{"even one that looks like an address", false, "GET", "/",
		"Host: 127.0.0.1.evil.example\r\n", 421, "by its address"},
	{"open paths do not care", false, "GET", "/readyz", "Host: evil.example\r\n", 200,
		"path=/readyz"},
	{"HEAD has no body", false, "HEAD", "/healthz", LOCAL, 200, "Content-Length"},
	{"nothing can be written", false, "POST", "/api/v1/queues", LOCAL, 405, "Allow: GET, HEAD"},
	{"nor deleted", false, "DELETE", "/healthz", LOCAL, 405, "only GET"},
	{"a body is refused before it is read", false, "GET", "/",
		LOCAL "Content-Length: 100000\r\n", 413, "no body"},
	{"and a chunked one", false, "GET", "/", LOCAL "Transfer-Encoding: chunked\r\n", 413,
		"no body"},
	{"open to strangers: /healthz", true, "GET", "/healthz", LOCAL, 200, "path=/healthz"},
	{"and no more: /metrics", true, "GET", "/metrics", LOCAL, 401, "Bearer TOKEN"},
	{"which loopback reads", false, "GET", "/metrics", LOCAL, 200, "path=/metrics"},
	{"loopback with a token is its owner: who may not", false, "GET", "/",
		LOCAL "Authorization: Bearer other\r\n", 403, "sluice-viewer"},
	{"nobody", false, "GET", "/api/v1/queues", LOCAL "Authorization: Bearer x\r\n", 401,
		"does not know"},
	{"a viewer", false, "GET", "/api/v1/queues", LOCAL "Authorization: Bearer good\r\n", 200,
		"path="},
	{"a user of one namespace: a Job in it", true, "GET", "/api/v1/jobs/team-a/x",
		LOCAL "Authorization: Bearer user-of-a\r\n", 200, "path=/api/v1/jobs/team-a/x"},
	{"in another one", true, "GET", "/api/v1/jobs/team-b/x",
		LOCAL "Authorization: Bearer user-of-a\r\n", 403,
		"may not get jobs.batch in namespace team-b"},
	{"the queues", true, "GET", "/api/v1/queues", LOCAL "Authorization: Bearer user-of-a\r\n",
		403, "may not get clusterqueues.sluice.dev"},
	{"a stranger without a token", true, "GET", "/api/v1/queues", LOCAL, 401,
		"WWW-Authenticate: Bearer"},
	{"with another scheme", true, "GET", "/", LOCAL "Authorization: Basic Z29vZA==\r\n", 401,
		"Bearer TOKEN"},
	{"with a good token", true, "GET", "/", LOCAL "Authorization: Bearer good\r\n", 200,
		"path=/"},
	{"the scheme in other letters", true, "GET", "/", LOCAL "Authorization: bearer good\r\n",
		200, "path=/"},
	{"somebody who may not", true, "GET", "/", LOCAL "Authorization: Bearer other\r\n", 403,
		"sluice-viewer"},
	{"nobody's token", true, "GET", "/", LOCAL "Authorization: Bearer x\r\n", 401,
		"does not know"},
	{"an empty token", true, "GET", "/", LOCAL "Authorization: Bearer \r\n", 401, ""},
	{"a proxy names a user: she may", true, "GET", "/api/v1/jobs/team-a/x",
		LOCAL "Authorization: Bearer proxy\r\nX-Remote-User: anna\r\n", 200, "path="},
	{"and may not", true, "GET", "/api/v1/queues",
		LOCAL "Authorization: Bearer proxy\r\nX-Remote-User: anna\r\n", 403,
		"may not get clusterqueues"},
	{"her group may", true, "GET", "/api/v1/queues",
		LOCAL "Authorization: Bearer proxy\r\nX-Remote-User: anna\r\n"
		      "X-Remote-Group: dev\r\nX-Remote-Group: admins\r\n",
		200, "path="},
	{"who is no proxy names nobody", true, "GET", "/api/v1/queues",
		LOCAL "Authorization: Bearer good\r\nX-Remote-User: anna\r\n", 403,
		"may not impersonate users.visibility.sluice.dev"},
	{"who may name users names no groups", true, "GET", "/api/v1/queues",
		LOCAL "Authorization: Bearer poor-proxy\r\nX-Remote-User: anna\r\n"
		      "X-Remote-Group: admins\r\n",
		403, "may not impersonate groups.visibility.sluice.dev"},
	{"a proxy shows a token", true, "GET", "/api/v1/queues", LOCAL "X-Remote-User: anna\r\n",
		401, "Bearer TOKEN"},
	{"but for one in this pod", false, "GET", "/api/v1/jobs/team-a/x",
		LOCAL "X-Remote-User: anna\r\n", 200, "path="},
	{"whose users have their own rights", false, "GET", "/api/v1/queues",
		LOCAL "X-Remote-User: anna\r\n", 403, "may not get clusterqueues"},
	{"two users are none", false, "GET", "/api/v1/queues",
		LOCAL "X-Remote-User: anna\r\nX-Remote-User: berta\r\n", 400, "twice"},
	{"groups of nobody", false, "GET", "/api/v1/queues", LOCAL "X-Remote-Group: admins\r\n",
		400, "names nobody"},
	{"an empty user", false, "GET", "/api/v1/queues", LOCAL "X-Remote-User:\r\n", 400,
		"names nobody"},
	{"the cluster's own groups are not for a proxy", false, "GET", "/api/v1/queues",
		LOCAL "X-Remote-User: anna\r\nX-Remote-Group: system:masters\r\n", 400,
		"system:masters"},
	{"nor its users", false, "GET", "/api/v1/queues", LOCAL "X-Remote-User: system:admin\r\n",
		400, "belongs to the cluster"},
	{"a quote ends no name", false, "GET", "/api/v1/queues",
		LOCAL "X-Remote-User: x\",\"groups\":[\"admins\r\n", 403, "may not get"},
	{"a parameter does not end in its midst", false, "GET", "/api/v1/decisions?after=1%007",
		LOCAL, 400, "NUL"},
	{"nor does a parameter's name", false, "GET", "/api/v1/decisions?after%00x=17", LOCAL, 400,
		"NUL"},
	{"a parameter has one name to the letter", false, "GET",
		"/api/v1/decisions?After=16&after=17&after=18", LOCAL, 200, "after=17"},
	{"the page's own scripts ask", false, "GET", "/api/v1/queues",
		LOCAL "Sec-Fetch-Site: same-origin\r\n", 200, "path="},
	{"and who writes the address", false, "GET", "/api/v1/queues",
		LOCAL "Sec-Fetch-Site: none\r\n", 200, "path="},
	{"another site's page does not, through a port-forward", false, "GET", "/api/v1/queues",
		LOCAL "Sec-Fetch-Site: cross-site\r\n", 403, "another site"},
	{"nor a neighbour's, through a proxy", true, "GET", "/api/v1/jobs/team-a/x",
		LOCAL "Authorization: Bearer proxy\r\nX-Remote-User: anna\r\n"
		      "Sec-Fetch-Site: same-site\r\n",
		403, "another site"},
	{"it may lead to what is open", false, "GET", "/healthz",
		LOCAL "Sec-Fetch-Site: cross-site\r\n", 200, "path="},
	{"what is for all who are known: she may", true, "GET", "/known",
		LOCAL "Authorization: Bearer good\r\n", 200, "after=-"},
	{"and one who may not is told so", true, "GET", "/known",
		LOCAL "Authorization: Bearer other\r\n", 200, "lacks=right"},
	{"as is the user of a proxy", true, "GET", "/known",
		LOCAL "Authorization: Bearer proxy\r\nX-Remote-User: anna\r\n", 200, "lacks=right"},
	{"but no proxy is none", true, "GET", "/known",
		LOCAL "Authorization: Bearer other\r\nX-Remote-User: anna\r\n", 403,
		"may not impersonate"},
	{"nor is a stranger", true, "GET", "/known", LOCAL "Authorization: Bearer x\r\n", 401,
		"does not know"},
	{"nor somebody without a token", true, "GET", "/known", LOCAL, 401, "Bearer TOKEN"},
	{"loopback is not asked", false, "GET", "/known", LOCAL, 200, "after=-"},
	{"half of a path's name is not the path", true, "GET", "/healthz%00/x", LOCAL, 200, ""},
};

static void each_caller_gets_what_is_his(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct request_case *c = &cases[i];
		struct port p;
		char text[8192];
		print_message("  %s\n", c->name);
		port_open(&p, c->trust_nobody);
		int status = port_ask(&p, c->method, c->path, c->lines, text, sizeof(text));
		if (status != c->status || !strstr(text, c->says))
			fail_msg("%d: %s", status, text);
		if (strcmp(c->method, "HEAD") == 0)
			assert_null(strstr(text, "path="));
		assert_int_equal(p.answered, status == 200 ? 1 : 0);
		port_close(&p);
	}
}

static void gzip_is_for_who_takes_it(void **state)
{
	(void)state;
	struct port p;
	char text[8192];
	port_open(&p, false);
	assert_int_equal(
		port_ask(&p, "GET", "/long", LOCAL "Accept-Encoding: gzip\r\n", text, sizeof(text)),
		200);
	assert_non_null(strstr(text, "Content-Encoding: gzip\r\n"));
	assert_non_null(strstr(text, "Vary: Accept-Encoding\r\n"));
	const char *length = strstr(text, "Content-Length: ");
	assert_non_null(length);
	assert_in_range(atoi(length + strlen("Content-Length: ")), 50, 150);
	assert_int_equal(port_ask(&p, "GET", "/long", LOCAL, text, sizeof(text)), 200);
	assert_null(strstr(text, "Content-Encoding"));
	assert_non_null(strstr(text, "Content-Length: 41"));
	port_close(&p);
}

static void a_file_is_fetched_once(void **state)
{
	(void)state;
	struct port p;
	char text[8192], lines[200], tag[60];
	port_open(&p, false);
	assert_int_equal(port_ask(&p, "GET", "/file", LOCAL, text, sizeof(text)), 200);
	assert_non_null(strstr(text, "a file"));
	assert_non_null(strstr(text, "Cache-Control: no-cache\r\n"));
	const char *named = strstr(text, "ETag: ");
	assert_non_null(named);
	assert_int_equal(sscanf(named, "ETag: %59s", tag), 1);
	snprintf(lines, sizeof(lines), LOCAL "If-None-Match: %s\r\n", tag);
	assert_int_equal(port_ask(&p, "GET", "/file", lines, text, sizeof(text)), 304);
	assert_null(strstr(text, "a file"));
	assert_int_equal(port_ask(&p, "GET", "/now", LOCAL, text, sizeof(text)), 200);
	assert_non_null(strstr(text, "Cache-Control: no-store\r\n"));
	assert_null(strstr(text, "ETag"));
	port_close(&p);
}

/* What a careless proxy hands on: lines that end where it saw no end. */
static void turn(struct port *p, int ms);

/* Takes the ETag out of an answer. */
static void take_tag(const char *answer, char ret[60])
{
	const char *at = strstr(answer, "ETag: ");
	assert_non_null(at);
	assert_int_equal(sscanf(at, "ETag: %59[^\r]", ret), 1);
}

/* Who may not have it is refused before anybody looks at what was said last. */
static void an_answer_that_is_the_same_is_not_sent_again(void **state)
{
	(void)state;
	struct port p;
	char text[8192], lines[300], tag[60];
	port_open(&p, true);
#define GOOD LOCAL "Authorization: Bearer good\r\n"
	assert_int_equal(port_ask(&p, "GET", "/json", GOOD, text, sizeof(text)), 200);
	take_tag(text, tag);
	assert_non_null(strstr(text, "Cache-Control: no-store\r\n"));
	assert_non_null(strstr(text, "\"l\":[]"));
	snprintf(lines, sizeof(lines), GOOD "If-None-Match: %s\r\n", tag);
	assert_int_equal(port_ask(&p, "GET", "/json", lines, text, sizeof(text)), 304);
	assert_null(strstr(text, "asOf")); /* which is another by now */
	assert_non_null(strstr(text, tag));
	assert_non_null(strstr(text, "Cache-Control: no-store\r\n"));
	assert_int_equal(port_ask(&p, "GET", "/json?by=1", lines, text, sizeof(text)), 200);
	assert_non_null(strstr(text, "\"l\":[1]"));
	snprintf(lines, sizeof(lines), LOCAL "Authorization: Bearer other\r\nIf-None-Match: %s\r\n",
		tag);
	assert_int_equal(port_ask(&p, "GET", "/json", lines, text, sizeof(text)), 403);
	assert_null(strstr(text, "ETag"));
	assert_int_equal(
		port_ask(&p, "GET", "/json", LOCAL "If-None-Match: *\r\n", text, sizeof(text)),
		401);
	port_close(&p);
}

#define GZIP LOCAL "Accept-Encoding: gzip\r\n"

static void expect_packed(const char *answer, const char *tag)
{
	char own[60];
	take_tag(answer, own);
	assert_string_equal(own, tag);
	assert_non_null(strstr(answer, "Content-Encoding: gzip\r\n"));
	int length = atoi(strstr(answer, "Content-Length: ") + strlen("Content-Length: "));
	assert_in_range(length, 1000, 150000);
}

/* It waits until all slices are packed, and has the tag of its text. */
static void a_large_answer_is_packed_in_slices(void **state)
{
	(void)state;
	static char text[1 << 20];
	struct port p;
	char lines[300], tag[60];
	port_open(&p, false);
	assert_int_equal(port_ask(&p, "GET", "/big", LOCAL, text, sizeof(text)), 200);
	assert_null(strstr(text, "Content-Encoding"));
	assert_non_null(strstr(text, "\"l\":[0,1,2"));
	take_tag(text, tag);
	assert_int_equal(port_ask(&p, "GET", "/big", GZIP, text, sizeof(text)), 200);
	expect_packed(text, tag);
	snprintf(lines, sizeof(lines), GZIP "If-None-Match: %s\r\n", tag);
	assert_int_equal(port_ask(&p, "GET", "/big", lines, text, sizeof(text)), 304);
	/* Answered later. */
	int fd = port_connect(&p);
	p.question = NULL;
	port_say(fd, "GET /big-later HTTP/1.1\r\n" GZIP "Connection: close\r\n\r\n");
	while (!p.question)
		turn(&p, 5);
	answer_big(p.question);
	port_hear(&p, fd, NULL, text, sizeof(text));
	expect_packed(text, tag);
	close(fd);
	port_close(&p);
}

static void one_that_goes_while_its_answer_is_packed_does_no_harm(void **state)
{
	(void)state;
	struct port p;
	static char text[1 << 20];
	port_open(&p, false);
	for (int i = 0; i < 3; i++) {
		int fd = port_connect(&p);
		p.question = NULL;
		port_say(fd, "GET /big-later HTTP/1.1\r\n" GZIP "\r\n");
		while (!p.question)
			turn(&p, 5);
		answer_big(p.question);
		close(fd);
		if (i == 0)
			assert_int_equal(
				port_ask(&p, "GET", "/big", GZIP, text, sizeof(text)), 200);
	}
	port_close(&p); /* over two that are not packed yet */
}

static void an_owner_may_set_the_tag(void **state)
{
	(void)state;
	struct port p;
	char text[8192];
	port_open(&p, false);
	assert_int_equal(port_ask(&p, "GET", "/json-own?by=2", LOCAL "If-None-Match: W/\"own\"\r\n",
				 text, sizeof(text)),
		304);
	assert_int_equal(
		port_ask(&p, "GET", "/json-none", LOCAL "If-None-Match: *\r\n", text, sizeof(text)),
		200);
	assert_null(strstr(text, "ETag"));
	assert_int_equal(port_ask(&p, "GET", "/json-fails", LOCAL "If-None-Match: *\r\n", text,
				 sizeof(text)),
		503);
	assert_null(strstr(text, "ETag"));
	port_close(&p);
}

static void no_header_is_smuggled_in(void **state)
{
	(void)state;
#define NAMED                                                                                      \
	"GET /api/v1/queues HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nX-Remote-User: anna"
#define RAW(name, text, status)                                                                    \
	{                                                                                          \
		name, text, sizeof(text) - 1, status                                               \
	}
	static const struct {
		const char *name, *request;
		size_t len;
		const char *status;
	} raw[] = {
		RAW("a bare CR begins no line", NAMED "\r\nX: a\rX-Remote-Group: admins\r\n\r\n",
			"403"),
		RAW("nor does a folded line", NAMED "\r\nX: a\r\n X-Remote-Group: admins\r\n\r\n",
			"403"),
		RAW("a space before the colon", NAMED "\r\nX-Remote-Group : admins\r\n\r\n", "403"),
	};
	for (size_t i = 0; i < sizeof(raw) / sizeof(raw[0]); i++) {
		struct port p;
		char text[8192];
		print_message("  %s\n", raw[i].name);
		port_open(&p, false);
		int fd = port_connect(&p);
		assert_int_equal(send(fd, raw[i].request, raw[i].len, MSG_NOSIGNAL), raw[i].len);
		port_hear(&p, fd, NULL, text, sizeof(text));
		assert_int_equal(strncmp(text + strlen("HTTP/1.1 "), raw[i].status, 3), 0);
		close(fd);
		port_close(&p);
	}
}

static void a_connection_sleeps_until_the_guard_has_spoken(void **state)
{
	(void)state;
	static const struct {
		enum auth_verdict verdict;
		const char *status;
	} verdicts[] = {{AUTH_ALLOWED, "HTTP/1.1 200"}, {AUTH_STRANGER, "HTTP/1.1 401"},
		{AUTH_REFUSED, "HTTP/1.1 403"}, {AUTH_UNKNOWN, "HTTP/1.1 503"}};
	for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
		struct port p;
		char text[8192];
		port_open(&p, true);
		int fd = port_connect(&p);
		port_say(fd, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
			     "Authorization: Bearer later\r\n\r\n");
		while (!p.auth.fn)
			ev_run(p.loop, EVRUN_ONCE);
		/* Others are served meanwhile. */
		assert_int_equal(port_ask(&p, "GET", "/healthz", LOCAL, text, sizeof(text)), 200);
		assert_true(recv(fd, text, 1, MSG_DONTWAIT) < 0);
		p.auth.fn(verdicts[i].verdict, p.auth.ctx);
		port_hear(&p, fd, NULL, text, sizeof(text));
		assert_int_equal(strncmp(text, verdicts[i].status, 12), 0);
		assert_int_equal(p.auth.asked, 1);
		close(fd);
		port_close(&p);
	}
}

static void a_caller_may_leave_before_the_verdict(void **state)
{
	(void)state;
	struct port p;
	char text[8192];
	port_open(&p, true);
	int fd = port_connect(&p);
	port_say(fd, "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer later\r\n\r\n");
	while (!p.auth.fn)
		ev_run(p.loop, EVRUN_ONCE);
	close(fd);
	for (int i = 0; i < 20; i++)
		ev_run(p.loop, EVRUN_NOWAIT);
	p.auth.fn(AUTH_ALLOWED, p.auth.ctx);
	assert_int_equal(port_ask(&p, "GET", "/healthz", LOCAL, text, sizeof(text)), 200);
	port_close(&p);
}

static void the_port_can_close_over_a_sleeper(void **state)
{
	(void)state;
	struct port p;
	port_open(&p, true);
	int fd = port_connect(&p);
	port_say(fd, "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer later\r\n\r\n");
	while (!p.auth.fn)
		ev_run(p.loop, EVRUN_ONCE);
	port_close(&p);
	close(fd);
}

static void a_connection_serves_many_requests(void **state)
{
	(void)state;
	struct port p;
	char text[8192];
	port_open(&p, false);
	int fd = port_connect(&p);
	for (int i = 0; i < 20; i++) {
		char request[200], wanted[50];
		snprintf(request, sizeof(request),
			"GET /api/v1/decisions?after=%d HTTP/1.1\r\n" LOCAL "\r\n", i);
		snprintf(wanted, sizeof(wanted), "after=%d", i);
		port_say(fd, request);
		port_hear(&p, fd, wanted, text, sizeof(text));
	}
	assert_int_equal(p.answered, 20);
	close(fd);
	port_close(&p);
}

static void headers_without_end_are_refused(void **state)
{
	(void)state;
	struct port p;
	char text[8192], line[1024];
	port_open(&p, false);
	int fd = port_connect(&p);
	port_say(fd, "GET / HTTP/1.1\r\n" LOCAL);
	memset(line, 'x', sizeof(line));
	memcpy(line, "X: ", 3);
	memcpy(line + sizeof(line) - 3, "\r\n", 3);
	for (int i = 0; i < 100; i++) {
		if (send(fd, line, sizeof(line) - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			break;
		ev_run(p.loop, EVRUN_NOWAIT);
	}
	port_hear(&p, fd, NULL, text, sizeof(text));
	assert_true(text[0] == '\0' || strstr(text, "431") || strstr(text, "413"));
	assert_int_equal(p.answered, 0);
	close(fd);
	port_close(&p);
}

/* ---- connections that do not want to end ----------------------------------------------------- */

static void turn(struct port *p, int ms)
{
	double until = ev_time() + ms / 1000.;
	do {
		ev_run(p->loop, EVRUN_NOWAIT);
		usleep(1000);
	} while (ev_time() < until);
}

static bool is_closed(int fd)
{
	char c;
	ssize_t n = recv(fd, &c, 1, MSG_DONTWAIT | MSG_PEEK);
	return n == 0 || (n < 0 && errno != EAGAIN);
}

/* A byte more of a request that never ends. */
static void drip(int fd)
{
	(void)!send(fd, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

enum { SLOW = 300, PROBES = 8 };

/* From `addresses` of them; 127.0.0.1 is the prober's own. */
static void play_slow_clients(unsigned addresses, unsigned most)
{
	struct port p;
	char text[8192];
	int slow[SLOW];
	unsigned open = 0;
	port_open(&p, false);
	for (unsigned i = 0; i < SLOW; i++) {
		slow[i] = port_connect_from(&p, 1 + i % addresses);
		port_say(slow[i], "GET /healthz HTTP/1.1\r\nX: ");
	}
	for (int i = 0; i < PROBES; i++) {
		for (unsigned k = 0; k < SLOW; k++) {
			drip(slow[k]);
			if (!is_closed(slow[k]))
				continue;
			close(slow[k]); /* it comes back, as soon as it is ended */
			slow[k] = port_connect_from(&p, 1 + k % addresses);
			drip(slow[k]);
		}
		turn(&p, 20);
		assert_int_equal(port_ask(&p, "GET", "/healthz", LOCAL, text, sizeof(text)), 200);
	}
	assert_int_equal(p.answered, PROBES);
	turn(&p, 20);
	for (int i = 0; i < SLOW; i++) {
		open += !is_closed(slow[i]);
		close(slow[i]);
	}
	assert_in_range(open, most - 1, most); /* the last probe had one's place */
	port_close(&p);
}

static void slow_clients_keep_nobody_out(void **state)
{
	(void)state;
	play_slow_clients(1, HTTP_LIMITS.each_address);
	play_slow_clients(8, HTTP_LIMITS.all);
}

static void a_byte_does_not_begin_the_time_anew(void **state)
{
	(void)state;
	struct port p;
	struct connections_limits limits = {64, 64, 400, 10000};
	port_open_with(&p, false, &limits);
	int fd = port_connect(&p);
	port_say(fd, "GET /healthz HTTP/1.1\r\nX: ");
	double began = ev_time(), gone = 0;
	for (int i = 0; i < 100 && gone == 0; i++) {
		drip(fd);
		turn(&p, 20);
		if (is_closed(fd))
			gone = ev_time() - began;
	}
	assert_true(gone >= 0.4 && gone < 1.5);
	close(fd);
	port_close(&p);
}

static void an_address_fills_only_its_own_part(void **state)
{
	(void)state;
	struct port p;
	struct connections_limits limits = {64, 4, 60000, 60000};
	char text[8192];
	int many[10];
	port_open_with(&p, false, &limits);
	int other = port_connect_from(&p, 2);
	turn(&p, 10);
	for (int i = 0; i < 10; i++) {
		many[i] = port_connect(&p);
		turn(&p, 5);
	}
	turn(&p, 20);
	for (int i = 0; i < 10; i++) /* the last four are left */
		assert_int_equal(is_closed(many[i]), i < 6);
	assert_false(is_closed(other));
	port_say(other, "GET / HTTP/1.1\r\n" LOCAL "Connection: close\r\n\r\n");
	port_hear(&p, other, NULL, text, sizeof(text));
	assert_int_equal(strncmp(text, "HTTP/1.1 200", 12), 0);
	for (int i = 0; i < 10; i++)
		close(many[i]);
	close(other);
	port_close(&p);
}

static void a_request_is_not_ended_for_a_newcomer(void **state)
{
	(void)state;
	struct port p;
	struct connections_limits limits = {4, 4, 60000, 60000};
	struct buf body;
	char text[4096];
	int idle[20];
	port_open_with(&p, false, &limits);
	int fd = port_connect(&p);
	port_say(fd, "GET /later HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
	while (!p.question)
		ev_run(p.loop, EVRUN_ONCE);
	for (int i = 0; i < 20; i++) {
		idle[i] = port_connect(&p);
		turn(&p, 2);
	}
	buf_init(&body, 100);
	buf_puts(&body, "at last");
	http_answer(p.question, (struct http_reply){200, "text/plain"}, &body);
	buf_done(&body);
	port_hear(&p, fd, NULL, text, sizeof(text));
	assert_non_null(strstr(text, "at last"));
	for (int i = 0; i < 20; i++)
		close(idle[i]);
	close(fd);
	port_close(&p);
}

static void strangers_do_not_take_the_place_of_one_that_is_kept(void **state)
{
	(void)state;
	struct port p;
	struct connections_limits limits = {4, 4, 300, 60000};
	char text[4096];
	int idle[20];
	port_open_with(&p, false, &limits);
	int kept = port_connect(&p), other = port_connect(&p);
	port_say(kept, "GET /kept HTTP/1.1\r\nHost: localhost\r\n\r\n");
	port_hear(&p, kept, "at once", text, sizeof(text));
	port_say(other, "GET /now HTTP/1.1\r\nHost: localhost\r\n\r\n");
	port_hear(&p, other, "at once", text, sizeof(text));
	for (int i = 0; i < 20; i++) {
		idle[i] = port_connect(&p);
		port_say(idle[i], "GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n");
		turn(&p, 2);
	}
	assert_true(is_closed(other));
	assert_false(is_closed(kept));
	turn(&p, 700); /* more than the time for a request */
	port_say(kept, "GET /kept HTTP/1.1\r\nHost: localhost\r\n\r\n");
	port_hear(&p, kept, "at once", text, sizeof(text));
	for (int i = 0; i < 20; i++)
		close(idle[i]);
	close(other);
	close(kept);
	port_close(&p);
}

/* Many that wait for an answer, and read none. */
static void an_answer_that_is_not_fetched_has_its_time(void **state)
{
	(void)state;
	struct port p;
	struct connections_limits limits = {64, 64, 60000, 300};
	port_open_with(&p, false, &limits);
	int fd = port_connect(&p);
	port_say(fd, "GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n");
	while (!p.question)
		ev_run(p.loop, EVRUN_ONCE);
	turn(&p, 100);
	assert_false(is_closed(fd));
	turn(&p, 700);
	assert_true(is_closed(fd));
	close(fd);
	port_close(&p);
}

/* ---- more than may come at once -------------------------------------------------------------- */

enum { COME = 12, BURST = 4, EACH_SECOND = 20 };

static unsigned count_answered(const int fd[COME])
{
	unsigned n = 0;
	char c;
	for (int i = 0; i < COME; i++)
		n += recv(fd[i], &c, 1, MSG_DONTWAIT | MSG_PEEK) == 1;
	return n;
}

static void those_beyond_the_pace_wait_and_have_their_turn(void **state)
{
	(void)state;
	struct port p;
	struct listener_pace pace = {.each_second = EACH_SECOND, .burst = BURST};
	char text[4096];
	int fd[COME];
	port_open_at(&p, false, &HTTP_LIMITS, pace);
	int known = port_connect(&p);
	turn(&p, 20); /* it is in */
	double began = ev_time();
	for (int i = 0; i < COME; i++) {
		fd[i] = port_connect_from(&p, 2);
		port_say(fd[i], "GET /healthz HTTP/1.1\r\n" LOCAL "\r\n");
	}
	turn(&p, 50);
	assert_in_range(count_answered(fd), BURST - 1, BURST + 1);
	port_say(known, "GET /healthz HTTP/1.1\r\n" LOCAL "\r\n"); /* is not held up */
	port_hear(&p, known, "after=-", text, sizeof(text));
	assert_true(count_answered(fd) < COME);
	while (count_answered(fd) < COME)
		turn(&p, 5);
	assert_true(ev_time() - began >= (COME - BURST - 1) / (double)EACH_SECOND);
	turn(&p, 350); /* after a pause there is a burst again */
	int late[BURST];
	for (int i = 0; i < BURST; i++) {
		late[i] = port_connect_from(&p, 3);
		port_say(late[i], "GET /healthz HTTP/1.1\r\n" LOCAL "\r\n");
	}
	turn(&p, 20);
	for (int i = 0; i < BURST; i++) {
		char c;
		assert_int_equal(recv(late[i], &c, 1, MSG_DONTWAIT | MSG_PEEK), 1);
		close(late[i]);
	}
	for (int i = 0; i < COME; i++)
		close(fd[i]);
	close(known);
	port_close(&p);
}

/* Those that find no place in it are sent away, and an address that was not let in yet is next. */
static void in_a_waiting_room_addresses_have_turns(void **state)
{
	(void)state;
	struct port p;
	struct listener_pace pace = {.each_second = EACH_SECOND, .burst = BURST, .room = BURST};
	char text[4096];
	int fd[COME];
	unsigned gone = 0;
	port_open_at(&p, false, &HTTP_LIMITS, pace);
	for (int i = 0; i < COME; i++) {
		fd[i] = port_connect_from(&p, 2);
		port_say(fd[i], "GET /healthz HTTP/1.1\r\n" LOCAL "\r\n");
	}
	turn(&p, 50);
	int other = port_connect_from(&p, 3);
	port_say(other, "GET /healthz HTTP/1.1\r\n" LOCAL "\r\n");
	unsigned before = count_answered(fd);
	port_hear(&p, other, "after=-", text, sizeof(text));
	assert_in_range(count_answered(fd) - before, 0, BURST - 1);
	for (int i = 0; i < COME; i++) {
		gone += is_closed(fd[i]);
		close(fd[i]);
	}
	assert_in_range(gone, 1, COME - BURST);
	close(other);
	port_close(&p);
}

/* The loop must not spin, and clients come in as soon as it can have files again. */
static void without_a_file_left_clients_wait(void **state)
{
	(void)state;
	struct port p;
	struct rlimit before, none;
	char text[4096];
	port_open(&p, false);
	int fd = port_connect(&p);
	port_say(fd, "GET /healthz HTTP/1.1\r\n" LOCAL "\r\n");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){3, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	unsigned turns = ev_iteration(p.loop);
	for (double until = ev_time() + 0.35; ev_time() < until;)
		ev_run(p.loop, EVRUN_ONCE);
	turns = ev_iteration(p.loop) - turns;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_in_range(turns, 2, 20);
	port_hear(&p, fd, "after=-", text, sizeof(text));
	close(fd);
	port_close(&p);
}

/* ---- answers that go on ---------------------------------------------------------------------- */

static int stream_open(struct port *p, const char *path)
{
	char request[200];
	int fd = port_connect(p);
	snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
	p->question = NULL;
	port_say(fd, request);
	while (!p->question)
		ev_run(p->loop, EVRUN_ONCE);
	return fd;
}

static void a_stream_tells_what_is_written_at_once(void **state)
{
	(void)state;
	static const char *const paths[] = {"/stream", "/later"};
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct port p;
		char text[4096];
		port_open(&p, false);
		int fd = stream_open(&p, paths[i]);
		if (!p.stream)
			begin_stream(&p);
		port_hear(&p, fd, "\r\n\r\n", text, sizeof(text)); /* its client need not wait */
		assert_int_equal(strncmp(text, "HTTP/1.1 200", 12), 0);
		assert_non_null(strstr(text, "Content-Type: application/json"));
		turn(&p, 20);
		http_stream_write(p.stream, slice_of("one"));
		http_stream_write(p.stream, slice_of("-two"));
		port_hear(&p, fd, "one-two", text, sizeof(text));
		assert_int_equal(http_stream_waiting(p.stream), 0);
		turn(&p, 20);
		assert_int_equal(p.drained, 1);
		http_stream_write(p.stream, slice_of("three"));
		http_stream_end(p.stream);
		port_hear(&p, fd, "0\r\n\r\n", text, sizeof(text));
		assert_non_null(strstr(text, "three"));
		assert_int_equal(p.closed, 0);
		port_say(fd, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
		port_hear(&p, fd, "path=/healthz", text, sizeof(text)); /* it serves others yet */
		close(fd);
		port_close(&p);
	}
}

static void a_stream_has_no_limit_of_time(void **state)
{
	(void)state;
	struct port p;
	struct connections_limits limits = {64, 64, 300, 300};
	port_open_with(&p, false, &limits);
	int fd = stream_open(&p, "/stream");
	turn(&p, 1500);
	assert_int_equal(p.closed, 0);
	http_stream_end(p.stream);
	turn(&p, 800);
	assert_true(fd >= 0);
	close(fd);
	port_close(&p);
}

static void a_client_that_goes_is_seen(void **state)
{
	(void)state;
	struct port p;
	port_open(&p, false);
	int fd = stream_open(&p, "/stream");
	turn(&p, 20);
	close(fd);
	turn(&p, 1300);
	assert_int_equal(p.closed, 1);
	fd = stream_open(&p, "/stream");
	port_close(&p);
	assert_int_equal(p.closed, 2);
	close(fd);
}

/* Else each would hold one of the places of those who watch. */
static void a_head_of_a_stream_ends_at_once(void **state)
{
	(void)state;
	struct port p;
	char text[4096];
	port_open(&p, false);
	assert_int_equal(port_ask(&p, "HEAD", "/stream", LOCAL, text, sizeof(text)), 200);
	assert_int_equal(p.closed, 1);
	port_close(&p);
}

static void a_client_that_reads_nothing_is_cut_off(void **state)
{
	(void)state;
	struct port p;
	char *much = calloc(1, 1 << 20);
	port_open(&p, false);
	int fd = stream_open(&p, "/stream");
	for (int i = 0; i < 40 && p.closed == 0; i++) {
		http_stream_write(p.stream, (struct slice){much, 1 << 20});
		turn(&p, 5);
	}
	assert_int_equal(p.closed, 1);
	close(fd);
	port_close(&p);
	free(much);
}

static void much_comes_whole_and_in_order(void **state)
{
	(void)state;
	enum { LINES = 300000, LINE = 8 };
	struct port p;
	size_t size = LINES * LINE * 2, len = 0;
	char *text = calloc(1, size), line[16];
	port_open(&p, false);
	int fd = stream_open(&p, "/stream");
	for (int i = 0; i < LINES; i++) {
		snprintf(line, sizeof(line), "%07d ", i);
		http_stream_write(p.stream, slice_of(line));
	}
	http_stream_end(p.stream);
	while (len < 5 || memcmp(text + len - 5, "0\r\n\r\n", 5) != 0) {
		ev_run(p.loop, EVRUN_NOWAIT);
		ssize_t n = recv(fd, text + len, size - len, MSG_DONTWAIT);
		if (n > 0)
			len += (size_t)n;
	}
	char *at = (char *)memmem(text, len, "\r\n\r\n", 4) + 4, *to = text;
	for (size_t n; (n = strtoul(at, &at, 16)) > 0; at += n + 2, to += n)
		memmove(to, at + 2, n), at += 2;
	assert_int_equal(to - text, LINES * LINE);
	for (int i = 0; i < LINES; i++)
		assert_int_equal(strtol(text + (size_t)i * LINE, NULL, 10), i);
	free(text);
	close(fd);
	port_close(&p);
}

enum { UNFETCHED = 20 };

/* Asks for much so many times, and reads nothing. How long that took, in seconds. */
static double ask_and_fetch_nothing(struct port *p, int fd[UNFETCHED])
{
	double began = ev_time();
	for (int i = 0; i < UNFETCHED; i++) {
		fd[i] = port_connect(p);
		port_say(fd[i], "GET /much HTTP/1.1\r\n" LOCAL "\r\n");
		while (p->answered < (unsigned)i + 1)
			turn(p, 1);
	}
	return ev_time() - began;
}

static void fetch_nothing_any_more(struct port *p, const int fd[UNFETCHED])
{
	for (int i = 0; i < UNFETCHED; i++)
		close(fd[i]);
	turn(p, 50);
}

/* Beyond a bound there is no answer, but a small one there is. An answer that is not fetched has ten seconds: where it took
 * longer to ask, the first ones are gone, and all is asked again. */
static void answers_that_nobody_fetches_have_a_bound(void **state)
{
	(void)state;
	enum { MOST = HTTP_UNSENT_MAX_BYTES / MUCH, IN_TIME = 5, TRIES = 20 };
	struct port p;
	char text[8192];
	int fd[UNFETCHED];
	port_open(&p, false);
	for (int tries = 0; ask_and_fetch_nothing(&p, fd) > IN_TIME && tries < TRIES; tries++) {
		fetch_nothing_any_more(&p, fd);
		port_close(&p);
		port_open(&p, false);
	}
	port_hear(&p, fd[MOST], "ask again", text, sizeof(text));
	assert_int_equal(strncmp(text, "HTTP/1.1 503", 12), 0);
	assert_int_equal(port_ask(&p, "GET", "/healthz", LOCAL, text, sizeof(text)), 200);
	fetch_nothing_any_more(&p, fd);
	while (port_ask(&p, "HEAD", "/much", LOCAL, text, sizeof(text)) != 200)
		turn(&p, 50);
	port_close(&p);
}

static void an_address_that_cannot_be_had_is_a_sentence(void **state)
{
	(void)state;
	struct port p;
	struct http *other;
	struct err e = {""};
	port_open(&p, false);
	struct http_options o = {
		.host = "127.0.0.1", .port = http_port(p.http), .limits = HTTP_LIMITS};
	assert_int_equal(http_new(p.loop, &o, &other, &e), ERR_INVALID);
	assert_non_null(strstr(e.text, "in use"));
	assert_non_null(strstr(e.text, "--listen"));
	o.host = "no.such.host.invalid";
	assert_int_equal(http_new(p.loop, &o, &other, &e), ERR_INVALID);
	assert_non_null(strstr(e.text, "no.such.host.invalid"));
	port_close(&p);
}

static void some_questions_are_answered_later(void **state)
{
	struct port p;
	char text[4096];
	(void)state;
	port_open(&p, false);
	assert_int_equal(port_ask(&p, "GET", "/now?by=label%3Dteam", "Host: localhost\r\n", text,
				 sizeof(text)),
		200);
	assert_non_null(strstr(text, "at once"));
	assert_string_equal(p.by, "label=team");

	int fd = port_connect(&p), other = port_connect(&p);
	port_say(fd, "GET /later HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
	p.question = NULL;
	while (!p.question)
		ev_run(p.loop, EVRUN_ONCE);
	assert_string_equal(p.by, "(none)");
	port_say(other, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
	port_hear(&p, other, NULL, text, sizeof(text)); /* nobody waits for it */
	assert_non_null(strstr(text, "HTTP/1.1 200"));
	struct buf body;
	buf_init(&body, 100);
	buf_puts(&body, "at last");
	http_answer(p.question, (struct http_reply){503, "text/plain"}, &body);
	buf_done(&body);
	port_hear(&p, fd, NULL, text, sizeof(text));
	assert_non_null(strstr(text, "HTTP/1.1 503"));
	assert_non_null(strstr(text, "at last"));
	close(fd);
	close(other);

	/* The end comes before the answer. */
	fd = port_connect(&p);
	port_say(fd, "GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n");
	p.question = NULL;
	while (!p.question)
		ev_run(p.loop, EVRUN_ONCE);
	port_close(&p);
	close(fd);
}

static bool count_values(const char *value, void *ctx)
{
	struct buf *b = ctx;
	buf_printf(b, "[%s]", value);
	return strcmp(value, "enough") != 0;
}

/* Whoever makes an answer that takes long looks whether it is still wanted. */
static void one_that_goes_before_the_answer_is_seen(void **state)
{
	struct port p;
	struct buf body;
	(void)state;
	port_open(&p, false);
	int fd = port_connect(&p);
	port_say(fd,
		"GET /later?a=1&b=9&a=%7B%22x%22%7D&a=&a=enough&a=3 HTTP/1.1\r\nHost: localhost\r\n\r\n");
	while (!p.question)
		ev_run(p.loop, EVRUN_ONCE);
	buf_init(&body, 100);
	http_each_param(p.question, "a", count_values, &body);
	assert_string_equal(buf_text(&body), "[1][{\"x\"}][][enough]");
	for (int i = 0; i < 20; i++) {
		ev_run(p.loop, EVRUN_NOWAIT);
		assert_false(http_gone(p.question));
		usleep(1000);
	}
	close(fd);
	while (!http_gone(p.question))
		ev_run(p.loop, EVRUN_NOWAIT);
	http_answer(p.question, (struct http_reply){200, "text/plain"}, &body);
	buf_done(&body);
	port_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_caller_gets_what_is_his),
		cmocka_unit_test(gzip_is_for_who_takes_it),
		cmocka_unit_test(a_file_is_fetched_once),
		cmocka_unit_test(an_answer_that_is_the_same_is_not_sent_again),
		cmocka_unit_test(an_owner_may_set_the_tag),
		cmocka_unit_test(a_large_answer_is_packed_in_slices),
		cmocka_unit_test(one_that_goes_while_its_answer_is_packed_does_no_harm),
		cmocka_unit_test(no_header_is_smuggled_in),
		cmocka_unit_test(a_connection_sleeps_until_the_guard_has_spoken),
		cmocka_unit_test(a_caller_may_leave_before_the_verdict),
		cmocka_unit_test(the_port_can_close_over_a_sleeper),
		cmocka_unit_test(a_connection_serves_many_requests),
		cmocka_unit_test(headers_without_end_are_refused),
		cmocka_unit_test(slow_clients_keep_nobody_out),
		cmocka_unit_test(a_byte_does_not_begin_the_time_anew),
		cmocka_unit_test(an_address_fills_only_its_own_part),
		cmocka_unit_test(a_request_is_not_ended_for_a_newcomer),
		cmocka_unit_test(strangers_do_not_take_the_place_of_one_that_is_kept),
		cmocka_unit_test(an_answer_that_is_not_fetched_has_its_time),
		cmocka_unit_test(those_beyond_the_pace_wait_and_have_their_turn),
		cmocka_unit_test(in_a_waiting_room_addresses_have_turns),
		cmocka_unit_test(without_a_file_left_clients_wait),
		cmocka_unit_test(a_stream_tells_what_is_written_at_once),
		cmocka_unit_test(a_stream_has_no_limit_of_time),
		cmocka_unit_test(a_client_that_goes_is_seen),
		cmocka_unit_test(a_head_of_a_stream_ends_at_once),
		cmocka_unit_test(a_client_that_reads_nothing_is_cut_off),
		cmocka_unit_test(much_comes_whole_and_in_order),
		cmocka_unit_test(answers_that_nobody_fetches_have_a_bound),
		cmocka_unit_test(an_address_that_cannot_be_had_is_a_sentence),
		cmocka_unit_test(some_questions_are_answered_later),
		cmocka_unit_test(one_that_goes_before_the_answer_is_seen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
