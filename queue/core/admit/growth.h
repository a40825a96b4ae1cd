/*
 * Growth: runs that hold fewer pods than their owners asked for take more when there is room.
 *
 * A run grows if its Job has sluice.dev/min-parallelism and says sluice.dev/grow: "true", or its
 * ClusterQueue has growByDefault. It grows up to what its owner asked for, or to what is still to be
 * done where that is less, and in the flavors of its start.
 *
 * Growth comes last in a pass: it gets what no waiting Job would start with. It displaces no Job.
 * Each pod more passes what a start of it would have to pass:
 *
 *   quota     of its own flavors, NOW and THEN. So what is promised to other Jobs stays theirs.
 *   strategy  with StrictFIFO no run of a ClusterQueue grows while a Job waits at its head, and no
 *             run takes what a head keeps. With Backfill growth does not delay the head.
 *   rules     each is asked (feature.growth_pods).
 *   lending   a run does not grow into borrowed quota while a Job waits in another ClusterQueue that
 *             could take it back: the run would be stopped for it at once. A Job that is larger
 *             than all that it could ever have, or that a rule refuses, does not count.
 *
 * Of several runs: ClusterQueues take turns, and in each the order is that of waiting Jobs. In the
 * first round each run takes one pod, then one, two, four more, until nothing fits. So the runs
 * share the room evenly, whatever their sizes.
 *
 * A run grows at the earliest growInterval after its start or the last change of its size by Sluice.
 * After idle resources were reclaimed from it again and again it waits longer, as a Job does that was
 * stopped for them (queue/job/stop_rate.h).
 * A run that wants more pods has a wish. The wish
 *
 *   rests   until the interval is over, and as long again when something else than quota refused it; twice
 *           as long each time in a row, up to GROWTH_REST_MAX_MS. So refused runs do not keep those
 *           behind them from being asked.
 *   asks    from then on. It stands at the row in which it found no quota last, in the order of the
 *           queue, and a pass asks only those for which that row has room now. So runs that cannot
 *           grow cost nothing. At most GROWTH_ASKED_MAX runs are asked in a pass.
 *
 * A run that was told to grow has no wish until the gate says what became of it
 * (queue_grew_job()), and its size is not changed otherwise.
 */
#ifndef SLUICE_QUEUE_CORE_ADMIT_GROWTH_H
#define SLUICE_QUEUE_CORE_ADMIT_GROWTH_H

#include "queue/core/admit/nominate.h"

#define GROWTH_ASKED_MAX 256
/* If more than that could grow, the others are asked so much later. */
#define GROWTH_PAUSE_MS 1000
#define GROWTH_REST_MAX_MS 300000

struct grow_wish;

/* Whether a run wants more pods may have changed. */
void growth_heed(struct queue *q, struct reservation *r);
/* Lets a run rest from here on that has fewer pods now, as Sluice told it. */
void growth_shrank(struct queue *q, struct reservation *r, int64_t now_ms);
/* Lets a run rest from which idle resources were reclaimed, and which goes on. */
void growth_reclaimed(struct queue *q, struct reservation *r, int64_t now_ms);
/* Lets the wishes of all runs of the ClusterQueue rest anew, because its spec was edited. */
void growth_heed_all(struct queue *q, struct clusterqueue *cq);
/* Drops the run's wish, because it leaves, ends or gives pods. */
void growth_forget(struct queue *q, struct reservation *r);

/* No run rests for longer than the interval: after the clock was set back, or an earlier leader's
 * was faster, whose runs were adopted. */
void growth_shorten_rests(struct queue *q);

/* Wishes that have rested ask again: the alarm of cq rang. */
void growth_wake(struct queue *q, struct clusterqueue *cq);

/* Makes the runs grow for which there is room, after all starts of a pass. `scan`: the ClusterQueues
 * of a Cohort tree. What StrictFIFO heads keep is taken in THEN meanwhile. Returns how many
 * decisions were written. *ret_full: there may be more, but not in `out`. */
size_t growth_run(struct queue *q, const struct scan *scan, size_t nscans, struct decision *out,
	size_t cap, bool *ret_full);

/* For explanations: why a run that wants more pods has none yet. */
struct growth_view {
	int64_t rests_until_ms;	     /* 0: it asks */
	const char *refused;	     /* what refused it last, as the end of a sentence; or NULL */
	const struct quota_row *row; /* which lacks quota for a pod more; or NULL */
	int64_t lacks;		     /* ... so much */
};
/* Views the run's wish. False: the run does not want to grow, or is growing. */
bool growth_view(const struct reservation *r, struct growth_view *ret);
/* Returns whether the run's Job or its ClusterQueue says that it grows. */
bool growth_asked_for(const struct reservation *r);

#endif
