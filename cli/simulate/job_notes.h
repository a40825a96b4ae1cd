/*
 * What a Job's annotations say to the simulation alone, and CronJobs, which are Jobs to come.
 *
 *   sluice.dev/simulate-duration: how long a run takes; absent: see ends.h.
 *   sluice.dev/simulate-checkpoint: how often it saves its work; a stop loses what came after.
 *       Absent: a stop loses all but pods that have finished.
 *   sluice.dev/simulate-outcome: Failed, its work ends badly; Succeeded, the default.
 *   sluice.dev/simulate-delete: when its owner deletes it.
 *   sluice.dev/simulate-admitted: {"clusterQueue":"a","flavors":{"cpu":"spot"},"at":"..."}, it runs
 *       already (with suspend: false).
 *
 * The sentences name object and field, as those of the decoders do.
 */
#ifndef SLUICE_CLI_SIMULATE_JOB_NOTES_H
#define SLUICE_CLI_SIMULATE_JOB_NOTES_H

#include "cli/simulate/world.h"
#include "base/json.h"

struct job_notes {
	struct job_plan plan;
	const char *admitted; /* text of simulate-admitted, borrowed from the object; or NULL */
	char where[300];      /* file and line of admitted, for what only the whole can show */
};

/* Decodes a Job, as decode_job(). An invalid Job is a fault of the file, and so is an annotation
 * that is nearly one of those above. */
int job_notes_decode(struct world *w, const cJSON *o, struct job **ret, struct err *e);
/* Reads the annotations of o, which was decoded to j. */
int job_notes_read(const cJSON *o, const struct job *j, struct job_notes *ret, struct err *e);
/* Adds the Job to the world, and its run if it has one. On failure j stays the caller's, and the
 * world is of no more use. */
int job_notes_add(struct world *w, struct job *j, const struct job_notes *notes, struct err *e);

/* Returns what so many pods of the Job request by themselves; -1: none, not even 0. */
int64_t job_notes_request(const struct job *j, const char *resource, int32_t pods);
/* Returns how long each wave of pods takes, with fewer at a time than are to be completed; else
 * 0. */
int64_t job_notes_wave_ms(const struct job *j, int64_t duration_ms);

int cronjob_add(struct world *w, const cJSON *o, struct err *e);

#endif
