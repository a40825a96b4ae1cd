/*
 * The JSON that the controller answers, without a socket.
 */
#include "controller/answers/api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api_answer.h"

static void ask(struct answer *a, const struct world *w, const char *path, const char *after)
{
	ask_for(a, w, &(struct api_request){.path = path, .after = after, .names = true});
}

static void queues_are_told_with_their_quotas(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	world_add_job(&w, 1, "one");
	world_note(&w, NOTE_FINISH, "batch", 0);
	ask(&a, &w, "/api/v1/queues", NULL);
	assert_int_equal(a.reply.status, 200);
	const cJSON *q = json_array(a.root, "clusterQueues")->child;
	assert_string_equal(json_text(q, "name"), "batch");
	assert_string_equal(json_text(q, "strategy"), "BestEffortFIFO");
	assert_int_equal(count(q, "pending"), 1);
	assert_int_equal(count(q, "reserving"), 0);
	assert_int_equal(count(q, "finished"), 1);
	const cJSON *spot = json_array(q, "flavors")->child;
	const cJSON *cpu = json_array(spot, "resources")->child;
	assert_string_equal(json_text(spot, "name"), "spot");
	assert_string_equal(json_text(cpu, "name"), "cpu");
	assert_string_equal(json_text(cpu, "nominal"), "40");
	assert_string_equal(json_text(cpu, "used"), "0");
	assert_int_equal(count(cpu, "nominalUnits"), 40000);
	assert_int_equal(count(cpu, "usedUnits"), 0);
	const cJSON *local = json_array(a.root, "localQueues")->child;
	assert_string_equal(json_text(local, "namespace"), "team-a");
	assert_string_equal(json_text(local, "clusterQueue"), "batch");
	assert_int_equal(count(local, "pending"), 1);
	assert_null(json_get(local, "invalid"));
	done(&a);
	queue_reject_localqueue(w.queue, "team-a", "main", "it is wrong");
	ask(&a, &w, "/api/v1/queues", NULL);
	local = json_array(a.root, "localQueues")->child;
	assert_string_equal(json_text(local, "invalid"), "it is wrong");
	assert_true(cJSON_IsTrue(json_get(local, "active")));
	done(&a);
	world_close(&w);
}

static void a_queue_that_is_gone_has_a_row_while_it_has_jobs(void **state)
{
	static const struct quota_line lines[] = {{"cq/batch", "spot", "cpu", 12000}};
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	world_add_job(&w, 1, "one");
	world_add_job(&w, 2, "two");
	assert_true(queue_adopt_job(w.queue, &(struct uid){{1}}, lines, 1, 1));
	ask(&a, &w, "/api/v1/queues", NULL);
	assert_int_equal(count(a.root, "withoutQueue"), 0);
	assert_true(cJSON_IsTrue(json_get(json_array(a.root, "clusterQueues")->child, "exists")));
	done(&a);
	queue_drop_clusterqueue(w.queue, "batch");
	ask(&a, &w, "/api/v1/queues", NULL);
	const cJSON *q = json_array(a.root, "clusterQueues")->child;
	assert_string_equal(json_text(q, "name"), "batch");
	assert_string_equal(json_text(q, "reason"), "DoesNotExist");
	assert_true(cJSON_IsFalse(json_get(q, "exists")));
	assert_int_equal(count(q, "pending"), 1);
	assert_int_equal(count(q, "reserving"), 1);
	const cJSON *cpu = json_array(json_array(q, "flavors")->child, "resources")->child;
	assert_int_equal(count(cpu, "reservedUnits"), 12000);
	const cJSON *local = json_array(a.root, "localQueues")->child;
	assert_string_equal(json_text(local, "reason"), "ClusterQueueDoesNotExist");
	assert_int_equal(count(local, "pending"), 1);
	assert_int_equal(count(local, "reserving"), 1);
	assert_int_equal(count(a.root, "withoutQueue"), 1);
	done(&a);
	world_close(&w);
}

static void set_share(struct queue *q, const char *name, const char *cohort, double weight)
{
	static const char *const resources[] = {"cpu"};
	static const struct quota_spec cpu = {"cpu", 4000, QUOTA_UNLIMITED, QUOTA_UNLIMITED};
	static const struct flavor_quota_spec flavor = {"spot", &cpu, 1};
	static const struct resource_group_spec group = {resources, 1, &flavor, 1};
	struct clusterqueue_spec s = {.name = name,
		.cohort = cohort,
		.groups = &group,
		.ngroups = 1,
		.weight = weight,
		.has_namespace_selector = true};
	struct err e = {""};
	assert_int_equal(queue_set_clusterqueue(q, &s, &e), 0);
}

/* research and the ClusterQueue batch are below company. Of batch 12 cpu are in use, 8 of them borrowed. */
static void share_with_others(struct world *w)
{
	static const struct quota_line lines[] = {{"cq/batch", "spot", "cpu", 12000}};
	static const struct quota_spec cpu = {"cpu", 2000, QUOTA_UNLIMITED, QUOTA_UNLIMITED};
	static const struct flavor_quota_spec flavor = {"spot", &cpu, 1};
	static const char *const resources[] = {"cpu"};
	static const struct resource_group_spec group = {resources, 1, &flavor, 1};
	struct cohort_spec company = {.name = "company", .parent = "", .weight = 1};
	struct cohort_spec research = {.name = "research",
		.parent = "company",
		.weight = 1,
		.groups = &group,
		.ngroups = 1};
	struct err e = {""};
	assert_int_equal(queue_set_cohort(w->queue, &company, &e), 0);
	assert_int_equal(queue_set_cohort(w->queue, &research, &e), 0);
	set_share(w->queue, "batch", "research", 2);
	set_share(w->queue, "other", "company", 1);
	world_add_job(w, 1, "one");
	assert_true(queue_adopt_job(w->queue, &(struct uid){{1}}, lines, 1, 1));
}

static const cJSON *named(const cJSON *list, const char *name)
{
	for (const cJSON *x = list->child; x; x = x->next)
		if (strcmp(json_text(x, "name"), name) == 0)
			return x;
	return NULL;
}

static void cohorts_are_told_with_their_shares(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	ask(&a, &w, "/api/v1/queues", NULL);
	assert_null(json_array(a.root, "cohorts")->child);
	done(&a);
	share_with_others(&w);
	w.sources.metrics.fair_sharing = true;
	ask(&a, &w, "/api/v1/queues", NULL);
	const cJSON *cohorts = json_array(a.root, "cohorts");
	assert_int_equal(cJSON_GetArraySize(cohorts), 2);
	const cJSON *company = named(cohorts, "company"), *research = named(cohorts, "research");
	assert_string_equal(json_text(company, "parent"), "");
	assert_null(json_get(company, "weightedShare"));
	assert_string_equal(json_text(research, "parent"), "company");
	assert_string_equal(json_text(research, "reason"), "Ready");
	assert_true(cJSON_IsTrue(json_get(research, "exists")));
	assert_true(cJSON_IsTrue(json_get(research, "active")));
	/* 10 cpu in all, of which research has 6 and uses 12: 6 of 10 are borrowed. */
	const cJSON *spot = json_array(research, "flavors")->child;
	const cJSON *cpu = json_array(spot, "resources")->child;
	assert_string_equal(json_text(spot, "name"), "spot");
	assert_null(spot->next); /* batch had another flavor before */
	assert_string_equal(json_text(cpu, "nominal"), "2");
	assert_string_equal(json_text(cpu, "subtree"), "6");
	assert_int_equal(count(cpu, "subtreeUnits"), 6000);
	assert_string_equal(json_text(cpu, "borrowed"), "6");
	assert_int_equal(count(research, "weightedShare"), 600);
	const cJSON *batch = named(json_array(a.root, "clusterQueues"), "batch");
	assert_string_equal(json_text(batch, "cohort"), "research");
	assert_int_equal(count(batch, "weightedShare"), 400); /* 8 of 10, with a weight of 2 */
	done(&a);
	w.sources.metrics.fair_sharing = false;
	ask(&a, &w, "/api/v1/queues", NULL);
	assert_null(strstr(buf_text(&a.body), "weightedShare"));
	done(&a);
	world_close(&w);
}

/* What a run holds goes on when quota is lowered: of a Cohort that is borrowed, of nobody it is not. */
static void without_a_cohort_nothing_is_borrowed(void **state)
{
	(void)state;
	struct world w;
	struct clusterqueue_view v;
	world_open(&w, "batch");
	share_with_others(&w);
	queue_confirm_job(w.queue, &(struct uid){{1}}, 1);
	assert_true(queue_view_clusterqueue(w.queue, 0, &v));
	assert_string_equal(v.name, "batch");
	assert_int_equal(v.usage[0].borrowed, 8000);
	assert_int_equal(v.usage[0].used_borrowed, 8000);
	set_share(w.queue, "batch", "", 1);
	assert_true(queue_view_clusterqueue(w.queue, 0, &v));
	assert_true(v.usage[0].reserved > v.usage[0].nominal);
	assert_int_equal(v.usage[0].borrowed, 0);
	assert_int_equal(v.usage[0].used_borrowed, 0);
	world_close(&w);
}

static void what_borrows_without_weight_has_no_share(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	share_with_others(&w);
	set_share(w.queue, "batch", "research", 0);
	w.sources.metrics.fair_sharing = true;
	ask(&a, &w, "/api/v1/queues", NULL);
	const cJSON *queues = json_array(a.root, "clusterQueues");
	assert_true(cJSON_IsTrue(json_get(named(queues, "batch"), "borrowsWithoutWeight")));
	assert_null(json_get(named(queues, "batch"), "weightedShare"));
	assert_int_equal(count(named(queues, "other"), "weightedShare"), 0);
	assert_null(json_get(named(queues, "other"), "borrowsWithoutWeight"));
	done(&a);
	world_close(&w);
}

static void cohorts_that_are_only_named_or_wrong_say_so(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	struct err e = {""};
	world_open(&w, "batch");
	set_share(w.queue, "batch", "named", 1);
	queue_reject_cohort(w.queue, "wrong", "spec is wrong");
	struct cohort_spec self = {.name = "self", .parent = "self", .weight = 1};
	assert_int_equal(queue_set_cohort(w.queue, &self, &e), 0);
	ask(&a, &w, "/api/v1/queues", NULL);
	const cJSON *cohorts = json_array(a.root, "cohorts");
	assert_true(cJSON_IsFalse(json_get(named(cohorts, "self"), "active")));
	assert_string_equal(json_text(named(cohorts, "self"), "reason"), "CohortCycle");
	assert_true(cJSON_IsFalse(json_get(named(cohorts, "wrong"), "exists")));
	assert_string_equal(json_text(named(cohorts, "wrong"), "invalid"), "spec is wrong");
	done(&a);
	world_close(&w);
}

static void a_job_is_explained(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	world_add_job(&w, 1, "one");
	ask(&a, &w, "/api/v1/jobs/team-a/one", NULL);
	assert_int_equal(a.reply.status, 200);
	assert_string_equal(json_text(a.root, "name"), "one");
	assert_string_equal(json_text(a.root, "localQueue"), "main");
	assert_string_equal(json_text(a.root, "clusterQueue"), "batch");
	assert_int_equal(count(a.root, "priority"), 0);
	assert_int_equal(count(a.root, "claimedPriority"), 0);
	assert_true(json_text(a.root, "sentence")[0]);
	assert_true(json_text(a.root, "reason")[0]);
	done(&a);
	world_close(&w);
}

/* ---- What the queue is made to say of windows and money (the linker wraps these calls) --------
 */

static struct explanation told;
static struct run_bill bill;
static bool has_told;

bool __real_queue_explain(
	const struct queue *q, const struct uid *uid, int64_t now_ms, struct explanation *ret);
bool __wrap_queue_explain(
	const struct queue *q, const struct uid *uid, int64_t now_ms, struct explanation *ret);
bool __wrap_queue_explain(
	const struct queue *q, const struct uid *uid, int64_t now_ms, struct explanation *ret)
{
	bool known = __real_queue_explain(q, uid, now_ms, ret);
	if (known && has_told)
		*ret = told;
	return known;
}

bool __wrap_queue_job_bill(
	struct queue *q, const struct uid *uid, int64_t now_ms, struct run_bill *ret);
bool __wrap_queue_job_bill(
	struct queue *q, const struct uid *uid, int64_t now_ms, struct run_bill *ret)
{
	(void)q, (void)uid, (void)now_ms;
	*ret = bill;
	return has_told;
}

static void tell_of_time_and_money(void)
{
	has_told = true;
	told = (struct explanation){.localqueue = "main",
		.clusterqueue = "batch",
		.expected_ms = 5400000,
		.expected_from = DURATION_HISTORY,
		.deadline_ms = INT64_C(1795255200000),
		.unreachable = true,
		.stop_ms = INT64_C(1795251600000)};
	bill = (struct run_bill){.priced = true,
		.plan = "datacentre",
		.currency = "EUR",
		.cost = 350001,
		.per_hour = 160000,
		.expected_cost = 1240500};
}

static void time_and_money_are_explained(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	world_add_job(&w, 1, "one");
	tell_of_time_and_money();
	ask(&a, &w, "/api/v1/jobs/team-a/one", NULL);
	assert_int_equal(count(a.root, "expectedMs"), 5400000);
	assert_string_equal(json_text(a.root, "expectedFrom"), "History");
	assert_string_equal(json_text(a.root, "deadline"), "2026-11-21T10:00:00Z");
	assert_true(cJSON_IsTrue(json_get(a.root, "deadlineUnreachable")));
	assert_string_equal(json_text(a.root, "stopsAt"), "2026-11-21T09:00:00Z");
	const cJSON *b = json_object(a.root, "bill");
	assert_string_equal(json_text(b, "plan"), "datacentre");
	assert_string_equal(json_text(b, "currency"), "EUR");
	assert_string_equal(json_text(b, "cost"), "0.350001");
	assert_string_equal(json_text(b, "perHour"), "0.16");
	assert_string_equal(json_text(b, "expectedCost"), "1.2405");
	done(&a);
	world_close(&w);
	has_told = false;
}

static void what_is_not_known_is_left_out(void **state)
{
	static const char *const keys[] = {
		"expectedMs", "expectedFrom", "deadline", "deadlineUnreachable", "stopsAt", "bill"};
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	world_add_job(&w, 1, "one");
	tell_of_time_and_money();
	told.expected_ms = told.deadline_ms = 0;
	told.stop_ms = told.not_before_ms = INT64_MAX;
	bill.expected_cost = -1;
	ask(&a, &w, "/api/v1/jobs/team-a/one", NULL);
	assert_null(json_get(json_object(a.root, "bill"), "expectedCost"));
	done(&a);
	bill.priced = false;
	ask(&a, &w, "/api/v1/jobs/team-a/one", NULL);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		assert_null(json_get(a.root, keys[i]));
	assert_string_equal(json_text(a.root, "notBefore"), "");
	done(&a);
	world_close(&w);
	has_told = false;
}

static void what_is_not_there_is_said_so(void **state)
{
	(void)state;
	static const struct {
		const char *path, *after;
		unsigned status;
		const char *says;
	} cases[] = {
		{"/api/v1/jobs/team-a/none", NULL, 404, "no Job team-a/none"},
		{"/api/v1/jobs/team-a", NULL, 404, "NAMESPACE/NAME"},
		{"/api/v1/jobs//x", NULL, 404, "NAMESPACE/NAME"},
		{"/api/v1/jobs/a/", NULL, 404, "NAMESPACE/NAME"},
		{"/api/v1/jobs/a/b/c", NULL, 404, "NAMESPACE/NAME"},
		{"/api/v1/decisions", "x", 400, "after"},
		{"/api/v1/decisions", "-1", 400, "after"},
		{"/api/v1/decisions", "", 400, "after"},
		{"/api/v1/decisions", "99999999999999999999999", 400, "after"},
		{"/api/v1/overcommit/n1", NULL, 404, "no Node n1"},
		{"/api/v1/nothing", NULL, 404, "/api lists"},
	};
	struct world w;
	world_open(&w, "batch");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct answer a;
		print_message("  %s\n", cases[i].path);
		ask(&a, &w, cases[i].path, cases[i].after);
		assert_int_equal(a.reply.status, cases[i].status);
		assert_non_null(strstr(json_text(a.root, "error"), cases[i].says));
		done(&a);
	}
	world_close(&w);
}

static void a_name_as_long_as_can_be_breaks_nothing(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	char path[3000];
	world_open(&w, "batch");
	memset(path, 'x', sizeof(path));
	memcpy(path, "/api/v1/jobs/", 13);
	path[1500] = '/';
	path[sizeof(path) - 1] = '\0';
	ask(&a, &w, path, NULL);
	assert_int_equal(a.reply.status, 404);
	done(&a);
	world_close(&w);
}

/* It knows what is on the watch, and not what holds quota. */
static void one_that_stands_by_answers_for_itself_alone(void **state)
{
	static const char *const leaders[] = {"/api/v1/queues", "/api/v1/jobs/team-a/one",
		"/api/v1/jobs/team-a/none", "/api/v1/decisions", "/api/v1/cost", "/api/v1/usage",
		"/api/v1/week", "/api/v1/budgets", "/api/v1/overcommit", "/api/v1/overcommit/n1"};
	static const char *const its_own[] = {"/api", "/healthz", "/readyz", "/metrics"};
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	world_add_job(&w, 1, "one");
	w.sources.leadership.leads = false;
	w.sources.leadership.lease = (struct lease_heard){"sluice-b", w.sources.now_ms + 15000};
	for (size_t i = 0; i < sizeof(leaders) / sizeof(*leaders); i++) {
		ask(&a, &w, leaders[i], NULL);
		assert_int_equal(a.reply.status, 503);
		assert_string_equal(json_text(a.root, "error"),
			"this controller stands by, and sluice-b leads: ask that one (kubectl -n sluice-system port-forward pod/sluice-b 8080), or the API server, which finds it: kubectl get queuedjobs");
		done(&a);
	}
	for (size_t i = 0; i < sizeof(its_own) / sizeof(*its_own); i++) {
		ask(&a, &w, its_own[i], NULL);
		assert_int_equal(a.reply.status, 200);
		done(&a);
	}
	ask(&a, &w, "/nothing", NULL);
	assert_int_equal(a.reply.status, 404);
	done(&a);
	world_close(&w);
}

static void readiness_says_what_is_missing(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	w.sources.leadership.lease.holder = "other";
	ask(&a, &w, "/readyz", NULL); /* has no lease, but all else */
	assert_int_equal(a.reply.status, 200);
	assert_true(slice_starts(buf_slice(&a.body), "standby"));
	assert_null(strstr(buf_text(&a.body), "leading"));
	assert_non_null(strstr(buf_text(&a.body), "other"));
	done(&a);
	w.sources.metrics.ledger_up = false;
	w.sources.metrics.synced = false;
	w.sources.waiting_for = "jobs, namespaces";
	w.sources.ledger_trouble = "no route to host";
	ask(&a, &w, "/readyz", NULL);
	assert_int_equal(a.reply.status, 503);
	assert_non_null(strstr(buf_text(&a.body), "missing: jobs, namespaces"));
	assert_non_null(strstr(buf_text(&a.body), "no route to host"));
	done(&a);
	world_close(&w);
}

static void readiness_says_what_is_not_followed(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	struct metrics_sources *m = &w.sources.metrics;
	m->kinds[0] = (struct kind_health){"jobs", 0, 59999};
	m->kinds[1] = (struct kind_health){"poddisruptionbudgets", 0, 75000};
	m->kinds[2] = (struct kind_health){"clusterqueues", 0, 5000};
	m->kinds[3] = (struct kind_health){"localqueues", 0, 4999};
	m->nkinds = 4;
	ask(&a, &w, "/readyz", NULL); /* Jobs for less than a minute, others for more */
	assert_int_equal(a.reply.status, 200);
	assert_true(slice_starts(buf_slice(&a.body), "standby"));
	assert_non_null(strstr(buf_text(&a.body), "follow poddisruptionbudgets for 1m15s"));
	assert_non_null(strstr(buf_text(&a.body), "follow clusterqueues for 5s"));
	assert_non_null(strstr(buf_text(&a.body), "follow jobs for 59s"));
	assert_null(strstr(buf_text(&a.body), "localqueues"));
	done(&a);
	m->kinds[0].stalled_ms = 60000;
	ask(&a, &w, "/readyz", NULL);
	assert_int_equal(a.reply.status, 503);
	assert_true(slice_starts(buf_slice(&a.body), "not ready"));
	assert_non_null(strstr(buf_text(&a.body), "follow jobs for 1m"));
	done(&a);
	world_close(&w);
}

/* "open", or the right that the path wants, and the one without which it names no Jobs. */
static void each_path_wants_its_right(void **state)
{
	(void)state;
	static const struct {
		struct api_request request;
		const char *wants, *names;
	} cases[] = {
		{{"/healthz"}, "open", ""},
		{{"/readyz"}, "open", ""},
		{{"/metrics"}, "get clusterqueues.sluice.dev", ""},
		{{"/api"}, "get clusterqueues.sluice.dev", ""},
		{{"/healthz/../api/v1/queues"}, "get clusterqueues.sluice.dev", ""},
		{{"/api/v1/queues"}, "get clusterqueues.sluice.dev", "list jobs.batch"},
		{{"/api/v1/queues", .ns = "team-a"}, "get clusterqueues.sluice.dev",
			"list jobs.batch"},
		{{"/api/v1/overcommit/n1"}, "get clusterqueues.sluice.dev", ""},
		{{"/api/v1/week", .clusterqueue = "batch"}, "get clusterqueues.sluice.dev", ""},
		{{"/api/v1/budgets"}, "get clusterqueues.sluice.dev", ""},
		{{"/api/v1/jobs/team-a/x"}, "get jobs.batch in namespace team-a", ""},
		{{"/api/v1/jobs/team-a/x", .ns = "team-b"}, "get jobs.batch in namespace team-a",
			""},
		{{"/api/v1/jobs//x"}, "get clusterqueues.sluice.dev", ""}, /* "" would be all */
		{{"/api/v1/jobs/A\"/x"}, "get clusterqueues.sluice.dev", ""},
		{{"/api/v1/decisions"}, "list jobs.batch", ""},
		{{"/api/v1/decisions", .ns = "team-a"}, "list jobs.batch in namespace team-a", ""},
		{{"/api/v1/decisions", .ns = ""}, "list jobs.batch", ""},
		{{"/api/v1/decisions", .ns = "no namespace"}, "list jobs.batch", ""},
		{{"/api/v1/cost"}, "get clusterqueues.sluice.dev", ""},
		{{"/api/v1/usage", .by = "owner"}, "get clusterqueues.sluice.dev", ""},
		{{"/api/v1/cost", .by = "namespace"}, "get clusterqueues.sluice.dev", ""},
		{{"/api/v1/cost", .by = "owner"}, "list jobs.batch", ""},
		{{"/api/v1/cost", .by = "user"}, "list jobs.batch", ""},
		{{"/api/v1/cost", .by = "label=team", .ns = "team-a"}, "list jobs.batch", ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct http_rights x = api_rights(&cases[i].request);
		struct buf must, names;
		print_message("  %s\n", cases[i].request.path);
		buf_init(&must, 1024);
		buf_init(&names, 1024);
		if (x.open)
			buf_puts(&must, "open");
		else
			right_describe(&x.must, &must);
		if (x.has_names)
			right_describe(&x.names, &names);
		assert_string_equal(buf_text(&must), cases[i].wants);
		assert_string_equal(buf_text(&names), cases[i].names);
		buf_done(&must);
		buf_done(&names);
	}
	assert_true(api_is_probe("/readyz"));
	assert_false(api_is_probe("/metrics"));
}

static void a_refusal_says_what_is_missing(void **state)
{
	(void)state;
	static const struct {
		struct right right;
		const char *says[2];
	} cases[] = {
		{{"get", "batch", "jobs", "team-b"},
			{"may not get jobs.batch in namespace team-b", "sluice-batch-user"}},
		{{"watch", "visibility.sluice.dev", "queuedjobs", "team-b"},
			{"watch queuedjobs.visibility.sluice.dev in namespace team-b",
				"sluice-batch-user in that namespace (by a RoleBinding)"}},
		{{"list", "visibility.sluice.dev", "histories", ""},
			{"list histories.visibility.sluice.dev", "sluice-viewer"}},
		{{"list", "visibility.sluice.dev", "whatifs", ""},
			{"list whatifs.visibility.sluice.dev",
				"create clusterrole sluice-whatifs --verb=list"}},
		{{"list", "batch", "jobs", ""}, {"list jobs.batch in all namespaces", "-n"}},
		{{"get", "sluice.dev", "clusterqueues", ""},
			{"get clusterqueues.sluice.dev", "sluice-viewer"}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf text;
		buf_init(&text, 4096);
		api_refusal(&cases[i].right, &text);
		for (size_t k = 0; k < 2; k++)
			assert_non_null(strstr(buf_text(&text), cases[i].says[k]));
		buf_done(&text);
	}
}

static void add_decision(struct decision_log *c, const char *ns, const char *name)
{
	struct note note = {
		.kind = NOTE_START, .ns = ns, .name = name, .clusterqueue = "batch", .text = "x"};
	decision_log_add(c, &note);
}

static bool has_trouble;

void __wrap_gate_each_trouble(
	const struct gate *g, void (*visit)(const struct gate_trouble *, void *), void *ctx);
void __wrap_gate_each_trouble(
	const struct gate *g, void (*visit)(const struct gate_trouble *, void *), void *ctx)
{
	(void)g;
	struct gate_trouble x = {.clusterqueue = "batch", .ns = "team-b", .name = "secret"};
	if (has_trouble)
		visit(&x, ctx);
}

static void stuck_jobs_are_named_to_who_may_list_them(void **state)
{
	(void)state;
	struct world w;
	world_open(&w, "batch");
	has_trouble = true;
	for (int names = 0; names < 2; names++) {
		struct answer a;
		ask_for(&a, &w, &(struct api_request){.path = "/api/v1/queues", .names = names});
		const cJSON *q = json_array(a.root, "clusterQueues")->child;
		const cJSON *row = json_array(q, "troubles")->child;
		assert_int_equal(count(row, "jobs"), 1);
		assert_string_equal(json_text(row, "job"), names ? "secret" : "");
		assert_string_equal(json_text(row, "namespace"), names ? "team-b" : "");
		assert_int_equal(strstr(buf_text(&a.body), "secret") != NULL, names);
		done(&a);
	}
	has_trouble = false;
	world_close(&w);
}

static void decisions_of_one_namespace_name_no_other(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	struct decision_log *c = decision_log_new();
	w.sources.decision_log = c;
	add_decision(c, "team-a", "one");
	add_decision(c, "team-b", "secret");
	add_decision(c, "team-a", "two");
	add_decision(c, "", "");
	ask_for(&a, &w, &(struct api_request){.path = "/api/v1/decisions", .ns = "team-a"});
	assert_int_equal(a.reply.status, 200);
	assert_int_equal(cJSON_GetArraySize(json_array(a.root, "decisions")), 2);
	assert_null(strstr(buf_text(&a.body), "secret"));
	assert_null(strstr(buf_text(&a.body), "team-b"));
	done(&a);
	ask_for(&a, &w, &(struct api_request){.path = "/api/v1/decisions"});
	assert_int_equal(cJSON_GetArraySize(json_array(a.root, "decisions")), 4);
	done(&a);
	ask_for(&a, &w, &(struct api_request){.path = "/api/v1/decisions", .ns = ""});
	assert_int_equal(a.reply.status, 400);
	done(&a);
	decision_log_free(c);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queues_are_told_with_their_quotas),
		cmocka_unit_test(a_queue_that_is_gone_has_a_row_while_it_has_jobs),
		cmocka_unit_test(cohorts_are_told_with_their_shares),
		cmocka_unit_test(without_a_cohort_nothing_is_borrowed),
		cmocka_unit_test(what_borrows_without_weight_has_no_share),
		cmocka_unit_test(cohorts_that_are_only_named_or_wrong_say_so),
		cmocka_unit_test(a_job_is_explained),
		cmocka_unit_test(time_and_money_are_explained),
		cmocka_unit_test(what_is_not_known_is_left_out),
		cmocka_unit_test(what_is_not_there_is_said_so),
		cmocka_unit_test(a_name_as_long_as_can_be_breaks_nothing),
		cmocka_unit_test(one_that_stands_by_answers_for_itself_alone),
		cmocka_unit_test(readiness_says_what_is_missing),
		cmocka_unit_test(readiness_says_what_is_not_followed),
		cmocka_unit_test(each_path_wants_its_right),
		cmocka_unit_test(a_refusal_says_what_is_missing),
		cmocka_unit_test(stuck_jobs_are_named_to_who_may_list_them),
		cmocka_unit_test(decisions_of_one_namespace_name_no_other),
		cmocka_unit_test(decisions_of_one_namespace_name_no_other),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
