/*
 * The guard, against an API server that does as it is told.
 */
#include "controller/net/auth.h"

#include "test/unit/kube/test.h"
#include "test/unit/kube/scripted_server.h"
#include "test/golden/requests.h"

#define NOW_MS 5000000
#define QUEUES                                                                                     \
	{                                                                                          \
		"get", "sluice.dev", "clusterqueues", ""                                           \
	}

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct auth *auth;
	struct right right;
	uint64_t address;
	const char *as;		   /* whom a proxy names */
	const char *user;	   /* by this name; NULL: berta */
	enum auth_verdict verdict; /* AUTH_LATER until it is given */
};

static const char *audience; /* that stage_open() takes */

static void stage_open(struct stage *s)
{
	*s = (struct stage){
		.loop = ev_loop_new(EVFLAG_AUTO), .right = QUEUES, .verdict = AUTH_LATER};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->client = kube_client_new(s->loop, s->config, &(struct kube_client_options){0});
	struct auth_options o = {.client = s->client, .audience = audience};
	s->auth = auth_new(&o);
}

static void stage_close(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	auth_free(s->auth);
	kube_client_free(s->client);
	kube_config_free(s->config);
	golden_requests(s->server);
	scripted_server_free(s->server);
	ev_loop_destroy(s->loop);
}

static void on_verdict(enum auth_verdict v, void *ctx)
{
	struct stage *s = ctx;
	assert_int_equal(s->verdict, AUTH_LATER); /* exactly once */
	s->verdict = v;
}

static void expect(struct stage *s, const char *line, int status, const char *body)
{
	script_answer(scripted_server_expect(s->server, line), status,
		"Content-Type: application/json\r\n", body);
}

static const char *named(const struct stage *s)
{
	return !s->as ? NULL : s->user ? s->user : "berta";
}

static enum auth_verdict put(struct stage *s, const char *token, int64_t now_ms)
{
	struct auth_caller caller = {
		.token = token, .user = named(s), .as = s->as, .address = s->address};
	return auth_ask(s->auth, &caller, &s->right, now_ms, on_verdict, s);
}

static enum auth_verdict ask(struct stage *s, const char *token, int64_t now_ms)
{
	s->verdict = AUTH_LATER;
	enum auth_verdict v = put(s, token, now_ms);
	if (v != AUTH_LATER)
		return v;
	while (s->verdict == AUTH_LATER)
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
	assert_int_equal(ask(&s, "secret", NOW_MS), AUTH_ALLOWED);
	const char *sent = scripted_server_request(s.server, 0)->body;
	assert_non_null(strstr(sent, "\"spec\":{\"token\":\"secret\"}"));
	sent = scripted_server_request(s.server, 1)->body;
	assert_non_null(strstr(sent, "\"user\":\"anna\""));
	assert_non_null(strstr(sent, "\"groups\":[\"dev\",\"system:authenticated\"]"));
	assert_non_null(strstr(sent, "\"extra\":{\"k\":[\"v\"]}"));
	assert_non_null(strstr(sent, "\"resource\":\"clusterqueues\""));
	assert_null(strstr(sent, "secret"));
	/* Nobody is asked again for ten seconds, then they are. */
	assert_int_equal(ask(&s, "secret", NOW_MS + 9999), AUTH_ALLOWED);
	assert_int_equal(scripted_server_count(s.server), 2);
	expect(&s, TOKENS, 201, ANNA);
	expect(&s, ACCESS, 201, "{\"status\":{\"allowed\":false}}");
	assert_int_equal(ask(&s, "secret", NOW_MS + 10000), AUTH_REFUSED);
	assert_int_equal(ask(&s, "secret", NOW_MS + 10001), AUTH_REFUSED);
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
		enum auth_verdict verdict;
	} cases[] = {
		{"nobody's token", 201, "{\"status\":{\"authenticated\":false}}", 0, "",
			AUTH_STRANGER},
		{"a user with no name", 201, "{\"status\":{\"authenticated\":true,\"user\":{}}}", 0,
			"", AUTH_STRANGER},
		{"a word for a truth", 201,
			"{\"status\":{\"authenticated\":\"true\",\"user\":{\"username\":\"x\"}}}",
			0, "", AUTH_STRANGER},
		{"no status at all", 201, "{}", 0, "", AUTH_STRANGER},
		{"an answer that is no JSON", 201, "<html>", 0, "", AUTH_UNKNOWN},
		{"we may not ask", 403, "{}", 0, "", AUTH_UNKNOWN},
		{"the server is away", 500, "{}", 0, "", AUTH_UNKNOWN},
		{"they may not", 201, ANNA, 201, "{\"status\":{\"allowed\":false}}", AUTH_REFUSED},
		{"no word on access", 201, ANNA, 201, "{}", AUTH_REFUSED},
		{"access cannot be asked", 201, ANNA, 403, "{}", AUTH_UNKNOWN},
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
	assert_int_equal(ask(&s, "secret", NOW_MS), AUTH_UNKNOWN);
	expect(&s, TOKENS, 201, ANNA);
	expect(&s, ACCESS, 201, "{\"status\":{\"allowed\":true}}");
	assert_int_equal(ask(&s, "secret", NOW_MS), AUTH_ALLOWED);
	stage_close(&s);
}

static void only_so_many_questions_are_asked_at_once(void **state)
{
	(void)state;
	struct stage s;
	char token[16];
	enum auth_verdict v = AUTH_LATER;
	int asked = 0;
	stage_open(&s);
	while (v == AUTH_LATER && asked < 1000) {
		snprintf(token, sizeof(token), "t%d", asked++);
		s.address++;
		v = put(&s, token, NOW_MS);
	}
	assert_int_equal(v, AUTH_UNKNOWN);
	assert_true(asked < 100);
	stage_close(&s); /* with all of them pending */
}

static void expect_anna(struct stage *s, bool allowed)
{
	expect(s, TOKENS, 201, ANNA);
	expect(s, ACCESS, 201,
		allowed ? "{\"status\":{\"allowed\":true}}" : "{\"status\":{\"allowed\":false}}");
}

static void each_right_is_asked_for_by_itself(void **state)
{
	(void)state;
	static const struct right jobs_a = {"get", "batch", "jobs", "team-a"};
	static const struct right jobs_b = {"get", "batch", "jobs", "team-b"};
	struct stage s;
	stage_open(&s);
	s.right = jobs_a;
	expect_anna(&s, true);
	assert_int_equal(ask(&s, "secret", NOW_MS), AUTH_ALLOWED);
	const char *sent = scripted_server_request(s.server, 1)->body;
	assert_non_null(strstr(sent, "\"resource\":\"jobs\",\"verb\":\"get\","
				     "\"namespace\":\"team-a\""));
	/* Whose token it is, is known. */
	s.right = jobs_b;
	expect(&s, ACCESS, 201, "{\"status\":{\"allowed\":false}}");
	assert_int_equal(ask(&s, "secret", NOW_MS + 1), AUTH_REFUSED);
	sent = scripted_server_request(s.server, 2)->body;
	assert_non_null(strstr(sent, "\"namespace\":\"team-b\""));
	assert_non_null(strstr(sent, "\"user\":\"anna\""));
	s.right = jobs_a;
	assert_int_equal(ask(&s, "secret", NOW_MS + 2), AUTH_ALLOWED);
	s.right = jobs_b;
	assert_int_equal(ask(&s, "secret", NOW_MS + 3), AUTH_REFUSED);
	assert_int_equal(scripted_server_count(s.server), 3);
	stage_close(&s);
}

static void an_owner_has_so_many_rights_to_ask_for(void **state)
{
	(void)state;
	struct stage s;
	int allowed = 0;
	stage_open(&s);
	s.right = (struct right){"get", "batch", "jobs", "n0"};
	expect_anna(&s, true);
	assert_int_equal(ask(&s, "secret", NOW_MS), AUTH_ALLOWED);
	for (int i = 1; i <= 32; i++) {
		snprintf(s.right.ns, sizeof(s.right.ns), "n%d", i);
		expect(&s, ACCESS, 201, "{\"status\":{\"allowed\":true}}");
		allowed += ask(&s, "secret", NOW_MS) == AUTH_ALLOWED;
	}
	assert_int_equal(allowed, 32);
	strcpy(s.right.ns, "n99");
	assert_int_equal(ask(&s, "secret", NOW_MS), AUTH_UNKNOWN);
	strcpy(s.right.ns, "n3");
	assert_int_equal(ask(&s, "secret", NOW_MS), AUTH_ALLOWED); /* that is known */
	stage_close(&s);
}

static void expect_stranger(struct stage *s)
{
	expect(s, TOKENS, 201, "{\"status\":{\"authenticated\":false}}");
}

/* So many strangers come that anything they share with the honest would be gone. */
static void strangers_do_not_push_the_honest_out(void **state)
{
	(void)state;
	struct stage s;
	char token[16];
	stage_open(&s);
	expect_anna(&s, true);
	assert_int_equal(ask(&s, "secret", NOW_MS), AUTH_ALLOWED);
	for (int i = 0; i < 90; i++) { /* more than are remembered, as fast as they may */
		snprintf(token, sizeof(token), "t%d", i);
		s.address = 100 + (uint64_t)i % 20;
		expect_stranger(&s);
		assert_int_equal(ask(&s, token, NOW_MS + 60 * i), AUTH_STRANGER);
	}
	assert_int_equal(ask(&s, "t89", NOW_MS + 5401), AUTH_STRANGER); /* remembered */
	assert_int_equal(ask(&s, "secret", NOW_MS + 5402), AUTH_ALLOWED);
	assert_int_equal(scripted_server_count(s.server), 92);
	stage_close(&s);
}

static void an_owner_of_many_tokens_has_a_few_places(void **state)
{
	(void)state;
	struct stage s;
	char token[16];
	stage_open(&s);
	expect(&s, TOKENS, 201,
		"{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"bob\"}}}");
	expect(&s, ACCESS, 201, "{\"status\":{\"allowed\":true}}");
	assert_int_equal(ask(&s, "bob", NOW_MS), AUTH_ALLOWED);
	for (int i = 0; i < 70; i++) {
		snprintf(token, sizeof(token), "anna%d", i);
		s.address = 100 + (uint64_t)i % 20;
		expect_anna(&s, true);
		assert_int_equal(ask(&s, token, NOW_MS + 60 * i), AUTH_ALLOWED);
	}
	assert_int_equal(ask(&s, "bob", NOW_MS + 4300), AUTH_ALLOWED);
	assert_int_equal(ask(&s, "anna69", NOW_MS + 4300), AUTH_ALLOWED);
	assert_int_equal(scripted_server_count(s.server), 142);
	stage_close(&s);
}

static void strangers_are_asked_about_at_a_rate(void **state)
{
	(void)state;
	struct stage s;
	char token[16];
	int asked = 0, n = 0;
	stage_open(&s);
	/* One address, in one second. */
	for (int i = 0; i < 100; i++, n++) {
		snprintf(token, sizeof(token), "t%d", n);
		int64_t now_ms = NOW_MS + 10 * i;
		if (put(&s, token, now_ms) != AUTH_LATER)
			continue;
		asked++;
		expect_stranger(&s);
		s.verdict = AUTH_LATER;
		while (s.verdict == AUTH_LATER)
			ev_run(s.loop, EVRUN_ONCE);
		s.verdict = AUTH_LATER;
	}
	assert_in_range(asked, 10, 15);
	/* Another one is not kept waiting by it. */
	s.address = 7;
	expect_stranger(&s);
	assert_int_equal(ask(&s, "other", NOW_MS + 1000), AUTH_STRANGER);
	/* Very many addresses, in one second. */
	asked = 0;
	for (int i = 0; i < 500; i++, n++) {
		snprintf(token, sizeof(token), "t%d", n);
		s.address = 1000 + (uint64_t)i;
		s.verdict = AUTH_LATER;
		if (put(&s, token, NOW_MS + 10000 + 2 * i) != AUTH_LATER)
			continue;
		asked++;
		expect_stranger(&s);
		while (s.verdict == AUTH_LATER)
			ev_run(s.loop, EVRUN_ONCE);
	}
	assert_in_range(asked, 40, 61);
	stage_close(&s);
}

/* Behind an Ingress all have one address: strangers there must not keep out those who were let in before. */
static void one_that_was_good_is_asked_about_in_spite_of_strangers(void **state)
{
	(void)state;
	struct stage s;
	char token[16];
	int64_t later_ms = NOW_MS + 15000;
	stage_open(&s);
	expect_anna(&s, true);
	assert_int_equal(ask(&s, "secret", NOW_MS), AUTH_ALLOWED);
	for (int i = 0; i < 10; i++) {
		snprintf(token, sizeof(token), "t%d", i);
		expect_stranger(&s);
		assert_int_equal(ask(&s, token, later_ms), AUTH_STRANGER);
	}
	assert_int_equal(ask(&s, "one more", later_ms), AUTH_UNKNOWN);
	expect_anna(&s, true);
	assert_int_equal(ask(&s, "secret", later_ms), AUTH_ALLOWED);
	/* Once it is good no more, it is a stranger's. */
	expect_stranger(&s);
	assert_int_equal(ask(&s, "secret", later_ms + 10000), AUTH_STRANGER);
	for (int i = 10; i < 19; i++) {
		snprintf(token, sizeof(token), "t%d", i);
		expect_stranger(&s);
		assert_int_equal(ask(&s, token, later_ms + 20000), AUTH_STRANGER);
	}
	expect_stranger(&s);
	assert_int_equal(ask(&s, "secret", later_ms + 20000), AUTH_STRANGER);
	assert_int_equal(ask(&s, "one more", later_ms + 20000), AUTH_UNKNOWN);
	stage_close(&s);
}

static void a_token_is_for_an_audience(void **state)
{
	(void)state;
	static const struct {
		const char *token;
		enum auth_verdict verdict;
	} cases[] = {
		{"{\"status\":{\"authenticated\":true,\"audiences\":[\"x\",\"sluice\"],"
		 "\"user\":{\"username\":\"anna\"}}}",
			AUTH_ALLOWED},
		{"{\"status\":{\"authenticated\":true,\"audiences\":[\"x\"],"
		 "\"user\":{\"username\":\"anna\"}}}",
			AUTH_STRANGER},
		{ANNA, AUTH_STRANGER}, /* an authenticator that knows nothing of audiences */
	};
	audience = "sluice";
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stage s;
		stage_open(&s);
		expect(&s, TOKENS, 201, cases[i].token);
		if (cases[i].verdict == AUTH_ALLOWED)
			expect(&s, ACCESS, 201, "{\"status\":{\"allowed\":true}}");
		assert_int_equal(ask(&s, "secret", NOW_MS), cases[i].verdict);
		assert_non_null(strstr(
			scripted_server_request(s.server, 0)->body, "\"audiences\":[\"sluice\"]"));
		stage_close(&s);
	}
	audience = NULL;
}

#define BERTA "{\"user\":\"berta\",\"groups\":[\"ml\",\"system:authenticated\"]}"

static void who_is_named_is_asked_about_and_has_no_token(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	s.as = BERTA;
	expect(&s, ACCESS, 201, "{\"status\":{\"allowed\":true}}");
	assert_int_equal(ask(&s, "the proxy's", NOW_MS), AUTH_ALLOWED);
	const char *sent = scripted_server_request(s.server, 0)->body;
	assert_non_null(strstr(sent, "\"user\":\"berta\",\"groups\":[\"ml\""));
	/* It is remembered for any proxy, and is no token. */
	assert_int_equal(ask(&s, "another proxy's", NOW_MS + 1), AUTH_ALLOWED);
	struct auth_caller caller = {.token = "x", .user = "berta", .as = BERTA};
	uint64_t berta = auth_name(s.auth, &caller, NOW_MS);
	assert_int_not_equal(berta, 0);
	s.as = NULL;
	expect(&s, TOKENS, 201, "{\"status\":{\"authenticated\":false}}");
	assert_int_equal(ask(&s, BERTA, NOW_MS + 2), AUTH_STRANGER);
	/* The proxy itself is somebody else. */
	expect(&s, TOKENS, 201, ANNA);
	expect(&s, ACCESS, 201, "{\"status\":{\"allowed\":false}}");
	assert_int_equal(ask(&s, "the proxy's", NOW_MS + 3), AUTH_REFUSED);
	caller = (struct auth_caller){.token = "the proxy's"};
	assert_int_not_equal(auth_name(s.auth, &caller, NOW_MS + 3), 0);
	assert_int_not_equal(auth_name(s.auth, &caller, NOW_MS + 3), berta);
	assert_int_equal(auth_name(s.auth, &caller, NOW_MS + 60000), 0);
	stage_close(&s);
}

/* A proxy's address is one for all its users: no bound of one address is theirs. */
static void many_are_named_at_a_rate(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	int let_in = 0;
	for (int i = 0; i < 60; i++) {
		char as[64];
		snprintf(as, sizeof(as), "{\"user\":\"u%d\",\"groups\":[]}", i);
		s.as = as;
		if (let_in < 40)
			expect(&s, ACCESS, 201, "{\"status\":{\"allowed\":true}}");
		let_in += ask(&s, "", NOW_MS) == AUTH_ALLOWED;
	}
	assert_int_equal(let_in, 40);
	stage_close(&s);
}

static enum auth_verdict ask_choice(struct stage *s, const char *token, int64_t now_ms)
{
	struct auth_caller caller = {
		.token = token, .user = named(s), .as = s->as, .address = s->address};
	s->verdict = AUTH_LATER;
	enum auth_verdict v = auth_ask_choice(s->auth, &caller, &s->right, now_ms, on_verdict, s);
	if (v != AUTH_LATER)
		return v;
	while (s->verdict == AUTH_LATER)
		ev_run(s->loop, EVRUN_ONCE);
	return s->verdict;
}

/* What a page offers takes no place from what it asks, and is remembered for that. */
static void choices_have_places_of_their_own(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	s.right = (struct right){"list", "batch", "jobs", ""};
	assert_int_equal(ask_choice(&s, "secret", NOW_MS), AUTH_UNKNOWN); /* whose is it? */
	expect_anna(&s, false);
	assert_int_equal(ask(&s, "secret", NOW_MS), AUTH_REFUSED);
	for (int i = 0; i < 24; i++) {
		snprintf(s.right.ns, sizeof(s.right.ns), "n%d", i);
		expect(&s, ACCESS, 201,
			i % 2 ? "{\"status\":{\"allowed\":true}}"
			      : "{\"status\":{\"allowed\":false}}");
		assert_int_equal(
			ask_choice(&s, "secret", NOW_MS), i % 2 ? AUTH_ALLOWED : AUTH_REFUSED);
	}
	strcpy(s.right.ns, "n24");
	assert_int_equal(ask_choice(&s, "secret", NOW_MS), AUTH_UNKNOWN);
	strcpy(s.right.ns, "n1");
	assert_int_equal(ask(&s, "secret", NOW_MS), AUTH_ALLOWED); /* known by the choice */
	for (int i = 1; i <= 31; i++) {
		snprintf(s.right.ns, sizeof(s.right.ns), "m%d", i);
		expect(&s, ACCESS, 201, "{\"status\":{\"allowed\":true}}");
		assert_int_equal(ask(&s, "secret", NOW_MS), AUTH_ALLOWED);
	}
	stage_close(&s);
}

static void choices_of_all_have_a_rate(void **state)
{
	(void)state;
	struct stage s;
	unsigned asked = 0;
	char as[64], name[16];
	stage_open(&s);
	for (int user = 0; user < 4; user++) {
		snprintf(name, sizeof(name), "u%d", user);
		snprintf(as, sizeof(as), "{\"user\":\"u%d\",\"groups\":[]}", user);
		s.as = as;
		s.user = name;
		s.right = (struct right){"list", "batch", "jobs", ""};
		expect(&s, ACCESS, 201, "{\"status\":{\"allowed\":false}}");
		assert_int_equal(ask(&s, "", NOW_MS), AUTH_REFUSED);
		for (int i = 0; i < 24; i++) {
			snprintf(s.right.ns, sizeof(s.right.ns), "n%d", i);
			if (asked < 40)
				expect(&s, ACCESS, 201, "{\"status\":{\"allowed\":false}}");
			asked += ask_choice(&s, "", NOW_MS) == AUTH_REFUSED;
		}
	}
	assert_int_equal(asked, 40);
	expect(&s, ACCESS, 201, "{\"status\":{\"allowed\":false}}");
	assert_int_equal(ask_choice(&s, "", NOW_MS + 50), AUTH_REFUSED);
	stage_close(&s);
}

/* Lets a ServiceAccount be known, as a proxy names it: as the tokens of many would be. */
static void let_in(struct stage *s, const char *user)
{
	static char as[100];
	snprintf(as, sizeof(as), "{\"user\":\"%s\",\"groups\":[]}", user);
	s->as = as;
	s->user = user;
	s->right = (struct right){"list", "batch", "jobs", ""};
	expect(s, ACCESS, 201, "{\"status\":{\"allowed\":false}}");
	assert_int_equal(ask(s, "", NOW_MS), AUTH_REFUSED);
}

static unsigned choose(struct stage *s, unsigned wanted, unsigned answers, int64_t now_ms)
{
	unsigned asked = 0;
	for (unsigned i = 0; i < answers; i++)
		expect(s, ACCESS, 201, "{\"status\":{\"allowed\":false}}");
	for (unsigned i = 0; i < wanted; i++) {
		snprintf(s->right.ns, sizeof(s->right.ns), "n%u", i);
		asked += ask_choice(s, "", now_ms) == AUTH_REFUSED;
	}
	return asked;
}

/* A tenant makes ServiceAccounts as it likes: those of its namespace have the share of one user. */
static void choices_of_a_namespaces_accounts_are_of_one_user(void **state)
{
	char user[64];
	(void)state;
	struct stage s;
	stage_open(&s);
	for (unsigned i = 0; i < 5; i++) {
		snprintf(user, sizeof(user), "system:serviceaccount:attack:a%u", i);
		let_in(&s, user);
		unsigned may = i == 0 ? 20 : i == 1 ? 4 : 0;
		assert_int_equal(choose(&s, 20, may, NOW_MS), may);
	}
	assert_int_equal(choose(&s, 20, 5, NOW_MS + 1000), 5); /* it fills by five a second */
	let_in(&s, "system:serviceaccount:attacked:a0");       /* of another namespace */
	assert_int_equal(choose(&s, 10, 10, NOW_MS), 10);
	stage_close(&s);
}

/* What is refused by the bucket of all is not taken from a user's own. */
static void choices_that_wait_for_others_cost_nothing(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	let_in(&s, "one");
	assert_int_equal(choose(&s, 24, 24, NOW_MS), 24);
	let_in(&s, "two");
	assert_int_equal(choose(&s, 16, 16, NOW_MS), 16);
	let_in(&s, "three");
	for (int i = 0; i < 30; i++)
		assert_int_equal(choose(&s, 24, 0, NOW_MS), 0);
	assert_int_equal(choose(&s, 24, 24, NOW_MS + 2000), 24);
	stage_close(&s);
}

static enum auth_verdict put_choice(struct stage *s)
{
	struct auth_caller caller = {.user = s->user, .as = s->as, .address = s->address};
	return auth_ask_choice(s->auth, &caller, &s->right, NOW_MS, on_verdict, s);
}

/* With all of them under way, an address has as many requests as without. */
static void choices_take_no_place_of_other_questions(void **state)
{
	char user[5][16], as[5][100], token[16];
	(void)state;
	struct stage s;
	stage_open(&s);
	for (int i = 0; i < 5; i++) {
		snprintf(user[i], sizeof(user[i]), "u%d", i);
		let_in(&s, user[i]);
		snprintf(as[i], sizeof(as[i]), "%s", s.as);
	}
	s.verdict = AUTH_LATER; /* nothing is sent from here on, for no loop runs */
	for (int i = 0; i < 5; i++) {
		s.user = user[i];
		s.as = as[i];
		strcpy(s.right.ns, "n0");
		assert_int_equal(put_choice(&s), i < 4 ? AUTH_LATER : AUTH_UNKNOWN);
		strcpy(s.right.ns, "n1");
		assert_int_equal(put_choice(&s), AUTH_UNKNOWN); /* one at once */
	}
	s.as = NULL;
	for (int i = 0; i < 9; i++) {
		snprintf(token, sizeof(token), "t%d", i);
		assert_int_equal(put(&s, token, NOW_MS), i < 8 ? AUTH_LATER : AUTH_UNKNOWN);
	}
	stage_close(&s);
}

static void a_caller_has_a_name_while_something_is_known(void **state)
{
	(void)state;
	struct stage s;
	struct buf name;
	struct auth_caller anna = {.token = "secret"};
	struct auth_caller berta = {.token = "x", .user = "berta", .as = BERTA};
	stage_open(&s);
	buf_init(&name, 100);
	assert_false(auth_user(s.auth, &anna, NOW_MS, &name));
	assert_false(auth_user(s.auth, &(struct auth_caller){0}, NOW_MS, &name));
	expect_anna(&s, true);
	ask(&s, "secret", NOW_MS);
	assert_true(auth_user(s.auth, &anna, NOW_MS, &name));
	assert_string_equal(buf_text(&name), "anna");
	buf_reset(&name);
	s.as = BERTA;
	expect(&s, ACCESS, 201, "{\"status\":{\"allowed\":true}}");
	ask(&s, "x", NOW_MS);
	assert_true(auth_user(s.auth, &berta, NOW_MS, &name));
	assert_string_equal(buf_text(&name), "berta");
	assert_false(auth_user(s.auth, &anna, NOW_MS + 10000, &name));
	buf_done(&name);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_owner_who_may_is_let_in_and_remembered),
		cmocka_unit_test(every_other_answer_keeps_the_door_shut),
		cmocka_unit_test(what_is_not_known_is_not_remembered),
		cmocka_unit_test(only_so_many_questions_are_asked_at_once),
		cmocka_unit_test(each_right_is_asked_for_by_itself),
		cmocka_unit_test(an_owner_has_so_many_rights_to_ask_for),
		cmocka_unit_test(strangers_do_not_push_the_honest_out),
		cmocka_unit_test(an_owner_of_many_tokens_has_a_few_places),
		cmocka_unit_test(strangers_are_asked_about_at_a_rate),
		cmocka_unit_test(one_that_was_good_is_asked_about_in_spite_of_strangers),
		cmocka_unit_test(a_token_is_for_an_audience),
		cmocka_unit_test(who_is_named_is_asked_about_and_has_no_token),
		cmocka_unit_test(many_are_named_at_a_rate),
		cmocka_unit_test(choices_have_places_of_their_own),
		cmocka_unit_test(choices_of_all_have_a_rate),
		cmocka_unit_test(choices_of_a_namespaces_accounts_are_of_one_user),
		cmocka_unit_test(choices_that_wait_for_others_cost_nothing),
		cmocka_unit_test(choices_take_no_place_of_other_questions),
		cmocka_unit_test(a_caller_has_a_name_while_something_is_known),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
