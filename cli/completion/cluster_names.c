#include "cli/completion/cluster_names.h"

#include <ev.h>
#include <string.h>

#include "base/must.h"
#include "cli/commands.h"
#include "controller/common/path.h"
#include "sluice/keys.h"

#define JOBS "/apis/batch/v1/namespaces/%s/jobs"
/* Of each object its metadata alone. */
#define ONLY_METADATA "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"

/* %s: the namespace. */
static const struct kind {
	const char *name, *path, *query;
} kinds[] = {
	{"JOB", JOBS, "labelSelector=" QUEUE_LABEL "&"},
	{"UNQUEUED-JOB", JOBS, "labelSelector=!" QUEUE_LABEL "&"},
	{"QUEUE", SLUICE_ROOT "/namespaces/%s/localqueues", ""},
	{"CLUSTERQUEUE", SLUICE_ROOT "/clusterqueues", ""},
	{"CLASS", SLUICE_ROOT "/workloadpriorityclasses", ""},
	{"CALENDAR", SLUICE_ROOT "/calendars", ""},
	{"FLAVOR", SLUICE_ROOT "/resourceflavors", ""},
	{"NODE", "/api/v1/nodes", ""},
	{"NAMESPACE", "/api/v1/namespaces", ""},
	/* By their kinds, as live_object.h has them. */
	{"ClusterQueue", SLUICE_ROOT "/clusterqueues", ""},
	{"LocalQueue", SLUICE_ROOT "/namespaces/%s/localqueues", ""},
	{"Cohort", SLUICE_ROOT "/cohorts", ""},
	{"ResourceFlavor", SLUICE_ROOT "/resourceflavors", ""},
	{"Calendar", SLUICE_ROOT "/calendars", ""},
	{"RunPolicy", SLUICE_ROOT "/runpolicies", ""},
	{"PricePlan", SLUICE_ROOT "/priceplans", ""},
	{"Budget", SLUICE_ROOT "/budgets", ""},
	{"AdvanceReservation", SLUICE_ROOT "/advancereservations", ""},
	{"WorkloadPriorityClass", SLUICE_ROOT "/workloadpriorityclasses", ""},
};

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	must_not_get_here(); /* a flag or a command wants what is not in the table above */
}

/* A shell is to see names, and nothing that only looks like one. */
static void put_name(const char *name, struct buf *out)
{
	if (flag_check_name("", name, NULL) == 0)
		buf_printf(out, "%s\n", name);
}

static void list(struct ev_loop *loop, struct kube_client *client, const struct kind *k,
	const char *ns, struct buf *ret_lines)
{
	struct json *json = json_new(QUESTION_TREE_MAX);
	const cJSON *root;
	struct question_facts facts;
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	path_format(&path, k->path, ns);
	buf_printf(&path, "?%slimit=%d", k->query, CLUSTER_NAMES_MAX);
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

void cluster_names_ask(struct ev_loop *loop, struct kube_client *client, const char *kind,
	const char *ns, struct buf *ret_lines)
{
	list(loop, client, find_kind(kind), ns, ret_lines);
}

void cluster_names(const char *kind, const struct completion_place *place, struct buf *ret_lines)
{
	const struct kind *k = find_kind(kind);
	struct kube_config *config;
	if (kube_config_load(&place->kube, &config, NULL) < 0)
		return;
	const char *ns = place->namespace_name ? place->namespace_name : config->namespace_name;
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	struct kube_client *client = kube_client_new(loop, config,
		&(struct kube_client_options){.user_agent = "sluice",
			.answer_ceiling = QUESTION_ANSWER_MAX,
			.connect_ms = CLUSTER_NAMES_WAIT_MS,
			.credential = {.plugin_timeout_ms = CLUSTER_NAMES_WAIT_MS}});
	list(loop, client, k, ns, ret_lines);
	kube_client_free(client);
	ev_loop_destroy(loop);
	kube_config_free(config);
}
