/*
 * What goes wrong, how often, and what was really reached.
 *
 * Swarm testing: each seed draws which classes of fault there are and how strong each is, so that
 * some worlds are calm but for one thing and some are awful. Odds are in 10,000; an interval is the
 * mean time between two, 0 for never.
 */
#ifndef SLUICE_TEST_SIM_FAULTS_H
#define SLUICE_TEST_SIM_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "test/sim/rng.h"

struct faults {
	/* Each request to the API server */
	int64_t lost, unanswered, late, busy, denied;
	int64_t api_latency_ms;
	/* Each request to the ledger; and all of it away for a while */
	int64_t ledger_lost, ledger_unanswered, ledger_partial;
	int64_t ledger_latency_ms, ledger_outage_every_ms, ledger_squeeze_every_ms;
	/* Watches */
	int64_t watch_lag_ms, watch_cut_every_ms, watch_repeat, watch_relist;
	/* The controllers */
	int64_t crash_every_ms, crash_in_step, pause_every_ms, clock_step_every_ms;
	/* The Job controller's own view */
	int64_t jobs_lag_ms, jobs_write_lost;
	int64_t pod_stuck; /* a pod that takes minutes to terminate */
	/* People */
	int64_t people_every_ms, admins_every_ms;
	int64_t bypass, vandal;
};

void faults_draw(struct faults *f, struct rng *r);
void faults_calm(struct faults *f); /* faults stop */

/* What was reached. The coverage test wants every one of them to be more than zero; those from
 * POD_REFUSED on in worlds with a cluster. */
#define PATHS(X)                                                                                   \
	X(START, "starts landed")                                                                  \
	X(STOP, "stops landed")                                                                    \
	X(TELL, "stories landed")                                                                  \
	X(NOTICE, "notices landed")                                                                \
	X(LATE_NOTICE, "notices landed that were in doubt")                                        \
	X(WARN, "warnings of a stop landed")                                                       \
	X(START_IN_WINDOW, "starts decided under a RunPolicy")                                     \
	X(STOP_BY_WINDOW, "stops decided by a window or a price")                                  \
	X(STOP_BY_BUDGET, "... because a Budget was spent")                                        \
	X(BILL, "releases with a bill")                                                            \
	X(SPENT_RECALLED, "takeovers that were told what was spent")                               \
	X(PREEMPTED_GROWN, "runs preempted once they had run minRun")                              \
	X(CUT_SHORT, "work queues with a success that had to stop")                                \
	X(OWN_LENT, "Jobs at rest that lack what is lent of their own")                            \
	X(BUDGET_ADDS_UP, "Budgets that were compared with their segments")                        \
	X(FENCE, "fences landed")                                                                  \
	X(RESERVE, "reservations")                                                                 \
	X(LEDGER_MOVED, "failovers of the ledger")                                                 \
	X(BATCHES_FORGOTTEN, "... that lost batches")                                              \
	X(LEADER_BLIND, "leaders cut off from the API server alone")                               \
	X(LEADER_MUTE, "leaders cut off from the ledger alone")                                    \
	X(CROSSED, "... beside one that is cut off from the other")                                \
	X(BLIND_LEFT, "leaders that left because they followed no Jobs")                           \
	X(STORE_BACK, "API servers that went back, versions and all")                              \
	X(STORE_BACK_BUMPED, "... and whose versions go on beyond all others")                     \
	X(BEGAN_ANEW, "controllers that ended because of it")                                      \
	X(JOB_BACK, "Jobs that are there again")                                                   \
	X(JOB_UNMADE, "Jobs that were never made")                                                 \
	X(POD_BACK, "pods that run again")                                                         \
	X(RUN_BACK, "runs that are there again without their reservation")                         \
	X(RUN_BACK_SEEN, "... that were about to be stopped after a pass")                         \
	X(ADOPT, "runs adopted that the ledger had lost")                                          \
	X(COMMIT, "commits")                                                                       \
	X(SHRINK, "shrinks")                                                                       \
	X(RELEASE, "releases")                                                                     \
	X(VOID, "voids")                                                                           \
	X(REFUSED_RESERVE, "reservations refused by a ceiling")                                    \
	X(SPENT_RESERVE, "attempts found spent")                                                   \
	X(REPEATED_RESERVE, "reservations repeated")                                               \
	X(FINISHED, "Jobs finished")                                                               \
	X(GUARD_REFUSED, "PATCHes refused by a guard")                                             \
	X(LATE_START, "in-doubt starts that landed late")                                          \
	X(LATE_START_HELD, "late starts held off by a guard")                                      \
	X(LATE_START_TAKEOVER, "starts that landed after a takeover")                              \
	X(TAKEOVER, "takeovers")                                                                   \
	X(TAKEOVER_PENDING, "takeovers with pending holds")                                        \
	X(TAKEOVER_POSTED, "takeovers with posted holds")                                          \
	X(TAKEOVER_RELEASING, "takeovers with releasing holds")                                    \
	X(FENCED_BATCH, "batches of a zombie fenced")                                              \
	X(FENCED_RESERVE, "RESERVEs of a zombie fenced")                                           \
	X(FENCED_VOID, "VOIDs of a zombie fenced")                                                 \
	X(FENCED_BY_LOSS, "... because its batches are lost")                                      \
	X(FENCED_LOAD, "loads of a zombie fenced")                                                 \
	X(DEPOSED, "leaders deposed")                                                              \
	X(REQUEST_LOST, "requests lost before they landed")                                        \
	X(REQUEST_UNANSWERED, "requests landed but not answered")                                  \
	X(REQUEST_BUSY, "requests answered busy")                                                  \
	X(REQUEST_DENIED, "requests denied")                                                       \
	X(BATCH_LOST, "batches lost before they landed")                                           \
	X(BATCH_UNANSWERED, "batches landed but not answered")                                     \
	X(BATCH_PARTIAL, "batches landed in part")                                                 \
	X(LEDGER_OUTAGE, "ledger outages")                                                         \
	X(WATCH_CUT, "watches cut")                                                                \
	X(WATCH_REPEAT, "watch events repeated")                                                   \
	X(WATCH_RELIST, "watches relisted")                                                        \
	X(LIST_CUT, "lists cut in the middle")                                                     \
	X(CRASH, "crashes")                                                                        \
	X(CRASH_IN_STEP, "crashes between an intent and its request")                              \
	X(PAUSE, "pauses longer than the lease")                                                   \
	X(CLOCK_STEP, "clock steps")                                                               \
	X(STALE_PODS, "pods made after the stop, from an old view")                                \
	X(PODS_OF_NOBODY, "pods made after their Job was deleted")                                 \
	X(STATUS_CONFLICT, "status writes in conflict")                                            \
	X(DELETE_WAITING, "Jobs deleted while waiting")                                            \
	X(DELETE_PENDING, "Jobs deleted while reserved, not started")                              \
	X(DELETE_STARTED, "Jobs deleted after the start, before COMMIT")                           \
	X(DELETE_RUNNING, "Jobs deleted while running")                                            \
	X(DELETE_DRAINING, "Jobs deleted while draining")                                          \
	X(DELETE_SLOW, "Jobs deleted in the foreground or orphaning")                              \
	X(EDIT_PENDING, "Jobs edited while reserved, not started")                                 \
	X(USER_SUSPEND, "running Jobs suspended by their user")                                    \
	X(USER_SUSPEND_EARLY, "... before the Job controller saw the start")                       \
	X(REAPPLIED, "... by a manifest that was applied again")                                   \
	X(HOLD_RUNNING, "running Jobs held")                                                       \
	X(UNLABEL_HELD, "labels removed from Jobs with a hold")                                    \
	X(MOVE_HELD, "queues changed of Jobs with a hold")                                         \
	X(REBORN, "Jobs created again under an old name")                                          \
	X(CHILD, "Jobs made by Jobs that run, unsuspended")                                        \
	X(PREEMPTED, "Jobs preempted")                                                             \
	X(PREEMPTED_IN_COHORT, "... for a Job of another ClusterQueue")                            \
	X(BORROWED, "reservations beyond a ClusterQueue's own quota")                              \
	X(PARTIAL, "starts landed with fewer pods than asked for")                                 \
	X(COUNTS_BACK, "stops landed that put the owner's numbers back")                           \
	X(NARROWED, "runs that were told to go on with fewer pods")                                \
	X(NARROWED_BY_OWNER, "... by their owner")                                                 \
	X(REAPPLIED_NARROWED, "... and whose manifest was applied again")                          \
	X(GROWN, "runs that were told to go on with more pods")                                    \
	X(GROWN_WHOLE, "... with all that their owners wrote")                                     \
	X(LATE_GROWTH, "... by a PATCH that was in doubt")                                         \
	X(GROWTH_REFUSED, "... not: the ledger refused it")                                        \
	X(GROWTH_ADOPTED, "growths adopted that the ledger had lost")                              \
	X(CLEARED, "start times of stopped runs that were taken off")                              \
	X(RETOLD, "runs of an earlier leader whose story was told anew")                           \
	X(GROWTH_LATE_HELD, "... so that a late growth was held off")                              \
	X(GIVES_TO_WINDOW, "runs that were told to give pods for a window's smaller quota")        \
	X(GROWN_AT_REST, "runs at rest that have all that they could have")                        \
	X(RECLAIMED, "stops landed because idle room was wanted back")                             \
	X(LENT_START, "starts landed with what is lent written in")                                \
	X(LENT_BACK, "starts landed of such Jobs with their owners' own")                          \
	X(LENT_APPLIED, "templates applied again over what was written in")                        \
	X(LENT_REFUSED, "... refused by an old server")                                            \
	X(UNREADY, "Jobs stopped because their pods were not ready")                               \
	X(DEACTIVATED, "... once too often")                                                       \
	X(RAN_OUT, "Jobs stopped because they ran as long as they may")                            \
	X(COHORT_CIRCLE, "Cohorts put below each other")                                           \
	X(BYPASS, "unsuspends by somebody else")                                                   \
	X(BYPASS_STOPPED, "... that were stopped again")                                           \
	X(QUOTA_UNDER_USE, "quotas lowered below use")                                             \
	X(QUEUE_DRAINED, "queues told to stop and drain")                                          \
	X(QUEUE_DELETED, "queues deleted")                                                         \
	X(OVERDUE, "complaints about pods that do not go")                                         \
	X(TENANT_PAST, "Jobs of a hostile tenant made unsuspended")                                \
	X(TENANT_RAISED, "... raised beyond their reservation while they ran")                     \
	X(TENANT_KEPT, "... kept by a finalizer while they held quota")                            \
	X(TENANT_KEPT_GIVEN, "... whose quota came back with their last pod")                      \
	X(TENANT_ORPHANED, "... deleted without their pods")                                       \
	X(TENANT_UNCONTROLLED, "... whose pods nobody could count")                                \
	X(TENANT_BESIDE, "honest Jobs that run beside them at rest")                               \
	X(NEWCOMER_ADOPTED, "Jobs adopted that ran before they were queued")                       \
	X(NEWCOMER_OVER, "... beyond the quota")                                                   \
	X(NEWCOMER_CHEATS, "Jobs that left their queue to run, and came back to it")               \
	X(UNQUEUED, "Jobs that are not queued")                                                    \
	X(OUTCOMES_NOTED, "records of what was waited for")                                        \
	X(PREDECESSORS_READ, "reads of what Jobs wait for")                                        \
	X(FOLLOWER, "starts landed of Jobs that wait for others")                                  \
	X(FOLLOWER_OF_GONE, "... one of which was gone by then")                                   \
	X(FOLLOWER_WAITS, "Jobs at rest that wait for others")                                     \
	X(NEVER_HELD, "Jobs put on hold because what they wait for failed")                        \
	X(NEVER_DELETED, "... or deleted")                                                         \
	X(BOOKED, "bookings of Jobs that want their cheapest start, decision by decision")         \
	X(CHEAPEST_START, "starts of such Jobs")                                                   \
	X(KEPT_START, "decisions while bookings kept Jobs from starting")                          \
	X(ADVANCE_ACCEPTED, "AdvanceReservations whose status said that they are accepted")        \
	X(ADVANCE_REFUSED, "... or not")                                                           \
	X(ADVANCE_RETOLD, "accepted ones that a later leader was told of")                         \
	X(ADVANCE_ACTIVE, "decisions in the time of one")                                          \
	X(ADVANCE_KEPT, "... that had its quota")                                                  \
	X(ADVANCE_PODS, "... whose quota pods had that did not end")                               \
	X(ADVANCE_LOWERED, "decisions while quota had been lowered below one")                     \
	X(ADVANCE_USED, "starts of Jobs in what is reserved for them")                             \
	X(ADVANCE_STOP, "runs stopped for one")                                                    \
	X(ADVANCE_GIVEN_BACK, "decisions while some of one had been given back")                   \
	X(POD_REFUSED, "pods refused by a ResourceQuota")                                          \
	X(POD_LATE, "... because some that have ended were counted still, or of others")           \
	X(QUOTA_LOWERED, "ResourceQuotas that got less, or came")                                  \
	X(QUOTAS_ANEW, "ResourceQuotas listed anew for who waits")                                 \
	X(WAITS_QUOTA, "Jobs that wait for a ResourceQuota at rest")                               \
	X(POD_BOUND, "pods that got a node")                                                       \
	X(POD_UNSCHEDULABLE, "... that did not at first")                                          \
	X(NODE_LESS, "nodes that went or were cordoned")                                           \
	X(WAITS_NODES, "Jobs that wait for nodes at rest")

enum path {
#define X(name, text) PATH_##name,
	PATHS(X)
#undef X
		PATH_COUNT
};

const char *path_text(enum path p);

#endif
