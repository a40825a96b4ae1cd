/*
 * /metrics, read back line by line by the rules of OpenMetrics 1.0.
 */
#include "controller/answers/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/map.h"
#include "base/mem.h"
#include "queue/calendar/zone.h"
#include "controller_world.h"
#include "test/golden/golden.h"

/* A strict reader. Knows the family it is in; every sample must belong to it. */
struct reader {
	char family[128], type[64], unit[32];
	size_t families, samples;
	char *seen[4096]; /* name and labels of each sample, to find repeats */
	char *names[256]; /* of the families */
	bool ended;
};

static void once(char **list, size_t *n, const char *text)
{
	for (size_t i = 0; i < *n; i++)
		if (strcmp(list[i], text) == 0)
			fail_msg("twice: %s", text);
	list[(*n)++] = mem_strdup(text);
}

static void read_comment(struct reader *r, const char *line)
{
	char name[128], word[64];
	if (strcmp(line, "# EOF") == 0) {
		r->ended = true;
	} else if (sscanf(line, "# TYPE %127s %63s", name, word) == 2) {
		strcpy(r->family, name);
		snprintf(r->type, sizeof(r->type), "%s", word);
		r->unit[0] = '\0';
		once(r->names, &r->families, name);
	} else if (sscanf(line, "# UNIT %127s %63s", name, word) == 2) {
		assert_string_equal(name, r->family);
		assert_true(slice_ends(slice_of(name), word));
	} else if (sscanf(line, "# HELP %127s", name) == 1) {
		assert_string_equal(name, r->family);
	} else {
		fail_msg("what is this: %s", line);
	}
}

/* The suffixes a sample of this type may, and must, have. */
static bool suffix_fits(const char *type, const char *suffix)
{
	if (strcmp(type, "counter") == 0)
		return strcmp(suffix, "_total") == 0;
	if (strcmp(type, "info") == 0)
		return strcmp(suffix, "_info") == 0;
	if (strcmp(type, "histogram") == 0)
		return strcmp(suffix, "_bucket") == 0 || strcmp(suffix, "_sum") == 0 ||
		       strcmp(suffix, "_count") == 0;
	return suffix[0] == '\0';
}

/* Steps over {name="value",...}; what is inside the quotes is escaped as it must be. */
static const char *read_labels(const char *p)
{
	if (*p != '{')
		return p;
	do {
		p++;
		size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyz_");
		assert_true(n > 0);
		assert_false(strncmp(p, "job=", 4) == 0);
		p += n;
		assert_int_equal(*p++, '=');
		assert_int_equal(*p++, '"');
		for (; *p != '"'; p++) {
			assert_int_not_equal(*p, '\0');
			if (*p == '\\')
				assert_non_null(strchr("\\\"n", *++p));
		}
		p++;
	} while (*p == ',');
	assert_int_equal(*p, '}');
	return p + 1;
}

static void read_sample(struct reader *r, char *line)
{
	size_t family = strlen(r->family);
	size_t name = strcspn(line, "{ ");
	char suffix[32], *end;
	assert_true(name >= family && strncmp(line, r->family, family) == 0);
	snprintf(suffix, sizeof(suffix), "%.*s", (int)(name - family), line + family);
	if (!suffix_fits(r->type, suffix))
		fail_msg("%s does not suit a %s: %s", suffix, r->type, line);
	const char *value = read_labels(line + name);
	assert_int_equal(*value, ' ');
	strtod(value + 1, &end);
	assert_true(end > value + 1 && *end == '\0');
	line[value - line] = '\0';
	once(r->seen, &r->samples, line);
}

static void read_all(struct reader *r, char *text)
{
	assert_true(slice_ends(slice_of(text), "\n"));
	for (char *line = text, *next; (next = strchr(line, '\n')); line = next) {
		*next++ = '\0';
		assert_false(r->ended);
		if (line[0] == '#')
			read_comment(r, line);
		else
			read_sample(r, line);
	}
	assert_true(r->ended);
}

static char *render(const struct world *w)
{
	struct buf out;
	buf_init(&out, 1 << 20);
	metrics_render(&w->sources.metrics, &out);
	assert_false(out.failed);
	golden_add("metrics", "", buf_slice(&out));
	return buf_take(&out);
}

static void the_page_reads_back(void **state)
{
	(void)state;
	static struct reader r;
	struct world w;
	world_open(&w, "a \"queue\"\n\\ with \xFF");
	w.api.counts = 2;
	w.api.count[0] = (struct kube_count){KUBE_PATCH, 200, 17};
	w.api.count[1] = (struct kube_count){KUBE_GET, 0, 1};
	w.sources.metrics.refusals[0] = (struct metrics_refusal){"stranger", 7};
	w.sources.metrics.nrefusals = 1;
	world_add_job(&w, 1, "train");
	world_note(&w, NOTE_START, "a \"queue\"\n\\ with \xFF", 1500);
	counters_pass(w.counters, 40);
	char *text = render(&w);
	assert_non_null(strstr(text, "sluice_node_agents_refused_total{reason=\"stranger\"} 7\n"));
	read_all(&r, text);
	assert_true(r.families > 15);
	free(text);
	for (size_t i = 0; i < r.families; i++)
		free(r.names[i]);
	for (size_t i = 0; i < r.samples; i++)
		free(r.seen[i]);
	world_close(&w);
}

static void add_calendars(struct world *w)
{
	static const char *const queues[] = {"batch"};
	struct zone *utc = zone_utc();
	struct window_spec week = {.name = "week", .shape = WINDOW_WEEK, .to = {6, 1440}};
	struct calendar_spec always = {
		.name = "always", .time_zone = "UTC", .zone = utc, .window = &week, .nwindows = 1};
	struct runpolicy_spec policy = {
		.name = "p", .queues = queues, .nqueues = 1, .calendar = "nobody"};
	bool again;
	struct err e = {""};
	if (queue_set_calendar(w->queue, &always, &e) != 0 ||
		queue_set_runpolicy(w->queue, &policy, &again, &e) != 0)
		fail_msg("%s", e.text);
	queue_reject_calendar(w->queue, "odd", "spec.open: names no window");
	queue_reject_advance_reservation(w->queue, "odd", "spec.flavors: reserves nothing");
	zone_free(utc);
}

static void numbers_are_where_they_belong(void **state)
{
	(void)state;
	static const char *const lines[] = {
		"sluice_pending_jobs{cluster_queue=\"batch\"} 2\n",
		"sluice_queue_active{cluster_queue=\"batch\"} 1\n",
		"sluice_jobs_no_node_suits{cluster_queue=\"batch\"} 0\n",
		"sluice_jobs_beyond_resource_quota{cluster_queue=\"batch\"} 0\n",
		"sluice_quota{cluster_queue=\"batch\",flavor=\"spot\",resource=\"cpu\",kind="
		"\"nominal\"} "
		"40.000\n",
		"sluice_quota{cluster_queue=\"batch\",flavor=\"on-demand\",resource=\"cpu\",kind="
		"\"nominal\"} 0.500\n",
		"sluice_quota{cluster_queue=\"batch\",flavor=\"spot\",resource=\"memory\",kind="
		"\"nominal\"} 68719476736\n",
		"sluice_admissions_total{cluster_queue=\"batch\"} 3\n",
		"sluice_stops_total{cluster_queue=\"batch\"} 1\n",
		"sluice_evicted_workloads_total{cluster_queue=\"batch\",reason=\"Preempted\"} 1\n",
		"sluice_requeued_workloads_total{cluster_queue=\"batch\",reason=\"Preempted\"} 1\n",
		"sluice_preempted_workloads_total{preempting_cluster_queue=\"other\",reason="
		"\"InCohortReclamation\"} 1\n",
		"sluice_work_lost_seconds_total{cluster_queue=\"batch\",reason=\"Preempted\"} "
		"90.500\n",
		"sluice_work_lost_seconds_total{cluster_queue=\"batch\",reason=\"WindowClosed\"} "
		"0.000\n",
		"sluice_job_troubles_total{cluster_queue=\"batch\",reason=\"Unschedulable\"} 2\n",
		"sluice_cost_total{cluster_queue=\"batch\",currency=\"EUR\"} 0.50\n",
		"sluice_window_open{calendar=\"always\"} 1\n",
		"sluice_calendar_condition{calendar=\"always\",reason=\"Valid\"} 1\n",
		"sluice_calendar_condition{calendar=\"odd\",reason=\"InvalidSpec\"} 1\n",
		"sluice_advance_reservation_accepted{advance_reservation=\"odd\",reason=\"InvalidSpec\"} "
		"1\n",
		"sluice_advance_reservation_stopped_runs_total{advance_reservation=\"odd\"} 0\n",
		"sluice_run_policy_condition{run_policy=\"p\",reason=\"CalendarNotFound\"} 1\n",
		"sluice_pending_workloads{cluster_queue=\"batch\",status=\"active\"} 2\n",
		"sluice_pending_workloads{cluster_queue=\"batch\",status=\"inadmissible\"} 0\n",
		"sluice_admission_wait_seconds_bucket{cluster_queue=\"batch\",le=\"1.0\"} 1\n",
		"sluice_admission_wait_seconds_bucket{cluster_queue=\"batch\",le=\"5.0\"} 2\n",
		"sluice_admission_wait_seconds_bucket{cluster_queue=\"batch\",le=\"+Inf\"} 3\n",
		"sluice_admission_wait_seconds_count{cluster_queue=\"batch\"} 3\n",
		"sluice_events_total 7\n",
		"sluice_events_dropped_total 1\n",
		"sluice_forecast_plays_total 32\n",
		"sluice_forecast_failures_total 1\n",
		"sluice_forecast_cpu_seconds_total 12.345678\n",
		"sluice_forecast_age_seconds 4.500\n",
		"sluice_ledger_up 1\n",
		"sluice_leader 0\n",
		"sluice_gate_jobs{phase=\"waiting\"} 2\n",
	};
	struct world w;
	world_open(&w, "batch");
	world_add_job(&w, 1, "one");
	world_add_job(&w, 2, "two");
	world_note(&w, NOTE_START, "batch", 500);
	world_note(&w, NOTE_START, "batch", 1500);
	world_note(&w, NOTE_START, "batch", 8 * 86400 * (int64_t)1000);
	world_note(&w, NOTE_STOP, "batch", 0);
	world_note(&w, NOTE_TROUBLE, "batch", 0);
	world_note(&w, NOTE_TROUBLE, "batch", 0);
	world_note(&w, NOTE_RELEASE, "batch", 0);
	world_note(&w, NOTE_RELEASE, "batch", 0);
	add_calendars(&w);
	char *text = render(&w);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strstr(text, lines[i]))
			fail_msg("missing: %s in\n%s", lines[i], text);
	free(text);
	world_close(&w);
}

/* Prometheus' increase() does not see what a series begins with. */
static void work_lost_begins_with_0(void **state)
{
	static const char before[] = "sluice_work_lost_seconds_total{cluster_queue=\"batch\","
				     "reason=\"Preempted\"} 0.000\n";
	static const char after[] = "sluice_work_lost_seconds_total{cluster_queue=\"batch\","
				    "reason=\"Preempted\"} 90.500\n";
	(void)state;
	struct world w;
	world_open(&w, "batch");
	char *text = render(&w);
	assert_non_null(strstr(text, before));
	free(text);
	world_note(&w, NOTE_STOP, "batch", 0);
	text = render(&w);
	assert_non_null(strstr(text, after));
	assert_null(strstr(text, before));
	free(text);
	world_close(&w);
}

/* An alert on how long Jobs of a ClusterQueue wait begins with its first start, and is not misled by
 * another ClusterQueue, nor by one that only a LocalQueue names. */
static void waits_are_of_a_queue_and_begin_with_0(void **state)
{
	static const char *const before[] = {
		"sluice_admission_wait_seconds_count{cluster_queue=\"batch\"} 0\n",
		"sluice_admission_wait_seconds_bucket{cluster_queue=\"batch\",le=\"+Inf\"} 0\n"};
	static const char *const after[] = {
		"sluice_admission_wait_seconds_bucket{cluster_queue=\"batch\",le=\"1.0\"} 0\n",
		"sluice_admission_wait_seconds_bucket{cluster_queue=\"batch\",le=\"5.0\"} 1\n",
		"sluice_admission_wait_seconds_sum{cluster_queue=\"batch\"} 1.5\n",
		"sluice_admission_wait_seconds_count{cluster_queue=\"gone\"} 2\n"};
	(void)state;
	struct world w;
	world_open(&w, "batch");
	world_note(&w, NOTE_STOP, "batch", 0);
	world_note(&w, NOTE_STOP, "nobody", 0);
	char *text = render(&w);
	for (size_t i = 0; i < 2; i++)
		assert_non_null(strstr(text, before[i]));
	assert_null(strstr(text, "sluice_admission_wait_seconds_count{cluster_queue=\"nobody\"}"));
	free(text);
	world_note(&w, NOTE_START, "batch", 1500);
	world_note(&w, NOTE_START, "gone", 10);
	world_note(&w, NOTE_START, "gone", 10);
	text = render(&w);
	for (size_t i = 0; i < 4; i++)
		assert_non_null(strstr(text, after[i]));
	for (size_t i = 0; i < 2; i++)
		assert_null(strstr(text, before[i]));
	free(text);
	world_close(&w);
}

static void assert_told(struct world *w, const char *line, bool is)
{
	char *text = render(w);
	if ((strstr(text, line) != NULL) != is)
		fail_msg("%s is %stold", line, is ? "not " : "");
	free(text);
}

/* A team makes a ClusterQueue for each project. */
static void a_queue_is_forgotten_an_hour_after_nothing_is_held_in_it(void **state)
{
	static const char *const of_gone[] = {
		"sluice_admission_wait_seconds_count{cluster_queue=\"gone\"} 1\n",
		"sluice_admissions_total{cluster_queue=\"gone\"} 1\n",
		"sluice_work_lost_seconds_total{cluster_queue=\"gone\",reason=\"Preempted\"} 90.500\n"};
	static const char batch[] = "sluice_admissions_total{cluster_queue=\"batch\"} 1\n";
	static const struct quota_line lines[] = {{"cq/batch", "spot", "cpu", 12000}};
	const int64_t minute_ms = 60000;
	(void)state;
	struct world w;
	world_open(&w, "batch");
	world_note(&w, NOTE_START, "gone", 10);
	world_note(&w, NOTE_STOP, "gone", 0);
	world_note(&w, NOTE_START, "batch", 10);
	world_note(&w, NOTE_STOP, "batch", 0);
	for (int64_t at = 1; at <= 60; at++)
		counters_forget_gone(w.counters, w.queue, at * minute_ms);
	for (size_t i = 0; i < 3; i++)
		assert_told(&w, of_gone[i], true);
	counters_forget_gone(w.counters, w.queue, 61 * minute_ms);
	assert_told(&w, "cluster_queue=\"gone\"", false);
	assert_told(&w, batch, true);
	world_note(&w, NOTE_STOP, "batch", 0);
	assert_told(&w,
		"sluice_work_lost_seconds_total{cluster_queue=\"batch\",reason=\"Preempted\"} 181.000\n",
		true);

	world_add_job(&w, 1, "one");
	assert_true(queue_adopt_job(w.queue, &(struct uid){{1}}, lines, 1, 1));
	queue_drop_clusterqueue(w.queue, "batch");
	counters_forget_gone(w.counters, w.queue, 200 * minute_ms);
	assert_told(&w, batch, true);
	queue_release_job(w.queue, &(struct uid){{1}}, 1, 0);
	counters_forget_gone(w.counters, w.queue, 259 * minute_ms);
	assert_told(&w, batch, true);
	counters_forget_gone(w.counters, w.queue, 260 * minute_ms);
	assert_told(&w, batch, false);
	world_close(&w);
}

/* Names of those for which Jobs only wait are whatever LocalQueues say. */
static void a_queue_that_is_gone_has_rows_while_quota_is_held_in_it(void **state)
{
	static const struct quota_line lines[] = {{"cq/batch", "spot", "cpu", 12000}};
	(void)state;
	struct world w;
	world_open(&w, "batch");
	world_add_job(&w, 1, "one");
	world_add_job(&w, 2, "two");
	assert_true(queue_adopt_job(w.queue, &(struct uid){{1}}, lines, 1, 1));
	queue_drop_clusterqueue(w.queue, "batch");
	char *text = render(&w);
	assert_non_null(strstr(text, "sluice_queue_active{cluster_queue=\"batch\"} 0\n"));
	assert_non_null(strstr(text, "sluice_reserving_jobs{cluster_queue=\"batch\"} 1\n"));
	assert_non_null(strstr(text, "sluice_pending_jobs{cluster_queue=\"batch\"} 1\n"));
	assert_non_null(strstr(text,
		"sluice_quota{cluster_queue=\"batch\",flavor=\"spot\",resource=\"cpu\",kind="
		"\"reserved\"} 12.000\n"));
	assert_non_null(strstr(text, "sluice_jobs_without_queue 1\n"));
	free(text);
	queue_release_job(w.queue, &(struct uid){{1}}, 1, 0);
	text = render(&w);
	assert_null(strstr(text, "{cluster_queue=\"batch\"}"));
	assert_non_null(strstr(text, "sluice_jobs_without_queue 2\n"));
	free(text);
	world_close(&w);
}

/* What alerts and the dashboard ask for is there: each family, and no other name. */
static void assert_named(const char *file, const char *page)
{
	char path[512], name[128], type[160];
	static char text[1 << 20];
	snprintf(path, sizeof(path), "%s/deploy/monitoring/%s", SOURCE_DIR, file);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	size_t found = 0;
	for (const char *p = text; (p = strstr(p, "sluice_"));) {
		size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyz_");
		snprintf(name, sizeof(name), "%.*s", (int)n, p);
		p += n;
		static const char *const suffixes[] = {"_total", "_bucket", "_count", "_sum"};
		for (size_t i = 0; i < 4; i++)
			if (slice_ends(slice_of(name), suffixes[i]))
				name[strlen(name) - strlen(suffixes[i])] = '\0';
		snprintf(type, sizeof(type), "# TYPE %s ", name);
		if (!strstr(page, type))
			fail_msg("%s names %s, which is not on /metrics", file, name);
		found++;
	}
	assert_true(found > 10);
}

static void alerts_and_the_dashboard_ask_for_what_there_is(void **state)
{
	(void)state;
	struct world w;
	world_open(&w, "batch");
	char *text = render(&w);
	assert_named("alerts.yaml", text);
	assert_named("dashboard.json", text);
	free(text);
	world_close(&w);
}

/* Seed 004's, word for word, and what they ask for is on the page. */
static void the_dashboard_asks_for_idle_resources_as_ack_does(void **state)
{
	static const char *const queries[] = {
		"koordlet_node_resource_allocatable{resource=\\\"kubernetes.io/batch-cpu\\\",node="
		"\\\"$node\\\"}",
		"koordlet_container_resource_requests{resource=\\\"kubernetes.io/"
		"batch-cpu\\\",node="
		"\\\"$node\\\"}",
		"kube_node_status_allocatable{resource=\\\"kubernetes.io/batch-memory\\\",node="
		"\\\"$node\\\"}",
		"koordlet_container_resource_requests{resource=\\\"kubernetes.io/"
		"batch-memory\\\",node="
		"\\\"$node\\\"}",
	};
	static char board[1 << 20];
	char type[160];
	struct world w;
	(void)state;
	world_open(&w, "batch");
	char *text = render(&w);
	FILE *f = fopen(SOURCE_DIR "/deploy/monitoring/dashboard.json", "r");
	assert_non_null(f);
	board[fread(board, 1, sizeof(board) - 1, f)] = '\0';
	fclose(f);
	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
		if (!strstr(board, queries[i]))
			fail_msg("the dashboard does not ask for %s", queries[i]);
		snprintf(type, sizeof(type), "# TYPE %.*s ", (int)strcspn(queries[i], "{"),
			queries[i]);
		assert_non_null(strstr(text, type));
	}
	free(text);
	world_close(&w);
}

static void what_agents_of_nodes_were_refused_is_told_by_its_reason(void **state)
{
	(void)state;
	struct world w;
	world_open(&w, "batch");
	assert_told(&w, "sluice_node_agents_refused_total", false);
	w.sources.metrics.refusals[0] = (struct metrics_refusal){"stranger", 7};
	w.sources.metrics.nrefusals = 1;
	assert_told(&w, "sluice_node_agents_refused_total{reason=\"stranger\"} 7\n", true);
	world_close(&w);
}

static void a_standby_says_nothing_of_queues(void **state)
{
	(void)state;
	struct world w;
	world_open(&w, "batch");
	w.sources.metrics.decides = false;
	char *text = render(&w);
	assert_null(strstr(text, "sluice_window_open"));
	assert_null(strstr(text, "sluice_quota{"));
	assert_null(strstr(text, "sluice_pending_workloads"));
	assert_null(strstr(text, "sluice_gate_jobs"));
	assert_null(strstr(text, "sluice_jobs_in_trouble"));
	assert_null(strstr(text, "sluice_mass_stop_pending"));
	assert_null(strstr(text, "sluice_admission_wait_seconds_count"));
	assert_non_null(strstr(text, "sluice_leader"));
	free(text);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_reads_back),
		cmocka_unit_test(a_queue_that_is_gone_has_rows_while_quota_is_held_in_it),
		cmocka_unit_test(numbers_are_where_they_belong),
		cmocka_unit_test(work_lost_begins_with_0),
		cmocka_unit_test(waits_are_of_a_queue_and_begin_with_0),
		cmocka_unit_test(a_queue_is_forgotten_an_hour_after_nothing_is_held_in_it),
		cmocka_unit_test(alerts_and_the_dashboard_ask_for_what_there_is),
		cmocka_unit_test(the_dashboard_asks_for_idle_resources_as_ack_does),
		cmocka_unit_test(what_agents_of_nodes_were_refused_is_told_by_its_reason),
		cmocka_unit_test(a_standby_says_nothing_of_queues),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
