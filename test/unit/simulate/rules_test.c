/* Time and money in manifests: what is refused and where, what becomes a warning, which times a Job
 * has, what a stop leaves of its work, and a play that would not end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/simulate/manifest.h"
#include "cli/simulate/engine.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define HOUR_MS INT64_C(3600000)

#define OURS(kind, name)                                                                           \
	"---\napiVersion: sluice.dev/v1alpha1\nkind: " kind "\nmetadata: {name: " name "}\n"
#define NIGHTS                                                                                     \
	OURS("Calendar", "nights")                                                                 \
	"spec:\n  timeZone: Europe/Berlin\n  open:\n"                                              \
	"  - {name: night, days: [Mon-Sun], from: \"19:00\", to: \"07:00\"}\n"
#define QUEUES                                                                                     \
	OURS("ResourceFlavor", "node")                                                             \
	OURS("ClusterQueue", "batch")                                                              \
	"spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: "       \
	"[{name: node, resources: [{name: cpu, nominalQuota: 8}]}]}]}\n"                           \
	"---\napiVersion: sluice.dev/v1alpha1\nkind: LocalQueue\nmetadata: {name: main}\n"         \
	"spec: {clusterQueue: batch}\n"
#define POLICY(at_close)                                                                           \
	OURS("RunPolicy", "at-night")                                                              \
	"spec:\n  queues: [batch]\n  calendar: nights\n  atClose: {" at_close "}\n"
#define PLAN                                                                                       \
	OURS("PricePlan", "power")                                                                 \
	"spec:\n  currency: EUR\n  base: {cpu: \"0.10\"}\n"                                        \
	"  rates: [{calendar: nights, factor: \"0.4\"}]\n"
#define JOB(notes, spec)                                                                           \
	"---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: train\n"                         \
	"  creationTimestamp: \"2026-01-12T12:00:00Z\"\n"                                          \
	"  labels: {sluice.dev/queue-name: main}\n  annotations: {" notes "}\n"                    \
	"spec:\n" spec "  template: {spec: {containers: [{name: m, resources: {requests: {cpu: "   \
	"1}}}]}}\n"

static int read_text(const char *text, struct world *w, struct err *e)
{
	struct queue_config config;
	queue_config_default(&config);
	world_init(w, &config);
	int rc = manifest_read_text(w, "in.yaml", slice_of(text), e);
	return rc < 0 ? rc : world_close(w, e);
}

static void must_read(const char *text, struct world *w)
{
	struct err e = {""};
	if (read_text(text, w, &e) != 0)
		fail_msg("%s", e.text);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void what_makes_no_sense_ends_the_reading(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} cases[] = {
		{OURS("Calendar", "a") "spec:\n  timeZone: Mars\n",
			"in.yaml:6: Calendar a: spec.timeZone: \"Mars\" is not in this machine's"},
		{NIGHTS NIGHTS, "in.yaml:12: Calendar nights: metadata.name: is that of another "
				"one at in.yaml:2; rename it"},
		{POLICY("") POLICY(""), "RunPolicy at-night: metadata.name: is that of another one "
					"at in.yaml:2; rename it"},
		{OURS("RunPolicy", "a") "spec:\n  calendar: nights\n",
			"in.yaml:5: RunPolicy a: spec"},
		{POLICY("notice: 1y"),
			"in.yaml:8: RunPolicy at-night: spec.atClose.notice: \"1y\""},
		{OURS("PricePlan", "a") "spec:\n  currency: EUR\n  base: {memory: \"1\"}\n",
			"in.yaml:7: PricePlan a: spec.base"},
		{OURS("Budget", "a") "spec:\n  queue: batch\n  period: Daily\n  timeZone: Mars\n"
				     "  currency: EUR\n  amount: \"5\"\n",
			"in.yaml:8: Budget a: spec.timeZone: \"Mars\" is not in this machine's"},
		{OURS("AdvanceReservation",
			 "a") "spec: {clusterQueue: batch, flavors: [{name: f}], from: "
			      "Monday, until: Tuesday}\n",
			"AdvanceReservation a: spec.from: \"Monday\" is not a time"},
		{JOB("sluice.dev/deadline: \"08:00 Mars/Base\"", ""),
			"in.yaml:8: Job default/train: metadata.annotations.sluice.dev/deadline"},
		{JOB("sluice.dev/simulate-checkpoint: often", ""),
			"in.yaml:8: Job default/train: "
			"metadata.annotations.sluice.dev/simulate-checkpoint: \"often\" is not a "
			"duration; write e.g. 30m"},
		{NIGHTS "  except:\n  - {name: h, treatAs: Closed, datesFrom: {configMap: h, key: "
			"k}}\n",
			"in.yaml:2: Calendar nights: spec.except[0].datesFrom: there is no "
			"ConfigMap \"h\""},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct world w;
		struct err e = {""};
		if (read_text(cases[i].text, &w, &e) == 0)
			fail_msg("case %zu was taken", i);
		if (!strstr(e.text, cases[i].says) || strncmp(e.text, "in.yaml:", 8) != 0)
			fail_msg("case %zu says: %s", i, e.text);
		world_done(&w);
	}
}

static void what_comes_to_nothing_is_a_warning(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says; /* NULL: nothing */
	} cases[] = {
		{NIGHTS POLICY("") PLAN, NULL},
		{OURS("Calendar", "never") "spec: {timeZone: UTC}\n",
			"in.yaml:2: Calendar never: NeverOpens: "},
		{POLICY(""), "in.yaml:2: RunPolicy at-night: CalendarNotFound: "},
		{NIGHTS OURS("RunPolicy", "lost") "spec: {queues: [nowhere], calendar: nights}\n",
			"in.yaml:10: RunPolicy lost: NoQueues: "},
		{NIGHTS PLAN OURS("Budget", "dollars") "spec: {queue: batch, period: Daily, "
						       "timeZone: UTC, currency: USD, amount: "
						       "\"5\"}\n",
			"in.yaml:10: PricePlan power: CurrencyMismatch: "},
		{NIGHTS PLAN "  series: {configMap: day-ahead, key: prices, staleAfter: 36h}\n",
			"in.yaml:10: PricePlan power: SeriesMissing: "},
		{NIGHTS OURS("PricePlan",
			 "power") "spec: {currency: EUR, base: {cpu: \"1\"}, rates: "
				  "[{calendar: nights, window: nigth, factor: \"2\"}]}\n",
			"in.yaml:10: PricePlan power: NameNotFound: spec.rates[0].window: Calendar "
			"nights has no window nigth (did you mean night?), so this rate never applies\n"},
		{NIGHTS POLICY("") "  localQueues: [nowhere/main]\n",
			"in.yaml:10: RunPolicy at-night: NameNotFound: spec.localQueues[0]: "
			"LocalQueue nowhere/main does not exist, so this entry has no effect\n"},
		{OURS("AdvanceReservation",
			 "much") "spec: {clusterQueue: batch, flavors: [{name: node, "
				 "resources: [{name: cpu, amount: 1000}]}], from: "
				 "\"1970-01-02T13:00:00Z\", until: "
				 "\"1970-01-02T14:00:00Z\"}\n",
			"in.yaml:2: AdvanceReservation much: TooMuch: "},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[4096];
		struct world w;
		struct buf out;
		snprintf(text, sizeof(text), "%s%s", cases[i].text, QUEUES);
		must_read(text, &w);
		buf_init(&out, 1 << 16);
		policy_specs_warn(&w.policy_specs, w.queue, &out);
		if (cases[i].says
				? strncmp(buf_text(&out), cases[i].says, strlen(cases[i].says)) != 0
				: out.len > 0)
			fail_msg("case %zu says: %s", i, buf_text(&out));
		buf_done(&out);
		world_done(&w);
	}
}

/* ---- times ----------------------------------------------------------------------------------- */

static void a_local_deadline_is_the_first_after_the_arrival(void **state)
{
	(void)state;
	struct world w;
	must_read(QUEUES JOB("sluice.dev/deadline: \"08:00 Europe/Berlin\"", ""), &w);
	assert_int_equal(world_deadline_ms(&w, 0), INT64_C(1768287600000)); /* the 13th, 07:00Z */
	world_done(&w);
}

static void each_job_of_a_cronjob_has_its_own_deadline(void **state)
{
	(void)state;
	static const char text[] = QUEUES
		"---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: nightly}\nspec:\n"
		"  schedule: '@daily'\n  jobTemplate:\n    metadata:\n      annotations: "
		"{sluice.dev/deadline: \"08:00 Europe/Berlin\"}\n    spec: {template: {spec: "
		"{containers: []}}}\n";
	struct world w;
	must_read(text, &w);
	const int64_t day_ms = 24 * HOUR_MS, at_ms = 20000 * day_ms;
	for (int i = 0; i < 2; i++) {
		size_t a = world_fire(&w, 0, at_ms + i * day_ms, at_ms + i * day_ms);
		assert_int_equal(world_deadline_ms(&w, a), at_ms + i * day_ms + 6 * HOUR_MS);
		assert_string_equal(w.sim_job[a].record->family, "CronJob/nightly");
	}
	world_done(&w);
}

/* ---- work ------------------------------------------------------------------------------------ */

static void a_stop_leaves_what_was_safe(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t kept_ms, ran_ms, want_ms;
	} cases[] = {
		{JOB("sluice.dev/simulate-duration: 20h", ""), 0, 12 * HOUR_MS, 0},
		{JOB("sluice.dev/simulate-duration: 20h, sluice.dev/simulate-checkpoint: 30m", ""),
			0, HOUR_MS - 1, HOUR_MS / 2},
		{JOB("sluice.dev/simulate-duration: 20h, sluice.dev/simulate-checkpoint: 30m", ""),
			2 * HOUR_MS, HOUR_MS, 3 * HOUR_MS},
		/* Three waves of 7 h. */
		{JOB("sluice.dev/simulate-duration: 21h",
			 "  completions: 5\n  parallelism: 2\n  completionMode: Indexed\n"),
			0, 15 * HOUR_MS, 14 * HOUR_MS},
		{JOB("sluice.dev/simulate-duration: 21h", "  completions: 2\n  parallelism: 2\n"),
			0, 15 * HOUR_MS, 0},
		{JOB("", "  completions: 5\n  parallelism: 2\n"), 0, 15 * HOUR_MS, 0},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct world w;
		must_read(cases[i].text, &w);
		w.sim_job[0].done_ms = cases[i].kept_ms;
		w.sim_job[0].sized_ms = 1000;
		int64_t got_ms = world_kept_ms(&w, 0, 1000 + cases[i].ran_ms);
		if (got_ms != cases[i].want_ms)
			fail_msg("case %zu keeps %lld ms", i, (long long)got_ms);
		world_done(&w);
	}
}

/* ---- an end ---------------------------------------------------------------------------------- */

static struct summary engine(const char *text)
{
	struct world w;
	struct summary s;
	must_read(text, &w);
	summary_init(&s, &w);
	engine_run(&w, NEVER_MS, false, &(struct observers){.summary = &s});
	struct summary figures = s;
	summary_done(&s);
	world_done(&w);
	return figures;
}

static void a_engine_that_gets_no_further_ends(void **state)
{
	(void)state;
	static const char rules[] = QUEUES NIGHTS POLICY("action: Suspend");
	char text[4096];
	snprintf(text, sizeof(text), "%s%s", rules, JOB("sluice.dev/simulate-duration: 20h", ""));
	struct summary s = engine(text);
	assert_int_equal(s.finished, 0);
	assert_int_equal(s.waiting, 1);
	assert_true(s.stopped > 400 && s.stopped < 410);
	/* With a checkpoint it ends the second night. */
	snprintf(text, sizeof(text), "%s%s", rules,
		JOB("sluice.dev/simulate-duration: 20h, sluice.dev/simulate-checkpoint: 1h", ""));
	s = engine(text);
	assert_int_equal(s.finished, 1);
	assert_int_equal(s.stopped, 1);
	assert_int_equal(s.last_ms - s.first_ms, (6 + 24 + 8) * HOUR_MS);
}

static void nobody_waits_for_a_calendar_that_never_opens(void **state)
{
	(void)state;
	struct summary s =
		engine(QUEUES OURS("Calendar", "nights") "spec: {timeZone: UTC}\n" POLICY("")
				JOB("sluice.dev/simulate-duration: 1h", ""));
	assert_int_equal(s.admitted, 0);
	assert_int_equal(s.waiting, 1);
}

/* ---- the chart ------------------------------------------------------------------------------- */

static size_t count_of(const char *text, const char *what)
{
	size_t n = 0;
	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

static void the_chart_shows_closed_hours_and_prices(void **state)
{
	(void)state;
	struct world w;
	struct summary s;
	struct chart chart;
	struct buf out;
	must_read(QUEUES NIGHTS PLAN POLICY("action: Suspend") JOB(
			  "sluice.dev/simulate-duration: 20h, sluice.dev/simulate-checkpoint: 1h",
			  ""),
		&w);
	summary_init(&s, &w);
	chart_init(&chart, &w, &s);
	buf_init(&out, 1 << 20);
	engine_run(&w, NEVER_MS, false, &(struct observers){.summary = &s, .chart = &chart});
	chart_render(&chart, &out);
	/* The afternoon that it came, and the day between two nights. */
	assert_int_equal(count_of(buf_text(&out), "class=\"closed\""), 2);
	assert_int_equal(count_of(buf_text(&out), "price: power, base x 0.40 to 1.00"), 1);
	buf_done(&out);
	chart_done(&chart);
	summary_done(&s);
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_makes_no_sense_ends_the_reading),
		cmocka_unit_test(what_comes_to_nothing_is_a_warning),
		cmocka_unit_test(a_local_deadline_is_the_first_after_the_arrival),
		cmocka_unit_test(each_job_of_a_cronjob_has_its_own_deadline),
		cmocka_unit_test(a_stop_leaves_what_was_safe),
		cmocka_unit_test(a_engine_that_gets_no_further_ends),
		cmocka_unit_test(nobody_waits_for_a_calendar_that_never_opens),
		cmocka_unit_test(the_chart_shows_closed_hours_and_prices),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
