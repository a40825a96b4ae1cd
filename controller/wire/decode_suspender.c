/*
 * Did a person suspend the Job, or did a tool that applied its manifest again?
 * metadata.managedFields says which client set spec.suspend. A write that changes the value takes
 * it from all others, so the client that stands there meant this value.
 *
 * `kubectl patch` and `kubectl edit` are a person who names the field, or looks at it. Anything
 * else (kubectl apply of both kinds, kubectl replace, Helm, Argo CD, Flux, an unknown client)
 * writes what a file says, and files say `suspend: true` because Sluice's own examples once did. In
 * doubt it was no person: a run that is queued again has lost some work, a run that is held is lost
 * until a person looks.
 */
#include <string.h>

#include "base/slice.h"
#include "controller/wire/decode_parts.h"

enum { MANAGER_MAX = 64 }; /* bytes of its name that are kept */

static bool sets_suspend(const cJSON *entry)
{
	const cJSON *spec = json_object(json_object(entry, "fieldsV1"), "f:spec");
	return json_get(spec, "f:suspend") != NULL;
}

static bool is_person(const cJSON *entry)
{
	return json_is(entry, "operation", "Update") &&
	       (json_is(entry, "manager", "kubectl-patch") ||
		       json_is(entry, "manager", "kubectl-edit"));
}

/* Whether the client is this program, by its User-Agent up to the slash (parts.c): the manager of a
 * client that names none. */
static bool is_ours(const cJSON *entry)
{
	return json_is(entry, "manager", "sluice-controller");
}

/* Finds who set spec.suspend: a person first, else the last to write. NULL: nobody is named. */
static const cJSON *find_suspender(const cJSON *o)
{
	const cJSON *last = NULL;
	int64_t last_ms = 0;
	json_each(entry, json_array(meta_of(o), "managedFields")) {
		int64_t at_ms = json_instant(entry, "time");
		if (!sets_suspend(entry) || is_ours(entry))
			continue;
		if (is_person(entry))
			return entry;
		if (!last || at_ms >= last_ms) {
			last = entry;
			last_ms = at_ms;
		}
	}
	return last;
}

void job_suspender(struct decoder *d, const cJSON *o, struct job *j)
{
	const cJSON *entry = find_suspender(o);
	const char *manager = json_text(entry, "manager");
	if (!manager || !*manager)
		return;
	size_t len = slice_cut(manager, MANAGER_MAX);
	char *copy = parcel_bytes(&d->parcel, len + 1);
	memcpy(copy, manager, len);
	copy[len] = '\0';
	j->suspended_by_person = is_person(entry);
	j->suspender = copy;
	j->suspended_ms = json_instant(entry, "time");
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
