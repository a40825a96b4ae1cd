/* Why a Job waits, told on itself. waiting_note.c alone writes it. */
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
	unsigned count;	       /* wanted in this phase */
	enum wait_reason told; /* the last one's */
	int64_t told_ms;       /* the last, by tick_ms */
};

#define NOTICE_SIZE 512

/* The annotation of Jobs that wait: waiting_note.c. */
struct notices {
	int64_t after_ms, due_ms;
	struct gate_job *at;	/* the Job that is looked at next; NULL: begin anew */
	char text[NOTICE_SIZE]; /* of the intent taken last */
};

void notice_tick(struct gate *g);
/* Another phase begins. */
void waiting_note_begin(struct gate_job *j);
/* INTENT_NOTICE. */
void notice_tell(struct gate *g, struct gate_job *j, struct intent *i);
bool notice_answered(struct gate *g, struct gate_job *j, const struct job_answer *a);
/* The reason that a notice begins with; WAIT_NOT when it begins with none. */
enum wait_reason notice_kind(const char *text);
/* "WaitingForQuota: sentence; not before TIME; likely to start about TIME, by a forecast of TIME (as of
 * TIME)". */
void notice_words(const struct explanation *x, const struct likely_start *start, int64_t now_ms,
	struct buf *out);

#endif
