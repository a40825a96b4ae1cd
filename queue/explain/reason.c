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
	}
	return "";
}

bool stop_reason_deactivates(enum stop_reason r)
{
	return r == STOP_REASON_REQUEUE_LIMIT || r == STOP_REASON_MAX_RUN;
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
