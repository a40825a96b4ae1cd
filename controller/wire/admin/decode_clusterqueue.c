#include "controller/wire/decode.h"
#include "controller/wire/decode_parts.h"

static void check_fungibility(
	struct decoder *d, const struct path *up, const struct fungibility_spec *f)
{
	if (f->prefer_preemption && (!f->next_when_borrowing || f->stop_when_preempting))
		decoder_fault(d, PATH(PATH(up, "flavorFungibility"), "preference"),
			"PreemptionOverBorrowing compares all flavors; set whenCanBorrow and whenCanPreempt to TryNextFlavor, or remove it");
}

/* Reads reclaimWithinCohort, whose names mean other values than those for within a ClusterQueue. */
static void reclaim_field(
	struct decoder *d, const struct path *up, const cJSON *spec, struct preemption_spec *ret)
{
	static const char *const names[] = {"Never", "LowerPriority", "Any", NULL};
	static const enum preemption_policy policies[] = {
		PREEMPT_NEVER, PREEMPT_LOWER_PRIORITY, PREEMPT_ANY};
	const struct path *at = PATH(up, "preemption");
	ret->reclaim_within_cohort = policies[name_field(
		d, at, json_get(spec, "preemption"), "reclaimWithinCohort", names, 0)];
	if (ret->borrow_within_cohort && ret->reclaim_within_cohort == PREEMPT_NEVER)
		decoder_fault(d, PATH(PATH(at, "borrowWithinCohort"), "policy"),
			"LowerPriority needs reclaimWithinCohort to be LowerPriority or Any; set that too, or remove borrowWithinCohort");
}

static int64_t default_max_run_ms(struct decoder *d, const struct path *up, const cJSON *spec)
{
	if (!json_get(spec, "defaultMaxRunSeconds"))
		return 0;
	return (int64_t)int32_field(d, up, spec, "defaultMaxRunSeconds", 1, 0) * 1000;
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

static int fill_clusterqueue(struct decoder *d, const cJSON *o, struct err *e)
{
	const struct path *at = PATH(NULL, "spec");
	struct clusterqueue_spec *s = parcel_array(&d->parcel, 1, sizeof(*s));
	const cJSON *spec = object_field(d, NULL, o, "spec");
	meta_fields(d, o, s);
	clusterqueue_spec_fields(d, at, spec, s);
	s->backfill_reservations = backfill_reservations(d, at, spec, s->strategy);
	check_fungibility(d, at, &s->fungibility);
	reclaim_field(d, at, spec, &s->preemption);
	s->default_max_run_ms = default_max_run_ms(d, at, spec);
	s->gap_fillers_below = gap_fillers_below(d, at, spec);
	return decoder_verdict(d, "ClusterQueue", o, e);
}

DECODER(decode_clusterqueue, clusterqueue_spec, "ClusterQueue", 4096, fill_clusterqueue)

static int fill_cohort(struct decoder *d, const cJSON *o, struct err *e)
{
	const struct path *at = PATH(NULL, "spec");
	struct cohort_spec *s = parcel_array(&d->parcel, 1, sizeof(*s));
	const cJSON *spec = object_field(d, NULL, o, "spec");
	meta_fields(d, o, s);
	cohort_spec_fields(d, at, spec, s);
	return decoder_verdict(d, "Cohort", o, e);
}

DECODER(decode_cohort, cohort_spec, "Cohort", 4096, fill_cohort)
