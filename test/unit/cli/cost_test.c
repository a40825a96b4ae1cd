/* `sluice cost`, `report` and `history` by the kubeconfig: what they ask the API server, and what they do where
 * a right is missing. */
#include "test/unit/kube/test.h"

#include "cli/past/show.h"
#include "test/unit/kube/scripted_server.h"

#define ROOT "GET /apis/visibility.sluice.dev/v1alpha1"
#define GROUP "GET /apis/visibility.sluice.dev HTTP"
#define STATUS(code, reason, message)                                                              \
	"{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"" message                       \
	"\",\"reason\":\"" reason "\",\"code\":" code "}"
#define FORBIDDEN                                                                                  \
	STATUS("403", "Forbidden",                                                                 \
		"costs.visibility.sluice.dev is forbidden: User \\\"alice\\\" cannot list resource")
#define REPORT "{\"kind\":\"CostReport\",\"rows\":[]}"

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct json *json;
	const cJSON *root;
	bool narrowed;
	struct err e;
};

static void stage_open(struct stage *s)
{
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO), .json = json_new(1 << 20)};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->client = question_client(s->loop, s->config);
}

static void stage_close(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	json_free(s->json);
	kube_client_free(s->client);
	scripted_server_free(s->server);
	kube_config_free(s->config);
	ev_loop_destroy(s->loop);
}

static void answer(struct stage *s, const char *line, int status, const char *body)
{
	script_answer(scripted_server_expect(s->server, line), status, "", body);
}

/* ns NULL: all; home NULL: those or none. */
static int get(struct stage *s, const char *ns, const char *home)
{
	const struct past_answer_question q = {
		.words = {.by = "label=acme.io/team", .since = "30d", .ns = ns}, .home = home};
	return past_answer_get(s->loop, s->client, &q, s->json, &s->root, &s->narrowed, &s->e);
}

static void says(const struct stage *s, const char *part)
{
	if (!strstr(s->e.text, part))
		fail_msg("no \"%s\" in %s", part, s->e.text);
}

#define WORDS "costs?by=label%3Dacme.io%2Fteam&since=30d HTTP"

static void all_for_those_who_may_see_all(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	answer(&s, ROOT "/" WORDS, 200, REPORT);
	assert_int_equal(get(&s, NULL, "home"), 0);
	assert_false(s.narrowed);
	assert_string_equal(json_text(s.root, "kind"), "CostReport");
	stage_close(&s);
}

static void her_own_for_those_who_may_not(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	answer(&s, ROOT "/" WORDS, 403, FORBIDDEN);
	answer(&s, GROUP, 200, "{}");
	answer(&s, ROOT "/namespaces/home/" WORDS, 200, REPORT);
	assert_int_equal(get(&s, NULL, "home"), 0);
	assert_true(s.narrowed);
	assert_string_equal(json_text(s.root, "kind"), "CostReport");
	stage_close(&s);
}

/* Nothing else is asked for: a part would be taken for the sum. */
static void what_was_named_or_nothing(void **state)
{
	static const struct {
		const char *ns, *line, *says;
	} rows[] = {
		{NULL, ROOT "/" WORDS,
			"of all namespaces. Name one with -n, or ask an admin for the right: kubectl create clusterrolebinding sluice-alice --clusterrole=sluice-viewer --user=alice"},
		{"team", ROOT "/namespaces/team/" WORDS,
			"you may not list costs.visibility.sluice.dev in namespace team. An admin gives you the right: kubectl create rolebinding sluice-alice -n team --clusterrole=sluice-batch-user --user=alice"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct stage s;
		stage_open(&s);
		answer(&s, rows[i].line, 403, FORBIDDEN);
		answer(&s, GROUP, 200, "{}");
		assert_int_equal(get(&s, rows[i].ns, rows[i].ns ? "home" : NULL), ERR_DENIED);
		assert_false(s.narrowed);
		says(&s, rows[i].says);
		stage_close(&s);
	}
}

static void an_api_that_cannot_answer_is_told_with_its_cure(void **state)
{
	static const struct {
		int status;
		const char *body;
		int rc;
		const char *says;
	} rows[] = {
		{404, "404 page not found\n", ERR_BUSY, "does not serve the API"},
		{404, STATUS("404", "NotFound", "the server could not find the requested resource"),
			ERR_BUSY, "its controller is older than this sluice"},
		{429, STATUS("429", "TooManyRequests", "4 questions are not answered yet"),
			ERR_BUSY, "4 questions are not answered yet"},
		{400, STATUS("400", "BadRequest", "since is no time"), ERR_INVALID,
			"since is no time"},
		{503, STATUS("503", "ServiceUnavailable", "Postgres is down"), ERR_BUSY,
			"Postgres is down"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct stage s;
		stage_open(&s);
		answer(&s, ROOT "/" WORDS, rows[i].status, rows[i].body);
		assert_int_equal(get(&s, NULL, "home"), rows[i].rc);
		says(&s, rows[i].says);
		if (rows[i].status == 503) /* its controller has answered: the APIService is well */
			assert_string_equal(s.e.text, rows[i].says);
		stage_close(&s);
	}
}

/* Each kind is asked by its own resource, and refused and narrowed by that. */
static void reports_and_histories_are_asked_alike(void **state)
{
	static const struct {
		struct past_words words;
		const char *what, *forbidden;
	} rows[] = {
		{{.kind = PAST_REPORT, .by = "user", .since = "month"},
			"reports?by=user&since=month HTTP",
			STATUS("403", "Forbidden",
				"reports.visibility.sluice.dev is forbidden: User \\\"alice\\\" cannot list resource")},
		{{.kind = PAST_RUNS, .job = "a/b", .submitter = "alice@x", .until = "day"},
			"histories?job=a%2Fb&user=alice%40x&until=day HTTP",
			STATUS("403", "Forbidden",
				"histories.visibility.sluice.dev is forbidden: User \\\"alice\\\" cannot list resource")},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct stage s;
		char all[200], one[200];
		stage_open(&s);
		snprintf(all, sizeof(all), "%s/%s", ROOT, rows[i].what);
		snprintf(one, sizeof(one), "%s/namespaces/home/%s", ROOT, rows[i].what);
		answer(&s, all, 403, rows[i].forbidden);
		answer(&s, GROUP, 200, "{}");
		answer(&s, one, 200, "{\"namespace\":\"home\"}");
		const struct past_answer_question q = {.words = rows[i].words, .home = "home"};
		assert_int_equal(
			past_answer_get(s.loop, s.client, &q, s.json, &s.root, &s.narrowed, &s.e),
			0);
		assert_true(s.narrowed);
		stage_close(&s);
	}
}

/* There is no other port to ask. */
static void an_old_controller_has_no_histories(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	answer(&s, ROOT "/histories HTTP", 404,
		STATUS("404", "NotFound", "the server could not find the requested resource"));
	const struct past_answer_question q = {.words = {.kind = PAST_RUNS}};
	assert_int_equal(past_answer_get(s.loop, s.client, &q, s.json, &s.root, &s.narrowed, &s.e),
		ERR_BUSY);
	says(&s, "has no histories: its controller is older than this sluice. Update it");
	stage_close(&s);
}

/* As explain has it: in the kubeconfig's namespace, unless another was named, or all. */
static void a_job_that_is_named_is_one_of_a_namespace(void **state)
{
	static const struct past_view view = {.kind = PAST_RUNS,
		.table = history_render,
		.csv = history_render_csv,
		.check = history_check};
	static const struct {
		const char *ns, *line, *body;
		bool all_namespaces;
		int exit_code;
	} rows[] = {
		{NULL, ROOT "/namespaces/home/histories?job=train HTTP",
			"{\"job\":\"train\",\"namespace\":\"home\",\"runs\":[]}", false,
			CLI_NOT_FOUND},
		{"team", ROOT "/namespaces/team/histories?job=train HTTP",
			"{\"job\":\"train\",\"namespace\":\"team\",\"runs\":[{\"uid\":\"1\"}]}",
			false, CLI_OK},
		{NULL, ROOT "/histories?job=train HTTP",
			"{\"job\":\"train\",\"runs\":[{\"uid\":\"1\"}]}", true, CLI_OK},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct stage s;
		struct past_command c = {.view = &view,
			.words = {.kind = PAST_RUNS, .job = "train", .ns = rows[i].ns},
			.all_namespaces = rows[i].all_namespaces,
			.output = OUTPUT_JSON};
		stage_open(&s);
		answer(&s, rows[i].line, 200, rows[i].body);
		assert_int_equal(past_command_ask(s.loop, s.client, "home", &c), rows[i].exit_code);
		stage_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_for_those_who_may_see_all),
		cmocka_unit_test(her_own_for_those_who_may_not),
		cmocka_unit_test(what_was_named_or_nothing),
		cmocka_unit_test(an_api_that_cannot_answer_is_told_with_its_cure),
		cmocka_unit_test(reports_and_histories_are_asked_alike),
		cmocka_unit_test(an_old_controller_has_no_histories),
		cmocka_unit_test(a_job_that_is_named_is_one_of_a_namespace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
