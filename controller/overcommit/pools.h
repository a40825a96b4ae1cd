/*
 * The pools: what the nodes of each flavor with an idle pool lend now, told to the queue.
 *
 * A node counts if the flavor stands for it: it has the flavor's labels, the flavor tolerates its
 * taints, and it is Ready and not cordoned. What its status says counts, as it was seen, for the
 * scheduler grants no more. If it is to say less, that counts: a Job that starts in room which soon
 * vanishes is soon stopped. What pods ask for there that are not of queued Jobs is left out, for
 * those hold no quota. The queue is told when this changed.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_POOLS_H
#define SLUICE_CONTROLLER_OVERCOMMIT_POOLS_H

#include "controller/overcommit/inventory.h"
#include "sluice/queue.h"

struct pools;

struct pools *pools_new(const struct inventory *inventory, struct queue *queue);
void pools_free(struct pools *p);

/* Takes s; a flavor that lends nothing (any more) is dropped. */
void pools_see(struct pools *p, struct flavor_spec *s);
void pools_drop(struct pools *p, const char *name);

size_t pools_count(const struct pools *p);
/* Sums again; true when the queue was told something new. */
bool pools_tell(struct pools *p);
/* Gives the pools as they were told, in name order; NULL past the last. */
const struct idle_pool *pools_at(const struct pools *p, size_t index);

#endif
