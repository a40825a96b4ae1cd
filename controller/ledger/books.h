/*
 * The books of one batch: what its operations do to what the ledger holds. Pure: no libpq, no
 * clock. Three steps:
 *
 *   1. books_new() lists what must be read: the holds that are named, the SHRINKs that are asked
 *      for, and the balance rows that are grown or capped;
 *   2. books_found_*() takes in what was found; what was not found does not exist;
 *   3. books_run() takes the operations one by one, in order, and leaves a verdict for each and
 *      what is to be written: entries, rows, holds and segments that changed.
 *
 * Rules that ledger.h leaves open (test/sim/model_ledger.h has the same):
 *   - a hold only goes forward, pending < posted < releasing: COMMIT after STOP begins the segment
 *     and leaves it releasing; STOP, RELEASE and VOID take it from any state;
 *   - a key is used up only by taking effect: a RESERVE that was REFUSED leaves no trace. Whether
 * it was, the state of the hold tells: COMMIT and nothing else sets started_ms, STOP and nothing
 *     else makes it releasing. Only SHRINK, of which there are many, and RESERVE are looked up;
 *   - RESERVE asks for room under `wanted`: a ceiling above it only says that more is held already;
 *   - SHRINK lowers each line to what is given, to nothing when it is not given, and raises none;
 *   - CEILING has no key: it takes effect each time, and the last one stays.
 *
 * Strings are borrowed from the batch and from whoever found things, for as long as the books live.
 */
#ifndef SLUICE_CONTROLLER_LEDGER_BOOKS_H
#define SLUICE_CONTROLLER_LEDGER_BOOKS_H

#include "base/map.h"
#include "controller/ledger/ledger.h"

/* A balance row. `held` and `wanted` are only true of rows that are `asked`, and follow the
 * operations; what is added is true of all. */
struct books_row {
	const char *node, *flavor, *resource;
	uint32_t at; /* its index in rows */
	bool asked;  /* a RESERVE or CEILING names it: it must be read */
	bool exists; /* in the ledger (a row that is not asked always does) */
	bool capped; /* wanted is to be written */
	bool moved;  /* the additions are to be written */
	int64_t held, wanted;
	int64_t add[3]; /* by ledger_state */
};

struct books_line {
	uint32_t row; /* index in rows */
	int64_t amount;
};

/* A hold that the batch names. */
struct books_hold {
	struct uid uid;
	int32_t attempt;
	bool reserving; /* a RESERVE names it: used and last_attempt must be read */

	/* As found, then as the operations leave it. Times in milliseconds, 0: never. */
	bool open;
	enum ledger_state state;
	const char *ns, *name, *clusterqueue;
	int64_t reserved_ms, started_ms;
	struct books_line *lines; /* none of amount 0 */
	size_t nlines;
	bool used;	      /* this attempt was reserved before; it may be closed */
	int32_t last_attempt; /* of the Job, ever reserved; 0: none */

	bool was_open;
	bool changed, shrunk;

	/* The segment, if it has to be written. */
	bool segment_begins, segment_changed;
	int64_t stopping_ms, stopped_ms;
	const char *reason, *actor;
	bool has_lost;
	int64_t lost_ms;
	struct books_line *started_lines;
	size_t nstarted_lines;
};

/* One row of sluice.transfer. */
struct books_entry {
	uint32_t op; /* index in the batch */
	bool has_source, has_target;
	enum ledger_state source, target;
	struct books_line *lines;
	size_t nlines;
};

struct books {
	const struct ledger_op *ops;
	size_t nops;
	bool *known;	   /* of each operation: a SHRINK that took effect before */
	uint32_t *shrinks; /* the operations that are SHRINKs: must be looked up */
	size_t nshrinks;
	uint32_t *hold_of;	      /* of each operation: index in holds; CEILING: none */
	struct books_line **lines_of; /* of each operation: its own lines, merged */
	size_t *nlines_of;

	struct books_hold *holds;
	size_t nholds;
	struct books_row **rows;
	size_t nrows, rows_room;
	struct map by_name;	  /* rows */
	struct books_row **asked; /* those of rows that must be read */
	size_t nasked;

	struct books_entry *entries; /* what took effect and leaves a row, in order */
	size_t nentries;
	struct ledger_result *results; /* one for each operation */
	void *grave;		       /* blocks that die with the books */
};

/* The operations must outlive the books. */
struct books *books_new(const struct ledger_op *ops, size_t nops);
void books_free(struct books *b);

void books_found_shrink(struct books *b, size_t shrink); /* index in shrinks */
/* state, names and times as in struct ledger_hold. */
void books_found_hold(struct books *b, size_t hold, const struct ledger_hold *found);
void books_found_line(struct books *b, size_t hold, const struct quota_line *line);
void books_found_attempts(struct books *b, size_t hold, bool used, int32_t last_attempt);
/* row: index in asked. */
void books_found_row(struct books *b, size_t row, int64_t held, int64_t wanted);

void books_run(struct books *b);
/* Something has to be written. */
bool books_dirty(const struct books *b);

#endif
