#include "controller/watch/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "controller/wire/decode.h"
#include "controller/wire/decode_provision.h"
#include "sluice/keys.h"

/* ---- kinds that concern more than the queue ---------------------------------------------------
 * */

static int see_flavor(const struct kind_options *o, const cJSON *object, struct err *e)
{
	struct flavor_spec *s = NULL;
	int rc = decode_flavor(object, &s, e);
	if (rc)
		queue_reject_flavor(o->queue, decode_name(object), e->text);
	else
		rc = queue_set_flavor(o->queue, s, e);
	if (rc)
		free(s);
	else
		overcommit_controller_see_flavor(o->overcommit_controller, s);
	return rc;
}

static int lose_flavor(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	queue_drop_flavor(o->queue, name);
	overcommit_controller_drop_flavor(o->overcommit_controller, name);
	return 0;
}

static int see_namespace(const struct kind_options *o, const cJSON *object, struct err *e)
{
	struct namespace_spec *s = NULL;
	int rc = decode_namespace(object, &s, e);
	if (!rc)
		queue_set_namespace(o->queue, s);
	if (!rc && job_scope_see_namespace(o->job_scope, s))
		rc = JOBS_ANEW;
	free(s);
	return rc;
}

static int lose_namespace(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	queue_drop_namespace(o->queue, name);
	return job_scope_drop_namespace(o->job_scope, name) ? JOBS_ANEW : 0;
}

static int see_node_overcommit(const struct kind_options *o, const cJSON *object, struct err *e)
{
	return overcommit_controller_see(o->overcommit_controller, object, e);
}

static int lose_node_overcommit(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	overcommit_controller_drop(o->overcommit_controller, name);
	return 0;
}

static int see_configmap(const struct kind_options *o, const cJSON *object, struct err *e)
{
	(void)e;
	time_specs_see_configmap(o->time_specs, object);
	return 0;
}

static int lose_configmap(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	time_specs_drop_configmap(o->time_specs, name);
	return 0;
}

static int see_autoscaler(const struct kind_options *o, const cJSON *object, struct err *e)
{
	(void)e;
	autoscaler_status_see(o->autoscaler_status, object);
	return 0;
}

static int lose_autoscaler(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	(void)name;
	autoscaler_status_lose(o->autoscaler_status);
	return 0;
}

/* Tells of a ProvisioningRequest. One that is not of our making is passed over. */
static int see_provision(const struct kind_options *o, const cJSON *object, struct err *e)
{
	struct provision_fact f;
	(void)e;
	if (decode_provision(object, &f))
		gate_see_provision(o->gate, &f);
	return 0;
}

static int lose_provision(const struct kind_options *o, const char *ns, const char *name)
{
	struct uid job;
	int32_t number;
	if (provision_name_parse(name, &job, &number))
		gate_lose_provision(o->gate, &job, ns, number);
	return 0;
}

static int lose_workload_priority(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	queue_drop_priority(o->queue, PRIORITY_WORKLOAD, name);
	return 0;
}

static int lose_pod_priority(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	queue_drop_priority(o->queue, PRIORITY_POD, name);
	return 0;
}

static int lose_limit_range(const struct kind_options *o, const char *ns, const char *name)
{
	return queue_drop_limit_range(o->queue, ns, name) ? JOBS_ANEW : 0;
}

static int lose_runtime_class(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	return queue_drop_runtime_class(o->queue, name) ? JOBS_ANEW : 0;
}

static void seen_resource_quotas(const struct kind_options *o, int64_t version)
{
	queue_saw_quotas(o->queue, NULL, version);
}

/* ---- the table ------------------------------------------------------------------------------- */

#define OURS(plural)                                                                               \
	.name = plural, .path = "/apis/sluice.dev/v1alpha1/" plural, .ours = true,                 \
	.generations = true
#define REPORTED(kind) .has_status = true, .report = kind

const struct kind kinds[KINDS] = {
	{OURS("clusterqueues"), REPORTED(REPORT_CLUSTERQUEUE), .tell = tell_clusterqueue,
		.reject = queue_reject_clusterqueue, .drop = queue_drop_clusterqueue},
	{OURS("localqueues"), REPORTED(REPORT_LOCALQUEUE), .shapes_jobs = true,
		.tell = tell_localqueue, .reject_in = queue_reject_localqueue,
		.drop_in = queue_drop_localqueue},
	{OURS("cohorts"), REPORTED(REPORT_COHORT), .tell = tell_cohort,
		.reject = queue_reject_cohort, .drop = queue_drop_cohort},
	{OURS("resourceflavors"), REPORTED(REPORT_FLAVOR), .see = see_flavor,
		.reject = queue_reject_flavor, .lose = lose_flavor},
	{OURS("workloadpriorityclasses"), .tell = tell_workload_priority,
		.lose = lose_workload_priority},
	{.name = "priorityclasses",
		.path = "/apis/scheduling.k8s.io/v1/priorityclasses",
		.tell = tell_pod_priority,
		.lose = lose_pod_priority},
	{.name = "namespaces",
		.path = "/api/v1/namespaces",
		.shapes_jobs = true,
		.see = see_namespace,
		.lose = lose_namespace},
	{.name = "limitranges",
		.path = "/api/v1/limitranges",
		.shapes_jobs = true,
		.tell = tell_limit_range,
		.lose = lose_limit_range},
	{.name = "runtimeclasses",
		.path = "/apis/node.k8s.io/v1/runtimeclasses",
		.shapes_jobs = true,
		.tell = tell_runtime_class,
		.lose = lose_runtime_class},
	{OURS("calendars"), REPORTED(REPORT_CALENDAR), .names_configmaps = true,
		.is_time_spec = true, .time_spec = TIME_SPECS_CALENDAR,
		.reject = queue_reject_calendar},
	{OURS("priceplans"), REPORTED(REPORT_PRICEPLAN), .names_configmaps = true,
		.is_time_spec = true, .time_spec = TIME_SPECS_PRICEPLAN,
		.reject = queue_reject_priceplan},
	{OURS("budgets"), REPORTED(REPORT_BUDGET), .is_time_spec = true,
		.time_spec = TIME_SPECS_BUDGET, .reject = queue_reject_budget},
	{OURS("runpolicies"), REPORTED(REPORT_RUNPOLICY), .shapes_jobs = true,
		.tell = tell_runpolicy, .reject = queue_reject_runpolicy,
		.drop = queue_drop_runpolicy},
	{OURS("advancereservations"), REPORTED(REPORT_ADVANCE_RESERVATION), .status_is_fact = true,
		.tell = tell_advance_reservation, .reject = queue_reject_advance_reservation,
		.drop = queue_drop_advance_reservation},
	/* The overcommit controller writes its status: what nodes lend, which the queue does not
	 * know. */
	{OURS("nodeovercommits"), .see = see_node_overcommit, .lose = lose_node_overcommit},
	[NODES] = {.name = "nodes",
		.path = "/api/v1/nodes",
		.is_nodes = true,
		.without =
			"nothing of the cluster is asked: Jobs start by their quota alone, whether or not there is a node for their pods",
		.tell = tell_node,
		.drop = queue_drop_node},
	[QUOTAS] = {.name = "resourcequotas",
		.path = "/api/v1/resourcequotas",
		.without = "Jobs start whether or not a ResourceQuota lets their pods in",
		.tell = tell_resource_quota,
		.drop_in = queue_drop_resource_quota,
		.seen = seen_resource_quotas},
	{.name = "poddisruptionbudgets",
		.path = "/apis/policy/v1/poddisruptionbudgets",
		.without =
			"victims of preemption are chosen without a look at PodDisruptionBudgets",
		.tell = tell_disruption_budget,
		.drop_in = queue_drop_disruption_budget},
	{.name = "deviceclasses",
		.path = "/apis/resource.k8s.io/v1/deviceclasses",
		.optional = true,
		.without =
			"an extended resource that no node has is taken to be a DeviceClass's, and one that some node has is asked of nodes alone",
		.know = queue_know_device_classes,
		.tell = tell_device_class,
		.drop = queue_drop_device_class},
	{.name = "nodepools",
		.path = "/apis/karpenter.sh/v1/nodepools",
		.optional = true,
		.generations = true,
		.without =
			"no flavor counts as autoscaled for the NodePools of Karpenter: set spec.nodes in the ResourceFlavor",
		.tell = tell_made_nodes,
		.drop = queue_drop_made_nodes},
	{.name = "cluster-autoscaler-status",
		.path = "/api/v1/namespaces/kube-system/configmaps",
		.field_selector = "metadata.name=cluster-autoscaler-status",
		.optional = true,
		.without =
			"no flavor counts as autoscaled for cluster-autoscaler: set spec.nodes in the ResourceFlavor",
		.see = see_autoscaler,
		.lose = lose_autoscaler},
	{.name = "provisioningrequests",
		.path = "/apis/autoscaling.x-k8s.io/v1/provisioningrequests",
		.label_selector = PROVISION_JOB_LABEL,
		.optional = true,
		.without =
			"no Job starts in a flavor with spec.provisioning: what becomes of its ProvisioningRequest is not seen",
		.see = see_provision,
		.lose = lose_provision},
	[CONFIGMAPS] = {.name = "configmaps",
		.is_configmaps = true,
		.see = see_configmap,
		.lose = lose_configmap},
	/* The two namespaces that the admission policies leave alone are left alone here too. */
	[JOBS] = {.name = "jobs",
		.path = "/apis/batch/v1/jobs",
		.label_selector = QUEUE_LABEL,
		.field_selector =
			"metadata.namespace!=kube-system,metadata.namespace!=sluice-system"},
};

const struct kind kind_pods = {
	.name = "pods",
	.path = "/api/v1/pods",
	.without = "clusterFit Now counts nodes as if no other pods were on them",
};

int kind_tell(
	const struct kind *k, const struct kind_options *o, const cJSON *object, struct err *e)
{
	if (k->is_time_spec)
		return time_specs_see(o->time_specs, k->time_spec, object, e);
	return k->see ? k->see(o, object, e) : k->tell(o->queue, object, e);
}

int kind_drop(const struct kind *k, const struct kind_options *o, const char *ns, const char *name)
{
	if (k->lose)
		return k->lose(o, ns, name);
	if (k->is_time_spec)
		time_specs_drop(o->time_specs, k->time_spec, name);
	else if (k->drop_in)
		k->drop_in(o->queue, ns, name);
	else
		k->drop(o->queue, name);
	return 0;
}
