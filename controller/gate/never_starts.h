/*
 * A Job that can never start, because a Job that it waits for ended otherwise than it asks for
 * (sluice.dev/after): it is put on hold, or deleted, as its owner asked
 * (sluice.dev/on-dependency-failure).
 *
 * The queue's decision is carried out late, and perhaps more than once: a PATCH or a DELETE may be
 * refused, or not be answered. So before each request the queue is asked whether the Job still can
 * never start. The name may have been used again, or the owner may have changed the Job. Then the
 * decision is void: the next failure has its own minute of grace, which the queue keeps. Nothing is
 * done while the ledger may have lost something (adoption.h): the outcome may be what it lost.
 *
 * A Job is deleted only while it waits: no reservation, no pods, and nothing of it changed since it
 * was looked at (uid and resourceVersion are tested). No story stands guard, so the lease is
 * confirmed before each DELETE: a leader that was replaced deletes nothing.
 */
#ifndef SLUICE_CONTROLLER_GATE_NEVER_STARTS_H
#define SLUICE_CONTROLLER_GATE_NEVER_STARTS_H

#include <stdbool.h>

#include "controller/gate/phase.h"
#include "sluice/queue.h"

struct gate;
struct gate_job;
struct intent;
struct job_answer;

enum never_action {
	NEVER_NOTHING,
	NEVER_HOLD,
	NEVER_DELETE,
};

struct never_starts {
	enum never_action action; /* what is to be done still */
	char *why;		  /* the queue's sentence */
	bool confirming;	  /* the lease is asked for once more, for the DELETE */
	bool asked;		  /* a PATCH that puts the Job on hold, or a DELETE, went out */
};

void never_starts_decided(struct gate *g, struct gate_job *j, const struct decision *d);
/* Asks for what is to be done about a suspended Job without pods, or drops it. */
void never_starts_see_to(struct gate *g, struct gate_job *j);
/* INTENT_DELETE. */
bool never_starts_wanted(const struct gate *g, const struct gate_job *j);
void never_starts_tell(struct gate *g, struct gate_job *j, struct intent *i);
enum phase never_starts_deleted(struct gate *g, struct gate_job *j, const struct job_answer *a);
/* Drops the decision: the Job starts after all, or is forgotten. */
void never_starts_end(struct gate_job *j);

#endif
