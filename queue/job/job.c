#include "sluice/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "sluice/quantity.h"

bool job_finished(const struct job *j)
{
	return j->status.complete || j->status.failed;
}

int64_t job_queued_ms(const struct job *j)
{
	return greater(j->created_ms, j->queued_at_ms);
}

bool job_quiet(const struct job *j)
{
	return (job_finished(j) || j->status.suspended) && j->status.active == 0 &&
	       j->status.terminating == 0;
}

bool job_ends_when_stopped(const struct job *j)
{
	return !j->has_completions && !job_finished(j) &&
	       (j->status.succeeded > 0 || j->status.uncounted > 0);
}

/* A stop puts the owner's number back; its story says how many ran. */
static int32_t pods_of_last_run(const struct job *j)
{
	int32_t told = j->admission.run_pods;
	return told > 0 && told < j->parallelism ? told : j->parallelism;
}

/* Before its end: by us, or by another client, as far as that is known. */
static bool was_stopped(const struct job *j)
{
	return j->admission.state == STORY_STOPPED ||
	       (j->suspend && j->suspended_ms <= j->status.finished_ms);
}

bool job_was_cut_short(const struct job *j)
{
	return !j->has_completions && j->status.complete && was_stopped(j) &&
	       j->status.succeeded < pods_of_last_run(j);
}

#define ENDS_AS_COMPLETE                                                                           \
	"it ends as Complete, and does not run again: one of its pods has succeeded, and it has no spec.completions"
const char JOB_ENDS_AS_COMPLETE[] = ENDS_AS_COMPLETE;
const char JOB_ENDS_WHEN_STOPPED[] = "if it is stopped now, " ENDS_AS_COMPLETE;
const char JOB_CUT_SHORT[] =
	"CutShort: Kubernetes calls it Complete since one of its pods had succeeded, but it was stopped before the others had ended";

int64_t job_done(const struct job *j)
{
	return j->indexed ? j->status.indexes_done : j->status.succeeded;
}

/*
 * min(parallelism, remaining completions). Kueue takes min(parallelism, completions) less
 * (parallelism - remaining). That differs only when completions < parallelism: there it gives back
 * quota that pods still use (parallelism 5, completions 3, one done: two run, Kueue counts none).
 */
int32_t job_pods(const struct job *j)
{
	int64_t goal = j->has_completions ? j->completions : j->parallelism;
	int64_t remaining = goal - greater(job_done(j), 0);
	if (job_finished(j) || remaining <= 0 || j->parallelism <= 0)
		return 0;
	return remaining < j->parallelism ? (int32_t)remaining : j->parallelism;
}

int32_t job_pods_kept_up(const struct job *j)
{
	return job_ends_when_stopped(j) ? j->status.active : job_pods(j);
}

bool job_pods_ready(const struct job *j)
{
	const struct job_status *s = &j->status;
	struct job fresh = *j;
	fresh.status = (struct job_status){0};
	return s->ending || job_ends_when_stopped(j) ||
	       job_done(j) + s->ready + s->uncounted >= job_pods(&fresh);
}

/* Completions that follow parallelism stay as they are once an index is done, and a work queue does not
 * grow once a pod has succeeded. */
int32_t job_pods_wanted(const struct job *j)
{
	const struct job_admission *a = &j->admission;
	bool follows = j->completions_follow && j->status.indexes_done > 0;
	if (j->min_parallelism <= 0 || a->reapplied || follows || job_ends_when_stopped(j))
		return 0;
	struct job whole = *j;
	if (a->owner_parallelism > 0)
		whole.parallelism = a->owner_parallelism;
	if (a->owner_completions > 0)
		whole.completions = a->owner_completions;
	return job_pods(&whole);
}

const char *dependency_kind_name(enum dependency_kind k)
{
	switch (k) {
	case AFTER_OK:
		return "afterok";
	case AFTER_NOT_OK:
		return "afternotok";
	case AFTER_ANY:
		return "afterany";
	case AFTER_START:
		return "after";
	case AFTER_SINGLETON:
		return "singleton";
	}
	return "";
}

/* ---- what its pods ask for -------------------------------------------------------------------- */

/* One line of one list. Sorted by name, and within it in the order in which they are counted. */
enum request_kind {
	REQUEST_CONTAINER,
	REQUEST_INIT,	   /* in the order of the init containers */
	REQUEST_POD_FLOOR, /* of limits alone: the pod-level request */
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
	uint8_t style;
};

enum side { SIDE_REQUESTS, SIDE_LIMITS };

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
		ret[i].amount = greater(amount, 0);
		ret[i].style = list->item[i].style;
	}
	return list->count;
}

/* Limits alone, or requests with the limits that may stand in for them. */
static size_t list_side(enum side side, const struct resource_list *requests,
	const struct resource_list *limits, struct request like, struct request *ret)
{
	size_t n = side == SIDE_REQUESTS ? list_requests(requests, like, ret) : 0;
	like.limit = side == SIDE_REQUESTS;
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

static size_t collect(const struct pod_resources *pod, enum side side, struct request *ret)
{
	struct request *to = ret;
	for (size_t i = 0; i < pod->ncontainers; i++)
		to += list_side(side, &pod->containers[i].requests, &pod->containers[i].limits,
			(struct request){.kind = REQUEST_CONTAINER, .order = i}, to);
	for (size_t i = 0; i < pod->ninit_containers; i++)
		to += list_side(side, &pod->init_containers[i].requests,
			&pod->init_containers[i].limits,
			(struct request){.kind = REQUEST_INIT,
				.order = i,
				.sidecar = pod->init_containers[i].sidecar},
			to);
	if (side == SIDE_LIMITS)
		to += list_requests(
			&pod->pod_level, (struct request){.kind = REQUEST_POD_FLOOR}, to);
	to += list_side(side, &pod->pod_level, &pod->pod_level_limits,
		(struct request){.kind = REQUEST_POD_LEVEL}, to);
	to += list_requests(&pod->overhead, (struct request){.kind = REQUEST_OVERHEAD}, to);
	return (size_t)(to - ret);
}

/* Kubernetes counts no other resources at pod level. */
static bool counts_at_pod_level(const char *name)
{
	return strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0 ||
	       strncmp(name, "hugepages-", 10) == 0;
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

struct sum {
	int64_t amount;
	uint8_t style; /* of the first that is not zero */
};

static struct sum add(struct sum a, struct sum b)
{
	return (struct sum){quantity_add(a.amount, b.amount), a.amount == 0 ? b.style : a.style};
}

static struct sum larger(struct sum a, struct sum b)
{
	return b.amount > a.amount ? b : a;
}

/* The sum of n requests of one name; false: none of them counts. An init container without the
 * resource needs no more than the sidecars before it, which are in the sum anyway. Where each of the
 * pod's containers has a limit and the pod has none, Kubernetes 1.37 fills in their sum, or the
 * pod-level request if that is more. */
static bool sum_requests(
	const struct request *r, size_t n, enum side side, size_t containers, struct sum *ret)
{
	static const struct sum nothing = {0, QUANTITY_DECIMAL};
	struct sum sum = nothing, sidecars = nothing, init = nothing;
	bool any = false;
	for (size_t i = 0; i < n; i++) {
		struct sum one = {r[i].amount, r[i].style};
		bool asked = r[0].kind < REQUEST_POD_LEVEL;
		if (r[i].limit && !limit_counts(&r[i], i > 0 ? &r[i - 1] : NULL, asked))
			continue;
		if ((r[i].kind == REQUEST_POD_LEVEL || r[i].kind == REQUEST_POD_FLOOR) &&
			!counts_at_pod_level(r[i].name))
			continue;
		switch (r[i].kind) {
		case REQUEST_CONTAINER:
			sum = add(sum, one);
			break;
		case REQUEST_INIT:
			init = larger(init, r[i].sidecar ? add(sidecars, one) : add(one, sidecars));
			if (r[i].sidecar) {
				sidecars = add(sidecars, one);
				sum = add(sum, one);
			}
			break;
		case REQUEST_POD_FLOOR:
			if (i < containers) /* some container has no limit of it */
				continue;
			sum = larger(larger(sum, init), one);
			break;
		case REQUEST_POD_LEVEL:
			sum = one;
			init = nothing;
			break;
		case REQUEST_OVERHEAD:
			sum = larger(sum, init);
			if (side == SIDE_LIMITS && sum.amount == 0)
				continue;
			sum = add(sum, one);
			break;
		}
		any = true;
	}
	*ret = larger(sum, init);
	return any;
}

/* Sorted, not looked up one by one: a Job of thousands of containers, each with other names, must
 * not take quadratic time. */
static size_t pod_sums(
	const struct pod_resources *pod, enum side side, struct resource *ret, size_t cap)
{
	size_t written = 0;
	struct request *all = mem_array(count_requests(pod) + 1, sizeof(*all));
	size_t n = collect(pod, side, all);
	qsort(all, n, sizeof(*all), request_cmp);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && strcmp(all[end].name, all[i].name) == 0; end++)
			;
		struct sum sum;
		if (!sum_requests(
			    all + i, end - i, side, pod->ncontainers + pod->ninit_containers, &sum))
			continue;
		if (written < cap)
			ret[written] = (struct resource){all[i].name, sum.amount, sum.style};
		written++;
	}
	free(all);
	return written;
}

size_t pod_requests(const struct pod_resources *pod, struct resource *ret, size_t cap)
{
	return pod_sums(pod, SIDE_REQUESTS, ret, cap);
}

size_t pod_limits(const struct pod_resources *pod, struct resource *ret, size_t cap)
{
	return pod_sums(pod, SIDE_LIMITS, ret, cap);
}
