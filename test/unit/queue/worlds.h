/*
 * Makers of what a queue is told, for tests in C, and the small world that most of them begin with: two
 * flavors, ClusterQueue batch, LocalQueue team-a/main (fixture_new()).
 *
 * What a test says of an object stands in its own call; the rest is what an admin would have left out.
 */
#ifndef SLUICE_TEST_QUEUE_WORLDS_H
#define SLUICE_TEST_QUEUE_WORLDS_H

#include <string.h>

#include "base/must.h"
#include "sluice/queue.h"

/* ---- What admins describe -------------------------------------------------------------------- */

static inline void make_flavor(struct queue *q, const char *name)
{
	queue_set_flavor(q, &(struct flavor_spec){.name = name}, NULL);
}

/* Makes WorkloadPriorityClasses: the first has that value, each other one more. */
static inline void make_classes(struct queue *q, const char *const *name, int32_t n, int32_t first)
{
	for (int32_t i = 0; i < n; i++)
		queue_set_priority(
			q, &(struct priority_spec){
				   .kind = PRIORITY_WORKLOAD, .name = name[i], .value = first + i});
}

/* Makes the ClusterQueue s, or edits it: with quota of one flavor, for all namespaces. */
static inline void make_queue_with(struct queue *q, struct clusterqueue_spec s, const char *flavor,
	const struct quota_spec *quota, size_t nquotas)
{
	const char *resource[4];
	struct flavor_quota_spec of_flavor = {flavor, quota, nquotas};
	struct resource_group_spec group = {resource, nquotas, &of_flavor, 1};
	must(nquotas <= 4);
	for (size_t i = 0; i < nquotas; i++)
		resource[i] = quota[i].resource;
	s.cohort = s.cohort ? s.cohort : "";
	s.groups = &group;
	s.ngroups = 1;
	s.has_namespace_selector = true;
	must(queue_set_clusterqueue(q, &s, NULL) == 0);
}

/* Makes the ClusterQueue s, or edits it: with so much cpu in one flavor. */
static inline void make_queue(
	struct queue *q, struct clusterqueue_spec s, const char *flavor, int64_t cpu_milli)
{
	struct quota_spec cpu = {"cpu", cpu_milli, QUOTA_UNLIMITED, QUOTA_UNLIMITED};
	make_queue_with(q, s, flavor, &cpu, 1);
}

static inline void make_localqueue(
	struct queue *q, const char *ns, const char *name, const char *clusterqueue)
{
	struct localqueue_spec s = {
		.ns = ns, .name = name, .clusterqueue = clusterqueue, .weight = 1};
	must(queue_set_localqueue(q, &s, NULL) == 0);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static inline struct uid fixture_uid(uint32_t n)
{
	struct uid uid = {{0}};
	for (int i = 0; i < 4; i++)
		uid.byte[15 - i] = (uint8_t)(n >> 8 * i);
	return uid;
}

/* The containers of a pod that asks for so much cpu, until the end of the block. */
#define ASKS_CPU(milli)                                                                            \
	(&(const struct container){.requests = {&(const struct resource){"cpu", milli}, 1}})

/* A Job of one pod with that container, in team-a/main. */
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

/* ---- The small world ------------------------------------------------------------------------- */

/* Sets what batch has of the two flavors. */
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

#endif
