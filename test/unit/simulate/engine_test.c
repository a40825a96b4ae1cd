/* Whole runs: a trace against a FIFO written down as simply as can be, and the chart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/simulate/manifest.h"
#include "base/must.h"
#include "cli/simulate/engine.h"

enum { JOBS = 400, CPUS = 64 };

static const char queues[] =
	"apiVersion: sluice.dev/v1alpha1\nkind: ResourceFlavor\nmetadata: {name: node}\n---\n"
	"apiVersion: sluice.dev/v1alpha1\nkind: ClusterQueue\nmetadata: {name: big}\n"
	"spec: {namespaceSelector: {}, queueingStrategy: StrictFIFO, resourceGroups: "
	"[{coveredResources: [cpu], flavors: [{name: node, resources: [{name: cpu, nominalQuota: "
	"64}]}]}]}\n---\n"
	"apiVersion: sluice.dev/v1alpha1\nkind: LocalQueue\nmetadata: {name: main}\n"
	"spec: {clusterQueue: big}\n";

static uint64_t draw(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static void make_trace(struct trace *t, uint64_t seed)
{
	int64_t submit = 0;
	*t = (struct trace){0};
	for (int i = 1; i <= JOBS; i++) {
		char line[128];
		submit += (int64_t)(draw(&seed) % 20);
		snprintf(line, sizeof(line), "%d %lld -1 %llu %llu", i, (long long)submit,
			(unsigned long long)(draw(&seed) % 100),
			(unsigned long long)(1 + draw(&seed) % CPUS));
		assert_int_equal(trace_line(t, line, 1, NULL), 1);
	}
}

/* The earliest second at which this many cpus are free, not before `from`, when `n` jobs have
 * started at start[] already. First come, first served: nobody starts before somebody ahead. */
static int64_t first_fit(
	const struct trace_job *job, const int64_t *start, int n, int cpus, int64_t from)
{
	for (int64_t at = from;; at++) {
		int64_t used = 0;
		for (int i = 0; i < n; i++)
			if (start[i] <= at && at < start[i] + job[i].run_ms / 1000)
				used += job[i].processors;
		if (used + cpus <= CPUS)
			return at;
	}
}

struct run {
	char *text;
	struct buf drawing;
	size_t admitted, finished, waiting;
	int64_t makespan_ms;
	double share;
};

static void run_this_trace(struct trace *t, struct run *r)
{
	struct queue_config config;
	struct world w;
	struct summary s;
	struct journal journal;
	struct chart chart;
	struct err e = {""};
	size_t size;
	FILE *out = open_memstream(&r->text, &size);
	queue_config_default(&config);
	world_init(&w, &config);
	assert_int_equal(manifest_read_text(&w, "queues", slice_of(queues), &e), 0);
	if (world_add_trace(&w, t, "default/main", &(struct trace_terms){0}, &e) != 0)
		fail_msg("%s", e.text);
	assert_int_equal(world_close(&w, &e), 0);
	summary_init(&s, &w);
	journal_init_json(&journal, &w, out);
	chart_init(&chart, &w, &s);
	engine_run(&w, NEVER_MS, false,
		&(struct observers){.summary = &s, .journal = &journal, .chart = &chart});
	journal_done(&journal);
	fclose(out);
	buf_init(&r->drawing, 16 << 20);
	chart_render(&chart, &r->drawing);
	r->admitted = s.admitted;
	r->finished = s.finished;
	r->waiting = s.waiting;
	r->makespan_ms = s.last_ms - s.first_ms;
	r->share = s.column[0].area / ((double)s.column[0].capacity * (double)r->makespan_ms);
	chart_done(&chart);
	summary_done(&s);
	world_done(&w);
}

static void run_trace(uint64_t seed, struct run *r)
{
	struct trace t;
	make_trace(&t, seed);
	run_this_trace(&t, r);
}

static void free_run(struct run *r)
{
	free(r->text);
	buf_done(&r->drawing);
}

static void a_trace_under_fifo_is_what_a_naive_one_says(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct trace t;
		struct run r;
		int64_t start[JOBS], last = 0, end = 0;
		double area = 0;
		make_trace(&t, seed);
		run_trace(seed, &r);
		for (int i = 0; i < JOBS; i++) {
			const struct trace_job *j = &t.job[i];
			char want[128];
			int64_t submit = j->submit_ms / 1000, from = submit > last ? submit : last;
			start[i] = last = first_fit(t.job, start, i, j->processors, from);
			area += (double)(j->processors * j->run_ms) / 1000;
			if (start[i] + j->run_ms / 1000 > end)
				end = start[i] + j->run_ms / 1000;
			snprintf(want, sizeof(want),
				"\"ms\":%lld,\"event\":\"Admitted\",\"job\":\"default/%d\",",
				(long long)start[i] * 1000, i + 1);
			if (!strstr(r.text, want))
				fail_msg("seed %d: no %s", (int)seed, want);
		}
		assert_int_equal(r.admitted, JOBS);
		assert_int_equal(r.finished, JOBS);
		assert_int_equal(r.waiting, 0);
		assert_int_equal(r.makespan_ms, end * 1000 - t.job[0].submit_ms);
		double share = area / (CPUS * ((double)end - (double)t.job[0].submit_ms / 1000));
		assert_true(share - r.share < 1e-9 && r.share - share < 1e-9);
		trace_done(&t);
		free_run(&r);
	}
}

/* Field 17 is the preceding job, field 18 the think time. */
static void a_job_comes_when_the_preceding_one_has_ended(void **state)
{
	(void)state;
	static const char *const lines[] = {
		"1 0 -1 100 64",
		"2 10 -1 10 64 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 1 30",	/* ended at 100 */
		"3 20 -1 10 64 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 2 0",	/* of a chain */
		"4 500 -1 10 64 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 1 30", /* its own time is later */
		"5 500 -1 10 64 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 3 1000",
		"6 520 -1 -1 64", /* it never ran */
		"7 520 -1 10 64 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 6 30",
	};
	static const char *const says[] = {
		"\"ms\":0,\"event\":\"Admitted\",\"job\":\"default/1\"",
		"\"ms\":130000,\"event\":\"Admitted\",\"job\":\"default/2\"",
		"\"ms\":140000,\"event\":\"Admitted\",\"job\":\"default/3\"",
		"\"ms\":500000,\"event\":\"Admitted\",\"job\":\"default/4\"",
		"\"ms\":520000,\"event\":\"Admitted\",\"job\":\"default/7\"",
		"\"ms\":1150000,\"event\":\"Admitted\",\"job\":\"default/5\"",
	};
	struct trace t = {0};
	struct run r;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_true(trace_line(&t, lines[i], 1, NULL) >= 0);
	trace_sort(&t);
	trace_link(&t);
	run_this_trace(&t, &r);
	for (size_t i = 0; i < sizeof(says) / sizeof(*says); i++)
		if (!strstr(r.text, says[i]))
			fail_msg("no %s in %s", says[i], r.text);
	assert_int_equal(r.finished, 6);
	assert_non_null(strstr(r.text, "0s after the Job came"));
	free_run(&r);
}

static void two_runs_are_the_same_byte_for_byte(void **state)
{
	(void)state;
	struct run a, b;
	run_trace(42, &a);
	run_trace(42, &b);
	assert_string_equal(a.text, b.text);
	assert_string_equal(buf_text(&a.drawing), buf_text(&b.drawing));
	free_run(&a);
	free_run(&b);
}

/* Tags close in the order in which they were opened; all text is escaped. */
static void check_xml(const char *text)
{
	const char *open[16];
	size_t depth = 0;
	for (const char *p = strchr(text, '<'); p; p = strchr(p, '<')) {
		const char *end = p + strcspn(p, ">"), *name = p + 1 + (p[1] == '/');
		assert_int_equal(*end, '>');
		if (p[1] == '/') {
			must(depth > 0);
			size_t len = strcspn(open[--depth], " >");
			assert_memory_equal(open[depth], name, len);
		} else if (end[-1] != '/') {
			assert_true(depth < 16);
			open[depth++] = name;
		}
		p = end;
	}
	assert_int_equal(depth, 0);
	for (const char *p = strchr(text, '&'); p; p = strchr(p + 1, '&'))
		assert_true(strncmp(p, "&lt;", 4) == 0 || strncmp(p, "&gt;", 4) == 0 ||
			    strncmp(p, "&amp;", 5) == 0);
}

static void the_chart_is_well_formed(void **state)
{
	(void)state;
	struct run r;
	run_trace(7, &r);
	check_xml(buf_text(&r.drawing));
	assert_non_null(strstr(buf_text(&r.drawing), "<title>default/400, attempt 1"));
	free_run(&r);
}

static void a_trace_needs_its_queue(void **state)
{
	(void)state;
	static const struct {
		const char *queue, *says;
	} cases[] = {
		{NULL, "LocalQueue default/user--1, which no manifest describes"},
		{"default/other", "LocalQueue default/other, which no manifest describes"},
		{"main", "write NAMESPACE/NAME"},
		{"/main", "write NAMESPACE/NAME"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct queue_config config;
		struct world w;
		struct trace t;
		struct err e = {""};
		queue_config_default(&config);
		world_init(&w, &config);
		manifest_read_text(&w, "queues", slice_of(queues), &e);
		make_trace(&t, 1);
		assert_int_not_equal(
			world_add_trace(&w, &t, cases[i].queue, &(struct trace_terms){0}, &e), 0);
		if (!strstr(e.text, cases[i].says))
			fail_msg("case %zu says: %s", i, e.text);
		world_done(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_comes_when_the_preceding_one_has_ended),
		cmocka_unit_test(a_trace_under_fifo_is_what_a_naive_one_says),
		cmocka_unit_test(two_runs_are_the_same_byte_for_byte),
		cmocka_unit_test(the_chart_is_well_formed),
		cmocka_unit_test(a_trace_needs_its_queue),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
