#include "controller/nodes/rendezvous.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "controller/common/path.h"
#include "controller/kube/upkeep.h"
#include "node/wire.h"

#define MANAGER "?fieldManager=sluice-nodes"

enum { WHERE_SIZE = 64 }; /* "[address]:port" */

struct rendezvous {
	struct rendezvous_options options;
	struct upkeep *upkeep;
	char *path, *write_path;
	char where[WHERE_SIZE]; /* "": not known yet */
	char *certificate;
};

/* ---- the object ------------------------------------------------------------------------------ */

static bool is_right(const cJSON *object, void *ctx)
{
	const struct rendezvous *r = ctx;
	const cJSON *data = json_object(object, "data");
	return json_is(data, "address", r->where) && json_is(data, "certificate", r->certificate);
}

static void put(struct buf *out, void *ctx)
{
	const struct rendezvous *r = ctx;
	struct json_writer w = json_writer_object(out);
	jw_object_of(&w, "data", "address", r->where, "certificate", r->certificate, NULL);
	jw_close(&w);
}

static void on_written(bool another, void *ctx)
{
	const struct rendezvous *r = ctx;
	log_event(r->options.log, another ? LEVEL_WARN : LEVEL_INFO, "nodes-told", "address",
		r->where, "why",
		another ? "another client had changed ConfigMap " NODES_CONFIGMAP : NULL, NULL);
}

static void on_failed(size_t i, const struct kube_answer *answer, void *ctx)
{
	const struct rendezvous *r = ctx;
	(void)i;
	log_event(r->options.log, LEVEL_WARN, "nodes-not-told", "kind", "ConfigMap", "namespace",
		r->options.namespace_name, "name", NODES_CONFIGMAP, "why", answer->sentence,
		"effect",
		"agents of nodes that are not connected do not find the leader; Jobs start as ever",
		"cure",
		answer->http_status == 403 || answer->http_status == 404
			? "kubectl apply -k your overlay with deploy/components/node-agent; no restart is needed"
			: NULL,
		NULL);
}

/* ---- its life -------------------------------------------------------------------------------- */

static char *path_of(const char *namespace_name, const char *parameters)
{
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	path_format(&path, "/api/v1/namespaces/%s/configmaps/" NODES_CONFIGMAP, namespace_name);
	buf_puts(&path, parameters);
	return buf_take(&path);
}

struct rendezvous *rendezvous_new(const struct rendezvous_options *o)
{
	struct rendezvous *r = mem_alloc(sizeof(*r));
	*r = (struct rendezvous){.options = *o,
		.path = path_of(o->namespace_name, ""),
		.write_path = path_of(o->namespace_name, MANAGER)};
	struct upkeep_object object = {r->path, r->write_path, KUBE_MERGE_PATCH, .is_needed = true,
		.is_right = is_right, .put = put};
	struct upkeep_options upkeep = {.client = o->client,
		.objects = &object,
		.n = 1,
		.written = on_written,
		.failed = on_failed,
		.ctx = r,
		.seed = o->seed};
	r->upkeep = upkeep_new(&upkeep);
	return r;
}

void rendezvous_free(struct rendezvous *r)
{
	if (!r)
		return;
	upkeep_free(r->upkeep);
	free(r->path);
	free(r->write_path);
	free(r->certificate);
	free(r);
}

void rendezvous_pause(struct rendezvous *r)
{
	upkeep_pause(r->upkeep);
	r->where[0] = '\0';
}

void rendezvous_tick(struct rendezvous *r, uint16_t port, const char *certificate, int64_t tick_ms)
{
	char where[WHERE_SIZE];
	bool is_v6 = strchr(r->options.address, ':');
	snprintf(where, sizeof(where), is_v6 ? "[%.45s]:%u" : "%.45s:%u", r->options.address,
		(unsigned)port);
	bool changed = strcmp(where, r->where) != 0 || !r->certificate ||
		       strcmp(certificate, r->certificate) != 0;
	if (changed) {
		strcpy(r->where, where);
		free(r->certificate);
		r->certificate = mem_strdup(certificate);
	}
	upkeep_tick(r->upkeep, changed, tick_ms);
}
