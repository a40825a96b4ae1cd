#include "controller/watch/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "controller/wire/decode.h"
#include "controller/wire/decode_template.h"
#include "controller/wire/labels.h"

static int tell_clusterqueue(const struct kind_options *o, const cJSON *object, struct err *e)
{
	struct clusterqueue_spec *s = NULL;
	int rc = decode_clusterqueue(object, &s, e);
	if (rc)
		queue_reject_clusterqueue(o->queue, decode_name(object), e->text);
	else
		rc = queue_set_clusterqueue(o->queue, s, e);
	free(s);
	return rc;
}

static int tell_localqueue(const struct kind_options *o, const cJSON *object, struct err *e)
{
	struct localqueue_spec *s = NULL;
	int rc = decode_localqueue(object, &s, e);
	if (!rc)
		rc = queue_set_localqueue(o->queue, s, e);
	free(s);
	return rc;
}

static int tell_flavor(const struct kind_options *o, const cJSON *object, struct err *e)
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

static int tell_workload_priority(const struct kind_options *o, const cJSON *object, struct err *e)
{
	struct priority_spec *s = NULL;
	int rc = decode_workload_priority(object, &s, e);
	if (!rc)
		queue_set_priority(o->queue, s);
	free(s);
	return rc;
}

static int tell_pod_priority(const struct kind_options *o, const cJSON *object, struct err *e)
{
	struct priority_spec *s = NULL;
	int rc = decode_pod_priority(object, &s, e);
	if (!rc)
		queue_set_priority(o->queue, s);
	free(s);
	return rc;
}

static int tell_namespace(const struct kind_options *o, const cJSON *object, struct err *e)
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

static int tell_cohort(const struct kind_options *o, const cJSON *object, struct err *e)
{
	struct cohort_spec *s = NULL;
	int rc = decode_cohort(object, &s, e);
	if (rc)
		queue_reject_cohort(o->queue, decode_name(object), e->text);
	else
		rc = queue_set_cohort(o->queue, s, e);
	free(s);
	return rc;
}

static int tell_limit_range(const struct kind_options *o, const cJSON *object, struct err *e)
{
	struct limit_range_spec *s = NULL;
	int rc = decode_limit_range(object, &s, e);
	if (!rc && queue_set_limit_range(o->queue, s))
		rc = JOBS_ANEW;
	free(s);
	return rc;
}

static int tell_runtime_class(const struct kind_options *o, const cJSON *object, struct err *e)
{
	struct runtime_class_spec *s = NULL;
	int rc = decode_runtime_class(object, &s, e);
	if (!rc && queue_set_runtime_class(o->queue, s))
		rc = JOBS_ANEW;
	free(s);
	return rc;
}

static int drop_clusterqueue(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	queue_drop_clusterqueue(o->queue, name);
	return 0;
}

static int drop_cohort(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	queue_drop_cohort(o->queue, name);
	return 0;
}

static int drop_localqueue(const struct kind_options *o, const char *ns, const char *name)
{
	queue_drop_localqueue(o->queue, ns, name);
	return 0;
}

static int drop_limit_range(const struct kind_options *o, const char *ns, const char *name)
{
	return queue_drop_limit_range(o->queue, ns, name) ? JOBS_ANEW : 0;
}

static int drop_runtime_class(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	return queue_drop_runtime_class(o->queue, name) ? JOBS_ANEW : 0;
}

static int drop_flavor(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	queue_drop_flavor(o->queue, name);
	overcommit_controller_drop_flavor(o->overcommit_controller, name);
	return 0;
}

static int drop_workload_priority(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	queue_drop_priority(o->queue, PRIORITY_WORKLOAD, name);
	return 0;
}

static int drop_pod_priority(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	queue_drop_priority(o->queue, PRIORITY_POD, name);
	return 0;
}

static int drop_namespace(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	queue_drop_namespace(o->queue, name);
	return job_scope_drop_namespace(o->job_scope, name) ? JOBS_ANEW : 0;
}

/* ---- time and money -------------------------------------------------------------------------- */

static int tell_calendar(const struct kind_options *o, const cJSON *object, struct err *e)
{
	return time_specs_see(o->time_specs, TIME_SPECS_CALENDAR, object, e);
}

static int tell_priceplan(const struct kind_options *o, const cJSON *object, struct err *e)
{
	return time_specs_see(o->time_specs, TIME_SPECS_PRICEPLAN, object, e);
}

static int tell_budget(const struct kind_options *o, const cJSON *object, struct err *e)
{
	return time_specs_see(o->time_specs, TIME_SPECS_BUDGET, object, e);
}

static int tell_runpolicy(const struct kind_options *o, const cJSON *object, struct err *e)
{
	struct runpolicy_spec *s = NULL;
	bool again = false;
	int rc = decode_runpolicy(object, &s, e);
	if (rc)
		queue_reject_runpolicy(o->queue, decode_name(object), e->text);
	else
		rc = queue_set_runpolicy(o->queue, s, &again, e);
	free(s);
	return rc == 0 && again ? JOBS_ANEW : rc;
}

static int tell_configmap(const struct kind_options *o, const cJSON *object, struct err *e)
{
	(void)e;
	time_specs_see_configmap(o->time_specs, object);
	return 0;
}

static int drop_calendar(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	time_specs_drop(o->time_specs, TIME_SPECS_CALENDAR, name);
	return 0;
}

static int drop_priceplan(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	time_specs_drop(o->time_specs, TIME_SPECS_PRICEPLAN, name);
	return 0;
}

static int drop_budget(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	time_specs_drop(o->time_specs, TIME_SPECS_BUDGET, name);
	return 0;
}

static int drop_runpolicy(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	queue_drop_runpolicy(o->queue, name);
	return 0;
}

static int drop_configmap(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	time_specs_drop_configmap(o->time_specs, name);
	return 0;
}

/* ---- idle resources -------------------------------------------------------------------------- */

static int tell_node_overcommit(const struct kind_options *o, const cJSON *object, struct err *e)
{
	return overcommit_controller_see(o->overcommit_controller, object, e);
}

static int drop_node_overcommit(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	overcommit_controller_drop(o->overcommit_controller, name);
	return 0;
}

/* ---- the cluster itself -----------------------------------------------------------------------
 */

static int tell_node(const struct kind_options *o, const cJSON *object, struct err *e)
{
	struct node_spec *s = NULL;
	int rc = decode_node_spec(object, &s, e);
	if (!rc)
		queue_set_node(o->queue, s);
	free(s);
	return rc;
}

static int drop_node(const struct kind_options *o, const char *ns, const char *name)
{
	(void)ns;
	queue_drop_node(o->queue, name);
	return 0;
}

static int tell_resource_quota(const struct kind_options *o, const cJSON *object, struct err *e)
{
	struct resource_quota *s = NULL;
	int rc = decode_resource_quota(object, &s, e);
	if (!rc)
		queue_set_resource_quota(o->queue, s);
	free(s);
	return rc;
}

static int drop_resource_quota(const struct kind_options *o, const char *ns, const char *name)
{
	queue_drop_resource_quota(o->queue, ns, name);
	return 0;
}

static void seen_resource_quotas(const struct kind_options *o, int64_t version)
{
	queue_saw_quotas(o->queue, NULL, version);
}

static int tell_disruption_budget(const struct kind_options *o, const cJSON *object, struct err *e)
{
	struct disruption_budget_spec *s = NULL;
	int rc = decode_disruption_budget(object, &s, e);
	if (!rc)
		queue_set_disruption_budget(o->queue, s);
	free(s);
	return rc;
}

static int drop_disruption_budget(const struct kind_options *o, const char *ns, const char *name)
{
	queue_drop_disruption_budget(o->queue, ns, name);
	return 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

#define OURS "/apis/sluice.dev/v1alpha1/"

const struct kind kinds[KINDS] = {
	{.name = "clusterqueues",
		.path = OURS "clusterqueues",
		.ours = true,
		.has_status = true,
		.generations = true,
		.tell = tell_clusterqueue,
		.reject = queue_reject_clusterqueue,
		.drop = drop_clusterqueue,
		.report = REPORT_CLUSTERQUEUE},
	{.name = "localqueues",
		.path = OURS "localqueues",
		.ours = true,
		.has_status = true,
		.generations = true,
		.shapes_jobs = true,
		.tell = tell_localqueue,
		.drop = drop_localqueue,
		.report = REPORT_LOCALQUEUE},
	{.name = "cohorts",
		.path = OURS "cohorts",
		.ours = true,
		.has_status = true,
		.generations = true,
		.tell = tell_cohort,
		.reject = queue_reject_cohort,
		.drop = drop_cohort,
		.report = REPORT_COHORT},
	{.name = "resourceflavors",
		.path = OURS "resourceflavors",
		.ours = true,
		.has_status = true,
		.generations = true,
		.tell = tell_flavor,
		.reject = queue_reject_flavor,
		.drop = drop_flavor,
		.report = REPORT_FLAVOR},
	{.name = "workloadpriorityclasses",
		.path = OURS "workloadpriorityclasses",
		.ours = true,
		.generations = true,
		.tell = tell_workload_priority,
		.drop = drop_workload_priority},
	{.name = "priorityclasses",
		.path = "/apis/scheduling.k8s.io/v1/priorityclasses",
		.tell = tell_pod_priority,
		.drop = drop_pod_priority},
	{.name = "namespaces",
		.path = "/api/v1/namespaces",
		.shapes_jobs = true,
		.tell = tell_namespace,
		.drop = drop_namespace},
	{.name = "limitranges",
		.path = "/api/v1/limitranges",
		.shapes_jobs = true,
		.tell = tell_limit_range,
		.drop = drop_limit_range},
	{.name = "runtimeclasses",
		.path = "/apis/node.k8s.io/v1/runtimeclasses",
		.shapes_jobs = true,
		.tell = tell_runtime_class,
		.drop = drop_runtime_class},
	{.name = "calendars",
		.path = OURS "calendars",
		.ours = true,
		.has_status = true,
		.generations = true,
		.names_configmaps = true,
		.tell = tell_calendar,
		.reject = queue_reject_calendar,
		.drop = drop_calendar,
		.report = REPORT_CALENDAR},
	{.name = "priceplans",
		.path = OURS "priceplans",
		.ours = true,
		.has_status = true,
		.generations = true,
		.names_configmaps = true,
		.tell = tell_priceplan,
		.reject = queue_reject_priceplan,
		.drop = drop_priceplan,
		.report = REPORT_PRICEPLAN},
	{.name = "budgets",
		.path = OURS "budgets",
		.ours = true,
		.has_status = true,
		.generations = true,
		.tell = tell_budget,
		.reject = queue_reject_budget,
		.drop = drop_budget,
		.report = REPORT_BUDGET},
	{.name = "runpolicies",
		.path = OURS "runpolicies",
		.ours = true,
		.has_status = true,
		.generations = true,
		.shapes_jobs = true,
		.tell = tell_runpolicy,
		.reject = queue_reject_runpolicy,
		.drop = drop_runpolicy,
		.report = REPORT_RUNPOLICY},
	/* Its status is the lender's: it says what nodes lend, which the queue does not know. */
	{.name = "nodeovercommits",
		.path = OURS "nodeovercommits",
		.ours = true,
		.generations = true,
		.tell = tell_node_overcommit,
		.drop = drop_node_overcommit},
	{.name = "nodes",
		.path = "/api/v1/nodes",
		.is_nodes = true,
		.without =
			"nothing of the cluster is asked: Jobs start by their quota alone, whether or not there is a node for their pods",
		.tell = tell_node,
		.drop = drop_node},
	{.name = "resourcequotas",
		.path = "/api/v1/resourcequotas",
		.without = "Jobs start whether or not a ResourceQuota lets their pods in",
		.tell = tell_resource_quota,
		.drop = drop_resource_quota,
		.seen = seen_resource_quotas},
	{.name = "poddisruptionbudgets",
		.path = "/apis/policy/v1/poddisruptionbudgets",
		.without =
			"who is stopped to make room is chosen without a look at PodDisruptionBudgets",
		.tell = tell_disruption_budget,
		.drop = drop_disruption_budget},
	{.name = "configmaps",
		.is_configmaps = true,
		.tell = tell_configmap,
		.drop = drop_configmap},
	/* The two namespaces that the admission policies leave alone are left alone here too. */
	{.name = "jobs",
		.path = "/apis/batch/v1/jobs",
		.label_selector = QUEUE_LABEL,
		.field_selector =
			"metadata.namespace!=kube-system,metadata.namespace!=sluice-system"},
};

const struct kind kind_pods = {
	.name = "pods",
	.path = "/api/v1/pods",
	.without = "clusterFit Now counts nodes as if nobody else's pods were on them",
};
