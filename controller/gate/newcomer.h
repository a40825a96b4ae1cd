/*
 * A newcomer: a Job that ran before it was queued. It is adopted without being stopped.
 *
 * It runs, its label names a queue, and Sluice has never written a story on it. A Job that its owner
 * has unsuspended past its queue may look the same, where the admission policies are missing or its
 * story was taken off. What tells them apart must be beyond the reach of whoever may write Jobs:
 *
 *   an admin's word    the annotation sluice.dev/adopt-begun-by of the Job's Namespace names a moment
 *   status.startTime   when the Job began to run. The Job controller alone writes it, anew at each
 *                      resumption
 *
 * What began by that moment is adopted. All else is stopped as an intruder (phase.c). No Job that
 * Sluice stops, or has yet to start, can come to have begun before: its next start time is later.
 * The word is asked of the API server (INTENT_NAMESPACE) when it is needed, and not watched: a watch
 * of Namespaces may be behind that of Jobs, and a run would be stopped for that.
 *
 * Then its pods are counted, for its status may be older than they are, and where they are tells its
 * flavors (queue/intake.c). The order is that of any start, ledger before cluster: ADOPT and COMMIT, over
 * quota if it must be, and once they are durable the story, by INTENT_RETELL. If we die between the two, the
 * next leader finds the reservation in the ledger, and writes the story. A Job that its queue cannot take
 * yet (its window is closed, its LocalQueue is stopped or missing) runs on, counted nowhere; it says so,
 * and is looked at again. Such looks go by a count that may be minutes old, for one that never passes must
 * not have its pods listed without end; what the ledger is told goes by a new one.
 *
 * From then on it is a run like any other, whose bill begins with its adoption.
 */
#ifndef SLUICE_CONTROLLER_GATE_NEWCOMER_H
#define SLUICE_CONTROLLER_GATE_NEWCOMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gate;
struct gate_job;
struct intent;
struct job_answer;
struct ledger_reservation;

struct newcomer {
	bool asked;	     /* its Namespace was read, */
	int64_t begun_by_ms; /* ... and said this; 0: nothing */
	int32_t attempt;     /* the first that the ledger has not used, as far as we were told */
	bool counted;	     /* its pods were, */
	int64_t counted_ms;  /* ... then, by tick_ms, */
	int32_t pods;	     /* ... and were so many */
	char **node;	     /* ... on these nodes: the name of that of each, where it has one */
	size_t nnodes;
	char *why; /* what keeps it out of its queue; NULL: nothing, or it was not tried */
};

enum newcomer_verdict {
	NEWCOMER_INTRUDER, /* it is none: it is to be stopped */
	NEWCOMER_GOES_ON,  /* it is seen to */
	NEWCOMER_TAKE_OVER,
};

/* Sees to a Job that waits and runs. NEWCOMER_TAKE_OVER: the queue has it as running with ret, whose lines
 * stay empty, and the caller takes it over. */
enum newcomer_verdict newcomer_see_to(
	struct gate *g, struct gate_job *j, struct ledger_reservation *ret);
/* INTENT_NAMESPACE. */
bool newcomer_asks(const struct gate *g, const struct gate_job *j);
bool newcomer_answered(struct gate *g, struct gate_job *j, const struct job_answer *a);
/* INTENT_PODS, of one that waits. It is asked with_nodes. */
void newcomer_counted(struct gate *g, struct gate_job *j, const struct job_answer *a);
/* Its ADOPT is durable: it is told. */
void newcomer_adopted(struct gate *g, struct gate_job *j);
/* The ledger had used the attempt that it was adopted as. */
void newcomer_spent(struct gate_job *j, int32_t next_attempt);
/* Of one in STARTING: the ledger has the ADOPT of an earlier leader, and not its COMMIT. */
bool newcomer_is_reserved(const struct gate_job *j);
/* It was adopted, and has no story yet. / INTENT_RETELL: that one. */
bool newcomer_owes_story(const struct gate_job *j);
void newcomer_tell(const struct gate_job *j, struct intent *i);
/* It is off the watch: it may come back, by another word. */
void newcomer_lost(struct gate *g, struct gate_job *j);
void newcomer_end(struct gate_job *j);

#endif
