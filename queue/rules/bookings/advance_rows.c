#include "queue/rules/bookings/advance_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core.h"
#include "sluice/quantity.h"

static void row_add(struct advance_reservation *a, struct quota_row *row, int64_t amount)
{
	if (amount <= 0)
		return;
	a->row = mem_grow(a->row, a->nrows + 1, sizeof(*a->row));
	struct advance_row *x = &a->row[a->nrows++];
	*x = (struct advance_row){.row = row, .amount = amount, .left = amount};
	profile_init(&x->held);
}

void advance_rows_free(struct advance_reservation *a)
{
	for (size_t i = 0; i < a->nrows; i++)
		profile_done(&a->row[i].held);
	free(a->row);
	a->row = NULL;
	a->nrows = 0;
}

/* What the node itself has, whatever a window or a lead makes of it now. Of a lent flavor: its part. */
static int64_t own_quota(const struct quota_row *row)
{
	bool lent = row->flavor_pool->lent != LENDING_NONE;
	return !row->in_spec ? 0 : lent ? row->nominal : row->said.nominal;
}

static int row_order(const void *a, const void *b)
{
	return quota_row_cmp(*(struct quota_row *const *)a, *(struct quota_row *const *)b);
}

/* All rows of the flavor with quota of their own. */
static void rows_of_flavor(struct queue *q, struct advance_reservation *a, const char *flavor)
{
	size_t n = 0;
	struct quota_row *row, **all = mem_array(q->quota.rows.count, sizeof(struct quota_row *));
	map_each(&q->quota.rows, i, row)
		if (strcmp(row->flavor, flavor) == 0 && own_quota(row) > 0)
			all[n++] = row;
	if (n > 1)
		qsort(all, n, sizeof(struct quota_row *), row_order);
	for (size_t i = 0; i < n; i++)
		row_add(a, all[i], own_quota(all[i]));
	free(all);
}

static int by_node(const void *a, const void *b)
{
	const struct advance_row *x = a, *y = b;
	return quota_row_cmp(x->row, y->row);
}

/* ---- what is missing, and which one may have been meant --------------------------------------- */

void advance_add_meant(const struct similar *s, struct text *t)
{
	if (similar_best(s))
		text_add(t, " (did you mean %s?)", similar_best(s));
}

static void add_meant_clusterqueue(const struct queue *q, const char *name, struct text *t)
{
	struct similar s;
	similar_begin(&s, name);
	for (struct tree_node *i = tree_first(&q->clusterqueues.shown); i; i = tree_next(i)) {
		const struct clusterqueue *cq = container_of(i, struct clusterqueue, by_name);
		if (cq->exists)
			similar_offer(&s, cq->name);
	}
	advance_add_meant(&s, t);
}

static void add_meant_flavor(const struct queue *q, const char *name, struct text *t)
{
	const struct quota_row *row;
	struct similar s;
	similar_begin(&s, name);
	map_each(&q->quota.rows, i, row)
		if (own_quota(row) > 0)
			similar_offer(&s, row->flavor);
	advance_add_meant(&s, t);
}

/* Of the flavors of cq that which may have been meant, or of the resources of one that it has. False: cq
 * has no such flavor, or x names no resource. */
static bool find_meant(
	const struct clusterqueue *cq, const struct advance_amount *x, struct similar *ret)
{
	const struct resource_group *of = NULL;
	similar_begin(ret, x->flavor);
	for (size_t g = 0; g < cq->spec.ngroups; g++)
		for (size_t f = 0; f < cq->spec.groups[g].nflavors; f++) {
			const char *flavor = cq->spec.groups[g].flavors[f]->name;
			similar_offer(ret, flavor);
			if (strcmp(flavor, x->flavor) == 0)
				of = &cq->spec.groups[g];
		}
	if (!of)
		return false;
	similar_begin(ret, x->resource);
	for (size_t r = 0; *x->resource && r < of->nresources; r++)
		similar_offer(ret, of->resources[r]);
	return *x->resource;
}

/* cq: NULL where it reserves of all. */
static bool say_no_flavor(const struct queue *q, struct advance_reservation *a,
	const struct clusterqueue *cq, const struct advance_amount *x)
{
	struct text t = text_over(a->message, sizeof(a->message));
	struct similar s;
	if (!cq) {
		text_add(&t, "no ClusterQueue or Cohort has quota of flavor %s", x->flavor);
		add_meant_flavor(q, x->flavor, &t);
		text_add(&t, "; add it to one, or make another AdvanceReservation");
		return false;
	}
	bool knows_flavor = find_meant(cq, x, &s);
	text_add(&t, "ClusterQueue %s has no quota of ", cq->name);
	if (*x->resource) {
		text_add(&t, "%s", x->resource);
		if (knows_flavor)
			advance_add_meant(&s, &t);
		text_add(&t, " in ");
	}
	text_add(&t, "flavor %s", x->flavor);
	if (!knows_flavor)
		advance_add_meant(&s, &t);
	text_add(&t, "; add it there, or make another AdvanceReservation");
	return false;
}

static void say_no_clusterqueue(const struct queue *q, struct advance_reservation *a)
{
	struct text t = text_over(a->message, sizeof(a->message));
	text_add(&t, "ClusterQueue %s does not exist", a->spec.clusterqueue);
	add_meant_clusterqueue(q, a->spec.clusterqueue, &t);
	text_add(&t, "; create it, or reserve in another one");
}

/* ---- the rows -------------------------------------------------------------------------------- */

static bool rows_of_all(struct queue *q, struct advance_reservation *a)
{
	bool found = true;
	for (size_t i = 0; i < a->spec.namounts; i++) {
		size_t before = a->nrows;
		rows_of_flavor(q, a, a->spec.amount[i].flavor);
		if (a->nrows == before && found)
			found = say_no_flavor(q, a, NULL, &a->spec.amount[i]);
	}
	if (a->nrows > 1)
		qsort(a->row, a->nrows, sizeof(*a->row), by_node);
	return found;
}

/* Of one amount: the resource, or each of the flavor. */
static void rows_of_amount(struct advance_reservation *a, const struct clusterqueue *cq,
	const struct advance_amount *x)
{
	for (size_t g = 0; g < cq->spec.ngroups; g++) {
		const struct resource_group *rg = &cq->spec.groups[g];
		for (size_t f = 0; f < rg->nflavors; f++)
			for (size_t r = 0; r < rg->nresources; r++) {
				struct quota_row *row = rg->row[f * rg->nresources + r];
				bool own = !*x->resource;
				if (strcmp(row->flavor, x->flavor) == 0 &&
					(own || strcmp(row->resource, x->resource) == 0))
					row_add(a, row, own ? own_quota(row) : x->amount);
			}
	}
}

bool advance_rows_find(struct queue *q, struct advance_reservation *a, const char **ret_reason)
{
	bool found = true;
	advance_rows_free(a);
	*ret_reason = "FlavorNotFound";
	if (!*a->spec.clusterqueue)
		return rows_of_all(q, a);
	const struct clusterqueue *cq = clusterqueue_find(&q->clusterqueues, a->spec.clusterqueue);
	if (!cq || !cq->exists) {
		*ret_reason = "ClusterQueueNotFound";
		say_no_clusterqueue(q, a);
		return false;
	}
	for (size_t i = 0; i < a->spec.namounts; i++) {
		size_t before = a->nrows;
		rows_of_amount(a, cq, &a->spec.amount[i]);
		if (a->nrows == before && found)
			found = say_no_flavor(q, a, cq, &a->spec.amount[i]);
	}
	return found;
}
