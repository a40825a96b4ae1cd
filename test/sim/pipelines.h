/*
 * Jobs that wait for others (sluice.dev/after): chains, diamonds, selectors, singletons, predecessors
 * that fail, are deleted, are forgotten by the API server (TTL), or whose name is used again. Drawn for
 * some worlds, from a generator of their own, so that worlds without them stay what they were.
 *
 * What really became of each Job is noted here as the API server has it, event by event, and judged by
 * plain arithmetic that shares nothing with the queue:
 *
 *   P13  no Job starts before each of its items has held at some moment since it is there, judged of the
 *        Job that had that name then; of two singletons of a family the later waits for the earlier;
 *        a Job is put on hold or deleted only if an item of it can hold no more, and its owner said so.
 *        At rest no Job is left that should have been. (That those whose items hold are let in is P7.)
 *
 * What a controller has written of it on a Job (sluice.dev/after-outcomes) binds those that come after:
 * a Job does not start while the newest Job of a name that it has there keeps it from that, and is let in
 * at rest if all that it waits for stands there as held. Only the reading of that text is the queue's.
 *
 * Times are compared with a second's grace: Kubernetes writes creations in seconds. Where a controller's
 * clock was set, what comes from the ledger may be off by hours, and only what was never so counts.
 *
 * The questions of a controller's queue are answered as controller/watch/predecessors.h does, with the
 * same collector (predecessor_turn.h): the API server first, then the ledger, each in its time.
 */
#ifndef SLUICE_TEST_SIM_PIPELINES_H
#define SLUICE_TEST_SIM_PIPELINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "test/sim/rng.h"

struct intent;
struct model_job;
struct replica;
struct sim;
struct snap;

struct job_past;
struct sim_turn;

struct pipelines {
	struct rng rng;
	bool on;
	struct job_past *past; /* of each Job, by its index */
	size_t npast;
	struct sim_turn *turns;	  /* all that were ever begun */
	struct asking *asking[2]; /* of each controller's process */
};

void pipelines_begin(struct sim *s);
void pipelines_done(struct sim *s);
/* What else is to be of a Job that is submitted. */
void pipelines_draw(struct sim *s, struct snap *n);
/* The API server has a new snapshot. */
void pipelines_see(struct sim *s, const struct snap *now);
/* A watch tells a controller that a Job left it with that snapshot: it was deleted, or lost its label. */
void pipelines_left(struct sim *s, const struct snap *left);
/* After a pass: the questions of the queue set out. */
void pipelines_ask(struct sim *s, struct replica *r);
/* A start, a hold or a DELETE of a controller, sent at that time, has landed on the Job as it was before. */
void pipelines_check_landed(
	struct sim *s, const struct intent *i, const struct snap *before, int64_t sent_ms);

/* How long a DELETE is on its way, if its owner thinks better of it meanwhile; 0: as long as any. */
int64_t pipelines_late_ms(struct sim *s, const struct intent *i);

/* Of the leader that wrote down what has held for it; 0: none did. */
int64_t pipelines_record_epoch(const struct sim *s, const struct model_job *j);

/* Judged of what is still there to be seen. */
bool pipelines_surely_waits(const struct sim *s, const struct model_job *j);
bool pipelines_surely_ready(const struct sim *s, const struct model_job *j);
void pipelines_check_quiet(struct sim *s, struct replica *leader);

#endif
