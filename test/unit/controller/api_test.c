/*
 * The JSON that the controller answers, without a socket.
 */
#include "api_answer.h"

#include "controller/answers/discovery.h"
#include "queue/cluster/nodes.h"

static const cJSON *status_of(const cJSON *object)
{
	return json_object(object, "status");
}

static const char *name_of(const cJSON *object)
{
	return json_text(json_object(object, "metadata"), "name");
}

/* The condition Active. */
static const cJSON *verdict_of(const cJSON *object)
{
	const cJSON *condition = json_array(status_of(object), "conditions")->child;
	assert_string_equal(json_text(condition, "type"), "Active");
	return condition;
}

static const cJSON *share_of(const cJSON *object)
{
	return json_get(json_object(status_of(object), "fairSharing"), "weightedShare");
}

static void queues_are_told_with_their_quotas(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	world_add_job(&w, 1, "one");
	world_note(&w, NOTE_FINISH, "batch", 0);
	ask_report(&a, &w, "queuereports", NULL);
	assert_int_equal(a.rc, 0);
	assert_string_equal(json_text(a.root, "kind"), "QueueReport");
	const cJSON *q = json_array(a.root, "clusterQueues")->child, *status = status_of(q);
	assert_string_equal(name_of(q), "batch");
	assert_string_equal(
		json_text(json_object(q, "spec"), "queueingStrategy"), "BestEffortFIFO");
	assert_int_equal(count(status, "pendingWorkloads"), 1);
	assert_int_equal(count(status, "reservingWorkloads"), 0);
	assert_int_equal(count(q, "finished"), 1);
	const cJSON *spot = json_array(status, "flavorsReservation")->child;
	const cJSON *cpu = json_array(spot, "resources")->child;
	assert_string_equal(json_text(spot, "name"), "spot");
	assert_string_equal(json_text(cpu, "name"), "cpu");
	assert_string_equal(json_text(cpu, "nominal"), "40");
	assert_string_equal(json_text(cpu, "total"), "0");
	const cJSON *local = json_array(a.root, "localQueues")->child;
	assert_string_equal(json_text(json_object(local, "metadata"), "namespace"), "team-a");
	assert_string_equal(json_text(json_object(local, "spec"), "clusterQueue"), "batch");
	assert_int_equal(count(status_of(local), "pendingWorkloads"), 1);
	assert_string_equal(json_text(verdict_of(local), "reason"), "Ready");
	assert_null(json_get(verdict_of(local), "lastTransitionTime"));
	done(&a);
	queue_reject_localqueue(w.queue, "team-a", "main", "it is wrong");
	ask_report(&a, &w, "queuereports", NULL);
	local = json_array(a.root, "localQueues")->child;
	assert_string_equal(json_text(verdict_of(local), "reason"), "InvalidSpec");
	assert_non_null(strstr(json_text(verdict_of(local), "message"), "it is wrong"));
	assert_string_equal(json_text(verdict_of(local), "status"), "True");
	done(&a);
	world_close(&w);
}

/* Then the port answers 413, and no part of it. */
static void a_report_that_does_not_fit_is_known_to_be_cut(void **state)
{
	(void)state;
	struct world w;
	struct report_path p;
	world_open(&w, "batch");
	assert_true(report_path(VISIBILITY_ROOT "/queuereports", &p));
	for (size_t room = 1; room < 600; room += 7) {
		struct err e = {""};
		struct buf out;
		buf_init(&out, room);
		assert_int_equal(report_put(&w.reports, &p, NULL, &out, &e), 0);
		assert_true(out.failed);
		buf_done(&out);
	}
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
	ask_report(&a, &w, "queuereports", NULL);
	assert_int_equal(count(a.root, "withoutQueue"), 0);
	assert_true(cJSON_IsTrue(json_get(json_array(a.root, "clusterQueues")->child, "exists")));
	done(&a);
	queue_drop_clusterqueue(w.queue, "batch");
	ask_report(&a, &w, "queuereports", NULL);
	const cJSON *q = json_array(a.root, "clusterQueues")->child, *status = status_of(q);
	assert_string_equal(name_of(q), "batch");
	assert_string_equal(json_text(verdict_of(q), "reason"), "DoesNotExist");
	assert_true(cJSON_IsFalse(json_get(q, "exists")));
	assert_int_equal(count(status, "pendingWorkloads"), 1);
	assert_int_equal(count(status, "reservingWorkloads"), 1);
	const cJSON *cpu =
		json_array(json_array(status, "flavorsReservation")->child, "resources")->child;
	assert_string_equal(json_text(cpu, "total"), "12");
	const cJSON *local = json_array(a.root, "localQueues")->child;
	assert_string_equal(json_text(verdict_of(local), "reason"), "ClusterQueueDoesNotExist");
	assert_int_equal(count(status_of(local), "pendingWorkloads"), 1);
	assert_int_equal(count(status_of(local), "reservingWorkloads"), 1);
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
		if (strcmp(name_of(x), name) == 0)
			return x;
	return NULL;
}

static void cohorts_are_told_with_their_shares(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	ask_report(&a, &w, "queuereports", NULL);
	assert_null(json_array(a.root, "cohorts")->child);
	done(&a);
	share_with_others(&w);
	w.reports.fair_sharing = true;
	ask_report(&a, &w, "queuereports", NULL);
	const cJSON *cohorts = json_array(a.root, "cohorts");
	assert_int_equal(cJSON_GetArraySize(cohorts), 2);
	const cJSON *company = named(cohorts, "company"), *research = named(cohorts, "research");
	assert_string_equal(json_text(json_object(company, "spec"), "parentName"), "");
	assert_null(share_of(company));
	assert_string_equal(json_text(json_object(research, "spec"), "parentName"), "company");
	assert_string_equal(json_text(verdict_of(research), "reason"), "Ready");
	assert_true(cJSON_IsTrue(json_get(research, "exists")));
	assert_string_equal(json_text(verdict_of(research), "status"), "True");
	/* 10 cpu in all, of which research has 6 and uses 12: 6 of 10 are borrowed. */
	const cJSON *spot = json_array(research, "flavors")->child;
	const cJSON *cpu = json_array(spot, "resources")->child;
	assert_string_equal(json_text(spot, "name"), "spot");
	assert_null(spot->next); /* batch had another flavor before */
	assert_string_equal(json_text(cpu, "nominal"), "2");
	assert_string_equal(json_text(cpu, "subtree"), "6");
	assert_string_equal(json_text(cpu, "borrowed"), "6");
	assert_int_equal((int)share_of(research)->valuedouble, 600);
	const cJSON *batch = named(json_array(a.root, "clusterQueues"), "batch");
	assert_string_equal(json_text(json_object(batch, "spec"), "cohortName"), "research");
	assert_int_equal((int)share_of(batch)->valuedouble, 400); /* 8 of 10, with a weight of 2 */
	done(&a);
	w.reports.fair_sharing = false;
	ask_report(&a, &w, "queuereports", NULL);
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

static void what_borrows_without_weight_has_the_largest_share(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	share_with_others(&w);
	set_share(w.queue, "batch", "research", 0);
	w.reports.fair_sharing = true;
	ask_report(&a, &w, "queuereports", NULL);
	const cJSON *queues = json_array(a.root, "clusterQueues");
	assert_true(share_of(named(queues, "batch"))->valuedouble >= (double)INT64_MAX);
	assert_int_equal((int)share_of(named(queues, "other"))->valuedouble, 0);
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
	ask_report(&a, &w, "queuereports", NULL);
	const cJSON *cohorts = json_array(a.root, "cohorts");
	const cJSON *of_self = verdict_of(named(cohorts, "self"));
	assert_string_equal(json_text(of_self, "status"), "False");
	assert_string_equal(json_text(of_self, "reason"), "CohortCycle");
	assert_true(cJSON_IsFalse(json_get(named(cohorts, "wrong"), "exists")));
	assert_non_null(
		strstr(json_text(verdict_of(named(cohorts, "wrong")), "message"), "spec is wrong"));
	done(&a);
	world_close(&w);
}

/* It selects no namespace. */
static void set_walled(struct queue *q, const char *name)
{
	struct clusterqueue_spec s = {.name = name, .cohort = ""};
	struct err e = {""};
	assert_int_equal(queue_set_clusterqueue(q, &s, &e), 0);
}

static void set_localqueue(
	struct queue *q, const char *ns, const char *name, const char *clusterqueue)
{
	struct localqueue_spec lq = {
		.ns = ns, .name = name, .generation = 1, .clusterqueue = clusterqueue};
	struct err e = {""};
	queue_set_namespace(q, &(struct namespace_spec){.name = ns});
	assert_int_equal(queue_set_localqueue(q, &lq, &e), 0);
}

/* team-a and team-b share the ClusterQueue batch, of whose Cohort other is a member, too. */
static void share_with_a_neighbour(struct world *w)
{
	share_with_others(w);
	set_share(w->queue, "theirs", "research", 1);
	set_localqueue(w->queue, "team-a", "second", "batch");
	set_localqueue(w->queue, "team-a", "nowhere", "gone");
	set_walled(w->queue, "walled");
	set_localqueue(w->queue, "team-a", "spy", "walled");
	set_localqueue(w->queue, "team-b", "secret", "batch");
	set_localqueue(w->queue, "team-b", "private", "theirs");
	struct job j = world_job(7, "hidden");
	j.ns = "team-b";
	j.queue = "secret";
	world_see_job(w, &j);
}

/* It has sums of what all hold, and no name of anybody else. */
static void a_report_of_one_namespace_has_its_queues_and_sums(void **state)
{
	static const char *const others[] = {"team-b", "secret", "private", "theirs", "other",
		"research", "company", "hidden", "cohort", "troubles", "weightedShare"};
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	share_with_a_neighbour(&w);
	w.reports.fair_sharing = true;
	ask_report(&a, &w, "namespaces/team-a/queuereports", NULL);
	assert_int_equal(a.rc, 0);
	assert_string_equal(json_text(a.root, "kind"), "QueueReport");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strstr(buf_text(&a.body), others[i]))
			fail_msg("it has %s: %s", others[i], buf_text(&a.body));
	const cJSON *queues = json_array(a.root, "clusterQueues"), *batch = queues->child;
	assert_string_equal(name_of(batch), "batch");
	assert_int_equal(count(status_of(batch), "pendingWorkloads"), 1); /* of team-b */
	assert_int_equal(count(status_of(batch), "reservingWorkloads"), 1);
	assert_string_equal(json_text(verdict_of(batch), "reason"), "Ready");
	const cJSON *cpu =
		json_array(json_array(status_of(batch), "flavorsReservation")->child, "resources")
			->child;
	assert_string_equal(json_text(cpu, "total"), "12");
	assert_string_equal(json_text(cpu, "nominal"), "4");
	assert_string_equal(json_text(cpu, "borrowed"), "8");
	assert_null(batch->next);
	const cJSON *locals = json_array(a.root, "localQueues");
	assert_int_equal(cJSON_GetArraySize(locals), 4);
	assert_non_null(json_get(named(locals, "main"), "open"));
	assert_null(json_get(named(locals, "spy"), "open"));
	done(&a);
	/* Who still holds quota of one that is being deleted is the business of others. */
	queue_drop_clusterqueue(w.queue, "batch");
	ask_report(&a, &w, "namespaces/team-a/queuereports", NULL);
	const cJSON *gone = verdict_of(json_array(a.root, "clusterQueues")->child);
	assert_string_equal(json_text(gone, "reason"), "DoesNotExist");
	assert_string_equal(json_text(gone, "message"), "");
	assert_null(strstr(buf_text(&a.body), "secret"));
	done(&a);
	ask_report(&a, &w, "namespaces/team-c/queuereports", NULL);
	assert_null(json_array(a.root, "clusterQueues")->child);
	assert_null(json_array(a.root, "localQueues")->child);
	done(&a);
	world_close(&w);
}

static void classes_are_told_that_jobs_may_name(void **state)
{
	static const struct priority_spec specs[] = {{PRIORITY_POD, "batch", -5, true, false},
		{PRIORITY_WORKLOAD, "low", 1, false, false},
		{PRIORITY_POD, "system-node-critical", 2000001000, false, false},
		{PRIORITY_WORKLOAD, "high", 100, false, false}};
	static const char *const paths[] = {"queuereports", "namespaces/team-a/queuereports"};
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		queue_set_priority(w.queue, &specs[i]);
	struct job j = world_job(1, "one");
	j.priority_class = "only-named";
	world_see_job(&w, &j);
	for (size_t i = 0; i < 2; i++) {
		ask_report(&a, &w, paths[i], NULL);
		assert_non_null(strstr(buf_text(&a.body),
			"\"classes\":[{\"kind\":\"WorkloadPriorityClass\",\"name\":\"high\",\"value\":100},"
			"{\"kind\":\"WorkloadPriorityClass\",\"name\":\"low\",\"value\":1},"
			"{\"kind\":\"PriorityClass\",\"name\":\"batch\",\"value\":-5,\"globalDefault\":true}]"));
		done(&a);
	}
	world_close(&w);
}

static void what_is_not_there_is_said_so(void **state)
{
	(void)state;
	static const struct {
		const char *path, *after;
		int rc;
		const char *says;
	} cases[] = {
		{"decisions", "x", ERR_INVALID, "after"},
		{"decisions", "-1", ERR_INVALID, "after"},
		{"decisions", "", ERR_INVALID, "after"},
		{"decisions", "99999999999999999999999", ERR_INVALID, "after"},
		{"overcommits/n1", NULL, ERR_GONE, "no Node n1"},
	};
	struct world w;
	world_open(&w, "batch");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct answer a;
		print_message("  %s\n", cases[i].path);
		ask_report(&a, &w, cases[i].path, cases[i].after);
		assert_int_equal(a.rc, cases[i].rc);
		assert_non_null(strstr(a.e.text, cases[i].says));
		done(&a);
	}
	world_close(&w);
}

/* For one version they say where to ask. */
static void paths_of_before_lead_to_those_of_now(void **state)
{
	(void)state;
	static const struct {
		const char *path, *says;
	} cases[] = {
		{"/api/v1/queues", "/v1alpha1/queuereports "},
		{"/api/v1/jobs/team-a/one", "/v1alpha1/namespaces/NAMESPACE/queuedjobs/NAME "},
		{"/api/v1/week", "/v1alpha1/clusterqueues/NAME/week "},
		{"/api/v1/usage", "/v1alpha1/clusterqueues/NAME/usage "},
		{"/api/v1/budgets", "/v1alpha1/budgetreports "},
		{"/api/v1/decisions", "/v1alpha1/decisions, or namespaces/NAMESPACE/decisions "},
		{"/api/v1/cost", "/v1alpha1/costs"},
		{"/api/v1/overcommit/n1", "/v1alpha1/overcommits"},
		{"/api/v1/nothing", "/v1alpha1/ "},
		{"/api/v1/", "/v1alpha1/ "},
	};
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(api_rights(cases[i].path).open);
		ask(&a, &w, cases[i].path);
		assert_int_equal(a.reply.status, 410);
		assert_non_null(strstr(json_text(a.root, "error"), cases[i].says));
		done(&a);
	}
	ask(&a, &w, "/nothing");
	assert_int_equal(a.reply.status, 404);
	assert_non_null(strstr(json_text(a.root, "error"), "/api lists"));
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
	ask(&a, &w, "/readyz"); /* has no lease, but all else */
	assert_int_equal(a.reply.status, 200);
	assert_true(slice_starts(buf_slice(&a.body), "standby"));
	assert_null(strstr(buf_text(&a.body), "leading"));
	assert_non_null(strstr(buf_text(&a.body), "other"));
	done(&a);
	w.sources.metrics.ledger_up = false;
	w.sources.metrics.synced = false;
	w.sources.waiting_for = "jobs, namespaces";
	w.sources.ledger_trouble = "no route to host";
	ask(&a, &w, "/readyz");
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
	ask(&a, &w, "/readyz"); /* Jobs for less than a minute, others for more */
	assert_int_equal(a.reply.status, 200);
	assert_true(slice_starts(buf_slice(&a.body), "standby"));
	assert_non_null(strstr(buf_text(&a.body), "follow poddisruptionbudgets for 1m15s"));
	assert_non_null(strstr(buf_text(&a.body), "follow clusterqueues for 5s"));
	assert_non_null(strstr(buf_text(&a.body), "follow jobs for 59s"));
	assert_null(strstr(buf_text(&a.body), "localqueues"));
	done(&a);
	m->kinds[0].stalled_ms = 60000;
	ask(&a, &w, "/readyz");
	assert_int_equal(a.reply.status, 503);
	assert_true(slice_starts(buf_slice(&a.body), "not ready"));
	assert_non_null(strstr(buf_text(&a.body), "follow jobs for 1m"));
	done(&a);
	world_close(&w);
}

static void each_path_wants_its_right(void **state)
{
	(void)state;
	static const char *const open[] = {"/healthz", "/readyz", "/api/v1/queues"};
	static const char *const closed[] = {
		"/metrics", "/api", "/nothing", "/healthz/../api/v1/queues", "/api/v1"};
	for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
		assert_true(api_rights(open[i]).open);
	for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++) {
		struct http_rights x = api_rights(closed[i]);
		assert_false(x.open);
		assert_true(right_same(
			&x.must, &(struct right){"get", "sluice.dev", "clusterqueues", ""}));
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
		{{"watch", "visibility.sluice.dev", "queuedjobs", "team-b"},
			{"watch queuedjobs.visibility.sluice.dev in namespace team-b",
				"sluice-batch-user in that namespace (by a RoleBinding)"}},
		{{"list", "visibility.sluice.dev", "histories", ""},
			{"list histories.visibility.sluice.dev", "sluice-viewer"}},
		{{"list", "visibility.sluice.dev", "whatifs", ""},
			{"list whatifs.visibility.sluice.dev",
				"create clusterrole sluice-whatifs --verb=list"}},
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

static void stuck_jobs_are_counted_and_not_named(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	has_trouble = true;
	ask_report(&a, &w, "queuereports", NULL);
	const cJSON *q = json_array(a.root, "clusterQueues")->child;
	assert_int_equal(count(json_array(q, "troubles")->child, "jobs"), 1);
	assert_null(strstr(buf_text(&a.body), "secret"));
	assert_null(strstr(buf_text(&a.body), "team-b"));
	done(&a);
	has_trouble = false;
	world_close(&w);
}

static void the_ledger_is_told_when_it_is_away(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	ask_report(&a, &w, "queuereports", NULL);
	assert_true(cJSON_IsTrue(json_get(a.root, "ledgerUp")));
	done(&a);
	w.reports.ledger_up = false;
	ask_report(&a, &w, "queuereports", NULL);
	assert_true(cJSON_IsFalse(json_get(a.root, "ledgerUp")));
	done(&a);
	world_close(&w);
}

static void decisions_of_one_namespace_name_no_other(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	struct decision_log *c = decision_log_new();
	w.reports.decision_log = c;
	add_decision(c, "team-a", "one");
	add_decision(c, "team-b", "secret");
	add_decision(c, "team-a", "two");
	add_decision(c, "", "");
	ask_report(&a, &w, "namespaces/team-a/decisions", NULL);
	assert_string_equal(json_text(a.root, "kind"), "DecisionReport");
	assert_int_equal(cJSON_GetArraySize(json_array(a.root, "decisions")), 2);
	assert_null(strstr(buf_text(&a.body), "secret"));
	assert_null(strstr(buf_text(&a.body), "team-b"));
	done(&a);
	ask_report(&a, &w, "decisions", NULL);
	assert_int_equal(cJSON_GetArraySize(json_array(a.root, "decisions")), 4);
	done(&a);
	ask_report(&a, &w, "decisions", "3");
	assert_int_equal(cJSON_GetArraySize(json_array(a.root, "decisions")), 1);
	done(&a);
	decision_log_free(c);
	world_close(&w);
}

static void set_labelled_flavor(struct queue *q, const char *name, size_t nlabels)
{
	static const struct label labels[] = {{"pool", "gpu"}, {"zone", "a"}};
	struct err e = {""};
	assert_int_equal(queue_set_flavor(q,
				 &(struct flavor_spec){.name = name,
					 .nodes = {.labels = labels, .nlabels = nlabels}},
				 &e),
		0);
}

/* A node of 8 cpu, in pool gpu and zone a. */
static struct node_spec node_of(const char *name)
{
	static const struct label labels[] = {
		{"kubernetes.io/hostname", "n1"}, {"pool", "gpu"}, {"zone", "a"}};
	static const struct resource has[] = {
		{"cpu", 8000}, {"memory", 34359738368}, {"pods", 110}};
	return (struct node_spec){
		.name = name, .labels = labels, .nlabels = 3, .allocatable = {has, 3}};
}

static void set_nodes(struct queue *q)
{
	static const struct taint sick[] = {
		{"node.kubernetes.io/unreachable", "", TAINT_NO_SCHEDULE},
		{"node.kubernetes.io/unreachable", "", TAINT_NO_EXECUTE}};
	static const struct resource small[] = {{"cpu", 3900}};
	struct node_spec cordoned = node_of("n2"),
			 away = {.name = "n0", .taints = sick, .ntaints = 2};
	cordoned.unschedulable = true;
	cordoned.nlabels = 2;
	away.allocatable = (struct resource_list){small, 1};
	queue_set_node(q, &cordoned);
	queue_set_node(q, &away);
	struct node_spec n1 = node_of("n1");
	queue_set_node(q, &n1);
	set_labelled_flavor(q, "gpu", 1);
	set_labelled_flavor(q, "gpu-a", 2);
}

/* A pod that asks for 1500m cpu and something that no node has; of the Job with that number. */
static void bind_pod(struct queue *q, unsigned char number, const char *node, unsigned char job)
{
	static const struct resource requests[] = {{"cpu", 1500}, {"example.com/none", 2}};
	static const struct container container = {.requests = {requests, 2}};
	const struct pod pod = {.ns = "team-a",
		.node_name = node,
		.scheduler = "default-scheduler",
		.resources = {.containers = &container, .ncontainers = 1}};
	queue_bind_pod(
		q, &(struct bound_pod){
			   .uid = {{number, 1}}, .node = node, .pod = &pod, .owner = {{job}}});
}

static void ask_for_pods(struct queue *q)
{
	struct clusterqueue_spec s = {.name = "full",
		.cohort = "",
		.has_namespace_selector = true,
		.cluster_fit = CLUSTER_FIT_NOW};
	struct err e = {""};
	assert_int_equal(queue_set_clusterqueue(q, &s, &e), 0);
}

static const char *text_of(const cJSON *node, const char *member, const char *resource)
{
	return json_text(json_object(node, member), resource);
}

static void nodes_are_told_with_their_flavors(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	set_nodes(w.queue);
	bind_pod(w.queue, 1, "n1", 0);
	ask_report(&a, &w, "nodereports", NULL);
	const cJSON *n0 = json_array(a.root, "nodes")->child, *n1 = n0->next, *n2 = n1->next;
	assert_string_equal(json_text(n0, "name"), "n0");
	assert_true(cJSON_IsFalse(json_get(n0, "ready")));
	assert_int_equal(cJSON_GetArraySize(json_array(n0, "taints")), 1);
	assert_string_equal(text_of(n0, "allocatable", "cpu"), "3900m");
	assert_string_equal(json_array(n1, "flavors")->child->valuestring, "gpu-a");
	assert_string_equal(text_of(n1, "allocatable", "memory"), "32Gi");
	assert_true(cJSON_IsTrue(json_get(n1, "ready")));
	assert_true(cJSON_IsFalse(json_get(n1, "cordoned")));
	assert_true(cJSON_IsTrue(json_get(n2, "cordoned")));
	assert_string_equal(json_array(n2, "flavors")->child->valuestring, "gpu");
	assert_null(n2->next);
	assert_null(json_get(n1, "requested"));
	assert_null(json_get(n1, "pods"));
	assert_string_equal(json_text(a.root, "podsReason"), "NotAskedFor");
	done(&a);
	world_close(&w);
}

static void nodes_are_told_with_what_their_pods_ask_for(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	set_nodes(w.queue);
	ask_for_pods(w.queue);
	world_add_job(&w, 7, "one");
	bind_pod(w.queue, 1, "n1", 7);
	bind_pod(w.queue, 2, "n1", 9); /* of a Job that is in no queue */
	bind_pod(w.queue, 3, "n1", 0);
	bind_pod(w.queue, 4, "gone", 0);
	ask_report(&a, &w, "nodereports", NULL);
	assert_string_equal(json_text(a.root, "podsReason"), "NotListedYet");
	done(&a);
	queue_know_pods(w.queue, true);
	ask_report(&a, &w, "nodereports", NULL);
	assert_true(cJSON_IsTrue(json_get(a.root, "podsFollowed")));
	const cJSON *n0 = json_array(a.root, "nodes")->child, *n1 = n0->next;
	assert_int_equal(count(n0, "pods"), 0);
	assert_null(json_object(n0, "requested")->child);
	assert_int_equal(count(n1, "pods"), 3);
	assert_string_equal(text_of(n1, "requested", "cpu"), "4500m");
	assert_string_equal(text_of(n1, "requested", "pods"), "3");
	assert_null(text_of(n1, "requested", "example.com/none"));
	assert_string_equal(text_of(n1, "requestedByJobs", "cpu"), "1500m");
	assert_null(strstr(buf_text(&a.body), "team-a"));
	done(&a);
	w.reports.pods_denied = true;
	ask_report(&a, &w, "nodereports", NULL);
	assert_string_equal(json_text(a.root, "podsReason"), "Forbidden");
	assert_null(json_get(json_array(a.root, "nodes")->child, "requested"));
	done(&a);
	world_close(&w);
}

/* kubectl finds each in the list of resources, and each kind has a schema. */
static void each_report_is_discovered(void **state)
{
	(void)state;
	static const struct {
		const char *path, *kind;
	} reports[] = {{"costs", "CostReport"}, {"reports", "UsageReport"},
		{"histories", "JobHistory"}, {"decisions", "DecisionReport"},
		{"timelines", "Timeline"}, {"summaries", "SummaryReport"},
		{"queuereports", "QueueReport"}, {"budgetreports", "BudgetReport"},
		{"nodereports", "NodeReport"}, {"overcommits", "OvercommitReport"},
		{"clusterqueues/q/week", "ClusterQueueWeek"},
		{"clusterqueues/q/usage", "ClusterQueueUsage"}};
	struct buf resources, schemas;
	buf_init(&resources, 1 << 20);
	buf_init(&schemas, 1 << 20);
	assert_int_equal(sizeof(reports) / sizeof(reports[0]), REPORTS);
	assert_true(discovery_document(VISIBILITY_ROOT, &resources));
	assert_true(discovery_document("/openapi/v3" VISIBILITY_ROOT, &schemas));
	for (size_t i = 0; i < REPORTS; i++) {
		char path[200], said[200];
		struct report_path p;
		snprintf(path, sizeof(path), VISIBILITY_ROOT "/%s", reports[i].path);
		assert_true(report_path(path, &p));
		snprintf(said, sizeof(said), "\"name\":\"%s\"", report_right(&p).resource);
		assert_non_null(strstr(buf_text(&resources), said));
		snprintf(said, sizeof(said), "\"kind\":\"%s\"", reports[i].kind);
		assert_non_null(strstr(buf_text(&resources), said));
		snprintf(said, sizeof(said), "v1alpha1.%s\":{\"type\":\"object\"", reports[i].kind);
		assert_non_null(strstr(buf_text(&schemas), said));
	}
	buf_done(&resources);
	buf_done(&schemas);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queues_are_told_with_their_quotas),
		cmocka_unit_test(a_report_that_does_not_fit_is_known_to_be_cut),
		cmocka_unit_test(a_queue_that_is_gone_has_a_row_while_it_has_jobs),
		cmocka_unit_test(cohorts_are_told_with_their_shares),
		cmocka_unit_test(without_a_cohort_nothing_is_borrowed),
		cmocka_unit_test(what_borrows_without_weight_has_the_largest_share),
		cmocka_unit_test(cohorts_that_are_only_named_or_wrong_say_so),
		cmocka_unit_test(a_report_of_one_namespace_has_its_queues_and_sums),
		cmocka_unit_test(classes_are_told_that_jobs_may_name),
		cmocka_unit_test(what_is_not_there_is_said_so),
		cmocka_unit_test(nodes_are_told_with_their_flavors),
		cmocka_unit_test(nodes_are_told_with_what_their_pods_ask_for),
		cmocka_unit_test(each_report_is_discovered),
		cmocka_unit_test(paths_of_before_lead_to_those_of_now),
		cmocka_unit_test(readiness_says_what_is_missing),
		cmocka_unit_test(readiness_says_what_is_not_followed),
		cmocka_unit_test(each_path_wants_its_right),
		cmocka_unit_test(a_refusal_says_what_is_missing),
		cmocka_unit_test(stuck_jobs_are_counted_and_not_named),
		cmocka_unit_test(the_ledger_is_told_when_it_is_away),
		cmocka_unit_test(decisions_of_one_namespace_name_no_other),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
