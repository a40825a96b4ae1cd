/*
 * The end of a world of --lending: nothing ends any more, and Jobs come one by one. After each the
 * world comes to rest, and the promises are asked. So a start alone can have enabled another Job.
 *
 * In half of these worlds the Jobs come as users draw them at any time. In the others there are
 * rounds. All Jobs are deleted, and admins put right what keeps ClusterQueues from starting. Then Jobs
 * come whose sizes go by what is in use, the first three to different ClusterQueues:
 *
 *   modest   low priority, and most of what is left of its ClusterQueue's own quota
 *   greedy   high priority, and nearly all that is free in the Cohort
 *   late     in between, and most of what is left of its own: that is lent
 *   small    two of them, of any priority
 *
 * The late one waits if the runs that borrow are as important as it is, and the others borrow
 * nothing. A small one can take a ClusterQueue of these beyond its own, and then the late one may have
 * what that borrows, with a run that is there for long. Of Jobs drawn anyhow one world in some
 * thousands has that.
 */
#ifndef SLUICE_TEST_SIM_ONE_BY_ONE_H
#define SLUICE_TEST_SIM_ONE_BY_ONE_H

#include <stddef.h>

#include "test/sim/people.h"
#include "test/sim/rng.h"

struct sim;

struct one_by_one {
	struct rng rng;			    /* of its own: other worlds are what they were */
	size_t next;			    /* which Job of a round comes now */
	size_t clusterqueue[CLUSTERQUEUES]; /* of the modest, the greedy and the late one */
};

/* rest: until nothing moves; then the promises are asked. */
void one_by_one(struct sim *s, void (*rest)(struct sim *s));

#endif
