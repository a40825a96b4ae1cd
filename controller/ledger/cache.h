/*
 * The cache: the balance rows and open reservations of earlier batches, as this leader remembers
 * them. With it most batches need not read before they write.
 *
 * Why it may be believed. What writes the rows of a cell does so behind the fence of (epoch,
 * session), and under that pair all writing is ours, one round after the other, on one connection.
 * So what was read or written behind that fence stays so until a round of ours changes it, and each
 * that did is learned when it is durable. A round that failed or was not answered, a connection
 * that went down, and another epoch empty the cache.
 *
 * It is not believed alone. A batch that is judged from memory is only written when every operation
 * took effect, and what that relies on is proved by the write itself: that no operation was done
 * before by the key of its transfer, that the balances are what they were taken for by comparing
 * them (write_balances.sql), and that we lead by the fence. If one of them says no, nothing was
 * written, and the batch is judged anew by what is read. So is one of which an operation was
 * REFUSED, REPEATED or SPENT: the cache knows what is there, not what was.
 *
 * In it is always, with a row, every row above it.
 */
#ifndef SLUICE_CONTROLLER_LEDGER_CACHE_H
#define SLUICE_CONTROLLER_LEDGER_CACHE_H

#include "controller/ledger/batch_plan.h"

struct cache;

struct cache *cache_new(void);
void cache_free(struct cache *m);
void cache_clear(struct cache *m);

/* Tells a new plan all it must know. False: something is not remembered (and the plan, half told,
 * is of no use). What is told is borrowed until the cache is next changed. */
bool cache_tell(const struct cache *m, struct batch_plan *b);

/* The plan was run, and what it changed is durable (or it changed nothing). */
void cache_learn(struct cache *m, const struct batch_plan *b);

/* How many rows and open reservations it has: for tests. */
size_t cache_rows(const struct cache *m);
size_t cache_reservations(const struct cache *m);

#endif
