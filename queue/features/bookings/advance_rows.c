#include "queue/features/bookings/advance_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core/core.h"
#include "queue/features/targets.h"
#include "sluice/quantity.h"

static void row_add(struct advance_reservation *a, struct quota_row *row, int64_t amount)
{
	if (amount <= 0)
		return;
	a->row = mem_grow(a->row, a->nrows + 1, sizeof(*a->row));
	struct advance_row *x = &a->row[a->nrows++];
	*x = (struct advance_row){.row = row, .amount = amount, .left = amount, .offered = amount};
}

void advance_rows_free(struct advance_reservation *a)
{
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

/* ---- what is missing -------------------------------------------------------------------------- */

/* cq: NULL where it reserves of all. */
static bool say_no_flavor(const struct queue *q, struct advance_reservation *a,
	const struct clusterqueue *cq, const struct advance_amount *x)
{
	struct text t = text_over(a->message, sizeof(a->message));
	struct named flavor = {.name = x->flavor, .within = cq};
	if (!cq) {
		text_add(&t, "no ClusterQueue or Cohort has quota of flavor %s", x->flavor);
		target_suggest(&target_flavor_with_quota, q, &flavor, &t);
		text_add(&t, "; add it to one, or make another AdvanceReservation");
		return false;
	}
	bool knows_flavor = target_flavor_of_clusterqueue.found(q, &flavor);
	text_add(&t, "ClusterQueue %s has no quota of ", cq->name);
	if (*x->resource) {
		struct named resource = {.name = x->resource, .within = cq, .of = x->flavor};
		text_add(&t, "%s", x->resource);
		target_suggest(&target_resource_of_clusterqueue, q, &resource, &t);
		text_add(&t, " in ");
	}
	text_add(&t, "flavor %s", x->flavor);
	if (!knows_flavor)
		target_suggest(&target_flavor_of_clusterqueue, q, &flavor, &t);
	text_add(&t, "; add it there, or make another AdvanceReservation");
	return false;
}

static void say_no_clusterqueue(const struct queue *q, struct advance_reservation *a)
{
	struct text t = text_over(a->message, sizeof(a->message));
	struct named n = {.name = a->spec.clusterqueue};
	target_clusterqueue.say_missing(&n, &t);
	target_suggest(&target_clusterqueue, q, &n, &t);
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
