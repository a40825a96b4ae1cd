#include "controller/watch/stuck_pods.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/monotonic.h"
#include "controller/common/clock.h"
#include "controller/kube/watch.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_trouble.h"
#include "sluice/keys.h"

enum { LINGER_MS = 60000 };

enum { PENDING, REFUSALS, REJECTED, VIEWS };

/* The object of a view; its watch's seed is added. */
struct followed {
	const char *kind;
	struct kube_watch_options watch;
	struct kube_watch_handler handler;
};

struct view {
	struct stuck_pods *stuck_pods;
	const struct followed *of;
	struct kube_watch *watch; /* NULL: not followed */
	int64_t wanted_ms, complained_ms;
};

struct stuck_pods {
	struct stuck_pods_options options;
	struct view view[VIEWS];
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
		log_event(v->stuck_pods->options.log, LEVEL_WARN, "watch-trouble", "kind",
			v->of->kind, "why", sentence, "effect",
			"what keeps the pods of running Jobs is not told", NULL);
}

static void unreadable(struct view *v, const cJSON *object, const char *sentence)
{
	if (worth_saying(v))
		log_event(v->stuck_pods->options.log, LEVEL_DEBUG, "rejected", "kind", v->of->kind,
			"name", decode_name(object), "why", sentence, NULL);
}

static void on_unreadable(const struct kube_unreadable *u, void *ctx)
{
	struct view *v = ctx;
	if (worth_saying(v))
		log_event(v->stuck_pods->options.log, LEVEL_DEBUG, "rejected", "kind", v->of->kind,
			"name", u->name, "why", u->why, NULL);
}

static void listed(struct view *v)
{
	log_event(v->stuck_pods->options.log, LEVEL_DEBUG, "listed", "kind", v->of->kind, NULL);
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

/* Takes a pod. DELETED also comes when a pod is not Pending any more. */
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

/* Takes an Event. One that is deleted has only got old; the Job tells whether the refusal is
 * over. */
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

/* Takes a Failed pod. One that no kubelet rejected is no news: it failed before it had an
 * address. */
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

static const struct followed followed[VIEWS] = {
	[PENDING] = {"pending pods",
		{.path = "/api/v1/pods",
			.label_selector = CLUSTERQUEUE_LABEL,
			.field_selector = "status.phase=Pending"},
		{on_begin_pods, on_pod, on_end_pods, on_trouble, .unreadable = on_unreadable}},
	[REFUSALS] = {"events of refused pods",
		{.path = "/api/v1/events",
			.field_selector = "involvedObject.kind=Job,reason=FailedCreate"},
		{on_begin_refusals, on_refusal, on_end_refusals, on_trouble,
			.unreadable = on_unreadable}},
	[REJECTED] = {"rejected pods",
		{.path = "/api/v1/pods",
			.label_selector = CLUSTERQUEUE_LABEL,
			.field_selector = "status.phase=Failed,status.podIP="},
		{on_begin_rejected, on_rejected, on_end_rejected, on_trouble,
			.unreadable = on_unreadable}},
};

static void view_open(struct view *v)
{
	const struct stuck_pods_options *options = &v->stuck_pods->options;
	struct kube_watch_options o = v->of->watch;
	o.seed = options->seed + (uint64_t)(v->of - followed);
	v->watch = kube_watch_new(options->client, &o, &v->of->handler, v);
}

static void view_close(struct view *v)
{
	kube_watch_free(v->watch);
	v->watch = NULL;
	log_event(v->stuck_pods->options.log, LEVEL_DEBUG, "not-followed", "kind", v->of->kind,
		"why", "all running Jobs have the pods they need", NULL);
}

/* Opens or closes the view, which lingers when it is not wanted. True: it was closed. */
static bool view_follow(struct view *v, bool wants, int64_t tick_ms)
{
	if (wants)
		v->wanted_ms = tick_ms;
	if (wants && !v->watch)
		view_open(v);
	if (!v->watch || tick_ms - v->wanted_ms < LINGER_MS)
		return false;
	view_close(v);
	return true;
}

void stuck_pods_tick(struct stuck_pods *l, int64_t tick_ms)
{
	struct gate *g = l->options.gate;
	if (gate_leading(g) && !l->view[REJECTED].watch)
		view_open(&l->view[REJECTED]);
	view_follow(&l->view[REFUSALS], gate_wants_refusals(g), tick_ms);
	if (view_follow(&l->view[PENDING], gate_wants_pods(g), tick_ms))
		troubles_clear(gate_troubles(g)); /* what is not followed is not known */
}

struct stuck_pods *stuck_pods_new(const struct stuck_pods_options *o)
{
	struct stuck_pods *l = mem_alloc(sizeof(*l));
	l->options = *o;
	for (size_t i = 0; i < VIEWS; i++)
		l->view[i] = (struct view){.stuck_pods = l, .of = &followed[i]};
	return l;
}

void stuck_pods_free(struct stuck_pods *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < VIEWS; i++)
		kube_watch_free(l->view[i].watch);
	free(l);
}
