#include "controller/gate/predecessor.h"

/* Tells whether the Job was ever started. Its start time goes with a suspension; its story, and
 * pods that ended, stay. A story older than the Job was copied with another Job's manifest. */
static bool was_started(const struct job *j)
{
	const struct job_status *s = &j->status;
	const struct job_admission *a = &j->admission;
	return s->has_start_time || s->active > 0 || s->terminating > 0 || s->succeeded > 0 ||
	       s->failed_pods > 0 || s->uncounted > 0 || s->uncounted_failed > 0 ||
	       ((a->state == STORY_STARTED || a->state == STORY_STOPPED) && a->attempt > 0 &&
		       a->told_ms >= j->created_ms);
}

static enum predecessor_state state_of(const struct job *j)
{
	if (j->status.failed || job_was_cut_short(j))
		return PREDECESSOR_FAILED;
	if (job_finished(j))
		return PREDECESSOR_SUCCEEDED;
	return was_started(j) ? PREDECESSOR_STARTED : PREDECESSOR_WAITS;
}

/* Counts the pods as its owner wrote them, also while it runs with fewer. */
static int32_t pods_of(const struct job *j)
{
	const struct job_admission *a = &j->admission;
	if (j->has_completions)
		return a->owner_completions > 0 ? a->owner_completions : j->completions;
	return a->owner_parallelism > 0 ? a->owner_parallelism : j->parallelism;
}

static const char *failure_of(const struct job *j)
{
	if (job_was_cut_short(j))
		return JOB_CUT_SHORT;
	return job_finished(j) && j->status.failure ? j->status.failure : "";
}

struct predecessor predecessor_of_job(const struct job *j, bool followed)
{
	bool ended = job_finished(j);
	return (struct predecessor){.uid = j->uid,
		.ns = j->ns,
		.name = j->name,
		.labels = j->labels,
		.nlabels = j->nlabels,
		.created_ms = j->created_ms,
		.state = state_of(j),
		.ended_ms = ended ? j->status.finished_ms : 0,
		.pods_done = j->status.succeeded,
		.pods = pods_of(j),
		.failure = failure_of(j),
		.followed = followed};
}
