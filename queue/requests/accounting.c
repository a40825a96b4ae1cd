#include "queue/requests/accounting.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/cluster/pod.h"
#include "queue/job/resources.h"
#include "queue/job/text.h"
#include "queue/requests/transformation.h"
#include "sluice/quantity.h"

/* ---- RuntimeClasses ---- */

struct runtime_class {
	const char *name;
	struct resource_list overhead;
	struct arena memory;
};

static bool runtime_class_is(const void *value, const void *key)
{
	return strcmp(((const struct runtime_class *)value)->name, key) == 0;
}

static void runtime_class_free(struct runtime_class *r)
{
	struct arena memory = r->memory; /* in which r itself lies */
	arena_done(&memory);
}

bool accounting_set_runtime_class(struct accounting *a, const struct runtime_class_spec *s)
{
	uint64_t hash = map_hash_string(s->name);
	struct runtime_class *old = map_get(&a->runtime_classes, hash, s->name);
	if (old && resource_list_same(&old->overhead, &s->overhead))
		return false;
	accounting_unset_runtime_class(a, s->name);
	struct arena memory = {0};
	struct runtime_class *r = arena_take(&memory, 1, sizeof(*r));
	r->name = arena_string(&memory, s->name);
	r->overhead = resource_list_copy(&memory, &s->overhead);
	r->memory = memory;
	map_put(&a->runtime_classes, hash, r);
	return true;
}

bool accounting_unset_runtime_class(struct accounting *a, const char *name)
{
	struct runtime_class *r = map_take(&a->runtime_classes, map_hash_string(name), name);
	if (!r)
		return false;
	runtime_class_free(r);
	return true;
}

/* NULL: it names none, or an unknown one. */
static const struct runtime_class *runtime_class_of(const struct accounting *a, const struct job *j)
{
	const char *name = j->pod.runtime_class ? j->pod.runtime_class : "";
	return *name ? map_get(&a->runtime_classes, map_hash_string(name), name) : NULL;
}

void accounting_init(struct accounting *a)
{
	limit_ranges_init(&a->limit_ranges);
	map_init(&a->runtime_classes, runtime_class_is);
}

void accounting_done(struct accounting *a)
{
	limit_ranges_done(&a->limit_ranges);
	map_free(&a->runtime_classes, runtime_class_free);
}

/* ---- What the API server fills in ---- */

static const struct container *fill_containers(
	struct arena *a, const struct limits *limits, const struct container *c, size_t n)
{
	struct container *all = arena_take(a, n, sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		all[i] = c[i];
		all[i].limits = resources_merge(a, &c[i].limits, &limits->defaults);
		all[i].requests = resources_merge(a, &c[i].requests, &limits->default_requests);
	}
	return all;
}

static struct pod_resources fill_pod(
	struct arena *a, const struct accounting *facts, const struct job *j)
{
	struct pod_resources pod = j->pod;
	const struct namespace_limits *n = limit_ranges_of(&facts->limit_ranges, j->ns);
	const struct runtime_class *class = runtime_class_of(facts, j);
	if (class && pod.overhead.count == 0)
		pod.overhead = class->overhead;
	if (!n)
		return pod;
	pod.containers = fill_containers(a, &n->container, pod.containers, pod.ncontainers);
	pod.init_containers =
		fill_containers(a, &n->container, pod.init_containers, pod.ninit_containers);
	if (pod.pod_level.count + pod.pod_level_limits.count > 0) {
		pod.pod_level_limits = resources_merge(a, &pod.pod_level_limits, &n->pod.defaults);
		pod.pod_level = resources_merge(a, &pod.pod_level, &n->pod.default_requests);
	}
	return pod;
}

/* Copies the template with the resources that were filled in: as the Job's owner wrote them, not as
 * the last start rewrote them. */
static const struct pod *pod_template_with(
	struct arena *a, const struct pod *template, const struct pod_resources *filled)
{
	struct pod *p = arena_take(a, 1, sizeof(*p));
	*p = *template;
	p->resources = *filled;
	return p;
}

/* ---- What the API server would refuse ---- */

struct inspection {
	const struct job *job;
	const struct namespace_limits *ranges; /* NULL: none */
	const char *list; /* "containers", "initContainers"; NULL: the pod itself */
	size_t index;
	struct text *text;
};

static void add_field(const struct inspection *i)
{
	text_add(i->text, "spec.template.spec");
	if (i->list)
		text_add(i->text, ".%s[%zu]", i->list, i->index);
}

/* A limit that the template does not have came from a LimitRange. */
static void add_limit(
	const struct inspection *i, const struct resource *limit, const struct resource_list *own)
{
	struct words amount = number_words(limit->amount, limit->name);
	if (resources_find(own, limit->name))
		text_add(i->text,
			", more than its limit of %s; requests must not exceed its limits: lower the request or raise the limit",
			amount.s);
	else
		text_add(i->text,
			", more than the limit of %s that LimitRange %s/%s gives it, as it has none of its own; lower the request, set a limit or change the LimitRange",
			amount.s, i->job->ns,
			limit_range_with_default(i->ranges, !i->list, limit->name));
}

/* own: the limits that the template itself has. */
static bool above_limits(const struct inspection *i, const struct resource_list *requests,
	const struct resource_list *limits, const struct resource_list *own)
{
	for (size_t k = 0; k < requests->count; k++) {
		const struct resource *r = &requests->item[k];
		const struct resource *limit = resources_find(limits, r->name);
		if (!limit || r->amount <= limit->amount)
			continue;
		text_add(i->text, "resources validation failed: ");
		add_field(i);
		text_add(i->text, ".resources.requests asks for %s",
			amount_words(r->amount, r->name).s);
		add_limit(i, limit, own);
		return true;
	}
	return false;
}

/* The lists of a container, or the sums of a pod. */
enum { REQUESTS, LIMITS };

/* found: the amount of the bound's resource that is out of bounds. */
static bool out_of_bounds(
	const struct inspection *i, const struct bound *b, int64_t found, int list, bool is_max)
{
	static const char *const cure[][2] = {
		[REQUESTS] = {"ask for more", "ask for less"},
		[LIMITS] = {"raise the limit", "lower the limit"},
	};
	text_add(i->text, "resources didn't satisfy LimitRange constraints: ");
	add_field(i);
	text_add(i->text, " has %s%s, %s of %s in LimitRange %s/%s; %s or change the LimitRange",
		list == LIMITS ? "a limit of " : "", amount_words(found, b->resource).s,
		is_max ? "above the max" : "below the min", number_words(b->amount, b->resource).s,
		i->job->ns, b->range, cure[list][is_max]);
	return true;
}

/* A bound counts for both lists of a container or a pod, where they name the resource. */
static bool is_out(const struct inspection *i, const struct resource_list *requests,
	const struct resource_list *limits, const struct limits *l)
{
	const struct resource_list *both[] = {[REQUESTS] = requests, [LIMITS] = limits};
	const struct resource *r;
	for (int list = REQUESTS; list <= LIMITS; list++) {
		for (size_t b = 0; b < l->max.count; b++)
			if ((r = resources_find(both[list], l->max.item[b].resource)) &&
				r->amount > l->max.item[b].amount)
				return out_of_bounds(i, &l->max.item[b], r->amount, list, true);
		for (size_t b = 0; b < l->min.count; b++)
			if ((r = resources_find(both[list], l->min.item[b].resource)) &&
				r->amount < l->min.item[b].amount)
				return out_of_bounds(i, &l->min.item[b], r->amount, list, false);
	}
	return false;
}

/* All of a pod, without a limit of their number: transformations may leave fewer. sums:
 * pod_requests() or pod_limits(). */
static struct resource_list sums_of(struct arena *a, const struct pod_resources *pod,
	size_t (*sums)(const struct pod_resources *, struct resource *, size_t))
{
	struct resource few[16], *all = few;
	size_t n = sums(pod, few, 16);
	if (n > 0)
		all = arena_take(a, n, sizeof(*all));
	if (n > 16)
		sums(pod, all, n);
	else if (n > 0)
		memcpy(all, few, n * sizeof(*all));
	return (struct resource_list){all, n};
}

/* By the sums of LimitRanger (podRequests and podLimits): without the overhead, and before
 * Kubernetes 1.37 fills in a pod's own limit, for which its own request stands here. */
static bool pod_is_out(const struct inspection *i, struct arena *a, const struct pod_resources *pod)
{
	const struct limits *l = &i->ranges->pod;
	struct pod_resources seen = *pod;
	if (l->max.count + l->min.count == 0)
		return false;
	seen.overhead = (struct resource_list){0};
	struct resource_list requests = sums_of(a, &seen, pod_requests);
	seen.pod_level = (struct resource_list){0};
	struct resource_list limits = sums_of(a, &seen, pod_limits);
	return is_out(i, &requests, &limits, l);
}

static bool some_ask(const struct container *c, size_t n, const char *name, bool limits)
{
	for (size_t i = 0; i < n; i++)
		if (resources_find(&c[i].limits, name) ||
			(!limits && resources_find(&c[i].requests, name)))
			return true;
	return false;
}

/* For a request of it, or for a limit. A limit stands for a request as well. (Not one of the pod's
 * own since Kubernetes 1.37, which fills that in after it has looked at LimitRanges; decode_pod.c
 * has filled it in.) */
static bool pod_asks(const struct pod_resources *pod, const char *name, bool limits)
{
	return resources_find(limits ? &pod->pod_level_limits : &pod->pod_level, name) ||
	       some_ask(pod->containers, pod->ncontainers, name, limits) ||
	       some_ask(pod->init_containers, pod->ninit_containers, name, limits);
}

/* A min is of requests, a max of limits, and what a pod does not have is refused. */
static bool pod_lacks(const struct inspection *i, const struct pod_resources *pod,
	const struct bounds *l, bool max)
{
	const char *what = max ? "limit" : "request";
	for (size_t b = 0; b < l->count; b++) {
		if (pod_asks(pod, l->item[b].resource, max))
			continue;
		text_add(i->text,
			"resources didn't satisfy LimitRange constraints: spec.template.spec has no %s for %s, and LimitRange %s/%s has a %s of %s for pods; set a %s or change the LimitRange",
			what, l->item[b].resource, i->job->ns, l->item[b].range,
			max ? "max" : "min", number_words(l->item[b].amount, l->item[b].resource).s,
			what);
		return true;
	}
	return false;
}

/* c: filled in; own: as the template has them. */
static bool containers_are_wrong(struct inspection i, const char *list, const struct container *c,
	const struct container *own, size_t n)
{
	i.list = list;
	for (; i.index < n; i.index++) {
		const struct container *it = &c[i.index];
		if (above_limits(&i, &it->requests, &it->limits, &own[i.index].limits) ||
			(i.ranges && is_out(&i, &it->requests, &it->limits, &i.ranges->container)))
			return true;
	}
	return false;
}

static void find_fault(struct account *a, const struct job *j, const struct pod_resources *pod,
	const struct namespace_limits *n)
{
	struct text text = text_over(a->fault, sizeof(a->fault));
	struct inspection i = {.job = j, .ranges = n, .text = &text};
	const struct pod_resources *own = &j->pod;
	if (above_limits(&i, &pod->pod_level, &pod->pod_level_limits, &own->pod_level_limits) ||
		containers_are_wrong(i, "initContainers", pod->init_containers,
			own->init_containers, pod->ninit_containers) ||
		containers_are_wrong(
			i, "containers", pod->containers, own->containers, pod->ncontainers))
		return;
	if (n && !pod_is_out(&i, &a->memory, pod) && !pod_lacks(&i, pod, &n->pod.min, false))
		pod_lacks(&i, pod, &n->pod.max, true);
}

/* Says that the Job's RuntimeClass is unknown (maybe only yet), so that its pods' overhead is not
 * known, or that the Job has an overhead that its RuntimeClass has not. The API server takes no
 * such pod. False: neither is so. */
static bool judge_runtime_class(
	struct account *a, const struct accounting *facts, const struct job *j)
{
	const char *name = j->pod.runtime_class ? j->pod.runtime_class : "";
	const struct runtime_class *class = runtime_class_of(facts, j);
	struct text text = text_over(a->fault, sizeof(a->fault));
	bool overhead = j->pod.overhead.count > 0;
	if (*name && !class)
		text_add(&text,
			"RuntimeClass %.200s does not exist; create it or correct spec.template.spec.runtimeClassName",
			name);
	else if (overhead && !class)
		text_add(&text,
			"spec.template.spec.overhead is set without a runtimeClassName, so the API server would refuse its pods; remove it, or name the RuntimeClass that has it");
	else if (overhead && !resource_list_same(&class->overhead, &j->pod.overhead))
		text_add(&text,
			"spec.template.spec.overhead is not that of RuntimeClass %.200s, so the API server would refuse its pods; remove it: the class's own is added",
			name);
	return *a->fault != '\0';
}

/* ---- The account ---- */

static bool is_excluded(const struct queue_config *c, const char *name)
{
	for (size_t i = 0; i < c->nexcluded_prefixes; i++) {
		const char *prefix = c->excluded_prefixes[i];
		if (strncmp(name, prefix, strlen(prefix)) == 0)
			return true;
	}
	return strcmp(name, "pods") == 0; /* counted by Job, never requested */
}

static void drop_excluded(const struct queue_config *c, struct arena *a, struct resource_list *l)
{
	struct resource *kept = arena_take(a, l->count, sizeof(*kept));
	size_t n = 0;
	for (size_t i = 0; i < l->count; i++)
		if (!is_excluded(c, l->item[i].name))
			kept[n++] = l->item[i];
	*l = (struct resource_list){kept, n};
}

static void transform(
	struct account *a, const struct queue_config *c, const struct resource_list *requested)
{
	const struct transformation_spec *t = c->transformation;
	const struct transformation_spec *lacks =
		transformations_lack(t, c->ntransformations, &a->requests, requested);
	if (lacks && !*a->fault) {
		struct text text = text_over(a->fault, sizeof(a->fault));
		text_add(&text,
			"%.100s counts times %.100s in quotas (--transformation), and the pod requests none: add %.100s to its requests",
			lacks->input, lacks->multiply_by, lacks->multiply_by);
	}
	a->requests =
		transformations_apply(&a->memory, t, c->ntransformations, &a->requests, requested);
}

void account_open(struct account *ret, const struct accounting *a, const struct queue_config *c,
	const struct job *j)
{
	ret->memory = (struct arena){0};
	struct pod_resources pod = fill_pod(&ret->memory, a, j);
	ret->requests = sums_of(&ret->memory, &pod, pod_requests);
	ret->pod = j->template ? pod_template_with(&ret->memory, j->template, &pod) : NULL;
	if (!judge_runtime_class(ret, a, j))
		find_fault(ret, j, &pod, limit_ranges_of(&a->limit_ranges, j->ns));
	struct resource_list requested = ret->requests;
	drop_excluded(c, &ret->memory, &ret->requests);
	if (c->ntransformations > 0)
		transform(ret, c, &requested);
}

void account_done(struct account *a)
{
	arena_done(&a->memory);
}
