/*
 * The ledger's driver: libpq, non-blocking, on the event loop.
 *
 * A pg is one connection and a line of requests. A request is a row (struct pg_query: its SQL, and
 * how its answer is read), its parameters, and an asker that takes its answer. Requests go one at a
 * time, in the order in which they were made; each gets exactly one answer, from the loop, never
 * from inside the call that made it. A request is answered LEDGER_LOST if the connection broke
 * while it was under way, or if there is none: to try again is the asker's business, to connect
 * again (with growing, jittered pauses) is the driver's.
 *
 * A controller has three:
 *
 *   decisions    the lease, what a new leader reads back, batches. Always connected.
 *   background   what is forgotten (retention.h), what became of Jobs, what was used of Nodes, and
 *                questions of people that are answered in milliseconds.
 *   reports      questions of people that may take seconds.
 *
 * No admission waits for the other two, nor the background for a report. They are connected with
 * the first request, and closed when none came for a while. In the background each asker has one
 * request in the line at a time, so each has its turn after at most one of every other, and the
 * line needs no other bound. There what goes wrong with a request (`aside`) harms no other: the
 * server gives up a statement that takes longer than 8 s, and the next one has its turn.
 *
 * The lease has no connection of its own: the session that holds it is the one that may write
 * (sql/attach.sql), and a renewal on another connection would keep a leader whose writes do not
 * get through.
 *
 * A batch is two rounds: what it must know is read, batch_plan.h judges it operation by operation,
 * and the outcome is written in one transaction behind the fence (epoch and session of the lease).
 * What was read is still so if the fence is open, so no lock is held in between. A session is one
 * connection of one holder: a backend that goes on running what a connection left behind finds the
 * fence closed.
 *
 * Each connection that asks for the lease locks the number of its session (an advisory lock) for as
 * long as it lives, so that the lease of a leader that died is free at once. That is all the session
 * state there is, and nothing needs it: behind PgBouncer in transaction mode no lock is taken, and the
 * lease has to run out.
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
#include "controller/ledger/params.h"

struct ev_loop;
struct pg;
struct request;
struct round;

struct pg_options {
	const char *conninfo; /* libpq's; "" takes the PG* variables; copied */
	const char *cell;     /* names the cluster in every key; copied */
	const char *identity; /* holder of the lease, application_name; copied */
	uint64_t seed;	      /* spreads reconnects */
	/* How long a connection without requests stays; a request connects, and waits for that. 0:
	 * connects at once, and stays connected. */
	int64_t idle_ms;
	/* Hears that the connection came up (sentence NULL) or went away (why, without secrets).
	 * May be NULL. */
	void (*state)(bool up, const char *sentence, void *ctx);
	void *ctx;
};

/* Makes a driver, which connects from the loop. ERR_INVALID: the connection string cannot be
 * parsed. */
int pg_new(struct ev_loop *loop, const struct pg_options *o, struct pg **ret, struct err *e);
/* Frees the driver; requests under way get no answer. Not from inside an answer. */
void pg_free(struct pg *pg);

bool pg_up(const struct pg *pg);

/* ---- Answers ----------------------------------------------------------------------------------
 */

/* An answer, good until the asker returns. */
struct pg_answer {
	uint64_t id; /* the asker's */
	enum ledger_outcome outcome;
	const char *why; /* LEDGER_LOST: a sentence without secrets */
	bool its_own;	 /* LEDGER_LOST: by a fault of this request; others will be answered */
	bool too_long;	 /* its_own: the server gave the request up by a time-out */
	size_t n;	 /* rows, of the kind that was asked for; 0 but with LEDGER_DONE */
	union {
		const void *rows;
		const struct ledger_lease *lease; /* NULL but with LEDGER_DONE */
		const struct ledger_result *results;
		const struct ledger_reservation *reservations;
		const struct ledger_run *runs;
		const struct ledger_spent *spent;
		const struct ledger_duration *durations;
		const struct ledger_cost *costs;
		const struct ledger_row *texts;
		const struct ledger_outcome_row *outcomes;
	};
	/* pg_past(): runs that ended until then are forgotten, but for sums; 0: none is. */
	int64_t forgotten_until_ms;
};

struct pg_asker {
	void (*fn)(const struct pg_answer *a, void *ctx); /* may ask again; NULL: nobody */
	void *ctx;
	uint64_t id;
};

/* ---- Requests ---------------------------------------------------------------------------------
 */

struct pg_query {
	const char *name; /* in sentences */
	const char *sql;  /* in a transaction of its own */
	/* Only for the holder of an epoch. An answer without a row is LEDGER_FENCED; a row that
	 * begins with NULL says that the fence is open, and is not passed on. */
	bool fenced;
	bool aside;	   /* its errors are its own: the connection stays */
	bool plans_freely; /* for many rows at once: without the limits of sql/settings.sql */
	bool asks_horizon; /* asks for forgotten_until_ms, too */
	/* Reads a row of the answer. NULL: only the number of rows is told. */
	size_t row_bytes;
	void (*read)(const struct pg_result *r, int row, void *ret);
	/* Tells whether two neighbouring rows are of one thing, each with one of its lines in
	 * columns 8 to 11. NULL: each row is a thing. */
	bool (*same)(const struct pg_result *r, int x, int y);
	void (*add_line)(void *ret, const struct quota_line *line);
	/* Takes the next step, of a query of the driver itself that takes several rounds. NULL:
	 * there is one round, of `sql`. */
	void (*step)(struct pg *pg, struct request *r, struct round *round);
};

/* Asks a query that is not fenced. q is a constant. Takes p, with as many as the SQL has. */
void pg_ask(
	struct pg *pg, const struct pg_query *q, struct params *p, const struct pg_asker *asker);
/* Makes parameters that begin with the cell, as those of most queries do. Yours. */
struct params *pg_params(const struct pg *pg);

/* Applies migrations if the schema is older than this program, then takes or renews the lease.
 * epoch 0 takes it if it is free or run out (with a new epoch, beyond epoch_seen); another renews
 * that epoch. settled: all that the ledger may have lost is adopted. */
void pg_lease(struct pg *pg, int64_t epoch, int64_t epoch_seen, int64_t lease_ms, bool settled,
	const struct pg_asker *asker);
void pg_load(struct pg *pg, int64_t epoch, const struct pg_asker *asker);
/* Reads a page of the attempts that ended after a mark, at most so many: what a new leader feeds to
 * queue_recall_run(), page after page, if fair share over time is on. Begin with
 * ledger_mark_since(), go on behind the last run; an empty page is the end. */
void pg_recall(struct pg *pg, int64_t epoch, const struct ledger_mark *after, size_t attempts,
	const struct pg_asker *asker);
/* Reads what was spent on runs that began at since_ms or later and ended from from_ms on, before
 * to_ms: a stretch at a time, so that no single question takes long. */
void pg_recall_spent(struct pg *pg, int64_t epoch, int64_t since_ms, int64_t from_ms, int64_t to_ms,
	const struct pg_asker *asker);
/* Reads the last runs that ended well since then, the oldest first: at most so many of each family,
 * and without family of each user in a LocalQueue. */
void pg_recall_durations(struct pg *pg, int64_t epoch, int64_t since_ms, size_t of_each,
	const struct pg_asker *asker);
/* Answers a question about the past, with so many rows at most: PAST_RUNS, the newest; PAST_USAGE,
 * by name; PAST_SPANS, as said in sql/spans.sql; else the totals, then the dearest. For any caller; may take seconds. */
void pg_past(
	struct pg *pg, const struct past_question *q, size_t rows, const struct pg_asker *asker);
/* Reads what became of the newest Jobs of each name, at most LEDGER_NAMES_MAX names. For any
 * caller: what has ended does not change. Retention may have forgotten some. */
void pg_outcomes(
	struct pg *pg, const struct ledger_job_name *names, size_t n, const struct pg_asker *asker);
/* Writes a batch, which must stay valid until it is answered. */
void pg_batch(struct pg *pg, const struct ledger_batch *b, const struct pg_asker *asker);
/* Applies migrations, whichever controller leads; DONE: the schema is of this program's version.
 * For a role of its own: the leader's then needs no right but to read and write the tables. */
void pg_migrate(struct pg *pg, const struct pg_asker *asker);
/* Gives the lease back, so that a standby need not wait for it to run out. Best effort. */
void pg_resign(struct pg *pg, int64_t epoch);

#endif
