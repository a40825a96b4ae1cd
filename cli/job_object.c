#include "cli/job_object.h"

#include <stdlib.h>
#include <string.h>

#include "controller/wire/decode.h"

const cJSON *job_object_condition(const cJSON *job, const char *type)
{
	json_each(c, json_array(json_object(job, "status"), "conditions")) {
		const char *is = json_text(c, "type"), *status = json_text(c, "status");
		if (is && status && strcmp(status, "True") == 0 && strcmp(is, type) == 0)
			return c;
	}
	return NULL;
}

bool job_object_has_condition(const cJSON *job, const char *type)
{
	return job_object_condition(job, type) != NULL;
}

bool job_object_is_over(const cJSON *job)
{
	return job_object_has_condition(job, "Complete") || job_object_has_condition(job, "Failed");
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
