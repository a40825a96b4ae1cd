#include "controller/wire/decode_provision.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_text.h"
#include "sluice/keys.h"

#define PREFIX "sluice-"

bool provision_name_parse(const char *name, struct uid *ret_job, int32_t *ret_number)
{
	char uid[UID_TEXT_SIZE];
	int64_t number;
	size_t prefix = strlen(PREFIX), len = sizeof(uid) - 1;
	if (strncmp(name, PREFIX, prefix) != 0 || strlen(name) < prefix + len + 2)
		return false;
	memcpy(uid, name + prefix, len);
	uid[len] = '\0';
	if (name[prefix + len] != '-' || !uid_parse(uid, ret_job) ||
		!text_number(name + prefix + len + 1, INT32_MAX, &number))
		return false;
	*ret_number = (int32_t)number;
	return true;
}

static void judge(const cJSON *o, struct provision_fact *ret)
{
	static const struct {
		const char *type;
		enum provision_state state;
	} rule[] = {{"CapacityRevoked", PROVISION_REVOKED}, {"Failed", PROVISION_FAILED},
		{"BookingExpired", PROVISION_EXPIRED}, {"Provisioned", PROVISION_PROVISIONED}};
	const cJSON *said = json_condition(o, "Provisioned");
	ret->state = PROVISION_ASKED;
	for (size_t i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
		const cJSON *condition = json_condition(o, rule[i].type);
		if (!json_is(condition, "status", "True"))
			continue;
		ret->state = rule[i].state;
		said = condition;
		break;
	}
	const char *message = json_text(said, "message");
	ret->message = message ? message : "";
}

bool decode_provision(const struct cJSON *o, struct provision_fact *ret)
{
	const cJSON *annotations = json_object(json_object(o, "metadata"), "annotations");
	const char *key = json_text(annotations, PROVISION_KEY_ANNOTATION);
	*ret = (struct provision_fact){.ns = decode_namespace_of(o)};
	if (!provision_name_parse(decode_name(o), &ret->job, &ret->number))
		return false;
	ret->key = key ? strtoull(key, NULL, 16) : 0;
	judge(o, ret);
	return true;
}
