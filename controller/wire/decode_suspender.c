/*
 * Did a person suspend the Job, or did a tool that applied its manifest again?
 * metadata.managedFields says which client set spec.suspend: a write that changes the value takes
 * it from all others, so the client that stands there meant the value that there is.
 *
 * `kubectl patch` and `kubectl edit` are a person who names the field, or looks at it. Anything
 * else (kubectl apply of both kinds, kubectl replace, Helm, Argo CD, Flux, an unknown client)
 * writes what a file says, and files say `suspend: true` because Sluice's own examples once did.
 * When that cannot be told, it was no person: a run that is queued again has lost some work, a run
 * that is held is lost until a person looks.
 */
#include <string.h>

#include "controller/wire/decode_parts.h"

static bool sets_suspend(const cJSON *entry)
{
	const cJSON *spec = json_object(json_object(entry, "fieldsV1"), "f:spec");
	return json_get(spec, "f:suspend") != NULL;
}

static bool is_person(const cJSON *entry)
{
	const char *manager = json_text(entry, "manager");
	const char *operation = json_text(entry, "operation");
	return manager && operation && strcmp(operation, "Update") == 0 &&
	       (strcmp(manager, "kubectl-patch") == 0 || strcmp(manager, "kubectl-edit") == 0);
}

bool suspended_by_person(const cJSON *o)
{
	json_each(entry, json_array(meta_of(o), "managedFields")) {
		if (is_person(entry) && sets_suspend(entry))
			return true;
	}
	return false;
}

/* The manager of a client that names none is its User-Agent up to the slash (controller.c). */
static bool is_ours(const cJSON *entry)
{
	const char *manager = json_text(entry, "manager");
	return manager && strcmp(manager, "sluice-controller") == 0;
}

bool resumed_by_other(const cJSON *o)
{
	bool others = false;
	json_each(entry, json_array(meta_of(o), "managedFields")) {
		if (!sets_suspend(entry))
			continue;
		if (is_ours(entry))
			return false;
		others = true;
	}
	return others;
}
