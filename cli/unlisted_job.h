/*
 * A Job that the controller does not have: what there is to say of it, by the Job itself as the API server
 * has it. The controller forgets Jobs that have ended, and never had those that are in no queue; a user
 * who asks for one of these gets no answer from "no such Job".
 *
 * Where there is no such Job, its Events tell a deleted one from one that never was: they outlive it
 * for about an hour.
 *
 * Pure: a tree goes in, a sentence comes out.
 */
#ifndef SLUICE_CLI_UNLISTED_JOB_H
#define SLUICE_CLI_UNLISTED_JOB_H

#include "base/buf.h"
#include "base/json.h"

enum unlisted_job {
	UNLISTED_SUCCEEDED,
	UNLISTED_CUT_SHORT, /* Kubernetes calls it Complete, but it was stopped (job_was_cut_short()) */
	UNLISTED_FAILED,
	UNLISTED_UNQUEUED, /* it has no queue label: Sluice has nothing to do with it */
	UNLISTED_KUEUE,	   /* ... but one of Kueue's */
	UNLISTED_UNSEEN,   /* it has one, and the controller has not seen it */
};

/* job: as the API server answers. */
enum unlisted_job unlisted_job_judge(const cJSON *job);

/* "Succeeded", "CutShort", "Failed", "Unqueued" or "Unknown": what -o json calls it. */
const char *unlisted_job_name(enum unlisted_job x);

/* Appends the sentence, without a line break. */
void unlisted_job_tell(
	enum unlisted_job x, const cJSON *job, const char *ns, const char *name, struct buf *out);

/* The same of a Job that the API server does not have. events: the list of those of a Job of this
 * name; NULL: they may not be read. */
void unlisted_job_tell_absent(
	const cJSON *events, const char *ns, const char *name, struct buf *out);

#endif
