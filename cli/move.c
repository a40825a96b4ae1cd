#include "cli/move.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/job_object.h"
#include "cli/queued_place.h"
#include "controller/common/path.h"
#include "sluice/keys.h"

static int take_queue(const char *text, void *options, struct err *e)
{
	((struct move *)options)->queue = text;
	return flag_check_name("--queue", text, e);
}

static const struct flag flags[] = {
	{FLAG_TAKE("queue", 'q', take_queue), .value = "QUEUE"},
	JOB_OPTIONS_FLAGS(struct move, of),
};

const struct flag_table move_flags = {FLAG_TABLE(flags)};

int move_parse(int argc, char **argv, struct move *m, struct err *e)
{
	int rc = flags_walk(argc, argv, 1, &move_flags, m, e);
	if (rc < 0 || m->of.help)
		return rc;
	m->of.job = flag_job_name(argv + optind, (size_t)(argc - optind));
	if (!m->of.job || !m->queue)
		return err_set(e, ERR_INVALID,
			"it wants one Job and a LocalQueue, as in: sluice move job/train --queue night");
	return flag_check_name("JOB", m->of.job, e);
}

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
			a->name, from, pods, pods == 1 ? "is" : "are", a->name, a->ns, m->queue);
	return 0;
}

static void read_inactive(const cJSON *queue, struct move *m)
{
	json_each(c, json_array(json_object(queue, "status"), "conditions"))
		if (strcmp(text_of(c, "type"), "Active") == 0 &&
			strcmp(text_of(c, "status"), "False") == 0)
			snprintf(m->inactive, sizeof(m->inactive), "%s", text_of(c, "message"));
}

/* Who may not read LocalQueues may move a Job all the same. */
static int check_queue_exists(const struct job_asked *a, struct move *m, struct err *e)
{
	struct json *json = json_new(QUESTION_TREE_MAX);
	const cJSON *queue;
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	path_format(&path, SLUICE_ROOT "/namespaces/%s/localqueues/%s", a->ns, m->queue);
	int rc = question_ask(a->loop, a->client, buf_text(&path), json, &queue, NULL);
	if (rc == 0)
		read_inactive(queue, m);
	if (rc == ERR_GONE)
		err_set(e, rc,
			"there is no LocalQueue %s in namespace %s; kubectl get localqueues.sluice.dev -n %s lists those that there are",
			m->queue, a->ns, a->ns);
	buf_done(&path);
	json_free(json);
	return rc == ERR_GONE ? rc : 0;
}

static int check(const struct job_asked *a, void *ctx, struct err *e)
{
	struct move *m = ctx;
	int rc = job_check_queued(a, "moved", e);
	if (rc == 0 && strcmp(job_label(a->job, QUEUE_LABEL), m->queue) == 0)
		return err_set(
			e, ERR_INVALID, "Job %s is in LocalQueue %s already", a->name, m->queue);
	if (rc == 0)
		rc = check_holds_no_quota(a, m, e);
	return rc < 0 ? rc : check_queue_exists(a, m, e);
}

/* ---- what comes of it -------------------------------------------------------------------------- */

static bool is_there(const cJSON *queued_job, const void *ctx)
{
	const struct move *m = ctx;
	return strcmp(text_of(json_object(queued_job, "spec"), "queue"), m->queue) == 0;
}

static void tell(const struct job_asked *a, void *ctx, struct buf *out)
{
	const struct move *m = ctx;
	struct queued_place place;
	buf_printf(out, "Job %s is moved to LocalQueue %s: ", a->name, m->queue);
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

struct job_change move_change(struct move *m)
{
	return (struct job_change){.field = "labels",
		.key = QUEUE_LABEL,
		.value = m->queue,
		.check = check,
		.tell = tell,
		.ctx = m};
}

int command_move(int argc, char **argv)
{
	struct move m = {.queue = NULL};
	struct err e = {""};
	if (move_parse(argc, argv, &m, &e) < 0)
		return job_change_usage(COMMAND_MOVE, &e);
	if (m.of.help) {
		help_print(COMMAND_MOVE, stdout);
		return CLI_OK;
	}
	struct job_change change = move_change(&m);
	return job_change_run(&change, &m.of);
}
