#include "controller/wire/decode_strategy.h"

#include <math.h>
#include <string.h>

#include "controller/wire/decode_aside.h"
#include "controller/wire/decode_parts.h"

#define ANNOTATION_TREE_MAX (4 << 20)
#define STRATEGY_ANNOTATION "node.koordinator.sh/colocation-strategy"
#define CPU_RATIO_LABEL "node.koordinator.sh/cpu-reclaim-ratio"
#define MEMORY_RATIO_LABEL "node.koordinator.sh/memory-reclaim-ratio"

/* ---- faults put aside ------------------------------------------------------------------------ */

struct faults_aside faults_aside(struct decoder *d)
{
	struct faults_aside a = {d->faulty, d->fault};
	d->faulty = false;
	return a;
}

const char *faults_back(struct decoder *d, const struct faults_aside *a)
{
	char *text = NULL;
	if (d->faulty) {
		size_t len = strlen(d->fault.text);
		text = parcel_bytes(&d->parcel, len + 1);
		memcpy(text, d->fault.text, len);
	}
	d->faulty = a->faulty;
	d->fault = a->fault;
	return text;
}

/* ---- one field ------------------------------------------------------------------------------- */

enum shape {
	SHAPE_BOOL,
	SHAPE_WHOLE,	/* a whole number */
	SHAPE_FRACTION, /* kept in thousandths */
	SHAPE_NAME,
	SHAPE_NAMES, /* a list of names; kept as a set */
};

static const char *const profiles[] = {"ack", "koordinator", NULL}; /* enum profile */
static const char *const sources[] = {
	"metrics.k8s.io", "kubelet", "agent", "auto", NULL}; /* enum usage_source */
static const char *const suppress_policies[] = {
	"cfsQuota", "cpuset", NULL};				      /* enum suppress_policy */
static const char *const idles[] = {"Never", "Auto", "Always", NULL}; /* enum cpu_idle */
static const char *const policies[] = {
	"usage", "request", "maxUsageRequest", NULL};		   /* enum lending_policy */
static const char *const lend_names[] = {"batch", "gocran", NULL}; /* 1 << index: LEND_* */

static const struct {
	enum shape shape;
	size_t at; /* in struct strategy */
	const char *const *names;
} fields[STRATEGY_FIELDS] = {
#define AT(member) offsetof(struct strategy, member)
	[FIELD_ENABLE] = {SHAPE_BOOL, AT(enable), NULL},
	[FIELD_PROFILE] = {SHAPE_NAME, AT(profile), profiles},
	[FIELD_NAMES] = {SHAPE_NAMES, AT(names), lend_names},
	[FIELD_SOURCE] = {SHAPE_NAME, AT(source), sources},
	[FIELD_PERIOD] = {SHAPE_WHOLE, AT(period_s), NULL},
	[FIELD_INTERVAL] = {SHAPE_WHOLE, AT(interval_s), NULL},
	[FIELD_RAISE_WINDOW] = {SHAPE_WHOLE, AT(raise_window_s), NULL},
	[FIELD_CPU_PERCENT] = {SHAPE_WHOLE, AT(cpu_percent), NULL},
	[FIELD_MEMORY_PERCENT] = {SHAPE_WHOLE, AT(memory_percent), NULL},
	[FIELD_CPU_POLICY] = {SHAPE_NAME, AT(cpu_policy), policies},
	[FIELD_MEMORY_POLICY] = {SHAPE_NAME, AT(memory_policy), policies},
	[FIELD_CPU_CAP] = {SHAPE_WHOLE, AT(cpu_cap), NULL},
	[FIELD_MEMORY_CAP] = {SHAPE_WHOLE, AT(memory_cap), NULL},
	[FIELD_DEGRADE] = {SHAPE_WHOLE, AT(degrade_min), NULL},
	[FIELD_REWRITE] = {SHAPE_WHOLE, AT(rewrite_s), NULL},
	[FIELD_DIFF] = {SHAPE_FRACTION, AT(diff_permille), NULL},
	[FIELD_RESERVE_CPU] = {SHAPE_WHOLE, AT(reserve_cpu), NULL},
	[FIELD_RESERVE_MEMORY] = {SHAPE_WHOLE, AT(reserve_memory), NULL},
	[FIELD_FORECAST_MARGIN] = {SHAPE_WHOLE, AT(forecast_margin), NULL},
	[FIELD_RECLAIM] = {SHAPE_BOOL, AT(reclaim), NULL},
	[FIELD_EVICT_MEMORY] = {SHAPE_WHOLE, AT(evict_memory), NULL},
	[FIELD_EVICT_MEMORY_LOWER] = {SHAPE_WHOLE, AT(evict_memory_lower), NULL},
	[FIELD_EVICT_CPU_LOWER] = {SHAPE_WHOLE, AT(evict_cpu_lower), NULL},
	[FIELD_EVICT_CPU_UPPER] = {SHAPE_WHOLE, AT(evict_cpu_upper), NULL},
	[FIELD_EVICT_CPU_USAGE] = {SHAPE_WHOLE, AT(evict_cpu_usage), NULL},
	[FIELD_EVICT_ALLOCATABLE] = {SHAPE_WHOLE, AT(evict_allocatable), NULL},
	[FIELD_EVICT_ALLOCATABLE_LOWER] = {SHAPE_WHOLE, AT(evict_allocatable_lower), NULL},
	[FIELD_COOL_DOWN] = {SHAPE_WHOLE, AT(cool_down_s), NULL},
	[FIELD_EVICT_CPU_WINDOW] = {SHAPE_WHOLE, AT(evict_cpu_window_s), NULL},
	[FIELD_EVICT_CPU_ALLOCATABLE] = {SHAPE_WHOLE, AT(evict_cpu_allocatable), NULL},
	[FIELD_EVICT_CPU_ALLOCATABLE_LOWER] = {SHAPE_WHOLE, AT(evict_cpu_allocatable_lower), NULL},
	[FIELD_EVICT_MEMORY_ALLOCATABLE] = {SHAPE_WHOLE, AT(evict_memory_allocatable), NULL},
	[FIELD_EVICT_MEMORY_ALLOCATABLE_LOWER] = {SHAPE_WHOLE, AT(evict_memory_allocatable_lower),
		NULL},
	[FIELD_LIMITS] = {SHAPE_BOOL, AT(limits), NULL},
	[FIELD_SUPPRESS] = {SHAPE_BOOL, AT(suppress), NULL},
	[FIELD_SUPPRESS_PERCENT] = {SHAPE_WHOLE, AT(suppress_percent), NULL},
	[FIELD_SUPPRESS_MIN] = {SHAPE_WHOLE, AT(suppress_min), NULL},
	[FIELD_SUPPRESS_POLICY] = {SHAPE_NAME, AT(suppress_policy), suppress_policies},
	[FIELD_CPU_IDLE] = {SHAPE_NAME, AT(cpu_idle), idles},
	[FIELD_HOLD] = {SHAPE_WHOLE, AT(hold), NULL},
	[FIELD_END] = {SHAPE_WHOLE, AT(end), NULL},
#undef AT
};

static int64_t whole_value(
	struct decoder *d, const struct path *up, const cJSON *object, const char *key)
{
	int64_t value = 0;
	if (json_i64(object, key, &value) < 0)
		decoder_fault(d, PATH(up, key), "must be a whole number; write e.g. 65");
	return value;
}

/* Reads 0.1 as 100. A fraction too small for that stays above 0, one out of all bounds is clamped:
 * strategy_check() has the sentence for it. */
static int64_t fraction_value(
	struct decoder *d, const struct path *up, const cJSON *object, const char *key)
{
	const cJSON *item = json_get(object, key);
	if (!cJSON_IsNumber(item)) {
		decoder_fault(d, PATH(up, key), "must be a number; write e.g. 0.1");
		return 0;
	}
	double v = item->valuedouble;
	if (!(v > 0))
		return v < 0 ? -1 : 0;
	return v > 1000 ? 1000000 : v < 0.001 ? 1 : (int64_t)llround(v * 1000);
}

static int name_index(const char *const *names, const cJSON *item)
{
	for (int i = 0; names[i] && cJSON_IsString(item); i++)
		if (strcmp(names[i], item->valuestring) == 0)
			return i;
	return -1;
}

static unsigned names_value(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, const char *const *names)
{
	size_t n = 0, count;
	unsigned set = 0;
	const cJSON *list = list_field(d, up, object, key, 16, &count);
	json_each(item, list) {
		int i = name_index(names, item);
		if (i < 0)
			decoder_fault(d, PATH_INDEX(PATH(up, key), n),
				"is unknown; write batch or gocran");
		else
			set |= 1u << i;
		n++;
	}
	if (set == 0)
		decoder_fault(d, PATH(up, key), "names nothing; write e.g. [batch]");
	return set;
}

static void read_field(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, enum strategy_field f, struct strategy *ret)
{
	char *at = (char *)ret + fields[f].at;
	switch (fields[f].shape) {
	case SHAPE_BOOL:
		if (json_bool(object, key, (bool *)at) < 0)
			decoder_fault(d, PATH(up, key), "must be true or false");
		break;
	case SHAPE_WHOLE:
		*(int64_t *)(void *)at = whole_value(d, up, object, key);
		break;
	case SHAPE_FRACTION:
		*(int64_t *)(void *)at = fraction_value(d, up, object, key);
		break;
	case SHAPE_NAME:
		*(unsigned *)(void *)at =
			(unsigned)name_field(d, up, object, key, fields[f].names, 0);
		break;
	case SHAPE_NAMES:
		*(unsigned *)(void *)at = names_value(d, up, object, key, fields[f].names);
		break;
	}
}

/* ---- layers ---------------------------------------------------------------------------------- */

struct strategy_layer layer_field(
	struct decoder *d, const struct path *at, const cJSON *object, enum strategy_field enable)
{
	struct err e;
	struct strategy_layer l = {.value = strategy_default(PROFILE_ACK)};
	for (int i = 0; i < STRATEGY_FIELDS; i++) {
		const char *key = strategy_field_name((enum strategy_field)i);
		enum strategy_field f = i == FIELD_ENABLE ? enable : (enum strategy_field)i;
		if (!json_get(object, key))
			continue;
		read_field(d, at, object, key, f, &l.value);
		l.says |= UINT64_C(1) << f;
		if (i == FIELD_ENABLE && f == FIELD_RECLAIM) {
			/* Upstream's `enable` there is about both; a field of its own says more. */
			l.value.suppress = l.value.reclaim;
			l.says |= UINT64_C(1) << FIELD_SUPPRESS;
		}
	}
	if (!d->faulty && strategy_check(&l, &e) < 0)
		decoder_fault(d, at, "%s", e.text);
	return l;
}

struct strategy_layer layer_join(const struct strategy_layer *a, const struct strategy_layer *b)
{
	struct strategy_layer both = *a;
	strategy_put(&both.value, b);
	both.says |= b->says;
	return both;
}

static struct strategy_layer annotation_layer(struct decoder *d, const char *text)
{
	struct err e;
	const cJSON *root = NULL;
	const struct path *at = PATH(NULL, STRATEGY_ANNOTATION);
	struct strategy_layer l = {0};
	if (!text || !*text)
		return l;
	struct json *json = json_new(ANNOTATION_TREE_MAX);
	if (json_parse(json, slice_of(text), &root, &e) < 0)
		decoder_fault(d, at, "%s", e.text);
	else if (!cJSON_IsObject(root))
		decoder_fault(d, at, "must be a JSON object");
	else
		l = layer_field(d, at, root, FIELD_ENABLE);
	json_free(json);
	return l;
}

static struct strategy_layer ratio_layer(
	struct decoder *d, const char *text, const char *label, enum strategy_field f)
{
	char shown[SHOWN_SIZE];
	int64_t percent;
	struct strategy_layer l = {0};
	if (!text || !*text)
		return l;
	if (strategy_ratio(text, &percent)) {
		l.says = UINT64_C(1) << f;
		*(f == FIELD_CPU_PERCENT ? &l.value.cpu_percent : &l.value.memory_percent) =
			percent;
	} else {
		decoder_fault(d, PATH(NULL, label),
			"%s is not a ratio; write a number from 0 on, e.g. 0.65",
			text_show(text, shown));
	}
	return l;
}

struct strategy_layer layer_of_node(struct decoder *d, const char *annotation,
	const char *cpu_label, const char *memory_label, const char **fault)
{
	struct strategy_layer all = {0};
	for (int i = 0; i < 3; i++) {
		struct faults_aside a = faults_aside(d);
		struct strategy_layer l =
			i == 0	 ? annotation_layer(d, annotation)
			: i == 1 ? ratio_layer(d, cpu_label, CPU_RATIO_LABEL, FIELD_CPU_PERCENT)
				 : ratio_layer(d, memory_label, MEMORY_RATIO_LABEL,
					   FIELD_MEMORY_PERCENT);
		const char *wrong = faults_back(d, &a);
		if (!wrong)
			all = layer_join(&all, &l);
		else if (!*fault)
			*fault = wrong;
	}
	return all;
}
