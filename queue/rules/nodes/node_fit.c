#include "queue/rules/nodes/node_fit.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/core.h"
#include "queue/rules/nodes/started_pod.h"
#include "queue/model/reservation.h"
#include "queue/tell.h"

bool node_fit_asks(const struct queue *q, const struct clusterqueue *cq, const struct workload *w)
{
	return q->node_suitability.asks && w->shape->template && w->shape->pods > 0 &&
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
	int32_t places = nodes_room_without(q->node_suitability.nodes, &pod, pods, gone, ngone);
	arena_done(&scratch);
	return places;
}

static size_t flavors_chosen(const struct clusterqueue *cq, const struct claim *claim,
	const struct choice *choice, const struct flavor *ret[CQ_GROUPS_MAX])
{
	size_t n = 0, needs;
	for (size_t g = 0; g < cq->spec.ngroups; g++) {
		claim_needs(claim, g, &needs);
		if (needs > 0)
			ret[n++] = cq->spec.groups[g].flavors[choice->flavor[g]];
	}
	return n;
}

/* The queue is looked at again when space comes free. */
static void lacks(struct queue *q, struct clusterqueue *cq)
{
	if (!list_in(&cq->lacks_nodes))
		list_add(&q->node_suitability.lacking, &cq->lacks_nodes);
}

int32_t node_fit_pods(
	struct queue *q, const struct nominee *e, const struct victim *victims, size_t n)
{
	const struct flavor *flavors[CQ_GROUPS_MAX];
	if (!node_fit_asks(q, e->cq, e->w))
		return e->choice.pods;
	if (!q->node_suitability.pods_known) {
		lacks(q, e->cq);
		return 0;
	}
	size_t nflavors = flavors_chosen(e->cq, &e->group->claim, &e->choice, flavors);
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

bool node_fit_lets(struct queue *q, const struct nominee *e, const struct victim *victims, size_t n)
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

enum node_fit node_fit_for_promise(struct queue *q, const struct reservation *r)
{
	enum node_fit found = NODE_FIT_NONE;
	if (!node_fit_asks(q, r->cq, r->w) || !r->shape->template)
		return NODE_FIT_NOW;
	if (q->node_suitability.pods_known) {
		size_t ngoing;
		struct uid *going = going_for(q, r, &ngoing);
		const struct flavor **flavors = mem_array(r->nlines, sizeof(const struct flavor *));
		struct start_of start = {r->shape->template, flavors,
			directives_flavors(q, r, flavors), r->cq, r->lq};
		if (room_for(q, &start, r->pods, going, 1) >= r->pods)
			found = NODE_FIT_NOW;
		else if (ngoing > 1 && room_for(q, &start, r->pods, going, ngoing) >= r->pods)
			found = NODE_FIT_SOON;
		free(flavors);
		free(going);
	}
	if (found != NODE_FIT_NOW)
		lacks(q, r->cq);
	return found;
}

bool node_fit_elsewhere(const struct queue *q, const struct reservation *r,
	const struct claim *claim, const struct choice *choice)
{
	const struct flavor *flavors[CQ_GROUPS_MAX];
	if (!node_fit_asks(q, r->cq, r->w))
		return true;
	struct start_of start = {r->w->shape->template, flavors,
		flavors_chosen(r->cq, claim, choice, flavors), r->cq, r->lq};
	return room_for(q, &start, choice->pods, &r->w->key.uid, 1) >= choice->pods;
}

int32_t node_fit_growth(struct queue *q, const struct reservation *r, int32_t more)
{
	int32_t pods = 0;
	if (!node_fit_asks(q, r->cq, r->w) || !r->shape->template)
		return more;
	if (q->node_suitability.pods_known) {
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
		if (assign_group(cq, claim, g, &choice.flavor[g]) != ASSIGN_FITS)
			return -1;
	struct start_of start = {w->shape->template, flavors,
		flavors_chosen(cq, claim, &choice, flavors), cq, w->lq};
	int32_t places = room_for(q, &start, choice.pods, NULL, 0);
	if (places >= choice.pods && q->node_suitability.pods_known)
		return -1;
	struct arena scratch = {0};
	struct pod pod = pod_of(&scratch, &start);
	nodes_fit_beside(q->node_suitability.nodes, &pod, places, ret);
	arena_done(&scratch);
	return places;
}

/* ---- Pods to come ---------------------------------------------------------------------------- */

void node_fit_expect(struct queue *q, const struct reservation *r)
{
	const struct pod_template *template = r->shape->template;
	if (!q->node_suitability.expects || !template)
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
	nodes_expect(q->node_suitability.nodes, &r->w->key.uid, &pod, pods);
	arena_done(&scratch);
	free(flavors);
}

void node_fit_forget(struct queue *q, const struct reservation *r)
{
	nodes_expect(q->node_suitability.nodes, &r->w->key.uid, NULL, 0);
}

bool queue_wants_pods(const struct queue *q)
{
	return q->node_suitability.asking > 0 || q->gap_fillers > 0;
}

static void expect_each(struct queue *q, const struct link *reservations, bool expects)
{
	list_each(reservations, l) {
		const struct reservation *r = container_of(l, struct reservation, of_clusterqueue);
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
	q->node_suitability.expects = expects;
	for (size_t i = 0; i < n; i++) {
		expect_each(q, &all[i]->reservations, expects);
		expect_each(q, &all[i]->promised, expects);
	}
	free(all);
}

/* ---- Whether it is asked --------------------------------------------------------------------- */

void node_fit_policy(struct queue *q, enum cluster_fit was, enum cluster_fit is)
{
	must(was != CLUSTER_FIT_NOW || q->node_suitability.asking > 0);
	q->node_suitability.asking -= was == CLUSTER_FIT_NOW;
	q->node_suitability.asking += is == CLUSTER_FIT_NOW;
}

void node_fit_refresh(struct queue *q)
{
	struct node_suitability *t = &q->node_suitability;
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
		queue_touch_reservation(q, cq);
	}
}

/* ---- Facts ----------------------------------------------------------------------------------- */

void queue_bind_pod(struct queue *q, const struct bound_pod *p)
{
	queue_tell(q, BIND_POD, .bound_pod = p);
	nodes_bind(q->node_suitability.nodes, p);
}

void queue_unbind_pod(struct queue *q, const struct uid *uid)
{
	queue_tell(q, UNBIND_POD, .uid = *uid);
	nodes_unbind(q->node_suitability.nodes, uid);
}

void queue_know_pods(struct queue *q, bool known)
{
	struct node_suitability *t = &q->node_suitability;
	if (known != t->pods_known)
		queue_tell(q, KNOW_PODS, .flag = known);
	if (known && !t->pods_known)
		t->vacated = UINT64_MAX; /* queues that wait for it are looked at again */
	t->pods_known = known;
}
