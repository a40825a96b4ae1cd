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

/* The pod-level requests. Where there are only pod-level limits the API server fills them in: the
 * sum of its containers' requests, else the limit. pod_requests() does that. */
static void add_pod_level(const struct pod_resources *r, struct totals *requests)
{
	struct pod_resources own = *r;
	own.overhead = (struct resource_list){NULL, 0};
	if (r->pod_level_limits.count == 0) {
		add_list(requests, &r->pod_level);
		return;
	}
	size_t n = pod_requests(&own, NULL, 0);
	struct resource *all = mem_array(n, sizeof(*all));
	pod_requests(&own, all, n);
	add_list(requests, &(struct resource_list){all, n});
	free(all);
}

enum qos_class pod_qos_class(const struct pod *p)
{
	const struct pod_resources *r = &p->resources;
	struct totals requests = {0}, limits = {0};
	bool limited;
	if (r->has_pod_level) {
		add_pod_level(r, &requests);
		add_list(&limits, &r->pod_level_limits);
		limited = has_both(&r->pod_level_limits);
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

const char *qos_class_name(enum qos_class c)
{
	static const char *const names[] = {"Guaranteed", "Burstable", "BestEffort"};
	return names[c];
}
