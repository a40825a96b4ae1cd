/*
 * Expected ends: how long Jobs of files or of a live cluster take, where nothing tells the
 * simulation (sluice.dev/simulate-duration). The first of these counts that is longer than the run
 * so far:
 *
 *   sluice.dev/expected-duration.
 *   spec.activeDeadlineSeconds.
 *   the family: the median of its last runs that ended well, of Jobs that are still there; only in
 *       a live cluster.
 *   --assume-duration: for a run that has lasted longer, so long from now on.
 *
 * No run is longer than its activeDeadlineSeconds. A Job with none of these never ends by itself.
 * Such Jobs are listed (world.endless), so that nobody relies on what waits behind them.
 *
 * Memory: ENDS_KEPT runs of each family.
 */
#ifndef SLUICE_CLI_SIMULATE_ENDS_H
#define SLUICE_CLI_SIMULATE_ENDS_H

#include "base/map.h"
#include "cli/simulate/world.h"

#define ENDS_KEPT 20

struct ends_family;

struct ends {
	struct map families;	     /* struct ends_family */
	struct ends_family **family; /* the families in the order in which they were told */
	size_t nfamilies;
	int64_t assumed_ms; /* 0: nothing is assumed */
};

void ends_init(struct ends *x, int64_t assumed_ms);
void ends_done(struct ends *x);

/* Tells of a run of that family that ended well at ended_ms, after ran_ms. In any order; "" is no
 * family. */
void ends_tell(
	struct ends *x, const char *ns, const char *family, int64_t ran_ms, int64_t ended_ms);

/* Settles, once, when all Jobs are there: Jobs of w, and its CronJobs, without a duration get one,
 * or are listed. The queue is told of the families, too, as a live one is. */
void ends_settle(const struct ends *x, struct world *w);

#endif
