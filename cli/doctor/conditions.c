/*
 * What the controller says of Sluice's own objects: their conditions Active, Valid, Accepted, Kept
 * and Effective. A condition that is False is where an explanation begins: a flavor that is
 * missing, a LocalQueue without its ClusterQueue, a series that Prometheus does not have. What
 * somebody stopped or deleted on purpose is no finding.
 */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/doctor/checks.h"

static const struct {
	const char *kind, *plural;
} KINDS[] = {
	{"ClusterQueue", "clusterqueues"},
	{"LocalQueue", "localqueues"},
	{"Cohort", "cohorts"},
	{"ResourceFlavor", "resourceflavors"},
	{"Calendar", "calendars"},
	{"RunPolicy", "runpolicies"},
	{"PricePlan", "priceplans"},
	{"Budget", "budgets"},
	{"AdvanceReservation", "advancereservations"},
	{"NodeOvercommit", "nodeovercommits"},
};

static bool is_one_of(const char *text, const char *const *words)
{
	while (*words && strcmp(*words, text) != 0)
		words++;
	return *words;
}

/* True for a fault of the object itself. An inactive ClusterQueue is found there, not at its
 * LocalQueues; an AdvanceReservation that came too late is over. */
static bool is_finding(const char *type, const char *status, const char *reason)
{
	static const char *const types[] = {
		"Active", "Valid", "Accepted", "Kept", "Effective", NULL};
	static const char *const meant[] = {
		"Stopped", "Terminating", "ClusterQueueIsInactive", "InThePast", NULL};
	return is_one_of(type, types) && strcmp(status, "False") == 0 && !is_one_of(reason, meant);
}

static bool is_found(const cJSON *condition)
{
	return is_finding(text_of(condition, "type"), text_of(condition, "status"),
		text_of(condition, "reason"));
}

static void find_condition(
	struct findings *f, size_t kind, const cJSON *metadata, const cJSON *condition)
{
	const char *name = text_of(metadata, "name");
	const char *ns = text_of(metadata, "namespace");
	const char *reason = text_of(condition, "reason");
	findings_add(f, VERDICT_WARN, "%s %s%s%s: %s: %s", KINDS[kind].kind, ns, *ns ? "/" : "",
		name, reason, text_of(condition, "message"));
	findings_cure(f,
		"kubectl get %s.sluice.dev %s%s%s%s -o yaml   # then correct what it names",
		KINDS[kind].plural, name, *ns ? " -n '" : "", ns, *ns ? "'" : "");
}

/* Finds the faults of an object. Each is in one condition: a name that Active tells is not in
 * Effective. */
static void look_at_object(struct findings *f, size_t kind, const cJSON *item)
{
	json_each(condition, json_array(json_object(item, "status"), "conditions"))
		if (is_found(condition))
			find_condition(f, kind, json_object(item, "metadata"), condition);
}

/* Looks at all objects of a kind. False: it could not be asked, and f says why. A kind that is not
 * there is another check's. */
static bool look_at(struct doctor_context *p, struct findings *f, size_t kind, size_t *ret_objects)
{
	const cJSON *items;
	char path[128];
	snprintf(path, sizeof(path), SLUICE_ROOT "/%s", KINDS[kind].plural);
	if (!doctor_context_list(p, f, path, &items))
		return false;
	json_each(item, items) {
		++*ret_objects;
		look_at_object(f, kind, item);
	}
	return true;
}

void check_conditions(struct doctor_context *p, struct findings *f)
{
	size_t objects = 0;
	for (size_t kind = 0; kind < sizeof(KINDS) / sizeof(*KINDS); kind++)
		if (!look_at(p, f, kind, &objects))
			return;
	if (f->count == 0)
		findings_ok(f,
			"%zu %s of Sluice's kinds, and none says of itself that it is without effect",
			objects, objects == 1 ? "object" : "objects");
}
