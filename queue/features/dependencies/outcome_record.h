/*
 * The record of outcomes: the annotation sluice.dev/after-outcomes of a Job that waits for others. It
 * says what the next leader cannot read again: which items have held, and which Jobs keep a selector
 * from holding though they may be gone by then.
 *
 *   for 0b8e...                                 the uid of the Job that it is written on
 *   holds afterok:prep                          to the end of the line: the item as its owner wrote it
 *   member failed shard-3 UID CREATED ENDED afterok:{stage=shards}
 *
 * Times are milliseconds; 0 is not known. A record for another uid came with a copied manifest. One
 * with a line that cannot be read says nothing. Lines about items that are not listed count for
 * nothing. Only what outlives a leader nowhere else is written: an item that holds by a Job of
 * which the ledger knows the end is not.
 */
#ifndef SLUICE_QUEUE_FEATURES_DEPENDENCIES_OUTCOME_RECORD_H
#define SLUICE_QUEUE_FEATURES_DEPENDENCIES_OUTCOME_RECORD_H

#include <stddef.h>

#include "queue/features/dependencies/dependency_wait.h"

#define OUTCOME_RECORD_MEMBERS_MAX                                                                 \
	32 /* of a Job, of all its selectors; the others are not written */

struct record_line {
	bool holds; /* else a member */
	enum outcome outcome;
	char name[256];
	struct uid uid;
	int64_t created_ms, ended_ms;
	const char *item; /* not terminated */
	size_t item_len;
};

/* Returns the record's first line; NULL: it says nothing. */
const char *outcome_record_lines(const char *text, const struct uid *of);
/* The next line, of one that can be read; false at its end. */
bool outcome_record_next(const char **at, struct record_line *ret);
bool record_line_is_of(const struct record_line *l, const char *item_text);
/* Returns whether an item that was written so holds by the record. */
bool outcome_record_holds(const char *text, const struct uid *of, const char *item_text);

/* Returns whether this outcome keeps such an item from holding, whatever becomes of the others. */
bool outcome_is_kept(enum outcome o, enum dependency_kind k);

/*
 * Whose record is to be written (predecessors.unrecorded): workloads of which what the Job says may
 * not be what is known. Namespaces take turns, so that one with 10,000 followers keeps no other
 * waiting.
 */
void unrecorded_init(struct unrecorded *all);
void unrecorded_done(struct unrecorded *all); /* no Job is left */

/* Marks a Job whose record may be another one by now. */
void unrecorded_mark(struct queue *q, struct dependency_wait *x);
/* Takes over the record that the Job says. */
void unrecorded_see(struct queue *q, struct dependency_wait *x, const struct job *j);

#endif
