#include "controller/agents.h"

#include "controller/common/seed.h"
#include "controller/nodes/node_agents.h"
#include "controller/overcommit/overcommit_controller.h"

static const struct orders *orders_of(const char *node, void *ctx)
{
	const struct parts *p = ctx;
	return overcommit_controller_orders(p->overcommit_controller, node);
}

static void on_deeds(const char *node, const struct sample *s, int64_t now_ms, void *ctx)
{
	const struct parts *p = ctx;
	overcommit_controller_take_deeds(p->overcommit_controller, node, s, now_ms);
}

static void on_sample(const char *node, const struct sample *s, int64_t now_ms, void *ctx)
{
	const struct parts *p = ctx;
	overcommit_controller_take_sample(p->overcommit_controller, node, s, now_ms);
}

int agents_open(struct parts *parts, struct err *e)
{
	const struct options *o = parts->options;
	if (!o->node_listen.on)
		return 0;
	struct node_agents_options agents = {
		.port = {.loop = parts->loop,
			.client = parts->client,
			.log = parts->log,
			.host = o->node_listen.host,
			.port = o->node_listen.port,
			.address = o->node_address,
			.certificate = o->node_cert_file,
			.key = o->node_key_file},
		.namespace_name = o->config_namespace,
		.events = {orders_of, on_deeds, on_sample, parts},
		.seed = seed_draw(),
	};
	return node_agents_open(&agents, &parts->node_agents, e);
}

void agents_close(struct parts *parts)
{
	node_agents_close(parts->node_agents);
	parts->node_agents = NULL;
}
