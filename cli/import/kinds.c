#include "cli/import/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "cli/import/metadata.h"
#include "cli/import/references.h"
#include "controller/wire/decode.h"

/* ---- what several kinds have ----------------------------------------------------------------- */

static const struct field quota_fields[] = {
	{"name"},
	{"nominalQuota"},
	{"borrowingLimit"},
	{"lendingLimit"},
	{NULL},
};

static const struct field flavor_quota_fields[] = {
	{"name"},
	{"resources", .within = quota_fields},
	{NULL},
};

static const struct field group_fields[] = {
	{"coveredResources"},
	{"flavors", .within = flavor_quota_fields},
	{NULL},
};

static const struct field weight_fields[] = {{"weight"}, {NULL}};

/* Takes a parent; v1beta1 writes an empty name where there is none. */
static void take_parent(struct walk *w, const cJSON *value, cJSON *to)
{
	if (!says_nothing(value))
		walk_copy(w, to, "parentName", value);
}

static void take_cohort(struct walk *w, const cJSON *value, cJSON *to)
{
	if (!says_nothing(value))
		walk_copy(w, to, "cohortName", value);
}

/* ---- ClusterQueue ---------------------------------------------------------------------------- */

static const struct field selector_requirement_fields[] = {
	{"key"},
	{"operator"},
	{"values"},
	{NULL},
};

const struct field import_selector_fields[] = {
	{"matchLabels"},
	{"matchExpressions", .within = selector_requirement_fields},
	{NULL},
};

/* Values of v1beta1, which had a name for each of the two places; since v1beta2 both are
 * MayStopSearch. */
static const struct field_value search_values[] = {
	{"Borrow", "MayStopSearch"},
	{"Preempt", "MayStopSearch"},
	{NULL, NULL},
};

static const struct field fungibility_fields[] = {
	{"whenCanBorrow", .values = search_values},
	{"whenCanPreempt", .values = search_values},
	{"preference"},
	{NULL},
};

static const struct field borrow_within_fields[] = {
	{"policy"},
	{"maxPriorityThreshold"},
	{NULL},
};

static const struct field preemption_fields[] = {
	{"withinClusterQueue"},
	{"reclaimWithinCohort"},
	{"borrowWithinCohort", .within = borrow_within_fields},
	{NULL},
};

static const struct field scope_fields[] = {{"admissionMode"}, {NULL}};

#define NO_CHECKS                                                                                  \
	"there are no AdmissionChecks, and Jobs start as soon as they have quota, without waiting for these; one that asked an autoscaler becomes spec.provisioning of the ResourceFlavor"

static const struct field clusterqueue_spec_fields[] = {
	{"resourceGroups", .within = group_fields},
	{"cohort", .take = take_cohort},
	{"cohortName", .take = take_cohort},
	{"queueingStrategy"},
	{"namespaceSelector", .within = import_selector_fields},
	{"flavorFungibility", .within = fungibility_fields},
	{"preemption", .within = preemption_fields},
	{"admissionChecks", .meaning = NO_CHECKS},
	{"admissionChecksStrategy", .meaning = NO_CHECKS},
	{"stopPolicy"},
	{"fairSharing", .within = weight_fields},
	{"admissionScope", .within = scope_fields},
	{"concurrentAdmissionPolicy",
		.meaning =
			"a Job waits once, for the first flavor that has room, and does not move to a better one while it runs"},
	{NULL},
};

static const struct field clusterqueue_fields[] = {
	METADATA_FIELDS,
	{"spec", .within = clusterqueue_spec_fields},
	{NULL},
};

/* ---- the others ------------------------------------------------------------------------------ */

static const struct field cohort_spec_fields[] = {
	{"parent", .take = take_parent}, /* v1alpha1 */
	{"parentName", .take = take_parent},
	{"resourceGroups", .within = group_fields},
	{"fairSharing", .within = weight_fields},
	{NULL},
};

static const struct field cohort_fields[] = {
	METADATA_FIELDS,
	{"spec", .within = cohort_spec_fields},
	{NULL},
};

static const struct field localqueue_spec_fields[] = {
	{"clusterQueue"},
	{"stopPolicy"},
	{"fairSharing", .within = weight_fields},
	{NULL},
};

static const struct field localqueue_fields[] = {
	METADATA_FIELDS,
	{"spec", .within = localqueue_spec_fields},
	{NULL},
};

static const struct field taint_fields[] = {
	{"key"},
	{"value"},
	{"effect"},
	{"timeAdded"},
	{NULL},
};

static const struct field toleration_fields[] = {
	{"key"},
	{"operator"},
	{"value"},
	{"effect"},
	{"tolerationSeconds"},
	{NULL},
};

static const struct field flavor_spec_fields[] = {
	{"nodeLabels"},
	{"nodeTaints", .within = taint_fields},
	{"tolerations", .within = toleration_fields},
	{"topologyName",
		.meaning =
			"pods are not placed by topology; kube-scheduler puts them on any node of the flavor (pod affinity in the Jobs keeps them together)"},
	{NULL},
};

static const struct field flavor_fields[] = {
	METADATA_FIELDS,
	{"spec", .within = flavor_spec_fields},
	{NULL},
};

static void take_priority(struct walk *w, const cJSON *value, cJSON *to)
{
	walk_copy(w, to, "value", value);
	note_negative(w, value);
}

static const struct field priority_fields[] = {
	METADATA_FIELDS,
	{"value", .take = take_priority},
	{"description"},
	{NULL},
};

/* ---- whether Sluice takes it ----------------------------------------------------------------- */

#define CHECK(name, decode, type)                                                                  \
	static int name(const cJSON *o, struct err *e)                                             \
	{                                                                                          \
		struct type *spec = NULL;                                                          \
		int rc = decode(o, &spec, e);                                                      \
		free(spec);                                                                        \
		return rc;                                                                         \
	}

CHECK(check_flavor, decode_flavor, flavor_spec)
CHECK(check_cohort, decode_cohort, cohort_spec)
CHECK(check_localqueue, decode_localqueue, localqueue_spec)

static int check_lending(const struct flavor_quota_spec *f, struct err *e)
{
	for (size_t i = 0; i < f->nquotas; i++) {
		const struct quota_spec *q = &f->quotas[i];
		if (q->lending_limit != QUOTA_UNLIMITED && q->lending_limit > q->nominal)
			return err_set(e, ERR_INVALID,
				"spec: lendingLimit of %.100s in flavor %.100s exceeds its nominalQuota; lower it, or leave it out to lend everything",
				q->resource, f->flavor);
	}
	return 0;
}

/* Checks a ClusterQueue, whose lendingLimit may not exceed its nominalQuota. A Cohort's may: what
 * its children have counts, too. */
static int check_clusterqueue(const cJSON *o, struct err *e)
{
	struct clusterqueue_spec *spec = NULL;
	int rc = decode_clusterqueue(o, &spec, e);
	for (size_t g = 0; rc == 0 && g < spec->ngroups; g++)
		for (size_t f = 0; rc == 0 && f < spec->groups[g].nflavors; f++)
			rc = check_lending(&spec->groups[g].flavors[f], e);
	free(spec);
	return rc;
}

CHECK(check_priority, decode_workload_priority, priority_spec)

/* ---- the table ------------------------------------------------------------------------------- */

#define OTHER_CLUSTERS                                                                             \
	"a Job runs on the cluster that it was made on; several clusters may share quota by one database (docs/protocol.md), but no Job is sent to another one"
#define CHECK_KIND                                                                                 \
	"there are no AdmissionChecks; what such a check keeps Jobs waiting for does not keep them waiting here; one that asked an autoscaler becomes spec.provisioning of the ResourceFlavor"

static const struct import_kind kinds[] = {
	{"ResourceFlavor", "resourceflavors", false, flavor_fields, false, NULL, check_flavor},
	{"Cohort", "cohorts", false, cohort_fields, false, NULL, check_cohort},
	{"ClusterQueue", "clusterqueues", false, clusterqueue_fields, true, NULL,
		check_clusterqueue},
	{"LocalQueue", "localqueues", true, localqueue_fields, false, NULL, check_localqueue},
	{"WorkloadPriorityClass", "workloadpriorityclasses", false, priority_fields, false, NULL,
		check_priority},
	{"Topology", "topologies", false, NULL, false,
		"pods are not placed by topology; kube-scheduler puts them on any node of their flavor",
		NULL},
	{"AdmissionCheck", "admissionchecks", false, NULL, false, CHECK_KIND, NULL},
	{"ProvisioningRequestConfig", "provisioningrequestconfigs", false, NULL, false,
		"write its provisioningClassName and parameters into spec.provisioning of the ResourceFlavors whose ClusterQueue named its AdmissionCheck (docs/nodes.md, ProvisioningRequest)",
		NULL},
	{"MultiKueueConfig", "multikueueconfigs", false, NULL, false, OTHER_CLUSTERS, NULL},
	{"MultiKueueCluster", "multikueueclusters", false, NULL, false, OTHER_CLUSTERS, NULL},
	{"Workload", NULL, true, NULL, false,
		"it is Kueue's record of a Job; Sluice keeps none in the API server, so move the Job itself",
		NULL},
};

enum { NKINDS = sizeof(kinds) / sizeof(*kinds) };

const struct import_kind *import_kind_by_name(const char *name)
{
	for (size_t i = 0; i < NKINDS; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

const struct import_kind *import_kind_at(size_t index)
{
	return index < NKINDS ? &kinds[index] : NULL;
}
