/* Calendars of an API server: the requests, and what follows from each answer. */
#include "test/unit/kube/test.h"

#include "cli/calendar/cluster.h"
#include "test/unit/kube/scripted_server.h"

#define CALENDAR(name, more)                                                                       \
	"{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"timeZone\":\"Europe/Berlin\","          \
	"\"open\":[{\"name\":\"night\",\"days\":[\"Mon-Sun\"],\"from\":\"19:00\","                 \
	"\"to\":\"07:00\"}]" more "}}"
#define HOLIDAYS                                                                                   \
	",\"except\":[{\"name\":\"h\",\"treatAs\":\"Closed\",\"datesFrom\":"                       \
	"{\"configMap\":\"holidays\",\"key\":\"dates\"}}]"
#define STATUS(reason)                                                                             \
	"{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"" reason "\",\"reason\":\"x\"}"
#define CALENDARS "GET /apis/sluice.dev/v1alpha1/calendars"
#define CONFIGMAP "GET /api/v1/namespaces/here/configmaps/holidays HTTP"
#define DAY_MS INT64_C(1798153200000) /* 2026-12-25T00:00 in Berlin */

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct calendar_specs calendar_specs;
	struct buf complaints;
	struct err e;
};

static void stage_open(struct stage *s)
{
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO)};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	calendar_specs_init(&s->calendar_specs);
	buf_init(&s->complaints, 1 << 16);
}

static void stage_close(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	buf_done(&s->complaints);
	calendar_specs_done(&s->calendar_specs);
	scripted_server_free(s->server);
	kube_config_free(s->config);
	ev_loop_destroy(s->loop);
}

static void answer(struct stage *s, const char *line, int status, const char *body)
{
	script_answer(scripted_server_expect(s->server, line), status, "", body);
}

static int ask(struct stage *s, const char *name)
{
	struct cluster c = {s->loop, s->config, "here"};
	return cluster_read(&c, name, &s->calendar_specs, &s->complaints, &s->e);
}

static void one_is_asked_for_by_name_and_its_dates_too(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer(&s, CALENDARS "/nights HTTP", 200, CALENDAR("nights", HOLIDAYS));
	answer(&s, CONFIGMAP, 200,
		"{\"metadata\":{\"name\":\"holidays\"},\"data\":{\"dates\":\"2026-12-25\"}}");
	assert_int_equal(ask(&s, "nights"), 0);
	assert_int_equal(calendar_specs_close(&s.calendar_specs, DAY_MS, &s.e), 0);
	assert_int_equal(s.calendar_specs.n, 1);
	assert_false(calendar_at(s.calendar_specs.item[0].calendar, DAY_MS + 1).open);
	assert_true(calendar_at(s.calendar_specs.item[0].calendar, DAY_MS - 1).open);
	stage_close(&s);
}

static void of_all_the_broken_ones_are_left_out(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer(&s, CALENDARS " HTTP", 200,
		"{\"items\":[" CALENDAR("a", "") ",{\"metadata\":{\"name\":\"b\"},\"spec\":"
						 "{\"timeZone\":\"Mars\"}}," CALENDAR(
							 "c", "") "]}");
	assert_int_equal(ask(&s, NULL), 0);
	assert_int_equal(s.calendar_specs.n, 2);
	assert_non_null(strstr(buf_text(&s.complaints), "Calendar b: spec.timeZone: \"Mars\""));
	stage_close(&s);
}

static void what_is_refused_says_why(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		int status;
		const char *body;
		int code;
		const char *says;
	} cases[] = {
		{"x", 404, STATUS("not found"), ERR_GONE, "there is no Calendar x in context k"},
		{NULL, 404, "page not found", ERR_GONE, "not even the kind"},
		{"x", 403, STATUS("calendars.sluice.dev is forbidden"), ERR_DENIED, "is forbidden"},
		{"x", 503, "", ERR_BUSY, "GET /apis/sluice.dev/v1alpha1/calendars/x"},
		{"x", 200, "[1", ERR_INVALID, ""},
		{"x", 200, "{\"metadata\":{\"name\":\"x\"},\"spec\":{}}", ERR_INVALID,
			"Calendar x: spec.timeZone: is missing"},
	};
	for (size_t i = 0; i < ROWS(cases); i++) {
		struct stage s;
		stage_open(&s);
		answer(&s, CALENDARS, cases[i].status, cases[i].body);
		assert_int_equal(ask(&s, cases[i].name), cases[i].code);
		if (!strstr(s.e.text, cases[i].says))
			fail_msg("case %zu says: %s", i, s.e.text);
		stage_close(&s);
	}
}

static void dates_that_may_not_be_read_are_not_passed_over(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer(&s, CALENDARS "/nights HTTP", 200, CALENDAR("nights", HOLIDAYS));
	answer(&s, CONFIGMAP, 403, STATUS("configmaps is forbidden"));
	assert_int_equal(ask(&s, "nights"), ERR_DENIED);
	assert_non_null(strstr(s.e.text, "dates come from ConfigMap holidays"));
	stage_close(&s);
	stage_open(&s);
	answer(&s, CALENDARS "/nights HTTP", 200, CALENDAR("nights", HOLIDAYS));
	answer(&s, CONFIGMAP, 404, STATUS("not found"));
	assert_int_equal(ask(&s, "nights"), 0);
	assert_int_equal(calendar_specs_close(&s.calendar_specs, DAY_MS, &s.e), ERR_GONE);
	assert_non_null(strstr(s.e.text, "there is no ConfigMap \"holidays\""));
	stage_close(&s);
}

static void a_name_is_no_path(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	assert_int_equal(ask(&s, "../../pods"), ERR_INVALID);
	assert_int_equal(ask(&s, ""), ERR_INVALID);
	assert_int_equal(scripted_server_count(s.server), 0);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_is_asked_for_by_name_and_its_dates_too),
		cmocka_unit_test(of_all_the_broken_ones_are_left_out),
		cmocka_unit_test(what_is_refused_says_why),
		cmocka_unit_test(dates_that_may_not_be_read_are_not_passed_over),
		cmocka_unit_test(a_name_is_no_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
