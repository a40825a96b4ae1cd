/* Waiting notes: why a Job waits, told on the Job itself. */
#ifndef SLUICE_CONTROLLER_GATE_WAITING_NOTE_H
#define SLUICE_CONTROLLER_GATE_WAITING_NOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "sluice/queue.h"

struct gate;
struct gate_job;
struct intent;
struct job_answer;
struct likely_start;

struct waiting_note {
	unsigned count;	       /* notes in this phase */
	enum wait_reason told; /* the last note's */
	int64_t told_ms;       /* when the last was, by tick_ms */
};

#define NOTICE_SIZE 512

/* The round of all Jobs that wait. */
struct notices {
	int64_t after_ms, due_ms;
	struct gate_job *at;	/* the Job that is looked at next; NULL: the first */
	char text[NOTICE_SIZE]; /* of the intent taken last */
};

void notice_tick(struct gate *g);
/* Begins to count notes anew, in another phase. */
void waiting_note_begin(struct gate_job *j);
/* INTENT_NOTICE. */
void notice_tell(struct gate *g, struct gate_job *j, struct intent *i);
bool notice_answered(struct gate *g, struct gate_job *j, const struct job_answer *a);
/* Finds the reason that a notice begins with; WAIT_NOT: none. */
enum wait_reason notice_kind(const char *text);
/* Says "WaitingForQuota: sentence; not before TIME; likely to start about TIME, by a forecast of
 * TIME (as of TIME)". */
void notice_words(const struct explanation *x, const struct likely_start *start, int64_t now_ms,
	struct buf *out);

#endif
