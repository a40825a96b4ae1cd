#include "cli/job_change.h"

#include <string.h>

#include "base/json_writer.h"
#include "cli/commands.h"
#include "cli/job_object.h"
#include "cli/unlisted_job.h"
#include "controller/common/path.h"
#include "sluice/keys.h"

enum { OUTPUT_MAX = 64 * 1024, SENTENCE_MAX = 2048 };

const char *job_label(const cJSON *job, const char *key)
{
	return text_of(json_object(json_object(job, "metadata"), "labels"), key);
}

const char *job_hold(const cJSON *job)
{
	const char *hold = json_text(
		json_object(json_object(job, "metadata"), "annotations"), HOLD_ANNOTATION);
	return hold && strcmp(hold, "false") != 0 ? hold : NULL;
}

static int say_unqueued(const struct job_asked *a, struct err *e)
{
	struct buf text;
	buf_init(&text, SENTENCE_MAX);
	unlisted_job_tell(unlisted_job_judge(a->job), a->job, a->ns, a->name, &text);
	int rc = err_set(e, ERR_INVALID, "Job %s %s", a->name, buf_text(&text));
	buf_done(&text);
	return rc;
}

int job_check_queued(const struct job_asked *a, const char *verb, struct err *e)
{
	if (job_object_is_over(a->job))
		return err_set(e, ERR_INVALID, "Job %s has ended: it cannot be %s", a->name, verb);
	if (*text_of(json_object(a->job, "metadata"), "deletionTimestamp"))
		return err_set(
			e, ERR_INVALID, "Job %s is being deleted: it cannot be %s", a->name, verb);
	return *job_label(a->job, QUEUE_LABEL) ? 0 : say_unqueued(a, e);
}

/* ---- the request ------------------------------------------------------------------------------- */

static void put_patch(
	const struct job_change *c, const char *value, const cJSON *job, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	jw_object(&w, "metadata");
	jw_text(&w, "uid", text_of(json_object(job, "metadata"), "uid"));
	jw_object_of(&w, c->field, c->key, value, NULL);
	jw_close(&w);
}

static int check_and_write(const struct job_change *c, const struct job_asked *a,
	struct job_options *o, struct buf *out, struct err *e)
{
	struct buf path, patch, told;
	int rc = c->check(a, o, e);
	if (rc < 0)
		return rc;
	buf_init(&told, OUTPUT_MAX);
	buf_init(&path, PATH_MAX_BYTES);
	buf_init(&patch, OUTPUT_MAX);
	path_format(&path, "/apis/batch/v1/namespaces/%s/jobs/%s", a->ns, a->name);
	put_patch(c, o->value, a->job, &patch);
	rc = question_patch(a->loop, a->client, buf_text(&path), "application/merge-patch+json",
		&patch, NULL, e);
	if (rc == 0)
		c->tell(a, o, &told);
	/* The answer may hold a text of the Job, such as its user. */
	text_render_lines(buf_text(&told), out);
	buf_done(&told);
	buf_done(&path);
	buf_done(&patch);
	return rc;
}

int job_change_make(const struct job_change *c, const struct job_asked *a, struct job_options *o,
	struct buf *out, struct err *e)
{
	struct json *j = json_new(QUESTION_TREE_MAX);
	struct job_asked found = *a;
	int rc = question_job(a->loop, a->client, a->ns, a->name, j, &found.job, e);
	if (rc == ERR_GONE)
		err_set(e, rc, "there is no Job %s in namespace %s", a->name, a->ns);
	if (rc == 0)
		rc = check_and_write(c, &found, o, out, e);
	json_free(j);
	return rc;
}

/* ---- the command ------------------------------------------------------------------------------- */

struct job_command {
	const struct job_change *change;
	struct job_options *options;
};

static int ask(struct ev_loop *loop, struct kube_client *client, const char *ns, void *command,
	struct buf *out, struct err *e)
{
	const struct job_command *c = command;
	struct job_asked a = {loop, client, ns, c->options->job, NULL};
	return job_change_make(c->change, &a, c->options, out, e);
}

int job_change_run(const struct job_change *c, struct job_options *o)
{
	struct job_command command = {c, o};
	return question_answer(&o->kube, o->namespace_name, OUTPUT_MAX, ask, &command);
}
