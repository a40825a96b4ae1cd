/*
 * What happened since this process started, counted: by ClusterQueue for people, and how long Jobs
 * waited and passes took. Fed with the gate's notes.
 *
 * A ClusterQueue that was deleted keeps its row: counters never go back.
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
	/* From the first stop that threw work away: a loss for each reason that Sluice stops for. */
	bool has_losses;
	size_t losses; /* where they begin among all */
};

struct counters *counters_new(void);
void counters_free(struct counters *t);

void counters_note(struct counters *t, const struct note *n);
void counters_pass(struct counters *t, int64_t took_us);

/* NULL: nothing happened there yet. */
const struct counters_row *counters_get(const struct counters *t, const char *clusterqueue);
/* Jobs of a ClusterQueue that were stopped by us for a reason; preemptions: for Jobs of a
 * ClusterQueue, and why. In the order in which they first appeared; NULL past the last. */
struct counters_cause {
	char *clusterqueue, *reason;
	uint64_t count;
	bool waits_again; /* an eviction after which it may start again by itself */
};
const struct counters_cause *counters_eviction_at(const struct counters *t, size_t index);
const struct counters_cause *counters_preemption_at(const struct counters *t, size_t index);

/* The same for milliseconds of work lost, by the reason of the stop; and for what runs have cost in
 * millionths, with the currency for a reason. */
const struct counters_cause *counters_loss_at(const struct counters *t, size_t index);
const struct counters_cause *counters_cost_at(const struct counters *t, size_t index);
/* How often something kept the pods of a run, by what it was. */
const struct counters_cause *counters_trouble_at(const struct counters *t, size_t index);

/* In the order in which they first appeared; NULL past the last. */
const struct counters_row *counters_at(const struct counters *t, size_t index);

const struct histogram *counters_waits(const struct counters *t);  /* seconds, of each start */
const struct histogram *counters_passes(const struct counters *t); /* seconds, of each pass */

#endif
