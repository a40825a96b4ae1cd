/*
 * A turn of a namespace: some questions of the queue about Jobs that others wait for
 * (queue_take_wanted()), and what was found for them so far. Pure: predecessors.c decides who reads
 * what, and when.
 *
 * One copy of a Job is kept for all questions about it. A question keeps at most
 * PREDECESSOR_TAKEN_MAX + 1 Jobs: that says that there are too many. If the API server and the
 * ledger both have a Job, the ledger's is dropped: the API server knows better. A Job that only the
 * ledger knows is gone, unless it still holds quota: then it was made after the API server was
 * asked, or its pods are going, and the next answer will tell.
 */
#ifndef SLUICE_CONTROLLER_WATCH_PREDECESSOR_TURN_H
#define SLUICE_CONTROLLER_WATCH_PREDECESSOR_TURN_H

#include <stdbool.h>
#include <stddef.h>

#include "controller/ledger/ledger.h"
#include "sluice/queue.h"

struct gate;
struct predecessor_turn;

/* The most bytes that are kept, of Jobs and of which Job answers what: beyond, the turn comes to
 * nothing. */
#define PREDECESSOR_TURN_MAX_BYTES ((size_t)64 << 20)

struct predecessor_turn *predecessor_turn_new(const char *ns); /* copied */
void predecessor_turn_free(struct predecessor_turn *t);	       /* NULL is fine */

/* Adds a question. What it points to is borrowed until it is answered or returned. */
void predecessor_turn_add(struct predecessor_turn *t, const struct wanted_predecessors *w);

size_t predecessor_turn_count(const struct predecessor_turn *t);
const struct wanted_predecessors *predecessor_turn_question(
	const struct predecessor_turn *t, size_t i);

/* Whether any question is about that name, or goes by labels. Else the Job need not be decoded. */
bool predecessor_turn_wants(const struct predecessor_turn *t, const char *name);
/* Forgets what was found: all is read once more. */
void predecessor_turn_begin_anew(struct predecessor_turn *t);
/* Takes a Job as the API server has it. */
void predecessor_turn_see(struct predecessor_turn *t, const struct job *j);
/* Takes what the ledger says for question i, which has a name. All Jobs must have been seen
 * before. */
void predecessor_turn_recall(
	struct predecessor_turn *t, size_t i, const struct ledger_outcome_row *row);
bool predecessor_turn_is_too_large(const struct predecessor_turn *t);

/* Answers the next questions: as many as can be between two passes, one at least. The gate says
 * which Jobs it follows. True: all are answered. */
bool predecessor_turn_answer(struct predecessor_turn *t, struct queue *q, const struct gate *g);
/* Returns all questions to the queue: none could be answered. */
void predecessor_turn_return(struct predecessor_turn *t, struct queue *q);

#endif
