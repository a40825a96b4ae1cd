/*
 * Disruption: what a stop does to the pods of a run. PodDisruptionBudgets of the namespace say how
 * many may go now, terminationGracePeriodSeconds says how long they may take.
 *
 * A budget never prevents a stop: the API server asks budgets only when pods are evicted, and
 * suspending a Job deletes its pods. But of candidates that serve equally, the ones with pods
 * that the budgets allow to go are chosen first (victim_search.h).
 *
 * The labels of pods are kept with the reservation, so waiting Jobs pay nothing for them. A Job
 * that runs before its reservation is adopted from the ledger has them in `roomless` until then.
 *
 * status.disruptionsAllowed is as old as the last update by the disruption controller. Pods of runs
 * that were stopped since then are subtracted.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_DISRUPTION_H
#define SLUICE_QUEUE_CORE_MODEL_DISRUPTION_H

#include "base/map.h"
#include "base/list.h"
#include "queue/requests/podlabels.h"
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
	int32_t allowed; /* the status, less the pods stopped since */
	struct arena memory;
};

/* What a stop does to the pods of a run. */
struct pods_facts {
	struct podlabels *labels; /* NULL: unknown */
	int64_t grace_ms;
};

struct disruptions {
	struct map namespaces; /* namespaces with a budget */
	struct map roomless;   /* Jobs that run and have no reservation (yet) */
	struct podlabel_sets labels;
};

void disruptions_init(struct disruptions *d);
void disruptions_done(struct disruptions *d);
size_t disruptions_bytes(const struct disruptions *d);

/* Reads what the Job says of its pods. */
void disruption_see(struct queue *q, const struct workload *w, const struct job *j);
/* The workload has a reservation from here on / has none any more / is gone. */
void disruption_enter(struct queue *q, struct reservation *r);
void disruption_leave(struct queue *q, struct reservation *r);
void disruption_forget(struct queue *q, const struct workload *w);

/* Returns whether there is a budget in the Job's namespace. */
bool disruption_concerns(const struct queue *q, const struct reservation *r);
/* Finds the budgets that select the run's pods, by name; at most cap. */
size_t disruption_budgets(struct queue *q, const struct reservation *r,
	const struct disruption_budget **ret, size_t cap);

/* Returns whether a budget selects the run's pods. */
bool disruption_guards(struct queue *q, const struct reservation *r);

/* Subtracts so many pods, which the run gives, from its budgets. */
void disruption_spend_pods(struct queue *q, const struct reservation *r, int32_t pods);
/* Subtracts the pods of a run that is being stopped from its budgets, once for each run. */
void disruption_spend(struct queue *q, struct reservation *r);

/* Runs that leave or give pods, of one ClusterQueue or of a Cohort tree. */
struct stopping {
	size_t leaving, n;	    /* n: of these, how many were told to stop */
	size_t giving;		    /* runs that go on, and give pods (shrink.h) */
	int64_t grace_ms, since_ms; /* of these n: the longest grace period, the first stop */
};
struct stopping stopping_of(const struct clusterqueue *cq);
struct stopping stopping_in(const struct cohort_tree *cohort_tree);

#endif
