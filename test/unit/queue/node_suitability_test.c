/*
 * Random worlds of nodes, flavors and Jobs, against a plain reference: for a Job that starts some
 * node could take its pods, or one could be made, and a Job waits because no node suits exactly when
 * none does, in any flavors.
 *
 * The reference is told everything in words (test/unit/cluster/words.h): a start adds more words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/must.h"
#include "queue/cluster/nodes_priv.h"
#include "queue/core/model/state.h"
#include "queue/features/nodes/node_suitability.h"
#include "test/unit/cluster/words.h"
#include "sluice/queue.h"
#include "test/unit/searched.h"
#include "test/unit/queue/worlds.h"
#include "test/sim/rng.h"

enum { STEPS = 60, NODES = 6, JOBS = 24, QUEUES = 3, TEXT = 160 };

/* Flavors of the two resource groups: each may have a label and a toleration. */
static const struct {
	const char *name, *label, *value, *tolerates, *words;
} flavors[] = {
	{"any", NULL, NULL, NULL, ""},
	{"small", "pool", "small", NULL, " @pool=small"},
	{"spot", "pool", "spot", "spot", " @pool=spot ~spot"},
	{"a100", "gpu", "a100", "gpu", " @gpu=a100 ~gpu"},
	{"h100", "gpu", "h100", NULL, " @gpu=h100"},
};
enum { OF_CPU = 3, FLAVORS = 5 };

struct world {
	struct rng rng;
	struct queue *q;
	bool known;
	char node[NODES][TEXT]; /* "" : there is none */
	enum node_pool pool[FLAVORS];
	enum cluster_fit fit[QUEUES];
	size_t first_flavor[QUEUES]; /* of cpu */
	struct {
		bool there, runs;
		char text[TEXT];
		bool asks_gpu;
		int queue;
	} job[JOBS];
	size_t nowhere, started; /* how often, to see that both happen */
};

static int roll(struct world *w, int sides)
{
	return (int)rng_between(&w->rng, 0, sides - 1);
}

static const char *pick(struct world *w, const char *const *of, int n)
{
	return of[roll(w, n)];
}

/* ---- facts ----------------------------------------------------------------------------------- */

static void tell_flavors(struct world *w)
{
	for (size_t i = 0; i < FLAVORS; i++) {
		struct label label = {flavors[i].label, flavors[i].value};
		struct toleration toleration = {
			flavors[i].tolerates, "", TOLERATION_EXISTS, TAINT_ANY, false, 0};
		struct flavor_spec s = {.name = flavors[i].name};
		s.nodes.labels = &label;
		s.nodes.nlabels = label.key != NULL;
		s.nodes.tolerations = &toleration;
		s.nodes.ntolerations = toleration.key != NULL;
		s.pool = w->pool[i] = (enum node_pool)(roll(w, 4) ? NODE_POOL_UNSAID : roll(w, 3));
		queue_set_flavor(w->q, &s, NULL);
	}
}

static void tell_queue(struct world *w, int i)
{
	static const char *const names[] = {"q0", "q1", "q2"}, *const cpu[] = {"cpu"},
				 *const gpu[] = {"gpu"};
	static const enum queueing_strategy strategies[] = {
		BEST_EFFORT_FIFO, STRICT_FIFO, BACKFILL};
	struct quota_spec quota[FLAVORS];
	struct flavor_quota_spec flavor[FLAVORS];
	for (size_t f = 0; f < FLAVORS; f++) {
		bool of_cpu = f < OF_CPU;
		quota[f] = (struct quota_spec){of_cpu ? "cpu" : "gpu",
			of_cpu ? 1000 * (4 + roll(w, 30)) : roll(w, 9), QUOTA_UNLIMITED,
			QUOTA_UNLIMITED};
		flavor[f] = (struct flavor_quota_spec){flavors[f].name, &quota[f], 1};
	}
	size_t from = (size_t)roll(w, OF_CPU);
	const struct resource_group_spec group[] = {{cpu, 1, flavor + from, OF_CPU - from},
		{gpu, 1, flavor + OF_CPU, FLAVORS - OF_CPU}};
	w->first_flavor[i] = from;
	w->fit[i] = roll(w, 5) == 0 ? CLUSTER_FIT_IGNORE : CLUSTER_FIT_POSSIBLE;
	struct clusterqueue_spec s = {.name = names[i],
		.cohort = "",
		.groups = group,
		.ngroups = 2,
		.strategy = strategies[roll(w, 3)],
		.has_namespace_selector = true,
		.weight = 1,
		.cluster_fit = w->fit[i]};
	s.preemption.within_clusterqueue = roll(w, 2) ? PREEMPT_LOWER_PRIORITY : PREEMPT_NEVER;
	must(queue_set_clusterqueue(w->q, &s, NULL) == 0);
	make_localqueue(w->q, "team", names[i], names[i]);
}

static void tell_node(struct world *w, int i)
{
	static const char *const pools[] = {"", " pool=small", " pool=spot"};
	static const char *const gpus[] = {
		"", "", " gpu=a100 +gpu=8", " gpu=h100 +gpu=4 zone=x", " gpu=h100 +gpu=8"};
	static const char *const taints[] = {"", "", "", " !spot=yes:NoSchedule",
		" !gpu=yes:NoExecute", " !x=:NoSchedule",
		" !node.kubernetes.io/not-ready=:NoExecute", " cordon"};
	struct arena a = {0};
	snprintf(w->node[i], TEXT, "n%d +cpu=%d%s%s%s", i, 1 + roll(w, 12), pick(w, pools, 3),
		pick(w, gpus, 5), pick(w, taints, 8));
	queue_set_node(w->q, words_node(&a, w->node[i]));
	arena_done(&a);
}

static void drop_node(struct world *w, int i)
{
	char name[8];
	snprintf(name, sizeof(name), "n%d", i);
	queue_drop_node(w->q, name);
	w->node[i][0] = '\0';
}

static struct uid uid_of(int job)
{
	struct uid u = {{0}};
	u.byte[0] = (uint8_t)(job + 1);
	return u;
}

static void tell_job(struct world *w, int i)
{
	static const char *const wishes[] = {"", "", "", "", " @zone=x", " @pool=spot", " ~spot",
		" ~x", " :80", " ?pool:NotIn:small"};
	static const char *const classes[] = {"", "", "high"};
	static const char *const queues[] = {"q0", "q1", "q2"};
	int gpus = roll(w, 3) ? 0 : 1 + roll(w, 8);
	char gpu[32] = "";
	if (gpus > 0)
		snprintf(gpu, sizeof(gpu), " +gpu=%d", gpus);
	w->job[i].there = true;
	w->job[i].runs = false;
	w->job[i].asks_gpu = gpus > 0;
	w->job[i].queue = roll(w, QUEUES);
	snprintf(w->job[i].text, TEXT, "in=team +cpu=%d%s%s", 1 + roll(w, 10), gpu,
		pick(w, wishes, 10));

	struct arena a = {0};
	struct pod *p = words_pod(&a, w->job[i].text);
	struct job j = {.uid = uid_of(i),
		.ns = "team",
		.name = "j",
		.queue = queues[w->job[i].queue],
		.priority_class = pick(w, classes, 3),
		.pod_priority_class = "",
		.suspend = true,
		.parallelism = 1 + roll(w, 2),
		.pod = p->resources,
		.placement = {.node_selector = p->node_selector,
			.nnode_selector = p->nnode_selector,
			.tolerations = p->tolerations,
			.ntolerations = p->ntolerations,
			.terms = p->terms,
			.nterms = p->nterms},
		.template = p};
	queue_set_job(w->q, &j);
	arena_done(&a);
}

static void drop_job(struct world *w, int i)
{
	struct uid u = uid_of(i);
	queue_drop_job(w->q, &u);
	w->job[i].there = false;
}

/* ---- the reference --------------------------------------------------------------------------- */

static bool any_node(const struct world *w)
{
	for (size_t i = 0; i < NODES; i++)
		if (w->node[i][0])
			return true;
	return false;
}

/* Can nodes of the flavor be made: it says so, or has none and does not say otherwise? */
static bool can_be_made(const struct world *w, const char *words)
{
	size_t f = 0;
	while (strcmp(flavors[f].words, words) != 0)
		f++;
	bool any = !flavors[f].label;
	for (size_t i = 0; i < NODES && !any; i++) {
		char label[32];
		snprintf(label, sizeof(label), " %s=%s", flavors[f].label, flavors[f].value);
		any = strstr(w->node[i], label) != NULL;
	}
	return w->pool[f] == NODE_POOL_AUTOSCALED || (w->pool[f] == NODE_POOL_UNSAID && !any);
}

/* Could some node take the pods of the Job, with these words of a flavor of cpu, and of one of gpus
 * or of none, or could one be made? */
static bool could(const struct world *w, int job, const char *one, const char *two)
{
	if (can_be_made(w, one) || (*two && can_be_made(w, two)))
		return true;
	struct arena a = {0};
	struct fit_answer answer;
	char text[2 * TEXT];
	struct nodes *n = nodes_new();
	for (size_t i = 0; i < NODES; i++)
		if (w->node[i][0])
			nodes_set(n, words_node(&a, w->node[i]));
	snprintf(text, sizeof(text), "%s%s%s", w->job[job].text, one, two);
	nodes_fit(n, words_pod(&a, text), &answer);
	nodes_free(n);
	arena_done(&a);
	return answer.fit != FIT_NEVER;
}

static const char *words_of(const char *flavor)
{
	for (size_t f = 0; f < FLAVORS; f++)
		if (strcmp(flavors[f].name, flavor) == 0)
			return flavors[f].words;
	return "";
}

static bool is_asked(const struct world *w, int job)
{
	return w->known && any_node(w) && w->fit[w->job[job].queue] != CLUSTER_FIT_IGNORE;
}

static void who_starts_could_run(struct world *w, const struct decision *d)
{
	struct quota_line line[QUEUE_LINES_MAX];
	const char *two = "", *one = "";
	int job = d->uid.byte[0] - 1;
	size_t n = queue_job_lines(w->q, &d->uid, line);
	for (size_t i = 0; i < n; i++)
		*(strcmp(line[i].resource, "gpu") == 0 ? &two : &one) = words_of(line[i].flavor);
	w->job[job].runs = true;
	w->started++;
	if (is_asked(w, job) && !could(w, job, one, two))
		fail_msg("%s starts with \"%s%s\"", w->job[job].text, one, two);
}

/* The Job's own node selector contradicts the flavor's label. */
static bool is_another_flavor(const struct world *w, int job, size_t flavor)
{
	const char *text = w->job[job].text;
	return strcmp(flavors[flavor].name, "small") == 0 &&
	       (strstr(text, "@pool=spot") || strstr(text, "?pool:NotIn:small"));
}

static bool could_with(const struct world *w, int job, size_t flavor)
{
	if (!w->job[job].asks_gpu)
		return could(w, job, flavors[flavor].words, "");
	for (size_t g = OF_CPU; g < FLAVORS; g++)
		if (could(w, job, flavors[flavor].words, flavors[g].words))
			return true;
	return false;
}

/* Could some node, in any flavors of its ClusterQueue that it may use? */
static bool could_anywhere(const struct world *w, int job)
{
	for (size_t f = w->first_flavor[w->job[job].queue]; f < OF_CPU; f++)
		if (!is_another_flavor(w, job, f) && could_with(w, job, f))
			return true;
	return false;
}

static void who_waits_so_could_not(struct world *w, int job)
{
	struct explanation x;
	struct uid u = uid_of(job);
	must(queue_explain(w->q, &u, 0, &x));
	bool nowhere = x.reason == WAIT_NEVER_FITS;
	w->nowhere += nowhere;
	if (nowhere && !is_asked(w, job))
		fail_msg("%s was asked about", w->job[job].text);
	if (nowhere && could_anywhere(w, job))
		fail_msg("%s could run: %s", w->job[job].text, x.sentence);
	if (!nowhere && x.reason > WAIT_NEVER_FITS && is_asked(w, job) && !could_anywhere(w, job))
		fail_msg("%s could not run, and %s", w->job[job].text, x.sentence);
}

/* ---- the worlds ------------------------------------------------------------------------------ */

static void decide(struct world *w)
{
	struct decision d[JOBS];
	int64_t next_ms;
	size_t n = queue_decide(w->q, 0, d, JOBS, &next_ms);
	for (size_t i = 0; i < n; i++)
		if (d[i].kind == DECISION_START)
			who_starts_could_run(w, &d[i]);
	for (int i = 0; i < JOBS; i++)
		if (w->job[i].there && !w->job[i].runs)
			who_waits_so_could_not(w, i);
	for (size_t i = 0; i < n; i++) {
		if (d[i].kind != DECISION_STOP)
			continue;
		queue_release_job(w->q, &d[i].uid, 0, 0);
		w->job[d[i].uid.byte[0] - 1].runs = false;
	}
}

static void something_happens(struct world *w)
{
	int job = roll(w, JOBS), node = roll(w, NODES), what = roll(w, 12);
	if (what == 0)
		w->known = true, queue_know_cluster(w->q);
	else if (what == 1)
		tell_queue(w, roll(w, QUEUES));
	else if (what == 2)
		tell_flavors(w);
	else if (what < 5)
		tell_node(w, node);
	else if (what == 5)
		drop_node(w, node);
	else if (w->job[job].there)
		drop_job(w, job);
	else
		tell_job(w, job);
}

static void run_world(uint64_t seed, size_t *nowhere, size_t *started)
{
	struct world *w = calloc(1, sizeof(*w));
	must(w);
	rng_seed(&w->rng, seed);
	w->q = queue_new();
	queue_set_namespace(w->q, &(struct namespace_spec){.name = "team"});
	queue_set_priority(w->q,
		&(struct priority_spec){.kind = PRIORITY_WORKLOAD, .name = "high", .value = 5});
	tell_flavors(w);
	for (int i = 0; i < QUEUES; i++)
		tell_queue(w, i);
	for (int step = 0; step < STEPS; step++) {
		for (int n = 1 + roll(w, 3); n > 0; n--)
			something_happens(w);
		decide(w);
	}
	*nowhere += w->nowhere;
	*started += w->started;
	queue_free(w->q);
	free(w);
}

static void nodes_and_decisions_agree(void **state)
{
	(void)state;
	const char *only = getenv("SLUICE_SEED");
	size_t nowhere = 0, started = 0;
	for (uint64_t seed = 1; seed <= searched(20, 60); seed++) {
		if (only && strtoull(only, NULL, 10) != seed)
			continue;
		print_message("seed %d\n", (int)seed);
		run_world(seed, &nowhere, &started);
	}
	assert_true(only || (nowhere > 150 && started > 150));
}

enum { MANY_JOBS = 8000, MANY_NODES = 5000, SELECTORS = 100 };

static void tell_many_nodes(struct queue *q)
{
	for (int i = 0; i < MANY_NODES; i++) {
		struct arena a = {0};
		char text[TEXT];
		snprintf(text, sizeof(text), "n%d pool=%s +cpu=%d +memory=64", i,
			i % 2 ? "spot" : "on-demand", 8 + i % 5);
		queue_set_node(q, words_node(&a, text));
		arena_done(&a);
	}
	queue_know_cluster(q);
}

static void tell_many_jobs(struct queue *q)
{
	for (uint32_t i = 0; i < MANY_JOBS; i++) {
		struct arena a = {0};
		char text[TEXT];
		snprintf(text, sizeof(text), "in=team-a +cpu=4 @zone=none-%d", (int)i % SELECTORS);
		struct pod *p = words_pod(&a, text);
		struct job j = fixture_job(i + 1, NULL);
		j.pod = p->resources;
		j.placement.node_selector = p->node_selector;
		j.placement.nnode_selector = p->nnode_selector;
		j.template = p;
		queue_set_job(q, &j);
		arena_done(&a);
	}
}

/* No Job of these asks for too much, so each explanation looks at what the nodes of both flavors
 * have. Counted, as it was 16,000 walks. */
static void explanations_of_many_walk_over_the_nodes_once(void **state)
{
	struct queue *q = fixture_new(100000, 100000);
	struct explanation e;
	(void)state;
	tell_many_nodes(q);
	tell_many_jobs(q);
	struct decision none;
	int64_t next_ms;
	assert_int_equal(queue_decide(q, 1, &none, 1, &next_ms), 0);
	const struct nodes *n = q->node_suitability->nodes;
	uint64_t before = n->sum_walks;
	for (uint32_t i = 0; i < MANY_JOBS; i++) {
		struct uid uid = fixture_uid(i + 1);
		assert_true(queue_explain(q, &uid, 1, &e));
		assert_int_equal(e.reason, WAIT_NEVER_FITS);
		assert_null(strstr(e.sentence, "the largest node"));
	}
	assert_int_equal(n->sum_walks - before, 2);
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(nodes_and_decisions_agree),
		cmocka_unit_test(explanations_of_many_walk_over_the_nodes_once)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
