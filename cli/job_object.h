/* What a Job, as the API server has it, says of its own end. */
#ifndef SLUICE_CLI_JOB_OBJECT_H
#define SLUICE_CLI_JOB_OBJECT_H

#include <stdbool.h>

#include "controller/kube/json.h"

/* The condition of that type, if its status is "True"; else NULL. */
const cJSON *job_object_condition(const cJSON *job, const char *type);
bool job_object_has_condition(const cJSON *job, const char *type);
/* It is complete or has failed (Kubernetes, JobConditionType): it never runs again. */
bool job_object_is_over(const cJSON *job);
bool job_object_is_suspended(const cJSON *job); /* spec.suspend */

#endif
