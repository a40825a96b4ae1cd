/* Settings that nothing heeds, or that cannot be meant. */
#include "queue/effect/effect.h"

#include <string.h>

#include "queue/rules/nodes/nodes_to_come.h"
#include "sluice/quantity.h"

#define MIB (INT64_C(1) << 20)

/* ---- Namespaces ---- */

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
	if (cq->spec.has_selector && !any)
		return; /* none has been read */
	if (faults_add(f, "WithoutEffect"))
		text_add(f->text,
			"spec.namespaceSelector selects no namespace, so no Job can wait here; %s",
			cq->spec.has_selector ? "label a namespace or change it"
					      : "set it ({} selects all)");
}

void effect_say_not_selected(const struct localqueue *lq, struct text *t)
{
	const char *cq = lq->cq->name, *ns = lq->ns->name;
	if (!lq->cq->spec.has_selector)
		text_add(t,
			"ClusterQueue %s has no spec.namespaceSelector, which selects nothing; set it ({} selects every namespace)",
			cq);
	else if (!lq->ns->exists)
		text_add(t,
			"namespace %s has not been read yet, so ClusterQueue %s cannot select it",
			ns, cq);
	else
		text_add(t,
			"namespace %s doesn't match the namespaceSelector of ClusterQueue %s; label the namespace or change spec.namespaceSelector",
			ns, cq);
}

static void judge_selected(struct faults *f, const void *object)
{
	const struct localqueue *lq = object;
	if (lq->gate == GATE_NOT_SELECTED && faults_add(f, "WithoutEffect"))
		effect_say_not_selected(lq, f->text);
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
	if (!f->q->node_suitability.known || !flavor || !flavor->exists ||
		flavor->lending != LENDING_NONE || nodes_to_come_of(flavor) ||
		nodes_devices_may_have(f->q->node_suitability.nodes, row->resource))
		return;
	nodes_sum(f->q->node_suitability.nodes, flavor->nodes.labels, flavor->nodes.nlabels,
		row->resource, &all, &largest);
	if (row->said.nominal <= quantity_add(all, largest) || !faults_add(f, "WithoutEffect"))
		return;
	text_add(f->text, "spec.resourceGroups: nominalQuota in flavor %s is ", row->flavor);
	text_add_amount(f->text, row->said.nominal, row->resource);
	text_add(f->text, ", but its nodes have ");
	text_add_number(f->text, all, row->resource);
	text_add(f->text,
		" together; lower it, or set spec.nodes of the ResourceFlavor to Autoscaled if more can be made");
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

/* ---- The description ---- */

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

void settings_judge(struct faults *f, enum effect_kind kind, const void *object)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		if (settings[i].kind == kind)
			settings[i].judge(f, object);
}
