#include "controller/overcommit/node_watch.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/monotonic.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_node.h"

struct count {
	struct node_watch *node_watch;
	const char *kind;
	struct kube_shared_watch *share;
	struct kube_subscriber *subscriber; /* NULL: not followed */
	bool listed;
	bool partial; /* an object in the list under way cannot be read: none is lost in it */
	int64_t complained_ms;
};

struct node_watch {
	struct inventory *inventory;
	struct log *log;
	uint64_t unreadable;
	struct count nodes, pods;
};

/* ---- what a watch says ----------------------------------------------------------------------- */

static bool worth_saying(struct count *t)
{
	return log_again(&t->complained_ms, monotonic_ms());
}

static void on_trouble(const char *sentence, void *ctx)
{
	struct count *t = ctx;
	if (worth_saying(t))
		log_event(t->node_watch->log, LEVEL_WARN, "watch-trouble", "kind", t->kind, "why",
			sentence, NULL);
}

static void unreadable(struct count *t, const char *name, const char *sentence)
{
	t->node_watch->unreadable++;
	if (worth_saying(t))
		log_event(t->node_watch->log, LEVEL_WARN, "rejected", "kind", t->kind, "name",
			*name ? name : NULL, "why", sentence, NULL);
}

static void on_unreadable(const struct kube_unreadable *u, void *ctx)
{
	struct count *t = ctx;
	t->partial = true;
	unreadable(t, u->name, u->why);
}

static void listed(struct count *t, size_t n)
{
	log_event(t->node_watch->log, t->listed ? LEVEL_DEBUG : LEVEL_INFO, "listed", "kind",
		t->kind, "#objects", LOG_NUMBER((int64_t)n), NULL);
	t->listed = true;
}

static void on_begin_nodes(void *ctx)
{
	struct count *t = ctx;
	t->partial = false;
	inventory_begin_nodes(t->node_watch->inventory);
}

static void on_end_nodes(void *ctx)
{
	struct count *t = ctx;
	if (!t->partial)
		inventory_end_nodes(t->node_watch->inventory);
	listed(t, inventory_nodes(t->node_watch->inventory));
}

static void on_node(enum kube_event type, const cJSON *object, void *ctx)
{
	struct count *t = ctx;
	struct node_facts *f = NULL;
	struct err e = {""};
	if (type == KUBE_DELETED)
		inventory_drop_node(t->node_watch->inventory, decode_name(object));
	else if (decode_node(object, &f, &e) == 0)
		inventory_see_node(t->node_watch->inventory, f);
	else
		unreadable(t, decode_name(object), e.text);
}

static void on_begin_pods(void *ctx)
{
	struct count *t = ctx;
	t->partial = false;
	inventory_begin_pods(t->node_watch->inventory);
}

static void on_end_pods(void *ctx)
{
	struct count *t = ctx;
	if (!t->partial)
		inventory_end_pods(t->node_watch->inventory);
	listed(t, inventory_pods(t->node_watch->inventory));
}

static void on_pod(enum kube_event type, const cJSON *object, void *ctx)
{
	struct count *t = ctx;
	struct pod_facts *f = NULL;
	struct err e = {""};
	if (type == KUBE_DELETED)
		inventory_drop_pod(
			t->node_watch->inventory, decode_namespace_of(object), decode_name(object));
	else if (decode_pod(object, &f, &e) == 0)
		inventory_see_pod(t->node_watch->inventory, f);
	else
		unreadable(t, decode_name(object), e.text);
	free(f);
}

/* ---- its life -------------------------------------------------------------------------------- */

struct node_watch *node_watch_new(struct kube_shared_watch *nodes, struct kube_shared_watch *pods,
	struct inventory *inventory, struct log *log)
{
	struct node_watch *c = mem_alloc(sizeof(*c));
	c->inventory = inventory;
	c->log = log;
	c->nodes = (struct count){.node_watch = c, .kind = "nodes", .share = nodes};
	c->pods = (struct count){.node_watch = c, .kind = "pods", .share = pods};
	return c;
}

static void count_close(struct count *t)
{
	if (!t->subscriber)
		return;
	kube_subscriber_leave(t->subscriber);
	t->subscriber = NULL;
	t->listed = false;
	log_event(t->node_watch->log, LEVEL_INFO, "not-lent", "kind", t->kind, "why",
		"lending idle resources is not enabled", NULL);
}

static void follow(struct count *t, const struct kube_watch_handler *handler)
{
	if (!t->subscriber)
		t->subscriber = kube_shared_watch_join(t->share, handler, t);
}

void node_watch_want(struct node_watch *c, bool nodes, bool pods)
{
	static const struct kube_watch_handler on_nodes = {.begin = on_begin_nodes,
		.event = on_node,
		.end = on_end_nodes,
		.trouble = on_trouble,
		.unreadable = on_unreadable};
	static const struct kube_watch_handler on_pods = {.begin = on_begin_pods,
		.event = on_pod,
		.end = on_end_pods,
		.trouble = on_trouble,
		.unreadable = on_unreadable};
	if (nodes)
		follow(&c->nodes, &on_nodes);
	if (pods)
		follow(&c->pods, &on_pods);
	if (!pods)
		count_close(&c->pods);
	if (nodes || !c->nodes.subscriber)
		return;
	count_close(&c->nodes);
	inventory_clear(c->inventory);
}

void node_watch_free(struct node_watch *c)
{
	if (!c)
		return;
	kube_subscriber_leave(c->nodes.subscriber);
	kube_subscriber_leave(c->pods.subscriber);
	free(c);
}

bool node_watch_has_nodes(const struct node_watch *c)
{
	return c->nodes.listed;
}

bool node_watch_has_pods(const struct node_watch *c)
{
	return c->pods.listed;
}

uint64_t node_watch_unreadable(const struct node_watch *c)
{
	return c->unreadable;
}
