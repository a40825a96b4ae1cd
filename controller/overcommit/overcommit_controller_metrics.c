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
	struct buf *out, const char *family, const char *resource, const char *node, int64_t value)
{
	metrics_put_labelled(out, family, "resource", resource, "node", node, NULL);
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
		const char *name;
		enum column column;
		const char *help;
	} families[] = {
		{"koordlet_node_resource_allocatable", ALLOCATABLE,
			"What the node's status says it lends: batch-cpu in thousandths of a core, gocran.io/cpu in cores, memory in bytes."},
		{"kube_node_status_allocatable", ALLOCATABLE,
			"The same, by the name that kube-state-metrics would have for it."},
		{"koordlet_container_resource_requests", REQUESTED,
			"What the containers on the node ask for of it."},
		{"sluice_overcommit_node_calculated", CALCULATED,
			"What may be lent by the newest samples, published yet or not."},
	};
	const struct inventory_node *n;
	for (size_t f = 0; f < sizeof(families) / sizeof(*families); f++) {
		metrics_put_family(out, families[f].name, GAUGE, "", families[f].help);
		for (size_t at = 0; (n = next_node(l, &at));) {
			struct figures value = figures_of(&n->node_state, families[f].column);
			for (size_t i = 0; i < FIGURES; i++)
				if (value.each[i] >= 0)
					put_row(out, families[f].name, figure_names[i], n->name,
						value.each[i]);
		}
	}
}

static void put_ages(const struct overcommit_controller *l, struct buf *out)
{
	const struct inventory_node *n;
	metrics_put_family(out, "sluice_overcommit_metric_age_seconds", GAUGE, "seconds",
		"How old the newest sample of the node is.");
	for (size_t at = 0; (n = next_node(l, &at));) {
		if (n->used_ms == 0)
			continue;
		metrics_put_labelled(
			out, "sluice_overcommit_metric_age_seconds", "node", n->name, NULL);
		buf_printf(out, "%.3f\n", (double)(l->now_ms - n->used_ms) / 1000.0);
	}
	metrics_put_family(out, "sluice_overcommit_degraded", GAUGE, "",
		"1, with why nothing is lent on a node where lending is enabled.");
	for (size_t at = 0; (n = next_node(l, &at));) {
		if (n->node_state.degrade == DEGRADE_NOT)
			continue;
		metrics_put_labelled(out, "sluice_overcommit_degraded", "node", n->name, "reason",
			degrade_name(n->node_state.degrade), NULL);
		buf_puts(out, "1\n");
	}
}

static void put_reclaims(const struct overcommit_controller *l, struct buf *out)
{
	metrics_put_family(out, "sluice_overcommit_reclaims", COUNTER, "",
		"Jobs that were told to stop or to go on with fewer pods, and pods that were evicted, because what they live on was wanted back.");
	for (int t = RECLAIM_ALLOCATABLE; l && t <= RECLAIM_CPU; t++)
		for (int a = 0; a < RECLAIM_ACTIONS; a++) {
			metrics_put_labelled(out, "sluice_overcommit_reclaims_total", "trigger",
				reclaim_trigger_name((enum reclaim_trigger)t), "action",
				reclaim_action_name((enum reclaim_action)a), NULL);
			buf_printf(out, "%" PRIu64 "\n",
				reclaimer_count(l->reclaimer, (enum reclaim_trigger)t,
					(enum reclaim_action)a));
		}
}

static void put_patches(const struct overcommit_controller *l, struct buf *out)
{
	metrics_put_family(out, "sluice_overcommit_patches", COUNTER, "",
		"Writes of what nodes lend, by what became of them; those that failed are sent again.");
	if (!l)
		return;
	struct publisher_counts c = publisher_count(l->publisher);
	const struct {
		const char *result;
		uint64_t count;
	} rows[] = {{"written", c.written}, {"refused", c.refused}, {"failed", c.failed},
		{"gone", c.gone}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		metrics_put_labelled(
			out, "sluice_overcommit_patches_total", "result", rows[i].result, NULL);
		buf_printf(out, "%" PRIu64 "\n", rows[i].count);
	}
}

static void put_pools(const struct overcommit_controller *l, struct buf *out)
{
	const struct idle_pool *p;
	metrics_put_family(out, "sluice_overcommit_pool", GAUGE, "",
		"What the nodes of a flavor with an idle pool lend now, before its share: cores, bytes.");
	for (size_t i = 0; l && (p = pools_at(l->pools, i)); i++) {
		if (!p->flavor)
			continue;
		metrics_put_labelled(out, "sluice_overcommit_pool", "flavor", p->flavor, "resource",
			"cpu", NULL);
		buf_printf(
			out, "%" PRId64 ".%03d\n", p->cpu_milli / 1000, (int)(p->cpu_milli % 1000));
		metrics_put_labelled(out, "sluice_overcommit_pool", "flavor", p->flavor, "resource",
			"memory", NULL);
		buf_printf(out, "%" PRId64 "\n", p->memory_bytes);
	}
}

static void put_one(struct buf *out, const char *name, enum metric_type type, const char *help,
	const struct overcommit_controller *l, uint64_t value)
{
	metrics_put_family(out, name, type, "", help);
	if (l)
		buf_printf(out, "%s%s %" PRIu64 "\n", name, type == COUNTER ? "_total" : "", value);
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
	put_one(out, "sluice_overcommit_config_valid", GAUGE,
		"0 while the ConfigMap or a NodeOvercommit is wrong and the last good one holds.",
		l, l ? is_valid(l) : 0);
	put_one(out, "sluice_overcommit_usage_known", GAUGE,
		"0 while the source of usage does not answer and lending is enabled.", l,
		l ? !l->measures || !*usage_poller_trouble(l->usage_poller) : 0);
	put_one(out, "sluice_overcommit_followed_nodes", GAUGE, "Nodes that are followed.", l,
		l ? inventory_nodes(l->inventory) : 0);
	put_one(out, "sluice_overcommit_followed_pods", GAUGE, "Pods that are followed.", l,
		l ? inventory_pods(l->inventory) : 0);
	put_one(out, "sluice_overcommit_unreadable_objects", COUNTER,
		"Nodes and Pods that could not be understood.", l,
		l ? node_watch_unreadable(l->node_watch) : 0);
	put_one(out, "sluice_overcommit_rounds", COUNTER, "Rounds of samples, complete or not.", l,
		l ? l->rounds : 0);
	metrics_put_family(out, "sluice_overcommit_memory_bytes", GAUGE, "bytes",
		"What all Nodes and Pods take in the overcommit controller.");
	if (l)
		buf_printf(
			out, "sluice_overcommit_memory_bytes %zu\n", inventory_bytes(l->inventory));
}
