/*
 * The priority of a run, in its story. A run whose priority class is not there keeps the number that
 * counted last (docs/priority.md). The queue keeps it, but the queue of the next leader knows nothing
 * of that: it is told what the story says (queue_recall_priority()).
 *
 * Each story of a run tells the number that counts (run_priority_tell()). An edit of the class alone writes to
 * no Job. When the class is gone and the story tells another number, the story is told anew
 * (INTENT_RETELL). So only where a class is edited, and then goes while nothing leads, an older number
 * of the same run is recalled.
 *
 * A story is believed only if it is signed, and tells of the attempt that runs. The queue takes what it
 * says only of a run that was adopted and whose class it has not seen since. So whoever may write the
 * annotation all the same can put back no more than a number that this run had.
 *
 * Where annotations are full the number is left out, for what the run holds is needed more.
 */
#ifndef SLUICE_CONTROLLER_GATE_RUN_PRIORITY_H
#define SLUICE_CONTROLLER_GATE_RUN_PRIORITY_H

#include <stdbool.h>
#include <stdint.h>

struct gate;
struct gate_job;
struct story;

struct run_priority {
	int64_t pause_ms; /* by tick_ms: its story is not told anew before */
};

/* Writes the number into a story of its run. */
void run_priority_tell(const struct gate *g, const struct gate_job *j, struct story *s);
/* INTENT_RETELL has landed. */
void run_priority_told(struct gate *g, struct gate_job *j);
/* Its class is gone, and its story tells another number, or none. */
bool run_priority_owes_story(struct gate *g, const struct gate_job *j);
/* Asks for the PATCH that is due, if one is. */
void run_priority_see_to(struct gate *g, struct gate_job *j);
/* It was adopted, as that attempt: tells the queue what its story says. */
void run_priority_recall(struct gate *g, const struct gate_job *j, int32_t attempt);

#endif
