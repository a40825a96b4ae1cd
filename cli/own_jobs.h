/*
 * The Jobs among which sluice.dev/nice orders one Job: those of its submitter that wait in its
 * LocalQueue and name the same priority, without the Job itself. They are told one by one, as the
 * API server has them.
 */
#ifndef SLUICE_CLI_OWN_JOBS_H
#define SLUICE_CLI_OWN_JOBS_H

#include "cli/job_change.h"

struct own_job {
	const char *name, *created; /* as metadata has it: in UTC, so it sorts as text */
	int32_t nice;		    /* 0 where its annotation makes no sense */
};

/* Names the submitter of a Job; "" when that is not known. */
const char *own_jobs_submitter(const cJSON *job);
/* Reads a Job's annotation sluice.dev/nice. */
int32_t own_jobs_nice(const cJSON *job);

/* Gives each of these Jobs to each(). Errors are those of question_ask(). */
int own_jobs_each(const struct job_asked *a, void (*each)(const struct own_job *j, void *ctx),
	void *ctx, struct err *e);

#endif
