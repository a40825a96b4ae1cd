#include "queue/features/dependencies/dependency_wait.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/order.h"
#include "queue/core/admit/nominee.h"
#include "queue/core/model/state.h"
#include "queue/job/specs.h"
#include "queue/core/model/reservation.h"
#include "queue/features/dependencies/outcome_record.h"
#include "queue/core/model/feature.h"
#include "sluice/quantity.h"

/* ---- What the Job says ---- */

/* Items but for `singleton`. */
static size_t items_of(const struct dependencies *d)
{
	size_t n = 0;
	for (size_t i = 0; i < d->count; i++)
		n += d->item[i].kind != AFTER_SINGLETON;
	return n;
}

static bool asks_singleton(const struct dependencies *d)
{
	return items_of(d) < d->count;
}

/* Returns how many comparisons it costs to match the term. */
static size_t comparisons_of(const struct selector_term *t)
{
	size_t n = t->nrequirements;
	for (size_t i = 0; i < t->nrequirements; i++)
		n += t->requirements[i].nvalues > 1 ? t->requirements[i].nvalues : 0;
	return n;
}

const char *dependencies_fault(const struct job *j)
{
	const struct dependencies *d = &j->after;
	if (d->count > DEPENDENCIES_MAX)
		return "annotation sluice.dev/after has more than 64 items; give those Jobs a label in common and wait for afterok:{KEY=VALUE}";
	if (asks_singleton(d) && (!j->family || !*j->family))
		return "annotation sluice.dev/after says singleton, but no other Job is of its kind: create it with metadata.generateName, or by a CronJob";
	for (size_t i = 0; i < d->count; i++)
		if (!d->item[i].name &&
			comparisons_of(&d->item[i].selector) > PREDECESSOR_REQUIREMENTS_MAX)
			return "annotation sluice.dev/after has a selector with more than 16 keys and values; give those Jobs one label in common";
	for (size_t i = 0; i < d->count; i++)
		if (d->item[i].name && strcmp(d->item[i].name, j->name) == 0)
			return "annotation sluice.dev/after names the Job itself, so that it would wait for ever; take that item out";
	return NULL;
}

static bool item_same(const struct dependency_item *a, const struct dependency *b)
{
	return a->kind == b->kind && strcmp(a->text, b->text) == 0;
}

/* Of an invalid Job nothing is taken. It keeps what it waited for until it is mended: a typo must not
 * forget what has held. */
static bool is_refused(const struct job *j)
{
	return j->invalid || dependencies_fault(j);
}

/* Returns whether the Job was started once, or got quota from an earlier leader, for which its
 * items had to hold. Our own start does not count while it may be called off, nor one that was
 * (Fenced): what the Job waits for may be edited meanwhile. A story that is older than its Job came
 * with a manifest that was copied from another Job. */
static bool was_started(const struct workload *w, const struct job *j)
{
	const struct job_admission *a = &j->admission;
	const struct reservation *r = w->reservation;
	bool ran = a->attempt > 0 && (a->state != STORY_FENCED || a->history.ran_ms > 0);
	return (r && (r->confirmed || r->run.adopted)) || (ran && a->told_ms >= j->created_ms);
}

bool dependencies_differ(const struct workload *w, const struct job *j)
{
	const struct dependency_wait *x = w->after;
	const struct dependencies *asked = &j->after;
	if (is_refused(j))
		return false;
	if (!x)
		return asked->count > 0;
	if (x->nheld < x->nitems && was_started(w, j))
		return true; /* by an earlier leader, of which this one hears now */
	if (x->nitems != items_of(asked) || x->is_singleton != asks_singleton(asked) ||
		x->on_failure != asked->on_failure)
		return true;
	size_t n = 0;
	for (size_t i = 0; i < asked->count; i++)
		if (asked->item[i].kind != AFTER_SINGLETON &&
			!item_same(&x->item[n++], &asked->item[i]))
			return true;
	return false;
}

/* ---- The record ---- */

static size_t wait_size(const struct dependency_wait *x)
{
	return sizeof(*x) + x->nitems * sizeof(x->item[0]) + x->memory.bytes;
}

size_t dependencies_bytes(const struct workload *w)
{
	const struct dependency_wait *x = w->after;
	return x ? wait_size(x) + x->nitems * sizeof(struct predecessor_name) : 0;
}

/* The rule concerns no ClusterQueue while there is none. */
static void count_singleton(struct queue *q, const struct dependency_wait *x, int more)
{
	size_t before = q->predecessors->singletons;
	if (!x->is_singleton)
		return;
	q->predecessors->singletons = more > 0 ? before + 1 : before - 1;
	if (before == 0 || q->predecessors->singletons == 0)
		features_edited(q);
}

static void wait_free(struct queue *q, struct dependency_wait *x)
{
	count_singleton(q, x, -1);
	for (size_t i = 0; i < x->nitems; i++)
		predecessors_leave(q, &x->item[i]);
	alarm_clear(&q->alarms, &x->alarm);
	list_leave(&x->due);
	list_leave(&x->of_family);
	list_leave(&x->unrecorded);
	workload_keep_text(q, &x->record, NULL);
	q->workload_bytes -= wait_size(x);
	arena_done(&x->memory);
	free(x);
}

void dependencies_forget(struct queue *q, struct workload *w)
{
	if (w->after)
		wait_free(q, w->after);
	w->after = NULL;
}

static struct dependency_wait *wait_new(struct queue *q, struct workload *w, const struct job *j)
{
	const struct dependencies *d = &j->after;
	size_t n = items_of(d);
	struct dependency_wait *x = mem_alloc(sizeof(*x) + n * sizeof(x->item[0]));
	x->w = w;
	x->ns = arena_string(&x->memory, j->ns);
	x->on_failure = d->on_failure;
	x->is_singleton = asks_singleton(d);
	alarm_init(&x->alarm, ALARM_DEPENDENCY, ++q->counters.alarms, w);
	for (size_t i = 0; i < d->count; i++) {
		const struct dependency *from = &d->item[i];
		if (from->kind == AFTER_SINGLETON)
			continue;
		struct dependency_item *to = &x->item[x->nitems++];
		to->wait = x;
		to->kind = from->kind;
		to->text = arena_string(&x->memory, from->text);
		if (!from->name)
			to->term = selector_term_copy(&x->memory, &from->selector);
	}
	q->workload_bytes += wait_size(x);
	count_singleton(q, x, 1);
	return x;
}

/* What an earlier leader has written counts for a Job that is new to us: of others we know better. */
static bool held_before(const struct dependency_wait *old, const struct job *j,
	const struct dependency *d, bool *ret_is_lost)
{
	for (size_t i = 0; old && i < old->nitems; i++)
		if (old->item[i].verdict == VERDICT_HOLDS && item_same(&old->item[i], d)) {
			*ret_is_lost = old->item[i].is_lost;
			return true;
		}
	*ret_is_lost = !old && outcome_record_holds(j->after.record, &j->uid, d->text);
	return *ret_is_lost;
}

static void item_holds(struct dependency_item *item)
{
	item->verdict = VERDICT_HOLDS;
	item->wait->nheld++;
}

/* A Job that was started once waits for none of its items any more. */
void dependencies_take(struct queue *q, struct workload *w, const struct job *j)
{
	struct dependency_wait *old = w->after;
	const struct dependencies *asked = &j->after;
	if (!dependencies_differ(w, j))
		return;
	bool started = was_started(w, j);
	uint64_t old_recorded = old ? old->recorded : 0;
	w->after = asked->count > 0 ? wait_new(q, w, j) : NULL;
	/* What is new in it is read by unrecorded_see(). */
	bool is_ours = outcome_record_lines(asked->record, &j->uid);
	if (w->after)
		workload_keep_text(q, &w->after->record,
			old	  ? old->record
			: is_ours ? asked->record
				  : NULL);
	size_t n = 0;
	for (size_t i = 0; i < asked->count; i++) {
		const struct dependency *d = &asked->item[i];
		if (d->kind == AFTER_SINGLETON)
			continue;
		struct dependency_item *item = &w->after->item[n++];
		if (held_before(old, j, d, &item->is_lost) || started)
			item_holds(item);
		else
			predecessors_join(q, item, j->ns, d);
	}
	if (old)
		wait_free(q, old);
	if (!w->after)
		return;
	w->after->created_ms = j->created_ms;
	w->after->recorded = old_recorded;
	if (old)
		unrecorded_mark(q, w->after);
	if (w->after->is_singleton && w->family)
		list_add(family_singletons(w->family), &w->after->of_family);
	for (size_t i = 0; i < w->after->nitems; i++)
		predecessors_judge(q, &w->after->item[i]);
}

void dependencies_see(
	struct queue *q, struct workload *w, const struct job *j, const struct progress *was)
{
	(void)was;
	if (w->after)
		unrecorded_see(q, w->after, j);
}

/* ---- Verdicts ---- */

/* The failure that counts is the last one: so long some item has not failed the Job may be about
 * to be mended. */
static int64_t failed_ms(const struct dependency_wait *x)
{
	int64_t last_ms = 0;
	for (size_t i = 0; i < x->nitems; i++) {
		const struct dependency_item *item = &x->item[i];
		if (item->verdict == VERDICT_NEVER)
			last_ms = greater(last_ms, awaited_failed_ms(item->awaited));
	}
	return last_ms;
}

/* When its decision is to be given. A failure at an unknown time counts from when the queue saw
 * it: between decisions that time is not known either, and the alarm asks at the next one. */
static void arm(struct queue *q, struct dependency_wait *x)
{
	list_leave(&x->due);
	x->given = false;
	alarm_clear(&q->alarms, &x->alarm);
	if (x->nnever == 0 || x->on_failure == DEPENDENCY_FAILURE_WAIT)
		return;
	int64_t since_ms = greater(failed_ms(x), x->created_ms);
	x->since_unknown = failed_ms(x) == 0;
	alarm_set(&q->alarms, &x->alarm,
		x->since_unknown ? q->now_ms : quantity_add(since_ms, DEPENDENCY_GRACE_MS));
}

static void item_turns(struct queue *q, struct dependency_item *item, enum dependency_verdict v)
{
	struct dependency_wait *x = item->wait;
	bool failure_moves = v == VERDICT_NEVER || item->verdict == VERDICT_NEVER;
	x->nnever += (size_t)(v == VERDICT_NEVER) - (size_t)(item->verdict == VERDICT_NEVER);
	item->verdict = v;
	workload_edited(q, x->w);
	if (v == VERDICT_HOLDS)
		item_holds(item);
	if (failure_moves)
		arm(q, x);
	if (dependencies_hold(x->w) && x->w->place != PLACE_NOWHERE)
		workload_replace(q, x->w);
	q->counters.version++;
}

void dependency_item_judge(struct queue *q, struct dependency_item *item)
{
	if (!item->awaited)
		return;
	enum dependency_verdict v = awaited_verdict(item->awaited, item);
	if (v == item->verdict)
		return;
	if (v == VERDICT_HOLDS) {
		item->is_lost = !awaited_is_in_ledger(item->awaited);
		if (item->is_lost)
			unrecorded_mark(q, item->wait);
		item->awaited = NULL;
		list_leave(&item->of_awaited);
	}
	item_turns(q, item, v);
}

void dependencies_recall(struct queue *q, struct dependency_wait *x, const char *record)
{
	const struct uid *own = &x->w->key.uid;
	if (!outcome_record_lines(record, own) || (x->record && !strcmp(x->record, record)))
		return;
	workload_keep_text(q, &x->record, record);
	for (size_t i = 0; i < x->nitems; i++) {
		struct dependency_item *item = &x->item[i];
		if (!outcome_record_holds(record, own, item->text))
			continue;
		item->is_lost = true; /* what is written stays */
		if (item->verdict == VERDICT_HOLDS)
			continue;
		predecessors_leave(q, item);
		item_turns(q, item, VERDICT_HOLDS);
	}
	predecessors_recall_for(q, x);
}

/* ---- Decisions ---- */

void dependencies_tell_again(struct queue *q, struct workload *w)
{
	if (w->after && !w->after->given)
		arm(q, w->after);
}

void dependencies_ring(struct queue *q, struct workload *w)
{
	struct dependency_wait *x = w->after;
	if (x->since_unknown) {
		x->since_unknown = false;
		alarm_set(&q->alarms, &x->alarm, quantity_add(q->now_ms, DEPENDENCY_GRACE_MS));
		return;
	}
	if (!x->given && !list_in(&x->due))
		list_add(&q->predecessors->due, &x->due);
}

/* One on hold is its owner's again, and one that is invalid may wait for something else once it is
 * mended: dependencies_tell_again(). */
static bool may_be_told(const struct workload *w)
{
	return !w->reservation && !w->hold && !w->invalid && !w->deleting;
}

struct dependency_wait *dependencies_take_due(struct queue *q)
{
	while (!q->paused && !list_empty(&q->predecessors->due)) {
		struct dependency_wait *x =
			container_of(q->predecessors->due.next, struct dependency_wait, due);
		list_leave(&x->due);
		x->given = may_be_told(x->w);
		if (x->given)
			return x;
	}
	return NULL;
}

bool queue_job_waits_in_vain(const struct queue *q, const struct uid *uid)
{
	const struct workload *w = queue_find_workload(q, uid);
	return w && w->after && w->after->nnever > 0;
}

static void dependencies_freed(struct queue *q, struct workload *w)
{
	if (w->after)
		unrecorded_mark(q, w->after);
}

static void singleton_parts(const struct workload *w, struct parting *p)
{
	if (workload_is_singleton(w))
		parting_add(p, w->family, family_name(w));
}

static bool dependencies_asked_for(const struct job *j)
{
	return j->after.count > 0;
}

/* Sleeps until a Job says what it waits for, or that it is a singleton. */
const struct feature dependencies_feature = {
	.sleeps = true,
	.asked_for = dependencies_asked_for,
	.parts = singleton_parts,
	.job_fault = dependencies_fault,
	.job_differs = dependencies_differ,
	.job_read = dependencies_take,
	.job_bytes = dependencies_bytes,
	.job_may_wait = dependencies_hold,
	.job_released = dependencies_tell_again,
	.job_forgotten = dependencies_forget,
	.job_seen = dependencies_see,
	.job_freed = dependencies_freed,
};
