#include "controller/answers/node_report.h"

#include <string.h>

#include "base/instant.h"
#include "sluice/quantity.h"

/* ---- the members ------------------------------------------------------------------------------ */

static const struct view_member node_rows[] = {
	{"name", VIEW_TOLD, 0, 0, "Its name.", .as = "string"},
	{"flavors", VIEW_TOLD, 0, 0,
		"The ResourceFlavors whose nodeLabels it has: those with the most labels first, those of idle resources last.",
		.as = "string[]"},
	{"ready", VIEW_TOLD, 0, 0,
		"False: Kubernetes has tainted it node.kubernetes.io/not-ready or unreachable.",
		.as = "boolean"},
	{"cordoned", VIEW_TOLD, 0, 0, "True: it is closed to new pods (spec.unschedulable).",
		.as = "boolean"},
	{"taints", VIEW_TOLD, 0, 0, "The keys of its taints.", .as = "string[]"},
	{"allocatable", VIEW_TOLD, 0, 0, "What it has for pods, by resource.", .as = "object"},
	{"requested", VIEW_TOLD, 0, 0,
		"What the pods that are bound to it ask for. Absent where podsFollowed is false.",
		.as = "object"},
	{"requestedByJobs", VIEW_TOLD, 0, 0,
		"How much of that pods of Jobs in Sluice's queues ask for.", .as = "object"},
	{"pods", VIEW_TOLD, 0, 0, "How many pods are bound to it and have not ended.",
		.as = "integer"},
};
static const struct view node_row_view = VIEW("NodeReportNode", NULL, node_rows);

static const struct view_member report_rows[] = {
	{"asOf", VIEW_TOLD, 0, 0, "By the controller's clock.", .as = "time"},
	{"podsFollowed", VIEW_TOLD, 0, 0,
		"True: what pods ask for is known. Else podsReason and podsMessage tell why not.",
		.as = "boolean"},
	{"podsReason", VIEW_TOLD, 0, 0, "In one word: NotAskedFor, NotListedYet or Forbidden.",
		.as = "string"},
	{"podsMessage", VIEW_TOLD, 0, 0, "The whole sentence.", .as = "string"},
	{"nodes", VIEW_TOLD, 0, 0, "Each Node, by name.", .of = &node_row_view},
};
const struct view node_report_view = VIEW("NodeReport",
	"Nodes as the controller knows them: their flavors, what they have, and what their pods ask for. It names no Job and no pod; what Nodes lend is in overcommits.",
	report_rows);

/* ---- one node --------------------------------------------------------------------------------- */

static bool is_ready(const struct node_view *v)
{
	for (size_t i = 0; i < v->ntaints; i++)
		if (strcmp(v->taints[i].key, "node.kubernetes.io/not-ready") == 0 ||
			strcmp(v->taints[i].key, "node.kubernetes.io/unreachable") == 0)
			return false;
	return true;
}

/* Puts each key once: a taint may be there with two effects. */
static void put_taints(struct json_writer *w, const struct node_view *v)
{
	jw_array(w, "taints");
	for (size_t i = 0; i < v->ntaints; i++) {
		size_t k = 0;
		while (k < i && strcmp(v->taints[k].key, v->taints[i].key) != 0)
			k++;
		if (k == i)
			jw_text(w, NULL, v->taints[i].key);
	}
	jw_end(w);
}

enum amounts { ALLOCATABLE, REQUESTED, OF_JOBS };

static void put_amounts(
	struct json_writer *w, const char *key, const struct node_view *v, enum amounts which)
{
	jw_object(w, key);
	for (size_t i = 0; i < v->namounts; i++) {
		const struct node_amount_view *a = &v->amounts[i];
		int64_t amount = which == ALLOCATABLE ? a->allocatable
				 : which == REQUESTED ? a->requested
						      : a->of_jobs;
		if (which == ALLOCATABLE || amount > 0)
			quantity_put(w, a->resource, amount, a->resource);
	}
	jw_end(w);
}

struct to_put {
	struct json_writer *w;
	bool pods_followed;
};

static void put_node(const struct node_view *v, void *ctx)
{
	const struct to_put *to = ctx;
	struct json_writer *w = to->w;
	jw_object(w, NULL);
	jw_text(w, "name", v->name);
	jw_array_of(w, "flavors", v->flavors, v->nflavors);
	jw_bool(w, "ready", is_ready(v));
	jw_bool(w, "cordoned", v->cordoned);
	put_taints(w, v);
	put_amounts(w, "allocatable", v, ALLOCATABLE);
	if (to->pods_followed) {
		put_amounts(w, "requested", v, REQUESTED);
		put_amounts(w, "requestedByJobs", v, OF_JOBS);
		jw_int(w, "pods", (int64_t)v->pods);
	}
	jw_end(w);
}

/* ---- all of them ------------------------------------------------------------------------------ */

/* Says why the pods of nodes are not known. *ret_reason NULL: they are. */
static void why_not(
	const struct report_sources *s, const char **ret_reason, const char **ret_message)
{
	enum followed_pods pods = queue_followed_pods(s->queue);
	*ret_reason = *ret_message = NULL;
	if (pods == PODS_UNWANTED) {
		*ret_reason = "NotAskedFor";
		*ret_message =
			"Pods are followed only while a ClusterQueue has clusterFit Now, or a Job fills gaps (gapFillers).";
	} else if (s->pods_denied) {
		*ret_reason = "Forbidden";
		*ret_message =
			"The controller may not read pods: kubectl apply -k deploy/rbac gives it that right.";
	} else if (pods == PODS_AWAITED) {
		*ret_reason = "NotListedYet";
		*ret_message = "The controller has not read all pods yet.";
	}
}

/* What is behind the list counts for the tag of the answer (net/coding.h), as the list does. */
void node_report_put(const struct report_sources *s, struct json_writer *w)
{
	const char *reason, *message;
	why_not(s, &reason, &message);
	struct to_put to = {w, !reason};
	instant_put(w, "asOf", s->now_ms);
	jw_array(w, "nodes");
	queue_each_node(s->queue, put_node, &to);
	jw_end(w);
	jw_bool(w, "podsFollowed", !reason);
	if (reason)
		jw_texts(w, "podsReason", reason, "podsMessage", message, NULL);
}
