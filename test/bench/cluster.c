/*
 * What it costs the queue to ask the cluster. No test: it prints a table, and as its last line one
 * JSON object. Usage: bench_cluster [NODES [JOBS]], by default 5,000 nodes of 30 shapes and 10,000
 * waiting Jobs of 50; of these five fit on no node, and five want GPUs, all of which are taken.
 * Once for each clusterFit.
 *
 *   tell      a Job is told to the queue, waiting
 *   finish    quota full: a Job ends, its pod goes, a pass follows, whatever fits starts and its
 * pod is bound refuse    quota full: a Job arrives, a pass follows, nothing starts node      a Node
 * of a known shape joins, a pass follows shape     a Node of a shape of its own joins, a pass
 * follows pod       a pod of another owner comes or goes, a pass follows drain     quota for all:
 * how many starts a second, in passes of 1,000
 *
 * Microseconds of processor time of this process.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "sluice/queue.h"
#include "test/bench/cloud.h"
#include "test/bench/cpu.h"

#define RUNNING 500
#define ROUNDS 2000
#define FEW 200
#define STRANGERS (UINT64_C(1) << 40) /* uids of pods that are of no Job */

/* ---- the world ------------------------------------------------------------------------------- */

static void set_node(struct queue *q, size_t i, int64_t odd)
{
	struct cloud_node n;
	cloud_node(&n, i, odd);
	queue_set_node(q, &n.spec);
}

/* A pod of a Job: one making in ten wants GPUs. */
static void make(struct cloud_pod *m, uint64_t job)
{
	cloud_pod(m, job);
	m->container.requests.count = job % 10 == 8 ? 3 : 2;
}

static void tell_job(struct queue *q, uint64_t n)
{
	char name[32];
	struct cloud_pod m;
	make(&m, n);
	snprintf(name, sizeof(name), "job-%llu", (unsigned long long)n);
	queue_set_job(q, &(struct job){.uid = cloud_uid(n),
				 .ns = "team",
				 .name = name,
				 .queue = "main",
				 .priority_class = "",
				 .pod_priority_class = "",
				 .suspend = true,
				 .parallelism = 1,
				 .has_completions = true,
				 .completions = 1,
				 .created_ms = (int64_t)(n / 100) * 1000,
				 .template = &m.pod,
				 .pod = m.pod.resources,
				 .placement = {.node_selector = m.pod.node_selector,
					 .nnode_selector = m.pod.nnode_selector,
					 .tolerations = m.pod.tolerations,
					 .ntolerations = m.pod.ntolerations}});
}

static void bind(struct queue *q, uint64_t uid, uint64_t job, size_t node, uint64_t owner)
{
	char name[64];
	struct cloud_pod m;
	make(&m, job);
	cloud_node_name(name, sizeof(name), node);
	queue_bind_pod(q, &(struct bound_pod){.uid = cloud_uid(uid),
				  .node = name,
				  .pod = &m.pod,
				  .owner = owner ? cloud_uid(owner) : (struct uid){{0}}});
}

/* Quota in cpu for so many Jobs, as many as one likes of the rest. */
static void set_quota(struct queue *q, enum cluster_fit fit, int64_t jobs)
{
	static const char *const resource[] = {"cpu", "memory", "nvidia.com/gpu"};
	struct quota_spec quota[] = {{"cpu", jobs * 600, QUOTA_UNLIMITED, QUOTA_UNLIMITED},
		{"memory", INT64_MAX / 2, QUOTA_UNLIMITED, QUOTA_UNLIMITED},
		{"nvidia.com/gpu", INT64_MAX / 2, QUOTA_UNLIMITED, QUOTA_UNLIMITED}};
	struct flavor_quota_spec flavor = {"any", quota, 3};
	struct resource_group_spec group = {resource, 3, &flavor, 1};
	struct clusterqueue_spec s = {.name = "batch",
		.cohort = "",
		.groups = &group,
		.ngroups = 1,
		.cluster_fit = fit,
		.has_namespace_selector = true};
	must(queue_set_clusterqueue(q, &s, NULL) == 0);
}

/* All GPUs are taken by pods of others: eight a node of shape 0, in making 8. */
static struct queue *world(size_t nodes, enum cluster_fit fit)
{
	struct queue *q = queue_new();
	struct flavor_spec any = {"any", {.labels = NULL}};
	struct localqueue_spec local = {.ns = "team", .name = "main", .clusterqueue = "batch"};
	queue_set_flavor(q, &any, NULL);
	set_quota(q, fit, 0);
	queue_set_localqueue(q, &local, NULL);
	for (size_t i = 0; i < nodes; i++) {
		set_node(q, i, 0);
		if (i % CLOUD_SHAPES == 0)
			bind(q, STRANGERS + i, 8, i, 0);
	}
	queue_know_cluster(q);
	queue_know_pods(q, true);
	return q;
}

/* ---- the rounds ------------------------------------------------------------------------------ */

struct run {
	struct queue *q;
	size_t nodes;
	uint64_t *job; /* those that run */
	size_t n, room, started;
};

static uint64_t job_of(const struct uid *uid)
{
	uint64_t n;
	memcpy(&n, uid->byte, sizeof(n));
	return n;
}

/* What starts is bound: its pod has the uid of its Job plus one bit. */
static size_t decide(struct run *r)
{
	static struct decision out[1000];
	int64_t next_ms;
	size_t n = queue_decide(r->q, 1000, out, 1000, &next_ms);
	for (size_t i = 0; i < n; i++) {
		uint64_t job = job_of(&out[i].uid);
		r->job = mem_room(r->job, r->n, &r->room, 1024, sizeof(*r->job));
		r->job[r->n++] = job;
		/* near enough to where a scheduler would put it: on a node of a fitting shape */
		size_t node = job * 7 % r->nodes;
		bind(r->q, STRANGERS * 2 + job, job, node, job);
	}
	r->started += n;
	return n;
}

static void finish(struct run *r, size_t i)
{
	size_t at = i * 7919 % r->n;
	uint64_t job = r->job[at];
	struct uid uid = cloud_uid(job), pod = cloud_uid(STRANGERS * 2 + job);
	r->job[at] = r->job[--r->n];
	queue_unbind_pod(r->q, &pod);
	queue_drop_job(r->q, &uid);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

enum what { FINISH, REFUSE, NODE, SHAPE, POD, WHATS };
static const char *const words[WHATS] = {"finish", "refuse", "node", "shape", "pod"};

static void happen(struct run *r, enum what what, size_t i, uint64_t *next_job)
{
	switch (what) {
	case FINISH:
		finish(r, i);
		break;
	case REFUSE:
		tell_job(r->q, (*next_job)++);
		break;
	case NODE:
		set_node(r->q, r->nodes + i, 0);
		break;
	case SHAPE:
		set_node(r->q, r->nodes + FEW + i, 1 + (int64_t)i);
		break;
	case POD:
		if (i % 2 == 0) {
			bind(r->q, STRANGERS * 4, i % CLOUD_MAKINGS, i * 31 % r->nodes, 0);
		} else {
			struct uid uid = cloud_uid(STRANGERS * 4);
			queue_unbind_pod(r->q, &uid);
		}
		break;
	case WHATS:
		must_not_get_here();
	}
}

/* The median, in microseconds. */
static double rounds(struct run *r, enum what what, uint64_t *next_job)
{
	static double us[ROUNDS];
	size_t n = what == NODE || what == SHAPE ? FEW : ROUNDS;
	r->started = 0;
	for (size_t i = 0; i < n; i++) {
		double t = cpu_us();
		happen(r, what, i, next_job);
		decide(r);
		us[i] = cpu_us() - t;
	}
	qsort(us, n, sizeof(*us), by_size);
	printf("  %-7s p50 %9.2f us   p99 %9.2f us   max %9.2f us   %zu started\n", words[what],
		us[n / 2], us[n / 100 * 99], us[n - 1], r->started);
	return us[n / 2];
}

static void bench(size_t nodes, uint64_t jobs, enum cluster_fit fit, const char *name)
{
	struct run r = {.q = world(nodes, fit), .nodes = nodes};
	uint64_t next = jobs + 1;
	double us[WHATS], t = cpu_us();
	for (uint64_t n = 1; n <= jobs; n++)
		tell_job(r.q, n);
	double tell = (cpu_us() - t) / (double)jobs;
	printf("clusterFit %s: %zu nodes, %llu Jobs\n  tell    %.2f us each\n", name, nodes,
		(unsigned long long)jobs, tell);
	set_quota(r.q, fit, RUNNING);
	while (decide(&r) > 0)
		;
	for (int what = 0; what < WHATS; what++)
		us[what] = rounds(&r, (enum what)what, &next);
	set_quota(r.q, fit, (int64_t)jobs * 100);
	r.started = 0;
	t = cpu_us();
	while (decide(&r) > 0)
		;
	double rate = (double)r.started / (cpu_us() - t) * 1e6;
	printf("  drain   %zu starts, %.0f a second; %zu still wait\n", r.started, rate,
		queue_waiting(r.q));
	printf("  {\"clusterFit\":\"%s\",\"nodes\":%zu,\"jobs\":%llu,\"tell_us\":%.2f", name, nodes,
		(unsigned long long)jobs, tell);
	for (int what = 0; what < WHATS; what++)
		printf(",\"%s_p50_us\":%.2f", words[what], us[what]);
	printf(",\"starts_per_s\":%.0f}\n", rate);
	queue_free(r.q);
	free(r.job);
}

int main(int argc, char **argv)
{
	size_t nodes = argc > 1 ? strtoull(argv[1], NULL, 10) : 5000;
	uint64_t jobs = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000;
	if (nodes < CLOUD_SHAPES)
		nodes = CLOUD_SHAPES;
	if (jobs < 2 * ROUNDS) /* a Job ends in each round of the first kind */
		jobs = 2 * ROUNDS;
	bench(nodes, jobs, CLUSTER_FIT_IGNORE, "Ignore");
	bench(nodes, jobs, CLUSTER_FIT_POSSIBLE, "Possible");
	bench(nodes, jobs, CLUSTER_FIT_NOW, "Now");
	return 0;
}
