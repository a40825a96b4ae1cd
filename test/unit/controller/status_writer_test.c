/*
 * The reporter, against an API server that does as it is told.
 */
#include "controller/write/status_writer.h"

#include "queue/calendar/zone.h"
#include "api_stage.h"

#define CQ_PATH "PATCH /apis/sluice.dev/v1alpha1/clusterqueues/batch/status"
#define LQ_PATH "PATCH /apis/sluice.dev/v1alpha1/namespaces/team-a/localqueues/main/status"

struct stage {
	struct api_stage api;
	struct status_writer *status_writer;
	struct events *events;
};

static void see(struct stage *s, enum status_writer_kind kind, const char *text)
{
	const cJSON *root;
	assert_int_equal(json_parse(s->api.json, slice_of(text), &root, NULL), 0);
	status_writer_see(s->status_writer, kind, root);
}

/* Each time it is looked at, so much has passed: an answer takes one look. */
static int64_t clock_us, look_us;

static int64_t scripted_clock_us(void)
{
	return clock_us += look_us;
}

static void stage_open(struct stage *s)
{
	look_us = 1000;
	api_stage_open(&s->api);
	s->events = events_new(&(struct events_options){
		.client = s->api.client, .level = EVENTS_STOPS, .identity = "one", .seed = 255});
	s->status_writer = status_writer_new(&(struct status_writer_options){.events = s->events,
		.client = s->api.client,
		.queue = s->api.world.queue,
		.fair_sharing = true,
		.clock_us = scripted_clock_us});
}

static void stage_close(struct stage *s)
{
	api_stage_hang_up(&s->api);
	status_writer_free(s->status_writer);
	events_free(s->events);
	api_stage_close(&s->api);
}

static void expect(struct stage *s, const char *line, int status)
{
	api_stage_expect(&s->api, line, status);
}

static void expect_answer(struct stage *s, const char *line, const char *body)
{
	script_answer(scripted_server_expect(s->api.server, line), 200,
		"Content-Type: application/json\r\n", body);
}

static void stage_tick(struct stage *s, int64_t now_ms)
{
	status_writer_tick(s->status_writer, now_ms);
	api_stage_settle(&s->api);
}

static const char *last_body(const struct stage *s)
{
	return api_stage_last_body(&s->api);
}

static void only_news_are_written(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	stage_tick(&s, NOW_MS); /* nobody was seen: nobody is written to */
	see(&s, REPORT_CLUSTERQUEUE, "{\"metadata\":{\"name\":\"batch\"}}");
	see(&s, REPORT_LOCALQUEUE, "{\"metadata\":{\"name\":\"main\",\"namespace\":\"team-a\"}}");
	expect(&s, CQ_PATH, 200);
	expect(&s, LQ_PATH, 200);
	stage_tick(&s, NOW_MS);
	assert_non_null(strstr(
		scripted_server_request(s.api.server, 0)->head, "application/json-patch+json"));
	stage_tick(&s, NOW_MS + 1000);
	stage_tick(&s, NOW_MS + 2000);
	assert_int_equal(scripted_server_count(s.api.server), 2);
	world_add_job(&s.api.world, 1, "one");
	expect(&s, CQ_PATH, 200);
	expect(&s, LQ_PATH, 200);
	stage_tick(&s, NOW_MS + 3000);
	assert_non_null(strstr(last_body(&s), "\"pendingWorkloads\":1"));
	stage_close(&s);
}

static void an_object_is_written_once_a_second_at_most(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_CLUSTERQUEUE, "{\"metadata\":{\"name\":\"batch\"}}");
	expect(&s, CQ_PATH, 200);
	stage_tick(&s, NOW_MS);
	world_add_job(&s.api.world, 1, "one");
	stage_tick(&s, NOW_MS + 500);
	assert_int_equal(scripted_server_count(s.api.server), 1);
	expect(&s, CQ_PATH, 200);
	stage_tick(&s, NOW_MS + 1000);
	assert_int_equal(scripted_server_count(s.api.server), 2);
	stage_close(&s);
}

static void a_server_that_is_slow_is_written_to_seldom(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	look_us = 100 * 1000;
	see(&s, REPORT_CLUSTERQUEUE, "{\"metadata\":{\"name\":\"batch\"}}");
	expect(&s, CQ_PATH, 200);
	stage_tick(&s, NOW_MS);
	world_add_job(&s.api.world, 1, "one");
	stage_tick(&s, NOW_MS + 9000);
	assert_int_equal(scripted_server_count(s.api.server), 1);
	expect(&s, CQ_PATH, 200);
	look_us = 1000 * 1000;
	stage_tick(&s, NOW_MS + 10000);
	assert_int_equal(scripted_server_count(s.api.server), 2);
	world_add_job(&s.api.world, 2, "two");
	stage_tick(&s, NOW_MS + 39000);
	assert_int_equal(scripted_server_count(s.api.server), 2);
	expect(&s, CQ_PATH, 200);
	stage_tick(&s, NOW_MS + 40000); /* however slow, twice a minute */
	assert_int_equal(scripted_server_count(s.api.server), 3);
	stage_close(&s);
}

static void a_write_that_failed_is_written_again(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_CLUSTERQUEUE, "{\"metadata\":{\"name\":\"batch\"}}");
	expect(&s, CQ_PATH, 500);
	stage_tick(&s, NOW_MS);
	expect(&s, CQ_PATH, 200);
	stage_tick(&s, NOW_MS + 1000);
	stage_tick(&s, NOW_MS + 2000);
	assert_int_equal(scripted_server_count(s.api.server), 2);
	stage_close(&s);
}

static void the_time_of_a_condition_is_kept(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_CLUSTERQUEUE,
		"{\"metadata\":{\"name\":\"batch\"},\"status\":{\"conditions\":[{\"type\":"
		"\"Active\","
		"\"status\":\"True\",\"lastTransitionTime\":\"2025-01-02T03:04:05Z\"}]}}");
	expect(&s, CQ_PATH, 200);
	stage_tick(&s, NOW_MS);
	assert_non_null(strstr(last_body(&s), "\"lastTransitionTime\":\"2025-01-02T03:04:05Z\""));
	/* It turns inactive: a new time, that of the change. */
	queue_drop_flavor(s.api.world.queue, "spot");
	expect(&s, CQ_PATH, 200);
	stage_tick(&s, NOW_MS + 60000);
	assert_non_null(strstr(last_body(&s), "\"status\":\"False\""));
	assert_non_null(strstr(last_body(&s), "\"reason\":\"FlavorNotFound\""));
	assert_non_null(strstr(last_body(&s), "\"lastTransitionTime\":\"2026-11-21T10:01:00Z\""));
	stage_close(&s);
}

static void an_object_may_go_while_it_is_written(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_CLUSTERQUEUE, "{\"metadata\":{\"name\":\"batch\"}}");
	expect(&s, CQ_PATH, 404);
	status_writer_tick(s.status_writer, NOW_MS);
	status_writer_lose(s.status_writer, REPORT_CLUSTERQUEUE, "", "batch");
	stage_tick(&s, NOW_MS + 1000);
	assert_int_equal(scripted_server_count(s.api.server), 1);
	stage_close(&s);
}

#define FLAVOR_PATH "PATCH /apis/sluice.dev/v1alpha1/resourceflavors/spot/status"

static void judge(struct stage *s, const char *sentence)
{
	const cJSON *root;
	const char *text = "{\"metadata\":{\"name\":\"spot\",\"generation\":4}}";
	assert_int_equal(json_parse(s->api.json, slice_of(text), &root, NULL), 0);
	status_writer_judge(s->status_writer, root, sentence);
}

static void a_flavor_is_written_to_only_when_it_was_refused(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_FLAVOR, "{\"metadata\":{\"name\":\"spot\"}}");
	judge(&s, NULL);
	stage_tick(&s, NOW_MS);
	assert_int_equal(scripted_server_count(s.api.server), 0);
	judge(&s, "ResourceFlavor spot: spec.nodeTaints[0]: has no effect");
	expect(&s, FLAVOR_PATH, 500);
	stage_tick(&s, NOW_MS + 1000);
	expect(&s, FLAVOR_PATH, 200);
	stage_tick(&s, NOW_MS + 2000);
	assert_non_null(strstr(last_body(&s), "\"reason\":\"InvalidSpec\""));
	assert_non_null(strstr(last_body(&s), "has no effect"));
	assert_non_null(strstr(last_body(&s), "\"observedGeneration\":4"));
	stage_tick(&s, NOW_MS + 3000);
	judge(&s, NULL);
	expect(&s, FLAVOR_PATH, 200);
	stage_tick(&s, NOW_MS + 4000);
	assert_non_null(strstr(last_body(&s), "\"status\":\"True\""));
	judge(&s, NULL);
	stage_tick(&s, NOW_MS + 5000);
	assert_int_equal(scripted_server_count(s.api.server), 3);
	stage_close(&s);
}

static void adopt(struct stage *s)
{
	static const struct quota_line lines[] = {{"cq/batch", "spot", "cpu", 1000}};
	world_add_job(&s->api.world, 1, "one");
	assert_true(queue_adopt_job(s->api.world.queue, &(struct uid){{1}}, lines, 1, NOW_MS));
}

static void a_flavor_that_is_deleted_says_what_still_uses_it(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	adopt(&s);
	see(&s, REPORT_FLAVOR, "{\"metadata\":{\"name\":\"spot\"}}");
	stage_tick(&s, NOW_MS);
	assert_int_equal(scripted_server_count(s.api.server), 0);
	see(&s, REPORT_FLAVOR,
		"{\"metadata\":{\"name\":\"spot\",\"deletionTimestamp\":\"2026-11-21T10:00:00Z\"}"
		"}");
	expect(&s, FLAVOR_PATH, 200);
	stage_tick(&s, NOW_MS + 1000);
	assert_non_null(strstr(last_body(&s), "\"status\":\"True\",\"reason\":\"Terminating\""));
	assert_non_null(
		strstr(last_body(&s), "ClusterQueue batch names it in spec.resourceGroups\""));
	world_add_job(&s.api.world, 2, "two"); /* another version of the queue, and no news of it */
	stage_tick(&s, NOW_MS + 2000);
	assert_int_equal(scripted_server_count(s.api.server), 1);
	queue_drop_clusterqueue(s.api.world.queue, "batch");
	expect(&s, FLAVOR_PATH, 200);
	stage_tick(&s, NOW_MS + 3000);
	assert_non_null(strstr(last_body(&s), "Jobs of ClusterQueue batch hold quota in it\""));
	stage_close(&s);
}

/* Made anew under its old name, or emptied by somebody. */
static void an_empty_status_is_filled_again(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_CLUSTERQUEUE, "{\"metadata\":{\"name\":\"batch\"}}");
	expect(&s, CQ_PATH, 200);
	stage_tick(&s, NOW_MS);
	see(&s, REPORT_CLUSTERQUEUE, "{\"metadata\":{\"name\":\"batch\"}}");
	expect(&s, CQ_PATH, 200);
	stage_tick(&s, NOW_MS + 1000);
	assert_int_equal(scripted_server_count(s.api.server), 2);
	stage_close(&s);
}

#define QUEUE_OF(uid, status)                                                                      \
	"{\"metadata\":{\"name\":\"batch\",\"uid\":\"" uid "\"},\"status\":{" status "}}"
#define UID_ONE "ab000000-0000-0000-0000-000000000000"
#define UID_TWO "cd000000-0000-0000-0000-000000000000"
#define WRITTEN_TO(uid)                                                                            \
	"[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"" uid                            \
	"\"},{\"op\":\"add\",\"path\":\"/status\",\"value\":{\"conditions\":[{\"type\":\"Active\","

static void assert_begins(const char *text, const char *beginning)
{
	assert_memory_equal(text, beginning, strlen(beginning));
}

static void a_write_is_for_the_object_that_was_judged(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_CLUSTERQUEUE,
		QUEUE_OF(UID_ONE, "\"conditions\":[{\"type\":\"Active\",\"status\":\"True\","
				  "\"lastTransitionTime\":\"2025-01-02T03:04:05Z\"}]"));
	expect(&s, CQ_PATH, 422); /* there is another of its name already */
	stage_tick(&s, NOW_MS);
	assert_begins(last_body(&s), WRITTEN_TO(UID_ONE));
	see(&s, REPORT_CLUSTERQUEUE, QUEUE_OF(UID_TWO, ""));
	expect(&s, CQ_PATH, 200);
	stage_tick(&s, NOW_MS + 1000);
	assert_begins(last_body(&s), WRITTEN_TO(UID_TWO));
	/* It has been so since it was made. */
	assert_non_null(strstr(last_body(&s), "\"lastTransitionTime\":\"2026-11-21T10:00:01Z\""));
	stage_close(&s);
}

static void an_object_may_be_made_anew_while_it_is_written(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_CLUSTERQUEUE, QUEUE_OF(UID_ONE, ""));
	expect(&s, CQ_PATH, 200);
	status_writer_tick(s.status_writer, NOW_MS);
	see(&s, REPORT_CLUSTERQUEUE, QUEUE_OF(UID_TWO, ""));
	expect(&s, CQ_PATH, 200);
	stage_tick(&s, NOW_MS + 1000);
	assert_begins(last_body(&s), WRITTEN_TO(UID_TWO));
	stage_tick(&s, NOW_MS + 2000);
	assert_int_equal(scripted_server_count(s.api.server), 2);
	stage_close(&s);
}

/* ---- time and money -------------------------------------------------------------------------- */

#define CALENDAR_PATH "PATCH /apis/sluice.dev/v1alpha1/calendars/nights/status"
#define BUDGET_PATH "PATCH /apis/sluice.dev/v1alpha1/budgets/monthly/status"
#define EVENT_PATH "POST /api/v1/namespaces/default/events"

static void events_turn(struct stage *s, int64_t now_ms)
{
	const struct kube_client_stats *stats = kube_client_stats(s->api.client);
	events_tick(s->events, now_ms);
	while (stats->in_flight + stats->queued > 0)
		ev_run(s->api.loop, EVRUN_ONCE);
}

static void a_calendar_that_became_wrong_is_said_once(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_CALENDAR,
		"{\"metadata\":{\"name\":\"nights\",\"uid\":"
		"\"ab000000-0000-0000-0000-000000000000\"},\"status\":{\"conditions\":[{\"type\":"
		"\"Valid\",\"status\":\"True\",\"lastTransitionTime\":\"2026-11-20T10:00:00Z\"},{"
		"\"type\":\"NeverOpens\",\"status\":\"False\",\"lastTransitionTime\":"
		"\"2026-11-19T10:00:00Z\"}]}}");
	queue_reject_calendar(s.api.world.queue, "nights", "spec.open: names no window");
	expect(&s, CALENDAR_PATH, 200);
	stage_tick(&s, NOW_MS);
	const char *body = last_body(&s);
	assert_non_null(strstr(body, "\"reason\":\"InvalidSpec\""));
	assert_non_null(strstr(body, "names no window"));
	assert_non_null(strstr(body, "\"lastTransitionTime\":\"2026-11-21T10:00:00Z\""));
	assert_null(strstr(body, "NeverOpens")); /* nothing else is known of it */
	expect(&s, EVENT_PATH, 201);
	events_turn(&s, NOW_MS);
	assert_non_null(strstr(last_body(&s), "\"kind\":\"Calendar\",\"name\":\"nights\""));
	assert_non_null(strstr(last_body(&s), "ab000000-"));
	assert_non_null(strstr(last_body(&s), "names no window"));
	queue_reject_calendar(s.api.world.queue, "nights", "spec.open: still names no window");
	expect(&s, CALENDAR_PATH, 200);
	stage_tick(&s, NOW_MS + 1000);
	events_turn(&s, NOW_MS + 1000); /* wrong as before: no news */
	assert_int_equal(scripted_server_count(s.api.server), 3);
	stage_close(&s);
}

/* A PricePlan that names what is there but for a flavor. */
static void set_plan(struct stage *s, const char *flavor)
{
	struct price_base base = {"cpu", false, 1000000};
	struct price_flavor factor = {flavor, 1000000};
	struct priceplan_spec spec = {.name = "power",
		.generation = 1,
		.currency = "EUR",
		.base = &base,
		.nbases = 1,
		.flavor = &factor,
		.nflavors = 1};
	assert_int_equal(queue_set_priceplan(s->api.world.queue, &spec, NULL), 0);
}

#define PLAN_PATH "PATCH /apis/sluice.dev/v1alpha1/priceplans/power/status"

static void a_name_that_finds_nothing_is_told_once_it_stays_so(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_PRICEPLAN, "{\"metadata\":{\"name\":\"power\"}}");
	set_plan(&s, "late");
	expect(&s, PLAN_PATH, 200);
	stage_tick(&s, NOW_MS);
	assert_null(strstr(last_body(&s), "Effective")); /* its flavor may be applied next */
	struct flavor_spec late = {.name = "late"};
	queue_set_flavor(s.api.world.queue, &late, NULL);
	expect(&s, PLAN_PATH, 200);
	stage_tick(&s, NOW_MS + 6000);
	assert_non_null(strstr(last_body(&s), "\"type\":\"Effective\",\"status\":\"True\""));
	set_plan(&s, "latte");
	stage_tick(&s, NOW_MS + 12000);
	expect(&s, PLAN_PATH, 200);
	stage_tick(&s, NOW_MS + 18000);
	assert_non_null(strstr(last_body(&s), "\"type\":\"Effective\",\"status\":\"False\""));
	assert_non_null(strstr(last_body(&s), "did you mean late?"));
	expect(&s, EVENT_PATH, 201);
	events_turn(&s, NOW_MS + 18000); /* one: nothing was told of the first */
	assert_non_null(strstr(last_body(&s), "\"reason\":\"NameNotFound\""));
	queue_drop_flavor(s.api.world.queue, "late");
	expect(&s, PLAN_PATH, 200);
	stage_tick(&s, NOW_MS + 24000);
	events_turn(&s, NOW_MS + 24000); /* as wrong as before: no news */
	set_plan(&s, "spot");
	struct flavor_spec spot = {.name = "spot"};
	queue_set_flavor(s.api.world.queue, &spot, NULL);
	expect(&s, PLAN_PATH, 200);
	stage_tick(&s, NOW_MS + 30000);
	assert_non_null(strstr(last_body(&s), "\"type\":\"Effective\",\"status\":\"True\""));
	stage_close(&s);
}

#define RESERVATION_PATH "PATCH /apis/sluice.dev/v1alpha1/advancereservations/demo/status"
#define RESERVATION(conditions)                                                                    \
	"{\"metadata\":{\"name\":\"demo\",\"uid\":\"ab000000-0000-0000-0000-000000000000\","       \
	"\"generation\":1},\"status\":{\"conditions\":[" conditions "]}}"
#define IS_ACCEPTED(is)                                                                            \
	"{\"type\":\"Accepted\",\"status\":\"" is                                                  \
	"\",\"lastTransitionTime\":\"2026-11-20T10:00:00Z\"}"

static void reserve(struct stage *s)
{
	static const struct advance_amount all = {.flavor = "default", .resource = ""};
	struct advance_reservation_spec r = {.name = "demo",
		.generation = 1,
		.clusterqueue = "batch",
		.amount = &all,
		.namounts = 1,
		.from_ms = NOW_MS + 3600000,
		.until_ms = NOW_MS + 7200000,
		.calendar = ""};
	struct err e = {""};
	if (queue_set_advance_reservation(s->api.world.queue, &r, &e) != 0)
		fail_msg("%s", e.text);
}

/* What an earlier leader has accepted stands until the queue has looked at it. */
static void a_reservation_is_not_written_before_it_is_judged(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_ADVANCE_RESERVATION, RESERVATION(IS_ACCEPTED("True")));
	reserve(&s);
	stage_tick(&s, NOW_MS);
	events_turn(&s, NOW_MS);
	assert_int_equal(scripted_server_count(s.api.server), 0);
	stage_close(&s);
}

/* A refusal is said with an Event. A store that has gone back to an older status is written anew. */
static void a_refused_reservation_says_so(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_ADVANCE_RESERVATION, RESERVATION(""));
	queue_reject_advance_reservation(
		s.api.world.queue, "demo", "spec.flavors: reserves nothing");
	expect(&s, RESERVATION_PATH, 200);
	stage_tick(&s, NOW_MS);
	const char *body = last_body(&s);
	assert_non_null(strstr(body, "\"type\":\"Accepted\",\"status\":\"False\""));
	assert_non_null(strstr(body, "\"reason\":\"InvalidSpec\""));
	assert_null(strstr(body, "\"type\":\"Kept\"")); /* there is nothing to keep */
	expect(&s, EVENT_PATH, 201);
	events_turn(&s, NOW_MS);
	assert_non_null(strstr(last_body(&s), "\"kind\":\"AdvanceReservation\",\"name\":\"demo\""));
	see(&s, REPORT_ADVANCE_RESERVATION, RESERVATION(IS_ACCEPTED("False"))); /* our own */
	stage_tick(&s, NOW_MS + 1000);
	assert_int_equal(scripted_server_count(s.api.server), 2);
	see(&s, REPORT_ADVANCE_RESERVATION, RESERVATION(IS_ACCEPTED("True")));
	expect(&s, RESERVATION_PATH, 200);
	stage_tick(&s, NOW_MS + 2000);
	assert_int_equal(scripted_server_count(s.api.server), 3);
	stage_close(&s);
}

#define RESERVATION_OF(version, conditions)                                                        \
	"{\"metadata\":{\"name\":\"demo\",\"uid\":\"" UID_ONE "\",\"resourceVersion\":\"" version  \
	"\"},\"status\":{\"conditions\":[" conditions "]}}"
#define TESTS_VERSION(version)                                                                     \
	"[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"" UID_ONE                        \
	"\"},{\"op\":\"test\",\"path\":\"/metadata/resourceVersion\",\"value\":\"" version "\"},"

/* What an earlier leader wrote meanwhile, of what it gave back, is not undone. */
static void a_reservation_is_written_as_it_was_seen_last(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_ADVANCE_RESERVATION, RESERVATION_OF("7", ""));
	queue_reject_advance_reservation(s.api.world.queue, "demo", "spec.flavors: names nothing");
	expect(&s, RESERVATION_PATH, 422); /* it has version 8 by now */
	stage_tick(&s, NOW_MS);
	assert_begins(last_body(&s), TESTS_VERSION("7"));
	see(&s, REPORT_ADVANCE_RESERVATION, RESERVATION_OF("8", ""));
	expect_answer(&s, RESERVATION_PATH, RESERVATION_OF("9", IS_ACCEPTED("False")));
	stage_tick(&s, NOW_MS + 1000);
	assert_begins(last_body(&s), TESTS_VERSION("8"));
	see(&s, REPORT_ADVANCE_RESERVATION,
		RESERVATION_OF("9", IS_ACCEPTED("False"))); /* our own */
	stage_tick(&s, NOW_MS + 2000);
	assert_int_equal(scripted_server_count(s.api.server), 2);
	see(&s, REPORT_ADVANCE_RESERVATION,
		RESERVATION_OF("11", IS_ACCEPTED("False"))); /* somebody else wrote it */
	expect(&s, RESERVATION_PATH, 200);
	stage_tick(&s, NOW_MS + 3000);
	assert_begins(last_body(&s), TESTS_VERSION("11"));
	stage_close(&s);
}

static void a_budget_is_written_every_ten_seconds_at_most(void **state)
{
	(void)state;
	struct stage s;
	struct zone *zone = zone_utc();
	struct budget_spec b = {.name = "monthly",
		.clusterqueue = "batch",
		.localqueue_ns = "",
		.localqueue = "",
		.time_zone = "UTC",
		.zone = zone,
		.currency = "EUR",
		.amount = 1000000};
	struct err e = {""};
	stage_open(&s);
	see(&s, REPORT_BUDGET, "{\"metadata\":{\"name\":\"monthly\"}}");
	assert_int_equal(queue_set_budget(s.api.world.queue, &b, &e), 0);
	expect(&s, BUDGET_PATH, 200);
	stage_tick(&s, NOW_MS);
	assert_non_null(strstr(last_body(&s), "\"remaining\":\"1.00\""));
	b.amount = 2000000;
	queue_set_budget(s.api.world.queue, &b, &e);
	stage_tick(&s, NOW_MS + 9000);
	assert_int_equal(scripted_server_count(s.api.server), 1);
	expect(&s, BUDGET_PATH, 200);
	stage_tick(&s, NOW_MS + 10000);
	assert_non_null(strstr(last_body(&s), "\"remaining\":\"2.00\""));
	zone_free(zone);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_news_are_written),
		cmocka_unit_test(an_object_is_written_once_a_second_at_most),
		cmocka_unit_test(a_server_that_is_slow_is_written_to_seldom),
		cmocka_unit_test(a_write_that_failed_is_written_again),
		cmocka_unit_test(the_time_of_a_condition_is_kept),
		cmocka_unit_test(an_object_may_go_while_it_is_written),
		cmocka_unit_test(an_empty_status_is_filled_again),
		cmocka_unit_test(a_write_is_for_the_object_that_was_judged),
		cmocka_unit_test(a_reservation_is_written_as_it_was_seen_last),
		cmocka_unit_test(an_object_may_be_made_anew_while_it_is_written),
		cmocka_unit_test(a_flavor_is_written_to_only_when_it_was_refused),
		cmocka_unit_test(a_flavor_that_is_deleted_says_what_still_uses_it),
		cmocka_unit_test(a_calendar_that_became_wrong_is_said_once),
		cmocka_unit_test(a_reservation_is_not_written_before_it_is_judged),
		cmocka_unit_test(a_refused_reservation_says_so),
		cmocka_unit_test(a_name_that_finds_nothing_is_told_once_it_stays_so),
		cmocka_unit_test(a_budget_is_written_every_ten_seconds_at_most),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
