#include "cli/adopt/plan.h"

#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/import/metadata.h"
#include "cli/job_object.h"
#include "cli/question.h"
#include "controller/wire/decode.h"
#include "controller/wire/pods_table.h"
#include "controller/wire/tell.h"
#include "queue/job/text.h"
#include "sluice/intake.h"
#include "sluice/keys.h"
#include "sluice/quantity.h"

#define KUEUE_LABEL KUEUE_DOMAIN "/queue-name"

enum { PATH_SIZE = 700 };

struct maker {
	struct ev_loop *loop;
	struct kube_client *client;
	const struct adopt_options *options;
	const char *ns;
	struct queue *queue;
	struct json *json, *pods_json;
	struct pod_places places; /* of the namespace; none: they may not be read */
	char **localqueue;	  /* the namespace's, by name */
	size_t nqueues;
	size_t nheld; /* Jobs that stand for what is held already */
	struct adopt_plan plan;
};

/* ---- What admins describe ---------------------------------------------------------------------- */

static int tell_namespace(struct queue *q, const cJSON *o, struct err *e)
{
	struct namespace_spec *s = NULL;
	int rc = decode_namespace(o, &s, e);
	if (rc == 0)
		queue_set_namespace(q, s);
	free(s);
	return rc;
}

/* Tells the queue each object of a kind. The queue itself refuses a faulty one, and says so. */
static int read_kind(struct maker *m, const char *path, tell_queue *tell, struct err *e)
{
	const cJSON *root;
	struct err ignored;
	int rc = question_ask(m->loop, m->client, path, m->json, &root, e);
	if (rc < 0)
		return rc;
	if (!json_array(root, "items"))
		tell(m->queue, root, &ignored);
	json_each(o, json_array(root, "items"))
		tell(m->queue, o, &ignored);
	return 0;
}

/* Makes a uid that no Job has: no UUID that the API server draws begins with this byte. */
static struct uid uid_of_held(size_t i)
{
	struct uid uid = {{0xFF, 0xFF}};
	memcpy(uid.byte + sizeof(uid.byte) - sizeof(i), &i, sizeof(i));
	return uid;
}

/* Holds what the controller says is held, in the name of a Job that does not exist. */
static void hold_reserved(struct maker *m, const cJSON *clusterqueue)
{
	struct quota_line line[QUEUE_LINES_MAX];
	size_t n = 0;
	char node[300];
	snprintf(node, sizeof(node), "cq/%.250s", decode_name(clusterqueue));
	json_each(f, json_array(json_object(clusterqueue, "status"), "flavorsReservation"))
		json_each(r, json_array(f, "resources")) {
			const char *flavor = json_text(f, "name"), *resource = json_text(r, "name"),
				   *total = json_text(r, "total");
			int64_t amount;
			struct err e;
			if (n < QUEUE_LINES_MAX && flavor && resource && total &&
				quantity_parse(slice_of(total), quantity_unit_of(resource), &amount,
					&e) == 0)
				line[n++] = (struct quota_line){node, flavor, resource, amount};
		}
	struct job held = {.uid = uid_of_held(m->nheld++),
		.ns = "",
		.name = "",
		.queue = "",
		.priority_class = "",
		.pod_priority_class = "",
		.family = "",
		.suspend = true,
		.deleting = true};
	if (n == 0)
		return;
	queue_set_job(m->queue, &held);
	queue_adopt_job(m->queue, &held.uid, line, n, 0);
}

static int read_clusterqueues(struct maker *m, struct err *e)
{
	const cJSON *root;
	struct err ignored;
	int rc = question_ask(m->loop, m->client, SLUICE_ROOT "/clusterqueues", m->json, &root, e);
	json_each(o, rc < 0 ? NULL : json_array(root, "items")) {
		tell_clusterqueue(m->queue, o, &ignored);
		hold_reserved(m, o);
	}
	return rc;
}

static int read_localqueues(struct maker *m, struct err *e)
{
	char path[PATH_SIZE];
	const cJSON *root;
	struct err ignored;
	snprintf(path, sizeof(path), SLUICE_ROOT "/namespaces/%.253s/localqueues", m->ns);
	int rc = question_ask(m->loop, m->client, path, m->json, &root, e);
	json_each(o, rc < 0 ? NULL : json_array(root, "items")) {
		tell_localqueue(m->queue, o, &ignored);
		m->localqueue = mem_grow(m->localqueue, m->nqueues + 1, sizeof(*m->localqueue));
		m->localqueue[m->nqueues++] = mem_strdup(decode_name(o));
	}
	return rc;
}

static int read_described(struct maker *m, struct err *e)
{
	char namespace_path[PATH_SIZE], limits[PATH_SIZE];
	snprintf(namespace_path, sizeof(namespace_path), "/api/v1/namespaces/%.253s", m->ns);
	snprintf(limits, sizeof(limits), "/api/v1/namespaces/%.253s/limitranges", m->ns);
	const struct {
		const char *path;
		tell_queue *tell;
	} kinds[] = {
		{namespace_path, tell_namespace},
		{SLUICE_ROOT "/resourceflavors", tell_flavor},
		{SLUICE_ROOT "/cohorts", tell_cohort},
		{SLUICE_ROOT "/workloadpriorityclasses", tell_workload_priority},
		{"/apis/scheduling.k8s.io/v1/priorityclasses", tell_pod_priority},
		{"/apis/node.k8s.io/v1/runtimeclasses", tell_runtime_class},
		{limits, tell_limit_range},
	};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(kinds) / sizeof(*kinds); i++)
		rc = read_kind(m, kinds[i].path, kinds[i].tell, e);
	if (rc == 0)
		rc = read_clusterqueues(m, e);
	return rc == 0 ? read_localqueues(m, e) : rc;
}

static int read_places(struct maker *m, struct err *e)
{
	char path[PATH_SIZE];
	const cJSON *pods;
	struct question_facts facts;
	snprintf(path, sizeof(path),
		"/api/v1/namespaces/%.253s/pods?" PODS_TABLE_QUERY
		"&fieldSelector=" PODS_TABLE_LIVE,
		m->ns);
	struct kube_request request = {.method = KUBE_GET,
		.path = path,
		.accept = KUBE_TABLE,
		.answer_ceiling = QUESTION_ANSWER_MAX};
	int rc = question_send(m->loop, m->client, &request, m->pods_json, &pods, &facts, e);
	if (rc == 0 && !pods_table_is(pods))
		rc = err_set(e, ERR_INVALID, "the answer is no Table");
	if (rc == 0)
		pod_places_read(pods, &m->places);
	return rc;
}

/* Reads where pods are, which tells flavors. The controller sees that in any case; without the
 * right the plan says that it does without. */
static void read_whereabouts(struct maker *m)
{
	struct err e;
	const char *what = "the nodes";
	int rc = read_kind(m, "/api/v1/nodes", tell_node, &e);
	if (rc == 0) {
		what = "the pods of the namespace";
		rc = read_places(m, &e);
	}
	if (rc < 0)
		snprintf(m->plan.unseen, sizeof(m->plan.unseen),
			"Flavors are by the Pod templates alone, for %s cannot be read (%.300s). The controller takes the flavor of the nodes where most pods of a Job are.",
			what, e.text);
}

/* ---- Jobs -------------------------------------------------------------------------------------- */

static const char *label_of(const cJSON *job, const char *key)
{
	return json_text(json_object(json_object(job, "metadata"), "labels"), key);
}

static bool is_named(const struct adopt_options *o, const char *name)
{
	for (size_t i = 0; i < o->njobs; i++)
		if (strcmp(o->job[i], name) == 0)
			return true;
	return o->njobs == 0;
}

static bool has_queue(const struct maker *m, const char *name)
{
	for (size_t i = 0; i < m->nqueues; i++)
		if (strcmp(m->localqueue[i], name) == 0)
			return true;
	return false;
}

/* Returns the queue for the Job: the one that was named, else one named like Kueue's, else the only
 * one. */
static const char *queue_of(const struct maker *m, const cJSON *job)
{
	const char *kueue = label_of(job, KUEUE_LABEL);
	if (m->options->queue)
		return m->options->queue;
	if (kueue && has_queue(m, kueue))
		return kueue;
	return m->nqueues == 1 ? m->localqueue[0] : NULL;
}

/* Says why the Job cannot be adopted; NULL: nothing in the Job itself forbids it. */
static const char *why_not(const cJSON *job, int64_t *ret_start_ms)
{
	const cJSON *metadata = json_object(job, "metadata");
	const char *start = json_text(json_object(job, "status"), "startTime");
	if (label_of(job, QUEUE_LABEL))
		return "it is in a queue already (label " QUEUE_LABEL ")";
	if (json_text(metadata, "deletionTimestamp"))
		return "it is being deleted";
	if (job_object_is_suspended(job))
		return "it is suspended: set the label " QUEUE_LABEL ", and it waits in that queue";
	if (json_text(json_object(metadata, "annotations"), STORY_ANNOTATION))
		return "Sluice has started or stopped it before: suspend it, and set the label " QUEUE_LABEL
		       " when its last pod is gone";
	if (!start || !instant_parse(slice_of(start), ret_start_ms) ||
		json_condition_is(job, "Suspended", "True"))
		return "it has not begun to run yet (status.startTime): try again in a moment";
	return NULL;
}

/* Judges the Job as the controller would see it with its label. */
static void judge(struct maker *m, const cJSON *in, struct adopt_row *r)
{
	static struct intake intake;
	struct job *j = NULL;
	struct err e;
	cJSON *copy = cJSON_Duplicate(in, true);
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(copy, "metadata");
	cJSON *labels = cJSON_GetObjectItemCaseSensitive(metadata, "labels");
	if (!labels)
		labels = cJSON_AddObjectToObject(metadata, "labels");
	cJSON_AddStringToObject(labels, QUEUE_LABEL, r->queue);
	if (decode_job(copy, NULL, &j, &e) < 0) {
		snprintf(r->why, sizeof(r->why), "%s", e.text);
	} else {
		const char *const *node;
		size_t nnodes = pod_places_of(&m->places, &j->uid, &node);
		queue_set_job(m->queue, j);
		r->takes = queue_intake_on(m->queue, &j->uid,
			j->status.active + j->status.terminating, node, nnodes, 0, &intake);
		snprintf(r->why, sizeof(r->why), "%s", intake.why_not);
	}
	if (r->takes) {
		struct text t = text_over(r->holds, sizeof(r->holds));
		for (size_t i = 0; i < intake.nlines; i++) {
			text_add(&t, i > 0 ? ", " : "");
			text_add_amount(&t, intake.line[i].amount, intake.line[i].resource);
			text_add(&t, " in %s", intake.line[i].flavor);
		}
		queue_adopt_job(m->queue, &j->uid, intake.line, intake.nlines, 0);
		if (!queue_job_excess(m->queue, &j->uid, r->over))
			r->over[0] = '\0';
	}
	free(j);
	cJSON_Delete(copy);
}

static void add_row(struct maker *m, const cJSON *job)
{
	struct adopt_plan *p = &m->plan;
	p->row = mem_grow(p->row, p->nrows + 1, sizeof(*p->row));
	struct adopt_row *r = &p->row[p->nrows++];
	const cJSON *metadata = json_object(job, "metadata");
	const char *version = json_text(metadata, "resourceVersion"),
		   *uid = json_text(metadata, "uid");
	*r = (struct adopt_row){.name = mem_strdup(decode_name(job)),
		.uid = mem_strdup(uid ? uid : ""),
		.version = mem_strdup(version ? version : ""),
		.generation = number_of(metadata, "generation"),
		.has_kueue_label = label_of(job, KUEUE_LABEL) != NULL};
	const char *why = job_object_is_over(job) ? "it has ended" : why_not(job, &r->start_ms);
	r->queue = mem_strdup(queue_of(m, job));
	if (!why && !r->queue)
		why = "say which queue: --queue NAME";
	if (why)
		snprintf(r->why, sizeof(r->why), "%s", why);
	else
		judge(m, job, r);
	if (r->takes && r->start_ms > p->begun_by_ms)
		p->begun_by_ms = r->start_ms;
}

static bool is_found(const struct adopt_plan *p, const char *name)
{
	for (size_t i = 0; i < p->nrows; i++)
		if (strcmp(p->row[i].name, name) == 0)
			return true;
	return false;
}

/* True for a named Job; without names, for one that runs and is in no queue. */
static bool is_meant(const struct maker *m, const cJSON *job)
{
	if (m->options->njobs > 0)
		return is_named(m->options, decode_name(job));
	return !job_object_is_over(job) && !job_object_is_suspended(job) &&
	       !label_of(job, QUEUE_LABEL);
}

static int read_jobs(struct maker *m, struct err *e)
{
	char path[PATH_SIZE];
	const cJSON *root;
	snprintf(path, sizeof(path), "/apis/batch/v1/namespaces/%.253s/jobs", m->ns);
	int rc = question_ask(m->loop, m->client, path, m->json, &root, e);
	if (rc < 0)
		return rc;
	json_each(o, json_array(root, "items"))
		if (is_meant(m, o))
			add_row(m, o);
	for (size_t i = 0; i < m->options->njobs; i++)
		if (!is_found(&m->plan, m->options->job[i]))
			return err_set(e, ERR_GONE, "namespace %.100s has no Job \"%.100s\"", m->ns,
				m->options->job[i]);
	return 0;
}

int adopt_plan_make(struct ev_loop *loop, struct kube_client *client, const struct adopt_options *o,
	struct adopt_plan *ret, struct err *e)
{
	struct maker m = {.loop = loop,
		.client = client,
		.options = o,
		.ns = o->namespace_name,
		.queue = queue_new(),
		.json = json_new(QUESTION_TREE_MAX),
		.pods_json = json_new(QUESTION_TREE_MAX),
		.plan = {.namespace_name = o->namespace_name}};
	int rc = read_described(&m, e);
	if (rc == 0 && o->queue && !has_queue(&m, o->queue))
		rc = err_set(e, ERR_GONE, "namespace %.100s has no LocalQueue \"%.100s\"", m.ns,
			o->queue);
	if (rc == 0) {
		read_whereabouts(&m);
		rc = read_jobs(&m, e);
	}
	queue_free(m.queue);
	pod_places_done(&m.places);
	json_free(m.json);
	json_free(m.pods_json);
	for (size_t i = 0; i < m.nqueues; i++)
		free(m.localqueue[i]);
	free(m.localqueue);
	if (rc < 0)
		adopt_plan_done(&m.plan);
	else
		*ret = m.plan;
	return rc;
}

int adopt_row_look_again(struct ev_loop *loop, struct kube_client *client,
	const char *namespace_name, struct adopt_row *r, struct err *e)
{
	struct json *json = json_new(QUESTION_TREE_MAX);
	const cJSON *job;
	int64_t start_ms;
	int rc = question_job(loop, client, namespace_name, r->name, json, &job, e);
	const cJSON *metadata = rc < 0 ? NULL : json_object(job, "metadata");
	const char *why = rc < 0 ? NULL : why_not(job, &start_ms);
	if (rc == 0 && strcmp(text_of(metadata, "uid"), r->uid) != 0)
		why = "another Job has its name meanwhile: run sluice adopt again";
	else if (rc == 0 && !why && number_of(metadata, "generation") != r->generation)
		why = "its spec was changed meanwhile: run sluice adopt again";
	if (why)
		rc = err_set(e, ERR_INVALID, "%s", why);
	if (rc == 0) {
		free(r->version);
		r->version = mem_strdup(text_of(metadata, "resourceVersion"));
	}
	json_free(json);
	return rc;
}

void adopt_plan_done(struct adopt_plan *p)
{
	for (size_t i = 0; i < p->nrows; i++) {
		free(p->row[i].name);
		free(p->row[i].uid);
		free(p->row[i].version);
		free(p->row[i].queue);
	}
	free(p->row);
	*p = (struct adopt_plan){0};
}
