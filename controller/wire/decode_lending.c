/*
 * What a Job says of idle resources: whether its pods may be evicted.
 */
#include <string.h>

#include "controller/wire/decode_parts.h"

static bool text_is(const cJSON *o, const char *key, const char *value)
{
	const char *text = json_text(o, key);
	return text && strcmp(text, value) == 0;
}

static bool speaks_of_disruption(const cJSON *rule)
{
	json_each(condition, json_array(rule, "onPodConditions"))
	{
		const char *status = json_text(condition, "status");
		if (text_is(condition, "type", "DisruptionTarget") &&
			(!status || strcmp(status, "True") == 0))
			return true;
	}
	return false;
}

/* The first rule that matches a pod holds. A pod that is evicted also ends with some exit code, so
 * a rule on those that comes first might match it too. */
bool ignores_disruption(const cJSON *spec)
{
	json_each(rule, json_array(json_object(spec, "podFailurePolicy"), "rules"))
	{
		if (!text_is(rule, "action", "Ignore"))
			return false;
		if (speaks_of_disruption(rule))
			return true;
	}
	return false;
}
