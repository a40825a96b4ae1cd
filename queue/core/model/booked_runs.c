#include "queue/core/model/booked_runs.h"

#include "queue/core/model/state.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/run.h"
#include "queue/core/model/runs.h"
#include "sluice/quantity.h"

int64_t plan_lasts_ms(int64_t expected_ms)
{
	return expected_ms > 0 ? expected_ms : PLAN_ASSUMED_MS;
}

static void enter_all(struct queue *q, struct clusterqueue *cq)
{
	list_each_entry(&cq->reservations, struct reservation, r, of_clusterqueue)
		booked_run_enter(q, r);
	list_each_entry(&cq->promised, struct reservation, r, of_clusterqueue)
		booked_run_enter(q, r);
}

/* Features are asked from now on that did not matter before. */
static void tree_begin(struct queue *q, struct cohort_tree *tree)
{
	if (tree->plans)
		return;
	tree->plans = true;
	list_each_entry(&tree->members, struct clusterqueue, cq, of_cohort_tree)
		enter_all(q, cq);
	features_edited(q);
}

void booked_runs_begin(struct queue *q, struct clusterqueue *cq)
{
	cq->plans = q->quota_plan.used = true;
	if (cq->cohort_tree)
		tree_begin(q, cq->cohort_tree);
}

/* Runs of a ClusterQueue that came into such a tree are booked, too. */
void booked_runs_form(struct queue *q)
{
	struct tree_node *n = tree_first(&q->clusterqueues.shown);
	features_edited(q);
	for (; n; n = tree_next(n)) {
		struct clusterqueue *cq = container_of(n, struct clusterqueue, by_name);
		if (cq->plans)
			tree_begin(q, cq->cohort_tree);
	}
	for (n = tree_first(&q->clusterqueues.shown); n; n = tree_next(n)) {
		struct clusterqueue *cq = container_of(n, struct clusterqueue, by_name);
		if (cq->cohort_tree->plans)
			enter_all(q, cq);
	}
}

static int64_t began_ms(const struct queue *q, const struct reservation *r)
{
	int64_t since_ms = r->confirmed ? run_began_ms(r) : r->reserved_ms;
	return r->state == RESERVATION_PROMISED ? q->now_ms : since_ms;
}

/* No run ends before that. Where there are reservations none ends now either: it is still there,
 * and a Job that starts beside it would run into what is kept. That is so before any is booked: the
 * first decision of a queue puts runs off, and then books. */
static int64_t earliest_end_ms(const struct queue *q)
{
	return q->now_ms + (q->quota_plan.reserving > 0);
}

/* Not before now, and after its beginning. */
static int64_t ends_ms(const struct queue *q, const struct reservation *r)
{
	int64_t began = began_ms(q, r), lasts_ms = plan_lasts_ms(r->w->expected_ms);
	while (quantity_add(began, lasts_ms) < earliest_end_ms(q))
		lasts_ms = quantity_times(lasts_ms, 2);
	return quantity_add(began, lasts_ms);
}

void booked_run_enter(struct queue *q, struct reservation *r)
{
	struct booking_line line[QUEUE_LINES_MAX];
	size_t n = 0;
	booked_run_over(q, r);
	if (!r->cq || !r->cq->cohort_tree || !r->cq->cohort_tree->plans ||
		r->state == RESERVATION_LEAVING)
		return;
	for (size_t i = 0; i < r->nlines && n < QUEUE_LINES_MAX; i++)
		line[n++] = (struct booking_line){
			r->line[i].row, reservation_line_then(r, &r->line[i])};
	int64_t until_ms = ends_ms(q, r), from_ms = began_ms(q, r);
	if (from_ms >= until_ms) /* the ledger may hold any time */
		from_ms = until_ms - 1;
	r->booking = quota_plan_book(&q->quota_plan, BOOKING_RUN, &r->w->key.uid,
		(struct booking_lines){line, n}, from_ms, until_ms);
	runs_after(q, r, RUN_BOOKED);
}

void booked_run_over(struct queue *q, struct reservation *r)
{
	if (r->booking)
		runs_before(q, r, RUN_UNBOOKED);
	quota_plan_unbook(&q->quota_plan, r->booking);
	r->booking = NULL;
}

void booked_runs_put_off(struct queue *q)
{
	struct booking *b;
	while ((b = quota_plan_first_end(&q->quota_plan)) && b->until_ms < earliest_end_ms(q)) {
		const struct workload *w = queue_find_workload(q, &b->who);
		struct reservation *r = w->reservation ? w->reservation : w->promise;
		runs_before(q, r, RUN_UNBOOKED);
		quota_plan_move(&q->quota_plan, b, b->from_ms, ends_ms(q, r));
		runs_after(q, r, RUN_BOOKED);
	}
}

static void begin_by_now(struct queue *q, const struct link *runs)
{
	list_each_entry(runs, struct reservation, r, of_clusterqueue)
		if (r->booking && r->booking->from_ms > q->now_ms)
			booked_run_enter(q, r);
}

void booked_runs_begin_by_now(struct queue *q)
{
	struct clusterqueue *cq;
	map_each(&q->clusterqueues.map, i, cq) {
		begin_by_now(q, &cq->reservations);
		begin_by_now(q, &cq->promised);
	}
}
