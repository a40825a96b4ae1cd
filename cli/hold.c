/*
 * The commands hold and release: write or remove the annotation sluice.dev/hold with the user's own
 * rights, and say what follows. Unlike kubectl annotate they first check that it has an effect.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/job_object.h"
#include "cli/question.h"
#include "controller/common/path.h"
#include "controller/gate/gate.h"
#include "controller/wire/labels.h"

#define NOT_HELD "false" /* the annotation with that text holds nothing */

enum { OUTPUT_MAX = 64 * 1024, BECAUSE_MAX = 512 };

struct hold_options {
	bool help, release;
	const char *because; /* what the annotation is to say; NULL: no more than that it is so */
	const char *namespace_name;
	const char *job;
	struct kube_config_options kube; /* as kubectl */
	struct buf *out;		 /* what follows, for the user */
};

/* ---- the command line ------------------------------------------------------------------------ */

static int take_namespace(const char *text, void *options, struct err *e)
{
	((struct hold_options *)options)->namespace_name = text;
	return flag_check_namespace("--namespace", text, e);
}

static int take_because(const char *text, void *options, struct err *e)
{
	((struct hold_options *)options)->because = text;
	if (strcmp(text, NOT_HELD) == 0)
		return err_set(e, ERR_INVALID,
			"--because " NOT_HELD " would release the Job: use sluice release");
	if (text[0] && strlen(text) <= BECAUSE_MAX)
		return 0;
	return err_set(e, ERR_INVALID,
		"--because is empty, or longer than %d bytes; say in a few words why the Job is on hold",
		BECAUSE_MAX);
}

static const struct flag flags[] = {
	{FLAG_TAKE("namespace", 'n', take_namespace)},
	{FLAG_TAKE("because", 0, take_because)},
	{FLAG_KUBECONFIG(struct hold_options, kube)},
	{FLAG_CONTEXT(struct hold_options, kube)},
	{FLAG_GIVEN("help", 'h', struct hold_options, help)},
};

static int parse(int argc, char **argv, struct hold_options *o, struct err *e)
{
	int rc = flags_walk(argc, argv, 1, flags, sizeof(flags) / sizeof(*flags), o, e);
	if (rc < 0 || o->help)
		return rc;
	o->job = flag_job_name(argv + optind, (size_t)(argc - optind));
	if (!o->job)
		return err_set(e, ERR_INVALID, "it wants one Job, as in: sluice %s job/train",
			o->release ? "release" : "hold");
	if (o->release && o->because)
		return err_set(e, ERR_INVALID, "--because is for hold");
	return flag_check_name("JOB", o->job, e);
}

/* ---- what comes of it -------------------------------------------------------------------------- */

static const char *hold_of(const cJSON *job)
{
	const char *hold = json_text(
		json_object(json_object(job, "metadata"), "annotations"), HOLD_ANNOTATION);
	return hold && strcmp(hold, NOT_HELD) != 0 ? hold : NULL;
}

/* ERR_INVALID: the annotation would have no effect on this Job. */
static int check_has_effect(const cJSON *job, const struct hold_options *o, struct err *e)
{
	const cJSON *labels = json_object(json_object(job, "metadata"), "labels");
	const char *hold = hold_of(job);
	if (job_object_is_over(job))
		return err_set(e, ERR_INVALID,
			"Job %s has ended: it can be neither held nor released", o->job);
	if (!*text_of(labels, QUEUE_LABEL))
		return err_set(e, ERR_INVALID,
			"Job %s is in no queue (it has no label " QUEUE_LABEL ")%s", o->job,
			o->release ? "" : "; to stop it, set spec.suspend to true");
	if (o->release && !hold)
		return err_set(e, ERR_INVALID,
			"Job %s is not on hold; sluice explain job/%s -n %s says what it waits for",
			o->job, o->job, o->namespace_name);
	if (!o->release && !o->because && hold)
		return err_set(e, ERR_INVALID, "Job %s is already on hold: %.300s", o->job, hold);
	return 0;
}

static void tell(const cJSON *job, const struct hold_options *o, struct buf *out)
{
	bool suspended = job_object_is_suspended(job);
	if (o->release && suspended)
		buf_printf(out, "Job %s is queued again\n", o->job);
	else if (o->release)
		buf_printf(out,
			"Job %s is released; if its stop has begun, that finishes first and the Job is queued again\n",
			o->job);
	else if (suspended)
		buf_printf(out,
			"Job %s is on hold; to queue it again: sluice release job/%s -n %s\n",
			o->job, o->job, o->namespace_name);
	else
		buf_printf(out,
			"Job %s is being stopped; its quota is free when its last pod is gone. To queue it again: sluice release job/%s -n %s\n",
			o->job, o->job, o->namespace_name);
}

/* ---- the request ------------------------------------------------------------------------------- */

/* Of that Job, and of none that was made since under its name. */
static void put_patch(const cJSON *job, const struct hold_options *o, struct buf *out)
{
	buf_puts(out, "{\"metadata\":{\"uid\":");
	buf_json_string(out, text_of(json_object(job, "metadata"), "uid"));
	buf_puts(out, ",\"annotations\":{\"" HOLD_ANNOTATION "\":");
	if (o->release)
		buf_puts(out, "null");
	else
		buf_json_string(out, o->because ? o->because : "true");
	buf_puts(out, "}}}");
}

static int ask_and_write(struct ev_loop *loop, struct kube_client *client,
	const char *namespace_name, void *options, struct err *e)
{
	struct hold_options *o = options;
	struct json *j = json_new(QUESTION_TREE_MAX);
	struct buf path, patch;
	const cJSON *job;
	o->namespace_name = namespace_name;
	buf_init(&path, PATH_MAX_BYTES);
	buf_init(&patch, OUTPUT_MAX);
	path_format(&path, "/apis/batch/v1/namespaces/%s/jobs/%s", o->namespace_name, o->job);
	int rc = question_job(loop, client, o->namespace_name, o->job, j, &job, e);
	if (rc == ERR_GONE)
		err_set(e, rc, "there is no Job %s in namespace %s", o->job, o->namespace_name);
	if (rc == 0)
		rc = check_has_effect(job, o, e);
	if (rc == 0) {
		put_patch(job, o, &patch);
		rc = question_patch(loop, client, buf_text(&path), "application/merge-patch+json",
			&patch, NULL, e);
	}
	if (rc == 0)
		tell(job, o, o->out);
	buf_done(&path);
	buf_done(&patch);
	json_free(j);
	return rc;
}

int command_hold(int argc, char **argv)
{
	enum command which = command_by_name(argv[0]);
	struct hold_options o = {.release = which == COMMAND_RELEASE};
	struct buf out;
	struct err e = {""};
	if (parse(argc, argv, &o, &e) < 0) {
		fprintf(stderr, "sluice: %s: %s; see sluice help %s\n", command_name(which), e.text,
			command_name(which));
		return CLI_USAGE;
	}
	if (o.help) {
		help_print(which, stdout);
		return CLI_OK;
	}
	buf_init(&out, OUTPUT_MAX);
	o.out = &out;
	int rc = question_run(&o.kube, o.namespace_name, ask_and_write, &o, &e);
	int code = command_end(rc, &out, &e);
	buf_done(&out);
	return code;
}
