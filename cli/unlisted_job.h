/*
 * A Job that the controller does not have: what there is to say of it, by the Job itself as the API
 * server has it. The controller forgets Jobs that have ended, and never had those that are in no
 * queue. To a user who asks for one of these, "no such Job" is no answer.
 *
 * Where the API server has no such Job, its Events tell a deleted Job from one that never was: they
 * outlive it for about an hour.
 *
 * Pure: a tree goes in, a sentence comes out.
 */
#ifndef SLUICE_CLI_UNLISTED_JOB_H
#define SLUICE_CLI_UNLISTED_JOB_H

#include "base/buf.h"
#include "base/json.h"

enum unlisted_job {
	UNLISTED_SUCCEEDED,
	UNLISTED_CUT_SHORT, /* Complete for Kubernetes, but stopped (job_was_cut_short()) */
	UNLISTED_FAILED,
	UNLISTED_UNQUEUED, /* without a queue label: Sluice has nothing to do with it */
	UNLISTED_KUEUE,	   /* without a queue label of ours, but with Kueue's */
	UNLISTED_UNSEEN,   /* with a queue label, and not seen by the controller */
};

/* Judges a Job as the API server has it. */
enum unlisted_job unlisted_job_judge(const cJSON *job);

/* Names the verdict for -o json: "Succeeded", "CutShort", "Failed", "Unqueued" or "Unknown". */
const char *unlisted_job_name(enum unlisted_job x);

/* Appends the sentence, without a line break. */
void unlisted_job_tell(
	enum unlisted_job x, const cJSON *job, const char *ns, const char *name, struct buf *out);

/* Appends the sentence about a Job that the API server does not have. events: the list of Events of
 * a Job of this name; NULL: they may not be read. */
void unlisted_job_tell_absent(
	const cJSON *events, const char *ns, const char *name, struct buf *out);

#endif
