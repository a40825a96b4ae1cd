/*
 * What a workload waits for: the items of its annotation sluice.dev/after. A record of its own,
 * because most workloads have none.
 *
 * While an item does not hold, the workload is set aside (workload.h): it is in no group, is asked
 * in no pass, blocks and displaces nothing. An item that has held holds for good. One of a workload
 * that was started once holds, too: it could not have been started otherwise.
 *
 * `singleton` is none of these items: whether it holds changes all the time, so that it is a feature
 * of its own (singleton.c).
 *
 * When an item can hold no more and its owner asked for that, DECISION_HOLD or DECISION_DELETE is
 * given, DEPENDENCY_GRACE_MS after the failure. Once: until the annotation or what is known
 * changes.
 */
#ifndef SLUICE_QUEUE_FEATURES_DEPENDENCIES_DEPENDENCY_WAIT_H
#define SLUICE_QUEUE_FEATURES_DEPENDENCIES_DEPENDENCY_WAIT_H

#include "base/list.h"
#include "queue/core/model/alarm.h"
#include "queue/core/model/workload.h"
#include "queue/features/dependencies/predecessors.h"

struct dependency_item {
	struct dependency_wait *wait;
	struct link of_awaited;	 /* awaited.followers, or predecessor_namespace.crowded */
	struct awaited *awaited; /* NULL: it holds, or is crowded out */
	enum dependency_kind kind;
	/* An answer to a question that was asked before it waited may be older than it. So a new
	 * Job that has the name since does not count less than one that is gone. Compared with
	 * wanted.answered. */
	uint64_t needs;
	enum dependency_verdict verdict;
	bool is_lost;	  /* it holds, and that could not be read again: outcome_record.h */
	const char *text; /* "afterok:prep"; in the memory of its wait, like: */
	struct selector_term term;
};

struct dependency_wait {
	struct workload *w;
	struct arena memory; /* of texts and selectors */
	int64_t created_ms;  /* of its Job */
	enum dependency_failure on_failure;
	bool is_singleton;
	bool given;	    /* its decision was */
	bool since_unknown; /* since when it waits in vain */
	struct link due;    /* in dependencies.due: a decision is to be given */
	struct alarm alarm;
	/* The Job's record of outcomes (outcome_record.h): hashes of what the Job says, and of what
	 * is being written; 0: nothing. */
	struct link unrecorded;
	uint64_t recorded, being_written;
	char *record; /* as read last, for selectors that get a place later; or NULL */
	const char *ns;
	struct link of_family; /* family.singletons, if it is one */
	size_t nitems, nheld, nnever;
	struct dependency_item item[];
};

/* Takes over what the Job says, before it is placed. The workload stands nowhere, or is reserved. */
void dependencies_take(struct queue *q, struct workload *w, const struct job *j);
/* Each time that the Job is seen: what it says on itself. */
void dependencies_see(
	struct queue *q, struct workload *w, const struct job *j, const struct progress *was);
bool dependencies_differ(const struct workload *w, const struct job *j);
void dependencies_forget(struct queue *q, struct workload *w);
/* Returns why the Job can never start as it is, or NULL. */
const char *dependencies_fault(const struct job *j);

/* Returns whether the Job may start, singletons aside. */
static inline bool dependencies_hold(const struct workload *w)
{
	return !w->after || w->after->nheld == w->after->nitems;
}

static inline bool workload_is_singleton(const struct workload *w)
{
	return w->after && w->after->is_singleton;
}

/* Returns what the Job's items take in memory, with what is kept of the names they wait for. */
size_t dependencies_bytes(const struct workload *w);

/* Takes over what another leader knew and wrote on the Job. What holds by that holds for good. */
void dependencies_recall(struct queue *q, struct dependency_wait *x, const char *record);

/* Judges an item anew: what it waits for may have changed. */
void dependency_item_judge(struct queue *q, struct dependency_item *item);

/* Follows the Job's alarm: its decision is due, or its grace begins. */
void dependencies_ring(struct queue *q, struct workload *w);
/* Arms the alarm of a Job that was taken off its hold, or mended: before, nothing was decided. */
void dependencies_tell_again(struct queue *q, struct workload *w);
/* Takes the next Job on which a decision is to be given now; NULL: there is none. */
struct dependency_wait *dependencies_take_due(struct queue *q);

#endif
