/*
 * The guard, against an API server that does as it is told.
 */
#include "controller/guard.h"

#include "test/unit/kube_test.h"
#include "test/unit/scripted_server.h"

#define NOW_MS 1795255200000

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct guard *guard;
	enum guard_verdict verdict; /* GUARD_LATER until it is given */
};

static void stage_open(struct stage *s)
{
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO), .verdict = GUARD_LATER};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->client = kube_client_new(s->loop, s->config, &(struct kube_client_options){0});
	s->guard = guard_new(s->client, NULL);
}

static void stage_close(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	guard_free(s->guard);
	kube_client_free(s->client);
	kube_config_free(s->config);
	scripted_server_free(s->server);
	ev_loop_destroy(s->loop);
}

static void on_verdict(enum guard_verdict v, void *ctx)
{
	struct stage *s = ctx;
	assert_int_equal(s->verdict, GUARD_LATER); /* exactly once */
	s->verdict = v;
}

static void expect(struct stage *s, const char *line, int status, const char *body)
{
	script_answer(scripted_server_expect(s->server, line), status,
		"Content-Type: application/json\r\n", body);
}

static enum guard_verdict ask(struct stage *s, const char *token, int64_t now_ms)
{
	s->verdict = GUARD_LATER;
	enum guard_verdict v = guard_ask(s->guard, token, now_ms, on_verdict, s);
	if (v != GUARD_LATER)
		return v;
	while (s->verdict == GUARD_LATER)
		ev_run(s->loop, EVRUN_ONCE);
	return s->verdict;
}

#define TOKENS "POST /apis/authentication.k8s.io/v1/tokenreviews"
#define ACCESS "POST /apis/authorization.k8s.io/v1/subjectaccessreviews"
#define ANNA                                                                                       \
	"{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"anna\",\"uid\":\"7\","       \
	"\"groups\":[\"dev\",\"system:authenticated\"],\"extra\":{\"k\":[\"v\"]}}}}"

static void an_owner_who_may_is_let_in_and_remembered(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	expect(&s, TOKENS, 201, ANNA);
	expect(&s, ACCESS, 201, "{\"status\":{\"allowed\":true}}");
	assert_int_equal(ask(&s, "secret", NOW_MS), GUARD_ALLOWED);
	const char *sent = scripted_server_request(s.server, 0)->body;
	assert_non_null(strstr(sent, "\"spec\":{\"token\":\"secret\"}"));
	sent = scripted_server_request(s.server, 1)->body;
	assert_non_null(strstr(sent, "\"user\":\"anna\""));
	assert_non_null(strstr(sent, "\"groups\":[\"dev\",\"system:authenticated\"]"));
	assert_non_null(strstr(sent, "\"extra\":{\"k\":[\"v\"]}"));
	assert_non_null(strstr(sent, "\"resource\":\"clusterqueues\""));
	assert_null(strstr(sent, "secret"));
	/* Nobody is asked again for ten seconds, then they are. */
	assert_int_equal(ask(&s, "secret", NOW_MS + 9999), GUARD_ALLOWED);
	assert_int_equal(scripted_server_count(s.server), 2);
	expect(&s, TOKENS, 201, ANNA);
	expect(&s, ACCESS, 201, "{\"status\":{\"allowed\":false}}");
	assert_int_equal(ask(&s, "secret", NOW_MS + 10000), GUARD_REFUSED);
	assert_int_equal(ask(&s, "secret", NOW_MS + 10001), GUARD_REFUSED);
	stage_close(&s);
}

static void every_other_answer_keeps_the_door_shut(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		int token_status;
		const char *token;
		int access_status; /* 0: is not asked */
		const char *access;
		enum guard_verdict verdict;
	} cases[] = {
		{"nobody's token", 201, "{\"status\":{\"authenticated\":false}}", 0, "",
			GUARD_STRANGER},
		{"a user with no name", 201, "{\"status\":{\"authenticated\":true,\"user\":{}}}", 0,
			"", GUARD_STRANGER},
		{"a word for a truth", 201,
			"{\"status\":{\"authenticated\":\"true\",\"user\":{\"username\":\"x\"}}}",
			0, "", GUARD_STRANGER},
		{"no status at all", 201, "{}", 0, "", GUARD_STRANGER},
		{"an answer that is no JSON", 201, "<html>", 0, "", GUARD_UNKNOWN},
		{"we may not ask", 403, "{}", 0, "", GUARD_UNKNOWN},
		{"the server is away", 500, "{}", 0, "", GUARD_UNKNOWN},
		{"they may not", 201, ANNA, 201, "{\"status\":{\"allowed\":false}}", GUARD_REFUSED},
		{"no word on access", 201, ANNA, 201, "{}", GUARD_REFUSED},
		{"access cannot be asked", 201, ANNA, 403, "{}", GUARD_UNKNOWN},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stage s;
		print_message("  %s\n", cases[i].name);
		stage_open(&s);
		expect(&s, TOKENS, cases[i].token_status, cases[i].token);
		if (cases[i].access_status)
			expect(&s, ACCESS, cases[i].access_status, cases[i].access);
		assert_int_equal(ask(&s, "secret", NOW_MS), cases[i].verdict);
		stage_close(&s);
	}
}

static void what_is_not_known_is_not_remembered(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	expect(&s, TOKENS, 403, "{}");
	assert_int_equal(ask(&s, "secret", NOW_MS), GUARD_UNKNOWN);
	expect(&s, TOKENS, 201, ANNA);
	expect(&s, ACCESS, 201, "{\"status\":{\"allowed\":true}}");
	assert_int_equal(ask(&s, "secret", NOW_MS), GUARD_ALLOWED);
	stage_close(&s);
}

static void only_so_many_questions_are_asked_at_once(void **state)
{
	(void)state;
	struct stage s;
	char token[16];
	enum guard_verdict v = GUARD_LATER;
	int asked = 0;
	stage_open(&s);
	while (v == GUARD_LATER && asked < 1000) {
		snprintf(token, sizeof(token), "t%d", asked++);
		v = guard_ask(s.guard, token, NOW_MS, on_verdict, &s);
	}
	assert_int_equal(v, GUARD_UNKNOWN);
	assert_true(asked < 100);
	stage_close(&s); /* with all of them pending */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_owner_who_may_is_let_in_and_remembered),
		cmocka_unit_test(every_other_answer_keeps_the_door_shut),
		cmocka_unit_test(what_is_not_known_is_not_remembered),
		cmocka_unit_test(only_so_many_questions_are_asked_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
