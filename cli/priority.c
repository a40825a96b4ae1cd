#include "cli/priority.h"

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

static const struct flag flags[] = {JOB_OPTIONS_FLAGS(struct priority_change, of)};

const struct flag_table priority_flags = {FLAG_TABLE(flags)};

int priority_parse(int argc, char **argv, struct priority_change *p, struct err *e)
{
	int rc = flags_walk(argc, argv, 1, &priority_flags, p, e);
	if (rc < 0 || p->of.help)
		return rc;
	int words = argc - optind;
	p->of.job = words > 1 ? flag_job_name(argv + optind, (size_t)(words - 1)) : NULL;
	if (!p->of.job)
		return err_set(e, ERR_INVALID,
			"it wants one Job and a WorkloadPriorityClass, as in: sluice priority job/train high");
	p->class_name = argv[argc - 1];
	rc = flag_check_name("CLASS", p->class_name, e);
	return rc < 0 ? rc : flag_check_name("JOB", p->of.job, e);
}

/* ---- may it have it? --------------------------------------------------------------------------- */

/* Refuses a class that is not there, and one that could not be looked at: a run whose class is a typing
 * error would be Misconfigured once it is stopped. */
static int check_class_exists(const struct job_asked *a, struct priority_change *p, struct err *e)
{
	struct json *json = json_new(QUESTION_TREE_MAX);
	const cJSON *class;
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	path_format(&path, SLUICE_ROOT "/workloadpriorityclasses/%s", p->class_name);
	int rc = question_ask(a->loop, a->client, buf_text(&path), json, &class, e);
	if (rc == 0)
		p->value = number_of(class, "value");
	else if (rc == ERR_GONE)
		err_set(e, rc,
			"there is no WorkloadPriorityClass %s; kubectl get workloadpriorityclasses.sluice.dev lists those that there are",
			p->class_name);
	else if (rc == ERR_DENIED)
		err_set(e, rc,
			"you may not get workloadpriorityclasses.sluice.dev, so it is not known whether there is a class %s: nothing was written. Everybody may where deploy/rbac is applied (ClusterRoleBinding sluice-everybody); ask an admin for that",
			p->class_name);
	buf_done(&path);
	json_free(json);
	return rc;
}

static int check(const struct job_asked *a, void *ctx, struct err *e)
{
	struct priority_change *p = ctx;
	int rc = job_check_queued(a, "given another priority", e);
	if (rc == 0 && strcmp(job_label(a->job, PRIORITY_LABEL), p->class_name) == 0)
		return err_set(e, ERR_INVALID, "Job %s has WorkloadPriorityClass %s already",
			a->name, p->class_name);
	return rc < 0 ? rc : check_class_exists(a, p, e);
}

/* ---- what comes of it -------------------------------------------------------------------------- */

/* What it claims is only said where its queue counts less. */
static bool has_it(const cJSON *queued_job, const void *ctx)
{
	const struct priority_change *p = ctx;
	const cJSON *spec = json_object(queued_job, "spec");
	bool claims = json_get(spec, "claimedPriority") != NULL;
	return number_of(spec, claims ? "claimedPriority" : "priority") == p->value;
}

static void tell_cap(
	const struct priority_change *p, const struct queued_place *place, struct buf *out)
{
	if (place->priority < p->value)
		buf_printf(out, "; its ClusterQueue counts it as %" PRId64, place->priority);
}

static void tell(const struct job_asked *a, void *ctx, struct buf *out)
{
	const struct priority_change *p = ctx;
	struct queued_place place;
	bool suspended = job_object_is_suspended(a->job);
	bool known = queued_place_ask(a, has_it, p, &place);
	buf_printf(out, "Job %s has WorkloadPriorityClass %s (%" PRId64 ")", a->name, p->class_name,
		p->value);
	if (!suspended)
		buf_puts(out,
			": it runs, and that decides from now on whether it is stopped for Jobs that wait (also at once), and its place when it waits again");
	else if (job_hold(a->job))
		buf_printf(out, ": it stays on hold; to queue it: sluice release job/%s -n %s",
			a->name, a->ns);
	else
		buf_puts(out, ": it has its place in line by that from now on");
	if (known && suspended && !job_hold(a->job))
		queued_place_tell(&place, out);
	if (known)
		tell_cap(p, &place, out);
	buf_putc(out, '\n');
}

struct job_change priority_change(struct priority_change *p)
{
	return (struct job_change){.field = "labels",
		.key = PRIORITY_LABEL,
		.value = p->class_name,
		.check = check,
		.tell = tell,
		.ctx = p};
}

int command_priority(int argc, char **argv)
{
	struct priority_change p = {.class_name = NULL};
	struct err e = {""};
	if (priority_parse(argc, argv, &p, &e) < 0)
		return job_change_usage(COMMAND_PRIORITY, &e);
	if (p.of.help) {
		help_print(COMMAND_PRIORITY, stdout);
		return CLI_OK;
	}
	struct job_change change = priority_change(&p);
	return job_change_run(&change, &p.of);
}
