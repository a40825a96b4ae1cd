/* What the API server's object of a Job says of its own end. */
#ifndef SLUICE_CLI_JOB_OBJECT_H
#define SLUICE_CLI_JOB_OBJECT_H

#include <stdbool.h>

#include "base/json.h"

/* True if the Job is complete or has failed (Kubernetes, JobConditionType): it never runs again. */
bool job_object_is_over(const cJSON *job);
bool job_object_is_suspended(const cJSON *job); /* spec.suspend */
/* Ask job_ends_when_stopped() and job_was_cut_short() of the object; false where it is no whole
 * Job. */
bool job_object_ends_when_stopped(const cJSON *job);
bool job_object_was_cut_short(const cJSON *job);

#endif
