/*
 * The ledger loses what it had acknowledged: Postgres fails over to a standby that lacked the last
 * batches, or a backup is restored.
 *
 * Now and then a copy of the ledger is put aside, and later put in its place. All connections break
 * with that. Whoever led under batches that are gone is fenced when it connects again (the driver
 * compares numbers); so a new leader comes, and finds runs without a reservation.
 *
 * From the loss until that leader has adopted what runs, ledger use is not above real use. What is
 * promised meanwhile is that real use stays below the quota, and that no run is stopped that fits.
 * A start that lands longer after the loss than any request lives is nobody's: it is stopped.
 * A run that its owner raised before the loss is adopted for what its story says. Its pods beyond
 * that are no more Sluice's own than they were before the loss.
 */
#ifndef SLUICE_TEST_SIM_FAILOVER_H
#define SLUICE_TEST_SIM_FAILOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "test/sim/model_ledger.h"
#include "test/sim/rng.h"

#define SETTLE_MS 140000 /* longer than a late PATCH takes */
#define LEDGERS_MAX 64

struct replica;
struct sim;

struct failover {
	struct rng rng; /* of its own, so that worlds without it stay what they were */
	int64_t every_ms, backup_every_ms; /* 0: never */
	uint64_t server;		   /* requests to an earlier one do not land */
	struct model_ledger *backup;
	struct model_ledger *gone[LEDGERS_MAX]; /* their strings are still borrowed */
	size_t ngone;
	int64_t lost_ms;		   /* the last time; 0: never */
	uint64_t lost_by;		   /* ... and the server that lacked it */
	const struct model_ledger *before; /* while that is not made good */
};

void failover_begin(struct sim *s);
void failover_done(struct sim *s);
/* Once more, in a world that has failovers. */
void failover_soon(struct sim *s);
/* The ledger before the last loss, while that is not made good; else NULL. */
const struct model_ledger *failover_gap(struct sim *s);
/* A start that lands now may be one that no leader can wait for. */
bool failover_too_late(const struct sim *s);
/* The driver's: may this replica go on under that epoch with the ledger that there is now? */
bool failover_attaches(const struct sim *s, const struct replica *r, int64_t epoch);

#endif
