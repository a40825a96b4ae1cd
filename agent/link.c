#include "agent/link.h"

#include <ev.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/backoff.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/mix.h"
#include "controller/kube/client.h"
#include "node/wire.h"

enum {
	PAUSE_MS = 1000, /* of jitter at first, and after the second failure in a row */
	PAUSES_MAX = 30, /* the longest pause, in first ones; and where we are denied */
	LOOK_TIMEOUT_MS = 10000,
	HELD_TIMEOUT_MS = 65000, /* the leader holds a GET for 50 s */
	POST_TIMEOUT_MS = 10000,
	ASK_AGAIN_MS = 50, /* after orders that are new */
	CONFIGMAP_MAX_BYTES = 256 << 10,
};

enum link_state { LINK_PAUSED, LINK_LOOKING, LINK_TALKING };

struct link_to_leader {
	struct link_options options;
	enum link_state state;
	struct kube_client *api, *leader; /* leader NULL: none is known */
	struct kube_config *config;	  /* the leader's */
	struct json *json;
	ev_timer pause, ask, rest; /* the end of a pause; the next GET for orders; the next POST */
	uint64_t looking, getting, posting; /* requests under way; 0: none */
	int64_t have;			    /* the generation of the newest orders */
	bool wanted;			    /* a sample is due */
	bool connected;			    /* this leader has answered for orders */
	double asked_at;
	uint64_t failures, random;
	char said[LOG_TROUBLE_MAX], dropped[LOG_TROUBLE_MAX];
};

static void look(struct link_to_leader *l);
static void ask(struct link_to_leader *l);

static void start_timer(struct link_to_leader *l, ev_timer *t, int64_t ms)
{
	ev_now_update(l->options.loop);
	ev_timer_stop(l->options.loop, t);
	ev_timer_set(t, (double)ms / 1000.0, 0.);
	ev_timer_start(l->options.loop, t);
}

/* ---- the leader ------------------------------------------------------------------------------ */

static void cancel(struct kube_client *c, uint64_t *request)
{
	if (c)
		kube_client_cancel(c, *request);
	*request = 0;
}

/* Ends what is under way. */
static void cancel_all(struct link_to_leader *l)
{
	cancel(l->api, &l->looking);
	cancel(l->leader, &l->getting);
	cancel(l->leader, &l->posting);
	ev_timer_stop(l->options.loop, &l->ask);
	ev_timer_stop(l->options.loop, &l->rest);
	ev_timer_stop(l->options.loop, &l->pause);
}

/* Forgets the leader. Not from a callback of its client. */
static void drop_leader(struct link_to_leader *l)
{
	kube_client_free(l->leader);
	kube_config_free(l->config);
	l->leader = NULL;
	l->config = NULL;
}

static int64_t pause_ms(struct link_to_leader *l)
{
	uint64_t drawn = draw64(&l->random);
	int64_t first = l->options.pause_ms;
	if (l->failures == 0)
		return (int64_t)(drawn % (uint64_t)first);
	return backoff_drawn_ms(backoff_ms(first, l->failures - 1, PAUSES_MAX * first), drawn);
}

/* Goes to the ConfigMap after a pause, of least_ms at least. why NULL: nothing is wrong yet. */
static void fail(struct link_to_leader *l, const char *why, int64_t least_ms)
{
	int64_t ms = pause_ms(l);
	cancel_all(l);
	l->state = LINK_PAUSED;
	l->connected = false;
	if (why) {
		l->failures++;
		log_trouble(l->options.log, l->said, "no leader", why,
			"the last orders hold, and no sample is told");
	}
	start_timer(l, &l->pause, ms > least_ms ? ms : least_ms);
}

/* Tells for how long a failure is waited for at least: long where we are not known. A certificate
 * that is not believed may be right a moment later, when the leader has begun anew. */
static int64_t least_pause_ms(const struct link_to_leader *l, const struct kube_answer *a)
{
	bool denied = a->http_status == 401 || a->http_status == 403;
	return denied ? PAUSES_MAX * l->options.pause_ms : a->retry_after_ms;
}

static void on_pause(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct link_to_leader *l = timer->data;
	(void)loop;
	(void)revents;
	drop_leader(l);
	look(l);
}

/* ---- where the leader is --------------------------------------------------------------------- */

static void post(struct link_to_leader *l);

/* Begins to talk with the leader that the ConfigMap names. */
static void talk(struct link_to_leader *l)
{
	struct kube_client_options options = {
		.in_flight = 2, .user_agent = "sluice-node/" SLUICE_VERSION};
	l->state = LINK_TALKING;
	l->leader = kube_client_new(l->options.loop, l->config, &options);
	l->wanted = true; /* it knows nothing of this node yet */
	ask(l);
	post(l);
}

static void on_configmap(const struct kube_answer *a, void *ctx)
{
	struct link_to_leader *l = ctx;
	struct err e = {""};
	l->looking = 0;
	if (a->outcome != KUBE_DONE) {
		fail(l, a->sentence, least_pause_ms(l, a));
		return;
	}
	if (leader_read(l->json, a->body, &l->options.leader, &l->config, &e) < 0)
		fail(l, e.text, 0);
	else
		talk(l);
}

static void look(struct link_to_leader *l)
{
	char path[256];
	snprintf(path, sizeof(path), "/api/v1/namespaces/%s/configmaps/" NODES_CONFIGMAP,
		l->options.leader.namespace_name);
	struct kube_request request = {.method = KUBE_GET,
		.path = path,
		.timeout_ms = LOOK_TIMEOUT_MS,
		.answer_ceiling = CONFIGMAP_MAX_BYTES};
	l->state = LINK_LOOKING;
	l->looking = kube_client_send(l->api, &request, on_configmap, l);
}

/* ---- orders ---------------------------------------------------------------------------------- */

/* Notes that the leader answers for orders. */
static void note_leader(struct link_to_leader *l)
{
	if (!l->connected)
		log_event(l->options.log, LEVEL_INFO, "leader", "at", l->config->server, NULL);
	l->connected = true;
	l->failures = 0;
	l->said[0] = '\0';
}

/* Hands on orders that are others than those that are known. Returns whether they are; or an
 * error. */
static int take_orders(struct link_to_leader *l, struct slice text, struct err *e)
{
	struct orders *o;
	int rc = wire_read_orders(l->json, text, &o, e);
	if (rc < 0)
		return rc;
	if (o->generation == l->have) {
		orders_free(o);
		return 0;
	}
	l->have = o->generation;
	l->options.events.orders(o, text, l->options.events.ctx);
	return 1;
}

static void on_orders(const struct kube_answer *a, void *ctx)
{
	struct link_to_leader *l = ctx;
	struct err e = {""};
	int rc = 0;
	l->getting = 0;
	if (a->http_status == 429) {
		start_timer(l, &l->ask, a->retry_after_ms);
		return;
	}
	if (a->outcome != KUBE_DONE) {
		fail(l, a->sentence, least_pause_ms(l, a));
		return;
	}
	if (a->body.len > 0)
		rc = take_orders(l, a->body, &e);
	if (rc < 0) {
		err_wrap(&e, "orders of the leader");
		fail(l, e.text, 0);
		return;
	}
	note_leader(l);
	int64_t same_ms = l->options.pause_ms;
	bool at_once = (ev_now(l->options.loop) - l->asked_at) * 1000.0 < (double)same_ms;
	start_timer(l, &l->ask, rc == 0 && at_once ? same_ms : ASK_AGAIN_MS);
}

static void on_ask(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)loop;
	(void)revents;
	ask(timer->data);
}

static void ask(struct link_to_leader *l)
{
	char path[64];
	snprintf(path, sizeof(path), "/v1/node/orders?have=%" PRId64, l->have);
	struct kube_request request = {.method = KUBE_GET,
		.path = path,
		.timeout_ms = HELD_TIMEOUT_MS,
		.answer_ceiling = ORDERS_BYTES_MAX};
	l->asked_at = ev_now(l->options.loop);
	l->getting = kube_client_send(l->leader, &request, on_orders, l);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Tells whether a sample was refused for what it says: sent again it would be refused again. */
static bool is_unwanted(int status)
{
	return status == 400 || status == 413 || status == 422;
}

static void on_posted(const struct kube_answer *a, void *ctx)
{
	struct link_to_leader *l = ctx;
	bool unwanted = is_unwanted(a->http_status);
	l->posting = 0;
	if (a->http_status == 429) {
		l->wanted = true;
		start_timer(l, &l->rest, a->retry_after_ms);
		return;
	}
	if (a->outcome != KUBE_DONE && !unwanted) {
		fail(l, a->sentence, least_pause_ms(l, a));
		return;
	}
	if (unwanted)
		log_trouble(l->options.log, l->dropped, "sample refused", a->sentence,
			"the controller does not know what it said");
	else
		l->dropped[0] = '\0';
	l->options.events.acknowledged(l->options.events.ctx);
	post(l);
}

static void on_rest(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)loop;
	(void)revents;
	post(timer->data);
}

/* Sends a sample, if one is due and nothing hinders it. */
static void post(struct link_to_leader *l)
{
	struct buf body;
	if (!l->wanted || l->state != LINK_TALKING || l->posting || ev_is_active(&l->rest))
		return;
	l->wanted = false;
	buf_init(&body, SAMPLE_BYTES_MAX);
	l->options.events.sample(&body, l->options.events.ctx);
	struct kube_request request = {.method = KUBE_POST,
		.path = "/v1/node/sample",
		.body = buf_slice(&body),
		.timeout_ms = POST_TIMEOUT_MS,
		.answer_ceiling = 4096};
	if (body.failed)
		log_trouble(l->options.log, l->dropped, "sample too long", "over 192 KiB",
			"the controller does not know what it says");
	else
		l->posting = kube_client_send(l->leader, &request, on_posted, l);
	buf_done(&body);
}

void link_report(struct link_to_leader *l, bool at_once)
{
	l->wanted = true;
	if (at_once)
		cancel(l->leader, &l->posting);
	post(l);
}

/* ---- its life -------------------------------------------------------------------------------- */

struct link_to_leader *link_new(const struct link_options *o)
{
	struct kube_client_options options = {
		.in_flight = 1, .user_agent = "sluice-node/" SLUICE_VERSION};
	struct link_to_leader *l = mem_alloc(sizeof(*l));
	l->options = *o;
	if (l->options.pause_ms <= 0)
		l->options.pause_ms = PAUSE_MS;
	l->have = o->have;
	l->random = o->seed;
	l->json = json_new(WIRE_ORDERS_TREE_BYTES);
	l->api = kube_client_new(o->loop, o->api, &options);
	ev_timer_init(&l->pause, on_pause, 0., 0.);
	ev_timer_init(&l->ask, on_ask, 0., 0.);
	ev_timer_init(&l->rest, on_rest, 0., 0.);
	l->pause.data = l->ask.data = l->rest.data = l;
	fail(l, NULL, 0);
	return l;
}

void link_free(struct link_to_leader *l)
{
	if (!l)
		return;
	cancel_all(l);
	drop_leader(l);
	kube_client_free(l->api);
	json_free(l->json);
	free(l);
}
