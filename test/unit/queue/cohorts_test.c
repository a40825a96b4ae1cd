/*
 * What is true in every Cohort tree. In seeded random worlds of one flavor Jobs come, finish and
 * are stopped, and quotas are edited. In every second world the quota is what nodes lend, which
 * changes all the time. After each decision
 *
 *   - a start fitted, at every node of the tree, beside all reservations;
 *   - no Job started before an older one of the same kind, nor, in a StrictFIFO queue, before any
 *     Job ahead of it;
 *   - no victim is unnecessary: with any one put back the demand would not fit. The search itself
 *     is asked (victims.h), for each waiting Job, because within one pass what was freed for one
 *     may be promised to another.
 *
 * At the end all Jobs that could ever fit have run, and the same seed gives the same decisions.
 * Quota and use are worked out here, by the formulas of queue/core/model/quota.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/core/admit/assign.h"
#include "queue/core/preempt/preemption.h"
#include "worlds.h"
#include "test/unit/searched.h"
#include "test/unit/core/inside.h"
#include "test/sim/rng.h"

#define STEPS 120
#define N_COHORTS 4
#define N_QUEUES 5
#define N_NODES (N_COHORTS + N_QUEUES)
#define N_JOBS 60
#define N_RESOURCES 2
#define N_DECISIONS 256

static const char *const resource_name[N_RESOURCES] = {"cpu", "memory"};
static const char *const class_name[] = {"p-1", "p0", "p1", "p2"};

enum state {
	STATE_ABSENT,
	STATE_WAITING,
	STATE_RUNNING,
	STATE_STOPPING,
	STATE_DONE,
};

struct w_job {
	enum state state;
	size_t node; /* of its ClusterQueue */
	int32_t priority;
	int64_t request[N_RESOURCES], at_ms;
	bool promised; /* after the last decision */
};

struct w_node {
	char name[16];
	int parent; /* -1: none */
	bool strict;
	int64_t nominal[N_RESOURCES], borrowing[N_RESOURCES], lending[N_RESOURCES];
	struct preemption_spec preemption;
	double weight;
	struct { /* the effective quota: of an idle pool, a part */
		int64_t nominal, borrowing, lending;
	} held[N_RESOURCES];
	int64_t subtree[N_RESOURCES], local[N_RESOURCES], use[N_RESOURCES];
};

struct world {
	struct queue *q;
	struct rng rng;
	bool fair;
	bool idle; /* the flavor has a pool: */
	int64_t pool[N_RESOURCES], most[N_RESOURCES];
	struct w_node node[N_NODES]; /* Cohorts, parents first, then ClusterQueues */
	struct w_job job[N_JOBS];
	size_t njobs;
	int64_t now_ms;
	uint64_t transcript;
	size_t searches, gap_searches;
	struct decision out[N_DECISIONS];
	size_t n;
};

/* ---- Chance ---- */

static unsigned chance(struct world *w, unsigned below)
{
	return rng_below(&w->rng, below);
}

/* ---- Quota, worked out plainly ---- */

static int64_t at_least_0(int64_t n)
{
	return n > 0 ? n : 0;
}

static int64_t part_of(int64_t limit, int64_t pool, int64_t sum)
{
	if (limit == QUOTA_UNLIMITED)
		return QUOTA_UNLIMITED;
	return sum > 0 ? limit * pool / sum : 0;
}

static void hold_quota(struct world *w, size_t r)
{
	int64_t sum = 0, held = 0;
	for (size_t i = 0; i < N_NODES; i++)
		sum += w->node[i].nominal[r];
	for (size_t i = 0; i < N_NODES; i++) {
		struct w_node *n = &w->node[i];
		int64_t pool = w->idle ? w->pool[r] : 1, of = w->idle ? sum : 1;
		n->held[r].nominal = part_of(n->nominal[r], pool, of);
		n->held[r].borrowing = part_of(n->borrowing[r], pool, of);
		n->held[r].lending = part_of(n->lending[r], pool, of);
		held += n->held[r].nominal;
	}
	assert_true(!w->idle || held <= w->pool[r]);
}

static void count_quota(struct world *w)
{
	for (size_t r = 0; r < N_RESOURCES; r++) {
		hold_quota(w, r);
		for (size_t i = 0; i < N_NODES; i++)
			w->node[i].subtree[r] = w->node[i].held[r].nominal;
		for (size_t i = N_NODES; i-- > 0;) {
			struct w_node *n = &w->node[i];
			n->local[r] = n->held[r].lending == QUOTA_UNLIMITED
					      ? 0
					      : at_least_0(n->subtree[r] - n->held[r].lending);
			if (n->parent >= 0)
				w->node[n->parent].subtree[r] += n->subtree[r] - n->local[r];
		}
	}
}

static void use_add(struct world *w, const struct w_job *j)
{
	for (size_t r = 0; r < N_RESOURCES; r++)
		w->node[j->node].use[r] += j->request[r];
}

/* Works out the use of the Cohorts from that of the ClusterQueues. */
static void use_climb(struct world *w)
{
	for (size_t r = 0; r < N_RESOURCES; r++) {
		for (size_t i = 0; i < N_COHORTS; i++)
			w->node[i].use[r] = 0;
		for (size_t i = N_NODES; i-- > 0;) {
			const struct w_node *n = &w->node[i];
			if (n->parent >= 0)
				w->node[n->parent].use[r] += at_least_0(n->use[r] - n->local[r]);
		}
	}
}

static void count_use(struct world *w)
{
	for (size_t i = 0; i < N_NODES; i++)
		memset(w->node[i].use, 0, sizeof(w->node[i].use));
	for (size_t i = 0; i < w->njobs; i++)
		if (w->job[i].state == STATE_RUNNING || w->job[i].state == STATE_STOPPING)
			use_add(w, &w->job[i]);
	use_climb(w);
}

static int64_t available(const struct world *w, int node, size_t r)
{
	const struct w_node *n = &w->node[node];
	if (n->parent < 0)
		return n->subtree[r] - n->use[r];
	int64_t above = available(w, n->parent, r);
	if (n->held[r].borrowing != QUOTA_UNLIMITED) {
		int64_t most = n->subtree[r] - n->local[r] - at_least_0(n->use[r] - n->local[r]) +
			       n->held[r].borrowing;
		above = above < most ? above : most;
	}
	return at_least_0(n->local[r] - n->use[r]) + above;
}

static int64_t potential(const struct world *w, int node, size_t r)
{
	const struct w_node *n = &w->node[node];
	if (n->parent < 0)
		return n->subtree[r];
	int64_t most = n->local[r] + potential(w, n->parent, r);
	int64_t limit = n->held[r].borrowing == QUOTA_UNLIMITED
				? INT64_MAX
				: n->subtree[r] + n->held[r].borrowing;
	return most < limit ? most : limit;
}

static bool is_too_large(const struct world *w, const struct w_job *j)
{
	for (size_t r = 0; r < N_RESOURCES; r++)
		if (w->idle && j->request[r] > w->most[r])
			return true;
	return false;
}

static bool could_ever_fit(const struct world *w, const struct w_job *j)
{
	for (size_t r = 0; r < N_RESOURCES; r++)
		if (j->request[r] > potential(w, (int)j->node, r) || is_too_large(w, j))
			return false;
	return true;
}

/* ---- Making a world ---- */

static void tell_node(struct world *w, size_t i)
{
	struct w_node *n = &w->node[i];
	struct quota_spec quota[N_RESOURCES];
	for (size_t r = 0; r < N_RESOURCES; r++)
		quota[r] = (struct quota_spec){
			resource_name[r], n->nominal[r], n->borrowing[r], n->lending[r]};
	const char *parent = n->parent >= 0 ? w->node[n->parent].name : "";
	if (i < N_COHORTS) {
		struct flavor_quota_spec flavor = {"f", quota, N_RESOURCES};
		struct resource_group_spec group = {resource_name, N_RESOURCES, &flavor, 1};
		struct cohort_spec s = {.name = n->name,
			.parent = parent,
			.groups = &group,
			.ngroups = 1,
			.weight = n->weight};
		assert_int_equal(queue_set_cohort(w->q, &s, NULL), 0);
		return;
	}
	make_queue_with(w->q,
		(struct clusterqueue_spec){.name = n->name,
			.cohort = parent,
			.strategy = n->strict ? STRICT_FIFO : BEST_EFFORT_FIFO,
			.preemption = n->preemption,
			.weight = n->weight},
		"f", quota, N_RESOURCES);
	make_localqueue(w->q, "team-a", n->name, n->name);
}

static void make_limits(struct world *w, struct w_node *n, bool is_queue)
{
	for (size_t r = 0; r < N_RESOURCES; r++) {
		n->nominal[r] = is_queue || chance(w, 3) == 0 ? chance(w, 12) : 0;
		n->borrowing[r] = n->lending[r] = QUOTA_UNLIMITED;
		if (n->parent >= 0 && chance(w, 4) == 0)
			n->borrowing[r] = chance(w, 8);
		if (n->parent >= 0 && chance(w, 4) == 0)
			n->lending[r] = chance(w, (unsigned)n->nominal[r] + 1);
	}
}

static void make_node(struct world *w, size_t i)
{
	static const double weight[] = {1, 1, 2, 0.5, 0};
	struct w_node *n = &w->node[i];
	bool is_queue = i >= N_COHORTS;
	size_t above = is_queue ? N_COHORTS : i;
	snprintf(n->name, sizeof(n->name), "%c%zu", is_queue ? 'q' : 'c', i);
	n->parent = above == 0 || (is_queue && chance(w, 8) == 0) ? -1
								  : (int)chance(w, (unsigned)above);
	n->weight = weight[chance(w, is_queue ? 5 : 4)];
	n->strict = chance(w, 3) == 0;
	n->preemption.within_clusterqueue = (enum preemption_policy)chance(w, 3);
	n->preemption.reclaim_within_cohort = (enum preemption_policy[]){
		PREEMPT_NEVER, PREEMPT_LOWER_PRIORITY, PREEMPT_ANY}[chance(w, 3)];
	n->preemption.borrow_within_cohort =
		n->preemption.reclaim_within_cohort != PREEMPT_NEVER && chance(w, 2) == 0;
	make_limits(w, n, is_queue);
	tell_node(w, i);
}

/* Now and then only one of the two moves. */
static void lend(struct world *w)
{
	for (size_t r = 0; r < N_RESOURCES; r++) {
		if (chance(w, 3) == 0)
			continue;
		w->pool[r] = chance(w, 40);
		w->most[r] = chance(w, 2) ? w->pool[r] : 3 + chance(w, 5);
	}
	queue_set_idle_pool(
		w->q, &(struct idle_pool){"f", w->pool[0], w->pool[1], w->most[0], w->most[1]});
	count_quota(w);
}

static struct world *world_new(unsigned seed)
{
	struct world *w = mem_alloc(sizeof(*w));
	struct queue_config config;
	struct flavor_spec flavor = {.name = "f"};
	w->q = queue_new();
	rng_seed(&w->rng, seed);
	w->fair = chance(w, 2) == 0;
	w->idle = seed % 2 == 0;
	flavor.lending = w->idle ? LENDING_BATCH : LENDING_NONE;
	flavor.share_permille = 1000;
	queue_config_default(&config);
	config.fair_sharing = w->fair;
	queue_configure(w->q, &config);
	queue_set_flavor(w->q, &flavor, NULL);
	make_classes(w->q, class_name, 4, -1);
	for (size_t i = 0; i < N_NODES; i++)
		make_node(w, i);
	if (w->idle)
		lend(w);
	count_quota(w);
	return w;
}

static void world_free(struct world *w)
{
	queue_free(w->q);
	free(w);
}

/* ---- What happens ---- */

static void arrive(struct world *w)
{
	if (w->njobs == N_JOBS)
		return;
	struct w_job *j = &w->job[w->njobs];
	j->state = STATE_WAITING;
	j->node = N_COHORTS + chance(w, N_QUEUES);
	j->priority = (int32_t)chance(w, 4) - 1;
	j->at_ms = w->now_ms - (int64_t)chance(w, 5);
	for (size_t r = 0; r < N_RESOURCES; r++)
		j->request[r] = chance(w, 8);
	struct resource request[N_RESOURCES] = {{"cpu", j->request[0]}, {"memory", j->request[1]}};
	struct container c = {.requests = {request, N_RESOURCES}};
	struct job job = fixture_job((uint32_t)w->njobs++, &c);
	job.lending = 1u << LENDING_NONE | 1u << LENDING_BATCH;
	job.queue = w->node[j->node].name;
	job.priority_class = (const char *[]){"p-1", "p0", "p1", "p2"}[j->priority + 1];
	job.created_ms = j->at_ms;
	queue_set_job(w->q, &job);
}

static struct w_job *any_job(struct world *w, enum state state)
{
	size_t from = w->njobs ? chance(w, (unsigned)w->njobs) : 0;
	for (size_t i = 0; i < w->njobs; i++)
		if (w->job[(from + i) % w->njobs].state == state)
			return &w->job[(from + i) % w->njobs];
	return NULL;
}

static struct uid uid_of(const struct world *w, const struct w_job *j)
{
	return fixture_uid((uint32_t)(j - w->job));
}

static void finish(struct world *w, struct w_job *j)
{
	struct uid uid = uid_of(w, j);
	queue_drop_job(w->q, &uid);
	j->state = STATE_DONE;
}

static void release(struct world *w, struct w_job *j)
{
	struct uid uid = uid_of(w, j);
	queue_release_job(w->q, &uid, w->now_ms, 0);
	j->state = STATE_WAITING;
}

static void edit(struct world *w)
{
	size_t i = N_COHORTS + chance(w, N_QUEUES);
	struct w_node *n = &w->node[i];
	for (size_t r = 0; r < N_RESOURCES; r++) {
		n->nominal[r] = chance(w, 12);
		if (n->lending[r] != QUOTA_UNLIMITED && n->lending[r] > n->nominal[r])
			n->lending[r] = n->nominal[r];
	}
	tell_node(w, i);
	count_quota(w);
}

static void happen(struct world *w)
{
	struct w_job *j;
	if (w->idle && chance(w, 6) == 0)
		lend(w);
	switch (chance(w, 6)) {
	case 0:
	case 1:
	case 2:
		arrive(w);
		break;
	case 3:
		if ((j = any_job(w, STATE_RUNNING)))
			finish(w, j);
		break;
	case 4:
		if ((j = any_job(w, STATE_STOPPING)))
			release(w, j);
		break;
	case 5:
		if (chance(w, 8) == 0)
			edit(w);
		break;
	}
}

/* ---- What must hold ---- */

static struct w_job *job_of(struct world *w, const struct uid *uid)
{
	for (size_t i = 0; i < w->njobs; i++) {
		struct uid mine = fixture_uid((uint32_t)i);
		if (memcmp(&mine, uid, sizeof(mine)) == 0)
			return &w->job[i];
	}
	must_not_get_here(); /* only those that were told can be decided */
}

/* It has a promise: its place in the order is that of a started Job. */
static bool is_promised(const struct world *w, const struct w_job *j)
{
	struct explanation why;
	struct uid uid = uid_of(w, j);
	return j->state == STATE_WAITING && queue_explain(w->q, &uid, w->now_ms, &why) &&
	       why.reason == WAIT_PREEMPTED;
}

static bool is_before(const struct w_job *a, const struct w_job *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority;
	return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a < b;
}

static bool same_kind(const struct w_job *a, const struct w_job *b)
{
	return a->priority == b->priority &&
	       memcmp(a->request, b->request, sizeof(a->request)) == 0;
}

/* In this pass no promise was made or taken back. (When one is taken back, Jobs behind it that
 * started in the same pass stay ahead.) */
static bool is_calm(const struct world *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->out[i].kind == DECISION_STOP)
			return false;
	for (size_t i = 0; i < w->njobs; i++)
		if (w->job[i].state == STATE_WAITING &&
			w->job[i].promised != is_promised(w, &w->job[i]))
			return false;
	return true;
}

/* Promises made before are kept, also before older Jobs that came meanwhile. */
static void check_order(const struct world *w, const struct w_job *started)
{
	if (started->promised)
		return;
	for (size_t i = 0; i < w->njobs; i++) {
		const struct w_job *j = &w->job[i];
		if (j->state != STATE_WAITING || j->node != started->node ||
			!is_before(j, started) || is_promised(w, j))
			continue;
		assert_false(same_kind(j, started));
		assert_false(w->node[j->node].strict && j->priority >= 0);
	}
}

static void check_start(struct world *w, struct w_job *j)
{
	assert_int_equal(j->state, STATE_WAITING);
	assert_false(is_too_large(w, j));
	count_use(w);
	for (size_t r = 0; r < N_RESOURCES; r++)
		if (j->request[r] > 0)
			assert_true(j->request[r] <= available(w, (int)j->node, r));
	j->state = STATE_RUNNING;
}

/* ---- Victims, asked of the search itself ---- */

/* With all victims but one gone it must not fit. If it may only reclaim its own quota, it must not
 * fit without borrowing. */
static void check_needed(const struct demand *d, const struct victim *v, size_t n, bool own)
{
	for (size_t i = 0; i < n; i++) {
		reservation_put_back(v[i].reservation);
		assert_true(!demand_fits(d, true) || (own && !demand_fits(d, false)));
		reservation_take_away(v[i].reservation);
	}
}

/* With reclaimWithinCohort Never only gap fillers are victims, and only for its own quota. */
static void check_reclaim(
	struct world *w, const struct workload *x, const struct victim *v, size_t n)
{
	struct clusterqueue *cq = x->group->cq;
	assert_true(x->key.priority >= 0);
	for (size_t i = 0; i < n; i++) {
		if (v[i].reservation->cq == cq ||
			cq->spec.preemption.reclaim_within_cohort != PREEMPT_NEVER)
			continue;
		assert_true(v[i].reservation->w->key.priority < 0);
		assert_int_equal(v[i].reason, PREEMPTION_IN_COHORT_RECLAMATION);
		w->gap_searches++;
	}
}

static void check_victims_for(struct world *w, const struct workload *x)
{
	struct choice choice;
	struct demand d;
	const struct victim *v;
	struct clusterqueue *cq = x->group->cq;
	const struct claim *c = &x->group->claim;
	if (assign_flavors(w->q, cq, c, x, x->shape->pods, NULL, &choice) != ASSIGN_PREEMPTS)
		return;
	demand_init(&d, x, cq, c, &choice);
	bool fits_before = demand_fits(&d, true);
	size_t n = victims_find(w->q, &d, &v);
	assert_true(demand_fits(&d, true) == fits_before);
	if (n == 0)
		return;
	w->searches++;
	struct victims_survey survey = {.made = {false}};
	assert_true(victims_from(w->q, cq, &survey) <= x->key.priority);
	check_reclaim(w, x, v, n);
	for (size_t i = 0; i < n; i++)
		reservation_take_away(v[i].reservation);
	assert_true(demand_fits(&d, true));
	check_needed(&d, v, n, !w->fair && demand_fits(&d, false));
	for (size_t i = 0; i < n; i++)
		reservation_put_back(v[i].reservation);
}

static void check_victims(struct world *w)
{
	for (size_t i = 0; i < w->njobs; i++) {
		struct uid uid = uid_of(w, &w->job[i]);
		const struct workload *x = inside_workload(w->q, &uid);
		if (x && x->group)
			check_victims_for(w, x);
	}
}

static void write_down(struct world *w, const struct decision *d)
{
	const unsigned char part[] = {d->kind, d->uid.byte[15], d->by.byte[15],
		(unsigned char)d->preemption, (unsigned char)d->reason};
	for (size_t i = 0; i < sizeof(part); i++)
		w->transcript = (w->transcript ^ part[i]) * 0x100000001B3u;
}

static size_t decide(struct world *w)
{
	int64_t next_ms;
	w->n = queue_decide(w->q, w->now_ms, w->out, N_DECISIONS, &next_ms);
	for (size_t i = 0; i < w->n; i++) {
		struct w_job *j = job_of(w, &w->out[i].uid);
		write_down(w, &w->out[i]);
		if (w->out[i].kind == DECISION_START) {
			check_start(w, j);
			continue;
		}
		assert_int_equal(j->state, STATE_RUNNING);
		j->state = STATE_STOPPING;
	}
	bool calm = is_calm(w);
	for (size_t i = 0; calm && i < w->n; i++)
		if (w->out[i].kind == DECISION_START)
			check_order(w, job_of(w, &w->out[i].uid));
	for (size_t i = 0; i < w->njobs; i++) {
		w->job[i].promised = is_promised(w, &w->job[i]);
		assert_true(!w->job[i].promised || w->job[i].priority >= 0);
	}
	return w->n;
}

/* ---- The end: all Jobs that can run do ---- */

static bool is_blocked_for_good(const struct world *w, const struct w_job *j)
{
	for (size_t i = 0; w->node[j->node].strict && i < w->njobs; i++)
		if (w->job[i].state == STATE_WAITING && w->job[i].node == j->node &&
			w->job[i].priority >= 0 && is_before(&w->job[i], j) &&
			!could_ever_fit(w, &w->job[i]))
			return true;
	return false;
}

static void drain(struct world *w)
{
	size_t still = 0;
	for (size_t rounds = 0; still < 2; rounds++) {
		struct w_job *j;
		assert_true(rounds < 20 * N_JOBS);
		w->now_ms++;
		still = decide(w) > 0 ? 0 : still + 1;
		while ((j = any_job(w, STATE_STOPPING)))
			release(w, j);
		while ((j = any_job(w, STATE_RUNNING)))
			finish(w, j);
	}
	for (size_t i = 0; i < w->njobs; i++)
		if (w->job[i].state != STATE_DONE)
			assert_true(!could_ever_fit(w, &w->job[i]) ||
				    is_blocked_for_good(w, &w->job[i]));
}

static uint64_t live(unsigned seed, size_t *searches, size_t *gap_searches)
{
	struct world *w = world_new(seed);
	for (size_t step = 0; step < STEPS; step++) {
		w->now_ms++;
		happen(w);
		check_victims(w);
		decide(w);
	}
	drain(w);
	uint64_t transcript = w->transcript;
	*searches += w->searches;
	*gap_searches += w->gap_searches;
	world_free(w);
	return transcript;
}

static void every_tree(void **state)
{
	(void)state;
	size_t searches = 0, gap_searches = 0;
	for (unsigned seed = 1; seed <= searched(55, 160); seed++) {
		uint64_t transcript = live(seed, &searches, &gap_searches);
		if (seed % 4 == 0)
			assert_true(transcript == live(seed, &searches, &gap_searches));
	}
	print_message("%zu searches found victims\n", searches);
	assert_true(searches > 300 && gap_searches > 10);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		size_t searches = 0, gap_searches = 0;
		live((unsigned)atoi(argv[1]), &searches, &gap_searches);
		return 0;
	}
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_tree)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
