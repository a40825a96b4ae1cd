/*
 * The cache: the balance rows and open reservations of earlier batches, as this leader remembers
 * them. With it most batches need not read before they write.
 *
 * Why it may be believed. The rows of a cell are only written behind the fence of (epoch, session),
 * and under that pair all writing is ours, one round after the other, on one connection. So what
 * was read or written behind that fence stays so until a round of ours changes it. The cache learns
 * each such round when it is durable. A round that failed or was not answered, a connection that
 * went down, and another epoch empty the cache.
 *
 * It is not believed alone. A batch that is judged from memory is only written when every operation
 * took effect. The write itself proves what that relies on: the keys of the transfers, that no
 * operation was done before; a comparison (write_balances.sql), that the balances are as
 * remembered; the fence, that we lead. If one of them says no, nothing was written, and the batch
 * is judged anew by what is read. So is a batch with an operation that was REFUSED, REPEATED or
 * SPENT: the cache knows what is there, not what was.
 *
 * With a row, every row above it is always in the cache.
 */
#ifndef SLUICE_CONTROLLER_LEDGER_CACHE_H
#define SLUICE_CONTROLLER_LEDGER_CACHE_H

#include "controller/ledger/batch_plan.h"

struct cache;

struct cache *cache_new(void);
void cache_free(struct cache *m);
void cache_clear(struct cache *m);

/* Tells a new plan all that it must know, borrowed until the cache is next changed. False:
 * something is not remembered, and the plan, half told, is of no use. */
bool cache_tell(const struct cache *m, struct batch_plan *b);

/* Learns what a plan changed that was run. Call it once that is durable. */
void cache_learn(struct cache *m, const struct batch_plan *b);

/* Count its rows and open reservations, for tests. */
size_t cache_rows(const struct cache *m);
size_t cache_reservations(const struct cache *m);

#endif
