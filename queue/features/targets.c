/* How a name of each kind of thing is found, and which ones there are. */
#include <string.h>
#include <strings.h>

#include "queue/features/targets.h"
#include "queue/features/windows/runpolicy.h"
#include "sluice/quantity.h"
#include "queue/features/money/plan.h"

enum { WINDOWS_TOLD = 3 };

void target_suggest(
	const struct target *target, const struct queue *q, const struct named *n, struct text *t)
{
	struct similar s;
	similar_begin(&s, n->name);
	if (target->offer)
		target->offer(q, n, &s);
	if (similar_best(&s))
		text_add(t, " (did you mean %s?)", similar_best(&s));
	else if (target->say_others)
		target->say_others(n, t);
}

/* Returns which well-known resource a resource is, whatever its vendor: gpu for "nvidia.com/gpu".
 * NULL: none. */
static const char *family_of(const char *resource)
{
	static const char *const families[] = {"cpu", "gpu", "tpu", "npu", "vpu", "xpu", "memory",
		"memory-gib", "storage", "ephemeral-storage", "pods", NULL};
	const char *slash = strrchr(resource, '/'), *word = slash ? slash + 1 : resource;
	for (const char *const *f = families; *f; f++)
		if (strcasecmp(*f, word) == 0)
			return *f;
	return NULL;
}

/* Offers a resource, unless it is of another family than what is written: gpu is no mistake for
 * cpu, alike as they are. */
static void resource_offer(struct similar *s, const char *resource)
{
	const char *written = family_of(s->written), *offered = family_of(resource);
	if (!written || !offered || written == offered)
		similar_offer(s, resource);
}

/* Says that nothing of a kind goes by a name, or by a glob. */
static void say_none(const char *kind, const char *name, struct text *t)
{
	if (strpbrk(name, "*?"))
		text_add(t, "no %s has a name like %s", kind, name);
	else
		text_add(t, "%s %s does not exist", kind, name);
}

/* ---- a ResourceFlavor ---- */

static bool flavor_found(const struct queue *q, const struct named *n)
{
	return queue_has_flavor(q, n->name);
}

static void flavor_missing(const struct named *n, struct text *t)
{
	text_add(t, "ResourceFlavor %s does not exist", n->name);
}

static void flavors_offer(const struct queue *q, const struct named *n, struct similar *s)
{
	const struct flavor *f;
	(void)n;
	map_each(&q->flavors, i, f)
		if (f->exists)
			similar_offer(s, f->name);
}

const struct target target_flavor = {flavor_found, flavor_missing, flavors_offer};

static void flavors_with_quota_offer(
	const struct queue *q, const struct named *n, struct similar *s)
{
	const struct quota_row *row;
	(void)n;
	map_each(&q->quota.rows, i, row)
		if (row->in_spec)
			similar_offer(s, row->flavor);
}

const struct target target_flavor_with_quota = {.offer = flavors_with_quota_offer};

/* The group of cq that has it. */
static const struct resource_group *group_of_flavor(
	const struct clusterqueue *cq, const char *flavor)
{
	for (size_t g = 0; g < cq->spec.ngroups; g++)
		for (size_t f = 0; f < cq->spec.groups[g].nflavors; f++)
			if (strcmp(cq->spec.groups[g].flavors[f]->name, flavor) == 0)
				return &cq->spec.groups[g];
	return NULL;
}

static bool flavor_of_clusterqueue_found(const struct queue *q, const struct named *n)
{
	(void)q;
	return group_of_flavor(n->within, n->name);
}

static void flavors_of_clusterqueue_offer(
	const struct queue *q, const struct named *n, struct similar *s)
{
	const struct clusterqueue *cq = n->within;
	(void)q;
	for (size_t g = 0; g < cq->spec.ngroups; g++)
		for (size_t f = 0; f < cq->spec.groups[g].nflavors; f++)
			similar_offer(s, cq->spec.groups[g].flavors[f]->name);
}

const struct target target_flavor_of_clusterqueue = {
	.found = flavor_of_clusterqueue_found, .offer = flavors_of_clusterqueue_offer};

static void resources_of_clusterqueue_offer(
	const struct queue *q, const struct named *n, struct similar *s)
{
	const struct resource_group *g = group_of_flavor(n->within, n->of);
	(void)q;
	for (size_t r = 0; g && r < g->nresources; r++)
		resource_offer(s, g->resources[r]);
}

const struct target target_resource_of_clusterqueue = {.offer = resources_of_clusterqueue_offer};

/* ---- a Calendar, and a window of one ---- */

static bool calendar_found(const struct queue *q, const struct named *n)
{
	(void)q;
	return calendar_ref_exists(n->within);
}

static void calendar_missing(const struct named *n, struct text *t)
{
	text_add(t, "Calendar %s does not exist", n->name);
}

static void calendars_offer(const struct queue *q, const struct named *n, struct similar *s)
{
	(void)n;
	struct named_object *o = named_object_at(q->calendar_refs, 0);
	for (; o; o = named_object_next(o)) {
		const struct calendar_ref *c = container_of(o, struct calendar_ref, object);
		if (calendar_ref_exists(c))
			similar_offer(s, c->object.name);
	}
}

const struct target target_calendar = {calendar_found, calendar_missing, calendars_offer};

/* Of a Calendar that has no valid spec nothing is known. */
static bool window_found(const struct queue *q, const struct named *n)
{
	const struct calendar_ref *c = n->within;
	(void)q;
	return !c->calendar || calendar_has_window(c->calendar, n->name);
}

static void window_missing(const struct named *n, struct text *t)
{
	text_add(t, "Calendar %s has no window %s", n->of, n->name);
}

static void windows_offer(const struct queue *q, const struct named *n, struct similar *s)
{
	const struct calendar *c = ((const struct calendar_ref *)n->within)->calendar;
	const char *window;
	(void)q;
	for (size_t i = 0; (window = calendar_window_name(c, i)); i++)
		similar_offer(s, window);
}

static void windows_say_others(const struct named *n, struct text *t)
{
	const struct calendar *c = ((const struct calendar_ref *)n->within)->calendar;
	const char *window;
	size_t i = 0, count = 0;
	while (calendar_window_name(c, count))
		count++;
	for (; i < WINDOWS_TOLD && (window = calendar_window_name(c, i)); i++)
		text_add(t, "%s%s", i == 0 ? " (it has " : ", ", window);
	if (count > i)
		text_add(t, " and %zu more", count - i);
	text_add(t, "%s", count > 0 ? ")" : "");
}

const struct target target_window = {
	window_found, window_missing, windows_offer, windows_say_others};

/* ---- ClusterQueues ---- */

static const struct clusterqueue *next_clusterqueue(struct tree_node **at)
{
	while (*at) {
		const struct clusterqueue *cq =
			container_of_const(*at, struct clusterqueue, by_name);
		*at = tree_next(*at);
		if (cq->exists)
			return cq;
	}
	return NULL;
}

static bool clusterqueues_found(const struct queue *q, const struct named *n)
{
	struct tree_node *at = tree_first(&q->clusterqueues.shown);
	for (const struct clusterqueue *cq; (cq = next_clusterqueue(&at));)
		if (runpolicy_glob(n->name, cq->name))
			return true;
	return false;
}

static void clusterqueues_missing(const struct named *n, struct text *t)
{
	say_none("ClusterQueue", n->name, t);
}

/* To an author in a namespace only those that select it are named: others are not for him to know. */
static void clusterqueues_offer(const struct queue *q, const struct named *n, struct similar *s)
{
	const struct localqueue *author = n->within;
	struct tree_node *at = tree_first(&q->clusterqueues.shown);
	for (const struct clusterqueue *cq; !similar_is_full(s) && (cq = next_clusterqueue(&at));)
		if (!author || clusterqueue_selects(cq, author->ns))
			similar_offer(s, cq->name);
}

const struct target target_clusterqueues = {
	clusterqueues_found, clusterqueues_missing, clusterqueues_offer};

static bool clusterqueue_found(const struct queue *q, const struct named *n)
{
	const struct clusterqueue *cq = clusterqueue_find(&q->clusterqueues, n->name);
	return cq && (cq->exists || cq->invalid);
}

const struct target target_clusterqueue = {
	clusterqueue_found, clusterqueues_missing, clusterqueues_offer};

/* ---- LocalQueues ---- */

static bool localqueues_found(const struct queue *q, const struct named *n)
{
	struct tree_node *at = tree_first(&q->localqueues.shown);
	for (; at; at = tree_next(at)) {
		const struct localqueue *lq = container_of_const(at, struct localqueue, by_name);
		if (lq->exists && runpolicy_pair_glob(n->name, lq->ns->name, lq->name))
			return true;
	}
	return false;
}

static void localqueues_missing(const struct named *n, struct text *t)
{
	say_none("LocalQueue", n->name, t);
}

/* None is suggested: names of a namespace and of a queue together are seldom alike by mistake alone. */
const struct target target_localqueues = {localqueues_found, localqueues_missing, NULL};

static bool localqueue_found(const struct queue *q, const struct named *n)
{
	const struct localqueue *lq = localqueue_find(&q->localqueues, n->of, n->name);
	return lq && lq->exists;
}

static void localqueue_missing(const struct named *n, struct text *t)
{
	text_add(t, "LocalQueue %s/%s does not exist", n->of, n->name);
}

static void localqueue_offer(const struct queue *q, const struct named *n, struct similar *s)
{
	const struct nspace *ns = namespace_find(&q->localqueues, n->of);
	if (!ns)
		return;
	list_each_entry(&ns->localqueues, const struct localqueue, lq, of_namespace)
		if (lq->exists)
			similar_offer(s, lq->name);
}

const struct target target_localqueue = {localqueue_found, localqueue_missing, localqueue_offer};

/* ---- quota of a resource in a flavor, of the ClusterQueues that a RunPolicy names ---- */

static const struct quota_row *quota_row_at(const struct clusterqueue *cq, size_t i)
{
	return i < cq->node->nrows ? cq->node->row[i] : NULL;
}

static bool has_quota(const struct clusterqueue *cq, const char *flavor, const char *resource)
{
	const struct quota_row *row;
	for (size_t i = 0; (row = quota_row_at(cq, i)); i++)
		if (row->in_spec && strcmp(row->flavor, flavor) == 0 &&
			strcmp(row->resource, resource) == 0)
			return true;
	return false;
}

/* The flavor, and the queues, are told where they are named. */
static bool quota_found(const struct queue *q, const struct named *n)
{
	bool any = false;
	struct tree_node *at = tree_first(&q->clusterqueues.shown);
	for (const struct clusterqueue *cq; (cq = next_clusterqueue(&at));) {
		if (!runpolicy_names_clusterqueue(n->within, cq->name))
			continue;
		if (has_quota(cq, n->of, n->name))
			return true;
		any = true;
	}
	return !any || !queue_has_flavor(q, n->of);
}

static void quota_missing(const struct named *n, struct text *t)
{
	text_add(t, "no ClusterQueue of spec.queues has quota of %s in flavor %s", n->name, n->of);
}

static void quota_offer(const struct queue *q, const struct named *n, struct similar *s)
{
	struct tree_node *at = tree_first(&q->clusterqueues.shown);
	for (const struct clusterqueue *cq; (cq = next_clusterqueue(&at));) {
		const struct quota_row *row;
		if (!runpolicy_names_clusterqueue(n->within, cq->name))
			continue;
		for (size_t i = 0; (row = quota_row_at(cq, i)); i++)
			if (row->in_spec && strcmp(row->flavor, n->of) == 0)
				resource_offer(s, row->resource);
	}
}

const struct target target_quota = {quota_found, quota_missing, quota_offer};

/* ---- a resource that has a price ---- */

static bool price_found(const struct queue *q, const struct named *n)
{
	bool any = false;
	struct tree_node *at = tree_first(&q->clusterqueues.shown);
	for (const struct clusterqueue *cq; (cq = next_clusterqueue(&at));) {
		const struct quota_row *row;
		if (plan_claim_of(n->within, cq->name) == PLAN_NAMES_NOT)
			continue;
		any = true;
		for (size_t i = 0; (row = quota_row_at(cq, i)); i++)
			if (row->in_spec && strcmp(row->resource, n->name) == 0)
				return true;
	}
	return !any;
}

static void price_missing(const struct named *n, struct text *t)
{
	text_add(t, "no ClusterQueue that it names covers resource %s", n->name);
}

/* As PricePlans write it: of what is counted in bytes a GiB has the price. */
static void price_offer(const struct queue *q, const struct named *n, struct similar *s)
{
	struct tree_node *at = tree_first(&q->clusterqueues.shown);
	for (const struct clusterqueue *cq; (cq = next_clusterqueue(&at));) {
		const struct quota_row *row;
		char unit[SIMILAR_MAX + 1];
		if (plan_claim_of(n->within, cq->name) == PLAN_NAMES_NOT)
			continue;
		for (size_t i = 0; (row = quota_row_at(cq, i)); i++) {
			bool bytes = quantity_counts_bytes(row->resource);
			if (!row->in_spec || strlen(row->resource) + strlen("-gib") > SIMILAR_MAX)
				continue;
			strcpy(unit, row->resource);
			strcat(unit, bytes ? "-gib" : "");
			resource_offer(s, unit);
		}
	}
}

const struct target target_price = {price_found, price_missing, price_offer};
