/*
 * Outcome notes: what a new leader could not read again of the Jobs that a Job waits for is written on
 * that Job, in sluice.dev/after-outcomes. The queue says of which Job, and what
 * (queue_take_unrecorded()): namespaces in turn, so that one with many followers keeps no other waiting.
 *
 * At most OUTCOME_POSTS_MAX PATCHes a second, and as many unanswered; POSTS_BUSY while the API server has
 * starts to do. One that did
 * not land is tried again, after a pause that doubles. A Job whose owner's annotations take more than half
 * of what the API server allows has none: its start and its stop need the room.
 *
 * What is written is never taken off. It says nothing once the Job was started, nor on a copy of it.
 */
#ifndef SLUICE_CONTROLLER_GATE_OUTCOME_NOTE_H
#define SLUICE_CONTROLLER_GATE_OUTCOME_NOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/uid.h"

struct gate;
struct gate_job;
struct intent;
struct job_answer;

struct outcome_note {
	unsigned failures; /* in a row */
	int64_t not_before_ms;
};

enum { OUTCOME_POSTS_MAX = 20 };

struct outcome_notes {
	int64_t due_ms;
	struct uid posted[OUTCOME_POSTS_MAX]; /* that may not be answered yet */
	size_t nposted;
	struct buf text; /* of the intent taken last */
};

void outcome_note_tick(struct gate *g);
/* INTENT_OUTCOMES. */
void outcome_note_tell(struct gate *g, struct gate_job *j, struct intent *i);
bool outcome_note_answered(struct gate *g, struct gate_job *j, const struct job_answer *a);

#endif
