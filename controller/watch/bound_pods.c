#include "controller/watch/bound_pods.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_template.h"

struct lodger {
	struct uid uid;
	uint32_t seen; /* the last list with the pod in it */
};

struct bound_pods {
	struct bound_pods_options o;
	struct kube_subscriber *subscriber; /* NULL: not followed */
	struct map all;
	uint32_t list;
	bool listed, denied;
};

static bool has_uid(const void *value, const void *key)
{
	return uid_cmp(&((const struct lodger *)value)->uid, key) == 0;
}

struct bound_pods *bound_pods_new(const struct bound_pods_options *o)
{
	struct bound_pods *l = mem_alloc(sizeof(*l));
	l->o = *o;
	map_init(&l->all, has_uid);
	return l;
}

/* ---- pods known ------------------------------------------------------------------------------ */

static void lose(struct bound_pods *l, const struct uid *uid)
{
	struct lodger *p = map_take(&l->all, uid_hash(uid), uid);
	if (!p)
		return;
	queue_unbind_pod(l->o.queue, uid);
	free(p);
}

static void keep(struct bound_pods *l, const struct bound_pod *b)
{
	struct lodger *p = map_get(&l->all, uid_hash(&b->uid), &b->uid);
	if (!p) {
		p = mem_alloc(sizeof(*p));
		p->uid = b->uid;
		map_put(&l->all, uid_hash(&b->uid), p);
	}
	p->seen = l->list;
	queue_bind_pod(l->o.queue, b);
}

/* Gives the pods that the last list did not have, or all. The list is the caller's. */
static struct lodger **lost(const struct bound_pods *l, bool all, size_t *ret_n)
{
	struct lodger *p, **list = mem_array(l->all.count + 1, sizeof(*list));
	size_t n = 0;
	map_each(&l->all, i, p) {
		if (all || p->seen != l->list)
			list[n++] = p;
	}
	*ret_n = n;
	return list;
}

static void lose_unseen(struct bound_pods *l, bool all)
{
	size_t n;
	struct lodger **list = lost(l, all, &n);
	for (size_t i = 0; i < n; i++) {
		struct uid uid = list[i]->uid;
		lose(l, &uid);
	}
	free(list);
}

/* ---- what the watch says --------------------------------------------------------------------- */

/* Keeps a pod from being lost in this list. uid NULL: which pod is not known, so none is lost. */
static void keep_as_it_was(struct bound_pods *l, const struct uid *uid)
{
	struct lodger *p = uid ? map_get(&l->all, uid_hash(uid), uid) : NULL;
	if (p)
		p->seen = l->list;
	if (uid)
		return;
	map_each(&l->all, i, p)
		p->seen = l->list;
}

static void on_unreadable(const struct kube_unreadable *u, void *ctx)
{
	struct bound_pods *l = ctx;
	struct uid uid;
	keep_as_it_was(l, uid_parse(u->uid, &uid) ? &uid : NULL);
	l->o.unreadable(u->ns, u->name, u->why, l->o.ctx);
}

static void refused(struct bound_pods *l, const cJSON *object, const char *why)
{
	struct uid uid;
	keep_as_it_was(l, decode_uid(object, &uid) ? &uid : NULL);
	l->o.unreadable(decode_namespace_of(object), decode_name(object), why, l->o.ctx);
}

static void on_begin(void *ctx)
{
	((struct bound_pods *)ctx)->list++;
}

static void on_event(enum kube_event type, const cJSON *object, void *ctx)
{
	struct bound_pods *l = ctx;
	struct bound_pod *b = NULL;
	struct uid uid;
	struct err e = {""};
	if (type == KUBE_DELETED && decode_uid(object, &uid))
		lose(l, &uid);
	else if (type == KUBE_DELETED)
		return;
	else if (decode_bound_pod(object, &b, &e) != 0)
		refused(l, object, e.text);
	else if (*b->node)
		keep(l, b);
	free(b);
	l->o.changed(l->o.ctx);
}

static void on_end(void *ctx)
{
	struct bound_pods *l = ctx;
	lose_unseen(l, false);
	log_event(l->o.log, l->listed ? LEVEL_DEBUG : LEVEL_INFO, "listed", "kind", "pods",
		"#objects", LOG_NUMBER((int64_t)l->all.count), NULL);
	l->listed = true;
	l->denied = false;
	queue_know_pods(l->o.queue, true);
	l->o.listed(l->o.ctx);
	l->o.changed(l->o.ctx);
}

static void on_trouble(const char *sentence, void *ctx)
{
	struct bound_pods *l = ctx;
	l->o.trouble(sentence, l->o.ctx);
}

/* ---- its life -------------------------------------------------------------------------------- */

static void sit_down(struct bound_pods *l)
{
	static const struct kube_watch_handler handler = {.begin = on_begin,
		.event = on_event,
		.end = on_end,
		.trouble = on_trouble,
		.unreadable = on_unreadable};
	l->subscriber = kube_shared_watch_join(l->o.pods, &handler, l);
	if (l->denied)
		queue_know_pods(l->o.queue, true);
}

static void stand_up(struct bound_pods *l)
{
	kube_subscriber_leave(l->subscriber);
	l->subscriber = NULL;
	l->listed = false;
	queue_know_pods(l->o.queue, false);
	lose_unseen(l, true);
	log_event(l->o.log, LEVEL_INFO, "not-followed", "kind", "pods", "why",
		"no ClusterQueue asks for room on nodes (clusterFit Now), and no Job looks at other pods",
		NULL);
}

void bound_pods_deny(struct bound_pods *l)
{
	l->denied = true;
	if (l->subscriber)
		queue_know_pods(l->o.queue, true);
}

void bound_pods_tick(struct bound_pods *l)
{
	bool wanted = queue_wants_pods(l->o.queue);
	if (wanted && !l->subscriber)
		sit_down(l);
	else if (!wanted && l->subscriber)
		stand_up(l);
}

void bound_pods_free(struct bound_pods *l)
{
	if (!l)
		return;
	kube_subscriber_leave(l->subscriber);
	map_free(&l->all, free);
	free(l);
}

bool bound_pods_wanted(const struct bound_pods *l)
{
	return l->subscriber != NULL;
}

bool bound_pods_listed(const struct bound_pods *l)
{
	return l->listed;
}
