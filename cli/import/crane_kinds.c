#include "cli/import/crane_kinds.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/crane.h"
#include "cli/import/kinds.h"
#include "cli/import/metadata.h"

#define VERSION "v1alpha1"

/* ---- NodeQOS --------------------------------------------------------------------------------- */

static void take_restore(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)to;
	if (cJSON_IsNumber(value) && value->valuedouble > 1)
		walk_note(w,
			"is left out: cpu comes back after three seconds, by 10 %% of the node a second");
}

static const struct field metric_fields[] = {
	{"name"},
	{"selector", .meaning = "figures of whole nodes count"},
	{"value"},
	{NULL},
};

const struct field crane_rule_fields[] = {
	{"name"},
	{"metricRule", .within = metric_fields},
	{"avoidanceThreshold"},
	{"restoreThreshold", .take = take_restore},
	{"actionName"},
	{"strategy"},
	{NULL},
};

static void take_node_selector(struct walk *w, const cJSON *value, cJSON *to)
{
	cJSON *made = cJSON_CreateObject();
	walk_fields(w, import_selector_fields, value, made);
	if (made->child)
		walk_add(w, to, "nodeSelector", made);
	else
		cJSON_Delete(made);
}

static const struct field elastic_node_fields[] = {
	{"percent",
		.meaning =
			"Crane has this field and does nothing by it; cpuSuppressThresholdPercent is what it says"},
	{NULL},
};

#define SINGLE_CORES "quotas divide cpu, not single cores of a node"

static const struct field elastic_fields[] = {
	{"elasticNodeCpuLimit", .within = elastic_node_fields},
	{"elasticCoreCpuLimit", .meaning = SINGLE_CORES},
	{"elasticCoreCpuLimitPeriod", .meaning = SINGLE_CORES},
	{"elasticCpuAvoidance", .meaning = SINGLE_CORES},
	{NULL},
};

static void take_elastic(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)to;
	walk_fields(w, elastic_fields, value, NULL);
}

static const struct field policy_spec_fields[] = {
	{"selector", .take = take_node_selector},
	{"nodeQualityProbe",
		.meaning =
			"use is measured by the node's agent, or read from metrics.k8s.io; nothing else is asked"},
	{"rules", .server = true}, /* crane.c walks them */
	{"elasticCpuLimit", .take = take_elastic},
	{"memLimit", .meaning = "page cache is not bounded"},
	{"memoryCompression", .meaning = "memory is not compressed"},
	{"netLimits", .meaning = "the network is not bounded"},
	{NULL},
};

static const struct field policy_fields[] = {
	METADATA_FIELDS,
	{"spec", .within = policy_spec_fields},
	{NULL},
};

/* ---- AvoidanceAction ------------------------------------------------------------------------- */

static void take_grace(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)value;
	(void)to;
	walk_note(w, "is left out: a pod is stopped with its own terminationGracePeriodSeconds");
}

static const struct field cpu_throttle_fields[] = {
	{"minCPURatio"},
	{"stepCPURatio",
		.meaning =
			"cpu falls at once to what the node has left, and rises by 10 % of the node a second"},
	{NULL},
};

static const struct field memory_throttle_fields[] = {
	{"forceGC",
		.meaning =
			"page cache is not dropped; memoryHoldPercent holds lent pods at what they use"},
	{NULL},
};

static const struct field throttle_fields[] = {
	{"cpuThrottle", .within = cpu_throttle_fields},
	{"memoryThrottle", .within = memory_throttle_fields},
	{NULL},
};

static const struct field eviction_fields[] = {
	{"terminationGracePeriodSeconds", .take = take_grace},
	{NULL},
};

static const struct field action_spec_fields[] = {
	{"coolDownSeconds"},
	{"throttle", .within = throttle_fields},
	{"eviction", .within = eviction_fields},
	{"description", .meaning = "no object of Sluice carries it"},
	{NULL},
};

static const struct field action_fields[] = {
	METADATA_FIELDS,
	{"spec", .within = action_spec_fields},
	{NULL},
};

/* ---- PodQOS ---------------------------------------------------------------------------------- */

#define REFUSE(name, text)                                                                         \
	static void name(struct walk *w, const cJSON *value, cJSON *to)                            \
	{                                                                                          \
		(void)to;                                                                          \
		if (!says_nothing(value))                                                          \
			walk_refuse(w, "is not taken: " text);                                     \
	}

REFUSE(refuse_rdt, "L3 cache and memory bandwidth are not divided")
REFUSE(refuse_cpu,
	"priorities, bursts and cores of single pods are not set; cpuIdle of a NodeOvercommit puts all best-effort pods behind the others")
REFUSE(refuse_memory,
	"priorities and page caches of single pods are not set; lent pods are held, and ended, in the order in which Sluice would stop them")
REFUSE(refuse_network, "the network is not bounded")
REFUSE(refuse_disks, "disks are not bounded")

static const struct field cpu_qos_fields[] = {
	{"rdt", .take = refuse_rdt},
	{"containerRdt", .take = refuse_rdt},
	{"*", .take = refuse_cpu},
	{NULL},
};

static const struct field resource_qos_fields[] = {
	{"cpuQOS", .within = cpu_qos_fields},
	{"memoryQOS", .take = refuse_memory},
	{"netIOQOS", .take = refuse_network},
	{"diskIOQOS", .take = refuse_disks},
	{NULL},
};

static const struct field scope_requirement_fields[] = {
	{"scopeName"},
	{"operator"},
	{"values"},
	{NULL},
};

static const struct field scope_fields[] = {
	{"matchExpressions", .within = scope_requirement_fields},
	{NULL},
};

static const struct field pods_spec_fields[] = {
	{"labelSelector", .within = import_selector_fields},
	{"scopeSelector", .within = scope_fields},
	{"resourceQOS", .within = resource_qos_fields},
	{"podQualityProbe", .meaning = "pods are not asked how they are"},
	{"allowedActions"},
	{NULL},
};

static const struct field pods_fields[] = {
	METADATA_FIELDS,
	{"spec", .within = pods_spec_fields},
	{NULL},
};

/* ---- predictions ----------------------------------------------------------------------------- */

static void take_margin(struct walk *w, const cJSON *value, cJSON *to)
{
	char *end = NULL;
	double part = cJSON_IsString(value) ? strtod(value->valuestring, &end) : -1;
	(void)to;
	if (!end || end == value->valuestring || *end || !(part >= 0 && part <= 1)) {
		walk_refuse(w, "must be a text from \"0\" to \"1\", such as \"0.2\"");
		return;
	}
	int64_t percent = (int64_t)ceil(part * 100 - 1e-6);
	if (percent > w->crane->margin_percent)
		w->crane->margin_percent = percent;
}

static void take_percentile(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)to;
	if (!cJSON_IsString(value) || strcmp(value->valuestring, "0.99") != 0)
		walk_note(w, "is left out: the 99th percentile is taken");
}

static void take_algorithm(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)to;
	if (!cJSON_IsString(value) || strcmp(value->valuestring, "percentile") != 0)
		walk_note(w,
			"is left out: the 99th percentile of a week is taken, or present use where that is more");
}

static void take_utilization(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)to;
	if (!cJSON_IsString(value) || strtod(value->valuestring, NULL) != 1.0)
		walk_note(w,
			"is left out: gocranReserveCPUPercent and gocranReserveMemoryPercent keep a part of the node");
}

#define OTHER_ALGORITHM "it belongs to an algorithm that is not Sluice's"
#define A_WEEK "a week is looked back on, and what is older counts less"

static const struct field fft_fields[] = {
	{"marginFraction", .take = take_margin},
	{"lowAmplitudeThreshold", .meaning = OTHER_ALGORITHM},
	{"highFrequencyThreshold", .meaning = OTHER_ALGORITHM},
	{"minNumOfSpectrumItems", .meaning = OTHER_ALGORITHM},
	{"maxNumOfSpectrumItems", .meaning = OTHER_ALGORITHM},
	{NULL},
};

static const struct field max_fields[] = {{"marginFraction", .take = take_margin}, {NULL}};

static const struct field estimator_fields[] = {
	{"fft", .within = fft_fields},
	{"maxValue", .within = max_fields},
	{NULL},
};

static const struct field dsp_fields[] = {
	{"estimators", .within = estimator_fields},
	{"sampleInterval", .meaning = "metricReportIntervalSeconds says how often use is read"},
	{"historyLength", .meaning = A_WEEK},
	{NULL},
};

static const struct field percentile_fields[] = {
	{"marginFraction", .take = take_margin},
	{"percentile", .take = take_percentile},
	{"targetUtilization", .take = take_utilization},
	{"aggregated", .meaning = "each node is one series"},
	{"sampleInterval", .meaning = "metricReportIntervalSeconds says how often use is read"},
	{"historyLength", .meaning = A_WEEK},
	{"histogram", .meaning = A_WEEK},
	{"minSampleWeight", .meaning = OTHER_ALGORITHM},
	{NULL},
};

static const struct field algorithm_fields[] = {
	{"algorithmType", .take = take_algorithm},
	{"dsp", .within = dsp_fields},
	{"percentile", .within = percentile_fields},
	{NULL},
};

#define OWN_SOURCE "use is what the node's agent says, or metrics.k8s.io"

static const struct field predicted_metric_fields[] = {
	{"resourceIdentifier"},
	{"type"},
	{"resourceQuery"},
	{"metricQuery", .meaning = OWN_SOURCE},
	{"expressionQuery", .meaning = OWN_SOURCE},
	{"algorithm", .within = algorithm_fields},
	{NULL},
};

static const struct field target_fields[] = {
	{"*"},
	{NULL},
};

const struct field crane_prediction_fields[] = {
	{"targetRef", .within = target_fields},
	{"predictionWindowSeconds", .meaning = "what is forecast holds at any time to come"},
	{"predictionMetrics", .within = predicted_metric_fields},
	{NULL},
};

static const struct field prediction_object_fields[] = {
	METADATA_FIELDS,
	{"spec", .within = crane_prediction_fields},
	{NULL},
};

static const struct field template_fields[] = {
	{"metadata", .meaning = "no object is made for each node"},
	{"spec", .within = crane_prediction_fields},
	{NULL},
};

static const struct field node_prediction_spec_fields[] = {
	{"nodeSelector",
		.meaning = "nodes are those of the NodeOvercommit; write it into its nodeSelector"},
	{"template", .within = template_fields},
	{NULL},
};

static const struct field node_prediction_fields[] = {
	METADATA_FIELDS,
	{"spec", .within = node_prediction_spec_fields},
	{NULL},
};

/* ---- the kinds ------------------------------------------------------------------------------- */

#define ENSURANCE "ensurance." CRANE_DOMAIN "/" VERSION
#define PREDICTION "prediction." CRANE_DOMAIN "/" VERSION

static const struct crane_kind kinds[] = {
	{"AvoidanceAction", ENSURANCE, "avoidanceactions", false, CRANE_ACTION, action_fields},
	{"NodeQOS", ENSURANCE, "nodeqoss", false, CRANE_POLICY, policy_fields},
	{"PodQOS", ENSURANCE, "podqoss", false, CRANE_PODS, pods_fields},
	{"ClusterNodePrediction", PREDICTION, "clusternodepredictions", true, CRANE_PREDICTION,
		node_prediction_fields},
	{"TimeSeriesPrediction", PREDICTION, "timeseriespredictions", true, CRANE_PREDICTION,
		prediction_object_fields},
};

enum { NKINDS = sizeof(kinds) / sizeof(*kinds) };

const struct crane_kind *crane_kind_by_name(const char *name)
{
	for (size_t i = 0; i < NKINDS; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

const struct crane_kind *crane_kind_at(size_t index)
{
	return index < NKINDS ? &kinds[index] : NULL;
}
