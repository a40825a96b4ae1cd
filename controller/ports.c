#include "controller/ports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/monotonic.h"
#include "controller/forecast/forecasts.h"
#include "controller/answers/api.h"
#include "controller/net/auth.h"
#include "controller/answers/counters.h"
#include "controller/net/http.h"
#include "controller/ledger/pg.h"
#include "controller/nodes/node_agents.h"
#include "controller/page/page.h"
#include "controller/page/session.h"
#include "controller/answers/answers.h"
#include "controller/answers/job_query.h"
#include "controller/answers/watch_terms.h"
#include "controller/watch/informer.h"
#include "controller/write/events.h"

enum {
	METRICS_SHARE = 100, /* of the loop they have one in so many */
	METRICS_MAX_BYTES = 64 * 1024 * 1024,
};

struct ports {
	const struct parts *parts;
	const struct answer_sources *from;
	struct auth *auth; /* may this caller ask? */
	struct http *http, *probes;
	struct answers *answers;
	struct sessions *sessions;
	struct buf metrics;	  /* the page of /metrics */
	int64_t metrics_until_us; /* until when that page is kept */
	struct buf missing;	  /* kinds that are not listed yet, for /readyz */
	struct buf denied;	  /* kinds that are done without, for /readyz */
};

static void add_refusals(const struct ports *p, struct metrics_sources *to)
{
	_Static_assert((int)NODE_REFUSALS <= (int)METRICS_REFUSALS_MAX, "each has a place");
	for (int i = 0; p->parts->node_agents && i < NODE_REFUSALS; i++)
		to->refusals[to->nrefusals++] = (struct metrics_refusal){node_refusal_names[i],
			node_agents_refused(p->parts->node_agents, (enum node_refusal)i)};
}

static struct api_sources sources_of(struct ports *p)
{
	buf_reset(&p->missing);
	informer_missing(p->parts->informer, &p->missing);
	buf_reset(&p->denied);
	informer_denied(p->parts->informer, &p->denied);
	struct api_sources s = {
		.metrics = {.queue = p->parts->queue,
			.gate = p->parts->gate,
			.counters = p->parts->counters,
			.events = events_count(p->parts->events),
			.forecasts = forecasts_count(p->parts->forecasts),
			.api = kube_client_stats(p->parts->client),
			.overcommit_controller = p->parts->overcommit_controller,
			.ledger_up = pg_up(p->parts->pg),
			.recorder = p->parts->recorder,
			.fair_sharing = p->parts->options->settings.config.fair_sharing,
			.decides = gate_leading(p->parts->gate),
			.synced = informer_synced(p->parts->informer)},
		.identity = p->parts->options->identity,
		.cell = p->parts->options->cell,
		.leadership = sources_leadership(p->from),
		.waiting_for = buf_text(&p->missing),
		.denied = buf_text(&p->denied),
		.ledger_trouble = p->from->state->ledger_trouble,
		.stopping = p->from->state->stopping,
	};
	add_refusals(p, &s.metrics);
	s.metrics.nkinds = informer_health(p->parts->informer, s.metrics.kinds);
	return s;
}

/* All queues are gone through for it, and the loop decides nothing meanwhile. So callers are told the same for a hundred
 * times as long as making it took: however many ask and however often, it has a hundredth of the loop. */
static void put_metrics(struct ports *p, const struct metrics_sources *s, struct buf *out)
{
	int64_t now_us = monotonic_us();
	if (now_us >= p->metrics_until_us) {
		buf_reset(&p->metrics);
		metrics_render(s, &p->metrics);
		int64_t done_us = monotonic_us();
		p->metrics_until_us = done_us + METRICS_SHARE * (done_us - now_us);
	}
	if (p->metrics.failed)
		metrics_render(s, out); /* fails as well, and says so */
	else
		buf_add(out, p->metrics.ptr, p->metrics.len);
}

static struct http_reply on_request(
	const struct http_question *q, const char *path, struct buf *out, void *ctx)
{
	struct ports *p = ctx;
	struct api_sources s = sources_of(p);
	(void)q;
	if (strcmp(path, "/metrics") == 0) {
		put_metrics(p, &s.metrics, out);
		return (struct http_reply){200, METRICS_CONTENT_TYPE};
	}
	return api_answer(&s, path, out);
}

static bool take_page_file(struct http_question *q, const char *path)
{
	const char *type, *text = page_text(path, &type);
	if (text)
		http_answer_file(q, type, slice_of(text));
	return text != NULL;
}

/* Gives a number for the caller. All who are let in without being asked have one. */
static uint64_t who_asks(const struct ports *p, const struct http_question *q)
{
	struct auth_caller caller;
	http_caller(q, &caller);
	return auth_name(p->auth, &caller, monotonic_ms());
}

/* Takes a question to the aggregated API, by the page's scripts or by others. Where another
 * controller leads, the answer says to ask at its port. */
static bool take_question(struct ports *p, struct http_question *q, const char *path)
{
	const struct options *o = p->parts->options;
	struct leadership l = sources_leadership(p->from);
	char cure[512];
	struct right right;
	if (!page_right(path, false, &right))
		return false;
	snprintf(cure, sizeof(cure),
		"ask that one (kubectl -n %.63s port-forward pod/%.200s %u), or the API server, which finds it: kubectl get queuedjobs",
		o->config_namespace, l.lease.holder, (unsigned)http_port(p->http));
	answers_take(p->answers, q, path, &(struct answers_asker){who_asks(p, q), cure});
	return true;
}

static struct http_rights page_rights(const struct http_question *q, const char *path)
{
	const struct watch_words watch = {.watch = http_param(q, "watch")};
	const char *type;
	struct http_rights x = {.open = page_text(path, &type) != NULL};
	if (strcmp(path, SESSION_PATH) == 0)
		return sessions_rights();
	if (x.open || page_right(path, watch_wanted(&watch), &x.must))
		return x;
	return api_rights(path);
}

static bool take_session(struct ports *p, struct http_question *q, const char *path)
{
	if (strcmp(path, SESSION_PATH) != 0)
		return false;
	sessions_take(p->sessions, q, informer_synced(p->parts->informer));
	return true;
}

static bool on_defer(struct http_question *q, const char *path, void *ctx)
{
	return take_page_file(q, path) || take_session(ctx, q, path) || take_question(ctx, q, path);
}

static enum auth_verdict on_ask(const struct auth_caller *caller, const struct right *right,
	auth_verdict_fn *fn, void *fn_ctx, void *ctx)
{
	struct ports *p = ctx;
	return auth_ask(p->auth, caller, right, monotonic_ms(), fn, fn_ctx);
}

static struct http_rights probe_rights(const struct http_question *q, const char *path)
{
	(void)q;
	(void)path;
	return (struct http_rights){.open = true};
}

static struct http_reply on_probe(
	const struct http_question *q, const char *path, struct buf *out, void *ctx)
{
	if (api_is_probe(path))
		return on_request(q, path, out, ctx);
	buf_puts(out, "here are /healthz and /readyz; the rest is at the port of --listen\n");
	return (struct http_reply){404, "text/plain; charset=utf-8"};
}

static int open_port(struct ports *p, const struct listen_at *at, struct http_options *o,
	struct http **ret, struct err *e)
{
	if (!at->on)
		return 0;
	o->host = at->host;
	o->port = at->port;
	o->ctx = p;
	int rc = http_new(p->parts->loop, o, ret, e);
	if (rc == 0)
		log_event(p->parts->log, LEVEL_INFO, "listening", "address", at->host, "#port",
			LOG_NUMBER(http_port(*ret)), "for", o->one_request ? "probes" : "the API",
			"scheme", o->tls ? "https" : "http", NULL);
	return rc;
}

/* The Service of deploy/manager. */
static const char *const service_names[] = {"sluice-controller.sluice-system.svc"};

/* Reads or makes the certificate; *ret stays NULL: plain HTTP. */
static int load_tls(struct ports *p, struct tls **ret, struct err *e)
{
	const struct options *o = p->parts->options;
	if (!o->listen.on || (!o->tls_self_signed && !o->tls_cert_file))
		return 0;
	struct tls_files files = {
		"--tls-cert-file", "--tls-private-key-file", o->tls_cert_file, o->tls_key_file};
	int rc = o->tls_self_signed ? tls_make(service_names, 1, ret, e) : tls_load(&files, ret, e);
	if (rc == 0)
		tls_log(*ret, o->tls_cert_file, p->parts->log);
	else if (o->tls_self_signed)
		err_wrap(e, "--tls-self-signed");
	return rc;
}

static void make_auth(struct ports *p)
{
	struct auth_options o = {.client = p->parts->client,
		.log = p->parts->log,
		.audience = p->parts->options->token_audience};
	p->auth = auth_new(&o);
	struct sessions_options s = {.loop = p->parts->loop,
		.auth = p->auth,
		.queue = p->parts->queue,
		.cell = p->parts->options->cell};
	p->sessions = sessions_new(&s);
}

static int open_all(struct ports *p, struct err *e)
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
		.trust_nobody = p->parts->options->loopback_needs_token,
		.limits = HTTP_LIMITS,
		.policy = PAGE_POLICY,
		.rights = page_rights,
		.answer = on_request,
		.defer = on_defer,
		.ask = on_ask,
		.put_refusal = api_refusal,
		.names_users = {"impersonate", VISIBILITY_GROUP, "users", ""},
		.names_groups = {"impersonate", VISIBILITY_GROUP, "groups", ""},
	};
	int rc = open_port(p, &p->parts->options->probe_listen, &probes, &p->probes, e);
	if (rc == 0)
		rc = load_tls(p, &tls, e);
	api.tls = tls;
	if (tls)
		api.pace = HTTP_TLS_PACE;
	if (rc == 0)
		rc = open_port(p, &p->parts->options->listen, &api, &p->http, e);
	tls_free(tls);
	return rc;
}

int ports_open(const struct parts *parts, const struct answer_sources *from,
	struct answers *answers, struct ports **ret, struct err *e)
{
	struct ports *p = mem_alloc(sizeof(*p));
	*p = (struct ports){.parts = parts, .from = from, .answers = answers};
	buf_init(&p->metrics, METRICS_MAX_BYTES);
	buf_init(&p->missing, 1024);
	buf_init(&p->denied, 1024);
	make_auth(p);
	int rc = open_all(p, e);
	if (rc) {
		ports_close(p);
		p = NULL;
	}
	*ret = p;
	return rc;
}

void ports_close(struct ports *p)
{
	if (!p)
		return;
	/* First those that give verdicts and answers (http_free()). */
	auth_free(p->auth);
	sessions_free(p->sessions);
	if (p->http)
		answers_drop(p->answers, p->http);
	http_free(p->http);
	http_free(p->probes);
	buf_done(&p->metrics);
	buf_done(&p->missing);
	buf_done(&p->denied);
	free(p);
}
