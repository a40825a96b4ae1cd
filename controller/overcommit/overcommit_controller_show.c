/* An OvercommitReport: what is lent, and why so much. */
#include "base/instant.h"
#include "controller/nodes/node_agent_view.h"
#include "controller/overcommit/lent_pod.h"
#include "controller/overcommit/usage_poller.h"
#include "controller/overcommit/overcommit_controller_priv.h"

/* Puts a time; "" where it is not known. */
static void put_time(struct json_writer *w, const char *key, int64_t ms)
{
	jw_text(w, key, ms > 0 ? instant_exact(ms).s : "");
}

static void put_load(struct json_writer *w, const char *key, struct load l)
{
	jw_object(w, key);
	jw_int(w, "cpuMilli", l.cpu_milli);
	jw_int(w, "memoryBytes", l.memory_bytes);
	jw_end(w);
}

/* Puts null where there is no such key. */
static void put_figures(struct json_writer *w, const char *key, const struct figures *f)
{
	jw_object(w, key);
	for (size_t i = 0; i < FIGURES; i++)
		if (f->each[i] < 0)
			jw_text(w, figure_names[i], NULL);
		else
			jw_int(w, figure_names[i], f->each[i]);
	jw_end(w);
}

static void put_terms(struct json_writer *w, const char *key, const struct estimate_terms *t)
{
	static const char *const policies[] = {"usage", "request", "maxUsageRequest"};
	jw_object(w, key);
	jw_text(w, "policy", policies[t->policy]);
	jw_int(w, "base", t->base);
	jw_int(w, "margin", t->margin);
	jw_int(w, "reserved", t->reserved);
	jw_int(w, "systemUsed", t->system_used);
	jw_int(w, "system", t->system);
	jw_int(w, "used", t->used);
	jw_int(w, "requested", t->requested);
	jw_int(w, "max", t->max);
	jw_int(w, "taken", t->taken);
	jw_int(w, "cap", t->cap);
	jw_int(w, "result", t->result);
	jw_end(w);
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

/* Puts amounts of cpu that lent pods use and may have together; null: each has what it asks for. */
static void put_may(struct json_writer *w, const struct sample *s)
{
	if (s && s->may_milli >= 0)
		jw_int(w, "mayCpuMilli", s->may_milli);
	else
		jw_text(w, "mayCpuMilli", NULL);
}

static void put_lacks(struct json_writer *w, const struct sample *s)
{
	jw_array(w, "lacks");
	for (size_t i = 0; s && i < LACKS; i++)
		if (s->lacks >> i & 1)
			jw_text(w, NULL, lack_names[i]);
	jw_end(w);
}

/* Puts what is known of the node's agent; nothing where it has none. */
static void put_agent(const struct overcommit_controller *l, struct json_writer *w,
	const struct inventory_node *n)
{
	struct node_agent_view v;
	if (!l->o.agent || !l->o.agent(n->name, &v, l->o.ctx))
		return;
	struct lent_sum lent = lent_sum_of(n);
	jw_object(w, "agent");
	put_time(w, "sampleTime", v.at_ms);
	if (v.at_ms > 0)
		jw_int(w, "ageMs", l->now_ms > v.at_ms ? l->now_ms - v.at_ms : 0);
	jw_bool(w, "isSource", n->by_agent);
	jw_bool(w, "hasOrders", v.newest && node_orders_is(l->node_orders, n, v.newest->orders));
	jw_int(w, "lentPods", (int64_t)lent.pods);
	jw_int(w, "heldPods", (int64_t)lent.held);
	jw_int(w, "overPods", (int64_t)lent.over);
	jw_int(w, "usedCpuMilli", lent.used.cpu_milli);
	jw_int(w, "askedCpuMilli", lent.asked.cpu_milli);
	put_may(w, v.newest);
	put_lacks(w, v.newest);
	jw_object(w, "deeds");
	jw_int(w, "limited", (int64_t)v.deeds[DEED_LIMITED]);
	jw_int(w, "held", (int64_t)v.deeds[DEED_HELD]);
	jw_int(w, "ended", (int64_t)v.deeds[DEED_ENDED]);
	jw_int(w, "refused", (int64_t)v.deeds[DEED_REFUSED]);
	jw_int(w, "undone", (int64_t)v.deeds[DEED_UNDONE]);
	jw_end(w);
	jw_int(w, "droppedSamples", (int64_t)v.dropped);
	jw_end(w);
}

static void put_node(const struct overcommit_controller *o, struct json_writer *w,
	const struct inventory_node *n)
{
	const struct node_state *l = &n->node_state;
	jw_text(w, "node", n->name);
	jw_bool(w, "enabled", l->strategy.enable);
	jw_text(w, "profile", l->strategy.profile == PROFILE_ACK ? "ack" : "koordinator");
	jw_text(w, "source", source_name(l));
	jw_text(w, "nodeOvercommit", l->whose ? l->whose : "");
	jw_text(w, "nodeConfig", l->entry ? l->entry : "");
	jw_text(w, "freshness", freshness_name(l->freshness));
	jw_bool(w, "degraded", l->degrade != DEGRADE_NOT);
	jw_text(w, "reason", degrade_name(l->degrade));
	put_time(w, "sampleTime", n->used_ms);
	put_time(w, "writtenTime", l->written_ms);
	put_figures(w, "published", &l->there);
	put_figures(w, "wanted", &l->want);
	put_load(w, "batchAsked", l->batch_asked);
	put_load(w, "gocranAsked", l->gocran_asked);
	put_load(w, "lent", l->lent);
	jw_int(w, "pods", (int64_t)n->npods);
	if (strategy_note(&l->strategy))
		jw_text(w, "note", strategy_note(&l->strategy));
	put_agent(o, w, n);
}

static void put_estimate(struct json_writer *w, const struct estimate *x)
{
	jw_int(w, "highPods", (int64_t)x->high_pods);
	jw_int(w, "lowPods", (int64_t)x->low_pods);
	jw_int(w, "withoutSample", (int64_t)x->without_sample);
	jw_object(w, "terms");
	put_terms(w, "cpu", &x->cpu);
	put_terms(w, "memory", &x->memory);
	jw_end(w);
}

static void put_whole_node(const struct overcommit_controller *o, struct json_writer *w,
	const struct inventory_node *n)
{
	const struct node_state *l = &n->node_state;
	put_node(o, w, n);
	if (n->facts->fault)
		jw_text(w, "fault", n->facts->fault);
	put_load(w, "used", n->used);
	put_load(w, "gocran", l->gocran);
	jw_bool(w, "estimated", l->has_estimate);
	jw_int(w, "samples", l->window.count);
	if (l->has_estimate)
		put_estimate(w, &l->estimate);
}

static void put_pools(const struct overcommit_controller *l, struct json_writer *w)
{
	const struct idle_pool *p;
	jw_array(w, "pools");
	for (size_t i = 0; (p = pools_at(l->pools, i)); i++) {
		if (!p->flavor)
			continue;
		jw_object(w, NULL);
		jw_text(w, "flavor", p->flavor);
		jw_int(w, "cpuMilli", p->cpu_milli);
		jw_int(w, "memoryBytes", p->memory_bytes);
		jw_int(w, "mostCpuMilli", p->most_cpu_milli);
		jw_int(w, "mostMemoryBytes", p->most_memory_bytes);
		jw_end(w);
	}
	jw_end(w);
}

static void put_all(const struct overcommit_controller *l, struct json_writer *w)
{
	const struct inventory_node *n;
	const char *fault = overcommit_configs_fault(l->overcommit_configs);
	jw_bool(w, "lends", overcommit_configs_lends(l->overcommit_configs));
	jw_bool(w, "configMapInUse", overcommit_configs_has_configmap(l->overcommit_configs));
	jw_text(w, "configMapFault", fault ? fault : "");
	jw_text(w, "usageTrouble", l->measures ? usage_poller_trouble(l->usage_poller) : "");
	put_pools(l, w);
	jw_array(w, "nodes");
	for (size_t i = 0; (n = inventory_node_at(l->inventory, i)); i++) {
		if (!n->facts)
			continue;
		jw_object(w, NULL);
		put_node(l, w, n);
		jw_end(w);
	}
	jw_end(w);
}

bool overcommit_controller_show(
	const struct overcommit_controller *l, const char *node, struct json_writer *w)
{
	const struct inventory_node *n = *node ? inventory_find(l->inventory, node) : NULL;
	if (!*node)
		put_all(l, w);
	else if (n && n->facts)
		put_whole_node(l, w, n);
	return !*node || (n && n->facts);
}
