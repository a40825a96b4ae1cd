/*
 * A newcomer: a Job that ran before it was queued. It is adopted without being stopped.
 *
 * It runs, its label names a queue, and Sluice has never written a story on it. A Job that its owner
 * has unsuspended past its queue may look the same, where the admission policies are missing or its
 * story was taken off. What tells the two apart must be out of reach of users who may write Jobs:
 *
 *   an admin's word    the annotation sluice.dev/adopt-begun-by of the Job's Namespace names a moment
 *   status.startTime   when the Job began to run. The Job controller alone writes it, anew at each
 *                      resumption
 *
 * A Job that began by that moment is adopted. Any other is stopped as an intruder (phase.c). No Job
 * that Sluice stops, or has yet to start, can come to have begun before: its next start time is
 * later. The word is asked of the API server (INTENT_NAMESPACE) when it is needed, and not watched:
 * a watch of Namespaces may be behind that of Jobs, and a run would be stopped for that.
 *
 * Then its pods are counted, for its status may be older than they are. Their nodes tell its
 * flavors (queue/intake.c). The order is that of any start, ledger before cluster: ADOPT and
 * COMMIT, over quota if it must be, and once they are durable the story, by INTENT_RETELL. If we
 * die between the two, the next leader finds the reservation in the ledger, and writes the story. A
 * Job that its queue cannot take yet (its window is closed, its LocalQueue is stopped or missing)
 * runs on, counted nowhere; it says so, and is looked at again, by a count of pods that may be
 * minutes old, so that they are not listed without end.
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
	bool asked;	     /* its Namespace was read */
	int64_t begun_by_ms; /* the moment that the Namespace names; 0: none */
	int32_t attempt;     /* the first that the ledger has not used, as far as we were told */
	bool counted;	     /* its pods were counted */
	int64_t counted_ms;  /* when, by tick_ms */
	int32_t pods;	     /* how many there were */
	char **node;	     /* the name of each pod's node, if it has one */
	size_t nnodes;
	char *why; /* what keeps the Job out of its queue; NULL: nothing, or it was not tried */
};

enum newcomer_verdict {
	NEWCOMER_INTRUDER, /* no newcomer: it is to be stopped */
	NEWCOMER_GOES_ON,  /* runs on, and is seen to */
	NEWCOMER_TAKE_OVER,
};

/* Sees to a Job that waits and runs. NEWCOMER_TAKE_OVER: the queue has it as running with ret,
 * whose lines stay empty, and the caller takes it over. */
enum newcomer_verdict newcomer_see_to(
	struct gate *g, struct gate_job *j, struct ledger_reservation *ret);
/* INTENT_NAMESPACE. */
bool newcomer_asks(const struct gate *g, const struct gate_job *j);
bool newcomer_answered(struct gate *g, struct gate_job *j, const struct job_answer *a);
/* INTENT_PODS of a Job in PHASE_WAITING, asked with_nodes. */
void newcomer_counted(struct gate *g, struct gate_job *j, const struct job_answer *a);
/* Notes the adoption, now that ADOPT is durable. */
void newcomer_adopted(struct gate *g, struct gate_job *j);
/* Keeps the first free attempt, for the ledger had used another. */
void newcomer_spent(struct gate_job *j, int32_t next_attempt);
/* Tells whether the ledger has an earlier leader's ADOPT of a Job in STARTING, and no COMMIT. */
bool newcomer_is_reserved(const struct gate_job *j);
/* Tells whether the Job was adopted, and has no story yet. INTENT_RETELL writes it. */
bool newcomer_owes_story(const struct gate_job *j);
void newcomer_tell(const struct gate_job *j, struct intent *i);
/* Forgets what was asked of a Job that is off the watch: it may be out of date by its return. */
void newcomer_lost(struct gate *g, struct gate_job *j);
void newcomer_end(struct gate_job *j);

#endif
