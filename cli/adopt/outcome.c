#include "cli/adopt/outcome.h"

#include <ev.h>
#include <string.h>
#include <time.h>

#include "base/monotonic.h"
#include "cli/job_object.h"
#include "cli/question.h"
#include "sluice/keys.h"

enum { PATH_SIZE = 700, LOOK_SECONDS = 1 };

struct looker {
	struct ev_loop *loop;
	struct kube_client *client;
	struct adopt_plan *plan;
	struct json *json;
};

static const char *uid_of(const cJSON *job)
{
	const char *uid = json_text(json_object(job, "metadata"), "uid");
	return uid ? uid : "";
}

static bool has_story(const cJSON *job)
{
	return json_text(json_object(json_object(job, "metadata"), "annotations"),
		       STORY_ANNOTATION) != NULL;
}

static struct adopt_row *row_of(const struct looker *l, const char *uid)
{
	for (size_t i = 0; i < l->plan->nrows; i++)
		if (l->plan->row[i].takes && strcmp(l->plan->row[i].uid, uid) == 0)
			return &l->plan->row[i];
	return NULL;
}

static enum adopt_outcome outcome_of(const cJSON *job)
{
	if (job_object_is_suspended(job))
		return ADOPT_STOPPED;
	if (has_story(job))
		return ADOPT_ADOPTED;
	bool deleting = json_text(json_object(job, "metadata"), "deletionTimestamp") != NULL;
	return deleting || job_object_is_over(job) ? ADOPT_ENDED : ADOPT_WAITS;
}

static void decide(struct adopt_row *r, enum adopt_outcome outcome, const char *why)
{
	r->outcome = outcome;
	snprintf(r->why, sizeof(r->why), "%s", why);
}

static const char *words_for(enum adopt_outcome outcome)
{
	switch (outcome) {
	case ADOPT_WAITS:
		return "no controller has said anything of it yet";
	case ADOPT_STOPPED:
		return "it was stopped meanwhile; sluice explain says why";
	case ADOPT_ENDED:
		return "it has ended meanwhile, or is being deleted";
	case ADOPT_ADOPTED:
	case ADOPT_KEPT_OUT:
		break;
	}
	return "";
}

static void look_at_job(const struct looker *l, const cJSON *job, struct adopt_needy *ret)
{
	const char *name = json_text(json_object(job, "metadata"), "name");
	struct adopt_row *r = row_of(l, uid_of(job));
	enum adopt_outcome outcome = outcome_of(job);
	if (r)
		decide(r, outcome, words_for(outcome));
	if (outcome == ADOPT_WAITS && ret->count++ == 0)
		snprintf(ret->first, sizeof(ret->first), "%s", name ? name : "");
}

static int look_at_jobs(const struct looker *l, struct adopt_needy *ret, struct err *e)
{
	char path[PATH_SIZE];
	const cJSON *root;
	*ret = (struct adopt_needy){0};
	snprintf(path, sizeof(path),
		"/apis/batch/v1/namespaces/%.63s/jobs?labelSelector=sluice.dev%%2Fqueue-name",
		l->plan->namespace_name);
	int rc = question_ask(l->loop, l->client, path, l->json, &root, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < l->plan->nrows; i++)
		if (l->plan->row[i].takes)
			decide(&l->plan->row[i], ADOPT_ENDED, "it was deleted meanwhile");
	json_each(job, json_array(root, "items"))
		look_at_job(l, job, ret);
	return 0;
}

/* Reads the Events NotAdopted; a user without that right waits for the stories alone. */
static void look_at_events(const struct looker *l)
{
	char path[PATH_SIZE];
	const cJSON *root;
	struct err ignored;
	snprintf(path, sizeof(path),
		"/api/v1/namespaces/%.63s/events?fieldSelector=reason%%3DNotAdopted",
		l->plan->namespace_name);
	if (question_ask(l->loop, l->client, path, l->json, &root, &ignored) < 0)
		return;
	json_each(event, json_array(root, "items")) {
		const char *message = json_text(event, "message");
		const char *uid = json_text(json_object(event, "involvedObject"), "uid");
		struct adopt_row *r = row_of(l, uid ? uid : "");
		if (r && r->outcome == ADOPT_WAITS)
			decide(r, ADOPT_KEPT_OUT, message ? message : "");
	}
}

static size_t count_rows(const struct adopt_plan *p, enum adopt_outcome outcome)
{
	size_t n = 0;
	for (size_t i = 0; i < p->nrows; i++)
		n += p->row[i].takes && p->row[i].outcome == outcome;
	return n;
}

static int look(const struct looker *l, struct adopt_needy *ret, struct err *e)
{
	int rc = look_at_jobs(l, ret, e);
	if (rc == 0 && count_rows(l->plan, ADOPT_WAITS) > 0)
		look_at_events(l);
	return rc;
}

static void tell_progress(const struct adopt_plan *p, size_t waiting, FILE *progress)
{
	if (progress)
		fprintf(progress,
			"sluice: %zu adopted; waiting for the controller to decide on %zu\n",
			count_rows(p, ADOPT_ADOPTED), waiting);
}

int adopt_outcome_wait(struct ev_loop *loop, struct kube_client *client, struct adopt_plan *p,
	int64_t timeout_ms, FILE *progress, struct adopt_needy *ret, struct err *e)
{
	const int64_t until_us = monotonic_us() + timeout_ms * 1000;
	struct looker l = {loop, client, p, json_new(QUESTION_TREE_MAX)};
	size_t told = 0;
	int rc = look(&l, ret, e);
	for (size_t waiting = 0; (rc < 0 || (waiting = count_rows(p, ADOPT_WAITS)) > 0) &&
				 monotonic_us() < until_us;) {
		if (rc == 0 && waiting != told)
			tell_progress(p, told = waiting, progress);
		nanosleep(&(struct timespec){.tv_sec = LOOK_SECONDS}, NULL);
		rc = look(&l, ret, e);
	}
	json_free(l.json);
	return rc;
}
