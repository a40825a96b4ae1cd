/*
 * Smaller quota: where a window makes quota smaller than what is used, runs with a minimum give pods
 * (RunPolicy spec.quota; sluice.dev/min-parallelism). No run is stopped for it.
 *
 * Which quota that of a row as spec and windows say it now (quota_row.timed), where some window of
 *                the same policies, or the spec without one, says more. An edit that makes quota
 *                smaller makes no debt, nor does what a lead keeps, or what nodes lend.
 * How much       a node that uses more than its limits owes what is beyond, but no more than what the
 *                windows below it have taken (quota_row.owed). That is worked out when a window
 *                makes quota smaller, when runs are adopted by a new leader, and when a run keeps its
 *                pods because its Job cannot be told: level, not edge. From then on it only falls,
 *                whatever is edited: as pods and runs go, or quota rises.
 * Which runs     those whose quota counts at that node: each node up to there uses more than its own
 *                quota. So a ClusterQueue gives what it borrows, and of a node without a parent all
 *                give.
 * In which order as runs are preempted: lower priority, then later start; each down to its minimum
 *                before the next. Each keeps as many pods as it can, the most important first.
 *
 * A run gives nothing if its stop was decided or announced: what it has counts as gone. Nor if the
 * policy exempts it (atClose.exempt). Neither preemption.minRun nor atClose.minRun protects it: it
 * is not stopped. One that is not confirmed yet is asked once it is (smaller_quota_look_again()).
 *
 * Nothing grows into it: while a node uses more than its limits there is no room below it.
 *
 * Cost: nothing while no window turns. A look goes through the runs of a Cohort tree once.
 */
#ifndef SLUICE_QUEUE_FEATURES_WINDOWS_SMALLER_QUOTA_H
#define SLUICE_QUEUE_FEATURES_WINDOWS_SMALLER_QUOTA_H

#include "queue/core/model/state.h"

struct decision;
struct reservation;

/* What its nodes owe is worked out anew. */
void smaller_quota_begins(struct queue *q, struct cohort_tree *tree);
/* If the run's Cohort tree owes pods: it may have some to give by now. */
void smaller_quota_look_again(struct queue *q, struct reservation *r);
/* Runs give pods, in Cohort trees of which one of these was told. */
void smaller_quota_ask(struct queue *q);

/* For the DECISION_SHRINK of a run that gives pods for the quota of this row: by which policy, why. */
void smaller_quota_tell(struct queue *q, const struct quota_row *row, struct decision *ret);
/* The RunPolicy for which the quota of a ClusterQueue's row is another one at other times; NULL: there
 * is none. *ret_now: the quota of a window that counts now; NULL: the spec's does. *ret_more: the
 * largest of a window; NULL: there is none. */
const struct runpolicy *smaller_quota_policy(const struct clusterqueue *cq,
	const struct quota_row *row, const struct window_quota_spec **ret_now,
	const struct window_quota_spec **ret_more);

#endif
