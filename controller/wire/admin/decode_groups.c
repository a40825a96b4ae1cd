/* spec.resourceGroups, which ClusterQueues and Cohorts have alike. */
#include <string.h>

#include "controller/wire/decode_parts.h"

#define GROUPS_MAX 16
#define FLAVORS_MAX 64
#define RESOURCES_MAX 64

/* A name without which the rest of its object means nothing. */
static const char *needed_name(
	struct decoder *d, const struct path *up, const cJSON *object, const char *example)
{
	const char *name = text_field(d, up, object, "name", NAME_MAX_BYTES);
	if (*name == '\0')
		decoder_fault(d, PATH(up, "name"), "is missing; write e.g. %s", example);
	return name;
}

static int64_t limit_field(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, const char *resource)
{
	const cJSON *value = json_get(object, key);
	return value ? quantity_value(d, PATH(up, key), value, resource) : QUOTA_UNLIMITED;
}

static struct quota_spec quota_item(struct decoder *d, const struct path *at, const cJSON *item)
{
	struct quota_spec q = {0};
	const cJSON *nominal = json_get(item, "nominalQuota");
	q.resource = needed_name(d, at, item, "cpu");
	if (nominal)
		q.nominal = quantity_value(d, PATH(at, "nominalQuota"), nominal, q.resource);
	else
		decoder_fault(d, PATH(at, "nominalQuota"), "is missing; write e.g. 40 or 64Gi");
	q.borrowing_limit = limit_field(d, at, item, "borrowingLimit", q.resource);
	q.lending_limit = limit_field(d, at, item, "lendingLimit", q.resource);
	return q;
}

static struct flavor_quota_spec flavor_item(
	struct decoder *d, const struct path *at, const cJSON *item)
{
	size_t n = 0;
	struct flavor_quota_spec f = {.flavor = needed_name(d, at, item, "default")};
	const cJSON *list = objects_field(d, at, item, "resources", RESOURCES_MAX, &f.nquotas);
	struct quota_spec *all = parcel_array(&d->parcel, f.nquotas, sizeof(*all));
	json_each(q, list) {
		all[n] = quota_item(d, PATH_INDEX(PATH(at, "resources"), n), q);
		n++;
	}
	f.quotas = all;
	return f;
}

static struct resource_group_spec group_item(
	struct decoder *d, const struct path *at, const cJSON *item)
{
	size_t n = 0;
	struct resource_group_spec g = {0};
	g.resources = texts_field(d, at, item, "coveredResources", RESOURCES_MAX, false,
		"must be the name of a resource, e.g. cpu", &g.nresources);
	const cJSON *list = objects_field(d, at, item, "flavors", FLAVORS_MAX, &g.nflavors);
	struct flavor_quota_spec *all = parcel_array(&d->parcel, g.nflavors, sizeof(*all));
	json_each(f, list) {
		all[n] = flavor_item(d, PATH_INDEX(PATH(at, "flavors"), n), f);
		n++;
	}
	g.flavors = all;
	return g;
}

const struct resource_group_spec *resource_groups_field(
	struct decoder *d, const struct path *up, const cJSON *spec, size_t *ret_count)
{
	size_t n = 0;
	const cJSON *list = objects_field(d, up, spec, "resourceGroups", GROUPS_MAX, ret_count);
	struct resource_group_spec *all = parcel_array(&d->parcel, *ret_count, sizeof(*all));
	json_each(item, list) {
		all[n] = group_item(d, PATH_INDEX(PATH(up, "resourceGroups"), n), item);
		n++;
	}
	return all;
}
