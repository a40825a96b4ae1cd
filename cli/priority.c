#include "cli/priority.h"

#include <inttypes.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/job_object.h"
#include "cli/queued_place.h"
#include "sluice/keys.h"

static const struct flag rows[] = {FLAGS_JOB(struct priority_change)};

static int finish(void *options, char **word, size_t nwords, struct err *e)
{
	struct priority_change *p = options;
	size_t njob = nwords > 1 ? nwords - 1 : 0;
	int rc = options_job(word, njob,
		"one Job and a WorkloadPriorityClass, as in: sluice priority job/train high",
		&p->of.job, e);
	if (rc < 0)
		return rc;
	p->of.value = word[njob];
	return flag_check_name("CLASS", p->of.value, e);
}

const struct flag_table priority_flags = {
	FLAG_TABLE(rows, struct priority_change), .finish = finish};

/* ---- may it have it? --------------------------------------------------------------------------- */

/* Refuses a class that is not there, and one that could not be looked at: a run whose class is a typing
 * error would be Misconfigured once it is stopped. */
static int check_class_exists(const struct job_asked *a, struct priority_change *p, struct err *e)
{
	struct json *json = json_new(QUESTION_TREE_MAX);
	const cJSON *class;
	int rc = question_get(a->loop, a->client, json, &class, e,
		SLUICE_ROOT "/workloadpriorityclasses/%s", p->of.value);
	if (rc == 0)
		p->number = number_of(class, "value");
	else if (rc == ERR_GONE)
		err_set(e, rc,
			"there is no WorkloadPriorityClass %s; kubectl get workloadpriorityclasses.sluice.dev lists those that there are",
			p->of.value);
	else if (rc == ERR_DENIED)
		err_set(e, rc,
			"you may not get workloadpriorityclasses.sluice.dev, so it is not known whether there is a class %s: nothing was written. Everybody may where deploy/rbac is applied (ClusterRoleBinding sluice-everybody); ask an admin for that",
			p->of.value);
	json_free(json);
	return rc;
}

static int check(const struct job_asked *a, void *ctx, struct err *e)
{
	struct priority_change *p = ctx;
	int rc = job_check_queued(a, "given another priority", e);
	if (rc == 0 && strcmp(job_label(a->job, PRIORITY_LABEL), p->of.value) == 0)
		return err_set(e, ERR_INVALID, "Job %s has WorkloadPriorityClass %s already",
			a->name, p->of.value);
	return rc < 0 ? rc : check_class_exists(a, p, e);
}

/* ---- what comes of it -------------------------------------------------------------------------- */

/* True if the controller has seen the class. A claimed priority is there only where the queue
 * counts less. */
static bool has_it(const cJSON *queued_job, const void *ctx)
{
	const struct priority_change *p = ctx;
	const cJSON *spec = json_object(queued_job, "spec");
	bool claims = json_get(spec, "claimedPriority") != NULL;
	return number_of(spec, claims ? "claimedPriority" : "priority") == p->number;
}

static void tell_cap(
	const struct priority_change *p, const struct queued_place *place, struct buf *out)
{
	if (place->priority < p->number)
		buf_printf(out, "; its ClusterQueue counts it as %" PRId64, place->priority);
}

static void tell(const struct job_asked *a, void *ctx, struct buf *out)
{
	const struct priority_change *p = ctx;
	struct queued_place place;
	bool suspended = job_object_is_suspended(a->job);
	bool known = queued_place_ask(a, has_it, p, &place);
	buf_printf(out, "Job %s has WorkloadPriorityClass %s (%" PRId64 ")", a->name, p->of.value,
		p->number);
	if (!suspended)
		buf_puts(out,
			": it keeps running; from now on this priority decides whether it is stopped for waiting Jobs, and its place when it waits again");
	else if (job_hold(a->job))
		buf_printf(out, ": it stays on hold; to queue it: sluice release job/%s -n %s",
			a->name, a->ns);
	else
		buf_puts(out, ": it is queued by that priority from now on");
	if (known && suspended && !job_hold(a->job))
		queued_place_tell(&place, out);
	if (known)
		tell_cap(p, &place, out);
	buf_putc(out, '\n');
}

const struct job_change priority_change = {
	.field = "labels", .key = PRIORITY_LABEL, .check = check, .tell = tell};

int command_priority(void *options)
{
	return job_change_run(&priority_change, options);
}
