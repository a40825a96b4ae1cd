#include "controller/wire/decode.h"
#include "controller/wire/decode_parts.h"

static struct fungibility_spec fungibility_field(
	struct decoder *d, const struct path *up, const cJSON *spec)
{
	static const char *const searches[] = {"MayStopSearch", "TryNextFlavor", NULL};
	static const char *const preferences[] = {
		"BorrowingOverPreemption", "PreemptionOverBorrowing", NULL};
	const struct path *at = PATH(up, "flavorFungibility");
	const cJSON *o = object_field(d, up, spec, "flavorFungibility");
	struct fungibility_spec f = {
		.next_when_borrowing = name_field(d, at, o, "whenCanBorrow", searches, 0) == 1,
		.stop_when_preempting = name_field(d, at, o, "whenCanPreempt", searches, 1) == 0,
		.prefer_preemption = name_field(d, at, o, "preference", preferences, 0) == 1,
	};
	if (f.prefer_preemption && (!f.next_when_borrowing || f.stop_when_preempting))
		decoder_fault(d, PATH(at, "preference"),
			"PreemptionOverBorrowing compares all flavors; set whenCanBorrow and whenCanPreempt to TryNextFlavor, or remove it");
	return f;
}

static void borrow_within_cohort(struct decoder *d, const struct path *up, const cJSON *preemption,
	struct preemption_spec *ret)
{
	static const char *const policies[] = {"Never", "LowerPriority", NULL};
	const struct path *at = PATH(up, "borrowWithinCohort");
	const cJSON *o = object_field(d, up, preemption, "borrowWithinCohort");
	ret->borrow_within_cohort = name_field(d, at, o, "policy", policies, 0) == 1;
	ret->has_max_priority = json_get(o, "maxPriorityThreshold") != NULL;
	ret->max_priority = int32_field(d, at, o, "maxPriorityThreshold", INT32_MIN, 0);
	if (ret->borrow_within_cohort && ret->reclaim_within_cohort == PREEMPT_NEVER)
		decoder_fault(d, PATH(at, "policy"),
			"LowerPriority needs reclaimWithinCohort to be LowerPriority or Any; set that too, or remove borrowWithinCohort");
}

static struct preemption_spec preemption_field(
	struct decoder *d, const struct path *up, const cJSON *spec)
{
	static const char *const within[] = {
		"Never", "LowerPriority", "LowerOrNewerEqualPriority", NULL};
	static const char *const reclaim[] = {"Never", "LowerPriority", "Any", NULL};
	static const enum preemption_policy reclaim_of[] = {
		PREEMPT_NEVER, PREEMPT_LOWER_PRIORITY, PREEMPT_ANY};
	const struct path *at = PATH(up, "preemption");
	const cJSON *o = object_field(d, up, spec, "preemption");
	struct preemption_spec p = {0};
	p.within_clusterqueue =
		(enum preemption_policy)name_field(d, at, o, "withinClusterQueue", within, 0);
	p.reclaim_within_cohort =
		reclaim_of[name_field(d, at, o, "reclaimWithinCohort", reclaim, 0)];
	borrow_within_cohort(d, at, o, &p);
	p.min_run_ms = span_field(d, at, o, "minRun", MIN_RUN_MAX_MS, 0);
	return p;
}

static bool orders_by_usage(struct decoder *d, const struct path *up, const cJSON *spec)
{
	static const char *const modes[] = {
		"NoAdmissionFairSharing", "UsageBasedAdmissionFairSharing", NULL};
	return name_field(d, PATH(up, "admissionScope"),
		       object_field(d, up, spec, "admissionScope"), "admissionMode", modes, 0) == 1;
}

static int64_t default_max_run_ms(struct decoder *d, const struct path *up, const cJSON *spec)
{
	if (!json_get(spec, "defaultMaxRunSeconds"))
		return 0;
	return (int64_t)int32_field(d, up, spec, "defaultMaxRunSeconds", 1, 0) * 1000;
}

static void max_priority(
	struct decoder *d, const struct path *up, const cJSON *spec, struct clusterqueue_spec *ret)
{
	ret->has_max_priority = json_get(spec, "maxPriority") != NULL;
	ret->max_priority = int32_field(d, up, spec, "maxPriority", INT32_MIN, 0);
	if (ret->max_priority > PRIORITY_HIGHEST)
		decoder_fault(d, PATH(up, "maxPriority"),
			"must be at most 1000000000; remove it where nothing is to be capped");
}

static int32_t gap_fillers_below(struct decoder *d, const struct path *up, const cJSON *spec)
{
	const cJSON *o = object_field(d, up, spec, "gapFillers");
	const struct path *at = PATH(up, "gapFillers");
	if (!o)
		return 0;
	if (!json_get(o, "below"))
		return GAP_FILLERS_NONE;
	int32_t below = int32_field(d, at, o, "below", INT32_MIN, 0);
	if (below > PRIORITY_HIGHEST)
		decoder_fault(d, PATH(at, "below"),
			"must be at most 1000000000, the highest priority of a Job");
	return below;
}

static int32_t backfill_reservations(struct decoder *d, const struct path *up, const cJSON *spec,
	enum queueing_strategy strategy)
{
	const cJSON *o = object_field(d, up, spec, "backfill");
	const struct path *at = PATH(up, "backfill");
	if (!o)
		return 0;
	if (strategy != BACKFILL)
		decoder_fault(d, at,
			"is only for queueingStrategy: Backfill; set that, or remove backfill");
	if (!json_get(o, "reservations"))
		return 1;
	int32_t n = int32_field(d, at, o, "reservations", 1, 1);
	if (n > BACKFILL_RESERVATIONS_MAX)
		decoder_fault(d, PATH(at, "reservations"),
			"must be at most 1000: all of them are looked at in each pass");
	return n;
}

static void growth_fields(
	struct decoder *d, const struct path *up, const cJSON *spec, struct clusterqueue_spec *ret)
{
	const cJSON *by_default = json_get(spec, "growByDefault");
	if (by_default && !cJSON_IsBool(by_default))
		decoder_fault(d, PATH(up, "growByDefault"), "must be true or false");
	ret->grow_by_default = cJSON_IsTrue(by_default);
	ret->grow_interval_ms =
		span_field(d, up, spec, "growInterval", GROW_INTERVAL_MAX_MS, GROW_INTERVAL_MS);
	if (ret->grow_interval_ms < GROW_INTERVAL_MIN_MS)
		decoder_fault(d, PATH(up, "growInterval"),
			"must be at least 1s, for each change of a run's size is a write to its Job");
}

static int fill_clusterqueue(struct decoder *d, const cJSON *o, struct err *e)
{
	static const char *const strategies[] = {
		"BestEffortFIFO", "StrictFIFO", "Backfill", NULL}; /* enum queueing_strategy */
	static const char *const fits[] = {
		"Possible", "Ignore", "Now", NULL}; /* enum cluster_fit */
	const struct path *at = PATH(NULL, "spec");
	struct clusterqueue_spec *s = parcel_array(&d->parcel, 1, sizeof(*s));
	const cJSON *spec = object_field(d, NULL, o, "spec");
	const cJSON *selector = object_field(d, at, spec, "namespaceSelector");
	s->name = text_keep(d, NULL, decode_name(o), NAME_MAX_BYTES);
	s->generation = meta_generation(o);
	s->deleting = meta_deleting(o);
	s->cohort = text_field(d, at, spec, "cohortName", NAME_MAX_BYTES);
	s->strategy = (enum queueing_strategy)name_field(
		d, at, spec, "queueingStrategy", strategies, BEST_EFFORT_FIFO);
	s->backfill_reservations = backfill_reservations(d, at, spec, s->strategy);
	s->stop_policy = stop_policy_field(d, at, spec);
	s->has_namespace_selector = selector != NULL;
	s->namespace_selector = label_selector(d, PATH(at, "namespaceSelector"), selector);
	s->groups = resource_groups_field(d, at, spec, &s->ngroups);
	s->fungibility = fungibility_field(d, at, spec);
	s->preemption = preemption_field(d, at, spec);
	s->weight = weight_field(d, at, spec);
	s->orders_by_usage = orders_by_usage(d, at, spec);
	s->default_max_run_ms = default_max_run_ms(d, at, spec);
	max_priority(d, at, spec, s);
	s->metadata = queue_metadata_field(d, at, spec);
	s->gap_fillers_below = gap_fillers_below(d, at, spec);
	growth_fields(d, at, spec, s);
	s->cluster_fit =
		(enum cluster_fit)name_field(d, at, spec, "clusterFit", fits, CLUSTER_FIT_POSSIBLE);
	return decoder_verdict(d, "ClusterQueue", o, e);
}

DECODER(decode_clusterqueue, clusterqueue_spec, "ClusterQueue", 4096, fill_clusterqueue)

static int fill_cohort(struct decoder *d, const cJSON *o, struct err *e)
{
	const struct path *at = PATH(NULL, "spec");
	struct cohort_spec *s = parcel_array(&d->parcel, 1, sizeof(*s));
	const cJSON *spec = object_field(d, NULL, o, "spec");
	s->name = text_keep(d, NULL, decode_name(o), NAME_MAX_BYTES);
	s->generation = meta_generation(o);
	s->deleting = meta_deleting(o);
	s->parent = text_field(d, at, spec, "parentName", NAME_MAX_BYTES);
	s->groups = resource_groups_field(d, at, spec, &s->ngroups);
	s->weight = weight_field(d, at, spec);
	return decoder_verdict(d, "Cohort", o, e);
}

DECODER(decode_cohort, cohort_spec, "Cohort", 4096, fill_cohort)
