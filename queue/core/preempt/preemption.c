#include "queue/core/preempt/preemption.h"

#include "base/mem.h"
#include "base/must.h"
#include "sluice/quantity.h"

/* ---- Which runs are candidates ---- */

/* The row of contested row i's flavor and resource in a node; NULL when it has none. */
static const struct quota_row *contested_row(
	const struct preemption *x, const struct quota_node *node, size_t i)
{
	if (node == x->contested[i]->node)
		return x->contested[i];
	return quota_row_like(&x->q->quota, node, x->contested[i]);
}

bool borrows_contested(const struct preemption *x, const struct quota_node *node)
{
	for (size_t i = 0; i < x->ncontested; i++) {
		const struct quota_row *row = contested_row(x, node, i);
		if (row && quota_borrows(row, QUOTA_THEN))
			return true;
	}
	return false;
}

static bool holds_contested(const struct preemption *x, const struct reservation *r)
{
	for (size_t i = 0; i < r->nlines; i++)
		for (size_t k = 0; k < x->ncontested; k++)
			if (r->line[i].amount > 0 && r->line[i].row->node == r->cq->node &&
				r->line[i].row->flavor == x->contested[k]->flavor &&
				r->line[i].row->resource == x->contested[k]->resource)
				return true;
	return false;
}

static enum preemption_policy policy_towards(const struct demand *d, const struct clusterqueue *cq)
{
	return cq == d->cq ? d->cq->spec.preemption.within_clusterqueue
			   : d->cq->spec.preemption.reclaim_within_cohort;
}

static bool policy_allows(const struct demand *d, const struct reservation *r)
{
	const struct order_key *mine = &d->w->key, *theirs = &r->w->key;
	switch (policy_towards(d, r->cq)) {
	case PREEMPT_NEVER:
		return r->cq != d->cq && workload_fills_gaps(r->w) &&
		       mine->priority > theirs->priority;
	case PREEMPT_LOWER_PRIORITY:
		return mine->priority > theirs->priority;
	case PREEMPT_LOWER_OR_NEWER_EQUAL_PRIORITY:
		return mine->priority > theirs->priority ||
		       (mine->priority == theirs->priority && mine->queued_ms < theirs->queued_ms);
	case PREEMPT_ANY:
		return true;
	}
	return false;
}

static int32_t one_less(int32_t priority)
{
	return priority > INT32_MIN ? priority - 1 : INT32_MIN;
}

/* By such a policy runs of cq with a higher priority are no candidates. */
static int32_t highest_by(
	enum preemption_policy policy, const struct demand *d, const struct clusterqueue *cq)
{
	int32_t lower = one_less(d->w->key.priority), gaps = one_less(cq->spec.gap_fillers_below);
	switch (policy) {
	case PREEMPT_NEVER:
		return lower < gaps ? lower : gaps;
	case PREEMPT_LOWER_PRIORITY:
		return lower;
	case PREEMPT_LOWER_OR_NEWER_EQUAL_PRIORITY:
		return d->w->key.priority;
	case PREEMPT_ANY:
		break;
	}
	return INT32_MAX;
}

static int32_t highest_allowed(const struct demand *d, const struct clusterqueue *cq)
{
	return highest_by(policy_towards(d, cq), d, cq);
}

/* Tells whether a run and all behind it are no candidates, because priorities only rise from
 * here. */
static bool policy_ends(const struct demand *d, const struct reservation *r)
{
	return !costs_nothing(r) && r->w->key.priority > highest_allowed(d, r->cq);
}

/* Of the nominee's own priority, and not newer. There may be very many of these in a row. */
static bool is_older_equal(const struct demand *d, const struct reservation *r)
{
	const struct order_key *mine = &d->w->key, *theirs = &r->w->key;
	return policy_towards(d, r->cq) == PREEMPT_LOWER_OR_NEWER_EQUAL_PRIORITY &&
	       !costs_nothing(r) && theirs->priority == mine->priority &&
	       theirs->queued_ms <= mine->queued_ms;
}

/* The nominee was displaced through it, so it would close a circle. */
static bool closes_circle(const struct preemption *x, const struct reservation *r)
{
	for (size_t i = 0; r->cq != x->d->cq && i < x->nthrough; i++)
		if (uid_cmp(&x->through[i], &r->w->key.uid) == 0)
			return true;
	return false;
}

/* ---- minRun ---- */

/* Runs of cq that started later are spared; `own`: the nominee would take back what is its own. */
static int64_t spared_from(const struct preemption *x, const struct clusterqueue *cq, bool own)
{
	int64_t min_run_ms = cq->spec.preemption.min_run_ms;
	bool any = cq != x->d->cq && own &&
		   x->d->cq->spec.preemption.reclaim_within_cohort == PREEMPT_ANY;
	return min_run_ms == 0 || any ? INT64_MAX : x->at_ms - min_run_ms;
}

static bool is_spared(const struct candidate_source *o, const struct reservation *r)
{
	return !costs_nothing(r) && r->reserved_ms > o->by_ms;
}

static void remember_spared(const struct preemption *x, struct clusterqueue *cq)
{
	cq->spared = cq->spared || !x->asks_only;
}

bool reservation_goes_last(const struct reservation *r)
{
	return r->ends_when_stopped && !costs_nothing(r);
}

static bool is_left_out(struct preemption *x, const struct reservation *r)
{
	bool lent = r->cq != x->d->cq && x->takes_back;
	bool is = reservation_goes_last(r) && !(x->last_resort && lent);
	x->leaves_out = x->leaves_out || is;
	return is;
}

static bool is_candidate(const struct preemption *x, const struct reservation *r)
{
	return policy_allows(x->d, r) && holds_contested(x, r) && !closes_circle(x, r);
}

/* ---- Candidate sources ---- */

static struct reservation *next_promised(const struct preemption *x,
	const struct candidate_source *o, const struct reservation *after)
{
	struct reservation *best = NULL;
	list_each_entry(&o->cq->promised, struct reservation, r, of_clusterqueue)
		if (is_candidate(x, r) && (!after || reservation_cmp(after, r) < 0) &&
			(!best || reservation_cmp(r, best) < 0))
			best = r;
	return best;
}

static struct tree_node *step(
	const struct preemption *x, const struct candidate_source *o, size_t i, struct tree_node *n)
{
	struct tree_node *next = tree_next(n);
	if (next && is_spared(o, victim_index_reservation(next))) {
		remember_spared(x, o->cq);
		next = victim_index_started(contested_row(x, o->cq->node, i), next, o->by_ms);
	}
	if (!next || !is_older_equal(x->d, victim_index_reservation(next)))
		return next;
	return victim_index_newer(contested_row(x, o->cq->node, i), next, x->d->w->key.queued_ms);
}

/* The first of all rows' cursors. The cursors of all rows in which it stands move on. */
static struct reservation *next_in_line(struct preemption *x, const struct candidate_source *o)
{
	struct tree_node **cursor = x->cursor + o->cursor;
	struct reservation *best = NULL;
	for (size_t i = 0; i < x->ncontested; i++)
		if (cursor[i] &&
			(!best || reservation_cmp(victim_index_reservation(cursor[i]), best) < 0))
			best = victim_index_reservation(cursor[i]);
	for (size_t i = 0; i < x->ncontested; i++)
		while (cursor[i] && victim_index_reservation(cursor[i]) == best)
			cursor[i] = step(x, o, i, cursor[i]);
	return best;
}

static struct reservation *next_held(struct preemption *x, const struct candidate_source *o)
{
	for (;;) {
		struct reservation *r = next_in_line(x, o);
		if (!r || policy_ends(x->d, r))
			return NULL;
		if (is_spared(o, r))
			remember_spared(x, o->cq);
		else if (r->cq == o->cq && is_candidate(x, r) && !is_left_out(x, r))
			return r;
	}
}

void candidate_source_rewind(struct preemption *x, struct candidate_source *o)
{
	o->by_ms = spared_from(x, o->cq, o->kind == CANDIDATE_HIERARCHY || x->takes_back);
	for (size_t i = 0; i < x->ncontested; i++) {
		const struct quota_row *row = contested_row(x, o->cq->node, i);
		x->cursor[o->cursor + i] =
			row ? victim_index_first(o->cq, (struct quota_row *)(uintptr_t)row) : NULL;
	}
	o->dropped = false;
	o->next = next_promised(x, o, NULL);
	if (!o->next)
		o->next = next_held(x, o);
}

struct reservation *candidate_source_take(struct preemption *x, struct candidate_source *o)
{
	struct reservation *r = o->next;
	must(r);
	o->next = r->state == RESERVATION_PROMISED ? next_promised(x, o, r) : NULL;
	if (!o->next)
		o->next = next_held(x, o);
	return r;
}

static struct candidate_source *candidate_source_new(struct preemption *x)
{
	x->source = mem_room(x->source, x->nsources, &x->sources_capacity, 16, sizeof(*x->source));
	size_t cursors = (x->nsources + 1) * x->ncontested;
	if (cursors > x->cursors_capacity) {
		x->cursors_capacity = cursors * 2;
		x->cursor = mem_grow(x->cursor, x->cursors_capacity, sizeof(struct tree_node *));
	}
	return &x->source[x->nsources];
}

static bool policy_asks(const struct preemption *x, const struct clusterqueue *cq)
{
	return policy_towards(x->d, cq) != PREEMPT_NEVER ||
	       (cq != x->d->cq && x->q->gap_fillers > 0);
}

/* Runs of an inactive ClusterQueue are no candidates, as in Kueue: they are up to the admin. */
bool candidate_source_add(struct preemption *x, struct clusterqueue *cq, enum candidate_kind kind,
	const struct quota_node *shared)
{
	if (!policy_asks(x, cq) || !clusterqueue_active(cq))
		return false;
	struct candidate_source *o = candidate_source_new(x);
	*o = (struct candidate_source){
		.cq = cq, .kind = kind, .shared = shared, .cursor = x->nsources * x->ncontested};
	candidate_source_rewind(x, o);
	if (!o->next)
		return false;
	x->nsources++;
	return true;
}

struct candidate_source *candidate_source_of(
	const struct preemption *x, const struct clusterqueue *cq)
{
	for (size_t i = 0; i < x->nsources; i++)
		if (x->source[i].cq == cq)
			return &x->source[i];
	return NULL;
}

static int64_t promised_most(
	const struct clusterqueue *cq, const struct quota_row *row, int64_t *largest)
{
	int64_t most = 0;
	list_each_entry(&cq->promised, const struct reservation, r, of_clusterqueue) {
		for (size_t i = 0; i < r->nlines; i++) {
			if (r->line[i].row != row)
				continue;
			most = quantity_add(most, r->line[i].amount);
			*largest = r->line[i].amount > *largest ? r->line[i].amount : *largest;
		}
	}
	return most;
}

/* Other ClusterQueues give back only while they borrow. So of one row that is at most what they
 * borrow, and the last victim may hold more. Where several rows are contested a ClusterQueue may go
 * on because of another row, and with fair sharing because of rows that are not contested. */
int64_t candidate_source_most(const struct preemption *x, struct clusterqueue *cq, size_t i)
{
	struct quota_row *row = (struct quota_row *)(uintptr_t)contested_row(x, cq->node, i);
	if (!row || !policy_asks(x, cq) || !clusterqueue_active(cq))
		return 0;
	int64_t largest = victim_index_largest(cq, row), by_ms = spared_from(x, cq, true);
	int64_t most = quantity_add(victim_index_sum(cq, row, highest_allowed(x->d, cq), by_ms),
		promised_most(cq, row, &largest));
	if (victim_index_next_start(row, by_ms) < INT64_MAX)
		remember_spared(x, cq);
	__int128 borrowed = row->use[QUOTA_THEN] - row->subtree + largest;
	if (cq == x->d->cq || x->ncontested > 1 || x->q->config.fair_sharing || borrowed > most)
		return most;
	return borrowed > 0 ? (int64_t)borrowed : 0;
}

int64_t candidate_source_lent(
	const struct preemption *x, struct clusterqueue *cq, const struct quota_row *like)
{
	struct quota_row *row = cq->node ? quota_row_like(&x->q->quota, cq->node, like) : NULL;
	if (!row || !clusterqueue_active(cq))
		return 0;
	int64_t largest = 0;
	int32_t highest = highest_by(x->d->cq->spec.preemption.reclaim_within_cohort, x->d, cq);
	return quantity_add(
		victim_index_sum(cq, row, highest, INT64_MAX), promised_most(cq, row, &largest));
}

/* ---- Victims ---- */

void victim_add(struct preemption *x, struct reservation *r, enum preemption_reason reason)
{
	x->victim = mem_room(x->victim, x->nvictims, &x->victims_capacity, 16, sizeof(*x->victim));
	x->victim[x->nvictims++] = (struct victim){r, reason, 0};
	reservation_take_away(r);
}

bool victims_have(const struct preemption *x, const struct reservation *r)
{
	for (size_t i = 0; i < x->nvictims; i++)
		if (x->victim[i].reservation == r)
			return true;
	return false;
}

bool demand_fits(const struct demand *d, bool may_borrow)
{
	for (size_t i = 0; i < d->nlines; i++) {
		const struct demand_line *l = &d->line[i];
		if (l->amount == INT64_MAX || !quota_has(l->row, QUOTA_THEN, l->amount))
			return false;
		if (!may_borrow && quota_borrows_with(l->row, QUOTA_THEN, l->amount))
			return false;
	}
	return true;
}

/* The last one made it fit, so it has to go. */
void victims_spare(struct preemption *x, bool may_borrow)
{
	if (x->nvictims == 0)
		return;
	size_t kept = x->nvictims - 1;
	for (size_t i = x->nvictims - 1; i-- > 0;) {
		struct victim v = x->victim[i];
		reservation_put_back(v.reservation);
		if (demand_fits(x->d, may_borrow))
			continue;
		reservation_take_away(v.reservation);
		x->victim[--kept] = v;
	}
	/* The ones that go are at the end now, in their order; they move to the front. */
	size_t n = x->nvictims - kept;
	for (size_t i = 0; i < n; i++)
		x->victim[i] = x->victim[kept + i];
	x->nvictims = n;
}

void victims_put_back(const struct preemption *x)
{
	for (size_t i = 0; i < x->nvictims; i++)
		reservation_put_back(x->victim[i].reservation);
}
