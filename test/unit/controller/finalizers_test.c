/*
 * The finalizers, against an API server that does as it is told.
 */
#include "controller/watch/finalizers.h"

#include <unistd.h>

#include "api_stage.h"

#define CQ_PATH "PATCH /apis/sluice.dev/v1alpha1/clusterqueues/batch HTTP"
#define FLAVOR_PATH "PATCH /apis/sluice.dev/v1alpha1/resourceflavors/spot HTTP"
#define DELETED ",\"deletionTimestamp\":\"2026-11-21T10:00:00Z\""
#define OURS "\"sluice.dev/resource-in-use\""

struct stage {
	struct api_stage api;
	struct finalizers *finalizers;
	struct log *log;
	FILE *written;
};

static void stage_open(struct stage *s)
{
	*s = (struct stage){.written = tmpfile()};
	api_stage_open(&s->api);
	assert_non_null(s->written);
	s->log = log_new(fileno(s->written), LOG_JSON, LEVEL_INFO);
	s->finalizers = finalizers_new(&(struct finalizers_options){
		.client = s->api.client, .queue = s->api.world.queue, .log = s->log});
}

static void stage_close(struct stage *s)
{
	api_stage_hang_up(&s->api);
	finalizers_free(s->finalizers);
	api_stage_close(&s->api);
	log_free(s->log);
	fclose(s->written);
}

static void see(struct stage *s, enum status_writer_kind kind, const char *name, int version,
	const char *more)
{
	char text[512];
	const cJSON *root;
	snprintf(text, sizeof(text),
		"{\"metadata\":{\"name\":\"%s\",\"resourceVersion\":\"%d\"%s}}", name, version,
		more);
	assert_int_equal(json_parse(s->api.json, slice_of(text), &root, NULL), 0);
	finalizers_see(s->finalizers, kind, root);
	json_reset(s->api.json);
}

static void expect(struct stage *s, const char *line, int status)
{
	api_stage_expect(&s->api, line, status);
}

static void stage_tick(struct stage *s, int64_t now_ms)
{
	finalizers_tick(s->finalizers, now_ms);
	api_stage_settle(&s->api);
}

static const char *last_body(const struct stage *s)
{
	return api_stage_last_body(&s->api);
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

static void adopt(struct stage *s)
{
	static const struct quota_line lines[] = {{"cq/batch", "spot", "cpu", 1000}};
	world_add_job(&s->api.world, 1, "one");
	assert_true(queue_adopt_job(s->api.world.queue, &(struct uid){{1}}, lines, 1, NOW_MS));
}

static void each_gets_it_once_and_the_others_are_kept(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_CLUSTERQUEUE, "batch", 7, "");
	expect(&s, CQ_PATH, 200);
	stage_tick(&s, NOW_MS);
	assert_non_null(strstr(
		scripted_server_request(s.api.server, 0)->head, "application/json-patch+json"));
	assert_string_equal(last_body(&s),
		"[{\"op\":\"test\",\"path\":\"/metadata/resourceVersion\",\"value\":\"7\"},"
		"{\"op\":\"add\",\"path\":\"/metadata/finalizers\",\"value\":[" OURS "]}]");
	stage_tick(&s, NOW_MS + 1000); /* the watch has not told it yet */
	see(&s, REPORT_CLUSTERQUEUE, "batch", 8, ",\"finalizers\":[" OURS "]");
	see(&s, REPORT_FLAVOR, "spot", 9,
		",\"finalizers\":[\"a.example/x\",\"foregroundDeletion\"]");
	expect(&s, FLAVOR_PATH, 200);
	stage_tick(&s, NOW_MS + 2000);
	assert_non_null(strstr(
		last_body(&s), "\"value\":[\"a.example/x\",\"foregroundDeletion\"," OURS "]}]"));
	see(&s, REPORT_FLAVOR, "spot", 10, ",\"finalizers\":[\"a.example/x\"," OURS "]");
	see(&s, REPORT_LOCALQUEUE, "main", 11, "");
	see(&s, REPORT_COHORT, "all", 12, "");
	stage_tick(&s, NOW_MS + 60000);
	assert_int_equal(scripted_server_count(s.api.server), 2);
	stage_close(&s);
}

static void a_queue_that_is_deleted_goes_when_nothing_runs_in_it(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	adopt(&s);
	see(&s, REPORT_CLUSTERQUEUE, "batch", 7, DELETED ",\"finalizers\":[\"a/b\"," OURS "]");
	stage_tick(&s, NOW_MS);
	stage_tick(&s, NOW_MS + 60000);
	assert_int_equal(scripted_server_count(s.api.server), 0);
	queue_release_job(s.api.world.queue, &(struct uid){{1}}, NOW_MS, 0);
	expect(&s, CQ_PATH, 200);
	stage_tick(&s, NOW_MS + 61000);
	assert_string_equal(last_body(&s),
		"[{\"op\":\"test\",\"path\":\"/metadata/resourceVersion\",\"value\":\"7\"},"
		"{\"op\":\"add\",\"path\":\"/metadata/finalizers\",\"value\":[\"a/b\"]}]");
	assert_int_equal(said(&s, "finalizer-off"), 1);
	finalizers_lose(s.finalizers, REPORT_CLUSTERQUEUE, "batch");
	stage_tick(&s, NOW_MS + 120000);
	assert_int_equal(scripted_server_count(s.api.server), 1);
	stage_close(&s);
}

static void a_flavor_that_is_deleted_goes_when_nobody_names_it(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_FLAVOR, "spot", 7, DELETED ",\"finalizers\":[" OURS "]");
	adopt(&s);
	stage_tick(&s, NOW_MS);
	queue_drop_clusterqueue(s.api.world.queue, "batch");
	stage_tick(&s, NOW_MS + 1000); /* a Job still holds quota in it */
	assert_int_equal(scripted_server_count(s.api.server), 0);
	queue_release_job(s.api.world.queue, &(struct uid){{1}}, NOW_MS, 0);
	expect(&s, FLAVOR_PATH, 200);
	stage_tick(&s, NOW_MS + 2000);
	assert_non_null(strstr(last_body(&s), "\"value\":[]}]"));
	stage_close(&s);
}

/* The API server takes no new ones then. */
static void what_is_deleted_gets_none(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_CLUSTERQUEUE, "batch", 7, DELETED ",\"finalizers\":[\"a/b\"]");
	stage_tick(&s, NOW_MS);
	assert_int_equal(scripted_server_count(s.api.server), 0);
	stage_close(&s);
}

static void a_write_that_is_refused_is_made_again_as_the_object_is_then(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_CLUSTERQUEUE, "batch", 7, "");
	expect(&s, CQ_PATH, 422);
	stage_tick(&s, NOW_MS);
	stage_tick(&s, NOW_MS + 1000);
	assert_int_equal(scripted_server_count(s.api.server), 1);
	see(&s, REPORT_CLUSTERQUEUE, "batch", 9, "");
	expect(&s, CQ_PATH, 500);
	stage_tick(&s, NOW_MS + 2000);
	assert_non_null(strstr(last_body(&s), "\"value\":\"9\""));
	expect(&s, CQ_PATH, 200);
	stage_tick(&s, NOW_MS + 7000); /* nothing was seen: after five seconds */
	assert_int_equal(scripted_server_count(s.api.server), 3);
	stage_close(&s);
}

/* A status is often written at the same time: what was seen of that counts at once. */
static void a_version_that_was_seen_meanwhile_is_tried_at_once(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_CLUSTERQUEUE, "batch", 7, "");
	expect(&s, CQ_PATH, 422);
	expect(&s, CQ_PATH, 200);
	finalizers_tick(s.finalizers, NOW_MS);
	see(&s, REPORT_CLUSTERQUEUE, "batch", 8, "");
	stage_tick(&s, NOW_MS);
	assert_int_equal(scripted_server_count(s.api.server), 2);
	assert_non_null(strstr(last_body(&s), "\"value\":\"8\""));
	stage_close(&s);
}

static void without_the_right_it_is_said_once_and_tried_once_a_minute(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_CLUSTERQUEUE, "batch", 7, "");
	see(&s, REPORT_FLAVOR, "on-demand", 8, ",\"finalizers\":[" OURS "]");
	expect(&s, CQ_PATH, 403);
	stage_tick(&s, NOW_MS);
	see(&s, REPORT_CLUSTERQUEUE, "batch", 9, "");
	stage_tick(&s, NOW_MS + 30000);
	expect(&s, CQ_PATH, 403);
	stage_tick(&s, NOW_MS + 60000);
	assert_int_equal(said(&s, "finalizers-not-permitted"), 1);
	assert_int_equal(said(&s, "kubectl apply -k deploy/rbac"), 1);
	expect(&s, CQ_PATH, 200);
	stage_tick(&s, NOW_MS + 120000);
	assert_int_equal(scripted_server_count(s.api.server), 3);
	stage_close(&s);
}

static void few_are_under_way_and_all_have_their_turn(void **state)
{
	(void)state;
	struct stage s;
	char name[32], line[128];
	stage_open(&s);
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		snprintf(line, sizeof(line),
			"PATCH /apis/sluice.dev/v1alpha1/resourceflavors/%s HTTP", name);
		see(&s, REPORT_FLAVOR, name, i + 1, "");
		expect(&s, line, 200);
	}
	finalizers_tick(s.finalizers, NOW_MS);
	const struct kube_client_stats *stats = kube_client_stats(s.api.client);
	while (stats->in_flight + stats->queued > 0) {
		assert_true(stats->in_flight + stats->queued <= 2);
		ev_run(s.api.loop, EVRUN_ONCE);
	}
	assert_int_equal(scripted_server_count(s.api.server), 20);
	stage_close(&s);
}

static void an_object_may_go_while_it_is_written(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_CLUSTERQUEUE, "batch", 7, "");
	expect(&s, CQ_PATH, 404);
	finalizers_tick(s.finalizers, NOW_MS);
	finalizers_lose(s.finalizers, REPORT_CLUSTERQUEUE, "batch");
	stage_tick(&s, NOW_MS + 10000);
	assert_int_equal(scripted_server_count(s.api.server), 1);
	stage_close(&s);
}

/* We are told to stop meanwhile: nothing is left behind (the sanitizer looks). */
static void an_object_that_goes_while_it_is_written_is_freed_with_all(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_CLUSTERQUEUE, "batch", 7, "");
	finalizers_tick(s.finalizers, NOW_MS);
	finalizers_lose(s.finalizers, REPORT_CLUSTERQUEUE, "batch");
	stage_close(&s);
}

/* Deleted and made again while the write of the old one is under way: the new one gets its own. */
static void an_object_made_again_while_it_is_written_gets_its_own(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	see(&s, REPORT_CLUSTERQUEUE, "batch", 7, "");
	expect(&s, CQ_PATH, 422);
	finalizers_tick(s.finalizers, NOW_MS);
	finalizers_lose(s.finalizers, REPORT_CLUSTERQUEUE, "batch");
	see(&s, REPORT_CLUSTERQUEUE, "batch", 9, "");
	expect(&s, CQ_PATH, 200);
	stage_tick(&s, NOW_MS);
	assert_non_null(strstr(last_body(&s), "\"value\":\"9\""));
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_gets_it_once_and_the_others_are_kept),
		cmocka_unit_test(a_queue_that_is_deleted_goes_when_nothing_runs_in_it),
		cmocka_unit_test(a_flavor_that_is_deleted_goes_when_nobody_names_it),
		cmocka_unit_test(what_is_deleted_gets_none),
		cmocka_unit_test(a_write_that_is_refused_is_made_again_as_the_object_is_then),
		cmocka_unit_test(a_version_that_was_seen_meanwhile_is_tried_at_once),
		cmocka_unit_test(without_the_right_it_is_said_once_and_tried_once_a_minute),
		cmocka_unit_test(few_are_under_way_and_all_have_their_turn),
		cmocka_unit_test(an_object_may_go_while_it_is_written),
		cmocka_unit_test(an_object_that_goes_while_it_is_written_is_freed_with_all),
		cmocka_unit_test(an_object_made_again_while_it_is_written_gets_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
