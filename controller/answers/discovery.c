#include "controller/answers/discovery.h"

#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "controller/past/answer.h"
#include "controller/past/cost.h"
#include "controller/answers/node_report.h"
#include "controller/answers/queued_job.h"
#include "controller/answers/report_views.h"
#include "controller/answers/start_review.h"
#include "controller/answers/summary.h"
#include "controller/answers/timeline.h"
#include "controller/answers/whatif_text.h"

#define GROUP_VERSION VISIBILITY_GROUP "/" VISIBILITY_VERSION
#define NAMED "dev.sluice.visibility.v1alpha1."
#define META "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
#define REF "#/components/schemas/"
#define OPENAPI_PATH "/openapi/v3" VISIBILITY_ROOT

enum { NAME_SIZE = 200, SCHEMAS_MAX = 96 };

static const struct resource_row {
	const char *name, *singular, *kind;
	bool namespaced;
	const char *verbs[3];
	const char *short_name; /* NULL: none */
} RESOURCES[] = {
	{"queuedjobs", "queuedjob", "QueuedJob", true, {"get", "list", "watch"}, "qj"},
	{"queuedjobs/start", "", "StartReview", true, {"get"}, NULL},
	{"whatifs", "whatif", "WhatIf", false, {"list"}, NULL},
	{"costs", "cost", "CostReport", true, {"list"}, NULL},
	{"reports", "report", "UsageReport", true, {"list"}, NULL},
	{"histories", "history", "JobHistory", true, {"list"}, NULL},
	{"decisions", "decision", "DecisionReport", true, {"list"}, NULL},
	{"timelines", "timeline", "Timeline", true, {"list"}, NULL},
	{"summaries", "summary", "SummaryReport", true, {"list"}, NULL},
	{"queuereports", "queuereport", "QueueReport", true, {"list"}, NULL},
	{"budgetreports", "budgetreport", "BudgetReport", false, {"list"}, NULL},
	{"nodereports", "nodereport", "NodeReport", false, {"list"}, NULL},
	{"overcommits", "overcommit", "OvercommitReport", false, {"get", "list"}, NULL},
	{"clusterqueues/queuedjobs", "", "QueuedJobList", false, {"get"}, NULL},
	{"clusterqueues/week", "", "ClusterQueueWeek", false, {"get"}, NULL},
	{"clusterqueues/usage", "", "ClusterQueueUsage", false, {"get"}, NULL},
};

#define NRESOURCES (sizeof(RESOURCES) / sizeof(RESOURCES[0]))

/* ---- groups and resources -------------------------------------------------------------------- */

static void put_version(struct json_writer *w, const char *key)
{
	jw_object_of(w, key, "groupVersion", GROUP_VERSION, "version", VISIBILITY_VERSION, NULL);
}

static void put_group(struct json_writer *w)
{
	jw_text(w, "name", VISIBILITY_GROUP);
	jw_array(w, "versions");
	put_version(w, NULL);
	jw_end(w);
	put_version(w, "preferredVersion");
}

static void put_groups(struct json_writer *w)
{
	jw_texts(w, "kind", "APIGroupList", "apiVersion", "v1", NULL);
	jw_array(w, "groups");
	jw_object(w, NULL);
	put_group(w);
}

static void put_only_group(struct json_writer *w)
{
	jw_texts(w, "kind", "APIGroup", "apiVersion", "v1", NULL);
	put_group(w);
}

static void put_resource(struct json_writer *w, const struct resource_row *r)
{
	jw_object(w, NULL);
	jw_texts(w, "name", r->name, "singularName", r->singular, NULL);
	jw_bool(w, "namespaced", r->namespaced);
	jw_text(w, "kind", r->kind);
	jw_array_of(w, "verbs", r->verbs, 3);
	if (r->short_name)
		jw_array_of(w, "shortNames", &r->short_name, 1);
	jw_end(w);
}

static void put_resources(struct json_writer *w)
{
	jw_texts(w, "kind", "APIResourceList", "apiVersion", "v1", "groupVersion", GROUP_VERSION,
		NULL);
	jw_array(w, "resources");
	for (size_t i = 0; i < NRESOURCES; i++)
		put_resource(w, &RESOURCES[i]);
}

/* ---- OpenAPI: schemas ------------------------------------------------------------------------ */

static void put_kind(struct json_writer *w, const char *key, const char *kind)
{
	jw_object_of(w, key, "group", VISIBILITY_GROUP, "version", VISIBILITY_VERSION, "kind", kind,
		NULL);
}

static void put_ref(struct json_writer *w, const char *key, const char *schema)
{
	jw_object(w, key);
	jw_textf(w, "$ref", REF "%s%s", strcmp(schema, META) == 0 ? "" : NAMED, schema);
	jw_end(w);
}

/* Puts "type" and the type of the items, or of the values. */
static void put_type_of(struct json_writer *w, const char *type, const char *key, const char *items)
{
	jw_text(w, "type", type);
	jw_object_of(w, key, "type", items, NULL);
}

static const char *name_of(const struct view_member *m)
{
	static const char *const names[] = {[VIEW_TEXT] = "string",
		[VIEW_SENTENCE] = "string",
		[VIEW_HERE] = "string",
		[VIEW_NULLABLE] = "string",
		[VIEW_INT] = "integer",
		[VIEW_COUNT] = "integer",
		[VIEW_TIME] = "time",
		[VIEW_EXACT] = "time",
		[VIEW_SECONDS] = "number",
		[VIEW_MONEY] = "string",
		[VIEW_BOOL] = "boolean",
		[VIEW_FLAG] = "boolean"};
	return m->type <= VIEW_FLAG ? names[m->type] : m->of ? m->of->name : m->as;
}

/* Puts an object whose members are not told here. */
static void put_tree(struct json_writer *w)
{
	jw_text(w, "type", "object");
	jw_bool(w, "x-kubernetes-preserve-unknown-fields", true);
}

static void put_type(struct json_writer *w, const struct view_member *m)
{
	const char *name = name_of(m);
	bool is_list = m->of && m->type != VIEW_PART && m->type != VIEW_OBJECT;
	bool is_meta = strcmp(name, "ObjectMeta") == 0;
	if (is_list) {
		jw_text(w, "type", "array");
		put_ref(w, "items", m->of->name);
	} else if (m->of || is_meta) {
		jw_array(w, "allOf");
		put_ref(w, NULL, is_meta ? META : name);
		jw_end(w);
	} else if (strcmp(name, "string[]") == 0) {
		put_type_of(w, "array", "items", "string");
	} else if (strcmp(name, "tree") == 0) {
		put_tree(w);
	} else if (strcmp(name, "tree[]") == 0) {
		jw_text(w, "type", "array");
		jw_object(w, "items");
		put_tree(w);
		jw_end(w);
	} else if (strcmp(name, "amounts") == 0) {
		put_type_of(w, "object", "additionalProperties", "number");
	} else if (strcmp(name, "object") == 0) {
		put_type_of(w, "object", "additionalProperties", "string");
	} else if (strcmp(name, "time") == 0) {
		jw_texts(w, "type", "string", "format", "date-time", NULL);
	} else {
		jw_text(w, "type", name);
	}
}

static void put_member(struct json_writer *w, const struct view_member *m)
{
	jw_object(w, m->name);
	put_type(w, m);
	jw_text(w, "description", m->sentence);
	jw_end(w);
}

static void put_kinds(struct json_writer *w, const char *kind)
{
	jw_array(w, "x-kubernetes-group-version-kind");
	put_kind(w, NULL, kind);
	jw_end(w);
}

static void begin_schema(struct json_writer *w, const char *name, const char *sentence)
{
	char key[NAME_SIZE];
	snprintf(key, sizeof(key), NAMED "%s", name);
	jw_object(w, key);
	jw_text(w, "type", "object");
	if (sentence)
		jw_text(w, "description", sentence);
	jw_object(w, "properties");
}

/* Puts a schema. Schemas within it are described by the member. */
static void put_schema(struct json_writer *w, const struct view *v)
{
	const struct view_member common[] = {
		{"apiVersion", VIEW_TEXT, 0, 0, GROUP_VERSION}, {"kind", VIEW_TEXT, 0, 0, v->name}};
	begin_schema(w, v->name, v->sentence);
	for (size_t i = 0; i < 2 && v->sentence; i++)
		put_member(w, &common[i]);
	for (size_t i = 0; i < v->n; i++)
		put_member(w, &v->member[i]);
	jw_end(w);
	if (v->sentence)
		put_kinds(w, v->name);
	jw_end(w);
}

static void put_list_schema(struct json_writer *w)
{
	static const char *const plain[] = {
		"apiVersion", "string", "kind", "string", "metadata", "object"};
	begin_schema(w, "QueuedJobList", "QueuedJobs in the order of the queue.");
	for (size_t i = 0; i < 6; i += 2)
		jw_object_of(w, plain[i], "type", plain[i + 1], NULL);
	jw_object(w, "items");
	jw_text(w, "type", "array");
	put_ref(w, "items", "QueuedJob");
	jw_end(w);
	jw_end(w);
	put_kinds(w, "QueuedJobList");
	jw_end(w);
}

/* All views below a view, each once. */
struct schemas {
	const struct view *view[SCHEMAS_MAX];
	size_t n;
};

static void collect(struct schemas *s, const struct view *v)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->view[i] == v)
			return;
	must(s->n < SCHEMAS_MAX);
	s->view[s->n++] = v;
	for (size_t i = 0; i < v->n; i++)
		if (v->member[i].of)
			collect(s, v->member[i].of);
}

static void put_schemas(struct json_writer *w)
{
	static const struct view *const kinds[] = {&queued_job_view, &start_review_view,
		&whatif_view, &cost_report_view, &usage_report_view, &job_history_view,
		&run_spans_view, &decision_report_view, &queue_report_view, &budget_report_view,
		&node_report_view, &overcommit_report_view, &week_view, &usage_view, &timeline_view,
		&summary_view};
	struct schemas all = {.n = 0};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		collect(&all, kinds[i]);
	jw_object(w, "schemas");
	for (size_t i = 0; i < all.n; i++)
		put_schema(w, all.view[i]);
	put_list_schema(w);
	jw_object_of(w, META, "type", "object", "description",
		"Name, namespace, uid, creation and labels of the Job.", NULL);
	jw_end(w);
}

/* ---- OpenAPI: paths -------------------------------------------------------------------------- */

static void put_answer(struct json_writer *w, const char *schema)
{
	jw_object(w, "responses");
	jw_object(w, "200");
	jw_text(w, "description", "OK");
	jw_object(w, "content");
	jw_object(w, "application/json");
	put_ref(w, "schema", schema);
	for (int i = 0; i < 4; i++)
		jw_end(w);
}

static void put_path(struct json_writer *w, const char *path, const char *action, const char *kind)
{
	bool is_list = strcmp(action, "list") == 0 && strcmp(kind, "QueuedJob") == 0;
	jw_object(w, path);
	jw_object(w, "get");
	jw_text(w, "x-kubernetes-action", action);
	put_kind(w, "x-kubernetes-group-version-kind", kind);
	put_answer(w, is_list ? "QueuedJobList" : kind);
	jw_end(w);
	jw_end(w);
}

static bool has_verb(const struct resource_row *r, const char *verb)
{
	for (size_t i = 0; i < 3 && r->verbs[i]; i++)
		if (strcmp(r->verbs[i], verb) == 0)
			return true;
	return false;
}

static void put_paths_of(struct json_writer *w, const struct resource_row *r)
{
	static const char *const below = VISIBILITY_ROOT "/namespaces/{namespace}/";
	char path[NAME_SIZE];
	const char *part = strchr(r->name, '/');
	int len = part ? (int)(part - r->name) : (int)strlen(r->name);
	snprintf(path, sizeof(path), VISIBILITY_ROOT "/%s", r->name);
	if (has_verb(r, "list"))
		put_path(w, path, "list", r->kind);
	snprintf(path, sizeof(path), "%s%s", below, r->name);
	if (has_verb(r, "list") && r->namespaced)
		put_path(w, path, "list", r->kind);
	snprintf(path, sizeof(path), "%s%.*s/{name}%s", r->namespaced ? below : VISIBILITY_ROOT "/",
		len, r->name, part ? part : "");
	if (has_verb(r, "get") && strcmp(r->kind, "QueuedJobList") != 0)
		put_path(w, path, "get", r->kind);
}

static void put_openapi(struct json_writer *w)
{
	jw_text(w, "openapi", "3.0.0");
	jw_object_of(w, "info", "title", "Sluice", "version", SLUICE_VERSION, NULL);
	jw_object(w, "paths");
	for (size_t i = 0; i < NRESOURCES; i++)
		put_paths_of(w, &RESOURCES[i]);
	jw_end(w);
	jw_object(w, "components");
	put_schemas(w);
}

static void put_index(struct json_writer *w)
{
	jw_object(w, "paths");
	jw_object_of(w, "apis/" GROUP_VERSION, "serverRelativeURL",
		OPENAPI_PATH "?hash=" SLUICE_VERSION, NULL);
}

/* ---- all of it ------------------------------------------------------------------------------- */

bool discovery_document(const char *path, struct buf *out)
{
	static const struct {
		const char *path;
		void (*put)(struct json_writer
				*w); /* puts into the object; what it leaves open is ended */
	} documents[] = {
		{"/apis", put_groups},
		{"/apis/" VISIBILITY_GROUP, put_only_group},
		{VISIBILITY_ROOT, put_resources},
		{"/openapi/v3", put_index},
		{OPENAPI_PATH, put_openapi},
	};
	for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
		if (strcmp(path, documents[i].path) != 0)
			continue;
		struct json_writer w = json_writer_object(out);
		documents[i].put(&w);
		jw_close(&w);
		buf_putc(out, '\n');
		return true;
	}
	return false;
}
