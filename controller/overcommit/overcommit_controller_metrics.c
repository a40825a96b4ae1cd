/* What /metrics says of lending: the seeds' series with their names and labels, and our own. */
#include <inttypes.h>

#include "controller/nodes/node_agent_view.h"
#include "controller/overcommit/lent_pod.h"
#include "controller/write/metrics_put.h"
#include "controller/overcommit/node_watch.h"
#include "controller/overcommit/usage_poller.h"
#include "controller/overcommit/overcommit_controller_priv.h"

/* Counts what is asked for of what is published, or asked for all the same. */
static struct figures requested(const struct node_state *l)
{
	struct figures f = {.batch_cpu = l->batch_asked.cpu_milli,
		.batch_memory = l->batch_asked.memory_bytes,
		.gocran_cpu = (l->gocran_asked.cpu_milli + 999) / 1000,
		.gocran_memory = l->gocran_asked.memory_bytes};
	for (size_t i = 0; i < FIGURES; i++)
		if (f.each[i] == 0 && l->there.each[i] < 0)
			f.each[i] = -1;
	return f;
}

/* Gives the figures that may be lent; -1: nothing is lent under that name. */
static struct figures calculated(const struct node_state *l)
{
	bool batch = l->strategy.enable && (l->strategy.names & LEND_BATCH);
	bool gocran = l->strategy.enable && (l->strategy.names & LEND_GOCRAN);
	return (struct figures){.batch_cpu = batch ? l->batch.cpu_milli : -1,
		.batch_memory = batch ? l->batch.memory_bytes : -1,
		.gocran_cpu = gocran ? l->gocran.cpu_milli / 1000 : -1,
		.gocran_memory = gocran ? l->gocran.memory_bytes : -1};
}

/* Gives the next node that has to do with lending; NULL past the last. */
static const struct inventory_node *next_node(const struct overcommit_controller *l, size_t *at)
{
	const struct inventory_node *n;
	while (l && (n = inventory_node_at(l->inventory, *at))) {
		++*at;
		if (n->facts &&
			(n->node_state.strategy.enable || figures_any(&n->node_state.there)))
			return n;
	}
	return NULL;
}

static void put_row(
	struct buf *out, enum metric m, const char *resource, const char *node, int64_t value)
{
	metrics_put_sample(out, m, resource, node, NULL);
	buf_printf(out, "%" PRId64 "\n", value);
}

enum column { ALLOCATABLE, REQUESTED, CALCULATED };

static struct figures figures_of(const struct node_state *l, enum column c)
{
	switch (c) {
	case ALLOCATABLE:
		return l->there;
	case REQUESTED:
		return requested(l);
	case CALCULATED:
		return calculated(l);
	}
	return no_figures;
}

static void put_nodes(const struct overcommit_controller *l, struct buf *out)
{
	static const struct {
		enum metric metric;
		enum column column;
	} families[] = {
		{METRIC_NODE_RESOURCE_ALLOCATABLE, ALLOCATABLE},
		{METRIC_NODE_STATUS_ALLOCATABLE, ALLOCATABLE},
		{METRIC_CONTAINER_RESOURCE_REQUESTS, REQUESTED},
		{METRIC_OVERCOMMIT_NODE_CALCULATED, CALCULATED},
	};
	const struct inventory_node *n;
	for (size_t f = 0; f < sizeof(families) / sizeof(*families); f++) {
		metrics_put_family(out, families[f].metric);
		for (size_t at = 0; (n = next_node(l, &at));) {
			struct figures value = figures_of(&n->node_state, families[f].column);
			for (size_t i = 0; i < FIGURES; i++)
				if (value.each[i] >= 0)
					put_row(out, families[f].metric, figure_names[i], n->name,
						value.each[i]);
		}
	}
}

static void put_ages(const struct overcommit_controller *l, struct buf *out)
{
	const struct inventory_node *n;
	metrics_put_family(out, METRIC_OVERCOMMIT_METRIC_AGE);
	for (size_t at = 0; (n = next_node(l, &at));) {
		if (n->used_ms == 0)
			continue;
		int64_t age_ms = l->now_ms - n->used_ms;
		if (n->by_agent && age_ms < 0) /* it came since the tick */
			age_ms = 0;
		metrics_put_sample(out, METRIC_OVERCOMMIT_METRIC_AGE, n->name, NULL);
		buf_printf(out, "%.3f\n", (double)age_ms / 1000.0);
	}
	metrics_put_family(out, METRIC_OVERCOMMIT_DEGRADED);
	for (size_t at = 0; (n = next_node(l, &at));) {
		if (n->node_state.degrade == DEGRADE_NOT)
			continue;
		metrics_put_sample(out, METRIC_OVERCOMMIT_DEGRADED, n->name,
			degrade_name(n->node_state.degrade), NULL);
		buf_puts(out, "1\n");
	}
}

/* ---- agents ---------------------------------------------------------------------------------- */

/* What is told of a node with an agent, in thousandths or as it is. False: that is not known. */
struct agent_told {
	const struct inventory_node *node;
	struct node_agent_view view;
	int64_t now_ms;
};

typedef bool agent_value_fn(const struct agent_told *t, int64_t *ret);

static bool used_cpu(const struct agent_told *t, int64_t *ret)
{
	const struct sample *s = t->view.newest;
	*ret = s ? s->used.cpu_milli : 0;
	return s && s->has_used;
}

static bool used_memory(const struct agent_told *t, int64_t *ret)
{
	const struct sample *s = t->view.newest;
	*ret = s ? s->used.memory_bytes : 0;
	return s && s->has_used;
}

static bool may_cpu(const struct agent_told *t, int64_t *ret)
{
	const struct sample *s = t->view.newest;
	*ret = s ? s->may_milli : -1;
	return *ret >= 0;
}

static bool ordinary_cpu(const struct agent_told *t, int64_t *ret)
{
	const struct sample *s = t->view.newest;
	if (!s || !s->has_used || s->pods_used.cpu_milli < 0)
		return false;
	int64_t rest = s->pods_used.cpu_milli - lent_sum_of(t->node).used.cpu_milli;
	*ret = rest > 0 ? rest : 0;
	return true;
}

static bool age(const struct agent_told *t, int64_t *ret)
{
	*ret = t->now_ms > t->view.at_ms ? t->now_ms - t->view.at_ms : 0;
	return t->view.at_ms > 0;
}

static bool lent_pods(const struct agent_told *t, int64_t *ret)
{
	*ret = (int64_t)lent_sum_of(t->node).pods;
	return true;
}

static bool held_pods(const struct agent_told *t, int64_t *ret)
{
	*ret = (int64_t)lent_sum_of(t->node).held;
	return true;
}

static bool ended(const struct agent_told *t, int64_t *ret)
{
	*ret = (int64_t)t->view.deeds[DEED_ENDED];
	return true;
}

static bool undone(const struct agent_told *t, int64_t *ret)
{
	*ret = (int64_t)t->view.deeds[DEED_UNDONE];
	return true;
}

static bool refused(const struct agent_told *t, int64_t *ret)
{
	*ret = (int64_t)t->view.deeds[DEED_REFUSED];
	return true;
}

static const struct agent_family {
	enum metric metric;
	const char *type; /* a label before the node's name; NULL: none */
	agent_value_fn *value;
	bool in_thousandths;
} agent_families[] = {
	{METRIC_NODE_USED_CPU, NULL, used_cpu, true},
	{METRIC_NODE_USED_MEMORY, NULL, used_memory, false},
	{METRIC_SUPPRESS_CPU, "cfsQuota", may_cpu, true},
	{METRIC_SUPPRESS_LS_USED, NULL, ordinary_cpu, true},
	{METRIC_NODE_AGENT_AGE, NULL, age, true},
	{METRIC_NODE_LENT_PODS, NULL, lent_pods, false},
	{METRIC_NODE_HELD_PODS, NULL, held_pods, false},
	{METRIC_NODE_ENDED, NULL, ended, false},
	{METRIC_NODE_WRITES_UNDONE, NULL, undone, false},
	{METRIC_NODE_WRITES_REFUSED, NULL, refused, false},
};

static void put_agent_sample(
	struct buf *out, const struct agent_family *f, const char *node, int64_t value)
{
	if (f->type)
		metrics_put_sample(out, f->metric, f->type, node, NULL);
	else
		metrics_put_sample(out, f->metric, node, NULL);
	if (f->in_thousandths)
		buf_printf(out, "%" PRId64 ".%03d\n", value / 1000, (int)(value % 1000));
	else
		buf_printf(out, "%" PRId64 "\n", value);
}

/* Gives the next node that has an agent; false past the last. */
static bool next_agent(const struct overcommit_controller *l, size_t *at, struct agent_told *ret)
{
	const struct inventory_node *n;
	while (l && l->o.agent && (n = inventory_node_at(l->inventory, *at))) {
		++*at;
		*ret = (struct agent_told){.node = n, .now_ms = l->now_ms};
		if (n->facts && l->o.agent(n->name, &ret->view, l->o.ctx))
			return true;
	}
	return false;
}

static void put_agents(const struct overcommit_controller *l, struct buf *out)
{
	struct agent_told told;
	int64_t value;
	uint64_t reported = 0;
	for (size_t i = 0; i < sizeof(agent_families) / sizeof(*agent_families); i++) {
		const struct agent_family *f = &agent_families[i];
		metrics_put_family(out, f->metric);
		for (size_t at = 0; next_agent(l, &at, &told);)
			if (f->value(&told, &value))
				put_agent_sample(out, f, told.node->name, value);
	}
	for (size_t at = 0; next_agent(l, &at, &told);)
		reported += told.view.at_ms > 0;
	if (l && l->o.agent)
		metrics_put_value(out, METRIC_NODE_AGENTS, reported);
	else
		metrics_put_family(out, METRIC_NODE_AGENTS);
}

static void put_reclaims(const struct overcommit_controller *l, struct buf *out)
{
	metrics_put_family(out, METRIC_OVERCOMMIT_RECLAIMS);
	for (int t = RECLAIM_ALLOCATABLE; l && t <= RECLAIM_CPU; t++)
		for (int a = 0; a < RECLAIM_ACTIONS; a++) {
			metrics_put_sample(out, METRIC_OVERCOMMIT_RECLAIMS,
				reclaim_trigger_name((enum reclaim_trigger)t),
				reclaim_action_name((enum reclaim_action)a), NULL);
			buf_printf(out, "%" PRIu64 "\n",
				reclaimer_count(l->reclaimer, (enum reclaim_trigger)t,
					(enum reclaim_action)a));
		}
}

static void put_patches(const struct overcommit_controller *l, struct buf *out)
{
	metrics_put_family(out, METRIC_OVERCOMMIT_PATCHES);
	if (!l)
		return;
	struct publisher_counts c = publisher_count(l->publisher);
	const struct {
		const char *result;
		uint64_t count;
	} rows[] = {{"written", c.written}, {"refused", c.refused}, {"failed", c.failed},
		{"gone", c.gone}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		metrics_put_sample(out, METRIC_OVERCOMMIT_PATCHES, rows[i].result, NULL);
		buf_printf(out, "%" PRIu64 "\n", rows[i].count);
	}
}

static void put_pools(const struct overcommit_controller *l, struct buf *out)
{
	const struct idle_pool *p;
	metrics_put_family(out, METRIC_OVERCOMMIT_POOL);
	for (size_t i = 0; l && (p = pools_at(l->pools, i)); i++) {
		if (!p->flavor)
			continue;
		metrics_put_sample(out, METRIC_OVERCOMMIT_POOL, p->flavor, "cpu", NULL);
		buf_printf(
			out, "%" PRId64 ".%03d\n", p->cpu_milli / 1000, (int)(p->cpu_milli % 1000));
		metrics_put_sample(out, METRIC_OVERCOMMIT_POOL, p->flavor, "memory", NULL);
		buf_printf(out, "%" PRId64 "\n", p->memory_bytes);
	}
}

static void put_one(
	struct buf *out, enum metric m, const struct overcommit_controller *l, uint64_t value)
{
	if (l)
		metrics_put_value(out, m, value);
	else
		metrics_put_family(out, m);
}

static bool is_valid(const struct overcommit_controller *l)
{
	const struct rule *u;
	if (overcommit_configs_fault(l->overcommit_configs))
		return false;
	for (size_t i = 0; (u = overcommit_configs_at(l->overcommit_configs, i)); i++)
		if (u->fault)
			return false;
	return true;
}

void overcommit_controller_put_metrics(const struct overcommit_controller *l, struct buf *out)
{
	put_nodes(l, out);
	put_ages(l, out);
	put_reclaims(l, out);
	put_patches(l, out);
	put_agents(l, out);
	put_pools(l, out);
	put_one(out, METRIC_OVERCOMMIT_CONFIG_VALID, l, l ? is_valid(l) : 0);
	put_one(out, METRIC_OVERCOMMIT_USAGE_KNOWN, l,
		l ? !l->measures || !*usage_poller_trouble(l->usage_poller) : 0);
	put_one(out, METRIC_OVERCOMMIT_FOLLOWED_NODES, l, l ? inventory_nodes(l->inventory) : 0);
	put_one(out, METRIC_OVERCOMMIT_FOLLOWED_PODS, l, l ? inventory_pods(l->inventory) : 0);
	put_one(out, METRIC_OVERCOMMIT_UNREADABLE_OBJECTS, l,
		l ? node_watch_unreadable(l->node_watch) : 0);
	put_one(out, METRIC_OVERCOMMIT_ROUNDS, l, l ? l->rounds : 0);
	put_one(out, METRIC_OVERCOMMIT_MEMORY, l, l ? inventory_bytes(l->inventory) : 0);
}
