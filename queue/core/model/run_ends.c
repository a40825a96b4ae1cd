#include "queue/core/model/run_ends.h"

#include "queue/core/model/reservation.h"
#include "sluice/quantity.h"

static int end_order(const struct tree_node *a, const struct tree_node *b)
{
	const struct reservation *x = container_of_const(a, struct reservation, by_end);
	const struct reservation *y = container_of_const(b, struct reservation, by_end);
	if (x->ends_ms != y->ends_ms)
		return x->ends_ms < y->ends_ms ? -1 : 1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

void run_ends_init(struct clusterqueue *cq)
{
	tree_init(&cq->ends, end_order, NULL);
}

int64_t run_ends_at(int64_t expected_ms, int64_t from_ms)
{
	return expected_ms > 0 ? quantity_add(from_ms, expected_ms) : INT64_MAX;
}

static void take_out(struct reservation *r)
{
	if (tree_in(&r->by_end))
		tree_remove(&r->cq->ends, &r->by_end);
}

static void stand_at(struct reservation *r, int64_t ends_ms)
{
	take_out(r);
	r->ends_ms = ends_ms;
	if (ends_ms != INT64_MAX)
		tree_insert(&r->cq->ends, &r->by_end, r->serial);
}

void run_ends_expect(struct queue *q, struct reservation *r)
{
	(void)q;
	bool matters = r->cq && r->cq->spec.strategy == BACKFILL && r->state == RESERVATION_HELD;
	stand_at(r, matters ? run_ends_at(r->w->expected_ms, reservation_since_ms(r)) : INT64_MAX);
}

void run_ends_forget(struct queue *q, struct reservation *r)
{
	(void)q;
	take_out(r);
}

static struct reservation *reservation_at(struct tree_node *n)
{
	return n ? container_of(n, struct reservation, by_end) : NULL;
}

struct reservation *run_ends_first(const struct clusterqueue *cq)
{
	return reservation_at(tree_first(&cq->ends));
}

const struct reservation *run_ends_next(const struct reservation *r)
{
	return reservation_at(tree_next(&r->by_end));
}

void run_ends_put_off(const struct clusterqueue *cq, int64_t now_ms)
{
	for (struct reservation *r; (r = run_ends_first(cq)) && r->ends_ms < now_ms;) {
		int64_t lasts = r->w->expected_ms;
		while (quantity_add(reservation_since_ms(r), lasts) < now_ms)
			lasts = quantity_times(lasts, 2);
		stand_at(r, quantity_add(reservation_since_ms(r), lasts));
	}
}
