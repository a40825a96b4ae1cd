/* The parts of `sluice simulate`: its command line, traces, CronJobs' schedules, the agenda. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/agenda.h"
#include "base/must.h"
#include "cli/simulate/options.h"
#include "cli/simulate/time_axis.h"
#include "cli/simulate/trace.h"
#include "controller/wire/decode_text.h"
#include "queue/calendar/zone.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
enum { WORDS_MAX = 12 };

/* ---- the command line ------------------------------------------------------------------------ */

static int parse(const char *const *words, struct simulate_options *o, struct err *e)
{
	char *argv[WORDS_MAX + 2] = {(char *)"simulate"};
	static char kept[WORDS_MAX][128];
	int argc = 1;
	for (size_t i = 0; i < WORDS_MAX && words[i]; i++)
		argv[argc++] = strcpy(kept[i], words[i]);
	return flags_read(&simulate_flags, argc, argv, o, e);
}

static void files_may_follow_one_f(void **state)
{
	(void)state;
	static const char *const orders[][WORDS_MAX] = {
		{"-f", "a.yaml", "b.yaml", "-", "-o", "json"},
		{"-f", "a.yaml", "-f", "b.yaml", "-f", "-", "-ojson"},
		{"-o", "json", "-f", "a.yaml", "b.yaml", "--filename=-"},
		{"-o", "json", "--", "a.yaml", "b.yaml", "-"},
	};
	for (size_t i = 0; i < COUNT(orders); i++) {
		struct simulate_options o;
		struct err e = {""};
		assert_int_equal(parse(orders[i], &o, &e), 0);
		assert_int_equal(o.nmanifests, 3);
		assert_string_equal(o.manifest[0], "a.yaml");
		assert_string_equal(o.manifest[1], "b.yaml");
		assert_string_equal(o.manifest[2], "-");
		assert_int_equal(o.output, SIMULATE_JSON);
		flags_done(&simulate_flags, &o);
	}
}

static void all_flags(void **state)
{
	(void)state;
	static const char *const words[] = {"-fa", "--trace=t.swf.gz", "--compress=1.5",
		"--queue=ns/q", "--until=1h30m", "--seed=7", "--trace-deadline=24h",
		"--trace-start=Cheapest", "--trace-estimates=exact", "--trace-min-parallelism=0.5",
		"--trace-grow", NULL};
	struct simulate_options o;
	struct err e = {""};
	assert_int_equal(parse(words, &o, &e), 0);
	assert_string_equal(o.trace, "t.swf.gz");
	assert_true(o.compress == 1.5);
	assert_true(o.terms.deadline_ms == 86400000 && o.terms.cheapest && o.terms.exact);
	assert_true(o.terms.min_parallelism == 0.5 && o.terms.grow && o.terms.seed == 7);
	assert_string_equal(o.queue, "ns/q");
	assert_true(o.has_until && !o.until_is_time);
	assert_int_equal(o.until_ms, 5400000);
	flags_done(&simulate_flags, &o);
}

static void a_cluster_needs_no_files(void **state)
{
	(void)state;
	static const char *const words[] = {"--from-cluster", "--assume-duration=2h",
		"--kubeconfig=k", "--context", "c", "--config-namespace=here", NULL};
	struct simulate_options o;
	struct err e = {""};
	assert_int_equal(parse(words, &o, &e), 0);
	assert_true(o.from_cluster && o.nmanifests == 0);
	assert_int_equal(o.assumed_ms, 7200000);
	assert_string_equal(o.kube.kubeconfig, "k");
	assert_string_equal(o.kube.context, "c");
	assert_string_equal(o.config_namespace, "here");
	flags_done(&simulate_flags, &o);
}

/* Each of the controller's: its own tests have what they mean. */
static void the_flags_of_the_controller(void **state)
{
	(void)state;
	static const char *const words[] = {"-fa", "--fair-sharing",
		"--fair-preemption-strategies=LessThanInitialShare,LessThanOrEqualToFinalShare",
		"--wait-for-pods-ready=5m", "--usage-half-life", "1h",
		"--exclude-resource-prefixes=a.io/", "--transformation=x=y:2;replace", NULL};
	struct simulate_options o;
	struct err e = {""};
	assert_int_equal(parse(words, &o, &e), 0);
	const struct queue_config *c = &o.settings.config;
	assert_true(c->fair_sharing);
	assert_int_equal(c->nfair_strategies, 2);
	assert_int_equal(c->fair_strategy[0], FAIR_LESS_THAN_INITIAL_SHARE);
	assert_int_equal(c->fair_strategy[1], FAIR_LESS_THAN_OR_EQUAL_TO_FINAL_SHARE);
	assert_int_equal(c->recovery_timeout_ms, 300000);
	assert_int_equal(c->usage_half_life_ms, 3600000);
	assert_string_equal(c->excluded_prefixes[0], "a.io/");
	assert_string_equal(c->transformation[0].output[0].name, "y");
	flags_done(&simulate_flags, &o);
}

static void a_mistake_gets_a_sentence(void **state)
{
	(void)state;
	static const struct {
		const char *words[WORDS_MAX];
		const char *says;
	} cases[] = {
		{{NULL}, "there are no manifests"},
		{{"-f"}, "-f wants a value"},
		{{"-f", "a", "--until"}, "--until wants a value"},
		{{"-f", "a", "--until", "soon"}, "--until is \"soon\"; it must be a duration"},
		{{"-f", "a", "-o", "wide"}, "it must be table, json or svg"},
		{{"-f", "a", "--compress", "0", "--trace", "t"}, "a number above 0"},
		{{"-f", "a", "--trace", "t", "--trace-deadline", "1y"},
			"--trace-deadline is \"1y\"; it must be a duration such as 24h"},
		{{"-f", "a", "--trace", "t", "--trace-start", "cheap"},
			"--trace-start is \"cheap\"; it must be Asap or Cheapest"},
		{{"-f", "a", "--trace", "t", "--trace-estimates", "no"},
			"--trace-estimates is \"no\"; it must be requested or exact"},
		{{"-f", "a", "--trace", "t", "--trace-min-parallelism", "1.5"},
			"--trace-min-parallelism is \"1.5\"; it must be a part of a job's processors"},
		{{"-f", "a", "--trace", "t", "--trace-grow"},
			"--trace-grow needs --trace-min-parallelism"},
		{{"-f", "a", "--trace-min-parallelism", "1"}, "are for --trace FILE.swf"},
		{{"-f", "a", "--trace-start", "Cheapest"}, "are for --trace FILE.swf"},
		{{"-f", "a", "--compress", "nan", "--trace", "t"}, "a number above 0"},
		{{"-f", "a", "--queue", "a/b"}, "are for --trace FILE.swf"},
		{{"-f", "a", "--seed", "x"}, "a whole number"},
		{{"-f", "a", "--config-namespace=b"}, "are for --from-cluster"},
		{{"-f", "a", "--kubeconfig=k"}, "are for --from-cluster"},
		{{"--from-cluster", "--assume-duration=soon"},
			"--assume-duration is \"soon\"; it must be a duration such as 2h"},
		{{"--from-cluster", "--config-namespace=A/b"}, "--config-namespace"},
		{{"-f", "a", "--fast"}, "--fast is not a flag"},
		{{"-f", "a", "--fair-preemption-strategies", "Other"},
			"LessThanOrEqualToFinalShare, LessThanInitialShare, or both"},
		{{"-f", "a", "--fair-sharing=yes"}, "this flag takes no value"},
		{{"-f", "a", "--requeue-backoff-base=2h"}, "is longer than --requeue-backoff-max"},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct simulate_options o;
		struct err e = {""};
		assert_int_not_equal(parse(cases[i].words, &o, &e), 0);
		if (!strstr(e.text, cases[i].says))
			fail_msg("case %zu says: %s", i, e.text);
	}
}

/* ---- traces ---------------------------------------------------------------------------------- */

static bool same_job(const struct trace_job *a, const struct trace_job *b)
{
	return a->number == b->number && a->submit_ms == b->submit_ms && a->run_ms == b->run_ms &&
	       a->requested_ms == b->requested_ms && a->user == b->user &&
	       a->processors == b->processors && a->preceding == b->preceding &&
	       a->think_ms == b->think_ms;
}

static void a_line_becomes_a_job(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		double compress;
		int rc;
		struct trace_job job;
		const char *says;
	} cases[] = {
		{"7 100 -1 50 4 -1 -1 8 60 -1 1 3 1 -1 2 -1 -1 -1", 1, 1,
			{7, 100000, 50000, 60000, 3, 8, -1, 0}, ""},
		/* requested processors and time unknown: what it was given and took */
		{"7 100 -1 50 4 -1 -1 -1 -1 -1 1 3 1 -1 2 -1 -1 -1", 1, 1,
			{7, 100000, 50000, 50000, 3, 4, -1, 0}, ""},
		/* compressed: whole seconds, rounded down */
		{"7 100 0 50 4 -1 -1 -1 -1 -1 1 3 1 -1 2 -1 -1 -1", 3, 1,
			{7, 33000, 50000, 50000, 3, 4, -1, 0}, ""},
		{"7 99 0 50 4", 0.5, 1, {7, 198000, 50000, 50000, -1, 4, -1, 0}, ""},
		{"\t 7 1.9 0.5 50.7 4 0.25\r\n", 1, 1, {7, 1900, 50700, 50700, -1, 4, -1, 0}, ""},
		{"7 0.5 0 0.0126 4 -1 -1 4 .25", 1, 1, {7, 500, 12, 250, -1, 4, -1, 0}, ""},
		{"7 100 -1 0 1 -1 -1 0 0", 1, 1, {7, 100000, 0, 0, -1, 1, -1, 0}, ""},
		/* submitted 30 s after job 5 had ended; compressed, 15 s */
		{"7 100 -1 50 4 -1 -1 -1 -1 -1 1 3 1 -1 2 -1 5 30", 2, 1,
			{7, 50000, 50000, 50000, 3, 4, 5, 15000}, ""},
		/* no preceding job, or a think time that is not known */
		{"7 100 -1 50 4 -1 -1 -1 -1 -1 1 3 1 -1 2 -1 0 30", 1, 1,
			{7, 100000, 50000, 50000, 3, 4, -1, 30000}, ""},
		{"7 100 -1 50 4 -1 -1 -1 -1 -1 1 3 1 -1 2 -1 5 -1", 1, 1,
			{7, 100000, 50000, 50000, 3, 4, 5, 0}, ""},
		{"7 100 -1 -1 4", 1, 0, {0}, ""}, /* it never ran */
		{"7 100 -1 50 0", 1, 0, {0}, ""},
		{"7 -1 0 50 4 -1 -1 4 200 -1 2", 1, 0, {0}, ""}, /* a part of one */
		{"7 -1 10 50 4 -1 -1 4 200 -1 3", 1, 0, {0}, ""},
		{"; MaxNodes: 128", 1, 0, {0}, ""},
		{"   ", 1, 0, {0}, ""},
		{"7 100 -1", 1, -1, {0}, "has 3 fields"},
		{"7 100 -1 x 4", 1, -1, {0}, "field 4 is not a number"},
		{"7 -5 -1 50 4", 1, -1, {0}, "submit time, is negative"},
		{"7 99999999999 -1 50 4", 1, -1, {0}, "more than 100 years"},
		{"7 100 -1 50 4", 1e-9, -1, {0}, "more than 100 years"},
		{"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19", 1, -1, {0},
			"more than 18 fields"},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct trace t = {0};
		struct err e = {""};
		int rc = trace_line(&t, cases[i].line, cases[i].compress, &e);
		if (rc != cases[i].rc || !strstr(e.text, cases[i].says))
			fail_msg("case %zu: %d %s", i, rc, e.text);
		assert_int_equal(t.njobs, rc > 0);
		if (rc > 0 && !same_job(&t.job[0], &cases[i].job))
			fail_msg("case %zu is another job", i);
		trace_done(&t);
	}
}

static void applications_have_numbers(void **state)
{
	(void)state;
	struct trace t = {0};
	assert_int_equal(trace_line(&t, "7 100 -1 50 4 -1 -1 8 60 -1 1 3 1 17 2", 1, NULL), 1);
	assert_int_equal(trace_line(&t, "7 100 -1 50 4 -1 -1 8 60 -1 1 3 1 -1 2", 1, NULL), 1);
	assert_int_equal(
		trace_line(&t, "7 100 -1 50 4 -1 -1 8 60 -1 1 3 1 2147483648 2", 1, NULL), 1);
	assert_int_equal(t.job[0].application, 17);
	assert_int_equal(t.job[1].application, -1);
	assert_int_equal(t.job[2].application, -1);
	trace_done(&t);
}

static void a_trace_knows_its_epoch_and_who_is_left_out(void **state)
{
	(void)state;
	struct trace t = {0};
	trace_line(&t, "; UnixStartTime: 749458803", 1, NULL);
	trace_line(&t, "1 0 -1 -1 4", 1, NULL);
	trace_line(&t, "2 0 -1 10 -1", 1, NULL);
	assert_int_equal(t.start_ms, INT64_C(749458803000));
	assert_int_equal(t.nskipped, 2);
	/* of a job that was interrupted, its line counts, and not those of its parts */
	assert_int_equal(trace_line(&t, "1 0 0 100 4 -1 -1 4 200 -1 1", 1, NULL), 1);
	trace_line(&t, "1 -1 0 50 4 -1 -1 4 200 -1 2", 1, NULL);
	trace_line(&t, "1 -1 10 50 4 -1 -1 4 200 -1 4", 1, NULL);
	assert_int_equal(t.njobs, 1);
	assert_int_equal(t.nparts, 2);
	trace_done(&t);
}

static void jobs_are_sorted_by_submit_and_stay_in_order(void **state)
{
	(void)state;
	struct trace t = {0};
	char line[64];
	for (int i = 0; i < 1000; i++) {
		snprintf(line, sizeof(line), "%d %d -1 1 1", i, i * 7919 % 100);
		trace_line(&t, line, 1, NULL);
	}
	trace_sort(&t);
	for (size_t i = 1; i < t.njobs; i++) {
		assert_true(t.job[i - 1].submit_ms <= t.job[i].submit_ms);
		if (t.job[i - 1].submit_ms == t.job[i].submit_ms)
			assert_true(t.job[i - 1].number < t.job[i].number);
	}
	trace_done(&t);
}

static void a_preceding_job_comes_before(void **state)
{
	(void)state;
	static const char *const lines[] = {
		"3 20 -1 1 1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 1 5", /* job 1 comes before */
		"1 10 -1 1 1", "2 10 -1 1 1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 3 5", /* comes later */
		"4 30 -1 1 1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 4 5",		   /* itself */
		"5 30 -1 1 1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 9 5", /* there is none */
	};
	struct trace t = {0};
	for (size_t i = 0; i < COUNT(lines); i++)
		assert_int_equal(trace_line(&t, lines[i], 1, NULL), 1);
	trace_sort(&t);
	trace_link(&t);
	assert_true(t.has_preceding);
	for (size_t i = 0; i < t.njobs; i++)
		assert_int_equal(t.job[i].preceding, t.job[i].number == 3 ? 0 : TRACE_NONE);
	trace_done(&t);
}

static void a_bad_file_gets_its_line(void **state)
{
	(void)state;
	char path[] = "/tmp/sluice-trace-XXXXXX", says[128];
	FILE *f = fdopen(mkstemp(path), "w");
	struct trace t;
	struct err e = {""};
	must(f);
	fputs("; a comment\n1 0 -1 10 1\n2 zero -1 10 1\n", f);
	fclose(f);
	assert_int_equal(trace_read(path, 1, &t, &e), ERR_INVALID);
	snprintf(says, sizeof(says), "%s:3: field 2 is not a number", path);
	assert_memory_equal(e.text, says, strlen(says));
	remove(path);
	assert_int_equal(trace_read(path, 1, &t, &e), ERR_GONE);
}

static void a_file_may_begin_with_a_byte_order_mark(void **state)
{
	(void)state;
	char path[] = "/tmp/sluice-trace-XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");
	struct trace t;
	struct err e = {""};
	must(f);
	fputs("\xEF\xBB\xBF; UnixStartTime: 7.5\n1 0 -1 10 1\n", f);
	fclose(f);
	assert_int_equal(trace_read(path, 1, &t, &e), 0);
	remove(path);
	assert_int_equal(t.njobs, 1);
	assert_int_equal(t.start_ms, 7500);
	trace_done(&t);
}

/* ---- the agenda ------------------------------------------------------------------------------ */

static void events_come_in_a_total_order(void **state)
{
	(void)state;
	struct agenda a;
	struct event e, last = {0};
	size_t n = 0;
	agenda_init(&a);
	for (size_t i = 0; i < 5000; i++)
		agenda_put(&a, (int64_t)(i * 7919 % 97), (int)(i * 31 % 4), i, 0);
	assert_false(agenda_take(&a, -1, &e));
	for (; agenda_take(&a, INT64_MAX, &e); last = e, n++) {
		if (n == 0)
			continue;
		assert_true(last.at_ms <= e.at_ms);
		if (last.at_ms == e.at_ms)
			assert_true(last.kind <= e.kind);
		if (last.at_ms == e.at_ms && last.kind == e.kind)
			assert_true(last.subject < e.subject);
	}
	assert_int_equal(n, 5000);
	agenda_done(&a);
}

/* ---- the time axis ----------------------------------------------------------------------------- */

static void says_ticks(const struct zone *z, int64_t first_s, int64_t last_s, const char *expected)
{
	struct time_tick tick[TIME_AXIS_TICKS];
	char said[TIME_AXIS_TICKS * (TIME_AXIS_TEXT + 2)] = "";
	size_t n = time_axis(z, first_s * 1000, last_s * 1000, tick);
	for (size_t i = 0; i < n; i++) {
		strcat(said, i > 0 ? ", " : "");
		strcat(said, tick[i].text);
		assert_true(tick[i].at_ms >= first_s * 1000 && tick[i].at_ms <= last_s * 1000);
	}
	assert_string_equal(said, expected);
}

/* Berlin, when its clocks were put forward: that Sunday has 23 hours. */
static void ticks_are_round_local_times(void **state)
{
	static const struct zone_span spans[] = {
		{INT64_MIN, 3600, "CET", 0}, {1774746000, 7200, "CEST", 0}};
	(void)state;
	struct zone *z = zone_new("Europe/Berlin", spans, COUNT(spans));
	struct time_tick tick[TIME_AXIS_TICKS];
	says_ticks(z, 1774652400, 1774908000,
		"Sat 28 Mar, 12:00, Sun 29 Mar, 12:00, Mon 30 Mar, 12:00, Tue 31 Mar");
	assert_int_equal(time_axis(z, INT64_C(1774652400000), INT64_C(1774908000000), tick), 7);
	assert_true(tick[4].at_ms - tick[2].at_ms == 23 * INT64_C(3600000));
	says_ticks(z, 1774652460, 1774652500,
		"00:01:00, 00:01:05, 00:01:10, 00:01:15, 00:01:20, 00:01:25, "
		"00:01:30, 00:01:35, 00:01:40");
	says_ticks(z, 1774652400, 1774652400 + 28 * 86400,
		"Mon 30 Mar, Mon 06 Apr, Mon 13 Apr, Mon 20 Apr");
	zone_free(z);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_may_follow_one_f),
		cmocka_unit_test(all_flags),
		cmocka_unit_test(a_cluster_needs_no_files),
		cmocka_unit_test(the_flags_of_the_controller),
		cmocka_unit_test(a_mistake_gets_a_sentence),
		cmocka_unit_test(a_line_becomes_a_job),
		cmocka_unit_test(applications_have_numbers),
		cmocka_unit_test(a_trace_knows_its_epoch_and_who_is_left_out),
		cmocka_unit_test(a_preceding_job_comes_before),
		cmocka_unit_test(jobs_are_sorted_by_submit_and_stay_in_order),
		cmocka_unit_test(a_bad_file_gets_its_line),
		cmocka_unit_test(a_file_may_begin_with_a_byte_order_mark),
		cmocka_unit_test(events_come_in_a_total_order),
		cmocka_unit_test(ticks_are_round_local_times),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
