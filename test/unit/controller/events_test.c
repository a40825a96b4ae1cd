/*
 * The herald, against an API server that does as it is told: which notes become Events, what an
 * Event says, and that Events always make way.
 */
#include "controller/write/events.h"

#include "base/json.h"
#include "test/unit/kube/test.h"
#include "test/unit/kube/scripted_server.h"
#include "test/golden/requests.h"

#define NOW_MS 1795255200000
#define EVENTS "POST /api/v1/namespaces/team-a/events"

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct events *events;
	struct json *json;
};

static void stage_open(struct stage *s, enum events_level level, unsigned in_flight)
{
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO), .json = json_new(1 << 20)};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->client = kube_client_new(
		s->loop, s->config, &(struct kube_client_options){.in_flight = in_flight});
	s->events = events_new(&(struct events_options){
		.client = s->client, .level = level, .identity = "one", .seed = 255});
}

static void stage_close(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	kube_client_free(s->client);
	events_free(s->events);
	json_free(s->json);
	kube_config_free(s->config);
	golden_requests(s->server);
	scripted_server_free(s->server);
	ev_loop_destroy(s->loop);
}

static void expect(struct stage *s, int status, const char *headers)
{
	script_answer(scripted_server_expect(s->server, EVENTS), status, headers, "{}");
}

static unsigned under_way(const struct stage *s)
{
	const struct kube_client_stats *stats = kube_client_stats(s->client);
	return stats->in_flight + stats->queued;
}

/* Until nothing is under way. */
static void stage_turn(struct stage *s)
{
	while (under_way(s) > 0)
		ev_run(s->loop, EVRUN_ONCE);
}

static void stage_tick(struct stage *s, int64_t now_ms)
{
	events_tick(s->events, now_ms);
	stage_turn(s);
}

static void tell(struct stage *s, const char *message)
{
	struct events_subject job = {{{0xab}}, "team-a", "train"};
	events_tell(s->events, &job, EVENTS_NORMAL, "Told", message, NOW_MS);
}

static const cJSON *sent(struct stage *s, size_t i)
{
	const cJSON *root;
	const struct scripted_request *r = scripted_server_request(s->server, i);
	assert_int_equal(json_parse(s->json, slice_of(r->body), &root, NULL), 0);
	return root;
}

static void assert_counts(const struct stage *s, uint64_t written, uint64_t dropped)
{
	struct events_counts c = events_count(s->events);
	assert_int_equal(c.written, written);
	assert_int_equal(c.dropped, dropped);
}

/* ---- what is told ---------------------------------------------------------------------------- */

static void an_event_is_about_the_job(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s, EVENTS_STOPS, 0);
	struct events_subject job = {{{0xab}}, "team-a", "train"};
	events_tell(s.events, &job, EVENTS_WARNING, "WindowCloses", "at \"noon\"", NOW_MS);
	assert_int_equal(scripted_server_count(s.server), 0); /* telling writes nothing */
	expect(&s, 201, "");
	stage_tick(&s, NOW_MS + 5000);
	const cJSON *e = sent(&s, 0), *about = json_object(e, "involvedObject");
	assert_string_equal(json_text(e, "apiVersion"), "v1");
	assert_string_equal(json_text(e, "kind"), "Event");
	assert_string_equal(json_text(json_object(e, "metadata"), "namespace"), "team-a");
	assert_string_equal(
		json_text(json_object(e, "metadata"), "name"), "train.18ea0717bd2c40ff");
	assert_string_equal(json_text(about, "apiVersion"), "batch/v1");
	assert_string_equal(json_text(about, "kind"), "Job");
	assert_string_equal(json_text(about, "namespace"), "team-a");
	assert_string_equal(json_text(about, "name"), "train");
	assert_string_equal(json_text(about, "uid"), "ab000000-0000-0000-0000-000000000000");
	assert_string_equal(json_text(e, "type"), "Warning");
	assert_string_equal(json_text(e, "reason"), "WindowCloses");
	assert_string_equal(json_text(e, "message"), "at \"noon\"");
	/* When it happened, not when it was written. */
	assert_string_equal(json_text(e, "firstTimestamp"), "2026-11-21T10:00:00Z");
	assert_string_equal(json_text(e, "lastTimestamp"), "2026-11-21T10:00:00Z");
	assert_string_equal(json_text(json_object(e, "source"), "component"), "sluice-controller");
	assert_string_equal(json_text(e, "reportingComponent"), "sluice-controller");
	assert_string_equal(json_text(e, "reportingInstance"), "one");
	assert_counts(&s, 1, 0);
	stage_close(&s);
}

static void one_about_an_object_without_a_namespace_stands_in_default(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s, EVENTS_STOPS, 0);
	struct events_subject of = {{{0xab}}, "", "monthly", "Budget"};
	events_tell(s.events, &of, EVENTS_WARNING, "Exhausted", "all is spent", NOW_MS);
	script_answer(scripted_server_expect(s.server, "POST /api/v1/namespaces/default/events"),
		201, "Content-Type: application/json\r\n", "{}");
	stage_tick(&s, NOW_MS);
	const cJSON *e = sent(&s, 0), *about = json_object(e, "involvedObject");
	assert_string_equal(json_text(json_object(e, "metadata"), "namespace"), "default");
	assert_string_equal(json_text(about, "apiVersion"), "sluice.dev/v1alpha1");
	assert_string_equal(json_text(about, "kind"), "Budget");
	assert_null(json_text(about, "namespace"));
	assert_counts(&s, 1, 0);
	stage_close(&s);
}

static void names_and_messages_of_any_length_are_told(void **state)
{
	(void)state;
	struct stage s;
	char name[254], message[4000] = "";
	memset(name, 'a', sizeof(name));
	name[199] = '.'; /* where it is cut */
	name[198] = '-';
	name[253] = '\0';
	for (size_t i = 0; i + 3 < sizeof(message); i += 2)
		strcat(message, "\xC3\xBC"); /* so that the ceiling is within a character */
	struct events_subject job = {{{1}}, "team-a", name};
	stage_open(&s, EVENTS_STOPS, 0);
	events_tell(s.events, &job, EVENTS_NORMAL, "Told", message, NOW_MS);
	expect(&s, 201, "");
	stage_tick(&s, NOW_MS);
	const char *told = json_text(json_object(sent(&s, 0), "metadata"), "name");
	assert_int_equal(strlen(told), 198 + 1 + 16);
	assert_int_equal(told[197], 'a');
	assert_int_equal(told[198], '.');
	assert_int_equal(strlen(json_text(sent(&s, 0), "message")), EVENTS_MESSAGE_MAX - 1);
	assert_true(slice_utf8(slice_of(json_text(sent(&s, 0), "message"))));
	stage_close(&s);
}

static const struct note_case {
	const char *name;
	struct note note;
	/* Of the Event with --events=stops and with all; NULL: none. */
	const char *stops, *all;
	const char *type;
} notes[] = {
	{"a start", {.kind = NOTE_START}, NULL, "Started", "Normal"},
	{"why it waits", {.kind = NOTE_WAIT}, NULL, "Waiting", "Normal"},
	{"that it waits for a correction", {.kind = NOTE_WAIT, .reason = "Misconfigured"},
		"Misconfigured", "Misconfigured", "Warning"},
	{"that it waits for one still", {.kind = NOTE_WAIT, .reason = ""}, NULL, "Waiting",
		"Normal"},
	{"that it waits for quota", {.kind = NOTE_WAIT, .reason = "WaitingForQuota"}, NULL,
		"Waiting", "Normal"},
	{"a refusal of the ledger", {.kind = NOTE_REFUSE}, NULL, "Refused", "Warning"},
	{"a refusal of the API server", {.kind = NOTE_REFUSE, .reason = "RefusedByServer"},
		"Refused", "Refused", "Warning"},
	{"a stop to come", {.kind = NOTE_WARN}, "StopNotice", "StopNotice", "Warning"},
	{"preempted", {.kind = NOTE_STOP, .reason = "Preempted", .preemption = "InClusterQueue"},
		"Preempted", "Preempted", "Normal"},
	{"stopped", {.kind = NOTE_STOP, .reason = "ClusterQueueStopped"}, "Stopped", "Stopped",
		"Normal"},
	{"on hold", {.kind = NOTE_STOP, .reason = "MaximumExecutionTimeExceeded", .on_hold = true},
		"Deactivated", "Deactivated", "Warning"},
	{"window closing", {.kind = NOTE_WARN, .reason = "WindowClosed"}, "WindowClosing",
		"WindowClosing", "Normal"},
	{"window closed", {.kind = NOTE_STOP, .reason = "WindowClosed"}, "WindowClosed",
		"WindowClosed", "Normal"},
	{"idle room reclaimed", {.kind = NOTE_STOP, .reason = "IdleResourcesReclaimed"},
		"IdleResourcesReclaimed", "IdleResourcesReclaimed", "Normal"},
	{"stop ahead", {.kind = NOTE_WARN, .reason = "PriceAboveCeiling"}, "StopNotice",
		"StopNotice", "Warning"},
	{"deleted", {.kind = NOTE_STOP, .reason = "Deleted"}, NULL, NULL, NULL},
	{"a work queue that a stop has ended", {.kind = NOTE_CUT_SHORT, .reason = "WindowClosed"},
		"CutShort", "CutShort", "Warning"},
	{"pods that do not go", {.kind = NOTE_OVERDUE}, "StopOverdue", "StopOverdue", "Warning"},
	{"pods that are stuck", {.kind = NOTE_TROUBLE, .reason = "Unschedulable"}, "PodsStuck",
		"PodsStuck", "Warning"},
	{"pods that were refused", {.kind = NOTE_TROUBLE, .reason = "PodsRefused"}, NULL, NULL,
		NULL},
	{"a pod that a kubelet rejected", {.kind = NOTE_REJECTED_POD}, "PodRejected", "PodRejected",
		"Warning"},
	{"pods that go on", {.kind = NOTE_TROUBLE_OVER, .reason = "Unschedulable"}, NULL, NULL,
		NULL},
	{"a finish", {.kind = NOTE_FINISH}, NULL, NULL, NULL},
	{"a release", {.kind = NOTE_RELEASE}, NULL, NULL, NULL},
	{"a call-off", {.kind = NOTE_CALL_OFF}, NULL, NULL, NULL},
	{"a lease", {.kind = NOTE_LEADING}, NULL, NULL, NULL},
};

static void check_note(const struct note_case *c, enum events_level level, const char *reason)
{
	struct stage s;
	struct note n = c->note;
	print_message("  %s\n", c->name);
	n.uid = (struct uid){{1}};
	n.ns = "team-a";
	n.name = "train";
	n.reason = n.reason ? n.reason : "";
	n.preemption = n.preemption ? n.preemption : "";
	n.at_ms = NOW_MS;
	strcpy(n.text, "in plain words");
	stage_open(&s, level, 0);
	if (reason)
		expect(&s, 201, "");
	events_note(s.events, &n);
	stage_tick(&s, NOW_MS);
	assert_int_equal(scripted_server_count(s.server), reason != NULL);
	if (reason) {
		assert_string_equal(json_text(sent(&s, 0), "reason"), reason);
		assert_string_equal(json_text(sent(&s, 0), "type"), c->type);
		assert_non_null(strstr(json_text(sent(&s, 0), "message"), "in plain words"));
		assert_int_equal(n.on_hold,
			strstr(json_text(sent(&s, 0), "message"), "sluice.dev/hold") != NULL);
	}
	stage_close(&s);
}

static void what_the_gate_did_is_told_by_the_level(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		check_note(&notes[i], EVENTS_STOPS, notes[i].stops);
		check_note(&notes[i], EVENTS_ALL, notes[i].all);
		check_note(&notes[i], EVENTS_NONE, NULL);
	}
}

static void with_none_nothing_is_told(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s, EVENTS_NONE, 0);
	tell(&s, "a");
	stage_tick(&s, NOW_MS);
	assert_int_equal(scripted_server_count(s.server), 0);
	assert_counts(&s, 0, 0);
	stage_close(&s);
}

/* ---- that they make way ---------------------------------------------------------------------- */

static void only_so_many_are_written_in_a_second(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s, EVENTS_STOPS, 0);
	for (int i = 0; i < EVENTS_A_SECOND + 3; i++) {
		tell(&s, "a");
		expect(&s, 201, "");
	}
	events_tick(s.events, NOW_MS);
	assert_int_equal(under_way(&s), 2);
	stage_turn(&s);
	assert_counts(&s, EVENTS_A_SECOND, 0);
	stage_tick(&s, NOW_MS + 1000);
	assert_counts(&s, EVENTS_A_SECOND + 3, 0);
	stage_close(&s);
}

static void when_the_line_is_full_the_oldest_go(void **state)
{
	(void)state;
	struct stage s;
	char text[32];
	stage_open(&s, EVENTS_STOPS, 0);
	for (int i = 0; i < EVENTS_LINE_MAX + 5; i++) {
		snprintf(text, sizeof(text), "number %d", i);
		tell(&s, text);
	}
	assert_counts(&s, 0, 5);
	for (int i = 0; i < EVENTS_A_SECOND; i++)
		expect(&s, 201, "");
	stage_tick(&s, NOW_MS);
	assert_string_equal(json_text(sent(&s, 0), "message"), "number 5");
	stage_close(&s);
}

static void ignore(const struct kube_answer *a, void *ctx)
{
	(void)a;
	(void)ctx;
}

static void nothing_is_written_while_others_stand_in_line(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s, EVENTS_STOPS, 1);
	struct script *slow = scripted_server_expect(s.server, "GET /slow");
	script_hold(slow);
	script_answer(slow, 200, "", "{}");
	kube_client_send(
		s.client, &(struct kube_request){.method = KUBE_GET, .path = "/slow"}, ignore, &s);
	tell(&s, "a");
	events_tick(s.events, NOW_MS);
	assert_int_equal(under_way(&s), 1); /* that GET */
	while (scripted_server_count(s.server) == 0)
		ev_run(s.loop, EVRUN_ONCE);
	script_release(slow);
	stage_turn(&s);
	expect(&s, 201, "");
	stage_tick(&s, NOW_MS + 1000);
	assert_counts(&s, 1, 0);
	stage_close(&s);
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

static void a_failed_one_is_written_once_more_by_the_same_name(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s, EVENTS_STOPS, 0);
	tell(&s, "a");
	tell(&s, "b");
	expect(&s, 500, ""); /* it landed all the same, as the second try shows */
	expect(&s, 201, "");
	stage_tick(&s, NOW_MS);
	assert_int_equal(scripted_server_count(s.server), 2); /* the second was under way as well */
	expect(&s, 409, "");
	stage_tick(&s, NOW_MS + 1000);
	assert_string_equal(scripted_server_request(s.server, 0)->body,
		scripted_server_request(s.server, 2)->body);
	assert_counts(&s, 2, 0);
	stage_close(&s);
}

static void two_failures_are_enough(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s, EVENTS_STOPS, 0);
	tell(&s, "a");
	expect(&s, 503, "");
	stage_tick(&s, NOW_MS);
	expect(&s, 503, "");
	stage_tick(&s, NOW_MS + 1000);
	stage_tick(&s, NOW_MS + 2000);
	assert_counts(&s, 0, 1);
	stage_close(&s);
}

static void a_server_that_asks_for_rest_gets_it(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s, EVENTS_STOPS, 0);
	tell(&s, "a");
	expect(&s, 429, "Retry-After: 3\r\n");
	stage_tick(&s, NOW_MS);
	stage_tick(&s, NOW_MS + 1000);
	stage_tick(&s, NOW_MS + 2000);
	assert_int_equal(scripted_server_count(s.server), 1);
	expect(&s, 201, "");
	stage_tick(&s, NOW_MS + 3000);
	assert_counts(&s, 1, 0);
	/* A clock that was set back does not make the rest last. */
	tell(&s, "b");
	expect(&s, 429, "Retry-After: 3\r\n");
	stage_tick(&s, NOW_MS + 4000);
	expect(&s, 201, "");
	stage_tick(&s, NOW_MS - 3600000);
	assert_counts(&s, 2, 0);
	stage_close(&s);
}

static void what_cannot_be_written_is_given_up_at_once(void **state)
{
	(void)state;
	static const int statuses[] = {400, 403, 404, 422};
	struct stage s;
	stage_open(&s, EVENTS_STOPS, 0);
	for (size_t i = 0; i < 4; i++) {
		tell(&s, "a");
		expect(&s, statuses[i], "");
		stage_tick(&s, NOW_MS + (int64_t)i * 1000);
		assert_counts(&s, 0, i + 1);
	}
	stage_close(&s);
}

static void what_is_under_way_dies_with_the_client(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s, EVENTS_STOPS, 0);
	for (int i = 0; i < 5; i++)
		tell(&s, "a");
	events_tick(s.events, NOW_MS);
	stage_close(&s); /* the sanitizer sees what is left */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_is_about_the_job),
		cmocka_unit_test(one_about_an_object_without_a_namespace_stands_in_default),
		cmocka_unit_test(names_and_messages_of_any_length_are_told),
		cmocka_unit_test(what_the_gate_did_is_told_by_the_level),
		cmocka_unit_test(with_none_nothing_is_told),
		cmocka_unit_test(only_so_many_are_written_in_a_second),
		cmocka_unit_test(when_the_line_is_full_the_oldest_go),
		cmocka_unit_test(nothing_is_written_while_others_stand_in_line),
		cmocka_unit_test(a_failed_one_is_written_once_more_by_the_same_name),
		cmocka_unit_test(two_failures_are_enough),
		cmocka_unit_test(a_server_that_asks_for_rest_gets_it),
		cmocka_unit_test(what_cannot_be_written_is_given_up_at_once),
		cmocka_unit_test(what_is_under_way_dies_with_the_client),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
