#include "controller/watch/stuck_pods.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/monotonic.h"
#include "controller/common/clock.h"
#include "controller/kube/watch.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_trouble.h"
#include "controller/wire/patch.h"
#include "sluice/keys.h"

enum { LINGER_MS = 60000 };

struct view {
	struct stuck_pods *stuck_pods;
	const char *kind;
	struct kube_watch *watch; /* NULL: not followed */
	int64_t wanted_ms, complained_ms;
};

struct stuck_pods {
	struct stuck_pods_options options;
	struct view pods, refusals, rejected;
};

/* ---- what a watch says ----------------------------------------------------------------------- */

static bool worth_saying(struct view *v)
{
	return log_again(&v->complained_ms, monotonic_ms());
}

static void on_trouble(const char *sentence, void *ctx)
{
	struct view *v = ctx;
	if (worth_saying(v))
		log_event(v->stuck_pods->options.log, LEVEL_WARN, "watch-trouble", "kind", v->kind,
			"why", sentence, "effect",
			"what keeps the pods of running Jobs is not told", NULL);
}

static void unreadable(struct view *v, const cJSON *object, const char *sentence)
{
	if (worth_saying(v))
		log_event(v->stuck_pods->options.log, LEVEL_DEBUG, "rejected", "kind", v->kind,
			"name", decode_name(object), "why", sentence, NULL);
}

static void on_unreadable(const struct kube_unreadable *u, void *ctx)
{
	struct view *v = ctx;
	if (worth_saying(v))
		log_event(v->stuck_pods->options.log, LEVEL_DEBUG, "rejected", "kind", v->kind,
			"name", u->name, "why", u->why, NULL);
}

static void listed(struct view *v)
{
	log_event(v->stuck_pods->options.log, LEVEL_DEBUG, "listed", "kind", v->kind, NULL);
}

static struct troubles *book(const struct view *v)
{
	return gate_troubles(v->stuck_pods->options.gate);
}

static void on_begin_pods(void *ctx)
{
	troubles_begin_pods(book(ctx));
}

static void on_end_pods(void *ctx)
{
	troubles_end_pods(book(ctx));
	listed(ctx);
}

/* DELETED is also what a pod is that is not Pending any more. */
static void on_pod(enum kube_event type, const cJSON *object, void *ctx)
{
	struct trouble_pod *p = NULL;
	struct err e = {""};
	struct uid uid;
	if (type == KUBE_DELETED) {
		if (decode_uid(object, &uid))
			troubles_lose_pod(book(ctx), &uid);
	} else if (decode_trouble_pod(object, &p, &e) == 0) {
		troubles_see_pod(book(ctx), p, monotonic_ms());
	} else {
		unreadable(ctx, object, e.text);
	}
	free(p);
}

static void on_begin_refusals(void *ctx)
{
	(void)ctx;
}

static void on_end_refusals(void *ctx)
{
	listed(ctx);
}

/* An Event that is deleted has got old; whether what it says is over the Job tells. */
static void on_refusal(enum kube_event type, const cJSON *object, void *ctx)
{
	const struct view *v = ctx;
	struct trouble_refusal *r = NULL;
	struct err e = {""};
	if (type == KUBE_DELETED)
		return;
	if (decode_trouble_refusal(object, &r, &e) == 0)
		gate_see_refusal(v->stuck_pods->options.gate, r);
	else
		unreadable(ctx, object, e.text);
	free(r);
}

static void on_begin_rejected(void *ctx)
{
	const struct view *v = ctx;
	rejections_begin(gate_rejections(v->stuck_pods->options.gate));
}

static void on_end_rejected(void *ctx)
{
	const struct view *v = ctx;
	rejections_end(gate_rejections(v->stuck_pods->options.gate));
	listed(ctx);
}

/* What no kubelet rejected is no news: such a pod has failed before it had an address. */
static void on_rejected(enum kube_event type, const cJSON *object, void *ctx)
{
	const struct view *v = ctx;
	struct gate *g = v->stuck_pods->options.gate;
	struct rejected_pod *p = NULL;
	struct err e = {""};
	struct uid uid;
	if (type == KUBE_DELETED) {
		if (decode_uid(object, &uid))
			rejections_lose(gate_rejections(g), &uid);
	} else if (decode_rejected_pod(object, &p, &e) == 0) {
		p->made_ms = clock_of_machine_ms(p->made_ms);
		gate_see_rejected_pod(g, p);
	}
	free(p);
}

/* ---- its life -------------------------------------------------------------------------------- */

static void open_pods(struct stuck_pods *l)
{
	static const struct kube_watch_handler handler = {
		on_begin_pods, on_pod, on_end_pods, on_trouble, NULL, NULL, on_unreadable};
	struct kube_watch_options o = {.path = "/api/v1/pods",
		.label_selector = CLUSTERQUEUE_LABEL,
		.field_selector = "status.phase=Pending",
		.seed = l->options.seed};
	l->pods.watch = kube_watch_new(l->options.client, &o, &handler, &l->pods);
}

static void open_refusals(struct stuck_pods *l)
{
	static const struct kube_watch_handler handler = {on_begin_refusals, on_refusal,
		on_end_refusals, on_trouble, NULL, NULL, on_unreadable};
	struct kube_watch_options o = {.path = "/api/v1/events",
		.field_selector = "involvedObject.kind=Job,reason=FailedCreate",
		.seed = l->options.seed + 1};
	l->refusals.watch = kube_watch_new(l->options.client, &o, &handler, &l->refusals);
}

static void open_rejected(struct stuck_pods *l)
{
	static const struct kube_watch_handler handler = {on_begin_rejected, on_rejected,
		on_end_rejected, on_trouble, NULL, NULL, on_unreadable};
	struct kube_watch_options o = {.path = "/api/v1/pods",
		.label_selector = CLUSTERQUEUE_LABEL,
		.field_selector = "status.phase=Failed,status.podIP=",
		.seed = l->options.seed + 2};
	l->rejected.watch = kube_watch_new(l->options.client, &o, &handler, &l->rejected);
}

static void view_close(struct view *v)
{
	kube_watch_free(v->watch);
	v->watch = NULL;
	log_event(v->stuck_pods->options.log, LEVEL_DEBUG, "not-followed", "kind", v->kind, "why",
		"all running Jobs have the pods they need", NULL);
}

/* True when it is to be followed; one that is not wanted for a moment is not closed. */
static bool is_wanted(struct view *v, bool wants, int64_t tick_ms)
{
	if (wants)
		v->wanted_ms = tick_ms;
	return wants || (v->watch && tick_ms - v->wanted_ms < LINGER_MS);
}

void stuck_pods_tick(struct stuck_pods *l, int64_t tick_ms)
{
	const struct gate *g = l->options.gate;
	if (gate_leading(g) && !l->rejected.watch)
		open_rejected(l);
	bool pods = is_wanted(&l->pods, gate_wants_pods(g), tick_ms);
	bool refusals = is_wanted(&l->refusals, gate_wants_refusals(g), tick_ms);
	if (refusals && !l->refusals.watch)
		open_refusals(l);
	else if (!refusals && l->refusals.watch)
		view_close(&l->refusals);
	if (pods && !l->pods.watch)
		open_pods(l);
	if (pods || !l->pods.watch)
		return;
	view_close(&l->pods);
	troubles_clear(gate_troubles(l->options.gate)); /* what is not followed is not known */
}

struct stuck_pods *stuck_pods_new(const struct stuck_pods_options *o)
{
	struct stuck_pods *l = mem_alloc(sizeof(*l));
	l->options = *o;
	l->pods = (struct view){.stuck_pods = l, .kind = "pending pods"};
	l->refusals = (struct view){.stuck_pods = l, .kind = "events of refused pods"};
	l->rejected = (struct view){.stuck_pods = l, .kind = "rejected pods"};
	return l;
}

void stuck_pods_free(struct stuck_pods *l)
{
	if (!l)
		return;
	kube_watch_free(l->pods.watch);
	kube_watch_free(l->refusals.watch);
	kube_watch_free(l->rejected.watch);
	free(l);
}
