/*
 * clusterFit Now against a plain reference: in the order of the queue, each Job starts with as many
 * pods as both quota and nodes have left. If these are fewer than its fewest, it waits.
 *
 * How many fit is asked of another `struct nodes` that is told the same (test/unit/cluster tests
 * those). Where expected pods are put depends on when a question is asked, and Jobs without quota
 * ask none. So there are worlds of several nodes with quota for all, and worlds of one node with
 * less.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/must.h"
#include "test/unit/cluster/words.h"
#include "sluice/queue.h"
#include "test/unit/queue/worlds.h"
#include "test/sim/rng.h"

enum { SEEDS = 80, STEPS = 60, NODES = 5, JOBS = 200, TEXT = 80 };

struct world {
	struct rng rng;
	struct queue *q;
	struct nodes *nodes; /* the reference */
	int nnodes;
	int64_t quota; /* of cpu, left */
	struct {
		bool there;
		int32_t most, least, pods; /* pods of its run; 0: it waits */
		int cpu;
		char text[TEXT];
	} job[JOBS]; /* in the order of their making */
	int njobs;
	size_t smaller, waiting; /* how often, to see that both happen */
};

static int roll(struct world *w, int sides)
{
	return (int)rng_between(&w->rng, 0, sides - 1);
}

static struct uid uid_of(int job)
{
	struct uid u = {{0}};
	u.byte[0] = (uint8_t)(job + 1);
	return u;
}

/* ---- facts ----------------------------------------------------------------------------------- */

static void tell_queue(struct world *w)
{
	w->quota = w->nnodes > 1 ? 100000 : 4 + roll(w, 16);
	queue_set_namespace(w->q, &(struct namespace_spec){.name = "team"});
	make_flavor(w->q, "any");
	make_queue(w->q,
		(struct clusterqueue_spec){.name = "batch", .cluster_fit = CLUSTER_FIT_NOW}, "any",
		1000 * w->quota);
	make_localqueue(w->q, "team", "main", "batch");
}

static void tell_nodes(struct world *w)
{
	for (int i = 0; i < w->nnodes; i++) {
		char text[TEXT];
		struct arena a = {0};
		snprintf(text, sizeof(text), "n%d +cpu=%d +pods=%d zone=%d host=n%d", i,
			1 + roll(w, 12) + 6 * (w->nnodes == 1), 2 + roll(w, 9), roll(w, 2), i);
		const struct node_spec *s = words_node(&a, text);
		queue_set_node(w->q, s);
		nodes_set(w->nodes, s);
		arena_done(&a);
	}
	queue_know_cluster(w->q);
	queue_know_pods(w->q, true);
}

static void tell_job(struct world *w)
{
	static const char *const wishes[] = {"", "", "", " @zone=0", " :80",
		" app=a apart/host/app:In:a", " app=b spread/zone/1/app:In:b"};
	int i = w->njobs++;
	w->job[i].there = true;
	w->job[i].most = 1 + roll(w, 8);
	w->job[i].least = roll(w, 3) ? 1 + roll(w, w->job[i].most) : w->job[i].most;
	w->job[i].cpu = 1 + roll(w, 4);
	snprintf(w->job[i].text, TEXT, "in=team +cpu=%d%s", w->job[i].cpu, wishes[roll(w, 7)]);
	struct arena a = {0};
	struct pod *p = words_pod(&a, w->job[i].text);
	struct job j = {.uid = uid_of(i),
		.ns = "team",
		.name = "j",
		.queue = "main",
		.priority_class = "",
		.pod_priority_class = "",
		.suspend = true,
		.created_ms = i,
		.parallelism = w->job[i].most,
		.min_parallelism = w->job[i].least,
		.pod = p->resources,
		.placement = {.node_selector = p->node_selector,
			.nnode_selector = p->nnode_selector},
		.template = p};
	queue_set_job(w->q, &j);
	arena_done(&a);
}

static void drop_job(struct world *w, int i)
{
	struct uid u = uid_of(i);
	queue_drop_job(w->q, &u);
	w->job[i].there = false;
	w->quota += (int64_t)w->job[i].pods * w->job[i].cpu;
	nodes_expect(w->nodes, &u, NULL, 0);
}

/* ---- the reference --------------------------------------------------------------------------- */

/* With how many pods it is to start; 0: it waits. */
static int32_t reference(struct world *w, int i)
{
	struct arena a = {0};
	struct uid u = uid_of(i);
	struct pod *p = words_pod(&a, w->job[i].text);
	int32_t pods = nodes_room(w->nodes, p, w->job[i].most);
	if (pods > w->quota / w->job[i].cpu)
		pods = (int32_t)(w->quota / w->job[i].cpu);
	if (pods < w->job[i].least)
		pods = 0;
	if (pods > 0)
		nodes_expect(w->nodes, &u, p, pods);
	w->quota -= (int64_t)pods * w->job[i].cpu;
	w->job[i].pods = pods;
	w->smaller += pods > 0 && pods < w->job[i].most;
	w->waiting += pods == 0;
	arena_done(&a);
	return pods;
}

/* ---- the worlds ------------------------------------------------------------------------------ */

static void decide(struct world *w)
{
	struct decision d[JOBS];
	int64_t next_ms;
	size_t n = queue_decide(w->q, 0, d, JOBS, &next_ms), at = 0;
	for (int i = 0; i < w->njobs; i++) {
		if (!w->job[i].there || w->job[i].pods > 0)
			continue;
		int32_t pods = reference(w, i), got = 0;
		struct uid u = uid_of(i);
		if (at < n && uid_cmp(&d[at].uid, &u) == 0)
			got = d[at++].pods;
		if (got != pods)
			fail_msg("job %d, \"%s\" with %d to %d pods, starts with %d, not with %d",
				i, w->job[i].text, (int)w->job[i].least, (int)w->job[i].most,
				(int)got, (int)pods);
	}
	assert_int_equal(at, n);
}

/* At least a new Job, so that each pass asks about one. */
static void something_happens(struct world *w)
{
	for (int n = roll(w, 3); n > 0 && w->njobs > 0; n--) {
		int job = roll(w, w->njobs);
		if (w->job[job].there)
			drop_job(w, job);
	}
	for (int n = 1 + roll(w, 3); n > 0; n--)
		tell_job(w);
}

static void run_world(uint64_t seed, size_t *smaller, size_t *waiting)
{
	struct world *w = calloc(1, sizeof(*w));
	must(w);
	rng_seed(&w->rng, seed);
	w->nnodes = seed % 2 ? NODES : 1;
	w->q = queue_new();
	w->nodes = nodes_new();
	tell_queue(w);
	tell_nodes(w);
	for (int step = 0; step < STEPS && w->njobs < JOBS - 4; step++) {
		something_happens(w);
		decide(w);
	}
	*smaller += w->smaller;
	*waiting += w->waiting;
	queue_free(w->q);
	nodes_free(w->nodes);
	free(w);
}

static void jobs_start_as_large_as_nodes_let_them(void **state)
{
	(void)state;
	const char *only = getenv("SLUICE_SEED");
	size_t smaller = 0, waiting = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		if (only && strtoull(only, NULL, 10) != seed)
			continue;
		print_message("seed %d\n", (int)seed);
		run_world(seed, &smaller, &waiting);
	}
	assert_true(only || (smaller > 200 && waiting > 1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(jobs_start_as_large_as_nodes_let_them)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
