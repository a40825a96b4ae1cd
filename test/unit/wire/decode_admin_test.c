#include "wire.h"

#include "base/must.h"
#include "controller/wire/decode.h"

static struct clusterqueue_spec *clusterqueue(const char *text)
{
	struct clusterqueue_spec *s = NULL;
	struct err e = {""};
	if (decode_clusterqueue(parsed(text), &s, &e) < 0)
		fail_msg("%s: %s", text, e.text);
	return s;
}

static void a_whole_clusterqueue(void **state)
{
	struct clusterqueue_spec *s = clusterqueue(
		"{'kind':'ClusterQueue','metadata':{'name':'batch','generation':4,"
		"'deletionTimestamp':'2026-11-21T09:58:30Z'},'spec':{'cohortName':'research',"
		"'queueingStrategy':'StrictFIFO','stopPolicy':'HoldAndDrain','clusterFit':'Now','"
		"future':{'x':1},"
		"'namespaceSelector':{'matchLabels':{'team':'a'},'matchExpressions':["
		"{'key':'env','operator':'NotIn','values':['test','dev']}]},"
		"'resourceGroups':[{'coveredResources':['cpu','memory'],'flavors':["
		"{'name':'spot','resources':[{'name':'cpu','nominalQuota':40,'borrowingLimit':'"
		"500m'},"
		"{'name':'memory','nominalQuota':'160Gi','lendingLimit':0}]}]},"
		"{'coveredResources':['pods'],'flavors':[{'name':'count','resources':["
		"{'name':'pods','nominalQuota':'200'}]}]}]}}");
	(void)state;
	assert_string_equal(s->name, "batch");
	assert_int_equal(s->generation, 4);
	assert_true(s->deleting);
	assert_string_equal(s->cohort, "research");
	assert_int_equal(s->strategy, STRICT_FIFO);
	assert_int_equal(s->stop_policy, STOP_HOLD_AND_DRAIN);
	assert_int_equal(s->cluster_fit, CLUSTER_FIT_NOW);
	assert_true(s->has_namespace_selector);
	assert_int_equal(s->namespace_selector.nrequirements, 2);
	assert_int_equal(s->namespace_selector.requirements[0].op, SELECTOR_IN);
	assert_string_equal(s->namespace_selector.requirements[0].values[0], "a");
	assert_int_equal(s->namespace_selector.requirements[1].op, SELECTOR_NOT_IN);
	assert_int_equal(s->namespace_selector.requirements[1].nvalues, 2);
	assert_int_equal(s->ngroups, 2);
	assert_int_equal(s->groups[0].nresources, 2);
	assert_string_equal(s->groups[0].resources[1], "memory");
	const struct quota_spec *q = s->groups[0].flavors[0].quotas;
	assert_int_equal(q[0].nominal, 40000);
	assert_int_equal(q[0].borrowing_limit, 500);
	assert_int_equal(q[0].lending_limit, QUOTA_UNLIMITED);
	assert_int_equal(q[1].nominal, INT64_C(160) << 30);
	assert_int_equal(q[1].lending_limit, 0);
	assert_string_equal(s->groups[1].flavors[0].flavor, "count");
	assert_int_equal(s->groups[1].flavors[0].quotas[0].nominal, 200);
	free(s);
}

static void what_a_clusterqueue_may_leave_out(void **state)
{
	struct clusterqueue_spec *s = clusterqueue("{'metadata':{'name':'q'}}");
	(void)state;
	assert_int_equal(s->ngroups, 0);
	assert_int_equal(s->strategy, BEST_EFFORT_FIFO);
	assert_int_equal(s->stop_policy, STOP_NONE);
	assert_int_equal(s->cluster_fit, CLUSTER_FIT_POSSIBLE);
	assert_string_equal(s->cohort, "");
	assert_false(s->has_namespace_selector || s->deleting);
	free(s);
	s = clusterqueue("{'metadata':{'name':'q'},'spec':{'namespaceSelector':{}}}");
	assert_true(s->has_namespace_selector);
	assert_int_equal(s->namespace_selector.nrequirements, 0);
	free(s);
	s = clusterqueue("{'metadata':{'name':'q'},'spec':{'namespaceSelector':null}}");
	assert_false(s->has_namespace_selector);
	free(s);
}

#define SPEC(spec) "{'metadata':{'name':'batch'},'spec':{" spec "}}"
#define QUOTA(fields)                                                                              \
	SPEC("'resourceGroups':[{'flavors':[{'name':'a'},{'name':'b','resources':[{" fields        \
	     "}]}]}]")
#define QUOTA_AT "ClusterQueue batch: spec.resourceGroups[0].flavors[1].resources[0]"

static const struct wrong_row {
	const char *text, *sentence;
} wrong_rows[] = {
	{QUOTA("'name':'memory','nominalQuota':'1e400'"), QUOTA_AT
		".nominalQuota: \"1e400\" is too large to be counted; write e.g. 40 or 64Gi"},
	{QUOTA("'name':'cpu','nominalQuota':'40 cores'"),
		QUOTA_AT ".nominalQuota: \"40 cores\" is not a quantity; write e.g. 500m or 40"},
	{QUOTA("'name':'cpu','nominalQuota':-1"), QUOTA_AT ".nominalQuota: must not be negative"},
	{QUOTA("'name':'cpu','nominalQuota':[1]"),
		QUOTA_AT ".nominalQuota: must be a quantity; write e.g. 500m, 40 or 64Gi"},
	{QUOTA("'name':'cpu'"), QUOTA_AT ".nominalQuota: is missing; write e.g. 40 or 64Gi"},
	{QUOTA("'nominalQuota':1"), QUOTA_AT ".name: is missing; write e.g. cpu"},
	{QUOTA("'name':'cpu','nominalQuota':1,'borrowingLimit':'x'"),
		QUOTA_AT ".borrowingLimit: \"x\" is not a quantity; write e.g. 500m or 40"},
	{QUOTA("'name':'memory','nominalQuota':1e17"), QUOTA_AT
		".nominalQuota: is too large for a number; write it in quotes, e.g. \"64Gi\""},
	{SPEC("'resourceGroups':{}"), "ClusterQueue batch: spec.resourceGroups: must be a list"},
	{SPEC("'resourceGroups':[7]"),
		"ClusterQueue batch: spec.resourceGroups[0]: must be an object"},
	{SPEC("'resourceGroups':[{'coveredResources':['']}]"),
		"ClusterQueue batch: spec.resourceGroups[0].coveredResources[0]: must be the name "
		"of "
		"a resource, e.g. cpu"},
	{SPEC("'queueingStrategy':'LIFO'"),
		"ClusterQueue batch: spec.queueingStrategy: \"LIFO\" is unknown; write "
		"BestEffortFIFO, StrictFIFO or Backfill"},
	{SPEC("'clusterFit':'Never'"),
		"ClusterQueue batch: spec.clusterFit: \"Never\" is unknown; write Possible, Ignore "
		"or Now"},
	{SPEC("'flavorFungibility':{'whenCanBorrow':'Borrow'}"),
		"ClusterQueue batch: spec.flavorFungibility.whenCanBorrow: \"Borrow\" is unknown; "
		"write MayStopSearch or TryNextFlavor"},
	{SPEC("'flavorFungibility':{'preference':'PreemptionOverBorrowing'}"),
		"ClusterQueue batch: spec.flavorFungibility.preference: PreemptionOverBorrowing "
		"compares all flavors; set whenCanBorrow and whenCanPreempt to TryNextFlavor, or "
		"remove it"},
	{SPEC("'preemption':{'withinClusterQueue':'Any'}"),
		"ClusterQueue batch: spec.preemption.withinClusterQueue: \"Any\" is unknown; write "
		"Never, LowerPriority or LowerOrNewerEqualPriority"},
	{SPEC("'preemption':{'borrowWithinCohort':{'policy':'LowerPriority'}}"),
		"ClusterQueue batch: spec.preemption.borrowWithinCohort.policy: LowerPriority "
		"needs reclaimWithinCohort to be LowerPriority or Any; set that too, or remove "
		"borrowWithinCohort"},
	{SPEC("'admissionScope':{'admissionMode':'x'}"),
		"ClusterQueue batch: spec.admissionScope.admissionMode: \"x\" is unknown; write "
		"NoAdmissionFairSharing or UsageBasedAdmissionFairSharing"},
	{SPEC("'fairSharing':{'weight':'1n'}"),
		"ClusterQueue batch: spec.fairSharing.weight: is no weight; write 0, or a number "
		"greater than 0.000000001 such as 1, 2.5 or 500m"},
	{SPEC("'defaultMaxRunSeconds':0"),
		"ClusterQueue batch: spec.defaultMaxRunSeconds: must be a whole number from 1 to "
		"2147483647"},
	{SPEC("'maxPriority':1000000001"),
		"ClusterQueue batch: spec.maxPriority: must be at most 1000000000; remove it where "
		"nothing is to be capped"},
	{SPEC("'maxPriority':'high'"),
		"ClusterQueue batch: spec.maxPriority: must be a whole number from -2147483648 to "
		"2147483647"},
	{SPEC("'gapFillers':{'below':1000000001}"),
		"ClusterQueue batch: spec.gapFillers.below: must be at most 1000000000, the "
		"highest priority of a Job"},
	{SPEC("'gapFillers':{'below':'low'}"),
		"ClusterQueue batch: spec.gapFillers.below: must be a whole number from "
		"-2147483648 to 2147483647"},
	{SPEC("'backfill':{'reservations':2}"),
		"ClusterQueue batch: spec.backfill: is only for queueingStrategy: Backfill; set "
		"that, or remove backfill"},
	{SPEC("'queueingStrategy':'Backfill','backfill':{'reservations':0}"),
		"ClusterQueue batch: spec.backfill.reservations: must be a whole number from 1 to "
		"2147483647"},
	{SPEC("'queueingStrategy':'Backfill','backfill':{'reservations':1001}"),
		"ClusterQueue batch: spec.backfill.reservations: must be at most 1000: all of them "
		"are looked at in each pass"},
	{SPEC("'preemption':{'minRun':'10'}"),
		"ClusterQueue batch: spec.preemption.minRun: \"10\" is not a duration; write "
		"hours, minutes and seconds with their units, such as 30m, 1h30m or 36h"},
	{SPEC("'preemption':{'minRun':'745h'}"),
		"ClusterQueue batch: spec.preemption.minRun: \"745h\" is too long; at most 744h is "
		"supported"},
	{SPEC("'growByDefault':'yes'"),
		"ClusterQueue batch: spec.growByDefault: must be true or false"},
	{SPEC("'growInterval':'0s'"),
		"ClusterQueue batch: spec.growInterval: must be at least 1s, for each change of a "
		"run's size is a write to its Job"},
	{SPEC("'growInterval':'25h'"),
		"ClusterQueue batch: spec.growInterval: \"25h\" is too long; at most 24h is "
		"supported"},
	{SPEC("'gapFillers':-1"), "ClusterQueue batch: spec.gapFillers: must be an object"},
	{SPEC("'stopPolicy':'Pause'"), "ClusterQueue batch: spec.stopPolicy: \"Pause\" is unknown; "
				       "write None, Hold or HoldAndDrain"},
	{SPEC("'namespaceSelector':'all'"),
		"ClusterQueue batch: spec.namespaceSelector: must be an object"},
	{SPEC("'namespaceSelector':{'matchExpressions':[{'key':'a'}]}"),
		"ClusterQueue batch: spec.namespaceSelector.matchExpressions[0]: has no operator; "
		"write e.g. In"},
	{"{'metadata':{'name':'batch'},'spec':[]}", "ClusterQueue batch: spec: must be an object"},
	{"{'kind':'Cohort','metadata':{'name':'batch'}}",
		"not a ClusterQueue: its kind is \"Cohort\""},
	{"{'metadata':{'name':'batch','namespace':'a\\u007f'}}",
		"ClusterQueue: metadata.namespace: \"a?\" is not a name; use letters, digits, '-' "
		"and '.'"},
	{"{'metadata':{}}", "ClusterQueue: metadata.name: \"\" is not a name; use letters, digits, "
			    "'-' and '.'"},
};

static void sentences_name_object_field_and_cure(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong_rows) / sizeof(*wrong_rows); i++) {
		struct clusterqueue_spec *s = NULL;
		struct err e = {""};
		const cJSON *o = parsed(wrong_rows[i].text);
		assert_int_equal(decode_clusterqueue(o, &s, &e), ERR_INVALID);
		assert_string_equal(e.text, wrong_rows[i].sentence);
		assert_null(s);
	}
	assert_string_equal(decode_name(parsed(SPEC("'stopPolicy':1"))), "batch");
}

static void whom_it_may_stop_and_where_it_looks(void **state)
{
	struct clusterqueue_spec *s = clusterqueue(
		SPEC("'queueingStrategy':'Backfill','defaultMaxRunSeconds':3600,"
		     "'flavorFungibility':{'whenCanBorrow':'TryNextFlavor','whenCanPreempt':"
		     "'TryNextFlavor','preference':'PreemptionOverBorrowing'},"
		     "'preemption':{'withinClusterQueue':'LowerOrNewerEqualPriority',"
		     "'reclaimWithinCohort':'Any','borrowWithinCohort':{'policy':'LowerPriority',"
		     "'maxPriorityThreshold':-5}},'fairSharing':{'weight':'500m'},"
		     "'admissionScope':{'admissionMode':'UsageBasedAdmissionFairSharing'}"));
	(void)state;
	assert_int_equal(s->strategy, BACKFILL);
	assert_int_equal(s->default_max_run_ms, 3600000);
	assert_true(s->fungibility.next_when_borrowing);
	assert_false(s->fungibility.stop_when_preempting);
	assert_true(s->fungibility.prefer_preemption);
	assert_int_equal(s->preemption.within_clusterqueue, PREEMPT_LOWER_OR_NEWER_EQUAL_PRIORITY);
	assert_int_equal(s->preemption.reclaim_within_cohort, PREEMPT_ANY);
	assert_true(s->preemption.borrow_within_cohort && s->preemption.has_max_priority);
	assert_int_equal(s->preemption.max_priority, -5);
	assert_true(s->weight == 0.5);
	assert_true(s->orders_by_usage);
	assert_int_equal(s->gap_fillers_below, 0);
	assert_true(s->preemption.min_run_ms == 0);
	free(s);
	s = clusterqueue(SPEC("'preemption':{'minRun':'1h30m'}"));
	assert_true(s->preemption.min_run_ms == 90 * 60000);
	free(s);
	s = clusterqueue(SPEC("'growByDefault':true,'growInterval':'2m'"));
	assert_true(s->grow_by_default && s->grow_interval_ms == 120000);
	free(s);
	s = clusterqueue(SPEC("'growByDefault':false"));
	assert_true(!s->grow_by_default && s->grow_interval_ms == GROW_INTERVAL_MS);
	free(s);
	s = clusterqueue(SPEC("'queueingStrategy':'Backfill','backfill':{'reservations':7}"));
	assert_int_equal(s->backfill_reservations, 7);
	free(s);
	s = clusterqueue(SPEC("'queueingStrategy':'Backfill','backfill':{}"));
	assert_int_equal(s->backfill_reservations, 1);
	free(s);
	s = clusterqueue(SPEC("'gapFillers':{'below':-10}"));
	assert_int_equal(s->gap_fillers_below, -10);
	free(s);
	s = clusterqueue(SPEC("'gapFillers':{}"));
	assert_int_equal(s->gap_fillers_below, GAP_FILLERS_NONE);
	free(s);
	s = clusterqueue(SPEC("'flavorFungibility':{'whenCanPreempt':'MayStopSearch'}"));
	assert_true(s->fungibility.stop_when_preempting);
	assert_false(s->fungibility.next_when_borrowing || s->fungibility.prefer_preemption);
	assert_int_equal(s->preemption.within_clusterqueue, PREEMPT_NEVER);
	assert_int_equal(s->preemption.reclaim_within_cohort, PREEMPT_NEVER);
	assert_false(s->preemption.borrow_within_cohort || s->preemption.has_max_priority);
	assert_false(s->orders_by_usage);
	assert_int_equal(s->default_max_run_ms, 0);
	assert_true(s->weight == 1);
	free(s);
}

static const struct weight_row {
	const char *text;
	double weight; /* -1: refused */
} weight_rows[] = {
	{"1", 1},
	{"0", 0},
	{"2.5", 2.5},
	{"'0.25'", 0.25},
	{"'500m'", 0.5},
	{"'10u'", 10e-6},
	{"'2n'", 2e-9},
	{"'1n'", -1},
	{"'1k'", 1000},
	{"'1Ki'", 1024},
	{"'2Mi'", 2 * 1048576.0},
	{"'1e3'", 1000},
	{"'12E'", -1}, /* more than can be counted */
	{"'1E'", 1e18},
	{"-1", -1},
	{"'-1'", -1},
	{"'heavy'", -1},
	{"''", -1},
	{"'0x10'", -1},
	{"'inf'", -1},
	{"true", -1},
	{"null", 1},
};

static void weights(void **state)
{
	char text[200];
	(void)state;
	for (size_t i = 0; i < sizeof(weight_rows) / sizeof(*weight_rows); i++) {
		const struct weight_row *r = &weight_rows[i];
		struct cohort_spec *s = NULL;
		struct err e = {""};
		snprintf(text, sizeof(text),
			"{'metadata':{'name':'all'},'spec':{'fairSharing':{'weight':%s}}}",
			r->text);
		int rc = decode_cohort(parsed(text), &s, &e);
		double got = rc == 0 ? s->weight : -1;
		double apart = got > r->weight ? got - r->weight : r->weight - got;
		if ((rc < 0) != (r->weight < 0) || (rc == 0 && apart > 1e-9 * got))
			fail_msg("%s: %g %s", r->text, got, e.text);
		free(s);
	}
}

static void cohorts(void **state)
{
	struct cohort_spec *s = NULL;
	struct err e = {""};
	(void)state;
	assert_int_equal(
		decode_cohort(parsed("{'kind':'Cohort','metadata':{'name':'research','generation':"
				     "3},'spec':{'parentName':'all','resourceGroups':[{"
				     "'coveredResources':['cpu'],'flavors':[{'name':'spot',"
				     "'resources':[{'name':'cpu','nominalQuota':16,"
				     "'lendingLimit':4}]}]}]}}"),
			&s, &e),
		0);
	assert_string_equal(s->name, "research");
	assert_string_equal(s->parent, "all");
	assert_int_equal(s->generation, 3);
	assert_int_equal(s->ngroups, 1);
	assert_int_equal(s->groups[0].flavors[0].quotas[0].nominal, 16000);
	assert_int_equal(s->groups[0].flavors[0].quotas[0].lending_limit, 4000);
	assert_true(s->weight == 1);
	free(s);
	assert_int_equal(decode_cohort(parsed("{'metadata':{'name':'bare'}}"), &s, &e), 0);
	assert_string_equal(s->parent, "");
	assert_int_equal(s->ngroups, 0);
	free(s);
	assert_int_equal(
		decode_cohort(parsed("{'metadata':{'name':'r'},'spec':{'parentName':7}}"), &s, &e),
		ERR_INVALID);
	assert_string_equal(e.text, "Cohort r: spec.parentName: must be a string");
}

static void limit_ranges(void **state)
{
	struct limit_range_spec *s = NULL;
	struct err e = {""};
	(void)state;
	assert_int_equal(
		decode_limit_range(
			parsed("{'kind':'LimitRange','metadata':{'name':'sizes','namespace':'a'},"
			       "'spec':{'limits':[{'type':'PersistentVolumeClaim','max':{'storage':"
			       "'1Gi'}},{'type':'Container','default':{'cpu':'2'},"
			       "'defaultRequest':{'cpu':'500m','memory':'1Gi'},'min':{'cpu':'1m'},"
			       "'max':{'cpu':4}},{'type':'Pod','min':{'cpu':1},'max':{'memory':'8Gi'}"
			       "}]}}"),
			&s, &e),
		0);
	assert_string_equal(s->ns, "a");
	assert_string_equal(s->name, "sizes");
	assert_int_equal(s->nitems, 2);
	assert_false(s->item[0].is_pod);
	assert_int_equal(s->item[0].defaults.item[0].amount, 2000);
	assert_int_equal(s->item[0].default_requests.count, 2);
	assert_int_equal(s->item[0].min.item[0].amount, 1);
	assert_int_equal(s->item[0].max.item[0].amount, 4000);
	assert_true(s->item[1].is_pod);
	assert_int_equal(s->item[1].max.item[0].amount, INT64_C(8) << 30);
	assert_int_equal(s->item[1].defaults.count, 0);
	assert_int_equal(s->item[1].default_requests.count, 0);
	free(s);
	/* As an API server writes one that a file has: max is the default limit, that the default
	 * request, and min the default request of what has no limit. */
	assert_int_equal(
		decode_limit_range(
			parsed("{'metadata':{'name':'x','namespace':'a'},'spec':{'limits':[{'type':"
			       "'Container','max':{'cpu':2},'min':{'cpu':1,'memory':'1Gi'}}]}}"),
			&s, &e),
		0);
	assert_int_equal(s->item[0].defaults.count, 1);
	assert_int_equal(s->item[0].defaults.item[0].amount, 2000);
	assert_int_equal(s->item[0].default_requests.count, 2);
	assert_int_equal(s->item[0].default_requests.item[0].amount, 2000);
	assert_int_equal(s->item[0].default_requests.item[1].amount, INT64_C(1) << 30);
	free(s);
	assert_int_equal(decode_limit_range(parsed("{'metadata':{'name':'x','namespace':'a'},"
						   "'spec':{'limits':[{'type':'Pod','max':{'cpu':"
						   "'lots'}}]}}"),
				 &s, &e),
		ERR_INVALID);
	assert_string_equal(e.text, "LimitRange a/x: spec.limits[0].max.cpu: \"lots\" is not a "
				    "quantity; write e.g. 500m or 40");
}

static void runtime_classes(void **state)
{
	struct runtime_class_spec *s = NULL;
	struct err e = {""};
	(void)state;
	assert_int_equal(decode_runtime_class(
				 parsed("{'kind':'RuntimeClass','metadata':{'name':'kata'},"
					"'handler':'kata','overhead':{'podFixed':{'cpu':'250m'}},"
					"'scheduling':{'nodeSelector':{'metal':'yes'},"
					"'tolerations':[{'key':'kata','operator':'Exists'}]}}"),
				 &s, &e),
		0);
	assert_string_equal(s->name, "kata");
	assert_string_equal(s->node_selector[0].key, "metal");
	assert_int_equal(s->tolerations[0].op, TOLERATION_EXISTS);
	assert_int_equal(s->overhead.count, 1);
	assert_int_equal(s->overhead.item[0].amount, 250);
	free(s);
	assert_int_equal(decode_runtime_class(parsed("{'metadata':{'name':'runc'}}"), &s, &e), 0);
	assert_int_equal(s->overhead.count + s->nnode_selector + s->ntolerations, 0);
	free(s);
}

static void device_classes(void **state)
{
	struct device_class_spec *s = NULL;
	struct err e = {""};
	(void)state;
	assert_int_equal(
		decode_device_class(parsed("{'kind':'DeviceClass','metadata':{'name':'gpus'},"
					   "'spec':{'extendedResourceName':'e.io/gpu',"
					   "'selectors':[{'cel':{'expression':'true'}}]}}"),
			&s, &e),
		0);
	assert_string_equal(s->name, "gpus");
	assert_string_equal(s->resource, "e.io/gpu");
	free(s);
	assert_int_equal(
		decode_device_class(parsed("{'metadata':{'name':'plain'},'spec':{}}"), &s, &e), 0);
	assert_string_equal(s->resource, "");
	free(s);
}

static struct disruption_budget_spec *budget(const char *text)
{
	struct disruption_budget_spec *s = NULL;
	struct err e = {""};
	if (decode_disruption_budget(parsed(text), &s, &e) < 0)
		fail_msg("%s: %s", text, e.text);
	return s;
}

static void disruption_budgets(void **state)
{
	static const struct label worker[] = {{"app", "solver"}, {"role", "worker"}};
	static const struct {
		const char *spec;
		bool solver, nobody; /* meets the labels above, meets none at all */
		int32_t allowed;
	} cases[] = {
		{"'spec':{'selector':{'matchLabels':{'app':'solver'}}},"
		 "'status':{'disruptionsAllowed':2}",
			true, false, 2},
		{"'spec':{'minAvailable':1,'selector':{'matchExpressions':[{'key':'role',"
		 "'operator':'NotIn','values':['worker']}]}},'status':{'disruptionsAllowed':0}",
			false, true, 0},
		{"'spec':{'selector':{}},'status':{'disruptionsAllowed':1}", true, true, 1},
		{"'spec':{'selector':null},'status':{'disruptionsAllowed':1}", false, false, 1},
		{"'spec':{}", false, false, 0},
		{"'spec':{'selector':{}},'status':{}", true, true, 0}, /* not looked at yet */
	};
	char text[512];
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(text, sizeof(text),
			"{'kind':'PodDisruptionBudget','metadata':{'name':'b','namespace':'a'},%s}",
			cases[i].spec);
		struct disruption_budget_spec *s = budget(text);
		bool solver = labels_match(worker, 2, &s->selector);
		if (solver != cases[i].solver ||
			labels_match(NULL, 0, &s->selector) != cases[i].nobody ||
			s->allowed != cases[i].allowed || strcmp(s->ns, "a") != 0 ||
			strcmp(s->name, "b") != 0)
			fail_msg("%s", cases[i].spec);
		free(s);
	}
}

static void budgets_that_are_none(void **state)
{
	struct disruption_budget_spec *s = NULL;
	struct err e = {""};
	(void)state;
	assert_int_equal(
		decode_disruption_budget(parsed("{'metadata':{'name':'b','namespace':'a'},"
						"'spec':{'selector':{'matchExpressions':[{'key':"
						"'x','operator':'Like'}]}}}"),
			&s, &e),
		ERR_INVALID);
	assert_string_equal(e.text,
		"PodDisruptionBudget a/b: spec.selector.matchExpressions[0].operator: \"Like\" is "
		"unknown; write In, NotIn, Exists, DoesNotExist, Gt or Lt");
	assert_int_equal(
		decode_disruption_budget(parsed("{'kind':'Pod','metadata':{'name':'b'}}"), &s, &e),
		ERR_INVALID);
	assert_null(s);
}

/* Whoever may write budgets decides how large their selectors are, and each is kept. */
static void a_selector_beyond_all_measure_is_refused(void **state)
{
	struct disruption_budget_spec *s = NULL;
	struct err e = {""};
	struct buf b;
	(void)state;
	for (int n = 1; n <= 10; n += 9) {
		buf_init(&b, 1 << 20);
		buf_puts(&b, "{'metadata':{'name':'b','namespace':'a'},'spec':{'selector':{"
			     "'matchExpressions':[");
		for (int i = 0; i < n; i++) {
			buf_printf(
				&b, "%s{'key':'app','operator':'In','values':['x'", i ? "," : "");
			for (int k = 0; k < 100; k++)
				buf_printf(&b, ",'value-%06d'", k);
			buf_puts(&b, "]}");
		}
		buf_puts(&b, "]}}}");
		s = NULL;
		int rc = decode_disruption_budget(parsed(buf_text(&b)), &s, &e);
		assert_int_equal(rc, n == 1 ? 0 : ERR_INVALID);
		assert_int_equal(s != NULL, n == 1);
		free(s);
		buf_done(&b);
	}
	assert_non_null(strstr(e.text, "PodDisruptionBudget a/b: spec.selector: takes "));
	assert_non_null(strstr(e.text, "at most 16384 are kept of one, so it spares no pods"));
}

static void localqueues_limit_each_user(void **state)
{
	struct localqueue_spec *s = NULL;
	struct err e = {""};
	(void)state;
	assert_int_equal(
		decode_localqueue(parsed("{'metadata':{'name':'main','namespace':'a'},"
					 "'spec':{'clusterQueue':'batch','limits':{'perUser':{"
					 "'running':3,'waiting':100,"
					 "'quota':{'cpu':'64','nvidia.com/gpu':8}}}}}"),
			&s, &e),
		0);
	const struct user_limits *l = &s->limits.per_user;
	assert_int_equal(l->running, 3);
	assert_int_equal(l->waiting, 100);
	assert_int_equal(l->quota.count, 2);
	assert_string_equal(l->quota.item[0].name, "cpu");
	assert_int_equal(l->quota.item[0].amount, 64000);
	assert_string_equal(l->quota.item[1].name, "nvidia.com/gpu");
	assert_int_equal(l->quota.item[1].amount, 8);
	free(s);
	static const struct {
		const char *limits, *fault;
	} refused[] = {
		{"{'perUser':{'running':0}}",
			"perUser.running: must be a whole number from 1 to 2147483647"},
		{"{'perUser':{'waiting':-1}}",
			"perUser.waiting: must be a whole number from 1 to 2147483647"},
		{"{'perUser':{'quota':{'cpu':'0'}}}",
			"perUser.quota.cpu: must be more than 0; leave it out for no limit"},
	};
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		char text[200], fault[200];
		snprintf(text, sizeof(text),
			"{'metadata':{'name':'main','namespace':'a'},'spec':{'clusterQueue':'batch','limits':%s}}",
			refused[i].limits);
		snprintf(fault, sizeof(fault), "LocalQueue a/main: spec.limits.%s",
			refused[i].fault);
		assert_int_equal(decode_localqueue(parsed(text), &s, &e), ERR_INVALID);
		assert_string_equal(e.text, fault);
	}
}

static void localqueues(void **state)
{
	struct localqueue_spec *s = NULL;
	struct err e = {""};
	(void)state;
	assert_int_equal(
		decode_localqueue(parsed("{'metadata':{'name':'main','namespace':'team-a',"
					 "'generation':2},'spec':{'clusterQueue':'batch',"
					 "'stopPolicy':'Hold','maxWaiting':500,'maxRunning':3,"
					 "'fairSharing':{'weight':2}}}"),
			&s, &e),
		0);
	assert_string_equal(s->ns, "team-a");
	assert_string_equal(s->name, "main");
	assert_string_equal(s->clusterqueue, "batch");
	assert_int_equal(s->stop_policy, STOP_HOLD);
	assert_int_equal(s->generation, 2);
	assert_true(s->weight == 2);
	assert_int_equal(s->limits.max_waiting, 500);
	assert_int_equal(s->limits.max_running, 3);
	free(s);
	assert_int_equal(decode_localqueue(parsed("{'metadata':{'name':'main','namespace':'a'},"
						  "'spec':{'clusterQueue':'batch'}}"),
				 &s, &e),
		0);
	assert_int_equal(s->limits.max_waiting, 20000);
	assert_int_equal(s->limits.max_running, 0);
	free(s);
	assert_int_equal(decode_localqueue(parsed("{'metadata':{'name':'main','namespace':'a'},"
						  "'spec':{'clusterQueue':'batch',"
						  "'maxWaiting':0}}"),
				 &s, &e),
		ERR_INVALID);
	assert_string_equal(e.text,
		"LocalQueue a/main: spec.maxWaiting: must be a whole number from 1 to 2147483647");
	static const char *const numbers[] = {"0", "-1", "1.5", "'2'"};
	for (size_t i = 0; i < 4; i++) {
		char text[200];
		snprintf(text, sizeof(text),
			"{'metadata':{'name':'main','namespace':'a'},'spec':{'clusterQueue':'batch','maxRunning':%s}}",
			numbers[i]);
		assert_int_equal(decode_localqueue(parsed(text), &s, &e), ERR_INVALID);
		assert_string_equal(e.text,
			"LocalQueue a/main: spec.maxRunning: must be a whole number from 1 to 2147483647");
	}
	assert_int_equal(
		decode_localqueue(
			parsed("{'metadata':{'name':'main','namespace':'team-a'}}"), &s, &e),
		ERR_INVALID);
	assert_string_equal(e.text,
		"LocalQueue team-a/main: spec.clusterQueue: is missing; write the "
		"name of the ClusterQueue it leads to");
}

static void flavors(void **state)
{
	struct flavor_spec *s = NULL;
	struct err e = {""};
	(void)state;
	assert_int_equal(
		decode_flavor(parsed("{'metadata':{'name':'spot'},'spec':{"
				     "'nodeLabels':{'pool':'spot'},"
				     "'nodeTaints':[{'key':'spot','value':'y',"
				     "'effect':'NoSchedule'},{'key':'p',"
				     "'effect':'PreferNoSchedule'}],"
				     "'tolerations':[{'key':'spot','operator':'Exists'}]}}"),
			&s, &e),
		0);
	assert_string_equal(s->name, "spot");
	assert_int_equal(s->nodes.nlabels, 1);
	assert_string_equal(s->nodes.labels[0].value, "spot");
	assert_int_equal(s->nodes.ntaints, 2);
	assert_int_equal(s->nodes.taints[0].effect, TAINT_NO_SCHEDULE);
	assert_string_equal(s->nodes.taints[1].value, "");
	assert_int_equal(s->nodes.taints[1].effect, TAINT_PREFER_NO_SCHEDULE);
	assert_int_equal(s->nodes.tolerations[0].op, TOLERATION_EXISTS);
	free(s);
	assert_int_equal(decode_flavor(parsed("{'metadata':{'name':'count'}}"), &s, &e), 0);
	assert_int_equal(s->nodes.nlabels, 0);
	free(s);
	assert_int_equal(decode_flavor(parsed("{'metadata':{'name':'spot'},'spec':{'nodeTaints':["
					      "{'key':'a','effect':'Never'}]}}"),
				 &s, &e),
		ERR_INVALID);
	assert_string_equal(e.text, "ResourceFlavor spot: spec.nodeTaints[0].effect: \"Never\" is "
				    "unknown; write NoSchedule, PreferNoSchedule or NoExecute");
	assert_int_equal(
		decode_flavor(
			parsed("{'metadata':{'name':'spot'},'spec':{'nodeTaints':[{'key':'a'}]}}"),
			&s, &e),
		ERR_INVALID);
	assert_string_equal(e.text, "ResourceFlavor spot: spec.nodeTaints[0]: has no effect; write "
				    "NoSchedule or NoExecute");
}

static struct flavor_spec *pool(const char *spec, struct err *e)
{
	char text[512];
	struct flavor_spec *s = NULL;
	snprintf(text, sizeof(text), "{'metadata':{'name':'idle'},'spec':{'idlePool':%s}}", spec);
	return decode_flavor(parsed(text), &s, e) == 0 ? s : NULL;
}

static void idle_pools(void **state)
{
	static const struct {
		const char *spec;
		enum lending lending;
		int32_t permille;
		bool kubelet;
	} cases[] = {
		{"{}", LENDING_BATCH, 1000},
		{"{'limits':'Agent'}", LENDING_BATCH, 1000},
		{"{'limits':'Kubelet'}", LENDING_BATCH, 1000, true},
		{"{'names':'Batch','share':'80%'}", LENDING_BATCH, 800},
		{"{'names':'Gocran','share':'0.1%'}", LENDING_GOCRAN, 1},
		{"null", LENDING_NONE, 0},
	};
	static const struct {
		const char *spec, *at;
	} bad[] = {
		{"{'names':'batch'}",
			"spec.idlePool.names: \"batch\" is unknown; write Batch or Gocran"},
		{"{'limits':'None'}",
			"spec.idlePool.limits: \"None\" is unknown; write Agent or Kubelet"},
		{"{'share':'0%'}", "spec.idlePool.share: is not a share from 0.1% to 100%"},
		{"{'share':'101%'}", "spec.idlePool.share: is not a share from 0.1% to 100%"},
		{"{'share':'half'}", "spec.idlePool.share: \"half\" is not a share"},
		{"{'share':0.8}", "spec.idlePool.share: must be a string"},
		{"[]", "spec.idlePool: must be an object"},
	};
	struct err e = {""};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct flavor_spec *s = pool(cases[i].spec, &e);
		must(s);
		assert_int_equal(s->lending, cases[i].lending);
		assert_int_equal(s->share_permille, cases[i].permille);
		assert_int_equal(s->kubelet_limits, cases[i].kubelet);
		free(s);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_null(pool(bad[i].spec, &e));
		assert_non_null(strstr(e.text, bad[i].at));
	}
}

static void priorities(void **state)
{
	struct priority_spec *s = NULL;
	struct err e = {""};
	(void)state;
	assert_int_equal(decode_workload_priority(
				 parsed("{'metadata':{'name':'low'},'value':-2147483648}"), &s, &e),
		0);
	assert_string_equal(s->name, "low");
	assert_int_equal(s->kind, PRIORITY_WORKLOAD);
	assert_int_equal(s->value, INT32_MIN);
	free(s);
	assert_int_equal(decode_pod_priority(parsed("{'metadata':{'name':'std'},'value':10,"
						    "'globalDefault':true}"),
				 &s, &e),
		0);
	assert_int_equal(s->kind, PRIORITY_POD);
	assert_int_equal(s->value, 10);
	assert_true(s->global_default && !s->never_preempts);
	free(s);
	assert_int_equal(decode_pod_priority(parsed("{'metadata':{'name':'std'},"
						    "'preemptionPolicy':'Never'}"),
				 &s, &e),
		0);
	assert_true(s->never_preempts && s->value == 0);
	free(s);
	assert_int_equal(decode_pod_priority(parsed("{'metadata':{'name':'std'},"
						    "'preemptionPolicy':'Always'}"),
				 &s, &e),
		ERR_INVALID);
	assert_string_equal(e.text, "PriorityClass std: preemptionPolicy: \"Always\" is unknown; "
				    "write PreemptLowerPriority or Never");
	assert_int_equal(
		decode_workload_priority(parsed("{'metadata':{'name':'x'}}"), &s, &e), ERR_INVALID);
	assert_string_equal(e.text, "WorkloadPriorityClass x: value: is missing; write e.g. 1000");
	assert_int_equal(decode_workload_priority(
				 parsed("{'metadata':{'name':'x'},'value':2147483648}"), &s, &e),
		ERR_INVALID);
	assert_string_equal(e.text, "WorkloadPriorityClass x: value: must be a whole number from "
				    "-2147483648 to 2147483647");
}

static void namespaces(void **state)
{
	struct namespace_spec *s = NULL;
	struct err e = {""};
	(void)state;
	assert_int_equal(decode_namespace(parsed("{'metadata':{'name':'team-a','labels':{'a':'1',"
						 "'b':''}}}"),
				 &s, &e),
		0);
	assert_string_equal(s->name, "team-a");
	assert_int_equal(s->nlabels, 2);
	assert_string_equal(s->labels[1].key, "b");
	assert_string_equal(s->labels[1].value, "");
	free(s);
}

static void names_of_anything(void **state)
{
	struct uid uid;
	(void)state;
	assert_string_equal(decode_name(NULL), "");
	assert_string_equal(decode_name(parsed("{'metadata':{'name':7}}")), "");
	assert_string_equal(decode_namespace_of(parsed("{'metadata':{'namespace':'n'}}")), "n");
	assert_false(decode_uid(parsed("{'metadata':{}}"), &uid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_clusterqueue),
		cmocka_unit_test(what_a_clusterqueue_may_leave_out),
		cmocka_unit_test(sentences_name_object_field_and_cure),
		cmocka_unit_test(whom_it_may_stop_and_where_it_looks),
		cmocka_unit_test(weights),
		cmocka_unit_test(cohorts),
		cmocka_unit_test(limit_ranges),
		cmocka_unit_test(runtime_classes),
		cmocka_unit_test(device_classes),
		cmocka_unit_test(disruption_budgets),
		cmocka_unit_test(budgets_that_are_none),
		cmocka_unit_test(a_selector_beyond_all_measure_is_refused),
		cmocka_unit_test(localqueues),
		cmocka_unit_test(localqueues_limit_each_user),
		cmocka_unit_test(flavors),
		cmocka_unit_test(idle_pools),
		cmocka_unit_test(priorities),
		cmocka_unit_test(namespaces),
		cmocka_unit_test(names_of_anything),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
