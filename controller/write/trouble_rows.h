/*
 * Runs whose pods are stuck, counted: a row for each ClusterQueue and word. /metrics and reports of
 * queues show them, and name no Job.
 */
#ifndef SLUICE_CONTROLLER_WRITE_TROUBLE_ROWS_H
#define SLUICE_CONTROLLER_WRITE_TROUBLE_ROWS_H

#include <stddef.h>

#include "controller/gate/gate.h"

struct trouble_row {
	const char *clusterqueue; /* the gate's, as all names */
	enum trouble_word word;
	size_t jobs;
	int64_t since_ms; /* of the run that is stuck for longest */
};

struct trouble_rows {
	struct trouble_row *row; /* in the order in which they first appear */
	size_t n;
};

/* Counts them. Good until the next pass of the gate. */
struct trouble_rows trouble_rows_of(const struct gate *g);
void trouble_rows_done(struct trouble_rows *r);

#endif
