/*
 * Retention: attempts that ended long ago are deleted from the ledger, a thousand at a time, and
 * the sums of their runs are kept by month (sql/forget.sql, migration "retention").
 *
 * What may go. The transfers of an attempt are the keys that make each of its operations take
 * effect once. So they go only with the whole attempt, and only when none of its operations can
 * come again:
 *   - The attempt is closed: everything but a RESERVE is SPENT, with its rows or without.
 *   - A RESERVE is sent again only by a leader that has no answer to it. Until then its reservation is
 *     open: what would close it comes after the answer, or from a later leader, and then the fence is
 *     closed to the first.
 *   - The number of an attempt comes again only if the Job outlives its rows and somebody took the
 *     admission annotation off it: else the gate counts on from that. Whatever the first attempt of
 *     that number had under way was over weeks ago.
 *   - A new leader does not read it back (recall.h): it ended before `since_ms` below.
 *
 * Retention works on the background's connection (pg.h), so that no admission waits for it, and
 * behind the leader's epoch, without holding the lease. A batch that is cut off in the middle is a
 * transaction that did not happen.
 */
#ifndef SLUICE_CONTROLLER_LEDGER_RETENTION_H
#define SLUICE_CONTROLLER_LEDGER_RETENTION_H

#include <stdint.h>

#include "controller/common/log.h"

#define RETENTION_DAY_MS INT64_C(86400000)
/* A new leader reads five weeks back (recall.h); clocks differ, and people look late. */
#define RETENTION_LEAST_MS (40 * RETENTION_DAY_MS)

struct pg;
struct retention;

struct retention_options {
	struct pg *pg;	 /* of the background; freed first, or its loop does not run meanwhile */
	struct log *log; /* NULL: nothing is logged */
	int64_t keep_ms; /* how long attempts are kept after their end; 0: for ever */
};

struct retention *retention_new(const struct retention_options *o);
void retention_free(struct retention *r);

/* Forgets what is due; returns at once. Call it about once a second, while leading under that
 * epoch. What ended at since_ms or later stays: a new leader may read it. tick_ms: a clock that is
 * never set. */
void retention_tick(
	struct retention *r, int64_t epoch, int64_t since_ms, int64_t now_ms, int64_t tick_ms);

/* Sets the pace, for tests. */
void retention_set_pace(struct retention *r, int64_t pause_ms, int64_t batch);

#endif
