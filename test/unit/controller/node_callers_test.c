/*
 * Of which node a token is, against an API server that does as it is told.
 */
#include "controller/nodes/node_callers.h"

#include "test/unit/kube/scripted_server.h"
#include "test/unit/kube/test.h"

#define NOW_MS 5000000
#define TOKENS "POST /apis/authentication.k8s.io/v1/tokenreviews"
#define REVIEW(audience, user, extra)                                                              \
	"{\"status\":{\"authenticated\":true,\"audiences\":[\"" audience                           \
	"\"],\"user\":{\"username\":\"" user "\",\"extra\":{" extra "}}}}"
#define AGENT "system:serviceaccount:sluice-node:sluice-node"
#define ON(names) "\"authentication.kubernetes.io/node-name\":[" names "]"
#define AGENT_OF(node) REVIEW("sluice-node", AGENT, ON("\"" node "\""))
#define STRANGER "{\"status\":{\"authenticated\":false}}"

enum { MINUTE_MS = 60000 };

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct node_callers *callers;
	struct log *log;
	FILE *written;
	unsigned told; /* verdicts that came later */
	enum auth_verdict verdict;
};

static void stage_open(struct stage *s)
{
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO), .written = tmpfile()};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->client = kube_client_new(s->loop, s->config, &(struct kube_client_options){0});
	s->log = log_new(fileno(s->written), LOG_JSON, LEVEL_INFO);
	s->callers = node_callers_new(s->client, s->log);
}

static void stage_close(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	node_callers_free(s->callers);
	kube_client_free(s->client);
	kube_config_free(s->config);
	scripted_server_free(s->server);
	ev_loop_destroy(s->loop);
	log_free(s->log);
	fclose(s->written);
}

static void expect(struct stage *s, int status, const char *body)
{
	script_answer(scripted_server_expect(s->server, TOKENS), status,
		"Content-Type: application/json\r\n", body);
}

static void on_verdict(enum auth_verdict v, void *ctx)
{
	struct stage *s = ctx;
	s->verdict = v;
	s->told++;
}

static enum auth_verdict put(struct stage *s, const char *token, int64_t now_ms)
{
	struct auth_caller caller = {.token = token};
	return node_callers_ask(s->callers, &caller, now_ms, on_verdict, s);
}

static enum auth_verdict ask(struct stage *s, const char *token, int64_t now_ms)
{
	enum auth_verdict v = put(s, token, now_ms);
	if (v != AUTH_LATER)
		return v;
	unsigned before = s->told;
	run_until(s->loop, s->told > before);
	return s->verdict;
}

/* ---- who is an agent ------------------------------------------------------------------------- */

struct review_case {
	const char *name;
	int status;
	const char *review;
	enum auth_verdict verdict;
	const char *node;
};

static const struct review_case reviews[] = {
	{"an agent", 201, AGENT_OF("node-1.example"), AUTH_ALLOWED, "node-1.example"},
	{"a token that nobody knows", 201, STRANGER, AUTH_STRANGER, NULL},
	{"a token for the API server", 201,
		REVIEW("https://kubernetes.default.svc", AGENT, ON("\"n\"")), AUTH_STRANGER, NULL},
	{"an API server that knows no audiences", 201,
		"{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"" AGENT
		"\",\"extra\":{" ON("\"n\"") "}}}}",
		AUTH_STRANGER, NULL},
	{"of another namespace", 201,
		REVIEW("sluice-node", "system:serviceaccount:team:sluice-node", ON("\"n\"")),
		AUTH_REFUSED, NULL},
	{"another account", 201,
		REVIEW("sluice-node", "system:serviceaccount:sluice-node:default", ON("\"n\"")),
		AUTH_REFUSED, NULL},
	{"a user whose name goes on", 201, REVIEW("sluice-node", AGENT "x", ON("\"n\"")),
		AUTH_REFUSED, NULL},
	{"bound to no node, or by an old API server", 201, REVIEW("sluice-node", AGENT, ""),
		AUTH_REFUSED, NULL},
	{"of no node", 201, REVIEW("sluice-node", AGENT, ON("")), AUTH_REFUSED, NULL},
	{"of two", 201, REVIEW("sluice-node", AGENT, ON("\"a\",\"b\"")), AUTH_REFUSED, NULL},
	{"of a number", 201, REVIEW("sluice-node", AGENT, ON("7")), AUTH_REFUSED, NULL},
	{"of a node without a name", 201, AGENT_OF(""), AUTH_REFUSED, NULL},
	{"of what is no name", 201, AGENT_OF("../x"), AUTH_REFUSED, NULL},
	{"an answer that is none", 201, "{", AUTH_UNKNOWN, NULL},
	{"no right to ask", 403, "{}", AUTH_UNKNOWN, NULL},
};

static void a_review_says_who_is_an_agent(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(reviews); i++) {
		const struct review_case *c = &reviews[i];
		struct stage s;
		stage_open(&s);
		expect(&s, c->status, c->review);
		enum auth_verdict v = ask(&s, "secret", NOW_MS);
		const char *node = node_callers_node(s.callers, "secret");
		if (v != c->verdict || !node != !c->node || (node && strcmp(node, c->node) != 0))
			fail_msg("%s: %d, node %s", c->name, (int)v, node ? node : "(none)");
		const char *sent = scripted_server_request(s.server, 0)->body;
		assert_non_null(strstr(sent, "\"token\":\"secret\""));
		assert_non_null(strstr(sent, "\"audiences\":[\"sluice-node\"]"));
		stage_close(&s);
	}
}

static void what_is_no_token_is_not_asked_about(void **state)
{
	char *longest = malloc(20000);
	struct stage s;
	(void)state;
	stage_open(&s);
	memset(longest, 'x', 19999);
	longest[19999] = '\0';
	assert_int_equal(ask(&s, longest, NOW_MS), AUTH_STRANGER);
	assert_int_equal(ask(&s, "", NOW_MS), AUTH_STRANGER);
	assert_int_equal(ask(&s, NULL, NOW_MS), AUTH_STRANGER);
	assert_null(node_callers_node(s.callers, longest));
	assert_null(node_callers_node(s.callers, NULL));
	free(longest);
	stage_close(&s);
}

/* ---- what is remembered ---------------------------------------------------------------------- */

static void an_agent_is_remembered_for_ten_minutes(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	expect(&s, 201, AGENT_OF("one"));
	assert_int_equal(ask(&s, "secret", NOW_MS), AUTH_ALLOWED);
	assert_int_equal(put(&s, "secret", NOW_MS + 10 * MINUTE_MS - 1), AUTH_ALLOWED);
	assert_int_equal(scripted_server_count(s.server), 1);
	/* Its pod was deleted meanwhile. */
	expect(&s, 201, STRANGER);
	assert_int_equal(ask(&s, "secret", NOW_MS + 10 * MINUTE_MS), AUTH_STRANGER);
	assert_null(node_callers_node(s.callers, "secret"));
	expect(&s, 201, AGENT_OF("two"));
	assert_int_equal(ask(&s, "secret", NOW_MS + 10 * MINUTE_MS), AUTH_ALLOWED);
	assert_string_equal(node_callers_node(s.callers, "secret"), "two");
	stage_close(&s);
}

static void an_agent_renews_its_token(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	expect(&s, 201, AGENT_OF("one"));
	expect(&s, 201, AGENT_OF("one"));
	assert_int_equal(ask(&s, "first", NOW_MS), AUTH_ALLOWED);
	assert_int_equal(ask(&s, "second", NOW_MS), AUTH_ALLOWED);
	assert_string_equal(node_callers_node(s.callers, "first"), "one");
	assert_string_equal(node_callers_node(s.callers, "second"), "one");
	stage_close(&s);
}

/* ---- how much is asked ----------------------------------------------------------------------- */

/* A held GET and a POST come at once: that is one question. */
static void one_question_is_asked_of_a_token(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	expect(&s, 201, AGENT_OF("one"));
	for (int i = 0; i < 100; i++)
		assert_int_equal(put(&s, "secret", NOW_MS), AUTH_LATER);
	run_until(s.loop, s.told == 100);
	assert_int_equal(s.verdict, AUTH_ALLOWED);
	assert_int_equal(scripted_server_count(s.server), 1);
	stage_close(&s);
}

/* As many as the port lets in at once: none of them is told to come again. */
static void questions_wait_for_each_other(void **state)
{
	struct stage s;
	char token[16];
	(void)state;
	stage_open(&s);
	for (unsigned i = 0; i < 200; i++) {
		snprintf(token, sizeof(token), "t%u", i);
		expect(&s, 201, AGENT_OF("one"));
		assert_int_equal(put(&s, token, NOW_MS), AUTH_LATER);
	}
	run_until(s.loop, s.told == 200);
	assert_int_equal(s.verdict, AUTH_ALLOWED);
	assert_string_equal(node_callers_node(s.callers, "t199"), "one");
	stage_close(&s);
}

static void so_many_wait_at_most(void **state)
{
	struct stage s;
	char token[16];
	unsigned later = 0;
	(void)state;
	stage_open(&s);
	for (unsigned i = 0; i < 300; i++) {
		snprintf(token, sizeof(token), "t%u", i);
		later += put(&s, token, NOW_MS) == AUTH_LATER;
	}
	assert_int_equal(later, 256);
	/* Nothing was sent yet; the requests are dropped with those who ask. */
	node_callers_drop(s.callers);
	run_a_little(s.loop);
	assert_int_equal(s.told, 0);
	assert_int_equal(scripted_server_count(s.server), 0);
	stage_close(&s);
}

static void that_none_can_be_asked_is_logged_once(void **state)
{
	struct stage s;
	char text[4096];
	(void)state;
	stage_open(&s);
	for (int i = 0; i < 3; i++) {
		expect(&s, 500, "{}");
		assert_int_equal(ask(&s, "secret", NOW_MS + i), AUTH_UNKNOWN);
	}
	ssize_t n = pread(fileno(s.written), text, sizeof(text) - 1, 0);
	text[n] = '\0';
	assert_non_null(strstr(text, "caller-not-checked"));
	assert_ptr_equal(strchr(text, '\n'), strrchr(text, '\n'));
	assert_null(strstr(text, "secret"));
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_review_says_who_is_an_agent),
		cmocka_unit_test(what_is_no_token_is_not_asked_about),
		cmocka_unit_test(an_agent_is_remembered_for_ten_minutes),
		cmocka_unit_test(an_agent_renews_its_token),
		cmocka_unit_test(one_question_is_asked_of_a_token),
		cmocka_unit_test(questions_wait_for_each_other),
		cmocka_unit_test(so_many_wait_at_most),
		cmocka_unit_test(that_none_can_be_asked_is_logged_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
