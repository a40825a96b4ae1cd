/*
 * A reservation: the quota that one workload holds, from the decision to start it (or its adoption
 * from the ledger) until the gate releases it.
 *
 * It remembers what it was given, and by which objects, because all of that may be edited: the
 * Job's label may name another LocalQueue, the spec other flavors. It knows for how many pods each
 * line was, so that fewer pods hold their exact part.
 *
 * How it counts in the quota tree:
 *
 *   promised   THEN only: runs are being stopped for it. It starts once it fits NOW; with
 *              clusterFit Now, once their pods are gone. Nodes count it as admitted, so that no
 *              other Job takes the space that comes free there
 *   held       NOW and THEN; but pods that it gives NOW only (shrink.h)
 *   leaving    NOW only: it is being stopped, and its quota is promised to another workload
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_RESERVATION_H
#define SLUICE_QUEUE_CORE_MODEL_RESERVATION_H

#include "queue/core/model/claim.h"
#include "queue/price/run_bill.h"
#include "queue/core/model/state.h"
#include "queue/core/model/disruption.h"

enum reservation_state {
	RESERVATION_PROMISED,
	RESERVATION_HELD,
	RESERVATION_LEAVING,
};

struct reservation_line {
	struct quota_row *row;	     /* at the ClusterQueue's node */
	int64_t amount;		     /* NOW; THEN: reservation_line_then() */
	int64_t base;		     /* for reservation.base_pods */
	struct victim_entry *victim; /* in row->victim_index, or NULL */
};

/* The run of its Job: run.h. */
struct run_state {
	struct alarm alarm;
	enum stop_reason stop; /* of the DECISION_STOP, at stop_ms */
	int64_t stop_ms, end_ms;
	bool ready, was_ready; /* enough of its pods are / were before */
	int64_t began_ms;      /* by the clock as it is, where that was set since; else 0 */
	int64_t unready_ms;
	bool adopted;	    /* from the ledger: what its pods were before is not known */
	int64_t adopted_ms; /* ... at the first decision after that; or 0 */
	int64_t noticed_ms; /* when a window stops it, as its notice says; 0: no notice */
	bool sampled;	    /* its family has its duration */
};

/* The run gives pods: shrink.h. */
struct giving {
	int32_t keeps;			   /* so many stay; INT32_MAX: all */
	bool untold;			   /* ... and the gate was not told yet */
	enum preemption_reason preemption; /* PREEMPTION_NONE: for a window */
	struct uid by;
	const struct quota_row *quota; /* that a window made smaller; NULL: a window opens soon */
};

/* Idle resources are reclaimed from the run: shrink.h. */
struct reclaim {
	int32_t keeps; /* so many pods keep theirs; 0: it has to stop; INT32_MAX: all */
	bool untold;   /* ... and the gate was not told yet */
	char *why;     /* the last time; or NULL */
};

/* Of a run that changes its size, or may. Most runs have none. */
struct sizing {
	bool grows;	    /* DECISION_GROW was emitted, and the Job does not say so yet */
	int64_t grew_ms;    /* ... at any time, and its pods were not ready since; or 0 */
	int64_t changed_ms; /* when its size was last changed by a decision; 0: not since its start */
	int64_t reclaims_paid_ms; /* of those after which it went on: queue/job/stop_rate.h */
	struct grow_wish *wish;	  /* for more pods: growth.h; or NULL */
	struct giving giving;
	struct reclaim reclaim;
	bool cannot_give; /* its Job cannot be told to go on with fewer pods */
};

struct reservation {
	struct workload *w;
	struct clusterqueue *cq; /* that started it; NULL: adopted, and not known */
	struct localqueue *lq;
	struct user *user; /* for whom it began, in lq */
	struct shape *shape;
	struct link of_clusterqueue; /* cq->reservations, or cq->promised */
	struct link of_localqueue;   /* lq->reservations; not while promised */
	struct link of_family;	     /* family_runs(), or family_promises() */
	struct link suspect;	     /* in queue.suspects: may have to stop */
	enum reservation_state state;
	int32_t pods, base_pods;
	bool guessed; /* adopted, and the lines did not say for how many pods they are */
	bool as_seen; /* ... and its Job is not read: its pods are those of what was seen before */
	uint64_t serial; /* of its making: promises are kept in this order */
	bool confirmed;

	/* Why it is leaving; at most one of three. None: the gate said that it leaves. */
	enum preemption_reason preemption; /* for another Job: by which rule, */
	struct uid by;			   /* ... and for which */
	const char *cleared_for; /* the AdvanceReservation that takes its quota, a symbol */
	bool gives_back;	 /* it borrows quota whose owner's window opens soon (lead.h) */

	/* Deletion of its Job is under way: nothing stops the pods, and their end is not known. The
	 * run is no candidate, no promise waits for it, and no stop is decided. The gate says the
	 * same of a Job that it has not read yet. */
	bool lingers;
	/* A stop would end its Job as Complete: it is no candidate, but for quota that its owner
	 * takes back (victims.h). What is no preemption (a window, a hold, a Budget) stops it all
	 * the same, and an AdvanceReservation where no other run suffices. */
	bool ends_when_stopped;
	bool stop_given; /* DECISION_STOP was emitted, or it ends anyway: it is not stopped again,
			    and as a candidate it is before all other runs */
	int64_t reserved_ms, since_ms;
	int64_t expected_ms; /* how long, when it was promised or got its quota; 0: unknown */

	/* The run's expected end, where strategy Backfill needs it: run_ends.h. */
	struct tree_node by_end; /* in cq->ends */
	int64_t ends_ms;
	struct booking *booking; /* in the plan, or NULL: booked_runs.h */
	struct advance_users
		*advance_users; /* which AdvanceReservations it may use; NULL: not looked at */

	struct run_state run;
	int32_t made;  /* how many pods its attempt has made so far: namespace_quota.c */
	bool has_left; /* it has ended already; its history is: */
	struct job_history left;

	struct sizing *sizing; /* or NULL */
	struct bill bill;

	struct pods_facts pods_facts;
	bool spent; /* its pods were taken off what budgets allow */

	/* A promise: the runs that are stopped for it. */
	struct uid *giver;
	size_t ngivers;

	size_t nlines;
	struct reservation_line line[];
};

/* Returns when the run was confirmed, or until then when it got its quota. */
static inline int64_t reservation_since_ms(const struct reservation *r)
{
	return r->confirmed ? r->since_ms : r->reserved_ms;
}

/* Returns whether the run was told to grow, and its Job does not say so yet. */
static inline bool reservation_grows(const struct reservation *r)
{
	return r->sizing && r->sizing->grows;
}
/* Returns whether the run gives pods, until they are gone. What it gives counts THEN no more. */
static inline bool reservation_gives(const struct reservation *r)
{
	return r->sizing && r->sizing->giving.keeps < INT32_MAX;
}
/* Returns how many pods the run has THEN. */
static inline int32_t reservation_pods_then(const struct reservation *r)
{
	return reservation_gives(r) ? r->sizing->giving.keeps : r->pods;
}
/* Returns the run's sizing, which is made when it is first asked for. */
struct sizing *reservation_sizing(struct queue *q, struct reservation *r);

/* What a line counts THEN, where pods leave or all of it does. */
int64_t reservation_line_left(const struct reservation *r, const struct reservation_line *l);
/* What a line counts THEN. */
static inline int64_t reservation_line_then(
	const struct reservation *r, const struct reservation_line *l)
{
	bool whole = !r->sizing && r->state != RESERVATION_LEAVING;
	return whole ? l->amount : reservation_line_left(r, l);
}

/* Takes what the reservation counts THEN out of quota THEN, and puts it back. */
void reservation_take_away(const struct reservation *r);
void reservation_put_back(const struct reservation *r);

/* The memory that reservations are made of, in the queue (state.h). */
void reservations_init(struct queue *q);
void reservations_done(struct queue *q);

/* The workload has to be taken from where it stands and placed afterwards. */
struct reservation *reservation_start(struct queue *q, struct workload *w, struct clusterqueue *cq,
	const struct claim *claim, const struct choice *choice);
struct reservation *reservation_promise(struct queue *q, struct workload *w,
	struct clusterqueue *cq, const struct claim *claim, const struct choice *choice);
void reservation_adopt(struct queue *q, struct workload *w, const struct quota_line *lines,
	size_t n, int64_t reserved_ms);
/* Returns for how many pods such lines are, by what is known of the Job. */
int32_t reservation_pods_of(const struct workload *w, const struct quota_line *lines, size_t n);
/* Expects so many pods of that shape of a run that was adopted for a Job not read yet, until the
 * Job is read. Takes the reference to the shape. */
void reservation_expect_as_seen(
	struct queue *q, struct reservation *r, struct shape *shape, int32_t pods);
void reservation_end(struct queue *q, struct workload *w);
/* Follows a change of the Job: its shape, its deletion, and whether a stop would end it. */
void reservation_heed(struct queue *q, struct reservation *r);

/* The clock was set back, or an earlier leader's was fast: no run began later than now. Else
 * preemption.minRun would spare it until then. */
void reservations_begin_by_now(struct queue *q);

/* Marks the ClusterQueue as borrowing more, if a node of the lines, which took more THEN, borrows:
 * other ClusterQueues may take that back, so the next look searches them again (pass.h). Returns
 * whether one does. */
bool reservation_borrows_more(struct reservation *r);

/* Returns the next younger promise of the ClusterQueue; NULL: there is none. */
const struct reservation *reservation_younger_promise(const struct reservation *r);
/* Returns whether a promise fits NOW. */
bool reservation_fits_now(const struct reservation *r);
/* Keeps a promise: the workload starts. */
void reservation_keep_promise(struct queue *q, struct reservation *r);
/* Takes a promise back: the workload waits as before. */
void reservation_break_promise(struct queue *q, struct reservation *r);
/* Takes back the promise, if it has one, of a workload that stands nowhere. */
void reservation_forget_promise(struct queue *q, struct workload *w);

/* Lets a held reservation leave: from here on it counts NOW only. */
void reservation_leave(struct queue *q, struct reservation *r);
/* Preempts the reservation for w. A promise is only taken back, and its workload waits again. */
void reservation_displace(struct queue *q, struct reservation *r, const struct workload *w,
	enum preemption_reason why);

/* Notes that the run ends, for whatever reason: sets stop_given. */
void reservation_note_end(struct reservation *r);

/* Returns how many pods the run may have at once: as many as the Job asks for now, or will as soon
 * as it grows, within its quota. While the Job is not read, as many as it was told. */
int32_t reservation_pods_at_once(const struct reservation *r);

/* Returns the flavor of whose idle pool the run has cpu and memory; NULL: of none. */
const struct flavor *reservation_lender(const struct queue *q, const struct reservation *r);
/* Returns under which kind of names the run's pods ask for cpu and memory. */
enum lending reservation_lending(const struct queue *q, const struct reservation *r);

void reservation_confirm(struct queue *q, struct reservation *r, int64_t now_ms);
/* Returns what so many of the run's pods hold of a line, of what the line counts THEN. */
int64_t reservation_then(const struct reservation *r, size_t line, int32_t pods);
/* Returns what `more` pods more hold of a line; INT64_MAX: more than can be counted. */
int64_t reservation_more(const struct reservation *r, size_t line, int32_t more);
/* Grows the run to so many pods. There must be quota for them. */
void reservation_grow(struct queue *q, struct reservation *r, int32_t pods);
/* Shrinks the run to so many pods. Returns whether quota came free. */
bool reservation_shrink(struct queue *q, struct reservation *r, int32_t pods);

/* Has queue_decide() look at the run, because a change may mean a stop. */
void reservation_suspect(struct queue *q, struct reservation *r);

#endif
