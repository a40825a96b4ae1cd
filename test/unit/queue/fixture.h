/* A small world for tests in C: two flavors, ClusterQueue batch, LocalQueue team-a/main. */
#ifndef SLUICE_TEST_QUEUE_FIXTURE_H
#define SLUICE_TEST_QUEUE_FIXTURE_H

#include <string.h>

#include "sluice/queue.h"

static inline struct uid fixture_uid(uint32_t n)
{
	struct uid uid = {{0}};
	for (int i = 0; i < 4; i++)
		uid.byte[15 - i] = (uint8_t)(n >> 8 * i);
	return uid;
}

static inline void fixture_quota(struct queue *q, int64_t spot_cpu, int64_t demand_cpu)
{
	static const char *const resource[] = {"cpu"};
	struct quota_spec a = {"cpu", spot_cpu, QUOTA_UNLIMITED, QUOTA_UNLIMITED};
	struct quota_spec b = {"cpu", demand_cpu, QUOTA_UNLIMITED, QUOTA_UNLIMITED};
	struct flavor_quota_spec flavor[] = {{"spot", &a, 1}, {"on-demand", &b, 1}};
	struct resource_group_spec group = {resource, 1, flavor, 2};
	struct clusterqueue_spec s = {.name = "batch",
		.cohort = "",
		.groups = &group,
		.ngroups = 1,
		.has_namespace_selector = true};
	queue_set_clusterqueue(q, &s, NULL);
}

static inline struct queue *fixture_new(int64_t spot_cpu, int64_t demand_cpu)
{
	static const struct label spot = {"pool", "spot"}, demand = {"pool", "on-demand"};
	static const struct toleration tolerates = {
		"spot", "true", TOLERATION_EQUAL, TAINT_NO_SCHEDULE, false, 0};
	struct queue *q = queue_new();
	struct flavor_spec a = {"spot",
		{.labels = &spot, .nlabels = 1, .tolerations = &tolerates, .ntolerations = 1}};
	struct flavor_spec b = {"on-demand", {.labels = &demand, .nlabels = 1}};
	struct localqueue_spec local = {.ns = "team-a", .name = "main", .clusterqueue = "batch"};
	queue_set_flavor(q, &a, NULL);
	queue_set_flavor(q, &b, NULL);
	fixture_quota(q, spot_cpu, demand_cpu);
	queue_set_localqueue(q, &local, NULL);
	return q;
}

static inline struct job fixture_job(uint32_t n, const struct container *c)
{
	return (struct job){.uid = fixture_uid(n),
		.ns = "team-a",
		.name = "job",
		.queue = "main",
		.priority_class = "",
		.pod_priority_class = "",
		.suspend = true,
		.parallelism = 1,
		.has_completions = true,
		.completions = 1,
		.pod = {.containers = c, .ncontainers = 1}};
}

#endif
