/* What admins describe, but for the ClusterQueue: objects of a few fields each. */
#include <string.h>

#include "controller/wire/decode.h"
#include "controller/wire/decode_parts.h"
#include "queue/job/resources.h"

#define NAMESPACE_LABELS_MAX 4096
#define LIMIT_ITEMS_MAX 64

int decoder_verdict(const struct decoder *d, const char *kind, const cJSON *o, struct err *e)
{
	if (!d->faulty)
		return 0;
	const char *ns = decode_namespace_of(o);
	err_set(e, ERR_INVALID, "%s", d->fault.text);
	err_wrap(e, "%s %s%s%s", kind, ns, *ns ? "/" : "", decode_name(o));
	return ERR_INVALID;
}

static struct resource_list user_quota_field(
	struct decoder *d, const struct path *up, const cJSON *spec)
{
	const struct path *limits = PATH(up, "limits"), *at = PATH(limits, "perUser");
	const cJSON *o = json_get(json_get(spec, "limits"), "perUser");
	struct resource_list l = amounts_field(d, at, o, "quota");
	for (size_t i = 0; i < l.count; i++)
		if (l.item[i].amount <= 0)
			decoder_fault(d, PATH(PATH(at, "quota"), l.item[i].name),
				"must be more than 0; leave it out for no limit");
	return l;
}

static int fill_localqueue(struct decoder *d, const cJSON *o, struct err *e)
{
	const struct path *at = PATH(NULL, "spec");
	struct localqueue_spec *s = parcel_array(&d->parcel, 1, sizeof(*s));
	const cJSON *spec = object_field(d, NULL, o, "spec");
	s->ns = text_field(d, PATH(NULL, "metadata"), meta_of(o), "namespace", NAME_MAX_BYTES);
	meta_fields(d, o, s);
	localqueue_spec_fields(d, at, spec, s);
	s->limits.per_user.quota = user_quota_field(d, at, spec);
	return decoder_verdict(d, "LocalQueue", o, e);
}

static struct priority_spec *priority_common(
	struct decoder *d, const cJSON *o, enum priority_kind kind)
{
	struct priority_spec *s = parcel_array(&d->parcel, 1, sizeof(*s));
	s->kind = kind;
	s->name = text_keep(d, NULL, decode_name(o), NAME_MAX_BYTES);
	s->value = int32_field(d, NULL, o, "value", INT32_MIN, 0);
	return s;
}

static int fill_workload_priority(struct decoder *d, const cJSON *o, struct err *e)
{
	priority_common(d, o, PRIORITY_WORKLOAD);
	if (!json_get(o, "value"))
		decoder_fault(d, PATH(NULL, "value"), "is missing; write e.g. 1000");
	return decoder_verdict(d, "WorkloadPriorityClass", o, e);
}

/* Decodes a PriorityClass. value may be absent: Kubernetes leaves out a 0 in some of its
 * encodings. */
static int fill_pod_priority(struct decoder *d, const cJSON *o, struct err *e)
{
	struct priority_spec *s = priority_common(d, o, PRIORITY_POD);
	static const char *const policies[] = {"PreemptLowerPriority", "Never", NULL};
	if (json_bool(o, "globalDefault", &s->global_default) == ERR_INVALID)
		decoder_fault(d, PATH(NULL, "globalDefault"), "must be true or false");
	s->never_preempts = name_field(d, NULL, o, "preemptionPolicy", policies, 0) == 1;
	return decoder_verdict(d, "PriorityClass", o, e);
}

static int fill_namespace(struct decoder *d, const cJSON *o, struct err *e)
{
	struct namespace_spec *s = parcel_array(&d->parcel, 1, sizeof(*s));
	s->name = text_keep(d, NULL, decode_name(o), NAME_MAX_BYTES);
	s->labels = labels_field(
		d, PATH(NULL, "metadata"), meta_of(o), "labels", NAMESPACE_LABELS_MAX, &s->nlabels);
	return decoder_verdict(d, "Namespace", o, e);
}

/* Whether the item limits pods. Type PersistentVolumeClaim, and any of the future, do not. */
static bool is_about_pods(const cJSON *item)
{
	const char *type = json_text(item, "type");
	return type && (strcmp(type, "Container") == 0 || strcmp(type, "Pod") == 0);
}

/* Gives `first`, and what of `then` is not in `first`. */
static struct resource_list with_missing(
	struct decoder *d, struct resource_list first, struct resource_list then)
{
	struct resource *all =
		parcel_array(&d->parcel, first.count + then.count, sizeof(struct resource));
	size_t n = 0;
	for (; n < first.count; n++)
		all[n] = first.item[n];
	for (size_t i = 0; i < then.count; i++)
		if (!resources_find(&first, then.item[i].name))
			all[n++] = then.item[i];
	return (struct resource_list){all, n};
}

/* Fills in what the API server writes into each LimitRange: a file has it as it was written. */
static void default_limit_item(struct decoder *d, struct limit_range_item *i)
{
	i->defaults = with_missing(d, i->defaults, i->max);
	i->default_requests = with_missing(d, i->default_requests, i->defaults);
	i->default_requests = with_missing(d, i->default_requests, i->min);
}

static struct limit_range_item limit_item(
	struct decoder *d, const struct path *at, const cJSON *item)
{
	struct limit_range_item i = {
		.is_pod = strcmp(json_text(item, "type"), "Pod") == 0,
		.defaults = amounts_field(d, at, item, "default"),
		.default_requests = amounts_field(d, at, item, "defaultRequest"),
		.min = amounts_field(d, at, item, "min"),
		.max = amounts_field(d, at, item, "max"),
	};
	if (!i.is_pod)
		default_limit_item(d, &i);
	return i;
}

static int fill_limit_range(struct decoder *d, const cJSON *o, struct err *e)
{
	const struct path *at = PATH(PATH(NULL, "spec"), "limits");
	struct limit_range_spec *s = parcel_array(&d->parcel, 1, sizeof(*s));
	size_t count = 0, n = 0;
	const cJSON *list = objects_field(
		d, at->up, object_field(d, NULL, o, "spec"), "limits", LIMIT_ITEMS_MAX, &count);
	struct limit_range_item *all = parcel_array(&d->parcel, count, sizeof(*all));
	s->ns = text_keep(d, NULL, decode_namespace_of(o), NAME_MAX_BYTES);
	s->name = text_keep(d, NULL, decode_name(o), NAME_MAX_BYTES);
	json_each(item, list) {
		if (is_about_pods(item))
			all[s->nitems++] = limit_item(d, PATH_INDEX(at, n), item);
		n++;
	}
	s->item = all;
	return decoder_verdict(d, "LimitRange", o, e);
}

static int fill_runtime_class(struct decoder *d, const cJSON *o, struct err *e)
{
	struct runtime_class_spec *s = parcel_array(&d->parcel, 1, sizeof(*s));
	s->name = text_keep(d, NULL, decode_name(o), NAME_MAX_BYTES);
	s->overhead = amounts_field(
		d, PATH(NULL, "overhead"), object_field(d, NULL, o, "overhead"), "podFixed");
	const struct path *at = PATH(NULL, "scheduling");
	const cJSON *scheduling = object_field(d, NULL, o, "scheduling");
	s->node_selector = labels_field(
		d, at, scheduling, "nodeSelector", NODE_SELECTOR_MAX, &s->nnode_selector);
	s->tolerations = tolerations_field(d, at, scheduling, TOLERATIONS_MAX, &s->ntolerations);
	return decoder_verdict(d, "RuntimeClass", o, e);
}

/* Decodes a DeviceClass. How devices are selected is the scheduler's business. */
static int fill_device_class(struct decoder *d, const cJSON *o, struct err *e)
{
	struct device_class_spec *s = parcel_array(&d->parcel, 1, sizeof(*s));
	s->name = text_keep(d, NULL, decode_name(o), NAME_MAX_BYTES);
	s->resource = text_field(d, PATH(NULL, "spec"), object_field(d, NULL, o, "spec"),
		"extendedResourceName", NAME_MAX_BYTES);
	return decoder_verdict(d, "DeviceClass", o, e);
}

/* The most memory of a selector: whoever may write PodDisruptionBudgets decides how large they are.
 * A larger one counts as absent, as it only spares pods of its own namespace. */
#define BUDGET_SELECTOR_MAX 16384

/* Decodes a PodDisruptionBudget of policy/v1: an empty selector is of every pod of the namespace,
 * none is of no pod. A budget that its controller has not looked at yet allows nothing. */
static int fill_disruption_budget(struct decoder *d, const cJSON *o, struct err *e)
{
	const struct path *at = PATH(NULL, "spec"), *status = PATH(NULL, "status");
	struct disruption_budget_spec *s = parcel_array(&d->parcel, 1, sizeof(*s));
	const cJSON *selector = object_field(d, at, object_field(d, NULL, o, "spec"), "selector");
	s->ns = text_keep(d, NULL, decode_namespace_of(o), NAME_MAX_BYTES);
	s->name = text_keep(d, NULL, decode_name(o), NAME_MAX_BYTES);
	size_t before = d->parcel.used;
	s->selector = label_selector(d, PATH(at, "selector"), selector);
	size_t bytes = d->parcel.used - before;
	if (bytes > BUDGET_SELECTOR_MAX)
		decoder_fault(d, PATH(at, "selector"),
			"takes %zu bytes, and at most %d are kept of one, so it spares no pods; use fewer or shorter values",
			bytes, BUDGET_SELECTOR_MAX);
	s->allowed = int32_field(
		d, status, object_field(d, NULL, o, "status"), "disruptionsAllowed", 0, 0);
	if (!selector) {
		struct requirement *none = parcel_array(&d->parcel, 1, sizeof(*none));
		*none = (struct requirement){
			text_keep(d, at, "", NAME_MAX_BYTES), SELECTOR_IN, NULL, 0};
		s->selector = (struct selector_term){none, 1};
	}
	return decoder_verdict(d, "PodDisruptionBudget", o, e);
}

DECODER(decode_localqueue, localqueue_spec, "LocalQueue", 1024, fill_localqueue)
DECODER(decode_workload_priority, priority_spec, "WorkloadPriorityClass", 1024,
	fill_workload_priority)
DECODER(decode_pod_priority, priority_spec, "PriorityClass", 1024, fill_pod_priority)
DECODER(decode_namespace, namespace_spec, "Namespace", 1024, fill_namespace)
DECODER(decode_limit_range, limit_range_spec, "LimitRange", 1024, fill_limit_range)
DECODER(decode_runtime_class, runtime_class_spec, "RuntimeClass", 1024, fill_runtime_class)
DECODER(decode_device_class, device_class_spec, "DeviceClass", 1024, fill_device_class)
DECODER(decode_disruption_budget, disruption_budget_spec, "PodDisruptionBudget", 1024,
	fill_disruption_budget)
