#include "queue/cluster/pod.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/job/resources.h"
#include "sluice/quantity.h"

/* Sums of what counts: 0 and absent are the same. */
struct totals {
	int64_t cpu, memory;
};

static void add_list(struct totals *t, const struct resource_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct resource *r = &list->item[i];
		if (r->amount > 0 && strcmp(r->name, "cpu") == 0)
			t->cpu = quantity_add(t->cpu, r->amount);
		else if (r->amount > 0 && strcmp(r->name, "memory") == 0)
			t->memory = quantity_add(t->memory, r->amount);
	}
}

static bool has_both(const struct resource_list *list)
{
	struct totals t = {0};
	add_list(&t, list);
	return t.cpu > 0 && t.memory > 0;
}

/* True: all of them have limits of both. A limit stands in for a request that is missing. */
static bool add_containers(
	const struct container *c, size_t n, struct totals *requests, struct totals *limits)
{
	bool limited = true;
	for (size_t i = 0; i < n; i++) {
		add_list(requests, &c[i].requests);
		add_list(limits, &c[i].limits);
		limited &= has_both(&c[i].limits);
		for (size_t k = 0; k < c[i].limits.count; k++) {
			struct resource_list one = {&c[i].limits.item[k], 1};
			if (!resources_find(&c[i].requests, one.item->name))
				add_list(requests, &one);
		}
	}
	return limited;
}

static bool all_limit(const struct container *c, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!resources_find(&c[i].limits, name))
			return false;
	return true;
}

/* Has the pod a pod-level limit of it, its own or one that the API server fills in? */
static bool limits_as_a_whole(const struct pod_resources *r, const char *name)
{
	return resources_find(&r->pod_level_limits, name) ||
	       (all_limit(r->containers, r->ncontainers, name) &&
		       all_limit(r->init_containers, r->ninit_containers, name));
}

typedef size_t (*pod_amounts)(const struct pod_resources *pod, struct resource *ret, size_t cap);

/* Adds what the pod counts for without its overhead. */
static void add_pod(pod_amounts of, const struct pod_resources *r, struct totals *to)
{
	struct pod_resources own = *r;
	own.overhead = (struct resource_list){NULL, 0};
	size_t n = of(&own, NULL, 0);
	struct resource *all = mem_array(n + 1, sizeof(*all));
	of(&own, all, n);
	add_list(to, &(struct resource_list){all, n});
	free(all);
}

/* The pod-level amounts, as the API server fills them in from those of the containers. */
static bool add_pod_level(
	const struct pod_resources *r, struct totals *requests, struct totals *limits)
{
	add_pod(pod_requests, r, requests);
	add_pod(pod_limits, r, limits);
	if (!limits_as_a_whole(r, "cpu"))
		limits->cpu = 0;
	if (!limits_as_a_whole(r, "memory"))
		limits->memory = 0;
	return limits->cpu > 0 && limits->memory > 0;
}

static bool is_empty_pod_level(const struct pod_resources *r)
{
	return r->has_pod_level && r->pod_level.count + r->pod_level_limits.count == 0;
}

enum qos_class pod_qos_class(const struct pod *p)
{
	const struct pod_resources *r = &p->resources;
	struct totals requests = {0}, limits = {0};
	bool limited;
	if (r->has_pod_level && !is_empty_pod_level(r)) {
		limited = add_pod_level(r, &requests, &limits);
	} else {
		limited = add_containers(r->containers, r->ncontainers, &requests, &limits);
		limited &=
			add_containers(r->init_containers, r->ninit_containers, &requests, &limits);
	}
	if ((requests.cpu | limits.cpu | requests.memory | limits.memory) == 0)
		return QOS_BEST_EFFORT;
	bool same = requests.cpu == limits.cpu && requests.memory == limits.memory;
	return limited && same ? QOS_GUARANTEED : QOS_BURSTABLE;
}

bool pod_level_is_nothing(const struct pod *p)
{
	const struct pod_resources *r = &p->resources;
	struct totals of_pod = {0};
	add_list(&of_pod, &r->pod_level);
	return r->has_pod_level && r->pod_level_limits.count == 0 &&
	       (of_pod.cpu | of_pod.memory) == 0;
}

const char *qos_class_name(enum qos_class c)
{
	static const char *const names[] = {"Guaranteed", "Burstable", "BestEffort"};
	return names[c];
}
