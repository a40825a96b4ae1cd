#include "controller/announcement.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "controller/common/path.h"
#include "controller/kube/source.h"
#include "controller/kube/upkeep.h"

#define APISERVICE_PATH "/apis/apiregistration.k8s.io/v1/apiservices/" VISIBILITY_APISERVICE
#define MANAGER "?fieldManager=" VISIBILITY_SERVICE
#define PORT_NAME "https" /* the Service's names of its ports */
#define PAGE_PORT_NAME "page"
#define SERVICE_LABEL "kubernetes.io/service-name"

enum { OF_APISERVICE, OF_SLICE, OBJECTS };

struct announcement {
	struct announcement_options options;
	struct upkeep *upkeep;
	char *slice_path, *slice_write_path;
	uint16_t port; /* 0: paused */
	char *ca;      /* PEM; NULL: for another client to write */
};

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

static void put_apiservice(struct buf *out, void *ctx)
{
	const struct announcement *a = ctx;
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

static void put_slice(struct buf *out, void *ctx)
{
	const struct announcement *a = ctx;
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

static bool apiservice_is_right(const cJSON *object, void *ctx)
{
	const struct announcement *a = ctx;
	if (!a->ca)
		return true;
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

static bool slice_is_right(const cJSON *object, void *ctx)
{
	const struct announcement *a = ctx;
	const cJSON *labels = json_object(json_object(object, "metadata"), "labels");
	return json_is(labels, SERVICE_LABEL, VISIBILITY_SERVICE) &&
	       json_is(object, "addressType", address_type(a)) &&
	       has_ports(a, json_array(object, "ports")) &&
	       has_endpoint(a, json_array(object, "endpoints"));
}

/* ---- what is told ---------------------------------------------------------------------------- */

/* Names the cure. 422: the slice is of the other family of addresses, which cannot be changed. */
static const char *cure_of(int http_status)
{
	if (http_status == 403)
		return "kubectl apply -f deploy/components/visibility/role.yaml; no restart is needed";
	if (http_status == 422)
		return "kubectl -n sluice-system delete endpointslice " VISIBILITY_SERVICE;
	return NULL;
}

static void on_failed(size_t i, const struct kube_answer *answer, void *ctx)
{
	const struct announcement *a = ctx;
	bool slice = i == OF_SLICE;
	log_event(a->options.log, LEVEL_WARN, "visibility-not-announced", "kind",
		slice ? "EndpointSlice" : "APIService", "name",
		slice ? VISIBILITY_SERVICE : VISIBILITY_APISERVICE, "why", answer->sentence,
		"effect", "kubectl get queuedjobs may not work; Jobs start as ever", "cure",
		cure_of(answer->http_status), NULL);
}

static void on_written(bool another, void *ctx)
{
	const struct announcement *a = ctx;
	log_event(a->options.log, another ? LEVEL_WARN : LEVEL_INFO, "visibility-announced",
		"address", a->options.address, "#port", LOG_NUMBER(a->port), "ca",
		a->ca ? "own" : NULL, "why",
		another ? "another client had changed what the API server is told" : NULL, NULL);
}

/* ---- its life -------------------------------------------------------------------------------- */

static char *slice_path(const struct announcement_options *o, const char *parameters)
{
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	path_format(&path, "/apis/discovery.k8s.io/v1/namespaces/%s/endpointslices/%s",
		o->namespace_name, VISIBILITY_SERVICE);
	buf_puts(&path, parameters);
	return buf_take(&path);
}

static struct upkeep *upkeep_of(struct announcement *a)
{
	const struct upkeep_object objects[OBJECTS] = {
		[OF_APISERVICE] = {APISERVICE_PATH, APISERVICE_PATH MANAGER, KUBE_MERGE_PATCH,
			.is_right = apiservice_is_right, .put = put_apiservice},
		[OF_SLICE] = {a->slice_path, a->slice_write_path, KUBE_APPLY_PATCH, .is_made = true,
			.is_right = slice_is_right, .put = put_slice},
	};
	struct upkeep_options o = {.client = a->options.client,
		.objects = objects,
		.n = a->options.address ? OBJECTS : OF_SLICE,
		.written = on_written,
		.failed = on_failed,
		.ctx = a,
		.seed = a->options.seed};
	return upkeep_new(&o);
}

struct announcement *announcement_new(const struct announcement_options *o)
{
	struct announcement *a = mem_alloc(sizeof(*a));
	a->options = *o;
	a->slice_path = slice_path(o, "");
	a->slice_write_path = slice_path(o, MANAGER "&force=true");
	a->upkeep = upkeep_of(a);
	return a;
}

void announcement_free(struct announcement *a)
{
	if (!a)
		return;
	upkeep_free(a->upkeep);
	free(a->slice_path);
	free(a->slice_write_path);
	free(a->ca);
	free(a);
}

void announcement_pause(struct announcement *a)
{
	upkeep_pause(a->upkeep);
	a->port = 0;
	free(a->ca);
	a->ca = NULL;
}

static bool is_same(const char *one, const char *other)
{
	return one && other ? strcmp(one, other) == 0 : one == other;
}

/* Takes over what is to be told. Whether it is another than before. */
static bool take_over(struct announcement *a, uint16_t port, const char *ca)
{
	if (a->port == port && is_same(a->ca, ca))
		return false;
	a->port = port;
	free(a->ca);
	a->ca = ca ? mem_strdup(ca) : NULL;
	return true;
}

void announcement_tick(struct announcement *a, uint16_t port, const char *ca, int64_t tick_ms)
{
	if (port == 0) {
		announcement_pause(a);
		return;
	}
	bool changed = take_over(a, port, ca);
	if (ca || a->options.address)
		upkeep_tick(a->upkeep, changed, tick_ms);
}
