/*
 * Outcome notes: how the Jobs ended that a Job waits for, as far as a new leader could not read
 * that again. They are written on the Job that waits, in sluice.dev/after-outcomes. The queue says
 * on which Job (queue_take_unrecorded()): namespaces in turn, so that one with many such Jobs keeps
 * no other waiting.
 *
 * At most OUTCOME_POSTS_MAX PATCHes are made a second, and are unanswered; POSTS_BUSY while the API
 * server has many starts to do. A PATCH that did not land is tried again, after a pause that
 * doubles. A Job whose owner's annotations take more than half of what the API server allows has no
 * note: its start and its stop need the room.
 *
 * A note is never taken off. It says nothing once the Job was started, nor on a copy of the Job.
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
	struct uid posted[OUTCOME_POSTS_MAX]; /* Jobs whose PATCH may not be answered yet */
	size_t nposted;
	struct buf text; /* of the intent taken last */
};

void outcome_note_tick(struct gate *g);
/* INTENT_OUTCOMES. */
void outcome_note_tell(struct gate *g, struct gate_job *j, struct intent *i);
bool outcome_note_answered(struct gate *g, struct gate_job *j, const struct job_answer *a);

#endif
