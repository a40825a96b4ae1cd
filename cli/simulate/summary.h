/*
 * The figures of a simulation.
 *
 *   utilisation: of each flavor and resource, the time integral of what was in use, over all that
 *       there was times the makespan. Nominal quotas of ClusterQueues and Cohorts are summed.
 *   makespan: from the first arrival to the last thing that happened, or to --until when that cut
 *       it short.
 *   wait: from the arrival to the first admission, of Jobs that were admitted. Percentiles are
 *       values that occurred (nearest rank).
 *   cost: of all runs, so far where they have not ended, by currency.
 *   pod time lost: of runs that were stopped, pods times the time since the run began, or since its
 *       work was safe. A deleted Job was not to be kept.
 *   missed: Jobs with a deadline that ended after it, or had not ended when it came.
 *   bounded slowdown: of Jobs that finished, time in the system over run time, where a run time
 *       below 10 s counts as 10 s; at least 1.
 */
#ifndef SLUICE_CLI_SIMULATE_SUMMARY_H
#define SLUICE_CLI_SIMULATE_SUMMARY_H

#include "base/buf.h"
#include "cli/simulate/sim_event.h"
#include "cli/table.h"

struct column { /* a flavor's resource */
	const char *flavor, *resource;
	int64_t capacity, used;
	int64_t since_ms; /* time up to which area is summed */
	double area;	  /* integral of used over time in ms */
};

struct stop_count {
	const char *reason; /* "WindowClosed" */
	size_t count;
};

struct cost {
	const char *currency;
	int64_t micro;
};

struct summary {
	const struct world *w;
	struct column *column; /* by flavor, then resource */
	size_t ncolumns;
	size_t admitted, preempted, stopped, finished, waiting;
	size_t grown, shrunk;
	size_t missed, unreachable;
	struct stop_count *stop; /* by reason */
	size_t nstops;
	struct cost *cost; /* by currency */
	size_t ncosts;
	int64_t lost_ms;
	int64_t *wait_ms;
	size_t nwaits;
	double slowdown_sum;
	int64_t first_ms, last_ms; /* the makespan */
	uint64_t decisions;
	int64_t core_us; /* real time of the play in microseconds, without reading and writing */
};

/* Begins a summary of a closed world, which outlives it. */
void summary_init(struct summary *s, const struct world *w);
void summary_done(struct summary *s);

/* Adds the cost of a run that has not ended. */
void summary_charge(struct summary *s, const struct run_bill *bill);
void summary_see(struct summary *s, const struct sim_event *e);
void summary_close(struct summary *s, int64_t end_ms); /* end_ms: no earlier than the last event */

/* Finds a column; SIZE_MAX when it is not described. */
size_t summary_column(const struct summary *s, const char *flavor, const char *resource);

void summary_render_json(const struct summary *s, struct buf *out);
void summary_render_table(const struct summary *s, const struct style *style, struct buf *out);

#endif
