#include "cli/import/crane_marks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "sluice/quantity.h"

enum { EACH_S = 10, CRANE_COOL_DOWN_S = 300, PERCENT_MAX = 100 };

void crane_marks_begin(struct crane_marks *m)
{
	*m = (struct crane_marks){.throttles = false};
	for (int i = 0; i < CRANE_MARKS; i++)
		m->value[i] = -1;
}

bool crane_rule_is_preview(const cJSON *rule)
{
	return json_is(rule, "strategy", "Preview");
}

/* ---- what is said of a rule ------------------------------------------------------------------ */

static void note(const struct crane_rule *r, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void note(const struct crane_rule *r, const char *field, const char *fmt, ...)
{
	char path[120], text[700];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	snprintf(path, sizeof(path), "spec.rules[%zu]%s%s", r->index, *field ? "." : "", field);
	item_note(r->item, r->where, path, "%s", text);
}

/* ---- its figure ------------------------------------------------------------------------------ */

enum metric { CPU_PERCENT, CPU_MILLI, MEMORY_PERCENT, MEMORY_BYTES, LENT_CPU_PERCENT, METRICS };

static const char *const metric_names[METRICS] = {"cpu_total_utilization", "cpu_total_usage",
	"memory_total_utilization", "memory_total_usage", "ext_cpu_total_distribute"};

static enum metric metric_of(const char *name)
{
	int m = 0;
	while (m < METRICS && (!name || strcmp(metric_names[m], name) != 0))
		m++;
	return (enum metric)m;
}

/* Reads a quantity, which YAML may have made a number. */
static bool read_value(const cJSON *value, int64_t *ret)
{
	struct err e;
	char text[40];
	if (cJSON_IsNumber(value))
		snprintf(text, sizeof(text), "%.0f", value->valuedouble);
	else if (cJSON_IsString(value))
		snprintf(text, sizeof(text), "%.39s", value->valuestring);
	else
		return false;
	return quantity_parse(slice_of(text), QUANTITY_WHOLE, ret, &e) == 0 && *ret >= 0;
}

/* Makes a percentage of an absolute figure, by the largest node: it is the lowest one. */
static bool part_of(const struct crane_rule *r, enum metric m, int64_t value, int64_t *ret_percent)
{
	bool cpu = m == CPU_MILLI;
	int64_t most = cpu ? r->most.cpu_milli : r->most.memory_bytes;
	int64_t least = cpu ? r->least.cpu_milli : r->least.memory_bytes;
	if (most <= 0) {
		note(r, "metricRule.value",
			"is left out: it is an absolute figure, and no Node is here to make a percentage of it; give the Nodes, too");
		return false;
	}
	*ret_percent = (int64_t)((double)value * 100.0 / (double)most);
	if (least != most)
		note(r, "metricRule.value",
			"is an absolute figure, and nodes differ: %" PRId64
			" %% is right for the largest of them, and too low for the others",
			*ret_percent < PERCENT_MAX ? *ret_percent : PERCENT_MAX);
	return true;
}

/* Gives the percentage of a rule. False: there is none, and that is said. */
static bool read_percent(const struct crane_rule *r, enum metric m, int64_t *ret)
{
	const cJSON *value = json_get(json_object(r->rule, "metricRule"), "value");
	int64_t n;
	if (!read_value(value, &n)) {
		note(r, "metricRule.value", "is left out: it is no quantity");
		return false;
	}
	if ((m == CPU_MILLI || m == MEMORY_BYTES) && !part_of(r, m, n, &n))
		return false;
	*ret = m != LENT_CPU_PERCENT && n > PERCENT_MAX ? PERCENT_MAX : n;
	return true;
}

/* ---- what follows from it -------------------------------------------------------------------- */

static void lower(struct crane_marks *m, enum crane_mark which, int64_t value)
{
	if (m->value[which] < 0 || value < m->value[which])
		m->value[which] = value;
}

static int64_t member(const cJSON *object, const char *name, int64_t absent)
{
	int64_t n = absent;
	json_i64(object, name, &n);
	return n;
}

/* Takes what a rule says of throttling. False: nothing. */
static bool throttle(struct crane_marks *m, const struct crane_rule *r, enum metric metric,
	int64_t percent, const cJSON *how)
{
	if (metric != CPU_PERCENT && metric != CPU_MILLI) {
		note(r, "actionName",
			"is left out, as far as it throttles: lent pods are pressed back by cpu alone, and held at the memory that they use (memoryHoldPercent)");
		return false;
	}
	lower(m, MARK_SUPPRESS, percent);
	int64_t least = member(json_object(how, "cpuThrottle"), "minCPURatio", 0);
	if (least > 0) {
		lower(m, MARK_SUPPRESS_LEAST, least < PERCENT_MAX ? least : PERCENT_MAX);
		note(r, "actionName",
			"has minCPURatio, which becomes cpuSuppressMinPercent: a part of the node for all lent pods, where Crane has a part of each pod's limit");
	}
	return true;
}

static void evict_by_cpu(struct crane_marks *m, const struct crane_rule *r, int64_t percent)
{
	int64_t times = member(r->rule, "avoidanceThreshold", 1);
	times = times < 1 ? 1 : times > 1000 ? 1000 : times;
	if (m->value[MARK_EVICT_CPU] < 0 || percent < m->value[MARK_EVICT_CPU])
		m->value[MARK_EVICT_CPU_WINDOW] = times * EACH_S;
	lower(m, MARK_EVICT_CPU, percent);
	note(r, "metricRule.value",
		"becomes cpuEvictBEUsageThresholdPercent, which is not quite that: Jobs go while lent pods get too little of the cpu that they ask for, and use so much of what they get");
}

static void evict(struct crane_marks *m, const struct crane_rule *r, enum metric metric,
	int64_t percent, const struct crane_action *action)
{
	int64_t cool = member(action->spec, "coolDownSeconds", CRANE_COOL_DOWN_S);
	if (cool > m->value[MARK_COOL_DOWN])
		m->value[MARK_COOL_DOWN] = cool;
	if (metric == CPU_PERCENT || metric == CPU_MILLI) {
		evict_by_cpu(m, r, percent);
	} else if (metric == LENT_CPU_PERCENT) {
		lower(m, MARK_EVICT_ALLOCATABLE, percent);
	} else {
		lower(m, MARK_EVICT_MEMORY, percent);
		if (member(r->rule, "avoidanceThreshold", 1) > 1)
			note(r, "avoidanceThreshold",
				"is left out: one sample is enough where memory is short");
	}
}

/* Tells that a previewed rule is no rule here. True: it counts, for nothing else does what it would
 * do. */
static bool counts(const struct crane_rule *r, bool acts, const char *field)
{
	if (acts)
		note(r, "strategy",
			"is Preview, and the rule is left out: others act, and %s is for all of them",
			field);
	else
		note(r, "strategy", "is Preview: %s becomes false, and nothing is done", field);
	return !acts;
}

void crane_marks_take(
	struct crane_marks *m, const struct crane_rule *r, const struct crane_action *action)
{
	const char *name = json_text(json_object(r->rule, "metricRule"), "name");
	enum metric metric = metric_of(name);
	const cJSON *throttles = action ? json_object(action->spec, "throttle") : NULL;
	const cJSON *evicts = action ? json_object(action->spec, "eviction") : NULL;
	bool preview = crane_rule_is_preview(r->rule);
	int64_t percent;
	if (!action) {
		note(r, "actionName",
			"names an AvoidanceAction that is not here: the rule is left out; give that, too");
		return;
	}
	if (!throttles && !evicts) {
		note(r, "actionName",
			"keeps new pods away: nothing has to be done for that, a figure falls by itself, and no node is tainted");
		return;
	}
	if (metric == METRICS) {
		note(r, "metricRule.name",
			"is %.60s: the rule is left out, cpu and memory of nodes are all that is looked at",
			name ? name : "missing");
		return;
	}
	if (!read_percent(r, metric, &percent))
		return;
	if (throttles && (!preview || counts(r, m->throttles, "suppress")) &&
		throttle(m, r, metric, percent, throttles))
		*(preview ? &m->would_throttle : &m->throttles) = true;
	if (evicts && (!preview || counts(r, m->evicts, "reclaim"))) {
		evict(m, r, metric, percent, action);
		*(preview ? &m->would_evict : &m->evicts) = true;
	}
}

/* ---- the fields ------------------------------------------------------------------------------ */

void crane_marks_put(const struct crane_marks *m, cJSON *spec)
{
	static const char *const names[CRANE_MARKS] = {"cpuSuppressThresholdPercent",
		"cpuSuppressMinPercent", "cpuEvictBEUsageThresholdPercent",
		"cpuEvictTimeWindowSeconds", "memoryEvictThresholdPercent",
		"cpuAllocatableEvictThresholdPercent", "reclaimCoolDownSeconds"};
	if (m->would_throttle && !m->throttles)
		must(cJSON_AddFalseToObject(spec, "suppress"));
	if (m->would_evict && !m->evicts)
		must(cJSON_AddFalseToObject(spec, "reclaim"));
	for (int i = 0; i < CRANE_MARKS; i++)
		if (m->value[i] >= 0)
			must(cJSON_AddNumberToObject(spec, names[i], (double)m->value[i]));
}
