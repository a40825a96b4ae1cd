/* `sluice simulate --from-cluster`: what is asked of the API server, and what follows from each answer. */
#include "test/unit/kube/test.h"

#include "cli/simulate/live.h"
#include "cli/simulate/manifest.h"
#include "sluice/queue_call.h"
#include "test/unit/kube/scripted_server.h"

#define LIST(items) "{\"metadata\":{},\"items\":[" items "]}"
#define STATUS(reason)                                                                             \
	"{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"" reason "\",\"reason\":\"x\"}"
#define OBJECT(name, rest) "{\"metadata\":{\"name\":\"" name "\"}" rest "}"
#define TEAM(name, rest) "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"team\"}" rest "}"
#define FLAVOR OBJECT("node", "")
#define QUEUE(selector)                                                                            \
	OBJECT("batch",                                                                            \
		",\"spec\":{\"namespaceSelector\":" selector                                       \
		",\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":"     \
		"\"node\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":4}]}]}]}")
#define JOB(number, created, spec)                                                                 \
	"{\"metadata\":{\"name\":\"job-" number                                                    \
	"\",\"namespace\":\"team\",\"uid\":\"00000000-0000-4000-8000-00000000000" number           \
	"\",\"creationTimestamp\":\"" created                                                      \
	"\",\"labels\":{\"sluice.dev/queue-name\":\"main\"}},\"spec\":{\"suspend\":true,"          \
	"\"template\":{\"spec\":{" spec                                                            \
	"\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}},"       \
	"\"status\":{\"conditions\":[{\"type\":\"Suspended\",\"status\":\"True\"}]}}"
#define EARLY "2026-11-27T08:00:00Z"
#define LATE "2026-11-27T09:00:00Z"

static const char ours[] = "GET /apis/sluice.dev/v1alpha1/";
static const char jobs[] =
	"GET /apis/batch/v1/jobs?limit=500&labelSelector=sluice.dev%2Fqueue-name HTTP";

struct stage {
	struct live_options o;
	struct scripted_server *server;
	struct kube_config *config;
	struct world w;
	struct live live;
	struct err e;
};

static void stage_open(struct stage *s)
{
	struct queue_config config;
	*s = (struct stage){.o = {.loop = ev_loop_new(EVFLAG_AUTO),
				    .config_namespace = "sluice-system",
				    .assumed_ms = 60000}};
	s->server = scripted_server_new(s->o.loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->o.config = s->config;
	queue_config_default(&config);
	world_init(&s->w, &config);
	s->w.live = true;
}

static void stage_close(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	live_done(&s->live);
	world_done(&s->w);
	scripted_server_free(s->server);
	kube_config_free(s->config);
	ev_loop_destroy(s->o.loop);
}

static void answer(struct stage *s, const char *line, int status, const char *body)
{
	script_answer(scripted_server_expect(s->server, line), status, "", body);
}

static const struct {
	const char *root, *plural, *usual;
} kinds[] = {
	{ours, "resourceflavors", LIST(FLAVOR)},
	{ours, "cohorts", LIST("")},
	{ours, "clusterqueues", LIST(QUEUE("{}"))},
	{ours, "localqueues", LIST(TEAM("main", ",\"spec\":{\"clusterQueue\":\"batch\"}"))},
	{ours, "workloadpriorityclasses", LIST("")},
	{ours, "calendars", LIST("")},
	{ours, "runpolicies", LIST("")},
	{ours, "priceplans", LIST("")},
	{ours, "budgets", LIST("")},
	{ours, "advancereservations", LIST("")},
	{"GET /api/v1/", "nodes", LIST("")},
	{"GET /api/v1/", "resourcequotas", LIST("")},
	{"GET /api/v1/", "limitranges", LIST("")},
	{"GET /apis/node.k8s.io/v1/", "runtimeclasses", LIST("")},
	{"GET /apis/resource.k8s.io/v1/", "deviceclasses", LIST("")},
	{"GET /api/v1/", "namespaces", LIST(OBJECT("team", ""))},
	{"GET /apis/scheduling.k8s.io/v1/", "priorityclasses", LIST("")},
};

/* The usual answers, but for one kind: that one is the test's. last: no other is asked for after it. */
static void answer_kinds(struct stage *s, const char *but, const char *last)
{
	for (size_t i = 0; i < ROWS(kinds); i++) {
		char line[200];
		snprintf(line, sizeof(line), "%s%s?limit=500 HTTP", kinds[i].root, kinds[i].plural);
		if (strcmp(kinds[i].plural, but) != 0)
			answer(s, line, 200, kinds[i].usual);
		if (strcmp(kinds[i].plural, last) == 0)
			return;
	}
}

static int read_all(struct stage *s)
{
	return live_read(&s->live, &s->w, &s->o, &s->e);
}

static void says(const struct stage *s, const char *words)
{
	if (!strstr(s->e.text, words))
		fail_msg("says: %s", s->e.text);
}

static void all_is_read_page_by_page(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer_kinds(&s, "", "");
	answer(&s, jobs, 200,
		"{\"metadata\":{\"continue\":\"a/b+c=\"},\"items\":[" JOB("1", LATE, "") "]}");
	script_answer(
		scripted_server_expect(s.server,
			"jobs?limit=500&labelSelector=sluice.dev%2Fqueue-name&continue=a%2Fb%2Bc%3D HTTP"),
		200, "Date: Fri, 27 Nov 2026 10:00:00 GMT\r\n", LIST(JOB("2", EARLY, "")));
	if (read_all(&s) < 0)
		fail_msg("%s", s.e.text);
	assert_int_equal(s.w.nsim_jobs, 2);
	assert_string_equal(s.w.sim_job[0].record->name, "job-2"); /* it came first */
	assert_int_equal(s.w.now_ms, INT64_C(1795773600000));
	assert_int_equal(s.w.sim_job[0].duration_ms, 60000);
	assert_int_equal(world_close(&s.w, &s.e), 0);
	assert_string_equal(world_clusterqueue(&s.w, "team", "main"), "batch");
	stage_close(&s);
}

/* A clock behind what was seen does not make time begin before it. */
static void time_begins_no_earlier_than_what_was_seen(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer_kinds(&s, "", "");
	script_answer(scripted_server_expect(s.server, jobs), 200,
		"Date: Fri, 27 Nov 2026 07:00:00 GMT\r\n", LIST(JOB("1", EARLY, "")));
	assert_int_equal(read_all(&s), 0);
	assert_int_equal(s.w.now_ms, s.w.sim_job[0].arrival_ms);
	stage_close(&s);
}

static void what_can_be_missing_ends_nothing(void **state)
{
	(void)state;
	static const char *const may[] = {"advancereservations", "nodes", "resourcequotas",
		"limitranges", "runtimeclasses", "deviceclasses", "namespaces", "priorityclasses"};
	for (size_t i = 0; i < ROWS(may); i++) {
		struct stage s;
		char line[64];
		stage_open(&s);
		snprintf(line, sizeof(line), "/%s?limit=500 HTTP", may[i]);
		answer_kinds(&s, may[i], "");
		answer(&s, line, 403, STATUS("is forbidden"));
		answer(&s, jobs, 200, LIST(JOB("1", EARLY, "")));
		if (read_all(&s) < 0)
			fail_msg("%s: %s", may[i], s.e.text);
		assert_int_equal(s.w.nsim_jobs, 1);
		stage_close(&s);
	}
}

static void hear_what_is_unknown(const struct queue_call *call, void *ctx)
{
	if (call->kind == CALL_KNOW_DEVICE_CLASSES && !call->flag)
		*(bool *)ctx = true;
}

/* What no node has may be theirs then. */
static void the_queue_is_told_that_device_classes_are_missing(void **state)
{
	(void)state;
	for (int denied = 0; denied < 2; denied++) {
		struct stage s;
		bool told = false;
		stage_open(&s);
		queue_listen(s.w.queue, (struct queue_listener){hear_what_is_unknown, &told});
		answer_kinds(&s, denied ? "deviceclasses" : "", "");
		if (denied)
			answer(&s, "/deviceclasses?limit=500 HTTP", 403, STATUS("is forbidden"));
		answer(&s, jobs, 200, LIST(JOB("1", EARLY, "")));
		assert_int_equal(read_all(&s), 0);
		assert_true(told == denied);
		queue_listen(s.w.queue, (struct queue_listener){NULL, NULL});
		stage_close(&s);
	}
}

static void what_decides_cannot_be_missing(void **state)
{
	(void)state;
	static const char *const must_be[] = {"resourceflavors", "cohorts", "clusterqueues",
		"localqueues", "workloadpriorityclasses", "calendars", "runpolicies", "priceplans",
		"budgets"};
	struct stage s;
	for (size_t i = 0; i < ROWS(must_be); i++) {
		char line[64], right[64];
		stage_open(&s);
		snprintf(line, sizeof(line), "/%s?limit=500 HTTP", must_be[i]);
		snprintf(right, sizeof(right), "The right: list of %s.sluice.dev", must_be[i]);
		answer_kinds(&s, must_be[i], must_be[i]);
		answer(&s, line, 403, STATUS("is forbidden"));
		assert_int_equal(read_all(&s), ERR_DENIED);
		says(&s, right);
		stage_close(&s);
	}
	stage_open(&s);
	answer_kinds(&s, "", "namespaces");
	answer(&s, jobs, 403, STATUS("is forbidden"));
	assert_int_equal(read_all(&s), ERR_DENIED);
	says(&s, "you may not list jobs, and without them nobody knows what starts next");
	stage_close(&s);
}

static void namespaces_are_needed_where_their_labels_are(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer(&s, "clusterqueues?limit=500", 200, LIST(QUEUE("{\"matchLabels\":{\"a\":\"b\"}}")));
	answer_kinds(&s, "clusterqueues", "deviceclasses");
	answer(&s, "/namespaces?limit=500", 403, STATUS("is forbidden"));
	assert_int_equal(read_all(&s), ERR_DENIED);
	says(&s, "list of namespaces");
	stage_close(&s);
}

static void pod_priorities_are_needed_where_jobs_have_them(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer_kinds(&s, "priorityclasses", "");
	answer(&s, jobs, 200, LIST(JOB("1", EARLY, "\"priorityClassName\":\"high\",")));
	answer(&s, "/priorityclasses?limit=500", 403, STATUS("is forbidden"));
	assert_int_equal(read_all(&s), ERR_DENIED);
	says(&s, "list of priorityclasses.scheduling.k8s.io");
	stage_close(&s);
}

static void a_cluster_without_sluice_or_an_answer_is_told(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer_kinds(&s, "clusterqueues", "clusterqueues");
	answer(&s, "clusterqueues?limit=500", 404, STATUS("not found"));
	assert_int_equal(read_all(&s), ERR_GONE);
	says(&s, "Sluice is not installed there");
	stage_close(&s);
	stage_open(&s);
	answer(&s, "resourceflavors", 503, "");
	assert_int_equal(read_all(&s), ERR_BUSY);
	stage_close(&s);
}

/* What comes in one piece has a ceiling; large objects come in smaller pages. */
static void a_page_that_is_too_large_is_asked_for_in_smaller_ones(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer_kinds(&s, "", "");
	answer(&s, jobs, 200, "{\"cut");
	answer(&s, "/jobs?limit=50&labelSelector=sluice.dev%2Fqueue-name HTTP", 200,
		"{\"metadata\":{\"continue\":\"next\"},\"items\":[" JOB("1", EARLY, "") "]}");
	answer(&s, "/jobs?limit=50&labelSelector=sluice.dev%2Fqueue-name&continue=next HTTP", 200,
		LIST(JOB("2", LATE, "")));
	assert_int_equal(read_all(&s), 0);
	assert_int_equal(s.w.nsim_jobs, 2);
	stage_close(&s);
}

static void a_list_that_was_forgotten_is_to_be_asked_for_again(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer_kinds(&s, "", "namespaces");
	answer(&s, jobs, 200, "{\"metadata\":{\"continue\":\"next\"},\"items\":[]}");
	answer(&s, "&continue=next", 410, STATUS("expired"));
	assert_int_equal(read_all(&s), ERR_BUSY);
	says(&s, "try again");
	stage_close(&s);
}

static void the_order_within_a_second_is_asked_for(void **state)
{
	(void)state;
	for (int may = 0; may < 2; may++) {
		struct stage s;
		stage_open(&s);
		answer_kinds(&s, "", "");
		answer(&s, jobs, 200, LIST(JOB("1", EARLY, "") "," JOB("2", EARLY, "")));
		answer(&s, "GET /apis/visibility.sluice.dev/v1alpha1/queuedjobs?limit=500 HTTP",
			may ? 200 : 403,
			may ? LIST(TEAM("job-2", "") "," TEAM("job-1", ""))
			    : STATUS("is forbidden"));
		assert_int_equal(read_all(&s), 0);
		assert_string_equal(s.w.sim_job[0].record->name, may ? "job-2" : "job-1");
		stage_close(&s);
	}
}

#define CRONJOB                                                                                    \
	"{\"metadata\":{\"name\":\"nightly\",\"namespace\":\"team\",\"creationTimestamp\":"        \
	"\"" EARLY "\"},\"spec\":{\"schedule\":\"0 3 * * *\",\"jobTemplate\":{\"metadata\":"       \
	"{\"labels\":{\"sluice.dev/queue-name\":\"main\"}},\"spec\":{\"template\":{\"spec\":"      \
	"{\"containers\":[{\"name\":\"c\"}]}}}}}}"

static void cronjobs_are_read_where_the_play_has_an_end(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	s.o.cronjobs = true;
	answer_kinds(&s, "", "");
	answer(&s, "GET /apis/batch/v1/cronjobs?limit=500 HTTP", 200, LIST(CRONJOB));
	answer(&s, jobs, 200, LIST(""));
	assert_int_equal(read_all(&s), 0);
	assert_int_equal(s.w.ncronjobs, 1);
	assert_true(s.w.cronjob[0].from_ms == NEVER_MS); /* from now on */
	assert_int_equal(s.w.cronjob[0].duration_ms, 60000);
	stage_close(&s);
}

#define CALENDAR                                                                                                                              \
	OBJECT("nights",                                                                                                                      \
		",\"spec\":{\"timeZone\":\"UTC\",\"open\":[{\"name\":\"night\",\"days\":[\"Mon-Sun\"],\"from\":\"19:00\",\"to\":\"07:00\"}]," \
		"\"except\":[{\"name\":\"feasts\",\"datesFrom\":{\"configMap\":\"dates\",\"key\":\"d\"},\"treatAs\":\"Closed\"}]}")

static void dates_are_asked_for_by_name(void **state)
{
	(void)state;
	static const char path[] = "GET /api/v1/namespaces/sluice-system/configmaps/dates HTTP";
	struct stage s;
	stage_open(&s);
	answer(&s, "calendars?limit=500", 200, LIST(CALENDAR));
	answer_kinds(&s, "calendars", "");
	answer(&s, path, 200,
		"{\"metadata\":{\"name\":\"dates\",\"namespace\":\"sluice-system\"},\"data\":{\"d\":\"2026-12-25\"}}");
	answer(&s, jobs, 200, LIST(""));
	assert_int_equal(read_all(&s), 0);
	assert_non_null(calendar_specs_text(&s.w.policy_specs.calendar_specs, "dates", "d").ptr);
	assert_int_equal(world_close(&s.w, &s.e), 0);
	stage_close(&s);
	stage_open(&s);
	answer(&s, "calendars?limit=500", 200, LIST(CALENDAR));
	answer_kinds(&s, "calendars", "namespaces");
	answer(&s, path, 403, STATUS("is forbidden"));
	assert_int_equal(read_all(&s), ERR_DENIED);
	says(&s, "get of configmaps there");
	stage_close(&s);
	/* One that is not there is none in the cluster either. */
	stage_open(&s);
	answer(&s, "calendars?limit=500", 200, LIST(CALENDAR));
	answer_kinds(&s, "calendars", "");
	answer(&s, path, 404, STATUS("not found"));
	answer(&s, jobs, 200, LIST(""));
	assert_int_equal(read_all(&s), 0);
	assert_int_equal(world_close(&s.w, &s.e), 0);
	stage_close(&s);
}

static void what_makes_no_sense_is_left_out(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer(&s, "cohorts?limit=500", 200,
		LIST(OBJECT("odd", ",\"spec\":{\"resourceGroups\":7}")));
	answer_kinds(&s, "cohorts", "");
	answer(&s, jobs, 200,
		LIST("{\"metadata\":{\"name\":\"x\",\"namespace\":\"team\",\"uid\":\"no\"}}," JOB(
			"1", EARLY, "")));
	assert_int_equal(read_all(&s), 0);
	assert_int_equal(s.w.nsim_jobs, 1);
	stage_close(&s);
}

/* A Job that waits for another: what its namespace has beside those that are played. */
static void those_that_others_wait_for_are_asked_for(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer_kinds(&s, "", "");
	answer(&s, jobs, 200,
		LIST("{\"metadata\":{\"name\":\"next\",\"namespace\":\"team\",\"uid\":\"00000000-0000-4000-8000-000000000009\","
		     "\"labels\":{\"sluice.dev/queue-name\":\"main\"},\"annotations\":{\"sluice.dev/after\":\"job-1\"}},"
		     "\"spec\":{\"suspend\":true,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\"}]}}}}"));
	answer(&s, "GET /apis/batch/v1/namespaces/team/jobs?limit=500 HTTP", 200,
		LIST(JOB("1", EARLY, "")));
	assert_int_equal(read_all(&s), 0);
	assert_int_equal(s.w.nothers, 1);
	stage_close(&s);
}

#define PLAN                                                                                       \
	OBJECT("prices",                                                                           \
		",\"spec\":{\"currency\":\"EUR\",\"queues\":[\"batch\"],\"base\":{\"cpu\":\"1\"}}")
#define BUDGET(name, period, spent)                                                                \
	OBJECT(name,                                                                               \
		",\"spec\":{\"queue\":\"batch\",\"period\":\"" period                              \
		"\",\"timeZone\":\"UTC\",\"amount\":\"100\"},\"status\":{\"periodFrom\":\"" spent  \
		"\"}")

/* Today's spending is the month's, too, and counts once. */
static void what_was_spent_counts(void **state)
{
	(void)state;
	struct stage s;
	struct budget_view b;
	stage_open(&s);
	answer(&s, "priceplans?limit=500", 200, LIST(PLAN));
	answer(&s, "budgets?limit=500", 200,
		LIST(BUDGET("daily", "Daily", "2026-11-27T00:00:00Z\",\"spent\":\"5.5") "," BUDGET(
			"monthly", "Monthly",
			"2026-11-01T00:00:00Z\",\"spent\":\"40") "," BUDGET("old", "Daily",
			"2026-11-26T00:00:00Z\",\"spent\":\"99")));
	for (size_t i = 0; i < ROWS(kinds); i++) {
		char line[200];
		snprintf(line, sizeof(line), "%s%s?limit=500 HTTP", kinds[i].root, kinds[i].plural);
		if (strcmp(kinds[i].plural, "budgets") != 0 &&
			strcmp(kinds[i].plural, "priceplans") != 0)
			answer(&s, line, 200, kinds[i].usual);
	}
	script_answer(scripted_server_expect(s.server, jobs), 200,
		"Date: Fri, 27 Nov 2026 10:00:00 GMT\r\n", LIST(""));
	if (read_all(&s) < 0)
		fail_msg("%s", s.e.text);
	assert_int_equal(world_close(&s.w, &s.e), 0);
	live_close(&s.live);
	for (size_t i = 0; queue_view_budget(s.w.queue, i, &b); i++) {
		bool monthly = strcmp(b.name, "monthly") == 0;
		assert_int_equal(b.spent, monthly ? 40000000 : 5500000);
	}
	stage_close(&s);
}

#define RESERVATION(name, status)                                                                  \
	OBJECT(name,                                                                               \
		",\"spec\":{\"clusterQueue\":\"batch\",\"flavors\":[{\"name\":\"node\"}],"         \
		"\"from\":\"2026-11-28T10:00:00Z\",\"until\":\"2026-11-28T12:00:00Z\"}" status)

/* Of two that cannot both be kept, the one that the cluster has accepted. */
static void what_was_accepted_is_kept(void **state)
{
	(void)state;
	struct stage s;
	struct advance_reservation_view v;
	stage_open(&s);
	answer_kinds(&s, "advancereservations", "");
	answer(&s, "/advancereservations?limit=500 HTTP", 200,
		LIST(RESERVATION("a", "") "," RESERVATION("b",
			",\"status\":{\"conditions\":[{\"type\":\"Accepted\",\"status\":\"True\"}]}")));
	script_answer(scripted_server_expect(s.server, jobs), 200,
		"Date: Fri, 27 Nov 2026 10:00:00 GMT\r\n", LIST(""));
	if (read_all(&s) < 0 || world_close(&s.w, &s.e) < 0)
		fail_msg("%s", s.e.text);
	assert_true(queue_view_advance_reservation(s.w.queue, 0, &v));
	assert_string_equal(v.accepted.reason, "NotFree");
	assert_true(queue_view_advance_reservation(s.w.queue, 1, &v));
	assert_true(v.accepted.ok);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_read_page_by_page),
		cmocka_unit_test(time_begins_no_earlier_than_what_was_seen),
		cmocka_unit_test(what_can_be_missing_ends_nothing),
		cmocka_unit_test(the_queue_is_told_that_device_classes_are_missing),
		cmocka_unit_test(what_decides_cannot_be_missing),
		cmocka_unit_test(namespaces_are_needed_where_their_labels_are),
		cmocka_unit_test(pod_priorities_are_needed_where_jobs_have_them),
		cmocka_unit_test(a_cluster_without_sluice_or_an_answer_is_told),
		cmocka_unit_test(a_page_that_is_too_large_is_asked_for_in_smaller_ones),
		cmocka_unit_test(a_list_that_was_forgotten_is_to_be_asked_for_again),
		cmocka_unit_test(the_order_within_a_second_is_asked_for),
		cmocka_unit_test(cronjobs_are_read_where_the_play_has_an_end),
		cmocka_unit_test(dates_are_asked_for_by_name),
		cmocka_unit_test(what_makes_no_sense_is_left_out),
		cmocka_unit_test(those_that_others_wait_for_are_asked_for),
		cmocka_unit_test(what_was_spent_counts),
		cmocka_unit_test(what_was_accepted_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
