#include "controller/parts.h"

#include <ev.h>

#include "controller/common/clock.h"
#include "controller/common/seed.h"
#include "controller/forecast/forecasts.h"
#include "controller/forecast/reviews.h"
#include "controller/past/past_questions.h"
#include "controller/answers/counters.h"
#include "controller/answers/decision_log.h"
#include "controller/ledger/pg.h"
#include "controller/ledger/retention.h"
#include "controller/nodes/node_agents.h"
#include "controller/overcommit/history.h"
#include "controller/overcommit/overcommit_controller.h"
#include "controller/watch/finalizers.h"
#include "controller/watch/informer.h"
#include "controller/watch/predecessors.h"
#include "controller/watch/stuck_pods.h"
#include "controller/write/dispatcher.h"
#include "controller/write/events.h"
#include "controller/write/status_writer.h"
#include "record/recorder.h"

enum {
	DRAIN_DOUBT_MS = 10000, /* longer than the Job controller's view of a Job may be old */
	LEDGER_IDLE_MS =
		60000, /* after it a connection to the ledger that nobody needs is closed */
};

int64_t parts_now_ms(const struct parts *p)
{
	return clock_of_loop_ms(ev_now(p->loop));
}

struct answer_sources parts_sources(const struct parts *p, const struct loop_state *state)
{
	return (struct answer_sources){.loop = p->loop,
		.log = p->log,
		.client = p->client,
		.queue = p->queue,
		.gate = p->gate,
		.pg = p->pg,
		.forecasts = p->forecasts,
		.reviews = p->reviews,
		.past_questions = p->past_questions,
		.time_specs = p->time_specs,
		.job_context = &p->job_context,
		.dispatcher = p->dispatcher,
		.counters = p->counters,
		.decision_log = p->decision_log,
		.overcommit_controller = p->overcommit_controller,
		.informer = p->informer,
		.identity = p->options->identity,
		.fair_sharing = p->options->settings.config.fair_sharing,
		.state = state};
}

static int open_api_server(struct parts *p, struct err *e)
{
	struct kube_config_options config = {
		.kubeconfig = p->options->kubeconfig,
		.context = p->options->context,
	};
	int rc = kube_config_load(&config, &p->config, e);
	if (rc)
		return rc;
	log_event(p->log, LEVEL_INFO, "api-server", "from", p->config->origin, "server",
		p->config->server, NULL);
	struct kube_client_options client = {
		.in_flight = (unsigned)p->options->max_writes,
		.user_agent = "sluice-controller/" SLUICE_VERSION,
	};
	p->client = kube_client_new(p->loop, p->config, &client);
	return 0;
}

/* Makes the shared watches, which their first subscribers open. */
static void make_shared_watches(struct parts *p)
{
	struct kube_watch_options nodes = {.path = "/api/v1/nodes", .seed = seed_draw()};
	struct kube_watch_options pods = {.path = "/api/v1/pods",
		.field_selector = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed",
		.seed = seed_draw()};
	p->nodes = kube_shared_watch_new(p->client, &nodes);
	p->pods = kube_shared_watch_new(p->client, &pods);
}

static bool manages(void *ctx, const struct job *j)
{
	return job_scope_has(((struct parts *)ctx)->job_scope, j);
}

static void came(void *ctx, const struct job *j)
{
	struct parts *p = ctx;
	forecasts_tell_arrival(p->forecasts, j, parts_now_ms(p));
}

static void ended_well(void *ctx, const struct job_outline *o, int64_t ran_ms)
{
	struct parts *p = ctx;
	struct duration_run run = duration_run_of(o);
	forecasts_tell_run(p->forecasts, &run, ran_ms);
}

static struct likely_start likely_start(
	void *ctx, const struct uid *uid, const struct explanation *x)
{
	const struct parts *p = ctx;
	struct forecast f;
	if (!forecasts_find(p->forecasts, uid, x, &f) || f.start.p50_ms == PLAY_NEVER)
		return (struct likely_start){0};
	return (struct likely_start){f.start.p50_ms, f.as_of_ms};
}

static void make_forecasts(struct parts *p)
{
	if (!p->options->forecasts)
		return;
	struct forecasts_options o = {
		.loop = p->loop, .queue = p->queue, .log = p->log, .seed = seed_draw()};
	p->forecasts = forecasts_new(&o);
	struct reviews_options reviews = {.loop = p->loop,
		.queue = p->queue,
		.guesses = forecasts_guesses(p->forecasts),
		.log = p->log};
	p->reviews = reviews_new(&reviews);
}

static void recording_ended(const char *sentence, void *ctx)
{
	struct parts *p = ctx;
	log_event(p->log, LEVEL_WARN, "recording-ended", "directory", p->options->record, "why",
		sentence, "effect",
		"what is decided from now on cannot be replayed; the controller goes on", NULL);
}

/* Opens the record before the queue is told anything: without its beginning it cannot be played. */
static int open_recorder(struct parts *p, struct err *e)
{
	const struct options *o = p->options;
	struct recorder_options recorder = {.dir = o->record,
		.identity = o->identity,
		.now_ms = parts_now_ms(p),
		.most_bytes = (uint64_t)o->record_most_bytes,
		.ended = recording_ended,
		.ctx = p};
	p->queue = queue_new();
	if (!o->record)
		return 0;
	int rc = recorder_open(&recorder, &p->recorder, e);
	if (rc) {
		err_wrap(e, "--record");
		return rc;
	}
	recorder_listen(p->recorder, p->queue);
	if (recorder_state(p->recorder).recording)
		log_event(p->log, LEVEL_INFO, "recording", "directory", o->record, NULL);
	return 0;
}

/* Opens a connection to the ledger. events: for the one that stays connected; users of the others
 * learn its state from answers. */
static int open_pg(struct parts *p, const char *name, const struct parts_events *events,
	struct pg **ret, struct err *e)
{
	struct pg_options o = {
		.conninfo = p->options->database,
		.cell = p->options->cell,
		.identity = name,
		.seed = seed_draw(),
		.idle_ms = events ? 0 : LEDGER_IDLE_MS,
		.state = events ? events->ledger_state : NULL,
		.ctx = events ? events->ctx : NULL,
	};
	int rc = pg_new(p->loop, &o, ret, e);
	if (rc)
		err_wrap(e, "--database");
	return rc;
}

/* Opens the connections to the ledger: pg.h says which is for what. */
static int open_ledger(struct parts *p, const struct parts_events *events, struct err *e)
{
	int rc = open_pg(p, p->options->identity, events, &p->pg, e);
	if (rc == 0)
		rc = open_pg(p, "sluice-controller background", NULL, &p->background, e);
	if (rc == 0)
		rc = open_pg(p, "sluice-controller reports", NULL, &p->reports, e);
	return rc;
}

static void make_queue_and_gate(struct parts *p)
{
	const struct options *o = p->options;
	struct gate_options gate = {
		.identity = o->identity,
		.lease_ms = o->lease_ms,
		.drain_doubt_ms = DRAIN_DOUBT_MS,
		.seed = seed_draw(),
		.note_after_ms = o->note_after_ms,
		.stuck_after_ms = o->stuck_after_ms,
		.settle_ms = o->settle_ms,
		.mass_stop_after_ms = o->mass_stop_after_ms,
		.bill_labels = &o->bill_labels,
		.manages = manages,
		.came = came,
		.ended_well = ended_well,
		.likely_start = likely_start,
		.ctx = p,
	};
	p->job_scope = job_scope_new(
		o->has_namespaces ? &o->namespaces.term : NULL, o->manage_without_queue_name);
	queue_configure(p->queue, &o->settings.config);
	queue_await_statuses(p->queue, true);
	queue_key_names(p->queue, seed_draw());
	p->gate = gate_new(&gate, p->queue);
	p->zones = zones_new();
	p->job_context = (struct job_context){
		zones_find, p->zones, clock_bring_job, o->settings.uncounted_claims};
	struct time_specs_options time_specs = {
		.queue = p->queue, .zones = p->zones, .log = p->log};
	p->time_specs = time_specs_new(&time_specs);
}

static void make_writers(struct parts *p, const struct parts_events *events)
{
	const struct options *o = p->options;
	p->decision_log = decision_log_new();
	p->counters = counters_new();
	struct dispatcher_options dispatcher = {
		.client = p->client,
		.pg = p->pg,
		.gate = p->gate,
		.queue = p->queue,
		.forecasts = p->forecasts,
		.job_context = p->job_context,
		.log = p->log,
		.changed = events->changed,
		.ctx = events->ctx,
	};
	p->dispatcher = dispatcher_new(&dispatcher);
	struct events_options k8s_events = {.client = p->client,
		.log = p->log,
		.level = o->events,
		.identity = o->identity,
		.seed = seed_draw()};
	p->events = events_new(&k8s_events);
	struct status_writer_options status_writer = {.zones = p->zones,
		.events = p->events,
		.client = p->client,
		.queue = p->queue,
		.log = p->log,
		.fair_sharing = o->settings.config.fair_sharing};
	p->status_writer = status_writer_new(&status_writer);
	struct finalizers_options finalizers = {
		.client = p->client, .queue = p->queue, .log = p->log};
	p->finalizers = finalizers_new(&finalizers);
}

static void overcommit_changed(void *ctx)
{
	struct parts *p = ctx;
	p->told.changed(p->told.ctx);
}

static void orders_changed(const char *node, void *ctx)
{
	node_agents_orders_changed(((struct parts *)ctx)->node_agents, node);
}

static bool view_agent(const char *node, struct node_agent_view *ret, void *ctx)
{
	return node_agents_view(((struct parts *)ctx)->node_agents, node, ret);
}

static void make_overcommit(struct parts *p)
{
	const struct options *o = p->options;
	struct history_options history = {.pg = p->background, .log = p->log};
	p->history = history_new(&history);
	struct overcommit_controller_options overcommit = {.history = p->history,
		.client = p->client,
		.nodes = p->nodes,
		.pods = p->pods,
		.queue = p->queue,
		.gate = p->gate,
		.events = p->events,
		.log = p->log,
		.configmap_namespace = o->overcommit_namespace,
		.configmap = o->overcommit_config,
		.seed = seed_draw(),
		.changed = overcommit_changed,
		.orders_changed = o->node_listen.on ? orders_changed : NULL,
		.agent = o->node_listen.on ? view_agent : NULL,
		.ctx = p};
	p->overcommit_controller = overcommit_controller_new(&overcommit);
}

static void make_retention(struct parts *p)
{
	struct retention_options o = {
		.pg = p->background, .log = p->log, .keep_ms = p->options->keep_history_ms};
	p->retention = retention_new(&o);
}

static void make_past(struct parts *p)
{
	struct past_questions_options o = {
		.quick = p->background, .slow = p->reports, .log = p->log, .gate = p->gate};
	p->past_questions = past_questions_new(p->loop, &o);
}

static void make_predecessors(struct parts *p, const struct parts_events *events)
{
	struct predecessors_options o = {.client = p->client,
		.queue = p->queue,
		.gate = p->gate,
		.job_context = p->job_context,
		.pg = p->background,
		.log = p->log,
		.changed = events->changed,
		.ctx = events->ctx};
	p->predecessors = predecessors_new(&o);
}

/* Begins to follow the API server, last, when all its receivers are there. */
static void start_informer(struct parts *p, const struct parts_events *events)
{
	struct informer_options o = {
		.client = p->client,
		.nodes = p->nodes,
		.pods = p->pods,
		.queue = p->queue,
		.gate = p->gate,
		.status_writer = p->status_writer,
		.finalizers = p->finalizers,
		.job_scope = p->job_scope,
		.time_specs = p->time_specs,
		.job_context = p->job_context,
		.zones = p->zones,
		.overcommit_controller = p->overcommit_controller,
		.config_namespace = p->options->config_namespace,
		.without_queue_name = p->options->manage_without_queue_name,
		.log = p->log,
		.seed = seed_draw(),
		.changed = events->changed,
		.ctx = events->ctx,
	};
	p->informer = informer_new(&o);
}

int parts_open(struct parts *p, const struct parts_events *events, struct err *e)
{
	p->told = *events;
	int rc = open_api_server(p, e);
	if (rc)
		return rc;
	make_shared_watches(p);
	rc = open_recorder(p, e);
	if (rc == 0)
		rc = open_ledger(p, events, e);
	if (rc)
		return rc;
	make_queue_and_gate(p);
	make_forecasts(p);
	make_writers(p, events);
	make_overcommit(p);
	struct stuck_pods_options stuck_pods = {
		.client = p->client, .gate = p->gate, .log = p->log, .seed = seed_draw()};
	p->stuck_pods = stuck_pods_new(&stuck_pods);
	make_retention(p);
	make_past(p);
	make_predecessors(p, events);
	start_informer(p, events);
	return 0;
}

/* Frees all parts, each when none is left that may still call it. */
void parts_close(struct parts *p)
{
	pg_free(p->background);
	pg_free(p->reports);
	pg_free(p->pg);
	informer_free(p->informer);
	stuck_pods_free(p->stuck_pods);
	predecessors_free(p->predecessors);
	history_free(p->history);
	past_questions_free(p->past_questions);
	retention_free(p->retention);
	overcommit_controller_free(p->overcommit_controller);
	kube_shared_watch_free(p->nodes);
	kube_shared_watch_free(p->pods);
	dispatcher_free(p->dispatcher);
	if (p->client)
		kube_client_free(p->client);
	status_writer_free(p->status_writer);
	finalizers_free(p->finalizers);
	events_free(p->events);
	if (p->gate)
		gate_free(p->gate);
	reviews_free(p->reviews);
	forecasts_free(p->forecasts);
	job_scope_free(p->job_scope);
	time_specs_free(p->time_specs);
	zones_free(p->zones);
	recorder_close(p->recorder, "the controller ended");
	if (p->queue)
		queue_free(p->queue);
	decision_log_free(p->decision_log);
	counters_free(p->counters);
	kube_config_free(p->config);
}
