#include "cli/unlisted_job.h"

#include <inttypes.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/job_object.h"
#include "sluice/job.h"
#include "sluice/keys.h"

#define KUEUE_LABEL "kueue.x-k8s.io/queue-name"

static const char *label(const cJSON *job, const char *key)
{
	return text_of(json_object(json_object(job, "metadata"), "labels"), key);
}

enum unlisted_job unlisted_job_judge(const cJSON *job)
{
	if (job_object_was_cut_short(job))
		return UNLISTED_CUT_SHORT;
	if (json_condition_is(job, "Complete", "True"))
		return UNLISTED_SUCCEEDED;
	if (json_condition_is(job, "Failed", "True"))
		return UNLISTED_FAILED;
	if (*label(job, QUEUE_LABEL))
		return UNLISTED_UNSEEN;
	return *label(job, KUEUE_LABEL) ? UNLISTED_KUEUE : UNLISTED_UNQUEUED;
}

const char *unlisted_job_name(enum unlisted_job x)
{
	static const char *const names[] = {[UNLISTED_SUCCEEDED] = "Succeeded",
		[UNLISTED_CUT_SHORT] = "CutShort",
		[UNLISTED_FAILED] = "Failed",
		[UNLISTED_UNQUEUED] = "Unqueued",
		[UNLISTED_KUEUE] = "Unqueued",
		[UNLISTED_UNSEEN] = "Unknown"};
	return names[x];
}

static void tell_succeeded(const cJSON *job, struct buf *out)
{
	const cJSON *status = json_object(job, "status");
	int64_t pods = number_of(status, "succeeded");
	buf_printf(out, "succeeded at %s: %" PRId64 " pod%s", text_of(status, "completionTime"),
		pods, pods == 1 ? "" : "s");
}

static void tell_cut_short(const cJSON *job, struct buf *out)
{
	buf_printf(out, "ended at %s. %s", text_of(json_object(job, "status"), "completionTime"),
		JOB_CUT_SHORT);
}

static void tell_failed(const cJSON *job, struct buf *out)
{
	const cJSON *c = json_condition(job, "Failed");
	buf_printf(out, "failed at %s: %s: %s", text_of(c, "lastTransitionTime"),
		text_of(c, "reason"), text_of(c, "message"));
}

static void tell_unqueued(const cJSON *job, const char *ns, const char *name, struct buf *out)
{
	buf_puts(out, "is in no queue: it has no label " QUEUE_LABEL
		      ", so Sluice has nothing to do with it");
	if (job_object_is_suspended(job))
		buf_printf(out, "; to queue it: kubectl label -n %s job/%s " QUEUE_LABEL "=QUEUE",
			ns, name);
	else
		buf_puts(out,
			"; it runs as any Job does, and an admin can take it into a queue (sluice help adopt)");
}

void unlisted_job_tell(
	enum unlisted_job x, const cJSON *job, const char *ns, const char *name, struct buf *out)
{
	switch (x) {
	case UNLISTED_SUCCEEDED:
		tell_succeeded(job, out);
		break;
	case UNLISTED_CUT_SHORT:
		tell_cut_short(job, out);
		break;
	case UNLISTED_FAILED:
		tell_failed(job, out);
		break;
	case UNLISTED_UNQUEUED:
		tell_unqueued(job, ns, name, out);
		break;
	case UNLISTED_KUEUE:
		buf_printf(out,
			"is queued by Kueue (LocalQueue %s, label " KUEUE_LABEL
			"), not by Sluice: kubectl describe workloads -n %s says why it waits; sluice help import tells how queues move over",
			label(job, KUEUE_LABEL), ns);
		break;
	case UNLISTED_UNSEEN:
		buf_printf(out,
			"is labelled for LocalQueue %s, but the controller has not seen it yet: ask again in a moment. If this stays, run sluice doctor",
			label(job, QUEUE_LABEL));
		break;
	}
}

/* ---- no such Job ----------------------------------------------------------------------------- */

/* Returns when an Event was last seen: the two APIs for Events have that in different places. */
static const char *event_time(const cJSON *event)
{
	static const char *const keys[] = {"lastTimestamp", "eventTime"};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (*text_of(event, keys[i]))
			return text_of(event, keys[i]);
	return text_of(json_object(event, "metadata"), "creationTimestamp");
}

static const cJSON *last_event(const cJSON *events)
{
	const cJSON *last = NULL;
	json_each(event, json_array(events, "items"))
		if (!last || strcmp(event_time(event), event_time(last)) >= 0)
			last = event;
	return last;
}

void unlisted_job_tell_absent(
	const cJSON *events, const char *ns, const char *name, struct buf *out)
{
	const cJSON *last = last_event(events);
	if (last)
		buf_printf(out,
			"there is no Job %s/%s any more: it was deleted (spec.ttlSecondsAfterFinished deletes finished Jobs). Its last Event is %s, at %s: %s",
			ns, name, text_of(last, "reason"), event_time(last),
			text_of(last, "message"));
	else if (events)
		buf_printf(out,
			"there is no Job %s in namespace %s (another namespace: -n), or it was deleted long ago. sluice jobs -n %s lists those that are queued",
			name, ns, ns);
	else
		buf_printf(out,
			"there is no Job %s in namespace %s (another namespace: -n), or it was deleted (spec.ttlSecondsAfterFinished deletes finished Jobs)",
			name, ns);
}
