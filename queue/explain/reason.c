/* The names of reasons, as people and Kueue's conditions know them. */
#include "sluice/queue.h"

const char *stop_reason_name(enum stop_reason r)
{
	switch (r) {
	case STOP_REASON_NONE:
		return "";
	case STOP_REASON_CLUSTERQUEUE_STOPPED:
		return "ClusterQueueStopped";
	case STOP_REASON_LOCALQUEUE_STOPPED:
		return "LocalQueueStopped";
	case STOP_REASON_HELD:
		return "Held";
	case STOP_REASON_PREEMPTED:
		return "Preempted";
	case STOP_REASON_PODS_READY_TIMEOUT:
		return "PodsReadyTimeout";
	case STOP_REASON_REQUEUE_LIMIT:
		return "DeactivatedDueToRequeuingLimitExceeded";
	case STOP_REASON_MAX_RUN:
		return "DeactivatedDueToMaximumExecutionTimeExceeded";
	case STOP_REASON_WINDOW_CLOSED:
		return "WindowClosed";
	case STOP_REASON_WINDOW_OPENING:
		return "WindowOpening";
	case STOP_REASON_WINDOW_QUOTA:
		return "WindowQuota";
	case STOP_REASON_PRICE:
		return "PriceAboveCeiling";
	case STOP_REASON_BUDGET:
		return "BudgetExhausted";
	case STOP_REASON_IDLE_RECLAIMED:
		return "IdleResourcesReclaimed";
	case STOP_REASON_RESERVED:
		return "AdvanceReservation";
	}
	return "";
}

const char *preemption_reason_name(enum preemption_reason r)
{
	switch (r) {
	case PREEMPTION_NONE:
		return "";
	case PREEMPTION_IN_CLUSTERQUEUE:
		return "InClusterQueue";
	case PREEMPTION_IN_COHORT_RECLAMATION:
		return "InCohortReclamation";
	case PREEMPTION_IN_COHORT_FAIR_SHARING:
		return "InCohortFairSharing";
	case PREEMPTION_IN_COHORT_RECLAIM_WHILE_BORROWING:
		return "InCohortReclaimWhileBorrowing";
	}
	return "";
}

const char *wait_reason_name(enum wait_reason r)
{
#define WAIT_REASON_NAME(reason, name) [WAIT_##reason] = name,
	static const char *const names[] = {WAIT_REASONS(WAIT_REASON_NAME)};
#undef WAIT_REASON_NAME
	return names[r];
}

bool wait_reason_needs_change(enum wait_reason r)
{
	return r == WAIT_DEACTIVATED || r == WAIT_HELD || r == WAIT_MISCONFIGURED ||
	       r == WAIT_NO_MATCHING_FLAVOR || r == WAIT_SUSPENDED || r == WAIT_EXCEEDS_MAX ||
	       r == WAIT_DEPENDENCY_NEVER;
}

const char *wait_reason_phrase(enum wait_reason r)
{
	static const char *const phrases[] = {[WAIT_NOT] = "",
		[WAIT_DEACTIVATED] = "its owner (deactivated)",
		[WAIT_HELD] = "its release (on hold)",
		[WAIT_MISCONFIGURED] = "a correction",
		[WAIT_TOO_MANY] = "fewer waiting Jobs",
		[WAIT_NO_MATCHING_FLAVOR] = "a flavor that suits",
		[WAIT_SUSPENDED] = "its queue (stopped)",
		[WAIT_NEVER_FITS] = "a node that suits",
		[WAIT_EXCEEDS_MAX] = "more quota than there is",
		[WAIT_START_AFTER] = "its start time",
		[WAIT_DEPENDENCY_NEVER] = "a dependency that failed",
		[WAIT_DEPENDENCY] = "other Jobs",
		[WAIT_WINDOW] = "its window",
		[WAIT_WINDOW_FIT] = "a longer window",
		[WAIT_PRICE] = "a lower price",
		[WAIT_BUDGET] = "budget",
		[WAIT_NAMESPACE_QUOTA] = "its namespace's ResourceQuota",
		[WAIT_USER_LIMIT] = "a Job of its user to end",
		[WAIT_MAX_RUNNING] = "a Job of its LocalQueue to end",
		[WAIT_NODES_FULL] = "room on nodes",
		[WAIT_BACK_OFF] = "its pause to end",
		[WAIT_QUOTA] = "quota",
		[WAIT_PREEMPTED] = "pods of stopped Jobs to end",
		[WAIT_BEHIND] = "the Job ahead",
		[WAIT_RESERVED] = "an AdvanceReservation",
		[WAIT_PENDING_EVALUATION] = "the next pass",
		[WAIT_LEDGER_DOWN] = "Postgres"};
	return phrases[r];
}
