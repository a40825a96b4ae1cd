#include "cli/nice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/job_object.h"
#include "cli/own_jobs.h"
#include "sluice/job.h"
#include "sluice/keys.h"

static const struct flag rows[] = {
	{FLAG_GIVEN("top", 't', struct nice_change, top)},
	FLAGS_JOB(struct nice_change),
};

static int take_number(struct nice_change *c, const char *text, struct err *e)
{
	char *end;
	long nice = strtol(text, &end, 10);
	if (!*text || *end || nice < -NICE_MAX || nice > NICE_MAX)
		return err_set(e, ERR_INVALID,
			"\"%.40s\" is not a whole number from -%d to %d, as in: sluice nice job/train 10",
			text, NICE_MAX, NICE_MAX);
	c->nice = (int32_t)nice;
	return 0;
}

static int finish(void *options, char **word, size_t nwords, struct err *e)
{
	struct nice_change *c = options;
	const char *number = !c->top && nwords > 1 ? word[--nwords] : NULL;
	int rc = options_job(word, number || c->top ? nwords : 0,
		"one Job, and a number or --top, as in: sluice nice job/train 10", &c->of.job, e);
	return rc == 0 && number ? take_number(c, number, e) : rc;
}

const struct flag_table nice_flags = {
	FLAG_TABLE(rows, struct nice_change), .negatives = true, .finish = finish};

/* ---- which number, and what it does ------------------------------------------------------------ */

static bool goes_before(const struct nice_change *c, const struct own_job *j)
{
	return c->nice != j->nice ? c->nice < j->nice : strcmp(c->created, j->created) < 0;
}

/* Counts another Job. With --top there is no number yet: the Job will go before all. */
static void look_at(const struct own_job *j, void *ctx)
{
	struct nice_change *c = ctx;
	c->passed += c->top || goes_before(c, j);
	if (c->others++ > 0 && j->nice >= c->least)
		return;
	c->least = j->nice;
	snprintf(c->first, sizeof(c->first), "%s", j->name);
}

static int choose_top(const struct job_asked *a, struct nice_change *c, struct err *e)
{
	int32_t now = own_jobs_nice(a->job);
	if (c->others == 0)
		return err_set(e, ERR_INVALID,
			"no other Job of %s waits in LocalQueue %s/%s with the priority of Job %s: it has none to go before",
			own_jobs_submitter(a->job), a->ns, job_label(a->job, QUEUE_LABEL), a->name);
	if (now < c->least)
		return err_set(e, ERR_INVALID,
			"Job %s has sluice.dev/nice %d, and goes before all other waiting Jobs of %s already",
			a->name, now, own_jobs_submitter(a->job));
	if (c->least <= -NICE_MAX)
		return err_set(e, ERR_INVALID,
			"Job %s has sluice.dev/nice %d, the least there is; give it a higher one first: sluice nice job/%s 0 -n %s",
			c->first, c->least, c->first, a->ns);
	c->nice = c->least - 1;
	return 0;
}

static int check_number(const struct job_asked *a, const struct nice_change *c, struct err *e)
{
	if (own_jobs_nice(a->job) == c->nice)
		return err_set(
			e, ERR_INVALID, "Job %s has sluice.dev/nice %d already", a->name, c->nice);
	return 0;
}

/* Looks at the other Jobs. A user who may not list Jobs may give a number all the same. */
static int check_others(const struct job_asked *a, struct nice_change *c, struct err *e)
{
	c->created = text_of(json_object(a->job, "metadata"), "creationTimestamp");
	int rc = own_jobs_each(a, look_at, c, e);
	c->known = rc == 0;
	if (c->top)
		return rc < 0 ? rc : choose_top(a, c, e);
	return check_number(a, c, e);
}

static int check(const struct job_asked *a, void *ctx, struct err *e)
{
	struct nice_change *c = ctx;
	int rc = job_check_queued(a, "ordered", e);
	if (rc == 0 && !*own_jobs_submitter(a->job))
		return err_set(e, ERR_INVALID,
			"it is not known who submitted Job %s (it has no annotation sluice.dev/submitted-by), so a nice would have no effect. Ask an admin to install the policies that write it (deploy/policies), then create the Job again",
			a->name);
	if (rc == 0)
		rc = check_others(a, c, e);
	snprintf(c->text, sizeof(c->text), "%d", (int)c->nice);
	c->of.value = c->text;
	return rc;
}

/* ---- what comes of it -------------------------------------------------------------------------- */

static void tell_place(const struct job_asked *a, const struct nice_change *c, struct buf *out)
{
	if (!c->known || c->others == 0)
		buf_printf(out,
			"it goes before the Jobs of %s in LocalQueue %s/%s with a higher number",
			own_jobs_submitter(a->job), a->ns, job_label(a->job, QUEUE_LABEL));
	else
		buf_printf(out,
			"it goes before %zu of %zu other waiting %s of %s in LocalQueue %s/%s",
			c->passed, c->others, c->others == 1 ? "Job" : "Jobs",
			own_jobs_submitter(a->job), a->ns, job_label(a->job, QUEUE_LABEL));
	buf_puts(out, "; Jobs of others keep their places");
}

static void tell(const struct job_asked *a, void *ctx, struct buf *out)
{
	const struct nice_change *c = ctx;
	buf_printf(out, "Job %s has sluice.dev/nice %d: ", a->name, (int)c->nice);
	if (!job_object_is_suspended(a->job))
		buf_puts(out, "it runs on, and that counts when it waits again");
	else if (job_hold(a->job))
		buf_printf(out,
			"it stays on hold, and that counts when it is queued: sluice release job/%s -n %s",
			a->name, a->ns);
	else
		tell_place(a, c, out);
	buf_putc(out, '\n');
}

const struct job_change nice_change = {
	.field = "annotations", .key = NICE_ANNOTATION, .check = check, .tell = tell};

int command_nice(void *options)
{
	return job_change_run(&nice_change, options);
}
