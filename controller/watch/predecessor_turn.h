/*
 * A turn of a namespace: some questions of the queue about Jobs that others wait for
 * (queue_take_wanted()), and what was found for them so far. Pure: who reads what, and when, is
 * predecessors.c's.
 *
 * Of a Job that several questions are about one copy is kept, and for a question at most
 * PREDECESSOR_TAKEN_MAX + 1 of them: that says that there are too many. What the ledger has of a Job that the
 * API server has, too, is dropped: the API server knows better. A Job that only the ledger knows is
 * gone, unless it holds quota still: then it was made after the API server was asked, or its pods
 * are going, and the next answer will tell.
 */
#ifndef SLUICE_CONTROLLER_WATCH_PREDECESSOR_TURN_H
#define SLUICE_CONTROLLER_WATCH_PREDECESSOR_TURN_H

#include <stdbool.h>
#include <stddef.h>

#include "controller/ledger/ledger.h"
#include "sluice/queue.h"

struct gate;
struct predecessor_turn;

/* More bytes are not kept, of Jobs and of which Job answers what: the turn comes to nothing. */
#define PREDECESSOR_TURN_MAX_BYTES ((size_t)64 << 20)

struct predecessor_turn *predecessor_turn_new(const char *ns); /* copied */
void predecessor_turn_free(struct predecessor_turn *t);	       /* NULL is fine */

/* Borrows what the question points to until it is answered or returned. */
void predecessor_turn_add(struct predecessor_turn *t, const struct wanted_predecessors *w);

size_t predecessor_turn_count(const struct predecessor_turn *t);
const struct wanted_predecessors *predecessor_turn_question(
	const struct predecessor_turn *t, size_t i);

/* Does any question name it, or go by labels? Else it need not be decoded. */
bool predecessor_turn_wants(const struct predecessor_turn *t, const char *name);
/* All is read once more: what was found is forgotten. */
void predecessor_turn_begin_anew(struct predecessor_turn *t);
/* A Job as the API server has it. */
void predecessor_turn_see(struct predecessor_turn *t, const struct job *j);
/* What the ledger says for question i, which has a name. All Jobs must have been seen before. */
void predecessor_turn_recall(
	struct predecessor_turn *t, size_t i, const struct ledger_outcome_row *row);
bool predecessor_turn_is_too_large(const struct predecessor_turn *t);

/* Answers the next of them: as many as can be between two passes, one at least. The gate says which
 * Jobs it follows. True: that were all. */
bool predecessor_turn_answer(struct predecessor_turn *t, struct queue *q, const struct gate *g);
/* None could be answered. */
void predecessor_turn_return(struct predecessor_turn *t, struct queue *q);

#endif
