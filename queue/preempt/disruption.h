/*
 * Disruption: what stopping a run does to its pods. How many of them may go at the moment, by the
 * PodDisruptionBudgets of their namespace, and how long they may take.
 *
 * Nobody is kept from being stopped by a budget: the API server asks budgets only when pods are
 * evicted, and a Job that is suspended deletes its pods. But of victims that would do equally,
 * those go of whom budgets say they may (victim_cost.h).
 *
 * The labels of pods are known of Jobs that have room, and kept with that; waiting Jobs pay nothing
 * for it. Of one that runs already and gets its room afterwards (adopted from the ledger) they are
 * kept until then.
 *
 * status.disruptionsAllowed is as old as the last word of the disruption controller. Pods of runs
 * that were stopped since then are taken off.
 */
#ifndef SLUICE_QUEUE_PREEMPT_DISRUPTION_H
#define SLUICE_QUEUE_PREEMPT_DISRUPTION_H

#include "base/map.h"
#include "base/list.h"
#include "queue/preempt/podlabels.h"
#include "sluice/spec.h"

struct job;
struct queue;
struct clusterqueue;
struct cohort_tree;
struct reservation;
struct workload;

struct disruption_budget {
	char *name;
	struct link of_namespace; /* by name */
	struct selector_term selector;
	int32_t allowed; /* as it was told, less what was stopped since */
	struct arena memory;
};

/* What a stop does to the pods of a run. */
struct pods_facts {
	struct podlabels *labels; /* NULL: unknown */
	int64_t grace_ms;
};

struct disruptions {
	struct map namespaces; /* those with a budget */
	struct map roomless;   /* Jobs that run and have no room (yet) */
	struct podlabel_sets labels;
};

void disruptions_init(struct disruptions *d);
void disruptions_done(struct disruptions *d);
size_t disruptions_bytes(const struct disruptions *d);

/* What the Job says of its pods now. */
void disruption_see(struct queue *q, const struct workload *w, const struct job *j);
/* The workload has room from here on / the room is no more / the workload is no more. */
void disruption_enter(struct queue *q, struct reservation *r);
void disruption_leave(struct queue *q, struct reservation *r);
void disruption_forget(struct queue *q, const struct workload *w);

/* Is there a budget in the Job's namespace? */
bool disruption_concerns(const struct queue *q, const struct reservation *r);
/* Those that select its pods, by name; at most cap. */
size_t disruption_budgets(struct queue *q, const struct reservation *r,
	const struct disruption_budget **ret, size_t cap);

/* It is being stopped: its pods are no longer allowed to others. Once for each run. */
void disruption_spend(struct queue *q, struct reservation *r);

/* Who leaves; and of those, who is stopped to make room for others: how long the pods of any of
 * them may take, and since when the first is. Of one ClusterQueue, or of all that share. */
struct stopping {
	size_t leaving, n;
	int64_t grace_ms, since_ms;
};
struct stopping stopping_of(const struct clusterqueue *cq);
struct stopping stopping_in(const struct cohort_tree *cohort_tree);

#endif
