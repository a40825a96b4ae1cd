#include <stdio.h>
#include <string.h>

#include "controller/wire/decode.h"
#include "controller/wire/decode_aside.h"
#include "controller/wire/decode_parts.h"
#include "sluice/keys.h"

/* The first guess at a Job's size: one of one container takes about 1,300 bytes, 2,200 when it has
 * run before. */
#define JOB_GUESS 3072
#define GRACE_DEFAULT_S 30
#define BACKOFF_LIMIT 6 /* the default of the API server */
#define CENTURY_S 3153600000.0

/* Reads activeDeadlineSeconds. Kubernetes counts it in 64 bits; more than a century means no
 * limit. */
static int64_t active_deadline_ms(struct decoder *d, const struct path *spec, const cJSON *of)
{
	int64_t seconds = 0;
	const cJSON *item = json_get(of, "activeDeadlineSeconds");
	if (cJSON_IsNumber(item) && item->valuedouble > CENTURY_S)
		return 0;
	if (json_i64(of, "activeDeadlineSeconds", &seconds) == ERR_INVALID || seconds < 0)
		decoder_fault(d, PATH(spec, "activeDeadlineSeconds"),
			"must be a whole number of seconds, e.g. 3600");
	return seconds < 0 ? 0 : seconds * 1000;
}

/* Whether the selector counts the Job's own pods, even once the Job is deleted. It does by the
 * Job's own uid, which the API server writes into each selector that is not manual, and onto the
 * pods. manualSelector itself proves nothing: it may be changed later, the selector may not. */
static bool selects_own_pods(const cJSON *o, const cJSON *spec)
{
	bool manual = false;
	const cJSON *selector = json_object(spec, "selector");
	const char *own = json_text(meta_of(o), "uid");
	const char *uid = json_text(json_object(selector, "matchLabels"), CONTROLLER_UID_LABEL);
	json_bool(spec, "manualSelector", &manual);
	return selector ? uid && own && strcmp(uid, own) == 0 : !manual;
}

static void read_control(struct decoder *d, const cJSON *o, const cJSON *of, struct job *j)
{
	static const char kubernetes[] = "kubernetes.io/job-controller";
	const struct path *spec = PATH(NULL, "spec");
	const char *by = json_text(of, "managedBy");
	char shown[SHOWN_SIZE];
	j->uncontrolled = true;
	if (by && strcmp(by, kubernetes) != 0)
		decoder_fault(d, PATH(spec, "managedBy"),
			"is %s, a controller that Sluice can neither start nor stop; create the Job without it",
			text_show(by, shown));
	else if (!selects_own_pods(o, of))
		decoder_fault(d, PATH(spec, "selector"),
			"is not the one of the Job's own uid, so its pods could not be told once it is deleted; create the Job without spec.selector and spec.manualSelector");
	else
		j->uncontrolled = false;
}

static void check_grace(struct decoder *d, const struct path *at, const cJSON *pod)
{
	const cJSON *item = json_get(pod, "terminationGracePeriodSeconds");
	if (!cJSON_IsNumber(item) || item->valuedouble <= JOB_GRACE_MAX_S)
		return;
	decoder_fault(d, PATH(at, "terminationGracePeriodSeconds"),
		"is %.0f; at most %d are possible, for so long its pods may keep their quota after a stop: lower it",
		item->valuedouble, JOB_GRACE_MAX_S);
}

static void read_spec(struct decoder *d, const cJSON *o, struct job *j)
{
	static const char *const modes[] = {"NonIndexed", "Indexed", NULL};
	const struct path *spec = PATH(NULL, "spec");
	const struct path *template = PATH(spec, "template");
	const struct path *at = PATH(template, "spec");
	const cJSON *of = object_field(d, NULL, o, "spec");
	const cJSON *pod = object_field(d, template, object_field(d, spec, of, "template"), "spec");
	if (json_bool(of, "suspend", &j->suspend) == ERR_INVALID)
		decoder_fault(d, PATH(spec, "suspend"), "must be true or false");
	read_control(d, o, of, j);
	check_grace(d, at, pod);
	j->parallelism = int32_field(d, spec, of, "parallelism", 0, 1);
	j->has_completions = json_get(of, "completions") != NULL;
	j->completions = int32_field(d, spec, of, "completions", 0, 0);
	j->durations.active_deadline_ms = active_deadline_ms(d, spec, of);
	j->indexed = name_field(d, spec, of, "completionMode", modes, 0) == 1;
	j->backoff_limit = int32_field(d, spec, of, "backoffLimit", 0, BACKOFF_LIMIT);
	j->ignores_disruption = ignores_disruption(of);
	j->pod_priority_class = text_field(d, at, pod, "priorityClassName", NAME_MAX_BYTES);
	j->placement = placement_field(d, at, pod);
	j->pod = pod_field(d, at, pod);
}

/* Gives "CronJob/nightly", else what the name was generated from. */
static const char *family_text(struct decoder *d, const cJSON *meta, const cJSON *owner)
{
	const struct path *at = PATH(NULL, "metadata");
	const struct path *above = PATH(at, "ownerReferences");
	const char *kind = json_text(owner, "kind"), *name = json_text(owner, "name");
	if (!kind || !name)
		return text_field(d, at, meta, "generateName", NAME_MAX_BYTES);
	kind = text_keep(d, above, kind, NAME_MAX_BYTES);
	name = text_keep(d, above, name, NAME_MAX_BYTES);
	size_t size = strlen(kind) + strlen(name) + 2;
	char *both = parcel_bytes(&d->parcel, size);
	snprintf(both, size, "%s/%s", kind, name);
	return both;
}

static const char *finalizer_text(struct decoder *d, const cJSON *meta)
{
	const char *found = NULL;
	json_each(item, json_array(meta, "finalizers")) {
		const char *text = cJSON_IsString(item) ? item->valuestring : NULL;
		if (!text || strcmp(text, "foregroundDeletion") == 0)
			continue;
		if (!found || strcmp(text, "orphan") == 0)
			found = text;
	}
	return found ? text_quote(d, found, NAME_MAX_BYTES) : NULL;
}

static void read_meta(struct decoder *d, const cJSON *o, struct job *j)
{
	const struct path *at = PATH(NULL, "metadata");
	const cJSON *meta = meta_of(o);
	const char *version = json_text(meta, "resourceVersion");
	const char *created = json_text(meta, "creationTimestamp");
	j->ns = text_field(d, at, meta, "namespace", NAME_MAX_BYTES);
	j->name = text_field(d, at, meta, "name", NAME_MAX_BYTES);
	j->generation = meta_generation(o);
	j->deleting = meta_deleting(o);
	j->finalizer = j->deleting ? finalizer_text(d, meta) : NULL;
	j->family = family_text(d, meta, meta_controller(o));
	if (version)
		text_number(version, INT64_MAX, &j->version);
	if (created && !text_time(created, &j->created_ms))
		decoder_fault(d, PATH(at, "creationTimestamp"),
			"is not a time; write e.g. \"2026-11-21T09:58:30Z\"");
}

/* Reads the grace period. Less than none is one second to a kubelet; more than a century is no
 * limit. */
static int64_t grace_ms(const cJSON *pod)
{
	int64_t seconds = GRACE_DEFAULT_S;
	const cJSON *item = json_get(pod, "terminationGracePeriodSeconds");
	if (cJSON_IsNumber(item) && item->valuedouble > CENTURY_S)
		return (int64_t)CENTURY_S * 1000;
	json_i64(pod, "terminationGracePeriodSeconds", &seconds);
	return seconds < 0 ? 1000 : seconds * 1000;
}

/*
 * Reads what the cluster looks at in the Job's pods, as its owner wrote it: without what a start
 * added. All else of the Job must have been decoded, so that faults in what quota counts, or
 * flavors join, are told by then.
 *
 * A part that only matters here (affinity to pods, spreading, ports, fields of nodes) makes no Job
 * invalid, even if it cannot be understood: the API server took it in, so it is of a later version
 * than we are, or larger than we keep. Then nothing of the cluster is asked, and the Job starts by
 * its quota alone, as if clusterFit were Ignore.
 */
static void read_template(struct decoder *d, const cJSON *o, struct job *j)
{
	const struct path *spec = PATH(NULL, "spec");
	const cJSON *template = json_object(json_object(o, "spec"), "template");
	const struct own_parts own = {
		j->pod, j->placement, j->metadata.old_affinity, j->metadata.labels};
	j->grace_ms = grace_ms(json_object(template, "spec"));
	if (!j->suspend)
		j->added_labels = added_labels_field(d, PATH(spec, "template"), template,
			&j->metadata.labels, &j->nadded_labels);
	if (!template || d->faulty)
		return;
	struct faults_aside a = faults_aside(d);
	const struct pod *p = template_field(d, j->ns, PATH(spec, "template"), template, &own);
	if (!faults_back(d, &a))
		j->template = p;
}

static void keep_invalid(struct decoder *d, struct job *j)
{
	if (!d->faulty) { /* finish_times() may replace it */
		j->invalid = j->start_after.unknown ? j->start_after.unknown : j->deadline.unknown;
		return;
	}
	struct err e = d->fault;
	err_wrap(&e, "Job %s/%s", j->ns, j->name);
	size_t len = strlen(e.text);
	char *copy = parcel_bytes(&d->parcel, len + 1);
	memcpy(copy, e.text, len);
	j->invalid = copy;
}

/* Refuses a Job whose pods claim devices, which no quota counts. A run that Sluice started goes on:
 * an admin let it in, or its version of Sluice did not look for claims. */
static void refuse_claims(struct decoder *d, const cJSON *o, const struct job *j)
{
	const struct path *pod = PATH(PATH(PATH(NULL, "spec"), "template"), "spec");
	const cJSON *text = json_object(json_object(json_object(o, "spec"), "template"), "spec");
	bool runs = !j->suspend && j->admission.state == STORY_STARTED;
	if (!runs && cJSON_GetArraySize(json_get(text, "resourceClaims")) > 0)
		decoder_fault(d, PATH(pod, "resourceClaims"),
			"no quota counts devices that are claimed; request an extended resource in "
			"resources.limits (extendedResourceName of their DeviceClass), or create "
			"the Job without the label sluice.dev/queue-name");
}

/* Raises the least number of pods to that of a gang: the API server refuses a spec.parallelism
 * below its minCount. A gang without one has spec.parallelism as its minCount, whatever that is. */
static void raise_min_to_gang(const cJSON *o, struct job *j)
{
	int64_t least = 0;
	const cJSON *scheduling = json_object(json_object(o, "spec"), "scheduling");
	const cJSON *gang = json_object(json_object(scheduling, "schedulingPolicy"), "gang");
	json_i64(gang, "minCount", &least);
	if (j->min_parallelism > 0 && least > j->min_parallelism && least <= INT32_MAX)
		j->min_parallelism = (int32_t)least;
}

static int fill(struct decoder *d, const cJSON *o, bool uncounted_claims, struct err *e)
{
	struct job *j = parcel_array(&d->parcel, 1, sizeof(*j));
	if (!decode_uid(o, &j->uid))
		return err_set(
			e, ERR_INVALID, "Job %s: metadata.uid is not a UUID", decode_name(o));
	read_meta(d, o, j);
	job_labels(d, o, j);
	read_spec(d, o, j);
	job_annotations(d, o, j);
	raise_min_to_gang(o, j);
	if (j->suspend && j->admission.state == STORY_STARTED)
		job_suspender(d, o, j);
	j->resumed_by_other = !j->suspend && resumed_by_other(o);
	job_lending(d, o, j);
	job_status(d, o, j);
	read_template(d, o, j);
	if (!uncounted_claims)
		refuse_claims(d, o, j);
	keep_invalid(d, j);
	return 0;
}

static int fill_job(struct decoder *d, const cJSON *o, struct err *e)
{
	return fill(d, o, false, e);
}

static int fill_job_with_claims(struct decoder *d, const cJSON *o, struct err *e)
{
	return fill(d, o, true, e);
}

/* Brings the Job's times to our clock, then resolves zones: "08:00" is of the day after the
 * creation. */
static void finish_times(const struct job_context *c, struct job *j)
{
	if (c && c->bring_times)
		c->bring_times(j);
	if (c && c->find_zone)
		job_times_resolve(j, c->find_zone, c->zones);
}

int decode_job(const cJSON *o, const struct job_context *c, struct job **ret, struct err *e)
{
	void *block;
	int rc = decode_kind(o, "Job", JOB_GUESS,
		c && c->uncounted_claims ? fill_job_with_claims : fill_job, &block, e);
	if (rc < 0)
		return rc;
	finish_times(c, block);
	*ret = block;
	return 0;
}
