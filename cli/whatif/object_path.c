#include "cli/whatif/object_path.h"

#include <string.h>

#include "base/must.h"
#include "cli/whatif/object_place.h"

enum { TEXT_MAX_BYTES = 16 * 1024, VALUE_MAX_BYTES = 1 << 20 };

/* ---- the value ------------------------------------------------------------------------------- */

static bool wants_text(const cJSON *schema, const cJSON *value)
{
	const char *type = json_text(schema, "type");
	bool either = false;
	json_bool(schema, "x-kubernetes-int-or-string", &either);
	/* 0.5, and numbers that a double does not hold exactly. */
	if (cJSON_IsNumber(value) && either) {
		double d = value->valuedouble;
		return !(d >= -9e15 && d <= 9e15) || d != (double)(int64_t)d;
	}
	return type && strcmp(type, "string") == 0 &&
	       (cJSON_IsNumber(value) || cJSON_IsBool(value));
}

/* Reads the value. ret is yours; NULL: it takes away what is there. */
static int read_value(
	const char *text, const cJSON *schema, const char *path, cJSON **ret, struct err *e)
{
	struct json *json = json_new(VALUE_MAX_BYTES);
	const cJSON *value;
	int rc = 0;
	*ret = NULL;
	if (json_parse(json, slice_of(text), &value, NULL) < 0 || wants_text(schema, value)) {
		if (strchr("{[", *text) && *text)
			rc = err_set(e, ERR_INVALID, "%.200s=%.100s: that is no JSON", path, text);
		else
			*ret = cJSON_CreateString(text);
	} else if (!cJSON_IsNull(value)) {
		*ret = cJSON_Duplicate(value, true);
	}
	json_free(json);
	return rc;
}

static cJSON *reach(cJSON *root, const struct object_place *p)
{
	cJSON *at = root;
	for (size_t i = 0; i + 1 < p->n; i++) {
		const struct object_hop *h = &p->hop[i];
		cJSON *next = h->key ? cJSON_GetObjectItemCaseSensitive(at, h->key)
				     : cJSON_GetArrayItem(at, (int)h->index);
		if (cJSON_IsNull(next)) {
			next = cJSON_CreateObject();
			must(cJSON_ReplaceItemInObjectCaseSensitive(at, h->key, next));
		}
		at = next ? next : cJSON_AddObjectToObject(at, h->key);
		must(at);
	}
	return at;
}

static void put(cJSON *root, const struct object_place *p, cJSON *value)
{
	const struct object_hop *last = &p->hop[p->n - 1];
	cJSON *at = reach(root, p);
	if (last->key && !value) {
		cJSON_DeleteItemFromObjectCaseSensitive(at, last->key);
	} else if (last->key) { /* the key may belong to the old value */
		if (!cJSON_ReplaceItemInObjectCaseSensitive(at, last->key, value))
			must(cJSON_AddItemToObject(at, last->key, value));
	} else if (value) {
		cJSON_ReplaceItemInArray(at, (int)last->index, value);
	} else {
		cJSON_DeleteItemFromArray(at, (int)last->index);
	}
}

static int check_fields(
	const struct object_place *p, const cJSON *value, const char *path, struct err *e)
{
	struct buf unknown;
	buf_init(&unknown, TEXT_MAX_BYTES);
	object_unknown_field(value, p->schema, &unknown);
	int rc = unknown.len > 0 ? err_set(e, ERR_INVALID, "%.200s has no field %.200s", path,
					   buf_text(&unknown))
				 : 0;
	buf_done(&unknown);
	return rc;
}

static int set(cJSON *root, const struct object_place *p, const char *path, const char *text,
	const struct object_change *ret, struct err *e)
{
	cJSON *value;
	int rc = read_value(text, p->schema, path, &value, e);
	if (rc == 0)
		rc = check_fields(p, value, path, e);
	if (rc < 0) {
		cJSON_Delete(value);
		return rc;
	}
	object_place_put(p, ret->place);
	if (p->node)
		json_print(ret->before, p->node);
	if (value)
		json_print(ret->after, value);
	put(root, p, value);
	return 0;
}

int object_path_set(cJSON *root, const cJSON *schema, const char *path, const char *value,
	const struct object_change *ret, struct err *e)
{
	struct object_steps steps;
	struct object_place place = {.n = 0};
	int rc = object_steps_parse(path, &steps, e);
	if (rc == 0)
		rc = object_place_find(root, schema, path, &steps, &place, e);
	return rc < 0 ? rc : set(root, &place, path, value, ret, e);
}

/* ---- fields that do not exist ---------------------------------------------------------------- */

static bool is_map(const cJSON *schema)
{
	return json_object(schema, "additionalProperties") || !json_object(schema, "properties");
}

static bool find_unknown(const cJSON *node, const cJSON *schema, struct object_place *at)
{
	const cJSON *fields = json_object(schema, "properties");
	const cJSON *object = cJSON_IsObject(node) ? node : NULL;
	const cJSON *array = cJSON_IsArray(node) ? node : NULL;
	size_t index = 0;
	if (at->n == OBJECT_HOPS_MAX)
		return false;
	json_each(member, object) {
		const cJSON *field = json_object(fields, member->string);
		at->hop[at->n++] = (struct object_hop){.key = member->string};
		if ((!field && !is_map(schema)) ||
			find_unknown(member,
				field ? field : json_object(schema, "additionalProperties"), at))
			return true;
		at->n--;
	}
	json_each(item, array) {
		at->hop[at->n++] =
			(struct object_hop){.index = index, .name = object_item_name(item)};
		index++;
		if (find_unknown(item, json_object(schema, "items"), at))
			return true;
		at->n--;
	}
	return false;
}

void object_unknown_field(const cJSON *root, const cJSON *schema, struct buf *ret_path)
{
	struct object_place at = {.n = 0};
	if (find_unknown(root, schema, &at))
		object_place_put(&at, ret_path);
}
