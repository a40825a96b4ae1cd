/*
 * Any bytes as the objects and drops of a what-if, a line each: told to a queue in which Jobs run and
 * wait, and then played for some days. Objects are refused in words that can be printed, or the play
 * comes to its end; and each Job that waited is told of.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "controller/answers/whatif_specs.h"
#include "controller/watch/time_specs.h"
#include "forecast/play.h"
#include "sluice/queue.h"
#include "test/fuzz/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW INT64_C(1795255200000) /* 2026-11-21T10:00:00Z */
#define MINUTE INT64_C(60000)

enum { RUNS = 3, JOBS = 12 };

#define OBJECT(kind, rest) "{\"apiVersion\":\"sluice.dev/v1alpha1\",\"kind\":\"" kind "\"," rest "}"
#define NAMED(name) "\"metadata\":{\"name\":\"" name "\"},"
#define QUOTA(flavor, cpu)                                                                         \
	"{\"name\":\"" flavor "\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"" cpu "\"}]}"
#define GROUPS(flavors)                                                                            \
	"\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":[" flavors "]}]"
#define LOCALQUEUE(name, of)                                                                       \
	OBJECT("LocalQueue", "\"metadata\":{\"namespace\":\"team\",\"name\":\"" name               \
			     "\"},\"spec\":{\"clusterQueue\":\"" of "\"}")

static const char *const live[] = {
	OBJECT("ResourceFlavor", NAMED("node") "\"spec\":{}"),
	OBJECT("ResourceFlavor", NAMED("spot") "\"spec\":{\"nodeLabels\":{\"spot\":\"yes\"}}"),
	OBJECT("WorkloadPriorityClass", NAMED("low") "\"value\":10"),
	OBJECT("WorkloadPriorityClass", NAMED("high") "\"value\":1000"),
	OBJECT("Cohort", NAMED("root") "\"spec\":{}"),
	OBJECT("Cohort",
		NAMED("all") "\"spec\":{\"parentName\":\"root\"," GROUPS(QUOTA("spot", "3")) "}"),
	OBJECT("ClusterQueue",
		NAMED("a") "\"spec\":{\"cohort\":\"all\",\"namespaceSelector\":{},\"preemption\":{"
			   "\"withinClusterQueue\":\"LowerPriority\",\"reclaimWithinCohort\":\"Any\"}," GROUPS(
				   QUOTA("node", "4") "," QUOTA("spot", "2")) "}"),
	OBJECT("ClusterQueue",
		NAMED("b") "\"spec\":{\"cohort\":\"all\",\"namespaceSelector\":{},"
			   "\"queueingStrategy\":\"Backfill\"," GROUPS(QUOTA("spot", "4")) "}"),
	LOCALQUEUE("main", "a"),
	LOCALQUEUE("other", "b"),
	OBJECT("Calendar",
		NAMED("nights") "\"spec\":{\"timeZone\":\"UTC\",\"open\":[{\"name\":\"night\",\"days\":[\"Mon-Sun\"],\"from\":"
				"\"19:00\",\"to\":\"07:00\"}]}"),
	OBJECT("RunPolicy",
		NAMED("late") "\"spec\":{\"localQueues\":[\"team/other\"],\"calendar\":\"nights\","
			      "\"atClose\":{\"action\":\"Suspend\"}}"),
	OBJECT("PricePlan",
		NAMED("plan") "\"spec\":{\"currency\":\"EUR\",\"queues\":[\"*\"],\"base\":{\"cpu\":"
			      "\"0.04\"},\"rates\":[{\"calendar\":\"nights\",\"factor\":\"0.5\"}]}"),
	OBJECT("Budget",
		NAMED("money") "\"spec\":{\"queue\":\"b\",\"period\":\"Daily\",\"timeZone\":\"UTC\","
			       "\"currency\":\"EUR\",\"amount\":\"5.00\"}"),
	OBJECT("AdvanceReservation",
		NAMED("demo") "\"spec\":{\"clusterQueue\":\"b\",\"calendar\":\"nights\","
			      "\"flavors\":[{\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\","
			      "\"amount\":\"1\"}]}]}"),
};

/* ---- the world --------------------------------------------------------------------------------- */

struct world {
	struct queue *queue;
	struct zones *zones;
	struct time_specs *time_specs;
};

static struct uid uid_of(uint8_t n)
{
	struct uid uid = {{[15] = n}};
	return uid;
}

static void add_job(struct queue *q, uint8_t n)
{
	static const char *const classes[] = {"", "low", "high"};
	struct resource cpu = {"cpu", 1000};
	struct container c = {.requests = {&cpu, 1}};
	struct dependency after = {.kind = AFTER_OK, .name = "job-4", .text = "afterok:job-4"};
	char name[16];
	snprintf(name, sizeof(name), "job-%u", (unsigned)n);
	struct job j = {.uid = uid_of(n),
		.ns = "team",
		.name = name,
		.queue = n % 3 == 2 ? "other" : "main",
		.priority_class = classes[n % 3],
		.pod_priority_class = "",
		.family = "family-",
		.created_ms = NOW - 1000 + n,
		.suspend = true,
		.parallelism = 1 + n % 4,
		.has_completions = true,
		.completions = 1 + n % 4,
		.min_parallelism = n % 5 == 0 ? 1 : 0,
		.durations.expected_ms = n * 20 * MINUTE,
		.after = {.item = &after, .count = n == 7},
		.terms = {.max_price_resource = "cpu",
			.has_max_price = n == 8,
			.max_price = 30000,
			.deadline_ms = n == 9 ? NOW + 600 * MINUTE : 0},
		.pod = {.containers = &c, .ncontainers = 1, .runtime_class = ""}};
	queue_set_job(q, &j);
}

static void start_some(struct queue *q)
{
	struct decision out[16];
	int64_t next_ms;
	size_t n = queue_decide(q, NOW, out, 16, &next_ms);
	for (size_t i = 0; i < n; i++)
		if (out[i].kind == DECISION_START)
			queue_confirm_job(q, &out[i].uid, NOW);
}

static void world_open(struct world *w)
{
	struct whatif_specs *s = whatif_specs_new();
	struct err e = {""};
	w->queue = queue_new();
	w->zones = zones_new();
	struct time_specs_options o = {.queue = w->queue, .zones = w->zones};
	w->time_specs = time_specs_new(&o);
	for (size_t i = 0; i < sizeof(live) / sizeof(live[0]); i++)
		must(whatif_specs_add(s, live[i], &e) == 0);
	if (whatif_specs_apply(s, w->queue, w->time_specs, &e) != 0)
		fprintf(stderr, "%s\n", e.text);
	must(!*e.text);
	whatif_specs_free(s);
	for (uint8_t n = 1; n <= JOBS; n++) {
		add_job(w->queue, n);
		if (n == RUNS)
			start_some(w->queue);
	}
}

static void world_close(struct world *w)
{
	time_specs_free(w->time_specs);
	zones_free(w->zones);
	queue_free(w->queue);
}

/* ---- the question ------------------------------------------------------------------------------ */

/* A line is an object, or "-" and a drop. */
static struct whatif_specs *specs_of(const uint8_t *data, size_t size)
{
	struct whatif_specs *s = whatif_specs_new();
	char *text = mem_strndup((const char *)data, size);
	struct err e = {""};
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		int rc = *line == '-' ? whatif_specs_add_drop(s, line + 1, &e)
				      : whatif_specs_add(s, line, &e);
		if (rc == 0)
			continue;
		must((rc == ERR_INVALID || rc == ERR_LIMIT) && *e.text);
	}
	free(text);
	return s;
}

static int64_t length_ms(const struct job_outline *o, int64_t ran_ms, void *ctx)
{
	(void)ctx;
	return o->expected_ms > ran_ms ? o->expected_ms : ran_ms + MINUTE;
}

static void count_waiting(const struct job_outline *o, void *ctx)
{
	*(size_t *)ctx += !o->holds_quota;
}

static void play_it(struct queue *q)
{
	struct play_lengths lengths = {length_ms, NULL};
	struct play_limits limits = {.horizon_ms = 2880 * MINUTE * 2,
		.decisions = 2000,
		.instants = 2000,
		.grace_ms = PLAY_GRACE_MS,
		.costs = true};
	struct play_result r;
	size_t waiting = 0;
	queue_each_job(q, count_waiting, &waiting);
	play(q, NOW + MINUTE, &lengths, NULL, &limits, &r);
	must(r.n == waiting);
	for (size_t i = 0; i < r.n; i++)
		must(r.start[i].start_ms == PLAY_NEVER || r.start[i].start_ms > NOW);
	play_result_done(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct whatif_specs *s = specs_of(data, size);
	struct world w;
	struct err e = {""};
	world_open(&w);
	int rc = whatif_specs_apply(s, w.queue, w.time_specs, &e);
	must(rc == 0 || rc == ERR_INVALID);
	if (rc == 0)
		play_it(w.queue);
	else
		check_text(e.text);
	whatif_specs_free(s);
	world_close(&w);
	return 0;
}
