/* Why a run ended, in words for its owner, and the work that its stop threw away. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/gate/record.h"
#include "sluice/quantity.h"

#define SAID_MAX 600 /* of what the API server said, in an annotation of 1,024 bytes */
#define REAPPLY_PAUSE_MS INT64_C(10000)
#define REAPPLY_PAUSE_MAX_MS INT64_C(3600000)

const char SUSPENDED_BY_OTHER[] = "SuspendedByOther";
const char HOLD_BY_OTHER[] =
	"suspended by somebody else while it ran; remove the annotation sluice.dev/hold to queue the Job again";
const char REFUSED_BY_SERVER[] = "RefusedByServer";
const char SUSPENDED_BY_MANIFEST[] = "SuspendedByManifest";
const char MANIFEST_SUSPENDS[] =
	"spec.suspend was set to true while it ran, as a manifest that says so does when it is applied again; leave spec.suspend out of the manifest, and stop a Job by the annotation sluice.dev/hold";
static const char HOLD_REQUEUE_LIMIT[] =
	"its pods were not ready in time, as often as is allowed; look at why, and remove the annotation sluice.dev/hold to queue the Job again";
static const char HOLD_MAX_RUN[] =
	"it ran for as long as it may (annotation sluice.dev/max-run-seconds, or its ClusterQueue's defaultMaxRunSeconds); remove the annotation sluice.dev/hold to queue it again, with as much time once more";

void job_ends(struct gate_job *j, const char *reason, const char *actor)
{
	if (j->reason[0] != '\0')
		return; /* the first reason is the reason */
	j->reason = reason;
	j->actor = actor;
}

/* As for a Job that goes on. */
void job_forgets_end(struct gate_job *j)
{
	j->reason = j->actor = j->preemption = "";
	j->message = j->hold = NULL;
	j->hold_owed = j->hold_refused = false;
	free(j->preemptor);
	free(j->preempting);
	free(j->sentence);
	free(j->pod_trouble);
	j->preemptor = j->preempting = j->sentence = j->pod_trouble = NULL;
}

/* A tool that applies a manifest every few minutes must not have the Job start and stop as often.
 * A run that lasted longer than the longest pause begins the count anew. */
static int64_t reapply_pause_ms(struct gate *g, struct gate_job *j)
{
	if (g->now_ms - j->started_ms > REAPPLY_PAUSE_MAX_MS)
		j->reapplied = 0;
	int64_t pause_ms =
		j->reapplied < 16 ? REAPPLY_PAUSE_MS << j->reapplied : REAPPLY_PAUSE_MAX_MS;
	j->reapplied++;
	return pause_ms < REAPPLY_PAUSE_MAX_MS ? pause_ms : REAPPLY_PAUSE_MAX_MS;
}

/* Held when a person meant it; else queued again at its old place, after a pause. */
void job_ends_suspended(struct gate *g, struct gate_job *j)
{
	struct buf text;
	if (j->reason[0] != '\0')
		return;
	job_ends(j, j->seen.by_person ? SUSPENDED_BY_OTHER : SUSPENDED_BY_MANIFEST, "user");
	if (j->seen.by_person)
		return;
	int64_t pause_ms = reapply_pause_ms(g, j);
	j->barred_ms = g->tick_ms + pause_ms;
	buf_init(&text, 1024);
	buf_printf(&text,
		"%s; it is queued again at its old place, in %lld s (twice as long each time)",
		MANIFEST_SUSPENDS, (long long)(pause_ms / 1000));
	free(j->sentence);
	j->message = j->sentence = buf_take(&text);
}

/* Not within a character. */
static int cut(const char *text, size_t max)
{
	size_t len = strnlen(text, max + 1);
	if (len <= max)
		return (int)len;
	for (len = max; len > 0 && ((unsigned char)text[len] & 0xC0) == 0x80;)
		len--;
	return (int)len;
}

void job_refused_for_good(struct gate *g, struct gate_job *j, const char *said)
{
	struct buf text;
	buf_init(&text, 2 * SAID_MAX);
	buf_printf(&text,
		"the API server refused to start it %u times in a row: %.*s; correct the Job, and remove the annotation sluice.dev/hold to queue it again",
		j->denials, cut(said, SAID_MAX), said);
	free(j->sentence);
	j->hold = j->message = j->sentence = buf_take(&text);
	j->hold_owed = true;
	g->counts.held++;
	gate_note(g, NOTE_HOLD, j, "%s", j->hold);
}

/* The name of the Job that needs the room, for the owner of the stopped Job: only when both are of
 * one namespace. */
static char *name_preemptor(const struct gate_job *j, const struct gate_job *by)
{
	struct buf b;
	if (!by || strcmp(j->ns, by->ns) != 0)
		return NULL;
	buf_init(&b, 1024);
	buf_printf(&b, "%s/%s", by->ns, by->name);
	return buf_take(&b);
}

static void describe_preemptor(const struct gate_job *j, const struct gate_job *by, struct buf *out)
{
	if (!by)
		buf_puts(out, "Job (deleted)");
	else if (j->preemptor)
		buf_printf(out, "Job %s", j->preemptor);
	else if (j->preempting && *j->preempting)
		buf_printf(out, "a Job of ClusterQueue %s", j->preempting);
	else
		buf_puts(out, "a Job of another namespace");
}

/* In words, as Kueue's condition Preempted has them. */
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

static void end_preempted(struct gate *g, struct gate_job *j, const struct decision *d)
{
	struct buf text;
	char uid[UID_TEXT_SIZE];
	const struct gate_job *by = gate_find_job(g, &d->by);
	if (j->reason[0] != '\0')
		return;
	j->preemption = preemption_reason_name(d->preemption);
	j->preemptor = name_preemptor(j, by);
	struct explanation x = {0};
	if (queue_explain(g->queue, &d->by, g->now_ms, &x))
		j->preempting = mem_strdup(x.clusterqueue);
	uid_format(&d->by, uid);
	buf_init(&text, 1024);
	buf_puts(&text, "Preempted to accommodate ");
	describe_preemptor(j, by, &text);
	buf_printf(&text, " (UID: %s) due to %s", uid, preemption_words(d->preemption));
	j->message = j->sentence = buf_take(&text);
	job_ends(j, stop_reason_name(d->reason), g->identity);
}

void job_ends_decided(struct gate *g, struct gate_job *j, const struct decision *d)
{
	if (d->reason == STOP_REASON_PREEMPTED) {
		end_preempted(g, j, d);
		return;
	}
	if (j->reason[0] == '\0') {
		j->sentence = d->reason == STOP_REASON_IDLE_RECLAIMED
				      ? mem_strdup(d->why)
				      : warning_sentence(d->reason, d->policy);
		j->message = j->sentence;
	}
	if (stop_reason_deactivates(d->reason) && j->reason[0] == '\0') {
		j->hold = d->reason == STOP_REASON_MAX_RUN ? HOLD_MAX_RUN : HOLD_REQUEUE_LIMIT;
		j->message = j->hold;
	}
	job_ends(j, stop_reason_name(d->reason), g->identity);
}

int64_t job_loses_ms(const struct gate_job *j, int64_t until_ms)
{
	int64_t began_ms = j->has_reservation ? j->started_ms : j->seen.start_ms;
	if (j->seen.finished || began_ms == 0)
		return 0;
	int64_t ran_ms = until_ms > began_ms ? until_ms - began_ms : 0;
	return quantity_times(ran_ms, j->seen.active);
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

/* What its stop has thrown away. */
int64_t job_lost_ms(const struct gate *g, const struct gate_job *j)
{
	return job_loses_ms(j, j->stopped_ms > 0 ? j->stopped_ms : g->now_ms);
}

static bool suspended_by_other(const struct gate_job *j)
{
	return strcmp(j->reason, SUSPENDED_BY_OTHER) == 0;
}

bool job_goes_on_hold(const struct gate_job *j)
{
	return j->hold || suspended_by_other(j);
}

/* Its hold is written only once it has drained, by waiting(). */
const char *job_stop_message(const struct gate_job *j)
{
	return suspended_by_other(j) ? HOLD_BY_OTHER : j->message;
}
