/*
 * The announcement, against an API server that does as it is told.
 */
#include "controller/announcement.h"

#include "base/json.h"
#include "test/unit/kube/scripted_server.h"
#include "test/unit/kube/test.h"
#include "test/golden/requests.h"

#define APISERVICE "/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.visibility.sluice.dev"
#define SLICE "/apis/discovery.k8s.io/v1/namespaces/sluice-system/endpointslices/sluice-visibility"
#define READ_APISERVICE "GET " APISERVICE " HTTP"
#define WRITE_APISERVICE "PATCH " APISERVICE "?fieldManager=sluice-visibility HTTP"
#define READ_SLICE "GET " SLICE " HTTP"
#define WRITE_SLICE "PATCH " SLICE "?fieldManager=sluice-visibility&force=true HTTP"

#define NO_CA "{\"spec\":{\"group\":\"visibility.sluice.dev\"}}"
#define WITH_CA "{\"spec\":{\"caBundle\":\"Q0E=\"}}" /* "CA" */

#define OUR_LABEL "\"kubernetes.io/service-name\":\"sluice-visibility\""
#define A_SLICE(labels, type, endpoints, ports)                                                    \
	"{\"metadata\":{\"labels\":{" labels "}},\"addressType\":\"" type                          \
	"\",\"endpoints\":[" endpoints "],\"ports\":[" ports "]}"
#define AT(address) "{\"addresses\":[\"" address "\"],\"conditions\":{\"ready\":true}}"
#define PORT "{\"name\":\"https\",\"port\":8443,\"protocol\":\"TCP\"}"
#define OUR_SLICE A_SLICE(OUR_LABEL, "IPv4", AT("10.0.0.7"), PORT)

enum { MINUTE_MS = 60000 };

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct announcement *announcement;
	struct log *log;
	FILE *written;
};

static void stage_open_at(struct stage *s, const char *address, uint16_t page_port)
{
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO), .written = tmpfile()};
	assert_non_null(s->written);
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->client = kube_client_new(s->loop, s->config, &(struct kube_client_options){0});
	s->log = log_new(fileno(s->written), LOG_JSON, LEVEL_INFO);
	s->announcement = announcement_new(&(struct announcement_options){.client = s->client,
		.log = s->log,
		.namespace_name = "sluice-system",
		.address = address,
		.page_port = page_port,
		.seed = 255});
}

static void stage_open(struct stage *s)
{
	stage_open_at(s, "10.0.0.7", 0);
}

static void stage_close(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	announcement_free(s->announcement);
	kube_client_free(s->client);
	kube_config_free(s->config);
	golden_requests(s->server);
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

static bool is_idle(const struct stage *s)
{
	const struct kube_client_stats *stats = kube_client_stats(s->client);
	return stats->in_flight + stats->queued == 0;
}

static void settle(struct stage *s)
{
	while (!is_idle(s))
		ev_run(s->loop, EVRUN_ONCE);
}

static void stage_tick(struct stage *s, const char *ca, int64_t tick_ms)
{
	announcement_tick(s->announcement, 8443, ca, tick_ms);
	settle(s);
}

static size_t asked(const struct stage *s)
{
	return scripted_server_count(s->server);
}

static const struct scripted_request *last_request(const struct stage *s)
{
	return scripted_server_request(s->server, asked(s) - 1);
}

/* How often the log has said it. */
static size_t said(struct stage *s, const char *words)
{
	char text[16384];
	size_t n = 0;
	ssize_t len = pread(fileno(s->written), text, sizeof(text) - 1, 0);
	assert_true(len >= 0);
	text[len] = '\0';
	for (const char *p = text; (p = strstr(p, words)); p++)
		n++;
	return n;
}

/* All is as it should be. */
static void expect_right(struct stage *s)
{
	expect(s, READ_APISERVICE, 200, WITH_CA);
	expect(s, READ_SLICE, 200, OUR_SLICE);
}

static void both_are_written_where_they_differ(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	expect(&s, READ_APISERVICE, 200, NO_CA);
	expect(&s, WRITE_APISERVICE, 200, WITH_CA);
	expect(&s, READ_SLICE, 404, "{}");
	expect(&s, WRITE_SLICE, 201, OUR_SLICE);
	stage_tick(&s, "CA", 1000);
	const struct scripted_request *patch = scripted_server_request(s.server, 1);
	assert_non_null(strstr(patch->head, "application/merge-patch+json"));
	assert_string_equal(patch->body, WITH_CA);
	assert_non_null(strstr(last_request(&s)->head, "application/apply-patch+yaml"));
	assert_string_equal(last_request(&s)->body,
		"{\"apiVersion\":\"discovery.k8s.io/v1\",\"kind\":\"EndpointSlice\","
		"\"metadata\":{\"name\":\"sluice-visibility\",\"namespace\":\"sluice-system\","
		"\"labels\":{\"app.kubernetes.io/part-of\":\"sluice\","
		"\"endpointslice.kubernetes.io/managed-by\":\"sluice-controller\"," OUR_LABEL "}},"
		"\"addressType\":\"IPv4\",\"endpoints\":[" AT("10.0.0.7") "],\"ports\":[" PORT
									  "]}");
	assert_int_equal(said(&s, "visibility-announced"), 1);
	assert_int_equal(said(&s, "10.0.0.7"), 1);
	stage_close(&s);
}

static void what_is_right_is_compared_every_ten_seconds_and_not_written(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	expect_right(&s);
	stage_tick(&s, "CA", 1000);
	for (int64_t ms = 2000; ms < 11000; ms += 1000)
		stage_tick(&s, "CA", ms);
	assert_int_equal(asked(&s), 2);
	expect_right(&s);
	stage_tick(&s, "CA", 11000);
	assert_int_equal(asked(&s), 4);
	assert_int_equal(said(&s, "visibility"), 0);
	stage_close(&s);
}

static void every_part_of_the_slice_is_compared(void **state)
{
	(void)state;
	static const char *const others[] = {
		A_SLICE("", "IPv4", AT("10.0.0.7"), PORT),
		A_SLICE(OUR_LABEL, "IPv6", AT("10.0.0.7"), PORT),
		A_SLICE(OUR_LABEL, "IPv4", "", PORT),
		A_SLICE(OUR_LABEL, "IPv4", AT("10.0.0.8"), PORT),
		A_SLICE(OUR_LABEL, "IPv4", AT("10.0.0.7") "," AT("10.0.0.8"), PORT),
		A_SLICE(OUR_LABEL, "IPv4",
			"{\"addresses\":[\"10.0.0.7\"],\"conditions\":{\"ready\":false}}", PORT),
		A_SLICE(OUR_LABEL, "IPv4", "{\"addresses\":[7]}", PORT),
		A_SLICE(OUR_LABEL, "IPv4", AT("10.0.0.7"), ""),
		A_SLICE(OUR_LABEL, "IPv4", AT("10.0.0.7"), "{\"name\":\"https\",\"port\":8444}"),
		A_SLICE(OUR_LABEL, "IPv4", AT("10.0.0.7"), "{\"name\":\"http\",\"port\":8443}"),
		"{}",
		"no JSON",
	};
	struct stage s;
	stage_open(&s);
	for (size_t i = 0; i < ROWS(others); i++) {
		expect(&s, READ_APISERVICE, 200, WITH_CA);
		expect(&s, READ_SLICE, 200, others[i]);
		expect(&s, WRITE_SLICE, 200, OUR_SLICE);
		stage_tick(&s, "CA", (int64_t)i * MINUTE_MS);
	}
	/* The first is ours to write; of the others' changes it is said once. */
	assert_int_equal(said(&s, "another client had changed"), 1);
	assert_int_equal(said(&s, "visibility-announced"), 2);
	stage_close(&s);
}

static void an_address_of_version_6_is_told_as_such(void **state)
{
	(void)state;
	struct stage s;
	stage_open_at(&s, "fd00::7", 0);
	expect(&s, READ_APISERVICE, 200, WITH_CA);
	expect(&s, READ_SLICE, 404, "{}");
	expect(&s, WRITE_SLICE, 201, "{}");
	stage_tick(&s, "CA", 1000);
	assert_non_null(strstr(last_request(&s)->body, "\"addressType\":\"IPv6\""));
	assert_non_null(strstr(last_request(&s)->body, "\"addresses\":[\"fd00::7\"]"));
	stage_close(&s);
}

static void a_certificate_of_somebody_elses_is_left_alone(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	expect(&s, READ_APISERVICE, 200, "{\"spec\":{\"caBundle\":\"b3RoZXI=\"}}");
	expect(&s, READ_SLICE, 200, OUR_SLICE);
	stage_tick(&s, NULL, 1000);
	assert_int_equal(asked(&s), 2);
	stage_close(&s);
}

static void without_an_address_there_is_no_slice(void **state)
{
	(void)state;
	struct stage s;
	stage_open_at(&s, NULL, 0);
	expect(&s, READ_APISERVICE, 200, NO_CA);
	expect(&s, WRITE_APISERVICE, 200, WITH_CA);
	stage_tick(&s, "CA", 1000);
	assert_int_equal(asked(&s), 2);
	stage_tick(&s, NULL, MINUTE_MS); /* nothing is left to tell */
	assert_int_equal(asked(&s), 2);
	stage_close(&s);
}

static void where_it_is_not_installed_it_is_looked_for_once_a_minute(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	expect(&s, READ_APISERVICE, 404, "{}");
	stage_tick(&s, "CA", 1000);
	for (int64_t ms = 2000; ms < 61000; ms += 1000)
		stage_tick(&s, "CA", ms);
	assert_int_equal(asked(&s), 1);
	/* It goes in between: the patch makes none. */
	expect(&s, READ_APISERVICE, 200, NO_CA);
	expect(&s, WRITE_APISERVICE, 404, "{}");
	stage_tick(&s, "CA", 61000);
	stage_tick(&s, "CA", 90000);
	assert_int_equal(asked(&s), 3);
	assert_int_equal(said(&s, "visibility"), 0);
	stage_close(&s);
}

static void a_new_port_or_certificate_is_told_at_once(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	expect_right(&s);
	stage_tick(&s, "CA", 1000);
	expect(&s, READ_APISERVICE, 200, WITH_CA);
	expect(&s, WRITE_APISERVICE, 200, "{}");
	expect(&s, READ_SLICE, 200, OUR_SLICE);
	stage_tick(&s, "CB", 2000);
	assert_string_equal(
		scripted_server_request(s.server, 3)->body, "{\"spec\":{\"caBundle\":\"Q0I=\"}}");
	expect(&s, READ_APISERVICE, 200, "{\"spec\":{\"caBundle\":\"Q0I=\"}}");
	expect(&s, READ_SLICE, 200, OUR_SLICE);
	expect(&s, WRITE_SLICE, 200, "{}");
	announcement_tick(s.announcement, 9443, "CB", 3000);
	settle(&s);
	assert_non_null(strstr(last_request(&s)->body, "\"port\":9443"));
	assert_int_equal(said(&s, "another client had changed"), 0);
	stage_close(&s);
}

static void news_in_the_middle_of_a_round_are_told_in_the_next(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	expect(&s, READ_APISERVICE, 200, WITH_CA);
	announcement_tick(s.announcement, 8443, "CA", 1000);
	announcement_tick(s.announcement, 8443, "CB", 1000);
	expect(&s, WRITE_APISERVICE, 200, "{}");
	expect(&s, READ_SLICE, 200, OUR_SLICE);
	settle(&s);
	expect(&s, READ_APISERVICE, 200, "{\"spec\":{\"caBundle\":\"Q0I=\"}}");
	expect(&s, READ_SLICE, 200, OUR_SLICE);
	stage_tick(&s, "CB", 2000);
	assert_int_equal(asked(&s), 5);
	stage_close(&s);
}

static void a_failure_is_said_once_and_tried_again_with_growing_pauses(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	int64_t ms = 0, last_ms = 0, longest_ms = 0;
	for (size_t tries = 0; tries < 12; ms += 250) {
		size_t before = asked(&s);
		/* What is asked is refused, and what is not is asked for later. */
		announcement_tick(s.announcement, 8443, "CA", ms);
		if (is_idle(&s))
			continue;
		expect(&s, READ_APISERVICE, 403, "{\"message\":\"no\"}");
		settle(&s);
		assert_int_equal(asked(&s), before + 1);
		longest_ms = ms - last_ms > longest_ms ? ms - last_ms : longest_ms;
		last_ms = ms;
		tries++;
	}
	assert_true(longest_ms > 30000 && longest_ms <= 60250);
	assert_int_equal(said(&s, "visibility-not-announced"), 1);
	assert_int_equal(said(&s, "deploy/components/visibility/role.yaml"), 1);
	expect_right(&s);
	stage_tick(&s, "CA", ms + MINUTE_MS);
	assert_int_equal(said(&s, "visibility-announced"), 1);
	/* And from then on as before, a failure among it. */
	expect(&s, READ_APISERVICE, 200, WITH_CA);
	expect(&s, READ_SLICE, 200, "{}");
	expect(&s, WRITE_SLICE, 422, "{\"message\":\"field is immutable\"}");
	stage_tick(&s, "CA", ms + 2 * MINUTE_MS);
	assert_int_equal(said(&s, "visibility-not-announced"), 2);
	assert_int_equal(said(&s, "EndpointSlice"), 1);
	stage_close(&s);
}

static void a_server_that_asks_for_patience_gets_it(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	script_answer(scripted_server_expect(s.server, READ_APISERVICE), 429,
		"Content-Type: application/json\r\nRetry-After: 20\r\n", "{}");
	stage_tick(&s, "CA", 1000);
	stage_tick(&s, "CA", 20000);
	assert_int_equal(asked(&s), 1);
	expect_right(&s);
	stage_tick(&s, "CA", 21000);
	stage_close(&s);
}

static void nothing_is_written_once_it_leads_no_more(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	expect(&s, READ_APISERVICE, 200, NO_CA);
	announcement_tick(s.announcement, 8443, "CA", 1000);
	run_until(s.loop, asked(&s) == 1);
	announcement_pause(s.announcement);
	run_a_little(s.loop);
	settle(&s);
	assert_int_equal(asked(&s), 1);
	/* Leads again: at once, from the beginning. */
	expect_right(&s);
	stage_tick(&s, "CA", 1500);
	/* It listens no more. */
	announcement_tick(s.announcement, 0, "CA", MINUTE_MS);
	settle(&s);
	assert_int_equal(asked(&s), 3);
	stage_close(&s);
}

/* The process ends meanwhile: nothing is left behind (the sanitizer looks). */
static void it_may_go_with_a_request_under_way(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	announcement_tick(s.announcement, 8443, "CA", 1000);
	stage_close(&s);
}

#define PAGE_PORT "{\"name\":\"page\",\"port\":8080,\"protocol\":\"TCP\"}"

static void the_port_of_the_page_is_told_beside_it(void **state)
{
	(void)state;
	struct stage s;
	stage_open_at(&s, "10.0.0.7", 8080);
	expect(&s, READ_APISERVICE, 200, WITH_CA);
	expect(&s, READ_SLICE, 200, OUR_SLICE);
	expect(&s, WRITE_SLICE, 200, "{}");
	stage_tick(&s, "CA", 1000);
	assert_non_null(strstr(last_request(&s)->body, "\"ports\":[" PORT "," PAGE_PORT "]}"));
	expect(&s, READ_APISERVICE, 200, WITH_CA);
	expect(&s, READ_SLICE, 200, A_SLICE(OUR_LABEL, "IPv4", AT("10.0.0.7"), PORT "," PAGE_PORT));
	stage_tick(&s, "CA", MINUTE_MS);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_are_written_where_they_differ),
		cmocka_unit_test(what_is_right_is_compared_every_ten_seconds_and_not_written),
		cmocka_unit_test(every_part_of_the_slice_is_compared),
		cmocka_unit_test(an_address_of_version_6_is_told_as_such),
		cmocka_unit_test(a_certificate_of_somebody_elses_is_left_alone),
		cmocka_unit_test(without_an_address_there_is_no_slice),
		cmocka_unit_test(where_it_is_not_installed_it_is_looked_for_once_a_minute),
		cmocka_unit_test(a_new_port_or_certificate_is_told_at_once),
		cmocka_unit_test(news_in_the_middle_of_a_round_are_told_in_the_next),
		cmocka_unit_test(a_failure_is_said_once_and_tried_again_with_growing_pauses),
		cmocka_unit_test(a_server_that_asks_for_patience_gets_it),
		cmocka_unit_test(nothing_is_written_once_it_leads_no_more),
		cmocka_unit_test(it_may_go_with_a_request_under_way),
		cmocka_unit_test(the_port_of_the_page_is_told_beside_it),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
