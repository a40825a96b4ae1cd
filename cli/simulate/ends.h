/*
 * Expected ends: how long Jobs take, where nothing tells the simulation (sluice.dev/simulate-duration):
 * those of a live cluster, and those of files. The first of these that is longer than the run has lasted so far:
 *
 *   sluice.dev/expected-duration
 *   spec.activeDeadlineSeconds
 *   the family      the median of its last runs that ended well, of Jobs that are still there; of a live
 *                   cluster alone
 *   --assume-duration   of a run that has lasted longer, so long from now on
 *
 * No run is longer than its activeDeadlineSeconds. What has none of these never ends by itself. Such
 * Jobs are listed (world.endless), so that nobody takes what waits behind them for good.
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
	struct ends_family **family; /* the same, in the order in which they were told */
	size_t nfamilies;
	int64_t assumed_ms; /* 0: nothing is */
};

void ends_init(struct ends *x, int64_t assumed_ms);
void ends_done(struct ends *x);

/* A run of that family ended well at ended_ms, after ran_ms. In any order; "" is no family. */
void ends_tell(
	struct ends *x, const char *ns, const char *family, int64_t ran_ms, int64_t ended_ms);

/* Once, when all Jobs are there: those of w, and its CronJobs, without a duration get one, or are listed.
 * The queue is told of the families, too, for it goes by them as the live one does. */
void ends_settle(const struct ends *x, struct world *w);

#endif
