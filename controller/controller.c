#include "controller/controller.h"

#include <ev.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/must.h"
#include "controller/http/api.h"
#include "controller/http/decision_log.h"
#include "controller/write/dispatcher.h"
#include "controller/watch/finalizers.h"
#include "controller/watch/following.h"
#include "controller/http/auth.h"
#include "controller/write/events.h"
#include "controller/http/http.h"
#include "controller/watch/stuck_pods.h"
#include "controller/http/metrics_page.h"
#include "controller/common/note_log.h"
#include "controller/overcommit/history.h"
#include "controller/overcommit/overcommit_controller.h"
#include "controller/watch/informer.h"
#include "controller/write/status_writer.h"
#include "controller/common/clock.h"
#include "controller/common/stamp.h"
#include "controller/http/counters.h"
#include "controller/http/cost_api.h"

enum {
	DRAIN_DOUBT_MS = 10000, /* longer than the Job controller's view of a Job may be old */
	STOP_GRACE_MS = 5000,
	RESIGN_GRACE_MS =
		300, /* for the last word to the ledger; a standby waits out the lease else */
	REPORT_POSTPONED_MAX = 10,
	WAKE_MAX_MS = 60000, /* the clock on the wall may be set meanwhile: look again at times */
};

#define REPORT_POSTPONE_SECONDS 0.1
#define CLOCK_LOOK_SECONDS 0.25

enum stage {
	STAGE_RUNNING,
	STAGE_DRAINING,	 /* told to stop; writes are under way */
	STAGE_RESIGNING, /* the lease is being given back */
};

struct controller {
	const struct options *options;
	struct log *log;
	struct ev_loop *loop;
	struct kube_config *config;
	struct kube_client *client;
	struct kube_shared_watch *nodes, *pods; /* the queue's and the lender's */
	struct queue *queue;
	struct gate *gate;
	struct pg *pg;
	struct dispatcher *dispatcher;
	struct job_scope *job_scope;
	struct zones *zones;
	struct time_specs *time_specs;
	struct status_writer *status_writer;
	struct finalizers *finalizers;
	struct informer *informer;
	struct decision_log *decision_log;
	struct counters *counters;
	struct events *events;
	struct auth *auth;
	struct http *http, *probes;
	struct cost_api *cost_api;
	struct overcommit_controller *overcommit_controller;
	struct history *history;
	struct stuck_pods *stuck_pods;

	ev_prepare prepare;
	ev_timer wake, second, grace, look;
	ev_signal term, interrupt;

	enum stage stage;
	bool dirty;	    /* a pass is due */
	unsigned postponed; /* how often in a row the report has made way */
	int exit_code;	    /* of an end that it was told, or came to itself */
	struct following following;
	char ledger_trouble[512]; /* "" while it is up */
	struct metrics_page metrics;
	struct buf missing; /* kinds that are not listed yet, for /readyz */
	struct buf denied;  /* ... and those that it does without */
};

static void mark_dirty(void *ctx)
{
	struct controller *c = ctx;
	c->dirty = true;
}

/* Of this turn of the loop, by the clock on the wall. */
static int64_t loop_ms(const struct controller *c)
{
	return clock_of_machine_ms((int64_t)(ev_now(c->loop) * 1000.0));
}

/* What is used is measured by the machines' clocks: what is lent follows these, too. */
static int64_t machine_ms(const struct controller *c)
{
	return (int64_t)(ev_now(c->loop) * 1000.0);
}

static int64_t tick_ms(void)
{
	return clock_monotonic_us() / 1000;
}

static void leave(struct controller *c, int exit_code)
{
	c->exit_code = exit_code;
	ev_break(c->loop, EVBREAK_ALL);
}

/* ---- notes: what the gate did, for people ---------------------------------------------------- */

static void drain_notes(struct controller *c)
{
	const struct note *n;
	while ((n = gate_take_note(c->gate))) {
		note_log(c->log, n);
		decision_log_add(c->decision_log, n);
		counters_note(c->counters, n);
		events_note(c->events, n);
	}
}

/* ---- the pass -------------------------------------------------------------------------------- */

/* How long until the gate wants a pass. */
static int64_t due_in_ms(const struct controller *c)
{
	struct gate_wake due = gate_wake(c->gate);
	int64_t now_ms = tick_ms(), wait_ms = clock_machine_wait_ms(due.now_ms);
	int64_t pause_ms = due.tick_ms > now_ms ? due.tick_ms - now_ms : 0;
	return pause_ms < wait_ms ? pause_ms : wait_ms;
}

static void arm_wake(struct controller *c)
{
	int64_t wait = c->dirty ? 0 : due_in_ms(c);
	if (wait > WAKE_MAX_MS)
		wait = WAKE_MAX_MS;
	if (wait == 0 && !c->dirty)
		wait = 1;
	ev_timer_stop(c->loop, &c->wake);
	ev_timer_set(&c->wake, (double)wait / 1000.0, 0.);
	ev_timer_start(c->loop, &c->wake);
}

static void pass(struct controller *c)
{
	ev_now_update(c->loop);
	c->dirty = false;
	int64_t began_us = clock_monotonic_us();
	gate_step(c->gate, loop_ms(c), tick_ms());
	counters_pass(c->counters, clock_monotonic_us() - began_us);
	dispatcher_carry(c->dispatcher);
	drain_notes(c);
	if (gate_deposed(c->gate)) {
		log_event(c->log, LEVEL_WARN, "deposed", "why",
			"another controller took the lease over, or ours ran out", "holder",
			dispatcher_lease_holder(c->dispatcher), "#epoch",
			LOG_NUMBER(gate_epoch(c->gate)), NULL);
		leave(c, EXIT_DEPOSED);
	}
}

/* Told to stop: no decision any more, only waiting for what is under way. */
static void stop_pass(struct controller *c, bool patience_is_over)
{
	drain_notes(c);
	if (c->stage != STAGE_DRAINING)
		return;
	size_t left = dispatcher_writes_under_way(c->dispatcher);
	if (left > 0 && !patience_is_over)
		return;
	if (left > 0)
		log_event(c->log, LEVEL_WARN, "stopping", "why",
			"writes have no answer yet; whoever leads next looks them up", "#writes",
			LOG_NUMBER((int64_t)left), NULL);
	if (!gate_leading(c->gate) || !pg_up(c->pg)) {
		leave(c, c->exit_code);
		return;
	}
	c->stage = STAGE_RESIGNING;
	pg_resign(c->pg, gate_epoch(c->gate));
	ev_timer_stop(c->loop, &c->grace);
	ev_timer_set(&c->grace, RESIGN_GRACE_MS / 1000.0, 0.);
	ev_timer_start(c->loop, &c->grace);
}

/* Runs after all callbacks of a turn, before the loop sleeps. */
static void on_prepare(struct ev_loop *loop, ev_prepare *w, int revents)
{
	struct controller *c = w->data;
	(void)loop;
	(void)revents;
	if (c->stage != STAGE_RUNNING) {
		stop_pass(c, false);
		return;
	}
	if (!c->dirty && due_in_ms(c) > 0)
		return;
	pass(c);
	arm_wake(c);
}

/* Nothing to do but to turn: on_prepare sees what is due. */
static void on_wake(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct controller *c = w->data;
	(void)loop;
	(void)revents;
	c->dirty = true;
}

/* It decides nothing more; what is under way may end. */
static void begin_to_stop(struct controller *c, int exit_code)
{
	c->exit_code = exit_code;
	c->stage = STAGE_DRAINING;
	ev_timer_stop(c->loop, &c->wake);
	ev_timer_set(&c->grace, STOP_GRACE_MS / 1000.0, 0.);
	ev_timer_start(c->loop, &c->grace);
}

/* What is decided without news of Jobs is decided of Jobs as they were. */
static void look_for_news(struct controller *c)
{
	switch (following_look(&c->following, c->informer, c->gate, c->log)) {
	case FOLLOWING_AS_BEFORE:
		return;
	case FOLLOWING_CHANGED:
		c->dirty = true;
		return;
	case FOLLOWING_GIVE_UP:
		begin_to_stop(c, EXIT_BLIND);
		return;
	}
}

/* A status and an Event can wait, a Job cannot: while one is being started they would take the
 * connection that stands ready, and the Job would wait for another's TLS handshake. For a second at
 * most. */
static void on_second(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct controller *c = w->data;
	(void)revents;
	bool busy = dispatcher_writes_under_way(c->dispatcher) > 0;
	if (busy && c->postponed++ < REPORT_POSTPONED_MAX) {
		w->repeat = REPORT_POSTPONE_SECONDS;
		ev_timer_again(loop, w);
		return;
	}
	c->postponed = 0;
	w->repeat = 1.;
	ev_timer_again(loop, w);
	if (c->stage == STAGE_RUNNING) {
		informer_tick(c->informer);
		look_for_news(c);
		stuck_pods_tick(c->stuck_pods, tick_ms());
	}
	if (c->stage == STAGE_RUNNING && gate_leading(c->gate)) {
		finalizers_tick(c->finalizers, loop_ms(c));
		status_writer_tick(c->status_writer, loop_ms(c));
		events_tick(c->events, loop_ms(c));
	}
	if (c->stage == STAGE_RUNNING)
		overcommit_controller_tick(
			c->overcommit_controller, machine_ms(c), gate_leading(c->gate));
}

/* Test builds: somebody sets the clock. */
static void on_look(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct controller *c = w->data;
	struct err e;
	(void)loop;
	(void)revents;
	if (clock_look(&e)) {
		log_event(c->log, LEVEL_INFO, "clock-set", NULL);
		c->dirty = true;
	} else if (e.text[0]) {
		log_event(c->log, LEVEL_WARN, "clock-not-set", "why", e.text, NULL);
	}
}

static void on_grace(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct controller *c = w->data;
	(void)loop;
	(void)revents;
	if (c->stage == STAGE_DRAINING)
		stop_pass(c, true);
	else
		leave(c, c->exit_code);
}

static void on_signal(struct ev_loop *loop, ev_signal *w, int revents)
{
	struct controller *c = w->data;
	(void)loop;
	(void)revents;
	log_event(c->log, LEVEL_INFO, "stopping", "signal", strsignal(w->signum), NULL);
	if (c->stage != STAGE_RUNNING) {
		leave(c, EXIT_ASKED);
		return;
	}
	begin_to_stop(c, EXIT_ASKED);
}

static void on_ledger_state(bool up, const char *sentence, void *ctx)
{
	struct controller *c = ctx;
	bool news = strcmp(c->ledger_trouble, up || !sentence ? "" : sentence) != 0 || up;
	snprintf(c->ledger_trouble, sizeof(c->ledger_trouble), "%s",
		up || !sentence ? "" : sentence);
	c->dirty = true;
	if (up)
		log_event(c->log, LEVEL_INFO, "ledger-up", NULL);
	else if (news)
		log_event(c->log, LEVEL_WARN, "ledger-down", "why", sentence, "effect",
			"running Jobs go on, nothing new starts", NULL);
}

/* pg has one ctx for all of its events, and it is the controller's: pass on what is the courier's.
 */
static void on_lease(uint64_t id, enum ledger_outcome o, const struct ledger_lease *l, void *ctx)
{
	dispatcher_on_lease(id, o, l, ((struct controller *)ctx)->dispatcher);
}

static void on_load(
	uint64_t id, enum ledger_outcome o, const struct ledger_hold *holds, size_t n, void *ctx)
{
	dispatcher_on_load(id, o, holds, n, ((struct controller *)ctx)->dispatcher);
}

static void on_recall(uint64_t id, enum ledger_outcome o, const struct ledger_run *runs, size_t n,
	const struct ledger_mark *next, void *ctx)
{
	dispatcher_on_recall(id, o, runs, n, next, ((struct controller *)ctx)->dispatcher);
}

static void on_spent(
	uint64_t id, enum ledger_outcome o, const struct ledger_spent *spent, size_t n, void *ctx)
{
	dispatcher_on_spent(id, o, spent, n, ((struct controller *)ctx)->dispatcher);
}

static void on_durations(
	uint64_t id, enum ledger_outcome o, const struct ledger_duration *runs, size_t n, void *ctx)
{
	dispatcher_on_durations(id, o, runs, n, ((struct controller *)ctx)->dispatcher);
}

static void on_batch(uint64_t id, enum ledger_outcome o, const struct ledger_result *results,
	size_t n, void *ctx)
{
	dispatcher_on_batch(id, o, results, n, ((struct controller *)ctx)->dispatcher);
}

/* ---- HTTP ------------------------------------------------------------------------------------ */

static struct api_reply on_request(const struct api_request *r, struct buf *out, void *ctx)
{
	struct controller *c = ctx;
	buf_reset(&c->missing);
	informer_missing(c->informer, &c->missing);
	buf_reset(&c->denied);
	informer_denied(c->informer, &c->denied);
	struct api_sources s = {
		.metrics = {.queue = c->queue,
			.gate = c->gate,
			.counters = c->counters,
			.events = events_count(c->events),
			.api = kube_client_stats(c->client),
			.overcommit_controller = c->overcommit_controller,
			.ledger_up = pg_up(c->pg),
			.fair_sharing = c->options->settings.config.fair_sharing,
			.decides = gate_leading(c->gate),
			.synced = informer_synced(c->informer)},
		.decision_log = c->decision_log,
		.identity = c->options->identity,
		.cell = c->options->cell,
		.holder = dispatcher_lease_holder(c->dispatcher),
		.waiting_for = buf_text(&c->missing),
		.denied = buf_text(&c->denied),
		.ledger_trouble = c->ledger_trouble,
		.stopping = c->stage != STAGE_RUNNING,
		.now_ms = loop_ms(c),
	};
	s.metrics.nkinds = informer_health(c->informer, s.metrics.kinds);
	if (strcmp(r->path, "/metrics") == 0) {
		metrics_page_put(&c->metrics, &s.metrics, out);
		return (struct api_reply){200, METRICS_CONTENT_TYPE};
	}
	return api_answer(&s, r, out);
}

static void complain(struct http_question *q, unsigned status, const char *sentence)
{
	struct buf body;
	buf_init(&body, 4096);
	buf_puts(&body, "{\"error\":");
	buf_json_string(&body, sentence);
	buf_puts(&body, "}\n");
	http_answer(q, (struct api_reply){status, "application/json"}, &body);
	buf_done(&body);
}

static void on_told(const struct buf *body, const char *sentence, void *ctx)
{
	if (body)
		http_answer(ctx, (struct api_reply){200, "application/json"}, body);
	else
		complain(ctx, 503, sentence);
}

static bool on_defer(struct http_question *q, const char *path, void *ctx)
{
	struct controller *c = ctx;
	struct err e = {""};
	if (strcmp(path, "/api/v1/cost") != 0)
		return false;
	struct cost_words words = {
		http_param(q, "by"), http_param(q, "since"), http_param(q, "until")};
	if (cost_api_ask(c->cost_api, &words, loop_ms(c), on_told, q, &e) != 0)
		complain(q, 400, e.text);
	return true;
}

static enum auth_verdict on_ask(const struct auth_caller *caller, const struct right *right,
	auth_verdict_fn *fn, void *fn_ctx, void *ctx)
{
	struct controller *c = ctx;
	return auth_ask(c->auth, caller, right, tick_ms(), fn, fn_ctx);
}

static struct api_rights probe_rights(const struct api_request *r)
{
	(void)r;
	return (struct api_rights){.open = true};
}

static struct api_reply on_probe(const struct api_request *r, struct buf *out, void *ctx)
{
	if (api_is_probe(r->path))
		return on_request(r, out, ctx);
	buf_puts(out, "here are /healthz and /readyz; the rest is at the port of --listen\n");
	return (struct api_reply){404, "text/plain; charset=utf-8"};
}

static int open_port(struct controller *c, const struct listen_at *at, struct http_options *o,
	struct http **ret, struct err *e)
{
	if (!at->on)
		return 0;
	o->host = at->host;
	o->port = at->port;
	o->ctx = c;
	int rc = http_new(c->loop, o, ret, e);
	if (rc == 0)
		log_event(c->log, LEVEL_INFO, "listening", "address", at->host, "#port",
			LOG_NUMBER(http_port(*ret)), "for", o->one_request ? "probes" : "the API",
			"scheme", o->tls ? "https" : "http", NULL);
	return rc;
}

/* *ret stays NULL: plain HTTP. */
static int load_tls(struct controller *c, struct tls **ret, struct err *e)
{
	const struct options *o = c->options;
	if (!o->listen.on || (!o->tls_self_signed && !o->tls_cert_file))
		return 0;
	int rc = o->tls_self_signed ? tls_make(ret, e)
				    : tls_load(o->tls_cert_file, o->tls_key_file, ret, e);
	if (rc)
		return rc;
	char expires[STAMP_TEXT_SIZE];
	bool is_over = (*ret)->expires_ms <= clock_now_ms();
	log_event(c->log, is_over ? LEVEL_WARN : LEVEL_INFO,
		is_over ? "certificate-expired" : "certificate", "file", o->tls_cert_file, "sha256",
		(*ret)->fingerprint, "expires", stamp_format_seconds((*ret)->expires_ms, expires),
		NULL);
	return 0;
}

static int open_http(struct controller *c, struct err *e)
{
	struct tls *tls = NULL;
	struct http_options probes = {
		.flag = "probe-listen",
		.one_request = true,
		.limits = HTTP_PROBE_LIMITS,
		.rights = probe_rights,
		.answer = on_probe,
	};
	struct http_options api = {
		.flag = "listen",
		.trust_nobody = c->options->loopback_needs_token,
		.limits = HTTP_LIMITS,
		.rights = api_rights,
		.answer = on_request,
		.defer = on_defer,
		.ask = on_ask,
	};
	int rc = open_port(c, &c->options->probe_listen, &probes, &c->probes, e);
	if (rc == 0)
		rc = load_tls(c, &tls, e);
	api.tls = tls;
	if (rc == 0)
		rc = open_port(c, &c->options->listen, &api, &c->http, e);
	tls_free(tls);
	return rc;
}

/* ---- its life -------------------------------------------------------------------------------- */

static uint64_t draw_seed(void)
{
	uint64_t seed;
	must(getrandom(&seed, sizeof(seed), 0) == sizeof(seed));
	return seed;
}

static int open_ledger(struct controller *c, struct err *e)
{
	struct pg_options o = {
		.conninfo = c->options->database,
		.cell = c->options->cell,
		.identity = c->options->identity,
		.seed = draw_seed(),
	};
	struct pg_events events = {.lease = on_lease,
		.load = on_load,
		.recall = on_recall,
		.spent = on_spent,
		.durations = on_durations,
		.batch = on_batch,
		.state = on_ledger_state,
		.ctx = c};
	int rc = pg_new(c->loop, &o, &events, &c->pg, e);
	if (rc)
		err_wrap(e, "--database");
	else
		dispatcher_set_pg(c->dispatcher, c->pg);
	return rc;
}

static int open_api_server(struct controller *c, struct err *e)
{
	struct kube_config_options config = {
		.kubeconfig = c->options->kubeconfig,
		.context = c->options->context,
	};
	int rc = kube_config_load(&config, &c->config, e);
	if (rc)
		return rc;
	log_event(c->log, LEVEL_INFO, "api-server", "from", c->config->origin, "server",
		c->config->server, NULL);
	struct kube_client_options client = {
		.in_flight = c->options->max_writes,
		.user_agent = "sluice-controller/" SLUICE_VERSION,
	};
	c->client = kube_client_new(c->loop, c->config, &client);
	return 0;
}

/* Opened by who takes the first seat. */
static void share_watches(struct controller *c)
{
	struct kube_watch_options nodes = {.path = "/api/v1/nodes", .seed = draw_seed()};
	struct kube_watch_options pods = {.path = "/api/v1/pods",
		.field_selector = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed",
		.seed = draw_seed()};
	c->nodes = kube_shared_watch_new(c->client, &nodes);
	c->pods = kube_shared_watch_new(c->client, &pods);
}

static bool manages(void *ctx, const struct job *j)
{
	return job_scope_has(((struct controller *)ctx)->job_scope, j);
}

static void make_core(struct controller *c)
{
	const struct options *o = c->options;
	struct gate_options gate = {
		.identity = c->options->identity,
		.lease_ms = c->options->lease_ms,
		.drain_doubt_ms = DRAIN_DOUBT_MS,
		.seed = draw_seed(),
		.note_after_ms = o->note_after_ms,
		.stuck_after_ms = o->stuck_after_ms,
		.mass_stop_after_ms = o->mass_stop_after_ms,
		.bill_labels = &o->bill_labels,
		.manages = manages,
		.ctx = c,
	};
	c->job_scope = job_scope_new(
		o->has_namespaces ? &o->namespaces.term : NULL, o->manage_without_queue_name);
	c->queue = queue_new();
	queue_configure(c->queue, &c->options->settings.config);
	c->gate = gate_new(&gate, c->queue);
	c->decision_log = decision_log_new();
	c->counters = counters_new();
	c->zones = zones_new();
	struct time_specs_options time_specs = {
		.queue = c->queue, .zones = c->zones, .log = c->log};
	c->time_specs = time_specs_new(&time_specs);
	struct dispatcher_options dispatcher = {
		.client = c->client,
		.gate = c->gate,
		.queue = c->queue,
		.time_specs = c->time_specs,
		.log = c->log,
		.changed = mark_dirty,
		.ctx = c,
	};
	c->dispatcher = dispatcher_new(&dispatcher);
	struct events_options events = {.client = c->client,
		.log = c->log,
		.level = o->events,
		.identity = o->identity,
		.seed = draw_seed()};
	c->events = events_new(&events);
	struct status_writer_options status_writer = {.zones = c->zones,
		.events = c->events,
		.client = c->client,
		.queue = c->queue,
		.log = c->log,
		.fair_sharing = c->options->settings.config.fair_sharing};
	c->status_writer = status_writer_new(&status_writer);
	struct finalizers_options finalizers = {
		.client = c->client, .queue = c->queue, .log = c->log};
	c->finalizers = finalizers_new(&finalizers);
	struct auth_options auth = {
		.client = c->client, .log = c->log, .audience = o->token_audience};
	c->auth = auth_new(&auth);
	struct cost_api_options cost_api = {.conninfo = o->database,
		.cell = o->cell,
		.identity = o->identity,
		.gate = c->gate,
		.seed = draw_seed()};
	c->cost_api = cost_api_new(c->loop, &cost_api);
	struct history_options history = {.conninfo = o->database,
		.cell = o->cell,
		.identity = o->identity,
		.log = c->log,
		.seed = draw_seed()};
	c->history = history_new(c->loop, &history);
	struct overcommit_controller_options overcommit_controller = {.history = c->history,
		.client = c->client,
		.nodes = c->nodes,
		.pods = c->pods,
		.queue = c->queue,
		.gate = c->gate,
		.events = c->events,
		.log = c->log,
		.configmap_namespace = o->overcommit_namespace,
		.configmap = o->overcommit_config,
		.seed = draw_seed(),
		.changed = mark_dirty,
		.ctx = c};
	c->overcommit_controller = overcommit_controller_new(&overcommit_controller);
	struct stuck_pods_options stuck_pods = {
		.client = c->client, .gate = c->gate, .log = c->log, .seed = draw_seed()};
	c->stuck_pods = stuck_pods_new(&stuck_pods);
}

static void start_informer(struct controller *c)
{
	struct informer_options o = {
		.client = c->client,
		.nodes = c->nodes,
		.pods = c->pods,
		.queue = c->queue,
		.gate = c->gate,
		.status_writer = c->status_writer,
		.finalizers = c->finalizers,
		.job_scope = c->job_scope,
		.time_specs = c->time_specs,
		.zones = c->zones,
		.overcommit_controller = c->overcommit_controller,
		.config_namespace = c->options->config_namespace,
		.without_queue_name = c->options->manage_without_queue_name,
		.log = c->log,
		.seed = draw_seed(),
		.changed = mark_dirty,
		.ctx = c,
	};
	c->informer = informer_new(&o);
}

static void start_watchers(struct controller *c)
{
	ev_prepare_init(&c->prepare, on_prepare);
	ev_timer_init(&c->wake, on_wake, 0., 0.);
	ev_timer_init(&c->second, on_second, 1., 1.);
	ev_timer_init(&c->grace, on_grace, 0., 0.);
	ev_timer_init(&c->look, on_look, CLOCK_LOOK_SECONDS, CLOCK_LOOK_SECONDS);
	ev_signal_init(&c->term, on_signal, SIGTERM);
	ev_signal_init(&c->interrupt, on_signal, SIGINT);
	c->prepare.data = c->wake.data = c->second.data = c->grace.data = c->look.data = c;
	c->term.data = c->interrupt.data = c;
	/* Last of all that run before the loop sleeps, so that it sees all of this turn's facts. */
	ev_set_priority(&c->prepare, EV_MINPRI);
	ev_prepare_start(c->loop, &c->prepare);
	ev_timer_start(c->loop, &c->second);
	if (clock_has_file())
		ev_timer_start(c->loop, &c->look);
	ev_signal_start(c->loop, &c->term);
	ev_signal_start(c->loop, &c->interrupt);
}

static void stop_watchers(struct controller *c)
{
	ev_timer_stop(c->loop, &c->look);
	ev_prepare_stop(c->loop, &c->prepare);
	ev_timer_stop(c->loop, &c->wake);
	ev_timer_stop(c->loop, &c->second);
	ev_timer_stop(c->loop, &c->grace);
	ev_signal_stop(c->loop, &c->term);
	ev_signal_stop(c->loop, &c->interrupt);
}

static int controller_open(struct controller *c, struct err *e)
{
	int rc = open_api_server(c, e);
	if (rc)
		return rc;
	share_watches(c);
	make_core(c);
	rc = open_ledger(c, e);
	if (rc)
		return rc;
	start_informer(c);
	return open_http(c, e);
}

/* Who calls whom decides the order: nobody is freed before those who might still call it. */
static void controller_close(struct controller *c)
{
	informer_free(c->informer);
	stuck_pods_free(c->stuck_pods);
	history_free(c->history);
	overcommit_controller_free(c->overcommit_controller);
	kube_shared_watch_free(c->nodes);
	kube_shared_watch_free(c->pods);
	auth_free(c->auth);
	cost_api_free(c->cost_api);
	http_free(c->http);
	http_free(c->probes);
	if (c->pg)
		pg_free(c->pg);
	dispatcher_free(c->dispatcher);
	if (c->client)
		kube_client_free(c->client);
	status_writer_free(c->status_writer);
	finalizers_free(c->finalizers);
	events_free(c->events);
	if (c->gate)
		gate_free(c->gate);
	job_scope_free(c->job_scope);
	time_specs_free(c->time_specs);
	zones_free(c->zones);
	if (c->queue)
		queue_free(c->queue);
	decision_log_free(c->decision_log);
	counters_free(c->counters);
	kube_config_free(c->config);
	metrics_page_done(&c->metrics);
	buf_done(&c->missing);
	buf_done(&c->denied);
}

int controller_run(const struct options *o, struct log *log)
{
	struct controller c = {.options = o, .log = log, .dirty = true};
	struct err e = {""};
	metrics_page_init(&c.metrics);
	buf_init(&c.missing, 1024);
	buf_init(&c.denied, 1024);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	c.loop = ev_loop_new(EVFLAG_AUTO);
	must(c.loop);
	log_event(log, LEVEL_INFO, "starting", "version", SLUICE_VERSION, "cell", o->cell,
		"identity", o->identity, NULL);
	if (controller_open(&c, &e) == 0) {
		start_watchers(&c);
		ev_run(c.loop, 0);
		stop_watchers(&c);
		log_event(log, LEVEL_INFO, "stopped", "#exit", LOG_NUMBER(c.exit_code), NULL);
	} else {
		log_event(log, LEVEL_ERROR, "cannot-start", "why", e.text, NULL);
		c.exit_code = EXIT_NO_START;
	}
	controller_close(&c);
	ev_loop_destroy(c.loop);
	return c.exit_code;
}
