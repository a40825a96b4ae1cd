/*
 * The commands hold and release: write or remove the annotation sluice.dev/hold.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/job_change.h"
#include "cli/job_object.h"
#include "cli/local_times.h"
#include "sluice/job.h"
#include "sluice/keys.h"

#define NOT_HELD "false" /* the annotation with that text holds nothing */

enum { BECAUSE_MAX = 512, SHOWN_MAX = 300, HOLD_TEXT_MAX = 1024 * 1024 };

struct hold_options {
	struct job_options of;
	bool release, yes;
	const char *because; /* what the annotation is to say; NULL: no more than that it is so */
};

/* ---- the command line ------------------------------------------------------------------------ */

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

static const struct flag hold_rows[] = {
	{FLAG_TAKE("because", 0, take_because)},
	{FLAG_GIVEN("yes", 'y', struct hold_options, yes)},
	JOB_OPTIONS_FLAGS(struct hold_options, of),
};
static const struct flag release_rows[] = {JOB_OPTIONS_FLAGS(struct hold_options, of)};

const struct flag_table hold_flags = {FLAG_TABLE(hold_rows)};
const struct flag_table release_flags = {FLAG_TABLE(release_rows)};

static int parse(int argc, char **argv, struct hold_options *o, struct err *e)
{
	int rc = flags_walk(argc, argv, 1, o->release ? &release_flags : &hold_flags, o, e);
	if (rc < 0 || o->of.help)
		return rc;
	o->of.job = flag_job_name(argv + optind, (size_t)(argc - optind));
	if (!o->of.job)
		return err_set(e, ERR_INVALID, "it wants one Job, as in: sluice %s job/train",
			o->release ? "release" : "hold");
	return flag_check_name("JOB", o->of.job, e);
}

/* ---- what comes of it -------------------------------------------------------------------------- */

static int say_held(const struct job_asked *a, const char *hold, struct err *e)
{
	struct buf text;
	buf_init(&text, HOLD_TEXT_MAX);
	local_times_add(&(struct local_times){""}, hold, &text);
	int rc = err_set(e, ERR_INVALID, "Job %s is already on hold: %.*s", a->name, SHOWN_MAX,
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

int command_hold(int argc, char **argv)
{
	enum command which = command_by_name(argv[0]);
	struct hold_options o = {.release = which == COMMAND_RELEASE};
	struct err e = {""};
	if (parse(argc, argv, &o, &e) < 0)
		return job_change_usage(which, &e);
	if (o.of.help) {
		help_print(which, stdout);
		return CLI_OK;
	}
	return job_change_run(&(struct job_change){.field = "annotations",
				      .key = HOLD_ANNOTATION,
				      .value = o.release   ? NULL
					       : o.because ? o.because
							   : "true",
				      .check = check,
				      .tell = tell,
				      .ctx = &o},
		&o.of);
}
