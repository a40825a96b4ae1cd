#include "cli/completion/cluster_names.h"

#include <ev.h>
#include <string.h>

#include "base/must.h"
#include "cli/commands.h"
#include "cli/live_object.h"
#include "controller/common/path.h"
#include "sluice/keys.h"

#define JOBS "/apis/batch/v1/namespaces/%s/jobs"
/* The header Accept that asks for the metadata of objects alone. */
#define ONLY_METADATA "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"

/* Kinds that live_object.h does not have, or not by this name. %s: the namespace. */
static const struct kind {
	const char *name, *path, *query;
} kinds[] = {
	{"JOB", JOBS, "labelSelector=" QUEUE_LABEL "&"},
	{"UNQUEUED-JOB", JOBS, "labelSelector=!" QUEUE_LABEL "&"},
	{"CLASS", SLUICE_ROOT "/workloadpriorityclasses", ""},
	{"NODE", "/api/v1/nodes", ""},
	{"NAMESPACE", "/api/v1/namespaces", ""},
};

/* Finds a kind of these; NULL: it is one of live_object.h. */
static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	must(live_kind_by_name(
		slice_of(name))); /* else a flag or a command wants what nobody knows */
	return NULL;
}

static void put_path(const char *name, const char *ns, struct buf *path)
{
	const struct kind *kind = find_kind(name);
	const struct live_kind *live = kind ? NULL : live_kind_by_name(slice_of(name));
	if (kind)
		path_format(path, kind->path, ns);
	else if (live->namespaced)
		path_format(path, SLUICE_ROOT "/namespaces/%s/%s", ns, live->plural);
	else
		path_format(path, SLUICE_ROOT "/%s", live->plural);
	buf_printf(path, "?%slimit=%d", kind ? kind->query : "", CLUSTER_NAMES_MAX);
}

/* Appends a name, if it is one: a shell is to see nothing that only looks like a name. */
static void put_name(const char *name, struct buf *out)
{
	if (flag_check_name("", name, NULL) == 0)
		buf_printf(out, "%s\n", name);
}

void cluster_names_ask(struct ev_loop *loop, struct kube_client *client, const char *kind,
	const char *ns, struct buf *ret_lines)
{
	struct json *json = json_new(QUESTION_TREE_MAX);
	const cJSON *root;
	struct question_facts facts;
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	put_path(kind, ns, &path);
	const struct kube_request r = {.method = KUBE_GET,
		.path = buf_text(&path),
		.accept = ONLY_METADATA,
		.timeout_ms = CLUSTER_NAMES_WAIT_MS};
	if (question_send(loop, client, &r, json, &root, &facts, NULL) == 0)
		json_each(item, json_array(root, "items"))
			put_name(text_of(json_object(item, "metadata"), "name"), ret_lines);
	buf_done(&path);
	json_free(json);
}

void cluster_names(const char *kind, const struct completion_place *place, struct buf *ret_lines)
{
	struct kube_config *config;
	find_kind(kind);
	if (kube_config_load(&place->kube, &config, NULL) < 0)
		return;
	const char *ns = place->namespace_name ? place->namespace_name : config->namespace_name;
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	struct kube_client *client = kube_client_new(loop, config,
		&(struct kube_client_options){.user_agent = "sluice",
			.answer_ceiling = QUESTION_ANSWER_MAX,
			.connect_ms = CLUSTER_NAMES_WAIT_MS,
			.credential = {.plugin_timeout_ms = CLUSTER_NAMES_WAIT_MS}});
	cluster_names_ask(loop, client, kind, ns, ret_lines);
	kube_client_free(client);
	ev_loop_destroy(loop);
	kube_config_free(config);
}
