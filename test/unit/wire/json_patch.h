/*
 * A JSON Patch applier as the API server's (evanphx/json-patch v4), for what our patches use: test,
 * add, replace, remove on members of objects, on the way to which there may be arrays. A test for
 * null holds when the member is absent, but not when the object around it is. Debian's libcjson
 * comes without cJSON_Utils.
 */
#ifndef SLUICE_TEST_WIRE_JSON_PATCH_H
#define SLUICE_TEST_WIRE_JSON_PATCH_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* One step of a JSON pointer, unescaped; *p moves past it. */
static inline void pointer_step(const char **p, char ret[256])
{
	size_t n = 0;
	for ((*p)++; **p && **p != '/' && n < 255; (*p)++) {
		char c = **p;
		if (c == '~') {
			(*p)++;
			c = **p == '1' ? '/' : '~';
		}
		ret[n++] = c;
	}
	ret[n] = '\0';
}

static inline cJSON *pointer_down(cJSON *at, const char *key)
{
	if (cJSON_IsArray(at))
		return cJSON_GetArrayItem(at, atoi(key));
	return cJSON_GetObjectItemCaseSensitive(at, key);
}

static inline bool apply_op(cJSON *doc, const cJSON *op)
{
	const char *p = cJSON_GetObjectItemCaseSensitive(op, "path")->valuestring;
	const char *name = cJSON_GetObjectItemCaseSensitive(op, "op")->valuestring;
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(op, "value");
	char key[256];
	cJSON *at = doc;
	for (pointer_step(&p, key); *p; pointer_step(&p, key))
		at = pointer_down(at, key);
	const cJSON *old = cJSON_GetObjectItemCaseSensitive(at, key);
	if (strcmp(name, "remove") == 0) {
		cJSON_DeleteItemFromObjectCaseSensitive(at, key);
		return old != NULL;
	}
	if (!cJSON_IsObject(at) || !value)
		return false;
	if (strcmp(name, "test") == 0)
		return old ? cJSON_Compare(old, value, true) : cJSON_IsNull(value);
	if (strcmp(name, "replace") == 0 && !old)
		return false;
	if (strcmp(name, "replace") != 0 && strcmp(name, "add") != 0)
		return false;
	cJSON_DeleteItemFromObjectCaseSensitive(at, key);
	return cJSON_AddItemToObject(at, key, cJSON_Duplicate(value, true));
}

/* All or nothing: what doc becomes, or NULL. */
static inline cJSON *apply_patch(const cJSON *doc, const cJSON *patch)
{
	const cJSON *op;
	cJSON *copy = cJSON_Duplicate(doc, true);
	cJSON_ArrayForEach(op, patch)
	{
		if (!apply_op(copy, op)) {
			cJSON_Delete(copy);
			return NULL;
		}
	}
	return copy;
}

#endif
