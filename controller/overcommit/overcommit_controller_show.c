/* /api/v1/overcommit: what is lent, and why so much. */
#include <inttypes.h>

#include "controller/overcommit/usage_poller.h"
#include "controller/overcommit/overcommit_controller_priv.h"
#include "controller/common/stamp.h"

static void put_text(struct buf *out, const char *key, const char *value)
{
	buf_printf(out, "\"%s\":", key);
	buf_json_string(out, value);
	buf_putc(out, ',');
}

static void put_time(struct buf *out, const char *key, int64_t ms)
{
	char at[STAMP_TEXT_SIZE];
	put_text(out, key, ms > 0 ? stamp_format(ms, at) : "");
}

static void put_bool(struct buf *out, const char *key, bool value)
{
	buf_printf(out, "\"%s\":%s,", key, value ? "true" : "false");
}

static void put_load(struct buf *out, const char *key, struct load l)
{
	buf_printf(out, "\"%s\":{\"cpuMilli\":%" PRId64 ",\"memoryBytes\":%" PRId64 "},", key,
		l.cpu_milli, l.memory_bytes);
}

/* -1, no such key, is null. */
static void put_figure(struct buf *out, const char *name, int64_t amount, const char *end)
{
	buf_printf(out, "\"%s\":", name);
	if (amount < 0)
		buf_printf(out, "null%s", end);
	else
		buf_printf(out, "%" PRId64 "%s", amount, end);
}

static void put_figures(struct buf *out, const char *key, const struct figures *f)
{
	buf_printf(out, "\"%s\":{", key);
	put_figure(out, BATCH_CPU, f->batch_cpu, ",");
	put_figure(out, BATCH_MEMORY, f->batch_memory, ",");
	put_figure(out, GOCRAN_CPU, f->gocran_cpu, ",");
	put_figure(out, GOCRAN_MEMORY, f->gocran_memory, "},");
}

static void put_terms(struct buf *out, const char *key, const struct estimate_terms *t)
{
	static const char *const policies[] = {"usage", "request", "maxUsageRequest"};
	buf_printf(out, "\"%s\":{", key);
	put_text(out, "policy", policies[t->policy]);
	buf_printf(out,
		"\"base\":%" PRId64 ",\"margin\":%" PRId64 ",\"reserved\":%" PRId64
		",\"systemUsed\":%" PRId64 ",\"system\":%" PRId64 ",\"used\":%" PRId64
		",\"requested\":%" PRId64 ",\"max\":%" PRId64 ",\"taken\":%" PRId64
		",\"cap\":%" PRId64 ",\"result\":%" PRId64 "}",
		t->base, t->margin, t->reserved, t->system_used, t->system, t->used, t->requested,
		t->max, t->taken, t->cap, t->result);
}

static const char *freshness_name(enum freshness f)
{
	static const char *const names[] = {"Fresh", "Held", "Degraded"};
	return names[f];
}

/* Which configuration says how much may be lent. */
static const char *source_name(const struct node_state *l)
{
	return !l->whose ? "" : *l->whose ? "NodeOvercommit" : "ConfigMap";
}

static void put_node(struct buf *out, const struct inventory_node *n)
{
	const struct node_state *l = &n->node_state;
	buf_putc(out, '{');
	put_text(out, "node", n->name);
	put_bool(out, "enabled", l->strategy.enable);
	put_text(out, "profile", l->strategy.profile == PROFILE_ACK ? "ack" : "koordinator");
	put_text(out, "source", source_name(l));
	put_text(out, "nodeOvercommit", l->whose ? l->whose : "");
	put_text(out, "nodeConfig", l->entry ? l->entry : "");
	put_text(out, "freshness", freshness_name(l->freshness));
	put_bool(out, "degraded", l->degrade != DEGRADE_NOT);
	put_text(out, "reason", degrade_name(l->degrade));
	put_time(out, "sampleTime", n->used_ms);
	put_time(out, "writtenTime", l->written_ms);
	put_figures(out, "published", &l->there);
	put_figures(out, "wanted", &l->want);
	put_load(out, "batchAsked", l->batch_asked);
	put_load(out, "gocranAsked", l->gocran_asked);
	put_load(out, "lent", l->lent);
	buf_printf(out, "\"pods\":%zu", n->npods);
}

/* One node, with its sum term by term. */
static void put_whole_node(struct buf *out, const struct inventory_node *n)
{
	const struct node_state *l = &n->node_state;
	put_node(out, n);
	buf_puts(out, ",");
	if (n->facts->fault)
		put_text(out, "fault", n->facts->fault);
	put_load(out, "used", n->used);
	put_load(out, "gocran", l->gocran);
	put_bool(out, "estimated", l->has_estimate);
	buf_printf(out, "\"samples\":%u", l->window.count);
	if (l->has_estimate) {
		buf_printf(out,
			",\"highPods\":%zu,\"lowPods\":%zu,\"withoutSample\":%zu,\"terms\":{",
			l->estimate.high_pods, l->estimate.low_pods, l->estimate.without_sample);
		put_terms(out, "cpu", &l->estimate.cpu);
		buf_putc(out, ',');
		put_terms(out, "memory", &l->estimate.memory);
		buf_putc(out, '}');
	}
	buf_puts(out, "}\n");
}

static void put_pools(const struct overcommit_controller *l, struct buf *out)
{
	const struct idle_pool *p;
	bool comma = false;
	buf_puts(out, "\"pools\":[");
	for (size_t i = 0; (p = pools_at(l->pools, i)); i++) {
		if (!p->flavor)
			continue;
		buf_puts(out, comma ? ",{" : "{");
		comma = true;
		put_text(out, "flavor", p->flavor);
		buf_printf(out,
			"\"cpuMilli\":%" PRId64 ",\"memoryBytes\":%" PRId64
			",\"mostCpuMilli\":%" PRId64 ",\"mostMemoryBytes\":%" PRId64 "}",
			p->cpu_milli, p->memory_bytes, p->most_cpu_milli, p->most_memory_bytes);
	}
	buf_puts(out, "],");
}

static void put_all(const struct overcommit_controller *l, struct buf *out)
{
	const struct inventory_node *n;
	const char *fault = overcommit_configs_fault(l->overcommit_configs);
	bool comma = false;
	buf_putc(out, '{');
	put_bool(out, "lends", overcommit_configs_lends(l->overcommit_configs));
	put_bool(out, "configMapInUse", overcommit_configs_has_configmap(l->overcommit_configs));
	put_text(out, "configMapFault", fault ? fault : "");
	put_text(out, "usageTrouble", usage_poller_trouble(l->usage_poller));
	put_pools(l, out);
	buf_puts(out, "\"nodes\":[");
	for (size_t i = 0; (n = inventory_node_at(l->inventory, i)); i++) {
		if (!n->facts)
			continue;
		if (comma)
			buf_putc(out, ',');
		comma = true;
		put_node(out, n);
		buf_putc(out, '}');
	}
	buf_puts(out, "]}\n");
}

bool overcommit_controller_show(
	const struct overcommit_controller *l, const char *node, struct buf *out)
{
	if (!node || !*node) {
		put_all(l, out);
		return true;
	}
	const struct inventory_node *n = inventory_find(l->inventory, node);
	if (!n || !n->facts)
		return false;
	put_whole_node(out, n);
	return true;
}
