#include "sluice/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sluice/quantity.h"

bool job_finished(const struct job *j)
{
	return j->status.complete || j->status.failed;
}

bool job_quiet(const struct job *j)
{
	return (job_finished(j) || j->status.suspended) && j->status.active == 0 &&
	       j->status.terminating == 0;
}

/*
 * min(parallelism, what remains). Kueue takes (parallelism - remaining) away from min(parallelism,
 * completions), which is the same except when completions < parallelism: there it gives back quota
 * that pods still use (parallelism 5, completions 3, one done: two run, Kueue counts none).
 */
int32_t job_pods(const struct job *j)
{
	int64_t goal = j->has_completions ? j->completions : j->parallelism;
	int64_t done = j->indexed ? j->status.indexes_done : j->status.succeeded;
	int64_t remaining = goal - (done > 0 ? done : 0);
	if (job_finished(j) || remaining <= 0 || j->parallelism <= 0)
		return 0;
	return remaining < j->parallelism ? (int32_t)remaining : j->parallelism;
}

/* One line of one list. Sorted by name, and within it in the order in which they are counted. */
enum request_kind {
	REQUEST_CONTAINER,
	REQUEST_INIT, /* in the order of the init containers */
	REQUEST_POD_LEVEL,
	REQUEST_OVERHEAD,
};

struct request {
	const char *name;
	enum request_kind kind;
	size_t order;
	bool sidecar;
	bool limit; /* counts where no request of the same container does */
	int64_t amount;
};

static int request_cmp(const void *va, const void *vb)
{
	const struct request *a = va, *b = vb;
	int c = strcmp(a->name, b->name);
	if (c != 0)
		return c;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return a->limit - b->limit;
}

static size_t list_requests(
	const struct resource_list *list, struct request like, struct request *ret)
{
	for (size_t i = 0; i < list->count; i++) {
		int64_t amount = list->item[i].amount;
		ret[i] = like;
		ret[i].name = list->item[i].name;
		ret[i].amount = amount > 0 ? amount : 0;
	}
	return list->count;
}

static size_t list_both(const struct resource_list *requests, const struct resource_list *limits,
	struct request like, struct request *ret)
{
	size_t n = list_requests(requests, like, ret);
	like.limit = true;
	return n + list_requests(limits, like, ret + n);
}

static size_t count_requests(const struct pod_resources *pod)
{
	size_t n = pod->overhead.count + pod->pod_level.count + pod->pod_level_limits.count;
	for (size_t i = 0; i < pod->ncontainers; i++)
		n += pod->containers[i].requests.count + pod->containers[i].limits.count;
	for (size_t i = 0; i < pod->ninit_containers; i++)
		n += pod->init_containers[i].requests.count + pod->init_containers[i].limits.count;
	return n;
}

static void collect_requests(const struct pod_resources *pod, struct request *ret)
{
	for (size_t i = 0; i < pod->ncontainers; i++)
		ret += list_both(&pod->containers[i].requests, &pod->containers[i].limits,
			(struct request){.kind = REQUEST_CONTAINER, .order = i}, ret);
	for (size_t i = 0; i < pod->ninit_containers; i++)
		ret += list_both(&pod->init_containers[i].requests, &pod->init_containers[i].limits,
			(struct request){.kind = REQUEST_INIT,
				.order = i,
				.sidecar = pod->init_containers[i].sidecar},
			ret);
	ret += list_both(&pod->pod_level, &pod->pod_level_limits,
		(struct request){.kind = REQUEST_POD_LEVEL}, ret);
	list_requests(&pod->overhead, (struct request){.kind = REQUEST_OVERHEAD}, ret);
}

/* Kubernetes looks at no others at pod level. */
static bool counts_at_pod_level(const char *name)
{
	return strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0 ||
	       strncmp(name, "hugepages-", 10) == 0;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* A limit stands in for a request that is missing. At pod level it does so only when no container
 * asks for the resource (then their sum stands), as the API server fills it in; but huge pages
 * cannot be overcommitted, so there the limit always is the request. */
static bool limit_counts(const struct request *limit, const struct request *before, bool asked)
{
	if (before && before->kind == limit->kind && before->order == limit->order)
		return false;
	return limit->kind != REQUEST_POD_LEVEL || !asked ||
	       strncmp(limit->name, "hugepages-", 10) == 0;
}

/* What the n requests, all of one name, come to; false: none of them counts. An init container that
 * does not name the resource needs no more than the sidecars before it, which are in the sum
 * anyway. */
static bool sum_requests(const struct request *r, size_t n, int64_t *ret)
{
	int64_t sum = 0, sidecars = 0, init = 0;
	bool any = false;
	for (size_t i = 0; i < n; i++) {
		int64_t amount = r[i].amount;
		bool asked = r[0].kind < REQUEST_POD_LEVEL;
		if (r[i].limit && !limit_counts(&r[i], i > 0 ? &r[i - 1] : NULL, asked))
			continue;
		if (r[i].kind == REQUEST_POD_LEVEL && !counts_at_pod_level(r[i].name))
			continue;
		any = true;
		switch (r[i].kind) {
		case REQUEST_CONTAINER:
			sum = quantity_add(sum, amount);
			break;
		case REQUEST_INIT:
			init = larger(init, quantity_add(sidecars, amount));
			if (r[i].sidecar) {
				sidecars = quantity_add(sidecars, amount);
				sum = quantity_add(sum, amount);
			}
			break;
		case REQUEST_POD_LEVEL:
			sum = amount;
			init = 0;
			break;
		case REQUEST_OVERHEAD:
			sum = quantity_add(larger(sum, init), amount);
			break;
		}
	}
	*ret = larger(sum, init);
	return any;
}

/* Sorted rather than looked up one by one: a Job of thousands of containers, each with names of its
 * own, must not cost their square. */
size_t pod_requests(const struct pod_resources *pod, struct resource *ret, size_t cap)
{
	size_t n = count_requests(pod), written = 0;
	struct request *all = mem_array(n + 1, sizeof(*all));
	collect_requests(pod, all);
	qsort(all, n, sizeof(*all), request_cmp);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && strcmp(all[end].name, all[i].name) == 0; end++)
			;
		int64_t amount;
		if (!sum_requests(all + i, end - i, &amount))
			continue;
		if (written < cap)
			ret[written] = (struct resource){all[i].name, amount};
		written++;
	}
	free(all);
	return written;
}
