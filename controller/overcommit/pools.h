/*
 * The pools: what the nodes of each flavor with an idle pool lend now, told to the queue.
 *
 * Of each node that the flavor stands for (it has the flavor's labels, the flavor tolerates its
 * taints, it is Ready and not cordoned) counts what its status says, as it was seen: more than that
 * the scheduler would not grant. Where it is to say less, that counts: a Job that starts in room
 * which is no more there is stopped soon. Not counted is what pods ask for there that are not of
 * queued Jobs, for those hold no quota. Told when it changed.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_POOLS_H
#define SLUICE_CONTROLLER_OVERCOMMIT_POOLS_H

#include "controller/overcommit/inventory.h"
#include "sluice/queue.h"

struct pools;

struct pools *pools_new(const struct inventory *inventory, struct queue *queue);
void pools_free(struct pools *p);

/* Takes s. One that lends nothing (any more) is dropped. */
void pools_see(struct pools *p, struct flavor_spec *s);
void pools_drop(struct pools *p, const char *name);

size_t pools_count(const struct pools *p);
/* Sums again; true when the queue was told something new. */
bool pools_tell(struct pools *p);
/* As they were told; NULL past the last. In name order. */
const struct idle_pool *pools_at(const struct pools *p, size_t index);

#endif
