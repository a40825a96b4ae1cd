#include "test.h"

#include <signal.h>

#include "controller/kube/client.h"
#include "scripted_server.h"

struct seen {
	int count;
	enum kube_outcome outcome;
	int status;
	int64_t retry_after_ms;
	char body[256];
	char sentence[512];
};

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
};

static void on_answer(const struct kube_answer *a, void *ctx)
{
	struct seen *seen = ctx;
	seen->count++;
	seen->outcome = a->outcome;
	seen->status = a->http_status;
	seen->retry_after_ms = a->retry_after_ms;
	assert_true(a->body.ptr && a->body.ptr[a->body.len] == '\0');
	snprintf(seen->body, sizeof(seen->body), "%s", a->body.ptr);
	snprintf(seen->sentence, sizeof(seen->sentence), "%s", a->sentence);
	assert_true((a->outcome == KUBE_DONE) == !*a->sentence);
}

static void stage_open(struct stage *s, const char *user, struct kube_client_options o)
{
	s->loop = ev_loop_new(EVFLAG_AUTO);
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), user);
	s->client = kube_client_new(s->loop, s->config, &o);
}

static void stage_close(struct stage *s)
{
	kube_client_free(s->client);
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	scripted_server_free(s->server);
	kube_config_free(s->config);
	ev_loop_destroy(s->loop);
}

static uint64_t send(struct stage *s, enum kube_method method, const char *path, const char *body,
	struct seen *seen)
{
	struct kube_request q = {.method = method,
		.path = path,
		.body = slice_of(body),
		.content_type = method == KUBE_PATCH ? KUBE_JSON_PATCH : NULL};
	return kube_client_send(s->client, &q, on_answer, seen);
}

static void test_methods(void **state)
{
	static const struct row {
		enum kube_method method;
		const char *line, *body, *content_type;
	} rows[] = {
		{KUBE_GET, "GET /a?b=c HTTP/1.1", "", NULL},
		{KUBE_POST, "POST /a?b=c HTTP/1.1", "{}", "Content-Type: application/json\r\n"},
		{KUBE_PUT, "PUT /a?b=c HTTP/1.1", "{}", "Content-Type: application/json\r\n"},
		{KUBE_PATCH, "PATCH /a?b=c HTTP/1.1", "[]",
			"Content-Type: application/json-patch+json\r\n"},
		{KUBE_DELETE, "DELETE /a?b=c HTTP/1.1", "", NULL},
		{KUBE_DELETE, "DELETE /a?b=c HTTP/1.1", "{}", "Content-Type: application/json\r\n"},
	};
	struct stage s;
	(void)state;
	stage_open(&s, "token: abc", (struct kube_client_options){.user_agent = "test/1"});
	for (size_t i = 0; i < ROWS(rows); i++) {
		const struct row *r = &rows[i];
		struct seen seen = {0};
		script_answer(scripted_server_expect(s.server, r->line), 200, "", "{\"x\":1}");
		send(&s, r->method, "/a?b=c", r->body, &seen);
		assert_int_equal(seen.count, 0); /* never from inside */
		run_until(s.loop, seen.count == 1);
		assert_int_equal(seen.outcome, KUBE_DONE);
		assert_string_equal(seen.body, "{\"x\":1}");
		const struct scripted_request *q = scripted_server_request(s.server, i);
		assert_string_equal(q->line, r->line);
		assert_string_equal(q->body, r->body);
		assert_non_null(strstr(q->head, "Authorization: Bearer abc\r\n"));
		assert_non_null(strstr(q->head, "User-Agent: test/1\r\n"));
		assert_null(strstr(q->head, "Expect:"));
		if (r->content_type)
			assert_non_null(strstr(q->head, r->content_type));
		else
			assert_null(strstr(q->head, "Content-Type:"));
	}
	assert_int_equal(scripted_server_connections(s.server), 1); /* kept alive */
	stage_close(&s);
}

static const struct answer_row {
	const char *name;
	int status;
	const char *headers, *body;
	enum kube_outcome outcome;
	int64_t retry_after_ms;
	const char *says;
} answers[] = {
	{"409", 409, "", "{\"kind\":\"Status\",\"message\":\"it moved\"}", KUBE_CONFLICT, 0,
		"PATCH /p: status 409: it moved"},
	{"422", 422, "", "{\"kind\":\"Status\",\"message\":\"test failed\"}", KUBE_STALE, 0,
		"422: test failed"},
	{"404 in plain text", 404, "", "404 page not found", KUBE_GONE, 0, "PATCH /p: status 404"},
	{"429", 429, "Retry-After: 7\r\n", "slow down", KUBE_RETRY, 7000, "status 429"},
	{"503", 503, "Retry-After: 1\r\n", "", KUBE_RETRY, 1000, "status 503"},
	{"503, of whom?", 503, "", "{", KUBE_IN_DOUBT, 0, "status 503"},
	{"500", 500, "", "{\"kind\":\"Status\",\"message\":7}", KUBE_IN_DOUBT, 0, "status 500"},
	{"too large for etcd", 500, "",
		"{\"kind\":\"Status\",\"message\":\"etcdserver: request is too large\"}",
		KUBE_GIVE_UP, 0, "request is too large"},
	{"403", 403, "", "{\"kind\":\"Status\",\"message\":\"no\"}", KUBE_DENIED, 0, "403: no"},
	{"302", 302, "Location: /elsewhere\r\n", "", KUBE_GIVE_UP, 0, "status 302"},
};

static void test_answers(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s, "", (struct kube_client_options){0});
	for (size_t i = 0; i < ROWS(answers); i++) {
		const struct answer_row *r = &answers[i];
		struct seen seen = {0};
		script_answer(scripted_server_expect(s.server, "PATCH /p"), r->status, r->headers,
			r->body);
		send(&s, KUBE_PATCH, "/p", "[]", &seen);
		run_until(s.loop, seen.count == 1);
		if (seen.outcome != r->outcome || seen.retry_after_ms != r->retry_after_ms ||
			!strstr(seen.sentence, r->says) || strcmp(seen.body, r->body) != 0)
			fail_msg("%s: %s, %lld ms, %s", r->name, kube_outcome_name(seen.outcome),
				(long long)seen.retry_after_ms, seen.sentence);
	}
	stage_close(&s);
}

/* The ways a connection can end at the wrong moment; for a write, all are in doubt. */
/* curl 7.88 would go on with the last header of the answer before it, which is freed. */
static void test_folded_first_header(void **state)
{
	struct stage s;
	struct seen seen = {0};
	(void)state;
	stage_open(&s, "", (struct kube_client_options){0});
	script_answer(scripted_server_expect(s.server, "GET /p"), 200, "X-Last: header\r\n", "{}");
	send(&s, KUBE_GET, "/p", "", &seen);
	run_until(s.loop, seen.count == 1);
	struct script *p = scripted_server_expect(s.server, "GET /p");
	script_raw(p, "HTTP/1.1 200 OK\r\n folded: on to what?\r\nContent-Length: 2\r\n\r\n{}");
	script_cut(p);
	send(&s, KUBE_GET, "/p", "", &seen);
	run_until(s.loop, seen.count == 2);
	stage_close(&s);
}

static void test_cuts(void **state)
{
	struct stage s;
	struct script *p;
	struct seen seen[5] = {0};
	(void)state;
	stage_open(&s, "", (struct kube_client_options){.timeout_ms = 150});
	script_cut(scripted_server_expect(s.server, "PATCH /nothing"));
	p = scripted_server_expect(s.server, "PATCH /half-a-head");
	script_raw(p, "HTTP/1.1 200 OK\r\nContent-");
	script_cut(p);
	p = scripted_server_expect(s.server, "PATCH /half-a-body");
	script_raw(p, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{");
	script_cut(p);
	script_hold(scripted_server_expect(s.server, "PATCH /silence"));
	script_hold(scripted_server_expect(s.server, "GET /silence"));
	send(&s, KUBE_PATCH, "/nothing", "[]", &seen[0]);
	send(&s, KUBE_PATCH, "/half-a-head", "[]", &seen[1]);
	send(&s, KUBE_PATCH, "/half-a-body", "[]", &seen[2]);
	send(&s, KUBE_PATCH, "/silence", "[]", &seen[3]);
	send(&s, KUBE_GET, "/silence", "", &seen[4]);
	for (int i = 0; i < 5; i++) {
		run_until(s.loop, seen[i].count == 1);
		if (seen[i].outcome != (i < 4 ? KUBE_IN_DOUBT : KUBE_RETRY))
			fail_msg("%d: %s (%s)", i, kube_outcome_name(seen[i].outcome),
				seen[i].sentence);
	}
	stage_close(&s);
}

static void test_nobody_there(void **state)
{
	struct stage s;
	struct seen seen = {0};
	(void)state;
	stage_open(&s, "", (struct kube_client_options){0});
	scripted_server_free(s.server);
	send(&s, KUBE_PATCH, "/p", "[]", &seen);
	run_until(s.loop, seen.count == 1);
	assert_int_equal(seen.outcome, KUBE_RETRY); /* surely not applied */
	assert_int_equal(seen.status, 0);
	s.server = scripted_server_new(s.loop);
	stage_close(&s);
}

static void test_ceiling(void **state)
{
	struct stage s;
	struct seen seen[3] = {0};
	char *large = mem_alloc(100001);
	(void)state;
	memset(large, 'x', 100000);
	stage_open(&s, "", (struct kube_client_options){.answer_ceiling = 99999});
	script_answer(scripted_server_expect(s.server, "GET /"), 200, "", large);
	script_answer(scripted_server_expect(s.server, "PATCH /"), 200, "", large);
	script_answer(scripted_server_expect(s.server, "PATCH /"), 409, "", large);
	send(&s, KUBE_GET, "/", "", &seen[0]);
	send(&s, KUBE_PATCH, "/", "[]", &seen[1]);
	send(&s, KUBE_PATCH, "/", "[]", &seen[2]);
	run_until(s.loop, seen[0].count + seen[1].count + seen[2].count == 3);
	assert_int_equal(seen[0].outcome, KUBE_LIMIT);
	assert_non_null(strstr(seen[0].sentence, "more than 99999 bytes"));
	/* Which of the two patches came first does not matter. */
	assert_int_equal(seen[1].outcome + seen[2].outcome, KUBE_IN_DOUBT + KUBE_CONFLICT);
	free(large);
	stage_close(&s);
}

/* At most so many in flight; the others wait in order, urgent ones first. */
static void test_in_flight(void **state)
{
	enum { ALL = 40, FLYING = 4 };
	struct stage s;
	struct seen seen[ALL] = {0}, urgent = {0};
	struct script *first[FLYING];
	char path[32];
	(void)state;
	stage_open(&s, "", (struct kube_client_options){.in_flight = FLYING});
	for (int i = 0; i < ALL; i++) {
		snprintf(path, sizeof(path), "GET /%d ", i);
		struct script *p = scripted_server_expect(s.server, path);
		if (i < FLYING) {
			script_hold(p);
			first[i] = p;
		}
		script_answer(p, 200, "", "{}");
	}
	script_answer(scripted_server_expect(s.server, "GET /urgent"), 200, "", "{}");
	assert_int_equal(kube_client_room(s.client), FLYING);
	for (int i = 0; i < ALL; i++) {
		snprintf(path, sizeof(path), "/%d", i);
		send(&s, KUBE_GET, path, "", &seen[i]);
	}
	run_until(s.loop, scripted_server_count(s.server) == FLYING);
	struct kube_request q = {.method = KUBE_GET, .path = "/urgent", .urgent = true};
	kube_client_send(s.client, &q, on_answer, &urgent);
	run_a_little(s.loop);
	assert_int_equal(scripted_server_count(s.server), FLYING);
	assert_int_equal(kube_client_stats(s.client)->in_flight, FLYING);
	assert_int_equal(kube_client_stats(s.client)->queued, ALL - FLYING + 1);
	assert_int_equal(kube_client_room(s.client), 0);
	script_release(first[2]);
	run_until(s.loop, urgent.count == 1);
	assert_non_null(strstr(scripted_server_request(s.server, FLYING)->line, "/urgent"));
	run_until(s.loop, seen[ALL - 1].count == 1);
	for (size_t i = FLYING + 1; i < scripted_server_count(s.server); i++) {
		snprintf(path, sizeof(path), "GET /%zu ", i - 1);
		assert_non_null(strstr(scripted_server_request(s.server, i)->line, path));
	}
	for (int i = 0; i < FLYING; i++)
		script_release(first[i]);
	for (int i = 0; i < ALL; i++)
		run_until(s.loop, seen[i].count == 1);
	assert_int_equal(scripted_server_connections(s.server), FLYING);
	assert_int_equal(kube_client_stats(s.client)->count[0].count, ALL + 1);
	stage_close(&s);
}

struct canceller {
	struct kube_client *client;
	uint64_t self, other;
	int count;
};

static void on_cancelling(const struct kube_answer *a, void *ctx)
{
	struct canceller *c = ctx;
	(void)a;
	c->count++;
	assert_false(kube_client_cancel(c->client, c->self)); /* answered already */
	assert_true(kube_client_cancel(c->client, c->other));
	assert_false(kube_client_cancel(c->client, c->other));
}

static void test_cancel(void **state)
{
	struct stage s;
	struct seen never = {0}, last = {0};
	(void)state;
	stage_open(&s, "", (struct kube_client_options){.in_flight = 2});
	struct script *p = scripted_server_expect(s.server, "GET /first");
	script_hold(p);
	script_answer(p, 200, "", "{}");
	script_hold(scripted_server_expect(s.server, "GET /flying"));
	script_answer(scripted_server_expect(s.server, "GET /last"), 200, "", "{}");
	struct canceller c = {.client = s.client};
	struct kube_request q = {.method = KUBE_GET, .path = "/first"};
	c.self = kube_client_send(s.client, &q, on_cancelling, &c);
	c.other = send(&s, KUBE_GET, "/flying", "", &never);
	uint64_t queued = send(&s, KUBE_GET, "/queued", "", &never);
	assert_true(kube_client_cancel(s.client, queued));
	assert_false(kube_client_cancel(s.client, 0));
	assert_false(kube_client_cancel(s.client, 12345));
	run_until(s.loop, scripted_server_count(s.server) == 2);
	script_release(p);
	run_until(s.loop, c.count == 1);
	send(&s, KUBE_GET, "/last", "", &last);
	run_until(s.loop, last.count == 1);
	assert_int_equal(never.count, 0);
	/* Freed with requests in every state. */
	send(&s, KUBE_GET, "/unsent", "", &never);
	stage_close(&s);
	assert_int_equal(never.count, 0);
}

static void test_401_with_a_rotated_token(void **state)
{
	struct stage s;
	struct seen seen[3] = {0};
	char *dir = make_dir(), user[300];
	(void)state;
	write_file(dir, "token", "old", 0600);
	snprintf(user, sizeof(user), "tokenFile: %s/token", dir);
	stage_open(&s, user, (struct kube_client_options){0});
	for (int i = 0; i < 2; i++)
		script_answer(scripted_server_expect(s.server, "PATCH /p"), 401, "", "{}");
	for (int i = 0; i < 2; i++)
		script_answer(scripted_server_expect(s.server, "PATCH /p"), 200, "", "{}");
	assert_int_equal(kube_client_stats(s.client)->sent, 0);
	send(&s, KUBE_PATCH, "/p", "[1]", &seen[0]);
	send(&s, KUBE_PATCH, "/p", "[2]", &seen[1]);
	run_until(s.loop, kube_client_stats(s.client)->sent == 2);
	write_file(dir, "token", "new", 0600);
	run_until(s.loop, seen[0].count + seen[1].count == 2);
	assert_int_equal(seen[0].outcome, KUBE_DONE);
	assert_int_equal(seen[1].outcome, KUBE_DONE);
	for (size_t i = 0; i < 4; i++)
		assert_non_null(strstr(scripted_server_request(s.server, i)->head,
			i < 2 ? "Bearer old" : "Bearer new"));
	assert_int_equal(kube_client_stats(s.client)->retried_401, 2);

	/* Nothing new to try: said once, not repeated. */
	script_answer(scripted_server_expect(s.server, "PATCH /p"), 401, "", "{}");
	send(&s, KUBE_PATCH, "/p", "[]", &seen[2]);
	run_until(s.loop, seen[2].count == 1);
	assert_int_equal(seen[2].outcome, KUBE_DENIED);
	stage_close(&s);
	remove_dir(dir);
}

/* A token that changes with each look does not make us ask for ever: twice in all. */
static void test_401_is_tried_again_once(void **state)
{
	struct stage s;
	struct seen seen = {0};
	char *dir = make_dir(), user[300];
	(void)state;
	write_file(dir, "token", "one", 0600);
	snprintf(user, sizeof(user), "tokenFile: %s/token", dir);
	stage_open(&s, user, (struct kube_client_options){0});
	for (int i = 0; i < 2; i++)
		script_answer(scripted_server_expect(s.server, "PATCH /p"), 401, "", "{}");
	send(&s, KUBE_PATCH, "/p", "[]", &seen);
	run_until(s.loop, kube_client_stats(s.client)->sent == 1);
	write_file(dir, "token", "two", 0600);
	run_until(s.loop, kube_client_stats(s.client)->sent == 2);
	write_file(dir, "token", "three", 0600);
	run_until(s.loop, seen.count == 1);
	assert_int_equal(seen.outcome, KUBE_DENIED);
	stage_close(&s);
	remove_dir(dir);
}

/* Requests wait for the plugin; when it fails each of them says so, and no secret. */
static void test_plugin(void **state)
{
	static const char good[] =
		"#!/bin/sh\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":"
		"\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"got\"}}'\n";
	char *dir = make_dir(), user[500];
	(void)state;
	snprintf(user, sizeof(user),
		"exec: {apiVersion: client.authentication.k8s.io/v1, command: %s/p}", dir);
	for (int fails = 0; fails < 2; fails++) {
		struct stage s;
		struct seen seen[3] = {0};
		write_file(dir, "p", fails ? "#!/bin/sh\necho SECRET; exit 3\n" : good, 0700);
		stage_open(&s, user, (struct kube_client_options){0});
		for (int i = 0; i < 3; i++) {
			if (!fails)
				script_answer(
					scripted_server_expect(s.server, "GET /"), 200, "", "{}");
			send(&s, KUBE_GET, "/", "", &seen[i]);
		}
		for (int i = 0; i < 3; i++) {
			run_until(s.loop, seen[i].count == 1);
			assert_int_equal(seen[i].outcome, fails ? KUBE_DENIED : KUBE_DONE);
			if (fails)
				assert_non_null(strstr(seen[i].sentence, "exit code 3"));
			assert_null(strstr(seen[i].sentence, "SECRET"));
		}
		if (!fails)
			assert_non_null(
				strstr(scripted_server_request(s.server, 2)->head, "Bearer got"));
		stage_close(&s);
	}
	remove_dir(dir);
}

struct stream {
	struct kube_client *client;
	uint64_t id;
	struct buf bytes;
	int answers;
	enum kube_outcome outcome;
	bool cancel, headed;
};

static void on_bytes(struct slice bytes, void *ctx)
{
	struct stream *t = ctx;
	buf_add(&t->bytes, bytes.ptr, bytes.len);
	assert_true(t->headed == (bytes.len > 0)); /* none at first, with the head */
	t->headed = true;
	if (t->cancel && bytes.len > 0)
		assert_true(kube_client_cancel(t->client, t->id));
}

static void on_stream_end(const struct kube_answer *a, void *ctx)
{
	struct stream *t = ctx;
	t->answers++;
	t->outcome = a->outcome;
}

/* Streams have connections of their own, and can be ended from inside. */
static void test_streams(void **state)
{
	struct stage s;
	struct stream t[3] = {0};
	struct seen seen = {0};
	struct kube_request q = {.method = KUBE_GET, .path = "/s"};
	(void)state;
	stage_open(&s, "", (struct kube_client_options){.in_flight = 1, .timeout_ms = 1000});
	for (int i = 0; i < 3; i++) {
		struct script *p = scripted_server_expect(s.server, "GET /s");
		buf_init(&t[i].bytes, 1000);
		t[i].client = s.client;
		t[i].cancel = i == 1;
		script_stream(p);
		script_chunk(p, "one ");
		script_chunk(p, "two");
		if (i < 2)
			script_end(p);
		else
			script_cut(p);
		t[i].id = kube_client_stream(s.client, &q, on_bytes, on_stream_end, &t[i]);
		run_until(s.loop, t[i].answers == 1 || (i == 1 && t[i].bytes.len > 0));
	}
	script_answer(scripted_server_expect(s.server, "GET /r"), 200, "", "{}");
	send(&s, KUBE_GET, "/r", "", &seen);
	run_until(s.loop, seen.count == 1);
	assert_string_equal(buf_text(&t[0].bytes), "one two");
	assert_int_equal(t[0].outcome, KUBE_DONE);
	assert_string_equal(buf_text(&t[1].bytes), "one ");
	assert_int_equal(t[1].answers, 0);
	assert_string_equal(buf_text(&t[2].bytes), "one two");
	assert_int_equal(t[2].outcome, KUBE_RETRY);
	for (int i = 0; i < 3; i++)
		buf_done(&t[i].bytes);
	stage_close(&s);
}

/* A kept connection that the server closed while idle: the next request just goes out. */
static void test_idle_connection_closed(void **state)
{
	struct stage s;
	struct seen seen[2] = {0};
	(void)state;
	stage_open(&s, "", (struct kube_client_options){0});
	struct script *p = scripted_server_expect(s.server, "PATCH /1");
	script_answer(p, 200, "", "{}");
	script_cut(p);
	script_answer(scripted_server_expect(s.server, "PATCH /2"), 200, "", "{}");
	send(&s, KUBE_PATCH, "/1", "[]", &seen[0]);
	run_until(s.loop, seen[0].count == 1);
	run_until(s.loop, scripted_server_open(s.server) == 0);
	send(&s, KUBE_PATCH, "/2", "[]", &seen[1]);
	run_until(s.loop, seen[1].count == 1);
	assert_int_equal(seen[1].outcome, KUBE_DONE);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_methods),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_folded_first_header),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_nobody_there),
		cmocka_unit_test(test_ceiling),
		cmocka_unit_test(test_in_flight),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_401_with_a_rotated_token),
		cmocka_unit_test(test_401_is_tried_again_once),
		cmocka_unit_test(test_plugin),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_idle_connection_closed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
