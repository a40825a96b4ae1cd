/*
 * From the wire's JSON to our records.
 *
 * Each decode_x() turns one parsed object into one record, in one block of memory that free()
 * returns whole; nothing of the JSON tree is kept. Strict about what we act on, blind to the rest
 * (an unknown field is the future, not an error). Whatever a user may write wrong in a Job (a bad
 * quantity, a bad annotation) is not an error of decoding: it becomes job->invalid, a sentence that
 * names object, field and cure, so that the Job waits with that reason. Decoding fails only with
 * ERR_INVALID for what is not such an object at all, or a spec no sense can be made of; then the
 * name is still given when there is one, for the sentence to be shown at its object.
 *
 * Nothing here has zones or ConfigMaps. A Job's zones are looked up through its context, so it is
 * finished when it leaves. What else needs them is left as it was written: a Calendar for
 * calendar_resolve(), a PricePlan for series_resolve() (queue/price/series.h), a Budget's zone.
 */
#ifndef SLUICE_CONTROLLER_WIRE_DECODE_H
#define SLUICE_CONTROLLER_WIRE_DECODE_H

#include "base/err.h"
#include "controller/wire/job_times.h"
#include "sluice/calendar.h"
#include "sluice/job.h"
#include "sluice/policy.h"
#include "sluice/spec.h"

struct cJSON;

/* What a Job's text alone does not tell. */
struct job_context {
	zone_find find_zone; /* NULL: a Job with a time of a zone stays invalid */
	void *zones;	     /* its ctx */
	/* Brings the times that the API server wrote to our clock (clock.h); NULL: they are. */
	void (*bring_times)(struct job *j);
	bool uncounted_claims; /* Jobs may claim devices, which no quota counts */
};
/* c NULL: no zones, and our clock. */
int decode_job(const struct cJSON *o, const struct job_context *c, struct job **ret, struct err *e);
int decode_clusterqueue(const struct cJSON *o, struct clusterqueue_spec **ret, struct err *e);
int decode_cohort(const struct cJSON *o, struct cohort_spec **ret, struct err *e);
int decode_localqueue(const struct cJSON *o, struct localqueue_spec **ret, struct err *e);
int decode_flavor(const struct cJSON *o, struct flavor_spec **ret, struct err *e);
int decode_workload_priority(const struct cJSON *o, struct priority_spec **ret, struct err *e);
int decode_pod_priority(const struct cJSON *o, struct priority_spec **ret, struct err *e);
int decode_namespace(const struct cJSON *o, struct namespace_spec **ret, struct err *e);
int decode_limit_range(const struct cJSON *o, struct limit_range_spec **ret, struct err *e);
/* spec->zone is left NULL and exceptions of datesFrom without dates: the caller that has the zone
 * database and the ConfigMap adds them. */
int decode_calendar(const struct cJSON *o, struct calendar_spec **ret, struct err *e);
int decode_runpolicy(const struct cJSON *o, struct runpolicy_spec **ret, struct err *e);
/* spec.series has no points yet. */
int decode_priceplan(const struct cJSON *o, struct priceplan_spec **ret, struct err *e);
/* spec->zone is left NULL. */
int decode_budget(const struct cJSON *o, struct budget_spec **ret, struct err *e);
/* With what its status says: that it was accepted, and what of it was given back. */
int decode_advance_reservation(
	const struct cJSON *o, struct advance_reservation_spec **ret, struct err *e);
/* A PodDisruptionBudget without a selector is of no pod: its selector has a requirement that no
 * labels meet. */
int decode_disruption_budget(
	const struct cJSON *o, struct disruption_budget_spec **ret, struct err *e);
/* A NodePool of Karpenter that makes no nodes for pods has NULL as its name. */
int decode_made_nodes(const struct cJSON *o, struct made_nodes_spec **ret, struct err *e);
int decode_runtime_class(const struct cJSON *o, struct runtime_class_spec **ret, struct err *e);
int decode_device_class(const struct cJSON *o, struct device_class_spec **ret, struct err *e);

/* metadata.name and metadata.namespace, "" when absent or not text. Borrowed from o. */
const char *decode_name(const struct cJSON *o);
const char *decode_namespace_of(const struct cJSON *o);
/* metadata.uid; false when it is not one. */
bool decode_uid(const struct cJSON *o, struct uid *ret);

#endif
