#include <string.h>

#include "controller/wire/decode.h"
#include "controller/wire/decode_parts.h"

const cJSON *meta_of(const cJSON *o)
{
	return json_object(o, "metadata");
}

const cJSON *annotations_of(const cJSON *o)
{
	return json_object(meta_of(o), "annotations");
}

const char *decode_name(const cJSON *o)
{
	const char *name = json_text(meta_of(o), "name");
	return name ? name : "";
}

const char *decode_namespace_of(const cJSON *o)
{
	const char *ns = json_text(meta_of(o), "namespace");
	return ns ? ns : "";
}

bool decode_uid(const cJSON *o, struct uid *ret)
{
	const char *text = json_text(meta_of(o), "uid");
	return text && uid_parse(text, ret);
}

int64_t meta_generation(const cJSON *o)
{
	int64_t generation = 0;
	json_i64(meta_of(o), "generation", &generation);
	return generation;
}

bool meta_deleting(const cJSON *o)
{
	return json_get(meta_of(o), "deletionTimestamp") != NULL;
}

const cJSON *meta_controller(const cJSON *o)
{
	json_each(owner, json_array(meta_of(o), "ownerReferences")) {
		bool controls = false;
		json_bool(owner, "controller", &controls);
		if (controls)
			return owner;
	}
	return NULL;
}

bool meta_owner_job(const cJSON *o, struct uid *ret)
{
	const cJSON *owner = meta_controller(o);
	const char *version = json_text(owner, "apiVersion"), *uid = json_text(owner, "uid");
	return json_is(owner, "kind", "Job") && version && strncmp(version, "batch/", 6) == 0 &&
	       uid && uid_parse(uid, ret);
}

/* Whether this may be a name. The API server lets no others in; a stand-in for it might. */
static bool is_name(const char *s)
{
	size_t len = strlen(s);
	for (const char *p = s; *p; p++)
		if (*p <= 0x20 || *p >= 0x7f)
			return false;
	return len > 0 && len <= 253;
}

static int name_fault(struct err *e, const char *kind, const char *key, const char *value)
{
	char shown[SHOWN_SIZE];
	return err_set(e, ERR_INVALID,
		"%s: metadata.%s: %s is not a name; use letters, digits, '-' and '.'", kind, key,
		text_show(value, shown));
}

int meta_check(const cJSON *o, const char *kind, struct err *e)
{
	char shown[SHOWN_SIZE];
	const char *is = json_text(o, "kind");
	if (!cJSON_IsObject(o))
		return err_set(e, ERR_INVALID, "not a %s: not even a JSON object", kind);
	if (is && strcmp(is, kind) != 0)
		return err_set(
			e, ERR_INVALID, "not a %s: its kind is %s", kind, text_show(is, shown));
	if (!is_name(decode_name(o)))
		return name_fault(e, kind, "name", decode_name(o));
	if (*decode_namespace_of(o) && !is_name(decode_namespace_of(o)))
		return name_fault(e, kind, "namespace", decode_namespace_of(o));
	return 0;
}

int decode_kind(
	const cJSON *o, const char *kind, size_t guess, decode_fill fill, void **ret, struct err *e)
{
	int rc = meta_check(o, kind, e);
	return rc < 0 ? rc : decode_in_block(o, guess, fill, ret, e);
}
