/* Jobs of a live cluster: what each becomes, when those that wait start, and how long they take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/instant.h"
#include "base/mem.h"
#include "cli/simulate/engine.h"
#include "cli/simulate/live_jobs.h"
#include "cli/simulate/manifest.h"

/* It is ten o'clock. */
#define NOW "2026-11-27T10:00:00Z"
#define AT(minutes_and_seconds) "2026-11-27T09:" minutes_and_seconds "Z"
#define MINUTE_MS INT64_C(60000)

static const char queues[] =
	"apiVersion: sluice.dev/v1alpha1\nkind: ResourceFlavor\nmetadata: {name: node}\n---\n"
	"apiVersion: sluice.dev/v1alpha1\nkind: ClusterQueue\nmetadata: {name: batch}\n"
	"spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: "
	"[{name: node, resources: [{name: cpu, nominalQuota: 4}]}]}]}\n---\n"
	"apiVersion: sluice.dev/v1alpha1\nkind: LocalQueue\nmetadata: {name: main, namespace: team}\n"
	"spec: {clusterQueue: batch}\n";

struct stage {
	struct world w;
	struct ends ends;
	struct live_jobs jobs;
	struct json *json;
	int uids;
	char *told; /* the journal */
	struct summary summary;
};

static int64_t now_ms(void)
{
	int64_t ms;
	assert_true(instant_parse(slice_of(NOW), &ms));
	return ms;
}

static void open_stage(struct stage *s, int64_t assumed_ms)
{
	struct queue_config config;
	struct err e = {""};
	*s = (struct stage){.json = json_new(1 << 20)};
	queue_config_default(&config);
	world_init(&s->w, &config);
	s->w.live = true;
	assert_int_equal(manifest_read_text(&s->w, "queues", slice_of(queues), &e), 0);
	ends_init(&s->ends, assumed_ms);
	live_jobs_init(&s->jobs, &s->w, &s->ends);
}

static void close_stage(struct stage *s)
{
	summary_done(&s->summary);
	live_jobs_done(&s->jobs);
	ends_done(&s->ends);
	world_done(&s->w);
	json_free(s->json);
	free(s->told);
}

/* What matters of a Job; the rest is as usual. */
struct sketch {
	const char *name;
	int pods;				  /* 1 */
	const char *cpu;			  /* of each: "1" */
	bool runs;				  /* spec.suspend is false */
	const char *created;			  /* AT("00:00") */
	const char *story;			  /* without its braces */
	const char *notes, *meta, *spec, *status; /* further members, each with a comma before it */
};

static const char *text_or(const char *text, const char *usual)
{
	return text ? text : usual;
}

static const cJSON *drawn(struct stage *s, const struct sketch *k)
{
	struct buf text, story;
	const cJSON *root;
	int pods = k->pods ? k->pods : 1;
	buf_init(&text, 1 << 16);
	buf_init(&story, 1 << 16);
	buf_printf(&story, "{%s}", text_or(k->story, ""));
	buf_printf(&text,
		"{\"metadata\":{\"name\":\"%s\",\"namespace\":\"team\",\"resourceVersion\":\"%d\","
		"\"uid\":\"00000000-0000-4000-8000-%012d\",\"creationTimestamp\":\"%s\","
		"\"labels\":{\"sluice.dev/queue-name\":\"main\"}%s,\"annotations\":{\"a\":\"b\"%s",
		k->name, 1000 - s->uids, s->uids, text_or(k->created, AT("00:00")),
		text_or(k->meta, ""), text_or(k->notes, ""));
	s->uids++;
	if (k->story) {
		buf_puts(&text, ",\"sluice.dev/admission\":");
		buf_json_string(&text, buf_text(&story));
	}
	buf_printf(&text,
		"}},\"spec\":{\"suspend\":%s,\"parallelism\":%d,\"completions\":%d%s,\"template\":"
		"{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]}}}"
		",\"status\":{\"x\":0%s}}",
		k->runs ? "false" : "true", pods, pods, text_or(k->spec, ""), text_or(k->cpu, "1"),
		text_or(k->status, ""));
	assert_int_equal(json_parse(s->json, buf_slice(&text), &root, NULL), 0);
	buf_done(&text);
	buf_done(&story);
	return root;
}

static void see(struct stage *s, struct sketch k)
{
	struct err e = {""};
	if (live_jobs_see(&s->jobs, drawn(s, &k), &e) < 0)
		fail_msg("%s", e.text);
}

#define SUSPENDED ",\"conditions\":[{\"type\":\"Suspended\",\"status\":\"True\"}]"
#define STARTED(at, cpu)                                                                           \
	"\"attempt\":1,\"state\":\"Started\",\"epoch\":1,\"at\":\"" at                             \
	"\",\"clusterQueue\":\"batch\",\"flavors\":{\"cpu\":\"node\"},\"holds\":{\"cpu\":" cpu "}"
#define EXPECTED(length) ",\"sluice.dev/expected-duration\":\"" length "\""
#define BEGAN(at) ",\"active\":1,\"startTime\":\"" at "\""

static void add(struct stage *s)
{
	struct err e = {""};
	s->w.now_ms = now_ms();
	if (live_jobs_add(&s->jobs, &e) < 0)
		fail_msg("%s", e.text);
}

static void play(struct stage *s)
{
	struct err e = {""};
	struct journal journal;
	size_t size;
	FILE *out = open_memstream(&s->told, &size);
	ends_settle(&s->ends, &s->w);
	if (world_close(&s->w, &e) < 0)
		fail_msg("%s", e.text);
	summary_init(&s->summary, &s->w);
	journal_init_json(&journal, &s->w, out);
	engine_run(&s->w, NEVER_MS, false,
		&(struct observers){.summary = &s->summary, .journal = &journal});
	journal_done(&journal);
	fclose(out);
}

static void tells(const struct stage *s, int64_t ms, const char *event, const char *name)
{
	char line[200];
	snprintf(line, sizeof(line), "\"ms\":%lld,\"event\":\"%s\",\"job\":\"team/%s\"",
		(long long)ms, event, name);
	if (!strstr(s->told, line))
		fail_msg("no %s in\n%s", line, s->told);
}

/* ---- what runs ------------------------------------------------------------------------------- */

static void a_run_holds_what_its_story_says_until_it_is_expected_to_end(void **state)
{
	(void)state;
	struct stage s;
	open_stage(&s, 0);
	see(&s, (struct sketch){.name = "runs",
			.runs = true,
			.cpu = "3",
			.story = STARTED(AT("49:59"), "3000"),
			.notes = EXPECTED("20m"),
			.status = BEGAN(AT("50:00"))});
	see(&s, (struct sketch){.name = "fits", .notes = EXPECTED("1h"), .status = SUSPENDED});
	see(&s, (struct sketch){.name = "waits",
			.cpu = "3",
			.created = AT("01:00"),
			.notes = EXPECTED("1h"),
			.status = SUSPENDED});
	add(&s);
	assert_true(s.jobs.running == 1 && s.jobs.waiting == 2 && s.jobs.leaving == 0);
	play(&s);
	assert_int_equal(s.w.start_ms, now_ms());
	tells(&s, 0, "Admitted", "fits");
	tells(&s, 10 * MINUTE_MS, "Finished", "runs");
	tells(&s, 10 * MINUTE_MS, "Admitted", "waits");
	tells(&s, 70 * MINUTE_MS, "Finished", "waits");
	assert_int_equal(s.w.nendless, 0);
	/* It has waited since it was created. */
	assert_int_equal(s.summary.wait_ms[s.summary.nwaits - 1], 69 * MINUTE_MS);
	close_stage(&s);
}

/* 2 of 4 pods: it has done 5 minutes' work in ten, and goes on for 30. */
static void a_run_with_fewer_pods_takes_longer(void **state)
{
	(void)state;
	struct stage s;
	open_stage(&s, 0);
	see(&s, (struct sketch){.name = "part",
			.runs = true,
			.pods = 2,
			.story = STARTED(AT("50:00"),
				"2000") ",\"pods\":2,\"parallelism\":4,\"completions\":4",
			.notes = EXPECTED("20m") ",\"sluice.dev/min-parallelism\":\"1\"",
			.status = BEGAN(AT("50:00"))});
	see(&s, (struct sketch){
			.name = "large", .cpu = "4", .notes = EXPECTED("1h"), .status = SUSPENDED});
	see(&s, (struct sketch){.name = "small",
			.cpu = "2",
			.created = AT("01:00"),
			.notes = EXPECTED("1h"),
			.status = SUSPENDED});
	add(&s);
	assert_int_equal(s.w.sim_job[0].record->parallelism + s.w.sim_job[1].record->parallelism +
				 s.w.sim_job[2].record->parallelism,
		4 + 1 + 1);
	play(&s);
	tells(&s, 0, "Admitted", "small");
	tells(&s, 30 * MINUTE_MS, "Finished", "part");
	tells(&s, 60 * MINUTE_MS, "Admitted", "large");
	close_stage(&s);
}

static void pods_that_have_finished_gave_back_what_they_held(void **state)
{
	(void)state;
	struct stage s;
	open_stage(&s, 0);
	see(&s, (struct sketch){.name = "half",
			.runs = true,
			.pods = 4,
			.story = STARTED(AT("50:00"), "4000"),
			.notes = EXPECTED("20m"),
			.status = BEGAN(AT("50:00")) ",\"succeeded\":2"});
	see(&s, (struct sketch){
			.name = "next", .cpu = "2", .notes = EXPECTED("1h"), .status = SUSPENDED});
	add(&s);
	play(&s);
	tells(&s, 0, "Admitted", "next");
	tells(&s, 10 * MINUTE_MS, "Finished", "half");
	close_stage(&s);
}

/* Its story is of the adoption; its work is older. */
static void an_adopted_run_worked_before(void **state)
{
	(void)state;
	struct stage s;
	open_stage(&s, 0);
	see(&s, (struct sketch){.name = "old",
			.runs = true,
			.cpu = "4",
			.story = STARTED(AT("50:00"), "4000") ",\"reason\":\"Adopted\"",
			.notes = EXPECTED("1h"),
			.status = BEGAN(AT("30:00"))});
	add(&s);
	assert_int_equal(s.w.adoption[0].before_ms, 20 * MINUTE_MS);
	play(&s);
	tells(&s, 30 * MINUTE_MS, "Finished", "old");
	close_stage(&s);
}

/* Its work is over, or its controller has yet to say so. */
static void a_run_without_work_ends_now(void **state)
{
	(void)state;
	struct stage s;
	open_stage(&s, 0);
	see(&s, (struct sketch){.name = "done",
			.runs = true,
			.cpu = "4",
			.story = STARTED(AT("50:00"), "4000"),
			.notes = EXPECTED("5h"),
			.status = BEGAN(AT("50:00")) ",\"succeeded\":1"});
	see(&s, (struct sketch){
			.name = "next", .cpu = "4", .notes = EXPECTED("1h"), .status = SUSPENDED});
	add(&s);
	play(&s);
	tells(&s, 0, "Finished", "done");
	tells(&s, 0, "Admitted", "next");
	close_stage(&s);
}

static void what_sluice_did_not_start_waits_unless_it_may_be_adopted(void **state)
{
	(void)state;
	for (int may = 0; may < 2; may++) {
		struct stage s;
		const cJSON *ns;
		open_stage(&s, 0);
		assert_int_equal(
			json_parse(s.json,
				slice_of("{\"metadata\":{\"name\":\"team\",\"annotations\":{"
					 "\"sluice.dev/adopt-begun-by\":\"" AT("55:00") "\"}}}"),
				&ns, NULL),
			0);
		if (may)
			live_jobs_see_namespace(&s.jobs, ns);
		see(&s, (struct sketch){.name = "stranger",
				.runs = true,
				.cpu = "4",
				.notes = EXPECTED("20m"),
				.status = BEGAN(AT("50:00"))});
		add(&s);
		assert_int_equal(s.jobs.intruders, !may);
		play(&s);
		if (may)
			tells(&s, 10 * MINUTE_MS, "Finished", "stranger");
		else
			tells(&s, 0, "Admitted", "stranger");
		close_stage(&s);
	}
}

/* ---- what is being stopped ------------------------------------------------------------------- */

#define STOPPED(at, cpu, rest)                                                                     \
	"\"attempt\":3,\"state\":\"Stopped\",\"epoch\":1,\"at\":\"" at                             \
	"\",\"clusterQueue\":\"batch\",\"flavors\":{\"cpu\":\"node\"},\"holds\":{\"cpu\":" cpu     \
	"}" rest

static void what_is_being_stopped_holds_until_its_grace_is_over(void **state)
{
	(void)state;
	struct stage s;
	open_stage(&s, 0);
	see(&s, (struct sketch){.name = "victim",
			.cpu = "4",
			.story = STOPPED(AT("59:50"), "4000", ",\"reason\":\"Preempted\""),
			.notes = EXPECTED("20m"),
			.status =
				",\"terminating\":1,\"startTime\":\"" AT("50:00") "\"" SUSPENDED});
	see(&s, (struct sketch){.name = "next",
			.cpu = "4",
			.created = AT("00:30"),
			.notes = EXPECTED("20m"),
			.status = SUSPENDED});
	add(&s);
	assert_true(s.jobs.leaving == 1 && s.jobs.waiting == 1 && s.jobs.running == 0);
	play(&s);
	/* 30 s after the stop. What a run leaves is for the Job that waits for it. */
	tells(&s, 20000, "Admitted", "next");
	tells(&s, 20000 + 20 * MINUTE_MS, "Admitted", "victim");
	assert_non_null(strstr(s.told, "\"job\":\"team/victim\",\"attempt\":4"));
	close_stage(&s);
}

/* Its pods are gone: nothing is held any more, and its back-off goes on. */
static void a_stopped_job_waits_with_its_history(void **state)
{
	(void)state;
	struct stage s;
	char story[600], number[32];
	open_stage(&s, 0);
	snprintf(number, sizeof(number), "%lld", (long long)now_ms() + 90000);
	snprintf(story, sizeof(story), "%s%s}",
		STOPPED(AT("50:00"), "4000",
			",\"reason\":\"PodsReadyTimeout\",\"history\":{\"requeues\":2,\"notBeforeMs\":"),
		number);
	see(&s, (struct sketch){.name = "backoff",
			.story = story,
			.notes = EXPECTED("20m"),
			.status = SUSPENDED});
	add(&s);
	assert_true(s.jobs.leaving == 0 && s.jobs.waiting == 1);
	play(&s);
	tells(&s, 90000, "Admitted", "backoff");
	close_stage(&s);
}

static void a_deleted_job_keeps_its_quota_until_its_pods_are_gone(void **state)
{
	(void)state;
	struct stage s;
	open_stage(&s, 0);
	see(&s, (struct sketch){.name = "gone",
			.runs = true,
			.cpu = "4",
			.meta = ",\"deletionTimestamp\":\"" AT("59:40") "\"",
			.story = STARTED(AT("50:00"), "4000"),
			.status = BEGAN(AT("50:00"))});
	see(&s, (struct sketch){.name = "never-ran",
			.meta = ",\"deletionTimestamp\":\"" AT("59:40") "\"",
			.status = SUSPENDED});
	see(&s, (struct sketch){
			.name = "next", .cpu = "4", .notes = EXPECTED("20m"), .status = SUSPENDED});
	add(&s);
	assert_int_equal(s.w.nsim_jobs, 2);
	play(&s);
	tells(&s, 10000, "Admitted", "next");
	assert_null(strstr(s.told, "\"Admitted\",\"job\":\"team/gone\""));
	close_stage(&s);
}

/* ---- how long -------------------------------------------------------------------------------- */

#define FAMILY ",\"generateName\":\"eval-\""
#define ENDED(from, to)                                                                            \
	",\"startTime\":\"" from "\",\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\","  \
	"\"lastTransitionTime\":\"" to "\"}]"

static void a_family_tells_how_long(void **state)
{
	(void)state;
	struct stage s;
	open_stage(&s, 0);
	see(&s, (struct sketch){.name = "eval-1",
			.meta = FAMILY,
			.status = ENDED(AT("10:00"), AT("12:00"))});
	see(&s, (struct sketch){.name = "eval-2",
			.meta = FAMILY,
			.status = ENDED(AT("10:00"), AT("20:00"))});
	see(&s, (struct sketch){.name = "eval-3",
			.meta = FAMILY,
			.status = ENDED(AT("10:00"), AT("40:00"))});
	see(&s, (struct sketch){.name = "eval-4",
			.runs = true,
			.cpu = "4",
			.meta = FAMILY,
			.story = STARTED(AT("55:00"), "4000"),
			.status = BEGAN(AT("55:00"))});
	see(&s, (struct sketch){.name = "eval-5", .cpu = "4", .meta = FAMILY, .status = SUSPENDED});
	add(&s);
	play(&s);
	/* It has lasted 5 minutes: of 10 and 30 the lower median is 10. Of one that begins it is that of three. */
	tells(&s, 5 * MINUTE_MS, "Finished", "eval-4");
	tells(&s, 15 * MINUTE_MS, "Finished", "eval-5");
	assert_int_equal(s.w.nendless, 0);
	close_stage(&s);
}

static void what_has_no_end_is_named(void **state)
{
	(void)state;
	struct stage s;
	struct buf text;
	open_stage(&s, 0);
	see(&s, (struct sketch){.name = "endless", .status = SUSPENDED});
	see(&s, (struct sketch){.name = "overdue",
			.runs = true,
			.story = STARTED(AT("10:00"), "1000"),
			.notes = EXPECTED("20m"),
			.status = BEGAN(AT("10:00"))});
	see(&s, (struct sketch){.name = "bounded",
			.runs = true,
			.spec = ",\"activeDeadlineSeconds\":3600",
			.story = STARTED(AT("10:00"), "1000"),
			.notes = EXPECTED("20m"),
			.status = BEGAN(AT("10:00"))});
	add(&s);
	play(&s);
	tells(&s, 10 * MINUTE_MS, "Finished", "bounded");
	buf_init(&text, 1 << 16);
	summary_render_json(&s.summary, &text);
	assert_non_null(strstr(buf_text(&text),
		"\"without_expected_end\":[\"team/overdue\",\"team/endless\"],\"without_expected_end_count\":2"));
	buf_reset(&text);
	summary_render_table(&s.summary, &(struct style){.colours = false}, &text);
	assert_non_null(strstr(buf_text(&text), "2: team/overdue, team/endless"));
	buf_done(&text);
	close_stage(&s);
}

static void what_has_no_end_takes_what_is_assumed(void **state)
{
	(void)state;
	struct stage s;
	open_stage(&s, 30 * MINUTE_MS);
	see(&s, (struct sketch){.name = "waits", .status = SUSPENDED});
	see(&s, (struct sketch){.name = "young",
			.runs = true,
			.story = STARTED(AT("50:00"), "1000"),
			.status = BEGAN(AT("50:00"))});
	see(&s, (struct sketch){.name = "old",
			.runs = true,
			.story = STARTED(AT("10:00"), "1000"),
			.status = BEGAN(AT("10:00"))});
	add(&s);
	play(&s);
	tells(&s, 20 * MINUTE_MS, "Finished", "young");
	tells(&s, 30 * MINUTE_MS, "Finished", "waits");
	tells(&s, 30 * MINUTE_MS, "Finished", "old");
	assert_int_equal(s.w.nendless, 0);
	close_stage(&s);
}

/* ---- order, and others ----------------------------------------------------------------------- */

/* Of one second: by resourceVersion, which falls in this test, or by a rank. */
static void of_one_second_a_rank_decides(void **state)
{
	(void)state;
	for (int ranked = 0; ranked < 2; ranked++) {
		struct stage s;
		open_stage(&s, 30 * MINUTE_MS);
		see(&s, (struct sketch){.name = "a", .cpu = "4", .status = SUSPENDED});
		see(&s, (struct sketch){.name = "b", .cpu = "4", .status = SUSPENDED});
		assert_true(live_jobs_have_ties(&s.jobs));
		if (ranked) {
			live_jobs_rank(&s.jobs, "team", "a", 7);
			live_jobs_rank(&s.jobs, "team", "b", 8);
			live_jobs_rank(&s.jobs, "other", "b", 1);
		}
		add(&s);
		play(&s);
		tells(&s, 0, "Admitted", ranked ? "a" : "b");
		close_stage(&s);
	}
}

static void no_ties_are_seen_where_there_are_none(void **state)
{
	(void)state;
	struct stage s;
	open_stage(&s, MINUTE_MS);
	see(&s, (struct sketch){.name = "a", .status = SUSPENDED});
	see(&s, (struct sketch){.name = "b", .created = AT("00:01"), .status = SUSPENDED});
	assert_false(live_jobs_have_ties(&s.jobs));
	add(&s);
	play(&s);
	close_stage(&s);
}

static void one_that_waits_for_an_ended_job_starts(void **state)
{
	(void)state;
	for (int known = 0; known < 2; known++) {
		struct stage s;
		struct err e = {""};
		open_stage(&s, MINUTE_MS);
		see(&s, (struct sketch){.name = "next",
				.notes = ",\"sluice.dev/after\":\"prep\"",
				.status = SUSPENDED});
		add(&s);
		const struct sketch prep = {
			.name = "prep", .status = ENDED(AT("10:00"), AT("20:00"))};
		if (known)
			assert_int_equal(live_jobs_see_other(&s.jobs, drawn(&s, &prep), &e), 0);
		play(&s);
		if (known)
			tells(&s, 0, "Admitted", "next");
		else
			assert_null(strstr(s.told, "\"Admitted\""));
		/* It is no Job of the play. */
		struct buf text;
		buf_init(&text, 1 << 16);
		summary_render_json(&s.summary, &text);
		assert_non_null(strstr(buf_text(&text), "\"jobs\":1,"));
		buf_done(&text);
		close_stage(&s);
	}
}

/* What a file describes is there in place of the live one. */
static void a_file_comes_first(void **state)
{
	(void)state;
	static const char file[] =
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, namespace: team, labels: "
		"{sluice.dev/queue-name: main}}\nspec: {template: {spec: {containers: [{name: c, "
		"resources: {requests: {cpu: 2}}}]}}}\n";
	struct stage s;
	struct err e = {""};
	open_stage(&s, MINUTE_MS);
	assert_int_equal(manifest_read_text(&s.w, "file", slice_of(file), &e), 0);
	see(&s, (struct sketch){.name = "a",
			.runs = true,
			.cpu = "4",
			.story = STARTED(AT("50:00"), "4000"),
			.notes = EXPECTED("20m"),
			.status = BEGAN(AT("50:00"))});
	add(&s);
	assert_int_equal(s.w.nsim_jobs, 1);
	play(&s);
	tells(&s, 0, "Admitted", "a");
	close_stage(&s);
	open_stage(&s, MINUTE_MS);
	const cJSON *root;
	assert_int_equal(
		json_parse(s.json,
			slice_of(
				"{\"metadata\":{\"name\":\"batch\"},\"spec\":{\"resourceGroups\":[]}}"),
			&root, NULL),
		0);
	assert_int_equal(manifest_read_object(&s.w, "the cluster", "ClusterQueue", root, &e), 0);
	see(&s, (struct sketch){.name = "a", .status = SUSPENDED});
	add(&s);
	play(&s);
	tells(&s, 0, "Admitted", "a");
	close_stage(&s);
}

/* A story is text that a tenant may have written where the policies are not installed. */
static void no_story_breaks_a_play(void **state)
{
	(void)state;
	static const char *const stories[] = {
		STARTED(AT("50:00"), "-1"),
		STARTED(AT("50:00"), "1e300"),
		STARTED(AT("50:00"), "9007199254740992"),
		STARTED(AT("50:00"), "\"many\""),
		"\"attempt\":1,\"state\":\"Started\",\"clusterQueue\":\"batch\",\"flavors\":{\"cpu\":\"a\",\"cpu\":\"b\"},"
		"\"holds\":{\"cpu\":1,\"cpu\":2}",
		"\"attempt\":1,\"state\":\"Started\",\"clusterQueue\":\"nothing\",\"flavors\":{\"x\":\"y\"},\"holds\":{\"x\":1}",
		"\"attempt\":1,\"state\":\"Started\",\"clusterQueue\":\"batch\",\"flavors\":{\"x\":{}},\"holds\":{\"x\":1}",
		"\"attempt\":1,\"state\":\"Started\",\"clusterQueue\":\"batch\",\"flavors\":[],\"holds\":[]",
		"\"attempt\":2147483647,\"state\":\"Started\",\"at\":\"9999-12-31T23:59:59Z\"",
		"\"attempt\":1,\"state\":\"Started\",\"at\":\"0000-01-01T00:00:00Z\",\"sizes\":-1",
		STARTED(AT("50:00"), "1000") ",\"pods\":1,\"parallelism\":2147483647",
		STARTED(AT("50:00"),
			"1000") ",\"history\":{\"ranMs\":9007199254740992,\"notBeforeMs\":253402300799000}",
	};
	for (size_t i = 0; i < sizeof(stories) / sizeof(*stories); i++)
		for (int runs = 0; runs < 2; runs++) {
			struct stage s;
			open_stage(&s, MINUTE_MS);
			see(&s, (struct sketch){.name = "odd",
					.runs = runs,
					.story = stories[i],
					.notes = ",\"sluice.dev/simulate-duration\":\"soon\"",
					.status = BEGAN(AT("50:00"))});
			see(&s, (struct sketch){.name = "other", .status = SUSPENDED});
			add(&s);
			play(&s);
			close_stage(&s);
		}
}

/* Flavors alone, as older controllers told them: what its pods request is held. */
static void a_story_without_amounts_is_taken_by_its_flavors(void **state)
{
	(void)state;
	struct stage s;
	open_stage(&s, 0);
	see(&s, (struct sketch){.name = "older",
			.runs = true,
			.pods = 3,
			.story = "\"attempt\":1,\"state\":\"Started\",\"at\":\"" AT(
				"50:00") "\",\"clusterQueue\":\"batch\",\"flavors\":{\"cpu\":\"node\"}",
			.notes = EXPECTED("20m"),
			.status = BEGAN(AT("50:00"))});
	see(&s, (struct sketch){
			.name = "next", .cpu = "2", .notes = EXPECTED("1m"), .status = SUSPENDED});
	add(&s);
	assert_int_equal(s.w.adoption[0].lines[0].amount, 3000);
	play(&s);
	tells(&s, 10 * MINUTE_MS, "Admitted", "next");
	close_stage(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_holds_what_its_story_says_until_it_is_expected_to_end),
		cmocka_unit_test(a_run_with_fewer_pods_takes_longer),
		cmocka_unit_test(pods_that_have_finished_gave_back_what_they_held),
		cmocka_unit_test(an_adopted_run_worked_before),
		cmocka_unit_test(a_run_without_work_ends_now),
		cmocka_unit_test(what_sluice_did_not_start_waits_unless_it_may_be_adopted),
		cmocka_unit_test(what_is_being_stopped_holds_until_its_grace_is_over),
		cmocka_unit_test(a_stopped_job_waits_with_its_history),
		cmocka_unit_test(a_deleted_job_keeps_its_quota_until_its_pods_are_gone),
		cmocka_unit_test(a_family_tells_how_long),
		cmocka_unit_test(what_has_no_end_is_named),
		cmocka_unit_test(what_has_no_end_takes_what_is_assumed),
		cmocka_unit_test(of_one_second_a_rank_decides),
		cmocka_unit_test(no_ties_are_seen_where_there_are_none),
		cmocka_unit_test(one_that_waits_for_an_ended_job_starts),
		cmocka_unit_test(a_file_comes_first),
		cmocka_unit_test(no_story_breaks_a_play),
		cmocka_unit_test(a_story_without_amounts_is_taken_by_its_flavors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
