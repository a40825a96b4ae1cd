/*
 * The plan of one batch: what its operations do to the ledger. Pure: no libpq, no clock. Three
 * steps:
 *
 *   1. batch_plan_new() lists what must be known: the reservations that are named, the SHRINKs and
 *      GROWs that are asked for, and the balance rows that are named;
 *   2. batch_plan_found_*() takes in what was found of these, and the rows of the lines of the
 *      reservations, and every row above one of them. What was not found does not exist;
 *   3. batch_plan_run() takes the operations one by one, in order, and leaves a verdict for each
 *      and what is to be written: entries, rows, reservations and segments that changed.
 *
 * Rules that ledger.h leaves open (test/sim/model_ledger.h has the same):
 *   - a reservation only goes forward, pending < posted < releasing: COMMIT after STOP begins the
 *     segment and leaves it releasing; STOP, RELEASE and VOID take it from any state;
 *   - a key is used up only by taking effect: a RESERVE that was REFUSED leaves no trace. The state
 *     of the reservation tells what took effect: only COMMIT sets started_ms, only STOP makes it
 *     releasing. Only SHRINK and GROW, of which there are many, and RESERVE are looked up;
 *   - RESERVE must fit under `wanted` at every row that it makes grow: a ceiling above it only says
 *     that more is used already;
 *   - ADOPT need not fit: the ceilings of the rows that it makes grow follow their use, as they do
 *     when a quota is lowered. All else is as with RESERVE, with which it shares the key;
 *   - SHRINK lowers each line to what is given, to nothing when it is not given, and raises none;
 *   - GROW raises each line to what is given, and lowers none. The reservation must be posted, and
 *     what it takes more must fit as a RESERVE must. A GROW that `adopts` is as ADOPT: it need not
 *     fit, and takes a reservation of any state;
 *   - CEILING has no key: it takes effect each time, and the last one stays. It makes the row of
 *     the parent it names;
 *   - what a row passes up to its parent is over(row): its use beyond what is guaranteed to it.
 *     Each change of a use moves the difference up, level by level, until there is none. A row
 *     whose parents go round in a circle passes up nothing (it is not `linked`).
 *
 * Strings are borrowed from the batch and from its finder, for as long as the plan lives.
 */
#ifndef SLUICE_CONTROLLER_LEDGER_BATCH_PLAN_H
#define SLUICE_CONTROLLER_LEDGER_BATCH_PLAN_H

#include "base/arena.h"
#include "base/map.h"
#include "controller/ledger/ledger.h"

#define BATCH_PLAN_NO_ROW UINT32_MAX

/* What a balance row says. */
struct balance {
	int64_t part[3]; /* held here, by ledger_state */
	int64_t members; /* what its children pass up */
	int64_t wanted, guaranteed;
	const char *parent; /* "": none */
};

int64_t balance_use(const struct balance *b);

/* Hash, for maps, the name of a row (amount means nothing), and an attempt. */
uint64_t batch_plan_row_hash(const struct quota_line *name);
uint64_t batch_plan_attempt_hash(const struct uid *uid, int32_t attempt);

struct batch_plan_row {
	const char *node, *flavor, *resource;
	uint32_t at;		 /* its index in rows */
	bool exists;		 /* in the ledger */
	bool made;		 /* has to be in the ledger from now on */
	struct balance was, now; /* as found, then as the operations leave it */
	uint32_t up;		 /* index of its parent in rows, or BATCH_PLAN_NO_ROW */
	bool linked;		 /* has a parent and counts there */
	bool follows; /* the ceiling follows the use, after a CEILING, or an operation that adopts */
};

struct batch_plan_line {
	uint32_t row; /* index in rows */
	int64_t amount;
};

/* What the ledger has of a reservation but its lines, and what its segment will say. Times in
 * milliseconds, 0: never. */
struct held {
	enum ledger_state state;
	const char *ns, *name, *clusterqueue, *localqueue;
	const char *owner, *labels, *submitted_by; /* of its bill; the last two NULL: none */
	const char *reason, *actor;		   /* of its stop; NULL: none was told */
	bool estimated;		/* its RESERVE or its end was lost: the bill has what is known */
	bool has_lost;		/* lost_ms was told */
	bool has_started_lines; /* what it held at COMMIT is kept, for a SHRINK or GROW came after */
	int64_t created_ms, queued_ms; /* of the Job, as in ledger_op */
	int64_t reserved_ms, started_ms, stopping_ms;
	int64_t lost_ms;
};

/* A reservation that the batch names. */
struct batch_plan_reservation {
	struct uid uid;
	int32_t attempt;
	bool reserving; /* a RESERVE or ADOPT names it: used and last_attempt must be read */

	/* The state as found, then as the operations leave it. */
	bool open;
	struct held is;
	struct batch_plan_line *lines; /* none of amount 0 */
	size_t nlines;
	bool used;	      /* this attempt was reserved before, and may be closed */
	int32_t last_attempt; /* that was ever reserved for the Job; 0: none */

	bool was_open;
	bool changed, resized;

	/* More of what the segment will say. */
	int64_t stopped_ms;
	const struct ledger_op *bill; /* the RELEASE that brought one, or NULL */
	enum ledger_job_outcome outcome;
	struct batch_plan_line *started_lines; /* what it held at COMMIT */
	size_t nstarted_lines;
};

/* One row of sluice.transfer. */
struct batch_plan_entry {
	uint32_t op; /* index in the batch */
	bool has_source, has_target;
	enum ledger_state source, target;
	struct batch_plan_line *lines;
	size_t nlines;
};

struct batch_plan {
	const struct ledger_op *ops;
	size_t nops;
	bool *known;	   /* for each operation: a SHRINK or GROW that took effect before */
	uint32_t *resizes; /* SHRINKs and GROWs, to be looked up: indexes in ops */
	size_t nresizes;
	uint32_t *reservation_of; /* for each operation: index in reservations; CEILING: none */
	struct batch_plan_line **lines_of; /* for each operation: its own lines, merged */
	size_t *nlines_of;

	struct batch_plan_reservation *reservations;
	size_t nreservations;
	struct batch_plan_row **rows;
	size_t nrows, rows_room;
	struct map by_name; /* rows */
	size_t nnamed;	    /* rows that operations name, which come first */

	struct batch_plan_entry *entries; /* what took effect and leaves a row, in order */
	size_t nentries;
	struct ledger_result *results; /* one for each operation */
	struct arena arena;	       /* what dies with the plan */
};

/* Makes a plan. The operations must outlive it. */
struct batch_plan *batch_plan_new(const struct ledger_op *ops, size_t nops);
void batch_plan_free(struct batch_plan *b);

void batch_plan_found_resize(struct batch_plan *b, size_t resize); /* index in resizes */
void batch_plan_found_reservation(
	struct batch_plan *b, size_t reservation, const struct held *found);
void batch_plan_found_line(struct batch_plan *b, size_t reservation, const struct quota_line *line);
void batch_plan_found_started_line(
	struct batch_plan *b, size_t reservation, const struct quota_line *line);
void batch_plan_found_attempts(
	struct batch_plan *b, size_t reservation, bool used, int32_t last_attempt);
/* Takes in a row; the amount of name means nothing. */
void batch_plan_found_row(
	struct batch_plan *b, const struct quota_line *name, const struct balance *found);
/* Finds a row; NULL: no operation has named it yet. */
const struct batch_plan_row *batch_plan_row(
	const struct batch_plan *b, const struct quota_line *name);

void batch_plan_run(struct batch_plan *b);
/* Tells whether something has to be written. */
bool batch_plan_dirty(const struct batch_plan *b);
bool batch_plan_row_changed(const struct batch_plan_row *r);
/* Tells whether the attempt ran and has ended: its segment is to be written. */
bool batch_plan_reservation_ended(const struct batch_plan_reservation *h);
/* Tells whether every operation took effect. */
bool batch_plan_all_applied(const struct batch_plan *b);

#endif
