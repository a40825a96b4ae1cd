/*
 * What happened since this process started, counted: by ClusterQueue for people, and how long Jobs
 * waited and passes took. Fed with the gate's notes.
 *
 * A ClusterQueue that was deleted keeps its row: counters never go back.
 */
#ifndef SLUICE_CONTROLLER_TALLY_H
#define SLUICE_CONTROLLER_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "controller/gate/gate.h"
#include "controller/histogram.h"

struct tally;

struct tally_row {
	char *clusterqueue;
	uint64_t admissions, finishes, stops;
};

struct tally *tally_new(void);
void tally_free(struct tally *t);

void tally_note(struct tally *t, const struct note *n);
void tally_pass(struct tally *t, int64_t took_us);

/* NULL: nothing happened there yet. */
const struct tally_row *tally_get(const struct tally *t, const char *clusterqueue);
/* Jobs of a ClusterQueue that were stopped by us for a reason; preemptions: for Jobs of a
 * ClusterQueue, and why. In the order in which they first appeared; NULL past the last. */
struct tally_cause {
	char *clusterqueue, *reason;
	uint64_t count;
	bool waits_again; /* an eviction after which it may start again by itself */
};
const struct tally_cause *tally_eviction_at(const struct tally *t, size_t index);
const struct tally_cause *tally_preemption_at(const struct tally *t, size_t index);

/* The same for milliseconds of work lost, by the reason of the stop; and for what runs have cost in
 * millionths, with the currency for a reason. */
const struct tally_cause *tally_loss_at(const struct tally *t, size_t index);
const struct tally_cause *tally_cost_at(const struct tally *t, size_t index);
/* How often something kept the pods of a run, by what it was. */
const struct tally_cause *tally_trouble_at(const struct tally *t, size_t index);

/* In the order in which they first appeared; NULL past the last. */
const struct tally_row *tally_at(const struct tally *t, size_t index);

const struct histogram *tally_waits(const struct tally *t);  /* seconds, of each start */
const struct histogram *tally_passes(const struct tally *t); /* seconds, of each pass */

#endif
