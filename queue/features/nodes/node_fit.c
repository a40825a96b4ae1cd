#include "queue/features/nodes/node_fit.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/core/admit/nominee.h"
#include "queue/cluster/pod.h"
#include "queue/core/model/state.h"
#include "queue/core/model/reservation.h"
#include "queue/core/preempt/victims.h"
#include "queue/core/model/directives.h"
#include "queue/features/nodes/node_suitability.h"
#include "queue/core/model/feature.h"
#include "queue/core/model/tell.h"
#include "queue/features/nodes/nodes_to_come.h"

/* Returns whether space on nodes is asked for w in cq. */
static bool node_fit_asks(
	const struct queue *q, const struct clusterqueue *cq, const struct workload *w)
{
	return q->node_suitability->asks && w->shape->template && w->shape->pods > 0 &&
	       (cq->spec.cluster_fit == CLUSTER_FIT_NOW || workload_fills_gaps(w));
}

/* ---- Is there space? ------------------------------------------------------------------------- */

/* What a start makes of a template. */
struct start_of {
	const struct pod_template *template;
	const struct flavor *const *flavors;
	size_t n;
	const struct clusterqueue *cq;
	const struct localqueue *lq;
};

static struct pod pod_of(struct arena *a, const struct start_of *s)
{
	return started_pod_of(a, s->template->pod, s->flavors, s->n, s->cq, s->lq);
}

/* How many such pods fit. */
static int32_t room_for(const struct queue *q, const struct start_of *s, int32_t pods,
	const struct uid *gone, size_t ngone)
{
	struct arena scratch = {0};
	struct pod pod = pod_of(&scratch, s);
	int32_t places = nodes_room_without(q->node_suitability->nodes, &pod, pods, gone, ngone);
	arena_done(&scratch);
	return places;
}

/* The queue is looked at again when space comes free. */
static void lacks(struct queue *q, struct clusterqueue *cq)
{
	if (!list_in(&cq->lacks_nodes))
		list_add(&q->node_suitability->lacking, &cq->lacks_nodes);
}

/* How many pods of the nominee's choice fit once its victims are gone; all, if it is not asked. */
static int32_t node_fit_pods(
	struct queue *q, const struct nominee *e, const struct victim *victims, size_t n)
{
	const struct flavor *flavors[CQ_GROUPS_MAX];
	if (!node_fit_asks(q, e->cq, e->w))
		return e->choice.pods;
	if (!q->node_suitability->pods_known) {
		lacks(q, e->cq);
		return 0;
	}
	size_t nflavors = claim_flavors(e->cq, &e->group->claim, e->choice.flavor, flavors);
	struct uid *gone = mem_array(n, sizeof(*gone));
	for (size_t i = 0; i < n; i++)
		gone[i] = victims[i].reservation->w->key.uid;
	struct start_of start = {e->group->shape->template, flavors, nflavors, e->cq, e->w->lq};
	int32_t pods = room_for(q, &start, e->choice.pods, gone, n);
	free(gone);
	if (pods < e->choice.pods)
		lacks(q, e->cq);
	return pods;
}

/* Do all pods of the nominee's choice fit once its victims are gone? They do if it is not asked. */
static bool node_fit_lets(
	struct queue *q, const struct nominee *e, const struct victim *victims, size_t n)
{
	return node_fit_pods(q, e, victims, n) >= e->choice.pods;
}

/* The uids of its own expected pods and of its victims'. But not of a victim that has started anew
 * since: that may run for long. */
static struct uid *going_for(const struct queue *q, const struct reservation *r, size_t *ret_n)
{
	size_t n = 0;
	struct uid *going = mem_array(r->ngivers + 1, sizeof(*going));
	going[n++] = r->w->key.uid;
	for (size_t i = 0; i < r->ngivers; i++) {
		const struct workload *w = queue_find_workload(q, &r->giver[i]);
		if (!w || (!w->promise && (!w->reservation ||
						  w->reservation->state == RESERVATION_LEAVING)))
			going[n++] = r->giver[i];
	}
	*ret_n = n;
	return going;
}

/* Do the pods of a promise fit? A victim may have given its quota back while its pods are still on
 * nodes, or before the watch shows that they are gone. */
static enum room node_fit_for_promise(struct queue *q, const struct reservation *r)
{
	enum room found = ROOM_NONE;
	if (!node_fit_asks(q, r->cq, r->w) || !r->shape->template)
		return ROOM_NOW;
	if (q->node_suitability->pods_known) {
		size_t ngoing;
		struct uid *going = going_for(q, r, &ngoing);
		const struct flavor **flavors = mem_array(r->nlines, sizeof(const struct flavor *));
		struct start_of start = {r->shape->template, flavors,
			directives_flavors(q, r, flavors), r->cq, r->lq};
		if (room_for(q, &start, r->pods, going, 1) >= r->pods)
			found = ROOM_NOW;
		else if (ngoing > 1 && room_for(q, &start, r->pods, going, ngoing) >= r->pods)
			found = ROOM_SOON;
		free(flavors);
		free(going);
	}
	if (found != ROOM_NOW)
		lacks(q, r->cq);
	return found;
}

/* Would the pods of a promise fit now if it started with this choice instead? */
static bool node_fit_elsewhere(const struct queue *q, const struct reservation *r,
	const struct claim *claim, const struct choice *choice)
{
	const struct flavor *flavors[CQ_GROUPS_MAX];
	if (!node_fit_asks(q, r->cq, r->w))
		return true;
	struct start_of start = {r->w->shape->template, flavors,
		claim_flavors(r->cq, claim, choice->flavor, flavors), r->cq, r->lq};
	return room_for(q, &start, choice->pods, &r->w->key.uid, 1) >= choice->pods;
}

/* With how many of `more` pods more may the run grow? Its pods that are still to come count. */
static int32_t node_fit_growth(struct queue *q, const struct reservation *r, int32_t more)
{
	int32_t pods = 0;
	if (!node_fit_asks(q, r->cq, r->w) || !r->shape->template)
		return more;
	if (q->node_suitability->pods_known) {
		const struct flavor **flavors = mem_array(r->nlines, sizeof(const struct flavor *));
		struct start_of start = {r->shape->template, flavors,
			directives_flavors(q, r, flavors), r->cq, r->lq};
		pods = room_for(q, &start, more, NULL, 0);
		free(flavors);
	}
	if (pods < more)
		lacks(q, r->cq);
	return pods;
}

int32_t node_fit_shortage(const struct queue *q, struct clusterqueue *cq, const struct workload *w,
	const struct claim *claim, struct fit_answer *ret)
{
	struct choice choice = {.pods = w->shape->min_pods};
	const struct flavor *flavors[CQ_GROUPS_MAX];
	if (!node_fit_asks(q, cq, w))
		return -1;
	for (size_t g = 0; g < cq->spec.ngroups; g++)
		if (plain_fit_group(cq, claim, g, &choice.flavor[g]) != ASSIGN_FITS)
			return -1;
	struct start_of start = {w->shape->template, flavors,
		claim_flavors(cq, claim, choice.flavor, flavors), cq, w->lq};
	int32_t places = room_for(q, &start, choice.pods, NULL, 0);
	if (places >= choice.pods && q->node_suitability->pods_known)
		return -1;
	struct arena scratch = {0};
	struct pod pod = pod_of(&scratch, &start);
	nodes_fit_beside(q->node_suitability->nodes, &pod, places, ret);
	arena_done(&scratch);
	return places;
}

/* ---- Pods to come ---------------------------------------------------------------------------- */

void node_fit_expect(struct queue *q, struct reservation *r)
{
	const struct pod_template *template = r->shape->template;
	if (!q->node_suitability->expects || !template)
		return;
	int32_t pods = reservation_pods_at_once(r);
	if (pods <= 0) {
		node_fit_forget(q, r);
		return;
	}
	struct arena scratch = {0};
	const struct flavor **flavors = mem_array(r->nlines, sizeof(const struct flavor *));
	struct start_of start = {
		template, flavors, directives_flavors(q, r, flavors), r->cq, r->lq};
	struct pod pod = pod_of(&scratch, &start);
	nodes_expect(q->node_suitability->nodes, &r->w->key.uid, &pod, pods);
	arena_done(&scratch);
	free(flavors);
}

void node_fit_forget(struct queue *q, struct reservation *r)
{
	nodes_expect(q->node_suitability->nodes, &r->w->key.uid, NULL, 0);
}

bool queue_wants_pods(const struct queue *q)
{
	return q->node_suitability->asking > 0 || q->gap_fillers > 0;
}

static void expect_each(struct queue *q, const struct link *reservations, bool expects)
{
	list_each_entry(reservations, struct reservation, r, of_clusterqueue) {
		if (expects)
			node_fit_expect(q, r);
		else
			node_fit_forget(q, r);
	}
}

/* Begins or ceases to tell nodes of admitted pods. Those of a ClusterQueue that was deleted, or is
 * not read yet, are among them. */
static void expect_all(struct queue *q, bool expects)
{
	size_t n;
	struct clusterqueue **all = clusterqueues_by_name(&q->clusterqueues, &n);
	q->node_suitability->expects = expects;
	if (expects)
		feature_wakes(q, &nodes_feature);
	for (size_t i = 0; i < n; i++) {
		expect_each(q, &all[i]->reservations, expects);
		expect_each(q, &all[i]->promised, expects);
	}
	free(all);
}

/* ---- Whether it is asked --------------------------------------------------------------------- */

void node_fit_policy(struct queue *q, enum cluster_fit was, enum cluster_fit is)
{
	must(was != CLUSTER_FIT_NOW || q->node_suitability->asking > 0);
	q->node_suitability->asking -= was == CLUSTER_FIT_NOW;
	q->node_suitability->asking += is == CLUSTER_FIT_NOW;
}

void node_fit_refresh(struct queue *q)
{
	struct node_suitability *t = q->node_suitability;
	bool expects = t->known && queue_wants_pods(q);
	if (expects != t->expects)
		expect_all(q, expects);
	if (t->vacated == nodes_vacated(t->nodes))
		return;
	t->vacated = nodes_vacated(t->nodes);
	while (!list_empty(&t->lacking)) {
		struct clusterqueue *cq =
			container_of(t->lacking.next, struct clusterqueue, lacks_nodes);
		list_leave(&cq->lacks_nodes);
		queue_touch_tree_of(q, cq);
	}
}

/* ---- Facts ----------------------------------------------------------------------------------- */

void queue_bind_pod(struct queue *q, const struct bound_pod *p)
{
	queue_tell(q, BIND_POD, .bound_pod = p);
	nodes_bind(q->node_suitability->nodes, p);
}

void queue_unbind_pod(struct queue *q, const struct uid *uid)
{
	queue_tell(q, UNBIND_POD, .uid = *uid);
	nodes_unbind(q->node_suitability->nodes, uid);
}

void queue_know_pods(struct queue *q, bool known)
{
	struct node_suitability *t = q->node_suitability;
	if (known != t->pods_known)
		queue_tell(q, KNOW_PODS, .flag = known);
	if (known && !t->pods_known)
		t->vacated = UINT64_MAX; /* queues that wait for it are looked at again */
	t->pods_known = known;
}

/* ---- The rule of nodes ----------------------------------------------------------------------- */

/* Returns whether nodes are asked. They concern ClusterQueues with clusterFit Ignore, too: gap
 * fillers start only where nodes have space. */
static bool nodes_concern(struct queue *q, struct clusterqueue *cq)
{
	(void)cq;
	return q->node_suitability->asks;
}

static struct ruling nodes_group_may(const struct queue *q, const struct group *g)
{
	(void)q;
	return g->claim.nowhere ? RULING_NO : RULING_YES;
}

/* Labels that a LocalQueue adds may decide where pods go that look at each other (node_fit.h), so
 * its Jobs do not speak for those of others. */
static void nodes_parts(const struct workload *w, struct parting *p)
{
	const struct pod_template *t = w->shape->template;
	if (w->lq->metadata.nlabels > 0 && t && pod_is_sociable(t->pod))
		parting_add(p, w->lq, w->lq->name);
}

/* May the nominee start with its choice, once its victims are gone? */
static bool nodes_choice_may(struct queue *q, const struct proposal *a)
{
	const struct nominee *e = a->nominee;
	const struct shape *shape = e->group->shape;
	const struct flavor *flavors[CQ_GROUPS_MAX];
	if (node_suitability_asks(q->node_suitability, e->cq, shape)) {
		size_t n = claim_flavors(e->cq, &e->group->claim, e->choice.flavor, flavors);
		if (node_suitability_never(q->node_suitability, e->cq, shape->template, flavors, n))
			return false;
	}
	return node_fit_lets(q, e, a->victim, a->nvictims);
}

static bool nodes_look_at_victims(const struct queue *q, const struct nominee *e)
{
	return node_fit_asks(q, e->cq, e->w);
}

static int32_t nodes_choice_pods(struct queue *q, const struct proposal *a)
{
	return node_fit_pods(q, a->nominee, a->victim, a->nvictims);
}

/* Returns whether nodes still have no space for the nominee. */
static bool nodes_in_vain(struct queue *q, const struct nominee *e)
{
	return !node_fit_lets(q, e, NULL, 0);
}

/* If its pods do not fit once all its victims are gone, they were preempted in vain. */
static enum room nodes_promise_room(struct queue *q, const struct reservation *r)
{
	enum room room = node_fit_for_promise(q, r);
	if (room == ROOM_NONE && r->ngivers > 0 && q->node_suitability->pods_known)
		workload_note_vain_displacement(r->w, r->cq->cohort_tree);
	return room;
}

static void nodes_narrow(const struct queue *q, const struct clusterqueue *cq,
	const struct shape *shape, struct claim *c)
{
	node_suitability_narrow(q->node_suitability, cq, shape, c);
}

static void nodes_queue_edited(
	struct queue *q, const struct clusterqueue *cq, const struct clusterqueue_spec *next)
{
	node_fit_policy(q, cq->spec.cluster_fit, next ? next->cluster_fit : CLUSTER_FIT_POSSIBLE);
}

static void nodes_flavor_edited(struct queue *q, struct flavor *f)
{
	if (f->exists)
		nodes_to_come_judge(q->node_suitability->nodes, f);
	autoscalers_judge(q->autoscalers, f);
	node_suitability_forget_flavor(q, f);
}

static void nodes_namespace_edited(
	struct queue *q, const char *name, const struct namespace_spec *s)
{
	if (s)
		nodes_set_namespace(q->node_suitability->nodes, name, s->labels, s->nlabels);
	else
		nodes_drop_namespace(q->node_suitability->nodes, name);
}

static void nodes_runtime_class_edited(
	struct queue *q, const char *name, const struct runtime_class_spec *s)
{
	if (s)
		nodes_set_runtime_class(q->node_suitability->nodes, s);
	else
		nodes_drop_runtime_class(q->node_suitability->nodes, name);
}

/* The labels that a LocalQueue adds to pods. */
static bool nodes_part_otherwise(const struct localqueue *lq,
	const struct localqueue_limits *limits, const struct pod_metadata *metadata)
{
	(void)limits;
	return (lq->metadata.nlabels > 0) != (metadata->nlabels > 0);
}

static void nodes_localqueue_edited(struct queue *q, const struct localqueue *lq)
{
	if (lq->metadata.nlabels > 0)
		feature_wakes(q, &nodes_feature);
}

/* Some node must be able to take the pods at all (node_suitability.h), and with clusterFit Now have
 * room for them now. Nodes without room are a shortage like one of quota: explain.c says so in that
 * place. */
const struct feature nodes_feature = {
	.sleeps = true,
	.concerns = nodes_concern,
	.group_may = nodes_group_may,
	.choice_may = nodes_choice_may,
	.parts = nodes_parts,
	.looks_at_victims = nodes_look_at_victims,
	.choice_pods = nodes_choice_pods,
	.is_in_vain = nodes_in_vain,
	.promise_room = nodes_promise_room,
	.promise_may_choose = node_fit_elsewhere,
	.growth_pods = node_fit_growth,
	.growth_refused = "no node has room for another pod",
	.before = {[RUN_UNPROMISED] = node_fit_forget, [RUN_ENDED] = node_fit_forget},
	.after = {[RUN_PROMISED] = node_fit_expect,
		[RUN_RESERVED] = node_fit_expect,
		[RUN_RESHAPED] = node_fit_expect,
		[RUN_RESIZED] = node_fit_expect},
	.claim_narrow = nodes_narrow,
	.parts_otherwise = nodes_part_otherwise,
	.localqueue_edited = nodes_localqueue_edited,
	.queue_edited = nodes_queue_edited,
	.flavor_edited = nodes_flavor_edited,
	.namespace_edited = nodes_namespace_edited,
	.runtime_class_edited = nodes_runtime_class_edited,
};
