/*
 * A new field: its row in `fields` and, where it holds another type than a number, in
 * strategy_put() and fault_of(); the headers and docs/idle.md.
 */
#include "overcommit/strategy.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"

#define MOST INT32_MAX /* of a number without a bound of its own: more is a slip of the pen */
#define BIT(field) (UINT64_C(1) << (field))
#define PLACE(member) offsetof(struct strategy, member)

static const struct field {
	const char *name;
	size_t number; /* where the number is; 0: not a number */
	int64_t least, most;
	int64_t otherwise; /* the default */
} fields[STRATEGY_FIELDS] = {
	[FIELD_ENABLE] = {"enable"},
	[FIELD_PROFILE] = {"profile"},
	[FIELD_NAMES] = {"resourceNames"},
	[FIELD_SOURCE] = {"usageSource"},
	[FIELD_PERIOD] = {"metricAggregateDurationSeconds", PLACE(period_s), 1, MOST, 60},
	[FIELD_INTERVAL] = {"metricReportIntervalSeconds", PLACE(interval_s), 1, MOST, 15},
	[FIELD_RAISE_WINDOW] = {"raiseWindowSeconds", PLACE(raise_window_s), 0, MOST, 300},
	[FIELD_CPU_PERCENT] = {"cpuReclaimThresholdPercent", PLACE(cpu_percent), 0, MOST, 65},
	[FIELD_MEMORY_PERCENT] = {"memoryReclaimThresholdPercent", PLACE(memory_percent), 0, MOST,
		65},
	[FIELD_CPU_POLICY] = {"cpuCalculatePolicy"},
	[FIELD_MEMORY_POLICY] = {"memoryCalculatePolicy"},
	[FIELD_CPU_CAP] = {"batchCPUThresholdPercent", PLACE(cpu_cap), 0, MOST, -1},
	[FIELD_MEMORY_CAP] = {"batchMemoryThresholdPercent", PLACE(memory_cap), 0, MOST, -1},
	[FIELD_DEGRADE] = {"degradeTimeMinutes", PLACE(degrade_min), 1, MOST, 15},
	[FIELD_REWRITE] = {"updateTimeThresholdSeconds", PLACE(rewrite_s), 1, MOST, 300},
	[FIELD_DIFF] = {"resourceDiffThreshold", PLACE(diff_permille), 1, 1000, 100},
	[FIELD_RESERVE_CPU] = {"gocranReserveCPUPercent", PLACE(reserve_cpu), 0, 100, 0},
	[FIELD_RESERVE_MEMORY] = {"gocranReserveMemoryPercent", PLACE(reserve_memory), 0, 100, 0},
	[FIELD_FORECAST_MARGIN] = {"forecastMarginPercent", PLACE(forecast_margin), 0, 100, 10},
	[FIELD_RECLAIM] = {"reclaim"},
	[FIELD_EVICT_MEMORY] = {"memoryEvictThresholdPercent", PLACE(evict_memory), 0, 100, 70},
	[FIELD_EVICT_MEMORY_LOWER] = {"memoryEvictLowerPercent", PLACE(evict_memory_lower), 0, 100,
		-1},
	[FIELD_EVICT_CPU_LOWER] = {"cpuEvictBESatisfactionLowerPercent", PLACE(evict_cpu_lower), 0,
		100, 60},
	[FIELD_EVICT_CPU_UPPER] = {"cpuEvictBESatisfactionUpperPercent", PLACE(evict_cpu_upper), 1,
		100, 80},
	[FIELD_EVICT_CPU_USAGE] = {"cpuEvictBEUsageThresholdPercent", PLACE(evict_cpu_usage), 0,
		100, 90},
	[FIELD_EVICT_ALLOCATABLE] = {"allocatableEvictThresholdPercent", PLACE(evict_allocatable),
		0, MOST, 110},
	[FIELD_EVICT_ALLOCATABLE_LOWER] = {"allocatableEvictLowerPercent",
		PLACE(evict_allocatable_lower), 0, MOST, 100},
	[FIELD_COOL_DOWN] = {"reclaimCoolDownSeconds", PLACE(cool_down_s), 0, MOST, 60},
	[FIELD_EVICT_CPU_WINDOW] = {"cpuEvictTimeWindowSeconds", PLACE(evict_cpu_window_s), 1, MOST,
		20},
	[FIELD_EVICT_CPU_ALLOCATABLE] = {"cpuAllocatableEvictThresholdPercent",
		PLACE(evict_cpu_allocatable), 0, MOST, -1},
	[FIELD_EVICT_CPU_ALLOCATABLE_LOWER] = {"cpuAllocatableEvictLowerPercent",
		PLACE(evict_cpu_allocatable_lower), 0, MOST, -1},
	[FIELD_EVICT_MEMORY_ALLOCATABLE] = {"memoryAllocatableEvictThresholdPercent",
		PLACE(evict_memory_allocatable), 0, MOST, -1},
	[FIELD_EVICT_MEMORY_ALLOCATABLE_LOWER] = {"memoryAllocatableEvictLowerPercent",
		PLACE(evict_memory_allocatable_lower), 0, MOST, -1},
	[FIELD_LIMITS] = {"limits"},
	[FIELD_SUPPRESS] = {"suppress"},
	[FIELD_SUPPRESS_PERCENT] = {"cpuSuppressThresholdPercent", PLACE(suppress_percent), 0, 100,
		65},
	[FIELD_SUPPRESS_MIN] = {"cpuSuppressMinPercent", PLACE(suppress_min), 0, 100, 2},
	[FIELD_SUPPRESS_POLICY] = {"cpuSuppressPolicy"},
	[FIELD_CPU_IDLE] = {"cpuIdle"},
	[FIELD_HOLD] = {"memoryHoldPercent", PLACE(hold), 0, 99, 90},
	[FIELD_END] = {"memoryEndPercent", PLACE(end), 0, 100, 96},
};

const char *strategy_field_name(enum strategy_field f)
{
	must(f < STRATEGY_FIELDS);
	return fields[f].name;
}

static int64_t number(const struct strategy *s, const struct field *f)
{
	int64_t n;
	memcpy(&n, (const char *)s + f->number, sizeof(n));
	return n;
}

static void set_number(struct strategy *s, const struct field *f, int64_t n)
{
	memcpy((char *)s + f->number, &n, sizeof(n));
}

/* Returns the defaults, with -1 for what is absent by default. */
static struct strategy unsettled(enum profile profile)
{
	struct strategy s = {.profile = profile,
		.names = LEND_BATCH,
		.source = SOURCE_AUTO,
		.reclaim = true,
		.limits = true,
		.suppress = true};
	for (size_t i = 0; i < STRATEGY_FIELDS; i++)
		if (fields[i].number)
			set_number(&s, &fields[i], fields[i].otherwise);
	if (profile == PROFILE_KOORDINATOR)
		s.cpu_percent = 60;
	return s;
}

/* Gives one resource what both have, where it says nothing of its own. */
static void settle_allocatable(const struct strategy *both, int64_t *threshold, int64_t *lower)
{
	if (*threshold < 0)
		*threshold = both->evict_allocatable;
	if (*lower < 0)
		*lower = both->evict_allocatable_lower;
	if (*lower > *threshold)
		*lower = *threshold;
}

/* Makes memory that is held begin above memory that is taken back, and ending above both. */
static void settle_squeeze(struct strategy *s)
{
	if (s->hold && s->hold <= s->evict_memory)
		s->hold = s->evict_memory + 1 < 100 ? s->evict_memory + 1 : 0;
	int64_t below = s->hold ? s->hold : s->evict_memory;
	if (s->end && s->end <= below)
		s->end = below + 1 <= 100 ? below + 1 : 0;
}

/* Makes lower and upper ends agree that come from different layers: the end at which taking back
 * begins holds. */
static void settle(struct strategy *s)
{
	settle_squeeze(s);
	if (s->evict_memory_lower < 0 || s->evict_memory_lower >= s->evict_memory)
		s->evict_memory_lower = s->evict_memory > 2 ? s->evict_memory - 2 : 0;
	if (s->evict_cpu_upper < s->evict_cpu_lower)
		s->evict_cpu_upper = s->evict_cpu_lower;
	if (s->evict_allocatable_lower > s->evict_allocatable)
		s->evict_allocatable_lower = s->evict_allocatable;
	settle_allocatable(s, &s->evict_cpu_allocatable, &s->evict_cpu_allocatable_lower);
	settle_allocatable(s, &s->evict_memory_allocatable, &s->evict_memory_allocatable_lower);
}

struct strategy strategy_default(enum profile profile)
{
	struct strategy s = unsettled(profile);
	settle(&s);
	return s;
}

static void put_word(struct strategy *s, enum strategy_field f, const struct strategy *from)
{
	if (f == FIELD_ENABLE)
		s->enable = from->enable;
	else if (f == FIELD_PROFILE)
		s->profile = from->profile;
	else if (f == FIELD_NAMES)
		s->names = from->names;
	else if (f == FIELD_SOURCE)
		s->source = from->source;
	else if (f == FIELD_CPU_POLICY)
		s->cpu_policy = from->cpu_policy;
	else if (f == FIELD_MEMORY_POLICY)
		s->memory_policy = from->memory_policy;
	else if (f == FIELD_RECLAIM)
		s->reclaim = from->reclaim;
	else if (f == FIELD_LIMITS)
		s->limits = from->limits;
	else if (f == FIELD_SUPPRESS)
		s->suppress = from->suppress;
	else if (f == FIELD_SUPPRESS_POLICY)
		s->suppress_policy = from->suppress_policy;
	else if (f == FIELD_CPU_IDLE)
		s->cpu_idle = from->cpu_idle;
}

void strategy_put(struct strategy *s, const struct strategy_layer *l)
{
	for (unsigned i = 0; i < STRATEGY_FIELDS; i++) {
		if (!(l->says & BIT(i)))
			continue;
		if (fields[i].number)
			set_number(s, &fields[i], number(&l->value, &fields[i]));
		else
			put_word(s, (enum strategy_field)i, &l->value);
	}
}

static int bad_number(const struct field *f, int64_t n, struct err *e)
{
	if (f == &fields[FIELD_DIFF])
		return err_set(e, ERR_INVALID,
			"%s is %s; write a part of one, more than 0 and at most 1, such as 0.1",
			f->name, n < f->least ? "too small" : "too large");
	if (f->most == MOST)
		return err_set(e, ERR_INVALID, "%s is %" PRId64 "; write %" PRId64 " or more%s",
			f->name, n, f->least, n > MOST ? ", up to 2147483647" : "");
	return err_set(e, ERR_INVALID,
		"%s is %" PRId64 "; write a number from %" PRId64 " to %" PRId64, f->name, n,
		f->least, f->most);
}

static int bad_word(enum strategy_field f, const struct strategy *s, struct err *e)
{
	const char *name = fields[f].name;
	if (f == FIELD_PROFILE && (unsigned)s->profile > PROFILE_KOORDINATOR)
		return err_set(e, ERR_INVALID, "%s is unknown; write ack or koordinator", name);
	if (f == FIELD_NAMES && (!s->names || s->names > (LEND_BATCH | LEND_GOCRAN)))
		return err_set(e, ERR_INVALID, "%s names none; write batch, gocran, or both", name);
	if (f == FIELD_SOURCE && (unsigned)s->source > SOURCE_AUTO)
		return err_set(e, ERR_INVALID,
			"%s is unknown; write metrics.k8s.io, kubelet, agent or auto", name);
	if (f == FIELD_SUPPRESS_POLICY && (unsigned)s->suppress_policy > SUPPRESS_CPUSET)
		return err_set(e, ERR_INVALID, "%s is unknown; write cfsQuota", name);
	if (f == FIELD_CPU_IDLE && (unsigned)s->cpu_idle > CPU_IDLE_ALWAYS)
		return err_set(e, ERR_INVALID, "%s is unknown; write Never, Auto or Always", name);
	if (f == FIELD_CPU_POLICY && s->cpu_policy == POLICY_REQUEST)
		return err_set(e, ERR_INVALID,
			"%s is request, which there is for memory alone; write usage or maxUsageRequest",
			name);
	if (f == FIELD_CPU_POLICY && (unsigned)s->cpu_policy > POLICY_MAX_USAGE_REQUEST)
		return err_set(
			e, ERR_INVALID, "%s is unknown; write usage or maxUsageRequest", name);
	if (f == FIELD_MEMORY_POLICY && (unsigned)s->memory_policy > POLICY_MAX_USAGE_REQUEST)
		return err_set(e, ERR_INVALID,
			"%s is unknown; write usage, request or maxUsageRequest", name);
	return 0;
}

/* Two fields that are two ends of one thing: where a layer says both, they must agree. */
static const struct ends {
	enum strategy_field field, other;
	enum { BELOW, AT_MOST, AT_LEAST, ABOVE } must_be;
} ends[] = {
	{FIELD_EVICT_MEMORY_LOWER, FIELD_EVICT_MEMORY, BELOW},
	{FIELD_EVICT_CPU_UPPER, FIELD_EVICT_CPU_LOWER, AT_LEAST},
	{FIELD_EVICT_ALLOCATABLE_LOWER, FIELD_EVICT_ALLOCATABLE, AT_MOST},
	{FIELD_EVICT_CPU_ALLOCATABLE_LOWER, FIELD_EVICT_CPU_ALLOCATABLE, AT_MOST},
	{FIELD_EVICT_MEMORY_ALLOCATABLE_LOWER, FIELD_EVICT_MEMORY_ALLOCATABLE, AT_MOST},
	{FIELD_HOLD, FIELD_EVICT_MEMORY, ABOVE},
	{FIELD_END, FIELD_EVICT_MEMORY, ABOVE},
	{FIELD_END, FIELD_HOLD, ABOVE},
};

static bool agree(const struct ends *p, int64_t n, int64_t other)
{
	switch (p->must_be) {
	case BELOW:
		return n < other;
	case AT_MOST:
		return n <= other;
	case AT_LEAST:
		return n >= other;
	case ABOVE:
		return n == 0 || n > other; /* 0: never */
	}
	return true;
}

static int bad_pair(const struct ends *p, int64_t n, int64_t other, struct err *e)
{
	static const char *const cures[] = {
		[BELOW] = "write a number below that",
		[AT_MOST] = "write that number or less",
		[AT_LEAST] = "write that number or more",
		[ABOVE] = "write a number above that, or 0 for never",
	};
	return err_set(e, ERR_INVALID, "%s is %" PRId64 ", and %s %" PRId64 "; %s",
		fields[p->field].name, n, fields[p->other].name, other, cures[p->must_be]);
}

/* Checks a field against its other ends, where the same layer says them. */
static int check_ends(const struct strategy_layer *l, enum strategy_field f, struct err *e)
{
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		const struct ends *p = &ends[i];
		if (p->field != f || !(l->says & BIT(p->other)))
			continue;
		int64_t n = number(&l->value, &fields[f]);
		int64_t other = number(&l->value, &fields[p->other]);
		if (!agree(p, n, other))
			return bad_pair(p, n, other, e);
	}
	return 0;
}

static int check_field(const struct strategy_layer *l, enum strategy_field f, struct err *e)
{
	const struct field *field = &fields[f];
	if (!field->number)
		return bad_word(f, &l->value, e);
	int64_t n = number(&l->value, field);
	if (n < field->least || n > field->most)
		return bad_number(field, n, e);
	return check_ends(l, f, e);
}

int strategy_check(const struct strategy_layer *l, struct err *e)
{
	for (unsigned i = 0; i < STRATEGY_FIELDS; i++) {
		int r = l->says & BIT(i) ? check_field(l, (enum strategy_field)i, e) : 0;
		if (r)
			return r;
	}
	return 0;
}

const char *strategy_note(const struct strategy *s)
{
	if (s->suppress_policy == SUPPRESS_CPUSET)
		return "cpuSuppressPolicy is cpuset, and is taken as cfsQuota: cpusets make pods "
		       "fail to start";
	return NULL;
}

/* Finds the entry for a node. An entry with a fault still stands for the nodes it selects, and
 * gives them what the cluster layer says: its author did not mean the next entry. Without a
 * selector it selects nothing. */
static const struct node_strategy *entry_for(const struct node_strategy *nodes, size_t nnodes,
	const struct label *labels, size_t nlabels)
{
	for (size_t i = 0; i < nnodes; i++) {
		const struct node_strategy *n = &nodes[i];
		if (n->fault && !n->selector.nrequirements)
			continue;
		if (labels_match(labels, nlabels, &n->selector))
			return n;
	}
	return NULL;
}

struct strategy strategy_for(const struct overcommit_config *c, const struct label *labels,
	size_t nlabels, const struct strategy_layer *own, const char **ret_name)
{
	const struct node_strategy *entry = entry_for(c->nodes, c->nnodes, labels, nlabels);
	const struct node_strategy *qos = entry_for(c->qos.nodes, c->qos.nnodes, labels, nlabels);
	const struct strategy_layer *layers[] = {&c->qos.cluster, qos ? &qos->layer : NULL,
		&c->cluster, entry && !entry->fault ? &entry->layer : NULL, own};
	enum { LAYERS = sizeof(layers) / sizeof(*layers) };
	enum profile profile = PROFILE_ACK;
	for (size_t i = 0; i < LAYERS; i++)
		if (layers[i] && layers[i]->says & BIT(FIELD_PROFILE))
			profile = layers[i]->value.profile;
	struct strategy s = unsettled(profile);
	for (size_t i = 0; i < LAYERS; i++)
		if (layers[i])
			strategy_put(&s, layers[i]);
	settle(&s);
	if (ret_name)
		*ret_name = entry ? entry->name : NULL;
	return s;
}

bool strategy_ratio(const char *text, int64_t *ret_percent)
{
	if (!text || !strchr("0123456789.+-", *text) || !*text)
		return false;
	char *end;
	double ratio = strtod(text, &end);
	if (*end || !isfinite(ratio) || ratio < 0)
		return false;
	double percent = ratio * 100;
	*ret_percent = percent >= MOST ? MOST : (int64_t)percent;
	return true;
}
