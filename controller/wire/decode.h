/*
 * From the wire's JSON to our records.
 *
 * Each decode_x() turns one parsed object into one record, in one block of memory that free()
 * returns whole; nothing of the JSON tree is kept. It is strict about what we act on, and blind to
 * the rest: an unknown field is the future, not an error.
 *
 * What a user may write wrong in a Job (a bad quantity, a bad annotation) is no error of decoding.
 * It becomes job->invalid, a sentence that names object, field and cure, and the Job waits with
 * that reason. Decoding fails only with ERR_INVALID: this is no such object at all, or its spec
 * makes no sense. Then the name is still given when there is one, so that the sentence is shown at
 * its object.
 *
 * Nothing here has zones or ConfigMaps. A Job's zones are looked up through its context, so a Job
 * is complete. What else needs them is left as it was written: a Calendar for calendar_resolve(), a
 * PricePlan for series_resolve() (queue/price/series.h), a Budget's zone.
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
	void *zones;	     /* ctx of find_zone */
	/* Brings the times that the API server wrote to our clock (clock.h). NULL: they are by
	 * ours. */
	void (*bring_times)(struct job *j);
	bool uncounted_claims; /* Jobs may claim devices, which no quota counts */
};
/* Decodes a Job. c NULL: no zones, and the times are by our clock. */
int decode_job(const struct cJSON *o, const struct job_context *c, struct job **ret, struct err *e);
int decode_clusterqueue(const struct cJSON *o, struct clusterqueue_spec **ret, struct err *e);
int decode_cohort(const struct cJSON *o, struct cohort_spec **ret, struct err *e);
int decode_localqueue(const struct cJSON *o, struct localqueue_spec **ret, struct err *e);
int decode_flavor(const struct cJSON *o, struct flavor_spec **ret, struct err *e);
int decode_workload_priority(const struct cJSON *o, struct priority_spec **ret, struct err *e);
int decode_pod_priority(const struct cJSON *o, struct priority_spec **ret, struct err *e);
int decode_namespace(const struct cJSON *o, struct namespace_spec **ret, struct err *e);
int decode_limit_range(const struct cJSON *o, struct limit_range_spec **ret, struct err *e);
/* Decodes a Calendar. spec->zone is left NULL, and exceptions of datesFrom without dates: the
 * caller, with the zone database and the ConfigMap, adds them. */
int decode_calendar(const struct cJSON *o, struct calendar_spec **ret, struct err *e);
int decode_runpolicy(const struct cJSON *o, struct runpolicy_spec **ret, struct err *e);
/* Decodes a PricePlan, whose spec.series has no points yet. */
int decode_priceplan(const struct cJSON *o, struct priceplan_spec **ret, struct err *e);
/* Decodes a Budget, and leaves spec->zone NULL. */
int decode_budget(const struct cJSON *o, struct budget_spec **ret, struct err *e);
/* Decodes an AdvanceReservation, with what its status says: was it accepted, and what was given
 * back. */
int decode_advance_reservation(
	const struct cJSON *o, struct advance_reservation_spec **ret, struct err *e);
/* Decodes a PodDisruptionBudget. One without a selector is of no pod: its selector has a
 * requirement that no labels meet. */
int decode_disruption_budget(
	const struct cJSON *o, struct disruption_budget_spec **ret, struct err *e);
/* Decodes a NodePool of Karpenter. One that makes no nodes for pods has NULL as its name. */
int decode_made_nodes(const struct cJSON *o, struct made_nodes_spec **ret, struct err *e);
int decode_runtime_class(const struct cJSON *o, struct runtime_class_spec **ret, struct err *e);
int decode_device_class(const struct cJSON *o, struct device_class_spec **ret, struct err *e);

/* Gives metadata.name and metadata.namespace, "" when absent or not text. Borrowed from o. */
const char *decode_name(const struct cJSON *o);
const char *decode_namespace_of(const struct cJSON *o);
/* Reads metadata.uid; false when it is none. */
bool decode_uid(const struct cJSON *o, struct uid *ret);

#endif
