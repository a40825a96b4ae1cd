#include "controller/gate/stop_words.h"

#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "base/mem.h"
#include "controller/gate/core.h"
#include "controller/gate/job_table.h"
#include "controller/gate/record.h"
#include "queue/job/text.h"

/* ---- a suspension by others, and a deletion --------------------------------------------------- */

void stop_put_suspender(const struct gate_job *j, struct buf *out)
{
	buf_puts(out, j->suspender ? j->suspender : "another client");
	if (j->seen.suspended_ms != 0)
		buf_printf(out, " at %s", instant_seconds(j->seen.suspended_ms).s);
}

char *stop_suspension_sentence(const struct gate_job *j)
{
	struct buf text;
	buf_init(&text, 256);
	buf_puts(&text, "suspended by ");
	stop_put_suspender(j, &text);
	buf_puts(&text, " while it ran");
	return buf_take(&text);
}

char *stop_ending_sentence(const char *why)
{
	struct buf text;
	buf_init(&text, 1024);
	buf_printf(&text, "%s%s%s", why, *why ? "; " : "", JOB_ENDS_AS_COMPLETE);
	return buf_take(&text);
}

const char *deletion_words(const struct gate_job *j, char *ret, size_t size)
{
	char uid[UID_TEXT_SIZE];
	if (!j->finalizer)
		return "";
	uid_format(&j->uid, uid);
	if (strcmp(j->finalizer, "orphan") == 0)
		snprintf(ret, size,
			"it was deleted without its pods (--cascade=orphan), which run on; to end them: kubectl delete pods -n %s -l batch.kubernetes.io/controller-uid=%s",
			j->ns, uid);
	else
		snprintf(ret, size,
			"it is being deleted, but the finalizer %s keeps it, and its pods run on; remove that from metadata.finalizers, or: kubectl delete pods -n %s -l batch.kubernetes.io/controller-uid=%s",
			j->finalizer, j->ns, uid);
	return ret;
}

/* ---- a decision of the queue ------------------------------------------------------------------- */

char *stop_name_preemptor(const struct gate_job *by)
{
	struct buf b;
	if (!by)
		return NULL;
	buf_init(&b, 1024);
	buf_printf(&b, "%s/%s", by->ns, by->name);
	return buf_take(&b);
}

const char *stop_preemptor_shown(const struct gate_job *j)
{
	const char *name = j->stop.preemptor;
	size_t len = strlen(j->ns);
	return name && strncmp(name, j->ns, len) == 0 && name[len] == '/' ? name : NULL;
}

/* Describes the Job that needs the room, by name only within one namespace. */
static void describe_preemptor(const struct gate_job *j, const struct gate_job *by,
	const char *clusterqueue, struct buf *out)
{
	if (!by)
		buf_puts(out, "Job (deleted)");
	else if (strcmp(j->ns, by->ns) == 0)
		buf_printf(out, "Job %s/%s", by->ns, by->name);
	else if (*clusterqueue)
		buf_printf(out, "a Job of ClusterQueue %s", clusterqueue);
	else
		buf_puts(out, "a Job of another namespace");
}

/* Says why, in the words of Kueue's condition Preempted. */
static const char *preemption_words(enum preemption_reason r)
{
	switch (r) {
	case PREEMPTION_NONE:
		break;
	case PREEMPTION_IN_CLUSTERQUEUE:
		return "prioritization in the ClusterQueue";
	case PREEMPTION_IN_COHORT_RECLAMATION:
		return "reclamation within the cohort";
	case PREEMPTION_IN_COHORT_FAIR_SHARING:
		return "fair sharing within the cohort";
	case PREEMPTION_IN_COHORT_RECLAIM_WHILE_BORROWING:
		return "reclamation within the cohort while borrowing";
	}
	return "its priority";
}

const char *stop_preempting_queue(struct gate *g, const struct decision *d)
{
	struct job_outline o;
	return queue_outline_job(g->queue, &d->by, &o) ? o.clusterqueue : "";
}

static char *preemption_sentence(struct gate *g, const struct gate_job *j, const struct decision *d)
{
	struct buf text;
	char uid[UID_TEXT_SIZE];
	const struct gate_job *by = gate_find_job(g, &d->by);
	uid_format(&d->by, uid);
	buf_init(&text, 1024);
	buf_puts(&text, "Preempted to accommodate ");
	describe_preemptor(j, by, stop_preempting_queue(g, d), &text);
	buf_printf(&text, " (UID: %s) due to %s", uid, preemption_words(d->preemption));
	return buf_take(&text);
}

char *stop_policy_sentence(enum stop_reason r, const char *policy)
{
	static const struct {
		const char *before, *kind, *after;
	} words[] = {
		[STOP_REASON_WINDOW_CLOSED] = {"The window of", "RunPolicy", "closes"},
		[STOP_REASON_WINDOW_OPENING] = {"It borrows what is needed for the window of",
			"RunPolicy", "which opens soon"},
		[STOP_REASON_PRICE] = {"The price has risen above its sluice.dev/max-price, and",
			"RunPolicy", "says to stop it"},
		[STOP_REASON_BUDGET] = {"", "Budget", "is spent"},
		[STOP_REASON_RESERVED] = {"Its quota is reserved by", "AdvanceReservation",
			"from now on"},
	};
	if (!policy || r >= sizeof(words) / sizeof(*words) || !words[r].kind)
		return NULL;
	struct buf b;
	buf_init(&b, 1024);
	buf_printf(&b, "%s%s%s %s %s", words[r].before, *words[r].before ? " " : "", words[r].kind,
		policy, words[r].after);
	return buf_take(&b);
}

char *stop_sentence(struct gate *g, const struct gate_job *j, const struct decision *d)
{
	if (d->reason == STOP_REASON_PREEMPTED)
		return preemption_sentence(g, j, d);
	if (d->reason == STOP_REASON_IDLE_RECLAIMED || d->reason == STOP_REASON_WINDOW_QUOTA)
		return mem_strdup(d->why);
	return stop_policy_sentence(d->reason, d->policy);
}
