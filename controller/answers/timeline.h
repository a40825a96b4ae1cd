/*
 * A Timeline: what is and what is expected, on one axis of time.
 *
 * A lane is a ClusterQueue, from now until the end of the stretch that was asked for: its windows
 * and prices as its week has them (week.h), its AdvanceReservations, and its Jobs as bars.
 *   - A Job that holds quota stands from its start until its expected end.
 *   - A Job that waits stands where it is expected to start: at the p50 of its forecast, or where
 *     time alone decides (a window that opens, a pause that ends) at that moment. If the forecast is
 *     later than that by over a minute, other Jobs go first, and the forecast counts.
 *   - A Job whose start is not known, or is after the stretch, is in no bar. It is counted in more.
 *
 * Alike Jobs are folded into one bar, and there are caps (timeline_fold.h): thousands of bars say
 * nothing on one axis, and would be asked for every few seconds.
 *
 * A namespace is told of the ClusterQueues to which its LocalQueues lead, if these let it in
 * (namespaceSelector: a LocalQueue may name any), and of those in which its Jobs hold quota. Bars are of its own Jobs; those of others in these queues are two numbers. The Cohort, which
 * may be named for another team, is left out. Windows, prices and AdvanceReservations are told: the
 * sentences about its waiting Jobs name them, too.
 *
 * What was is in histories?fold=true: the ledger knows it.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_TIMELINE_H
#define SLUICE_CONTROLLER_ANSWERS_TIMELINE_H

#include "base/buf.h"
#include "base/err.h"
#include "controller/answers/job_query.h"
#include "controller/answers/queued_jobs.h"
#include "controller/common/view.h"

extern const struct view timeline_view;

/* Appends the Timeline that q asks for. ERR_GONE, and nothing is appended: there is no such
 * ClusterQueue, or none of which that namespace is told. */
int timeline_put(
	struct queued_jobs *all, const struct job_query *q, struct buf *out, struct err *e);

#endif
