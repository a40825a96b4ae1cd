#include "base/instant.h"
#include "base/span.h"
#include "queue/explain/explain.h"

#include <inttypes.h>

#include "queue/core/admit/assign.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/run_ends.h"
#include "queue/core/preempt/victims.h"
#include "queue/requests/shape.h"
#include "queue/core/admit/backfill.h"
#include "queue/core/admit/backfill_heads.h"
#include "queue/core/model/kept_start.h"

struct words other_words(const struct workload *w, const struct workload *other)
{
	struct words name = {""};
	struct text t = text_over(name.s, sizeof(name.s));
	if (other->lq->ns == w->lq->ns)
		text_add_name(&t, other->lq->ns->name, other->name);
	else
		text_add(&t, "a Job of another namespace");
	return name;
}

void explain_fills_gaps(const struct clusterqueue *cq, const struct workload *w, struct text *t)
{
	if (workload_fills_gaps(w))
		text_add(t,
			"; it stops no other Job, because it only fills gaps (priority %" PRId32
			" is below %" PRId32 ", spec.gapFillers)",
			w->key.priority, cq->spec.gap_fillers_below);
}

static bool spares_any(const struct cohort_tree *tree)
{
	list_each_entry(&tree->members, const struct clusterqueue, cq, of_cohort_tree)
		if (cq->spec.preemption.min_run_ms > 0)
			return true;
	return false;
}

/* When w could preempt with the fewest pods with which it starts, if nothing happened but that runs
 * grow older. *ret_last: the last of its victims to have run its minimum. INT64_MAX: minRun does not
 * keep it. A pass finds no victims meanwhile, and has an alarm. */
static int64_t spared_until(struct queue *q, const struct workload *w, struct clusterqueue *cq,
	const struct claim *c, int64_t now_ms, const struct reservation **ret_last)
{
	struct choice choice, after;
	int64_t until_ms = INT64_MAX;
	if (!spares_any(cq->cohort_tree) || !workload_displaces(w))
		return INT64_MAX;
	bool more = true;
	for (const struct choice *behind = NULL; more; behind = &after) {
		struct demand d;
		const struct reservation *last = NULL;
		if (assign_flavors(q, cq, c, w, w->shape->min_pods, behind, &choice) !=
			ASSIGN_PREEMPTS)
			break;
		demand_init(&d, w, cq, c, &choice);
		int64_t at_ms = victims_grown(q, &d, &last);
		if (at_ms < until_ms) {
			until_ms = at_ms;
			*ret_last = last;
		}
		after = choice;
		more = choice_goes_on(cq, &choice);
	}
	return until_ms > now_ms ? until_ms : INT64_MAX;
}

void explain_spared(struct queue *q, struct clusterqueue *cq, const struct workload *w,
	const struct claim *claim, int64_t now_ms, struct text *t)
{
	const struct reservation *last;
	int64_t until_ms = spared_until(q, w, cq, claim, now_ms, &last);
	if (until_ms == INT64_MAX)
		return;
	text_add(t,
		"; it waits until %s, when %s has run its minimum of %s (preemption.minRun of ClusterQueue %s)",
		instant_seconds(until_ms).s, other_words(w, last->w).s,
		span_exact(last->cq->spec.preemption.min_run_ms).s, last->cq->name);
}

/* ---- Backfill ---- */

/* A head of Backfill, and when it is expected to start. */
struct backfill_head {
	const struct workload *w; /* NULL: there is none */
	int64_t at_ms;		  /* INT64_MAX: that is not known */
};

static struct backfill_head own_slot(const struct question *a)
{
	const struct booking *b = backfills_several_heads(a->cq) ? kept_start_of(a->q, a->w) : NULL;
	if (b)
		return (struct backfill_head){a->w, b->from_ms};
	if (backfill_is_head(a->cq, a->w))
		return (struct backfill_head){a->w, a->cq->backfill_slot->at_ms};
	return (struct backfill_head){NULL, INT64_MAX};
}

void explain_expected_start(const struct question *a)
{
	struct backfill_head own = own_slot(a);
	if (!own.w)
		return;
	if (own.at_ms == INT64_MAX)
		text_add(a->text,
			"; its start is not known, because some running Jobs have no expected end");
	else
		text_add(a->text, "; expected start %s", instant_seconds(own.at_ms).s);
}

static struct backfill_head delayed_by(const struct question *a)
{
	const struct backfill_slot *r = a->cq->backfill_slot;
	struct backfill_head none = {NULL, INT64_MAX};
	if (a->w->place != PLACE_READY)
		return none;
	if (backfills_several_heads(a->cq)) {
		struct queue *q = (struct queue *)(uintptr_t)a->q; /* as it was afterwards */
		const struct kept_start *k;
		int64_t until_ms = backfill_heads_room_until(q, a->w, &k);
		bool delays = k && until_ms < run_ends_at(a->w->expected_ms, a->now_ms);
		return delays ? (struct backfill_head){k->w, k->booking->from_ms} : none;
	}
	const struct workload *head = r && r->on ? queue_find_workload(a->q, &r->head) : NULL;
	if (!head || head == a->w || head->place != PLACE_READY)
		return none;
	return (struct backfill_head){head, r->at_ms};
}

bool explain_delay(const struct question *a)
{
	struct backfill_head head = delayed_by(a);
	if (!head.w)
		return false;
	text_add(a->text, "the Job fits, but would delay %s", other_words(a->w, head.w).s);
	if (head.at_ms != INT64_MAX)
		text_add(a->text, ", which is expected to start at %s",
			instant_seconds(head.at_ms).s);
	else
		text_add(a->text, ", which is ahead of it");
	if (a->w->expected_ms <= 0)
		text_add(a->text,
			": nothing says how long this Job runs; set annotation sluice.dev/expected-duration, such as 2h");
	else
		text_add(a->text, ": this Job is expected to run until %s",
			instant_seconds(run_ends_at(a->w->expected_ms, a->now_ms)).s);
	return true;
}
