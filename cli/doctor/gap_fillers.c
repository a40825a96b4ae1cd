/*
 * Negative priorities where they mean two things. Jobs of one fill gaps unless their ClusterQueue
 * says otherwise: they take back nothing that it lent, though it says reclaimWithinCohort Any, and
 * as first of a StrictFIFO queue they are passed over. In Kueue neither is so. A
 * ClusterQueue that has spec.gapFillers has said what it means.
 */
#include <stdio.h>
#include <string.h>

#include "cli/doctor/checks.h"

#define QUEUES "/apis/sluice.dev/v1alpha1/clusterqueues"

struct lowest {
	char kind[32], name[254];
	double value; /* 0: no class is negative */
};

static double number(const cJSON *object, const char *key)
{
	const cJSON *item = json_get(object, key);
	return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* False: it could not be asked, and f says why. */
static bool look_at_classes(struct doctor_context *p, struct findings *f, const char *kind,
	const char *path, struct lowest *l)
{
	const cJSON *root;
	struct err e = {""};
	int rc = doctor_context_get(p, path, &root, &e);
	if (rc < 0 && rc != ERR_GONE) {
		findings_skip(f, "%s", e.text);
		return false;
	}
	json_each(item, rc < 0 ? NULL : json_array(root, "items")) {
		const char *name = json_text(json_object(item, "metadata"), "name");
		if (!name || number(item, "value") >= l->value)
			continue;
		l->value = number(item, "value");
		snprintf(l->kind, sizeof(l->kind), "%s", kind);
		snprintf(l->name, sizeof(l->name), "%s", name);
	}
	return true;
}

static bool says(const cJSON *object, const char *key, const char *value)
{
	const char *text = json_text(object, key);
	return text && strcmp(text, value) == 0;
}

static void look_at_queue(struct findings *f, const cJSON *queue, const struct lowest *l)
{
	const char *name = json_text(json_object(queue, "metadata"), "name");
	const cJSON *spec = json_object(queue, "spec");
	bool any = says(json_object(spec, "preemption"), "reclaimWithinCohort", "Any");
	bool strict = says(spec, "queueingStrategy", "StrictFIFO");
	if (!name || json_get(spec, "gapFillers") || (!any && !strict))
		return;
	findings_add(f, VERDICT_WARN,
		"ClusterQueue %s: its Jobs of %s %s (%.0f) fill gaps:%s%s%s; spec.gapFillers does not say whether that is meant",
		name, l->kind, l->name, l->value,
		any ? " they take back nothing that it lent, though reclaimWithinCohort is Any"
		    : "",
		any && strict ? ", and" : "",
		strict ? " they hold up no Job behind them, though queueingStrategy is StrictFIFO"
		       : "");
	findings_cure(f,
		"# {} if they are Jobs like any other, {\"below\":0} if they are to fill gaps:\n"
		"kubectl patch clusterqueue.sluice.dev %s --type merge -p '{\"spec\":{\"gapFillers\":{}}}'",
		name);
}

void check_gap_fillers(struct doctor_context *p, struct findings *f)
{
	const cJSON *root;
	struct err e = {""};
	struct lowest l = {.value = 0};
	if (!look_at_classes(p, f, "WorkloadPriorityClass",
		    "/apis/sluice.dev/v1alpha1/workloadpriorityclasses", &l) ||
		!look_at_classes(
			p, f, "PriorityClass", "/apis/scheduling.k8s.io/v1/priorityclasses", &l))
		return;
	if (l.value >= 0) {
		findings_ok(f, "no class has a negative priority");
		return;
	}
	int rc = doctor_context_get(p, QUEUES, &root, &e);
	if (rc < 0 && rc != ERR_GONE) {
		findings_skip(f, "%s", e.text);
		return;
	}
	json_each(item, rc < 0 ? NULL : json_array(root, "items")) {
		look_at_queue(f, item, &l);
	}
	if (f->count == 0)
		findings_ok(f,
			"no ClusterQueue with reclaimWithinCohort Any or StrictFIFO leaves open what negative priorities mean");
}
