/*
 * Inside the driver: a request, the steps it takes, and where they are. For the files of the driver
 * and the tests.
 *
 * Requests go one at a time, each in one or more rounds (see pg_conn.h), strictly in the order they
 * were made: an operation must not overtake one before it that has to be tried again.
 */
#ifndef SLUICE_CONTROLLER_LEDGER_PG_PRIV_H
#define SLUICE_CONTROLLER_LEDGER_PG_PRIV_H

#include <ev.h>

#include "controller/ledger/batch_plan.h"
#include "controller/ledger/pg_conn.h"
#include "controller/ledger/cache.h"
#include "controller/ledger/pg.h"

/* Where a request is: the round that is under way. */
enum request_step {
	STEP_NEW,
	STEP_SCHEMA_STATE,
	STEP_SCHEMA_VERSION,
	STEP_MIGRATE,
	STEP_LEASE,
	STEP_READ,
	STEP_WRITE,
	STEP_ONLY, /* of a query with one round */
};

struct request {
	struct request *next;
	const struct pg_query *query;
	struct params *params; /* of the query's SQL; NULL: none */
	struct pg_asker asker;
	enum request_step step;
	int tries;
	int64_t epoch; /* of a fenced request, and of the lease */

	/* lease.c, schema.c */
	int64_t lease_ms, epoch_seen;
	bool settled;
	bool has_schema;    /* STEP_SCHEMA_STATE: there is a schema named sluice */
	bool has_additions; /* STEP_SCHEMA_STATE: the table of additions is in it */
	int version;	    /* of the schema, as seen last */

	/* batch.c */
	const struct ledger_batch *batch; /* the asker's, until answered */
	bool doubted;			  /* the cache did not hold: read */
	size_t rows_sent; /* STEP_WRITE: rows that are written if all is as it was taken for */
	struct batch_plan *batch_plan; /* from STEP_READ on */
	struct round read;	       /* STEP_WRITE: what the plan borrows from */
};

/* Added to the number of a change of size in sluice.transfer.seq. Below are the pods that were
 * left, which programs before version 11 wrote there. */
#define PG_SIZES_FROM (1 << 30)

/* The latest time that is asked about: the end of the year 9999. */
#define PG_TIME_MAX_MS INT64_C(253402300799000)

/* Another holder's lease, as it was seen. Its row changes with each renewal. */
struct lease_look {
	char version[24]; /* of the row; "": not looked at yet */
	int64_t since_ms; /* when that was seen first, by a clock that is never set */
};

struct pg {
	struct ev_loop *loop;
	struct pg_options options; /* texts are ours */
	struct pg_conn *conn;	   /* NULL: nothing was asked lately */
	uint32_t instance;	   /* drawn once: the high half of every session */

	struct request *head, **tail; /* the first one is under way if the link is busy */
	ev_timer soon;		      /* answers what was asked while there is no connection */
	ev_timer idle;		      /* closes a connection that nobody needs */

	struct lease_look lease_look;
	bool schema_fits;	/* looked at on this connection */
	bool session_locked;	/* this connection holds the lock of its session */
	int64_t attached_epoch; /* the epoch this connection may write for, or 0 */
	/* The last batch that was acknowledged to us, and its epoch: a ledger without it is not
	 * attached to. */
	int64_t batch, batch_epoch;
	struct cache
		*cache; /* what was read and written under attached_epoch, on this connection */
	char last_words[512]; /* why there is no connection: said once; "" while it is up */
	int64_t migration_ms; /* most that a statement of a migration may take, but for MIGRATE */
};

/* Names this connection, as (instance, connection): which one may write under an epoch
 * (sql/attach.sql). */
int64_t pg_session(const struct pg *pg);
/* Sets, for tests, how long a silent server is waited for. */
void pg_set_patience(struct pg *pg, int64_t ms);
/* Sets, for tests, how long a statement of a migration may take that a LEASE asks for. */
void pg_set_migration_limit(struct pg *pg, int64_t ms);

/* ---- Steps ------------------------------------------------------------------------------------
 */

/* Puts a request at the end of the line. */
void pg_line_up(struct pg *pg, struct request r);

/* Begins the next round of the request: first its settings (result 0), then the attach if this
 * connection is new to the epoch. */
void request_begin_round(struct pg *pg, struct request *r, enum request_step step);
/* Makes parameters that begin with $1 cell, $2 session, $3 epoch, as most statements do. */
struct params *request_params(const struct pg *pg, int64_t epoch);
/* Ends the request that is under way. */
void request_answer(struct pg *pg, struct pg_answer a);

/* Keeps the epoch that this connection may write for from now on (0: none). Another one empties the
 * cache. */
void pg_attach(struct pg *pg, int64_t epoch);

void pg_acknowledge(struct pg *pg, int64_t epoch, int64_t batch);
/* Returns the last batch that was acknowledged under that epoch; 0: none. */
int64_t pg_acknowledged(const struct pg *pg, int64_t epoch);

/* A step (pg_query) takes the round that came back without a fault (or starts the first, at STEP_NEW),
 * and either starts the next round or answers. */
extern const struct pg_query PG_MIGRATE; /* schema.c lets it do more than a lease */

/* Takes a step. True when the schema fits and nothing is under way: the lease goes on. */
bool schema_step(struct pg *pg, struct request *r, struct round *round);
/* Ends the connection, with the sentence that a newer program is to be run. */
void schema_refuse_newer(struct pg *pg, int version);
/* Tells whether another controller migrates at the same time: then look again. */
bool schema_fault_passes(const struct request *r, const char *sqlstate);
/* Puts a fault into words: its own sentence, or that another role has to migrate. */
void schema_explain_fault(
	const struct pg *pg, const struct request *r, const struct round *round, struct err *e);

#endif
