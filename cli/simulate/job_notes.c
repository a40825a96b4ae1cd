#include "cli/simulate/job_notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/similar.h"
#include "base/span.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_text.h"

#define OWN_PREFIX "sluice.dev/simulate-"
#define DURATION_ANNOTATION "sluice.dev/simulate-duration"
#define CHECKPOINT_ANNOTATION "sluice.dev/simulate-checkpoint"
#define OUTCOME_ANNOTATION "sluice.dev/simulate-outcome"
#define DELETE_ANNOTATION "sluice.dev/simulate-delete"
#define ADMITTED_ANNOTATION "sluice.dev/simulate-admitted"

#define NOTE_TREE_MAX (4u << 20)
#define REQUESTS_MAX 128

static int fault(const struct job *j, const char *annotation, struct err *e)
{
	err_wrap(e, "Job %s/%s: metadata.annotations.%s", j->ns, j->name, annotation);
	return ERR_INVALID;
}

/* Returns an annotation. A number without quotes is clear enough here. NULL when absent. */
static const char *note(const cJSON *o, const char *key, char number[32])
{
	const cJSON *item = json_get(json_object(json_object(o, "metadata"), "annotations"), key);
	if (cJSON_IsNumber(item)) {
		snprintf(number, 32, "%.15g", item->valuedouble);
		return number;
	}
	return !item ? NULL : cJSON_IsString(item) ? item->valuestring : "";
}

static bool is_zero(const char *text)
{
	return strcmp(text, "0") == 0 || strcmp(text, "0s") == 0;
}

static int read_duration(const cJSON *o, const struct job *j, int64_t *ret_ms, struct err *e)
{
	char number[32], shown[SHOWN_SIZE];
	const char *text = note(o, DURATION_ANNOTATION, number);
	*ret_ms = NEVER_MS;
	if (!text || span_parse_seconds(text, ret_ms))
		return 0;
	*ret_ms = 0;
	if (is_zero(text))
		return 0;
	err_set(e, ERR_INVALID, "%s is not a duration; write e.g. 90s, 1h30m or 5400",
		text_show(text, shown));
	return fault(j, DURATION_ANNOTATION, e);
}

/* With fewer pods at a time than are to be completed they come in waves, and each wave is safe when
 * it is over: pods that have finished stay finished. */
int64_t job_notes_wave_ms(const struct job *j, int64_t duration_ms)
{
	if (duration_ms == NEVER_MS || j->parallelism < 1 || j->completions <= j->parallelism)
		return 0;
	return duration_ms / ((j->completions + (int64_t)j->parallelism - 1) / j->parallelism);
}

static int read_step(const cJSON *o, const struct job *j, struct job_plan *plan, struct err *e)
{
	char number[32], shown[SHOWN_SIZE];
	const char *text = note(o, CHECKPOINT_ANNOTATION, number);
	plan->step_ms = job_notes_wave_ms(j, plan->duration_ms);
	if (!text || span_parse_seconds(text, &plan->step_ms))
		return 0;
	err_set(e, ERR_INVALID, "%s is not a duration; write e.g. 30m, how often it saves its work",
		text_show(text, shown));
	return fault(j, CHECKPOINT_ANNOTATION, e);
}

static int read_delete(const cJSON *o, const struct job *j, int64_t *ret_ms, struct err *e)
{
	char number[32], shown[SHOWN_SIZE];
	const char *text = note(o, DELETE_ANNOTATION, number);
	*ret_ms = NEVER_MS;
	if (!text || text_time(text, ret_ms))
		return 0;
	err_set(e, ERR_INVALID, "%s is not a time; write e.g. 2026-11-21T09:58:30Z",
		text_show(text, shown));
	return fault(j, DELETE_ANNOTATION, e);
}

static int read_outcome(const cJSON *o, const struct job *j, bool *ret_fails, struct err *e)
{
	char number[32], shown[SHOWN_SIZE];
	const char *text = note(o, OUTCOME_ANNOTATION, number);
	*ret_fails = text && strcmp(text, "Failed") == 0;
	if (!text || *ret_fails || strcmp(text, "Succeeded") == 0)
		return 0;
	err_set(e, ERR_INVALID, "%s is no outcome; write Failed or Succeeded",
		text_show(text, shown));
	return fault(j, OUTCOME_ANNOTATION, e);
}

/* Checks what decode_job() passes over, since no API server lets it in. */
static int check_shape(const cJSON *o, const struct job *j, struct err *e)
{
	const cJSON *created = json_get(json_object(o, "metadata"), "creationTimestamp");
	if (created && !cJSON_IsString(created))
		return err_set(e, ERR_INVALID,
			"Job %s/%s: metadata.creationTimestamp: is not a time; write e.g. 2026-11-21T09:58:30Z",
			j->ns, j->name);
	if (!json_object(json_object(json_object(o, "spec"), "template"), "spec"))
		return err_set(e, ERR_INVALID,
			"Job %s/%s: spec.template.spec: is missing; a Job needs the template of its pods",
			j->ns, j->name);
	return 0;
}

static int read_admitted_text(
	const cJSON *o, const struct job *j, const char **ret_text, struct err *e)
{
	const cJSON *annotations = json_object(json_object(o, "metadata"), "annotations");
	*ret_text = json_text(annotations, ADMITTED_ANNOTATION);
	if (json_get(annotations, ADMITTED_ANNOTATION) && !*ret_text) {
		err_set(e, ERR_INVALID, "is not text; put the JSON in single quotes");
		return fault(j, ADMITTED_ANNOTATION, e);
	}
	return 0;
}

/* True if a key was to be one of the simulation's and is none. s has the one that was meant. */
static bool is_misspelt(const char *key, struct similar *s)
{
	static const char *const keys[] = {DURATION_ANNOTATION, CHECKPOINT_ANNOTATION,
		OUTCOME_ANNOTATION, DELETE_ANNOTATION, ADMITTED_ANNOTATION};
	similar_begin(s, key);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (strcmp(keys[i], key) == 0)
			return false;
		similar_offer(s, keys[i]);
	}
	return similar_best(s) || strncmp(key, OWN_PREFIX, strlen(OWN_PREFIX)) == 0;
}

static bool is_plain(const char *key)
{
	while (*key > 0x20 && *key < 0x7f)
		key++;
	return !*key;
}

/* Checks the keys of the simulation, of which the API server does not warn. */
static int check_keys(const cJSON *o, const struct job *j, struct err *e)
{
	char shown[SHOWN_SIZE];
	struct similar s;
	json_each(a, json_object(json_object(o, "metadata"), "annotations")) {
		if (!is_misspelt(a->string, &s))
			continue;
		const char *meant = similar_best(&s);
		if (meant)
			err_set(e, ERR_INVALID, "Sluice does not read this; did you mean %s?",
				meant);
		else
			err_set(e, ERR_INVALID,
				"Sluice does not read this; write simulate-duration, -checkpoint, -outcome, -delete or -admitted");
		return fault(j, is_plain(a->string) ? a->string : text_show(a->string, shown), e);
	}
	return 0;
}

int job_notes_decode(struct world *w, const cJSON *o, struct job **ret, struct err *e)
{
	const struct job_context context = world_job_context(w);
	int rc = decode_job(o, &context, ret, e);
	if (rc < 0)
		return rc;
	rc = (*ret)->invalid ? err_set(e, ERR_INVALID, "%s", (*ret)->invalid)
			     : check_keys(o, *ret, e);
	if (rc == 0)
		return 0;
	free(*ret);
	*ret = NULL;
	return rc;
}

int job_notes_read(const cJSON *o, const struct job *j, struct job_notes *ret, struct err *e)
{
	const cJSON *meta = json_object(o, "metadata");
	struct job_notes n = {.plan = {.has_arrival = json_get(meta, "creationTimestamp") != NULL}};
	int rc = check_shape(o, j, e);
	if (rc == 0)
		rc = read_duration(o, j, &n.plan.duration_ms, e);
	if (rc == 0)
		rc = read_step(o, j, &n.plan, e);
	if (rc == 0)
		rc = read_outcome(o, j, &n.plan.fails, e);
	if (rc == 0)
		rc = read_delete(o, j, &n.plan.delete_ms, e);
	if (rc == 0)
		rc = read_admitted_text(o, j, &n.admitted, e);
	if (rc < 0)
		return rc;
	if (n.admitted && j->suspend)
		return err_set(e, ERR_INVALID,
			"Job %s/%s: spec.suspend: is true, but annotation " ADMITTED_ANNOTATION
			" says that it runs; write false, or remove the annotation",
			j->ns, j->name);
	*ret = n;
	return 0;
}

/* ---- a Job that runs from the beginning ------------------------------------------------------ */

int64_t job_notes_request(const struct job *j, const char *resource, int32_t pods)
{
	struct resource r[REQUESTS_MAX];
	size_t n = pod_requests(&j->pod, r, REQUESTS_MAX);
	if (strcmp(resource, "pods") == 0)
		return pods;
	for (size_t i = 0; i < n && i < REQUESTS_MAX; i++)
		if (strcmp(r[i].name, resource) == 0)
			return r[i].amount > INT64_MAX / (pods + 1) ? INT64_MAX / 2
								    : r[i].amount * pods;
	return -1;
}

static int admitted_lines(
	struct world *w, const struct job *j, const cJSON *root, struct adoption *a, struct err *e)
{
	const cJSON *flavors = json_object(root, "flavors");
	const char *node = world_keep_text(w, "cq/", json_text(root, "clusterQueue"));
	a->clusterqueue = node + 3;
	a->lines = world_keep(w, mem_array(QUEUE_LINES_MAX, sizeof(*a->lines)));
	json_each(flavor, flavors) {
		char shown[SHOWN_SIZE];
		if (!cJSON_IsString(flavor) || !*flavor->valuestring)
			return err_set(e, ERR_INVALID, "flavors: %s must be the name of a flavor",
				text_show(flavor->string, shown));
		int64_t amount = job_notes_request(j, flavor->string, job_pods(j));
		if (amount == 0)
			continue; /* the ledger remembers no such line */
		if (amount < 0)
			return err_set(e, ERR_INVALID,
				"flavors: the Job's pods request no %s; remove it here, or add it there",
				text_show(flavor->string, shown));
		if (a->nlines == QUEUE_LINES_MAX)
			return err_set(
				e, ERR_LIMIT, "flavors: has more than %d items", QUEUE_LINES_MAX);
		a->lines[a->nlines++] =
			(struct quota_line){node, world_keep_text(w, "", flavor->valuestring),
				world_keep_text(w, "", flavor->string), amount};
	}
	return 0;
}

static int read_admitted(struct world *w, const struct job *j, const char *text, struct json *json,
	struct adoption *a, struct err *e)
{
	static const char example[] = "{\"clusterQueue\":\"a\",\"flavors\":{\"cpu\":\"spot\"},"
				      "\"at\":\"2026-11-21T09:58:30Z\"}";
	const cJSON *root;
	int rc = json_parse(json, slice_of(text), &root, e);
	if (rc < 0) {
		err_wrap(e, "is not JSON such as %s", example);
		return rc;
	}
	const char *clusterqueue = json_text(root, "clusterQueue"), *at = json_text(root, "at");
	if (!clusterqueue || !*clusterqueue)
		return err_set(e, ERR_INVALID, "clusterQueue is missing; write e.g. %s", example);
	if (!at || !text_time(at, &a->at_ms))
		return err_set(e, ERR_INVALID, "at is missing or no time; write e.g. %s", example);
	if (!json_object(root, "flavors"))
		return err_set(e, ERR_INVALID, "flavors is missing; write e.g. %s", example);
	return admitted_lines(w, j, root, a, e);
}

int job_notes_add(struct world *w, struct job *j, const struct job_notes *notes, struct err *e)
{
	struct adoption a = {.sim_job = w->nsim_jobs, .where = ""};
	int rc = 0;
	if (notes->admitted) {
		struct json *json = json_new(NOTE_TREE_MAX);
		rc = read_admitted(w, j, notes->admitted, json, &a, e);
		json_free(json);
		if (rc < 0)
			return fault(j, ADMITTED_ANNOTATION, e);
	}
	rc = world_add_job(w, j, &notes->plan, e);
	if (rc == 0 && notes->admitted) {
		a.where = world_keep(w, mem_strdup(notes->where));
		world_add_adoption(w, &a);
	}
	return rc;
}

/* ---- CronJobs -------------------------------------------------------------------------------- */

/* Appends the Job that the CronJob controller would make of the template. */
static void print_job(const cJSON *o, struct buf *out)
{
	static const char *const copied[] = {"labels", "annotations"};
	const cJSON *template = json_object(json_object(o, "spec"), "jobTemplate");
	struct json_writer w = json_writer_object(out);
	jw_text(&w, "kind", "Job");
	jw_object(&w, "metadata");
	jw_texts(&w, "name", decode_name(o), "namespace", decode_namespace_of(o), "uid",
		"00000000-0000-0000-0000-000000000000", NULL);
	for (size_t i = 0; i < 2; i++) {
		const cJSON *part = json_object(json_object(template, "metadata"), copied[i]);
		if (part)
			json_put(&w, copied[i], part);
	}
	jw_end(&w);
	if (json_object(template, "spec"))
		json_put(&w, "spec", json_object(template, "spec"));
	else
		jw_object_of(&w, "spec", NULL, NULL);
	jw_close(&w);
}

/* Turns "Job a/b: spec.x: must" into "CronJob a/b: spec.jobTemplate.spec.x: must". */
static int template_fault(const cJSON *o, int code, struct err *e)
{
	struct err inner = *e;
	const char *path = strstr(inner.text, ": ");
	err_set(e, code, "CronJob %s/%s: spec.jobTemplate.%s", decode_namespace_of(o),
		decode_name(o), path ? path + 2 : inner.text);
	return code;
}

static int read_template(
	struct world *w, const cJSON *o, struct job **ret, struct cronjob *c, struct err *e)
{
	struct json *json = json_new(64u << 20);
	struct buf text;
	struct job_notes notes;
	struct job *j = NULL;
	const cJSON *job;
	buf_init(&text, 64u << 20);
	print_job(o, &text);
	int rc = text.failed ? err_set(e, ERR_LIMIT, "CronJob: spec.jobTemplate: is too large")
			     : json_parse(json, buf_slice(&text), &job, e);
	if (rc == 0)
		rc = job_notes_decode(w, job, &j, e);
	if (rc == 0)
		rc = job_notes_read(job, j, &notes, e);
	if (rc == 0 && (notes.admitted || notes.plan.delete_ms != NEVER_MS))
		rc = err_set(e, ERR_INVALID,
			"Job: metadata.annotations: " ADMITTED_ANNOTATION " and " DELETE_ANNOTATION
			" are for Jobs, not for what a CronJob makes; remove them");
	if (rc == 0) {
		c->duration_ms = notes.plan.duration_ms;
		c->step_ms = notes.plan.step_ms;
		c->fails = notes.plan.fails;
		*ret = j;
	} else {
		free(j);
	}
	buf_done(&text);
	json_free(json);
	return rc < 0 ? template_fault(o, rc, e) : 0;
}

static int read_policy(const cJSON *spec, enum cron_policy *ret, struct err *e)
{
	static const char *const names[] = {"Allow", "Forbid", "Replace"};
	const char *policy = json_text(spec, "concurrencyPolicy");
	*ret = CRON_ALLOW;
	for (int i = 0; policy && i < 3; i++) {
		if (strcmp(policy, names[i]) != 0)
			continue;
		*ret = (enum cron_policy)i;
		return 0;
	}
	return policy ? err_set(e, ERR_INVALID,
				"spec.concurrencyPolicy: must be Allow, Forbid or Replace")
		      : 0;
}

/* Finds the zone. Without timeZone it is that of the controller manager: UTC here. */
static int find_zone(struct world *w, const char *name, const struct zone **ret, struct err *e)
{
	int rc = world_zone(w, name, ret, e);
	if (rc < 0)
		err_wrap(e, "spec.timeZone");
	return rc;
}

static int read_schedule(struct world *w, const cJSON *o, struct cronjob *c, struct err *e)
{
	const cJSON *spec = json_object(o, "spec"), *meta = json_object(o, "metadata");
	const char *schedule = json_text(spec, "schedule"), *zone = json_text(spec, "timeZone");
	const char *created = json_text(meta, "creationTimestamp");
	c->from_ms = NEVER_MS;
	if (json_get(meta, "creationTimestamp") && !(created && text_time(created, &c->from_ms)))
		return err_set(e, ERR_INVALID,
			"metadata.creationTimestamp: is not a time; write e.g. 2026-11-21T09:58:30Z");
	if (!schedule)
		return err_set(
			e, ERR_INVALID, "spec.schedule: is missing; write e.g. \"0 3 * * *\"");
	int rc = cron_parse(schedule, &c->cron, e);
	if (rc < 0)
		err_wrap(e, "spec.schedule");
	if (rc == 0)
		rc = find_zone(w, zone ? zone : "UTC", &c->zone, e);
	if (rc < 0)
		return rc;
	return read_policy(spec, &c->policy, e);
}

int cronjob_add(struct world *w, const cJSON *o, struct err *e)
{
	struct cronjob c = {.last = SIZE_MAX};
	struct job *j = NULL;
	bool suspended = false;
	int rc = read_schedule(w, o, &c, e);
	if (rc < 0) {
		err_wrap(e, "CronJob %s/%s", decode_namespace_of(o), decode_name(o));
		return rc;
	}
	json_bool(json_object(o, "spec"), "suspend", &suspended);
	rc = read_template(w, o, &j, &c, e);
	if (rc < 0 || suspended) {
		free(j);
		return rc;
	}
	must(j);
	c.record = world_keep(w, j);
	c.name = world_keep(w, mem_strdup(decode_name(o)));
	j->family = world_keep_text(w, "CronJob/", c.name);
	world_add_cronjob(w, &c);
	return 0;
}
