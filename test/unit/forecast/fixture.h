/* A small world for forecasts: ClusterQueue batch with some cpu of one flavor, LocalQueue team-a/main. */
#ifndef SLUICE_TEST_FORECAST_FIXTURE_H
#define SLUICE_TEST_FORECAST_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "queue/calendar/zone.h"
#include "sluice/queue.h"

#define MINUTE_MS INT64_C(60000)
#define HOUR_MS (60 * MINUTE_MS)
/* Thursday, 1 January 2026, 00:00 UTC. */
#define BEGIN_MS INT64_C(1767225600000)

static inline struct uid uid_of(uint32_t n)
{
	struct uid uid = {{0}};
	for (int i = 0; i < 4; i++)
		uid.byte[15 - i] = (uint8_t)(n >> 8 * i);
	return uid;
}

static inline void set_quota(struct queue *q, int64_t cpus, enum queueing_strategy strategy,
	struct preemption_spec preemption)
{
	static const char *const resource[] = {"cpu"};
	struct quota_spec quota = {"cpu", cpus * 1000, QUOTA_UNLIMITED, QUOTA_UNLIMITED};
	struct flavor_quota_spec flavor = {"node", &quota, 1};
	struct resource_group_spec group = {resource, 1, &flavor, 1};
	struct clusterqueue_spec s = {.name = "batch",
		.cohort = "",
		.groups = &group,
		.ngroups = 1,
		.strategy = strategy,
		.preemption = preemption,
		.has_namespace_selector = true};
	struct err e;
	assert_int_equal(queue_set_clusterqueue(q, &s, &e), 0);
}

static inline struct queue *world_of(int64_t cpus, enum queueing_strategy strategy)
{
	struct queue *q = queue_new();
	struct flavor_spec flavor = {"node", {0}};
	struct localqueue_spec local = {.ns = "team-a", .name = "main", .clusterqueue = "batch"};
	queue_set_flavor(q, &flavor, NULL);
	set_quota(q, cpus, strategy, (struct preemption_spec){0});
	queue_set_localqueue(q, &local, NULL);
	return q;
}

/* Which Job, so many pods of one cpu, how long it says that it takes. */
struct told {
	uint32_t n;
	int32_t cpus;
	int64_t expected_ms;
	const char *class;
	int64_t grace_ms;
	int32_t least;	   /* min-parallelism */
	bool runs;	   /* it was seen unsuspended */
	const char *after; /* afterok: this name */
	const char *hold;  /* sluice.dev/hold */
};

static inline void tell(struct queue *q, int64_t at_ms, struct told t)
{
	struct resource cpu = {"cpu", 1000};
	struct container c = {.requests = {&cpu, 1}};
	char name[16];
	struct dependency after = {.kind = AFTER_OK, .name = t.after, .text = "afterok"};
	snprintf(name, sizeof(name), "job-%u", t.n);
	struct job j = {.uid = uid_of(t.n),
		.ns = "team-a",
		.name = name,
		.queue = "main",
		.priority_class = t.class ? t.class : "",
		.hold = t.hold,
		.pod_priority_class = "",
		.family = "family-",
		.created_ms = at_ms,
		.suspend = !t.runs,
		.parallelism = t.cpus,
		.has_completions = true,
		.completions = t.cpus,
		.min_parallelism = t.least,
		.grace_ms = t.grace_ms,
		.durations.expected_ms = t.expected_ms,
		.after = {.item = &after, .count = t.after ? 1 : 0},
		.terms = {.max_price_resource = ""},
		.pod = {.containers = &c, .ncontainers = 1, .runtime_class = ""}};
	queue_set_job(q, &j);
}

/* Decides, and confirms what starts. */
static inline size_t decide(struct queue *q, int64_t now_ms)
{
	struct decision out[64];
	int64_t next_ms;
	size_t n = queue_decide(q, now_ms, out, 64, &next_ms);
	for (size_t i = 0; i < n; i++)
		if (out[i].kind == DECISION_START)
			queue_confirm_job(q, &out[i].uid, now_ms);
	return n;
}

#endif
