/*
 * The link: one connection to Postgres, non-blocking, on the event loop. It comes up by itself, and
 * again (with growing, jittered pauses), and carries one round at a time: some statements in one
 * transaction, sent together, answered together. It knows nothing of ledgers.
 *
 * A round is statements and a Sync in libpq's pipeline mode. Without BEGIN that is one transaction:
 * Postgres commits at the Sync. So a round was committed if and only if it came back without an
 * error; if the connection went down first, that is not known.
 *
 * A server that says nothing for `patience` is given up: the connection is closed. It may still run
 * what it had read.
 *
 * Statements are prepared when they are first sent, which halves the cost of a small round. Nothing
 * relies on it. Behind a pooler that hands out another server connection each time, a prepared
 * statement may be missing (or be there already). Then the round fails with pg_conn_unprepared(),
 * the link does without from then on, and the round is to be sent again. A statement's name is a
 * hash of its text, so two statements never have one name.
 *
 * Left to others: what to do with an error, and what was under way when the link went down. Name
 * lookup blocks (libpq offers nothing else): give an address, or a resolver that is near.
 *
 * libpq's own traps: the descriptor may change with each PQconnectPoll (next host, TLS refused), so
 * the watcher is taken down before it and made anew after it; PQgetResult on a dead connection
 * returns NULL for ever; notices go to stderr unless taken.
 */
#ifndef SLUICE_CONTROLLER_LEDGER_PG_CONN_H
#define SLUICE_CONTROLLER_LEDGER_PG_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "controller/ledger/params.h"

struct ev_loop;
struct pg_conn;

#define ROUND_MAX 12

struct round {
	struct pg_result *result[ROUND_MAX]; /* one for each statement, if there was no error */
	size_t count;
	char sqlstate[6]; /* of the first error, or "" */
	struct err fault; /* its sentence */
};

struct pg_conn_options {
	const char *conninfo, *application_name; /* copied */
	uint64_t seed;
};

struct pg_conn_events {
	void (*up)(void *ctx);
	/* Hears that the connection was closed. The link may be used (and is found down) in here,
	 * but not freed. came_up: it had been up; else one more try to connect has failed. */
	void (*down)(bool came_up, const char *sentence, void *ctx);
	/* Takes a round, which is yours until you return; to keep a result, set it to NULL. */
	void (*round)(struct round *r, void *ctx);
	void *ctx;
};

int pg_conn_new(struct ev_loop *loop, const struct pg_conn_options *o,
	const struct pg_conn_events *events, struct pg_conn **ret, struct err *e);
void pg_conn_free(struct pg_conn *l); /* not from inside an event */

bool pg_conn_up(const struct pg_conn *l);
bool pg_conn_busy(const struct pg_conn *l);	  /* a round is under way */
uint32_t pg_conn_number(const struct pg_conn *l); /* counts the connections that came up */
/* Returns the process id that the server named; a pooler makes one up. */
int pg_conn_backend_pid(const struct pg_conn *l);
const char *pg_conn_user(const struct pg_conn *l); /* while it is up: the role */
void pg_conn_set_patience(struct pg_conn *l, int64_t ms);

/* ---- A round, of an idle link that is up ------------------------------------------------------
 */

/* Adds the first statement of a round. The server gives up a little before we do, for its sentence
 * is better than none. */
void pg_conn_add_settings(struct pg_conn *l, const char *sql); /* $1: milliseconds */
/* Adds a statement. Takes p (may be NULL). sql is a constant: the link remembers its address. */
void pg_conn_add(struct pg_conn *l, const char *sql, struct params *p);
/* Adds a statement; p stays yours, and may be sent again. */
void pg_conn_add_kept(struct pg_conn *l, const char *sql, struct params *p);
void pg_conn_go(struct pg_conn *l);
/* Sends a script of many statements as a round, in one transaction, without results but a fault.
 * The connection is given up when it takes longer than patience_ms; 0: never. */
void pg_conn_script(struct pg_conn *l, const char *sql, int64_t patience_ms);

/* Tells whether the fault is only of prepared statements: then send the round again. */
bool pg_conn_unprepared(const char *sqlstate);

/* Says that the server works, so the next pause is a short one again. */
void pg_conn_praise(struct pg_conn *l);
/* Closes the connection, says why to `down`, and connects anew after a pause. */
void pg_conn_drop(struct pg_conn *l, const char *sentence);

#endif
