/*
 * The driver, driven: asks one thing and runs the loop until it is answered. A test that waits for
 * what never comes ends by the alarm.
 */
#ifndef SLUICE_TEST_LEDGER_DRIVE_H
#define SLUICE_TEST_LEDGER_DRIVE_H

#include "base/buf.h"
#include "controller/ledger/pg.h"
#include "pg_fixture.h"

#define DRIVE_OPS_MAX 4096

struct drive {
	struct ev_loop *loop;
	struct pg *pg;
	char cell[32];
	uint64_t next_id;
	uint64_t answered; /* id of the newest answer; they come in order */
	bool inside;	   /* a call of pg_*: no event may come now */

	/* The newest answer. */
	enum ledger_outcome outcome;
	struct ledger_lease lease;
	struct ledger_result results[DRIVE_OPS_MAX];
	size_t expected;	    /* operations in the batch that was asked last */
	struct buf reservations;    /* LOAD, as text: a line for each reservation */
	struct buf runs;	    /* RECALL, as text: a line for each run */
	struct buf past;	    /* what was spent, or durations, as text: a line for each */
	int64_t forgotten_until_ms; /* COST */
	struct ledger_mark mark;    /* where the next RECALL begins */

	int ups, downs;
	char sentence[512];
};

void drive_start(
	struct drive *d, const struct pg_fixture *f, const char *cell, const char *identity);
void drive_stop(struct drive *d);

/* Runs the loop until... */
void drive_until_up(struct drive *d);
void drive_until_down(struct drive *d);
void drive_until_answered(struct drive *d, uint64_t id);

/* Of the driver's next question; NULL: only that it was answered, and how, is kept. */
struct pg_asker drive_asker(struct drive *d, void (*fn)(const struct pg_answer *a, void *ctx));
void drive_ask_lease(struct drive *d, int64_t epoch, int64_t epoch_seen, int64_t lease_ms,
	bool settled);							 /* does not wait */
uint64_t drive_ask_batch(struct drive *d, const struct ledger_batch *b); /* does not wait */

enum ledger_outcome drive_lease(struct drive *d, int64_t epoch, int64_t lease_ms);
enum ledger_outcome drive_migrate(struct drive *d);
enum ledger_outcome drive_load(struct drive *d, int64_t epoch);
/* The next page: from d->mark, which moves on. */
enum ledger_outcome drive_recall(struct drive *d, int64_t epoch, size_t attempts);
enum ledger_outcome drive_spent(
	struct drive *d, int64_t epoch, int64_t since_ms, int64_t from_ms, int64_t to_ms);
enum ledger_outcome drive_durations(
	struct drive *d, int64_t epoch, int64_t since_ms, size_t of_each);
enum ledger_outcome drive_past(struct drive *d, const struct past_question *q, size_t rows);
enum ledger_outcome drive_batch(
	struct drive *d, int64_t epoch, const struct ledger_op *ops, size_t nops);
/* Takes the lease for an hour, whatever the connection does meanwhile. Returns the epoch. */
int64_t drive_lead(struct drive *d);

/* The Postgres of a group of tests: cmocka's setup and teardown. The tables are there, and SIGPIPE
 * is ignored. */
extern struct pg_fixture F;
int drive_open_group(void **state);
int drive_close_group(void **state);
/* Undoes the newest migration. A new one is undone here instead. */
void drive_go_back_a_version(void);
/* The highest number of a migration that was applied. */
int drive_schema_version(struct pg_fixture *f);
/* What the audits of books and history find in it, of all cells: "" when all is sound. */
const char *drive_audit(void);

/* One line of text for a reservation, as model and driver must agree on it. */
void reservation_print(struct buf *b, const struct ledger_reservation *h);

#endif
