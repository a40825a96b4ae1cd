#include "cli/adopt/carry_out.h"

#include <ev.h>
#include <string.h>
#include <time.h>

#include "base/json_writer.h"
#include "cli/adopt/controllers.h"
#include "cli/adopt/outcome.h"
#include "cli/adopt/permission.h"
#include "cli/import/metadata.h"
#include "cli/question.h"
#include "sluice/keys.h"

enum { BODY_MAX = 64 * 1024, PATH_SIZE = 700, HEARSAY_SECONDS = 1, LOOKS_MAX = 5, PAUSE_MS = 50 };

/* Writes the queue's label on the Job. ERR_CONFLICT: the Job was written since it was looked at. */
static int write_label(struct ev_loop *loop, struct kube_client *client, const struct adopt_plan *p,
	const struct adopt_row *r, struct err *e)
{
	char path[PATH_SIZE];
	struct buf body;
	snprintf(path, sizeof(path), "/apis/batch/v1/namespaces/%.253s/jobs/%.253s",
		p->namespace_name, r->name);
	buf_init(&body, BODY_MAX);
	struct json_writer w = json_writer_object(&body);
	jw_object(&w, "metadata");
	jw_text(&w, "resourceVersion", r->version);
	jw_object(&w, "labels");
	jw_text(&w, QUEUE_LABEL, r->queue);
	if (r->has_kueue_label)
		jw_text(&w, KUEUE_DOMAIN "/queue-name", NULL);
	jw_end(&w);
	jw_end(&w);
	/* The reservation is for the pods that the Job has, and a pod that terminates is still one.
	 * Before Kubernetes 1.36 no policy of the API server sees to that. */
	jw_object_of(&w, "spec", "podReplacementPolicy", "Failed", NULL);
	jw_close(&w);
	int rc = question_patch(loop, client, path, KUBE_MERGE_PATCH, &body, NULL, e);
	buf_done(&body);
	return rc;
}

/* Labels a Job. While it runs its status changes now and then; the plan holds as long as its spec
 * is the same. */
static int label_job(struct ev_loop *loop, struct kube_client *client, const struct adopt_plan *p,
	struct adopt_row *r, struct err *e)
{
	int rc = write_label(loop, client, p, r, e);
	for (int looks = 0; rc == ERR_CONFLICT && looks < LOOKS_MAX; looks++) {
		/* Waits longer each time: a controller that writes the Job again and again pauses, too. */
		nanosleep(&(struct timespec){.tv_nsec = (PAUSE_MS << looks) * 1000000L}, NULL);
		rc = adopt_row_look_again(loop, client, p->namespace_name, r, e);
		if (rc == 0)
			rc = write_label(loop, client, p, r, e);
	}
	return rc;
}

/* Labels each Job, whether or not another one is refused. The policies read the Namespace from a
 * cache: a permission that was just written may reach them a moment late. */
static void label_jobs(
	struct ev_loop *loop, struct kube_client *client, struct adopt_plan *p, bool just_permitted)
{
	for (size_t i = 0; i < p->nrows; i++) {
		struct adopt_row *r = &p->row[i];
		struct err refused;
		int rc = r->takes ? label_job(loop, client, p, r, &refused) : 0;
		if (rc == ERR_DENIED && just_permitted) {
			just_permitted = false;
			nanosleep(&(struct timespec){.tv_sec = HEARSAY_SECONDS}, NULL);
			rc = label_job(loop, client, p, r, &refused);
		}
		if (rc == 0)
			continue;
		r->takes = false;
		snprintf(r->why, sizeof(r->why), "%s%s", refused.text,
			r->has_kueue_label && strstr(refused.text, KUEUE_DOMAIN)
				? " (Kueue's webhook keeps its label on a Job that runs: docs/migrate.md, Runs of Kueue)"
				: "");
	}
}

static void leave_permission(struct adopt_aftermath *a, const struct adopt_plan *p, const char *why)
{
	a->left = true;
	snprintf(a->words, sizeof(a->words),
		"The permission stays: %s. Take it back when each Job has its Event Adopted, not earlier (a labelled Job without it is stopped):\n"
		"    kubectl annotate namespace %s " ADOPT_ANNOTATION "-\n",
		why, p->namespace_name);
}

static void end_permission(struct ev_loop *loop, struct kube_client *client,
	const struct adopt_plan *p, const struct adopt_permission *given,
	const struct adopt_needy *needy, struct adopt_aftermath *ret)
{
	char why[700];
	bool gone = false;
	struct err e;
	if (needy->count > 0) {
		snprintf(why, sizeof(why),
			"Job %.253s%s runs, is in a queue and is not adopted yet", needy->first,
			needy->count > 1 ? ", and not it alone," : "");
		leave_permission(ret, p, why);
	} else if (!given->ours) {
		snprintf(why, sizeof(why), "it was there before (%s)", given->text);
		leave_permission(ret, p, why);
		ret->left = false;
	} else if (adopt_permission_take_back(loop, client, p->namespace_name, given, &gone, &e) <
		   0) {
		leave_permission(ret, p, e.text);
	} else if (!gone) {
		leave_permission(ret, p, "somebody has changed it meanwhile");
	} else {
		snprintf(ret->words, sizeof(ret->words),
			"The permission (annotation " ADOPT_ANNOTATION
			" of the Namespace) is taken back.\n");
	}
}

int adopt_carry_out(struct ev_loop *loop, struct kube_client *client, const struct adopt_options *o,
	struct adopt_plan *p, FILE *progress, struct adopt_aftermath *ret, struct err *e)
{
	struct adopt_permission given;
	struct adopt_needy needy;
	struct err unseen;
	int rc = o->force ? 0 : adopt_controllers_check(loop, client, o->controller_namespace, e);
	if (rc == 0)
		rc = adopt_permission_give(
			loop, client, p->namespace_name, p->begun_by_ms, &given, e);
	if (rc < 0)
		return rc;
	label_jobs(loop, client, p, given.ours);
	if (adopt_outcome_wait(loop, client, p, o->timeout_ms, progress, &needy, &unseen) < 0)
		leave_permission(ret, p, unseen.text);
	else
		end_permission(loop, client, p, &given, &needy, ret);
	return 0;
}
