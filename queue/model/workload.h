/*
 * A workload: a Job in the queue's memory, a few hundred bytes.
 *
 * It stands in exactly one place, and only workload_place() and workload_unplace() move it:
 *
 *   aside      something other than quota keeps it: held, misconfigured, its LocalQueue closed, not
 *              the time or the price that its owner asks for (terms.h)
 *   back-off   not before a time: in queue.back_off
 *   ready      in a group of its ClusterQueue (group.h)
 *   promised   runs are being stopped for it (reservation.h)
 *   reserved   it holds quota (reservation.h)
 *
 * All but the last are waiting. The strings and references belong to it.
 */
#ifndef SLUICE_QUEUE_MODEL_WORKLOAD_H
#define SLUICE_QUEUE_MODEL_WORKLOAD_H

#include "base/uid.h"
#include "base/list.h"
#include "queue/rules/namespace_quota.h"
#include "base/tree.h"
#include "sluice/job.h"

struct queue;
struct group;
struct localqueue;
struct account;
struct clusterqueue;
struct family;
struct past;
struct priority_class;
struct cohort_tree;
struct reservation;
struct shape;
struct terms;

/* The place in a ClusterQueue's order: a total one. */
struct order_key {
	int32_t priority; /* the one that counts: as its ClusterQueue caps that of its class */
	int64_t due_ms;	  /* its latest start, when that has come (terms.h); 0: it has not */
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

struct workload {
	struct order_key key;
	struct tree_node in_order; /* ready: clusterqueue.order; back-off: queue.back_off */
	struct tree_node in_group; /* ready: group.waiting */
	struct link of_localqueue, of_class;
	struct localqueue *lq; /* the one its label names now, even while it is reserved */
	struct priority_class *class;
	struct shape *shape;		 /* what it asks for now, even while it is reserved */
	struct group *group;		 /* ready only */
	struct reservation *reservation; /* what it holds, or NULL */
	struct reservation *promise;	 /* what it was promised, or NULL */
	char *invalid;			 /* NULL, or why it can never start as it is */
	const char *blocked;   /* NULL, or what the gate sees in its way: queue_block_job() */
	struct past *past;     /* what earlier attempts left behind, or NULL: run.h */
	struct terms *terms;   /* what its owner asks of time and money, or NULL: terms.h */
	struct family *family; /* whose runs tell how long it takes, or NULL: duration.h */
	struct link of_family;
	int64_t not_before_ms;
	int64_t max_run_ms;  /* 0: its ClusterQueue's default */
	int64_t expected_ms; /* what is known, from: */
	enum duration_source expected_from;
	int32_t most_pods; /* that it may have had at once */
	enum workload_place place;
	uint32_t yielded;	  /* realm.news when it last had to make room; 0: never */
	uint64_t exempt;	  /* of which policies' closes, by its labels: runpolicy.exempts */
	struct progress progress; /* of the pods of all its runs, as its Job says */
	int64_t stopping_at_ms;	  /* the stop of which its annotation tells; 0: none */
	uint32_t in_vain; /* realm.news when others last made room for it in vain; 0: never */
	bool held, deleting;
	bool yielded_again; /* twice or more since realm.news was that */
	bool cut; /* its shape is without directives: they were too long to keep (overflow.h) */
	char name[];
};

struct workload *workload_new(struct queue *q, const struct job *j);
void workload_free(struct queue *q, struct workload *w); /* must stand nowhere */

/* Does the Job say anything else now than what is known of it? */
bool workload_differs(struct queue *q, const struct workload *w, const struct job *j,
	const struct account *account);
/* Takes over what it says; a waiting workload must stand nowhere meanwhile. */
void workload_take(
	struct queue *q, struct workload *w, const struct job *j, const struct account *account);

/* Puts it where it belongs now / takes it from where it is. */
void workload_place(struct queue *q, struct workload *w);
void workload_unplace(struct queue *q, struct workload *w);
/* It holds quota; will it wait in cq once it does not, and might it start then by
 * time? Whether its namespace's quotas will let its pods in is not asked, for they count those that
 * are leaving still: at worst those behind it wait until it has left. Nothing starts by this. */
bool workload_returns(const struct workload *w, const struct clusterqueue *cq, int64_t now_ms);
void workload_replace(struct queue *q, struct workload *w); /* both, unless it is reserved */

/* It is expected to take so long from now on. */
void workload_expect(
	struct queue *q, struct workload *w, int64_t expected_ms, enum duration_source from);

/* A gap filler, by its negative priority: it preempts nothing, waits for no run that leaves, and
 * holds up no Job behind it. */
static inline bool workload_fills_gaps(const struct workload *w)
{
	return w->key.priority < 0;
}
/* May runs be preempted for it, as far as it itself is concerned? */
bool workload_displaces(const struct workload *w);

/* What its class says, or its ClusterQueue caps, is something else: its place follows, also that
 * among those who run. */
void workload_reprioritise(struct queue *q, struct workload *w);
/* The gate of a LocalQueue may be another one: its waiting workloads follow. */
void workload_regate(struct queue *q, struct localqueue *lq);

/* It has to make room. Until something else comes free it asks nobody to go for fair sharing's
 * sake: priorities, what is whose, and shares of different resources are such that A may have to go
 * for B, B for C, and C for A, for ever, with nobody's work ever done. */
void workload_yields(struct workload *w, const struct cohort_tree *cohort_tree);
bool workload_has_yielded(const struct workload *w, const struct cohort_tree *cohort_tree);
/* Twice or more, with nothing free in between: both searches let it go round once, as Kueue does,
 * and no further. */
bool workload_yields_for_ever(const struct workload *w, const struct cohort_tree *cohort_tree);

/* Other Jobs had to stop for it, and it has no room on the nodes all the same. Until quota comes
 * free by itself, or the nodes have room, it displaces none: the next in the queue takes what they
 * left, and would be stopped for it, for ever. */
void workload_displaces_in_vain(struct workload *w, const struct cohort_tree *cohort_tree);
bool workload_displaced_in_vain(const struct workload *w, const struct cohort_tree *cohort_tree);

/* The order of queue.back_off. */
int workload_back_off_order(const struct tree_node *a, const struct tree_node *b);

#endif
