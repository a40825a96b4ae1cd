#include "cli/simulate/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "cli/simulate/job_notes.h"
#include "cli/simulate/documents.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_node.h"
#include "controller/wire/decode_template.h"
#include "controller/wire/decode_text.h"
#include "controller/wire/tell.h"

#define FILE_MAX_BYTES (size_t)(1024u << 20)
#define OURS "sluice.dev/v1alpha1"

static struct world *world_of(const struct object_source *r)
{
	return r->ctx;
}

/* A text member that is put into an object, for as long as the object is decoded. It lives in the
 * caller's frame, and the tree never frees one by one (json.h). */
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

/* ---- kinds ----------------------------------------------------------------------------------- */

static int read_clusterqueue(struct object_source *r, const cJSON *o, struct err *e)
{
	struct clusterqueue_spec *s = NULL;
	int rc = decode_clusterqueue(o, &s, e);
	if (rc == 0)
		rc = world_add_clusterqueue(world_of(r), s, e);
	free(s);
	return rc;
}

static int read_localqueue(struct object_source *r, const cJSON *o, struct err *e)
{
	struct localqueue_spec *s = NULL;
	int rc = decode_localqueue(o, &s, e);
	if (rc == 0)
		rc = world_add_localqueue(world_of(r), s, e);
	free(s);
	return rc;
}

static int read_flavor(struct object_source *r, const cJSON *o, struct err *e)
{
	struct flavor_spec *s = NULL;
	int rc = decode_flavor(o, &s, e);
	if (rc == 0)
		rc = world_add_flavor(world_of(r), s, e);
	if (rc == 0)
		node_specs_see_flavor(&world_of(r)->node_specs, s);
	else
		free(s);
	return rc;
}

static int read_namespace(struct object_source *r, const cJSON *o, struct err *e)
{
	struct namespace_spec *s = NULL;
	int rc = decode_namespace(o, &s, e);
	if (rc == 0)
		world_add_namespace(world_of(r), s);
	free(s);
	return rc;
}

static int read_calendar(struct object_source *r, const cJSON *o, struct err *e)
{
	char where[WHERE_SIZE];
	return calendar_specs_add_calendar(&world_of(r)->policy_specs.calendar_specs,
		object_where(r, "", where, sizeof(where)), o, e);
}

static int read_configmap(struct object_source *r, const cJSON *o, struct err *e)
{
	return calendar_specs_add_configmap(&world_of(r)->policy_specs.calendar_specs, o, e);
}

static int read_job(struct object_source *r, const cJSON *o, struct err *e)
{
	struct uid uid = world_next_uid(world_of(r));
	struct job_notes notes;
	struct graft graft;
	char text[UID_TEXT_SIZE];
	struct job *j = NULL;
	bool has_own_uid = json_get(json_object(o, "metadata"), "uid") != NULL;
	uid_format(&uid, text);
	if (!has_own_uid)
		graft_text(&graft, (cJSON *)json_object(o, "metadata"), "uid", text);
	int rc = job_notes_decode(world_of(r), o, &j, e);
	if (rc < 0)
		return rc;
	rc = job_notes_read(o, j, &notes, e);
	if (rc < 0 || job_finished(j)) {
		free(j);
		return rc;
	}
	notes.plan.has_own_uid = has_own_uid;
	object_where(r, "metadata.annotations.sluice.dev/simulate-admitted", notes.where,
		sizeof(notes.where));
	rc = job_notes_add(world_of(r), j, &notes, e);
	if (rc < 0)
		free(j);
	return rc;
}

/* Reads a Node. One that is written by hand says nothing of its conditions, and is meant to be
 * there. */
static int read_node(struct object_source *r, const cJSON *o, struct err *e)
{
	struct node_facts *n = NULL;
	int rc = decode_node(o, &n, e);
	if (rc < 0)
		return rc;
	n->ready = n->ready || !json_get(json_object(o, "status"), "conditions");
	node_specs_see(&world_of(r)->node_specs, n);
	struct node_spec *s = NULL;
	rc = decode_node_spec(o, &s, e);
	if (rc == 0)
		node_specs_tell(world_of(r)->queue, s);
	free(s);
	return rc < 0 ? rc : 0;
}

static int read_cronjob(struct object_source *r, const cJSON *o, struct err *e)
{
	return cronjob_add(world_of(r), o, e);
}

struct kind {
	const char *api, *name;
	bool namespaced;
	/* How an object is read: at most one of these. None: it does not matter here. */
	int (*read)(struct object_source *r, const cJSON *o, struct err *e);
	tell_queue *tell;
	bool is_rule; /* policy_specs keeps it until all is read */
	enum rule_kind rule;
	/* A field that older versions of Kueue called otherwise, and that would be passed over. */
	const char *old_name, *new_name;
};

static const struct kind kinds[] = {
	{OURS, "ClusterQueue", false, read_clusterqueue, .old_name = "cohort",
		.new_name = "cohortName"},
	{OURS, "LocalQueue", true, read_localqueue},
	{OURS, "Cohort", false, .tell = tell_cohort, .old_name = "parent",
		.new_name = "parentName"},
	{OURS, "ResourceFlavor", false, read_flavor},
	{OURS, "WorkloadPriorityClass", false, .tell = tell_workload_priority},
	{OURS, "Calendar", false, read_calendar},
	{OURS, "RunPolicy", false, .is_rule = true, .rule = RULE_RUNPOLICY},
	{OURS, "PricePlan", false, .is_rule = true, .rule = RULE_PRICEPLAN},
	{OURS, "Budget", false, .is_rule = true, .rule = RULE_BUDGET},
	{OURS, "AdvanceReservation", false, .is_rule = true, .rule = RULE_ADVANCE_RESERVATION},
	{OURS, "NodeOvercommit", false},
	{"v1", "ConfigMap", true, read_configmap},
	{"batch/v1", "Job", true, read_job},
	{"batch/v1", "CronJob", true, read_cronjob},
	{"v1", "Namespace", false, read_namespace},
	{"v1", "Node", false, read_node},
	{"v1", "LimitRange", true, .tell = tell_limit_range},
	{"v1", "ResourceQuota", true, .tell = tell_written_quota},
	{"scheduling.k8s.io/v1", "PriorityClass", false, .tell = tell_pod_priority},
	{"node.k8s.io/v1", "RuntimeClass", false, .tell = tell_runtime_class},
	{"resource.k8s.io/v1", "DeviceClass", false, .tell = tell_device_class},
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

static int read_object(struct object_source *r, const cJSON *o, struct err *e);

static int read_list(struct object_source *r, const cJSON *o, struct err *e)
{
	if (!json_array(o, "items") && json_get(o, "items")) {
		err_set(e, ERR_INVALID, "List: items: must be a list");
		return object_fault(r, ERR_INVALID, e);
	}
	return object_items(r, o, read_object, e);
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

static int check_old_name(const struct kind *k, const cJSON *o, struct err *e)
{
	if (!k->old_name || !json_get(json_object(o, "spec"), k->old_name))
		return 0;
	return err_set(e, ERR_INVALID, "%s %s: spec.%s: is now called %s; rename it", k->name,
		decode_name(o), k->old_name, k->new_name);
}

static int read_as(struct object_source *r, const struct kind *k, const cJSON *o, struct err *e)
{
	char where[WHERE_SIZE];
	if (k->is_rule)
		return policy_specs_add(&world_of(r)->policy_specs, k->rule,
			object_where(r, "", where, sizeof(where)), o, e);
	if (k->tell)
		return k->tell(world_of(r)->queue, o, e);
	return k->read ? k->read(r, o, e) : 0;
}

static int read_kind(struct object_source *r, const struct kind *k, const cJSON *o, struct err *e)
{
	struct graft name_graft, namespace_graft;
	char name[300];
	cJSON *meta = (cJSON *)json_object(o, "metadata");
	const char *begin = json_text(meta, "generateName");
	if (begin && !json_get(meta, "name")) {
		snprintf(name, sizeof(name), "%.253s%zu", begin, world_of(r)->nsim_jobs);
		graft_text(&name_graft, meta, "name", name);
	}
	if (k->namespaced && meta && !json_get(meta, "namespace"))
		graft_text(&namespace_graft, meta, "namespace", "default");
	int rc = check_name(k, o, e);
	if (rc == 0 && r->documents && world_of(r)->live)
		world_describe(world_of(r), k->name, decode_namespace_of(o), decode_name(o));
	if (rc == 0)
		rc = check_old_name(k, o, e);
	if (rc == 0)
		rc = read_as(r, k, o, e);
	return rc < 0 ? object_fault(r, rc, e) : 0;
}

static int read_object(struct object_source *r, const cJSON *o, struct err *e)
{
	const char *api = json_text(o, "apiVersion"), *kind = json_text(o, "kind");
	if (!api || !kind) {
		err_set(e, ERR_INVALID,
			"not an object of Kubernetes: %s is missing; write e.g. kind: Job and apiVersion: batch/v1",
			kind ? "apiVersion" : "kind");
		return object_fault(r, ERR_INVALID, e);
	}
	size_t len = strlen(kind);
	if (len >= 4 && strcmp(kind + len - 4, "List") == 0 && *r->within == '\0')
		return read_list(r, o, e);
	for (size_t i = 0; i < NKINDS; i++) {
		if (strcmp(kinds[i].name, kind) != 0)
			continue;
		if (strcmp(kinds[i].api, api) == 0)
			return read_kind(r, &kinds[i], o, e);
		wrong_version(&kinds[i], api, e);
		return object_fault(r, ERR_INVALID, e);
	}
	unknown_kind(api, kind, e);
	/* The line is that of the field at fault: the sentence has no path in front. */
	object_wrap(r, "kind", e);
	return ERR_INVALID;
}

/* ---- objects of an API server ---------------------------------------------------------------- */

int manifest_read_object(
	struct world *w, const char *from, const char *kind, const cJSON *o, struct err *e)
{
	struct object_source r = {.file = from, .ctx = w};
	size_t i = 0;
	while (i < NKINDS && strcmp(kinds[i].name, kind) != 0)
		i++;
	must(i < NKINDS && kinds[i].read != read_job);
	if (world_is_described(w, kind, decode_namespace_of(o), decode_name(o)))
		return 0;
	return read_kind(&r, &kinds[i], o, e);
}

/* ---- files ----------------------------------------------------------------------------------- */

int manifest_read_text(struct world *w, const char *name, struct slice text, struct err *e)
{
	return objects_read_text(name, text, read_object, w, e);
}

int manifest_read(struct world *w, const char *path, struct err *e)
{
	return objects_read_path(path, false, FILE_MAX_BYTES, read_object, w, e);
}
