#include "cli/job_object.h"

#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "controller/wire/decode.h"

bool job_object_is_over(const cJSON *job)
{
	return json_condition_is(job, "Complete", "True") ||
	       json_condition_is(job, "Failed", "True");
}

bool job_object_is_suspended(const cJSON *job)
{
	bool suspended = false;
	json_bool(json_object(job, "spec"), "suspend", &suspended);
	return suspended;
}

static bool decoded_is(const cJSON *job, bool (*is)(const struct job *j))
{
	struct job *j = NULL;
	struct err e = {""};
	bool so = decode_job(job, NULL, &j, &e) == 0 && is(j);
	free(j);
	return so;
}

bool job_object_ends_when_stopped(const cJSON *job)
{
	return decoded_is(job, job_ends_when_stopped);
}

bool job_object_was_cut_short(const cJSON *job)
{
	return decoded_is(job, job_was_cut_short);
}
