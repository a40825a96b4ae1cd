/*
 * The commands hold and release: write or remove the annotation sluice.dev/hold.
 */
#include <string.h>

#include "cli/commands.h"
#include "cli/hold.h"
#include "cli/job_change.h"
#include "cli/job_object.h"
#include "cli/local_times.h"
#include "sluice/job.h"
#include "sluice/keys.h"

#define NOT_HELD "false" /* the annotation with that text holds nothing */

enum { BECAUSE_MAX = 512, SHOWN_MAX = 300, HOLD_TEXT_MAX = 1024 * 1024 };

struct hold_options {
	struct job_options of; /* value: the text of the annotation */
	bool release, yes;
	const char *because; /* the reason; NULL: none is given */
};

/* ---- the command line ------------------------------------------------------------------------ */

static int take_because(const struct flag *f, const char *text, void *to, struct err *e)
{
	*(const char **)to = text;
	if (strcmp(text, NOT_HELD) == 0)
		return err_set(e, ERR_INVALID,
			"--%s " NOT_HELD " would release the Job: use sluice release", f->name);
	if (text[0] && strlen(text) <= BECAUSE_MAX)
		return 0;
	return err_set(e, ERR_INVALID,
		"--%s is empty, or longer than %d bytes; say in a few words why the Job is on hold",
		f->name, BECAUSE_MAX);
}

static const struct flag hold_rows[] = {
	{FLAG_TAKE_TO("because", take_because, const char *, struct hold_options, because)},
	{FLAG_GIVEN("yes", 'y', struct hold_options, yes)},
	FLAGS_JOB(struct hold_options),
};
static const struct flag release_rows[] = {FLAGS_JOB(struct hold_options)};

static int finish_hold(void *options, char **word, size_t nwords, struct err *e)
{
	struct hold_options *o = options;
	o->of.value = o->because ? o->because : "true";
	return options_job(word, nwords, "one Job, as in: sluice hold job/train", &o->of.job, e);
}

static int finish_release(void *options, char **word, size_t nwords, struct err *e)
{
	struct hold_options *o = options;
	o->release = true;
	return options_job(word, nwords, "one Job, as in: sluice release job/train", &o->of.job, e);
}

const struct flag_table hold_flags = {
	FLAG_TABLE(hold_rows, struct hold_options), .finish = finish_hold};
const struct flag_table release_flags = {
	FLAG_TABLE(release_rows, struct hold_options), .finish = finish_release};

/* ---- what comes of it -------------------------------------------------------------------------- */

static int say_held(const struct job_asked *a, const char *hold, struct err *e)
{
	struct buf text;
	buf_init(&text, HOLD_TEXT_MAX);
	local_times_add(&(struct local_times){""}, hold, &text);
	int rc = err_set(e, ERR_INVALID, "Job %s is already on hold: \"%.*s\"", a->name, SHOWN_MAX,
		buf_text(&text));
	buf_done(&text);
	return rc;
}

static int say_it_ends(const struct job_asked *a, struct err *e)
{
	return err_set(e, ERR_INVALID,
		"Job %s goes on: %s. To stop it all the same: sluice hold job/%s -n %s --yes",
		a->name, JOB_ENDS_WHEN_STOPPED, a->name, a->ns);
}

static int check(const struct job_asked *a, void *ctx, struct err *e)
{
	const struct hold_options *o = ctx;
	const char *hold = job_hold(a->job);
	int rc = job_check_queued(a, o->release ? "released" : "held", e);
	if (rc < 0)
		return rc;
	if (o->release && !hold)
		return err_set(e, ERR_INVALID,
			"Job %s is not on hold; sluice explain job/%s -n %s says what it waits for",
			a->name, a->name, a->ns);
	if (!o->release && !o->because && hold)
		return say_held(a, hold, e);
	bool stops = !o->release && !hold && !o->yes;
	return stops && job_object_ends_when_stopped(a->job) ? say_it_ends(a, e) : 0;
}

static void tell(const struct job_asked *a, void *ctx, struct buf *out)
{
	const struct hold_options *o = ctx;
	bool suspended = job_object_is_suspended(a->job);
	bool ends = !suspended && job_object_ends_when_stopped(a->job);
	if (o->release && suspended)
		buf_printf(out, "Job %s is queued again\n", a->name);
	else if (o->release)
		buf_printf(out,
			"Job %s is released; if its stop has begun, that finishes first and the Job is queued again\n",
			a->name);
	else if (suspended)
		buf_printf(out,
			"Job %s is on hold; to queue it again: sluice release job/%s -n %s\n",
			a->name, a->name, a->ns);
	else if (ends)
		buf_printf(out,
			"Job %s is being stopped, and ends as Complete: it does not run again\n",
			a->name);
	else
		buf_printf(out,
			"Job %s is being stopped; its quota is free when its last pod is gone. To queue it again: sluice release job/%s -n %s\n",
			a->name, a->name, a->ns);
}

static const struct job_change change = {
	.field = "annotations", .key = HOLD_ANNOTATION, .check = check, .tell = tell};

int hold_job(const struct job_asked *a, bool release, struct buf *out, struct err *e)
{
	struct hold_options o = {
		.of = {.job = a->name, .value = release ? NULL : "true"}, .release = release};
	return job_change_make(&change, a, &o.of, out, e);
}

int command_hold(void *options)
{
	return job_change_run(&change, options);
}
