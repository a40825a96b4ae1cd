#include "controller/announcement.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/mix.h"
#include "base/must.h"
#include "controller/common/path.h"
#include "base/json.h"
#include "controller/kube/source.h"

enum {
	COMPARE_MS = 10000,
	ABSENT_MS = 60000, /* where there is no APIService */
	RETRY_MS = 1000,   /* the first pause after a failure */
	RETRY_MAX_MS = 60000,
	TIMEOUT_MS = 10000,
	BODY_MAX_BYTES = 256 * 1024,
	ANSWER_MAX_BYTES = 1024 * 1024,
	TREE_MAX_BYTES = 4 * 1024 * 1024,
};

#define APISERVICE_PATH "/apis/apiregistration.k8s.io/v1/apiservices/" VISIBILITY_APISERVICE
#define MANAGER "?fieldManager=" VISIBILITY_SERVICE
#define PORT_NAME "https" /* the Service's names of its ports */
#define PAGE_PORT_NAME "page"
#define SERVICE_LABEL "kubernetes.io/service-name"

/* Which request is under way. They come one at a time, in this order, as far as they are wanted. */
enum announcement_state {
	ANNOUNCE_REST,
	ANNOUNCE_READ_APISERVICE,
	ANNOUNCE_WRITE_APISERVICE,
	ANNOUNCE_READ_SLICE,
	ANNOUNCE_WRITE_SLICE,
};

struct announcement {
	struct announcement_options options;
	struct json *json;
	enum announcement_state state;
	uint64_t request; /* the request under way; 0: none */
	uint16_t port;	  /* 0: paused */
	char *ca;	  /* PEM; NULL: for another client to write */
	bool moved;	  /* port or ca changed since the last round began */
	bool first;	  /* the first round with this port and ca */
	bool wrote;	  /* in this round */
	bool complained;  /* a failure was logged, and no round went well since */
	bool overwritten; /* another client's change was, which was logged */
	unsigned failures;
	uint64_t random;
	int64_t now_ms, due_ms;
};

struct announcement *announcement_new(const struct announcement_options *o)
{
	struct announcement *a = mem_alloc(sizeof(*a));
	a->options = *o;
	a->json = json_new(TREE_MAX_BYTES);
	a->random = o->seed;
	return a;
}

void announcement_free(struct announcement *a)
{
	if (!a)
		return;
	announcement_pause(a);
	json_free(a->json);
	free(a);
}

void announcement_pause(struct announcement *a)
{
	kube_client_cancel(a->options.client, a->request);
	a->request = 0;
	a->state = ANNOUNCE_REST;
	a->port = 0;
	free(a->ca);
	a->ca = NULL;
	a->wrote = a->overwritten = false;
	a->failures = 0;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static bool is_ipv6(const char *address)
{
	struct in6_addr ip;
	return inet_pton(AF_INET6, address, &ip) == 1;
}

static const char *address_type(const struct announcement *a)
{
	return is_ipv6(a->options.address) ? "IPv6" : "IPv4";
}

static void put_apiservice(const struct announcement *a, struct buf *out)
{
	char *coded = source_to_base64(a->ca);
	struct json_writer w = json_writer_object(out);
	jw_object_of(&w, "spec", "caBundle", coded, NULL);
	jw_close(&w);
	free(coded);
}

static void put_port(struct json_writer *w, const char *name, unsigned port)
{
	jw_object(w, NULL);
	jw_text(w, "name", name);
	jw_int(w, "port", port);
	jw_text(w, "protocol", "TCP");
	jw_end(w);
}

static void put_slice(const struct announcement *a, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	jw_texts(&w, "apiVersion", "discovery.k8s.io/v1", "kind", "EndpointSlice", NULL);
	jw_object(&w, "metadata");
	jw_texts(&w, "name", VISIBILITY_SERVICE, "namespace", a->options.namespace_name, NULL);
	jw_object_of(&w, "labels", "app.kubernetes.io/part-of", "sluice",
		"endpointslice.kubernetes.io/managed-by", "sluice-controller", SERVICE_LABEL,
		VISIBILITY_SERVICE, NULL);
	jw_end(&w);
	jw_text(&w, "addressType", address_type(a));
	jw_array(&w, "endpoints");
	jw_object(&w, NULL);
	jw_array_of(&w, "addresses", &a->options.address, 1);
	jw_object(&w, "conditions");
	jw_bool(&w, "ready", true);
	jw_end(&w);
	jw_end(&w);
	jw_end(&w);
	jw_array(&w, "ports");
	put_port(&w, PORT_NAME, a->port);
	if (a->options.page_port)
		put_port(&w, PAGE_PORT_NAME, a->options.page_port);
	jw_close(&w);
}

/* ---- what is there --------------------------------------------------------------------------- */

static const cJSON *only(const cJSON *array)
{
	const cJSON *first = array ? array->child : NULL;
	return first && !first->next ? first : NULL;
}

static bool apiservice_is_right(const struct announcement *a, const cJSON *object)
{
	char *coded = source_to_base64(a->ca);
	bool right = json_is(json_object(object, "spec"), "caBundle", coded);
	free(coded);
	return right;
}

static bool is_port(const cJSON *port, const char *name, uint16_t wanted)
{
	int64_t number;
	return json_is(port, "name", name) && json_i64(port, "port", &number) == 0 &&
	       number == wanted;
}

/* Whether these are the ports that put_slice() writes, in its order. */
static bool has_ports(const struct announcement *a, const cJSON *ports)
{
	const cJSON *port = ports ? ports->child : NULL;
	if (!is_port(port, PORT_NAME, a->port))
		return false;
	if (!a->options.page_port)
		return !port->next;
	return is_port(port->next, PAGE_PORT_NAME, a->options.page_port) && !port->next->next;
}

static bool has_endpoint(const struct announcement *a, const cJSON *endpoints)
{
	const cJSON *endpoint = only(endpoints);
	const cJSON *address = only(json_array(endpoint, "addresses"));
	bool ready = true; /* absent: ready */
	json_bool(json_object(endpoint, "conditions"), "ready", &ready);
	return ready && cJSON_IsString(address) &&
	       strcmp(address->valuestring, a->options.address) == 0;
}

static bool slice_is_right(const struct announcement *a, const cJSON *object)
{
	const cJSON *labels = json_object(json_object(object, "metadata"), "labels");
	return json_is(labels, SERVICE_LABEL, VISIBILITY_SERVICE) &&
	       json_is(object, "addressType", address_type(a)) &&
	       has_ports(a, json_array(object, "ports")) &&
	       has_endpoint(a, json_array(object, "endpoints"));
}

/* ---- the end of a round ---------------------------------------------------------------------- */

static int64_t pause_ms(struct announcement *a)
{
	return backoff_drawn_ms(
		backoff_ms(RETRY_MS, a->failures++, RETRY_MAX_MS), draw64(&a->random));
}

static void rest(struct announcement *a, int64_t wait_ms)
{
	a->state = ANNOUNCE_REST;
	a->due_ms = a->now_ms + wait_ms;
	a->wrote = false;
	json_reset(a->json);
}

static void is_absent(struct announcement *a)
{
	a->failures = 0;
	a->complained = false;
	rest(a, ABSENT_MS);
}

static bool is_of_slice(enum announcement_state state)
{
	return state == ANNOUNCE_READ_SLICE || state == ANNOUNCE_WRITE_SLICE;
}

/* Names the cure. 422: the slice is of the other family of addresses, which cannot be changed. */
static const char *cure_of(int http_status)
{
	if (http_status == 403)
		return "kubectl apply -f deploy/components/visibility/role.yaml; no restart is needed";
	if (http_status == 422)
		return "kubectl -n sluice-system delete endpointslice " VISIBILITY_SERVICE;
	return NULL;
}

static void has_failed(struct announcement *a, const struct kube_answer *answer)
{
	bool slice = is_of_slice(a->state);
	int64_t wait = pause_ms(a);
	if (!a->complained)
		log_event(a->options.log, LEVEL_WARN, "visibility-not-announced", "kind",
			slice ? "EndpointSlice" : "APIService", "name",
			slice ? VISIBILITY_SERVICE : VISIBILITY_APISERVICE, "why", answer->sentence,
			"effect", "kubectl get queuedjobs may not work; Jobs start as ever", "cure",
			cure_of(answer->http_status), NULL);
	a->complained = true;
	rest(a, answer->retry_after_ms > wait ? answer->retry_after_ms : wait);
}

static void log_written(const struct announcement *a, enum log_level level, const char *why)
{
	log_event(a->options.log, level, "visibility-announced", "address", a->options.address,
		"#port", LOG_NUMBER(a->port), "ca", a->ca ? "own" : NULL, "why", why, NULL);
}

static void has_succeeded(struct announcement *a)
{
	if (a->complained || (a->wrote && a->first)) {
		log_written(a, LEVEL_INFO, NULL);
	} else if (a->wrote && !a->overwritten) {
		a->overwritten = true;
		log_written(
			a, LEVEL_WARN, "another client had changed what the API server is told");
	}
	a->first = a->complained = false;
	a->failures = 0;
	rest(a, COMPARE_MS);
}

/* ---- a round --------------------------------------------------------------------------------- */

static void on_answer(const struct kube_answer *answer, void *ctx);

static void ask(struct announcement *a, enum announcement_state state, enum kube_method method,
	const char *path, const char *content_type, const struct buf *body)
{
	struct kube_request request = {
		.method = method,
		.path = path,
		.content_type = content_type,
		.body = body ? buf_slice(body) : (struct slice){0},
		.timeout_ms = TIMEOUT_MS,
		.answer_ceiling = ANSWER_MAX_BYTES,
	};
	must(!a->request);
	a->state = state;
	a->request = kube_client_send(a->options.client, &request, on_answer, a);
}

static void read_apiservice(struct announcement *a)
{
	a->first |= a->moved;
	a->moved = false;
	ask(a, ANNOUNCE_READ_APISERVICE, KUBE_GET, APISERVICE_PATH, NULL, NULL);
}

static void write_apiservice(struct announcement *a)
{
	struct buf body;
	buf_init(&body, BODY_MAX_BYTES);
	put_apiservice(a, &body);
	ask(a, ANNOUNCE_WRITE_APISERVICE, KUBE_PATCH, APISERVICE_PATH MANAGER, KUBE_MERGE_PATCH,
		&body);
	buf_done(&body);
}

static void put_slice_path(const struct announcement *a, struct buf *out)
{
	path_format(out, "/apis/discovery.k8s.io/v1/namespaces/%s/endpointslices/%s",
		a->options.namespace_name, VISIBILITY_SERVICE);
}

static void read_slice(struct announcement *a)
{
	struct buf path;
	if (!a->options.address) {
		has_succeeded(a);
		return;
	}
	buf_init(&path, PATH_MAX_BYTES);
	put_slice_path(a, &path);
	ask(a, ANNOUNCE_READ_SLICE, KUBE_GET, buf_text(&path), NULL, NULL);
	buf_done(&path);
}

static void write_slice(struct announcement *a)
{
	struct buf path, body;
	buf_init(&path, PATH_MAX_BYTES);
	buf_init(&body, BODY_MAX_BYTES);
	put_slice_path(a, &path);
	buf_puts(&path, MANAGER "&force=true");
	put_slice(a, &body);
	ask(a, ANNOUNCE_WRITE_SLICE, KUBE_PATCH, buf_text(&path), KUBE_APPLY_PATCH, &body);
	buf_done(&path);
	buf_done(&body);
}

/* Gives the object that was read; NULL: it cannot be read, so it is not right. */
static const cJSON *object_of(struct announcement *a, const struct kube_answer *answer)
{
	const cJSON *root = NULL;
	return json_parse(a->json, answer->body, &root, NULL) == 0 ? root : NULL;
}

static void go_on(struct announcement *a, const struct kube_answer *answer)
{
	switch (a->state) {
	case ANNOUNCE_REST:
		return;
	case ANNOUNCE_READ_APISERVICE:
		if (a->ca && !apiservice_is_right(a, object_of(a, answer)))
			write_apiservice(a);
		else
			read_slice(a);
		return;
	case ANNOUNCE_READ_SLICE:
		if (slice_is_right(a, object_of(a, answer)))
			has_succeeded(a);
		else
			write_slice(a);
		return;
	case ANNOUNCE_WRITE_APISERVICE:
		a->wrote = true;
		read_slice(a);
		return;
	case ANNOUNCE_WRITE_SLICE:
		a->wrote = true;
		has_succeeded(a);
		return;
	}
}

static void on_answer(const struct kube_answer *answer, void *ctx)
{
	struct announcement *a = ctx;
	a->request = 0;
	if (answer->outcome == KUBE_DONE)
		go_on(a, answer);
	else if (answer->outcome == KUBE_GONE && !is_of_slice(a->state))
		is_absent(a);
	else if (answer->outcome == KUBE_GONE && a->state == ANNOUNCE_READ_SLICE)
		write_slice(a);
	else
		has_failed(a, answer);
}

static bool is_same(const char *one, const char *other)
{
	return one && other ? strcmp(one, other) == 0 : one == other;
}

static void take_over(struct announcement *a, uint16_t port, const char *ca)
{
	if (a->port == port && is_same(a->ca, ca))
		return;
	a->port = port;
	free(a->ca);
	a->ca = ca ? mem_strdup(ca) : NULL;
	a->moved = true;
}

void announcement_tick(struct announcement *a, uint16_t port, const char *ca, int64_t tick_ms)
{
	a->now_ms = tick_ms;
	if (port == 0) {
		announcement_pause(a);
		return;
	}
	take_over(a, port, ca);
	bool wanted = ca || a->options.address;
	if (wanted && a->state == ANNOUNCE_REST && (a->moved || tick_ms >= a->due_ms))
		read_apiservice(a);
}
