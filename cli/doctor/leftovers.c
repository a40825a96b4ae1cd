/*
 * Objects that were deleted and are still there. The leader takes its finalizer off when nothing
 * uses them any more; where no controller leads they stay for ever.
 */
#include "cli/doctor/checks.h"
#include "sluice/keys.h"

static bool has_ours(const cJSON *metadata)
{
	json_each(item, json_array(metadata, "finalizers")) {
		if (cJSON_IsString(item) && strcmp(item->valuestring, FINALIZER) == 0)
			return true;
	}
	return false;
}

static void find_leftover(
	const struct doctor_context *p, struct findings *f, const char *kind, const cJSON *metadata)
{
	const char *name = json_text(metadata, "name");
	const char *since = json_text(metadata, "deletionTimestamp");
	if (!name || !p->lease_known || p->led)
		return;
	findings_add(f, VERDICT_FAIL,
		"%s %s was deleted at %s and waits for a controller to take its finalizer off, but none leads",
		kind, name, since);
	findings_cure(f,
		"# start the controller, or, when it is gone for good:\n"
		"kubectl patch %s.sluice.dev %s --type merge -p '{\"metadata\":{\"finalizers\":"
		"null}}'",
		kind, name);
}

static bool look_at(struct doctor_context *p, struct findings *f, const char *kind,
	const char *path, size_t *deleted)
{
	const cJSON *items;
	if (!doctor_context_list(p, f, path, &items))
		return false;
	json_each(item, items) {
		const cJSON *metadata = json_object(item, "metadata");
		if (!json_text(metadata, "deletionTimestamp") || !has_ours(metadata))
			continue;
		(*deleted)++;
		find_leftover(p, f, kind, metadata);
	}
	return true;
}

void check_leftovers(struct doctor_context *p, struct findings *f)
{
	size_t deleted = 0;
	if (!look_at(p, f, "clusterqueue", SLUICE_ROOT "/clusterqueues", &deleted) ||
		!look_at(p, f, "resourceflavor", SLUICE_ROOT "/resourceflavors", &deleted) ||
		f->count > 0)
		return;
	if (deleted == 0)
		findings_ok(f, "no ClusterQueue or ResourceFlavor is being deleted");
	else
		findings_ok(f,
			"%zu being deleted: each goes when nothing uses it any more (its condition Active says what does)%s",
			deleted, p->lease_known ? "" : "; whether a controller leads is not known");
}
