#include "controller/overcommit/usage_poller.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/json.h"
#include "controller/overcommit/prom_text.h"
#include "controller/overcommit/kubelets.h"
#include "controller/wire/decode_node.h"

enum {
	ITEM_CEILING = 1 << 20,
	TREE_CEILING = 16 << 20,
	LIST_TIMEOUT_MS = 60000,
};

enum round_state {
	ROUND_OVER,
	ROUND_PODS,	/* the list of pods is being read */
	ROUND_NODES,	/* the list of nodes is being read */
	ROUND_KUBELETS, /* kubelets are asked one by one */
};

struct usage_poller {
	struct kube_client *client;
	struct log *log;
	struct usage_poller_events events;
	struct kubelets *kubelets;
	struct prom_text prom_text;
	struct json *json;
	enum round_state state;
	uint64_t request; /* the list that is being read; 0: none */
	int64_t began_ms; /* the last round; 0: none yet */
	int64_t now_ms;
	bool failed; /* a list of the round failed */
	char trouble[700];
};

/* ---- the end of a round ---------------------------------------------------------------------- */

static void set_trouble(struct usage_poller *g, const char *sentence)
{
	if (strncmp(g->trouble, sentence, sizeof(g->trouble) - 1) == 0)
		return;
	snprintf(g->trouble, sizeof(g->trouble), "%s", sentence);
	if (*sentence)
		log_event(g->log, LEVEL_WARN, "usage-unknown", "why", sentence, "effect",
			"what is lent may only fall, and is 0 when this lasts", NULL);
	else
		log_event(g->log, LEVEL_INFO, "usage-known", NULL);
}

static void end_round(struct usage_poller *g)
{
	g->state = ROUND_OVER;
	if (!g->failed)
		set_trouble(g, kubelets_trouble(g->kubelets));
	g->events.round(!g->failed, g->events.ctx);
}

static void on_kubelets(void *ctx)
{
	end_round(ctx);
}

static void ask_kubelets(struct usage_poller *g)
{
	g->state = ROUND_KUBELETS;
	kubelets_go(g->kubelets, g->now_ms);
}

/* ---- the lists ------------------------------------------------------------------------------- */

static void on_item(struct slice item, void *ctx)
{
	struct usage_poller *g = ctx;
	const cJSON *o;
	struct usage_facts *u = NULL;
	if (json_parse(g->json, item, &o, NULL) == 0 && decode_usage(o, &u, NULL) == 0)
		g->events.sample(u, g->events.ctx);
	free(u);
}

static void on_bytes(struct slice bytes, void *ctx)
{
	prom_text_feed(&((struct usage_poller *)ctx)->prom_text, bytes);
}

static const char *cure(const struct kube_answer *a)
{
	if (a->http_status == 404)
		return "; nothing serves metrics.k8s.io: install metrics-server, or set usageSource: kubelet";
	if (a->http_status == 403 || a->http_status == 401)
		return "; the controller may not get and list nodes and pods of metrics.k8s.io: kubectl apply -f deploy/components/idle-resources/role.yaml";
	return "; look at metrics-server: kubectl get apiservice v1beta1.metrics.k8s.io";
}

static void fail_list(struct usage_poller *g, const struct kube_answer *a)
{
	char sentence[600];
	if (a->outcome == KUBE_DONE)
		snprintf(sentence, sizeof(sentence),
			"the list of metrics.k8s.io %s broke off or is none",
			g->state == ROUND_PODS ? "pods" : "nodes");
	else
		snprintf(sentence, sizeof(sentence), "metrics.k8s.io %s cannot be listed: %.300s%s",
			g->state == ROUND_PODS ? "pods" : "nodes", a->sentence, cure(a));
	set_trouble(g, sentence);
	g->failed = true;
}

static void ask_list(struct usage_poller *g, enum round_state state);

static void on_list(const struct kube_answer *a, void *ctx)
{
	struct usage_poller *g = ctx;
	g->request = 0;
	json_reset(g->json);
	if (a->outcome != KUBE_DONE || !prom_text_complete(&g->prom_text))
		fail_list(g, a);
	/* A node's sample without those of its pods would count their use as the system's. */
	if (g->state == ROUND_PODS && !g->failed)
		ask_list(g, ROUND_NODES);
	else
		ask_kubelets(g);
}

static void ask_list(struct usage_poller *g, enum round_state state)
{
	struct kube_request request = {.method = KUBE_GET,
		.path = state == ROUND_PODS ? "/apis/metrics.k8s.io/v1beta1/pods"
					    : "/apis/metrics.k8s.io/v1beta1/nodes",
		.timeout_ms = LIST_TIMEOUT_MS};
	g->state = state;
	prom_text_reset(&g->prom_text);
	g->request = kube_client_stream(g->client, &request, on_bytes, on_list, g);
}

/* ---- its life -------------------------------------------------------------------------------- */

static void on_sample(const struct usage_facts *u, void *ctx)
{
	struct usage_poller *g = ctx;
	g->events.sample(u, g->events.ctx);
}

struct usage_poller *usage_poller_new(
	struct kube_client *client, struct log *log, const struct usage_poller_events *e)
{
	struct usage_poller *g = mem_alloc(sizeof(*g));
	struct kubelets_events kubelets = {on_sample, on_kubelets, g};
	g->client = client;
	g->log = log;
	g->events = *e;
	g->json = json_new(TREE_CEILING);
	g->kubelets = kubelets_new(client, &kubelets);
	prom_text_init(&g->prom_text, ITEM_CEILING, on_item, g);
	return g;
}

void usage_poller_free(struct usage_poller *g)
{
	if (!g)
		return;
	kube_client_cancel(g->client, g->request);
	kubelets_free(g->kubelets);
	prom_text_done(&g->prom_text);
	json_free(g->json);
	free(g);
}

void usage_poller_tick(struct usage_poller *g, int64_t now_ms, int64_t interval_ms,
	bool metrics_api, const struct usage_poller_node *kubelets, size_t nkubelets)
{
	int64_t age_ms = now_ms - g->began_ms;
	if (g->state != ROUND_OVER || (!metrics_api && nkubelets == 0))
		return;
	if (g->began_ms != 0 && age_ms >= 0 && age_ms < interval_ms)
		return;
	g->began_ms = g->now_ms = now_ms;
	g->failed = false;
	kubelets_set(g->kubelets, kubelets, nkubelets);
	if (metrics_api)
		ask_list(g, ROUND_PODS);
	else
		ask_kubelets(g);
}

bool usage_poller_busy(const struct usage_poller *g)
{
	return g->state != ROUND_OVER;
}

const char *usage_poller_trouble(const struct usage_poller *g)
{
	return g->trouble;
}
