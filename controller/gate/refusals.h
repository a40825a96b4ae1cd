/* What the API server refused of a Job, and when its owner is told of that. */
#ifndef SLUICE_CONTROLLER_GATE_REFUSALS_H
#define SLUICE_CONTROLLER_GATE_REFUSALS_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/gate/gate.h"

struct explanation;
struct gate_job;

extern const char REFUSED_BY_SERVER[];

struct refusals {
	unsigned starts; /* in a row */
	unsigned
		others; /* in a row, of requests that are no starts; no write of it landed meanwhile */
	uint32_t told;	     /* their kinds: a bit each */
	int64_t told_ms;     /* by tick_ms: when one of them was told last, */
	uint64_t told_words; /* ... and a hash of the words */
	/* As the Job was when last refused: another one may be started. */
	int64_t generation;
	int32_t bytes;
	unsigned short_of_room; /* PATCHes: 1, the story is to be short; 2, no hold goes with a
				   stop either */
	bool annotations_full;	/* the last refusal said that they are too long */
	unsigned immutables;	/* starts in a row, as a change of what is immutable */
	int64_t no_lending_ms;	/* until then, by tick_ms, it is kept off idle resources */
};

/* Tells whether the Job is still as it was when its start or hold was refused. */
bool refusal_stands(const struct gate_job *j);
/* Keeps how the Job is, for it was refused like that. */
void refusal_keep(struct gate_job *j);
/* Forgets its refused starts: the Job may be another one. */
void refusal_forget_starts(struct gate_job *j);
/* Notes a refusal of a request that is no start, unless it is one of many. */
void refusal_note(struct gate *g, struct gate_job *j, enum intent_kind asked, const char *said);
/* Adds to the explanation of a Job that waits that idle room is closed to it, if it is. */
void explain_lending(const struct gate *g, const struct gate_job *j, struct explanation *x);

#endif
