#include <string.h>

#include "controller/wire/decode_parts.h"
#include "queue/job/resources.h"
#include "sluice/quantity.h"

/* The most containers, to bound our time and memory; a Job over it waits with a reason. The API
 * server only bounds the size of the object. */
#define CONTAINERS_MAX 512

/* Adds what map names and list does not; there is room. item is what list shows of it. */
static void add_missing(struct decoder *d, const struct path *at, const cJSON *map,
	struct resource *item, struct resource_list *list)
{
	json_each(value, map) {
		const struct path *here = PATH(at, value->string);
		if (cJSON_IsNull(value) || resources_find(list, value->string))
			continue;
		item[list->count].name = text_keep(d, here, value->string, NAME_MAX_BYTES);
		item[list->count].amount = quantity_value(d, here, value, value->string);
		if (cJSON_IsString(value))
			item[list->count].style =
				(uint8_t)quantity_style_of(slice_of(value->valuestring));
		list->count++;
	}
}

struct resource_list amounts_field(
	struct decoder *d, const struct path *up, const cJSON *object, const char *key)
{
	size_t count = 0;
	const cJSON *map = map_field(d, up, object, key, AMOUNTS_MAX, &count);
	struct resource *item = parcel_array(&d->parcel, count, sizeof(*item));
	struct resource_list list = {item, 0};
	add_missing(d, PATH(up, key), map, item, &list);
	return list;
}

/* Reads requests, and limits of resources without one: the API server does that to a Pod, but not
 * to the template of a Job. */
static struct resource_list requests(
	struct decoder *d, const struct path *up, const cJSON *resources)
{
	size_t nasked, nlimits;
	const cJSON *asked = map_field(d, up, resources, "requests", AMOUNTS_MAX, &nasked);
	const cJSON *limits = map_field(d, up, resources, "limits", AMOUNTS_MAX, &nlimits);
	struct resource *item = parcel_array(&d->parcel, nasked + nlimits, sizeof(*item));
	struct resource_list list = {item, 0};
	add_missing(d, PATH(up, "requests"), asked, item, &list);
	add_missing(d, PATH(up, "limits"), limits, item, &list);
	return list;
}

static struct container *containers_field(struct decoder *d, const struct path *up,
	const cJSON *spec, const char *key, size_t *ret_count)
{
	size_t n = 0;
	const cJSON *list = objects_field(d, up, spec, key, CONTAINERS_MAX, ret_count);
	struct container *all = parcel_array(&d->parcel, *ret_count, sizeof(*all));
	json_each(c, list) {
		const struct path *at = PATH_INDEX(PATH(up, key), n);
		const cJSON *resources = object_field(d, at, c, "resources");
		all[n].requests = requests(d, PATH(at, "resources"), resources);
		all[n].limits = amounts_field(d, PATH(at, "resources"), resources, "limits");
		all[n].name = text_field(d, at, c, "name", NAME_MAX_BYTES);
		all[n].sidecar = json_is(c, "restartPolicy", "Always");
		n++;
	}
	return all;
}

static bool any_lists(const struct container *c, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (resources_find(&c[i].requests, name))
			return true;
	return false;
}

/*
 * Reads the pod's own resources. A limit without a request becomes the request only when no
 * container asks for that resource (else their sum stands), as the API server fills it in for a
 * Pod. Huge pages cannot be overcommitted, so their limit always is the request.
 */
static struct resource_list pod_level(struct decoder *d, const struct path *up,
	const cJSON *resources, const struct pod_resources *pod)
{
	size_t kept = 0;
	struct resource_list asked = amounts_field(d, up, resources, "requests");
	struct resource_list limits = amounts_field(d, up, resources, "limits");
	struct resource *all =
		parcel_array(&d->parcel, asked.count + limits.count, sizeof(struct resource));
	for (; kept < asked.count; kept++)
		all[kept] = asked.item[kept];
	for (size_t i = 0; i < limits.count; i++) {
		const char *name = limits.item[i].name;
		bool by_containers =
			strncmp(name, "hugepages-", 10) != 0 &&
			(any_lists(pod->containers, pod->ncontainers, name) ||
				any_lists(pod->init_containers, pod->ninit_containers, name));
		if (!resources_find(&asked, name) && !by_containers)
			all[kept++] = limits.item[i];
	}
	return (struct resource_list){all, kept};
}

void pod_reread(
	struct decoder *d, const struct path *at, const cJSON *text, struct pod_resources *pod)
{
	size_t n, ninit;
	struct container *all = containers_field(d, at, text, "containers", &n);
	struct container *init = containers_field(d, at, text, "initContainers", &ninit);
	for (size_t i = 0; i < ninit && i < pod->ninit_containers; i++)
		init[i].sidecar = pod->init_containers[i].sidecar;
	pod->containers = all;
	pod->ncontainers = n;
	pod->init_containers = init;
	pod->ninit_containers = ninit;
}

struct pod_resources pod_field(struct decoder *d, const struct path *at, const cJSON *spec)
{
	struct pod_resources pod = {0};
	pod.containers = containers_field(d, at, spec, "containers", &pod.ncontainers);
	pod.init_containers =
		containers_field(d, at, spec, "initContainers", &pod.ninit_containers);
	pod.overhead = amounts_field(d, at, spec, "overhead");
	const cJSON *resources = object_field(d, at, spec, "resources");
	pod.has_pod_level = resources != NULL;
	pod.pod_level = pod_level(d, PATH(at, "resources"), resources, &pod);
	pod.pod_level_limits = amounts_field(d, PATH(at, "resources"), resources, "limits");
	pod.runtime_class = text_field(d, at, spec, "runtimeClassName", NAME_MAX_BYTES);
	return pod;
}
