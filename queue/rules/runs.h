/*
 * What happens to runs, and who is told of it.
 *
 * reservation.c says what happened; the table in runs.c lists the observers of each event, in the
 * order in which they are told. A rule that counts runs adds a line there and nothing to the core.
 *
 * Quota has lines (reservation.h), and an event that changes them is told twice: before, while they
 * are as they were, and after.
 *
 *   promised     quota is promised: others have to stop first
 *   unpromised   the promise is taken back
 *   reserved     quota is held: the run starts, or was found running (adopted)
 *   kept         it is held because it was promised: told after `reserved`
 *   reshaped     its pods are other ones than was thought
 *   confirmed    the API server has it: it runs
 *   resized      it has fewer pods from now on
 *   leaving      it has to go. Its pods still stand: nodes and namespace quotas are not told
 *   ended        its quota is free
 *   forgotten    its record goes
 *
 * Usage (usage.h) hears of what runs give back from the lines themselves: only there is known how
 * much it is.
 */
#ifndef SLUICE_QUEUE_RULES_RUNS_H
#define SLUICE_QUEUE_RULES_RUNS_H

struct queue;
struct reservation;

enum run_event {
	RUN_PROMISED,
	RUN_UNPROMISED,
	RUN_RESERVED,
	RUN_KEPT,
	RUN_RESHAPED,
	RUN_CONFIRMED,
	RUN_RESIZED,
	RUN_LEAVING,
	RUN_ENDED,
	RUN_FORGOTTEN,
};
#define RUN_EVENTS (RUN_FORGOTTEN + 1)

/* Beside the change of its lines. */
void runs_before(struct queue *q, struct reservation *r, enum run_event event);
void runs_after(struct queue *q, struct reservation *r, enum run_event event);

#endif
