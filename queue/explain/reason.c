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
#define WAIT_REASON_NAME(reason, name, phrase) [WAIT_##reason] = name,
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
#define WAIT_REASON_PHRASE(reason, name, phrase) [WAIT_##reason] = phrase,
	static const char *const phrases[] = {WAIT_REASONS(WAIT_REASON_PHRASE)};
#undef WAIT_REASON_PHRASE
	return phrases[r];
}
