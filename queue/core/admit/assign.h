/*
 * Flavor choice: in each resource group one flavor for everything that the claim needs of it.
 * Groups choose independently. They look at quota THEN, because victims' quota may
 * be promised to this claim, and quota promised to other Jobs may not be used.
 *
 * A flavor is had by fitting, by waiting for victims, or by preempting. flavorFungibility says
 * which is better and when the search stops. A flavor is as good as its worst
 * resource and borrows as far as the one that borrows furthest; a choice is as good as its worst
 * group. A flavor that is had only by the rule for gap fillers comes behind every one that fits.
 *
 * Partial admission (Kueue's KEP-420): the most pods with which a Job can start that may start with
 * fewer. Asked only when all its pods neither fit nor find victims.
 *
 * The number is found by bisection, as in Kueue. That assumes that if some number fits, fewer fit,
 * too. Where that is not so (another flavor, other victims), the answer fits but may not be the
 * largest.
 */
#ifndef SLUICE_QUEUE_CORE_ADMIT_ASSIGN_H
#define SLUICE_QUEUE_CORE_ADMIT_ASSIGN_H

#include "queue/core/model/plain_fit.h"

struct queue;
struct workload;

/* Are there flavors to try behind this choice? */
bool choice_goes_on(const struct clusterqueue *cq, const struct choice *c);

/* Chooses for `pods` pods of w. `after`: the choice that failed, or NULL. Leaves the quota tree as
 * it was. */
enum assign_verdict assign_flavors(struct queue *q, struct clusterqueue *cq, const struct claim *c,
	const struct workload *w, int32_t pods, const struct choice *after,
	struct choice *ret_choice);

/* Chooses among all flavors, without preemption. By preference assign_flavors() may skip a flavor
 * that fits for one in which it preempts. When that has failed, this finds the skipped flavor. */
enum assign_verdict assign_beside(struct queue *q, struct clusterqueue *cq, const struct claim *c,
	const struct workload *w, int32_t pods, struct choice *ret_choice);

/* At most `most` pods (all of its own, or what rules let start). `after` as in assign_flavors().
 * ASSIGN_FITS or ASSIGN_PREEMPTS, and the choice; for the latter victims_find() finds some. Any
 * other verdict: there is no such number. */
enum assign_verdict partial_find(struct queue *q, struct clusterqueue *cq, const struct claim *c,
	const struct workload *w, int32_t most, const struct choice *after,
	struct choice *ret_choice);

#endif
