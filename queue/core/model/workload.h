/*
 * A workload: a Job in the queue's memory, a few hundred bytes.
 *
 * It stands in exactly one place, and only workload_place() and workload_unplace() move it:
 *
 *   aside      something else than quota stops it: it is held or misconfigured; its LocalQueue is
 *              closed; Jobs that it waits for have not ended (dependency_wait.h); its terms on time
 *              and price are not met (terms.h); its user has as many Jobs in line as may be
 *              (user.h);
 *   back-off   it may not start before a time, and is in queue.back_off;
 *   ready      it is in a group of its ClusterQueue (group.h);
 *   promised   runs are being stopped for it (reservation.h);
 *   reserved   it holds quota (reservation.h).
 *
 * In all places but the last it waits. It owns its strings and references.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_WORKLOAD_H
#define SLUICE_QUEUE_CORE_MODEL_WORKLOAD_H

#include "base/uid.h"
#include "base/list.h"
#include "base/tree.h"
#include "sluice/job.h"
#include "sluice/queue.h"

struct queue;
struct group;
struct localqueue;
struct account;
struct clusterqueue;
struct dependency_wait;
struct family;
struct line_place;
struct nice;
struct past;
struct priority_class;
struct cohort_tree;
struct reservation;
struct shape;
struct terms;
struct user;

#define HOLD_SHOWN 600 /* bytes of what a hold says that are kept, and shown */

/* The place of a Job in its ClusterQueue's order, which is total. */
struct order_key {
	int32_t priority; /* that of its class, capped by its ClusterQueue */
	int64_t due_ms;	  /* its latest start, once that has come (terms.h); else 0 */
	int64_t queued_ms;
	uint64_t arrival;
	struct uid uid;
};

int order_cmp(const struct order_key *a, const struct order_key *b);

enum workload_place {
	PLACE_NOWHERE, /* between two places, inside one call */
	PLACE_ASIDE,
	PLACE_BACK_OFF,
	PLACE_READY,
	PLACE_PROMISED,
	PLACE_RESERVATION,
};

/* What a Job's status says of the pods of all its runs. */
struct progress {
	int64_t version;
	int32_t active, ended;
	int32_t left; /* completions still to come; -1: as many as run at one time */
};
struct progress progress_of(const struct job *j);

struct workload {
	struct order_key key;
	struct tree_node in_order; /* ready: clusterqueue.order; back-off: queue.back_off */
	struct tree_node in_group; /* ready: group.waiting */
	struct link of_localqueue, of_class, of_user;
	struct localqueue *lq;	    /* the one its label names now, even while it is reserved */
	struct user *user;	    /* who submitted it, in that LocalQueue (user.h) */
	struct line_place *in_line; /* among the user's waiting Jobs (user.h), or NULL */
	struct priority_class *class;
	struct shape *shape;		 /* what it asks for now, even while it is reserved */
	struct group *group;		 /* ready only */
	struct reservation *reservation; /* what it holds, or NULL */
	struct reservation *promise;	 /* what it was promised, or NULL */
	char *invalid;			 /* NULL, or why it can never start as it is */
	char *hold;			 /* NULL, or what its annotation sluice.dev/hold says */
	const char *blocked; /* NULL, or what the gate sees in its way: queue_block_job() */
	struct nice *nice;   /* where it stands among its user's Jobs, or NULL: nice.h */
	struct past *past;   /* what earlier attempts left behind, or NULL: run.h */
	struct dependency_wait *after; /* the Jobs it waits for, or NULL: dependency_wait.h */
	struct terms *terms;	       /* its owner's terms on time and money, or NULL: terms.h */
	struct family
		*family; /* its expected duration is that of their runs (duration.h), or NULL */
	struct link of_family;
	uint64_t edited; /* queue_job_edited(), as far as its own facts go */
	int64_t not_before_ms;
	int64_t max_run_ms;  /* 0: its ClusterQueue's default */
	int64_t expected_ms; /* 0: unknown; else from: */
	enum duration_source expected_from;
	int32_t most_pods; /* that it may have had at once */
	/* Bits and bytes: a word more would be eight bytes for each Job. */
	enum workload_place place : 8;
	enum job_grow grow : 2; /* as its Job says */
	enum priority_source priority_source : 2;
	bool deleting : 1;
	bool unread : 1;	    /* adopted, and its Job was not seen since */
	bool ends_when_stopped : 1; /* job_ends_when_stopped() */
	bool fills_gaps : 1; /* by its priority and its ClusterQueue, as the priority is capped */
	bool yielded_again;  /* preempted twice or more at that value of news */
	bool cut; /* its shape is without directives: they were too long to keep (overflow.h) */
	uint32_t yielded; /* cohort_tree.news when it was last preempted; 0: never */
	int32_t wants; /* so many pods its run would have if it grew (growth.h); 0: it does not */
	uint32_t in_vain; /* cohort_tree.news when Jobs were last preempted for it in vain; or 0 */
	uint64_t exempt;  /* RunPolicies that spare it at a close: bits of runpolicy.exempts */
	struct progress progress; /* of the pods of all its runs, as its Job says */
	int64_t stopping_at_ms;	  /* the stop that its annotation announces; 0: none */
	char name[];
};

/* Replaces *kept by a copy of text (NULL: none) and keeps q->workload_bytes right. */
void workload_keep_text(struct queue *q, char **kept, const char *text);

struct workload *workload_new(struct queue *q, const struct job *j);
void workload_free(struct queue *q, struct workload *w); /* must stand nowhere */

/* Returns whether the Job differs from what is known of it. */
bool workload_differs(struct queue *q, const struct workload *w, const struct job *j,
	const struct account *account);
/* Takes over what the Job says. A waiting workload must stand nowhere meanwhile. */
void workload_take(
	struct queue *q, struct workload *w, const struct job *j, const struct account *account);

/* Notes that a fact of the workload's own has changed: forecasts of it are out of date. */
void workload_edited(struct queue *q, struct workload *w);

/* Puts the workload where it belongs now / takes it out of its place. */
void workload_place(struct queue *q, struct workload *w);
void workload_unplace(struct queue *q, struct workload *w);
/* Returns whether a workload that holds quota will wait in cq when it is stopped, and may start
 * then by time. ResourceQuotas are not asked, because they still count its leaving pods. At worst
 * the Jobs behind it wait until it has left. Nothing starts by this. */
bool workload_returns(const struct workload *w, const struct clusterqueue *cq, int64_t now_ms);
void workload_replace(struct queue *q, struct workload *w); /* both, unless it is reserved */
/* Take a ready workload out of its place in line, and into another one (nice.h). */
void workload_leave_line(struct queue *q, struct workload *w);
void workload_join_line(struct queue *q, struct workload *w);

/* Places a workload anew that came into its user's line, or out of it. */
void workload_stand_anew(struct queue *q, struct workload *w);

/* Sets the workload's expected duration. */
void workload_expect(
	struct queue *q, struct workload *w, int64_t expected_ms, enum duration_source from);

/* A gap filler has a priority below spec.gapFillers of its ClusterQueue. It preempts nothing, waits
 * for no run that leaves, and holds up no Job behind it. */
static inline bool workload_fills_gaps(const struct workload *w)
{
	return w->fills_gaps;
}
/* Returns the priority that the workload asks for, before its ClusterQueue caps it: the value of
 * its class. A run whose class is not there keeps the priority that counted last. */
int32_t workload_claims(const struct workload *w);
/* Gives a run the priority that counted last under an earlier leader, unless its class is there, or
 * this queue knows better. False: it stays as it was. */
bool workload_recall_priority(struct queue *q, struct workload *w, int32_t priority);
/* Returns whether the workload may preempt, by its priority and its class. */
bool workload_displaces(const struct workload *w);

/* Moves the workload, also among the runs, because the value of its class, or its ClusterQueue's
 * cap, has changed. */
void workload_reprioritise(struct queue *q, struct workload *w);
/* The gate of a LocalQueue may have changed: its waiting workloads follow. */
void workload_regate(struct queue *q, struct localqueue *lq);

/* Notes that the workload is preempted. Until quota comes free otherwise (cohort_tree.news) it
 * preempts no Job through which it was preempted, with fair sharing: cohort_tree.h. */
void workload_note_yield(struct workload *w, const struct cohort_tree *cohort_tree);
bool workload_has_yielded(const struct workload *w, const struct cohort_tree *cohort_tree);
/* Returns whether the workload was preempted twice or more, with nothing free in between. The
 * classic search then preempts no more in order to borrow. */
bool workload_yields_for_ever(const struct workload *w, const struct cohort_tree *cohort_tree);

/* Notes that Jobs were preempted for the workload, and that its pods do not fit on the nodes all
 * the same. Until quota comes free otherwise, or the nodes have space, it preempts none. Else the
 * next Job would take the freed quota and be stopped for it, for ever. */
void workload_note_vain_displacement(struct workload *w, const struct cohort_tree *cohort_tree);
bool workload_displaced_in_vain(const struct workload *w, const struct cohort_tree *cohort_tree);

/* Returns how much of the memory of its LocalQueue the workload takes (overflow.h). */
size_t workload_slots(const struct workload *w);

/* The order of queue.back_off. */
int workload_back_off_order(const struct tree_node *a, const struct tree_node *b);

#endif
