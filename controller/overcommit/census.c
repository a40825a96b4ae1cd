#include "controller/overcommit/census.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/common/clock.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_node.h"

enum { COMPLAIN_MS = 60000 };

struct count {
	struct census *census;
	const char *kind;
	struct kube_share *share;
	struct kube_seat *seat; /* NULL: not followed */
	bool listed;
	bool partial; /* something in the list under way cannot be read: none is lost in it */
	int64_t complained_ms;
};

struct census {
	struct inventory *inventory;
	struct log *log;
	uint64_t unreadable;
	struct count nodes, pods;
};

/* ---- what a watch says ----------------------------------------------------------------------- */

static bool worth_saying(struct count *t)
{
	int64_t now_ms = clock_monotonic_us() / 1000;
	if (t->complained_ms != 0 && now_ms - t->complained_ms < COMPLAIN_MS)
		return false;
	t->complained_ms = now_ms;
	return true;
}

static void on_trouble(const char *sentence, void *ctx)
{
	struct count *t = ctx;
	if (worth_saying(t))
		log_event(t->census->log, LEVEL_WARN, "watch-trouble", "kind", t->kind, "why",
			sentence, NULL);
}

static void unreadable(struct count *t, const char *name, const char *sentence)
{
	t->census->unreadable++;
	if (worth_saying(t))
		log_event(t->census->log, LEVEL_WARN, "rejected", "kind", t->kind, "name",
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
	log_event(t->census->log, t->listed ? LEVEL_DEBUG : LEVEL_INFO, "listed", "kind", t->kind,
		"#objects", LOG_NUMBER((int64_t)n), NULL);
	t->listed = true;
}

static void on_begin_nodes(void *ctx)
{
	struct count *t = ctx;
	t->partial = false;
	inventory_begin_nodes(t->census->inventory);
}

static void on_end_nodes(void *ctx)
{
	struct count *t = ctx;
	if (!t->partial)
		inventory_end_nodes(t->census->inventory);
	listed(t, inventory_nodes(t->census->inventory));
}

static void on_node(enum kube_event type, const cJSON *object, void *ctx)
{
	struct count *t = ctx;
	struct node_facts *f = NULL;
	struct err e = {""};
	if (type == KUBE_DELETED)
		inventory_drop_node(t->census->inventory, decode_name(object));
	else if (decode_node(object, &f, &e) == 0)
		inventory_see_node(t->census->inventory, f);
	else
		unreadable(t, decode_name(object), e.text);
}

static void on_begin_pods(void *ctx)
{
	struct count *t = ctx;
	t->partial = false;
	inventory_begin_pods(t->census->inventory);
}

static void on_end_pods(void *ctx)
{
	struct count *t = ctx;
	if (!t->partial)
		inventory_end_pods(t->census->inventory);
	listed(t, inventory_pods(t->census->inventory));
}

static void on_pod(enum kube_event type, const cJSON *object, void *ctx)
{
	struct count *t = ctx;
	struct pod_facts *f = NULL;
	struct err e = {""};
	if (type == KUBE_DELETED)
		inventory_drop_pod(
			t->census->inventory, decode_namespace_of(object), decode_name(object));
	else if (decode_pod(object, &f, &e) == 0)
		inventory_see_pod(t->census->inventory, f);
	else
		unreadable(t, decode_name(object), e.text);
	free(f);
}

/* ---- its life -------------------------------------------------------------------------------- */

struct census *census_new(struct kube_share *nodes, struct kube_share *pods,
	struct inventory *inventory, struct log *log)
{
	struct census *c = mem_alloc(sizeof(*c));
	c->inventory = inventory;
	c->log = log;
	c->nodes = (struct count){.census = c, .kind = "nodes", .share = nodes};
	c->pods = (struct count){.census = c, .kind = "pods", .share = pods};
	return c;
}

static void count_close(struct count *t)
{
	if (!t->seat)
		return;
	kube_seat_leave(t->seat);
	t->seat = NULL;
	t->listed = false;
	log_event(t->census->log, LEVEL_INFO, "not-lent", "kind", t->kind, "why",
		"nobody lends idle resources", NULL);
}

static void open_nodes(struct census *c)
{
	static const struct kube_watch_handler handler = {.begin = on_begin_nodes,
		.event = on_node,
		.end = on_end_nodes,
		.trouble = on_trouble,
		.unreadable = on_unreadable};
	c->nodes.seat = kube_share_join(c->nodes.share, &handler, &c->nodes);
}

static void open_pods(struct census *c)
{
	static const struct kube_watch_handler handler = {.begin = on_begin_pods,
		.event = on_pod,
		.end = on_end_pods,
		.trouble = on_trouble,
		.unreadable = on_unreadable};
	c->pods.seat = kube_share_join(c->pods.share, &handler, &c->pods);
}

void census_want(struct census *c, bool nodes, bool pods)
{
	if (nodes && !c->nodes.seat)
		open_nodes(c);
	if (pods && !c->pods.seat)
		open_pods(c);
	if (!pods)
		count_close(&c->pods);
	if (nodes || !c->nodes.seat)
		return;
	count_close(&c->nodes);
	inventory_clear(c->inventory);
}

void census_free(struct census *c)
{
	if (!c)
		return;
	kube_seat_leave(c->nodes.seat);
	kube_seat_leave(c->pods.seat);
	free(c);
}

bool census_has_nodes(const struct census *c)
{
	return c->nodes.listed;
}

bool census_has_pods(const struct census *c)
{
	return c->pods.listed;
}

uint64_t census_unreadable(const struct census *c)
{
	return c->unreadable;
}
