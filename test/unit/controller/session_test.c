/*
 * Who the reader of the page is told to be, and which namespaces there are to choose from: by an API
 * server that does as it is told, and a port that is the test's.
 */
#include "controller/page/session.h"

#include "base/json.h"
#include "test/golden/requests.h"
#include "test/unit/controller/controller_world.h"
#include "test/unit/kube/scripted_server.h"
#include "test/unit/kube/test.h"

#define ACCESS "POST /apis/authorization.k8s.io/v1/subjectaccessreviews"
#define TOKENS "POST /apis/authentication.k8s.io/v1/tokenreviews"
#define ALLOWED "{\"status\":{\"allowed\":true}}"
#define REFUSED "{\"status\":{\"allowed\":false}}"
#define USER(name) "{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"" name "\"}}}"

/* ---- the port -------------------------------------------------------------------------------- */

static struct {
	struct auth_caller caller;
	bool may_all;
	int64_t now_ms;
	unsigned answers;
	struct buf body;
} port;

/* Nobody looks into it. */
static char question_of_somebody;
#define QUESTION ((struct http_question *)(void *)&question_of_somebody)

void __wrap_http_caller(const struct http_question *q, struct auth_caller *ret);
bool __wrap_http_has_right(const struct http_question *q);
void __wrap_http_answer(struct http_question *q, struct http_reply reply, const struct buf *body);
int64_t __wrap_monotonic_us(void);

void __wrap_http_caller(const struct http_question *q, struct auth_caller *ret)
{
	assert_ptr_equal(q, QUESTION);
	*ret = port.caller;
}

bool __wrap_http_has_right(const struct http_question *q)
{
	assert_ptr_equal(q, QUESTION);
	return port.may_all;
}

void __wrap_http_answer(struct http_question *q, struct http_reply reply, const struct buf *body)
{
	assert_ptr_equal(q, QUESTION);
	assert_int_equal(reply.status, 200);
	port.answers++;
	buf_add(&port.body, body->ptr, body->len);
}

int64_t __wrap_monotonic_us(void)
{
	return port.now_ms * 1000;
}

/* ---- the stage ------------------------------------------------------------------------------- */

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct auth *auth;
	struct world world;
	struct sessions *sessions;
};

static void stage_open(struct stage *s)
{
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO)};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->client = kube_client_new(s->loop, s->config, &(struct kube_client_options){0});
	s->auth = auth_new(&(struct auth_options){.client = s->client});
	world_open(&s->world, "batch");
	struct sessions_options o = {
		.loop = s->loop, .auth = s->auth, .queue = s->world.queue, .cell = "default"};
	s->sessions = sessions_new(&o);
	port.caller = (struct auth_caller){.token = "secret"};
	port.may_all = false;
	port.now_ms = 5000000;
	port.answers = 0;
	buf_init(&port.body, 1 << 20);
}

static void stage_close(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	auth_free(s->auth);
	sessions_free(s->sessions);
	kube_client_free(s->client);
	kube_config_free(s->config);
	golden_requests(s->server);
	scripted_server_free(s->server);
	world_close(&s->world);
	ev_loop_destroy(s->loop);
	buf_done(&port.body);
}

static void expect(struct stage *s, const char *line, int status, const char *body)
{
	script_answer(scripted_server_expect(s->server, line), status,
		"Content-Type: application/json\r\n", body);
}

static void note(enum auth_verdict v, void *ctx)
{
	*(enum auth_verdict *)ctx = v;
}

/* Does what the port does before: the caller is asked for the right in all namespaces. */
static void sign_in(struct stage *s, const char *user)
{
	static enum auth_verdict v;
	struct http_rights rights = sessions_rights();
	assert_true(rights.known && !rights.open);
	if (!port.caller.as)
		expect(s, TOKENS, 201, user);
	expect(s, ACCESS, 201, port.may_all ? ALLOWED : REFUSED);
	v = auth_ask(s->auth, &port.caller, &rights.must, port.now_ms, note, &v);
	while (v == AUTH_LATER)
		ev_run(s->loop, EVRUN_ONCE);
}

static void take(struct stage *s)
{
	buf_reset(&port.body);
	port.answers = 0;
	sessions_take(s->sessions, QUESTION, true);
	while (port.answers == 0)
		ev_run(s->loop, EVRUN_ONCE);
	assert_int_equal(port.answers, 1);
}

static void says(const char *members)
{
	if (!strstr(buf_text(&port.body), members))
		fail_msg("no %s in %s", members, buf_text(&port.body));
}

static void add_namespace(struct stage *s, const char *ns)
{
	struct localqueue_spec lq = {
		.ns = ns, .name = "main", .generation = 1, .clusterqueue = "batch"};
	struct err e = {""};
	queue_set_namespace(s->world.queue, &(struct namespace_spec){.name = ns});
	assert_int_equal(queue_set_localqueue(s->world.queue, &lq, &e), 0);
}

/* Which namespace the API server was asked about by its request at that index. */
static void asked_about(struct stage *s, size_t index, const char *ns)
{
	char wanted[100];
	snprintf(wanted, sizeof(wanted), "\"namespace\":\"%s\"", ns);
	if (!strstr(scripted_server_request(s->server, index)->body, wanted))
		fail_msg("%zu is not about %s", index, ns);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void who_may_see_all_is_told_all_without_being_asked(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_namespace(&s, "team-b");
	port.may_all = true;
	sign_in(&s, USER("boss"));
	take(&s);
	assert_string_equal(buf_text(&port.body),
		"{\"user\":\"boss\",\"byProxy\":false,\"version\":\"" SLUICE_VERSION
		"\",\"cell\":\"default\",\"mayAll\":true,\"namespaces\":[\"team-a\",\"team-b\"],"
		"\"more\":false}\n");
	stage_close(&s);
}

/* The first so many by name, and once each, though the user has Jobs in one of them. */
static void so_many_are_told_and_no_more(void **state)
{
	(void)state;
	struct stage s;
	char ns[16];
	unsigned told = 0;
	stage_open(&s);
	for (int i = 0; i < SESSION_TOLD_MAX + 100; i++) {
		snprintf(ns, sizeof(ns), "n%03d", i);
		add_namespace(&s, ns);
	}
	struct job j = world_job(2, "two");
	j.ns = "n300";
	j.submitted_by = "boss";
	world_see_job(&s.world, &j);
	port.may_all = true;
	sign_in(&s, USER("boss"));
	take(&s);
	says("\"namespaces\":[\"n300\",\"n000\",\"n001\",");
	says("\"n299\",\"n301\",");
	says("\"n499\"],\"more\":true");
	for (const char *at = buf_text(&port.body); (at = strstr(at, "\"n")); at++)
		told += at[2] >= '0' && at[2] <= '9';
	assert_int_equal(told, SESSION_TOLD_MAX);
	stage_close(&s);
}

static void nobody_is_asked_who_comes_from_here(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	port.caller = (struct auth_caller){0};
	port.may_all = true;
	take(&s);
	assert_null(strstr(buf_text(&port.body), "\"user\""));
	says("\"mayAll\":true,\"namespaces\":[\"team-a\"],\"more\":false");
	stage_close(&s);
}

/* Job 2 of the world is of that user, in team-a; the account's own namespace has no LocalQueue. */
static void likely_namespaces_are_asked_about_first(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_namespace(&s, "a-first");
	add_namespace(&s, "z-last");
	world_add_job(&s.world, 1, "one"); /* nobody's */
	struct job j = world_job(2, "two");
	j.ns = "z-last";
	j.submitted_by = "system:serviceaccount:own:builder";
	world_see_job(&s.world, &j);
	sign_in(&s, USER("system:serviceaccount:own:builder"));
	expect(&s, ACCESS, 201, ALLOWED); /* own */
	expect(&s, ACCESS, 201, ALLOWED); /* z-last */
	expect(&s, ACCESS, 201, REFUSED); /* a-first */
	expect(&s, ACCESS, 201, ALLOWED); /* team-a */
	take(&s);
	asked_about(&s, 2, "own");
	asked_about(&s, 3, "z-last");
	asked_about(&s, 4, "a-first");
	asked_about(&s, 5, "team-a");
	says("\"mayAll\":false,\"namespaces\":[\"own\",\"z-last\",\"team-a\"],\"more\":false");
	assert_null(strstr(buf_text(&port.body), "a-first"));
	take(&s); /* all is remembered */
	says("\"namespaces\":[\"own\",\"z-last\",\"team-a\"],\"more\":false");
	assert_int_equal(scripted_server_count(s.server), 6);
	stage_close(&s);
}

static void a_proxys_user_is_told_so(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	port.caller = (struct auth_caller){.token = "the proxy's",
		.user = "berta",
		.as = "{\"user\":\"berta\",\"groups\":[\"system:authenticated\"]}"};
	sign_in(&s, NULL);
	expect(&s, ACCESS, 201, REFUSED);
	take(&s);
	says("{\"user\":\"berta\",\"byProxy\":true,");
	says("\"mayAll\":false,\"namespaces\":[],\"more\":false");
	stage_close(&s);
}

static void so_many_are_asked_about_and_no_more(void **state)
{
	(void)state;
	struct stage s;
	char ns[8];
	stage_open(&s);
	sign_in(&s, USER("anna"));
	for (int i = 0; i < SESSION_ASKED_MAX; i++) {
		snprintf(ns, sizeof(ns), "n%02d", i);
		add_namespace(&s, ns); /* and team-a, which is behind them */
		expect(&s, ACCESS, 201, i == 7 ? ALLOWED : REFUSED);
	}
	take(&s);
	says("\"namespaces\":[\"n07\"],\"more\":true");
	stage_close(&s);
}

/* The API server is away in the midst of it. */
static void what_was_found_so_far_is_told(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_namespace(&s, "team-b");
	add_namespace(&s, "team-c");
	sign_in(&s, USER("anna"));
	expect(&s, ACCESS, 201, ALLOWED);
	expect(&s, ACCESS, 500, "{}");
	take(&s);
	says("\"namespaces\":[\"team-a\"],\"more\":true");
	stage_close(&s);
}

/* Other users take the rate: the session waits, and ends when it has waited for long. */
static void without_room_it_waits_and_then_ends(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	sign_in(&s, USER("anna"));
	port.now_ms += 10000; /* nothing is known of anna any more, so there is no room for her */
	buf_reset(&port.body);
	sessions_take(s.sessions, QUESTION, true);
	for (int i = 0; i < 3; i++)
		ev_run(s.loop, EVRUN_ONCE);
	assert_int_equal(port.answers, 0);
	port.now_ms += SESSION_WAIT_MS;
	while (port.answers == 0)
		ev_run(s.loop, EVRUN_ONCE);
	says("\"namespaces\":[],\"more\":true");
	stage_close(&s);
}

static void a_port_that_closes_drops_them(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	sign_in(&s, USER("anna"));
	sessions_take(s.sessions, QUESTION, true); /* under way */
	port.now_ms += 10000;
	sessions_take(s.sessions, QUESTION, true); /* waits for room */
	assert_int_equal(port.answers, 0);
	stage_close(&s);
}

static void lists_that_are_not_read_yet_may_have_more(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	port.may_all = true;
	sessions_take(s.sessions, QUESTION, false);
	says("\"more\":true");
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_may_see_all_is_told_all_without_being_asked),
		cmocka_unit_test(so_many_are_told_and_no_more),
		cmocka_unit_test(nobody_is_asked_who_comes_from_here),
		cmocka_unit_test(likely_namespaces_are_asked_about_first),
		cmocka_unit_test(a_proxys_user_is_told_so),
		cmocka_unit_test(so_many_are_asked_about_and_no_more),
		cmocka_unit_test(what_was_found_so_far_is_told),
		cmocka_unit_test(without_room_it_waits_and_then_ends),
		cmocka_unit_test(a_port_that_closes_drops_them),
		cmocka_unit_test(lists_that_are_not_read_yet_may_have_more),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
