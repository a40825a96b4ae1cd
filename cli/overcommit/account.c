#include "cli/overcommit/account.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/instant.h"
#include "base/mem.h"
#include "base/span.h"

/* True if a pod's sample is of about the time of the node's: only then it counts. */
static bool of_one_time(const struct strategy *s, int64_t node_ms, int64_t pod_ms)
{
	int64_t apart = node_ms > pod_ms ? node_ms - pod_ms : pod_ms - node_ms;
	return node_ms == 0 || pod_ms == 0 || apart <= 2 * s->interval_s * 1000;
}

struct gathering {
	struct estimate_node in;
	struct estimate_pod *pod;
	struct load sampled; /* use of all pods that have a sample */
};

/* Adds a pod. One that has ended and still has a sample is dangling, unless it was low. */
static void gather_pod(
	const struct snapshot *s, const struct pod_facts *p, struct account *a, struct gathering *g)
{
	const struct strategy *strategy = &a->ruling.strategy;
	enum tier tier = tier_of(strategy->profile, &p->tier);
	const struct usage_facts *u = snapshot_usage(s, p->ns, p->name);
	if (u && !of_one_time(strategy, a->sample_ms, u->at_ms))
		u = NULL;
	if (u)
		g->sampled = load_add(g->sampled, u->used);
	if (p->phase == POD_OVER) {
		if (u && tier != TIER_LOW)
			g->in.dangling = load_add(g->in.dangling, u->used);
		return;
	}
	a->batch_asked = load_add(a->batch_asked, p->batch_asked);
	a->gocran_asked = load_add(a->gocran_asked, p->gocran_asked);
	g->pod[g->in.npods++] = (struct estimate_pod){.tier = tier,
		.request = p->request,
		.has_used = u != NULL,
		.used = u ? u->used : (struct load){0}};
}

static void make_estimate(const struct snapshot *s, struct account *a, struct gathering *g)
{
	size_t first, n = snapshot_pods(s, a->node->name, &first);
	*g = (struct gathering){.in = {.capacity = a->node->capacity,
					.allocatable = a->node->allocatable,
					.reservation = a->node->reservation}};
	g->in.pods = g->pod = mem_array(n + 1, sizeof(*g->pod));
	for (size_t i = 0; i < n; i++)
		gather_pod(s, s->pod[first + i], a, g);
	g->in.system_used = load_max(load_less(a->used, g->sampled), (struct load){0, 0});
	estimate_make(&a->ruling.strategy, &g->in, &a->estimate);
	a->gocran = estimate_gocran(&a->ruling.strategy, &g->in, &a->estimate);
	free(g->pod);
}

/* Takes the sum of the controller, which alone knows what the agent measured. */
static void take_agent(const struct agent *agent, struct account *a)
{
	a->has_sample = true;
	a->sample_ms = agent->sample_ms;
	a->used = agent->used;
	a->gocran = agent->gocran;
	a->estimate = agent->estimate;
}

static void say_stale(struct account *a, int64_t now_ms)
{
	snprintf(a->reason, sizeof(a->reason),
		"Stale: its newest sample is of %s, %s ago, and degradeTimeMinutes is %" PRId64
		"; wait for the next one, or see whether metrics-server runs",
		instant_seconds(a->sample_ms).s, span_short(now_ms - a->sample_ms).s,
		a->ruling.strategy.degrade_min);
}

static void judge(struct account *a, bool ready, int64_t now_ms)
{
	struct window w;
	window_begin(&w, a->sample_ms ? a->sample_ms : now_ms);
	a->freshness = window_freshness(&w, &a->ruling.strategy, true, now_ms);
	if (!a->enabled) {
		snprintf(a->reason, sizeof(a->reason), "disabled");
		return;
	}
	a->degraded = true;
	if (!ready)
		snprintf(a->reason, sizeof(a->reason),
			"NotReady: the node's condition Ready is not True; no pod can be placed on it");
	else if (!a->has_sample)
		snprintf(a->reason, sizeof(a->reason),
			"NoSample: it has no NodeMetrics; without a measurement nothing is lent");
	else if (a->sample_ms > now_ms + 60000)
		snprintf(a->reason, sizeof(a->reason),
			"Future: its sample is from after now; set the clocks right, or --now");
	else if (a->freshness == DEGRADED)
		say_stale(a, now_ms);
	else
		a->degraded = false;
}

static struct load pool_of(const struct account *a)
{
	struct load batch = {a->estimate.cpu.result, a->estimate.memory.result};
	unsigned names = a->ruling.strategy.names;
	if (!(names & LEND_GOCRAN))
		return batch;
	return names & LEND_BATCH ? load_min(batch, a->gocran) : a->gocran;
}

void account_make(const struct snapshot *s, const struct snapshot_node *n, int64_t now_ms,
	const enum profile *profile, bool tried, struct account *ret)
{
	struct gathering g;
	const struct usage_facts *u = snapshot_usage(s, NULL, n->facts->name);
	*ret = (struct account){.node = n->facts, .has_sample = u != NULL, .agent = &s->agent};
	snapshot_rule(s, n->facts, profile, &ret->ruling);
	ret->enabled = ret->ruling.strategy.enable || (tried && !s->config && s->nrules == 0);
	if (u) {
		ret->sample_ms = u->at_ms;
		ret->used = u->used;
	}
	make_estimate(s, ret, &g);
	if (s->agent.is_source)
		take_agent(&s->agent, ret);
	judge(ret, n->facts->ready || !n->tells_ready, now_ms);
	struct publication_input in = {.strategy = &ret->ruling.strategy,
		.lend = ret->enabled && !ret->degraded,
		.batch = {ret->estimate.cpu.result, ret->estimate.memory.result},
		.gocran = ret->gocran,
		.batch_asked = ret->batch_asked,
		.gocran_asked = ret->gocran_asked};
	ret->figures = publication_figures(&in, &n->facts->allocatable_lent);
	if (in.lend)
		ret->lent = pool_of(ret);
}
