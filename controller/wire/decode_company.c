/*
 * What a pod's spec requires of other pods: affinity, anti-affinity, and spreading with
 * DoNotSchedule.
 */
#include <string.h>

#include "controller/wire/decode_parts.h"
#include "controller/wire/decode_company.h"

#define LABEL_KEYS_MAX 64
#define NAMESPACES_MAX 1024
#define SPREAD_MAX 64

static const char required[] = "requiredDuringSchedulingIgnoredDuringExecution";
static const char preferred[] = "preferredDuringSchedulingIgnoredDuringExecution";

static const char *own_label(const struct pod *p, const char *key)
{
	for (size_t i = 0; i < p->nlabels; i++)
		if (strcmp(p->labels[i].key, key) == 0)
			return p->labels[i].value;
	return NULL;
}

/* Adds a requirement for each of those labels that the pod has: In or NotIn the pod's value. */
static void merge_keys(struct decoder *d, const struct path *up, const cJSON *o, const char *key,
	const struct pod *p, enum selector_op op, struct selector_term *t)
{
	size_t n;
	const char *const *keys =
		texts_field(d, up, o, key, LABEL_KEYS_MAX, false, "must be a label's key", &n);
	struct requirement *all =
		parcel_array(&d->parcel, t->nrequirements + n, sizeof(struct requirement));
	for (size_t i = 0; i < t->nrequirements; i++)
		all[i] = t->requirements[i];
	t->requirements = all;
	for (size_t i = 0; i < n; i++) {
		const char **value = parcel_array(&d->parcel, 1, sizeof(*value));
		*value = own_label(p, keys[i]);
		if (*value)
			all[t->nrequirements++] = (struct requirement){keys[i], op, value, 1};
	}
}

static bool selector_field(struct decoder *d, const struct path *up, const cJSON *o,
	const char *key, struct selector_term *ret)
{
	const cJSON *selector = object_field(d, up, o, key);
	if (!selector)
		return false;
	*ret = label_selector(d, PATH(up, key), selector);
	return true;
}

static struct affinity_term affinity_term(
	struct decoder *d, const struct path *at, const cJSON *o, const struct pod *p)
{
	struct affinity_term t = {0};
	t.topology_key = text_field(d, at, o, "topologyKey", NAME_MAX_BYTES);
	t.has_selector = selector_field(d, at, o, "labelSelector", &t.selector);
	t.has_namespace_selector =
		selector_field(d, at, o, "namespaceSelector", &t.namespace_selector);
	t.namespaces = texts_field(d, at, o, "namespaces", NAMESPACES_MAX, false,
		"must be the name of a namespace", &t.nnamespaces);
	if (t.has_selector) {
		merge_keys(d, at, o, "matchLabelKeys", p, SELECTOR_IN, &t.selector);
		merge_keys(d, at, o, "mismatchLabelKeys", p, SELECTOR_NOT_IN, &t.selector);
	}
	if (!*t.topology_key)
		decoder_fault(d, at, "has no topologyKey; write e.g. kubernetes.io/hostname");
	return t;
}

const struct affinity_term *affinity_terms_field(struct decoder *d, const struct path *up,
	const cJSON *affinity, const char *key, const struct pod *p, size_t *ret_count)
{
	size_t n = 0;
	const struct path *at = PATH(PATH(up, key), required);
	const cJSON *of = object_field(d, up, affinity, key);
	const cJSON *list = objects_field(d, at->up, of, required, TERMS_MAX, ret_count);
	struct affinity_term *all = parcel_array(&d->parcel, *ret_count, sizeof(*all));
	json_each(item, list) {
		all[n] = affinity_term(d, PATH_INDEX(at, n), item, p);
		n++;
	}
	return all;
}

static bool crosses(const cJSON *term)
{
	return cJSON_GetArraySize(json_array(term, "namespaces")) > 0 ||
	       json_get(term, "namespaceSelector");
}

static bool any_crosses(const cJSON *of)
{
	bool any = false;
	json_each(item, json_array(of, required))
		any |= crosses(item);
	json_each(item, json_array(of, preferred))
		any |= crosses(json_object(item, "podAffinityTerm"));
	return any;
}

bool affinity_crosses_namespaces(const cJSON *affinity)
{
	return any_crosses(json_object(affinity, "podAffinity")) ||
	       any_crosses(json_object(affinity, "podAntiAffinity"));
}

static struct spread_constraint spread_constraint(
	struct decoder *d, const struct path *at, const cJSON *o, const struct pod *p)
{
	static const char *const policies[] = {"Honor", "Ignore", NULL};
	struct spread_constraint c = {0};
	c.topology_key = text_field(d, at, o, "topologyKey", NAME_MAX_BYTES);
	c.max_skew = int32_field(d, at, o, "maxSkew", 1, 1);
	c.min_domains = int32_field(d, at, o, "minDomains", 1, 1);
	c.has_selector = selector_field(d, at, o, "labelSelector", &c.selector);
	c.honor_affinity = name_field(d, at, o, "nodeAffinityPolicy", policies, 0) == 0;
	c.honor_taints = name_field(d, at, o, "nodeTaintsPolicy", policies, 1) == 0;
	if (c.has_selector)
		merge_keys(d, at, o, "matchLabelKeys", p, SELECTOR_IN, &c.selector);
	if (!*c.topology_key)
		decoder_fault(d, at, "has no topologyKey; write e.g. topology.kubernetes.io/zone");
	return c;
}

const struct spread_constraint *spread_field(struct decoder *d, const struct path *up,
	const cJSON *spec, const struct pod *p, size_t *ret_count)
{
	static const char key[] = "topologySpreadConstraints";
	size_t at = 0, n = 0, given;
	const cJSON *list = objects_field(d, up, spec, key, SPREAD_MAX, &given);
	struct spread_constraint *all = parcel_array(&d->parcel, given, sizeof(*all));
	json_each(item, list) {
		const struct path *here = PATH_INDEX(PATH(up, key), at++);
		if (json_is(item, "whenUnsatisfiable", "DoNotSchedule"))
			all[n++] = spread_constraint(d, here, item, p);
	}
	*ret_count = n;
	return all;
}
