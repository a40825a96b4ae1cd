/*
 * What an answer of cluster/nodes.h costs. No test: it prints a table, and as its last line one
 * JSON object. Usage: bench_nodes [NODES [PODS_EACH]], by default 5,000 nodes of 30 shapes with 20
 * pods each, and 50 makings of pods that are asked about.
 *
 *   first     a making that was never asked about
 *   same      again, nothing has changed
 *   one       again, after one pod came or went somewhere: the makings in turn, so that each sees
 *             what happened since its own last turn
 *   near      the same for pods that look at other pods: anti-affinity by host, spreading by zone
 *   room      nodes_room of those, for 100 pods
 *   strange   like near, but each of a Job of its own, never asked about, that has no pods yet
 *
 * Microseconds of processor time of this process: the mean, and of `first` the most.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/mem.h"
#include "base/must.h"
#include "cluster/nodes.h"

#define SHAPES 30
#define MAKINGS 50
#define TURNS 20000
#define FEW_TURNS 400
#define WAITING 1000000 /* Jobs from here on have no pods yet */

static double cpu_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static struct uid uid_of(uint64_t n)
{
	struct uid uid = {{0}};
	memcpy(uid.byte, &n, sizeof(n));
	return uid;
}

static void name_node(char *ret, size_t size, size_t i)
{
	snprintf(ret, size, "ip-10-0-%zu-%zu.internal", i / 256, i % 256);
}

/* Twelve labels, as clouds have them. */
static void set_node(struct nodes *n, size_t i)
{
	char name[64], zone[16], type[16];
	size_t shape = i % SHAPES;
	name_node(name, sizeof(name), i);
	snprintf(zone, sizeof(zone), "zone-%zu", shape % 3);
	snprintf(type, sizeof(type), "type-%zu", shape);
	struct label labels[] = {{"beta.kubernetes.io/arch", "amd64"},
		{"beta.kubernetes.io/os", "linux"}, {"kubernetes.io/arch", "amd64"},
		{"kubernetes.io/hostname", name}, {"kubernetes.io/os", "linux"},
		{"node.kubernetes.io/instance-type", type},
		{"pool", shape % 2 ? "spot" : "on-demand"}, {"topology.kubernetes.io/region", "r1"},
		{"topology.kubernetes.io/zone", zone}, {"team", "shared"}, {"generation", "7"},
		{"managed-by", "karpenter"}};
	struct taint spot = {"spot", "true", TAINT_NO_SCHEDULE};
	struct resource room[] = {{"cpu", 32000 + (int64_t)shape * 1000},
		{"memory", INT64_C(128) << 30}, {"ephemeral-storage", INT64_C(100) << 30},
		{"pods", 110}, {"nvidia.com/gpu", shape == 0 ? 8 : 0}};
	nodes_set(n, &(struct node_spec){.name = name,
			     .labels = labels,
			     .nlabels = sizeof(labels) / sizeof(*labels),
			     .taints = &spot,
			     .ntaints = shape % 2,
			     .allocatable = {room, 5}});
}

/* A pod of a Job: labels of its own. making: what it asks for. */
struct made {
	struct pod pod;
	struct container container;
	struct resource request[2];
	struct label label[3], select;
	struct toleration spot;
	struct affinity_term apart;
	struct spread_constraint spread;
	struct requirement requirement;
	const char *value;
	char job[32];
};

static void make(struct made *m, size_t making, size_t job)
{
	*m = (struct made){.request = {{"cpu", 100 + (int64_t)(making % 25) * 40},
				   {"memory", INT64_C(64) << 20}},
		.spot = {"spot", "", TOLERATION_EXISTS, TAINT_ANY, false, 0},
		.select = {"topology.kubernetes.io/zone", "zone-1"}};
	snprintf(m->job, sizeof(m->job), "job-%zu", job);
	m->label[0] = (struct label){"app", "batch"};
	m->label[1] = (struct label){"job-name", m->job};
	m->label[2] = (struct label){"batch.kubernetes.io/job-name", m->job};
	m->container.requests = (struct resource_list){m->request, 2};
	m->pod = (struct pod){.ns = "team",
		.labels = m->label,
		.nlabels = 3,
		.resources = {.containers = &m->container, .ncontainers = 1, .runtime_class = ""},
		.priority_class = "",
		.node_name = "",
		.scheduler = "default-scheduler",
		.node_selector = &m->select,
		.nnode_selector = making % 3 == 0,
		.tolerations = &m->spot,
		.ntolerations = making % 2};
	if (making % 10 == 9)
		m->request[0].amount = 200000; /* of no node's size */
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
	m->pod.anti_affinity = &m->apart;
	m->pod.nanti_affinity = making % 2;
	m->pod.spread = &m->spread;
	m->pod.nspread = !m->pod.nanti_affinity;
}

static void come_or_go(struct nodes *n, size_t turn, size_t nnodes)
{
	struct made m;
	char name[64];
	struct uid uid = uid_of(UINT64_C(1) << 40 | turn / 2);
	if (turn % 2) {
		nodes_unbind(n, &uid);
		return;
	}
	make(&m, turn, turn);
	name_node(name, sizeof(name), turn * 7919 % nnodes);
	nodes_bind(n, &(struct bound_pod){.uid = uid, .node = name, .pod = &m.pod});
}

static void fill(struct nodes *n, size_t nnodes, size_t each)
{
	struct made m;
	char name[64];
	for (size_t i = 0; i < nnodes; i++)
		set_node(n, i);
	for (size_t i = 0; i < nnodes * each; i++) {
		make(&m, i % 9, i / 10);
		name_node(name, sizeof(name), i % nnodes);
		nodes_bind(
			n, &(struct bound_pod){.uid = uid_of(i + 1), .node = name, .pod = &m.pod});
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
	for (size_t i = 0; i < MAKINGS; i++) {
		struct made m;
		struct fit_answer a;
		make(&m, i, i);
		double began = cpu_us();
		nodes_fit(n, &m.pod, &a);
		double took = cpu_us() - began;
		sum += took;
		*ret_most = took > *ret_most ? took : *ret_most;
	}
	return sum / MAKINGS;
}

struct kind {
	size_t turns;
	bool changes; /* a pod comes or goes before each question */
	bool near;    /* the pods look at others */
	bool strange; /* each is of a making of its own */
	bool room;    /* nodes_room, not nodes_fit */
};

/* Only the questions are timed, not what happens between them. */
static double turns(struct nodes *n, size_t nnodes, struct kind k)
{
	double asked = 0;
	for (size_t t = 0; t < k.turns; t++) {
		struct made m;
		struct fit_answer a;
		make(&m, t % MAKINGS, k.near && !k.strange ? t % MAKINGS : t + WAITING);
		if (k.near)
			look_at_others(&m, t % MAKINGS);
		if (k.changes)
			come_or_go(n, t, nnodes);
		double began = cpu_us();
		if (k.room)
			must(nodes_room(n, &m.pod, 100) >= 0);
		else
			nodes_fit(n, &m.pod, &a);
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
		.turns = FEW_TURNS, .changes = true, .near = true, .room = true};
	const struct kind strange_kind = {
		.turns = FEW_TURNS, .changes = true, .near = true, .strange = true};
	double same = report("same", turns(n, nnodes, same_kind));
	double one = report("one", turns(n, nnodes, one_kind));
	turns(n, nnodes, near_kind); /* their first */
	double near = report("near", turns(n, nnodes, near_kind));
	double room = report("room", turns(n, nnodes, room_kind));
	double strange = report("strange", turns(n, nnodes, strange_kind));
	getrusage(RUSAGE_SELF, &usage);
	printf("{\"nodes\": %zu, \"pods\": %zu, \"first_us\": %.2f, \"first_most_us\": %.2f, "
	       "\"same_us\": %.2f, "
	       "\"one_us\": %.2f, \"near_us\": %.2f, \"room_us\": %.2f, \"strange_us\": %.2f, "
	       "\"rss_mb\": %ld}\n",
		nnodes, nnodes * each, f, most, same, one, near, room, strange,
		usage.ru_maxrss / 1024);
	nodes_free(n);
	return 0;
}
