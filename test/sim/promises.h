/*
 * What must hold whatever happens, checked from outside: against the models alone, by arithmetic
 * that shares nothing with queue and gate.
 *
 *   after every event
 *   P1  ledger use <= ceiling (or what it was when the ceiling was lowered), balances = sum of the
 *       holds; pods of each Job <= what the ledger holds for it, row by row
 *   P2  at most one open reservation for a Job; a Job that Sluice let run has the reservation of
 *       that attempt
 *
 *   when quiet (nothing has moved for a while after the last fault)
 *   P2  each live queued Job is known to the leader, once, and to be explained; none runs that was
 *       not let in
 *   P3  each RESERVE resolved once: COMMIT then RELEASE, or VOID; an open reservation has a running Job,
 *       or pods that have not gone
 *   P4  each reservation that was given back tells reason, actor and time, and a stop what was lost
 *       the leader's queue and the ledger have the same books
 *   P7  no waiting Job fits beside what the ledger holds, and its pods beside those that there are
 *       on the nodes and in the quotas of its namespace, and none could take back what is lent of
 *       its ClusterQueue's own (take_back.h); no run that may grow has room for a pod more
 *       (growing.h); the ledger knows today's quotas
 *
 *   P11 a tenant's Jobs start as soon as they would without the hostile one (tenant.h), but for the
 *       quota that one holds rightly. To play each world twice would not tell: after the first
 *       pause that is drawn otherwise they are two worlds. So it is judged by what could keep an
 *       honest Job besides: at rest no pod runs that was not let in or is more than is reserved
 *       (but for Jobs that were deleted before they could be stopped); quota is held only by Jobs
 *       that run, for no more pods than they can have, or that have pods left (P3); a Job that can
 *       never start keeps none behind it (P7); and at any time none is told to stop, or waited
 *       for, that no stop reaches
 *
 * P12 no run is preempted in its first preemption.minRun (min_run.h), asked at each decision
 *
 * P13 no Job starts before what it waits for has come about (pipelines.h)
 *
 * P14 no run is stopped for a window's smaller quota, and at rest none is still to give pods
 *     (window_quota.h)
 *
 * P15 who ran before it was queued is adopted by an admin's word alone, and never stopped for it
 *     (newcomers.h)
 *
 * P16 no user runs or holds more than the limits of a LocalQueue let (users.h)
 *
 * P18 an accepted AdvanceReservation stays accepted and has its quota at its time, unless quota was lowered or
 *     pods did not end, and then its leader says so; no Job starts over it (advance.h)
 *
 * P19 no work queue is stopped for room, or for pods, once a pod of it has succeeded (cut_short.h)
 *
 * P17 what a queue was told, recorded and replayed, gives the same (sim --replayed)
 *
 * P9 and P10 are of worlds with a cluster (cluster.h).
 *
 * P8 (same seed, same log) is main.c's.
 */
#ifndef SLUICE_TEST_SIM_PROMISES_H
#define SLUICE_TEST_SIM_PROMISES_H

#include <stdbool.h>

struct sim;

void promises_check(struct sim *s);
/* The leader's queue counts as held what the ledger holds. Also asked when a world does not come to
 * rest: it is the usual cause. */
void promises_check_books(struct sim *s);
/* all_ended: pods have been let end, so that no reservation may be left at all. pauses_over: it was
 * quiet for longer than a Job waits that was stopped twice for its idle resources. If not, such Jobs
 * are left out. True: one would have been found to wait for nothing. */
bool promises_check_quiet(struct sim *s, bool all_ended, bool pauses_over);

#endif
