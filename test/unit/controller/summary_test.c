/*
 * The SummaryReport, without a socket. What runs, what is in trouble and what was forecast is the test's: a Job
 * called run-... runs, one called stuck-... runs without pods.
 */
#include "controller/answers/summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/monotonic.h"
#include "controller_world.h"
#include "forecast/play.h"
#include "test/golden/golden.h"

#define MINUTE_MS 60000

static bool is_called(const char *name, const char *begin)
{
	return strncmp(name, begin, strlen(begin)) == 0;
}

/* ---- what is known --------------------------------------------------------------------------- */

struct told {
	void (*each)(const struct gate_listed *j, bool is_deferred, void *ctx);
	void *ctx;
};

static void tell(const struct gate_listed *j, bool is_deferred, void *ctx)
{
	const struct told *t = ctx;
	struct gate_listed told = *j;
	if (is_called(j->name, "run-") || is_called(j->name, "stuck-"))
		told.state = "Running";
	if (is_called(j->name, "late-")) {
		told.state = "Stopping";
		told.overdue_ms = j->created_ms + MINUTE_MS;
	}
	if (is_called(j->name, "gone-"))
		told.state = "Ended";
	t->each(&told, is_deferred, t->ctx);
}

void __real_gate_each_job(const struct gate *g,
	void (*each)(const struct gate_listed *j, bool is_deferred, void *ctx), void *ctx);
void __wrap_gate_each_job(const struct gate *g,
	void (*each)(const struct gate_listed *j, bool is_deferred, void *ctx), void *ctx);
void __wrap_gate_each_job(const struct gate *g,
	void (*each)(const struct gate_listed *j, bool is_deferred, void *ctx), void *ctx)
{
	struct told t = {each, ctx};
	__real_gate_each_job(g, tell, &t);
}

bool __real_gate_explain(const struct gate *g, const char *ns, const char *name, int64_t now_ms,
	struct explanation *ret);
bool __wrap_gate_explain(const struct gate *g, const char *ns, const char *name, int64_t now_ms,
	struct explanation *ret);
bool __wrap_gate_explain(const struct gate *g, const char *ns, const char *name, int64_t now_ms,
	struct explanation *ret)
{
	bool is_known = __real_gate_explain(g, ns, name, now_ms, ret);
	if (is_called(name, "run-") || is_called(name, "stuck-") || is_called(name, "late-"))
		ret->reason = WAIT_NOT;
	if (is_called(name, "night-")) {
		ret->reason = WAIT_WINDOW;
		ret->not_before_ms = now_ms + 90 * MINUTE_MS;
	}
	if (is_called(name, "wrong-"))
		ret->reason = WAIT_MISCONFIGURED;
	if (is_called(name, "held-"))
		ret->reason = WAIT_HELD;
	if (is_called(name, "missed-")) {
		ret->deadline_ms = now_ms + MINUTE_MS;
		ret->unreachable = true;
	}
	return is_known;
}

bool __wrap_gate_job_trouble(
	const struct gate *g, const char *ns, const char *name, struct gate_trouble *ret);
bool __wrap_gate_job_trouble(
	const struct gate *g, const char *ns, const char *name, struct gate_trouble *ret)
{
	(void)g;
	*ret = (struct gate_trouble){ns, name, "batch", TROUBLE_ERR_IMAGE_PULL, 1, 1,
		1795255200000 - MINUTE_MS, "busybox:1.36 not found"};
	return is_called(name, "stuck-");
}

/* Tells of each Job that waits for quota that it starts in as many minutes as its number is. */
bool __wrap_forecasts_find(const struct forecasts *f, const struct uid *uid,
	const struct explanation *x, struct forecast *ret);
bool __wrap_forecasts_find(const struct forecasts *f, const struct uid *uid,
	const struct explanation *x, struct forecast *ret)
{
	int64_t p50_ms = 1795255200000 + uid->byte[0] * MINUTE_MS;
	(void)f;
	*ret = (struct forecast){.start = {p50_ms, p50_ms, p50_ms + MINUTE_MS, 16}, .draws = 16};
	return !wait_reason_needs_change(x->reason);
}

/* ---- the stage ------------------------------------------------------------------------------- */

struct stage {
	struct world world;
	struct queued_jobs_sources sources;
	struct queued_jobs *all;
	struct buf body;
	struct json *json;
};

static void stage_open(struct stage *s)
{
	struct err e = {""};
	world_open(&s->world, "batch");
	struct localqueue_spec lq = {
		.ns = "team-b", .name = "main", .generation = 1, .clusterqueue = "batch"};
	queue_set_namespace(s->world.queue, &(struct namespace_spec){.name = "team-b"});
	assert_int_equal(queue_set_localqueue(s->world.queue, &lq, &e), 0);
	s->sources = (struct queued_jobs_sources){.gate = s->world.gate,
		.queue = s->world.queue,
		.forecasts = (const struct forecasts *)s, /* only asked through the wrap */
		.ledger_up = true,
		.now_ms = s->world.reports.now_ms};
	s->all = NULL;
	buf_init(&s->body, 4 << 20);
	s->json = json_new(64 << 20);
}

static void stage_close(struct stage *s)
{
	queued_jobs_free(s->all);
	json_free(s->json);
	buf_done(&s->body);
	world_close(&s->world);
}

static void add(
	struct stage *s, unsigned number, const char *ns, const char *name, const char *family)
{
	struct job j = world_job((unsigned char)number, name);
	j.uid.byte[1] = (uint8_t)(number >> 8);
	j.ns = ns;
	j.family = family;
	j.created_ms -= number;
	world_see_job(&s->world, &j);
}

static void add_some(struct stage *s)
{
	static const struct {
		const char *ns, *name, *family;
	} jobs[] = {
		{"team-a", "run-1", ""},
		{"team-a", "fit-2", ""},
		{"team-a", "lr-1", "lr-"},
		{"team-a", "lr-2", "lr-"},
		{"team-a", "stuck-1", "lr-"},
		{"team-a", "night-1", "CronJob/night"},
		{"team-a", "wrong-1", "w-"},
		{"team-a", "wrong-2", "w-"},
		{"team-a", "held-1", ""},
		{"team-a", "late-1", ""},
		{"team-a", "missed-1", ""},
		{"team-a", "gone-1", ""},
		{"team-b", "run-secret", ""},
		{"team-b", "secret", "lr-"},
	};
	for (unsigned i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		add(s, i + 1, jobs[i].ns, jobs[i].name, jobs[i].family);
}

static const cJSON *summary(struct stage *s, const char *ns, enum summary_by by)
{
	const cJSON *root = NULL;
	struct err e = {""};
	struct job_query q = {.by = by};
	strcpy(q.ns, ns);
	if (!s->all)
		s->all = queued_jobs_new(&s->sources);
	buf_reset(&s->body);
	summary_put(s->all, &q, &s->body);
	assert_int_equal(json_parse(s->json, buf_slice(&s->body), &root, &e), 0);
	return root;
}

static int64_t number(const cJSON *object, const char *name)
{
	int64_t value = -1;
	assert_int_equal(json_i64(object, name, &value), 0);
	return value;
}

static const cJSON *item(const cJSON *object, const char *array, int i)
{
	return cJSON_GetArrayItem(json_array(object, array), i);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void each_member_is_there(void **state)
{
	static const enum summary_by by[] = {
		SUMMARY_BY_QUEUE, SUMMARY_BY_USER, SUMMARY_BY_SWEEP, SUMMARY_BY_NAMESPACE};
	struct stage s;
	(void)state;
	stage_open(&s);
	add_some(&s);
	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		summary(&s, "", by[i]);
		golden_add(__func__, "of all", buf_slice(&s.body));
	}
	summary(&s, "team-a", SUMMARY_BY_QUEUE);
	golden_add(__func__, "of one namespace", buf_slice(&s.body));
	stage_close(&s);
}

static void each_job_counts_once(void **state)
{
	struct stage s;
	int64_t jobs = 0;
	(void)state;
	stage_open(&s);
	add_some(&s);
	const cJSON *root = summary(&s, "", SUMMARY_BY_QUEUE), *r;
	assert_int_equal(number(json_object(root, "running"), "jobs"), 4);
	assert_int_equal(number(root, "stopping"), 1);
	assert_int_equal(number(root, "starting"), 0);
	assert_int_equal(number(json_object(root, "waiting"), "jobs"), 9);
	assert_int_equal(number(json_object(root, "waiting"), "pods"), 9);
	assert_string_equal(
		json_text(json_object(json_object(root, "waiting"), "requests"), "cpu"), "108");
	cJSON_ArrayForEach(r, json_array(root, "reasons")) jobs += number(r, "jobs");
	assert_int_equal(jobs, 9);
	assert_int_equal(number(item(root, "groups", 0), "running"), 4);
	assert_int_equal(number(item(root, "groups", 0), "waiting"), 9);
	assert_string_equal(json_text(item(root, "groups", 0), "key"), "batch");
	stage_close(&s);
}

static void the_next_start_is_the_earliest(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	add_some(&s);
	const cJSON *root = summary(&s, "team-a", SUMMARY_BY_SWEEP);
	const cJSON *next = json_object(root, "nextStart"), *r;
	assert_string_equal(json_text(next, "name"), "fit-2");
	assert_string_equal(json_text(next, "at"), "2026-11-21T10:02:00Z");
	assert_string_equal(json_text(next, "p90"), "2026-11-21T10:03:00Z");
	cJSON_ArrayForEach(r, json_array(root, "reasons")) if (strcmp(json_text(r, "reason"),
								       "OutsideWindow") == 0)
	{
		assert_string_equal(json_text(r, "until"), "2026-11-21T11:30:00Z");
		assert_string_equal(json_text(r, "untilIs"), "Opening");
	}
	stage_close(&s);
}

static void a_sweep_is_of_one_namespace(void **state)
{
	struct stage s;
	size_t found = 0;
	const cJSON *g;
	(void)state;
	stage_open(&s);
	add_some(&s);
	cJSON_ArrayForEach(g, json_array(summary(&s, "", SUMMARY_BY_SWEEP), "groups"))
	{
		if (strcmp(json_text(g, "key"), "lr-") != 0)
			continue;
		bool is_ours = strcmp(json_text(g, "namespace"), "team-a") == 0;
		found++;
		assert_int_equal(number(g, "waiting"), is_ours ? 2 : 1);
		assert_int_equal(number(g, "running"), is_ours ? 1 : 0);
	}
	assert_int_equal(found, 2);
	stage_close(&s);
}

/* What is on hold, a person has decided. */
static void the_worst_comes_first_and_what_is_alike_is_one(void **state)
{
	static const char *const words[] = {
		"ErrImagePull", "StopOverdue", "DeadlineUnreachable", "Misconfigured"};
	struct stage s;
	(void)state;
	stage_open(&s);
	add_some(&s);
	const cJSON *root = summary(&s, "", SUMMARY_BY_QUEUE);
	assert_int_equal(cJSON_GetArraySize(json_array(root, "attention")), 4);
	for (int i = 0; i < 4; i++)
		assert_string_equal(json_text(item(root, "attention", i), "word"), words[i]);
	assert_int_equal(number(item(root, "attention", 3), "jobs"), 2);
	assert_string_equal(json_text(item(root, "attention", 3), "name"), "wrong-2");
	assert_int_equal(number(root, "attentionJobs"), 5);
	assert_string_equal(json_text(item(root, "attentionWords", 0), "word"), "Misconfigured");
	assert_int_equal(number(item(root, "attentionWords", 0), "jobs"), 2);
	assert_string_equal(
		json_text(item(root, "attention", 0), "message"), "busybox:1.36 not found");
	assert_non_null(
		strstr(json_text(item(root, "attention", 1), "cure"), "job-name=late-1 -n team-a"));
	stage_close(&s);
}

static void of_others_one_hears_numbers_alone(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	add_some(&s);
	add(&s, 60, "team-b", "secret-2", ""); /* created first, so it is ahead */
	const cJSON *root = summary(&s, "team-a", SUMMARY_BY_QUEUE);
	const cJSON *others = item(root, "others", 0);
	assert_null(strstr(buf_text(&s.body), "secret"));
	assert_null(strstr(buf_text(&s.body), "team-b"));
	assert_string_equal(json_text(others, "clusterQueue"), "batch");
	assert_int_equal(number(others, "running"), 1);
	assert_int_equal(number(others, "waiting"), 2);
	assert_true(number(others, "ahead") >= 1);
	assert_null(json_array(summary(&s, "", SUMMARY_BY_QUEUE), "others"));
	assert_int_equal(number(json_object(summary(&s, "no-such", 0), "waiting"), "jobs"), 0);
	stage_close(&s);
}

/* Who may make LocalQueues could name any ClusterQueue. */
static void of_a_queue_that_lets_the_namespace_not_in_one_hears_nothing(void **state)
{
	struct stage s;
	struct err e = {""};
	(void)state;
	stage_open(&s);
	struct clusterqueue_spec closed = {.name = "closed", .generation = 1, .cohort = ""};
	struct localqueue_spec lq = {
		.ns = "team-b", .name = "pry", .generation = 1, .clusterqueue = "closed"};
	assert_int_equal(queue_set_clusterqueue(s.world.queue, &closed, &e), 0);
	assert_int_equal(queue_set_localqueue(s.world.queue, &lq, &e), 0);
	const cJSON *root = summary(&s, "team-b", SUMMARY_BY_QUEUE);
	assert_int_equal(cJSON_GetArraySize(json_array(root, "others")), 1);
	assert_string_equal(json_text(item(root, "others", 0), "clusterQueue"), "batch");
	stage_close(&s);
}

static void by_nonsense_is_refused(void **state)
{
	struct job_query q = {0};
	struct err e = {""};
	(void)state;
	assert_int_equal(summary_take(&q, NULL, &e), 0);
	assert_int_equal(q.by, SUMMARY_BY_QUEUE);
	assert_int_equal(summary_take(&q, "sweep", &e), 0);
	assert_int_equal(q.by, SUMMARY_BY_SWEEP);
	assert_int_equal(summary_take(&q, "nonsense", &e), ERR_INVALID);
	assert_string_equal(
		e.text, "by is \"nonsense\"; it must be queue, user, sweep or namespace");
}

/* A page asks every few seconds. SUMMARY_JOBS: how many are tried; the time is printed. */
static void thousands_of_jobs_are_summed_up_at_once(void **state)
{
	const char *asked = getenv("SUMMARY_JOBS");
	unsigned n = asked ? (unsigned)strtoul(asked, NULL, 10) : 1500;
	struct stage s;
	char name[32];
	(void)state;
	stage_open(&s);
	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), i % 100 ? "fit-%u" : "wrong-%u", i);
		add(&s, i + 1, i % 2 ? "team-a" : "team-b", name, "");
	}
	int64_t from_us = monotonic_us();
	s.all = queued_jobs_new(&s.sources);
	const cJSON *root = summary(&s, "", SUMMARY_BY_SWEEP);
	int64_t all_us = monotonic_us() - from_us;
	from_us = monotonic_us();
	assert_int_equal(number(root, "moreGroups"), n > 1000 ? n - 1000 : 0);
	assert_int_equal(cJSON_GetArraySize(json_array(root, "groups")), n < 1000 ? n : 1000);
	assert_true(cJSON_GetArraySize(json_array(root, "attention")) <= 100);
	assert_true(s.body.len < 600000);
	from_us = monotonic_us();
	summary(&s, "team-a", SUMMARY_BY_QUEUE);
	print_message("  %u Jobs: %lld us, of half of them %lld us, %zu bytes\n", n,
		(long long)all_us, (long long)(monotonic_us() - from_us), s.body.len);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_member_is_there),
		cmocka_unit_test(each_job_counts_once),
		cmocka_unit_test(the_next_start_is_the_earliest),
		cmocka_unit_test(a_sweep_is_of_one_namespace),
		cmocka_unit_test(the_worst_comes_first_and_what_is_alike_is_one),
		cmocka_unit_test(of_others_one_hears_numbers_alone),
		cmocka_unit_test(of_a_queue_that_lets_the_namespace_not_in_one_hears_nothing),
		cmocka_unit_test(by_nonsense_is_refused),
		cmocka_unit_test(thousands_of_jobs_are_summed_up_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
