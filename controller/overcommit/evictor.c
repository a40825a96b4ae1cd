#include "controller/overcommit/evictor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/mem.h"
#include "controller/common/path.h"
#include "sluice/queue.h"

enum { BODY_MAX_BYTES = 4096, TIMEOUT_MS = 10000 };

struct eviction {
	struct evictor *evictor;
	char *pod;
	struct uid uid;
	enum reclaim_trigger trigger;
	char why[EVICTION_WHY_MAX];
	int64_t now_ms;
	uint64_t id; /* 0: free */
};

struct evictor {
	struct kube_client *client;
	struct events *events;
	struct log *log;
	evictor_answer_fn *fn;
	void *ctx;
	struct eviction eviction[EVICTIONS_MAX];
};

struct evictor *evictor_new(struct kube_client *client, struct events *events, struct log *log,
	evictor_answer_fn *fn, void *ctx)
{
	struct evictor *e = mem_alloc(sizeof(*e));
	e->client = client;
	e->events = events;
	e->log = log;
	e->fn = fn;
	e->ctx = ctx;
	return e;
}

void evictor_free(struct evictor *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < EVICTIONS_MAX; i++) {
		kube_client_cancel(e->client, e->eviction[i].id);
		free(e->eviction[i].pod);
	}
	free(e);
}

/* Gives the namespace, to be freed; *ret_name lies in pod. */
static char *split(const char *pod, const char **ret_name)
{
	const char *slash = strchr(pod, '/');
	*ret_name = slash + 1;
	return mem_strndup(pod, (size_t)(slash - pod));
}

static void tell(const struct evictor *e, const struct eviction *v)
{
	const char *name;
	char *ns = split(v->pod, &name);
	struct events_subject of = {v->uid, ns, name, "Pod"};
	if (e->events)
		events_tell(e->events, &of, EVENTS_NORMAL,
			stop_reason_name(STOP_REASON_IDLE_RECLAIMED), v->why, v->now_ms);
	free(ns);
}

static void on_answer(const struct kube_answer *a, void *ctx)
{
	struct eviction v = *(struct eviction *)ctx;
	struct evictor *e = v.evictor;
	*(struct eviction *)ctx = (struct eviction){0};
	bool gone = a->outcome == KUBE_DONE || a->outcome == KUBE_GONE;
	if (a->outcome == KUBE_DONE)
		tell(e, &v);
	if (!gone)
		log_event(
			e->log, LEVEL_WARN, "not-evicted", "pod", v.pod, "why", a->sentence, NULL);
	e->fn(v.pod, v.trigger, gone, e->ctx);
	free(v.pod);
}

static void put_body(struct buf *body, const char *ns, const char *name, const struct uid *uid)
{
	struct json_writer w = json_writer_object(body);
	jw_texts(&w, "apiVersion", "policy/v1", "kind", "Eviction", NULL);
	jw_object_of(&w, "metadata", "namespace", ns, "name", name, NULL);
	jw_object(&w, "deleteOptions");
	jw_object(&w, "preconditions");
	uid_put(&w, "uid", uid);
	jw_close(&w);
}

static uint64_t send_off(struct evictor *e, struct eviction *v)
{
	struct buf path, body;
	const char *name;
	char *ns = split(v->pod, &name);
	buf_init(&path, PATH_MAX_BYTES);
	buf_init(&body, BODY_MAX_BYTES);
	path_format(&path, "/api/v1/namespaces/%s/pods/%s/eviction", ns, name);
	put_body(&body, ns, name, &v->uid);
	struct kube_request request = {.method = KUBE_POST,
		.path = buf_text(&path),
		.body = buf_slice(&body),
		.timeout_ms = TIMEOUT_MS,
		.urgent = true};
	uint64_t id = kube_client_send(e->client, &request, on_answer, v);
	buf_done(&path);
	buf_done(&body);
	free(ns);
	return id;
}

bool evictor_send(struct evictor *e, const char *pod, const struct uid *uid, enum reclaim_trigger t,
	const char *why, int64_t now_ms)
{
	size_t i = 0;
	while (i < EVICTIONS_MAX && e->eviction[i].id)
		i++;
	if (i == EVICTIONS_MAX)
		return false;
	struct eviction *v = &e->eviction[i];
	*v = (struct eviction){
		.evictor = e, .pod = mem_strdup(pod), .uid = *uid, .trigger = t, .now_ms = now_ms};
	snprintf(v->why, sizeof(v->why), "%s", why);
	v->id = send_off(e, v);
	return true;
}
