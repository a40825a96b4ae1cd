/*
 * What a Job's annotations say to the simulation alone, and CronJobs, which are Jobs to come.
 *
 *   sluice.dev/simulate-duration   how long a run takes; absent: it never ends by itself
 *   sluice.dev/simulate-checkpoint so often it saves its work: a stop loses only what came after;
 *                                  absent: a stop loses all but pods that have finished
 *   sluice.dev/simulate-outcome    Failed: its work ends badly; Succeeded, the default
 *   sluice.dev/simulate-delete     when its owner deletes it
 *   sluice.dev/simulate-admitted   {"clusterQueue":"a","flavors":{"cpu":"spot"},"at":"..."}: it
 *                                  runs already (with suspend: false)
 *
 * The sentences name object and field, as those of the decoders do.
 */
#ifndef SLUICE_CLI_SIMULATE_JOB_NOTES_H
#define SLUICE_CLI_SIMULATE_JOB_NOTES_H

#include "cli/simulate/world.h"
#include "base/json.h"

struct job_notes {
	struct job_plan plan;
	const char *admitted; /* NULL: it does not run yet; borrowed from the object */
	char where[300];      /* file and line of that, for what only the whole can show */
};

/* As decode_job(). An invalid Job is a fault of the file, and so is an annotation that is nearly one of
 * those above. */
int job_notes_decode(struct world *w, const cJSON *o, struct job **ret, struct err *e);
/* j is what o was decoded to. */
int job_notes_read(const cJSON *o, const struct job *j, struct job_notes *ret, struct err *e);
/* Adds the Job, and that it runs when it does. On failure j stays the caller's, and the world is of
 * no more use. */
int job_notes_add(struct world *w, struct job *j, const struct job_notes *notes, struct err *e);

/* What so many of its pods request by themselves; -1: none, not even 0. */
int64_t job_notes_request(const struct job *j, const char *resource, int32_t pods);
/* With fewer pods at a time than are to be completed: how long each wave of them takes; else 0. */
int64_t job_notes_wave_ms(const struct job *j, int64_t duration_ms);

int cronjob_add(struct world *w, const cJSON *o, struct err *e);

#endif
