#include "cli/simulate/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/simulate/documents.h"
#include "cli/simulate/job_notes.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_node.h"
#include "controller/wire/decode_template.h"
#include "controller/wire/decode_text.h"

#define FILE_MAX_BYTES (size_t)(1024u << 20)
#define OURS "sluice.dev/v1alpha1"
#define WHERE_SIZE 4200

struct reader {
	struct world *w;
	const char *name; /* of the file, for sentences */
	struct documents *documents;
	char where[32]; /* in front of the object's paths: "", or "items[3]." */
};

/* A text member put into an object that lacks it, for as long as the object is decoded: it lives
 * in the caller's frame, and the tree never frees one by one (json.h). */
struct graft {
	cJSON item;
};

static void graft_text(struct graft *g, cJSON *object, const char *key, const char *text)
{
	g->item = (cJSON){.type = cJSON_String, .string = (char *)key, .valuestring = (char *)text};
	cJSON **link = &object->child;
	for (; *link; link = &(*link)->next)
		g->item.prev = *link;
	*link = &g->item;
}

/* ---- sentences ------------------------------------------------------------------------------- */

static size_t line_of(struct reader *r, const char *field)
{
	char path[600];
	snprintf(path, sizeof(path), "%s%s", r->where, field);
	return documents_line_of(r->documents, path);
}

/* "Job a/b: spec.parallelism: must be ..." gets file and line of the field in front. */
static int located(struct reader *r, int code, struct err *e)
{
	const char *at = strstr(e->text, ": ");
	err_wrap(e, "%s:%zu", r->name, line_of(r, at ? at + 2 : ""));
	return code;
}

/* A field that Kueue's older versions called otherwise would be passed over in silence. */
static int check_old_name(
	const cJSON *o, const char *old, const char *now, const char *kind, struct err *e)
{
	if (!json_get(json_object(o, "spec"), old))
		return 0;
	return err_set(e, ERR_INVALID, "%s %s: spec.%s: is now called %s; rename it", kind,
		decode_name(o), old, now);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static int read_clusterqueue(struct reader *r, const cJSON *o, struct err *e)
{
	struct clusterqueue_spec *s = NULL;
	int rc = check_old_name(o, "cohort", "cohortName", "ClusterQueue", e);
	if (rc == 0)
		rc = decode_clusterqueue(o, &s, e);
	if (rc == 0)
		rc = world_add_clusterqueue(r->w, s, e);
	free(s);
	return rc;
}

static int read_localqueue(struct reader *r, const cJSON *o, struct err *e)
{
	struct localqueue_spec *s = NULL;
	int rc = decode_localqueue(o, &s, e);
	if (rc == 0)
		rc = world_add_localqueue(r->w, s, e);
	free(s);
	return rc;
}

static int read_flavor(struct reader *r, const cJSON *o, struct err *e)
{
	struct flavor_spec *s = NULL;
	int rc = decode_flavor(o, &s, e);
	if (rc == 0)
		rc = world_add_flavor(r->w, s, e);
	if (rc == 0)
		node_specs_see_flavor(&r->w->node_specs, s);
	else
		free(s);
	return rc;
}

static int read_cohort(struct reader *r, const cJSON *o, struct err *e)
{
	struct cohort_spec *s = NULL;
	int rc = check_old_name(o, "parent", "parentName", "Cohort", e);
	if (rc == 0)
		rc = decode_cohort(o, &s, e);
	if (rc == 0)
		rc = queue_set_cohort(r->w->queue, s, e);
	free(s);
	return rc;
}

static int read_limit_range(struct reader *r, const cJSON *o, struct err *e)
{
	struct limit_range_spec *s = NULL;
	int rc = decode_limit_range(o, &s, e);
	if (rc == 0)
		queue_set_limit_range(r->w->queue, s);
	free(s);
	return rc;
}

static int read_runtime_class(struct reader *r, const cJSON *o, struct err *e)
{
	struct runtime_class_spec *s = NULL;
	int rc = decode_runtime_class(o, &s, e);
	if (rc == 0)
		queue_set_runtime_class(r->w->queue, s);
	free(s);
	return rc;
}

static int read_priority(struct reader *r, const cJSON *o, struct err *e)
{
	struct priority_spec *s = NULL;
	int rc = strcmp(json_text(o, "kind"), "PriorityClass") == 0
			 ? decode_pod_priority(o, &s, e)
			 : decode_workload_priority(o, &s, e);
	if (rc == 0)
		queue_set_priority(r->w->queue, s);
	free(s);
	return rc;
}

static int read_namespace(struct reader *r, const cJSON *o, struct err *e)
{
	struct namespace_spec *s = NULL;
	int rc = decode_namespace(o, &s, e);
	if (rc == 0)
		world_add_namespace(r->w, s);
	free(s);
	return rc;
}

static const char *where_of(struct reader *r, char *text, size_t size)
{
	snprintf(text, size, "%.4096s:%zu", r->name, line_of(r, ""));
	return text;
}

static int read_calendar(struct reader *r, const cJSON *o, struct err *e)
{
	char where[WHERE_SIZE];
	return calendar_specs_add_calendar(
		&r->w->policy_specs.calendar_specs, where_of(r, where, sizeof(where)), o, e);
}

static int read_configmap(struct reader *r, const cJSON *o, struct err *e)
{
	return calendar_specs_add_configmap(&r->w->policy_specs.calendar_specs, o, e);
}

static int read_rule(struct reader *r, enum rule_kind kind, const cJSON *o, struct err *e)
{
	char where[WHERE_SIZE];
	return policy_specs_add(&r->w->policy_specs, kind, where_of(r, where, sizeof(where)), o, e);
}

static int read_runpolicy(struct reader *r, const cJSON *o, struct err *e)
{
	return read_rule(r, RULE_RUNPOLICY, o, e);
}

static int read_priceplan(struct reader *r, const cJSON *o, struct err *e)
{
	return read_rule(r, RULE_PRICEPLAN, o, e);
}

static int read_budget(struct reader *r, const cJSON *o, struct err *e)
{
	return read_rule(r, RULE_BUDGET, o, e);
}

static int read_job(struct reader *r, const cJSON *o, struct err *e)
{
	struct uid uid = world_next_uid(r->w);
	struct job_notes notes;
	struct graft graft;
	char text[UID_TEXT_SIZE];
	struct job *j = NULL;
	bool has_own_uid = json_get(json_object(o, "metadata"), "uid") != NULL;
	uid_format(&uid, text);
	if (!has_own_uid)
		graft_text(&graft, (cJSON *)json_object(o, "metadata"), "uid", text);
	int rc = decode_job(o, &j, e);
	if (rc < 0)
		return rc;
	rc = job_notes_check(r->w, j, e);
	if (rc == 0)
		rc = job_notes_read(o, j, &notes, e);
	if (rc < 0 || job_finished(j)) {
		free(j);
		return rc;
	}
	notes.plan.has_own_uid = has_own_uid;
	snprintf(notes.where, sizeof(notes.where), "%s:%zu", r->name,
		line_of(r, "metadata.annotations.sluice.dev/simulate-admitted"));
	rc = job_notes_add(r->w, j, &notes, e);
	if (rc < 0)
		free(j);
	return rc;
}

/* A Node as somebody writes it by hand says nothing of its conditions, and is meant to be there. */
static int read_node(struct reader *r, const cJSON *o, struct err *e)
{
	struct node_facts *n = NULL;
	int rc = decode_node(o, &n, e);
	if (rc < 0)
		return rc;
	n->ready = n->ready || !json_get(json_object(o, "status"), "conditions");
	node_specs_see(&r->w->node_specs, n);
	struct node_spec *s = NULL;
	rc = decode_node_spec(o, &s, e);
	if (rc == 0)
		node_specs_tell(r->w->queue, s);
	free(s);
	return rc < 0 ? rc : 0;
}

static int read_quota(struct reader *r, const cJSON *o, struct err *e)
{
	struct resource_quota *s = NULL;
	int rc = decode_written_quota(o, &s, e);
	if (rc == 0)
		queue_set_resource_quota(r->w->queue, s);
	free(s);
	return rc;
}

static int read_cronjob(struct reader *r, const cJSON *o, struct err *e)
{
	return cronjob_add(r->w, o, e);
}

/* Accepted, and of no consequence here. */
static int read_nothing(struct reader *r, const cJSON *o, struct err *e)
{
	(void)r;
	(void)o;
	(void)e;
	return 0;
}

static const struct kind {
	const char *api, *name;
	bool namespaced;
	int (*read)(struct reader *r, const cJSON *o, struct err *e);
} kinds[] = {
	{OURS, "ClusterQueue", false, read_clusterqueue},
	{OURS, "LocalQueue", true, read_localqueue},
	{OURS, "Cohort", false, read_cohort},
	{OURS, "ResourceFlavor", false, read_flavor},
	{OURS, "WorkloadPriorityClass", false, read_priority},
	{OURS, "Calendar", false, read_calendar},
	{OURS, "RunPolicy", false, read_runpolicy},
	{OURS, "PricePlan", false, read_priceplan},
	{OURS, "Budget", false, read_budget},
	{OURS, "NodeOvercommit", false, read_nothing},
	{"v1", "ConfigMap", true, read_configmap},
	{"batch/v1", "Job", true, read_job},
	{"batch/v1", "CronJob", true, read_cronjob},
	{"v1", "Namespace", false, read_namespace},
	{"v1", "Node", false, read_node},
	{"v1", "LimitRange", true, read_limit_range},
	{"v1", "ResourceQuota", true, read_quota},
	{"scheduling.k8s.io/v1", "PriorityClass", false, read_priority},
	{"node.k8s.io/v1", "RuntimeClass", false, read_runtime_class},
};

enum { NKINDS = sizeof(kinds) / sizeof(*kinds) };

static int unknown_kind(const char *api, const char *kind, struct err *e)
{
	char shown[SHOWN_SIZE], shown_api[SHOWN_SIZE];
	struct buf accepted;
	buf_init(&accepted, 4096);
	for (size_t i = 0; i < NKINDS; i++)
		buf_printf(&accepted, "%s%s", i ? ", " : "", kinds[i].name);
	err_set(e, ERR_INVALID,
		"kind %s of apiVersion %s is not simulated; what may be here: %s, and Lists of them",
		text_show(kind, shown), text_show(api, shown_api), buf_text(&accepted));
	buf_done(&accepted);
	return ERR_INVALID;
}

static int wrong_version(const struct kind *k, const char *api, struct err *e)
{
	char shown[SHOWN_SIZE];
	return err_set(e, ERR_INVALID, "%s: apiVersion: is %s; change it to %s", k->name,
		text_show(api, shown), k->api);
}

static int read_object(struct reader *r, const cJSON *o, struct err *e);

static int read_list(struct reader *r, const cJSON *o, struct err *e)
{
	size_t i = 0;
	if (!json_array(o, "items") && json_get(o, "items")) {
		err_set(e, ERR_INVALID, "List: items: must be a list");
		return located(r, ERR_INVALID, e);
	}
	json_each(item, json_array(o, "items")) {
		snprintf(r->where, sizeof(r->where), "items[%zu].", i++);
		int rc = read_object(r, item, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int check_name(const struct kind *k, const cJSON *o, struct err *e)
{
	const cJSON *name = json_get(json_object(o, "metadata"), "name");
	if (!name)
		return err_set(e, ERR_INVALID, "%s: metadata.name: is missing; write e.g. name: %s",
			k->name, k->read == read_job ? "train" : "main");
	if (!cJSON_IsString(name))
		return err_set(e, ERR_INVALID,
			"%s: metadata.name: is read as something else than text; put it in quotes",
			k->name);
	return 0;
}

static int read_kind(struct reader *r, const struct kind *k, const cJSON *o, struct err *e)
{
	struct graft name_graft, namespace_graft;
	char name[300];
	cJSON *meta = (cJSON *)json_object(o, "metadata");
	const char *begin = json_text(meta, "generateName");
	if (begin && !json_get(meta, "name")) {
		snprintf(name, sizeof(name), "%.253s%zu", begin, r->w->nsim_jobs);
		graft_text(&name_graft, meta, "name", name);
	}
	if (k->namespaced && meta && !json_get(meta, "namespace"))
		graft_text(&namespace_graft, meta, "namespace", "default");
	int rc = check_name(k, o, e);
	if (rc == 0)
		rc = k->read(r, o, e);
	return rc < 0 ? located(r, rc, e) : 0;
}

static int read_object(struct reader *r, const cJSON *o, struct err *e)
{
	const char *api = json_text(o, "apiVersion"), *kind = json_text(o, "kind");
	if (!api || !kind) {
		err_set(e, ERR_INVALID,
			"not an object of Kubernetes: %s is missing; write e.g. kind: Job and apiVersion: batch/v1",
			kind ? "apiVersion" : "kind");
		return located(r, ERR_INVALID, e);
	}
	size_t len = strlen(kind);
	if (len >= 4 && strcmp(kind + len - 4, "List") == 0 && *r->where == '\0')
		return read_list(r, o, e);
	for (size_t i = 0; i < NKINDS; i++) {
		if (strcmp(kinds[i].name, kind) != 0)
			continue;
		if (strcmp(kinds[i].api, api) == 0)
			return read_kind(r, &kinds[i], o, e);
		wrong_version(&kinds[i], api, e);
		return located(r, ERR_INVALID, e);
	}
	unknown_kind(api, kind, e);
	/* The sentence has no path in front: the line is that of the field at fault. */
	err_wrap(e, "%s:%zu", r->name, line_of(r, "kind"));
	return ERR_INVALID;
}

/* ---- files ----------------------------------------------------------------------------------- */

int manifest_read_text(struct world *w, const char *name, struct slice text, struct err *e)
{
	struct reader r = {.w = w, .name = name, .documents = documents_new(text)};
	const cJSON *o;
	int rc;
	do {
		r.where[0] = '\0';
		rc = documents_next(r.documents, &o, e);
		if (rc < 0)
			err_wrap(e, "%s:%zu", name, documents_line(r.documents));
		else if (rc > 0 && read_object(&r, o, e) < 0)
			rc = ERR_INVALID;
	} while (rc > 0);
	documents_free(r.documents);
	return rc;
}

static int read_stream(struct world *w, const char *name, FILE *f, struct err *e)
{
	struct buf text;
	char piece[65536];
	buf_init(&text, FILE_MAX_BYTES);
	for (size_t n; !text.failed && (n = fread(piece, 1, sizeof(piece), f)) > 0;)
		buf_add(&text, piece, n);
	int rc = ferror(f)     ? err_set(e, ERR_GONE, "%s: %s", name, strerror(errno))
		 : text.failed ? err_set(e, ERR_LIMIT, "%s: has more than %zu MB", name,
					 FILE_MAX_BYTES >> 20)
			       : manifest_read_text(w, name, buf_slice(&text), e);
	buf_done(&text);
	return rc;
}

static int read_file(struct world *w, const char *path, struct err *e)
{
	FILE *f = fopen(path, "rb");
	if (!f)
		return err_set(e, ERR_GONE, "%s: %s", path, strerror(errno));
	int rc = read_stream(w, path, f, e);
	fclose(f);
	return rc;
}

static int is_manifest(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');
	return entry->d_name[0] != '.' && dot &&
	       (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".json") == 0);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name); /* not in the order of some locale */
}

static int read_directory(struct world *w, const char *path, struct err *e)
{
	struct dirent **names;
	int n = scandir(path, &names, is_manifest, by_name), rc = 0;
	if (n < 0)
		return err_set(e, ERR_GONE, "%s: %s", path, strerror(errno));
	if (n == 0)
		rc = err_set(e, ERR_GONE, "%s: no file in it ends in .yaml, .yml or .json", path);
	for (int i = 0; i < n; i++) {
		char inner[4096];
		snprintf(inner, sizeof(inner), "%s%s%s", path,
			path[strlen(path) - 1] == '/' ? "" : "/", names[i]->d_name);
		if (rc == 0)
			rc = read_file(w, inner, e);
		free(names[i]);
	}
	free(names);
	return rc;
}

int manifest_read(struct world *w, const char *path, struct err *e)
{
	struct stat st;
	if (strcmp(path, "-") == 0)
		return read_stream(w, "standard input", stdin, e);
	if (*path && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return read_directory(w, path, e);
	return read_file(w, path, e);
}
