#include "controller/overcommit/lender.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/kube/watch.h"
#include "controller/overcommit/census.h"
#include "controller/overcommit/gauge.h"
#include "controller/overcommit/history.h"
#include "controller/overcommit/lender_priv.h"
#include "controller/common/path.h"
#include "controller/wire/decode.h"

/* ---- the ConfigMap --------------------------------------------------------------------------- */

static void tell_configmap_fault(struct lender *l, const cJSON *object, const char *sentence)
{
	struct events_subject of = {
		.ns = l->o.configmap_namespace, .name = l->o.configmap, .kind = "ConfigMap"};
	decode_uid(object, &of.uid);
	log_event(l->o.log, LEVEL_WARN, "rejected", "kind", "configmaps", "namespace", of.ns,
		"name", of.name, "why", sentence, "effect",
		rulebook_known(l->rulebook) ? "the last good configuration stays in force"
					    : "nothing is changed until it is right",
		NULL);
	if (l->o.events)
		events_tell(l->o.events, &of, EVENTS_WARNING, "InvalidConfiguration", sentence,
			l->now_ms);
}

static void on_configmap(enum kube_event type, const cJSON *object, void *ctx)
{
	struct lender *l = ctx;
	struct err e = {""};
	bool news = false;
	if (strcmp(decode_name(object), l->o.configmap) != 0)
		return;
	l->configmap_seen = type != KUBE_DELETED;
	if (type == KUBE_DELETED)
		rulebook_drop_configmap(l->rulebook);
	else if (rulebook_see_configmap(l->rulebook, object, &news, &e) != 0 && news)
		tell_configmap_fault(l, object, e.text);
	else if (news)
		log_event(l->o.log, LEVEL_INFO, "overcommit-config", "namespace",
			l->o.configmap_namespace, "name", l->o.configmap, "lends",
			rulebook_lends(l->rulebook) ? "true" : "false", NULL);
}

static void on_configmap_begin(void *ctx)
{
	((struct lender *)ctx)->configmap_seen = false;
}

static void on_configmap_end(void *ctx)
{
	struct lender *l = ctx;
	l->configmap_listed = true;
	if (!l->configmap_seen)
		rulebook_drop_configmap(l->rulebook);
}

static void on_configmap_trouble(const char *sentence, void *ctx)
{
	struct lender *l = ctx;
	int64_t age_ms = l->now_ms - l->complained_ms;
	if (l->complained_ms != 0 && age_ms >= 0 && age_ms < COMPLAIN_MS)
		return;
	l->complained_ms = l->now_ms;
	log_event(l->o.log, LEVEL_WARN, "watch-trouble", "kind", "configmaps", "namespace",
		l->o.configmap_namespace, "name", l->o.configmap, "why", sentence, NULL);
}

static void on_configmap_unreadable(const struct kube_unreadable *u, void *ctx)
{
	struct lender *l = ctx;
	l->configmap_seen =
		true; /* it is asked for by its name: the last good one stays in force */
	on_configmap_trouble(u->why, ctx);
}

static void follow_configmap(struct lender *l)
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

static void on_sample(const struct usage_facts *u, void *ctx)
{
	struct lender *l = ctx;
	/* Kept, it would hide all that is measured until then. */
	if (window_of_the_future(u->at_ms, l->now_ms))
		return;
	if (u->ns[0])
		inventory_sample_pod(l->inventory, u);
	else
		inventory_sample_node(l->inventory, u);
}

static void on_round(bool complete, void *ctx)
{
	struct lender *l = ctx;
	l->rounds++;
	if (complete)
		inventory_end_round(l->inventory);
}

static void on_node_drop(struct inventory_node *n, void *ctx)
{
	struct lender *l = ctx;
	publisher_lose(l->publisher, n);
	l->pools_dirty = true;
}

int lender_see(struct lender *l, const struct cJSON *object, struct err *e)
{
	bulletin_see(l->bulletin, object);
	return rulebook_see(l->rulebook, object, e);
}

void lender_drop(struct lender *l, const char *name)
{
	bulletin_lose(l->bulletin, name);
	rulebook_drop(l->rulebook, name);
}

void lender_see_flavor(struct lender *l, struct flavor_spec *s)
{
	pools_see(l->pools, s);
	l->pools_dirty = true;
}

void lender_drop_flavor(struct lender *l, const char *name)
{
	pools_drop(l->pools, name);
	l->pools_dirty = true;
}

/* ---- who is followed ------------------------------------------------------------------------- */

/* When nobody lends the nodes are looked through once all the same: an earlier leader may have left
 * figures on them, that are 0 now. */
static bool follow(struct lender *l)
{
	bool lends = rulebook_lends(l->rulebook);
	bool wants_pods = lends || pools_count(l->pools) > 0;
	if (lends)
		l->swept = false;
	census_want(l->census, wants_pods || !l->swept, wants_pods);
	return census_has_nodes(l->census) && (!wants_pods || census_has_pods(l->census));
}

static bool publishes(const struct inventory_node *n)
{
	const struct figures *t = &n->loan.there;
	return t->batch_cpu > 0 || t->batch_memory > 0 || t->gocran_cpu > 0 || t->gocran_memory > 0;
}

static void note_swept(struct lender *l)
{
	struct inventory_node *n;
	if (l->swept || rulebook_lends(l->rulebook) || publisher_under_way(l->publisher) > 0)
		return;
	for (size_t i = 0; (n = inventory_node_at(l->inventory, i)); i++)
		if (n->facts && publishes(n))
			return;
	l->swept = true;
}

/* ---- usage ----------------------------------------------------------------------------------- */

static void measure(struct lender *l)
{
	struct inventory_node *n;
	struct gauge_node *kubelets = NULL;
	size_t nkubelets = 0;
	int64_t interval_s = INT64_MAX;
	bool metrics_api = false;
	for (size_t i = 0; (n = inventory_node_at(l->inventory, i)); i++) {
		const struct strategy *s = &n->loan.strategy;
		if (!n->facts || !s->enable)
			continue;
		if (s->interval_s < interval_s)
			interval_s = s->interval_s;
		metrics_api |= s->source == SOURCE_METRICS_API;
		if (s->source != SOURCE_KUBELET)
			continue;
		if (!kubelets)
			kubelets = mem_array(inventory_nodes(l->inventory), sizeof(*kubelets));
		kubelets[nkubelets++] = (struct gauge_node){n->name, n->facts->metrics_path};
	}
	l->measures = metrics_api || nkubelets > 0;
	if (l->measures)
		gauge_tick(
			l->gauge, l->now_ms, interval_s * 1000, metrics_api, kubelets, nkubelets);
	free(kubelets);
}

/* ---- the history ----------------------------------------------------------------------------- */

static void on_told(const char *node, int64_t at_ms, struct load taken, void *ctx)
{
	struct lender *l = ctx;
	struct inventory_node *n = inventory_find(l->inventory, node);
	if (!*node)
		log_event(l->o.log, LEVEL_INFO, "history-read", NULL);
	else if (n && n->loan.forecast)
		forecast_add(n->loan.forecast, at_ms, taken);
}

static void note_history(struct lender *l, const struct inventory_node *n)
{
	if (l->o.history && n->loan.news && n->loan.forecast)
		history_note(l->o.history, n->name, n->used_ms, n->loan.busy);
}

/* Read once somebody lends under gocran.io, when the forecasts are there to take it. */
static void keep_history(struct lender *l, bool forecasts)
{
	int64_t epoch = l->o.gate ? gate_epoch(l->o.gate) : 0;
	if (!l->o.history || epoch == 0 || !forecasts)
		return;
	if (l->recalled_epoch != epoch)
		history_recall(l->o.history, epoch, on_told, l);
	l->recalled_epoch = epoch;
	history_tick(l->o.history, epoch, l->now_ms);
}

/* ---- loans -------------------------------------------------------------------------------- */

static void set_rules(struct lender *l, struct inventory_node *n)
{
	struct loan *a = &n->loan;
	struct ruling ruling;
	rulebook_rule(l->rulebook, n->facts, &ruling);
	a->version = rulebook_version(l->rulebook);
	a->governed = ruling.governed;
	a->whose = ruling.whose;
	a->entry = ruling.entry;
	a->strategy = ruling.strategy;
	bool forecasts = a->strategy.enable && (a->strategy.names & LEND_GOCRAN);
	if (forecasts && !a->forecast)
		a->forecast = forecast_new();
	n->dirty = true;
}

static void make_loans(struct lender *l)
{
	struct inventory_node *n;
	bool forecasts = false;
	for (size_t i = 0; (n = inventory_node_at(l->inventory, i)); i++) {
		if (!n->facts)
			continue;
		if (n->loan.version != rulebook_version(l->rulebook))
			set_rules(l, n);
		forecasts |= n->loan.forecast != NULL;
		if (!n->dirty && n->loan.look_ms > l->now_ms)
			continue;
		loan_make(n, l->now_ms);
		note_history(l, n);
		l->made++;
		l->pools_dirty = true;
	}
	keep_history(l, forecasts);
}

static void tell_pools(struct lender *l)
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

struct lender *lender_new(const struct lender_options *o)
{
	struct lender *l = mem_alloc(sizeof(*l));
	struct gauge_events events = {on_sample, on_round, l};
	l->o = *o;
	l->rulebook = rulebook_new();
	l->inventory = inventory_new();
	inventory_on_drop(l->inventory, on_node_drop, l);
	l->census = census_new(o->nodes, o->pods, l->inventory, o->log);
	l->gauge = gauge_new(o->client, o->log, &events);
	l->publisher = publisher_new(o->client, l->inventory, o->log);
	l->pools = pools_new(l->inventory, o->queue);
	struct reclaimer_options reclaimer = {.client = o->client,
		.inventory = l->inventory,
		.queue = o->queue,
		.gate = o->gate,
		.events = o->events,
		.log = o->log};
	l->reclaimer = reclaimer_new(&reclaimer);
	struct bulletin_options bulletin = {.client = o->client,
		.rulebook = l->rulebook,
		.inventory = l->inventory,
		.events = o->events,
		.log = o->log};
	l->bulletin = bulletin_new(&bulletin);
	follow_configmap(l);
	return l;
}

void lender_free(struct lender *l)
{
	if (!l)
		return;
	kube_watch_free(l->configmap);
	census_free(l->census);
	gauge_free(l->gauge);
	publisher_free(l->publisher);
	reclaimer_free(l->reclaimer);
	bulletin_free(l->bulletin);
	pools_free(l->pools);
	inventory_free(l->inventory);
	rulebook_free(l->rulebook);
	free(l);
}

static void lend(struct lender *l)
{
	make_loans(l);
	measure(l);
	if (reclaimer_tick(l->reclaimer, l->now_ms))
		l->o.changed(l->o.ctx);
	publisher_tick(l->publisher, l->now_ms);
	tell_pools(l);
	note_swept(l);
}

void lender_tick(struct lender *l, int64_t now_ms, bool leads)
{
	l->now_ms = now_ms;
	if (!leads || !l->configmap_listed)
		return;
	bool known = rulebook_known(l->rulebook) && follow(l);
	l->measures &= known;
	if (known)
		lend(l);
	bulletin_tick(l->bulletin, now_ms, known, gauge_trouble(l->gauge));
}
