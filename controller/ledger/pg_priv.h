/*
 * Inside the driver: a request, the steps it takes, and where they are. For schema.c, requests.c,
 * batch.c, pg.c and the tests.
 *
 * Requests go one at a time, each in one or more rounds (see pg_conn.h), strictly in the order they
 * were made: an operation must not overtake one before it that has to be tried again. What may be
 * sent together goes together inside a round.
 */
#ifndef SLUICE_CONTROLLER_LEDGER_PG_PRIV_H
#define SLUICE_CONTROLLER_LEDGER_PG_PRIV_H

#include <ev.h>

#include "controller/ledger/batch_plan.h"
#include "controller/ledger/pg_conn.h"
#include "controller/ledger/cache.h"
#include "controller/ledger/pg.h"

enum request_kind {
	REQUEST_LEASE,
	REQUEST_LOAD,
	REQUEST_RECALL,
	REQUEST_SPENT,
	REQUEST_DURATIONS,
	REQUEST_PAST,
	REQUEST_BATCH,
	REQUEST_MIGRATE,
	REQUEST_RESIGN, /* not answered */
};

/* Where a request is: the round that is under way. */
enum request_step {
	STEP_NEW,
	STEP_SCHEMA_STATE,
	STEP_SCHEMA_VERSION,
	STEP_MIGRATE,
	STEP_LEASE,
	STEP_LOAD,
	STEP_RECALL,
	STEP_SPENT,
	STEP_DURATIONS,
	STEP_PAST,
	STEP_READ,
	STEP_WRITE,
	STEP_RESIGN,
};

struct request {
	struct request *next;
	enum request_kind kind;
	enum request_step step;
	uint64_t id;
	int64_t epoch, lease_ms, epoch_seen;
	bool settled;
	struct ledger_mark after; /* REQUEST_RECALL, and the size of a page */
	size_t attempts;
	int64_t since_ms, from_ms,
		to_ms; /* REQUEST_SPENT; REQUEST_DURATIONS: since, attempts of each */
	struct past_question question; /* REQUEST_PAST; its texts are the asker's, ours are: */
	char *label, *ns, *job, *submitter, *clusterqueue;
	const struct ledger_batch *batch; /* the asker's, until answered */
	int tries;
	bool doubted;	    /* what is remembered did not hold: read */
	size_t rows_sent;   /* STEP_WRITE: what must be written if all is as it was taken for */
	bool has_schema;    /* STEP_SCHEMA_STATE: there is a schema named sluice */
	bool has_additions; /* ... and the table of additions in it */
	int version;	    /* of the schema, as seen last */
	struct batch_plan *batch_plan; /* from STEP_READ on */
	struct round read;	       /* STEP_WRITE: what the plan borrows from */
};

/* Of sluice.transfer.seq: number n of an attempt's changes of size is this and n. What programs
 * before version 11 wrote of theirs lies below: the pods that were left. */
#define PG_SIZES_FROM (1 << 30)

/* The latest time that is asked about: the end of the year 9999. */
#define PG_TIME_MAX_MS INT64_C(253402300799000)

/* The lease of another, as it was looked at. Its row changes with each renewal. */
struct lease_look {
	char version[24]; /* of the row; "": it was not looked at */
	int64_t since_ms; /* seen so first, by a clock that is never set */
};

struct pg {
	struct ev_loop *loop;
	struct pg_events events;
	struct pg_conn *conn;
	char *cell, *identity;
	uint32_t instance; /* drawn once: the high half of every session */

	struct request *head, **tail; /* the first one is under way if the link is busy */
	ev_timer soon;		      /* answers what was asked while there is no connection */

	struct lease_look lease_look;
	bool schema_fits;	/* looked at on this connection */
	bool session_locked;	/* this connection holds the lock of its session */
	int64_t attached_epoch; /* the epoch this connection may write for, or 0 */
	/* The last batch that was acknowledged to us, and the epoch it was of: a ledger that does not
	 * have it is not attached to. */
	int64_t batch, batch_epoch;
	struct cache
		*cache; /* what was read and written under attached_epoch, on this connection */
	char last_words[512]; /* why connecting failed last: said once */
	int64_t migration_ms; /* that a statement of a migration may take, but for MIGRATE */
};

/* (instance, connection): which connection may write under an epoch, see sql/attach.sql. */
int64_t pg_session(const struct pg *pg);
/* For tests: how long a silent server is waited for. */
void pg_set_patience(struct pg *pg, int64_t ms);
/* For tests: how long a statement of a migration may take that a LEASE asks for. */
void pg_set_migration_limit(struct pg *pg, int64_t ms);

/* ---- Steps ------------------------------------------------------------------------------------
 */

/* The next round of the request: first its settings (result 0), then the attach if this connection
 * is new to the epoch. */
void request_begin_round(struct pg *pg, struct request *r, enum request_step step);
/* $1 cell, $2 session, $3 epoch: how most statements begin. */
struct params *request_params(const struct pg *pg, const struct request *r);

/* From now on this connection may write for that epoch (0: for none): another one empties the
 * cache. */
void pg_attach(struct pg *pg, int64_t epoch);

void pg_acknowledge(struct pg *pg, int64_t epoch, int64_t batch);
/* The last batch that was acknowledged under that epoch; 0: none. */
int64_t pg_acknowledged(const struct pg *pg, int64_t epoch);

/* Each takes the round that came back without a fault (or starts the first, at STEP_NEW), and
 * either starts the next round or answers. */
void lease_step(struct pg *pg, struct request *r, struct round *round);
void load_step(struct pg *pg, struct request *r, struct round *round);
void recall_step(struct pg *pg, struct request *r, struct round *round);
void spent_step(struct pg *pg, struct request *r, struct round *round);
void durations_step(struct pg *pg, struct request *r, struct round *round);
void past_step(struct pg *pg, struct request *r, struct round *round);
void batch_step(struct pg *pg, struct request *r, struct round *round);
void migrate_step(struct pg *pg, struct request *r, struct round *round);
void resign_step(struct pg *pg, struct request *r, struct round *round);
/* True when the schema fits and nothing is under way: lease_step goes on. */
bool schema_step(struct pg *pg, struct request *r, struct round *round);
/* The connection ends, with the sentence that a newer program is to be run. */
void schema_refuse_newer(struct pg *pg, int version);
/* Another controller migrates at the same time: look again. */
bool schema_fault_passes(const struct request *r, const char *sqlstate);
/* What is to be said of a fault: its own sentence, or that another role has to migrate. */
void schema_explain_fault(
	const struct pg *pg, const struct request *r, const struct round *round, struct err *e);

/* The answers; each ends the request. */
void pg_answer_lease(struct pg *pg, enum ledger_outcome o, const struct ledger_lease *l);
void pg_answer_load(
	struct pg *pg, enum ledger_outcome o, const struct ledger_reservation *h, size_t n);
void pg_answer_recall(struct pg *pg, enum ledger_outcome o, const struct ledger_run *runs, size_t n,
	const struct ledger_mark *next);
void pg_answer_spent(
	struct pg *pg, enum ledger_outcome o, const struct ledger_spent *spent, size_t n);
void pg_answer_durations(
	struct pg *pg, enum ledger_outcome o, const struct ledger_duration *runs, size_t n);
void pg_answer_cost(struct pg *pg, enum ledger_outcome o, const struct ledger_cost *rows, size_t n,
	int64_t forgotten_until_ms);
void pg_answer_rows(struct pg *pg, enum ledger_outcome o, const struct ledger_row *rows, size_t n,
	int64_t forgotten_until_ms);
void pg_answer_batch(struct pg *pg, enum ledger_outcome o, const struct ledger_result *results);
void pg_answer_migrate(struct pg *pg, enum ledger_outcome o);
void pg_answer_resign(struct pg *pg);

#endif
