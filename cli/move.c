#include "cli/move.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/job_object.h"
#include "cli/queued_place.h"
#include "sluice/keys.h"

static const struct flag rows[] = {
	{FLAG_NAME("queue", 'q', struct move, of.value, "QUEUE")},
	FLAGS_JOB(struct move),
};

static int finish(void *options, char **word, size_t nwords, struct err *e)
{
	static const char wants[] =
		"one Job and a LocalQueue, as in: sluice move job/train --queue night";
	struct move *m = options;
	int rc = options_job(word, nwords, wants, &m->of.job, e);
	return rc == 0 && !m->of.value ? err_set(e, ERR_INVALID, "it wants %s", wants) : rc;
}

const struct flag_table move_flags = {FLAG_TABLE(rows, struct move), .finish = finish};

/* ---- may it be moved? -------------------------------------------------------------------------- */

static int64_t pods_left(const cJSON *job)
{
	const cJSON *status = json_object(job, "status");
	return number_of(status, "active") + number_of(status, "terminating");
}

static int check_holds_no_quota(const struct job_asked *a, const struct move *m, struct err *e)
{
	const char *from = job_label(a->job, QUEUE_LABEL);
	int64_t pods = pods_left(a->job);
	if (!job_object_is_suspended(a->job))
		return err_set(e, ERR_INVALID,
			"Job %s runs and holds quota of LocalQueue %s, so it cannot be moved; stop it first (sluice hold job/%s -n %s), move it when its last pod is gone, then sluice release job/%s -n %s",
			a->name, from, a->name, a->ns, a->name, a->ns);
	if (pods > 0)
		return err_set(e, ERR_INVALID,
			"Job %s holds quota of LocalQueue %s until its last pod is gone (%" PRId64
			" %s left), so it cannot be moved yet; try again then: sluice move job/%s -n %s --queue %s",
			a->name, from, pods, pods == 1 ? "is" : "are", a->name, a->ns, m->of.value);
	return 0;
}

static void read_inactive(const cJSON *queue, struct move *m)
{
	const cJSON *active = json_condition(queue, "Active");
	if (strcmp(text_of(active, "status"), "False") == 0)
		snprintf(m->inactive, sizeof(m->inactive), "%s", text_of(active, "message"));
}

/* Checks that the LocalQueue exists. A user who may not read LocalQueues may move a Job all the
 * same. */
static int check_queue_exists(const struct job_asked *a, struct move *m, struct err *e)
{
	struct json *json = json_new(QUESTION_TREE_MAX);
	const cJSON *queue;
	int rc = question_get(a->loop, a->client, json, &queue, NULL,
		SLUICE_ROOT "/namespaces/%s/localqueues/%s", a->ns, m->of.value);
	if (rc == 0)
		read_inactive(queue, m);
	if (rc == ERR_GONE)
		err_set(e, rc,
			"there is no LocalQueue %s in namespace %s; kubectl get localqueues.sluice.dev -n %s lists those that there are",
			m->of.value, a->ns, a->ns);
	json_free(json);
	return rc == ERR_GONE ? rc : 0;
}

static int check(const struct job_asked *a, void *ctx, struct err *e)
{
	struct move *m = ctx;
	int rc = job_check_queued(a, "moved", e);
	if (rc == 0 && strcmp(job_label(a->job, QUEUE_LABEL), m->of.value) == 0)
		return err_set(
			e, ERR_INVALID, "Job %s is in LocalQueue %s already", a->name, m->of.value);
	if (rc == 0)
		rc = check_holds_no_quota(a, m, e);
	return rc < 0 ? rc : check_queue_exists(a, m, e);
}

/* ---- what comes of it -------------------------------------------------------------------------- */

static bool is_there(const cJSON *queued_job, const void *ctx)
{
	const struct move *m = ctx;
	return strcmp(text_of(json_object(queued_job, "spec"), "queue"), m->of.value) == 0;
}

static void tell(const struct job_asked *a, void *ctx, struct buf *out)
{
	const struct move *m = ctx;
	struct queued_place place;
	buf_printf(out, "Job %s is moved to LocalQueue %s: ", a->name, m->of.value);
	if (job_hold(a->job)) {
		buf_printf(out, "it stays on hold there; to queue it: sluice release job/%s -n %s",
			a->name, a->ns);
	} else {
		buf_puts(out, "it has its place there by its time of queueing");
		if (queued_place_ask(a, is_there, m, &place))
			queued_place_tell(&place, out);
	}
	if (*m->inactive)
		buf_printf(out, "; nothing starts there now: %s", m->inactive);
	buf_putc(out, '\n');
}

const struct job_change move_change = {
	.field = "labels", .key = QUEUE_LABEL, .check = check, .tell = tell};

int command_move(void *options)
{
	return job_change_run(&move_change, options);
}
