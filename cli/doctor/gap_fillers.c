/*
 * Negative priorities where they mean two things. Jobs with one fill gaps unless their ClusterQueue
 * says otherwise. Then they take back nothing that it lent, though it says reclaimWithinCohort Any,
 * and as first of a StrictFIFO queue they are passed over. In Kueue neither is so. A ClusterQueue
 * with spec.gapFillers has said what it means.
 */
#include <stdio.h>
#include <string.h>

#include "cli/doctor/checks.h"

#define QUEUES SLUICE_ROOT "/clusterqueues"

struct lowest {
	char whose[300]; /* "PriorityClass gaps" */
	double value;	 /* 0: no class is negative */
};

static double number(const cJSON *object, const char *key)
{
	const cJSON *item = json_get(object, key);
	return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static bool look_at_classes(struct doctor_context *p, struct findings *f, const char *kind,
	const char *path, struct lowest *l)
{
	const cJSON *items;
	if (!doctor_context_list(p, f, path, &items))
		return false;
	json_each(item, items) {
		const char *name = json_text(json_object(item, "metadata"), "name");
		if (!name || number(item, "value") >= l->value)
			continue;
		l->value = number(item, "value");
		snprintf(l->whose, sizeof(l->whose), "%s %s", kind, name);
	}
	return true;
}

/* Names the Jobs of a ClusterQueue that fill gaps: all, if only negative priorities come to it. */
static bool name_gap_fillers(const cJSON *spec, const struct lowest *l, char *ret, size_t size)
{
	double most = number(spec, "maxPriority");
	if (most < 0)
		snprintf(ret, size, "all its Jobs fill gaps (maxPriority %.0f)", most);
	else
		snprintf(ret, size, "its Jobs of %s (%.0f) fill gaps", l->whose, l->value);
	return most < 0 || l->value < 0;
}

static void look_at_queue(struct findings *f, const cJSON *queue, const struct lowest *l)
{
	char which[400];
	const char *name = json_text(json_object(queue, "metadata"), "name");
	const cJSON *spec = json_object(queue, "spec");
	bool any = json_is(json_object(spec, "preemption"), "reclaimWithinCohort", "Any");
	bool strict = json_is(spec, "queueingStrategy", "StrictFIFO");
	if (!name || json_get(spec, "gapFillers") || (!any && !strict) ||
		!name_gap_fillers(spec, l, which, sizeof(which)))
		return;
	findings_add(f, VERDICT_WARN,
		"ClusterQueue %s: %s:%s%s%s; spec.gapFillers does not say whether that is meant",
		name, which,
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
	const cJSON *items;
	struct lowest l = {.value = 0};
	if (!look_at_classes(
		    p, f, "WorkloadPriorityClass", SLUICE_ROOT "/workloadpriorityclasses", &l) ||
		!look_at_classes(
			p, f, "PriorityClass", "/apis/scheduling.k8s.io/v1/priorityclasses", &l))
		return;
	if (!doctor_context_list(p, f, QUEUES, &items))
		return;
	json_each(item, items) {
		look_at_queue(f, item, &l);
	}
	if (f->count == 0)
		findings_ok(f,
			"it is clear of each ClusterQueue whether its Jobs of a priority below 0 only fill gaps");
}
