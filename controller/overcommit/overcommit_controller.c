#include "controller/overcommit/overcommit_controller.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/kube/watch.h"
#include "controller/overcommit/node_watch.h"
#include "controller/overcommit/usage_poller.h"
#include "controller/overcommit/history.h"
#include "controller/overcommit/overcommit_controller_priv.h"
#include "controller/common/path.h"
#include "controller/wire/decode.h"

/* ---- the ConfigMap --------------------------------------------------------------------------- */

static void tell_configmap_fault(
	struct overcommit_controller *l, const cJSON *object, const char *sentence)
{
	struct events_subject of = {
		.ns = l->o.configmap_namespace, .name = l->o.configmap, .kind = "ConfigMap"};
	decode_uid(object, &of.uid);
	log_event(l->o.log, LEVEL_WARN, "rejected", "kind", "configmaps", "namespace", of.ns,
		"name", of.name, "why", sentence, "effect",
		overcommit_configs_known(l->overcommit_configs)
			? "the last good configuration stays in force"
			: "nothing is changed until it is right",
		NULL);
	if (l->o.events)
		events_tell(l->o.events, &of, EVENTS_WARNING, "InvalidConfiguration", sentence,
			l->now_ms);
}

/* Says once what of resource-qos-config is passed over: its author may count on it. */
static void tell_passed_over(struct overcommit_controller *l, const cJSON *object)
{
	struct events_subject of = {
		.ns = l->o.configmap_namespace, .name = l->o.configmap, .kind = "ConfigMap"};
	char text[EVENTS_MESSAGE_MAX] = "resource-qos-config: ";
	const char *note;
	decode_uid(object, &of.uid);
	for (size_t i = 0; (note = overcommit_configs_note(l->overcommit_configs, i)); i++) {
		size_t len = strlen(text);
		snprintf(text + len, sizeof(text) - len, "%s%s", i ? "; " : "", note);
		log_event(l->o.log, LEVEL_INFO, "passed-over", "namespace", of.ns, "name", of.name,
			"key", "resource-qos-config", "what", note, NULL);
	}
	if (l->o.events && overcommit_configs_note(l->overcommit_configs, 0))
		events_tell(l->o.events, &of, EVENTS_NORMAL, "FieldsPassedOver", text, l->now_ms);
}

static void on_configmap(enum kube_event type, const cJSON *object, void *ctx)
{
	struct overcommit_controller *l = ctx;
	struct err e = {""};
	bool news = false;
	if (strcmp(decode_name(object), l->o.configmap) != 0)
		return;
	l->configmap_seen = type != KUBE_DELETED;
	if (type == KUBE_DELETED)
		overcommit_configs_drop_configmap(l->overcommit_configs);
	else if (overcommit_configs_see_configmap(l->overcommit_configs, object, &news, &e) != 0 &&
		 news)
		tell_configmap_fault(l, object, e.text);
	else if (news) {
		log_event(l->o.log, LEVEL_INFO, "overcommit-config", "namespace",
			l->o.configmap_namespace, "name", l->o.configmap, "lends",
			overcommit_configs_lends(l->overcommit_configs) ? "true" : "false", NULL);
		tell_passed_over(l, object);
	}
}

static void on_configmap_begin(void *ctx)
{
	((struct overcommit_controller *)ctx)->configmap_seen = false;
}

static void on_configmap_end(void *ctx)
{
	struct overcommit_controller *l = ctx;
	l->configmap_listed = true;
	if (!l->configmap_seen)
		overcommit_configs_drop_configmap(l->overcommit_configs);
}

static void on_configmap_trouble(const char *sentence, void *ctx)
{
	struct overcommit_controller *l = ctx;
	if (!log_again(&l->complained_ms, l->now_ms))
		return;
	log_event(l->o.log, LEVEL_WARN, "watch-trouble", "kind", "configmaps", "namespace",
		l->o.configmap_namespace, "name", l->o.configmap, "why", sentence, NULL);
}

static void on_configmap_unreadable(const struct kube_unreadable *u, void *ctx)
{
	struct overcommit_controller *l = ctx;
	l->configmap_seen =
		true; /* it is asked for by its name: the last good one stays in force */
	on_configmap_trouble(u->why, ctx);
}

static void follow_configmap(struct overcommit_controller *l)
{
	static const struct kube_watch_handler handler = {on_configmap_begin, on_configmap,
		on_configmap_end, on_configmap_trouble, NULL, NULL, on_configmap_unreadable};
	struct buf path, selector;
	if (!l->o.configmap || !*l->o.configmap) {
		l->configmap_listed = true;
		return;
	}
	buf_init(&path, PATH_MAX_BYTES);
	buf_init(&selector, PATH_MAX_BYTES);
	path_format(&path, "/api/v1/namespaces/%s/configmaps", l->o.configmap_namespace);
	buf_printf(&selector, "metadata.name=%s", l->o.configmap);
	struct kube_watch_options o = {
		.path = buf_text(&path), .field_selector = buf_text(&selector), .seed = l->o.seed};
	l->configmap = kube_watch_new(l->o.client, &o, &handler, l);
	buf_done(&path);
	buf_done(&selector);
}

/* ---- what others tell ------------------------------------------------------------------------ */

/* Whether a node's own use is what its agent says, and no other source. */
static bool goes_by_agent(const struct inventory_node *n, int64_t now_ms)
{
	enum usage_source source = n->node_state.strategy.source;
	return source == SOURCE_AGENT || (source == SOURCE_AUTO && inventory_has_agent(n, now_ms));
}

static void on_sample(const struct usage_facts *u, void *ctx)
{
	struct overcommit_controller *l = ctx;
	/* A sample of the future, if kept, would hide all that is measured until then. */
	if (window_of_the_future(u->at_ms, l->now_ms))
		return;
	if (u->ns[0]) {
		inventory_sample_pod(l->inventory, u);
		return;
	}
	const struct inventory_node *n = inventory_find(l->inventory, u->name);
	if (n && !goes_by_agent(n, l->now_ms))
		inventory_sample_node(l->inventory, u);
}

static void on_round(bool complete, void *ctx)
{
	struct overcommit_controller *l = ctx;
	l->rounds++;
	if (complete)
		inventory_end_round(l->inventory);
}

static void on_node_drop(struct inventory_node *n, void *ctx)
{
	struct overcommit_controller *l = ctx;
	publisher_lose(l->publisher, n);
	l->pools_dirty = true;
}

int overcommit_controller_see(
	struct overcommit_controller *l, const struct cJSON *object, struct err *e)
{
	overcommit_status_see(l->overcommit_status, object);
	return overcommit_configs_see(l->overcommit_configs, object, e);
}

void overcommit_controller_drop(struct overcommit_controller *l, const char *name)
{
	overcommit_status_lose(l->overcommit_status, name);
	overcommit_configs_drop(l->overcommit_configs, name);
}

void overcommit_controller_see_flavor(struct overcommit_controller *l, struct flavor_spec *s)
{
	pools_see(l->pools, s);
	l->pools_dirty = true;
}

void overcommit_controller_drop_flavor(struct overcommit_controller *l, const char *name)
{
	pools_drop(l->pools, name);
	l->pools_dirty = true;
}

/* ---- agents ---------------------------------------------------------------------------------- */

const struct orders *overcommit_controller_orders(struct overcommit_controller *l, const char *node)
{
	if (l->leads && !overcommit_configs_lends(l->overcommit_configs))
		return node_orders_off();
	const struct inventory_node *n = l->known ? inventory_find(l->inventory, node) : NULL;
	return n ? node_orders_of(l->node_orders, n, l->now_ms) : NULL;
}

/* Has agents hear of a pod in the moment in which it is bound. */
static void on_lent(struct inventory_node *n, void *ctx)
{
	struct overcommit_controller *l = ctx;
	if (l->known)
		node_orders_look(l->node_orders, n, l->now_ms);
}

static void on_orders_changed(const char *node, void *ctx)
{
	struct overcommit_controller *l = ctx;
	if (l->o.orders_changed)
		l->o.orders_changed(node, l->o.ctx);
}

static struct inventory_node *find_known(const struct overcommit_controller *l, const char *node)
{
	struct inventory_node *n = l->known ? inventory_find(l->inventory, node) : NULL;
	return n && n->facts ? n : NULL;
}

void overcommit_controller_take_sample(
	struct overcommit_controller *l, const char *node, const struct sample *s, int64_t now_ms)
{
	struct inventory_node *n = find_known(l, node);
	if (!n)
		return;
	enum usage_source source = n->node_state.strategy.source;
	inventory_take_agent(
		l->inventory, n, s, now_ms, source == SOURCE_AGENT || source == SOURCE_AUTO);
}

void overcommit_controller_take_deeds(
	struct overcommit_controller *l, const char *node, const struct sample *s, int64_t now_ms)
{
	struct inventory_node *n = find_known(l, node);
	if (n && ended_pods_take(l->ended_pods, n, s, now_ms))
		l->o.changed(l->o.ctx);
}

/* ---- what is followed ------------------------------------------------------------------------ */

/* Follows what lending needs, and says whether it is listed. While lending is off all Nodes are
 * still looked at once: an earlier leader may have left figures on them, which become 0. */
static bool follow(struct overcommit_controller *l)
{
	bool lends = overcommit_configs_lends(l->overcommit_configs);
	bool wants_pods = lends || pools_count(l->pools) > 0;
	if (lends)
		l->swept = false;
	node_watch_want(l->node_watch, wants_pods || !l->swept, wants_pods);
	return node_watch_has_nodes(l->node_watch) &&
	       (!wants_pods || node_watch_has_pods(l->node_watch));
}

static bool publishes(const struct inventory_node *n)
{
	const struct figures *t = &n->node_state.there;
	return t->batch_cpu > 0 || t->batch_memory > 0 || t->gocran_cpu > 0 || t->gocran_memory > 0;
}

static void note_swept(struct overcommit_controller *l)
{
	struct inventory_node *n;
	if (l->swept || overcommit_configs_lends(l->overcommit_configs) ||
		publisher_under_way(l->publisher) > 0)
		return;
	for (size_t i = 0; (n = inventory_node_at(l->inventory, i)); i++)
		if (n->facts && publishes(n))
			return;
	l->swept = true;
}

/* ---- usage ----------------------------------------------------------------------------------- */

static void measure(struct overcommit_controller *l)
{
	struct inventory_node *n;
	struct usage_poller_node *kubelets = NULL;
	size_t nkubelets = 0;
	int64_t interval_s = INT64_MAX;
	bool metrics_api = false;
	for (size_t i = 0; (n = inventory_node_at(l->inventory, i)); i++) {
		const struct strategy *s = &n->node_state.strategy;
		if (!n->facts || !s->enable)
			continue;
		if (s->interval_s < interval_s)
			interval_s = s->interval_s;
		metrics_api |= s->source == SOURCE_METRICS_API ||
			       (s->source == SOURCE_AUTO && !inventory_has_agent(n, l->now_ms));
		if (s->source != SOURCE_KUBELET)
			continue;
		if (!kubelets)
			kubelets = mem_array(inventory_nodes(l->inventory), sizeof(*kubelets));
		kubelets[nkubelets++] = (struct usage_poller_node){n->name, n->facts->metrics_path};
	}
	l->measures = metrics_api || nkubelets > 0;
	if (l->measures)
		usage_poller_tick(l->usage_poller, l->now_ms, interval_s * 1000, metrics_api,
			kubelets, nkubelets);
	free(kubelets);
}

/* ---- the history ----------------------------------------------------------------------------- */

static void on_told(const char *node, int64_t at_ms, struct load taken, void *ctx)
{
	struct overcommit_controller *l = ctx;
	struct inventory_node *n = inventory_find(l->inventory, node);
	if (!*node)
		log_event(l->o.log, LEVEL_INFO, "history-read", NULL);
	else if (n && n->node_state.forecast)
		forecast_add(n->node_state.forecast, at_ms, taken);
}

static void note_history(struct overcommit_controller *l, const struct inventory_node *n)
{
	if (l->o.history && n->node_state.fed && n->node_state.forecast)
		history_note(l->o.history, n->name, n->used_ms, n->node_state.busy);
}

/* Reads the history once a node lends under gocran.io, when there are forecasts to take it. */
static void keep_history(struct overcommit_controller *l, bool forecasts)
{
	int64_t epoch = l->o.gate ? gate_epoch(l->o.gate) : 0;
	if (!l->o.history || epoch == 0 || !forecasts)
		return;
	if (l->recalled_epoch != epoch)
		history_recall(l->o.history, epoch, on_told, l);
	l->recalled_epoch = epoch;
	history_tick(l->o.history, epoch, l->now_ms);
}

/* ---- node states -------------------------------------------------------------------------- */

static void set_rules(struct overcommit_controller *l, struct inventory_node *n)
{
	struct node_state *a = &n->node_state;
	struct ruling ruling;
	overcommit_configs_rule(l->overcommit_configs, n->facts, &ruling);
	a->version = overcommit_configs_version(l->overcommit_configs);
	a->ruled = true;
	a->governed = ruling.governed;
	a->whose = ruling.whose;
	a->entry = ruling.entry;
	a->strategy = ruling.strategy;
	bool forecasts = a->strategy.enable && (a->strategy.names & LEND_GOCRAN);
	if (forecasts && !a->forecast)
		a->forecast = forecast_new();
	n->dirty = true;
}

static void make_node_states(struct overcommit_controller *l)
{
	struct inventory_node *n;
	bool forecasts = false;
	for (size_t i = 0; (n = inventory_node_at(l->inventory, i)); i++) {
		if (!n->facts)
			continue;
		if (n->node_state.version != overcommit_configs_version(l->overcommit_configs))
			set_rules(l, n);
		forecasts |= n->node_state.forecast != NULL;
		if (!n->dirty && n->node_state.look_ms > l->now_ms)
			continue;
		node_state_make(n, l->now_ms);
		note_history(l, n);
		l->made++;
		l->pools_dirty = true;
	}
	keep_history(l, forecasts);
}

static void tell_pools(struct overcommit_controller *l)
{
	if (publisher_take_news(l->publisher))
		l->pools_dirty = true;
	if (!l->pools_dirty)
		return;
	l->pools_dirty = false;
	if (pools_tell(l->pools))
		l->o.changed(l->o.ctx);
}

/* ---- its life -------------------------------------------------------------------------------- */

struct overcommit_controller *overcommit_controller_new(
	const struct overcommit_controller_options *o)
{
	struct overcommit_controller *l = mem_alloc(sizeof(*l));
	struct usage_poller_events events = {on_sample, on_round, l};
	l->o = *o;
	l->overcommit_configs = overcommit_configs_new();
	l->inventory = inventory_new();
	inventory_on_drop(l->inventory, on_node_drop, l);
	inventory_on_lent(l->inventory, on_lent, l);
	struct node_orders_options orders = {.inventory = l->inventory,
		.queue = o->queue,
		.changed = on_orders_changed,
		.ctx = l};
	l->node_orders = node_orders_new(&orders);
	l->node_watch = node_watch_new(o->nodes, o->pods, l->inventory, o->log);
	l->usage_poller = usage_poller_new(o->client, o->log, &events);
	l->publisher = publisher_new(o->client, l->inventory, o->log);
	l->pools = pools_new(l->inventory, o->queue);
	struct reclaimer_options reclaimer = {.client = o->client,
		.inventory = l->inventory,
		.queue = o->queue,
		.gate = o->gate,
		.events = o->events,
		.log = o->log};
	l->reclaimer = reclaimer_new(&reclaimer);
	struct ended_pods_options ended = {.client = o->client,
		.inventory = l->inventory,
		.queue = o->queue,
		.gate = o->gate,
		.events = o->events,
		.log = o->log};
	l->ended_pods = ended_pods_new(&ended);
	struct overcommit_status_options overcommit_status = {.client = o->client,
		.overcommit_configs = l->overcommit_configs,
		.inventory = l->inventory,
		.events = o->events,
		.log = o->log};
	l->overcommit_status = overcommit_status_new(&overcommit_status);
	follow_configmap(l);
	return l;
}

void overcommit_controller_free(struct overcommit_controller *l)
{
	if (!l)
		return;
	kube_watch_free(l->configmap);
	node_watch_free(l->node_watch);
	usage_poller_free(l->usage_poller);
	publisher_free(l->publisher);
	reclaimer_free(l->reclaimer);
	ended_pods_free(l->ended_pods);
	overcommit_status_free(l->overcommit_status);
	pools_free(l->pools);
	node_orders_free(l->node_orders);
	inventory_free(l->inventory);
	overcommit_configs_free(l->overcommit_configs);
	free(l);
}

static void lend(struct overcommit_controller *l)
{
	make_node_states(l);
	measure(l);
	if (reclaimer_tick(l->reclaimer, l->now_ms))
		l->o.changed(l->o.ctx);
	publisher_tick(l->publisher, l->now_ms);
	tell_pools(l);
	note_swept(l);
}

void overcommit_controller_tick(struct overcommit_controller *l, int64_t now_ms, bool leads)
{
	l->now_ms = now_ms;
	l->leads = leads && l->configmap_listed && overcommit_configs_known(l->overcommit_configs);
	l->known &= l->leads;
	if (!leads || !l->configmap_listed)
		return;
	bool known = l->leads && follow(l);
	l->measures &= known;
	if (known)
		lend(l);
	l->known = known;
	if (known || (l->leads && !overcommit_configs_lends(l->overcommit_configs)))
		node_orders_tick(l->node_orders, now_ms);
	overcommit_status_tick(l->overcommit_status, now_ms, known,
		l->measures ? usage_poller_trouble(l->usage_poller) : "");
}
