/* What `sluice explain` makes of the API server's objects. */
#include "cli/commands.h"
#include "cli/explain/answer.h"
#include "cli/help.h"
#include "sluice/queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define NOW_MS 1795694400000 /* 2026-11-26T12:00:00Z */
#define META "\"metadata\":{\"name\":\"train\",\"namespace\":\"team\",\"uid\":\"u\"}"
#define SPEC                                                                                       \
	"\"spec\":{\"queue\":\"main\",\"clusterQueue\":\"batch\",\"priority\":100,"                \
	"\"claimedPriority\":1000,\"pods\":4,\"requests\":{\"cpu\":\"16\"}}"

static const struct style plain = {false, false};

static const cJSON *tree(struct json *j, const char *text)
{
	const cJSON *root;
	struct err e = {""};
	if (json_parse(j, slice_of(text), &root, &e) != 0)
		fail_msg("%s in %s", e.text, text);
	return root;
}

/* The explanation of a QueuedJob. */
static void explain(const char *queued_job, const struct explain_queues *queues, struct buf *out)
{
	struct json *j = json_new(1 << 20);
	buf_reset(out);
	explain_render(tree(j, queued_job), queues, NOW_MS, &plain, out);
	json_free(j);
}

static void wants(const struct buf *out, const char *part)
{
	if (!strstr(buf_text(out), part))
		fail_msg("no \"%s\" in\n%s", part, buf_text(out));
}

static void a_job_that_waits(void **state)
{
	(void)state;
	struct buf out;
	buf_init(&out, 1 << 20);
	explain("{" META "," SPEC
		",\"status\":{\"state\":\"Waiting\",\"position\":3,\"reason\":\"WaitingForQuota\","
		"\"message\":\"needs 12 cpu; 2 Jobs are ahead of it\",\"waitsFor\":\"quota\","
		"\"queuedAt\":\"2026-11-26T11:50:00Z\",\"startAt\":\"2026-11-26T15:12:00Z\","
		"\"start\":{\"draws\":16,\"p50\":\"2026-11-26T15:30:00Z\",\"p90\":\"2026-11-26T17:00:00Z\","
		"\"moved\":{\"from\":\"2026-11-26T14:30:00Z\",\"at\":\"2026-11-26T11:57:00Z\",\"why\":\"1 node was removed\"}},"
		"\"deadline\":\"2026-11-27T08:00:00Z\",\"deadlineUnreachable\":true,"
		"\"expectedSeconds\":5430,\"expectedFrom\":\"History\"}}",
		NULL, &out);
	assert_string_equal(buf_text(&out),
		"needs 12 cpu; 2 Jobs are ahead of it. Expected start 16:30 CET, 90 % sure by 18:00.\n\n"
		"  position  3, 2 ahead        priority 100 (claims 1000, ClusterQueue batch caps "
		"at 100), queued 2026-11-26 12:50 (10m ago), cannot start before 2026-11-26 16:12\n"
		"  state     Waiting           WaitingForQuota\n"
		"  moved     forecast          Until 12:57 the expected start was 15:30. Since then: 1 node was removed.\n"
		"  duration  1h30m30s          95 % of its earlier runs took no longer\n"
		"  deadline  2026-11-27 09:00  DeadlineUnreachable: even from its earliest start, the Job would end later\n");
	buf_done(&out);
}

/* Where the forecast has no other time than the position, or none at all, the first line stays as it is. */
static void a_forecast_that_adds_nothing(void **state)
{
	(void)state;
	struct buf out;
	buf_init(&out, 1 << 20);
	explain("{" META "," SPEC ",\"status\":{\"state\":\"Waiting\",\"reason\":\"OutsideWindow\","
		"\"message\":\"its window is closed\",\"startAt\":\"2026-11-26T15:12:00Z\","
		"\"start\":{\"draws\":16,\"p50\":\"2026-11-26T15:12:00Z\",\"p90\":\"2026-11-26T15:12:00Z\"}}}",
		NULL, &out);
	wants(&out, "its window is closed\n\n");
	wants(&out, "  starts    forecast     Expected start 16:12, 90 % sure by 16:12.\n");
	buf_reset(&out);
	explain("{" META "," SPEC
		",\"status\":{\"state\":\"Waiting\",\"reason\":\"ExceedsMaxQuota\","
		"\"message\":\"asks for more than there is\","
		"\"start\":{\"draws\":16,\"misses\":16,\"waitsFor\":\"over quota, never fits\"}}}",
		NULL, &out);
	wants(&out, "asks for more than there is\n\n");
	wants(&out,
		"  starts    forecast     No start expected within 30 days: over quota, never fits.\n");
	buf_done(&out);
}

static void a_job_on_hold_names_the_command_that_releases_it(void **state)
{
	(void)state;
	struct buf out;
	buf_init(&out, 1 << 20);
	explain("{\"metadata\":{\"name\":\"a\",\"namespace\":\"team\"}," SPEC
		",\"status\":{\"state\":\"Waiting\",\"reason\":\"OnHold\",\"message\":\"on hold: no "
		"data; to queue it again: kubectl annotate -n team job/a sluice.dev/hold-\","
		"\"start\":{\"draws\":16,\"misses\":16,\"waitsFor\":\"on hold\"}}}",
		NULL, &out);
	wants(&out, "on hold: no data; to queue it again: sluice release job/a -n team\n\n");
	assert_null(strstr(buf_text(&out), "forecast"));
	buf_done(&out);
}

static void a_job_that_runs(void **state)
{
	(void)state;
	struct buf out;
	buf_init(&out, 1 << 20);
	explain("{" META "," SPEC ",\"status\":{\"state\":\"Running\",\"message\":"
		"\"runs\",\"startedAt\":\"2026-11-26T11:00:00Z\",\"stopsAt\":\"2026-11-26T18:00:00Z\","
		"\"trouble\":{\"reason\":\"Unschedulable\",\"pods\":3,\"of\":8,\"since\":"
		"\"2026-11-26T11:59:30Z\",\"message\":\"no\",\"cure\":\"wait\"},\"bill\":"
		"{\"currency\":\"EUR\",\"plan\":\"power\",\"cost\":\"0.35\",\"perHour\":\"0.16\","
		"\"expectedCost\":\"1.24\"},\"story\":\"{\\\"state\\\":\\\"Started\\\",\\\"attempt\\\":"
		"2,\\\"at\\\":\\\"2026-11-26T11:00:00Z\\\"}\"}}",
		NULL, &out);
	wants(&out, "  position  not waiting ");
	assert_null(strstr(buf_text(&out), "not before"));
	wants(&out, "  state     Running               \n");
	wants(&out, "  stops     2026-11-26 19:00 CET  when its window closes");
	wants(&out, "3 of 8 pods, since 2026-11-26 12:59:30 (30s ago)\n");
	wants(&out,
		"so far, and 0.16 an hour by PricePlan power; 1.24 expected for the whole run\n");
	wants(&out, "attempt 2, 2026-11-26 12:00 (1h ago)\n");
	/* A run that lost pods was not preempted. */
	explain("{" META
		",\"status\":{\"state\":\"Running\",\"story\":\"{\\\"state\\\":\\\"Started\\\","
		"\\\"attempt\\\":2,\\\"at\\\":\\\"2026-11-26T11:00:00Z\\\",\\\"reason\\\":"
		"\\\"Preempted\\\",\\\"pods\\\":3}\"}}",
		NULL, &out);
	wants(&out, "  last      Shrunk ");
	wants(&out, "(1h ago): it goes on with 3 pods: Preempted\n");
	/* One that was adopted has kept its pods. */
	explain("{" META
		",\"status\":{\"state\":\"Running\",\"story\":\"{\\\"state\\\":\\\"Started\\\","
		"\\\"attempt\\\":1,\\\"at\\\":\\\"2026-11-26T11:00:00Z\\\",\\\"reason\\\":"
		"\\\"Adopted\\\",\\\"pods\\\":3}\"}}",
		NULL, &out);
	wants(&out, "  last      Started ");
	wants(&out, "(1h ago): Adopted\n");
	explain("{" META ",\"status\":{\"state\":\"Starting\"}}", NULL, &out);
	wants(&out, "not waiting");
	wants(&out, "Starting");
	buf_done(&out);
}

static void what_is_not_in_line_says_so(void **state)
{
	(void)state;
	struct buf out;
	buf_init(&out, 1 << 20);
	explain("{" META ",\"status\":{\"state\":\"Waiting\",\"reason\":\"OnHold\",\"message\":"
		"\"on hold\"}}",
		NULL, &out);
	wants(&out, "  position  not in line  priority 0\n");
	explain("{}", NULL, &out); /* whatever answers there */
	explain("{\"spec\":1,\"status\":[],\"metadata\":\"x\"}", NULL, &out);
	buf_done(&out);
}

static const char local_text[] =
	"{\"metadata\":{\"name\":\"main\",\"namespace\":\"team\"},\"spec\":{\"clusterQueue\":\"batch\"},\"status\":"
	"{\"conditions\":[{\"type\":\"Active\",\"status\":\"False\",\"reason\":\"Stopped\","
	"\"message\":\"it is stopped\"}]}}";
static const char cluster_text[] =
	"{\"metadata\":{\"name\":\"batch\"},\"spec\":{\"cohortName\":\"all\",\"queueingStrategy\":\"StrictFIFO\","
	"\"resourceGroups\":[{\"flavors\":[{\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\","
	"\"nominalQuota\":40},{\"name\":\"memory\",\"nominalQuota\":\"131072Mi\"}]}]},{\"flavors\":"
	"[{\"name\":\"count\",\"resources\":[{\"name\":\"pods\",\"nominalQuota\":\"200\"}]}]}]},"
	"\"status\":{\"conditions\":[{\"type\":\"Active\",\"status\":\"True\"}],"
	"\"flavorsReservation\":[{\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\",\"total\":"
	"\"60500m\",\"borrowed\":\"20500m\"},{\"name\":\"memory\",\"total\":\"64Gi\",\"borrowed\":"
	"\"0\"}]},{\"name\":\"count\",\"resources\":[{\"name\":\"pods\",\"total\":\"0\",\"borrowed\":\"0\"}]}]}}";

static void queues_are_read_from_their_objects(void **state)
{
	(void)state;
	struct json *j = json_new(1 << 20), *k = json_new(1 << 20);
	struct explain_queues queues = {
		.local = tree(j, local_text), .cluster = tree(k, cluster_text)};
	struct buf out;
	buf_init(&out, 1 << 20);
	explain("{" META "," SPEC ",\"status\":{}}", &queues, &out);
	wants(&out, "LocalQueue    main         Stopped: it is stopped\n");
	wants(&out, "ClusterQueue  batch        active, StrictFIFO\n");
	wants(&out, "cpu     ####################  60500m of 40 (20500m borrowed)\n");
	wants(&out, "memory  ##########..........  64Gi of 128Gi\n");
	wants(&out, "pods    ....................  0 of 200\n");
	json_free(j);
	json_free(k);
	buf_done(&out);
}

/* A RoleBinding does not reach ClusterQueues; that is no reason to say that there is none. */
static void a_queue_that_may_not_be_read_is_not_a_missing_one(void **state)
{
	(void)state;
	struct explain_queues queues = {.hides_cluster = true};
	struct buf out;
	buf_init(&out, 1 << 20);
	explain("{" META "," SPEC ",\"status\":{}}", &queues, &out);
	wants(&out, "LocalQueue    main         does not exist\n");
	wants(&out, "ClusterQueue  batch        (cannot be read)\n");
	assert_null(strstr(buf_text(&out), "quota"));
	buf_done(&out);
}

static void its_help_names_each_reason(void **state)
{
	(void)state;
	static const char *const names[] = {
#define WAIT_REASON(tag, name, phrase, when, cure) name,
#include "sluice/reasons.def"
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strstr(help_page(command_find("explain")), names[i]))
			fail_msg("sluice explain --help does not name %s", names[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_that_waits),
		cmocka_unit_test(a_forecast_that_adds_nothing),
		cmocka_unit_test(a_job_on_hold_names_the_command_that_releases_it),
		cmocka_unit_test(a_job_that_runs),
		cmocka_unit_test(what_is_not_in_line_says_so),
		cmocka_unit_test(queues_are_read_from_their_objects),
		cmocka_unit_test(a_queue_that_may_not_be_read_is_not_a_missing_one),
		cmocka_unit_test(its_help_names_each_reason),
	};
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
