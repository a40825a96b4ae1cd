/* What /metrics says of lending: the seeds' series with their names and labels, and our own. */
#include <inttypes.h>

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
		metrics_put_sample(out, METRIC_OVERCOMMIT_METRIC_AGE, n->name, NULL);
		buf_printf(out, "%.3f\n", (double)(l->now_ms - n->used_ms) / 1000.0);
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
