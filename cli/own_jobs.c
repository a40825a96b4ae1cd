#include "cli/own_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/job_object.h"
#include "controller/common/path.h"
#include "sluice/job.h"
#include "sluice/keys.h"

static const char *annotation(const cJSON *job, const char *key)
{
	return text_of(json_object(json_object(job, "metadata"), "annotations"), key);
}

const char *own_jobs_submitter(const cJSON *job)
{
	return annotation(job, SUBMITTED_ANNOTATION);
}

int32_t own_jobs_nice(const cJSON *job)
{
	long nice = strtol(annotation(job, NICE_ANNOTATION), NULL, 10);
	return nice >= -NICE_MAX && nice <= NICE_MAX ? (int32_t)nice : 0;
}

static const char *pod_priority(const cJSON *job)
{
	const cJSON *template = json_object(json_object(job, "spec"), "template");
	return text_of(json_object(template, "spec"), "priorityClassName");
}

static bool is_of_the_same(const cJSON *job, const cJSON *other)
{
	return strcmp(own_jobs_submitter(job), own_jobs_submitter(other)) == 0 &&
	       strcmp(job_label(job, PRIORITY_LABEL), job_label(other, PRIORITY_LABEL)) == 0 &&
	       strcmp(pod_priority(job), pod_priority(other)) == 0;
}

static bool waits(const cJSON *job)
{
	return job_object_is_suspended(job) && !job_object_is_over(job) && !job_hold(job) &&
	       !*text_of(json_object(job, "metadata"), "deletionTimestamp");
}

struct looking {
	const struct job_asked *a;
	void (*each)(const struct own_job *j, void *ctx);
	void *ctx;
};

static void look_at(const cJSON *job, void *ctx)
{
	const struct looking *l = ctx;
	const cJSON *meta = json_object(job, "metadata");
	struct own_job own = {
		text_of(meta, "name"), text_of(meta, "creationTimestamp"), own_jobs_nice(job)};
	if (strcmp(own.name, l->a->name) != 0 && waits(job) && is_of_the_same(l->a->job, job))
		l->each(&own, l->ctx);
}

int own_jobs_each(const struct job_asked *a, void (*each)(const struct own_job *j, void *ctx),
	void *ctx, struct err *e)
{
	struct json *json = json_new(QUESTION_TREE_MAX);
	struct looking looking = {a, each, ctx};
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	path_format(&path, "/apis/batch/v1/namespaces/%s/jobs?labelSelector=%s", a->ns,
		QUEUE_LABEL "=");
	path_escape(&path, job_label(a->job, QUEUE_LABEL));
	int rc = question_each(
		a->loop, a->client, json, buf_text(&path), look_at, &looking, NULL, e);
	buf_done(&path);
	json_free(json);
	return rc;
}
