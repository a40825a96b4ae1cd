/* What each kind may name. */
#include <string.h>

#include "queue/effect/effect.h"
#include "queue/explain/view.h"
#include "queue/rules/targets.h"

/* The i-th name that a field of the object has; false past the last. */
typedef bool names_at(const void *object, size_t i, struct named *ret);

/* ---- ClusterQueues, Cohorts, LocalQueues ---- */

static bool flavor_of_clusterqueue(const void *object, size_t i, struct named *ret)
{
	const struct cq_spec *s = &((const struct clusterqueue *)object)->spec;
	for (size_t g = 0; g < s->ngroups; i -= s->groups[g++].nflavors)
		if (i < s->groups[g].nflavors) {
			*ret = (struct named){s->groups[g].flavors[i]->name, {g, i}, NULL, NULL};
			return true;
		}
	return false;
}

/* Each once: a flavor has a row for each resource. */
static bool flavor_of_cohort(const void *object, size_t i, struct named *ret)
{
	const struct quota_node *n = ((const struct cohort *)object)->node;
	if (i >= n->nrows)
		return false;
	for (size_t k = 0; k < i; k++)
		if (n->row[k]->in_spec && n->row[k]->flavor == n->row[i]->flavor)
			return true;
	if (n->row[i]->in_spec)
		ret->name = n->row[i]->flavor;
	return true;
}

static bool clusterqueue_of_localqueue(const void *object, size_t i, struct named *ret)
{
	const struct localqueue *lq = object;
	*ret = (struct named){.name = lq->cq->name, .within = lq};
	return i == 0;
}

/* ---- RunPolicies ---- */

static bool calendar_of_runpolicy(const void *object, size_t i, struct named *ret)
{
	const struct runpolicy *p = object;
	*ret = (struct named){.name = p->spec.calendar, .within = p->calendar_ref};
	return i == 0;
}

static bool queue_of_runpolicy(const void *object, size_t i, struct named *ret)
{
	const struct runpolicy_spec *s = &((const struct runpolicy *)object)->spec;
	if (i < s->nqueues)
		*ret = (struct named){s->queues[i], {i, 0}, NULL, NULL};
	return i < s->nqueues;
}

static bool localqueue_of_runpolicy(const void *object, size_t i, struct named *ret)
{
	const struct runpolicy_spec *s = &((const struct runpolicy *)object)->spec;
	if (i < s->nlocalqueues)
		*ret = (struct named){s->localqueues[i], {i, 0}, NULL, NULL};
	return i < s->nlocalqueues;
}

static bool window_of_quota(const void *object, size_t i, struct named *ret)
{
	const struct runpolicy *p = object;
	if (i < p->spec.nquotas)
		*ret = (struct named){
			p->spec.quota[i].window, {i, 0}, p->calendar_ref, p->spec.calendar};
	return i < p->spec.nquotas;
}

static bool flavor_of_quota(const void *object, size_t i, struct named *ret)
{
	const struct runpolicy_spec *s = &((const struct runpolicy *)object)->spec;
	if (i < s->nquotas)
		*ret = (struct named){s->quota[i].flavor, {i, 0}, NULL, NULL};
	return i < s->nquotas;
}

static bool resource_of_quota(const void *object, size_t i, struct named *ret)
{
	const struct runpolicy *p = object;
	if (i < p->spec.nquotas)
		*ret = (struct named){
			p->spec.quota[i].resource, {i, 0}, p, p->spec.quota[i].flavor};
	return i < p->spec.nquotas;
}

/* ---- PricePlans and Budgets ---- */

static bool queue_of_plan(const void *object, size_t i, struct named *ret)
{
	const struct priceplan_spec *s = &((const struct plan *)object)->spec;
	if (i < s->nqueues)
		*ret = (struct named){s->queues[i], {i, 0}, NULL, NULL};
	return i < s->nqueues;
}

static bool resource_of_plan(const void *object, size_t i, struct named *ret)
{
	const struct plan *p = object;
	if (i < p->spec.nbases)
		*ret = (struct named){.name = p->spec.base[i].resource, .within = p};
	return i < p->spec.nbases;
}

static bool flavor_of_plan(const void *object, size_t i, struct named *ret)
{
	const struct priceplan_spec *s = &((const struct plan *)object)->spec;
	if (i < s->nflavors)
		ret->name = s->flavor[i].flavor;
	return i < s->nflavors;
}

static bool calendar_of_rate(const void *object, size_t i, struct named *ret)
{
	const struct plan *p = object;
	if (i < p->spec.nrates)
		*ret = (struct named){
			p->spec.rate[i].calendar, {i, 0}, p->rate[i].calendar_ref, NULL};
	return i < p->spec.nrates;
}

static bool window_of_rate(const void *object, size_t i, struct named *ret)
{
	const struct plan *p = object;
	if (i < p->spec.nrates && *p->spec.rate[i].window)
		*ret = (struct named){p->spec.rate[i].window, {i, 0}, p->rate[i].calendar_ref,
			p->spec.rate[i].calendar};
	return i < p->spec.nrates;
}

static bool queue_of_budget(const void *object, size_t i, struct named *ret)
{
	const struct budget_spec *s = &((const struct budget *)object)->spec;
	ret->name = *s->clusterqueue ? s->clusterqueue : NULL;
	return i == 0;
}

static bool localqueue_of_budget(const void *object, size_t i, struct named *ret)
{
	const struct budget_spec *s = &((const struct budget *)object)->spec;
	if (*s->localqueue)
		*ret = (struct named){.name = s->localqueue, .of = s->localqueue_ns};
	return i == 0;
}

/* ---- What the condition Active tells already ---- */

/* The name that it says is not there, or NULL. */
typedef const char *told_by_active(const struct queue *q, const void *object);

static const char *flavor_told(const struct queue *q, const void *object)
{
	return view_missing_flavor(q, object);
}

static const char *clusterqueue_told(const struct queue *q, const void *object)
{
	return view_missing_clusterqueue(q, object);
}

static const char *calendar_told(const struct queue *q, const void *object)
{
	(void)q;
	return view_missing_calendar(object);
}

static const char *calendar_of_rates_told(const struct queue *q, const void *object)
{
	(void)q;
	return view_missing_calendar_of_rates(object);
}

static const char *queue_told(const struct queue *q, const void *object)
{
	return view_missing_queue(q, object);
}

/* ---- The description ---- */

static const struct {
	enum effect_kind kind;
	const char *field; /* [] stands for an index */
	names_at *at;
	const struct target *target;
	const char *consequence;
	told_by_active *told; /* NULL: its condition Active tells none of these names */
} names[] = {
	{EFFECT_CLUSTERQUEUE, "spec.resourceGroups[].flavors[]", flavor_of_clusterqueue,
		&target_flavor, "nothing starts in this ClusterQueue", flavor_told},
	{EFFECT_COHORT, "spec.resourceGroups", flavor_of_cohort, &target_flavor,
		"nothing can use this quota"},
	{EFFECT_LOCALQUEUE, "spec.clusterQueue", clusterqueue_of_localqueue, &target_clusterqueue,
		"its Jobs wait", clusterqueue_told},
	{EFFECT_RUNPOLICY, "spec.calendar", calendar_of_runpolicy, &target_calendar,
		"nothing starts or is stopped by this", calendar_told},
	{EFFECT_RUNPOLICY, "spec.queues[]", queue_of_runpolicy, &target_clusterqueues,
		"this binds nothing"},
	{EFFECT_RUNPOLICY, "spec.localQueues[]", localqueue_of_runpolicy, &target_localqueues,
		"this binds nothing"},
	{EFFECT_RUNPOLICY, "spec.quota[].window", window_of_quota, &target_window,
		"this is never the quota"},
	{EFFECT_RUNPOLICY, "spec.quota[].flavor", flavor_of_quota, &target_flavor,
		"this is never the quota"},
	{EFFECT_RUNPOLICY, "spec.quota[].resource", resource_of_quota, &target_quota,
		"this is never the quota"},
	{EFFECT_PRICEPLAN, "spec.queues[]", queue_of_plan, &target_clusterqueues,
		"this prices nothing"},
	{EFFECT_PRICEPLAN, "spec.base", resource_of_plan, &target_price, "nothing has this price"},
	{EFFECT_PRICEPLAN, "spec.flavors", flavor_of_plan, &target_flavor,
		"nothing has this factor"},
	{EFFECT_PRICEPLAN, "spec.rates[].calendar", calendar_of_rate, &target_calendar,
		"this rate never counts", calendar_of_rates_told},
	{EFFECT_PRICEPLAN, "spec.rates[].window", window_of_rate, &target_window,
		"this rate never counts"},
	{EFFECT_BUDGET, "spec.queue", queue_of_budget, &target_clusterqueue, "nothing is counted",
		queue_told},
	{EFFECT_BUDGET, "spec.localQueue", localqueue_of_budget, &target_localqueue,
		"nothing is counted", queue_told},
};

static void add_field(struct text *t, const char *field, const struct named *n)
{
	size_t k = 0;
	for (const char *at; k < 2 && (at = strstr(field, "[]")); field = at + 2)
		text_add(t, "%.*s[%zu]", (int)(at - field), field, n->index[k++]);
	text_add(t, "%s: ", field);
}

static bool is_told(struct faults *f, const char *told, const char *name)
{
	bool is = told && strcmp(told, name) == 0;
	f->told_by_active |= is;
	return is;
}

static void judge_row(struct faults *f, size_t row, const void *object)
{
	const struct target *target = names[row].target;
	const char *told = names[row].told ? names[row].told(f->q, object) : NULL;
	struct named n = {0};
	for (size_t i = 0; names[row].at(object, i, &n); i++, n = (struct named){0}) {
		if (!n.name || target->found(f->q, &n) || is_told(f, told, n.name) ||
			!faults_add(f, "NameNotFound"))
			continue;
		add_field(f->text, names[row].field, &n);
		target->say_missing(&n, f->text);
		target_suggest(target, f->q, &n, f->text);
		text_add(f->text, ", %s", names[row].consequence);
	}
}

void names_judge(struct faults *f, enum effect_kind kind, const void *object)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].kind == kind)
			judge_row(f, i, object);
}
