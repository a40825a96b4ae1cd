/*
 * The link: one connection to Postgres, non-blocking, on the event loop. It comes up by itself and
 * comes up again (with growing, jittered pauses), and carries one round at a time: some statements
 * in one transaction, sent together, answered together. It knows nothing of ledgers.
 *
 * A round is statements and a Sync in libpq's pipeline mode. Without BEGIN that is one transaction:
 * Postgres commits at the Sync. So a round was committed if and only if it came back without an
 * error; if the link went down first, nobody knows.
 *
 * A server that says nothing for `patience` is given up: the connection is closed. It may still run
 * what it had read.
 *
 * Statements are prepared as they are met, which halves what a small round costs. Nothing relies on
 * it: behind a pooler that hands out another server connection each time, a prepared statement may
 * be missing (or be there already); the round fails with link_unprepared(), the link does without
 * from then on, and the round is to be sent again. A statement's name is a hash of its text, so it
 * can never be another one of that name.
 *
 * Left to others: what to do with an error, and what was under way when the link went down. Name
 * lookup blocks (libpq offers nothing else): give an address, or a resolver that is near.
 *
 * libpq's own traps: the descriptor may change with each PQconnectPoll (next host, TLS refused), so
 * the watcher is taken down before it and made anew after it; PQgetResult on a dead connection
 * returns NULL for ever; notices go to stderr unless taken.
 */
#ifndef SLUICE_CONTROLLER_LEDGER_LINK_H
#define SLUICE_CONTROLLER_LEDGER_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "controller/ledger/params.h"

struct ev_loop;
struct link;

#define ROUND_MAX 12

struct round {
	struct pg_result *result[ROUND_MAX]; /* one for each statement, if there was no error */
	size_t count;
	char sqlstate[6]; /* of the first error, or "" */
	struct err fault; /* its sentence */
};

struct link_options {
	const char *conninfo, *application_name; /* copied */
	uint64_t seed;
};

struct link_events {
	void (*up)(void *ctx);
	/* Closed; the link may be used (and is found down) in here, but not freed. came_up: it had
	 * been up; else one more try to connect has failed. */
	void (*down)(bool came_up, const char *sentence, void *ctx);
	/* The round is yours until you return; results can be taken by setting them to NULL. */
	void (*round)(struct round *r, void *ctx);
	void *ctx;
};

int link_new(struct ev_loop *loop, const struct link_options *o, const struct link_events *events,
	struct link **ret, struct err *e);
void link_free(struct link *l); /* not from inside an event */

bool link_up(const struct link *l);
bool link_busy(const struct link *l);	    /* a round is under way */
uint32_t link_number(const struct link *l); /* counts the connections that came up */
int64_t link_patience_ms(const struct link *l);
void link_set_patience(struct link *l, int64_t ms);

/* ---- A round, of an idle link that is up ------------------------------------------------------
 */

/* Adds a statement. Takes p (may be NULL). sql is a constant: the link remembers its address. */
void link_add(struct link *l, const char *sql, struct params *p);
void link_go(struct link *l);
/* A round of its own: a script of many statements, as one transaction. No results, only a fault. */
void link_script(struct link *l, const char *sql);

/* The fault is only that what was prepared is not there: send the round again. */
bool link_unprepared(const char *sqlstate);

/* Something real was answered: the next pause is a short one again. */
void link_praise(struct link *l);
/* Closes it, says why to `down`, and connects anew after a pause. */
void link_drop(struct link *l, const char *sentence);

#endif
