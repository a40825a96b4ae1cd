/*
 * The rendezvous, against an API server that does as it is told.
 */
#include "controller/nodes/rendezvous.h"

#include "test/unit/kube/scripted_server.h"
#include "test/unit/kube/test.h"

#define PATH "/api/v1/namespaces/sluice-system/configmaps/sluice-nodes"
#define READ "GET " PATH " HTTP"
#define WRITE "PATCH " PATH "?fieldManager=sluice-nodes HTTP"
#define AT(address) "{\"data\":{\"address\":\"" address "\",\"certificate\":\"PEM\"}}"
#define OURS AT("10.0.0.7:8444")

enum { MINUTE_MS = 60000 };

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct rendezvous *rendezvous;
	struct log *log;
	FILE *written;
};

static void stage_open_at(struct stage *s, const char *address)
{
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO), .written = tmpfile()};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->client = kube_client_new(s->loop, s->config, &(struct kube_client_options){0});
	s->log = log_new(fileno(s->written), LOG_JSON, LEVEL_INFO);
	s->rendezvous = rendezvous_new(&(struct rendezvous_options){.client = s->client,
		.log = s->log,
		.namespace_name = "sluice-system",
		.address = address,
		.seed = 255});
}

static void stage_open(struct stage *s)
{
	stage_open_at(s, "10.0.0.7");
}

static void stage_close(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	rendezvous_free(s->rendezvous);
	kube_client_free(s->client);
	kube_config_free(s->config);
	scripted_server_free(s->server);
	ev_loop_destroy(s->loop);
	log_free(s->log);
	fclose(s->written);
}

static void expect(struct stage *s, const char *line, int status, const char *body)
{
	script_answer(scripted_server_expect(s->server, line), status,
		"Content-Type: application/json\r\n", body);
}

static void tick_by(struct stage *s, const char *certificate, int64_t tick_ms)
{
	const struct kube_client_stats *stats = kube_client_stats(s->client);
	rendezvous_tick(s->rendezvous, 8444, certificate, tick_ms);
	while (stats->in_flight + stats->queued > 0)
		ev_run(s->loop, EVRUN_ONCE);
}

static void tick_at(struct stage *s, int64_t tick_ms)
{
	tick_by(s, "PEM", tick_ms);
}

static const char *last_body(const struct stage *s)
{
	return scripted_server_request(s->server, scripted_server_count(s->server) - 1)->body;
}

static size_t said(struct stage *s, const char *words)
{
	char text[16384];
	size_t n = 0;
	ssize_t len = pread(fileno(s->written), text, sizeof(text) - 1, 0);
	text[len > 0 ? len : 0] = '\0';
	for (const char *p = text; (p = strstr(p, words)); p++)
		n++;
	return n;
}

/* ---- what is written ------------------------------------------------------------------------- */

static void it_is_written_where_it_differs(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	expect(&s, READ, 200, "{\"metadata\":{},\"data\":{\"other\":\"x\"}}");
	expect(&s, WRITE, 200, OURS);
	tick_at(&s, 1000);
	assert_string_equal(last_body(&s), OURS);
	assert_non_null(strstr(scripted_server_request(s.server, 1)->head,
		"Content-Type: application/merge-patch+json"));
	assert_int_equal(said(&s, "nodes-told"), 1);
	/* Then it is compared every ten seconds. */
	tick_at(&s, 10999);
	assert_int_equal(scripted_server_count(s.server), 2);
	expect(&s, READ, 200, OURS);
	tick_at(&s, 11000);
	assert_int_equal(said(&s, "nodes-told"), 1);
	stage_close(&s);
}

static void another_leaders_word_is_written_over_and_said_once(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	expect(&s, READ, 200, OURS);
	tick_at(&s, 0);
	assert_int_equal(said(&s, "nodes-told"), 0);
	for (int i = 1; i <= 2; i++) {
		expect(&s, READ, 200, AT("10.0.0.8:8444"));
		expect(&s, WRITE, 200, OURS);
		tick_at(&s, i * 10000);
	}
	assert_int_equal(said(&s, "another client had changed"), 1);
	stage_close(&s);
}

static void a_renewed_certificate_is_told_at_once(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	expect(&s, READ, 200, OURS);
	tick_at(&s, 0);
	expect(&s, READ, 200, OURS);
	expect(&s, WRITE, 200, "{}");
	tick_by(&s, "RENEWED", 1000);
	assert_non_null(strstr(last_body(&s), "\"certificate\":\"RENEWED\""));
	stage_close(&s);
}

static void an_address_of_six_stands_in_brackets(void **state)
{
	struct stage s;
	(void)state;
	stage_open_at(&s, "fd00::5");
	expect(&s, READ, 200, "{}");
	expect(&s, WRITE, 200, "{}");
	tick_at(&s, 0);
	assert_non_null(strstr(last_body(&s), "\"address\":\"[fd00::5]:8444\""));
	stage_close(&s);
}

/* ---- what is not ----------------------------------------------------------------------------- */

/* Agents that are not connected find no leader: whoever deleted it hears of that, and of the cure. */
static void where_there_is_none_that_is_said(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	expect(&s, READ, 404, "{}");
	tick_at(&s, 0);
	expect(&s, READ, 200, "{}");
	expect(&s, WRITE, 404, "{}"); /* it was deleted just now */
	tick_at(&s, MINUTE_MS);
	assert_int_equal(said(&s, "nodes-not-told"), 1);
	assert_int_equal(said(&s, "deploy/components/node-agent"), 1);
	/* It is there again, empty. */
	expect(&s, READ, 200, "{}");
	expect(&s, WRITE, 200, OURS);
	tick_at(&s, 2 * MINUTE_MS);
	assert_int_equal(said(&s, "nodes-told"), 1);
	stage_close(&s);
}

static void a_failure_is_said_once_with_its_cure(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	expect(&s, READ, 200, "{}");
	expect(&s, WRITE, 403, "{}");
	tick_at(&s, 0);
	expect(&s, READ, 200, "{}");
	expect(&s, WRITE, 403, "{}");
	tick_at(&s, MINUTE_MS);
	assert_int_equal(said(&s, "nodes-not-told"), 1);
	assert_int_equal(said(&s, "deploy/components/node-agent"), 1);
	expect(&s, READ, 200, "{}");
	expect(&s, WRITE, 200, "{}");
	tick_at(&s, 2 * MINUTE_MS);
	assert_int_equal(said(&s, "nodes-told"), 1);
	stage_close(&s);
}

static void who_does_not_lead_writes_nothing(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	struct script *slow = scripted_server_expect(s.server, READ);
	script_hold(slow);
	rendezvous_tick(s.rendezvous, 8444, "PEM", 0);
	run_until(s.loop, scripted_server_count(s.server) == 1);
	rendezvous_pause(s.rendezvous);
	run_a_little(s.loop);
	/* It leads again: at once. */
	expect(&s, READ, 200, "{}");
	expect(&s, WRITE, 200, "{}");
	tick_at(&s, 1);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_written_where_it_differs),
		cmocka_unit_test(another_leaders_word_is_written_over_and_said_once),
		cmocka_unit_test(a_renewed_certificate_is_told_at_once),
		cmocka_unit_test(an_address_of_six_stands_in_brackets),
		cmocka_unit_test(where_there_is_none_that_is_said),
		cmocka_unit_test(a_failure_is_said_once_with_its_cure),
		cmocka_unit_test(who_does_not_lead_writes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
