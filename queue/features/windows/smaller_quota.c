#include "queue/features/windows/smaller_quota.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "queue/features/windows/window_quota.h"
#include "queue/features/windows/explain_windows.h"
#include "queue/core/model/shrink.h"
#include "queue/core/model/victim_index.h"
#include "queue/core/preempt/giver.h"
#include "queue/features/windows/window_close.h"
#include "sluice/quantity.h"

void smaller_quota_begins(struct queue *q, struct cohort_tree *tree)
{
	tree->owes_anew = true;
	if (!list_in(&tree->owing))
		list_add(&q->owing, &tree->owing);
}

void smaller_quota_look_again(struct queue *q, struct reservation *r)
{
	struct cohort_tree *tree = r->cq ? r->cq->cohort_tree : NULL;
	if (!tree || !tree->owes)
		return;
	if (!list_in(&tree->owing))
		list_add(&q->owing, &tree->owing);
}

/* ---- What windows have taken ---- */

enum measure {
	LENT,	/* what others may use of a row */
	USABLE, /* what it may use by its own limits */
};

static int64_t measured(
	const struct quota_row *row, const struct quota_limits *l, enum measure measure)
{
	if (measure == LENT)
		return least(l->nominal, l->lending);
	if (!row->up)
		return l->nominal;
	return l->borrowing == QUOTA_UNLIMITED ? QUOTA_UNLIMITED
					       : quantity_add(l->nominal, l->borrowing);
}

/* Returns whether x is the quota that counts for the row in its window. */
static bool may_count(
	const struct runpolicy *p, const struct window_quota_spec *x, const struct quota_row *row)
{
	const struct calendar *c = p->calendar_ref ? p->calendar_ref->calendar : NULL;
	return c && window_quota_in(p, x->window, row) == x && calendar_has_window(c, x->window);
}

/* The most in any window; *ret_set: the first that has so much. Without any it is INT64_MIN. */
static int64_t most_in_windows(const struct clusterqueue *cq, const struct quota_row *row,
	enum measure of, const struct runpolicy **ret_policy,
	const struct window_quota_spec **ret_set)
{
	int64_t most = INT64_MIN;
	for (size_t i = 0; row->in_spec && i < cq->window_state->npolicies; i++) {
		const struct runpolicy *p = cq->window_state->policy[i];
		for (size_t k = 0; k < p->spec.nquotas; k++) {
			const struct window_quota_spec *x = &p->spec.quota[k];
			struct quota_limits l = window_quota_with(row, x);
			if (!may_count(p, x, row) || measured(row, &l, of) <= most)
				continue;
			most = measured(row, &l, of);
			*ret_policy = p;
			*ret_set = x;
		}
	}
	return most;
}

/* By how much it is more at another time than now. */
static int64_t taken(const struct quota_row *row, enum measure of)
{
	const struct runpolicy *p;
	const struct window_quota_spec *x;
	const struct clusterqueue *cq = row->node->owner;
	if (!cq || row->flavor_pool->lent)
		return 0;
	int64_t most = most_in_windows(cq, row, of, &p, &x), now = measured(row, &row->timed, of);
	if (most == INT64_MIN)
		return 0;
	most = greater(most, measured(row, &row->said, of));
	return most <= now ? 0 : most == QUOTA_UNLIMITED ? INT64_MAX : most - now;
}

/* ... by all below the node, of what they lend. *ret_cause: the one of which the most. */
static int64_t taken_below(const struct quota *quota, const struct quota_node *node,
	const struct quota_row *like, const struct quota_row **ret_cause, int64_t *ret_most)
{
	int64_t sum = 0;
	list_each_entry(&node->children, const struct quota_node, n, of_parent) {
		const struct quota_row *row = quota_row_like(quota, n, like);
		int64_t by = row ? taken(row, LENT) : 0;
		if (by > *ret_most) {
			*ret_most = by;
			*ret_cause = row;
		}
		sum = quantity_add(
			sum, quantity_add(by, taken_below(quota, n, like, ret_cause, ret_most)));
	}
	return sum;
}

/* What windows have taken of what may be used at the row's node. */
static int64_t taken_at(
	const struct quota *quota, const struct quota_row *row, const struct quota_row **ret_cause)
{
	int64_t most = 0, below = taken_below(quota, row->node, row, ret_cause, &most);
	int64_t own = taken(row, USABLE);
	if (own > 0)
		*ret_cause = row;
	return quantity_add(own, below);
}

const struct runpolicy *smaller_quota_policy(const struct clusterqueue *cq,
	const struct quota_row *row, const struct window_quota_spec **ret_now,
	const struct window_quota_spec **ret_more)
{
	const struct runpolicy *by = NULL;
	*ret_now = window_quota_now(cq, row);
	*ret_more = NULL;
	most_in_windows(cq, row, USABLE, &by, ret_more);
	for (size_t i = 0; *ret_now && i < cq->window_state->npolicies; i++) {
		const struct runpolicy *p = cq->window_state->policy[i];
		if (*ret_now >= p->spec.quota && *ret_now < p->spec.quota + p->spec.nquotas)
			by = p;
	}
	return by;
}

/* ---- What is owed ---- */

/* A row that owes, in the Cohort tree that is asked. */
struct debt {
	struct quota_row *row;
	const struct quota_row *cause;	/* of a ClusterQueue whose window took the most */
	const struct runpolicy *policy; /* by which it did; NULL: it is gone */
	__int128 goal;			/* no more is asked for once it is no further beyond */
};

/* A giver, and why it gives. */
struct debtor {
	struct giver giver;
	const struct quota_row *cause;
	/* Of each line: its own window took of it, by that policy; NULL: none did. Worked out once,
	 * for the search asks again and again. */
	const struct runpolicy **taker;
};

struct asking {
	struct queue *q;
	struct cohort_tree *tree;
	struct debt *debt;
	size_t ndebts;
	struct debtor *debtor; /* the least important first */
	size_t ndebtors, debtors_room;
	struct reservation **going; /* away in THEN meanwhile: their stop is decided or announced */
	size_t ngoing, going_room;
};

static const struct runpolicy *policy_of(const struct quota_row *row)
{
	const struct window_quota_spec *now, *more;
	return smaller_quota_policy(row->node->owner, row, &now, &more);
}

static void node_debts(struct asking *a, struct quota_node *node)
{
	for (size_t i = 0; i < node->nrows; i++) {
		struct quota_row *row = node->row[i];
		const struct quota_row *cause = NULL;
		__int128 over = quota_over(row, QUOTA_THEN);
		int64_t by = over > 0 ? taken_at(&a->q->quota, row, &cause) : 0;
		if (a->tree->owes_anew)
			row->owed = by;
		if (over < row->owed)
			row->owed = over;
		if (row->owed <= 0 || !cause)
			continue;
		a->debt = mem_grow(a->debt, a->ndebts + 1, sizeof(*a->debt));
		a->debt[a->ndebts++] =
			(struct debt){row, cause, policy_of(cause), over - row->owed};
	}
	list_each_entry(&node->children, struct quota_node, child, of_parent)
		node_debts(a, child);
}

static struct quota_node *root_of(const struct cohort_tree *tree)
{
	if (list_empty(&tree->members))
		return NULL;
	return quota_root(
		container_of(tree->members.next, struct clusterqueue, of_cohort_tree)->node);
}

/* ---- Which runs give ---- */

static void add_going(struct asking *a, struct reservation *r)
{
	a->going = mem_room(a->going, a->ngoing, &a->going_room, 16, sizeof(*a->going));
	a->going[a->ngoing++] = r;
}

static void add_debtor(struct asking *a, const struct giver *g)
{
	const struct reservation *r = g->r;
	a->debtor = mem_room(a->debtor, a->ndebtors, &a->debtors_room, 16, sizeof(*a->debtor));
	struct debtor *d = &a->debtor[a->ndebtors++];
	*d = (struct debtor){
		.giver = *g, .taker = mem_array(r->nlines, sizeof(struct runpolicy *))};
	for (size_t i = 0; i < r->nlines; i++)
		d->taker[i] = taken(r->line[i].row, LENT) > 0 ? policy_of(r->line[i].row) : NULL;
}

/* Does what the line holds count there? Each node below uses more than its own quota. */
static bool counts_at(const struct quota_row *line, const struct quota_row *there)
{
	const struct quota_row *row = line;
	while (row && row != there && quota_borrows(row, QUOTA_THEN))
		row = row->up;
	return row == there;
}

/* By its own ClusterQueue's policy, where a window took of that; else by that of the one that took the
 * most. */
static bool is_exempt(const struct debt *d, const struct debtor *from, size_t line)
{
	const struct runpolicy *p = from->taker[line] ? from->taker[line] : d->policy;
	return p && window_close_exempts(p, from->giver.r->w);
}

/* Returns whether the debtor has to give more, by what is owed now. *ret_cause: for whose
 * window. */
static bool has_to_give(
	const struct asking *a, const struct debtor *from, const struct quota_row **ret_cause)
{
	const struct reservation *r = from->giver.r;
	for (size_t k = 0; k < a->ndebts; k++) {
		const struct debt *d = &a->debt[k];
		if (quota_over(d->row, QUOTA_THEN) <= d->goal)
			continue;
		for (size_t i = 0; i < r->nlines; i++) {
			const struct quota_row *line = r->line[i].row;
			if (r->line[i].amount == 0 || !counts_at(line, d->row) ||
				is_exempt(d, from, i))
				continue;
			*ret_cause = from->taker[i] ? line : d->cause;
			return true;
		}
	}
	return false;
}

static int by_importance(const void *a, const void *b)
{
	const struct debtor *x = a, *y = b;
	return reservation_cmp(x->giver.r, y->giver.r);
}

/* Before any has given. */
static void gather(struct asking *a)
{
	list_each_entry(&a->tree->members, struct clusterqueue, cq, of_cohort_tree) {
		list_each_entry(&cq->reservations, struct reservation, r, of_clusterqueue) {
			if (r->state != RESERVATION_HELD || r->lingers)
				continue;
			struct giver g = giver_of(r);
			if (r->stop_given || r->run.noticed_ms > 0)
				add_going(a, r);
			else if (g.least > 0)
				add_debtor(a, &g);
		}
	}
	if (a->ndebtors > 1)
		qsort(a->debtor, a->ndebtors, sizeof(*a->debtor), by_importance);
}

/* ---- How many pods each keeps ---- */

static bool gives_enough(const void *asking, const struct giver *g)
{
	const struct quota_row *cause;
	return !has_to_give(asking, container_of_const(g, struct debtor, giver), &cause);
}

static bool is_no_worse(const void *asking, const struct giver *g)
{
	const struct asking *a = asking;
	(void)g;
	for (size_t k = 0; k < a->ndebts; k++)
		if (quota_over(a->debt[k].row, QUOTA_THEN) > a->debt[k].goal)
			return false;
	return true;
}

/* The least important first, each as few pods as it must. Where the last one gave more than was still
 * owed, the others keep some of theirs, the most important first. */
static void choose(struct asking *a)
{
	for (size_t i = 0; i < a->ndebtors; i++) {
		struct debtor *d = &a->debtor[i];
		if (has_to_give(a, d, &d->cause))
			giver_keep_most(&d->giver, d->giver.least, gives_enough, a);
	}
	for (size_t k = 0; k < a->ndebts; k++) {
		__int128 left = quota_over(a->debt[k].row, QUOTA_THEN);
		if (left > a->debt[k].goal)
			a->debt[k].goal = left;
	}
	for (size_t i = a->ndebtors; i-- > 0;) {
		struct giver *g = &a->debtor[i].giver;
		if (g->keeps < g->most)
			giver_keep_most(g, g->keeps, is_no_worse, a);
	}
}

static void ask_all(struct asking *a)
{
	gather(a);
	for (size_t i = 0; i < a->ngoing; i++)
		reservation_take_away(a->going[i]);
	choose(a);
	for (size_t i = 0; i < a->ndebtors; i++) {
		struct giver *g = &a->debtor[i].giver;
		int32_t keeps = g->keeps;
		giver_keep(g, g->most);
		if (keeps < g->most)
			giving_begin_for_quota(a->q, g->r, keeps, a->debtor[i].cause);
	}
	for (size_t i = 0; i < a->ngoing; i++)
		reservation_put_back(a->going[i]);
}

static void ask_tree(struct queue *q, struct cohort_tree *tree)
{
	struct asking a = {.q = q, .tree = tree};
	struct quota_node *root = root_of(tree);
	if (root && (tree->owes_anew || tree->owes))
		node_debts(&a, root);
	tree->owes = a.ndebts > 0;
	if (tree->owes && q->moldable > 0)
		ask_all(&a);
	tree->owes_anew = false;
	for (size_t i = 0; i < a.ndebtors; i++)
		free(a.debtor[i].taker);
	free(a.debt);
	free(a.debtor);
	free(a.going);
}

void smaller_quota_ask(struct queue *q)
{
	if (q->paused ||
		!list_empty(&q->suspects)) /* first it must be known which runs end anyway */
		return;
	while (!list_empty(&q->owing)) {
		struct cohort_tree *tree = container_of(q->owing.next, struct cohort_tree, owing);
		list_leave(&tree->owing);
		ask_tree(q, tree);
	}
}

void smaller_quota_tell(struct queue *q, const struct quota_row *row, struct decision *ret)
{
	char words[600];
	struct text t = text_over(words, sizeof(words));
	const struct window_quota_spec *now, *more;
	const struct runpolicy *p =
		row->node->owner ? smaller_quota_policy(row->node->owner, row, &now, &more) : NULL;
	explain_smaller_quota(q, row, &t);
	ret->policy = p ? p->object.name : NULL;
	ret->why = arena_string(&q->sentences, words);
}
