/*
 * Counters of what happened since this process started: by ClusterQueue for people, how long its
 * Jobs waited among it, and how long passes took. Fed with the gate's notes.
 *
 * A ClusterQueue that was deleted keeps its row for an hour from when nothing is held in it any more:
 * what was counted last can be read, and series do not pile up.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_COUNTERS_H
#define SLUICE_CONTROLLER_ANSWERS_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "controller/gate/gate.h"
#include "controller/answers/histogram.h"

struct counters;

struct counters_row {
	char *clusterqueue;
	uint64_t admissions, finishes, stops;
	/* Set at the first stop that threw work away: then there is a loss for each reason that
	 * Sluice stops for. */
	bool has_losses;
	size_t losses;		/* index of the first of them among all losses */
	struct histogram waits; /* seconds, of each start */
	int64_t known_ms;	/* when it was last seen to be there; 0: not looked yet */
};

struct counters *counters_new(void);
void counters_free(struct counters *t);

void counters_note(struct counters *t, const struct note *n);
void counters_pass(struct counters *t, int64_t took_us);

/* Forgets all that was counted of ClusterQueues that have been gone, and held nothing, for an hour.
 * Looks once a minute; tick_ms never goes back. */
void counters_forget_gone(struct counters *t, const struct queue *q, int64_t tick_ms);

/* Returns the row of a ClusterQueue; NULL: nothing happened there yet. */
const struct counters_row *counters_get(const struct counters *t, const char *clusterqueue);

/* Makes the waits of a ClusterQueue in which nothing was started yet. */
void counters_no_waits(struct histogram *ret);

/* What is counted by ClusterQueue and reason. */
enum counters_cause_of {
	COUNTERS_EVICTIONS,   /* stops by Sluice */
	COUNTERS_PREEMPTIONS, /* stops for Jobs of this ClusterQueue, by why */
	COUNTERS_LOSSES,      /* milliseconds of work lost, by the reason of the stop */
	COUNTERS_COSTS,	      /* cost of runs in millionths; the currency for a reason */
	COUNTERS_TROUBLES,    /* times that something kept the pods of a run, by what it was */
	COUNTERS_CAUSES,
};

struct counters_cause {
	char *clusterqueue, *reason;
	uint64_t count;
	bool waits_again; /* for an eviction: the Job may start again by itself */
};

/* Return the causes, and the rows, in the order in which they first appeared; NULL past the
 * last. */
const struct counters_cause *counters_cause_at(
	const struct counters *t, enum counters_cause_of of, size_t index);
const struct counters_row *counters_at(const struct counters *t, size_t index);

const struct histogram *counters_passes(const struct counters *t); /* seconds, of each pass */

#endif
