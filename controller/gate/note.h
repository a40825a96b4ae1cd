/* Notes: what the gate has to say, for log, metrics and Events, until it is taken. */
#ifndef SLUICE_CONTROLLER_GATE_NOTE_H
#define SLUICE_CONTROLLER_GATE_NOTE_H

#include <stddef.h>

#include "controller/gate/gate.h"

struct gate_job;

struct note_item {
	struct note_item *next;
	struct note note;
	char names[]; /* copies, since the Job and the ClusterQueues may be gone by now */
};

/* Notes that are not yet taken, oldest first. */
struct note_queue {
	struct note_item *first, **tail;
	size_t count;
	struct note_item *out; /* the one that was taken last */
};

/* Adds a note. Returns it, borrowed until the next call, to fill its numbers in. */
struct note *gate_note(struct gate *g, enum note_kind kind, const struct gate_job *j,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
