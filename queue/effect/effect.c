/*
 * Effect: what of a spec has none, so that its author is told.
 *
 *   names     that find nothing: names[] lists what each kind may name, features/targets.h knows how a name of
 *             each kind is found, and which one its author may have meant. What the condition Active says
 *             is not there is told there alone
 *   settings  that nothing heeds: settings[] has a judge for each
 *
 * What is said is worked out of the facts when it is asked for, and nothing is kept. So the order in
 * which objects come and go does not matter: a name is found as soon as there is what it names.
 *
 * None of it decides anything. What does (a ClusterQueue without its flavor is inactive) is decided
 * where that is read.
 *
 * When a field that names something is added: a row in names[], and where it names another kind of
 * object than the others a target. When a setting needs another one to have an effect: a row in
 * settings[].
 */
#include <string.h>

#include "queue/core/model/state.h"
#include "queue/explain/explain.h"
#include "queue/explain/view.h"
#include "queue/job/text.h"
#include "queue/features/nodes/nodes_to_come.h"
#include "queue/features/targets.h"
#include "sluice/quantity.h"
#include "queue/features/money/budget.h"
#include "queue/features/money/plan.h"
#include "queue/features/windows/runpolicy.h"
#include "queue/features/nodes/node_suitability.h"

enum { EFFECT_FAULTS_TOLD = 3 }; /* the others are counted */

/* The faults of one object, while they are written down. */
struct faults {
	struct queue *q;
	struct text *text;
	const char *reason; /* of the first; NULL: there is none */
	size_t n;
	bool told_by_active; /* a name that finds nothing is left to the condition Active */
};

/* One more, of this reason. True: its sentence is to be added to the text. */
static bool faults_add(struct faults *f, const char *reason)
{
	if (f->n++ == 0)
		f->reason = reason;
	if (f->n > EFFECT_FAULTS_TOLD)
		return false;
	if (f->n > 1)
		text_add(f->text, "; ");
	return true;
}

/* The i-th name that a field of the object has; false past the last. */
typedef bool names_at(const void *object, size_t i, struct named *ret);

/* ---- Names that find nothing: of ClusterQueues, Cohorts, LocalQueues ---- */

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
	(void)q;
	return view_missing_flavor(object);
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

/* ---- What each kind may name ---- */

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
		"this entry has no effect"},
	{EFFECT_RUNPOLICY, "spec.localQueues[]", localqueue_of_runpolicy, &target_localqueues,
		"this entry has no effect"},
	{EFFECT_RUNPOLICY, "spec.quota[].window", window_of_quota, &target_window,
		"this quota never applies"},
	{EFFECT_RUNPOLICY, "spec.quota[].flavor", flavor_of_quota, &target_flavor,
		"this quota never applies"},
	{EFFECT_RUNPOLICY, "spec.quota[].resource", resource_of_quota, &target_quota,
		"this quota never applies"},
	{EFFECT_PRICEPLAN, "spec.queues[]", queue_of_plan, &target_clusterqueues,
		"this entry has no effect"},
	{EFFECT_PRICEPLAN, "spec.base", resource_of_plan, &target_price,
		"no Job is charged this price"},
	{EFFECT_PRICEPLAN, "spec.flavors", flavor_of_plan, &target_flavor,
		"this factor never applies"},
	{EFFECT_PRICEPLAN, "spec.rates[].calendar", calendar_of_rate, &target_calendar,
		"this rate never applies", calendar_of_rates_told},
	{EFFECT_PRICEPLAN, "spec.rates[].window", window_of_rate, &target_window,
		"this rate never applies"},
	{EFFECT_BUDGET, "spec.queue", queue_of_budget, &target_clusterqueue, "nothing is charged",
		queue_told},
	{EFFECT_BUDGET, "spec.localQueue", localqueue_of_budget, &target_localqueue,
		"nothing is charged", queue_told},
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
		text_add(f->text, ", so %s", names[row].consequence);
	}
}

static void names_judge(struct faults *f, enum effect_kind kind, const void *object)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].kind == kind)
			judge_row(f, i, object);
}

/* ---- Settings that nothing heeds, or that cannot be meant: namespaces ---- */

static void judge_selector(struct faults *f, const void *object)
{
	const struct clusterqueue *cq = object;
	const struct nspace *ns;
	bool any = false;
	map_each(&f->q->localqueues.namespaces, i, ns) {
		if (ns->exists && clusterqueue_selects(cq, ns))
			return;
		any |= ns->exists;
	}
	if (cq->spec.has_namespace_selector && !any)
		return; /* none has been read */
	if (faults_add(f, "WithoutEffect"))
		text_add(f->text,
			"spec.namespaceSelector selects no namespace, so no Job can wait here; %s",
			cq->spec.has_namespace_selector ? "label a namespace or change it"
							: "set it ({} selects all)");
}

static void judge_selected(struct faults *f, const void *object)
{
	const struct localqueue *lq = object;
	if (lq->gate == GATE_NOT_SELECTED && faults_add(f, "WithoutEffect"))
		explain_not_selected(lq, f->text);
}

/* ---- Weights ---- */

static void judge_weight(struct faults *f, double weight)
{
	if (weight != 1 && !f->q->config.fair_sharing && faults_add(f, "WithoutEffect"))
		text_add(f->text,
			"spec.fairSharing.weight has no effect without the controller's --fair-sharing");
}

static void judge_clusterqueue_weight(struct faults *f, const void *object)
{
	judge_weight(f, ((const struct clusterqueue *)object)->spec.weight);
}

static void judge_cohort_weight(struct faults *f, const void *object)
{
	judge_weight(f, ((const struct cohort *)object)->weight);
}

static void judge_localqueue_weight(struct faults *f, const void *object)
{
	const struct localqueue *lq = object;
	if (lq->weight != 1 && lq->cq->exists && !lq->cq->spec.orders_by_usage &&
		faults_add(f, "WithoutEffect"))
		text_add(f->text,
			"spec.fairSharing.weight has no effect, for ClusterQueue %s does not order by usage (spec.admissionScope.admissionMode)",
			lq->cq->name);
}

/* ---- Quotas ---- */

#define MIB (INT64_C(1) << 20)

/* A quantity without a suffix is in bytes, and no pod does with so few. */
static void judge_bytes(struct faults *f, const struct quota_row *row)
{
	int64_t bytes = row->said.nominal;
	if (!quantity_counts_bytes(row->resource) || bytes <= 0 || bytes >= MIB ||
		!faults_add(f, "WithoutEffect"))
		return;
	text_add(f->text,
		"spec.resourceGroups: nominalQuota of %s in flavor %s is %lld bytes, in which no Job fits; write a unit, such as 160Gi",
		row->resource, row->flavor, (long long)bytes);
}

/* As long as one node more, as large as the largest, would do, one is perhaps being replaced. Devices
 * of nodes are not counted. */
static void judge_nodes(struct faults *f, const struct quota_row *row)
{
	const struct flavor *flavor = flavor_find(&f->q->flavors, row->flavor);
	int64_t all, largest;
	if (!f->q->node_suitability->known || !flavor || !flavor->exists ||
		flavor->lending != LENDING_NONE || nodes_to_come_of(flavor) ||
		nodes_devices_may_have(f->q->node_suitability->nodes, row->resource))
		return;
	nodes_sum(f->q->node_suitability->nodes, flavor->nodes.labels, flavor->nodes.nlabels,
		row->resource, &all, &largest);
	if (row->said.nominal <= quantity_add(all, largest) || !faults_add(f, "WithoutEffect"))
		return;
	text_add(f->text,
		"spec.resourceGroups: nominalQuota in flavor %s is %s, but its nodes have %s together; lower it, or set spec.nodes of the ResourceFlavor to Autoscaled if more can be made",
		row->flavor, amount_words(row->said.nominal, row->resource).s,
		number_words(all, row->resource).s);
}

static void judge_quota(struct faults *f, const struct quota_node *node)
{
	for (size_t i = 0; i < node->nrows; i++)
		if (node->row[i]->in_spec) {
			judge_bytes(f, node->row[i]);
			judge_nodes(f, node->row[i]);
		}
}

static void judge_clusterqueue_quota(struct faults *f, const void *object)
{
	judge_quota(f, ((const struct clusterqueue *)object)->node);
}

static void judge_cohort_quota(struct faults *f, const void *object)
{
	judge_quota(f, ((const struct cohort *)object)->node);
}

/* ---- Which settings are judged ---- */

static const struct {
	enum effect_kind kind;
	void (*judge)(struct faults *f, const void *object);
} settings[] = {
	{EFFECT_CLUSTERQUEUE, judge_selector},
	{EFFECT_CLUSTERQUEUE, judge_clusterqueue_quota},
	{EFFECT_CLUSTERQUEUE, judge_clusterqueue_weight},
	{EFFECT_COHORT, judge_cohort_quota},
	{EFFECT_COHORT, judge_cohort_weight},
	{EFFECT_LOCALQUEUE, judge_selected},
	{EFFECT_LOCALQUEUE, judge_localqueue_weight},
};

static void settings_judge(struct faults *f, enum effect_kind kind, const void *object)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		if (settings[i].kind == kind)
			settings[i].judge(f, object);
}

/* ---- One object ---- */

/* NULL: it is not there, is being deleted, or no spec of it is in force. */
static const void *find_object(
	const struct queue *q, enum effect_kind kind, const char *ns, const char *name)
{
	switch (kind) {
	case EFFECT_CLUSTERQUEUE: {
		const struct clusterqueue *cq = clusterqueue_find(&q->clusterqueues, name);
		return cq && cq->exists && !cq->deleting ? cq : NULL;
	}
	case EFFECT_LOCALQUEUE: {
		const struct localqueue *lq = localqueue_find(&q->localqueues, ns, name);
		return lq && lq->exists && !lq->deleting ? lq : NULL;
	}
	case EFFECT_COHORT: {
		const struct cohort *c = cohort_find(&q->cohorts, name);
		return c && c->exists ? c : NULL;
	}
	case EFFECT_RUNPOLICY: {
		const struct runpolicy *p = runpolicy_find(q, name);
		return p && p->spec.name && !p->spec.deleting ? p : NULL;
	}
	case EFFECT_PRICEPLAN: {
		const struct plan *p = plan_find(q, name);
		return p && p->spec.name && !p->spec.deleting ? p : NULL;
	}
	case EFFECT_BUDGET: {
		const struct budget *b = budgets_find(q, name);
		return b && b->spec.name && !b->spec.deleting ? b : NULL;
	}
	}
	return NULL;
}

void queue_view_effect(const struct queue *q, enum effect_kind kind, const char *ns,
	const char *name, struct condition_view *ret)
{
	struct text text = text_over(ret->message, sizeof(ret->message));
	struct faults f = {.q = view_working(q), .text = &text};
	const void *object = find_object(q, kind, ns, name);
	if (object) {
		names_judge(&f, kind, object);
		settings_judge(&f, kind, object);
	}
	ret->ok = f.n == 0;
	ret->reason = ret->ok ? "Effective" : f.reason;
	if (ret->ok)
		text_add(&text,
			f.told_by_active
				? "no other problem found: for the first, see the condition Active"
				: "no problem found: every field of spec is used");
	else if (f.n > EFFECT_FAULTS_TOLD)
		text_add(&text, "; and %zu more", f.n - EFFECT_FAULTS_TOLD);
}
