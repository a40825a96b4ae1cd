/*
 * The ledger's driver: libpq, non-blocking, on the event loop.
 *
 * One connection. Requests are answered in the order they were made; each gets exactly one answer,
 * from the loop, never from inside the call that made it. What was under way when the connection
 * broke is answered LEDGER_LOST, and so is what is asked while there is no connection: trying again
 * is the asker's business, connecting again (with growing, jittered pauses) is the driver's.
 *
 * A batch is two rounds: what it must know is read, batch_plan.h judges it operation by operation,
 * and the outcome is written in one transaction behind the fence (epoch and session of the lease).
 * What was read is still so if the fence is open, so no lock is held in between. A session is one
 * connection of one holder: a backend that goes on running what a connection left behind finds the
 * fence closed.
 *
 * Each connection locks the number of its session (an advisory lock) for as long as it lives, so
 * that the lease of a leader that died is free at once. That is all the session state there is, and
 * nothing needs it: behind PgBouncer in transaction mode no lock is taken, and the lease has to run
 * out.
 *
 * The schema comes as numbered migrations (migrations/NNN_name.sql, compiled in), applied by
 * the controller that takes the lease, each in a transaction that begins with inserting its number:
 * that is the lock. A role that may not migrate says which one has to.
 */
#ifndef SLUICE_CONTROLLER_LEDGER_PG_H
#define SLUICE_CONTROLLER_LEDGER_PG_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/ledger/ledger.h"

struct ev_loop;
struct pg;

struct pg_options {
	const char *conninfo; /* libpq's; "" takes the PG* variables; copied */
	const char *cell;     /* names the cluster in every key; copied */
	const char *identity; /* holder of the lease, application_name; copied */
	uint64_t seed;	      /* spreads reconnects */
};

struct pg_events {
	void (*lease)(uint64_t id, enum ledger_outcome o, const struct ledger_lease *l, void *ctx);
	void (*load)(uint64_t id, enum ledger_outcome o,
		const struct ledger_reservation *reservations, size_t n, void *ctx);
	/* next: where to go on; n is 0 exactly when there is no more. */
	void (*recall)(uint64_t id, enum ledger_outcome o, const struct ledger_run *runs, size_t n,
		const struct ledger_mark *next, void *ctx);
	void (*spent)(uint64_t id, enum ledger_outcome o, const struct ledger_spent *spent,
		size_t n, void *ctx);
	void (*durations)(uint64_t id, enum ledger_outcome o, const struct ledger_duration *runs,
		size_t n, void *ctx);
	/* forgotten_until_ms: of runs that ended until then there are sums at best; 0: of none. */
	void (*cost)(uint64_t id, enum ledger_outcome o, const struct ledger_cost *rows, size_t n,
		int64_t forgotten_until_ms, void *ctx);
	void (*rows)(uint64_t id, enum ledger_outcome o, const struct ledger_row *rows, size_t n,
		int64_t forgotten_until_ms, void *ctx);
	void (*batch)(uint64_t id, enum ledger_outcome o, const struct ledger_result *results,
		size_t n, void *ctx);
	void (*migrate)(uint64_t id, enum ledger_outcome o, void *ctx);
	/* The connection came up (sentence NULL) or went away (why, without secrets). */
	void (*state)(bool up, const char *sentence, void *state_ctx);
	void *ctx, *state_ctx;
};

/* ERR_INVALID: the connection string cannot be parsed. Connects from the loop. */
int pg_new(struct ev_loop *loop, const struct pg_options *o, const struct pg_events *events,
	struct pg **ret, struct err *e);
void pg_free(struct pg *pg); /* not from inside an event */

bool pg_up(const struct pg *pg);

/* Applies migrations if the schema is older than this program, then takes or renews: epoch 0 asks
 * for the lease if it is free or run out (a new epoch, beyond epoch_seen), else renews that epoch.
 * settled: renewed by a leader for whom nothing is left that the ledger may have lost. */
void pg_lease(struct pg *pg, uint64_t id, int64_t epoch, int64_t epoch_seen, int64_t lease_ms,
	bool settled);
void pg_load(struct pg *pg, uint64_t id, int64_t epoch);
/* A page of the attempts that ended after a mark, at most so many: what a new leader feeds to
 * queue_recall_run(), page after page, if fair share over time is on. Begin with
 * ledger_mark_since(). */
void pg_recall(struct pg *pg, uint64_t id, int64_t epoch, const struct ledger_mark *after,
	size_t attempts);
/* What was spent on runs that began at since_ms or later and ended from from_ms on, before to_ms: a
 * stretch at a time, so that no single question takes long. */
void pg_recall_spent(struct pg *pg, uint64_t id, int64_t epoch, int64_t since_ms, int64_t from_ms,
	int64_t to_ms);
/* The last runs that ended well since then, at most so many of each family, and of each user in a
 * LocalQueue of those that are of none; the oldest first. */
void pg_recall_durations(
	struct pg *pg, uint64_t id, int64_t epoch, int64_t since_ms, size_t of_each);
/* At most so many rows: PAST_RUNS, the newest; PAST_USAGE, by name; else the totals, then the dearest. For any
 * caller; it may take seconds, and what is asked after it waits for it. Answered by cost() or rows(). */
void pg_past(struct pg *pg, uint64_t id, const struct past_question *q, size_t rows);
/* The batch must stay valid until answered. */
void pg_batch(struct pg *pg, uint64_t id, const struct ledger_batch *b);
/* Applies migrations, whoever leads; DONE: the schema is of this program's version. For a role that
 * does nothing else: the one that leads then needs no right but to read and write the tables. */
void pg_migrate(struct pg *pg, uint64_t id);
/* Gives the lease back, so that a standby need not wait for it to run out. Best effort. */
void pg_resign(struct pg *pg, int64_t epoch);

#endif
