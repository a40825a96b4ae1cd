/*
 * Victims against all sets of candidates: seeded random worlds in which some Jobs run and one wants
 * to start. Only the search is asked (victims.h). Beside it all subsets of the candidates are
 * tried, by the rules of docs/queues.md:
 *
 *   - there are victims exactly where the plain order finds some, and it finds none where the sums
 *     (victims.c) say so beforehand;
 *   - classic: they may go, one after another, and suffice; no other such set costs less;
 *   - fair: each ClusterQueue gives back what it gives back in the plain order; no other such set
 *     costs less;
 *   - the quota tree is as before.
 *
 * With a number as its argument it tries so many worlds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/must.h"
#include "queue/cluster/pod.h"
#include "queue/core/admit/assign.h"
#include "test/unit/core/inside.h"
#include "queue/core/preempt/preemption.h"
#include "worlds.h"
#include "test/sim/rng.h"

enum { WORLDS = 1000, RUNS = 9, QUEUES = 3, COHORTS = 2, RESOURCES = 2, BUDGETS = 2, ASKER = 99 };

static const char *const resource_name[RESOURCES] = {"cpu", "memory"};
static const char *const queue_name[QUEUES] = {"q0", "q1", "q2"};
static const char *const cohort_name[COHORTS] = {"root", "below"};
static const char *const class_name[] = {"p-1", "p0", "p1", "p2"};

/* The labels that a budget selects, a bit each. */
static const struct {
	const char *name;
	unsigned apps;
} budgets[BUDGETS] = {{"of-a", 1u << 0}, {"of-a-and-b", 1u << 0 | 1u << 1}};
static const char *const app_name[] = {"a", "b", "c"};

struct run {
	struct uid uid;
	struct reservation *reservation;
	size_t app;
	int kind; /* enum candidate_kind: 0 by right, 1 by priority, 2 its own ClusterQueue */
	const struct quota_node *shared;
};

struct world {
	struct rng rng;
	struct queue *q;
	bool fair;
	size_t nqueues, nruns;
	struct run run[RUNS];
	bool has_budget[BUDGETS];
	int32_t allowed[BUDGETS];

	struct demand d;
	size_t n; /* candidates */
	const struct run *who[RUNS];
};

static size_t below(struct world *w, size_t n)
{
	return (size_t)rng_between(&w->rng, 0, (int64_t)n - 1);
}

/* ---- a world --------------------------------------------------------------------------------- */

static void tell_queue(struct world *w, size_t i, const char *cohort,
	const int64_t nominal[RESOURCES], const struct preemption_spec *preemption)
{
	struct quota_spec quota[RESOURCES];
	for (size_t r = 0; r < RESOURCES; r++)
		quota[r] = (struct quota_spec){
			resource_name[r], nominal[r], QUOTA_UNLIMITED, QUOTA_UNLIMITED};
	make_queue_with(w->q,
		(struct clusterqueue_spec){.name = queue_name[i],
			.cohort = cohort,
			.preemption = *preemption,
			.weight = 1},
		"f", quota, RESOURCES);
}

static struct preemption_spec any_preemption(struct world *w)
{
	static const enum preemption_policy reclaims[] = {
		PREEMPT_NEVER, PREEMPT_LOWER_PRIORITY, PREEMPT_ANY, PREEMPT_ANY};
	static const enum preemption_policy withins[] = {
		PREEMPT_NEVER, PREEMPT_LOWER_PRIORITY, PREEMPT_LOWER_OR_NEWER_EQUAL_PRIORITY};
	struct preemption_spec p = {.reclaim_within_cohort = reclaims[below(w, 4)],
		.within_clusterqueue = withins[below(w, 3)]};
	p.borrow_within_cohort = p.reclaim_within_cohort != PREEMPT_NEVER && below(w, 2);
	p.has_max_priority = p.borrow_within_cohort && below(w, 2);
	p.max_priority = (int32_t)below(w, 3) - 1;
	return p;
}

/* Quota for all, so that all start. */
static void tell_queues(struct world *w)
{
	static const int64_t all[RESOURCES] = {1000, 1000};
	const struct preemption_spec nobody = {
		.within_clusterqueue = PREEMPT_NEVER, .reclaim_within_cohort = PREEMPT_NEVER};
	for (size_t i = 0; i < w->nqueues; i++) {
		tell_queue(w, i, "", all, &nobody);
		make_localqueue(w->q, "team-a", queue_name[i], queue_name[i]);
	}
}

static int64_t use_of(const struct world *w, size_t queue, size_t resource)
{
	int64_t use = 0;
	for (size_t i = 0; i < w->nruns; i++) {
		const struct reservation *r = w->run[i].reservation;
		for (size_t k = 0; k < r->nlines; k++)
			if (strcmp(r->cq->node->name + strlen("cq/"), queue_name[queue]) == 0 &&
				strcmp(r->line[k].row->resource, resource_name[resource]) == 0)
				use += r->line[k].amount;
	}
	return use;
}

/* Lowers quotas, so that runs borrow, or use even more than there is. */
static void tighten(struct world *w)
{
	struct cohort_spec s = {.name = cohort_name[1], .parent = cohort_name[0], .weight = 1};
	must(queue_set_cohort(w->q, &s, NULL) == 0);
	bool alone = w->nqueues == 1 || below(w, 8) == 0;
	for (size_t i = 0; i < w->nqueues; i++) {
		const struct preemption_spec preemption = any_preemption(w);
		int64_t nominal[RESOURCES];
		for (size_t r = 0; r < RESOURCES; r++) {
			int64_t most = use_of(w, i, r) + rng_between(&w->rng, -5, 6);
			nominal[r] = most > 0 ? most : 0;
		}
		tell_queue(w, i, alone ? "" : cohort_name[below(w, 4) == 0], nominal, &preemption);
	}
}

static void tell_job(struct world *w, uint32_t n, size_t queue, size_t app, bool suspend,
	int32_t pods, const int64_t request[RESOURCES], const char *priority, int64_t created_ms)
{
	struct resource list[RESOURCES] = {{"cpu", request[0], 0}, {"memory", request[1], 0}};
	struct container c = {.requests = {list, RESOURCES}};
	struct label label = {"app", app_name[app]};
	struct pod template = {.ns = "team-a",
		.labels = &label,
		.nlabels = 1,
		.resources = {.containers = &c, .ncontainers = 1, .runtime_class = ""},
		.priority_class = "",
		.node_name = "",
		.scheduler = ""};
	struct job j = fixture_job(n, &c);
	j.queue = queue_name[queue];
	j.priority_class = priority;
	j.parallelism = j.completions = pods;
	j.created_ms = created_ms;
	j.template = &template;
	j.suspend = suspend;
	queue_set_job(w->q, &j);
}

/* Each starts at a moment of its own. The labels of pods are known of reservations. */
static void start_one(struct world *w, uint32_t n)
{
	struct run *r = &w->run[n];
	size_t queue = below(w, w->nqueues);
	const char *priority = class_name[below(w, 5) ? below(w, 3) : 3];
	int64_t request[RESOURCES], next_ms, created_ms = (int64_t)below(w, 20);
	int32_t pods = 1 + (int32_t)below(w, 3);
	struct decision out[2];
	r->uid = fixture_uid(n + 1);
	r->app = below(w, 3);
	for (size_t i = 0; i < RESOURCES; i++)
		request[i] = w->fair ? 1 : (int64_t)below(w, 4); /* fair: many alike */
	tell_job(w, n + 1, queue, r->app, true, pods, request, priority, created_ms);
	must(queue_decide(w->q, 100 + (int64_t)n, out, 2, &next_ms) == 1);
	must(out[0].kind == DECISION_START);
	tell_job(w, n + 1, queue, r->app, false, pods, request, priority, created_ms);
	r->reservation = inside_workload(w->q, &r->uid)->reservation;
	must(r->reservation && r->reservation->pods == pods);
}

static void tell_budgets(struct world *w)
{
	for (size_t b = 0; b < BUDGETS; b++) {
		static const char *const values[] = {"a", "b"};
		struct requirement in = {.key = "app",
			.op = SELECTOR_IN,
			.values = values,
			.nvalues = budgets[b].apps == 1 ? 1 : 2};
		w->has_budget[b] = below(w, 2) == 0;
		w->allowed[b] = (int32_t)below(w, 4);
		if (w->has_budget[b])
			queue_set_disruption_budget(
				w->q, &(struct disruption_budget_spec){.ns = "team-a",
					      .name = budgets[b].name,
					      .selector = {&in, 1},
					      .allowed = w->allowed[b]});
	}
}

static void world_init(struct world *w, uint64_t seed)
{
	struct queue_config config;
	*w = (struct world){.q = queue_new()};
	rng_seed(&w->rng, seed);
	w->fair = seed % 4 == 0;
	w->nqueues = seed % 5 == 0 ? 1 : QUEUES;
	w->nruns = 2 + below(w, RUNS - 1);
	queue_config_default(&config);
	config.fair_sharing = w->fair;
	queue_configure(w->q, &config);
	make_flavor(w->q, "f");
	make_classes(w->q, class_name, 4, -1);
	tell_queues(w);
	for (uint32_t i = 0; i < w->nruns; i++)
		start_one(w, i);
	tell_budgets(w);
	tighten(w);
}

/* Draws the Job that wants to start; false: it needs no victims, or may not preempt. */
static bool ask(struct world *w)
{
	struct choice choice;
	struct uid uid = fixture_uid(ASKER);
	int64_t request[RESOURCES];
	for (size_t i = 0; i < RESOURCES; i++)
		request[i] = (int64_t)below(w, 10);
	tell_job(w, ASKER, 0, 2, true, 1, request, class_name[below(w, 3) ? 3 : 1 + below(w, 2)],
		(int64_t)below(w, 20));
	const struct workload *x = inside_workload(w->q, &uid);
	if (!x->group)
		return false;
	const struct claim *c = &x->group->claim;
	if (assign_flavors(w->q, x->group->cq, c, x, x->shape->pods, NULL, &choice) !=
		ASSIGN_PREEMPTS)
		return false;
	demand_init(&w->d, x, x->group->cq, c, &choice);
	return true;
}

/* ---- Candidates ------------------------------------------------------------------------------ */

static const struct quota_row *row_at(
	const struct world *w, const struct quota_node *node, const struct quota_row *row)
{
	return node == row->node ? row : quota_row_like(inside_quota(w->q), node, row);
}

static bool borrows(const struct world *w, const struct quota_node *node)
{
	for (size_t i = 0; i < w->d.nlines; i++) {
		const struct quota_row *row =
			w->d.line[i].contested ? row_at(w, node, w->d.line[i].row) : NULL;
		if (row && quota_borrows(row, QUOTA_THEN))
			return true;
	}
	return false;
}

static bool holds_what_lacks(const struct world *w, const struct reservation *r)
{
	for (size_t i = 0; i < r->nlines; i++)
		for (size_t k = 0; k < w->d.nlines; k++)
			if (w->d.line[k].contested && r->line[i].amount > 0 &&
				r->line[i].row->resource == w->d.line[k].row->resource)
				return true;
	return false;
}

static bool policy_lets(const struct world *w, const struct reservation *r)
{
	const struct preemption_spec *p = &w->d.cq->spec.preemption;
	const struct order_key *mine = &w->d.w->key, *theirs = &r->w->key;
	enum preemption_policy policy =
		r->cq == w->d.cq ? p->within_clusterqueue : p->reclaim_within_cohort;
	if (policy == PREEMPT_NEVER)
		return r->cq != w->d.cq && theirs->priority < 0;
	if (policy == PREEMPT_ANY || mine->priority > theirs->priority)
		return true;
	return policy == PREEMPT_LOWER_OR_NEWER_EQUAL_PRIORITY &&
	       mine->priority == theirs->priority && mine->queued_ms < theirs->queued_ms;
}

static const struct quota_node *meet(const struct quota_node *a, const struct quota_node *b)
{
	for (; a; a = a->parent)
		for (const struct quota_node *n = b; n; n = n->parent)
			if (n == a)
				return a;
	return NULL;
}

/* Does the demand fit in the quota of a node below that one? What exceeds local goes up. */
static bool fits_below(const struct world *w, const struct quota_node *node)
{
	bool fits = false;
	__int128 rest[QUEUE_LINES_MAX];
	for (size_t i = 0; i < w->d.nlines; i++)
		rest[i] = w->d.line[i].amount;
	for (const struct quota_node *n = w->d.cq->node; n != node; n = n->parent) {
		bool here = true;
		for (size_t i = 0; i < w->d.nlines; i++) {
			const struct quota_row *row = row_at(w, n, w->d.line[i].row);
			__int128 local = row ? quota_local_free(row, QUOTA_THEN) : 0;
			here = here && row && !quota_borrows_with(row, QUOTA_THEN, rest[i]);
			rest[i] = rest[i] > local ? rest[i] - local : 0;
		}
		fits = fits || here;
	}
	return fits;
}

static void find_candidates(struct world *w)
{
	bool gaps_only = w->d.cq->spec.preemption.reclaim_within_cohort == PREEMPT_NEVER;
	for (size_t i = 0; i < w->nruns; i++) {
		struct run *r = &w->run[i];
		bool own = r->reservation->cq == w->d.cq;
		r->shared = meet(w->d.cq->node, r->reservation->cq->node);
		if (!r->shared || !policy_lets(w, r->reservation) ||
			!holds_what_lacks(w, r->reservation))
			continue;
		r->kind = own ? 2 : fits_below(w, r->shared) && !gaps_only ? 0 : 1;
		w->who[w->n++] = r;
	}
}

/* ---- what a set costs ------------------------------------------------------------------------ */

struct cost { /* as docs/queues.md counts it, the first step first; less is better */
	__int128 step[7];
};

static bool more_important(const struct reservation *a, const struct reservation *b)
{
	if (a->w->key.priority != b->w->key.priority)
		return a->w->key.priority > b->w->key.priority;
	return a->reserved_ms < b->reserved_ms;
}

/* Pod by pod: a pod is a violation if any of its budgets has none left. */
static int64_t violations(const struct world *w, unsigned set)
{
	int64_t left[BUDGETS], over = 0;
	for (size_t b = 0; b < BUDGETS; b++)
		left[b] = w->allowed[b];
	for (unsigned todo = set; todo;) {
		size_t first = (size_t)__builtin_ctz(todo);
		for (size_t i = first + 1; i < w->n; i++)
			if ((todo >> i & 1) &&
				more_important(w->who[i]->reservation, w->who[first]->reservation))
				first = i;
		todo &= ~(1u << first);
		for (int32_t pod = 0; pod < w->who[first]->reservation->pods; pod++) {
			bool too_many = false;
			for (size_t b = 0; b < BUDGETS; b++)
				if (w->has_budget[b] && (budgets[b].apps >> w->who[first]->app & 1))
					too_many = left[b]-- <= 0 || too_many;
			over += too_many;
		}
	}
	return over;
}

static struct cost cost_of(const struct world *w, unsigned set)
{
	struct cost c = {{0, violations(w, set), INT64_MIN, 0, 0, 0, 0}};
	int64_t start = INT64_MAX;
	for (size_t i = 0; i < w->n; i++) {
		if (!(set >> i & 1))
			continue;
		const struct reservation *r = w->who[i]->reservation;
		int32_t priority = r->w->key.priority;
		c.step[0] = w->who[i]->kind > c.step[0] ? w->who[i]->kind : c.step[0];
		if (priority > c.step[2] || (priority == c.step[2] && r->reserved_ms < start))
			start = r->reserved_ms;
		c.step[2] = priority > c.step[2] ? priority : c.step[2];
		c.step[3] += ((__int128)priority + (INT64_C(1) << 31)) * r->pods;
		c.step[4] += r->pods;
		c.step[6] -= (__int128)r->reserved_ms * r->pods;
	}
	c.step[5] = -(__int128)start;
	return c;
}

static bool costs_less(const struct cost *a, const struct cost *b)
{
	size_t i = 0;
	while (i < 6 && a->step[i] == b->step[i])
		i++;
	return a->step[i] < b->step[i];
}

/* ---- which sets would do --------------------------------------------------------------------- */

static void displace(struct world *w, unsigned set)
{
	for (size_t i = 0; i < w->n; i++)
		if (set >> i & 1)
			reservation_take_away(w->who[i]->reservation);
}

static void undo(struct world *w, unsigned set)
{
	for (size_t i = 0; i < w->n; i++)
		if (set >> i & 1)
			reservation_put_back(w->who[i]->reservation);
}

/* May it go now, with those away that are? */
static bool may_go(const struct world *w, const struct run *r, bool may_borrow)
{
	const struct preemption_spec *p = &w->d.cq->spec.preemption;
	int32_t theirs = r->reservation->w->key.priority;
	if (r->kind == 2)
		return true;
	if (may_borrow && r->kind == 1 &&
		(!p->borrow_within_cohort || theirs >= w->d.w->key.priority ||
			(p->has_max_priority && theirs > p->max_priority)))
		return false;
	for (const struct quota_node *n = r->reservation->cq->node; n != r->shared; n = n->parent)
		if (!borrows(w, n))
			return false;
	return true;
}

/* Sets that may go in some order, and those of them that are enough. Each with borrowing allowed in
 * the end, and without. */
struct sets {
	bool may[2][1u << RUNS], does[2][1u << RUNS];
};

static void find_sets(struct world *w, struct sets *s)
{
	memset(s, 0, sizeof(*s));
	s->may[0][0] = s->may[1][0] = true;
	for (unsigned set = 0; set < 1u << w->n; set++) {
		if (!s->may[0][set] && !s->may[1][set])
			continue;
		displace(w, set);
		for (int borrow = 0; borrow < 2; borrow++) {
			s->does[borrow][set] = s->may[borrow][set] && demand_fits(&w->d, borrow);
			for (size_t i = 0; i < w->n && s->may[borrow][set]; i++)
				if (!(set >> i & 1) && may_go(w, w->who[i], borrow))
					s->may[borrow][set | 1u << i] = true;
		}
		undo(w, set);
	}
}

/* ---- what was found -------------------------------------------------------------------------- */

static unsigned bits_of(const struct world *w, const struct victim *v, size_t n)
{
	unsigned set = 0;
	for (size_t k = 0; k < n; k++) {
		size_t i = 0;
		while (i < w->n && w->who[i]->reservation != v[k].reservation)
			i++;
		must(i < w->n && !(set >> i & 1)); /* a candidate, and not twice */
		set |= 1u << i;
	}
	return set;
}

/* What is wrong with it; NULL: nothing. The plain order borrowed or did not. Where both would
 * explain its set, another set is better only if it is better in both cases. */
static const char *check_classic(struct world *w, unsigned plain, unsigned found)
{
	static struct sets s;
	find_sets(w, &s);
	if (!s.does[0][plain] && !s.does[1][plain])
		return "the plain set may not go, or is not enough";
	if (!(s.does[0][plain] && s.does[0][found]) && !(s.does[1][plain] && s.does[1][found]))
		return "the set may not go, or is not enough";
	struct cost mine = cost_of(w, found);
	for (unsigned set = 1; set < 1u << w->n; set++) {
		bool does = (!s.does[0][plain] || s.does[0][set]) &&
			    (!s.does[1][plain] || s.does[1][set]);
		struct cost theirs = cost_of(w, does ? set : found);
		if (costs_less(&theirs, &mine))
			return "another set hurts less";
	}
	return NULL;
}

static bool are_alike(const struct reservation *a, const struct reservation *b)
{
	bool same = a->cq == b->cq && a->nlines == b->nlines;
	for (size_t i = 0; same && i < a->nlines; i++)
		same = a->line[i].row == b->line[i].row && a->line[i].amount == b->line[i].amount;
	return same;
}

/* Have both sets equally many of each kind of run? */
static bool gives_the_same(const struct world *w, unsigned a, unsigned b)
{
	for (size_t i = 0; i < w->n; i++) {
		int more = 0;
		for (size_t k = 0; k < w->n; k++)
			if (are_alike(w->who[i]->reservation, w->who[k]->reservation))
				more += (int)(a >> k & 1) - (int)(b >> k & 1);
		if (more != 0)
			return false;
	}
	return true;
}

static const char *check_fair(struct world *w, unsigned plain, unsigned found)
{
	if (!gives_the_same(w, plain, found))
		return "others give something back, or something else";
	struct cost mine = cost_of(w, found);
	for (unsigned set = 1; set < 1u << w->n; set++) {
		if (!gives_the_same(w, plain, set))
			continue;
		struct cost theirs = cost_of(w, set);
		if (costs_less(&theirs, &mine))
			return "others that hold the same are hurt less";
	}
	return NULL;
}

static const char *check(struct world *w, unsigned plain, unsigned found)
{
	if (!plain || !found)
		return plain == found ? NULL : "only one of the two searches finds anybody";
	return w->fair ? check_fair(w, plain, found) : check_classic(w, plain, found);
}

/* The search itself, without the check of sums. */
static bool finds_somebody(struct world *w)
{
	struct preemption *x = w->q->preemption;
	x->nsources = x->nvictims = 0;
	x->lenient = false;
	if (w->fair)
		find_fair(x);
	else
		find_classic(x);
	return x->nvictims > 0;
}

struct counters {
	size_t searches, others; /* that found victims; ... other ones than the plain order */
	size_t vain;
};

static void try_world(uint64_t seed, struct counters *t)
{
	struct world w;
	const struct victim *v;
	world_init(&w, seed);
	if (ask(&w)) {
		find_candidates(&w);
		bool fits = demand_fits(&w.d, true);
		size_t n = victims_plain(w.q, &w.d, &v);
		unsigned plain = bits_of(&w, v, n);
		bool missed = !plain && finds_somebody(&w);
		n = victims_find(w.q, &w.d, &v);
		unsigned found = bits_of(&w, v, n);
		const char *wrong = check(&w, plain, found);
		if (demand_fits(&w.d, true) != fits)
			wrong = "the quota tree is not what it was";
		if (missed)
			wrong = "the sums say that there is nobody, but there is";
		if (wrong)
			fail_msg("world %llu: %s (plain %x, found %x of %zu)",
				(unsigned long long)seed, wrong, plain, found, w.n);
		t[w.fair].searches += found != 0;
		t[w.fair].vain += found == 0;
		t[w.fair].others += found != plain;
	}
	queue_free(w.q);
}

static void try_worlds(uint64_t first, uint64_t n, struct counters t[2])
{
	for (uint64_t i = 0; i < n; i++)
		try_world(first + i, t);
	print_message("classic: %zu searches found victims, %zu others than the plain order, %zu "
		      "nobody; fair: %zu, %zu, %zu\n",
		t[0].searches, t[0].others, t[0].vain, t[1].searches, t[1].others, t[1].vain);
}

static uint64_t worlds = WORLDS;

static void no_other_set_hurts_less(void **state)
{
	(void)state;
	struct counters t[2] = {{0, 0, 0}, {0, 0, 0}};
	try_worlds(1, worlds, t);
	assert_true(t[0].searches > worlds / 10 && t[0].others > worlds / 40);
	assert_true(t[1].searches > worlds / 40 && t[1].others > 0);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		worlds = strtoull(argv[1], NULL, 10);
	if (argc > 2) { /* from that one on; too few may show nothing */
		struct counters t[2] = {{0, 0, 0}, {0, 0, 0}};
		try_worlds(strtoull(argv[2], NULL, 10), worlds, t);
		return 0;
	}
	const struct CMUnitTest tests[] = {cmocka_unit_test(no_other_set_hurts_less)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
