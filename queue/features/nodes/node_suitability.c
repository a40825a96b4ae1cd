#include "queue/features/nodes/node_suitability.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core/admit/combinations.h"
#include "queue/core/model/state.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/directives.h"
#include "queue/core/model/feature.h"
#include "queue/requests/lending.h"
#include "queue/features/nodes/node_fit.h"
#include "queue/features/nodes/nodes_to_come.h"
#include "queue/core/model/tell.h"
#include "queue/features/namespace/namespace_quota.h"

/* With more combinations of flavors than this they are not looked through before the nominee's
 * turn: each flavor is taken to suit. */
#define COMBINATIONS_ASKED 256

void node_suitability_init(struct node_suitability *t)
{
	t->nodes = nodes_new();
	list_init(&t->lacking);
	t->ground = nodes_ground(t->nodes);
}

void node_suitability_done(struct node_suitability *t)
{
	nodes_free(t->nodes);
}

/* ---- The started pod ------------------------------------------------------------------------- */

/* The kind of lending of these flavors: the first that is not LENDING_NONE. */
static enum lending started_pod_lending(const struct flavor *const *flavors, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (flavors[i]->lending != LENDING_NONE)
			return flavors[i]->lending;
	return LENDING_NONE;
}

static bool pod_has_label(const struct pod *p, const char *key)
{
	for (size_t i = 0; i < p->nlabels; i++)
		if (strcmp(p->labels[i].key, key) == 0)
			return true;
	return false;
}

/* Behind its owner's. */
static void add_labels(struct arena *a, const struct pod_metadata *adds, struct pod *p)
{
	size_t n = p->nlabels;
	struct label *all = arena_take(a, n + adds->nlabels, sizeof(*all));
	for (size_t i = 0; i < n; i++)
		all[i] = p->labels[i];
	for (size_t i = 0; i < adds->nlabels; i++)
		if (!pod_has_label(p, adds->labels[i].key))
			all[n++] = adds->labels[i];
	p->labels = all;
	p->nlabels = n;
}

/* Flavors whose node affinity cannot be joined make no pod, so no node may take it: required node
 * affinity without terms matches none. */
static void join_placement(
	struct arena *a, const struct flavor *const *flavors, size_t n, struct pod *p)
{
	struct placement joined, own = {.node_selector = p->node_selector,
					 .nnode_selector = p->nnode_selector,
					 .tolerations = p->tolerations,
					 .ntolerations = p->ntolerations,
					 .terms = p->terms,
					 .nterms = p->nterms};
	bool whole = directives_join(a, &own, flavors, n, &joined, NULL) == NODE_AFFINITY_JOINED;
	p->node_selector = joined.node_selector;
	p->nnode_selector = joined.nnode_selector;
	p->tolerations = joined.tolerations;
	p->ntolerations = joined.ntolerations;
	p->terms = joined.terms;
	p->nterms = whole ? joined.nterms : 0;
	p->has_terms = p->has_terms || !whole || joined.nterms > 0;
}

struct pod started_pod_of(struct arena *a, const struct pod *p, const struct flavor *const *flavors,
	size_t n, const struct clusterqueue *cq, const struct localqueue *lq)
{
	struct pod out = *p;
	struct pod_metadata adds;
	join_placement(a, flavors, n, &out);
	if (pod_is_sociable(p)) {
		directives_metadata(a, flavors, n, cq, lq, &adds);
		if (adds.nlabels > 0)
			add_labels(a, &adds, &out);
	}
	lending_rename(a, started_pod_lending(flavors, n), &out.resources);
	return out;
}

/* ---- Kept answers ---------------------------------------------------------------------------- */

struct verdict {
	struct template_answer answer; /* of pod_template.answers */
	bool never;
	size_t nflavors;
	const struct flavor *flavor[];
};

static struct verdict *verdict_at(struct template_answer *a)
{
	return a ? container_of(a, struct verdict, answer) : NULL;
}

static struct verdict *verdict_next(const struct verdict *v)
{
	return verdict_at(v->answer.next);
}

/* tolerant: as if the pod tolerated every taint. */
static void answer_of(const struct node_suitability *t, const struct pod_template *template,
	const struct flavor *const *flavors, size_t n, bool tolerant, struct fit_answer *ret)
{
	static const struct toleration every = {
		.key = "", .value = "", .op = TOLERATION_EXISTS, .effect = TAINT_ANY};
	struct arena scratch = {0};
	enum lending l = started_pod_lending(flavors, n);
	struct pod pod = started_pod_of(&scratch, template->pod, flavors, n, NULL, NULL);
	/* What nodes lend changes with use, down to 0, so it is no "never". The most that a pod may
	 * ask for of it is in the pool (queue_set_idle_pool). */
	if (l != LENDING_NONE)
		pod.resources = (struct pod_resources){
			.runtime_class = template->pod->resources.runtime_class};
	if (tolerant) {
		pod.tolerations = &every;
		pod.ntolerations = 1;
	}
	nodes_fit(t->nodes, &pod, ret);
	arena_done(&scratch);
}

void node_suitability_answer(const struct node_suitability *t, const struct pod_template *template,
	const struct flavor *const *flavors, size_t n, struct fit_answer *ret)
{
	struct fit_answer tolerant;
	answer_of(t, template, flavors, n, false, ret);
	if (!ret->has_taints)
		return;
	answer_of(t, template, flavors, n, true, &tolerant);
	ret->has_taints = tolerant.fit != FIT_NEVER;
}

static bool ask(const struct node_suitability *t, const struct pod_template *template,
	const struct flavor *const *flavors, size_t n)
{
	struct fit_answer answer;
	answer_of(t, template, flavors, n, false, &answer);
	return answer.fit == FIT_NEVER;
}

static struct verdict *verdict_of(
	const struct pod_template *template, const struct flavor *const *flavors, size_t n)
{
	for (struct verdict *one = verdict_at(template->answers); one; one = verdict_next(one))
		if (one->nflavors == n &&
			(n == 0 || memcmp(one->flavor, flavors, n * sizeof(*flavors)) == 0))
			return one;
	return NULL;
}

static bool never(const struct node_suitability *t, struct pod_template *template,
	const struct flavor *const *flavors, size_t n)
{
	struct verdict *v = verdict_of(template, flavors, n);
	if (v)
		return v->never;
	v = mem_alloc(sizeof(*v) + n * sizeof(v->flavor[0]));
	v->nflavors = n;
	for (size_t i = 0; i < n; i++)
		v->flavor[i] = flavors[i];
	v->never = ask(t, template, flavors, n);
	v->answer.next = template->answers;
	template->answers = &v->answer;
	return v->never;
}

/* The nodes are asked in either case, so that the answer is kept, and asked for again. */
bool node_suitability_never(const struct node_suitability *t, const struct clusterqueue *cq,
	struct pod_template *template, const struct flavor *const *flavors, size_t n)
{
	return never(t, template, flavors, n) && !(cq->spec.cluster_fit == CLUSTER_FIT_POSSIBLE &&
							 nodes_to_come_for(template, flavors, n));
}

static bool verdict_names(const struct verdict *v, const struct flavor *f)
{
	for (size_t i = 0; i < v->nflavors; i++)
		if (v->flavor[i] == f)
			return true;
	return false;
}

static void verdicts_forget(struct pod_template *t, const struct flavor *f)
{
	for (struct template_answer **at = &t->answers; *at;) {
		struct verdict *one = verdict_at(*at);
		if (!verdict_names(one, f)) {
			at = &(*at)->next;
			continue;
		}
		*at = one->answer.next;
		free(one);
	}
}

void node_suitability_forget_flavor(struct queue *q, const struct flavor *f)
{
	q->node_suitability->edited = true;
	list_each_entry(&q->shapes.templates.all, struct pod_template, t, of_all)
		verdicts_forget(t, f);
}

/* ---- Claims ---------------------------------------------------------------------------------- */

bool node_suitability_asks(
	const struct node_suitability *t, const struct clusterqueue *cq, const struct shape *shape)
{
	return t->asks && shape->template && shape->pods > 0 &&
	       cq->spec.cluster_fit != CLUSTER_FIT_IGNORE;
}

/* Begins with the first combination of flavors that suit, or would but for the nodes. False: there is
 * none, or there are too many to go through. */
static bool first_asked(struct combination *k, const struct clusterqueue *cq, const struct claim *c)
{
	uint64_t among[CQ_GROUPS_MAX];
	size_t ways = 1;
	for (size_t g = 0; g < cq->spec.ngroups; g++)
		among[g] = c->suits[g] | c->never[g];
	if (!combination_first(k, cq, c, among))
		return false;
	for (size_t g = 0; g < cq->spec.ngroups && ways <= COMBINATIONS_ASKED; g++)
		ways *= (size_t)__builtin_popcountll(k->among[g]);
	return ways <= COMBINATIONS_ASKED;
}

bool node_suitability_way(const struct clusterqueue *cq, const struct claim *c, size_t index,
	const struct flavor *ret[], size_t *ret_n)
{
	struct combination k;
	if (!first_asked(&k, cq, c))
		return false;
	for (size_t i = 0; i < index; i++)
		if (!combination_next(&k))
			return false;
	*ret_n = claim_flavors(cq, c, k.flavor, ret);
	return true;
}

/* Is each of its flavors known to suit, together with some others? */
static bool is_settled(const struct combination *k, const uint64_t *possible)
{
	for (size_t g = 0; g < k->cq->spec.ngroups; g++)
		if (!(possible[g] >> k->flavor[g] & 1))
			return false;
	return true;
}

/* possible: of each group the flavors of all combinations that some node could take. True: there is
 * one. */
static bool find_possible(const struct node_suitability *t, struct pod_template *template,
	struct combination *k, uint64_t *possible)
{
	bool any = false;
	do {
		const struct flavor *flavors[CQ_GROUPS_MAX];
		size_t n = claim_flavors(k->cq, k->claim, k->flavor, flavors);
		if ((any && is_settled(k, possible)) ||
			node_suitability_never(t, k->cq, template, flavors, n))
			continue;
		any = true;
		for (size_t g = 0; g < k->cq->spec.ngroups; g++)
			possible[g] |= (uint64_t)1 << k->flavor[g];
	} while (combination_next(k));
	return any;
}

void node_suitability_narrow(const struct node_suitability *t, const struct clusterqueue *cq,
	const struct shape *shape, struct claim *c)
{
	struct combination k;
	uint64_t possible[CQ_GROUPS_MAX] = {0};
	if (!node_suitability_asks(t, cq, shape) || !first_asked(&k, cq, c))
		return;
	c->nowhere = !find_possible(t, shape->template, &k, possible);
	for (size_t g = 0; g < cq->spec.ngroups; g++) {
		size_t needs;
		claim_needs(c, g, &needs);
		if (needs == 0)
			continue;
		c->never[g] = c->suits[g] & ~possible[g];
		c->suits[g] = possible[g];
	}
}

/* ---- Nodes that change ----------------------------------------------------------------------- */

/* For one of its flavors a node can be made now, or need not be any more. */
static bool pool_moved(const struct verdict *v)
{
	for (size_t i = 0; i < v->nflavors; i++)
		if (v->flavor[i]->pool_moved)
			return true;
	return false;
}

/* True: some answer has changed. */
static bool ask_again(const struct node_suitability *t, const struct pod_template *template)
{
	bool moved = false;
	struct verdict *v = verdict_at(template->answers);
	for (; v; v = verdict_next(v)) {
		bool never = ask(t, template, v->flavor, v->nflavors);
		moved = moved || never != v->never || (never && pool_moved(v));
		v->never = never;
	}
	return moved;
}

/* Returns whether r has pods that no node could take any more. */
static bool is_lost(const struct queue *q, const struct reservation *r)
{
	const struct flavor **flavors = mem_array(r->nlines, sizeof(const struct flavor *));
	size_t n = directives_flavors(q, r, flavors);
	bool lost =
		node_suitability_asks(q->node_suitability, r->cq, r->shape) &&
		node_suitability_never(q->node_suitability, r->cq, r->shape->template, flavors, n);
	free(flavors);
	return lost;
}

/* all: not only of templates with another answer. */
static void break_lost_promises(struct queue *q, struct clusterqueue *cq, bool all)
{
	struct link *next;
	for (struct link *l = cq->promised.next; l != &cq->promised; l = next) {
		struct reservation *r = container_of(l, struct reservation, of_clusterqueue);
		next = l->next;
		if (r->shape->template && (all || r->shape->template->moved) && is_lost(q, r))
			reservation_break_promise(q, r);
	}
}

static void judge_anew(struct queue *q)
{
	for (struct tree_node *n = tree_first(&q->clusterqueues.shown); n; n = tree_next(n)) {
		struct clusterqueue *cq = container_of(n, struct clusterqueue, by_name);
		if (groups_rederive_moved(&q->groups, cq))
			queue_touch(q, cq);
		break_lost_promises(q, cq, false);
	}
	q->counters.version++;
}

/* What was promised in a flavor as it was before. */
static void break_outdated_promises(struct queue *q)
{
	if (!q->node_suitability->edited)
		return;
	q->node_suitability->edited = false;
	for (struct tree_node *n = tree_first(&q->clusterqueues.shown); n; n = tree_next(n))
		break_lost_promises(q, container_of(n, struct clusterqueue, by_name), true);
}

static void ask_nodes_again(struct queue *q)
{
	struct node_suitability *t = q->node_suitability;
	bool asks = t->known && nodes_count(t->nodes) > 0, turned = asks != t->asks, any = turned;
	if (t->ground == nodes_ground(t->nodes) && !turned)
		return;
	t->ground = nodes_ground(t->nodes);
	t->asks = asks;
	if (asks)
		feature_wakes(q, &nodes_feature);
	nodes_to_come_judge_all(t->nodes, &q->flavors);
	if (turned)
		features_edited(q);
	list_each_entry(&q->shapes.templates.all, struct pod_template, template, of_all) {
		template->moved = (asks && ask_again(t, template)) || turned;
		any = any || template->moved;
	}
	if (any)
		judge_anew(q);
}

void node_suitability_refresh(struct queue *q)
{
	ask_nodes_again(q);
	break_outdated_promises(q);
}

/* ---- Facts ----------------------------------------------------------------------------------- */

void queue_know_cluster(struct queue *q)
{
	queue_tell(q, KNOW_CLUSTER);
	q->node_suitability->known = true;
	namespace_quotas_know(q);
}

void queue_set_node(struct queue *q, const struct node_spec *s)
{
	if (nodes_set(q->node_suitability->nodes, s))
		queue_tell(q, SET_NODE, .node = s);
}

void queue_drop_node(struct queue *q, const char *name)
{
	queue_tell(q, DROP_NODE, .name = name);
	nodes_drop(q->node_suitability->nodes, name);
}

void queue_set_device_class(struct queue *q, const struct device_class_spec *s)
{
	if (nodes_set_device_class(q->node_suitability->nodes, s))
		queue_tell(q, SET_DEVICE_CLASS, .device_class = s);
}

void queue_drop_device_class(struct queue *q, const char *name)
{
	if (nodes_drop_device_class(q->node_suitability->nodes, name))
		queue_tell(q, DROP_DEVICE_CLASS, .name = name);
}

void queue_know_device_classes(struct queue *q, bool known)
{
	if (nodes_know_device_classes(q->node_suitability->nodes, known))
		queue_tell(q, KNOW_DEVICE_CLASSES, .flag = known);
}
