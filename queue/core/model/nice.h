/*
 * Nice: the order in which a user's own Jobs stand in line (annotation sluice.dev/nice, -NICE_MAX to
 * NICE_MAX; the lower goes first, absent is 0).
 *
 * Each waiting Job has a place in line, that of its queueing: a time and an arrival. The Jobs of one
 * user, one LocalQueue and one priority that are in line may exchange their places. They are sorted
 * by nice, then by their queueing, and the earliest place is dealt to the first of them. So the set
 * of places is what it was, and no Job of another user moves by one place.
 *
 * A place is used up by the Job that starts from it: the Job that gave it up has the other's own
 * place from then on. Otherwise an old Job that is kept waiting could lend its early place to each
 * new Job of its user in turn, and the user would always be first. So a user's Jobs never have more
 * places ahead of another user's Job than were queued before that, however many start. And a start
 * changes nothing for the others of the deal, so it deals nothing.
 *
 * A Job that leaves its queue and comes back, as when its label is taken off and put on again, has by
 * that no earlier place than it had: the last NICE_GIVEN_MAX that left with a later one than that of
 * their queueing are remembered.
 *
 * Exchanged places are memory. A new leader knows the times of queueing alone, so each Job has its
 * own place again then; what follows from nice and these times is the same in each leader.
 *
 * Not in the deal, so that they keep their own place, and lend it to none:
 *
 *   - Jobs whose latest start has come (order_key.due_ms): they stand where their deadline puts
 *     them;
 *   - Jobs that could not run with all quota free, or on no node: they cost nothing to make, and
 *     their places would be tickets for later Jobs;
 *   - Jobs whose submitter is not known: they are no one person's;
 *   - Jobs that are set aside, also by the limit of their user's line (user.h);
 *   - Jobs behind the first NICE_DEALT_MAX of a user in a LocalQueue, which bounds what a tenant can
 *     cost.
 *
 * A user is dealt anew once at the beginning of a pass when a Job of the user came, was changed, or
 * went otherwise than by a start. Within the pass the user is dealt anew when Jobs come into line
 * (user.h). Only Jobs with another place move. Nothing is called for a user without a record here.
 * Edits of quota and nodes deal all anew.
 *
 * The key of a workload stays its own: how long it waits, what it may preempt and what the ledger
 * is told go by that. Only the order of the line asks workload_standing().
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_NICE_H
#define SLUICE_QUEUE_CORE_MODEL_NICE_H

#include "queue/core/model/workload.h"

#define NICE_DEALT_MAX 1000
#define NICE_GIVEN_MAX 512

/* Of a workload that has a nice, or a place that is not that of its queueing, or stands at one. */
struct nice {
	int32_t value;
	/* The place that it brings along instead of that of its key, and which of its key's. Its key
	 * has another one after pods that were not ready (run.h); then that counts. */
	struct place {
		int64_t queued_ms;
		uint64_t arrival;
	} own;
	bool exchanged;
	int64_t instead_of_ms;
	struct order_key stands; /* where it stands in line; else where it would */
	struct link of_user;	 /* user.displaced: it stands in line, not at its own place */
	struct workload *w;
	uint32_t before, behind; /* nices_count() */
};

/* The place of a Job that is not here any more. */
struct nice_given {
	struct uid uid;
	struct place own;
	int64_t instead_of_ms;
};

struct nices {
	struct link dirty; /* user.nice_dirty */
	struct link users; /* user.niced: that have records */
	uint64_t edits;	   /* of quotas and claims, as of the last time that all were dealt */
	struct nice_given given[NICE_GIVEN_MAX];
	size_t ngiven; /* ever: the last of them are kept */
};

void nices_init(struct nices *all);

/* Returns the workload's key in line. */
static inline const struct order_key *workload_standing(const struct workload *w)
{
	return w->nice ? &w->nice->stands : &w->key;
}
/* Returns the workload's key at its own place: where it would stand if its user gave no nice. */
struct order_key nice_own_key(const struct workload *w);

/* Gives a new workload, which has its user, the place that is remembered of its Job. Called where
 * some place is remembered. */
void nice_recall(struct queue *q, struct workload *w);
/* Takes over another value that the Job says. The workload stands nowhere meanwhile. */
void nice_take(struct queue *q, struct workload *w, int32_t value);
static inline int32_t nice_of(const struct workload *w)
{
	return w->nice ? w->nice->value : 0;
}
/* Counts a workload with a record at its user. */
void nice_join_user(struct queue *q, struct workload *w);
/* Takes a workload with a record off the count of its user. */
void nice_leave_user(struct workload *w);
void nice_forget(struct queue *q, struct workload *w);

/* Returns whether the workload is behind the first NICE_DEALT_MAX of its user. */
bool nice_is_beyond(const struct workload *w);

/* Prepares a workload to enter the line at its own place. Its user has Jobs with records. */
void nice_enter(struct queue *q, struct workload *w);
/* Follows a workload that has left the line; starts: to start, or for a promise. Its user has Jobs
 * with records. */
void nice_leave(struct queue *q, struct workload *w, bool starts);

/* Deals to all users of whom something changed; to all there are, when it is another question which
 * Jobs are possible. */
void nices_deal(struct queue *q);

/* Makes nice.before and .behind right of each of the user's records: how many of the others in the
 * deal were queued before it and have a higher nice, and how many were queued after it and have a
 * lower one. */
void nices_count(struct user *u);

#endif
