#include "controller/visibility.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/common/seed.h"
#include "controller/gate/gate.h"
#include "controller/net/http.h"
#include "base/json.h"
#include "controller/announcement.h"
#include "controller/answers/answers.h"
#include "controller/answers/complaint.h"
#include "controller/net/certificate.h"
#include "controller/net/front_proxy.h"
#include "controller/answers/watchers.h"

#define AUTHORITY_NAMESPACE "kube-system"
#define AUTHORITY_CONFIGMAP "extension-apiserver-authentication"
#define AUTHORITY_PATH "/api/v1/namespaces/" AUTHORITY_NAMESPACE "/configmaps/" AUTHORITY_CONFIGMAP

enum {
	LOOK_MS = 60000,
	LOOK_FIRST_MS = 10000, /* while no authority is known */
	TIMEOUT_MS = 10000,
	CONFIGMAP_MAX_BYTES = 2 * 1024 * 1024,
	TREE_MAX_BYTES = 8 * 1024 * 1024,
};

/* Limits for callers that are API servers, of which there are few. A stranger at one address cannot
 * have all. Watches take no connection from other questions. */
static const struct connections_limits limits = {.all = 256 + WATCHERS_MAX,
	.each_address = 192 + WATCHERS_MAX,
	.request_ms = 10000,
	.answer_ms = 60000};

/* Troubles that are logged once, and again when the sentence is another. */
enum matter {
	MATTER_AUTHORITY,
	MATTER_PORT,
	MATTERS,
};

struct visibility {
	const struct parts *parts;
	struct front_proxy *front_proxy;
	struct answers *answers;
	struct announcement *announcement;
	struct json *json;
	struct certificate *certificate;
	struct http *http; /* NULL: closed */
	bool outdated;	   /* the port is to be opened with another authority or certificate */
	uint64_t reading;  /* the request for the ConfigMap; 0: none is under way */
	int64_t look_ms;   /* when the ConfigMap and the files are looked at next */
	char said[MATTERS][512];
};

static void warn_once(
	struct visibility *v, enum matter which, const char *sentence, const char *cure)
{
	static const char *const events[MATTERS] = {
		[MATTER_AUTHORITY] = "front-proxy-unknown", [MATTER_PORT] = "not-listening"};
	char *said = v->said[which];
	if (strncmp(said, sentence, sizeof(v->said[which]) - 1) == 0)
		return;
	snprintf(said, sizeof(v->said[which]), "%s", sentence);
	log_event(v->parts->log, LEVEL_WARN, events[which], "why", sentence, "effect",
		v->http ? "the port of --visibility-listen stays as it is; it is tried again"
			: "kubectl get queuedjobs gets no answer, Jobs start as ever; it is tried again",
		"cure", cure, NULL);
}

static void is_well(struct visibility *v, enum matter which)
{
	v->said[which][0] = '\0';
}

/* ---- the certificate ------------------------------------------------------------------------- */

static int get_certificate(struct visibility *v, struct err *e)
{
	const struct options *o = v->parts->options;
	char service[128];
	const char *const names[] = {service};
	snprintf(service, sizeof(service), VISIBILITY_SERVICE ".%s.svc", o->config_namespace);
	struct certificate_options certificate = {.log = v->parts->log,
		.files = {"--visibility-cert-file", "--visibility-key-file",
			o->visibility_cert_file, o->visibility_key_file},
		.names = names,
		.nnames = 1,
		.flag = "--visibility-listen",
		.effect =
			"the port of --visibility-listen stays as it is; the files are read again"};
	return certificate_new(&certificate, &v->certificate, e);
}

/* ---- the authority of the front proxy -------------------------------------------------------- */

static int take_configmap(struct visibility *v, struct slice body, bool *ret_changed, struct err *e)
{
	const cJSON *configmap;
	int rc = json_parse(v->json, body, &configmap, e);
	if (rc == 0)
		rc = front_proxy_take(v->front_proxy, configmap, ret_changed, e);
	json_reset(v->json);
	return rc;
}

static const char *cure_of(const struct kube_answer *a)
{
	if (a->outcome != KUBE_DENIED)
		return NULL;
	return "kubectl apply -k your overlay with deploy/components/visibility: its RoleBinding in " AUTHORITY_NAMESPACE
	       " lets the controller read that ConfigMap; no restart is needed";
}

static void on_configmap(const struct kube_answer *a, void *ctx)
{
	struct visibility *v = ctx;
	bool changed = false;
	struct err e = {""};
	v->reading = 0;
	int rc = a->outcome == KUBE_DONE ? take_configmap(v, a->body, &changed, &e)
					 : err_set(&e, ERR_BUSY, "%s", a->sentence);
	v->outdated = v->outdated || changed;
	if (rc == 0) {
		is_well(v, MATTER_AUTHORITY);
		return;
	}
	err_wrap(&e, "ConfigMap " AUTHORITY_NAMESPACE "/" AUTHORITY_CONFIGMAP);
	warn_once(v, MATTER_AUTHORITY, e.text, cure_of(a));
}

static void look_at_configmap(struct visibility *v)
{
	struct kube_request r = {.method = KUBE_GET,
		.path = AUTHORITY_PATH,
		.timeout_ms = TIMEOUT_MS,
		.answer_ceiling = CONFIGMAP_MAX_BYTES,
		.last = true};
	if (v->reading == 0)
		v->reading = kube_client_send(v->parts->client, &r, on_configmap, v);
}

/* ---- the port -------------------------------------------------------------------------------- */

static int listen_anew(struct visibility *v, struct http **ret, struct err *e)
{
	const struct listen_at *at = &v->parts->options->visibility_listen;
	struct http_options o = {
		.host = at->host,
		.port = at->port,
		.flag = "visibility-listen",
		.limits = limits,
		.pace = HTTP_TLS_PACE,
		.tls = certificate_tls(v->certificate),
		.front_proxy = v->front_proxy,
		.defer = answers_take_passed_on,
		.put_error = complaint_put,
		.ctx = v->answers,
	};
	return http_new(v->parts->loop, &o, ret, e);
}

static void close_port(struct visibility *v)
{
	if (v->http)
		answers_drop(v->answers, v->http);
	http_free(v->http);
	v->http = NULL;
}

static void open_port(struct visibility *v)
{
	struct err e = {""};
	close_port(v);
	if (listen_anew(v, &v->http, &e) != 0) {
		warn_once(v, MATTER_PORT, e.text, NULL);
		return;
	}
	is_well(v, MATTER_PORT);
	v->outdated = false;
	log_event(v->parts->log, LEVEL_INFO, "listening", "address",
		v->parts->options->visibility_listen.host, "#port", LOG_NUMBER(http_port(v->http)),
		"for", "kubectl get queuedjobs", "scheme", "https", NULL);
}

/* Tries at the start whether the address can be had. The port opens only when the authority is
 * known. */
static int try_port(struct visibility *v, struct err *e)
{
	struct http *http = NULL;
	int rc = listen_anew(v, &http, e);
	http_free(http);
	return rc;
}

static void announce(struct visibility *v, int64_t tick_ms)
{
	if (v->http && gate_leading(v->parts->gate))
		announcement_tick(v->announcement, http_port(v->http),
			certificate_made_here(v->certificate), tick_ms);
	else
		announcement_pause(v->announcement);
}

void visibility_tick(struct visibility *v, int64_t tick_ms)
{
	if (!v)
		return;
	bool known = front_proxy_authorities(v->front_proxy);
	if (tick_ms >= v->look_ms) {
		v->look_ms = tick_ms + (known ? LOOK_MS : LOOK_FIRST_MS);
		v->outdated |= certificate_look(v->certificate);
		look_at_configmap(v);
	}
	if (known && v->outdated)
		open_port(v);
	announce(v, tick_ms);
}

/* ---- its life -------------------------------------------------------------------------------- */

/* Gives the port of the page; 0: browsers elsewhere do not reach it. */
static uint16_t page_port(const struct listen_at *at)
{
	bool is_here = strncmp(at->host, "127.", 4) == 0 || strcmp(at->host, "::1") == 0 ||
		       strcmp(at->host, "localhost") == 0;
	return at->on && !is_here ? at->port : 0;
}

static void make_sources(struct visibility *v)
{
	const struct options *o = v->parts->options;
	struct announcement_options announcement = {.client = v->parts->client,
		.log = v->parts->log,
		.namespace_name = o->config_namespace,
		.address = o->visibility_address[0] ? o->visibility_address : NULL,
		.page_port = page_port(&o->listen),
		.seed = seed_draw()};
	v->front_proxy = front_proxy_new();
	v->json = json_new(TREE_MAX_BYTES);
	v->announcement = announcement_new(&announcement);
}

int visibility_open(
	const struct parts *parts, struct answers *answers, struct visibility **ret, struct err *e)
{
	*ret = NULL;
	if (!parts->options->visibility_listen.on)
		return 0;
	struct visibility *v = mem_alloc(sizeof(*v));
	v->parts = parts;
	v->answers = answers;
	make_sources(v);
	int rc = get_certificate(v, e);
	if (rc == 0)
		rc = try_port(v, e);
	if (rc) {
		visibility_close(v);
		return rc;
	}
	*ret = v;
	return 0;
}

void visibility_close(struct visibility *v)
{
	if (!v)
		return;
	kube_client_cancel(v->parts->client, v->reading);
	announcement_free(v->announcement);
	close_port(v);
	front_proxy_free(v->front_proxy);
	json_free(v->json);
	certificate_free(v->certificate);
	free(v);
}
