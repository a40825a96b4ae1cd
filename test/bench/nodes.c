/*
 * What an answer of queue/cluster/nodes.h costs. No test: it prints a table, and as its last line one
 * JSON object. Usage: bench_nodes [NODES [PODS_EACH]], by default 5,000 nodes of 30 shapes with 20
 * pods each, and 50 makings of pods that are asked about.
 *
 *   first     a making that was never asked about
 *   same      again, nothing has changed
 *   one       again, after one pod came or went somewhere: the makings in turn, so that each sees
 *             what happened since its own last turn
 *   near      the same for pods that look at other pods: anti-affinity by host, spreading by zone
 *   room      nodes_room of those, for 100 pods
 *   many      nodes_room of those, for 10,000 pods
 *   strange   like near, but each of a Job of its own, never asked about, that has no pods yet
 *
 * Microseconds of processor time of this process: the mean, and of `first` the most.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/must.h"
#include "queue/cluster/nodes.h"
#include "test/bench/cloud.h"
#include "test/bench/cpu.h"

#define TURNS 20000
#define FEW_TURNS 400
#define MANY_TURNS 6
#define WAITING 1000000 /* Jobs from here on have no pods yet */

static void set_node(struct nodes *n, size_t i)
{
	struct cloud_node node;
	cloud_node(&node, i, 0);
	nodes_set(n, &node.spec);
}

/* A pod of a Job: labels of its own. making: what it asks for. */
struct made {
	struct cloud_pod by;
	struct label label[3];
	struct affinity_term apart;
	struct spread_constraint spread;
	struct requirement requirement;
	const char *value;
	char job[32];
};

static void make(struct made *m, size_t making, size_t job)
{
	cloud_pod(&m->by, making);
	snprintf(m->job, sizeof(m->job), "job-%zu", job);
	m->label[0] = (struct label){"app", "batch"};
	m->label[1] = (struct label){"job-name", m->job};
	m->label[2] = (struct label){"batch.kubernetes.io/job-name", m->job};
	m->by.pod.labels = m->label;
	m->by.pod.nlabels = 3;
}

static void look_at_others(struct made *m, size_t making)
{
	m->value = m->job;
	m->requirement = (struct requirement){"job-name", SELECTOR_IN, &m->value, 1};
	m->apart = (struct affinity_term){.topology_key = "kubernetes.io/hostname",
		.has_selector = true,
		.selector = {&m->requirement, 1}};
	m->spread = (struct spread_constraint){.topology_key = "topology.kubernetes.io/zone",
		.max_skew = 1,
		.min_domains = 1,
		.has_selector = true,
		.selector = {&m->requirement, 1},
		.honor_affinity = true};
	m->by.pod.anti_affinity = &m->apart;
	m->by.pod.nanti_affinity = making % 2;
	m->by.pod.spread = &m->spread;
	m->by.pod.nspread = !m->by.pod.nanti_affinity;
}

static void come_or_go(struct nodes *n, size_t turn, size_t nnodes)
{
	struct made m;
	char name[64];
	struct uid uid = cloud_uid(UINT64_C(1) << 40 | turn / 2);
	if (turn % 2) {
		nodes_unbind(n, &uid);
		return;
	}
	make(&m, turn, turn);
	cloud_node_name(name, sizeof(name), turn * 7919 % nnodes);
	nodes_bind(n, &(struct bound_pod){.uid = uid, .node = name, .pod = &m.by.pod});
}

static void fill(struct nodes *n, size_t nnodes, size_t each)
{
	struct made m;
	char name[64];
	for (size_t i = 0; i < nnodes; i++)
		set_node(n, i);
	for (size_t i = 0; i < nnodes * each; i++) {
		make(&m, i % 9, i / 10);
		cloud_node_name(name, sizeof(name), i % nnodes);
		nodes_bind(n, &(struct bound_pod){
				      .uid = cloud_uid(i + 1), .node = name, .pod = &m.by.pod});
	}
}

static double report(const char *what, double us)
{
	printf("%-8s %10.2f\n", what, us);
	return us;
}

static double first(struct nodes *n, double *ret_most)
{
	double sum = 0;
	*ret_most = 0;
	for (size_t i = 0; i < CLOUD_MAKINGS; i++) {
		struct made m;
		struct fit_answer a;
		make(&m, i, i);
		double began = cpu_us();
		nodes_fit(n, &m.by.pod, &a);
		double took = cpu_us() - began;
		sum += took;
		*ret_most = took > *ret_most ? took : *ret_most;
	}
	return sum / CLOUD_MAKINGS;
}

struct kind {
	size_t turns;
	bool changes; /* a pod comes or goes before each question */
	bool near;    /* the pods look at others */
	bool strange; /* each is of a making of its own */
	int32_t room; /* of so many pods: nodes_room, not nodes_fit; else 0 */
};

/* Only the questions are timed, not what happens between them. */
static double turns(struct nodes *n, size_t nnodes, struct kind k)
{
	double asked = 0;
	for (size_t t = 0; t < k.turns; t++) {
		struct made m;
		struct fit_answer a;
		make(&m, t % CLOUD_MAKINGS, k.near && !k.strange ? t % CLOUD_MAKINGS : t + WAITING);
		if (k.near)
			look_at_others(&m, t % CLOUD_MAKINGS);
		if (k.changes)
			come_or_go(n, t, nnodes);
		double began = cpu_us();
		if (k.room > 0)
			must(nodes_room(n, &m.by.pod, k.room) >= 0);
		else
			nodes_fit(n, &m.by.pod, &a);
		asked += cpu_us() - began;
	}
	return asked / (double)k.turns;
}

int main(int argc, char **argv)
{
	size_t nnodes = argc > 1 ? strtoul(argv[1], NULL, 10) : 5000;
	size_t each = argc > 2 ? strtoul(argv[2], NULL, 10) : 20;
	struct nodes *n = nodes_new();
	struct rusage usage;
	double most, began = cpu_us();
	fill(n, nnodes, each);
	printf("%zu nodes, %zu pods: told in %.0f ms\n", nnodes, nnodes * each,
		(cpu_us() - began) / 1e3);
	double f = report("first", first(n, &most));
	report("(most)", most);
	const struct kind same_kind = {.turns = TURNS};
	const struct kind one_kind = {.turns = TURNS, .changes = true};
	const struct kind near_kind = {.turns = FEW_TURNS, .changes = true, .near = true};
	const struct kind room_kind = {
		.turns = FEW_TURNS, .changes = true, .near = true, .room = 100};
	const struct kind many_kind = {
		.turns = MANY_TURNS, .changes = true, .near = true, .room = 10000};
	const struct kind strange_kind = {
		.turns = FEW_TURNS, .changes = true, .near = true, .strange = true};
	double same = report("same", turns(n, nnodes, same_kind));
	double one = report("one", turns(n, nnodes, one_kind));
	turns(n, nnodes, near_kind); /* their first */
	double near = report("near", turns(n, nnodes, near_kind));
	double room = report("room", turns(n, nnodes, room_kind));
	double many = report("many", turns(n, nnodes, many_kind));
	double strange = report("strange", turns(n, nnodes, strange_kind));
	getrusage(RUSAGE_SELF, &usage);
	printf("{\"nodes\": %zu, \"pods\": %zu, \"first_us\": %.2f, \"first_most_us\": %.2f, "
	       "\"same_us\": %.2f, "
	       "\"one_us\": %.2f, \"near_us\": %.2f, \"room_us\": %.2f, \"many_us\": %.2f, "
	       "\"strange_us\": %.2f, "
	       "\"rss_mb\": %ld}\n",
		nnodes, nnodes * each, f, most, same, one, near, room, many, strange,
		usage.ru_maxrss / 1024);
	nodes_free(n);
	return 0;
}
