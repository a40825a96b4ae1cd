/* What the API server refused of a Job, and when its owner is told of that. */
#ifndef SLUICE_CONTROLLER_GATE_REFUSALS_H
#define SLUICE_CONTROLLER_GATE_REFUSALS_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/gate/gate.h"

struct explanation;
struct gate_job;

struct refusals {
	unsigned starts;     /* refused in a row */
	unsigned others;     /* other requests refused in a row, while no write of the Job landed */
	uint32_t told;	     /* the kinds of these that were told: a bit each */
	int64_t told_ms;     /* when one was told last, by tick_ms */
	uint64_t told_words; /* a hash of its words */
	/* The Job's, and of its annotations, when it was last refused: refusal_stands(). */
	int64_t generation;
	int32_t bytes;
	unsigned short_of_room; /* 1: the story must be short; 2: no hold goes with a stop either */
	bool annotations_full;	/* the last refusal said that they are too long */
	unsigned immutables;	/* starts refused in a row as a change of an immutable field */
	int64_t no_lending_ms;	/* how long the Job is kept off idle resources, by tick_ms */
};

/* Tells whether the Job is still as it was when its start or hold was refused. */
bool refusal_stands(const struct gate_job *j);
/* Keeps how the Job is, for refusal_stands(). */
void refusal_keep(struct gate_job *j);
/* Forgets its refused starts: the Job may have changed. */
void refusal_forget_starts(struct gate_job *j);
/* Notes a refusal of a request that is no start, unless it is one of many. */
void refusal_note(struct gate *g, struct gate_job *j, enum intent_kind asked, const char *said);
/* Says that a Job that waits is kept off idle resources, if it is. */
void explain_lending(const struct gate *g, const struct gate_job *j, struct explanation *x);

#endif
